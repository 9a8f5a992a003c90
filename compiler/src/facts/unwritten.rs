//! Which reads of shared memory may find what nobody wrote.
//!
//! The walk keeps, for each tile, what was written so far: for each element a thread that did, under the conditions and in
//! the loops around the write. A read is served where such a thread certainly was there: the conditions that are exactly
//! what is known of them must follow, for the thread that wrote, from what holds for the thread that reads; any other one
//! must be around the read too. That the write is also over by then is the matter of races: of two accesses that do
//! not race, the one that the walk comes to first is the first.

use super::Visit;
use super::lanes::{Lanes, Mask};
use super::linear::{Linear, SymbolId};
use super::prove::{FactList, non_negative};
use super::rounds::Happens;
use super::walk::Walk;
use crate::ir::{Handle, Role, Scope, Site, Tile};
use std::collections::BTreeSet;
use std::rc::Rc;
use tileproof_model::access::LANES;

/// A read of an element that nobody may have written.
#[derive(Clone, Debug)]
pub struct Unwritten {
    /// The read.
    pub site: Handle<Site>,
    /// A thread that reads it.
    pub thread: usize,
    /// The element, one index an extent; `None` where it is not known.
    pub element: Option<Vec<i64>>,
    /// The writes of that element that are not known to happen.
    pub writes: BTreeSet<Handle<Site>>,
}

/// A condition or a loop around a point.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Step {
    pub(super) kind: StepKind,
    /// Over which threads all that come to it go the same way.
    pub(super) scope: Scope,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum StepKind {
    /// A side of a branch, and what holds exactly on that side, if that is known.
    Side { branch: Branch, side: bool, exactly: Option<FactList> },
    /// A walk of the body of a loop whose iterations are not counted: the number of its execution, and which walk.
    Round { execution: u32, walk: u32 },
    /// Every iteration of a counted loop, which is over.
    Every(Rc<Counted>),
}

/// A counted loop of which one iteration stands for all.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Counted {
    pub(super) start: Linear,
    pub(super) end: Linear,
    pub(super) step: i64,
    /// The number of the iteration.
    pub(super) counter: SymbolId,
}

impl Counted {
    /// Whether another loop has iterations with the same numbers and the same values of the variable.
    fn is_like(&self, other: &Counted) -> bool {
        (&self.start, &self.end, self.step) == (&other.start, &other.end, other.step)
    }
}

/// Which decision a branch is by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Branch {
    /// The branch with this number, alone.
    Number(u32),
    /// A variable's value, by the number of its assignment.
    Assigned(u32),
}

/// Elements of a tile that were written on one path.
#[derive(Clone, Debug)]
pub(super) struct Written {
    tile: Handle<Tile>,
    /// The symbols in the offsets of the elements, with the same coefficients for all threads.
    terms: Vec<(SymbolId, Lanes)>,
    path: Rc<[Step]>,
    /// The least offset in `threads`.
    first: i64,
    /// By element: one more than a thread that wrote it, or 0.
    threads: Rc<Vec<u32>>,
    sites: BTreeSet<Handle<Site>>,
}

/// Tiles with more elements than this are no longer followed one by one.
const MOST_ELEMENTS: i64 = 1 << 18;

/// An index with more values than this is not taken value by value.
const MOST_VALUES: u32 = 16;

impl Written {
    /// One more than the largest offset in `threads`.
    fn end(&self) -> i64 {
        self.first + self.threads.len() as i64
    }

    fn writer(&self, offset: i64) -> Option<usize> {
        let at = usize::try_from(offset.checked_sub(self.first)?).ok()?;
        self.threads.get(at).copied().filter(|thread| *thread > 0).map(|thread| thread as usize - 1)
    }

    /// Whether it has all that threads read, each from a number on.
    fn holds(&self, starts: &[(u32, i64)], width: u32) -> bool {
        let (threads, first): (&[u32], i64) = (&self.threads, self.first);
        let mut i = 0;
        while i < starts.len() {
            let start = starts[i].1 - first;
            if start < 0 || start + i64::from(width) > threads.len() as i64 {
                return false;
            }
            let (mut at, end) = (start as usize, start as usize + width as usize);
            while at < end {
                if threads[at] == 0 {
                    return false;
                }
                at += 1;
            }
            i += 1;
        }
        true
    }

