//! Launches kernels.
//!
//! # Why a launch can be safe
//!
//! The function that the macro generates for a kernel without trusts is safe: no arguments, in no state of the program, make it
//! touch memory that is not its own, or race. Here is what that rests on, and who sees to it.
//!
//! **The kernel** does, for every launch that its contract admits, no more than what is written: it stays inside its tensors and
//! tiles, its index arithmetic stays in range, it reads no shared memory before it is written, its threads and blocks do not race,
//! and all threads that take part reach each barrier. The compiler proves it, or the source takes it for granted, and then the
//! generated function is unsafe. That the CUDA text is this kernel's is why [`launch`] is unsafe: the macro writes both.
//!
//! **The contract**, and every condition that a proof left to the launch, is evaluated by `plan` in exact arithmetic on the
//! shapes that are passed. So are the limits of the grid, the alignment of each first element, and the sizes up to which index
//! arithmetic is proven; 32-bit indices are used only below theirs. A grid or an output of no extent is no work, and not launched.
//!
//! **The tensors** are views: that the memory holds them, and, where they are written, that no two indices name one element, was
//! checked where they were made. A written one is borrowed `&mut`, so no other argument overlaps it, unless memory came from raw
//! pointers; `check_aliasing` refuses that.
//!
//! **Time.** A launch returns before the kernel has run, when the borrows end. Until then something must keep the
//! tensors allocated and unchanged. cudarc records events in each slice for that, but one read event a slice is not enough for two
//! readers on two streams, and without a second stream in the context none is waited for. What holds without events is the order
//! of one stream: a slice is freed on the stream it was allocated on. So each tensor's own stream must be the launch's stream, and
//! cases are refused in which one handle means several streams (per-thread default streams), in which the context is another one,
//! or in which the launch may happen again later (graph capture). The arguments go through cudarc's launch builder all the same,
//! so that what cudarc itself does with a slice on other streams waits for the kernel. Where two readers share the
//! one event, it may not, and a copy on another stream may overwrite what the kernel is reading. Then the kernel reads other
//! values, of types for which all are valid, each once, so that what it has checked of a value stays true: it
//! computes something else, and touches nothing else.
//!
//! **The module** stays loaded while the kernel runs: dropping it waits for the device.
//!
//! What cannot be seen from here: a capture that another thread begins on the very stream between the check and the launch, and what
//! unsafe code elsewhere does to a slice or a context. [`launch_on`] demands nothing of streams, and is unsafe for that.

use crate::argument::{DeviceArgument, IndexWords};
use crate::description::Description;
use crate::error::Error;
use crate::load;
use crate::plan::{ArgumentShape, first, plan};
use cudarc::driver::sys::{CUresult, CUstream, CUstreamCaptureStatus};
use cudarc::driver::{CudaStream, DriverError, LaunchConfig};
use std::sync::Arc;

/// The handle that means "the default stream of whichever thread uses it".
const PER_THREAD_STREAM: usize = 2;

