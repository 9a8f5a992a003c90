//! Access patterns that people asked about in public, with the answer that is known to be right.

use tileproof_model::access::{Access, Cost, Operation, cost};
use tileproof_model::banks::bank_conflict;

fn wavefronts(operation: Operation, width: u32, offset: impl Fn(u32) -> u32) -> u32 {
    cost(&Access::full_warp(operation, width, offset)).wavefronts
}

fn load(width: u32, offset: impl Fn(u32) -> u32) -> u32 {
    wavefronts(Operation::LoadShared, width, offset)
}

fn store(width: u32, offset: impl Fn(u32) -> u32) -> u32 {
    wavefronts(Operation::StoreShared, width, offset)
}

fn global(width: u32, offset: impl Fn(u32) -> u32) -> Cost {
    let read = cost(&Access::full_warp(Operation::LoadGlobal, width, &offset));
    let written = cost(&Access::full_warp(Operation::StoreGlobal, width, &offset));
    assert_eq!(read, written);
    read
}

/// CuTe's `Swizzle<bits, base, shift>` of an element index.
fn swizzle(index: u32, bits: u32, base: u32, shift: u32) -> u32 {
    index ^ (((index >> (base + shift)) & ((1 << bits) - 1)) << base)
}

#[test]
fn wide_load_of_four_vectors_by_all_lanes_does_not_merge() {
    assert_eq!(load(16, |t| 16 * (t % 4)), 4);
}

#[test]
fn wide_load_of_four_vectors_merges_when_neighbours_share() {
    assert_eq!(load(16, |t| 16 * (t / 2 % 4)), 2);
}

#[test]
fn wide_load_of_one_group_of_banks_counts_each_lane() {
    assert_eq!(load(16, |t| 128 * t), 32);
    assert_eq!(load(16, |t| 16 * t), 4);
}

#[test]
fn double_loads_merge_in_pairs() {
    assert_eq!(load(8, |t| 8 * t), 2);
    assert_eq!(load(8, |t| 8 * (t / 2)), 1);
}

#[test]
fn a_missing_partner_counts_as_equal() {
    let access =
        Access { operation: Operation::LoadShared, width: 16, active: 1 | 1 << 15, offsets: [64; 32] };
    let found = cost(&access);
    assert_eq!((found.wavefronts, found.ideal_wavefronts), (1, 1));
}

#[test]
fn merged_groups_can_still_conflict() {
    let found = cost(&Access::full_warp(Operation::LoadShared, 16, |t| {
        16 * (4 * (t / 16) + t % 16 / 8 + 8 * (t % 8 / 4))
    }));
    assert_eq!((found.wavefronts, found.ideal_wavefronts, found.excess_wavefronts()), (4, 2, 2));
}

#[test]
fn transpose_of_doubles() {
    assert_eq!(store(8, |t| 256 * t), 32);
    assert_eq!(load(8, |t| 8 * t), 2);
    assert_eq!(store(8, |t| 33 * 8 * t), 2);
    assert_eq!(global(8, |t| 8 * t).sectors, 8);
}

#[test]
fn column_of_a_tile_of_floats() {
    let column = cost(&Access::full_warp(Operation::LoadShared, 4, |t| 128 * t));
    assert_eq!((column.wavefronts, column.excess_wavefronts()), (32, 31));
    assert_eq!(load(4, |t| 132 * t), 1);
}

#[test]
fn contiguous_wide_accesses_take_four_wavefronts_and_no_conflict() {
    for operation in [Operation::LoadShared, Operation::StoreShared] {
        let found = cost(&Access::full_warp(operation, 16, |t| 16 * t));
        assert_eq!((found.wavefronts, found.excess_wavefronts()), (4, 0));
    }
}

#[test]
fn every_fourth_word() {
    assert_eq!(load(4, |t| 16 * t), 4);
}

#[test]
fn four_scalar_stores_or_one_wide_one() {
    let scalar: u32 = (0..4).map(|i| store(4, |t| 16 * t + 4 * i)).sum();
    assert_eq!(scalar, 16);
    assert_eq!(store(16, |t| 16 * t), 4);
    assert_eq!((0..4).map(|i| load(4, |t| 4 * (32 * i + t))).sum::<u32>(), 4);
}

#[test]
fn columns_of_halves_by_pitch() {
    for (pitch, expected) in [(64, 32), (65, 2), (66, 1), (33, 1)] {
        assert_eq!(load(2, |t| 2 * pitch * t), expected, "pitch {pitch}");
    }
}

#[test]
fn columns_of_floats_by_pitch() {
    for (pitch, expected) in [(32, 32), (64, 32), (16, 16), (33, 1)] {
        assert_eq!(load(4, |t| 4 * pitch * t), expected, "pitch {pitch}");
    }
}

#[test]
fn columns_of_floats_by_swizzle() {
    for (bits, expected) in [(5, 1), (3, 4), (2, 8)] {
        assert_eq!(load(4, |t| 4 * swizzle(32 * t, bits, 0, 5)), expected, "Swizzle<{bits}, 0, 5>");
    }
}

#[test]
fn strides_in_words() {
    for (stride, expected) in [(0, 1), (1, 1), (2, 2), (4, 4), (16, 16), (31, 1), (32, 32), (33, 1)] {
        assert_eq!(load(4, |t| 4 * stride * t), expected, "stride {stride}");
    }
}

#[test]
fn column_of_doubles_is_sixteen_way() {
    let found = cost(&Access::full_warp(Operation::LoadShared, 8, |t| 8 * 32 * t));
    assert_eq!(found.wavefronts / found.ideal_wavefronts, 16);
}

