//! Whether the type of an expression holds its value.

use super::lanes::Lanes;
use super::linear::Linear;
use super::truth::Value;
use super::walk::Walk;
use super::{Escape, EscapeKind, Wrap};
use crate::ir::{Claim, Expr, ExprKind, Scalar, Scope};

/// Index arithmetic that guards must bound is asked to stay below this: a number that fits the forms, and larger than an
/// address on any machine.
pub(super) const FORM_LIMIT: i64 = 1 << 62;

impl Walk<'_> {
    /// The value as far as its type can hold it.
    pub(super) fn fit(&mut self, form: Option<Linear>, scalar: Scalar, expr: &Expr) -> Value {
        if self.mask.is_empty() {
            return form.map_or(Value::Data(Scope::Lane), Value::Int);
        }
        if self.on_host {
            // Host expressions are computed without bounds, and checked.
            return form.map_or_else(|| self.opaque(scalar, Scope::Block), Value::Int);
        }
        let Some(form) = form else {
            return self.escape(None, scalar, EscapeKind::TooLarge, expr);
        };
        if scalar == Scalar::Isize {
            if !self.is_offset(&form) {
                return self.escape(Some(&form), scalar, EscapeKind::TooLarge, expr);
            }
            self.keep_narrow(&form, scalar);
            return Value::Int(form);
        }
        if scalar == Scalar::Usize {
            let (low, high) = self.bounds(&form);
            if low < 0 && !self.holds_for_least(&form) {
                return self.escape(Some(&form), scalar, EscapeKind::BelowZero, expr);
            }
            if high > i128::from(u64::MAX) {
                let negated = form.scale(&Lanes::Uniform(-1));
                let room = negated.and_then(|form| form.offset(FORM_LIMIT));
                if !room.is_some_and(|room| self.holds_for_least(&room)) {
                    return self.escape(Some(&form), scalar, EscapeKind::TooLarge, expr);
                }
            }
            if high > i128::from(u32::MAX) {
                self.keep_narrow(&form, scalar);
            }
            return Value::Int(form);
        }
        let (low, high) = self.bounds(&form);
        match scalar.range() {
            Some((least, most)) if least <= low && high <= most => Value::Int(form),
            _ => self.wrapped(&form, scalar, expr),
        }
    }

    /// The result of arithmetic that may wrap; `form` is what it would be otherwise.
    fn wrapped(&mut self, form: &Linear, scalar: Scalar, expr: &Expr) -> Value {
        let name = format!("`{}` arithmetic that may wrap", scalar.name());
        let Some((result, new)) = self.kept(form, scalar, name) else {
            return self.opaque(scalar, self.symbols.scope(form));
        };
        if let (true, ExprKind::Binary(op, a, b), Some(symbol)) = (new, &expr.kind, result.lone_symbol())
            && scalar.bytes() <= 4
        {
            self.wraps.push(Wrap { symbol, span: expr.span, scalar, op: *op, operands: [*a, *b] });
        }
        Value::Int(result)
    }

    /// A value of which no more is known than of a result that may wrap is one itself.
    pub(super) fn hand_on_wrap(&mut self, form: &Linear, result: &Linear) {
        let origin = self.wraps.iter().find(|wrap| form.find(wrap.symbol).is_some());
        let own = origin.zip(result.lone_symbol()).map(|(origin, symbol)| Wrap { symbol, ..origin.clone() });
        self.wraps.extend(own);
    }

    /// Whether an `isize` holds the form: by the ranges of its symbols, or because what is known here bounds it.
    fn is_offset(&self, form: &Linear) -> bool {
        let (low, high) = self.bounds(form);
        if i128::from(i64::MIN) <= low && high <= i128::from(i64::MAX) {
            return true;
        }
        let negated = form.scale(&Lanes::Uniform(-1));
        [Some(form), negated.as_ref()].into_iter().all(|form| {
            form.and_then(|form| form.offset(FORM_LIMIT)).is_some_and(|room| self.holds_for_least(&room))
        })
    }

    /// An index in 32 bits must be what it is in 64.
    pub(super) fn keep_narrow(&mut self, form: &Linear, scalar: Scalar) {
        if !self.narrow || self.on_host || self.mask.is_empty() {
            return;
        }
        let (low, high) = self.bounds(form);
        if scalar == Scalar::Isize && i128::from(i32::MIN) <= low && high <= i128::from(i32::MAX) {
            return;
        }
        let negated = form.scale(&Lanes::Uniform(-1));
        let rooms = match scalar {
            Scalar::Isize => {
                vec![negated.and_then(|form| form.offset(i32::MAX.into())), form.offset(-i64::from(i32::MIN))]
            }
            _ => vec![negated.and_then(|form| form.offset(u32::MAX.into()))],
        };
        self.narrow = rooms.into_iter().all(|room| room.is_some_and(|room| self.holds_in_narrow(&room)));
    }

    /// A result of which nothing is known but its type, so neither that an index fits 32 bits.
    pub(super) fn wide(&mut self, scalar: Scalar, scope: Scope) -> Value {
        self.narrow &= !scalar.is_index() || self.on_host || self.mask.is_empty();
        self.opaque(scalar, scope)
    }

    /// The result of an index computation that may leave its range: `form` is what it would have been.
    pub(super) fn escape(
        &mut self,
        form: Option<&Linear>,
        scalar: Scalar,
        kind: EscapeKind,
        expr: &Expr,
    ) -> Value {
        let scope = form.map_or(Scope::Lane, |form| self.symbols.scope(form));
        let value = self.opaque(scalar, scope);
        if let (true, Value::Int(result)) = (scalar.is_index(), &value) {
            self.narrow = false;
            if self.kernel.trust_at(expr.span, Claim::Range).is_some() {
                self.escapes.push(Escape { span: expr.span, kind });
                return value;
            }
            // What follows from an escape is no news.
            let follows =
                |form: &Linear| form.terms.iter().any(|(id, _)| self.symbols.is_one_of(*id, &self.escaped));
            if !form.is_some_and(follows) {
                self.escapes.push(Escape { span: expr.span, kind });
            }
            self.escaped.extend(result.terms.iter().map(|(symbol, _)| *symbol));
        }
        value
    }
}
