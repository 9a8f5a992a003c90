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
            write `t[thread_x()]`: 1 × 4 B, 1/1 wavefronts
            shared: 49156 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    check(
        &warp(
            "let mut a = Shared::<[[f64; 64]; 64]>::new();\nlet mut b = Shared::<[[f32; 64]; 64], Pad<1>>::new();\na[0][thread_x()] = 1.0;\nb[0][thread_x()] = 1.0;",
        ),
        expect![[r#"
            write `a[0][thread_x()]`: 1 × 8 B, 2/2 wavefronts
            write `b[0][thread_x()]`: 1 × 4 B, 1/1 wavefronts
            shared: 49408 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    // What one architecture holds, and then none.
    check(
        &warp("let mut t = Shared::<[f32; 58112]>::new();\nt[thread_x()] = 1.0;"),
        expect![[r#"
            write `t[thread_x()]`: 1 × 4 B, 1/1 wavefronts
            shared: 232448 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    check(
        &warp("let mut t = Shared::<[f32; 58113]>::new();\nt[thread_x()] = 1.0;"),
        expect![[r#"
            error: too much shared memory: 232,452 bytes a block, and no architecture has more than 232,448 [TP0701]
            note: in bytes: `t` 232,452
            help: make the tile smaller, or its elements narrower
              at `Shared::<[f32; 58113]>`
        "#]],
    );
    // More bytes than 32 bits count.
    check(
        &warp("let mut t = Shared::<[[f64; 65536]; 65535]>::new();\nt[0][thread_x()] = 1.0;"),
        expect![[r#"
            error: too much shared memory: 4,294,967,295 or more bytes a block, and no architecture has more than 232,448 [TP0701]
            note: in bytes: `t` 4,294,967,295 or more
            help: make the tile smaller, or its elements narrower
              at `Shared::<[[f64; 65536]; 65535]>`
        "#]],
    );
}

/// Against the opt-in limit of each architecture that the kernel names.
#[test]
fn shared_memory_of_named_architectures() {
    let tile = |architectures: &str, floats: u32| {
        let body = format!("let mut t = Shared::<[f32; {floats}]>::new();\nt[thread_x()] = x;");
        kernel(&format!("block = [32], grid = [1], arch({architectures})"), "x: f32", &body)
    };
    check(
        &tile("sm_75", 16384),
        expect![[r#"
        write `t[thread_x()]`: 1 × 4 B, 1/1 wavefronts
        shared: 65536 bytes
    "#]],
    );
    check(
        &tile("sm_75, sm_89, sm_90", 16385),
        expect![[r#"
        error: too much shared memory: 65,540 bytes a block, and sm_75 has 65,536 [TP0701]
        note: in bytes: `t` 65,540
        help: say that it is for others: `arch(sm_89, sm_90)`
        help: make the tile smaller, or its elements narrower
          at `Shared::<[f32; 16385]>`
    "#]],
    );
    check(
        &tile("sm_80, sm_86, sm_89", 25345),
        expect![[r#"
        error: too much shared memory: 101,380 bytes a block, and sm_86 has 101,376 [TP0701]
        note: in bytes: `t` 101,380
        help: say that it is for others: `arch(sm_80)`
        help: make the tile smaller, or its elements narrower
          at `Shared::<[f32; 25345]>`
    "#]],
    );
    check(
        &tile("sm_86", 41728),
        expect![[r#"
        error: too much shared memory: 166,912 bytes a block, and sm_86 has 101,376 [TP0701]
        note: in bytes: `t` 166,912
        help: say that it is for others: `arch(sm_80, sm_87, sm_90, sm_100, sm_103, sm_110)`
        help: make the tile smaller, or its elements narrower
          at `Shared::<[f32; 41728]>`
    "#]],
    );
    check(
        &tile("sm_86", 65536),
        expect![[r#"
        error: too much shared memory: 262,144 bytes a block, and sm_86 has 101,376 [TP0701]
        note: in bytes: `t` 262,144
        help: make the tile smaller, or its elements narrower
          at `Shared::<[f32; 65536]>`
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
            error: a block cannot have 0 threads along x [TP0702]
            note: it has at least 1, at most 1024 along x and y, at most 64 along z, and at most 1024 in all
              at `0`
        "#]],
    );
    check(
        &block("[32, 33]"),
        expect![[r#"
            error: a block of 1056 threads, and a GPU takes at most 1024 [TP0702]
            help: make the block smaller and let each thread do more elements in a loop
              at `kernel`
        "#]],
    );
    check(
        &block("[1, 1, 65]"),
        expect![[r#"
            error: a block cannot have 65 threads along z [TP0702]
            note: it has at least 1, at most 1024 along x and y, at most 64 along z, and at most 1024 in all
              at `65`
        "#]],
    );
    check(
        &block("[2048]"),
        expect![[r#"
            error: a block cannot have 2048 threads along x [TP0702]
            note: it has at least 1, at most 1024 along x and y, at most 64 along z, and at most 1024 in all
              at `2048`
        "#]],
    );
    check(
        &block("[4294967296]"),
        expect![[r#"
            error: a block cannot have 4294967296 threads along x [TP0702]
            note: it has at least 1, at most 1024 along x and y, at most 64 along z, and at most 1024 in all
              at `4294967296`
        "#]],
    );
}

/// A block of so many threads with 4,096 bytes of shared memory.
fn resident(arguments: &str) -> String {
    let body = "let mut tile = Shared::<[f32; 1024]>::new(); tile[thread_x()] = x;";
    kernel(&format!("grid = [1], {arguments}"), "x: f32", body)
}

#[test]
fn resident_blocks() {
    check(
        &resident("block = [1024], min_blocks = 2"),
        expect![[r#"
        error: 2 blocks of this kernel do not fit a multiprocessor of sm_75 [TP0703]
        note: it holds 1, limited by threads
        note: likewise sm_86, sm_87, sm_89, sm_110, sm_120, sm_121
        help: say that it is for others: `arch(sm_80, sm_90, sm_100, sm_103)`
          at `kernel`
    "#]],
    );
    check(
        &resident("block = [1024], min_blocks = 2, arch(sm_86, sm_90)"),
        expect![[r#"
        error: 2 blocks of this kernel do not fit a multiprocessor of sm_86 [TP0703]
        note: it holds 1, limited by threads
        help: say that it is for others: `arch(sm_90)`
          at `kernel`
    "#]],
    );
    check(
        &resident("block = [1024], min_blocks = 2, arch = sm_75"),
        expect![[r#"
        error: 2 blocks of this kernel do not fit a multiprocessor of sm_75 [TP0703]
        note: it holds 1, limited by threads
        help: write `min_blocks = 1`, or make the block smaller
          at `kernel`
    "#]],
    );
    check(
        &resident("block = [1024], min_blocks = 2, arch(sm_80, \"sm_90\")"),
        expect![[r#"
        write `tile[thread_x()]`: 32 × 4 B, 32/32 wavefronts
        shared: 4096 bytes
    "#]],
    );
    check(
        &resident("block = [32], min_blocks = 20, arch = \"sm_120\""),
        expect![[r#"
        write `tile[thread_x()]`: 1 × 4 B, 1/1 wavefronts
        shared: 4096 bytes
    "#]],
    );
    check(
        &resident("block = [32], min_blocks = 33"),
        expect![[r#"
        error: a multiprocessor cannot hold 33 blocks: 1 to 32 [TP0003]
        help: remove `min_blocks`, unless registers keep blocks from being resident
          at `33`
    "#]],
    );
    check(
        &resident("block = [32], min_blocks = x"),
        expect![[r#"
        error: `min_blocks` must be known at compile time [TP0007]
        help: write an integer, or a `const` beside the kernel in a `#[tiled_module] mod`
          at `x`
    "#]],
    );
    check(
        &resident("block = [32], arch(sm_52, 90)"),
        expect![[r#"
        error: `sm_52` is no architecture that kernels are compiled for [TP0003]
        note: those are sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_103, sm_110, sm_120, sm_121
          at `sm_52`
        error: `90` is no architecture that kernels are compiled for [TP0003]
        note: those are sm_75, sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_103, sm_110, sm_120, sm_121
          at `90`
    "#]],
    );
}

#[test]
fn launch_bounds_and_occupancy() {
    let compiled = tileproof_compiler::compile(
        "block = [256], grid = [1], min_blocks = 4, arch(sm_80, sm_90, sm_120)",
        "fn kernel(x: f32) { let mut tile = Shared::<[f32; 256]>::new(); tile[thread_x()] = x; }",
    )
    .unwrap();
    assert!(compiled.cuda.contains("__launch_bounds__(256, 4) kernel("), "{}", compiled.cuda);
    let text = compiled.report.to_string();
    let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("sm_")).collect();
    assert_eq!(
        lines,
        [
            "sm_80, sm_90: 8 blocks a multiprocessor, 64 of 64 warps, limited by threads",
            "sm_120: 6 blocks a multiprocessor, 48 of 48 warps, limited by threads",
        ]
    );
}

/// Tiles beyond 48 KB lie one behind the other in dynamic memory, each where the compiler says.
#[test]
fn dynamic_shared_memory() {
    let compiled = tileproof_compiler::compile(
        "block = [32], grid = [1]",
        "fn kernel(x: f32) {
            let mut unused = Shared::<[f32; 100]>::new();
            let mut bytes = Shared::<[u8; 33]>::new();
            let mut wide = Shared::<[[f64; 64]; 128]>::new();
            bytes[thread_x()] = 1;
            wide[0][thread_x()] = x as f64;
        }",
    )
    .unwrap();
    for line in [
        "alignas(16) extern __shared__ u8 shared_memory[];",
        "const u32 bytes_base = shared_address(shared_memory) + 400u;",
        "const u32 wide_base = shared_address(shared_memory) + 448u;",
    ] {
        assert!(compiled.cuda.contains(line), "{line}\n{}", compiled.cuda);
    }
    assert!(!compiled.cuda.contains("unused_base"), "{}", compiled.cuda);
    let text = compiled.report.to_string();
    let head: Vec<&str> =
        text.lines().filter(|line| line.contains("dynamic") || line.starts_with("sm_")).collect();
    expect![[r#"
        kernel: 32 × 1 × 1 threads, 65984 bytes of dynamic shared memory
        sm_75: does not fit, for its shared memory
        sm_80: 2 blocks a multiprocessor, 2 of 64 warps, limited by shared memory
        sm_86: 1 block a multiprocessor, 1 of 48 warps, limited by shared memory
        sm_87: 2 blocks a multiprocessor, 2 of 48 warps, limited by shared memory
        sm_89: 1 block a multiprocessor, 1 of 48 warps, limited by shared memory
        sm_90, sm_100, sm_103: 3 blocks a multiprocessor, 3 of 64 warps, limited by shared memory
        sm_110: 3 blocks a multiprocessor, 3 of 48 warps, limited by shared memory
        sm_120, sm_121: 1 block a multiprocessor, 1 of 48 warps, limited by shared memory"#]]
    .assert_eq(&head.join("\n"));
}
