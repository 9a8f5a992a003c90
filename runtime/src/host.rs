//! Views of host memory as tensors: what kernels are simulated with.

use crate::scalar::Element;
use crate::shape::{Shape, ViewError, shape_accessors};
use crate::subview::subviews;
use std::fmt;
use std::ops::Range;

/// Host memory viewed as a tensor of rank `R` that a simulated kernel reads.
pub struct HostTensor<'a, T: Element, const R: usize> {
    pub(crate) data: &'a [T],
    pub(crate) shape: Shape<R>,
    /// Elements before it in the data that it is a part of, whose beginning counts as aligned.
    pub(crate) offset: usize,
}

/// Host memory viewed as a tensor of rank `R` that a simulated kernel writes.
pub struct HostTensorMut<'a, T: Element, const R: usize> {
    pub(crate) data: &'a mut [T],
    pub(crate) shape: Shape<R>,
    /// Elements before it in the data that it is a part of, whose beginning counts as aligned.
    pub(crate) offset: usize,
}

impl<'a, T: Element, const R: usize> HostTensor<'a, T, R> {
    /// The beginning of `data` as a row-major tensor of `extents` elements, outermost first. The data may be longer.
    ///
    /// ```
    /// use tileproof::HostTensor;
    ///
    /// let data = [0.0_f32; 12];
    /// let matrix = HostTensor::new(&data, [3, 4])?;
    /// assert_eq!((matrix.rows(), matrix.cols(), matrix.pitch()), (3, 4, 4));
    /// assert!(HostTensor::new(&data, [4, 4]).is_err());
    /// # Ok::<(), tileproof::ViewError>(())
    /// ```
    ///
    /// # Errors
    /// If the data is too short, or offsets overflow.
    pub fn new(data: &'a [T], extents: [usize; R]) -> Result<Self, ViewError> {
        let shape = Shape::row_major(extents, data.len())?;
        Ok(HostTensor { data, shape, offset: 0 })
    }

    /// As [`new`](Self::new), with `strides` between neighbours, in elements, outermost first: one a dimension, the last
    /// one 1. The others may be anything: 0 repeats a row, 1 makes windows that overlap, and a dimension of one element may
    /// have any.
    /// A matrix whose rows begin every `pitch` elements has `[pitch, 1]`.
    ///
    /// # Errors
    /// If the data is too short, offsets overflow, or the last stride is not 1.
    pub fn with_strides(data: &'a [T], extents: [usize; R], strides: [usize; R]) -> Result<Self, ViewError> {
        let shape = Shape::strided(extents, strides, data.len())?;
        Ok(HostTensor { data, shape, offset: 0 })
    }

    fn part<const Q: usize>(&self, offset: usize, shape: Shape<Q>) -> HostTensor<'a, T, Q> {
        HostTensor { data: &self.data[offset..offset + shape.span], shape, offset: self.offset + offset }
    }

    #[allow(clippy::type_complexity, clippy::unnecessary_wraps)] // as of a view that is written
    fn halves(
        &self,
        first: Shape<R>,
        offset: usize,
        second: Shape<R>,
    ) -> Result<(HostTensor<'a, T, R>, HostTensor<'a, T, R>), ViewError> {
        Ok((self.part(0, first), self.part(offset, second)))
    }
}

impl<'a, T: Element> HostTensor<'a, T, 2> {
    /// The beginning of `data` as the matrix that column-major software calls `rows` by `cols` with this leading dimension.
    /// Its columns are contiguous, so here they are the rows: the view has `cols` rows of `rows` elements, and the element
    /// that the others call (r, c) is `[[c, r]]`.
    ///
    /// # Errors
    /// If the data is too short, or offsets overflow.
    pub fn from_column_major(
        data: &'a [T],
        [rows, cols]: [usize; 2],
        leading_dimension: usize,
    ) -> Result<Self, ViewError> {
        HostTensor::with_strides(data, [cols, rows], [leading_dimension, 1])
    }
}

impl<'a, T: Element, const R: usize> HostTensorMut<'a, T, R> {
    /// The beginning of `data` as a row-major tensor of `extents` elements, outermost first. The data may be longer.
    ///
    /// # Errors
    /// If the data is too short, or offsets overflow.
    pub fn new(data: &'a mut [T], extents: [usize; R]) -> Result<Self, ViewError> {
        let shape = Shape::row_major(extents, data.len())?;
        Ok(HostTensorMut { data, shape, offset: 0 })
    }

    /// As [`new`](Self::new), with `strides` between neighbours, in elements, outermost first: one a dimension, the last
    /// one 1, each other one at least what the dimensions with smaller ones span, so that no two indices name one element.
    /// A dimension of one element may have any.
    ///
    /// # Errors
    /// If the data is too short, offsets overflow, the last stride is not 1, or indices overlap.
    pub fn with_strides(
        data: &'a mut [T],
        extents: [usize; R],
        strides: [usize; R],
    ) -> Result<Self, ViewError> {
        let shape = Shape::strided(extents, strides, data.len())?.injective()?;
        Ok(HostTensorMut { data, shape, offset: 0 })
    }

    /// The same tensor, to be read.
    pub fn as_view(&self) -> HostTensor<'_, T, R> {
        HostTensor { data: self.data, shape: self.shape, offset: self.offset }
    }

    fn part<const Q: usize>(&mut self, offset: usize, shape: Shape<Q>) -> HostTensorMut<'_, T, Q> {
        let data = &mut self.data[offset..offset + shape.span];
        HostTensorMut { data, shape, offset: self.offset + offset }
    }

    #[allow(clippy::type_complexity)]
    fn halves(
        &mut self,
        first: Shape<R>,
        offset: usize,
        second: Shape<R>,
    ) -> Result<(HostTensorMut<'_, T, R>, HostTensorMut<'_, T, R>), ViewError> {
        let boundary = Shape::boundary(&first, offset, &second, self.shape.strides[0])?;
        let (low, high) = self.data.split_at_mut(boundary);
        Ok((
            HostTensorMut { data: low, shape: first, offset: self.offset },
            HostTensorMut { data: high, shape: second, offset: self.offset + boundary },
        ))
    }
}

impl<'a, T: Element> HostTensorMut<'a, T, 2> {
    /// The beginning of `data` as the matrix that column-major software calls `rows` by `cols` with this leading dimension.
    /// Its columns are contiguous, so here they are the rows: the view has `cols` rows of `rows` elements, and the element
    /// that the others call (r, c) is `[[c, r]]`.
    ///
    /// # Errors
    /// If the data is too short, offsets overflow, or the leading dimension is below `rows`.
    pub fn from_column_major(
        data: &'a mut [T],
        [rows, cols]: [usize; 2],
        leading_dimension: usize,
    ) -> Result<Self, ViewError> {
        HostTensorMut::with_strides(data, [cols, rows], [leading_dimension, 1])
    }
}

shape_accessors!([T: Element] HostTensor<'a, T>);
shape_accessors!([T: Element] HostTensorMut<'a, T>);
subviews!([&] HostTensor<'a>, "to be read");
subviews!([&mut] HostTensorMut<'_>, "to be written");

impl<T: Element, const R: usize> fmt::Debug for HostTensor<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostTensor<{}, {R}> {:?} in {} elements", T::TYPE.name(), self.shape, self.data.len())
    }
}

impl<T: Element, const R: usize> fmt::Debug for HostTensorMut<'_, T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HostTensorMut<{}, {R}> {:?} in {} elements", T::TYPE.name(), self.shape, self.data.len())
    }
}
