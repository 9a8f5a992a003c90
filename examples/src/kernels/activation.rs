//! Activations in bfloat16: stored in 16 bits, computed in 32.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// `gelu(x + bias)`, by the approximation with `tanh`; eight values a thread, in one instruction each way.
#[tiled_kernel(
    block = [32, 8],
    grid = [x.cols().div_ceil(256), x.rows().div_ceil(8)],
    requires(
        bias.len() == x.cols(),
        y.rows() == x.rows(),
        y.cols() == x.cols(),
        x.cols().is_multiple_of(8),
    ),
)]
pub fn bias_gelu(x: &Matrix<bf16>, bias: &Tensor<bf16, 1>, y: &mut Matrix<bf16>) {
    let (row, col) = (block_y() * 8 + thread_y(), 8 * (block_x() * 32 + thread_x()));
    if row < x.rows() && col < x.cols() {
        let (mut values, biases) = (x.read::<8>([row, col]), bias.read::<8>([col]));
        for i in 0..8 {
            let u = values[i].to_f32() + biases[i].to_f32();
            // √(2 / π)
            let inner = 0.797_884_6 * (u + 0.044_715 * u * u * u);
            values[i] = bf16::from_f32(0.5 * u * (1.0 + inner.tanh()));
        }
        y.write([row, col], values);
    }
}

fn reference(x: &Array<bf16, 2>, bias: &Array<bf16, 1>, y: &mut Array<bf16, 2>) {
    for row in 0..x.rows() {
        for col in 0..x.cols() {
            let u = x[[row, col]].to_f32() + bias[[col]].to_f32();
            let inner = 0.797_884_6 * (u + 0.044_715 * u * u * u);
            y[[row, col]] = bf16::from_f32(0.5 * u * (1.0 + inner.tanh()));
        }
    }
}

/// [`bias_gelu`] with edges on both sides of a block's. `tanh` is within 2 units in the last place on the GPU, which is far
/// below a unit of `bf16`, but may tip the last rounding.
pub const BIAS_GELU: Subject = subject! {
    kernel: bias_gelu(read x, read bias, write y),
    reference: reference,
    sizes: [r, c]: [0, 8] [3, 0] [1, 8] [7, 248] [9, 264] [16, 256],
    counted: [256, 512] [9, 264] [1, 8],
    data: |data| (data.random([r, c]), data.random([c]), data.output([r, c])),
    gap: 24,
    ulps: 1,
};
