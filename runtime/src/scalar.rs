//! Scalar types: those that a kernel can hold in memory, and those it can take as an argument.

use bytemuck::Pod;
use cudarc::driver::DeviceRepr;
use half::{bf16, f16};
pub use tileproof_model::language::ScalarType;

/// One scalar argument, with its type.
#[derive(Clone, Copy, Debug, PartialEq)]
#[allow(missing_docs)]
pub enum ScalarValue {
    Bool(bool),
    I8(i8),
    I16(i16),
    I32(i32),
    I64(i64),
    U8(u8),
    U16(u16),
    U32(u32),
    U64(u64),
    Usize(usize),
    Isize(isize),
    F16(f16),
    Bf16(bf16),
    F32(f32),
    F64(f64),
}

impl ScalarValue {
    /// Its type.
    pub const fn scalar_type(self) -> ScalarType {
        match self {
            ScalarValue::Bool(_) => ScalarType::Bool,
            ScalarValue::I8(_) => ScalarType::I8,
            ScalarValue::I16(_) => ScalarType::I16,
            ScalarValue::I32(_) => ScalarType::I32,
            ScalarValue::I64(_) => ScalarType::I64,
            ScalarValue::U8(_) => ScalarType::U8,
            ScalarValue::U16(_) => ScalarType::U16,
            ScalarValue::U32(_) => ScalarType::U32,
            ScalarValue::U64(_) => ScalarType::U64,
            ScalarValue::Usize(_) => ScalarType::Usize,
            ScalarValue::Isize(_) => ScalarType::Isize,
            ScalarValue::F16(_) => ScalarType::F16,
            ScalarValue::Bf16(_) => ScalarType::Bf16,
            ScalarValue::F32(_) => ScalarType::F32,
            ScalarValue::F64(_) => ScalarType::F64,
        }
    }

    /// Its value as a mathematical integer, `false` and `true` as 0 and 1; `None` for a float.
    pub const fn as_integer(self) -> Option<i128> {
        match self {
            ScalarValue::Bool(value) => Some(value as i128),
            ScalarValue::I8(value) => Some(value as i128),
            ScalarValue::I16(value) => Some(value as i128),
            ScalarValue::I32(value) => Some(value as i128),
            ScalarValue::I64(value) => Some(value as i128),
            ScalarValue::U8(value) => Some(value as i128),
            ScalarValue::U16(value) => Some(value as i128),
            ScalarValue::U32(value) => Some(value as i128),
            ScalarValue::U64(value) => Some(value as i128),
            ScalarValue::Usize(value) => Some(value as i128),
            ScalarValue::Isize(value) => Some(value as i128),
            ScalarValue::F16(_) | ScalarValue::Bf16(_) | ScalarValue::F32(_) | ScalarValue::F64(_) => None,
        }
    }
}

mod sealed {
    pub trait Sealed {}
}

/// A type that a kernel can take as a scalar argument: `bool`, `usize`, `isize`, the fixed-width integers up to 64 bits, `f16`,
/// `bf16`, `f32`, `f64`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a scalar argument of a kernel",
    label = "not a scalar type of the language",
    note = "the scalar types are bool, usize, isize, i8 to i64, u8 to u64, f16, bf16, f32 and f64"
)]
pub trait Scalar: Copy + 'static + sealed::Sealed {
    /// The type as data.
    const TYPE: ScalarType;

    /// The value together with its type.
    fn value(self) -> ScalarValue;
}

/// A type that tensors and shared tiles can hold: the fixed-width integers up to 64 bits, `f16`, `bf16`, `f32`, `f64`.
///
/// `bool` is not one, because memory that the GPU writes may hold other bytes than 0 and 1: use `u8`. `usize` and `isize`
/// are not, because their width is the kernel's choice: use types of 32 or 64 bits.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the element type of a tensor or tile",
    label = "not an element type of the language",
    note = "the element types are i8 to i64, u8 to u64, f16, bf16, f32 and f64; use `u8` for `bool`, and `u32` or `u64` for `usize`"
)]
pub trait Element: Scalar + DeviceRepr + Pod + PartialEq {}

macro_rules! scalars {
    ($($rust:ident $variant:ident),*) => {$(
        impl sealed::Sealed for $rust {}

        impl Scalar for $rust {
            const TYPE: ScalarType = ScalarType::$variant;

            fn value(self) -> ScalarValue {
                ScalarValue::$variant(self)
            }
        }
    )*};
}

scalars!(
    bool Bool, i8 I8, i16 I16, i32 I32, i64 I64, u8 U8, u16 U16, u32 U32, u64 U64, usize Usize, isize Isize, f16 F16, bf16 Bf16, f32 F32, f64 F64
);

macro_rules! elements {
    ($($rust:ident),*) => { $(impl Element for $rust {})* };
}

elements!(i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64);
