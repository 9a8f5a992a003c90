//! Every function of numbers. Kernel and expectation are the same tokens.

use crate::harness::{Element, map};
use half::{bf16, f16};

/// What kernels have and Rust has not.
trait Extension {
    fn rsqrt(self) -> Self;
    fn erf(self) -> Self;
}

macro_rules! extension {
    ($($ty:ident)*) => {$(
        impl Extension for $ty {
            fn rsqrt(self) -> Self {
                1.0 / self.sqrt()
            }
            fn erf(self) -> Self {
                libm::erf(self.into()) as $ty
            }
        }
    )*};
}

extension!(f32 f64);

fn byte_perm(a: u32, b: u32, selector: u32) -> u32 {
    let source = u64::from(b) << 32 | u64::from(a);
    (0..4).fold(0, |word, byte| {
        let from = selector >> (4 * byte) & 7;
        word | ((source >> (8 * from)) as u32 & 0xff) << (8 * byte)
    })
}

/// How far two results may be apart.
trait Close: Element + PartialEq + std::fmt::Debug {
    fn close(self, other: Self, ulps: i64) -> bool;
}

macro_rules! close {
    (exact $($ty:ident)*) => {$(
        impl Close for $ty {
            fn close(self, other: Self, _: i64) -> bool {
                self == other
            }
        }
    )*};
    (floats $($ty:ident $bits:ident)*) => {$(
        impl Close for $ty {
            fn close(self, other: Self, ulps: i64) -> bool {
                let place = |x: $ty| {
                    let bits = i128::from(x.to_bits() as $bits);
                    if bits < 0 { i128::from($bits::MIN) - bits } else { bits }
                };
                self.to_bits() == other.to_bits()
                    || (self.is_nan() && other.is_nan())
                    || (ulps > 0 && (place(self) - place(other)).abs() <= ulps.into())
            }
        }
    )*};
}

close!(exact i8 i16 i32 i64 u8 u16 u32 u64);
close!(floats f32 i32 f64 i64 f16 i16 bf16 i16);

/// Numbers without pattern: a multiplier of a full period, its high bits.
fn random(seed: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(seed), |x| {
        Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    })
    .map(|x| x ^ x >> 29)
}

/// Values to compute with: special ones, random bits, and small ones.
trait Sample: Sized {
    fn sample(seed: u64) -> Vec<Self>;
}

macro_rules! samples {
    (integers $($ty:ident)*) => {$(
        impl Sample for $ty {
            fn sample(seed: u64) -> Vec<Self> {
                let special = [0, 1, 2, 3, $ty::MAX, $ty::MIN, $ty::MAX - 1, $ty::MAX / 2, 7, 64];
                let turned = special.into_iter().cycle().skip(seed as usize % 10).take(10);
                let mut random = random(seed);
                let wide = random.by_ref().take(40).map(|x| x as $ty).collect::<Vec<_>>();
                turned.chain(wide).chain(random.take(20).map(|x| (x >> 50) as $ty % 50)).collect()
            }
        }
    )*};
    (floats $($ty:ident)*) => {$(
        impl Sample for $ty {
            fn sample(seed: u64) -> Vec<Self> {
                let special = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, $ty::MAX, $ty::MIN_POSITIVE / 4.0, $ty::INFINITY,
                    $ty::NEG_INFINITY, $ty::NAN, 1.5, 1e10, 0.1];
                let turned = special.into_iter().cycle().skip(seed as usize % 14).take(14);
                let mut random = random(seed);
                let wide = random.by_ref().take(30).map(|x| $ty::from_bits(x as _)).collect::<Vec<_>>();
                turned.chain(wide).chain(random.take(30).map(|x| (x >> 40) as i32 as $ty / 4e6 - 2.0)).collect()
            }
        }
    )*};
}

samples!(integers i8 i16 i32 i64 u8 u16 u32 u64);
samples!(floats f32 f64);

