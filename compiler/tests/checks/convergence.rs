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
    let told = |body: &&str| {
        let outcome = outcome(&block(body));
        let start = |line: &&str| line.starts_with("error:") || line.starts_with("note:");
        outcome.lines().filter(start).map(|line| format!("{line}\n")).collect::<String>()
    };
    bodies.iter().map(told).collect()
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
        error: `sync_threads_count` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `ballot(lane() < n) > 2` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `thread_x() < n` may differ from thread to thread
        error: `sync_threads` must be reached by all threads of the block together, and nothing here says that it is [TP0602]
        note: `output[[n % 64]] > 3` may differ from thread to thread
    "#]].assert_eq(&parted(&bodies));
}

#[test]
fn what_to_write_instead() {
    check(
        &block("if lane() < 16 { output[[thread_x()]] = shuffle_xor(1, 1); }"),
        expect![[r#"
        error: `shuffle_xor` must be reached by all lanes of the warp together, and nothing here says that it is [TP0602]
        note: `lane() < 16` may differ from lane to lane
        help: call `shuffle_xor` outside: clamp indices so that every thread can go on, choose the value that it brings with `if … { value } else { 0 }`, and guard only what needs the guard
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
