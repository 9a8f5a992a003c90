//! Transposes of many small planes.

use crate::prelude::*;

/// Turns `PLANES` neighbouring planes of at most `SIDE` × `SIDE` words of `V` elements in one block.
#[tiled_kernel(
    block = [SIDE, SIDE, 256 / (SIDE * SIDE)],
    grid = [input.extent(2).div_ceil(PLANES), input.extent(1), input.extent(0)],
    requires(
        output.extent(0) == input.extent(0),
        output.extent(1) == input.extent(1),
        output.extent(2) == input.extent(2),
        output.extent(3) * V == input.extent(4),
        output.extent(4) == input.extent(3) * V,
        input.extent(4).is_multiple_of(V),
        output.extent(4).is_multiple_of(V),
        input.extent(4) <= SIDE * V,
        output.extent(4) <= SIDE * V,
    ),
    instances(
        (u32, 1, 8, 16, Xor<1>),
        (u64, 1, 8, 16, Xor<1>),
        (u32, 4, 8, 16, Xor<4>),
    ),
)]
pub(crate) fn turned_small<T, const V: usize, const SIDE: usize, const PLANES: usize, L>(
    input: &Tensor<T, 5>,
    output: &mut Tensor<T, 5>,
) {
    let mut tile = Shared::<[[[T; SIDE * V]; SIDE]; PLANES], L>::new();
    let (a, b) = (block_z(), block_y());
    let (row, col) = (thread_y(), thread_x() * V);
    for k in (0..PLANES).step_by(256 / (SIDE * SIDE)) {
        let c = block_x() * PLANES + thread_z() + k;
        let mut word = Vector::<T, V>::splat(0);
        if c < input.extent(2) && row < input.extent(3) && col < input.extent(4) {
            word = input.read::<V>([a, b, c, row, col]);
        }
        tile.write([thread_z() + k, thread_y(), thread_x() * V], word);
    }
    sync_threads();

    for k in (0..PLANES).step_by(256 / (SIDE * SIDE)) {
        let c = block_x() * PLANES + thread_z() + k;
        let word = tile.read::<V>([thread_z() + k, thread_x(), thread_y() * V]);
        if c < output.extent(2) && row < output.extent(3) && col < output.extent(4) {
            output.write([a, b, c, row, col], word);
        }
    }
}
