//! Tiles in shared memory and their layouts.

use super::{AnyIndex, Elements, Vector, only_in_a_kernel};
use crate::scalar::Element;
use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

/// A tile in the block's shared memory: `A` is a native array type such as `[[f32; 32]; 32]`, `L` its layout.
///
/// `tile[r][c]` is one element; [`read`](Shared::read) and [`write`](Shared::write) move several in one instruction.
/// The memory is uninitialised when a block starts.
///
/// ```no_run
/// use tileproof::prelude::*;
///
/// let mut tile = Shared::<[[f32; 32]; 32], Pad<1>>::new();
/// tile[thread_y()][thread_x()] = 0.0;
/// let four: Vector<f32, 4> = tile.read([thread_x(), 4 * thread_y()]);
/// # let _ = four;
/// ```
pub struct Shared<A: Tile, L: Layout = RowMajor> {
    array: PhantomData<A>,
    layout: PhantomData<L>,
}

impl<A: Tile, L: Layout> Shared<A, L> {
    /// Declares a tile.
    ///
    /// # Panics
    /// On the host: it has a meaning only inside a kernel.
    #[track_caller]
    #[allow(clippy::new_without_default)] // only `new` is a word of the language
    pub fn new() -> Self {
        only_in_a_kernel("Shared::new")
    }

    /// Reads `V` elements of a row, the first at `index`, in one instruction.
    #[track_caller]
    pub fn read<const V: usize>(&self, index: A::Index) -> Vector<A::Element, V> {
        let _ = index;
        only_in_a_kernel("Shared::read")
    }

    /// Reads matrices of 8 rows of 16 bytes in one instruction of the warp, `ldmatrix`: 1, 2 or 4 of them, of which each lane
    /// gets 4 bytes each, `V` elements in all.
    ///
    /// Lanes `8 j` to `8 j + 7` name the rows of matrix `j`: `index` is the first element of a row, which is aligned to 16 bytes. Every
    /// lane names one; what lanes name for which there is no matrix is not read, and must be inside nevertheless. Lane `l`
    /// gets of each matrix, one after another, bytes `4 * (l % 4)` to `4 * (l % 4) + 3` of row `l / 4`. So a left factor of
    /// [`mma`](super::mma) is `tile.read_matrices([row + lane() % 16, col + lane() / 16 * w])`, with `w` elements in 16 bytes.
    ///
    /// All 32 lanes of the warp must reach it together, and a block of a kernel that calls it is a whole number of warps. It
    /// needs sm_75 or later. Elements have 1, 2 or 4 bytes.
    #[track_caller]
    pub fn read_matrices<const V: usize>(&self, index: A::Index) -> Vector<A::Element, V> {
        let _ = index;
        only_in_a_kernel("Shared::read_matrices")
    }

    /// As [`read_matrices`](Shared::read_matrices), each matrix transposed, of elements of 2 bytes: of each matrix, lane `l` gets
    /// element `l / 4` of the rows `2 * (l % 4)` and `2 * (l % 4) + 1`. So a right factor of [`mma`](super::mma), row `k` of which lies in
    /// row `k` of the tile, is `tile.read_matrices_transposed::<4>([row + lane() % 16, col])`.
    #[track_caller]
    pub fn read_matrices_transposed<const V: usize>(&self, index: A::Index) -> Vector<A::Element, V> {
        let _ = index;
        only_in_a_kernel("Shared::read_matrices_transposed")
    }

    /// Writes `V` elements of a row, the first at `index`, in one instruction.
    #[track_caller]
    pub fn write<const V: usize>(&mut self, index: A::Index, value: Vector<A::Element, V>) {
        let _ = (index, value);
        only_in_a_kernel("Shared::write")
    }

    /// Starts a copy of `V` elements of a tensor, which become those of a row from `index` on, and does not wait for it: `cp.async`
    /// by this lane. 4, 8 or 16 bytes.
    ///
    /// [`load_async`](super::WholeTile::load_async) starts the copies of a whole tile, row by row; this is for
    /// elements that shall lie otherwise. What is said there of [`commit`](super::commit), [`wait`](super::wait) and costs holds
    /// here too. Before sm_80 it is a load and a store.
    ///
    /// ```no_run
    /// # use tileproof::prelude::*;
    /// # fn body(input: &Matrix<f32>, row: usize, col: usize) {
    /// let mut turned = Shared::<[[f32; 32]; 32], Pad<1>>::new();
    /// turned.copy_async::<1>([thread_x(), thread_y()], input.at_or_zero([row + thread_y(), col + thread_x()]));
    /// commit();
    /// wait::<0>();
    /// # }
    /// ```
    #[track_caller]
    pub fn copy_async<const V: usize>(&mut self, index: A::Index, from: Elements<A::Element>) {
        let _ = (index, from);
        only_in_a_kernel("Shared::copy_async")
    }

    /// The element at `index` where that is inside, else `default`, which is evaluated in either case.
    #[track_caller]
    pub fn get_or<I: AnyIndex>(&self, index: A::IndexOf<I>, default: A::Element) -> A::Element {
        let _ = (index, default);
        only_in_a_kernel("Shared::get_or")
    }

