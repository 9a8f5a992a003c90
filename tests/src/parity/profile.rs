//! What Nsight Compute prints: totals of a launch, and counts of each of its instructions.
//!
//! ```text
//! ncu --csv --page raw --print-units base --print-metric-instances details --metrics … PROGRAM
//! ```
//!
//! A launch is a row. Between the rows stand the profiler's own messages, which begin with `==`, and what the program prints. A cell
//! is a number; of a metric that is read at each instruction it goes on with their addresses, `15,360 (0x7d0: 5,120; 0x7e0: 10,240)`,
//! where instructions that the metric does not concern are left out.

use std::collections::BTreeMap;

/// What was read in one launch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Profile {
    /// The kernel.
    pub kernel: String,
    /// Of each metric that is a whole number its value, and its values at instructions by their addresses.
    pub metrics: BTreeMap<String, Metric>,
}

/// One metric of one launch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Metric {
    /// Over the launch.
    pub total: u64,
    /// At each instruction, by its address in bytes.
    pub at: BTreeMap<u64, u64>,
}

/// Reads the launches in their order.
///
/// # Errors
/// A sentence: no table, one without the column of names, or an instruction's value that is no whole number.
pub fn read(page: &str) -> Result<Vec<Profile>, String> {
    // Every cell is in quotes.
    let lines: Vec<&str> = page.lines().filter(|line| line.starts_with('"')).collect();
    if lines.is_empty() {
        return Err("the profiler printed no table: see its messages above".into());
    }
    let lines = lines.join("\n");
    let unreadable = |error: csv::Error| format!("the profiler's table cannot be read: {error}");
    let mut reader = csv::Reader::from_reader(lines.as_bytes());
    let header = reader.headers().map_err(unreadable)?.clone();
    let kernel = header.iter().position(|name| name == "Kernel Name");
    let kernel = kernel.ok_or("the profiler's table has no column `Kernel Name`")?;
    let mut launches = Vec::new();
    for row in reader.records() {
        let row = row.map_err(unreadable)?;
        // The row below the header holds the units and no kernel.
        if row[kernel].is_empty() {
            continue;
        }
        let mut metrics = BTreeMap::new();
        for (name, cell) in header.iter().zip(&row) {
            let read = metric(cell)
                .map_err(|cell| format!("`{cell}` is no instruction's `{name}` in {}", &row[kernel]))?;
            if let Some(metric) = read {
                metrics.insert(name.to_owned(), metric);
            }
        }
        launches.push(Profile { kernel: row[kernel].to_owned(), metrics });
    }
    Ok(launches)
}

/// A cell; `None` where it does not begin with a whole number.
///
/// # Errors
/// The part that is no address with a whole number.
fn metric(cell: &str) -> Result<Option<Metric>, String> {
    // Digits are grouped by commas.
    let whole = |text: &str| text.replace(',', "").parse::<u64>().ok();
    let (total, instances) = match cell.split_once(" (0x") {
        Some((total, instances)) => (total, instances.strip_suffix(')').unwrap_or(instances)),
        None => (cell, ""),
    };
    let Some(total) = whole(total) else { return Ok(None) };
    let instance = |text: &str| {
        let (address, value) = text.split_once(": ")?;
        Some((u64::from_str_radix(address.trim_start_matches("0x"), 16).ok()?, whole(value)?))
    };
    let instances = instances.split("; ").filter(|text| !text.is_empty());
    let at = instances.map(|text| instance(text).ok_or_else(|| text.to_owned())).collect::<Result<_, _>>()?;
    Ok(Some(Metric { total, at }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nsight Compute 2025.3.1 on an H200, most columns left out.
    const PAGE: &str = include_str!("../captured/raw-page.csv");

    #[test]
    fn launches_stand_between_messages() {
        let read = read(PAGE).unwrap();
        let names: Vec<&str> = read.iter().map(|launch| launch.kernel.as_str()).collect();
        assert_eq!(names, ["stencil", "embedding"]);
        assert_eq!(read[0].metrics["smsp__sass_inst_executed_op_global_ld.sum"].total, 5088);
        // An average is no count.
        assert!(!read[0].metrics.contains_key("smsp__sass_inst_executed_op_global_ld.avg"));
    }

    #[test]
    fn instructions_have_counts_of_their_own() {
        let read = read(PAGE).unwrap();
        let wavefronts = &read[0].metrics["memory_l1_wavefronts_shared"];
        assert_eq!((wavefronts.total, wavefronts.at.len()), (15_360, 6));
        assert_eq!(wavefronts.at.values().sum::<u64>(), wavefronts.total);
        let lanes = &read[0].metrics["thread_inst_executed_true"];
        let first = *lanes.at.keys().next().unwrap();
        assert_eq!((lanes.at[&first], lanes.at[&(first + 0x380)]), (65_536, 85_860));
        // A kernel without shared memory.
        assert_eq!(read[1].metrics["memory_l1_wavefronts_shared"], Metric::default());
    }

    #[test]
    fn bad_pages_are_errors() {
        assert!(read("==ERROR== ERR_NVGPUCTRPERM\n").unwrap_err().contains("no table"));
        assert!(read("\"ID\",\"Grid Size\"\n").unwrap_err().contains("no column `Kernel Name`"));
        let fraction = PAGE.replace(": 85,860;", ": 85.5;");
        assert!(
            read(&fraction)
                .unwrap_err()
                .contains("85.5` is no instruction's `thread_inst_executed_true` in stencil")
        );
        let short = PAGE.replacen("\"stencil\",", "", 1);
        assert!(read(&short).unwrap_err().contains("cannot be read"), "{:?}", read(&short));
    }
}
