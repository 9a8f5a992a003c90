//! Does every shared access take the fewest wavefronts.

use super::auto::Chosen;
use super::together::{self, Finding};
use super::words::{count, list, verb};
use super::{Visits, fix};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::facts::{Facts, Obstacle, Offsets, Presence, Run, Visit, tile_offsets};
use crate::ir::{Handle, Issuer, Kernel, Layout, Proxy, Site, Tile};
use tileproof_model::access::{Access, Cost, LANES, Operation, cost};
use tileproof_model::banks::bank_conflict;
use tileproof_model::report::WarpAccess;

/// What a layout costs at one access.
#[derive(Debug, Default)]
pub(super) struct Judgement {
    /// Warp instructions a block.
    pub(super) instructions: u64,
    /// Wavefronts a block.
    pub(super) wavefronts: u64,
    /// Wavefronts a block without conflicts.
    pub(super) ideal: u64,
    /// Bytes that the lanes ask for, each counted once an instruction, a block.
    pub(super) useful_bytes: u64,
    /// The most wavefronts of one warp instruction.
    pub(super) most: u32,
    /// The first instruction with the most wavefronts: which warp, and its access, offsets relative to the tile.
    pub(super) longest: Option<(usize, Access)>,
    /// The worst instruction, if one has an excess.
    pub(super) worst: Option<Witness>,
    /// Why the cost is not known, if it is not.
    pub(super) unknown: Option<String>,
}

/// A warp instruction with an excess.
#[derive(Debug)]
pub(super) struct Witness {
    /// Which warp of the block.
    pub(super) warp: usize,
    /// Its access, offsets relative to the tile.
    pub(super) access: Access,
    /// Wavefronts.
    pub(super) wavefronts: u32,
    /// Wavefronts that would be enough.
    pub(super) ideal: u32,
    /// Whether the excess occurs only for some active lanes, which data decides.
    pub(super) some_lanes: bool,
}

impl Judgement {
    /// The largest excess of one warp instruction.
    pub(super) fn worst_excess(&self) -> u32 {
        self.worst.as_ref().map_or(0, |worst| worst.wavefronts - worst.ideal)
    }

    /// The instruction that shows what the access costs, if that is known.
    pub(super) fn costliest(&self) -> Option<WarpAccess> {
        let worst = self.worst.as_ref().map(|worst| (worst.warp, worst.access));
        let (warp, access) = worst.or(self.longest).filter(|_| self.unknown.is_none())?;
        Some(WarpAccess { warp: warp as u32, access })
    }
}

/// Judges the accesses of one site under a layout of its tile.
pub(super) fn judge(
    kernel: &Kernel,
    handle: Handle<Site>,
    tile: Handle<Tile>,
    layout: Layout,
    visits: &Visits<'_>,
) -> Judgement {
    let site = &kernel.sites[handle];
    let mut judgement = Judgement::default();
    let mut known = Known::new();
    for (run, visit) in visits {
        let offsets = match tile_offsets(&kernel.tiles[tile], layout, visit, &run.symbols) {
            Ok(offsets) => offsets,
            Err(obstacle) => {
                judgement.unknown = Some(describe(&obstacle, run));
                Offsets { cases: vec![vec![0]], decides: None }
            }
        };
        let first_run = std::ptr::eq(*run, visits[0].0);
        for warp in 0..kernel.threads().div_ceil(LANES as u32) as usize {
            let mut accesses =
                offsets.cases.iter().filter_map(|case| warp_access(kernel, site, visit, case, warp));
            let Some(access) = accesses.next() else { continue };
            if first_run {
                judgement.instructions += 1;
            }
            if judgement.unknown.is_some() {
                continue;
            }
            let Taken { cost, most, ideal, some_lanes } = taken(site, visit, &access, &mut known);
            if let Some(decides) = &offsets.decides
                && accesses.any(|access| taken(site, visit, &access, &mut known).excess() != most - ideal)
            {
                judgement.unknown = Some(describe(decides, run));
                continue;
            }
            if first_run {
                judgement.wavefronts += u64::from(cost.wavefronts);
                judgement.ideal += u64::from(cost.ideal_wavefronts);
                judgement.useful_bytes += u64::from(cost.useful_bytes);
            }
            if most > judgement.most {
                judgement.most = most;
                judgement.longest = Some((warp, access));
            }
            if most - ideal > judgement.worst_excess() {
                judgement.worst = Some(Witness { warp, access, wavefronts: most, ideal, some_lanes });
            }
        }
    }
    judgement
}

