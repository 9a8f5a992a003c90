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
            note: a row of `Shared<[[f32; 32]; 32], Pad<1>>` takes 132 bytes, which is no multiple of 16
            help: `Shared<[[f32; 32]; 32]>` aligns every access to `tile`, without bank conflicts (4,096 bytes)
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
            note: a row of `Shared<[[f32; 33]; 32]>` takes 132 bytes, which is no multiple of 16
            help: `Shared<[[f32; 33]; 32], Pad<3>>` aligns every access to `tile`, without bank conflicts (4,608 bytes)
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
            help: `Shared<[[f32; 32]; 32]>` aligns every access to `tile`, without bank conflicts (4,096 bytes)
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
            help: `Shared<[[f32; 32]; 32]>` aligns every access to `tile`, without bank conflicts (4,096 bytes)
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
    let tile = |ty: &str, access: &str| {
        tile(ty, &format!("#[trust(initialised, because = \"the subject is its place\")]\n{access}"))
    };
    check(
        &tile(
            "Shared::<[[f32; 64]; 8]>",
            "output[[thread_x()]] = tile.read::<2>([0, 2 * thread_x() + 1])[0];",
        ),
        expect![[r#"
            error: misaligned vector access: 8 bytes a lane, at places in `tile` that are not multiples of 8 [TP0301]
            note: the column must be a multiple of 2 elements for every thread
              at `tile.read::<2>([0, 2 * thread_x() + 1])`
            error: index out of bounds: `2 * thread_x() + 1 + 1` is 64, and the last index of `tile` there is 63 [TP0401]
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
            granted: `tile.read::<2>([7, 2 * thread_x()])` (line 5) reads what has been written: the subject is its place
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
            error: misaligned vector access: 16 bytes a lane, at an innermost index `4 * thread_x() + 2` that is not always a multiple of 4 [TP0301]
            note: a vector of 4 elements starts at a multiple of 16 bytes
            help: make it one, as `4 * thread_x()` is; for an extent, promise it: `requires(….is_multiple_of(4))`
              at `input.read::<4>([4 * thread_x() + 2])`
        "#]],
    );
    check(
        &warp("output.write([2 * thread_x()], input.read::<2>([3 * thread_x()]));"),
        expect![[r#"
            error: misaligned vector access: 8 bytes a lane, at an innermost index `3 * thread_x()` that is not always a multiple of 2 [TP0301]
            note: a vector of 2 elements starts at a multiple of 8 bytes
            help: make it one, as `2 * thread_x()` is; for an extent, promise it: `requires(….is_multiple_of(2))`
              at `input.read::<2>([3 * thread_x()])`
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
            error: misaligned vector access: 16 bytes a lane, and `input.pitch()` is never a multiple of 4 [TP0301]
            note: by the contract of `kernel`, neighbours are no whole number of vectors apart
            help: promise `input.pitch() % 4 == 0` instead, or read narrower vectors
              at `input.read::<4>([thread_y(), 4 * thread_x()])`
        "#]],
    );
}

/// Offsets that extents, strides and arguments alone decide are checked at launch; others are not aligned.
#[test]
fn offsets_that_the_launch_knows() {
    let read = |requires: &str, index: &str| {
        kernel(
            &format!("block = [32], grid = [n], requires(output.len() >= 128 * n, {requires})"),
            "input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>, n: usize, k: u32",
            &format!(
                "let i = {index};
                if i + 3 < input.len() {{ output.write([128 * block_x() + 4 * thread_x()], input.read::<4>([i])); }}"
            ),
        )
    };
    let at_launch = |requires: &str, index: &str| {
        let sites = crate::harness::sites(&read(requires, index));
        let load = sites.iter().find(|site| site.object == "input").expect("a load");
        load.alignment.to_string()
    };
    let cases = [
        ("n >= 1", "n + 4 * thread_x()"),
        ("n >= 1", "3 * n + 4 * thread_x() + 1"),
        ("n >= 1", "4 * n + 4 * thread_x()"),
        ("n >= 1, input.len() >= 128", "input.len() - 128 + 4 * thread_x()"),
        ("n >= 1", "k as usize + n + 4 * (block_x() + thread_x())"),
        ("n % 4 == 3", "n + 4 * thread_x() + 1"),
    ];
    let found: Vec<String> = cases.map(|(requires, index)| at_launch(requires, index)).into();
    expect![[r#"
        checked at launch (n % 4 == 0, the first element is 16-byte aligned)
        checked at launch ((3 * n + 1) % 4 == 0, the first element is 16-byte aligned)
        checked at launch (the first element is 16-byte aligned)
        checked at launch (input.len() % 4 == 0, the first element is 16-byte aligned)
        checked at launch ((n + k) % 4 == 0, the first element is 16-byte aligned)
        checked at launch (the first element is 16-byte aligned)"#]]
    .assert_eq(&found.join("\n"));
    check(
        &read("n % 4 == 3", "n + 4 * thread_x()"),
        expect![[r#"
        error: misaligned vector access: 16 bytes a lane, at an innermost index `i` that is not always a multiple of 4 [TP0301]
        note: a vector of 4 elements starts at a multiple of 16 bytes
        help: make it one, as `4 * thread_x()` is; for an extent, promise it: `requires(….is_multiple_of(4))`
          at `input.read::<4>([i])`
    "#]],
    );
    check(
        &read("n >= 1", "n + thread_x()"),
        expect![[r#"
        error: misaligned vector access: 16 bytes a lane, at an innermost index `i` that is not always a multiple of 4 [TP0301]
        note: a vector of 4 elements starts at a multiple of 16 bytes
        help: make it one, as `4 * thread_x()` is; for an extent, promise it: `requires(….is_multiple_of(4))`
          at `input.read::<4>([i])`
    "#]],
    );
    check(
        &read("n >= 1", "n + block_x() + 4 * thread_x()"),
        expect![[r#"
        error: misaligned vector access: 16 bytes a lane, at an innermost index `i` that is not always a multiple of 4 [TP0301]
        note: a vector of 4 elements starts at a multiple of 16 bytes
        help: make it one, as `4 * thread_x()` is; for an extent, promise it: `requires(….is_multiple_of(4))`
          at `input.read::<4>([i])`
    "#]],
    );
}
