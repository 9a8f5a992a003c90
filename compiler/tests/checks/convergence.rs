//! Barriers and collectives: who reaches them together.

use crate::harness::{check, kernel, outcome, sites};
use expect_test::expect;

/// A kernel of three warps, the last one of 16 lanes.
fn block(body: &str) -> String {
    kernel(
        "block = [80], grid = [1], requires(input.len() >= 4096, output.len() >= 4096)",
        "input: &Tensor<u32, 1>, output: &mut Tensor<u32, 1>, n: usize",
        body,
    )
}

/// What each of these kernels is refused for, and the condition that is named.
fn parted(bodies: &[&str]) -> String {
    parted_in(&bodies.iter().map(|body| block(body)).collect::<Vec<_>>())
}

fn parted_in(kernels: &[String]) -> String {
    let told = |kernel: &String| {
        let outcome = outcome(kernel);
        let start = |line: &&str| line.starts_with("error:") || line.starts_with("note:");
        outcome.lines().filter(start).map(|line| format!("{line}\n")).collect::<String>()
    };
    kernels.iter().map(told).collect()
}

#[test]
fn what_a_warp_reaches_together() {
    for body in [
        "if n > 5 { output[[thread_x()]] = shuffle_xor(n as u32, 1); }",
        "if warp() == 1 { output[[thread_x()]] = ballot(thread_x() > 40); }",
        "if warp() + 3 < n && thread_x() / 64 == 0 { sync_warp(); }",
        "for k in 0..warp() * 3 { if any(k == lane()) { sync_warp(); } }",
        "for k in 0..n { if all(k < 7) && n != 9 { sync_warp(); } }",
        "let row = shuffle(lane() + n, 3); for k in 0..row % 8 { sync_warp(); } if row > 4 { sync_warp(); }",
        "let c = sync_threads_count(lane() > n); if c > 3 && sync_threads_or(c < n) { sync_threads(); }",
        "if warp() < n { if ballot(lane() < n) > 7 { sync_warp(); } else { sync_warp(); } }",
        "if output[[n % 64]] > 3 { sync_threads(); }",
        "let first = input[[warp()]]; if first > 3 { sync_warp(); }",
    ] {
        sites(&block(body));
    }
}

