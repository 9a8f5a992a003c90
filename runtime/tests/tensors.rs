//! Tensors of every rank, views of parts of them, and the words that make an index, on the simulator.
#![cfg(feature = "simulate")]

use tileproof::prelude::*;
use tileproof::{Error, ViewError};

#[tiled_kernel(
    block = [32],
    grid = [output.extent(4).div_ceil(32), output.extent(3), output.extent(2)],
    requires(
        input.extent(0) == output.extent(0),
        input.extent(1) == output.extent(1),
        input.extent(2) == output.extent(2),
        input.extent(3) == output.extent(3),
        input.extent(4) == output.extent(4),
    ),
)]
fn copy(input: &Tensor<f32, 5>, output: &mut Tensor<f32, 5>) {
    let e = block_x() * 32 + thread_x();
    for a in 0..output.extent(0) {
        for b in 0..output.extent(1) {
            if e < output.extent(4) {
                output[[a, b, block_z(), block_y(), e]] = input[[a, b, block_z(), block_y(), e]];
            }
        }
    }
}

#[tiled_kernel(block = [32], grid = [input.rows()], requires(output.rows() == input.rows(), output.cols() == input.cols()))]
fn copy_vectors(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    for col in (4 * thread_x()..output.cols()).step_by(128) {
        if col + 3 < output.cols() {
            output.write([block_x(), col], input.read::<4>([block_x(), col]));
        }
    }
}

/// Gathers by an index that may be outside, and sums what lies around each element, 0 beyond the edges.
#[tiled_kernel(
    block = [32],
    grid = [output.len().div_ceil(32)],
    requires(row.len() == output.len()),
)]
fn gather(table: &Matrix<f32>, row: &Tensor<u32, 1>, output: &mut Tensor<f32, 1>) {
    let i = block_x() * 32 + thread_x();
    let mut sum = 0.0;
    if row.contains([i]) {
        #[budget(excess_sectors = 31, because = "any rows")]
        for c in 0..2 {
            sum += table.get_or([row[[i]] as usize, c], if c == 0 { 100.0 } else { 1000.0 });
        }
    }
    if i < output.len() {
        output[[i]] = sum;
    }
}

/// Each element's number, at the index that its number has.
#[tiled_kernel(
    block = [32],
    grid = [(output.extent(0) * output.extent(1) * output.extent(2)).div_ceil(32)],
    requires(output.extent(0) * output.extent(1) < 1000),
)]
fn number(output: &mut Tensor<u32, 3>) {
    let (x, y, z) = (output.extent(0), output.extent(1), output.extent(2));
    let i = block_x() * 32 + thread_x();
    if i < x * y * z {
        let [a, b, c] = unflatten(i, [x, y, z]);
        output[[a, b, c]] = flatten([a, b, c], [x, y, z]) as u32;
    }
}

/// Each block's number, at its place in the raster.
#[tiled_kernel(block = [32], grid = [output.rows() * output.cols()])]
fn raster(output: &mut Matrix<u32>) {
    let [row, col] = rasterize(block_x(), [output.rows(), output.cols()], 4);
    if thread_x() == 0 {
        output[[row, col]] = block_x() as u32;
    }
}

/// The sum of the four neighbours, 0 beyond the edges.
#[tiled_kernel(
    block = [32, 4],
    grid = [input.cols().div_ceil(32), input.rows().div_ceil(4)],
    requires(output.rows() == input.rows(), output.cols() == input.cols()),
)]
fn neighbours(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let (r, c) = ((block_y() * 4 + thread_y()) as isize, (block_x() * 32 + thread_x()) as isize);
    let across = input.get_or([r, c - 1], 0.0) + input.get_or([r, c + 1], 0.0);
    let sum = across + input.get_or([r - 1, c], 0.0) + input.get_or([r + 1, c], 0.0);
    if output.contains([r, c]) {
        output[[r as usize, c as usize]] = sum;
    }
}

/// A filter by constants, some of them computed, one row read by an index of the run.
#[tiled_kernel(
    block = [32],
    grid = [output.cols().div_ceil(32), output.rows()],
    requires(input.rows() == output.rows(), input.cols() == output.cols()),
)]
fn filter(input: &Matrix<f32>, output: &mut Matrix<f32>, which: usize) {
    const STEP: f32 = 0.1;
    const WEIGHTS: [[f32; 3]; 2] = [[STEP, 1.0 - 2.0 * STEP, STEP], [1.0 / 3.0; 3]];
    const OFFSETS: [isize; 3] = [-1, 0, 1];
    let (r, c) = (block_y() as isize, (block_x() * 32 + thread_x()) as isize);
    let mut sum = 0.0;
    for k in 0..3 {
        sum += WEIGHTS[which.min(1)][k] * input.get_or([r, c + OFFSETS[k]], 0.0);
    }
    if output.contains([r, c]) {
        output[[r as usize, c as usize]] = sum + WEIGHTS[1][0];
    }
}

fn numbers(count: usize) -> Vec<f32> {
    (0..count).map(|i| i as f32).collect()
}

