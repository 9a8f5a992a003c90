//! Operations of integers, as Rust's own types compute them.

use super::format::integer;
use super::{Divisor, INTEGERS, Operation};
use tileproof::ScalarType;
use tileproof_compiler::ir::Function;

/// What can be done with two integers, or with one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Arithmetic {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
    Min,
    Max,
    Not,
    Negate,
}

const ARITHMETIC: [(&str, Arithmetic); 14] = [
    ("a + b", Arithmetic::Add),
    ("a - b", Arithmetic::Sub),
    ("a * b", Arithmetic::Mul),
    ("a / b", Arithmetic::Div),
    ("a % b", Arithmetic::Rem),
    ("a & b", Arithmetic::And),
    ("a | b", Arithmetic::Or),
    ("a ^ b", Arithmetic::Xor),
    ("a << b", Arithmetic::Shl),
    ("a >> b", Arithmetic::Shr),
    ("a.min(b)", Arithmetic::Min),
    ("a.max(b)", Arithmetic::Max),
    ("!a", Arithmetic::Not),
    ("-a", Arithmetic::Negate),
];

type Comparison = fn(i128, i128) -> bool;

/// The operators and comparisons of an integer. Arithmetic wraps, as in a release build.
pub(super) fn integers(scalar: ScalarType) -> Vec<Operation> {
    let fits = |arithmetic| arithmetic != Arithmetic::Negate || scalar.is_signed();
    let operators = ARITHMETIC.into_iter().filter(|(_, it)| fits(*it)).map(|(expression, arithmetic)| {
        let operands = match arithmetic {
            Arithmetic::Not | Arithmetic::Negate => vec![scalar],
            Arithmetic::Shl | Arithmetic::Shr => vec![scalar, ScalarType::U32],
            Arithmetic::Add
            | Arithmetic::Sub
            | Arithmetic::Mul
            | Arithmetic::Div
            | Arithmetic::Rem
            | Arithmetic::And
            | Arithmetic::Or
            | Arithmetic::Xor
            | Arithmetic::Min
            | Arithmetic::Max => vec![scalar; 2],
        };
        let divides = matches!(arithmetic, Arithmetic::Div | Arithmetic::Rem);
        let divisor = if divides { Divisor::NotZero } else { Divisor::Any };
        let operation = Operation::exact(expression, &operands, scalar, move |[a, b, _]| {
            compute(arithmetic, scalar, a, b)
        });
        Operation { divisor, ..operation }
    });
    let comparisons: [(&str, Comparison); 4] = [
        ("(a < b) as u8", |a, b| a < b),
        ("(a <= b) as u8", |a, b| a <= b),
        ("(a == b) as u8", |a, b| a == b),
        ("(a != b) as u8", |a, b| a != b),
    ];
    let comparisons = comparisons.into_iter().map(|(expression, holds)| {
        Operation::exact(expression, &[scalar; 2], ScalarType::U8, move |[a, b, _]| {
            holds(integer(scalar, a), integer(scalar, b)).into()
        })
    });
    operators.chain(comparisons).collect()
}

/// Divisions of integers by 0, which the simulator refuses and a GPU computes as 0.
pub fn divisions_by_zero() -> Vec<Operation> {
    let of = |scalar| {
        ["a / b", "a % b"].map(|expression| Operation {
            name: Some(format!("{expression}, b = 0")),
            divisor: Divisor::Zero,
            ..Operation::exact(expression, &[scalar; 2], scalar, |_| 0)
        })
    };
    INTEGERS.into_iter().flat_map(of).collect()
}

/// An expression of the Rust type of a scalar, `$t` its name.
macro_rules! by_type {
    ($scalar:expr, $t:ident => $value:expr, $($variant:ident $native:ident),*) => {
        match $scalar {
            $(ScalarType::$variant => {
                type $t = $native;
                $value
            })*
            other => panic!("{} is no integer of data", other.name()),
        }
    };
    ($scalar:expr, $t:ident => $value:expr) => {
        by_type!($scalar, $t => $value, I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64)
    };
}

/// The bits of a value, zero-extended.
macro_rules! bits {
    ($value:expr, $scalar:expr) => {
        $value as u64 & u64::MAX >> (64 - 8 * $scalar.bytes())
    };
}

fn compute(arithmetic: Arithmetic, scalar: ScalarType, a: u64, b: u64) -> u64 {
    by_type!(scalar, T => {
        let (x, y) = (a as T, b as T);
        let value = match arithmetic {
            Arithmetic::Add => x.wrapping_add(y),
            Arithmetic::Sub => x.wrapping_sub(y),
            Arithmetic::Mul => x.wrapping_mul(y),
            Arithmetic::Div => x.wrapping_div(y),
            Arithmetic::Rem => x.wrapping_rem(y),
            Arithmetic::And => x & y,
            Arithmetic::Or => x | y,
            Arithmetic::Xor => x ^ y,
            Arithmetic::Shl => x.wrapping_shl(b as u32),
            Arithmetic::Shr => x.wrapping_shr(b as u32),
            Arithmetic::Min => x.min(y),
            Arithmetic::Max => x.max(y),
            Arithmetic::Not => !x,
            Arithmetic::Negate => x.wrapping_neg(),
        };
        bits!(value, scalar)
    })
}

/// A function of the compiler's table, of integers.
pub(super) fn function_of_integers(function: Function, scalar: ScalarType, [a, b, c]: [u64; 3]) -> u64 {
    let by = b as u32;
    by_type!(scalar, T => {
        let (x, y) = (a as T, b as T);
        match function {
            Function::CountOnes => x.count_ones().into(),
            Function::LeadingZeros => x.leading_zeros().into(),
            Function::TrailingZeros => x.trailing_zeros().into(),
            Function::Ilog2 => x.max(1).ilog2().into(),
            Function::Isqrt => bits!(x.isqrt(), scalar),
            Function::SwapBytes => bits!(x.swap_bytes(), scalar),
            Function::ReverseBits => bits!(x.reverse_bits(), scalar),
            Function::RotateLeft => bits!(x.rotate_left(by), scalar),
            Function::RotateRight => bits!(x.rotate_right(by), scalar),
            Function::SaturatingAdd => bits!(x.saturating_add(y), scalar),
            Function::SaturatingSub => bits!(x.saturating_sub(y), scalar),
            Function::Pow => bits!(x.wrapping_pow(by), scalar),
            Function::BytePerm => {
                let bytes: Vec<u8> = (a as u32).to_le_bytes().into_iter().chain(by.to_le_bytes()).collect();
                let chosen = std::array::from_fn(|place| bytes[c as usize >> (4 * place) & 7]);
                u32::from_le_bytes(chosen).into()
            }
            other => panic!("{} is not of integers", other.name()),
        }
    })
}
