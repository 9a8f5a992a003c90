//! Every kernel on a GPU: results against the reference, element by element; of the transpose ladder, also large matrices and
//! launches that are refused; and kernels compiled at run time.
//!
//! Every output is poisoned first, with elements after it and between its rows that no kernel may touch. Without a GPU
//! or NVRTC the tests skip aloud. With `TILEPROOF_SMALL` set, the largest matrices are small enough for a sanitizer.

use std::io::Write;
use std::sync::Arc;
use tileproof::cudarc::driver::{CudaContext, CudaSlice, CudaStream};
use tileproof::prelude::*;
use tileproof::{Error, ScalarType, ScalarValue, device, nvrtc, unload};
use tileproof_examples::array::Data;
use tileproof_examples::kernels::SUBJECTS;
use tileproof_examples::kernels::tensor_cores::matmul_halves_bf16_8;
use tileproof_examples::ladder::{LADDER, Rung, random};
use tileproof_tests::dynamic::{Argument, Dynamic, Tensor};
use tileproof_tests::needs::{self, Need};
use tileproof_tests::tiles::transpose_dynamic;

/// A quiet NaN that no arithmetic makes.
const POISON: u32 = 0x7fc0_dead;

/// Poisoned elements behind every output.
const MARGIN: usize = 64;

/// A context, if this machine can launch; says what is missing if not.
#[track_caller]
fn gpu() -> Option<Arc<CudaContext>> {
    let need = match device::context(0) {
        Ok(context) => match nvrtc() {
            Ok(_) => return Some(context),
            Err(error) => (Need::Nvrtc, error),
        },
        Err(error) => (Need::Gpu, error),
    };
    needs::skip(need.0, &need.1.to_string());
    None
}

fn rung(name: &str) -> Rung {
    LADDER.into_iter().find(|rung| rung.name == name).expect("the ladder has it")
}

fn poisoned(stream: &Arc<CudaStream>, count: usize) -> CudaSlice<f32> {
    stream.clone_htod(&vec![f32::from_bits(POISON); count]).unwrap()
}

fn bits(stream: &Arc<CudaStream>, memory: &CudaSlice<f32>) -> Vec<u32> {
    stream.clone_dtoh(memory).unwrap().into_iter().map(f32::to_bits).collect()
}

/// Rows of `cols` elements laid out every `pitch` elements, poison between them and after the last.
fn spread(elements: &[f32], rows: usize, cols: usize, pitch: usize) -> Vec<f32> {
    let mut memory = vec![f32::from_bits(POISON); rows * pitch + MARGIN];
    for row in 0..rows {
        memory[row * pitch..][..cols].copy_from_slice(&elements[row * cols..][..cols]);
    }
    memory
}

/// Launches on a matrix of at least `rows` × `cols` whose rows, and those of the output, have `gap` elements behind them.
fn equals_the_reference(stream: &Arc<CudaStream>, rung: &Rung, rows: usize, cols: usize, gap: usize) {
    let (rows, cols) = rung.storage(rows, cols);
    let (out_rows, out_cols) = rung.output_extents(rows, cols);
    let (pitch, out_pitch) = (cols + gap, out_cols + gap);
    let data = random(rows * cols, (rows + cols) as u64);

    let input = stream.clone_htod(&spread(&data, rows, cols, pitch)).unwrap();
    let mut output = poisoned(stream, out_rows * out_pitch + MARGIN);
    let input = TensorView::with_strides(&input, [rows, cols], [pitch, 1]).unwrap();
    let mut view = TensorViewMut::with_strides(&mut output, [out_rows, out_cols], [out_pitch, 1]).unwrap();
    (rung.launch)(stream, &input, &mut view).unwrap();

    let expected = spread(&rung.reference(&data, rows, cols), out_rows, out_cols, out_pitch);
    let actual = bits(stream, &output);
    let wrong = actual.iter().zip(&expected).position(|(actual, expected)| *actual != expected.to_bits());
    assert_eq!(wrong, None, "{} {rows} × {cols}, rows {pitch} and {out_pitch} apart", rung.name);
}

