//! Tensors as a kernel sees them.

use super::{Vector, only_in_a_kernel};
use crate::scalar::Element;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// A tensor in device memory, as a kernel's parameter: `&Tensor<T, RANK>` is read, `&mut Tensor<T, RANK>` written too.
///
/// The rank is 1 to 5. The innermost (last) extent is contiguous, the others have strides. On the host the argument is a
/// [`TensorView`](crate::TensorView) or, for the simulator, a [`HostTensor`](crate::HostTensor). There are no values
/// of this type on the host.
pub struct Tensor<T: Element, const RANK: usize> {
    element: PhantomData<T>,
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for usize {}
    impl Sealed for isize {}
}

/// A type of indices that may be outside: `usize`, or `isize` where they may be below zero.
pub trait AnyIndex: sealed::Sealed {}

impl AnyIndex for usize {}
impl AnyIndex for isize {}

/// What [`copy_async`](super::Shared::copy_async) copies: elements of a tensor, named by [`at`](Tensor::at).
pub struct Elements<T: Element> {
    element: PhantomData<T>,
}

/// A tensor of rank 2: rows of contiguous elements.
pub type Matrix<T> = Tensor<T, 2>;

impl<T: Element, const RANK: usize> Tensor<T, RANK> {
    /// The number of elements in dimension `d`; 0 is the outermost.
    #[track_caller]
    pub fn extent(&self, d: usize) -> usize {
        let _ = d;
        only_in_a_kernel("Tensor::extent")
    }

    /// The distance, in elements, between neighbours in dimension `d`; 1 for the innermost.
    #[track_caller]
    pub fn stride(&self, d: usize) -> usize {
        let _ = d;
        only_in_a_kernel("Tensor::stride")
    }

    /// By how many elements the tensor's first element lies behind an address that is a multiple of `N` elements: 0 to `N` − 1.
    /// `N` is a power of two, and `N` elements take at most 256 bytes.
    ///
    /// With it rows of any pitch are written from aligned places on: an index that takes `(t.misalignment::<N>() + row *
    /// t.pitch()) % N` back from a multiple of `V` is known to be aligned to `V` elements, whatever the tensor's first address
    /// and its pitch are, and begins a sector of 32 bytes where `N` elements take so many.
    ///
    /// ```
    /// # use tileproof::prelude::*;
    /// #[tiled_kernel(block = [32], grid = [(t.cols() + 7).div_ceil(128), t.rows()])]
    /// fn clear(t: &mut Matrix<u16>) {
    ///     let past = (t.misalignment::<16>() + block_y() * t.pitch()) % 16;
    ///     let place = block_x() * 128 + 4 * thread_x();
    ///     if place >= past && place - past + 4 <= t.cols() {
    ///         t.write([block_y(), place - past], Vector::<u16, 4>::splat(0));
    ///     }
    /// }
    /// ```
    #[track_caller]
    pub fn misalignment<const N: usize>(&self) -> usize {
        only_in_a_kernel("Tensor::misalignment")
    }

    /// Reads `V` elements that are contiguous in the innermost extent, the first at `index`, in one instruction.
    #[track_caller]
    pub fn read<const V: usize>(&self, index: [usize; RANK]) -> Vector<T, V> {
        let _ = index;
        only_in_a_kernel("Tensor::read")
    }

    /// Reads `V` elements that are contiguous in the innermost extent, the first at `index`, wherever that is: neither the
    /// index nor the strides nor the tensor's first element need be aligned. The vector takes 4, 8 or 16 bytes.
    ///
    /// Two instructions read the aligned vectors of that width that hold the first and the last element, and the elements
    /// are shifted into place in registers. So a warp moves up to twice the sectors of a [`read`](Tensor::read) into its
    /// registers, most of those of the second instruction from the L1 cache; lanes that turn out to be aligned leave the
    /// second out. What lies beside the elements in the aligned vectors is read and dropped, but nothing before the tensor's
    /// first element in memory or behind its last: where an aligned vector would reach there, the lane reads its elements
    /// one by one. The shift takes about 10 instructions for elements of 4 bytes, and up to 20 for smaller ones.
    ///
    /// ```
    /// # use tileproof::prelude::*;
    /// #[tiled_kernel(block = [128], grid = [(input.len() - 1) / 512 + 1], requires(output.len() >= input.len(), input.len() > 3))]
    /// fn from_the_fourth(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
    ///     let i = 4 * (block_x() * 128 + thread_x());
    ///     if i + 7 <= input.len() {
    ///         output.write([i], input.read_unaligned::<4>([i + 3]));
    ///     }
    /// }
    /// ```
    #[track_caller]
    pub fn read_unaligned<const V: usize>(&self, index: [usize; RANK]) -> Vector<T, V> {
        let _ = index;
        only_in_a_kernel("Tensor::read_unaligned")
    }

