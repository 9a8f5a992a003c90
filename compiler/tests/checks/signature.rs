//! The attribute, the parameters and the item that a kernel is made of.

use crate::harness::{check, kernel};
use expect_test::expect;

#[test]
fn attributes() {
    let of = |arguments: &str| kernel(arguments, "n: usize, input: &Matrix<f32>", "");
    check(
        &of(""),
        expect![[r#"
            error: kernel `kernel` has no `block` and no `grid` [TP0003]
            note: `block` gives the threads of a block and `grid` the blocks of the grid, each by up to three extents
            help: write `#[tiled_kernel(block = [32, 8], grid = [input.cols().div_ceil(32), input.rows().div_ceil(8)])]`
              at `kernel`
        "#]],
    );
    check(
        &of("block = [32]"),
        expect![[r#"
            error: kernel `kernel` has no `grid` [TP0003]
            note: `block` gives the threads of a block and `grid` the blocks of the grid, each by up to three extents
            help: write `#[tiled_kernel(block = [32], grid = [input.cols().div_ceil(32), input.rows()])]`
              at `kernel`
        "#]],
    );
    check(
        &of("grid = [1]"),
        expect![[r#"
            error: kernel `kernel` has no `block` [TP0003]
            note: `block` gives the threads of a block and `grid` the blocks of the grid, each by up to three extents
            help: write `#[tiled_kernel(block = [32, 8], grid = [1])]`
              at `kernel`
        "#]],
    );
    check(
        &of("block = [32], grid = [1], arch = 90"),
        expect![[r#"
            error: `90` is no architecture that kernels are compiled for [TP0003]
            note: those are sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_103, sm_110, sm_120, sm_121
              at `90`
        "#]],
    );
    check(
        &of("block = [32], grid = [1], colour = \"red\""),
        expect![[r#"
            error: unknown argument `colour` [TP0003]
            note: a kernel takes `block`, `grid`, `requires(…)`, `covers(…)`, `instances(…)`, `arch(…)`, `min_blocks`, `trust(…)` and `crate = path`
              at `colour`
        "#]],
    );
    check(
        &of("block = [32, 1, 1, 1], grid = [1]"),
        expect![[r#"
            error: `block` has 4 extents, and a GPU has three [TP0003]
              at `32, 1, 1, 1`
        "#]],
    );
    check(
        &of("block = [32] grid = [1]"),
        expect![[r#"
        error: expected `,` [TP0003]
        help: write `#[tiled_kernel(block = [32, 8], grid = [a.cols().div_ceil(32), a.rows().div_ceil(32)])]`
          at `grid`
    "#]],
    );
    check(&of("block = 32, grid = 1"), expect![[""]]);
    check(
        &of("block = [n], grid = [1]"),
        expect![[r#"
            error: an extent of `block` must be known at compile time [TP0007]
            help: write an integer, or a `const` beside the kernel in a `#[tiled_module] mod`
              at `n`
        "#]],
    );
    check(
        &of("block = [32], grid = [thread_x()]"),
        expect![[r#"
        error: the launcher cannot evaluate this expression [TP0003]
        note: `grid` and `requires` are evaluated on the host, before any thread or element exists
        help: use extents (`input.rows()`), strides (`input.pitch()`), scalar arguments and integer constants
          at `thread_x()`
    "#]],
    );
    check(
        &of("block = [32], grid = [n / 2], requires(n > 1.5)"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `n > 1.5`
        "#]],
    );
    check(
        &of("block = [32], grid = [input[[0, 0]] as usize]"),
        expect![[r#"
        error: the launcher cannot evaluate this expression [TP0003]
        note: `grid` and `requires` are evaluated on the host, before any thread or element exists
        help: use extents (`input.rows()`), strides (`input.pitch()`), scalar arguments and integer constants
          at `input[[0, 0]] as usize`
    "#]],
    );
    check(
        &of("block = [32], grid = [1], requires(input.rows())"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `input.rows()`
        "#]],
    );
    check(&of("block = [2 * 16], grid = [n]"), expect![[""]]);
    check(
        &of("block"),
        expect![[r#"
        error: expected `=` [TP0003]
        help: write `#[tiled_kernel(block = [32, 8], grid = [a.cols().div_ceil(32), a.rows().div_ceil(32)])]`
          at ``
    "#]],
    );
    check(
        &of("block = [32], grid = [1], block = [64]"),
        expect![[r#"
        error: `block` is given twice [TP0003]
        help: give it once
          at `block`
    "#]],
    );
}

#[test]
fn parameters() {
    let of = |parameters: &str| kernel("block = [32], grid = [1]", parameters, "");
    check(
        &of("input: Matrix<f32>"),
        expect![[r#"
            error: a kernel cannot take a parameter of type `Matrix<f32>` [TP0004]
            note: a tensor is a reference to `Tensor<T, RANK>` with RANK from 1 to 5, or to `Matrix<T>`; a value is a number, bool, usize or isize
            help: take it by reference: `&Matrix<f32>` to read it, `&mut Matrix<f32>` to write it
              at `Matrix<f32>`
        "#]],
    );
    check(
        &of("input: &[f32]"),
        expect![[r#"
            error: a kernel cannot take a parameter of type `&[f32]` [TP0004]
            note: a tensor is a reference to `Tensor<T, RANK>` with RANK from 1 to 5, or to `Matrix<T>`; a value is a number, bool, usize or isize
            help: write `&Tensor<f32, 1>` to read it, `&mut Tensor<f32, 1>` to write it: a tensor knows its length
              at `&[f32]`
        "#]],
    );
    check(
        &of("input: &Tensor<f32, 6>"),
        expect![[r#"
            error: a kernel cannot take a parameter of type `&Tensor<f32, 6>` [TP0004]
            note: a tensor is a reference to `Tensor<T, RANK>` with RANK from 1 to 5, or to `Matrix<T>`; a value is a number, bool, usize or isize
            help: write `input: &Matrix<f32>` or `output: &mut Tensor<f32, 3>`
              at `&Tensor<f32, 6>`
        "#]],
    );
    check(
        &of("input: &Tensor<f32>"),
        expect![[r#"
            error: a kernel cannot take a parameter of type `&Tensor<f32>` [TP0004]
            note: a tensor is a reference to `Tensor<T, RANK>` with RANK from 1 to 5, or to `Matrix<T>`; a value is a number, bool, usize or isize
            help: write `input: &Matrix<f32>` or `output: &mut Tensor<f32, 3>`
              at `&Tensor<f32>`
        "#]],
    );
    check(
        &of("input: &Matrix<usize>"),
        expect![[r#"
            error: a kernel cannot take a parameter of type `&Matrix<usize>` [TP0004]
            note: a tensor is a reference to `Tensor<T, RANK>` with RANK from 1 to 5, or to `Matrix<T>`; a value is a number, bool, usize or isize
            note: an element is i8 to i64, u8 to u64, f16, bf16, f32 or f64, by that name
            help: write one of them: `u32` or `u64` for `usize`, `i32` or `i64` for `isize`, `u8` for `bool`
              at `&Matrix<usize>`
        "#]],
    );
    check(
        &of("input: &Matrix<bool>"),
        expect![[r#"
            error: a kernel cannot take a parameter of type `&Matrix<bool>` [TP0004]
            note: a tensor is a reference to `Tensor<T, RANK>` with RANK from 1 to 5, or to `Matrix<T>`; a value is a number, bool, usize or isize
            note: an element is i8 to i64, u8 to u64, f16, bf16, f32 or f64, by that name
            help: write one of them: `u32` or `u64` for `usize`, `i32` or `i64` for `isize`, `u8` for `bool`
              at `&Matrix<bool>`
        "#]],
    );
    check(
        &of("input: String"),
        expect![[r#"
            error: a kernel cannot take a parameter of type `String` [TP0004]
            note: a tensor is a reference to `Tensor<T, RANK>` with RANK from 1 to 5, or to `Matrix<T>`; a value is a number, bool, usize or isize
            note: a kernel has no text
            help: write `input: &Matrix<f32>` or `output: &mut Tensor<f32, 3>`
              at `String`
        "#]],
    );
    check(
        &of("(a, b): (u32, u32)"),
        expect![[r#"
        error: a kernel's parameter has a plain name [TP0004]
        help: write `input: &Matrix<f32>`
          at `(a, b): (u32, u32)`
    "#]],
    );
    check(
        &of("&mut self"),
        expect![[r#"
        error: a kernel's parameter has a plain name [TP0004]
        help: write `input: &Matrix<f32>`
          at `&mut self`
    "#]],
    );
    check(
        &of("input: &mut u32"),
        expect![[r#"
            error: a kernel cannot take a parameter of type `&mut u32` [TP0004]
            note: a tensor is a reference to `Tensor<T, RANK>` with RANK from 1 to 5, or to `Matrix<T>`; a value is a number, bool, usize or isize
            help: write `input: &Matrix<f32>` or `output: &mut Tensor<f32, 3>`
              at `&mut u32`
        "#]],
    );
    check(
        &of("n: char"),
        expect![[r#"
            error: a kernel cannot take a parameter of type `char` [TP0004]
            note: a tensor is a reference to `Tensor<T, RANK>` with RANK from 1 to 5, or to `Matrix<T>`; a value is a number, bool, usize or isize
            help: write `input: &Matrix<f32>` or `output: &mut Tensor<f32, 3>`
              at `char`
        "#]],
    );
    check(
        &of("input: &f32"),
        expect![[r#"
            error: a kernel cannot take a parameter of type `&f32` [TP0004]
            note: a tensor is a reference to `Tensor<T, RANK>` with RANK from 1 to 5, or to `Matrix<T>`; a value is a number, bool, usize or isize
            help: write `input: &Matrix<f32>` or `output: &mut Tensor<f32, 3>`
              at `&f32`
        "#]],
    );
    check(
        &of("mut n: usize"),
        expect![[r#"
        error: a kernel's parameter cannot be `mut` [TP0004]
        note: all threads share it
        help: give each thread its own: `let mut n = n;`
          at `mut`
    "#]],
    );
    check(
        &of("input: &Tensor<f32, N>"),
        expect![[r#"
            error: a kernel cannot take a parameter of type `&Tensor<f32, N>` [TP0004]
            note: a tensor is a reference to `Tensor<T, RANK>` with RANK from 1 to 5, or to `Matrix<T>`; a value is a number, bool, usize or isize
            help: write `input: &Matrix<f32>` or `output: &mut Tensor<f32, 3>`
              at `&Tensor<f32, N>`
        "#]],
    );
    check(&of("input: &Matrix<f16>"), expect![""]);
    check(
        &of(
            "a: bool, b: i8, c: u64, d: f64, e: usize, f: &Tensor<i64, 1>, g: &mut Tensor<u8, 2>, h: &Tensor<f64, 3>",
        ),
        expect![[""]],
    );
}

#[test]
fn items_that_are_no_kernels() {
    let of = |item: &str| format!("#[tiled_kernel(block = [32], grid = [1])]\n{item}");
    check(
        &of("struct Kernel;"),
        expect![[r#"
        error: a kernel is a function [TP0002]
        help: put `#[tiled_kernel(…)]` on `fn name(input: &Matrix<f32>, output: &mut Matrix<f32>) { … }`
          at `struct`
    "#]],
    );
    check(
        &of("fn kernel() -> f32 { 1.0 }"),
        expect![[r#"
            error: a kernel cannot return a value [TP0002]
            help: write the result to a `&mut` tensor argument
              at `f32`
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `1.0`
        "#]],
    );
    check(
        &of("const fn kernel() { }"),
        expect![[r#"
        error: a kernel cannot be `const` [TP0002]
        help: remove `const`: a kernel runs on the GPU
          at `const`
    "#]],
    );
    check(
        &of("async fn kernel() { }"),
        expect![[r#"
        error: a kernel cannot be `async` [TP0002]
        help: remove `async`: a launch is already asynchronous
          at `async`
    "#]],
    );
    check(
        &of("unsafe fn kernel() { }"),
        expect![[r#"
        error: a kernel cannot be declared `unsafe` [TP0002]
        help: remove `unsafe`: whether the launch is safe follows from the proofs
          at `unsafe`
    "#]],
    );
    check(
        &of("extern \"C\" fn kernel() { }"),
        expect![[r#"
        error: a kernel has no ABI of its own [TP0002]
        help: remove `extern`: the launcher passes the arguments
          at `extern "C"`
    "#]],
    );
    check(
        &of("fn kernel<T>(n: T) { }"),
        expect![[r#"
            error: the kernel `kernel` is generic, and no instances are listed [TP0003]
            note: each instance is compiled and proven here, where its callers are not known
            help: list them in the attribute: `instances(f32)`
              at `<T>`
        "#]],
    );
    check(
        &of("fn kernel()"),
        expect![[r#"
            error: this kernel does not parse: unexpected end of input, expected curly braces [TP0001]
            help: put `#[tiled_kernel(…)]` on `fn name(input: &Matrix<f32>, output: &mut Matrix<f32>) { … }`
              at ``
        "#]],
    );
    check(
        &of("impl X { }"),
        expect![[r#"
        error: a kernel is a function [TP0002]
        help: put `#[tiled_kernel(…)]` on `fn name(input: &Matrix<f32>, output: &mut Matrix<f32>) { … }`
          at `impl`
    "#]],
    );
    check(
        &of("fn kernel() { let x = ; }"),
        expect![[r#"
            left to rustc: this kernel does not parse: expected an expression [TP0001]
            help: put `#[tiled_kernel(…)]` on `fn name(input: &Matrix<f32>, output: &mut Matrix<f32>) { … }`
              at `;`
        "#]],
    );
    check(
        &of("fn kernel() { let x = 1 +; }"),
        expect![[r#"
            left to rustc: this kernel does not parse: expected an expression [TP0001]
            help: put `#[tiled_kernel(…)]` on `fn name(input: &Matrix<f32>, output: &mut Matrix<f32>) { … }`
              at `;`
        "#]],
    );
    check(
        &of("let x = 1;"),
        expect![[r#"
            error: this kernel does not parse: expected `fn` [TP0001]
            help: put `#[tiled_kernel(…)]` on `fn name(input: &Matrix<f32>, output: &mut Matrix<f32>) { … }`
              at `let`
        "#]],
    );
    check(
        &of(""),
        expect![[r#"
            error: this kernel does not parse: unexpected end of input, expected `fn` [TP0001]
            help: put `#[tiled_kernel(…)]` on `fn name(input: &Matrix<f32>, output: &mut Matrix<f32>) { … }`
              at ``
        "#]],
    );
}
