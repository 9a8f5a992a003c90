//! Values and their arithmetic, by Rust's own types.

use half::{bf16, f16};

/// The type of a number or a bool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Scalar {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    Isize,
    Usize,
    F16,
    Bf16,
    F32,
    F64,
}

impl Scalar {
    /// The types that lie in memory.
    pub const ELEMENTS: [Scalar; 12] = [
        Scalar::I8,
        Scalar::I16,
        Scalar::I32,
        Scalar::I64,
        Scalar::U8,
        Scalar::U16,
        Scalar::U32,
        Scalar::U64,
        Scalar::F16,
        Scalar::Bf16,
        Scalar::F32,
        Scalar::F64,
    ];

    /// Its name in Rust.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Bool => "bool",
            Scalar::I8 => "i8",
            Scalar::I16 => "i16",
            Scalar::I32 => "i32",
            Scalar::I64 => "i64",
            Scalar::U8 => "u8",
            Scalar::U16 => "u16",
            Scalar::U32 => "u32",
            Scalar::U64 => "u64",
            Scalar::Isize => "isize",
            Scalar::Usize => "usize",
            Scalar::F16 => "f16",
            Scalar::Bf16 => "bf16",
            Scalar::F32 => "f32",
            Scalar::F64 => "f64",
        }
    }

    /// Its bytes in memory.
    pub fn bytes(self) -> usize {
        match self {
            Scalar::Bool | Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::Bf16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::Isize | Scalar::Usize | Scalar::F64 => 8,
        }
    }

    /// Whether it is `f16` or `bf16`.
    pub fn is_half(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::Bf16)
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        self.is_half() || matches!(self, Scalar::F32 | Scalar::F64)
    }

    /// Whether it is `usize` or `isize`.
    pub fn is_index(self) -> bool {
        matches!(self, Scalar::Usize | Scalar::Isize)
    }

    /// Whether it is an integer of data, which wraps.
    pub fn is_integer(self) -> bool {
        !self.is_float() && !self.is_index() && self != Scalar::Bool
    }

    /// Whether it is an integer of data below and above zero.
    pub fn is_signed(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64)
    }

    /// The unsigned integer of data with as many bits.
    pub fn unsigned(self) -> Scalar {
        match self.bytes() {
            1 => Scalar::U8,
            2 => Scalar::U16,
            4 => Scalar::U32,
            _ => Scalar::U64,
        }
    }
}

/// A value: of a scalar, or the list of those of an array, vector or tuple.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Value {
    Bool(bool),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    Isize(isize),
    Usize(usize),
    F16(f16),
    Bf16(bf16),
    F32(f32),
    F64(f64),
    List(Vec<Value>),
}

/// Does the same for each type of integers, whose value is `$x` and whose type is `$t`.
macro_rules! integer {
    ($value:expr, |$x:ident, $t:ident, $of:ident| $body:expr, $otherwise:expr) => {
        match $value {
            Value::I8($x) => {
                type $t = i8;
                let $of = Value::I8;
                $body
            }
            Value::I16($x) => {
                type $t = i16;
                let $of = Value::I16;
                $body
            }
            Value::I32($x) => {
                type $t = i32;
                let $of = Value::I32;
                $body
            }
            Value::I64($x) => {
                type $t = i64;
                let $of = Value::I64;
                $body
            }
            Value::U8($x) => {
                type $t = u8;
                let $of = Value::U8;
                $body
            }
            Value::U16($x) => {
                type $t = u16;
                let $of = Value::U16;
                $body
            }
            Value::U32($x) => {
                type $t = u32;
                let $of = Value::U32;
                $body
            }
            Value::U64($x) => {
                type $t = u64;
                let $of = Value::U64;
                $body
            }
            Value::Isize($x) => {
                type $t = isize;
                let $of = Value::Isize;
                $body
            }
            Value::Usize($x) => {
                type $t = usize;
                let $of = Value::Usize;
                $body
            }
            _ => $otherwise,
        }
    };
}
pub(crate) use integer;

impl Value {
    /// The zero, or false, of a type.
    pub fn zero(scalar: Scalar) -> Value {
        Value::of_bits(scalar, 0)
    }

