//! Operations on whole tiles.

use crate::harness::{check, kernel};
use expect_test::expect;

fn blocks(parameters: &str, requires: &str, body: &str) -> String {
    kernel(
        &format!(
            "block = [256], grid = [input.cols().div_ceil(32), input.rows().div_ceil(32)], requires({requires})"
        ),
        parameters,
        body,
    )
}

const TRANSPOSES: &str = "output.rows() == input.cols(), output.cols() == input.rows()";
const MATRICES: &str = "input: &Matrix<f32>, output: &mut Matrix<f32>";

#[test]
fn a_transpose() {
    check(
        &blocks(
            MATRICES,
            TRANSPOSES,
            "let mut tile = Shared::<[[f32; 32]; 32], Auto>::new();
            tile.load(&input, [block_y() * 32, block_x() * 32]);
            sync_threads();
            tile.store_transposed(&mut output, [block_x() * 32, block_y() * 32]);",
        ),
        expect![[r#"
            read `tile.load(&input, [block_y() * 32, block_x() * 32])`: 32 × 4 B, 128/128 sectors
            write `tile.load(&input, [block_y() * 32, block_x() * 32])`: 32 × 4 B, 32/32 wavefronts
            read `tile.load(&input, [block_y() * 32, block_x() * 32])` at the edge: 32 × 4 B, 128/128 sectors
            write `tile.load(&input, [block_y() * 32, block_x() * 32])` at the edge: 32 × 4 B, 32/32 wavefronts
            read `tile.store_transposed(&mut output, [block_x() * 32, block_y() * 32])`: 32 × 4 B, 32/32 wavefronts
            write `tile.store_transposed(&mut output, [block_x() * 32, block_y() * 32])`: 32 × 4 B, 128/128 sectors
            read `tile.store_transposed(&mut output, [block_x() * 32, block_y() * 32])` at the edge: 32 × 4 B, 32/32 wavefronts
            write `tile.store_transposed(&mut output, [block_x() * 32, block_y() * 32])` at the edge: 32 × 4 B, 128/128 sectors
            shared: 4096 bytes
            `tile`: Auto chose Shared<[[f32; 32]; 32], Xor<1>>: no access conflicts
            launch: output.rows() == input.cols()
            launch: output.cols() == input.rows()
        "#]],
    );
}

#[test]
fn vectors() {
    check(
        &blocks(
            MATRICES,
            "output.rows() == input.rows(), output.cols() == input.cols()",
            "let mut tile = Shared::<[[f32; 32]; 32]>::new();
            let (row, col) = (block_y() * 32, block_x() * 32);
            tile.load::<4>(input, [row, col]);
            sync_threads();
            tile.store::<2>(output, [row, col]);",
        ),
        expect![[r#"
            read `tile.load::<4>(input, [row, col])`: 8 × 16 B, 128/128 sectors; alignment at launch: input.pitch() % 4 == 0, the first element is 16-byte aligned
            write `tile.load::<4>(input, [row, col])`: 8 × 16 B, 32/32 wavefronts
            read `tile.load::<4>(input, [row, col])` at the edge: 32 × 4 B, 128/128 sectors
            write `tile.load::<4>(input, [row, col])` at the edge: 32 × 4 B, 32/32 wavefronts
            read `tile.store::<2>(output, [row, col])`: 16 × 8 B, 32/32 wavefronts
            write `tile.store::<2>(output, [row, col])`: 16 × 8 B, 128/128 sectors; alignment at launch: output.pitch() % 2 == 0, the first element is 8-byte aligned
            read `tile.store::<2>(output, [row, col])` at the edge: 32 × 4 B, 32/32 wavefronts
            write `tile.store::<2>(output, [row, col])` at the edge: 32 × 4 B, 128/128 sectors
            shared: 4096 bytes
            launch: output.rows() == input.rows()
            launch: output.cols() == input.cols()
            launch: input.pitch() % 4 == 0
            launch: output.pitch() % 2 == 0
        "#]],
    );
}

#[test]
fn vectors_that_are_transposed() {
    check(
        &blocks(
            MATRICES,
            TRANSPOSES,
            "let mut tile = Shared::<[[f32; 32]; 32], Auto>::new();
            tile.load_transposed::<4>(input, [block_y() * 32, block_x() * 32]);
            sync_threads();
            tile.store::<4>(output, [block_x() * 32, block_y() * 32]);",
        ),
        expect![[r#"
            read `tile.load_transposed::<4>(input, [block_y() * 32, block_x() * 32])`: 8 × 16 B, 128/128 sectors; alignment at launch: input.pitch() % 4 == 0, the first element is 16-byte aligned
            write `tile.load_transposed::<4>(input, [block_y() * 32, block_x() * 32])`: 8 × 4 B, 8/8 wavefronts
            write `tile.load_transposed::<4>(input, [block_y() * 32, block_x() * 32])`: 8 × 4 B, 8/8 wavefronts
            write `tile.load_transposed::<4>(input, [block_y() * 32, block_x() * 32])`: 8 × 4 B, 8/8 wavefronts
            write `tile.load_transposed::<4>(input, [block_y() * 32, block_x() * 32])`: 8 × 4 B, 8/8 wavefronts
            read `tile.load_transposed::<4>(input, [block_y() * 32, block_x() * 32])` at the edge: 32 × 4 B, 128/128 sectors
            write `tile.load_transposed::<4>(input, [block_y() * 32, block_x() * 32])` at the edge: 32 × 4 B, 128/32 wavefronts, worst excess 3; cost budgeted: only at the edge of the tensor
            read `tile.store::<4>(output, [block_x() * 32, block_y() * 32])`: 8 × 16 B, 32/32 wavefronts
            write `tile.store::<4>(output, [block_x() * 32, block_y() * 32])`: 8 × 16 B, 128/128 sectors; alignment at launch: output.pitch() % 4 == 0, the first element is 16-byte aligned
            read `tile.store::<4>(output, [block_x() * 32, block_y() * 32])` at the edge: 32 × 4 B, 32/32 wavefronts
            write `tile.store::<4>(output, [block_x() * 32, block_y() * 32])` at the edge: 32 × 4 B, 128/128 sectors
            shared: 4096 bytes
            `tile`: Auto chose Shared<[[f32; 32]; 32], Swizzle<3, 2, 5>>: no access conflicts
            launch: output.rows() == input.cols()
            launch: output.cols() == input.rows()
            launch: input.pitch() % 4 == 0
            launch: output.pitch() % 4 == 0
        "#]],
    );
}

#[test]
fn stages_batches_and_rows() {
    check(
        &kernel(
            "block = [48, 2], grid = [1, 1, input.extent(0)], requires(line.len() >= 7)",
            "input: &Tensor<u16, 3>, line: &Tensor<f64, 1>, n: usize",
            "let mut stages = Shared::<[[[u16; 24]; 10]; 2]>::new();
            let mut rows = Shared::<[[f64; 100]; 3]>::new();
            for k in 0..n {
                stages[k % 2].load::<4>(input, [block_z(), k * 10, 0]);
                sync_threads();
            }
            rows[1].load(line, [7]);",
        ),
        expect![[r#"
            read `stages[k % 2].load::<4>(input, [block_z(), k * 10, 0])`: 2 × 8 B, 20/20 sectors; alignment at launch: input.stride(0) % 4 == 0, input.stride(1) % 4 == 0, the first element is 8-byte aligned
            write `stages[k % 2].load::<4>(input, [block_z(), k * 10, 0])`: 2 × 8 B, 4/4 wavefronts
            read `stages[k % 2].load::<4>(input, [block_z(), k * 10, 0])` at the edge: 8 × 2 B, 20/20 sectors
            write `stages[k % 2].load::<4>(input, [block_z(), k * 10, 0])` at the edge: 8 × 2 B, 8/8 wavefronts
            read `rows[1].load(line, [7])`: 4 × 8 B, 25/25 sectors
            write `rows[1].load(line, [7])`: 4 × 8 B, 7/7 wavefronts
            read `rows[1].load(line, [7])` at the edge: 4 × 8 B, 25/25 sectors
            write `rows[1].load(line, [7])` at the edge: 4 × 8 B, 7/7 wavefronts
            shared: 3360 bytes
            launch: line.len() >= 7
            launch: input.stride(0) % 4 == 0
            launch: input.stride(1) % 4 == 0
        "#]],
    );
}

#[test]
fn shapes_that_do_not_fit() {
    let body = |body: &str| {
        blocks(
            "input: &Matrix<f32>, line: &Tensor<f32, 1>, bytes: &Matrix<u8>",
            "input.rows() >= 1",
            &format!(
                "let mut tile = Shared::<[[f32; 30]; 32]>::new();
                let mut stages = Shared::<[[[f32; 32]; 32]; 2]>::new();
                {body}"
            ),
        )
    };
    check(
        &body("tile.load::<4>(input, [0, 0]);"),
        expect![[r#"
        error: 30 elements are no whole number of vectors of 4 [TP0011]
        note: vectors lie along the rows of `tile`
        help: use a width that divides it
          at `tile.load::<4>(input, [0, 0])`
    "#]],
    );
    check(
        &body("tile.load::<3>(input, [0, 0]);"),
        expect![[r#"
        error: no instruction moves 3 elements of f32 (12 bytes) for one lane [TP0011]
        note: a lane moves 1, 2, 4, 8 or 16 bytes
        help: use a power of two up to `Vector<f32, 4>`
          at `tile.load::<3>(input, [0, 0])`
    "#]],
    );
    check(
        &body("stages.load(input, [0, 0]);"),
        expect![[r#"
        error: `load` moves one or two extents, and this part of `stages` has 3 [TP0002]
        help: name a stage of it: `stages[stage].load(…)`
          at `stages.load(input, [0, 0])`
    "#]],
    );
    check(
        &body("tile[0].load_transposed(line, [0]);"),
        expect![[r#"
        error: `load_transposed` turns rows into columns, and this part of `tile` is one row [TP0002]
        help: use the operation without `_transposed`
          at `tile[0].load_transposed(line, [0])`
    "#]],
    );
    check(
        &body("tile[0][0].load(line, [0]);"),
        expect![[r#"
        error: `load` moves a whole tile, and this is one element of `tile` [TP0002]
        help: assign the element
          at `tile[0][0].load(line, [0])`
    "#]],
    );
    check(
        &body("tile.load(line, [0]);"),
        expect![[r#"
        error: `load` moves 2 extents of `tile`, and the tensor has 1 [TP0002]
        help: name a row of it: `tile[i].load(…)`
          at `tile.load(line, [0])`
    "#]],
    );
    check(
        &body("tile.load(bytes, [0, 0]);"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `tile.load(bytes, [0, 0])`
        "#]],
    );
    check(
        &body("tile.load(input, [0]);"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `[0]`
        "#]],
    );
    check(
        &body("tile.store(input, [0, 0]);"),
        expect![[r#"
        left to rustc: `input` is taken by `&` and written [TP0006]
        help: take it by `&mut`
          at `tile.store(input, [0, 0])`
    "#]],
    );
    check(
        &body("tile.load::<2>(input, [0, 1]);"),
        expect![[r#"
        error: misaligned vector access: 8 bytes a lane, at an innermost index `1` that is not always a multiple of 2 [TP0301]
        note: a vector of 2 elements starts at a multiple of 8 bytes
        help: make it one, as `2 * thread_x()` is; for an extent, promise it: `requires(….is_multiple_of(2))`
          at `tile.load::<2>(input, [0, 1])`
    "#]],
    );
    check(
        &body("stages[2].load::<2>(input, [0, 0]);"),
        expect![[r#"
        error: index out of bounds: `2` is 2, and the last index of `stages` there is 1 [TP0401]
        note: thread 0 writes it
          at `stages[2].load::<2>(input, [0, 0])`
    "#]],
    );
}

#[test]
fn asynchronous_copies() {
    check(
        &blocks(
            "input: &Matrix<f32>, halves: &Matrix<u16>",
            "input.cols() % 4 == 0",
            "let mut stages = Shared::<[[[f32; 32]; 32]; 2], Auto>::new();
            let mut tile = Shared::<[[u16; 32]; 32]>::new();
            stages[0].load_async::<4>(input, [block_y() * 32, block_x() * 32]);
            commit();
            tile.load_async::<2>(halves, [block_y() * 32, block_x() * 32]);
            commit();
            wait::<0>();",
        ),
        expect![[r#"
            copy: read `stages[0].load_async::<4>(input, [block_y() * 32, block_x() * 32])`: 8 × 16 B, 128/128 sectors; alignment at launch: input.pitch() % 4 == 0, the first element is 16-byte aligned
            copy: write `stages[0].load_async::<4>(input, [block_y() * 32, block_x() * 32])`: 8 × 16 B, 32/32 wavefronts
            copy: read `stages[0].load_async::<4>(input, [block_y() * 32, block_x() * 32])` at the edge: 32 × 4 B, 128/128 sectors
            copy: write `stages[0].load_async::<4>(input, [block_y() * 32, block_x() * 32])` at the edge: 32 × 4 B, 32/32 wavefronts
            copy: read `tile.load_async::<2>(halves, [block_y() * 32, block_x() * 32])`: 16 × 4 B, 64/64 sectors; alignment at launch: halves.pitch() % 2 == 0, the first element is 4-byte aligned
            copy: write `tile.load_async::<2>(halves, [block_y() * 32, block_x() * 32])`: 16 × 4 B, 16/16 wavefronts
            read `tile.load_async::<2>(halves, [block_y() * 32, block_x() * 32])` at the edge: 32 × 2 B, 64/64 sectors
            write `tile.load_async::<2>(halves, [block_y() * 32, block_x() * 32])` at the edge: 32 × 2 B, 32/32 wavefronts
            shared: 10240 bytes
            `stages`: Auto chose Shared<[[[f32; 32]; 32]; 2]>: no access conflicts
            launch: input.cols() % 4 == 0
            launch: input.pitch() % 4 == 0
            launch: halves.pitch() % 2 == 0
        "#]],
    );
    let half = |call: &str| {
        blocks(
            "input: &Matrix<f32>, halves: &Matrix<u16>",
            "input.cols() % 4 == 0",
            &format!("let mut tile = Shared::<[[u16; 32]; 32]>::new(); {call}"),
        )
    };
    check(
        &half("tile.load_async(halves, [0, 0]);"),
        expect![[r#"
        error: no asynchronous copy moves 2 bytes for one lane [TP0011]
        note: it moves 4, 8 or 16 bytes
        help: write `load_async::<2>`, or `load`
          at `tile.load_async(halves, [0, 0])`
    "#]],
    );
    check(
        &half("wait();"),
        expect![[r#"
        left to rustc: the types here do not fit a kernel [TP0006]
        help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
          at `wait()`
    "#]],
    );
    check(
        &half("let n = thread_x(); wait::<n>();"),
        expect![[r#"
        left to rustc: a number of groups must be known at compile time [TP0007]
        help: write an integer, or a `const` declared in the kernel or in its `#[tiled_module]`
          at `n`
    "#]],
    );
}

/// Rows so far apart that each lane of a warp writes a line of its own.
#[test]
fn copies_to_scattered_lines() {
    check(
        &kernel(
            "block = [32], grid = [1]",
            "input: &Matrix<f32>",
            "let mut tile = Shared::<[[f32; 8]; 16], Pad<56>>::new();
            tile.load_async::<4>(input, [0, 0]);
            commit();
            wait::<0>();",
        ),
        expect![[r#"
            error: asynchronous copy to scattered places: 16 lines of 128 bytes where 4 are enough [TP0101]
            help: `Shared<[[f32; 8]; 16]>` makes this 4 (512 bytes)
            help: `Shared<[[f32; 8]; 16], Xor<4>>` likewise, in 512 bytes
              at `tile.load_async::<4>(input, [0, 0])`
        "#]],
    );
    check(
        &kernel(
            "block = [32], grid = [1]",
            "input: &Matrix<f32>",
            "let mut tile = Shared::<[[f32; 8]; 16], Auto>::new();
            tile.load_async::<4>(input, [0, 0]);
            commit();
            wait::<0>();",
        ),
        expect![[r#"
            copy: read `tile.load_async::<4>(input, [0, 0])`: 1 × 16 B, 16/16 sectors; alignment at launch: input.pitch() % 4 == 0, the first element is 16-byte aligned
            copy: write `tile.load_async::<4>(input, [0, 0])`: 1 × 16 B, 4/4 wavefronts
            copy: read `tile.load_async::<4>(input, [0, 0])` at the edge: 4 × 4 B, 16/16 sectors
            copy: write `tile.load_async::<4>(input, [0, 0])` at the edge: 4 × 4 B, 4/4 wavefronts
            shared: 512 bytes
            `tile`: Auto chose Shared<[[f32; 8]; 16]>: no access conflicts
            launch: input.pitch() % 4 == 0
        "#]],
    );
}

#[test]
fn asynchronous_copies_of_a_lane() {
    let with = |body: &str| {
        let body = format!(
            "let mut turned = Shared::<[[[f32; 32]; 32]; 2], Pad<1>>::new();
            let mut tile = Shared::<[[u16; 32]; 32]>::new();
            let (row0, col0, t) = (block_y() * 32, block_x() * 32, thread_x());
            {body}"
        );
        blocks("input: &Matrix<f32>, halves: &Matrix<u16>", "halves.cols() % 2 == 0", &body)
    };
    check(
        &with(
            "for i in 0..4 {
                let (r, c) = (8 * i + t / 32, t % 32);
                turned.copy_async([0, c, r], input.at_or_zero([row0 + r, col0 + c]));
                if row0 + 32 <= input.rows() && col0 + 32 <= input.cols() {
                    turned.copy_async::<1>([1, c, r], input.at([row0 + r, col0 + c]));
                }
            }
            tile.copy_async::<2>([t / 16, t % 16 * 2], halves.at_or_zero([row0 + t / 16, col0 + t % 16 * 2]));
            commit();
            wait::<0>();",
        ),
        expect![[r#"
            copy: read `turned.copy_async([0, c, r], input.at_or_zero([row0 + r, col0 + c]))`: 32 × 4 B, 128/128 sectors
            copy: write `turned.copy_async([0, c, r], input.at_or_zero([row0 + r, col0 + c]))`: 32 × 4 B, 32/32 wavefronts
            copy: read `turned.copy_async::<1>([1, c, r], input.at([row0 + r, col0 + c]))`: 32 × 4 B, 128/128 sectors
            copy: write `turned.copy_async::<1>([1, c, r], input.at([row0 + r, col0 + c]))`: 32 × 4 B, 32/32 wavefronts
            copy: read `tile.copy_async::<2>([t / 16, t % 16 * 2], halves.at_or_zero([row0 + t / 16, col0 + t % 16 * 2]))`: 8 × 4 B, 32/32 sectors; alignment at launch: halves.pitch() % 2 == 0, the first element is 4-byte aligned
            copy: write `tile.copy_async::<2>([t / 16, t % 16 * 2], halves.at_or_zero([row0 + t / 16, col0 + t % 16 * 2]))`: 8 × 4 B, 8/8 wavefronts
            shared: 10496 bytes
            launch: halves.cols() % 2 == 0
            launch: halves.pitch() % 2 == 0
        "#]],
    );
    // What is not inside, too few bytes, and elements that nobody copies.
    check(
        &with(
            "turned.copy_async([0, t / 32, t % 32], input.at([t / 32, t % 32]));
            turned.copy_async([0, t / 32, t % 32 + 1], input.at_or_zero([t / 32, t % 32]));",
        ),
        expect![[r#"
            error: index may be out of bounds: nothing here says that `t / 32 < input.rows()` and `t % 32 < input.cols()` [TP0402]
            help: guard it: `if t / 32 < input.rows() && t % 32 < input.cols() { … }`, or promise what bounds it in `requires(…)`
              at `turned.copy_async([0, t / 32, t % 32], input.at([t / 32, t % 32]))`
            error: index out of bounds: `t % 32 + 1` is 32, and the last index of `turned` there is 31 [TP0401]
            note: thread 31 writes it
              at `turned.copy_async([0, t / 32, t % 32 + 1], input.at_or_zero([t / 32, t % 32]))`
        "#]],
    );
    check(
        &with(
            "tile.copy_async([t / 32, t % 32], halves.at_or_zero([t / 32, t % 32]));
            let first = halves.at([0, 0]);",
        ),
        expect![[r#"
            error: no asynchronous copy moves 2 bytes for one lane [TP0011]
            note: it moves 4, 8 or 16 bytes
            help: write `copy_async::<2>`, or a load and a store
              at `tile.copy_async([t / 32, t % 32], halves.at_or_zero([t / 32, t % 32]))`
            error: `at` names what an asynchronous copy reads, and this is none [TP0002]
            help: write `tile.copy_async::<V>([…], tensor.at([…]))`, or read the element: `tensor[[…]]`
              at `halves.at([0, 0])`
        "#]],
    );
}
