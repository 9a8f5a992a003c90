//! Copies whose innermost dimension is contiguous on both sides.

use crate::prelude::*;

/// `LANES` neighbouring threads move a row, in words of `V` elements; each thread moves a word of `K` rows.
#[tiled_kernel(
    block = [LANES, 256 / LANES],
    grid = [
        input.extent(4).div_ceil(LANES * V),
        input.extent(3).div_ceil(256 * K / LANES),
        input.extent(0) * input.extent(1) * input.extent(2),
    ],
    requires(
        output.extent(0) == input.extent(0),
        output.extent(1) == input.extent(1),
        output.extent(2) == input.extent(2),
        output.extent(3) == input.extent(3),
        output.extent(4) == input.extent(4),
        input.extent(4).is_multiple_of(V),
    ),
    instances(
        (u8, 1, 32, 4),
        (u16, 1, 32, 4),
        (u32, 1, 32, 4),
        (u64, 1, 32, 2),
        (u32, 4, 32, 1),
    ),
)]
pub(crate) fn rows<T, const V: usize, const LANES: usize, const K: usize>(
    input: &Tensor<T, 5>,
    output: &mut Tensor<T, 5>,
) {
    let [a, b, c] = unflatten(block_z(), [input.extent(0), input.extent(1), input.extent(2)]);
    let mut words = [Vector::<T, V>::splat(0); K];
    let (row, col) = (block_y() * (256 * K / LANES) + thread_y(), (block_x() * LANES + thread_x()) * V);
    for k in 0..K {
        if row + 256 / LANES * k < input.extent(3) && col < input.extent(4) {
            words[k] = input.read::<V>([a, b, c, row + 256 / LANES * k, col]);
        }
    }
    for k in 0..K {
        if row + 256 / LANES * k < output.extent(3) && col < output.extent(4) {
            output.write([a, b, c, row + 256 / LANES * k, col], words[k]);
        }
    }
}

/// The same for short rows, which `LANES` threads move at once. A block's place takes no division, which these would notice: of their
/// bytes, few are in one block.
#[tiled_kernel(
    block = [LANES, 256 / LANES],
    grid = [input.extent(2).div_ceil(256 * K / LANES), input.extent(1), input.extent(0)],
    requires(
        output.extent(0) == input.extent(0),
        output.extent(1) == input.extent(1),
        output.extent(2) == input.extent(2),
        output.extent(3) == input.extent(3),
        input.extent(3).is_multiple_of(V),
        input.extent(3) <= LANES * V,
    ),
    instances((u32, 1, 8, 4), (u64, 1, 8, 2), (u32, 4, 8, 1)),
)]
pub(crate) fn short_rows<T, const V: usize, const LANES: usize, const K: usize>(
    input: &Tensor<T, 4>,
    output: &mut Tensor<T, 4>,
) {
    let (a, b) = (block_z(), block_y());
    let mut words = [Vector::<T, V>::splat(0); K];
    let (row, col) = (block_x() * (256 * K / LANES) + thread_y(), thread_x() * V);
    for k in 0..K {
        if row + 256 / LANES * k < input.extent(2) && col < input.extent(3) {
            words[k] = input.read::<V>([a, b, row + 256 / LANES * k, col]);
        }
    }
    for k in 0..K {
        if row + 256 / LANES * k < output.extent(2) && col < output.extent(3) {
            output.write([a, b, row + 256 / LANES * k, col], words[k]);
        }
    }
}
