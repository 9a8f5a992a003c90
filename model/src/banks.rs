//! Shared-memory banks: in how many passes the lanes of a warp are served, and which lanes collide.
//!
//! Addresses are aligned to their width, so the words of a lane of 8 or 16 bytes lie in 2 or 4 neighbouring banks, and
//! two lanes collide in all of these or in none. It is therefore enough to count *units* of the lane's width (a
//! word for narrower lanes) in *slots* of as many banks: 32 slots of one bank, 16 of two, 8 of four.

use crate::access::{Access, LANES, Operation};

/// Wavefronts of one access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Passes {
    /// With the conflicts that it has.
    pub(crate) wavefronts: u32,
    /// Without them: groups with an active lane.
    pub(crate) ideal: u32,
}

/// The worst bank of an access that conflicts: what an error message shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The lanes that are served together, bit `i` for lane `i`, active or not.
    pub group: u32,
    /// The bank, 0..32, that takes the most wavefronts; the first of two or four where the lanes are 8 or 16 bytes wide.
    pub bank: u32,
    words: [u32; LANES],
    lanes: [u32; LANES],
    count: usize,
}

impl Conflict {
    /// The words of that bank that the group asks for, one a wavefront, by ascending lane. A word is a byte offset
    /// divided by 4. They are distinct except for operations that serve equal addresses one after another
    /// (atomics, `cp.async`).
    pub fn words(&self) -> &[u32] {
        &self.words[..self.count]
    }

    /// For each of the [`Conflict::words`] the lowest lane that asks for it.
    pub fn lanes(&self) -> &[u32] {
        &self.lanes[..self.count]
    }
}

/// What a bank pays for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Counted {
    /// Each distinct word once.
    DistinctWords,
    /// Each lane.
    EveryLane,
    /// Nothing: a group takes one wavefront.
    Nothing,
}

/// How an operation is served.
#[derive(Clone, Copy)]
struct Service {
    /// Lanes of a group.
    group_lanes: u32,
    counted: Counted,
    /// A byte offset shifted right by this is a unit.
    unit_shift: u32,
    /// Slots that the units go round, a power of two.
    slots: u32,
}

/// The units that lanes of one group ask of each slot.
struct Slots {
    /// Per slot, one lane a wavefront.
    members: [u32; LANES],
    /// The slot with the most of them.
    worst: usize,
    /// How many it has.
    most: u32,
}

/// Who collides in the group that takes the most wavefronts; `None` if the access has no excess wavefronts.
///
/// What [`crate::access::cost`] requires is required here too.
pub fn bank_conflict(access: &Access) -> Option<Conflict> {
    let lanes = access.lanes();
    if access.operation.is_global() || lanes == 0 {
        return None;
    }
    let service = service(access, lanes);
    let mut found: Option<Conflict> = None;
    let mut first = 0;
    while first < LANES as u32 {
        let group = group_mask(first, service.group_lanes);
        let slots = fill_slots(access, lanes & group, service);
        if slots.most > 1 && found.as_ref().is_none_or(|worst| slots.most as usize > worst.count) {
            found = Some(conflict_in(access, group, &slots, service));
        }
        first += service.group_lanes;
    }
    found
}

fn conflict_in(access: &Access, group: u32, slots: &Slots, service: Service) -> Conflict {
    let words_of_unit = service.unit_shift - 2;
    let bank = (slots.worst as u32) << words_of_unit;
    let mut conflict = Conflict { group, bank, words: [0; LANES], lanes: [0; LANES], count: 0 };
    let mut members = slots.members[slots.worst];
    while members != 0 {
        let lane = members.trailing_zeros();
        members &= members - 1;
        conflict.words[conflict.count] = access.offsets[lane as usize] >> service.unit_shift << words_of_unit;
        conflict.lanes[conflict.count] = lane;
        conflict.count += 1;
    }
    conflict
}

/// Wavefronts of a shared access with an active lane.
pub(crate) fn passes(access: &Access) -> Passes {
    let lanes = access.lanes();
    let service = service(access, lanes);
    let mut passes = Passes { wavefronts: 0, ideal: 0 };
    let mut first = 0;
    while first < LANES as u32 {
        let members = lanes & group_mask(first, service.group_lanes);
        if members != 0 {
            passes.ideal += 1;
            passes.wavefronts += fill_slots(access, members, service).most;
        }
        first += service.group_lanes;
    }
    passes
}

