//! Trusts in what is proven, in what is known to be wrong, and without a reason.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn needless(output: &mut Tensor<f32, 1>) {
    #[trust(bounds, because = "habit")]
    {
        output[[thread_x()]] = 0.0;
    }
}

#[tiled_kernel(
    block = [32],
    grid = [1],
    requires(output.len() >= 32),
    trust(bounds, barriers, because = "habit")
)]
pub fn needless_everywhere(output: &mut Tensor<f32, 1>) {
    output[[thread_x()]] = 0.0;
}

#[tiled_kernel(block = [32], grid = [1])]
pub fn wrong() {
    let mut tile = Shared::<[f32; 16]>::new();
    #[trust(bounds, because = "it fits")]
    {
        tile[thread_x()] = 0.0;
    }
}

#[tiled_kernel(block = [32], grid = [1])]
pub fn without_reason(output: &mut Tensor<f32, 1>) {
    #[trust(bounds)]
    {
        output[[thread_x()]] = 0.0;
    }
}

#[tiled_kernel(block = [32], grid = [1])]
pub fn unknown(output: &mut Tensor<f32, 1>) {
    #[trust(speed, because = "it is fast")]
    {
        output[[thread_x()]] = 0.0;
    }
}

fn main() {
    let _ = (needless::CUDA_SOURCE, needless::report, needless::launch, needless::simulate);
    let _ = (
        needless_everywhere::CUDA_SOURCE,
        needless_everywhere::report,
        needless_everywhere::launch,
        needless_everywhere::simulate,
    );
    let _ = (wrong::CUDA_SOURCE, wrong::report, wrong::launch, wrong::simulate);
    let _ = (
        without_reason::CUDA_SOURCE,
        without_reason::report,
        without_reason::launch,
        without_reason::simulate,
    );
    let _ = (unknown::CUDA_SOURCE, unknown::report, unknown::launch, unknown::simulate);
}
