//! Methods of numbers under their Rust names, and their values by Rust's own.

use crate::value::{BinaryOp, CompareOp, binary, negative};
use crate::value::{Scalar, Value, Wrong, cast, compare, extremum, half_multiply_add, integer};
use half::{bf16, f16};

/// What the operands after the first one are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// None.
    No,
    /// One of the same type.
    Same,
    /// One of the same type that is no NaN, since its sign counts.
    Signed,
    /// Two of the same type.
    TwoSame,
    /// A `u32`.
    Amount,
    /// A literal of the same type above 0.
    Positive,
    /// Two literals of the same type, the first one not above the second.
    Bounds,
    /// A literal `u32` up to 6.
    Power,
    /// A literal `i32` from -4 to 6.
    SignedPower,
}

/// What a method is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Domain {
    Integers,
    Signed,
    Unsigned,
    Floats,
    /// `f32` and `f64`.
    WideFloats,
    Numbers,
}

impl Domain {
    /// Whether a type is in it.
    pub fn holds(self, scalar: Scalar) -> bool {
        match self {
            Domain::Integers => scalar.is_integer(),
            Domain::Signed => scalar.is_signed(),
            Domain::Unsigned => scalar.is_integer() && !scalar.is_signed(),
            Domain::Floats => scalar.is_float(),
            Domain::WideFloats => matches!(scalar, Scalar::F32 | Scalar::F64),
            Domain::Numbers => scalar.is_integer() || scalar.is_float(),
        }
    }
}

/// The type of a method's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// That of the first operand.
    Same,
    /// The unsigned integer of its size.
    Unsigned,
    /// This one.
    Is(Scalar),
}

/// A method: its name, what it is of, its other operands and its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    /// Its name in Rust.
    pub name: &'static str,
    /// What it is of.
    pub domain: Domain,
    /// The operands after the first one.
    pub rest: Rest,
    /// The type of its value.
    pub result: Gives,
}

impl Method {
    /// The type of its value, of a first operand of this type.
    pub fn result(&self, own: Scalar) -> Scalar {
        match self.result {
            Gives::Same => own,
            Gives::Unsigned => own.unsigned(),
            Gives::Is(scalar) => scalar,
        }
    }
}

const fn of(name: &'static str, domain: Domain, rest: Rest, result: Gives) -> Method {
    Method { name, domain, rest, result }
}

const U32: Gives = Gives::Is(Scalar::U32);
const BOOL: Gives = Gives::Is(Scalar::Bool);

