//! What never falls below zero is not said to.

use crate::harness::{check, kernel, outcome};
use expect_test::expect;

/// Nothing here subtracts, whatever the grid.
#[track_caller]
fn stays_above_zero(place: &str) {
    for grid in ["[1]", "[2]", "[64]", "[n]"] {
        for (block, extent) in [("[32]", 128), ("[32, 2]", 32)] {
            let source = kernel(
                &format!("block = {block}, grid = {grid}, requires(output.len() >= 128, s >= 1, s <= 16)"),
                "output: &mut Tensor<f32, 1>, s: usize, n: usize",
                &format!("let i = {place}; if i < {extent} {{ output[[i % 32]] = 1.0; }}"),
            );
            let outcome = outcome(&source);
            assert!(!outcome.contains("TP0501") && !outcome.contains("TP0401"), "{outcome}\nin\n{source}");
        }
    }
}

/// A factor that is zero for some threads, and positive for the others.
#[test]
fn products_with_a_coordinate() {
    for factor in ["block_x() % 4", "s % 3", "(block_x() / 2) % 2", "(block_x() & 3)", "block_x() % s"] {
        stays_above_zero(&format!("{factor} * thread_x()"));
        stays_above_zero(&format!("thread_y() * ({factor}) + thread_x()"));
    }
}

/// No block of a small grid has most of the residues.
#[test]
fn coordinates_of_small_grids() {
    for place in [
        "(thread_x() + block_x()) % 32",
        "(thread_y() + block_x()) / 32",
        "thread_y() + block_x()",
        "thread_x() + (block_x() | 2)",
        "thread_x() + (1 ^ block_x())",
        "thread_x() + block_x() % s",
        "thread_x() ^ block_x()",
        "warp() ^ block_x()",
    ] {
        stays_above_zero(place);
    }
}

/// Nothing is proven of a difference by the same means.
#[test]
fn a_difference_of_a_coordinate_and_a_multiple_of_another() {
    for place in [
        "block_x() - block_x() % 4 * thread_x()",
        "thread_x() * s - thread_x() * 2",
        "block_x() % 4 * thread_x() - 1",
    ] {
        let source = kernel(
            "block = [32], grid = [64], requires(output.len() >= 32, s >= 1)",
            "output: &mut Tensor<f32, 1>, s: usize",
            &format!("output[[{place}]] = 1.0;"),
        );
        let outcome = outcome(&source);
        assert!(outcome.contains("below zero"), "{outcome}\nin\n{source}");
    }
}

/// Blocks that a grid has are judged, and no others.
#[test]
fn the_last_block_of_a_grid_is_judged() {
    for (grid, inside) in [(1, true), (2, true), (3, false), (40, false)] {
        let source = kernel(
            &format!("block = [32], grid = [{grid}]"),
            "",
            "let mut t = Shared::<[f32; 33]>::new();
            t[(thread_x() + block_x()) % 64] = 1.0;",
        );
        let outcome = outcome(&source);
        assert_eq!(outcome.contains("TP0401"), !inside, "{outcome}\nin\n{source}");
        assert!(!outcome.contains("TP0501"), "{outcome}\nin\n{source}");
    }
}

fn backwards(steps: &str) -> String {
    kernel(
        "block = [32], grid = [1], requires(input.len() >= 32, s >= 1)",
        "input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>, n: usize, s: usize",
        &format!("let mut sum = 0.0; for k in ({steps}).rev() {{ sum += input[[k]]; }}"),
    )
}

#[test]
fn a_loop_backwards_by_steps() {
    check(
        &backwards("(0..n.min(32)).step_by(2)"),
        expect![[r#"
        read `input[[k]]`: 1 × 4 B, 1/1 sectors
        launch: input.len() >= 32
        launch: s >= 1
    "#]],
    );
    check(
        &backwards("(3..n.min(32)).step_by(4)"),
        expect![[r#"
        read `input[[k]]`: 1 × 4 B, 1/1 sectors
        launch: input.len() >= 32
        launch: s >= 1
    "#]],
    );
    check(
        &backwards("(0..n.min(32)).step_by(s)"),
        expect![[r#"
            read `input[[k]]`: 1 × 4 B, 1/1 sectors
            launch: input.len() >= 32
            launch: s >= 1
        "#]],
    );
    check(
        &backwards("(s..n.min(32)).step_by(3)"),
        expect![[r#"
        read `input[[k]]`: 1 × 4 B, 1/1 sectors
        launch: input.len() >= 32
        launch: s >= 1
    "#]],
    );
    check(
        &backwards("(0..n.min(33)).step_by(2)"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `k < input.len()` [TP0402]
        note: `k < n` is known, and nothing says how `n` and `input.len()` compare
        help: promise it: `requires(input.len() >= n)`
          at `input[[k]]`
    "#]],
    );
    check(
        &backwards("(0..n.min(34)).step_by(2)"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `k < input.len()` [TP0402]
        note: `k < n` is known, and nothing says how `n` and `input.len()` compare
        help: promise it: `requires(input.len() >= n)`
          at `input[[k]]`
    "#]],
    );
}
