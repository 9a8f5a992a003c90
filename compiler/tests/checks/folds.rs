//! Loads that ptxas would drop are no sites.

use crate::harness::{check, warp};
use expect_test::expect;

#[test]
fn the_same_element_twice() {
    check(
        &warp("let i = thread_x();\noutput[[i]] = input[[i]] * input[[thread_x()]];"),
        expect![[r#"
            read `input[[i]]`: 1 × 4 B, 4/4 sectors, again on [4]
            write `output[[i]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn in_a_branch_and_in_a_loop() {
    check(
        &warp(
            "let i = thread_x();
            let mut sum = input[[i]];
            if sum > 0.0 { sum += input[[i]]; }
            for k in 0..4 { sum += input[[i]] + input[[k]]; }
            output[[i]] = sum;",
        ),
        expect![[r#"
            read `input[[i]]`: 1 × 4 B, 4/4 sectors, again on [5, 6]
            read `input[[k]]`: 4 × 4 B, 4/4 sectors
            write `output[[i]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

/// What was loaded in a branch was not loaded behind it.
#[test]
fn not_behind_the_branch() {
    check(
        &warp(
            "let i = thread_x();
            let mut sum = 0.0;
            if i < 16 { sum += input[[i]]; }
            output[[i]] = sum + input[[i]];",
        ),
        expect![[r#"
            read `input[[i]]`: 1 × 4 B, 2/2 sectors
            read `input[[i]]`: 1 × 4 B, 4/4 sectors
            write `output[[i]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn not_after_a_change() {
    check(
        &warp(
            "let mut tile = Shared::<[f32; 32]>::new();
            let mut i = thread_x();
            tile[i] = input[[i]];
            let a = tile[i];
            tile[i] = a + 1.0;
            let b = tile[i];
            sync_threads();
            let c = tile[i] + tile[i];
            i = 31 - i;
            output[[i]] = a + b + c + tile[i] + input[[i]];",
        ),
        expect![[r#"
            read `input[[i]]`: 1 × 4 B, 4/4 sectors
            write `tile[i]`: 1 × 4 B, 1/1 wavefronts
            read `tile[i]`: 1 × 4 B, 1/1 wavefronts
            write `tile[i]`: 1 × 4 B, 1/1 wavefronts
            read `tile[i]`: 1 × 4 B, 1/1 wavefronts
            read `tile[i]`: 1 × 4 B, 1/1 wavefronts, again on [10]
            read `tile[i]`: 1 × 4 B, 1/1 wavefronts
            read `input[[i]]`: 1 × 4 B, 4/4 sectors
            write `output[[i]]`: 1 × 4 B, 4/4 sectors
            shared: 128 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

/// A vector is another access than one of its values.
#[test]
fn not_of_another_width() {
    check(
        &warp(
            "let i = 2 * thread_x();
            let v = input.read::<2>([i]);
            let w = input.read::<2>([i]);
            output.write([i], Vector::new([v[0] + w[0], v[1] + w[1]]));
            sync_threads();
            #[budget(excess_sectors = 4, because = \"every second element\")]
            { output[[thread_x()]] = input[[i]]; }",
        ),
        expect![[r#"
            read `input.read::<2>([i])`: 1 × 8 B, 8/8 sectors, again on [5]; alignment at launch: the first element is 8-byte aligned
            write `output.write([i], Vector::new([v[0] + w[0], v[1] + w[1]]))`: 1 × 8 B, 8/8 sectors; alignment at launch: the first element is 8-byte aligned
            read `input[[i]]`: 1 × 4 B, 8/4 sectors, worst excess 4; cost budgeted: every second element
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}
