//! A launch without trust is a safe function, also through the name of a generic kernel and from a module: it needs no `unsafe`, even where the
//! crate forbids it.

#![forbid(unsafe_code)]
#![deny(warnings)]

use std::sync::Arc;
use tileproof::cudarc::driver::CudaStream;
use tileproof::prelude::*;
use tileproof::report::{Claim, Verdict};

#[tiled_kernel(block = [32], grid = [1], requires(keys.len() >= 32))]
pub fn count(keys: &Tensor<u32, 1>, bins: &mut Tensor<u32, 1>) {
    let key = keys[[thread_x()]] as usize;
    if key < bins.len() {
        #[budget(excess_sectors = 31, because = "the bins are where the keys say")]
        bins.atomic_add([key], 1);
    }
}

#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32), instances(u32, i32))]
pub fn clear<T>(output: &mut Tensor<T, 1>) {
    output[[thread_x()]] = 0;
}

#[tiled_module]
mod kernels {
    use tileproof::prelude::*;

    #[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
    pub fn fill(output: &mut Tensor<u32, 1>, value: u32) {
        output[[thread_x()]] = value;
    }
}

/// Takes the bounds for granted.
#[tiled_kernel(block = [32], grid = [1], requires(keys.len() >= 32))]
pub fn trusting(keys: &Tensor<u32, 1>, bins: &mut Tensor<u32, 1>) {
    let key = keys[[thread_x()]] as usize;
    #[budget(excess_sectors = 31, because = "the bins are where the keys say")]
    #[trust(bounds, because = "a key names a bin")]
    bins.atomic_add([key], 1);
}

fn run(
    stream: &Arc<CudaStream>,
    keys: &TensorView<'_, u32, 1>,
    bins: &mut TensorViewMut<'_, u32, 1>,
) -> Result<(), tileproof::Error> {
    clear::launch(stream, bins)?;
    kernels::fill::launch(stream, bins, 1)?;
    count::launch(stream, keys, bins)
}

fn main() {
    let _ = run;
    assert!(count::report().trusts.is_empty());
    let trusts = &trusting::report().trusts;
    assert_eq!(trusts.len(), 1);
    assert_eq!((trusts[0].claim, &*trusts[0].because), (Claim::Bounds, "a key names a bin"));
    assert_eq!(trusting::report().sites[1].bounds, Verdict::Trusted("a key names a bin".into()));
    // The simulator checks what is taken for granted.
    let (keys, mut bins) = ([9; 32], [0; 8]);
    let keys = HostTensor::new(&keys, [32]).unwrap();
    let fault = trusting::simulate(&keys, &mut HostTensorMut::new(&mut bins, [8]).unwrap()).unwrap_err();
    assert!(fault.to_string().contains("bins"), "{fault}");
}
