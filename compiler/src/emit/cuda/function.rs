//! Functions of numbers, as functions of the prelude around what CUDA offers.

use super::literal;
use super::prelude::narrowed;
use super::types::{scalar_type, unsigned};
use crate::ir::{Function, Scalar};

/// The name of the function for a type: `sqrt_f32`.
pub(super) fn name(function: Function, own: Scalar) -> String {
    format!("{}_{}", function.name(), own.name())
}

/// Its definition.
pub(super) fn definition(function: Function, own: Scalar) -> String {
    let parameters: Vec<String> = function
        .operands(own)
        .into_iter()
        .zip(["a", "b", "c"])
        .map(|(scalar, name)| format!("{} {name}", scalar_type(scalar)))
        .collect();
    let result = scalar_type(function.result(own));
    format!(
        "__device__ __forceinline__ {result} {}({}) {{\n{}}}\n",
        name(function, own),
        parameters.join(", "),
        body(function, own)
    )
}

fn returns(value: impl AsRef<str>) -> String {
    format!("    return {};\n", value.as_ref())
}

/// The function of CUDA's library with the suffix of the type.
fn library(name: &str, own: Scalar, operands: &str) -> String {
    returns(format!("{name}{}({operands})", if own == Scalar::F32 { "f" } else { "" }))
}

fn body(function: Function, own: Scalar) -> String {
    let ty = scalar_type(own);
    let bits = 8 * own.bytes();
    let mask = bits - 1;
    // The bits of `a`, in a type that the instructions take. An index has 64 of them, whatever its width in registers.
    let exact = if own == Scalar::Usize {
        "u64".to_string()
    } else if own == Scalar::Isize {
        "u64)(i64".to_string()
    } else {
        unsigned(own).name().to_string()
    };
    let (wide, long) = if bits == 64 { ("u64", true) } else { ("u32", false) };
    let a = format!("({wide})({exact})a");
    let b = format!("({wide})({exact})b");
    let single = own == Scalar::F32;
    let either = |f32: &str, f64: &str| returns(if single { f32 } else { f64 });
    match function {
        // Correctly rounded, whatever the flags of the compiler.
        Function::Sqrt => either("__fsqrt_rn(a)", "__dsqrt_rn(a)"),
        Function::MulAdd => either("__fmaf_rn(a, b, c)", "__fma_rn(a, b, c)"),
        Function::Rsqrt => library("rsqrt", own, "a"),
        Function::Cbrt => library("cbrt", own, "a"),
        Function::Exp => library("exp", own, "a"),
        Function::Exp2 => library("exp2", own, "a"),
        Function::ExpM1 => library("expm1", own, "a"),
        Function::Ln => library("log", own, "a"),
        Function::Ln1p => library("log1p", own, "a"),
        Function::Log2 => library("log2", own, "a"),
        Function::Log10 => library("log10", own, "a"),
        Function::Sin => library("sin", own, "a"),
        Function::Cos => library("cos", own, "a"),
        Function::Tan => library("tan", own, "a"),
        Function::Asin => library("asin", own, "a"),
        Function::Acos => library("acos", own, "a"),
        Function::Atan => library("atan", own, "a"),
        Function::Sinh => library("sinh", own, "a"),
        Function::Cosh => library("cosh", own, "a"),
        Function::Tanh => library("tanh", own, "a"),
        Function::Asinh => library("asinh", own, "a"),
        Function::Acosh => library("acosh", own, "a"),
        Function::Atanh => library("atanh", own, "a"),
        Function::Erf => library("erf", own, "a"),
        Function::Atan2 => library("atan2", own, "a, b"),
        Function::Powf => library("pow", own, "a, b"),
        Function::Hypot => library("hypot", own, "a, b"),
        Function::Abs => library("fabs", own, "a"),
        Function::Copysign => library("copysign", own, "a, b"),
        Function::Floor => library("floor", own, "a"),
        Function::Ceil => library("ceil", own, "a"),
        Function::Round => library("round", own, "a"),
        Function::RoundTiesEven => library("rint", own, "a"),
        Function::Trunc => library("trunc", own, "a"),
        // What ptxas makes of `cvt.rna.tf32.f32`, which sm_75 has not; but NaN stays as it is.
        Function::ToTf32 => {
            returns("a != a ? a : __uint_as_float((__float_as_uint(a) + 0x1000u) & 0xffffe000u)")
        }
        Function::Powi => powi(own),
        Function::ToBits => either("__float_as_uint(a)", "(u64)__double_as_longlong(a)"),
        Function::FromBits => either("__uint_as_float(a)", "__longlong_as_double((long long)a)"),
        Function::CountOnes if long => returns(format!("(u32)__popcll({a})")),
        Function::CountOnes => returns(format!("(u32)__popc({a})")),
        Function::LeadingZeros if long => returns(format!("(u32)__clzll((long long){a})")),
        Function::LeadingZeros if bits == 32 => returns(format!("(u32)__clz((int){a})")),
        Function::LeadingZeros => returns(format!("(u32)__clz((int){a}) - {}u", 32 - bits)),
        Function::TrailingZeros if long => returns(format!("(u32)__clzll((long long)__brevll({a}))")),
        Function::TrailingZeros if bits == 32 => returns(format!("(u32)__clz((int)__brev({a}))")),
        Function::TrailingZeros => returns(format!("(u32)__clz((int)__brev({a} | 1u << {bits}))")),
        Function::Ilog2 if long => returns(format!("a == 0 ? 0u : 63u - (u32)__clzll((long long){a})")),
        Function::Ilog2 => returns(format!("a == 0 ? 0u : 31u - (u32)__clz((int){a})")),
        Function::Isqrt if long => format!(
            "    u64 root = (u64)__dsqrt_rn((double){a});\n    \
             root = root > 0xffffffffull ? 0xffffffffull : root;\n    \
             if (root * root > {a}) --root;\n    \
             if (root < 0xffffffffull && (root + 1) * (root + 1) <= {a}) ++root;\n    \
             return ({ty})root;\n"
        ),
        Function::Isqrt => returns(format!("({ty})__dsqrt_rn((double){a})")),
        Function::SwapBytes => match bits {
            8 => returns("a"),
            16 => returns(format!("({ty})__byte_perm({a}, 0u, 0x4401u)")),
            32 => returns(format!("({ty})__byte_perm({a}, 0u, 0x0123u)")),
            _ => returns(format!(
                "({ty})((u64)__byte_perm((u32)({a}), 0u, 0x0123u) << 32 | (u64)__byte_perm((u32)(({a}) >> 32), 0u, 0x0123u))"
            )),
        },
        Function::ReverseBits if long => returns(format!("({ty})__brevll({a})")),
        Function::ReverseBits if bits == 32 => returns(format!("({ty})__brev({a})")),
        Function::ReverseBits => returns(format!("({ty})(__brev({a}) >> {})", 32 - bits)),
        Function::RotateLeft => {
            returns(format!("({ty})(({a}) << (b & {mask}) | ({a}) >> (({bits} - (b & {mask})) & {mask}))"))
        }
        Function::RotateRight => {
            returns(format!("({ty})(({a}) >> (b & {mask}) | ({a}) << (({bits} - (b & {mask})) & {mask}))"))
        }
        Function::WrappingAdd => returns(narrowed(own, &format!("{a} + {b}"))),
        Function::WrappingSub => returns(narrowed(own, &format!("{a} - {b}"))),
        Function::WrappingMul => returns(narrowed(own, &format!("{a} * {b}"))),
        Function::SaturatingAdd => saturating(own, "+"),
        Function::SaturatingSub => saturating(own, "-"),
        Function::Pow => format!(
            "    {wide} base = {a}, product = 1;\n    \
             for (u32 n = b; n != 0; n >>= 1) {{\n        \
             if (n & 1) product *= base;\n        \
             base *= base;\n    }}\n    \
             return {};\n",
            narrowed(own, "product")
        ),
        Function::BytePerm => returns("__byte_perm(a, b, c & 0x7777u)"),
    }
}

