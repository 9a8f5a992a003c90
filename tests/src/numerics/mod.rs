//! What every operation of the language computes: a table of them, what each must give, and how far a machine is from it.
//!
//! [`operations`] lists each operation of each type with a reference that shares no code with the compiler: Rust's own arithmetic,
//! and numbers of many bits where that does not round correctly. [`Computer`] is who computes; the same table holds for the simulator
//! and for a GPU, so that one is as the other wherever the table says that they are exact.

mod atomics;
mod derived;
mod exact;
mod format;
mod inputs;
mod native;
mod operations;

pub use native::divisions_by_zero;
pub use operations::operations;

use crate::dynamic::{Argument, Dynamic, Tensor};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use tileproof::ScalarType;
use tileproof_examples::machine::Machine;

const FLOATS: [ScalarType; 4] = [ScalarType::F16, ScalarType::Bf16, ScalarType::F32, ScalarType::F64];

const INTEGERS: [ScalarType; 8] = [
    ScalarType::I8,
    ScalarType::I16,
    ScalarType::I32,
    ScalarType::I64,
    ScalarType::U8,
    ScalarType::U16,
    ScalarType::U32,
    ScalarType::U64,
];

/// What an operation must give, of the bits of its operands; those that it has not are 0.
type Reference = Arc<dyn Fn([u64; 3]) -> u64 + Send + Sync>;

/// An operation of values.
#[derive(Clone)]
pub struct Operation {
    /// What it is in the language, over `a`, `b` and `c`.
    pub expression: String,
    /// The type that it is of.
    pub scalar: ScalarType,
    /// The types of the operands.
    pub operands: Vec<ScalarType>,
    /// The type of the result.
    pub result: ScalarType,
    /// How many values of the type a result may be from the correctly rounded one. 0: the same bits, but that a NaN is as good as another.
    pub ulps: u32,
    /// What it is called where the expression does not say it.
    name: Option<String>,
    /// Of what is no expression, the statements that leave its result in `out[[i]]`, and those ahead of them that all threads execute.
    statements: Option<[String; 2]>,
    reference: Reference,
    /// Nearly always the reference, and faster.
    estimate: Option<Reference>,
    /// Of what divides by the second operand, whether that is 0: no value in the simulator, 0 on a GPU.
    divisor: Divisor,
    /// Whether the reference takes microseconds.
    is_slow: bool,
    /// An operand that is an integer of at most this magnitude, so that results are not all infinite.
    small: Option<(usize, u64)>,
}

/// What the second operand may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Divisor {
    Any,
    NotZero,
    Zero,
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", self.name(), self.scalar.name())
    }
}

impl Operation {
    /// One of the type of its first operand, whose result is the reference, bit for bit.
    fn exact(
        expression: &str,
        operands: &[ScalarType],
        result: ScalarType,
        reference: impl Fn([u64; 3]) -> u64 + Send + Sync + 'static,
    ) -> Operation {
        Operation {
            expression: expression.to_owned(),
            scalar: operands[0],
            operands: operands.to_vec(),
            result,
            ulps: 0,
            name: None,
            statements: None,
            reference: Arc::new(reference),
            estimate: None,
            divisor: Divisor::Any,
            is_slow: false,
            small: None,
        }
    }

    fn estimated(self, estimate: impl Fn([u64; 3]) -> u64 + Send + Sync + 'static) -> Operation {
        Operation { estimate: Some(Arc::new(estimate)), ..self }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.expression)
    }

    /// The kernel that computes it, one element a thread.
    ///
    /// # Errors
    /// The compiler's errors.
    pub fn compile(&self) -> Result<Dynamic, String> {
        let names = &["a", "b", "c"][..self.operands.len()];
        let parameters = names.iter().zip(&self.operands);
        let parameters: String =
            parameters.map(|(name, scalar)| format!("of_{name}: &Tensor<{}, 1>, ", scalar.name())).collect();
        let equal: Vec<String> = names.iter().map(|name| format!("of_{name}.len() == out.len()")).collect();
        let lets: String = names.iter().map(|name| format!("let {name} = of_{name}[[i]];\n")).collect();
        let [ahead, statements] = match &self.statements {
            Some(statements) => statements.clone(),
            None => [String::new(), format!("out[[i]] = {};", self.expression)],
        };
        let attribute =
            format!("block = [256], grid = [out.len().div_ceil(256)], requires({})", equal.join(", "));
        let item = format!(
            "fn operation({parameters}out: &mut Tensor<{}, 1>) {{
                {ahead}
                let i = block_x() * 256 + thread_x();
                if i < out.len() {{
                    {lets}
                    {statements}
                }}
            }}",
            self.result.name()
        );
        Dynamic::compile(&attribute, &item)
            .map_err(|errors| format!("{} of {}: {errors}", self.name(), self.scalar.name()))
    }

    /// Its operands, a column each; `counts` says how many.
    pub fn inputs(&self, counts: &Counts) -> Vec<Vec<u64>> {
        let count = if self.is_slow {
            counts.slow
        } else if self.scalar == ScalarType::F32 {
            counts.singles
        } else {
            counts.others
        };
        let mut columns = inputs::inputs(&self.operands, count, self.expression.len() as u64);
        match self.divisor {
            Divisor::Any => {}
            Divisor::NotZero => {
                columns[1].iter_mut().filter(|divisor| **divisor == 0).for_each(|divisor| *divisor = 1);
            }
            Divisor::Zero => columns[1].fill(0),
        }
        if let Some((operand, most)) = self.small {
            let scalar = self.operands[operand];
            let mask = u64::MAX >> (64 - 8 * scalar.bytes());
            for value in &mut columns[operand] {
                *value = (format::integer(scalar, *value) % (most as i128 + 1)) as u64 & mask;
            }
        }
        columns
    }
}

