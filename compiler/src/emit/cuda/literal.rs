//! Constants, written so that no compiler can read them in another way.

use super::code::{Code, Level};
use crate::ir::Scalar;
use tileproof_model::half::Half;

/// An integer constant. Indices below 2^31 are written without a suffix and have the C type `int`.
pub(super) fn int(scalar: Scalar, value: i128) -> Code {
    let text = match scalar {
        // C has no negative literals: these are the negation of a number that does not fit.
        Scalar::I32 if value == i128::from(i32::MIN) => return Code::atom("(-2147483647 - 1)"),
        Scalar::I64 | Scalar::Isize if value == i128::from(i64::MIN) => {
            return Code::atom("(-9223372036854775807ll - 1)");
        }
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::U8 | Scalar::U16 | Scalar::Bool => {
            format!("{value}")
        }
        Scalar::U32 => format!("{value}u"),
        Scalar::I64 => format!("{value}ll"),
        Scalar::U64 => format!("{value}ull"),
        Scalar::Usize | Scalar::Isize if value.abs() <= i128::from(i32::MAX) => format!("{value}"),
        Scalar::Isize => format!("{value}ll"),
        Scalar::Usize => format!("{value}ull"),
        Scalar::F16 | Scalar::Bf16 | Scalar::F32 | Scalar::F64 => return float(scalar, value as f64),
    };
    if value < 0 { Code::new(Level::Unary, text) } else { Code::atom(text) }
}

/// A float constant: decimal where a short decimal is exactly the value, else hexadecimal.
pub(super) fn float(scalar: Scalar, value: f64) -> Code {
    if let Some(half) = Half::of(scalar) {
        return Code::atom(format!("{}{{{:#06x}}}", scalar.name(), half.nearest(value)));
    }
    let single = scalar == Scalar::F32;
    if !value.is_finite() {
        return Code::atom(if single {
            format!("__int_as_float({:#010x})", (value as f32).to_bits())
        } else {
            format!("__longlong_as_double({:#018x}ll)", value.to_bits())
        });
    }
    let digits = if value.abs() < 65536.0 && (value * 256.0).fract() == 0.0 {
        format!("{:?}", value.abs())
    } else {
        hexadecimal(value.abs())
    };
    let sign = if value.is_sign_negative() { "-" } else { "" };
    let level = if value.is_sign_negative() { Level::Unary } else { Level::Atom };
    Code::new(level, format!("{sign}{digits}{}", if single { "f" } else { "" }))
}

/// The bits of an `f32` or `f64`.
pub(super) fn bits(scalar: Scalar, value: f64) -> Code {
    Code::atom(if scalar == Scalar::F32 {
        format!("{:#010x}u", (value as f32).to_bits())
    } else {
        format!("{:#018x}ull", value.to_bits())
    })
}

/// A finite positive value as `0x1.8p+3`.
fn hexadecimal(value: f64) -> String {
    let bits = value.to_bits();
    let fraction = bits & ((1 << 52) - 1);
    let (whole, exponent) = match (bits >> 52) as i32 {
        0 => (0, -1022),
        biased => (1, biased - 1023),
    };
    let digits = format!("{fraction:013x}");
    let digits = digits.trim_end_matches('0');
    let point = if digits.is_empty() { "" } else { "." };
    format!("0x{whole}{point}{digits}p{exponent:+}")
}

#[cfg(test)]
mod tests {
    use super::{float, int};
    use crate::ir::Scalar;

    #[test]
    fn floats_are_exact() {
        let f32s = [0.0, -0.0, 1.0, 0.5, -2.25, f64::from(0.1f32), 65536.0, f64::from(f32::MIN_POSITIVE)];
        let text: Vec<String> = f32s.iter().map(|v| float(Scalar::F32, *v).text).collect();
        assert_eq!(
            text,
            ["0.0f", "-0.0f", "1.0f", "0.5f", "-2.25f", "0x1.99999ap-4f", "0x1p+16f", "0x1p-126f"]
        );
        assert_eq!(float(Scalar::F64, 0.1).text, "0x1.999999999999ap-4");
        assert_eq!(float(Scalar::F64, 5e-324).text, "0x0.0000000000001p-1022");
        assert_eq!(float(Scalar::F32, f64::NEG_INFINITY).text, "__int_as_float(0xff800000)");
        assert_eq!(float(Scalar::F64, f64::INFINITY).text, "__longlong_as_double(0x7ff0000000000000ll)");
    }

    #[test]
    fn integers_have_their_type() {
        assert_eq!(int(Scalar::I32, i128::from(i32::MIN)).text, "(-2147483647 - 1)");
        assert_eq!(int(Scalar::I64, -5).text, "-5ll");
        assert_eq!(int(Scalar::U32, 5).text, "5u");
        assert_eq!(int(Scalar::Usize, 1 << 40).text, "1099511627776ull");
    }
}
