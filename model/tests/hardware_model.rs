//! Every access that was counted on an H200, against the model.
//!
//! Reads `h200-accesses.csv` beside this file, or the file that the environment variable `TILEPROOF_ACCESSES` names.
//! Columns: an identifier; the instruction; bytes a lane (the matrix instructions: number of matrices); the active
//! lanes in hexadecimal; `wavefronts`, `sectors` or `bank_conflicts`; what the hardware counted; 32 byte offsets.
//! `cargo test -p tileproof-model --test hardware_model -- --nocapture` shows the counts.

use std::path::PathBuf;

use tileproof_model::access::{Access, Cost, LANES, Operation, cost};

struct Row<'a> {
    id: &'a str,
    access: Access,
    metric: Metric,
    value: u32,
}

#[derive(Debug)]
enum Metric {
    Wavefronts,
    Sectors,
    BankConflicts,
}

#[test]
fn the_model_agrees_with_every_counted_access() {
    let path = std::env::var_os("TILEPROOF_ACCESSES")
        .map(PathBuf::from)
        .unwrap_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/h200-accesses.csv")));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let rows = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    assert!(!rows.is_empty(), "{}: no accesses", path.display());

    let mut by_operation = [(0, 0); Operation::ALL.len()];
    let mut disagreements = Vec::new();
    for row in &rows {
        let modelled = metric_of(&cost(&row.access), &row.metric);
        let (agreeing, total) = &mut by_operation[row.access.operation as usize];
        *total += 1;
        if modelled == row.value {
            *agreeing += 1;
        } else {
            disagreements.push(format!(
                "{}: {} of width {}: {:?} {modelled}, counted {}",
                row.id,
                row.access.operation.name(),
                row.access.width,
                row.metric,
                row.value
            ));
        }
    }
    for (operation, (agreeing, total)) in Operation::ALL.into_iter().zip(by_operation) {
        println!("  {:<16} {agreeing:>5} of {total:>5}", operation.name());
    }
    println!("{} of {} accesses agree", rows.len() - disagreements.len(), rows.len());
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
}

#[test]
fn malformed_accesses_are_refused() {
    let header = header();
    let offsets = ",0".repeat(LANES);
    let good = format!("{header}\n1,ld.shared,4,ffffffff,wavefronts,1{offsets}\n");
    assert_eq!(parse(&good).map(|rows| rows.len()), Ok(1));
    for (row, complaint) in [
        (format!("1,ld.local,4,ffffffff,wavefronts,1{offsets}"), "line 2: unknown operation `ld.local`"),
        (format!("1,ld.shared,3,ffffffff,wavefronts,1{offsets}"), "line 2: ld.shared has no width 3"),
        (format!("1,ld.shared,4,fffffffg,wavefronts,1{offsets}"), "line 2: `fffffffg` is no mask of lanes"),
        (
            format!("1,ld.shared,4,ffffffff,sectors,1{offsets}"),
            "line 2: ld.shared is not measured in `sectors`",
        ),
        (format!("1,ld.shared,4,ffffffff,wavefronts,one{offsets}"), "line 2: `one` is no number"),
        (format!("1,ld.shared,4,ffffffff,wavefronts,1{offsets},0"), "line 2: 39 columns instead of 38"),
    ] {
        let found = parse(&format!("{header}\n{row}\n")).map(|rows| rows.len());
        assert_eq!(found, Err(complaint.to_owned()));
    }
    assert_eq!(parse("id,op\n").map(|rows| rows.len()), Err("line 1: not the expected header".to_owned()));
}

fn metric_of(cost: &Cost, metric: &Metric) -> u32 {
    match metric {
        Metric::Wavefronts => cost.wavefronts,
        Metric::Sectors => cost.sectors,
        Metric::BankConflicts => cost.excess_wavefronts(),
    }
}

fn header() -> String {
    let lanes: String = (0..LANES).map(|lane| format!(",lane{lane}")).collect();
    format!("id,op,width,active_mask,metric,value{lanes}")
}

fn parse(text: &str) -> Result<Vec<Row<'_>>, String> {
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
            | Operation::LoadMatrix
            | Operation::LoadMatrixTransposed
            | Operation::StoreMatrix,
        ) => Metric::Wavefronts,
        ("sectors", Operation::LoadGlobal | Operation::StoreGlobal) => Metric::Sectors,
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
