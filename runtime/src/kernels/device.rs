//! Runs the library on a GPU.

use super::kernel::{self, Arguments, Words};
use super::plan;
use super::run::{Machine, run};
use crate::argument::{DeviceArgument, ErasedView, ErasedViewMut, address};
use crate::description::Description;
use crate::error::Error;
use crate::launch;
use crate::scalar::Element;
use crate::view::{TensorView, TensorViewMut};
use cudarc::driver::{CudaStream, CudaView, CudaViewMut};
use std::ops::Range;
use std::sync::Arc;

/// A stream, and the bytes of both sides.
struct Device<'a> {
    stream: &'a Arc<CudaStream>,
    input: CudaView<'a, u8>,
    output: CudaViewMut<'a, u8>,
}

impl Machine for Device<'_> {
    fn run(
        &mut self,
        kernel: &'static Description,
        Arguments { numbers, input, rest, output }: &Arguments,
    ) -> Result<(), Error> {
        let of_input = |words: &Words| {
            let bytes = whole(self.input.len() - words.offset, words);
            let from = self.input.slice(words.offset..words.offset + bytes);
            ErasedView::new(from, words.element, &words.extents, &words.strides)
        };
        let (from, rest) = (of_input(input)?, rest.as_ref().map(of_input).transpose()?);
        let to = whole(self.output.len() - output.offset, output);
        let to = self.output.slice_mut(output.offset..output.offset + to);
        let mut to = ErasedViewMut::new(to, output.element, &output.extents, &output.strides)?;
        let numbers = numbers.iter().map(|number| DeviceArgument::scalar(*number));
        let read = [Some(&from), rest.as_ref()].into_iter().flatten().map(DeviceArgument::erased);
        let arguments: &mut Vec<DeviceArgument<'_>> =
            &mut numbers.chain(read).chain([DeviceArgument::erased_mut(&mut to)]).collect();
        // SAFETY: the description is the macro's, of a kernel of this library, and none takes anything for granted.
        unsafe { launch::launch(kernel, self.stream, arguments) }
    }
}

/// Copies the input, its dimensions in this order, to the output.
///
/// # Errors
/// As of a launch, or of [`plan::permuted`].
pub(super) fn permute<T: Element, const R: usize>(
    name: &'static str,
    stream: &Arc<CudaStream>,
    input: &TensorView<'_, T, R>,
    order: [usize; R],
    output: &mut TensorViewMut<'_, T, R>,
) -> Result<(), Error> {
    let plan = plan::of_permutation(name, input, order, output)?;
    let bytes_of = |address: u64, span: usize| address..address + (span * size_of::<T>()) as u64;
    let (from, to) = (address(&input.data), address(&output.data));
    check_apart(name, bytes_of(from, input.shape.span), bytes_of(to, output.shape.span))?;
    run(&plan, &mut Device { stream, input: bytes(&input.data), output: bytes_mut(&mut output.data) })
}

/// Refuses a copy of memory to itself before any part of it is launched: one that overlaps as a whole may have parts that do not.
fn check_apart(kernel: &'static str, input: Range<u64>, output: Range<u64>) -> Result<(), Error> {
    if input.start < output.end && output.start < input.end {
        return Err(Error::Aliasing { kernel, written: "output", other: "input" });
    }
    Ok(())
}

/// Transposes a square matrix in place.
///
/// # Errors
/// As of a launch.
pub(super) fn transpose_in_place<T: Element>(
    stream: &Arc<CudaStream>,
    matrix: &mut TensorViewMut<'_, T, 2>,
) -> Result<(), Error> {
    super::check_square(&matrix.shape)?;
    let (extents, strides) = (matrix.shape.extents, matrix.shape.strides);
    let (kernel, element) = kernel::in_place(T::TYPE, extents[0], strides[0], address(&matrix.data));
    let mut words = ErasedViewMut::new(bytes_mut(&mut matrix.data), element, &extents, &strides)?;
    // SAFETY: as for a copy.
    unsafe { launch::launch(kernel, stream, &mut [DeviceArgument::erased_mut(&mut words)]) }
}

/// Of so many bytes, those of whole elements.
fn whole(bytes: usize, words: &Words) -> usize {
    bytes - bytes % words.element.bytes() as usize
}

/// The bytes of elements.
fn bytes<'a, T: Element>(data: &CudaView<'a, T>) -> CudaView<'a, u8> {
    // SAFETY: elements are plain data without padding, and bytes may have any value.
    unsafe { data.transmute(size_of::<T>() * data.len()) }.expect("as many bytes as the elements have")
}

/// The bytes of elements, to be written.
fn bytes_mut<'a, T: Element>(data: &'a mut CudaViewMut<'_, T>) -> CudaViewMut<'a, u8> {
    let length = size_of::<T>() * data.len();
    // SAFETY: elements are plain data without padding, for which all bytes are valid.
    unsafe { data.transmute_mut(length) }.expect("as many bytes as the elements have")
}

#[cfg(test)]
mod tests {
    use super::check_apart;

    #[test]
    fn what_overlaps_is_refused() {
        assert!(check_apart("copy", 0..16, 16..32).is_ok());
        assert!(check_apart("copy", 16..32, 0..16).is_ok());
        assert!(check_apart("copy", 8..8, 8..8).is_ok());
        let error = check_apart("copy", 0..17, 16..32).unwrap_err().to_string();
        assert!(error.starts_with("`output` of `copy` is written and overlaps `input` in memory"), "{error}");
        assert!(check_apart("copy", 0..64, 16..32).is_err());
    }
}