/// Checks the arguments, compiles the kernel on its first use in this context, and enqueues it on `stream`. Returns
/// before it has run. Without work (a grid or an output of no extent) nothing is enqueued.
///
/// # Errors
/// Everything that can be wrong with the stream, the arguments or the installation; then nothing has been enqueued.
///
/// # Safety
/// The description's CUDA text must be what its other fields say: an entry point of that name with parameters as
/// [`Description`] lays down, which for every launch that the plan admits accesses only the elements
/// of its tensors, writes only mutable ones, and has no data race. What the kernel takes for granted must hold for these arguments.
pub unsafe fn launch(
    description: &'static Description,
    stream: &Arc<CudaStream>,
    arguments: &mut [DeviceArgument<'_>],
) -> Result<(), Error> {
    check_stream(description.name, stream)?;
    check_contexts(description, stream, arguments)?;
    check_streams(description, stream, arguments)?;
    // SAFETY: the caller's. The memory outlives the kernel, because it is freed on this very stream.
    unsafe { enqueue(description, stream, arguments) }
}

/// The same, on any stream of the tensors' context.
///
/// # Errors
/// As of [`launch`], but for the stream.
///
/// # Safety
/// As of [`launch`]. The memory of the tensors must be theirs until the kernel has run, and nothing else may access it meanwhile,
/// or write what the kernel reads.
pub unsafe fn launch_on(
    description: &'static Description,
    stream: &Arc<CudaStream>,
    arguments: &mut [DeviceArgument<'_>],
) -> Result<(), Error> {
    check_contexts(description, stream, arguments)?;
    // SAFETY: the caller's.
    unsafe { enqueue(description, stream, arguments) }
}

/// Launches what is admitted on a stream that is not looked at.
///
/// # Safety
/// As of [`launch_on`].
unsafe fn enqueue(
    description: &'static Description,
    stream: &Arc<CudaStream>,
    arguments: &mut [DeviceArgument<'_>],
) -> Result<(), Error> {
    let shapes: Vec<ArgumentShape<'_>> = arguments.iter().map(DeviceArgument::shape).collect();
    let Some(plan) = plan(description, &shapes)? else { return Ok(()) };
    check_aliasing(description, &shapes)?;

    let loaded = load::cached(description, stream.context(), plan.width)?;
    let words = IndexWords::new(arguments, plan.width);
    let mut cursor = words.cursor();
    let mut launch = stream.launch_builder(loaded.function());
    for argument in arguments {
        argument.push(&mut launch, &mut cursor);
    }
    let [x, y, z] = plan.grid;
    let [bx, by, bz] = description.block;
    let shared_mem_bytes = description.dynamic_shared_bytes();
    let config = LaunchConfig { grid_dim: (x, y, z), block_dim: (bx, by, bz), shared_mem_bytes };
    // SAFETY: the arguments have the number, types and order of the entry point's parameters, by `plan` and the caller's
    // word; the caller also answers for what the kernel does with them and for how long their memory is theirs.
    unsafe { launch.launch(config) }
        .map_err(|source| Error::Driver { action: "launch the kernel", source })?;
    Ok(())
}

/// Launches the first of these kernels whose plan admits the arguments. They have the same parameters and compute the same.
///
/// # Errors
/// Of the last kernel, if none admits them.
///
/// # Safety
/// As of [`launch`], for each of them.
pub unsafe fn launch_first(
    kernels: &[&'static Description],
    stream: &Arc<CudaStream>,
    arguments: &mut [DeviceArgument<'_>],
) -> Result<(), Error> {
    let Some(kernel) = admitted(kernels, arguments) else { return Ok(()) };
    // SAFETY: the caller's.
    unsafe { launch(kernel, stream, arguments) }
}

/// The same, on any stream of the tensors' context.
///
/// # Errors
/// As of [`launch_first`], but for the stream.
///
/// # Safety
/// As of [`launch_on`], for each of them.
pub unsafe fn launch_first_on(
    kernels: &[&'static Description],
    stream: &Arc<CudaStream>,
    arguments: &mut [DeviceArgument<'_>],
) -> Result<(), Error> {
    let Some(kernel) = admitted(kernels, arguments) else { return Ok(()) };
    // SAFETY: the caller's.
    unsafe { launch_on(kernel, stream, arguments) }
}

fn admitted(
    kernels: &[&'static Description],
    arguments: &[DeviceArgument<'_>],
) -> Option<&'static Description> {
    let shapes: Vec<ArgumentShape<'_>> = arguments.iter().map(DeviceArgument::shape).collect();
    first(kernels, &shapes)
}

/// Whether what is enqueued on the stream runs there once and in order.
pub(crate) fn check_stream(kernel: &'static str, stream: &CudaStream) -> Result<(), Error> {
    if stream.cu_stream() == PER_THREAD_STREAM as CUstream {
        return Err(Error::PerThreadStream { kernel });
    }
    match stream.capture_status() {
        Ok(CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE) => Ok(()),
        Ok(
            CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_ACTIVE
            | CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_INVALIDATED,
        )
        | Err(DriverError(CUresult::CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)) => Err(Error::Capturing { kernel }),
        Err(source) => Err(Error::Driver { action: "tell whether the stream is captured", source }),
    }
}

fn check_contexts(
    description: &Description,
    stream: &CudaStream,
    arguments: &[DeviceArgument<'_>],
) -> Result<(), Error> {
    let kernel = description.name;
    for (argument, param) in arguments.iter().zip(description.params) {
        if argument.stream().is_some_and(|own| own.context().cu_ctx() != stream.context().cu_ctx()) {
            return Err(Error::ForeignContext { kernel, parameter: param.name });
        }
    }
    Ok(())
}

fn check_streams(
    description: &Description,
    stream: &CudaStream,
    arguments: &[DeviceArgument<'_>],
) -> Result<(), Error> {
    let kernel = description.name;
    for (argument, param) in arguments.iter().zip(description.params) {
        if argument.stream().is_some_and(|own| own.cu_stream() != stream.cu_stream()) {
            return Err(Error::ForeignStream { kernel, parameter: param.name });
        }
    }
    Ok(())
}

/// Rust's borrows forbid overlaps, except in memory that came from raw pointers.
fn check_aliasing(description: &Description, shapes: &[ArgumentShape<'_>]) -> Result<(), Error> {
    for (i, written) in shapes.iter().enumerate() {
        let Some((true, start, end)) = bytes(written) else { continue };
        for (j, other) in shapes.iter().enumerate() {
            let Some((_, other_start, other_end)) = bytes(other) else { continue };
            if i != j && start < other_end && other_start < end {
                let (written, other) = (description.params[i].name, description.params[j].name);
                return Err(Error::Aliasing { kernel: description.name, written, other });
            }
        }
    }
    Ok(())
}

/// Whether a tensor is written, and its first address and the one past its last.
fn bytes(shape: &ArgumentShape<'_>) -> Option<(bool, u64, u64)> {
    match *shape {
        ArgumentShape::Tensor { element, mutable, span, address, .. } => {
            Some((mutable, address, address + span as u64 * u64::from(element.bytes())))
        }
        ArgumentShape::Scalar(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::check_aliasing;
    use crate::description::{Description, Param};
    use crate::plan::ArgumentShape;
    use crate::scalar::ScalarType;
    use crate::testing::{COPY, tensor};

    fn at(address: u64, mutable: bool, span: usize) -> ArgumentShape<'static> {
        ArgumentShape::Tensor {
            element: ScalarType::F32,
            mutable,
            extents: &[4],
            strides: &[1],
            span,
            address,
        }
    }

    #[test]
    fn a_written_tensor_overlaps_nothing() {
        let check = |a, b| check_aliasing(&COPY, &[a, b]).map_err(|error| error.to_string());
        assert!(check(at(256, false, 4), at(272, true, 4)).is_ok());
        assert!(check(at(272, false, 4), at(256, true, 4)).is_ok());
        assert!(check(at(256, false, 4), at(256, true, 0)).is_ok());
        assert!(check(at(256, false, 4), at(256, false, 4)).is_ok());
        let error = check(at(256, false, 5), at(272, true, 4)).unwrap_err();
        assert!(error.starts_with("`output` of `copy` is written and overlaps `input` in memory"), "{error}");
        assert!(check(at(100, false, 100), at(272, true, 1)).is_err());
    }

    #[test]
    fn two_written_tensors() {
        const PARAMS: [Param; 2] = [tensor("a", true), tensor("b", true)];
        let written = Description { params: &PARAMS, ..COPY };
        assert!(check_aliasing(&written, &[at(0, true, 4), at(8, true, 4)]).is_err());
        assert!(check_aliasing(&written, &[at(0, true, 4), at(16, true, 4)]).is_ok());
    }
}
