//! Where accesses of two intervals touch one element of a tile.
//!
//! Indices are numbers of elements in the tile, whatever its layout. Those that hold the same symbols, with the same
//! coefficients for all threads, are compared element by element, over all threads, with two threads kept for an element
//! and a role: that is enough to find two that differ. Of others the difference is a form over the symbols: where that is a
//! multiple of a number, elements are compared modulo that number; where it has a sign, they are apart.

use crate::facts::{
    Between, FactList, Lanes, Linear, Mask, Run, SymbolId, Visit, element_number, gcd, non_negative,
};
use crate::ir::{Handle, Kernel, Role, Scope, Tile};
use std::rc::Rc;
use tileproof_model::access::LANES;

/// An access by a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// The number of the visit in [`Touched::visits`].
    visit: u32,
    /// The thread's linear number in the block.
    pub(super) thread: u32,
}

/// Two accesses in one role, chosen so that some access of that role differs from a third one exactly if one of them does: by
/// two warps if there are such, else by two threads, else by two visits.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    first: Option<Entry>,
    other: Option<Entry>,
}

/// What touches one element.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    readers: Pair,
    writers: Pair,
    updaters: Pair,
}

/// Accesses whose places have the same symbols.
#[derive(Debug)]
struct Group {
    terms: Vec<(SymbolId, Lanes)>,
    /// The number of the element of the first cell, without the symbols.
    first: i64,
    cells: Vec<Cell>,
    writes: bool,
    /// What holds at all of its accesses.
    facts: FactList,
}

/// What the accesses of an interval touch of one tile.
#[derive(Debug, Default)]
pub(super) struct Touched<'a> {
    pub(super) visits: Vec<&'a Visit>,
    groups: Vec<Group>,
    /// Those whose symbols differ between threads.
    scattered: Vec<u32>,
}

