//! Launches kernels.
//!
//! # Streams
//!
//! A launch returns before the kernel has run, so something must keep its tensors alive and unchanged until then. cudarc
//! records events in each slice for that, but one read event a slice is not enough for two readers on two streams, and
//! dropping the last stream turns the recording off. What holds without events is the order of one stream: a slice is
//! freed on the stream it was allocated on. So a launch demands that each tensor's own stream is the launch's stream,
//! and refuses the cases where one handle means several streams (per-thread default streams) or a launch may happen
//! again later (graph capture).

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
/// of its tensors, writes only mutable ones, and has no data race.
pub unsafe fn launch(
    description: &'static Description,
    stream: &Arc<CudaStream>,
    arguments: &mut [DeviceArgument<'_>],
) -> Result<(), Error> {
    let kernel = description.name;
    check_stream(kernel, stream)?;
    check_tensors(description, stream, arguments)?;

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
    // word; the caller also answers for what the kernel does with them. Their memory outlives the kernel, because it is
    // freed on this very stream.
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
    let shapes: Vec<ArgumentShape<'_>> = arguments.iter().map(DeviceArgument::shape).collect();
    let Some(kernel) = first(kernels, &shapes) else { return Ok(()) };
    // SAFETY: the caller's.
    unsafe { launch(kernel, stream, arguments) }
}

fn check_stream(kernel: &'static str, stream: &CudaStream) -> Result<(), Error> {
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

fn check_tensors(
    description: &Description,
    stream: &CudaStream,
    arguments: &[DeviceArgument<'_>],
) -> Result<(), Error> {
    let kernel = description.name;
    for (argument, param) in arguments.iter().zip(description.params) {
        let Some(own) = argument.stream() else { continue };
        if own.context().cu_ctx() != stream.context().cu_ctx() {
            return Err(Error::ForeignContext { kernel, parameter: param.name });
        }
        if own.cu_stream() != stream.cu_stream() {
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