    /// Writes `V` elements that are contiguous in the innermost extent, the first at `index`, in one instruction.
    #[track_caller]
    pub fn write<const V: usize>(&mut self, index: [usize; RANK], value: Vector<T, V>) {
        let _ = (index, value);
        only_in_a_kernel("Tensor::write")
    }

    /// The element at `index` where that is inside, else `default`: for an index that data decides, and at edges. The parts of
    /// the index are `usize`, or all `isize`, which may be below zero. It costs what a load under the comparisons costs. `default` is evaluated in either case.
    ///
    /// What an index that data decides costs is not known at compile time, so the statement takes responsibility:
    ///
    /// ```no_run
    /// # use tileproof::prelude::*;
    /// # fn kernel(table: &Tensor<f32, 1>, row: &Tensor<u32, 1>, i: usize) {
    /// // in a kernel, under #[budget(excess_sectors = 31, because = "a gather")]
    /// let value = table.get_or([row[[i]] as usize], 0.0);
    /// # let _ = value; }
    /// ```
    #[track_caller]
    pub fn get_or<I: AnyIndex>(&self, index: [I; RANK], default: T) -> T {
        let _ = (index, default);
        only_in_a_kernel("Tensor::get_or")
    }

    /// The elements from `index` on, which must be inside: what [`copy_async`](super::Shared::copy_async) copies.
    #[track_caller]
    pub fn at(&self, index: [usize; RANK]) -> Elements<T> {
        let _ = index;
        only_in_a_kernel("Tensor::at")
    }

    /// The elements from `index` on, or zeros where there is no element at `index`: what
    /// [`copy_async`](super::Shared::copy_async) copies. Where there is one, all that are copied must be inside.
    #[track_caller]
    pub fn at_or_zero(&self, index: [usize; RANK]) -> Elements<T> {
        let _ = index;
        only_in_a_kernel("Tensor::at_or_zero")
    }

    /// Whether there is an element at `index`.
    #[track_caller]
    pub fn contains<I: AnyIndex>(&self, index: [I; RANK]) -> bool {
        let _ = index;
        only_in_a_kernel("Tensor::contains")
    }
}

impl<T: Element> Tensor<T, 2> {
    /// The number of rows.
    #[track_caller]
    pub fn rows(&self) -> usize {
        only_in_a_kernel("Matrix::rows")
    }

    /// The number of columns: elements of a row.
    #[track_caller]
    pub fn cols(&self) -> usize {
        only_in_a_kernel("Matrix::cols")
    }

    /// The distance between the beginnings of neighbouring rows, in elements.
    #[track_caller]
    pub fn pitch(&self) -> usize {
        only_in_a_kernel("Matrix::pitch")
    }
}

impl<T: Element> Tensor<T, 1> {
    /// The number of elements.
    #[track_caller]
    #[allow(clippy::len_without_is_empty)] // not a word of the language
    pub fn len(&self) -> usize {
        only_in_a_kernel("Tensor::len")
    }
}

impl<T: Element, const RANK: usize> Index<[usize; RANK]> for Tensor<T, RANK> {
    type Output = T;

    #[track_caller]
    fn index(&self, _: [usize; RANK]) -> &T {
        only_in_a_kernel("tensor[[…]]")
    }
}

impl<T: Element, const RANK: usize> IndexMut<[usize; RANK]> for Tensor<T, RANK> {
    #[track_caller]
    fn index_mut(&mut self, _: [usize; RANK]) -> &mut T {
        only_in_a_kernel("tensor[[…]]")
    }
}
