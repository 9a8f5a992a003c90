//! Operations that are not linear: division, bits, extremes. Exact where they can be, else a symbol with the facts that
//! define it.

use super::eval::apply;
use super::lanes::Lanes;
use super::linear::Linear;
use super::prove::tighten;
use super::symbol::{Case, Function, Operation, Symbol, SymbolKind};
use super::walk::Walk;
use super::width::FORM_LIMIT;
use crate::ir::{BinaryOp, Scalar, Scope};
use std::borrow::Cow;
use std::rc::Rc;
use tileproof_model::access::LANES;
use tileproof_model::limits::MAX_THREADS_PER_BLOCK;

/// Extents that are known to be at most this are not taken to hold a whole warp: as many as the largest block has threads.
const SHORT_ROW: i128 = MAX_THREADS_PER_BLOCK as i128;

/// One less than a power of two: up to here a number counts as small.
const SMALL: i128 = 1023;

/// A symbol for the result of an operation that is not linear.
struct Derivation<'a> {
    operation: Operation,
    operands: (&'a Linear, &'a Linear),
    /// The least and the largest value.
    range: (i128, i128),
    /// See [`Symbol::interior`].
    interior: Option<Linear>,
    /// See [`Symbol::cases`].
    cases: Vec<Case>,
    /// Its name in messages.
    name: Cow<'static, str>,
}

