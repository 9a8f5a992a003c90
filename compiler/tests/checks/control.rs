//! Loops, exits, and what the proofs make of them.

use crate::harness::{check, kernel, sites, warp};
use expect_test::expect;

/// A kernel of blocks of 256 threads over two vectors of one length.
fn pieces(grid: &str, body: &str) -> String {
    kernel(
        &format!("block = [256], grid = {grid}, requires(output.len() == input.len())"),
        "input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>",
        body,
    )
}

/// A guard, and what says the same with an early exit.
#[test]
fn early_return_guards_like_an_if() {
    let bodies = [
        "if i < n { output[[i]] = 2.0 * input[[i]]; }",
        "if i >= n { return; } output[[i]] = 2.0 * input[[i]];",
        "if i < n { } else { return } output[[i]] = 2.0 * input[[i]];",
        "'all: { if !(i < n) { break 'all; } output[[i]] = 2.0 * input[[i]]; }",
        "fn double(from: &Tensor<f32, 1>, i: usize) -> f32 {
            if i >= from.len() { return 0.0; }
            let value = from[[i]];
            value + value
        }
        let value = double(input, i);
        if i >= n { return; }
        output[[i]] = value;",
        "match i { _ if i >= n => return, i => { output[[i]] = 2.0 * input[[i]]; } }",
    ];
    for body in bodies {
        let body = format!("let i = block_x() * 256 + thread_x(); let n = input.len(); {body}");
        assert_eq!(costs(&pieces("[input.len().div_ceil(256)]", &body)), [(8, 32, 0), (8, 32, 0)], "{body}");
    }
}

/// The loops in which the threads of a block go through a vector together.
#[test]
fn grid_stride_loops() {
    let bodies = [
        "for i in (thread_x()..n).step_by(256) { output[[i]] = input[[i]]; }",
        "let mut i = thread_x(); while i < n { output[[i]] = input[[i]]; i += 256; }",
        "let mut i = thread_x(); loop { if i >= n { break; } output[[i]] = input[[i]]; i += 256; }",
        "let mut i = thread_x(); loop { if i >= n { return; } output[[i]] = input[[i]]; i += 256; }",
        "let mut i = thread_x(); while true { if i >= n { break; } output[[i]] = input[[i]]; i += 256; }",
        "let mut i = thread_x(); let mut rounds = 0; loop { rounds += 1; if i >= n { break; } output[[i]] = input[[i]]; i += 256; }",
        "for i in (thread_x()..100000000).step_by(256) { if i >= n { break; } output[[i]] = input[[i]]; }",
    ];
    for body in bodies {
        let body = format!("let n = input.len(); {body}");
        assert_eq!(costs(&pieces("[1]", &body)), [(8, 32, 0), (8, 32, 0)], "{body}");
    }
}

/// Instructions, sectors, and the largest excess of each access of a kernel that must be accepted.
#[track_caller]
fn costs(source: &str) -> Vec<(u64, u64, u32)> {
    let sites = sites(source).into_iter();
    sites.map(|site| (site.instructions, site.sectors, site.worst_excess_sectors)).collect()
}

