//! A measurement as JSON, to be kept: the figures, how they were taken, and on what.

use crate::interleaved::interleaved;
use crate::subjects::{Matrices, Subject, subjects};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tileproof::cudarc::driver::CudaStream;
use tileproof::timing::Times;
use tileproof::{Error, Loaded};
use tileproof_examples::machine::Machine;

/// Rounds of a measurement.
pub const ROUNDS: usize = 41;

/// Timed launches of a subject in a round.
pub const LAUNCHES: u32 = 4;

/// One subject at one size.
struct Figure {
    subject: Subject,
    extents: (usize, usize),
    bytes: u64,
    times: Times,
    right: bool,
    loaded: Option<Arc<Loaded>>,
}

/// Measures the subjects on the stream's device at each of the sizes.
///
/// # Errors
/// What a launch or the driver returns.
pub fn transpose(
    stream: &Arc<CudaStream>,
    machine: &Machine,
    sizes: &[(usize, usize)],
) -> Result<Value, Error> {
    let sizes: Vec<Value> =
        sizes.iter().map(|&(rows, cols)| size(stream, rows, cols)).collect::<Result<_, _>>()?;
    Ok(json!({
        "benchmark": "transpose",
        "date": machine.date,
        "gpu": machine.gpu,
        "architecture": machine.architecture,
        "driver": machine.driver,
        "driver_cuda": machine.driver_cuda,
        "nvrtc": machine.nvrtc,
        "element": "f32",
        "input": "seeded random numbers in [-1, 1)",
        "method": format!(
            "subjects in turns in one process and one stream, {ROUNDS} rounds after one to warm up, each beginning with \
             another subject; a sample is the mean of {LAUNCHES} launches between two CUDA events, behind an untimed one; \
             GB/s are decimal and of the median, bytes read plus bytes written"
        ),
        "sizes": sizes,
    }))
}

fn size(stream: &Arc<CudaStream>, rows: usize, cols: usize) -> Result<Value, Error> {
    let mut matrices = Matrices::new(stream, rows, cols)?;
    let subjects = subjects();
    let times = interleaved(stream, &mut matrices, &subjects, ROUNDS, LAUNCHES)?;
    let mut figures = Vec::new();
    for (subject, times) in subjects.into_iter().zip(times) {
        figures.push(Figure {
            subject,
            extents: subject.extents(&matrices),
            bytes: subject.bytes(&matrices),
            times,
            right: subject.is_right(stream, &mut matrices)?,
            loaded: match subject {
                Subject::DriverCopy => None,
                Subject::Kernel(rung) => Some((rung.load)(stream.context())?),
            },
        });
    }
    Ok(summary(rows, cols, &figures))
}

/// The figures of one size, with each one's share of the faster copy.
fn summary(rows: usize, cols: usize, figures: &[Figure]) -> Value {
    let rate = |bytes: u64, time: Duration| bytes as f64 / time.as_secs_f64() / 1e9;
    let median = |figure: &Figure| rate(figure.bytes, figure.times.median());
    let copies = figures.iter().filter(|figure| figure.subject.is_copy());
    let faster = copies.max_by(|a, b| median(a).total_cmp(&median(b)));
    let subjects: Vec<Value> = figures
        .iter()
        .map(|figure| {
            let all = figure.times.all();
            let quarter = all.len() / 4;
            let compiled = figure.loaded.as_ref().map(|loaded| loaded.compiled());
            json!({
                "name": figure.subject.name(),
                "rows": figure.extents.0,
                "cols": figure.extents.1,
                "equal_to_reference": figure.right,
                "microseconds": rounded(figure.times.median().as_secs_f64() * 1e6, 2),
                "gb_per_s": rounded(median(figure), 1),
                "gb_per_s_middle_half": [
                    rounded(rate(figure.bytes, all[all.len() - 1 - quarter]), 1),
                    rounded(rate(figure.bytes, all[quarter]), 1),
                ],
                "of_faster_copy": faster.map(|copy| rounded(median(figure) / median(copy), 4)),
                "registers": compiled.and_then(|compiled| compiled.usage).map(|usage| usage.registers),
                "blocks_per_multiprocessor":
                    figure.loaded.as_ref().map(|loaded| loaded.blocks_per_multiprocessor()),
            })
        })
        .collect();
    json!({
        "rows": rows,
        "cols": cols,
        "faster_copy": faster.map(|copy| copy.subject.name()),
        "subjects": subjects,
    })
}

