//! The last blocks of the grid reach beyond the matrix.

use tileproof::prelude::*;

#[tiled_kernel(
    block = [32, 8],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(8)],
    requires(output.rows() == input.rows(), output.cols() == input.cols()),
)]
pub fn double(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let (row, col) = (block_y() * 8 + thread_y(), block_x() * 32 + thread_x());
    output[[row, col]] = 2.0 * input[[row, col]];
}

fn main() {
    let _ = (double::CUDA_SOURCE, double::report, double::launch, double::simulate);
}
