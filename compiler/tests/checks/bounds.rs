//! Indices inside tiles and tensors.

use crate::harness::{check, kernel, warp};
use expect_test::expect;

fn copy(body: &str) -> String {
    kernel(
        "block = [256], grid = [output.len().div_ceil(256)], requires(input.len() == output.len())",
        "input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>",
        &format!("let i = block_x() * 256 + thread_x();\n{body}"),
    )
}

#[test]
fn guards_of_tensors() {
    check(
        &copy("if i < output.len() { output[[i]] = input[[i]]; }"),
        expect![[r#"
        read `input[[i]]`: 8 × 4 B, 32/32 sectors
        write `output[[i]]`: 8 × 4 B, 32/32 sectors
        launch: input.len() == output.len()
    "#]],
    );
    check(
        &copy("if i < input.len() { output[[i]] = input[[i]]; }"),
        expect![[r#"
        read `input[[i]]`: 8 × 4 B, 32/32 sectors
        write `output[[i]]`: 8 × 4 B, 32/32 sectors
        launch: input.len() == output.len()
    "#]],
    );
    check(
        &copy("if i + 1 <= output.len() { output[[i]] = input[[i]]; }"),
        expect![[r#"
        read `input[[i]]`: 8 × 4 B, 32/32 sectors
        write `output[[i]]`: 8 × 4 B, 32/32 sectors
        launch: input.len() == output.len()
    "#]],
    );
    check(
        &copy("if output.len() > i { output[[i]] = input[[i]]; }"),
        expect![[r#"
        read `input[[i]]`: 8 × 4 B, 32/32 sectors
        write `output[[i]]`: 8 × 4 B, 32/32 sectors
        launch: input.len() == output.len()
    "#]],
    );
    check(
        &copy("if !(i >= output.len()) { output[[i]] = input[[i]]; }"),
        expect![[r#"
        read `input[[i]]`: 8 × 4 B, 32/32 sectors
        write `output[[i]]`: 8 × 4 B, 32/32 sectors
        launch: input.len() == output.len()
    "#]],
    );
    check(
        &copy("if i >= output.len() { } else { output[[i]] = input[[i]]; }"),
        expect![[r#"
        read `input[[i]]`: 8 × 4 B, 32/32 sectors
        write `output[[i]]`: 8 × 4 B, 32/32 sectors
        launch: input.len() == output.len()
    "#]],
    );
}

#[test]
fn guards_that_are_missing_or_wrong() {
    check(
        &copy("output[[i]] = 1.0;"),
        expect![[r#"
            error: index may be out of bounds: nothing here says that `i < output.len()` [TP0402]
            note: the last blocks of the grid may reach beyond `output.len()`
            help: guard it: `if i < output.len() { … }`, or promise what bounds it in `requires(…)`
              at `output[[i]]`
        "#]],
    );
    check(
        &copy("if i <= output.len() { output[[i]] = 1.0; }"),
        expect![[r#"
            error: index may be out of bounds: nothing here says that `i < output.len()` [TP0402]
            note: the last blocks of the grid may reach beyond `output.len()`
            help: guard it: `if i < output.len() { … }`, or promise what bounds it in `requires(…)`
              at `output[[i]]`
        "#]],
    );
    check(
        &copy("if i < output.len() { output[[i]] = input[[i + 1]]; }"),
        expect![[r#"
            error: index may be out of bounds: nothing here says that `i + 1 < input.len()` [TP0402]
            note: `i < input.len()` is known, and `i + 1 < input.len()` is needed
            help: guard it: `if i + 1 < input.len() { … }`, or promise what bounds it in `requires(…)`
              at `input[[i + 1]]`
        "#]],
    );
    check(
        &copy("if i + 1 < output.len() || i == 0 { output[[i]] = 1.0; }"),
        expect![[r#"
            error: index may be out of bounds: nothing here says that `i < output.len()` [TP0402]
            note: the last blocks of the grid may reach beyond `output.len()`
            help: guard it: `if i < output.len() { … }`, or promise what bounds it in `requires(…)`
              at `output[[i]]`
        "#]],
    );
}

#[test]
fn neighbours_of_a_guarded_index() {
    check(
        &copy("if i + 1 < output.len() { output[[i]] = input[[i + 1]]; }"),
        expect![[r#"
        read `input[[i + 1]]`: 8 × 4 B, 32/32 sectors
        write `output[[i]]`: 8 × 4 B, 32/32 sectors
        launch: input.len() == output.len()
    "#]],
    );
    check(
        &copy("if i >= 1 && i < output.len() { output[[i]] = input[[i - 1]]; }"),
        expect![[r#"
        read `input[[i - 1]]`: 8 × 4 B, 32/32 sectors
        write `output[[i]]`: 8 × 4 B, 32/32 sectors
        launch: input.len() == output.len()
    "#]],
    );
    check(
        &copy("if i > 0 && i - 1 < input.len() { output[[i - 1]] = input[[i - 1]]; }"),
        expect![[r#"
        read `input[[i - 1]]`: 8 × 4 B, 32/32 sectors
        write `output[[i - 1]]`: 8 × 4 B, 32/32 sectors
        launch: input.len() == output.len()
    "#]],
    );
}

/// A guard on the index that is used elsewhere is no guard here.
#[test]
fn the_other_matrix() {
    check(
        &kernel(
            "block = [32], grid = [1]",
            "input: &Matrix<f32>, output: &mut Matrix<f32>",
            "if thread_x() < input.cols() && 0 < input.rows() {
                output[[0, thread_x()]] = input[[0, thread_x()]];
            }",
        ),
        expect![[r#"
            error: index may be out of bounds: nothing here says that `0 < output.rows()` and `thread_x() < output.cols()` [TP0402]
            note: `0 < input.rows()` is known, and nothing says how `input.rows()` and `output.rows()` compare
            note: `thread_x() < input.cols()` is known, and nothing says how `input.cols()` and `output.cols()` compare
            help: promise it: `requires(output.rows() >= input.rows(), output.cols() >= input.cols())`
              at `output[[0, thread_x()]]`
        "#]],
    );
}

#[test]
fn contracts_bound_tensors() {
    let promised = |requires: &str| {
        kernel(
            &format!("block = [32], grid = [output.len() / 32], requires({requires})"),
            "output: &mut Tensor<f32, 1>",
            "output[[block_x() * 32 + thread_x()]] = 0.0;",
        )
    };
    check(
        &promised("output.len() % 32 == 0"),
        expect![[r#"
        write `output[[block_x() * 32 + thread_x()]]`: 1 × 4 B, 4/4 sectors
        launch: output.len() % 32 == 0
    "#]],
    );
    check(
        &promised("output.len().is_multiple_of(64)"),
        expect![[r#"
        write `output[[block_x() * 32 + thread_x()]]`: 1 × 4 B, 4/4 sectors
        launch: output.len().is_multiple_of(64)
    "#]],
    );
    // 32 times the whole quotient never exceeds the length.
    check(
        &promised("output.len() >= 32"),
        expect![[r#"
        write `output[[block_x() * 32 + thread_x()]]`: 1 × 4 B, 4/4 sectors
        launch: output.len() >= 32
    "#]],
    );
}

#[test]
fn tiles() {
    check(
        &warp("let mut t = Shared::<[f32; 32]>::new();\nt[thread_x()] = 1.0;"),
        expect![[r#"
        write `t[thread_x()]`: 1 × 4 B, 1/1 wavefronts
        shared: 128 bytes
        launch: input.len() >= 4096
        launch: output.len() >= 4096
    "#]],
    );
    check(
        &warp("let mut t = Shared::<[f32; 32]>::new();\nt[thread_x() + 1] = 1.0;"),
        expect![[r#"
            error: index out of bounds: `thread_x() + 1` is 32, and the last index of `t` there is 31 [TP0401]
            note: thread 31 writes it
              at `t[thread_x() + 1]`
        "#]],
    );
    check(
        &warp("let mut t = Shared::<[f32; 31]>::new();\nt[thread_x()] = 1.0;"),
        expect![[r#"
            error: index out of bounds: `thread_x()` is 31, and the last index of `t` there is 30 [TP0401]
            note: thread 31 writes it
              at `t[thread_x()]`
        "#]],
    );
    check(
        &warp("let mut t = Shared::<[f32; 31]>::new();\nif thread_x() < 31 { t[thread_x()] = 1.0; }"),
        expect![[r#"
            write `t[thread_x()]`: 1 × 4 B, 1/1 wavefronts
            shared: 124 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    check(
        &warp("let mut t = Shared::<[[f32; 32]; 4]>::new();\nfor k in 0..5 { t[k][thread_x()] = 1.0; }"),
        expect![[r#"
            error: index out of bounds: `k` is 4, and the last index of `t` there is 3 [TP0401]
            note: thread 0 writes it
              at `t[k][thread_x()]`
        "#]],
    );
    check(
        &warp(
            "let mut t = Shared::<[f32; 130]>::new();\nt.write([4 * thread_x() + 4], Vector::<f32, 4>::splat(0.0));",
        ),
        expect![[r#"
            error: index out of bounds: `4 * thread_x() + 4 + 3` is 131, and the last index of `t` there is 129 [TP0401]
            note: thread 31 writes it
              at `t.write([4 * thread_x() + 4], Vector::<f32, 4>::splat(0.0))`
        "#]],
    );
}

#[test]
fn run_time_indices_of_tiles() {
    let indexed = |body: &str| {
        kernel(
            "block = [1], grid = [1]",
            "n: usize, bins: &Tensor<u8, 1>",
            &format!("let mut t = Shared::<[f32; 256]>::new();\n{body}"),
        )
    };
    check(
        &indexed("t[n] = 1.0;"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `n < 256` [TP0401]
        help: guard it: `if n < 256 { … }`, or promise what bounds it in `requires(…)`
          at `t[n]`
    "#]],
    );
    check(
        &indexed("if n < 256 { t[n] = 1.0; }"),
        expect![[r#"
        write `t[n]`: 1 × 4 B, 1/1 wavefronts
        shared: 1024 bytes
    "#]],
    );
    check(
        &indexed("t[n.min(255)] = 1.0;"),
        expect![[r#"
        write `t[n.min(255)]`: 1 × 4 B, 1/1 wavefronts
        shared: 1024 bytes
    "#]],
    );
    check(
        &indexed("t[n % 256] = 1.0;"),
        expect![[r#"
        write `t[n % 256]`: 1 × 4 B, 1/1 wavefronts
        shared: 1024 bytes
    "#]],
    );
    check(
        &indexed("t[n & 255] = 1.0;"),
        expect![[r#"
        write `t[n & 255]`: 1 × 4 B, 1/1 wavefronts
        shared: 1024 bytes
    "#]],
    );
    check(
        &indexed("for i in 0..n { t[i] = 1.0; }"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `i < 256` [TP0401]
        help: guard it: `if i < 256 { … }`, or promise what bounds it in `requires(…)`
          at `t[i]`
    "#]],
    );
    check(
        &indexed("for i in 0..n.min(256) { t[i] = 1.0; }"),
        expect![[r#"
        write `t[i]`: 1 × 4 B, 1/1 wavefronts
        shared: 1024 bytes
    "#]],
    );
    check(
        &indexed("if 0 < bins.len() { t[bins[[0]] as usize] = 1.0; }"),
        expect![[r#"
        read `bins[[0]]`: 1 × 1 B, 1/1 sectors
        write `t[bins[[0]] as usize]`: 1 × 4 B, 1/1 wavefronts
        shared: 1024 bytes
    "#]],
    );
}

/// What bounds the extent bounds the threads under its guard.
#[test]
fn threads_that_a_contract_excludes() {
    let small = |requires: &str| {
        kernel(
            &format!("block = [32], grid = [1], requires({requires})"),
            "input: &Tensor<f32, 1>",
            "let mut t = Shared::<[f32; 32]>::new();
            if thread_x() < input.len() {
                t[thread_x() + 8] = input[[thread_x()]];
            }",
        )
    };
    check(
        &small("input.len() <= 24"),
        expect![[r#"
        read `input[[thread_x()]]`: 1 × 4 B, 3/3 sectors
        write `t[thread_x() + 8]`: 1 × 4 B, 1/1 wavefronts
        shared: 128 bytes
        launch: input.len() <= 24
    "#]],
    );
    check(
        &small("input.len() <= 25"),
        expect![[r#"
            error: index out of bounds: `thread_x() + 8` is 32, and the last index of `t` there is 31 [TP0401]
            note: thread 24 writes it
              at `t[thread_x() + 8]`
        "#]],
    );
}

#[test]
fn ranks() {
    let rank = |parameters: &str, body: &str| kernel("block = [32], grid = [1]", parameters, body);
    check(
        &rank(
            "output: &mut Tensor<f32, 3>",
            "if 1 < output.extent(0) && 2 < output.extent(1) && thread_x() < output.extent(2) {
                output[[1, 2, thread_x()]] = 0.0;
            }",
        ),
        expect![[r#"
            write `output[[1, 2, thread_x()]]`: 1 × 4 B, 4/4 sectors
        "#]],
    );
    check(
        &rank(
            "output: &mut Tensor<f32, 3>",
            "if 1 < output.extent(0) && thread_x() < output.extent(2) {
                output[[1, 2, thread_x()]] = 0.0;
            }",
        ),
        expect![[r#"
            error: index may be out of bounds: nothing here says that `2 < output.extent(1)` [TP0402]
            help: guard it: `if 2 < output.extent(1) { … }`, or promise what bounds it in `requires(…)`
              at `output[[1, 2, thread_x()]]`
        "#]],
    );
}

/// A vector that begins inside ends inside where rows hold whole vectors; the help says so, and is right.
#[test]
fn whole_vectors() {
    let copy = |promise: &str| {
        kernel(
            &format!(
                "block = [32], grid = [input.cols().div_ceil(128), input.rows()], requires({promise} output.rows() == input.rows(), output.cols() == input.cols())"
            ),
            "input: &Matrix<f32>, output: &mut Matrix<f32>",
            "let (row, col) = (block_y(), 128 * block_x() + 4 * thread_x());
            if col < input.cols() { output.write([row, col], input.read::<4>([row, col])); }",
        )
    };
    check(
        &copy(""),
        expect![[r#"
            error: index may be out of bounds: nothing here says that `col + 3 < output.cols()` [TP0402]
            note: `col < output.cols()` is known, and `col + 3 < output.cols()` is needed
            note: likewise the load on line 4
            help: promise whole vectors: `requires(output.cols().is_multiple_of(4))`
            help: guard it: `if col + 3 < output.cols() { … }`, or promise what bounds it in `requires(…)`
              at `output.write([row, col], input.read::<4>([row, col]))`
        "#]],
    );
    check(
        &copy("input.cols().is_multiple_of(4),"),
        expect![[r#"
        read `input.read::<4>([row, col])`: 1 × 16 B, 16/16 sectors; alignment at launch: input.pitch() % 4 == 0, the first element is 16-byte aligned
        write `output.write([row, col], input.read::<4>([row, col]))`: 1 × 16 B, 16/16 sectors; alignment at launch: output.pitch() % 4 == 0, the first element is 16-byte aligned
        launch: input.cols().is_multiple_of(4)
        launch: output.rows() == input.rows()
        launch: output.cols() == input.cols()
        launch: input.pitch() % 4 == 0
        launch: output.pitch() % 4 == 0
    "#]],
    );
}

/// A matrix kept as one row after the other, indexed by `row * cols + col`.
#[test]
fn rows_in_one_extent() {
    check(
        &kernel(
            "block = [32, 8], grid = [cols.div_ceil(32), rows.div_ceil(8)], requires(x.len() == rows * cols, y.len() == rows * cols)",
            "x: &Tensor<f32, 1>, y: &mut Tensor<f32, 1>, rows: usize, cols: usize",
            "let (r, c) = (block_y() * 8 + thread_y(), block_x() * 32 + thread_x());
            if r < rows && c < cols { y[[r * cols + c]] = x[[r * cols + c]]; }",
        ),
        expect![[r#"
            read `x[[r * cols + c]]`: 8 × 4 B, 32/32 sectors
            write `y[[r * cols + c]]`: 8 × 4 B, 32/32 sectors
            launch: x.len() == rows * cols
            launch: y.len() == rows * cols
        "#]],
    );
}

/// Neighbours of a cell on a torus; their many facts do not hide the guard.
#[test]
fn neighbours_modulo_the_extents() {
    check(
        &kernel(
            "block = [32, 8], grid = [y.cols().div_ceil(32), y.rows().div_ceil(8)], requires(x.rows() == y.rows(), x.cols() == y.cols())",
            "x: &Matrix<u8>, y: &mut Matrix<u8>",
            "let (r, c) = (block_y() * 8 + thread_y(), block_x() * 32 + thread_x());
            let (rows, cols) = (x.rows(), x.cols());
            if r < rows && c < cols {
                let (up, left) = ((r + rows - 1) % rows, (c + cols - 1) % cols);
                let (down, right) = ((r + 1) % rows, (c + 1) % cols);
                y[[r, c]] = x[[up, left]] + x[[down, right]] + x[[r, left]] + x[[down, c]];
            }",
        ),
        expect![[r#"
            read `x[[up, left]]`: 8 × 1 B, 8/8 sectors
            read `x[[down, right]]`: 8 × 1 B, 8/8 sectors
            read `x[[r, left]]`: 8 × 1 B, 8/8 sectors
            read `x[[down, c]]`: 8 × 1 B, 8/8 sectors
            write `y[[r, c]]`: 8 × 1 B, 8/8 sectors
            launch: x.rows() == y.rows()
            launch: x.cols() == y.cols()
        "#]],
    );
}

/// The same with a condition for each edge: where `r == 0` does not hold, `r` is at least 1.
#[test]
fn neighbours_by_conditions() {
    check(
        &kernel(
            "block = [32, 8], grid = [y.cols().div_ceil(32), y.rows().div_ceil(8)], requires(x.rows() == y.rows(), x.cols() == y.cols())",
            "x: &Matrix<u8>, y: &mut Matrix<u8>",
            "let (r, c) = (block_y() * 8 + thread_y(), block_x() * 32 + thread_x());
            let (rows, cols) = (x.rows(), x.cols());
            if r < rows && c < cols {
                let up = if r == 0 { rows - 1 } else { r - 1 };
                let down = if r + 1 == rows { 0 } else { r + 1 };
                let left = if c == 0 { cols - 1 } else { c - 1 };
                let right = if c + 1 == cols { 0 } else { c + 1 };
                y[[r, c]] = x[[up, left]] + x[[down, right]];
            }",
        ),
        expect![[r#"
            read `x[[up, left]]`: 8 × 1 B, 8/8 sectors
            read `x[[down, right]]`: 8 × 1 B, 8/8 sectors
            write `y[[r, c]]`: 8 × 1 B, 8/8 sectors
            launch: x.rows() == y.rows()
            launch: x.cols() == y.cols()
        "#]],
    );
}

/// Of what the guard says, and what more is needed.
#[test]
fn what_is_missing() {
    let row = |access: &str| {
        kernel(
            "block = [32], grid = [t.len().div_ceil(32)], requires(o.len() >= 32)",
            "t: &Tensor<f32, 1>, o: &mut Tensor<f32, 1>",
            &format!(
                "let i = block_x() * 32 + thread_x();\nif i < t.len() {{ o[[thread_x()]] = {access}; }}"
            ),
        )
    };
    check(
        &row("t[[i + 3]]"),
        expect![[r#"
            error: index may be out of bounds: nothing here says that `i + 3 < t.len()` [TP0402]
            note: `i < t.len()` is known, and `i + 3 < t.len()` is needed
            help: guard it: `if i + 3 < t.len() { … }`, or promise what bounds it in `requires(…)`
              at `t[[i + 3]]`
        "#]],
    );
    check(
        &row("t.read_unaligned::<4>([i])[0]"),
        expect![[r#"
            error: index may be out of bounds: nothing here says that `i + 3 < t.len()` [TP0402]
            note: `i < t.len()` is known, and `i + 3 < t.len()` is needed
            help: guard it: `if i + 3 < t.len() { … }`, or promise what bounds it in `requires(…)`
              at `t.read_unaligned::<4>([i])`
        "#]],
    );
    check(
        &row("t[[i * 2]]"),
        expect![[r#"
            error: uncoalesced load: 8 sectors of 32 bytes where 4 are enough [TP0201]
            note: neighbouring lanes of warp 0 are 8 bytes apart, so 128 of 256 bytes are used
            help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
            help: or accept the cost: `#[budget(excess_sectors = 4, because = "…")]` on the statement
              at `t[[i * 2]]`
            error: index may be out of bounds: nothing here says that `i * 2 < t.len()` [TP0402]
            note: the last blocks of the grid may reach beyond `t.len()`
            help: guard it: `if i * 2 < t.len() { … }`, or promise what bounds it in `requires(…)`
              at `t[[i * 2]]`
        "#]],
    );
    let tile = |access: &str| {
        kernel(
            "block = [32], grid = [1], requires(n <= 32)",
            "x: f32, n: usize",
            &format!("let mut t = Shared::<[f32; 32]>::new();\nif thread_x() < 8 {{ t[{access}] = x; }}"),
        )
    };
    check(
        &tile("n + 1"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `n + 1 < 32` [TP0401]
        note: `n < 33` is known, and `n + 1 < 32` is needed
        help: guard it: `if n + 1 < 32 { … }`, or promise what bounds it in `requires(…)`
          at `t[n + 1]`
    "#]],
    );
    check(
        &tile("n"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `n < 32` [TP0401]
        note: `n < 33` is known, and `n < 32` is needed
        help: guard it: `if n < 32 { … }`, or promise what bounds it in `requires(…)`
          at `t[n]`
    "#]],
    );
}

/// A number of 32 bits as an index: exact where its range says that it fits, and unknown where it may wrap.
#[test]
fn products_that_may_wrap() {
    let index = |requires: &str, index: &str| {
        kernel(
            &format!("block = [1], grid = [1], requires({requires})"),
            "a: u32, b: u32, c: i32, t: &mut Tensor<f32, 1>",
            &format!("let at = {index};\nt[[at]] = 1.0;"),
        )
    };
    let widened = "a as usize * b as usize";
    check(
        &index("t.len() > a as usize * b as usize", widened),
        expect![[r#"
        write `t[[at]]`: 1 × 4 B, 1/1 sectors
        launch: t.len() > a as usize * b as usize
    "#]],
    );
    check(
        &index("t.len() > a as usize * b as usize", "(a * b) as usize"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `at < t.len()` [TP0402]
        note: `a * b` is computed in `u32`, and may wrap
        help: widen the operands instead: `a as usize * b as usize`
        help: guard it: `if at < t.len() { … }`, or promise what bounds it in `requires(…)`
          at `t[[at]]`
    "#]],
    );
    check(
        &index("a < 1000, b < 1000, t.len() >= 1000000", "(a * b) as usize"),
        expect![[r#"
        write `t[[at]]`: 1 × 4 B, 1/1 sectors
        launch: a < 1000
        launch: b < 1000
        launch: t.len() >= 1000000
    "#]],
    );
    check(
        &index("a < 65536, b < 65537, t.len() >= 1 << 32", "(a * b + 1) as usize"),
        expect![[r#"
        write `t[[at]]`: 1 × 4 B, 1/1 sectors
        launch: a < 65536
        launch: b < 65537
        launch: t.len() >= 1 << 32
    "#]],
    );
    check(
        &index("a < 100, t.len() >= 100, b < 10", "((a + 5) - b) as usize"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `at < t.len()` [TP0402]
        note: `(a + 5) - b` is computed in `u32`, and may wrap
        help: guard it: `if at < t.len() { … }`, or promise what bounds it in `requires(…)`
          at `t[[at]]`
    "#]],
    );
    check(
        &index("c >= 0, c < 50000, t.len() >= 1 << 31", "(c * c) as usize"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `at < t.len()` [TP0402]
        note: `c * c` is computed in `i32`, and may wrap
        help: widen the operands instead: `c as usize * c as usize`
        help: guard it: `if at < t.len() { … }`, or promise what bounds it in `requires(…)`
          at `t[[at]]`
    "#]],
    );
}