macro_rules! halves {
    ($($ty:ident)*) => {$(
        impl Sample for $ty {
            fn sample(seed: u64) -> Vec<Self> {
                let mut random = random(seed);
                let special = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, 65504.0, 1e-7, 3e-39];
                let turned = special.into_iter().cycle().skip(seed as usize % 10).take(10).map($ty::from_f32);
                let near = random.by_ref().take(600).map(|x| $ty::from_f32((x >> 40) as i32 as f32 / 4e6 - 2.0));
                let near = near.collect::<Vec<_>>();
                turned.chain(near).chain(random.take(600).map(|x| $ty::from_bits(x as u16))).collect()
            }
        }

        impl Half for $ty {
            fn abs(self) -> Self {
                if self.is_sign_negative() { -self } else { self }
            }
            fn sqrt(self) -> Self {
                $ty::from_f32(self.to_f32().sqrt())
            }
            fn mul_add(self, a: Self, b: Self) -> Self {
                // `from_f64` drops low bits before it rounds, so the neighbours are candidates too.
                let exact = self.to_f64().mul_add(a.to_f64(), b.to_f64());
                let near = $ty::from_f64(exact);
                let distance = |x: $ty| (x.to_f64() - exact).abs();
                let around = [near.to_bits().wrapping_sub(1), near.to_bits(), near.to_bits() + 1];
                let nearest = around.into_iter().map($ty::from_bits).filter(|x| x.is_finite()).min_by(|x, y| {
                    let even = (x.to_bits() & 1).cmp(&(y.to_bits() & 1));
                    distance(*x).total_cmp(&distance(*y)).then(even)
                });
                if near.is_finite() && near.to_bits() & 0x7fff != 0 { nearest.unwrap_or(near) } else { near }
            }
        }
    )*};
}

/// What kernels have of floats of 16 bits beyond the crate `half`.
trait Half {
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
    fn mul_add(self, a: Self, b: Self) -> Self;
}

halves!(f16 bf16);

fn compare<A: Sample + Element + std::fmt::Debug, R: Close>(body: &str, rust: fn(A, A, A) -> R, ulps: i64) {
    let [a, b, c] = [3, 8, 21].map(A::sample);
    let got: Vec<R> = map(body, [&a, &b, &c]).unwrap_or_else(|error| panic!("{} {body}: {error}", A::NAME));
    for (i, got) in got.into_iter().enumerate() {
        let (a, b, c) = (a[i], b[i], c[i]);
        let expected = rust(a, b, c);
        assert!(
            got.close(expected, ulps),
            "{} {body} of {a:?}, {b:?}, {c:?}: {got:?} instead of {expected:?}",
            A::NAME
        );
    }
}

/// Compares for each type.
macro_rules! same {
    ([$($ty:ident)*] -> $out:ident $tests:tt) => { $(same!(@type $ty $out 0 $tests);)* };
    ([$($ty:ident)*] $ulps:literal $tests:tt) => { $(same!(@type $ty $ty $ulps $tests);)* };
    (@type $ty:ident $out:ident $ulps:literal { $(|$a:ident, $b:ident, $c:ident| $body:expr;)* }) => {
        $({
            #[allow(unused_variables, clippy::all)]
            fn rust($a: $ty, $b: $ty, $c: $ty) -> $out {
                $body
            }
            compare::<$ty, $out>(stringify!($body), rust, $ulps);
        })*
    };
}

#[test]
#[allow(unstable_name_collisions)]
fn floats_that_are_exact() {
    same!([f32 f64] 0 {
        |a, b, c| a.sqrt();
        |a, b, c| a.mul_add(b, c);
        |a, b, c| a.abs();
        |a, b, c| a.copysign(b);
        |a, b, c| a.floor() + a.ceil();
        |a, b, c| a.round();
        |a, b, c| a.round_ties_even();
        |a, b, c| a.trunc();
        |a, b, c| a.fract();
        |a, b, c| a.recip();
        |a, b, c| a.signum();
        |a, b, c| a.to_degrees();
        |a, b, c| a.to_radians();
        |a, b, c| a.powi(5);
        |a, b, c| (a * 0.5).powi(-3);
        |a, b, c| if b < c { a.clamp(b, c) } else { a };
        |a, b, c| a.rem_euclid(b);
        |a, b, c| a % b - c;
    });
    same!([f32] 0 { |a, b, c| f32::from_bits(a.to_bits() ^ 0x8000_0000); |a, b, c| f32::max(a.abs(), 2.0); });
    same!([f64] 0 { |a, b, c| f64::from_bits(a.to_bits() & 0x7fff_ffff_ffff_ffff); });
    same!([f32 f64] -> u32 {
        |a, b, c| a.is_nan() as u32 + 2 * a.is_finite() as u32 + 4 * a.is_infinite() as u32;
        |a, b, c| a.is_sign_negative() as u32 + 2 * a.is_sign_positive() as u32;
    });
    same!([f32] -> f64 { |a, b, c| f64::from(a); });
    same!([u8 i16] -> f32 { |a, b, c| f32::from(a) * 0.5; });
    same!([u32 i32 i8] -> f64 { |a, b, c| f64::from(a) * 0.5; });
}

