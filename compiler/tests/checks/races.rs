//! Races on shared memory: which accesses a barrier must stand between, and what each barrier orders.

use crate::harness::{check_order, kernel, outcome, warp};
use expect_test::expect;

/// A kernel of two warps over a tile of 64 elements, of which each thread has the number `x`.
fn warps(body: &str) -> String {
    kernel(
        "block = [64], grid = [1], requires(input.len() >= 4096, output.len() >= 64)",
        "n: usize, input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>",
        &format!("let mut t = Shared::<[f32; 64]>::new();\nlet x = thread_x();\n{body}"),
    )
}

/// A kernel of one warp over stages of 32 elements, and a number that nothing is known of.
fn stages(count: usize, body: &str) -> String {
    kernel(
        "block = [32], grid = [1], requires(input.cols() >= 32, output.len() >= 32)",
        "n: usize, input: &Matrix<f32>, output: &mut Tensor<f32, 1>",
        &format!(
            "let mut s = Shared::<[[f32; 32]; {count}]>::new();
            let x = thread_x();
            let mut sum = 0.0;
            {body}
            output[[x]] = sum;"
        ),
    )
}

/// A step of a product of matrices, with barriers behind the stores, behind the loads, and again.
fn product(stored: &str, used: &str, again: &str) -> String {
    kernel(
        "block = [16, 16], grid = [c.cols().div_ceil(16), c.rows().div_ceil(16)], requires(a.rows() == c.rows(), a.cols() == b.rows(), b.cols() == c.cols())",
        "a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>",
        &format!(
            "let mut a_tile = Shared::<[[f32; 16]; 16]>::new();
            let mut b_tile = Shared::<[[f32; 16]; 16]>::new();
            let (x, y) = (thread_x(), thread_y());
            let (row, col) = (block_y() * 16 + y, block_x() * 16 + x);
            let mut sum = 0.0;
            for k0 in (0..a.cols()).step_by(16) {{
                a_tile[y][x] = if row < a.rows() && k0 + x < a.cols() {{ a[[row, k0 + x]] }} else {{ 0.0 }};
                b_tile[y][x] = if k0 + y < b.rows() && col < b.cols() {{ b[[k0 + y, col]] }} else {{ 0.0 }};
                {stored}
                for k in 0..16 {{
                    sum += a_tile[y][k] * b_tile[k][x];
                }}
                {used}
                {again}
            }}
            if row < c.rows() && col < c.cols() {{ c[[row, col]] = sum; }}"
        ),
    )
}

/// A turned copy of 32 × 32 elements through a tile.
fn transpose(barrier: &str) -> String {
    kernel(
        "block = [32, 8], grid = [1], requires(input.rows() == 32, input.cols() == 32, output.rows() == 32, output.cols() == 32)",
        "input: &Matrix<f32>, output: &mut Matrix<f32>",
        &format!(
            "let mut tile = Shared::<[[f32; 32]; 32], Pad<1>>::new();
            let (x, y) = (thread_x(), thread_y());
            for k in (0..32).step_by(8) {{ tile[y + k][x] = input[[y + k, x]]; }}
            {barrier}
            for k in (0..32).step_by(8) {{ output[[y + k, x]] = tile[x][y + k]; }}"
        ),
    )
}