/// How many operands an operation is tried with.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Of what is of f32, whose references are fast.
    pub singles: usize,
    /// Of an approximated function of f64, whose reference takes microseconds.
    pub slow: usize,
    /// Of the others. Of one operand of 16 bits or less all, if there are not more.
    pub others: usize,
}

/// What computes: a kernel and its arguments, the last of them the output; returns them as they are afterwards.
pub type Computer = Arc<dyn Fn(&Dynamic, &[Argument]) -> Result<Vec<Argument>, String> + Send + Sync>;

/// What is being done for an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Compile,
    Compute,
    Compare,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Compile => "its inputs and its kernel",
            Stage::Compute => "the machine",
            Stage::Compare => "its references",
        })
    }
}

/// How far a machine is from the references of an operation.
#[derive(Clone, Debug)]
pub struct Measured {
    /// What it is called.
    pub operation: String,
    /// The type that it is of.
    pub scalar: ScalarType,
    /// How many operands, or tuples of them, were tried.
    pub inputs: usize,
    /// The largest distance of a result from the correctly rounded one, in values of its type; `u64::MAX` where one is a NaN, or integers
    /// differ.
    pub ulps: u64,
    /// How many results are not the correctly rounded one.
    pub unequal: usize,
    /// How far they may be.
    pub bound: u32,
    /// The operands, the result and what it should be, where they are the farthest.
    pub worst: Option<([u64; 3], u64, u64)>,
}

impl Measured {
    /// Whether the machine keeps the bound.
    pub fn is_within(&self) -> bool {
        self.ulps <= self.bound.into()
    }
}

impl fmt::Display for Measured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Measured { operation, scalar, inputs, ulps, unequal, bound, worst } = self;
        let far = if *ulps == u64::MAX { "other".to_owned() } else { ulps.to_string() };
        write!(f, "{operation:<40} {:<5} {inputs:>8} {unequal:>8} {far:>6} {bound:>5}", scalar.name())?;
        match worst {
            Some(([a, b, c], got, wanted)) if !self.is_within() => {
                write!(f, "  WRONG: of {a:#x} {b:#x} {c:#x}: {got:#x}, not {wanted:#x}")
            }
            Some(_) | None => Ok(()),
        }
    }
}

/// The head of a table of [`Measured`].
pub const HEAD: &str = "operation                                type    inputs  unequal    ulp bound";

/// As JSON, to be kept: the machine, then an object an operation, its distances in ulp, and why others have none.
pub fn to_json(machine: &Machine, rows: &[Measured], errors: &[String]) -> Value {
    let object = |row: &Measured| {
        json!({
            "operation": row.operation,
            "type": row.scalar.name(),
            "inputs": row.inputs,
            "unequal": row.unequal,
            "ulps": (row.ulps != u64::MAX).then_some(row.ulps),
            "bound": row.bound,
            "worst": row.worst.map(|([a, b, c], got, wanted)| {
                [a, b, c, got, wanted].map(|bits| format!("{bits:#x}"))
            }),
        })
    };
    let mut record = json!(machine);
    record["measurement"] = json!("numerics");
    record["method"] = json!(METHOD);
    record["exact"] = json!(rows.iter().filter(|row| row.bound == 0).count());
    record["out_of_bounds"] = json!(rows.iter().filter(|row| !row.is_within()).count());
    record["not_measured"] = json!(errors);
    record["operations"] = rows.iter().map(object).collect();
    record
}

