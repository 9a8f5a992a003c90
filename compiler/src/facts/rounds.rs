//! Which iterations of a loop meet, where one iteration stands for all.
//!
//! Let that iteration be number *k*. Which accesses of other iterations nothing orders before or after its own is found by
//! walking the body again, with the same symbols, for iterations that follow:
//!
//! - Where some way through the body meets no barrier, threads may be any number of iterations apart: the body is
//!   walked once more as iteration *k + 1 + d*, with a new symbol *d*, and what came before the loop is open in it.
//! - Where only barriers of the warp are on the way, that is so between warps, and one warp is at most at the next iteration.
//! - Where every way meets a barrier of the block, the body is walked as *k + 1*, *k + 2*, … until no access of *k* is open
//!   and no copy of it under way, which takes as many iterations as there are stages. What came before the loop meets the
//!   first iterations, which are walked as such, from the values that the variables have there.
//!
//! A read of shared memory that finds it written in none of the ways through iteration *k* alone may be served by an earlier
//! iteration: it is asked again in those that follow, and in the first ones. Where the counter is taken by its residues,
//! only iterations of the same residue read the same.
//!
//! The additional walks leave accesses and their order, and nothing else.

use super::Visit;
use super::eval::{EXTENT_LIMIT, NARROW_LIMIT};
use super::linear::Linear;
use super::loops::Carried;
use super::order::{Around, Between, IntervalId, Moment, Open, most_pending, orders_rounds};
use super::prove::FactList;
use super::symbol::{Residue, SymbolKind};
use super::truth::Value;
use super::unwritten::{Step, StepKind, Unwritten};
use super::walk::Walk;
use super::when::When;
use crate::ir::{Block, Scope};
use crate::span::SpanId;
use std::ops::Range;

/// How many iterations are followed one by one.
const MOST_ROUNDS: i64 = 8;

/// What was there before a loop.
#[derive(Clone)]
pub(super) struct Entry {
    moment: Moment,
    environment: Vec<Option<Value>>,
    /// The interval that stands for what is open there.
    marker: IntervalId,
    unwritten: usize,
    /// How many groups of copies the waits in the body leave pending at most, if there are any.
    most_pending: Option<u32>,
}

/// A walk of the body for the iteration of a number, from the values that the variables have.
pub(super) type Once<'w> = dyn FnMut(&mut Walk<'_>, &Linear) + 'w;

/// Whether a loop goes round.
#[derive(Clone, Debug)]
pub(super) enum Happens {
    /// At least once.
    Certainly,
    /// There is an iteration such as the one that stands for all, if and only if this holds, which is the same for all threads.
    If(FactList),
    /// That is not known.
    Perhaps,
}

/// How a loop begins, if it does.
#[derive(Clone, Debug)]
pub(super) struct Beginning {
    /// Whether there is an iteration such as the one that stands for all.
    pub(super) happens: Happens,
    /// What holds of the block where there is none, or none at all if the block meets in each.
    pub(super) skipped: FactList,
}

impl Beginning {
    /// Of which nothing is known.
    pub(super) fn unknown() -> Beginning {
        Beginning { happens: Happens::Perhaps, skipped: Vec::new() }
    }
}

/// What holds of the block behind the iteration of a number, with the values that the variables have there, if no other follows.
pub(super) type Ended<'w> = dyn Fn(&mut Walk<'_>, &Linear) -> FactList + 'w;

