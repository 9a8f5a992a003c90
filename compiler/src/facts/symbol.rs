//! The unknowns.

use super::deciding::Deciders;
use super::example::Examples;
use super::lanes::Lanes;
use super::linear::{Linear, SymbolId};
use super::prove::FactList;
use super::truth::Way;
use crate::ir::{Axis, BinaryOp, Handle, Loop, Param, Scalar, Scope};
use crate::span::SpanId;
use std::collections::HashMap;
use std::rc::Rc;

/// What an unknown is.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SymbolKind {
    /// An extent of a tensor.
    Extent(Handle<Param>, u32),
    /// A stride of a tensor, in elements.
    Stride(Handle<Param>, u32),
    /// How many elements the first one of a tensor lies behind an address that is a multiple of so many.
    Misalignment(Handle<Param>, u32),
    /// A scalar argument.
    Scalar(Handle<Param>),
    /// The block's position in the grid.
    Block(Axis),
    /// The blocks of the grid.
    Grid(Axis),
    /// How often a loop has gone round, when it was come to for the time with this number.
    Counter(Handle<Loop>, u32),
    /// How often a loop with a condition has gone round; its head in the source, and the time that it was come to.
    Round(SpanId, u32),
    /// How many iterations after another one of that loop; its head in the source, and the time.
    Later(SpanId, u32),
    /// The product of two symbols.
    Product(SymbolId, SymbolId),
    /// The result of an operation that is not linear, numbered.
    Derived(u32),
    /// A value that came from memory or from arithmetic that may wrap, numbered.
    Opaque(u32),
}

impl SymbolKind {
    /// What it is the product of, if it is one.
    pub(super) fn factors(&self) -> Option<[SymbolId; 2]> {
        match self {
            SymbolKind::Product(a, b) => Some([*a, *b]),
            SymbolKind::Extent(..)
            | SymbolKind::Stride(..)
            | SymbolKind::Misalignment(..)
            | SymbolKind::Scalar(_)
            | SymbolKind::Block(_)
            | SymbolKind::Grid(_)
            | SymbolKind::Counter(..)
            | SymbolKind::Round(..)
            | SymbolKind::Later(..)
            | SymbolKind::Derived(_)
            | SymbolKind::Opaque(_) => None,
        }
    }

    /// The kind under which it is split by residues: a loop's counters all alike.
    pub(super) fn split_as(&self) -> SymbolKind {
        match self {
            SymbolKind::Counter(counted, _) => SymbolKind::Counter(*counted, 0),
            SymbolKind::Round(head, _) => SymbolKind::Round(*head, 0),
            SymbolKind::Later(head, _) => SymbolKind::Later(*head, 0),
            SymbolKind::Extent(..)
            | SymbolKind::Stride(..)
            | SymbolKind::Misalignment(..)
            | SymbolKind::Scalar(_)
            | SymbolKind::Block(_)
            | SymbolKind::Grid(_)
            | SymbolKind::Product(..)
            | SymbolKind::Derived(_)
            | SymbolKind::Opaque(_) => self.clone(),
        }
    }
}

/// An unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct Symbol {
    /// What it is.
    pub kind: SymbolKind,
    /// The least value.
    pub low: i128,
    /// The largest value.
    pub high: i128,
    /// The least value where the launcher chose 32-bit indices.
    pub narrow_low: i128,
    /// The largest value there.
    pub narrow_high: i128,
    /// Over which threads that execute an instruction together it is the same: a lane, a warp, or the block.
    pub scope: Scope,
    /// What it is away from the edges, for judging costs: of `min(i, n)`, `i`.
    pub interior: Option<Linear>,
    /// Where it is one of several values: these, each with what holds if it is that one.
    pub cases: Vec<Case>,
    /// Where it is what is left of a symbol divided by a number: that symbol, and the number.
    pub quotient_of: Option<(SymbolKind, i64)>,
    /// What it is the result of, if that is an operation.
    pub(super) function: Option<Rc<Function>>,
    /// Whether it is an extent or a stride of a tensor, or a contract equates one to it.
    pub is_of_tensor: bool,
    /// Whether it is the same for all threads of a launch.
    pub is_of_launch: bool,
    /// Its name in messages.
    pub name: String,
}

/// One of the values that a symbol may have.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The value.
    pub value: Linear,
    /// What holds then.
    pub facts: FactList,
    /// The sides of branches that threads went then.
    pub(super) ways: Vec<Way>,
}

