//! Bad input at run time is a typed error that says what to do, and nothing panics.

use std::process::Command;
use tileproof::prelude::*;
use tileproof::report::{Role, Space};
use tileproof::{Architecture, Error, ViewError, device};
use tileproof_examples::kernels::tensor_cores::matmul_halves_bf16_8;
use tileproof_examples::kernels::transpose::{copy, transpose_padded, transpose_vectorised};
use tileproof_tests::needs;

#[test]
fn memory_too_short_for_its_shape() {
    let data = [0.0f32; 11];
    let error = HostTensor::new(&data, [3, 4]).unwrap_err();
    assert!(matches!(error, ViewError::TooShort { needed: 12, length: 11, .. }), "{error}");
    let error = HostTensor::new(&data, [usize::MAX, 2]).unwrap_err();
    assert!(matches!(error, ViewError::Overflow { .. }), "{error}");
    // Rows that overlap may be read, and not written.
    HostTensor::with_strides(&data, [3, 4], [3, 1]).unwrap();
    let error = HostTensorMut::with_strides(&mut [0.0f32; 11], [3, 4], [3, 1]).unwrap_err();
    assert!(matches!(error, ViewError::Overlapping { dimension: 0, stride: 3, needed: 4 }), "{error}");
}

/// Simulates `kernel` from a `[rows, cols]` input to an output of other extents.
macro_rules! simulate {
    ($kernel:ident, $input:expr, $output:expr) => {{
        let (input, output): ([usize; 2], [usize; 2]) = ($input, $output);
        let data = vec![1.0f32; input[0] * input[1]];
        let mut result = vec![0.0f32; output[0] * output[1]];
        let view = HostTensor::new(&data, input).unwrap();
        let mut result = HostTensorMut::new(&mut result, output).unwrap();
        $kernel::simulate(&view, &mut result)
    }};
}

#[test]
fn shapes_that_break_the_contract() {
    let error = simulate!(transpose_padded, [8, 32], [8, 32]).unwrap_err();
    let Error::Contract { kernel: "transpose_padded", contract, values } = &error else { panic!("{error}") };
    assert_eq!(*contract, "output.rows() == input.cols()");
    assert_eq!(values, "output.rows() = 8, input.cols() = 32");
    let error = simulate!(transpose_vectorised, [64, 66], [66, 64]).unwrap_err();
    assert!(matches!(error, Error::Contract { contract: "input.cols().is_multiple_of(4)", .. }), "{error}");
}

/// Rows of 64 elements that begin 66 apart: every second one at a multiple of 8 bytes only.
#[test]
fn a_pitch_that_vectors_cannot_use() {
    let data = vec![1.0f32; 64 * 66];
    let mut result = vec![0.0f32; 64 * 64];
    let view = HostTensor::with_strides(&data, [64, 64], [66, 1]).unwrap();
    let mut result = HostTensorMut::new(&mut result, [64, 64]).unwrap();
    let error = transpose_vectorised::simulate(&view, &mut result).unwrap_err();
    assert!(matches!(error, Error::Contract { contract: "input.pitch() % 4 == 0", .. }), "{error}");
    assert!(error.to_string().contains("input.pitch() = 66"), "{error}");
}

/// Vectors behind an offset that only the launch knows.
#[tiled_kernel(block = [32], grid = [1], requires(input.len() >= 332, output.len() >= 128, skip <= 100))]
fn skipping(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>, skip: usize) {
    output.write([4 * thread_x()], input.read::<4>([2 * skip + 4 * thread_x() + 4]));
}

#[test]
fn an_offset_that_vectors_cannot_use() {
    let data: Vec<f32> = (0..332).map(|i| i as f32).collect();
    let input = HostTensor::new(&data, [332]).unwrap();
    let run = |skip| {
        let mut result = vec![0.0f32; 128];
        let outcome = skipping::simulate(&input, &mut HostTensorMut::new(&mut result, [128]).unwrap(), skip);
        outcome.map(|_| result[0])
    };
    assert_eq!(run(6).unwrap(), 16.0);
    let error = run(7).unwrap_err();
    let Error::Contract { contract, values, .. } = &error else { panic!("{error}") };
    assert_eq!((*contract, values.as_str()), ("(2 * skip) % 4 == 0", "skip = 7"));
}

/// The right side of `||` and `&&` in a contract counts only where the left side does not decide.
#[tiled_kernel(
    block = [32],
    grid = [1],
    requires(parts == 0 || output.len() / parts >= 2, parts > 0 && 32 / parts >= 1 || parts == 0)
)]
fn divided(output: &mut Tensor<f32, 1>, parts: usize) {
    if parts > 0 && thread_x() < output.len() {
        output[[thread_x()]] = 1.0;
    }
}

