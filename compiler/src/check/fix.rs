//! Layouts that mend a tile, each tried on every access to it.

use super::words::{accesses, and, grouped};
use super::{alignment, banks, resources, visits_of};
use crate::diagnostic::Diagnostics;
use crate::facts::Facts;
use crate::ir::{Base, Budget, Handle, Kernel, Layout, Site, Tile};

/// How many elements of padding are tried.
pub(super) const MOST_PADDING: u32 = 32;

/// What a layout does to the accesses of its tile.
struct Outcome {
    layout: Layout,
    /// Bytes of the tile.
    bytes: u32,
    /// By access to the tile: wavefronts of the worst warp instruction.
    wavefronts: Vec<u32>,
    /// Budgets that accept more than what is left, and what that is.
    loose: Vec<(Handle<Budget>, u32)>,
}

/// What to write instead where an access conflicts, as help lines: the least padding that works, and the simplest swizzle.
pub(super) fn conflict(
    kernel: &Kernel,
    facts: &Facts,
    site: Handle<Site>,
    tile: Handle<Tile>,
    diagnostics: &Diagnostics,
) -> Vec<String> {
    let sites = sites_of(kernel, tile);
    let layout = kernel.tiles[tile].layout;
    let before: Vec<u32> = sites
        .iter()
        .map(|site| banks::judge(kernel, *site, tile, layout, &visits_of(facts, *site)).most)
        .collect();
    let mut first: Option<Vec<u32>> = None;
    let mut help = Vec::new();
    for outcome in search(kernel, facts, tile) {
        let ty = kernel.tiles[tile].rust(outcome.layout);
        let bytes = grouped(outcome.bytes);
        let budgets = budgets(kernel, &outcome, diagnostics);
        if first.as_ref() == Some(&outcome.wavefronts) {
            help.push(format!("`{ty}` likewise, in {bytes} bytes{budgets}"));
            continue;
        }
        let mut clauses = Vec::new();
        for (place, handle) in sites.iter().enumerate() {
            if *handle == site {
                clauses.insert(0, format!("makes this {}", outcome.wavefronts[place]));
            }
        }
        clauses.extend(others(kernel, site, &sites, &before, &outcome.wavefronts, diagnostics));
        let clauses = match clauses.as_slice() {
            [this] => this.clone(),
            [this, rest @ ..] => format!("{this}, and {}", and(rest)),
            [] => continue,
        };
        help.push(format!("`{ty}` {clauses} ({bytes} bytes){budgets}"));
        first = Some(outcome.wavefronts);
    }
    help
}

/// What to write instead where accesses are not aligned, as help lines.
pub(super) fn misalignment(
    kernel: &Kernel,
    facts: &Facts,
    tile: Handle<Tile>,
    diagnostics: &Diagnostics,
) -> Vec<String> {
    let name = &kernel.tiles[tile].name;
    let outcomes = search(kernel, facts, tile).into_iter().enumerate();
    outcomes
        .map(|(place, outcome)| {
            let ty = kernel.tiles[tile].rust(outcome.layout);
            let (bytes, budgets) = (grouped(outcome.bytes), budgets(kernel, &outcome, diagnostics));
            match place {
                0 => format!(
                    "`{ty}` aligns every access to `{name}`, without bank conflicts ({bytes} bytes){budgets}"
                ),
                _ => format!("`{ty}` likewise, in {bytes} bytes{budgets}"),
            }
        })
        .collect()
}

/// The first padding and the first swizzle that work.
fn search(kernel: &Kernel, facts: &Facts, tile: Handle<Tile>) -> Vec<Outcome> {
    let row = kernel.tiles[tile].extents.last().copied().unwrap_or(1);
    let pads = std::iter::once(Layout::RowMajor).chain((1..=MOST_PADDING).map(Layout::Pad));
    let xors = (0..8).map(|log| 1 << log).filter(|chunk| *chunk < row).map(Layout::Xor);
    let swizzles = (1..=5).flat_map(|bits| {
        (0..=5).flat_map(move |base| {
            let shifts = (bits as i32)..=10;
            shifts.map(move |shift| Layout::Swizzle { bits, base, shift })
        })
    });
    let pad = pads.into_iter().find_map(|layout| outcome(kernel, facts, tile, layout));
    let swizzle = xors.chain(swizzles).find_map(|layout| outcome(kernel, facts, tile, layout));
    pad.into_iter().chain(swizzle).collect()
}

