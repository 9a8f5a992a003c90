//! Results of functions of floats in many bits, and their rounding.

use super::format::{Format, value};
use astro_float::{BigFloat, Consts, RoundingMode, Sign};
use std::cell::RefCell;
use tileproof::ScalarType;
use tileproof_compiler::ir::Function;

/// Bits of every intermediate result: more than three times those of f64.
const PRECISION: usize = 192;

const NEAREST: RoundingMode = RoundingMode::ToEven;

thread_local! {
    static CONSTANTS: RefCell<Consts> = RefCell::new(Consts::new().expect("memory for constants"));
}

/// An exact float.
pub(super) fn big(value: f64) -> BigFloat {
    if !value.is_subnormal() {
        return BigFloat::from_f64(value, 64);
    }
    // The library takes subnormal numbers for others.
    let scale = 2f64.powi(64);
    BigFloat::from_f64(value * scale, 64).div(&BigFloat::from_f64(scale, 64), 64, NEAREST)
}

/// The bits of the nearest float of a type, of two that are equally near the even one.
///
/// # Panics
/// If the value is infinite or NaN.
pub(super) fn nearest(value: &BigFloat, scalar: ScalarType) -> u64 {
    let Format { fraction, bias } = Format::of(scalar);
    let (words, _, sign, exponent, _) = value.as_raw_parts().expect("a finite value");
    if value.is_zero() {
        return 0;
    }
    // The value is the words, as an integer, times 2^(exponent - bits), and its first bit is set.
    let bits = 64 * words.len() as i64;
    let leading = i64::from(exponent) - 1;
    let binade = leading.max(1 - bias);
    // So many of its bits lie below the last one of the result.
    let below = bits + binade - fraction - i64::from(exponent);
    let bit = |at: i64| {
        let word = usize::try_from(at / 64).ok().and_then(|word| words.get(word)).copied().unwrap_or(0);
        at >= 0 && word >> (at % 64) & 1 == 1
    };
    let steps = (below.max(0)..bits).rev().fold(0u64, |steps, at| steps << 1 | u64::from(bit(at)));
    let rest = (0..(below - 1).min(bits)).any(bit);
    let up = bit(below - 1) && (rest || steps & 1 == 1);
    // One step beyond a binade is the first of the next, so the sum carries into the exponent.
    let magnitude = (((binade + bias - 1) as u64) << fraction) + steps + u64::from(up);
    let infinity = ((2 * bias + 1) as u64) << fraction;
    let negative = u64::from(sign == Sign::Neg) << (8 * scalar.bytes() - 1);
    magnitude.min(infinity) | negative
}

/// `a * b + c`, rounded once; of finite halves.
pub(super) fn multiply_add(scalar: ScalarType, [a, b, c]: [u64; 3]) -> u64 {
    let [x, y, z] = [a, b, c].map(|bits| value(scalar, bits));
    if z == 0.0 || x == 0.0 || y == 0.0 {
        // A product of halves is exact in f64; and the library's sum with zero is not the other operand.
        return nearest_f64(x * y + z, scalar);
    }
    // Of values that cancel it is +0.
    nearest(&big(x).mul_full_prec(&big(y)).add_full_prec(&big(z)), scalar)
}

/// The bits of the nearest float of a type.
pub(super) fn nearest_f64(value: f64, scalar: ScalarType) -> u64 {
    let Format { fraction, bias } = Format::of(scalar);
    let sign = u64::from(value.is_sign_negative()) << (8 * scalar.bytes() - 1);
    let infinity = ((2 * bias + 1) as u64) << fraction;
    if value.is_nan() {
        infinity | 1 << (fraction - 1)
    } else if value.is_infinite() {
        infinity | sign
    } else if value == 0.0 {
        sign
    } else {
        nearest(&big(value), scalar)
    }
}

