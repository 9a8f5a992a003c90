//! The transpose ladder: proven, compiled, run and checked.
//!
//! `cargo run --release --example transpose [ROWS COLS]`. With a GPU the kernels run on it and are timed beside the copy;
//! without one they run on the CPU simulator. Where NVRTC is found, each kernel is compiled with it.

use std::error::Error;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tileproof::cudarc::driver::CudaStream;
use tileproof::prelude::*;
use tileproof::timing::{self, Repeats};
use tileproof::{Architecture, device};
use tileproof_examples::ladder::{LADDER, Rung, random};
use tileproof_examples::table::{Row, table};

fn main() -> ExitCode {
    let extents: Vec<Result<usize, _>> = std::env::args().skip(1).map(|text| text.parse()).collect();
    let extents = match extents.as_slice() {
        [] => None,
        [Ok(rows), Ok(cols)] => Some((*rows, *cols)),
        _ => {
            eprintln!("usage: transpose [ROWS COLS]");
            return ExitCode::FAILURE;
        }
    };
    match run(extents) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            eprintln!("a kernel's result differs from its reference");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the ladder and prints the table; whether every result equals its reference.
fn run(extents: Option<(usize, usize)>) -> Result<bool, Box<dyn Error>> {
    let (rows, ceiling) = match device::context(0) {
        Ok(context) => {
            let info = device::DeviceInfo::of(&context)?;
            let (rows, cols) = extents.unwrap_or((8192, 8192));
            println!("transposing {rows} × {cols} f32 on {}\n", info.name);
            on_gpu(&context.new_stream()?, info.architecture, rows, cols)?
        }
        Err(reason) => {
            let (rows, cols) = extents.unwrap_or((1024, 777));
            println!("transposing {rows} × {cols} f32 on the CPU simulator: {reason}\n");
            (on_simulator(rows, cols)?, None)
        }
    };
    print!("{}", table(&rows, ceiling));
    for Row { rung, .. } in rows.iter().filter(|row| row.rung.multiple > 1) {
        println!(
            "{} needs extents that are multiples of {}; others are rounded up",
            rung.name, rung.multiple
        );
    }
    Ok(rows.iter().all(|row| row.correct))
}

fn on_simulator(rows: usize, cols: usize) -> Result<Vec<Row>, Box<dyn Error>> {
    let mut table = Vec::new();
    for rung in LADDER {
        let (rows, cols) = rung.storage(rows, cols);
        let (out_rows, out_cols) = rung.output_extents(rows, cols);
        let input = random(rows * cols, 1);
        let mut output = vec![f32::NAN; rows * cols];
        let input_view = HostTensor::new(&input, [rows, cols])?;
        let mut output_view = HostTensorMut::new(&mut output, [out_rows, out_cols])?;
        (rung.simulate)(&input_view, &mut output_view)?;
        let correct = output == rung.reference(&input, rows, cols);
        table.push(Row { rung, correct, usage: usage(&rung, Architecture::new(9, 0)), bandwidth: None });
    }
    Ok(table)
}

/// The rows of the table, and the bandwidth of the faster copy: the driver's or the kernel's.
fn on_gpu(
    stream: &Arc<CudaStream>,
    architecture: Architecture,
    rows: usize,
    cols: usize,
) -> Result<(Vec<Row>, Option<f64>), Box<dyn Error>> {
    let mut table = Vec::new();
    let mut ceiling: f64 = 0.0;
    // of the matrix as it was asked for: what a kernel moves to round it up is not useful
    let bandwidth = |time: Duration| (8 * rows * cols) as f64 / time.as_secs_f64();
    for rung in LADDER {
        let (rows, cols) = rung.storage(rows, cols);
        let (out_rows, out_cols) = rung.output_extents(rows, cols);
        // the driver allocates no empty memory, and a view may be shorter than its memory
        let input = random((rows * cols).max(1), 1);
        let device_input = stream.clone_htod(&input)?;
        let mut device_output = stream.clone_htod(&vec![f32::NAN; input.len()])?;
        let input_view = TensorView::new(&device_input, [rows, cols])?;
        let mut output_view = TensorViewMut::new(&mut device_output, [out_rows, out_cols])?;
        (rung.launch)(stream, &input_view, &mut output_view)?;
        let times = timing::measure(stream, Repeats::default(), || {
            (rung.launch)(stream, &input_view, &mut output_view)
        })?;
        let reference = rung.reference(&input[..rows * cols], rows, cols);
        let correct = stream.clone_dtoh(&device_output)?[..rows * cols] == reference;
        if !rung.transposes {
            let copied = timing::measure(stream, Repeats::default(), || -> Result<(), Box<dyn Error>> {
                Ok(stream.memcpy_dtod(&device_input, &mut device_output)?)
            })?;
            ceiling = bandwidth(copied.median()).max(bandwidth(times.median()));
        }
        let bandwidth = (rows * cols > 0).then(|| bandwidth(times.median()));
        table.push(Row { rung, correct, usage: usage(&rung, architecture), bandwidth });
    }
    Ok((table, (ceiling > 0.0).then_some(ceiling)))
}

/// Registers and shared memory, where NVRTC is found.
fn usage(rung: &Rung, architecture: Architecture) -> Option<(u32, u32)> {
    let compiled = (rung.compile)(architecture).ok()?;
    compiled.usage.map(|usage| (usage.registers, usage.shared_bytes))
}
