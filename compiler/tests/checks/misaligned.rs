//! Rows that are written from boundaries of their own: `misalignment`, and indices that take it back.

use crate::harness::{check, kernel};
use expect_test::expect;

const ATTRIBUTE: &str = "block = [32, 16],
    grid = [(t.extent(2) + 7).div_ceil(64), t.extent(1).div_ceil(32), t.extent(0)]";

/// A kernel that writes pairs, each row shifted by `skew`.
fn pairs(skew: &str) -> String {
    kernel(
        ATTRIBUTE,
        "t: &mut Tensor<u16, 3>",
        &format!(
            "let a = block_z();
            let (plane, pitch) = (t.stride(0) % 8, t.stride(1) % 8);
            for k in (0..32).step_by(16) {{
                let row = block_y() * 32 + k + thread_y();
                let skew = {skew};
                let col = block_x() * 64 + 2 * thread_x();
                if row < t.extent(1) && col >= skew && col - skew + 2 <= t.extent(2) {{
                    t.write([a, row, col - skew], Vector::<u16, 2>::splat(1));
                }}
            }}"
        ),
    )
}

/// Whatever the first address and the strides are, what takes them back is aligned, and two blocks of a row have one skew.
#[test]
fn what_takes_the_misalignment_back() {
    check(
        &pairs("(t.misalignment::<8>() + a % 8 * plane + row % 8 * pitch) % 8"),
        expect![[r#"
            write `t.write([a, row, col - skew], Vector::<u16, 2>::splat(1))`: 32 × 4 B, 128/128 sectors
        "#]],
    );
}

/// Of more elements than the boundary is made of nothing is known.
#[test]
fn a_boundary_that_is_too_fine() {
    let fine = pairs("(t.misalignment::<1>() + a % 8 * plane + row % 8 * pitch) % 8");
    check(
        &fine,
        expect![[r#"
        error: misaligned vector access: 4 bytes a lane, at an innermost index `col - skew` that is not always a multiple of 2 [TP0301]
        note: a vector of 2 elements starts at a multiple of 4 bytes
        help: make it one, as `2 * thread_x()` is; for an extent, promise it: `requires(….is_multiple_of(2))`
          at `t.write([a, row, col - skew], Vector::<u16, 2>::splat(1))`
    "#]],
    );
}

/// A skew that is another row's leaves the vector where it may be misaligned.
#[test]
fn the_skew_of_another_row() {
    check(
        &pairs("(t.misalignment::<8>() + a % 8 * plane + (row + 1) % 8 * pitch) % 8"),
        expect![[r#"
            error: misaligned vector access: 4 bytes a lane, at an innermost index `col - skew` that is not always a multiple of 2 [TP0301]
            note: a vector of 2 elements starts at a multiple of 4 bytes
            help: make it one, as `2 * thread_x()` is; for an extent, promise it: `requires(….is_multiple_of(2))`
              at `t.write([a, row, col - skew], Vector::<u16, 2>::splat(1))`
        "#]],
    );
}

/// A skew that the block's place along the row decides moves two blocks onto one another.
#[test]
fn skews_that_differ_within_a_row() {
    let elements = |skew: &str| {
        kernel(
            "block = [32], grid = [(t.cols() + 7).div_ceil(32), t.rows()]",
            "n: usize, t: &mut Matrix<f32>",
            &format!(
                "let (row, col) = (block_y(), block_x() * 32 + thread_x());
                let skew = {skew};
                if col >= skew && col - skew < t.cols() {{
                    t[[row, col - skew]] = 1.0;
                }}"
            ),
        )
    };
    check(
        &elements("(t.misalignment::<8>() + n % 8 * (row % 8)) % 8"),
        expect![[r#"
        write `t[[row, col - skew]]`: 1 × 4 B, 4/4 sectors
    "#]],
    );
    check(
        &elements("(t.misalignment::<8>() + block_x() % 8) % 8"),
        expect![[r#"
        error: two blocks may write one element of `t`: `t[[row, col - skew]]` [TP0802]
        note: nothing here says that two blocks write different elements: the index depends on a quotient
        help: make each block write its own elements, or update them by `atomic_add` and its like
          at `t[[row, col - skew]]`
    "#]],
    );
    check(
        &elements("(t.misalignment::<8>() + n % 8 * (thread_x() % 8)) % 8"),
        expect![[r#"
        error: whether this access coalesces is not known [TP0201]
        note: the address depends on a quotient, and may differ from lane to lane
        help: take responsibility for the cost: `#[budget(excess_sectors = 31, because = "…")]` on the statement
          at `t[[row, col - skew]]`
        error: two blocks may write one element of `t`: `t[[row, col - skew]]` [TP0802]
        note: nothing here says that two blocks write different elements: the index depends on a quotient
        help: make each block write its own elements, or update them by `atomic_add` and its like
          at `t[[row, col - skew]]`
    "#]],
    );
}

/// What a load brings differs from block to block.
#[test]
fn skews_from_memory() {
    check(
        &kernel(
            "block = [32], grid = [(t.cols() + 7).div_ceil(32), t.rows()], requires(s.len() >= t.rows())",
            "s: &Tensor<u32, 1>, t: &mut Matrix<f32>",
            "let (row, col) = (block_y(), block_x() * 32 + thread_x());
            let skew = (s[[row]] % 8) as usize;
            if col >= skew && col - skew < t.cols() {
                t[[row, col - skew]] = 1.0;
            }",
        ),
        expect![[r#"
            error: two blocks may write one element of `t`: `t[[row, col - skew]]` [TP0802]
            note: nothing here says that two blocks write different elements: the index depends on `u32` arithmetic that may wrap
            help: make each block write its own elements, or update them by `atomic_add` and its like
              at `t[[row, col - skew]]`
        "#]],
    );
}

#[test]
fn wrong_boundaries() {
    let asked = |of: &str| {
        kernel(
            "block = [32], grid = [t.len()]",
            "t: &mut Tensor<f64, 1>",
            &format!("if block_x() + 32 < t.len() {{ t[[t.misalignment::<{of}>()]] = 1.0; }}"),
        )
    };
    check(
        &asked("12"),
        expect![[r#"
        error: boundaries lie a power of two of elements apart, and these 12 [TP0007]
        help: use 2, 4, 8, … up to 32
          at `t.misalignment::<12>()`
    "#]],
    );
    check(
        &asked("64"),
        expect![[r#"
        error: boundaries lie a power of two of elements apart, and these 64 [TP0007]
        help: use 2, 4, 8, … up to 32
          at `t.misalignment::<64>()`
    "#]],
    );
    let grid = kernel("block = [32], grid = [t.misalignment::<4>()]", "t: &mut Tensor<f64, 1>", "");
    check(
        &grid,
        expect![[r#"
        error: where a tensor begins is not known to the contract and the grid [TP0007]
        help: ask for it in the kernel's body
          at `t.misalignment::<4>()`
    "#]],
    );
}