/// What a layout does, if it fits the block and every access to the tile is aligned and without an excess that no budget
/// accepts.
fn outcome(kernel: &Kernel, facts: &Facts, tile: Handle<Tile>, layout: Layout) -> Option<Outcome> {
    let shape = &kernel.tiles[tile];
    if layout == shape.layout || layout.defect(&shape.extents).is_some() {
        return None;
    }
    let bytes = bytes_if_fits(kernel, tile, layout)?;
    let mut wavefronts = Vec::new();
    let mut excesses = Vec::new();
    for handle in sites_of(kernel, tile) {
        let visits = visits_of(facts, handle);
        let site = &kernel.sites[handle];
        let width = site.place.width;
        let aligned = width == 1
            || visits.iter().all(|(run, visit)| {
                alignment::tile_access_aligned(shape, layout, width, visit, &run.symbols)
            });
        if !aligned {
            return None;
        }
        let judgement = banks::judge(kernel, handle, tile, layout, &visits);
        let accepted = site.budget.and_then(|budget| kernel.budgets[budget].bank_conflict).unwrap_or(0);
        if judgement.worst_excess() > accepted || judgement.unknown.is_some() {
            return None;
        }
        wavefronts.push(judgement.most);
        excesses.push((handle, judgement.worst_excess()));
    }
    let loose = loose(kernel, facts, &excesses);
    Some(Outcome { layout, bytes, wavefronts, loose })
}

/// The bytes of a tile under a layout, if the block's shared memory holds it and the other tiles.
pub(super) fn bytes_if_fits(kernel: &Kernel, tile: Handle<Tile>, layout: Layout) -> Option<u32> {
    let shape = &kernel.tiles[tile];
    let bytes = Tile { layout, ..shape.clone() }.bytes();
    // The tiles behind this one may have to start up to an alignment later.
    let (_, before) = kernel.shared_bytes();
    let behind = if tile.index() + 1 < kernel.tiles.len() { shape.alignment } else { 0 };
    let total = u64::from(before - shape.bytes()) + u64::from(bytes) + u64::from(behind);
    (total <= u64::from(resources::room(kernel, before))).then_some(bytes)
}

/// The budgets that accept more than occurs once the accesses to a tile have these excesses.
fn loose(kernel: &Kernel, facts: &Facts, excesses: &[(Handle<Site>, u32)]) -> Vec<(Handle<Budget>, u32)> {
    let mut loose = Vec::new();
    for (handle, budget) in kernel.budgets.iter() {
        let Some(accepted) = budget.bank_conflict else { continue };
        let covers = |site: Handle<Site>| kernel.sites[site].budget == Some(handle);
        if !excesses.iter().any(|(site, _)| covers(*site)) {
            continue;
        }
        let most = kernel.sites.handles().filter(|site| covers(*site)).map(|site| {
            match (excesses.iter().find(|(other, _)| *other == site), kernel.sites[site].place.base) {
                (Some((_, excess)), _) => *excess,
                (None, Base::Tile(tile)) => {
                    let layout = kernel.tiles[tile].layout;
                    banks::judge(kernel, site, tile, layout, &visits_of(facts, site)).worst_excess()
                }
                (None, Base::Tensor(_)) => 0,
            }
        });
        let most = most.max().unwrap_or(0);
        if most < accepted {
            loose.push((handle, most));
        }
    }
    loose
}

/// What becomes of the budgets.
fn budgets(kernel: &Kernel, outcome: &Outcome, diagnostics: &Diagnostics) -> String {
    let budgets = outcome.loose.iter().map(|(budget, most)| {
        let line = diagnostics.spans.line(kernel.budgets[*budget].span);
        match most {
            0 => format!("; remove the budget on line {line} then"),
            most => format!("; lower the budget on line {line} to {most} then"),
        }
    });
    budgets.collect()
}

/// The accesses to a tile, but those that serve only edges: single elements, whose cost is not judged.
pub(super) fn sites_of(kernel: &Kernel, tile: Handle<Tile>) -> Vec<Handle<Site>> {
    kernel
        .sites
        .iter()
        .filter(|(_, site)| site.place.base == Base::Tile(tile) && !site.edge)
        .map(|(handle, _)| handle)
        .collect()
}

/// What becomes of the other accesses to the tile: those with equal numbers in one clause.
fn others(
    kernel: &Kernel,
    site: Handle<Site>,
    sites: &[Handle<Site>],
    before: &[u32],
    after: &[u32],
    diagnostics: &Diagnostics,
) -> Vec<String> {
    let rest = || sites.iter().enumerate().filter(|(_, other)| **other != site);
    let mut changes: Vec<(u32, u32)> = Vec::new();
    for (place, _) in rest() {
        let change = (before[place], after[place]);
        if !changes.contains(&change) {
            changes.push(change);
        }
    }
    changes
        .into_iter()
        .map(|(from, to)| {
            let same = rest().filter(|(place, _)| (before[*place], after[*place]) == (from, to));
            let group: Vec<Handle<Site>> = same.map(|(_, other)| *other).collect();
            let names = accesses(kernel, &group, &diagnostics.spans);
            let (stays, goes) = if group.len() == 1 { ("stays", "goes") } else { ("stay", "go") };
            match from == to {
                true => format!("{names} {stays} at {to}"),
                false => format!("{names} {goes} from {from} to {to}"),
            }
        })
        .collect()
}
