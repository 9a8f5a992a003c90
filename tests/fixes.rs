//! What an error's help says is true: applied to the source, it compiles, and the report has the numbers that it named.

use expect_test::{Expect, expect};
use tileproof::report::Report;
use tileproof_compiler::compile;

/// The attribute of a kernel that takes these claims for granted, because its layout is the subject.
fn attribute(claims: &str) -> String {
    let trust = match claims {
        "" => String::new(),
        _ => format!(", trust({claims}, because = \"the layout is the subject\")"),
    };
    format!("block = [32, 8], grid = [1], requires(output.rows() >= 64, output.cols() >= 64){trust}")
}

/// A kernel whose tile has the type `ty`.
fn kernel(ty: &str, statements: &str) -> String {
    format!(
        "fn kernel(output: &mut Matrix<f32>) {{\nlet mut tile = {}::new();\n{statements}\n}}",
        ty.replacen('<', "::<", 1)
    )
}

/// The error of a kernel with a tile of type `ty`; every layout that a help names is tried.
#[track_caller]
fn mends(claims: &str, ty: &str, statements: &str, error: Expect, reports: Expect) {
    let attribute = attribute(claims);
    let text = compile(&attribute, &kernel(ty, statements)).expect_err("an error");
    error.assert_eq(&text);
    let mut costs = String::new();
    for help in text.lines().filter_map(|line| line.strip_prefix("help: `Shared")) {
        let (rest, then) = help.split_once('`').expect("a type in backquotes");
        let fixed = format!("Shared{rest}");
        let source = kernel(&fixed, &without_budgets(then, statements));
        match compile(&attribute, &source) {
            Ok(compiled) => costs += &format!("{fixed}: {}\n", cost(&compiled.report)),
            Err(error) => panic!("the help does not compile: {source}\n{error}"),
        }
    }
    reports.assert_eq(&costs);
}

/// The statements after what a help says of budgets, by their lines; statements begin on line 3.
fn without_budgets(then: &str, statements: &str) -> String {
    let mut lines: Vec<String> = statements.lines().map(str::to_owned).collect();
    for part in then.split("; ").skip(1) {
        let words: Vec<&str> = part.split(' ').collect();
        let line = words.iter().position(|word| *word == "line").map(|place| words[place + 1]);
        let line = line.and_then(|line| line.parse::<usize>().ok()).expect("the line of a budget") - 3;
        match words.as_slice() {
            ["remove", ..] => lines[line].clear(),
            ["lower", .., "to", number, "then"] => {
                lines[line] = format!("#[budget(bank_conflict = {number}, because = \"a test\")]");
            }
            _ => panic!("{part}"),
        }
    }
    lines.join("\n")
}

/// Wavefronts a warp instruction of each shared access, and the bytes of the tile.
fn cost(report: &Report) -> String {
    let mut text = String::new();
    for site in report.sites.iter().filter(|site| site.wavefronts > 0) {
        text += &format!("{} {} at line {}, ", site.role, site.wavefronts / site.instructions, site.line);
    }
    format!("{text}{} bytes", report.tiles[0].bytes)
}

