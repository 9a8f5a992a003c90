//! A guard on the wrong tensor, and no promise that both have the same extents.

use tileproof::prelude::*;

#[tiled_kernel(block = [32, 8], grid = [input.cols().div_ceil(32), input.rows().div_ceil(8)])]
pub fn double(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let (row, col) = (block_y() * 8 + thread_y(), block_x() * 32 + thread_x());
    if row < input.rows() && col < input.cols() {
        output[[row, col]] = 2.0 * input[[row, col]];
    }
}

#[tiled_kernel(block = [256], grid = [n.div_ceil(256)])]
pub fn clear(n: usize, output: &mut Tensor<f32, 1>) {
    let i = block_x() * 256 + thread_x();
    if i < n {
        output[[i]] = 0.0;
    }
}

fn main() {
    let _ = (double::CUDA_SOURCE, double::report, double::launch, double::simulate);
    let _ = (clear::CUDA_SOURCE, clear::report, clear::launch, clear::simulate);
}
