//! Arithmetic on the values of a warp, one operation over all lanes at a time.
//!
//! A value is 64 bits: unsigned integers and the bits of floats zero-extended, signed integers sign-extended, bool zero or
//! one. Every function takes and yields values in this form. They compute all lanes, the inactive ones too, so none
//! panics on a value; which lanes have no result is part of the answer.
//!
//! # Panics
//! On operators that the operand's type does not have, which no well-typed kernel holds.

use crate::ir::{BinaryOp, CompareOp, Scalar, UnaryOp};
use std::ops::{Add, Div, Mul, Neg, Rem, Sub};
use tileproof_model::half::{self, Half};

/// One value a lane.
pub(super) type Lanes = [u64; 32];

/// Bits of a value's type.
fn bits(scalar: Scalar) -> u32 {
    if scalar == Scalar::Bool { 1 } else { 8 * scalar.bytes() }
}

/// The value that the low bits of `x` hold.
pub(super) fn canonical(scalar: Scalar, x: u64) -> u64 {
    let shift = 64 - bits(scalar);
    if scalar.is_signed() { ((x << shift) as i64 >> shift) as u64 } else { (x << shift) >> shift }
}

fn map(a: &Lanes, f: impl Fn(u64) -> u64) -> Lanes {
    std::array::from_fn(|lane| f(a[lane]))
}

fn zip(a: &Lanes, b: &Lanes, f: impl Fn(u64, u64) -> u64) -> Lanes {
    std::array::from_fn(|lane| f(a[lane], b[lane]))
}

/// The lanes, as a mask, for which `f` holds.
fn lanes_where(a: &Lanes, b: &Lanes, f: impl Fn(u64, u64) -> bool) -> u32 {
    (0..32).fold(0, |mask, lane| mask | u32::from(f(a[lane], b[lane])) << lane)
}

/// The lanes, as a mask, whose bool is true.
pub(super) fn truth(a: &Lanes) -> u32 {
    (0..32).fold(0, |mask, lane| mask | (a[lane] as u32 & 1) << lane)
}

/// How the values of a type are computed with.
enum Class {
    F16,
    Bf16,
    F32,
    F64,
    /// Integers, and bool as one of 1 bit.
    Integer,
}

fn class(scalar: Scalar) -> Class {
    match scalar {
        Scalar::F16 => Class::F16,
        Scalar::Bf16 => Class::Bf16,
        Scalar::F32 => Class::F32,
        Scalar::F64 => Class::F64,
        Scalar::Bool
        | Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::I64
        | Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::U64
        | Scalar::Usize
        | Scalar::Isize => Class::Integer,
    }
}

/// `op a`.
pub(super) fn unary(op: UnaryOp, scalar: Scalar, a: &Lanes) -> Lanes {
    match (op, class(scalar)) {
        (UnaryOp::Negate, Class::F16 | Class::Bf16) => map(a, |x| x ^ 0x8000),
        (UnaryOp::Negate, Class::F32) => map(a, |x| (-f32::of(x)).lane()),
        (UnaryOp::Negate, Class::F64) => map(a, |x| (-f64::of(x)).lane()),
        (UnaryOp::Negate, Class::Integer) => map(a, |x| canonical(scalar, x.wrapping_neg())),
        (UnaryOp::Not, Class::Integer) => map(a, |x| canonical(scalar, !x)),
        (UnaryOp::Not, Class::F16 | Class::Bf16 | Class::F32 | Class::F64) => {
            panic!("floats have no {op:?}: the kernel is not well typed")
        }
    }
}

/// `a op b`, and the lanes without a result: division of an integer by zero, or an index that leaves the
/// range of its type.
pub(super) fn binary(op: BinaryOp, scalar: Scalar, a: &Lanes, b: &Lanes) -> (Lanes, u32) {
    match class(scalar) {
        Class::F16 => (float_binary::<F16>(op, a, b), 0),
        Class::Bf16 => (float_binary::<Bf16>(op, a, b), 0),
        Class::F32 => (float_binary::<f32>(op, a, b), 0),
        Class::F64 => (float_binary::<f64>(op, a, b), 0),
        Class::Integer if scalar == Scalar::Usize => {
            (integer_binary(op, scalar, a, b), without_index(op, a, b))
        }
        Class::Integer if scalar == Scalar::Isize => {
            (integer_binary(op, scalar, a, b), without_offset(op, a, b))
        }
        Class::Integer => (integer_binary(op, scalar, a, b), without_quotient(op, a, b)),
    }
}

