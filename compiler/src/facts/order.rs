//! Which accesses of a block nothing orders.
//!
//! The walk follows the block through its barriers. Between two of them, and at every place where threads may part, an
//! [`Interval`] begins: its accesses share what is known about the order of others before them. For each interval, the
//! earlier ones are listed that no barrier ends: an access of one and an access of the other may happen at the same
//! time, in two threads, and the accesses of one interval among themselves. Whether they touch one element is asked
//! later, by `check/races.rs`.
//!
//! - A barrier of the block ends everything that is open. A barrier of a warp ends it between threads of one warp.
//! - Threads on two sides of a condition are there at the same time unless the whole block takes the same side.
//! - An asynchronous copy is an interval of its own, open from its start until the thread that started it has waited for it, and
//!   until then to that thread itself; from the wait on it is open as any write is.
//! - Nothing is assumed of threads of a warp without a barrier, and a shuffle orders no memory.
//!
//! Loops that are not executed iteration by iteration are in [`super::rounds`].

use super::linear::Linear;
use super::prove::FactList;
use super::truth::Truth;
use super::walk::Walk;
use super::when::When;
use crate::ir::{
    Base, Block, CollectiveOp, Expr, Handle, Role, Scope, Site, Stmt, Sync, SyncAction, SyncObject, Unaligned,
};
use crate::ir::{Collective, Kernel, Proxy};
use crate::span::SpanId;
use std::ops::Range;
use std::rc::Rc;

/// The number of an [`Interval`] in [`super::Run::intervals`], in the order in which the block comes to them.
pub type IntervalId = u32;

/// The threads between which nothing orders two accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Between {
    /// Two threads of different warps.
    Warps,
    /// Two threads.
    Threads,
    /// Two threads, and one thread and itself.
    All,
}

/// An interval whose accesses nothing orders before others that come later.
#[derive(Clone, Debug, PartialEq)]
pub struct Open {
    /// The interval.
    pub interval: IntervalId,
    /// Between which threads.
    pub between: Between,
    /// On which ways of the block from the one to the other.
    pub when: When,
}

/// Accesses with one relation to all others.
#[derive(Clone, Debug)]
pub struct Interval {
    /// Earlier intervals whose accesses nothing orders before those of this one.
    pub open: Vec<Open>,
    /// Earlier intervals that barriers order before this one.
    pub ordered: Vec<Ordered>,
    /// Between which threads nothing orders its own accesses.
    pub within: Between,
    /// Whether it holds an access that can be part of a race.
    pub touched: bool,
    /// The loops around it of which one iteration stands for all.
    pub rounds: Vec<Around>,
    /// Where it is not of the iterations that stand for all: which walk of another one it is in, the outermost of several,
    /// and the loop, the innermost.
    pub again: Option<(u32, SpanId)>,
}

/// A loop around an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Around {
    /// Its head in the source.
    pub head: SpanId,
    /// The number of its execution.
    pub execution: u32,
    /// Whether the number of the iteration is known, and so the same in each run.
    pub counted: bool,
}

/// An asynchronous copy that a thread waits for.
#[derive(Clone, Copy, Debug)]
pub struct Waited {
    /// The copy.
    pub copy: IntervalId,
    /// The call.
    pub wait: SpanId,
    /// The interval behind it.
    pub from: IntervalId,
}

/// An interval that ends at a barrier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ordered {
    /// The interval.
    pub interval: IntervalId,
    /// The calls that order it before this one, each of them enough.
    pub barriers: Vec<SpanId>,
    /// How many times the block has met since.
    times: u32,
}

/// What it costs that an interval is open at another one, in statements of one thread: their accesses are compared.
const PAIR_WORK: u64 = 16;

/// After so many barriers nobody asks any more which of them ordered an interval before what follows.
const MOST_BARRIERS: u32 = 2;

/// Where the threads of the block are.
#[derive(Clone, Debug)]
pub(super) struct Moment {
    /// The interval that is under way.
    pub(super) now: IntervalId,
    /// Those before it that are open.
    pub(super) open: Vec<Open>,
    ordered: Vec<Ordered>,
    /// Asynchronous copies that no group holds yet.
    uncommitted: Vec<IntervalId>,
    /// Groups of them, the oldest first.
    groups: Vec<Vec<IntervalId>>,
    /// The copies that the next one joins.
    copying: Option<IntervalId>,
}

