//! The unknowns.

use super::lanes::Lanes;
use super::linear::{Linear, SymbolId};
use super::prove::FactList;
use crate::ir::{Axis, Handle, Loop, Param};
use std::collections::HashMap;

/// What an unknown is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    /// An extent of a tensor.
    Extent(Handle<Param>, u32),
    /// A stride of a tensor, in elements.
    Stride(Handle<Param>, u32),
    /// A scalar argument.
    Scalar(Handle<Param>),
    /// The block's position in the grid.
    Block(Axis),
    /// The blocks of the grid.
    Grid(Axis),
    /// How often a loop has gone round.
    Counter(Handle<Loop>),
    /// The product of two symbols.
    Product(SymbolId, SymbolId),
    /// The result of an operation that is not linear, numbered.
    Derived(u32),
    /// A value that came from memory or from arithmetic that may wrap, numbered.
    Opaque(u32),
}

/// An unknown.
#[derive(Clone, Debug)]
pub struct Symbol {
    /// What it is.
    pub kind: SymbolKind,
    /// The least value.
    pub low: i128,
    /// The largest value.
    pub high: i128,
    /// The largest value where the launcher chose 32-bit indices.
    pub narrow_high: i128,
    /// Whether all threads of a warp that execute an instruction together have the same value.
    pub uniform: bool,
    /// What it is away from the edges, for judging costs: of `min(i, n)`, `i`.
    pub interior: Option<Linear>,
    /// Where it is one of several values: each, with what holds where it is that one.
    pub cases: Vec<(Linear, FactList)>,
    /// Its name in messages.
    pub name: String,
}

/// A symbol is `modulus × quotient + residue`, the quotient a symbol of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Residue {
    /// At least 2.
    pub modulus: i64,
    /// Below the modulus.
    pub residue: i64,
}

/// All unknowns of one analysis.
#[derive(Debug, Default)]
pub struct Symbols {
    list: Vec<Symbol>,
    by_kind: HashMap<SymbolKind, SymbolId>,
    /// The quotients that splits left, each with the symbol that was split and the modulus.
    quotients: HashMap<SymbolId, (SymbolId, i64)>,
    /// What a symbol was replaced by: a contract equates it to something else, or fixes its residue.
    replaced: HashMap<SymbolId, Linear>,
    /// Whether ranges are those of a launch with 32-bit indices.
    narrow: bool,
}

impl Symbols {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The symbol.
    pub fn get(&self, id: SymbolId) -> &Symbol {
        &self.list[id.index()]
    }

    /// The least and the largest value of a symbol.
    pub fn range(&self, id: SymbolId) -> (i128, i128) {
        let symbol = self.get(id);
        if let SymbolKind::Product(a, b) = symbol.kind {
            let (a, b) = (self.range(a), self.range(b));
            let corners = [
                a.0.saturating_mul(b.0),
                a.0.saturating_mul(b.1),
                a.1.saturating_mul(b.0),
                a.1.saturating_mul(b.1),
            ];
            return (
                corners.into_iter().min().unwrap_or(symbol.low),
                corners.into_iter().max().unwrap_or(symbol.high),
            );
        }
        (symbol.low, if self.narrow { symbol.high.min(symbol.narrow_high) } else { symbol.high })
    }

    /// Asks a question about a launch with 32-bit indices.
    pub(super) fn assuming_narrow<T>(&mut self, ask: impl FnOnce(&Symbols) -> T) -> T {
        self.narrow = true;
        let answer = ask(self);
        self.narrow = false;
        answer
    }

    /// The id of a kind, if it has come up.
    pub fn find(&self, kind: &SymbolKind) -> Option<SymbolId> {
        self.by_kind.get(kind).copied()
    }

    /// Adds a symbol.
    pub(super) fn add(&mut self, symbol: Symbol) -> SymbolId {
        let id = SymbolId(self.list.len() as u32);
        self.by_kind.insert(symbol.kind.clone(), id);
        self.list.push(symbol);
        id
    }

    /// A symbol as a form, replacements applied.
    pub fn resolved(&self, id: SymbolId) -> Linear {
        match self.replaced.get(&id) {
            Some(form) => form.clone(),
            None => Linear::symbol(id),
        }
    }

    /// Replaces a symbol from now on, also inside earlier replacements.
    pub(super) fn replace(&mut self, id: SymbolId, by: Linear) {
        let old: Vec<SymbolId> = self.replaced.keys().copied().collect();
        for key in old {
            let form = &self.replaced[&key];
            let coefficient = form.coefficient(id);
            if coefficient.is_zero() {
                continue;
            }
            let mut rest = form.clone();
            rest.terms.retain(|(symbol, _)| *symbol != id);
            if let Some(new) = rest.add_scaled(&by, &coefficient) {
                self.replaced.insert(key, new);
            }
        }
        self.replaced.insert(id, by);
    }

