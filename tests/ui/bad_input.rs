//! What ordinary Rust has and a GPU thread cannot have.
#![allow(unused)]

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn trait_object(output: &mut Tensor<f32, 1>) {
    let scale: &dyn Fn(f32) -> f32 = &|x| 2.0 * x;
    output[[thread_x()]] = scale(2.0);
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn function_pointer(output: &mut Tensor<f32, 1>) {
    let root: fn(f32) -> f32 = f32::sqrt;
    output[[thread_x()]] = root(2.0);
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn boxed(output: &mut Tensor<f32, 1>) {
    let value = Box::new(1.0f32);
    output[[thread_x()]] = *value;
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn vector(output: &mut Tensor<f32, 1>) {
    let mut values: Vec<f32> = Vec::new();
    values.push(1.0);
    output[[thread_x()]] = values[0];
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn vector_macro(output: &mut Tensor<f32, 1>) {
    let values = vec![1.0, 2.0];
    output[[thread_x()]] = values[0];
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn string(output: &mut Tensor<f32, 1>) {
    let text = String::new();
    output[[thread_x()]] = text.len() as f32;
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn option(value: f32, output: &mut Tensor<f32, 1>) {
    let value = Some(value);
    output[[thread_x()]] = value.unwrap();
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn question_mark(value: u32, output: &mut Tensor<f32, 1>) {
    output[[thread_x()]] = value.checked_add(1)? as f32;
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn slices(output: &mut Tensor<f32, 1>) {
    let values = [1.0, 2.0, 3.0];
    let all: &[f32] = &values;
    let tail = &values[1..];
    output[[thread_x()]] = tail[0] + all[0];
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn kept_reference(output: &mut Tensor<f32, 1>) {
    let mut values = [1.0, 2.0, 3.0];
    let second = &mut values[1];
    *second = 4.0;
    output[[thread_x()]] = values[1];
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn pointer(output: &mut Tensor<f32, 1>) {
    let value = 1.0f32;
    let address = &raw const value;
    output[[thread_x()]] = 1.0;
}

#[tiled_kernel(block = [32], grid = [1])]
pub fn parameters(text: &str, words: Vec<String>, value: Box<f32>, scale: &dyn Fn(f32) -> f32) {}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn not_checked(output: &mut Tensor<f32, 1>) {
    unsafe {
        output[[thread_x()]] = 1.0;
    }
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn assembly(output: &mut Tensor<f32, 1>) {
    unsafe { core::arch::asm!("nop") };
    output[[thread_x()]] = 1.0;
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn returned(output: &mut Tensor<f32, 1>) -> f32 {
    output[[thread_x()]] = 1.0;
    1.0
}

fn main() {}
