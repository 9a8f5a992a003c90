//! What holds for every access, and a second, slower reading of the rules to compare with.

use std::collections::{BTreeMap, BTreeSet};

use tileproof_model::access::{Access, LANES, Operation, cost};
use tileproof_model::banks::{bank_conflict, served};

/// A linear congruential generator; the high bits are the good ones.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(bound)) as u32
    }

    fn mask(&mut self) -> u32 {
        match self.below(4) {
            0 => u32::MAX,
            1 => u32::MAX >> self.below(32),
            2 => 1 << self.below(32),
            _ => self.below(1 << 16) << 16 | self.below(1 << 16),
        }
    }
}

fn lane_bytes(operation: Operation, width: u32) -> u32 {
    if is_matrix(operation) { 16 } else { width }
}

/// Strides, tiles, pairs that share and plain noise, for every operation and width.
fn for_each_access(mut check: impl FnMut(Access)) {
    let mut random = Random(2);
    for operation in Operation::ALL {
        for &width in operation.widths() {
            let bytes = lane_bytes(operation, width);
            for stride in 0..=66 {
                check(Access::full_warp(operation, width, |t| stride * bytes * t));
                check(Access::full_warp(operation, width, |t| stride * bytes * (31 - t)));
            }
            for _ in 0..400 {
                let span = [2, 8, 32, 128, 1024][random.below(5) as usize];
                let sharing = [0, 0, 1, 2, 3, 16][random.below(6) as usize];
                let noise: [u32; LANES] = std::array::from_fn(|_| bytes * random.below(span));
                let offsets = std::array::from_fn(|t| noise[t.min(t ^ sharing)]);
                check(Access { operation, width, active: random.mask(), offsets });
                let (columns, pitch, shift) = (1 + random.below(32), random.below(70), random.below(4));
                check(Access {
                    active: random.mask(),
                    ..Access::full_warp(operation, width, |t| {
                        bytes * (t / columns * pitch + t % columns + shift)
                    })
                });
            }
        }
    }
}

#[test]
fn no_access_is_better_than_ideal() {
    for_each_access(|access| {
        let found = cost(&access);
        assert!(found.wavefronts >= found.ideal_wavefronts, "{access:?}: {found:?}");
        assert!(found.sectors >= found.ideal_sectors, "{access:?}: {found:?}");
        assert!(found.lines >= found.ideal_lines, "{access:?}: {found:?}");
        assert_eq!(bank_conflict(&access).is_some(), found.excess_wavefronts() > 0, "{access:?}");
    });
}

#[test]
fn the_same_words_added_to_every_lane_change_nothing() {
    for_each_access(|access| {
        if access.operation.is_global() {
            return;
        }
        let before = cost(&access);
        for words in [1, 2, 3, 4, 7, 31, 32, 1000] {
            let moved = cost(&Access { offsets: access.offsets.map(|offset| offset + 4 * words), ..access });
            assert_eq!(
                (moved.wavefronts, moved.ideal_wavefronts),
                (before.wavefronts, before.ideal_wavefronts),
                "{access:?} moved by {words} words"
            );
        }
    });
}

#[test]
fn fewer_lanes_never_cost_more() {
    for_each_access(|access| {
        if access.operation == Operation::LoopShared {
            return;
        }
        let all = cost(&access);
        for lane in 0..LANES {
            let fewer = cost(&Access { active: access.active & !(1 << lane), ..access });
            assert!(fewer.wavefronts <= all.wavefronts, "{access:?} without lane {lane}");
            assert!(fewer.sectors <= all.sectors, "{access:?} without lane {lane}");
        }
    });
}

#[test]
fn an_idle_warp_costs_nothing() {
    for_each_access(|access| {
        let idle = Access { active: 0, ..access };
        assert_eq!((cost(&idle), bank_conflict(&idle)), (Default::default(), None));
    });
}

