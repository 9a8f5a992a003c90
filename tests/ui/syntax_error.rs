//! What does not parse: rustc says so, once.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1])]
pub fn broken(output: &mut Tensor<f32, 1>) {
    output[[thread_x()]] = ;
}

fn main() {
    let _ = (broken::CUDA_SOURCE, broken::report, broken::launch, broken::simulate);
}
