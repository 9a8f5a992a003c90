//! The proofs: each check judges the facts, none computes its own.
//!
//! First the layouts that the source leaves to the compiler are chosen. Then, in order: resources (does the block fit),
//! index range and register arrays (do the values mean what they say), convergence, bounds, alignment, then the costs:
//! banks and coalescing, held against the budgets; last races and initialisation, of indices that are right. Where one of safety cannot decide, it asks whether
//! the source answers for it; a trust that none asked for is an error. What only the launch can settle by one
//! uniform condition becomes a [`LaunchCheck`]. Only this module makes a [`Checked`] kernel, and only a checked kernel is
//! emitted.
//!
//! What a proof here means: for every input that the contract admits, every block and every thread, under the hardware
//! model of `tileproof-model`. It says nothing about what ptxas makes of the text; that is tested on the SASS.

// A new construct must be decided here.
#![deny(clippy::wildcard_enum_match_arm)]

mod alignment;
mod auto;
mod banks;
mod bounds;
mod budget;
mod coalescing;
mod convergence;
mod coverage;
mod fix;
mod global_races;
mod instructions;
mod meeting;
mod races;
mod residual;
mod resources;
mod together;
mod trust;
mod unwritten;
mod values;
mod words;
mod work;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::facts::{Facts, Run, SymbolKind, Visit};
use crate::ir::{Base, Handle, Kernel, Param, Part, Proxy, Site, Tile};
use tileproof_model::report::{Report, SiteReport, Space, TileReport, Verdict};

/// A kernel whose every check has passed.
#[derive(Debug)]
pub struct Checked {
    kernel: Kernel,
    facts: Facts,
    report: Report,
    launch_checks: Vec<LaunchCheck>,
    base_alignment: Vec<u32>,
}

/// A condition that the launcher checks.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LaunchCheck {
    /// A stride of a tensor, in elements, is a multiple of a number; or there is one element in the dimension, whose stride
    /// no address depends on.
    StrideMultiple {
        /// The tensor.
        param: Handle<Param>,
        /// The dimension whose neighbours are that far apart.
        dimension: u32,
        /// The divisor.
        multiple: u32,
    },
    /// A sum of numbers of the launch is a multiple of a number.
    Multiple {
        /// The numbers, each with its factor.
        terms: Vec<(Quantity, i64)>,
        /// What is added to them.
        constant: i64,
        /// The divisor.
        multiple: u32,
    },
}

/// A number that the launcher knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// An extent of a tensor.
    Extent(Handle<Param>, u32),
    /// A stride of a tensor, in elements.
    Stride(Handle<Param>, u32),
    /// A scalar argument.
    Scalar(Handle<Param>),
}

impl Quantity {
    /// What a symbol stands for, if the launcher knows it.
    fn of(kind: &SymbolKind) -> Option<Quantity> {
        match *kind {
            SymbolKind::Extent(param, dimension) => Some(Quantity::Extent(param, dimension)),
            SymbolKind::Stride(param, dimension) => Some(Quantity::Stride(param, dimension)),
            SymbolKind::Scalar(param) => Some(Quantity::Scalar(param)),
            SymbolKind::Misalignment(..)
            | SymbolKind::Block(_)
            | SymbolKind::Grid(_)
            | SymbolKind::Counter(..)
            | SymbolKind::Round(..)
            | SymbolKind::Later(..)
            | SymbolKind::Product(..)
            | SymbolKind::Derived(_)
            | SymbolKind::Opaque(_) => None,
        }
    }

    /// As a user would write it.
    fn text(self, kernel: &Kernel) -> String {
        match self {
            Quantity::Extent(param, dimension) => kernel.extent_name(param, dimension),
            Quantity::Stride(param, dimension) => kernel.stride_name(param, dimension),
            Quantity::Scalar(param) => kernel.params[param].name.clone(),
        }
    }
}

