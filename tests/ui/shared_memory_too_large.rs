//! Tiles that together are larger than what the architectures have, though another has more.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], arch(sm_86, sm_90))]
pub fn large() {
    let mut first = Shared::<[[f32; 64]; 64]>::new();
    let mut second = Shared::<[[f64; 128]; 128]>::new();
    first[0][thread_x()] = 0.0;
    second[0][thread_x()] = 0.0;
}

fn main() {
    let _ = (large::CUDA_SOURCE, large::report, large::launch, large::simulate);
}
