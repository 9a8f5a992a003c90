//! Shared-memory banks: in how many passes the lanes of a warp are served, and which lanes collide.
//!
//! Addresses are aligned to their width, so the words of a lane of 8 or 16 bytes lie in 2 or 4 neighbouring banks, and
//! two lanes collide in all of these or in none. It is therefore enough to count *units* of the lane's width (a
//! word for narrower lanes) in *slots* of as many banks: 32 slots of one bank, 16 of two, 8 of four.

use crate::access::{Access, IDEAL_COPY_LINES, LANES, Operation};
use crate::retry::{EXCHANGE_WAVEFRONTS, rounds};

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
    /// Each lane twice: its load, and its store.
    EveryLaneTwice,
    /// Each lane, in rounds of a loop: [`crate::retry`].
    Rounds,
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
    if found.is_none() && service.counted == Counted::Rounds {
        return shared_between_groups(access, lanes, service);
    }
    found
}

/// Two lanes of different groups that update one element in a loop.
fn shared_between_groups(access: &Access, lanes: u32, service: Service) -> Option<Conflict> {
    let active = |lane: &u32| lanes >> lane & 1 == 1;
    let same = |a: u32, b: u32| access.offsets[a as usize] == access.offsets[b as usize];
    (0..LANES as u32).filter(active).find_map(|second| {
        let first = (0..second).filter(active).find(|first| same(*first, second))?;
        let cell = cell_of(access, first, service);
        let mut conflict =
            Conflict { group: u32::MAX, bank: cell.bank, words: [0; LANES], lanes: [0; LANES], count: 2 };
        conflict.words[..2].fill(cell.word);
        conflict.lanes[..2].copy_from_slice(&[first, second]);
        Some(conflict)
    })
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
    if service.counted == Counted::Rounds {
        return passes_of_rounds(access);
    }
    let mut passes = Passes { wavefronts: 0, ideal: 0 };
    let mut first = 0;
    while first < LANES as u32 {
        let members = lanes & group_mask(first, service.group_lanes);
        if members != 0 {
            let each = service.counted.wavefronts();
            passes.ideal += each;
            passes.wavefronts += each * fill_slots(access, members, service).most;
        }
        first += service.group_lanes;
    }
    passes
}

fn passes_of_rounds(access: &Access) -> Passes {
    let rounds = rounds(access);
    let wavefronts = rounds.iter().map(|round| round.load + round.exchange).sum();
    let ideal = rounds.first().map_or(0, |round| round.ideal_load + round.exchange);
    Passes { wavefronts, ideal }
}

impl Counted {
    /// Wavefronts of one lane or word that is counted.
    fn wavefronts(self) -> u32 {
        match self {
            Counted::DistinctWords | Counted::EveryLane | Counted::Nothing => 1,
            Counted::EveryLaneTwice => 2,
            Counted::Rounds => 1 + EXCHANGE_WAVEFRONTS,
        }
    }
}

/// [`passes`] for lanes 0, 1, 2, … that lie side by side: a group spans no more than 32 words, so nothing
/// collides; and with more lanes than a group holds lanes 0, 1 and 2 differ, so nothing merges.
pub(crate) fn contiguous_passes(access: &Access) -> Passes {
    let group_lanes = group_lanes(access);
    let groups = access.lanes().count_ones().div_ceil(group_lanes);
    let wavefronts = groups * service(access, access.lanes()).counted.wavefronts();
    Passes { wavefronts, ideal: wavefronts }
}

/// What one pass gets from one bank, or from the neighbouring banks that a wide lane spans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Served {
    /// The pass, counted from 0 over the whole access: a wavefront, the last of them where an atomic update takes several. For `cp.async` of 16 bytes a lane, which is judged by
    /// them, a line of 128 bytes.
    pub pass: u32,
    /// The bank, 0..32, the first of them where there are several.
    pub bank: u32,
    /// How many neighbouring banks: 1, 2 or 4.
    pub banks: u32,
    /// The word: a byte offset divided by 4.
    pub word: u32,
    /// The lanes that get it, bit `i` for lane `i`.
    pub lanes: u32,
    /// Whether it waits for another word of the same bank; a line, whether it is one more than a contiguous access needs.
    pub waits: bool,
}

