//! Views of device memory as tensors: what kernels are launched with.

use crate::foreign::ForeignMemory;
use crate::scalar::Element;
use crate::shape::{Shape, ViewError, shape_accessors};
use crate::subview::subviews;
use cudarc::driver::{CudaSlice, CudaView, CudaViewMut};
use std::fmt;
use std::ops::Range;

mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for cudarc::driver::CudaSlice<T> {}
    impl<T> Sealed for cudarc::driver::CudaView<'_, T> {}
    impl<T> Sealed for cudarc::driver::CudaViewMut<'_, T> {}
    impl<T: crate::Element> Sealed for crate::ForeignMemory<T> {}
}

/// Device memory that can be read: cudarc's `CudaSlice`, `CudaView` and `CudaViewMut`, and [`ForeignMemory`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not device memory of `{T}`",
    label = "expected a `CudaSlice<{T}>`, `CudaView<{T}>` or `CudaViewMut<{T}>` of cudarc",
    note = "copy host data to the device with `stream.clone_htod(&data)`, or view it with `HostTensor` to simulate"
)]
pub trait DeviceMemory<T>: sealed::Sealed {
    /// All of it.
    fn all(&self) -> CudaView<'_, T>;
}

/// Device memory that can be written: cudarc's `CudaSlice` and `CudaViewMut`, and [`ForeignMemory`].
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

impl<T: Element> DeviceMemory<T> for ForeignMemory<T> {
    fn all(&self) -> CudaView<'_, T> {
        self.slice.as_view()
    }
}

impl<T: Element> DeviceMemoryMut<T> for ForeignMemory<T> {
    fn all_mut(&mut self) -> CudaViewMut<'_, T> {
        self.slice.as_view_mut()
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
    /// one 1. The others may be anything: 0 repeats a row, 1 makes windows that overlap, and a dimension of one element may
    /// have any.
    /// A matrix whose rows begin every `pitch` elements has `[pitch, 1]`.
    ///
    /// # Errors
    /// If the memory is too short, offsets overflow, or the last stride is not 1.
    pub fn with_strides<M: DeviceMemory<T> + ?Sized>(
        memory: &'a M,
        extents: [usize; R],
        strides: [usize; R],
    ) -> Result<Self, ViewError> {
        let data = memory.all();
        let shape = Shape::strided(extents, strides, data.len())?;
        Ok(TensorView { data, shape })
    }

    fn part<const Q: usize>(&self, offset: usize, shape: Shape<Q>) -> TensorView<'a, T, Q> {
        TensorView { data: self.data.slice(offset..offset + shape.span), shape }
    }

    #[allow(clippy::type_complexity, clippy::unnecessary_wraps)] // as of a view that is written
    fn halves(
        &self,
        first: Shape<R>,
        offset: usize,
        second: Shape<R>,
    ) -> Result<(TensorView<'a, T, R>, TensorView<'a, T, R>), ViewError> {
        Ok((self.part(0, first), self.part(offset, second)))
    }
}

impl<'a, T: Element> TensorView<'a, T, 2> {
    /// The beginning of `memory` as the matrix that column-major software, such as cuBLAS or Fortran, calls `rows` by `cols`
    /// with this leading dimension. Its columns are contiguous, so here they are the rows: the view has `cols` rows of `rows`
    /// elements, and the element that the others call (r, c) is `[[c, r]]`.
    ///
    /// # Errors
    /// If the memory is too short, or offsets overflow.
    pub fn from_column_major<M: DeviceMemory<T> + ?Sized>(
        memory: &'a M,
        [rows, cols]: [usize; 2],
        leading_dimension: usize,
    ) -> Result<Self, ViewError> {
        TensorView::with_strides(memory, [cols, rows], [leading_dimension, 1])
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
    /// one 1, each other one at least what the dimensions with smaller ones span, so that no two indices name one element.
    /// A dimension of one element may have any.
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
        let shape = Shape::strided(extents, strides, data.len())?.injective()?;
        Ok(TensorViewMut { data, shape })
    }

    /// The same tensor, to be read.
    pub fn as_view(&self) -> TensorView<'_, T, R> {
        TensorView { data: self.data.as_view(), shape: self.shape }
    }

    fn part<const Q: usize>(&mut self, offset: usize, shape: Shape<Q>) -> TensorViewMut<'_, T, Q> {
        TensorViewMut { data: self.data.slice_mut(offset..offset + shape.span), shape }
    }

    #[allow(clippy::type_complexity)]
    fn halves(
        &mut self,
        first: Shape<R>,
        offset: usize,
        second: Shape<R>,
    ) -> Result<(TensorViewMut<'_, T, R>, TensorViewMut<'_, T, R>), ViewError> {
        let boundary = Shape::boundary(&first, offset, &second, self.shape.strides[0])?;
        let (low, high) = self.data.split_at_mut(boundary);
        Ok((TensorViewMut { data: low, shape: first }, TensorViewMut { data: high, shape: second }))
    }
}

impl<'a, T: Element> TensorViewMut<'a, T, 2> {
    /// The beginning of `memory` as the matrix that column-major software, such as cuBLAS or Fortran, calls `rows` by `cols`
    /// with this leading dimension. Its columns are contiguous, so here they are the rows: the view has `cols` rows of `rows`
    /// elements, and the element that the others call (r, c) is `[[c, r]]`.
    ///
    /// # Errors
    /// If the memory is too short, offsets overflow, or the leading dimension is below `rows`.
    pub fn from_column_major<M: DeviceMemoryMut<T> + ?Sized>(
        memory: &'a mut M,
        [rows, cols]: [usize; 2],
        leading_dimension: usize,
    ) -> Result<Self, ViewError> {
        TensorViewMut::with_strides(memory, [cols, rows], [leading_dimension, 1])
    }
}

shape_accessors!([T: Element] TensorView<'a, T>);
shape_accessors!([T: Element] TensorViewMut<'a, T>);
subviews!([&] TensorView<'a>, "to be read");
subviews!([&mut] TensorViewMut<'_>, "to be written");

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
