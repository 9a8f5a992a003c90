//! Sectors of device memory.

use crate::harness::{Given, Run, budget, run};
use tileproof_model::report::{Role, Space};

/// The load of one warp from a vector; `x` is the lane.
fn load(element: &str, width: u32, index: &str, excess: u64) -> Run {
    run(
        "block = [32], grid = [1], requires(input.len() >= 131072, output.len() >= 128)",
        &format!("input: &Tensor<{element}, 1>, output: &mut Tensor<{element}, 1>"),
        &format!(
            "let x = thread_x();
            {}
            let value = input.read::<{width}>([{index}]);
            output.write([{width} * x], value);",
            budget("excess_sectors", excess)
        ),
        [1, 1, 1],
        &[Given::Zeros(&[131_072]), Given::Zeros(&[128])],
    )
}

/// Sectors of it, as compiler and simulator have them.
#[track_caller]
fn sectors(element: &str, width: u32, index: &str, excess: u64) -> u64 {
    let run = load(element, width, index, excess);
    let (site, counts) = run.last(Space::Global, Role::Read);
    assert_eq!((site.sectors, site.ideal_sectors), (counts.sectors, counts.ideal_sectors));
    assert_eq!(site.sectors - site.ideal_sectors, excess);
    site.sectors
}

/// Case 35: one of three doubles of a structure, beside doubles in a row.
#[test]
fn one_double_of_three() {
    assert_eq!(sectors("f64", 1, "3 * x", 16), 24);
    assert_eq!(sectors("f64", 1, "x", 0), 8);
}

/// Case 36: vectors of four floats along a row, a row a lane, and scalars. Vectors alone do not help a row a lane.
#[test]
fn a_row_a_lane() {
    assert_eq!(sectors("f32", 4, "4 * x", 0), 16);
    assert_eq!(sectors("f32", 4, "4096 * x", 16), 32);
    assert_eq!(sectors("f32", 1, "4096 * x", 28), 32);
    assert_eq!(sectors("f32", 1, "x", 0), 4);
}

/// Case 37: a load of one address costs every warp a request, not every block: 4 warps, 128 iterations, 128 blocks.
#[test]
fn uniform_loads_cost_every_warp() {
    let run = run(
        "block = [128], grid = [128], requires(a.rows() == 128, a.cols() == 128, b.len() == 128, output.len() == 16384)",
        "a: &Matrix<f32>, b: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>",
        "let x = thread_x();
        let mut sum = 0.0;
        for k in 0..128 {
            let row = a[[k, x]];
            sum += row * b[[k]];
        }
        output[[128 * block_x() + x]] = sum;",
        [8, 1, 1],
        &[Given::Zeros(&[128, 128]), Given::Zeros(&[128]), Given::Zeros(&[16_384])],
    );
    let requests: u64 = run.counts[..2].iter().map(|counts| counts.instructions).sum();
    // Blocks are alike, and 8 of the 128 ran.
    assert_eq!(16 * requests, 131_072);
    let (_, uniform) = run.last(Space::Global, Role::Read);
    assert_eq!(uniform.sectors, uniform.instructions);
}

/// Case 38: since Volta a warp's load is one request whatever its width.
#[test]
fn one_request_for_any_width() {
    for (width, sectors) in [(1, 4), (2, 8), (4, 16)] {
        let run = load("f32", width, &format!("{width} * x"), 0);
        let (site, counts) = run.last(Space::Global, Role::Read);
        assert_eq!((site.instructions, counts.instructions), (1, 1));
        assert_eq!(counts.sectors, sectors);
    }
}