    /// The value of these low bits.
    pub fn of_bits(scalar: Scalar, bits: u64) -> Value {
        match scalar {
            Scalar::Bool => Value::Bool(bits & 1 == 1),
            Scalar::I8 => Value::I8(bits as i8),
            Scalar::I16 => Value::I16(bits as i16),
            Scalar::I32 => Value::I32(bits as i32),
            Scalar::I64 => Value::I64(bits as i64),
            Scalar::U8 => Value::U8(bits as u8),
            Scalar::U16 => Value::U16(bits as u16),
            Scalar::U32 => Value::U32(bits as u32),
            Scalar::U64 => Value::U64(bits),
            Scalar::Isize => Value::Isize(bits as isize),
            Scalar::Usize => Value::Usize(bits as usize),
            Scalar::F16 => Value::F16(f16::from_bits(bits as u16)),
            Scalar::Bf16 => Value::Bf16(bf16::from_bits(bits as u16)),
            Scalar::F32 => Value::F32(f32::from_bits(bits as u32)),
            Scalar::F64 => Value::F64(f64::from_bits(bits)),
        }
    }

    /// Its bits, those of a list are 0.
    pub fn bits(&self) -> u64 {
        match self {
            Value::Bool(x) => u64::from(*x),
            Value::I8(x) => u64::from(*x as u8),
            Value::I16(x) => u64::from(*x as u16),
            Value::I32(x) => u64::from(*x as u32),
            Value::I64(x) => *x as u64,
            Value::U8(x) => u64::from(*x),
            Value::U16(x) => u64::from(*x),
            Value::U32(x) => u64::from(*x),
            Value::U64(x) => *x,
            Value::Isize(x) => *x as u64,
            Value::Usize(x) => *x as u64,
            Value::F16(x) => u64::from(x.to_bits()),
            Value::Bf16(x) => u64::from(x.to_bits()),
            Value::F32(x) => u64::from(x.to_bits()),
            Value::F64(x) => x.to_bits(),
            Value::List(_) => 0,
        }
    }

    /// Its type.
    pub fn scalar(&self) -> Option<Scalar> {
        Some(match self {
            Value::Bool(_) => Scalar::Bool,
            Value::I8(_) => Scalar::I8,
            Value::I16(_) => Scalar::I16,
            Value::I32(_) => Scalar::I32,
            Value::I64(_) => Scalar::I64,
            Value::U8(_) => Scalar::U8,
            Value::U16(_) => Scalar::U16,
            Value::U32(_) => Scalar::U32,
            Value::U64(_) => Scalar::U64,
            Value::Isize(_) => Scalar::Isize,
            Value::Usize(_) => Scalar::Usize,
            Value::F16(_) => Scalar::F16,
            Value::Bf16(_) => Scalar::Bf16,
            Value::F32(_) => Scalar::F32,
            Value::F64(_) => Scalar::F64,
            Value::List(_) => return None,
        })
    }

    /// Whether it is a float that is no number.
    pub fn is_nan(&self) -> bool {
        match self {
            Value::F16(x) => x.is_nan(),
            Value::Bf16(x) => x.is_nan(),
            Value::F32(x) => x.is_nan(),
            Value::F64(x) => x.is_nan(),
            _ => false,
        }
    }

    /// A float as the `f64` that it is.
    pub fn real(&self) -> Option<f64> {
        match self {
            Value::F16(x) => Some(x.to_f64()),
            Value::Bf16(x) => Some(x.to_f64()),
            Value::F32(x) => Some(f64::from(*x)),
            Value::F64(x) => Some(*x),
            _ => None,
        }
    }

    /// The float of this type that is nearest, ties to even.
    pub fn of_real(scalar: Scalar, x: f64) -> Value {
        match scalar {
            Scalar::F16 => Value::F16(f16::from_f64(rounded(x, 10, -14, 15))),
            Scalar::Bf16 => Value::Bf16(bf16::from_f64(rounded(x, 7, -126, 127))),
            Scalar::F32 => Value::F32(x as f32),
            _ => Value::F64(x),
        }
    }
}

