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
