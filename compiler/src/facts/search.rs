//! The search for facts of which a goal is a sum.
//!
//! It runs unoptimised, thousands of times a kernel, so forms are flat rows of numbers here: one for each thread that
//! decides. Whether the last fact of a proof settles it is seen from the bounds alone, without the sum.

use super::linear::{Linear, SymbolId};
use super::prove::gcd;
use super::symbol::Symbols;
use std::rc::Rc;

/// Coefficients stay below this, and ranges that reach further count as without end: so that no sum of products
/// overflows. Forms with larger ones are in no proof.
const LARGEST: i64 = 1 << 44;
/// Likewise of constants and of the ends of ranges.
const FARTHEST: i128 = 1 << 72;

/// How many goals are remembered.
const MOST_SHOWN: usize = 64;

/// A form, for each thread that decides.
#[derive(Clone, Debug, Default)]
pub(super) struct Flat {
    symbols: Vec<SymbolId>,
    /// By symbol, then by thread.
    coefficients: Vec<i64>,
    /// By thread.
    constants: Vec<i128>,
}

/// Facts, the outermost first, and where a symbol is in them.
#[derive(Clone, Debug, Default)]
pub(super) struct Known {
    /// Each beside the fact that it was made of.
    list: Vec<(Rc<Linear>, Flat)>,
    /// By symbol: the facts where its coefficient has one sign for all threads, and that sign.
    places: Vec<Vec<Place>>,
    /// What was shown by them.
    shown: Vec<Shown>,
}

/// What a proof showed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Found {
    /// The goal is at least this.
    pub(super) room: i128,
    /// How many of the outermost facts have all that it needs.
    pub(super) facts: usize,
}

impl Found {
    /// By cases of which each has been shown.
    pub(super) fn and(self, other: Found) -> Found {
        Found { room: self.room.min(other.room), facts: self.facts.max(other.facts) }
    }

    /// For a case that there is not.
    pub(super) fn without_case(facts: usize) -> Found {
        Found { room: FARTHEST, facts }
    }
}

/// A goal with what was shown of it.
#[derive(Clone, Debug)]
struct Shown {
    goal: Flat,
    found: Found,
    /// Whether in a launch with 32-bit indices alone.
    narrow: bool,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    fact: u32,
    /// Which of the symbols of the fact it is.
    term: u32,
    sign: i64,
}

/// In which order facts are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    OutermostFirst,
    InnermostFirst,
}

impl Flat {
    /// `None` where a number is too large.
    pub(super) fn of(form: &Linear, threads: &[u32]) -> Option<Flat> {
        let count = threads.len();
        let mut flat = Flat {
            symbols: Vec::with_capacity(form.terms.len()),
            coefficients: Vec::with_capacity(form.terms.len() * count),
            constants: Vec::with_capacity(count),
        };
        for thread in threads {
            flat.constants.push(i128::from(form.constant.get(*thread as usize)));
        }
        for (symbol, lanes) in &form.terms {
            let mut zero = true;
            for thread in threads {
                let coefficient = lanes.get(*thread as usize);
                if coefficient <= -LARGEST || coefficient >= LARGEST {
                    return None;
                }
                zero &= coefficient == 0;
                flat.coefficients.push(coefficient);
            }
            if zero {
                flat.coefficients.truncate(flat.symbols.len() * count);
            } else {
                flat.symbols.push(*symbol);
            }
        }
        Some(flat)
    }

    fn row(&self, term: usize) -> &[i64] {
        let threads = self.constants.len();
        &self.coefficients[term * threads..(term + 1) * threads]
    }

    /// The least value that the ranges of the symbols allow, of all threads, if it is not negative.
    fn room(&self, symbols: &Symbols) -> Option<i128> {
        let (mut room, mut thread) = (FARTHEST, 0);
        while thread < self.constants.len() {
            let mut bound = self.constants[thread];
            let mut term = 0;
            while term < self.symbols.len() {
                bound += least(self.row(term)[thread], self.symbols[term], symbols)?;
                term += 1;
            }
            if bound < 0 {
                return None;
            }
            if bound < room {
                room = bound;
            }
            thread += 1;
        }
        Some(room)
    }

    /// Whether it is another one with more added, for each thread.
    fn is_above(&self, other: &Flat, room: i128) -> bool {
        if self.symbols != other.symbols || self.coefficients != other.coefficients {
            return false;
        }
        let mut thread = 0;
        while thread < self.constants.len() {
            if self.constants[thread] < other.constants[thread] - room {
                return false;
            }
            thread += 1;
        }
        true
    }
}

/// The least value of a symbol times a number, if that has an end.
fn least(coefficient: i64, symbol: SymbolId, symbols: &Symbols) -> Option<i128> {
    if coefficient == 0 {
        return Some(0);
    }
    let (low, high) = symbols.range(symbol);
    let end = if coefficient > 0 { low } else { high };
    (-FARTHEST < end && end < FARTHEST).then(|| i128::from(coefficient) * end)
}

