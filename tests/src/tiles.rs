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

/// `output = input`ᵀ through a tile of 64 KB and one of 4 KB: dynamic shared memory, that sm_75 lacks.
#[tiled_kernel(
    block = [256],
    grid = [input.cols().div_ceil(128), input.rows().div_ceil(128)],
    requires(output.rows() == input.cols(), output.cols() == input.rows()),
    arch(sm_80, sm_86, sm_89, sm_90, sm_100, sm_120),
)]
pub fn transpose_dynamic(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let mut ones = Shared::<[f32; 1024]>::new();
    let mut tile = Shared::<[[f32; 128]; 128], Xor<1>>::new();
    for k in 0..4 {
        ones[k * 256 + thread_x()] = 1.0;
    }
    tile.load(input, [block_y() * 128, block_x() * 128]);
    sync_threads();
    let (c, r0) = (thread_x() % 128, thread_x() / 128);
    for k in 0..64 {
        let (row, col) = (block_x() * 128 + r0 + 2 * k, block_y() * 128 + c);
        if row < output.rows() && col < output.cols() {
            output[[row, col]] = tile[c][r0 + 2 * k] * ones[c];
        }
    }
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

/// `c = a × b` by tiles of 32 × 16 and 16 × 32 elements, of which two stages are copied while the block computes with the
/// other; each of 16 × 16 threads computes 2 × 2 elements.
#[tiled_kernel(
    block = [16, 16],
    grid = [c.cols().div_ceil(32), c.rows().div_ceil(32)],
    requires(a.cols() == b.rows(), a.rows() == c.rows(), b.cols() == c.cols()),
)]
pub fn matmul_async(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>) {
    let mut left = Shared::<[[[f32; 16]; 32]; 2], Auto>::new();
    let mut right = Shared::<[[[f32; 32]; 16]; 2], Auto>::new();
    let mut sums = [[0.0f32; 2]; 2];
    let (row, col) = (block_y() * 32, block_x() * 32);
    let steps = a.cols().div_ceil(16);
    left[0].load_async::<4>(a, [row, 0]);
    right[0].load_async::<4>(b, [0, col]);
    commit();
    for k in 0..steps {
        left[(k + 1) % 2].load_async::<4>(a, [row, (k + 1) * 16]);
        right[(k + 1) % 2].load_async::<4>(b, [(k + 1) * 16, col]);
        commit();
        wait::<1>();
        sync_threads();
        for i in 0..16 {
            for r in 0..2 {
                for s in 0..2 {
                    sums[r][s] += left[k % 2][thread_y() + 16 * r][i] * right[k % 2][i][thread_x() + 16 * s];
                }
            }
        }
        sync_threads();
    }
    for r in 0..2 {
        for s in 0..2 {
            let (row, col) = (row + thread_y() + 16 * r, col + thread_x() + 16 * s);
            if row < c.rows() && col < c.cols() {
                c[[row, col]] = sums[r][s];
            }
        }
    }
}

/// `output = input` of half words, which are copied in pairs.
#[tiled_kernel(
    block = [96],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(16)],
    requires(output.rows() == input.rows(), output.cols() == input.cols()),
)]
pub fn copy_async(input: &Matrix<u16>, output: &mut Matrix<u16>) {
    let mut tile = Shared::<[[u16; 32]; 16]>::new();
    tile.load_async::<2>(input, [block_y() * 16, block_x() * 32]);
    commit();
    wait::<0>();
    sync_threads();
    tile.store::<2>(output, [block_y() * 16, block_x() * 32]);
}