/// The sides of a condition, while they are walked.
pub(super) struct Parting {
    before: Moment,
    then: Option<Moment>,
    /// The first interval of the side that was walked first.
    first: IntervalId,
    /// Between which threads the sides are walked at the same time.
    between: Option<Between>,
    /// What holds of the block on the side that was walked first, and on the other one.
    holds: [FactList; 2],
}

impl Open {
    /// On every way.
    pub(super) fn always(interval: IntervalId, between: Between) -> Open {
        Open { interval, between, when: When::Always }
    }
}

impl Moment {
    pub(super) fn start() -> Moment {
        Moment {
            now: 0,
            open: Vec::new(),
            ordered: Vec::new(),
            uncommitted: Vec::new(),
            groups: Vec::new(),
            copying: None,
        }
    }

    /// The asynchronous copies that are under way.
    pub(super) fn copies(&self) -> impl Iterator<Item = IntervalId> {
        self.uncommitted.iter().chain(self.groups.iter().flatten()).copied()
    }

    /// Nothing but an interval that stands for what came before, and the copies that are under way.
    pub(super) fn alone(&self, entry: IntervalId) -> Moment {
        let (uncommitted, groups) = (self.uncommitted.clone(), self.groups.clone());
        let mut alone = Moment { uncommitted, groups, ..Moment::start() };
        alone.add_open(Open::always(entry, Between::Threads));
        alone
    }

    /// Takes out what some intervals have left open, and those of their copies that are under way.
    pub(super) fn split_off(&mut self, is_taken: &dyn Fn(IntervalId) -> bool) -> Moment {
        let mut taken = Moment { ordered: Vec::new(), ..self.clone() };
        taken.forget(&|interval| !is_taken(interval));
        self.forget(is_taken);
        self.ordered.retain(|ordered| !is_taken(ordered.interval));
        taken
    }

    /// Copies that are under way are over for the threads that started them.
    pub(super) fn wait_for(&mut self, over: &[IntervalId]) {
        let copies: Vec<IntervalId> = self.copies().filter(|copy| over.contains(copy)).collect();
        self.uncommitted.retain(|copy| !over.contains(copy));
        self.groups.iter_mut().for_each(|group| group.retain(|copy| !over.contains(copy)));
        copies.into_iter().for_each(|copy| self.add_open(Open::always(copy, Between::Threads)));
    }

    /// Whether one of these copies has been under way since an earlier moment and stays so, as often as the block goes from
    /// that to this: no wait on the way leaves more groups pending than a number, if there is one at all.
    pub(super) fn keeps_copy_of(
        &self,
        earlier: &Moment,
        among: &Range<IntervalId>,
        most_pending: Option<u32>,
    ) -> bool {
        let Some(pending) = most_pending else { return self.copies().any(|copy| among.contains(&copy)) };
        let in_reach = earlier.groups.len().saturating_sub(pending as usize);
        let mut committed = earlier.groups[..in_reach].iter().flatten();
        committed.any(|copy| among.contains(copy) && self.groups.iter().any(|group| group.contains(copy)))
            || earlier.uncommitted.iter().any(|copy| among.contains(copy) && self.uncommitted.contains(copy))
    }

    /// Takes an interval out, if it was open.
    pub(super) fn remove(&mut self, interval: IntervalId) -> Option<Open> {
        let at = self.open.iter().position(|open| open.interval == interval)?;
        self.ordered.retain(|other| other.interval != interval);
        Some(self.open.remove(at))
    }

    /// Whether an access of these intervals is open, or a copy under way.
    pub(super) fn leaves_open(&self, among: &Range<IntervalId>) -> bool {
        let open = self.open.iter().any(|open| among.contains(&open.interval));
        open || self.copies().any(|copy| among.contains(&copy))
    }

    /// The same, or whether a barrier that it names ended it.
    pub(super) fn mentions(&self, among: &Range<IntervalId>) -> bool {
        self.leaves_open(among) || self.ordered.iter().any(|ordered| among.contains(&ordered.interval))
    }

    /// Orders everything that is open between the threads of a warp.
    pub(super) fn between_warps(&mut self) {
        self.open.iter_mut().for_each(|open| open.between = Between::Warps);
    }

    /// Leaves intervals out.
    pub(super) fn forget(&mut self, is_over: &dyn Fn(IntervalId) -> bool) {
        self.open.retain(|open| !is_over(open.interval));
        self.uncommitted.retain(|copy| !is_over(*copy));
        self.groups.iter_mut().for_each(|group| group.retain(|copy| !is_over(*copy)));
    }

