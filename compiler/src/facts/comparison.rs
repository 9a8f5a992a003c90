//! Comparisons, what `&&` and `||` make of them, and choices by them.

use super::lanes::{Lanes, Mask};
use super::linear::Linear;
use super::prove::{follows, tighten};
use super::symbol::{Case, Symbol, SymbolKind};
use super::truth::{Truth, Value};
use super::walk::Walk;
use crate::ir::{CompareOp, Expr, Handle, Scalar, Scope};
use std::rc::Rc;

/// A symbol that ranges this far settles no comparison for some threads only.
const FAR: i128 = 1 << 40;

impl Walk<'_> {
    /// `a && b`, `a || b`. The right side counts only where the left one leaves the result open, so what goes wrong in
    /// it elsewhere does not matter.
    pub(super) fn logical(&mut self, and: bool, a: Handle<Expr>, b: Handle<Expr>) -> Truth {
        let left = self.truth(a);
        let before = (self.escapes.len(), self.register_faults.len(), self.narrow);
        let mut right = self.truth(b);
        if (self.escapes.len(), self.register_faults.len(), self.narrow) != before {
            self.escapes.truncate(before.0);
            self.register_faults.truncate(before.1);
            self.narrow = before.2;
            let (scope, mask) = (self.enter(), self.mask.clone());
            let (decided, holds) = match and {
                true => (&left.known_false, &left.when_true),
                false => (&left.known_true, &left.when_false),
            };
            self.mask = mask.and(&decided.not());
            self.guards.extend(holds.iter().cloned());
            let learnt = self.guards.len();
            right = self.truth(b);
            // What defines symbols of the right side holds where that side counts.
            let defining = self.guards.split_off(learnt);
            if and {
                right.when_true.extend(defining);
            } else {
                right.when_false.extend(defining);
            }
            self.leave(scope);
            self.mask = mask;
        }
        if and { left.and(right) } else { left.or(right) }
    }

    pub(super) fn comparison(&mut self, op: CompareOp, a: Handle<Expr>, b: Handle<Expr>) -> Value {
        let (a, b) = match (self.value(a), self.value(b)) {
            (Value::Int(a), Value::Int(b)) => (a, b),
            (a, b) => {
                return Value::Truth(Truth::unknown(self.scope_of(&a).min(self.scope_of(&b))));
            }
        };
        let truth = match op {
            CompareOp::Less => self.at_least(&b, &a, 1),
            CompareOp::LessEqual => self.at_least(&b, &a, 0),
            CompareOp::Greater => self.at_least(&a, &b, 1),
            CompareOp::GreaterEqual => self.at_least(&a, &b, 0),
            CompareOp::Equal => self.equal(&a, &b),
            CompareOp::NotEqual => self.equal(&a, &b).not(),
        };
        Value::Truth(truth)
    }

    /// `a ≥ b + by`.
    pub(super) fn at_least(&mut self, a: &Linear, b: &Linear, by: i64) -> Truth {
        let Some(form) = a.sub(b).and_then(|form| form.offset(-by)) else { return Truth::data() };
        if let Some(lanes) = form.known() {
            return Truth::known(mask_of(lanes, |value| value >= 0));
        }
        let negated = form.scale(&Lanes::Uniform(-1)).and_then(|form| form.offset(-1));
        // Most comparisons are open, so a short look must do: for the thread that decides, with few facts.
        let facts = self.all_facts();
        let settled = |goal: &Linear| {
            let goal = goal.for_least(&self.mask).unwrap_or_else(|| goal.clone());
            follows(&goal, &facts, &self.mask, &self.symbols)
        };
        if settled(&form) {
            return Truth::known(Mask::Uniform(true));
        }
        if negated.as_ref().is_some_and(settled) {
            return Truth::known(Mask::Uniform(false));
        }
        // An edge cuts the threads once in each direction of the block; anything else may pick any of them.
        let same = form.terms.iter().all(|(symbol, _)| self.symbols.get(*symbol).scope >= Scope::Warp);
        let cuts_once = |lanes: &Lanes| lanes.is_monotone(self.kernel.block);
        let arbitrary =
            !(same && cuts_once(&form.constant) && form.terms.iter().all(|(_, lanes)| cuts_once(lanes)));
        let (known_true, known_false) = self.settled_threads(&form);
        Truth {
            known_true,
            known_false,
            scope: self.symbols.scope(&form),
            exactly_true: true,
            exactly_false: negated.is_some(),
            when_true: vec![Rc::new(tighten(form))],
            when_false: negated.map(|form| Rc::new(tighten(form))).into_iter().collect(),
            arbitrary,
            assigned: None,
            ways_true: Vec::new(),
            ways_false: Vec::new(),
        }
    }

    /// The threads for which a form is certainly non-negative, and those for which it is certainly negative, by the
    /// ranges of its symbols.
    fn settled_threads(&self, form: &Linear) -> (Mask, Mask) {
        let unknown = Linear { constant: Lanes::Uniform(0), terms: form.terms.clone() };
        let (low, high) = self.bounds(&unknown);
        let mask = |test: &dyn Fn(i128) -> bool| mask_of(&form.constant, |value| test(i128::from(value)));
        (
            if low < -FAR { Mask::Uniform(false) } else { mask(&|value| value + low >= 0) },
            if high > FAR { Mask::Uniform(false) } else { mask(&|value| value + high < 0) },
        )
    }

    fn equal(&mut self, a: &Linear, b: &Linear) -> Truth {
        let Some(form) = a.sub(b) else { return Truth::data() };
        if let Some(lanes) = form.known() {
            return Truth::known(mask_of(lanes, |value| value == 0));
        }
        let negated = form.scale(&Lanes::Uniform(-1));
        // Of numbers that one side bounds, `==` is `<=`: where it does not hold, they are at least one apart.
        if self.plainly_holds(&form) {
            return self.at_least(b, a, 0);
        }
        if negated.as_ref().is_some_and(|negated| self.plainly_holds(negated)) {
            return self.at_least(a, b, 0);
        }
        let scope = self.symbols.scope(&form);
        Truth {
            known_true: Mask::Uniform(false),
            known_false: Mask::Uniform(false),
            arbitrary: scope < Scope::Warp,
            scope,
            assigned: None,
            exactly_true: negated.is_some(),
            exactly_false: false,
            when_true: negated.into_iter().chain([form]).map(Rc::new).collect(),
            when_false: Vec::new(),
            ways_true: Vec::new(),
            ways_false: Vec::new(),
        }
    }

    /// One of two values, by a condition.
    pub(super) fn join(&mut self, condition: &Truth, a: Value, b: Value, scalar: Scalar) -> Value {
        match (a, b) {
            (Value::Int(a), Value::Int(b)) => {
                if a == b {
                    return Value::Int(a);
                }
                let settled = condition.known_true.or(&condition.known_false).or(&self.mask.not());
                if settled.is_full() {
                    return Value::Int(Linear::select(&condition.known_true, &a, &b, self.threads));
                }
                let ((low_a, high_a), (low_b, high_b)) =
                    (self.bounds_of(&a, scalar), self.bounds_of(&b, scalar));
                let scope = condition.scope.min(self.common_scope(&a, &b));
                let number = self.symbols.len() as u32;
                let range = (low_a.min(low_b), high_a.max(high_b));
                let interior = if condition.arbitrary { None } else { self.varying_side(&a, &b) };
                let cases = vec![
                    Case { value: a, facts: condition.when_true.clone(), ways: condition.ways_true.clone() },
                    Case {
                        value: b,
                        facts: condition.when_false.clone(),
                        ways: condition.ways_false.clone(),
                    },
                ];
                let kind = SymbolKind::Derived(number);
                let new = Symbol::new(kind, range, scope, "one of two values");
                let id = self.symbols.add(Symbol { interior, cases, ..new });
                Value::Int(Linear::symbol(id))
            }
            (Value::Truth(a), Value::Truth(b)) if a.is_known() && b.is_known() && condition.is_known() => {
                let chosen =
                    condition.known_true.and(&a.known_true).or(&condition.known_false.and(&b.known_true));
                Value::Truth(Truth::known(chosen))
            }
            // What `condition = condition && …` is lowered to where the right side holds loads, and its like with `||`.
            (Value::Truth(a), Value::Truth(b)) if b.is_same(condition) => {
                Value::Truth(condition.clone().and(a))
            }
            (Value::Truth(a), Value::Truth(b)) if a.is_same(condition) => {
                Value::Truth(condition.clone().or(b))
            }
            // Where one of them is certain, the choice is a conjunction or a disjunction.
            (Value::Truth(a), Value::Truth(b)) if a.known_true.is_full() && b.known_false.is_full() => {
                Value::Truth(Truth { assigned: None, ..condition.clone() })
            }
            (Value::Truth(a), Value::Truth(b)) if a.known_false.is_full() && b.known_true.is_full() => {
                Value::Truth(condition.clone().not())
            }
            (Value::Truth(a), Value::Truth(b)) if a.known_true.is_full() => {
                Value::Truth(condition.clone().or(b))
            }
            (Value::Truth(a), Value::Truth(b)) if a.known_false.is_full() => {
                Value::Truth(condition.clone().not().and(b))
            }
            (Value::Truth(a), Value::Truth(b)) if b.known_true.is_full() => {
                Value::Truth(condition.clone().not().or(a))
            }
            (Value::Truth(a), Value::Truth(b)) if b.known_false.is_full() => {
                Value::Truth(condition.clone().and(a))
            }
            (Value::Truth(a), Value::Truth(b)) => {
                Value::Truth(Truth::unknown(condition.scope.min(a.scope).min(b.scope)))
            }
            (Value::Data(a), Value::Data(b)) => Value::Data(condition.scope.min(a).min(b)),
            (Value::Int(_) | Value::Truth(_) | Value::Data(_), _) => self.opaque(scalar, Scope::Lane),
        }
    }
}

fn mask_of(lanes: &Lanes, test: impl Fn(i64) -> bool) -> Mask {
    match lanes {
        Lanes::Uniform(value) => Mask::Uniform(test(*value)),
        Lanes::Each(values) => {
            let mut out = vec![false; values.len()];
            let mut i = 0;
            while i < out.len() {
                out[i] = test(values[i]);
                i += 1;
            }
            Mask::each(out)
        }
    }
}