fn without_quotient(op: BinaryOp, a: &Lanes, b: &Lanes) -> u32 {
    match op {
        BinaryOp::Div | BinaryOp::Rem | BinaryOp::DivCeil => lanes_where(a, b, |_, y| y == 0),
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::Min
        | BinaryOp::Max => 0,
    }
}

fn without_index(op: BinaryOp, a: &Lanes, b: &Lanes) -> u32 {
    match op {
        BinaryOp::Add => lanes_where(a, b, |x, y| x.checked_add(y).is_none()),
        BinaryOp::Sub => lanes_where(a, b, |x, y| x < y),
        BinaryOp::Mul => lanes_where(a, b, |x, y| x.checked_mul(y).is_none()),
        BinaryOp::Shl => lanes_where(a, b, |x, y| x != 0 && x.leading_zeros() < (y & 63) as u32),
        BinaryOp::Div
        | BinaryOp::Rem
        | BinaryOp::DivCeil
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shr
        | BinaryOp::Min
        | BinaryOp::Max => without_quotient(op, a, b),
    }
}

fn without_offset(op: BinaryOp, a: &Lanes, b: &Lanes) -> u32 {
    let fails = |op: fn(i64, i64) -> Option<i64>| lanes_where(a, b, |x, y| op(x as i64, y as i64).is_none());
    match op {
        BinaryOp::Add => fails(i64::checked_add),
        BinaryOp::Sub => fails(i64::checked_sub),
        BinaryOp::Mul => fails(i64::checked_mul),
        BinaryOp::Div => fails(i64::checked_div),
        BinaryOp::Rem => fails(i64::checked_rem),
        BinaryOp::Shl => lanes_where(a, b, |x, y| {
            let (x, by) = (x as i64, y & 63);
            (x << by) >> by != x
        }),
        BinaryOp::DivCeil
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Xor
        | BinaryOp::Shr
        | BinaryOp::Min
        | BinaryOp::Max => without_quotient(op, a, b),
    }
}

fn integer_binary(op: BinaryOp, scalar: Scalar, a: &Lanes, b: &Lanes) -> Lanes {
    let signed = scalar.is_signed();
    let amount = u64::from(bits(scalar) - 1);
    let wide = match op {
        BinaryOp::Add => zip(a, b, u64::wrapping_add),
        BinaryOp::Sub => zip(a, b, u64::wrapping_sub),
        BinaryOp::Mul => zip(a, b, u64::wrapping_mul),
        BinaryOp::Div if signed => {
            zip(a, b, |x, y| if y == 0 { 0 } else { (x as i64).wrapping_div(y as i64) as u64 })
        }
        BinaryOp::Div => zip(a, b, |x, y| x.checked_div(y).unwrap_or(0)),
        BinaryOp::Rem if signed => {
            zip(a, b, |x, y| if y == 0 { 0 } else { (x as i64).wrapping_rem(y as i64) as u64 })
        }
        BinaryOp::Rem => zip(a, b, |x, y| x.checked_rem(y).unwrap_or(0)),
        BinaryOp::And => zip(a, b, |x, y| x & y),
        BinaryOp::Or => zip(a, b, |x, y| x | y),
        BinaryOp::Xor => zip(a, b, |x, y| x ^ y),
        BinaryOp::Shl => zip(a, b, |x, y| x << (y & amount)),
        BinaryOp::Shr if signed => zip(a, b, |x, y| (x as i64 >> (y & amount)) as u64),
        BinaryOp::Shr => zip(a, b, |x, y| x >> (y & amount)),
        BinaryOp::Min if signed => zip(a, b, |x, y| (x as i64).min(y as i64) as u64),
        BinaryOp::Min => zip(a, b, u64::min),
        BinaryOp::Max if signed => zip(a, b, |x, y| (x as i64).max(y as i64) as u64),
        BinaryOp::Max => zip(a, b, u64::max),
        BinaryOp::DivCeil => zip(a, b, |x, y| if y == 0 { 0 } else { x.div_ceil(y) }),
    };
    if bits(scalar) == 64 { wide } else { map(&wide, |x| canonical(scalar, x)) }
}