/// An operation that is not linear.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// An operator.
    Binary(BinaryOp),
    /// The quotient, rounded down.
    Quotient,
    /// What a type keeps of a number that it may not hold.
    Wrapped(Scalar),
}

/// What a symbol is the result of: equal operands give equal results, wherever they come up.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Function {
    pub(super) operation: Operation,
    /// Where there is one operand alone, the second is 0.
    pub(super) operands: (Linear, Linear),
}

impl Symbol {
    /// An unknown with a range.
    pub(super) fn new(
        kind: SymbolKind,
        (low, high): (i128, i128),
        scope: Scope,
        name: impl Into<String>,
    ) -> Symbol {
        Symbol {
            is_of_tensor: matches!(kind, SymbolKind::Extent(..) | SymbolKind::Stride(..)),
            is_of_launch: matches!(
                kind,
                SymbolKind::Extent(..)
                    | SymbolKind::Stride(..)
                    | SymbolKind::Misalignment(..)
                    | SymbolKind::Scalar(_)
                    | SymbolKind::Grid(_)
            ),
            kind,
            low,
            high,
            narrow_low: low,
            narrow_high: high,
            scope,
            interior: None,
            cases: Vec::new(),
            quotient_of: None,
            function: None,
            name: name.into(),
        }
    }
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
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    list: Vec<Symbol>,
    by_kind: HashMap<SymbolKind, SymbolId>,
    /// What a symbol was replaced by: a contract equates it to something else, or fixes its residue.
    replaced: HashMap<SymbolId, Linear>,
    /// Whether ranges are those of a launch with 32-bit indices.
    narrow: bool,
    /// How many the contract and the grid have made: the same in all runs, in this order.
    of_contract: usize,
    /// The threads that decide a question for all.
    pub(super) deciders: Deciders,
    /// The same where a symbol is taken to be one of its values.
    pub(super) deciders_of_cases: Deciders,
    /// What answers questions whose answer is no.
    pub(super) examples: Examples,
}

impl Symbols {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// All of them.
    pub(super) fn all(&self) -> impl Iterator<Item = (SymbolId, &Symbol)> {
        self.list.iter().enumerate().map(|(index, symbol)| (SymbolId(index as u32), symbol))
    }

    /// The symbol.
    pub fn get(&self, id: SymbolId) -> &Symbol {
        &self.list[id.index()]
    }

    /// The least and the largest value of a symbol.
    pub fn range(&self, id: SymbolId) -> (i128, i128) {
        let symbol = self.get(id);
        let own = match self.narrow {
            true => (symbol.low.max(symbol.narrow_low), symbol.high.min(symbol.narrow_high)),
            false => (symbol.low, symbol.high),
        };
        let SymbolKind::Product(a, b) = symbol.kind else { return own };
        let (a, b) = (self.range(a), self.range(b));
        let corners = [
            a.0.saturating_mul(b.0),
            a.0.saturating_mul(b.1),
            a.1.saturating_mul(b.0),
            a.1.saturating_mul(b.1),
        ];
        let low = corners.into_iter().min().unwrap_or(own.0);
        let high = corners.into_iter().max().unwrap_or(own.1);
        (low.max(own.0), high.min(own.1))
    }

    /// The range of a symbol that is no product, in a launch with 32-bit indices and so in any.
    pub(super) fn narrow_range_of(&self, id: SymbolId) -> (i128, i128) {
        let symbol = self.get(id);
        (symbol.low.max(symbol.narrow_low), symbol.high.min(symbol.narrow_high))
    }

    /// Whether ranges are those of a launch with 32-bit indices.
    pub(super) fn is_narrow(&self) -> bool {
        self.narrow
    }

    /// Asks a question about a launch with 32-bit indices.
    pub(super) fn assuming_narrow<T>(&mut self, ask: impl FnOnce(&Symbols) -> T) -> T {
        self.narrow = true;
        let answer = ask(self);
        self.narrow = false;
        answer
    }

    /// Takes in that the contract and the grid are known: all that has come up is the same for the whole launch, but for the
    /// block's position.
    pub(super) fn end_contract(&mut self) {
        self.of_contract = self.list.len();
        // Ranges have become narrower since examples were chosen.
        self.examples = Examples::default();
        for symbol in &mut self.list {
            let root = symbol.quotient_of.as_ref().map_or(&symbol.kind, |(root, _)| root);
            symbol.is_of_launch = !matches!(root, SymbolKind::Block(_));
        }
    }

