//! Reductions and scans of a warp or a block.
//!
//! All threads of the warp or block must reach a call together, with a value each; a thread that has none brings 0, or for
//! an extremum a value that does not matter. The functions of a block are barriers where it has several warps, and use
//! shared memory: one element a warp for each call in the source.
//!
//! # The order of summation
//!
//! A CPU can reproduce sums of floats bit for bit:
//!
//! - [`warp_sum`] adds lane `i + d` to lane `i`, for `d` = 16, 8, 4, 2, 1 in turn, where `i + d` exists; the result is that of
//!   lane 0.
//! - [`warp_scan_inclusive`] adds lane `i - d` to lane `i`, the lower one on the left, for `d` = 1, 2, 4, 8, 16 in turn, where
//!   `i - d` exists. [`warp_scan_exclusive`] is that moved up by one lane, with 0 in lane 0.
//! - [`block_sum`] adds the sums of the warps from the first to the last.
//! - [`block_scan_inclusive`] and [`block_scan_exclusive`] add the scan of the warp to what comes before it: 0, and from the
//!   first warp on the last lanes of the warps' inclusive scans.

use super::{Exchange, only_in_a_kernel};
use crate::scalar::Element;

mod sealed {
    pub trait Sealed {}
}

/// A number that lanes can add and compare: an integer of a fixed width, or a float. An index is cast first.
#[diagnostic::on_unimplemented(
    message = "lanes cannot add or compare values of type `{Self}`",
    label = "not a number",
    note = "an index is cast first: `i as u32`"
)]
pub trait Number: Exchange + sealed::Sealed {}

impl<T: Element> sealed::Sealed for T {}
impl<T: Element> Number for T {}

macro_rules! functions {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        /// On the host: it has a meaning only inside a kernel.
        #[track_caller]
        pub fn $name<T: Number>(value: T) -> T {
            let _ = value;
            only_in_a_kernel(stringify!($name))
        }
    )*};
}

functions! {
    /// The sum of the values of the warp, in every lane.
    warp_sum
    /// The largest value of the warp, in every lane; of floats the largest that is not NaN.
    warp_max
    /// The smallest value of the warp, in every lane; of floats the smallest that is not NaN.
    warp_min
    /// The sum of the values up to this lane, its own included.
    warp_scan_inclusive
    /// The sum of the values of the lanes below this one; 0 in lane 0.
    warp_scan_exclusive
    /// The sum of the values of the block, in every thread.
    block_sum
    /// The largest value of the block, in every thread; of floats the largest that is not NaN.
    block_max
    /// The smallest value of the block, in every thread; of floats the smallest that is not NaN.
    block_min
    /// The sum of the values up to this thread of the block, x running fastest, its own included.
    block_scan_inclusive
    /// The sum of the values of the threads of the block before this one, x running fastest; 0 in the first.
    block_scan_exclusive
}
