//! Index arithmetic that stays in range, and register arrays that stay in registers.

use crate::harness::{check, kernel, warp};
use expect_test::expect;

fn run_time(body: &str) -> String {
    // One thread where all would write the same.
    let threads = if body.contains("thread_x()") { 32 } else { 1 };
    kernel(
        &format!("block = [{threads}], grid = [1], requires(output.len() >= 64)"),
        "n: usize, m: usize, output: &mut Tensor<f32, 1>",
        body,
    )
}

#[test]
fn below_zero() {
    check(
        &run_time("if n - 1 < 64 { output[[n - 1]] = 1.0; }"),
        expect![[r#"
        error: index arithmetic may fall below zero: `n - 1` [TP0501]
        note: `usize` has no negative numbers: the index would wrap to a very large one
        help: guard it with a comparison that proves the left side is at least the right one
          at `n - 1`
        error: index arithmetic may fall below zero: `n - 1` [TP0501]
        note: `usize` has no negative numbers: the index would wrap to a very large one
        help: guard it with a comparison that proves the left side is at least the right one
          at `n - 1`
    "#]],
    );
    check(
        &run_time("if n >= 1 { if n - 1 < 64 { output[[n - 1]] = 1.0; } }"),
        expect![[r#"
        write `output[[n - 1]]`: 1 × 4 B, 1/1 sectors
        launch: output.len() >= 64
    "#]],
    );
    check(
        &run_time("if n >= 1 && n - 1 < 64 { output[[n - 1]] = 1.0; }"),
        expect![[r#"
        write `output[[n - 1]]`: 1 × 4 B, 1/1 sectors
        launch: output.len() >= 64
    "#]],
    );
    check(
        &run_time("if n == 0 || n - 1 < 64 { output[[0]] = 1.0; }"),
        expect![[r#"
            write `output[[0]]`: 1 × 4 B, 1/1 sectors
            launch: output.len() >= 64
        "#]],
    );
    check(
        &run_time("if n > m { if n - m < 64 { output[[n - m]] = 1.0; } }"),
        expect![[r#"
        write `output[[n - m]]`: 1 × 4 B, 1/1 sectors
        launch: output.len() >= 64
    "#]],
    );
    check(
        &warp("output[[thread_x() - 1]] = 1.0;"),
        expect![[r#"
        error: index arithmetic may fall below zero: `thread_x() - 1` [TP0501]
        note: `usize` has no negative numbers: the index would wrap to a very large one
        help: guard it with a comparison that proves the left side is at least the right one
          at `thread_x() - 1`
    "#]],
    );
    check(
        &warp("if thread_x() >= 1 { output[[thread_x() - 1]] = 1.0; }"),
        expect![[r#"
        write `output[[thread_x() - 1]]`: 1 × 4 B, 4/4 sectors
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
}

/// What follows from a wrong computation is not reported again; the budget of the access stays as it is.
#[test]
fn one_cause_is_one_error() {
    check(
        &kernel(
            "block = [32], grid = [1]",
            "input: &Matrix<f32>, output: &mut Matrix<f32>",
            "let mut t = Shared::<[f32; 32]>::new();
            let i = thread_x() - 1;
            t[i] = 1.0;
            #[budget(excess_sectors = 31, because = \"covered\")]
            output[[i, 2 * i]] = 1.0;",
        ),
        expect![[r#"
            error: index arithmetic may fall below zero: `thread_x() - 1` [TP0501]
            note: `usize` has no negative numbers: the index would wrap to a very large one
            help: guard it with a comparison that proves the left side is at least the right one
              at `thread_x() - 1`
        "#]],
    );
}

#[test]
fn above_the_range() {
    check(
        &run_time("if n * m < 64 { output[[n * m]] = 1.0; }"),
        expect![[r#"
        error: index arithmetic may overflow: `n * m` [TP0501]
        note: nothing here says how large the operands are
        help: state what bounds them in `requires(…)`, or guard it with a comparison
          at `n * m`
        error: index arithmetic may overflow: `n * m` [TP0501]
        note: nothing here says how large the operands are
        help: state what bounds them in `requires(…)`, or guard it with a comparison
          at `n * m`
    "#]],
    );
    check(
        &run_time("if n < 8 && m < 8 { output[[n * m]] = 1.0; }"),
        expect![[r#"
        error: index arithmetic may overflow: `n * m` [TP0501]
        note: nothing here says how large the operands are
        help: state what bounds them in `requires(…)`, or guard it with a comparison
          at `n * m`
    "#]],
    );
    check(
        &run_time("if n + m < 64 { output[[n + m]] = 1.0; }"),
        expect![[r#"
            write `output[[n + m]]`: 1 × 4 B, 1/1 sectors
            launch: output.len() >= 64
        "#]],
    );
    check(
        &run_time("if n < 64 { if n << 1 < 64 { output[[n << 1]] = 1.0; } }"),
        expect![[r#"
        write `output[[n << 1]]`: 1 × 4 B, 1/1 sectors
        launch: output.len() >= 64
    "#]],
    );
}

#[test]
fn register_arrays() {
    check(
        &warp(
            "let mut a = [0.0f32; 4];\nfor i in 0..4 { a[i] = input[[thread_x()]]; }\noutput[[thread_x()]] = a[3];",
        ),
        expect![[r#"
            read `input[[thread_x()]]`: 4 × 4 B, 16/16 sectors
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    check(
        &run_time("let mut a = [0.0f32; 4];\na[n % 4] = 1.0;\noutput[[thread_x()]] = a[0];"),
        expect![[r#"
        error: a register array is indexed by a value that is not constant [TP0601]
        note: `n % 4` must be one number for all threads once constant loops are unrolled: registers have no addresses, so the array would move to slow local memory
        help: index it by constants and by variables of loops with constant bounds
          at `n % 4`
    "#]],
    );
    // Read and written by one index: one error.
    check(
        &run_time("let mut a = [0.0f32; 4];\na[n % 4] /= 2.0;\noutput[[thread_x()]] = a[0];"),
        expect![[r#"
            error: a register array is indexed by a value that is not constant [TP0601]
            note: `a[n % 4]` must be one number for all threads once constant loops are unrolled: registers have no addresses, so the array would move to slow local memory
            help: index it by constants and by variables of loops with constant bounds
              at `a[n % 4]`
        "#]],
    );
    check(
        &warp("let a = [0.0f32; 32];\noutput[[thread_x()]] = a[thread_x()];"),
        expect![[r#"
        error: a register array is indexed by a value that is not constant [TP0601]
        note: `a[thread_x()]` must be one number for all threads once constant loops are unrolled: registers have no addresses, so the array would move to slow local memory
        help: index it by constants and by variables of loops with constant bounds
          at `a[thread_x()]`
    "#]],
    );
    check(
        &run_time("let mut a = [0.0f32; 4];\nfor i in 0..n { a[i] = 1.0; }"),
        expect![[r#"
        error: a register array is indexed by a value that is not constant [TP0601]
        note: `i` must be one number for all threads once constant loops are unrolled: registers have no addresses, so the array would move to slow local memory
        help: index it by constants and by variables of loops with constant bounds
          at `i`
    "#]],
    );
    check(
        &run_time("let v = Vector::<f32, 4>::splat(1.0);\noutput[[thread_x()]] = v[n % 4];"),
        expect![[r#"
        error: a register array is indexed by a value that is not constant [TP0601]
        note: `v[n % 4]` must be one number for all threads once constant loops are unrolled: registers have no addresses, so the array would move to slow local memory
        help: index it by constants and by variables of loops with constant bounds
          at `v[n % 4]`
    "#]],
    );
}

#[test]
fn register_arrays_end() {
    check(
        &warp("let mut a = [0.0f32; 4];\nfor i in 0..5 { a[i] = 1.0; }"),
        expect![[r#"
        error: index of registers out of bounds: it is 4, and there are 4 [TP0601]
        note: in `i`, once constant loops are unrolled
        help: keep it below 4
          at `i`
    "#]],
    );
    check(
        &warp("let a = [[0.0f32; 4]; 2];\nfor i in 0..3 { output[[thread_x()]] = a[i][3]; }"),
        expect![[r#"
        error: index of registers out of bounds: it is 2, and there are 2 [TP0601]
        note: in `a[i][3]`, once constant loops are unrolled
        help: keep it below 2
          at `a[i][3]`
    "#]],
    );
    check(
        &warp("let v = Vector::<f32, 2>::splat(1.0);\nfor i in 0..4 { output[[thread_x()]] = v[i]; }"),
        expect![[r#"
        error: index of registers out of bounds: it is 2, and there are 2 [TP0601]
        note: in `v[i]`, once constant loops are unrolled
        help: keep it below 2
          at `v[i]`
    "#]],
    );
    check(
        &warp("let mut v = Vector::<f32, 2>::splat(1.0);\nfor i in 0..4 { v[i] = 2.0; }"),
        expect![[r#"
        error: index of registers out of bounds: it is 2, and there are 2 [TP0601]
        note: in `i`, once constant loops are unrolled
        help: keep it below 2
          at `i`
    "#]],
    );
}

/// Shift amounts are masked to the width of the value, as in Rust without overflow checks.
#[test]
fn shifts_beyond_the_width() {
    check(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            for k in 33..34 {
                let i = (64u32 >> k) as usize;
                if thread_x() == 0 { t[i] = 1.0; }
            }",
        ),
        expect![[r#"
            error: index out of bounds: `i` is 32, and the last index of `t` there is 31 [TP0401]
            note: thread 0 writes it
              at `t[i]`
        "#]],
    );
    check(
        &warp(
            "let mut t = Shared::<[f32; 33]>::new();
            for k in 33..34 {
                let i = (64u32 >> k) as usize;
                if thread_x() == 0 { t[i] = 1.0; }
            }",
        ),
        expect![[r#"
            write `t[i]`: 1 × 4 B, 1/1 wavefronts
            shared: 132 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn division_by_zero() {
    check(
        &run_time("output[[thread_x() / n]] = 1.0;"),
        expect![[r#"
        error: division may be by zero: `thread_x() / n` [TP0501]
        note: nothing here says that the divisor is at least 1
        help: promise it in `requires(…)`, or guard the division with a comparison
          at `thread_x() / n`
    "#]],
    );
    check(
        &run_time(
            "if n > 0 {
                #[budget(excess_sectors = 31, because = \"of no interest\")]
                #[trust(race, because = \"another matter\")]
                output[[thread_x() / n]] = 1.0;
            }",
        ),
        expect![[r#"
            write `output[[thread_x() / n]]`: 1 × 4 B, 0/0 sectors; cost budgeted: of no interest
            launch: output.len() >= 64
            granted: `output[[thread_x() / n]]` (line 6) does not race: another matter
        "#]],
    );
}

/// A step that may be zero never ends; one that cannot be is a grid's width, or guarded.
#[test]
fn steps() {
    check(
        &run_time("for i in (thread_x()..64).step_by(n) { output[[i]] = 1.0; }"),
        expect![[r#"
        error: the step of a loop may be zero: `n` [TP0501]
        note: nothing here says that it is at least 1, and a step of zero never ends
        help: promise it in `requires(…)`, or guard the loop with a comparison
          at `n`
    "#]],
    );
    check(
        &run_time(
            "if n >= 1 { for i in (thread_x()..64).step_by(n) { #[trust(race, because = \"another matter\")] output[[i]] = 1.0; } }",
        ),
        expect![[r#"
            write `output[[i]]`: 1 × 4 B, 4/4 sectors
            launch: output.len() >= 64
            granted: `output[[i]]` (line 3) does not race: another matter
        "#]],
    );
    check(
        &run_time("for i in (thread_x()..64).step_by(32 * grid_x()) { output[[i]] = 1.0; }"),
        expect![[r#"
            write `output[[i]]`: 2 × 4 B, 8/8 sectors
            launch: output.len() >= 64
        "#]],
    );
}

/// A variable that every iteration moves by one number is known as well as the loop's own.
#[test]
fn moved_by_a_loop() {
    check(
        &run_time(
            "let mut j = thread_x();
            for _i in 0..n {
                if j < output.len() { output[[j]] = 1.0; }
                j += 32;
            }",
        ),
        expect![[r#"
            write `output[[j]]`: 1 × 4 B, 4/4 sectors
            launch: output.len() >= 64
        "#]],
    );
    // Here not: how far it moves depends on the thread.
    check(
        &run_time(
            "let mut j = 0;
            for _i in 0..n {
                if j < output.len() {
                    #[budget(excess_sectors = 31, because = \"of no interest\")]
                    #[trust(race, because = \"another matter\")]
                    output[[j]] = 1.0;
                }
                j += if thread_x() < m { 1 } else { 2 };
            }",
        ),
        expect![[r#"
            write `output[[j]]`: 1 × 4 B, 0/0 sectors; cost budgeted: of no interest
            launch: output.len() >= 64
            granted: `output[[j]]` (line 8) does not race: another matter
        "#]],
    );
}

/// Rows whose length only the launch knows.
#[test]
fn rows_of_any_length() {
    check(
        &kernel(
            "block = [32], grid = [output.len().div_ceil(32)], requires(output.len() == input.rows() * input.cols())",
            "input: &Matrix<f32>, output: &mut Tensor<f32, 1>",
            "let i = block_x() * 32 + thread_x();
            if i < output.len() {
                output[[i]] = input[[i / input.cols(), i % input.cols()]];
            }",
        ),
        expect![[r#"
            read `input[[i / input.cols(), i % input.cols()]]`: 1 × 4 B, 4/4 sectors
            write `output[[i]]`: 1 × 4 B, 4/4 sectors
            launch: output.len() == input.rows() * input.cols()
        "#]],
    );
}

/// The right side is certain, and takes statements of its own: what the left side says is not lost.
#[test]
fn a_certain_right_side() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(input.len() >= 64, output.len() >= 64)",
            "input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>, shift: isize",
            "let from = 2 * (thread_x() as isize + shift);
            if from >= 0 && from.rem_euclid(2) == 0 && from < 64 {
                #[budget(excess_sectors = 4, because = \"every second element\")]
                {
                    output[[from as usize]] = 0.0;
                }
            }",
        ),
        expect![[r#"
            write `output[[from as usize]]`: 1 × 4 B, 8/4 sectors, worst excess 4; cost budgeted: every second element
            launch: input.len() >= 64
            launch: output.len() >= 64
        "#]],
    );
}

/// What is not below zero by a guard alone has a quotient that is not, either.
#[test]
fn half_of_a_guarded_offset() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(input.len() >= 64, output.len() >= 64)",
            "input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>, shift: isize",
            "let from = thread_x() as isize + shift;
            if from >= 0 && from < 64 {
                #[budget(excess_sectors = 31, because = \"pairs\")]
                {
                    #[trust(race, because = \"another matter\")]
                    output[[from as usize / 2 + 1]] = 0.0;
                }
            }",
        ),
        expect![[r#"
            write `output[[from as usize / 2 + 1]]`: 1 × 4 B, 0/0 sectors; cost budgeted: pairs
            launch: input.len() >= 64
            launch: output.len() >= 64
            granted: `output[[from as usize / 2 + 1]]` (line 8) does not race: another matter
        "#]],
    );
}

/// What a type keeps of a number is one and the same each time, and known where the number is.
#[test]
fn what_a_type_keeps() {
    // A guard that converts as the access does.
    check(
        &run_time("let i = (n as u8) as usize;\nif i < 64 { output[[(n as u8) as usize]] = 1.0; }"),
        expect![[r#"
            write `output[[(n as u8) as usize]]`: 1 × 4 B, 1/1 sectors
            launch: output.len() >= 64
        "#]],
    );
    check(
        &run_time(
            "let v = n as u16 as usize;\nlet w = output.get_or([n as u16 as usize], 0.0);\noutput[[0]] = w;",
        ),
        expect![[r#"
            read `output.get_or([n as u16 as usize], 0.0)`: 1 × 4 B, 1/1 sectors
            write `output[[0]]`: 1 × 4 B, 1/1 sectors
            launch: output.len() >= 64
        "#]],
    );
    // One that says more of the number than of what is kept.
    check(
        &run_time(
            "let i = (n as u8) as usize;\nif i < 64 && n < 256 { output[[(n as u8) as usize]] = 1.0; }",
        ),
        expect![[r#"
            write `output[[(n as u8) as usize]]`: 1 × 4 B, 1/1 sectors
            launch: output.len() >= 64
        "#]],
    );
    check(
        &run_time("if n < 256 { output[[(n as u8) as usize]] = 1.0; }"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `((n as u8) as usize) < output.len()` [TP0402]
        help: guard it: `if ((n as u8) as usize) < output.len() { … }`, or promise what bounds it in `requires(…)`
          at `output[[(n as u8) as usize]]`
    "#]],
    );
    // Known for every thread.
    check(
        &run_time("output[[((thread_x() + 250) as u8 as usize) / 8]] = 1.0;"),
        expect![[r#"
        error: uncoalesced store: 2 sectors of 32 bytes where 1 is enough [TP0201]
        note: the lanes of warp 0 leave gaps between the bytes that they access, so 20 of 64 bytes are used
        help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
        help: or accept the cost: `#[budget(excess_sectors = 1, because = "…")]` on the statement
          at `output[[((thread_x() + 250) as u8 as usize) / 8]]`
        error: two threads may write one element of `output`: `output[[((thread_x() + 250) as u8 as usize) / 8]]` [TP0802]
        note: nothing here says that two threads of a block touch different elements
        help: let one thread write it, as in `if thread_x() == 0 { … }`, or update it by `atomic_add` and its like
          at `output[[((thread_x() + 250) as u8 as usize) / 8]]`
    "#]],
    );
    check(
        &run_time("output[[((thread_x() + 250) as u8 as usize) % 32]] = 1.0;"),
        expect![[r#"
        write `output[[((thread_x() + 250) as u8 as usize) % 32]]`: 1 × 4 B, 4/4 sectors
        launch: output.len() >= 64
    "#]],
    );
    // Patterns of a few bits.
    check(
        &run_time("output[[thread_x() ^ (n as u8 as usize % 32)]] = 1.0;"),
        expect![[r#"
        error: whether this access coalesces is not known [TP0201]
        note: the address depends on a bit pattern, and may differ from lane to lane
        help: take responsibility for the cost: `#[budget(excess_sectors = 31, because = "…")]` on the statement
          at `output[[thread_x() ^ (n as u8 as usize % 32)]]`
        error: two threads may write one element of `output`: `output[[thread_x() ^ (n as u8 as usize % 32)]]` [TP0802]
        note: nothing here says that two threads of a block touch different elements: the index depends on a bit pattern
        help: let one thread write it, as in `if thread_x() == 0 { … }`, or update it by `atomic_add` and its like
          at `output[[thread_x() ^ (n as u8 as usize % 32)]]`
    "#]],
    );
}
