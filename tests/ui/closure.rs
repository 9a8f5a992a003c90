//! Closures that are kept, with and without captures: one error each, not one more for each call.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], requires(input.len() >= 32, output.len() >= 32))]
pub fn kept(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
    let scaled = |v: f32| 2.0 * v;
    output[[thread_x()]] = scaled(input[[thread_x()]]);
}

#[tiled_kernel(block = [32], grid = [1], requires(input.len() >= 32, output.len() >= 32))]
pub fn capturing(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>, factor: f32) {
    let shift = 4usize;
    let at = |i: usize| -> f32 { factor * input[[(i + shift) % 32]] };
    output[[thread_x()]] = at(thread_x()) + at(0);
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn handed_on(output: &mut Tensor<f32, 1>) {
    fn twice(x: f32) -> f32 {
        x + x
    }
    let f = twice;
    output[[thread_x()]] = f(1.0) + (|x: f32| x + 1.0)(2.0);
}

fn main() {
    let _ = (kept::CUDA_SOURCE, kept::report, kept::launch, kept::simulate);
    let _ = (capturing::CUDA_SOURCE, capturing::report, capturing::launch, capturing::simulate);
    let _ = (handed_on::CUDA_SOURCE, handed_on::report, handed_on::launch, handed_on::simulate);
}
