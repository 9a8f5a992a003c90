//! Shared memory and threads of a block.

use crate::harness::{check, kernel, warp};
use expect_test::expect;

#[test]
fn shared_memory() {
    check(
        &warp("let mut t = Shared::<[f32; 12288]>::new();\nt[thread_x()] = 1.0;"),
        expect![[r#"
        write `t[thread_x()]`: 1 × 4 B, 1/1 wavefronts
        shared: 49152 bytes
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &warp("let mut t = Shared::<[f32; 12289]>::new();\nt[thread_x()] = 1.0;"),
        expect![[r#"
        error: too much shared memory: 49,156 bytes a block, and 49,152 is the limit [TP0701]
        note: in bytes: `t` 49,156
        note: GPUs have more (up to 227 KB on sm_90), which a kernel must opt in to; that is planned, and not part of the language yet
        help: make the tile smaller, or its elements narrower
          at `Shared::<[f32; 12289]>`
    "#]],
    );
    check(
        &warp(
            "let mut a = Shared::<[[f64; 64]; 64]>::new();\nlet mut b = Shared::<[[f32; 64]; 64], Pad<1>>::new();\na[0][thread_x()] = 1.0;\nb[0][thread_x()] = 1.0;",
        ),
        expect![[r#"
            error: too much shared memory: 49,408 bytes a block, and 49,152 is the limit [TP0701]
            note: in bytes: `a` 32,768, `b` 16,640
            note: GPUs have more (up to 227 KB on sm_90), which a kernel must opt in to; that is planned, and not part of the language yet
            help: make the tile smaller, or its elements narrower
              at `Shared::<[[f32; 64]; 64], Pad<1>>`
        "#]],
    );
    // More bytes than 32 bits count.
    check(
        &warp("let mut t = Shared::<[[f64; 65536]; 65535]>::new();\nt[0][thread_x()] = 1.0;"),
        expect![[r#"
        error: too much shared memory: 4,294,967,295 or more bytes a block, and 49,152 is the limit [TP0701]
        note: in bytes: `t` 4,294,967,295 or more
        note: GPUs have more (up to 227 KB on sm_90), which a kernel must opt in to; that is planned, and not part of the language yet
        help: make the tile smaller, or its elements narrower
          at `Shared::<[[f64; 65536]; 65535]>`
    "#]],
    );
}

#[test]
fn threads() {
    let block = |block: &str| kernel(&format!("block = {block}, grid = [1]"), "", "");
    check(&block("[1024]"), expect![[""]]);
    check(&block("[16, 8, 8]"), expect![[""]]);
    check(
        &block("[0]"),
        expect![[r#"
        error: a block cannot have 0 threads in this direction: at least 1, at most 1024 in x and y, 64 in z [TP0702]
          at `0`
    "#]],
    );
    check(
        &block("[32, 33]"),
        expect![[r#"
        error: a block of 1056 threads, and a GPU has at most 1024 [TP0702]
        help: make the block smaller and let each thread do more elements in a loop
          at `kernel`
    "#]],
    );
    check(
        &block("[1, 1, 65]"),
        expect![[r#"
        error: a block cannot have 65 threads in this direction: at least 1, at most 1024 in x and y, 64 in z [TP0702]
          at `65`
    "#]],
    );
    check(
        &block("[2048]"),
        expect![[r#"
        error: a block cannot have 2048 threads in this direction: at least 1, at most 1024 in x and y, 64 in z [TP0702]
          at `2048`
    "#]],
    );
    check(
        &block("[4294967296]"),
        expect![[r#"
        error: a block cannot have 4294967296 threads in this direction: at least 1, at most 1024 in x and y, 64 in z [TP0702]
          at `4294967296`
    "#]],
    );
}
