//! Matrix products by the tensor cores: the plain form, in which the block waits for each pair of tiles.
//!
//! Their data are small whole numbers, of which every sum is exact, so that all orders of summation agree bit for bit.

use crate::array::{Array, Datum};
use crate::subject::{Subject, subject};
use std::ops::{Add, Mul};
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

/// `c = a · bᵀ`, whose rows are products of a row of `a` with each row of `b`: 32×32 elements a block, 16×16 a warp.
///
/// Of elements that have not 2 bytes no instruction transposes matrices, so both factors lie along `k`. `W` elements have 16
/// bytes, and an instruction multiplies `2 W` columns.
#[tiled_kernel(
    block = [128],
    grid = [c.cols().div_ceil(32), c.rows().div_ceil(32)],
    requires(
        a.rows() == c.rows(),
        a.cols() == b.cols(),
        b.rows() == c.cols(),
        a.cols().is_multiple_of(W),
    ),
    covers(c),
    instances((f32, f32, 4), (i8, i32, 16), (u8, i32, 16)),
)]
pub fn matmul_of_rows<T, S, const W: usize>(a: &Matrix<T>, b: &Matrix<T>, c: &mut Matrix<S>) {
    let mut a_tile = Shared::<[[T; 4 * W]; 32], Auto>::new();
    let mut b_tile = Shared::<[[T; 4 * W]; 32], Auto>::new();
    let mut c_tile = Shared::<[[S; 32]; 32], Auto>::new();
    let (row0, col0) = (block_y() * 32, block_x() * 32);
    let (row, col) = (warp() / 2 * 16, warp() % 2 * 16);
    let mut sums = [Vector::<S, 4>::splat(0 as S); 2];

    for k0 in (0..a.cols()).step_by(4 * W) {
        a_tile.load::<W>(a, [row0, k0]);
        b_tile.load::<W>(b, [col0, k0]);
        sync_threads();
        for k in (0..4 * W).step_by(2 * W) {
            let left = a_tile.read_matrices::<W>([row + lane() % 16, k + lane() / 16 * W]);
            for j in 0..2 {
                let (row, k) = (col + 8 * j + lane() % 8, k + lane() / 8 % 2 * W);
                sums[j] = mma(left, b_tile.read_matrices::<{ W / 2 }>([row, k]), sums[j]);
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

/// An element of a factor, and how its products are summed up.
trait Factor: Datum {
    type Sum: Datum + Default + Add<Output = Self::Sum> + Mul<Output = Self::Sum>;

    fn wide(self) -> Self::Sum;
}

macro_rules! factors {
    ($($factor:ty as $sum:ty),*) => {$(
        impl Factor for $factor {
            type Sum = $sum;

            fn wide(self) -> $sum {
                self.into()
            }
        }
    )*};
}

factors!(f16 as f32, bf16 as f32, f32 as f32, i8 as i32, u8 as i32);

fn reference<T: Factor>(a: &Array<T, 2>, b: &Array<T, 2>, c: &mut Array<T::Sum, 2>) {
    product(a, |[k, col]| b[[k, col]], c);
}

fn reference_of_rows<T: Factor>(a: &Array<T, 2>, b: &Array<T, 2>, c: &mut Array<T::Sum, 2>) {
    product(a, |[k, col]| b[[col, k]], c);
}

fn product<T: Factor>(a: &Array<T, 2>, b: impl Fn([usize; 2]) -> T, c: &mut Array<T::Sum, 2>) {
    for row in 0..c.rows() {
        for col in 0..c.cols() {
            let products = (0..a.cols()).map(|k| a[[row, k]].wide() * b([k, col]).wide());
            c[[row, col]] = products.fold(T::Sum::default(), |sum, product| sum + product);
        }
    }
}

/// A whole number from -8 to 8.
fn small(number: u32) -> f32 {
    number as f32 - 8.0
}

/// [`matmul_halves`] of `bf16`, 16 bytes at a time, with edges on both sides of a tile's.
pub const MATMUL_BF16: Subject = subject! {
    kernel: matmul_halves_bf16_8(read a, read b, write c),
    reference: reference,
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
    reference: reference,
    sizes: [m, n, k]: [0, 3, 5] [3, 5, 0] [1, 1, 1] [7, 31, 13] [33, 65, 31] [64, 32, 96],
    counted: [64, 128, 96] [41, 67, 31] [1, 300, 5],
    data: |data| (
        data.below([m, k], 17, |x| f16::from_f32(small(x))),
        data.below([k, n], 17, |x| f16::from_f32(small(x))),
        data.output([m, n]),
    ),
};

/// [`matmul_of_rows`] of `f32`, of which the instruction takes 11 bits, with edges on both sides of a tile's.
pub const MATMUL_TF32: Subject = subject! {
    kernel: matmul_of_rows_f32_f32_4(read a, read b, write c),
    reference: reference_of_rows,
    sizes: [m, n, k]: [0, 3, 4] [3, 5, 0] [1, 1, 4] [7, 31, 12] [33, 65, 20] [64, 32, 48],
    counted: [64, 128, 48] [41, 67, 20] [1, 300, 4],
    data: |data| (data.below([m, k], 17, small), data.below([n, k], 17, small), data.output([m, n])),
    gap: 4,
};

/// [`matmul_of_rows`] of `i8`.
pub const MATMUL_I8: Subject = subject! {
    kernel: matmul_of_rows_i8_i32_16(read a, read b, write c),
    reference: reference_of_rows,
    sizes: [m, n, k]: [0, 3, 16] [3, 5, 0] [1, 1, 16] [7, 31, 48] [33, 65, 80] [64, 32, 192],
    counted: [64, 128, 192] [41, 67, 80] [1, 300, 16],
    data: |data| (data.random::<i8, 2>([m, k]), data.random::<i8, 2>([n, k]), data.output([m, n])),
    gap: 16,
};

/// [`matmul_of_rows`] of `u8`.
pub const MATMUL_U8: Subject = subject! {
    kernel: matmul_of_rows_u8_i32_16(read a, read b, write c),
    reference: reference_of_rows,
    sizes: [m, n, k]: [0, 3, 16] [3, 5, 0] [1, 1, 16] [33, 65, 80] [64, 32, 192],
    counted: [64, 128, 192] [41, 67, 80] [1, 300, 16],
    data: |data| (data.random::<u8, 2>([m, k]), data.random::<u8, 2>([n, k]), data.output([m, n])),
    gap: 16,
};
