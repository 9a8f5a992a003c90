//! Layouts of tiles and widths of vectors.

use crate::harness::{check, warp};
use expect_test::expect;

fn tile(ty: &str) -> String {
    warp(&format!("let mut t = {ty}::new();\nt[0][thread_x()] = 1.0;"))
}

#[test]
fn that_are_bijections() {
    check(
        &tile("Shared::<[[f32; 32]; 8], RowMajor>"),
        expect![[r#"
        write `t[0][thread_x()]`: 1 × 4 B, 1/1 wavefronts
        shared: 1024 bytes
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 8], Pad<0>>"),
        expect![[r#"
        write `t[0][thread_x()]`: 1 × 4 B, 1/1 wavefronts
        shared: 1024 bytes
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 8], Xor<32>>"),
        expect![[r#"
        write `t[0][thread_x()]`: 1 × 4 B, 1/1 wavefronts
        shared: 1024 bytes
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 8], Swizzle<0, 0, 0>>"),
        expect![[r#"
        write `t[0][thread_x()]`: 1 × 4 B, 1/1 wavefronts
        shared: 1024 bytes
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 8], Swizzle<3, 2, -3>>"),
        expect![[r#"
        write `t[0][thread_x()]`: 1 × 4 B, 1/1 wavefronts
        shared: 1024 bytes
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &warp(
            "const PAD: usize = 1;\nlet mut t = Shared::<[[f32; 32]; 8], Pad<PAD>>::new();\nt[0][thread_x()] = 1.0;",
        ),
        expect![[r#"
            write `t[0][thread_x()]`: 1 × 4 B, 1/1 wavefronts
            shared: 1056 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    check(
        &warp("let mut t: Shared<[[f32; 32]; 8], Pad<1>> = Shared::new();\nt[0][thread_x()] = 1.0;"),
        expect![[r#"
            write `t[0][thread_x()]`: 1 × 4 B, 1/1 wavefronts
            shared: 1056 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn that_are_none() {
    check(
        &tile("Shared::<[[f32; 48]; 8], Xor<1>>"),
        expect![[r#"
            error: `Xor<1>` is not a layout of this tile [TP0010]
            note: a row of 48 elements has 48 chunks of 1, and XOR keeps a number of chunks only if it is a power of two
            note: a layout gives every element of the tile a place of its own inside it
            help: write `Shared<[[f32; 48]; 8], Pad<1>>`
              at `Shared::<[[f32; 48]; 8], Xor<1>>`
        "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 8], Xor<5>>"),
        expect![[r#"
            error: `Xor<5>` is not a layout of this tile [TP0010]
            note: a row of 32 elements is not a whole number of chunks of 5
            note: a layout gives every element of the tile a place of its own inside it
            help: write `Shared<[[f32; 32]; 8], Xor<1>>`
              at `Shared::<[[f32; 32]; 8], Xor<5>>`
        "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 8], Xor<0>>"),
        expect![[r#"
            error: `Xor<0>` is not a layout of this tile [TP0010]
            note: a chunk has at least 1 element
            note: a layout gives every element of the tile a place of its own inside it
            help: write `Shared<[[f32; 32]; 8], Xor<1>>`
              at `Shared::<[[f32; 32]; 8], Xor<0>>`
        "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 8], Swizzle<3, 0, 2>>"),
        expect![[r#"
            error: `Swizzle<3, 0, 2>` is not a layout of this tile [TP0010]
            note: with a shift of 2 the 3 bits that are changed overlap those they are changed with, so two elements share a place
            note: a layout gives every element of the tile a place of its own inside it
            help: write `Shared<[[f32; 32]; 8], Xor<1>>`
              at `Shared::<[[f32; 32]; 8], Swizzle<3, 0, 2>>`
        "#]],
    );
    check(
        &tile("Shared::<[[f32; 33]; 8], Swizzle<2, 0, 5>>"),
        expect![[r#"
        write `t[0][thread_x()]`: 1 × 4 B, 1/1 wavefronts
        shared: 1056 bytes
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 8], Swizzle<40, 0, 5>>"),
        expect![[r#"
            error: `Swizzle<40, 0, 5>` is not a layout [TP0010]
            note: layouts are `RowMajor`, `Pad<N>` (N elements after each row), `Xor<V>` (chunks of V elements), `Swizzle<B, M, S>`, and `Auto`, which leaves the choice to the compiler
              at `Swizzle<40, 0, 5>`
        "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 8], Diagonal>"),
        expect![[r#"
            error: `Diagonal` is not a layout [TP0010]
            note: layouts are `RowMajor`, `Pad<N>` (N elements after each row), `Xor<V>` (chunks of V elements), `Swizzle<B, M, S>`, and `Auto`, which leaves the choice to the compiler
              at `Diagonal`
        "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 8], Pad<-1>>"),
        expect![[r#"
            error: `Pad<-1>` is not a layout [TP0010]
            note: layouts are `RowMajor`, `Pad<N>` (N elements after each row), `Xor<V>` (chunks of V elements), `Swizzle<B, M, S>`, and `Auto`, which leaves the choice to the compiler
              at `Pad<-1>`
        "#]],
    );
    check(
        &tile("Shared::<[[f32; 32]; 8], Pad>"),
        expect![[r#"
            error: `Pad` is not a layout [TP0010]
            note: layouts are `RowMajor`, `Pad<N>` (N elements after each row), `Xor<V>` (chunks of V elements), `Swizzle<B, M, S>`, and `Auto`, which leaves the choice to the compiler
              at `Pad`
        "#]],
    );
}

#[test]
fn tiles_of_other_types() {
    check(
        &tile("Shared::<f32>"),
        expect![[r#"
            error: a tile cannot have the type `f32` [TP0002]
            note: a tile is an array of numbers, with extents known at compile time
            help: write `Shared::<[[f32; 32]; 32]>::new()`
              at `f32`
        "#]],
    );
    check(
        &tile("Shared::<[[usize; 32]; 8]>"),
        expect![[r#"
            error: a tile cannot have the type `[[usize; 32]; 8]` [TP0002]
            note: a tile is an array of numbers, with extents known at compile time
            help: write `Shared::<[[f32; 32]; 32]>::new()`
              at `[[usize; 32]; 8]`
        "#]],
    );
    check(
        &tile("Shared::<[[f32; 0]; 8]>"),
        expect![[r#"
        error: a tile cannot have an extent of 0: at least 1, at most 65,536 [TP0007]
          at `0`
    "#]],
    );
    check(
        &tile("Shared"),
        expect![[r#"
        error: the shape of this tile is not known here [TP0007]
        help: write it: `Shared::<[[f32; 32]; 32], Pad<1>>::new()`
          at `Shared`
    "#]],
    );
    check(
        &warp(
            "let mut t = Shared::<[[[[u8; 4]; 4]; 2]; 2]>::new();
            let x = thread_x();
            t[1][x / 16][x / 4 % 4][x % 4] = 1;
            sync_threads();
            output[[thread_x()]] = t[1][1][3][0] as f32;",
        ),
        expect![[r#"
            write `t[1][x / 16][x / 4 % 4][x % 4]`: 1 × 1 B, 1/1 wavefronts
            read `t[1][1][3][0]`: 1 × 1 B, 1/1 wavefronts
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            shared: 64 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn widths_of_vectors() {
    let read = |width: &str| {
        warp(&format!("let v = input.read::<{width}>([16 * thread_x()]);\noutput[[thread_x()]] = v[0];"))
    };
    check(
        &read("3"),
        expect![[r#"
        error: no instruction moves 3 elements of f32 (12 bytes) for one lane [TP0011]
        note: a lane moves 1, 2, 4, 8 or 16 bytes
        help: use a power of two up to `Vector<f32, 4>`
          at `input.read::<3>([16 * thread_x()])`
    "#]],
    );
    check(
        &read("8"),
        expect![[r#"
        error: no instruction moves 8 elements of f32 (32 bytes) for one lane [TP0011]
        note: a lane moves 1, 2, 4, 8 or 16 bytes
        help: use a power of two up to `Vector<f32, 4>`
          at `input.read::<8>([16 * thread_x()])`
    "#]],
    );
    check(
        &read("0"),
        expect![[r#"
        error: no instruction moves 0 elements of f32 (0 bytes) for one lane [TP0011]
        note: a lane moves 1, 2, 4, 8 or 16 bytes
        help: use a power of two up to `Vector<f32, 4>`
          at `input.read::<0>([16 * thread_x()])`
    "#]],
    );
    check(
        &warp(
            "let t = Shared::<[f64; 64]>::new();\nlet v = t.read::<4>([0]);\noutput[[thread_x()]] = v[0] as f32;",
        ),
        expect![[r#"
        error: no instruction moves 4 elements of f64 (32 bytes) for one lane [TP0011]
        note: a lane moves 1, 2, 4, 8 or 16 bytes
        help: use a power of two up to `Vector<f64, 2>`
          at `t.read::<4>([0])`
    "#]],
    );
    check(
        &warp(
            "let mut t = Shared::<[u8; 64]>::new();
            t[thread_x()] = 1;
            sync_threads();
            let v = t.read::<16>([0]);\noutput[[thread_x()]] = v[15] as f32;",
        ),
        expect![[r#"
            write `t[thread_x()]`: 1 × 1 B, 1/1 wavefronts
            read `t.read::<16>([0])`: 1 × 16 B, 2/2 wavefronts
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            shared: 64 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}
