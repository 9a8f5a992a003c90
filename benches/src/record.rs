//! A measurement as JSON, to be kept: the figures, how they were taken, and on what.

use crate::case::{Case, Group, Kind, Operation};
use crate::interleaved::interleaved;
use crate::memory::{Memory, Windows};
use crate::subjects::{Measured, Subject, subjects};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use tileproof::Error;
use tileproof::cublas::Cublas;
use tileproof::cudarc::driver::CudaStream;
use tileproof::device::DeviceInfo;
use tileproof::prelude::f16;
use tileproof::timing::Times;
use tileproof_examples::machine::Machine;

/// Rounds of a measurement.
pub const ROUNDS: usize = 31;

/// Timed launches of a subject in a round.
pub const LAUNCHES: u32 = 4;

/// Pieces in which a long result is compared with what it should be.
const PIECES: usize = 32;

/// What was measured of a group of cases.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The group's name.
    pub benchmark: String,
    /// The machine, and the day.
    #[serde(flatten)]
    pub machine: Machine,
    /// How it was measured.
    pub method: String,
    /// What could not be measured, and why.
    pub skipped: Vec<String>,
    /// The cases.
    pub cases: Vec<Row>,
}

/// What was measured of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// The case, as it prints.
    pub case: String,
    /// The element.
    pub element: String,
    /// The extents of the input, in elements, outermost first.
    pub extents: Vec<usize>,
    /// Which dimension of the input each one of the output is.
    pub order: Vec<usize>,
    /// Bytes read and bytes written.
    pub moved_bytes: u64,
    /// What the library's copy does, a step a line; `None` in place, and in records of other programs.
    #[serde(default)]
    pub plan: Option<String>,
    /// Pairs of inputs and outputs that were measured in turn.
    pub windows: usize,
    /// The copy that the others are judged by.
    pub faster_copy: String,
    /// The subjects.
    pub subjects: Vec<Figure>,
}

/// What was measured of a subject.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figure {
    /// Its name.
    pub name: String,
    /// Whether it is a copy.
    pub is_copy: bool,
    /// Whether its result was what it should be.
    pub equal_to_reference: bool,
    /// The median of a launch.
    pub microseconds: f64,
    /// The first and the third quartile.
    pub microseconds_middle_half: [f64; 2],
    /// By the median, in decimal gigabytes.
    pub gb_per_s: f64,
    /// The faster copy's median by this one's.
    pub of_faster_copy: f64,
}

/// Measures a group of cases on the stream's device.
///
/// # Errors
/// What a launch or the driver returns.
pub fn measure(stream: &Arc<CudaStream>, machine: &Machine, group: Group) -> Result<Record, Error> {
    let cache = DeviceInfo::of(stream.context())?.l2_bytes;
    let (cublas, skipped) = match Cublas::new(stream) {
        Ok(cublas) => (Some(Arc::new(cublas)), Vec::new()),
        Err(error) => (None, vec![format!("cublasSgeam, cublasDgeam: {error}")]),
    };
    let cases: Vec<(usize, Case)> = group.cases().into_iter().enumerate().collect();
    let mut rows = Vec::new();
    for kind in [Kind::F32, Kind::F64, Kind::F16, Kind::U8] {
        let cases: Vec<&(usize, Case)> = cases.iter().filter(|(_, case)| case.kind == kind).collect();
        if !cases.is_empty() {
            let run = match kind {
                Kind::F32 => rows_of::<f32>,
                Kind::F64 => rows_of::<f64>,
                Kind::F16 => rows_of::<f16>,
                Kind::U8 => rows_of::<u8>,
            };
            rows.extend(run(stream, &cases, cache, cublas.as_ref())?);
        }
    }
    rows.sort_by_key(|(position, _)| *position);
    Ok(Record {
        benchmark: group.name().into(),
        machine: machine.clone(),
        method: format!(
            "subjects in turns in one process and one stream, {ROUNDS} rounds after one to warm up, each beginning with another \
             subject; a sample is the mean of {LAUNCHES} launches between two CUDA events, behind an untimed one and a kernel that \
             waits while they are enqueued; what is smaller \
             than four times the second-level cache is measured on several pairs of input and output in turn, as many as exceed \
             that; the input is the mix of each word's position; GB/s are decimal and of the median, bytes read plus bytes \
             written; results of up to {PIECES} pieces of {} elements are compared whole, longer ones in so many pieces, the first \
             and the last included",
            crate::content::PIECE
        ),
        skipped,
        cases: rows.into_iter().map(|(_, row)| row).collect(),
    })
}

