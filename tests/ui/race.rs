//! Three barriers that are missing: before what is read, before what is overwritten, and between iterations of a loop.

use tileproof::prelude::*;

/// A turned copy: a row of the tile is stored by one warp and read by all.
#[tiled_kernel(
    block = [32, 8],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(32)],
    requires(output.rows() == input.cols(), output.cols() == input.rows()),
)]
pub fn transpose(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let mut tile = Shared::<[[f32; 32]; 32], Pad<1>>::new();

    let (row0, col) = (block_y() * 32 + thread_y(), block_x() * 32 + thread_x());
    for k in (0..32).step_by(8) {
        if row0 + k < input.rows() && col < input.cols() {
            tile[thread_y() + k][thread_x()] = input[[row0 + k, col]];
        }
    }

    let (row0, col) = (block_x() * 32 + thread_y(), block_y() * 32 + thread_x());
    for k in (0..32).step_by(8) {
        if row0 + k < output.rows() && col < output.cols() {
            output[[row0 + k, col]] = tile[thread_x()][thread_y() + k];
        }
    }
}

/// A product of matrices, 16 columns of `a` at a time.
#[tiled_kernel(
    block = [16, 16],
    grid = [c.cols().div_ceil(16), c.rows().div_ceil(16)],
    requires(a.rows() == c.rows(), a.cols() == b.rows(), b.cols() == c.cols()),
)]
pub fn matmul(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>) {
    let mut a_tile = Shared::<[[f32; 16]; 16]>::new();
    let mut b_tile = Shared::<[[f32; 16]; 16]>::new();
    let (x, y) = (thread_x(), thread_y());
    let (row, col) = (block_y() * 16 + y, block_x() * 16 + x);
    let mut sum = 0.0;
    for k0 in (0..a.cols()).step_by(16) {
        a_tile[y][x] = if row < a.rows() && k0 + x < a.cols() { a[[row, k0 + x]] } else { 0.0 };
        b_tile[y][x] = if k0 + y < b.rows() && col < b.cols() { b[[k0 + y, col]] } else { 0.0 };
        sync_threads();
        for k in 0..16 {
            sum += a_tile[y][k] * b_tile[k][x];
        }
    }
    if row < c.rows() && col < c.cols() {
        c[[row, col]] = sum;
    }
}

/// A running maximum of rows, kept by one row of threads: another thread may be at an earlier row.
#[tiled_kernel(block = [32, 2], grid = [1], requires(input.cols() == 32))]
pub fn running_maxima(input: &Matrix<f32>) {
    let mut best = Shared::<[[f32; 32]; 8]>::new();
    let (x, y) = (thread_x(), thread_y());
    for i in 0..4 {
        best[4 * y + i][x] = 0.0;
    }
    sync_threads();
    let mut most = 0.0f32;
    for k in 0..input.rows() {
        most = most.max(best[k % 8][x]).max(input[[k, x]]);
        if y == 0 {
            best[k % 8][x] = most;
        }
    }
}

fn main() {
    let _ = (transpose::CUDA_SOURCE, transpose::report, transpose::launch, transpose::simulate);
    let _ = (matmul::CUDA_SOURCE, matmul::report, matmul::launch, matmul::simulate);
    let _ = (
        running_maxima::CUDA_SOURCE,
        running_maxima::report,
        running_maxima::launch,
        running_maxima::simulate,
    );
}
