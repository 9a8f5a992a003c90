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

#[test]
fn a_gather_is_inside_and_its_cost_is_unknown() {
    let gather = |budget: &str| {
        kernel(
            "block = [32], grid = [index.len().div_ceil(32)], requires(output.len() == index.len())",
            "table: &Tensor<f32, 1>, index: &Tensor<u32, 1>, output: &mut Tensor<f32, 1>",
            &format!(
                "let i = block_x() * 32 + thread_x();
                if i < output.len() {{
                    {budget}
                    let value = table.get_or([index[[i]] as usize], -1.0);
                    output[[i]] = value;
                }}"
            ),
        )
    };
    check(
        &gather(""),
        expect![[r#"
        error: whether this access coalesces is not known [TP0201]
        note: the address depends on a value of `index`, and may differ from lane to lane
        help: take responsibility for the cost: `#[budget(excess_sectors = 31, because = "…")]` on the statement
          at `table.get_or([index[[i]] as usize], -1.0)`
    "#]],
    );
    check(
        &gather("#[budget(excess_sectors = 31, because = \"a gather\")]"),
        expect![[r#"
        read `index[[i]]`: 1 × 4 B, 4/4 sectors
        read `table.get_or([index[[i]] as usize], -1.0)`: 1 × 4 B, 0/0 sectors; cost budgeted: a gather
        write `output[[i]]`: 1 × 4 B, 4/4 sectors
        launch: output.len() == index.len()
    "#]],
    );
}

/// A halo: the guard is an edge, and the count that of a full warp.
#[test]
fn a_halo_is_judged_as_an_edge() {
    check(
        &kernel(
            "block = [32, 4], grid = [input.cols().div_ceil(32), input.rows().div_ceil(4)],
            requires(output.rows() == input.rows(), output.cols() == input.cols())",
            "input: &Matrix<f32>, output: &mut Matrix<f32>",
            "let (r, c) = (block_y() * 4 + thread_y(), block_x() * 32 + thread_x());
            let sum = input.get_or([r, c], 0.0) + input.get_or([r + 1, c], 0.0) + input.get_or([r, c + 1], 0.0);
            if output.contains([r, c]) {
                output[[r, c]] = sum;
            }",
        ),
        expect![[r#"
            read `input.get_or([r, c], 0.0)`: 4 × 4 B, 16/16 sectors
            read `input.get_or([r + 1, c], 0.0)`: 4 × 4 B, 16/16 sectors
            read `input.get_or([r, c + 1], 0.0)`: 4 × 4 B, 16/16 sectors
            write `output[[r, c]]`: 4 × 4 B, 16/16 sectors
            launch: output.rows() == input.rows()
            launch: output.cols() == input.cols()
        "#]],
    );
}

/// Offsets may be below zero: these are outside too.
#[test]
fn a_halo_on_all_sides() {
    check(
        &kernel(
            "block = [32, 4], grid = [input.cols().div_ceil(32), input.rows().div_ceil(4)],
            requires(output.rows() == input.rows(), output.cols() == input.cols())",
            "input: &Matrix<f32>, output: &mut Matrix<f32>",
            "let (r, c) = ((block_y() * 4 + thread_y()) as isize, (block_x() * 32 + thread_x()) as isize);
            let mut sum = 0.0;
            for dr in 0..3isize {
                sum += input.get_or([r + dr - 1, c - 1], 0.0) + input.get_or([r + dr - 1, c + 1], 0.0);
            }
            if output.contains([r, c]) {
                output[[r as usize, c as usize]] = sum + input.get_or([-1, c], 1.0);
            }",
        ),
        expect![[r#"
            read `input.get_or([r + dr - 1, c - 1], 0.0)`: 12 × 4 B, 48/48 sectors
            read `input.get_or([r + dr - 1, c + 1], 0.0)`: 12 × 4 B, 48/48 sectors
            read `input.get_or([-1, c], 1.0)`: 0 × 4 B, 0/0 sectors
            write `output[[r as usize, c as usize]]`: 4 × 4 B, 16/16 sectors
            launch: output.rows() == input.rows()
            launch: output.cols() == input.cols()
        "#]],
    );
}

#[test]
fn tiles_have_them_too() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(output.len() >= 64)",
            "output: &mut Tensor<f32, 1>",
            "let mut tile = Shared::<[[f32; 32]; 2]>::new();
            tile[0][thread_x()] = 1.0;
            tile[1][thread_x()] = 2.0;
            sync_threads();
            output[[thread_x()]] = tile.get_or([1, thread_x() + 1], 0.0);
            if !tile.contains([1, thread_x() + 16]) {
                output[[32 + thread_x()]] = 1.0;
            }",
        ),
        expect![[r#"
            write `tile[0][thread_x()]`: 1 × 4 B, 1/1 wavefronts
            write `tile[1][thread_x()]`: 1 × 4 B, 1/1 wavefronts
            read `tile.get_or([1, thread_x() + 1], 0.0)`: 1 × 4 B, 1/1 wavefronts
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            write `output[[32 + thread_x()]]`: 1 × 4 B, 2/2 sectors
            shared: 256 bytes
            launch: output.len() >= 64
        "#]],
    );
}

#[test]
fn a_default_of_another_type() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(output.len() >= 32)",
            "input: &Matrix<f32>, output: &mut Tensor<f32, 1>",
            "output[[thread_x()]] = input.get_or([0, thread_x()], 0i32);
            output[[thread_x()]] = input.get_or([thread_x()], 0.0);",
        ),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `input.get_or([0, thread_x()], 0i32)`
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `[thread_x()]`
        "#]],
    );
}

#[test]
fn the_parts_of_a_number_are_inside() {
    check(
        &kernel(
            "block = [128], grid = [(input.extent(0) * input.extent(1) * input.extent(2)).div_ceil(128)],
            requires(output.extent(0) == input.extent(0), output.extent(1) == input.extent(1),
                output.extent(2) == input.extent(2), input.extent(0) * input.extent(1) < 1 << 40)",
            "input: &Tensor<f32, 3>, output: &mut Tensor<f32, 3>",
            "let i = block_x() * 128 + thread_x();
            if i < input.extent(0) * input.extent(1) * input.extent(2) {
                let [a, b, c] = unflatten(i, [input.extent(0), input.extent(1), input.extent(2)]);
                output[[a, b, c]] = input[[a, b, c]];
            }",
        ),
        expect![[r#"
            read `input[[a, b, c]]`: 4 × 4 B, 16/16 sectors
            write `output[[a, b, c]]`: 4 × 4 B, 16/16 sectors
            launch: output.extent(0) == input.extent(0)
            launch: output.extent(1) == input.extent(1)
            launch: output.extent(2) == input.extent(2)
            launch: input.extent(0) * input.extent(1) < 1 << 40
        "#]],
    );
}

#[test]
fn parts_by_constants() {
    check(
        &kernel(
            "block = [128], grid = [input.extent(0) / 2], requires(input.extent(1) == 4, input.extent(2) == 16,
                output.extent(0) == input.extent(0), output.extent(1) == 4, output.extent(2) == 16)",
            "input: &Tensor<f32, 3>, output: &mut Tensor<f32, 3>",
            "let i = block_x() * 128 + thread_x();
            let [a, b, c] = unflatten(i, [input.extent(0), 4, 16]);
            output[[a, b, c]] = input[[a, b, c]];",
        ),
        expect![[r#"
            read `input[[a, b, c]]`: 4 × 4 B, 16/16 sectors
            write `output[[a, b, c]]`: 4 × 4 B, 16/16 sectors
            launch: input.extent(1) == 4
            launch: input.extent(2) == 16
            launch: output.extent(0) == input.extent(0)
            launch: output.extent(1) == 4
            launch: output.extent(2) == 16
        "#]],
    );
    check(
        &kernel(
            "block = [1], grid = [1], requires(input.extent(1) == 4, input.extent(2) == 16,
                output.extent(0) == input.extent(0), output.extent(1) == 4, output.extent(2) == 16)",
            "input: &Tensor<f32, 3>, output: &mut Tensor<f32, 3>",
            "for j in 0..input.extent(0) * 64 {
                let [a, b, c] = unflatten(j, [input.extent(0), 4, 16]);
                output[[a, b, c]] = input[[a, b, c]];
            }",
        ),
        expect![[r#"
            read `input[[a, b, c]]`: 1 × 4 B, 1/1 sectors
            write `output[[a, b, c]]`: 1 × 4 B, 1/1 sectors
            launch: input.extent(1) == 4
            launch: input.extent(2) == 16
            launch: output.extent(0) == input.extent(0)
            launch: output.extent(1) == 4
            launch: output.extent(2) == 16
        "#]],
    );
}

#[test]
fn a_grouped_raster_stays_inside_the_grid() {
    // One block an element: nothing else says that the index is inside.
    let raster = |grid: &str| {
        kernel(
            &format!("block = [32], grid = [{grid}], requires(output.extent(2) == 32)"),
            "output: &mut Tensor<u32, 3>",
            "let [row, col] = rasterize(block_x(), [output.extent(0), output.extent(1)], 8);
            output[[row, col, thread_x()]] = block_x() as u32;",
        )
    };
    check(
        &raster("output.extent(0) * output.extent(1)"),
        expect![[r#"
        write `output[[row, col, thread_x()]]`: 1 × 4 B, 4/4 sectors
        launch: output.extent(2) == 32
    "#]],
    );
    check(
        &raster("output.extent(0) * output.extent(1) + 1"),
        expect![[r#"
            error: division may be by zero: `rasterize(block_x(), [output.extent(0), output.extent(1)], 8)` [TP0501]
            note: nothing here says that the divisor is at least 1
            help: promise it in `requires(…)`, or guard the division with a comparison
              at `rasterize(block_x(), [output.extent(0), output.extent(1)], 8)`
            error: index may be out of bounds: nothing here says that `row < output.extent(0)` and `col < output.extent(1)` [TP0402]
            help: guard it: `if row < output.extent(0) && col < output.extent(1) { … }`, or promise what bounds it in `requires(…)`
              at `output[[row, col, thread_x()]]`
        "#]],
    );
    check(
        &kernel(
            "block = [32, 8], grid = [output.rows().div_ceil(8) * output.cols().div_ceil(32)]",
            "output: &mut Matrix<u32>",
            "let [row, col] = rasterize(block_x(), [output.rows().div_ceil(8), output.cols().div_ceil(32)], 4);
            let (r, c) = (row * 8 + thread_y(), col * 32 + thread_x());
            if r < output.rows() && c < output.cols() {
                output[[r, c]] = block_x() as u32;
            }",
        ),
        expect![[r#"
            write `output[[r, c]]`: 8 × 4 B, 32/32 sectors
        "#]],
    );
}

#[test]
fn a_number_is_inside_only_where_its_parts_are() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(output.len() == input.rows() * input.cols(), input.cols() >= 32,
                input.rows() <= 30000, input.cols() <= 30000)",
            "input: &Matrix<f32>, output: &mut Tensor<f32, 1>",
            "for r in 0..input.rows() {
                output[[flatten([r, thread_x()], [input.rows(), input.cols()])]] = input[[r, thread_x()]];
            }
            output[[flatten([1, thread_x()], [input.rows(), input.cols()])]] = 0.0;",
        ),
        expect![[r#"
            error: index may be out of bounds: nothing here says that `flatten([1, thread_x()], [input.rows(), input.cols()]) < output.len()` [TP0402]
            help: guard it: `if flatten([1, thread_x()], [input.rows(), input.cols()]) < output.len() { … }`, or promise what bounds it in `requires(…)`
              at `output[[flatten([1, thread_x()], [input.rows(), input.cols()])]]`
        "#]],
    );
}

#[test]
fn orders_that_are_none() {
    check(
        &kernel(
            "block = [32], grid = [1]",
            "input: &Matrix<f32>, output: &mut Matrix<f32>",
            "let [a, b] = rasterize(thread_x(), [4, 8], 0);
            let [c, d] = rasterize(thread_x(), [4, 8], thread_y());
            let [e, f, g] = unflatten(thread_x(), [4, 8]);
            let h = flatten([a], [4, 8]);",
        ),
        expect![[r#"
            error: a group of 0 rows [TP0007]
            note: a group has at least one row
            help: take 4 to 16: so many rows of one operand stay in the L2 cache
              at `0`
            error: the number of rows in a group must be known at compile time [TP0007]
            help: write an integer, or a `const` declared in the kernel or in its `#[tiled_module]`
              at `thread_y()`
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `[e, f, g]`
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `flatten([a], [4, 8])`
        "#]],
    );
}

#[test]
fn tables_read_by_what_a_warp_agrees_on() {
    check(
        &kernel(
            "block = [32], grid = [input.rows()], requires(output.rows() == input.rows(), output.cols() == 32,
                input.cols() == 36)",
            "input: &Matrix<f32>, output: &mut Matrix<f32>, taps: usize",
            "const SCALE: f32 = 0.25;
            const WEIGHTS: [f32; 5] = [SCALE / 4.0, 0.25, SCALE * 1.5, 0.25, 1.0 / 16.0];
            const ORDER: [[usize; 3]; 2] = [[2, 1, 0], [0, 4, 3]];
            let mut sum = WEIGHTS[ORDER[0][1]];
            for k in 0..5 {
                sum += WEIGHTS[k] * input[[block_x(), thread_x() + k]];
            }
            for k in 0..3 {
                sum += WEIGHTS[2] * input[[block_x(), thread_x() + ORDER[1][k]]];
            }
            if taps < 5 {
                sum *= WEIGHTS[taps];
            }
            output[[block_x(), thread_x()]] = sum;",
        ),
        expect![[r#"
            read `input[[block_x(), thread_x() + k]]`: 5 × 4 B, 20/20 sectors
            read `input[[block_x(), thread_x() + ORDER[1][k]]]`: 3 × 4 B, 12/12 sectors
            write `output[[block_x(), thread_x()]]`: 1 × 4 B, 4/4 sectors
            launch: output.rows() == input.rows()
            launch: output.cols() == 32
            launch: input.cols() == 36
        "#]],
    );
}

#[test]
fn tables_that_are_refused() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(output.len() >= 32)",
            "output: &mut Tensor<u32, 1>, n: usize",
            "const TABLE: [u32; 32] = [1; 32];
            output[[thread_x()]] = TABLE[thread_x()];
            output[[thread_x()]] = TABLE[n];
            let copy = TABLE;
            output[[thread_x()]] = copy[3];",
        ),
        expect![[r#"
            error: the lanes of a warp read different elements of a constant table: `TABLE[thread_x()]` [TP0601]
            note: the constant cache serves one address at a time, so up to 32 reads would wait for each other
            help: copy the table into a shared tile, or take it as a tensor
              at `TABLE[thread_x()]`
            error: index of a constant table may be out of bounds: `TABLE[n]` [TP0601]
            note: nothing here says that it stays below 32
            help: guard it with a comparison, or promise what bounds it in `requires(…)`
              at `TABLE[n]`
        "#]],
    );
    check(
        &kernel(
            "block = [32], grid = [1]",
            "output: &mut Tensor<u32, 1>",
            "const TABLE: [u32; 2] = [1; 2];
            TABLE[0] = 1;
            TABLE[1] += 1;",
        ),
        expect![[r#"
            error: a constant table cannot be written [TP0002]
            help: copy it into a variable first: `let mut table = TABLE;`
              at `TABLE[0]`
            error: a constant table cannot be written [TP0002]
            help: copy it into a variable first: `let mut table = TABLE;`
              at `TABLE[1]`
        "#]],
    );
    check(
        &kernel(
            "block = [32], grid = [1], requires(output.len() >= 32)",
            "output: &mut Tensor<u32, 1>",
            "const A: [u32; 2] = [3, 1 / 0];
            output[[thread_x()]] = A[1];",
        ),
        expect![[r#"
            error: an element of a constant table must be known at compile time [TP0007]
            help: compute it from literals and constants
              at `1 / 0`
        "#]],
    );
    check(
        &kernel(
            "block = [32], grid = [1], requires(output.len() >= 32)",
            "output: &mut Tensor<u32, 1>, n: u32",
            "const A: [u32; 2] = [n, 1];
            output[[thread_x()]] = A[1];",
        ),
        expect![[r#"
            left to rustc: the macro cannot see `n`, which is declared outside the kernel [TP0005]
            help: write the value out, declare it in the kernel (`const N: usize = 32;`) or beside it in a `#[tiled_module] mod`, or pass it as an argument
              at `n`
        "#]],
    );
    check(
        &kernel(
            "block = [32], grid = [1], requires(output.len() >= 32)",
            "output: &mut Tensor<u32, 1>",
            "const A: [u32; 3] = [1, 2];
            const B: [f32; 2] = [1.0, 2];
            const C: &str = \"text\";
            const D: [[u64; 4096]; 3] = [[1; 4096]; 3];
            output[[thread_x()]] = A[1] + B[0] as u32 + D[0][1] as u32;",
        ),
        expect![[r#"
            error: a constant of a kernel is a number, bool, or an array of them [TP0002]
            help: write `const N: usize = 32;` or `const WEIGHTS: [[f32; 5]; 5] = …;`
              at `&str`
            error: an array of more than 4096 values does not fit the registers of a thread [TP0002]
            help: give each thread fewer values, or put them into a shared tile
              at `[[1; 4096]; 3]`
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `[1, 2]`
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `[1.0, 2]`
        "#]],
    );
}