/// The rows of the cases of one element, with their positions.
fn rows_of<T: Measured>(
    stream: &Arc<CudaStream>,
    cases: &[&(usize, Case)],
    cache: usize,
    cublas: Option<&Arc<Cublas>>,
) -> Result<Vec<(usize, Row)>, Error> {
    let windows = |case: &Case| Windows::new(case.elements(), size_of::<T>(), cache);
    let elements = cases.iter().map(|(_, case)| windows(case).span()).max().unwrap_or(0);
    let mut memory = Memory::<T>::new(stream, elements)?;
    let mut rows = Vec::new();
    for (position, case) in cases {
        let windows = windows(case);
        memory.divide(windows);
        let subjects = subjects::<T>(case, cublas);
        let mut right = Vec::new();
        for subject in &subjects {
            right.push(is_right(stream, &mut memory, case, subject)?);
        }
        let times = interleaved(stream, &mut memory, &subjects, ROUNDS, LAUNCHES)?;
        let names = subjects.iter().map(|subject| (subject.name.clone(), subject.is_copy));
        let measured: Vec<Measurement> = names
            .zip(right)
            .zip(times)
            .map(|(((name, is_copy), right), times)| Measurement { name, is_copy, right, times })
            .collect();
        rows.push((*position, row(case, windows.count, &measured)));
    }
    Ok(rows)
}

/// Whether a subject gives what it should.
fn is_right<T: Measured>(
    stream: &Arc<CudaStream>,
    memory: &mut Memory<T>,
    case: &Case,
    subject: &Subject<T>,
) -> Result<bool, Error> {
    match case.operation {
        Operation::InPlace if !subject.is_copy => memory.copy(stream)?,
        Operation::Copy
        | Operation::Transpose
        | Operation::InPlace
        | Operation::Permute
        | Operation::FieldsOfRecords
        | Operation::RecordsOfFields => memory.clear(stream)?,
    }
    let (input, mut output) = memory.first();
    (subject.enqueue)(stream, &input, &mut output)?;
    memory.holds(stream, PIECES, |i| if subject.is_copy { i } else { case.source(i) })
}

/// A subject with its times.
struct Measurement {
    name: String,
    is_copy: bool,
    right: bool,
    times: Times,
}

/// The figures of a case, with each one's share of the faster copy.
fn row(case: &Case, windows: usize, measured: &[Measurement]) -> Row {
    let microseconds = |time: Duration| time.as_secs_f64() * 1e6;
    let median = |it: &Measurement| microseconds(it.times.median());
    let copies = measured.iter().filter(|it| it.is_copy);
    let faster = copies.min_by(|a, b| median(a).total_cmp(&median(b)));
    let figure = |it: &Measurement| {
        let all = it.times.all();
        let quarter = all.len() / 4;
        Figure {
            name: it.name.clone(),
            is_copy: it.is_copy,
            equal_to_reference: it.right,
            microseconds: rounded(median(it), 2),
            microseconds_middle_half: [
                rounded(microseconds(all[quarter]), 2),
                rounded(microseconds(all[all.len() - 1 - quarter]), 2),
            ],
            gb_per_s: rounded(case.moved_bytes() as f64 / median(it) / 1e3, 1),
            of_faster_copy: faster.map_or(0.0, |copy| rounded(median(copy) / median(it), 4)),
        }
    };
    Row {
        case: case.to_string(),
        element: case.kind.name().into(),
        extents: case.extents.clone(),
        order: case.order.clone(),
        moved_bytes: case.moved_bytes(),
        plan: case.plan(),
        windows,
        faster_copy: faster.map_or_else(String::new, |copy| copy.name.clone()),
        subjects: measured.iter().map(figure).collect(),
    }
}