/// The methods whose value is the same on every host.
pub const EXACT: &[Method] = &[
    of("min", Domain::Numbers, Rest::Same, Gives::Same),
    of("max", Domain::Numbers, Rest::Same, Gives::Same),
    of("clamp", Domain::Numbers, Rest::Bounds, Gives::Same),
    of("abs", Domain::Signed, Rest::No, Gives::Same),
    of("signum", Domain::Signed, Rest::No, Gives::Same),
    of("unsigned_abs", Domain::Signed, Rest::No, Gives::Unsigned),
    of("is_positive", Domain::Signed, Rest::No, BOOL),
    of("is_negative", Domain::Signed, Rest::No, BOOL),
    of("count_ones", Domain::Integers, Rest::No, U32),
    of("count_zeros", Domain::Integers, Rest::No, U32),
    of("leading_zeros", Domain::Integers, Rest::No, U32),
    of("trailing_zeros", Domain::Integers, Rest::No, U32),
    of("leading_ones", Domain::Integers, Rest::No, U32),
    of("trailing_ones", Domain::Integers, Rest::No, U32),
    of("swap_bytes", Domain::Integers, Rest::No, Gives::Same),
    of("reverse_bits", Domain::Integers, Rest::No, Gives::Same),
    of("rotate_left", Domain::Integers, Rest::Amount, Gives::Same),
    of("rotate_right", Domain::Integers, Rest::Amount, Gives::Same),
    of("isqrt", Domain::Unsigned, Rest::No, Gives::Same),
    of("is_power_of_two", Domain::Unsigned, Rest::No, BOOL),
    of("wrapping_add", Domain::Integers, Rest::Same, Gives::Same),
    of("wrapping_sub", Domain::Integers, Rest::Same, Gives::Same),
    of("wrapping_mul", Domain::Integers, Rest::Same, Gives::Same),
    of("wrapping_neg", Domain::Integers, Rest::No, Gives::Same),
    of("wrapping_shl", Domain::Integers, Rest::Amount, Gives::Same),
    of("wrapping_shr", Domain::Integers, Rest::Amount, Gives::Same),
    of("saturating_add", Domain::Integers, Rest::Same, Gives::Same),
    of("saturating_sub", Domain::Integers, Rest::Same, Gives::Same),
    of("abs_diff", Domain::Integers, Rest::Same, Gives::Unsigned),
    of("wrapping_div", Domain::Integers, Rest::Positive, Gives::Same),
    of("wrapping_rem", Domain::Integers, Rest::Positive, Gives::Same),
    of("div_euclid", Domain::Integers, Rest::Positive, Gives::Same),
    of("rem_euclid", Domain::Integers, Rest::Positive, Gives::Same),
    of("div_ceil", Domain::Unsigned, Rest::Positive, Gives::Same),
    of("next_multiple_of", Domain::Unsigned, Rest::Positive, Gives::Same),
    of("is_multiple_of", Domain::Unsigned, Rest::Positive, BOOL),
    of("pow", Domain::Integers, Rest::Power, Gives::Same),
    of("abs", Domain::Floats, Rest::No, Gives::Same),
    of("sqrt", Domain::Floats, Rest::No, Gives::Same),
    of("mul_add", Domain::Floats, Rest::TwoSame, Gives::Same),
    of("signum", Domain::Floats, Rest::No, Gives::Same),
    of("copysign", Domain::Floats, Rest::Signed, Gives::Same),
    of("is_nan", Domain::Floats, Rest::No, BOOL),
    of("is_infinite", Domain::Floats, Rest::No, BOOL),
    of("is_finite", Domain::Floats, Rest::No, BOOL),
    of("floor", Domain::WideFloats, Rest::No, Gives::Same),
    of("ceil", Domain::WideFloats, Rest::No, Gives::Same),
    of("round", Domain::WideFloats, Rest::No, Gives::Same),
    of("round_ties_even", Domain::WideFloats, Rest::No, Gives::Same),
    of("trunc", Domain::WideFloats, Rest::No, Gives::Same),
    of("fract", Domain::WideFloats, Rest::No, Gives::Same),
    of("recip", Domain::WideFloats, Rest::No, Gives::Same),
    of("to_degrees", Domain::WideFloats, Rest::No, Gives::Same),
    of("to_radians", Domain::WideFloats, Rest::No, Gives::Same),
    of("powi", Domain::WideFloats, Rest::SignedPower, Gives::Same),
    of("rem_euclid", Domain::WideFloats, Rest::Positive, Gives::Same),
    of("div_euclid", Domain::WideFloats, Rest::Positive, Gives::Same),
];

/// A method whose value the GPU approximates, and by how many units in the last place it may err: `f32`, `f64`.
pub type Approximate = (Method, [u32; 2]);

const fn near(name: &'static str, rest: Rest, ulps: [u32; 2]) -> Approximate {
    (of(name, Domain::WideFloats, rest, Gives::Same), ulps)
}