    /// Whether everything that another one has is here, by the same threads, on each way to that.
    fn includes(&self, other: &Written) -> bool {
        let is_around = other.path.get(..self.path.len()) == Some(&*self.path);
        let has = |(element, thread): (usize, &u32)| {
            *thread == 0 || self.writer(other.first + element as i64) == Some(*thread as usize - 1)
        };
        is_around
            && (self.tile, &self.terms) == (other.tile, &other.terms)
            && other.threads.iter().enumerate().all(has)
    }

    /// Takes in what threads write, each so many elements from a number on, and that from `least` to `most`.
    fn write(&mut self, starts: &[(u32, i64)], (least, most): (i64, i64), width: u32) {
        let threads = Rc::make_mut(&mut self.threads);
        if threads.is_empty() {
            self.first = least;
        }
        if least < self.first {
            let more = (self.first - least) as usize;
            threads.splice(0..0, std::iter::repeat_n(0, more));
            self.first = least;
        }
        let end = (most - self.first) as usize + width as usize;
        if end > threads.len() {
            threads.resize(end, 0);
        }
        let (threads, first): (&mut [u32], i64) = (threads, self.first);
        let mut i = 0;
        while i < starts.len() {
            let (thread, start) = starts[i];
            let (mut at, end) = ((start - first) as usize, (start - first) as usize + width as usize);
            while at < end {
                threads[at] = thread + 1;
                at += 1;
            }
            i += 1;
        }
    }
}

/// The number of an element in its tile, whatever the layout, for every thread; `None` on overflow.
pub fn element_number(tile: &Tile, index: &[Linear]) -> Option<Linear> {
    let mut number = Linear::int(0);
    for (form, extent) in index.iter().zip(&tile.extents) {
        number = number.scale(&Lanes::Uniform(i64::from(*extent)))?.add(form)?;
    }
    Some(number)
}

/// The indices of an element by its number in the tile.
pub fn element_index(tile: &Tile, number: i64) -> Vec<i64> {
    let mut rest = number;
    let mut index: Vec<i64> = Vec::new();
    for extent in tile.extents.iter().rev() {
        index.push(rest.rem_euclid(i64::from(*extent)));
        rest = rest.div_euclid(i64::from(*extent));
    }
    index.reverse();
    index
}

