//! The table of accesses that were counted on an H200.
//!
//! Columns of `h200-accesses.csv`: an identifier; the instruction; bytes a lane (the matrix instructions: number of matrices); the
//! active lanes in hexadecimal; `wavefronts`, `sectors` or `bank_conflicts`; what the hardware counted; 32 byte offsets. Of
//! `cp.async` they are those of the shared side, and the global side is contiguous. Of a loop the wavefronts are those of its
//! loads and its atomics together.
//!
//! Rows 0 to 1605 were the first; rows from 1606 on, atomics most of them, were counted on 2026-11-30 on an H200 with driver
//! 580.159.04, by Nsight Compute 2025.3.1, compiled by nvcc 13.0.88.

use std::path::PathBuf;

use tileproof_model::access::{Access, Cost, LANES, Operation};

/// One counted access.
pub(crate) struct Row<'a> {
    /// Its identifier.
    pub(crate) id: &'a str,
    /// What was executed.
    pub(crate) access: Access,
    /// What was counted.
    pub(crate) metric: Metric,
    /// The count.
    pub(crate) value: u32,
}

/// What was counted.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Metric {
    /// Wavefronts of shared memory.
    Wavefronts,
    /// Sectors of global memory.
    Sectors,
    /// Wavefronts of shared memory beyond the fewest.
    BankConflicts,
}

/// The text of `h200-accesses.csv`, or of the file that the environment variable `TILEPROOF_ACCESSES` names.
pub(crate) fn text() -> String {
    let path = std::env::var_os("TILEPROOF_ACCESSES").map(PathBuf::from).unwrap_or_else(|| {
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../model/tests/h200-accesses.csv"))
    });
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// That of the model.
pub(crate) fn metric_of(cost: &Cost, metric: Metric) -> u32 {
    match metric {
        Metric::Wavefronts => cost.wavefronts,
        Metric::Sectors => cost.sectors,
        Metric::BankConflicts => cost.excess_wavefronts(),
    }
}

/// The first line.
pub(crate) fn header() -> String {
    let lanes: String = (0..LANES).map(|lane| format!(",lane{lane}")).collect();
    format!("id,op,width,active_mask,metric,value{lanes}")
}

/// The rows, or which line is malformed.
pub(crate) fn parse(text: &str) -> Result<Vec<Row<'_>>, String> {
    let mut lines = text.lines();
    if lines.next() != Some(header().as_str()) {
        return Err("line 1: not the expected header".to_owned());
    }
    lines
        .enumerate()
        .map(|(index, line)| parse_row(line).map_err(|error| format!("line {}: {error}", index + 2)))
        .collect()
}

fn parse_row(line: &str) -> Result<Row<'_>, String> {
    let columns: Vec<&str> = line.split(',').collect();
    let expected = 6 + LANES;
    if columns.len() != expected {
        return Err(format!("{} columns instead of {expected}", columns.len()));
    }
    let number = |text: &str| text.parse::<u32>().map_err(|_| format!("`{text}` is no number"));
    let operation = Operation::ALL
        .into_iter()
        .find(|operation| operation.name() == columns[1])
        .ok_or_else(|| format!("unknown operation `{}`", columns[1]))?;
    let width = number(columns[2])?;
    if !operation.widths().contains(&width) {
        return Err(format!("{} has no width {width}", operation.name()));
    }
    let active =
        u32::from_str_radix(columns[3], 16).map_err(|_| format!("`{}` is no mask of lanes", columns[3]))?;
    let metric = match (columns[4], operation) {
        (
            "wavefronts",
            Operation::LoadShared
            | Operation::StoreShared
            | Operation::AtomicShared
            | Operation::CountShared
            | Operation::CompareShared
            | Operation::LoopShared
            | Operation::LoadMatrix
            | Operation::LoadMatrixTransposed
            | Operation::StoreMatrix,
        ) => Metric::Wavefronts,
        ("sectors", Operation::LoadGlobal | Operation::StoreGlobal | Operation::AtomicGlobal) => {
            Metric::Sectors
        }
        ("bank_conflicts", Operation::CopyAsync) => Metric::BankConflicts,
        (metric, operation) => return Err(format!("{} is not measured in `{metric}`", operation.name())),
    };
    let mut offsets = [0; LANES];
    for (offset, column) in offsets.iter_mut().zip(&columns[6..]) {
        *offset = number(column)?;
    }
    let value = number(columns[5])?;
    Ok(Row { id: columns[0], access: Access { operation, width, active, offsets }, metric, value })
}
