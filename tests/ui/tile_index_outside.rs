//! Indices that leave their tile.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1])]
pub fn one_too_far() {
    let mut tile = Shared::<[f32; 32]>::new();
    tile[thread_x() + 1] = 0.0;
}

#[tiled_kernel(block = [32], grid = [1])]
pub fn vector_too_far() {
    let mut tile = Shared::<[[f32; 64]; 32]>::new();
    tile.write([0, 2 * thread_x() + 2], Vector::new([0.0, 0.0]));
}

#[tiled_kernel(block = [32], grid = [1])]
pub fn any_row(row: usize) {
    let mut tile = Shared::<[[f32; 32]; 32]>::new();
    tile[row][thread_x()] = 0.0;
}

fn main() {
    let _ = (one_too_far::CUDA_SOURCE, one_too_far::report, one_too_far::launch, one_too_far::simulate);
    let _ = (
        vector_too_far::CUDA_SOURCE,
        vector_too_far::report,
        vector_too_far::launch,
        vector_too_far::simulate,
    );
    let _ = (any_row::CUDA_SOURCE, any_row::report, any_row::launch, any_row::simulate);
}
