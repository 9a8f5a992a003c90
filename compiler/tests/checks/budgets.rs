//! Budgets.

use crate::harness::{check, warp};
use expect_test::expect;

fn column(budget: &str) -> String {
    warp(&format!(
        "let mut tile = Shared::<[[f32; 32]; 32]>::new();
        {budget}
        tile[thread_x()][0] = input[[thread_x()]];"
    ))
}

fn strided(budget: &str) -> String {
    warp(&format!("{budget}\noutput[[2 * thread_x()]] = input[[thread_x()]];"))
}

#[test]
fn as_tight_as_what_occurs() {
    check(
        &column("#[budget(bank_conflict = 31, because = \"shows it\")]"),
        expect![[r#"
        read `input[[thread_x()]]`: 1 × 4 B, 4/4 sectors
        write `tile[thread_x()][0]`: 1 × 4 B, 32/1 wavefronts, worst excess 31; cost budgeted: shows it
        shared: 4096 bytes
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &column("#[budget(bank_conflict = 30, because = \"shows it\")]"),
        expect![[r#"
        error: shared-memory bank conflict: 32 wavefronts where 1 is enough [TP0101]
        note: lanes 0, 1, 2, … 31 of warp 0 write words 0, 32, 64, … 992: 32 words of bank 0
        note: the budget accepts an excess of 30, and this one is 31
        help: `Shared<[[f32; 32]; 32], Pad<1>>` makes this conflict-free (4,224 bytes)
        help: `Shared<[[f32; 32]; 32], Xor<1>>` likewise, in 4,096 bytes
          at `tile[thread_x()][0]`
    "#]],
    );
    check(
        &column("#[budget(bank_conflict = 32, because = \"shows it\")]"),
        expect![[r#"
        error: this budget is too loose: it accepts 32 excess wavefronts, and the most that occurs is 31 [TP0102]
        help: write `bank_conflict = 31`
          at `#[budget(bank_conflict = 32, because = "shows it")]`
    "#]],
    );
    check(
        &strided("#[budget(excess_sectors = 4, because = \"shows it\")]"),
        expect![[r#"
        read `input[[thread_x()]]`: 1 × 4 B, 4/4 sectors
        write `output[[2 * thread_x()]]`: 1 × 4 B, 8/4 sectors, worst excess 4; cost budgeted: shows it
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &strided("#[budget(excess_sectors = 3, because = \"shows it\")]"),
        expect![[r#"
        error: uncoalesced store: 8 sectors of 32 bytes where 4 are enough [TP0201]
        note: neighbouring lanes of warp 0 are 8 bytes apart, so 128 of 256 bytes are used
        note: the budget accepts an excess of 3, and this one is 4
        help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
        help: or accept the cost: `#[budget(excess_sectors = 4, because = "…")]` on the statement
          at `output[[2 * thread_x()]]`
    "#]],
    );
    check(
        &strided("#[budget(excess_sectors = 5, because = \"shows it\")]"),
        expect![[r#"
        error: this budget is too loose: it accepts 5 excess sectors, and the most that occurs is 4 [TP0102]
        help: write `excess_sectors = 4`
          at `#[budget(excess_sectors = 5, because = "shows it")]`
    "#]],
    );
}

#[test]
fn that_cover_nothing() {
    check(
        &strided("#[budget(bank_conflict = 4, because = \"wrong kind\")]"),
        expect![[r#"
        error: this budget covers nothing: `bank_conflict` is about excess wavefronts [TP0102]
        note: the statement has no access of that kind
        help: remove it
          at `#[budget(bank_conflict = 4, because = "wrong kind")]`
        error: uncoalesced store: 8 sectors of 32 bytes where 4 are enough [TP0201]
        note: neighbouring lanes of warp 0 are 8 bytes apart, so 128 of 256 bytes are used
        help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
        help: or accept the cost: `#[budget(excess_sectors = 4, because = "…")]` on the statement
          at `output[[2 * thread_x()]]`
    "#]],
    );
    check(
        &column("#[budget(bank_conflict = 31, excess_sectors = 1, because = \"both\")]"),
        expect![[r#"
        error: this budget is too loose: it accepts 1 excess sectors, and the most that occurs is 0 [TP0102]
        help: remove it: nothing here needs it
          at `#[budget(bank_conflict = 31, excess_sectors = 1, because = "both")]`
    "#]],
    );
    check(
        &warp(
            "#[budget(excess_sectors = 4, because = \"clean\")]\noutput[[thread_x()]] = input[[thread_x()]];",
        ),
        expect![[r#"
            error: this budget is too loose: it accepts 4 excess sectors, and the most that occurs is 0 [TP0102]
            help: remove it: nothing here needs it
              at `#[budget(excess_sectors = 4, because = "clean")]`
        "#]],
    );
}

#[test]
fn of_nothing() {
    check(
        &warp(
            "#[budget(excess_sectors = 0, because = \"clean\")]\noutput[[thread_x()]] = input[[thread_x()]];",
        ),
        expect![[r#"
            error: this budget accepts nothing: `excess_sectors = 0` [TP0102]
            help: remove it: nothing here needs it
              at `#[budget(excess_sectors = 0, because = "clean")]`
        "#]],
    );
    check(
        &strided("#[budget(excess_sectors = 0, because = \"none\")]"),
        expect![[r#"
        error: uncoalesced store: 8 sectors of 32 bytes where 4 are enough [TP0201]
        note: neighbouring lanes of warp 0 are 8 bytes apart, so 128 of 256 bytes are used
        note: the budget accepts an excess of 0, and this one is 4
        help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
        help: or accept the cost: `#[budget(excess_sectors = 4, because = "…")]` on the statement
          at `output[[2 * thread_x()]]`
    "#]],
    );
}

#[test]
fn that_do_not_parse() {
    check(
        &strided("#[budget(excess_sectors = 4)]"),
        expect![[r#"
        error: a budget needs its reason: `because = "…"` [TP0003]
        help: write `#[budget(bank_conflict = 31, because = "shows the cost")]`, or `excess_sectors = …`
          at `#[budget(excess_sectors = 4)]`
    "#]],
    );
    check(
        &strided("#[budget(because = \"cheap\")]"),
        expect![[r#"
        error: a budget names a cost: `bank_conflict = n` or `excess_sectors = n` [TP0003]
        help: write `#[budget(bank_conflict = 31, because = "shows the cost")]`, or `excess_sectors = …`
          at `#[budget(because = "cheap")]`
    "#]],
    );
    check(
        &strided("#[budget(excess_sectors = 4, because = \" \")]"),
        expect![[r#"
        error: a budget needs its reason: `because = "…"` [TP0003]
        help: write `#[budget(bank_conflict = 31, because = "shows the cost")]`, or `excess_sectors = …`
          at `#[budget(excess_sectors = 4, because = " ")]`
    "#]],
    );
    check(
        &strided("#[budget(sectors = 4, because = \"cheap\")]"),
        expect![[r#"
        error: a budget takes `bank_conflict`, `excess_sectors` and `because` [TP0003]
        help: write `#[budget(bank_conflict = 31, because = "shows the cost")]`, or `excess_sectors = …`
          at `#[budget(sectors = 4, because = "cheap")]`
    "#]],
    );
    check(
        &strided("#[budget(excess_sectors = -4, because = \"cheap\")]"),
        expect![[r#"
        error: a cost is a whole number, and `-4` is none [TP0003]
        help: write `#[budget(bank_conflict = 31, because = "shows the cost")]`, or `excess_sectors = …`
          at `#[budget(excess_sectors = -4, because = "cheap")]`
    "#]],
    );
    check(
        &strided(
            "#[budget(excess_sectors = 4, because = \"a\")]\n#[budget(excess_sectors = 4, because = \"b\")]",
        ),
        expect![[r#"
        error: a second budget on one statement [TP0003]
        help: write one: `#[budget(bank_conflict = 1, excess_sectors = 4, because = "…")]`
          at `#[budget(excess_sectors = 4, because = "b")]`
    "#]],
    );
}

/// A budget stands on the statement that needs it: also on a loop, on a `let`, and on the kernel.
#[test]
fn of_statements_around_the_access() {
    check(
        &warp(
            "#[budget(excess_sectors = 4, because = \"loop\")]\nfor k in 0..2 { output[[2 * thread_x()]] = input[[32 * k + thread_x()]]; }",
        ),
        expect![[r#"
            read `input[[32 * k + thread_x()]]`: 2 × 4 B, 8/8 sectors
            write `output[[2 * thread_x()]]`: 2 × 4 B, 16/8 sectors, worst excess 4; cost budgeted: loop
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    check(
        &warp(
            "#[budget(excess_sectors = 4, because = \"let\")]\nlet x = input[[2 * thread_x()]];\noutput[[thread_x()]] = x;",
        ),
        expect![[r#"
            read `input[[2 * thread_x()]]`: 1 × 4 B, 8/4 sectors, worst excess 4; cost budgeted: let
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    check(
        "#[tiled_kernel(block = [32], grid = [1], requires(output.len() >= 64))]
        #[budget(excess_sectors = 4, because = \"kernel\")]
        fn kernel(output: &mut Tensor<f32, 1>) {
            output[[2 * thread_x()]] = 1.0;
        }",
        expect![[r#"
            write `output[[2 * thread_x()]]`: 1 × 4 B, 8/4 sectors, worst excess 4; cost budgeted: kernel
            launch: output.len() >= 64
        "#]],
    );
}
