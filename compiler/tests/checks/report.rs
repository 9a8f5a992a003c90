//! What the report says besides verdicts: what a block computes for what it moves, and where the lanes of a warp go.

use crate::harness::{kernel, report, warp};
use expect_test::{Expect, expect};
use tileproof_model::report::NoMap;

/// Compares what a block computes and moves.
#[track_caller]
fn works(source: &str, expected: Expect) {
    expected.assert_eq(&report(source).work.iter().map(ToString::to_string).collect::<String>());
}

/// A statement of one warp, and the operations that it is.
#[track_caller]
fn operations(body: &str, number: u64) {
    assert_eq!(report(&warp(body)).work[0].operations, number, "{body}");
}

const MATMUL: &str = "let mut a = Shared::<[[f32; 16]; 16]>::new();
let mut b = Shared::<[[f32; 16]; 16]>::new();
let (row, col) = (block_y() * 16 + thread_y(), block_x() * 16 + thread_x());
let mut sum = 0.0;
for k in 0..x.cols() / 16 {
    a[thread_y()][thread_x()] = x[[row, k * 16 + thread_x()]];
    b[thread_y()][thread_x()] = y[[k * 16 + thread_y(), col]];
    sync_threads();
    for i in 0..16 {
        sum = a[thread_y()][i].mul_add(b[i][thread_x()], sum);
    }
    sync_threads();
}
z[[row, col]] = scale * sum;";

fn matmul() -> String {
    kernel(
        "block = [16, 16], grid = [z.cols() / 16, z.rows() / 16], requires(x.cols() % 16 == 0, y.rows() == x.cols(), \
         z.rows() % 16 == 0, z.cols() % 16 == 0, x.rows() == z.rows(), y.cols() == z.cols())",
        "scale: f32, x: &Matrix<f32>, y: &Matrix<f32>, z: &mut Matrix<f32>",
        MATMUL,
    )
}