/// What the loop's state is known to be is used: the tree of a reduction, powers of two.
#[test]
fn known_states() {
    check(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            t[thread_x()] = input[[thread_x()]];
            let mut j = 16;
            while j > 0 {
                sync_threads();
                if thread_x() < j { t[thread_x()] += t[thread_x() + j]; }
                j >>= 1;
            }
            let mut d = 1;
            while d < 32 {
                sync_threads();
                if thread_x() >= d { t[thread_x() - d] = 0.0; }
                d *= 2;
            }
            sync_threads();
            output[[thread_x()]] = t[thread_x()];",
        ),
        expect![[r#"
            read `input[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            write `t[thread_x()]`: 1 × 4 B, 1/1 wavefronts
            read `t[thread_x() + j]`: 5 × 4 B, 5/5 wavefronts
            read `t[thread_x()]`: 5 × 4 B, 5/5 wavefronts
            write `t[thread_x()]`: 5 × 4 B, 5/5 wavefronts
            write `t[thread_x() - d]`: 5 × 4 B, 5/5 wavefronts
            read `t[thread_x()]`: 1 × 4 B, 1/1 wavefronts
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            shared: 128 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn outside_after_a_loop() {
    check(
        &warp("let mut i = thread_x(); while i < input.len() { i += 32; } output[[i]] = 0.0;"),
        expect![[r#"
            error: whether this access coalesces is not known [TP0201]
            note: the address depends on the iterations, and may differ from lane to lane
            help: take responsibility for the cost: `#[budget(excess_sectors = 31, because = "…")]` on the statement
              at `output[[i]]`
            error: index may be out of bounds: nothing here says that `i < output.len()` [TP0402]
            note: `i` depends on a value from memory or on arithmetic that may wrap
            help: guard it: `if i < output.len() { … }`, or promise what bounds it in `requires(…)`
              at `output[[i]]`
        "#]],
    );
    check(
        &warp(
            "let mut i = 0usize; while i * 2 < input.len() { i += 1; } if i < output.len() { if thread_x() == 0 { output[[i]] = 0.0; } }",
        ),
        expect![[r#"
            write `output[[i]]`: 1 × 4 B, 1/1 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

/// Threads go round as their own data say: what is there is any subset, and differs from lane to lane afterwards.
#[test]
fn divergent_loops() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(input.len() >= 4096, output.len() >= 4096)",
            "input: &Tensor<u32, 1>, output: &mut Tensor<u32, 1>",
            "let mut n = input[[thread_x()]];
            let mut k = 0usize;
            while n > 1 && k < 100 {
                n /= 2;
                k += 1;
            }
            output[[k]] = n;",
        ),
        expect![[r#"
            error: whether this access coalesces is not known [TP0201]
            note: the address depends on the iterations, and may differ from lane to lane
            help: take responsibility for the cost: `#[budget(excess_sectors = 31, because = "…")]` on the statement
              at `output[[k]]`
            error: two threads may write one element of `output`: `output[[k]]` [TP0802]
            note: nothing here says that two threads of a block touch different elements: the index depends on the iterations
            help: let one thread write it, as in `if thread_x() == 0 { … }`, or update it by `atomic_add` and its like
              at `output[[k]]`
        "#]],
    );
}

#[test]
fn conditions_that_load() {
    check(
        &warp(
            "let mut i = 0;
            while i < 8 && input[[i * 32 + thread_x()]] > 0.0 { i += 1; }
            if i < 8 { output[[thread_x()]] = 1.0; }",
        ),
        expect![[r#"
            read `input[[i * 32 + thread_x()]]`: 1 × 4 B, 4/4 sectors
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn unroll() {
    check(
        &warp(
            "let mut a = [0.0; 4];
            #[unroll]
            for k in 0..4 { a[k] = input[[k * 32 + thread_x()]]; }
            #[unroll(2)]
            for k in 0..8 { output[[k * 32 + thread_x()]] = a[3]; }
            #[no_unroll]
            for k in (0..4).rev() { output[[k * 32 + thread_x()]] = a[1]; }",
        ),
        expect![[r#"
            read `input[[k * 32 + thread_x()]]`: 4 × 4 B, 16/16 sectors
            write `output[[k * 32 + thread_x()]]`: 8 × 4 B, 32/32 sectors
            write `output[[k * 32 + thread_x()]]`: 4 × 4 B, 16/16 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    // Registers have no addresses: what is not unrolled cannot choose among them.
    check(
        &warp(
            "let mut a = [0.0; 4];
            #[no_unroll]
            for k in 0..4 { for j in 0..4 { a[j] += input[[k * 32 + thread_x()]]; } a[k] = 0.0; }
            let mut k = 0;
            while k < 4 { a[k] = 1.0; k += 1; }",
        ),
        expect![[r#"
            error: a register array is indexed by a value that is not constant [TP0601]
            note: `k` must be one number for all threads once constant loops are unrolled: registers have no addresses, so the array would move to slow local memory
            help: index it by constants and by variables of loops with constant bounds
              at `k`
            error: a register array is indexed by a value that is not constant [TP0601]
            note: `k` must be one number for all threads once constant loops are unrolled: registers have no addresses, so the array would move to slow local memory
            help: index it by constants and by variables of loops with constant bounds
              at `k`
        "#]],
    );
    check(
        &warp("#[unroll(0)] for k in 0..4 { } #[unroll] while true { break; }"),
        expect![[r#"
            error: this says nothing about how to unroll the loop [TP0003]
            help: write `#[unroll]` for all iterations, `#[unroll(4)]` for so many (at most 1024), or `#[no_unroll]`
              at `#[unroll(0)]`
            error: this attribute means nothing in a kernel [TP0002]
            help: a statement can have `#[budget(…)]` and `#[trust(…)]`, a `for` loop also `#[unroll]`, `#[unroll(4)]` or `#[no_unroll]`
              at `#[unroll]`
        "#]],
    );
}

#[test]
fn refused() {
    check(
        &warp("loop { let x = 1; }"),
        expect![[r#"
        error: this loop never ends [TP0002]
        help: leave it with `break` or `return`
          at `loop`
    "#]],
    );
    check(
        &warp("let x = if let 1 = 2 { 3 } else { 4 }; while let 3 = 4 { }"),
        expect![[r#"
        error: a kernel has no `if let` and no `while let` [TP0002]
        help: write a comparison
          at `let 1 = 2`
        error: a kernel has no `if let` and no `while let` [TP0002]
        help: write a comparison
          at `let 3 = 4`
    "#]],
    );
    check(
        &warp("for i in 0.. { }"),
        expect![[r#"
            error: a kernel's `for` runs over a range or an array [TP0002]
            help: write `for i in start..end`, with `..=`, `.step_by(step)` and `.rev()` as needed, or `for x in [16, 8, 4]`
              at `0..`
        "#]],
    );
    check(
        &warp("match input[[0]] > 1.0 { true => { }, Some(x) => { }, _ => { } }"),
        expect![[r#"
        error: a kernel's `match` knows numbers, ranges, `|`, `_`, names and tuples of them [TP0002]
        help: compare with `if` and `else`
          at `Some(x)`
    "#]],
    );
    check(
        &warp("let a = if true { [1, 2] } else { [2, 3] };"),
        expect![[r#"
            error: an array cannot be the value of a choice in a kernel [TP0002]
            help: declare it before, and assign its elements in the sides
              at `if true { [1, 2] } else { [2, 3] }`
        "#]],
    );
}

/// A variable that threads take with them when they leave is not what those that stay have.
#[test]
fn leaving_with_another_value() {
    check(
        &warp(
            "let mut i = 0;
            loop {
                let x = input[[i * 32 + thread_x()]];
                if x > 0.5 { i = 1 + thread_x() * 40; break; }
                if i >= 64 { break; }
                i += 1;
            }
            output[[i]] = 1.0;",
        ),
        expect![[r#"
            error: index may be out of bounds: nothing here says that `i * 32 + thread_x() < input.len()` [TP0402]
            help: guard it: `if i * 32 + thread_x() < input.len() { … }`, or promise what bounds it in `requires(…)`
              at `input[[i * 32 + thread_x()]]`
            error: whether this access coalesces is not known [TP0201]
            note: the address depends on `i`, which the loop changes, and may differ from lane to lane
            help: take responsibility for the cost: `#[budget(excess_sectors = 31, because = "…")]` on the statement
              at `output[[i]]`
            error: index may be out of bounds: nothing here says that `i < output.len()` [TP0402]
            note: `i` depends on a value from memory or on arithmetic that may wrap
            help: guard it: `if i < output.len() { … }`, or promise what bounds it in `requires(…)`
              at `output[[i]]`
        "#]],
    );
    check(
        &kernel(
            "block = [32], grid = [1], requires(input.len() >= 4096, output.len() >= 4096)",
            "input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>",
            "let limit = input[[thread_x()]];
            let mut i = 0;
            loop {
                if limit < i as f32 { break; }
                if i >= 100 { break; }
                i += 1;
            }
            output[[i * 32 + thread_x()]] = 1.0;",
        ),
        expect![[r#"
            error: whether this access coalesces is not known [TP0201]
            note: the address depends on the iterations, and may differ from lane to lane
            help: take responsibility for the cost: `#[budget(excess_sectors = 31, because = "…")]` on the statement
              at `output[[i * 32 + thread_x()]]`
        "#]],
    );
    check(
        &kernel(
            "block = [32], grid = [1], requires(input.len() >= 4096, output.len() >= 4096)",
            "input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>, limit: f32",
            "let mut i = 0;
            loop {
                if limit < i as f32 { break; }
                if i >= 100 { break; }
                i += 1;
            }
            output[[i * 32 + thread_x()]] = 1.0;",
        ),
        expect![[r#"
            write `output[[i * 32 + thread_x()]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

/// Where a condition fails for one reason in some lanes and for another in others, each lane knows its own.
#[test]
fn else_of_several_reasons() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(n <= 100, output.len() >= 4096)",
            "output: &mut Tensor<f32, 1>, n: usize",
            "if thread_x() < 8 && n < 5 { return; }
            if thread_x() < 8 { output[[thread_x() + (n - 5)]] = 0.0; }",
        ),
        expect![[r#"
            write `output[[thread_x() + (n - 5)]]`: 1 × 4 B, 1/1 sectors
            launch: n <= 100
            launch: output.len() >= 4096
        "#]],
    );
}

/// A loop over registers is judged for every number that it reads, however often it is come to.
#[test]
fn loops_over_registers_for_other_numbers() {
    check(
        &warp(
            "let mut sums = [0.0; 8];
            for k in 0..4 {
                let value = input[[32 * k + thread_x()]];
                for i in 0..4 { sums[i] += value; }
                for i in 0..4 { sums[3 * (k / 2) + i] += value; }
                for i in 0..4 { sums[2 * k + i] += value; }
            }
            output[[thread_x()]] = sums[7];",
        ),
        expect![[r#"
            error: index of registers out of bounds: it is 8, and there are 8 [TP0601]
            note: in `sums[2 * k + i]`, once constant loops are unrolled
            help: keep it below 8
              at `sums[2 * k + i]`
        "#]],
    );
}

/// A branch that no thread takes assigns nothing, also not the variables that its own condition is made of.
#[test]
fn branches_that_no_thread_takes() {
    let never = "46 <= 44 && input[[i]] > 0.0";
    let always = "44 <= 46 || input[[i]] > 0.0";
    for exit in ["continue;", "break;", "return;"] {
        for guard in [
            format!("if {never} {{ {exit} }}"),
            format!("if {always} {{}} else {{ {exit} }}"),
            format!("if {never} {{ if i < 2 {{ {exit} }} }}"),
        ] {
            let body = format!("for i in 0..4 {{ {guard} output[[32 * i + thread_x()]] = 1.0; }}");
            let written = sites(&warp(&body)).pop().expect("the store");
            assert_eq!((written.instructions, written.sectors), (4, 16), "{guard}");
        }
    }
}