const METHOD: &str = "each operation in a kernel of its own, one element a thread, on edges of its types and seeded random values; \
    `ulps` is the largest distance from the correctly rounded result, in values of the type, null where a value is none or integers \
    differ; `unequal` counts the results that are not the correctly rounded one; any NaN is as good as another";

fn to_bytes(scalar: ScalarType, values: &[u64]) -> Vec<u8> {
    let size = scalar.bytes() as usize;
    values.iter().flat_map(|value| value.to_le_bytes().into_iter().take(size)).collect()
}

fn from_bytes(scalar: ScalarType, bytes: &[u8]) -> Vec<u64> {
    let wide = |bytes: &[u8]| bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
    bytes.chunks_exact(scalar.bytes() as usize).map(wide).collect()
}

/// Compiles an operation, has the machine compute it, and compares; says when it goes on to a stage.
fn measure(
    operation: &Operation,
    counts: &Counts,
    computer: &Computer,
    enter: &mut dyn FnMut(Stage),
) -> Result<Measured, String> {
    enter(Stage::Compile);
    let kernel = operation.compile()?;
    let inputs = operation.inputs(counts);
    let count = inputs[0].len();
    let tensor = |scalar, bytes| Argument::Tensor(Tensor::new(scalar, &[count], bytes));
    let mut arguments: Vec<Argument> = operation
        .operands
        .iter()
        .zip(&inputs)
        .map(|(scalar, values)| tensor(*scalar, to_bytes(*scalar, values)))
        .collect();
    // What no operation gives everywhere.
    arguments.push(tensor(operation.result, vec![0x5b; count * operation.result.bytes() as usize]));
    enter(Stage::Compute);
    let after = computer(&kernel, &arguments)
        .map_err(|error| format!("{} of {}: {error}", operation.name(), operation.scalar.name()))?;
    enter(Stage::Compare);
    let Some(Argument::Tensor(out)) = after.last() else { return Err("the output is a tensor".into()) };
    let got = from_bytes(operation.result, &out.bytes);
    let mut measured = Measured {
        operation: operation.name().to_owned(),
        scalar: operation.scalar,
        inputs: count,
        ulps: 0,
        unequal: 0,
        bound: operation.ulps,
        worst: None,
    };
    for (at, got) in got.into_iter().enumerate() {
        let bits = std::array::from_fn(|operand| inputs.get(operand).map_or(0, |column| column[at]));
        let distance = |reference: &Reference| {
            let wanted = reference(bits);
            (format::distance(operation.result, got, wanted), wanted)
        };
        let (mut far, mut wanted) = distance(operation.estimate.as_ref().unwrap_or(&operation.reference));
        if operation.estimate.is_some() && far > measured.ulps {
            // The estimate may be the neighbour of the right one.
            (far, wanted) = distance(&operation.reference);
        }
        measured.unequal += usize::from(far > 0);
        if far > measured.ulps {
            measured.ulps = far;
            measured.worst = Some((bits, got, wanted));
        }
    }
    Ok(measured)
}

