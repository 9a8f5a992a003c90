//! Accesses of different blocks to one element of a tensor.

use crate::harness::{check, kernel};
use expect_test::expect;

fn vector(body: &str) -> String {
    kernel(
        "block = [256], grid = [x.len().div_ceil(256)]",
        "x: &mut Tensor<f32, 1>",
        &format!("let i = block_x() * 256 + thread_x();\n{body}"),
    )
}

fn matrix(body: &str) -> String {
    kernel(
        "block = [32, 8], grid = [x.cols().div_ceil(32), x.rows().div_ceil(8)]",
        "x: &mut Matrix<f32>",
        &format!("let (r, c) = (block_y() * 8 + thread_y(), block_x() * 32 + thread_x());\n{body}"),
    )
}

#[test]
fn each_thread_its_own_element() {
    check(
        &vector("if i < x.len() { x[[i]] = 1.0; }"),
        expect![[r#"
        write `x[[i]]`: 8 × 4 B, 32/32 sectors
    "#]],
    );
    check(
        &vector("if i < x.len() { x[[i]] = 2.0 * x[[i]]; }"),
        expect![[r#"
        read `x[[i]]`: 8 × 4 B, 32/32 sectors
        write `x[[i]]`: 8 × 4 B, 32/32 sectors
    "#]],
    );
    check(
        &vector("if i < x.len() { x[[x.len() - 1 - i]] = 1.0; }"),
        expect![[r#"
        write `x[[x.len() - 1 - i]]`: 8 × 4 B, 32/32 sectors
    "#]],
    );
    check(
        &matrix("if r < x.rows() && c < x.cols() { x[[r, c]] = x[[r, c]] + 1.0; }"),
        expect![[r#"
        read `x[[r, c]]`: 8 × 4 B, 32/32 sectors
        write `x[[r, c]]`: 8 × 4 B, 32/32 sectors
    "#]],
    );
    check(
        &matrix("if r < x.rows() && c < x.cols() { x[[x.rows() - 1 - r, c]] = 1.0; }"),
        expect![[r#"
        write `x[[x.rows() - 1 - r, c]]`: 8 × 4 B, 32/32 sectors
    "#]],
    );
}

#[test]
fn two_blocks_write_one_element() {
    check(
        &vector("if thread_x() < x.len() { x[[thread_x()]] = 1.0; }"),
        expect![[r#"
        error: two blocks may write one element of `x`: `x[[thread_x()]]` [TP0802]
        note: no index depends on `block_x()`, so blocks that differ in nothing else touch the same elements
        help: use `block_x()` in the index, make the grid 1 block in x, or guard the access with `block_x() == 0`
          at `x[[thread_x()]]`
    "#]],
    );
    check(
        &vector("if i + 1 < x.len() { x[[i]] = 1.0; x[[i + 1]] = 2.0; }"),
        expect![[r#"
        error: two blocks may write one element of `x`: `x[[i]]` on line 4, and `x[[i + 1]]` on line 4 [TP0802]
        note: nothing here says that two blocks write different elements
        help: make each block write its own elements, or update them by `atomic_add` and its like
          at `x[[i]]`
    "#]],
    );
    check(
        &vector("let j = block_x() * 255 + thread_x(); if j < x.len() { x[[j]] = 1.0; }"),
        expect![[r#"
        error: two blocks may write one element of `x`: `x[[j]]` [TP0802]
        note: nothing here says that two blocks write different elements
        help: make each block write its own elements, or update them by `atomic_add` and its like
          at `x[[j]]`
    "#]],
    );
    check(
        &matrix("if r < x.rows() { x[[r, thread_x()]] = 1.0; }"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `thread_x() < x.cols()` [TP0402]
        help: guard it: `if thread_x() < x.cols() { … }`, or promise what bounds it in `requires(…)`
          at `x[[r, thread_x()]]`
    "#]],
    );
    check(
        &matrix("if thread_y() < x.rows() && c < x.cols() { x[[thread_y(), c]] = 1.0; }"),
        expect![[r#"
        error: two blocks may write one element of `x`: `x[[thread_y(), c]]` [TP0802]
        note: no index depends on `block_y()`, so blocks that differ in nothing else touch the same elements
        help: use `block_y()` in the index, make the grid 1 block in y, or guard the access with `block_y() == 0`
          at `x[[thread_y(), c]]`
    "#]],
    );
    check(
        &matrix("if 0 < x.rows() && 0 < x.cols() && thread_x() == 0 && thread_y() == 0 { x[[0, 0]] = 1.0; }"),
        expect![[r#"
        error: two blocks may write one element of `x`: `x[[0, 0]]` [TP0802]
        note: no index depends on `block_x()`, so blocks that differ in nothing else touch the same elements
        help: use `block_x()` in the index, make the grid 1 block in x, or guard the access with `block_x() == 0`
          at `x[[0, 0]]`
    "#]],
    );
}

#[test]
fn a_block_reads_what_another_writes() {
    // An in-place Game of Life.
    check(
        &matrix("if r + 1 < x.rows() && c < x.cols() { x[[r, c]] = x[[r + 1, c]]; }"),
        expect![[r#"
        error: a block may read an element of `x` that another block writes: `x[[r + 1, c]]` [TP0802]
        note: that block writes `x[[r, c]]` on line 4, and blocks run at the same time, in any order
        note: nothing here says that a block reads only what itself writes
        help: write to another tensor and read this one, or launch one kernel after the other
          at `x[[r + 1, c]]`
    "#]],
    );
    check(
        &matrix("if r >= 1 && r < x.rows() && c < x.cols() { let up = x[[r - 1, c]]; x[[r, c]] = up; }"),
        expect![[r#"
        error: a block may read an element of `x` that another block writes: `x[[r - 1, c]]` [TP0802]
        note: that block writes `x[[r, c]]` on line 4, and blocks run at the same time, in any order
        note: nothing here says that a block reads only what itself writes
        help: write to another tensor and read this one, or launch one kernel after the other
          at `x[[r - 1, c]]`
    "#]],
    );
    // Floyd–Warshall, all in one.
    check(
        &kernel(
            "block = [32, 8], grid = [x.cols().div_ceil(32), x.rows().div_ceil(8)], requires(x.rows() == x.cols(), k < x.rows())",
            "x: &mut Matrix<f32>, k: usize",
            "let (r, c) = (block_y() * 8 + thread_y(), block_x() * 32 + thread_x());
             if r < x.rows() && c < x.cols() { x[[r, c]] = x[[r, c]].min(x[[r, k]] + x[[k, c]]); }",
        ),
        expect![[r#"
            error: a block may read an element of `x` that another block writes: `x[[k, c]]` [TP0802]
            note: that block writes `x[[r, c]]` on line 4, and blocks run at the same time, in any order
            note: no index depends on `block_y()`, so blocks that differ in nothing else touch the same elements
            help: write to another tensor and read this one, or launch one kernel after the other
              at `x[[k, c]]`
        "#]],
    );
}
