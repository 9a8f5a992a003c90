//! The comparison as a table and as JSON, to be kept.

use super::predict::Launch;
use super::verdict::{Row, Verdict};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use tileproof_examples::machine::Machine;

/// A launch with everything that was compared of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// The launch.
    #[serde(flatten)]
    pub launch: Launch,
    /// Its sums, then its places, then the accesses of its machine code.
    pub rows: Vec<Row>,
    /// Why its places could not be compared, if they could not.
    pub unmatched: Option<String>,
}

#[derive(Serialize)]
struct Head<'a> {
    measurement: &'static str,
    #[serde(flatten)]
    machine: &'a Machine,
    method: &'static str,
    kernels: usize,
    launches: usize,
    compared: usize,
    nothing_to_count: usize,
    verdicts: BTreeMap<Verdict, usize>,
}

const METHOD: &str = "each launch simulated on the CPU and profiled by Nsight Compute, in sums and at each instruction; \
    `hardware` is counted, `addresses` computed by the profiler from the addresses of each instruction; rows in which nothing was \
    predicted and nothing counted are left out";

/// Whether everything agrees.
pub fn agrees(all: &[Compared]) -> bool {
    !all.is_empty()
        && all
            .iter()
            .all(|it| it.unmatched.is_none() && it.rows.iter().all(|row| row.verdict != Verdict::Different))
}

fn head<'a>(machine: &'a Machine, all: &[Compared]) -> Head<'a> {
    let rows = || all.iter().flat_map(|it| &it.rows);
    let mut verdicts = BTreeMap::new();
    for row in rows() {
        *verdicts.entry(row.verdict).or_insert(0) += 1;
    }
    Head {
        measurement: "parity",
        machine,
        method: METHOD,
        kernels: all.iter().map(|it| &it.launch.kernel).collect::<BTreeSet<_>>().len(),
        launches: all.len(),
        compared: rows().count(),
        nothing_to_count: rows().filter(|row| row.is_nothing()).count(),
        verdicts,
    }
}

/// As JSON, a launch a line.
///
/// # Panics
/// Never: everything in it has a JSON form.
pub fn json(machine: &Machine, all: &[Compared]) -> String {
    let head = serde_json::to_string_pretty(&head(machine, all)).expect("a head has a JSON form");
    let launches = all.iter().map(|it| {
        let rows = it.rows.iter().filter(|row| !row.is_nothing()).cloned().collect();
        let counted = Compared { rows, ..it.clone() };
        format!("    {}", serde_json::to_string(&counted).expect("a launch has a JSON form"))
    });
    let launches: Vec<String> = launches.collect();
    let head = head.strip_suffix("\n}").expect("a pretty object ends on a line of its own");
    format!("{head},\n  \"rows\": [\n{}\n  ]\n}}\n", launches.join(",\n"))
}

/// As a table, of the rows that `shown` chooses.
pub fn table(all: &[Compared], shown: impl Fn(&Row) -> bool) -> String {
    let mut out = String::new();
    let number = |count: Option<u64>| count.map_or("–".to_owned(), |count| count.to_string());
    for Compared { launch, rows, unmatched } in all {
        let size: Vec<String> = launch.size.iter().map(usize::to_string).collect();
        let gap = if launch.gap == 0 { String::new() } else { format!(" +{}", launch.gap) };
        let place = format!("{} {}{gap}", launch.kernel, size.join("×"));
        for row in rows.iter().filter(|row| shown(row)) {
            let Row { what, predicted, hardware, addresses, verdict } = row;
            let (hardware, addresses) = (number(*hardware), number(*addresses));
            let _ = writeln!(
                out,
                "{place:<38} {what:<52} {predicted:>10} {hardware:>10} {addresses:>10}  {verdict}"
            );
        }
        if let Some(reason) = unmatched {
            let _ = writeln!(out, "{place:<38} places not compared: {reason}  {}", Verdict::Different);
        }
    }
    out
}

fn heading() -> String {
    format!(
        "{:<38} {:<52} {:>10} {:>10} {:>10}  verdict\n",
        "kernel, size +gap", "what", "predicted", "hardware", "addresses"
    )
}

/// Every row in which something was to be counted.
pub fn full(machine: &Machine, all: &[Compared]) -> String {
    heading() + &table(all, |row| !row.is_nothing()) + &summary(machine, all)
}

/// The rows that [`short`] has room for.
const SHORT: usize = 60;