    fn add_open(&mut self, open: Open) {
        match self.open.iter_mut().find(|known| known.interval == open.interval) {
            Some(known) => {
                known.between = known.between.max(open.between);
                known.when = known.when.or(&open.when);
            }
            None => self.open.push(open),
        }
    }

    /// What is open on every way from here that is one of these.
    pub(super) fn passing(mut self, when: &When) -> Moment {
        self.open.iter_mut().for_each(|open| open.when = open.when.and(when));
        self
    }

    /// Takes in what holds of the block that comes from here, not from the other moment, about intervals before this one that
    /// are not open in both alike.
    fn alone_under(&mut self, facts: &FactList, other: &Moment, first: IntervalId) {
        let when = When::on(facts);
        let differs = |open: &&mut Open| open.interval < first && !other.open.contains(open);
        self.open.iter_mut().filter(differs).for_each(|open| open.when = open.when.and(&when));
    }

    /// What is open, and what earlier barriers ended, is ordered by this one.
    fn order(&mut self, barrier: SpanId) {
        for Ordered { barriers, times, .. } in &mut self.ordered {
            *times += 1;
            if !barriers.contains(&barrier) {
                barriers.push(barrier);
            }
        }
        self.ordered.retain(|ordered| ordered.times <= MOST_BARRIERS);
        for Open { interval, .. } in &self.open {
            if !self.ordered.iter().any(|ordered| ordered.interval == *interval) {
                self.ordered.push(Ordered { interval: *interval, barriers: vec![barrier], times: 1 });
            }
        }
    }

    /// What may be open, where the threads come from either.
    pub(super) fn or(&mut self, other: &Moment) {
        self.or_open(other);
        for ordered in &other.ordered {
            if !self.ordered.contains(ordered) {
                self.ordered.push(ordered.clone());
            }
        }
    }

    /// The same without what barriers have ended.
    pub(super) fn or_open(&mut self, other: &Moment) {
        other.open.iter().for_each(|open| self.add_open(open.clone()));
        for copy in &other.uncommitted {
            if !self.uncommitted.contains(copy) {
                self.uncommitted.push(*copy);
            }
        }
        // The last group is the last in both.
        while self.groups.len() < other.groups.len() {
            self.groups.insert(0, Vec::new());
        }
        let offset = self.groups.len() - other.groups.len();
        for (own, group) in self.groups.iter_mut().skip(offset).zip(&other.groups) {
            own.extend(group.iter().filter(|copy| !own.contains(copy)).copied().collect::<Vec<_>>());
        }
    }
}

