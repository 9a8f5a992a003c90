//! Expressions.

use super::Emitter;
use super::code::{Code, Level};
use super::literal;
use super::plan::{int, known_comparison};
use super::prelude::{Arithmetic, Piece, is_narrowed};
use super::types::{self, element_type, held, scalar_type, stored};
use crate::ir::{Axis, Base, BinaryOp, Expr, ExprKind, Handle, Kernel, Local, Scalar, Type, UnaryOp};

/// The expression in C. Its value is that in Rust; its C type may be `int` where Rust has a smaller type.
pub(super) fn expr(e: &mut Emitter<'_>, handle: Handle<Expr>) -> Code {
    let Expr { kind, ty, .. } = &e.kernel.exprs[handle];
    let (ty, scalar) = (*ty, ty.scalar());
    match kind {
        ExprKind::Int(value) => literal::int(scalar, *value),
        ExprKind::Float(value) => literal::float(scalar, *value),
        ExprKind::Bool(value) => Code::atom(value.to_string()),
        ExprKind::Param(param) => Code::atom(&e.names.params[param.index()].value),
        ExprKind::Extent(param, d) => Code::atom(&e.names.params[param.index()].extents[*d as usize]),
        ExprKind::Stride(param, d) => Code::atom(&e.names.params[param.index()].strides[*d as usize]),
        ExprKind::Misalignment(param, of) => {
            let element = e.kernel.element(Base::Tensor(*param));
            let name = e.need(Piece::Misalignment(stored(element)));
            let tensor = Code::atom(&e.names.params[param.index()].value);
            Code::call(&name, &[tensor, Code::atom(of.to_string())])
        }
        ExprKind::Thread(axis) => builtin(e, Builtin::Thread, *axis),
        ExprKind::Block(axis) => builtin(e, Builtin::Block, *axis),
        ExprKind::Grid(axis) => builtin(e, Builtin::Grid, *axis),
        ExprKind::Local(local) => Code::atom(&e.names.locals[local.index()]),
        ExprKind::Element(local, index) => {
            let value = Code::atom(element(e, *local, index));
            // Tables hold indices as memory does, in 64 bits.
            let is_table = e.kernel.locals[*local].table.is_some();
            if is_table && stored(scalar) != scalar {
                Code::prefix(&format!("({})", scalar_type(scalar)), value)
            } else if holds_bits(e.kernel, *local) {
                let function = if scalar == Scalar::F32 { "__uint_as_float" } else { "__longlong_as_double" };
                let value = if scalar == Scalar::F32 { value } else { Code::prefix("(long long)", value) };
                Code::call(function, &[value])
            } else {
                value
            }
        }
        ExprKind::Lane(vector, lane) => {
            let width = e.kernel.exprs[*vector].ty.width();
            let (vector, lane) = (expr(e, *vector).at(Level::Atom), expr(e, *lane).text);
            let value = Code::atom(types::lane(&vector, width, &lane));
            if scalar.is_index() { Code::prefix(&format!("({})", scalar_type(scalar)), value) } else { value }
        }
        ExprKind::Vector(values) => vector(e, scalar, values),
        ExprKind::Unary(op, a) => {
            let a = typed(e, *a);
            each(e, ty, &[a], |e, lanes| unary(e, *op, scalar, lane(lanes, 0)))
        }
        ExprKind::Binary(op, a, b) => match held(ty) {
            Type::Scalar(_) => binary(e, *op, scalar, *a, *b),
            Type::Vector(scalar, width) => {
                let operands = [expr(e, *a), expr(e, *b)];
                match packed(*op, scalar, width) {
                    Some(operation) => {
                        e.need_type(ty);
                        let name = e.need(Piece::Packed(operation, scalar, width));
                        Code::call(&name, &operands)
                    }
                    None => each(e, ty, &operands, |e, lanes| {
                        combine(e, *op, scalar, lane(lanes, 0), lane(lanes, 1), None)
                    }),
                }
            }
        },
        ExprKind::Compare(op, a, b) => match known_comparison(e.kernel, *op, *a, *b) {
            Some(known) => Code::atom(known.to_string()),
            None => {
                let from = e.kernel.exprs[*a].ty.scalar();
                let (a, b) = (expr(e, *a), expr(e, *b));
                let (a, b) = match from.is_half() {
                    true => (cast(e, from, Scalar::F32, a), cast(e, from, Scalar::F32, b)),
                    false => (a, b),
                };
                Code::infix(Level::Comparison, a, op.name(), b)
            }
        },
        ExprKind::Select(condition, yes, no) => {
            let (condition, yes, no) = (expr(e, *condition), typed(e, *yes), expr(e, *no));
            select(e, ty, condition, yes, no)
        }
        ExprKind::Cast(a) => {
            let from = e.kernel.exprs[*a].ty.scalar();
            let a = expr(e, *a);
            each(e, ty, &[a], |e, lanes| cast(e, from, scalar, lane(lanes, 0)))
        }
        ExprKind::Call(function, operands) => {
            let own = e.kernel.own_type(*function, operands, ty);
            let operands: Vec<Code> = operands.iter().map(|operand| expr(e, *operand)).collect();
            let name = e.need(Piece::Function(*function, own));
            Code::call(&name, &operands)
        }
    }
}

