//! Conditions: for which threads they are known, and what holds where they are true.

use super::lanes::{Lanes, Mask};
use super::linear::Linear;
use super::prove::{FactList, tighten};
use super::walk::{Value, Walk};
use crate::ir::{CompareOp, Expr, Handle};
use std::rc::Rc;

/// A symbol that ranges this far settles no comparison for some threads only.
const FAR: i128 = 1 << 40;

/// A condition of every thread.
#[derive(Clone, Debug)]
pub(super) struct Truth {
    /// The threads for which it is certainly true.
    pub(super) known_true: Mask,
    /// The threads for which it is certainly false.
    pub(super) known_false: Mask,
    /// What holds where it is true.
    pub(super) when_true: FactList,
    /// What holds where it is false.
    pub(super) when_false: FactList,
    /// Whether it may be true for any subset of the other threads. Otherwise it is the same for all of them, or
    /// cuts them at an edge.
    pub(super) arbitrary: bool,
}

impl Truth {
    pub(super) fn known(mask: Mask) -> Truth {
        Truth {
            known_false: mask.not(),
            known_true: mask,
            when_true: Vec::new(),
            when_false: Vec::new(),
            arbitrary: false,
        }
    }

    /// Unknown, and possibly different for every thread.
    pub(super) fn data() -> Truth {
        Truth { arbitrary: true, ..Truth::uniform() }
    }

    /// Unknown, but the same for all threads.
    pub(super) fn uniform() -> Truth {
        Truth {
            known_true: Mask::Uniform(false),
            known_false: Mask::Uniform(false),
            when_true: Vec::new(),
            when_false: Vec::new(),
            arbitrary: false,
        }
    }

    pub(super) fn not(self) -> Truth {
        Truth {
            known_true: self.known_false,
            known_false: self.known_true,
            when_true: self.when_false,
            when_false: self.when_true,
            arbitrary: self.arbitrary,
        }
    }

    pub(super) fn and(mut self, other: Truth) -> Truth {
        self.when_true.extend(other.when_true);
        // Which side made it false is known only where the other one is certain.
        let when_false = match (self.known_true.is_full(), other.known_true.is_full()) {
            (true, _) => other.when_false,
            (_, true) => self.when_false,
            (false, false) => Vec::new(),
        };
        Truth {
            known_true: self.known_true.and(&other.known_true),
            known_false: self.known_false.or(&other.known_false),
            when_true: self.when_true,
            when_false,
            arbitrary: self.arbitrary || other.arbitrary,
        }
    }

    pub(super) fn is_known(&self) -> bool {
        self.known_true.or(&self.known_false).is_full()
    }

    /// Whether all threads certainly agree.
    pub(super) fn is_block_uniform(&self) -> bool {
        !self.arbitrary && self.when_true.iter().all(|fact| fact.is_uniform())
    }
}

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
        if and { left.and(right) } else { left.not().and(right.not()).not() }
    }

    pub(super) fn comparison(&mut self, op: CompareOp, a: Handle<Expr>, b: Handle<Expr>) -> Value {
        let (a, b) = match (self.value(a), self.value(b)) {
            (Value::Int(a), Value::Int(b)) => (a, b),
            _ => return Value::Truth(Truth::data()),
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
        if self.holds(&form) {
            return Truth::known(Mask::Uniform(true));
        }
        if negated.as_ref().is_some_and(|negated| self.holds(negated)) {
            return Truth::known(Mask::Uniform(false));
        }
        let arbitrary = form.terms.iter().any(|(symbol, _)| !self.symbols.get(*symbol).uniform);
        let (known_true, known_false) = self.settled_threads(&form);
        Truth {
            known_true,
            known_false,
            when_true: vec![Rc::new(tighten(form))],
            when_false: negated.map(|form| Rc::new(tighten(form))).into_iter().collect(),
            arbitrary,
        }
    }

    /// The threads for which a form is certainly non-negative, and those for which it is certainly negative, by the
    /// ranges of its symbols.
    pub(super) fn settled_threads(&self, form: &Linear) -> (Mask, Mask) {
        let unknown = Linear { constant: Lanes::Uniform(0), terms: form.terms.clone() };
        let (low, high) = self.bounds(&unknown);
        let mask = |test: &dyn Fn(i128) -> bool| mask_of(&form.constant, |value| test(i128::from(value)));
        (
            if low < -FAR { Mask::Uniform(false) } else { mask(&|value| value + low >= 0) },
            if high > FAR { Mask::Uniform(false) } else { mask(&|value| value + high < 0) },
        )
    }

    pub(super) fn equal(&mut self, a: &Linear, b: &Linear) -> Truth {
        let Some(form) = a.sub(b) else { return Truth::data() };
        if let Some(lanes) = form.known() {
            return Truth::known(mask_of(lanes, |value| value == 0));
        }
        let negated = form.scale(&Lanes::Uniform(-1));
        Truth {
            known_true: Mask::Uniform(false),
            known_false: Mask::Uniform(false),
            arbitrary: !self.is_uniform(&form),
            when_true: negated.into_iter().chain([form]).map(Rc::new).collect(),
            when_false: Vec::new(),
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
