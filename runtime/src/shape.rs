//! Shapes of tensors: extents and strides, checked once where a view is made.

use std::fmt;

/// Why memory cannot be viewed as a tensor of some shape.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewError {
    /// The offset of an element does not fit into `usize`.
    #[error(
        "the shape {extents:?} has elements at offsets that overflow `usize`; check the extents for a length that was \
         computed from garbage or went below zero"
    )]
    Overflow {
        /// The extents, outermost first, in elements.
        extents: Vec<usize>,
    },
    /// The memory ends before the last element.
    #[error(
        "the shape {extents:?} with strides {strides:?} needs {needed} elements, and the memory holds {length}; pass a \
         longer slice or smaller extents (extents and strides count elements, outermost first)"
    )]
    TooShort {
        /// The extents, outermost first, in elements.
        extents: Vec<usize>,
        /// The strides, outermost first, in elements.
        strides: Vec<usize>,
        /// Elements from the first to one past the last.
        needed: usize,
        /// Elements in the memory.
        length: usize,
    },
    /// The memory begins where no element can.
    #[error(
        "the address {address:#x} is not a multiple of {bytes}, the bytes of an element; pass the address of an element, in bytes"
    )]
    Misplaced {
        /// The address.
        address: u64,
        /// What it must be a multiple of, in bytes.
        bytes: usize,
    },
    /// The innermost extent is not contiguous.
    #[error(
        "the innermost stride is {stride}, and kernels rely on it being 1; permute the dimensions so that the contiguous \
         one comes last, or copy the data"
    )]
    NotContiguous {
        /// The innermost stride, in elements.
        stride: usize,
    },
    /// Different indices name one element of a tensor that is written.
    #[error(
        "dimension {dimension} has stride {stride}, and the dimensions with smaller strides span {needed} elements, so that \
         a kernel could write one element under two indices; use a stride of at least {needed}, or a view that is only read"
    )]
    Overlapping {
        /// The dimension, 0 the outermost.
        dimension: usize,
        /// Its stride, in elements.
        stride: usize,
        /// Elements that one index of this dimension covers.
        needed: usize,
    },
    /// A range of indices that is not inside its dimension.
    #[error("{start}..{end} is no range of indices in dimension {dimension}, whose extent is {extent}")]
    Outside {
        /// The dimension, 0 the outermost.
        dimension: usize,
        /// The first index.
        start: usize,
        /// One past the last index.
        end: usize,
        /// The extent of the dimension, in elements.
        extent: usize,
    },
    /// A dimension that the tensor has not.
    #[error("there is no dimension {dimension} in a tensor of rank {rank}; dimension 0 is the outermost")]
    NoDimension {
        /// The dimension.
        dimension: usize,
        /// The rank.
        rank: usize,
    },
    /// An order of dimensions in which one is missing.
    #[error("{order:?} does not name each dimension once")]
    NotAPermutation {
        /// The order, as given.
        order: Vec<usize>,
    },
    /// Extents with another number of elements.
    #[error("extents {extents:?} have another number of elements than {from:?}")]
    Count {
        /// The new extents, outermost first, in elements.
        extents: Vec<usize>,
        /// The extents that there are.
        from: Vec<usize>,
    },
    /// Elements that are not where new extents would need them.
    #[error(
        "the elements of {extents:?} with strides {strides:?} have gaps where the new extents join them; keep the \
         dimensions with gaps apart, or copy the data"
    )]
    Scattered {
        /// The extents that there are, outermost first, in elements.
        extents: Vec<usize>,
        /// Their strides, outermost first, in elements.
        strides: Vec<usize>,
    },
    /// Parts of a tensor that is written, whose elements lie between each other.
    #[error(
        "the parts would lie between each other in memory: the outermost dimension has stride {stride}, and the others \
         span {span} elements; split the dimension with the largest stride"
    )]
    Interleaved {
        /// The outermost stride, in elements.
        stride: usize,
        /// Elements that the other dimensions span.
        span: usize,
    },
}

/// The extents and strides of a tensor of rank `R`, in elements, outermost first; the last stride is 1.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape<const R: usize> {
    pub(crate) extents: [usize; R],
    pub(crate) strides: [usize; R],
    /// Elements from the first to one past the last; 0 if there is none.
    pub(crate) span: usize,
}

impl<const R: usize> fmt::Debug for Shape<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} with strides {:?}", self.extents, self.strides)
    }
}

impl<const R: usize> Shape<R> {
    /// Rows one after another in memory of `length` elements.
    pub(crate) fn row_major(extents: [usize; R], length: usize) -> Result<Self, ViewError> {
        let mut strides = [1usize; R];
        for d in (0..R.saturating_sub(1)).rev() {
            strides[d] = strides[d + 1]
                .checked_mul(extents[d + 1])
                .ok_or_else(|| ViewError::Overflow { extents: extents.to_vec() })?;
        }
        Shape::strided(extents, strides, length)
    }

