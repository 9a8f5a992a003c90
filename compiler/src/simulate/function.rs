//! Functions of numbers, on the values of a warp.

use super::value::{Lanes, canonical};
use crate::ir::{Function, IGNORED_BITS, Scalar};
use tileproof_model::half::{self, Half};

/// The result of a function of the type `own`, and the lanes without one. Operands that the function has not are ignored.
pub(super) fn call(function: Function, own: Scalar, [a, b, c]: [&Lanes; 3]) -> (Lanes, u32) {
    let result = function.result(own);
    let each = |f: &dyn Fn(u64, u64, u64) -> u64| -> Lanes {
        std::array::from_fn(|lane| canonical(result, f(a[lane], b[lane], c[lane])))
    };
    let failed = match function.is_partial() {
        true => (0..32).fold(0, |mask, lane| mask | u32::from(a[lane] == 0) << lane),
        false => 0,
    };
    let lanes = match (function, own) {
        (Function::ToBits | Function::FromBits, _) => each(&|a, _, _| a),
        (_, Scalar::F16) => halves(half::F16, function, [a, b, c]),
        (_, Scalar::Bf16) => halves(half::BF16, function, [a, b, c]),
        (_, Scalar::F32) => each(&|a, b, c| match function {
            Function::MulAdd => f32::mul_add(single(a), single(b), single(c)).to_bits().into(),
            Function::Powi => powi(single(a), b as i32).to_bits().into(),
            Function::ToTf32 => to_tf32(a as u32).into(),
            _ => {
                let value = float(function, [a, b].map(|bits| f64::from(single(bits))));
                (value as f32).to_bits().into()
            }
        }),
        (_, Scalar::F64) => each(&|a, b, c| match function {
            Function::MulAdd => {
                f64::mul_add(f64::from_bits(a), f64::from_bits(b), f64::from_bits(c)).to_bits()
            }
            Function::Powi => powi(f64::from_bits(a), b as i32).to_bits(),
            _ => float(function, [a, b].map(f64::from_bits)).to_bits(),
        }),
        _ => each(&|a, b, c| integer(function, own, [a, b, c])),
    };
    (lanes, failed)
}

/// Rounds the bits of an `f32` to those that a factor of a product of matrices has: to nearest, ties away from zero.
fn to_tf32(bits: u32) -> u32 {
    let unit = 1 << IGNORED_BITS;
    if f32::from_bits(bits).is_nan() { bits } else { (bits + unit / 2) & !(unit - 1) }
}

/// A function of floats of 16 bits.
fn halves(half: Half, function: Function, [a, b, c]: [&Lanes; 3]) -> Lanes {
    std::array::from_fn(|lane| {
        let [a, b, c] = [a, b, c].map(|lanes| lanes[lane] as u16);
        let bits = match function {
            Function::MulAdd => half.multiply_add(a, b, c),
            // Also of NaN they change nothing but the sign.
            Function::Abs => a & 0x7fff,
            Function::Copysign => a & 0x7fff | b & 0x8000,
            _ => half.nearest(float(function, [a, b].map(|bits| half.value(bits).into()))),
        };
        bits.into()
    })
}

