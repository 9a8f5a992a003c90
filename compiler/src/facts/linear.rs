//! Integers as `constant + Σ coefficient × symbol`, for every thread.

use super::lanes::{Lanes, Mask};

/// The number of a symbol in [`super::Symbols`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SymbolId(pub(super) u32);

impl SymbolId {
    /// The position in the table of symbols.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A linear form of symbols, one a thread: the constant and the coefficients may differ between threads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linear {
    /// What does not depend on a symbol.
    pub constant: Lanes,
    /// The symbols with their coefficients, in order of the symbol, none of them zero for all threads.
    pub terms: Vec<(SymbolId, Lanes)>,
}

impl Linear {
    /// A form without symbols.
    pub fn constant(lanes: Lanes) -> Linear {
        Linear { constant: lanes, terms: Vec::new() }
    }

    /// The same number for all threads.
    pub fn int(value: i64) -> Linear {
        Linear::constant(Lanes::Uniform(value))
    }

    /// A symbol.
    pub fn symbol(symbol: SymbolId) -> Linear {
        Linear { constant: Lanes::Uniform(0), terms: vec![(symbol, Lanes::Uniform(1))] }
    }

    /// The numbers, where no symbol is involved.
    pub fn known(&self) -> Option<&Lanes> {
        self.terms.is_empty().then_some(&self.constant)
    }

    /// The number, where it is known and the same for all threads.
    pub fn known_uniform(&self) -> Option<i64> {
        self.known().and_then(Lanes::uniform)
    }

    /// The symbol, where the form is nothing else.
    pub fn lone_symbol(&self) -> Option<SymbolId> {
        match self.terms.as_slice() {
            [(symbol, Lanes::Uniform(1))] if self.constant.is_zero() => Some(*symbol),
            _ => None,
        }
    }

    /// The coefficient of a symbol that the form holds.
    pub(super) fn find(&self, symbol: SymbolId) -> Option<&Lanes> {
        self.terms.iter().find(|(other, _)| *other == symbol).map(|(_, coefficient)| coefficient)
    }

    /// The coefficient of a symbol.
    pub fn coefficient(&self, symbol: SymbolId) -> Lanes {
        self.find(symbol).cloned().unwrap_or(Lanes::Uniform(0))
    }

    /// Of how many threads it says something apart; 0 where it is the same for all.
    pub(super) fn threads(&self) -> usize {
        let count = |lanes: &Lanes| match lanes {
            Lanes::Uniform(_) => 0,
            Lanes::Each(table) => table.len(),
        };
        self.terms.iter().map(|(_, coefficient)| count(coefficient)).fold(count(&self.constant), usize::max)
    }

    /// The form with the least constant of the threads in the mask for all: what is shown of it holds for each. `None`
    /// where it is no simpler than the form.
    pub fn for_least(&self, mask: &Mask) -> Option<Linear> {
        let uniform = self.terms.iter().all(|(_, coefficient)| coefficient.uniform().is_some());
        if !uniform || self.constant.uniform().is_some() {
            return None;
        }
        let (least, _) = self.constant.extremes(mask)?;
        Some(Linear { constant: Lanes::Uniform(least), terms: self.terms.clone() })
    }

    /// `self + factor × other`; `None` on overflow.
    pub fn add_scaled(&self, other: &Linear, factor: &Lanes) -> Option<Linear> {
        let multiply_add = |a: &Lanes, b: &Lanes| match factor {
            Lanes::Uniform(1) => a.add(b),
            Lanes::Uniform(-1) => a.sub(b),
            factor => a.add(&b.multiply(factor)?),
        };
        let zero = Lanes::Uniform(0);
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut i, mut j) = (0, 0);
        while i < self.terms.len() || j < other.terms.len() {
            let left = self.terms.get(i);
            let right = other.terms.get(j);
            let (symbol, coefficient) = match (left, right) {
                (Some((a, x)), Some((b, y))) if a == b => {
                    i += 1;
                    j += 1;
                    (*a, multiply_add(x, y)?)
                }
                (Some((a, x)), Some((b, _))) if a < b => {
                    i += 1;
                    (*a, x.clone())
                }
                (Some((a, x)), None) => {
                    i += 1;
                    (*a, x.clone())
                }
                (_, Some((b, y))) => {
                    j += 1;
                    (*b, multiply_add(&zero, y)?)
                }
                (None, None) => break,
            };
            if !coefficient.is_zero() {
                terms.push((symbol, coefficient));
            }
        }
        Some(Linear { constant: multiply_add(&self.constant, &other.constant)?, terms })
    }

    /// The sum; `None` on overflow.
    pub fn add(&self, other: &Linear) -> Option<Linear> {
        self.add_scaled(other, &Lanes::Uniform(1))
    }

    /// The difference; `None` on overflow.
    pub fn sub(&self, other: &Linear) -> Option<Linear> {
        self.add_scaled(other, &Lanes::Uniform(-1))
    }

    /// The form with this number added; `None` on overflow.
    pub fn offset(&self, by: i64) -> Option<Linear> {
        self.add(&Linear::int(by))
    }

    /// The form times a known number; `None` on overflow.
    pub fn scale(&self, factor: &Lanes) -> Option<Linear> {
        Linear::int(0).add_scaled(self, factor)
    }

    /// The form with a symbol replaced by another form; `None` on overflow.
    pub fn substitute(&self, symbol: SymbolId, by: &Linear) -> Option<Linear> {
        let mut rest = self.clone();
        rest.terms.retain(|(other, _)| *other != symbol);
        rest.add_scaled(by, &self.coefficient(symbol))
    }

    /// Applies an exact operation to the constant and all coefficients.
    pub fn map(&self, op: impl Fn(i64) -> Option<i64> + Copy) -> Option<Linear> {
        let mut terms = Vec::with_capacity(self.terms.len());
        for (symbol, coefficient) in &self.terms {
            let coefficient = coefficient.map(op)?;
            if !coefficient.is_zero() {
                terms.push((*symbol, coefficient));
            }
        }
        Some(Linear { constant: self.constant.map(op)?, terms })
    }

    /// The first form where the mask is true, else the second.
    pub fn select(mask: &Mask, a: &Linear, b: &Linear, threads: usize) -> Linear {
        let mut symbols: Vec<SymbolId> = a.terms.iter().chain(&b.terms).map(|(symbol, _)| *symbol).collect();
        symbols.sort();
        symbols.dedup();
        let terms = symbols
            .into_iter()
            .map(|symbol| {
                (symbol, Lanes::select(mask, &a.coefficient(symbol), &b.coefficient(symbol), threads))
            })
            .filter(|(_, coefficient)| !coefficient.is_zero())
            .collect();
        Linear { constant: Lanes::select(mask, &a.constant, &b.constant, threads), terms }
    }
}
