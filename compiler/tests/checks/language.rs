//! What a kernel may be written with.

use crate::harness::{check, kernel, warp};
use expect_test::expect;

#[test]
fn scalars_and_operators() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(output.len() >= 32)",
            "a: i32, b: u8, c: f64, d: bool, n: usize, output: &mut Tensor<i64, 1>",
            "let mut x = a as i64 + b as i64 * 2 - (c as i64) / 3 % 7;
            x ^= 5;
            x &= !1;
            x |= 8;
            x <<= 2;
            x >>= 1u32;
            x += 1;
            x -= 2;
            x *= 3;
            x /= 4;
            x %= 100;
            let y = if d && a < 3 || n != 4 { x.min(7) } else { -x.max(1) };
            let wide = (n as f32 * 0.5) as i64;
            output[[thread_x()]] = y + wide + (b >> 1) as i64;",
        ),
        expect![[r#"
            write `output[[thread_x()]]`: 1 × 8 B, 8/8 sectors
            launch: output.len() >= 32
        "#]],
    );
}

#[test]
fn constants() {
    check(
        &warp(
            "const ROWS: usize = 8;
            const COLS: usize = ROWS * 4;
            const SCALE: f32 = 0.5;
            let mut t = Shared::<[[f32; COLS]; ROWS], Pad<1>>::new();
            for k in 0..ROWS {
                t[k][thread_x()] = SCALE * input[[k * COLS + thread_x()]];
            }
            sync_threads();
            output[[thread_x()]] = t[ROWS - 1][thread_x()];",
        ),
        expect![[r#"
            read `input[[k * COLS + thread_x()]]`: 8 × 4 B, 32/32 sectors
            write `t[k][thread_x()]`: 8 × 4 B, 8/8 wavefronts
            read `t[ROWS - 1][thread_x()]`: 1 × 4 B, 1/1 wavefronts
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            shared: 1056 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn tuples() {
    check(
        &warp(
            "let (row, (col, _)) = (thread_x() / 8, (thread_x() % 8, 3));
            let pair = (row, col);
            let (r, c) = pair;
            output[[r * 8 + c]] = input[[r * 8 + c]];",
        ),
        expect![[r#"
            read `input[[r * 8 + c]]`: 1 × 4 B, 4/4 sectors
            write `output[[r * 8 + c]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn fields_of_tuples_are_places_and_indices() {
    check(
        &warp(
            "fn better(a: (f32, usize), b: (f32, usize)) -> (f32, usize) { if b.0 > a.0 { b } else { a } }
            let mut best = (f32::NEG_INFINITY, 0);
            let mut at = (thread_x(), (0, [0.0; 2]));
            for k in 0..4 {
                best = better(best, (input[[at.0]], k));
                at.0 += 32;
                at.1.1[0] += 1.0;
            }
            at.0 = thread_x();
            (output[[at.0]], at.1.0) = best;
            output[[at.0 + 32]] = at.1.1[0];",
        ),
        expect![[r#"
            read `input[[at.0]]`: 4 × 4 B, 16/16 sectors
            write `output[[at.0]]`: 1 × 4 B, 4/4 sectors
            write `output[[at.0 + 32]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    check(
        &warp("let mut t = (1.0f32, 2); t = (1, 2);"),
        expect![[r#"
        left to rustc: the types here do not fit a kernel [TP0006]
        help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
          at `(1, 2)`
    "#]],
    );
    check(
        &warp("let mut t = ([1, 2], 2); t = ([1, 2], 3);"),
        expect![[r#"
        error: a register array cannot be assigned as a whole [TP0002]
        help: assign its elements in a loop
          at `t`
    "#]],
    );
    check(
        &warp("let mut t = (1, 2); t += (1, 2); (t.0, t.1) = (1, 2, 3); t.2 = 3;"),
        expect![[r#"
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `(1, 2)`
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `(t.0, t.1)`
            left to rustc: the types here do not fit a kernel [TP0006]
            help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
              at `t.2`
        "#]],
    );
    check(
        &warp("let (mut a, mut b) = (1, 2); (a, 3) = (1, 2); (a, b) += (1, 2); (a, ..) = (2, 3);"),
        expect![[r#"
            error: a kernel cannot assign to this [TP0002]
            help: assign to a variable, a field of a tuple, an element of an array, a tile or a tensor, or to a tuple of such
              at `3`
            error: a kernel cannot assign to this [TP0002]
            help: assign to a variable, a field of a tuple, an element of an array, a tile or a tensor, or to a tuple of such
              at `(a, b)`
            error: a kernel cannot assign to this [TP0002]
            help: assign to a variable, a field of a tuple, an element of an array, a tile or a tensor, or to a tuple of such
              at `..`
        "#]],
    );
}

/// The elements are known in every iteration: to proofs, costs and indices of registers.
#[test]
fn loops_over_arrays() {
    check(
        &warp(
            "let mut tile = Shared::<[[f32; 33]; 32]>::new();
            let mut sum = [0.0; 2];
            for (d, slot) in [(16, 0), (64, 1)] {
                sum[slot] += input[[thread_x() + d]];
                tile[slot][thread_x()] = 0.0;
            }
            for d in [1024, 2048] { output[[thread_x() + d]] = sum[0]; }
            let x = thread_x();
            if (8..16).contains(&x) { output[[x - 8]] = sum[1]; }",
        ),
        expect![[r#"
            read `input[[thread_x() + d]]`: 2 × 4 B, 8/8 sectors
            write `tile[slot][thread_x()]`: 2 × 4 B, 2/2 wavefronts
            write `output[[thread_x() + d]]`: 2 × 4 B, 8/8 sectors
            write `output[[x - 8]]`: 1 × 4 B, 1/1 sectors
            shared: 4224 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    check(
        &warp("for d in [16, 8, 4096] { output[[thread_x() + d]] = 0.0; }"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `thread_x() + d < output.len()` [TP0402]
        help: guard it: `if thread_x() + d < output.len() { … }`, or promise what bounds it in `requires(…)`
          at `output[[thread_x() + d]]`
    "#]],
    );
    check(
        &warp("for d in [16, 8.0] { }\nfor d in thread_x() { }\nfor d in [] { }"),
        expect![[r#"
        error: a kernel's `for` runs over a range or an array [TP0002]
        help: write `for i in start..end`, with `..=`, `.step_by(step)` and `.rev()` as needed, or `for x in [16, 8, 4]`
          at `thread_x()`
        left to rustc: the types here do not fit a kernel [TP0006]
        help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
          at `[16, 8.0]`
        left to rustc: the types here do not fit a kernel [TP0006]
        help: annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type
          at `[]`
    "#]],
    );
}

#[test]
fn conditions() {
    check(
        &warp(
            "let x = thread_x();
            let offset = if x < 16 { x } else if x < 24 { x + 8 } else { x + 16 };
            let mut v = 0.0;
            if x >= 8 { v = input[[x]]; } else { v = 2.0; }
            output[[offset]] = v;",
        ),
        expect![[r#"
            read `input[[x]]`: 1 × 4 B, 3/3 sectors
            write `output[[offset]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    check(
        &warp("let i = { let a = thread_x(); a * 1 };\noutput[[i]] = { let y = input[[i]]; y + 1.0 };"),
        expect![[r#"
            read `input[[i]]`: 1 × 4 B, 4/4 sectors
            write `output[[i]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn loops() {
    check(
        &kernel(
            "block = [32], grid = [1], requires(input.len() >= 1024, output.len() >= 32, n <= 1000, m <= 1000)",
            "n: usize, m: usize, input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>",
            "let mut sum = 0.0;
            for i in 0..4 { sum += input[[32 * i + thread_x()]]; }
            for i in (0..128).step_by(32) { sum += input[[i + thread_x()]]; }
            for i in (4..2) { sum += input[[thread_x() + i]]; }
            for _ in 0..2 { sum *= 2.0; }
            for i in thread_x()..thread_x() + 2 { sum += input[[i]]; }
            for i in 0..n.min(8) { sum += input[[32 * i + thread_x()]]; }
            for i in (m.min(3)..n.min(8)).step_by(2) { sum += input[[32 * i + thread_x()]]; }
            for i in (0..n).step_by(m.max(1)) { if 32 * i < 512 { sum += input[[32 * i + thread_x()]]; } }
            for i in 0..3u8 { sum += i as f32; }
            output[[thread_x()]] = sum;",
        ),
        expect![[r#"
            read `input[[32 * i + thread_x()]]`: 4 × 4 B, 16/16 sectors
            read `input[[i + thread_x()]]`: 4 × 4 B, 16/16 sectors
            read `input[[thread_x() + i]]`: 0 × 4 B, 0/0 sectors
            read `input[[i]]`: 2 × 4 B, 8/8 sectors
            read `input[[32 * i + thread_x()]]`: 1 × 4 B, 4/4 sectors
            read `input[[32 * i + thread_x()]]`: 1 × 4 B, 4/4 sectors
            read `input[[32 * i + thread_x()]]`: 1 × 4 B, 4/4 sectors
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 1024
            launch: output.len() >= 32
            launch: n <= 1000
            launch: m <= 1000
        "#]],
    );
}

#[test]
fn loops_by_thread() {
    check(
        &warp(
            "let mut sum = 0.0;
            for i in 0..thread_x() { sum += input[[i]]; }
            for i in (thread_x()..128).step_by(32) { sum += input[[i]]; }
            output[[thread_x()]] = sum;",
        ),
        expect![[r#"
            read `input[[i]]`: 31 × 4 B, 31/31 sectors
            read `input[[i]]`: 4 × 4 B, 16/16 sectors
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn tensors_of_each_rank() {
    check(
        &kernel(
            "block = [8, 2, 2], grid = [volume.extent(2).div_ceil(8), volume.extent(1).div_ceil(2), volume.extent(0).div_ceil(2)],
             requires(line.len() >= volume.extent(2), plane.rows() == volume.extent(1), plane.cols() == volume.extent(2))",
            "line: &Tensor<f32, 1>, plane: &Tensor<f32, 2>, volume: &mut Tensor<f32, 3>",
            "let x = block_x() * 8 + thread_x();
            let y = block_y() * 2 + thread_y();
            let z = block_z() * 2 + thread_z();
            if x < volume.extent(2) && y < plane.rows() && z < volume.extent(0) {
                volume[[z, y, x]] += line[[x]] * plane[[y, x]];
            }",
        ),
        expect![[r#"
            read `line[[x]]`: 1 × 4 B, 1/1 sectors
            read `plane[[y, x]]`: 1 × 4 B, 2/2 sectors
            read `volume[[z, y, x]]`: 1 × 4 B, 4/4 sectors
            write `volume[[z, y, x]]`: 1 × 4 B, 4/4 sectors
            launch: line.len() >= volume.extent(2)
            launch: plane.rows() == volume.extent(1)
            launch: plane.cols() == volume.extent(2)
        "#]],
    );
}

#[test]
fn tiles_of_each_rank() {
    check(
        &warp(
            "let mut a = Shared::<[f32; 32]>::new();
            let mut b = Shared::<[[f32; 16]; 2]>::new();
            let mut c = Shared::<[[[f32; 8]; 2]; 2], Xor<1>>::new();
            let mut d = Shared::<[[[[f32; 4]; 2]; 2]; 2], Swizzle<1, 1, 2>>::new();
            let x = thread_x();
            a[x] = 1.0;
            b[x / 16][x % 16] = 1.0;
            c[x / 16][x / 8 % 2][x % 8] = 1.0;
            d[x / 16][x / 8 % 2][x / 4 % 2][x % 4] = 1.0;
            sync_threads();
            d[x / 16][x / 8 % 2][x / 4 % 2][x % 4] += 1.0;",
        ),
        expect![[r#"
            write `a[x]`: 1 × 4 B, 1/1 wavefronts
            write `b[x / 16][x % 16]`: 1 × 4 B, 1/1 wavefronts
            write `c[x / 16][x / 8 % 2][x % 8]`: 1 × 4 B, 1/1 wavefronts
            write `d[x / 16][x / 8 % 2][x / 4 % 2][x % 4]`: 1 × 4 B, 1/1 wavefronts
            read `d[x / 16][x / 8 % 2][x / 4 % 2][x % 4]`: 1 × 4 B, 1/1 wavefronts
            write `d[x / 16][x / 8 % 2][x / 4 % 2][x % 4]`: 1 × 4 B, 1/1 wavefronts
            shared: 512 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn elements_of_each_type() {
    for element in ["i8", "u8", "i16", "u16", "i32", "u32", "f32", "i64", "u64", "f64"] {
        let source = kernel(
            "block = [32], grid = [1], requires(input.len() >= 32, output.len() >= 32)",
            &format!("input: &Tensor<{element}, 1>, output: &mut Tensor<{element}, 1>"),
            &format!(
                "let mut t = Shared::<[{element}; 32]>::new();
                t[thread_x()] = input[[thread_x()]];
                sync_threads();
                output[[thread_x()]] = t[31 - thread_x()];"
            ),
        );
        let sites = crate::harness::sites(&source);
        let bytes: u32 = element[1..].parse::<u32>().expect("bits") / 8;
        for site in &sites {
            assert_eq!((site.lane_bytes, site.instructions), (bytes, 1), "{element}");
            assert_eq!(site.wavefronts, site.ideal_wavefronts, "{element}");
            assert_eq!(site.sectors, site.ideal_sectors, "{element}");
        }
        assert_eq!(sites.len(), 4);
    }
}

#[test]
fn vectors() {
    check(
        &warp(
            "let mut t = Shared::<[[f32; 128]; 2]>::new();
            let x = thread_x();
            let a = input.read::<4>([4 * x]);
            let b: Vector<f32, 4> = input.read([4 * x + 128]);
            let c = Vector::new([a[0], b[1], a[2], b[3]]);
            let d = Vector::from([1.0f32, 2.0, 3.0, 4.0]);
            let e = Vector::<f32, 4>::splat(0.5);
            let mut f = c;
            f[2] += e[1] * d[0];
            t.write([0, 4 * x], f);
            t.write([1, 4 * x], c);
            sync_threads();
            output.write([4 * x], t.read::<4>([1, 4 * x]));
            output.write([2 * x + 128], t.read::<2>([0, 2 * x]));
            output.write([x + 256], t.read::<1>([0, x]));",
        ),
        expect![[r#"
            read `input.read::<4>([4 * x])`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
            read `input.read([4 * x + 128])`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
            write `t.write([0, 4 * x], f)`: 1 × 16 B, 4/4 wavefronts
            write `t.write([1, 4 * x], c)`: 1 × 16 B, 4/4 wavefronts
            read `t.read::<4>([1, 4 * x])`: 1 × 16 B, 4/4 wavefronts
            write `output.write([4 * x], t.read::<4>([1, 4 * x]))`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
            read `t.read::<2>([0, 2 * x])`: 1 × 8 B, 2/2 wavefronts
            write `output.write([2 * x + 128], t.read::<2>([0, 2 * x]))`: 1 × 8 B, 8/8 sectors; alignment at launch: the first element is 8-byte aligned
            read `t.read::<1>([0, x])`: 1 × 4 B, 1/1 wavefronts
            write `output.write([x + 256], t.read::<1>([0, x]))`: 1 × 4 B, 4/4 sectors
            shared: 1024 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn register_arrays() {
    check(
        &warp(
            "let mut a = [0.0f32; 4];
            let mut b = [[1.0f32, 2.0], [3.0, 4.0]];
            let mut c = [Vector::<f32, 2>::splat(0.0); 2];
            for i in 0..4 { a[i] = input[[32 * i + thread_x()]]; }
            for i in 0..2 { for j in 0..2 { b[i][j] += a[2 * i + j]; c[i][j] = b[j][i]; } }
            c[1][0] -= 1.0;
            output.write([4 * thread_x()], Vector::new(a));
            output.write([2 * thread_x() + 128], Vector::new(b[1]));
            output.write([2 * thread_x() + 192], c[1]);",
        ),
        expect![[r#"
            read `input[[32 * i + thread_x()]]`: 4 × 4 B, 16/16 sectors
            write `output.write([4 * thread_x()], Vector::new(a))`: 1 × 16 B, 16/16 sectors; alignment at launch: the first element is 16-byte aligned
            write `output.write([2 * thread_x() + 128], Vector::new(b[1]))`: 1 × 8 B, 8/8 sectors; alignment at launch: the first element is 8-byte aligned
            write `output.write([2 * thread_x() + 192], c[1])`: 1 × 8 B, 8/8 sectors; alignment at launch: the first element is 8-byte aligned
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn index_arithmetic() {
    check(
        &warp(
            "let mut t = Shared::<[[f32; 32]; 32]>::new();
            let x = thread_x();
            t[x.min(7)][x] = 1.0;
            t[x.max(7) - 7][x] = 1.0;
            t[x.div_ceil(2)][x] = 1.0;
            sync_threads();
            t[(x << 1) & 31][x ^ 3] = 1.0;
            sync_threads();
            t[x >> 2][(x | 8) & 23 | (x & 8)] = 1.0;
            t[x / 4 * 4 % 32][x] = 1.0;
            if x.is_multiple_of(4) { t[0][x] = 1.0; }",
        ),
        expect![[r#"
            write `t[x.min(7)][x]`: 1 × 4 B, 1/1 wavefronts
            write `t[x.max(7) - 7][x]`: 1 × 4 B, 1/1 wavefronts
            write `t[x.div_ceil(2)][x]`: 1 × 4 B, 1/1 wavefronts
            write `t[(x << 1) & 31][x ^ 3]`: 1 × 4 B, 1/1 wavefronts
            write `t[x >> 2][(x | 8) & 23 | (x & 8)]`: 1 × 4 B, 1/1 wavefronts
            write `t[x / 4 * 4 % 32][x]`: 1 × 4 B, 1/1 wavefronts
            write `t[0][x]`: 1 × 4 B, 1/1 wavefronts
            shared: 4096 bytes
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

#[test]
fn grids_and_contracts() {
    check(
        &kernel(
            "block = [32], grid = [n.div_ceil(32).max(1), 2, output.rows().min(4)],
             requires(n <= output.cols(), output.rows() >= 2 && output.rows() % 2 == 0, output.pitch() >= output.cols(), n != 7 || output.rows() > 3)",
            "n: usize, output: &mut Matrix<f32>",
            "let x = block_x() * 32 + thread_x();
            if x < n && block_z() == 0 { output[[block_y(), x]] = grid_x() as f32; }",
        ),
        expect![[r#"
            write `output[[block_y(), x]]`: 1 × 4 B, 4/4 sectors
            launch: n <= output.cols()
            launch: output.rows() >= 2 && output.rows() % 2 == 0
            launch: output.pitch() >= output.cols()
            launch: n != 7 || output.rows() > 3
        "#]],
    );
}

/// A loop whose bound is the variable of an unrolled one is unrolled too.
#[test]
fn triangular_loops_over_registers() {
    check(
        &warp(
            "let mut x = [0.0; 4];
            for i in 0..4 {
                let mut sum = input[[thread_x() + 32 * i]];
                for j in 0..i { sum -= x[j]; }
                x[i] = sum;
            }
            output[[thread_x()]] = x[3];",
        ),
        expect![[r#"
            read `input[[thread_x() + 32 * i]]`: 4 × 4 B, 16/16 sectors
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
    check(
        &warp(
            "let mut x = [0.0; 80];
            for i in 0..80 {
                for j in 0..i { x[j] = 1.0; }
            }
            output[[thread_x()]] = x[3];",
        ),
        expect![[r#"
            error: a register array is indexed by a value that is not constant [TP0601]
            note: `j` must be one number for all threads once constant loops are unrolled: registers have no addresses, so the array would move to slow local memory
            help: index it by constants and by variables of loops with constant bounds
              at `j`
        "#]],
    );
}

/// The bits of a known number are known after they are reversed.
#[test]
fn reversed_bits_as_an_index() {
    check(
        &warp(
            "let i = ((thread_x() as u32).reverse_bits() >> 27) as usize;
            output[[thread_x()]] = input[[i]];",
        ),
        expect![[r#"
            read `input[[i]]`: 1 × 4 B, 4/4 sectors
            write `output[[thread_x()]]`: 1 × 4 B, 4/4 sectors
            launch: input.len() >= 4096
            launch: output.len() >= 4096
        "#]],
    );
}

/// The launcher computes with integers.
#[test]
fn floats_in_a_contract() {
    check(
        &kernel("block = [32], grid = [1], requires(hi > lo)", "lo: f32, hi: f32", ""),
        expect![[r#"
            error: the launcher cannot evaluate this expression [TP0003]
            note: `grid` and `requires` are evaluated on the host, before any thread or element exists
            help: use extents (`input.rows()`), strides (`input.pitch()`), scalar arguments and integer constants
              at `hi > lo`
        "#]],
    );
}
