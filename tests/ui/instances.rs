//! Generic kernels: what is listed, what is not, and an error that some instances have.

use tileproof::prelude::*;

#[tiled_kernel(
    block = [32],
    grid = [1],
    requires(input.len() >= 32 * V, output.len() >= 32 * V),
    instances((f32, 4), (f64, 2), (f32, 1)),
)]
pub fn copy<T, const V: usize>(input: &Tensor<T, 1>, output: &mut Tensor<T, 1>) {
    let i = thread_x() * V;
    output.write([i], input.read::<V>([i]));
}

/// Not listed: rustc says what is.
fn unlisted(input: &HostTensor<'_, u8, 1>, output: &mut HostTensorMut<'_, u8, 1>) {
    let _ = copy::simulate(input, output);
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn none<T>(output: &mut Tensor<T, 1>) {
    output[[thread_x()]] = output[[thread_x()]];
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32), instances((f32, 4), f64, (4, f32), (f32, N)))]
pub fn wrong<T, const V: usize>(output: &mut Tensor<T, 1>) {
    output.write([V * thread_x()], output.read::<V>([V * thread_x()]));
}

/// One cause in two of the instances is one error.
#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32 * S), instances(1, 2, 4))]
pub fn strided<const S: usize>(output: &mut Tensor<f32, 1>) {
    output[[S * thread_x()]] = 1.0;
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32), instances(f32))]
pub fn concrete(output: &mut Tensor<f32, 1>) {
    output[[thread_x()]] = 1.0;
}

fn main() {
    let _ = (copy::reports(), copy_f32_4::CUDA_SOURCE, unlisted as fn(&_, &mut _));
    let _ = (none::simulate::<f32>, none::CUDA_SOURCES, wrong::launch::<f32>, strided::simulate::<2>);
    let _ = (strided_1::report(), strided_2::CUDA_SOURCE, concrete::report());
}