/// Patterns that have come up, with what they cost.
pub(super) type Known = Vec<(Access, Cost)>;

/// What one warp instruction takes.
pub(super) struct Taken {
    cost: Cost,
    /// Wavefronts.
    pub(super) most: u32,
    /// Wavefronts that would be enough.
    pub(super) ideal: u32,
    /// Whether the excess occurs only for some active lanes, which data decides.
    some_lanes: bool,
}

impl Taken {
    /// Wavefronts that would not be needed.
    pub(super) fn excess(&self) -> u32 {
        self.most - self.ideal
    }
}

/// What the access of one warp takes, over all active masks that its visit can have.
pub(super) fn taken(site: &Site, visit: &Visit, access: &Access, known: &mut Known) -> Taken {
    let key = rebased(access);
    let cost = match known.iter().find(|(other, _)| *other == key) {
        Some((_, cost)) => *cost,
        None => {
            let cost = cost(&key);
            known.push((key, cost));
            cost
        }
    };
    let mut taken = Taken { cost, most: cost.wavefronts, ideal: cost.ideal_wavefronts, some_lanes: false };
    if is_wide_copy(site, access.width) {
        // Its wavefronts do not tell: it takes longer the more lines it writes.
        (taken.most, taken.ideal) = (cost.lines, cost.ideal_lines);
        return taken;
    }
    // Fewer lanes never take more wavefronts, but a wide load may merge once partners are missing, which lowers what is
    // ideal.
    let merged = merged_groups(access);
    if cost.excess_wavefronts() == 0
        && visit.presence == Presence::Any
        && access.operation == Operation::LoadShared
        && cost.wavefronts > merged
    {
        (taken.ideal, taken.some_lanes) = (merged, true);
    }
    taken
}

/// Whether it is an asynchronous copy of 16 bytes a lane, which is judged by the lines of 128 bytes that it writes.
fn is_wide_copy(site: &Site, lane_bytes: u32) -> bool {
    match site.proxy {
        Proxy::Generic => false,
        Proxy::Async => lane_bytes == 16,
    }
}

/// How many groups of lanes a load has if all merge that can.
fn merged_groups(access: &Access) -> u32 {
    if access.width <= 8 {
        return 1;
    }
    u32::from(access.active & 0xffff != 0) + u32::from(access.active >> 16 != 0)
}

/// The access of one warp, if one of its lanes can be there.
pub(super) fn warp_access(
    kernel: &Kernel,
    site: &Site,
    visit: &Visit,
    offsets: &[u32],
    warp: usize,
) -> Option<Access> {
    let threads = kernel.threads() as usize;
    let bytes = kernel.element(site.place.base).bytes();
    let mut access = Access {
        operation: site.operation(),
        width: kernel.model_width(site),
        active: 0,
        offsets: [0; LANES],
    };
    let mut lane = 0;
    while lane < LANES {
        let thread = warp * LANES + lane;
        if thread < threads && visit.mask.get(thread) {
            let offset = if offsets.len() == 1 { offsets[0] } else { offsets[thread] };
            access.active |= 1 << lane;
            access.offsets[lane] = offset.wrapping_mul(bytes);
        }
        lane += 1;
    }
    access.active = issuer(site, visit).lanes(access.active);
    (access.active != 0).then_some(access)
}

/// Which lanes execute the access in the worst case: where data decides which are active, all of them may not be.
pub(super) fn issuer(site: &Site, visit: &Visit) -> Issuer {
    match (site.issuer, visit.presence) {
        (Issuer::OneLaneOfFullWarp, Presence::Any) => Issuer::EveryLane,
        (issuer, _) => issuer,
    }
}

/// The access moved down by whole rounds of the banks, so that equal patterns are equal.
fn rebased(access: &Access) -> Access {
    let mut least = u32::MAX;
    let mut lane = 0;
    while lane < LANES {
        if access.active >> lane & 1 == 1 && access.offsets[lane] < least {
            least = access.offsets[lane];
        }
        lane += 1;
    }
    let by = least / 128 * 128;
    let mut out = *access;
    lane = 0;
    while lane < LANES {
        if access.active >> lane & 1 == 1 {
            out.offsets[lane] -= by;
        }
        lane += 1;
    }
    out
}

