//! The value of an expression for every thread.

use super::EscapeKind;
use super::lanes::{Lanes, Mask};
use super::linear::Linear;
use super::prove::{follows, lower_bound, non_negative, upper_bound};
use super::symbol::{Symbol, SymbolKind};
use super::truth::{Truth, Value};
use super::walk::Walk;
use super::width::FORM_LIMIT;
use crate::ir::{Axis, BinaryOp, Expr, ExprKind, Function, Handle, Param, Scalar, Scope, Type, UnaryOp};
use tileproof_model::language;

/// Extents, strides and index arguments stay below this.
pub(super) const EXTENT_LIMIT: i128 = language::INDEX_LIMIT as i128;
/// What the launcher demands of extents, strides and index arguments before it chooses 32-bit indices.
pub(super) const NARROW_LIMIT: i128 = language::NARROW_LIMIT as i128;

impl Walk<'_> {
    pub(super) fn value(&mut self, handle: Handle<Expr>) -> Value {
        let kernel = self.kernel;
        let expr = &kernel.exprs[handle];
        let scalar = match expr.ty {
            Type::Scalar(scalar) => scalar,
            Type::Vector(..) => return Value::Data(self.vector_scope(&expr.kind)),
        };
        match &expr.kind {
            ExprKind::Int(value) => {
                let fits = match scalar.is_signed() {
                    true => i32::try_from(*value).is_ok(),
                    false => u32::try_from(*value).is_ok(),
                };
                self.narrow &= fits || !scalar.is_index() || self.on_host || self.mask.is_empty();
                match i64::try_from(*value) {
                    Ok(value) => Value::Int(Linear::int(value)),
                    Err(_) => self.opaque(scalar, Scope::Block),
                }
            }
            ExprKind::Float(_) => Value::Data(Scope::Block),
            ExprKind::Bool(value) => Value::Truth(Truth::known(Mask::Uniform(*value))),
            ExprKind::Param(param) => match scalar {
                Scalar::Bool => Value::Truth(match self.flags[param.index()] {
                    Some(known) => Truth::known(Mask::Uniform(known)),
                    None => {
                        let name = kernel.params[*param].name.clone();
                        let number = self.symbol_form(SymbolKind::Scalar(*param), (0, 1), 1, name);
                        let assigned = Some(u32::MAX - param.index() as u32);
                        Truth { assigned, ..self.at_least(&number, &Linear::int(0), 1) }
                    }
                }),
                Scalar::F16 | Scalar::Bf16 | Scalar::F32 | Scalar::F64 => Value::Data(Scope::Block),
                _ => {
                    let (low, high) = scalar.range().unwrap_or((0, 0));
                    let (low, high, narrow_high) = match scalar {
                        Scalar::Usize => (0, EXTENT_LIMIT - 1, NARROW_LIMIT - 1),
                        Scalar::Isize => (1 - EXTENT_LIMIT, EXTENT_LIMIT - 1, NARROW_LIMIT - 1),
                        _ => (low, high, high),
                    };
                    let name = kernel.params[*param].name.clone();
                    self.symbol(SymbolKind::Scalar(*param), (low, high), narrow_high, name)
                }
            },
            ExprKind::Extent(param, dimension) => self.extent(*param, *dimension),
            ExprKind::Stride(param, dimension) => self.stride(*param, *dimension),
            ExprKind::Misalignment(param, of) => {
                let name = format!("{}.misalignment::<{of}>()", kernel.params[*param].name);
                let most = i128::from(*of) - 1;
                self.symbol(SymbolKind::Misalignment(*param, *of), (0, most), most, name)
            }
            ExprKind::Thread(axis) => Value::Int(Linear::constant(self.thread_index(*axis))),
            ExprKind::Block(axis) => Value::Int(self.block_index(*axis)),
            ExprKind::Grid(axis) => Value::Int(self.grid_extent(*axis)),
            ExprKind::Local(local) => match self.environment[local.index()].clone() {
                Some(value) => value,
                None => self.opaque(scalar, Scope::Lane),
            },
            ExprKind::Element(local, index) => {
                if let Some(elements) = &kernel.locals[*local].table {
                    return self.table_element(*local, elements, index, (scalar, expr.span));
                }
                self.register_access(*local, index, expr.span);
                self.opaque_from(scalar, Scope::Lane, || {
                    format!("an element of `{}`", kernel.locals[*local].name)
                })
            }
            ExprKind::Lane(vector, lane) => {
                let vector_value = self.value(*vector);
                self.register_index(*lane, kernel.exprs[*vector].ty.width(), expr.span);
                let scope = self.scope_of(&vector_value);
                self.opaque(scalar, scope)
            }
            ExprKind::Vector(_) => Value::Data(self.vector_scope(&expr.kind)),
            ExprKind::Unary(op, a) => self.unary(*op, *a, scalar, expr),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) if scalar == Scalar::Bool => {
                Value::Truth(self.logical(*op == BinaryOp::And, *a, *b))
            }
            ExprKind::Binary(op, a, b) => match self.number_of(handle) {
                Some(number) => Value::Int(Linear::int(number)),
                None => self.binary(*op, *a, *b, scalar, expr),
            },
            ExprKind::Compare(op, a, b) => self.comparison(*op, *a, *b),
            ExprKind::Select(condition, a, b) => {
                let condition = self.truth(*condition);
                let (a, b) = (self.value(*a), self.value(*b));
                self.join(&condition, a, b, scalar)
            }
            ExprKind::Cast(a) => self.cast(*a, scalar, expr),
            ExprKind::Call(function, operands) => self.call(*function, operands, scalar),
        }
    }

    /// The value of index arithmetic on numbers that are known and the same for all threads, where nothing can be wrong with it.
    pub(super) fn number_of(&self, handle: Handle<Expr>) -> Option<i64> {
        let expr = &self.kernel.exprs[handle];
        let number = match &expr.kind {
            ExprKind::Int(value) => i64::try_from(*value).ok()?,
            ExprKind::Local(local) => match &self.environment[local.index()] {
                Some(Value::Int(form)) => form.known_uniform()?,
                Some(Value::Truth(_) | Value::Data(_)) | None => return None,
            },
            ExprKind::Binary(
                op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem),
                a,
                b,
            ) => apply(*op, self.number_of(*a)?, self.number_of(*b)?)?,
            _ => return None,
        };
        let fits = expr.ty == Type::Scalar(Scalar::Usize) && (0..=i64::from(u32::MAX)).contains(&number);
        fits.then_some(number)
    }

    /// Over which threads a vector is the same: those over which all that it is made of is.
    fn vector_scope(&mut self, kind: &ExprKind) -> Scope {
        match kind {
            ExprKind::Local(local) => match &self.environment[local.index()] {
                Some(value) => self.scope_of(value),
                None => Scope::Lane,
            },
            ExprKind::Element(local, index) => {
                let span = index.first().map_or(self.kernel.span, |index| self.kernel.exprs[*index].span);
                self.register_access(*local, index, span);
                Scope::Lane
            }
            _ => {
                let operands = kind.operands().into_iter();
                operands.fold(Scope::Block, |scope, operand| {
                    let value = self.value(operand);
                    scope.min(self.scope_of(&value))
                })
            }
        }
    }

    /// Over which threads a value is the same.
    pub(super) fn scope_of(&self, value: &Value) -> Scope {
        match value {
            Value::Int(form) => self.symbols.scope(form),
            Value::Truth(truth) => truth.scope,
            Value::Data(scope) => *scope,
        }
    }

    /// The condition as a truth value.
    pub(super) fn truth(&mut self, handle: Handle<Expr>) -> Truth {
        match self.value(handle) {
            Value::Truth(truth) => truth,
            Value::Int(_) | Value::Data(_) => Truth::data(),
        }
    }

    /// The index as a form.
    pub(super) fn form(&mut self, handle: Handle<Expr>) -> Linear {
        match self.value(handle) {
            Value::Int(form) => form,
            Value::Truth(_) | Value::Data(_) => match self.opaque(Scalar::Usize, Scope::Lane) {
                Value::Int(form) => form,
                Value::Truth(_) | Value::Data(_) => Linear::int(0),
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
        if let Some(id) = self.symbols.find(&kind) {
            return self.symbols.resolved(id);
        }
        let residue = self.residues.get(&kind.split_as());
        // The launcher bounds magnitudes.
        let narrow_low = if narrow_high < range.1 { range.0.max(-narrow_high) } else { range.0 };
        let new = Symbol::new(kind, range, Scope::Block, name);
        let id = self.symbols.add(Symbol { narrow_low, narrow_high, ..new });
        if let Some(residue) = residue {
            self.unreached |= (0..=range.1).contains(&range.0) && i128::from(residue.residue) > range.1;
            self.symbols.split(id, *residue);
        }
        self.symbols.resolved(id)
    }

    fn extent(&mut self, param: Handle<Param>, dimension: u32) -> Value {
        let name = self.kernel.extent_name(param, dimension);
        self.symbol(SymbolKind::Extent(param, dimension), (0, EXTENT_LIMIT - 1), NARROW_LIMIT - 1, name)
    }

    pub(super) fn stride(&mut self, param: Handle<Param>, dimension: u32) -> Value {
        let name = self.kernel.stride_name(param, dimension);
        self.symbol(SymbolKind::Stride(param, dimension), (0, EXTENT_LIMIT - 1), NARROW_LIMIT - 1, name)
    }

    fn thread_index(&mut self, axis: Axis) -> Lanes {
        if let Some(lanes) = &self.thread_indices[axis.index()] {
            return lanes.clone();
        }
        let [x, y, _] = self.kernel.block.map(|extent| extent as usize);
        let position = |thread: usize| match axis {
            Axis::X => thread % x,
            Axis::Y => thread / x % y,
            Axis::Z => thread / (x * y),
        };
        let lanes = Lanes::each((0..self.threads).map(|thread| position(thread) as i64).collect());
        self.thread_indices[axis.index()] = Some(lanes.clone());
        lanes
    }

    /// A value of this type of which nothing else is known.
    pub(super) fn opaque(&mut self, scalar: Scalar, scope: Scope) -> Value {
        self.opaque_from(scalar, scope, || "a value that is not known here".into())
    }

    /// The same, with where it comes from, for messages.
    pub(super) fn opaque_from(
        &mut self,
        scalar: Scalar,
        scope: Scope,
        name: impl FnOnce() -> String,
    ) -> Value {
        match scalar.range() {
            Some(range) => Value::Int(self.between(range, scope, name())),
            None if scalar == Scalar::Bool => Value::Truth(Truth::unknown(scope)),
            None => Value::Data(scope),
        }
    }

    /// A number of which nothing is known but its range.
    pub(super) fn between(&mut self, range: (i128, i128), scope: Scope, name: impl Into<String>) -> Linear {
        let kind = SymbolKind::Opaque(self.symbols.len() as u32);
        Linear::symbol(self.symbols.add(Symbol::new(kind, range, scope, name)))
    }

    /// Some index of which nothing is known but that it is one.
    pub(super) fn probe(&mut self, scope: Scope) -> Linear {
        self.between((0, EXTENT_LIMIT), scope, "an index")
    }

    /// Whether a form is the same for all threads of the block.
    pub(super) fn is_uniform(&self, form: &Linear) -> bool {
        self.symbols.scope(form) == Scope::Block
    }

    pub(super) fn common_scope(&self, a: &Linear, b: &Linear) -> Scope {
        self.symbols.scope(a).min(self.symbols.scope(b))
    }

    /// Whether `goal ≥ 0` for all threads here.
    pub(super) fn holds(&self, goal: &Linear) -> bool {
        if lower_bound(goal, &self.mask, &self.symbols).is_some_and(|bound| bound >= 0) {
            return true;
        }
        non_negative(goal, &self.all_facts(), &self.mask, &self.symbols)
    }

    /// The same by a short proof, for questions whose answer is mostly no.
    pub(super) fn plainly_holds(&self, goal: &Linear) -> bool {
        follows(goal, &self.all_facts(), &self.mask, &self.symbols)
    }

    /// Whether it holds, tried for the least constant of all threads first: one proof for all is cheaper than one for each.
    pub(super) fn holds_for_least(&self, goal: &Linear) -> bool {
        goal.for_least(&self.mask).is_some_and(|least| self.holds(&least)) || self.holds(goal)
    }

    /// Whether `goal ≥ 0` for all threads here in a launch with 32-bit indices.
    pub(super) fn holds_in_narrow(&mut self, goal: &Linear) -> bool {
        let (facts, mask) = (self.all_facts(), self.mask.clone());
        let least = goal.for_least(&mask);
        self.symbols.assuming_narrow(|symbols| {
            least.is_some_and(|least| non_negative(&least, &facts, &mask, symbols))
                || non_negative(goal, &facts, &mask, symbols)
        })
    }

    /// The least and largest value by the ranges of the symbols.
    pub(super) fn bounds(&self, form: &Linear) -> (i128, i128) {
        let low = lower_bound(form, &self.mask, &self.symbols);
        let high = upper_bound(form, &self.mask, &self.symbols);
        (low.unwrap_or(i128::MIN / 4), high.unwrap_or(i128::MAX / 4))
    }

    /// The same, for a value of this type.
    pub(super) fn bounds_of(&self, form: &Linear, scalar: Scalar) -> (i128, i128) {
        let (low, high) = self.bounds(form);
        scalar.range().map_or((low, high), |(least, most)| (low.max(least), high.min(most)))
    }

    // ---- operations ----

    fn unary(&mut self, op: UnaryOp, a: Handle<Expr>, scalar: Scalar, expr: &Expr) -> Value {
        match (op, self.value(a)) {
            (UnaryOp::Not, Value::Truth(truth)) => Value::Truth(truth.not()),
            (UnaryOp::Negate, Value::Int(form)) => {
                let negated = form.scale(&Lanes::Uniform(-1));
                self.fit(negated, scalar, expr)
            }
            (UnaryOp::Not, Value::Int(form)) => {
                let scope = self.symbols.scope(&form);
                self.wide(scalar, scope)
            }
            (UnaryOp::Negate | UnaryOp::Not, value @ (Value::Truth(_) | Value::Data(_))) => {
                let scope = self.scope_of(&value);
                self.opaque(scalar, scope)
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
                let (arbitrary, scope) = (a.arbitrary || b.arbitrary, a.scope.min(b.scope));
                return Value::Truth(Truth { arbitrary, scope, ..Truth::data() });
            }
            (a, b) => {
                let scope = self.scope_of(&a).min(self.scope_of(&b));
                return self.opaque(scalar, scope);
            }
        };
        let divides = op.divides();
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
            if let Some(lanes) =
                quickly(op, x, y).or_else(|| x.zip(y, |x, y| Some(apply(op, x, y).unwrap_or(i64::MIN))))
                && lanes.min(&self.mask).is_none_or(|(least, _)| least > i64::MIN)
            {
                return self.fit(Some(Linear::constant(lanes)), scalar, expr);
            }
            return match divides && !self.on_host {
                true => self.escape(Some(&b), scalar, EscapeKind::DivisionByZero, expr),
                false => self.fit(None, scalar, expr),
            };
        }
        if divides && !self.on_host && !self.positive(&b) {
            return self.escape(Some(&b), scalar, EscapeKind::DivisionByZero, expr);
        }
        let form = match op {
            BinaryOp::Add => a.add(&b),
            BinaryOp::Sub => a.sub(&b),
            BinaryOp::Mul => self.multiply(&a, &b),
            BinaryOp::Div | BinaryOp::Rem => match self.divide(&a, &b) {
                Some((quotient, _)) if op == BinaryOp::Div => Some(quotient),
                Some((_, remainder)) => Some(remainder),
                None if self.on_host => None,
                None => self.divide_truncated(op, &a, &b),
            },
            BinaryOp::DivCeil => {
                match b.known_uniform().and_then(|divisor| a.offset(divisor.checked_sub(1)?)) {
                    Some(up) => self.divide(&up, &b).map(|(quotient, _)| quotient),
                    None => self.divide_up_symbolic(&a, &b),
                }
            }
            BinaryOp::Shl => {
                match b.known().and_then(|by| by.map(|by| (0..62).contains(&by).then(|| 1i64 << by))) {
                    Some(factor) => a.scale(&factor),
                    None => self.shift_up(&a, &b),
                }
            }
            BinaryOp::Shr => match b.known_uniform().filter(|by| (0..62).contains(by)) {
                Some(by) => self.divide_down(&a, 1 << by).map(|(quotient, _)| quotient),
                None => self.shift_down(&a, &b),
            },
            BinaryOp::And => match (b.known_uniform(), a.known_uniform()) {
                (Some(mask), _) if is_low_bits(mask) => {
                    self.divide_down(&a, mask + 1).map(|(_, remainder)| remainder)
                }
                (_, Some(mask)) if is_low_bits(mask) => {
                    self.divide_down(&b, mask + 1).map(|(_, remainder)| remainder)
                }
                _ => self.bitwise(op, &a, &b),
            },
            BinaryOp::Or | BinaryOp::Xor => self.bitwise(op, &a, &b),
            BinaryOp::Min | BinaryOp::Max => self.extremum(op, &a, &b, scalar),
        };
        match form {
            Some(form) => self.fit(Some(form), scalar, expr),
            None if scalar.is_index()
                && matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Shl) =>
            {
                self.fit(None, scalar, expr)
            }
            None => self.wide(scalar, self.common_scope(&a, &b)),
        }
    }

    fn cast(&mut self, a: Handle<Expr>, scalar: Scalar, expr: &Expr) -> Value {
        let from = self.kernel.exprs[a].ty.scalar();
        match self.value(a) {
            Value::Int(form) => {
                let Some((least, most)) = scalar.range() else {
                    return Value::Data(self.symbols.scope(&form));
                };
                let (low, high) = self.bounds(&form);
                // The ranges of the symbols say it, or what is known here does: of a bound that is too large for forms, a
                // smaller one.
                let limit = i128::from(FORM_LIMIT);
                let above = |bound: i128| {
                    let room = form.offset(-(bound.clamp(-limit, limit) as i64));
                    room.is_some_and(|room| self.holds(&room))
                };
                let below = |bound: i128| {
                    let negated = form.scale(&Lanes::Uniform(-1));
                    let room = negated.and_then(|form| form.offset(bound.clamp(-limit, limit) as i64));
                    room.is_some_and(|room| self.holds(&room))
                };
                let (is_above, is_below) = (least <= low || above(least), high <= most || below(most));
                let is_dead = self.on_host || self.mask.is_empty();
                match (is_above && is_below, from.is_index() && scalar.is_index()) {
                    (true, _) => {
                        if scalar.is_index() {
                            self.keep_narrow(&form, scalar);
                        }
                        self.is_kept(&form, scalar);
                        Value::Int(form)
                    }
                    // Host expressions are mathematical integers, which a conversion leaves as they are.
                    (false, true) if is_dead => Value::Int(form),
                    (false, true) => {
                        let kind = if is_above { EscapeKind::TooLarge } else { EscapeKind::NegativeIndex };
                        self.escape(Some(&form), scalar, kind, expr)
                    }
                    (false, false) => {
                        self.narrow &= !scalar.is_index() || is_dead;
                        let name = "a value that is not known here".into();
                        let Some((kept, new)) = self.kept(&form, scalar, name) else {
                            return self.opaque(scalar, self.symbols.scope(&form));
                        };
                        if new {
                            self.hand_on_wrap(&form, &kept);
                        }
                        Value::Int(kept)
                    }
                }
            }
            Value::Truth(truth) if scalar.is_integer() => {
                let (one, zero) = (Value::Int(Linear::int(1)), Value::Int(Linear::int(0)));
                self.join(&truth, one, zero, scalar)
            }
            value @ (Value::Truth(_) | Value::Data(_)) => {
                let scope = self.scope_of(&value);
                self.wide(scalar, scope)
            }
        }
    }

    /// A function of numbers: known for known operands where it counts bits, else its type and range.
    fn call(&mut self, function: Function, operands: &[Handle<Expr>], scalar: Scalar) -> Value {
        let own = self.kernel.own_type(function, operands, Type::Scalar(scalar));
        let values: Vec<Value> = operands.iter().map(|operand| self.value(*operand)).collect();
        let scope = values.iter().map(|value| self.scope_of(value)).fold(Scope::Block, Scope::min);
        let bits = 8 * i64::from(own.bytes());
        let (most, known): (i64, fn(u64, u32) -> u64) = match function {
            Function::CountOnes => (bits, |x, _| x.count_ones().into()),
            Function::LeadingZeros => (bits, |x, bits| (x.leading_zeros() - (64 - bits)).into()),
            Function::TrailingZeros => (bits, |x, bits| x.trailing_zeros().min(bits).into()),
            Function::Ilog2 => (bits - 1, |x, _| x.checked_ilog2().unwrap_or(0).into()),
            Function::ReverseBits if bits <= 32 && !own.is_signed() => {
                ((1 << bits) - 1, |x, bits| x.reverse_bits() >> (64 - bits))
            }
            Function::SwapBytes if bits <= 32 && !own.is_signed() => {
                ((1 << bits) - 1, |x, bits| x.swap_bytes() >> (64 - bits))
            }
            Function::Isqrt => {
                let high = match values.first() {
                    Some(Value::Int(form)) => self.bounds_of(form, own).1,
                    Some(Value::Truth(_) | Value::Data(_)) | None => return self.wide(scalar, scope),
                };
                let root = u64::try_from(high).map_or(u32::MAX.into(), u64::isqrt) as i64;
                return Value::Int(self.between((0, root.into()), scope, "a square root"));
            }
            _ => return self.wide(scalar, scope),
        };
        let known = match values.first() {
            Some(Value::Int(form)) => form.known().and_then(|lanes| {
                lanes
                    .map(|x| i64::try_from(known((x as u64) << (64 - bits) >> (64 - bits), bits as u32)).ok())
            }),
            Some(Value::Truth(_) | Value::Data(_)) | None => None,
        };
        match known {
            Some(lanes) => Value::Int(Linear::constant(lanes)),
            None => Value::Int(self.between((0, most.into()), scope, format!("`{}`", function.name()))),
        }
    }
}

