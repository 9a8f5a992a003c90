//! What is no kernel: syntax, constructs of Rust that a GPU kernel cannot have, attributes, parameters, names and types.

use crate::harness::{check, warp};
use expect_test::expect;

#[test]
fn text_and_macros() {
    check(
        &warp("println!(\"x\");"),
        expect![[r#"
            error: a kernel cannot print, format or unwind: a GPU thread has nowhere to do it [TP0002]
            help: write results to a tensor, and state conditions in `requires(…)`
              at `println!("x")`
        "#]],
    );
    check(
        &warp("let s = \"text\";"),
        expect![[r#"
            error: a kernel has no text [TP0002]
            help: use numbers
              at `"text"`
        "#]],
    );
    check(
        &warp("let c = 'x';"),
        expect![[r#"
            error: a kernel has no text [TP0002]
            help: use numbers
              at `'x'`
        "#]],
    );
}

#[test]
fn control_flow() {
    check(
        &warp("for i in [1, 2].iter() { }"),
        expect![[r#"
            error: a kernel's `for` runs over a range or an array [TP0002]
            help: write `for i in start..end`, with `..=`, `.step_by(step)` and `.rev()` as needed, or `for x in [16, 8, 4]`
              at `[1, 2].iter()`
        "#]],
    );
    check(
        &warp("if let 3 = thread_x() { }"),
        expect![[r#"
            error: a kernel has no `if let` and no `while let` [TP0002]
            help: write a comparison
              at `let 3 = thread_x()`
        "#]],
    );
    check(
        &warp("for (a, b) in 0..3 { }"),
        expect![[r#"
        error: the variable of a loop is a plain name [TP0002]
        help: write `for i in 0..n`
          at `(a, b)`
    "#]],
    );
    check(
        &warp("let 3 = thread_x() else { };"),
        expect![[r#"
        error: a kernel has no `let … else` [TP0002]
        help: write `if`
          at `let 3 = thread_x() else { };`
    "#]],
    );
    check(
        &warp("for i in (0..8).step_by(0) { }"),
        expect![[r#"
            error: a loop with a step of 0 never ends [TP0007]
            help: write a step of at least 1
              at `0`
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
}

#[test]
fn values() {
    check(
        &warp("let f = |x| x;"),
        expect![[r#"
            error: a kernel cannot have closures but as the argument of `map` [TP0002]
            help: write a function inside the kernel: `fn f(x: f32) -> f32 { … }`
              at `|x| x`
        "#]],
    );
    check(
        &warp("let r = &input;"),
        expect![[r#"
            error: a reference cannot be a value in a kernel: registers have no addresses [TP0002]
            help: name the element instead: `tile[r][c]`, `tensor[[r, c]]`; arrays are used by their elements
              at `&input`
        "#]],
    );
    check(
        &warp("let s = (1, 2).x;"),
        expect![[r#"
            error: a kernel has no structs, and no fields but those of tuples [TP0002]
            help: use variables of their own, or the fields of a tuple: `pair.0`
              at `(1, 2).x`
        "#]],
    );
    check(
        &warp("unsafe { }"),
        expect![[r#"
            error: a kernel cannot use `unsafe` [TP0002]
            help: remove the `unsafe`: what a kernel can do is checked
              at `unsafe { }`
        "#]],
    );
    check(
        &warp("let p = *input;"),
        expect![[r#"
            error: `input` is memory, and only its elements are values [TP0002]
            help: name an element: `tile[r][c]`, `tensor[[r, c]]`, or several: `read::<4>([r, c])`
              at `input`
        "#]],
    );
    check(
        &warp("let t = input;"),
        expect![[r#"
        error: `input` is memory, and only its elements are values [TP0002]
        help: name an element: `tile[r][c]`, `tensor[[r, c]]`, or several: `read::<4>([r, c])`
          at `input`
    "#]],
    );
    check(
        &warp("let x;"),
        expect![[r#"
        error: a variable of a kernel needs a first value [TP0002]
        help: write `let x = 0.0;`
          at `let x;`
    "#]],
    );
    check(
        &warp("let Some(a) = 1;"),
        expect![[r#"
            error: a kernel's patterns are names, and tuples and arrays of patterns [TP0002]
            help: write `let (row, col) = …;` or `let [row, col] = …;`
              at `Some(a)`
        "#]],
    );
    check(
        &warp("let x = S { a: 1 };"),
        expect![[r#"
        error: a kernel has no structs [TP0002]
        help: use scalars, tuples and arrays
          at `S { a: 1 }`
    "#]],
    );
    check(
        &warp("let x = f()?;"),
        expect![[r#"
            error: a kernel cannot use `?` [TP0002]
            help: check on the host, before the launch: a GPU thread has nobody to return an error to
              at `f()?`
        "#]],
    );
    check(
        &warp("let r = 0..3;"),
        expect![[r#"
            error: a range is only known in the head of a `for` loop and in `(a..b).contains(&x)` [TP0002]
            help: write `for i in 0..n { … }`, with `.step_by(s)` for another step
              at `0..3`
        "#]],
    );
    check(
        &warp("let mut a = [0; 4]; a = [1; 4];"),
        expect![[r#"
        error: a register array cannot be assigned as a whole [TP0002]
        help: assign its elements in a loop
          at `a`
    "#]],
    );
    check(
        &warp("input.x = 3;"),
        expect![[r#"
            error: a kernel has no structs, and no fields but those of tuples [TP0002]
            help: use variables of their own, or the fields of a tuple: `pair.0`
              at `input.x`
        "#]],
    );
    check(
        &warp("let x = async { };"),
        expect![[r#"
            error: this construct is not part of the kernel language [TP0002]
            help: a kernel has `let`, assignment, `if`, `match`, loops, arithmetic, and the accesses of its tiles and tensors
              at `async { }`
        "#]],
    );
    check(
        &warp("let t = (Shared::<[f32; 4]>::new(), 1);"),
        expect![[r#"
        error: a shared tile is declared by its own `let` [TP0002]
        help: write `let mut tile = Shared::<[[f32; 32]; 32], Pad<1>>::new();`
          at `Shared::<[f32; 4]>::new()`
    "#]],
    );
}

#[test]
fn items() {
    check(
        &warp("use std::f32;"),
        expect![[r#"
        error: a kernel cannot import names [TP0002]
        help: move the `use` out of the kernel
          at `use std::f32;`
    "#]],
    );
    check(
        &warp("struct S;"),
        expect![[r#"
            error: a kernel can only declare constants, helper functions and type aliases [TP0002]
            help: move the item out of the kernel
              at `struct S;`
        "#]],
    );
    check(
        &warp("const A: [f32; 2] = [0.0; 2];"),
        expect![[r#"
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    check(
        &warp("#[inline] let x = 1;"),
        expect![[r#"
            error: this attribute means nothing in a kernel [TP0002]
            help: a statement can have `#[budget(…)]` and `#[trust(…)]`, a `for` loop also `#[unroll]`, `#[unroll(4)]` or `#[no_unroll]`
              at `#[inline]`
        "#]],
    );
}

#[test]
fn names() {
    check(
        &warp("let x = N;"),
        expect![[r#"
            left to rustc: the macro cannot see `N`, which is declared outside the kernel [TP0005]
            help: write the value out, declare it in the kernel (`const N: usize = 32;`) or beside it in a `#[tiled_module] mod`, or pass it as an argument
              at `N`
        "#]],
    );
    check(
        &warp("let x = f32::MAX;"),
        expect![[r#"
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    check(
        &warp("let x = sqrt(1.0);"),
        expect![[r#"
            left to rustc: a kernel cannot call `sqrt`, which the macro cannot see [TP0005]
            help: write it as a helper function in the kernel, or beside it in a `#[tiled_module] mod`; a kernel also calls `thread_x()`, `block_x()`, `grid_x()` and their y and z, `lane()`, `warp()`, `sync_threads()`, `sync_warp()`, `commit()`, `wait::<0>()`, `mma`, shuffles, votes, reductions and scans, `flatten`, `unflatten` and `rasterize`
              at `sqrt`
        "#]],
    );
    check(
        &warp("let x = 1.0f32.sqrt();"),
        expect![[r#"
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    check(
        &warp("let x = input.get([0]);"),
        expect![[r#"
            left to rustc: the method `get` is not part of the kernel language [TP0005]
            help: a kernel knows `rows`, `cols`, `len`, `extent`, `stride`, `pitch`, `read`, `write`, `get_or`, `contains` and the `atomic_…` updates of tensors and tiles; `read_unaligned` and `misalignment` of tensors; `read_matrices`, `read_matrices_transposed`, `load`, `load_async`, `store`, `load_transposed`, `store_transposed` and `copy_async` of tiles
              at `get`
        "#]],
    );
    check(
        &warp("let x = undefined + 1;"),
        expect![[r#"
            left to rustc: the macro cannot see `undefined`, which is declared outside the kernel [TP0005]
            help: write the value out, declare it in the kernel (`const N: usize = 32;`) or beside it in a `#[tiled_module] mod`, or pass it as an argument
              at `undefined`
        "#]],
    );
    check(
        &warp("let t = Shared::<[f32; 4]>::new(); let n = t.len();"),
        expect![[r#"
            left to rustc: the method `len` is not part of the kernel language [TP0005]
            help: a kernel knows `rows`, `cols`, `len`, `extent`, `stride`, `pitch`, `read`, `write`, `get_or`, `contains` and the `atomic_…` updates of tensors and tiles; `read_unaligned` and `misalignment` of tensors; `read_matrices`, `read_matrices_transposed`, `load`, `load_async`, `store`, `load_transposed`, `store_transposed` and `copy_async` of tiles
              at `len`
        "#]],
    );
}

#[test]
fn types() {
    check(
        &warp("let x = 1.0 + 1;"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `1.0 + 1`
        "#]],
    );
    check(
        &warp("let x: u32 = thread_x();"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `thread_x()`
        "#]],
    );
    check(
        &warp("input[[0]] = 1.0;"),
        expect![[r#"
        left to rustc: `input` is taken by `&` and written [TP0006]
        help: take it by `&mut`
          at `input[[0]]`
    "#]],
    );
    check(
        &warp("let x = input[0];"),
        expect![[r#"
        left to rustc: `input` has 1 extents, and this access does not give one index for each [TP0006]
        help: write `input[[i]]`
          at `input[0]`
    "#]],
    );
    check(
        &warp("let x = input[[0, 1]];"),
        expect![[r#"
        left to rustc: `input` has 1 extents, and this access does not give one index for each [TP0006]
        help: write `input[[i]]`
          at `input[[0, 1]]`
    "#]],
    );
    check(
        &warp("let x = 1 as bool;"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `1 as bool`
        "#]],
    );
    check(
        &warp("let x: f32 = if thread_x() > 1 { 1 } else { 2.0 };"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `if thread_x() > 1 { 1 } else { 2.0 }`
        "#]],
    );
    check(
        &warp("let (a, b) = (1, 2, 3);"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `(a, b)`
        "#]],
    );
    check(
        &warp("output[[0]] = 1u32;"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `1u32`
        "#]],
    );
    check(
        &warp("let x = true + false;"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `true + false`
        "#]],
    );
    check(
        &warp("let v = Vector::new([1.0, 2u32]);"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `Vector::new([1.0, 2u32])`
        "#]],
    );
    check(
        &warp("output.write([0], 1.0);"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `output.write([0], 1.0)`
        "#]],
    );
    check(
        &warp("let a = [1.0, 2]; "),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `a`
        "#]],
    );
    check(
        &warp("let x = thread_x(1);"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `thread_x(1)`
        "#]],
    );
    check(
        &warp("if thread_x() { }"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `thread_x()`
        "#]],
    );
    check(
        &warp("let x = -thread_x();"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `-thread_x()`
        "#]],
    );
    check(
        &warp("let t = Shared::<[[f32; 4]; 4]>::new(); let x = t[0];"),
        expect![[r#"
        left to rustc: `t` has 2 extents, and this access does not give one index for each [TP0006]
        help: write `t[i][i]`
          at `t[0]`
    "#]],
    );
    check(
        &warp("3"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `3`
        "#]],
    );
}

#[test]
fn constants() {
    check(
        &warp("let n = thread_x(); let a = [0.0; n];"),
        expect![[r#"
            left to rustc: the length of an array must be known at compile time [TP0007]
            help: write an integer, or a `const` declared in the kernel or in its `#[tiled_module]`
              at `n`
        "#]],
    );
    check(
        &warp("let t = Shared::<[f32; thread_x()]>::new();"),
        expect![[r#"
            left to rustc: the extent of a tile must be known at compile time [TP0007]
            help: write an integer, or a `const` declared in the kernel or in its `#[tiled_module]`
              at `thread_x()`
        "#]],
    );
    check(
        &warp("let v = input.read([0]);"),
        expect![[r#"
        error: the width of this vector is not known here [TP0007]
        help: write it: `read::<4>([row, col])`
          at `input.read([0])`
    "#]],
    );
    check(
        &warp("let v = Vector::splat(1.0f32);"),
        expect![[r#"
        error: the width of this vector is not known here [TP0007]
        help: write it: `Vector::<f32, 4>::splat(0.0)`
          at `Vector::splat(1.0f32)`
    "#]],
    );
    check(
        &warp("let x = input.extent(3);"),
        expect![[r#"
        error: a tensor of rank 1 has no dimension 3 [TP0007]
        note: its dimensions are 0 to 0, outermost first
          at `3`
    "#]],
    );
    check(
        &warp("let x = input.extent(thread_x());"),
        expect![[r#"
            error: a dimension must be known at compile time [TP0007]
            help: write an integer, or a `const` declared in the kernel or in its `#[tiled_module]`
              at `thread_x()`
        "#]],
    );
    check(
        &warp("let x = [1.0, 2.0][thread_x()];"),
        expect![[r#"
            error: an index of an array that is no variable must be known at compile time [TP0007]
            help: write an integer, or a `const` declared in the kernel or in its `#[tiled_module]`
              at `thread_x()`
        "#]],
    );
}
