//! What the source takes for granted.

use crate::harness::{check, kernel, warp};
use expect_test::expect;

fn scatter(attribute: &str, statement: &str) -> String {
    kernel(
        &format!("block = [32], grid = [1], requires(keys.len() >= 32){attribute}"),
        "keys: &Tensor<u32, 1>, output: &mut Tensor<u32, 1>",
        &format!(
            "let at = keys[[thread_x()]] as usize;\n{statement}#[budget(excess_sectors = 31, because = \"a bin a lane\")]\noutput.atomic_add([at], 1);"
        ),
    )
}

#[test]
fn an_index_from_memory() {
    check(
        &scatter("", ""),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `at < output.len()` [TP0402]
        note: `at` depends on a value from memory or on arithmetic that may wrap
        help: guard it: `if at < output.len() { … }`, or promise what bounds it in `requires(…)`
          at `output.atomic_add([at], 1)`
    "#]],
    );
    check(
        &scatter("", "#[trust(bounds, because = \"a key names a bin\")]\n"),
        expect![[r#"
            read `keys[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            update `output.atomic_add([at], 1)`: 1 × 4 B, 0/0 sectors; cost budgeted: a bin a lane; bounds trusted: a key names a bin
            launch: keys.len() >= 32
            granted: `output.atomic_add([at], 1)` (line 6) stays inside: a key names a bin
        "#]],
    );
    check(
        &scatter(", trust(bounds, because = \"a key names a bin\")", ""),
        expect![[r#"
            read `keys[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            update `output.atomic_add([at], 1)`: 1 × 4 B, 0/0 sectors; cost budgeted: a bin a lane; bounds trusted: a key names a bin
            launch: keys.len() >= 32
            granted: `output.atomic_add([at], 1)` (line 5) stays inside: a key names a bin
        "#]],
    );
}

#[test]
fn what_is_proven_needs_no_trust() {
    check(
        &warp("#[trust(bounds, because = \"it fits\")]\noutput[[thread_x()]] = input[[thread_x()]];"),
        expect![[r#"
            error: this trust covers nothing: `bounds` is not needed [TP0103]
            note: it is proven that every index here stays inside
            help: remove it: a launch with no trust is a safe function
              at `#[trust(bounds, because = "it fits")]`
        "#]],
    );
    check(
        &scatter("", "#[trust(bounds, range, because = \"a key names a bin\")]\n"),
        expect![[r#"
            error: this trust covers nothing: `range` is not needed [TP0103]
            note: it is proven that the index arithmetic here stays in its range
            help: remove `range` from it
              at `#[trust(bounds, range, because = "a key names a bin")]`
        "#]],
    );
    check(
        &scatter(", trust(bounds, initialised, barriers, because = \"no tile\")", ""),
        expect![[r#"
            error: this trust covers nothing: `initialised` and `barriers` are not needed [TP0103]
            note: it is proven that all that is read here of shared memory has been written
            note: it is proven that the barriers and collectives here are reached by all who take part
            help: remove `initialised` and `barriers` from it
              at `trust`
        "#]],
    );
}

#[test]
fn what_is_wrong_is_not_trusted() {
    check(
        &warp(
            "let mut tile = Shared::<[f32; 16]>::new();
            #[trust(bounds, because = \"I say so\")]
            tile[thread_x()] = input[[thread_x()]];",
        ),
        expect![[r#"
            error: index out of bounds: `thread_x()` is 31, and the last index of `tile` there is 15 [TP0401]
            note: thread 31 writes it
              at `tile[thread_x()]`
        "#]],
    );
}

#[test]
fn barriers_and_collectives() {
    let body = |trust: &str| {
        warp(&format!(
            "let value = input[[thread_x()]];
            if input[[0]] > value {{
                {trust}sync_warp();
            }}"
        ))
    };
    check(
        &body(""),
        expect![[r#"
            error: `sync_warp` must be reached by all lanes of the warp together, and nothing here says that it is [TP0602]
            note: `input[[0]] > value` may differ from lane to lane
            help: end the condition or loop before `sync_warp`, so that every thread comes to it, and guard anew what follows
              at `sync_warp()`
        "#]],
    );
    check(
        &body("#[trust(barriers, because = \"the values are equal\")]\n"),
        expect![[r#"
            read `input[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            read `input[[0]]`: 1 × 4 B, 1/1 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
            granted: `sync_warp()` (line 6) is reached together by all who take part: the values are equal
        "#]],
    );
}

#[test]
fn index_arithmetic() {
    let body = |trust: &str| {
        kernel(
            "block = [32], grid = [1]",
            "input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>, first: usize",
            &format!(
                "{trust}let at = first - thread_x();
                if at < input.len() && thread_x() < output.len() {{
                    #[budget(excess_sectors = 31, because = \"nothing says that they are neighbours\")]
                    let value = input[[at]];
                    output[[thread_x()]] = value;
                }}"
            ),
        )
    };
    check(
        &body(""),
        expect![[r#"
        error: index arithmetic may fall below zero: `first - thread_x()` [TP0501]
        note: `usize` has no negative numbers: the index would wrap to a very large one
        help: guard it with a comparison that proves the left side is at least the right one
          at `first - thread_x()`
    "#]],
    );
    check(
        &body("#[trust(range, because = \"`first` is 31 or more\")]\n"),
        expect![[r#"
            read `input[[at]]`: 1 × 4 B, 0/0 sectors; cost budgeted: nothing says that they are neighbours
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            granted: `first - thread_x()` (line 4) stays in the range of its type: `first` is 31 or more
        "#]],
    );
}

#[test]
fn the_innermost_trust_that_claims_it_gives_the_reason() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(keys.len() >= 32), trust(bounds, because = \"the outer one\")",
            "keys: &Tensor<u32, 1>, output: &mut Tensor<u32, 1>",
            "let at = keys[[thread_x()]] as usize;
            #[trust(bounds, because = \"the inner one\")]
            {
                #[budget(excess_sectors = 31, because = \"a bin a lane\")]
                output.atomic_add([at], 1);
                #[budget(excess_sectors = 31, because = \"a bin a lane\")]
                output.atomic_add([at + 1], 1);
            }
            #[budget(excess_sectors = 31, because = \"a bin a lane\")]
            output.atomic_add([at + 2], 1);",
        ),
        expect![[r#"
            read `keys[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            update `output.atomic_add([at], 1)`: 1 × 4 B, 0/0 sectors; cost budgeted: a bin a lane; bounds trusted: the inner one
            update `output.atomic_add([at + 1], 1)`: 1 × 4 B, 0/0 sectors; cost budgeted: a bin a lane; bounds trusted: the inner one
            update `output.atomic_add([at + 2], 1)`: 1 × 4 B, 0/0 sectors; cost budgeted: a bin a lane; bounds trusted: the outer one
            launch: keys.len() >= 32
            granted: `output.atomic_add([at], 1)` (line 7) stays inside: the inner one
            granted: `output.atomic_add([at + 1], 1)` (line 9) stays inside: the inner one
            granted: `output.atomic_add([at + 2], 1)` (line 12) stays inside: the outer one
        "#]],
    );
}

#[test]
fn in_a_helper_it_is_one_however_often_that_is_called() {
    let body = |trust: &str| {
        kernel(
            "block = [32], grid = [1], requires(keys.len() >= 32)",
            "keys: &Tensor<u32, 1>, output: &mut Tensor<u32, 1>",
            &format!(
                "{trust}fn count(output: &mut Tensor<u32, 1>, at: usize) {{
                    #[budget(excess_sectors = 31, because = \"a bin a lane\")]
                    output.atomic_add([at], 1);
                }}
                count(output, keys[[thread_x()]] as usize);
                if thread_x() < output.len() {{ count(output, thread_x()); }}"
            ),
        )
    };
    check(
        &body("#[trust(bounds, because = \"a key names a bin\")]\n"),
        expect![[r#"
            read `keys[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            update `output.atomic_add([at], 1)`: 1 × 4 B, 0/0 sectors, in `count`, called on line 8; cost budgeted: a bin a lane; bounds trusted: a key names a bin
            update `output.atomic_add([at], 1)`: 1 × 4 B, 4/4 sectors, in `count`, called on line 9
            launch: keys.len() >= 32
            granted: `output.atomic_add([at], 1)` (line 6) stays inside: a key names a bin
        "#]],
    );
    check(
        &body("#[trust(bounds, race, because = \"a key names a bin\")]\n"),
        expect![[r#"
            error: this trust covers nothing: `race` is not needed [TP0103]
            note: it is proven that nothing here can race
            note: in `count`, called on line 8
            help: remove `race` from it
              at `#[trust(bounds, race, because = "a key names a bin")]`
        "#]],
    );
}

#[test]
fn what_does_not_parse() {
    let with = |arguments: &str| scatter("", &format!("#[trust({arguments})]\n"));
    check(
        &with(""),
        expect![[r#"
        error: a trust needs its reason: `because = "…"` [TP0003]
        help: write `#[trust(bounds, because = "the keys are below the number of bins")]`
          at `#[trust()]`
    "#]],
    );
    check(
        &with("bounds"),
        expect![[r#"
        error: a trust needs its reason: `because = "…"` [TP0003]
        help: write `#[trust(bounds, because = "the keys are below the number of bins")]`
          at `#[trust(bounds)]`
    "#]],
    );
    check(
        &with("because = \"of that\""),
        expect![[r#"
        error: a trust names what is not proven, such as `bounds` [TP0003]
        help: write `#[trust(bounds, because = "the keys are below the number of bins")]`
          at `#[trust(because = "of that")]`
    "#]],
    );
    check(
        &with("bounds, because = \" \""),
        expect![[r#"
        error: a trust needs its reason: `because = "…"` [TP0003]
        help: write `#[trust(bounds, because = "the keys are below the number of bins")]`
          at `#[trust(bounds, because = " ")]`
    "#]],
    );
    check(
        &with("bounds, bounds, because = \"of that\""),
        expect![[r#"
        error: `bounds` is claimed twice [TP0003]
        help: write `#[trust(bounds, because = "the keys are below the number of bins")]`
          at `#[trust(bounds, bounds, because = "of that")]`
    "#]],
    );
    check(
        &with("alignment, because = \"of that\""),
        expect![[r#"
        error: a trust takes `race`, `bounds`, `initialised`, `barriers`, `range` and `because` [TP0003]
        help: write `#[trust(bounds, because = "the keys are below the number of bins")]`
          at `#[trust(alignment, because = "of that")]`
    "#]],
    );
    check(
        &with("bounds because = \"of that\""),
        expect![[r#"
        error: expected `,` [TP0003]
        help: write `#[trust(bounds, because = "the keys are below the number of bins")]`
          at `#[trust(bounds because = "of that")]`
    "#]],
    );
    check(
        &scatter(", trust(bounds)", ""),
        expect![[r#"
        error: a trust needs its reason: `because = "…"` [TP0003]
        help: write `trust(bounds, because = "the keys are below the number of bins")`
          at `trust`
    "#]],
    );
    check(
        &scatter(", trust = bounds", ""),
        expect![[r#"
        error: expected parentheses [TP0003]
        help: write `#[tiled_kernel(block = [32, 8], grid = [a.cols().div_ceil(32), a.rows().div_ceil(32)])]`
          at `=`
    "#]],
    );
}
