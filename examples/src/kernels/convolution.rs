//! Convolution of an image with a table that the compiler knows.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// A Gaussian blur over 5×5 points; outside of the image it is 0.
///
/// The tile has a border of two points on each side. The weights are literals in the code once the loops are unrolled.
#[tiled_kernel(
    block = [32, 8],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(8)],
    requires(output.rows() == input.rows(), output.cols() == input.cols()), covers(output),
)]
pub fn convolution(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    const WEIGHTS: [[f32; 5]; 5] = [
        [1.0 / 256.0, 4.0 / 256.0, 6.0 / 256.0, 4.0 / 256.0, 1.0 / 256.0],
        [4.0 / 256.0, 16.0 / 256.0, 24.0 / 256.0, 16.0 / 256.0, 4.0 / 256.0],
        [6.0 / 256.0, 24.0 / 256.0, 36.0 / 256.0, 24.0 / 256.0, 6.0 / 256.0],
        [4.0 / 256.0, 16.0 / 256.0, 24.0 / 256.0, 16.0 / 256.0, 4.0 / 256.0],
        [1.0 / 256.0, 4.0 / 256.0, 6.0 / 256.0, 4.0 / 256.0, 1.0 / 256.0],
    ];
    let mut tile = Shared::<[[f32; 36]; 12]>::new();
    let (row0, col0) = (block_y() * 8, block_x() * 32);

    for r in (thread_y()..12).step_by(8) {
        for c in (thread_x()..36).step_by(32) {
            let (row, col) = ((row0 + r) as isize - 2, (col0 + c) as isize - 2);
            tile[r][c] = input.get_or([row, col], 0.0);
        }
    }
    sync_threads();

    let (row, col) = (row0 + thread_y(), col0 + thread_x());
    if row < output.rows() && col < output.cols() {
        let mut sum = 0.0;
        for r in 0..5 {
            for c in 0..5 {
                sum += WEIGHTS[r][c] * tile[thread_y() + r][thread_x() + c];
            }
        }
        output[[row, col]] = sum;
    }
}

fn reference(input: &Array<f32, 2>, output: &mut Array<f32, 2>) {
    const BINOMIAL: [f32; 5] = [1.0, 4.0, 6.0, 4.0, 1.0];
    let (rows, cols) = (input.rows(), input.cols());
    for row in 0..rows {
        for col in 0..cols {
            let mut sum = 0.0;
            for r in 0..5 {
                for c in 0..5 {
                    // coordinates are two too large, so that those left of the image are numbers
                    let inside = (2..rows + 2).contains(&(row + r)) && (2..cols + 2).contains(&(col + c));
                    let value = if inside { input[[row + r - 2, col + c - 2]] } else { 0.0 };
                    sum += BINOMIAL[r] * BINOMIAL[c] / 256.0 * value;
                }
            }
            output[[row, col]] = sum;
        }
    }
}

/// [`convolution`] with edges on both sides of a tile's.
pub const CONVOLUTION: Subject = subject! {
    kernel: convolution(read input, write output),
    reference: reference,
    sizes: [r, c]: [0, 5] [5, 0] [1, 1] [7, 31] [8, 32] [9, 33] [41, 67],
    counted: [128, 256] [41, 67] [1, 300],
    data: |data| (data.random([r, c]), data.output([r, c])),
};
