//! Numbers that must be known at compile time.

use tileproof::prelude::*;

const THREADS: usize = 32;

#[tiled_kernel(block = [n], grid = [1])]
pub fn block(n: usize) {
    let _ = n;
}

#[tiled_kernel(block = [THREADS], grid = [1])]
pub fn block_outside() {}

const fn twice(n: usize) -> usize {
    n + n
}

#[tiled_kernel(block = [32], grid = [1])]
pub fn tile() {
    let mut tile = Shared::<[f32; twice(16)]>::new();
    tile[thread_x()] = 0.0;
}

#[tiled_kernel(block = [32], grid = [1])]
pub fn step(output: &mut Tensor<f32, 1>) {
    for k in (0..32).step_by(0) {
        if k < output.len() {
            output[[k]] = 0.0;
        }
    }
}

#[tiled_kernel(block = [32], grid = [1])]
pub fn extent(input: &Matrix<f32>) {
    let _ = input.extent(2);
}

fn main() {
    let _ = (block::CUDA_SOURCE, block::report, block::launch, block::simulate);
    let _ =
        (block_outside::CUDA_SOURCE, block_outside::report, block_outside::launch, block_outside::simulate);
    let _ = (tile::CUDA_SOURCE, tile::report, tile::launch, tile::simulate);
    let _ = (step::CUDA_SOURCE, step::report, step::launch, step::simulate);
    let _ = (extent::CUDA_SOURCE, extent::report, extent::launch, extent::simulate);
}
