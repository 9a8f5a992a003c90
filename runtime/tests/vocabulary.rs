//! rustc type-checks the bodies of kernels although they never run on the host.

use tileproof::prelude::*;

/// A body as the macro keeps it: compiled, never called.
#[allow(dead_code)]
fn transpose(input: &Matrix<f32>, output: &mut Matrix<f32>) {
    let mut tile = Shared::<[[f32; 32]; 32], Pad<1>>::new();
    let (row0, col) = (block_y() * 32 + thread_y(), block_x() * 32 + thread_x());
    for k in (0..32).step_by(8) {
        if row0 + k < input.rows() && col < input.cols() {
            tile[thread_y() + k][thread_x()] = input[[row0 + k, col]];
        }
    }
    sync_threads();
    let (row0, col) = (block_x() * 32 + thread_y(), block_y() * 32 + thread_x());
    for k in (0..32).step_by(8) {
        if row0 + k < output.rows() && col < output.cols() {
            output[[row0 + k, col]] = tile[thread_x()][thread_y() + k];
        }
    }
}

#[allow(dead_code)]
fn vectors(
    input: &Tensor<f64, 3>,
    output: &mut Tensor<f64, 3>,
    line: &mut Tensor<u8, 1>,
    scale: f64,
    n: usize,
) {
    let mut stages = Shared::<[[[f64; 16]; 8]; 2], Xor<2>>::new();
    let mut flat = Shared::<[u8; 64]>::new();
    let deep = Shared::<[[[[i16; 8]; 4]; 2]; 2], Swizzle<2, 1, 3>>::new();
    let mut v: Vector<f64, 2> = input.read([block_z(), thread_y(), 2 * thread_x()]);
    v[0] *= scale;
    stages.write([1, thread_y(), 2 * thread_x()], v);
    stages[0][thread_y()][thread_x()] += v[1];
    flat.write([4 * thread_x()], Vector::splat(1u8) as Vector<u8, 4>);
    let words: Vector<u8, 4> = flat.read([0]);
    let _: Vector<i16, 8> = deep.read([1, 1, 3, 0]);
    let w = Vector::new([stages[1][0][thread_z()], scale]);
    output.write([input.extent(0) - 1 - block_z(), grid_y().min(n), 2 * (input.stride(0) % 4)], w);
    let [a, b, c] = unflatten(n, [input.extent(0), 4, 2]);
    let [row, col] = rasterize(block_x(), [n, n], 8);
    output[[row, col, flatten([a, b, c], [n, 4, 2])]] = scale;
    let last = line.len() - 1;
    line[[last]] = words[3];
    if stages.contains([1, thread_y() + 1, 0]) && input.contains([0, 0, n]) {
        stages[0][0][0] = stages.get_or([0, n, 1], 0.5) + input.get_or([n, 1, n + 2], scale);
    }
}

#[allow(dead_code)]
fn together(input: &Tensor<f32, 1>, output: &mut Tensor<u32, 1>, n: usize) {
    let v: Vector<f32, 4> = shuffle_down(input.read([4 * (lane() + 32 * warp())]), 1);
    let shifted: Vector<f32, 4> = input.read_unaligned([n]);
    let from = shuffle(thread_x(), warp_count());
    sync_warp();
    if any(v[0] > shifted[3]) && all(shuffle_xor(from < n, 16)) {
        output[[from]] = ballot(shuffle_up(v[1], 2) > v[2]) ^ match_any(v[3]) ^ match_any(n);
    }
    let sum = block_sum(v[0] - block_max(v[1]) + warp_scan_exclusive(v[2]));
    output[[1]] = (sum + warp_min(v[3])) as u32 + block_scan_inclusive(warp_sum(n as u32));
    let mut bins = Shared::<[[u32; 8]; 2]>::new();
    let before = bins.atomic_add([1, from % 8], 1);
    bins.atomic_max([0, 0], before);
    output.atomic_compare_exchange([n], before, bins.atomic_exchange([1, 1], 0));
    if sync_threads_and(n > 3) != sync_threads_or(n > 4) {
        output[[0]] = sync_threads_count(v[0] > 1.0) as u32;
    }
}