/// Which lanes are served when, by ascending pass and bank. What a pass holds is settled only up to order: words of
/// one bank come by ascending lane here. Empty for accesses of global memory.
///
/// What [`crate::access::cost`] requires is required here too.
pub fn served(access: &Access) -> Vec<Served> {
    let lanes = access.lanes();
    if access.operation.is_global() || lanes == 0 {
        return Vec::new();
    }
    let service = service(access, lanes);
    let mut out = match service.counted {
        Counted::Nothing => lines(access, lanes, service),
        Counted::Rounds => serve_rounds(access, service),
        Counted::DistinctWords | Counted::EveryLane | Counted::EveryLaneTwice => {
            serve_groups(access, lanes, service)
        }
    };
    out.sort_by_key(|cell| (cell.pass, cell.bank));
    out
}

fn serve_groups(access: &Access, lanes: u32, service: Service) -> Vec<Served> {
    let mut out: Vec<Served> = Vec::new();
    let (mut start, mut first) = (0, 0);
    while first < LANES as u32 {
        let group = serve_group(access, lanes & group_mask(first, service.group_lanes), service, start);
        start = group.iter().map(|cell| cell.pass + 1).max().unwrap_or(start);
        out.extend(group);
        first += service.group_lanes;
    }
    out
}

/// Each lane in the last wavefront of the exchange of its group that lets it through.
fn serve_rounds(access: &Access, service: Service) -> Vec<Served> {
    let mut out = Vec::new();
    let (mut end, mut left) = (0, access.active);
    for (number, round) in rounds(access).iter().enumerate() {
        end += round.load;
        for first in (0..LANES as u32).step_by(service.group_lanes as usize) {
            let group = group_mask(first, service.group_lanes);
            if left & group != 0 {
                end += EXCHANGE_WAVEFRONTS;
            }
            let done = (0..LANES as u32).filter(|lane| round.done & group & 1 << lane != 0);
            out.extend(done.map(|lane| Served {
                pass: end - 1,
                waits: number > 0,
                ..cell_of(access, lane, service)
            }));
        }
        left &= !round.done;
    }
    out
}

/// The lanes of one group, from this pass on.
fn serve_group(access: &Access, members: u32, service: Service, start: u32) -> Vec<Served> {
    let mut cells: Vec<Served> = Vec::new();
    for lane in (0..LANES as u32).filter(|lane| members >> lane & 1 == 1) {
        let new = cell_of(access, lane, service);
        let mut before = cells.iter_mut().filter(|cell| cell.bank == new.bank);
        let same = match service.counted {
            Counted::DistinctWords => before.find(|cell| cell.word == new.word),
            Counted::EveryLane | Counted::EveryLaneTwice | Counted::Rounds | Counted::Nothing => None,
        };
        if let Some(same) = same {
            same.lanes |= new.lanes;
            continue;
        }
        let turn = cells.iter().filter(|cell| cell.bank == new.bank).count() as u32;
        let last = service.counted.wavefronts() * (turn + 1) - 1;
        cells.push(Served { pass: start + last, waits: turn > 0, ..new });
    }
    cells
}

/// A pass a line of 128 bytes.
fn lines(access: &Access, lanes: u32, service: Service) -> Vec<Served> {
    let mut cells: Vec<Served> = Vec::new();
    for lane in (0..LANES as u32).filter(|lane| lanes >> lane & 1 == 1) {
        let new = cell_of(access, lane, service);
        match cells.iter_mut().find(|cell| cell.word == new.word) {
            Some(same) => same.lanes |= new.lanes,
            None => cells.push(new),
        }
    }
    let line = |cell: &Served| cell.word / 32;
    let mut numbers: Vec<u32> = cells.iter().map(line).collect();
    numbers.sort_unstable();
    numbers.dedup();
    for cell in &mut cells {
        cell.pass = numbers.binary_search(&line(cell)).unwrap_or_default() as u32;
        cell.waits = cell.pass >= IDEAL_COPY_LINES;
    }
    cells
}

/// What a lane asks for, in the first pass.
fn cell_of(access: &Access, lane: u32, service: Service) -> Served {
    let (unit, words) = (access.offsets[lane as usize] >> service.unit_shift, 1 << (service.unit_shift - 2));
    Served {
        pass: 0,
        bank: (unit & (service.slots - 1)) * words,
        banks: words,
        word: unit * words,
        lanes: 1 << lane,
        waits: false,
    }
}

/// Lanes of a group, before merging.
pub(crate) fn group_lanes(access: &Access) -> u32 {
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
        Operation::CountShared => (Counted::DistinctWords, false),
        Operation::CompareShared => (Counted::EveryLaneTwice, false),
        Operation::LoopShared => (Counted::Rounds, false),
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

pub(crate) fn group_mask(first: u32, group_lanes: u32) -> u32 {
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
