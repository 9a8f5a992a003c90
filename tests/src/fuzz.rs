//! Random kernels, three ways: an evaluator in Rust, the simulator, and a GPU where there is one.
//!
//! The seeds are those of `tileproof_generate`. The simulator and the GPU are driven by [`Dynamic`], so that contract, grid and
//! launch conditions are the runtime's. What a kernel computes must be the same all three ways; a kernel that goes wrong is
//! made as small as it can be.

use crate::dynamic::{Argument, Dynamic, Failure, Tensor};
use crate::parity::place;
use crate::parity::predict::{self, Launch, Prediction};
use crate::sass::{self, Access, Action};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tileproof::cudarc::driver::{CudaContext, CudaStream};
use tileproof::report::Space;
use tileproof::{Architecture, CompileOptions, Error, IndexWidth, ScalarType, ScalarValue, SiteRun, unload};
use tileproof_generate::found::record;
use tileproof_generate::generate::generate;
use tileproof_generate::judge::{Accepted, accept, codes, difference};
use tileproof_generate::shrink::shrink;
use tileproof_generate::tree::Kernel;
use tileproof_generate::value::{Scalar, Value};
use tileproof_generate::{evaluate::evaluate, memory, print};

/// What became of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All ways give the same.
    Agrees,
    /// The compiler does not accept it, and this is what it says.
    Refused(String),
    /// Something is wrong: what, and between which ways.
    Wrong(Wrong, String),
}

/// Where something is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wrong {
    /// The generated program is not well formed.
    Program,
    /// The compiler, the evaluator or the simulator panics.
    Panic,
    /// The runtime refuses the launch, or the simulator faults.
    Fault,
    /// Simulator and evaluator differ.
    Simulator,
    /// NVRTC refuses the CUDA text.
    Compile,
    /// The launch on the GPU fails.
    Launch,
    /// GPU and evaluator differ.
    Gpu,
}

impl Wrong {
    /// In words.
    pub fn text(self) -> &'static str {
        match self {
            Wrong::Program => "the program is not well formed",
            Wrong::Panic => "a panic",
            Wrong::Fault => "a fault on the simulator",
            Wrong::Simulator => "simulator and evaluator differ",
            Wrong::Compile => "a text that does not compile",
            Wrong::Launch => "a launch that fails",
            Wrong::Gpu => "GPU and evaluator differ",
        }
    }
}

/// The arguments of a launch of a generated kernel.
pub fn arguments(kernel: &Kernel) -> Vec<Argument> {
    let before = memory::initial(kernel);
    let tensors = kernel.tensors.iter().zip(&before).map(|(tensor, values)| {
        let strides = tensor.strides.iter().copied().chain([1]).collect();
        Argument::Tensor(Tensor {
            element: scalar_type(tensor.element),
            extents: tensor.extents.clone(),
            strides,
            offset: 0,
            bytes: memory::bytes(values),
        })
    });
    let scalars = kernel.arguments.iter().filter_map(scalar_value).map(Argument::Scalar);
    tensors.chain(scalars).collect()
}

fn scalar_type(scalar: Scalar) -> ScalarType {
    match scalar {
        Scalar::Bool => ScalarType::Bool,
        Scalar::I8 => ScalarType::I8,
        Scalar::I16 => ScalarType::I16,
        Scalar::I32 => ScalarType::I32,
        Scalar::I64 => ScalarType::I64,
        Scalar::U8 => ScalarType::U8,
        Scalar::U16 => ScalarType::U16,
        Scalar::U32 => ScalarType::U32,
        Scalar::U64 => ScalarType::U64,
        Scalar::Isize => ScalarType::Isize,
        Scalar::Usize => ScalarType::Usize,
        Scalar::F16 => ScalarType::F16,
        Scalar::Bf16 => ScalarType::Bf16,
        Scalar::F32 => ScalarType::F32,
        Scalar::F64 => ScalarType::F64,
    }
}

