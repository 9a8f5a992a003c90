//! Whole kernels against plain references.

use super::*;
use crate::simulate::simulate;

/// `output[[y, x]] = input[[y, x]]`, one element a thread.
fn copy(block: [u32; 3]) -> Kernel {
    let mut b = Builder::new(block);
    let source = b.tensor("input", Scalar::F32, 2, false);
    let target = b.tensor("output", Scalar::F32, 2, true);
    let (bx, by) = (b.block(Axis::X), b.block(Axis::Y));
    let (tx, ty) = (b.thread(Axis::X), b.thread(Axis::Y));
    let (column, row) = (b.scaled(bx, block[0].into(), tx), b.scaled(by, block[1].into(), ty));
    let (rows, columns) = (b.extent(source, 0), b.extent(source, 1));
    let (inside_rows, inside_columns) = (b.less(row, rows), b.less(column, columns));
    let inside = b.and(inside_rows, inside_columns);
    let (load, value) = b.load(Base::Tensor(source), &[row, column], 1);
    let store = b.store(Base::Tensor(target), &[row, column], value);
    b.build(vec![when(inside, vec![load, store])])
}

/// The transpose through a 32×32 tile, with 32×8 threads.
pub(super) fn transpose(layout: Layout) -> Kernel {
    let mut b = Builder::new([32, 8, 1]);
    let source = b.tensor("input", Scalar::F32, 2, false);
    let target = b.tensor("output", Scalar::F32, 2, true);
    let tile = Base::Tile(b.tile(Scalar::F32, &[32, 32], layout));
    let (bx, by) = (b.block(Axis::X), b.block(Axis::Y));
    let (tx, ty) = (b.thread(Axis::X), b.thread(Axis::Y));
    let (zero, end, step) = (b.index(0), b.index(32), b.index(8));

    let (row0, column) = (b.scaled(by, 32, ty), b.scaled(bx, 32, tx));
    let fill = b.repeat(zero, end, step, |b, k| {
        let (row, tile_row) = (b.add(row0, k), b.add(ty, k));
        let (rows, columns) = (b.extent(source, 0), b.extent(source, 1));
        let (in_rows, in_columns) = (b.less(row, rows), b.less(column, columns));
        let inside = b.and(in_rows, in_columns);
        let (load, value) = b.load(Base::Tensor(source), &[row, column], 1);
        let store = b.store(tile, &[tile_row, tx], value);
        vec![when(inside, vec![load, store])]
    });
    let sync = b.sync();
    let (row0, column) = (b.scaled(bx, 32, ty), b.scaled(by, 32, tx));
    let drain = b.repeat(zero, end, step, |b, k| {
        let (row, tile_column) = (b.add(row0, k), b.add(ty, k));
        let (rows, columns) = (b.extent(target, 0), b.extent(target, 1));
        let (in_rows, in_columns) = (b.less(row, rows), b.less(column, columns));
        let inside = b.and(in_rows, in_columns);
        let (load, value) = b.load(tile, &[tx, tile_column], 1);
        let store = b.store(Base::Tensor(target), &[row, column], value);
        vec![when(inside, vec![load, store])]
    });
    b.build(vec![fill, sync, drain])
}

/// Runs a kernel from rows × columns to an output of `extents`, rows of the input `pitch` elements apart.
fn run(kernel: &Kernel, grid: [u32; 3], shape: [u64; 2], pitch: u64, extents: [u64; 2]) -> Vec<f32> {
    let bytes = f32_bytes((0..shape[0] * pitch).map(|i| i as f32));
    let mut result = f32_bytes((0..shape[0] * shape[1]).map(|_| -1.0));
    let mut source = input(&bytes, &shape);
    if let Argument::Tensor(tensor) = &mut source {
        tensor.strides = vec![pitch];
    }
    simulate(kernel, grid, &mut [source, output(&mut result, &extents)]).unwrap();
    f32_values(&result)
}

const SHAPES: [[u64; 2]; 6] = [[1, 1], [31, 33], [0, 5], [5, 0], [64, 65], [96, 32]];

#[test]
fn copies_of_odd_sizes() {
    for block in [[32, 8, 1], [10, 3, 1], [7, 1, 1]] {
        let kernel = copy(block);
        for [rows, columns] in SHAPES {
            let grid = [columns.div_ceil(block[0].into()) as u32, rows.div_ceil(block[1].into()) as u32, 1];
            for pitch in [columns, columns + 3] {
                let result = run(&kernel, grid, [rows, columns], pitch, [rows, columns]);
                let expected = (0..rows).flat_map(|r| (0..columns).map(move |c| (r * pitch + c) as f32));
                assert!(result.into_iter().eq(expected), "{rows}×{columns} by blocks of {block:?}");
            }
        }
    }
}

#[test]
fn transposes_through_every_layout() {
    let swizzle = Layout::Swizzle { bits: 5, base: 0, shift: 5 };
    for layout in [Layout::RowMajor, Layout::Pad(1), Layout::Xor(1), Layout::Xor(4), swizzle] {
        let kernel = transpose(layout);
        for [rows, columns] in SHAPES {
            let grid = [columns.div_ceil(32) as u32, rows.div_ceil(32) as u32, 1];
            for pitch in [columns, columns + 7] {
                let result = run(&kernel, grid, [rows, columns], pitch, [columns, rows]);
                let expected = (0..columns).flat_map(|c| (0..rows).map(move |r| (r * pitch + c) as f32));
                assert!(result.into_iter().eq(expected), "{rows}×{columns} {layout:?}");
            }
        }
    }
}

/// Not a check of time, which depends on the machine: it runs the size that interactive use needs, and prints how long it took.
#[test]
fn a_large_transpose() {
    let kernel = transpose(Layout::Pad(1));
    let start = std::time::Instant::now();
    let result = run(&kernel, [32, 32, 1], [1024, 1024], 1024, [1024, 1024]);
    println!("1024×1024 in {:?}", start.elapsed());
    assert!((0..1024).all(|c| (0..1024).all(|r| result[c * 1024 + r] == (r * 1024 + c) as f32)));
}