/// [`passes`] for lanes 0, 1, 2, … that lie side by side: a group spans no more than 32 words, so nothing
/// collides; and with more lanes than a group holds lanes 0, 1 and 2 differ, so nothing merges.
pub(crate) fn contiguous_passes(access: &Access) -> Passes {
    let group_lanes = group_lanes(access);
    let groups = access.lanes().count_ones().div_ceil(group_lanes);
    Passes { wavefronts: groups, ideal: groups }
}

/// Lanes of a group, before merging.
fn group_lanes(access: &Access) -> u32 {
    match access.lane_bytes() {
        0..=4 => 32,
        5..=8 => 16,
        _ => 8,
    }
}

fn service(access: &Access, lanes: u32) -> Service {
    let (counted, merges) = match access.operation {
        Operation::LoadShared => (Counted::DistinctWords, true),
        Operation::StoreShared
        | Operation::LoadMatrix
        | Operation::LoadMatrixTransposed
        | Operation::StoreMatrix
        | Operation::LoadGlobal
        | Operation::StoreGlobal
        | Operation::AtomicGlobal => (Counted::DistinctWords, false),
        Operation::AtomicShared => (Counted::EveryLane, false),
        Operation::CopyAsync if access.width == 16 => (Counted::Nothing, false),
        Operation::CopyAsync => (Counted::EveryLane, false),
    };
    let unmerged = group_lanes(access);
    let merged = merges
        && unmerged < 32
        && (partners_agree(&access.offsets, lanes, 1) || partners_agree(&access.offsets, lanes, 2));
    let (unit_shift, slots) = match unmerged {
        32 => (2, 32),
        16 => (3, 16),
        _ => (4, 8),
    };
    Service { group_lanes: if merged { 2 * unmerged } else { unmerged }, counted, unit_shift, slots }
}

/// Whether every active lane whose partner `lane ^ distance` is active too has its address.
fn partners_agree(offsets: &[u32; LANES], lanes: u32, distance: usize) -> bool {
    let mut lane = 0;
    while lane < LANES {
        let partner = lane ^ distance;
        if offsets[lane] != offsets[partner] && lanes >> lane & lanes >> partner & 1 != 0 {
            return false;
        }
        lane += 1;
    }
    true
}

fn group_mask(first: u32, group_lanes: u32) -> u32 {
    (u32::MAX >> (LANES as u32 - group_lanes)) << first
}

fn fill_slots(access: &Access, members: u32, service: Service) -> Slots {
    let mut slots = Slots { members: [0; LANES], worst: 0, most: 0 };
    if service.counted == Counted::Nothing {
        slots.most = u32::from(members != 0);
        return slots;
    }
    // Most patterns ascend: the largest unit seen in a slot settles whether the next one is new without a search.
    let mut largest = [0; LANES];
    let mut rest = members;
    while rest != 0 {
        let lane = rest.trailing_zeros() as usize;
        rest &= rest - 1;
        let unit = access.offsets[lane] >> service.unit_shift;
        let slot = (unit & (service.slots - 1)) as usize;
        let seen = slots.members[slot];
        let ascends = seen == 0 || unit > largest[slot];
        if ascends {
            largest[slot] = unit;
        } else if service.counted == Counted::DistinctWords
            && holds_unit(access, seen, unit, largest[slot], service.unit_shift)
        {
            continue;
        }
        slots.members[slot] = seen | 1 << lane;
        let count = slots.members[slot].count_ones();
        if count > slots.most {
            slots.most = count;
            slots.worst = slot;
        }
    }
    slots
}

/// Whether one of these lanes asks for the unit.
fn holds_unit(access: &Access, lanes: u32, unit: u32, largest: u32, unit_shift: u32) -> bool {
    if unit == largest {
        return true;
    }
    let mut rest = lanes;
    while rest != 0 {
        if access.offsets[rest.trailing_zeros() as usize] >> unit_shift == unit {
            return true;
        }
        rest &= rest - 1;
    }
    false
}