fn describe(obstacle: &Obstacle, run: &Run) -> String {
    match obstacle {
        Obstacle::Varying(id) => {
            format!("the place depends on {}, and may differ from lane to lane", run.symbols.get(*id).name)
        }
        Obstacle::Residue(id, modulus) => {
            let name = &run.symbols.get(*id).name;
            let residue = match name.contains('`') {
                true => format!("{name} modulo {modulus}"),
                false => format!("`{name} % {modulus}`"),
            };
            format!("the place depends on {residue}, which nothing here fixes")
        }
        Obstacle::Overflow => "the numbers in the index are too large".into(),
    }
}

/// An access whose cost no budget covers; the cause is a tile where another layout of it mends all its accesses.
#[derive(Debug)]
pub(super) struct Uncovered {
    /// The largest excess of one warp instruction.
    excess: u32,
    finding: Finding<Handle<Tile>>,
}

/// Reports the accesses; the worst one speaks for those that one layout mends.
pub(super) fn report(kernel: &Kernel, mut list: Vec<Uncovered>, diagnostics: &mut Diagnostics) {
    list.sort_by_key(|access| std::cmp::Reverse(access.excess));
    together::report(kernel, list.into_iter().map(|access| access.finding).collect(), diagnostics);
}

/// What the budget does not cover, if anything.
pub(super) fn uncovered(
    kernel: &Kernel,
    facts: &Facts,
    handle: Handle<Site>,
    tile: Handle<Tile>,
    judgement: &Judgement,
    chosen: Option<&Chosen>,
    diagnostics: &Diagnostics,
) -> Option<Uncovered> {
    let site = &kernel.sites[handle];
    let budget = site.budget.and_then(|budget| kernel.budgets[budget].bank_conflict);
    if let Some(reason) = &judgement.unknown {
        let error = Diagnostic::new(Code::BankConflict, site.span, "shared-memory bank conflicts cannot be ruled out here")
            .note(reason.clone())
            .help("take responsibility for the cost: `#[budget(bank_conflict = 31, because = \"…\")]` on the statement");
        return budget
            .is_none()
            .then_some(Uncovered { excess: 0, finding: Finding { site: handle, cause: None, error } });
    }
    let worst = judgement.worst.as_ref()?;
    let excess = worst.wavefronts - worst.ideal;
    if budget.is_some_and(|budget| excess <= budget) {
        return None;
    }
    let enough = if worst.ideal == 1 { "is" } else { "are" };
    let message = match is_wide_copy(site, kernel.lane_bytes(site)) {
        false => format!(
            "shared-memory bank conflict: {} where {} {enough} enough",
            count(worst.wavefronts, "wavefront"),
            worst.ideal
        ),
        true => format!(
            "asynchronous copy to scattered places: {} of 128 bytes where {} {enough} enough",
            count(worst.wavefronts, "line"),
            worst.ideal
        ),
    };
    let mut error = Diagnostic::new(Code::BankConflict, site.span, message);
    if worst.some_lanes {
        error = error.note(format!(
            "which lanes of warp {} are active is decided at run time; without every second lane the {} could be served in {}",
            worst.warp,
            site.role,
            count(worst.ideal, "wavefront")
        ));
    } else if let Some(conflict) = bank_conflict(&worst.access) {
        error = error.note(format!(
            "lanes {} of warp {} {} words {}: {} words of bank {}",
            list(conflict.lanes()),
            worst.warp,
            verb(site.role),
            list(conflict.words()),
            conflict.words().len(),
            conflict.bank
        ));
    }
    if let Some(budget) = budget {
        error = error.note(format!("the budget accepts an excess of {budget}, and this one is {excess}"));
    }
    // What the compiler chose is the best that it can offer.
    let fixes = match chosen {
        Some(_) => Vec::new(),
        None => fix::conflict(kernel, facts, handle, tile, diagnostics),
    };
    if fixes.is_empty() {
        let tile = &kernel.tiles[tile];
        error = error.note(match chosen {
            Some(chosen) => format!("`Auto` chose `{}`: {}", tile.rust(tile.layout), chosen.reason),
            None => format!(
                "no padding up to {} elements and no swizzle of `{}` makes every access to it conflict-free",
                fix::MOST_PADDING,
                tile.rust(Layout::RowMajor)
            ),
        });
        error = error.help(format!(
            "change which thread accesses which element, or accept the cost: `#[budget(bank_conflict = {excess}, because = \"…\")]` on the statement"
        ));
    }
    let cause = (!fixes.is_empty()).then_some(tile);
    for fix in fixes {
        error = error.help(fix);
    }
    Some(Uncovered { excess, finding: Finding { site: handle, cause, error } })
}
