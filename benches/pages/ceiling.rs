//! The page of copies, transposes and permutations.

use super::Page;
use super::plot::{Axis, Series, legend, lines, rows};
use std::fmt::Write;
use tileproof_benches::record::{Figure, Record, Row};

pub(crate) const FILE: &str = "ceiling.md";

const TITLE: &str = "At the copy ceiling";

const HEAD: &str = "A transpose, a permutation, records taken apart into fields: none of them computes anything, so a copy of the same bytes is the most that
any of them can reach. Here every program stands beside the faster of two copies in the same run, the driver's and ours. A share
of 1.000 is as fast as that copy. All figures are medians; how they were taken stands under each table, and the records with quartiles
lie in `benches/results/`.
";

/// What the library's functions are called in a record, or in one of peers.
fn is_ours(figure: &Figure) -> bool {
    figure.name.starts_with("kernels::") || figure.name.starts_with("tileproof")
}

/// The page, if anything of it was measured: the groups copy, transpose and permute, and the peers.
pub(crate) fn page(groups: &[Option<Record>; 3], peers: Option<&Record>) -> Option<Page> {
    let [copy, transpose, permute] = groups;
    if groups.iter().all(Option::is_none) && peers.is_none() {
        return None;
    }
    let mut text = format!("# {TITLE}\n\n{HEAD}");
    let mut pictures = Vec::new();
    if let Some(record) = copy {
        copies(&mut text, &mut pictures, record);
    }
    let turned = [("transpose", "Transposes", transpose), ("permute", "Permutations and records", permute)];
    for (name, title, record) in turned {
        if let Some(record) = record {
            let _ = write!(text, "\n## {title}\n\n");
            beside_the_copy(&mut text, record);
            picture(&mut text, &mut pictures, &format!("measured/ceiling-{name}.svg"), record);
            plans(&mut text, record);
            taken(&mut text, record);
        }
    }
    if let Some(record) = peers {
        compared(&mut text, &mut pictures, record);
    }
    Some(Page { file: FILE, title: TITLE, text, pictures })
}

fn share(figure: &Figure) -> String {
    let mark = if figure.equal_to_reference { "" } else { " (wrong)" };
    let share = format!("{:.3}{mark}", figure.of_faster_copy);
    if is_ours(figure) { format!("**{share}**") } else { share }
}

fn rate(row: &Row) -> f64 {
    row.subjects.iter().find(|figure| figure.name == row.faster_copy).map_or(0.0, |figure| figure.gb_per_s)
}

/// How a record was taken.
fn taken(out: &mut String, record: &Record) {
    let machine = &record.machine;
    let driver = machine.driver.as_deref().unwrap_or("unknown");
    let _ = write!(
        out,
        "\n{}, {}, driver {driver}, NVRTC {}: {}.\n",
        machine.gpu,
        machine.date,
        machine.nvrtc.as_deref().unwrap_or("as the library found it"),
        record.method
    );
    for skipped in &record.skipped {
        let _ = write!(out, "\nNot measured: {skipped}\n");
    }
}

fn copies(out: &mut String, pictures: &mut Vec<(String, String)>, record: &Record) {
    out.push_str(
        "\n## Copies\n\nSmaller copies are measured on several pairs of buffers in turn, so none finds its data in the cache.\n\n| case | the faster | GB/s | `cuMemcpyDtoD` | `kernels::copy` |\n|---|---|--:|--:|--:|\n",
    );
    for row in &record.cases {
        let of = |name: &str| {
            row.subjects.iter().find(|figure| figure.name == name).map_or_else(|| "–".to_owned(), share)
        };
        let _ = writeln!(
            out,
            "| {} | `{}` | {:.0} | {} | {} |",
            row.case,
            row.faster_copy,
            rate(row),
            of("cuMemcpyDtoD"),
            of("kernels::copy")
        );
    }
    let mut series: Vec<Series> = Vec::new();
    for row in &record.cases {
        for figure in &row.subjects {
            let point = (row.moved_bytes as f64 / 2.0, figure.gb_per_s);
            match series.iter_mut().find(|series| series.name == figure.name) {
                Some(series) => series.points.push(point),
                None => series.push(Series { name: figure.name.clone(), points: vec![point], joined: true }),
            }
        }
    }
    let sizes = || record.cases.iter().map(|row| row.moved_bytes as f64 / 2.0);
    let most = series.iter().flat_map(|it| &it.points).map(|point| point.1).fold(1.0, f64::max);
    let x = Axis {
        title: "bytes copied",
        range: sizes().fold(f64::INFINITY, f64::min) / 1.2..sizes().fold(1.0, f64::max) * 1.2,
        logarithmic: true,
        label: binary,
    };
    let y = Axis {
        title: "GB/s, read and written",
        range: 0.0..most * 1.05,
        logarithmic: false,
        label: |value| format!("{value:.0}"),
    };
    shown(out, pictures, "measured/ceiling-copy.svg", lines(&x, &y, &series), &legend(&series));
    taken(out, record);
}

/// A number of bytes, such as `4 MiB`.
pub(crate) fn binary(bytes: f64) -> String {
    let units = ["B", "KiB", "MiB", "GiB"];
    let unit = ((bytes.max(1.0).log2() + 1e-9) / 10.0).floor().clamp(0.0, 3.0);
    let value = bytes / (10.0 * unit).exp2();
    let digits = if (value - value.round()).abs() < 0.05 { 0 } else { 1 };
    format!("{value:.digits$} {}", units[unit as usize])
}