#[test]
fn a_contract_divides_only_where_it_must() {
    let mut result = vec![0.0f32; 4];
    let mut view = HostTensorMut::new(&mut result, [4]).unwrap();
    divided::simulate(&mut view, 0).unwrap();
    divided::simulate(&mut view, 2).unwrap();
    let error = divided::simulate(&mut view, 3).unwrap_err();
    assert!(matches!(error, Error::Contract { .. }), "{error}");
}

#[test]
fn no_rows_are_no_work() {
    for (input, output) in [([0, 5], [5, 0]), ([64, 0], [0, 64]), ([0, 0], [0, 0])] {
        let counts = simulate!(transpose_padded, input, output).unwrap();
        assert_eq!(counts.total(Space::Global, Role::Write).instructions, 0);
    }
    // The contract holds for nothing too.
    let error = simulate!(transpose_padded, [0, 5], [4, 0]).unwrap_err();
    assert!(matches!(error, Error::Contract { .. }), "{error}");
}

#[test]
fn more_rows_than_a_grid_has() {
    let rows = 65_536 * 32;
    let error = simulate!(copy, [rows, 1], [rows, 1]).unwrap_err();
    assert!(matches!(error, Error::Grid { axis: 'y', blocks: 65_536, limit: 65_535, .. }), "{error}");
}

/// Every thread reads what another one writes, with no barrier in between.
#[tiled_kernel(
    block = [64],
    grid = [1],
    requires(output.len() >= 64),
    trust(race, because = "the simulator is to find it"),
)]
fn race(output: &mut Tensor<f32, 1>) {
    let mut tile = Shared::<[f32; 64]>::new();
    tile[thread_x()] = 1.0;
    output[[thread_x()]] = tile[63 - thread_x()];
}

#[test]
fn a_race_is_found_by_the_simulator() {
    let mut data = [0.0f32; 64];
    let error = race::simulate(&mut HostTensorMut::new(&mut data, [64]).unwrap()).unwrap_err();
    let Error::Fault { kernel: "race", fault } = &error else { panic!("{error}") };
    assert!(fault.contains("tile"), "{fault}");
}

/// NVRTC is not asked, so none need be installed.
#[test]
fn an_architecture_that_lacks_an_instruction() {
    let error = matmul_halves_bf16_8::compile(Architecture::new(7, 5)).unwrap_err();
    let Error::MissingInstruction { least, function, .. } = &error else { panic!("{error}") };
    assert_eq!((*least, function.as_str()), (Architecture::new(8, 0), "mma"));
    let text = "`matmul_halves_bf16_8` needs sm_80 or later, because of `mma` on line ";
    assert!(error.to_string().starts_with(text), "{error}");
}

#[test]
fn an_architecture_that_nvrtc_does_not_know() {
    if needs::nvrtc_dir().is_none() {
        return;
    }
    let error = copy::compile(Architecture::new(2, 0)).unwrap_err();
    let Error::UnsupportedArchitecture { supported, .. } = &error else { panic!("{error}") };
    assert!(supported.contains("sm_90"), "{error}");
}

/// Where there is no driver, the error says what to install and what works without.
#[test]
fn without_a_driver() {
    match device::context(0) {
        Err(error @ Error::DriverMissing { .. }) => {
            let text = error.to_string();
            assert!(text.contains("install the NVIDIA driver") && text.contains("`simulate`"), "{text}");
        }
        Err(error @ (Error::Driver { .. } | Error::DriverUnusable { .. })) => {
            assert!(!error.to_string().is_empty());
        }
        Err(error) => panic!("not an error of the driver: {error}"),
        Ok(_) => println!("this machine has a GPU"),
    }
}

/// The library is looked for once a process, so another process looks where there is none.
#[test]
fn without_nvrtc() {
    const CHILD: &str = "TILEPROOF_TEST_WITHOUT_NVRTC";
    if std::env::var_os(CHILD).is_some() {
        for _ in 0..2 {
            let error = copy::compile(Architecture::new(9, 0)).unwrap_err();
            let Error::NvrtcMissing { searched } = &error else { panic!("{error}") };
            assert!(searched.iter().any(|place| place.contains("no-such-folder")), "{error}");
            assert!(error.to_string().contains("nvidia-cuda-nvrtc"), "{error}");
        }
        assert!(simulate!(copy, [33, 31], [33, 31]).is_ok(), "a simulation needs no NVRTC");
        return;
    }
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--exact", "without_nvrtc"]).env(CHILD, "1").env("TILEPROOF_NVRTC_DIR", "no-such-folder");
    let output = child.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}
