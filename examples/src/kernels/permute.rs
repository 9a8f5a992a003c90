//! Transposes beyond the ladder: batches, other element types, three dimensions.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// `[B, R, C]` to `[B, C, R]`: the ladder's padded transpose, a matrix of the batch a layer of the grid.
#[tiled_kernel(
    block = [32, 8],
    grid = [input.extent(2).div_ceil(32), input.extent(1).div_ceil(32), input.extent(0)],
    requires(
        output.extent(0) == input.extent(0),
        output.extent(1) == input.extent(2),
        output.extent(2) == input.extent(1),
    ),
)]
pub fn transpose_batched(input: &Tensor<f32, 3>, output: &mut Tensor<f32, 3>) {
    let mut tile = Shared::<[[f32; 32]; 32], Pad<1>>::new();
    let batch = block_z();

    let (row0, col) = (block_y() * 32 + thread_y(), block_x() * 32 + thread_x());
    for k in (0..32).step_by(8) {
        if row0 + k < input.extent(1) && col < input.extent(2) {
            tile[thread_y() + k][thread_x()] = input[[batch, row0 + k, col]];
        }
    }
    sync_threads();

    let (row0, col) = (block_x() * 32 + thread_y(), block_y() * 32 + thread_x());
    for k in (0..32).step_by(8) {
        if row0 + k < output.extent(1) && col < output.extent(2) {
            output[[batch, row0 + k, col]] = tile[thread_x()][thread_y() + k];
        }
    }
}

fn batched_reference(input: &Array<f32, 3>, output: &mut Array<f32, 3>) {
    let [batches, rows, cols] = input.extents();
    for b in 0..batches {
        for row in 0..rows {
            for col in 0..cols {
                output[[b, col, row]] = input[[b, row, col]];
            }
        }
    }
}

/// [`transpose_batched`] with edges on both sides of a tile's.
pub const TRANSPOSE_BATCHED: Subject = subject! {
    kernel: transpose_batched(read input, write output),
    reference: batched_reference,
    sizes: [b, r, c]: [0, 3, 5] [3, 0, 5] [1, 1, 1] [3, 31, 33] [2, 64, 32] [5, 7, 67],
    counted: [4, 256, 128] [5, 41, 67] [3, 1, 300],
    data: |data| (data.random([b, r, c]), data.output([b, c, r])),
};

/// The transpose of a matrix of bytes. Each lane moves four of them, so that a warp's row is 128 bytes; the 4×4 squares are
/// turned in registers and their places exchanged in shared memory.
#[tiled_kernel(
    block = [32, 8],
    grid = [input.cols().div_ceil(128), input.rows().div_ceil(128)],
    requires(
        output.rows() == input.cols(),
        output.cols() == input.rows(),
        input.rows().is_multiple_of(4),
        input.cols().is_multiple_of(4),
    ),
)]
pub fn transpose_u8(input: &Matrix<u8>, output: &mut Matrix<u8>) {
    let mut tile = Shared::<[[u8; 128]; 128], Swizzle<5, 2, 7>>::new();
    let mut square = [[0u8; 4]; 4];

    let (row0, col) = (block_y() * 128, block_x() * 128 + 4 * thread_x());
    for k in (0..128).step_by(32) {
        let row = k + 4 * thread_y();
        for i in 0..4 {
            if row0 + row + i < input.rows() && col < input.cols() {
                let bytes = input.read::<4>([row0 + row + i, col]);
                for j in 0..4 {
                    square[j][i] = bytes[j];
                }
            }
        }
        for j in 0..4 {
            tile.write([4 * thread_x() + j, row], Vector::new(square[j]));
        }
    }
    sync_threads();

    let (row0, col) = (block_x() * 128, block_y() * 128 + 4 * thread_x());
    for k in (0..128).step_by(8) {
        let row = k + thread_y();
        if row0 + row < output.rows() && col < output.cols() {
            output.write([row0 + row, col], tile.read::<4>([row, 4 * thread_x()]));
        }
    }
}

fn u8_reference(input: &Array<u8, 2>, output: &mut Array<u8, 2>) {
    for row in 0..input.rows() {
        for col in 0..input.cols() {
            output[[col, row]] = input[[row, col]];
        }
    }
}

/// [`transpose_u8`] with edges on both sides of a tile's.
pub const TRANSPOSE_U8: Subject = subject! {
    kernel: transpose_u8(read input, write output),
    reference: u8_reference,
    sizes: [r, c]: [0, 4] [4, 4] [124, 132] [128, 256] [68, 388],
    counted: [512, 256] [132, 388] [4, 512],
    data: |data| (data.random([r, c]), data.output([c, r])),
    gap: 12,
};

