//! The value of an expression for every thread.

use super::arithmetic::apply;
use super::condition::Truth;
use super::lanes::{Lanes, Mask};
use super::linear::{Linear, SymbolId};
use super::prove::{lower_bound, non_negative, tighten};
use super::symbol::{Symbol, SymbolKind};
use super::walk::{Value, Walk};
use super::{Escape, RegisterFault};
use crate::ir::{Axis, BinaryOp, Expr, ExprKind, Handle, Scalar, Type, UnaryOp};
use std::rc::Rc;

/// Index arithmetic that guards must bound is asked to stay below this: a number that fits the forms, and larger than an
/// address on any machine.
const INDEX_LIMIT: i64 = 1 << 62;
/// Extents and strides stay below this: no GPU has so much memory.
pub(super) const EXTENT_LIMIT: i128 = 1 << 47;
/// What the launcher demands of extents, strides and index arguments before it chooses 32-bit indices.
pub(super) const NARROW_LIMIT: i128 = 1 << 31;

/// How a symbol came about, so that equal operations on equal operands give one symbol.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Operation {
    Binary(BinaryOp),
    Quotient,
    Remainder,
}

impl Walk<'_> {
    pub(super) fn value(&mut self, handle: Handle<Expr>) -> Value {
        let kernel = self.kernel;
        let expr = &kernel.exprs[handle];
        let scalar = match expr.ty {
            Type::Scalar(scalar) => scalar,
            Type::Vector(..) => {
                self.operands_of(&expr.kind);
                return Value::Data;
            }
        };
        match &expr.kind {
            ExprKind::Int(value) => match i64::try_from(*value) {
                Ok(value) => Value::Int(Linear::int(value)),
                Err(_) => self.opaque(scalar, true),
            },
            ExprKind::Float(_) => Value::Data,
            ExprKind::Bool(value) => Value::Truth(Truth::known(Mask::Uniform(*value))),
            ExprKind::Param(param) => match scalar {
                Scalar::Bool => Value::Truth(Truth::uniform()),
                Scalar::F32 | Scalar::F64 => Value::Data,
                _ => {
                    let (low, high) = scalar.range().unwrap_or((0, 0));
                    let narrow_high = if scalar == Scalar::Usize { NARROW_LIMIT - 1 } else { high };
                    let name = kernel.params[*param].name.clone();
                    self.symbol(SymbolKind::Scalar(*param), (low, high), narrow_high, name)
                }
            },
            ExprKind::Extent(param, dimension) => self.extent(*param, *dimension),
            ExprKind::Stride(param, dimension) => self.stride(*param, *dimension),
            ExprKind::Thread(axis) => Value::Int(Linear::constant(self.thread_index(*axis))),
            ExprKind::Block(axis) => Value::Int(self.block_index(*axis)),
            ExprKind::Grid(axis) => Value::Int(self.grid_extent(*axis)),
            ExprKind::Local(local) => match self.environment[local.index()].clone() {
                Some(value) => value,
                None => self.opaque(scalar, false),
            },
            ExprKind::Element(local, index) => {
                self.register_access(*local, index, expr.span);
                self.opaque_from(scalar, false, format!("an element of `{}`", kernel.locals[*local].name))
            }
            ExprKind::Lane(vector, lane) => {
                self.value(*vector);
                self.register_index(*lane, kernel.exprs[*vector].ty.width(), expr.span);
                self.opaque(scalar, false)
            }
            ExprKind::Vector(_) => Value::Data,
            ExprKind::Unary(op, a) => self.unary(*op, *a, scalar, expr),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) if scalar == Scalar::Bool => {
                Value::Truth(self.logical(*op == BinaryOp::And, *a, *b))
            }
            ExprKind::Binary(op, a, b) => self.binary(*op, *a, *b, scalar, expr),
            ExprKind::Compare(op, a, b) => self.comparison(*op, *a, *b),
            ExprKind::Select(condition, a, b) => {
                let condition = self.truth(*condition);
                let (a, b) = (self.value(*a), self.value(*b));
                self.join(&condition, a, b, scalar)
            }
            ExprKind::Cast(a) => self.cast(*a, scalar),
        }
    }

    fn operands_of(&mut self, kind: &ExprKind) {
        if let ExprKind::Element(local, index) = kind {
            let span = index.first().map_or(self.kernel.span, |index| self.kernel.exprs[*index].span);
            self.register_access(*local, index, span);
            return;
        }
        for operand in crate::lower::operands(kind) {
            self.value(operand);
        }
    }

    /// An access to a register array.
    pub(super) fn register_access(
        &mut self,
        local: Handle<crate::ir::Local>,
        index: &[Handle<Expr>],
        span: crate::span::SpanId,
    ) {
        let kernel = self.kernel;
        for (index, extent) in index.iter().zip(&kernel.locals[local].extents) {
            self.register_index(*index, *extent, span);
        }
    }

    /// Notes an index of registers that is not one number known at compile time, or outside.
    pub(super) fn register_index(&mut self, index: Handle<Expr>, extent: u32, span: crate::span::SpanId) {
        let known = match self.value(index) {
            Value::Int(form) => form.known_uniform(),
            Value::Truth(_) | Value::Data => None,
        };
        let outside = match known {
            Some(index) if (0..i64::from(extent)).contains(&index) => return,
            Some(index) => Some((index, extent)),
            None => None,
        };
        let fault = RegisterFault { span, outside };
        if !self.mask.is_empty() && self.register_faults.iter().all(|other| other.span != span) {
            self.register_faults.push(fault);
        }
    }

    /// The condition as a truth value.
    pub(super) fn truth(&mut self, handle: Handle<Expr>) -> Truth {
        match self.value(handle) {
            Value::Truth(truth) => truth,
            Value::Int(_) | Value::Data => Truth::data(),
        }
    }

    /// The index as a form.
    pub(super) fn form(&mut self, handle: Handle<Expr>) -> Linear {
        match self.value(handle) {
            Value::Int(form) => form,
            Value::Truth(_) | Value::Data => match self.opaque(Scalar::Usize, false) {
                Value::Int(form) => form,
                Value::Truth(_) | Value::Data => Linear::int(0),
            },
        }
    }

    // ---- symbols ----

    fn symbol(&mut self, kind: SymbolKind, range: (i128, i128), narrow_high: i128, name: String) -> Value {
        Value::Int(self.symbol_form(kind, range, narrow_high, name))
    }

    pub(super) fn symbol_form(
        &mut self,
        kind: SymbolKind,
        range: (i128, i128),
        narrow_high: i128,
        name: String,
    ) -> Linear {
        if self.symbols.find(&kind).is_none() {
            let id = self.symbols.add(Symbol {
                kind: kind.clone(),
                low: range.0,
                high: range.1,
                narrow_high,
                uniform: true,
                interior: None,
                cases: Vec::new(),
                name,
            });
            if let Some(residue) = self.residues.get(&kind) {
                self.symbols.split(id, *residue);
            }
            return self.symbols.resolved(id);
        }
        let id = self.symbols.find(&kind).unwrap_or(SymbolId(0));
        self.symbols.resolved(id)
    }

    fn extent(&mut self, param: Handle<crate::ir::Param>, dimension: u32) -> Value {
        let name = self.kernel.extent_name(param, dimension);
        self.symbol(SymbolKind::Extent(param, dimension), (0, EXTENT_LIMIT - 1), NARROW_LIMIT - 1, name)
    }

    pub(super) fn stride(&mut self, param: Handle<crate::ir::Param>, dimension: u32) -> Value {
        let name = self.kernel.stride_name(param, dimension);
        self.symbol(SymbolKind::Stride(param, dimension), (0, EXTENT_LIMIT - 1), NARROW_LIMIT - 1, name)
    }

    fn thread_index(&self, axis: Axis) -> Lanes {
        let [x, y, _] = self.kernel.block.map(|extent| extent as usize);
        let mut values = vec![0i64; self.threads];
        let mut thread = 0;
        while thread < values.len() {
            values[thread] = match axis {
                Axis::X => thread % x,
                Axis::Y => thread / x % y,
                Axis::Z => thread / (x * y),
            } as i64;
            thread += 1;
        }
        Lanes::each(values)
    }

    /// A value of this type of which nothing else is known.
    pub(super) fn opaque(&mut self, scalar: Scalar, uniform: bool) -> Value {
        self.opaque_from(scalar, uniform, "a value that is not known here".into())
    }

    /// The same, with where it comes from, for messages.
    pub(super) fn opaque_from(&mut self, scalar: Scalar, uniform: bool, name: String) -> Value {
        let Some((low, high)) = scalar.range() else {
            return if scalar == Scalar::Bool {
                Value::Truth(if uniform { Truth::uniform() } else { Truth::data() })
            } else {
                Value::Data
            };
        };
        let number = self.symbols.len() as u32;
        let id = self.symbols.add(Symbol {
            kind: SymbolKind::Opaque(number),
            low,
            high,
            narrow_high: high,
            uniform,
            interior: None,
            cases: Vec::new(),
            name,
        });
        Value::Int(Linear::symbol(id))
    }

    /// The result of an operation that is not linear: a symbol with a range, and the facts that define it.
    pub(super) fn derived(
        &mut self,
        (operation, a, b): (Operation, &Linear, &Linear),
        range: (i128, i128),
        interior: Option<Linear>,
        name: String,
        facts: impl FnOnce(&Linear) -> Vec<Option<Linear>>,
    ) -> Linear {
        if let Some((_, _, _, id)) =
            self.derived.iter().find(|(o, x, y, _)| *o == operation && x == a && y == b)
        {
            return Linear::symbol(*id);
        }
        let uniform = [a, b].iter().all(|form| self.is_uniform(form));
        let number = self.symbols.len() as u32;
        let id = self.symbols.add(Symbol {
            kind: SymbolKind::Derived(number),
            low: range.0,
            high: range.1,
            narrow_high: range.1,
            uniform,
            interior,
            cases: Vec::new(),
            name,
        });
        let form = Linear::symbol(id);
        for fact in facts(&form).into_iter().flatten() {
            // Scoped like a guard: what defines the symbol was derived from what holds here, and may not hold elsewhere.
            self.guards.push(Rc::new(tighten(fact)));
        }
        self.derived.push((operation, a.clone(), b.clone(), id));
        form
    }

    /// Whether a form is the same for all threads of the block.
    pub(super) fn is_uniform(&self, form: &Linear) -> bool {
        form.is_uniform() && form.terms.iter().all(|(symbol, _)| self.symbols.get(*symbol).uniform)
    }

    pub(super) fn holds(&self, goal: &Linear) -> bool {
        if lower_bound(goal, &self.mask, &self.symbols).is_some_and(|bound| bound >= 0) {
            return true;
        }
        non_negative(goal, &self.all_facts(), &self.mask, &self.symbols)
    }

    /// The least and largest value by the ranges of the symbols.
    pub(super) fn bounds(&self, form: &Linear) -> (i128, i128) {
        let low = lower_bound(form, &self.mask, &self.symbols);
        let high =
            form.scale(&Lanes::Uniform(-1)).and_then(|form| lower_bound(&form, &self.mask, &self.symbols));
        (low.unwrap_or(i128::MIN / 4), high.map_or(i128::MAX / 4, |high| -high))
    }

    /// The same, for a value of this type.
    pub(super) fn bounds_of(&self, form: &Linear, scalar: Scalar) -> (i128, i128) {
        let (low, high) = self.bounds(form);
        scalar.range().map_or((low, high), |(least, most)| (low.max(least), high.min(most)))
    }

    // ---- operations ----

    /// The value as far as its type can hold it.
    fn fit(&mut self, form: Option<Linear>, scalar: Scalar, expr: &Expr) -> Value {
        if self.mask.is_empty() {
            return form.map_or(Value::Data, Value::Int);
        }
        let Some(form) = form else {
            return self.escape(scalar, false, false, expr);
        };
        if scalar == Scalar::Usize {
            if let Some(known) = form.known() {
                match (known.min(&self.mask), known.max(&self.mask)) {
                    (Some((least, _)), Some(most)) if least >= 0 => {
                        self.narrow &= most < 1 << 32;
                        return Value::Int(form);
                    }
                    _ => {}
                }
            }
            let escaped = |symbol| self.escapes.iter().any(|escape| escape.symbol == symbol);
            if let Some((symbol, _)) = form.terms.iter().find(|(symbol, _)| escaped(*symbol)) {
                // What went wrong has been noted.
                return Value::Int(Linear::symbol(*symbol));
            }
            let uniform = self.is_uniform(&form);
            if !self.holds(&form) {
                return self.escape(scalar, true, uniform, expr);
            }
            let room = form.scale(&Lanes::Uniform(-1)).and_then(|form| form.offset(INDEX_LIMIT));
            if self.bounds(&form).1 > i128::from(u64::MAX) && !room.is_some_and(|room| self.holds(&room)) {
                return self.escape(scalar, false, uniform, expr);
            }
            if self.narrow {
                let room = form.scale(&Lanes::Uniform(-1)).and_then(|form| form.offset(u32::MAX.into()));
                let (facts, mask) = (self.all_facts(), self.mask.clone());
                self.narrow = room.is_some_and(|room| {
                    self.symbols.assuming_narrow(|symbols| non_negative(&room, &facts, &mask, symbols))
                });
            }
            return Value::Int(form);
        }
        let (low, high) = self.bounds(&form);
        match scalar.range() {
            Some((least, most)) if least <= low && high <= most => Value::Int(form),
            _ => self.opaque(scalar, self.is_uniform(&form)),
        }
    }

    fn escape(&mut self, scalar: Scalar, below_zero: bool, uniform: bool, expr: &Expr) -> Value {
        let value = self.opaque(scalar, uniform);
        if let (Scalar::Usize, Value::Int(form)) = (scalar, &value) {
            self.narrow = false;
            if let Some((symbol, _)) = form.terms.first() {
                self.escapes.push(Escape { span: expr.span, below_zero, symbol: *symbol });
            }
        }
        value
    }

    fn unary(&mut self, op: UnaryOp, a: Handle<Expr>, scalar: Scalar, expr: &Expr) -> Value {
        match (op, self.value(a)) {
            (UnaryOp::Not, Value::Truth(truth)) => Value::Truth(truth.not()),
            (UnaryOp::Negate, Value::Int(form)) => {
                let negated = form.scale(&Lanes::Uniform(-1));
                self.fit(negated, scalar, expr)
            }
            (UnaryOp::Not, Value::Int(form)) => {
                let uniform = self.is_uniform(&form);
                self.opaque(scalar, uniform)
            }
            (UnaryOp::Negate | UnaryOp::Not, Value::Truth(_) | Value::Data) => self.opaque(scalar, false),
        }
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        a: Handle<Expr>,
        b: Handle<Expr>,
        scalar: Scalar,
        expr: &Expr,
    ) -> Value {
        let (a, b) = match (self.value(a), self.value(b)) {
            (Value::Int(a), Value::Int(b)) => (a, b),
            (Value::Truth(a), Value::Truth(b)) => {
                return Value::Truth(Truth { arbitrary: a.arbitrary || b.arbitrary, ..Truth::data() });
            }
            _ => return self.opaque(scalar, false),
        };
        // Shift amounts are masked to the width.
        let b = match op {
            BinaryOp::Shl | BinaryOp::Shr => match b.known() {
                Some(by) => {
                    let bits = 8 * i64::from(scalar.bytes());
                    by.map(|by| Some(by.rem_euclid(bits))).map_or(b, Linear::constant)
                }
                None => b,
            },
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Rem
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::DivCeil => b,
        };
        if let (Some(x), Some(y)) = (a.known(), b.known()) {
            // Operations that may fail on inactive lanes only: a failure is not a reason to forget the others.
            if let Some(lanes) = x.zip(y, |x, y| Some(apply(op, x, y).unwrap_or(i64::MIN)))
                && lanes.min(&self.mask).is_none_or(|(least, _)| least > i64::MIN)
            {
                return self.fit(Some(Linear::constant(lanes)), scalar, expr);
            }
            return self.opaque(scalar, self.is_uniform(&a) && self.is_uniform(&b));
        }
        let form = match op {
            BinaryOp::Add => a.add(&b),
            BinaryOp::Sub => a.sub(&b),
            BinaryOp::Mul => self.symbols.multiply(&a, &b),
            BinaryOp::Div => self.divide(&a, &b).map(|(quotient, _)| quotient),
            BinaryOp::Rem => self.divide(&a, &b).map(|(_, remainder)| remainder),
            BinaryOp::DivCeil => match b.known_uniform().and_then(|divisor| a.offset(divisor - 1)) {
                Some(up) => self.divide(&up, &b).map(|(quotient, _)| quotient),
                None => self.divide(&a, &b).and_then(|(quotient, _)| quotient.offset(1)).map(|high| {
                    let range = (0, self.bounds(&high).1);
                    self.derived((Operation::Binary(op), &a, &b), range, None, "a quotient".into(), |q| {
                        vec![high.sub(q)]
                    })
                }),
            },
            BinaryOp::Shl => {
                match b.known().and_then(|by| by.map(|by| (0..62).contains(&by).then(|| 1i64 << by))) {
                    Some(factor) => a.scale(&factor),
                    None => return self.opaque(scalar, self.is_uniform(&a) && self.is_uniform(&b)),
                }
            }
            BinaryOp::Shr => match b.known_uniform().filter(|by| (0..62).contains(by)) {
                Some(by) => self.divide(&a, &Linear::int(1 << by)).map(|(quotient, _)| quotient),
                None => return self.opaque(scalar, self.is_uniform(&a) && self.is_uniform(&b)),
            },
            BinaryOp::And => match (b.known_uniform(), a.known_uniform()) {
                (Some(mask), _) if mask >= 0 && (mask + 1) & mask == 0 => {
                    self.divide(&a, &Linear::int(mask + 1)).map(|(_, remainder)| remainder)
                }
                (_, Some(mask)) if mask >= 0 && (mask + 1) & mask == 0 => {
                    self.divide(&b, &Linear::int(mask + 1)).map(|(_, remainder)| remainder)
                }
                _ => self.bitwise(op, &a, &b),
            },
            BinaryOp::Or | BinaryOp::Xor => self.bitwise(op, &a, &b),
            BinaryOp::Min | BinaryOp::Max => self.extremum(op, &a, &b, scalar),
        };
        match form {
            Some(form) => self.fit(Some(form), scalar, expr),
            None if matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) => {
                self.fit(None, scalar, expr)
            }
            None => self.opaque(scalar, self.is_uniform(&a) && self.is_uniform(&b)),
        }
    }

    fn cast(&mut self, a: Handle<Expr>, scalar: Scalar) -> Value {
        match self.value(a) {
            Value::Int(form) => {
                let (low, high) = self.bounds(&form);
                match scalar.range() {
                    Some((least, most)) if least <= low && high <= most => Value::Int(form),
                    Some(_) => self.opaque(scalar, self.is_uniform(&form)),
                    None => Value::Data,
                }
            }
            Value::Truth(truth) if scalar.is_integer() => {
                let (one, zero) = (Value::Int(Linear::int(1)), Value::Int(Linear::int(0)));
                self.join(&truth, one, zero, scalar)
            }
            Value::Truth(_) | Value::Data => self.opaque(scalar, false),
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
                let uniform = !condition.arbitrary
                    && self.is_uniform(&a)
                    && self.is_uniform(&b)
                    && condition.is_block_uniform();
                let number = self.symbols.len() as u32;
                let id = self.symbols.add(Symbol {
                    kind: SymbolKind::Derived(number),
                    low: low_a.min(low_b),
                    high: high_a.max(high_b),
                    narrow_high: high_a.max(high_b),
                    uniform,
                    interior: None,
                    cases: Vec::new(),
                    name: "one of two values".into(),
                });
                let cases = vec![(a, condition.when_true.clone()), (b, condition.when_false.clone())];
                self.symbols.set_cases(id, cases);
                Value::Int(Linear::symbol(id))
            }
            (Value::Truth(a), Value::Truth(b)) if a.is_known() && b.is_known() && condition.is_known() => {
                let chosen =
                    condition.known_true.and(&a.known_true).or(&condition.known_false.and(&b.known_true));
                Value::Truth(Truth::known(chosen))
            }
            _ => self.opaque(scalar, false),
        }
    }
}
