//! Numbers: what kernels have beyond Rust's own methods, and how exact all of them are on the GPU.

use half::{bf16, f16};

/// Methods of floats that Rust's standard library lacks. They are plain functions on the host, too.
///
/// A kernel knows these and Rust's own methods, under their Rust names, for `f32` and `f64`. Sums, products, quotients,
/// remainders, `sqrt`, `mul_add`, conversions and everything that only rounds or changes a sign are the same bits on the
/// GPU, in the simulator and in Rust, but that one NaN is as good as another; nothing but `mul_add` is ever fused. `powi` multiplies
/// in Rust's order. Of the others the GPU's result is at most so many units in the last place from the correctly rounded one (f32, f64):
///
/// | functions | f32 | f64 |
/// |---|---|---|
/// | `cbrt`, `exp_m1`, `ln`, `ln_1p`, `log2` | 1 | 1 |
/// | `rsqrt`, `exp`, `exp2`, `log10`, `cosh` | 2 | 1 |
/// | `sin`, `cos`, `atan`, `tanh`, `erf` | 2 | 2 |
/// | `acos`, `sinh`, `atanh`, `atan2`, `hypot` | 3 | 2 |
/// | `tan`, `asin` | 4 | 2 |
/// | `asinh`, `acosh` | 4 | 3 |
/// | `powf` | 9 | 2 |
///
/// `sin`, `cos` and `tan` of arguments beyond about 10⁵ take a slow path that uses local memory.
///
/// ```
/// use tileproof::prelude::*;
///
/// assert_eq!(4.0_f32.rsqrt(), 0.5);
/// assert!((FloatExt::erf(1.0_f64) - 0.8427007929497149).abs() < 1e-15);
/// ```
pub trait FloatExt: sealed::Sealed {
    /// `1 / √self`, by one instruction and a correction.
    fn rsqrt(self) -> Self;

    /// The error function, `2/√π ∫₀ˣ exp(−t²) dt`.
    fn erf(self) -> Self;
}

/// A method of `f32`, for products of matrices.
pub trait Tf32Ext: sealed::Sealed {
    /// Rounded to the 11 bits of significand that [`mma`](super::mma) takes of an `f32`, whose other bits it ignores: to nearest, ties away
    /// from zero. Too large becomes infinity; NaN stays as it is. What the instruction `cvt.rna.tf32.f32` computes, on all
    /// architectures.
    ///
    /// ```
    /// use tileproof::prelude::*;
    ///
    /// assert_eq!(1.0_f32.to_tf32(), 1.0);
    /// assert_eq!((1.0 + 3.0 * 2f32.powi(-11)).to_tf32(), 1.0 + 4.0 * 2f32.powi(-11));
    /// ```
    fn to_tf32(self) -> Self;
}

impl Tf32Ext for f32 {
    fn to_tf32(self) -> f32 {
        if self.is_nan() { self } else { f32::from_bits((self.to_bits() + 0x1000) & 0xffff_e000) }
    }
}

/// Methods of `f16` and `bf16` that the crate `half` has only with more features. They are plain functions on the host, too.
///
/// Both types are those of `half`, and a kernel knows of them: `from_f32`, `from_f64`, `from_bits`, `from(u8)`, `from(i8)`,
/// `to_f32`, `to_f64`, `to_bits`, `f32::from(x)`; `+ - * / %`, `-x`, comparisons, `min`, `max`, `clamp`, `signum`,
/// `copysign`, `is_nan` and its like, and the methods here. Each operation rounds once, to nearest even, with equal bits on the
/// GPU, in the simulator and in `half`; but `from_f64`, which `half` does not always round to nearest. Everything else is computed in
/// `f32`: `f16::from_f32(x.to_f32().exp())`.
///
/// ```
/// use tileproof::prelude::*;
///
/// let x = f16::from_f32(2.25);
/// assert_eq!(x.sqrt(), f16::from_f32(1.5));
/// assert_eq!((-x).abs().mul_add(f16::ONE, x), f16::from_f32(4.5));
/// ```
pub trait HalfExt: sealed::Half {
    /// The magnitude.
    fn abs(self) -> Self;

    /// The square root.
    fn sqrt(self) -> Self;

    /// `self * a + b`, rounded once.
    fn mul_add(self, a: Self, b: Self) -> Self;
}

mod sealed {
    pub trait Sealed {}
    pub trait Half {}
}

macro_rules! floats {
    ($($ty:ident)*) => {$(
        impl sealed::Sealed for $ty {}

        impl FloatExt for $ty {
            fn rsqrt(self) -> Self {
                1.0 / self.sqrt()
            }

            fn erf(self) -> Self {
                libm::erf(self.into()) as $ty
            }
        }
    )*};
}

floats!(f32 f64);

macro_rules! halves {
    ($($ty:ident $format:ident)*) => {$(
        impl sealed::Half for $ty {}

        impl HalfExt for $ty {
            fn abs(self) -> Self {
                $ty::from_bits(self.to_bits() & 0x7fff)
            }

            fn sqrt(self) -> Self {
                $ty::from_f32(self.to_f32().sqrt())
            }

            fn mul_add(self, a: Self, b: Self) -> Self {
                let [x, a, b] = [self, a, b].map($ty::to_bits);
                $ty::from_bits(tileproof_model::half::$format.multiply_add(x, a, b))
            }
        }
    )*};
}

halves!(f16 F16 bf16 BF16);

/// Four bytes picked from eight: those of `a` are 0 to 3, those of `b` 4 to 7, low byte first. Digit `i` of `selector`, in
/// hexadecimal, says which one becomes byte `i`; its highest bit is ignored. One instruction on the GPU.
///
/// ```
/// use tileproof::prelude::*;
///
/// assert_eq!(byte_perm(0x3322_1100, 0x7766_5544, 0x7531), 0x7755_3311);
/// ```
pub fn byte_perm(a: u32, b: u32, selector: u32) -> u32 {
    let source = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |word, byte| {
        let from = selector >> (4 * byte) & 7;
        word | ((source >> (8 * from)) as u32 & 0xff) << (8 * byte)
    })
}