#[test]
fn a_loop_of_unknown_length_has_its_own_row() {
    works(
        &matmul(),
        expect![[r#"
            a block: 256 floating-point operations; 1024 bytes of global memory asked for
              0.25 operations a byte of global memory
            an iteration of the loop on line 7: 8192 floating-point operations; 2048 bytes of global memory asked for, 34816 bytes of shared-memory wavefronts
              4.00 operations a byte of global memory, 0.24 operations a byte of shared memory
        "#]],
    );
    let report = report(&matmul());
    let lines: Vec<_> = report.sites.iter().map(|site| (site.loop_line, site.instructions)).collect();
    assert_eq!(
        lines,
        [(Some(7), 8), (Some(7), 8), (Some(7), 8), (Some(7), 8), (Some(7), 128), (Some(7), 128), (None, 8)]
    );
}

#[test]
fn operations_are_those_of_threads_that_can_be_there() {
    operations("output[[thread_x()]] = 2.0 * input[[thread_x()]] + 1.0;", 64);
    operations("if thread_x() < 5 { output[[thread_x()]] = 2.0 * input[[thread_x()]]; }", 5);
    operations("let mut s = 0.0; for _j in 0..thread_x() { s += 1.5; } output[[thread_x()]] = s;", 496);
    operations(
        "let mut s = 0.0; let mut j = 0; while j < 3 { s += 1.5; j += 1; } output[[thread_x()]] = s;",
        96,
    );
    // What data decides may be done by all.
    operations(
        "let x = input[[thread_x()]]; output[[thread_x()]] = if x > 0.0 { x * x } else { x + x };",
        64,
    );
}

#[test]
fn what_counts_as_an_operation() {
    let x = "let x = input[[thread_x()]];";
    for (value, number) in [
        ("x * x", 1),
        ("x.mul_add(x, x)", 2),
        ("x.sqrt() / x", 2),
        ("-x", 0),
        ("x.max(0.0)", 0),
        ("x.abs()", 0),
        ("(thread_x() * 3 + 1) as f32", 0),
        ("(x as f64 * 2.0) as f32", 1),
    ] {
        operations(&format!("{x} output[[thread_x()]] = {value};"), 32 * number);
    }
    operations("let x = input.read::<4>([4 * thread_x()]); output.write([4 * thread_x()], x * x);", 32 * 4);
}

#[test]
fn a_loop_that_data_ends_is_one_iteration() {
    works(
        &warp(
            "let mut x = input[[thread_x()]];
            while x * x > 1.0 {
                x = 0.5 * x;
            }
            output[[thread_x()]] = x;",
        ),
        expect![[r#"
            a block: 0 floating-point operations; 256 bytes of global memory asked for
            an iteration of the loop on line 4: 64 floating-point operations; 0 bytes of global memory asked for
        "#]],
    );
}

#[test]
fn conflicts_cost_intensity() {
    works(
        &warp(
            "let mut tile = Shared::<[[f32; 32]; 32]>::new();
            for r in 0..32 {
                tile[r][thread_x()] = input[[32 * r + thread_x()]];
            }
            sync_threads();
            #[budget(bank_conflict = 31, because = \"shows the cost\")]
            let x = tile[thread_x()][3];
            output[[thread_x()]] = 2.0 * x;",
        ),
        expect![[r#"
            a block: 32 floating-point operations; 4224 bytes of global memory asked for, 8192 bytes of shared-memory wavefronts
              0.01 operations a byte of global memory, 0.00 operations a byte of shared memory
        "#]],
    );
}

#[test]
fn an_access_that_is_not_known_leaves_no_intensity() {
    let source = kernel(
        "block = [32], grid = [1], requires(input.len() >= 32, output.len() >= 32)",
        "input: &Tensor<u32, 1>, output: &mut Tensor<f32, 1>",
        "let mut tile = Shared::<[f32; 64]>::new();
        tile[thread_x()] = 1.0;
        tile[thread_x() + 32] = 1.0;
        sync_threads();
        let i = input[[thread_x()]];
        #[budget(bank_conflict = 31, because = \"data decides\")]
        let x = tile[i as usize % 64];
        output[[thread_x()]] = 2.0 * x;",
    );
    works(
        &source,
        expect![[r#"
            a block: 32 floating-point operations; 256 bytes of global memory asked for, an unknown number of bytes of shared-memory wavefronts
              0.12 operations a byte of global memory
        "#]],
    );
    let report = report(&source);
    let maps: Vec<bool> = (0..report.sites.len()).map(|site| report.bank_map(site).is_ok()).collect();
    assert_eq!(maps, [true, true, false, false, false]);
    let Err(NoMap::Unknown(reason)) = report.bank_map(3) else { panic!("a reason") };
    expect!["the place depends on a value of `input`, and may differ from lane to lane"].assert_eq(&reason);
}

#[test]
fn the_map_is_of_the_worst_warp() {
    let source = kernel(
        "block = [32, 2], grid = [1], requires(output.len() >= 64)",
        "output: &mut Tensor<f32, 1>",
        "let mut tile = Shared::<[f32; 128]>::new();
        #[trust(race, because = \"the subject is its banks\")]
        #[budget(bank_conflict = 1, because = \"the second warp\")]
        tile[thread_x() * (thread_y() + 1)] = 1.0;
        output[[thread_x() + 32 * thread_y()]] = 2.0;",
    );
    expect![[r#"
        line 6: tile[thread_x() * (thread_y() + 1)], warp 1: 2 wavefronts where 1 is enough
        bank    0  1  2  3  4  5  6  7  8  9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
           0    0  ·  1  ·  2  ·  3  ·  4  ·  5  ·  6  ·  7  ·  8  ·  9  · 10  · 11  · 12  · 13  · 14  · 15  ·
           1!  16  · 17  · 18  · 19  · 20  · 21  · 22  · 23  · 24  · 25  · 26  · 27  · 28  · 29  · 30  · 31  ·
    "#]]
    .assert_eq(&report(&source).bank_map(0).unwrap().to_string());
}

/// A loop over registers that is come to again computes as much again, also where it is not followed again.
#[test]
fn loops_over_registers_that_are_come_to_again() {
    let each = "for i in 0..4 { sums[i] = value.mul_add(2.0, sums[i]); }";
    let body = |steps: &str| {
        format!(
            "let mut sums = [0.0; 4];
            for k in 0..8 {{ let value = input[[32 * k + thread_x()]]; {steps} }}
            output[[thread_x()]] = sums[0] + sums[3];"
        )
    };
    operations(&body(each), 32 * (8 * 4 * 2 + 1));
    operations(
        &body(&format!("if thread_x() < 8 {{ {each} }} {each}")),
        32 * (8 * 4 * 2 + 1) + 8 * 8 * 4 * 2,
    );
    operations(&body("for i in 0..k % 4 { sums[i] += value; }"), 32 * (2 * (1 + 2 + 3) + 1));
}
