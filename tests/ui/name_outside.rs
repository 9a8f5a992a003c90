//! What rustc knows and a macro cannot see: constants and functions outside the kernel.

use tileproof::prelude::*;

const COUNT: usize = 32;

fn twice(x: f32) -> f32 {
    x + x
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn constant(output: &mut Tensor<f32, 1>) {
    if thread_x() < COUNT {
        output[[thread_x()]] = 1.0;
    }
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn function(output: &mut Tensor<f32, 1>) {
    output[[thread_x()]] = twice(1.0);
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn path(output: &mut Tensor<f32, 1>) {
    output[[thread_x()]] = core::f32::DIGITS as f32;
}

fn main() {
    let _ = (constant::CUDA_SOURCE, constant::report, constant::launch, constant::simulate);
    let _ = (function::CUDA_SOURCE, function::report, function::launch, function::simulate);
    let _ = (path::CUDA_SOURCE, path::report, path::launch, path::simulate);
}
