//! Banks of shared memory. Offsets are in bytes, `t` is the lane.

use crate::harness::{Given, refused, run, wavefronts};
use expect_test::expect;
use tileproof_model::access::{Access, Operation, cost};
use tileproof_model::report::{Role, Space};

const WORDS: [&str; 2] = ["f32", "[f32; 1024]"];
const FILL: &str = "for k in 0..32 { t[32 * k + x] = v; }";

/// A load of 16 bytes a lane.
#[track_caller]
fn wide_load(index: &str, excess: u64) -> u64 {
    let access = format!("let four = t.read::<4>([{index}]); output.write([4 * x], four);");
    wavefronts(Role::Read, WORDS, FILL, &access, excess)
}

/// A load down a column of 32 rows.
#[track_caller]
fn column(element: &str, pitch: u32, layout: &str, excess: u64) -> u64 {
    let tile = format!("[[{element}; {pitch}]; 32]{layout}");
    let fill = format!(
        "for r in 0..32 {{ for c in (0..{pitch}).step_by(32) {{ if c + x < {pitch} {{ t[r][c + x] = v; }} }} }}"
    );
    wavefronts(Role::Read, [element, &tile], &fill, "let value = t[x][0]; output[[x]] = value;", excess)
}

/// Case 1: 16 bytes a lane at `16 (t mod 4)`. Neither lanes one apart nor two apart agree, so nothing merges although
/// all read 64 bytes; at `16 (⌊t/2⌋ mod 4)` pairs do.
#[test]
fn wide_loads_merge_by_pairs_only() {
    assert_eq!(wide_load("4 * (x % 4)", 0), 4);
    assert_eq!(wide_load("4 * (x / 2 % 4)", 0), 2);
}

/// Case 3: all lanes in one group of four banks, beside lanes in a row. The counter of conflicts is the wavefronts above four an instruction.
#[test]
fn conflicts_are_wavefronts_above_the_width() {
    let instructions = 8_844_480;
    let bad = wide_load("32 * x", 28);
    assert_eq!(instructions * bad, 283_023_360);
    assert_eq!(instructions * (bad - 4), 247_645_440);
    assert_eq!(instructions * wide_load("4 * x", 0), 35_377_920);
}

/// Case 4: 8 bytes a lane in a row take a wavefront for each half of the warp; where pairs agree, one.
#[test]
fn halves_merge_where_pairs_agree() {
    let load = |index: &str| {
        let access = format!("let two = t.read::<2>([{index}]); output.write([2 * x], two);");
        wavefronts(Role::Read, WORDS, FILL, &access, 0)
    };
    assert_eq!(load("2 * x"), 2);
    assert_eq!(load("2 * (x / 2)"), 1);
}

/// Case 6: lanes 0 and 15 alone, at one place. Partners that are missing count as equal.
#[test]
fn missing_partners_count_as_equal() {
    let access =
        "if x == 0 || x == 15 { let four = t.read::<4>([16]); if x == 0 { output.write([0], four); } }";
    assert_eq!(wavefronts(Role::Read, WORDS, FILL, access, 0), 1);
}

/// Case 8: what merges to two groups, each of which needs two wavefronts.
#[test]
fn merged_groups_may_conflict() {
    assert_eq!(wide_load("4 * (4 * (x / 16) + x % 16 / 8 + 8 * (x % 8 / 4))", 2), 4);
}