impl Record {
    /// Whether every result in the record equals its reference.
    pub fn is_right(&self) -> bool {
        self.cases.iter().flat_map(|row| &row.subjects).all(|figure| figure.equal_to_reference)
    }
}

/// A table, a case after another.
impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}, {}", self.benchmark, self.machine.gpu, self.machine.date)?;
        for skipped in &self.skipped {
            writeln!(f, "SKIPPED {skipped}")?;
        }
        for row in &self.cases {
            writeln!(f, "{}: the faster copy is {}", row.case, row.faster_copy)?;
            for step in row.plan.iter().flat_map(|plan| plan.lines()) {
                writeln!(f, "  {step}")?;
            }
            for figure in &row.subjects {
                let [low, high] = figure.microseconds_middle_half;
                writeln!(
                    f,
                    "  {:<28} {:>9.1} µs ({low:.1}–{high:.1}) {:>8.1} GB/s {:>7.4} of the copy  {}",
                    figure.name,
                    figure.microseconds,
                    figure.gb_per_s,
                    figure.of_faster_copy,
                    if figure.equal_to_reference { "equal" } else { "WRONG" },
                )?;
            }
        }
        Ok(())
    }
}

/// To so many digits behind the point: what a record keeps.
pub(crate) fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10f64.powi(decimals);
    (value * scale).round() / scale
}

#[cfg(test)]
mod tests {
    use super::{Measurement, Record, row};
    use crate::case::{Case, Kind, Operation};
    use std::time::Duration;
    use tileproof::timing::Times;
    use tileproof_examples::machine::Machine;

    fn measurement(name: &str, is_copy: bool, micros: &[u64]) -> Measurement {
        let times = Times::of(micros.iter().copied().map(Duration::from_micros).collect());
        Measurement { name: name.into(), is_copy, right: true, times }
    }

    fn case() -> Case {
        Case {
            kind: Kind::F32,
            operation: Operation::Transpose,
            extents: vec![1024, 1024],
            order: vec![1, 0],
        }
    }

    fn record(measured: &[Measurement]) -> Record {
        let machine = Machine {
            date: "2026-11-30".into(),
            gpu: "NVIDIA H200".into(),
            architecture: "sm_90".into(),
            driver: None,
            driver_cuda: "13.0".into(),
            nvrtc: None,
        };
        let cases = vec![row(&case(), 3, measured)];
        Record { benchmark: "transpose".into(), machine, method: "turns".into(), skipped: vec![], cases }
    }

    #[test]
    fn shares_are_of_the_faster_copy() {
        let record = record(&[
            measurement("cuMemcpyDtoD", true, &[5, 4, 9]),
            measurement("kernels::copy", true, &[2, 1, 2]),
            measurement("kernels::transpose", false, &[4, 4, 400]),
        ]);
        let row = &record.cases[0];
        assert_eq!(row.faster_copy, "kernels::copy");
        let shares: Vec<f64> = row.subjects.iter().map(|figure| figure.of_faster_copy).collect();
        assert_eq!(shares, [0.4, 1.0, 0.5]);
        assert_eq!(row.subjects[1].gb_per_s, 4194.3);
        assert!(record.is_right());
        let table = record.to_string();
        assert!(table.contains("transpose f32 1024 × 1024: the faster copy is kernels::copy\n"), "{table}");

        let text = serde_json::to_string(&record).expect("JSON");
        assert_eq!(serde_json::from_str::<Record>(&text).expect("a record"), record);
    }

    #[test]
    fn a_wrong_result_is_not_lost() {
        let wrong = Measurement { right: false, ..measurement("cuMemcpyDtoD", true, &[1]) };
        let record = record(&[wrong]);
        assert!(!record.is_right());
        assert!(record.to_string().contains("WRONG"));
    }
}
