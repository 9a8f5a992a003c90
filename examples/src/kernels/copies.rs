//! Copies that show what the pattern of an access costs, and one that changes the order of fields.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// Every fourth element: a quarter of each sector that is read is used.
#[tiled_kernel(
    block = [256],
    grid = [output.len().div_ceil(256)],
    requires(input.len() / 4 >= output.len()),
)]
pub fn strided_copy(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
    const STRIDE: usize = 4;
    let i = block_x() * 256 + thread_x();
    if i < output.len() {
        #[budget(excess_sectors = 12, because = "the elements between are not wanted")]
        output[[i]] = input[[i * STRIDE]];
    }
}

fn strided_reference(input: &Array<f32, 1>, output: &mut Array<f32, 1>) {
    for i in 0..output.len() {
        output[[i]] = input[[4 * i]];
    }
}

/// [`strided_copy`] at lengths around a block's.
pub const STRIDED_COPY: Subject = subject! {
    kernel: strided_copy(read input, write output),
    reference: strided_reference,
    sizes: [n]: [0] [1] [97] [257] [4099],
    counted: [1 << 18] [4099] [1],
    data: |data| (data.random([4 * n + 3]), data.output([n])),
};

/// The elements from `offset` on. An offset that is no multiple of 8 costs each warp a sector more than it needs, which the
/// report notes: where the elements begin is the caller's affair.
#[tiled_kernel(
    block = [256],
    grid = [output.len().div_ceil(256)],
    requires(offset <= input.len(), output.len() <= input.len() - offset),
)]
pub fn offset_copy(offset: usize, input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
    let i = block_x() * 256 + thread_x();
    if i < output.len() {
        output[[i]] = input[[i + offset]];
    }
}

fn offset_reference(offset: usize, input: &Array<f32, 1>, output: &mut Array<f32, 1>) {
    for i in 0..output.len() {
        output[[i]] = input[[i + offset]];
    }
}

/// [`offset_copy`] at lengths around a block's, with aligned and other offsets.
pub const OFFSET_COPY: Subject = subject! {
    kernel: offset_copy(value offset, read input, write output),
    reference: offset_reference,
    sizes: [n, offset]: [0, 3] [1, 0] [97, 1] [257, 8] [4099, 13],
    counted: [1 << 18, 5] [4099, 13] [1, 0],
    data: |data| (offset, data.random([n + offset]), data.output([n])),
};

/// The window of a matrix from `row` and `col` on: rows that begin anywhere in memory are read as vectors and written as
/// aligned ones.
///
/// The two aligned vectors that hold what a lane reads cost twice the sectors of a copy, the second half of them from the
/// cache, and half the instructions of reading the elements one by one.
#[tiled_kernel(
    block = [32, 8],
    grid = [output.cols().div_ceil(128), output.rows().div_ceil(8)],
    requires(
        output.cols().is_multiple_of(4),
        row <= input.rows(),
        output.rows() <= input.rows() - row,
        col <= input.cols(),
        output.cols() <= input.cols() - col,
    ),
)]
pub fn window_copy(row: usize, col: usize, input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let (r, c) = (block_y() * 8 + thread_y(), block_x() * 128 + 4 * thread_x());
    if r < output.rows() && c < output.cols() {
        output.write([r, c], input.read_unaligned::<4>([row + r, col + c]));
    }
}

fn window_reference(row: usize, col: usize, input: &Array<f32, 2>, output: &mut Array<f32, 2>) {
    for r in 0..output.rows() {
        for c in 0..output.cols() {
            output[[r, c]] = input[[row + r, col + c]];
        }
    }
}

/// [`window_copy`] at places of every alignment, in rows of odd pitch.
pub const WINDOW_COPY: Subject = subject! {
    kernel: window_copy(value row, value col, read input, write output),
    reference: window_reference,
    sizes: [rows, cols, row, col]: [0, 4, 0, 1] [1, 4, 0, 0] [1, 4, 0, 3] [9, 128, 1, 3] [17, 132, 0, 2] [8, 256, 2, 5],
    counted: [256, 1024, 1, 3] [17, 132, 0, 2] [1, 4, 0, 0],
    data: |data| (row, col, data.random([rows + row, cols + col]), data.output([rows, cols])),
    gap: 12,
};

/// Records of four fields, one after another, to one row a field: each thread takes a record apart.
///
/// A record is read in one instruction of 16 bytes; the lanes of a store are neighbours in the field's row.
#[tiled_kernel(
    block = [256],
    grid = [fields.cols().div_ceil(256)],
    requires(fields.rows() == 4, records.len() / 4 == fields.cols()),
)]
pub fn fields_of_records(records: &Tensor<f32, 1>, fields: &mut Matrix<f32>) {
    let i = block_x() * 256 + thread_x();
    if i < fields.cols() {
        let record = records.read::<4>([4 * i]);
        for field in 0..4 {
            fields[[field, i]] = record[field];
        }
    }
}

fn fields_reference(records: &Array<f32, 1>, fields: &mut Array<f32, 2>) {
    for i in 0..fields.cols() {
        for field in 0..4 {
            fields[[field, i]] = records[[4 * i + field]];
        }
    }
}

/// [`fields_of_records`] at numbers of records around a block's.
pub const FIELDS_OF_RECORDS: Subject = subject! {
    kernel: fields_of_records(read records, write fields),
    reference: fields_reference,
    sizes: [n]: [0] [1] [97] [257] [4099],
    counted: [1 << 16] [4099] [1],
    data: |data| (data.random([4 * n]), data.output([4, n])),
};
