//! Floats of 16 bits: structs of C around the instructions, so that no header is needed.
//!
//! Sums and products of `f16` are instructions. What the instruction set lacks, for every `bf16` and on old architectures,
//! is computed in `f32` and rounded; that gives the same bits, because an `f32` has more than twice the precision. `bf16`
//! is rounded by its own instruction where there is one.

use super::prelude::{Arithmetic, Piece};
use crate::ir::{Function, Scalar};

/// To and from `f32`.
fn conversions(half: Scalar) -> Vec<Piece> {
    vec![Piece::Cast(half, Scalar::F32), Piece::Cast(Scalar::F32, half)]
}

/// What the arithmetic of a type calls.
pub(super) fn arithmetic_calls(operation: Arithmetic, half: Scalar) -> Vec<Piece> {
    match (operation, half) {
        (Arithmetic::Negate, _) | (Arithmetic::Add | Arithmetic::Sub | Arithmetic::Mul, Scalar::F16) => {
            Vec::new()
        }
        _ => conversions(half),
    }
}

/// What a function of a type calls.
pub(super) fn function_calls(function: Function, half: Scalar) -> Vec<Piece> {
    match (function, half) {
        (Function::MulAdd, Scalar::Bf16) => {
            vec![Piece::Cast(half, Scalar::F32), Piece::Cast(Scalar::F64, half)]
        }
        (Function::Sqrt, _) => conversions(half),
        _ => Vec::new(),
    }
}

fn define(result: Scalar, name: &str, parameters: &str, body: &str) -> String {
    format!("__device__ __forceinline__ {} {name}({parameters}) {{\n{body}}}\n", result.name())
}

/// One instruction of `f16`.
fn instruction(name: &str, operands: &[&str]) -> String {
    let places: Vec<String> = (0..=operands.len()).map(|i| format!("%{i}")).collect();
    let inputs: Vec<String> = operands.iter().map(|o| format!("\"h\"({o}.bits)")).collect();
    format!(
        "    f16 result;\n    asm(\"{name} {};\" : \"=h\"(result.bits) : {});\n    return result;\n",
        places.join(", "),
        inputs.join(", ")
    )
}

/// The definition of the arithmetic of two values, or of one.
pub(super) fn arithmetic(operation: Arithmetic, half: Scalar, name: &str) -> String {
    let ty = half.name();
    let single = |value: String| format!("    return cast_f32_{ty}({value});\n");
    let (a, b) = (format!("cast_{ty}_f32(a)"), format!("cast_{ty}_f32(b)"));
    let infix = |operator| single(format!("{a} {operator} {b}"));
    let native = half == Scalar::F16;
    let body = match operation {
        Arithmetic::Negate => {
            return define(
                half,
                name,
                &format!("{ty} a"),
                &format!("    return {ty}{{(u16)(a.bits ^ 0x8000)}};\n"),
            );
        }
        Arithmetic::Add if native => instruction("add.rn.f16", &["a", "b"]),
        Arithmetic::Sub if native => instruction("sub.rn.f16", &["a", "b"]),
        Arithmetic::Mul if native => instruction("mul.rn.f16", &["a", "b"]),
        Arithmetic::Add => infix('+'),
        Arithmetic::Sub => infix('-'),
        Arithmetic::Mul => infix('*'),
        Arithmetic::Div => infix('/'),
        Arithmetic::Rem => single(format!("fmodf({a}, {b})")),
        Arithmetic::Min => single(format!("fminf({a}, {b})")),
        Arithmetic::Max => single(format!("fmaxf({a}, {b})")),
        // Floats have none.
        Arithmetic::Shl | Arithmetic::Shr | Arithmetic::DivCeil => return String::new(),
    };
    define(half, name, &format!("{ty} a, {ty} b"), &body)
}

/// The definition of a conversion from or to a float of 16 bits; the other side is `f32` or, as the source, `f64`.
pub(super) fn cast(from: Scalar, to: Scalar, name: &str) -> String {
    let body = match (from, to) {
        (Scalar::F16, _) => {
            "    f32 result;\n    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(result) : \"h\"(a.bits));\n    return result;\n".into()
        }
        (Scalar::Bf16, _) => "    return __uint_as_float((u32)a.bits << 16);\n".into(),
        (Scalar::F64, Scalar::F16) => {
            "    f16 result;\n    asm(\"cvt.rn.f16.f64 %0, %1;\" : \"=h\"(result.bits) : \"d\"(a));\n    return result;\n".into()
        }
        (_, Scalar::F16) => {
            "    f16 result;\n    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(result.bits) : \"f\"(a));\n    return result;\n".into()
        }
        // The bits that an f32 loses stay as an odd last one, so that the second rounding is right.
        (Scalar::F64, _) => format!(
            "    f32 odd = __double2float_rz(a);\n    \
             if ((f64)odd != a && a == a) odd = __uint_as_float(__float_as_uint(odd) | 1u);\n{}",
            round_bf16("odd")
        ),
        (_, _) => round_bf16("a"),
    };
    define(to, name, &format!("{} a", from.name()), &body)
}

