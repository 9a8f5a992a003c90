//! The shuffle outside of what only some lanes reach.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], requires(output.len() == input.len()))]
pub fn neighbours(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
    let i = thread_x();
    let value = if i < input.len() { input[[i]] } else { 0.0 };
    let other = shuffle_xor(value, 1);
    if i < input.len() {
        output[[i]] = other;
    }
}

fn main() {
    let _ = (neighbours::CUDA_SOURCE, neighbours::report, neighbours::launch, neighbours::simulate);
}