#[test]
fn rank_5_in_any_order() {
    let data = numbers(2 * 3 * 4 * 5 * 40);
    let input = HostTensor::new(&data, [2, 3, 4, 5, 40]).unwrap();
    let permuted = input.permute([2, 0, 3, 1, 4]).unwrap();
    let mut result = vec![0.0; data.len()];
    let mut output = HostTensorMut::new(&mut result, [4, 2, 5, 3, 40]).unwrap();
    copy::simulate(&permuted, &mut output).unwrap();
    // and back, through a view that is written
    let mut back = vec![0.0; data.len()];
    let mut target = HostTensorMut::new(&mut back, [2, 3, 4, 5, 40]).unwrap();
    copy::simulate(&output.as_view(), &mut target.permute([2, 0, 3, 1, 4]).unwrap()).unwrap();
    assert_eq!(back, data);
    assert_eq!(result[40], data[5 * 40 * 4]);
}

#[test]
fn parts_and_empty_extents() {
    let data = numbers(2 * 3 * 4 * 5 * 40);
    let input = HostTensor::new(&data, [2, 3, 4, 5, 40]).unwrap();
    let part = input.slice([1..2, 0..3, 1..3, 2..5, 7..40]).unwrap();
    let mut result = vec![0.0; 3 * 2 * 3 * 33];
    copy::simulate(&part, &mut HostTensorMut::new(&mut result, [1, 3, 2, 3, 33]).unwrap()).unwrap();
    assert_eq!(result[0], (3 * 4 * 5 * 40 + 5 * 40 + 2 * 40 + 7) as f32);
    assert_eq!(result.last(), Some(&(((2 * 3 - 1) * 4 * 5 * 40 + 2 * 5 * 40 + 5 * 40 - 1) as f32)));
    let nothing = input.slice([1..2, 0..3, 1..1, 2..5, 7..40]).unwrap();
    let mut none = vec![0.0; 0];
    let counts = copy::simulate(&nothing, &mut HostTensorMut::new(&mut none, [1, 3, 0, 3, 33]).unwrap());
    assert!(counts.unwrap().sites.iter().all(|site| site.counts.instructions == 0));
}

#[test]
fn a_part_may_begin_at_an_odd_place() {
    let data = numbers(4 * 20);
    let input = HostTensor::new(&data, [4, 20]).unwrap();
    let mut result = vec![0.0; 4 * 16];
    let mut output = HostTensorMut::new(&mut result, [4, 16]).unwrap();
    copy_vectors::simulate(&input.slice([0..4, 4..20]).unwrap(), &mut output).unwrap();
    assert_eq!(result[16], 24.0);
    let mut output = HostTensorMut::new(&mut result, [4, 16]).unwrap();
    let error = copy_vectors::simulate(&input.slice([0..4, 1..17]).unwrap(), &mut output).unwrap_err();
    assert!(
        matches!(error, Error::Misaligned { parameter: "input", address: 4, alignment: 16, .. }),
        "{error}"
    );
    // as do parts of parts
    let part = input.slice([0..4, 1..20]).unwrap().slice([0..4, 3..19]).unwrap();
    copy_vectors::simulate(&part, &mut output).unwrap();
    let mut lower = output.slice([1..4, 2..14]).unwrap();
    let error = copy_vectors::simulate(&input.slice([0..3, 0..12]).unwrap(), &mut lower).unwrap_err();
    assert!(matches!(error, Error::Misaligned { parameter: "output", .. }), "{error}");
}

/// The stride of a dimension with one element takes part in no address.
#[test]
fn the_pitch_of_one_row_is_free() {
    let data = numbers(40);
    let mut result = vec![0.0; 36];
    let input = HostTensor::with_strides(&data, [1, 36], [37, 1]).unwrap();
    let mut output = HostTensorMut::new(&mut result, [1, 36]).unwrap();
    copy_vectors::simulate(&input, &mut output).unwrap();
    assert_eq!(result, data[..36]);
    let mut both = vec![0.0; 72];
    let input = HostTensor::with_strides(&data, [2, 18], [18, 1]).unwrap();
    let mut output = HostTensorMut::with_strides(&mut both, [2, 18], [20, 1]).unwrap();
    let error = copy_vectors::simulate(&input, &mut output).unwrap_err().to_string();
    assert!(error.contains("input.pitch() % 4 == 0"), "{error}");
}

/// What is read may name an element more than once; what is written may not.
#[test]
fn windows_and_repeated_rows() {
    let data = numbers(64);
    let mut result = vec![0.0; 64];
    let mut output = HostTensorMut::new(&mut result, [4, 16]).unwrap();
    copy_vectors::simulate(&HostTensor::with_strides(&data, [4, 16], [0, 1]).unwrap(), &mut output).unwrap();
    assert_eq!(result[48..], data[..16]);
    let mut output = HostTensorMut::new(&mut result, [4, 16]).unwrap();
    copy_vectors::simulate(&HostTensor::with_strides(&data, [4, 16], [4, 1]).unwrap(), &mut output).unwrap();
    assert_eq!(result[48..], data[12..28]);
    let error = HostTensorMut::with_strides(&mut result, [4, 16], [4, 1]).unwrap_err();
    assert_eq!(error, ViewError::Overlapping { dimension: 0, stride: 4, needed: 16 });
}