fn single(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

/// A function of one or two floats in double precision; what is exact or correctly rounded stays so for smaller types. The library
/// is not the host's, so that constants and simulated results are the same bits on every host.
fn float(function: Function, [a, b]: [f64; 2]) -> f64 {
    match function {
        Function::Sqrt => a.sqrt(),
        Function::Rsqrt => 1.0 / a.sqrt(),
        Function::Cbrt => libm::cbrt(a),
        Function::Exp => libm::exp(a),
        Function::Exp2 => libm::exp2(a),
        Function::ExpM1 => libm::expm1(a),
        Function::Ln => libm::log(a),
        Function::Ln1p => libm::log1p(a),
        Function::Log2 => libm::log2(a),
        Function::Log10 => libm::log10(a),
        Function::Sin => libm::sin(a),
        Function::Cos => libm::cos(a),
        Function::Tan => libm::tan(a),
        Function::Asin => libm::asin(a),
        Function::Acos => libm::acos(a),
        Function::Atan => libm::atan(a),
        Function::Sinh => libm::sinh(a),
        Function::Cosh => libm::cosh(a),
        Function::Tanh => libm::tanh(a),
        Function::Asinh => libm::asinh(a),
        // The library has values far below 1.
        Function::Acosh if a < 1.0 => f64::NAN,
        Function::Acosh => libm::acosh(a),
        Function::Atanh => libm::atanh(a),
        Function::Erf => libm::erf(a),
        Function::Atan2 => libm::atan2(a, b),
        Function::Powf => libm::pow(a, b),
        Function::Hypot => libm::hypot(a, b),
        Function::Abs => a.abs(),
        Function::Copysign => a.copysign(b),
        Function::Floor => a.floor(),
        Function::Ceil => a.ceil(),
        Function::Round => a.round(),
        Function::RoundTiesEven => a.round_ties_even(),
        Function::Trunc => a.trunc(),
        Function::Powi
        | Function::ToTf32
        | Function::MulAdd
        | Function::ToBits
        | Function::FromBits
        | Function::CountOnes
        | Function::LeadingZeros
        | Function::TrailingZeros
        | Function::Ilog2
        | Function::Isqrt
        | Function::SwapBytes
        | Function::ReverseBits
        | Function::RotateLeft
        | Function::RotateRight
        | Function::WrappingAdd
        | Function::WrappingSub
        | Function::WrappingMul
        | Function::SaturatingAdd
        | Function::SaturatingSub
        | Function::Pow
        | Function::BytePerm => {
            panic!("{} is not of one or two floats: the kernel is not well typed", function.name())
        }
    }
}

/// By repeated squaring, in the order of the CUDA text.
fn powi<F: Copy + std::ops::Mul<Output = F> + std::ops::Div<Output = F> + From<f32>>(a: F, n: i32) -> F {
    let (mut base, mut product, mut rest) = (a, F::from(1.0), n);
    loop {
        if rest & 1 != 0 {
            product = product * base;
        }
        rest /= 2;
        if rest == 0 {
            break;
        }
        base = base * base;
    }
    if n < 0 { F::from(1.0) / product } else { product }
}

/// A function of integers, on values in the simulator's form.
fn integer(function: Function, own: Scalar, [a, b, c]: [u64; 3]) -> u64 {
    let bits = 8 * own.bytes();
    // The bits of the value, zero-extended.
    let exact = |x: u64| x << (64 - bits) >> (64 - bits);
    let x = exact(a);
    let amount = b as u32 % bits;
    let rotated = |left: u32| {
        let right = (bits - left) % bits;
        exact(x << left) | x >> right
    };
    let signed = |f: fn(i128, i128) -> i128| {
        let (low, high) = own.range().unwrap_or((0, 0));
        let value = |bits: u64| if own.is_signed() { i128::from(bits as i64) } else { i128::from(bits) };
        f(value(a), value(b)).clamp(low, high) as u64
    };
    match function {
        Function::CountOnes => x.count_ones().into(),
        Function::LeadingZeros => (x.leading_zeros() - (64 - bits)).into(),
        Function::TrailingZeros => x.trailing_zeros().min(bits).into(),
        Function::Ilog2 => x.checked_ilog2().unwrap_or(0).into(),
        Function::Isqrt => x.isqrt(),
        Function::SwapBytes => x.swap_bytes() >> (64 - bits),
        Function::ReverseBits => x.reverse_bits() >> (64 - bits),
        Function::RotateLeft if amount == 0 => x,
        Function::RotateRight if amount == 0 => x,
        Function::RotateLeft => rotated(amount),
        Function::RotateRight => rotated(bits - amount),
        Function::WrappingAdd => a.wrapping_add(b),
        Function::WrappingSub => a.wrapping_sub(b),
        Function::WrappingMul => a.wrapping_mul(b),
        Function::SaturatingAdd => signed(|a, b| a + b),
        Function::SaturatingSub => signed(|a, b| a - b),
        Function::Pow => a.wrapping_pow(b as u32),
        Function::BytePerm => {
            let source = exact(b) << 32 | x;
            (0..4).fold(0, |word, byte| {
                let from = c >> (4 * byte) & 7;
                word | (source >> (8 * from) & 0xff) << (8 * byte)
            })
        }
        Function::Sqrt
        | Function::Rsqrt
        | Function::Cbrt
        | Function::Exp
        | Function::Exp2
        | Function::ExpM1
        | Function::Ln
        | Function::Ln1p
        | Function::Log2
        | Function::Log10
        | Function::Sin
        | Function::Cos
        | Function::Tan
        | Function::Asin
        | Function::Acos
        | Function::Atan
        | Function::Sinh
        | Function::Cosh
        | Function::Tanh
        | Function::Asinh
        | Function::Acosh
        | Function::Atanh
        | Function::Erf
        | Function::Atan2
        | Function::Powf
        | Function::Hypot
        | Function::Powi
        | Function::MulAdd
        | Function::Abs
        | Function::Copysign
        | Function::Floor
        | Function::Ceil
        | Function::Round
        | Function::RoundTiesEven
        | Function::Trunc
        | Function::ToTf32
        | Function::ToBits
        | Function::FromBits => {
            panic!("{} is not of integers: the kernel is not well typed", function.name())
        }
    }
}