/// The floats of Rust, by their bits.
trait Float:
    Copy
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Rem<Output = Self>
    + Neg<Output = Self>
{
    fn of(lane: u64) -> Self;
    fn lane(self) -> u64;
    fn negative(self) -> bool;
    fn nan(self) -> bool;
}

impl Float for f32 {
    fn of(lane: u64) -> f32 {
        f32::from_bits(lane as u32)
    }
    fn lane(self) -> u64 {
        u64::from(self.to_bits())
    }
    fn negative(self) -> bool {
        self.is_sign_negative()
    }
    fn nan(self) -> bool {
        self.is_nan()
    }
}

impl Float for f64 {
    fn of(lane: u64) -> f64 {
        f64::from_bits(lane)
    }
    fn lane(self) -> u64 {
        self.to_bits()
    }
    fn negative(self) -> bool {
        self.is_sign_negative()
    }
    fn nan(self) -> bool {
        self.is_nan()
    }
}

macro_rules! half {
    ($name:ident, $format:expr) => {
        /// A float of 16 bits as the `f32` that it is.
        #[derive(Clone, Copy, PartialEq, PartialOrd)]
        struct $name(f32);

        half!($name, $format, Add add, Sub sub, Mul mul, Div div, Rem rem);

        impl Neg for $name {
            type Output = $name;
            fn neg(self) -> $name {
                $name(-self.0)
            }
        }

        impl Float for $name {
            fn of(lane: u64) -> $name {
                $name($format.value(lane as u16))
            }
            fn lane(self) -> u64 {
                $format.nearest(self.0.into()).into()
            }
            fn negative(self) -> bool {
                self.0.is_sign_negative()
            }
            fn nan(self) -> bool {
                self.0.is_nan()
            }
        }
    };
    ($name:ident, $format:expr, $($operator:ident $method:ident),*) => {$(
        impl $operator for $name {
            type Output = $name;
            fn $method(self, other: $name) -> $name {
                $name($operator::$method(self.0, other.0))
            }
        }
    )*};
}

half!(F16, half::F16);
half!(Bf16, half::BF16);

/// The smaller, -0 below +0 as on the GPU (Rust leaves that open); the other one if one is NaN.
fn smaller<F: Float>(a: F, b: F) -> F {
    if b.nan() || a < b || (a == b && a.negative()) { a } else { b }
}

fn float_binary<F: Float>(op: BinaryOp, a: &Lanes, b: &Lanes) -> Lanes {
    let zip = |f: fn(F, F) -> F| zip(a, b, |x, y| f(F::of(x), F::of(y)).lane());
    match op {
        BinaryOp::Add => zip(|x, y| x + y),
        BinaryOp::Sub => zip(|x, y| x - y),
        BinaryOp::Mul => zip(|x, y| x * y),
        BinaryOp::Div => zip(|x, y| x / y),
        BinaryOp::Rem => zip(|x, y| x % y),
        BinaryOp::Min => zip(|x, y| smaller(x, y)),
        BinaryOp::Max => zip(|x, y| -smaller(-x, -y)),
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr | BinaryOp::DivCeil => {
            panic!("floats have no {op:?}: the kernel is not well typed")
        }
    }
}

/// `a op b`, as bool.
pub(super) fn compare(op: CompareOp, scalar: Scalar, a: &Lanes, b: &Lanes) -> Lanes {
    match class(scalar) {
        Class::F16 => compare_as(op, a, b, F16::of),
        Class::Bf16 => compare_as(op, a, b, Bf16::of),
        Class::F32 => compare_as(op, a, b, f32::of),
        Class::F64 => compare_as(op, a, b, f64::of),
        Class::Integer if scalar.is_signed() => compare_as(op, a, b, |x| x as i64),
        Class::Integer => compare_as(op, a, b, |x| x),
    }
}