/// The expression with the C type of its value, where that matters: a constant index alone is an `int`, and two of them
/// would be computed in `int`.
fn typed(e: &mut Emitter<'_>, handle: Handle<Expr>) -> Code {
    let code = expr(e, handle);
    match e.kernel.exprs[handle].ty {
        Type::Scalar(scalar) if scalar.is_index() && int(e.kernel, handle).is_some() => {
            Code::prefix(&format!("({})", scalar_type(scalar)), code)
        }
        Type::Scalar(_) | Type::Vector(..) => code,
    }
}

/// What the thread knows about its place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Builtin {
    Thread,
    Block,
    Grid,
}

impl Builtin {
    pub(super) fn cuda(self) -> &'static str {
        match self {
            Builtin::Thread => "threadIdx",
            Builtin::Block => "blockIdx",
            Builtin::Grid => "gridDim",
        }
    }
}

pub(super) fn builtin(e: &mut Emitter<'_>, builtin: Builtin, axis: Axis) -> Code {
    e.builtins.insert((builtin, axis.index()));
    let names = match builtin {
        Builtin::Thread => &e.names.thread,
        Builtin::Block => &e.names.block,
        Builtin::Grid => &e.names.grid,
    };
    Code::atom(&names[axis.index()])
}

/// An element of a register array.
pub(super) fn element(e: &mut Emitter<'_>, local: Handle<Local>, index: &[Handle<Expr>]) -> String {
    let index: Vec<String> = index.iter().map(|i| format!("[{}]", expr(e, *i).text)).collect();
    format!("{}{}", e.names.locals[local.index()], index.concat())
}

/// Whether a table holds the bits of its floats: C has no constants for what is not finite, but calls, which may not initialise
/// constant memory.
fn holds_bits(kernel: &Kernel, local: Handle<Local>) -> bool {
    let local = &kernel.locals[local];
    let scalar = local.ty.scalar();
    let is_finite = |value: f64| match scalar == Scalar::F32 {
        true => (value as f32).is_finite(),
        false => value.is_finite(),
    };
    let mut values = local.table.iter().flatten().map(|value| &kernel.exprs[*value].kind);
    scalar.is_float()
        && !scalar.is_half()
        && values.any(|value| matches!(value, ExprKind::Float(value) if !is_finite(*value)))
}

/// The elements of a constant table, and their type.
pub(super) fn table(e: &mut Emitter<'_>, local: Handle<Local>) -> (String, Vec<Code>) {
    let (kernel, scalar) = (e.kernel, e.kernel.locals[local].ty.scalar());
    let as_bits = holds_bits(kernel, local);
    let bits = if scalar == Scalar::F32 { Scalar::U32 } else { Scalar::U64 };
    let values = kernel.locals[local].table.iter().flatten();
    let mut texts = Vec::new();
    for value in values {
        let float = if let ExprKind::Float(float) = kernel.exprs[*value].kind { Some(float) } else { None };
        texts.push(match float.filter(|_| as_bits) {
            Some(float) => literal::bits(scalar, float),
            None => expr(e, *value),
        });
    }
    (element_type(if as_bits { bits } else { scalar }, 1), texts)
}

fn vector(e: &mut Emitter<'_>, scalar: Scalar, values: &[Handle<Expr>]) -> Code {
    if let [value] = values {
        return expr(e, *value);
    }
    let width = values.len() as u32;
    e.need_type(Type::Vector(scalar, width));
    let values: Vec<String> = values
        .iter()
        .map(|value| {
            let constant = int(e.kernel, *value).is_some();
            let code = expr(e, *value);
            // Braces refuse to narrow the `int` that C makes of small types.
            if scalar.bytes() < 4 && scalar.is_integer() && !constant {
                Code::prefix(&format!("({})", scalar.name()), code).text
            } else {
                code.text
            }
        })
        .collect();
    Code::atom(format!("{}{{{{{}}}}}", element_type(scalar, width), values.join(", ")))
}

