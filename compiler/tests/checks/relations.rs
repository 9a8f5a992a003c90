//! What the variables of a loop keep to, from iteration to iteration.

use crate::harness::{check, kernel};
use expect_test::expect;

/// One thread with a tensor, and arguments `m` and `n`.
fn one(requires: &str, body: &str) -> String {
    let arguments = format!("block = [1], grid = [1], requires({requires})");
    kernel(&arguments, "t: &Tensor<f32, 1>, q: f32, o: &mut Tensor<f32, 1>, m: usize, n: usize", body)
}

fn search(head: &str, middle: &str, step: &str) -> String {
    one(
        "o.len() >= 1, n <= t.len()",
        &format!(
            "let mut lo = 0;
            let mut hi = n;
            while {head} {{
                let mid = {middle};
                if t[[mid]] < q {{ {step} }} else {{ hi = mid; }}
            }}
            if lo < n {{ o[[0]] = t[[lo]]; }}"
        ),
    )
}

#[test]
fn binary_search() {
    for middle in ["(lo + hi) / 2", "lo + (hi - lo) / 2"] {
        let out = crate::harness::outcome(&search("lo < hi", middle, "lo = mid + 1;"));
        assert!(out.starts_with("read `t[[mid]]`"), "{middle}: {out}");
    }
}

