//! A copy whose loads are a run-time stride apart.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// The first column of a matrix: neighbouring lanes read a pitch apart, so the pitch is the stride of the loads.
///
/// From a stride of 8 floats on each of them has a sector of its own.
// ANCHOR: column_copy
#[tiled_kernel(
    block = [256],
    grid = [output.len().div_ceil(256)],
    requires(input.rows() == output.len(), input.cols() >= 1),
)]
pub fn column_copy(input: &Matrix<f32>, output: &mut Tensor<f32, 1>) {
    let i = block_x() * 256 + thread_x();
    if i < output.len() {
        #[budget(excess_sectors = 28, because = "the stride is the caller's, and what the lab varies")]
        output[[i]] = input[[i, 0]];
    }
}
// ANCHOR_END: column_copy

fn reference(input: &Array<f32, 2>, output: &mut Array<f32, 1>) {
    for row in 0..input.rows() {
        output[[row]] = input[[row, 0]];
    }
}

/// [`column_copy`] at strides that share sectors and lines, and at others.
pub const COLUMN_COPY: Subject = subject! {
    kernel: column_copy(read input, write output),
    reference: reference,
    sizes: [rows, stride]: [0, 3] [1, 1] [97, 1] [257, 2] [300, 7] [1000, 32],
    counted: [1 << 18, 8] [4099, 3] [1, 32],
    data: |data| (data.random([rows, stride]), data.output([rows])),
};
