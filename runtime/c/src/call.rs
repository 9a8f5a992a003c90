//! A call with its numbers checked, carried out on views of the caller's memory.

use crate::context::context;
use std::ffi::c_int;
use std::sync::Arc;
use tileproof::cudarc::driver::CudaStream;
use tileproof::kernels::{self, transpose};
use tileproof::{Element, Error, ForeignMemory, TensorView, TensorViewMut, ViewError};

/// Why nothing was enqueued.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("{what} cannot be passed; pass {instead}")]
    Refused { what: String, instead: &'static str },
    #[error(transparent)]
    View(#[from] ViewError),
    #[error(transparent)]
    Library(#[from] Error),
}

/// What is asked for. Addresses are in bytes, extents in elements.
pub(crate) enum Call<'a> {
    Permute { input: u64, output: u64, extents: &'a [usize], order: &'a [usize] },
    InPlace { matrix: u64, side: usize },
    Copy { input: u64, output: u64, elements: usize },
}

/// Carries it out.
///
/// # Safety
/// As the crate says.
pub(crate) unsafe fn call(
    device: c_int,
    stream: u64,
    element: c_int,
    call: &Call<'_>,
) -> Result<(), Failure> {
    let on = match element {
        1 => on::<u8>,
        2 => on::<u16>,
        4 => on::<u32>,
        8 => on::<u64>,
        _ => return Err(refused(format!("elements of {element} bytes"), "1, 2, 4 or 8 bytes")),
    };
    // SAFETY: the caller's.
    unsafe { on(device, stream, call) }
}

/// # Safety
/// As of [`call`].
unsafe fn on<T: Element>(device: c_int, stream: u64, call: &Call<'_>) -> Result<(), Failure> {
    match *call {
        Call::Permute { input, output, extents, order } => {
            let permute = match extents.len() {
                1 => permute::<T, 1>,
                2 => permute::<T, 2>,
                3 => permute::<T, 3>,
                4 => permute::<T, 4>,
                5 => permute::<T, 5>,
                rank => return Err(refused(format!("a tensor of rank {rank}"), "rank 1 to 5")),
            };
            // SAFETY: the caller's.
            unsafe { permute(device, stream, input, output, extents, order) }
        }
        Call::InPlace { matrix, side } => {
            let elements = count(&[side, side])?;
            // SAFETY: the caller's.
            let stream = unsafe { wrapped(device, stream) }?;
            // SAFETY: the caller's.
            let mut memory = unsafe { ForeignMemory::<T>::new(&stream, matrix, elements) }?;
            Ok(transpose::transpose_in_place(&stream, &mut TensorViewMut::new(&mut memory, [side, side])?)?)
        }
        Call::Copy { input, output, elements } => {
            // SAFETY: the caller's.
            let stream = unsafe { wrapped(device, stream) }?;
            // SAFETY: the caller's.
            let input = unsafe { ForeignMemory::<T>::new(&stream, input, elements) }?;
            // SAFETY: the caller's.
            let mut output = unsafe { ForeignMemory::<T>::new(&stream, output, elements) }?;
            let input = TensorView::new(&input, [elements])?;
            Ok(kernels::copy(&stream, &input, &mut TensorViewMut::new(&mut output, [elements])?)?)
        }
    }
}

/// # Safety
/// As of [`call`].
unsafe fn permute<T: Element, const R: usize>(
    device: c_int,
    stream: u64,
    input: u64,
    output: u64,
    extents: &[usize],
    order: &[usize],
) -> Result<(), Failure> {
    let extents: [usize; R] = std::array::from_fn(|d| extents[d]);
    let order: [usize; R] = std::array::from_fn(|d| order[d]);
    if let Some(outside) = order.iter().find(|d| **d >= R) {
        return Err(refused(
            format!("dimension {outside} in an order of {R}"),
            "0 for the outermost, and on",
        ));
    }
    let elements = count(&extents)?;
    // SAFETY: the caller's.
    let stream = unsafe { wrapped(device, stream) }?;
    // SAFETY: the caller's.
    let input = unsafe { ForeignMemory::<T>::new(&stream, input, elements) }?;
    // SAFETY: the caller's.
    let mut output = unsafe { ForeignMemory::<T>::new(&stream, output, elements) }?;
    let input = TensorView::new(&input, extents)?;
    let mut output = TensorViewMut::new(&mut output, order.map(|dimension| extents[dimension]))?;
    Ok(transpose::permute(&stream, &input, order, &mut output)?)
}

/// The stream of the device's primary context.
///
/// # Safety
/// It is one, or 0.
unsafe fn wrapped(device: c_int, stream: u64) -> Result<Arc<CudaStream>, Failure> {
    let ordinal = usize::try_from(device)
        .map_err(|_| refused(format!("device {device}"), "0 for the first one, and on"))?;
    let context = context(ordinal)?;
    // SAFETY: the caller's; the wrapper lives no longer than the call.
    Ok(unsafe { context.wrap_borrowed_stream(stream as usize as _) })
}

fn count(extents: &[usize]) -> Result<usize, Failure> {
    let count = extents.iter().try_fold(1usize, |product, extent| product.checked_mul(*extent));
    count.ok_or_else(|| ViewError::Overflow { extents: extents.to_vec() }.into())
}

fn refused(what: String, instead: &'static str) -> Failure {
    Failure::Refused { what, instead }
}
