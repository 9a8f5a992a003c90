//! Transposes of large planes, under up to three other dimensions.

use crate::prelude::*;

/// Turns a tile of `ROWS` × `COLS` words of `V` elements in shared memory, so that both sides are moved along their rows. Neighbouring blocks
/// are neighbours in the rows of the output.
#[tiled_kernel(
    block = [COLS, 256 / COLS],
    grid = [
        input.extent(3).div_ceil(ROWS),
        input.extent(4).div_ceil(COLS * V),
        input.extent(0) * input.extent(1) * input.extent(2),
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
        (u8, 1, 32, 32, Pad<4>),
        (u16, 1, 32, 32, Pad<2>),
        (u32, 1, 32, 32, Pad<1>),
        (u64, 1, 32, 32, Pad<1>),
        (u32, 4, 32, 32, Pad<4>),
        (u32, 1, 128, 8, Swizzle<3, 0, 5>),
        (u64, 1, 128, 8, Swizzle<3, 0, 4>),
        (u32, 4, 128, 8, Xor<4>),
        (u32, 1, 8, 128, Xor<4>),
        (u64, 1, 8, 128, Xor<2>),
        (u32, 4, 8, 128, Xor<4>),
    ),
)]
pub(crate) fn turned<T, const V: usize, const ROWS: usize, const COLS: usize, L>(
    input: &Tensor<T, 5>,
    output: &mut Tensor<T, 5>,
) {
    let mut tile = Shared::<[[T; COLS * V]; ROWS], L>::new();
    let [a, b, c] = unflatten(block_z(), [input.extent(0), input.extent(1), input.extent(2)]);
    let (row0, col) = (block_x() * ROWS + thread_y(), (block_y() * COLS + thread_x()) * V);
    for k in (0..ROWS).step_by(256 / COLS) {
        let mut word = Vector::<T, V>::splat(0);
        if row0 + k < input.extent(3) && col < input.extent(4) {
            word = input.read::<V>([a, b, c, row0 + k, col]);
        }
        tile.write([thread_y() + k, thread_x() * V], word);
    }
    sync_threads();

    let thread = thread_y() * COLS + thread_x();
    let (turned_x, turned_y) = (thread % ROWS, thread / ROWS);
    let (row0, col) = (block_y() * COLS + turned_y, (block_x() * ROWS + turned_x) * V);
    for k in (0..COLS).step_by(256 / ROWS) {
        let word = tile.read::<V>([turned_x, (turned_y + k) * V]);
        if row0 + k < output.extent(3) && col < output.extent(4) {
            output.write([a, b, c, row0 + k, col], word);
        }
    }
}