fn compare_as<T: PartialOrd>(op: CompareOp, a: &Lanes, b: &Lanes, value: impl Fn(u64) -> T) -> Lanes {
    match op {
        CompareOp::Less => zip(a, b, |x, y| (value(x) < value(y)).into()),
        CompareOp::LessEqual => zip(a, b, |x, y| (value(x) <= value(y)).into()),
        CompareOp::Greater => zip(a, b, |x, y| (value(x) > value(y)).into()),
        CompareOp::GreaterEqual => zip(a, b, |x, y| (value(x) >= value(y)).into()),
        CompareOp::Equal => zip(a, b, |x, y| (value(x) == value(y)).into()),
        CompareOp::NotEqual => zip(a, b, |x, y| (value(x) != value(y)).into()),
    }
}

/// The first where the condition holds, else the second.
pub(super) fn select(condition: &Lanes, yes: &Lanes, no: &Lanes) -> Lanes {
    std::array::from_fn(|lane| if condition[lane] & 1 == 1 { yes[lane] } else { no[lane] })
}

/// The lanes in which an index has no value of the other type of indices.
pub(super) fn without_conversion(from: Scalar, to: Scalar, a: &Lanes) -> u32 {
    match from != to && from.is_index() && to.is_index() {
        true => lanes_where(a, a, |x, _| (x as i64) < 0),
        false => 0,
    }
}

/// `a as to`.
pub(super) fn cast(from: Scalar, to: Scalar, a: &Lanes) -> Lanes {
    match (Half::of(from), Half::of(to)) {
        _ if from == to => return *a,
        (Some(half), _) => {
            let single = map(a, |x| half.value(x as u16).lane());
            return cast(Scalar::F32, to, &single);
        }
        (None, Some(half)) if from == Scalar::F64 => return map(a, |x| half.nearest(f64::of(x)).into()),
        (None, Some(half)) => {
            let single = cast(from, Scalar::F32, a);
            return map(&single, |x| half.nearest(f32::of(x).into()).into());
        }
        (None, None) => {}
    }
    match (class(from), class(to)) {
        (Class::F16 | Class::Bf16, _) | (_, Class::F16 | Class::Bf16) => *a,
        (Class::F32, Class::F32) | (Class::F64, Class::F64) => *a,
        (Class::F32, Class::F64) => map(a, |x| f64::from(f32::of(x)).lane()),
        (Class::F64, Class::F32) => map(a, |x| (f64::of(x) as f32).lane()),
        // f64 holds every f32, so the conversion rounds and saturates as from f32 itself.
        (Class::F32, Class::Integer) => map(a, |x| float_to_integer(f64::from(f32::of(x)), to)),
        (Class::F64, Class::Integer) => map(a, |x| float_to_integer(f64::of(x), to)),
        (Class::Integer, Class::F32) if from.is_signed() => map(a, |x| (x as i64 as f32).lane()),
        (Class::Integer, Class::F32) => map(a, |x| (x as f32).lane()),
        (Class::Integer, Class::F64) if from.is_signed() => map(a, |x| (x as i64 as f64).lane()),
        (Class::Integer, Class::F64) => map(a, |x| (x as f64).lane()),
        (Class::Integer, Class::Integer) => map(a, |x| canonical(to, x)),
    }
}

fn float_to_integer(x: f64, to: Scalar) -> u64 {
    match to {
        Scalar::I8 => x as i8 as i64 as u64,
        Scalar::I16 => x as i16 as i64 as u64,
        Scalar::I32 => x as i32 as i64 as u64,
        Scalar::I64 | Scalar::Isize => x as i64 as u64,
        Scalar::U8 => u64::from(x as u8),
        Scalar::U16 => u64::from(x as u16),
        Scalar::U32 => u64::from(x as u32),
        Scalar::U64 | Scalar::Usize => x as u64,
        Scalar::Bool | Scalar::F16 | Scalar::Bf16 | Scalar::F32 | Scalar::F64 => {
            panic!("floats are not cast to {} this way: the kernel is not well typed", to.name())
        }
    }
}

/// Reads an element.
pub(super) fn from_bytes(scalar: Scalar, bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let x = u64::from_le_bytes(wide);
    if scalar == Scalar::Bool { u64::from(x != 0) } else { canonical(scalar, x) }
}

/// Writes an element.
pub(super) fn to_bytes(value: u64, bytes: &mut [u8]) {
    let length = bytes.len();
    bytes.copy_from_slice(&value.to_le_bytes()[..length]);
}
