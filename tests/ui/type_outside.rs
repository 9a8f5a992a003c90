//! Types that Rust has and a kernel has not.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn wide(output: &mut Tensor<f32, 1>) {
    let x = 1u128 + 1;
    output[[thread_x()]] = x as f32;
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn tuples(output: &mut Tensor<f32, 1>) {
    if (thread_x(), 1) < (4, 2) {
        output[[thread_x()]] = 1.0;
    }
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn arrays(output: &mut Tensor<f32, 1>) {
    let a = [0.0, 1.0];
    let b = if a == a { 1.0 } else { 0.0 };
    output[[thread_x()]] = b;
}

fn main() {
    let _ = (wide::CUDA_SOURCE, wide::report, wide::launch, wide::simulate);
    let _ = (tuples::CUDA_SOURCE, tuples::report, tuples::launch, tuples::simulate);
    let _ = (arrays::CUDA_SOURCE, arrays::report, arrays::launch, arrays::simulate);
}
