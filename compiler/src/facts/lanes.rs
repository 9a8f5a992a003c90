//! One integer a thread of the block, and one truth value a thread.
//!
//! Expansion runs unoptimised, so these are dense arrays with one plain loop an operation, and one number where all
//! threads agree.

use super::prove::gcd;
use crate::ir::Scope;
use std::ops::Deref;
use std::rc::Rc;
use tileproof_model::access::LANES;

/// An integer of every thread of the block, in order of the linear thread index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// The same for all.
    Uniform(i64),
    /// One for each.
    Each(Table),
}

/// One number for each thread, with the least and the largest of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    values: Rc<[i64]>,
    least: i64,
    most: i64,
}

impl Deref for Table {
    type Target = [i64];

    fn deref(&self) -> &[i64] {
        &self.values
    }
}

/// Numbers below this, and above its negative, can be added without a check.
const SMALL: i64 = 1 << 61;

impl Lanes {
    /// One number for each thread, or one for all where they agree.
    pub fn each(values: Vec<i64>) -> Lanes {
        let numbers: &[i64] = &values;
        let first = numbers.first().copied().unwrap_or(0);
        let (mut least, mut most) = (first, first);
        let mut i = 1;
        while i < numbers.len() {
            let number = numbers[i];
            if number < least {
                least = number;
            }
            if number > most {
                most = number;
            }
            i += 1;
        }
        if least == most {
            Lanes::Uniform(first)
        } else {
            Lanes::Each(Table { values: values.into(), least, most })
        }
    }

    /// The least and the largest number of all threads.
    fn range(&self) -> (i64, i64) {
        match self {
            Lanes::Uniform(value) => (*value, *value),
            Lanes::Each(table) => (table.least, table.most),
        }
    }

    fn is_small(&self) -> bool {
        let (least, most) = self.range();
        -SMALL < least && most < SMALL
    }

    /// The sum; `None` on overflow.
    pub fn add(&self, other: &Lanes) -> Option<Lanes> {
        if !(self.is_small() && other.is_small()) {
            return self.zip(other, i64::checked_add);
        }
        let (table, by) = match (self, other) {
            (Lanes::Each(a), Lanes::Each(b)) => {
                let (a, b): (&[i64], &[i64]) = (a, b);
                let mut out = vec![0; a.len()];
                let sums: &mut [i64] = &mut out;
                let mut i = 0;
                while i < sums.len() {
                    sums[i] = a[i] + b[i];
                    i += 1;
                }
                return Some(Lanes::each(out));
            }
            (Lanes::Uniform(a), Lanes::Uniform(b)) => return Some(Lanes::Uniform(a + b)),
            (Lanes::Each(table), Lanes::Uniform(by)) | (Lanes::Uniform(by), Lanes::Each(table)) => {
                (table, *by)
            }
        };
        if by == 0 {
            return Some(Lanes::Each(table.clone()));
        }
        let mut values: Rc<[i64]> = Rc::from(&*table.values);
        let (least, most) = (table.least + by, table.most + by);
        if let Some(values) = Rc::get_mut(&mut values) {
            let mut i = 0;
            while i < values.len() {
                values[i] += by;
                i += 1;
            }
        }
        Some(Lanes::Each(Table { values, least, most }))
    }

    /// The difference; `None` on overflow.
    pub fn sub(&self, other: &Lanes) -> Option<Lanes> {
        match (self, other) {
            (_, Lanes::Uniform(by)) if *by > i64::MIN => self.add(&Lanes::Uniform(-by)),
            (Lanes::Each(a), Lanes::Each(b)) if self.is_small() && other.is_small() => {
                let (a, b): (&[i64], &[i64]) = (a, b);
                let mut out = vec![0; a.len()];
                let differences: &mut [i64] = &mut out;
                let mut i = 0;
                while i < differences.len() {
                    differences[i] = a[i] - b[i];
                    i += 1;
                }
                Some(Lanes::each(out))
            }
            (Lanes::Uniform(_), Lanes::Each(_)) if self.is_small() && other.is_small() => {
                self.add(&other.multiply(&Lanes::Uniform(-1))?)
            }
            _ => self.zip(other, i64::checked_sub),
        }
    }