fn scalar_value(value: &Value) -> Option<ScalarValue> {
    Some(match *value {
        Value::Bool(x) => ScalarValue::Bool(x),
        Value::I8(x) => ScalarValue::I8(x),
        Value::I16(x) => ScalarValue::I16(x),
        Value::I32(x) => ScalarValue::I32(x),
        Value::I64(x) => ScalarValue::I64(x),
        Value::U8(x) => ScalarValue::U8(x),
        Value::U16(x) => ScalarValue::U16(x),
        Value::U32(x) => ScalarValue::U32(x),
        Value::U64(x) => ScalarValue::U64(x),
        Value::Isize(x) => ScalarValue::Isize(x),
        Value::Usize(x) => ScalarValue::Usize(x),
        Value::F16(x) => ScalarValue::F16(x),
        Value::Bf16(x) => ScalarValue::Bf16(x),
        Value::F32(x) => ScalarValue::F32(x),
        Value::F64(x) => ScalarValue::F64(x),
        Value::List(_) => return None,
    })
}

/// What tensors hold after a run.
fn results(kernel: &Kernel, arguments: &[Argument]) -> Vec<Vec<Value>> {
    let tensors = kernel.tensors.iter().zip(arguments);
    tensors
        .map(|(tensor, argument)| match argument {
            Argument::Tensor(Tensor { bytes, .. }) => memory::values(tensor.element, bytes),
            Argument::Scalar(_) => Vec::new(),
        })
        .collect()
}

fn dynamic(accepted: Accepted) -> Dynamic {
    let Accepted { attribute, item, compiled } = accepted;
    Dynamic::of(compiled, &attribute, &item)
}

/// Compiles a kernel and runs it all ways; on the GPU if there is a stream.
pub fn judge(kernel: &Kernel, stream: Option<&Arc<CudaStream>>) -> Outcome {
    let run = || {
        let accepted = match accept(kernel) {
            Ok(accepted) => accepted,
            Err(refusal) => return Outcome::Refused(refusal),
        };
        let expected = match evaluate(kernel) {
            Ok(expected) => expected,
            Err(wrong) => return Outcome::Wrong(Wrong::Program, wrong),
        };
        let (dynamic, arguments) = (dynamic(accepted), arguments(kernel));
        match dynamic.simulate(&arguments) {
            Err(failure) => return Outcome::Wrong(Wrong::Fault, failure.to_string()),
            Ok(run) => {
                if let Some(what) = difference(kernel, &expected, &results(kernel, &run.arguments)) {
                    return Outcome::Wrong(Wrong::Simulator, what);
                }
            }
        }
        let Some(stream) = stream else { return Outcome::Agrees };
        match dynamic.launch(stream, &arguments) {
            Err(failure) => Outcome::Wrong(blame(&failure), failure.to_string()),
            Ok(after) => match difference(kernel, &expected, &results(kernel, &after)) {
                Some(what) => Outcome::Wrong(Wrong::Gpu, what),
                None => Outcome::Agrees,
            },
        }
    };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or(panic.downcast_ref::<&str>().map(|text| (*text).into()));
        Outcome::Wrong(Wrong::Panic, text.unwrap_or_default())
    })
}

/// Where a launch that has no result goes wrong. After a text that does not compile, and after writes to memory that the kernel was
/// given, the device is as before; after anything else it may not be.
fn blame(failure: &Failure) -> Wrong {
    match failure {
        Failure::Run(Error::Compile { .. }) => Wrong::Compile,
        Failure::Touched { .. } => Wrong::Gpu,
        Failure::Run(_) | Failure::Shape { .. } | Failure::Driver { .. } | Failure::Trusts { .. } => {
            Wrong::Launch
        }
    }
}

/// A kernel that goes wrong.
#[derive(Clone, Debug)]
pub struct Found {
    /// Its seed.
    pub seed: u64,
    /// Where it goes wrong.
    pub wrong: Wrong,
    /// What is wrong with it, the source, and a smaller kernel that goes wrong in the same way.
    pub text: String,
    /// The smaller one as a file for `tests/generate/found`, where the evaluator has a result.
    pub file: Option<String>,
}

