//! A column of a tile without padding: all 32 lanes of a warp need the same bank.

use tileproof::prelude::*;

/// Both global sides are rows.
#[tiled_kernel(
    block = [32, 8],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(32)],
    requires(output.rows() == input.cols(), output.cols() == input.rows()),
)]
pub fn transpose(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let mut tile = Shared::<[[f32; 32]; 32]>::new();

    let (row0, col) = (block_y() * 32 + thread_y(), block_x() * 32 + thread_x());
    for k in (0..32).step_by(8) {
        if row0 + k < input.rows() && col < input.cols() {
            tile[thread_y() + k][thread_x()] = input[[row0 + k, col]];
        }
    }
    sync_threads();

    let (row0, col) = (block_x() * 32 + thread_y(), block_y() * 32 + thread_x());
    for k in (0..32).step_by(8) {
        if row0 + k < output.rows() && col < output.cols() {
            output[[row0 + k, col]] = tile[thread_x()][thread_y() + k];
        }
    }
}

fn main() {
    let _ = (transpose::CUDA_SOURCE, transpose::report, transpose::launch, transpose::simulate);
}
