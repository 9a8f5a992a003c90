//! The transpose ladder and the driver's copy, over one pair of matrices in device memory.

use std::sync::Arc;
use tileproof::Error;
use tileproof::cudarc::driver::{CudaSlice, CudaStream, DriverError};
use tileproof::prelude::*;
use tileproof_examples::ladder::{LADDER, Rung, random};

/// What is timed.
#[derive(Clone, Copy)]
pub enum Subject {
    /// The driver's copy from device memory to device memory.
    DriverCopy,
    /// A kernel of the ladder.
    Kernel(Rung),
}

/// The driver's copy, then the ladder.
pub fn subjects() -> Vec<Subject> {
    std::iter::once(Subject::DriverCopy).chain(LADDER.map(Subject::Kernel)).collect()
}

/// An input of random numbers and an output, in device memory, for matrices of one size.
pub struct Matrices {
    rows: usize,
    cols: usize,
    host: Vec<f32>,
    input: CudaSlice<f32>,
    output: CudaSlice<f32>,
}

impl Matrices {
    /// Fills an input of `rows` × `cols`, or of what the ladder's kernels round that up to.
    ///
    /// # Errors
    /// If the GPU has too little memory.
    pub fn new(stream: &Arc<CudaStream>, rows: usize, cols: usize) -> Result<Matrices, Error> {
        let elements = |rung: &Rung| {
            let (rows, cols) = rung.storage(rows, cols);
            rows * cols
        };
        let most = LADDER.iter().map(elements).max().unwrap_or(0);
        let host = random(most, 1);
        let input = stream.clone_htod(&host).map_err(|source| failed("copy the input", source))?;
        let output = stream.alloc_zeros(most).map_err(|source| failed("allocate the output", source))?;
        Ok(Matrices { rows, cols, host, input, output })
    }
}

impl Subject {
    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Subject::DriverCopy => "cuMemcpyDtoD",
            Subject::Kernel(rung) => rung.name,
        }
    }

    /// Whether it moves what a transpose moves and turns nothing: the others are judged by it.
    pub fn is_copy(&self) -> bool {
        match self {
            Subject::DriverCopy => true,
            Subject::Kernel(rung) => !rung.transposes,
        }
    }

    /// The extents of its input for matrices of this size.
    pub fn extents(&self, matrices: &Matrices) -> (usize, usize) {
        match self {
            Subject::DriverCopy => (matrices.rows, matrices.cols),
            Subject::Kernel(rung) => rung.storage(matrices.rows, matrices.cols),
        }
    }

    /// The bytes that it must move: each element read once and written once.
    pub fn bytes(&self, matrices: &Matrices) -> u64 {
        let (rows, cols) = self.extents(matrices);
        2 * (rows * cols * size_of::<f32>()) as u64
    }

    /// Enqueues it once.
    ///
    /// # Errors
    /// What the launch returns.
    pub fn enqueue(&self, stream: &Arc<CudaStream>, matrices: &mut Matrices) -> Result<(), Error> {
        let (rows, cols) = self.extents(matrices);
        match self {
            Subject::DriverCopy => stream
                .memcpy_dtod(
                    &matrices.input.slice(..rows * cols),
                    &mut matrices.output.slice_mut(..rows * cols),
                )
                .map_err(|source| failed("copy device memory", source)),
            Subject::Kernel(rung) => {
                let (out_rows, out_cols) = rung.output_extents(rows, cols);
                let input = TensorView::new(&matrices.input, [rows, cols])?;
                let mut output = TensorViewMut::new(&mut matrices.output, [out_rows, out_cols])?;
                (rung.launch)(stream, &input, &mut output)
            }
        }
    }

    /// Runs it once on a poisoned output and compares every element with the reference.
    ///
    /// # Errors
    /// What the launch or the driver returns.
    pub fn is_right(&self, stream: &Arc<CudaStream>, matrices: &mut Matrices) -> Result<bool, Error> {
        let (rows, cols) = self.extents(matrices);
        let poison = vec![f32::NAN; matrices.host.len()];
        stream
            .memcpy_htod(&poison, &mut matrices.output)
            .map_err(|source| failed("poison the output", source))?;
        self.enqueue(stream, matrices)?;
        let output =
            stream.clone_dtoh(&matrices.output).map_err(|source| failed("copy the output", source))?;
        let input = &matrices.host[..rows * cols];
        Ok(match self {
            Subject::DriverCopy => output[..rows * cols] == *input,
            Subject::Kernel(rung) => output[..rows * cols] == rung.reference(input, rows, cols),
        })
    }
}

fn failed(action: &'static str, source: DriverError) -> Error {
    Error::Driver { action, source }
}