#[test]
fn halves_are_written_apart() {
    let data = numbers(6 * 8);
    let input = HostTensor::new(&data, [6, 8]).unwrap();
    let (above, below) = input.split_at(2).unwrap();
    let mut result = vec![0.0; 6 * 12];
    let mut output = HostTensorMut::with_strides(&mut result, [6, 8], [12, 1]).unwrap();
    let (mut high, mut low) = output.split_at(4).unwrap();
    copy_vectors::simulate(&below, &mut high).unwrap();
    copy_vectors::simulate(&above, &mut low).unwrap();
    assert_eq!(result[4 * 12..][..8], data[..8]);
    assert_eq!(result[..8], data[16..24]);
    assert_eq!(result[8..12], [0.0; 4]);
}

#[test]
fn columns_as_rows() {
    // 2 × 3, column-major, with a leading dimension of 4
    let data = [0.0, 10.0, -1.0, -1.0, 1.0, 11.0, -1.0, -1.0, 2.0, 12.0];
    let matrix = HostTensor::from_column_major(&data, [2, 3], 4).unwrap();
    assert_eq!((matrix.rows(), matrix.cols(), matrix.pitch()), (3, 2, 4));
}

#[test]
fn what_is_outside_is_the_default() {
    let table: Vec<f32> = numbers(6);
    let rows = [2, 0, 3, u32::MAX, 1];
    let cases = [(2, [9.0, 1.0, 1100.0, 1100.0, 5.0]), (1, [1004.0, 1000.0, 1100.0, 1100.0, 1002.0])];
    for (cols, expected) in cases {
        let mut result = [0.0; 5];
        gather::simulate(
            &HostTensor::new(&table, [3, 2]).unwrap().slice([0..3, 0..cols]).unwrap(),
            &HostTensor::new(&rows, [5]).unwrap(),
            &mut HostTensorMut::new(&mut result, [5]).unwrap(),
        )
        .unwrap();
        assert_eq!(result, expected, "{cols} columns");
    }
}

#[test]
fn parts_of_numbers() {
    for extents in [[3, 5, 7], [1, 40, 1], [2, 3, 64], [4, 1, 1]] {
        let count: usize = extents.iter().product();
        let mut result = vec![u32::MAX; count];
        number::simulate(&mut HostTensorMut::new(&mut result, extents).unwrap()).unwrap();
        assert!(result.iter().enumerate().all(|(i, number)| i as u32 == *number), "{extents:?}: {result:?}");
    }
}

/// Brute force over shapes: every place has one number, and the numbers run down the columns of bands of four rows.
#[test]
fn rasters() {
    for rows in 1..14 {
        for cols in 1..7 {
            let mut result = vec![u32::MAX; rows * cols];
            raster::simulate(&mut HostTensorMut::new(&mut result, [rows, cols]).unwrap()).unwrap();
            let mut expected = vec![0; rows * cols];
            let bands = (0..rows).step_by(4).map(|first| first..rows.min(first + 4));
            let places =
                bands.flat_map(|band| (0..cols).flat_map(move |col| band.clone().map(move |row| (row, col))));
            for (number, (row, col)) in places.enumerate() {
                expected[row * cols + col] = number as u32;
            }
            assert_eq!(result, expected, "{rows} × {cols}");
        }
    }
}

#[test]
fn a_stencil_over_the_edges() {
    let (rows, cols) = (9, 37);
    let data = numbers(rows * cols);
    let mut result = vec![0.0; rows * cols];
    neighbours::simulate(
        &HostTensor::new(&data, [rows, cols]).unwrap(),
        &mut HostTensorMut::new(&mut result, [rows, cols]).unwrap(),
    )
    .unwrap();
    let at = |r: usize, c: usize| if r < rows && c < cols { data[r * cols + c] } else { 0.0 };
    for r in 0..rows {
        for c in 0..cols {
            let across = at(r, c.wrapping_sub(1)) + at(r, c + 1);
            assert_eq!(result[r * cols + c], across + at(r.wrapping_sub(1), c) + at(r + 1, c), "{r} {c}");
        }
    }
}

#[test]
fn tables_hold_what_rust_computes() {
    let (rows, cols) = (3, 41);
    let data = numbers(rows * cols);
    let step: f32 = 0.1;
    for (which, weights) in [(0, [step, 1.0 - 2.0 * step, step]), (7, [1.0 / 3.0; 3])] {
        let mut result = vec![0.0; rows * cols];
        let mut output = HostTensorMut::new(&mut result, [rows, cols]).unwrap();
        filter::simulate(&HostTensor::new(&data, [rows, cols]).unwrap(), &mut output, which).unwrap();
        for r in 0..rows {
            for c in 0..cols {
                let mut sum = 0.0;
                for (k, weight) in weights.iter().enumerate() {
                    let inside = (1..=cols).contains(&(c + k));
                    sum += weight * if inside { data[r * cols + c + k - 1] } else { 0.0 };
                }
                assert_eq!(result[r * cols + c], sum + 1.0 / 3.0, "{r} {c}");
            }
        }
    }
}
