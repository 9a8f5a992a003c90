//! Matrices in the registers of a warp.
//!
//! Each function holds one `asm volatile` instruction of the whole warp. Volatile, although a product has no effect: nothing
//! else is documented to keep NVVM from moving it to where its result is used, which may be under a condition that parts the
//! lanes. In what order ptxas issues them is not bound by that.
//!
//! The instructions take words of 32 bits, so vectors are taken apart by the load and put together again by the product; of that
//! nothing is left in machine code.

use super::memory::{narrowed, words};
use super::types::element_type;
use crate::ir::{COLUMNS, Matrices, MatrixProduct, ROWS, Scalar};

/// The name of the function that loads matrices.
pub(super) fn load_name(scalar: Scalar, matrices: Matrices) -> String {
    let element = element_type(scalar, matrices.width(scalar.bytes()));
    let transposed = if matrices.transposed { "transposed_" } else { "" };
    format!("load_matrices_{transposed}{element}")
}

/// The definition of [`load_name`].
pub(super) fn load(scalar: Scalar, matrices: Matrices) -> String {
    let (name, width) = (load_name(scalar, matrices), matrices.width(scalar.bytes()));
    let ty = element_type(scalar, width);
    let Matrices { count, transposed } = matrices;
    let transposed = if transposed { ".trans" } else { "" };
    let result = match width {
        1 => format!("    return {};\n", element(scalar, "0")),
        _ => format!(
            "    {ty} elements;\n    #pragma unroll\n    for (u32 i = 0; i < {width}; ++i) elements.lane[i] = {};\n    return elements;\n",
            element(scalar, "i")
        ),
    };
    format!(
        "__device__ __forceinline__ {ty} {name}(u32 address) {{\n    \
         u32 words[{count}];\n    \
         asm volatile(\"ldmatrix.sync.aligned.m8n8.x{count}{transposed}.shared.b16 {}, [%{count}];\"\n                 \
         : {} : \"r\"(address) : \"memory\");\n{result}}}\n",
        list(0, count),
        operands("=r", "words", count),
    )
}

/// An element of those in the array `words`.
fn element(scalar: Scalar, i: &str) -> String {
    match (scalar, 4 / scalar.bytes()) {
        (Scalar::F32, _) => format!("__uint_as_float(words[{i}])"),
        (_, 1) => format!("({})words[{i}]", scalar.name()),
        (_, per_word) => {
            let bits = 8 * scalar.bytes();
            narrowed(scalar, &format!("(words[{i} / {per_word}] >> {i} % {per_word} * {bits})"))
        }
    }
}

/// The name of the function that multiplies matrices and adds a third.
pub(super) fn product_name(product: MatrixProduct) -> String {
    let [factor, ..] = types(product);
    format!("mma_{}_{factor}", shape(product))
}

fn shape(product: MatrixProduct) -> String {
    format!("m{ROWS}n{COLUMNS}k{}", product.depth())
}

/// The types of PTX, of the factors and of the sum, and the constraint of a value of the sum.
fn types(product: MatrixProduct) -> [&'static str; 3] {
    match product {
        MatrixProduct::F16 => ["f16", "f32", "+f"],
        MatrixProduct::Bf16 => ["bf16", "f32", "+f"],
        MatrixProduct::Tf32 => ["tf32", "f32", "+f"],
        MatrixProduct::I8 => ["s8", "s32", "+r"],
        MatrixProduct::U8 => ["u8", "s32", "+r"],
    }
}

/// The definition of [`product_name`].
pub(super) fn product(product: MatrixProduct) -> String {
    let [left, right, sums] = product.widths();
    let element = product.element();
    let [left_ty, right_ty] = [left, right].map(|width| element_type(element, width));
    let sum_ty = element_type(product.sum(), sums);
    let [left_words, right_words] = [left, right].map(|width| width * element.bytes() / 4);
    let [factor, sum, constraint] = types(product);
    let (sum_list, left_list, right_list) =
        (list(0, sums), list(sums, left_words), list(sums + left_words, right_words));
    format!(
        "__device__ __forceinline__ {sum_ty} {}({left_ty} a, {right_ty} b, {sum_ty} c) {{\n{}{}    \
         asm volatile(\"mma.sync.aligned.{}.row.col.{sum}.{factor}.{factor}.{sum} {sum_list}, {left_list}, {right_list}, {sum_list};\"\n                 \
         : {} : {}, {});\n    \
         return c;\n}}\n",
        product_name(product),
        words(element, left, "a", "left"),
        words(element, right, "b", "right"),
        shape(product),
        operands(constraint, "c.lane", sums),
        operands("r", "left", left_words),
        operands("r", "right", right_words),
    )
}

/// So many operands in an instruction, the first of them with this number.
fn list(first: u32, count: u32) -> String {
    let numbers: Vec<String> = (first..first + count).map(|number| format!("%{number}")).collect();
    format!("{{{}}}", numbers.join(", "))
}

/// The operands of the assembly statement that are the elements of an array.
fn operands(constraint: &str, array: &str, count: u32) -> String {
    let operands: Vec<String> = (0..count).map(|i| format!("\"{constraint}\"({array}[{i}])")).collect();
    operands.join(", ")
}
