//! Parameters that a kernel cannot take.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1])]
pub fn slice(input: &[f32], output: &mut Tensor<f32, 1>) {
    output[[thread_x()]] = input[thread_x()];
}

#[tiled_kernel(block = [32], grid = [1])]
pub fn by_value(input: Matrix<f32>) {
    let _ = input.rows();
}

#[tiled_kernel(block = [32], grid = [1])]
pub fn pattern((a, b): (usize, usize)) {
    let _ = a + b;
}

#[tiled_kernel(block = [32], grid = [1], requires(input.rows() >= 32))]
pub fn element(input: &Matrix<usize>) {}

fn main() {
    let _ = (slice::CUDA_SOURCE, slice::report, slice::launch, slice::simulate);
    let _ = (by_value::CUDA_SOURCE, by_value::report, by_value::launch, by_value::simulate);
    let _ = (pattern::CUDA_SOURCE, pattern::report, pattern::launch, pattern::simulate);
    let input = [0_u32; 32];
    let _ = (element::CUDA_SOURCE, element::report, element::simulate(&HostTensor::new(&input, [32, 1]).unwrap()));
}
