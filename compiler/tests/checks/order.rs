//! What a barrier orders on some ways through a kernel only: in loops that may not go round, and on one side of a condition.

use crate::harness::{kernel, outcome};

/// A kernel of two warps over two rows of a tile, all of them written, of which each thread has the number `t`.
fn phases(body: &str) -> String {
    kernel(
        "block = [64], grid = [1]",
        "n: usize, m: usize, flag: bool, output: &mut Tensor<u32, 1>",
        &format!(
            "let mut tile = Shared::<[[u32; 64]; 2]>::new();
            let t = thread_x();
            let mut sum = 0u32;
            tile[0][t] = 0; tile[1][t] = 0;
            sync_threads();
            {body}
            if t < output.len() {{ output[[t]] = sum; }}"
        ),
    )
}

#[track_caller]
fn accepts(body: &str) {
    let said = outcome(&phases(body));
    assert!(!said.contains("[TP"), "{said}");
}

#[track_caller]
fn races(body: &str) {
    let said = outcome(&phases(body));
    assert!(said.contains("[TP0801]"), "{said}");
}

const WRITE: &str = "tile[0][t] = 1;";
const READ: &str = "sum = sum + tile[0][63 - t];";

/// A loop with a barrier goes round where the loop around the later access does.
#[test]
fn loops_go_round_together() {
    let after = |first: &str, then: &str| {
        format!("{WRITE} for i in 0..{first} {{ sync_threads(); }} for j in 0..{then} {{ {READ} }}")
    };
    accepts(&after("n + m", "n"));
    accepts(&after("n", "n"));
    accepts(&after("n + 1", "m"));
    races(&after("n", "n + m"));
    races(&after("n", "m + 1"));
    races(&after("n", "m"));
}

/// What some thread of the block has been through is known of the block, and no more than that.
#[test]
fn guards_of_threads() {
    let after = |guard: &str| format!("if {guard} {{ {WRITE} }} for i in 0..n {{ sync_threads(); }} {READ}");
    accepts(&after("t < n"));
    accepts(&after("t + 1 < n"));
    races(&after("t <= n"));
    races(&after("t < m"));
    races(&after("t >= n"));
}

/// A variable that is assigned between is another number.
#[test]
fn bounds_are_assigned() {
    let after = |between: &str| {
        format!(
            "let mut a = n; {WRITE} for i in 0..a {{ sync_threads(); }} {between} for j in 0..a {{ {READ} }}"
        )
    };
    accepts(&after(""));
    accepts(&after("a = a.min(m);"));
    races(&after("a = a + 1;"));
    races(&after("a = m;"));
    races(&after("if flag { a = a + m; }"));
}

/// A barrier within two loops is met where both go round.
#[test]
fn nested_loops() {
    let after = |then: &str| {
        format!("{WRITE} for i in 0..n {{ for j in 0..m {{ sync_threads(); }} }} if {then} {{ {READ} }}")
    };
    accepts(&after("n > 0 && m > 0"));
    races(&after("n > 0"));
    races(&after("m > 0"));
}

/// Loops with a condition.
#[test]
fn loops_with_a_condition() {
    let after = |condition: &str, then: &str| {
        format!(
            "{WRITE} let mut i = 0; while {condition} {{ sync_threads(); i += 1; }} if {then} {{ {READ} }}"
        )
    };
    accepts(&after("i < n", "n > 0"));
    accepts(&after("i < n", "i > 0"));
    races(&after("i < n", "n + m > 0"));
    races(&after("i + 1 < n", "n > 0"));
    races(&after("i < n && flag", "n > 0"));
}

/// Where a loop's iterations are taken by what they leave modulo a number, a barrier that each of them meets is met by the first.
#[test]
fn stages_of_iterations() {
    let after = |guard: &str| {
        format!(
            "{WRITE} for i in 0..n {{ {guard} {{ sync_threads(); }} tile[i % 2][t] = 2; sync_threads(); }} for j in 0..n {{ {READ} }}"
        )
    };
    accepts(&after("if n > 0"));
    races(
        "tile[0][t] = 1; for i in 0..n { if i % 2 == 1 { sync_threads(); } } for j in 0..n { sum = sum + tile[0][63 - t]; }",
    );
}

