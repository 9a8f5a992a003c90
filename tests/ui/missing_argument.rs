//! Arguments of the attribute: missing, unknown, unreadable.

use tileproof::prelude::*;

#[tiled_kernel(block = [32, 8])]
pub fn without_grid(input: &Matrix<f32>) {
    let _ = input.rows();
}

#[tiled_kernel]
pub fn without_arguments() {}

#[tiled_kernel(blocks = [32], grid = [1])]
pub fn misspelt() {}

#[tiled_kernel(block = [32] grid = [1])]
pub fn without_comma() {}

#[tiled_kernel(block = [8, 8, 8, 8], grid = [1])]
pub fn four_extents() {}

#[tiled_kernel(block = [32], grid = [block_x()])]
pub fn grid_of_threads() {}

fn main() {
    let _ = (without_grid::CUDA_SOURCE, without_grid::report, without_grid::launch, without_grid::simulate);
    let _ = (
        without_arguments::CUDA_SOURCE,
        without_arguments::report,
        without_arguments::launch,
        without_arguments::simulate,
    );
    let _ = (misspelt::CUDA_SOURCE, misspelt::report, misspelt::launch, misspelt::simulate);
    let _ =
        (without_comma::CUDA_SOURCE, without_comma::report, without_comma::launch, without_comma::simulate);
    let _ = (four_extents::CUDA_SOURCE, four_extents::report, four_extents::launch, four_extents::simulate);
    let _ = (
        grid_of_threads::CUDA_SOURCE,
        grid_of_threads::report,
        grid_of_threads::launch,
        grid_of_threads::simulate,
    );
}
