//! The mend of uncoalesced_store.rs that accepts the cost.

use tileproof::prelude::*;

#[tiled_kernel(
    block = [32, 8],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(32)],
    requires(output.rows() == input.cols(), output.cols() == input.rows()),
)]
pub fn transpose(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let (row0, col) = (block_y() * 32 + thread_y(), block_x() * 32 + thread_x());
    for k in (0..32).step_by(8) {
        if row0 + k < input.rows() && col < input.cols() {
            #[budget(excess_sectors = 28, because = "small matrices only")]
            output[[col, row0 + k]] = input[[row0 + k, col]];
        }
    }
}

fn main() {
    let _ = (transpose::CUDA_SOURCE, transpose::report, transpose::launch, transpose::simulate);
}