#[test]
#[allow(unstable_name_collisions)]
fn floats_that_are_not() {
    same!([f32 f64] 4 {
        |a, b, c| a.rsqrt();
        |a, b, c| a.cbrt();
        |a, b, c| a.exp();
        |a, b, c| a.exp2();
        |a, b, c| a.exp_m1();
        |a, b, c| a.ln();
        |a, b, c| a.ln_1p();
        |a, b, c| a.log2();
        |a, b, c| a.log10();
        |a, b, c| a.log(b);
        |a, b, c| a.sin();
        |a, b, c| a.cos();
        |a, b, c| a.tan();
        |a, b, c| { let (s, c) = a.sin_cos(); s * c };
        |a, b, c| a.asin();
        |a, b, c| a.acos();
        |a, b, c| a.atan();
        |a, b, c| a.sinh();
        |a, b, c| a.cosh();
        |a, b, c| a.tanh();
        |a, b, c| a.erf();
        |a, b, c| a.atan2(b);
        |a, b, c| a.powf(b);
        |a, b, c| a.hypot(b);
        |a, b, c| a.div_euclid(b);
    });
    same!([f32 f64] 16 {
        |a, b, c| a.clamp(-1e15, 1e15).asinh();
        |a, b, c| a.min(1e15).acosh();
        |a, b, c| a.atanh();
    });
}

#[test]
fn constants() {
    same!([f32] 0 {
        |a, b, c| a * core::f32::consts::PI + f32::EPSILON;
        |a, b, c| a.min(f32::MAX).max(f32::MIN) * std::f32::consts::FRAC_2_SQRT_PI;
        |a, b, c| if a.is_nan() { f32::INFINITY } else { f32::NEG_INFINITY };
        |a, b, c| f32::NAN + a + f32::MIN_POSITIVE;
    });
    same!([f64] 0 { |a, b, c| a * core::f64::consts::LN_2 - f64::EPSILON; });
    same!([i32] 0 { |a, b, c| a ^ i32::MAX ^ (i32::MIN + 1); });
    same!([u64] 0 { |a, b, c| a ^ u64::MAX ^ u64::BITS as u64; });
}