impl Walk<'_> {
    /// The result of an operation that is not linear: a symbol with a range. Whether it is new, so that the facts that
    /// define it must be added.
    fn derived(&mut self, derivation: Derivation<'_>) -> (Linear, bool) {
        let Derivation { operation, operands: (a, b), range, interior, cases, name } = derivation;
        let known = self.derived.iter().find(|(known, _)| {
            known.operation == operation && known.operands.0 == *a && known.operands.1 == *b
        });
        if let Some((_, id)) = known {
            return (Linear::symbol(*id), false);
        }
        let scope = self.common_scope(a, b);
        let kind = SymbolKind::Derived(self.symbols.len() as u32);
        let is_of_launch = self.symbols.is_of_launch(a) && self.symbols.is_of_launch(b);
        let new = Symbol::new(kind, range, scope, name);
        let function = Rc::new(Function { operation, operands: (a.clone(), b.clone()) });
        let is = Some(function.clone());
        let id = self.symbols.add(Symbol { interior, cases, is_of_launch, function: is, ..new });
        self.derived.push((function, id));
        (Linear::symbol(id), true)
    }

    /// Adds facts that define a symbol. They are scoped like guards: they were derived from what holds here, and may not
    /// hold elsewhere.
    fn define<const N: usize>(&mut self, facts: [Option<Linear>; N]) {
        self.guards.extend(facts.into_iter().flatten().map(|fact| Rc::new(tighten(fact))));
    }

    /// Whether a number is at least 1: by itself, or because a product with it is.
    pub(super) fn positive(&self, form: &Linear) -> bool {
        let at_least_one = |form: &Linear| form.offset(-1).is_some_and(|room| self.holds(&room));
        at_least_one(form)
            || self.holds(form)
                && self.symbols.products_of(form).iter().any(|(_, product)| at_least_one(product))
    }

    /// The product, and how it compares with others of the same factor: of a < b and 0 ≤ s follows a × s ≤ b × s − s, and
    /// of a ≤ b follows a × s ≤ b × s. The product of non-negative numbers is one too.
    pub(super) fn multiply(&mut self, a: &Linear, b: &Linear) -> Option<Linear> {
        let product = self.symbols.multiply(a, b)?;
        if a.known().is_none() && b.known().is_none() && self.bounds(&product).0 < 0 {
            let both = self.holds(a) && self.holds(b);
            self.define([both.then(|| product.clone())]);
        }
        for (a, factor) in [(a, b), (b, a)] {
            if a.known().is_some() || !self.holds(factor) {
                continue;
            }
            for (other, larger) in self.symbols.products_of(factor) {
                let Some(room) = Linear::symbol(other).sub(a) else { continue };
                if room.offset(-1).is_some_and(|room| self.plainly_holds(&room)) {
                    let below = larger.sub(factor).and_then(|below| below.sub(&product));
                    self.define([below]);
                } else if self.plainly_holds(&room) {
                    self.define([larger.sub(&product)]);
                }
            }
        }
        Some(product)
    }

    /// Quotient and remainder of non-negative numbers.
    pub(super) fn divide(&mut self, a: &Linear, b: &Linear) -> Option<(Linear, Linear)> {
        if !self.holds(a) {
            return None;
        }
        match b.known_uniform() {
            Some(divisor) => self.divide_down(a, divisor),
            None => self.divide_symbolic(a, b),
        }
    }

    /// Quotient, rounded down, and remainder, not below zero, by a known number, which is positive.
    pub(super) fn divide_down(&mut self, a: &Linear, divisor: i64) -> Option<(Linear, Linear)> {
        if divisor <= 0 {
            return None;
        }
        // Exact where all coefficients are multiples of the divisor.
        let (mut exact, mut asked) = (true, false);
        for (symbol, coefficient) in &a.terms {
            let remainder = coefficient.map(|value| Some(value.rem_euclid(divisor)))?;
            if remainder.is_zero() {
                continue;
            }
            exact = false;
            // Of a block index only where threads differ by it: it takes many values, and stages are by loops.
            if self.symbols.counts_rounds(*symbol) || !self.is_uniform(a) {
                asked |= self.request(a, *symbol, divisor / coefficient.gcd(divisor));
            }
        }
        if exact {
            let quotient = a.map(|value| Some(value.div_euclid(divisor)))?;
            let remainder = a.constant.map(|value| Some(value.rem_euclid(divisor)))?;
            return Some((quotient, Linear::constant(remainder)));
        }
        let (low, high) = self.bounds(a);
        let low = if low < 0 && self.holds(a) { 0 } else { low };
        let room = || a.scale(&Lanes::Uniform(-1)).and_then(|negated| negated.offset(FORM_LIMIT));
        let high = match high > i128::from(FORM_LIMIT) && room().is_some_and(|room| self.holds(&room)) {
            true => i128::from(FORM_LIMIT),
            false => high,
        };
        let (quotient, new) = self.derived(Derivation {
            operation: Operation::Quotient,
            operands: (a, &Linear::int(divisor)),
            range: (low.div_euclid(i128::from(divisor)), high.div_euclid(i128::from(divisor))),
            interior: None,
            cases: Vec::new(),
            name: "a quotient".into(),
        });
        if asked {
            self.pending.extend(quotient.lone_symbol());
        }
        let remainder = a.sub(&quotient.scale(&Lanes::Uniform(divisor))?)?;
        if new {
            let room = remainder.scale(&Lanes::Uniform(-1)).and_then(|room| room.offset(divisor - 1));
            self.define([Some(remainder.clone()), room]);
            self.bound_quotient(a, divisor, &quotient);
        }
        Some((quotient, remainder))
    }

    /// Of a ≤ divisor × s + r follows a / divisor ≤ s + r / divisor, rounded down, and likewise of ≥.
    fn bound_quotient(&mut self, a: &Linear, divisor: i64, quotient: &Linear) {
        let Some((symbol, _)) = a.terms.first() else { return };
        let divides = |lanes: &Lanes| {
            lanes.map(|value| Some(value.rem_euclid(divisor))).is_some_and(|rest| rest.is_zero())
        };
        // A bound of the quotient, of one of the dividend whose symbols come in multiples of the divisor.
        let divided = |bound: Option<Linear>| {
            let bound = bound.filter(|bound| !bound.terms.is_empty())?;
            let all = bound.terms.iter().all(|(_, coefficient)| divides(coefficient));
            all.then(|| bound.map(|value| Some(value.div_euclid(divisor))))?
        };
        for fact in self.all_facts() {
            if fact.find(*symbol).is_none() {
                continue;
            }
            let (most, least) = (divided(fact.add(a)), divided(a.sub(&fact)));
            self.define([
                most.and_then(|most| most.sub(quotient)),
                least.and_then(|least| quotient.sub(&least)),
            ]);
        }
    }

    /// `a / b` or `a % b` rounded towards zero, of a positive divisor: what is known whatever the sign of `a`.
    pub(super) fn divide_truncated(&mut self, op: BinaryOp, a: &Linear, b: &Linear) -> Option<Linear> {
        let ((low, high), most) = (self.bounds(a), self.bounds(b).1.saturating_sub(1));
        let divides = op == BinaryOp::Div;
        let (low, high) = (low.min(0), high.max(0));
        let range = if divides { (low, high) } else { (low.max(-most), high.min(most)) };
        let name = if divides { "a quotient" } else { "a remainder" };
        let (operation, operands) = (Operation::Binary(op), (a, b));
        let (form, new) = self.derived(Derivation {
            operation,
            operands,
            range,
            interior: None,
            cases: Vec::new(),
            name: name.into(),
        });
        if new && !divides {
            let room = |form: Option<Linear>| form.and_then(|form| form.offset(-1));
            self.define([room(b.sub(&form)), room(b.add(&form))]);
        }
        Some(form)
    }

    /// Whether a divisor is the length of rows that hold whole warps, but for their edges: it is known to be at least as long as a
    /// warp, or what only extents and strides of tensors determine. Any other number may be small.
    fn is_row(&self, divisor: &Linear) -> bool {
        let (low, high) = self.bounds(divisor);
        let of_tensors = || divisor.terms.iter().all(|(symbol, _)| self.symbols.is_of_tensors(*symbol));
        self.is_uniform(divisor) && (low >= LANES as i128 || high > SHORT_ROW && of_tensors())
    }

    fn divide_symbolic(&mut self, a: &Linear, b: &Linear) -> Option<(Linear, Linear)> {
        // Away from the edges of rows, all lanes of a warp are in one row.
        let range = (0, self.bounds(a).1);
        let row = self.is_row(b).then(|| {
            let kind = SymbolKind::Derived(self.symbols.len() as u32);
            Linear::symbol(self.symbols.add(Symbol::new(kind, range, Scope::Warp, "a quotient")))
        });
        let (quotient, new) = self.derived(Derivation {
            operation: Operation::Quotient,
            operands: (a, b),
            range,
            interior: row,
            cases: Vec::new(),
            name: "a quotient".into(),
        });
        let remainder = a.sub(&self.symbols.multiply(&quotient, b)?)?;
        if new {
            let room = b.sub(&remainder).and_then(|room| room.offset(-1));
            self.define([a.sub(&quotient), Some(remainder.clone()), room]);
            // Of a < b × s follows a / b < s, of a positive b, and of a ≥ b × s follows a / b ≥ s.
            let products = match b.lone_symbol().is_some() || self.positive(b) {
                true => self.symbols.products_of(b),
                false => Vec::new(),
            };
            let multiple = a.sub(&remainder)?;
            for (other, product) in products {
                let other = Linear::symbol(other);
                if other == quotient {
                    continue;
                }
                let below = product.sub(a).and_then(|room| room.offset(-1));
                if below.is_some_and(|room| self.plainly_holds(&room)) {
                    self.define([other.sub(&quotient).and_then(|room| room.offset(-1))]);
                } else if a.sub(&product).is_some_and(|room| self.plainly_holds(&room)) {
                    self.define([quotient.sub(&other), multiple.sub(&product)]);
                }
            }
        }
        Some((quotient, remainder))
    }

    /// What a type keeps of a number; whether it is new. `None` for a type without a range.
    pub(super) fn kept(&mut self, form: &Linear, scalar: Scalar, name: String) -> Option<(Linear, bool)> {
        let (least, most) = scalar.range()?;
        if let Some(lanes) = form.known()
            && let Ok(size) = i64::try_from(most - least + 1)
            && let Some(lanes) = lanes.map(|value| {
                let least = least as i64;
                Some(value.checked_sub(least)?.rem_euclid(size) + least)
            })
        {
            return Some((Linear::constant(lanes), false));
        }
        Some(self.derived(Derivation {
            operation: Operation::Wrapped(scalar),
            operands: (form, &Linear::int(0)),
            range: (least, most),
            interior: None,
            cases: Vec::new(),
            name: name.into(),
        }))
    }

    /// Where a type holds a number: what it kept where that was not known is the same.
    pub(super) fn is_kept(&mut self, form: &Linear, scalar: Scalar) {
        let operation = Operation::Wrapped(scalar);
        let known =
            self.derived.iter().find(|(own, _)| own.operation == operation && own.operands.0 == *form);
        if let Some((_, id)) = known {
            let kept = Linear::symbol(*id);
            self.define([kept.sub(form), form.sub(&kept)]);
        }
    }

    /// An upper bound: by the ranges of the symbols, or a small one that what is known here says.
    fn most(&self, form: &Linear) -> i128 {
        let by_ranges = self.bounds(form).1;
        let at_most = |bound: i128| {
            let negated = form.scale(&Lanes::Uniform(-1));
            let room = negated.and_then(|form| form.offset(bound as i64));
            room.is_some_and(|room| self.holds(&room))
        };
        let mut bound = SMALL;
        if by_ranges > bound && !at_most(bound) {
            return by_ranges;
        }
        while bound / 2 >= by_ranges.max(1) {
            bound /= 2;
        }
        while bound > 1 && at_most(bound / 2) {
            bound /= 2;
        }
        bound.min(by_ranges)
    }

    /// The quotient rounded up, of a divisor that only the launch knows.
    pub(super) fn divide_up_symbolic(&mut self, a: &Linear, b: &Linear) -> Option<Linear> {
        let high = self.divide(a, b)?.0.offset(1)?;
        let (form, new) = self.derived(Derivation {
            operation: Operation::Binary(BinaryOp::DivCeil),
            operands: (a, b),
            range: (0, self.bounds(&high).1),
            interior: None,
            cases: Vec::new(),
            name: "a quotient".into(),
        });
        if new {
            self.define([high.sub(&form)]);
        }
        Some(form)
    }

    /// `a << b` of non-negative numbers where `b` is not known but bounded, below the width.
    pub(super) fn shift_up(&mut self, a: &Linear, b: &Linear) -> Option<Linear> {
        if !(self.holds(a) && self.holds(b)) {
            return None;
        }
        let at_most = |bound: i64| {
            let room = b.scale(&Lanes::Uniform(-1)).and_then(|form| form.offset(bound));
            room.is_some_and(|room| self.holds(&room))
        };
        // The least bound, by halves.
        let (mut low, mut high) = (0, 61);
        if !at_most(high) {
            return None;
        }
        while low < high {
            let middle = (low + high) / 2;
            if at_most(middle) { high = middle } else { low = middle + 1 }
        }
        let most = self.bounds(a).1.checked_mul(1i128 << high)?;
        let (form, new) = self.derived(Derivation {
            operation: Operation::Binary(BinaryOp::Shl),
            operands: (a, b),
            range: (0, most),
            interior: None,
            cases: Vec::new(),
            name: "a shifted number".into(),
        });
        if new {
            let room = a.scale(&Lanes::Uniform(1 << high)).and_then(|most| most.sub(&form));
            self.define([form.sub(a), room]);
        }
        Some(form)
    }

    /// `a >> b` of a non-negative number where `b` is not known.
    pub(super) fn shift_down(&mut self, a: &Linear, b: &Linear) -> Option<Linear> {
        if !self.holds(a) {
            return None;
        }
        let (form, new) = self.derived(Derivation {
            operation: Operation::Binary(BinaryOp::Shr),
            operands: (a, b),
            range: (0, self.bounds(a).1),
            interior: None,
            cases: Vec::new(),
            name: "a shifted number".into(),
        });
        if new {
            self.define([a.sub(&form)]);
        }
        Some(form)
    }

    /// `&`, `|`, `^`: exact on the low bits that no symbol reaches.
    pub(super) fn bitwise(&mut self, op: BinaryOp, a: &Linear, b: &Linear) -> Option<Linear> {
        let (form, lanes) = match (a.known(), b.known()) {
            (_, Some(lanes)) => (a, lanes),
            (Some(lanes), _) => (b, lanes),
            (None, None) => return self.bitwise_derived(op, a, b),
        };
        let (least, most) = (lanes.min(&self.mask)?.0, lanes.max(&self.mask)?);
        if least < 0 || most >= 1 << 61 {
            return None;
        }
        let block = ((most + 1) as u64).next_power_of_two() as i64;
        let (mut exact, mut asked) = (true, false);
        for (symbol, coefficient) in &form.terms {
            if !coefficient.map(|value| Some(value.rem_euclid(block)))?.is_zero() {
                exact = false;
                asked |= self.request(form, *symbol, block / coefficient.gcd(block));
            }
        }
        if !exact {
            let derived = self.bitwise_derived(op, a, b)?;
            if asked {
                self.pending.extend(derived.lone_symbol());
            }
            return Some(derived);
        }
        let low = form.constant.map(|value| Some(value.rem_euclid(block)))?;
        let combined = low.zip(lanes, |low, other| apply(op, low, other))?;
        match op {
            BinaryOp::And => Some(Linear::constant(combined)),
            _ => form.sub(&Linear::constant(low))?.add(&Linear::constant(combined)),
        }
    }

    fn bitwise_derived(&mut self, op: BinaryOp, a: &Linear, b: &Linear) -> Option<Linear> {
        let positive: Vec<&Linear> = [a, b].into_iter().filter(|form| self.holds(form)).collect();
        if op == BinaryOp::And && positive.len() == 1 {
            return self.intersection(a, b, positive[0]);
        }
        if positive.len() < 2 {
            return None;
        }
        let most = self.most(a).max(self.most(b));
        let high = (u128::try_from(most).ok()?.checked_add(1)?.checked_next_power_of_two()? - 1) as i128;
        let (form, new) = self.derived(Derivation {
            operation: Operation::Binary(op),
            operands: (a, b),
            range: (0, high),
            interior: None,
            cases: Vec::new(),
            name: "a bit pattern".into(),
        });
        if new {
            // An intersection is below both, a union above; of a symmetric difference only the range is known.
            if op == BinaryOp::And {
                self.define([a.sub(&form), b.sub(&form)]);
            } else if op == BinaryOp::Or {
                self.define([form.sub(a), form.sub(b)]);
            }
        }
        Some(form)
    }

    /// `a & b`, of which one is known to be non-negative: so is the result, and not above that one.
    fn intersection(&mut self, a: &Linear, b: &Linear, positive: &Linear) -> Option<Linear> {
        let (form, new) = self.derived(Derivation {
            operation: Operation::Binary(BinaryOp::And),
            operands: (a, b),
            range: (0, self.bounds(positive).1),
            interior: None,
            cases: Vec::new(),
            name: "a bit pattern".into(),
        });
        if new {
            self.define([positive.sub(&form)]);
        }
        Some(form)
    }

    pub(super) fn extremum(
        &mut self,
        op: BinaryOp,
        a: &Linear,
        b: &Linear,
        scalar: Scalar,
    ) -> Option<Linear> {
        let min = op == BinaryOp::Min;
        let operation = Operation::Binary(op);
        // Minima of data are often chained, and rarely lead to an index. What could not be settled once is not tried as hard
        // again.
        let tried = Function { operation, operands: (a.clone(), b.clone()) };
        let is_hard = scalar.is_index() && !self.unsettled.contains(&tried);
        let settled = |goal: Linear| match is_hard {
            true => self.holds(&goal),
            false => self.plainly_holds(&goal),
        };
        if settled(b.sub(a)?) {
            return Some(if min { a.clone() } else { b.clone() });
        }
        if settled(a.sub(b)?) {
            return Some(if min { b.clone() } else { a.clone() });
        }
        if is_hard {
            self.unsettled.push(tried);
        }
        let ((low_a, high_a), (low_b, high_b)) = (self.bounds_of(a, scalar), self.bounds_of(b, scalar));
        let range =
            if min { (low_a.min(low_b), high_a.min(high_b)) } else { (low_a.max(low_b), high_a.max(high_b)) };
        // Where both the lesser and the larger of two numbers occur, one of them is not the one that varies.
        let opposite = Operation::Binary(if min { BinaryOp::Max } else { BinaryOp::Min });
        let both = self.derived.iter().filter(|(known, _)| known.operation == opposite).any(|(known, _)| {
            known.operands == (a.clone(), b.clone()) || known.operands == (b.clone(), a.clone())
        });
        let interior = if both { None } else { self.varying_side(a, b) };
        let (a_is_less, b_is_less) = (b.sub(a), a.sub(b));
        let case = |value: &Linear, fact: Option<Linear>| Case {
            value: value.clone(),
            facts: fact.into_iter().map(Rc::new).collect(),
            ways: Vec::new(),
        };
        let cases = match min {
            true => vec![case(a, a_is_less), case(b, b_is_less)],
            false => vec![case(a, b_is_less), case(b, a_is_less)],
        };
        let name = if min { "a minimum" } else { "a maximum" }.into();
        let (form, new) =
            self.derived(Derivation { operation, operands: (a, b), range, interior, cases, name });
        if new {
            let rooms = |a: &Linear, b: &Linear| if min { a.sub(b) } else { b.sub(a) };
            self.define([rooms(a, &form), rooms(b, &form)]);
        }
        Some(form)
    }

    /// Of two values of which an edge decides, the one away from the edge: that which differs between threads.
    pub(super) fn varying_side(&self, a: &Linear, b: &Linear) -> Option<Linear> {
        match (self.is_uniform(a), self.is_uniform(b)) {
            (false, true) => Some(a.clone()),
            (true, false) => Some(b.clone()),
            (true, true) | (false, false) => None,
        }
    }
}