/// One of two values.
pub(super) fn select(e: &mut Emitter<'_>, ty: Type, condition: Code, yes: Code, no: Code) -> Code {
    match held(ty) {
        Type::Scalar(scalar) if scalar.is_half() => {
            let name = e.need(Piece::Select(scalar, 1));
            Code::call(&name, &[condition, yes, no])
        }
        Type::Scalar(_) => Code::conditional(condition, yes, no),
        // `?:` on structs selects an address, which forces both into memory.
        Type::Vector(scalar, width) => {
            e.need_type(ty);
            let name = e.need(Piece::Select(stored(scalar), width));
            Code::call(&name, &[condition, yes, no])
        }
    }
}

fn unary(e: &mut Emitter<'_>, op: UnaryOp, scalar: Scalar, a: Code) -> Code {
    match op {
        UnaryOp::Negate if scalar.is_float() && !scalar.is_half() => Code::prefix("-", a),
        UnaryOp::Negate => arithmetic(e, Arithmetic::Negate, scalar, vec![a]),
        UnaryOp::Not => match scalar {
            Scalar::Bool => Code::prefix("!", a),
            Scalar::U8 | Scalar::U16 => Code::prefix(&format!("({})", scalar.name()), Code::prefix("~", a)),
            Scalar::I8
            | Scalar::I16
            | Scalar::I32
            | Scalar::I64
            | Scalar::U32
            | Scalar::U64
            | Scalar::Usize
            | Scalar::Isize
            | Scalar::F16
            | Scalar::Bf16
            | Scalar::F32
            | Scalar::F64 => Code::prefix("~", a),
        },
    }
}

fn arithmetic(e: &mut Emitter<'_>, operation: Arithmetic, scalar: Scalar, operands: Vec<Code>) -> Code {
    let name = e.need(Piece::Arithmetic(operation, scalar));
    Code::call(&name, &operands)
}

fn binary(
    e: &mut Emitter<'_>,
    op: BinaryOp,
    scalar: Scalar,
    left: Handle<Expr>,
    right: Handle<Expr>,
) -> Code {
    let is_shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
    let mut constant = int(e.kernel, right);
    if is_shift {
        constant = constant.map(|amount| amount.rem_euclid(i128::from(8 * scalar.bytes())));
    }
    let a = if constant.is_some() { typed(e, left) } else { expr(e, left) };
    let right_scalar = e.kernel.exprs[right].ty.scalar();
    let b = match constant {
        Some(constant) => literal::int(right_scalar, constant),
        // The amount of a shift; C compilers warn if they can see that it is negative.
        None if is_shift && right_scalar.is_signed() => Code::prefix("(u32)", expr(e, right)),
        None => expr(e, right),
    };
    combine(e, op, scalar, a, b, constant)
}

