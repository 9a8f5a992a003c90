//! Methods that the language says in other operations: what Rust's own give.

use super::{Divisor, Operation};
use tileproof::ScalarType;

/// Of f32 and f64.
pub(super) fn floats() -> Vec<Operation> {
    let mut all = Vec::new();
    macro_rules! of {
        ($t:ident, $scalar:expr, $bits:ident) => {
            let scalar = $scalar;
            let value = |bits: u64| $t::from_bits(bits as $bits);
            let one = |expression: &str, method: fn($t) -> $t| {
                Operation::exact(expression, &[scalar], scalar, move |[a, ..]| {
                    method(value(a)).to_bits().into()
                })
            };
            let two = |expression: &str, method: fn($t, $t) -> $t| {
                Operation::exact(expression, &[scalar; 2], scalar, move |[a, b, _]| {
                    method(value(a), value(b)).to_bits().into()
                })
            };
            let truth = |expression: &str, method: fn($t) -> bool| {
                Operation::exact(expression, &[scalar], ScalarType::U8, move |[a, ..]| {
                    method(value(a)).into()
                })
            };
            all.extend([
                one("a.signum()", $t::signum),
                one("a.fract()", $t::fract),
                one("a.recip()", $t::recip),
                one("a.to_degrees()", $t::to_degrees),
                one("a.to_radians()", $t::to_radians),
                one("a.clamp(-1.5, 2.0)", |a| a.clamp(-1.5, 2.0)),
                two("a.rem_euclid(b)", $t::rem_euclid),
                two("a.div_euclid(b)", $t::div_euclid),
                truth("a.is_nan() as u8", $t::is_nan),
                truth("a.is_infinite() as u8", $t::is_infinite),
                truth("a.is_finite() as u8", $t::is_finite),
                truth("a.is_sign_negative() as u8", $t::is_sign_negative),
                truth("a.is_sign_positive() as u8", $t::is_sign_positive),
            ]);
        };
    }
    of!(f32, ScalarType::F32, u32);
    of!(f64, ScalarType::F64, u64);
    all
}

/// Of integers.
pub(super) fn integers() -> Vec<Operation> {
    let mut all = Vec::new();
    macro_rules! of {
        ($t:ident, $scalar:expr, $unsigned:ident, $unsigned_scalar:expr, [$($own:tt)*]) => {
            let (scalar, unsigned) = ($scalar, $unsigned_scalar);
            let one = |expression: &str, method: fn($t) -> $t| {
                Operation::exact(expression, &[scalar], scalar, move |[a, ..]| (method(a as $t) as $unsigned).into())
            };
            let two = |expression: &str, method: fn($t, $t) -> $t| {
                Operation::exact(expression, &[scalar; 2], scalar, move |[a, b, _]| {
                    (method(a as $t, b as $t) as $unsigned).into()
                })
            };
            let divided = |expression: &str, method: fn($t, $t) -> $t| {
                Operation { divisor: Divisor::NotZero, ..two(expression, method) }
            };
            let count = |expression: &str, method: fn($t) -> u32| {
                Operation::exact(expression, &[scalar], ScalarType::U32, move |[a, ..]| method(a as $t).into())
            };
            all.extend([
                one("a.clamp(3, 100)", |a| a.clamp(3, 100)),
                one("a.wrapping_neg()", $t::wrapping_neg),
                two("a.wrapping_add(b)", $t::wrapping_add),
                two("a.wrapping_sub(b)", $t::wrapping_sub),
                two("a.wrapping_mul(b)", $t::wrapping_mul),
                divided("a.wrapping_div(b)", $t::wrapping_div),
                divided("a.wrapping_rem(b)", $t::wrapping_rem),
                divided("a.rem_euclid(b)", $t::wrapping_rem_euclid),
                divided("a.div_euclid(b)", $t::wrapping_div_euclid),
                count("a.count_zeros()", $t::count_zeros),
                count("a.leading_ones()", $t::leading_ones),
                count("a.trailing_ones()", $t::trailing_ones),
                Operation::exact("a.abs_diff(b)", &[scalar; 2], unsigned, move |[a, b, _]| {
                    (a as $t).abs_diff(b as $t).into()
                }),
            ]);
            of!(@$($own)* $t, $unsigned, scalar, unsigned, one, divided);
        };
        (@signed $t:ident, $unsigned:ident, $scalar:ident, $unsigned_scalar:ident, $one:ident, $divided:ident) => {
            all.extend([
                $one("a.abs()", $t::wrapping_abs),
                $one("a.signum()", $t::signum),
                Operation::exact("a.unsigned_abs()", &[$scalar], $unsigned_scalar, |[a, ..]| {
                    (a as $t).unsigned_abs().into()
                }),
                Operation::exact("a.is_negative() as u8", &[$scalar], ScalarType::U8, |[a, ..]| {
                    (a as $t).is_negative().into()
                }),
            ]);
        };
        (@unsigned $t:ident, $unsigned:ident, $scalar:ident, $unsigned_scalar:ident, $one:ident, $divided:ident) => {
            all.extend([
                $divided("a.div_ceil(b)", $t::div_ceil),
                $divided("a.next_multiple_of(b)", |a, b| a.div_ceil(b).wrapping_mul(b)),
                Operation::exact("a.is_power_of_two() as u8", &[$scalar], ScalarType::U8, |[a, ..]| {
                    (a as $t).is_power_of_two().into()
                }),
                Operation {
                    divisor: Divisor::NotZero,
                    ..Operation::exact("a.is_multiple_of(b) as u8", &[$scalar; 2], ScalarType::U8, |[a, b, _]| {
                        (a as $t).is_multiple_of(b as $t).into()
                    })
                },
            ]);
        };
    }
    of!(i8, ScalarType::I8, u8, ScalarType::U8, [signed]);
    of!(i16, ScalarType::I16, u16, ScalarType::U16, [signed]);
    of!(i32, ScalarType::I32, u32, ScalarType::U32, [signed]);
    of!(i64, ScalarType::I64, u64, ScalarType::U64, [signed]);
    of!(u8, ScalarType::U8, u8, ScalarType::U8, [unsigned]);
    of!(u16, ScalarType::U16, u16, ScalarType::U16, [unsigned]);
    of!(u32, ScalarType::U32, u32, ScalarType::U32, [unsigned]);
    of!(u64, ScalarType::U64, u64, ScalarType::U64, [unsigned]);
    all
}
