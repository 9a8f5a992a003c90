//! One integer a thread of the block, and one truth value a thread.
//!
//! Expansion runs unoptimised, so these are dense arrays with one plain loop an operation, and one number where all
//! threads agree.

use super::prove::gcd;
use crate::ir::Scope;
use std::rc::Rc;
use tileproof_model::access::LANES;

/// An integer of every thread of the block, in order of the linear thread index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// The same for all.
    Uniform(i64),
    /// One for each.
    Each(Rc<[i64]>),
}

impl Lanes {
    /// One number for each thread, or one for all where they agree.
    pub fn each(values: Vec<i64>) -> Lanes {
        let first = values.first().copied().unwrap_or(0);
        let mut same = true;
        let mut i = 1;
        while i < values.len() {
            if values[i] != first {
                same = false;
                break;
            }
            i += 1;
        }
        if same { Lanes::Uniform(first) } else { Lanes::Each(values.into()) }
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
                let mut out = vec![0; a.len()];
                let mut i = 0;
                while i < out.len() {
                    out[i] = op(a[i])?;
                    i += 1;
                }
                Some(Lanes::each(out))
            }
        }
    }

    /// Applies an operation to each pair; `None` if it fails for one, as on overflow.
    pub fn zip(&self, other: &Lanes, op: impl Fn(i64, i64) -> Option<i64>) -> Option<Lanes> {
        match (self, other) {
            (Lanes::Uniform(a), Lanes::Uniform(b)) => Some(Lanes::Uniform(op(*a, *b)?)),
            (Lanes::Each(a), Lanes::Uniform(b)) => {
                let mut out = vec![0; a.len()];
                let mut i = 0;
                while i < out.len() {
                    out[i] = op(a[i], *b)?;
                    i += 1;
                }
                Some(Lanes::each(out))
            }
            (Lanes::Uniform(a), Lanes::Each(b)) => {
                let mut out = vec![0; b.len()];
                let mut i = 0;
                while i < out.len() {
                    out[i] = op(*a, b[i])?;
                    i += 1;
                }
                Some(Lanes::each(out))
            }
            (Lanes::Each(a), Lanes::Each(b)) => {
                let mut out = vec![0; a.len()];
                let mut i = 0;
                while i < out.len() {
                    out[i] = op(a[i], b[i])?;
                    i += 1;
                }
                Some(Lanes::each(out))
            }
        }
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
            (Lanes::Each(values), mask) => {
                let mut best: Option<(i64, usize)> = None;
                let mut i = 0;
                while i < values.len() {
                    if mask.get(i) && best.is_none_or(|(least, _)| values[i] < least) {
                        best = Some((values[i], i));
                    }
                    i += 1;
                }
                best
            }
        }
    }

    /// The largest number of the threads in the mask; `None` for an empty mask.
    pub fn max(&self, mask: &Mask) -> Option<i64> {
        self.map(i64::checked_neg)?.min(mask).map(|(value, _)| -value)
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