impl Walk<'_> {
    /// Begins an interval: that which was under way is one of those before.
    pub(super) fn begin_interval(&mut self) {
        let now = self.moment.now;
        if self.intervals.get(now as usize).is_some_and(|interval| interval.touched) {
            self.moment.add_open(Open::always(now, Between::Threads));
        }
        self.fresh_interval();
    }

    /// Begins an interval at a moment that was put together.
    pub(super) fn fresh_interval(&mut self) {
        self.moment.copying = None;
        self.moment.now = self.new_interval(Between::Threads);
    }

    fn new_interval(&mut self, within: Between) -> IntervalId {
        let mut open = self.moment.open.clone();
        open.extend(self.moment.copies().map(|copy| Open::always(copy, Between::All)));
        self.charge(open.len() as u64 * PAIR_WORK);
        let interval = Interval {
            open,
            ordered: self.moment.ordered.clone(),
            within,
            touched: false,
            rounds: self.rounds.clone(),
            again: self.again,
        };
        self.intervals.push(interval);
        self.intervals.len() as IntervalId - 1
    }

    /// An interval that stands for all that came before.
    pub(super) fn entry_interval(&mut self) -> IntervalId {
        let entry = self.new_interval(Between::Threads);
        self.intervals[entry as usize].touched = true;
        entry
    }

    /// The interval of an access, which is under way now.
    pub(super) fn interval_of(&mut self, site: &Site) -> IntervalId {
        let now = match site.proxy {
            Proxy::Async => self.copy_interval(),
            Proxy::Generic => self.moment.now,
        };
        if self.is_tracked(site) {
            self.intervals[now as usize].touched = true;
        }
        now
    }

    /// The interval of an asynchronous copy that starts now. What follows is another one, to which the copy is under way.
    fn copy_interval(&mut self) -> IntervalId {
        let now = self.moment.now;
        if let Some(copy) = self.moment.copying
            && !self.intervals[now as usize].touched
        {
            return copy;
        }
        self.begin_interval();
        let copy = self.new_interval(Between::All);
        self.moment.uncommitted.push(copy);
        self.fresh_interval();
        self.moment.copying = Some(copy);
        copy
    }

    pub(super) fn synchronise(&mut self, sync: Sync, span: SpanId) {
        match (sync.object, sync.action) {
            (SyncObject::BlockBarrier, _) => self.block_barrier(span),
            (SyncObject::Warp, _) => {
                self.begin_interval();
                self.moment.order(span);
                self.moment.between_warps();
                self.fresh_interval();
            }
            (SyncObject::CopyGroup, SyncAction::Wait { pending }) => {
                let groups = &mut self.moment.groups;
                let done = groups.len().saturating_sub(pending as usize);
                let done: Vec<IntervalId> = groups.drain(..done).flatten().collect();
                if !done.is_empty() {
                    self.begin_interval();
                    done.iter().for_each(|copy| self.moment.add_open(Open::always(*copy, Between::Threads)));
                    self.fresh_interval();
                    let from = self.moment.now;
                    self.waits.extend(done.into_iter().map(|copy| Waited { copy, wait: span, from }));
                }
            }
            (SyncObject::CopyGroup, SyncAction::Arrive | SyncAction::ArriveAndWait) => {
                let group = std::mem::take(&mut self.moment.uncommitted);
                self.moment.groups.push(group);
                self.moment.copying = None;
            }
        }
    }

    /// All threads of the block have met.
    pub(super) fn block_barrier(&mut self, span: SpanId) {
        self.begin_interval();
        // Where nothing happened since the last barrier, that one does all.
        if !self.moment.open.is_empty() {
            self.moment.order(span);
            self.moment.open.clear();
            self.fresh_interval();
        }
    }

    /// Before the sides of a condition, if the order of what is in them matters: over which threads all take the same side.
    pub(super) fn sides(
        &mut self,
        (condition, truth): (Handle<Expr>, &Truth),
        together: Scope,
        then: &Block,
        otherwise: &Block,
    ) -> Option<Parting> {
        let synchronises = |block: &Block| any_stmt(self.kernel, block, &is_order);
        let touches = |block: &Block| any_stmt(self.kernel, block, &|stmt| self.touches(stmt));
        let exclusive = together >= Scope::Block && touches(then) && touches(otherwise);
        if !(exclusive || synchronises(then) || synchronises(otherwise)) {
            return None;
        }
        // Whether a barrier is met may hang together with what is done elsewhere.
        if together >= Scope::Block {
            self.request_flags(condition);
        }
        self.begin_interval();
        let between = match together {
            Scope::Lane => Some(Between::Threads),
            Scope::Warp | Scope::Warpgroup => Some(Between::Warps),
            Scope::Block | Scope::Cluster | Scope::Grid => None,
        };
        let holds = match between {
            None => [&truth.when_true, &truth.when_false].map(|facts| self.of_block(facts)),
            Some(_) => [const { FactList::new() }; 2],
        };
        Some(Parting { before: self.moment.clone(), then: None, first: self.moment.now, between, holds })
    }

    /// Those of some facts that are about the whole block.
    pub(super) fn of_block(&self, facts: &[Rc<Linear>]) -> FactList {
        facts.iter().filter(|fact| self.is_uniform(fact)).cloned().collect()
    }

    /// Between the sides.
    pub(super) fn other_side(&mut self, parting: &mut Option<Parting>) {
        let Some(parting) = parting else { return };
        self.begin_interval();
        parting.then = Some(std::mem::replace(&mut self.moment, parting.before.clone()));
        if let Some(between) = parting.between {
            for interval in parting.first..self.intervals.len() as IntervalId {
                if self.intervals[interval as usize].touched {
                    self.moment.add_open(Open::always(interval, between));
                }
            }
        }
        self.fresh_interval();
    }

    /// After both.
    pub(super) fn rejoin(&mut self, parting: Option<Parting>) {
        let Some(Parting { then: Some(mut then), holds: [if_then, if_otherwise], first, .. }) = parting
        else {
            return;
        };
        self.begin_interval();
        let before = self.moment.clone();
        self.moment.alone_under(&if_otherwise, &then, first);
        then.alone_under(&if_then, &before, first);
        self.moment.or(&then);
        self.fresh_interval();
    }

    /// Whether an access can be part of a race: nobody writes a tensor that is only read.
    pub(super) fn is_tracked(&self, site: &Site) -> bool {
        self.written.contains(&site.place.base)
    }

    fn touches(&self, stmt: &Stmt) -> bool {
        accesses(stmt).into_iter().any(|site| self.is_tracked(&self.kernel.sites[site]))
    }
}