    /// The product; `None` on overflow.
    pub fn multiply(&self, other: &Lanes) -> Option<Lanes> {
        match (self, other) {
            (Lanes::Uniform(0), _) | (_, Lanes::Uniform(0)) => Some(Lanes::Uniform(0)),
            (Lanes::Uniform(1), lanes) | (lanes, Lanes::Uniform(1)) => Some(lanes.clone()),
            (Lanes::Each(table), Lanes::Uniform(by)) | (Lanes::Uniform(by), Lanes::Each(table)) => {
                let (a, b) = (table.least.checked_mul(*by)?, table.most.checked_mul(*by)?);
                // Both ends fit, so all in between do.
                let numbers: &[i64] = table;
                let mut out = vec![0; numbers.len()];
                let products: &mut [i64] = &mut out;
                let mut i = 0;
                while i < products.len() {
                    products[i] = numbers[i] * *by;
                    i += 1;
                }
                Some(Lanes::Each(Table { values: out.into(), least: a.min(b), most: a.max(b) }))
            }
            _ => self.zip(other, i64::checked_mul),
        }
    }

    /// The quotient by a positive number, rounded towards zero, or what is left.
    pub fn divide(&self, by: i64, rest: bool) -> Lanes {
        let of = |value: i64| if rest { value % by } else { value / by };
        let table: &[i64] = match self {
            Lanes::Uniform(value) => return Lanes::Uniform(of(*value)),
            Lanes::Each(table) => table,
        };
        let mut out = vec![0; table.len()];
        let results: &mut [i64] = &mut out;
        let mut i = 0;
        while i < results.len() {
            results[i] = of(table[i]);
            i += 1;
        }
        Lanes::each(out)
    }

    /// The numbers, where they differ between threads.
    pub(super) fn table(&self) -> Option<&Rc<[i64]>> {
        match self {
            Lanes::Uniform(_) => None,
            Lanes::Each(table) => Some(&table.values),
        }
    }

    /// The number of a thread.
    pub fn get(&self, thread: usize) -> i64 {
        match self {
            Lanes::Uniform(value) => *value,
            Lanes::Each(values) => values[thread],
        }
    }

    /// The number of all threads, if it is the same.
    pub fn uniform(&self) -> Option<i64> {
        match self {
            Lanes::Uniform(value) => Some(*value),
            Lanes::Each(_) => None,
        }
    }

    /// Over which threads it is the same: a lane, a warp, or the block.
    pub fn scope(&self) -> Scope {
        match self {
            Lanes::Uniform(_) => Scope::Block,
            Lanes::Each(values) => {
                let mut i = 1;
                while i < values.len() {
                    if i % LANES != 0 && values[i] != values[i - 1] {
                        return Scope::Lane;
                    }
                    i += 1;
                }
                Scope::Warp
            }
        }
    }

    /// Whether it never turns along a direction of a block of these extents: it only rises or only falls.
    pub fn is_monotone(&self, block: [u32; 3]) -> bool {
        let Lanes::Each(table) = self else { return true };
        let values: &[i64] = table;
        let extents = block.map(|extent| extent as usize);
        let mut stride = 1;
        for extent in extents {
            let (mut rises, mut falls) = (false, false);
            let mut i = stride;
            while i < values.len() {
                if i / stride % extent != 0 {
                    rises |= values[i] > values[i - stride];
                    falls |= values[i] < values[i - stride];
                }
                i += 1;
            }
            if rises && falls {
                return false;
            }
            stride *= extent;
        }
        true
    }

    /// Whether it is 0 for all.
    pub fn is_zero(&self) -> bool {
        matches!(self, Lanes::Uniform(0))
    }

    /// The greatest common divisor of a positive number and all of them.
    pub fn gcd(&self, with: i64) -> i64 {
        match self {
            Lanes::Uniform(value) => gcd(value.abs(), with),
            Lanes::Each(values) => values.iter().fold(with, |divisor, value| gcd(value.abs(), divisor)),
        }
    }

