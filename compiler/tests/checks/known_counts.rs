//! Counts that others measured or derived, as kernels. Where a count has an excess, the budget that covers it is as tight as
//! it can be, so the kernel also shows that the compiler accepts no less and no more.

use crate::harness::{kernel, sites};
use tileproof_model::report::{SiteReport, Space};

fn budget(key: &str, excess: u64) -> String {
    match excess {
        0 => String::new(),
        _ => format!("#[budget({key} = {excess}, because = \"a known count\")]"),
    }
}

/// Demands the counts of the only shared access of one warp.
#[track_caller]
fn shared(tile: &str, statement: &str, wavefronts: u64, ideal: u64) {
    // A tile of which nothing is written, so that there is one access.
    let trust = match statement.starts_with("let ") {
        true => "#[trust(initialised, because = \"any value has the same place\")]",
        false => "",
    };
    let source = kernel(
        "block = [32], grid = [1]",
        "f: f32, d: f64, i: u32, s: u16, b: u8",
        &format!(
            "let mut t = Shared::<{tile}>::new();
            let x = thread_x();
            {trust}
            {}
            {statement}",
            budget("bank_conflict", wavefronts - ideal)
        ),
    );
    let sites = sites(&source);
    let [site] = sites.as_slice() else { panic!("one access") };
    assert_eq!(
        (site.instructions, site.wavefronts, site.ideal_wavefronts),
        (1, wavefronts, ideal),
        "{source}"
    );
}

/// Demands the counts of the only global access of a block.
#[track_caller]
fn global(block: &str, element: &str, statement: &str, sectors: u64, ideal: u64) -> SiteReport {
    let warps = 1;
    let source = kernel(
        &format!(
            "block = {block}, grid = [1], requires(input.len() >= 1048576, matrix.rows() >= 64, matrix.cols() >= 64)"
        ),
        &format!("input: &Tensor<{element}, 1>, matrix: &Matrix<{element}>"),
        &format!(
            "let x = thread_x();
            {}
            {statement}",
            budget("excess_sectors", (sectors - ideal) / warps)
        ),
    );
    let sites = sites(&source);
    let [site] = sites.as_slice() else { panic!("one access") };
    assert_eq!(site.space, Space::Global);
    assert_eq!((site.sectors, site.ideal_sectors), (sectors, ideal), "{source}");
    site.clone()
}

/// `t[stride * lane]` in words: as many passes as gcd(stride, 32).
#[test]
fn strides_of_words() {
    shared("[f32; 2048]", "#[trust(race, because = \"the values are equal\")] t[0 * x] = f;", 1, 1);
    shared("[f32; 2048]", "let _y = t[0 * x];", 1, 1);
    for (stride, passes) in [(1, 1), (2, 2), (4, 4), (8, 8), (16, 16), (31, 1), (32, 32), (33, 1)] {
        shared("[f32; 2048]", &format!("t[{stride} * x] = f;"), passes, 1);
        shared("[f32; 2048]", &format!("let _y = t[{stride} * x];"), passes, 1);
    }
}

#[test]
fn columns_of_tiles() {
    for (pitch, passes) in [(32, 32), (64, 32), (16, 16), (33, 1), (48, 16)] {
        shared(&format!("[[f32; {pitch}]; 32]"), "let _y = t[x][0];", passes, 1);
    }
    for (swizzle, passes) in [("5, 0, 5", 1), ("3, 0, 5", 4), ("2, 0, 5", 8), ("4, 0, 5", 2)] {
        shared(&format!("[[f32; 32]; 32], Swizzle<{swizzle}>"), "let _y = t[x][0];", passes, 1);
    }
    shared("[[f32; 32]; 32], Pad<1>", "let _y = t[x][7];", 1, 1);
    shared("[[f32; 32]; 32], Xor<1>", "let _y = t[x][7];", 1, 1);
}

/// Two elements of 16 bits share a word, so the pad that mends a tile of words does not mend these.
#[test]
fn columns_of_narrow_elements() {
    for (pitch, passes) in [(64, 32), (65, 2), (66, 1), (33, 1)] {
        shared(&format!("[[u16; {pitch}]; 32]"), "t[x][0] = s;", passes, 1);
    }
    for (pitch, passes) in [(32, 8), (36, 1), (128, 32), (132, 1)] {
        shared(&format!("[[u8; {pitch}]; 32]"), "t[x][0] = b;", passes, 1);
    }
    shared("[u8; 32]", "t[x] = b;", 1, 1);
    shared("[u16; 64]", "t[2 * x] = s;", 1, 1);
}

#[test]
fn columns_of_doubles() {
    shared("[[f64; 32]; 32]", "t[x][0] = d;", 32, 2);
    shared("[[f64; 33]; 32]", "t[x][0] = d;", 2, 2);
    shared("[[f64; 32]; 32], Pad<1>", "let _y = t[x][5];", 2, 2);
    shared("[[f64; 32]; 32]", "let _y = t[0][x];", 2, 2);
}

#[test]
fn sectors_of_strides() {
    for (stride, sectors) in [(1, 4), (2, 8), (3, 12), (4, 16), (8, 32), (32, 32), (4096, 32)] {
        global("[32]", "f32", &format!("let _y = input[[{stride} * x]];"), sectors, 4);
    }
    global("[32]", "f32", "let _y = input[[0]];", 1, 1);
    global("[32]", "u8", "let _y = input[[x]];", 1, 1);
    global("[32]", "u16", "let _y = input[[x]];", 2, 2);
    global("[32]", "f64", "let _y = input[[x]];", 8, 8);
    // One of three doubles.
    global("[32]", "f64", "let _y = input[[3 * x]];", 24, 8);
    // One of four floats of a structure, and the whole structure.
    global("[32]", "f32", "let _y = input[[4 * x + 1]];", 16, 4);
    global("[32]", "f32", "let _y = input.read::<4>([4 * x]);", 16, 16);
    // A row a lane: as bad for vectors as for scalars, which move less.
    global("[32]", "f32", "let _y = input.read::<4>([4096 * x]);", 32, 16);
}

/// Where the view starts is not known, so a shifted copy is judged at its best alignment.
#[test]
fn shifted_copies() {
    for shift in 0..33 {
        global("[32]", "f32", &format!("let _y = input[[x + {shift}]];"), 4, 4);
    }
}

/// Rows of 12 floats take a sector and a half: two rows and a half in the first warp need 2 + 2 + 1 sectors,
/// and the two parts of a row that the end of a warp cuts one each.
#[test]
fn rows_of_twelve() {
    let site = global("[12, 8]", "f32", "let _y = matrix[[thread_y(), x]];", 5 + 6 + 5, 5 + 6 + 5);
    assert_eq!(site.instructions, 3);
    assert_eq!(site.shortest_run_bytes, 16);
}