#[test]
fn a_second_reading_of_the_rules_agrees() {
    for_each_access(|access| {
        let found = cost(&access);
        if access.operation.is_global() {
            assert_eq!((found.wavefronts, found.ideal_wavefronts), (0, 0));
            assert_eq!((found.sectors, found.ideal_sectors), sectors_by_bytes(&access), "{access:?}");
        } else {
            assert_eq!((found.sectors, found.ideal_sectors), (0, 0));
            assert_eq!(
                (found.wavefronts, found.ideal_wavefronts),
                wavefronts_by_words(&access),
                "{access:?}"
            );
        }
        let bytes = touched(&access);
        assert_eq!(found.useful_bytes as usize, bytes.len());
        assert_eq!(found.lines as usize, bytes.iter().map(|byte| byte / 128).collect::<BTreeSet<_>>().len());
        assert_eq!(found.shortest_run_bytes, runs(&bytes).into_iter().min().unwrap_or(0));
    });
}

#[test]
fn the_witness_shows_the_worst_bank() {
    for_each_access(|access| {
        let Some(conflict) = bank_conflict(&access) else { return };
        assert!(conflict.words().len() > 1 && conflict.words().len() == conflict.lanes().len());
        for (&word, &lane) in conflict.words().iter().zip(conflict.lanes()) {
            assert_eq!((word % 32, access.offsets[lane as usize] / 4), (conflict.bank, word));
            assert_eq!(conflict.group >> lane & 1, 1);
        }
        let distinct: BTreeSet<u32> = conflict.words().iter().copied().collect();
        let repeats = counts_every_lane(access.operation);
        assert!(repeats || distinct.len() == conflict.words().len());
    });
}

fn is_matrix(operation: Operation) -> bool {
    matches!(operation, Operation::LoadMatrix | Operation::LoadMatrixTransposed | Operation::StoreMatrix)
}

fn counts_every_lane(operation: Operation) -> bool {
    matches!(
        operation,
        Operation::AtomicShared | Operation::CompareShared | Operation::LoopShared | Operation::CopyAsync
    )
}

fn addressed_lanes(access: &Access) -> Vec<usize> {
    if is_matrix(access.operation) && access.active != 0 {
        (0..8 * access.width as usize).collect()
    } else {
        (0..LANES).filter(|&lane| access.active >> lane & 1 == 1).collect()
    }
}

fn touched(access: &Access) -> BTreeSet<u32> {
    let bytes = lane_bytes(access.operation, access.width);
    addressed_lanes(access)
        .iter()
        .flat_map(|&lane| access.offsets[lane]..access.offsets[lane] + bytes)
        .collect()
}

fn runs(bytes: &BTreeSet<u32>) -> Vec<u32> {
    let mut runs: Vec<u32> = Vec::new();
    for &byte in bytes {
        match runs.last_mut() {
            Some(run) if byte > 0 && bytes.contains(&(byte - 1)) => *run += 1,
            _ => runs.push(1),
        }
    }
    runs
}

fn sectors_by_bytes(access: &Access) -> (u32, u32) {
    let bytes = touched(access);
    let sectors: BTreeSet<u32> = bytes.iter().map(|byte| byte / 32).collect();
    let mut lanes_at: BTreeMap<u32, u32> = BTreeMap::new();
    for lane in addressed_lanes(access) {
        *lanes_at.entry(access.offsets[lane]).or_default() += 1;
    }
    let updates_in = |sector: u32| {
        lanes_at.iter().filter(|(at, _)| *at / 32 == sector).map(|(_, lanes)| *lanes).max().unwrap_or(0)
    };
    let distinct = sectors.len() as u32;
    let sectors = match access.operation {
        Operation::AtomicGlobal => sectors.into_iter().map(updates_in).sum(),
        _ => distinct,
    };
    let (long, short): (Vec<u32>, Vec<u32>) = runs(&bytes).into_iter().partition(|&run| run >= 32);
    let ideal = long.iter().map(|run| run.div_ceil(32)).sum::<u32>() + short.iter().sum::<u32>().div_ceil(32);
    (sectors, ideal.min(distinct))
}