/// The nearest number with so many bits after the leading one, least normal exponent and greatest exponent.
fn rounded(x: f64, bits: i32, least: i32, greatest: i32) -> f64 {
    if x == 0.0 || !x.is_finite() {
        return x;
    }
    let exponent = ((x.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(least);
    let unit = f64::exp2(f64::from(exponent - bits));
    let nearest = (x / unit).round_ties_even() * unit;
    if nearest.abs() >= f64::exp2(f64::from(greatest + 1)) { f64::INFINITY.copysign(x) } else { nearest }
}

/// `a * b + c` of floats of 16 bits, whose product is exact in `f64`, rounded once.
pub(crate) fn half_multiply_add(scalar: Scalar, a: f64, b: f64, c: f64) -> Value {
    let product = a * b;
    let sum = product + c;
    if !sum.is_finite() {
        return Value::of_real(scalar, sum);
    }
    // What the sum lost, exactly. Rounding the sum to an odd last bit keeps it from being taken for a tie.
    let part = sum - product;
    let lost = (product - (sum - part)) + (c - part);
    let odd = match lost == 0.0 || sum.to_bits() & 1 == 1 {
        true => sum,
        false if (lost > 0.0) == (sum > 0.0) => f64::from_bits(sum.to_bits() + 1),
        false => f64::from_bits(sum.to_bits() - 1),
    };
    Value::of_real(scalar, odd)
}

/// An operator of two numbers of one type, or of a number and a shift's amount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
}

impl BinaryOp {
    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::And => "&",
            BinaryOp::Or => "|",
            BinaryOp::Xor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
        }
    }
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum CompareOp {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl CompareOp {
    /// As it is written.
    pub fn text(self) -> &'static str {
        match self {
            CompareOp::Equal => "==",
            CompareOp::NotEqual => "!=",
            CompareOp::Less => "<",
            CompareOp::LessEqual => "<=",
            CompareOp::Greater => ">",
            CompareOp::GreaterEqual => ">=",
        }
    }

    fn holds<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            CompareOp::Equal => a == b,
            CompareOp::NotEqual => a != b,
            CompareOp::Less => a < b,
            CompareOp::LessEqual => a <= b,
            CompareOp::Greater => a > b,
            CompareOp::GreaterEqual => a >= b,
        }
    }
}

/// Why an expression has no value; a kernel that the compiler accepts has none such.
pub type Wrong = String;

fn ill_typed<T>(what: &str) -> Result<T, Wrong> {
    Err(format!("{what} of a value that has none"))
}

