//! More resident blocks than a multiprocessor holds, and architectures that there are not.

use tileproof::prelude::*;

#[tiled_kernel(block = [1024], grid = [1], min_blocks = 2)]
pub fn everywhere(x: f32) {
    let mut tile = Shared::<[f32; 1024]>::new();
    tile[thread_x()] = x;
}

#[tiled_kernel(block = [1024], grid = [1], min_blocks = 2, arch(sm_75))]
pub fn turing(x: f32) {
    let mut tile = Shared::<[f32; 1024]>::new();
    tile[thread_x()] = x;
}

#[tiled_kernel(block = [256], grid = [1], min_blocks = 33, arch = "sm_52")]
pub fn unknown(x: f32) {
    let mut tile = Shared::<[f32; 256]>::new();
    tile[thread_x()] = x;
}

fn main() {
    let _ = (everywhere::report, turing::report, unknown::report);
}
