//! Names that a kernel declares hide the prelude's: what is called is what Rust says.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn variable(output: &mut Tensor<f32, 1>) {
    let lane = 3;
    output[[lane()]] = 1.0;
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn alias(output: &mut Tensor<f32, 1>) {
    type Vector = f32;
    let x: Vector = 1.0;
    output[[thread_x()]] = x;
}

mod other {
    pub fn warp() -> usize {
        7
    }
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn path(output: &mut Tensor<f32, 1>) {
    output[[other::warp()]] = 1.0;
}

fn main() {
    let _ = (variable::CUDA_SOURCE, variable::report, variable::launch, variable::simulate);
    let _ = (alias::CUDA_SOURCE, alias::report, alias::launch, alias::simulate);
    let _ = (path::CUDA_SOURCE, path::report, path::launch, path::simulate);
}
