//! Where a kernel takes something for granted, a launch of it is unsafe, also through the name of a generic kernel and from a module; on a
//! stream of the caller's choice it always is.

use std::sync::Arc;
use tileproof::cudarc::driver::CudaStream;
use tileproof::prelude::*;

/// Counts keys, each of which names a bin.
#[tiled_kernel(block = [32], grid = [1], requires(keys.len() >= 32))]
pub fn count(keys: &Tensor<u32, 1>, bins: &mut Tensor<u32, 1>) {
    let key = keys[[thread_x()]] as usize;
    #[budget(excess_sectors = 31, because = "the bins are where the keys say")]
    #[trust(bounds, because = "a key names a bin")]
    bins.atomic_add([key], 1);
}

#[tiled_kernel(
    block = [32],
    grid = [1],
    requires(keys.len() >= 32),
    instances(u32, i32),
    trust(bounds, because = "a key names a bin")
)]
pub fn count_in<T>(keys: &Tensor<u32, 1>, bins: &mut Tensor<T, 1>) {
    let key = keys[[thread_x()]] as usize;
    #[budget(excess_sectors = 31, because = "the bins are where the keys say")]
    bins.atomic_add([key], 1);
}

#[tiled_module]
mod kernels {
    use tileproof::prelude::*;

    #[trust(bounds, because = "a key names a bin")]
    fn add(bins: &mut Tensor<u32, 1>, key: usize) {
        #[budget(excess_sectors = 31, because = "the bins are where the keys say")]
        bins.atomic_add([key], 1);
    }

    #[tiled_kernel(block = [32], grid = [1], requires(keys.len() >= 32))]
    pub fn count_with_helper(keys: &Tensor<u32, 1>, bins: &mut Tensor<u32, 1>) {
        add(bins, keys[[thread_x()]] as usize);
    }

    #[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
    pub fn clear(output: &mut Tensor<u32, 1>) {
        output[[thread_x()]] = 0;
    }
}

fn run(
    stream: &Arc<CudaStream>,
    keys: &TensorView<'_, u32, 1>,
    bins: &mut TensorViewMut<'_, u32, 1>,
) -> Result<(), tileproof::Error> {
    kernels::clear::launch(stream, bins)?;
    count::launch(stream, keys, bins)?;
    count_in::launch(stream, keys, bins)?;
    kernels::count_with_helper::launch(stream, keys, bins)?;
    kernels::clear::launch_on(stream, bins)
}

fn main() {
    let _ = run;
}
