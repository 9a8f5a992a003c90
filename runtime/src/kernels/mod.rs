//! A library of kernels: copies, transposes and permutations in every element type, and matrix products.
//!
//! They are kernels like any user's, written in the language of this crate and proven by its compiler. All that copies
//! is one engine: a [`plan`](mod@plan) chooses kernels by shapes, strides and alignment, and how wide the words are that they
//! move. Functions take views, enqueue on the views' stream, and return before the work is done, as a launch does;
#![cfg_attr(feature = "simulate", doc = "[`simulate`] has the same functions on the CPU.")]
#![cfg_attr(
    not(feature = "simulate"),
    doc = "under the feature `simulate` there are the same functions on the CPU."
)]
//!
//! ```no_run
//! use tileproof::cudarc::driver::CudaContext;
//! use tileproof::prelude::*;
//! use tileproof::kernels::transpose::{permute, transpose};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let stream = CudaContext::new(0)?.default_stream();
//! let data = stream.alloc_zeros::<f16>(1000 * 768)?;
//! let mut turned = stream.alloc_zeros::<f16>(1000 * 768)?;
//! transpose(&stream, &TensorView::new(&data, [1000, 768])?, &mut TensorViewMut::new(&mut turned, [768, 1000])?)?;
//!
//! let heads = TensorView::new(&data, [1000, 12, 64])?;
//! permute(&stream, &heads, [1, 0, 2], &mut TensorViewMut::new(&mut turned, [12, 1000, 64])?)?;
//! # Ok(())
//! # }
//! ```

mod device;
pub mod fields;
mod in_place;
mod kernel;
mod linear;
pub mod matmul;
pub mod plan;
mod records;
mod rows;
mod run;
#[cfg(feature = "simulate")]
pub mod simulate;
mod skewed;
// Kernels are launched by their descriptions.
#[allow(dead_code)]
mod strided;
pub mod transpose;
mod turned;
mod turned_small;
mod wide;

use crate::description::Description;
use crate::error::Error;
use crate::scalar::Element;
use crate::shape::Shape;
use crate::view::{TensorView, TensorViewMut};
use cudarc::driver::CudaStream;
use std::sync::Arc;

/// Copies between views of the same extents, whatever their strides.
///
/// A large copy may take several launches; without elements there is none.
///
/// # Errors
/// If the extents differ, or the two overlap in memory; and what a launch refuses: see [`Error`]. Only if the driver fails, or a
/// second kernel does not compile, may the output be partly written.
pub fn copy<T: Element, const R: usize>(
    stream: &Arc<CudaStream>,
    input: &TensorView<'_, T, R>,
    output: &mut TensorViewMut<'_, T, R>,
) -> Result<(), Error> {
    device::permute("copy", stream, input, std::array::from_fn(|d| d), output)
}

/// All kernels of the library, for tests.
#[doc(hidden)]
pub fn descriptions() -> Vec<&'static Description> {
    kernel::all()
}

fn check_square(shape: &Shape<2>) -> Result<(), Error> {
    let [rows, cols] = shape.extents;
    if rows == cols {
        return Ok(());
    }
    Err(Error::Contract {
        kernel: "transpose_in_place",
        contract: "matrix.rows() == matrix.cols()",
        values: format!("matrix.rows() = {rows}, matrix.cols() = {cols}"),
    })
}