/// What became of many kernels.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// How many agree all ways.
    pub agree: u64,
    /// Those that are refused, by the codes of the errors.
    pub refused: BTreeMap<Vec<String>, Vec<u64>>,
    /// Those that go wrong.
    pub found: Vec<Found>,
    /// Seeds that were not judged, because a launch failed before.
    pub left: u64,
}

/// How many smaller kernels are tried for one that goes wrong.
const ATTEMPTS: usize = 1500;

/// After how many kernels of a thread the device forgets their code.
const KEPT: u64 = 200;

/// Judges the kernels of these seeds on so many threads.
///
/// # Panics
/// If a stream cannot be created.
pub fn run(seeds: Range<u64>, threads: usize, context: Option<&Arc<CudaContext>>) -> Tally {
    let next = AtomicU64::new(seeds.start);
    let stopped = AtomicBool::new(false);
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                let stream = context.map(|context| context.new_stream().expect("a stream"));
                let mut own = 0;
                while !stopped.load(Ordering::Relaxed) {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed >= seeds.end {
                        return;
                    }
                    let kernel = generate(seed);
                    let outcome = judge(&kernel, stream.as_ref());
                    own += 1;
                    if let (Some(context), true) = (context, own % KEPT == 0) {
                        unload(context);
                    }
                    match outcome {
                        Outcome::Agrees => locked(&tally).agree += 1,
                        Outcome::Refused(refusal) => {
                            locked(&tally).refused.entry(codes(&refusal)).or_default().push(seed);
                        }
                        Outcome::Wrong(wrong, what) => {
                            // What comes after a failed launch may fail for its reason.
                            if wrong == Wrong::Launch {
                                stopped.store(true, Ordering::Relaxed);
                            }
                            let (text, file) = told(&kernel, wrong, &what, stream.as_ref());
                            locked(&tally).found.push(Found { seed, wrong, text, file });
                        }
                    }
                }
            });
        }
    });
    let mut tally = tally.into_inner().unwrap_or_else(PoisonError::into_inner);
    tally.left = seeds.end.saturating_sub(next.load(Ordering::Relaxed));
    tally.found.sort_by_key(|found| found.seed);
    tally
}

fn locked(tally: &Mutex<Tally>) -> MutexGuard<'_, Tally> {
    tally.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is wrong with a kernel, with its source and a smaller one.
fn told(
    kernel: &Kernel,
    wrong: Wrong,
    what: &str,
    stream: Option<&Arc<CudaStream>>,
) -> (String, Option<String>) {
    let mut recorded = record(kernel, what);
    let mut text = format!("{}: {}: {what}\n\n", kernel.name, wrong.text());
    let source = |text: &mut String, kernel: &Kernel| {
        let (attribute, item) = match accept(kernel) {
            Ok(Accepted { attribute, item, .. }) => (attribute, item),
            Err(_) => (print::attribute(kernel), print::item(kernel, &print::Budgets::new())),
        };
        let _ = writeln!(
            text,
            "#[tiled_kernel({attribute})]\n{item}\n\n{:?}\n{:?}\n",
            kernel.tensors, kernel.arguments
        );
    };
    let sources = |text: &mut String, kernel: &Kernel| {
        let written = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            let mut text = String::new();
            source(&mut text, kernel);
            text
        }));
        text.push_str(&written.unwrap_or_else(|_| print::item(kernel, &print::Budgets::new())));
    };
    // A device that has failed cannot be asked again.
    if wrong != Wrong::Launch {
        let same = |outcome| matches!(outcome, Outcome::Wrong(other, _) if other == wrong);
        let small = shrink(kernel, ATTEMPTS, &|candidate| same(judge(candidate, stream)));
        if let Outcome::Wrong(_, what) = judge(&small, stream) {
            let _ = writeln!(text, "a smaller one: {what}\n");
            recorded = record(&small, &what);
        }
        sources(&mut text, &small);
    }
    sources(&mut text, kernel);
    (text, recorded.ok().and_then(|found| serde_json::to_string(&found).ok()))
}

