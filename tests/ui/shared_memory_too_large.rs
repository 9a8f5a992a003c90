//! Tiles that together are larger than 48 KB.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1])]
pub fn large() {
    let mut first = Shared::<[[f32; 64]; 64]>::new();
    let mut second = Shared::<[[f32; 128]; 128]>::new();
    first[0][thread_x()] = 0.0;
    second[0][thread_x()] = 0.0;
}

fn main() {
    let _ = (large::CUDA_SOURCE, large::report, large::launch, large::simulate);
}
