//! Runs host expressions: the kernel's grid and its contracts, over the shapes and scalars of one launch.

use crate::description::HostOp;
use crate::plan::ArgumentShape;

/// Why a host expression has no value.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ArithmeticError {
    /// The result does not fit into 128 bits.
    #[error("`{left} {operator} {right}` overflows")]
    Overflow {
        /// The operator, as Rust writes it.
        operator: &'static str,
        /// Its left operand.
        left: i128,
        /// Its right operand.
        right: i128,
    },
    /// A division by zero.
    #[error("`{left} {operator} 0` divides by zero")]
    DivisionByZero {
        /// The operator, as Rust writes it.
        operator: &'static str,
        /// The dividend.
        left: i128,
    },
    /// The expression is not one of integers and truth values over the kernel's arguments.
    #[error(
        "it is not a well-formed expression ({reason}); this is a defect of `#[tiled_kernel]`, please report it"
    )]
    Malformed {
        /// What is wrong.
        reason: &'static str,
    },
}

/// An operand: a value, or why it has none, which counts only where the value does.
type Operand = Result<i128, ArithmeticError>;

/// The value of a program over the arguments of a launch.
pub(crate) fn evaluate(program: &[HostOp], arguments: &[ArgumentShape<'_>]) -> Operand {
    let mut stack: Vec<Operand> = Vec::with_capacity(program.len());
    for &op in program {
        let value = match op {
            HostOp::Int(value) => Ok(value),
            HostOp::Extent(param, d) => Ok(dimension(arguments, param, d, |a| a.extents())?),
            HostOp::Stride(param, d) => Ok(dimension(arguments, param, d, |a| a.strides())?),
            HostOp::Scalar(param) => Ok(scalar(arguments, param)?),
            HostOp::Not => pop(&mut stack)?.and_then(truth).map(|value| i128::from(!value)),
            HostOp::Select => {
                let (otherwise, value) = (pop(&mut stack)?, pop(&mut stack)?);
                let condition = pop(&mut stack)?.and_then(truth);
                condition.and_then(|condition| if condition { value } else { otherwise })
            }
            HostOp::Add
            | HostOp::Sub
            | HostOp::Mul
            | HostOp::Div
            | HostOp::Rem
            | HostOp::And
            | HostOp::Or
            | HostOp::Xor
            | HostOp::Shl
            | HostOp::Shr
            | HostOp::Min
            | HostOp::Max
            | HostOp::DivCeil
            | HostOp::Less
            | HostOp::LessEqual
            | HostOp::Greater
            | HostOp::GreaterEqual
            | HostOp::Equal
            | HostOp::NotEqual => {
                let (right, left) = (pop(&mut stack)?, pop(&mut stack)?);
                left.and_then(|left| binary(op, left, right?))
            }
        };
        stack.push(value);
    }
    let value = pop(&mut stack)?;
    if stack.is_empty() { value } else { Err(ArithmeticError::Malformed { reason: "values are left over" }) }
}

/// The truth value of a program over the arguments of a launch.
pub(crate) fn holds(program: &[HostOp], arguments: &[ArgumentShape<'_>]) -> Result<bool, ArithmeticError> {
    truth(evaluate(program, arguments)?)
}

fn pop(stack: &mut Vec<Operand>) -> Result<Operand, ArithmeticError> {
    stack.pop().ok_or(ArithmeticError::Malformed { reason: "an operand is missing" })
}

fn truth(value: i128) -> Result<bool, ArithmeticError> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(ArithmeticError::Malformed { reason: "a truth value is neither 0 nor 1" }),
    }
}

fn dimension<'a>(
    arguments: &'a [ArgumentShape<'_>],
    param: u32,
    d: u32,
    of: impl Fn(&'a ArgumentShape<'_>) -> Option<&'a [usize]>,
) -> Result<i128, ArithmeticError> {
    arguments
        .get(param as usize)
        .and_then(of)
        .and_then(|all| all.get(d as usize))
        .map(|&value| value as i128)
        .ok_or(ArithmeticError::Malformed { reason: "it names a dimension that no argument has" })
}

