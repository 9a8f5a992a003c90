//! The table that the transpose example prints.

use crate::ladder::Rung;
use std::fmt::Write;
use tileproof::report::Role;

/// One kernel after its run.
#[derive(Clone, Copy)]
pub struct Row {
    /// The kernel.
    pub rung: Rung,
    /// Whether its result equals the reference, element by element.
    pub correct: bool,
    /// Registers a thread and bytes of shared memory a block, as NVRTC says.
    pub usage: Option<(u32, u32)>,
    /// Bytes read and written a second.
    pub bandwidth: Option<f64>,
}

/// The table: prediction, result, and what was measured. `ceiling` is the bandwidth of the faster copy of the run, in
/// bytes a second.
///
/// Excess wavefronts are those of the worst warp instruction; efficiency is useful over transferred bytes.
pub fn table(rows: &[Row], ceiling: Option<f64>) -> String {
    let usage = rows.iter().any(|row| row.usage.is_some());
    let mut out = String::from("                      excess wavefronts   sector efficiency\n");
    out.push_str("kernel                   store    load      load    store   result");
    if usage {
        out.push_str("   registers  shared");
    }
    if ceiling.is_some() {
        out.push_str("     GB/s  of copy");
    }
    out.push('\n');
    for row in rows {
        let report = (row.rung.report)();
        let shared = |role| match report.shared_bytes {
            0 => "–".to_string(),
            _ => report.worst_excess_wavefronts(role).to_string(),
        };
        let sectors = |role| {
            report
                .sector_efficiency(role)
                .map_or("–".to_string(), |share| format!("{:.1} %", 100.0 * share))
        };
        let _ = write!(
            out,
            "{:<24} {:>5} {:>7} {:>9} {:>8}   {}",
            row.rung.name,
            shared(Role::Write),
            shared(Role::Read),
            sectors(Role::Read),
            sectors(Role::Write),
            if row.correct { "equal " } else { "WRONG " },
        );
        if let Some((registers, shared)) = row.usage {
            let _ = write!(out, "   {registers:>9} {shared:>7}");
        }
        if let (Some(bandwidth), Some(ceiling)) = (row.bandwidth, ceiling) {
            let _ = write!(out, " {:>8.0} {:>8.3}", bandwidth / 1e9, bandwidth / ceiling);
        }
        out.truncate(out.trim_end().len());
        out.push('\n');
    }
    out
}
