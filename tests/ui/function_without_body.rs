//! A function that rustc reads and a kernel cannot be: it has no body.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1])]
pub fn declared(output: &mut Tensor<f32, 1>);

fn main() {
    let _ = (declared::CUDA_SOURCE, declared::report, declared::launch, declared::simulate);
}
