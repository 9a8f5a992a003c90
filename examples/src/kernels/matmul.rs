//! Matrix products, from one thread an element to a tile of registers a thread.
//!
//! All add the products in order of `k`, each rounded, so that they agree with one reference bit for bit.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// `c = a · b`, an element a thread: every element of `a` and `b` is read again and again, from the caches at best.
#[tiled_kernel(
    block = [32, 8],
    grid = [c.cols().div_ceil(32), c.rows().div_ceil(8)],
    requires(a.rows() == c.rows(), a.cols() == b.rows(), b.cols() == c.cols()), covers(c),
)]
pub fn matmul_naive(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>) {
    let (row, col) = (block_y() * 8 + thread_y(), block_x() * 32 + thread_x());
    if row < c.rows() && col < c.cols() {
        let mut sum = 0.0;
        for k in 0..a.cols() {
            sum += a[[row, k]] * b[[k, col]];
        }
        c[[row, col]] = sum;
    }
}

/// `c = a · b`, 32×32 elements a block and four a thread: each element of `a` and `b` is read once a block.
///
/// Two barriers a step: the tiles must be complete before they are used, and used before they are overwritten.
#[tiled_kernel(
    block = [32, 8],
    grid = [c.cols().div_ceil(32), c.rows().div_ceil(32)],
    requires(a.rows() == c.rows(), a.cols() == b.rows(), b.cols() == c.cols()), covers(c),
)]
pub fn matmul_tiled(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>) {
    let mut a_tile = Shared::<[[f32; 32]; 32]>::new();
    let mut b_tile = Shared::<[[f32; 32]; 32]>::new();
    let mut sums = [0.0f32; 4];
    let (row0, col) = (block_y() * 32, block_x() * 32 + thread_x());

    for k0 in (0..a.cols()).step_by(32) {
        for i in 0..4 {
            let r = 8 * i + thread_y();
            let (row, k) = (row0 + r, k0 + thread_x());
            a_tile[r][thread_x()] = if row < a.rows() && k < a.cols() { a[[row, k]] } else { 0.0 };
            let k = k0 + r;
            b_tile[r][thread_x()] = if k < b.rows() && col < b.cols() { b[[k, col]] } else { 0.0 };
        }
        sync_threads();
        for k in 0..32 {
            let b_value = b_tile[k][thread_x()];
            for i in 0..4 {
                sums[i] += a_tile[8 * i + thread_y()][k] * b_value;
            }
        }
        sync_threads();
    }

    for i in 0..4 {
        let row = row0 + 8 * i + thread_y();
        if row < c.rows() && col < c.cols() {
            c[[row, col]] = sums[i];
        }
    }
}

/// `c = a · b`, 64×64 elements a block and 4×4 a thread: each value that is read from a tile is used four times.
///
/// The tile of `a` is stored turned, so that a thread reads its four values of a step in one instruction; the swizzle keeps
/// the four rows that a warp writes at a time in different banks.
#[tiled_kernel(
    block = [16, 16],
    grid = [c.cols().div_ceil(64), c.rows().div_ceil(64)],
    requires(
        a.rows() == c.rows(),
        a.cols() == b.rows(),
        b.cols() == c.cols(),
        a.cols().is_multiple_of(4),
        b.cols().is_multiple_of(4),
    ),
)]
pub fn matmul_registers(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>) {
    let mut a_tile = Shared::<[[f32; 64]; 16], Swizzle<2, 3, 5>>::new();
    let mut b_tile = Shared::<[[f32; 64]; 16]>::new();
    let mut sums = [[0.0f32; 4]; 4];
    let (row0, col0) = (block_y() * 64, block_x() * 64);
    let thread = 16 * thread_y() + thread_x();

    for k0 in (0..a.cols()).step_by(16) {
        let (r, k) = (thread / 4, 4 * (thread % 4));
        let mut values = Vector::<f32, 4>::splat(0.0);
        if row0 + r < a.rows() && k0 + k < a.cols() {
            values = a.read::<4>([row0 + r, k0 + k]);
        }
        for i in 0..4 {
            a_tile[k + i][r] = values[i];
        }
        let (k, col) = (thread_y(), 4 * thread_x());
        let mut values = Vector::<f32, 4>::splat(0.0);
        if k0 + k < b.rows() && col0 + col < b.cols() {
            values = b.read::<4>([k0 + k, col0 + col]);
        }
        b_tile.write([k, col], values);
        sync_threads();
        for k in 0..16 {
            let a_values = a_tile.read::<4>([k, 4 * thread_y()]);
            let b_values = b_tile.read::<4>([k, 4 * thread_x()]);
            for i in 0..4 {
                for j in 0..4 {
                    sums[i][j] += a_values[i] * b_values[j];
                }
            }
        }
        sync_threads();
    }

    let col = col0 + 4 * thread_x();
    for i in 0..4 {
        let row = row0 + 4 * thread_y() + i;
        if row < c.rows() && col < c.cols() {
            c.write([row, col], Vector::new(sums[i]));
        }
    }
}

