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
    counted: [1 << 18],
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
    counted: [1 << 18, 5],
    data: |data| (offset, data.random([n + offset]), data.output([n])),
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
    counted: [1 << 16],
    data: |data| (data.random([4 * n]), data.output([4, n])),
};