/// The sign of all of them that are not zero, if it is one; with whether one is zero.
fn sign(row: &[i64]) -> Option<(i64, bool)> {
    let (mut above, mut below, mut zero) = (false, false, false);
    let mut i = 0;
    while i < row.len() {
        if row[i] > 0 {
            above = true;
        } else if row[i] < 0 {
            below = true;
        } else {
            zero = true;
        }
        i += 1;
    }
    match (above, below) {
        (true, false) => Some((1, zero)),
        (false, true) => Some((-1, zero)),
        _ => None,
    }
}

impl Known {
    /// The facts, each as it was given.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether a fact is in this place.
    pub(super) fn is_at(&self, place: usize, fact: &Rc<Linear>) -> bool {
        self.list.get(place).is_some_and(|(known, _)| Rc::ptr_eq(known, fact))
    }

    /// Adds the innermost fact. Of one with a number that is too large nothing is known.
    pub(super) fn push(&mut self, fact: &Rc<Linear>, threads: &[u32]) {
        let flat = Flat::of(fact, threads).unwrap_or_default();
        let number = self.list.len() as u32;
        for (term, symbol) in flat.symbols.iter().enumerate() {
            if self.places.len() <= symbol.index() {
                self.places.resize(symbol.index() + 1, Vec::new());
            }
            if let Some((sign, false)) = sign(flat.row(term)) {
                self.places[symbol.index()].push(Place { fact: number, term: term as u32, sign });
            }
        }
        self.list.push((Rc::clone(fact), flat));
    }

    /// Forgets all but so many of the outermost facts.
    pub(super) fn truncate(&mut self, count: usize) {
        if self.list.len() > count {
            self.shown.retain(|shown| shown.found.facts <= count);
        }
        while self.list.len() > count {
            let Some((_, flat)) = self.list.pop() else { return };
            let number = self.list.len() as u32;
            for symbol in &flat.symbols {
                let places = &mut self.places[symbol.index()];
                if places.last().is_some_and(|place| place.fact == number) {
                    places.pop();
                }
            }
        }
    }

    /// All facts, for other threads.
    pub(super) fn take_anew(&mut self, threads: &[u32]) {
        let facts: Vec<Rc<Linear>> = self.list.iter().map(|(fact, _)| Rc::clone(fact)).collect();
        self.truncate(0);
        self.shown.clear();
        facts.iter().for_each(|fact| self.push(fact, threads));
    }

    /// What is known of a goal without a search: by the ranges of its symbols, or because it was shown before.
    pub(super) fn look_up(&self, goal: &Flat, symbols: &Symbols) -> Option<Found> {
        if let Some(room) = goal.room(symbols) {
            return Some(Found { room, facts: 0 });
        }
        let narrow = symbols.is_narrow();
        let known = self
            .shown
            .iter()
            .rev()
            .find(|shown| (narrow || !shown.narrow) && goal.is_above(&shown.goal, shown.found.room))?;
        Some(Found { room: 0, ..known.found })
    }

    /// Remembers what was shown of a goal.
    pub(super) fn remember(&mut self, goal: Flat, found: Found, symbols: &Symbols) {
        if self.shown.len() >= MOST_SHOWN {
            self.shown.remove(0);
        }
        self.shown.push(Shown { goal, found, narrow: symbols.is_narrow() });
    }

    /// Whether a goal is non-negative by at most so many facts, found among as many combinations as are allowed.
    pub(super) fn search(
        &self,
        goal: &Flat,
        symbols: &Symbols,
        (depth, order): (u32, Order),
        attempts: &mut u32,
    ) -> Option<Found> {
        if depth == 0 {
            return None;
        }
        // First the symbols that can pull the goal down, then those that can lift it.
        for pulls_down in [true, false] {
            for (term, symbol) in goal.symbols.iter().enumerate() {
                let Some((sign, _)) = sign(goal.row(term)) else { continue };
                if (sign < 0 || symbols.range(*symbol).0 < 0) != pulls_down {
                    continue;
                }
                let places: &[Place] = self.places.get(symbol.index()).map_or(&[], |places| places);
                let mut next = 0;
                while next < places.len() {
                    let place = match order {
                        Order::OutermostFirst => places[next],
                        Order::InnermostFirst => places[places.len() - 1 - next],
                    };
                    next += 1;
                    if place.sign != sign {
                        continue;
                    }
                    if *attempts == 0 {
                        return None;
                    }
                    *attempts -= 1;
                    let number = place.fact as usize;
                    let step = Step { goal, term, fact: &self.list[number].1, own: place.term as usize };
                    if let Some(room) = step.room(symbols) {
                        return Some(Found { room, facts: number + 1 });
                    }
                    if depth > 1
                        && let Some(rest) = step.rest()
                        && let Some(found) = self.search(&rest, symbols, (depth - 1, order), attempts)
                    {
                        let room = found.room / step.largest_scale();
                        return Some(Found { room, facts: found.facts.max(number + 1) });
                    }
                }
            }
        }
        None
    }
}

