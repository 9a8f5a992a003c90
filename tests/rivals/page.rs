//! The text of the page.

use super::accesses::{Metric, Row};
use super::{MODELS, Model, is_clean, predicted};
use std::collections::BTreeMap;
use std::fmt::Write;
use tileproof_model::access::{LANES, Operation};

const HEAD: &str = "# Other models on the same accesses

Bank conflicts and coalescing have been predicted before. This page puts the rules that others published to the accesses that were counted
one by one on an H200, the same that [our own model](reference/proofs.md#what-the-counts-are) is held to.

What *agrees* means: the rule gives the number that the hardware counter gave, of wavefronts, of conflicts (`cp.async`) or of
sectors. Rules that speak of n-way conflicts are taken to mean n wavefronts in each group that they look at, which is the reading that
favours them most. We wrote the rules down from what their authors published, and ran none of their code; where we read them wrongly, the
fault is ours. They were not all made to count wavefronts: a rule that finds the worst conflict can be a good guide and yet
count wrongly, so the second table asks only whether a rule sees that there *is* a conflict.

";

/// Rows that stand together.
fn family(row: &Row<'_>) -> (String, u32) {
    let (operation, width) = (row.access.operation, row.access.width);
    let bytes = if width == 1 { "1 byte".to_owned() } else { format!("{width} bytes") };
    let name = match operation {
        Operation::LoadShared | Operation::StoreShared => format!("`{}`, {bytes}", operation.name()),
        Operation::CopyAsync => format!("`cp.async`, {bytes}, conflicts"),
        Operation::LoadMatrix => "`ldmatrix`".to_owned(),
        Operation::LoadMatrixTransposed => "`ldmatrix.trans`".to_owned(),
        Operation::StoreMatrix => "`stmatrix`".to_owned(),
        Operation::AtomicShared => "shared atomics".to_owned(),
        Operation::CountShared => "shared atomics that count lanes".to_owned(),
        Operation::CompareShared => "shared compare-and-exchange".to_owned(),
        Operation::LoopShared => "shared atomics that are loops".to_owned(),
        Operation::LoadGlobal => "global loads, sectors".to_owned(),
        Operation::StoreGlobal => "global stores, sectors".to_owned(),
        Operation::AtomicGlobal => "global atomics, sectors".to_owned(),
    };
    let order = operation as u32 * 32
        + match operation {
            Operation::LoadShared | Operation::StoreShared | Operation::CopyAsync => width,
            _ => 0,
        };
    (name, order)
}

/// The page for these rows and what the profiler's model said.
pub(crate) fn page(rows: &[Row<'_>], profiler: &BTreeMap<&str, u32>) -> String {
    let mut out = HEAD.to_owned();
    for Model { name, about, .. } in &MODELS {
        let _ = writeln!(out, "- **{name}**: {about}");
    }
    out.push_str(PROFILER);
    counts(&mut out, rows, profiler);
    verdicts(&mut out, rows);
    examples(&mut out, rows);
    out
}

const PROFILER: &str = "- **profiler**: what Nsight Compute 2025.3.1 shows beside the source, `smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_…`: a model
  of its own, computed from the addresses. It was kept for part of the accesses. Of the plain ones it was only counted when the first of
  them were measured, and agreed on 434 of 434 stores and on 432 of 450 loads; it missed among merged and partly active wide loads.

";

fn counts(out: &mut String, rows: &[Row<'_>], profiler: &BTreeMap<&str, u32>) {
    let mut families: BTreeMap<u32, (String, Vec<&Row<'_>>)> = BTreeMap::new();
    for row in rows {
        let (name, order) = family(row);
        families.entry(order).or_insert((name, Vec::new())).1.push(row);
    }
    out.push_str("## Counts that agree with the hardware\n\n\"23 of 41\" means that 41 accesses got an answer and 23 of the answers agree; – that the rule says nothing of the\noperation.\n\n| operation | accesses |");
    MODELS.iter().for_each(|model| {
        let _ = write!(out, " {} |", model.name);
    });
    out.push_str(" profiler |\n|---|--:|");
    out.push_str(&"--:|".repeat(MODELS.len() + 1));
    out.push('\n');
    for (name, rows) in families.values() {
        let _ = write!(out, "| {name} | {} |", rows.len());
        for model in &MODELS {
            let agreements = rows.iter().filter_map(|row| {
                (model.answer)(&row.access).map(|answer| predicted(answer, row.metric) == row.value)
            });
            let _ = write!(out, " {} |", of(agreements));
        }
        let read = rows.iter().filter_map(|row| profiler.get(row.id).map(|said| *said == row.value));
        let _ = writeln!(out, " {} |", of(read));
    }
    out.push_str("\nThe scattered atomics in global memory on which tileproof disagrees took one sector more than it says; its report calls them estimated.\n\n");
}

/// `23 of 41`.
fn of(agreements: impl Iterator<Item = bool>) -> String {
    let (mut right, mut all) = (0, 0);
    for agrees in agreements {
        right += u32::from(agrees);
        all += 1;
    }
    if all == 0 { "–".to_owned() } else { format!("{right} of {all}") }
}

/// Loads and stores of shared and global memory.
fn is_judged(row: &Row<'_>) -> bool {
    matches!(row.metric, Metric::Wavefronts | Metric::Sectors)
        && matches!(
            row.access.operation,
            Operation::LoadShared | Operation::StoreShared | Operation::LoadGlobal | Operation::StoreGlobal
        )
}

fn verdicts(out: &mut String, rows: &[Row<'_>]) {
    out.push_str("## Conflict or not\n\nLoads and stores of shared and global memory, no atomics. A *false alarm* calls an access costly for which the hardware took no more than is needed; a *miss* calls a\ncostly access clean.\n\n| model | answers | right | false alarms | misses |\n|---|--:|--:|--:|--:|\n");
    for model in &MODELS {
        let (mut answers, mut alarms, mut misses) = (0, 0, 0);
        for row in rows.iter().filter(|row| is_judged(row)) {
            let Some(answer) = (model.answer)(&row.access) else { continue };
            let (says, is) = (answer.cost <= answer.ideal, is_clean(row));
            answers += 1;
            alarms += u32::from(!says && is);
            misses += u32::from(says && !is);
        }
        let right = answers - alarms - misses;
        let _ = writeln!(out, "| {} | {answers} | {right} | {alarms} | {misses} |", model.name);
    }
    out.push('\n');
}

fn examples(out: &mut String, rows: &[Row<'_>]) {
    out.push_str("## One access each\n\nThe plainest access of the table on which each rule is wrong: of those of a full warp the one whose offsets are smallest.\n");
    for model in MODELS.iter().filter(|model| model.name != "tileproof") {
        let wrong = rows.iter().filter(|row| {
            (model.answer)(&row.access).is_some_and(|answer| predicted(answer, row.metric) != row.value)
        });
        let plainness = |row: &&Row<'_>| {
            (row.access.active != u32::MAX, row.access.offsets.iter().map(|o| u64::from(*o)).sum::<u64>())
        };
        let Some(row) = wrong.min_by_key(plainness) else { continue };
        let Some(answer) = (model.answer)(&row.access) else { continue };
        let unit = match row.metric {
            Metric::Wavefronts => "wavefront",
            Metric::Sectors => "sector",
            Metric::BankConflicts => "conflict",
        };
        let said = predicted(answer, row.metric);
        let plural = if said == 1 { "" } else { "s" };
        let offsets: Vec<String> = (0..LANES)
            .map(|lane| match row.access.active >> lane & 1 {
                1 => row.access.offsets[lane].to_string(),
                _ => "·".to_owned(),
            })
            .collect();
        let _ = write!(
            out,
            "\n**{}** says {said} {unit}{plural} of this {} (row {}), and the hardware took {}:\n\n```text\n{}\n{}\n```\n",
            model.name,
            family(row).0,
            row.id,
            row.value,
            offsets[..16].join(" "),
            offsets[16..].join(" "),
        );
    }
}
