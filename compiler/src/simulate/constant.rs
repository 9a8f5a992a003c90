//! The value of an expression of constants.

use super::function::call;
use super::value::{self, Lanes, canonical};
use crate::ir::{Expr, ExprKind, Handle, Kernel, Scalar, Type};
use tileproof_model::half::Half;

/// The bits of the value, in the form of the module [`value`]; `None` if it depends on the run, or has none.
///
/// # Panics
/// If the expression is not well typed.
pub(crate) fn constant(kernel: &Kernel, handle: Handle<Expr>) -> Option<u64> {
    let Expr { kind, ty, .. } = &kernel.exprs[handle];
    let Type::Scalar(scalar) = *ty else { return None };
    let of = |operand: Handle<Expr>| kernel.exprs[operand].ty.scalar();
    let lanes = |operand: Handle<Expr>| constant(kernel, operand).map(|bits| -> Lanes { [bits; 32] });
    match kind {
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) => literal(scalar, kind),
        ExprKind::Unary(op, a) => Some(value::unary(*op, scalar, &lanes(*a)?)[0]),
        ExprKind::Binary(op, a, b) => {
            let (values, without) = value::binary(*op, scalar, &lanes(*a)?, &lanes(*b)?);
            (without == 0).then_some(values[0])
        }
        ExprKind::Compare(op, a, b) => Some(value::compare(*op, of(*a), &lanes(*a)?, &lanes(*b)?)[0]),
        ExprKind::Select(condition, yes, no) => {
            Some(value::select(&lanes(*condition)?, &lanes(*yes)?, &lanes(*no)?)[0])
        }
        ExprKind::Cast(a) => {
            let from = lanes(*a)?;
            (value::without_conversion(of(*a), scalar, &from) == 0)
                .then(|| value::cast(of(*a), scalar, &from)[0])
        }
        ExprKind::Call(function, operands) => {
            let own = kernel.own_type(*function, operands, *ty);
            let operands: Vec<Lanes> =
                operands.iter().map(|operand| lanes(*operand)).collect::<Option<_>>()?;
            let first = operands.first()?;
            let operand = |place: usize| operands.get(place).unwrap_or(first);
            let (values, failed) = call(*function, own, [operand(0), operand(1), operand(2)]);
            (failed == 0).then_some(values[0])
        }
        ExprKind::Param(_)
        | ExprKind::Extent(..)
        | ExprKind::Stride(..)
        | ExprKind::Misalignment(..)
        | ExprKind::Thread(_)
        | ExprKind::Block(_)
        | ExprKind::Grid(_)
        | ExprKind::Local(_)
        | ExprKind::Element(..)
        | ExprKind::Lane(..)
        | ExprKind::Vector(_) => None,
    }
}

/// The bits of a literal of a type.
pub(super) fn literal(scalar: Scalar, kind: &ExprKind) -> Option<u64> {
    match kind {
        ExprKind::Int(value) => Some(canonical(scalar, *value as u64)),
        ExprKind::Float(value) if scalar.is_half() => Some(Half::of(scalar)?.nearest(*value).into()),
        ExprKind::Float(value) if scalar == Scalar::F32 => Some(u64::from((*value as f32).to_bits())),
        ExprKind::Float(value) => Some(value.to_bits()),
        ExprKind::Bool(value) => Some(u64::from(*value)),
        ExprKind::Param(_)
        | ExprKind::Extent(..)
        | ExprKind::Stride(..)
        | ExprKind::Misalignment(..)
        | ExprKind::Thread(_)
        | ExprKind::Block(_)
        | ExprKind::Grid(_)
        | ExprKind::Local(_)
        | ExprKind::Element(..)
        | ExprKind::Lane(..)
        | ExprKind::Vector(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Compare(..)
        | ExprKind::Select(..)
        | ExprKind::Cast(_)
        | ExprKind::Call(..) => None,
    }
}
