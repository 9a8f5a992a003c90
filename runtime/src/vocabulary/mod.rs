//! The device vocabulary: what a kernel's body is written in.
//!
//! A kernel is an ordinary Rust function that `#[tiled_kernel]` translates to CUDA. The macro also keeps the body, so
//! that rustc, rust-analyzer and rustdoc see ordinary Rust: for that, each word of the language is a real item here,
//! with the signature that the device code has. The kept body never runs. Where one of these items is called on the
//! host nevertheless, it panics and says so; [`Vector`] and the functions of numbers are plain data on both sides.

mod atomic;
mod cast;
mod matrix;
mod number;
mod order;
mod reduce;
mod shared;
mod tensor;
mod threads;
mod tile;
mod vector;
mod warp;

pub use atomic::{AtomicElement, AtomicInteger};
pub use cast::CastTo;
pub use matrix::{LeftFactor, mma};
pub use number::{FloatExt, HalfExt, Tf32Ext, byte_perm};
pub use order::{flatten, rasterize, unflatten};
pub use reduce::{
    Number, block_max, block_min, block_scan_exclusive, block_scan_inclusive, block_sum, warp_max, warp_min,
    warp_scan_exclusive, warp_scan_inclusive, warp_sum,
};
pub use shared::{Auto, Layout, Pad, RowMajor, Shared, Swizzle, Tile, Xor};
pub use tensor::{AnyIndex, Elements, Matrix, Tensor};
pub use threads::{
    block_x, block_y, block_z, grid_x, grid_y, grid_z, sync_threads, thread_x, thread_y, thread_z,
};
pub use tile::{WholeTile, commit, wait};
pub use vector::Vector;
pub use warp::{
    Exchange, all, any, ballot, lane, match_any, shuffle, shuffle_down, shuffle_up, shuffle_xor,
    sync_threads_and, sync_threads_count, sync_threads_or, sync_warp, warp, warp_count,
};

/// What every item of the device vocabulary does on the host.
#[cold]
#[track_caller]
fn only_in_a_kernel(item: &str) -> ! {
    panic!(
        "`{item}` has a meaning only inside a kernel: mark the function with `#[tiled_kernel]` and run it with its \
         `launch` or `simulate`"
    )
}
