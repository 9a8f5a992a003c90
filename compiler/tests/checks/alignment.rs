//! Alignment of vector accesses.

use crate::harness::{check, kernel, warp};
use expect_test::expect;

fn tile(ty: &str, access: &str) -> String {
    warp(&format!("let mut tile = {ty}::new();\n{access}"))
}

#[test]
fn rows_that_start_anywhere() {
    let access = "tile.write([thread_x() / 8, 4 * (thread_x() % 8)], Vector::splat(1.0f32));";
    let four = "tile.write([thread_x() / 8, 4 * (thread_x() % 8)], Vector::<f32, 4>::splat(1.0));";
    check(
        &tile("Shared::<[[f32; 32]; 32], Pad<1>>", access),
        expect![[r#"
        error: the width of this vector is not known here [TP0007]
        help: write it: `Vector::<f32, 4>::splat(0.0)`
          at `Vector::splat(1.0f32)`
    "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 32], Pad<1>>", four),
        expect![[r#"
        error: misaligned vector access: 16 bytes a lane, at places in `tile` that are not multiples of 16 [TP0301]
        note: a row of `Shared<[[f32; 32]; 32], Pad<1>>` takes 132 bytes, so rows start at other places
        help: `Shared<[[f32; 32]; 32]>` makes this conflict-free (4,096 bytes)
        help: `Shared<[[f32; 32]; 32], Xor<4>>` likewise, in 4,096 bytes
          at `tile.write([thread_x() / 8, 4 * (thread_x() % 8)], Vector::<f32, 4>::splat(1.0))`
    "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 32], Pad<4>>", four),
        expect![[r#"
        write `tile.write([thread_x() / 8, 4 * (thread_x() % 8)], Vector::<f32, 4>::splat(1.0))`: 1 × 16 B, 4/4 wavefronts
        shared: 4608 bytes
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &tile("Shared::<[[f32; 33]; 32]>", four),
        expect![[r#"
        error: misaligned vector access: 16 bytes a lane, at places in `tile` that are not multiples of 16 [TP0301]
        note: a row of `Shared<[[f32; 33]; 32]>` takes 132 bytes, so rows start at other places
        help: `Shared<[[f32; 33]; 32], Pad<3>>` makes this conflict-free (4,608 bytes)
          at `tile.write([thread_x() / 8, 4 * (thread_x() % 8)], Vector::<f32, 4>::splat(1.0))`
    "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 32]>", four),
        expect![[r#"
        write `tile.write([thread_x() / 8, 4 * (thread_x() % 8)], Vector::<f32, 4>::splat(1.0))`: 1 × 16 B, 4/4 wavefronts
        shared: 4096 bytes
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
}

#[test]
fn swizzles_that_cut_vectors() {
    let four = "tile.write([thread_x() / 8, 4 * (thread_x() % 8)], Vector::<f32, 4>::splat(1.0));";
    check(
        &tile("Shared::<[[f32; 32]; 32], Xor<1>>", four),
        expect![[r#"
        error: misaligned vector access: 16 bytes a lane, at places in `tile` that are not multiples of 16 [TP0301]
        note: `Xor<1>` moves pieces smaller than the vector, or the column is no multiple of 4
        help: `Shared<[[f32; 32]; 32]>` makes this conflict-free (4,096 bytes)
        help: `Shared<[[f32; 32]; 32], Xor<4>>` likewise, in 4,096 bytes
          at `tile.write([thread_x() / 8, 4 * (thread_x() % 8)], Vector::<f32, 4>::splat(1.0))`
    "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 32], Xor<4>>", four),
        expect![[r#"
        write `tile.write([thread_x() / 8, 4 * (thread_x() % 8)], Vector::<f32, 4>::splat(1.0))`: 1 × 16 B, 4/4 wavefronts
        shared: 4096 bytes
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 32], Swizzle<3, 1, 5>>", four),
        expect![[r#"
        error: misaligned vector access: 16 bytes a lane, at places in `tile` that are not multiples of 16 [TP0301]
        note: `Swizzle<3, 1, 5>` moves pieces smaller than the vector, or the column is no multiple of 4
        help: `Shared<[[f32; 32]; 32]>` makes this conflict-free (4,096 bytes)
        help: `Shared<[[f32; 32]; 32], Xor<4>>` likewise, in 4,096 bytes
          at `tile.write([thread_x() / 8, 4 * (thread_x() % 8)], Vector::<f32, 4>::splat(1.0))`
    "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 32], Swizzle<3, 2, 5>>", four),
        expect![[r#"
        write `tile.write([thread_x() / 8, 4 * (thread_x() % 8)], Vector::<f32, 4>::splat(1.0))`: 1 × 16 B, 4/4 wavefronts
        shared: 4096 bytes
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
}

#[test]
fn columns_that_are_no_multiples() {
    check(
        &tile(
            "Shared::<[[f32; 64]; 8]>",
            "output[[thread_x()]] = tile.read::<2>([0, 2 * thread_x() + 1])[0];",
        ),
        expect![[r#"
            error: misaligned vector access: 8 bytes a lane, at places in `tile` that are not multiples of 8 [TP0301]
            note: the column must be a multiple of 2 elements for every thread
              at `tile.read::<2>([0, 2 * thread_x() + 1])`
            error: index out of bounds: `2 * thread_x() + 1 + 1` is 64, and `tile` ends at 64 [TP0401]
            note: thread 31 reads it
              at `tile.read::<2>([0, 2 * thread_x() + 1])`
        "#]],
    );
    check(
        &tile("Shared::<[[f32; 64]; 8]>", "output[[thread_x()]] = tile.read::<2>([0, thread_x()])[0];"),
        expect![[r#"
            error: misaligned vector access: 8 bytes a lane, at places in `tile` that are not multiples of 8 [TP0301]
            note: the column must be a multiple of 2 elements for every thread
              at `tile.read::<2>([0, thread_x()])`
        "#]],
    );
    check(
        &tile("Shared::<[[f32; 64]; 8]>", "output[[thread_x()]] = tile.read::<2>([7, 2 * thread_x()])[1];"),
        expect![[r#"
            read `tile.read::<2>([7, 2 * thread_x()])`: 1 × 8 B, 2/2 wavefronts
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            shared: 2048 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn innermost_index_of_a_tensor() {
    check(
        &warp("output.write([4 * thread_x()], input.read::<4>([4 * thread_x() + 4]));"),
        expect![[r#"
        read `input.read::<4>([4 * thread_x() + 4])`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
        write `output.write([4 * thread_x()], input.read::<4>([4 * thread_x() + 4]))`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &warp("output.write([4 * thread_x()], input.read::<4>([4 * thread_x() + 2]));"),
        expect![[r#"
        error: misaligned vector access: 16 bytes a lane, and `4 * thread_x() + 2` is not always a multiple of 4 [TP0301]
        note: a vector of 4 elements starts at a multiple of 16 bytes
        help: make the innermost index a multiple of 4: `4 * thread_x()`, with extents promised in `requires(… % 4 == 0)`
          at `input.read::<4>([4 * thread_x() + 2])`
    "#]],
    );
    check(
        &warp("output.write([2 * thread_x()], input.read::<2>([3 * thread_x()]));"),
        expect![[r#"
        error: uncoalesced load: 12 sectors of 32 bytes where 8 are enough [TP0201]
        note: neighbouring lanes of warp 0 are 12 bytes apart, so 256 of 384 bytes are used
        help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
        help: or accept the cost: `#[budget(excess_sectors = 4, because = "…")]` on the statement
          at `input.read::<2>([3 * thread_x()])`
        error: misaligned vector access: 8 bytes a lane, and `3 * thread_x()` is not always a multiple of 2 [TP0301]
        note: a vector of 2 elements starts at a multiple of 8 bytes
        help: make the innermost index a multiple of 2: `2 * thread_x()`, with extents promised in `requires(… % 2 == 0)`
          at `input.read::<2>([3 * thread_x()])`
    "#]],
    );
}

/// Rows of three halves of a word, read by words from their second element on.
#[test]
fn slices_of_narrow_elements() {
    let slices = |index: &str| {
        kernel(
            "block = [32], grid = [1], requires(input.len() >= 128, output.len() >= 32)",
            "input: &Tensor<u16, 1>, output: &mut Tensor<u16, 1>",
            &format!(
                "#[budget(excess_sectors = 4, because = \"one of three\")]
                let v = input.read::<2>([{index}]);
                output[[thread_x()]] = v[0];"
            ),
        )
    };
    check(
        &slices("3 * thread_x() + 1"),
        expect![[r#"
        error: this budget is too loose: it accepts 4 excess sectors, and the most that occurs is 2 [TP0102]
        help: write `excess_sectors = 2`
          at `#[budget(excess_sectors = 4, because = "one of three")]`
        error: misaligned vector access: 4 bytes a lane, and `3 * thread_x() + 1` is not always a multiple of 2 [TP0301]
        note: a vector of 2 elements starts at a multiple of 4 bytes
        help: make the innermost index a multiple of 2: `2 * thread_x()`, with extents promised in `requires(… % 2 == 0)`
          at `input.read::<2>([3 * thread_x() + 1])`
    "#]],
    );
    check(
        &slices("3 * (thread_x() / 2 * 2)"),
        expect![[r#"
        read `input.read::<2>([3 * (thread_x() / 2 * 2)])`: 1 × 4 B, 6/2 sectors, worst excess 4; cost budgeted: one of three; alignment at launch: the first element is 4-byte aligned
        write `output[[thread_x()]]`: 1 × 2 B, 2/2 sectors
        launch: input.len() >= 128
        launch: output.len() >= 32
    "#]],
    );
}

/// How far rows are apart is the launch's business; a contract can settle it before.
#[test]
fn pitches() {
    let rows = |requires: &str| {
        kernel(
            &format!("block = [16, 2], grid = [1], requires(output.len() >= 128 {requires})"),
            "input: &Matrix<f32>, output: &mut Tensor<f32, 1>",
            "if thread_y() < input.rows() && 4 * thread_x() + 3 < input.cols() {
                output.write([64 * thread_y() + 4 * thread_x()], input.read::<4>([thread_y(), 4 * thread_x()]));
            }",
        )
    };
    check(
        &rows(""),
        expect![[r#"
        read `input.read::<4>([thread_y(), 4 * thread_x()])`: 1 × 16 B, 16/16 sectors; alignment at launch: input.pitch() % 4 == 0, the first element is 16-byte aligned
        write `output.write([64 * thread_y() + 4 * thread_x()], input.read::<4>([thread_y(), 4 * thread_x()]))`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
        launch: output.len() >= 128
        launch: input.pitch() % 4 == 0
    "#]],
    );
    check(
        &rows(", input.pitch() % 4 == 0"),
        expect![[r#"
        read `input.read::<4>([thread_y(), 4 * thread_x()])`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
        write `output.write([64 * thread_y() + 4 * thread_x()], input.read::<4>([thread_y(), 4 * thread_x()]))`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
        launch: output.len() >= 128
        launch: input.pitch() % 4 == 0
    "#]],
    );
    check(
        &rows(", input.pitch().is_multiple_of(2)"),
        expect![[r#"
        read `input.read::<4>([thread_y(), 4 * thread_x()])`: 1 × 16 B, 16/16 sectors; alignment at launch: input.pitch() % 4 == 0, the first element is 16-byte aligned
        write `output.write([64 * thread_y() + 4 * thread_x()], input.read::<4>([thread_y(), 4 * thread_x()]))`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
        launch: output.len() >= 128
        launch: input.pitch().is_multiple_of(2)
        launch: input.pitch() % 4 == 0
    "#]],
    );
    check(
        &rows(", input.pitch() % 4 == 1"),
        expect![[r#"
        read `input.read::<4>([thread_y(), 4 * thread_x()])`: 1 × 16 B, 16/16 sectors; alignment at launch: input.pitch() % 4 == 0, the first element is 16-byte aligned
        write `output.write([64 * thread_y() + 4 * thread_x()], input.read::<4>([thread_y(), 4 * thread_x()]))`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
        launch: output.len() >= 128
        launch: input.pitch() % 4 == 1
        launch: input.pitch() % 4 == 0
    "#]],
    );
}
