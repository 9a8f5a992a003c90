//! Budgets that accept more than occurs, less, nothing, or give no reason.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1])]
pub fn loose() {
    let mut tile = Shared::<[[f32; 2]; 32]>::new();
    #[budget(bank_conflict = 31, because = "a column")]
    {
        tile[thread_x()][0] = 0.0;
    }
}

#[tiled_kernel(block = [32], grid = [1])]
pub fn too_small() {
    let mut tile = Shared::<[[f32; 4]; 32]>::new();
    #[budget(bank_conflict = 1, because = "a column")]
    {
        tile[thread_x()][0] = 0.0;
    }
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn needless(output: &mut Tensor<f32, 1>) {
    #[budget(excess_sectors = 4, because = "habit")]
    {
        output[[thread_x()]] = 0.0;
    }
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
pub fn of_another_kind(output: &mut Tensor<f32, 1>) {
    #[budget(bank_conflict = 4, because = "habit")]
    {
        output[[thread_x()]] = 0.0;
    }
}

#[tiled_kernel(block = [32], grid = [1])]
pub fn without_reason() {
    let mut tile = Shared::<[[f32; 2]; 32]>::new();
    #[budget(bank_conflict = 1)]
    {
        tile[thread_x()][0] = 0.0;
    }
}

fn main() {
    let _ = (loose::CUDA_SOURCE, loose::report, loose::launch, loose::simulate);
    let _ = (too_small::CUDA_SOURCE, too_small::report, too_small::launch, too_small::simulate);
    let _ = (needless::CUDA_SOURCE, needless::report, needless::launch, needless::simulate);
    let _ = (
        of_another_kind::CUDA_SOURCE,
        of_another_kind::report,
        of_another_kind::launch,
        of_another_kind::simulate,
    );
    let _ = (
        without_reason::CUDA_SOURCE,
        without_reason::report,
        without_reason::launch,
        without_reason::simulate,
    );
}
