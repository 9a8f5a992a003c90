//! Index arithmetic that leaves the range of `usize`.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], requires(input.len() >= 32, output.len() >= 32))]
pub fn below_zero(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
    output[[thread_x()]] = input[[thread_x() - 1]];
}

#[tiled_kernel(block = [32], grid = [1])]
pub fn too_large(n: usize, output: &mut Tensor<f32, 1>) {
    let i = n * n;
    if i < output.len() {
        output[[i]] = 0.0;
    }
}

fn main() {
    let _ = (below_zero::CUDA_SOURCE, below_zero::report, below_zero::launch, below_zero::simulate);
    let _ = (too_large::CUDA_SOURCE, too_large::report, too_large::launch, too_large::simulate);
}