    /// Says that a symbol is one of several values.
    pub(super) fn set_cases(&mut self, id: SymbolId, cases: Vec<(Linear, FactList)>) {
        self.list[id.index()].cases = cases;
    }

    /// Takes in that a form is non-negative, where that bounds its only symbol.
    pub(super) fn bound(&mut self, fact: &Linear) {
        let (Lanes::Uniform(constant), [(id, Lanes::Uniform(coefficient))]) =
            (&fact.constant, fact.terms.as_slice())
        else {
            return;
        };
        let (constant, coefficient) = (i128::from(*constant), i128::from(*coefficient));
        let symbol = &mut self.list[id.index()];
        if coefficient > 0 {
            // Rounded up: symbol ≥ −constant / coefficient.
            symbol.low = symbol.low.max(-constant.div_euclid(coefficient));
        } else if coefficient < 0 {
            let high = constant.div_euclid(-coefficient);
            symbol.high = symbol.high.min(high);
            symbol.narrow_high = symbol.narrow_high.min(high);
        }
    }

    /// Splits a symbol by its residue.
    pub(super) fn split(&mut self, id: SymbolId, residue: Residue) {
        let symbol = self.get(id).clone();
        let Residue { modulus, residue } = residue;
        let quotient = self.add(Symbol {
            kind: SymbolKind::Derived(self.list.len() as u32),
            low: -(i128::from(residue) - symbol.low).div_euclid(i128::from(modulus)),
            high: (symbol.high - i128::from(residue)).div_euclid(i128::from(modulus)),
            narrow_high: (symbol.narrow_high - i128::from(residue)).div_euclid(i128::from(modulus)),
            uniform: symbol.uniform,
            interior: None,
            cases: Vec::new(),
            name: format!("({} / {modulus})", symbol.name),
        });
        self.quotients.insert(quotient, (id, modulus));
        let form =
            Linear { constant: Lanes::Uniform(residue), terms: vec![(quotient, Lanes::Uniform(modulus))] };
        self.replace(id, form);
    }

    /// A symbol modulo a number, as the symbol that it was split off modulo another number.
    pub(super) fn before_splits(&self, mut id: SymbolId, mut modulus: i64) -> (&SymbolKind, i64) {
        while let Some((whole, factor)) = self.quotients.get(&id) {
            (id, modulus) = (*whole, modulus.saturating_mul(*factor));
        }
        (&self.get(id).kind, modulus)
    }

    /// The product of two forms; `None` on overflow or where a product of symbols has not come up in the analysis.
    pub fn product(&self, a: &Linear, b: &Linear) -> Option<Linear> {
        let mut out = Linear::constant(a.constant.zip(&b.constant, i64::checked_mul)?);
        for (symbol, coefficient) in &a.terms {
            let coefficient = coefficient.zip(&b.constant, i64::checked_mul)?;
            out = out.add_scaled(&Linear::symbol(*symbol), &coefficient)?;
        }
        for (symbol, coefficient) in &b.terms {
            let coefficient = coefficient.zip(&a.constant, i64::checked_mul)?;
            out = out.add_scaled(&Linear::symbol(*symbol), &coefficient)?;
        }
        for (x, p) in &a.terms {
            for (y, q) in &b.terms {
                let kind = SymbolKind::Product((*x).min(*y), (*x).max(*y));
                let product = self.find(&kind)?;
                out = out.add_scaled(&Linear::symbol(product), &p.zip(q, i64::checked_mul)?)?;
            }
        }
        Some(out)
    }

    /// The product of two forms, with new symbols for products of symbols; `None` on overflow.
    pub(super) fn multiply(&mut self, a: &Linear, b: &Linear) -> Option<Linear> {
        for (x, _) in &a.terms {
            for (y, _) in &b.terms {
                let (x, y) = ((*x).min(*y), (*x).max(*y));
                let kind = SymbolKind::Product(x, y);
                if self.find(&kind).is_none() {
                    let uniform = self.get(x).uniform && self.get(y).uniform;
                    let name = format!("{} * {}", self.get(x).name, self.get(y).name);
                    self.add(Symbol {
                        kind,
                        low: i128::MIN / 4,
                        high: i128::MAX / 4,
                        narrow_high: i128::MAX / 4,
                        uniform,
                        interior: None,
                        cases: Vec::new(),
                        name,
                    });
                }
            }
        }
        self.product(a, b)
    }

    /// The form with every symbol that has an interior case replaced by that.
    pub fn interior(&self, form: &Linear) -> Option<Linear> {
        let mut form = form.clone();
        // Interiors may hold symbols with interiors; each replacement removes one that was made later.
        for _ in 0..self.list.len() {
            let Some((id, coefficient)) =
                form.terms.iter().find(|(id, _)| self.get(*id).interior.is_some()).cloned()
            else {
                break;
            };
            form.terms.retain(|(symbol, _)| *symbol != id);
            let inner = self.get(id).interior.as_ref()?;
            form = form.add_scaled(inner, &coefficient)?;
        }
        Some(form)
    }
}
