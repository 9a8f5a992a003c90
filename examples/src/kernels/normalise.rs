//! Rows normalised: softmax, root mean square, layer norm.
//!
//! A row of at most 1,024 elements is a block's, four of them a thread's: it is read once and kept in registers, although
//! its sums and the result all need it.

pub use kernels::{layer_norm, rms_norm, softmax};

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::tiled_module;

/// The kernels, with the constants that they share.
#[tiled_module]
mod kernels {
    use tileproof::prelude::*;

    const THREADS: usize = 256;
    const EACH: usize = 4;

    /// `exp(x - max) / Σ exp(x - max)` of each row.
    #[tiled_kernel(
        block = [THREADS],
        grid = [output.rows()],
        requires(input.rows() == output.rows(), input.cols() == output.cols(), input.cols() <= EACH * THREADS),
    )]
    pub fn softmax(input: &Matrix<f32>, output: &mut Matrix<f32>) {
        let mut values = [0.0f32; EACH];
        let row = block_x();

        let mut most = f32::NEG_INFINITY;
        for k in 0..EACH {
            let col = THREADS * k + thread_x();
            if col < input.cols() {
                values[k] = input[[row, col]];
                most = most.max(values[k]);
            }
        }
        most = block_max(most);

        let mut total = 0.0;
        for k in 0..EACH {
            if THREADS * k + thread_x() < input.cols() {
                values[k] = (values[k] - most).exp();
                total += values[k];
            }
        }
        total = block_sum(total);

        for k in 0..EACH {
            let col = THREADS * k + thread_x();
            if col < output.cols() {
                output[[row, col]] = values[k] / total;
            }
        }
    }

    /// `weight · x / √(mean of x² + epsilon)` of each row.
    #[tiled_kernel(
        block = [THREADS],
        grid = [output.rows()],
        requires(
            input.rows() == output.rows(),
            input.cols() == output.cols(),
            weight.len() == output.cols(),
            input.cols() <= EACH * THREADS,
        ),
    )]
    pub fn rms_norm(epsilon: f32, weight: &Tensor<f32, 1>, input: &Matrix<f32>, output: &mut Matrix<f32>) {
        let mut values = [0.0f32; EACH];
        let row = block_x();

        let mut squares = 0.0;
        for k in 0..EACH {
            let col = THREADS * k + thread_x();
            if col < input.cols() {
                values[k] = input[[row, col]];
                squares += values[k] * values[k];
            }
        }
        let mean = block_sum(squares) / input.cols() as f32;
        let scale = 1.0 / (mean + epsilon).sqrt();

        for k in 0..EACH {
            let col = THREADS * k + thread_x();
            if col < output.cols() {
                output[[row, col]] = weight[[col]] * (values[k] * scale);
            }
        }
    }

    /// `weight · (x - mean) / √(variance + epsilon) + bias` of each row. The variance is that of the distances from the
    /// mean, which the registers still hold: no two large numbers are subtracted.
    #[tiled_kernel(
        block = [THREADS],
        grid = [output.rows()],
        requires(
            input.rows() == output.rows(),
            input.cols() == output.cols(),
            weight.len() == output.cols(),
            bias.len() == output.cols(),
            input.cols() <= EACH * THREADS,
        ),
    )]
    pub fn layer_norm(
        epsilon: f32,
        weight: &Tensor<f32, 1>,
        bias: &Tensor<f32, 1>,
        input: &Matrix<f32>,
        output: &mut Matrix<f32>,
    ) {
        let mut values = [0.0f32; EACH];
        let row = block_x();

        let mut total = 0.0;
        for k in 0..EACH {
            let col = THREADS * k + thread_x();
            if col < input.cols() {
                values[k] = input[[row, col]];
                total += values[k];
            }
        }
        let mean = block_sum(total) / input.cols() as f32;

        let mut total = 0.0;
        for k in 0..EACH {
            if THREADS * k + thread_x() < input.cols() {
                values[k] -= mean;
                total += values[k] * values[k];
            }
        }
        let variance = block_sum(total) / input.cols() as f32;
        let scale = 1.0 / (variance + epsilon).sqrt();

        for k in 0..EACH {
            let col = THREADS * k + thread_x();
            if col < output.cols() {
                output[[row, col]] = weight[[col]] * (values[k] * scale) + bias[[col]];
            }
        }
    }
}

