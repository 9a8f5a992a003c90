//! Transposes of large planes whose rows are aligned to 16 bytes on both sides: every access moves 16 bytes a lane.
//!
//! A thread reads `H` vectors that lie below each other and turns them in registers, so that what it puts into shared memory are
//! vectors as well. Neighbouring blocks are neighbours in the rows of the output: that order is worth 2 to 3 percent. Rows of 256
//! bytes on both sides come closest to a copy.

use crate::prelude::*;

/// Turns tiles of `ROWS` × `COLS` elements, `V` of them in 16 bytes. So many lanes read neighbours as serve shared memory well:
/// where possible a row of 256 bytes.
#[tiled_kernel(
    block = [LANES, ROWS / H, COLS / V / LANES],
    grid = [
        input.extent(3).div_ceil(ROWS),
        input.extent(4).div_ceil(COLS),
        input.extent(0) * input.extent(1) * input.extent(2),
    ],
    requires(
        output.extent(0) == input.extent(0),
        output.extent(1) == input.extent(1),
        output.extent(2) == input.extent(2),
        output.extent(3) == input.extent(4),
        output.extent(4) == input.extent(3),
        input.extent(4).is_multiple_of(V),
        output.extent(4).is_multiple_of(V),
    ),
    instances(
        (u16, 8, 4, 8, 128, 128, Swizzle<3, 3, 7>),
        (u32, 4, 4, 16, 64, 64, Swizzle<3, 2, 6>),
        (u64, 2, 2, 16, 32, 32, Swizzle<3, 1, 5>),
    ),
)]
pub(crate) fn wide<
    T,
    const V: usize,
    const H: usize,
    const LANES: usize,
    const ROWS: usize,
    const COLS: usize,
    L,
>(
    input: &Tensor<T, 5>,
    output: &mut Tensor<T, 5>,
) {
    let mut tile = Shared::<[[T; ROWS]; COLS], L>::new();
    let [a, b, c] = unflatten(block_z(), [input.extent(0), input.extent(1), input.extent(2)]);
    let (row0, col0) = (block_x() * ROWS, block_y() * COLS);
    let (x, y) = (thread_x() + LANES * thread_z(), thread_y());
    let mut turned = [Vector::<T, H>::splat(0); V];
    for i in 0..H {
        let (row, col) = (row0 + H * y + i, col0 + V * x);
        if row < input.extent(3) && col < input.extent(4) {
            let elements = input.read::<V>([a, b, c, row, col]);
            for j in 0..V {
                turned[j][i] = elements[j];
            }
        }
    }
    for j in 0..V {
        tile.write([V * x + j, H * y], turned[j]);
    }
    sync_threads();

    let thread = thread_x() + LANES * (thread_y() + ROWS / H * thread_z());
    let (x, y) = (thread % (ROWS / V), thread / (ROWS / V));
    for k in (0..COLS).step_by(COLS / H) {
        let (row, col) = (col0 + k + y, row0 + V * x);
        let elements = tile.read::<V>([k + y, V * x]);
        if row < output.extent(3) && col < output.extent(4) {
            output.write([a, b, c, row, col], elements);
        }
    }
}