/// What `f64` makes of a function of one or two floats: right where operands or result are zero, infinite or NaN, else within
/// some units in its last place.
pub(super) fn double(function: Function, a: f64, b: f64) -> f64 {
    match function {
        Function::Sqrt => a.sqrt(),
        Function::Rsqrt => 1.0 / a.sqrt(),
        Function::Cbrt => a.cbrt(),
        Function::Exp => a.exp(),
        Function::Exp2 => a.exp2(),
        Function::ExpM1 => a.exp_m1(),
        Function::Ln => a.ln(),
        Function::Ln1p => a.ln_1p(),
        Function::Log2 => a.log2(),
        Function::Log10 => a.log10(),
        Function::Sin => a.sin(),
        Function::Cos => a.cos(),
        Function::Tan => a.tan(),
        Function::Asin => a.asin(),
        Function::Acos => a.acos(),
        Function::Atan => a.atan(),
        Function::Sinh => a.sinh(),
        Function::Cosh => a.cosh(),
        Function::Tanh => a.tanh(),
        Function::Asinh => libm::asinh(a),
        // The library has values far below 1.
        Function::Acosh if a < 1.0 => f64::NAN,
        Function::Acosh => libm::acosh(a),
        Function::Atanh => libm::atanh(a),
        Function::Erf => libm::erf(a),
        Function::Atan2 => a.atan2(b),
        Function::Powf => a.powf(b),
        Function::Hypot => a.hypot(b),
        Function::Abs => a.abs(),
        Function::Copysign => a.copysign(b),
        Function::Floor => a.floor(),
        Function::Ceil => a.ceil(),
        Function::Round => a.round(),
        Function::RoundTiesEven => a.round_ties_even(),
        Function::Trunc => a.trunc(),
        Function::ToTf32 if a == 0.0 || !a.is_finite() => a,
        Function::ToTf32 => {
            // 11 bits of the significand, of subnormal numbers fewer.
            let unit = (a.abs().log2().floor().max(-126.0) - 10.0).exp2();
            (a / unit).round() * unit
        }
        other => panic!("{} is not of one or two floats", other.name()),
    }
}

/// The bits of the float of a type that is nearest to a function's exact value.
pub(super) fn correctly_rounded(function: Function, scalar: ScalarType, [a, b]: [u64; 2]) -> u64 {
    let (a, b) = (value(scalar, a), value(scalar, b));
    let near = double(function, a, b);
    let plain = |value: f64| value.is_finite() && value != 0.0;
    let is_binary = !function.row().rest.is_empty();
    if !plain(near) || !plain(a) || is_binary && !plain(b) {
        return nearest_f64(near, scalar);
    }
    let exact = CONSTANTS.with_borrow_mut(|constants| many_bits(function, a, b, constants));
    assert!(!exact.is_nan() && !exact.is_inf(), "{} of {a:e} and {b:e}: {exact:?}", function.name());
    nearest(&exact, scalar)
}

