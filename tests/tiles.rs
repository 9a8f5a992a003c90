//! Operations on whole tiles, on the simulator: every element at sizes around those of a tile.

use tileproof::prelude::*;
use tileproof_tests::tiles;

const SIZES: [(usize, usize); 10] =
    [(1, 1), (0, 7), (7, 0), (31, 37), (32, 32), (33, 65), (64, 64), (61, 32), (129, 127), (65, 96)];

/// Compares a transpose with the reference, on rows that begin `gap` elements after the end of the one before; the gaps
/// must stay as they are.
fn transposed<T: tileproof::Element + PartialEq + std::fmt::Debug>(
    multiple: usize,
    value: impl Fn(usize) -> T,
    run: impl Fn(&HostTensor<'_, T, 2>, &mut HostTensorMut<'_, T, 2>),
) {
    for (rows, cols) in SIZES {
        for gap in [0, 5] {
            let (pitch, out_pitch) =
                ((cols + gap).next_multiple_of(multiple), (rows + gap).next_multiple_of(multiple));
            let data: Vec<T> = (0..rows * pitch).map(&value).collect();
            let untouched = value(usize::MAX / 2);
            let mut result = vec![untouched; cols * out_pitch];
            let input = HostTensor::with_strides(&data, [rows, cols], [pitch, 1]).expect("a view");
            let mut output =
                HostTensorMut::with_strides(&mut result, [cols, rows], [out_pitch, 1]).expect("a view");
            run(&input, &mut output);
            for c in 0..cols {
                for r in 0..out_pitch {
                    let expected = if r < rows { data[r * pitch + c] } else { untouched };
                    assert_eq!(result[c * out_pitch + r], expected, "{rows} × {cols}, gap {gap}: [{c}][{r}]");
                }
            }
        }
    }
}

#[test]
fn transposes() {
    let value = |i: usize| (i % 65_521) as f32;
    transposed(1, value, |input, output| {
        tiles::transpose_elements::simulate(input, output).expect("no fault");
    });
    transposed(1, value, |input, output| {
        tiles::transpose_dynamic::simulate(input, output).expect("no fault");
    });
    transposed(4, value, |input, output| {
        tiles::transpose_vectors::simulate(input, output).expect("no fault");
    });
    transposed(
        4,
        |i| (i % 251) as u8,
        |input, output| {
            tiles::transpose_bytes::simulate(input, output).expect("no fault");
        },
    );
}

/// Zeros beyond the edge add nothing.
#[test]
fn zeros_beyond_the_edge() {
    for (rows, cols) in SIZES {
        let data: Vec<f64> = (0..rows * cols).map(|i| (i % 101) as f64).collect();
        let mut sums = vec![-1.0; rows];
        let input = HostTensor::new(&data, [rows, cols]).expect("a view");
        let mut output = HostTensorMut::new(&mut sums, [rows]).expect("a view");
        tiles::row_sums::simulate(&input, &mut output).expect("no fault");
        for (row, sum) in sums.iter().enumerate() {
            assert_eq!(*sum, data[row * cols..][..cols].iter().sum::<f64>(), "{rows} × {cols}, row {row}");
        }
    }
}

#[test]
fn rows_of_one_extent() {
    for length in [0, 1, 2, 199, 200, 201, 997] {
        let data: Vec<i32> = (0..length).collect();
        let mut doubled = vec![-1; data.len()];
        let input = HostTensor::new(&data, [data.len()]).expect("a view");
        let mut output = HostTensorMut::new(&mut doubled, [data.len()]).expect("a view");
        tiles::doubled::simulate(&input, &mut output).expect("no fault");
        assert!(doubled.iter().zip(&data).all(|(doubled, value)| *doubled == 2 * value), "{length}");
    }
}

#[test]
fn products_by_asynchronous_copies() {
    for (m, n, k) in [(1, 1, 1), (32, 32, 32), (33, 31, 17), (64, 96, 48), (5, 70, 0), (61, 67, 53)] {
        let (k_pitch, n_pitch) = (usize::next_multiple_of(k, 4), usize::next_multiple_of(n, 4));
        let a: Vec<f32> = (0..m * k_pitch).map(|i| (i % 13) as f32 - 6.0).collect();
        let b: Vec<f32> = (0..k * n_pitch).map(|i| (i % 11) as f32 - 5.0).collect();
        let mut c = vec![f32::NAN; m * n];
        let left = HostTensor::with_strides(&a, [m, k], [k_pitch, 1]).expect("a view");
        let right = HostTensor::with_strides(&b, [k, n], [n_pitch, 1]).expect("a view");
        let mut product = HostTensorMut::new(&mut c, [m, n]).expect("a view");
        tiles::matmul_async::simulate(&left, &right, &mut product).expect("no fault");
        for row in 0..m {
            for col in 0..n {
                let sum: f32 = (0..k).map(|i| a[row * k_pitch + i] * b[i * n_pitch + col]).sum();
                assert_eq!(c[row * n + col], sum, "{m} × {n} × {k}: [{row}][{col}]");
            }
        }
    }
}

#[test]
fn pairs_of_half_words() {
    for (rows, cols) in SIZES {
        let pitch = cols.next_multiple_of(2);
        let data: Vec<u16> = (0..rows * pitch).map(|i| (i % 65_521) as u16).collect();
        let mut copied = data.clone();
        copied.fill(u16::MAX);
        let input = HostTensor::with_strides(&data, [rows, cols], [pitch, 1]).expect("a view");
        let mut output = HostTensorMut::with_strides(&mut copied, [rows, cols], [pitch, 1]).expect("a view");
        tiles::copy_async::simulate(&input, &mut output).expect("no fault");
        for row in 0..rows {
            assert_eq!(
                copied[row * pitch..][..cols],
                data[row * pitch..][..cols],
                "{rows} × {cols}, row {row}"
            );
        }
    }
}

/// A block inside the tensor takes the path without guards only.
#[test]
fn blocks_inside_take_one_path() {
    let data = vec![1.0_f32; 64 * 64];
    let mut result = vec![0.0_f32; 64 * 64];
    let counts = |rows: usize, result: &mut [f32]| {
        let input = HostTensor::new(&data[..rows * 64], [rows, 64]).expect("a view");
        let mut output = HostTensorMut::new(&mut result[..rows * 64], [64, rows]).expect("a view");
        tiles::transpose_elements::simulate(&input, &mut output).expect("no fault")
    };
    let inside = counts(64, &mut result);
    assert!(inside.sites.iter().all(|site| site.site.edge == (site.counts.instructions == 0)));
    let crossing = counts(31, &mut result);
    assert!(crossing.sites.iter().all(|site| site.site.edge == (site.counts.instructions > 0)));
}
