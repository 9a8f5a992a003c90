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
use tileproof_model::limits::MAX_THREADS_PER_BLOCK;

/// An access by a thread: the number of the visit in [`Touched::visits`], and the thread's linear number in the block. Packed
/// into one number, one more than both together, so that 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry(u32);

/// Bits of an [`Entry`] that hold the thread.
const THREAD_BITS: u32 = MAX_THREADS_PER_BLOCK.trailing_zeros();

/// For each element two accesses in one role, chosen so that some access of that role differs from a third one exactly if
/// one of them does: by two warps if there are such, else by two threads, else by two visits.
#[derive(Clone, Debug, Default)]
struct Pairs {
    first: Vec<u32>,
    other: Vec<u32>,
}

/// Accesses whose places have the same symbols.
#[derive(Debug)]
struct Group {
    terms: Vec<(SymbolId, Lanes)>,
    /// The number of the element of the first cell, without the symbols.
    first: i64,
    /// How many cells there are.
    count: usize,
    readers: Pairs,
    writers: Pairs,
    updaters: Pairs,
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
    fn new(visit: u32, thread: u32) -> Entry {
        Entry((visit << THREAD_BITS | thread) + 1)
    }

    fn visit(self) -> usize {
        ((self.0 - 1) >> THREAD_BITS) as usize
    }

    fn thread(self) -> usize {
        ((self.0 - 1) & (MAX_THREADS_PER_BLOCK - 1)) as usize
    }
}

/// By how much two entries differ: 3 by the warp, 2 by the thread, 1 by the visit alone.
fn rank(a: u32, b: u32) -> u32 {
    let difference = (a - 1) ^ (b - 1);
    if difference & (MAX_THREADS_PER_BLOCK - LANES as u32) != 0 {
        3
    } else if difference & (LANES as u32 - 1) != 0 {
        2
    } else if difference != 0 {
        1
    } else {
        0
    }
}

/// The least difference between accesses that nothing orders, of one interval or of two.
fn least_rank(between: Between, itself: bool) -> u32 {
    match between {
        Between::Warps => 3,
        Between::Threads => 2,
        Between::All => u32::from(itself),
    }
}

/// Keeps an access to an element, where it tells more than the two that are kept.
fn keep(first: &mut u32, other: &mut u32, entry: Entry) {
    if *first == 0 {
        *first = entry.0;
    } else if *other == 0 {
        if *first != entry.0 {
            *other = entry.0;
        }
    } else if *other != entry.0 && rank(*first, entry.0) > rank(*first, *other) {
        *other = entry.0;
    }
}

impl Pairs {
    fn is_empty(&self) -> bool {
        self.first.is_empty()
    }

    /// Takes in a visit's accesses to some elements in a row, of `count` in all: the threads, each with the number of its first
    /// element, which is counted from `origin`.
    fn add(&mut self, visit: u32, starts: &[(u32, i64)], (origin, width, count): (i64, usize, usize)) {
        if self.first.len() < count {
            self.first.resize(count, 0);
            self.other.resize(count, 0);
        }
        let (first, other): (&mut [u32], &mut [u32]) = (&mut self.first, &mut self.other);
        let mut i = 0;
        while i < starts.len() {
            let (thread, start) = starts[i];
            let entry = Entry::new(visit, thread);
            let mut at = (start - origin) as usize;
            let end = at + width;
            while at < end {
                keep(&mut first[at], &mut other[at], entry);
                at += 1;
            }
            i += 1;
        }
    }

    /// Moves all elements on by so many.
    fn shift(&mut self, by: usize) {
        if !self.is_empty() {
            self.first.splice(0..0, std::iter::repeat_n(0, by));
            self.other.splice(0..0, std::iter::repeat_n(0, by));
        }
    }

    fn at(&self, element: usize) -> [u32; 2] {
        [&self.first, &self.other].map(|list| list.get(element).copied().unwrap_or(0))
    }

