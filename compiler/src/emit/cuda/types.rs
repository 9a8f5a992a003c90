//! Types of the text.

use crate::ir::{Scalar, Type};

/// The scalar as it lies in memory and in vectors: an index takes 64 bits there, whatever its width in registers.
pub(super) fn stored(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::Usize => Scalar::U64,
        Scalar::Isize => Scalar::I64,
        Scalar::Bool
        | Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::I64
        | Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::U64
        | Scalar::F16
        | Scalar::Bf16
        | Scalar::F32
        | Scalar::F64 => scalar,
    }
}

/// The type of a variable that holds one value.
pub(super) fn scalar_type(scalar: Scalar) -> &'static str {
    match scalar {
        Scalar::Usize => "index_t",
        Scalar::Isize => "offset_t",
        Scalar::Bool
        | Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::I64
        | Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::U64
        | Scalar::F16
        | Scalar::Bf16
        | Scalar::F32
        | Scalar::F64 => scalar.name(),
    }
}

/// The type as the text has it: a vector of one element is that element, in registers as in memory.
pub(super) fn held(ty: Type) -> Type {
    match ty {
        Type::Vector(scalar, 1) => Type::Scalar(scalar),
        Type::Scalar(_) | Type::Vector(..) => ty,
    }
}

/// Lane `lane` of a vector of `width` elements.
pub(super) fn lane(vector: &str, width: u32, lane: &str) -> String {
    if width == 1 { vector.into() } else { format!("{vector}.lane[{lane}]") }
}

/// The type of a variable.
pub(super) fn value_type(ty: Type) -> String {
    match held(ty) {
        Type::Scalar(scalar) => scalar_type(scalar).into(),
        Type::Vector(scalar, width) => element_type(scalar, width),
    }
}

/// The type of `width` values in memory: `f32`, `f32x4`.
pub(super) fn element_type(scalar: Scalar, width: u32) -> String {
    let name = stored(scalar).name();
    if width == 1 { name.into() } else { format!("{name}x{width}") }
}

/// The unsigned type of the same width.
pub(super) fn unsigned(scalar: Scalar) -> Scalar {
    match scalar {
        Scalar::I8 => Scalar::U8,
        Scalar::I16 => Scalar::U16,
        Scalar::I32 => Scalar::U32,
        Scalar::I64 => Scalar::U64,
        Scalar::Isize => Scalar::Usize,
        Scalar::Bool
        | Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::U64
        | Scalar::Usize
        | Scalar::F16
        | Scalar::Bf16
        | Scalar::F32
        | Scalar::F64 => scalar,
    }
}

/// The definition of a float of 16 bits.
pub(super) fn half(scalar: Scalar) -> String {
    format!("struct alignas(2) {} {{ u16 bits; }};\n", scalar.name())
}

/// The definitions of the scalar types, in the order in which they are written.
pub(super) const TYPEDEFS: [(&str, &str); 10] = [
    ("i8", "signed char"),
    ("i16", "short"),
    ("i32", "int"),
    ("i64", "long long"),
    ("u8", "unsigned char"),
    ("u16", "unsigned short"),
    ("u32", "unsigned int"),
    ("u64", "unsigned long long"),
    ("f32", "float"),
    ("f64", "double"),
];
