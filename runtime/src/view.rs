//! Views of device memory as tensors: what kernels are launched with.

use crate::scalar::Element;
use crate::shape::{Shape, ViewError, shape_accessors};
use cudarc::driver::{CudaSlice, CudaView, CudaViewMut};
use std::fmt;

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for cudarc::driver::CudaSlice<T> {}
    impl<T> Sealed for cudarc::driver::CudaView<'_, T> {}
    impl<T> Sealed for cudarc::driver::CudaViewMut<'_, T> {}
}

/// Device memory that can be read: cudarc's `CudaSlice`, `CudaView` and `CudaViewMut`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not device memory of `{T}`",
    label = "expected a `CudaSlice<{T}>`, `CudaView<{T}>` or `CudaViewMut<{T}>` of cudarc",
    note = "copy host data to the device with `stream.clone_htod(&data)`, or view it with `HostTensor` to simulate"
)]
pub trait DeviceMemory<T>: sealed::Sealed {
    /// All of it.
    fn all(&self) -> CudaView<'_, T>;
}

/// Device memory that can be written: cudarc's `CudaSlice` and `CudaViewMut`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not device memory of `{T}` that can be written",
    label = "expected a `CudaSlice<{T}>` or `CudaViewMut<{T}>` of cudarc",
    note = "copy host data to the device with `stream.clone_htod(&data)`, or view it with `HostTensorMut` to simulate"
)]
pub trait DeviceMemoryMut<T>: sealed::Sealed {
    /// All of it.
    fn all_mut(&mut self) -> CudaViewMut<'_, T>;
}

impl<T> DeviceMemory<T> for CudaSlice<T> {
    fn all(&self) -> CudaView<'_, T> {
        self.as_view()
    }
}

impl<T> DeviceMemory<T> for CudaView<'_, T> {
    fn all(&self) -> CudaView<'_, T> {
        self.slice(..)
    }
}

impl<T> DeviceMemory<T> for CudaViewMut<'_, T> {
    fn all(&self) -> CudaView<'_, T> {
        self.as_view()
    }
}

impl<T> DeviceMemoryMut<T> for CudaSlice<T> {
    fn all_mut(&mut self) -> CudaViewMut<'_, T> {
        self.as_view_mut()
    }
}

impl<T> DeviceMemoryMut<T> for CudaViewMut<'_, T> {
    fn all_mut(&mut self) -> CudaViewMut<'_, T> {
        self.slice_mut(..)
    }
}

/// Device memory viewed as a tensor of rank `R` that a kernel reads.
pub struct TensorView<'a, T: Element, const R: usize> {
    pub(crate) data: CudaView<'a, T>,
    pub(crate) shape: Shape<R>,
}

/// Device memory viewed as a tensor of rank `R` that a kernel writes.
pub struct TensorViewMut<'a, T: Element, const R: usize> {
    pub(crate) data: CudaViewMut<'a, T>,
    pub(crate) shape: Shape<R>,
}

impl<'a, T: Element, const R: usize> TensorView<'a, T, R> {
    /// The beginning of `memory` as a row-major tensor of `extents` elements, outermost first. The memory may be longer.
    ///
    /// # Errors
    /// If the memory is too short, or offsets overflow.
    pub fn new<M: DeviceMemory<T> + ?Sized>(memory: &'a M, extents: [usize; R]) -> Result<Self, ViewError> {
        let data = memory.all();
        let shape = Shape::row_major(extents, data.len())?;
        Ok(TensorView { data, shape })
    }

    /// As [`new`](Self::new), with `strides` between neighbours, in elements, outermost first: one a dimension, the last
    /// one 1, each other one at least what one index of its dimension covers, so that no two indices name one element.
    /// A matrix whose rows begin every `pitch` elements has `[pitch, 1]`.
    ///
    /// # Errors
    /// If the memory is too short, offsets overflow, the last stride is not 1, or indices overlap.
    pub fn with_strides<M: DeviceMemory<T> + ?Sized>(
        memory: &'a M,
        extents: [usize; R],
        strides: [usize; R],
    ) -> Result<Self, ViewError> {
        let data = memory.all();
        let shape = Shape::strided(extents, strides, data.len())?;
        Ok(TensorView { data, shape })
    }
}

impl<'a, T: Element, const R: usize> TensorViewMut<'a, T, R> {
    /// The beginning of `memory` as a row-major tensor of `extents` elements, outermost first. The memory may be longer.
    ///
    /// # Errors
    /// If the memory is too short, or offsets overflow.
    pub fn new<M: DeviceMemoryMut<T> + ?Sized>(
        memory: &'a mut M,
        extents: [usize; R],
    ) -> Result<Self, ViewError> {
        let data = memory.all_mut();
        let shape = Shape::row_major(extents, data.len())?;
        Ok(TensorViewMut { data, shape })
    }

    /// As [`new`](Self::new), with `strides` between neighbours, in elements, outermost first: one a dimension, the last
    /// one 1, each other one at least what one index of its dimension covers, so that no two indices name one element.
    /// A matrix whose rows begin every `pitch` elements has `[pitch, 1]`.
    ///
    /// # Errors
    /// If the memory is too short, offsets overflow, the last stride is not 1, or indices overlap.
    pub fn with_strides<M: DeviceMemoryMut<T> + ?Sized>(
        memory: &'a mut M,
        extents: [usize; R],
        strides: [usize; R],
    ) -> Result<Self, ViewError> {
        let data = memory.all_mut();
        let shape = Shape::strided(extents, strides, data.len())?;
        Ok(TensorViewMut { data, shape })
    }
}

shape_accessors!([T: Element] TensorView<'a, T>);
shape_accessors!([T: Element] TensorViewMut<'a, T>);

impl<T: Element, const R: usize> fmt::Debug for TensorView<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TensorView<{}, {R}> {:?}", T::TYPE.name(), self.shape)
    }
}

impl<T: Element, const R: usize> fmt::Debug for TensorViewMut<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "TensorViewMut<{}, {R}> {:?}", T::TYPE.name(), self.shape)
    }
}
