//! Layouts that do not exist, and one that does not fit its tile.

use tileproof::prelude::*;

#[tiled_kernel(block = [32], grid = [1])]
pub fn unknown() {
    let mut tile = Shared::<[[f32; 32]; 32], Skewed<1>>::new();
    tile[0][thread_x()] = 0.0;
}

#[tiled_kernel(block = [32], grid = [1])]
pub fn no_power_of_two() {
    let mut tile = Shared::<[[f32; 48]; 32], Xor<1>>::new();
    tile[0][thread_x()] = 0.0;
}

fn main() {
    let _ = (unknown::CUDA_SOURCE, unknown::report, unknown::launch, unknown::simulate);
    let _ = (
        no_power_of_two::CUDA_SOURCE,
        no_power_of_two::report,
        no_power_of_two::launch,
        no_power_of_two::simulate,
    );
}
