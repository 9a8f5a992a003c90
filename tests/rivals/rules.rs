//! What other models answer, written down from their published rules.
//!
//! Each answer is read as favourably as it can be: a rule that speaks of n-way conflicts is taken to mean n wavefronts in
//! every group that it looks at.

use std::collections::BTreeSet;
use tileproof_model::access::{Access, LANES, Operation};

/// What a rule says an access takes, in wavefronts or sectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    /// What it takes.
    pub(crate) cost: u32,
    /// What is enough by the same rule.
    pub(crate) ideal: u32,
}

/// A rule; `None` where it has nothing to say.
pub(crate) type Rule = fn(&Access) -> Option<Answer>;

/// The byte offsets of the lanes, or rows of a matrix, that count, by lane.
fn addresses(access: &Access) -> Vec<(usize, u32)> {
    let lanes = match access.operation {
        Operation::LoadMatrix | Operation::LoadMatrixTransposed | Operation::StoreMatrix => {
            u32::MAX >> (32 - 8 * access.width)
        }
        _ => access.active,
    };
    (0..LANES).filter(|lane| lanes >> lane & 1 == 1).map(|lane| (lane, access.offsets[lane])).collect()
}

fn bytes(access: &Access) -> u32 {
    match access.operation {
        Operation::LoadMatrix | Operation::LoadMatrixTransposed | Operation::StoreMatrix => 16,
        _ => access.width,
    }
}

fn is_plain(operation: Operation) -> bool {
    matches!(operation, Operation::LoadShared | Operation::StoreShared)
}

fn moves_tiles(operation: Operation) -> bool {
    is_plain(operation)
        || matches!(
            operation,
            Operation::CopyAsync
                | Operation::LoadMatrix
                | Operation::LoadMatrixTransposed
                | Operation::StoreMatrix
        )
}

/// How many of these words are in the bank that has the most.
fn most_in_a_bank(words: impl IntoIterator<Item = u32>) -> u32 {
    let mut banks = [0; 32];
    words.into_iter().for_each(|word| banks[word as usize % 32] += 1);
    banks.into_iter().max().unwrap_or(0)
}

/// Fixed groups of 32, 16 or 8 lanes for up to 4, 8 or 16 bytes, each lane by its first word, equal words once; the worst
/// group stands for all.
pub(crate) fn fixed_phases(access: &Access) -> Option<Answer> {
    if !moves_tiles(access.operation) {
        return None;
    }
    let lanes = match bytes(access) {
        ..=4 => 32,
        5..=8 => 16,
        9.. => 8,
    };
    let ways: Vec<u32> = (0..LANES)
        .step_by(lanes)
        .map(|first| {
            let of_group =
                addresses(access).into_iter().filter(|(lane, _)| (first..first + lanes).contains(lane));
            most_in_a_bank(of_group.map(|(_, offset)| offset / 4).collect::<BTreeSet<_>>())
        })
        .filter(|ways| *ways > 0)
        .collect();
    let phases = ways.len() as u32;
    Some(Answer { cost: phases * ways.into_iter().max().unwrap_or(0), ideal: phases })
}

/// All words of the whole warp at once: a bank takes as long as distinct words are in it.
pub(crate) fn words_alone(access: &Access) -> Option<Answer> {
    if !moves_tiles(access.operation) {
        return None;
    }
    let words: BTreeSet<u32> = addresses(access)
        .into_iter()
        .flat_map(|(_, offset)| offset / 4..=(offset + bytes(access) - 1) / 4)
        .collect();
    let ideal = words.len().div_ceil(32) as u32;
    Some(Answer { cost: most_in_a_bank(words), ideal })
}

/// How many lanes have their first word in one bank, equal words or not.
pub(crate) fn lanes_of_a_bank(access: &Access) -> Option<Answer> {
    let words = addresses(access).into_iter().map(|(_, offset)| offset / 4);
    is_plain(access.operation).then(|| Answer { cost: most_in_a_bank(words), ideal: 1 })
}

/// The distance between neighbouring lanes, where there is one: shared memory serves a stride of s words in gcd(s, 32) turns,
/// global memory moves the sectors from the first byte to the last, or one a lane.
pub(crate) fn stride(access: &Access) -> Option<Answer> {
    let distance = |lane: usize| i64::from(access.offsets[lane + 1]) - i64::from(access.offsets[lane]);
    if (0..LANES - 1).any(|lane| distance(lane) != distance(0)) {
        return None;
    }
    let distance = distance(0).unsigned_abs() as u32;
    match access.operation {
        Operation::LoadShared | Operation::StoreShared => {
            let ways = match distance {
                ..4 => 1,
                _ if !distance.is_multiple_of(4) => return None,
                _ => gcd(distance / 4, 32),
            };
            Some(Answer { cost: ways, ideal: (access.width / 4).max(1) })
        }
        Operation::LoadGlobal | Operation::StoreGlobal => {
            let sectors = if distance < 32 { (31 * distance + access.width).div_ceil(32) } else { 32 };
            Some(Answer { cost: sectors, ideal: access.width.max(1) })
        }
        _ => None,
    }
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wavefronts(rule: Rule, width: u32, offset: impl Fn(u32) -> u32) -> Option<u32> {
        rule(&Access::full_warp(Operation::LoadShared, width, offset)).map(|answer| answer.cost)
    }

    #[test]
    fn the_rules_answer_what_their_authors_say() {
        // A row of float4, which is the fewest.
        assert_eq!(wavefronts(fixed_phases, 16, |t| 16 * t), Some(4));
        assert_eq!(wavefronts(words_alone, 16, |t| 16 * t), Some(4));
        assert_eq!(wavefronts(lanes_of_a_bank, 16, |t| 16 * t), Some(4));
        // A column of 32 words a row, and of 33.
        for (pitch, ways) in [(32, 32), (33, 1)] {
            for rule in [fixed_phases, words_alone, lanes_of_a_bank, stride] {
                assert_eq!(wavefronts(rule, 4, |t| 4 * pitch * t), Some(ways), "pitch {pitch}");
            }
        }
        // Contiguous halves score 2 where lanes are counted, and rows of 16 lanes on one word 16.
        assert_eq!(wavefronts(lanes_of_a_bank, 2, |t| 2 * t), Some(2));
        assert_eq!(wavefronts(lanes_of_a_bank, 4, |t| 4 * (t / 16 * 16)), Some(16));
    }
}