#[test]
fn what_parts_the_lanes_of_a_warp() {
    let bodies = [
        "if thread_x() + block_x() * 80 < n { output[[thread_x()]] = shuffle_xor(n as u32, 1); }",
        "if lane() < 16 { sync_warp(); }",
        "if input[[thread_x()]] > 3 { if all(n > 3) { sync_warp(); } }",
        "for k in 0..lane() { sync_warp(); }",
        "for k in 0..n + lane() { output[[0]] = ballot(k > 3); }",
        "let x = shuffle_up(lane() + n, 1); if x > 3 { sync_warp(); }",
        "let x = match_any(lane() / 4); if x > 3 { sync_warp(); }",
        "let mut k = 0; for i in 0..input[[thread_x()]] { k += 1; } if k > 3 { sync_warp(); }",
        "let mut k = 0; if lane() < n { k = 1; } if k == 1 { sync_warp(); }",
    ];
    expect![[r#"
        error: `shuffle_xor` must be reached by all lanes of the warp together, and nothing here says that it is [TP0602]
        note: `thread_x() + block_x() * 80 < n` may differ from lane to lane
        error: `sync_warp` must be reached by all lanes of the warp together, and nothing here says that it is [TP0602]
        note: `lane() < 16` may differ from lane to lane
        error: `all` must be reached by all lanes of the warp together, and nothing here says that it is [TP0602]
        note: `input[[thread_x()]] > 3` may differ from lane to lane
        error: `sync_warp` must be reached by all lanes of the warp together, and nothing here says that it is [TP0602]
        note: `0..lane()` may differ from lane to lane
        error: two threads may write one element of `output`: `output[[0]]` [TP0802]
        note: nothing here says that two threads of a block touch different elements
        error: `ballot` must be reached by all lanes of the warp together, and nothing here says that it is [TP0602]
        note: `0..n + lane()` may differ from lane to lane
        error: `sync_warp` must be reached by all lanes of the warp together, and nothing here says that it is [TP0602]
        note: `x > 3` may differ from lane to lane
        error: `sync_warp` must be reached by all lanes of the warp together, and nothing here says that it is [TP0602]
        note: `x > 3` may differ from lane to lane
        error: `sync_warp` must be reached by all lanes of the warp together, and nothing here says that it is [TP0602]
        note: `k > 3` may differ from lane to lane
        error: `sync_warp` must be reached by all lanes of the warp together, and nothing here says that it is [TP0602]
        note: `k == 1` may differ from lane to lane
    "#]].assert_eq(&parted(&bodies));
}

#[test]
fn what_parts_the_threads_of_a_block() {
    let bodies = [
        "if warp() == 0 { sync_threads(); }",
        "if any(lane() < n) { sync_threads(); }",
        "for k in 0..warp() + 1 { sync_threads(); }",
        "if ballot(lane() < n) > 2 { output[[0]] = sync_threads_count(n > 3) as u32; }",
        "if thread_x() < n { sync_threads(); }",
        "if output[[n % 64]] > 3 { sync_threads(); } output.atomic_add([n % 64], 1);",
    ];
    expect![[r#"
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `warp() == 0` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `any(lane() < n)` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `0..warp() + 1` may differ from thread to thread
        error: two threads may write one element of `output`: `output[[0]]` [TP0802]
        note: nothing here says that two threads of a block touch different elements
        error: `sync_threads_count` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `ballot(lane() < n) > 2` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `thread_x() < n` may differ from thread to thread
        error: a thread may read an element of `output` that another thread writes: `output[[n % 64]]` [TP0802]
        note: it is written by `output.atomic_add([n % 64], 1)` on line 3, and no barrier stands between
        note: nothing here says that two threads of a block touch different elements
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `output[[n % 64]] > 3` may differ from thread to thread
    "#]].assert_eq(&parted(&bodies));
}

/// A kernel over floats.
fn floats(body: &str) -> String {
    kernel(
        "block = [80], grid = [1], requires(input.len() >= 4096, output.len() >= 4096, n < 4096)",
        "input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>, alpha: f32, n: usize",
        body,
    )
}

#[test]
fn floats_that_are_the_same_for_all_threads() {
    for body in [
        "if alpha > 0.0 { sync_threads(); }",
        "if alpha.mul_add(2.0, n as f32).sqrt() < -alpha && input[[n]] != 1.0 { sync_threads(); }",
        "let mut error = alpha; while error > 0.5 { sync_threads(); error = error * input[[0]]; }",
        "let mut sum = 0.0; for k in 0..n { sum += input[[k]]; } if sum > 1.0 { sync_threads(); }",
        "let mut x = alpha; if n > 7 { x = 1.0; } else { x *= 2.0; } if x > 1.0 { sync_threads(); }",
        "let v = input.read::<4>([0]); if v[1] + v[3] > 0.0 { sync_threads(); }",
        "let mut v = Vector::<f32, 4>::splat(alpha); v[1] = 2.0; let w = v * v; if w[1] > 0.0 { sync_threads(); }",
        "let mut v = input.read::<4>([0]); for k in 0..n { v = v + v; v[0] = alpha; } if v[0] > 0.0 { sync_threads(); }",
        "if block_sum(input[[thread_x()]]) > 0.0 { sync_threads(); }",
        "let k = alpha as u32; if k > 3 { sync_threads(); }",
        "let x = shuffle(input[[thread_x()]], 0); if x > 0.0 { sync_warp(); }",
        "let x = input[[warp()]]; if x > 0.0 { sync_warp(); } if shuffle_xor(alpha, 1) > 0.0 { sync_threads(); }",
        "if output[[n]] > 0.0 { sync_warp(); }",
    ] {
        sites(&floats(body));
    }
}

#[test]
fn floats_that_may_differ() {
    let bodies = [
        "if input[[thread_x()]] > 0.0 { sync_threads(); }",
        "if alpha * lane() as f32 > 0.0 { sync_threads(); }",
        "if output[[n]] > 0.0 { sync_threads(); }",
        "let mut x = alpha; if lane() < n { x = 1.0; } if x > 0.5 { sync_threads(); }",
        "let mut x = alpha; for k in 0..lane() { x += 1.0; } if x > 0.5 { sync_threads(); }",
        "let mut x = alpha; for k in 0..n + lane() { x += 1.0; } if x > 0.5 { sync_threads(); }",
        "let mut x = alpha; let mut y = 1.0; while x > y { y += input[[thread_x()]]; } if x > y { sync_threads(); }",
        "let mut x = alpha; let mut k = 0; while k < n { if x > 2.0 { sync_threads(); } x += input[[thread_x()]]; k += 1; }",
        "let mut x = 1.0; loop { x += 1.0; if x > input[[thread_x()]] { break; } } if x > 3.0 { sync_threads(); }",
        "let v = input.read::<4>([4 * thread_x()]); if v[1] > 0.0 { sync_threads(); }",
        "let mut v = Vector::<f32, 4>::splat(alpha); if lane() < 5 { v[0] = 1.0; } if v[0] > 0.0 { sync_threads(); }",
        "let mut v = input.read::<4>([0]); for k in 0..n { if v[0] > 0.0 { sync_threads(); } v[0] = lane() as f32; }",
        "let mut v = input.read::<4>([0]); for k in 0..3 { v[k] = input[[thread_x()]]; } if v[0] > 0.0 { sync_threads(); }",
        "let mut a = [alpha; 4]; a[1] = lane() as f32; if a[1] > 0.0 { sync_threads(); }",
        "let mut a = [Vector::<f32, 4>::splat(alpha); 2]; a[1][0] = lane() as f32; let b = a[1]; if b[0] > 0.0 { sync_threads(); }",
        "let x = if lane() < 3 { alpha } else { 2.0 * alpha }; if x > 0.0 { sync_threads(); }",
        "let x = input[[warp()]]; if x > 0.0 { sync_threads(); }",
        "let x = shuffle(input[[thread_x()]], 0); if x > 0.0 { sync_threads(); }",
        "let x = shuffle_xor(input[[thread_x()]], 1); if x > 0.0 { sync_warp(); }",
        "if warp() == 0 { if alpha > 0.0 { sync_threads(); } }",
        "let mut x = alpha; let r = x; x = input[[thread_x()]]; if r < x { sync_threads(); }",
    ];
    expect![[r#"
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `input[[thread_x()]] > 0.0` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `alpha * lane() as f32 > 0.0` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `x > 0.5` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `x > 0.5` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `x > 0.5` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `x > y` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `x > 2.0` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `x > 3.0` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `v[1] > 0.0` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `v[0] > 0.0` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `v[0] > 0.0` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `v[0] > 0.0` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `a[1] > 0.0` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `b[0] > 0.0` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `x > 0.0` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `x > 0.0` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `x > 0.0` may differ from thread to thread
        error: `sync_warp` must be reached by all lanes of the warp together, and nothing here says that it is [TP0602]
        note: `x > 0.0` may differ from lane to lane
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `warp() == 0` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `r < x` may differ from thread to thread
    "#]].assert_eq(&parted_in(&bodies.map(floats)));
}

#[test]
fn what_to_write_instead() {
    check(
        &block("if lane() < 16 { output[[thread_x()]] = shuffle_xor(1, 1); }"),
        expect![[r#"
            error: `shuffle_xor` must be reached by all lanes of the warp together, and nothing here says that it is [TP0602]
            note: `lane() < 16` may differ from lane to lane
            help: call `shuffle_xor` outside: choose the value it is given by `if … { value } else { … }`, and guard only the use of its result
              at `shuffle_xor(1, 1)`
        "#]],
    );
}

#[test]
fn sums_of_what_no_tile_holds() {
    check(
        &block("output[[thread_x()]] = block_sum(1) + block_max(lane()) as u32;"),
        expect![[r#"
        error: the type of this value is not known here, or is an index [TP0006]
        note: the warps of a block hand it on in a shared tile, whose elements are numbers of a known type
        note: in `block_sum`, called on line 3
        help: write its type (`1u32`), and cast an index: `i as u32`
          at `block_sum(1)`
        error: the type of this value is not known here, or is an index [TP0006]
        note: the warps of a block hand it on in a shared tile, whose elements are numbers of a known type
        note: in `block_max`, called on line 3
        help: write its type (`1u32`), and cast an index: `i as u32`
          at `block_max(lane())`
    "#]],
    );
}

#[test]
fn shuffles_that_no_warp_has() {
    check(
        &block("output[[0]] = shuffle_down(3u32, 32); output[[1]] = shuffle(1u32, 40);"),
        expect![[r#"
        error: a shuffle with a distance of 32, and a warp has 32 lanes [TP0007]
        help: write a distance from 0 to 31; between warps, values go through a shared tile
          at `32`
        error: a shuffle with a lane of 40, and a warp has 32 lanes [TP0007]
        help: write a lane from 0 to 31; between warps, values go through a shared tile
          at `40`
    "#]],
    );
}
