//! Does every global access touch the fewest sectors.
//!
//! Where a tensor starts and how far its rows are apart is known only at launch, so lanes are put in groups whose
//! distances are known; each group is judged at its best alignment, and different groups count as far apart. Of the two
//! aligned vectors of an unaligned load, every lane counts as needing both, and what the worst place of the elements in them
//! costs is what is judged.

use super::words::{count, grouped};
use super::{Visits, banks};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::facts::{Linear, Visit, tensor_offset};
use crate::ir::{Handle, Kernel, Param, Part, Role, Scope, Site};
use tileproof_model::access::{Access, LANES, SECTOR_BYTES, cost};

/// What a site costs.
#[derive(Debug, Default)]
pub(super) struct Judgement {
    /// Warp instructions a block.
    pub(super) instructions: u64,
    /// Sectors a block, at the best alignment.
    pub(super) sectors: u64,
    /// Sectors a block that the same bytes need.
    pub(super) ideal: u64,
    /// Bytes that the lanes ask for, each counted once an instruction, a block.
    pub(super) useful_bytes: u64,
    /// The shortest contiguous run, in bytes.
    pub(super) shortest_run: u32,
    /// The worst instruction, if one has an excess.
    pub(super) worst: Option<Witness>,
    /// Why the cost is not known, if it is not.
    pub(super) unknown: Option<String>,
}

/// A warp instruction with an excess.
#[derive(Debug)]
pub(super) struct Witness {
    warp: usize,
    sectors: u32,
    ideal: u32,
    /// How many bytes the lanes ask for.
    bytes: u32,
    /// Neighbouring lanes and how many bytes they are apart, where that is one known number.
    distance: Option<i64>,
    /// Into how many groups the lanes fall.
    groups: usize,
    /// Lanes that access memory.
    lanes: u32,
}

impl Judgement {
    /// The largest excess of one warp instruction.
    pub(super) fn worst_excess(&self) -> u32 {
        self.worst.as_ref().map_or(0, |worst| worst.sectors - worst.ideal)
    }
}

/// What one instruction of a warp costs.
#[derive(Clone, Copy)]
struct WarpCost {
    /// Sectors at the best alignment of each group.
    sectors: u32,
    ideal: u32,
    /// Bytes that the lanes ask for, each counted once.
    bytes: u32,
    /// The shortest contiguous run, in bytes.
    shortest_run: u32,
}

/// The lanes of a warp whose distances are known.
struct Group {
    /// The lane-varying coefficients that they share.
    key: Vec<i64>,
    /// The lanes, with their byte offsets.
    lanes: Vec<(usize, i64)>,
}

/// Judges the accesses of one site.
pub(super) fn judge(
    kernel: &Kernel,
    handle: Handle<Site>,
    param: Handle<Param>,
    visits: &Visits<'_>,
) -> Judgement {
    let site = &kernel.sites[handle];
    let mut judgement = Judgement { shortest_run: u32::MAX, ..Judgement::default() };
    let mut known: Vec<(Access, WarpCost)> = Vec::new();
    for (run, visit) in visits {
        let offset = match tensor_offset(kernel, param, visit, &run.symbols) {
            Some(offset) if is_in_memory(&offset, visit) => offset,
            Some(_) | None => {
                judgement.unknown = Some("the numbers in the index are too large".into());
                Linear::int(0)
            }
        };
        if let Some((id, _)) =
            offset.terms.iter().find(|(symbol, _)| run.symbols.get(*symbol).scope < Scope::Warp)
        {
            let name = &run.symbols.get(*id).name;
            judgement.unknown =
                Some(format!("the address depends on {name}, and may differ from lane to lane"));
        }
        let first_run = std::ptr::eq(*run, visits[0].0);
        for warp in 0..kernel.threads().div_ceil(LANES as u32) as usize {
            let groups = groups(kernel, site, visit, &offset, warp);
            if groups.is_empty() {
                continue;
            }
            if first_run {
                judgement.instructions += 1;
            }
            if judgement.unknown.is_some() {
                continue;
            }
            let costs = (0..places_in_vector(site)).map(|place| {
                let access = placed(kernel, site, &groups, place);
                let mut cost = match known.iter().find(|(other, _)| *other == access) {
                    Some((_, cost)) => *cost,
                    None => {
                        let cost = warp_cost(kernel, site, &groups, &access);
                        known.push((access, cost));
                        cost
                    }
                };
                let cut = cut_runs(kernel, site, visit, &offset, warp, &access);
                cost.ideal = cost.ideal.max(cut).min(cost.sectors);
                cost
            });
            let worst = costs.max_by_key(|cost| (cost.sectors - cost.ideal, cost.sectors));
            let Some(WarpCost { sectors, ideal, bytes, shortest_run }) = worst else { continue };
            if first_run {
                judgement.sectors += u64::from(sectors);
                judgement.ideal += u64::from(ideal);
                judgement.useful_bytes += u64::from(bytes);
            }
            judgement.shortest_run = judgement.shortest_run.min(shortest_run);
            if sectors - ideal > judgement.worst_excess() {
                judgement.worst = Some(Witness {
                    warp,
                    sectors,
                    ideal,
                    bytes,
                    distance: distance(&groups),
                    groups: groups.len(),
                    lanes: groups.iter().map(|group| group.lanes.len() as u32).sum(),
                });
            }
        }
    }
    if judgement.shortest_run == u32::MAX {
        judgement.shortest_run = 0;
    }
    judgement
}

