//! Launches on a GPU, by a description written by hand as the macro would write it. Where there is no GPU or no NVRTC, the
//! tests skip aloud; a list in `TILEPROOF_REQUIRE` that names `gpu` makes that a failure.

use std::io::Write;
use std::sync::Arc;
use tileproof::__private::HostOp::{DivCeil, Equal, Extent, Int};
use tileproof::__private::{
    Cow, Description, DeviceArgument, LaunchCheck, Param, ParamKind, Report, launch, launch_on,
};
use tileproof::cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use tileproof::cudarc::driver::{CudaContext, CudaSlice, CudaStream, DevicePtr};
use tileproof::timing::{Repeats, measure};
use tileproof::{Error, ForeignMemory, ScalarType, TensorView, TensorViewMut, device, nvrtc};

const fn tensor(name: &'static str, mutable: bool, alignment: u32) -> Param {
    Param { name, kind: ParamKind::Tensor { element: ScalarType::F32, rank: 2, mutable, alignment } }
}

const PARAMS: [Param; 2] = [tensor("input", false, 4), tensor("output", true, 16)];

static NARROW: Description = description(true);
static WIDE: Description = description(false);

const fn description(narrow: bool) -> Description {
    Description {
        name: "copy",
        attribute: "",
        item: "",
        shared: "",
        cuda: include_str!("copy.cu"),
        lines: &[],
        file: "tests/gpu.rs",
        narrow,
        block: [32, 8, 1],
        params: &PARAMS,
        grid: [&[Extent(1, 1), Int(32), DivCeil], &[Extent(1, 0), Int(8), DivCeil], &[Int(1)]],
        checks: &[LaunchCheck {
            condition: &[Extent(0, 0), Extent(1, 0), Equal],
            text: "input.rows() == output.rows()",
        }],
        report: Report {
            kernel: Cow::Borrowed("copy"),
            block: [32, 8, 1],
            shared_bytes: 1024,
            tiles: Cow::Borrowed(&[]),
            sites: Cow::Borrowed(&[]),
            barriers: Cow::Borrowed(&[]),
            least_architecture: None,
            occupancy: Cow::Borrowed(&[]),
            work: Cow::Borrowed(&[]),
            launch_checks: Cow::Borrowed(&[]),
            trusts: Cow::Borrowed(&[]),
        },
    }
}

/// A context, if this machine can launch; says what is missing if not.
fn gpu() -> Option<Arc<CudaContext>> {
    let found = device::context(0).and_then(|context| nvrtc().map(|_| context));
    match found {
        Ok(context) => Some(context),
        Err(error) => {
            let required = std::env::var("TILEPROOF_REQUIRE").unwrap_or_default();
            assert!(!required.split(',').any(|word| word.trim() == "gpu"), "{error}");
            // the test harness swallows what `eprintln!` prints in a test that passes
            _ = writeln!(std::io::stderr(), "SKIPPED: {error}");
            None
        }
    }
}

fn copy(
    description: &'static Description,
    stream: &Arc<CudaStream>,
    input: &TensorView<'_, f32, 2>,
    output: &mut TensorViewMut<'_, f32, 2>,
) -> Result<(), Error> {
    // SAFETY: the text copies those elements of `input` that `output` has too, by the description's contract.
    unsafe {
        launch(description, stream, &mut [DeviceArgument::tensor(input), DeviceArgument::tensor_mut(output)])
    }
}

#[test]
fn copies_with_both_twins_and_with_pitch() {
    let Some(context) = gpu() else { return };
    eprintln!("{}", device::DeviceInfo::of(&context).unwrap());
    for stream in [context.default_stream(), context.new_stream().unwrap()] {
        for description in [&NARROW, &WIDE] {
            for (rows, cols, pitch) in [(1, 1, 1), (8, 32, 32), (33, 65, 80), (1000, 777, 777)] {
                let data: Vec<f32> = (0..rows * pitch).map(|i| i as f32).collect();
                let input = stream.clone_htod(&data).unwrap();
                let mut output = stream.alloc_zeros::<f32>(rows * cols).unwrap();
                let input = TensorView::with_strides(&input, [rows, cols], [pitch, 1]).unwrap();
                let mut view = TensorViewMut::new(&mut output, [rows, cols]).unwrap();
                copy(description, &stream, &input, &mut view).unwrap();
                let expected: Vec<f32> =
                    (0..rows * cols).map(|i| (i / cols * pitch + i % cols) as f32).collect();
                assert!(stream.clone_dtoh(&output).unwrap() == expected, "{rows} × {cols}, pitch {pitch}");
            }
        }
    }
    tileproof::unload(&context);
}

