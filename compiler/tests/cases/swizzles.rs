//! Swizzles, and how tiles are read as fragments.

use crate::harness::{accepted, refused, wavefronts};
use expect_test::expect;
use tileproof_compiler::ir::Layout;
use tileproof_model::access::{Access, Operation, cost};
use tileproof_model::report::Role;

/// Case 25: a transposing `ldmatrix` of halves from columns of 128, with bits 3 to 5 of the element changed by bits 7 to 9. The addresses
/// are clean; what the asker counted was something else.
#[test]
fn columns_of_halves_by_transposing_loads() {
    let layout = Layout::Swizzle { bits: 3, base: 3, shift: 4 };
    let load = |place: &dyn Fn(u32) -> u32| {
        let access = |t: u32| 2 * place(128 * (t % 8) + 8 * (t / 8));
        cost(&Access::full_warp(Operation::LoadMatrixTransposed, 4, access)).wavefronts
    };
    assert_eq!(load(&|element| element), 32);
    assert_eq!(load(&|element| layout.offset(&[1024], &[element])), 4);
}

/// Case 28: the swizzle of a span of `s` bytes as a formula: `a ⊕ (((a mod 8s) ≫ 7) ≪ 4)`.
#[test]
fn the_formula_of_a_span() {
    for (span, bits) in [(32, 1), (64, 2), (128, 3)] {
        // Of elements of two bytes.
        let layout = Layout::Swizzle { bits, base: 3, shift: 3 };
        assert_eq!(layout.defect(&[4096]), None);
        for element in 0..4096 {
            let byte: u32 = 2 * element;
            let formula = byte ^ (((byte % (8 * span)) >> 7) << 4);
            assert_eq!(2 * layout.offset(&[4096], &[element]), formula, "span {span}, byte {byte}");
        }
    }
}

/// Case 29: rows of 8 words repeat their banks after 4, so a block of 8 × 8 words is what a swizzle must permute: rows in groups of
/// four, by three bits. Two bits leave a conflict; no larger period is needed.
#[test]
fn a_block_as_large_as_the_banks_repeat() {
    let fill = "for k in 0..8 { t[4 * k + x / 8][x % 8] = v; }";
    for (bits, passes) in [(3, 1), (2, 2)] {
        let tile = format!("[[f32; 8]; 32], Swizzle<{bits}, 0, 5>");
        let access = "let value = t[x][0]; output[[x]] = value;";
        assert_eq!(wavefronts(Role::Read, ["f32", &tile], fill, access, passes - 1), passes);
    }
}

/// Case 30: rows of 96 halves do not consist of whole spans of 64, but of 32. A swizzle inside a row needs a row that it divides.
#[test]
fn rows_that_are_no_multiple_of_the_span() {
    let kernel = |tile: &str| {
        format!("let mut t = Shared::<{tile}>::new();\nfor r in 0..8 {{ t[r][thread_x()] = v; }}")
    };
    let errors = refused("block = [32], grid = [1]", "v: f16", &kernel("[[f16; 96]; 8], Xor<8>"));
    expect![[r#"
        `Xor<8>` is not a layout of this tile [TP0010]
    "#]]
    .assert_eq(&errors);
    accepted("block = [32], grid = [1]", "v: f16", &kernel("[[f16; 32]; 8], Xor<8>"));
    accepted("block = [32], grid = [1]", "v: f16", &kernel("[[f16; 64]; 8], Xor<8>"));
}