#[test]
fn every_kernel_equals_its_reference() {
    let Some(context) = gpu() else { return };
    let stream = context.default_stream();
    for subject in SUBJECTS {
        for size in subject.sizes {
            for gap in [0, subject.gap] {
                let place = format!("{} at {size:?}, gap {gap}", subject.name);
                let run =
                    (subject.launch)(&stream, size, gap).unwrap_or_else(|error| panic!("{place}: {error}"));
                if let Some(difference) = run.difference(subject.ulps) {
                    panic!("{place}: {difference}");
                }
            }
        }
    }
}

/// Neither the order nor the rounding of the sums is specified: `mma` states how far they are from the exact ones at most, and
/// so do those of several.
#[test]
fn products_of_random_floats_are_within_their_bound() {
    let Some(context) = gpu() else { return };
    let stream = context.default_stream();
    let (rows, cols, depth) = (64, 96, 512);
    let mut data = Data::new(0);
    let (a, b) = (data.random::<bf16, 2>([rows, depth]), data.random::<bf16, 2>([depth, cols]));
    let (left, right) = (a.upload(&stream).unwrap(), b.upload(&stream).unwrap());
    let mut sums = data.output::<f32, 2>([rows, cols]).upload(&stream).unwrap();
    let (left, right) = (left.view().unwrap(), right.view().unwrap());
    matmul_halves_bf16_8::launch(&stream, &left, &right, &mut sums.view_mut().unwrap()).unwrap();
    let sums = sums.download(&stream).unwrap();
    // In units of 2^-22 of the magnitudes of all that is added; each of the steps of 16 has 17 of them.
    let bound = (depth + depth / 16) as f64;
    let mut worst = 0.0f64;
    for (row, col) in (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col))) {
        let products = (0..depth).map(|k| a[[row, k]].to_f64() * b[[k, col]].to_f64());
        let (exact, magnitudes) =
            products.fold((0.0, 0.0), |(sum, all), product| (sum + product, all + product.abs()));
        let error = (f64::from(sums[[row, col]]) - exact).abs() / (magnitudes * 2f64.powi(-22));
        // Not so of a NaN.
        assert!(error <= bound, "{row}, {col}: {}, not {exact}: {error:.2} of {bound}", sums[[row, col]]);
        worst = worst.max(error);
    }
    println!("sums of {depth} products of bf16: at most {worst:.2} of {bound} units of 2^-22 off");
}

#[test]
fn the_ladder_is_right_at_large_sizes() {
    let Some(context) = gpu() else { return };
    let stream = context.default_stream();
    let large = match std::env::var_os("TILEPROOF_SMALL") {
        None => [(8192, 8192), (8191, 4097)],
        Some(_) => [(512, 512), (511, 257)],
    };
    for (rows, cols) in large.into_iter().chain([(1, 1), (1, 100), (100, 1), (31, 33), (64, 65), (1000, 777)])
    {
        for rung in LADDER {
            equals_the_reference(&stream, &rung, rows, cols, 0);
        }
    }
}

#[test]
fn rows_further_apart_than_they_are_long() {
    let Some(context) = gpu() else { return };
    let stream = context.new_stream().unwrap();
    for (rows, cols) in [(1, 1), (31, 33), (64, 64), (300, 200)] {
        for rung in LADDER {
            equals_the_reference(&stream, &rung, rows, cols, 4);
            equals_the_reference(&stream, &rung, rows, cols, rung.multiple * 13);
        }
    }
}

#[test]
fn work_of_size_zero_is_no_work() {
    let Some(context) = gpu() else { return };
    let stream = context.default_stream();
    for (rows, cols) in [(64, 0), (0, 64), (0, 0)] {
        for rung in LADDER {
            equals_the_reference(&stream, &rung, rows, cols, 0);
        }
    }
}