#[allow(dead_code)]
fn matrices(
    output: &mut Tensor<f32, 1>,
    tile: &Shared<[[f32; 8]; 32]>,
    halves: &Shared<[[f16; 8]; 32], Xor<8>>,
) {
    let a = tile.read_matrices::<4>([lane() % 16, lane() / 16 * 4]).map(|x| x.to_tf32());
    let b = tile.read_matrices([lane() % 8, lane() / 8 % 2 * 4]);
    let sum = mma(a, b, Vector::splat(0.0));
    let right: Vector<f16, 4> = halves.read_matrices_transposed([lane() % 16, 0]);
    output.write([4 * lane()], mma(halves.read_matrices::<8>([lane(), 0]), right, sum));
    let integers = mma(Vector::<i8, 16>::splat(1), Vector::splat(-1), Vector::splat(0));
    let bytes = mma(Vector::<u8, 16>::splat(1), Vector::splat(1), integers);
    let bf16s = mma(Vector::<bf16, 8>::splat(bf16::ONE), Vector::splat(bf16::ONE), Vector::splat(0.5));
    output[[0]] = bf16s[bytes[0] as usize];
}

#[test]
fn the_vocabulary_has_no_meaning_on_the_host() {
    let message = |run: fn() -> usize| {
        let panic = std::panic::catch_unwind(run).unwrap_err();
        *panic.downcast::<String>().unwrap()
    };
    let expected = "`thread_x` has a meaning only inside a kernel: mark the function with `#[tiled_kernel]` and run it \
                    with its `launch` or `simulate`";
    assert_eq!(message(thread_x), expected);
    assert!(message(grid_z).starts_with("`grid_z` has"));
    assert!(message(|| Shared::<[u8; 4]>::new()[0].into()).starts_with("`Shared::new` has"));
}

#[test]
fn host_views() {
    let mut data = vec![0.0f32; 40];
    let matrix = HostTensorMut::with_strides(&mut data, [4, 8], [10, 1]).unwrap();
    assert_eq!((matrix.rows(), matrix.cols(), matrix.pitch()), (4, 8, 10));
    assert_eq!(
        (matrix.extent(1), matrix.stride(1), matrix.extents(), matrix.strides()),
        (8, 1, [4, 8], [10, 1])
    );
    let error = HostTensor::new(&data, [5, 9]).unwrap_err().to_string();
    assert!(error.contains("needs 45 elements, and the memory holds 40"), "{error}");
    let line = HostTensor::new(&data, [0]).unwrap();
    assert!(line.is_empty());
    assert_eq!(format!("{line:?}"), "HostTensor<f32, 1> [0] with strides [1] in 40 elements");
}

/// An item as the macro leaves it.
struct Kernel;

impl Kernel {
    tileproof::__private::if_simulate! {
        fn simulates() -> bool {
            true
        }
    }
}

#[cfg(not(feature = "simulate"))]
trait Otherwise {
    fn simulates() -> bool {
        false
    }
}

#[cfg(not(feature = "simulate"))]
impl Otherwise for Kernel {}

#[test]
fn the_simulator_is_there_if_this_crate_has_it() {
    assert_eq!(Kernel::simulates(), cfg!(feature = "simulate"));
}

/// Halves, vectors and offsets: rustc accepts the body, and the host's own functions compute the same.
#[cfg(feature = "simulate")]
mod numbers {
    use tileproof::prelude::*;

    #[tiled_kernel(
        block = [32],
        grid = [output.len().div_ceil(64)],
        requires(input.len() == output.len(), output.len().is_multiple_of(2)),
    )]
    fn smooth(input: &Tensor<bf16, 1>, output: &mut Tensor<bf16, 1>, shift: isize, scale: bf16) {
        let i = 2 * (block_x() * 32 + thread_x());
        if i + 2 <= output.len() {
            let from = i as isize + 2 * (shift + 3);
            if from >= 0 && from + 2 <= input.len() as isize && from.rem_euclid(2) == 0 {
                let v = input.read::<2>([2 * (from as usize / 2)]);
                let wide = (v * scale).cast::<f32>().map(|x| 0.5 * x * (1.0 + (x * 0.7).erf()));
                output.write([i], wide.cast::<bf16>() + v.abs());
            }
        }
    }

    #[test]
    fn halves_vectors_and_offsets() {
        let input: Vec<bf16> = (0..100).map(|i| bf16::from_f32(i as f32 / 8.0 - 6.0)).collect();
        let mut output = vec![bf16::ZERO; 100];
        let scale = bf16::from_f32(1.5);
        let shape = HostTensor::new(&input, [100]).unwrap();
        smooth::simulate(&shape, &mut HostTensorMut::new(&mut output, [100]).unwrap(), -3, scale).unwrap();
        for (x, got) in input.into_iter().zip(output) {
            let wide = (x * scale).to_f32();
            let wide = 0.5 * wide * (1.0 + FloatExt::erf(wide * 0.7));
            assert_eq!(got, bf16::from_f32(wide) + HalfExt::abs(x), "{x}");
        }
    }
}
