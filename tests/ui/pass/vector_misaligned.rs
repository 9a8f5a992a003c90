//! The mend of vector_misaligned.rs.

use tileproof::prelude::*;

#[tiled_kernel(
    block = [16, 16],
    grid = [input.cols().div_ceil(64), input.rows().div_ceil(16)],
    requires(
        output.rows() == input.rows(),
        output.cols() == input.cols(),
        input.cols().is_multiple_of(4),
    ),
)]
pub fn through_shared(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let mut tile = Shared::<[[f32; 64]; 16]>::new();
    let (row, col) = (block_y() * 16 + thread_y(), block_x() * 64 + 4 * thread_x());
    if row < input.rows() && col < input.cols() {
        tile.write([thread_y(), 4 * thread_x()], input.read::<4>([row, col]));
        output.write([row, col], tile.read::<4>([thread_y(), 4 * thread_x()]));
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
