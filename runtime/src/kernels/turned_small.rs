//! Transposes of many small planes.

use crate::prelude::*;

/// Turns `PLANES` neighbouring planes in one block, in tiles of `SIDE` × `SIDE` words of `V` elements.
#[tiled_kernel(
    block = [SIDE, SIDE, 256 / (SIDE * SIDE)],
    grid = [
        input.extent(0) * input.extent(1) * input.extent(2).div_ceil(PLANES)
            * input.extent(3).div_ceil(SIDE) * input.extent(4).div_ceil(SIDE * V),
    ],
    requires(
        output.extent(0) == input.extent(0),
        output.extent(1) == input.extent(1),
        output.extent(2) == input.extent(2),
        output.extent(3) * V == input.extent(4),
        output.extent(4) == input.extent(3) * V,
        input.extent(4).is_multiple_of(V),
        output.extent(4).is_multiple_of(V),
    ),
    instances(
        (u16, 1, 16, 4, Auto),
        (u32, 1, 8, 16, Auto),
        (u64, 1, 8, 16, Auto),
        (u32, 4, 8, 16, Auto),
    ),
)]
pub(crate) fn turned_small<T, const V: usize, const SIDE: usize, const PLANES: usize, L>(
    input: &Tensor<T, 5>,
    output: &mut Tensor<T, 5>,
) {
    let mut tile = Shared::<[[[T; SIDE * V]; SIDE]; PLANES], L>::new();
    let [a, b, planes, row_block, col_block] = unflatten(
        block_x(),
        [
            input.extent(0),
            input.extent(1),
            input.extent(2).div_ceil(PLANES),
            input.extent(3).div_ceil(SIDE),
            input.extent(4).div_ceil(SIDE * V),
        ],
    );
    let (row, col) = (row_block * SIDE + thread_y(), (col_block * SIDE + thread_x()) * V);
    for k in (0..PLANES).step_by(256 / (SIDE * SIDE)) {
        let c = planes * PLANES + thread_z() + k;
        let mut word = Vector::<T, V>::splat(0);
        if c < input.extent(2) && row < input.extent(3) && col < input.extent(4) {
            word = input.read::<V>([a, b, c, row, col]);
        }
        tile.write([thread_z() + k, thread_y(), thread_x() * V], word);
    }
    sync_threads();

    let (row, col) = (col_block * SIDE + thread_y(), (row_block * SIDE + thread_x()) * V);
    for k in (0..PLANES).step_by(256 / (SIDE * SIDE)) {
        let c = planes * PLANES + thread_z() + k;
        let word = tile.read::<V>([thread_z() + k, thread_x(), thread_y() * V]);
        if c < output.extent(2) && row < output.extent(3) && col < output.extent(4) {
            output.write([a, b, c, row, col], word);
        }
    }
}