    /// Any strides in memory of `length` elements, but the last 1. The stride of a dimension with one element is free.
    pub(crate) fn strided(
        extents: [usize; R],
        mut strides: [usize; R],
        length: usize,
    ) -> Result<Self, ViewError> {
        const { assert!(R >= 1, "a tensor has at least one dimension") };
        let span = strided(&extents, &mut strides, length)?;
        Ok(Shape { extents, strides, span })
    }

    /// The same, if each stride is at least the span of the dimensions with smaller ones, so that no two indices name one
    /// element.
    pub(crate) fn injective(self) -> Result<Self, ViewError> {
        injective(&self.extents, &self.strides)?;
        Ok(self)
    }
}

/// The extents and strides of a tensor whose rank is known only at run time, as those of a view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErasedShape {
    pub(crate) extents: Vec<usize>,
    pub(crate) strides: Vec<usize>,
    /// Elements from the first to one past the last; 0 if there is none.
    pub(crate) span: usize,
}

impl ErasedShape {
    /// These extents and strides, outermost first, one each a dimension, in memory of `length` elements. Of a tensor that is
    /// written, no two indices name one element.
    ///
    /// # Errors
    /// If the memory is too short, offsets overflow, the last stride is not 1, or indices of a tensor that is written overlap.
    ///
    /// # Panics
    /// If there is no dimension, or not one stride a dimension.
    pub fn new(
        extents: &[usize],
        strides: &[usize],
        length: usize,
        mutable: bool,
    ) -> Result<Self, ViewError> {
        assert!(!extents.is_empty(), "a tensor has at least one dimension");
        assert_eq!(extents.len(), strides.len(), "a tensor has a stride a dimension");
        let mut strides = strides.to_vec();
        let span = strided(extents, &mut strides, length)?;
        if mutable {
            injective(extents, &strides)?;
        }
        Ok(ErasedShape { extents: extents.to_vec(), strides, span })
    }
}

/// The elements from the first to one past the last of a tensor in memory of `length` elements. A last stride that is free becomes 1.
fn strided(extents: &[usize], strides: &mut [usize], length: usize) -> Result<usize, ViewError> {
    let last = extents.len() - 1;
    if extents[last] <= 1 {
        strides[last] = 1;
    }
    if strides[last] != 1 {
        return Err(ViewError::NotContiguous { stride: strides[last] });
    }
    if extents.contains(&0) {
        return Ok(0);
    }
    let overflow = || ViewError::Overflow { extents: extents.to_vec() };
    let mut span = 1usize;
    for (extent, stride) in extents.iter().zip(strides.iter()).rev() {
        span = (extent - 1)
            .checked_mul(*stride)
            .and_then(|reach| span.checked_add(reach))
            .ok_or_else(overflow)?;
    }
    if span > length {
        let (extents, strides) = (extents.to_vec(), strides.to_vec());
        return Err(ViewError::TooShort { extents, strides, needed: span, length });
    }
    Ok(span)
}

/// Whether each stride is at least the span of the dimensions with smaller ones, of a shape whose span fits.
fn injective(extents: &[usize], strides: &[usize]) -> Result<(), ViewError> {
    if extents.contains(&0) {
        return Ok(());
    }
    let mut order: Vec<usize> = (0..extents.len()).rev().collect();
    // Of equal strides, the innermost dimension comes first.
    order.sort_by_key(|d| strides[*d]);
    let mut span = 1;
    for dimension in order.into_iter().filter(|d| extents[*d] > 1) {
        let stride = strides[dimension];
        if stride < span {
            return Err(ViewError::Overlapping { dimension, stride, needed: span });
        }
        // No more than the whole span, which fits.
        span += (extents[dimension] - 1) * stride;
    }
    Ok(())
}

/// The accessors that all views have; `$shape` is the field with the [`Shape`].
macro_rules! shape_accessors {
    ([$($generics:tt)*] $view:ident<$life:lifetime, T>) => {
        impl<$life, $($generics)*, const R: usize> $view<$life, T, R> {
            /// The extents, outermost first, in elements.
            pub fn extents(&self) -> [usize; R] {
                self.shape.extents
            }

            /// The strides, outermost first, in elements; the last is 1.
            pub fn strides(&self) -> [usize; R] {
                self.shape.strides
            }

            /// The number of elements in dimension `d`, 0 the outermost.
            ///
            /// # Panics
            /// If `d` is not below the rank.
            #[track_caller]
            pub fn extent(&self, d: usize) -> usize {
                self.shape.extents[d]
            }

            /// The distance between neighbours in dimension `d`, in elements, 0 the outermost.
            ///
            /// # Panics
            /// If `d` is not below the rank.
            #[track_caller]
            pub fn stride(&self, d: usize) -> usize {
                self.shape.strides[d]
            }
        }

        impl<$($generics)*> $view<'_, T, 2> {
            /// The number of rows.
            pub fn rows(&self) -> usize {
                self.shape.extents[0]
            }

            /// The number of columns: elements of a row.
            pub fn cols(&self) -> usize {
                self.shape.extents[1]
            }

            /// The distance between the beginnings of neighbouring rows, in elements.
            pub fn pitch(&self) -> usize {
                self.shape.strides[0]
            }
        }

        impl<$($generics)*> $view<'_, T, 1> {
            /// The number of elements.
            pub fn len(&self) -> usize {
                self.shape.extents[0]
            }

            /// Whether there is no element.
            pub fn is_empty(&self) -> bool {
                self.len() == 0
            }
        }
    };
}

