//! What looks proven by a premise that does not hold: each kernel goes wrong for some input.

use crate::harness::kernel;
use tileproof_compiler::compile;

/// A warp over a tile of rows, initialised, with `n` at most 64.
fn rows(count: usize, parameters: &str, body: &str) -> String {
    kernel(
        "block = [32], grid = [1], requires(n <= 64, output.len() >= 4096, input.len() >= 4096)",
        &format!("n: usize, {parameters} input: &Tensor<u32, 1>, output: &mut Tensor<f32, 1>"),
        &format!(
            "let mut tile = Shared::<[[f32; 32]; {count}], RowMajor>::new();
            for i in 0..{count} {{ tile[i][thread_x()] = 1.0; }}
            sync_threads();
            let mut sum = 0.0;
            {body}
            output[[thread_x()]] = sum;"
        ),
    )
}

fn split(source: &str) -> (&str, &str) {
    let (attribute, item) = source.split_once(")]\n").expect("an attribute on a line of its own");
    (attribute.trim_start_matches("#[tiled_kernel("), item)
}

#[track_caller]
fn refused(source: &str, why: &str) {
    let (attribute, item) = split(source);
    match compile(attribute, item) {
        Ok(_) => panic!("accepted:\n{source}"),
        Err(errors) => assert!(errors.contains(why), "{errors}\nin\n{source}"),
    }
}

/// Whether a kernel that must be accepted may use 32-bit indices.
#[track_caller]
fn narrow(source: &str) -> bool {
    let (attribute, item) = split(source);
    match compile(attribute, item) {
        Ok(compiled) => compiled.cuda.contains("TILEPROOF_WIDE"),
        Err(errors) => panic!("{errors}\nin\n{source}"),
    }
}

#[test]
fn a_vector_at_an_edge_is_where_the_edge_is() {
    let read = |place: &str| rows(4, "m: usize,", &format!("let v: Vector<f32, 4> = {place}; sum += v[0];"));
    refused(&read("tile.read::<4>([0, (4 * thread_x() % 32).min(n % 29)])"), "TP0301");
    refused(&read("tile.read::<4>([0, if n > 5 { 4 * (thread_x() % 8) } else { 5 }])"), "TP0301");
    refused(&read("tile.read::<4>([(4 * thread_x() / 32).min(n % 4), 3])"), "TP0301");
    narrow(&read("tile.read::<4>([0, (4 * (thread_x() % 8)).min(4 * (n % 8))])"));
    narrow(&read("tile.read::<4>([0, if n > 5 { 4 * (thread_x() % 8) } else { 8 }])"));
}

#[test]
fn a_condition_differs_where_its_parts_do() {
    for condition in [
        "thread_x() < n || thread_x() > m",
        "!(thread_x() < n && thread_x() < m)",
        "(thread_x() < n) ^ (thread_x() < m)",
        "(thread_x() < n) == (thread_x() < m)",
        "(n < m) ^ (input[[thread_x()]] < 3)",
    ] {
        let body =
            format!("let c = if {condition} {{ 0 }} else {{ 31 }}; sum += tile[0][(thread_x() + c) % 32];");
        refused(&rows(4, "m: usize,", &body), "cannot be ruled out");
    }
    for condition in ["n < 5 || m > 6", "!(n < m && n > 2)", "(n < 3) ^ (m < 3)"] {
        let body = format!("let c = if {condition} {{ 0 }} else {{ 1 }}; sum += tile[c][thread_x()];");
        narrow(&rows(4, "m: usize,", &body));
    }
}

#[test]
fn a_carried_condition_differs_where_its_new_value_does() {
    let body = |new: &str| {
        format!(
            "let mut flag = false;
            for k in 0..n {{
                let c = if flag {{ 0 }} else {{ 31 }};
                sum += tile[c / 31][thread_x()] + tile[0][(thread_x() * (1 - c / 31) + c) % 32];
                flag = {new};
            }}"
        )
    };
    refused(&rows(4, "m: usize,", &body("input[[thread_x()]] > 0")), "cannot be ruled out");
    refused(&rows(4, "m: usize,", &body("thread_x() < m || flag")), "cannot be ruled out");
    let after = "let mut flag = false;
        for k in 0..n { flag = input[[thread_x()]] > 0; }
        let c = if flag { 0 } else { 31 };
        sum += tile[c / 31][thread_x() * (c / 31)];";
    refused(&rows(4, "", after), "cannot be ruled out");
    let uniform = "let mut flag = false;
        for k in 0..n { sum += tile[if flag { 1 } else { 0 }][thread_x()]; flag = k > 5 || !flag; }";
    narrow(&rows(4, "", uniform));
}

