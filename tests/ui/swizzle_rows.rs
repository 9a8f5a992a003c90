//! Swizzles of rows whose length is no power of two: their elements would leave the row.

use tileproof::prelude::*;

#[tiled_kernel(block = [24], grid = [1])]
pub fn chunks(value: f32) {
    let mut tile = Shared::<[[f32; 24]; 8], Xor<4>>::new();
    tile[0][thread_x()] = value;
}

#[tiled_kernel(block = [24], grid = [1])]
pub fn bits(value: f32) {
    let mut tile = Shared::<[[f32; 24]; 9], Swizzle<3, 2, 3>>::new();
    tile[0][thread_x()] = value;
}

fn main() {
    let _ = (chunks::CUDA_SOURCE, chunks::report, chunks::launch, chunks::simulate);
    let _ = (bits::CUDA_SOURCE, bits::report, bits::launch, bits::simulate);
}