/// The record as a table, a size after another.
pub fn table(record: &Value) -> String {
    let mut out =
        format!("{}, {}\n", record["gpu"].as_str().unwrap_or("?"), record["date"].as_str().unwrap_or("?"));
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    for size in list(&record["sizes"]) {
        out.push_str(&format!(
            "{} × {}: the faster copy is {}\n",
            size["rows"],
            size["cols"],
            size["faster_copy"].as_str().unwrap_or("?")
        ));
        for subject in list(&size["subjects"]) {
            out.push_str(&format!(
                "  {:<24} {:>8.1} µs {:>8.1} GB/s {:>7.4} of the copy  {}\n",
                subject["name"].as_str().unwrap_or("?"),
                subject["microseconds"].as_f64().unwrap_or(f64::NAN),
                subject["gb_per_s"].as_f64().unwrap_or(f64::NAN),
                subject["of_faster_copy"].as_f64().unwrap_or(f64::NAN),
                if subject["equal_to_reference"] == true { "equal" } else { "WRONG" },
            ));
        }
    }
    out
}

/// Whether every result in the record equals its reference.
pub fn is_right(record: &Value) -> bool {
    let lists = record["sizes"].as_array().into_iter().flatten().map(|size| &size["subjects"]);
    lists.flat_map(|list| list.as_array().into_iter().flatten()).all(|s| s["equal_to_reference"] == true)
}

fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::{Figure, is_right, summary, table};
    use crate::subjects::{Subject, subjects};
    use serde_json::json;
    use std::time::Duration;
    use tileproof::timing::Times;

    fn figure(subject: Subject, micros: &[u64]) -> Figure {
        let times = Times::of(micros.iter().copied().map(Duration::from_micros).collect());
        Figure { subject, extents: (1024, 1024), bytes: 8 << 20, times, right: true, loaded: None }
    }

    #[test]
    fn shares_are_of_the_faster_copy() {
        let subjects = subjects();
        let names: Vec<&str> = subjects.iter().map(Subject::name).collect();
        assert_eq!(names[..3], ["cuMemcpyDtoD", "copy", "transpose_naive"]);
        let times = [[5, 4, 9], [2, 1, 2], [4, 4, 400]];
        let figures: Vec<Figure> =
            subjects.iter().zip(&times).map(|(&subject, times)| figure(subject, times)).collect();
        let size = summary(1024, 1024, &figures);
        assert_eq!(size["faster_copy"], "copy");
        let shares: Vec<f64> =
            (0..3).map(|i| size["subjects"][i]["of_faster_copy"].as_f64().unwrap()).collect();
        assert_eq!(shares, [0.4, 1.0, 0.5]);
        assert_eq!(size["subjects"][1]["gb_per_s"], 4194.3);

        let record =
            json!({ "gpu": "NVIDIA H200", "date": "2026-11-30", "benchmark": "transpose", "sizes": [size] });
        assert!(is_right(&record));
        let table = table(&record);
        assert!(table.contains("1024 × 1024: the faster copy is copy\n"), "{table}");
        assert!(table.contains("transpose_naive"), "{table}");
    }

    #[test]
    fn a_wrong_result_is_not_lost() {
        let wrong = Figure { right: false, ..figure(Subject::DriverCopy, &[1]) };
        let record = json!({ "sizes": [summary(1, 1, &[wrong])] });
        assert!(!is_right(&record));
        assert!(table(&record).contains("WRONG"));
    }
}
