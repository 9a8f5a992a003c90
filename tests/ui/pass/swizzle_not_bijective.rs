//! The mend of swizzle_not_bijective.rs.

use tileproof::prelude::*;

#[tiled_kernel(
    block = [32, 32],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(32)],
    requires(output.rows() == input.rows(), output.cols() == input.cols()),
)]
pub fn through_shared(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let mut tile = Shared::<[[f32; 32]; 32], Swizzle<5, 0, 5>>::new();
    let (row, col) = (block_y() * 32 + thread_y(), block_x() * 32 + thread_x());
    if row < input.rows() && col < input.cols() {
        tile[thread_y()][thread_x()] = input[[row, col]];
        output[[row, col]] = tile[thread_y()][thread_x()];
    }
}

fn main() {
    let _ = (
        through_shared::CUDA_SOURCE,
        through_shared::report,
        through_shared::launch,
        through_shared::simulate,
    );
}