/// As [`matmul_registers`], with tiles for two steps: while one is multiplied, the next is on its way from memory.
///
/// The copies pass no registers and turn nothing, so a thread reads its four rows of `a` along `k`, four steps at a time.
#[tiled_kernel(
    block = [16, 16],
    grid = [c.cols().div_ceil(64), c.rows().div_ceil(64)],
    requires(
        a.rows() == c.rows(),
        a.cols() == b.rows(),
        b.cols() == c.cols(),
        c.cols().is_multiple_of(4),
    ),
)]
pub fn matmul_async(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>) {
    let mut a_tiles = Shared::<[[[f32; 16]; 64]; 2]>::new();
    let mut b_tiles = Shared::<[[[f32; 64]; 16]; 2]>::new();
    let mut sums = [[0.0f32; 4]; 4];
    let (row0, col0) = (block_y() * 64, block_x() * 64);

    a_tiles[0].load_async::<4>(a, [row0, 0]);
    b_tiles[0].load_async::<4>(b, [0, col0]);
    commit();
    let steps = a.cols().div_ceil(16);
    for step in 0..steps {
        let (stage, next) = (step % 2, (step + 1) % 2);
        if step + 1 < steps {
            a_tiles[next].load_async::<4>(a, [row0, 16 * (step + 1)]);
            b_tiles[next].load_async::<4>(b, [16 * (step + 1), col0]);
        }
        commit();
        wait::<1>();
        sync_threads();
        for k in (0..16).step_by(4) {
            let mut a_values = [Vector::<f32, 4>::splat(0.0); 4];
            for i in 0..4 {
                a_values[i] = a_tiles.read::<4>([stage, 4 * thread_y() + i, k]);
            }
            for kk in 0..4 {
                let b_values = b_tiles.read::<4>([stage, k + kk, 4 * thread_x()]);
                for i in 0..4 {
                    for j in 0..4 {
                        sums[i][j] += a_values[i][kk] * b_values[j];
                    }
                }
            }
        }
        sync_threads();
    }

    let col = col0 + 4 * thread_x();
    for i in 0..4 {
        let row = row0 + 4 * thread_y() + i;
        if row < c.rows() && col < c.cols() {
            c.write([row, col], Vector::new(sums[i]));
        }
    }
}

fn reference(a: &Array<f32, 2>, b: &Array<f32, 2>, c: &mut Array<f32, 2>) {
    for row in 0..c.rows() {
        for col in 0..c.cols() {
            let mut sum = 0.0;
            for k in 0..a.cols() {
                sum += a[[row, k]] * b[[k, col]];
            }
            c[[row, col]] = sum;
        }
    }
}

/// [`matmul_naive`] with edges on both sides of a block's.
pub const MATMUL_NAIVE: Subject = subject! {
    kernel: matmul_naive(read a, read b, write c),
    reference: reference,
    sizes: [m, n, k]: [0, 3, 5] [3, 5, 0] [1, 1, 1] [7, 31, 13] [9, 33, 65],
    counted: [64, 64, 64] [41, 67, 13] [1, 300, 5],
    data: |data| (data.random([m, k]), data.random([k, n]), data.output([m, n])),
};

/// [`matmul_tiled`] with edges on both sides of a tile's.
pub const MATMUL_TILED: Subject = subject! {
    kernel: matmul_tiled(read a, read b, write c),
    reference: reference,
    sizes: [m, n, k]: [0, 3, 5] [3, 5, 0] [1, 1, 1] [7, 31, 13] [33, 65, 31] [64, 32, 96],
    counted: [64, 128, 96] [41, 67, 31] [1, 300, 5],
    data: |data| (data.random([m, k]), data.random([k, n]), data.output([m, n])),
};

/// [`matmul_registers`] with edges on both sides of a tile's.
pub const MATMUL_REGISTERS: Subject = subject! {
    kernel: matmul_registers(read a, read b, write c),
    reference: reference,
    sizes: [m, n, k]: [0, 4, 4] [3, 8, 0] [1, 4, 4] [7, 28, 12] [65, 68, 20] [64, 128, 64],
    counted: [128, 128, 96] [65, 68, 20] [1, 300, 4],
    data: |data| (data.random([m, k]), data.random([k, n]), data.output([m, n])),
    gap: 12,
};

/// [`matmul_async`] with edges on both sides of a tile's.
pub const MATMUL_ASYNC: Subject = subject! {
    kernel: matmul_async(read a, read b, write c),
    reference: reference,
    sizes: [m, n, k]: [0, 4, 4] [3, 8, 0] [1, 4, 4] [7, 28, 12] [65, 68, 20] [64, 128, 64],
    counted: [128, 128, 96] [65, 68, 20] [1, 300, 4],
    data: |data| (data.random([m, k]), data.random([k, n]), data.output([m, n])),
    gap: 12,
};
