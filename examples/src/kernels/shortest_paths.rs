//! Shortest paths between all pairs: the step of the blocked Floyd–Warshall algorithm that does nearly all of the work.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// Shortens every path that is shorter over one of the 32 pivots: `distances[i][j]` becomes the least of itself and
/// `to[i][k] + from[k][j]`. Paths that do not exist are as long as half of `u32::MAX`, so that two of them can be added.
///
/// `to` and `from` are copies of the pivots' columns and rows: other blocks overwrite those of `distances`.
#[tiled_kernel(
    block = [32, 8],
    grid = [distances.cols().div_ceil(32), distances.rows().div_ceil(32)],
    requires(to.rows() == distances.rows(), to.cols() == 32, from.rows() == 32, from.cols() == distances.cols()),
)]
pub fn floyd_warshall_step(to: &Matrix<u32>, from: &Matrix<u32>, distances: &mut Matrix<u32>) {
    let mut to_tile = Shared::<[[u32; 32]; 32]>::new();
    let mut from_tile = Shared::<[[u32; 32]; 32]>::new();
    let (row0, col) = (block_y() * 32, block_x() * 32 + thread_x());

    for r in (thread_y()..32).step_by(8) {
        if row0 + r < to.rows() {
            to_tile[r][thread_x()] = to[[row0 + r, thread_x()]];
        }
        if col < from.cols() {
            from_tile[r][thread_x()] = from[[r, col]];
        }
    }
    sync_threads();

    for r in (thread_y()..32).step_by(8) {
        let row = row0 + r;
        if row < distances.rows() && col < distances.cols() {
            let mut shortest = distances[[row, col]];
            for k in 0..32 {
                shortest = shortest.min(to_tile[r][k] + from_tile[k][thread_x()]);
            }
            distances[[row, col]] = shortest;
        }
    }
}

fn reference(to: &Array<u32, 2>, from: &Array<u32, 2>, distances: &mut Array<u32, 2>) {
    for row in 0..distances.rows() {
        for col in 0..distances.cols() {
            for k in 0..32 {
                distances[[row, col]] = distances[[row, col]].min(to[[row, k]] + from[[k, col]]);
            }
        }
    }
}

/// [`floyd_warshall_step`] with edges on both sides of a tile's.
pub const FLOYD_WARSHALL_STEP: Subject = subject! {
    kernel: floyd_warshall_step(read to, read from, write distances),
    reference: reference,
    sizes: [rows, cols]: [0, 5] [1, 1] [31, 33] [64, 32] [7, 67],
    counted: [128, 128] [41, 67] [1, 100],
    data: |data| {
        let length = |number| if number < 200 { number } else { u32::MAX / 2 };
        (data.below([rows, 32], 256, length), data.below([32, cols], 256, length), data.below([rows, cols], 256, length))
    },
};
