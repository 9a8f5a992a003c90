//! Atomic updates of tiles and tensors.
//!
//! An update reads an element, writes what it makes of it, and returns what it read, in one step: no other atomic update
//! comes between. It is relaxed, so it orders no other access, and atomic for the whole device in a tensor, for the block
//! in a tile. Updates do not race with each other, but with plain reads and writes they do, as those among themselves.
//!
//! In which order threads update an element is not specified. Of integers the sum is the same in any order; **a sum of
//! floats differs in its last bits from run to run**, and the simulator's is that of one order.
//!
//! Where the result is not used a cheaper instruction is emitted. What updates cost is
//! reported as an estimate, in which lanes that update one element wait for each other.

use super::shared::{Layout, Tile};
use super::{Shared, Tensor, only_in_a_kernel};
use crate::scalar::Element;

mod sealed {
    pub trait Sealed {}
}

/// An element that can be added to, and exchanged, atomically: i32, i64, u32, u64, f32 and f64.
#[diagnostic::on_unimplemented(
    message = "no instruction updates an element of type `{Self}` in one step",
    note = "atomics take i32, i64, u32, u64, f32 and f64"
)]
pub trait AtomicElement: Element + sealed::Sealed {}

/// An integer that can be updated atomically: i32, i64, u32 and u64.
#[diagnostic::on_unimplemented(
    message = "no instruction updates an element of type `{Self}` so in one step",
    note = "this atomic takes i32, i64, u32 and u64"
)]
pub trait AtomicInteger: AtomicElement {}

macro_rules! elements {
    ($($ty:ty)*) => {$(
        impl sealed::Sealed for $ty {}
        impl AtomicElement for $ty {}
    )*};
}

elements! { i32 i64 u32 u64 f32 f64 }

impl AtomicInteger for i32 {}
impl AtomicInteger for i64 {}
impl AtomicInteger for u32 {}
impl AtomicInteger for u64 {}

macro_rules! atomics {
    ($index:ty, $element:ty, $($(#[$doc:meta])* $name:ident: $bound:ident ($($value:ident),*))*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        /// On the host: it has a meaning only inside a kernel.
        #[track_caller]
        pub fn $name(&mut self, index: $index, $($value: $element),*) -> $element
        where
            $element: $bound,
        {
            let _ = (index, $($value),*);
            only_in_a_kernel(stringify!($name))
        }
    )*};
}

macro_rules! all_atomics {
    ($index:ty, $element:ty) => {
        atomics! { $index, $element,
            /// Adds to the element; returns its value before. Integers wrap; an `f32` in a tensor that is subnormal, before
            /// or after, becomes zero.
            atomic_add: AtomicElement (value)
            /// Keeps the smaller of the element and the value; returns the element before.
            atomic_min: AtomicInteger (value)
            /// Keeps the larger of the element and the value; returns the element before.
            atomic_max: AtomicInteger (value)
            /// Keeps the bits that the value has too; returns the element before.
            atomic_and: AtomicInteger (value)
            /// Sets the bits that the value has; returns the element before.
            atomic_or: AtomicInteger (value)
            /// Turns the bits that the value has; returns the element before.
            atomic_xor: AtomicInteger (value)
            /// Replaces the element; returns it as it was before.
            atomic_exchange: AtomicElement (value)
            /// Replaces the element if it has the bits of `expected`; returns it as it was before.
            atomic_compare_exchange: AtomicElement (expected, value)
        }
    };
}

impl<A: Tile, L: Layout> Shared<A, L> {
    all_atomics! { A::Index, A::Element }
}

impl<T: Element, const RANK: usize> Tensor<T, RANK> {
    all_atomics! { [usize; RANK], T }
}
