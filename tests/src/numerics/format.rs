//! The bits of floats and integers: what they are worth, and how far apart two of them are.

use half::{bf16, f16};
use tileproof::ScalarType;

/// A binary format of floats.
#[derive(Clone, Copy, Debug)]
pub(super) struct Format {
    /// Bits of the fraction.
    pub(super) fraction: i64,
    /// What is added to an exponent.
    pub(super) bias: i64,
}

impl Format {
    pub(super) fn of(scalar: ScalarType) -> Format {
        match scalar {
            ScalarType::F16 => Format { fraction: 10, bias: 15 },
            ScalarType::Bf16 => Format { fraction: 7, bias: 127 },
            ScalarType::F32 => Format { fraction: 23, bias: 127 },
            ScalarType::F64 => Format { fraction: 52, bias: 1023 },
            other => panic!("{} is no float", other.name()),
        }
    }
}

/// The value of a float.
pub(super) fn value(scalar: ScalarType, bits: u64) -> f64 {
    match scalar {
        ScalarType::F16 => f16::from_bits(bits as u16).to_f64(),
        ScalarType::Bf16 => bf16::from_bits(bits as u16).to_f64(),
        ScalarType::F32 => f32::from_bits(bits as u32).into(),
        ScalarType::F64 => f64::from_bits(bits),
        other => panic!("{} is no float", other.name()),
    }
}

/// The value of an integer.
pub(super) fn integer(scalar: ScalarType, bits: u64) -> i128 {
    let (low, _) = scalar.range().unwrap_or_else(|| panic!("{} is no integer", scalar.name()));
    let unused = 64 - 8 * scalar.bytes();
    match low < 0 {
        true => i128::from((bits << unused) as i64 >> unused),
        false => i128::from(bits << unused >> unused),
    }
}

/// How many values of the type apart two results are: of floats, with -0 one below +0, infinity next to the largest, and any NaN
/// equal to any other; integers are equal or as far apart as can be.
pub(super) fn distance(scalar: ScalarType, a: u64, b: u64) -> u64 {
    if !scalar.is_float() {
        return if a == b { 0 } else { u64::MAX };
    }
    match (value(scalar, a).is_nan(), value(scalar, b).is_nan()) {
        (true, true) => 0,
        (false, false) => order(scalar, a).abs_diff(order(scalar, b)),
        (true, false) | (false, true) => u64::MAX,
    }
}

/// The place of a float among all of its type.
fn order(scalar: ScalarType, bits: u64) -> u64 {
    let sign = 1u64 << (8 * scalar.bytes() - 1);
    if bits & sign == 0 { sign + bits } else { sign - 1 - (bits & (sign - 1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances() {
        let of = |a: f32, b: f32| distance(ScalarType::F32, a.to_bits().into(), b.to_bits().into());
        assert_eq!(of(1.0, 1.0f32.next_up()), 1);
        assert_eq!(of(-1.0, (-1.0f32).next_down().next_down()), 2);
        assert_eq!(of(0.0, -0.0), 1);
        assert_eq!(of(0.0f32.next_up(), 0.0f32.next_down()), 3);
        assert_eq!(of(f32::INFINITY, f32::MAX), 1);
        assert_eq!(of(f32::NAN, -f32::NAN), 0);
        assert_eq!(of(f32::NAN, 1.0), u64::MAX);
        assert_eq!(distance(ScalarType::F16, 0xffff, 0x7c01), 0);
        let double = |a: f64, b: f64| distance(ScalarType::F64, a.to_bits(), b.to_bits());
        assert_eq!(double(-1.0, (-1.0f64).next_up()), 1);
        assert_eq!(double(f64::MAX, f64::MIN), 2 * f64::MAX.to_bits() + 1);
        assert_eq!((distance(ScalarType::I8, 3, 3), distance(ScalarType::I8, 3, 4)), (0, u64::MAX));
    }

    #[test]
    fn integers_with_their_signs() {
        assert_eq!(integer(ScalarType::I8, 0xff), -1);
        assert_eq!(integer(ScalarType::U8, 0xff), 255);
        assert_eq!(integer(ScalarType::I64, u64::MAX), -1);
        assert_eq!(integer(ScalarType::U64, u64::MAX), u64::MAX.into());
    }
}
