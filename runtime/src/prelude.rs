//! What a file with kernels imports: `use tileproof::prelude::*;`.

pub use crate::host::{HostTensor, HostTensorMut};
pub use crate::view::{TensorView, TensorViewMut};
pub use crate::vocabulary::{
    Matrix, Pad, RowMajor, Shared, Swizzle, Tensor, Vector, Xor, block_x, block_y, block_z, grid_x, grid_y,
    grid_z, sync_threads, thread_x, thread_y, thread_z,
};
pub use tileproof_macros::{tiled_kernel, tiled_module};