pub(crate) use shape_accessors;

#[cfg(test)]
mod tests {
    use super::{ErasedShape, Shape, ViewError};

    #[test]
    fn row_major_strides_and_span() {
        let shape = Shape::row_major([2, 3, 4], 24).unwrap();
        assert_eq!((shape.strides, shape.span), ([12, 4, 1], 24));
        assert_eq!(Shape::row_major([5], 7).unwrap().span, 5);
    }

    #[test]
    fn memory_that_is_too_short() {
        let error = Shape::row_major([4, 8], 31).unwrap_err();
        assert_eq!(
            error,
            ViewError::TooShort { extents: vec![4, 8], strides: vec![8, 1], needed: 32, length: 31 }
        );
        assert!(error.to_string().contains("needs 32 elements, and the memory holds 31"), "{error}");
        // the last row need not be followed by its padding
        assert_eq!(Shape::strided([4, 8], [10, 1], 38).unwrap().span, 38);
        assert!(Shape::strided([4, 8], [10, 1], 37).is_err());
    }

    #[test]
    fn empty_tensors_need_no_memory() {
        assert_eq!(Shape::row_major([0, 8], 0).unwrap().span, 0);
        assert_eq!(Shape::row_major([8, 0], 0).unwrap().span, 0);
        assert_eq!(Shape::strided([3, 0, 2], [0, 0, 1], 0).unwrap().span, 0);
    }

    #[test]
    fn arithmetic_that_overflows() {
        let big = usize::MAX / 2 + 1;
        assert_eq!(
            Shape::row_major([2, big, 2], 8).unwrap_err(),
            ViewError::Overflow { extents: vec![2, big, 2] }
        );
        assert!(matches!(Shape::row_major([usize::MAX, 2], 8), Err(ViewError::Overflow { .. })));
        assert!(matches!(
            Shape::strided([usize::MAX, 1], [usize::MAX, 1], 8),
            Err(ViewError::Overflow { .. })
        ));
        assert!(matches!(Shape::strided([2, 2], [usize::MAX, 1], 8), Err(ViewError::Overflow { .. })));
    }

    #[test]
    fn only_the_innermost_extent_is_contiguous() {
        assert_eq!(Shape::strided([2, 2], [1, 2], 8).unwrap_err(), ViewError::NotContiguous { stride: 2 });
    }

    #[test]
    fn one_element_an_index() {
        // windows that overlap, a row that is broadcast, rows that share an element: to be read only
        for (strides, needed) in [([1, 1], 4), ([0, 1], 1), ([3, 1], 4)] {
            let error = Shape::strided([4, 4], strides, 64).unwrap().injective().unwrap_err();
            assert_eq!(error, ViewError::Overlapping { dimension: 0, stride: strides[0], needed });
        }
        let injective =
            |extents: [usize; 3], strides| Shape::strided(extents, strides, 64).unwrap().injective();
        assert!(injective([4, 4, 1], [4, 1, 1]).is_ok());
        // a dimension of one element may have any stride
        assert!(injective([1, 4, 4], [0, 4, 1]).is_ok());
        assert!(injective([1, 4, 4], [usize::MAX, 4, 1]).is_ok());
        assert_eq!(
            injective([2, 2, 4], [10, 8, 1]).unwrap_err(),
            ViewError::Overlapping { dimension: 0, stride: 10, needed: 12 }
        );
        // in any order
        assert!(injective([2, 3, 4], [4, 8, 1]).is_ok());
        assert_eq!(
            injective([2, 3, 4], [4, 7, 1]).unwrap_err(),
            ViewError::Overlapping { dimension: 1, stride: 7, needed: 8 }
        );
        assert!(injective([4, 0, 4], [1, 1, 1]).is_ok());
    }

    #[test]
    fn the_last_stride_of_one_element_is_free() {
        assert_eq!(Shape::strided([4, 1], [6, 99], 64).unwrap().strides, [6, 1]);
        assert!(Shape::strided([4, 1], [1, 99], 4).unwrap().injective().is_ok());
    }

    #[test]
    fn a_rank_known_at_run_time() {
        let shape = ErasedShape::new(&[4, 8], &[10, 1], 38, true).unwrap();
        assert_eq!(shape, ErasedShape { extents: vec![4, 8], strides: vec![10, 1], span: 38 });
        assert!(ErasedShape::new(&[4, 8], &[10, 1], 37, true).is_err());
        assert!(ErasedShape::new(&[4, 8], &[7, 1], 64, true).is_err());
        assert!(ErasedShape::new(&[4, 8], &[7, 1], 64, false).is_ok());
    }
}
