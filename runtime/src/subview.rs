//! Parts of tensors, and other ways to look at the same elements: arithmetic on shapes, and the methods of all views.
//!
//! Each method makes a view of the same memory and copies nothing. Its first element is where it is, so a part that starts at
//! an odd column is aligned to its element and no further; a launch checks what the kernel needs.

use crate::shape::{Shape, ViewError};
use std::ops::Range;

impl<const R: usize> Shape<R> {
    /// These ranges of indices: the offset of the first element, and the shape.
    pub(crate) fn slice(&self, ranges: &[Range<usize>; R]) -> Result<(usize, Self), ViewError> {
        for (dimension, range) in ranges.iter().enumerate() {
            self.check(dimension, range)?;
        }
        let extents = std::array::from_fn(|d| ranges[d].len());
        let starts = std::array::from_fn(|d| ranges[d].start);
        let part = Shape::strided(extents, self.strides, self.span)?;
        Ok((self.offset(&part, &starts), part))
    }

    /// The indices of the outermost dimension below `index`, and the others with the offset of their first element.
    pub(crate) fn split(&self, index: usize) -> Result<(Self, usize, Self), ViewError> {
        let mut ranges = self.extents.map(|extent| 0..extent);
        let extent = self.extents[0];
        ranges[0] = 0..index;
        let (_, first) = self.slice(&ranges)?;
        ranges[0] = index..extent;
        let (offset, second) = self.slice(&ranges)?;
        Ok((first, offset, second))
    }

    /// Where memory is cut between two parts of a tensor that is written, the second one at `offset`.
    pub(crate) fn boundary(
        first: &Self,
        offset: usize,
        second: &Self,
        stride: usize,
    ) -> Result<usize, ViewError> {
        match (first.span, second.span) {
            (span, 0) => Ok(span),
            (span, _) if span <= offset => Ok(offset),
            (_, span) => Err(ViewError::Interleaved { stride, span }),
        }
    }

    /// The part at one index of a dimension, without that dimension: the offset of the first element, and the shape.
    pub(crate) fn select<const Q: usize>(
        &self,
        dimension: usize,
        index: usize,
    ) -> Result<(usize, Shape<Q>), ViewError> {
        const { assert!(Q + 1 == R, "one dimension is left out") };
        if dimension >= R {
            return Err(ViewError::NoDimension { dimension, rank: R });
        }
        self.check(dimension, &(index..index.saturating_add(1)))?;
        let other = |d: usize| if d < dimension { d } else { d + 1 };
        let extents = std::array::from_fn(|d| self.extents[other(d)]);
        let strides = std::array::from_fn(|d| self.strides[other(d)]);
        let part = Shape::strided(extents, strides, self.span)?;
        let offset = if part.span == 0 { 0 } else { index * self.strides[dimension] };
        Ok((offset, part))
    }

    /// The dimensions in another order: dimension `d` of the result is dimension `order[d]`.
    pub(crate) fn permute(&self, order: [usize; R]) -> Result<Self, ViewError> {
        let mut sorted = order;
        sorted.sort_unstable();
        if sorted.iter().enumerate().any(|(d, from)| d != *from) {
            return Err(ViewError::NotAPermutation { order: order.to_vec() });
        }
        Shape::strided(order.map(|d| self.extents[d]), order.map(|d| self.strides[d]), self.span)
    }

    /// The same elements in the same order under other extents.
    pub(crate) fn reshape<const Q: usize>(&self, extents: [usize; Q]) -> Result<Shape<Q>, ViewError> {
        let count = |extents: &[usize]| match extents.contains(&0) {
            true => Some(0),
            false => extents.iter().try_fold(1usize, |product, extent| product.checked_mul(*extent)),
        };
        if count(&extents) != count(&self.extents) {
            return Err(ViewError::Count { extents: extents.to_vec(), from: self.extents.to_vec() });
        }
        if self.span == 0 {
            return Shape::strided(extents, [1; Q], 0);
        }
        let scattered =
            || ViewError::Scattered { extents: self.extents.to_vec(), strides: self.strides.to_vec() };
        // Runs of dimensions that are one dimension but for how they are written, innermost first: how many elements
        // they have, and how far these are apart.
        let mut runs: Vec<(usize, usize)> = Vec::new();
        for (&extent, &stride) in self.extents.iter().zip(&self.strides).rev().filter(|(e, _)| **e > 1) {
            match runs.last_mut() {
                Some((length, apart)) if length.checked_mul(*apart) == Some(stride) => *length *= extent,
                Some(_) | None => runs.push((extent, stride)),
            }
        }
        let mut runs = runs.into_iter();
        let mut strides = [1; Q];
        // What is left of the run that is being divided up.
        let (mut left, mut apart) = (1, 1);
        for d in (0..Q).rev().filter(|d| extents[*d] > 1) {
            if left == 1 {
                (left, apart) = runs.next().ok_or_else(scattered)?;
            }
            if !left.is_multiple_of(extents[d]) {
                return Err(scattered());
            }
            strides[d] = apart;
            (left, apart) = (left / extents[d], apart * extents[d]);
        }
        Shape::strided(extents, strides, self.span)
    }