/// `a op b`; of lists, each element with its counterpart, or with the one value.
///
/// # Errors
/// Division of an integer by zero, index arithmetic that leaves its type, and types that do not fit.
pub fn binary(op: BinaryOp, a: &Value, b: &Value) -> Result<Value, Wrong> {
    match (a, b) {
        (Value::List(list), Value::List(other)) => {
            let each = list.iter().zip(other).map(|(x, y)| binary(op, x, y));
            return Ok(Value::List(each.collect::<Result<_, _>>()?));
        }
        (Value::List(list), other) => {
            let each = list.iter().map(|x| binary(op, x, other));
            return Ok(Value::List(each.collect::<Result<_, _>>()?));
        }
        _ => {}
    }
    if matches!(op, BinaryOp::Shl | BinaryOp::Shr) {
        let amount = b.bits() as u32;
        let index = a.scalar().is_some_and(Scalar::is_index);
        return integer!(
            a,
            |x, T, of| match op {
                BinaryOp::Shl if index => {
                    let wide = (*x as i128) << (amount % 64);
                    let fits = T::try_from(wide).map_err(|_| format!("{x} << {amount} leaves its type"))?;
                    Ok(of(fits))
                }
                BinaryOp::Shl => Ok(of(T::wrapping_shl(*x, amount))),
                _ => Ok(of(T::wrapping_shr(*x, amount))),
            },
            ill_typed("a shift")
        );
    }
    if let (Some(x), Some(y), Some(scalar)) = (a.real(), b.real(), a.scalar()) {
        return match (a, b) {
            (Value::F64(x), Value::F64(y)) => float_binary(op, *x, *y).map(Value::F64),
            (Value::F32(x), Value::F32(y)) => match op {
                BinaryOp::Add => Ok(Value::F32(x + y)),
                BinaryOp::Sub => Ok(Value::F32(x - y)),
                BinaryOp::Mul => Ok(Value::F32(x * y)),
                BinaryOp::Div => Ok(Value::F32(x / y)),
                BinaryOp::Rem => Ok(Value::F32(x % y)),
                _ => ill_typed("bits"),
            },
            // Of halves `f64` holds sums and products exactly, and more than twice the bits of a quotient.
            _ => float_binary(op, x, y).map(|value| Value::of_real(scalar, value)),
        };
    }
    if let (Value::Bool(x), Value::Bool(y)) = (a, b) {
        return match op {
            BinaryOp::And => Ok(Value::Bool(x & y)),
            BinaryOp::Or => Ok(Value::Bool(x | y)),
            BinaryOp::Xor => Ok(Value::Bool(x ^ y)),
            _ => ill_typed("arithmetic"),
        };
    }
    if let (Value::Usize(_), Value::Usize(_)) | (Value::Isize(_), Value::Isize(_)) = (a, b) {
        return index_binary(op, a, b);
    }
    if a.scalar() != b.scalar() {
        return ill_typed("an operation");
    }
    let bits = b.bits();
    integer!(
        a,
        |x, T, of| {
            let y = bits as T;
            Ok(of(match op {
                BinaryOp::Add => x.wrapping_add(y),
                BinaryOp::Sub => x.wrapping_sub(y),
                BinaryOp::Mul => x.wrapping_mul(y),
                BinaryOp::Div | BinaryOp::Rem if y == 0 => return Err(format!("{x} {} 0", op.text())),
                BinaryOp::Div => x.wrapping_div(y),
                BinaryOp::Rem => x.wrapping_rem(y),
                BinaryOp::And => x & y,
                BinaryOp::Or => x | y,
                BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => x ^ y,
            }))
        },
        ill_typed("arithmetic")
    )
}

fn float_binary(op: BinaryOp, x: f64, y: f64) -> Result<f64, Wrong> {
    match op {
        BinaryOp::Add => Ok(x + y),
        BinaryOp::Sub => Ok(x - y),
        BinaryOp::Mul => Ok(x * y),
        BinaryOp::Div => Ok(x / y),
        BinaryOp::Rem => Ok(x % y),
        _ => ill_typed("bits"),
    }
}

fn index_binary(op: BinaryOp, a: &Value, b: &Value) -> Result<Value, Wrong> {
    let bits = b.bits();
    integer!(
        a,
        |x, T, of| {
            let y = bits as T;
            let result = match op {
                BinaryOp::Add => x.checked_add(y),
                BinaryOp::Sub => x.checked_sub(y),
                BinaryOp::Mul => x.checked_mul(y),
                BinaryOp::Div => x.checked_div(y),
                BinaryOp::Rem => x.checked_rem(y),
                BinaryOp::And => Some(x & y),
                BinaryOp::Or => Some(x | y),
                BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr => Some(x ^ y),
            };
            result.map(of).ok_or_else(|| format!("the index {x} {} {y} has no value", op.text()))
        },
        ill_typed("an index")
    )
}

/// `a op b`, a bool.
///
/// # Errors
/// Where the types do not fit.
pub fn compare(op: CompareOp, a: &Value, b: &Value) -> Result<bool, Wrong> {
    if let (Some(x), Some(y)) = (a.real(), b.real()) {
        return Ok(op.holds(x, y));
    }
    if let (Value::Bool(x), Value::Bool(y)) = (a, b) {
        return Ok(op.holds(x, y));
    }
    let bits = b.bits();
    integer!(a, |x, T, _of| Ok(op.holds(*x, bits as T)), ill_typed("a comparison"))
}

