//! Generic kernels and their instances, through rustc.
#![cfg(feature = "simulate")]

use tileproof::Error;
use tileproof::prelude::*;

/// Copies vectors of `V` elements.
#[tiled_kernel(
    block = [256],
    grid = [output.len().div_ceil(256 * V)],
    requires(input.len() == output.len(), output.len().is_multiple_of(V)),
    instances((f32, 1), (f32, 4), (f64, 2), (f64, 1), (u8, 16)),
)]
pub fn copy<T, const V: usize>(input: &Tensor<T, 1>, output: &mut Tensor<T, 1>) {
    let i = (block_x() * 256 + thread_x()) * V;
    if i < output.len() {
        output.write([i], input.read::<V>([i]));
    }
}

/// A constant that is no width is the caller's.
#[tiled_kernel(
    block = [32], grid = [output.len().div_ceil(32)], instances((f32, 2), (f32, 3), (f64, 3)),
)]
pub fn power<T, const N: usize>(base: T, output: &mut Tensor<T, 1>) {
    let i = block_x() * 32 + thread_x();
    if i < output.len() {
        let mut product = base;
        for _ in 1..N {
            product *= base;
        }
        output[[i]] = product;
    }
}

#[tiled_module]
mod layouts {
    use tileproof::prelude::*;

    type Elem = f32;
    const SIDE: usize = 32;

    /// A layout is a type; the kernel is private.
    #[tiled_kernel(
        block = [SIDE, 8],
        grid = [input.cols().div_ceil(SIDE), input.rows().div_ceil(SIDE)],
        requires(output.rows() == input.cols(), output.cols() == input.rows()),
        instances(Pad<1>, Xor<1>),
    )]
    fn transpose<L>(input: &Matrix<Elem>, output: &mut Matrix<Elem>) {
        let mut tile = Shared::<[[Elem; SIDE]; SIDE], L>::new();
        let (row, col) = (block_y() * SIDE + thread_y(), block_x() * SIDE + thread_x());
        for k in (0..SIDE).step_by(8) {
            if row + k < input.rows() && col < input.cols() {
                tile[thread_y() + k][thread_x()] = input[[row + k, col]];
            }
        }
        sync_threads();
        let (row, col) = (block_x() * SIDE + thread_y(), block_y() * SIDE + thread_x());
        for k in (0..SIDE).step_by(8) {
            if row + k < output.rows() && col < output.cols() {
                output[[row + k, col]] = tile[thread_x()][thread_y() + k];
            }
        }
    }

    pub(super) fn run(input: &[f32], output: &mut [f32]) {
        let input = HostTensor::new(input, [3, 2]).unwrap();
        let mut output = HostTensorMut::new(output, [2, 3]).unwrap();
        transpose::simulate::<Xor<1>>(&input, &mut output).unwrap();
        transpose::simulate::<Pad<1>>(&input, &mut output).unwrap();
        transpose_Pad_1::simulate(&input, &mut output).unwrap();
        let bytes = transpose::reports().map(|report| report.shared_bytes);
        assert_eq!(bytes, [32 * 33 * 4, 32 * 32 * 4]);
    }
}

/// The bytes that a lane moved in a launch of `len` elements.
fn lane_bytes<T: tileproof::Element + From<u8> + PartialEq + std::fmt::Debug>(
    len: usize,
    run: impl FnOnce(&HostTensor<'_, T, 1>, &mut HostTensorMut<'_, T, 1>) -> Result<tileproof::Counts, Error>,
) -> Result<u32, Error> {
    let input: Vec<T> = (0..len).map(|i| T::from(i as u8)).collect();
    let mut output = vec![T::from(0); len];
    let counts =
        run(&HostTensor::new(&input, [len]).unwrap(), &mut HostTensorMut::new(&mut output, [len]).unwrap())?;
    assert_eq!(input, output);
    Ok(counts.sites[0].site.lane_bytes)
}

#[test]
fn the_launch_takes_the_widest_vectors_that_fit() {
    assert_eq!(lane_bytes::<f32>(1000, copy::simulate).unwrap(), 16);
    assert_eq!(lane_bytes::<f32>(1001, copy::simulate).unwrap(), 4);
    assert_eq!(lane_bytes::<f64>(1000, copy::simulate).unwrap(), 16);
    assert_eq!(lane_bytes::<f64>(1001, copy::simulate).unwrap(), 8);
    assert_eq!(lane_bytes::<u8>(160, copy::simulate).unwrap(), 16);
    let error = lane_bytes::<u8>(161, copy::simulate).unwrap_err().to_string();
    assert!(error.starts_with("`copy_u8_16` requires `output.len().is_multiple_of(V)`"), "{error}");
}

#[test]
fn an_instance_is_a_kernel() {
    assert_eq!(lane_bytes::<f32>(1000, copy_f32_1::simulate).unwrap(), 4);
    assert!(lane_bytes::<f32>(1001, copy_f32_4::simulate).is_err());
    assert!(copy_f32_4::CUDA_SOURCE.contains("copy_f32_4("));
    assert_eq!(copy_f32_4::report().kernel, "copy_f32_4");
    let kernels = copy::reports().map(|report| report.kernel.clone());
    assert_eq!(kernels, ["copy_f32_1", "copy_f32_4", "copy_f64_2", "copy_f64_1", "copy_u8_16"]);
    assert_eq!(copy::CUDA_SOURCES[1], copy_f32_4::CUDA_SOURCE);
}

#[test]
fn what_is_no_width_is_chosen_by_the_caller() {
    let mut output = [0.0f32; 3];
    let mut view = HostTensorMut::new(&mut output, [3]).unwrap();
    power::simulate::<f32, 3>(2.0, &mut view).unwrap();
    assert_eq!(output, [8.0; 3]);
    let mut view = HostTensorMut::new(&mut output, [3]).unwrap();
    power::simulate::<_, 2>(2.0, &mut view).unwrap();
    assert_eq!(output, [4.0; 3]);
}

#[test]
fn a_layout_is_a_type() {
    let mut output = [0.0; 6];
    layouts::run(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &mut output);
    assert_eq!(output, [1.0, 3.0, 5.0, 2.0, 4.0, 6.0]);
}
