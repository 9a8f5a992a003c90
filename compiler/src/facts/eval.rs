//! The value of an expression for every thread.

use super::Escape;
use super::lanes::{Lanes, Mask};
use super::linear::{Linear, SymbolId};
use super::prove::{lower_bound, non_negative, tighten};
use super::symbol::{Case, Symbol, SymbolKind};
use super::walk::{Truth, Value, Walk};
use crate::ir::{Axis, BinaryOp, CompareOp, Expr, ExprKind, Handle, Scalar, Scope, Type, UnaryOp};
use std::rc::Rc;

/// Index arithmetic must stay below this; what is larger is not an address on any machine.
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
}

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
    name: &'static str,
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
                Err(_) => self.opaque(scalar, Scope::Block),
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
                None => self.opaque(scalar, Scope::Lane),
            },
            ExprKind::Element(local, index) => {
                self.register_access(*local, index, expr.span);
                self.opaque(scalar, Scope::Lane)
            }
            ExprKind::Lane(vector, lane) => {
                self.value(*vector);
                if let Value::Int(lane) = self.value(*lane)
                    && lane.known_uniform().is_none()
                {
                    self.register_indices.push(expr.span);
                }
                self.opaque(scalar, Scope::Lane)
            }
            ExprKind::Vector(_) => Value::Data,
            ExprKind::Unary(op, a) => self.unary(*op, *a, scalar, expr),
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

    /// Notes an access to a register array whose index is not one number known at compile time.
    pub(super) fn register_access(
        &mut self,
        _local: Handle<crate::ir::Local>,
        index: &[Handle<Expr>],
        span: crate::span::SpanId,
    ) {
        for index in index {
            let known = match self.value(*index) {
                Value::Int(form) => form.known_uniform().is_some(),
                Value::Truth(_) | Value::Data => false,
            };
            if !known && !self.register_indices.contains(&span) {
                self.register_indices.push(span);
            }
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
            Value::Truth(_) | Value::Data => match self.opaque(Scalar::Usize, Scope::Lane) {
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
            let id = self
                .symbols
                .add(Symbol { narrow_high, ..Symbol::new(kind.clone(), range, Scope::Block, name) });
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
    pub(super) fn opaque(&mut self, scalar: Scalar, scope: Scope) -> Value {
        let Some((low, high)) = scalar.range() else {
            return if scalar == Scalar::Bool {
                Value::Truth(if scope >= Scope::Warp { Truth::uniform() } else { Truth::data() })
            } else {
                Value::Data
            };
        };
        let number = self.symbols.len() as u32;
        let kind = SymbolKind::Opaque(number);
        let id = self.symbols.add(Symbol::new(kind, (low, high), scope, format!("value {number}")));
        Value::Int(Linear::symbol(id))
    }

    /// The result of an operation that is not linear: a symbol with a range. Whether it is new, so that the facts that
    /// define it must be added.
    fn derived(&mut self, derivation: Derivation<'_>) -> (Linear, bool) {
        let Derivation { operation, operands: (a, b), range, interior, cases, name } = derivation;
        if let Some((_, _, _, id)) =
            self.derived.iter().find(|(o, x, y, _)| *o == operation && x == a && y == b)
        {
            return (Linear::symbol(*id), false);
        }
        let scope = self.common_scope(a, b);
        let kind = SymbolKind::Derived(self.symbols.len() as u32);
        let id = self.symbols.add(Symbol { interior, cases, ..Symbol::new(kind, range, scope, name) });
        self.derived.push((operation, a.clone(), b.clone(), id));
        (Linear::symbol(id), true)
    }

    /// Adds facts that define a symbol. They are scoped like guards: they were derived from what holds here, and may not
    /// hold elsewhere.
    fn define<const N: usize>(&mut self, facts: [Option<Linear>; N]) {
        self.guards.extend(facts.into_iter().flatten().map(|fact| Rc::new(tighten(fact))));
    }

    /// Whether a form is the same for all threads of the block.
    pub(super) fn is_uniform(&self, form: &Linear) -> bool {
        self.symbols.scope(form) == Scope::Block
    }

    fn common_scope(&self, a: &Linear, b: &Linear) -> Scope {
        self.symbols.scope(a).min(self.symbols.scope(b))
    }

    pub(super) fn holds(&self, goal: &Linear) -> bool {
        if lower_bound(goal, &self.mask, &self.symbols).is_some_and(|bound| bound >= 0) {
            return true;
        }
        non_negative(goal, &self.all_facts(), &self.mask, &self.symbols)
    }

    /// The least and largest value by the ranges of the symbols.
    fn bounds(&self, form: &Linear) -> (i128, i128) {
        let low = lower_bound(form, &self.mask, &self.symbols);
        let high =
            form.scale(&Lanes::Uniform(-1)).and_then(|form| lower_bound(&form, &self.mask, &self.symbols));
        (low.unwrap_or(i128::MIN / 4), high.map_or(i128::MAX / 4, |high| -high))
    }

    // ---- operations ----

    /// The value as far as its type can hold it.
    fn fit(&mut self, form: Option<Linear>, scalar: Scalar, expr: &Expr) -> Value {
        if self.mask.is_empty() {
            return form.map_or(Value::Data, Value::Int);
        }
        let Some(form) = form else {
            return self.escape(scalar, false, Scope::Lane, expr);
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
            let scope = self.symbols.scope(&form);
            if !self.holds(&form) {
                return self.escape(scalar, true, scope, expr);
            }
            let room = form.scale(&Lanes::Uniform(-1)).and_then(|form| form.offset(INDEX_LIMIT));
            if !room.is_some_and(|room| self.holds(&room)) {
                return self.escape(scalar, false, scope, expr);
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
            _ => self.opaque(scalar, Scope::Lane),
        }
    }

    fn escape(&mut self, scalar: Scalar, below_zero: bool, scope: Scope, expr: &Expr) -> Value {
        let value = self.opaque(scalar, scope);
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
                let scope = self.symbols.scope(&form);
                self.opaque(scalar, scope)
            }
            (UnaryOp::Negate | UnaryOp::Not, Value::Truth(_) | Value::Data) => {
                self.opaque(scalar, Scope::Lane)
            }
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
                return match op {
                    BinaryOp::And => Value::Truth(a.and(b)),
                    BinaryOp::Or => Value::Truth(a.not().and(b.not()).not()),
                    _ => Value::Truth(Truth { arbitrary: a.arbitrary || b.arbitrary, ..Truth::data() }),
                };
            }
            _ => return self.opaque(scalar, Scope::Lane),
        };
        if let (Some(x), Some(y)) = (a.known(), b.known()) {
            // Operations that may fail on inactive lanes only: a failure is not a reason to forget the others.
            if let Some(lanes) = x.zip(y, |x, y| Some(apply(op, x, y).unwrap_or(i64::MIN)))
                && lanes.min(&self.mask).is_none_or(|(least, _)| least > i64::MIN)
            {
                return self.fit(Some(Linear::constant(lanes)), scalar, expr);
            }
            return self.opaque(scalar, self.common_scope(&a, &b));
        }
        let form = match op {
            BinaryOp::Add => a.add(&b),
            BinaryOp::Sub => a.sub(&b),
            BinaryOp::Mul => self.symbols.multiply(&a, &b),
            BinaryOp::Div => self.divide(&a, &b).map(|(quotient, _)| quotient),
            BinaryOp::Rem => self.divide(&a, &b).map(|(_, remainder)| remainder),
            BinaryOp::DivCeil => match b.known_uniform().and_then(|divisor| a.offset(divisor - 1)) {
                Some(up) => self.divide(&up, &b).map(|(quotient, _)| quotient),
                None => match self.divide(&a, &b).and_then(|(quotient, _)| quotient.offset(1)) {
                    Some(high) => {
                        let (form, new) = self.derived(Derivation {
                            operation: Operation::Binary(op),
                            operands: (&a, &b),
                            range: (0, self.bounds(&high).1),
                            interior: None,
                            cases: Vec::new(),
                            name: "a quotient",
                        });
                        if new {
                            self.define([high.sub(&form)]);
                        }
                        Some(form)
                    }
                    None => None,
                },
            },
            BinaryOp::Shl => {
                match b.known().and_then(|by| by.map(|by| (0..62).contains(&by).then(|| 1i64 << by))) {
                    Some(factor) => a.scale(&factor),
                    None => return self.opaque(scalar, self.common_scope(&a, &b)),
                }
            }
            BinaryOp::Shr => match b.known_uniform().filter(|by| (0..62).contains(by)) {
                Some(by) => self.divide(&a, &Linear::int(1 << by)).map(|(quotient, _)| quotient),
                None => return self.opaque(scalar, self.common_scope(&a, &b)),
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
            BinaryOp::Min | BinaryOp::Max => self.extremum(op, &a, &b),
        };
        match form {
            Some(form) => self.fit(Some(form), scalar, expr),
            None if matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul) => {
                self.fit(None, scalar, expr)
            }
            None => self.opaque(scalar, self.common_scope(&a, &b)),
        }
    }

    /// Quotient and remainder of non-negative numbers.
    fn divide(&mut self, a: &Linear, b: &Linear) -> Option<(Linear, Linear)> {
        if !self.holds(a) {
            return None;
        }
        let Some(divisor) = b.known_uniform() else { return self.divide_symbolic(a, b) };
        if divisor <= 0 {
            return None;
        }
        // Exact where all coefficients are multiples of the divisor.
        let mut exact = true;
        for (symbol, coefficient) in &a.terms {
            let remainder = coefficient.map(|value| Some(value.rem_euclid(divisor)))?;
            if remainder.is_zero() {
                continue;
            }
            exact = false;
            if !self.is_uniform(a) {
                self.request(*symbol, divisor / coefficient.gcd(divisor));
            }
        }
        if exact {
            let quotient = a.map(|value| Some(value.div_euclid(divisor)))?;
            let remainder = a.constant.map(|value| Some(value.rem_euclid(divisor)))?;
            return Some((quotient, Linear::constant(remainder)));
        }
        let (_, high) = self.bounds(a);
        let (quotient, new) = self.derived(Derivation {
            operation: Operation::Quotient,
            operands: (a, b),
            range: (0, high / i128::from(divisor)),
            interior: None,
            cases: Vec::new(),
            name: "a quotient",
        });
        let remainder = a.sub(&quotient.scale(&Lanes::Uniform(divisor))?)?;
        if new {
            let room = remainder.scale(&Lanes::Uniform(-1)).and_then(|room| room.offset(divisor - 1));
            self.define([Some(remainder.clone()), room]);
        }
        Some((quotient, remainder))
    }

    fn divide_symbolic(&mut self, a: &Linear, b: &Linear) -> Option<(Linear, Linear)> {
        if !self.holds(&b.offset(-1)?) {
            return None;
        }
        // Away from the edges of rows, all lanes of a warp are in one row.
        let range = (0, self.bounds(a).1);
        let row = self.is_uniform(b).then(|| {
            let kind = SymbolKind::Derived(self.symbols.len() as u32);
            Linear::symbol(self.symbols.add(Symbol::new(kind, range, Scope::Warp, "a quotient")))
        });
        let (quotient, new) = self.derived(Derivation {
            operation: Operation::Quotient,
            operands: (a, b),
            range,
            interior: row,
            cases: Vec::new(),
            name: "a quotient",
        });
        let remainder = a.sub(&self.symbols.multiply(&quotient, b)?)?;
        if new {
            let room = b.sub(&remainder).and_then(|room| room.offset(-1));
            self.define([a.sub(&quotient), Some(remainder.clone()), room]);
        }
        Some((quotient, remainder))
    }

    /// `&`, `|`, `^`: exact on the low bits that no symbol reaches.
    fn bitwise(&mut self, op: BinaryOp, a: &Linear, b: &Linear) -> Option<Linear> {
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
        let mut exact = true;
        for (symbol, coefficient) in &form.terms {
            if !coefficient.map(|value| Some(value.rem_euclid(block)))?.is_zero() {
                exact = false;
                self.request(*symbol, block / coefficient.gcd(block));
            }
        }
        if !exact {
            return self.bitwise_derived(op, a, b);
        }
        let low = form.constant.map(|value| Some(value.rem_euclid(block)))?;
        let combined = low.zip(lanes, |low, other| apply(op, low, other))?;
        match op {
            BinaryOp::And => Some(Linear::constant(combined)),
            _ => form.sub(&Linear::constant(low))?.add(&Linear::constant(combined)),
        }
    }

    fn bitwise_derived(&mut self, op: BinaryOp, a: &Linear, b: &Linear) -> Option<Linear> {
        if !(self.holds(a) && self.holds(b)) {
            return None;
        }
        let most = self.bounds(a).1.max(self.bounds(b).1);
        let high = (u128::try_from(most).ok()?.checked_add(1)?.checked_next_power_of_two()? - 1) as i128;
        let (form, new) = self.derived(Derivation {
            operation: Operation::Binary(op),
            operands: (a, b),
            range: (0, high),
            interior: None,
            cases: Vec::new(),
            name: "a bit pattern",
        });
        if new {
            match op {
                BinaryOp::And => self.define([a.sub(&form), b.sub(&form)]),
                BinaryOp::Or => self.define([form.sub(a), form.sub(b)]),
                _ => {}
            }
        }
        Some(form)
    }

    fn extremum(&mut self, op: BinaryOp, a: &Linear, b: &Linear) -> Option<Linear> {
        let min = op == BinaryOp::Min;
        let difference = b.sub(a)?;
        if self.holds(&difference) {
            return Some(if min { a.clone() } else { b.clone() });
        }
        if self.holds(&a.sub(b)?) {
            return Some(if min { b.clone() } else { a.clone() });
        }
        let ((low_a, high_a), (low_b, high_b)) = (self.bounds(a), self.bounds(b));
        let range =
            if min { (low_a.min(low_b), high_a.min(high_b)) } else { (low_a.max(low_b), high_a.max(high_b)) };
        // Away from the edge the result is the side that differs between threads.
        let interior = match (self.is_uniform(a), self.is_uniform(b)) {
            (false, true) => Some(a.clone()),
            (true, false) => Some(b.clone()),
            _ => None,
        };
        let (a_is_less, b_is_less) = (b.sub(a), a.sub(b));
        let case = |value: &Linear, fact: Option<Linear>| Case {
            value: value.clone(),
            facts: fact.into_iter().map(Rc::new).collect(),
        };
        let cases = match min {
            true => vec![case(a, a_is_less), case(b, b_is_less)],
            false => vec![case(a, b_is_less), case(b, a_is_less)],
        };
        let name = if min { "a minimum" } else { "a maximum" };
        let operation = Operation::Binary(op);
        let (form, new) =
            self.derived(Derivation { operation, operands: (a, b), range, interior, cases, name });
        if new {
            let rooms = |a: &Linear, b: &Linear| if min { a.sub(b) } else { b.sub(a) };
            self.define([rooms(a, &form), rooms(b, &form)]);
        }
        Some(form)
    }

    fn comparison(&mut self, op: CompareOp, a: Handle<Expr>, b: Handle<Expr>) -> Value {
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
    fn at_least(&mut self, a: &Linear, b: &Linear, by: i64) -> Truth {
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
        let arbitrary = form.terms.iter().any(|(symbol, _)| self.symbols.get(*symbol).scope < Scope::Warp);
        Truth {
            known_true: Mask::Uniform(false),
            known_false: Mask::Uniform(false),
            when_true: vec![Rc::new(tighten(form))],
            when_false: negated.map(|form| Rc::new(tighten(form))).into_iter().collect(),
            arbitrary,
        }
    }

    fn equal(&mut self, a: &Linear, b: &Linear) -> Truth {
        let Some(form) = a.sub(b) else { return Truth::data() };
        if let Some(lanes) = form.known() {
            return Truth::known(mask_of(lanes, |value| value == 0));
        }
        let negated = form.scale(&Lanes::Uniform(-1));
        Truth {
            known_true: Mask::Uniform(false),
            known_false: Mask::Uniform(false),
            arbitrary: self.symbols.scope(&form) < Scope::Warp,
            when_true: negated.into_iter().chain([form]).map(Rc::new).collect(),
            when_false: Vec::new(),
        }
    }

    fn cast(&mut self, a: Handle<Expr>, scalar: Scalar) -> Value {
        match self.value(a) {
            Value::Int(form) => {
                let (low, high) = self.bounds(&form);
                match scalar.range() {
                    Some((least, most)) if least <= low && high <= most => Value::Int(form),
                    Some(_) => self.opaque(scalar, self.symbols.scope(&form)),
                    None => Value::Data,
                }
            }
            Value::Truth(truth) if scalar.is_integer() => {
                let (one, zero) = (Value::Int(Linear::int(1)), Value::Int(Linear::int(0)));
                self.join(&truth, one, zero, scalar)
            }
            Value::Truth(_) | Value::Data => self.opaque(scalar, Scope::Lane),
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
                let ((low_a, high_a), (low_b, high_b)) = (self.bounds(&a), self.bounds(&b));
                let scope = condition.scope(&self.symbols).min(self.common_scope(&a, &b));
                let number = self.symbols.len() as u32;
                let range = (low_a.min(low_b), high_a.max(high_b));
                let cases = vec![
                    Case { value: a, facts: condition.when_true.clone() },
                    Case { value: b, facts: condition.when_false.clone() },
                ];
                let kind = SymbolKind::Derived(number);
                let id = self
                    .symbols
                    .add(Symbol { cases, ..Symbol::new(kind, range, scope, "one of two values") });
                Value::Int(Linear::symbol(id))
            }
            (Value::Truth(a), Value::Truth(b)) if a.is_known() && b.is_known() && condition.is_known() => {
                let chosen =
                    condition.known_true.and(&a.known_true).or(&condition.known_false.and(&b.known_true));
                Value::Truth(Truth::known(chosen))
            }
            _ => self.opaque(scalar, Scope::Lane),
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

/// Integer arithmetic on known numbers; `None` where it is not defined or does not fit.
fn apply(op: BinaryOp, a: i64, b: i64) -> Option<i64> {
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
