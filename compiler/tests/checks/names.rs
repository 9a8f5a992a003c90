//! Whose a name is: what the kernel declares hides the vocabulary.

use crate::harness::{check, kernel, warp};
use expect_test::expect;

/// The sum over a block would have a tile, and lanes in a row would share sectors.
#[test]
fn functions_of_the_kernel() {
    check(
        &kernel(
            "block = [64], grid = [1], requires(input.len() >= 4096, output.len() >= 4096)",
            "input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>",
            "fn block_sum<T>(x: T) -> T { x }
            fn thread_x() -> usize { 8 * lane() + place() }
            fn place() -> usize { warp() * 1024 }
            output[[thread_x()]] = block_sum(input[[tileproof::prelude::thread_x()]]);",
        ),
        expect![[r#"
            error: uncoalesced store: 32 sectors of 32 bytes where 4 are enough [TP0201]
            note: neighbouring lanes of warp 0 are 32 bytes apart, so 128 of 1,024 bytes are used
            help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
            help: or accept the cost: `#[budget(excess_sectors = 28, because = "…")]` on the statement
              at `output[[thread_x()]]`
        "#]],
    );
}

#[test]
fn values_are_no_functions() {
    check(
        &warp(
            "const warp_count: usize = 1;
            let lane = 3;
            {
                fn lane() -> usize { 0 }
                lane();
            }
            lane();
            for block_sum in 0..2 { block_sum(1.0f32); }
            warp_count();",
        ),
        expect![[r#"
            left to rustc: `lane` is a value here, and no function [TP0005]
            help: give the variable or constant another name: this one hides the prelude's function
              at `lane`
            left to rustc: `block_sum` is a value here, and no function [TP0005]
            help: give the variable or constant another name: this one hides the prelude's function
              at `block_sum`
            left to rustc: `warp_count` is a value here, and no function [TP0005]
            help: give the variable or constant another name: this one hides the prelude's function
              at `warp_count`
        "#]],
    );
}

/// Behind another path may be anything.
#[test]
fn paths() {
    check(
        &warp("let (a, b) = (self::thread_x(), other::lane());"),
        expect![[r#"
            left to rustc: a kernel cannot call `self::thread_x`, which the macro cannot see [TP0005]
            help: write it as a helper function in the kernel, or beside it in a `#[tiled_module] mod`; a kernel also calls `thread_x()`, `block_x()`, `grid_x()` and their y and z, `lane()`, `warp()`, `sync_threads()`, `sync_warp()`, `commit()`, `wait::<0>()`, `mma`, shuffles, votes, reductions and scans, `flatten`, `unflatten` and `rasterize`
              at `self::thread_x`
            left to rustc: a kernel cannot call `other::lane`, which the macro cannot see [TP0005]
            help: write it as a helper function in the kernel, or beside it in a `#[tiled_module] mod`; a kernel also calls `thread_x()`, `block_x()`, `grid_x()` and their y and z, `lane()`, `warp()`, `sync_threads()`, `sync_warp()`, `commit()`, `wait::<0>()`, `mma`, shuffles, votes, reductions and scans, `flatten`, `unflatten` and `rasterize`
              at `other::lane`
        "#]],
    );
}

#[test]
fn types_keep_their_names() {
    check(
        &warp("type Vector = f32; type f32 = f64;"),
        expect![[r#"
        error: `Vector` is a type of the kernel language [TP0005]
        note: in a kernel it means what `tileproof::prelude` says
        help: give the alias another name
          at `Vector`
        error: `f32` is a type of the kernel language [TP0005]
        note: in a kernel it means what `tileproof::prelude` says
        help: give the alias another name
          at `f32`
    "#]],
    );
}

/// One cause, one error.
#[test]
fn closures() {
    check(
        &warp(
            "let scaled = |v: f32| 2.0 * v;
            let (factor, mut sums) = (2u32, [0.0f32; 4]);
            let mut tile = Shared::<[[f32; 32]; 2], Pad<1>>::new();
            let add = |i| { sums[i] += input[[i]]; tile[0][i] = scaled(factor as f32); };
            add(1);
            output[[thread_x()]] = scaled(input[[thread_x()]]);",
        ),
        expect![[r#"
            error: a kernel cannot have closures but as the argument of `map` [TP0002]
            help: write a function inside the kernel: `fn scaled(v: f32) -> f32 { … }`
              at `|v: f32| 2.0 * v`
            error: a kernel cannot have closures but as the argument of `map` [TP0002]
            note: it captures `sums`, `input`, `tile`, `factor`, which a function takes as arguments
            help: write a function inside the kernel: `fn add(i: f32, sums: &[f32; 4], input: &Tensor<f32, 1>, tile: &mut Shared<[[f32; 32]; 2], Pad<1>>, factor: u32) { … }`
              at `|i| { sums[i] += input[[i]]; tile[0][i] = scaled(factor as f32); }`
        "#]],
    );
}