/// The methods that the GPU approximates, with the errors that the reference of the language states.
pub const APPROXIMATE: &[Approximate] = &[
    near("cbrt", Rest::No, [1, 1]),
    near("exp", Rest::No, [2, 1]),
    near("exp2", Rest::No, [2, 1]),
    near("exp_m1", Rest::No, [1, 1]),
    near("ln", Rest::No, [1, 1]),
    near("ln_1p", Rest::No, [1, 1]),
    near("log2", Rest::No, [1, 1]),
    near("log10", Rest::No, [2, 1]),
    near("sin", Rest::No, [2, 2]),
    near("cos", Rest::No, [2, 2]),
    near("tan", Rest::No, [4, 2]),
    near("asin", Rest::No, [4, 2]),
    near("acos", Rest::No, [3, 2]),
    near("atan", Rest::No, [2, 2]),
    near("sinh", Rest::No, [3, 2]),
    near("cosh", Rest::No, [2, 1]),
    near("tanh", Rest::No, [2, 2]),
    near("asinh", Rest::No, [4, 3]),
    near("acosh", Rest::No, [4, 3]),
    near("atanh", Rest::No, [3, 2]),
    near("rsqrt", Rest::No, [2, 1]),
    near("atan2", Rest::Same, [3, 2]),
    near("hypot", Rest::Same, [3, 2]),
    near("powf", Rest::Same, [9, 2]),
];

/// The value of a method.
///
/// # Errors
/// Where the operands do not fit it, or it has no value.
pub fn call(name: &str, operands: &[Value]) -> Result<Value, Wrong> {
    let Some(first) = operands.first() else { return Err(format!("`{name}` of nothing")) };
    match (name, operands) {
        ("min" | "max", [a, b]) => return extremum(a, b, name == "max"),
        ("is_nan", [a]) => return Ok(Value::Bool(a.is_nan())),
        ("to_f32", [a]) => return cast(a, Scalar::F32),
        ("to_f64", [a]) => return cast(a, Scalar::F64),
        ("to_bits", [a]) => {
            let scalar = first.scalar().map_or(Scalar::U64, Scalar::unsigned);
            return Ok(Value::of_bits(scalar, a.bits()));
        }
        _ => {}
    }
    match first {
        Value::F32(x) => wide::<f32>(name, *x, operands, Value::F32),
        Value::F64(x) => wide::<f64>(name, *x, operands, Value::F64),
        Value::F16(_) | Value::Bf16(_) => half(name, operands),
        _ => of_integer(name, first, operands),
    }
}

fn unknown<T>(name: &str, first: &Value) -> Result<T, Wrong> {
    Err(format!("{first:?} has no method `{name}`"))
}

