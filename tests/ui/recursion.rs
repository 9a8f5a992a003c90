//! Helper functions that call themselves.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn factorial(n: u32, output: &mut Tensor<u32, 1>) {
    fn factorial(n: u32) -> u32 {
        if n < 2 { 1 } else { n * factorial(n - 1) }
    }
    output[[thread_x()]] = factorial(n);
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn in_turn(n: u32, output: &mut Tensor<u32, 1>) {
    fn even(n: u32) -> bool {
        n == 0 || odd(n - 1)
    }
    fn odd(n: u32) -> bool {
        n != 0 && even(n - 1)
    }
    output[[thread_x()]] = even(n) as u32;
}

fn main() {
    let _ = (factorial::CUDA_SOURCE, factorial::report, factorial::launch, factorial::simulate);
    let _ = (in_turn::CUDA_SOURCE, in_turn::report, in_turn::launch, in_turn::simulate);
}