    fn check(&self, dimension: usize, range: &Range<usize>) -> Result<(), ViewError> {
        let extent = self.extents[dimension];
        if range.start <= range.end && range.end <= extent {
            return Ok(());
        }
        Err(ViewError::Outside { dimension, start: range.start, end: range.end, extent })
    }

    /// Where a part begins; one without elements, anywhere.
    fn offset(&self, part: &Self, starts: &[usize; R]) -> usize {
        if part.span == 0 {
            0
        } else {
            starts.iter().zip(&self.strides).map(|(start, stride)| start * stride).sum()
        }
    }
}

/// The methods of a view, which has `part(offset, shape)` and, to be split, `halves(offset, shape, shape)`; `$me` is how it
/// is borrowed and `$life` how long its parts live.
macro_rules! subviews {
    ([$($me:tt)+] $view:ident<$life:lifetime>, $mutability:literal) => {
        impl<'a, T: Element, const R: usize> $view<'a, T, R> {
            #[doc = concat!("The elements in these ranges of indices, one a dimension, ", $mutability, ": `view.slice([2..4, 0..8])`.")]
            ///
            /// # Errors
            /// If a range ends beyond its extent, or before it starts.
            pub fn slice($($me)+ self, ranges: [Range<usize>; R]) -> Result<$view<$life, T, R>, ViewError> {
                let (offset, shape) = self.shape.slice(&ranges)?;
                Ok(self.part(offset, shape))
            }

            #[doc = concat!("The part below `index` in the outermost dimension, and the rest, ", $mutability, ".")]
            ///
            /// # Errors
            /// If `index` is beyond the extent; or, of a view that is written, if the outermost dimension is not the one with
            /// the largest stride, because the parts would then lie between each other in memory.
            #[allow(clippy::type_complexity)]
            pub fn split_at($($me)+ self, index: usize) -> Result<($view<$life, T, R>, $view<$life, T, R>), ViewError> {
                let (first, offset, second) = self.shape.split(index)?;
                self.halves(first, offset, second)
            }

            #[doc = concat!("The same elements in the same order under other extents, ", $mutability, ", also of another rank.")]
            ///
            /// # Errors
            /// If the number of elements differs, or no strides say where they are: rows with a pitch cannot become one row.
            pub fn reshape<const Q: usize>($($me)+ self, extents: [usize; Q]) -> Result<$view<$life, T, Q>, ViewError> {
                let shape = self.shape.reshape(extents)?;
                Ok(self.part(0, shape))
            }

            #[doc = concat!("The dimensions in another order, ", $mutability, ": dimension `d` of the result is dimension `order[d]`.")]
            ///
            /// # Errors
            /// If `order` is not a permutation, or the last dimension would not be contiguous.
            pub fn permute($($me)+ self, order: [usize; R]) -> Result<$view<$life, T, R>, ViewError> {
                let shape = self.shape.permute(order)?;
                Ok(self.part(0, shape))
            }
        }

        $crate::subview::selection!([$($me)+] $view<$life>, $mutability, 2, 1);
        $crate::subview::selection!([$($me)+] $view<$life>, $mutability, 3, 2);
        $crate::subview::selection!([$($me)+] $view<$life>, $mutability, 4, 3);
        $crate::subview::selection!([$($me)+] $view<$life>, $mutability, 5, 4);
    };
}

/// `select` of one rank, since a generic one cannot name the rank of its result.
macro_rules! selection {
    ([$($me:tt)+] $view:ident<$life:lifetime>, $mutability:literal, $rank:literal, $less:literal) => {
        impl<'a, T: Element> $view<'a, T, $rank> {
            #[doc = concat!("The elements at one index of a dimension, 0 the outermost, ", $mutability, ": a tensor of one rank less.")]
            ///
            /// # Errors
            /// If there is no such dimension or index, or the last dimension left is not contiguous.
            pub fn select($($me)+ self, dimension: usize, index: usize) -> Result<$view<$life, T, $less>, ViewError> {
                let (offset, shape) = self.shape.select(dimension, index)?;
                Ok(self.part(offset, shape))
            }
        }
    };
}

pub(crate) use {selection, subviews};

#[cfg(test)]
mod tests {
    use crate::shape::{Shape, ViewError};

    fn shape<const R: usize>(extents: [usize; R], strides: [usize; R]) -> Shape<R> {
        Shape::strided(extents, strides, 1 << 20).unwrap()
    }

    /// The offsets of all elements, in order of their indices.
    fn offsets<const R: usize>(start: usize, shape: &Shape<R>) -> Vec<usize> {
        let count: usize = shape.extents.iter().product();
        let offset = |mut number: usize| {
            let mut offset = start;
            for d in (0..R).rev() {
                offset += number % shape.extents[d] * shape.strides[d];
                number /= shape.extents[d];
            }
            offset
        };
        (0..count).map(offset).collect()
    }