    /// Applies an operation to each; `None` if it fails for one, as on overflow.
    pub fn map(&self, op: impl Fn(i64) -> Option<i64>) -> Option<Lanes> {
        match self {
            Lanes::Uniform(a) => Some(Lanes::Uniform(op(*a)?)),
            Lanes::Each(a) => {
                let a: &[i64] = a;
                let mut out = vec![0; a.len()];
                let results: &mut [i64] = &mut out;
                let mut i = 0;
                while i < results.len() {
                    results[i] = op(a[i])?;
                    i += 1;
                }
                Some(Lanes::each(out))
            }
        }
    }

    /// Applies an operation to each pair; `None` if it fails for one, as on overflow.
    pub fn zip(&self, other: &Lanes, op: impl Fn(i64, i64) -> Option<i64>) -> Option<Lanes> {
        let (a, b) = match (self, other) {
            (Lanes::Uniform(a), Lanes::Uniform(b)) => return Some(Lanes::Uniform(op(*a, *b)?)),
            (_, Lanes::Uniform(b)) => return self.map(|a| op(a, *b)),
            (Lanes::Uniform(a), _) => return other.map(|b| op(*a, b)),
            (Lanes::Each(a), Lanes::Each(b)) => (a, b),
        };
        let (a, b): (&[i64], &[i64]) = (a, b);
        let mut out = vec![0; a.len()];
        let results: &mut [i64] = &mut out;
        let mut i = 0;
        while i < results.len() {
            results[i] = op(a[i], b[i])?;
            i += 1;
        }
        Some(Lanes::each(out))
    }

    /// The first where the mask is true, else the second.
    pub fn select(mask: &Mask, a: &Lanes, b: &Lanes, threads: usize) -> Lanes {
        match mask {
            Mask::Uniform(true) => a.clone(),
            Mask::Uniform(false) => b.clone(),
            Mask::Each(mask) => {
                let mut out = vec![0; threads];
                let mut i = 0;
                while i < threads {
                    out[i] = if mask[i] { a.get(i) } else { b.get(i) };
                    i += 1;
                }
                Lanes::each(out)
            }
        }
    }

    /// The least number of the threads in the mask, with one that has it; `None` for an empty mask.
    pub fn min(&self, mask: &Mask) -> Option<(i64, usize)> {
        match (self, mask) {
            (_, Mask::Uniform(false)) => None,
            (Lanes::Uniform(value), Mask::Uniform(true)) => Some((*value, 0)),
            (Lanes::Uniform(value), Mask::Each(mask)) => {
                Some((*value, mask.iter().position(|active| *active)?))
            }
            (Lanes::Each(table), Mask::Uniform(true)) => {
                Some((table.least, table.iter().position(|value| *value == table.least)?))
            }
            (Lanes::Each(table), Mask::Each(mask)) => {
                let (values, mask): (&[i64], &[bool]) = (table, mask);
                let mut best: Option<(i64, usize)> = None;
                let mut i = 0;
                while i < values.len() {
                    if mask[i] && best.is_none_or(|(least, _)| values[i] < least) {
                        best = Some((values[i], i));
                    }
                    i += 1;
                }
                best
            }
        }
    }

    /// The threads in the mask, of so many, each with its number.
    pub fn within(&self, mask: &Mask, threads: usize) -> Vec<(u32, i64)> {
        let active: Option<&[bool]> = match mask {
            Mask::Uniform(false) => return Vec::new(),
            Mask::Uniform(true) => None,
            Mask::Each(mask) => Some(mask),
        };
        let (table, same): (&[i64], i64) = match self {
            Lanes::Uniform(value) => (&[], *value),
            Lanes::Each(table) => (table, 0),
        };
        let mut out = Vec::with_capacity(threads);
        let mut thread = 0;
        while thread < threads {
            let there = match active {
                Some(active) => active[thread],
                None => true,
            };
            if there {
                out.push((thread as u32, if table.is_empty() { same } else { table[thread] }));
            }
            thread += 1;
        }
        out
    }

