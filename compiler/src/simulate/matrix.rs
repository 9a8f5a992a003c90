//! Matrices in the registers of a warp.

use super::memory::Memory;
use super::program::{Program, Register};
use super::value;
use super::warp::{Flaw, Warp};
use crate::ir::{COLUMNS, IGNORED_BITS, Matrices, MatrixProduct, ROWS};
use tileproof_model::half;

/// Loads matrices: each lane reads the row that it names, then gets its values of the matrices.
pub(super) fn load(
    warp: &mut Warp,
    program: &Program,
    memory: &mut Memory<'_, '_>,
    access: usize,
    matrices: Matrices,
    destination: Register,
) -> Result<(), Flaw> {
    warp.whole()?;
    let number = access;
    let access = &program.accesses[number];
    memory.access(warp, number, access)?;
    let bytes = access.element.bytes();
    for i in 0..matrices.width(bytes) {
        let values = std::array::from_fn(|lane| {
            let [from, element] = matrices.source(bytes, lane as u32, i);
            warp.read(access.data.plus(element))[from as usize]
        });
        *warp.write(destination.plus(i)) = values;
    }
    Ok(())
}

/// Multiplies two matrices and adds the product to a third, for all lanes of a whole warp.
pub(super) fn multiply(
    warp: &mut Warp,
    product: MatrixProduct,
    [left, right, added]: [Register; 3],
    destination: Register,
) {
    let depth = product.depth();
    let [left_width, right_width, sums] = product.widths();
    let mut a = vec![0; (ROWS * depth) as usize];
    let mut b = vec![0; (depth * COLUMNS) as usize];
    for lane in 0..32 {
        for i in 0..left_width {
            let [row, k] = product.left(lane, i);
            a[(row * depth + k) as usize] = warp.read(left.plus(i))[lane as usize];
        }
        for i in 0..right_width {
            let [k, column] = product.right(lane, i);
            b[(column * depth + k) as usize] = warp.read(right.plus(i))[lane as usize];
        }
    }
    for i in 0..sums {
        let before = *warp.read(added.plus(i));
        let values = std::array::from_fn(|lane| {
            let [row, column] = MatrixProduct::sum_place(lane as u32, i);
            let [a, b] = [(&a, row), (&b, column)].map(|(matrix, row)| {
                let start = (row * depth) as usize;
                &matrix[start..start + depth as usize]
            });
            a.iter().zip(b).fold(before[lane], |sum, (a, b)| step(product, *a, *b, sum))
        });
        *warp.write(destination.plus(i)) = values;
    }
}

/// `a * b + sum`, the product exact.
fn step(product: MatrixProduct, a: u64, b: u64, sum: u64) -> u64 {
    let fused = |[a, b]: [f32; 2]| u64::from(a.mul_add(b, f32::from_bits(sum as u32)).to_bits());
    match product {
        MatrixProduct::F16 => fused([a, b].map(|bits| half::F16.value(bits as u16))),
        MatrixProduct::Bf16 => fused([a, b].map(|bits| half::BF16.value(bits as u16))),
        MatrixProduct::Tf32 => {
            fused([a, b].map(|bits| f32::from_bits(bits as u32 >> IGNORED_BITS << IGNORED_BITS)))
        }
        MatrixProduct::I8 | MatrixProduct::U8 => {
            value::canonical(product.sum(), a.wrapping_mul(b).wrapping_add(sum))
        }
    }
}
