//! `isize`: offsets that may be below zero.

use crate::harness::{check, kernel};
use expect_test::expect;

fn halo(body: &str) -> String {
    kernel(
        "block = [32], grid = [output.cols().div_ceil(32), output.rows()], requires(input.rows() == output.rows(), input.cols() == output.cols())",
        "n: isize, input: &Matrix<f32>, output: &mut Matrix<f32>",
        &format!(
            "let (r, c) = (block_y(), block_x() * 32 + thread_x());\nif c < output.cols() {{\n{body}\n}}"
        ),
    )
}

#[test]
fn a_guard_proves_an_offset_inside() {
    check(
        &halo(
            "let above = r as isize - 1;
            let mut sum = 0.0;
            if above >= 0 { sum += input[[above as usize, c]]; }
            let right = c as isize + 1;
            if right >= 0 && right < input.cols() as isize { sum += input[[r, right as usize]]; }
            output[[r, c]] = sum;",
        ),
        expect![[r#"
            read `input[[above as usize, c]]`: 1 × 4 B, 4/4 sectors
            read `input[[r, right as usize]]`: 1 × 4 B, 4/4 sectors
            write `output[[r, c]]`: 1 × 4 B, 4/4 sectors
            launch: input.rows() == output.rows()
            launch: input.cols() == output.cols()
        "#]],
    );
}

#[test]
fn a_loop_over_a_window() {
    check(
        &halo(
            "let mut sum = 0.0;
            for d in -2..3 {
                let x = c as isize + d;
                if x >= 0 && (x as usize) < input.cols() { sum += input[[r, x as usize]]; }
            }
            output[[r, c]] = sum;",
        ),
        expect![[r#"
            read `input[[r, x as usize]]`: 5 × 4 B, 20/20 sectors
            write `output[[r, c]]`: 1 × 4 B, 4/4 sectors
            launch: input.rows() == output.rows()
            launch: input.cols() == output.cols()
        "#]],
    );
}

#[test]
fn what_may_be_below_zero_is_no_index() {
    check(
        &halo("output[[r, c]] = input[[(r as isize - 1) as usize, c]];"),
        expect![[r#"
        error: an `isize` that becomes an index may be below zero: `(r as isize - 1) as usize` [TP0501]
        note: `usize` has no negative numbers: the index would wrap to a very large one
        help: guard it with `>= 0` of the `isize`, as in `if r >= 0 && r < n as isize { … }`
          at `(r as isize - 1) as usize`
    "#]],
    );
    check(
        &halo("if n < 5 { output[[r, c]] = input[[n as usize, c]]; }"),
        expect![[r#"
        error: an `isize` that becomes an index may be below zero: `n as usize` [TP0501]
        note: `usize` has no negative numbers: the index would wrap to a very large one
        help: guard it with `>= 0` of the `isize`, as in `if r >= 0 && r < n as isize { … }`
          at `n as usize`
    "#]],
    );
}

#[test]
fn offsets_must_fit() {
    check(
        &halo("if (n * n) * n > 3 { output[[r, c]] = 1.0; }"),
        expect![[r#"
        error: index arithmetic may overflow: `n * n` [TP0501]
        note: nothing here says how large the operands are
        help: state what bounds them in `requires(…)`, or guard it with a comparison
          at `n * n`
    "#]],
    );
    check(
        &halo("if n / (n - 1) > 3 { output[[r, c]] = 1.0; }"),
        expect![[r#"
        error: division may be by zero: `n / (n - 1)` [TP0501]
        note: nothing here says that the divisor is at least 1
        help: promise it in `requires(…)`, or guard the division with a comparison
          at `n / (n - 1)`
    "#]],
    );
    check(
        &halo("if n > 1 && n / (n - 1) > 3 { output[[r, c]] = -n as f32; }"),
        expect![[r#"
        write `output[[r, c]]`: 1 × 4 B, 4/4 sectors
        launch: input.rows() == output.rows()
        launch: input.cols() == output.cols()
    "#]],
    );
}

/// Methods that keep an index inside, said in comparisons and arithmetic that the analysis knows.
#[test]
fn methods_that_keep_an_index_inside() {
    check(
        &halo(
            "let up = (r as isize - 1).rem_euclid(input.rows() as isize); output[[r, c]] = input[[up as usize, c]];",
        ),
        expect![[r#"
            read `input[[up as usize, c]]`: 1 × 4 B, 4/4 sectors
            write `output[[r, c]]`: 1 × 4 B, 4/4 sectors
            launch: input.rows() == output.rows()
            launch: input.cols() == output.cols()
        "#]],
    );
    check(
        &halo("output[[r, c]] = input[[r.saturating_sub(1), c]];"),
        expect![[r#"
        read `input[[r.saturating_sub(1), c]]`: 1 × 4 B, 4/4 sectors
        write `output[[r, c]]`: 1 × 4 B, 4/4 sectors
        launch: input.rows() == output.rows()
        launch: input.cols() == output.cols()
    "#]],
    );
    check(
        &halo(
            "let x = (c as isize - 3).clamp(0, input.cols() as isize - 1); output[[r, c]] = input[[r, x as usize]];",
        ),
        expect![[r#"
            read `input[[r, x as usize]]`: 1 × 4 B, 4/4 sectors
            write `output[[r, c]]`: 1 × 4 B, 4/4 sectors
            launch: input.rows() == output.rows()
            launch: input.cols() == output.cols()
        "#]],
    );
    check(
        &halo("if r >= 5 && r.abs_diff(5) < output.rows() { output[[r.abs_diff(5), c]] = 1.0; }"),
        expect![[r#"
        write `output[[r.abs_diff(5), c]]`: 1 × 4 B, 4/4 sectors
        launch: input.rows() == output.rows()
        launch: input.cols() == output.cols()
    "#]],
    );
    check(
        &halo("output[[r, c]] = input[[r.wrapping_sub(1), c]];"),
        expect![[r#"
            error: index may be out of bounds: nothing here says that `r.wrapping_sub(1) < input.rows()` [TP0402]
            note: `r.wrapping_sub(1)` depends on a value from memory or on arithmetic that may wrap
            help: give it a name, and guard that: `let index = r.wrapping_sub(1);`, `if index < input.rows() { … }`
              at `input[[r.wrapping_sub(1), c]]`
        "#]],
    );
}

/// The end is an offset like any other: the number after it must be one too.
#[test]
fn a_window_of_any_radius() {
    check(
        &halo(
            "let mut sum = 0.0;
            for d in (-n..=n).rev() { sum += input.get_or([r as isize + d, c as isize], 0.0); }
            output[[r, c]] = sum;",
        ),
        expect![[r#"
            read `input.get_or([r as isize + d, c as isize], 0.0)`: 1 × 4 B, 4/4 sectors
            write `output[[r, c]]`: 1 × 4 B, 4/4 sectors
            launch: input.rows() == output.rows()
            launch: input.cols() == output.cols()
        "#]],
    );
}

/// A remainder is below its divisor whatever the ranges of what it is made of.
#[test]
fn a_remainder_as_an_offset() {
    check(
        &halo(
            "let above = (r + 1) % input.rows();
            let below = above as isize - 1;
            let mut sum = 0.0;
            if below >= 0 { sum = input[[below as usize, c]]; }
            output[[r, c]] = sum + (above as u64) as f32;",
        ),
        expect![[r#"
            read `input[[below as usize, c]]`: 1 × 4 B, 4/4 sectors
            write `output[[r, c]]`: 1 × 4 B, 4/4 sectors
            launch: input.rows() == output.rows()
            launch: input.cols() == output.cols()
        "#]],
    );
}

/// Of a difference that is not negative, neither is the half, and its low bits are small.
#[test]
fn parts_of_a_difference() {
    let attribute = "block = [32], grid = [1], requires(output.len() >= 128)";
    check(
        &kernel(
            attribute,
            "n: usize, output: &mut Tensor<f32, 1>",
            "for k in (0..n).rev() {
                #[trust(race, because = \"another matter\")]
                output[[k / 2 % 2 * 32 + thread_x()]] = 1.0;
                #[trust(race, because = \"another matter\")]
                #[budget(excess_sectors = 31, because = \"a pattern that only the launch knows\")]
                output[[(thread_x() ^ (k & 3)) + (k >> 1) % 3 * 32]] = 2.0;
            }",
        ),
        expect![[r#"
            write `output[[k / 2 % 2 * 32 + thread_x()]]`: 1 × 4 B, 4/4 sectors
            write `output[[(thread_x() ^ (k & 3)) + (k >> 1) % 3 * 32]]`: 1 × 4 B, 0/0 sectors; cost budgeted: a pattern that only the launch knows
            launch: output.len() >= 128
            granted: `output[[k / 2 % 2 * 32 + thread_x()]]` (line 5) does not race: another matter
            granted: `output[[(thread_x() ^ (k & 3)) + (k >> 1) % 3 * 32]]` (line 8) does not race: another matter
        "#]],
    );
}