#[test]
fn integers_are_rusts() {
    same!([i8 i16 i32 i64 u8 u16 u32 u64] -> u32 {
        |a, b, c| a.count_ones() + 100 * a.count_zeros();
        |a, b, c| a.leading_zeros() + 100 * a.leading_ones();
        |a, b, c| a.trailing_zeros() + 100 * a.trailing_ones();
    });
    same!([u8 u16 u32 u64] -> u32 {
        |a, b, c| a.is_power_of_two() as u32;
        |a, b, c| if a > 0 { a.ilog2() } else { 77 };
    });
    same!([i8 i16 i32 i64 u8 u16 u32 u64] 0 {
        |a, b, c| a.swap_bytes();
        |a, b, c| a.reverse_bits();
        |a, b, c| a.rotate_left(3) ^ b.rotate_right(5);
        |a, b, c| a.rotate_left(b as u32 & 63) ^ b.rotate_right(c as u32);
        |a, b, c| a.wrapping_add(b).wrapping_mul(c).wrapping_sub(a);
        |a, b, c| a.wrapping_neg();
        |a, b, c| a.wrapping_shl(b as u32) ^ a.wrapping_shr(c as u32);
        |a, b, c| if b != 0 { a.wrapping_div(b) ^ a.wrapping_rem(b) } else { 0 };
        |a, b, c| a.saturating_add(b);
        |a, b, c| a.saturating_sub(b);
        |a, b, c| a.min(b).max(c);
        |a, b, c| if b < c { a.clamp(b, c) } else { a };
    });
    // Of literals, too, an amount is masked.
    same!([i32] 0 {
        |a, b, c| a ^ 13i8.wrapping_shr(18) as i32 ^ 200u8.wrapping_shr(9) as i32 ^ 0x7654i16.wrapping_shr(20) as i32;
        |a, b, c| a ^ 13i32.wrapping_shr(35) ^ 13i8.wrapping_shl(9) as i32 ^ 13u64.wrapping_shr(65) as i32;
    });
    same!([u8 u16 u32 u64] 0 {
        |a, b, c| a.isqrt();
        |a, b, c| a.abs_diff(b);
        |a, b, c| if b > 0 && b < 50 && a < 100 { a.next_multiple_of(b) } else { 3 };
        |a, b, c| if b > 0 { a.div_ceil(b) } else { 3 };
        |a, b, c| if b > 0 { a.rem_euclid(b) ^ a.div_euclid(b) } else { 3 };
        |a, b, c| (a & 3).pow(3);
    });
    same!([i8 i16 i32 i64] 0 {
        |a, b, c| a.signum();
        |a, b, c| (a >> 1).abs();
        |a, b, c| if b != 0 && b > -50 && a > -100 { a.rem_euclid(b) ^ a.div_euclid(b) } else { 3 };
    });
    same!([i32] -> u32 { |a, b, c| a.abs_diff(b) ^ a.unsigned_abs(); });
    same!([i64] -> u64 { |a, b, c| a.abs_diff(b) ^ a.unsigned_abs(); });
    same!([u32] 0 { |a, b, c| byte_perm(a, b, c); |a, b, c| (a & 7).pow(b & 3); });
}

#[test]
fn halves_round_once() {
    same!([f16 bf16] 0 {
        |a, b, c| a + b;
        |a, b, c| a - b;
        |a, b, c| a * b;
        |a, b, c| a / b;
        |a, b, c| a % b;
        |a, b, c| -a;
        |a, b, c| a.abs();
        |a, b, c| a.sqrt();
        |a, b, c| a.mul_add(b, c);
        |a, b, c| a.copysign(b);
        |a, b, c| if a < b { a } else { c };
        |a, b, c| if b < c { a.clamp(b, c) } else { a };
        |a, b, c| if a == b || a.is_nan() { b } else { a.max(b).min(c) };
    });
    same!([f16] 0 {
        |a, b, c| f16::from_f32(a.to_f32() * 3.0 + f32::from(b));
        |a, b, c| f16::from_f64(a.to_f64() * 0.1);
        |a, b, c| f16::from_bits(a.to_bits() ^ 0x8001) + f16::ONE;
        |a, b, c| f16::from_f32(bf16::from_f32(a.to_f32()).to_f32());
        |a, b, c| f16::EPSILON * a + f16::MAX;
    });
    same!([bf16] 0 {
        |a, b, c| bf16::from_f32(a.to_f32() * 3.0 + f32::from(b));
        |a, b, c| bf16::from_f64(a.to_f64() * 0.1);
        |a, b, c| bf16::from_bits(a.to_bits() ^ 0x8001) + bf16::ONE;
        |a, b, c| bf16::EPSILON * a + bf16::MIN_POSITIVE;
    });
    same!([f16 bf16] -> u32 { |a, b, c| a.to_bits() as u32 + (a < b) as u32 + a.is_finite() as u32; });
    same!([f32] -> f16 { |a, b, c| f16::from_f32(a); });
    same!([f64] -> bf16 { |a, b, c| bf16::from_f64(a); });
    same!([u8] -> f16 { |a, b, c| f16::from(a); });
    same!([i8] -> bf16 { |a, b, c| bf16::from(a); });
}
