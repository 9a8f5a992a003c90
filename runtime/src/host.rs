//! Views of host memory as tensors: what kernels are simulated with.

use crate::scalar::Element;
use crate::shape::{Shape, ViewError, shape_accessors};
use std::fmt;

/// Host memory viewed as a tensor of rank `R` that a simulated kernel reads.
pub struct HostTensor<'a, T: Element, const R: usize> {
    pub(crate) data: &'a [T],
    pub(crate) shape: Shape<R>,
}

/// Host memory viewed as a tensor of rank `R` that a simulated kernel writes.
pub struct HostTensorMut<'a, T: Element, const R: usize> {
    pub(crate) data: &'a mut [T],
    pub(crate) shape: Shape<R>,
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
        Ok(HostTensor { data, shape })
    }

    /// As [`new`](Self::new), with `strides` between neighbours, in elements, outermost first: one a dimension, the last
    /// one 1, each other one at least what one index of its dimension covers, so that no two indices name one element.
    /// A matrix whose rows begin every `pitch` elements has `[pitch, 1]`.
    ///
    /// # Errors
    /// If the data is too short, offsets overflow, the last stride is not 1, or indices overlap.
    pub fn with_strides(data: &'a [T], extents: [usize; R], strides: [usize; R]) -> Result<Self, ViewError> {
        let shape = Shape::strided(extents, strides, data.len())?;
        Ok(HostTensor { data, shape })
    }
}

impl<'a, T: Element, const R: usize> HostTensorMut<'a, T, R> {
    /// The beginning of `data` as a row-major tensor of `extents` elements, outermost first. The data may be longer.
    ///
    /// # Errors
    /// If the data is too short, or offsets overflow.
    pub fn new(data: &'a mut [T], extents: [usize; R]) -> Result<Self, ViewError> {
        let shape = Shape::row_major(extents, data.len())?;
        Ok(HostTensorMut { data, shape })
    }

    /// As [`new`](Self::new), with `strides` between neighbours, in elements, outermost first: one a dimension, the last
    /// one 1, each other one at least what one index of its dimension covers, so that no two indices name one element.
    ///
    /// # Errors
    /// If the data is too short, offsets overflow, the last stride is not 1, or indices overlap.
    pub fn with_strides(
        data: &'a mut [T],
        extents: [usize; R],
        strides: [usize; R],
    ) -> Result<Self, ViewError> {
        let shape = Shape::strided(extents, strides, data.len())?;
        Ok(HostTensorMut { data, shape })
    }
}

shape_accessors!([T: Element] HostTensor<'a, T>);
shape_accessors!([T: Element] HostTensorMut<'a, T>);

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