#[test]
fn what_iterations_of_one_residue_do_is_not_done_by_all() {
    let moved = "let mut x = 0;
        for k in 0..n {
            sum += tile[k % 2][thread_x()];
            if k % 2 == 1 { sum += tile[x][thread_x()]; } else { x += 5; }
        }";
    refused(&rows(2, "", moved), "`x < 2`");
    let varying = "let mut x = 0;
        for k in 0..n {
            sum += tile[k % 2][thread_x()];
            if k % 2 == 1 { sum += tile[0][(thread_x() + x % 32) % 32]; x = 0; } else { x = input[[thread_x()]] as usize % 32; }
        }";
    refused(&rows(2, "", varying), "cannot be ruled out");
    let all = "let mut x = 0;
        for k in 0..n { sum += tile[k % 2][thread_x()]; output[[x + thread_x()]] = 1.0; x += 32; }";
    narrow(&rows(2, "", all));
}

#[test]
fn a_guess_about_a_loop_holds_for_the_values_that_occur() {
    for new in ["x.max(0) + 1", "if x < 0 { 1 } else { x + 1 }"] {
        let body = format!(
            "let mut x: i64 = -5;
            for k in 0..n {{ if k < 10 {{ sum += tile[x.max(0) as usize][thread_x()]; x = {new}; }} }}"
        );
        refused(&rows(5, "", &body), "may be out of bounds");
    }
}

#[test]
fn lanes_that_divide_by_zero_and_overflow() {
    refused(&rows(4, "", "sum += tile[(8 / thread_x()) % 4][thread_x()];"), "by zero: `8 / thread_x()`");
    refused(&rows(4, "", "sum += tile[(8 % thread_x()) % 4][thread_x()];"), "by zero: `8 % thread_x()`");
    refused(&rows(4, "", "sum += tile[thread_x() * 0x4000_0000_0000_0000 % 4][thread_x()];"), "may overflow");
    refused(&rows(4, "m: usize,", "sum += tile[(n << m) % 4][thread_x()];"), "may overflow: `n << m`");
    narrow(&rows(4, "m: usize,", "if m < 5 { sum += tile[(n << m) / 1024][thread_x()]; }"));
    narrow(&rows(4, "m: usize,", "sum += tile[(n >> m) / 17][thread_x()];"));
}

#[test]
fn what_does_not_fit_32_bits_is_not_computed_in_32() {
    for index in ["k as usize % 4", "i as usize % 4", "!n % 4", "(n as i64 - 9) as usize % 4"] {
        let body = format!("sum += tile[{index}][thread_x()];");
        assert!(!narrow(&rows(4, "k: u64, i: i32,", &body)), "{index}");
    }
    for index in ["k as usize % 4", "n as u32 as usize % 4", "i as usize % 4", "n >> (n % 4) >> 5"] {
        let body = format!("if i >= 0 {{ sum += tile[{index}][thread_x()]; }}");
        assert!(narrow(&rows(4, "k: u8, i: i32,", &body)), "{index}");
    }
}

/// Variables that a loop changes stay known as far as what the loop does allows.
#[test]
fn carried_variables() {
    let toggled = |first: &str, new: &str| {
        rows(
            3,
            "m: usize,",
            &format!(
                "let mut p = {first}; for k in 0..n {{ sum += tile[p][thread_x()]; p = {new}; }} sum += tile[p][thread_x()];"
            ),
        )
    };
    for new in ["1 - p", "p ^ 1", "(p + 1) % 3", "if p + 1 < 3 { p + 1 } else { 0 }"] {
        narrow(&toggled("0", new));
    }
    narrow(&toggled("1", "if p > 1 { 1 } else { 1 - p }"));
    refused(&toggled("0", "p + 1"), "may be out of bounds");
    refused(&toggled("2", "p ^ 1"), "may be out of bounds");
    refused(&toggled("4", "p % 3"), "may be out of bounds");
    let swapped = "let (mut a, mut b) = (0, 2);
        for k in 0..n { sum += tile[a][thread_x()] + tile[b][thread_x()]; let t = a; a = b; b = t; }";
    narrow(&rows(3, "", swapped));
    let counted = |most: usize, more: &str| {
        rows(
            most,
            "",
            &format!(
                "let mut count = 0; for k in 0..n {{ if k < 10 {{ if input[[k]] > 3 {{ count += 1; }} else {{ {more} }} }} }} if n < 5 {{ sum += tile[count][thread_x()]; }}"
            ),
        )
    };
    refused(&counted(5, "count += 2;"), "may be out of bounds");
    let inside = |rows_: usize, more: &str| {
        rows(
            rows_,
            "",
            &format!(
                "let mut count = 0; for k in 0..n.min(4) {{ sum += tile[count][thread_x()]; if input[[k]] > 3 {{ count += 1; }} else {{ {more} }} }} sum += (count + 1) as f32;"
            ),
        )
    };
    narrow(&inside(4, ""));
    narrow(&inside(7, "count += 2;"));
    refused(&inside(6, "count += 2;"), "may be out of bounds");
}

/// What defines a value outlives the branch in which it was computed.
#[test]
fn values_of_branches() {
    narrow(&rows(7, "m: usize,", "let p = if n > 5 { m % 7 } else { 0 }; sum += tile[p][thread_x()];"));
    narrow(&rows(
        7,
        "m: usize,",
        "let mut p = 0; if thread_x() < 32 { p = m % 7; } sum += tile[p][thread_x()];",
    ));
    refused(
        &rows(7, "m: usize,", "let p = if n > 5 { m % 8 } else { 0 }; sum += tile[p][thread_x()];"),
        "may be out of bounds",
    );
}