    /// Whether a symbol of this number is the same number in all runs of the analysis.
    pub(super) fn is_of_all_runs(&self, id: SymbolId) -> bool {
        id.index() < self.of_contract && self.get(id).is_of_launch
    }

    /// Whether a form is the same for all threads of a launch.
    pub(super) fn is_of_launch(&self, form: &Linear) -> bool {
        let uniform = |lanes: &Lanes| lanes.uniform().is_some();
        let of_launch = |id: SymbolId| match self.get(id).kind.factors() {
            Some(factors) => factors.into_iter().all(|factor| self.is_of_launch(&Linear::symbol(factor))),
            None => self.get(id).is_of_launch,
        };
        uniform(&form.constant)
            && form.terms.iter().all(|(id, coefficient)| uniform(coefficient) && of_launch(*id))
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

    /// Takes in that a symbol lies in the range of another one.
    pub(super) fn narrow_range(&mut self, id: SymbolId, other: SymbolId) {
        let Symbol { low, high, narrow_high, is_of_tensor, .. } = *self.get(other);
        let symbol = &mut self.list[id.index()];
        symbol.low = symbol.low.max(low);
        symbol.high = symbol.high.min(high);
        symbol.narrow_high = symbol.narrow_high.min(narrow_high);
        symbol.is_of_tensor |= is_of_tensor;
    }

    /// Splits a symbol by its residue.
    pub(super) fn split(&mut self, id: SymbolId, residue: Residue) {
        let symbol = self.get(id).clone();
        let Residue { modulus, residue } = residue;
        // How often a number is reached: for the least value rounded up, for the largest down.
        let down = |value: i128| (value - i128::from(residue)).div_euclid(i128::from(modulus));
        let up = |value: i128| -(i128::from(residue) - value).div_euclid(i128::from(modulus));
        let range = (up(symbol.low), down(symbol.high));
        let kind = SymbolKind::Derived(self.list.len() as u32);
        let name = format!("({} / {modulus})", symbol.name);
        let (root, by) = symbol.quotient_of.unwrap_or((symbol.kind, 1));
        let quotient = self.add(Symbol {
            narrow_low: up(symbol.narrow_low),
            narrow_high: down(symbol.narrow_high),
            quotient_of: Some((root, by.saturating_mul(modulus))),
            is_of_launch: symbol.is_of_launch,
            ..Symbol::new(kind, range, symbol.scope, name)
        });
        let form =
            Linear { constant: Lanes::Uniform(residue), terms: vec![(quotient, Lanes::Uniform(modulus))] };
        self.replace(id, form);
    }

    /// The product of two forms; `None` on overflow or where a product of symbols has not come up in the analysis.
    pub fn product(&self, a: &Linear, b: &Linear) -> Option<Linear> {
        let mut out = Linear::constant(a.constant.multiply(&b.constant)?);
        for (symbol, coefficient) in &a.terms {
            let coefficient = coefficient.multiply(&b.constant)?;
            out = out.add_scaled(&Linear::symbol(*symbol), &coefficient)?;
        }
        for (symbol, coefficient) in &b.terms {
            let coefficient = coefficient.multiply(&a.constant)?;
            out = out.add_scaled(&Linear::symbol(*symbol), &coefficient)?;
        }
        for (x, p) in &a.terms {
            for (y, q) in &b.terms {
                let kind = SymbolKind::Product((*x).min(*y), (*x).max(*y));
                let product = self.find(&kind)?;
                out = out.add_scaled(&Linear::symbol(product), &p.multiply(q)?)?;
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
                    let scope = self.get(x).scope.min(self.get(y).scope);
                    let name = format!("{} * {}", self.get(x).name, self.get(y).name);
                    let interior = match (&self.get(x).interior, &self.get(y).interior) {
                        (None, None) => None,
                        (a, b) => {
                            let a = a.clone().unwrap_or(Linear::symbol(x));
                            let b = b.clone().unwrap_or(Linear::symbol(y));
                            self.multiply(&a, &b)
                        }
                    };
                    let range = (i128::MIN / 4, i128::MAX / 4);
                    self.add(Symbol { interior, ..Symbol::new(kind, range, scope, name) });
                }
            }
        }
        self.product(a, b)
    }

