//! A module of kernels: what it cannot share, and errors in what it does.

use tileproof::prelude::*;

#[tiled_module]
pub mod kernels {
    use tileproof::prelude::*;

    const WIDE: usize = 64;
    /// A conflict in a helper function is one error, whoever calls it.
    fn column(tile: &mut Shared<[[f32; WIDE]; 32]>, x: f32) {
        tile[thread_x()][0] = x;
    }

    #[tiled_kernel(block = [WIDE / 2], grid = [1])]
    pub fn first(x: f32) {
        let mut tile = Shared::<[[f32; WIDE]; 32]>::new();
        column(&mut tile, x);
    }

    #[tiled_kernel(block = [WIDE / 2], grid = [1])]
    pub fn second(x: f32) {
        let mut other = Shared::<[[f32; WIDE]; 32]>::new();
        column(&mut other, x);
    }

    #[tiled_kernel(block = [super::OUTSIDE], grid = [1])]
    pub fn third(x: f32) {}
}

#[tiled_module]
pub mod names {
    use tileproof::prelude::*;

    #[cfg(windows)]
    const CHOSEN: usize = 1;
    type Matrix = Tensor<f32, 2>;

    fn thread_y() -> usize {
        0
    }

    #[tiled_kernel(block = [32], grid = [thread_y()])]
    pub fn first() {}

    #[tiled_kernel(block = [32], grid = [thread_y()])]
    pub fn second() {}
}

#[tiled_module(block = [32])]
pub mod arguments {
    pub const N: usize = 3;
}

#[tiled_module]
pub fn not_a_module() {}

const OUTSIDE: usize = 32;

fn main() {
    let _ = (kernels::first::launch, kernels::second::launch, kernels::third::launch, names::first::launch, names::second::report, arguments::N, not_a_module());
}