    /// Where accesses of both to one element differ by at least so much, element by element: `self` from one element on, `other` from another.
    fn meet(
        &self,
        other: &Pairs,
        (start, other_start, count): (usize, usize, usize),
        least: u32,
        mut found: impl FnMut(usize, Entry, Entry),
    ) {
        let (a, b): (&[u32], &[u32]) = (&self.first, &other.first);
        let count = count.min(a.len().saturating_sub(start)).min(b.len().saturating_sub(other_start));
        let mut at = 0;
        while at < count {
            let (x, y) = (a[start + at], b[other_start + at]);
            if x != 0 && y != 0 {
                let (second, other_second) = (self.other[start + at], other.other[other_start + at]);
                if rank(x, y) >= least {
                    found(at, Entry(x), Entry(y));
                } else if other_second != 0 && rank(x, other_second) >= least {
                    found(at, Entry(x), Entry(other_second));
                } else if second != 0 && rank(second, y) >= least {
                    found(at, Entry(second), Entry(y));
                } else if second != 0 && other_second != 0 && rank(second, other_second) >= least {
                    found(at, Entry(second), Entry(other_second));
                }
            }
            at += 1;
        }
    }

    /// The same with elements counted modulo a number.
    fn fold(&self, first: i64, period: i64) -> Pairs {
        if self.is_empty() {
            return Pairs::default();
        }
        let count = period as usize;
        let mut folded = Pairs { first: vec![0; count], other: vec![0; count] };
        for at in 0..self.first.len() {
            let place = (first + at as i64).rem_euclid(period) as usize;
            for entry in self.at(at).into_iter().filter(|entry| *entry != 0) {
                keep(&mut folded.first[place], &mut folded.other[place], Entry(entry));
            }
        }
        folded
    }
}

impl Group {
    fn role(&mut self, role: Role) -> &mut Pairs {
        match role {
            Role::Read => &mut self.readers,
            Role::Write => &mut self.writers,
            Role::Update => &mut self.updaters,
        }
    }

    fn writes(&self) -> bool {
        !(self.writers.is_empty() && self.updaters.is_empty())
    }

    /// Accesses of both to one element that differ by at least so much and are not both reads, and not both atomic, for each
    /// pair of roles.
    fn meet(&self, other: &Group, least: u32) -> Vec<(i64, Entry, Entry)> {
        let pairs = [
            (&self.writers, &other.readers),
            (&self.writers, &other.writers),
            (&self.readers, &other.writers),
            (&self.writers, &other.updaters),
            (&self.updaters, &other.writers),
            (&self.updaters, &other.readers),
            (&self.readers, &other.updaters),
        ];
        let start = self.first.max(other.first);
        let end = (self.first + self.count as i64).min(other.first + other.count as i64);
        let mut out = Vec::new();
        if start < end {
            let stretch =
                ((start - self.first) as usize, (start - other.first) as usize, (end - start) as usize);
            for (a, b) in pairs {
                a.meet(b, stretch, least, |at, x, y| out.push((start + at as i64, x, y)));
            }
        }
        out
    }

