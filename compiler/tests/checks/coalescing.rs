//! Sectors of global accesses.

use crate::harness::{check, kernel, warp};
use expect_test::expect;

fn matrix(block: &str, body: &str) -> String {
    kernel(
        &format!(
            "block = {block}, grid = [1], requires(output.rows() == input.rows(), output.cols() == input.cols())"
        ),
        "input: &Matrix<f32>, output: &mut Matrix<f32>",
        body,
    )
}

#[test]
fn a_row_a_warp() {
    check(
        &matrix(
            "[32, 8]",
            "if thread_y() < input.rows() && thread_x() < input.cols() {
                output[[thread_y(), thread_x()]] = input[[thread_y(), thread_x()]];
            }",
        ),
        expect![[r#"
            read `input[[thread_y(), thread_x()]]`: 8 × 4 B, 32/32 sectors
            write `output[[thread_y(), thread_x()]]`: 8 × 4 B, 32/32 sectors
            launch: output.rows() == input.rows()
            launch: output.cols() == input.cols()
        "#]],
    );
}

#[test]
fn a_column_a_warp() {
    check(
        &matrix(
            "[32, 8]",
            "if thread_x() < input.rows() && thread_y() < input.cols() {
                output[[thread_x(), thread_y()]] = input[[thread_x(), thread_y()]];
            }",
        ),
        expect![[r#"
            error: uncoalesced store: 32 sectors of 32 bytes where 4 are enough [TP0201]
            note: the lanes of warp 0 are in different rows of `output`, so 128 of 1,024 bytes are used
            help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
            help: or accept the cost: `#[budget(excess_sectors = 28, because = "…")]` on the statement
              at `output[[thread_x(), thread_y()]]`
            error: uncoalesced load: 32 sectors of 32 bytes where 4 are enough [TP0201]
            note: the lanes of warp 0 are in different rows of `input`, so 128 of 1,024 bytes are used
            help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
            help: or accept the cost: `#[budget(excess_sectors = 28, because = "…")]` on the statement
              at `input[[thread_x(), thread_y()]]`
        "#]],
    );
}

/// Eight lanes a row fill one sector each: four rows of 32 bytes are ideal, and the run says that they are short.
#[test]
fn short_rows_that_fill_sectors() {
    check(
        &matrix(
            "[8, 32]",
            "if thread_y() < input.rows() && thread_x() < input.cols() {
                output[[thread_y(), thread_x()]] = input[[thread_y(), thread_x()]];
            }",
        ),
        expect![[r#"
            read `input[[thread_y(), thread_x()]]`: 8 × 4 B, 32/32 sectors
            write `output[[thread_y(), thread_x()]]`: 8 × 4 B, 32/32 sectors
            launch: output.rows() == input.rows()
            launch: output.cols() == input.cols()
        "#]],
    );
}

#[test]
fn rows_shorter_than_a_sector() {
    check(
        &matrix(
            "[4, 32]",
            "if thread_y() < input.rows() && thread_x() < input.cols() {
                output[[thread_y(), thread_x()]] = input[[thread_y(), thread_x()]];
            }",
        ),
        expect![[r#"
            error: uncoalesced store: 8 sectors of 32 bytes where 4 are enough [TP0201]
            note: the lanes of warp 0 are in different rows of `output`, so 128 of 256 bytes are used
            help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
            help: or accept the cost: `#[budget(excess_sectors = 4, because = "…")]` on the statement
              at `output[[thread_y(), thread_x()]]`
            error: uncoalesced load: 8 sectors of 32 bytes where 4 are enough [TP0201]
            note: the lanes of warp 0 are in different rows of `input`, so 128 of 256 bytes are used
            help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
            help: or accept the cost: `#[budget(excess_sectors = 4, because = "…")]` on the statement
              at `input[[thread_y(), thread_x()]]`
        "#]],
    );
}

/// Rows that the end of a warp cuts need a sector in both warps: that is ideal.
#[test]
fn rows_that_the_warp_cuts() {
    check(
        &matrix(
            "[12, 16]",
            "if thread_y() < input.rows() && thread_x() < input.cols() {
                output[[thread_y(), thread_x()]] = input[[thread_y(), thread_x()]];
            }",
        ),
        expect![[r#"
            read `input[[thread_y(), thread_x()]]`: 6 × 4 B, 32/32 sectors
            write `output[[thread_y(), thread_x()]]`: 6 × 4 B, 32/32 sectors
            launch: output.rows() == input.rows()
            launch: output.cols() == input.cols()
        "#]],
    );
}

#[test]
fn strides() {
    let strided = |stride: u32| warp(&format!("output[[thread_x()]] = input[[thread_x() * {stride}]];"));
    check(
        &strided(1),
        expect![[r#"
        read `input[[thread_x() * 1]]`: 1 × 4 B, 4/4 sectors
        write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &strided(2),
        expect![[r#"
        error: uncoalesced load: 8 sectors of 32 bytes where 4 are enough [TP0201]
        note: neighbouring lanes of warp 0 are 8 bytes apart, so 128 of 256 bytes are used
        help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
        help: or accept the cost: `#[budget(excess_sectors = 4, because = "…")]` on the statement
          at `input[[thread_x() * 2]]`
    "#]],
    );
    check(
        &strided(8),
        expect![[r#"
            error: uncoalesced load: 32 sectors of 32 bytes where 4 are enough [TP0201]
            note: neighbouring lanes of warp 0 are 32 bytes apart, so 128 of 1,024 bytes are used
            help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
            help: or accept the cost: `#[budget(excess_sectors = 28, because = "…")]` on the statement
              at `input[[thread_x() * 8]]`
        "#]],
    );
    check(
        &strided(128),
        expect![[r#"
            error: uncoalesced load: 32 sectors of 32 bytes where 4 are enough [TP0201]
            note: neighbouring lanes of warp 0 are 512 bytes apart, so 128 of 1,024 bytes are used
            help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
            help: or accept the cost: `#[budget(excess_sectors = 28, because = "…")]` on the statement
              at `input[[thread_x() * 128]]`
        "#]],
    );
}

#[test]
fn reversed_and_permuted_rows_are_clean() {
    check(
        &warp("output[[thread_x()]] = input[[31 - thread_x()]];"),
        expect![[r#"
        read `input[[31 - thread_x()]]`: 1 × 4 B, 4/4 sectors
        write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &warp("output[[thread_x() ^ 5]] = input[[thread_x() ^ 16]];"),
        expect![[r#"
        read `input[[thread_x() ^ 16]]`: 1 × 4 B, 4/4 sectors
        write `output[[thread_x() ^ 5]]`: 1 × 4 B, 4/4 sectors
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &warp("output[[(thread_x() + 7) % 32]] = input[[0]];"),
        expect![[r#"
        read `input[[0]]`: 1 × 4 B, 1/1 sectors
        write `output[[(thread_x() + 7) % 32]]`: 1 × 4 B, 4/4 sectors
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
}

#[test]
fn a_stride_that_the_launch_gives() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(input.len() >= 32, output.len() >= 32)",
            "stride: usize, input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>",
            "let i = thread_x() * stride;
            if i < input.len() {
                output[[thread_x()]] = input[[i]];
            }",
        ),
        expect![[r#"
            error: uncoalesced load: 32 sectors of 32 bytes where 4 are enough [TP0201]
            note: the lanes of warp 0 are in different rows of `input`, so 128 of 1,024 bytes are used
            help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
            help: or accept the cost: `#[budget(excess_sectors = 28, because = "…")]` on the statement
              at `input[[i]]`
        "#]],
    );
}

#[test]
fn gathers() {
    let gather = |index: &str| {
        kernel(
            "block = [32], grid = [1], requires(rows.len() >= 32, output.len() >= 32)",
            "rows: &Tensor<u32, 1>, input: &Matrix<f32>, output: &mut Tensor<f32, 1>",
            &format!(
                "let row = rows[[{index}]] as usize;
                if row < input.rows() && thread_x() < input.cols() {{
                    output[[thread_x()]] = input[[row, thread_x()]];
                }}"
            ),
        )
    };
    // One row for the whole warp.
    check(
        &gather("0"),
        expect![[r#"
        read `rows[[0]]`: 1 × 4 B, 1/1 sectors
        read `input[[row, thread_x()]]`: 1 × 4 B, 4/4 sectors
        write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
        launch: rows.len() >= 32
        launch: output.len() >= 32
    "#]],
    );
    // A row for every lane.
    check(
        &gather("thread_x()"),
        expect![[r#"
            error: whether this access coalesces is not known [TP0201]
            note: the address depends on a value of `rows` * input.pitch(), and may differ from lane to lane
            help: take responsibility for the cost: `#[budget(excess_sectors = 31, because = "…")]` on the statement
              at `input[[row, thread_x()]]`
        "#]],
    );
}

/// Clamped indices are judged away from the edge.
#[test]
fn clamped_indices() {
    let clamped = |index: &str| {
        kernel(
            "block = [32], grid = [output.len().div_ceil(32)], requires(output.len() == input.len())",
            "input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>",
            &format!(
                "let i = block_x() * 32 + thread_x();
                if i < output.len() {{ output[[i]] = input[[{index}]]; }}"
            ),
        )
    };
    check(
        &clamped("i.max(1) - 1"),
        expect![[r#"
            read `input[[i.max(1) - 1]]`: 1 × 4 B, 4/4 sectors
            write `output[[i]]`: 1 × 4 B, 4/4 sectors
            launch: output.len() == input.len()
        "#]],
    );
    // Bounded, but which of the two a lane takes is not known.
    check(
        &clamped("if i > 0 { i - 1 } else { i }"),
        expect![[r#"
            error: whether this access coalesces is not known [TP0201]
            note: the address depends on one of two values, and may differ from lane to lane
            help: take responsibility for the cost: `#[budget(excess_sectors = 31, because = "…")]` on the statement
              at `input[[if i > 0 { i - 1 } else { i }]]`
        "#]],
    );
    check(
        &kernel(
            "block = [32], grid = [input.len().div_ceil(32)], requires(output.len() == input.len())",
            "input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>",
            "let i = block_x() * 32 + thread_x();
            if i < output.len() {
                output[[i]] = input[[(i + 1).min(input.len() - 1)]];
            }",
        ),
        expect![[r#"
            read `input[[(i + 1).min(input.len() - 1)]]`: 1 × 4 B, 4/4 sectors
            write `output[[i]]`: 1 × 4 B, 4/4 sectors
            launch: output.len() == input.len()
        "#]],
    );
}

/// A quotient differs within a warp, so a place that depends on one is known only where rows hold whole warps: they are promised to,
/// or they are those of a tensor.
#[test]
fn rows_that_may_be_short() {
    let by = |divisor: &str, promise: &str| {
        kernel(
            &format!("block = [32], grid = [1], requires(x.len() >= 1024, y.len() >= 32, s >= 1{promise})"),
            "x: &Tensor<f32, 1>, y: &mut Tensor<f32, 1>, z: &Matrix<f32>, s: usize",
            &format!("let t = thread_x();\ny[[t]] = x[[t / {divisor} * 8]];"),
        )
    };
    check(
        &by("s", ""),
        expect![[r#"
        error: whether this access coalesces is not known [TP0201]
        note: the address depends on a quotient, and may differ from lane to lane
        help: take responsibility for the cost: `#[budget(excess_sectors = 31, because = "…")]` on the statement
          at `x[[t / s * 8]]`
    "#]],
    );
    check(
        &by("s", ", s <= 16"),
        expect![[r#"
        error: whether this access coalesces is not known [TP0201]
        note: the address depends on a quotient, and may differ from lane to lane
        help: take responsibility for the cost: `#[budget(excess_sectors = 31, because = "…")]` on the statement
          at `x[[t / s * 8]]`
    "#]],
    );
    check(
        &by("s", ", s >= 32"),
        expect![[r#"
        read `x[[t / s * 8]]`: 1 × 4 B, 1/1 sectors
        write `y[[t]]`: 1 × 4 B, 4/4 sectors
        launch: x.len() >= 1024
        launch: y.len() >= 32
        launch: s >= 1
        launch: s >= 32
    "#]],
    );
    check(
        &by("z.cols()", ", z.cols() >= 1"),
        expect![[r#"
        read `x[[t / z.cols() * 8]]`: 1 × 4 B, 1/1 sectors
        write `y[[t]]`: 1 × 4 B, 4/4 sectors
        launch: x.len() >= 1024
        launch: y.len() >= 32
        launch: s >= 1
        launch: z.cols() >= 1
    "#]],
    );
    check(
        &by("z.cols()", ", z.cols() >= 1, z.cols() <= 16"),
        expect![[r#"
        error: whether this access coalesces is not known [TP0201]
        note: the address depends on a quotient, and may differ from lane to lane
        help: take responsibility for the cost: `#[budget(excess_sectors = 31, because = "…")]` on the statement
          at `x[[t / z.cols() * 8]]`
    "#]],
    );
}

/// The distance of two numbers is the larger less the lesser: not both can be the one that varies.
#[test]
fn distances() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(x.len() >= 1024, y.len() >= 32, s <= 200)",
            "x: &Tensor<f32, 1>, y: &mut Tensor<f32, 1>, s: usize",
            "y[[thread_x()]] = x[[thread_x().abs_diff(s) * 4]];",
        ),
        expect![[r#"
            error: whether this access coalesces is not known [TP0201]
            note: the address depends on a minimum, and may differ from lane to lane
            help: take responsibility for the cost: `#[budget(excess_sectors = 31, because = "…")]` on the statement
              at `x[[thread_x().abs_diff(s) * 4]]`
        "#]],
    );
}