#[test]
fn one_column_and_several_rows() {
    mends(
        "race, initialised",
        "Shared<[[f32; 32]; 32]>",
        "tile[thread_y()][thread_x()] = 1.0;
        tile[thread_y() + 8][thread_x()] = 1.0;
        output[[thread_y(), thread_x()]] = tile[thread_x()][thread_y()];
        output[[thread_y() + 8, thread_x()]] = tile[thread_y()][thread_x()];",
        expect![[r#"
            line 5: shared-memory bank conflict: 32 wavefronts where 1 is enough [TP0101]
            note: lanes 0, 1, 2, … 31 of warp 0 read words 0, 32, 64, … 992: 32 words of bank 0
            help: `Shared<[[f32; 32]; 32], Pad<1>>` makes this 1, and the stores on lines 3 and 4 and the load on line 6 stay at 1 (4,224 bytes)
            help: `Shared<[[f32; 32]; 32], Xor<1>>` likewise, in 4,096 bytes"#]],
        expect![[r#"
            Shared<[[f32; 32]; 32], Pad<1>>: store 1 at line 3, store 1 at line 4, load 1 at line 5, load 1 at line 6, 4224 bytes
            Shared<[[f32; 32]; 32], Xor<1>>: store 1 at line 3, store 1 at line 4, load 1 at line 5, load 1 at line 6, 4096 bytes
        "#]],
    );
}

/// The worst conflict is not the only one.
#[test]
fn others_improve_too() {
    mends(
        "",
        "Shared<[[f32; 32]; 32]>",
        "tile[thread_x()][thread_y()] = 1.0;
        output[[thread_y(), thread_x()]] = tile[thread_x()][thread_y()];",
        expect![[r#"
            line 3: shared-memory bank conflict: 32 wavefronts where 1 is enough [TP0101]
            note: lanes 0, 1, 2, … 31 of warp 0 write words 0, 32, 64, … 992: 32 words of bank 0
            note: likewise the load on line 4
            help: `Shared<[[f32; 32]; 32], Pad<1>>` makes this 1, and the load on line 4 goes from 32 to 1 (4,224 bytes)
            help: `Shared<[[f32; 32]; 32], Xor<1>>` likewise, in 4,096 bytes"#]],
        expect![[r#"
            Shared<[[f32; 32]; 32], Pad<1>>: store 1 at line 3, load 1 at line 4, 4224 bytes
            Shared<[[f32; 32]; 32], Xor<1>>: store 1 at line 3, load 1 at line 4, 4096 bytes
        "#]],
    );
}

/// A budget on one access that a layout would make loose.
#[test]
fn budgets_that_become_loose() {
    mends(
        "initialised",
        "Shared<[[f32; 32]; 32]>",
        "#[budget(bank_conflict = 31, because = \"a test\")]
        output[[thread_y(), thread_x()]] = tile[thread_x()][thread_y()];
        tile[thread_x()][thread_y() + 8] = 1.0;",
        expect![[r#"
            line 5: shared-memory bank conflict: 32 wavefronts where 1 is enough [TP0101]
            note: lanes 0, 1, 2, … 31 of warp 0 write words 8, 40, 72, … 1000: 32 words of bank 8
            help: `Shared<[[f32; 32]; 32], Pad<1>>` makes this 1, and the load on line 4 goes from 32 to 1 (4,224 bytes); remove the budget on line 3 then
            help: `Shared<[[f32; 32]; 32], Xor<1>>` likewise, in 4,096 bytes; remove the budget on line 3 then"#]],
        expect![[r#"
            Shared<[[f32; 32]; 32], Pad<1>>: load 1 at line 4, store 1 at line 5, 4224 bytes
            Shared<[[f32; 32]; 32], Xor<1>>: load 1 at line 4, store 1 at line 5, 4096 bytes
        "#]],
    );
}

#[test]
fn stages_and_vectors() {
    mends(
        "",
        "Shared<[[[f32; 64]; 16]; 2], Pad<1>>",
        "for stage in 0..2 {
        tile.write([stage, thread_y(), 2 * thread_x()], Vector::new([1.0, 2.0]));
        output.write([thread_y(), 2 * thread_x()], tile.read::<2>([stage, thread_y(), 2 * thread_x()]));
        }",
        expect![[r#"
            line 4: misaligned vector access: 8 bytes a lane, at places in `tile` that are not multiples of 8 [TP0301]
            note: a row of `Shared<[[[f32; 64]; 16]; 2], Pad<1>>` takes 260 bytes, which is no multiple of 8
            note: likewise the load on line 5
            help: `Shared<[[[f32; 64]; 16]; 2]>` aligns every access to `tile`, without bank conflicts (8,192 bytes)
            help: `Shared<[[[f32; 64]; 16]; 2], Xor<2>>` likewise, in 8,192 bytes"#]],
        expect![[r#"
            Shared<[[[f32; 64]; 16]; 2]>: store 2 at line 4, load 2 at line 5, 8192 bytes
            Shared<[[[f32; 64]; 16]; 2], Xor<2>>: store 2 at line 4, load 2 at line 5, 8192 bytes
        "#]],
    );
}

/// No architecture has more than these 227 KB: padding would not fit.
#[test]
fn a_tile_that_cannot_grow() {
    mends(
        "initialised",
        "Shared<[[f32; 64]; 908]>",
        "output[[thread_y(), thread_x()]] = tile[thread_x()][thread_y()];",
        expect![[r#"
            line 3: shared-memory bank conflict: 32 wavefronts where 1 is enough [TP0101]
            note: lanes 0, 1, 2, … 31 of warp 0 read words 0, 64, 128, … 1984: 32 words of bank 0
            help: `Shared<[[f32; 64]; 908], Xor<1>>` makes this 1 (232,448 bytes)"#]],
        expect![[r#"
            Shared<[[f32; 64]; 908], Xor<1>>: load 1 at line 3, 232448 bytes
        "#]],
    );
}

/// A flat tile has no padding; of rows, columns and diagonals of a square, a swizzle frees only two.
#[test]
fn no_layout() {
    mends(
        "initialised",
        "Shared<[f32; 1024]>",
        "output[[thread_y(), thread_x()]] = tile[32 * thread_x()];
        output[[thread_y() + 8, thread_x()]] = tile[33 * thread_x()];
        output[[thread_y() + 16, thread_x()]] = tile[31 * thread_x()];
        output[[thread_y() + 24, thread_x()]] = tile[thread_x()];",
        expect![[r#"
            line 3: shared-memory bank conflict: 32 wavefronts where 1 is enough [TP0101]
            note: lanes 0, 1, 2, … 31 of warp 0 read words 0, 32, 64, … 992: 32 words of bank 0
            note: no padding up to 32 elements and no swizzle of `Shared<[f32; 1024]>` makes every access to it conflict-free
            help: change which thread accesses which element, or accept the cost: `#[budget(bank_conflict = 31, because = "…")]` on the statement"#]],
        expect![[r#""#]],
    );
}