/// Whether the known part of an offset is small enough to be computed with, as every offset in a memory is.
fn is_in_memory(offset: &Linear, visit: &Visit) -> bool {
    let most = 1 << 48;
    offset.constant.extremes(&visit.mask).is_none_or(|(least, largest)| -most < least && largest < most)
}

fn groups(kernel: &Kernel, site: &Site, visit: &Visit, offset: &Linear, warp: usize) -> Vec<Group> {
    let bytes = i64::from(kernel.element(site.place.base).bytes());
    let mut groups: Vec<Group> = Vec::new();
    let is_there = |lane: &usize| {
        let thread = warp * LANES + lane;
        thread < kernel.threads() as usize && visit.mask.get(thread)
    };
    let active = (0..LANES).filter(is_there).fold(0, |mask, lane| mask | 1 << lane);
    let issuing = banks::issuer(site, visit).lanes(active);
    for lane in (0..LANES).filter(|lane| issuing >> lane & 1 == 1) {
        let thread = warp * LANES + lane;
        let place = offset.constant.get(thread) * bytes;
        let varying = || offset.terms.iter().filter(|(_, coefficient)| coefficient.uniform().is_none());
        let same = |group: &Group| {
            varying().zip(&group.key).all(|((_, coefficient), key)| coefficient.get(thread) == *key)
        };
        match groups.iter_mut().rev().find(|group| same(group)) {
            Some(group) => group.lanes.push((lane, place)),
            None => groups.push(Group {
                key: varying().map(|(_, coefficient)| coefficient.get(thread)).collect(),
                lanes: vec![(lane, place)],
            }),
        }
    }
    groups
}

/// At how many places of an aligned vector the elements may begin.
fn places_in_vector(site: &Site) -> u32 {
    match site.place.part {
        Part::Exact => 1,
        Part::First | Part::Last => site.place.width,
    }
}

/// The access of a warp, each group at a line of its own, where its first element is this many behind an aligned vector's.
fn placed(kernel: &Kernel, site: &Site, groups: &[Group], behind: u32) -> Access {
    let (element, width) = (kernel.element(site.place.base).bytes(), kernel.lane_bytes(site));
    let moved = |offset: u32| {
        let first = offset.wrapping_add(behind * element);
        match site.place.part {
            Part::Exact => first,
            Part::First => first / width * width,
            Part::Last => first.wrapping_add(width - element) / width * width,
        }
    };
    let mut access = Access { operation: site.operation(), width, active: 0, offsets: [0; LANES] };
    let mut next = 0u32;
    for group in groups {
        let least = group.lanes.iter().map(|(_, place)| *place).min().unwrap_or(0);
        let mut end = next;
        for (lane, place) in &group.lanes {
            // Farther apart than this, lanes share nothing whatever the distance.
            let distance = (place - least).min(1 << 24) as u32;
            access.active |= 1 << lane;
            access.offsets[*lane] = moved(next.wrapping_add(distance));
            end = end.max(access.offsets[*lane]);
        }
        next = (end / 128 + 2).wrapping_mul(128);
    }
    access
}

fn warp_cost(kernel: &Kernel, site: &Site, groups: &[Group], access: &Access) -> WarpCost {
    let whole = cost(access);
    let mut out = WarpCost {
        sectors: whole.sectors,
        ideal: whole.ideal_sectors,
        bytes: whole.useful_bytes,
        shortest_run: whole.shortest_run_bytes,
    };
    if out.sectors == out.ideal {
        return out;
    }
    let element = kernel.element(site.place.base).bytes().max(if site.place.width > 1 {
        kernel.lane_bytes(site)
    } else {
        1
    });
    out.sectors = 0;
    for group in groups {
        let mut best = u32::MAX;
        let mut shift = 0;
        while shift < SECTOR_BYTES {
            let mut moved = *access;
            moved.active = 0;
            for (lane, _) in &group.lanes {
                moved.active |= 1 << lane;
                moved.offsets[*lane] = access.offsets[*lane].wrapping_add(shift);
            }
            best = best.min(cost(&moved).sectors);
            shift += element;
        }
        out.sectors += best;
    }
    out.ideal = out.ideal.min(out.sectors);
    out
}

