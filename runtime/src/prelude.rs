//! What a file with kernels imports: `use tileproof::prelude::*;`.

pub use crate::host::{HostTensor, HostTensorMut};
pub use crate::view::{TensorView, TensorViewMut};
pub use crate::vocabulary::{AtomicElement, AtomicInteger};
pub use crate::vocabulary::{
    Auto, Exchange, Matrix, Pad, RowMajor, Shared, Swizzle, Tensor, Vector, WholeTile, Xor, all, any, ballot,
    block_x, block_y, block_z, commit, grid_x, grid_y, grid_z, lane, match_any, shuffle, shuffle_down,
    shuffle_up, shuffle_xor, sync_threads, sync_threads_and, sync_threads_count, sync_threads_or, sync_warp,
    thread_x, thread_y, thread_z, wait, warp, warp_count,
};
pub use crate::vocabulary::{FloatExt, HalfExt, Tf32Ext, byte_perm};
pub use crate::vocabulary::{LeftFactor, mma};
pub use crate::vocabulary::{
    Number, block_max, block_min, block_scan_exclusive, block_scan_inclusive, block_sum, warp_max, warp_min,
    warp_scan_exclusive, warp_scan_inclusive, warp_sum,
};
pub use crate::vocabulary::{flatten, rasterize, unflatten};
pub use half::{bf16, f16};
pub use tileproof_macros::{tiled_kernel, tiled_module};
