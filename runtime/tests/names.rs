//! Names that a kernel or its module declares hide the vocabulary, for rustc and for the kernel alike.
#![cfg(feature = "simulate")]

use tileproof::prelude::*;

/// Functions and constants of a module.
#[tiled_module]
#[allow(non_upper_case_globals)]
mod own {
    use tileproof::prelude::*;

    const warp: usize = 2;

    fn block_sum(x: f32) -> f32 {
        x + 1.0
    }

    fn through(x: f32) -> f32 {
        block_sum(x)
    }

    fn lane<const N: usize, T: Copy>(values: &[T; N]) -> T {
        values[N - 1]
    }

    #[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
    pub fn of_module(output: &mut Tensor<f32, 1>) {
        fn thread_y() -> usize {
            1
        }
        fn inside(commit: f32) -> f32 {
            warp_max(commit) + block_max(1.0)
        }
        let sync_warp = 3;
        let values = [1.0, 2.0];
        let sum = through(0.5) + lane(&values) + inside(4.0);
        output[[thread_x()]] = sum + (warp * thread_y() + sync_warp) as f32;
    }
}

/// Variables, parameters, and functions in blocks.
#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 32))]
fn alone(shuffle: f32, block_min: f32, output: &mut Tensor<f32, 1>) {
    let mut sum = 0.0;
    for lane in 0..3 {
        sum += lane as f32;
    }
    {
        fn block_min(x: f32) -> f32 {
            10.0 * x
        }
        sum += block_min(shuffle);
    }
    let doubled = Vector::new([sum, block_min]).map(|ballot| ballot + ballot);
    match thread_x() {
        warp_count if warp_count > 100 => sum = 0.0,
        _ => sum += warp_count() as f32,
    }
    let lane = lane();
    if lane < 32 {
        output[[thread_x()]] = sum + doubled[1] + tileproof::prelude::warp() as f32;
    }
}

#[test]
fn what_is_declared_is_what_runs() {
    let mut output = [0.0; 32];
    own::of_module::simulate(&mut HostTensorMut::new(&mut output, [32]).unwrap()).unwrap();
    assert_eq!(output, [1.5 + 2.0 + 5.0 + 5.0; 32]);

    let mut output = [0.0; 32];
    alone::simulate(4.0, 0.25, &mut HostTensorMut::new(&mut output, [32]).unwrap()).unwrap();
    assert_eq!(output, [3.0 + 40.0 + 1.0 + 0.5; 32]);
}