#[test]
fn binary_search_that_goes_too_far() {
    check(
        &search("lo <= hi", "(lo + hi) / 2", "lo = mid + 1;"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `mid < t.len()` [TP0402]
        help: guard it: `if mid < t.len() { … }`, or promise what bounds it in `requires(…)`
          at `t[[mid]]`
    "#]],
    );
    check(
        &search("lo < hi", "(lo + hi + 1) / 2", "lo = mid;"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `mid < t.len()` [TP0402]
        help: guard it: `if mid < t.len() { … }`, or promise what bounds it in `requires(…)`
          at `t[[mid]]`
    "#]],
    );
    check(
        &search("lo < hi", "(lo + hi) / 2", "lo = mid + 2;"),
        expect![[r#"
        read `t[[mid]]`: 1 × 4 B, 1/1 sectors
        read `t[[lo]]`: 1 × 4 B, 1/1 sectors
        write `o[[0]]`: 1 × 4 B, 1/1 sectors
        launch: o.len() >= 1
        launch: n <= t.len()
    "#]],
    );
}

/// What is left of a range is below its end: a sum of two variables.
#[test]
fn search_by_count() {
    let body = |step: &str| {
        one(
            "o.len() >= 1",
            &format!(
                "let mut first = 0;
                let mut count = t.len();
                while count > 0 {{
                    let step = count / 2;
                    let at = first + step;
                    if t[[at]] < q {{ first = at + 1; count -= {step}; }} else {{ count = step; }}
                }}"
            ),
        )
    };
    check(
        &body("step + 1"),
        expect![[r#"
        read `t[[at]]`: 1 × 4 B, 1/1 sectors
        launch: o.len() >= 1
    "#]],
    );
    check(
        &body("step"),
        expect![[r#"
        error: index arithmetic may overflow: `first + step` [TP0501]
        note: nothing here says how large the operands are
        help: state what bounds them in `requires(…)`, or guard it with a comparison
          at `first + step`
    "#]],
    );
}

#[test]
fn clamped_and_wrapped() {
    let body = |next: &str| {
        one(
            "o.len() >= 1, t.len() >= 1",
            &format!(
                "let mut at = 0;
                let mut sum = 0.0;
                for _i in 0..m {{
                    sum += t[[at]];
                    {next}
                }}
                o[[0]] = sum;"
            ),
        )
    };
    for next in [
        "at = (at + n % 8).min(t.len() - 1);",
        "at = (at + n % 8) % t.len();",
        "at += 1; if at == t.len() { at = 0; }",
        "if at + 1 < t.len() { at += 1; }",
        "at = if at > 0 { at - 1 } else { t.len() - 1 };",
    ] {
        let out = crate::harness::outcome(&body(next));
        assert!(out.starts_with("read `t[[at]]`"), "{next}: {out}");
    }
    check(
        &body("at = (at + 1).min(t.len());"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `at < t.len()` [TP0402]
        note: `at` depends on a value from memory or on arithmetic that may wrap
        help: guard it: `if at < t.len() { … }`, or promise what bounds it in `requires(…)`
          at `t[[at]]`
    "#]],
    );
    check(
        &body("at += 1; if at == n { at = 0; }"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `at < t.len()` [TP0402]
        note: `at` depends on a value from memory or on arithmetic that may wrap
        help: guard it: `if at < t.len() { … }`, or promise what bounds it in `requires(…)`
          at `t[[at]]`
        error: index arithmetic may overflow: `at += 1` [TP0501]
        note: nothing here says how large the operands are
        help: state what bounds them in `requires(…)`, or guard it with a comparison
          at `at += 1`
    "#]],
    );
}

/// A number that the kernel compares with bounds a variable.
#[test]
fn places_of_a_tile() {
    let body = |most: u32| {
        one(
            "o.len() >= 1",
            &format!(
                "let mut tile = Shared::<[f32; 16]>::new();
                let mut found = 0;
                for i in 0..t.len() {{
                    let x = t[[i]];
                    if x > q && found < {most} {{ tile[found] = x; found += 1; }}
                }}
                #[trust(initialised, because = \"all places below `found` were written\")]
                for i in 0..found {{ o[[0]] += tile[i]; }}"
            ),
        )
    };
    check(
        &body(16),
        expect![[r#"
            read `t[[i]]`: 1 × 4 B, 1/1 sectors
            write `tile[found]`: 1 × 4 B, 1/1 wavefronts
            read `tile[i]`: 1 × 4 B, 1/1 wavefronts
            read `o[[0]]`: 1 × 4 B, 1/1 sectors
            write `o[[0]]`: 1 × 4 B, 1/1 sectors
            shared: 64 bytes
            launch: o.len() >= 1
            granted: `tile[i]` (line 10) reads what has been written: all places below `found` were written
        "#]],
    );
    check(
        &body(17),
        expect![[r#"
            error: index may be out of bounds: nothing here says that `found < 16` [TP0401]
            note: `found < 17` is known, and `found < 16` is needed
            help: guard it: `if found < 16 { … }`, or promise what bounds it in `requires(…)`
              at `tile[found]`
            error: index may be out of bounds: nothing here says that `i < 16` [TP0401]
            note: `i < 17` is known, and `i < 16` is needed
            help: guard it: `if i < 16 { … }`, or promise what bounds it in `requires(…)`
              at `tile[i]`
        "#]],
    );
}

/// Loops that run as often as arguments say add as much to what is counted in them.
#[test]
fn counters_of_nested_loops() {
    let count = |requires: &str| {
        one(
            requires,
            "let mut at = 0;
            let mut sum = 0.0;
            for _i in 0..m {
                for _j in 0..n {
                    sum += t[[at]];
                    at += 1;
                }
            }
            o[[0]] = sum;",
        )
    };
    check(
        &count("o.len() >= 1, t.len() >= m * n"),
        expect![[r#"
        read `t[[at]]`: 1 × 4 B, 1/1 sectors
        write `o[[0]]`: 1 × 4 B, 1/1 sectors
        launch: o.len() >= 1
        launch: t.len() >= m * n
    "#]],
    );
    check(
        &count("o.len() >= 1, t.len() >= m * n - 1"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `at < t.len()` [TP0402]
        help: guard it: `if at < t.len() { … }`, or promise what bounds it in `requires(…)`
          at `t[[at]]`
    "#]],
    );
    check(
        &one(
            "o.len() >= 1, t.len() == m * n",
            "let mut row = 0;
            for _i in 0..m {
                for j in 0..n {
                    o[[0]] += t[[row + j]];
                }
                row += n;
            }",
        ),
        expect![[r#"
            read `t[[row + j]]`: 1 × 4 B, 1/1 sectors
            read `o[[0]]`: 1 × 4 B, 1/1 sectors
            write `o[[0]]`: 1 × 4 B, 1/1 sectors
            launch: o.len() >= 1
            launch: t.len() == m * n
        "#]],
    );
    check(
        &one("o.len() > n", "let mut at = 0; for _i in 0..n { at += 1; } o[[at]] = q;"),
        expect![[r#"
            write `o[[at]]`: 1 × 4 B, 1/1 sectors
            launch: o.len() > n
        "#]],
    );
    // As often as thread and iteration say.
    check(
        &one("o.len() >= n", "let mut at = 0; for i in 0..n { for _j in 0..i { at += 1; } } o[[at]] = q;"),
        expect![[r#"
            error: index arithmetic may overflow: `at += 1` [TP0501]
            note: nothing here says how large the operands are
            help: state what bounds them in `requires(…)`, or guard it with a comparison
              at `at += 1`
            error: index may be out of bounds: nothing here says that `at < o.len()` [TP0402]
            note: `at` depends on a value from memory or on arithmetic that may wrap
            help: guard it: `if at < o.len() { … }`, or promise what bounds it in `requires(…)`
              at `o[[at]]`
        "#]],
    );
}

/// What an iteration of an unrolled loop learns of a value holds in the next one.
#[test]
fn values_of_the_iteration_before() {
    let body = |next: &str| {
        one(
            "o.len() >= 1, t.len() >= 1, n >= 1",
            &format!("let mut at = 0; for _k in 0..4 {{ o[[0]] += t[[at]]; at = (at + m % 32) % {next}; }}"),
        )
    };
    check(
        &body("t.len()"),
        expect![[r#"
        read `t[[at]]`: 4 × 4 B, 4/4 sectors
        read `o[[0]]`: 4 × 4 B, 4/4 sectors
        write `o[[0]]`: 4 × 4 B, 4/4 sectors
        launch: o.len() >= 1
        launch: t.len() >= 1
        launch: n >= 1
    "#]],
    );
    check(
        &body("n"),
        expect![[r#"
        error: index may be out of bounds: nothing here says that `at < t.len()` [TP0402]
        note: `at < n` is known, and nothing says how `n` and `t.len()` compare
        help: promise it: `requires(t.len() >= n)`
          at `t[[at]]`
    "#]],
    );
}

/// Whole numbers: of 32 quotients below 1,024 each is below 32.
#[test]
fn quotients_of_what_is_bounded() {
    let body = |number: &str, most: u32| {
        one("o.len() >= 32", &format!("let i = {number};\nif i < {most} {{ o[[i / 32]] = q; }}"))
    };
    for number in ["n.max(1) - 1", "n.saturating_sub(m)", "n.min(m).max(3)", "n - n.min(m)"] {
        let out = crate::harness::outcome(&body(number, 1024));
        assert!(out.starts_with("write `o[[i / 32]]`"), "{number}: {out}");
        let out = crate::harness::outcome(&body(number, 1025));
        assert!(out.contains("[TP0402]"), "{number}: {out}");
    }
}