/// One value for a scalar, and one for each lane of a vector; lowering gives vectors names, so the text stays short.
fn each(
    e: &mut Emitter<'_>,
    ty: Type,
    operands: &[Code],
    mut value: impl FnMut(&mut Emitter<'_>, &[String]) -> Code,
) -> Code {
    let texts: Vec<String> = operands.iter().map(|operand| operand.clone().at(Level::Atom)).collect();
    match held(ty) {
        Type::Scalar(_) => value(e, &texts),
        Type::Vector(scalar, width) => {
            e.need_type(ty);
            let values: Vec<String> = (0..width)
                .map(|i| {
                    let lanes: Vec<String> = texts.iter().map(|text| format!("{text}.lane[{i}]")).collect();
                    let code = value(e, &lanes);
                    // Braces refuse to narrow the `int` that C makes of small types.
                    match scalar.bytes() < 4 && scalar.is_integer() {
                        true => Code::prefix(&format!("({})", scalar.name()), code).text,
                        false => code.text,
                    }
                })
                .collect();
            Code::atom(format!("{}{{{{{}}}}}", element_type(scalar, width), values.join(", ")))
        }
    }
}

fn lane(lanes: &[String], operand: usize) -> Code {
    Code::atom(lanes.get(operand).map_or("", String::as_str))
}

/// The arithmetic that has an instruction for two values at once, with the bits of one at a time.
fn packed(op: BinaryOp, scalar: Scalar, width: u32) -> Option<Arithmetic> {
    if scalar != Scalar::F16 || !width.is_multiple_of(2) {
        return None;
    }
    match op {
        BinaryOp::Add => Some(Arithmetic::Add),
        BinaryOp::Sub => Some(Arithmetic::Sub),
        BinaryOp::Mul => Some(Arithmetic::Mul),
        BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Min
        | BinaryOp::Max
        | BinaryOp::DivCeil => None,
    }
}

/// The operation on two values; the right one may be a constant, which `b` is then the text of.
fn combine(
    e: &mut Emitter<'_>,
    op: BinaryOp,
    scalar: Scalar,
    a: Code,
    b: Code,
    constant: Option<i128>,
) -> Code {
    let logical = scalar == Scalar::Bool;
    let plain = computes_in_c(scalar);
    let function = match op {
        BinaryOp::Add if plain => return Code::infix(Level::Additive, a, "+", b),
        BinaryOp::Sub if plain => return Code::infix(Level::Additive, a, "-", b),
        BinaryOp::Mul if plain => return Code::infix(Level::Multiplicative, a, "*", b),
        BinaryOp::Div if plain && scalar.is_float() || divides_in_c(scalar, constant) => {
            return Code::infix(Level::Multiplicative, a, "/", b);
        }
        BinaryOp::Rem if scalar == Scalar::F32 => return Code::call("fmodf", &[a, b]),
        BinaryOp::Rem if scalar == Scalar::F64 => return Code::call("fmod", &[a, b]),
        BinaryOp::Rem if divides_in_c(scalar, constant) => {
            return Code::infix(Level::Multiplicative, a, "%", b);
        }
        BinaryOp::And if logical => return Code::infix(Level::And, a, "&&", b),
        BinaryOp::Or if logical => return Code::infix(Level::Or, a, "||", b),
        BinaryOp::Xor if logical => return Code::infix(Level::Comparison, a, "!=", b),
        BinaryOp::And => return Code::infix(Level::Bits, a, "&", b),
        BinaryOp::Or => return Code::infix(Level::Bits, a, "|", b),
        BinaryOp::Xor => return Code::infix(Level::Bits, a, "^", b),
        BinaryOp::Shl if plain && shifts_in_c(scalar, constant) => {
            return Code::infix(Level::Bits, a, "<<", b);
        }
        BinaryOp::Shr if shifts_in_c(scalar, constant) => return Code::infix(Level::Bits, a, ">>", b),
        BinaryOp::Min if scalar == Scalar::F32 => return Code::call("fminf", &[a, b]),
        BinaryOp::Min if scalar == Scalar::F64 => return Code::call("fmin", &[a, b]),
        BinaryOp::Max if scalar == Scalar::F32 => return Code::call("fmaxf", &[a, b]),
        BinaryOp::Max if scalar == Scalar::F64 => return Code::call("fmax", &[a, b]),
        BinaryOp::Add => Arithmetic::Add,
        BinaryOp::Sub => Arithmetic::Sub,
        BinaryOp::Mul => Arithmetic::Mul,
        BinaryOp::Div => Arithmetic::Div,
        BinaryOp::Rem => Arithmetic::Rem,
        BinaryOp::Shl => Arithmetic::Shl,
        BinaryOp::Shr => Arithmetic::Shr,
        BinaryOp::Min => Arithmetic::Min,
        BinaryOp::Max => Arithmetic::Max,
        BinaryOp::DivCeil => Arithmetic::DivCeil,
    };
    arithmetic(e, function, scalar, vec![a, b])
}

/// Whether C computes sums and products of the type as Rust does.
fn computes_in_c(scalar: Scalar) -> bool {
    match scalar {
        Scalar::U32 | Scalar::U64 | Scalar::Usize | Scalar::F32 | Scalar::F64 => true,
        Scalar::Bool
        | Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::I64
        | Scalar::Isize
        | Scalar::U8
        | Scalar::U16
        | Scalar::F16
        | Scalar::Bf16 => false,
    }
}

/// Whether C divides as Rust does, and without a warning.
fn divides_in_c(scalar: Scalar, divisor: Option<i128>) -> bool {
    match divisor {
        Some(0) => false,
        Some(divisor) => divisor != -1,
        // Indices are proven not to be divided by zero.
        None => scalar == Scalar::Usize,
    }
}

/// Whether the amount, already masked, is a constant and below the width, which for an index may be 32.
fn shifts_in_c(scalar: Scalar, amount: Option<i128>) -> bool {
    amount.is_some_and(|amount| !scalar.is_index() || amount < 32)
}

fn cast(e: &mut Emitter<'_>, from: Scalar, to: Scalar, a: Code) -> Code {
    if from != to && (from.is_half() || to.is_half()) {
        // Between halves and all but floats the way is by f32.
        let direct = from == Scalar::F32 || to == Scalar::F32 || from == Scalar::F64;
        if direct {
            let name = e.need(Piece::Cast(from, to));
            return Code::call(&name, &[a]);
        }
        let single = cast(e, from, Scalar::F32, a);
        return cast(e, Scalar::F32, to, single);
    }
    if from.is_float() && to.is_integer() {
        let name = e.need(Piece::Cast(from, stored(to)));
        let value = Code::call(&name, &[a]);
        if to.is_index() { Code::prefix(&format!("({})", scalar_type(to)), value) } else { value }
    } else if from == to {
        a
    } else if is_narrowed(to) && from.bytes() > to.bytes() {
        let name = e.need(Piece::Narrow(to));
        Code::call(&name, &[Code::prefix("(u32)", a)])
    } else {
        Code::prefix(&format!("({})", scalar_type(to)), a)
    }
}