    /// The group with its elements counted modulo a number.
    fn fold(&self, period: i64) -> Group {
        Group {
            terms: Vec::new(),
            first: 0,
            count: period as usize,
            readers: self.readers.fold(self.first, period),
            writers: self.writers.fold(self.first, period),
            updaters: self.updaters.fold(self.first, period),
            facts: Vec::new(),
        }
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
            self.groups.push(Group {
                terms: number.terms.clone(),
                first: least,
                count: 0,
                readers: Pairs::default(),
                writers: Pairs::default(),
                updaters: Pairs::default(),
                facts: visit.facts.clone(),
            });
            self.groups.len() - 1
        });
        let group = &mut self.groups[known];
        group.facts.retain(|fact| visit.facts.iter().any(|other| Rc::ptr_eq(fact, other)));
        if least < group.first {
            let more = (group.first - least) as usize;
            for pairs in [&mut group.readers, &mut group.writers, &mut group.updaters] {
                pairs.shift(more);
            }
            group.count += more;
            group.first = least;
        }
        group.count = group.count.max((most + width - group.first) as usize);
        let (first, count) = (group.first, group.count);
        let starts = number.constant.within(&visit.mask, kernel.threads() as usize);
        group.role(role).add(at, &starts, (first, width as usize, count));
    }

    fn writes(&self, kernel: &Kernel) -> bool {
        self.groups.iter().any(Group::writes)
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
    let itself = std::ptr::eq(earlier, later);
    let least = least_rank(between, itself);
    if !earlier.writes(kernel) && !later.writes(kernel) {
        return found;
    }
    let is_new = |found: &[Meeting<'a>], a: &Visit, b: &Visit| {
        found.iter().all(|other| (other.earlier.0.site, other.later.0.site) != (a.site, b.site))
    };
    for a in &earlier.groups {
        for b in &later.groups {
            if !a.writes() && !b.writes() {
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
            let met = match period {
                0 => a.meet(b, least),
                period => a.fold(period).meet(&b.fold(period), least),
            };
            for (element, x, y) in met {
                // Of one interval, the walk comes to its accesses in order.
                let (x, y) = if itself && y.visit() < x.visit() { (y, x) } else { (x, y) };
                let (first, then) = (earlier.visits[x.visit()], later.visits[y.visit()]);
                if is_new(&found, first, then) {
                    found.push(Meeting {
                        earlier: (first, Some(x.thread())),
                        later: (then, Some(y.thread())),
                        element: (period == 0).then_some(element),
                        terms: a.terms.clone(),
                    });
                }
            }
        }
    }
    // What is scattered may be anywhere.
    for (x, a) in earlier.visits.iter().enumerate() {
        for (y, b) in later.visits.iter().enumerate() {
            let roles = (kernel.sites[a.site].role, kernel.sites[b.site].role);
            let scattered = earlier.scattered.contains(&(x as u32)) || later.scattered.contains(&(y as u32));
            if scattered
                && !(itself && y < x)
                && !matches!(roles, (Role::Read, Role::Read) | (Role::Update, Role::Update))
                && is_new(&found, a, b)
            {
                found.push(Meeting {
                    earlier: (a, None),
                    later: (b, None),
                    element: None,
                    terms: Vec::new(),
                });
            }
        }
    }
    found
}

/// The symbols of one place less those of the other.
fn difference(a: &Group, b: &Group) -> Option<Linear> {
    let form = |group: &Group| Linear { constant: Lanes::Uniform(0), terms: group.terms.clone() };
    form(a).sub(&form(b))
}

/// Of larger numbers it does not matter whether a difference is a multiple.
const LONGEST_PERIOD: i64 = 1 << 18;

/// What a form is a multiple of.
fn period(difference: &Linear) -> i64 {
    let numbers = difference.terms.iter().map(|(_, coefficient)| coefficient.uniform().unwrap_or(1));
    let period = numbers.fold(0, |period, number| gcd(period, number.checked_abs().unwrap_or(1))).max(1);
    if period > LONGEST_PERIOD { 1 } else { period }
}

/// Whether all of one is certainly before all of the other in the tile.
fn have_sign(a: &Group, b: &Group, difference: &Linear, run: &Run) -> bool {
    let end = |group: &Group| group.first + group.count as i64;
    let after = difference.offset(a.first - end(b));
    let before = difference.scale(&Lanes::Uniform(-1)).and_then(|form| form.offset(b.first - end(a)));
    // A fact about one thread says nothing of another.
    let uniform = |fact: &&Rc<Linear>| run.symbols.scope(fact) == Scope::Block;
    let facts: FactList = a.facts.iter().chain(&b.facts).filter(uniform).cloned().collect();
    [after, before]
        .into_iter()
        .flatten()
        .any(|form| non_negative(&form, &facts, &Mask::Uniform(true), &run.symbols))
}
