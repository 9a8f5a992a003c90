//! Stencils: each tile is read once, with the neighbours around it.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// One Jacobi step of the heat equation: each point becomes the mean of its four neighbours and itself, weighted 1:1:1:1:4;
/// outside of the grid it is 0.
///
/// The tile has a border of one point on each side: point `(row, col)` of the grid is at `(row + 1, col + 1)` of the tile.
#[tiled_kernel(
    block = [32, 8],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(8)],
    requires(output.rows() == input.rows(), output.cols() == input.cols()),
)]
pub fn stencil(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let mut tile = Shared::<[[f32; 34]; 10]>::new();
    let (row0, col0) = (block_y() * 8, block_x() * 32);

    for r in (thread_y()..10).step_by(8) {
        for c in (thread_x()..34).step_by(32) {
            let (row, col) = ((row0 + r) as isize - 1, (col0 + c) as isize - 1);
            tile[r][c] = input.get_or([row, col], 0.0);
        }
    }
    sync_threads();

    let (r, c) = (thread_y() + 1, thread_x() + 1);
    let (row, col) = (row0 + thread_y(), col0 + thread_x());
    if row < output.rows() && col < output.cols() {
        let around = tile[r - 1][c] + tile[r + 1][c] + tile[r][c - 1] + tile[r][c + 1];
        output[[row, col]] = 0.125 * around + 0.5 * tile[r][c];
    }
}

fn stencil_reference(input: &Array<f32, 2>, output: &mut Array<f32, 2>) {
    let (rows, cols) = (input.rows(), input.cols());
    // coordinates are one too large, so that those left of the grid are numbers
    let at = |row: usize, col: usize| match (row, col) {
        (1.., 1..) if row <= rows && col <= cols => input[[row - 1, col - 1]],
        _ => 0.0,
    };
    for row in 1..=rows {
        for col in 1..=cols {
            let around = at(row - 1, col) + at(row + 1, col) + at(row, col - 1) + at(row, col + 1);
            output[[row - 1, col - 1]] = 0.125 * around + 0.5 * at(row, col);
        }
    }
}

/// [`stencil`] with edges on both sides of a tile's.
pub const STENCIL: Subject = subject! {
    kernel: stencil(read input, write output),
    reference: stencil_reference,
    sizes: [r, c]: [0, 5] [5, 0] [1, 1] [7, 31] [8, 32] [9, 33] [41, 67],
    counted: [256, 256] [41, 67] [1, 300],
    data: |data| (data.random([r, c]), data.output([r, c])),
};