/// Measures operations on all processors, and tells of each when it is done, with how long it took to compile, to compute and to
/// compare, and now and then of those that take long. Returns the rows in
/// the operations' order, and what the compiler or the machine said of operations without one.
///
/// What is not done by the limit has none: a kernel may never end, so its thread is left behind.
pub fn measure_all(
    operations: Vec<Operation>,
    counts: Counts,
    computer: &Computer,
    limit: Duration,
    tell: &dyn Fn(&str),
) -> (Vec<Measured>, Vec<String>) {
    let start = Instant::now();
    let operations = Arc::new(operations);
    let next = Arc::new(AtomicUsize::new(0));
    let under_way: Arc<Mutex<BTreeMap<usize, (Stage, Instant)>>> = Arc::default();
    let (sender, receiver) = mpsc::channel();
    for _ in 0..std::thread::available_parallelism().map_or(1, |threads| threads.get().min(16)) {
        let (operations, next, under_way) = (operations.clone(), next.clone(), under_way.clone());
        let (sender, computer) = (sender.clone(), computer.clone());
        std::thread::spawn(move || {
            loop {
                let place = next.fetch_add(1, Ordering::Relaxed);
                let Some(operation) = operations.get(place) else { return };
                let mut entered = Vec::new();
                let mut enter = |stage| {
                    entered.push(Instant::now());
                    lock(&under_way).insert(place, (stage, Instant::now()));
                };
                let row = measure(operation, &counts, &computer, &mut enter);
                entered.push(Instant::now());
                let times: Vec<Duration> = entered.windows(2).map(|pair| pair[1] - pair[0]).collect();
                lock(&under_way).remove(&place);
                if sender.send((place, row, times)).is_err() {
                    return;
                }
            }
        });
    }
    drop(sender);
    let mut rows: Vec<Option<Result<Measured, String>>> = vec![None; operations.len()];
    let mut told = start;
    while let Some(left) = limit.checked_sub(start.elapsed()) {
        let seconds = start.elapsed().as_secs_f64();
        match receiver.recv_timeout(left.min(Duration::from_secs(1))) {
            Ok((place, row, times)) => {
                match &row {
                    Ok(row) => {
                        tell(&format!("done after {seconds:6.1} s, of its stages {times:8.1?}: {row}"));
                    }
                    Err(error) => tell(&format!("failed after {seconds:6.1} s: {error}")),
                }
                rows[place] = Some(row);
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if told.elapsed() > Duration::from_secs(10) {
            told = Instant::now();
            for (place, (stage, since)) in lock(&under_way).iter() {
                let since = since.elapsed().as_secs_f64();
                if since > 5.0 {
                    tell(&format!(
                        "at {seconds:6.1} s: {:?}: {stage} since {since:.1} s",
                        operations[*place]
                    ));
                }
            }
        }
    }
    // No thread begins another.
    next.store(operations.len(), Ordering::Relaxed);
    let under_way = lock(&under_way);
    let why = |place: usize| match under_way.get(&place) {
        Some((stage, since)) => format!("{stage} not done after {:.1} s", since.elapsed().as_secs_f64()),
        None => "not measured by the limit".to_owned(),
    };
    let rows = rows
        .into_iter()
        .enumerate()
        .map(|(place, row)| row.unwrap_or_else(|| Err(format!("{:?}: {}", operations[place], why(place)))));
    let (rows, errors): (Vec<_>, Vec<_>) = rows.partition(Result::is_ok);
    (rows.into_iter().flatten().collect(), errors.into_iter().filter_map(Result::err).collect())
}

/// What a thread that panics leaves is whole.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_says_what_was_measured_and_where() {
        let machine = Machine {
            date: "2026-11-30".into(),
            gpu: "NVIDIA H200".into(),
            architecture: "sm_90".into(),
            driver: None,
            driver_cuda: "13.0".into(),
            nvrtc: None,
        };
        let row = |ulps, bound| Measured {
            operation: "a.sin()".into(),
            scalar: ScalarType::F32,
            inputs: 10,
            ulps,
            unequal: 3,
            bound,
            worst: Some(([1, 0, 0], 2, 3)),
        };
        let record = to_json(&machine, &[row(2, 2), row(u64::MAX, 0)], &["a.cos() of f32".into()]);
        assert_eq!(record["not_measured"], json!(["a.cos() of f32"]));
        assert_eq!((&record["gpu"], &record["date"]), (&json!("NVIDIA H200"), &json!("2026-11-30")));
        assert_eq!((&record["exact"], &record["out_of_bounds"]), (&json!(1), &json!(1)));
        assert_eq!(record["operations"][0]["ulps"], 2);
        assert_eq!(record["operations"][1]["ulps"], Value::Null);
        assert_eq!(record["operations"][0]["worst"], json!(["0x1", "0x0", "0x0", "0x2", "0x3"]));
        assert!(row(2, 2).to_string().ends_with(" 2     2"), "{}", row(2, 2));
        assert!(row(3, 2).to_string().ends_with("WRONG: of 0x1 0x0 0x0: 0x2, not 0x3"));
    }

    #[test]
    fn what_never_ends_does_not_keep_the_others() {
        let counts = Counts { singles: 1, slow: 1, others: 1 };
        let ends = Operation::exact("a", &[ScalarType::I64], ScalarType::I64, |[a, ..]| a);
        let never = Operation::exact("-a", &[ScalarType::I32], ScalarType::I32, |[a, ..]| a);
        let computer: Computer = Arc::new(|_, arguments| match &arguments[0] {
            Argument::Tensor(tensor) if tensor.element == ScalarType::I32 => loop {
                std::thread::park();
            },
            _ => Ok(vec![arguments[0].clone()]),
        });
        let told = Mutex::new(Vec::new());
        let tell = |line: &str| lock(&told).push(line.to_owned());
        let limit = Duration::from_secs(2);
        let (rows, errors) = measure_all(vec![ends, never], counts, &computer, limit, &tell);
        assert_eq!((rows.len(), errors.len()), (1, 1), "{errors:?}");
        assert_eq!(rows[0].operation, "a");
        assert!(errors[0].starts_with("-a of i32: the machine not done after "), "{errors:?}");
        assert_eq!(lock(&told).len(), 1);
    }
}