/// The tiles and tensors that a kernel writes.
pub(super) fn written(kernel: &Kernel) -> Vec<Base> {
    let mut written: Vec<Base> = kernel
        .sites
        .iter()
        .filter(|(_, site)| site.role != Role::Read)
        .map(|(_, site)| site.place.base)
        .collect();
    written.sort();
    written.dedup();
    written
}

/// Whether some statement of a block, or within one, is so.
fn any_stmt(kernel: &Kernel, block: &Block, is: &dyn Fn(&Stmt) -> bool) -> bool {
    block
        .iter()
        .any(|stmt| is(stmt) || stmt.blocks(kernel).into_iter().any(|block| any_stmt(kernel, block, is)))
}

/// Whether the block meets in a body, whatever holds.
pub(super) fn meets(body: &Block) -> bool {
    body.iter().any(|stmt| match stmt {
        Stmt::Sync(sync, _) => sync.object == SyncObject::BlockBarrier,
        Stmt::Collective(Collective { op, .. }) => is_block_wide(*op),
        Stmt::If { then, otherwise, .. } => meets(then) && meets(otherwise),
        Stmt::Assign { .. }
        | Stmt::Fill { .. }
        | Stmt::AssignElement { .. }
        | Stmt::AssignLane { .. }
        | Stmt::Load { .. }
        | Stmt::LoadMatrices { .. }
        | Stmt::LoadUnaligned(_)
        | Stmt::Store { .. }
        | Stmt::Copy(_)
        | Stmt::Atomic(_)
        | Stmt::For(_)
        | Stmt::While { .. } => false,
    })
}

/// Whether a statement says something about the order of accesses.
fn is_order(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Sync(..) | Stmt::Copy(_))
        || matches!(stmt, Stmt::Collective(Collective { op, .. }) if is_block_wide(*op))
}

/// Whether a collective is a barrier of the block, too.
pub(super) fn is_block_wide(op: CollectiveOp) -> bool {
    op.participants() >= Scope::Block
}

/// The accesses of a statement, without the statements within it.
fn accesses(stmt: &Stmt) -> Vec<Handle<Site>> {
    match stmt {
        Stmt::Load { site, .. } | Stmt::LoadMatrices { site, .. } | Stmt::Store { site, .. } => vec![*site],
        Stmt::Atomic(atomic) => vec![atomic.site],
        Stmt::LoadUnaligned(Unaligned { first, last, .. }) => vec![*first, *last],
        Stmt::Copy(copy) => vec![copy.source, copy.destination],
        Stmt::Assign { .. }
        | Stmt::Fill { .. }
        | Stmt::AssignElement { .. }
        | Stmt::AssignLane { .. }
        | Stmt::Sync(..)
        | Stmt::Collective(_)
        | Stmt::If { .. }
        | Stmt::For(_)
        | Stmt::While { .. } => Vec::new(),
    }
}

/// How many groups a wait in a body leaves pending at most, if there is one.
pub(super) fn most_pending(kernel: &Kernel, body: &Block) -> Option<u32> {
    let of_stmt = |stmt: &Stmt| match stmt {
        Stmt::Sync(Sync { action: SyncAction::Wait { pending }, .. }, _) => Some(*pending),
        _ => None,
    };
    let within =
        |stmt: &Stmt| stmt.blocks(kernel).into_iter().filter_map(|block| most_pending(kernel, block)).max();
    body.iter().filter_map(|stmt| of_stmt(stmt).max(within(stmt))).max()
}

/// Whether the order of the iterations of a loop's body matters: it writes what a race can be about, or holds a barrier.
pub(super) fn orders_rounds(kernel: &Kernel, body: &Block) -> bool {
    let writes = |stmt: &Stmt| accesses(stmt).into_iter().any(|site| kernel.sites[site].role != Role::Read);
    any_stmt(kernel, body, &|stmt| is_order(stmt) || writes(stmt))
}