/// Whether the ones of a number are its lowest bits, and the next number is one too.
fn is_low_bits(mask: i64) -> bool {
    mask >= 0 && mask.checked_add(1).is_some_and(|next| next & mask == 0)
}

/// Of the frequent operations, where nothing can go wrong for any thread: as [`apply`] for each.
fn quickly(op: BinaryOp, a: &Lanes, b: &Lanes) -> Option<Lanes> {
    match (op, b) {
        (BinaryOp::Add, _) => a.add(b),
        (BinaryOp::Sub, _) => a.sub(b),
        (BinaryOp::Mul, _) => a.multiply(b),
        (BinaryOp::Div, Lanes::Uniform(by)) if *by > 0 => Some(a.divide(*by, false)),
        (BinaryOp::Rem, Lanes::Uniform(by)) if *by > 0 => Some(a.divide(*by, true)),
        _ => None,
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
        BinaryOp::Shl if a == 0 => Some(0),
        BinaryOp::Shl => (0..63).contains(&b).then(|| a.checked_mul(1 << b)).flatten(),
        BinaryOp::Shr => (0..64).contains(&b).then(|| a >> b),
        BinaryOp::Min => Some(a.min(b)),
        BinaryOp::Max => Some(a.max(b)),
        BinaryOp::DivCeil => (a >= 0 && b > 0).then(|| a.div_euclid(b) + i64::from(a % b != 0)),
    }
}