/// Two accesses that may touch one element at the same time.
#[derive(Clone, Debug)]
pub(super) struct Meeting<'a> {
    pub(super) earlier: (&'a Visit, Option<usize>),
    pub(super) later: (&'a Visit, Option<usize>),
    /// The element, without the symbols of its place; `None` where it is not known.
    pub(super) element: Option<i64>,
    /// The symbols of its place.
    pub(super) terms: Vec<(SymbolId, Lanes)>,
}

impl Entry {
    fn warp(self) -> usize {
        self.thread as usize / LANES
    }

    /// Whether nothing orders this access before one that is of the same interval or of another one.
    fn differs(self, other: Entry, between: Between, same: bool) -> bool {
        match between {
            Between::Warps => self.warp() != other.warp(),
            Between::Threads => self.thread != other.thread,
            Between::All => !same || self != other,
        }
    }
}

impl Pair {
    fn add(&mut self, entry: Entry) {
        let Some(first) = self.first else {
            self.first = Some(entry);
            return;
        };
        let rank = |entry: Entry| match entry {
            entry if entry.warp() != first.warp() => 3,
            entry if entry.thread != first.thread => 2,
            entry if entry.visit != first.visit => 1,
            _ => 0,
        };
        if rank(entry) > self.other.map_or(0, rank) {
            self.other = Some(entry);
        }
    }

    fn meets(self, other: Pair, between: Between, same: bool) -> Option<(Entry, Entry)> {
        let entries = [self.first, self.other].into_iter().flatten();
        let others = || [other.first, other.other].into_iter().flatten();
        entries.flat_map(|a| others().map(move |b| (a, b))).find(|(a, b)| a.differs(*b, between, same))
    }

    fn merge(&mut self, other: Pair) {
        [other.first, other.other].into_iter().flatten().for_each(|entry| self.add(entry));
    }
}

impl Cell {
    fn role(&mut self, role: Role) -> &mut Pair {
        match role {
            Role::Read => &mut self.readers,
            Role::Write => &mut self.writers,
            Role::Update => &mut self.updaters,
        }
    }

    /// Two accesses that are not both reads, and not both atomic, for each pair of roles.
    fn meets(&self, other: &Cell, between: Between, same: bool) -> impl Iterator<Item = (Entry, Entry)> {
        let Cell { readers, writers, updaters } = self;
        let pairs = [
            (writers, &other.readers),
            (writers, &other.writers),
            (readers, &other.writers),
            (writers, &other.updaters),
            (updaters, &other.writers),
            (updaters, &other.readers),
            (readers, &other.updaters),
        ];
        pairs.into_iter().filter_map(move |(a, b)| a.meets(*b, between, same))
    }
}

impl<'a> Touched<'a> {
    /// What visits touch of a tile.
    pub(super) fn of(kernel: &Kernel, run: &Run, tile: Handle<Tile>, visits: Vec<&'a Visit>) -> Touched<'a> {
        let mut touched = Touched { visits, ..Touched::default() };
        for at in 0..touched.visits.len() {
            let visit = touched.visits[at];
            let number = element_number(&kernel.tiles[tile], &visit.index);
            let same = |(symbol, coefficient): &(SymbolId, Lanes)| {
                coefficient.uniform().is_some() && run.symbols.get(*symbol).scope >= Scope::Block
            };
            match number.filter(|number| number.terms.iter().all(same)) {
                Some(number) => touched.add(kernel, at as u32, visit, &number),
                None => touched.scattered.push(at as u32),
            }
        }
        touched
    }

    fn add(&mut self, kernel: &Kernel, at: u32, visit: &Visit, number: &Linear) {
        let site = &kernel.sites[visit.site];
        let (role, width) = (site.role, i64::from(site.place.width));
        let Some((least, most)) = number.constant.extremes(&visit.mask) else { return };
        let known = self.groups.iter().position(|group| group.terms == number.terms);
        let known = known.unwrap_or_else(|| {
            let terms = number.terms.clone();
            let facts = visit.facts.clone();
            self.groups.push(Group { terms, first: least, cells: Vec::new(), writes: false, facts });
            self.groups.len() - 1
        });
        let group = &mut self.groups[known];
        group.facts.retain(|fact| visit.facts.iter().any(|other| Rc::ptr_eq(fact, other)));
        group.writes |= role != Role::Read;
        if least < group.first {
            let more = (group.first - least) as usize;
            group.cells.splice(0..0, std::iter::repeat_n(Cell::default(), more));
            group.first = least;
        }
        let end = (most + width - group.first) as usize;
        if end > group.cells.len() {
            group.cells.resize(end, Cell::default());
        }
        for thread in 0..kernel.threads() {
            if visit.mask.get(thread as usize) {
                let start = (number.constant.get(thread as usize) - group.first) as usize;
                for cell in &mut group.cells[start..start + width as usize] {
                    cell.role(role).add(Entry { visit: at, thread });
                }
            }
        }
    }

    fn writes(&self, kernel: &Kernel) -> bool {
        self.groups.iter().any(|group| group.writes)
            || self.scattered.iter().any(|at| kernel.sites[self.visits[*at as usize].site].role != Role::Read)
    }
}

/// Accesses of two intervals that may touch one element, one a pair of sites. `blind` where the symbols of the two are not
/// the same, though they have one name.
pub(super) fn meetings<'a>(
    kernel: &Kernel,
    run: &Run,
    (earlier, later): (&Touched<'a>, &Touched<'a>),
    between: Between,
    blind: bool,
) -> Vec<Meeting<'a>> {
    let mut found: Vec<Meeting<'a>> = Vec::new();
    let same = std::ptr::eq(earlier, later);
    if !earlier.writes(kernel) && !later.writes(kernel) {
        return found;
    }
    let mut add = |meeting: Meeting<'a>| {
        let sites = (meeting.earlier.0.site, meeting.later.0.site);
        if found.iter().all(|other| (other.earlier.0.site, other.later.0.site) != sites) {
            found.push(meeting);
        }
    };
    for a in &earlier.groups {
        for b in &later.groups {
            if !a.writes && !b.writes {
                continue;
            }
            let difference = difference(a, b);
            let period = match difference.as_ref() {
                Some(difference) if difference.terms.is_empty() && !blind => 0,
                Some(difference) if !blind => period(difference),
                _ => 1,
            };
            if period > 0 && !blind && difference.is_some_and(|difference| have_sign(a, b, &difference, run))
            {
                continue;
            }
            for (element, x, y) in meet(a, b, period, between, same) {
                let visits = (earlier.visits[x.visit as usize], later.visits[y.visit as usize]);
                add(Meeting {
                    earlier: (visits.0, Some(x.thread as usize)),
                    later: (visits.1, Some(y.thread as usize)),
                    element: (period == 0).then_some(element),
                    terms: a.terms.clone(),
                });
            }
        }
    }
    // What is scattered may be anywhere.
    for (at, of_earlier) in
        earlier.scattered.iter().map(|at| (at, true)).chain(later.scattered.iter().map(|at| (at, false)))
    {
        let (own, others) = if of_earlier { (earlier, later) } else { (later, earlier) };
        let visit = own.visits[*at as usize];
        for other in &others.visits {
            let roles = (kernel.sites[visit.site].role, kernel.sites[other.site].role);
            if matches!(roles, (Role::Read, Role::Read) | (Role::Update, Role::Update)) {
                continue;
            }
            let (a, b) = if of_earlier { (visit, *other) } else { (*other, visit) };
            add(Meeting { earlier: (a, None), later: (b, None), element: None, terms: Vec::new() });
        }
    }
    found
}