/// The same memory through its address, on a wrapped stream, as another library would hand it over.
#[test]
fn memory_of_others_is_used_and_not_freed() {
    let Some(context) = gpu() else { return };
    for own in [context.default_stream(), context.new_stream().unwrap()] {
        let (rows, cols) = (33, 64);
        let data: Vec<f32> = (0..rows * cols).map(|i| i as f32).collect();
        let input = own.clone_htod(&data).unwrap();
        let output = own.alloc_zeros::<f32>(rows * cols).unwrap();
        let address = |slice: &CudaSlice<f32>| slice.device_ptr(&own).0;
        // SAFETY: it is a stream of this context that lives longer.
        let stream = unsafe { context.wrap_borrowed_stream(own.cu_stream()) };
        for _ in 0..3 {
            // SAFETY: the slices live longer, and nothing else uses them until this stream has run.
            let foreign = |slice| unsafe { ForeignMemory::<f32>::new(&stream, address(slice), rows * cols) };
            let (read, mut written) = (foreign(&input).unwrap(), foreign(&output).unwrap());
            assert_eq!((read.len(), read.is_empty()), (rows * cols, false));
            let view = TensorView::new(&read, [rows, cols]).unwrap();
            let mut out = TensorViewMut::new(&mut written, [rows, cols]).unwrap();
            copy(&NARROW, &stream, &view, &mut out).unwrap();
        }
        // SAFETY: likewise; the launch below is refused.
        let mut same = unsafe { ForeignMemory::<f32>::new(&stream, address(&input), rows * cols) }.unwrap();
        let view = TensorView::new(&input, [rows, cols]).unwrap();
        let mut out = TensorViewMut::new(&mut same, [rows, cols]).unwrap();
        let error = copy(&NARROW, &stream, &view, &mut out).unwrap_err();
        assert!(matches!(error, Error::Aliasing { .. }), "{error}");
        drop(same);
        assert!(own.clone_dtoh(&output).unwrap() == data);
        assert!(own.clone_dtoh(&input).unwrap() == data);
    }
    tileproof::unload(&context);
}

#[test]
fn views_of_views() {
    let Some(context) = gpu() else { return };
    let stream = context.default_stream();
    let mut memory = stream.clone_htod(&(0..64).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
    // one allocation, read in one half and written in the other: cudarc's borrows allow it, and they do not overlap
    let (low, mut high) = memory.split_at_mut(32);
    let input = TensorView::new(&low, [4, 8]).unwrap();
    let mut output = TensorViewMut::new(&mut high, [4, 8]).unwrap();
    copy(&NARROW, &stream, &input, &mut output).unwrap();
    // a base that is not aligned as the contract says
    let (input, mut shifted) = memory.split_at_mut(33);
    let input = TensorView::new(&input, [4, 7]).unwrap();
    let mut output = TensorViewMut::new(&mut shifted, [4, 7]).unwrap();
    let error = copy(&NARROW, &stream, &input, &mut output).unwrap_err();
    assert!(matches!(error, Error::Misaligned { parameter: "output", alignment: 16, .. }), "{error}");
    let expected: Vec<f32> = (0..64).map(|i| (i % 32) as f32).collect();
    assert_eq!(stream.clone_dtoh(&memory).unwrap(), expected);
}

#[test]
fn what_is_refused_before_anything_is_launched() {
    let Some(context) = gpu() else { return };
    let (stream, other) = (context.new_stream().unwrap(), context.new_stream().unwrap());
    let input = stream.clone_htod(&[1.0f32; 16]).unwrap();
    let mut output = stream.clone_htod(&[2.0f32; 16]).unwrap();
    let mut foreign = other.clone_htod(&[2.0f32; 16]).unwrap();
    let input = TensorView::new(&input, [4, 4]).unwrap();

    let error =
        copy(&NARROW, &stream, &input, &mut TensorViewMut::new(&mut foreign, [4, 4]).unwrap()).unwrap_err();
    assert!(matches!(error, Error::ForeignStream { parameter: "output", .. }), "{error}");
    let error =
        copy(&NARROW, &other, &input, &mut TensorViewMut::new(&mut foreign, [4, 4]).unwrap()).unwrap_err();
    assert!(matches!(error, Error::ForeignStream { parameter: "input", .. }), "{error}");

    let mut view = TensorViewMut::new(&mut output, [4, 4]).unwrap();
    let error = copy(&NARROW, &context.per_thread_stream(), &input, &mut view).unwrap_err();
    assert!(matches!(error, Error::PerThreadStream { .. }), "{error}");

    stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL).unwrap();
    let error = copy(&NARROW, &stream, &input, &mut view).unwrap_err();
    assert!(matches!(error, Error::Capturing { .. }), "{error}");
    _ = stream.end_capture(CUgraphInstantiate_flags(0)).unwrap();

    let mut short = TensorViewMut::new(&mut foreign, [3, 4]).unwrap();
    let error = copy(&NARROW, &other, &input, &mut short).unwrap_err();
    assert!(matches!(error, Error::ForeignStream { .. }), "the stream's rules come first: {error}");
    let mut short = TensorViewMut::new(&mut output, [3, 4]).unwrap();
    let error = copy(&NARROW, &stream, &input, &mut short).unwrap_err();
    assert!(matches!(error, Error::Contract { .. }), "{error}");

    // no work: nothing is launched, and that is no error
    let no_rows = stream.clone_htod(&[1.0f32; 4]).unwrap();
    let no_rows = TensorView::new(&no_rows, [0, 4]).unwrap();
    copy(&NARROW, &stream, &no_rows, &mut TensorViewMut::new(&mut output, [0, 4]).unwrap()).unwrap();
    assert_eq!(stream.clone_dtoh(&output).unwrap(), [2.0; 16]);
}

