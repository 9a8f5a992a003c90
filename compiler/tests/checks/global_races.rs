//! Accesses of different blocks to one element of a tensor.

use crate::harness::{check, kernel, outcome};
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

fn block(body: &str) -> String {
    kernel(
        "block = [64], grid = [1], requires(x.len() >= 128, i.len() >= 64)",
        "x: &mut Tensor<f32, 1>, i: &Tensor<u32, 1>",
        body,
    )
}

#[test]
fn threads_of_one_block() {
    check(
        &block("x[[thread_x()]] = 1.0;"),
        expect![[r#"
        write `x[[thread_x()]]`: 2 × 4 B, 8/8 sectors
        launch: x.len() >= 128
        launch: i.len() >= 64
    "#]],
    );
    check(
        &block("x[[0]] = 1.0;"),
        expect![[r#"
        error: two threads may write one element of `x`: `x[[0]]` [TP0802]
        note: nothing here says that two threads of a block touch different elements
        help: let one thread write it, as in `if thread_x() == 0 { … }`, or update it by `atomic_add` and its like
          at `x[[0]]`
    "#]],
    );
    check(
        &block("if thread_x() == 0 { x[[0]] = 1.0; }"),
        expect![[r#"
        write `x[[0]]`: 1 × 4 B, 1/1 sectors
        launch: x.len() >= 128
        launch: i.len() >= 64
    "#]],
    );
    check(
        &block("x[[thread_x() / 2]] = 1.0;"),
        expect![[r#"
        error: two threads may write one element of `x`: `x[[thread_x() / 2]]` [TP0802]
        note: nothing here says that two threads of a block touch different elements
        help: let one thread write it, as in `if thread_x() == 0 { … }`, or update it by `atomic_add` and its like
          at `x[[thread_x() / 2]]`
    "#]],
    );
    check(
        &block("x[[thread_x()]] = x[[thread_x() + 1]];"),
        expect![[r#"
        error: a thread may read an element of `x` that another thread writes: `x[[thread_x() + 1]]` [TP0802]
        note: it is written by `x[[thread_x()]]` on line 3, and no barrier stands between
        note: nothing here says that two threads of a block touch different elements
        help: put `sync_threads()` between them
          at `x[[thread_x() + 1]]`
    "#]],
    );
    check(
        &block("let next = x[[thread_x() + 1]]; sync_threads(); x[[thread_x()]] = next;"),
        expect![[r#"
        read `x[[thread_x() + 1]]`: 2 × 4 B, 8/8 sectors
        write `x[[thread_x()]]`: 2 × 4 B, 8/8 sectors
        launch: x.len() >= 128
        launch: i.len() >= 64
    "#]],
    );
    check(
        &block(
            "for _ in 0..x.len() { let next = x[[thread_x() + 1]]; sync_threads(); x[[thread_x()]] = next; }",
        ),
        expect![[r#"
            error: a thread may read an element of `x` that another thread writes: `x[[thread_x() + 1]]` [TP0802]
            note: it is written by `x[[thread_x()]]` on line 3, and no barrier stands between
            note: nothing here says that two threads of a block touch different elements
            help: put `sync_threads()` between them
              at `x[[thread_x() + 1]]`
        "#]],
    );
    check(
        &block(
            "for _ in 0..x.len() { let next = x[[thread_x() + 1]]; sync_threads(); x[[thread_x()]] = next; sync_threads(); }",
        ),
        expect![[r#"
            read `x[[thread_x() + 1]]`: 2 × 4 B, 8/8 sectors
            write `x[[thread_x()]]`: 2 × 4 B, 8/8 sectors
            launch: x.len() >= 128
            launch: i.len() >= 64
        "#]],
    );
    check(
        &block("for k in (thread_x()..x.len()).step_by(64) { x[[k]] = x[[k]] + 1.0; }"),
        expect![[r#"
        read `x[[k]]`: 2 × 4 B, 8/8 sectors
        write `x[[k]]`: 2 × 4 B, 8/8 sectors
        launch: x.len() >= 128
        launch: i.len() >= 64
    "#]],
    );
    check(
        &block("x.atomic_add([0], 1.0);"),
        expect![[r#"
            error: uncoalesced atomic: 32 sectors of 32 bytes where 1 is enough [TP0201]
            note: the 32 lanes of warp 0 update 1 element, and those of one element wait for each other
            help: combine what the lanes bring first, as by `warp_sum`, and let one of them update
            help: or accept the cost: `#[budget(excess_sectors = 31, because = "…")]` on the statement
              at `x.atomic_add([0], 1.0)`
        "#]],
    );
    check(
        &block("#[budget(excess_sectors = 31, because = \"one sum\")]\nx.atomic_add([0], 1.0);"),
        expect![[r#"
        update `x.atomic_add([0], 1.0)`: 2 × 4 B, 64/2 sectors, worst excess 31; cost budgeted: one sum
        launch: x.len() >= 128
        launch: i.len() >= 64
    "#]],
    );
    check(
        &block("let at = i[[thread_x()]] as usize; if at < x.len() { x[[at]] = 1.0; }"),
        expect![[r#"
        error: whether this access coalesces is not known [TP0201]
        note: the address depends on a value of `i`, and may differ from lane to lane
        help: take responsibility for the cost: `#[budget(excess_sectors = 31, because = "…")]` on the statement
          at `x[[at]]`
        error: two threads may write one element of `x`: `x[[at]]` [TP0802]
        note: nothing here says that two threads of a block touch different elements: the index depends on a value of `i`
        help: let one thread write it, as in `if thread_x() == 0 { … }`, or update it by `atomic_add` and its like
          at `x[[at]]`
    "#]],
    );
}

#[test]
fn what_iterations_read_for_the_whole_block() {
    // Where a row begins is another number in another iteration.
    check(
        &block("for k in 0..2 { let start = (i[[k]] as usize).min(8); x[[start + thread_x()]] = 1.0; }"),
        expect![[r#"
            error: two threads may write one element of `x`: `x[[start + thread_x()]]` [TP0802]
            note: nothing here says that two threads of a block touch different elements: the index depends on a minimum
            help: let one thread write it, as in `if thread_x() == 0 { … }`, or update it by `atomic_add` and its like
              at `x[[start + thread_x()]]`
        "#]],
    );
    check(
        &block("for k in 0..2 { let start = (i[[k]] as usize).min(1) * 64; x[[start + thread_x()]] = 1.0; }"),
        expect![[r#"
            read `i[[k]]`: 4 × 4 B, 4/4 sectors
            write `x[[start + thread_x()]]`: 4 × 4 B, 16/16 sectors
            launch: x.len() >= 128
            launch: i.len() >= 64
        "#]],
    );
}

/// An analysis for each residue of a loop's counter changes nothing for what is outside the loop.
#[test]
fn beside_a_loop_of_stages() {
    let with = |stages: &str, index: &str| {
        outcome(&kernel(
            "block = [256], grid = [x.rows().div_ceil(2) * x.cols().div_ceil(256)]",
            "x: &mut Matrix<f32>, n: usize",
            &format!(
                "let [row, col] = rasterize(block_x(), [x.rows().div_ceil(2), x.cols().div_ceil(256)], 8);
                let mut tile = Shared::<[[f32; 256]; 3]>::new();
                let mut i = 0;
                for s in 0..n {{ tile[{stages}][thread_x()] = 1.0; i = s; }}
                for r in 0..2 {{
                    let (r, c) = ({index}, 256 * col + thread_x());
                    if r < x.rows() && c < x.cols() {{ x[[r, c]] = 1.0; }}
                }}"
            ),
        ))
    };
    for stages in ["0", "s % 2", "s % 3"] {
        let said = with(stages, "2 * row + r");
        assert!(!said.contains("[TP"), "{stages}: {said}");
        for index in ["row + r", "2 * row + r + i", "2 * (row / 2) + r"] {
            let said = with(stages, index);
            assert!(said.contains("[TP0802]"), "{stages} {index}: {said}");
        }
    }
}
