//! Matrices in the registers of a warp.
//!
//! Each function holds one `asm volatile` instruction of the whole warp. Volatile, although a product has no effect: nothing
//! else keeps NVVM from moving it to where its result is used, which may be under a condition that parts the lanes. In what
//! order ptxas issues them is not bound by that.
//!
//! Vectors of small elements are taken apart by the load and put together again by the product; of that nothing is left in machine
//! code.

use std::fmt::Write;

use super::memory::{Registers, words};
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
    let width = matrices.width(scalar.bytes());
    let registers = Registers::of(scalar, width);
    let ty = element_type(scalar, width);
    let Matrices { count, transposed } = matrices;
    let transposed = if transposed { ".trans" } else { "" };
    // Of one register, too, the instruction takes a list.
    let list: Vec<String> = (0..count).map(|i| format!("%{i}")).collect();
    let mut text =
        format!("__device__ __forceinline__ {ty} {}(u32 address) {{\n", load_name(scalar, matrices));
    let _ = write!(
        text,
        "    {};\n    \
         asm volatile(\"ldmatrix.sync.aligned.m8n8.x{count}{transposed}.shared.b16 {{{}}}, [%{count}];\"\n                 \
         : {} : \"r\"(address) : \"memory\");\n",
        registers.declaration("value"),
        list.join(", "),
        registers.operands("=", "value"),
    );
    text.push_str(&registers.returned(scalar, width));
    text.push_str("}\n");
    text
}

/// The name of the function that multiplies matrices and adds a third.
pub(super) fn product_name(product: MatrixProduct) -> String {
    format!("mma_{}_{}", shape(product), product.element().name())
}

fn shape(product: MatrixProduct) -> String {
    format!("m{ROWS}n{COLUMNS}k{}", product.depth())
}

/// The types of PTX: of the factors and of the sum.
fn types(product: MatrixProduct) -> [&'static str; 2] {
    match product {
        MatrixProduct::F16 => ["f16", "f32"],
        MatrixProduct::Bf16 => ["bf16", "f32"],
    }
}

/// The definition of [`product_name`].
pub(super) fn product(product: MatrixProduct) -> String {
    let [left, right, sums] = product.widths();
    let (element, sum) = (product.element(), product.sum());
    let [left_ty, right_ty] = [left, right].map(|width| element_type(element, width));
    let sum_ty = element_type(sum, sums);
    let sum_registers = Registers::of(sum, sums);
    let per_word = 4 / element.bytes();
    let (left_words, right_words) = (left / per_word, right / per_word);
    let list = |first: u32, count: u32| {
        let numbers: Vec<String> = (first..first + count).map(|i| format!("%{i}")).collect();
        format!("{{{}}}", numbers.join(", "))
    };
    let operands = |name: &str, count: u32| {
        let operands: Vec<String> = (0..count).map(|i| format!("\"r\"({name}[{i}])")).collect();
        operands.join(", ")
    };
    let [factor, summed] = types(product);
    let (sums, left_list, right_list) =
        (list(0, sums), list(sums, left_words), list(sums + left_words, right_words));
    format!(
        "__device__ __forceinline__ {sum_ty} {}({left_ty} a, {right_ty} b, {sum_ty} c) {{\n{}{}    \
         asm volatile(\"mma.sync.aligned.{}.row.col.{summed}.{factor}.{factor}.{summed} {sums}, {left_list}, {right_list}, {sums};\"\n                 \
         : {} : {}, {});\n    \
         return c;\n}}\n",
        product_name(product),
        words(element, left, "a", "left"),
        words(element, right, "b", "right"),
        shape(product),
        sum_registers.operands("+", "c"),
        operands("left", left_words),
        operands("right", right_words),
    )
}