impl Tally {
    /// In a line: `3000 kernels: 2871 agree, 0 differ, 129 refused`.
    pub fn summary(&self) -> String {
        let refused: usize = self.refused.values().map(Vec::len).sum();
        let wrong = self.found.len();
        let all = self.agree + refused as u64 + wrong as u64;
        let left = if self.left > 0 {
            format!(", {} not judged after a failed launch", self.left)
        } else {
            String::new()
        };
        format!("{all} kernels: {} agree, {wrong} differ, {refused} refused{left}", self.agree)
    }
}

/// The accepted kernels of these seeds, compiled, with the arguments of their launches.
pub fn accepted(seeds: Range<u64>) -> impl Iterator<Item = (Dynamic, Vec<Argument>)> {
    seeds.filter_map(|seed| {
        let kernel = generate(seed);
        Some((dynamic(accept(&kernel).ok()?), arguments(&kernel)))
    })
}

/// The accepted kernels of these seeds in the form in which all that is read is used.
pub fn counted(seeds: Range<u64>) -> impl Iterator<Item = (Dynamic, Vec<Argument>)> {
    seeds.filter_map(|seed| {
        let kernel = tileproof_generate::counted::counted(&generate(seed))?;
        Some((dynamic(accept(&kernel).ok()?), arguments(&kernel)))
    })
}

/// What NVRTC says of the accepted kernels of these seeds, for an architecture and in both widths of indices: a line for each that it
/// refuses or warns of.
pub fn problems(seeds: Range<u64>, architecture: Architecture) -> Vec<String> {
    let mut problems = Vec::new();
    for (dynamic, _) in accepted(seeds) {
        for width in [IndexWidth::Narrow, IndexWidth::Wide] {
            let options = CompileOptions { width, source_lines: false };
            let problem = match dynamic.description.compile_with(architecture, options) {
                Ok(compiled) if compiled.warnings.is_empty() => continue,
                Ok(compiled) => compiled.log,
                Err(error) => error.to_string(),
            };
            problems.push(format!("{}, {width:?}: {problem}", dynamic.description.name));
        }
    }
    problems
}

/// What the simulator counts of the [`counted`] kernels of these seeds.
///
/// # Errors
/// A fault, and whose.
pub fn predictions(seeds: Range<u64>) -> Result<Vec<Prediction>, String> {
    counted(seeds)
        .map(|(dynamic, arguments)| {
            let name = dynamic.description.name;
            let run = dynamic.simulate(&arguments).map_err(|failure| format!("{name}: {failure}"))?;
            let launch = Launch { kernel: name.to_owned(), size: Vec::new(), gap: 0 };
            Ok(Prediction { launch, places: predict::places(&run.counts.sites) })
        })
        .collect()
}

