//! One copy, with more or fewer bytes on their way for each thread.

use crate::array::Array;
use crate::subject::{Subject, subject};
use std::sync::Arc;
use tileproof::cudarc::driver::{CudaContext, CudaStream};
use tileproof::prelude::*;
use tileproof::{Error, Loaded};

/// Threads of a block.
pub const THREADS: u32 = 256;

/// A kernel of this family, with what programs need of it.
#[derive(Clone, Copy)]
pub struct InFlight {
    /// Its name.
    pub name: &'static str,
    /// Loads of a thread before its first store.
    pub loads: u32,
    /// Bytes that a thread loads at a time.
    pub bytes: u32,
    /// Compiles and loads it for a GPU.
    pub load: fn(&Arc<CudaContext>) -> Result<Arc<Loaded>, Error>,
    /// Runs it on a GPU.
    pub launch: Launch,
}

/// How these kernels are launched.
pub type Launch =
    fn(&Arc<CudaStream>, &TensorView<'_, f32, 1>, &mut TensorViewMut<'_, f32, 1>) -> Result<(), Error>;

/// A kernel that issues some loads a thread, each of some floats, before it stores what they brought.
macro_rules! copies {
    ($($kernel:ident: $loads:literal of $width:literal;)*) => {
        /// All of them.
        pub const COPIES: [InFlight; 9] = [$(InFlight {
            name: stringify!($kernel),
            loads: $loads,
            bytes: 4 * $width,
            load: $kernel::load,
            launch: $kernel::launch,
        }),*];

        $(
        /// Each thread loads
        #[doc = concat!(stringify!($loads), " × ", stringify!($width), " floats and then stores them.")]
        #[tiled_kernel(
            block = [256],
            grid = [output.len().div_ceil(256 * $loads * $width)],
            requires(input.len() == output.len(), output.len().is_multiple_of($width)),
            covers(output),
        )]
        pub fn $kernel(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
            let first = block_x() * (256 * $loads * $width) + thread_x() * $width;
            let mut held = [Vector::<f32, $width>::splat(0.0); $loads];
            for k in 0..$loads {
                if first + k * (256 * $width) < input.len() {
                    held[k] = input.read::<$width>([first + k * (256 * $width)]);
                }
            }
            for k in 0..$loads {
                if first + k * (256 * $width) < output.len() {
                    output.write([first + k * (256 * $width)], held[k]);
                }
            }
        }
        )*
    };
}

copies! {
    copy_1_of_4_bytes: 1 of 1;
    copy_2_of_4_bytes: 2 of 1;
    copy_4_of_4_bytes: 4 of 1;
    copy_1_of_8_bytes: 1 of 2;
    copy_2_of_8_bytes: 2 of 2;
    copy_4_of_8_bytes: 4 of 2;
    copy_1_of_16_bytes: 1 of 4;
    copy_2_of_16_bytes: 2 of 4;
    copy_4_of_16_bytes: 4 of 4;
}

fn reference(input: &Array<f32, 1>, output: &mut Array<f32, 1>) {
    for i in 0..input.len() {
        output[[i]] = input[[i]];
    }
}

macro_rules! subjects {
    ($($constant:ident: $kernel:ident;)*) => {$(
        #[doc = concat!("[`", stringify!($kernel), "`] at lengths around a block's.")]
        pub const $constant: Subject = subject! {
            kernel: $kernel(read input, write output),
            reference: reference,
            sizes: [n]: [0] [4] [1020] [1028] [4096] [9996],
            counted: [1 << 18] [9996] [4],
            data: |data| (data.random([n]), data.output([n])),
        };
    )*};
}

subjects! {
    COPY_1_OF_4_BYTES: copy_1_of_4_bytes;
    COPY_2_OF_4_BYTES: copy_2_of_4_bytes;
    COPY_4_OF_4_BYTES: copy_4_of_4_bytes;
    COPY_1_OF_8_BYTES: copy_1_of_8_bytes;
    COPY_2_OF_8_BYTES: copy_2_of_8_bytes;
    COPY_4_OF_8_BYTES: copy_4_of_8_bytes;
    COPY_1_OF_16_BYTES: copy_1_of_16_bytes;
    COPY_2_OF_16_BYTES: copy_2_of_16_bytes;
    COPY_4_OF_16_BYTES: copy_4_of_16_bytes;
}