#[test]
fn matrix_rows_of_halves_by_pitch() {
    for (pitch, expected) in [(64, 32), (72, 4), (32, 16), (40, 4), (16, 8), (24, 4)] {
        let found = wavefronts(Operation::LoadMatrix, 4, |t| 2 * (t % 16 * pitch + 8 * (t / 16)));
        assert_eq!(found, expected, "pitch {pitch}");
    }
}

#[test]
fn matrix_rows_of_halves_swizzled_over_128_bytes() {
    for operation in [Operation::LoadMatrix, Operation::LoadMatrixTransposed, Operation::StoreMatrix] {
        let found = wavefronts(operation, 4, |t| 2 * swizzle(t % 16 * 64 + 8 * (t / 16), 3, 3, 3));
        assert_eq!(found, 4, "{}", operation.name());
    }
}

#[test]
fn atomics_on_one_word_wait_for_each_other() {
    assert_eq!(wavefronts(Operation::AtomicShared, 4, |_| 64), 32);
    assert_eq!(wavefronts(Operation::AtomicShared, 4, |t| 4 * t), 1);
}

#[test]
fn wide_asynchronous_copies_cost_lines() {
    for (stride, lines, excess) in [(16, 4, 0), (32, 8, 4), (64, 16, 12), (128, 32, 28)] {
        let found = cost(&Access::full_warp(Operation::CopyAsync, 16, |t| stride * t));
        assert_eq!((found.excess_wavefronts(), found.lines, found.excess()), (0, lines, excess));
    }
}

#[test]
fn one_field_of_a_structure_of_three_doubles() {
    let strided = global(8, |t| 24 * t);
    assert_eq!((strided.sectors, strided.ideal_sectors, strided.useful_bytes), (24, 8, 256));
    let dense = global(8, |t| 8 * t);
    assert_eq!((dense.sectors, dense.ideal_sectors), (8, 8));
}

#[test]
fn vectors_along_a_row_and_down_a_column() {
    let along = global(16, |t| 16 * t);
    assert_eq!((along.sectors, along.ideal_sectors, along.lines), (16, 16, 4));
    let down = global(16, |t| 16_384 * t);
    assert_eq!((down.sectors, down.ideal_sectors, down.lines), (32, 16, 32));
    let scalar_down = global(4, |t| 16_384 * t);
    assert_eq!((scalar_down.sectors, scalar_down.ideal_sectors), (32, 4));
    assert_eq!(global(4, |t| 4 * t).sectors, 4);
}

#[test]
fn uniform_load_takes_one_sector() {
    let found = global(4, |_| 400);
    assert_eq!((found.sectors, found.ideal_sectors, found.useful_bytes), (1, 1, 4));
}

#[test]
fn misaligned_row_takes_one_more_sector() {
    let found = global(4, |t| 4 + 4 * t);
    assert_eq!((found.sectors, found.ideal_sectors, found.excess()), (5, 4, 1));
}

#[test]
fn rows_of_twelve_floats_need_whole_sectors_each() {
    let found = global(4, |t| 256 * (t / 12) + 4 * (t % 12));
    assert_eq!((found.sectors, found.ideal_sectors, found.shortest_run_bytes), (5, 5, 32));
    let last_row_short = global(4, |t| 256 * (t / 14) + 4 * (t % 14));
    assert_eq!(
        (last_row_short.sectors, last_row_short.ideal_sectors, last_row_short.shortest_run_bytes),
        (5, 5, 16)
    );
}

#[test]
fn long_runs_with_short_gaps_are_never_better_than_ideal() {
    let found = global(8, |t| 48 * (t / 5) + 8 * (t % 5));
    assert_eq!((found.sectors, found.ideal_sectors, found.shortest_run_bytes), (10, 10, 16));
}

#[test]
fn the_witness_of_a_column() {
    let column = Access::full_warp(Operation::LoadShared, 4, |t| 128 * t + 12);
    let conflict = bank_conflict(&column).expect("32-way");
    assert_eq!((conflict.group, conflict.bank), (u32::MAX, 3));
    assert!(conflict.words().iter().copied().eq((0..32).map(|t| 32 * t + 3)));
    assert!(conflict.lanes().iter().copied().eq(0..32));
}

#[test]
fn the_witness_is_in_the_worst_group() {
    // The second quarter of the warp is 7-way, the others are clean; lanes 8 and 9 read the same vector.
    let wide = Access::full_warp(Operation::StoreShared, 16, |t| match t {
        8 | 9 => 1024,
        10..=15 => 1024 + 128 * (t - 8),
        _ => 16 * t,
    });
    let conflict = bank_conflict(&wide).expect("7-way");
    assert_eq!((conflict.group, conflict.bank), (0xff00, 0));
    assert_eq!(conflict.lanes(), [8, 10, 11, 12, 13, 14, 15]);
    assert_eq!(conflict.words(), [256, 320, 352, 384, 416, 448, 480]);
}

#[test]
fn the_witness_of_an_atomic_repeats_its_word() {
    let histogram = Access::full_warp(Operation::AtomicShared, 4, |t| if t < 3 { 20 } else { 4 * (t + 32) });
    let conflict = bank_conflict(&histogram).expect("three lanes on one word, one more in its bank");
    assert_eq!(
        (conflict.bank, conflict.words(), conflict.lanes()),
        (5, &[5, 5, 5, 37][..], &[0, 1, 2, 5][..])
    );
}
