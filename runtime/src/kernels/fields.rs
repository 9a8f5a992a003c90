//! From records of fields to one row a field, and back.

use super::device;
use crate::error::Error;
use crate::scalar::Element;
use crate::view::{TensorView, TensorViewMut};
use cudarc::driver::CudaStream;
use std::sync::Arc;

/// Takes `N` records of `F` fields apart: `[N, F]` to `[F, N]`, from an array of structures to a structure of arrays.
///
/// # Errors
/// As of [`copy`](super::copy).
pub fn fields_of_records<T: Element>(
    stream: &Arc<CudaStream>,
    records: &TensorView<'_, T, 2>,
    fields: &mut TensorViewMut<'_, T, 2>,
) -> Result<(), Error> {
    device::permute("fields_of_records", stream, records, [1, 0], fields)
}

/// Makes `N` records of `F` fields: `[F, N]` to `[N, F]`, from a structure of arrays to an array of structures.
///
/// # Errors
/// As of [`copy`](super::copy).
pub fn records_of_fields<T: Element>(
    stream: &Arc<CudaStream>,
    fields: &TensorView<'_, T, 2>,
    records: &mut TensorViewMut<'_, T, 2>,
) -> Result<(), Error> {
    device::permute("records_of_fields", stream, fields, [1, 0], records)
}