impl LaunchCheck {
    /// The condition as a user would write it.
    pub fn text(&self, kernel: &Kernel) -> String {
        match self {
            LaunchCheck::StrideMultiple { param, dimension, multiple } => {
                format!("{} % {multiple} == 0", kernel.stride_name(*param, *dimension))
            }
            LaunchCheck::Multiple { terms, constant, multiple } => {
                let term = |(quantity, factor): &(Quantity, i64)| match factor {
                    1 => quantity.text(kernel),
                    factor => format!("{factor} * {}", quantity.text(kernel)),
                };
                let mut sum: Vec<String> = terms.iter().map(term).collect();
                sum.extend((*constant != 0).then(|| constant.to_string()));
                match sum.as_slice() {
                    [one] if terms.iter().all(|(_, factor)| *factor == 1) => {
                        format!("{one} % {multiple} == 0")
                    }
                    _ => format!("({}) % {multiple} == 0", sum.join(" + ")),
                }
            }
        }
    }
}

impl Checked {
    /// The kernel.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// What is known about it.
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// What is said about it.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// What the launcher checks besides the contract.
    pub fn launch_checks(&self) -> &[LaunchCheck] {
        &self.launch_checks
    }

    /// By parameter: the bytes to which its first element must be aligned; 1 for scalars.
    pub fn base_alignment(&self) -> &[u32] {
        &self.base_alignment
    }
}

/// The visits of one site, each with the run it belongs to.
type Visits<'a> = Vec<(&'a Run, &'a Visit)>;

