//! One integer a thread of the block, and one truth value a thread.
//!
//! Expansion runs unoptimised, so these are dense arrays with one plain loop an operation, and one number where all
//! threads agree.

use std::rc::Rc;

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
        let lanes = values.as_slice();
        let first = lanes.first().copied().unwrap_or(0);
        let mut i = 1;
        while i < lanes.len() {
            if lanes[i] != first {
                return Lanes::Each(values.into());
            }
            i += 1;
        }
        Lanes::Uniform(first)
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

    /// Whether it is 0 for all.
    pub fn is_zero(&self) -> bool {
        matches!(self, Lanes::Uniform(0))
    }

    /// Applies an operation to each; `None` if it fails for one, as on overflow.
    pub fn map(&self, op: impl Fn(i64) -> Option<i64>) -> Option<Lanes> {
        match self {
            Lanes::Uniform(a) => Some(Lanes::Uniform(op(*a)?)),
            Lanes::Each(a) => {
                let mut values = vec![0; a.len()];
                let out = values.as_mut_slice();
                let mut i = 0;
                while i < out.len() {
                    out[i] = op(a[i])?;
                    i += 1;
                }
                Some(Lanes::each(values))
            }
        }
    }

    /// Applies an operation to each pair; `None` if it fails for one, as on overflow.
    pub fn zip(&self, other: &Lanes, op: impl Fn(i64, i64) -> Option<i64>) -> Option<Lanes> {
        match (self, other) {
            (Lanes::Uniform(a), Lanes::Uniform(b)) => Some(Lanes::Uniform(op(*a, *b)?)),
            (Lanes::Each(a), Lanes::Uniform(b)) => {
                let mut values = vec![0; a.len()];
                let out = values.as_mut_slice();
                let mut i = 0;
                while i < out.len() {
                    out[i] = op(a[i], *b)?;
                    i += 1;
                }
                Some(Lanes::each(values))
            }
            (Lanes::Uniform(a), Lanes::Each(b)) => {
                let mut values = vec![0; b.len()];
                let out = values.as_mut_slice();
                let mut i = 0;
                while i < out.len() {
                    out[i] = op(*a, b[i])?;
                    i += 1;
                }
                Some(Lanes::each(values))
            }
            (Lanes::Each(a), Lanes::Each(b)) => {
                let mut values = vec![0; a.len()];
                let out = values.as_mut_slice();
                let mut i = 0;
                while i < out.len() {
                    out[i] = op(a[i], b[i])?;
                    i += 1;
                }
                Some(Lanes::each(values))
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
            (Lanes::Each(values), Mask::Uniform(true)) => {
                let mut at = 0;
                let mut i = 1;
                while i < values.len() {
                    if values[i] < values[at] {
                        at = i;
                    }
                    i += 1;
                }
                Some((values[at], at))
            }
            (Lanes::Each(values), Mask::Each(mask)) => {
                let mut at = mask.iter().position(|active| *active)?;
                let mut i = at + 1;
                while i < values.len() {
                    if mask[i] && values[i] < values[at] {
                        at = i;
                    }
                    i += 1;
                }
                Some((values[at], at))
            }
        }
    }

    /// The largest number of the threads in the mask; `None` for an empty mask.
    pub fn max(&self, mask: &Mask) -> Option<i64> {
        match (self, mask) {
            (_, Mask::Uniform(false)) => None,
            (Lanes::Uniform(value), Mask::Uniform(true)) => Some(*value),
            (Lanes::Uniform(value), Mask::Each(mask)) => mask.contains(&true).then_some(*value),
            (Lanes::Each(values), Mask::Uniform(true)) => {
                let mut most = values[0];
                let mut i = 1;
                while i < values.len() {
                    if values[i] > most {
                        most = values[i];
                    }
                    i += 1;
                }
                Some(most)
            }
            (Lanes::Each(values), Mask::Each(mask)) => {
                let first = mask.iter().position(|active| *active)?;
                let mut most = values[first];
                let mut i = first + 1;
                while i < values.len() {
                    if mask[i] && values[i] > most {
                        most = values[i];
                    }
                    i += 1;
                }
                Some(most)
            }
        }
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