/// The transpose of a matrix of halves. A lane moves two of them, so that a warp's row is 128 bytes; the 2×2 squares are turned
/// in registers and their places exchanged in shared memory, where a word holds two elements.
#[tiled_kernel(
    block = [32, 8],
    grid = [input.cols().div_ceil(64), input.rows().div_ceil(64)],
    requires(
        output.rows() == input.cols(),
        output.cols() == input.rows(),
        input.rows().is_multiple_of(2),
        input.cols().is_multiple_of(2),
    ),
)]
pub fn transpose_f16(input: &Matrix<f16>, output: &mut Matrix<f16>) {
    let mut tile = Shared::<[[f16; 64]; 64], Swizzle<5, 1, 6>>::new();
    let mut square = [[f16::ZERO; 2]; 2];

    let (row0, col) = (block_y() * 64, block_x() * 64 + 2 * thread_x());
    for k in (0..64).step_by(16) {
        let row = k + 2 * thread_y();
        for i in 0..2 {
            if row0 + row + i < input.rows() && col < input.cols() {
                let halves = input.read::<2>([row0 + row + i, col]);
                for j in 0..2 {
                    square[j][i] = halves[j];
                }
            }
        }
        for j in 0..2 {
            tile.write([2 * thread_x() + j, row], Vector::new(square[j]));
        }
    }
    sync_threads();

    let (row0, col) = (block_x() * 64, block_y() * 64 + 2 * thread_x());
    for k in (0..64).step_by(8) {
        let row = k + thread_y();
        if row0 + row < output.rows() && col < output.cols() {
            output.write([row0 + row, col], tile.read::<2>([row, 2 * thread_x()]));
        }
    }
}

fn f16_reference(input: &Array<f16, 2>, output: &mut Array<f16, 2>) {
    for row in 0..input.rows() {
        for col in 0..input.cols() {
            output[[col, row]] = input[[row, col]];
        }
    }
}

/// [`transpose_f16`] with edges on both sides of a tile's.
pub const TRANSPOSE_F16: Subject = subject! {
    kernel: transpose_f16(read input, write output),
    reference: f16_reference,
    sizes: [r, c]: [0, 2] [2, 2] [62, 66] [64, 128] [6, 134],
    counted: [256, 128] [62, 134] [2, 512],
    data: |data| (data.random([r, c]), data.output([c, r])),
    gap: 6,
};

/// The transpose of a matrix of doubles: one unused element after each row, as for floats.
#[tiled_kernel(
    block = [32, 8],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(32)],
    requires(output.rows() == input.cols(), output.cols() == input.rows()),
)]
pub fn transpose_f64(input: &Matrix<f64>, output: &mut Matrix<f64>) {
    let mut tile = Shared::<[[f64; 32]; 32], Pad<1>>::new();

    let (row0, col) = (block_y() * 32 + thread_y(), block_x() * 32 + thread_x());
    for k in (0..32).step_by(8) {
        if row0 + k < input.rows() && col < input.cols() {
            tile[thread_y() + k][thread_x()] = input[[row0 + k, col]];
        }
    }
    sync_threads();

    let (row0, col) = (block_x() * 32 + thread_y(), block_y() * 32 + thread_x());
    for k in (0..32).step_by(8) {
        if row0 + k < output.rows() && col < output.cols() {
            output[[row0 + k, col]] = tile[thread_x()][thread_y() + k];
        }
    }
}

fn f64_reference(input: &Array<f64, 2>, output: &mut Array<f64, 2>) {
    for row in 0..input.rows() {
        for col in 0..input.cols() {
            output[[col, row]] = input[[row, col]];
        }
    }
}

/// [`transpose_f64`] with edges on both sides of a tile's.
pub const TRANSPOSE_F64: Subject = subject! {
    kernel: transpose_f64(read input, write output),
    reference: f64_reference,
    sizes: [r, c]: [0, 5] [1, 1] [31, 33] [64, 32] [7, 67],
    counted: [256, 128] [41, 67] [1, 300],
    data: |data| (data.random([r, c]), data.output([c, r])),
};

/// `[A, B, C]` to `[C, B, A]`. The tile spans the innermost extents of both sides; the middle one is a layer of the grid.
#[tiled_kernel(
    block = [32, 8],
    grid = [input.extent(2).div_ceil(32), input.extent(0).div_ceil(32), input.extent(1)],
    requires(
        output.extent(0) == input.extent(2),
        output.extent(1) == input.extent(1),
        output.extent(2) == input.extent(0),
    ),
)]
pub fn permute_reversed(input: &Tensor<f32, 3>, output: &mut Tensor<f32, 3>) {
    let mut tile = Shared::<[[f32; 32]; 32], Pad<1>>::new();
    let b = block_z();

    let (a0, c) = (block_y() * 32 + thread_y(), block_x() * 32 + thread_x());
    for k in (0..32).step_by(8) {
        if a0 + k < input.extent(0) && c < input.extent(2) {
            tile[thread_y() + k][thread_x()] = input[[a0 + k, b, c]];
        }
    }
    sync_threads();

    let (c0, a) = (block_x() * 32 + thread_y(), block_y() * 32 + thread_x());
    for k in (0..32).step_by(8) {
        if c0 + k < output.extent(0) && a < output.extent(2) {
            output[[c0 + k, b, a]] = tile[thread_x()][thread_y() + k];
        }
    }
}

fn reversed_reference(input: &Array<f32, 3>, output: &mut Array<f32, 3>) {
    let [a_extent, b_extent, c_extent] = input.extents();
    for a in 0..a_extent {
        for b in 0..b_extent {
            for c in 0..c_extent {
                output[[c, b, a]] = input[[a, b, c]];
            }
        }
    }
}

/// [`permute_reversed`] with edges on both sides of a tile's.
pub const PERMUTE_REVERSED: Subject = subject! {
    kernel: permute_reversed(read input, write output),
    reference: reversed_reference,
    sizes: [a, b, c]: [3, 0, 5] [1, 1, 1] [31, 3, 33] [64, 2, 32] [7, 5, 67],
    counted: [128, 4, 256] [41, 3, 67] [1, 5, 300],
    data: |data| (data.random([a, b, c]), data.output([c, b, a])),
};
