//! Reads of shared memory: every element that a thread reads must have been written, whatever way the block took.

use crate::harness::{check_order, kernel, outcome};
use expect_test::expect;

/// A kernel of two warps over a tile, of which each thread has the number `x`.
fn tile(ty: &str, body: &str) -> String {
    kernel(
        "block = [64], grid = [1], requires(input.len() >= 4096, output.len() >= 64)",
        "n: usize, input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>",
        &format!("let mut t = Shared::<{ty}>::new();\nlet x = thread_x();\n{body}"),
    )
}

/// The same with a tile of 64 elements.
fn warps(body: &str) -> String {
    tile("[f32; 64]", body)
}

/// A kernel that takes turns of two stages.
fn stages(before: &str, body: &str) -> String {
    tile(
        "[[f32; 64]; 2]",
        &format!("let mut sum = 0.0;\n{before}\nfor k in 0..n {{\n{body}\n}}\noutput[[x]] = sum;"),
    )
}

/// What shared memory holds at the start is not known.
#[test]
fn never_written() {
    check_order(
        &warps("output[[x]] = t[x];"),
        expect![[r#"
        error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
        note: thread 0 finds `t[0]` unwritten
        help: write `t` first, and put `sync_threads();` after that
          at `t[x]`
    "#]],
    );
    check_order(
        &warps("t[x] = 1.0;\nsync_threads();\noutput[[x]] = t[63 - x];"),
        expect![[r#"
        line 6: sync_threads()
          orders the store of `t` on line 5 before the load on line 7
    "#]],
    );
    check_order(
        &tile("[f32; 65]", "t[x] = 1.0;\nsync_threads();\noutput[[x]] = t[x + 1];"),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 63 finds `t[64]` unwritten
            help: write every element of `t` that is read, by all threads of the block
              at `t[x + 1]`
        "#]],
    );
    check_order(
        &tile(
            "[f32; 65]",
            "t[x] = 1.0;\nif x == 0 { t[64] = 0.0; }\nsync_threads();\noutput[[x]] = t[x + 1];",
        ),
        expect![[r#"
            line 7: sync_threads()
              orders the store of `t` on line 5 before the load on line 8
              orders the store of `t` on line 6 before the load on line 8
        "#]],
    );
    // One of two tiles.
    check_order(
        &warps(
            "let mut u = Shared::<[f32; 64]>::new();\nt[x] = 1.0;\nsync_threads();\noutput[[x]] = t[x] + u[x];",
        ),
        expect![[r#"
            error: `u` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `u[0]` unwritten
            help: write `u` first, and put `sync_threads();` after that
              at `u[x]`
        "#]],
    );
    // Of several reads the first is named.
    check_order(
        &warps("output[[x]] = t[x] + t[63 - x];"),
        expect![[r#"
        error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
        note: thread 0 finds `t[0]` unwritten
        help: write `t` first, and put `sync_threads();` after that
          at `t[x]`
    "#]],
    );
}

/// What is written under a guard is read under the same one, or one that implies it.
#[test]
fn guards() {
    check_order(
        &warps("if x < n { t[x] = input[[x]]; }\nsync_threads();\noutput[[x]] = t[x];"),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[0]` unwritten
            note: the store on line 5 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[x]`
        "#]],
    );
    check_order(
        &warps("if x < n { t[x] = input[[x]]; }\nsync_threads();\nif x < n { output[[x]] = t[x]; }"),
        expect![[r#"
            line 6: sync_threads()
              orders nothing: can be removed
        "#]],
    );
    check_order(
        &warps("if x < n { t[x] = input[[x]]; }\nsync_threads();\nif x + 1 < n { output[[x]] = t[x]; }"),
        expect![[r#"
            line 6: sync_threads()
              orders nothing: can be removed
        "#]],
    );
    check_order(
        &warps("if x < n { t[x] = input[[x]]; }\nsync_threads();\nif x < n + 1 { output[[x]] = t[x]; }"),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[0]` unwritten
            note: the store on line 5 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[x]`
        "#]],
    );
    check_order(
        &warps(
            "if x < n { t[x] = input[[x]]; }\nsync_threads();\nif x < 63 && x + 1 < n { output[[x]] = t[x + 1]; }",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warps(
            "if x < n { t[x] = input[[x]]; }\nsync_threads();\nif 63 - x < n { output[[x]] = t[63 - x]; }",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warps("t[x] = if x < n { input[[x]] } else { 0.0 };\nsync_threads();\noutput[[x]] = t[63 - x];"),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    // A guard that is known.
    check_order(
        &warps("if x < 32 { t[x] = input[[x]]; }\nsync_threads();\noutput[[x]] = t[x % 32];"),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warps("if x < 32 { t[x] = input[[x]]; }\nsync_threads();\noutput[[x]] = t[x];"),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 32 finds `t[32]` unwritten
            help: write every element of `t` that is read, by all threads of the block
              at `t[x]`
        "#]],
    );
    check_order(
        &warps(
            "if warp() == 0 { t[lane()] = 1.0; t[lane() + 32] = 2.0; }\nsync_threads();\noutput[[x]] = t[x];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    // A guard that data decide.
    check_order(
        &warps("if input[[x]] > 0.0 { t[x] = 1.0; }\nsync_threads();\noutput[[x]] = t[x];"),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[0]` unwritten
            note: the store on line 5 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[x]`
        "#]],
    );
    check_order(
        &warps(
            "let keeps = input[[x]] > 0.0;\nif keeps { t[x] = 1.0; }\nsync_threads();\nif keeps { output[[x]] = t[x]; }",
        ),
        expect![[r#"
            line 7: sync_threads()
              orders nothing: can be removed
        "#]],
    );
    check_order(
        &warps(
            "let keeps = input[[x]] > 0.0;\nif keeps { t[x] = 1.0; }\nsync_threads();\nif keeps { output[[x]] = t[63 - x]; }",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[63]` unwritten
            note: the store on line 6 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[63 - x]`
        "#]],
    );
    // A number of the whole block.
    check_order(
        &warps("if n > 3 { t[x] = 1.0; }\nsync_threads();\nif n > 3 { output[[x]] = t[63 - x]; }"),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warps("if n > 3 { t[x] = 1.0; }\nsync_threads();\nif n > 5 { output[[x]] = t[63 - x]; }"),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warps("if n > 3 { t[x] = 1.0; }\nsync_threads();\nif n > 2 { output[[x]] = t[63 - x]; }"),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[63]` unwritten
            note: the store on line 5 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[63 - x]`
        "#]],
    );
    check_order(
        &warps("if n == 0 { return; }\nt[x] = 1.0;\nsync_threads();\noutput[[x]] = t[63 - x];"),
        expect![[r#"
            line 7: sync_threads()
              orders the store of `t` on line 6 before the load on line 8
        "#]],
    );
}

/// What both sides write is written, what one of them does is not.
#[test]
fn branches() {
    check_order(
        &warps("if n > 3 { t[x] = 1.0; } else { t[x] = 2.0; }\nsync_threads();\noutput[[x]] = t[63 - x];"),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warps(
            "if n > 3 { t[x] = 1.0; } else { t[63 - x] = 2.0; }\nsync_threads();\noutput[[x]] = t[63 - x];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warps("if x < n { t[x] = 1.0; } else { t[x] = 2.0; }\nsync_threads();\noutput[[x]] = t[63 - x];"),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warps(
            "if x < n { t[x] = 1.0; } else { t[63 - x] = 2.0; }\nsync_threads();\noutput[[x]] = t[63 - x];",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this store after the store on line 5 [TP0801]
            note: write after write: thread 0 writes `t[0]` on line 5, and thread 63 writes it here
            help: put `sync_threads();` between the two
              at `t[63 - x]`
        "#]],
    );
    check_order(
        &warps(
            "if n > 3 { t[x] = 1.0; } else if n > 1 { t[x] = 2.0; } else { t[x] = 3.0; }\nsync_threads();\noutput[[x]] = t[63 - x];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warps(
            "if n > 3 { t[x] = 1.0; } else if n > 1 { t[x] = 2.0; }\nsync_threads();\noutput[[x]] = t[63 - x];",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[63]` unwritten
            note: the stores on line 5 write it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[63 - x]`
        "#]],
    );
    check_order(
        &warps(
            "if n > 3 { if x < 32 { t[x] = 1.0; } else { t[x] = 2.0; } } else { t[x] = 3.0; }\nsync_threads();\noutput[[x]] = t[63 - x];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    // On one side only, and read there.
    check_order(
        &warps("if n > 3 {\nt[x] = 1.0;\nsync_threads();\noutput[[x]] = t[63 - x];\n}"),
        expect![[r#"
            line 7: sync_threads()
              orders the store of `t` on line 6 before the load on line 8
        "#]],
    );
}

/// A loop that may not be entered writes nothing.
#[test]
fn loops() {
    check_order(
        &warps("for k in 0..n { t[x] = k as f32; }\nsync_threads();\noutput[[x]] = t[63 - x];"),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[63]` unwritten
            note: the store on line 5 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[63 - x]`
        "#]],
    );
    check_order(
        &warps("for k in 0..n.max(1) { t[x] = k as f32; }\nsync_threads();\noutput[[x]] = t[63 - x];"),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warps("t[x] = 0.0;\nfor k in 0..n { t[x] = k as f32; }\nsync_threads();\noutput[[x]] = t[63 - x];"),
        expect![[r#"
            line 7: sync_threads()
              orders the store of `t` on line 5 before the load on line 8
              orders the store of `t` on line 6 before the load on line 8
        "#]],
    );
    check_order(
        &warps(
            "for k in 0..n {\nt[x] = k as f32;\nsync_threads();\noutput[[x]] = t[63 - x];\nsync_threads();\n}",
        ),
        expect![[r#"
            line 7: sync_threads()
              orders the store of `t` on line 6 before the load on line 8
            line 9: sync_threads()
              orders the load of `t` on line 8 before the store on line 6 in the next iteration
        "#]],
    );
    check_order(
        &warps(
            "for k in 0..n {\nif k > 0 { output[[x]] = t[63 - x]; }\nsync_threads();\nt[x] = k as f32;\nsync_threads();\n}",
        ),
        expect![[r#"
            line 7: sync_threads()
              orders the load of `t` on line 6 before the store on line 8
            line 9: sync_threads()
              orders the store of `t` on line 8 before the load on line 6 in the next iteration
        "#]],
    );
    check_order(
        &warps(
            "for k in 0..n {\noutput[[x]] = t[63 - x];\nsync_threads();\nt[x] = k as f32;\nsync_threads();\n}",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[63]` unwritten
            note: the store on line 8 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[63 - x]`
        "#]],
    );
    check_order(
        &warps(
            "let mut k = 0;\nwhile k < n { t[x] = 1.0;\nk += 1; }\nsync_threads();\noutput[[x]] = t[63 - x];",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[63]` unwritten
            note: the store on line 6 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[63 - x]`
        "#]],
    );
    check_order(
        &tile(
            "[[f32; 64]; 4]",
            "for i in 0..4 { t[i][x] = 0.0; }\nsync_threads();\noutput[[x]] = t[n % 4][63 - x];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &tile(
            "[[f32; 64]; 4]",
            "for i in 0..3 { t[i][x] = 0.0; }\nsync_threads();\noutput[[x]] = t[n % 4][63 - x];",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: which elements thread 0 reads is not known at compile time, and some of `t` may be unwritten
            note: the store on line 5 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[n % 4][63 - x]`
        "#]],
    );
    check_order(
        &tile(
            "[[f32; 64]; 4]",
            "for i in 0..3 { t[i][x] = 0.0; }\nsync_threads();\noutput[[x]] = t[n % 3][63 - x];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &tile(
            "[f32; 256]",
            "for i in (0..256).step_by(64) { t[i + x] = 0.0; }\nsync_threads();\noutput[[x]] = t[x] + t[255 - x];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &tile(
            "[f32; 256]",
            "for i in (x..256).step_by(64) { t[i] = 0.0; }\nsync_threads();\noutput[[x]] = t[x] + t[255 - x];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &tile(
            "[f32; 256]",
            "let mut i = x;\nwhile i < 256 { t[i] = 0.0;\ni += 64; }\nsync_threads();\noutput[[x]] = t[x] + t[255 - x];",
        ),
        expect![[r#"
            line 8: sync_threads()
              orders the store of `t` on line 6 before the load on line 9
        "#]],
    );
}

/// What a loop writes that certainly goes round is written behind it, and not yet where its first iteration reads.
#[test]
fn loops_that_go_round() {
    let source = |requires: &str, body: &str| {
        kernel(
            &format!("block = [64], grid = [1], requires(output.len() >= 64, {requires})"),
            "n: usize, m: usize, output: &mut Tensor<f32, 1>",
            &format!(
                "let mut t = Shared::<[f32; 64]>::new();\nlet x = thread_x();\nlet mut sum = 0.0;\n{body}\noutput[[x]] = sum;"
            ),
        )
    };
    let too_early = "for k in 0..n {\nsum += t[x];\nsync_threads();\nt[x] = 1.0;\nsync_threads();\n}";
    check_order(
        &source("n >= 1", too_early),
        expect![[r#"
        error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
        note: thread 0 finds `t[0]` unwritten
        note: the store on line 9 writes it only under a condition that does not follow from what holds here
        help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
          at `t[x]`
    "#]],
    );
    check_order(
        &source("n >= 0", too_early),
        expect![[r#"
        error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
        note: thread 0 finds `t[0]` unwritten
        note: the store on line 9 writes it only under a condition that does not follow from what holds here
        help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
          at `t[x]`
    "#]],
    );
    let nested = "for i in 0..m {\nfor k in 0..n {\nsum += t[x];\nt[x] = 1.0;\n}\n}";
    check_order(
        &source("n >= 1", nested),
        expect![[r#"
        error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
        note: thread 0 finds `t[0]` unwritten
        note: the store on line 9 writes it only under a condition that does not follow from what holds here
        help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
          at `t[x]`
    "#]],
    );
    check_order(
        &source("n >= 1", "for k in 0..n {\nt[x] = 1.0;\n}\nsum += t[x];"),
        expect![[r#"
        accepted without a barrier
    "#]],
    );
    check_order(
        &source("n >= 0", "for k in 0..n {\nt[x] = 1.0;\n}\nsum += t[x];"),
        expect![[r#"
        error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
        note: thread 0 finds `t[0]` unwritten
        note: the store on line 7 writes it only under a condition that does not follow from what holds here
        help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
          at `t[x]`
    "#]],
    );
    // The reader's own loop says that the other one went round.
    check_order(
        &source("n >= 0", "for k in 0..n {\nt[x] = 1.0;\n}\nfor k in 0..n {\nsum += t[x];\n}"),
        expect![[r#"
            accepted without a barrier
        "#]],
    );
    check_order(
        &source("n >= m", "for k in 1..n {\nt[x] = 1.0;\n}\nfor k in 0..m {\nsum += t[x];\n}"),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[0]` unwritten
            note: the store on line 7 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[x]`
        "#]],
    );
}

/// A stage that an earlier iteration wrote, or what came before the loop.
#[test]
fn stages_of_the_iteration_before() {
    check_order(
        &stages(
            "t[0][x] = 0.0;\nsync_threads();",
            "t[(k + 1) % 2][x] = input[[x]];\nsum += t[k % 2][63 - x];\nsync_threads();",
        ),
        expect![[r#"
            line 7: sync_threads()
              orders the store of `t` on line 6 before the load on line 10
            line 11: sync_threads()
              orders the store of `t` on line 9 before the load on line 10 in the next iteration
              orders the load of `t` on line 10 before the store on line 9 in the next iteration
        "#]],
    );
    check_order(
        &stages("", "t[(k + 1) % 2][x] = input[[x]];\nsum += t[k % 2][63 - x];\nsync_threads();"),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[0][63]` unwritten
            note: the store on line 8 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[k % 2][63 - x]`
        "#]],
    );
    check_order(
        &stages(
            "t[1][x] = 0.0;\nsync_threads();",
            "t[(k + 1) % 2][x] = input[[x]];\nsum += t[k % 2][63 - x];\nsync_threads();",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[0][63]` unwritten
            note: the store on line 9 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[k % 2][63 - x]`
        "#]],
    );
    check_order(
        &stages(
            "t[0][x] = 0.0;\nsync_threads();",
            "if k + 1 < n { t[(k + 1) % 2][x] = input[[x]]; }\nsum += t[k % 2][63 - x];\nsync_threads();",
        ),
        expect![[r#"
            line 7: sync_threads()
              orders the store of `t` on line 6 before the load on line 10
            line 11: sync_threads()
              orders the store of `t` on line 9 before the load on line 10 in the next iteration
              orders the load of `t` on line 10 before the store on line 9 in the next iteration
        "#]],
    );
    check_order(
        &stages(
            "t[0][x] = 0.0;\nsync_threads();",
            "if k + 2 < n { t[(k + 1) % 2][x] = input[[x]]; }\nsum += t[k % 2][63 - x];\nsync_threads();",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[1][63]` unwritten
            note: the store on line 9 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[k % 2][63 - x]`
        "#]],
    );
    check_order(
        &stages(
            "t[0][x] = 0.0;\nt[1][x] = 0.0;\nsync_threads();",
            "sum += t[k % 2][63 - x];\nsync_threads();\nif sum > 1.0 { t[k % 2][x] = sum; }\nsync_threads();",
        ),
        expect![[r#"
            line 8: sync_threads()
              orders the store of `t` on line 6 before the load on line 10
            line 11: sync_threads()
              orders the load of `t` on line 10 before the store on line 12
            line 13: sync_threads()
              orders nothing: can be removed
        "#]],
    );
}

/// Each thread for itself, without a barrier.
#[test]
fn stages_of_one_thread() {
    check_order(
        &stages("t[0][x] = 0.0;", "t[(k + 1) % 2][x] = input[[x]];\nsum += t[k % 2][x];"),
        expect![[r#"
            accepted without a barrier
        "#]],
    );
    check_order(
        &stages("", "t[(k + 1) % 2][x] = input[[x]];\nsum += t[k % 2][x];"),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[0][0]` unwritten
            note: the store on line 8 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[k % 2][x]`
        "#]],
    );
}

/// A vector reads all of its elements.
#[test]
fn vectors() {
    check_order(
        &tile(
            "[f32; 32]",
            "if x < 8 { t.write([4 * x], Vector::<f32, 2>::splat(0.0)); }\nsync_threads();\nif x < 8 { output[[x]] = t.read::<2>([4 * x])[1]; }",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders nothing: can be removed
        "#]],
    );
    check_order(
        &tile(
            "[f32; 32]",
            "if x < 8 { t.write([4 * x], Vector::<f32, 2>::splat(0.0)); }\nsync_threads();\nif x < 8 { output[[x]] = t.read::<4>([4 * x])[1]; }",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[2]` unwritten
            help: write every element of `t` that is read, by all threads of the block
              at `t.read::<4>([4 * x])`
        "#]],
    );
    check_order(
        &tile(
            "[f32; 32]",
            "if x < 8 { t.write([4 * x], Vector::<f32, 2>::splat(0.0)); t.write([4 * x + 2], Vector::<f32, 2>::splat(0.0)); }\nsync_threads();\nif x < 8 { output[[x]] = t.read::<4>([4 * x])[1]; }",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders nothing: can be removed
        "#]],
    );
    check_order(
        &tile(
            "[f32; 64]",
            "t[x] = 0.0;\nsync_threads();\nif x < 16 { output[[x]] = t.read::<4>([4 * x])[1]; }",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &tile(
            "[f32; 64]",
            "if x < 63 { t[x] = 0.0; }\nsync_threads();\nif x < 16 { output[[x]] = t.read::<4>([4 * x])[1]; }",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 15 finds `t[63]` unwritten
            help: write every element of `t` that is read, by all threads of the block
              at `t.read::<4>([4 * x])`
        "#]],
    );
}

/// An atomic update reads what was there.
#[test]
fn updates() {
    check_order(
        &tile("[u32; 64]", "t.atomic_add([x], 1);"),
        expect![[r#"
        error: `t` may be updated here where nothing was written: shared memory starts with any values [TP0803]
        note: thread 0 finds `t[0]` unwritten
        help: write `t` first, and put `sync_threads();` after that
          at `t.atomic_add([x], 1)`
    "#]],
    );
    check_order(
        &tile(
            "[u32; 64]",
            "t[x] = 0;\nsync_threads();\nt.atomic_add([63 - x], 1);\nsync_threads();\noutput[[x]] = t[x] as f32;",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the atomic on line 7
            line 8: sync_threads()
              orders the atomic of `t` on line 7 before the load on line 9
        "#]],
    );
    check_order(
        &tile(
            "[u32; 256]",
            "for i in 0..4 { t[64 * i + x] = 0; }\nsync_threads();\n#[budget(bank_conflict = 31, because = \"spread by the data\")]\nt.atomic_add([input[[x]] as usize % 256], 1);\nsync_threads();\noutput[[x]] = t[x] as f32;",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the atomic on line 8
            line 9: sync_threads()
              orders the atomic of `t` on line 8 before the load on line 10
        "#]],
    );
    check_order(
        &tile(
            "[u32; 256]",
            "for i in 0..3 { t[64 * i + x] = 0; }\nsync_threads();\n#[budget(bank_conflict = 31, because = \"spread by the data\")]\nt.atomic_add([input[[x]] as usize % 256], 1);\nsync_threads();\noutput[[x]] = t[x] as f32;",
        ),
        expect![[r#"
            error: `t` may be updated here where nothing was written: shared memory starts with any values [TP0803]
            note: which elements thread 0 reads is not known at compile time, and some of `t` may be unwritten
            help: write every element of `t` that is read, by all threads of the block
              at `t.atomic_add([input[[x]] as usize % 256], 1)`
        "#]],
    );
}

/// A place that data choose may be any, so all must have been written.
#[test]
fn places_that_data_choose() {
    check_order(
        &tile(
            "[f32; 64]",
            "t[x] = 0.0;\nsync_threads();\n#[budget(bank_conflict = 31, because = \"spread by the data\")]\noutput[[x]] = t[input[[x]] as usize % 64];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 8
        "#]],
    );
    check_order(
        &tile(
            "[f32; 64]",
            "if x < 63 { t[x] = 0.0; }\nsync_threads();\n#[budget(bank_conflict = 31, because = \"spread by the data\")]\noutput[[x]] = t[input[[x]] as usize % 64];",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: which elements thread 0 reads is not known at compile time, and some of `t` may be unwritten
            help: write every element of `t` that is read, by all threads of the block
              at `t[input[[x]] as usize % 64]`
        "#]],
    );
    // Where data choose what is written, nothing is known to be.
    check_order(
        &tile(
            "[f32; 64]",
            "#[trust(race, because = \"a permutation\")]\n#[budget(bank_conflict = 31, because = \"spread by the data\")]\nt[input[[x]] as usize % 64] = 0.0;\nsync_threads();\noutput[[x]] = t[x];",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[0]` unwritten
            help: write every element of `t` that is read, by all threads of the block
              at `t[x]`
        "#]],
    );
    check_order(
        &tile(
            "[f32; 64]",
            "#[trust(race, because = \"a permutation\")]\n#[budget(bank_conflict = 31, because = \"spread by the data\")]\nt[input[[x]] as usize % 64] = 0.0;\nsync_threads();\n#[trust(initialised, because = \"a permutation\")]\noutput[[x]] = t[x];",
        ),
        expect![[r#"
            line 8: sync_threads()
              orders the store of `t` on line 7 before the load on line 10
            granted: `t[input[[x]] as usize % 64]` (line 7) does not race: a permutation
            granted: `t[x]` (line 10) reads what has been written: a permutation
        "#]],
    );
    // A number of the whole block chooses.
    check_order(
        &tile("[[f32; 64]; 4]", "t[n % 4][x] = 0.0;\nsync_threads();\noutput[[x]] = t[n % 4][63 - x];"),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &tile("[[f32; 64]; 4]", "t[n % 4][x] = 0.0;\nsync_threads();\noutput[[x]] = t[(n + 1) % 4][63 - x];"),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: which elements thread 0 reads is not known at compile time, and some of `t` may be unwritten
            help: write every element of `t` that is read, by all threads of the block
              at `t[(n + 1) % 4][63 - x]`
        "#]],
    );
    check_order(
        &tile(
            "[[f32; 64]; 2]",
            "t[n % 2][x] = 0.0;\nt[1 - n % 2][x] = 1.0;\nsync_threads();\noutput[[x]] = t[0][63 - x];",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[0][63]` unwritten
            note: the store on line 5 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[0][63 - x]`
        "#]],
    );
}

/// A tile that a whole block loads, its edge filled with zeros.
fn loaded(load: &str, read: &str) -> String {
    kernel(
        "block = [256], grid = [input.cols().div_ceil(32), input.rows().div_ceil(32)], requires(output.len() >= 256)",
        "input: &Matrix<f32>, output: &mut Tensor<f32, 1>",
        &format!(
            "let mut tile = Shared::<[[f32; 32]; 33]>::new();
            let t = thread_x();
            {load}
            sync_threads();
            if block_x() == 0 && block_y() == 0 {{ output[[t]] = {read}; }}"
        ),
    )
}

/// A load of a whole tile writes all of it.
#[test]
fn whole_tiles() {
    check_order(
        &loaded("tile.load(input, [block_y() * 32, block_x() * 32]);", "tile[32][t % 32]"),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `tile` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &loaded(
            "tile.load_async::<4>(input, [block_y() * 32, block_x() * 32]);\ncommit();\nwait::<0>();",
            "tile[32 - t / 32][t % 32]",
        ),
        expect![[r#"
            line 7: wait()
              orders the store of `tile` on line 5 before the load on line 9
            line 8: sync_threads()
              orders the store of `tile` on line 5 before the load on line 9
        "#]],
    );
    check_order(
        &loaded("for r in 0..4 { tile[8 * r + t / 32][t % 32] = 0.0; }", "tile[31 - t / 32][t % 32]"),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `tile` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &loaded("for r in 0..4 { tile[8 * r + t / 32][t % 32] = 0.0; }", "tile[32 - t / 32][t % 32]"),
        expect![[r#"
            error: `tile` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `tile[32][0]` unwritten
            help: write every element of `tile` that is read, by all threads of the block
              at `tile[32 - t / 32][t % 32]`
        "#]],
    );
}

/// Written by other threads, later, or in another stage.
#[test]
fn what_is_not_written_in_time() {
    check_order(
        &warps("if x == n { t[0] = 1.0; }\nsync_threads();\noutput[[x]] = t[0];"),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[0]` unwritten
            note: the store on line 5 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[0]`
        "#]],
    );
    check_order(
        &warps("if x == 5 { t[0] = 1.0; }\nsync_threads();\noutput[[x]] = t[0];"),
        expect![[r#"
        line 6: sync_threads()
          orders the store of `t` on line 5 before the load on line 7
    "#]],
    );
    check_order(
        &warps("if n < 64 { if x == n { t[0] = 1.0; } }\nsync_threads();\nif n < 64 { output[[x]] = t[0]; }"),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[0]` unwritten
            note: the store on line 5 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[0]`
        "#]],
    );
    check_order(
        &warps(
            "for k in 0..n {\nif k == 3 { t[x] = 1.0; }\nsync_threads();\nif k == 2 { output[[x]] = t[63 - x]; }\nsync_threads();\n}",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[63]` unwritten
            note: the store on line 6 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[63 - x]`
        "#]],
    );
    check_order(
        &tile(
            "[[f32; 64]; 4]",
            "for k in 0..n {\nt[k % 4][x] = 1.0;\nsync_threads();\nif k > 0 { output[[x]] = t[(k + 3) % 4][63 - x]; }\nsync_threads();\n}",
        ),
        expect![[r#"
            line 7: sync_threads()
              orders nothing: can be removed
            line 9: sync_threads()
              orders nothing: can be removed
        "#]],
    );
    check_order(
        &tile(
            "[[f32; 64]; 4]",
            "for k in 0..n {\nt[k % 4][x] = 1.0;\nsync_threads();\nif k > 0 { output[[x]] = t[(k + 1) % 4][63 - x]; }\nsync_threads();\n}",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[2][63]` unwritten
            note: the store on line 6 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[(k + 1) % 4][63 - x]`
        "#]],
    );
    check_order(
        &tile(
            "[[f32; 64]; 4]",
            "for k in 0..n {\nt[k % 4][x] = 1.0;\n}\nsync_threads();\noutput[[x]] = t[n % 4][63 - x];",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: which elements thread 0 reads is not known at compile time, and some of `t` may be unwritten
            note: the store on line 6 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[n % 4][63 - x]`
        "#]],
    );
    check_order(
        &tile(
            "[[f32; 64]; 4]",
            "for k in (0..n).step_by(2) {\nt[k % 4][x] = 1.0;\nsync_threads();\nif k > 0 { output[[x]] = t[(k + 3) % 4][63 - x]; }\nsync_threads();\n}",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[3][63]` unwritten
            help: write every element of `t` that is read, by all threads of the block
              at `t[(k + 3) % 4][63 - x]`
        "#]],
    );
    check_order(
        &tile(
            "[[f32; 64]; 4]",
            "for k in (0..n).step_by(2) {\nt[k % 4][x] = 1.0;\nsync_threads();\nif k > 0 { output[[x]] = t[(k + 2) % 4][63 - x]; }\nsync_threads();\n}",
        ),
        expect![[r#"
            line 7: sync_threads()
              orders nothing: can be removed
            line 9: sync_threads()
              orders the load of `t` on line 8 before the store on line 6 in the next iteration
        "#]],
    );
    // Each iteration chooses anew.
    check_order(
        &tile(
            "[[f32; 64]; 2]",
            "for k in 0..n.min(input.len()) {\nlet b = input[[k]] as usize % 2;\nif k == 0 { t[b][x] = 1.0; }\nsync_threads();\noutput[[x]] = t[b][63 - x];\nsync_threads();\n}",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: which elements thread 0 reads is not known at compile time, and some of `t` may be unwritten
            note: the store on line 7 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[b][63 - x]`
        "#]],
    );
    // A loop that each thread leaves when it likes.
    check_order(
        &warps(
            "let mut i = x;\nwhile i < n {\nt[x] = 1.0;\ni += 64;\n}\nsync_threads();\nif x < n { output[[x]] = t[x]; }",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[0]` unwritten
            note: the store on line 7 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[x]`
        "#]],
    );
    check_order(
        &warps(
            "let mut i = x;\nwhile i < n {\nt[x] = 1.0;\ni += 64;\n}\nsync_threads();\noutput[[x]] = t[x];",
        ),
        expect![[r#"
            error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
            note: thread 0 finds `t[0]` unwritten
            note: the store on line 7 writes it only under a condition that does not follow from what holds here
            help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
              at `t[x]`
        "#]],
    );
}

/// What every iteration of a loop writes at a place of its own, a loop of the same iterations reads.
#[test]
fn loops_of_the_same_iterations() {
    let rows = |first: &str, then: &str| {
        kernel(
            "block = [64], grid = [1], requires(n <= 1024, output.len() >= 1024)",
            "n: usize, output: &mut Tensor<f32, 1>",
            &format!(
                "let mut t = Shared::<[f32; 1024]>::new();
                let x = thread_x();
                for c in ({first}).step_by(64) {{ t[c] = 1.0; }}
                sync_threads();
                for c in ({then}).step_by(64) {{ output[[c]] = t[c]; }}"
            ),
        )
    };
    check_order(
        &rows("x..n", "x..n"),
        expect![[r#"
        line 6: sync_threads()
          orders nothing: can be removed
    "#]],
    );
    check_order(
        &rows("x + 1..n", "x..n"),
        expect![[r#"
        error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
        note: which elements thread 0 reads is not known at compile time, and some of `t` may be unwritten
        help: write every element of `t` that is read, by all threads of the block
          at `t[c]`
    "#]],
    );
    check_order(
        &rows("x..n", "x..1024"),
        expect![[r#"
        error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
        note: thread 0 finds `t[0]` unwritten
        note: the store on line 5 writes it only under a condition that does not follow from what holds here
        help: write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`
          at `t[c]`
    "#]],
    );
}

/// Of a tile, an access needs what its known indices leave.
#[test]
fn places_in_one_stage() {
    let stage = |written: &str| {
        tile(
            "[[f32; 64]; 4]",
            &format!("{written}\nsync_threads();\nif x >= n {{ output[[x]] = t[1][x - n]; }}"),
        )
    };
    check_order(
        &stage("t[1][x] = 1.0;"),
        expect![[r#"
        line 6: sync_threads()
          orders the store of `t` on line 5 before the load on line 7
    "#]],
    );
    check_order(
        &stage("t[0][x] = 1.0;"),
        expect![[r#"
        error: `t` may be read here where nothing was written: shared memory starts with any values [TP0803]
        note: which elements thread 0 reads is not known at compile time, and some of `t` may be unwritten
        help: write every element of `t` that is read, by all threads of the block
          at `t[1][x - n]`
    "#]],
    );
}

/// Iterations of another residue read something else, and say nothing of what one of this residue finds.
#[test]
fn iterations_of_one_residue() {
    for (write, read, is_missing) in [
        ("t[0][x] = 1.0;", "if k % 4 == 3 { sum += t[1][63 - x]; }", true),
        ("t[k % 2][x] = 1.0;", "if k > 0 { sum += t[(k + 2) % 3][63 - x]; }", true),
        ("t[k % 2][x] = 1.0;", "if k > 0 { sum += t[(k + 1) % 2][63 - x]; }", false),
        ("if k % 4 == 0 { t[1][x] = 1.0; }", "if k % 4 == 3 { sum += t[1][63 - x]; }", false),
        // The first that reads it comes before the first that writes it.
        ("if k % 4 == 0 && k > 0 { t[1][x] = 1.0; }", "if k % 4 == 3 { sum += t[1][63 - x]; }", true),
        (
            "if k % 4 == 0 && k > 0 { t[1][x] = 1.0; }",
            "if k % 4 == 3 && k > 3 { sum += t[1][63 - x]; }",
            false,
        ),
    ] {
        let body = format!("{write}\nsync_threads();\n{read}\nsync_threads();");
        let source = tile(
            "[[f32; 64]; 3]",
            &format!("let mut sum = 0.0;\nfor k in 0..n {{\n{body}\n}}\noutput[[x]] = sum;"),
        );
        let outcome = outcome(&source);
        assert_eq!(outcome.contains("[TP0803]"), is_missing, "{write} {read}\n{outcome}");
    }
}

/// Of a tile in stages, what the bounds of the indices leave must have been written, and no more.
#[test]
fn a_stage_at_an_index_of_data() {
    for (write, read, is_missing) in [
        ("t[0][x] = 1.0;", "t[0][d * 8]", false),
        ("t[0][x] = 1.0;", "t.get_or([0, x + n], 0.0)", false),
        ("if x < 8 { t[0][x] = 1.0; }", "t[0][7 - d]", false),
        ("if x < 8 { t[0][x] = 1.0; }", "t.read::<4>([0, d / 4 * 4]).sum()", false),
        ("t[0][x] = 1.0;", "t[x % 2][d]", true),
        ("t[0][x] = 1.0;", "t[d / 4][x]", true),
        ("if x < 8 { t[0][x] = 1.0; }", "t[0][d + 1]", true),
        ("if x < 7 { t[0][x] = 1.0; }", "t.read::<4>([0, d / 4 * 4]).sum()", true),
    ] {
        let source = tile(
            "[[f32; 64]; 2]",
            &format!(
                "let d = (input[[x]] as usize).min(7);\n{write}\nsync_threads();\noutput[[x]] = {read};"
            ),
        );
        let outcome = outcome(&source);
        assert_eq!(outcome.contains("[TP0803]"), is_missing, "{write} {read}\n{outcome}");
    }
}