/// Of the [`counted`] kernels of these seeds, how many there are, and the kinds of accesses of which the machine code has not as many as the
/// report, a line each. Of those that execute in the run there is an instruction for every site, or more where loops are unrolled;
/// and there is none of a kind that the report does not have, local memory aside.
///
/// # Errors
/// A fault, or what NVRTC or the disassembler says, and of which kernel.
pub fn unlike_machine_code(
    seeds: Range<u64>,
    architecture: Architecture,
    nvdisasm: &Path,
) -> Result<(usize, Vec<String>), String> {
    let (mut compared, mut unlike) = (0, Vec::new());
    for (dynamic, arguments) in counted(seeds) {
        let name = dynamic.description.name;
        let said = |error: &dyn std::fmt::Display| format!("{name}: {error}");
        let run = dynamic.simulate(&arguments).map_err(|failure| said(&failure))?;
        let options = CompileOptions { width: IndexWidth::Narrow, source_lines: false };
        let compiled =
            dynamic.description.compile_with(architecture, options).map_err(|error| said(&error))?;
        let kernels = sass::kernels(nvdisasm, &compiled.cubin).map_err(|error| said(&error))?;
        let mut machine: BTreeMap<Access, usize> = BTreeMap::new();
        for instruction in kernels.iter().flat_map(|kernel| &kernel.instructions) {
            *machine.entry(place::of_instruction(instruction).access).or_default() += 1;
        }
        // All sites of a kind, and those that execute.
        let mut report: BTreeMap<Access, [usize; 2]> = BTreeMap::new();
        for SiteRun { site, counts } in run.counts.sites.iter() {
            let access = place::of_site(site).access;
            let executes = counts.lanes > 0 && !(site.asynchronous && site.space == Space::Global);
            let [all, executed] = report.entry(access).or_default();
            (*all, *executed) = (*all + 1, *executed + usize::from(executes));
            if predict::is_loop(site) {
                report.entry(Access { action: Action::Load, ..access }).or_default()[0] += 1;
            }
        }
        for (access, [_, executed]) in &report {
            let found = machine.get(access).copied().unwrap_or_default();
            if found < *executed {
                unlike.push(format!("{name}: {executed} sites execute a {access}, {found} instructions do"));
            }
        }
        // Functions keep arrays for large numbers in local memory; whether they are used the profiler says.
        let besides = |access: &&Access| access.space != sass::Space::Local && !report.contains_key(access);
        for access in machine.keys().filter(besides) {
            unlike.push(format!("{name}: no site is a {access}"));
        }
        compared += 1;
    }
    Ok((compared, unlike))
}

/// Launches the [`counted`] kernels of these seeds, each once, and says how many there are.
///
/// # Errors
/// A launch that fails, and whose.
pub fn launches(seeds: Range<u64>, stream: &Arc<CudaStream>) -> Result<usize, String> {
    let mut count = 0;
    for (dynamic, arguments) in counted(seeds) {
        let name = dynamic.description.name;
        dynamic.launch(stream, &arguments).map_err(|failure| format!("{name}: {failure}"))?;
        count += 1;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tileproof::cudarc::driver::{DriverError, sys};

    /// Contracts, grids and launch conditions are the runtime's here.
    #[test]
    fn kernels_are_launched_as_their_contracts_demand() {
        let tally = run(0..24, 2, None);
        assert!(tally.found.is_empty(), "{:#?}", tally.found);
        assert!(tally.agree >= 20, "{}", tally.summary());
    }

    #[test]
    fn only_a_device_that_may_have_failed_is_not_asked_again() {
        let compile = Failure::Run(Error::Compile {
            kernel: "k",
            architecture: Architecture::new(9, 0),
            reason: String::new(),
            log: String::new(),
        });
        assert_eq!(blame(&compile), Wrong::Compile);
        assert_eq!(blame(&Failure::Touched { kernel: "k", argument: 0, byte: -1 }), Wrong::Gpu);
        let source = DriverError(sys::CUresult::CUDA_ERROR_ILLEGAL_ADDRESS);
        assert_eq!(blame(&Failure::Run(Error::Driver { action: "launch", source })), Wrong::Launch);
        assert_eq!(blame(&Failure::Driver { action: "copy", source }), Wrong::Launch);
    }

    #[test]
    fn summaries() {
        let mut tally = Tally { agree: 2, ..Tally::default() };
        tally.refused.insert(vec!["TP0401".into()], vec![3, 7]);
        assert_eq!(tally.summary(), "4 kernels: 2 agree, 0 differ, 2 refused");
        tally.found.push(Found { seed: 4, wrong: Wrong::Launch, text: String::new(), file: None });
        tally.left = 9;
        assert_eq!(
            tally.summary(),
            "5 kernels: 2 agree, 1 differ, 2 refused, 9 not judged after a failed launch"
        );
    }
}
