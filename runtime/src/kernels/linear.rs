//! Copies of memory without gaps.

use crate::prelude::*;

/// Each thread moves `K` words of `V` elements, 16 bytes where words have 4 or more, and all its loads are under way before the
/// first store. More bytes a thread are slower.
#[tiled_kernel(
    block = [256],
    grid = [input.len().div_ceil(256 * K * V)],
    requires(output.len() == input.len(), input.len().is_multiple_of(V)),
    instances((u8, 1, 8), (u16, 1, 8), (u32, 1, 4), (u64, 1, 2), (u32, 4, 1)),
)]
pub(crate) fn linear<T, const V: usize, const K: usize>(input: &Tensor<T, 1>, output: &mut Tensor<T, 1>) {
    let mut words = [Vector::<T, V>::splat(0); K];
    let first = (block_x() * (256 * K) + thread_x()) * V;
    for k in 0..K {
        if first + 256 * V * k < input.len() {
            words[k] = input.read::<V>([first + 256 * V * k]);
        }
    }
    for k in 0..K {
        if first + 256 * V * k < output.len() {
            output.write([first + 256 * V * k], words[k]);
        }
    }
}