/// Offsets beyond 2³² elements: with 32-bit indices, the third row would be the first.
#[test]
fn rows_2_to_the_31_elements_apart() {
    const PITCH: usize = 1 << 31;
    let (rows, cols) = (4, 600);
    let Some(context) = gpu() else { return };
    let stream = context.default_stream();
    let elements = (rows - 1) * PITCH + cols + MARGIN;
    let free = context.mem_get_info().unwrap().0;
    if free < 4 * elements {
        let needed = 4 * elements;
        let _ = writeln!(
            std::io::stderr(),
            "skipped: {needed} bytes of the GPU's memory are needed, {free} are free"
        );
        return;
    }
    let mut far = stream.alloc_zeros::<f32>(elements).unwrap();
    let data = random(rows * cols, 31);

    for (row, elements) in data.chunks(cols).enumerate() {
        stream.memcpy_htod(elements, &mut far.slice_mut(row * PITCH..row * PITCH + cols)).unwrap();
    }
    for rung in LADDER {
        let (out_rows, out_cols) = rung.output_extents(rows, cols);
        let mut output = poisoned(&stream, rows * cols);
        let input = TensorView::with_strides(&far, [rows, cols], [PITCH, 1]).unwrap();
        let mut view = TensorViewMut::new(&mut output, [out_rows, out_cols]).unwrap();
        (rung.launch)(&stream, &input, &mut view).unwrap();
        let actual = stream.clone_dtoh(&output).unwrap();
        assert!(actual == rung.reference(&data, rows, cols), "{} reads wide", rung.name);
    }

    for rung in LADDER {
        stream.memset_zeros(&mut far).unwrap();
        // the output has `rows` rows whether the kernel transposes or not
        let (in_rows, in_cols) = rung.output_extents(rows, cols);
        let input = stream.clone_htod(&data).unwrap();
        let input = TensorView::new(&input, [in_rows, in_cols]).unwrap();
        let mut view = TensorViewMut::with_strides(&mut far, [rows, cols], [PITCH, 1]).unwrap();
        (rung.launch)(&stream, &input, &mut view).unwrap();
        let expected = rung.reference(&data, in_rows, in_cols);
        for (row, expected) in expected.chunks(cols).enumerate() {
            let begin = row * PITCH;
            let actual = stream.clone_dtoh(&far.slice(begin..begin + cols + MARGIN)).unwrap();
            assert!(actual[..cols] == *expected, "{} writes row {row} wide", rung.name);
            assert!(actual[cols..] == [0.0; MARGIN], "{} writes behind row {row}", rung.name);
        }
    }
}

#[test]
fn nothing_spills_and_a_multiprocessor_is_at_least_half_full() {
    let Some(context) = gpu() else { return };
    for rung in LADDER {
        let loaded = (rung.load)(&context).unwrap();
        let usage = loaded.compiled().usage.expect("ptxas reports");
        assert_eq!((usage.spill_store_bytes, usage.spill_load_bytes), (0, 0), "{}", rung.name);
        assert_eq!(usage.shared_bytes, (rung.report)().shared_bytes, "{}", rung.name);
        let threads: u32 = (rung.report)().block.iter().product();
        assert!(
            loaded.blocks_per_multiprocessor() * threads >= 1024,
            "{}: {} blocks of {threads} threads, {} registers a thread",
            rung.name,
            loaded.blocks_per_multiprocessor(),
            usage.registers
        );
    }
}

/// 69,632 bytes a block: the loader opts in to them, and the launch passes them.
#[test]
fn dynamic_shared_memory() {
    let Some(context) = gpu() else { return };
    let loaded = match transpose_dynamic::load(&context) {
        Err(Error::SharedMemory { bytes: 69_632, limit, .. }) if limit < 69_632 => return,
        loaded => loaded.unwrap(),
    };
    assert!(loaded.blocks_per_multiprocessor() >= 1);
    let (rows, cols) = (300, 261);
    let data = random(rows * cols, 7);
    let stream = context.new_stream().unwrap();
    let (memory, mut output) = (stream.clone_htod(&data).unwrap(), poisoned(&stream, rows * cols));
    let input = TensorView::new(&memory, [rows, cols]).unwrap();
    let mut view = TensorViewMut::new(&mut output, [cols, rows]).unwrap();
    transpose_dynamic::launch(&stream, &input, &mut view).unwrap();
    let expected = |at: usize| data[at % rows * cols + at / rows].to_bits();
    let wrong = bits(&stream, &output).iter().enumerate().position(|(at, found)| *found != expected(at));
    assert_eq!(wrong, None);
}

