//! Records of two to four fields, one right behind another, to one row a field, and back.

use crate::prelude::*;

/// Takes 256 records of `F` words apart: they are read as they lie in memory, and each field is written along its row.
#[tiled_kernel(
    block = [256],
    grid = [fields.extent(2).div_ceil(256), fields.extent(0)],
    requires(
        fields.extent(1) == F,
        records.rows() == fields.extent(0),
        records.cols() == fields.extent(2) * F,
    ),
    instances(
        (u8, 2, RowMajor),
        (u8, 3, RowMajor),
        (u8, 4, RowMajor),
        (u16, 2, RowMajor),
        (u16, 3, Pad<7>),
        (u16, 4, Swizzle<2, 0, 5>),
        (u32, 2, Swizzle<1, 0, 5>),
        (u32, 3, RowMajor),
        (u32, 4, Swizzle<2, 0, 5>),
        (u64, 2, Swizzle<1, 0, 4>),
        (u64, 3, RowMajor),
        (u64, 4, Swizzle<2, 0, 4>),
    ),
)]
pub(crate) fn fields_of_records<T, const F: usize, L>(records: &Matrix<T>, fields: &mut Tensor<T, 3>) {
    let mut tile = Shared::<[[T; F]; 256], L>::new();
    let mut words = [0; F];
    let first = block_x() * 256 * F + thread_x();
    for k in 0..F {
        if first + k * 256 < records.cols() {
            words[k] = records[[block_y(), first + k * 256]];
        }
    }
    for k in 0..F {
        tile[(k * 256 + thread_x()) / F][(k * 256 + thread_x()) % F] = words[k];
    }
    sync_threads();

    let record = block_x() * 256 + thread_x();
    for k in 0..F {
        let word = tile[thread_x()][k];
        if record < fields.extent(2) {
            fields[[block_y(), k, record]] = word;
        }
    }
}

/// The other way round.
#[tiled_kernel(
    block = [256],
    grid = [fields.extent(2).div_ceil(256), fields.extent(0)],
    requires(
        fields.extent(1) == F,
        records.rows() == fields.extent(0),
        records.cols() == fields.extent(2) * F,
    ),
    instances(
        (u8, 2, RowMajor),
        (u8, 3, RowMajor),
        (u8, 4, RowMajor),
        (u16, 2, RowMajor),
        (u16, 3, Pad<7>),
        (u16, 4, Swizzle<2, 0, 5>),
        (u32, 2, Swizzle<1, 0, 5>),
        (u32, 3, RowMajor),
        (u32, 4, Swizzle<2, 0, 5>),
        (u64, 2, Swizzle<1, 0, 4>),
        (u64, 3, RowMajor),
        (u64, 4, Swizzle<2, 0, 4>),
    ),
)]
pub(crate) fn records_of_fields<T, const F: usize, L>(fields: &Tensor<T, 3>, records: &mut Matrix<T>) {
    let mut tile = Shared::<[[T; F]; 256], L>::new();
    let mut words = [0; F];
    let record = block_x() * 256 + thread_x();
    for k in 0..F {
        if record < fields.extent(2) {
            words[k] = fields[[block_y(), k, record]];
        }
    }
    for k in 0..F {
        tile[thread_x()][k] = words[k];
    }
    sync_threads();

    let first = block_x() * 256 * F + thread_x();
    for k in 0..F {
        let word = tile[(k * 256 + thread_x()) / F][(k * 256 + thread_x()) % F];
        if first + k * 256 < records.cols() {
            records[[block_y(), first + k * 256]] = word;
        }
    }
}
