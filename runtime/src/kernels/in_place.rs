//! Transposes of square matrices in place.

use crate::prelude::*;

/// A block on or below the diagonal exchanges its tile and the one across the diagonal, both turned; the others have no work.
#[tiled_kernel(
    block = [32, 8],
    grid = [matrix.cols().div_ceil(32), matrix.rows().div_ceil(32)],
    requires(matrix.rows() == matrix.cols()),
    instances((u8, Pad<4>), (u16, Pad<2>), (u32, Pad<1>), (u64, Pad<1>)),
)]
pub(crate) fn in_place<T, L>(matrix: &mut Matrix<T>) {
    let mut below = Shared::<[[T; 32]; 32], L>::new();
    let mut above = Shared::<[[T; 32]; 32], L>::new();
    if block_x() <= block_y() {
        let (row0, col) = (block_y() * 32 + thread_y(), block_x() * 32 + thread_x());
        let (across0, across) = (block_x() * 32 + thread_y(), block_y() * 32 + thread_x());
        for k in (0..32).step_by(8) {
            if row0 + k < matrix.rows() && col < matrix.cols() {
                below[thread_y() + k][thread_x()] = matrix[[row0 + k, col]];
            }
        }
        if block_x() < block_y() {
            for k in (0..32).step_by(8) {
                if across0 + k < matrix.rows() && across < matrix.cols() {
                    above[thread_y() + k][thread_x()] = matrix[[across0 + k, across]];
                }
            }
        }
        sync_threads();

        for k in (0..32).step_by(8) {
            if across0 + k < matrix.rows() && across < matrix.cols() {
                matrix[[across0 + k, across]] = below[thread_x()][thread_y() + k];
            }
        }
        if block_x() < block_y() {
            for k in (0..32).step_by(8) {
                if row0 + k < matrix.rows() && col < matrix.cols() {
                    matrix[[row0 + k, col]] = above[thread_x()][thread_y() + k];
                }
            }
        }
    }
}

/// The same in vectors of 16 bytes, tiles of `SIDE` × `SIDE` elements: a row of 256 bytes.
#[tiled_kernel(
    block = [16, 16],
    grid = [matrix.rows().div_ceil(SIDE), matrix.rows().div_ceil(SIDE)],
    requires(matrix.rows() == matrix.cols(), matrix.cols().is_multiple_of(V)),
    instances((u32, 4, 64, Swizzle<3, 2, 6>), (u64, 2, 32, Swizzle<3, 1, 5>)),
)]
pub(crate) fn in_place_wide<T, const V: usize, const SIDE: usize, L>(matrix: &mut Matrix<T>) {
    let mut tiles = Shared::<[[[T; SIDE]; SIDE]; 2], L>::new();
    let (low, high) = (block_y() * SIDE, block_x() * SIDE);
    if low > high {
        return;
    }
    let (x, y) = (V * thread_x(), V * thread_y());
    for side in 0..2 {
        let (from, across) = if side == 0 { (high, low) } else { (low, high) };
        let mut square = [Vector::<T, V>::splat(0); V];
        for i in 0..V {
            if from + y + i < matrix.rows() && across + x < matrix.rows() {
                let row = matrix.read::<V>([from + y + i, across + x]);
                for j in 0..V {
                    square[j][i] = row[j];
                }
            }
        }
        for j in 0..V {
            tiles.write([side, x + j, y], square[j]);
        }
    }
    sync_threads();
    let (x, y) = (V * thread_x(), thread_y());
    for side in 0..2 {
        let (from, across) = if side == 0 { (low, high) } else { (high, low) };
        for k in (0..SIDE).step_by(16) {
            let row = tiles.read::<V>([side, y + k, x]);
            if from + y + k < matrix.rows() && across + x < matrix.rows() && (side == 0 || low < high) {
                matrix.write([from + y + k, across + x], row);
            }
        }
    }
}