    /// Whether there is an element at `index`.
    #[track_caller]
    pub fn contains<I: AnyIndex>(&self, index: A::IndexOf<I>) -> bool {
        let _ = index;
        only_in_a_kernel("Shared::contains")
    }
}

impl<A: Tile, L: Layout> Deref for Shared<A, L> {
    type Target = A;

    #[track_caller]
    fn deref(&self) -> &A {
        only_in_a_kernel("tile[…]")
    }
}

impl<A: Tile, L: Layout> DerefMut for Shared<A, L> {
    #[track_caller]
    fn deref_mut(&mut self) -> &mut A {
        only_in_a_kernel("tile[…]")
    }
}

mod sealed {
    pub trait Sealed {}
}

/// An array type that a [`Shared`] tile can have: a native array of elements, of rank 1 to 4.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the array type of a shared tile",
    label = "expected a native array of elements, of rank 1 to 4",
    note = "write the extents from the outside in: `Shared::<[[f32; COLUMNS]; ROWS]>::new()`",
    note = "the element types are i8 to i64, u8 to u64, f16, bf16, f32 and f64"
)]
pub trait Tile: sealed::Sealed {
    /// The type of an element.
    type Element: Element;
    /// One index an extent, outermost first: `[usize; RANK]`.
    type Index;
    /// The same, of another type of indices: `[I; RANK]`.
    type IndexOf<I: AnyIndex>;
}

impl<T: Element, const A: usize> sealed::Sealed for [T; A] {}
impl<T: Element, const A: usize> Tile for [T; A] {
    type Element = T;
    type Index = [usize; 1];
    type IndexOf<I: AnyIndex> = [I; 1];
}

impl<T: Element, const A: usize, const B: usize> sealed::Sealed for [[T; A]; B] {}
impl<T: Element, const A: usize, const B: usize> Tile for [[T; A]; B] {
    type Element = T;
    type Index = [usize; 2];
    type IndexOf<I: AnyIndex> = [I; 2];
}

impl<T: Element, const A: usize, const B: usize, const C: usize> sealed::Sealed for [[[T; A]; B]; C] {}
impl<T: Element, const A: usize, const B: usize, const C: usize> Tile for [[[T; A]; B]; C] {
    type Element = T;
    type Index = [usize; 3];
    type IndexOf<I: AnyIndex> = [I; 3];
}

impl<T: Element, const A: usize, const B: usize, const C: usize, const D: usize> sealed::Sealed
    for [[[[T; A]; B]; C]; D]
{
}
impl<T: Element, const A: usize, const B: usize, const C: usize, const D: usize> Tile
    for [[[[T; A]; B]; C]; D]
{
    type Element = T;
    type Index = [usize; 4];
    type IndexOf<I: AnyIndex> = [I; 4];
}

/// Where the elements of a [`Shared`] tile are.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a layout of a shared tile",
    label = "expected a layout",
    note = "the layouts are `RowMajor`, `Pad<N>`, `Xor<V>`, `Swizzle<B, M, S>` and `Auto`"
)]
pub trait Layout: sealed::Sealed {}

/// Rows one after another.
pub enum RowMajor {}

/// Rows one after another, each followed by `N` unused elements.
pub enum Pad<const N: usize> {}

/// Row-major, with the chunk of `V` elements that an element is in moved within its row to the place `chunk ^ row`, the
/// row taken modulo the number of chunks in a row.
pub enum Xor<const V: usize> {}

/// Row-major, with bits of the element offset changed by others: CuTe's `Swizzle<B, M, S>`, on elements.
///
/// `B` is how many bits change, `M` the lowest of them, `S` the distance from them to the bits they are XORed with: to
/// higher bits if positive, to lower ones if negative.
pub enum Swizzle<const B: u32, const M: u32, const S: i32> {}

/// The layout that the compiler finds best for this tile.
///
/// It judges `RowMajor`, `Xor`, `Swizzle` and `Pad` on every access to the tile and takes the one with the fewest excess
/// wavefronts in all; of these the one whose worst instruction has the fewest, then the one with the fewest
/// bytes, then the first in that order. A layout under which a vector would not be contiguous and aligned is none. The
/// same kernel always gets the same layout; the report says which, and, where conflicts are left, whether another layout
/// could have fewer. What is left needs a `#[budget(bank_conflict = …)]`, as under any other layout.
pub enum Auto {}

impl sealed::Sealed for Auto {}
impl sealed::Sealed for RowMajor {}
impl<const N: usize> sealed::Sealed for Pad<N> {}
impl<const V: usize> sealed::Sealed for Xor<V> {}
impl<const B: u32, const M: u32, const S: i32> sealed::Sealed for Swizzle<B, M, S> {}

impl Layout for Auto {}
impl Layout for RowMajor {}
impl<const N: usize> Layout for Pad<N> {}
impl<const V: usize> Layout for Xor<V> {}
impl<const B: u32, const M: u32, const S: i32> Layout for Swizzle<B, M, S> {}
