//! Vectors that no instruction moves.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], requires(input.len() >= 256, output.len() >= 256))]
pub fn three(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
    output.write([3 * thread_x()], input.read::<3>([3 * thread_x()]));
}

#[tiled_kernel(block = [32], grid = [1], requires(input.len() >= 256, output.len() >= 256))]
pub fn eight(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
    output.write([8 * thread_x()], input.read::<8>([8 * thread_x()]));
}

fn main() {
    let _ = (three::CUDA_SOURCE, three::report, three::launch, three::simulate);
    let _ = (eight::CUDA_SOURCE, eight::report, eight::launch, eight::simulate);
}