/// Both barriers of a step are needed, a third one is not.
#[test]
fn products_of_matrices() {
    check_order(
        &product("sync_threads();", "sync_threads();", ""),
        expect![[r#"
        line 11: sync_threads()
          orders the store of `a_tile` on line 9 before the load on line 13
          orders the store of `b_tile` on line 10 before the load on line 13
        line 15: sync_threads()
          orders the load of `a_tile` on line 13 before the store on line 9 in the next iteration
          orders the load of `b_tile` on line 13 before the store on line 10 in the next iteration
    "#]],
    );
    check_order(
        &product("", "sync_threads();", ""),
        expect![[r#"
        error: race on `a_tile`: nothing orders this load after the store on line 9 [TP0801]
        note: read after write: thread (0, 0) writes `a_tile[0][0]` on line 9, and thread (1, 0) reads it here
        help: put `sync_threads();` between line 9 and this
          at `a_tile[y][k]`
    "#]],
    );
    check_order(
        &product("sync_threads();", "", ""),
        expect![[r#"
        error: race on `a_tile`: nothing orders this store after the load on line 13 an iteration earlier [TP0801]
        note: write after read: thread (1, 0) reads `a_tile[0][0]` on line 13, and thread (0, 0) writes it here an iteration later
        help: put `sync_threads();` at the end of the body of the loop on line 8
          at `a_tile[y][x]`
    "#]],
    );
    check_order(
        &product("", "", ""),
        expect![[r#"
        error: race on `a_tile`: nothing orders this store after the load on line 13 an iteration earlier [TP0801]
        note: write after read: thread (1, 0) reads `a_tile[0][0]` on line 13, and thread (0, 0) writes it here an iteration later
        help: put `sync_threads();` at the end of the body of the loop on line 8
          at `a_tile[y][x]`
        error: race on `a_tile`: nothing orders this load after the store on line 9 [TP0801]
        note: read after write: thread (0, 0) writes `a_tile[0][0]` on line 9, and thread (1, 0) reads it here
        help: put `sync_threads();` between line 9 and this
          at `a_tile[y][k]`
    "#]],
    );
    check_order(
        &product("sync_threads();", "sync_threads();", "sync_threads();"),
        expect![[r#"
        line 11: sync_threads()
          orders the store of `a_tile` on line 9 before the load on line 13
          orders the store of `b_tile` on line 10 before the load on line 13
        line 15: sync_threads()
          orders the load of `a_tile` on line 13 before the store on line 9 in the next iteration
          orders the load of `b_tile` on line 13 before the store on line 10 in the next iteration
        line 16: sync_threads()
          orders nothing: can be removed
    "#]],
    );
}

/// A turned copy needs its barrier, and no second one.
#[test]
fn turned_copies() {
    check_order(
        &transpose("sync_threads();"),
        expect![[r#"
        line 6: sync_threads()
          orders the store of `tile` on line 5 before the load on line 7
    "#]],
    );
    check_order(
        &transpose(""),
        expect![[r#"
        error: race on `tile`: nothing orders this load after the store on line 5 [TP0801]
        note: read after write: thread (1, 0) writes `tile[0][1]` on line 5, and thread (0, 1) reads it here
        help: put `sync_threads();` between line 5 and this
          at `tile[x][y + k]`
    "#]],
    );
    check_order(
        &transpose("sync_threads(); sync_threads();"),
        expect![[r#"
        line 6: sync_threads()
          orders the store of `tile` on line 5 before the load on line 7
        line 6: sync_threads()
          orders nothing: can be removed
    "#]],
    );
}

/// What another thread wrote, and what another thread reads.
#[test]
fn two_accesses() {
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            t[x] = input[[x]]; output[[x]] = t[x];",
        ),
        expect![[r#"
            accepted without a barrier
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            t[x] = input[[x]];
            output[[x]] = t[31 - x];",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 5 [TP0801]
            note: read after write: thread 0 writes `t[0]` on line 5, and thread 31 reads it here
            help: put `sync_threads();` between line 5 and this
              at `t[31 - x]`
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            t[x] = input[[x]];
            sync_threads();
            output[[x]] = t[31 - x];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            t[x] = 1.0;
            t[31 - x] = 2.0;",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this store after the store on line 5 [TP0801]
            note: write after write: thread 0 writes `t[0]` on line 5, and thread 31 writes it here
            help: put `sync_threads();` between line 5 and this
              at `t[31 - x]`
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            t[x] = 1.0;
            sync_threads();
            t[31 - x] = 2.0;",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the store on line 7
        "#]],
    );
    // A shift in place reads what the next thread overwrites.
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            t[x] = input[[x]];
            sync_threads();
            if x < 31 { t[x] = t[x + 1]; }",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this store after the load on line 7 [TP0801]
            note: write after read: thread 0 reads `t[1]` on line 7, and thread 1 writes it here
            help: read first, `let value = …;`, then put `sync_threads();` before the statement that writes
              at `t[x]`
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            t[x] = input[[x]];
            sync_threads();
            let next = t[(x + 1) % 32];
            sync_threads();
            t[x] = next;",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
            line 8: sync_threads()
              orders the load of `t` on line 7 before the store on line 9
        "#]],
    );
}

/// Neighbours of an element, of a tile with a rim.
#[test]
fn neighbours() {
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 34]>::new();
            let x = thread_x();
            t[x + 1] = input[[x]];
            if x < 2 { t[33 * x] = 0.0; }
            sync_threads();
            output[[x]] = t[x] + t[x + 2];",
        ),
        expect![[r#"
            line 7: sync_threads()
              orders the store of `t` on line 5 before the load on line 8
              orders the store of `t` on line 6 before the load on line 8
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 34]>::new();
            let x = thread_x();
            t[x + 1] = input[[x]];
            if x < 2 { t[33 * x] = 0.0; }
            output[[x]] = t[x] + t[x + 2];",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 5 [TP0801]
            note: read after write: thread 0 writes `t[1]` on line 5, and thread 1 reads it here
            help: put `sync_threads();` between line 5 and this
              at `t[x]`
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 34]>::new();
            let x = thread_x();
            t[x + 1] = input[[x]];
            if x < 2 { t[31 * x] = 0.0; }",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this store after the store on line 5 [TP0801]
            note: write after write: thread 30 writes `t[31]` on line 5, and thread 1 writes it here
            help: put `sync_threads();` between line 5 and this
              at `t[31 * x]`
        "#]],
    );
}

/// A vector is all of its elements.
#[test]
fn vectors() {
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 128]>::new();
            let x = thread_x();
            t.write([4 * x], input.read::<4>([4 * x]));
            sync_threads();
            output[[x]] = t[x];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 128]>::new();
            let x = thread_x();
            t.write([4 * x], input.read::<4>([4 * x]));
            output[[x]] = t.read::<4>([4 * x])[3];",
        ),
        expect![[r#"
            accepted without a barrier
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 128]>::new();
            let x = thread_x();
            t.write([4 * x], input.read::<4>([4 * x]));
            output[[x]] = t[x + 3];",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 5 [TP0801]
            note: read after write: thread 1 writes `t[5]` on line 5, and thread 2 reads it here
            help: put `sync_threads();` between line 5 and this
              at `t[x + 3]`
        "#]],
    );
}

/// Threads may be at different iterations of a loop, whatever its counter says.
#[test]
fn uniform_is_not_simultaneous() {
    let body = "let mut tile = Shared::<[[f32; 32]; 32]>::new();
        let (x, y) = (thread_x(), thread_y());
        for i in 0..16 { tile[2 * i + y][x] = 0.0; }
        sync_threads();
        let mut acc = 0.0;
        for k in 0..n {
            acc += tile[k % 32][x];
            BARRIER
            if y == 0 { tile[k % 32][x] = acc; }
        }";
    let source =
        |barrier: &str| kernel("block = [32, 2], grid = [1]", "n: usize", &body.replace("BARRIER", barrier));
    check_order(
        &source(""),
        expect![[r#"
        error: race on `tile`: nothing orders this load after the store on line 11 an iteration earlier [TP0801]
        note: read after write: thread (0, 0) writes the same element on line 11, and thread (0, 1) reads it here an iteration later
        help: put `sync_threads();` at the end of the body of the loop on line 8
          at `tile[k % 32][x]`
        error: race on `tile`: nothing orders this store after the load on line 9 [TP0801]
        note: write after read: thread (0, 1) reads `tile[0][0]` on line 9, and thread (0, 0) writes it here
        help: put `sync_threads();` between line 9 and this
          at `tile[k % 32][x]`
    "#]],
    );
    check_order(
        &source("sync_threads();"),
        expect![[r#"
        line 6: sync_threads()
          orders the store of `tile` on line 5 before the load on line 9
        line 10: sync_threads()
          orders the load of `tile` on line 9 before the store on line 11
    "#]],
    );
    // A row of its own for each thread is nobody else's.
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            t[x] = 0.0;
            for k in 0..input.len() { t[x] = t[x] + k as f32; }",
        ),
        expect![[r#"
            accepted without a barrier
        "#]],
    );
    // One iteration of each thread writes where another one of the next thread does.
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            for k in 0..input.len() { t[(x + k) % 32] = 1.0; }",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this store after the store of another thread [TP0801]
            note: write after write: which elements the threads touch is not known at compile time
            help: put `sync_threads();` at the end of the body of the loop on line 5
              at `t[(x + k) % 32]`
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            for k in 0..input.len() {
                t[(x + k) % 32] = 1.0;
                sync_threads();
            }",
        ),
        expect![[r#"
            line 7: sync_threads()
              orders the store of `t` on line 6 before the store on line 6 in the next iteration
        "#]],
    );
}

/// One barrier a step is enough where the next step uses another stage.
#[test]
fn stages_take_turns() {
    check_order(
        &stages(
            1,
            "for k in 0..n.min(input.rows()) { s[0][x] = input[[k, x]]; sync_threads(); sum += s[0][31 - x]; }",
        ),
        expect![[r#"
            error: race on `s`: nothing orders this store after the load on line 6 an iteration earlier [TP0801]
            note: write after read: thread 31 reads `s[0][0]` on line 6, and thread 0 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 6
              at `s[0][x]`
        "#]],
    );
    check_order(
        &stages(
            2,
            "for k in 0..n.min(input.rows()) { s[k % 2][x] = input[[k, x]]; sync_threads(); sum += s[k % 2][31 - x]; }",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `s` on line 6 before the load on line 6
        "#]],
    );
    check_order(
        &stages(
            3,
            "for k in 0..n.min(input.rows()) { s[k % 3][x] = input[[k, x]]; sync_threads(); sum += s[k % 3][31 - x]; }",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `s` on line 6 before the load on line 6
        "#]],
    );
    // The stage that is read is the one that the next step writes.
    check_order(
        &stages(
            2,
            "s[0][x] = 0.0; for k in 0..n.min(input.rows()) { s[(k + 1) % 2][x] = input[[k, x]]; sync_threads(); sum += s[k % 2][31 - x]; }",
        ),
        expect![[r#"
            error: race on `s`: nothing orders this store after the load on line 6 an iteration earlier [TP0801]
            note: write after read: thread 31 reads `s[0][0]` on line 6, and thread 0 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 6
              at `s[(k + 1) % 2][x]`
        "#]],
    );
    check_order(
        &stages(
            3,
            "s[0][x] = 0.0; for k in 0..n.min(input.rows()) { s[(k + 1) % 3][x] = input[[k, x]]; sync_threads(); sum += s[k % 3][31 - x]; }",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `s` on line 6 before the load on line 6
              orders the store of `s` on line 6 before the load on line 6 in the next iteration
        "#]],
    );
    // Four stages of which the one that is read comes round before all have left it.
    check_order(
        &stages(
            4,
            "for i in 0..4 { s[i][x] = 0.0; } sync_threads(); for k in 0..n.min(input.rows()) { sum += s[k % 4][31 - x]; sync_threads(); s[(k + 4) % 4][x] = input[[k, x]]; }",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `s` on line 6 before the load on line 6
            line 6: sync_threads()
              orders the load of `s` on line 6 before the store on line 6
        "#]],
    );
    check_order(
        &stages(
            4,
            "for i in 0..4 { s[i][x] = 0.0; } sync_threads(); for k in 0..n.min(input.rows()) { sum += s[k % 4][31 - x]; sync_threads(); s[(k + 3) % 4][x] = input[[k, x]]; }",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `s` on line 6 before the load on line 6
            line 6: sync_threads()
              orders the load of `s` on line 6 before the store on line 6 in the next iteration
        "#]],
    );
    // A variable that turns over.
    check_order(
        &stages(
            2,
            "let mut b = 0; for k in 0..n.min(input.rows()) { s[b][x] = input[[k, x]]; sync_threads(); sum += s[b][31 - x]; b ^= 1; }",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `s` on line 6 before the load on line 6
        "#]],
    );
    check_order(
        &stages(
            2,
            "let mut b = 0; for k in 0..n.min(input.rows()) { s[b][x] = input[[k, x]]; sync_threads(); sum += s[b][31 - x]; b = 1 - b; }",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `s` on line 6 before the load on line 6
        "#]],
    );
    // Of a number of which nothing is known, and of the other stage.
    check_order(
        &stages(
            2,
            "let b = n % 2; s[0][x] = 0.0; s[1][x] = 0.0; sync_threads(); s[b][x] = 1.0; sum = s[1 - b][31 - x];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `s` on line 6 before the load on line 6
        "#]],
    );
    check_order(
        &stages(
            2,
            "let (a, b) = (n % 2, input.rows() % 2); s[0][x] = 0.0; s[1][x] = 0.0; sync_threads(); s[a][x] = 1.0; sum = s[b][31 - x];",
        ),
        expect![[r#"
            error: race on `s`: nothing orders this load after the store on line 6 [TP0801]
            note: read after write: thread 0 writes the same element on line 6, and thread 31 reads it here
            help: put `sync_threads();` between the two
              at `s[b][31 - x]`
        "#]],
    );
}

/// Sums of a tile by halves: every step needs its barrier.
#[test]
fn trees() {
    check_order(
        &warps(
            "t[x] = input[[x]];\nsync_threads();\nlet mut j = 32;\nwhile j > 0 { if x < j { t[x] += t[x + j]; }\nsync_threads();\nj /= 2; }\nif x == 0 { output[[0]] = t[0]; }",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 8
            line 9: sync_threads()
              orders the store of `t` on line 5 before the load on line 8
              orders the store of `t` on line 8 before the load on line 8
        "#]],
    );
    check_order(
        &warps(
            "t[x] = input[[x]];\n\nlet mut j = 32;\nwhile j > 0 { if x < j { t[x] += t[x + j]; }\n\nj /= 2; }\nif x == 0 { output[[0]] = t[0]; }",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 5 [TP0801]
            note: read after write: thread 32 writes `t[32]` on line 5, and thread 0 reads it here
            help: put `sync_threads();` between line 5 and this
              at `t[x + j]`
        "#]],
    );
    check_order(
        &warps(
            "t[x] = input[[x]];\nsync_threads();\nlet mut j = 32;\nwhile j > 0 { if x < j { t[x] += t[x + j]; }\nj /= 2; }\nif x == 0 { output[[0]] = t[0]; }",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 8 [TP0801]
            note: read after write: thread 16 writes `t[16]` on line 8, and thread 0 reads it here
            help: put `sync_threads();` between the two
              at `t[x + j]`
        "#]],
    );
    // The whole tree is one thread's element in the end, so the last barrier orders nothing.
    check_order(
        &warps(
            "t[x] = input[[x]];\nfor s in 0..6 {\nsync_threads();\nlet j = 32 >> s;\nif x < j { t[x] += t[x + j]; } }\nif x == 0 { output[[0]] = t[0]; }",
        ),
        expect![[r#"
            line 7: sync_threads()
              orders the store of `t` on line 5 before the load on line 9
              orders the store of `t` on line 9 before the load on line 9
        "#]],
    );
    // Threads at a growing distance read and write the same elements.
    check_order(
        &warps(
            "t[x] = input[[x]];\nsync_threads();\nlet mut d = 1;\nwhile d < 64 { let v = if x >= d { t[x - d] } else { 0.0 };\nsync_threads();\nt[x] += v;\nsync_threads();\nd *= 2; }\noutput[[x]] = t[x];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 8
            line 9: sync_threads()
              orders the load of `t` on line 8 before the store on line 10
            line 11: sync_threads()
              orders the store of `t` on line 10 before the load on line 8 in the next iteration
        "#]],
    );
    check_order(
        &warps(
            "t[x] = input[[x]];\nsync_threads();\nlet mut d = 1;\nwhile d < 64 { let v = if x >= d { t[x - d] } else { 0.0 };\nt[x] += v;\nsync_threads();\nd *= 2; }\noutput[[x]] = t[x];",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this store after the load on line 8 [TP0801]
            note: write after read: thread 1 reads `t[0]` on line 8, and thread 0 writes it here
            help: put `sync_threads();` between line 8 and this
              at `t[x]`
        "#]],
    );
}

/// A warp orders its own lanes with its own barrier, and nobody without one.
#[test]
fn warps_alone() {
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            t[x] = input[[x]];
            sync_warp();
            output[[x]] = t[31 - x];",
        ),
        expect![[r#"
            line 6: sync_warp()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            t[x] = input[[x]];
            let y = shuffle_xor(t[x], 1);
            output[[x]] = t[31 - x] + y;",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 5 [TP0801]
            note: read after write: thread 0 writes `t[0]` on line 5, and thread 31 reads it here
            help: put `sync_threads();` between line 5 and this
              at `t[31 - x]`
        "#]],
    );
    check_order(
        &warps("t[x] = input[[x]];\nsync_warp();\noutput[[x]] = t[x ^ 31];"),
        expect![[r#"
        line 6: sync_warp()
          orders the store of `t` on line 5 before the load on line 7
    "#]],
    );
    check_order(
        &warps("t[x] = input[[x]];\nsync_warp();\noutput[[x]] = t[x ^ 63];"),
        expect![[r#"
        error: race on `t`: nothing orders this load after the store on line 5 [TP0801]
        note: read after write: thread 0 writes `t[0]` on line 5, and thread 63 reads it here
        help: put `sync_threads();` between line 5 and this
          at `t[x ^ 63]`
    "#]],
    );
    check_order(
        &warps(
            "t[x] = input[[x]];\nsync_threads();\nif x < 32 {\nt[x] += t[x + 32];\nsync_warp();\nif x < 16 { t[x] += t[x + 16]; }\nsync_warp();\nif x < 8 { output[[x]] = t[x] + t[x + 8]; }\n}",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 8
              orders the store of `t` on line 5 before the load on line 10
            line 9: sync_warp()
              orders the store of `t` on line 5 before the load on line 10
              orders the store of `t` on line 8 before the load on line 10
              orders the store of `t` on line 8 before the load on line 12
            line 11: sync_warp()
              orders the store of `t` on line 8 before the load on line 12
              orders the store of `t` on line 10 before the load on line 12
        "#]],
    );
    check_order(
        &warps(
            "t[x] = input[[x]];\nsync_threads();\nif x < 32 {\nt[x] += t[x + 32];\nif x < 16 { t[x] += t[x + 16]; }\n}",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 8 [TP0801]
            note: read after write: thread 16 writes `t[16]` on line 8, and thread 0 reads it here
            help: put `sync_threads();` between line 8 and this
              at `t[x + 16]`
        "#]],
    );
    // Each warp at its own pace through a loop.
    check_order(
        &warps("for k in 0..n { t[x] = k as f32;\nsync_warp();\noutput[[x]] = t[x ^ 1];\nsync_warp(); }"),
        expect![[r#"
            line 6: sync_warp()
              orders the store of `t` on line 5 before the load on line 7
              orders the store of `t` on line 5 before the load on line 7 in the next iteration
            line 8: sync_warp()
              orders the load of `t` on line 7 before the store on line 5 in the next iteration
        "#]],
    );
    check_order(
        &warps("for k in 0..n { t[x] = k as f32;\nsync_warp();\noutput[[x]] = t[x ^ 1]; }"),
        expect![[r#"
            error: race on `t`: nothing orders this store after the load on line 7 an iteration earlier [TP0801]
            note: write after read: thread 1 reads `t[0]` on line 7, and thread 0 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 5
              at `t[x]`
        "#]],
    );
    check_order(
        &warps("for k in 0..n { t[x] = k as f32;\nsync_warp();\noutput[[x]] = t[x ^ 33];\nsync_warp(); }"),
        expect![[r#"
            error: race on `t`: nothing orders this store after the load on line 7 an iteration earlier [TP0801]
            note: write after read: thread 33 reads `t[0]` on line 7, and thread 0 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 5
              at `t[x]`
            error: race on `t`: nothing orders this load after the store on line 5 [TP0801]
            note: read after write: thread 0 writes `t[0]` on line 5, and thread 33 reads it here
            help: put `sync_threads();` between line 5 and this
              at `t[x ^ 33]`
        "#]],
    );
}

/// Updates do not race with each other; with loads and stores they do.
#[test]
fn atomics() {
    check_order(
        &warp(
            "let mut t = Shared::<[u32; 32]>::new();
            let x = thread_x();
            t[x] = 0;
            sync_threads();
            t.atomic_add([x ^ 1], 1);
            t.atomic_add([x], 1);
            sync_threads();
            output[[x]] = t[31 - x] as f32;",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the atomic on line 7
              orders the store of `t` on line 5 before the load on line 10
            line 9: sync_threads()
              orders the store of `t` on line 5 before the load on line 10
              orders the atomic of `t` on line 7 before the load on line 10
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[u32; 32]>::new();
            let x = thread_x();
            t[x] = 0;
            sync_threads();
            t.atomic_add([x], 1);
            output[[x]] = t[31 - x] as f32;",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this load after the atomic update on line 7 [TP0801]
            note: read after update: thread 0 updates `t[0]` on line 7, and thread 31 reads it here
            help: put `sync_threads();` between line 7 and this
              at `t[31 - x]`
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[u32; 32]>::new();
            let x = thread_x();
            t[x] = 0;
            t.atomic_add([31 - x], 1);",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this atomic update after the store on line 5 [TP0801]
            note: update after write: thread 0 writes `t[0]` on line 5, and thread 31 updates it here
            help: put `sync_threads();` between line 5 and this
              at `t.atomic_add([31 - x], 1)`
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[u32; 32]>::new();
            let x = thread_x();
            t[x] = 0;
            sync_threads();
            t.atomic_max([x], 1);
            if x == 3 { t[4] = 9; }",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this store after the atomic update on line 7 [TP0801]
            note: write after update: thread 4 updates `t[4]` on line 7, and thread 3 writes it here
            help: put `sync_threads();` between line 7 and this
              at `t[4]`
        "#]],
    );
    // What it returns is its own.
    check_order(
        &warp(
            "let mut t = Shared::<[u32; 32]>::new();
            let x = thread_x();
            t[x] = 0;
            sync_threads();
            output[[x]] = t.atomic_add([x ^ 1], 1) as f32;",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the atomic on line 7
        "#]],
    );
    // Bins that data choose.
    check_order(
        &warp(
            "let mut t = Shared::<[u32; 32]>::new();
            let x = thread_x();
            t[x] = 0;
            sync_threads();
            #[budget(bank_conflict = 31, because = \"bins are spread by the data\")]
            t.atomic_add([input[[x]] as usize % 32], 1);
            sync_threads();
            output[[x]] = t[x] as f32;",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the atomic on line 8
            line 9: sync_threads()
              orders the atomic of `t` on line 8 before the load on line 10
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[u32; 32]>::new();
            let x = thread_x();
            t[x] = 0;
            sync_threads();
            #[budget(bank_conflict = 31, because = \"bins are spread by the data\")]
            t.atomic_add([input[[x]] as usize % 32], 1);
            output[[x]] = t[x] as f32;",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this load after the atomic update on line 8 [TP0801]
            note: read after update: which elements the threads touch is not known at compile time
            help: put `sync_threads();` between line 8 and this
              at `t[x]`
        "#]],
    );
}

/// Where data choose the element, two threads may choose the same.
#[test]
fn scattered() {
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            #[budget(bank_conflict = 31, because = \"places are spread by the data\")]
            t[input[[x]] as usize % 32] = 1.0;",
        ),
        expect![[r#"
            error: race on `t`: two threads may write one element here [TP0801]
            note: write after write: which elements the threads touch is not known at compile time
            help: let one thread write it, `if thread_x() == 0 { … }`, or update it with an atomic
              at `t[input[[x]] as usize % 32]`
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            #[trust(race, because = \"the places are a permutation\")]
            #[budget(bank_conflict = 31, because = \"places are spread by the data\")]
            t[input[[x]] as usize % 32] = 1.0;",
        ),
        expect![[r#"
            granted: `t[input[[x]] as usize % 32]` (line 7) does not race: the places are a permutation
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            t[x] = input[[x]];
            sync_threads();
            #[budget(bank_conflict = 31, because = \"places are spread by the data\")]
            output[[x]] = t[input[[x]] as usize % 32];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 8
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            t[x] = input[[x]];
            #[budget(bank_conflict = 31, because = \"places are spread by the data\")]
            output[[x]] = t[input[[x]] as usize % 32];",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 5 [TP0801]
            note: read after write: which elements the threads touch is not known at compile time
            help: put `sync_threads();` between line 5 and this
              at `t[input[[x]] as usize % 32]`
        "#]],
    );
}

/// A value for all threads is written by one of them.
#[test]
fn one_writes_for_all() {
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            t[0] = input[[0]];",
        ),
        expect![[r#"
            error: race on `t`: two threads may write one element here [TP0801]
            note: write after write: thread 0 writes `t[0]` on line 5, and thread 1 writes it here
            help: let one thread write it, `if thread_x() == 0 { … }`, or update it with an atomic
              at `t[0]`
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            if x == 0 { t[0] = input[[0]]; }
            sync_threads();
            output[[x]] = t[0];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            if x == 0 { t[0] = input[[0]]; }
            output[[x]] = t[0];",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 5 [TP0801]
            note: read after write: thread 0 writes `t[0]` on line 5, and thread 1 reads it here
            help: put `sync_threads();` between line 5 and this
              at `t[0]`
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            if x == 0 {
                t[0] = input[[0]];
                output[[0]] = t[0];
            }",
        ),
        expect![[r#"
            accepted without a barrier
        "#]],
    );
    check_order(
        &warp(
            "let mut t = Shared::<[f32; 32]>::new();
            let x = thread_x();
            if lane() == 31 { t[warp()] = input[[0]]; }
            sync_threads();
            output[[x]] = t[0];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warps("if lane() == 0 { t[warp()] = input[[x]]; }\nsync_threads();\noutput[[x]] = t[1 - warp()];"),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warps("if lane() == 0 { t[warp()] = input[[x]]; }\nsync_warp();\noutput[[x]] = t[1 - warp()];"),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 5 [TP0801]
            note: read after write: thread 0 writes `t[0]` on line 5, and thread 32 reads it here
            help: put `sync_threads();` between line 5 and this
              at `t[1 - warp()]`
        "#]],
    );
    // In a loop the next value must wait for all to have read.
    check_order(
        &warps("for k in 0..n { if x == 0 { t[0] = k as f32; }\nsync_threads();\noutput[[x]] = t[0]; }"),
        expect![[r#"
            error: race on `t`: nothing orders this store after the load on line 7 an iteration earlier [TP0801]
            note: write after read: thread 32 reads `t[0]` on line 7, and thread 0 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 5
              at `t[0]`
        "#]],
    );
    check_order(
        &warps(
            "for k in 0..n { if x == 0 { t[0] = k as f32; }\nsync_threads();\noutput[[x]] = t[0];\nsync_threads(); }",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
            line 8: sync_threads()
              orders the load of `t` on line 7 before the store on line 5 in the next iteration
        "#]],
    );
}

/// A barrier under a condition orders only where the block comes to it.
#[test]
fn conditions() {
    check_order(
        &warps("t[x] = input[[x]];\nif n > 4 { sync_threads(); }\noutput[[x]] = t[63 - x];"),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 5 [TP0801]
            note: read after write: thread 0 writes `t[0]` on line 5, and thread 63 reads it here
            help: put `sync_threads();` between line 5 and this
              at `t[63 - x]`
        "#]],
    );
    check_order(
        &warps(
            "t[x] = input[[x]];\nif n > 4 { sync_threads(); } else { sync_threads(); }\noutput[[x]] = t[63 - x];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warps("t[x] = input[[x]];\nif n > 4 {\nsync_threads();\noutput[[x]] = t[63 - x];\n}"),
        expect![[r#"
            line 7: sync_threads()
              orders the store of `t` on line 5 before the load on line 8
        "#]],
    );
    // The whole block takes one side, or threads take both.
    check_order(
        &warps("if n > 4 { t[x] = 1.0; } else { t[63 - x] = 2.0; }"),
        expect![[r#"
        accepted without a barrier
    "#]],
    );
    check_order(
        &warps("if x < 32 { t[x] = 1.0; } else { t[63 - x] = 2.0; }"),
        expect![[r#"
            error: race on `t`: nothing orders this store after the store on line 5 [TP0801]
            note: write after write: thread 0 writes `t[0]` on line 5, and thread 63 writes it here
            help: put `sync_threads();` between the two
              at `t[63 - x]`
        "#]],
    );
    check_order(
        &warps("if x < 32 { t[x] = 1.0; } else { t[x] = 2.0; }"),
        expect![[r#"
        accepted without a barrier
    "#]],
    );
    check_order(
        &warps("if n > 4 { t[x] = 1.0; }\nif n <= 4 { t[63 - x] = 2.0; }"),
        expect![[r#"
            accepted without a barrier
        "#]],
    );
}

/// What follows an exit of the whole block is ordered as before it.
#[test]
fn exits() {
    check_order(
        &warps("if n == 0 { return; }\nt[x] = input[[x]];\nsync_threads();\noutput[[x]] = t[63 - x];"),
        expect![[r#"
            line 7: sync_threads()
              orders the store of `t` on line 6 before the load on line 8
        "#]],
    );
    check_order(
        &warps("t[x] = input[[x]];\nif n == 0 { return; }\noutput[[x]] = t[63 - x];"),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 5 [TP0801]
            note: read after write: thread 0 writes `t[0]` on line 5, and thread 63 reads it here
            help: put `sync_threads();` between line 5 and this
              at `t[63 - x]`
        "#]],
    );
    check_order(
        &warps("t[x] = input[[x]];\nsync_threads();\nif x >= n { return; }\noutput[[x]] = t[63 - x];"),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 8
        "#]],
    );
    check_order(
        &warps("if x >= n { return; }\nt[x] = input[[x]];\nsync_threads();\noutput[[x]] = t[x];"),
        expect![[r#"
            error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
            note: `x >= n` may differ from thread to thread
            help: end the condition or loop before `sync_threads`, so that every thread comes to it, and guard anew what follows
              at `sync_threads()`
        "#]],
    );
}

/// A barrier in a loop that may not be entered orders nothing behind it.
#[test]
fn loops() {
    check_order(
        &warps("t[x] = input[[x]];\nfor _ in 0..n { sync_threads(); }\noutput[[x]] = t[63 - x];"),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 5 [TP0801]
            note: read after write: thread 0 writes `t[0]` on line 5, and thread 63 reads it here
            help: put `sync_threads();` between line 5 and this
              at `t[63 - x]`
        "#]],
    );
    check_order(
        &warps("t[x] = input[[x]];\nfor _ in 0..3 { sync_threads(); }\noutput[[x]] = t[63 - x];"),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warps(
            "let mut i = 0;\nwhile i < n { t[x] = i as f32;\nsync_threads();\noutput[[x]] = t[63 - x];\nsync_threads();\ni += 1; }",
        ),
        expect![[r#"
            line 7: sync_threads()
              orders the store of `t` on line 6 before the load on line 8
            line 9: sync_threads()
              orders the load of `t` on line 8 before the store on line 6 in the next iteration
        "#]],
    );
    check_order(
        &warps(
            "let mut i = 0;\nwhile i < n { t[x] = i as f32;\nsync_threads();\noutput[[x]] = t[63 - x];\ni += 1; }",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this store after the load on line 8 an iteration earlier [TP0801]
            note: write after read: thread 63 reads `t[0]` on line 8, and thread 0 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 6
              at `t[x]`
        "#]],
    );
    check_order(
        &warps(
            "let mut i = 0;\nwhile i < n { t[x] = i as f32;\noutput[[x]] = t[63 - x];\nsync_threads();\ni += 1; }",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 6 [TP0801]
            note: read after write: thread 0 writes `t[0]` on line 6, and thread 63 reads it here
            help: put `sync_threads();` between line 6 and this
              at `t[63 - x]`
        "#]],
    );
    // What was there before the loop meets its first iteration, and what is in the last one meets what follows.
    check_order(
        &warps("t[63 - x] = 0.0;\nfor k in 0..n { t[x] = k as f32;\nsync_threads(); }"),
        expect![[r#"
            error: race on `t`: nothing orders this store after the store on line 5 [TP0801]
            note: write after write: thread 63 writes `t[0]` on line 5, and thread 0 writes it here
            help: put `sync_threads();` between line 5 and this
              at `t[x]`
        "#]],
    );
    check_order(
        &warps("for k in 0..n { sync_threads();\nt[x] = k as f32; }\nt[63 - x] = 1.0;"),
        expect![[r#"
            error: race on `t`: nothing orders this store after the store on line 6 [TP0801]
            note: write after write: thread 0 writes `t[0]` on line 6, and thread 63 writes it here
            help: put `sync_threads();` between line 6 and this
              at `t[63 - x]`
        "#]],
    );
    check_order(
        &warps("for k in 0..n { t[x] = k as f32;\nsync_threads(); }\nt[63 - x] = 1.0;"),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the store on line 7
        "#]],
    );
    // A loop in a loop.
    check_order(
        &warps(
            "for k in 0..n { for j in 0..n { t[x] = (k + j) as f32;\nsync_threads();\noutput[[x]] = t[63 - x];\nsync_threads(); } }",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
            line 8: sync_threads()
              orders the load of `t` on line 7 before the store on line 5 in the next iteration
        "#]],
    );
    check_order(
        &warps(
            "for k in 0..n { t[x] = k as f32;\nfor _ in 0..n { sync_threads(); }\noutput[[x]] = t[63 - x];\nsync_threads(); }",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 7
            line 8: sync_threads()
              orders the load of `t` on line 7 before the store on line 5 in the next iteration
        "#]],
    );
    check_order(
        &warps(
            "for k in 0..n { for j in 0..4 { t[x] = (k + j) as f32;\nsync_threads();\noutput[[x]] = t[63 - x]; }\nsync_threads(); }",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this store after the load on line 7 [TP0801]
            note: write after read: thread 63 reads `t[0]` on line 7, and thread 0 writes it here
            help: put `sync_threads();` at the end of the body of the loop around both
              at `t[x]`
        "#]],
    );
}

/// A vote of the block is a barrier, a call of a helper that holds one too.
#[test]
fn other_barriers() {
    check_order(
        &warps(
            "t[x] = input[[x]];\nlet any = sync_threads_or(input[[x]] > 0.0);\nif any { output[[x]] = t[63 - x]; }",
        ),
        expect![[r#"
            line 6: a vote of the block
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warps("fn meet() { sync_threads(); }\nt[x] = input[[x]];\nmeet();\noutput[[x]] = t[63 - x];"),
        expect![[r#"
            line 5: sync_threads()
              in `meet`, called on line 7
              orders the store of `t` on line 6 before the load on line 8
        "#]],
    );
}

/// Rows of a matrix that are copied while the threads go on, and read in another order.
fn copied(commit: &str, wait: &str, barrier: &str) -> String {
    kernel(
        "block = [256], grid = [1], requires(input.rows() == 32, input.cols() == 32, output.len() >= 1024, input.pitch() % 4 == 0)",
        "input: &Matrix<f32>, output: &mut Tensor<f32, 1>",
        &format!(
            "let mut tile = Shared::<[[f32; 32]; 32]>::new();
            let t = thread_x();
            tile.load_async::<4>(input, [0, 0]);
            {commit}
            {wait}
            {barrier}
            for i in 0..4 {{ output[[256 * i + t]] = tile[8 * i + t / 32][t % 32]; }}"
        ),
    )
}

/// Rows of a matrix that are copied ahead of their use, so many stages.
fn pipeline(count: usize, pending: usize, stored: &str, used: &str) -> String {
    kernel(
        "block = [8], grid = [1], requires(input.cols() == 32, output.len() >= 8, input.pitch() % 4 == 0)",
        "n: usize, input: &Matrix<f32>, output: &mut Tensor<f32, 1>",
        &format!(
            "let mut s = Shared::<[[[f32; 32]; 1]; {count}]>::new();
            let x = thread_x();
            let mut sum = 0.0;
            for k in 0..{ahead} {{
                s[k].load_async::<4>(input, [k, 0]);
                commit();
            }}
            for k in 0..n {{
                s[(k + {ahead}) % {count}].load_async::<4>(input, [k + {ahead}, 0]);
                commit();
                wait::<{pending}>();
                {stored}
                sum += s[k % {count}][0][31 - x];
                {used}
            }}
            output[[x]] = sum;",
            ahead = count - 1
        ),
    )
}

/// An asynchronous copy needs all three: the group, the wait for it, and a barrier for the other threads.
#[test]
fn copies() {
    check_order(
        &copied("commit();", "wait::<0>();", "sync_threads();"),
        expect![[r#"
        line 7: wait()
          orders the store of `tile` on line 5 before the load on line 9
        line 8: sync_threads()
          orders the store of `tile` on line 5 before the load on line 9
    "#]],
    );
    check_order(
        &copied("commit();", "wait::<0>();", ""),
        expect![[r#"
            error: race on `tile`: nothing orders this load after the copy on line 5 [TP0801]
            note: read after write: thread 0 writes `tile[0][1]` on line 5, and thread 1 reads it here
            help: put `sync_threads();` between the `wait` for the copy and this
              at `tile[8 * i + t / 32][t % 32]`
        "#]],
    );
    check_order(
        &copied("commit();", "", "sync_threads();"),
        expect![[r#"
            error: race on `tile`: nothing orders this load after the asynchronous copy that was started on line 5 [TP0801]
            note: read after write: thread 0 writes `tile[0][0]` on line 5, and the same thread reads it here
            help: call `commit();` after the copy, and `wait::<0>();` and `sync_threads();` before this
              at `tile[8 * i + t / 32][t % 32]`
        "#]],
    );
    check_order(
        &copied("commit();", "", ""),
        expect![[r#"
            error: race on `tile`: nothing orders this load after the asynchronous copy that was started on line 5 [TP0801]
            note: read after write: thread 0 writes `tile[0][0]` on line 5, and the same thread reads it here
            help: call `commit();` after the copy, and `wait::<0>();` and `sync_threads();` before this
              at `tile[8 * i + t / 32][t % 32]`
        "#]],
    );
    check_order(
        &copied("", "wait::<0>();", "sync_threads();"),
        expect![[r#"
            error: race on `tile`: nothing orders this load after the asynchronous copy that was started on line 5 [TP0801]
            note: read after write: thread 0 writes `tile[0][0]` on line 5, and the same thread reads it here
            help: call `commit();` after the copy, and `wait::<0>();` and `sync_threads();` before this
              at `tile[8 * i + t / 32][t % 32]`
        "#]],
    );
    check_order(
        &copied("", "wait::<0>();", ""),
        expect![[r#"
            error: race on `tile`: nothing orders this load after the asynchronous copy that was started on line 5 [TP0801]
            note: read after write: thread 0 writes `tile[0][0]` on line 5, and the same thread reads it here
            help: call `commit();` after the copy, and `wait::<0>();` and `sync_threads();` before this
              at `tile[8 * i + t / 32][t % 32]`
        "#]],
    );
    check_order(
        &copied("", "", "sync_threads();"),
        expect![[r#"
            error: race on `tile`: nothing orders this load after the asynchronous copy that was started on line 5 [TP0801]
            note: read after write: thread 0 writes `tile[0][0]` on line 5, and the same thread reads it here
            help: call `commit();` after the copy, and `wait::<0>();` and `sync_threads();` before this
              at `tile[8 * i + t / 32][t % 32]`
        "#]],
    );
    check_order(
        &copied("", "", ""),
        expect![[r#"
            error: race on `tile`: nothing orders this load after the asynchronous copy that was started on line 5 [TP0801]
            note: read after write: thread 0 writes `tile[0][0]` on line 5, and the same thread reads it here
            help: call `commit();` after the copy, and `wait::<0>();` and `sync_threads();` before this
              at `tile[8 * i + t / 32][t % 32]`
        "#]],
    );
}

/// A stage is read when its copy is complete, and copied to when all have read it.
#[test]
fn pipelines() {
    check_order(
        &pipeline(2, 1, "sync_threads();", "sync_threads();"),
        expect![[r#"
        line 13: wait()
          orders the store of `s` on line 7 before the load on line 15
          orders the store of `s` on line 11 before the load on line 15 in the next iteration
        line 14: sync_threads()
          orders the store of `s` on line 7 before the load on line 15
          orders the store of `s` on line 11 before the load on line 15 in the next iteration
        line 16: sync_threads()
          orders the load of `s` on line 15 before the store on line 11 in the next iteration
    "#]],
    );
    check_order(
        &pipeline(2, 1, "sync_threads();", ""),
        expect![[r#"
            error: race on `s`: nothing orders this copy after the load on line 15 an iteration earlier [TP0801]
            note: write after read: thread 7 reads `s[0][0][24]` on line 15, and thread 6 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 10
              at `s[(k + 1) % 2].load_async::<4>(input, [k + 1, 0])`
        "#]],
    );
    check_order(
        &pipeline(2, 1, "", "sync_threads();"),
        expect![[r#"
            error: race on `s`: nothing orders this load after the copy on line 7 [TP0801]
            note: read after write: thread 0 writes `s[0][0][24]` on line 7, and thread 7 reads it here
            help: put `sync_threads();` between the `wait` for the copy and this
              at `s[k % 2][0][31 - x]`
        "#]],
    );
    check_order(
        &pipeline(2, 2, "sync_threads();", "sync_threads();"),
        expect![[r#"
            error: race on `s`: nothing orders this copy after the asynchronous copy that was started on line 7 [TP0801]
            note: write after write: thread 0 writes `s[0][0][0]` on line 7, and the same thread writes it here
            help: call `commit();` after the copy, and `wait::<0>();` and `sync_threads();` before this
              at `s[(k + 1) % 2].load_async::<4>(input, [k + 1, 0])`
        "#]],
    );
    check_order(
        &pipeline(2, 0, "sync_threads();", "sync_threads();"),
        expect![[r#"
        line 13: wait()
          orders the store of `s` on line 7 before the load on line 15
        line 14: sync_threads()
          orders the store of `s` on line 7 before the load on line 15
        line 16: sync_threads()
          orders the load of `s` on line 15 before the store on line 11 in the next iteration
    "#]],
    );
    check_order(
        &pipeline(3, 2, "sync_threads();", "sync_threads();"),
        expect![[r#"
            line 13: wait()
              orders the store of `s` on line 7 before the store on line 11
              orders the store of `s` on line 7 before the load on line 15
              orders the store of `s` on line 11 before the load on line 15 in the next iteration
            line 14: sync_threads()
              orders the store of `s` on line 7 before the store on line 11
              orders the store of `s` on line 7 before the load on line 15
              orders the store of `s` on line 11 before the load on line 15 in the next iteration
            line 16: sync_threads()
              orders the store of `s` on line 7 before the store on line 11
              orders the load of `s` on line 15 before the store on line 11 in the next iteration
        "#]],
    );
    check_order(
        &pipeline(3, 2, "sync_threads();", ""),
        expect![[r#"
            error: race on `s`: nothing orders this copy after the load on line 15 an iteration earlier [TP0801]
            note: write after read: thread 7 reads `s[0][0][24]` on line 15, and thread 6 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 10
              at `s[(k + 2) % 3].load_async::<4>(input, [k + 2, 0])`
        "#]],
    );
    check_order(
        &pipeline(3, 3, "sync_threads();", "sync_threads();"),
        expect![[r#"
            error: race on `s`: nothing orders this copy after the asynchronous copy that was started on line 7 [TP0801]
            note: write after write: thread 0 writes `s[0][0][0]` on line 7, and the same thread writes it here
            help: call `commit();` after the copy, and `wait::<0>();` and `sync_threads();` before this
              at `s[(k + 2) % 3].load_async::<4>(input, [k + 2, 0])`
        "#]],
    );
    // Where the copy follows the barrier, that one is enough for both sides.
    let one_barrier = |wait: &str, barrier: &str| {
        kernel(
            "block = [8], grid = [1], requires(input.cols() == 32, output.len() >= 8, input.pitch() % 4 == 0)",
            "n: usize, input: &Matrix<f32>, output: &mut Tensor<f32, 1>",
            &format!(
                "let mut s = Shared::<[[[f32; 32]; 1]; 3]>::new();
                let x = thread_x();
                let mut sum = 0.0;
                for k in 0..2 {{
                    s[k].load_async::<4>(input, [k, 0]);
                    commit();
                }}
                for k in 0..n {{
                    {wait}
                    {barrier}
                    s[(k + 2) % 3].load_async::<4>(input, [k + 2, 0]);
                    commit();
                    sum += s[k % 3][0][31 - x];
                }}
                output[[x]] = sum;"
            ),
        )
    };
    check_order(
        &one_barrier("wait::<1>();", "sync_threads();"),
        expect![[r#"
        line 11: wait()
          orders the store of `s` on line 7 before the store on line 13
          orders the store of `s` on line 7 before the load on line 15
          orders the store of `s` on line 13 before the load on line 15 in the next iteration
        line 12: sync_threads()
          orders the store of `s` on line 7 before the store on line 13
          orders the store of `s` on line 7 before the load on line 15
          orders the store of `s` on line 13 before the load on line 15 in the next iteration
          orders the load of `s` on line 15 before the store on line 13 in the next iteration
    "#]],
    );
    check_order(
        &one_barrier("wait::<2>();", "sync_threads();"),
        expect![[r#"
        error: race on `s`: nothing orders this load after the asynchronous copy that was started on line 7 [TP0801]
        note: read after write: thread 0 writes `s[0][0][24]` on line 7, and thread 7 reads it here
        help: call `commit();` after the copy, and `wait::<0>();` and `sync_threads();` before this
          at `s[k % 3][0][31 - x]`
    "#]],
    );
    check_order(
        &one_barrier("wait::<1>();", ""),
        expect![[r#"
            error: race on `s`: nothing orders this copy after the copy on line 7 [TP0801]
            note: write after write: thread 0 writes `s[0][0][1]` on line 7, and thread 1 writes it here
            help: put `sync_threads();` between the `wait` for the copy and this
              at `s[(k + 2) % 3].load_async::<4>(input, [k + 2, 0])`
            error: race on `s`: nothing orders this copy after the load on line 15 an iteration earlier [TP0801]
            note: write after read: thread 7 reads `s[0][0][24]` on line 15, and thread 6 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 10
              at `s[(k + 2) % 3].load_async::<4>(input, [k + 2, 0])`
            error: race on `s`: nothing orders this load after the copy on line 7 [TP0801]
            note: read after write: thread 0 writes `s[0][0][24]` on line 7, and thread 7 reads it here
            help: put `sync_threads();` between the `wait` for the copy and this
              at `s[k % 3][0][31 - x]`
        "#]],
    );
}

/// Where the stage does not change from one step to the next, one barrier is not enough.
#[test]
fn stages_that_meet_themselves() {
    // The counter is even, always.
    check_order(
        &stages(
            2,
            "for k in (0..n.min(input.rows())).step_by(2) {\ns[k % 2][x] = input[[k, x]];\nsync_threads();\nsum += s[k % 2][31 - x];\n}",
        ),
        expect![[r#"
            error: race on `s`: nothing orders this store after the load on line 9 an iteration earlier [TP0801]
            note: write after read: thread 31 reads `s[0][0]` on line 9, and thread 0 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 6
              at `s[k % 2][x]`
        "#]],
    );
    check_order(
        &stages(
            2,
            "for k in (0..n.min(input.rows())).step_by(2) {\ns[k / 2 % 2][x] = input[[k, x]];\nsync_threads();\nsum += s[k / 2 % 2][31 - x];\n}",
        ),
        expect![[r#"
            line 8: sync_threads()
              orders the store of `s` on line 7 before the load on line 9
        "#]],
    );
    // The last step of an inner loop and the first one of the next.
    check_order(
        &stages(
            2,
            "for i in 0..n {\nfor j in 0..3 {\ns[j % 2][x] = i as f32;\nsync_threads();\nsum += s[j % 2][31 - x];\n}\n}",
        ),
        expect![[r#"
            error: race on `s`: nothing orders this store after the load on line 10 an iteration earlier [TP0801]
            note: write after read: thread 31 reads `s[0][0]` on line 10, and thread 0 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 6
              at `s[j % 2][x]`
        "#]],
    );
    check_order(
        &stages(
            2,
            "for i in 0..n {\nfor j in 0..2 {\ns[j % 2][x] = i as f32;\nsync_threads();\nsum += s[j % 2][31 - x];\n}\n}",
        ),
        expect![[r#"
            line 9: sync_threads()
              orders the store of `s` on line 8 before the load on line 10
              orders the load of `s` on line 10 before the store on line 8 in the next iteration
        "#]],
    );
    check_order(
        &stages(
            2,
            "for i in 0..n {\nfor j in 0..n {\ns[j % 2][x] = i as f32;\nsync_threads();\nsum += s[j % 2][31 - x];\n}\n}",
        ),
        expect![[r#"
            error: race on `s`: nothing orders this store after the load on line 10 an iteration earlier [TP0801]
            note: write after read: thread 31 reads `s[0][0]` on line 10, and thread 0 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 7
              at `s[j % 2][x]`
        "#]],
    );
    check_order(
        &stages(
            2,
            "for i in 0..4 {\nfor j in 0..n {\ns[j % 2][x] = i as f32;\nsync_threads();\nsum += s[j % 2][31 - x];\n}\n}",
        ),
        expect![[r#"
            error: race on `s`: nothing orders this store after the load on line 10 an iteration earlier [TP0801]
            note: write after read: thread 31 reads `s[0][0]` on line 10, and thread 0 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 7
              at `s[j % 2][x]`
        "#]],
    );
    // The last step of a loop and the first one of another.
    check_order(
        &stages(
            2,
            "for k in 0..n {\ns[k % 2][x] = 1.0;\nsync_threads();\nsum += s[k % 2][31 - x];\n}\nfor k in 0..n {\ns[k % 2][x] = 2.0;\nsync_threads();\nsum += s[k % 2][31 - x];\n}",
        ),
        expect![[r#"
            error: race on `s`: nothing orders this store after the load on line 9 [TP0801]
            note: write after read: thread 31 reads `s[0][0]` on line 9, and thread 0 writes it here
            help: put `sync_threads();` between line 9 and this
              at `s[k % 2][x]`
        "#]],
    );
    // The last step of a loop and what follows.
    check_order(
        &stages(
            2,
            "for k in 0..n {\ns[k % 2][x] = 1.0;\nsync_threads();\nsum += s[k % 2][31 - x];\n}\ns[(n + 1) % 2][x] = 2.0;",
        ),
        expect![[r#"
            error: race on `s`: nothing orders this store after the load on line 9 [TP0801]
            note: write after read: thread 31 reads the same element on line 9, and thread 0 writes it here
            help: put `sync_threads();` between line 9 and this
              at `s[(n + 1) % 2][x]`
        "#]],
    );
    // What data choose may be the same again.
    check_order(
        &stages(
            2,
            "let mut b = 0;\nfor k in 0..n.min(input.rows()) {\ns[b][x] = 1.0;\nsync_threads();\nsum += s[b][31 - x];\nif input[[k, 0]] > 0.5 { b = 1 - b; }\n}",
        ),
        expect![[r#"
            error: race on `s`: nothing orders this store after the load on line 10 an iteration earlier [TP0801]
            note: write after read: thread 31 reads the same element on line 10, and thread 0 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 7
              at `s[b][x]`
        "#]],
    );
    check_order(
        &stages(
            2,
            "for k in 0..n.min(input.rows()) {\nlet b = input[[k, 0]] as usize % 2;\ns[b][x] = 1.0;\nsync_threads();\nsum += s[b][31 - x];\n}",
        ),
        expect![[r#"
            error: race on `s`: nothing orders this store after the load on line 10 an iteration earlier [TP0801]
            note: write after read: thread 31 reads the same element on line 10, and thread 0 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 6
              at `s[b][x]`
        "#]],
    );
    check_order(
        &stages(
            2,
            "for k in 0..n.min(input.rows()) {\nlet b = sync_threads_count(input[[k, x]] > 0.0) as usize % 2;\ns[b][x] = 1.0;\nsync_threads();\nsum += s[b][31 - x];\n}",
        ),
        expect![[r#"
            line 7: a vote of the block
              orders the load of `s` on line 10 before the store on line 8 in the next iteration
            line 9: sync_threads()
              orders the store of `s` on line 8 before the load on line 10
        "#]],
    );
    // A barrier in some of the steps.
    check_order(
        &stages(
            2,
            "for k in 0..n {\ns[k % 2][x] = 1.0;\nif k > 2 { sync_threads(); }\nsum += s[k % 2][x];\n}",
        ),
        expect![[r#"
            line 8: sync_threads()
              orders nothing: can be removed
        "#]],
    );
    check_order(
        &stages(
            2,
            "for k in 0..n {\ns[k % 2][x] = 1.0;\nif k % 2 == 0 { sync_threads(); }\nsum += s[(k + 1) % 2][31 - x];\n}",
        ),
        expect![[r#"
            error: race on `s`: nothing orders this store after the load on line 9 an iteration earlier [TP0801]
            note: write after read: thread 31 reads `s[1][0]` on line 9, and thread 0 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 6
              at `s[k % 2][x]`
        "#]],
    );
    // Loops that are counted out.
    check_order(
        &stages(2, "for k in 0..8 {\ns[k % 2][x] = 1.0;\nsync_threads();\nsum += s[k % 2][31 - x];\n}"),
        expect![[r#"
            line 8: sync_threads()
              orders the store of `s` on line 7 before the load on line 9
              orders the load of `s` on line 9 before the store on line 7 in the next iteration
        "#]],
    );
    check_order(
        &stages(3, "for k in 0..8 {\ns[k % 3][x] = 1.0;\nsum += s[k % 3][x];\n}"),
        expect![[r#"
        accepted without a barrier
    "#]],
    );
    check_order(
        &stages(1, "for k in 0..8 {\ns[0][x] = 1.0;\nsync_threads();\nsum += s[0][31 - x];\n}"),
        expect![[r#"
            error: race on `s`: nothing orders this store after the load on line 9 [TP0801]
            note: write after read: thread 31 reads `s[0][0]` on line 9, and thread 0 writes it here
            help: put `sync_threads();` at the end of the body of the loop around both
              at `s[0][x]`
        "#]],
    );
}

/// A barrier of the warp orders lanes of both sides of a condition before it, and no other warp.
#[test]
fn warps_and_conditions() {
    check_order(
        &warps("if x % 2 == 0 { t[x] = 1.0; } else { t[x] = 2.0; }\nsync_warp();\noutput[[x]] = t[x ^ 1];"),
        expect![[r#"
            line 6: sync_warp()
              orders the store of `t` on line 5 before the load on line 7
        "#]],
    );
    check_order(
        &warps("if x < 32 {\nt[x] = 1.0;\nsync_warp();\n} else {\nt[x] = 2.0;\n}\noutput[[x]] = t[x ^ 1];"),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 9 [TP0801]
            note: read after write: thread 32 writes `t[32]` on line 9, and thread 33 reads it here
            help: put `sync_threads();` between line 9 and this
              at `t[x ^ 1]`
        "#]],
    );
    check_order(
        &warps(
            "if x < 32 {\nt[x] = 1.0;\nsync_warp();\n} else {\nt[x] = 2.0;\nsync_warp();\n}\noutput[[x]] = t[x ^ 1];",
        ),
        expect![[r#"
            line 7: sync_warp()
              orders the store of `t` on line 6 before the load on line 12
            line 10: sync_warp()
              orders the store of `t` on line 6 before the load on line 12
              orders the store of `t` on line 9 before the load on line 12
        "#]],
    );
    check_order(
        &warps("t[x] = 1.0;\nif warp() == 0 { sync_warp(); }\noutput[[x]] = t[x ^ 1];"),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 5 [TP0801]
            note: read after write: thread 0 writes `t[0]` on line 5, and thread 1 reads it here
            help: put `sync_threads();` between line 5 and this
              at `t[x ^ 1]`
        "#]],
    );
    check_order(
        &warps("t[x] = 1.0;\nsync_warp();\nif n > 3 { sync_threads(); }\noutput[[x]] = t[x ^ 1];"),
        expect![[r#"
            line 6: sync_warp()
              orders the store of `t` on line 5 before the load on line 8
            line 7: sync_threads()
              orders nothing: can be removed
        "#]],
    );
    // Slots that an update hands out are numbers of which nothing is known.
    check_order(
        &kernel(
            "block = [64], grid = [1]",
            "n: usize",
            "let mut c = Shared::<[u32; 1]>::new();\nlet mut t = Shared::<[u32; 64]>::new();\nlet x = thread_x();\nif x == 0 { c[0] = 0; }\nsync_threads();\nlet slot = c.atomic_add([0], 1) as usize;\n#[budget(bank_conflict = 31, because = \"slots are dense\")]\nt[slot % 64] = x as u32;",
        ),
        expect![[r#"
            error: race on `t`: two threads may write one element here [TP0801]
            note: write after write: which elements the threads touch is not known at compile time
            help: let one thread write it, `if thread_x() == 0 { … }`, or update it with an atomic
              at `t[slot % 64]`
        "#]],
    );
}

/// Conditions that exclude each other in one iteration, and hold in two.
#[test]
fn conditions_of_other_iterations() {
    check_order(
        &warps("for k in 0..n {\nif k == 3 { t[x] = 1.0; }\nif k == 4 { t[63 - x] = 2.0; }\n}"),
        expect![[r#"
            error: race on `t`: nothing orders this store after the store on line 6 an iteration earlier [TP0801]
            note: write after write: thread 0 writes `t[0]` on line 6, and thread 63 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 5
              at `t[63 - x]`
        "#]],
    );
    check_order(
        &warps(
            "for k in 0..n {\nif k == 3 { t[x] = 1.0; }\nif k == 4 { t[63 - x] = 2.0; }\nsync_threads();\n}",
        ),
        expect![[r#"
            line 8: sync_threads()
              orders the store of `t` on line 6 before the store on line 7 in the next iteration
        "#]],
    );
    check_order(
        &warps(
            "let mut b = 0;\nfor _ in 0..n {\nif b == 0 { t[x] = 1.0; }\nif b == 1 { t[63 - x] = 2.0; }\nb = 1 - b;\n}",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this store after the store on line 8 an iteration earlier [TP0801]
            note: write after write: thread 63 writes `t[0]` on line 8, and thread 0 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 6
              at `t[x]`
        "#]],
    );
    check_order(
        &warps(
            "for k in 0..n.min(input.len()) {\nlet b = input[[k]] as usize;\nif b == 0 { t[x] = 1.0; } else { t[63 - x] = 2.0; }\n}",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this store after the store on line 7 an iteration earlier [TP0801]
            note: write after write: thread 63 writes `t[0]` on line 7, and thread 0 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 5
              at `t[x]`
        "#]],
    );
    check_order(
        &warps(
            "for k in 0..n.min(input.len()) {\nlet b = input[[k]] as usize;\nif b == 0 { t[x] = 1.0; } else { t[63 - x] = 2.0; }\nsync_threads();\n}",
        ),
        expect![[r#"
            line 8: sync_threads()
              orders the store of `t` on line 7 before the store on line 7 in the next iteration
        "#]],
    );
    check_order(
        &warps("let mut b = n;\nif b > 4 { t[x] = 1.0; }\nb = 3;\nif b < 4 { t[63 - x] = 2.0; }"),
        expect![[r#"
            error: race on `t`: nothing orders this store after the store on line 6 [TP0801]
            note: write after write: thread 0 writes `t[0]` on line 6, and thread 63 writes it here
            help: put `sync_threads();` between line 6 and this
              at `t[63 - x]`
        "#]],
    );
    // One thread each, but not the same one.
    check_order(
        &warps("if x == n { t[0] = 1.0; }\nif x == 5 { t[0] = 2.0; }"),
        expect![[r#"
        error: race on `t`: nothing orders this store after the store on line 5 [TP0801]
        note: write after write: thread 0 writes `t[0]` on line 5, and thread 5 writes it here
        help: put `sync_threads();` between line 5 and this
          at `t[0]`
    "#]],
    );
    check_order(
        &warps("if x == n { t[0] = 1.0; }\nif x <= n { t[0] = 2.0; }"),
        expect![[r#"
        error: race on `t`: nothing orders this store after the store on line 5 [TP0801]
        note: write after write: thread 0 writes `t[0]` on line 5, and thread 32 writes it here
        help: put `sync_threads();` between line 5 and this
          at `t[0]`
        error: race on `t`: two threads may write one element here [TP0801]
        note: write after write: thread 0 writes `t[0]` on line 6, and thread 32 writes it here
        help: let one thread write it, `if thread_x() == 0 { … }`, or update it with an atomic
          at `t[0]`
    "#]],
    );
    // Of the same thread they are one condition, of two threads they are two.
    check_order(
        &warps("let v = input[[x]] as usize;\nif v > 4 { t[0] = 1.0; }"),
        expect![[r#"
        error: race on `t`: two threads may write one element here [TP0801]
        note: write after write: thread 0 writes `t[0]` on line 6, and thread 32 writes it here
        help: let one thread write it, `if thread_x() == 0 { … }`, or update it with an atomic
          at `t[0]`
    "#]],
    );
    check_order(
        &warps("if x == n { t[0] = 1.0; }\nif x + 1 == n { t[0] = 2.0; }"),
        expect![[r#"
        error: race on `t`: nothing orders this store after the store on line 5 [TP0801]
        note: write after write: thread 0 writes `t[0]` on line 5, and thread 32 writes it here
        help: put `sync_threads();` between line 5 and this
          at `t[0]`
    "#]],
    );
    check_order(
        &warps("if x == n { t[0] = 1.0; }\nif x == n { t[0] = 2.0; }"),
        expect![[r#"
        accepted without a barrier
    "#]],
    );
    check_order(
        &kernel(
            "block = [32, 2], grid = [1]",
            "n: usize",
            "let mut t = Shared::<[f32; 64]>::new();\nif thread_x() == n { t[0] = 1.0; }",
        ),
        expect![[r#"
            error: race on `t`: two threads may write one element here [TP0801]
            note: write after write: thread (0, 0) writes `t[0]` on line 4, and thread (0, 1) writes it here
            help: let one thread write it, `if thread_x() == 0 { … }`, or update it with an atomic
              at `t[0]`
        "#]],
    );
    check_order(
        &warps("for k in 0..n {\nif x == k { t[0] = 1.0; }\n}"),
        expect![[r#"
        error: race on `t`: nothing orders this store after the store of another thread [TP0801]
        note: write after write: thread 0 writes `t[0]` on line 6, and thread 32 writes it here an iteration later
        help: put `sync_threads();` at the end of the body of the loop on line 5
          at `t[0]`
    "#]],
    );
    check_order(
        &warps("for k in 0..n {\nif x == k { t[0] = 1.0; }\nsync_threads();\n}"),
        expect![[r#"
        line 7: sync_threads()
          orders the store of `t` on line 6 before the store on line 6 in the next iteration
    "#]],
    );
}

/// Variables that go round an orbit, alone or several together, say which stage an iteration uses.
#[test]
fn orbits() {
    for (before, after) in [
        ("let mut b = 0;", "b ^= 1;"),
        ("let mut b = 1;", "b = 1 - b;"),
        ("let mut b = 0;\nlet mut other = 1;", "let last = b;\nb = other;\nother = last;"),
    ] {
        let body = |barriers: &str| {
            format!(
                "{before}\nfor k in 0..n {{ s[b][x] = input[[k % input.rows(), x]]; {barriers} sum += s[b][31 - x]; {after} }}"
            )
        };
        let attribute =
            "block = [32], grid = [1], requires(input.rows() >= 1, input.cols() >= 32, output.len() >= 32)";
        let of = |barriers: &str| {
            let source = stages(2, &body(barriers));
            source.replacen(
                "block = [32], grid = [1], requires(input.cols() >= 32, output.len() >= 32)",
                attribute,
                1,
            )
        };
        assert!(!outcome(&of("sync_threads();")).contains("[TP"), "{}", outcome(&of("sync_threads();")));
        assert!(outcome(&of("")).contains("[TP0801]"), "{before} {after}");
    }
    // The third stage is still read when it is written again.
    check_order(
        &stages(
            3,
            "let mut b = 0;\nlet mut next = 1;\nfor k in 0..n { s[b][x] = k as f32; sync_threads(); sum += s[b][31 - x]; b = next; next = (next + 1) % 3; }",
        ),
        expect![[r#"
            line 8: sync_threads()
              orders the store of `s` on line 8 before the load on line 8
        "#]],
    );
    check_order(
        &stages(
            3,
            "let mut b = 0;\nfor k in 0..n { s[b][x] = k as f32; sync_threads(); sum += s[b][31 - x]; b = if k < 5 { 1 - b } else { b }; }",
        ),
        expect![[r#"
            error: race on `s`: nothing orders this store after the load on line 7 an iteration earlier [TP0801]
            note: write after read: thread 31 reads the same element on line 7, and thread 0 writes it here an iteration later
            help: put `sync_threads();` at the end of the body of the loop on line 7
              at `s[b][x]`
        "#]],
    );
}

/// Conditions on one argument hang together: whether a barrier is met, and what is done elsewhere.
#[test]
fn arguments_that_decide_on_barriers() {
    let of = |body: &str| {
        kernel(
            "block = [64], grid = [1], requires(output.len() >= 64)",
            "flag: bool, other: bool, output: &mut Tensor<f32, 1>",
            &format!("let mut t = Shared::<[f32; 64]>::new();\nlet x = thread_x();\n{body}"),
        )
    };
    check_order(
        &of(
            "t[x] = 1.0;\nif flag { sync_threads(); }\nif !flag { sync_threads(); }\noutput[[x]] = t[63 - x];",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 8
            line 7: sync_threads()
              orders the store of `t` on line 5 before the load on line 8
        "#]],
    );
    check_order(
        &of(
            "t[x] = 1.0;\nif flag { sync_threads(); }\nif !other { sync_threads(); }\noutput[[x]] = t[63 - x];",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this load after the store on line 5 [TP0801]
            note: read after write: thread 0 writes `t[0]` on line 5, and thread 63 reads it here
            help: put `sync_threads();` between line 5 and this
              at `t[63 - x]`
        "#]],
    );
    check_order(
        &of("t[x] = 1.0;\nif flag { if flag { sync_threads(); } output[[x]] = t[63 - x]; }"),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 6
        "#]],
    );
}

/// A copy that runs ahead is not there after the last iteration, in which nothing is ahead.
#[test]
fn after_the_last_iteration() {
    let ahead = |condition: &str| {
        kernel(
            "block = [32], grid = [1], requires(input.rows() >= 1, input.cols() >= 32, output.len() >= 32)",
            "n: usize, input: &Matrix<f32>, output: &mut Tensor<f32, 1>",
            &format!(
                "let mut s = Shared::<[[f32; 32]; 3]>::new();
                let x = thread_x();
                let mut sum = 0.0;
                s[0].load_async::<1>(input, [0, 0]);
                commit();
                for k in 0..n {{
                    if {condition} {{ s[(k + 1) % 3].load_async::<1>(input, [0, 0]); }}
                    commit();
                    wait::<1>();
                    sync_threads();
                    sum += s[k % 3][x];
                    sync_threads();
                }}
                wait::<0>();
                s[1][31 - x] = 1.0;
                output[[x]] = sum;"
            ),
        )
    };
    check_order(
        &ahead("k + 1 < n"),
        expect![[r#"
            line 11: wait()
              orders the store of `s` on line 6 before the load on line 13
              orders the store of `s` on line 9 before the load on line 13 in the next iteration
              orders the store of `s` on line 9 before the store on line 17
            line 12: sync_threads()
              orders nothing: can be removed
            line 14: sync_threads()
              orders the store of `s` on line 9 before the store on line 17
              orders the load of `s` on line 13 before the store on line 17
            line 16: wait()
              orders nothing: can be removed
        "#]],
    );
    check_order(
        &ahead("k < n"),
        expect![[r#"
        error: race on `s`: nothing orders this store after the copy on line 9 [TP0801]
        note: write after write: thread 0 writes `s[1][0]` on line 9, and thread 31 writes it here
        help: put `sync_threads();` between the `wait` for the copy and this
          at `s[1][31 - x]`
    "#]],
    );
}

/// Guards of a number that is not known, which two threads cannot both have.
#[test]
fn guards_that_exclude_each_other() {
    check_order(
        &warps(
            "t[x] = 0.0;\nsync_threads();\nlet mut sum = 0.0;\nif x < n { sum += t[x / 2]; } else { t[x] = 2.0; }\noutput[[x]] = sum;",
        ),
        expect![[r#"
            line 6: sync_threads()
              orders the store of `t` on line 5 before the load on line 8
        "#]],
    );
    check_order(
        &warps(
            "t[x] = 0.0;\nsync_threads();\nlet mut sum = 0.0;\nif x < n { sum += t[63 - x]; } else { t[x] = 2.0; }\noutput[[x]] = sum;",
        ),
        expect![[r#"
            error: race on `t`: nothing orders this store after the load on line 8 [TP0801]
            note: write after read: thread 63 reads `t[0]` on line 8, and thread 0 writes it here
            help: read first, `let value = …;`, then put `sync_threads();` before the statement that writes
              at `t[x]`
        "#]],
    );
}

/// What the last iteration wrote is open behind the loop, also where later iterations were asked for what an earlier one reads.
#[test]
fn what_the_last_iteration_leaves_open() {
    let after = |barrier: &str| {
        stages(
            2,
            &format!(
                "s[0][x] = 0.0;\nfor k in 0..n {{ sync_threads(); if k > 0 {{ sum += s[(k + 1) % 2][31 - x]; }} s[k % 2][x] = k as f32; }}\n{barrier}\nsum += s[0][31 - x];"
            ),
        )
    };
    assert!(
        outcome(&after("")).contains("nothing orders this load after the store"),
        "{}",
        outcome(&after(""))
    );
    assert!(!outcome(&after("sync_threads();")).contains("[TP"), "{}", outcome(&after("sync_threads();")));
}
