//! Asynchronous copies that nobody waits for, or on some ways only: they are under way in every iteration that follows.

use crate::harness::{kernel, open_pairs, outcome};

/// A kernel of one warp over three rows of a tile, all of them written, and then a copy of a row to the first one.
fn copied(body: &str) -> String {
    phases(&format!(
        "tile[0].load_async(input, [block_x(), 0]); commit();
        {body}
        wait::<0>(); sync_threads();"
    ))
}

fn phases(body: &str) -> String {
    kernel(
        "block = [32], grid = [output.rows()], requires(input.rows() >= output.rows())",
        "n: usize, m: usize, flag: bool, input: &Matrix<f32>, output: &mut Matrix<f32>",
        &format!(
            "let mut tile = Shared::<[[f32; 32]; 3]>::new();
            let t = thread_x();
            let mut sum = 0.0f32;
            tile[0][t] = 0.0; tile[1][t] = 0.0; tile[2][t] = 0.0;
            sync_threads();
            {body}
            if t < output.cols() {{ output[[block_x(), t]] = sum; }}"
        ),
    )
}

#[track_caller]
fn accepts(body: &str) {
    let said = outcome(&copied(body));
    assert!(!said.contains("[TP"), "{said}");
}

#[track_caller]
fn races(body: &str) {
    let said = outcome(&copied(body));
    assert!(said.contains("[TP0801]"), "{said}");
}

const READ: &str = "sum = sum + tile[0][t];";

/// A copy from before a loop, behind a barrier in the loop that does not end it.
#[test]
fn barriers_in_loops_do_not_wait() {
    let within = |guard: &str, first: &str| {
        format!("for k in 0..n {{ {first} sync_threads(); if {guard} {{ {READ} }} sync_threads(); }}")
    };
    races(&within("k > 20", ""));
    races(&within("k % 3 == 2", ""));
    races(&within("m > k", "wait::<1>();"));
    accepts(&within("k > 20", "wait::<0>();"));
    accepts(&within("k > 2", "commit(); if k > 0 { wait::<1>(); }"));
}

/// A barrier on one side of a condition, in a loop that may go round without any.
#[test]
fn barriers_on_one_side_do_not_wait() {
    let within = |first: &str| format!("for k in 0..n {{ if m > 3 {{ {first} sync_threads(); {READ} }} }}");
    races(&within(""));
    races(&within("if flag { wait::<0>(); }"));
    races(&within("wait::<1>();"));
    accepts(&within("wait::<0>();"));
}

/// What is behind the loop meets the copy, however often that goes round.
#[test]
fn copies_last_beyond_loops() {
    races(&format!("for k in 0..n {{ sync_threads(); tile[1][t] = 1.0; }} {READ}"));
    races(&format!("for k in 0..n {{ if m > 3 {{ wait::<0>(); sync_threads(); }} }} {READ}"));
    accepts(&format!("for k in 0..n + 1 {{ wait::<0>(); sync_threads(); }} {READ}"));
}

/// Copies that pile up in nested loops do not make as many intervals as there are combinations of iterations.
#[test]
fn copies_pile_up() {
    let copy = "tile[2].load_async(input, [block_x(), 0]); commit(); sync_threads();";
    let within = |count: usize| {
        (0..count).fold(copy.to_string(), |body, depth| {
            let barrier = ["", "if flag { sync_threads(); }", "sync_threads();"][depth % 3];
            format!("for k{depth} in 0..n {{ {body} sum = sum + tile[1][t]; {barrier} }}")
        })
    };
    for (depth, most) in [(1, 400), (2, 7_000), (3, 50_000)] {
        let pairs = open_pairs(&phases(&within(depth)));
        assert!((1..most).contains(&pairs), "{pairs} pairs of intervals in {depth} loops");
    }
    let said = outcome(&phases(&within(2)));
    assert!(said.contains("[TP0801]"), "two copies of a row are under way at a time: {said}");
}

/// Rows that run ahead in a loop without a barrier, where each thread reads what it copied itself.
#[test]
fn threads_wait_for_their_own() {
    let ahead = |row: &str, wait: &str, column: &str| {
        format!(
            "for k in 0..m {{
                tile[{row}].load_async(input, [block_x(), 0]); commit();
                {wait}
                sum = sum + tile[k % 3][{column}];
            }}"
        )
    };
    accepts(&ahead("(k + 1) % 3", "wait::<1>();", "t"));
    races(&ahead("(k + 1) % 3", "wait::<2>();", "t"));
    races(&ahead("(k + 1) % 3", "wait::<1>();", "31 - t"));
    races(&ahead("(k + 1) % 3", "if flag { wait::<1>(); }", "t"));
    races(&ahead("k % 3", "wait::<1>();", "t"));
    races(&ahead("k % 3", "wait::<0>();", "t"));
}