/// The symbols of one place less those of the other.
fn difference(a: &Group, b: &Group) -> Option<Linear> {
    let form = |group: &Group| Linear { constant: Lanes::Uniform(0), terms: group.terms.clone() };
    form(a).sub(&form(b))
}

/// What a form is a multiple of.
fn period(difference: &Linear) -> i64 {
    let numbers = difference.terms.iter().map(|(_, coefficient)| coefficient.uniform().unwrap_or(1));
    numbers.fold(0, |period, number| gcd(period, number.checked_abs().unwrap_or(1))).max(1)
}

/// Elements that both touch; where `period` is not zero, modulo that.
fn meet(a: &Group, b: &Group, period: i64, between: Between, same: bool) -> Vec<(i64, Entry, Entry)> {
    let (folded_a, folded_b);
    let (a, b) = match period {
        0 => (a, b),
        _ => {
            (folded_a, folded_b) = (fold(a, period), fold(b, period));
            (&folded_a, &folded_b)
        }
    };
    let start = a.first.max(b.first);
    let end = (a.first + a.cells.len() as i64).min(b.first + b.cells.len() as i64);
    let mut out = Vec::new();
    for element in start..end {
        let cells = (&a.cells[(element - a.first) as usize], &b.cells[(element - b.first) as usize]);
        out.extend(cells.0.meets(cells.1, between, same).map(|(x, y)| (element, x, y)));
    }
    out
}

/// A group with its elements counted modulo a number.
fn fold(group: &Group, period: i64) -> Group {
    let count = period.min(group.cells.len() as i64 + period) as usize;
    let mut cells = vec![Cell::default(); count];
    for (at, cell) in group.cells.iter().enumerate() {
        let place = (group.first + at as i64).rem_euclid(period) as usize;
        if let Some(folded) = cells.get_mut(place) {
            folded.readers.merge(cell.readers);
            folded.writers.merge(cell.writers);
            folded.updaters.merge(cell.updaters);
        }
    }
    Group { terms: Vec::new(), first: 0, cells, writes: group.writes, facts: Vec::new() }
}

/// Whether all of one is certainly before all of the other in the tile.
fn have_sign(a: &Group, b: &Group, difference: &Linear, run: &Run) -> bool {
    let end = |group: &Group| group.first + group.cells.len() as i64;
    let after = difference.offset(a.first - end(b));
    let before = difference.scale(&Lanes::Uniform(-1)).and_then(|form| form.offset(b.first - end(a)));
    // A fact about one thread says nothing of another.
    let uniform = |fact: &&Rc<Linear>| {
        let same = |(symbol, coefficient): &(SymbolId, Lanes)| {
            coefficient.uniform().is_some() && run.symbols.get(*symbol).scope >= Scope::Block
        };
        fact.constant.uniform().is_some() && fact.terms.iter().all(same)
    };
    let facts: FactList = a.facts.iter().chain(&b.facts).filter(uniform).cloned().collect();
    [after, before]
        .into_iter()
        .flatten()
        .any(|form| non_negative(&form, &facts, &Mask::Uniform(true), &run.symbols))
}
