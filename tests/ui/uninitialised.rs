//! Reads of shared memory that nobody wrote: behind a guard of the store, and where nothing is written first.

use tileproof::prelude::*;

/// Each block turns the order of its 64 elements around.
#[tiled_kernel(block = [64], grid = [input.len().div_ceil(64)], requires(output.len() == input.len()))]
pub fn reversed(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
    let mut tile = Shared::<[f32; 64]>::new();
    let (x, i) = (thread_x(), block_x() * 64 + thread_x());
    if i < input.len() {
        tile[x] = input[[i]];
    }
    sync_threads();
    if i < output.len() {
        output[[i]] = tile[63 - x];
    }
}

/// How many of a block's values are in each of 256 bins.
#[tiled_kernel(block = [64], grid = [1], requires(input.len() == 64, output.len() == 256))]
pub fn counts(input: &Tensor<u8, 1>, output: &mut Tensor<u32, 1>) {
    let mut bins = Shared::<[u32; 256]>::new();
    let x = thread_x();
    #[budget(bank_conflict = 31, because = "the bins are spread by the data")]
    bins.atomic_add([input[[x]] as usize], 1);
    sync_threads();
    for k in 0..4 {
        output[[64 * k + x]] = bins[64 * k + x];
    }
}

fn main() {
    let _ = (reversed::CUDA_SOURCE, reversed::report, reversed::launch, reversed::simulate);
    let _ = (counts::CUDA_SOURCE, counts::report, counts::launch, counts::simulate);
}