/// A symbol of the goal to be removed by a fact.
///
/// What is left is `scale × goal + scale − 1 − take × fact`. The goal follows from it, as a whole number of which a multiple is
/// above −1 times its factor is not negative.
struct Step<'a> {
    goal: &'a Flat,
    /// Which of its symbols.
    term: usize,
    fact: &'a Flat,
    /// Which of the symbols of the fact that is.
    own: usize,
}

impl Step<'_> {
    /// The factors of the goal and of the fact.
    fn factors(&self, thread: usize) -> (i64, i64) {
        let (take, scale) = (self.goal.row(self.term)[thread].abs(), self.fact.row(self.own)[thread].abs());
        if take == scale {
            return (1, 1);
        }
        let divisor = gcd(scale, take).max(1);
        (scale / divisor, take / divisor)
    }

    /// By how much the goal is more than the ranges of the symbols demand of what is left, if they make that non-negative.
    fn room(&self, symbols: &Symbols) -> Option<i128> {
        let (mut room, mut thread) = (FARTHEST, 0);
        while thread < self.goal.constants.len() {
            let bound = self.bound(thread, symbols)?;
            if bound < 0 {
                return None;
            }
            let own = bound / i128::from(self.factors(thread).0);
            if own < room {
                room = own;
            }
            thread += 1;
        }
        Some(room)
    }

    fn largest_scale(&self) -> i128 {
        let scales = (0..self.goal.constants.len()).map(|thread| self.factors(thread).0);
        i128::from(scales.max().unwrap_or(1).max(1))
    }

    /// The least value that the ranges of the symbols allow what is left for a thread.
    fn bound(&self, thread: usize, symbols: &Symbols) -> Option<i128> {
        let (scale, take) = self.factors(thread);
        let (scale, take) = (i128::from(scale), i128::from(take));
        let (goal, fact) = (self.goal, self.fact);
        let mut bound = scale * goal.constants[thread] + scale - 1 - take * fact.constants[thread];
        let (mut i, mut j) = (0, 0);
        // Both are in the order of the symbols.
        while i < goal.symbols.len() || j < fact.symbols.len() {
            let a = goal.symbols.get(i).map_or(u32::MAX, |symbol| symbol.0);
            let b = fact.symbols.get(j).map_or(u32::MAX, |symbol| symbol.0);
            let (symbol, mut coefficient) = (a.min(b), 0);
            if a == symbol {
                coefficient += scale * i128::from(goal.row(i)[thread]);
                i += 1;
            }
            if b == symbol {
                coefficient -= take * i128::from(fact.row(j)[thread]);
                j += 1;
            }
            if coefficient == 0 {
                continue;
            }
            let coefficient = i64::try_from(coefficient).ok()?;
            if coefficient <= -LARGEST || coefficient >= LARGEST {
                return None;
            }
            bound += least(coefficient, SymbolId(symbol), symbols)?;
        }
        Some(bound)
    }

    /// What is left.
    fn rest(&self) -> Option<Flat> {
        let (goal, fact) = (self.goal, self.fact);
        let threads = goal.constants.len();
        let mut rest = Flat::default();
        let mut factors = Vec::with_capacity(threads);
        for thread in 0..threads {
            let (scale, take) = self.factors(thread);
            let (wide_scale, wide_take) = (i128::from(scale), i128::from(take));
            let constant =
                wide_scale * goal.constants[thread] + wide_scale - 1 - wide_take * fact.constants[thread];
            if constant <= -FARTHEST || constant >= FARTHEST {
                return None;
            }
            rest.constants.push(constant);
            factors.push((wide_scale, wide_take));
        }
        let (mut i, mut j) = (0, 0);
        while i < goal.symbols.len() || j < fact.symbols.len() {
            let a = goal.symbols.get(i).map_or(u32::MAX, |symbol| symbol.0);
            let b = fact.symbols.get(j).map_or(u32::MAX, |symbol| symbol.0);
            let symbol = a.min(b);
            let mut zero = true;
            for (thread, (scale, take)) in factors.iter().enumerate() {
                let mut coefficient = 0;
                if a == symbol {
                    coefficient += scale * i128::from(goal.row(i)[thread]);
                }
                if b == symbol {
                    coefficient -= take * i128::from(fact.row(j)[thread]);
                }
                let coefficient = i64::try_from(coefficient).ok()?;
                if coefficient <= -LARGEST || coefficient >= LARGEST {
                    return None;
                }
                zero &= coefficient == 0;
                rest.coefficients.push(coefficient);
            }
            i += usize::from(a == symbol);
            j += usize::from(b == symbol);
            if zero {
                rest.coefficients.truncate(rest.symbols.len() * threads);
            } else {
                rest.symbols.push(SymbolId(symbol));
            }
        }
        Some(rest)
    }
}
