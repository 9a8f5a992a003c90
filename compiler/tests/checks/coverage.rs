//! Is every element of a tensor written.

use crate::harness::{check, kernel};
use expect_test::expect;

fn vector(grid: &str, body: &str) -> String {
    kernel(
        &format!("block = [256], grid = [{grid}], covers(x)"),
        "x: &mut Tensor<f32, 1>, n: usize",
        &format!("let (b, t) = (block_x(), thread_x());\nlet i = b * 256 + t;\n{body}"),
    )
}

fn matrix(arguments: &str, body: &str) -> String {
    kernel(
        &format!("block = [32, 8], {arguments}, covers(x)"),
        "a: &Matrix<f32>, x: &mut Matrix<f32>",
        &format!("let (y, t) = (thread_y(), thread_x());\n{body}"),
    )
}

const TILES: &str = "grid = [x.cols().div_ceil(32), x.rows().div_ceil(32)]";

#[test]
fn vectors() {
    check(
        &vector("x.len().div_ceil(256)", "if i < x.len() { x[[i]] = 1.0; }"),
        expect![[r#"
        write `x[[i]]`: 8 × 4 B, 32/32 sectors
    "#]],
    );
    check(
        &vector("x.len() / 256", "if i < x.len() { x[[i]] = 1.0; }"),
        expect![[r#"
        error: elements of `x` may stay unwritten: elements from `256 * (x.len() / 256)` on are written by no block [TP0804]
        note: nothing says that there are none: each block along x is responsible for 256 of them
        help: make the grid `x.len().div_ceil(256)` blocks in x
          at `x.len() / 256`
    "#]],
    );
    check(
        &vector("x.len().div_ceil(256)", "if i + 1 < x.len() { x[[i]] = 1.0; }"),
        expect![[r#"
        error: elements of `x` may stay unwritten: a thread may pass over `x[[i]]` on line 5 [TP0804]
        note: that `i + 1 < x.len()` on line 5 holds does not follow from the element being inside `x`
        help: store in every case, or take `covers(x)` away
          at `x[[i]]`
    "#]],
    );
    check(
        &vector("x.len().div_ceil(256)", "if i < x.len() && i < n { x[[i]] = 1.0; }"),
        expect![[r#"
        error: elements of `x` may stay unwritten: a thread may pass over `x[[i]]` on line 5 [TP0804]
        note: that `i < x.len() && i < n` on line 5 holds does not follow from the element being inside `x`
        help: store in every case, or take `covers(x)` away
          at `x[[i]]`
    "#]],
    );
    check(
        &vector("x.len().div_ceil(256)", "if i < x.len() && t < 255 { x[[i]] = 1.0; }"),
        expect![[r#"
        error: elements of `x` may stay unwritten: of every 256 elements, the one at [255] is stored by no thread [TP0804]
        note: `x[[i]]` on line 5 is among the stores to `x`
          at `x[[i]]`
    "#]],
    );
    check(
        &vector("4", "if i < x.len() { x[[i]] = 1.0; }"),
        expect![[r#"
        error: elements of `x` may stay unwritten: elements from 1024 on are written by no block [TP0804]
        note: nothing says that there are none: each block along x is responsible for 256 of them
        help: make the grid `x.len().div_ceil(256)` blocks in x
          at `4`
    "#]],
    );
    check(
        &vector(
            "x.len().div_ceil(256)",
            "if i >= x.len() { return; } if i % 2 == 0 { x[[i]] = 1.0; } else { x[[i]] = 2.0; }",
        ),
        expect![[r#"
        error: uncoalesced store: 4 sectors of 32 bytes where 2 are enough [TP0201]
        note: neighbouring lanes of warp 0 are 8 bytes apart, so 64 of 128 bytes are used
        help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
        help: or accept the cost: `#[budget(excess_sectors = 2, because = "…")]` on the statement
          at `x[[i]]`
        error: uncoalesced store: 4 sectors of 32 bytes where 2 are enough [TP0201]
        note: neighbouring lanes of warp 0 are 8 bytes apart, so 64 of 128 bytes are used
        help: let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory
        help: or accept the cost: `#[budget(excess_sectors = 2, because = "…")]` on the statement
          at `x[[i]]`
    "#]],
    );
    check(
        &vector("x.len().div_ceil(256)", "if i < x.len() { if n == 3 { x[[i]] = 1.0; } }"),
        expect![[r#"
        error: elements of `x` may stay unwritten: a thread may pass over `x[[i]]` on line 5 [TP0804]
        note: that `n == 3` on line 5 holds does not follow from the element being inside `x`
        help: store in every case, or take `covers(x)` away
          at `x[[i]]`
    "#]],
    );
    check(
        &vector(
            "x.len().div_ceil(256)",
            "if n == 3 { if i < x.len() { x[[i]] = 1.0; } } else { if i < x.len() { x[[i]] = 2.0; } }",
        ),
        expect![[r#"
        write `x[[i]]`: 8 × 4 B, 32/32 sectors
        write `x[[i]]`: 8 × 4 B, 32/32 sectors
    "#]],
    );
    check(
        &vector("x.len().div_ceil(256)", "if t == 999 { x[[i]] = 1.0; }"),
        expect![[r#"
        error: elements of `x` may stay unwritten: nothing stores to it [TP0804]
        note: an atomic update does not count: it needs an element that has a value
          at `x`
    "#]],
    );
}

#[test]
fn loops() {
    check(
        &vector("8", "for j in (i..x.len()).step_by(grid_x() * 256) { x[[j]] = 1.0; }"),
        expect![[r#"
        write `x[[j]]`: 8 × 4 B, 32/32 sectors
    "#]],
    );
    check(
        &vector("n.max(1)", "for j in (i..x.len()).step_by(grid_x() * 256) { x[[j]] = 1.0; }"),
        expect![[r#"
        write `x[[j]]`: 8 × 4 B, 32/32 sectors
    "#]],
    );
    check(
        &vector("n", "for j in (i..x.len()).step_by(grid_x() * 256) { x[[j]] = 1.0; }"),
        expect![[r#"
        error: elements of `x` may stay unwritten: the grid may have no block along x although `x` has elements [TP0804]
        help: use `div_ceil` where the grid divides, or demand at least one block by `requires(…)`
          at `n`
    "#]],
    );
    check(
        &vector("1", "for j in (t..x.len()).step_by(256) { x[[j]] = 1.0; }"),
        expect![[r#"
        write `x[[j]]`: 8 × 4 B, 32/32 sectors
    "#]],
    );
    check(
        &vector("1", "for j in (t..n).step_by(256) { if j < x.len() { x[[j]] = 1.0; } }"),
        expect![[r#"
        error: elements of `x` may stay unwritten: a thread may pass over `x[[j]]` on line 5 [TP0804]
        note: that `(t..n).step_by(256)` on line 5 holds does not follow from the element being inside `x`
        help: store in every case, or take `covers(x)` away
          at `x[[j]]`
    "#]],
    );
    check(
        &vector("1", "for j in (t..x.len()).step_by(512) { x[[j]] = 1.0; }"),
        expect![[r#"
        error: elements of `x` may stay unwritten: of every 512 elements, the one at [256] is stored by no thread [TP0804]
        note: `x[[j]]` on line 5 is among the stores to `x`
          at `x[[j]]`
    "#]],
    );
    check(
        &vector(
            "x.len().div_ceil(1024)",
            "for k in 0..4 { let j = b * 1024 + k * 256 + t; if j < x.len() { x[[j]] = 1.0; } }",
        ),
        expect![[r#"
        write `x[[j]]`: 32 × 4 B, 128/128 sectors
    "#]],
    );
    check(
        &vector(
            "x.len().div_ceil(1024)",
            "for k in 0..3 { let j = b * 1024 + k * 256 + t; if j < x.len() { x[[j]] = 1.0; } }",
        ),
        expect![[r#"
        error: elements of `x` may stay unwritten: of every 1024 elements, the one at [768] is stored by no thread [TP0804]
        note: `x[[j]]` on line 5 is among the stores to `x`
          at `x[[j]]`
    "#]],
    );
    check(
        &vector(
            "x.len().div_ceil(1024)",
            "let j = b * 1024 + t * 4; if j + 4 <= x.len() { x.write([j], Vector::splat(1.0)); }",
        ),
        expect![[r#"
        error: the width of this vector is not known here [TP0007]
        help: write it: `Vector::<f32, 4>::splat(0.0)`
          at `Vector::splat(1.0)`
    "#]],
    );
    check(
        &kernel(
            "block = [256], grid = [x.len().div_ceil(1024)], requires(x.len().is_multiple_of(4)), covers(x)",
            "x: &mut Tensor<f32, 1>",
            "let j = block_x() * 1024 + thread_x() * 4; if j + 4 <= x.len() { x.write([j], Vector::from([1.0, 2.0, 3.0, 4.0])); }",
        ),
        expect![[r#"
        write `x.write([j], Vector::from([1.0, 2.0, 3.0, 4.0]))`: 8 × 16 B, 128/128 sectors; alignment at launch: the first element is 16-byte aligned
        launch: x.len().is_multiple_of(4)
    "#]],
    );
}

#[test]
fn matrices() {
    let tile = "for k in (0..32).step_by(8) { let (r, c) = (block_y() * 32 + y + k, block_x() * 32 + t); if r < x.rows() && c < x.cols() { x[[r, c]] = 1.0; } }";
    check(
        &matrix(TILES, tile),
        expect![[r#"
        write `x[[r, c]]`: 32 × 4 B, 128/128 sectors
    "#]],
    );
    check(
        &matrix("grid = [x.cols().div_ceil(32), x.rows() / 32]", tile),
        expect![[r#"
        error: elements of `x` may stay unwritten: rows from `32 * (x.rows() / 32)` on are written by no block [TP0804]
        note: nothing says that there are none: each block along y is responsible for 32 of them
        help: make the grid `x.rows().div_ceil(32)` blocks in y
          at `x.rows() / 32`
    "#]],
    );
    check(
        &matrix(
            "grid = [a.rows().div_ceil(32), a.cols().div_ceil(32)], requires(x.rows() == a.cols(), x.cols() == a.rows())",
            tile,
        ),
        expect![[r#"
        write `x[[r, c]]`: 32 × 4 B, 128/128 sectors
        launch: x.rows() == a.cols()
        launch: x.cols() == a.rows()
    "#]],
    );
    check(
        &matrix("grid = [a.rows().div_ceil(32), a.cols().div_ceil(32)]", tile),
        expect![[r#"
        error: elements of `x` may stay unwritten: columns from `32 * (a.rows().div_ceil(32))` on are written by no block [TP0804]
        note: nothing says that there are none: each block along x is responsible for 32 of them
        help: make the grid `x.cols().div_ceil(32)` blocks in x
          at `a.rows().div_ceil(32)`
    "#]],
    );
    check(
        &matrix(TILES, &tile.replace("(0..32)", "(0..24)")),
        expect![[r#"
        error: elements of `x` may stay unwritten: of every 32 × 32 elements, the one at [24, 0] is stored by no thread [TP0804]
        note: `x[[r, c]]` on line 4 is among the stores to `x`
          at `x[[r, c]]`
    "#]],
    );
    check(
        &matrix(
            "grid = [x.rows()]",
            "for c in (y * 32 + t..x.cols()).step_by(256) { x[[block_x(), c]] = 1.0; }",
        ),
        expect![[r#"
        write `x[[block_x(), c]]`: 8 × 4 B, 32/32 sectors
    "#]],
    );
    check(
        &matrix(
            "grid = [x.rows()], requires(x.cols() == 200)",
            "let c = y * 32 + t; if c < x.cols() { x[[block_x(), c]] = 1.0; }",
        ),
        expect![[r#"
        write `x[[block_x(), c]]`: 7 × 4 B, 25/25 sectors
        launch: x.cols() == 200
    "#]],
    );
    check(
        &matrix("grid = [x.rows()]", "let c = y * 32 + t; if c < x.cols() { x[[block_x(), c]] = 1.0; }"),
        expect![[r#"
        error: elements of `x` may stay unwritten: columns from 256 on are written by no thread [TP0804]
        help: go over them in a loop or by more blocks, or add `requires(x.cols() <= 256)`
          at `x`
    "#]],
    );
    check(
        &matrix(
            TILES,
            "let mut tile = Shared::<[[f32; 32]; 32]>::new(); for k in (0..32).step_by(8) { tile[y + k][t] = 1.0; } sync_threads(); tile.store(x, [block_y() * 32, block_x() * 32]);",
        ),
        expect![[r#"
        write `tile[y + k][t]`: 32 × 4 B, 32/32 wavefronts
        read `tile.store(x, [block_y() * 32, block_x() * 32])`: 32 × 4 B, 32/32 wavefronts
        write `tile.store(x, [block_y() * 32, block_x() * 32])`: 32 × 4 B, 128/128 sectors
        read `tile.store(x, [block_y() * 32, block_x() * 32])` at the edge: 32 × 4 B, 32/32 wavefronts
        write `tile.store(x, [block_y() * 32, block_x() * 32])` at the edge: 32 × 4 B, 128/128 sectors
        shared: 4096 bytes
    "#]],
    );
    check(
        &matrix(
            "grid = [x.cols().div_ceil(32), x.rows().div_ceil(32)], requires(x.cols().is_multiple_of(4))",
            "let mut tile = Shared::<[[f32; 32]; 32]>::new(); for k in (0..32).step_by(8) { tile[y + k][t] = 1.0; } sync_threads(); tile.store(x, [block_y() * 32, block_x() * 32]);",
        ),
        expect![[r#"
        write `tile[y + k][t]`: 32 × 4 B, 32/32 wavefronts
        read `tile.store(x, [block_y() * 32, block_x() * 32])`: 32 × 4 B, 32/32 wavefronts
        write `tile.store(x, [block_y() * 32, block_x() * 32])`: 32 × 4 B, 128/128 sectors
        read `tile.store(x, [block_y() * 32, block_x() * 32])` at the edge: 32 × 4 B, 32/32 wavefronts
        write `tile.store(x, [block_y() * 32, block_x() * 32])` at the edge: 32 × 4 B, 128/128 sectors
        shared: 4096 bytes
        launch: x.cols().is_multiple_of(4)
    "#]],
    );
}

#[test]
fn either_side_of_a_branch() {
    check(
        &vector(
            "x.len().div_ceil(256)",
            "if i + 1 < x.len() { x[[i]] = 1.0; } else if i < x.len() { x[[i]] = 2.0; }",
        ),
        expect![[r#"
            write `x[[i]]`: 8 × 4 B, 32/32 sectors
            write `x[[i]]`: 8 × 4 B, 32/32 sectors
        "#]],
    );
    check(
        &vector(
            "x.len().div_ceil(256)",
            "if i >= x.len() { return; } if t as f32 * 0.1 < 2.0 { x[[i]] = 1.0; } else { x[[i]] = 2.0; }",
        ),
        expect![[r#"
            write `x[[i]]`: 8 × 4 B, 32/32 sectors
            write `x[[i]]`: 8 × 4 B, 32/32 sectors
        "#]],
    );
    check(
        &vector(
            "x.len().div_ceil(256)",
            "if i >= x.len() { return; } if t as f32 * 0.1 < 2.0 { x[[i]] = 1.0; }",
        ),
        expect![[r#"
            error: elements of `x` may stay unwritten: a thread may pass over `x[[i]]` on line 5 [TP0804]
            note: whether a thread gets past line 5 depends on what only the run of the kernel tells
            help: store in every case, or take `covers(x)` away
              at `x[[i]]`
        "#]],
    );
    check(
        &vector(
            "x.len().div_ceil(256)",
            "if n == 3 { if i + 1 < x.len() { x[[i]] = 1.0; } } else { if i < x.len() { x[[i]] = 2.0; } }",
        ),
        expect![[r#"
            error: elements of `x` may stay unwritten: a thread may pass over `x[[i]]` on line 5 [TP0804]
            note: that `i + 1 < x.len()` on line 5 holds does not follow from the element being inside `x`
            help: store in every case, or take `covers(x)` away
              at `x[[i]]`
        "#]],
    );
}

#[test]
fn claims_about_what_is_no_output() {
    check(
        "#[tiled_kernel(block = [32], grid = [1], covers(y, z))]\nfn kernel(y: &Tensor<f32, 1>, x: &mut Tensor<f32, 1>) {}",
        expect![[r#"
            error: `y` is no tensor that the kernel writes to [TP0003]
            note: `covers(…)` names tensors, behind `&mut`, of which the kernel writes every element
            help: here it may name `x`
              at `y`
            error: the kernel has no argument `z` [TP0003]
            note: `covers(…)` names tensors, behind `&mut`, of which the kernel writes every element
            help: here it may name `x`
              at `z`
        "#]],
    );
    check(
        "#[tiled_kernel(block = [32], grid = [1], covers(n))]\nfn kernel(n: usize) {}",
        expect![[r#"
        error: `n` is no tensor that the kernel writes to [TP0003]
        note: `covers(…)` names tensors, behind `&mut`, of which the kernel writes every element
          at `n`
    "#]],
    );
}

#[test]
fn what_is_not_understood() {
    check(
        &vector(
            "x.len().div_ceil(256)",
            "if i < x.len() { let j = (i * 1) ^ (n & 0); if j < x.len() { x[[j]] = 1.0; } }",
        ),
        expect![[r#"
            write `x[[j]]`: 8 × 4 B, 32/32 sectors
        "#]],
    );
    check(
        &vector("1", "let mut j = t; while j < x.len() { x[[j]] = 1.0; j += 256; }"),
        expect![[r#"
        error: elements of `x` may stay unwritten: how `x[[j]]` on line 5 runs over the tensor's elements is not understood [TP0804]
        note: an index must be a sum of an offset of each thread, a multiple of the block's position, and multiples of loop counters, the larger ones whole multiples of all that the smaller ones reach
        help: write the index so, or take `covers(x)` away
          at `x[[j]]`
    "#]],
    );
    check(
        &vector("n", "if block_x() == 0 { for j in (t..x.len()).step_by(256) { x[[j]] = 1.0; } }"),
        expect![[r#"
            error: elements of `x` may stay unwritten: the grid may have no block along x although `x` has elements [TP0804]
            help: use `div_ceil` where the grid divides, or demand at least one block by `requires(…)`
              at `n`
        "#]],
    );
}

#[test]
fn three_dimensions() {
    let volume = |grid: &str, body: &str| {
        kernel(&format!("block = [32, 8], grid = [{grid}], covers(x)"), "x: &mut Tensor<f32, 3>", body)
    };
    let body = "let (r, c) = (block_y() * 8 + thread_y(), block_x() * 32 + thread_x()); if r < x.extent(1) && c < x.extent(2) { x[[block_z(), r, c]] = 1.0; }";
    check(
        &volume("x.extent(2).div_ceil(32), x.extent(1).div_ceil(8), x.extent(0)", body),
        expect![[r#"
        write `x[[block_z(), r, c]]`: 8 × 4 B, 32/32 sectors
    "#]],
    );
    check(
        &volume(
            "x.extent(2).div_ceil(32), x.extent(1).div_ceil(8), x.extent(0).max(1) - 1",
            &body.replace("if r", "if block_z() < x.extent(0) && r"),
        ),
        expect![[r#"
            error: elements of `x` may stay unwritten: indices of dimension 0 from `x.extent(0).max(1) - 1` on are written by no block [TP0804]
            note: nothing says that there are none: each block along z is responsible for 1 of them
            help: make the grid `x.extent(0)` blocks in z
              at `x.extent(0).max(1) - 1`
        "#]],
    );
    let all = "let (r, c) = (block_y() * 8 + thread_y(), block_x() * 32 + thread_x()); if r < x.extent(1) && c < x.extent(2) { for z in 0..x.extent(0) { x[[z, r, c]] = 1.0; } }";
    check(
        &volume("x.extent(2).div_ceil(32), x.extent(1).div_ceil(8)", all),
        expect![[r#"
        write `x[[z, r, c]]`: 8 × 4 B, 32/32 sectors
    "#]],
    );
}
