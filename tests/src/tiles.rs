//! Kernels of operations on whole tiles.

use tileproof::prelude::*;

/// `output = input`ᵀ, element by element on both sides.
#[tiled_kernel(
    block = [32, 8],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(32)],
    requires(output.rows() == input.cols(), output.cols() == input.rows()),
)]
pub fn transpose_elements(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let mut tile = Shared::<[[f32; 32]; 32], Auto>::new();
    tile.load(&input, [block_y() * 32, block_x() * 32]);
    sync_threads();
    tile.store_transposed(&mut output, [block_x() * 32, block_y() * 32]);
}

/// `output = input`ᵀ: vectors of the input are written to columns of the tile, whose rows are stored as vectors.
#[tiled_kernel(
    block = [256],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(64)],
    requires(output.rows() == input.cols(), output.cols() == input.rows()),
)]
pub fn transpose_vectors(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let mut tile = Shared::<[[f32; 64]; 32], Auto>::new();
    tile.load_transposed::<4>(input, [block_y() * 64, block_x() * 32]);
    sync_threads();
    tile.store::<2>(output, [block_x() * 32, block_y() * 64]);
}

/// `output = input`ᵀ of bytes, with threads that do not divide the tile.
#[tiled_kernel(
    block = [48, 3],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(64)],
    requires(output.rows() == input.cols(), output.cols() == input.rows()),
)]
pub fn transpose_bytes(input: &Matrix<u8>, output: &mut Matrix<u8>) {
    let mut tile = Shared::<[[u8; 32]; 64], Auto>::new();
    tile.load::<4>(input, [block_y() * 64, block_x() * 32]);
    sync_threads();
    #[budget(bank_conflict = 1, because = "bytes of a column are in few words")]
    tile.store_transposed(output, [block_x() * 32, block_y() * 64]);
}

/// Each block adds what lies in the columns of one row of blocks, through a tile of two stages.
#[tiled_kernel(
    block = [128],
    grid = [input.rows().div_ceil(16)],
    requires(sums.len() >= input.rows()),
)]
pub fn row_sums(input: &Matrix<f64>, sums: &mut Tensor<f64, 1>) {
    let mut stages = Shared::<[[[f64; 16]; 16]; 2], Auto>::new();
    let mut total = 0.0;
    let row = thread_x() % 16;
    for k in 0..input.cols().div_ceil(16) {
        stages[k % 2].load(input, [block_x() * 16, k * 16]);
        sync_threads();
        for c in 0..16 {
            total += stages[k % 2][row][c];
        }
    }
    if thread_x() < 16 && block_x() * 16 + row < sums.len() {
        sums[[block_x() * 16 + row]] = total;
    }
}

/// `output = 2 × input` of one extent, in rows of a tile.
#[tiled_kernel(block = [64], grid = [input.len().div_ceil(200)], requires(output.len() == input.len()))]
pub fn doubled(input: &Tensor<i32, 1>, output: &mut Tensor<i32, 1>) {
    let mut tile = Shared::<[i32; 200]>::new();
    tile.load::<2>(input, [block_x() * 200]);
    sync_threads();
    for i in (thread_x()..200).step_by(64) {
        tile[i] = tile[i] * 2;
    }
    sync_threads();
    tile.store::<2>(output, [block_x() * 200]);
}
