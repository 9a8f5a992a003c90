//! Constructs that a kernel cannot have, or not yet.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn constructs(n: usize, output: &mut Tensor<f32, 1>) {
    let mut i = 0;
    while let 0 = i {
        i += 1;
    }
    let square = |x: f32| x * x;
    match n {
        0 => return,
        _ => {}
    }
    println!("{n}");
    let text = "text";
    let values = [1.0, 2.0];
    let reference = &values;
    output[[thread_x()]] = square(reference[0]) * text.len() as f32;
}

#[tiled_kernel(block = [32], grid = [1])]
pub async unsafe fn modifiers() {}

#[tiled_kernel(block = [32], grid = [1])]
pub fn generic<T>(value: f32) -> f32 {
    value
}

#[tiled_kernel(block = [32], grid = [1])]
pub struct NotAFunction;

fn main() {
    let _ = (constructs::CUDA_SOURCE, constructs::report, constructs::launch, constructs::simulate);
    let _ = (modifiers::CUDA_SOURCE, modifiers::report, modifiers::launch, modifiers::simulate);
    let _ = (generic::CUDA_SOURCES, generic::reports, generic::launch, generic::simulate);
    let _ = NotAFunction;
}
