//! Device memory that something else in the process allocated, such as another library.

use crate::error::Error;
use crate::scalar::Element;
use crate::shape::ViewError;
use cudarc::driver::{CudaSlice, CudaStream};
use std::fmt;
use std::mem::ManuallyDrop;
use std::sync::Arc;

/// Elements of device memory that something else in the process allocated and will free. Views are made of it as of a `CudaSlice`:
///
/// ```no_run
/// use tileproof::{ForeignMemory, TensorView};
/// # fn example(stream: &std::sync::Arc<tileproof::cudarc::driver::CudaStream>, address: u64) -> Result<(), tileproof::Error> {
/// // SAFETY: the library says that the address is that of 12 floats, and keeps them until its stream, this one, has run.
/// let memory = unsafe { ForeignMemory::<f32>::new(stream, address, 12) }?;
/// let matrix = TensorView::new(&memory, [3, 4])?;
/// # drop(matrix);
/// # Ok(())
/// # }
/// ```
///
/// The stream may be foreign too: cudarc's `CudaContext::wrap_borrowed_stream`, on the device's primary context, which libraries on
/// CUDA's runtime use.
pub struct ForeignMemory<T: Element> {
    /// Never dropped: a slice frees its memory.
    pub(crate) slice: ManuallyDrop<CudaSlice<T>>,
}

impl<T: Element> ForeignMemory<T> {
    /// `length` elements from `address` on, as memory of `stream`.
    ///
    /// # Errors
    /// If the address is not a multiple of the element's size, or the memory would reach beyond the last address; and what the driver
    /// reports.
    ///
    /// # Safety
    /// What cudarc guarantees of a slice of its own must hold of this memory. Until everything has run that is enqueued with it:
    /// - It is memory that kernels in the stream's context may access, allocated for at least `length` elements, or `length` is 0.
    /// - What the kernels read is written by nothing but work that the stream orders with them; what they write is neither
    ///   read nor written by anything else either. Other memory of this type or of cudarc that overlaps it counts as something else.
    pub unsafe fn new(stream: &Arc<CudaStream>, address: u64, length: usize) -> Result<Self, Error> {
        check(address, length, size_of::<T>())?;
        let failed = |source| Error::Driver { action: "enter the context of foreign memory", source };
        stream.context().bind_to_thread().map_err(failed)?;
        // SAFETY: the caller's, and all bits are values of an element.
        let slice = unsafe { stream.upgrade_device_ptr(address, length) };
        Ok(ForeignMemory { slice: ManuallyDrop::new(slice) })
    }

    /// The number of elements.
    pub fn len(&self) -> usize {
        self.slice.len()
    }

    /// Whether it has no elements.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Whether so many elements of so many bytes can lie there.
fn check(address: u64, length: usize, bytes: usize) -> Result<(), ViewError> {
    if !address.is_multiple_of(bytes as u64) {
        return Err(ViewError::Misplaced { address, bytes });
    }
    let end = (length as u64).checked_mul(bytes as u64).and_then(|size| address.checked_add(size));
    end.map(|_| ()).ok_or_else(|| ViewError::Overflow { extents: vec![length] })
}

/// The memory is its owner's, who frees it.
impl<T: Element> Drop for ForeignMemory<T> {
    fn drop(&mut self) {
        // SAFETY: nobody sees the slice after this.
        let slice = unsafe { ManuallyDrop::take(&mut self.slice) };
        _ = slice.leak();
    }
}

impl<T: Element> fmt::Debug for ForeignMemory<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ForeignMemory<{}> of {} elements", T::TYPE.name(), self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::check;
    use crate::shape::ViewError;

    #[test]
    fn elements_lie_at_multiples_of_their_size() {
        assert_eq!(check(256, 12, 4), Ok(()));
        assert_eq!(check(0, 0, 8), Ok(()));
        let error = check(258, 12, 4).unwrap_err();
        assert_eq!(error, ViewError::Misplaced { address: 258, bytes: 4 });
        assert!(error.to_string().starts_with("the address 0x102 is not a multiple of 4"), "{error}");
    }

    #[test]
    fn memory_ends() {
        assert_eq!(check(u64::MAX - 7, 1, 4), Ok(()));
        assert_eq!(check(u64::MAX - 7, 2, 4), Err(ViewError::Overflow { extents: vec![2] }));
        assert_eq!(check(0, usize::MAX, 8), Err(ViewError::Overflow { extents: vec![usize::MAX] }));
    }
}