/// The ideal where a run shorter than a sector is cut off by the end of the warp and goes on in the next one: it needs a
/// sector of its own in both.
fn cut_runs(
    kernel: &Kernel,
    site: &Site,
    visit: &Visit,
    offset: &Linear,
    warp: usize,
    access: &Access,
) -> u32 {
    let element = i64::from(kernel.element(site.place.base).bytes());
    let width = i64::from(access.width);
    let threads = kernel.threads() as usize;
    let adjacent = |thread: usize| {
        // Whether the access of this thread ends where the next one's begins.
        thread + 1 < threads
            && visit.mask.get(thread)
            && visit.mask.get(thread + 1)
            && offset.constant.get(thread) * element + width == offset.constant.get(thread + 1) * element
            && offset
                .terms
                .iter()
                .all(|(_, coefficient)| coefficient.get(thread) == coefficient.get(thread + 1))
    };
    let (first, last) = (warp * LANES, (warp + 1) * LANES - 1);
    let mut kept = *access;
    let mut cut = 0;
    if first > 0 && adjacent(first - 1) {
        let mut length = 1;
        while length < LANES && adjacent(first + length - 1) {
            length += 1;
        }
        if length as i64 * width < i64::from(SECTOR_BYTES) {
            cut += 1;
            kept.active &= !(((1u64 << length) - 1) as u32);
        }
    }
    if adjacent(last) {
        let mut length = 1;
        while length < LANES && adjacent(last - length) {
            length += 1;
        }
        if length as i64 * width < i64::from(SECTOR_BYTES) && kept.active != 0 {
            cut += 1;
            kept.active &= !(u32::MAX << (LANES - length));
        }
    }
    if cut == 0 {
        return 0;
    }
    cut + if kept.active == 0 { 0 } else { cost(&kept).ideal_sectors }
}

/// The distance between neighbouring lanes, where all have the same.
fn distance(groups: &[Group]) -> Option<i64> {
    let [group] = groups else { return None };
    let mut pairs = group.lanes.windows(2).map(|pair| pair[1].1 - pair[0].1);
    let first = pairs.next()?;
    pairs.all(|distance| distance == first).then_some(first)
}

/// Reports what the budget does not cover; whether that is something.
pub(super) fn report(
    kernel: &Kernel,
    handle: Handle<Site>,
    judgement: &Judgement,
    diagnostics: &mut Diagnostics,
) -> bool {
    let site = &kernel.sites[handle];
    let budget = site.budget.and_then(|budget| kernel.budgets[budget].excess_sectors);
    if let Some(reason) = &judgement.unknown {
        if budget.is_none() {
            diagnostics.report(
                Diagnostic::new(Code::Uncoalesced, site.span, "whether this access coalesces is not known")
                    .note(reason.clone())
                    .help("take responsibility for the cost: `#[budget(excess_sectors = 31, because = \"…\")]` on the statement"),
            );
        }
        return budget.is_none();
    }
    let Some(worst) = &judgement.worst else { return false };
    let excess = worst.sectors - worst.ideal;
    if budget.is_some_and(|budget| excess <= budget) {
        return false;
    }
    let enough = if worst.ideal == 1 { "is" } else { "are" };
    let mut error = Diagnostic::new(
        Code::Uncoalesced,
        site.span,
        format!(
            "uncoalesced {}: {} of {SECTOR_BYTES} bytes where {} {enough} enough",
            site.role,
            count(worst.sectors, "sector"),
            worst.ideal
        ),
    );
    let element = kernel.element(site.place.base).bytes();
    let shares = site.role == Role::Update && worst.bytes < worst.lanes * element;
    error = error.note(match worst.distance {
        _ if shares => format!(
            "the {} lanes of warp {} update {}, and those of one element wait for each other",
            worst.lanes,
            worst.warp,
            count(worst.bytes / element, "element")
        ),
        Some(distance) => format!(
            "neighbouring lanes of warp {} are {distance} bytes apart, so {} of {} bytes are used",
            worst.warp,
            grouped(worst.bytes),
            grouped(SECTOR_BYTES * worst.sectors)
        ),
        None if worst.groups == 1 => format!(
            "the lanes of warp {} leave gaps between the bytes that they access, so {} of {} bytes are used",
            worst.warp,
            worst.bytes,
            32 * worst.sectors
        ),
        None => format!(
            "the lanes of warp {} are in different rows of `{}`, so {} of {} bytes are used",
            worst.warp,
            kernel.base_name(site.place.base),
            grouped(worst.bytes),
            grouped(SECTOR_BYTES * worst.sectors)
        ),
    });
    if let Some(budget) = budget {
        error = error.note(format!("the budget accepts an excess of {budget}, and this one is {excess}"));
    }
    error = error.help(match shares {
        true => "combine what the lanes bring first, as by `warp_sum`, and let one of them update",
        false => "let `thread_x()` run along the innermost extent; to turn a tile, go through shared memory",
    });
    error = error.help(format!(
        "or accept the cost: `#[budget(excess_sectors = {excess}, because = \"…\")]` on the statement"
    ));
    diagnostics.report(error);
    true
}
