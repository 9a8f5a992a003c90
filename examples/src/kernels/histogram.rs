//! A histogram: what is added where depends on the data.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// Adds to `counts` how often each of the 256 values occurs.
///
/// A block counts 4,096 bytes in shared memory, 16 a thread, and adds what it has counted to the result, a bin a thread.
#[tiled_kernel(
    block = [256],
    grid = [input.len().div_ceil(4096)],
    requires(input.len().is_multiple_of(16), counts.len() == 256),
)]
pub fn histogram(input: &Tensor<u8, 1>, counts: &mut Tensor<u32, 1>) {
    let mut bins = Shared::<[u32; 256]>::new();
    bins[thread_x()] = 0;
    sync_threads();

    let i = block_x() * 4096 + 16 * thread_x();
    if i < input.len() {
        let bytes = input.read::<16>([i]);
        for k in 0..16 {
            #[budget(bank_conflict = 31, because = "where the bytes are equal, all lanes add to one bin")]
            bins.atomic_add([bytes[k] as usize], 1);
        }
    }
    sync_threads();
    counts.atomic_add([thread_x()], bins[thread_x()]);
}

fn reference(input: &Array<u8, 1>, counts: &mut Array<u32, 1>) {
    for i in 0..input.len() {
        counts[[usize::from(input[[i]])]] += 1;
    }
}

/// [`histogram`] at lengths around a block's, of numbers below 100, so that bins are hit more than once.
pub const HISTOGRAM: Subject = subject! {
    kernel: histogram(read input, write counts),
    reference: reference,
    sizes: [n]: [0] [16] [4080] [4096] [4112],
    counted: [1 << 16] [20_016] [16],
    data: |data| (data.below([n], 100, |value| value as u8), data.below([256], 1, |zero| zero)),
};