/// The same for planes of 32 columns of 4 bytes, two planes a block: where they lie side by side in the input, a row of both takes
/// 256 bytes.
#[tiled_kernel(
    block = [16, 16],
    grid = [
        input.extent(3).div_ceil(64),
        input.extent(2).div_ceil(2),
        input.extent(0) * input.extent(1),
    ],
    requires(
        output.extent(0) == input.extent(0),
        output.extent(1) == input.extent(1),
        output.extent(2) == input.extent(2),
        output.extent(3) == input.extent(4),
        output.extent(4) == input.extent(3),
        input.extent(4) == 32,
        output.extent(4).is_multiple_of(4),
    ),
)]
pub(crate) fn wide_pairs(input: &Tensor<u32, 5>, output: &mut Tensor<u32, 5>) {
    let mut tile = Shared::<[[u32; 64]; 64], Swizzle<3, 2, 6>>::new();
    let [a, b] = unflatten(block_z(), [input.extent(0), input.extent(1)]);
    let (row0, plane0) = (block_x() * 64, block_y() * 2);
    let (x, y) = (thread_x(), thread_y());
    let mut turned = [Vector::<u32, 4>::splat(0); 4];
    for i in 0..4 {
        let (row, plane) = (row0 + 4 * y + i, plane0 + x / 8);
        if row < input.extent(3) && plane < input.extent(2) {
            let elements = input.read::<4>([a, b, plane, row, 4 * (x % 8)]);
            for j in 0..4 {
                turned[j][i] = elements[j];
            }
        }
    }
    for j in 0..4 {
        tile.write([4 * x + j, 4 * y], turned[j]);
    }
    sync_threads();

    for k in (0..64).step_by(16) {
        let (plane, row, col) = (plane0 + k / 32, (k + y) % 32, row0 + 4 * x);
        let elements = tile.read::<4>([k + y, 4 * x]);
        if plane < output.extent(2) && col < output.extent(4) {
            output.write([a, b, plane, row, col], elements);
        }
    }
}

/// The same for bytes, four of them in a word: squares of 4 × 4 are turned in registers.
#[tiled_kernel(
    block = [8, 32, 2],
    grid = [
        output.extent(4).div_ceil(64),
        input.extent(4).div_ceil(64),
        input.extent(0) * input.extent(1) * input.extent(2),
    ],
    requires(
        output.extent(0) == input.extent(0),
        output.extent(1) == input.extent(1),
        output.extent(2) == input.extent(2),
        output.extent(3) == 4 * input.extent(4),
        input.extent(3) == 4 * output.extent(4),
        input.extent(4).is_multiple_of(4),
        output.extent(4).is_multiple_of(4),
    ),
)]
pub(crate) fn wide_bytes(input: &Tensor<u32, 5>, output: &mut Tensor<u32, 5>) {
    let mut tile = Shared::<[[u32; 64]; 256], Swizzle<3, 2, 8>>::new();
    let [a, b, c] = unflatten(block_z(), [input.extent(0), input.extent(1), input.extent(2)]);
    let (row0, col0) = (block_x() * 64, block_y() * 64);
    let (x, y) = (thread_x() + 8 * thread_z(), thread_y());
    for k in (0..64).step_by(32) {
        let mut words = [[0; 4]; 4];
        for i in 0..4 {
            let (row, col) = (4 * (row0 + k + y) + i, col0 + 4 * x);
            if row < input.extent(3) && col < input.extent(4) {
                let four = input.read::<4>([a, b, c, row, col]);
                for j in 0..4 {
                    words[j][i] = four[j];
                }
            }
        }
        for j in 0..4 {
            let [w0, w1, w2, w3] = words[j];
            let (even, odd) =
                (w0 & 0x00ff00ff | w1 << 8 & 0xff00ff00, w0 >> 8 & 0x00ff00ff | w1 & 0xff00ff00);
            let (even_2, odd_2) =
                (w2 & 0x00ff00ff | w3 << 8 & 0xff00ff00, w2 >> 8 & 0x00ff00ff | w3 & 0xff00ff00);
            tile[16 * x + 4 * j][k + y] = even & 0xffff | even_2 << 16;
            tile[16 * x + 4 * j + 1][k + y] = odd & 0xffff | odd_2 << 16;
            tile[16 * x + 4 * j + 2][k + y] = even >> 16 | even_2 & 0xffff0000;
            tile[16 * x + 4 * j + 3][k + y] = odd >> 16 | odd_2 & 0xffff0000;
        }
    }
    sync_threads();

    let thread = thread_x() + 8 * (thread_y() + 32 * thread_z());
    let (x, y) = (thread % 16, thread / 16);
    for k in (0..256).step_by(32) {
        let (row, col) = (4 * col0 + k + y, row0 + 4 * x);
        let four = tile.read::<4>([k + y, 4 * x]);
        if row < output.extent(3) && col < output.extent(4) {
            output.write([a, b, c, row, col], four);
        }
    }
}
