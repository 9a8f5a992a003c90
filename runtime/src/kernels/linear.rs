//! Copies of memory without gaps.

use crate::prelude::*;

/// Each thread moves four words of `V` elements, and all its loads are under way before the first store.
#[tiled_kernel(
    block = [256],
    grid = [input.len().div_ceil(1024 * V)],
    requires(output.len() == input.len(), input.len().is_multiple_of(V)),
    instances((u8, 1), (u16, 1), (u32, 1), (u64, 1), (u32, 4)),
)]
pub(crate) fn linear<T, const V: usize>(input: &Tensor<T, 1>, output: &mut Tensor<T, 1>) {
    let mut words = [Vector::<T, V>::splat(0); 4];
    let first = (block_x() * 1024 + thread_x()) * V;
    for k in 0..4 {
        if first + 256 * V * k < input.len() {
            words[k] = input.read::<V>([first + 256 * V * k]);
        }
    }
    for k in 0..4 {
        if first + 256 * V * k < output.len() {
            output.write([first + 256 * V * k], words[k]);
        }
    }
}