/// By repeated squaring, in the order in which Rust's run-time library multiplies.
fn powi(own: Scalar) -> String {
    let ty = scalar_type(own);
    let one = literal::float(own, 1.0).text;
    format!(
        "    {ty} base = a, product = {one};\n    \
         for (i32 n = b;;) {{\n        \
         if (n & 1) product *= base;\n        \
         n /= 2;\n        \
         if (n == 0) break;\n        \
         base *= base;\n    }}\n    \
         return b < 0 ? {one} / product : product;\n"
    )
}

/// The sum or difference, out of range the nearest value.
fn saturating(own: Scalar, operator: &str) -> String {
    let ty = scalar_type(own);
    let (low, high) = own.range().unwrap_or((0, 0));
    let [low, high] = [low, high].map(|bound| literal::int(own, bound).text);
    match (own.bytes(), own.is_signed()) {
        (1 | 2 | 4, _) => {
            format!(
                "    const i64 result = (i64)a {operator} (i64)b;\n    \
                 return result < {low} ? ({ty}){low} : result > (i64){high} ? ({ty}){high} : ({ty})result;\n"
            )
        }
        (_, false) if operator == "+" => returns(format!("a + b < a ? {high} : a + b")),
        (_, false) => returns("a < b ? 0 : a - b"),
        (_, true) => {
            // Overflow changes the sign against that of `a`, and of `b` as it is added.
            let other = if operator == "+" { "b" } else { "~b" };
            format!(
                "    const i64 result = (i64)((u64)a {operator} (u64)b);\n    \
                 return ((a ^ result) & ({other} ^ result)) < 0 ? (a < 0 ? {low} : {high}) : result;\n"
            )
        }
    }
}
