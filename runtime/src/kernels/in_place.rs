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

/// The same in vectors of 16 bytes, tiles of `SIDE` × `SIDE` elements.
#[tiled_kernel(
    block = [8, SIDE / V, SIDE / V / 8],
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
    let (x, y) = (V * (thread_x() + 8 * thread_z()), V * thread_y());
    let mut squares = [[Vector::<T, V>::splat(0); V]; 2];
    for i in 0..V {
        if high + y + i < matrix.rows() && low + x < matrix.rows() {
            let row = matrix.read::<V>([high + y + i, low + x]);
            for j in 0..V {
                squares[0][j][i] = row[j];
            }
        }
        if low + y + i < matrix.rows() && high + x < matrix.rows() {
            let row = matrix.read::<V>([low + y + i, high + x]);
            for j in 0..V {
                squares[1][j][i] = row[j];
            }
        }
    }
    for j in 0..V {
        tiles.write([0, x + j, y], squares[0][j]);
        tiles.write([1, x + j, y], squares[1][j]);
    }
    sync_threads();
    let thread = thread_x() + 8 * (thread_y() + SIDE / V * thread_z());
    let (x, y) = (V * (thread % (SIDE / V)), thread / (SIDE / V));
    for k in (0..SIDE).step_by(SIDE / V) {
        let (first, second) = (tiles.read::<V>([0, y + k, x]), tiles.read::<V>([1, y + k, x]));
        if low + y + k < matrix.rows() && high + x < matrix.rows() {
            matrix.write([low + y + k, high + x], first);
        }
        if high + y + k < matrix.rows() && low + x < matrix.rows() && low < high {
            matrix.write([high + y + k, low + x], second);
        }
    }
}