/// A barrier on one side of a condition that the block agrees on.
#[test]
fn sides_of_conditions() {
    let after =
        |first: &str, then: &str| format!("{WRITE} if {first} {{ sync_threads(); }} if {then} {{ {READ} }}");
    accepts(&after("n > 2", "n > 3"));
    races(&after("n > 2", "n > 1"));
    accepts(&after("flag", "flag"));
    races(&after("flag", "!flag"));
    accepts(&format!("if n < 3 {{ {WRITE} }} if n < 4 {{ sync_threads(); }} {READ}"));
    races(&format!("if n < 5 {{ {WRITE} }} if n < 4 {{ sync_threads(); }} {READ}"));
    accepts(&format!("{WRITE} if n > 3 {{ if m > 3 {{ sync_threads(); }} }} if n > 3 && m > 4 {{ {READ} }}"));
    races(&format!("{WRITE} if n > 3 {{ if m > 3 {{ sync_threads(); }} }} if n > 3 || m > 4 {{ {READ} }}"));
}

/// What holds of one argument in two places, without a barrier between.
#[test]
fn arguments_agree() {
    let after = |first: &str, then: &str| format!("if {first} {{ {WRITE} }} if {then} {{ {READ} }}");
    accepts(&after("flag", "!flag"));
    races(&after("flag", "flag"));
    races(&after("flag", "n > 1 || !flag"));
}

/// A condition on the number of the iteration is about that one: the next has another.
#[test]
fn numbers_of_iterations() {
    let within = |guard: &str| {
        format!("for i in 0..n {{ if {guard} {{ sync_threads(); }} {READ} sync_threads(); {WRITE} }}")
    };
    accepts(&within("i > 0"));
    races(&within("i > 1"));
    races(&within("i == 0"));
    let ends = |guard: &str| format!("for i in 0..n {{ if {guard} {{ {WRITE} }} sync_warp(); }} {READ}");
    races(&ends("i == 0"));
    races(&ends("i + 1 < n"));
}

/// The last iteration of a loop is not the one in which an access was.
#[test]
fn last_iterations_are_others() {
    let after = |first: &str, then: &str| {
        format!(
            "let mut i = 0; while i < n {{ if {first} {{ tile[i.min(1)][t] = 1; }} i += 1; }} if {then} {{ {READ} }}"
        )
    };
    races(&after("i == 0", "i > 5"));
    races(
        "let mut wide = Shared::<[[u32; 64]; 8]>::new(); for k in 0..8 { wide[k][t] = 0; } sync_threads();
        let mut i = 0; while i < n { if i == 0 { wide[i][t] = 1; } i += 1; } if i > 5 { sum = wide[0][63 - t]; }",
    );
}

/// Barriers of a warp are behind what the first iteration does, and before what the only one does.
#[test]
fn first_and_last_iterations_of_a_warp() {
    let swap = "sum = sum + tile[0][t ^ 1];";
    races(&format!("{WRITE} for i in 0..n {{ {swap} sync_warp(); }}"));
    accepts(&format!("{WRITE} for i in 0..n {{ sync_warp(); {swap} }}"));
    races(&format!("for i in 0..n {{ sync_warp(); if i == 0 {{ {WRITE} }} }} {swap}"));
    accepts(&format!("for i in 0..n {{ if i == 0 {{ {WRITE} }} sync_warp(); }} {swap}"));
}

/// Behind a loop, it has ended after the iteration of an access, where that access is open there.
#[test]
fn loops_end_after_an_iteration() {
    let body = "tile[k % 2][t] = 1; sync_threads(); sum = sum + tile[k % 2][63 - t];";
    let counted = |then: &str| format!("for k in 0..n {{ {body} }} {then}");
    let conditional = |then: &str| format!("let mut k = 0; while k < n {{ {body} k += 1; }} {then}");
    for looped in [&counted as &dyn Fn(&str) -> String, &conditional] {
        accepts(&looped("tile[n % 2][t] = 2;"));
        accepts(&looped("tile[(n + 2) % 2][t] = 2;"));
        races(&looped("tile[(n + 1) % 2][t] = 2;"));
        races(&looped("tile[m % 2][t] = 2;"));
        races(&looped("tile[0][t] = 2;"));
    }
}

/// Where a loop does not go round, what its bound is made of is nothing.
#[test]
fn loops_that_do_not_go_round() {
    let around = |bound: &str, then: &str| {
        format!("tile[n % 2][t] = 1; for k in 0..{bound} {{ sync_threads(); }} tile[{then}][63 - t] = 2;")
    };
    accepts(&around("n + m", "1"));
    accepts(&around("n", "1"));
    races(&around("n + m", "0"));
    races(&around("m", "1"));
    races(&around("n / 2", "1"));
}
