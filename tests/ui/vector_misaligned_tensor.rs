//! Vectors of 4 that start at any column of a tensor.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], requires(input.len() >= 64, output.len() >= 64))]
pub fn shifted(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
    if thread_x() < 8 {
        output.write([4 * thread_x()], input.read::<4>([4 * thread_x() + 1]));
    }
}

fn main() {
    let _ = (shifted::CUDA_SOURCE, shifted::report, shifted::launch, shifted::simulate);
}