#[test]
fn how_often_a_thread_goes_round_may_depend_on_data() {
    let body = "let mut wide = Shared::<[f64; 32], RowMajor>::new();
        wide[thread_x()] = 1.0;
        sync_threads();
        for k in 0..input[[thread_x()]] { sum += wide[thread_x() ^ 2] as f32; }";
    refused(&rows(1, "", body), "is decided at run time");
}

/// What a later part of an expression assigns does not change an earlier one.
#[test]
fn order_of_evaluation() {
    let value = |body: &str, is: usize| {
        let body = format!("let mut x = 3; {body} sum += tile[100 + y][thread_x()];");
        refused(&rows(3, "m: usize,", &body), &format!("is {}", 100 + is));
    };
    value("let y = x + ({ x = 5; x });", 8);
    value("let y = x + (1 + { x = 5; x });", 9);
    value("let y = x + { if m > 3 { x = 5; } 1 };", 4);
    value("let y = x.max({ x = 1; 2 });", 3);
    value("let (y, _) = (x, { x = 5; x });", 3);
    value("let (y, _) = ((x, 1), { x = 5; x }); let (y, _) = y;", 3);
    value("let y = if x < { x = 2; 3 } { 0 } else { 1 };", 1);
    value("let mut y = 0; for _ in x..({ x = 5; 5 }) { y += 1; }", 2);
    refused(&rows(3, "", "let mut x = 3; sum += tile[x + 100][{ x = 5; x }];"), "is 103");
    value("let mut y = 4; y += { y = 6; 1 };", 7);
    let write = "let mut x = 3; tile.write([x + 100, 0], { x = 5; Vector::new([1.0, 2.0]) });";
    refused(&rows(3, "", write), "is 103");
}

#[test]
fn products_of_one_factor() {
    let gather = |condition: &str, index: &str| {
        kernel(
            "block = [32], grid = [m.div_ceil(32)], requires(input.len() >= m * s)",
            "m: usize, s: usize, input: &Tensor<u32, 1>, output: &mut Tensor<u32, 1>",
            &format!(
                "let i = block_x() * 32 + thread_x();
                if {condition} && i < output.len() {{ #[budget(excess_sectors = 28, because = \"strided\")] {{ output[[i]] = input[[{index}]]; }} }}"
            ),
        )
    };
    narrow(&gather("i < m && s > 0", "i * s"));
    narrow(&gather("i < m && s > 2", "i * s + 2"));
    refused(&gather("i < m", "i * s"), "may be out of bounds");
    refused(&gather("i < m && s > 2", "i * s + 3"), "may be out of bounds");
    refused(&gather("i <= m && s > 2", "i * s"), "may");
}

/// A condition that holds loads says what its parts say.
#[test]
fn conditions_with_loads() {
    let guarded = |condition: &str, body: &str| {
        rows(3, "m: usize,", &format!("let i = thread_x() + n * m.min(900); if {condition} {{ {body} }}"))
    };
    let load = "input[[i]] > 3";
    let (inside, outside) = (
        "#[trust(race, because = \"another matter\")] output[[i]] = 1.0;",
        "} else { #[trust(race, because = \"another matter\")] output[[i]] = 1.0;",
    );
    narrow(&guarded(&format!("i < input.len() && {load} && i < output.len() && {load}"), inside));
    narrow(&guarded(&format!("i < output.len() && i < input.len() && {load}"), inside));
    narrow(&guarded(&format!("n > 3 && i < output.len() && (i < input.len() && {load})"), inside));
    narrow(&guarded(&format!("i >= input.len() || {load} || i >= output.len()"), outside));
    refused(&guarded(&format!("i < input.len() && {load} || i < output.len()"), inside), "TP0402");
    refused(&guarded(&format!("i >= input.len() || {load} || i < output.len()"), outside), "TP0402");
    refused(&guarded(&format!("!(i < output.len() && i < input.len() && {load})"), inside), "TP0402");
    let kept = |then: &str| {
        rows(
            3,
            "m: usize,",
            &format!(
                "let i = thread_x() + n * m.min(900); let ok = i < output.len() && i < input.len() && {load}; {then}"
            ),
        )
    };
    narrow(&kept("if ok { #[trust(race, because = \"another matter\")] output[[i]] = 1.0; }"));
    narrow(&kept(
        "let no = !ok; if !no && n > 3 { #[trust(race, because = \"another matter\")] output[[i]] = 1.0; }",
    ));
    refused(&kept("if !ok { output[[i]] = 1.0; }"), "TP0402");
    refused(&kept("let mut ok = ok; if n > 3 { ok = true; } if ok { output[[i]] = 1.0; }"), "TP0402");
    refused(&kept("let i = i + 1; if ok { output[[i]] = 1.0; }"), "TP0402");
}
