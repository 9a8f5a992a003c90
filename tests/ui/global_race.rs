//! One generation of the Game of Life in place: blocks read what their neighbours write.

use tileproof::prelude::*;

#[tiled_kernel(block = [32, 8], grid = [cells.cols().div_ceil(32), cells.rows().div_ceil(8)])]
pub fn smooth(cells: &mut Matrix<f32>) {
    let (r, c) = (block_y() * 8 + thread_y(), block_x() * 32 + thread_x());
    if r + 1 < cells.rows() && c < cells.cols() {
        let below = cells[[r + 1, c]];
        cells[[r, c]] += below;
    }
}

fn main() {
    let _ = (smooth::CUDA_SOURCE, smooth::report, smooth::launch, smooth::simulate);
}