impl Walk<'_> {
    /// Takes in an access to a tile: what a write leaves, and what a read finds.
    pub(super) fn follow_tile(&mut self, tile: Handle<Tile>, visit: &Visit) {
        let site = &self.kernel.sites[visit.site];
        let (role, width) = (site.role, site.place.width);
        let number = element_number(&self.kernel.tiles[tile], &visit.index);
        if role != Role::Write && !self.finds(tile, visit, number.as_ref(), width) {
            let missing = self.missing(tile, visit, number.as_ref(), width);
            self.unwritten.push(missing);
        }
        if let (Role::Write | Role::Update, Some(number)) = (role, number) {
            self.leaves(tile, visit, &number, width);
        }
    }

    /// The constants of a form and its symbols, where these are the same for all threads.
    fn parts<'f>(&self, number: &'f Linear) -> Option<(&'f Lanes, &'f [(SymbolId, Lanes)])> {
        let same = |(symbol, coefficient): &(SymbolId, Lanes)| {
            coefficient.uniform().is_some() && self.symbols.get(*symbol).scope >= Scope::Block
        };
        number.terms.iter().all(same).then_some((&number.constant, &number.terms))
    }

    fn leaves(&mut self, tile: Handle<Tile>, visit: &Visit, number: &Linear, width: u32) {
        let Some((constants, terms)) = self.parts(number) else { return };
        let known = constants.extremes(&visit.mask);
        let Some((least, most)) = known.filter(|(least, most)| most - least < MOST_ELEMENTS) else { return };
        let path = self.path.clone();
        let alike = |written: &Written| {
            written.tile == tile
                && written.terms == terms
                && (Rc::ptr_eq(&written.path, &path) || written.path == path)
        };
        let far = |written: &Written| {
            let first = written.first.min(least);
            most.max(written.end()) - first >= MOST_ELEMENTS
        };
        let at = self.written_elements.iter().position(|written| alike(written) && !far(written));
        let written = match at {
            Some(at) => &mut self.written_elements[at],
            None => {
                self.written_elements.push(Written {
                    tile,
                    terms: terms.to_vec(),
                    path,
                    first: least,
                    threads: Rc::new(Vec::new()),
                    sites: BTreeSet::new(),
                });
                let last = self.written_elements.len() - 1;
                &mut self.written_elements[last]
            }
        };
        written.sites.insert(visit.site);
        written.write(&constants.within(&visit.mask, self.threads), (least, most), width);
    }

    /// Whether each thread finds every element written.
    fn finds(&self, tile: Handle<Tile>, visit: &Visit, number: Option<&Linear>, width: u32) -> bool {
        let path = self.path.clone();
        let Some(number) = number else { return self.is_filled(tile, visit, width, &path) };
        let Some((constants, terms)) = self.parts(number) else {
            return self.is_filled(tile, visit, width, &path);
        };
        let mut groups = self.groups(tile, terms, &path);
        let (least, most) = constants.extremes(&visit.mask).unwrap_or((0, 0));
        groups.retain(|group| group.first <= most + i64::from(width) && least < group.end());
        let starts = constants.within(&visit.mask, self.threads);
        let holding = groups.iter().filter(|group| group.holds(&starts, width));
        let is_sure = |group: &&&Written| group.path.iter().all(|step| is_sure(step, &path));
        if holding.clone().any(|group| is_sure(&group))
            || holding.clone().any(|group| self.is_certain(group, visit, &path))
        {
            return true;
        }
        if groups.is_empty() {
            return self.finds_each(tile, visit, width) || self.is_filled(tile, visit, width, &path);
        }
        for offset in 0..i64::from(width) {
            let mut left: Vec<bool> = (0..self.threads).map(|thread| visit.mask.get(thread)).collect();
            for group in &groups {
                if left.contains(&true) {
                    self.serve(group, visit, &path, constants, offset, &mut left);
                }
            }
            if left.contains(&true) {
                return self.finds_each(tile, visit, width) || self.is_filled(tile, visit, width, &path);
            }
        }
        true
    }

    /// Whether all threads of the block took the path to what was written, whoever reads it at this point.
    fn is_certain(&self, group: &Written, visit: &Visit, path: &[Step]) -> bool {
        let follows = |fact: &Rc<Linear>| {
            self.is_uniform(fact) && non_negative(fact, &visit.facts, &visit.mask, &self.symbols)
        };
        group.path.iter().all(|step| {
            is_sure(step, path)
                || match &step.kind {
                    StepKind::Side { exactly: Some(facts), .. } => facts.iter().all(follows),
                    StepKind::Side { .. } | StepKind::Round { .. } | StepKind::Every(_) => false,
                }
        })
    }

    /// The same for each value of an index that is not known, the same for all threads, and one of few.
    fn finds_each(&self, tile: Handle<Tile>, visit: &Visit, width: u32) -> bool {
        let extents = &self.kernel.tiles[tile].extents;
        let few = visit.index.iter().zip(extents).position(|(form, extent)| {
            let uniform = form.terms.iter().all(|(_, coefficient)| coefficient.uniform().is_some());
            !form.terms.is_empty() && uniform && form.constant.uniform().is_some() && *extent <= MOST_VALUES
        });
        let Some(place) = few else { return false };
        let form = &visit.index[place];
        (0..i64::from(extents[place])).all(|value| {
            let above = form.offset(-value - 1);
            let below = form.scale(&Lanes::Uniform(-1)).and_then(|form| form.offset(value - 1));
            let mut holds = [above, below].into_iter().flatten();
            if holds.any(|form| non_negative(&form, &visit.facts, &visit.mask, &self.symbols)) {
                return true;
            }
            let mut visit = visit.clone();
            visit.index[place] = Linear::int(value);
            let number = element_number(&self.kernel.tiles[tile], &visit.index);
            self.finds(tile, &visit, number.as_ref(), width)
        })
    }

    /// What was written at such places, the last first, if it can serve a read where this path leads.
    fn groups(&self, tile: Handle<Tile>, terms: &[(SymbolId, Lanes)], path: &[Step]) -> Vec<&Written> {
        let serves = |step: &Step| {
            matches!(step.kind, StepKind::Side { exactly: Some(_), .. } | StepKind::Every(_))
                || path.iter().any(|other| covers(&step.kind, &other.kind))
        };
        let of_place = |written: &&Written| {
            written.tile == tile && self.is_at(written, terms) && written.path.iter().all(serves)
        };
        self.written_elements.iter().rev().filter(of_place).collect()
    }

    /// Whether what was written has these symbols in its places; what every iteration of a loop wrote, in the iteration with the
    /// same number of a loop around this point that is like it.
    fn is_at(&self, written: &Written, terms: &[(SymbolId, Lanes)]) -> bool {
        let mut own = written.terms.clone();
        for step in written.path.iter() {
            let StepKind::Every(counted) = &step.kind else { continue };
            let Some(around) = self.counted.iter().find(|around| around.is_like(counted)) else {
                return false;
            };
            own.iter_mut()
                .filter(|(symbol, _)| *symbol == counted.counter)
                .for_each(|(symbol, _)| *symbol = around.counter);
        }
        own.sort_by_key(|(symbol, _)| *symbol);
        own == terms
    }

    /// Takes out the threads that find their element in a group.
    fn serve(
        &self,
        group: &Written,
        visit: &Visit,
        path: &[Step],
        constants: &Lanes,
        offset: i64,
        left: &mut [bool],
    ) {
        let mut writers = vec![0u32; left.len()];
        let mut served = vec![false; left.len()];
        let mut any = false;
        for thread in 0..left.len() {
            if left[thread]
                && let Some(writer) = group.writer(constants.get(thread) + offset)
            {
                (writers[thread], served[thread], any) = (writer as u32, true, true);
            }
        }
        if any && self.were_there(group, visit, path, &writers, &served) {
            for (left, served) in left.iter_mut().zip(&served) {
                *left &= !served;
            }
        }
    }

    /// Whether the threads that wrote were there, for all threads that would be served.
    fn were_there(
        &self,
        group: &Written,
        visit: &Visit,
        path: &[Step],
        writers: &[u32],
        served: &[bool],
    ) -> bool {
        for step in group.path.iter() {
            // Around both, it tells of the thread that reads, and of those that go the same way as that.
            if matches!(step.kind, StepKind::Every(_))
                || path.iter().any(|other| covers(&step.kind, &other.kind))
            {
                if step.scope >= Scope::Block {
                    continue;
                }
                let warp = |thread: usize| thread / LANES;
                let together = |(reader, writer): (usize, &u32)| match step.scope {
                    Scope::Lane => reader == *writer as usize,
                    Scope::Warp | Scope::Warpgroup | Scope::Block | Scope::Cluster | Scope::Grid => {
                        warp(reader) == warp(*writer as usize)
                    }
                };
                let all = writers.iter().enumerate().filter(|(at, _)| served[*at]).all(together);
                if all {
                    continue;
                }
            }
            let StepKind::Side { exactly: Some(facts), .. } = &step.kind else { return false };
            // What differs between threads is another number for the one that wrote.
            let own = |(symbol, _): &(SymbolId, Lanes)| self.symbols.get(*symbol).scope < Scope::Block;
            if facts.iter().flat_map(|fact| &fact.terms).any(own) {
                return false;
            }
            let readers = Mask::each(served.to_vec());
            for fact in facts {
                if !non_negative(&of_writers(fact, writers), &visit.facts, &readers, &self.symbols) {
                    return false;
                }
            }
        }
        true
    }

    /// Whether every element that a read may be of, by the bounds of its indices, has been written where this path leads.
    fn is_filled(&self, tile: Handle<Tile>, visit: &Visit, width: u32, path: &[Step]) -> bool {
        let extents = &self.kernel.tiles[tile].extents;
        let elements: i64 = extents.iter().map(|extent| i64::from(*extent)).product();
        if elements > MOST_ELEMENTS {
            return false;
        }
        let sure = |written: &&Written| {
            written.tile == tile
                && written.terms.is_empty()
                && written.path.iter().all(|step| is_sure(step, path))
        };
        let sure: Vec<&Written> = self.written_elements.iter().filter(sure).collect();
        let is_written = |number: i64| sure.iter().any(|written| written.writer(number).is_some());
        let mut numbers = vec![0];
        for ((low, high), extent) in self.index_bounds(extents, visit, width).into_iter().zip(extents) {
            if sure.is_empty() {
                return false;
            }
            let row = |number: i64| (low..=high).map(move |index| number * i64::from(*extent) + index);
            numbers = numbers.into_iter().flat_map(row).collect();
        }
        numbers.into_iter().all(is_written)
    }

    /// The least and the largest index of a read in each extent, inside it.
    fn index_bounds(&self, extents: &[u32], visit: &Visit, width: u32) -> Vec<(i64, i64)> {
        let bounds = visit.index.iter().zip(extents).enumerate().map(|(place, (form, extent))| {
            let further = if place + 1 == extents.len() { i128::from(width) - 1 } else { 0 };
            let (low, high) = self.bounds(form);
            let inside = |index: i128| index.clamp(0, i128::from(*extent) - 1) as i64;
            (inside(low), inside(high.saturating_add(further)))
        });
        bounds.collect()
    }

    /// A thread that may find an element that was not written.
    fn missing(&self, tile: Handle<Tile>, visit: &Visit, number: Option<&Linear>, width: u32) -> Unwritten {
        let known = number.and_then(|number| self.parts(number));
        let mut found = None;
        let mut writes = BTreeSet::new();
        if let Some((constants, terms)) = known {
            let path = self.path.clone();
            for offset in 0..i64::from(width) {
                let mut left: Vec<bool> = (0..self.threads).map(|thread| visit.mask.get(thread)).collect();
                for group in self.groups(tile, terms, &path) {
                    self.serve(group, visit, &path, constants, offset, &mut left);
                }
                if let Some(thread) = left.iter().position(|left| *left) {
                    let number = constants.get(thread) + offset;
                    found = Some((
                        thread,
                        terms.is_empty().then(|| element_index(&self.kernel.tiles[tile], number)),
                    ));
                    writes = self
                        .written_elements
                        .iter()
                        .filter(|group| group.tile == tile && group.writer(number).is_some())
                        .flat_map(|group| group.sites.iter().copied())
                        .collect();
                    break;
                }
            }
        }
        let first = (0..self.threads).find(|thread| visit.mask.get(*thread)).unwrap_or(0);
        let (thread, element) = found.unwrap_or((first, None));
        Unwritten { site: visit.site, thread, element, writes }
    }

    /// After a loop, with the path of the iteration that stands for all: what every iteration writes, was written if there was one.
    pub(super) fn write_in_rounds(&mut self, path: &[Step], happens: Happens) {
        let Some((last @ Step { kind: StepKind::Round { .. }, .. }, before)) = path.split_last() else {
            return;
        };
        let under = match happens {
            Happens::Certainly => None,
            Happens::If(facts) => {
                self.branches += 1;
                let branch = Branch::Number(self.branches);
                let kind = StepKind::Side { branch, side: true, exactly: Some(facts) };
                Some(Step { kind, scope: Scope::Block })
            }
            Happens::Perhaps => return,
        };
        let depth = before.len();
        let own = |written: &&Written| {
            written.path.get(depth).is_some_and(|step| covers(&step.kind, &last.kind))
                && written.path[..depth] == *before
        };
        let certain = self.written_elements.iter().filter(own).map(|written| {
            let path = before.iter().chain(&under).chain(&written.path[depth + 1..]).cloned().collect();
            Written { path, ..written.clone() }
        });
        let is_new = |new: &Written| !self.written_elements.iter().any(|known| known.includes(new));
        let new: Vec<Written> = certain.filter(is_new).collect();
        self.written_elements.extend(new);
    }

    /// After a counted loop: what each iteration writes at a place of its own.
    pub(super) fn write_for_every(&mut self, counted: Counted) {
        let Some((last @ Step { kind: StepKind::Round { .. }, scope }, before)) = self.path.split_last()
        else {
            return;
        };
        let own = |written: &&Written| {
            written.path.len() == before.len() + 1
                && covers(&written.path[before.len()].kind, &last.kind)
                && written.path[..before.len()] == *before
                && written.terms.iter().any(|(symbol, _)| *symbol == counted.counter)
        };
        let kind = StepKind::Every(Rc::new(counted.clone()));
        let path: Rc<[Step]> = before.iter().cloned().chain([Step { kind, scope: *scope }]).collect();
        let every: Vec<Written> = self
            .written_elements
            .iter()
            .filter(own)
            .map(|written| Written { path: path.clone(), ..written.clone() })
            .collect();
        self.written_elements.extend(every);
    }

    /// After a branch: what threads wrote on either side, they wrote.
    pub(super) fn join_written(&mut self, branch: Branch) {
        let side_of = |written: &Written| match written.path.last().map(|step| (&step.kind, step.scope)) {
            Some((StepKind::Side { branch: own, side, .. }, scope)) if *own == branch => Some((*side, scope)),
            _ => None,
        };
        let mut both = Vec::new();
        for a in &self.written_elements {
            let Some((true, scope)) = side_of(a) else { continue };
            for b in &self.written_elements {
                if side_of(b).is_none_or(|(side, _)| side) || (a.tile, &a.terms) != (b.tile, &b.terms) {
                    continue;
                }
                let written = a.threads.iter().enumerate().map(|(at, thread)| {
                    let other = b.writer(a.first + at as i64).map_or(0, |thread| thread as u32 + 1);
                    let same = *thread == other || (scope >= Scope::Block && other > 0);
                    if same { *thread } else { 0 }
                });
                let threads: Vec<u32> = written.collect();
                if threads.iter().any(|thread| *thread > 0) {
                    both.push(Written {
                        path: Rc::from(&a.path[..a.path.len() - 1]),
                        threads: Rc::new(threads),
                        sites: a.sites.union(&b.sites).copied().collect(),
                        ..a.clone()
                    });
                }
            }
        }
        self.written_elements.extend(both);
    }
}

