//! What the pages of the book's reference chapter hold as accepted, compiled by rustc: `reference/main.rs` writes it. The
//! patterns are also run.

#![allow(dead_code, unused, missing_docs, unreachable_pub, clippy::all)]

include!("accepted.in");

use tileproof::prelude::*;

const SIZES: [[usize; 2]; 5] = [[1, 1], [3, 2], [8, 32], [9, 33], [37, 101]];

fn bytes(count: usize) -> Vec<u8> {
    (0..count).map(|i| (i * 37 % 251) as u8).collect()
}

/// The mean of the 3 × 3 bytes around each, and what `border` says at the border.
fn blurred([rows, cols]: [usize; 2], input: &[u8], border: impl Fn(u8, u32) -> u8) -> Vec<u8> {
    let at = |r: usize, c: usize| match (1..=rows).contains(&r) && (1..=cols).contains(&c) {
        true => u32::from(input[(r - 1) * cols + c - 1]),
        false => 0,
    };
    (0..rows * cols)
        .map(|i| {
            let (r, c) = (i / cols, i % cols);
            let sum: u32 = (0..9).map(|k| at(r + k / 3, c + k % 3)).sum();
            match r >= 1 && r + 1 < rows && c >= 1 && c + 1 < cols {
                true => (sum / 9) as u8,
                false => border(input[i], sum),
            }
        })
        .collect()
}

#[test]
fn neighbourhoods() {
    for size in SIZES {
        let input = bytes(size[0] * size[1]);
        let mut output = vec![0u8; input.len()];
        let view = HostTensor::new(&input, size).unwrap();
        patterns::blur::blur::simulate(&view, &mut HostTensorMut::new(&mut output, size).unwrap()).unwrap();
        assert_eq!(output, blurred(size, &input, |own, _| own), "{size:?}");
        let mut out = HostTensorMut::new(&mut output, size).unwrap();
        patterns::blur_by_tile::blur_by_tile::simulate(&view, &mut out).unwrap();
        assert_eq!(output, blurred(size, &input, |_, sum| (sum / 9) as u8), "{size:?}");
    }
}

#[test]
fn rows_of_warps() {
    let lengths = [0, 1, 31, 32, 33, 100, 0, 7, 64, 3];
    let starts: Vec<u32> = (0..=lengths.len()).map(|i| lengths[..i].iter().sum::<usize>() as u32).collect();
    let values: Vec<f32> = (0..271).map(|i| (i % 17) as f32).collect();
    let mut sums = vec![0.0f32; lengths.len()];
    patterns::segment_sums::segment_sums::simulate(
        &HostTensor::new(&starts, [starts.len()]).unwrap(),
        &HostTensor::new(&values, [values.len()]).unwrap(),
        &mut HostTensorMut::new(&mut sums, [lengths.len()]).unwrap(),
    )
    .unwrap();
    for (i, sum) in sums.iter().enumerate() {
        let range = starts[i] as usize..starts[i + 1] as usize;
        assert_eq!(*sum, values[range].iter().sum::<f32>(), "segment {i}");
    }
}

#[test]
fn stages() {
    let input: Vec<f32> = (0..256).map(|i| (i * 7 % 23) as f32).collect();
    let mut output = vec![0.0f32; 256];
    let mut out = HostTensorMut::new(&mut output, [256]).unwrap();
    patterns::haar::haar::simulate(&HostTensor::new(&input, [256]).unwrap(), &mut out).unwrap();
    let mut expected = input;
    for half in (0..8).map(|stage| 1 << stage) {
        for low in (0..256).filter(|i| i & half == 0) {
            let (a, b) = (expected[low], expected[low + half]);
            (expected[low], expected[low + half]) = (a + b, a - b);
        }
    }
    assert_eq!(output, expected);
}

#[test]
fn vectors() {
    let input: Vec<f32> = (0..1028).map(|i| i as f32).collect();
    let mut output = vec![0.0f32; 1028];
    let mut out = HostTensorMut::new(&mut output, [1028]).unwrap();
    patterns::scale::scale::simulate(&HostTensor::new(&input, [1028]).unwrap(), &mut out, 2.0).unwrap();
    assert_eq!(output, input.iter().map(|x| 2.0 * x).collect::<Vec<f32>>());
}
