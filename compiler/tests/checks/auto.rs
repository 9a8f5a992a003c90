//! Layouts that the compiler chooses.

use crate::harness::{check, kernel};
use expect_test::expect;

#[test]
fn rows_written_and_columns_read() {
    check(
        &kernel(
            "block = [32, 8], grid = [1], requires(input.rows() == 32, input.cols() == 32, output.rows() == 32, output.cols() == 32)",
            "input: &Matrix<f32>, output: &mut Matrix<f32>",
            "let mut tile = Shared::<[[f32; 32]; 32], Auto>::new();
            for k in (0..32).step_by(8) {
                tile[thread_y() + k][thread_x()] = input[[thread_y() + k, thread_x()]];
            }
            sync_threads();
            for k in (0..32).step_by(8) {
                output[[thread_y() + k, thread_x()]] = tile[thread_x()][thread_y() + k];
            }",
        ),
        expect![[r#"
            read `input[[thread_y() + k, thread_x()]]`: 32 × 4 B, 128/128 sectors
            write `tile[thread_y() + k][thread_x()]`: 32 × 4 B, 32/32 wavefronts
            read `tile[thread_x()][thread_y() + k]`: 32 × 4 B, 32/32 wavefronts
            write `output[[thread_y() + k, thread_x()]]`: 32 × 4 B, 128/128 sectors
            shared: 4096 bytes
            `tile`: Auto chose Shared<[[f32; 32]; 32], Xor<1>>: no access conflicts
            launch: input.rows() == 32
            launch: input.cols() == 32
            launch: output.rows() == 32
            launch: output.cols() == 32
        "#]],
    );
}

#[test]
fn vectors_that_are_written_transposed() {
    check(
        &kernel(
            "block = [256], grid = [1], requires(input.rows() == 128, input.cols() == 8, output.len() >= 1024, input.pitch() % 4 == 0)",
            "input: &Matrix<f32>, output: &mut Tensor<f32, 1>",
            "let mut tile = Shared::<[[f32; 128]; 8], Auto>::new();
            let t = thread_x();
            let (row, col) = (t / 2, 4 * (t % 2));
            let v = input.read::<4>([row, col]);
            for i in 0..4 {
                tile[col + i][row] = v[i];
            }
            sync_threads();
            let w = tile.read::<4>([t / 32, 4 * (t % 32)]);
            output.write([4 * t], w);",
        ),
        expect![[r#"
            read `input.read::<4>([row, col])`: 8 × 16 B, 128/128 sectors; alignment at launch: the first element is 16-byte aligned
            write `tile[col + i][row]`: 32 × 4 B, 32/32 wavefronts
            read `tile.read::<4>([t / 32, 4 * (t % 32)])`: 8 × 16 B, 32/32 wavefronts
            write `output.write([4 * t], w)`: 8 × 16 B, 128/128 sectors; alignment at launch: the first element is 16-byte aligned
            shared: 4096 bytes
            `tile`: Auto chose Shared<[[f32; 128]; 8], Xor<4>>: no access conflicts
            launch: input.rows() == 128
            launch: input.cols() == 8
            launch: output.len() >= 1024
            launch: input.pitch() % 4 == 0
        "#]],
    );
}

#[test]
fn a_bound_that_no_layout_passes() {
    let source = |budget: &str| {
        kernel(
            "block = [256], grid = [1], requires(input.rows() == 64, input.cols() == 64, output.rows() == 64, output.cols() == 64, input.pitch() % 8 == 0)",
            "input: &Matrix<u16>, output: &mut Matrix<u16>",
            &format!(
                "let mut tile = Shared::<[[u16; 64]; 64], Auto>::new();
                let t = thread_x();
                for k in 0..2 {{
                    let (row, col) = (32 * k + t / 8, 8 * (t % 8));
                    tile.write([row, col], input.read::<8>([row, col]));
                }}
                sync_threads();
                for k in 0..16 {{
                    let (row, col) = (4 * k + t / 64, t % 64);
                    {budget}
                    output[[row, col]] = tile[col][row];
                }}"
            ),
        )
    };
    check(
        &source(""),
        expect![[r#"
            error: shared-memory bank conflict: 4 wavefronts where 1 is enough [TP0101]
            note: lanes 0, 8, 16, 24 of warp 0 read words 0, 256, 512, 768: 4 words of bank 0
            note: `Auto` chose `Shared<[[u16; 64]; 64], Xor<8>>`: 384 excess wavefronts in all, 3 of one instruction at most; no layout that keeps vectors of 16 bytes whole has fewer: the 32 words that warp 0 needs on line 13 are in 8 banks, so 4 wavefronts are the least
            help: change which thread accesses which element, or accept the cost: `#[budget(bank_conflict = 3, because = "…")]` on the statement
              at `tile[col][row]`
        "#]],
    );
    check(
        &source("#[budget(bank_conflict = 3, because = \"no layout has fewer\")]"),
        expect![[r#"
            read `input.read::<8>([row, col])`: 16 × 16 B, 256/256 sectors; alignment at launch: the first element is 16-byte aligned
            write `tile.write([row, col], input.read::<8>([row, col]))`: 16 × 16 B, 64/64 wavefronts
            read `tile[col][row]`: 128 × 2 B, 512/128 wavefronts, worst excess 3; cost budgeted: no layout has fewer
            write `output[[row, col]]`: 128 × 2 B, 256/256 sectors
            shared: 8192 bytes
            `tile`: Auto chose Shared<[[u16; 64]; 64], Xor<8>>: 384 excess wavefronts in all, 3 of one instruction at most; no layout that keeps vectors of 16 bytes whole has fewer: the 32 words that warp 0 needs on line 13 are in 8 banks, so 4 wavefronts are the least
            launch: input.rows() == 64
            launch: input.cols() == 64
            launch: output.rows() == 64
            launch: output.cols() == 64
            launch: input.pitch() % 8 == 0
        "#]],
    );
}

/// 64 × 64 halves, written by rows of 16 bytes and read by columns.
#[test]
fn the_same_bound_for_halves() {
    let source = |budget: &str| {
        kernel(
            "block = [256], grid = [1], requires(input.rows() == 64, input.cols() == 64, output.rows() == 64, output.cols() == 64, input.pitch() % 8 == 0)",
            "input: &Matrix<f16>, output: &mut Matrix<f16>",
            &format!(
                "let mut tile = Shared::<[[f16; 64]; 64], Auto>::new();
                let t = thread_x();
                for k in 0..2 {{
                    let (row, col) = (32 * k + t / 8, 8 * (t % 8));
                    tile.write([row, col], input.read::<8>([row, col]));
                }}
                sync_threads();
                for k in 0..16 {{
                    let (row, col) = (4 * k + t / 64, t % 64);
                    {budget}
                    output[[row, col]] = tile[col][row];
                }}"
            ),
        )
    };
    check(
        &source(""),
        expect![[r#"
        error: shared-memory bank conflict: 4 wavefronts where 1 is enough [TP0101]
        note: lanes 0, 8, 16, 24 of warp 0 read words 0, 256, 512, 768: 4 words of bank 0
        note: `Auto` chose `Shared<[[f16; 64]; 64], Xor<8>>`: 384 excess wavefronts in all, 3 of one instruction at most; no layout that keeps vectors of 16 bytes whole has fewer: the 32 words that warp 0 needs on line 13 are in 8 banks, so 4 wavefronts are the least
        help: change which thread accesses which element, or accept the cost: `#[budget(bank_conflict = 3, because = "…")]` on the statement
          at `tile[col][row]`
    "#]],
    );
    let budget = "#[budget(bank_conflict = 3, because = \"no layout has fewer\")]";
    check(
        &source(budget),
        expect![[r#"
        read `input.read::<8>([row, col])`: 16 × 16 B, 256/256 sectors; alignment at launch: the first element is 16-byte aligned
        write `tile.write([row, col], input.read::<8>([row, col]))`: 16 × 16 B, 64/64 wavefronts
        read `tile[col][row]`: 128 × 2 B, 512/128 wavefronts, worst excess 3; cost budgeted: no layout has fewer
        write `output[[row, col]]`: 128 × 2 B, 256/256 sectors
        shared: 8192 bytes
        `tile`: Auto chose Shared<[[f16; 64]; 64], Xor<8>>: 384 excess wavefronts in all, 3 of one instruction at most; no layout that keeps vectors of 16 bytes whole has fewer: the 32 words that warp 0 needs on line 13 are in 8 banks, so 4 wavefronts are the least
        launch: input.rows() == 64
        launch: input.cols() == 64
        launch: output.rows() == 64
        launch: output.cols() == 64
        launch: input.pitch() % 8 == 0
    "#]],
    );
}

#[test]
fn several_tiles_are_decided_on_their_own() {
    check(
        &kernel(
            "block = [32], grid = [1]",
            "x: f32, y: f64, z: u8",
            "let mut a = Shared::<[[f32; 32]; 32], Auto>::new();
            let mut b = Shared::<[[f64; 16]; 33], Auto>::new();
            let mut c = Shared::<[[u8; 24]; 32], Auto>::new();
            for i in 0..32 {
                a[i][thread_x()] = x;
                sync_threads();
                a[thread_x()][i] = x;
                sync_threads();
            }
            for i in 0..16 {
                b[thread_x()][i] = y;
            }
            for i in 0..24 {
                c[thread_x()][i] = z;
            }",
        ),
        expect![[r#"
            write `a[i][thread_x()]`: 32 × 4 B, 32/32 wavefronts
            write `a[thread_x()][i]`: 32 × 4 B, 32/32 wavefronts
            write `b[thread_x()][i]`: 16 × 8 B, 32/32 wavefronts
            write `c[thread_x()][i]`: 24 × 1 B, 24/24 wavefronts
            shared: 9088 bytes
            `a`: Auto chose Shared<[[f32; 32]; 32], Xor<1>>: no access conflicts
            `b`: Auto chose Shared<[[f64; 16]; 33], Xor<1>>: no access conflicts
            `c`: Auto chose Shared<[[u8; 24]; 32], Swizzle<3, 0, 5>>: no access conflicts
        "#]],
    );
}

#[test]
fn a_place_that_only_a_swizzle_looks_at() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(n <= 32)",
            "x: f32, n: usize",
            "let mut tile = Shared::<[[f32; 32]; 32], Auto>::new();
            for i in 0..n {
                tile[i][thread_x()] = x;
                sync_threads();
                tile[thread_x()][i] = x;
                sync_threads();
            }",
        ),
        expect![[r#"
            write `tile[i][thread_x()]`: 1 × 4 B, 1/1 wavefronts
            write `tile[thread_x()][i]`: 1 × 4 B, 1/1 wavefronts
            shared: 4224 bytes
            `tile`: Auto chose Shared<[[f32; 32]; 32], Pad<1>>: no access conflicts
            launch: n <= 32
        "#]],
    );
}

#[test]
fn a_place_that_data_decides() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(input.len() >= 32)",
            "x: f32, input: &Tensor<u8, 1>",
            "let mut tile = Shared::<[[f32; 32]; 256], Auto>::new();
            tile[thread_x()][0] = x;
            sync_threads();
            #[trust(race, because = \"the rows are a permutation\")]
            #[budget(bank_conflict = 31, because = \"the rows are random\")]
            tile[input[[thread_x()]] as usize][0] = x;",
        ),
        expect![[r#"
            write `tile[thread_x()][0]`: 1 × 4 B, 1/1 wavefronts
            read `input[[thread_x()]]`: 1 × 1 B, 1/1 sectors
            write `tile[input[[thread_x()]] as usize][0]`: 1 × 4 B, 0/0 wavefronts; cost budgeted: the rows are random
            shared: 32768 bytes
            `tile`: Auto chose Shared<[[f32; 32]; 256], Xor<1>>: no access conflicts; accesses whose places differ by data are left out
            launch: input.len() >= 32
            granted: `tile[input[[thread_x()]] as usize][0]` (line 8) does not race: the rows are a permutation
        "#]],
    );
}

/// Padding does not fit, so the rows are looked at modulo what a swizzle looks at.
#[test]
fn residues_that_a_swizzle_needs() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(n <= 511), arch = sm_75",
            "x: f32, n: usize",
            "let mut tile = Shared::<[[f32; 32]; 512], Auto>::new();
            for i in 0..n {
                tile[i + thread_x() / 16][thread_x() % 16 + 16 * (thread_x() / 16)] = x;
                sync_threads();
            }
            for i in 0..32 {
                tile[thread_x()][i] = x;
            }",
        ),
        expect![[r#"
            error: shared-memory bank conflict: 2 wavefronts where 1 is enough [TP0101]
            note: lanes 15, 16 of warp 0 write words 480, 512: 2 words of bank 0
            note: `Auto` chose `Shared<[[f32; 32]; 512], Xor<1>>`: 2 excess wavefronts in all, 1 of one instruction at most, the fewest of 141 layouts
            help: change which thread accesses which element, or accept the cost: `#[budget(bank_conflict = 1, because = "…")]` on the statement
              at `tile[i + thread_x() / 16][thread_x() % 16 + 16 * (thread_x() / 16)]`
        "#]],
    );
}