/// `-a`.
///
/// # Errors
/// Where the type has none.
pub fn negative(a: &Value) -> Result<Value, Wrong> {
    Ok(match a {
        Value::List(list) => Value::List(list.iter().map(negative).collect::<Result<_, _>>()?),
        Value::F16(x) => Value::F16(f16::from_bits(x.to_bits() ^ 0x8000)),
        Value::Bf16(x) => Value::Bf16(bf16::from_bits(x.to_bits() ^ 0x8000)),
        Value::F32(x) => Value::F32(-x),
        Value::F64(x) => Value::F64(-x),
        Value::Isize(x) => Value::Isize(x.checked_neg().ok_or("the negative of the least index")?),
        other => integer!(other, |x, T, of| of(T::wrapping_neg(*x)), return ill_typed("the negative")),
    })
}

/// `!a`.
///
/// # Errors
/// Where the type has none.
pub fn not(a: &Value) -> Result<Value, Wrong> {
    match a {
        Value::Bool(x) => Ok(Value::Bool(!x)),
        other => integer!(other, |x, T, of| Ok(of(!(*x as T))), ill_typed("the complement")),
    }
}

/// `a as to`, and the conversions of halves; of a list, of each.
///
/// # Errors
/// Where Rust has no such conversion, and where an index has no value in the other type of indices.
pub fn cast(a: &Value, to: Scalar) -> Result<Value, Wrong> {
    if let Value::List(list) = a {
        return Ok(Value::List(list.iter().map(|x| cast(x, to)).collect::<Result<_, _>>()?));
    }
    macro_rules! from {
        ($x:expr) => {
            match to {
                Scalar::Bool => return ill_typed("a bool"),
                Scalar::I8 => Value::I8($x as i8),
                Scalar::I16 => Value::I16($x as i16),
                Scalar::I32 => Value::I32($x as i32),
                Scalar::I64 => Value::I64($x as i64),
                Scalar::U8 => Value::U8($x as u8),
                Scalar::U16 => Value::U16($x as u16),
                Scalar::U32 => Value::U32($x as u32),
                Scalar::U64 => Value::U64($x as u64),
                Scalar::Isize => Value::Isize($x as isize),
                Scalar::Usize => Value::Usize($x as usize),
                // By way of `f32`, as `half` does, but for what is wider.
                Scalar::F16 | Scalar::Bf16 => Value::of_real(to, f64::from($x as f32)),
                Scalar::F32 => Value::F32($x as f32),
                Scalar::F64 => Value::F64($x as f64),
            }
        };
    }
    Ok(match a {
        Value::F64(x) if to.is_half() => Value::of_real(to, *x),
        Value::F64(x) => from!(*x),
        Value::F32(x) => from!(*x),
        Value::F16(x) => from!(x.to_f32()),
        Value::Bf16(x) => from!(x.to_f32()),
        Value::Bool(x) if to.is_float() => Value::of_real(to, f64::from(u8::from(*x))),
        Value::Bool(x) => from!(u8::from(*x)),
        Value::Usize(x) if to == Scalar::Isize => {
            Value::Isize(isize::try_from(*x).map_err(|_| format!("{x} as isize"))?)
        }
        Value::Isize(x) if to == Scalar::Usize => {
            Value::Usize(usize::try_from(*x).map_err(|_| format!("{x} as usize"))?)
        }
        other => integer!(other, |x, T, _of| from!(*x as T), return ill_typed("a cast")),
    })
}

/// The smaller, or the larger; -0 is below +0, and of a NaN and another value it is the other.
///
/// # Errors
/// Where the types do not fit.
pub fn extremum(a: &Value, b: &Value, larger: bool) -> Result<Value, Wrong> {
    if let (Value::List(list), Value::List(other)) = (a, b) {
        let each = list.iter().zip(other).map(|(x, y)| extremum(x, y, larger));
        return Ok(Value::List(each.collect::<Result<_, _>>()?));
    }
    if let (Some(x), Some(y)) = (a.real(), b.real()) {
        let first = match x.total_cmp(&y) {
            _ if x.is_nan() => false,
            _ if y.is_nan() => true,
            order => order.is_lt() != larger,
        };
        return Ok(if first { a.clone() } else { b.clone() });
    }
    let bits = b.bits();
    integer!(
        a,
        |x, T, of| Ok(of(if larger { (*x).max(bits as T) } else { (*x).min(bits as T) })),
        ill_typed("an extremum")
    )
}
