//! A shuffle that the lanes beyond the end do not reach.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], requires(output.len() == input.len()))]
pub fn neighbours(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
    let i = thread_x();
    if i < input.len() {
        output[[i]] = shuffle_xor(input[[i]], 1);
    }
}

fn main() {
    let _ = (neighbours::CUDA_SOURCE, neighbours::report, neighbours::launch, neighbours::simulate);
}
