//! Arithmetic of forms that is not linear: division, bits, the smaller and the larger.

use super::eval::Operation;
use super::lanes::Lanes;
use super::linear::Linear;
use super::prove::gcd;
use super::walk::Walk;
use crate::ir::{BinaryOp, Scalar};
use std::rc::Rc;

impl Walk<'_> {
    /// Quotient and remainder of non-negative numbers.
    pub(super) fn divide(&mut self, a: &Linear, b: &Linear) -> Option<(Linear, Linear)> {
        if !self.holds(a) {
            return None;
        }
        let Some(divisor) = b.known_uniform() else { return self.divide_symbolic(a, b) };
        if divisor <= 0 {
            return None;
        }
        // Exact where all coefficients are multiples of the divisor.
        let (mut exact, mut requested) = (true, false);
        for (symbol, coefficient) in &a.terms {
            let remainder = coefficient.map(|value| Some(value.rem_euclid(divisor)))?;
            if remainder.is_zero() {
                continue;
            }
            exact = false;
            if let Some(value) = coefficient.uniform() {
                requested |= self.request(a, *symbol, divisor / gcd(value.abs(), divisor));
            }
        }
        if exact {
            let quotient = a.map(|value| Some(value.div_euclid(divisor)))?;
            let remainder = a.constant.map(|value| Some(value.rem_euclid(divisor)))?;
            return Some((quotient, Linear::constant(remainder)));
        }
        let (_, high) = self.bounds(a);
        let scaled = |q: &Linear| q.scale(&Lanes::Uniform(divisor));
        let name = format!("a quotient by {divisor}");
        let range = (0, high / i128::from(divisor));
        let quotient = self.derived((Operation::Quotient, a, b), range, None, name, |q| {
            let Some(multiple) = scaled(q) else { return Vec::new() };
            vec![a.sub(&multiple), multiple.sub(a).and_then(|rest| rest.offset(divisor - 1))]
        });
        if requested {
            self.pending.extend(quotient.lone_symbol());
        }
        let remainder = a.sub(&scaled(&quotient)?)?;
        Some((quotient, remainder))
    }

    pub(super) fn divide_symbolic(&mut self, a: &Linear, b: &Linear) -> Option<(Linear, Linear)> {
        if !self.holds(&b.offset(-1)?) {
            return None;
        }
        let (_, high) = self.bounds(a);
        let quotient = self
            .derived((Operation::Quotient, a, b), (0, high), None, "a quotient".into(), |q| vec![a.sub(q)]);
        let remainder = self.derived(
            (Operation::Remainder, a, b),
            (0, high),
            Some(a.clone()),
            "a remainder".into(),
            |r| vec![a.sub(r), b.sub(r).and_then(|rest| rest.offset(-1))],
        );
        Some((quotient, remainder))
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
        let (mut exact, mut requested) = (true, false);
        for (symbol, coefficient) in &form.terms {
            if !coefficient.map(|value| Some(value.rem_euclid(block)))?.is_zero() {
                exact = false;
                if let Some(value) = coefficient.uniform() {
                    requested |= self.request(form, *symbol, block / gcd(value.abs(), block));
                }
            }
        }
        if !exact {
            let derived = self.bitwise_derived(op, a, b)?;
            if requested {
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

    pub(super) fn bitwise_derived(&mut self, op: BinaryOp, a: &Linear, b: &Linear) -> Option<Linear> {
        if !(self.holds(a) && self.holds(b)) {
            return None;
        }
        let most = self.bounds(a).1.max(self.bounds(b).1);
        let high = (u128::try_from(most).ok()?.checked_add(1)?.checked_next_power_of_two()? - 1) as i128;
        let name = "a bit pattern".to_string();
        Some(self.derived((Operation::Binary(op), a, b), (0, high), None, name, |r| match op {
            BinaryOp::And => vec![a.sub(r), b.sub(r)],
            BinaryOp::Or => vec![r.sub(a), r.sub(b)],
            _ => Vec::new(),
        }))
    }

    pub(super) fn extremum(
        &mut self,
        op: BinaryOp,
        a: &Linear,
        b: &Linear,
        scalar: Scalar,
    ) -> Option<Linear> {
        let min = op == BinaryOp::Min;
        let difference = b.sub(a)?;
        if self.holds(&difference) {
            return Some(if min { a.clone() } else { b.clone() });
        }
        if self.holds(&a.sub(b)?) {
            return Some(if min { b.clone() } else { a.clone() });
        }
        let ((low_a, high_a), (low_b, high_b)) = (self.bounds_of(a, scalar), self.bounds_of(b, scalar));
        let range =
            if min { (low_a.min(low_b), high_a.min(high_b)) } else { (low_a.max(low_b), high_a.max(high_b)) };
        // Away from the edge the result is the side that differs between threads.
        let interior = match (self.is_uniform(a), self.is_uniform(b)) {
            (false, true) => Some(a.clone()),
            (true, false) => Some(b.clone()),
            _ => None,
        };
        let name = if min { "a minimum" } else { "a maximum" }.to_string();
        let form = self.derived((Operation::Binary(op), a, b), range, interior, name, |r| {
            if min { vec![a.sub(r), b.sub(r)] } else { vec![r.sub(a), r.sub(b)] }
        });
        if let Some(symbol) = form.lone_symbol() {
            let (first, second) = if min { (difference, a.sub(b)?) } else { (a.sub(b)?, difference) };
            let cases = vec![(a.clone(), vec![Rc::new(first)]), (b.clone(), vec![Rc::new(second)])];
            self.symbols.set_cases(symbol, cases);
        }
        Some(form)
    }
}

/// Integer arithmetic on known numbers; `None` where it is not defined or does not fit.
pub(super) fn apply(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div => a.checked_div(b),
        BinaryOp::Rem => a.checked_rem(b),
        BinaryOp::And => Some(a & b),
        BinaryOp::Or => Some(a | b),
        BinaryOp::Xor => Some(a ^ b),
        BinaryOp::Shl => (0..63).contains(&b).then(|| a.checked_mul(1 << b)).flatten(),
        BinaryOp::Shr => (0..63).contains(&b).then(|| a >> b),
        BinaryOp::Min => Some(a.min(b)),
        BinaryOp::Max => Some(a.max(b)),
        BinaryOp::DivCeil => (a >= 0 && b > 0).then(|| a.div_euclid(b) + i64::from(a % b != 0)),
    }
}
