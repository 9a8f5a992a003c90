//! Helper functions: inlined where they are called.

use crate::harness::{check, kernel, warp};
use expect_test::expect;

#[test]
fn by_value() {
    check(
        &warp(
            "fn scale(x: f32, by: f32) -> f32 {
                const HALF: f32 = 0.5;
                let mut x = x;
                x *= by;
                HALF * x
            }
            fn place(row: usize) -> usize { row * 32 + thread_x() }
            for k in 0..4 {
                output[[place(k)]] = scale(input[[place(k)]], 3.0);
            }",
        ),
        expect![[r#"
            read `input[[place(k)]]`: 4 × 4 B, 16/16 sectors
            write `output[[place(k)]]`: 4 × 4 B, 16/16 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn by_reference() {
    check(
        &warp(
            "fn push(values: &mut [f32; 4], place: usize, value: f32, sum: &mut f32) {
                values[place] = value;
                *sum += value;
            }
            fn fill<const N: usize, T>(values: &mut [[T; N]; 2], value: T) {
                for i in 0..2 {
                    for k in 0..N { values[i][k] = value; }
                }
            }
            fn total<const N: usize>(values: &[f32; N]) -> f32 {
                let mut sum = 0.0;
                for i in 0..N { sum += values[i]; }
                sum
            }
            fn bump(x: &mut f32) { *x += 1.0; }
            let (mut values, mut sum) = ([0.0; 4], 0.0);
            let mut square = [[0.0f32; 3]; 2];
            fill(&mut square, 2.0);
            bump(&mut square[1][2]);
            for i in 0..4 {
                push(&mut values, i, input[[i * 32 + thread_x()]], &mut sum);
            }
            output[[thread_x()]] = total(&values) + total(&square[1]) + total(&[1.0, sum]) + square[1][2];",
        ),
        expect![[r#"
            read `input[[i * 32 + thread_x()]]`: 4 × 4 B, 16/16 sectors
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn tiles_and_tensors() {
    check(
        &kernel(
            "block = [32, 8], grid = [1], requires(input.rows() >= 32, input.cols() >= 32, output.rows() >= 32, output.cols() >= 32)",
            "input: &Matrix<f32>, output: &mut Matrix<f32>",
            "type Tile = [[f32; 32]; 32];
            let mut tile = Shared::<Tile, Pad<1>>::new();
            fn fill<const R: usize>(tile: &mut Shared<[[f32; 32]; R], Pad<1>>, from: &Matrix<f32>) {
                for k in (0..R).step_by(8) {
                    tile[k + thread_y()][thread_x()] = from[[k + thread_y(), thread_x()]];
                }
            }
            fn drain<L>(tile: &Shared<Tile, L>, to: &mut Matrix<f32>) {
                for k in (0..32).step_by(8) {
                    to[[k + thread_y(), thread_x()]] = tile[thread_x()][k + thread_y()];
                }
            }
            fill(&mut tile, input);
            sync_threads();
            drain(&tile, output);",
        ),
        expect![[r#"
            read `from[[k + thread_y(), thread_x()]]`: 32 × 4 B, 128/128 sectors, in `fill`, called on line 15
            write `tile[k + thread_y()][thread_x()]`: 32 × 4 B, 32/32 wavefronts, in `fill`, called on line 15
            read `tile[thread_x()][k + thread_y()]`: 32 × 4 B, 32/32 wavefronts, in `drain`, called on line 17
            write `to[[k + thread_y(), thread_x()]]`: 32 × 4 B, 128/128 sectors, in `drain`, called on line 17
            shared: 4224 bytes
            launch: input.rows() >= 32
            launch: input.cols() >= 32
            launch: output.rows() >= 32
            launch: output.cols() >= 32
        "#]],
    );
}

/// Each call has its own sites, and an error names the call that it is about.
#[test]
fn call_paths() {
    check(
        &warp(
            "fn inner(from: &Tensor<f32, 1>, by: usize) -> f32 { from[[thread_x() * by]] }
            fn outer(from: &Tensor<f32, 1>, by: usize) -> f32 {
                inner(from, 1)
                    + inner(from, by)
            }
            output[[thread_x()]] = outer(input, 1)
                + outer(input, 2);",
        ),
        expect![[r#"
            error: uncoalesced load: 8 sectors of 32 bytes where 4 are enough [TP0201]
            note: neighbouring lanes of warp 0 are 8 bytes apart, so 128 of 256 bytes are used
            note: in `inner`, called on line 6
            note: in `outer`, called on line 9
            help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
            help: or accept the cost: `#[budget(excess_sectors = 4, because = "…")]` on the statement
              at `from[[thread_x() * by]]`
        "#]],
    );
    check(
        &warp(
            "fn get(from: &Tensor<f32, 1>) -> f32 { from[[thread_x()]] + from[[32 + thread_x()]] }
            output[[thread_x()]] = get(input) + get(input);",
        ),
        expect![[r#"
            read `from[[thread_x()]]`: 1 × 4 B, 4/4 sectors, in `get`, called on line 4, again on [3]
            read `from[[32 + thread_x()]]`: 1 × 4 B, 4/4 sectors, in `get`, called on line 4, again on [3]
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

/// A helper sees items, wherever they stand, and not its caller's variables.
#[test]
fn hygiene() {
    check(
        &warp(
            "let width = 4usize;
            fn place() -> usize { thread_x() * WIDTH }
            fn twice() -> usize { place() + place() }
            {
                const WIDTH: usize = 2;
                let place = 7usize;
                #[trust(race, because = \"another matter\")]
                output[[twice() * 16 + place]] = 0.0;
            }
            const WIDTH: usize = width_of();
            fn width_of() -> usize { 0 }",
        ),
        expect![[r#"
            write `output[[twice() * 16 + place]]`: 1 × 4 B, 1/1 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
            granted: `output[[twice() * 16 + place]]` (line 10) does not race: another matter
        "#]],
    );
    check(
        &warp("let offset = 4usize; fn f() -> usize { offset } output[[f()]] = 0.0;"),
        expect![[r#"
            left to rustc: the macro cannot see `offset`, which is declared outside the kernel [TP0005]
            note: in `f`, called on line 3
            help: write the value out, declare it in the kernel (`const N: usize = 32;`) or beside it in a `#[tiled_module] mod`, or pass it as an argument
              at `offset`
        "#]],
    );
}

#[test]
fn one_budget_for_all_calls() {
    check(
        &warp(
            "fn get(from: &Tensor<f32, 1>, by: usize) -> f32 {
                #[budget(excess_sectors = 4, because = \"strided\")]
                let value = from[[thread_x() * by]];
                value
            }
            output[[thread_x()]] = get(input, 1) + get(input, 2);",
        ),
        expect![[r#"
            read `from[[thread_x() * by]]`: 1 × 4 B, 4/4 sectors, in `get`, called on line 8
            read `from[[thread_x() * by]]`: 1 × 4 B, 8/4 sectors, worst excess 4, in `get`, called on line 8; cost budgeted: strided
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn recursion() {
    check(
        &warp("fn f(n: u32) -> u32 { f(n - 1) } let _ = f(3);"),
        expect![[r#"
        error: the helper function `f` calls itself [TP0002]
        note: a kernel cannot recurse: every call is inlined, and a GPU thread has no stack to speak of
        note: in `f`, called on line 3
        help: write a loop
          at `f(n - 1)`
    "#]],
    );
    check(
        &warp(
            "fn f(n: u32) -> u32 { g(n) + 1 } fn g(n: u32) -> u32 { h(n) } fn h(n: u32) -> u32 { f(n) } let _ = f(3);",
        ),
        expect![[r#"
            error: the helper function `f` calls itself, by way of `g` and `h` [TP0002]
            note: a kernel cannot recurse: every call is inlined, and a GPU thread has no stack to speak of
            note: in `h`, called on line 3
            note: in `g`, called on line 3
            note: in `f`, called on line 3
            help: write a loop
              at `f(n)`
        "#]],
    );
}

#[test]
fn refused() {
    check(
        &warp("fn f(v: &[f32]) -> f32 { v[0] } let a = [0.0; 4]; let _ = f(&a);"),
        expect![[r#"
        error: a helper function cannot take a slice: how long it is must be known [TP0002]
        help: take an array, `values: &[f32; N]`, with `const N: usize` if lengths differ
          at `[f32]`
    "#]],
    );
    check(
        &warp("fn f(g: fn(f32) -> f32) -> f32 { g(1.0) } fn h(x: f32) -> f32 { x } let _ = f(h);"),
        expect![[r#"
        error: a kernel has no function pointers: every call is inlined [TP0002]
        help: call the function by its name
          at `fn(f32) -> f32`
    "#]],
    );
    check(
        &warp("fn f(x: impl Copy) { } f(1); fn g(x: &dyn Copy) { } g(&2);"),
        expect![[r#"
        error: a helper function cannot take `impl Trait` [TP0002]
        help: write a type parameter: `fn helper<T>(value: T)`
          at `impl Copy`
        error: a kernel has no trait objects [TP0002]
        help: a type parameter takes several types: `fn helper<T>(value: T)`
          at `dyn Copy`
    "#]],
    );
    check(
        &warp("fn h(x: f32) -> f32 { x } let g = h;"),
        expect![[r#"
        error: a function is not a value in a kernel [TP0002]
        help: call it: a GPU thread has no function pointers here, every call is inlined
          at `h`
    "#]],
    );
    check(
        &warp("fn f(x: &mut f32) { } f(&mut output[[3]]);"),
        expect![[r#"
        error: a reference to a part of a tile, a tensor or a vector cannot be passed to a helper function [TP0002]
        help: pass the whole of it with the index, or pass the value and return the new one
          at `output[[3]]`
    "#]],
    );
    check(
        &warp("fn f(x: f32) { } f(1, 2); f(1u32); fn g() -> f32 { 1u8 } g();"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `f(1, 2)`
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `f(1u32)`
            left to rustc: the types here do not fit a kernel [TP0006]
            note: in `g`, called on line 3
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `-> f32`
        "#]],
    );
    check(
        &warp("unsafe fn f() { } f(); extern \"C\" fn g() { } g(); async fn h() { } h();"),
        expect![[r#"
        error: a kernel cannot use `unsafe` [TP0002]
        help: remove the `unsafe`: what a kernel can do is checked
          at `unsafe`
        error: a helper function has no ABI: it is inlined [TP0002]
        help: remove `extern`
          at `extern "C"`
        error: a helper function cannot be `async` [TP0002]
        help: remove `async`
          at `async`
    "#]],
    );
    check(
        &warp("let a = [0.0f32; 4]; let scale = |x: f32| x * a[0]; let _ = scale(1.0);"),
        expect![[r#"
            error: a kernel cannot have closures but as the argument of `map` [TP0002]
            note: it captures `a`, which a function takes as arguments
            help: write a function inside the kernel: `fn scale(x: f32, a: &[f32; 4]) -> f32 { … }`
              at `|x: f32| x * a[0]`
        "#]],
    );
    check(
        &warp(
            "fn a() { } fn b() { a(); a(); a(); a(); a(); a(); a(); a(); } fn c() { b(); b(); b(); b(); b(); b(); b(); b(); }
            fn d() { c(); c(); c(); c(); c(); c(); c(); c(); } fn e() { d(); d(); d(); d(); d(); d(); d(); d(); } e();",
        ),
        expect![[r#"
            error: a kernel with more than 2000 calls of helper functions [TP0002]
            help: call them in loops, or fewer of them: each call is a copy of the function
              at `kernel`
        "#]],
    );
}