    #[test]
    fn slices_and_selections_name_the_same_elements() {
        let cube = shape([3, 4, 5], [40, 8, 1]);
        let (offset, part) = cube.slice(&[1..3, 0..4, 2..5]).unwrap();
        assert_eq!((offset, part.extents, part.strides, part.span), (42, [2, 4, 3], [40, 8, 1], 67));
        let (offset, plane) = cube.select::<2>(0, 2).unwrap();
        assert_eq!((offset, plane.extents, plane.strides), (80, [4, 5], [8, 1]));
        let (offset, across) = cube.select::<2>(1, 3).unwrap();
        assert_eq!((offset, across.extents, across.strides), (24, [3, 5], [40, 1]));
        assert_eq!(cube.select::<2>(2, 0).unwrap_err(), ViewError::NotContiguous { stride: 8 });
        // a lone column is contiguous if there is one row
        let (offset, column) = shape([3, 1, 5], [40, 8, 1]).select::<2>(2, 4).unwrap();
        assert_eq!((offset, column.extents, column.strides), (4, [3, 1], [40, 1]));
    }

    #[test]
    fn parts_without_elements_lie_anywhere() {
        let matrix = shape([3, 4], [10, 1]);
        assert_eq!(matrix.slice(&[3..3, 0..4]).unwrap().0, 0);
        let (first, offset, second) = matrix.split(3).unwrap();
        assert_eq!((first.extents, offset, second.extents), ([3, 4], 0, [0, 4]));
        assert_eq!(shape([0, 3, 4], [10, 4, 1]).select::<2>(1, 2).unwrap().0, 0);
    }

    #[test]
    fn splits() {
        let (first, offset, second) = shape([7, 4], [10, 1]).split(3).unwrap();
        assert_eq!((first.extents, offset, second.extents, second.span), ([3, 4], 30, [4, 4], 34));
        assert_eq!(Shape::boundary(&first, offset, &second, 10), Ok(30));
        let columns_first = shape([4, 7, 2], [2, 10, 1]);
        let (first, offset, second) = columns_first.split(1).unwrap();
        assert!(matches!(Shape::boundary(&first, offset, &second, 2), Err(ViewError::Interleaved { .. })));
    }

    #[test]
    fn outside() {
        let matrix = shape([3, 4], [10, 1]);
        let outside = |dimension, start, end, extent| ViewError::Outside { dimension, start, end, extent };
        assert_eq!(matrix.slice(&[0..4, 0..4]).unwrap_err(), outside(0, 0, 4, 3));
        #[allow(clippy::reversed_empty_ranges)]
        let reversed = matrix.slice(&[0..3, 3..2]).unwrap_err();
        assert_eq!(reversed, outside(1, 3, 2, 4));
        assert_eq!(matrix.select::<1>(0, 3).unwrap_err(), outside(0, 3, 4, 3));
        assert_eq!(matrix.select::<1>(2, 0).unwrap_err(), ViewError::NoDimension { dimension: 2, rank: 2 });
        assert_eq!(matrix.split(4).unwrap_err(), outside(0, 0, 4, 3));
    }

    #[test]
    fn permutations() {
        let cube = shape([3, 4, 5], [40, 8, 1]);
        let other = cube.permute([1, 0, 2]).unwrap();
        assert_eq!((other.extents, other.strides, other.span), ([4, 3, 5], [8, 40, 1], cube.span));
        assert_eq!(cube.permute([0, 2, 1]).unwrap_err(), ViewError::NotContiguous { stride: 8 });
        assert!(matches!(cube.permute([0, 0, 2]), Err(ViewError::NotAPermutation { .. })));
        // the stride of a dimension of one element is free
        assert_eq!(shape([4, 1], [1, 1]).permute([1, 0]).unwrap().strides, [1, 1]);
    }

    #[test]
    fn shapes_of_the_same_elements() {
        let dense = shape([2, 3, 4], [12, 4, 1]);
        for (rows, cols) in [(1, 24), (2, 12), (3, 8), (24, 1)] {
            let other = dense.reshape([rows, cols]).unwrap();
            assert_eq!(offsets(0, &other), (0..24).collect::<Vec<_>>());
        }
        // [B, R, C] with a pitch is [B * R, C] with that pitch, if batches are whole numbers of rows apart
        let pitched = shape([2, 3, 4], [30, 10, 1]);
        let rows = pitched.reshape([6, 4]).unwrap();
        assert_eq!((rows.strides, offsets(0, &rows)), ([10, 1], offsets(0, &pitched)));
        assert_eq!(pitched.reshape([2, 3, 2, 2]).unwrap().strides, [30, 10, 2, 1]);
        assert_eq!(pitched.reshape([1, 6, 1, 4, 1]).unwrap().extents, [1, 6, 1, 4, 1]);
        assert!(matches!(pitched.reshape([24]), Err(ViewError::Scattered { .. })));
        assert!(matches!(shape([2, 3, 4], [31, 10, 1]).reshape([6, 4]), Err(ViewError::Scattered { .. })));
        assert!(matches!(dense.reshape([5, 5]), Err(ViewError::Count { .. })));
        assert_eq!(shape([0, 4], [4, 1]).reshape([3, 0, 7]).unwrap().span, 0);
        assert!(matches!(shape([0, 4], [4, 1]).reshape([3]), Err(ViewError::Count { .. })));
    }
}