/// A function of operands that are neither zero, infinite nor NaN, where its value is not either.
fn many_bits(function: Function, a: f64, b: f64, constants: &mut Consts) -> BigFloat {
    let (x, y) = (big(a), big(b));
    let p = PRECISION;
    let one = big(1.0);
    match function {
        Function::Sqrt => x.sqrt(p, NEAREST),
        Function::Rsqrt => one.div(&x.sqrt(p, NEAREST), p, NEAREST),
        Function::Cbrt => x.cbrt(p, NEAREST),
        Function::Exp => x.exp(p, NEAREST, constants),
        Function::Exp2 => big(2.0).pow(&x, p, NEAREST, constants),
        // Below, what follows the series is less than 2^-120 of its value.
        Function::ExpM1 if a.abs() < 2f64.powi(-30) => series(&x, [2.0, 6.0, 24.0]),
        Function::Ln1p if a.abs() < 2f64.powi(-30) => series(&x, [-2.0, 3.0, -4.0]),
        Function::ExpM1 => x.exp(p, NEAREST, constants).sub(&one, p, NEAREST),
        Function::Ln1p => x.add(&one, p, NEAREST).ln(p, NEAREST, constants),
        Function::Ln => x.ln(p, NEAREST, constants),
        Function::Log2 => x.log2(p, NEAREST, constants),
        Function::Log10 => x.log10(p, NEAREST, constants),
        Function::Sin => x.sin(p, NEAREST, constants),
        Function::Cos => x.cos(p, NEAREST, constants),
        Function::Tan => x.tan(p, NEAREST, constants),
        Function::Asin => x.asin(p, NEAREST, constants),
        Function::Acos => x.acos(p, NEAREST, constants),
        Function::Atan => x.atan(p, NEAREST, constants),
        Function::Sinh => x.sinh(p, NEAREST, constants),
        Function::Cosh => x.cosh(p, NEAREST, constants),
        Function::Tanh => x.tanh(p, NEAREST, constants),
        Function::Asinh => x.asinh(p, NEAREST, constants),
        Function::Acosh => x.acosh(p, NEAREST, constants),
        Function::Atanh => x.atanh(p, NEAREST, constants),
        Function::Erf => erf(&x, a, constants),
        Function::Atan2 => {
            let angle = x.abs().div(&y.abs(), p, NEAREST).atan(p, NEAREST, constants);
            let angle = if b < 0.0 { constants.pi(p, NEAREST).sub(&angle, p, NEAREST) } else { angle };
            if a < 0.0 { angle.neg() } else { angle }
        }
        Function::Powf => {
            // Far beyond what a type holds, the power itself may take for ever.
            let magnitude = match b * a.abs().ln() {
                far if far > 800.0 => big(f64::MAX).mul_full_prec(&big(f64::MAX)),
                far if far < -800.0 => big(f64::MIN_POSITIVE).mul_full_prec(&big(f64::MIN_POSITIVE)),
                _ => x.abs().pow(&y, p, NEAREST, constants),
            };
            if a < 0.0 && b % 2.0 != 0.0 { magnitude.neg() } else { magnitude }
        }
        Function::Hypot => x.mul_full_prec(&x).add(&y.mul_full_prec(&y), p, NEAREST).sqrt(p, NEAREST),
        other => panic!("{} is not approximated", other.name()),
    }
}

/// `x + x²/d₂ + x³/d₃ + x⁴/d₄`.
fn series(x: &BigFloat, divisors: [f64; 3]) -> BigFloat {
    let (mut sum, mut power) = (x.clone(), x.clone());
    for divisor in divisors {
        power = power.mul(x, PRECISION, NEAREST);
        sum = sum.add(&power.div(&big(divisor), PRECISION, NEAREST), PRECISION, NEAREST);
    }
    sum
}