/// A picture in the page, with a legend under it.
pub(crate) fn shown(
    out: &mut String,
    pictures: &mut Vec<(String, String)>,
    file: &str,
    picture: String,
    legend: &str,
) {
    let _ = write!(out, "\n<div>\n{{{{#include {file}}}}}\n</div>\n\n{legend}\n");
    pictures.push((file.to_owned(), picture));
}

/// A row a case: both copies, ours, and the best of the others.
fn beside_the_copy(out: &mut String, record: &Record) {
    out.push_str(
        "| case | the faster copy | GB/s | `cuMemcpyDtoD` | ours | the others |\n|---|---|--:|--:|--:|---|\n",
    );
    for row in &record.cases {
        let driver = row.subjects.iter().find(|figure| figure.name == "cuMemcpyDtoD");
        let ours = row.subjects.iter().find(|figure| !figure.is_copy && is_ours(figure));
        let others: Vec<String> = row
            .subjects
            .iter()
            .filter(|figure| !figure.is_copy && !is_ours(figure))
            .map(|figure| format!("{} {}", figure.name, share(figure)))
            .collect();
        let _ = writeln!(
            out,
            "| {} | `{}` | {:.0} | {} | {} | {} |",
            row.case,
            row.faster_copy,
            rate(row),
            driver.map_or_else(|| "–".to_owned(), share),
            ours.map_or_else(|| "–".to_owned(), share),
            others.join(", ")
        );
    }
}

/// What the library does in each case.
fn plans(out: &mut String, record: &Record) {
    let plans: Vec<String> = record
        .cases
        .iter()
        .filter_map(|row| {
            let steps: Vec<String> = row.plan.as_ref()?.lines().map(|step| format!("  {step}")).collect();
            Some(format!("{}\n{}\n", row.case, steps.join("\n")))
        })
        .collect();
    if !plans.is_empty() {
        let _ = write!(
            out,
            "\nThe kernel that the library chooses for each, and the words that it moves, as `kernels::plan` prints it:\n\n```text\n{}```\n",
            plans.concat()
        );
    }
}

/// The shares of all that is no copy, a row a case.
fn picture(out: &mut String, pictures: &mut Vec<(String, String)>, file: &str, record: &Record) {
    let mut series: Vec<Series> = Vec::new();
    let cases = || record.cases.iter().filter(|row| row.subjects.iter().any(|figure| !figure.is_copy));
    for (position, row) in cases().enumerate() {
        for figure in row.subjects.iter().filter(|figure| !figure.is_copy) {
            let name = if is_ours(figure) { "tileproof" } else { figure.name.as_str() };
            let point = (figure.of_faster_copy, position as f64);
            match series.iter_mut().find(|series| series.name == name) {
                Some(series) => series.points.push(point),
                None => series.push(Series { name: name.to_owned(), points: vec![point], joined: false }),
            }
        }
    }
    let most = series.iter().flat_map(|it| &it.points).map(|point| point.0).fold(1.0, f64::max);
    let x = Axis {
        title: "share of the faster copy",
        range: 0.0..most * 1.05,
        logarithmic: false,
        label: |value| format!("{value:.1}"),
    };
    let names: Vec<String> = cases().map(|row| row.case.clone()).collect();
    shown(out, pictures, file, rows(&x, &names, &series), &legend(&series));
}

/// A column a program.
fn compared(out: &mut String, pictures: &mut Vec<(String, String)>, record: &Record) {
    out.push_str("\n## Beside other programs\n\nOne process, the same buffers, in turns: PyTorch, its compiler, Triton, CuPy and cuBLAS, each as a user would call it, and ours through its functions for C.\n\n");
    let mut names: Vec<&str> = Vec::new();
    for figure in record.cases.iter().flat_map(|row| &row.subjects).filter(|figure| !figure.is_copy) {
        if !names.contains(&figure.name.as_str()) {
            names.push(&figure.name);
        }
    }
    let _ = writeln!(
        out,
        "| case | copy GB/s | {} |\n|---|--:|{}",
        names.join(" | "),
        "--:|".repeat(names.len())
    );
    let mut behind = Vec::new();
    for row in &record.cases {
        let find = |name: &&str| row.subjects.iter().find(|figure| figure.name == **name && !figure.is_copy);
        let cells: Vec<String> =
            names.iter().map(|name| find(name).map_or_else(|| "–".to_owned(), share)).collect();
        if row.subjects.iter().any(|figure| !figure.is_copy) {
            let _ = writeln!(out, "| {} | {:.0} | {} |", row.case, rate(row), cells.join(" | "));
        }
        let fastest = row
            .subjects
            .iter()
            .filter(|figure| !figure.is_copy)
            .max_by(|a, b| a.of_faster_copy.total_cmp(&b.of_faster_copy));
        if let Some(fastest) = fastest.filter(|figure| !is_ours(figure)) {
            behind.push(format!("{} is the fastest at {}", fastest.name, row.case));
        }
    }
    let verdict = match behind.as_slice() {
        [] => "tileproof is the fastest in every row.".to_owned(),
        _ => format!("tileproof is the fastest in every other row; {}.", behind.join("; ")),
    };
    let _ = write!(out, "\n{verdict}\n");
    picture(out, pictures, "measured/ceiling-peers.svg", record);
    taken(out, record);
}