/// Case 10: a tile of 32 × 32 doubles, stored by columns and loaded by rows, and the same with rows of 33.
#[test]
fn columns_of_doubles() {
    for (pitch, store) in [(32, 32), (33, 2)] {
        let run = run(
            "block = [32], grid = [1], requires(input.len() >= 1024, output.len() >= 1024)",
            "input: &Tensor<f64, 1>, output: &mut Tensor<f64, 1>",
            &format!(
                "let mut t = Shared::<[[f64; {pitch}]; 32]>::new();
                let x = thread_x();
                for r in 0..32 {{
                    {}
                    t[x][r] = input[[32 * r + x]];
                }}
                sync_threads();
                for r in 0..32 {{
                    output[[32 * r + x]] = t[r][x];
                }}",
                crate::harness::budget("bank_conflict", store - 2)
            ),
            [1, 1, 1],
            &[Given::Zeros(&[1024]), Given::Zeros(&[1024])],
        );
        let (_, counts) = run.last(Space::Shared, Role::Write);
        assert_eq!(counts.wavefronts, 32 * store);
        let (_, counts) = run.last(Space::Shared, Role::Read);
        assert_eq!(counts.wavefronts, 32 * 2);
        // 524,288 loads in all.
        assert_eq!(counts.wavefronts / 32 * 524_288, 1_048_576);
        for role in [Role::Read, Role::Write] {
            let (_, counts) = run.last(Space::Global, role);
            assert_eq!(counts.sectors, 32 * 8);
        }
    }
}

/// Case 11: columns of a tile of 32 × 32 floats over a matrix of 512 × 512, with and without padding.
#[test]
fn columns_over_a_matrix() {
    for (layout, conflicts) in [("", 253_952), (", Pad<1>", 0)] {
        let run = run(
            "block = [32, 8], grid = [16, 16], requires(output.rows() == 512, output.cols() == 512)",
            "output: &mut Matrix<f32>, v: f32",
            &format!(
                "let mut t = Shared::<[[f32; 32]; 32]{layout}>::new();
                for k in (0..32).step_by(8) {{
                    t[thread_y() + k][thread_x()] = v;
                }}
                sync_threads();
                for k in (0..32).step_by(8) {{
                    {}
                    let value = t[thread_x()][thread_y() + k];
                    output[[32 * block_y() + thread_y() + k, 32 * block_x() + thread_x()]] = value;
                }}",
                crate::harness::budget("bank_conflict", conflicts / 8_192)
            ),
            [16, 16, 1],
            &[Given::Zeros(&[512, 512]), Given::Number(0)],
        );
        let (_, counts) = run.last(Space::Shared, Role::Read);
        assert_eq!(counts.instructions, 8_192);
        assert_eq!(counts.wavefronts - counts.ideal_wavefronts, conflicts);
    }
}

/// Case 12: a column, 8 warps, 10,000 times; and 16 bytes a lane in a row, which is no conflict although lanes 0, 8, 16 and 24
/// are in one bank.
#[test]
fn columns_of_eight_warps() {
    let run = run(
        "block = [256], grid = [1], requires(output.len() >= 256)",
        "output: &mut Tensor<f32, 1>, v: f32, n: usize",
        "let mut t = Shared::<[[f32; 32]; 32]>::new();
        let x = thread_x();
        for r in 0..4 {
            t[8 * r + x / 32][x % 32] = v;
        }
        sync_threads();
        let mut sum = 0.0;
        for k in 0..n {
            #[budget(bank_conflict = 31, because = \"the case\")]
            let value = t[x % 32][k % 32];
            sum += value;
        }
        output[[x]] = sum;",
        [1, 1, 1],
        &[Given::Zeros(&[256]), Given::Number(0), Given::Number(1_000)],
    );
    let (site, counts) = run.last(Space::Shared, Role::Read);
    assert_eq!(site.worst_excess_wavefronts, 31);
    // A tenth of the iterations.
    assert_eq!(10 * (counts.wavefronts - counts.ideal_wavefronts), 2_480_000);
    assert_eq!(wide_load("4 * x", 0), 4);
}

/// Case 14: every fourth word, by two blocks of a warp.
#[test]
fn strides_of_four_words() {
    let run = run(
        "block = [32], grid = [2], requires(output.len() >= 64)",
        "output: &mut Tensor<f32, 1>, v: f32",
        "let mut t = Shared::<[f32; 128]>::new();
        let x = thread_x();
        for k in 0..4 {
            t[32 * k + x] = v;
        }
        sync_threads();
        #[budget(bank_conflict = 3, because = \"the case\")]
        let value = t[4 * x];
        output[[32 * block_x() + x]] = value;",
        [2, 1, 1],
        &[Given::Zeros(&[64]), Given::Number(0)],
    );
    let (_, counts) = run.last(Space::Shared, Role::Read);
    assert_eq!(counts.wavefronts - counts.ideal_wavefronts, 6);
}

