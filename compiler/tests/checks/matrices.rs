//! Matrices in the registers of a warp: reading them, and their products.

use crate::harness::{check, kernel, outcome};
use expect_test::expect;

/// A kernel of so many threads that fills a tile of 16 rows of so many `bf16` and then does this.
fn block(arguments: &str, layout: &str, body: &str) -> String {
    kernel(
        &format!("{arguments}, grid = [1], requires(output.len() >= 4096)"),
        "output: &mut Tensor<f32, 1>, n: usize",
        &format!(
            "let mut tile = Shared::<[[bf16; 64]; 16], {layout}>::new();
            for i in 0..16 {{
                tile.write([i, 2 * lane()], Vector::<bf16, 2>::splat(bf16::ONE));
            }}
            sync_warp();
            {body}"
        ),
    )
}

fn warp(layout: &str, body: &str) -> String {
    block("block = [32]", layout, body)
}

/// A product whose factors are read at these places.
fn product(left: &str, right: &str) -> String {
    format!(
        "let a = tile.read_matrices::<8>({left});
        let b = tile.read_matrices_transposed::<4>({right});
        let sum = mma(a, b, Vector::splat(0.0));
        output.write([4 * thread_x()], sum);"
    )
}

#[test]
fn a_product_of_two_parts_of_a_tile() {
    let source = warp("Xor<8>", &product("[lane() % 16, lane() / 16 * 8]", "[lane() % 16, 32]"));
    check(
        &source,
        expect![[r#"
        write `tile.write([i, 2 * lane()], Vector::<bf16, 2>::splat(bf16::ONE))`: 16 × 4 B, 16/16 wavefronts
        read `tile.read_matrices::<8>([lane() % 16, lane() / 16 * 8])`: 1 × 16 B, 4/4 wavefronts
        read `tile.read_matrices_transposed::<4>([lane() % 16, 32])`: 1 × 8 B, 2/2 wavefronts
        write `output.write([4 * thread_x()], sum)`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
        shared: 2048 bytes
        launch: output.len() >= 4096
    "#]],
    );
}

/// Rows of 128 bytes begin in one bank; 8 elements of padding move each by four banks.
#[test]
fn rows_that_begin_in_one_bank_conflict() {
    let rows = product("[lane() % 16, lane() / 16 * 8]", "[lane() % 16, 32]");
    check(
        &warp("RowMajor", &rows),
        expect![[r#"
        error: shared-memory bank conflict: 32 wavefronts where 4 are enough [TP0101]
        note: lanes 0, 1, 2, … 7 of warp 0 read words 0, 32, 64, … 224: 8 words of bank 0
        note: likewise the load on line 9
        help: `Shared<[[bf16; 64]; 16], Pad<8>>` makes this 4, and the store on line 5 stays at 1 and the load on line 9 goes from 16 to 2 (2,304 bytes)
        help: `Shared<[[bf16; 64]; 16], Xor<8>>` likewise, in 2,048 bytes
          at `tile.read_matrices::<8>([lane() % 16, lane() / 16 * 8])`
    "#]],
    );
    check(
        &warp("Pad<8>", &rows),
        expect![[r#"
        write `tile.write([i, 2 * lane()], Vector::<bf16, 2>::splat(bf16::ONE))`: 16 × 4 B, 16/16 wavefronts
        read `tile.read_matrices::<8>([lane() % 16, lane() / 16 * 8])`: 1 × 16 B, 4/4 wavefronts
        read `tile.read_matrices_transposed::<4>([lane() % 16, 32])`: 1 × 8 B, 2/2 wavefronts
        write `output.write([4 * thread_x()], sum)`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
        shared: 2304 bytes
        launch: output.len() >= 4096
    "#]],
    );
}

#[test]
fn a_row_is_inside_and_aligned_for_every_lane() {
    let read = |place: &str| {
        warp(
            "Pad<8>",
            &format!("let a = tile.read_matrices::<2>({place}); output[[lane()]] = a[1].to_f32();"),
        )
    };
    check(
        &read("[lane() % 8, 56]"),
        expect![[r#"
        write `tile.write([i, 2 * lane()], Vector::<bf16, 2>::splat(bf16::ONE))`: 16 × 4 B, 16/16 wavefronts
        read `tile.read_matrices::<2>([lane() % 8, 56])`: 1 × 4 B, 1/1 wavefronts
        write `output[[lane()]]`: 1 × 4 B, 4/4 sectors
        shared: 2304 bytes
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &read("[lane() % 8, 60]"),
        expect![[r#"
        error: misaligned vector access: 16 bytes a lane, at places in `tile` that are not multiples of 16 [TP0301]
        note: the column must be a multiple of 8 elements for every thread
          at `tile.read_matrices::<2>([lane() % 8, 60])`
        error: index out of bounds: `60 + 7` is 67, and the last index of `tile` there is 63 [TP0401]
        note: thread 0 reads it
          at `tile.read_matrices::<2>([lane() % 8, 60])`
    "#]],
    );
    check(
        &read("[lane(), 0]"),
        expect![[r#"
        error: index out of bounds: `lane()` is 31, and the last index of `tile` there is 15 [TP0401]
        note: thread 31 reads it
          at `tile.read_matrices::<2>([lane(), 0])`
    "#]],
    );
    check(
        &read("[lane() % 8, lane() / 8 * 4]"),
        expect![[r#"
        error: misaligned vector access: 16 bytes a lane, at places in `tile` that are not multiples of 16 [TP0301]
        note: the column must be a multiple of 8 elements for every thread
          at `tile.read_matrices::<2>([lane() % 8, lane() / 8 * 4])`
    "#]],
    );
}

#[test]
fn the_lane_that_names_a_row_reads_it() {
    let read = |before: &str| {
        let body = format!(
            "{before} tile[3][lane()] = bf16::ONE; {} let a = tile.read_matrices::<8>([lane() % 16, lane() / 16 * 8]); output[[lane()]] = a[1].to_f32();",
            if before.is_empty() { "" } else { "sync_warp();" }
        );
        warp("Pad<8>", &body)
    };
    check(
        &read(""),
        expect![[r#"
        error: race on `tile`: nothing orders this load after the store on line 8 [TP0801]
        note: read after write: thread 0 writes `tile[3][0]` on line 8, and thread 3 reads it here
        help: put `sync_threads();` between the two
          at `tile.read_matrices::<8>([lane() % 16, lane() / 16 * 8])`
    "#]],
    );
    check(
        &read("sync_warp();"),
        expect![[r#"
        write `tile.write([i, 2 * lane()], Vector::<bf16, 2>::splat(bf16::ONE))`: 16 × 4 B, 16/16 wavefronts
        write `tile[3][lane()]`: 1 × 2 B, 1/1 wavefronts
        read `tile.read_matrices::<8>([lane() % 16, lane() / 16 * 8])`: 1 × 16 B, 4/4 wavefronts
        write `output[[lane()]]`: 1 × 4 B, 4/4 sectors
        shared: 2304 bytes
        launch: output.len() >= 4096
    "#]],
    );
}

#[test]
fn what_nobody_wrote_is_not_read() {
    let source = kernel(
        "block = [32], grid = [1], requires(output.len() >= 32)",
        "output: &mut Tensor<f32, 1>",
        "let mut tile = Shared::<[[f32; 4]; 16]>::new();
        if lane() < 8 {
            tile.write([lane(), 0], Vector::<f32, 4>::splat(1.0));
        }
        sync_warp();
        output[[lane()]] = tile.read_matrices::<2>([lane() % 16, 0])[1];",
    );
    check(
        &source,
        expect![[r#"
        error: `tile` may be read here where nothing was written: shared memory starts with any values [TP0803]
        note: thread 8 finds `tile[8][0]` unwritten
        help: write every element of `tile` that is read, by all threads of the block
          at `tile.read_matrices::<2>([lane() % 16, 0])`
    "#]],
    );
}

#[test]
fn whole_warps_meet() {
    let rows = product("[lane() % 16, lane() / 16 * 8]", "[lane() % 16, 32]");
    let divergent = warp("Pad<8>", &format!("if lane() < n {{ {rows} }}"));
    check(
        &divergent,
        expect![[r#"
        error: `read_matrices` must be reached by all lanes of the warp together, and nothing here says that it is [TP0602]
        note: `lane() < n` may differ from lane to lane
        help: call `read_matrices` outside: choose the value it is given by `if … { value } else { … }`, and guard only the use of its result
          at `tile.read_matrices::<8>([lane() % 16, lane() / 16 * 8])`
    "#]],
    );
    let uniform = outcome(&warp("Pad<8>", &format!("if n > 7 {{ {rows} }}")));
    assert!(uniform.contains("read_matrices_transposed"), "{uniform}");
    let short = kernel(
        "block = [48], grid = [1], requires(output.len() >= 4096)",
        "output: &mut Tensor<f32, 1>",
        "let sum = mma(Vector::<bf16, 8>::splat(bf16::ONE), Vector::<bf16, 4>::splat(bf16::ONE), Vector::splat(0.0));
        output.write([4 * thread_x()], sum);",
    );
    check(
        &short,
        expect![[r#"
        error: `mma` needs all 32 lanes of a warp, and the last warp of this block has 16 [TP0602]
        note: the lanes hold the matrices together
        help: make the block, which has 48 threads, a multiple of 32
          at `mma(Vector::<bf16, 8>::splat(bf16::ONE), Vector::<bf16, 4>::splat(bf16::ONE), Vector::splat(0.0))`
    "#]],
    );
}

#[test]
fn architectures_have_the_instructions() {
    let rows = product("[lane() % 16, lane() / 16 * 8]", "[lane() % 16, 32]");
    let on = |architectures: &str, body: &str| {
        block(&format!("block = [32], arch({architectures})"), "Pad<8>", body)
    };
    check(
        &on("sm_75, sm_90", &rows),
        expect![[r#"
        error: `mma` needs sm_80 or later, and this kernel is for sm_75 [TP0704]
        help: say that it is for others: `arch(sm_90)`
          at `mma(a, b, Vector::splat(0.0))`
    "#]],
    );
    check(
        &on("sm_75", &rows),
        expect![[r#"
        error: `mma` needs sm_80 or later, and this kernel is for sm_75 [TP0704]
        help: say that it is for others: `arch(sm_80)`
          at `mma(a, b, Vector::splat(0.0))`
    "#]],
    );
    check(
        &on(
            "sm_75",
            "for i in 0..n { let s = mma(tile.read_matrices::<8>([lane() % 16, 0]), Vector::splat(bf16::ONE), Vector::splat(0.0)); output[[lane()]] = s[0]; }",
        ),
        expect![[r#"
        error: `mma` needs sm_80 or later, and this kernel is for sm_75 [TP0704]
        help: say that it is for others: `arch(sm_80)`
          at `mma(tile.read_matrices::<8>([lane() % 16, 0]), Vector::splat(bf16::ONE), Vector::splat(0.0))`
    "#]],
    );
    let reads =
        outcome(&on("sm_75", "output[[lane()]] = tile.read_matrices::<2>([lane() % 16, 0])[1].to_f32();"));
    assert!(!reads.contains("error"), "{reads}");
    assert!(!outcome(&on("sm_80, sm_120", &rows)).contains("error"));
}

#[test]
fn widths_that_no_instruction_has() {
    let of = |element: &str, read: &str| {
        let source = kernel(
            "block = [32], grid = [1]",
            &format!("output: &mut Tensor<{element}, 1>"),
            &format!(
                "let tile = Shared::<[[{element}; 32]; 32]>::new(); let a = tile.{read}([lane(), 0]); output[[0]] = a[0];"
            ),
        );
        let outcome = outcome(&source);
        outcome.lines().filter(|line| !line.starts_with("  ")).collect::<Vec<_>>().join("\n")
    };
    let refused = [
        ("f16", "read_matrices::<3>"),
        ("f32", "read_matrices::<8>"),
        ("f32", "read_matrices_transposed::<2>"),
        ("f64", "read_matrices::<2>"),
        ("u8", "read_matrices::<12>"),
    ]
    .map(|(element, read)| of(element, read));
    expect![[r#"
        error: no instruction reads matrices of f16 of which a lane gets 3 elements [TP0011]
        note: a lane gets 4 bytes of each matrix, whose elements have 1, 2 or 4, and of 1, 2 or 4 matrices
        help: read 2, 4 or 8 elements
        error: no instruction reads matrices of f32 of which a lane gets 8 elements [TP0011]
        note: a lane gets 4 bytes of each matrix, whose elements have 1, 2 or 4, and of 1, 2 or 4 matrices
        help: read 1, 2 or 4 elements
        error: no instruction reads matrices of f32 of which a lane gets 2 elements [TP0011]
        note: a lane gets a pair of elements of each matrix, which have 2 bytes each, and of 1, 2 or 4 matrices
        help: read the elements one by one: `tile[row][col]`
        error: no instruction reads matrices of f64 of which a lane gets 2 elements [TP0011]
        note: a lane gets 4 bytes of each matrix, whose elements have 1, 2 or 4, and of 1, 2 or 4 matrices
        help: read the elements one by one: `tile[row][col]`
        error: no instruction reads matrices of u8 of which a lane gets 12 elements [TP0011]
        note: a lane gets 4 bytes of each matrix, whose elements have 1, 2 or 4, and of 1, 2 or 4 matrices
        help: read 4, 8 or 16 elements"#]].assert_eq(&refused.join("\n"));
}
