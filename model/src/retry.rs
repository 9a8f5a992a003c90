//! Atomic updates for which shared memory has no instruction: a loop that loads, computes, and compares and exchanges.
//!
//! In every round the lanes that are left load their elements, by the rules of loads, and try to exchange them, in groups
//! as stores have; a group takes two wavefronts for that, however many lanes it has. One lane a bank gets through, the
//! lowest that is left, and none whose element another group has just changed. The others go round again.

use crate::access::{Access, LANES, Operation};
use crate::banks::{group_lanes, group_mask, passes};

/// Wavefronts in which a group compares and exchanges.
pub(crate) const EXCHANGE_WAVEFRONTS: u32 = 2;

/// One round of the loop.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Round {
    /// Wavefronts of its load.
    pub(crate) load: u32,
    /// Those of the load without conflicts.
    pub(crate) ideal_load: u32,
    /// Wavefronts of its exchange.
    pub(crate) exchange: u32,
    /// The lanes that are done after it.
    pub(crate) done: u32,
}

/// The rounds that a warp takes which has the memory to itself and changes each element that it updates.
pub(crate) fn rounds(access: &Access) -> Vec<Round> {
    let mut left = access.active;
    let mut rounds = Vec::new();
    while left != 0 {
        let load = passes(&Access { operation: Operation::LoadShared, active: left, ..*access });
        let groups = groups(access, left).count() as u32;
        let round = Round {
            load: load.wavefronts,
            ideal_load: load.wavefronts.min(groups),
            exchange: EXCHANGE_WAVEFRONTS * groups,
            done: winners(access, left),
        };
        left &= !round.done;
        rounds.push(round);
    }
    rounds
}

/// The lanes of each group that has one.
fn groups(access: &Access, lanes: u32) -> impl Iterator<Item = u32> {
    let size = group_lanes(access);
    (0..LANES as u32)
        .step_by(size as usize)
        .map(move |first| lanes & group_mask(first, size))
        .filter(|g| *g != 0)
}

fn winners(access: &Access, lanes: u32) -> u32 {
    let unit = |lane: u32| access.offsets[lane as usize] / access.lane_bytes();
    let slots = 128 / access.lane_bytes();
    let mut changed: Vec<u32> = Vec::new();
    let mut done = 0;
    for group in groups(access, lanes) {
        let mut taken = 0_u32;
        for lane in (0..LANES as u32).filter(|lane| group >> lane & 1 == 1) {
            let slot = 1 << (unit(lane) % slots);
            if taken & slot == 0 && !changed.contains(&unit(lane)) {
                done |= 1 << lane;
                changed.push(unit(lane));
            }
            taken |= slot;
        }
    }
    done
}