/// Case 15: stores of 16 bytes a lane in a row were feared to conflict four ways. A quarter of the warp takes a wavefront.
#[test]
fn wide_stores_in_a_row() {
    let access = "t.write([4 * x], Vector::new([v, v, v, v]));";
    assert_eq!(wavefronts(Role::Write, WORDS, "", access, 0), 4);
}

/// Case 17: words of a `[4][32]` tile to rows of four by one warp: four scalar stores conflict four ways each, one vector store
/// does not.
#[test]
fn a_vector_store_instead_of_four() {
    let words = ["u32", "[u32; 128]"];
    let scalar: u64 =
        (0..4).map(|i| wavefronts(Role::Write, words, "", &format!("t[4 * x + {i}] = v;"), 3)).sum();
    assert_eq!(scalar, 16);
    assert_eq!(wavefronts(Role::Write, words, "", "t.write([4 * x], Vector::new([v, v, v, v]));", 0), 4);
    let fill = "for k in 0..4 { t[32 * k + x] = v; }";
    let loads = (0..4).map(|i| {
        wavefronts(Role::Read, words, fill, &format!("let value = t[32 * {i} + x]; output[[x]] = value;"), 0)
    });
    assert_eq!(loads.sum::<u64>(), 4);
}

/// Case 19: two elements of 16 bits share a word, so the padding that mends a tile of words does not mend these.
#[test]
fn padding_of_narrow_elements() {
    for (pitch, passes) in [(64, 32), (65, 2), (66, 1), (33, 1)] {
        assert_eq!(column("f16", pitch, "", passes - 1), passes, "rows of {pitch}");
    }
}

/// Case 21: columns of words under several pitches and swizzles.
#[test]
fn columns_under_swizzles() {
    for (pitch, passes) in [(32, 32), (64, 32), (16, 16), (33, 1)] {
        assert_eq!(column("f32", pitch, "", passes - 1), passes, "rows of {pitch}");
    }
    for (layout, passes) in [("5, 0, 5", 1), ("3, 0, 5", 4), ("2, 0, 5", 8)] {
        assert_eq!(
            column("f32", 32, &format!(", Swizzle<{layout}>"), passes - 1),
            passes,
            "Swizzle<{layout}>"
        );
    }
}

/// Case 23: four matrices of 8 × 8 halves by `ldmatrix`, from rows of several pitches and under a swizzle.
#[test]
fn matrices_from_rows() {
    let load = |offset: &dyn Fn(u32, u32) -> u32| {
        let access = Access::full_warp(Operation::LoadMatrix, 4, |t| 2 * offset(t % 16, 8 * (t / 16)));
        cost(&access).wavefronts
    };
    for (pitch, passes) in [(64, 32), (72, 4), (32, 16), (40, 4), (16, 8), (24, 4)] {
        assert_eq!(load(&|row, column| pitch * row + column), passes, "rows of {pitch}");
    }
    assert_eq!(load(&|row, column| 64 * row + (column ^ (8 * (row % 8)))), 4);
}

/// Case 24: the tiles of the operands were swizzled, and the conflicts were in the mask's. Each tile is judged by itself.
#[test]
fn every_tile_is_judged() {
    let errors = refused(
        "block = [32], grid = [1], requires(output.len() >= 32)",
        "output: &mut Tensor<f32, 1>, v: f32",
        "let mut keys = Shared::<[[f32; 32]; 32], Xor<1>>::new();
        let mut mask = Shared::<[[f32; 32]; 32]>::new();
        let x = thread_x();
        for r in 0..32 {
            keys[r][x] = v;
            mask[r][x] = v;
        }
        sync_threads();
        let key = keys[x][0];
        output[[x]] = key + mask[x][0];",
    );
    expect![[r#"
        shared-memory bank conflict: 32 wavefronts where 1 is enough [TP0101]
    "#]]
    .assert_eq(&errors);
}