impl Walk<'_> {
    /// Before the iteration that stands for all, if the order of iterations matters.
    pub(super) fn enter_rounds(&mut self, body: &Block, span: SpanId) -> Option<Entry> {
        if !orders_rounds(self.kernel, body) {
            return None;
        }
        self.begin_interval();
        let moment = self.moment.clone();
        let marker = self.entry_interval();
        self.executions += 1;
        self.rounds.push(Around { head: span, execution: self.executions, counted: false });
        self.moment = moment.alone(marker);
        self.fresh_interval();
        let round = StepKind::Round { execution: self.executions, walk: 0 };
        self.path = self.path.iter().cloned().chain([Step { kind: round, scope: Scope::Lane }]).collect();
        Some(Entry {
            moment,
            environment: self.environment.clone(),
            marker,
            unwritten: self.unwritten.len(),
            most_pending: most_pending(self.kernel, body),
        })
    }

    /// Over which threads all execute the iteration that is walked.
    pub(super) fn together_in_round(&mut self, scope: Scope) {
        self.last_round(|step| step.scope = scope);
    }

    /// Changes the innermost step of the path, if that is a loop.
    fn last_round(&mut self, change: impl FnOnce(&mut Step)) {
        let mut path = self.path.to_vec();
        if let Some(step @ Step { kind: StepKind::Round { .. }, .. }) = path.last_mut() {
            change(step);
            self.path = path.into();
        }
    }

    /// The symbol of a loop's counter for the time that it is come to now: of other times it is another one.
    pub(super) fn next_execution(&self, kind: impl Fn(u32) -> SymbolKind) -> SymbolKind {
        let mut time = 0;
        while self.symbols.find(&kind(time)).is_some() {
            time += 1;
        }
        kind(time)
    }

    /// After it: walks those that meet it. Afterwards the threads are where the loop may have left them.
    pub(super) fn leave_rounds(
        &mut self,
        entry: Option<Entry>,
        round: &Linear,
        once: &mut Once<'_>,
        guessed: &mut [Carried],
        beginning: Beginning,
        ended: &Ended<'_>,
    ) {
        let Some(entry) = entry else { return };
        let path = self.path.clone();
        let walked = entry.marker + 1..self.intervals.len() as IntervalId;
        self.begin_interval();
        let through = self.moment.remove(entry.marker);
        let before = 0..entry.marker;
        let mut earlier = self.moment.split_off(&|interval| before.contains(&interval));
        match through.as_ref().map(|open| open.between) {
            Some(between) => {
                self.reopen(&entry);
                self.ask_again(&entry, round, once);
                let mut ends = vec![self.moment.clone()];
                // A warp without another barrier than its own is at most at the next iteration.
                let least = i64::from(between == Between::Warps);
                let by = self.until_copied(round, (&walked, entry.most_pending), least, once, &mut ends);
                if between == Between::Warps {
                    self.moment.between_warps();
                }
                // How those that follow meet later ones, that one says for all.
                self.moment.forget(&|interval| interval >= walked.end);
                self.any_later(round, by, once, guessed);
                let copied = |walk: &Walk<'_>| walk.moment.copies().any(|copy| before.contains(&copy));
                let least = i64::from(entry.moment.copies().next().is_some());
                ends.extend(self.first_rounds(&entry, (least, 0), (once, ended), &copied));
                let lasting = match ends.last().filter(|_| least > 0) {
                    Some(end) => end.clone().split_off(&|interval| before.contains(&interval)),
                    None => Moment::start(),
                };
                let over = self.end_copies(&entry, &walked, &lasting, Some(Between::Threads));
                earlier.wait_for(&over);
                ends.iter().chain([&earlier]).for_each(|end| self.moment.or_open(end));
            }
            None => {
                let asked = self.unwritten.split_off(entry.unwritten);
                let is_asked = !asked.is_empty();
                let (followed, ordered, settled, missing) =
                    self.next_rounds(round, (&walked, entry.most_pending), asked, (once, ended), guessed);
                let is_open = |walk: &Walk<'_>| walk.moment.leaves_open(&before);
                let least = ordered.max(i64::from(entry.moment.mentions(&before)));
                let least = if self.is_elsewhere(&entry) { 0 } else { least };
                // Where something is missing anyway, what is missing in the first iterations is no news.
                let asked = if is_asked && !missing { followed } else { 0 };
                let ends = self.first_rounds(&entry, (least, asked), (once, ended), &is_open);
                if !settled || ends.last().is_some_and(|end| end.leaves_open(&before)) {
                    self.reopen(&entry);
                }
                let lasting = match ends.last() {
                    Some(end) => end.clone().split_off(&|interval| before.contains(&interval)),
                    // Copies from before the loop end before those of the loop do.
                    None if settled && self.copies_in(&walked) => Moment::start(),
                    None => earlier,
                };
                self.end_copies(&entry, &walked, &lasting, None);
                self.moment.or_open(&lasting);
                ends.iter().for_each(|end| self.moment.or(end));
            }
        }
        // What was before the loop is open behind it where there is no iteration, or where the block does not meet in any.
        let skips = match beginning.happens {
            Happens::Certainly => None,
            Happens::If(_) | Happens::Perhaps => Some(When::on(&beginning.skipped)),
        };
        let passes = through.map(|open| open.when);
        if let Some(when) = skips.into_iter().chain(passes).reduce(|skips, passes| skips.or(&passes)) {
            self.moment.or(&entry.moment.passing(&when));
        }
        self.rounds.pop();
        self.path = self.path[..self.path.len() - 1].into();
        self.write_in_rounds(&path, beginning.happens);
        self.fresh_interval();
    }

    /// Where threads are now, behind the iteration of a number, if that is the last: without what is done only where another
    /// follows.
    fn ended_after(&mut self, last: Option<&Linear>, ended: &Ended<'_>) -> Moment {
        let holds = last.map(|last| ended(self, last)).unwrap_or_default();
        let when = When::on(&holds);
        let mut end = self.moment.clone().passing(&when);
        end.forget(&|interval| {
            let own = |visit: &&Visit| visit.interval == interval;
            let mut visits = self.visits.iter().chain(&self.replays).filter(own).peekable();
            visits.peek().is_some() && visits.all(|visit| when.excludes_all(&[visit], &self.symbols))
        });
        end
    }

    /// Walks the iterations after the one that stands for all until nothing of that is open any more, and until what it
    /// reads is known to be written. How many, how many of them because something was open, whether nothing is, and whether
    /// something is missing.
    fn next_rounds(
        &mut self,
        round: &Linear,
        (walked, most_pending): (&Range<IntervalId>, Option<u32>),
        asked: Vec<Unwritten>,
        (once, ended): (&mut Once<'_>, &Ended<'_>),
        guessed: &mut [Carried],
    ) -> (i64, i64, bool, bool) {
        let period = self.period();
        let mut missing = asked;
        let (mut followed, mut ordered) = (0, 0);
        // Where the threads are after the last iteration whose accesses are kept, be there more or not.
        let mut kept = (self.moment.clone(), self.ended_after(Some(round), ended));
        // Whether something stays open however many iterations follow.
        let mut lasts = false;
        while followed < MOST_ROUNDS {
            let open = match followed {
                _ if lasts => false,
                0 => self.moment.mentions(walked),
                _ => self.moment.leaves_open(walked),
            };
            if !open && missing.is_empty() {
                break;
            }
            followed += 1;
            let (replays, before) = (self.replays.len(), self.moment.clone());
            let left = self.following(round, followed, once);
            lasts |= self.moment.keeps_copy_of(&before, walked, most_pending);
            match open {
                true => {
                    let end = self.ended_after(round.offset(followed).as_ref(), ended);
                    (ordered, kept) = (followed, (self.moment.clone(), end));
                }
                false => self.replays.truncate(replays),
            }
            if !missing.is_empty() && followed % period == 0 {
                // Within another loop's iterations that are walked again, one round of all residues must do.
                let is_stuck = self.again.is_some() && !open && left.len() >= missing.len();
                missing = left;
                if is_stuck {
                    break;
                }
            }
        }
        let settled = !kept.0.leaves_open(walked);
        if settled {
            self.moment = kept.1;
        } else {
            self.moment = kept.0;
            self.any_later(round, ordered + 1, once, guessed);
        }
        let is_missing = !missing.is_empty();
        self.unwritten.extend(missing);
        (followed, ordered, settled, is_missing)
    }

    /// Walks the iterations after the one that stands for all for what that reads and nobody wrote, while it is more than
    /// what they read so, and as many of the first.
    fn ask_again(&mut self, entry: &Entry, round: &Linear, once: &mut Once<'_>) {
        let asked = self.unwritten.split_off(entry.unwritten);
        let period = self.period();
        let (mut followed, mut missing) = (0, asked.len());
        while missing > 0 && followed < MOST_ROUNDS {
            followed += 1;
            let left = self.following(round, followed, once).len();
            if followed % period != 0 {
                continue;
            }
            if left >= missing {
                break;
            }
            missing = left;
        }
        if missing > 0 {
            self.unwritten.extend(asked);
        } else {
            let least = if self.is_elsewhere(entry) { 0 } else { followed };
            self.first_rounds(entry, (least, followed), (once, &|_, _| FactList::new()), &|_| false);
        }
    }

    /// Walks so many of the first iterations of a loop, and more while something is so, unless another run does; and so many
    /// for what they read. Where the threads are after each of the former.
    fn first_rounds(
        &mut self,
        entry: &Entry,
        (least, asked): (i64, i64),
        (once, ended): (&mut Once<'_>, &Ended<'_>),
        more: &dyn Fn(&Walk<'_>) -> bool,
    ) -> Vec<Moment> {
        let mut ends = Vec::new();
        if least == 0 && asked == 0 {
            return ends;
        }
        let after = (self.moment.clone(), self.environment.clone());
        self.environment.clone_from(&entry.environment);
        self.moment = entry.moment.clone();
        self.fresh_interval();
        self.executions += 1;
        let execution = self.executions;
        self.last_round(|step| step.kind = StepKind::Round { execution, walk: 0 });
        self.count_rounds(true);
        let mut lasts = false;
        for number in 0..MOST_ROUNDS {
            let is_ordered = number < least || least > 0 && !lasts && more(self);
            if !is_ordered && number >= asked {
                break;
            }
            let (replays, before) = (self.replays.len(), self.moment.clone());
            let missing = self.following(&Linear::int(number), 0, once);
            lasts |= self.moment.keeps_copy_of(&before, &(0..entry.marker), entry.most_pending);
            self.unwritten.extend(missing);
            match is_ordered {
                true => ends.push(self.ended_after(Some(&Linear::int(number)), ended)),
                false => self.replays.truncate(replays),
            }
        }
        self.count_rounds(false);
        (self.moment, self.environment) = after;
        ends
    }

    /// Whether another run walks the first iterations for their order.
    fn is_elsewhere(&self, entry: &Entry) -> bool {
        // Copies from before the loop end before those of the loop do, if that has any.
        let ends_copies = || self.copies_in(&(entry.marker..self.intervals.len() as IntervalId));
        self.is_repeated() && (entry.moment.copies().next().is_none() || ends_copies())
    }

    /// Walks the iterations after the one that stands for all until none of its copies is under way, so many at least. Where the
    /// threads are after each; the next is that many after.
    fn until_copied(
        &mut self,
        round: &Linear,
        (walked, most_pending): (&Range<IntervalId>, Option<u32>),
        least: i64,
        once: &mut Once<'_>,
        ends: &mut Vec<Moment>,
    ) -> i64 {
        let (mut followed, mut lasts) = (0, false);
        let copied = |moment: &Moment| moment.copies().any(|copy| walked.contains(&copy));
        while followed < least || followed < MOST_ROUNDS && !lasts && copied(&self.moment) {
            followed += 1;
            let before = self.moment.clone();
            self.following(round, followed, once);
            lasts = self.moment.keeps_copy_of(&before, walked, most_pending);
            ends.push(self.moment.clone());
        }
        followed + 1
    }

    /// Whether the number of the innermost loop's iteration that is walked next is known.
    fn count_rounds(&mut self, counted: bool) {
        if let Some(around) = self.rounds.last_mut() {
            around.counted = counted;
        }
    }

    /// Whether the first iterations of the innermost loop are walked in another run: where its counter is taken by its
    /// residues, they are the same in all. What an earlier execution of the loop left open is not.
    fn is_repeated(&self) -> bool {
        let Some(Around { head, execution, .. }) = self.rounds.last() else { return false };
        let is_earlier = |around: &Around| around.head == *head && around.execution != *execution;
        if self.intervals.iter().any(|interval| interval.rounds.iter().any(is_earlier)) {
            return false;
        }
        self.own_residues().any(|residue| residue.residue != 0)
    }

    /// After so many iterations of the innermost loop its counter has the same residue again.
    fn period(&self) -> i64 {
        self.own_residues().map(|residue| residue.modulus).max().unwrap_or(1)
    }

    /// The residues by which the counter of the innermost loop is taken.
    fn own_residues(&self) -> impl Iterator<Item = &Residue> {
        let head = self.rounds.last().map(|around| around.head);
        self.residues.iter().filter_map(move |(kind, residue)| {
            let own = match kind {
                SymbolKind::Counter(counted, _) => Some(self.kernel.loops[*counted].span),
                SymbolKind::Round(span, _) => Some(*span),
                SymbolKind::Extent(..)
                | SymbolKind::Stride(..)
                | SymbolKind::Misalignment(..)
                | SymbolKind::Scalar(_)
                | SymbolKind::Block(_)
                | SymbolKind::Grid(_)
                | SymbolKind::Later(..)
                | SymbolKind::Product(..)
                | SymbolKind::Derived(_)
                | SymbolKind::Opaque(_) => None,
            };
            (own.is_some() && own == head).then_some(residue)
        })
    }

    /// Walks one iteration that follows what was walked last. What it reads that was not written.
    fn following(&mut self, round: &Linear, by: i64, once: &mut Once<'_>) -> Vec<Unwritten> {
        let asked = self.unwritten.len();
        self.last_round(|step| {
            if let StepKind::Round { walk, .. } = &mut step.kind {
                *walk += 1;
            }
        });
        if let Some(round) = round.offset(by) {
            let again = self.again;
            self.walks += 1;
            let walk = again.map_or(self.walks, |(walk, _)| walk);
            self.again = self.rounds.last().map(|around| (walk, around.head));
            self.begin_interval();
            self.quietly(|walk| once(walk, &round));
            self.again = again;
        }
        self.begin_interval();
        self.unwritten.split_off(asked)
    }

    /// Walks one iteration that is at least so many after the one that stands for all.
    fn any_later(&mut self, round: &Linear, by: i64, once: &mut Once<'_>, guessed: &mut [Carried]) {
        let Some(Around { head, .. }) = self.rounds.last().copied() else { return };
        let kind = self.next_execution(|time| SymbolKind::Later(head, time));
        let distance = self.symbol_form(kind, (0, EXTENT_LIMIT), 2 * NARROW_LIMIT, "iterations later".into());
        let Some(later) = round.add(&distance).and_then(|later| later.offset(by)) else { return };
        for variable in guessed.iter_mut() {
            let value = variable.at_start(&later, self);
            self.environment[variable.local.index()] = Some(value);
        }
        self.following(&later, 0, once);
    }

    /// Whether some of these intervals are asynchronous copies.
    fn copies_in(&self, among: &Range<IntervalId>) -> bool {
        among.clone().any(|id| self.intervals.get(id as usize).is_some_and(|own| own.within == Between::All))
    }

    /// Copies from before a loop whose first iterations are walked are over in the iteration that stands for all, but for
    /// those that last: nothing of them is open there, or it is between these threads. Those that are over.
    fn end_copies(
        &mut self,
        entry: &Entry,
        walked: &Range<IntervalId>,
        lasting: &Moment,
        between: Option<Between>,
    ) -> Vec<IntervalId> {
        let lasting: Vec<IntervalId> = lasting.copies().collect();
        let over: Vec<IntervalId> = entry.moment.copies().filter(|copy| !lasting.contains(copy)).collect();
        for id in walked.clone() {
            let Some(interval) = self.intervals.get_mut(id as usize) else { continue };
            match between {
                Some(between) => {
                    let ended = interval.open.iter_mut().filter(|open| over.contains(&open.interval));
                    ended.for_each(|open| open.between = open.between.min(between));
                }
                None => {
                    interval.open.retain(|open| !over.contains(&open.interval));
                    interval.ordered.retain(|ordered| !over.contains(&ordered.interval));
                }
            }
        }
        if between.is_none() {
            self.waits.retain(|waited| !(walked.contains(&waited.from) && over.contains(&waited.copy)));
        }
        over
    }

    /// What was open before a loop is open in the iteration that stands for all.
    fn reopen(&mut self, entry: &Entry) {
        let open = &entry.moment.open;
        for interval in self.intervals.iter_mut().skip(entry.marker as usize + 1) {
            let Some(marker) = interval.open.iter().find(|open| open.interval == entry.marker).cloned()
            else {
                continue;
            };
            let known = open.iter().map(|open| Open {
                interval: open.interval,
                between: open.between.min(marker.between),
                when: open.when.and(&marker.when),
            });
            interval.open.extend(known.collect::<Vec<_>>());
        }
    }

    /// Walks something for its accesses and their order alone.
    fn quietly(&mut self, walk: impl FnOnce(&mut Self)) {
        let found = self.findings();
        walk(self);
        let visits = self.visits.split_off(found.visits);
        self.replays.extend(visits);
        self.forget(found);
    }
}
