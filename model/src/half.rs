//! Floats of 16 bits, by their bits.

use crate::language::ScalarType;

/// A format of 16 bits: a sign, an exponent, a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Half {
    /// Bits of the fraction.
    fraction: u32,
    /// What is added to an exponent.
    bias: i32,
}

/// IEEE binary16.
pub const F16: Half = Half { fraction: 10, bias: 15 };
/// bfloat16.
pub const BF16: Half = Half { fraction: 7, bias: 127 };

/// The bits of NaN in both formats, as NVIDIA's GPUs make it.
pub const NAN: u16 = 0x7fff;

impl Half {
    /// The format of a scalar type, if it has one.
    pub const fn of(scalar: ScalarType) -> Option<Half> {
        match scalar {
            ScalarType::F16 => Some(F16),
            ScalarType::Bf16 => Some(BF16),
            ScalarType::Bool
            | ScalarType::I8
            | ScalarType::I16
            | ScalarType::I32
            | ScalarType::I64
            | ScalarType::U8
            | ScalarType::U16
            | ScalarType::U32
            | ScalarType::U64
            | ScalarType::Usize
            | ScalarType::Isize
            | ScalarType::F32
            | ScalarType::F64 => None,
        }
    }

    /// The value of these bits; an `f32` holds each.
    pub fn value(self, bits: u16) -> f32 {
        let magnitude = u32::from(bits & 0x7fff);
        let infinity = 0x7fff >> self.fraction << self.fraction;
        let value = if magnitude > infinity {
            f64::NAN
        } else if magnitude == infinity {
            f64::INFINITY
        } else {
            let (exponent, fraction) = (magnitude >> self.fraction, magnitude & ((1 << self.fraction) - 1));
            let hidden = if exponent == 0 { 0 } else { 1 << self.fraction };
            let scale = exponent.max(1) as i32 - self.bias - self.fraction as i32;
            f64::from(hidden + fraction) * power_of_two(scale)
        };
        let value = value as f32;
        if bits & 0x8000 == 0 { value } else { -value }
    }

    /// The bits of the nearest value, of two that are equally near the even one.
    pub fn nearest(self, value: f64) -> u16 {
        if value.is_nan() {
            return NAN;
        }
        let sign = if value.is_sign_negative() { 0x8000 } else { 0 };
        let magnitude = value.abs();
        let infinity = 0x7fff >> self.fraction << self.fraction;
        // The exponent of f64; its own subnormals are far below all that matters.
        let exponent = ((magnitude.to_bits() >> 52) as i32 - 1023).clamp(1 - self.bias, self.bias + 1);
        let steps = magnitude / power_of_two(exponent - self.fraction as i32);
        if steps >= 4.0 * f64::from(1u32 << self.fraction) {
            return sign | infinity;
        }
        let steps = steps.round_ties_even() as i32;
        // One step beyond a binade is the first of the next, so the sum carries into the exponent.
        let above = (exponent + self.bias - 1) << self.fraction;
        sign | ((above + steps).min(i32::from(infinity)) as u16)
    }

    /// `a * b + c`, rounded once.
    pub fn multiply_add(self, a: u16, b: u16, c: u16) -> u16 {
        let [a, b, c] = [a, b, c].map(|bits| f64::from(self.value(bits)));
        let product = a * b;
        let sum = product + c;
        // What the sum lost; where it is something, an odd last bit keeps the second rounding right.
        let back = sum - product;
        let lost = (product - (sum - back)) + (c - back);
        let odd = if lost == 0.0 || !sum.is_finite() || sum.to_bits() & 1 == 1 {
            sum
        } else if lost > 0.0 {
            sum.next_up()
        } else {
            sum.next_down()
        };
        self.nearest(odd)
    }
}

/// `2^exponent`, of exponents that f64 has normal numbers for.
fn power_of_two(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::{BF16, F16, NAN};

    #[test]
    fn every_value_comes_back() {
        for half in [F16, BF16] {
            for bits in 0..=u16::MAX {
                let value = half.value(bits);
                let back = half.nearest(value.into());
                assert_eq!(back, if value.is_nan() { NAN } else { bits }, "{bits:#x}: {value}");
            }
        }
    }

    #[test]
    fn halfway_goes_to_even() {
        for half in [F16, BF16] {
            for bits in 0..0x7fff >> half.fraction << half.fraction {
                let (low, high) = (f64::from(half.value(bits)), f64::from(half.value(bits + 1)));
                if high.is_infinite() {
                    continue;
                }
                let middle = (low + high) / 2.0;
                assert_eq!(half.nearest(middle), bits + (bits & 1), "{bits:#x}");
                assert_eq!(half.nearest(middle.next_up()), bits + 1, "{bits:#x}");
                assert_eq!(half.nearest(middle.next_down()), bits, "{bits:#x}");
            }
        }
        assert_eq!(
            (F16.nearest(65519.0), F16.nearest(65520.0), F16.nearest(-1e300)),
            (0x7bff, 0x7c00, 0xfc00)
        );
    }
}