/// What does not agree, how often each rule was needed, and a last line with the numbers.
pub fn short(machine: &Machine, all: &[Compared]) -> String {
    let different = table(all, |row| row.verdict == Verdict::Different);
    let count = different.lines().count();
    let mut out = if count == 0 { String::new() } else { heading() };
    out.extend(different.split_inclusive('\n').take(SHORT));
    if count > SHORT {
        let _ = writeln!(out, "and {} more", count - SHORT);
    }
    out + &summary(machine, all)
}

fn summary(machine: &Machine, all: &[Compared]) -> String {
    let head = head(machine, all);
    let Machine { date, gpu, architecture, driver, driver_cuda, nvrtc } = machine;
    let mut out = format!(
        "{date}, {gpu} ({architecture}), driver {} for CUDA {driver_cuda}, NVRTC {}\n",
        driver.as_deref().unwrap_or("unknown"),
        nvrtc.as_deref().unwrap_or("unknown"),
    );
    for (verdict, count) in &head.verdicts {
        let _ = writeln!(out, "{count:>7}  {verdict}");
    }
    let unmatched = all.iter().filter(|it| it.unmatched.is_some()).count();
    let agree = head.compared - head.verdicts.get(&Verdict::Different).copied().unwrap_or(0);
    let _ = writeln!(
        out,
        "{agree} of {} counts agree ({} of them of nothing), {} launches of {} kernels, {unmatched} with places not compared",
        head.compared, head.nothing_to_count, head.launches, head.kernels,
    );
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine() -> Machine {
        Machine {
            date: "2026-11-30".into(),
            gpu: "NVIDIA H200".into(),
            architecture: "sm_90".into(),
            driver: Some("580.159.04".into()),
            driver_cuda: "13.0".into(),
            nvrtc: Some("13.0".into()),
        }
    }

    fn row(what: &str, predicted: u64, hardware: u64, verdict: Verdict) -> Row {
        Row { what: what.into(), predicted, hardware: Some(hardware), addresses: None, verdict }
    }

    fn compared(rows: Vec<Row>) -> Compared {
        let launch = Launch { kernel: "copy".into(), size: vec![200, 177], gap: 3 };
        Compared { launch, rows, unmatched: None }
    }

    #[test]
    fn what_differs_is_shown_and_fails() {
        let right = compared(vec![row("a", 4, 4, Verdict::Equal), row("b", 0, 0, Verdict::Equal)]);
        let wrong = compared(vec![row("c", 5, 4, Verdict::Different)]);
        assert!(agrees(std::slice::from_ref(&right)));
        assert!(!agrees(&[right.clone(), wrong.clone()]));
        assert!(!agrees(&[]), "nothing compared is nothing shown");
        let all = [right, wrong];
        let short = short(&machine(), &all);
        assert!(short.contains("copy 200×177 +3"), "{short}");
        assert!(short.lines().any(|line| line.contains(" c ") && line.ends_with("DIFFERENT")), "{short}");
        assert!(!short.lines().any(|line| line.contains(" a ")), "{short}");
        let last =
            "2 of 3 counts agree (1 of them of nothing), 2 launches of 1 kernels, 0 with places not compared";
        assert_eq!(short.lines().last(), Some(last));
        let full = full(&machine(), &all);
        assert!(full.contains(" a ") && !full.contains(" b "), "{full}");
    }

    #[test]
    fn the_short_table_stays_short() {
        let many = (0..100).map(|i| row(&format!("c{i}"), 1, 2, Verdict::Different)).collect();
        let short = short(&machine(), &[compared(many)]);
        assert!(short.lines().count() < 70 && short.contains("\nand 40 more\n"), "{short}");
    }

    #[test]
    fn places_that_were_not_compared_fail() {
        let unmatched =
            Compared { unmatched: Some("of different machine code".into()), ..compared(Vec::new()) };
        assert!(!agrees(std::slice::from_ref(&unmatched)));
        let short = short(&machine(), &[unmatched]);
        assert!(short.contains("places not compared: of different machine code  DIFFERENT"), "{short}");
    }

    #[test]
    fn the_record_is_json() {
        let all = [compared(vec![row("a", 4, 4, Verdict::Equal), row("b", 0, 0, Verdict::Equal)])];
        let record: serde_json::Value = serde_json::from_str(&json(&machine(), &all)).unwrap();
        assert_eq!((&record["gpu"], &record["launches"]), (&"NVIDIA H200".into(), &1.into()));
        assert_eq!(record["verdicts"]["equal"], 2);
        let rows = record["rows"][0]["rows"].as_array().unwrap();
        assert_eq!(
            (rows.len(), &rows[0]["verdict"], &record["rows"][0]["kernel"]),
            (1, &"equal".into(), &"copy".into())
        );
    }
}
