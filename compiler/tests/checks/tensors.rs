//! Tensors of every rank, and the words that make an index.

use crate::harness::{check, kernel};
use expect_test::expect;

#[test]
fn a_tensor_of_rank_5() {
    check(
        &kernel(
            "block = [32], grid = [input.extent(4).div_ceil(32), input.extent(3), input.extent(2)],
            requires(output.extent(0) == input.extent(0), output.extent(1) == input.extent(1),
                output.extent(2) == input.extent(2), output.extent(3) == input.extent(3),
                output.extent(4) == input.extent(4))",
            "input: &Tensor<f32, 5>, output: &mut Tensor<f32, 5>",
            "let e = block_x() * 32 + thread_x();
            for a in 0..input.extent(0) {
                for b in 0..input.extent(1) {
                    if e < input.extent(4) {
                        output[[a, b, block_z(), block_y(), e]] = input[[a, b, block_z(), block_y(), e]];
                    }
                }
            }",
        ),
        expect![[r#"
            read `input[[a, b, block_z(), block_y(), e]]`: 1 × 4 B, 4/4 sectors
            write `output[[a, b, block_z(), block_y(), e]]`: 1 × 4 B, 4/4 sectors
            launch: output.extent(0) == input.extent(0)
            launch: output.extent(1) == input.extent(1)
            launch: output.extent(2) == input.extent(2)
            launch: output.extent(3) == input.extent(3)
            launch: output.extent(4) == input.extent(4)
        "#]],
    );
}

#[test]
fn a_row_of_vectors_needs_aligned_strides() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(input.extent(3) >= 128, input.extent(0) >= 1, input.extent(1) >= 1,
                input.extent(2) >= 1, output.extent(0) >= 1)",
            "input: &Tensor<f32, 4>, output: &mut Tensor<f32, 4>",
            "let row = input.read::<4>([0, 0, 0, 4 * thread_x()]);
            if 127 < output.extent(3) && 0 < output.extent(1) && 0 < output.extent(2) {
                output.write([0, 0, 0, 4 * thread_x()], row);
            }",
        ),
        expect![[r#"
            read `input.read::<4>([0, 0, 0, 4 * thread_x()])`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
            write `output.write([0, 0, 0, 4 * thread_x()], row)`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
            launch: input.extent(3) >= 128
            launch: input.extent(0) >= 1
            launch: input.extent(1) >= 1
            launch: input.extent(2) >= 1
            launch: output.extent(0) >= 1
        "#]],
    );
}

#[test]
fn one_index_a_dimension() {
    check(
        &kernel(
            "block = [32], grid = [1]",
            "input: &Tensor<f32, 5>, output: &mut Tensor<f32, 4>",
            "output[[0, 0, 0, thread_x()]] = input[[0, 0, thread_x()]];",
        ),
        expect![[r#"
            left to rustc: `input` has 5 extents, and this access does not give one index for each [TP0006]
            help: write `input[[i, j, k, l, m]]`
              at `input[[0, 0, thread_x()]]`
        "#]],
    );
}
