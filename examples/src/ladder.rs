//! The ladder as a list: what programs, tests and benches need of each kernel.

use crate::kernels::transpose::{
    copy, transpose_naive, transpose_padded, transpose_shared, transpose_vectorised, transpose_xor,
};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::sync::Arc;
use tileproof::cudarc::driver::{CudaContext, CudaStream};
use tileproof::prelude::*;
use tileproof::report::Report;
use tileproof::{Architecture, Compiled, Counts, Error, Loaded};

/// A kernel of the ladder.
#[derive(Clone, Copy)]
pub struct Rung {
    /// Its name.
    pub name: &'static str,
    /// Whether its output is the transpose of its input, not a copy.
    pub transposes: bool,
    /// Both extents must be multiples of this.
    pub multiple: usize,
    /// The emitted CUDA C.
    pub cuda: &'static str,
    /// What was proven.
    pub report: fn() -> &'static Report,
    /// Compiles with NVRTC.
    pub compile: fn(Architecture) -> Result<Compiled, Error>,
    /// Compiles and loads for a GPU.
    pub load: fn(&Arc<CudaContext>) -> Result<Arc<Loaded>, Error>,
    /// Runs on the CPU.
    pub simulate: fn(&HostTensor<'_, f32, 2>, &mut HostTensorMut<'_, f32, 2>) -> Result<Counts, Error>,
    /// Runs on a GPU.
    pub launch: Launch,
}

/// How the kernels of the ladder are launched.
pub type Launch =
    fn(&Arc<CudaStream>, &TensorView<'_, f32, 2>, &mut TensorViewMut<'_, f32, 2>) -> Result<(), Error>;

macro_rules! rung {
    ($kernel:ident, transposes: $transposes:expr, multiple: $multiple:expr) => {
        Rung {
            name: stringify!($kernel),
            transposes: $transposes,
            multiple: $multiple,
            cuda: $kernel::CUDA_SOURCE,
            report: $kernel::report,
            compile: $kernel::compile,
            load: $kernel::load,
            simulate: $kernel::simulate,
            launch: $kernel::launch,
        }
    };
}

/// The ladder, from the copy to the fastest transpose.
pub const LADDER: [Rung; 6] = [
    rung!(copy, transposes: false, multiple: 1),
    rung!(transpose_naive, transposes: true, multiple: 1),
    rung!(transpose_shared, transposes: true, multiple: 1),
    rung!(transpose_padded, transposes: true, multiple: 1),
    rung!(transpose_xor, transposes: true, multiple: 1),
    rung!(transpose_vectorised, transposes: true, multiple: 4),
];

impl Rung {
    /// The extents in which a matrix is stored for this kernel: at least its own, rounded up to what the kernel needs.
    pub fn storage(&self, rows: usize, cols: usize) -> (usize, usize) {
        (rows.next_multiple_of(self.multiple), cols.next_multiple_of(self.multiple))
    }

    /// The extents of the output for an input of these.
    pub fn output_extents(&self, rows: usize, cols: usize) -> (usize, usize) {
        if self.transposes { (cols, rows) } else { (rows, cols) }
    }

    /// What the kernel must compute: the output for an input of `rows` × `cols`, row by row.
    pub fn reference(&self, input: &[f32], rows: usize, cols: usize) -> Vec<f32> {
        if !self.transposes {
            return input.to_vec();
        }
        let mut output = vec![0.0; input.len()];
        for row in 0..rows {
            for col in 0..cols {
                output[col * rows + row] = input[row * cols + col];
            }
        }
        output
    }
}

/// Seeded random numbers between -1 and 1.
pub fn random(count: usize, seed: u64) -> Vec<f32> {
    let mut rng = StdRng::seed_from_u64(seed);
    (0..count).map(|_| rng.random_range(-1.0..1.0)).collect()
}