/// Rounds an `f32` to `bf16`, to nearest even.
fn round_bf16(value: &str) -> String {
    format!(
        "#if __CUDA_ARCH__ >= 800\n    \
         bf16 result;\n    \
         asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(result.bits) : \"f\"({value}));\n    \
         return result;\n\
         #else\n    \
         const u32 bits = __float_as_uint({value});\n    \
         return bf16{{{value} != {value} ? (u16)0x7fff : (u16)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16)}};\n\
         #endif\n"
    )
}

/// The definition of a function of a type.
pub(super) fn function(function: Function, half: Scalar, name: &str) -> String {
    let ty = half.name();
    let one = format!("{ty} a");
    match function {
        Function::Abs => define(half, name, &one, &format!("    return {ty}{{(u16)(a.bits & 0x7fff)}};\n")),
        Function::Copysign => define(
            half,
            name,
            &format!("{ty} a, {ty} b"),
            &format!("    return {ty}{{(u16)((a.bits & 0x7fff) | (b.bits & 0x8000))}};\n"),
        ),
        Function::ToBits => define(Scalar::U16, name, &one, "    return a.bits;\n"),
        Function::FromBits => define(half, name, "u16 a", &format!("    return {ty}{{a}};\n")),
        Function::MulAdd => {
            let native = half == Scalar::F16;
            let body = if native { instruction("fma.rn.f16", &["a", "b", "c"]) } else { bf16_multiply_add() };
            define(half, name, &format!("{ty} a, {ty} b, {ty} c"), &body)
        }
        Function::Sqrt => {
            define(half, name, &one, &format!("    return cast_f32_{ty}(__fsqrt_rn(cast_{ty}_f32(a)));\n"))
        }
        // Lowering has them computed in f32.
        Function::Rsqrt
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
        | Function::Floor
        | Function::Ceil
        | Function::Round
        | Function::RoundTiesEven
        | Function::Trunc
        | Function::ToTf32
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
        | Function::BytePerm => String::new(),
    }
}

/// The product is exact in f64. What the sum loses there stays as an odd last bit.
fn bf16_multiply_add() -> String {
    "#if __CUDA_ARCH__ >= 800\n    \
     bf16 result;\n    \
     asm(\"fma.rn.bf16 %0, %1, %2, %3;\" : \"=h\"(result.bits) : \"h\"(a.bits), \"h\"(b.bits), \"h\"(c.bits));\n    \
     return result;\n\
     #else\n    \
     const f64 product = (f64)cast_bf16_f32(a) * (f64)cast_bf16_f32(b), addend = (f64)cast_bf16_f32(c);\n    \
     const f64 low = __dadd_rd(product, addend), high = __dadd_ru(product, addend);\n    \
     const bool is_odd = (__double_as_longlong(low) & 1) != 0;\n    \
     return cast_f64_bf16(low != high && !is_odd ? high : low == high ? product + addend : low);\n\
     #endif\n"
        .into()
}

/// The definition of arithmetic of vectors of `f16`, two lanes an instruction.
pub(super) fn packed(operation: Arithmetic, half: Scalar, width: u32, name: &str) -> String {
    let ty = format!("{}x{width}", half.name());
    let mnemonic = match operation {
        Arithmetic::Add => "add",
        Arithmetic::Sub => "sub",
        Arithmetic::Mul => "mul",
        // Lane by lane.
        Arithmetic::Negate
        | Arithmetic::Div
        | Arithmetic::Rem
        | Arithmetic::Shl
        | Arithmetic::Shr
        | Arithmetic::Min
        | Arithmetic::Max
        | Arithmetic::DivCeil => return String::new(),
    };
    format!(
        "__device__ __forceinline__ {ty} {name}({ty} a, {ty} b) {{\n    \
         #pragma unroll\n    \
         for (u32 i = 0; i < {width}; i += 2) {{\n        \
         u32 x = a.lane[i].bits | (u32)a.lane[i + 1].bits << 16;\n        \
         const u32 y = b.lane[i].bits | (u32)b.lane[i + 1].bits << 16;\n        \
         asm(\"{mnemonic}.rn.{0}x2 %0, %0, %1;\" : \"+r\"(x) : \"r\"(y));\n        \
         a.lane[i].bits = (u16)x;\n        \
         a.lane[i + 1].bits = (u16)(x >> 16);\n    }}\n    \
         return a;\n}}\n",
        half.name()
    )
}