/// `2/√π exp(−x²) Σ 2ⁿ x²ⁿ⁺¹ / (1 · 3 · … · (2n + 1))`, of whose terms all have one sign.
fn erf(x: &BigFloat, near: f64, constants: &mut Consts) -> BigFloat {
    let p = PRECISION;
    if near.abs() > 8.0 {
        // 1 - 2^-90 at most.
        return big(near.signum());
    }
    let square = x.mul_full_prec(x);
    let (mut term, mut sum) = (x.clone(), x.clone());
    for n in 1..1000 {
        let factor = square.mul(&big(2.0), p, NEAREST).div(&big(2.0 * f64::from(n) + 1.0), p, NEAREST);
        term = term.mul(&factor, p, NEAREST);
        sum = sum.add(&term, p, NEAREST);
        let negligible = term.exponent().zip(sum.exponent()).is_none_or(|(term, sum)| sum - term > 130);
        if negligible {
            break;
        }
    }
    let root = constants.pi(p, NEAREST).sqrt(p, NEAREST);
    let factor = square.neg().exp(p, NEAREST, constants).mul(&big(2.0), p, NEAREST).div(&root, p, NEAREST);
    sum.mul(&factor, p, NEAREST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::bf16;

    #[test]
    fn rounding_to_every_type() {
        for (value, f32, f16) in [
            (1.0, 0x3f80_0000, 0x3c00),
            (-65519.0, 0xc77f_ef00, 0xfbff),
            (65520.0, 0x477f_f000, 0x7c00),
            (1e-8, 0x322b_cc77, 0),
            (2f64.powi(-25), 0x3300_0000, 0),
            (3.0 * 2f64.powi(-26), 0x3340_0000, 1),
            (1e39, 0x7f80_0000, 0x7c00),
            (2f64.powi(-150), 0, 0),
            (2f64.powi(-150).next_up(), 1, 0),
        ] {
            assert_eq!(nearest_f64(value, ScalarType::F32), f32, "{value}");
            assert_eq!(nearest_f64(value, ScalarType::F32), u64::from((value as f32).to_bits()), "{value}");
            assert_eq!(nearest_f64(value, ScalarType::F16), f16, "{value}");
            assert_eq!(nearest_f64(value, ScalarType::F64), value.to_bits(), "{value}");
        }
        assert_eq!(nearest_f64(f64::from_bits(3), ScalarType::F64), 3);
    }

    #[test]
    fn functions_of_known_points() {
        let of = |function, a: f64, b: f64| {
            f64::from_bits(correctly_rounded(function, ScalarType::F64, [a.to_bits(), b.to_bits()]))
        };
        for (function, a, b, expected) in [
            (Function::Exp, 1.0, 0.0, std::f64::consts::E),
            (Function::Exp2, -1074.0, 0.0, 5e-324),
            (Function::ExpM1, 1e-12, 0.0, 1.000_000_000_000_5e-12),
            (Function::Ln1p, -1e-12, 0.0, -1.000_000_000_000_5e-12),
            (Function::Acosh, 1.0 + f64::EPSILON, 0.0, 2.107_342_425_544_701_4e-8),
            (Function::Atan2, 1.0, -1.0, 0.75 * std::f64::consts::PI),
            (Function::Atan2, -1.0, 1.0, -std::f64::consts::FRAC_PI_4),
            (Function::Powf, -2.0, 3.0, -8.0),
            (Function::Powf, -2.0, -2.0, 0.25),
            (Function::Hypot, 3e300, 4e300, 5e300),
            (Function::Sin, 1e22, 0.0, -0.852_200_849_767_188_8),
            (Function::Erf, 1.0, 0.0, 0.842_700_792_949_714_9),
            (Function::Erf, 1e-300, 0.0, 1.128_379_167_095_512_6e-300),
            (Function::Erf, -5.5, 0.0, -0.999_999_999_999_992_7),
            (Function::Ln, -1.0, 0.0, f64::NAN),
            (Function::Rsqrt, 0.0, 0.0, f64::INFINITY),
        ] {
            let value = of(function, a, b);
            assert!(
                value == expected || value.is_nan() && expected.is_nan(),
                "{}: {value:e}",
                function.name()
            );
        }
    }

    #[test]
    fn one_rounding_of_a_product_and_a_sum() {
        let of = |a: f32, b: f32, c: f32| {
            let operands = [a, b, c].map(|value| bf16::from_f32(value).to_bits().into());
            bf16::from_bits(multiply_add(ScalarType::Bf16, operands) as u16).to_f32()
        };
        for ([a, b, c], expected) in [
            ([3.0, -2.0, 6.0], 0.0),
            ([-0.0, 1.0, -0.0], -0.0),
            ([1e-30, 1e-30, 1.0], 1.0),
            // The tie 1 + 2^-8 and a little more.
            ([1.0, 1.0 + 2f32.powi(-7), -2f32.powi(-8) + 2f32.powi(-15)], 1.0 + 2f32.powi(-7)),
            ([1.0, 1.0 + 2f32.powi(-7), -2f32.powi(-8) - 2f32.powi(-15)], 1.0),
        ] {
            assert_eq!(of(a, b, c).to_bits(), expected.to_bits(), "{a} {b} {c}");
        }
    }
}