/// Judges a kernel. `None` if anything was reported, now or before.
pub fn check(mut kernel: Kernel, facts: Facts, diagnostics: &mut Diagnostics) -> Option<Checked> {
    let (facts, chosen) = auto::choose(&mut kernel, facts, diagnostics);
    if let Some(span) = facts.exhausted {
        diagnostics.report(
            Diagnostic::new(Code::Unsupported, span, "this takes too many steps to be followed at compile time")
                .note("the proofs execute loops with constant bounds, iteration by iteration, for all threads of a block")
                .help("make the loops shorter, or give them a bound that only the launch knows: an extent or an argument"),
        );
        return None;
    }
    resources::check(&kernel, diagnostics);
    instructions::check(&kernel, diagnostics);
    let mut needed = trust::Needed::default();
    values::check(&kernel, &facts, &mut needed, diagnostics);
    convergence::check(&kernel, &facts, &mut needed, diagnostics);
    let folds = work::folds(&kernel, &facts);
    let mut rows = Vec::new();
    let mut violations: Vec<bounds::Violation> = Vec::new();
    let (mut misaligned, mut conflicts) = (Vec::new(), Vec::new());
    let mut refused: Option<Handle<Site>> = None;
    let mut launch_checks = Vec::new();
    let mut base_alignment: Vec<u32> = kernel.params.iter().map(|_| 1).collect();
    for site in kernel.sites.handles() {
        let visits = visits_of(&facts, site);
        if visits.iter().any(|(run, visit)| visit.index.iter().any(|form| run.follows_escape(form))) {
            // Reported where the index was computed; what would be said here follows from that.
            rows.push(None);
            continue;
        }
        let (bounds, violation) = match bounds::judge(&kernel, site, &visits, &mut needed, diagnostics) {
            Ok(verdict) => (verdict, None),
            Err(violation) => (Verdict::Proven, Some(violation)),
        };
        // What is wrong with the indices of an operation is wrong inside and at the edge, and of both its parts.
        let place = |site: Handle<Site>| {
            let start = diagnostics.spans.get(kernel.sites[site].span).start.start();
            (start.line, start.column)
        };
        let is_other = kernel.sites[site].edge || kernel.sites[site].place.part == Part::Last;
        let reported =
            is_other && violations.iter().any(|other: &bounds::Violation| place(other.site) == place(site));
        violations.extend(violation.filter(|_| !reported));
        let aligned = alignment::check(&kernel, site, &visits, diagnostics);
        if aligned.bad {
            misaligned.push(site);
            rows.push(None);
            continue;
        }
        let alignment_verdict = alignment_verdict(&kernel, &aligned);
        if let (Base::Tensor(param), Some(bytes)) = (kernel.sites[site].place.base, aligned.base) {
            let needed = &mut base_alignment[param.index()];
            *needed = bytes.max(*needed);
        }
        launch_checks.extend(aligned.checks);
        let cost = match kernel.sites[site].place.base {
            Base::Tile(tile) => {
                let layout = kernel.tiles[tile].layout;
                Cost::Shared(tile, Box::new(banks::judge(&kernel, site, tile, layout, &visits)))
            }
            Base::Tensor(param) => Cost::Global(coalescing::judge(&kernel, site, param, &visits)),
        };
        let loop_line = folds[site.index()].map(|head| diagnostics.spans.line(head));
        rows.push(Some(row(&kernel, site, loop_line, &cost, bounds, alignment_verdict, diagnostics)));
        if kernel.sites[site].edge {
            continue;
        }
        match &cost {
            Cost::Shared(tile, cost) => {
                let chosen = auto::of(&chosen, *tile);
                conflicts.extend(banks::uncovered(&kernel, &facts, site, *tile, cost, chosen, diagnostics));
            }
            // What is wrong with the first part of an unaligned load is wrong with the last.
            Cost::Global(_) if refused.is_some_and(|first| is_last_of(&kernel, site, first)) => {}
            Cost::Global(cost) => {
                refused = coalescing::report(&kernel, site, cost, diagnostics).then_some(site);
            }
        }
    }
    let outside: Vec<Handle<Site>> = violations.iter().map(|violation| violation.site).collect();
    bounds::report(&kernel, violations, diagnostics);
    alignment::report(&kernel, &facts, &misaligned, diagnostics);
    banks::report(&kernel, conflicts, diagnostics);
    budget::check(&kernel, &rows, diagnostics);
    // Where an index leaves its tile, what it meets there follows from that.
    let mut barriers = Vec::new();
    if outside.is_empty() && facts.runs.iter().all(|run| run.escapes.is_empty() && run.divergences.is_empty())
    {
        let raced;
        (barriers, raced) = races::check(&kernel, &facts, &mut needed, diagnostics);
        unwritten::check(&kernel, &facts, &raced, &mut needed, diagnostics);
    }
    global_races::check(&kernel, &facts, &outside, &mut needed, diagnostics);
    // What was refused may have been all that needed a trust.
    if !diagnostics.is_failed() {
        trust::check(&kernel, &needed, diagnostics);
        coverage::check(&kernel, &facts, diagnostics);
    }
    if diagnostics.is_failed() {
        return None;
    }
    launch_checks.sort();
    launch_checks.dedup();
    let report = Report {
        kernel: kernel.name.clone().into(),
        block: kernel.block,
        shared_bytes: kernel.shared_bytes().1,
        tiles: kernel.tiles.iter().map(|(handle, tile)| tile_row(tile, auto::of(&chosen, handle))).collect(),
        work: work::rows(&facts, &folds, &rows, diagnostics).into(),
        sites: rows.into_iter().flatten().collect(),
        barriers: barriers.into(),
        least_architecture: instructions::row(&kernel, diagnostics),
        occupancy: resources::occupancies(&kernel).into(),
        launch_checks: kernel
            .requires
            .iter()
            .map(|contract| diagnostics.spans.get(contract.span).text.clone().into())
            .chain(launch_checks.iter().map(|check| check.text(&kernel).into()))
            .collect(),
        trusts: trust::rows(&kernel, &needed, diagnostics).into(),
    };
    Some(Checked { kernel, facts, report, launch_checks, base_alignment })
}

/// Whether a site is the last part of the load of which another is the first.
fn is_last_of(kernel: &Kernel, site: Handle<Site>, first: Handle<Site>) -> bool {
    let (first, last) = (&kernel.sites[first].place, &kernel.sites[site].place);
    (first.part, last.part) == (Part::First, Part::Last) && first.index == last.index
}

enum Cost {
    Shared(Handle<Tile>, Box<banks::Judgement>),
    Global(coalescing::Judgement),
}

/// Why the cost of an access that serves only edges is accepted.
const AT_THE_EDGE: &str = "only at the edge of the tensor";