    /// Whether a symbol is an extent or a stride of a tensor, what is left of one, or a product of such.
    pub(super) fn is_of_tensors(&self, id: SymbolId) -> bool {
        let symbol = self.get(id);
        if let SymbolKind::Product(a, b) = symbol.kind
            && self.is_of_tensors(a)
            && self.is_of_tensors(b)
        {
            return true;
        }
        let root = symbol.quotient_of.as_ref().and_then(|(root, _)| self.find(root));
        symbol.is_of_tensor || root.is_some_and(|root| self.get(root).is_of_tensor)
    }

    /// Whether a symbol is a loop's counter, or what is left of one.
    pub(super) fn counts_rounds(&self, id: SymbolId) -> bool {
        let symbol = self.get(id);
        let root = symbol.quotient_of.as_ref().map_or(&symbol.kind, |(root, _)| root);
        matches!(root, SymbolKind::Counter(..) | SymbolKind::Round(..))
    }

    /// Whether a symbol stays the same while a loop goes round that began when there were so many symbols.
    pub(super) fn is_fixed(&self, id: SymbolId, count: usize) -> bool {
        match self.get(id).kind {
            SymbolKind::Extent(..)
            | SymbolKind::Stride(..)
            | SymbolKind::Misalignment(..)
            | SymbolKind::Scalar(_)
            | SymbolKind::Block(_)
            | SymbolKind::Grid(_) => true,
            SymbolKind::Product(a, b) => self.is_fixed(a, count) && self.is_fixed(b, count),
            // The symbol of a loop is made once, however often the loop is analysed.
            SymbolKind::Counter(..) | SymbolKind::Round(..) | SymbolKind::Later(..) => false,
            SymbolKind::Derived(_) | SymbolKind::Opaque(_) => id.index() < count && !self.counts_rounds(id),
        }
    }

    /// Whether a symbol, or a factor of it, is among these.
    pub(super) fn is_one_of(&self, id: SymbolId, list: &[SymbolId]) -> bool {
        match self.get(id).kind {
            SymbolKind::Product(a, b) => self.is_one_of(a, list) || self.is_one_of(b, list),
            SymbolKind::Extent(..)
            | SymbolKind::Stride(..)
            | SymbolKind::Misalignment(..)
            | SymbolKind::Scalar(_)
            | SymbolKind::Block(_)
            | SymbolKind::Grid(_)
            | SymbolKind::Counter(..)
            | SymbolKind::Round(..)
            | SymbolKind::Later(..)
            | SymbolKind::Derived(_)
            | SymbolKind::Opaque(_) => list.contains(&id),
        }
    }

    /// The products of a form with symbols that have come up: the symbol, and the product.
    pub(super) fn products_of(&self, form: &Linear) -> Vec<(SymbolId, Linear)> {
        let Some((factor, _)) = form.terms.first() else { return Vec::new() };
        let others = self.list.iter().filter_map(|symbol| match symbol.kind {
            SymbolKind::Product(a, b) if a == *factor => Some(b),
            SymbolKind::Product(a, b) if b == *factor => Some(a),
            _ => None,
        });
        others.filter_map(|other| Some((other, self.product(form, &Linear::symbol(other))?))).collect()
    }

    /// Over which threads a form is the same: a lane, a warp, or the block.
    pub fn scope(&self, form: &Linear) -> Scope {
        let coefficients =
            form.terms.iter().map(|(symbol, coefficient)| coefficient.scope().min(self.get(*symbol).scope));
        coefficients.fold(form.constant.scope(), Scope::min)
    }

    /// The form for the threads that went to these sides of branches: a symbol that is one of several values is the one that
    /// they make of it.
    pub(super) fn along(&self, form: &Linear, ways: &[Way]) -> Linear {
        let mut form = form.clone();
        let mut next = 0;
        while let Some((symbol, _)) = form.terms.get(next) {
            let possible = |case: &&Case| {
                let excluded = |way: &Way| ways.contains(&(way.0, !way.1));
                !case.ways.iter().any(excluded)
            };
            let symbol = *symbol;
            let cases: Vec<&Case> = self.get(symbol).cases.iter().filter(possible).collect();
            let only = match cases.as_slice() {
                [only] if self.get(symbol).cases.len() > 1 => form.substitute(symbol, &only.value),
                _ => None,
            };
            match only {
                Some(known) => (form, next) = (known, 0),
                None => next += 1,
            }
        }
        form
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