/// From several threads at once. Without a GPU they are simulated alone.
#[test]
fn kernels_compiled_at_run_time() {
    let (attribute, item) = (
        "block = [32, 4], grid = [y.cols().div_ceil(32), y.rows().div_ceil(4)],
         requires(x.rows() == y.rows(), x.cols() == y.cols() + by)",
        "fn shear(x: &Matrix<u16>, by: usize, y: &mut Matrix<u16>) {
            let (r, c) = (block_y() * 4 + thread_y(), block_x() * 32 + thread_x());
            if r < y.rows() && c < y.cols() {
                y[[r, c]] = x[[r, c + by]] * 3;
            }
        }",
    );
    let context = gpu();
    std::thread::scope(|scope| {
        for rows in 1..5 {
            let context = &context;
            scope.spawn(move || {
                let shear = Dynamic::compile(attribute, item).unwrap();
                let cols = 37 + rows;
                let x = (0..(rows * (cols + 2)) as u16).flat_map(u16::to_le_bytes).collect();
                let y = Tensor {
                    element: ScalarType::U16,
                    extents: vec![rows, cols],
                    strides: vec![cols + 3, 1],
                    offset: 5,
                    bytes: vec![0xa5; 2 * (5 + rows * (cols + 3))],
                };
                let arguments = [
                    Argument::Tensor(Tensor::new(ScalarType::U16, &[rows, cols + 2], x)),
                    Argument::Scalar(ScalarValue::Usize(2)),
                    Argument::Tensor(y),
                ];
                let simulated = shear.simulate(&arguments).unwrap();
                assert_ne!(simulated.arguments, arguments);
                if let Some(context) = context {
                    let stream = context.new_stream().unwrap();
                    assert_eq!(shear.launch(&stream, &arguments).unwrap(), simulated.arguments);
                }
            });
        }
    });
    if let Some(context) = context {
        unload(&context);
    }
}

