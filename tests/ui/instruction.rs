//! Instructions that an architecture lacks, and a warp that is not whole.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 128), arch(sm_75, sm_90))]
pub fn on_turing(output: &mut Tensor<f32, 1>) {
    let (left, right) = (Vector::<f16, 8>::splat(f16::ONE), Vector::<f16, 4>::splat(f16::ONE));
    output.write([4 * lane()], mma(left, right, Vector::splat(0.0)));
}

#[tiled_kernel(block = [40], grid = [1], requires(output.len() >= 160))]
pub fn by_eight_lanes(output: &mut Tensor<i32, 1>) {
    let (left, right) = (Vector::<i8, 16>::splat(1), Vector::<i8, 8>::splat(1));
    output.write([4 * thread_x()], mma(left, right, Vector::splat(0)));
}

fn main() {
    let _ = (on_turing::report, by_eight_lanes::report);
}
