//! What rustc says better: unknown names, types, borrows. It says it alone, and callers of the kernel get no errors.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn unknown_name(output: &mut Tensor<f32, 1>) {
    output[[thread_x()]] = nowhere;
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn wrong_type(output: &mut Tensor<f32, 1>) {
    let scale: f32 = 1;
    output[[thread_x()]] = scale;
}

#[tiled_kernel(block = [32], grid = [1], requires(input.len() >= 32))]
pub fn written_input(input: &Tensor<f32, 1>) {
    input[[thread_x()]] = 0.0;
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn no_method(output: &mut Tensor<f32, 1>) {
    output[[thread_x()]] = output.columns() as f32;
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn immutable(output: &mut Tensor<f32, 1>) {
    let sum = 0.0;
    sum += 1.0;
    output[[thread_x()]] = sum;
}

#[tiled_kernel(block = [32], grid = [1])]
pub fn run_time_layout(n: usize) {
    let mut tile = Shared::<[f32; 32], Pad<{ n }>>::new();
    tile[thread_x()] = 0.0;
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn other_element(output: &mut Tensor<f32, 1>) {
    output[[thread_x()]] = 2.0_f64;
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn bare_index(output: &mut Tensor<f32, 1>) {
    let i = thread_x();
    output[i] = 1.0;
}

fn main() {
    let (input, mut output) = ([0.0; 32], [0.0; 32]);
    let input = HostTensor::new(&input, [32]).unwrap();
    let mut output = HostTensorMut::new(&mut output, [32]).unwrap();
    unknown_name::simulate(&mut output).unwrap();
    wrong_type::simulate(&mut output).unwrap();
    written_input::simulate(&input).unwrap();
    no_method::simulate(&mut output).unwrap();
    immutable::simulate(&mut output).unwrap();
    run_time_layout::simulate(1).unwrap();
    other_element::simulate(&mut output).unwrap();
    bare_index::simulate(&mut output).unwrap();
}