fn visits_of(facts: &Facts, site: Handle<Site>) -> Visits<'_> {
    facts
        .runs
        .iter()
        .flat_map(|run| {
            run.visits.iter().filter(move |visit| visit.site == site).map(move |visit| (run, visit))
        })
        .collect()
}

fn alignment_verdict(kernel: &Kernel, aligned: &alignment::Aligned) -> Verdict {
    let mut conditions: Vec<String> = aligned.checks.iter().map(|check| check.text(kernel)).collect();
    conditions.extend(
        aligned
            .base
            .filter(|bytes| *bytes > 1)
            .map(|bytes| format!("the first element is {bytes}-byte aligned")),
    );
    if conditions.is_empty() { Verdict::Proven } else { Verdict::AtLaunch(conditions.join(", ").into()) }
}

fn row(
    kernel: &Kernel,
    handle: Handle<Site>,
    loop_line: Option<u32>,
    cost: &Cost,
    bounds: Verdict,
    alignment: Verdict,
    diagnostics: &Diagnostics,
) -> SiteReport {
    let site = &kernel.sites[handle];
    let budget = site.budget.map(|budget| &kernel.budgets[budget]);
    let verdict = |used: bool| match budget {
        Some(budget) if used => Verdict::Budgeted(budget.because.clone().into()),
        None if used && site.edge => Verdict::Budgeted(AT_THE_EDGE.into()),
        _ => Verdict::Proven,
    };
    let part = match site.place.part {
        Part::Exact => "",
        Part::First => ", the first aligned vector",
        Part::Last => ", the last aligned vector where it is another",
    };
    let mut row = SiteReport {
        access: format!("{}{part}", diagnostics.spans.get(site.span).text).into(),
        object: kernel.base_name(site.place.base).to_string().into(),
        space: Space::Shared,
        role: site.role,
        line: diagnostics.spans.line(site.span),
        calls: diagnostics.spans.calls(site.span).join(", ").into(),
        also: site.also.iter().map(|span| diagnostics.spans.line(*span)).collect(),
        loop_line,
        operation: site.operation(),
        lane_bytes: kernel.moved_bytes(site),
        instructions: 0,
        wavefronts: 0,
        ideal_wavefronts: 0,
        worst_excess_wavefronts: 0,
        costliest: None,
        sectors: 0,
        ideal_sectors: 0,
        worst_excess_sectors: 0,
        useful_bytes: 0,
        shortest_run_bytes: 0,
        unknown: Default::default(),
        cost: Verdict::Proven,
        bounds,
        alignment,
        asynchronous: match site.proxy {
            Proxy::Generic => false,
            Proxy::Async => true,
        },
        edge: site.edge,
    };
    match cost {
        Cost::Shared(_, cost) => {
            row.instructions = cost.instructions;
            row.wavefronts = cost.wavefronts;
            row.ideal_wavefronts = cost.ideal;
            row.worst_excess_wavefronts = cost.worst_excess();
            row.costliest = cost.costliest();
            row.useful_bytes = cost.useful_bytes;
            row.unknown = cost.unknown.clone().unwrap_or_default().into();
            row.cost = verdict(row.worst_excess_wavefronts > 0 || cost.unknown.is_some());
        }
        Cost::Global(cost) => {
            row.space = Space::Global;
            row.instructions = cost.instructions;
            row.sectors = cost.sectors;
            row.ideal_sectors = cost.ideal;
            row.worst_excess_sectors = cost.worst_excess();
            row.useful_bytes = cost.useful_bytes;
            row.shortest_run_bytes = cost.shortest_run;
            row.unknown = cost.unknown.clone().unwrap_or_default().into();
            row.cost = verdict(row.worst_excess_sectors > 0 || cost.unknown.is_some());
        }
    }
    row
}

fn tile_row(tile: &Tile, chosen: Option<&auto::Chosen>) -> TileReport {
    TileReport {
        name: tile.name.clone().into(),
        ty: tile.rust(tile.layout).into(),
        bytes: tile.bytes(),
        chosen: chosen.map(|chosen| chosen.reason.clone().into()),
    }
}