fn scalar(arguments: &[ArgumentShape<'_>], param: u32) -> Result<i128, ArithmeticError> {
    match arguments.get(param as usize) {
        Some(ArgumentShape::Scalar(value)) => value
            .as_integer()
            .ok_or(ArithmeticError::Malformed { reason: "it uses the value of a float argument" }),
        Some(ArgumentShape::Tensor { .. }) | None => {
            Err(ArithmeticError::Malformed { reason: "it names a scalar that no argument is" })
        }
    }
}

fn binary(op: HostOp, left: i128, right: i128) -> Result<i128, ArithmeticError> {
    let checked =
        |operator, value: Option<i128>| value.ok_or(ArithmeticError::Overflow { operator, left, right });
    let divided = |operator, divide: fn(i128, i128) -> Option<i128>| match right {
        0 => Err(ArithmeticError::DivisionByZero { operator, left }),
        _ => checked(operator, divide(left, right)),
    };
    match op {
        HostOp::Add => checked("+", left.checked_add(right)),
        HostOp::Sub => checked("-", left.checked_sub(right)),
        HostOp::Mul => checked("*", left.checked_mul(right)),
        HostOp::Div => divided("/", i128::checked_div),
        HostOp::Rem => divided("%", i128::checked_rem),
        HostOp::DivCeil => divided("div_ceil", divide_ceiling),
        HostOp::And => Ok(left & right),
        HostOp::Or => Ok(left | right),
        HostOp::Xor => Ok(left ^ right),
        HostOp::Shl => checked("<<", shift(right).and_then(|by| left.checked_mul(1 << by))),
        HostOp::Shr => checked(">>", shift(right).map(|by| left >> by)),
        HostOp::Min => Ok(left.min(right)),
        HostOp::Max => Ok(left.max(right)),
        HostOp::Less => Ok(i128::from(left < right)),
        HostOp::LessEqual => Ok(i128::from(left <= right)),
        HostOp::Greater => Ok(i128::from(left > right)),
        HostOp::GreaterEqual => Ok(i128::from(left >= right)),
        HostOp::Equal => Ok(i128::from(left == right)),
        HostOp::NotEqual => Ok(i128::from(left != right)),
        HostOp::Int(_)
        | HostOp::Extent(..)
        | HostOp::Stride(..)
        | HostOp::Scalar(_)
        | HostOp::Not
        | HostOp::Select => {
            Err(ArithmeticError::Malformed { reason: "an operator does not take two operands" })
        }
    }
}

fn shift(by: i128) -> Option<u32> {
    u32::try_from(by).ok().filter(|&by| by < 127)
}

fn divide_ceiling(left: i128, right: i128) -> Option<i128> {
    let quotient = left.checked_div(right)?;
    let up = left % right != 0 && (left < 0) == (right < 0);
    quotient.checked_add(i128::from(up))
}

#[cfg(test)]
mod tests {
    use super::{ArithmeticError, evaluate, holds};
    use crate::description::HostOp::{self, *};
    use crate::plan::ArgumentShape;
    use crate::scalar::ScalarValue;

    fn run(program: &[HostOp]) -> Result<i128, ArithmeticError> {
        let tensor = ArgumentShape::host(crate::ScalarType::F32, false, &[100, 33], &[40, 1], 3993);
        evaluate(
            program,
            &[
                tensor,
                ArgumentShape::Scalar(ScalarValue::Usize(7)),
                ArgumentShape::Scalar(ScalarValue::F32(1.0)),
            ],
        )
    }

    #[test]
    fn shapes_and_scalars() {
        assert_eq!(run(&[Extent(0, 1), Int(32), DivCeil]), Ok(2));
        assert_eq!(run(&[Stride(0, 0), Int(4), Rem, Int(0), Equal]), Ok(1));
        assert_eq!(run(&[Extent(0, 0), Scalar(1), Sub, Int(3), Mul]), Ok(279));
        assert_eq!(run(&[Scalar(1), Int(5), Greater, Int(10), Int(20), Select]), Ok(10));
        assert_eq!(run(&[Int(1), Not, Int(10), Int(20), Select]), Ok(20));
    }

    #[test]
    fn operators() {
        for (op, expected) in [
            (Add, 17),
            (Sub, 9),
            (Mul, 52),
            (Div, 3),
            (Rem, 1),
            (And, 4),
            (Or, 13),
            (Xor, 9),
            (Shl, 208),
            (Shr, 0),
            (Min, 4),
            (Max, 13),
            (DivCeil, 4),
            (Less, 0),
            (LessEqual, 0),
            (Greater, 1),
            (GreaterEqual, 1),
            (Equal, 0),
            (NotEqual, 1),
        ] {
            assert_eq!(run(&[Int(13), Int(4), op]), Ok(expected), "{op:?}");
        }
        assert_eq!(run(&[Int(-13), Int(4), DivCeil]), Ok(-3));
        assert_eq!(run(&[Int(-13), Int(-4), DivCeil]), Ok(4));
        assert_eq!(run(&[Int(-13), Int(1), Shr]), Ok(-7));
    }

    #[test]
    fn what_has_no_value() {
        let overflow = |operator, left, right| Err(ArithmeticError::Overflow { operator, left, right });
        assert_eq!(run(&[Int(i128::MAX), Int(1), Add]), overflow("+", i128::MAX, 1));
        assert_eq!(run(&[Int(i128::MIN), Int(-1), Div]), overflow("/", i128::MIN, -1));
        assert_eq!(run(&[Int(1), Int(127), Shl]), overflow("<<", 1, 127));
        assert_eq!(run(&[Int(1), Int(-1), Shr]), overflow(">>", 1, -1));
        assert_eq!(run(&[Int(3), Int(126), Shl]), overflow("<<", 3, 126));
        for (op, operator) in [(Div, "/"), (Rem, "%"), (DivCeil, "div_ceil")] {
            assert_eq!(
                run(&[Int(5), Int(0), op]),
                Err(ArithmeticError::DivisionByZero { operator, left: 5 })
            );
        }
    }

    #[test]
    fn what_is_not_chosen_needs_no_value() {
        let division = [Int(5), Int(0), Div];
        let chosen = |condition| [&[Int(condition)], &division[..], &[Int(7), Select]].concat();
        assert_eq!(run(&chosen(0)), Ok(7));
        assert_eq!(run(&chosen(1)), Err(ArithmeticError::DivisionByZero { operator: "/", left: 5 }));
    }

    #[test]
    fn malformed_programs_are_errors() {
        for program in [
            &[][..],
            &[Add],
            &[Int(1), Add],
            &[Int(1), Int(2)],
            &[Int(2), Not],
            &[Int(2), Int(0), Int(0), Select],
            &[Extent(0, 2)],
            &[Extent(1, 0)],
            &[Extent(9, 0)],
            &[Scalar(0)],
            &[Scalar(2)],
        ] {
            assert!(matches!(run(program), Err(ArithmeticError::Malformed { .. })), "{program:?}");
        }
        assert!(holds(&[Int(2)], &[]).is_err());
    }
}