fn of_integer(name: &str, first: &Value, operands: &[Value]) -> Result<Value, Wrong> {
    let bits = |place: usize| operands.get(place).map_or(0, Value::bits);
    let (by, third) = (bits(1), bits(2));
    match (name, operands) {
        ("abs", [a]) => {
            return if compare(CompareOp::Less, a, &Value::zero(scalar_of(a)))? {
                negative(a)
            } else {
                Ok(a.clone())
            };
        }
        ("wrapping_add", [a, b]) => return binary(BinaryOp::Add, a, b),
        ("wrapping_sub", [a, b]) => return binary(BinaryOp::Sub, a, b),
        ("wrapping_mul", [a, b]) => return binary(BinaryOp::Mul, a, b),
        ("wrapping_neg", [a]) => return negative(a),
        _ => {}
    }
    macro_rules! signed {
        ($x:expr, $of:ident, $unsigned:ident) => {
            match name {
                "signum" => return Ok(Value::$of($x.signum())),
                "unsigned_abs" => return Ok(Value::$unsigned($x.unsigned_abs())),
                "is_positive" => return Ok(Value::Bool($x.is_positive())),
                "is_negative" => return Ok(Value::Bool($x.is_negative())),
                "abs_diff" => return Ok(Value::$unsigned($x.abs_diff(by as _))),
                _ => {}
            }
        };
    }
    macro_rules! unsigned {
        ($x:expr, $of:ident) => {
            match name {
                "isqrt" => return Ok(Value::$of($x.isqrt())),
                "is_power_of_two" => return Ok(Value::Bool($x.is_power_of_two())),
                "abs_diff" => return Ok(Value::$of($x.abs_diff(by as _))),
                "div_ceil" if by != 0 => return Ok(Value::$of($x.div_ceil(by as _))),
                "is_multiple_of" if by != 0 => return Ok(Value::Bool($x.checked_rem(by as _) == Some(0))),
                "next_multiple_of" if by != 0 => {
                    return Ok(Value::$of($x.div_ceil(by as _).wrapping_mul(by as _)))
                }
                _ => {}
            }
        };
    }
    match first {
        Value::I8(x) => signed!(*x, I8, U8),
        Value::I16(x) => signed!(*x, I16, U16),
        Value::I32(x) => signed!(*x, I32, U32),
        Value::I64(x) => signed!(*x, I64, U64),
        Value::Isize(x) => signed!(*x, Isize, Usize),
        Value::U8(x) => unsigned!(*x, U8),
        Value::U16(x) => unsigned!(*x, U16),
        Value::U32(x) => unsigned!(*x, U32),
        Value::U64(x) => unsigned!(*x, U64),
        Value::Usize(x) => unsigned!(*x, Usize),
        _ => {}
    }
    integer!(
        first,
        |x, T, of| {
            let (x, y, z) = (*x, by as T, third as T);
            Ok(match name {
                "clamp" => of(x.clamp(y, z)),
                "count_ones" => Value::U32(x.count_ones()),
                "count_zeros" => Value::U32(x.count_zeros()),
                "leading_zeros" => Value::U32(x.leading_zeros()),
                "trailing_zeros" => Value::U32(x.trailing_zeros()),
                "leading_ones" => Value::U32(x.leading_ones()),
                "trailing_ones" => Value::U32(x.trailing_ones()),
                "swap_bytes" => of(x.swap_bytes()),
                "reverse_bits" => of(x.reverse_bits()),
                "rotate_left" => of(x.rotate_left(by as u32)),
                "rotate_right" => of(x.rotate_right(by as u32)),
                "wrapping_shl" => of(x.wrapping_shl(by as u32)),
                "wrapping_shr" => of(x.wrapping_shr(by as u32)),
                "saturating_add" => of(x.saturating_add(y)),
                "saturating_sub" => of(x.saturating_sub(y)),
                "pow" => of(x.wrapping_pow(by as u32)),
                "wrapping_div" if y != 0 => of(x.wrapping_div(y)),
                "wrapping_rem" if y != 0 => of(x.wrapping_rem(y)),
                "div_euclid" if y != 0 => of(x.wrapping_div_euclid(y)),
                "rem_euclid" if y != 0 => of(x.wrapping_rem_euclid(y)),
                _ => return unknown(name, first),
            })
        },
        unknown(name, first)
    )
}

fn scalar_of(value: &Value) -> Scalar {
    value.scalar().unwrap_or(Scalar::Bool)
}

/// The methods of `f32` and `f64` that both have.
trait Float: Copy {
    fn of(value: &Value) -> Option<Self>;
    fn exact(name: &str, x: Self, y: Self, z: Self, n: i32) -> Option<Self>;
    fn approximate(name: &str, x: Self, y: Self) -> Option<Self>;
    fn holds(name: &str, x: Self) -> Option<bool>;
}

macro_rules! floats {
    ($($ty:ident $variant:ident),*) => {$(
        impl Float for $ty {
            fn of(value: &Value) -> Option<$ty> {
                if let Value::$variant(x) = value { Some(*x) } else { None }
            }

            fn exact(name: &str, x: $ty, y: $ty, z: $ty, n: i32) -> Option<$ty> {
                Some(match name {
                    "clamp" if y <= z => x.clamp(y, z),
                    "abs" => x.abs(),
                    "sqrt" => x.sqrt(),
                    "mul_add" => x.mul_add(y, z),
                    "signum" => x.signum(),
                    "copysign" => x.copysign(y),
                    "floor" => x.floor(),
                    "ceil" => x.ceil(),
                    "round" => x.round(),
                    "round_ties_even" => x.round_ties_even(),
                    "trunc" => x.trunc(),
                    "fract" => x.fract(),
                    "recip" => x.recip(),
                    "to_degrees" => x.to_degrees(),
                    "to_radians" => x.to_radians(),
                    "rem_euclid" => x.rem_euclid(y),
                    "div_euclid" => x.div_euclid(y),
                    "powi" => {
                        let (mut power, mut square, mut rest) = (1.0, x, n.unsigned_abs());
                        while rest > 0 {
                            if rest % 2 == 1 {
                                power *= square;
                            }
                            square *= square;
                            rest /= 2;
                        }
                        if n < 0 { 1.0 / power } else { power }
                    }
                    _ => return None,
                })
            }

            fn approximate(name: &str, x: $ty, y: $ty) -> Option<$ty> {
                let (x, y) = (f64::from(x), f64::from(y));
                Some(approximate(name, x, y)? as $ty)
            }

            fn holds(name: &str, x: $ty) -> Option<bool> {
                match name {
                    "is_infinite" => Some(x.is_infinite()),
                    "is_finite" => Some(x.is_finite()),
                    _ => None,
                }
            }
        }
    )*};
}