/// The sum of a row, in the order in which a block adds it.
fn block_sum(row: &[f32]) -> f32 {
    let mut threads = [0.0f32; 256];
    for (col, value) in row.iter().enumerate() {
        threads[col % 256] += value;
    }
    let warp = |lanes: &[f32]| {
        let mut lanes = lanes.to_vec();
        for half in [16, 8, 4, 2, 1] {
            lanes = (0..32).map(|lane| lanes[lane] + lanes[lane ^ half]).collect();
        }
        lanes[0]
    };
    threads.chunks(32).map(warp).fold(0.0, |total, warp| total + warp)
}

fn softmax_reference(input: &Array<f32, 2>, output: &mut Array<f32, 2>) {
    let cols = input.cols();
    for row in 0..input.rows() {
        let most = (0..cols).map(|col| input[[row, col]]).fold(f32::NEG_INFINITY, f32::max);
        let powers: Vec<f32> = (0..cols).map(|col| (input[[row, col]] - most).exp()).collect();
        let total = block_sum(&powers);
        for col in 0..cols {
            output[[row, col]] = powers[col] / total;
        }
    }
}

fn rms_reference(epsilon: f32, weight: &Array<f32, 1>, input: &Array<f32, 2>, output: &mut Array<f32, 2>) {
    let cols = input.cols();
    for row in 0..input.rows() {
        let squares: Vec<f32> = (0..cols).map(|col| input[[row, col]] * input[[row, col]]).collect();
        let scale = 1.0 / (block_sum(&squares) / cols as f32 + epsilon).sqrt();
        for col in 0..cols {
            output[[row, col]] = weight[[col]] * (input[[row, col]] * scale);
        }
    }
}

fn layer_reference(
    epsilon: f32,
    weight: &Array<f32, 1>,
    bias: &Array<f32, 1>,
    input: &Array<f32, 2>,
    output: &mut Array<f32, 2>,
) {
    let cols = input.cols();
    for row in 0..input.rows() {
        let values: Vec<f32> = (0..cols).map(|col| input[[row, col]]).collect();
        let mean = block_sum(&values) / cols as f32;
        let values: Vec<f32> = values.into_iter().map(|value| value - mean).collect();
        let squares: Vec<f32> = values.iter().map(|value| value * value).collect();
        let scale = 1.0 / (block_sum(&squares) / cols as f32 + epsilon).sqrt();
        for col in 0..cols {
            output[[row, col]] = weight[[col]] * (values[col] * scale) + bias[[col]];
        }
    }
}

/// [`softmax`] at lengths around a warp's and a block's. `exp` is within 2 units in the last place on the GPU, and within one
/// here; the sum, of positive numbers, then within 3, and the quotient within 7.
pub const SOFTMAX: Subject = subject! {
    kernel: softmax(read input, write output),
    reference: softmax_reference,
    sizes: [rows, cols]: [0, 5] [3, 0] [1, 1] [3, 31] [2, 257] [3, 1021] [2, 1024],
    counted: [64, 1024] [7, 1021] [1, 31],
    data: |data| (data.random([rows, cols]), data.output([rows, cols])),
    ulps: 7,
};

/// [`rms_norm`] at lengths around a warp's and a block's.
pub const RMS_NORM: Subject = subject! {
    kernel: rms_norm(value epsilon, read weight, read input, write output),
    reference: rms_reference,
    sizes: [rows, cols]: [0, 5] [3, 0] [1, 1] [3, 31] [2, 257] [3, 1021] [2, 1024],
    counted: [64, 1024] [7, 1021] [1, 31],
    data: |data| (1e-5, data.random([cols]), data.random([rows, cols]), data.output([rows, cols])),
};

/// [`layer_norm`] at lengths around a warp's and a block's.
pub const LAYER_NORM: Subject = subject! {
    kernel: layer_norm(value epsilon, read weight, read bias, read input, write output),
    reference: layer_reference,
    sizes: [rows, cols]: [0, 5] [3, 0] [1, 1] [3, 31] [2, 257] [3, 1021] [2, 1024],
    counted: [64, 1024] [7, 1021] [1, 31],
    data: |data| {
        (1e-5, data.random([cols]), data.random([cols]), data.random([rows, cols]), data.output([rows, cols]))
    },
};
