//! Cases that only a launch shows, with their right answers; `cases.md` lists all of them.

use std::collections::BTreeSet;
use std::path::Path;
use tileproof::Error;
use tileproof::prelude::*;
use tileproof::report::{Role, Space};

/// 16 bytes a lane.
#[tiled_kernel(block = [32], grid = [1], requires(input.len() == 256, output.len() == 256))]
fn copy_by_eight(input: &Tensor<bf16, 1>, output: &mut Tensor<bf16, 1>) {
    output.write([8 * thread_x()], input.read::<8>([8 * thread_x()]));
}

/// Case 42: a view of all elements but the first is contiguous, and not aligned to vectors. The launch says so.
#[test]
fn contiguous_is_not_aligned() {
    let (data, mut result) = (vec![bf16::ONE; 257], vec![bf16::ZERO; 256]);
    let data = HostTensor::new(&data, [257]).unwrap();
    let mut output = HostTensorMut::new(&mut result, [256]).unwrap();
    copy_by_eight::simulate(&data.split_at(256).unwrap().0, &mut output).unwrap();
    let error = copy_by_eight::simulate(&data.split_at(1).unwrap().1, &mut output).unwrap_err();
    assert!(matches!(error, Error::Misaligned { parameter: "input", alignment: 16, .. }), "{error}");
}

/// A block for each matrix of a batch.
#[tiled_kernel(block = [32], grid = [1, output.rows()])]
fn batch_along_y(output: &mut Matrix<u8>) {
    if thread_x() < output.cols() && block_y() < output.rows() {
        output[[block_y(), thread_x()]] = 1;
    }
}

#[tiled_kernel(block = [32], grid = [output.rows()])]
fn batch_along_x(output: &mut Matrix<u8>) {
    if thread_x() < output.cols() && block_x() < output.rows() {
        output[[block_x(), thread_x()]] = 1;
    }
}

/// Runs a kernel on a batch of so many matrices of one element.
macro_rules! batch {
    ($kernel:ident, $count:expr) => {{
        let mut data = vec![0u8; $count];
        let outcome = $kernel::simulate(&mut HostTensorMut::new(&mut data, [$count, 1]).unwrap());
        outcome.map(|_| data.iter().all(|value| *value == 1))
    }};
}

/// Case 68: a shape of 8192 × 16384 whose grid has 65,536 blocks along y.
#[test]
fn a_grid_too_long_along_y() {
    let error = batch!(batch_along_y, 65_536).unwrap_err();
    assert!(matches!(error, Error::Grid { axis: 'y', blocks: 65_536, limit: 65_535, .. }), "{error}");
}

/// Case 69: a batch of 65,535 works along y, and one more does not.
#[test]
fn the_longest_grid_along_y() {
    assert!(batch!(batch_along_y, 65_535).unwrap());
    assert!(batch!(batch_along_y, 65_536).is_err());
}

/// Case 71: what is too long for y fits x.
#[test]
fn long_extents_belong_to_x() {
    assert!(batch!(batch_along_x, 65_536).unwrap());
}

/// Case 74: a tensor of 0 × 0 elements launches nothing, and is no error.
#[test]
fn no_elements_are_no_launch() {
    let mut nothing: [u8; 0] = [];
    let counts = batch_along_y::simulate(&mut HostTensorMut::new(&mut nothing, [0, 0]).unwrap()).unwrap();
    assert_eq!(counts.total(Space::Global, Role::Write).instructions, 0);
}

#[tiled_kernel(block = [32], grid = [samples.div_ceil(32)], requires(output.len() >= samples))]
fn fill_samples(output: &mut Tensor<f32, 1>, samples: usize) {
    let i = block_x() * 32 + thread_x();
    if i < samples {
        output[[i]] = 1.0;
    }
}

/// Case 75: no samples are no launch, whatever the memory holds.
#[test]
fn no_samples_are_no_launch() {
    let mut data = [7.0f32; 4];
    fill_samples::simulate(&mut HostTensorMut::new(&mut data, [4]).unwrap(), 0).unwrap();
    assert_eq!(data, [7.0; 4]);
}

/// The numbers of the cases of kinds I to VIII.
const CASES: [u32; 50] = [
    1, 3, 4, 6, 8, 10, 11, 12, 14, 15, 17, 19, 21, 23, 24, // banks
    25, 27, 28, 29, 30, 32, 33, // swizzles and fragments
    35, 36, 37, 38, // sectors
    40, 42, 44, 45, 46, // alignment
    49, 50, 51, 53, // size of shared memory
    55, 56, 58, 60, 61, // barriers and races
    62, 64, 65, 67, // overflow
    68, 69, 71, 72, 74, 75, // limits of a launch
];

/// `cases.md` names every case once, each with a test that exists or the reason for none.
#[test]
fn every_case_is_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let list = std::fs::read_to_string(folder.join("cases.md")).expect("the list");
    let mut listed = Vec::new();
    let mut problems = Vec::new();
    for row in list.lines().filter_map(|line| line.strip_prefix("| ")) {
        let cells: Vec<&str> = row.trim_end_matches('|').split('|').map(str::trim).collect();
        let [number, _, pattern, test] = cells[..] else { panic!("a row of four cells: {row}") };
        let Ok(number) = number.parse::<u32>() else { continue };
        listed.push(number);
        let test = test.trim_matches('`');
        let exists = match test.split_once(".rs::") {
            Some((file, name)) => {
                let path = folder.join("..").join(format!("{file}.rs"));
                let text = std::fs::read_to_string(path).unwrap_or_default();
                text.contains(&format!("#[test]\nfn {name}()"))
                    || text.contains(&format!("#[test]\n    fn {name}()"))
            }
            None => test.starts_with("none: "),
        };
        if !exists || pattern.is_empty() {
            problems.push(format!("case {number} names no test that exists, and no reason: {test}"));
        }
    }
    let distinct: BTreeSet<u32> = listed.iter().copied().collect();
    assert_eq!(distinct.len(), listed.len(), "a case is listed twice");
    assert_eq!(distinct, BTreeSet::from(CASES), "the cases of the list");
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