floats!(f32 F32, f64 F64);

/// Of these three, Rust's own lose digits where the result is small.
fn approximate(name: &str, x: f64, y: f64) -> Option<f64> {
    Some(match name {
        "cbrt" => x.cbrt(),
        "exp" => x.exp(),
        "exp2" => x.exp2(),
        "exp_m1" => x.exp_m1(),
        "ln" => x.ln(),
        "ln_1p" => x.ln_1p(),
        "log2" => x.log2(),
        "log10" => x.log10(),
        "sin" => x.sin(),
        "cos" => x.cos(),
        "tan" => x.tan(),
        "asin" => x.asin(),
        "acos" => x.acos(),
        "atan" => x.atan(),
        "sinh" => x.sinh(),
        "cosh" => x.cosh(),
        "tanh" => x.tanh(),
        "asinh" => libm::asinh(x),
        "acosh" => libm::acosh(x),
        "atanh" => libm::atanh(x),
        "rsqrt" => 1.0 / x.sqrt(),
        "atan2" => x.atan2(y),
        "hypot" => x.hypot(y),
        "powf" => x.powf(y),
        _ => return None,
    })
}

fn wide<F: Float>(name: &str, x: F, operands: &[Value], of: impl Fn(F) -> Value) -> Result<Value, Wrong> {
    let operand = |place: usize| operands.get(place).and_then(F::of).unwrap_or(x);
    let power = operands.get(1).map_or(0, |value| value.bits() as i32);
    if let Some(value) = F::exact(name, x, operand(1), operand(2), power) {
        return Ok(of(value));
    }
    match (F::approximate(name, x, operand(1)), F::holds(name, x)) {
        (Some(value), _) => Ok(of(value)),
        (None, Some(holds)) => Ok(Value::Bool(holds)),
        (None, None) => unknown(name, &operands[0]),
    }
}

fn half(name: &str, operands: &[Value]) -> Result<Value, Wrong> {
    let first = &operands[0];
    let scalar = scalar_of(first);
    let real = |place: usize| operands.get(place).and_then(Value::real).unwrap_or(0.0);
    let (x, y, z) = (real(0), real(1), real(2));
    let with_bits = |bits: u16| match scalar {
        Scalar::F16 => Value::F16(f16::from_bits(bits)),
        _ => Value::Bf16(bf16::from_bits(bits)),
    };
    Ok(match name {
        "abs" => with_bits(first.bits() as u16 & 0x7fff),
        "copysign" => {
            let sign = operands.get(1).map_or(0, |value| value.bits() as u16 & 0x8000);
            with_bits(first.bits() as u16 & 0x7fff | sign)
        }
        // A root has more than twice the bits in `f64`.
        "sqrt" => Value::of_real(scalar, x.sqrt()),
        "mul_add" => half_multiply_add(scalar, x, y, z),
        "clamp" if y <= z => Value::of_real(scalar, x.clamp(y, z)),
        "signum" => Value::of_real(scalar, x.signum()),
        "is_infinite" => Value::Bool(x.is_infinite()),
        "is_finite" => Value::Bool(x.is_finite()),
        _ => return unknown(name, first),
    })
}