/// The loop of an update without an instruction, run: elements have versions, and an exchange needs the one that was loaded.
fn wavefronts_by_rounds(access: &Access) -> (u32, u32) {
    let (bytes, mut waiting) = (access.width, addressed_lanes(access));
    let half = if bytes == 8 { 16 } else { 32 };
    let mut versions: BTreeMap<u32, u32> = BTreeMap::new();
    let (mut wavefronts, mut ideal) = (0, 0);
    while !waiting.is_empty() {
        let active = waiting.iter().fold(0, |mask, lane| mask | 1 << lane);
        let load = Access { operation: Operation::LoadShared, active, ..*access };
        let (load, _) = wavefronts_by_words(&load);
        let loaded = versions.clone();
        let mut tried = BTreeSet::new();
        let mut left = Vec::new();
        for &lane in &waiting {
            let element = access.offsets[lane];
            let its_turn = tried.insert((lane / half, element / bytes % (128 / bytes)));
            if its_turn && versions.get(&element) == loaded.get(&element) {
                *versions.entry(element).or_default() += 1;
            } else {
                left.push(lane);
            }
        }
        let halves = waiting.iter().map(|lane| lane / half).collect::<BTreeSet<_>>().len() as u32;
        if wavefronts == 0 {
            ideal = load.min(halves) + 2 * halves;
        }
        wavefronts += load + 2 * halves;
        waiting = left;
    }
    (wavefronts, ideal)
}

fn wavefronts_by_words(access: &Access) -> (u32, u32) {
    if access.operation == Operation::LoopShared {
        return wavefronts_by_rounds(access);
    }
    let each = if access.operation == Operation::CompareShared { 2 } else { 1 };
    let bytes = lane_bytes(access.operation, access.width);
    let lanes = addressed_lanes(access);
    let agree = |distance: usize| {
        lanes
            .iter()
            .all(|&t| !lanes.contains(&(t ^ distance)) || access.offsets[t] == access.offsets[t ^ distance])
    };
    let mut group = LANES / (bytes as usize / 4).max(1);
    if access.operation == Operation::LoadShared && group < LANES && (agree(1) || agree(2)) {
        group *= 2;
    }
    let every_lane = counts_every_lane(access.operation);
    let (mut wavefronts, mut ideal) = (0, 0);
    for first in (0..LANES).step_by(group) {
        let members: Vec<usize> =
            lanes.iter().copied().filter(|t| (first..first + group).contains(t)).collect();
        if members.is_empty() {
            continue;
        }
        ideal += each;
        let words = members.iter().flat_map(|&t| {
            let word = access.offsets[t] / 4;
            (word..word + (bytes / 4).max(1)).map(move |word| (word, if every_lane { t } else { 0 }))
        });
        let mut banks = [0; 32];
        for (word, _) in words.collect::<BTreeSet<_>>() {
            banks[word as usize % 32] += 1;
        }
        let free = access.operation == Operation::CopyAsync && bytes == 16;
        wavefronts += if free { 1 } else { each * banks.into_iter().max().unwrap_or(0) };
    }
    (wavefronts, ideal)
}

#[test]
fn every_lane_is_served_once_in_as_many_passes_as_it_costs() {
    for_each_access(|access| {
        let (cells, found) = (served(&access), cost(&access));
        if access.operation.is_global() {
            assert!(cells.is_empty());
            return;
        }
        let passes = cells.iter().map(|cell| cell.pass + 1).max().unwrap_or(0);
        let wide_copy = access.operation == Operation::CopyAsync && access.width == 16;
        assert_eq!(passes, if wide_copy { found.lines } else { found.wavefronts }, "{access:?}");
        let ideal = if wide_copy { found.ideal_lines } else { found.ideal_wavefronts };
        assert_eq!(cells.iter().any(|cell| cell.waits), passes > ideal, "{access:?}");
        let lanes: u32 = cells.iter().map(|cell| cell.lanes.count_ones()).sum();
        let all = cells.iter().fold(0, |all, cell| all | cell.lanes);
        assert_eq!(lanes, all.count_ones(), "{access:?}: a lane is served twice");
        if !is_matrix(access.operation) {
            assert_eq!(all, access.active, "{access:?}");
        }
        let mut used = BTreeSet::new();
        for cell in &cells {
            assert!(
                (cell.bank..cell.bank + cell.banks).all(|bank| used.insert((cell.pass, bank))),
                "{access:?}"
            );
            assert_eq!((cell.word % 32, cell.bank + cell.banks <= 32), (cell.bank, true), "{access:?}");
        }
    });
}
