//! Matrix products by the tensor cores: the plain form, in which the block waits for each pair of tiles.
//!
//! Their data are small whole numbers, of which every sum is exact, so that all orders of summation agree bit for bit.

use crate::array::{Array, Datum};
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// `c = a · b` of floats of 16 bits, summed up in `f32`: 32×32 elements a block, 16×16 a warp.
///
/// The rows of `b` are read from its tile as matrices that the instruction transposes. The sums go through a tile, so that
/// whole rows of them are written. `V` elements of `a` and of `b` are loaded at a time.
#[tiled_kernel(
    block = [128],
    grid = [c.cols().div_ceil(32), c.rows().div_ceil(32)],
    requires(
        a.rows() == c.rows(),
        a.cols() == b.rows(),
        b.cols() == c.cols(),
        a.cols().is_multiple_of(V),
        b.cols().is_multiple_of(V),
    ),
    covers(c),
    instances((bf16, 8), (bf16, 1), (f16, 8), (f16, 1)),
)]
pub fn matmul_halves<T, const V: usize>(a: &Matrix<T>, b: &Matrix<T>, c: &mut Matrix<f32>) {
    let mut a_tile = Shared::<[[T; 32]; 32], Auto>::new();
    let mut b_tile = Shared::<[[T; 32]; 32], Auto>::new();
    let mut c_tile = Shared::<[[f32; 32]; 32], Auto>::new();
    let (row0, col0) = (block_y() * 32, block_x() * 32);
    let (row, col) = (warp() / 2 * 16, warp() % 2 * 16);
    let mut sums = [Vector::<f32, 4>::splat(0.0); 2];

    for k0 in (0..a.cols()).step_by(32) {
        a_tile.load::<V>(a, [row0, k0]);
        b_tile.load::<V>(b, [k0, col0]);
        sync_threads();
        for k in (0..32).step_by(16) {
            let left = a_tile.read_matrices::<8>([row + lane() % 16, k + lane() / 16 * 8]);
            for j in 0..2 {
                let right = b_tile.read_matrices_transposed::<4>([k + lane() % 16, col + 8 * j]);
                sums[j] = mma(left, right, sums[j]);
            }
        }
        sync_threads();
    }

    for j in 0..2 {
        for half in 0..2 {
            let pair = Vector::new([sums[j][2 * half], sums[j][2 * half + 1]]);
            c_tile.write([row + 8 * half + lane() / 4, col + 8 * j + lane() % 4 * 2], pair);
        }
    }
    sync_threads();
    c_tile.store(c, [row0, col0]);
}

/// The product in `f32`, of elements as they convert to it.
fn reference<T: Datum>(a: &Array<T, 2>, b: &Array<T, 2>, c: &mut Array<f32, 2>, float: impl Fn(T) -> f32) {
    for row in 0..c.rows() {
        for col in 0..c.cols() {
            let mut sum = 0.0;
            for k in 0..a.cols() {
                sum += float(a[[row, k]]) * float(b[[k, col]]);
            }
            c[[row, col]] = sum;
        }
    }
}

fn bf16_reference(a: &Array<bf16, 2>, b: &Array<bf16, 2>, c: &mut Array<f32, 2>) {
    reference(a, b, c, bf16::to_f32);
}

fn f16_reference(a: &Array<f16, 2>, b: &Array<f16, 2>, c: &mut Array<f32, 2>) {
    reference(a, b, c, f16::to_f32);
}

/// A whole number from -8 to 8.
fn small(number: u32) -> f32 {
    number as f32 - 8.0
}

/// [`matmul_halves`] of `bf16`, 16 bytes at a time, with edges on both sides of a tile's.
pub const MATMUL_BF16: Subject = subject! {
    kernel: matmul_halves_bf16_8(read a, read b, write c),
    reference: bf16_reference,
    sizes: [m, n, k]: [0, 8, 8] [3, 8, 0] [1, 8, 8] [7, 24, 16] [33, 40, 72] [64, 32, 96],
    counted: [64, 128, 96] [41, 72, 40] [1, 304, 8],
    data: |data| (
        data.below([m, k], 17, |x| bf16::from_f32(small(x))),
        data.below([k, n], 17, |x| bf16::from_f32(small(x))),
        data.output([m, n]),
    ),
    gap: 8,
};

/// [`matmul_halves`] of `f16`, an element at a time.
pub const MATMUL_F16: Subject = subject! {
    kernel: matmul_halves_f16_1(read a, read b, write c),
    reference: f16_reference,
    sizes: [m, n, k]: [0, 3, 5] [3, 5, 0] [1, 1, 1] [7, 31, 13] [33, 65, 31] [64, 32, 96],
    counted: [64, 128, 96] [41, 67, 31] [1, 300, 5],
    data: |data| (
        data.below([m, k], 17, |x| f16::from_f32(small(x))),
        data.below([k, n], 17, |x| f16::from_f32(small(x))),
        data.output([m, n]),
    ),
};