    /// The least and the largest number of the threads in the mask; `None` for an empty mask.
    pub fn extremes(&self, mask: &Mask) -> Option<(i64, i64)> {
        match (self, mask) {
            (_, Mask::Uniform(false)) => None,
            (Lanes::Uniform(value), _) => Some((*value, *value)),
            (Lanes::Each(table), Mask::Uniform(true)) => Some((table.least, table.most)),
            (Lanes::Each(table), Mask::Each(mask)) => {
                let (values, mask): (&[i64], &[bool]) = (table, mask);
                let (mut least, mut most, mut i) = (i64::MAX, i64::MIN, 0);
                while i < values.len() {
                    if mask[i] {
                        let value = values[i];
                        if value < least {
                            least = value;
                        }
                        if value > most {
                            most = value;
                        }
                    }
                    i += 1;
                }
                (least <= most).then_some((least, most))
            }
        }
    }

    /// The largest number of the threads in the mask; `None` for an empty mask.
    pub fn max(&self, mask: &Mask) -> Option<i64> {
        self.extremes(mask).map(|(_, most)| most)
    }
}

/// A truth value of every thread of the block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mask {
    /// The same for all.
    Uniform(bool),
    /// One for each.
    Each(Rc<[bool]>),
}

impl Mask {
    /// One value for each thread, or one for all where they agree.
    pub fn each(values: Vec<bool>) -> Mask {
        let first = values.first().copied().unwrap_or(false);
        let mut i = 1;
        while i < values.len() {
            if values[i] != first {
                return Mask::Each(values.into());
            }
            i += 1;
        }
        Mask::Uniform(first)
    }

    /// The value of a thread.
    pub fn get(&self, thread: usize) -> bool {
        match self {
            Mask::Uniform(value) => *value,
            Mask::Each(values) => values[thread],
        }
    }

    /// Over which threads it is the same: a lane, a warp, or the block.
    pub fn scope(&self) -> Scope {
        match self {
            Mask::Uniform(_) => Scope::Block,
            Mask::Each(values) => {
                let values: &[bool] = values;
                let mut i = 1;
                while i < values.len() {
                    if i % LANES != 0 && values[i] != values[i - 1] {
                        return Scope::Lane;
                    }
                    i += 1;
                }
                Scope::Warp
            }
        }
    }

    /// The same, of the threads of another mask alone.
    pub fn scope_within(&self, others: &Mask) -> Scope {
        if others.is_full() {
            return self.scope();
        }
        let (some, none) = (self.and(others), self.not().and(others));
        if some.is_empty() || none.is_empty() {
            return Scope::Block;
        }
        let (Mask::Each(some), Mask::Each(none)) = (some, none) else { return Scope::Lane };
        let in_both = |(some, none): (&[bool], &[bool])| some.contains(&true) && none.contains(&true);
        if some.chunks(LANES).zip(none.chunks(LANES)).any(in_both) { Scope::Lane } else { Scope::Warp }
    }

    /// Whether it is false for all.
    pub fn is_empty(&self) -> bool {
        matches!(self, Mask::Uniform(false))
    }

    /// Whether it is true for all.
    pub fn is_full(&self) -> bool {
        matches!(self, Mask::Uniform(true))
    }

    /// True where both are.
    pub fn and(&self, other: &Mask) -> Mask {
        match (self, other) {
            (Mask::Uniform(false), _) | (_, Mask::Uniform(false)) => Mask::Uniform(false),
            (Mask::Uniform(true), mask) | (mask, Mask::Uniform(true)) => mask.clone(),
            (Mask::Each(a), Mask::Each(b)) => {
                let mut out = vec![false; a.len()];
                let mut i = 0;
                while i < out.len() {
                    out[i] = a[i] && b[i];
                    i += 1;
                }
                Mask::each(out)
            }
        }
    }

    /// True where it is false.
    pub fn not(&self) -> Mask {
        match self {
            Mask::Uniform(value) => Mask::Uniform(!value),
            Mask::Each(values) => {
                let mut out = vec![false; values.len()];
                let mut i = 0;
                while i < out.len() {
                    out[i] = !values[i];
                    i += 1;
                }
                Mask::Each(out.into())
            }
        }
    }

    /// True where one of them is.
    pub fn or(&self, other: &Mask) -> Mask {
        self.not().and(&other.not()).not()
    }
}
