//! Factors of matrices that do not fit: rustc says which.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 128))]
pub fn no_fragment(output: &mut Tensor<f32, 1>) {
    let (left, right) = (Vector::<bf16, 4>::splat(bf16::ONE), Vector::<bf16, 4>::splat(bf16::ONE));
    output.write([4 * lane()], mma(left, right, Vector::splat(0.0)));
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 128))]
pub fn other_factor(output: &mut Tensor<f32, 1>) {
    let (left, right) = (Vector::<bf16, 8>::splat(bf16::ONE), Vector::<f16, 4>::splat(f16::ONE));
    output.write([4 * lane()], mma(left, right, Vector::splat(0.0)));
}

fn main() {
    let _ = (no_fragment::report, other_factor::report);
}
