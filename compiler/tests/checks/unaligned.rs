//! Vectors that begin anywhere in a row.

use crate::harness::{check, kernel, warp};
use expect_test::expect;

#[test]
fn each_aligned_vector_is_an_access() {
    check(
        &warp("output.write([4 * thread_x()], input.read_unaligned::<4>([4 * thread_x() + 3]));"),
        expect![[r#"
        read `input.read_unaligned::<4>([4 * thread_x() + 3]), the first aligned vector`: 1 × 16 B, 16/16 sectors
        read `input.read_unaligned::<4>([4 * thread_x() + 3]), the last aligned vector where it is another`: 1 × 16 B, 16/16 sectors
        read `input.read_unaligned::<4>([4 * thread_x() + 3])` at the edge: 4 × 4 B, 64/16 sectors, worst excess 12; cost budgeted: only at the edge of the tensor
        write `output.write([4 * thread_x()], input.read_unaligned::<4>([4 * thread_x() + 3]))`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
}

#[test]
fn vectors_that_overlap() {
    check(
        &warp("output.write([4 * thread_x()], input.read_unaligned::<4>([thread_x()]));"),
        expect![[r#"
        read `input.read_unaligned::<4>([thread_x()]), the first aligned vector`: 1 × 16 B, 5/5 sectors
        read `input.read_unaligned::<4>([thread_x()]), the last aligned vector where it is another`: 1 × 16 B, 5/5 sectors
        read `input.read_unaligned::<4>([thread_x()])` at the edge: 4 × 4 B, 16/16 sectors
        write `output.write([4 * thread_x()], input.read_unaligned::<4>([thread_x()]))`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
}

#[test]
fn the_elements_must_be_inside() {
    check(
        &warp(
            "output.write([4 * thread_x()], input.read_unaligned::<4>([block_x() * 4096 + 4 * thread_x()]));
        output.write([4 * thread_x()], input.read_unaligned::<4>([input.len() - 3]));",
        ),
        expect![[r#"
            error: index out of bounds: `input.len() - 3 + 3` is 3, and the last index of `input` there is 2 [TP0402]
            note: thread 0 reads it
              at `input.read_unaligned::<4>([input.len() - 3])`
        "#]],
    );
}

#[test]
fn a_row_a_lane_is_one_error() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(input.rows() >= 32, input.cols() >= 5, output.len() >= 128)",
            "input: &Matrix<f32>, output: &mut Tensor<f32, 1>",
            "output.write([4 * thread_x()], input.read_unaligned::<4>([thread_x(), 1]));",
        ),
        expect![[r#"
            error: uncoalesced load: 32 sectors of 32 bytes where 16 are enough [TP0201]
            note: the lanes of warp 0 are in different rows of `input`, so 512 of 1,024 bytes are used
            help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
            help: or accept the cost: `#[budget(excess_sectors = 16, because = "…")]` on the statement
              at `input.read_unaligned::<4>([thread_x(), 1])`
        "#]],
    );
}

#[test]
fn a_budget_covers_both_vectors() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(input.rows() >= 32, input.cols() >= 5, output.len() >= 128)",
            "input: &Matrix<f32>, output: &mut Tensor<f32, 1>",
            "#[budget(excess_sectors = 16, because = \"a row a lane\")]
            let row = input.read_unaligned::<4>([thread_x(), 1]);
            output.write([4 * thread_x()], row);",
        ),
        expect![[r#"
            read `input.read_unaligned::<4>([thread_x(), 1]), the first aligned vector`: 1 × 16 B, 32/16 sectors, worst excess 16; cost budgeted: a row a lane
            read `input.read_unaligned::<4>([thread_x(), 1]), the last aligned vector where it is another`: 1 × 16 B, 32/16 sectors, worst excess 16; cost budgeted: a row a lane
            read `input.read_unaligned::<4>([thread_x(), 1])` at the edge: 4 × 4 B, 128/16 sectors, worst excess 28; cost budgeted: only at the edge of the tensor
            write `output.write([4 * thread_x()], row)`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
            launch: input.rows() >= 32
            launch: input.cols() >= 5
            launch: output.len() >= 128
        "#]],
    );
}

#[test]
fn widths() {
    let read = |element: &str, width: u32| {
        kernel(
            "block = [32], grid = [1], requires(input.len() >= 64, output.len() >= 64)",
            &format!("input: &Tensor<{element}, 1>, output: &mut Tensor<{element}, 1>"),
            &format!("output[[thread_x()]] = input.read_unaligned::<{width}>([0])[0];"),
        )
    };
    check(
        &read("u8", 2),
        expect![[r#"
        error: an unaligned read takes at least 4 bytes, and this one 2 [TP0011]
        help: read 4 elements, or the 2 one by one
          at `input.read_unaligned::<2>([0])`
    "#]],
    );
    check(
        &read("u8", 3),
        expect![[r#"
        error: no instruction moves 3 elements of u8 (3 bytes) for one lane [TP0011]
        note: a lane moves 1, 2, 4, 8 or 16 bytes
        help: use a power of two up to `Vector<u8, 16>`
          at `input.read_unaligned::<3>([0])`
    "#]],
    );
    check(
        &read("f64", 4),
        expect![[r#"
        error: no instruction moves 4 elements of f64 (32 bytes) for one lane [TP0011]
        note: a lane moves 1, 2, 4, 8 or 16 bytes
        help: use a power of two up to `Vector<f64, 2>`
          at `input.read_unaligned::<4>([0])`
    "#]],
    );
    check(
        &read("f32", 1),
        expect![[r#"
        read `input.read_unaligned::<1>([0])`: 1 × 4 B, 1/1 sectors
        write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
        launch: input.len() >= 64
        launch: output.len() >= 64
    "#]],
    );
    check(
        &read("u8", 16),
        expect![[r#"
        read `input.read_unaligned::<16>([0]), the first aligned vector`: 1 × 16 B, 1/1 sectors
        read `input.read_unaligned::<16>([0]), the last aligned vector where it is another`: 1 × 16 B, 1/1 sectors
        read `input.read_unaligned::<16>([0])` at the edge: 16 × 1 B, 16/16 sectors
        write `output[[thread_x()]]`: 1 × 1 B, 1/1 sectors
        launch: input.len() >= 64
        launch: output.len() >= 64
    "#]],
    );
}

#[test]
fn tiles_have_none() {
    check(
        &warp(
            "let mut tile = Shared::<[f32; 128]>::new();
            tile.load(input, [0]);
            sync_threads();
            output.write([4 * thread_x()], tile.read_unaligned::<4>([thread_x()]));",
        ),
        expect![[r#"
            left to rustc: the method `read_unaligned` is not part of the kernel language [TP0005]
            help: a kernel knows `rows`, `cols`, `len`, `extent`, `stride`, `pitch`, `read`, `write`, `get_or`, `contains` and the `atomic_…` updates of tensors and tiles; `read_unaligned` and `misalignment` of tensors; `read_matrices`, `read_matrices_transposed`, `load`, `load_async`, `store`, `load_transposed`, `store_transposed` and `copy_async` of tiles
              at `read_unaligned`
        "#]],
    );
}
