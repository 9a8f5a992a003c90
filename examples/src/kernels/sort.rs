//! Sorting networks.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// Sorts every 256 keys on their own, the last ones too if they are fewer: a bitonic network, a key a thread.
///
/// In a step the threads `i` and `i ^ distance` compare; one keeps the smaller key, the other the larger one. Whatever the
/// distance, the partners of 32 neighbours are 32 neighbours, so no two lanes meet in a bank.
#[tiled_kernel(
    block = [256],
    grid = [keys.len().div_ceil(256)],
)]
pub fn bitonic_sort(keys: &mut Tensor<u32, 1>) {
    let mut tile = Shared::<[u32; 256]>::new();
    let (i, place) = (thread_x(), block_x() * 256 + thread_x());
    let mut key = 0xffff_ffff;
    if place < keys.len() {
        key = keys[[place]];
    }
    // after each stage, runs of twice the length are sorted, up and down in turn
    for stage in 0..8 {
        for step in 0..stage + 1 {
            let distance = 1 << (stage - step);
            tile[i] = key;
            sync_threads();
            let other = tile[i ^ distance];
            let up = i & (2 << stage) == 0;
            let first = i & distance == 0;
            key = if up == first { key.min(other) } else { key.max(other) };
            sync_threads();
        }
    }
    if place < keys.len() {
        keys[[place]] = key;
    }
}

fn reference(keys: &mut Array<u32, 1>) {
    for start in (0..keys.len()).step_by(256) {
        let range = start..(start + 256).min(keys.len());
        let mut sorted: Vec<u32> = range.clone().map(|i| keys[[i]]).collect();
        sorted.sort_unstable();
        for (i, key) in range.zip(sorted) {
            keys[[i]] = key;
        }
    }
}

/// [`bitonic_sort`] at lengths around a block's.
pub const BITONIC_SORT: Subject = subject! {
    kernel: bitonic_sort(write keys),
    reference: reference,
    sizes: [n]: [0] [1] [97] [256] [257] [1021],
    counted: [1 << 14] [1021] [1],
    data: |data| (data.random([n]),),
};
