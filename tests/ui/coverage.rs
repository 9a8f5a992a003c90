//! Claims that every element of a tensor is written: with a grid that ends too early, and with a guard that lets too few through.

use tileproof::prelude::*;

/// Transposes a matrix.
#[tiled_kernel(
    block = [32, 8],
    grid = [output.cols().div_ceil(32), output.rows() / 32],
    requires(output.rows() == input.cols(), output.cols() == input.rows()),
    covers(output),
)]
pub fn transposed(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let mut tile = Shared::<[[f32; 32]; 32], Pad<1>>::new();
    tile.load_transposed(input, [block_x() * 32, block_y() * 32]);
    sync_threads();
    let col = block_x() * 32 + thread_x();
    for k in (0..32).step_by(8) {
        let row = block_y() * 32 + thread_y() + k;
        if row < output.rows() && col < output.cols() {
            output[[row, col]] = tile[thread_y() + k][thread_x()];
        }
    }
}

/// The differences of neighbours.
#[tiled_kernel(
    block = [256],
    grid = [output.len().div_ceil(256)],
    requires(input.len() == output.len()),
    covers(output),
)]
pub fn differences(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
    let i = block_x() * 256 + thread_x();
    if i + 1 < input.len() {
        output[[i]] = input[[i + 1]] - input[[i]];
    }
}

/// No tensor that the kernel writes to.
#[tiled_kernel(block = [256], grid = [1], covers(input))]
pub fn nothing(input: &Tensor<f32, 1>) {}

fn main() {
    let _ = (transposed::CUDA_SOURCE, transposed::report, transposed::launch, transposed::simulate);
    let _ = (differences::CUDA_SOURCE, differences::report, differences::launch, differences::simulate);
    let _ = (nothing::CUDA_SOURCE, nothing::report, nothing::launch, nothing::simulate);
}
