//! How much a block computes for what it moves: sums of the operations and of the access sites, by loop.

use crate::diagnostic::Diagnostics;
use crate::facts::Facts;
use crate::ir::{Atomic, Block, Copy, Handle, Kernel, Site, Stmt, Unaligned};
use crate::span::SpanId;
use std::collections::{BTreeMap, BTreeSet};
use tileproof_model::access::WAVEFRONT_BYTES;
use tileproof_model::report::{SiteReport, Space, WorkReport};

/// By site: the innermost loop around it of which one iteration stands for all.
pub(super) fn folds(kernel: &Kernel, facts: &Facts) -> Vec<Option<SpanId>> {
    let folded: BTreeSet<SpanId> =
        facts.runs.iter().flat_map(|run| run.operations.folded.iter().copied()).collect();
    let mut out = vec![None; kernel.sites.len()];
    within(kernel, &kernel.body, &folded, None, &mut out);
    out
}

fn within(
    kernel: &Kernel,
    block: &Block,
    folded: &BTreeSet<SpanId>,
    around: Option<SpanId>,
    out: &mut [Option<SpanId>],
) {
    for stmt in block {
        for site in sites(stmt) {
            out[site.index()] = around;
        }
        let head = match stmt {
            Stmt::For(handle) => Some(kernel.loops[*handle].span),
            Stmt::While { span, .. } => Some(*span),
            Stmt::Assign { .. }
            | Stmt::Fill { .. }
            | Stmt::AssignElement { .. }
            | Stmt::AssignLane { .. }
            | Stmt::Load { .. }
            | Stmt::LoadMatrices { .. }
            | Stmt::LoadUnaligned(_)
            | Stmt::Store { .. }
            | Stmt::Copy(_)
            | Stmt::Sync(..)
            | Stmt::Atomic(_)
            | Stmt::Collective(_)
            | Stmt::If { .. } => None,
        };
        let inner = head.filter(|head| folded.contains(head)).or(around);
        stmt.blocks(kernel).into_iter().for_each(|block| within(kernel, block, folded, inner, out));
    }
}

/// The sites that a statement names itself.
fn sites(stmt: &Stmt) -> Vec<Handle<Site>> {
    match stmt {
        Stmt::Load { site, .. }
        | Stmt::LoadMatrices { site, .. }
        | Stmt::Store { site, .. }
        | Stmt::Atomic(Atomic { site, .. }) => vec![*site],
        Stmt::LoadUnaligned(Unaligned { first, last, .. }) => vec![*first, *last],
        Stmt::Copy(Copy { source, destination, .. }) => vec![*source, *destination],
        Stmt::Assign { .. }
        | Stmt::Fill { .. }
        | Stmt::AssignElement { .. }
        | Stmt::AssignLane { .. }
        | Stmt::Sync(..)
        | Stmt::Collective(_)
        | Stmt::If { .. }
        | Stmt::For(_)
        | Stmt::While { .. } => Vec::new(),
    }
}

/// The work of a block outside such loops, and of an iteration of each that works, in order of the source.
pub(super) fn rows(
    facts: &Facts,
    folds: &[Option<SpanId>],
    sites: &[Option<SiteReport>],
    diagnostics: &Diagnostics,
) -> Vec<WorkReport> {
    let row = |head: Option<SpanId>| WorkReport {
        loop_line: head.map(|head| diagnostics.spans.line(head)),
        calls: head.map_or_else(String::new, |head| diagnostics.spans.calls(head).join(", ")).into(),
        operations: 0,
        global_bytes: Some(0),
        shared_bytes: Some(0),
    };
    let mut rows = BTreeMap::from([(None, row(None))]);
    // The runs are about the same statements, under other residues.
    if let Some(run) = facts.runs.first() {
        for (head, operations) in &run.operations.counts {
            rows.entry(*head).or_insert_with(|| row(*head)).operations = *operations;
        }
    }
    for (head, site) in folds.iter().zip(sites) {
        let Some(site) = site.as_ref().filter(|site| !site.edge) else { continue };
        let row = rows.entry(*head).or_insert_with(|| row(*head));
        let (sum, bytes) = match site.space {
            Space::Global => (&mut row.global_bytes, site.useful_bytes),
            Space::Shared => (&mut row.shared_bytes, site.wavefronts * u64::from(WAVEFRONT_BYTES)),
        };
        *sum = sum.filter(|_| site.unknown.is_empty()).map(|sum| sum.saturating_add(bytes));
    }
    let mut rows: Vec<WorkReport> = rows.into_values().collect();
    rows.sort_by_key(|row| row.loop_line);
    rows
}