#[test]
fn on_another_stream_where_the_caller_orders_them() {
    let Some(context) = gpu() else { return };
    let (own, other) = (context.new_stream().unwrap(), context.new_stream().unwrap());
    let input = own.clone_htod(&[1.0f32; 16]).unwrap();
    let mut output = own.clone_htod(&[2.0f32; 16]).unwrap();
    own.synchronize().unwrap();
    let view = TensorView::new(&input, [4, 4]).unwrap();
    let mut written = TensorViewMut::new(&mut output, [4, 4]).unwrap();
    let arguments = &mut [DeviceArgument::tensor(&view), DeviceArgument::tensor_mut(&mut written)];
    // SAFETY: as in `copy`; nothing is pending on the tensors' stream, and the launch's is waited for.
    unsafe { launch_on(&NARROW, &other, arguments) }.unwrap();
    other.synchronize().unwrap();
    assert_eq!(own.clone_dtoh(&output).unwrap(), [1.0; 16]);

    // what is not about streams is refused here too
    let mut short = TensorViewMut::new(&mut output, [3, 4]).unwrap();
    let arguments = &mut [DeviceArgument::tensor(&view), DeviceArgument::tensor_mut(&mut short)];
    // SAFETY: nothing is launched.
    let error = unsafe { launch_on(&NARROW, &other, arguments) }.unwrap_err();
    assert!(matches!(error, Error::Contract { .. }), "{error}");
}

#[test]
fn memory_that_is_written_under_two_names_is_refused() {
    let Some(context) = gpu() else { return };
    let stream = context.default_stream();
    let memory = stream.clone_htod(&(0..24).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
    let address = memory.leak();
    // SAFETY: the allocation holds 24 elements from `address` on. Both names are given up before either is freed, and one
    // of them frees nothing.
    let (first, mut second) = unsafe {
        (stream.upgrade_device_ptr::<f32>(address, 16), stream.upgrade_device_ptr::<f32>(address + 32, 16))
    };
    let input = TensorView::new(&first, [4, 4]).unwrap();
    let error =
        copy(&NARROW, &stream, &input, &mut TensorViewMut::new(&mut second, [4, 4]).unwrap()).unwrap_err();
    assert!(matches!(error, Error::Aliasing { written: "output", other: "input", .. }), "{error}");
    // the first eight elements are read and the next eight written: one allocation, no overlap
    let input = TensorView::new(&first, [2, 4]).unwrap();
    copy(&NARROW, &stream, &input, &mut TensorViewMut::new(&mut second, [2, 4]).unwrap()).unwrap();
    let expected: Vec<f32> = (0..8).chain(16..24).map(|i| i as f32).collect();
    assert_eq!(stream.clone_dtoh(&second).unwrap(), expected);
    second.leak();
}

#[test]
fn one_load_however_many_threads() {
    let Some(context) = gpu() else { return };
    let loaded: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| NARROW.load(&context).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(loaded.iter().all(|other| Arc::ptr_eq(other, &loaded[0])));
    let usage = loaded[0].compiled().usage.unwrap();
    assert_eq!(loaded[0].function().num_regs().unwrap(), usage.registers as i32);
    assert_eq!(loaded[0].function().shared_size_bytes().unwrap(), usage.shared_bytes as i32);
    assert!(loaded[0].blocks_per_multiprocessor() >= 1);
}

#[test]
fn times() {
    let Some(context) = gpu() else { return };
    let stream = context.new_stream().unwrap();
    // Under a sanitizer a launch takes long, and how long says nothing.
    let small = std::env::var_os("TILEPROOF_SMALL").is_some();
    let n = if small { 256 } else { 4096 };
    let input = stream.alloc_zeros::<f32>(n * n).unwrap();
    let mut output = stream.alloc_zeros::<f32>(n * n).unwrap();
    let input = TensorView::new(&input, [n, n]).unwrap();
    let mut output = TensorViewMut::new(&mut output, [n, n]).unwrap();
    let times = measure(&stream, Repeats::default(), || copy(&NARROW, &stream, &input, &mut output)).unwrap();
    let bandwidth = (2 * 4 * n * n) as f64 / times.median().as_secs_f64() / 1e9;
    eprintln!("copy {n}²: {:?} a launch, {bandwidth:.0} GB/s", times.median());
    assert!(times.fastest() <= times.median());
    assert!(small || (1.0..20_000.0).contains(&bandwidth), "{bandwidth} GB/s");
}
