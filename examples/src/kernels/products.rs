//! Products that end in sums: a matrix and a vector, two vectors of small integers.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// `y = a · x`, a row a warp: each lane adds every 32nd product, and the lanes add their sums.
#[tiled_kernel(
    block = [32, 8],
    grid = [y.len().div_ceil(8)],
    requires(a.rows() == y.len(), a.cols() == x.len()),
)]
pub fn matrix_vector(a: &Matrix<f32>, x: &Tensor<f32, 1>, y: &mut Tensor<f32, 1>) {
    let row = block_x() * 8 + thread_y();

    let mut sum = 0.0;
    if row < a.rows() {
        for col in (thread_x()..a.cols()).step_by(32) {
            sum += a[[row, col]] * x[[col]];
        }
    }
    sum = warp_sum(sum);
    if row < y.len() && lane() == 0 {
        y[[row]] = sum;
    }
}

fn matrix_vector_reference(a: &Array<f32, 2>, x: &Array<f32, 1>, y: &mut Array<f32, 1>) {
    for row in 0..a.rows() {
        let mut sums = [0.0; 32];
        for col in 0..a.cols() {
            sums[col % 32] += a[[row, col]] * x[[col]];
        }
        for half in [16, 8, 4, 2, 1] {
            for lane in 0..half {
                sums[lane] += sums[lane + half];
            }
        }
        y[[row]] = sums[0];
    }
}

/// [`matrix_vector`] at numbers of rows around a block's and of columns around a warp's.
pub const MATRIX_VECTOR: Subject = subject! {
    kernel: matrix_vector(read a, read x, write y),
    reference: matrix_vector_reference,
    sizes: [m, n]: [0, 5] [5, 0] [1, 1] [7, 31] [9, 33] [64, 997],
    counted: [256, 512] [41, 997] [1, 31],
    data: |data| (data.random([m, n]), data.random([n]), data.output([m])),
};

/// The inner product of vectors of bytes, in 32-bit integers: a partial sum a block, of 4,096 products.
///
/// Each thread multiplies 16 pairs, which it reads in one instruction each.
#[tiled_kernel(
    block = [256],
    grid = [sums.len()],
    requires(a.len() == b.len(), a.len().is_multiple_of(16), sums.len() == a.len().div_ceil(4096)),
)]
pub fn dot_i8(a: &Tensor<i8, 1>, b: &Tensor<i8, 1>, sums: &mut Tensor<i32, 1>) {
    let i = block_x() * 4096 + 16 * thread_x();

    let mut sum = 0;
    if i < a.len() {
        let (a_bytes, b_bytes) = (a.read::<16>([i]), b.read::<16>([i]));
        for k in 0..16 {
            sum += a_bytes[k] as i32 * b_bytes[k] as i32;
        }
    }
    sum = block_sum(sum);
    if thread_x() == 0 {
        sums[[block_x()]] = sum;
    }
}

fn dot_reference(a: &Array<i8, 1>, b: &Array<i8, 1>, sums: &mut Array<i32, 1>) {
    for block in 0..sums.len() {
        let range = 4096 * block..(4096 * (block + 1)).min(a.len());
        sums[[block]] = range.map(|i| i32::from(a[[i]]) * i32::from(b[[i]])).sum();
    }
}

/// [`dot_i8`] at lengths around a block's.
pub const DOT_I8: Subject = subject! {
    kernel: dot_i8(read a, read b, write sums),
    reference: dot_reference,
    sizes: [n]: [0] [16] [4080] [4096] [4112] [20_000],
    counted: [1 << 18] [20_016] [16],
    data: |data| (data.random([n]), data.random([n]), data.output([n.div_ceil(4096)])),
};
