//! Transposes of matrices and batches, and permutations of dimensions.

use super::device;
use crate::error::Error;
use crate::scalar::Element;
use crate::view::{TensorView, TensorViewMut};
use cudarc::driver::CudaStream;
use std::sync::Arc;

/// Writes the transpose: `[R, C]` to `[C, R]`, with `output[[c, r]] = input[[r, c]]`.
///
/// # Errors
/// As of [`copy`](super::copy).
pub fn transpose<T: Element>(
    stream: &Arc<CudaStream>,
    input: &TensorView<'_, T, 2>,
    output: &mut TensorViewMut<'_, T, 2>,
) -> Result<(), Error> {
    device::permute("transpose", stream, input, [1, 0], output)
}

/// Writes the transpose of each matrix of a batch: `[B, R, C]` to `[B, C, R]`.
///
/// # Errors
/// As of [`copy`](super::copy).
pub fn transpose_batched<T: Element>(
    stream: &Arc<CudaStream>,
    input: &TensorView<'_, T, 3>,
    output: &mut TensorViewMut<'_, T, 3>,
) -> Result<(), Error> {
    device::permute("transpose_batched", stream, input, [0, 2, 1], output)
}

/// Transposes a square matrix where it is: `matrix[[r, c]]` and `matrix[[c, r]]` change places.
///
/// # Errors
/// If the matrix is not square; and what a launch refuses.
pub fn transpose_in_place<T: Element>(
    stream: &Arc<CudaStream>,
    matrix: &mut TensorViewMut<'_, T, 2>,
) -> Result<(), Error> {
    device::transpose_in_place(stream, matrix)
}

/// Writes the elements with the dimensions in another order: dimension `d` of the output is dimension `order[d]` of the input.
///
/// So `permute(&stream, &input, [0, 2, 1], &mut output)` transposes the matrices of a batch. Unlike
/// [`TensorView::permute`], which names the same elements otherwise, it moves them, and any dimension may come last.
///
/// # Errors
/// If `order` is not a permutation; and as of [`copy`](super::copy).
pub fn permute<T: Element, const R: usize>(
    stream: &Arc<CudaStream>,
    input: &TensorView<'_, T, R>,
    order: [usize; R],
    output: &mut TensorViewMut<'_, T, R>,
) -> Result<(), Error> {
    device::permute("permute", stream, input, order, output)
}