/// What wraps in a small type is that type's value wherever it is widened, compared, shifted or divided afterwards.
#[test]
fn small_integers_wrap() {
    let unsigned = [
        "a + b",
        "a - b",
        "a * b",
        "a << (b & 15)",
        "0 - a",
        "(a - b) >> 3",
        "(0 - a) / 7",
        "(0 - a) % 7",
        "!a + 1",
        "a.max(0 - a)",
        "a.min(0 - a)",
        "a.wrapping_sub(b)",
        "a.saturating_add(0 - b)",
        "a.saturating_sub(0 - b)",
        "a.pow(3)",
        "(0 - a as u32) as T",
        "(0 - a as i64) as T",
        "(a as i32 * -4) as T",
        "a * (0 - 4)",
    ];
    let signed = [
        "-a",
        "a * -1",
        "a * -4",
        "a.wrapping_div(-1)",
        "(-a).wrapping_div(7)",
        "(-a) >> 3",
        "if a < 0 { -a } else { a }",
        "a.max(-a)",
        "0.saturating_sub(-a)",
        "b.saturating_sub(-a)",
        "if -a < b { a } else { b }",
        "(-(a as i32)) as T",
    ];
    let edges = [
        0, 1, 2, 7, 127, 128, 129, 255, 256, 0x5555, 0x7ffe, 0x7fff, 0x8000, 0x8001, 0xff80, 0xfffe,
        0xffffu16,
    ];
    let pairs: Vec<(u16, u16)> = edges.iter().flat_map(|a| edges.map(|b| (*a, b))).collect();
    let context = gpu();
    for (element, twin, width) in [
        (ScalarType::I8, "u8", 1),
        (ScalarType::U8, "i8", 1),
        (ScalarType::I16, "u16", 2),
        (ScalarType::U16, "i16", 2),
    ] {
        let ty = element.name();
        let values: Vec<&str> = match ty.starts_with('i') {
            true => unsigned.iter().chain(&signed).copied().collect(),
            false => unsigned.to_vec(),
        };
        let mut body = String::new();
        for (row, value) in values.iter().enumerate() {
            let value = value.replace(" as T", &format!(" as {ty}")).replace("0.sat", &format!("0{ty}.sat"));
            body += &format!(
                "let value = {value}; output[[{}, i]] = value as i64; output[[{}, i]] = (value as {twin}) as i64;\n",
                2 * row,
                2 * row + 1
            );
        }
        let rows = 2 * values.len();
        let item = format!(
            "fn small(x: &Tensor<{ty}, 1>, y: &Tensor<{ty}, 1>, output: &mut Matrix<i64>) {{
                let i = block_x() * 32 + thread_x();
                if i < output.cols() {{
                    let (a, b) = (x[[i]], y[[i]]);
                    {body}
                }}
            }}"
        );
        let attribute = format!(
            "block = [32], grid = [output.cols().div_ceil(32)],
             requires(x.len() == output.cols(), y.len() == output.cols(), output.rows() == {rows})"
        );
        let kernel = Dynamic::compile(&attribute, &item).unwrap_or_else(|error| panic!("{item}\n{error}"));
        let column = |of: fn(&(u16, u16)) -> u16| {
            let bytes =
                pairs.iter().flat_map(|pair| of(pair).to_le_bytes().into_iter().take(width)).collect();
            Argument::Tensor(Tensor::new(element, &[pairs.len()], bytes))
        };
        let output = Tensor::new(ScalarType::I64, &[rows, pairs.len()], vec![0xa5; 8 * rows * pairs.len()]);
        let arguments = [column(|pair| pair.0), column(|pair| pair.1), Argument::Tensor(output)];
        let simulated = kernel.simulate(&arguments).unwrap();
        assert_ne!(simulated.arguments, arguments);
        let Some(context) = &context else { continue };
        let launched = kernel.launch(&context.default_stream(), &arguments).unwrap();
        let [.., Argument::Tensor(launched)] = &launched[..] else { panic!("the output is a tensor") };
        let [.., Argument::Tensor(simulated)] = &simulated.arguments[..] else {
            panic!("the output is a tensor")
        };
        let wrong = launched.bytes.chunks(8).zip(simulated.bytes.chunks(8)).position(|(a, b)| a != b);
        if let Some(at) = wrong {
            let (row, column) = (at / pairs.len(), at % pairs.len());
            panic!(
                "{ty}: `{}` of {:x?}, {}",
                values[row / 2],
                pairs[column],
                if row % 2 == 0 { ty } else { twin }
            );
        }
    }
}

/// A launch with arguments that the kernel must refuse, and the proof that it wrote nothing.
fn refused<'a>(
    stream: &Arc<CudaStream>,
    kernel: &str,
    input: &TensorView<'a, f32, 2>,
    output: &mut CudaSlice<f32>,
    extents: [usize; 2],
    strides: [usize; 2],
) -> Error {
    let own = output.stream().clone();
    let mut view = TensorViewMut::with_strides(output, extents, strides).unwrap();
    let error = (rung(kernel).launch)(stream, input, &mut view).expect_err(kernel);
    let untouched = bits(&own, output).iter().all(|bits| *bits == POISON);
    assert!(untouched, "{kernel} was launched although: {error}");
    error
}

