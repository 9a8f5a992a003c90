//! Predicts, launches and compares the transpose ladder's hardware counters; see [`tileproof_tests::counters`].

use std::error::Error;
use std::process::ExitCode;
use tileproof::device;
use tileproof::prelude::*;
use tileproof_examples::ladder::{LADDER, Rung, random};
use tileproof_tests::counters::{self, Counters, Subject};

fn main() -> ExitCode {
    let subject = |rung: Rung| Subject {
        kernel: rung.name,
        predict: Box::new(move |rows, cols| predict(&rung, rows, cols).map_err(|error| error.to_string())),
        launch: Box::new(move |rows, cols| launch(&rung, rows, cols).map_err(|error| error.to_string())),
    };
    counters::main(&LADDER.map(subject))
}

fn predict(rung: &Rung, rows: usize, cols: usize) -> Result<Counters, Box<dyn Error>> {
    let (rows, cols) = rung.storage(rows, cols);
    let input = random(rows * cols, 1);
    let mut output = vec![f32::NAN; rows * cols];
    let (out_rows, out_cols) = rung.output_extents(rows, cols);
    let mut output = HostTensorMut::new(&mut output, [out_rows, out_cols])?;
    Ok(Counters::of(&(rung.simulate)(&HostTensor::new(&input, [rows, cols])?, &mut output)?))
}

fn launch(rung: &Rung, rows: usize, cols: usize) -> Result<(), Box<dyn Error>> {
    let (rows, cols) = rung.storage(rows, cols);
    let context = device::context(0)?;
    let stream = context.default_stream();
    let input = stream.clone_htod(&random(rows * cols, 1))?;
    let mut output = stream.clone_htod(&vec![f32::NAN; rows * cols])?;
    let (out_rows, out_cols) = rung.output_extents(rows, cols);
    let mut output = TensorViewMut::new(&mut output, [out_rows, out_cols])?;
    (rung.launch)(&stream, &TensorView::new(&input, [rows, cols])?, &mut output)?;
    Ok(stream.synchronize()?)
}
