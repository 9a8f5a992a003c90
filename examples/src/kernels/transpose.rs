//! The transpose ladder: from a plain copy to a transpose that moves 16 bytes a lane on both sides.
//!
//! All but the last have tiles of 32×32 and 32×8 threads, four rows a thread. What a step costs is in its budgets; a
//! kernel without one is proven to have no bank conflict and to use every byte that it moves.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

// ANCHOR: copy
/// The ceiling: what a transpose could reach if turning were free.
#[tiled_kernel(
    block = [32, 8],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(32)],
    requires(output.rows() == input.rows(), output.cols() == input.cols()),
)]
pub fn copy(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let (row0, col) = (block_y() * 32 + thread_y(), block_x() * 32 + thread_x());
    for k in (0..32).step_by(8) {
        if row0 + k < input.rows() && col < input.cols() {
            output[[row0 + k, col]] = input[[row0 + k, col]];
        }
    }
}
// ANCHOR_END: copy

// ANCHOR: transpose_naive
/// Reads rows, writes columns: each lane of a store is in a row of its own.
#[tiled_kernel(
    block = [32, 8],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(32)],
    requires(output.rows() == input.cols(), output.cols() == input.rows()),
)]
pub fn transpose_naive(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let (row0, col) = (block_y() * 32 + thread_y(), block_x() * 32 + thread_x());
    for k in (0..32).step_by(8) {
        if row0 + k < input.rows() && col < input.cols() {
            #[budget(excess_sectors = 28, because = "shows what an uncoalesced store costs")]
            output[[col, row0 + k]] = input[[row0 + k, col]];
        }
    }
}
// ANCHOR_END: transpose_naive

// ANCHOR: transpose_shared
/// Turns the tile in shared memory, so both global sides are rows; reading a column of the tile hits one bank 32 times.
#[tiled_kernel(
    block = [32, 8],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(32)],
    requires(output.rows() == input.cols(), output.cols() == input.rows()),
)]
pub fn transpose_shared(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let mut tile = Shared::<[[f32; 32]; 32]>::new();

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
            #[budget(bank_conflict = 31, because = "shows what a 32-way bank conflict costs")]
            output[[row0 + k, col]] = tile[thread_x()][thread_y() + k];
        }
    }
}
// ANCHOR_END: transpose_shared

// ANCHOR: transpose_padded
/// One unused element after each row moves every row to the next bank.
#[tiled_kernel(
    block = [32, 8],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(32)],
    requires(output.rows() == input.cols(), output.cols() == input.rows()),
)]
pub fn transpose_padded(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let mut tile = Shared::<[[f32; 32]; 32], Pad<1>>::new();

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
// ANCHOR_END: transpose_padded

// ANCHOR: transpose_xor
/// The column of an element is exchanged with `column ^ row`: no memory is lost, and no two rows agree on a bank.
#[tiled_kernel(
    block = [32, 8],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(32)],
    requires(output.rows() == input.cols(), output.cols() == input.rows()),
)]
pub fn transpose_xor(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let mut tile = Shared::<[[f32; 32]; 32], Xor<1>>::new();

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
// ANCHOR_END: transpose_xor

// ANCHOR: transpose_vectorised
/// Each thread turns a 4×4 square in registers; squares are turned in shared memory, and every access moves 16 bytes.
///
/// Neighbouring blocks are neighbours in the rows of the output: writes are what DRAM is particular about.
#[tiled_kernel(
    block = [16, 16],
    grid = [input.rows().div_ceil(64), input.cols().div_ceil(64)],
    requires(
        output.rows() == input.cols(),
        output.cols() == input.rows(),
        input.rows().is_multiple_of(4),
        input.cols().is_multiple_of(4),
    ),
)]
pub fn transpose_vectorised(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let mut tile = Shared::<[[f32; 64]; 64], Swizzle<4, 2, 6>>::new();
    let mut square = [[0.0f32; 4]; 4];

    let (row0, col) = (block_x() * 64 + 4 * thread_y(), block_y() * 64 + 4 * thread_x());
    for i in 0..4 {
        if row0 + i < input.rows() && col < input.cols() {
            let row = input.read::<4>([row0 + i, col]);
            for j in 0..4 {
                square[j][i] = row[j];
            }
        }
    }
    for j in 0..4 {
        tile.write([4 * thread_x() + j, 4 * thread_y()], Vector::new(square[j]));
    }
    sync_threads();

    let (row0, col) = (block_y() * 64 + thread_y(), block_x() * 64 + 4 * thread_x());
    for i in (0..64).step_by(16) {
        if row0 + i < output.rows() && col < output.cols() {
            let row = tile.read::<4>([thread_y() + i, 4 * thread_x()]);
            output.write([row0 + i, col], row);
        }
    }
}
// ANCHOR_END: transpose_vectorised

fn copied(input: &Array<f32, 2>, output: &mut Array<f32, 2>) {
    for row in 0..input.rows() {
        for col in 0..input.cols() {
            output[[row, col]] = input[[row, col]];
        }
    }
}

fn transposed(input: &Array<f32, 2>, output: &mut Array<f32, 2>) {
    for row in 0..input.rows() {
        for col in 0..input.cols() {
            output[[col, row]] = input[[row, col]];
        }
    }
}

macro_rules! transpose {
    ($kernel:ident) => {
        subject! {
            kernel: $kernel(read input, write output),
            reference: transposed,
            sizes: [r, c]: [64, 0] [0, 5] [1, 1] [31, 33] [33, 31] [64, 64] [65, 129] [200, 177],
            counted: [2048, 2048] [200, 177] [1, 300],
            data: |data| (data.random([r, c]), data.output([c, r])),
        }
    };
}

/// [`copy`] with edges on both sides of a tile's.
pub const COPY: Subject = subject! {
    kernel: copy(read input, write output),
    reference: copied,
    sizes: [r, c]: [64, 0] [0, 5] [1, 1] [31, 33] [33, 31] [64, 64] [65, 129] [200, 177],
    counted: [2048, 2048] [200, 177] [1, 300],
    data: |data| (data.random([r, c]), data.output([r, c])),
};

/// [`transpose_naive`] with edges on both sides of a tile's.
pub const TRANSPOSE_NAIVE: Subject = transpose!(transpose_naive);
/// [`transpose_shared`] with edges on both sides of a tile's.
pub const TRANSPOSE_SHARED: Subject = transpose!(transpose_shared);
/// [`transpose_padded`] with edges on both sides of a tile's.
pub const TRANSPOSE_PADDED: Subject = transpose!(transpose_padded);
/// [`transpose_xor`] with edges on both sides of a tile's.
pub const TRANSPOSE_XOR: Subject = transpose!(transpose_xor);

/// [`transpose_vectorised`] with edges on both sides of a tile's.
pub const TRANSPOSE_VECTORISED: Subject = subject! {
    kernel: transpose_vectorised(read input, write output),
    reference: transposed,
    sizes: [r, c]: [64, 0] [0, 8] [4, 4] [60, 68] [68, 132] [128, 64] [200, 180],
    counted: [2048, 2048] [200, 180] [4, 300],
    data: |data| (data.random([r, c]), data.output([c, r])),
    gap: 12,
};
