//! The Mandelbrot set: lanes that are done wait for the slowest one of their warp.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// How many steps of `z = z² + c` from 0 stay within a distance of 2, at most `limit`; `c` runs over the square from
/// `-1.5 - i` to `0.5 + i`.
#[tiled_kernel(
    block = [32, 8],
    grid = [counts.cols().div_ceil(32), counts.rows().div_ceil(8)],
)]
pub fn mandelbrot(limit: u32, counts: &mut Matrix<u32>) {
    let (row, col) = (block_y() * 8 + thread_y(), block_x() * 32 + thread_x());
    if row < counts.rows() && col < counts.cols() {
        let c_re = -1.5 + 2.0 * col as f32 / counts.cols() as f32;
        let c_im = -1.0 + 2.0 * row as f32 / counts.rows() as f32;
        let (mut re, mut im, mut count) = (0.0f32, 0.0f32, 0u32);
        while count < limit && re * re + im * im <= 4.0 {
            let next = re * re - im * im + c_re;
            im = 2.0 * re * im + c_im;
            re = next;
            count += 1;
        }
        counts[[row, col]] = count;
    }
}

fn reference(limit: u32, counts: &mut Array<u32, 2>) {
    let (rows, cols) = (counts.rows(), counts.cols());
    for row in 0..rows {
        for col in 0..cols {
            let c_re = -1.5 + 2.0 * col as f32 / cols as f32;
            let c_im = -1.0 + 2.0 * row as f32 / rows as f32;
            let (mut re, mut im, mut count) = (0.0f32, 0.0f32, 0);
            while count < limit && re * re + im * im <= 4.0 {
                (re, im) = (re * re - im * im + c_re, 2.0 * re * im + c_im);
                count += 1;
            }
            counts[[row, col]] = count;
        }
    }
}

/// [`mandelbrot`] with edges on both sides of a block's.
pub const MANDELBROT: Subject = subject! {
    kernel: mandelbrot(value limit, write counts),
    reference: reference,
    sizes: [r, c]: [0, 5] [1, 1] [7, 31] [9, 33] [32, 64],
    counted: [64, 128] [41, 67] [1, 300],
    data: |data| (100, data.output([r, c])),
};