#[test]
fn what_breaks_the_contract_is_refused() {
    let Some(context) = gpu() else { return };
    let stream = context.default_stream();
    let memory = stream.clone_htod(&random(4096, 2)).unwrap();
    let mut output = poisoned(&stream, 4096);
    let input = TensorView::new(&memory, [12, 20]).unwrap();

    for rung in LADDER {
        // a copy's shape for a transpose, and the other way round
        let (rows, cols) = rung.output_extents(20, 12);
        let error = refused(&stream, rung.name, &input, &mut output, [rows, cols], [cols, 1]);
        let Error::Contract { kernel, contract, values } = &error else { panic!("{error}") };
        assert_eq!(*kernel, rung.name);
        assert!(contract.starts_with("output.rows() == input."), "{error}");
        assert!(values.contains(&format!("output.rows() = {rows}")), "{error}");
    }

    let odd = TensorView::with_strides(&memory, [10, 20], [20, 1]).unwrap();
    let error = refused(&stream, "transpose_vectorised", &odd, &mut output, [20, 10], [12, 1]);
    let Error::Contract { contract, .. } = &error else { panic!("{error}") };
    assert_eq!(*contract, "input.rows().is_multiple_of(4)");

    let odd_pitch = TensorView::with_strides(&memory, [12, 20], [21, 1]).unwrap();
    let error = refused(&stream, "transpose_vectorised", &odd_pitch, &mut output, [20, 12], [12, 1]);
    let Error::Contract { contract, values, .. } = &error else { panic!("{error}") };
    assert!(contract.contains("input.pitch()") && values.contains("input.pitch() = 21"), "{error}");
    let error = refused(&stream, "transpose_vectorised", &input, &mut output, [20, 12], [14, 1]);
    let Error::Contract { contract, values, .. } = &error else { panic!("{error}") };
    assert!(contract.contains("output.pitch()") && values.contains("output.pitch() = 14"), "{error}");
}

#[test]
fn a_misaligned_base_is_refused_where_vectors_need_it() {
    let Some(context) = gpu() else { return };
    let stream = context.default_stream();
    let data = random(4 * 8 + 1, 3);
    let memory = stream.clone_htod(&data).unwrap();
    let shifted = memory.slice(1..);
    let input = TensorView::new(&shifted, [4, 8]).unwrap();
    let mut output = poisoned(&stream, 32);

    let error = refused(&stream, "transpose_vectorised", &input, &mut output, [8, 4], [4, 1]);
    let Error::Misaligned { parameter, address, alignment, .. } = error else { panic!("{error}") };
    assert_eq!((parameter, address % 16, alignment), ("input", 4, 16));

    // the scalar kernels take the same view
    for rung in LADDER.into_iter().filter(|rung| rung.multiple == 1) {
        let (out_rows, out_cols) = rung.output_extents(4, 8);
        let mut view = TensorViewMut::new(&mut output, [out_rows, out_cols]).unwrap();
        (rung.launch)(&stream, &input, &mut view).unwrap();
        assert!(stream.clone_dtoh(&output).unwrap() == rung.reference(&data[1..], 4, 8), "{}", rung.name);
    }
}

#[test]
fn foreign_streams_and_grids_too_large_are_refused() {
    let Some(context) = gpu() else { return };
    let (stream, other) = (context.new_stream().unwrap(), context.new_stream().unwrap());
    let memory = stream.clone_htod(&random(64, 4)).unwrap();
    let input = TensorView::new(&memory, [8, 8]).unwrap();
    let (mut own, mut foreign) = (poisoned(&stream, 64), poisoned(&other, 64));
    for rung in LADDER {
        let error = refused(&stream, rung.name, &input, &mut foreign, [8, 8], [8, 1]);
        assert!(matches!(error, Error::ForeignStream { parameter: "output", .. }), "{error}");
        let error = refused(&other, rung.name, &input, &mut own, [8, 8], [8, 1]);
        assert!(matches!(error, Error::ForeignStream { parameter: "input", .. }), "{error}");
    }

    // one block of 32 rows more than a grid has along y
    let rows = 32 * 65_535 + 1;
    let memory = stream.alloc_zeros::<f32>(rows).unwrap();
    let tall = TensorView::new(&memory, [rows, 1]).unwrap();
    let mut output = poisoned(&stream, rows);
    let error = refused(&stream, "transpose_padded", &tall, &mut output, [1, rows], [rows, 1]);
    assert!(matches!(error, Error::Grid { axis: 'y', blocks: 65_536, limit: 65_535, .. }), "{error}");
}
