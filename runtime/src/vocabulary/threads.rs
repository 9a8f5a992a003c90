//! Where a thread is, and how the threads of a block meet.

use super::only_in_a_kernel;

macro_rules! positions {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        $(#[$doc])*
        ///
        /// # Panics
        /// On the host: it has a meaning only inside a kernel.
        #[track_caller]
        pub fn $name() -> usize {
            only_in_a_kernel(stringify!($name))
        }
    )*};
}

positions! {
    /// The thread's position in its block along x, from 0 to the block's extent − 1. Neighbours along x are neighbouring
    /// lanes of a warp.
    thread_x
    /// The thread's position in its block along y, from 0 to the block's extent − 1.
    thread_y
    /// The thread's position in its block along z, from 0 to the block's extent − 1.
    thread_z
    /// The block's position in the grid along x, from 0 to `grid_x() − 1`.
    block_x
    /// The block's position in the grid along y, from 0 to `grid_y() − 1`.
    block_y
    /// The block's position in the grid along z, from 0 to `grid_z() − 1`.
    block_z
    /// The number of blocks along x, at most 2³¹ − 1.
    grid_x
    /// The number of blocks along y, at most 65,535.
    grid_y
    /// The number of blocks along z, at most 65,535.
    grid_z
}

/// Waits until all threads of the block are here; what they wrote to shared memory before is visible to all after.
///
/// Every thread of the block must reach it. The compiler proves it, or refuses the kernel and says which condition may part
/// them.
///
/// # Panics
/// On the host: it has a meaning only inside a kernel.
#[track_caller]
pub fn sync_threads() {
    only_in_a_kernel("sync_threads")
}
