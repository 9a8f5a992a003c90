//! What the lanes of a warp know of each other, and what they compute together.
//!
//! A warp is 32 threads of a block with consecutive numbers, x running fastest; the last one of a block may be shorter.
//! All of them must reach a function of this module together: the compiler proves it, or refuses the kernel and says which
//! condition may part them.

use super::{Vector, only_in_a_kernel};
use crate::scalar::Element;

/// The thread's number in its warp, 0 to 31.
///
/// # Panics
/// On the host: it has a meaning only inside a kernel.
#[track_caller]
pub fn lane() -> usize {
    only_in_a_kernel("lane")
}

/// The warp's number in its block: the thread's number, x running fastest, divided by 32.
///
/// # Panics
/// On the host: it has a meaning only inside a kernel.
#[track_caller]
pub fn warp() -> usize {
    only_in_a_kernel("warp")
}

/// The warps of a block, a shorter last one included.
///
/// # Panics
/// On the host: it has a meaning only inside a kernel.
#[track_caller]
pub fn warp_count() -> usize {
    only_in_a_kernel("warp_count")
}

mod sealed {
    pub trait Sealed {}
}

/// A value that lanes can exchange: a number, a bool or a [`Vector`] of numbers.
#[diagnostic::on_unimplemented(
    message = "lanes cannot exchange a value of type `{Self}`",
    label = "not a number, bool or `Vector`"
)]
pub trait Exchange: Copy + sealed::Sealed {}

impl<T: Element> sealed::Sealed for T {}
impl<T: Element> Exchange for T {}
impl<T: Element, const V: usize> sealed::Sealed for Vector<T, V> {}
impl<T: Element, const V: usize> Exchange for Vector<T, V> {}
impl sealed::Sealed for bool {}
impl Exchange for bool {}
impl sealed::Sealed for usize {}
impl Exchange for usize {}
impl sealed::Sealed for isize {}
impl Exchange for isize {}

macro_rules! shuffles {
    ($($(#[$doc:meta])* $name:ident($by:ident))*) => {$(
        $(#[$doc])*
        ///
        /// A lane whose source does not exist, because the warp is shorter or the distance leads out of it, gets its own value.
        ///
        /// # Panics
        /// On the host: it has a meaning only inside a kernel.
        #[track_caller]
        pub fn $name<T: Exchange>(value: T, $by: usize) -> T {
            let _ = (value, $by);
            only_in_a_kernel(stringify!($name))
        }
    )*};
}

shuffles! {
    /// The value that another lane brings, here the lane with this number (modulo 32).
    shuffle(lane)
    /// The value of the lane whose number is this one's XORed with the mask (modulo 32).
    shuffle_xor(mask)
    /// The value of the lane so many below (modulo 32): lane `i` gets that of lane `i - distance`.
    shuffle_up(distance)
    /// The value of the lane so many above (modulo 32): lane `i` gets that of lane `i + distance`.
    shuffle_down(distance)
}

macro_rules! votes {
    ($($(#[$doc:meta])* $name:ident -> $result:ty)*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        /// On the host: it has a meaning only inside a kernel.
        #[track_caller]
        pub fn $name(condition: bool) -> $result {
            let _ = condition;
            only_in_a_kernel(stringify!($name))
        }
    )*};
}

votes! {
    /// Whether the condition holds in at least one lane of the warp.
    any -> bool
    /// Whether the condition holds in all lanes of the warp.
    all -> bool
    /// The lanes of the warp in which the condition holds: bit `i` for lane `i`.
    ballot -> u32
    /// In how many threads of the block the condition holds. All threads of the block must reach it together, and it is a
    /// barrier as [`sync_threads`](super::sync_threads) is.
    sync_threads_count -> usize
    /// Whether the condition holds in all threads of the block. All threads of the block must reach it together, and it is
    /// a barrier as [`sync_threads`](super::sync_threads) is.
    sync_threads_and -> bool
    /// Whether the condition holds in at least one thread of the block. All threads of the block must reach it together,
    /// and it is a barrier as [`sync_threads`](super::sync_threads) is.
    sync_threads_or -> bool
}

/// The lanes of the warp whose number or bool has the same bits as this lane's: bit `i` for lane `i`. Zeros of different
/// sign are different, a NaN equals one with the same bits.
///
/// # Panics
/// On the host: it has a meaning only inside a kernel.
#[track_caller]
pub fn match_any<T: Exchange>(value: T) -> u32 {
    let _ = value;
    only_in_a_kernel("match_any")
}

/// Waits until all lanes of the warp are here; what they wrote to shared memory before is visible to all of them after.
///
/// # Panics
/// On the host: it has a meaning only inside a kernel.
#[track_caller]
pub fn sync_warp() {
    only_in_a_kernel("sync_warp")
}
