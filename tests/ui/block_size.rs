//! Blocks that no GPU has.

use tileproof::prelude::*;

#[tiled_kernel(block = [64, 32], grid = [1])]
pub fn too_many_threads() {}

#[tiled_kernel(block = [2048], grid = [1])]
pub fn too_wide() {}

#[tiled_kernel(block = [0], grid = [1])]
pub fn none() {}

fn main() {
    let _ = (
        too_many_threads::CUDA_SOURCE,
        too_many_threads::report,
        too_many_threads::launch,
        too_many_threads::simulate,
    );
    let _ = (too_wide::CUDA_SOURCE, too_wide::report, too_wide::launch, too_wide::simulate);
    let _ = (none::CUDA_SOURCE, none::report, none::launch, none::simulate);
}
