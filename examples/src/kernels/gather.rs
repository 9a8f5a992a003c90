//! Rows chosen by data.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// The rows of an embedding table that `tokens` name, a row a warp; a token that the table lacks gives zeros.
///
/// All lanes of a warp read one token, so they agree on the row and read its columns side by side.
#[tiled_kernel(
    block = [32, 8],
    grid = [output.rows().div_ceil(8)],
    requires(tokens.len() == output.rows(), table.cols() == output.cols(), table.cols().is_multiple_of(4)), covers(output),
)]
pub fn embedding(tokens: &Tensor<u32, 1>, table: &Matrix<f32>, output: &mut Matrix<f32>) {
    let i = block_x() * 8 + thread_y();
    if i < output.rows() {
        let row = tokens[[i]] as usize;
        for col in (4 * thread_x()..output.cols()).step_by(128) {
            let mut values = Vector::<f32, 4>::splat(0.0);
            if row < table.rows() {
                values = table.read::<4>([row, col]);
            }
            output.write([i, col], values);
        }
    }
}

fn reference(tokens: &Array<u32, 1>, table: &Array<f32, 2>, output: &mut Array<f32, 2>) {
    for i in 0..output.rows() {
        let row = tokens[[i]] as usize;
        for col in 0..output.cols() {
            output[[i, col]] = if row < table.rows() { table[[row, col]] } else { 0.0 };
        }
    }
}

/// [`embedding`] at numbers of tokens around a block's, of rows, and of columns around a warp's; one token in ten is unknown.
pub const EMBEDDING: Subject = subject! {
    kernel: embedding(read tokens, read table, write output),
    reference: reference,
    sizes: [n, rows, cols]: [0, 3, 4] [3, 0, 4] [1, 1, 4] [7, 10, 124] [9, 100, 132] [67, 50, 388],
    counted: [512, 1000, 256] [67, 50, 388] [3, 10, 4],
    data: |data| {
        let bound = (rows + rows.div_ceil(10)).max(1) as u32;
        (data.below([n], bound, |token| token), data.random([rows, cols]), data.output([n, cols]))
    },
    gap: 12,
};
