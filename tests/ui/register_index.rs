//! A register array indexed by a number that differs from thread to thread.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn chosen(output: &mut Tensor<f32, 1>) {
    let values = [1.0, 2.0, 4.0, 8.0];
    output[[thread_x()]] = values[thread_x() % 4];
}

fn main() {
    let _ = (chosen::CUDA_SOURCE, chosen::report, chosen::launch, chosen::simulate);
}
