//! Limits of a launch.

use crate::harness::refused;
use expect_test::expect;

/// Case 72: extents of the data as the block. A block is constant, and so are its limits.
#[test]
fn extents_as_a_block() {
    let parameters = "output: &mut Matrix<f32>";
    expect![[r#"
        an extent of `block` must be known at compile time [TP0007]
        an extent of `block` must be known at compile time [TP0007]
    "#]]
    .assert_eq(&refused("block = [output.cols(), output.rows()], grid = [1]", parameters, ""));
    expect![[r#"
        a block of 2048 threads, and a GPU takes at most 1024 [TP0702]
    "#]]
    .assert_eq(&refused("block = [64, 32], grid = [1]", parameters, ""));
}