/// Whether all threads of the block went this way where this path leads.
fn is_sure(step: &Step, path: &[Step]) -> bool {
    step.scope >= Scope::Block && path.iter().any(|other| covers(&step.kind, &other.kind))
}

/// Whether a point under `other` is a point under `step`: on the same side, or in a walk of the body that follows.
fn covers(step: &StepKind, other: &StepKind) -> bool {
    match (step, other) {
        (
            StepKind::Side { branch, side, .. },
            StepKind::Side { branch: other_branch, side: other_side, .. },
        ) => (branch, side) == (other_branch, other_side),
        (
            StepKind::Round { execution, walk },
            StepKind::Round { execution: other_execution, walk: other_walk },
        ) => execution == other_execution && walk <= other_walk,
        (StepKind::Side { .. } | StepKind::Round { .. } | StepKind::Every(_), _) => false,
    }
}

/// A form of the threads that wrote, for the threads that read what they did.
fn of_writers(fact: &Linear, writers: &[u32]) -> Linear {
    let gather = |lanes: &Lanes| match lanes {
        Lanes::Uniform(_) => lanes.clone(),
        Lanes::Each(values) => Lanes::each(writers.iter().map(|writer| values[*writer as usize]).collect()),
    };
    let terms = fact.terms.iter().map(|(symbol, coefficient)| (*symbol, gather(coefficient)));
    Linear { constant: gather(&fact.constant), terms: terms.collect() }
}
