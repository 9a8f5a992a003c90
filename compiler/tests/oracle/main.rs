//! The checks against the simulator, on random kernels of two sorts: of accesses and their cost (`kernel`), and of the
//! order of accesses and what shared memory holds (`phases`).
//!
//! What the compiler accepts must run without a fault that it excludes, at shapes that cut tiles everywhere, and at the
//! shape of one block every access must cost what the report says. What it refuses must go wrong in a run. An affine
//! kernel is never refused because something is not known.

mod expr;
mod kernel;
mod launch;
mod order;
mod phases;
mod run;
mod tape;

use kernel::{FIRST_LINE, Kernel};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use tape::Tape;
use tileproof_compiler::{Compiled, compile};
use tileproof_model::report::{SiteCounts, Space};

/// What became of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Clean,
    Budgeted,
    Refused,
}

/// Judges so many random kernels, or as many as `PROPTEST_CASES` says, from the seed `PROPTEST_RNG_SEED` or always the same one. Each
/// of the expected outcomes must be that of more than 3 % of them, each of the rare ones that of at most 1 %
/// and one more.
fn random<K, O: Copy + Debug + Ord>(
    cases: u32,
    length: usize,
    generate: impl Fn(&mut Tape<'_>) -> K,
    text: impl Fn(&K) -> String,
    judge: impl Fn(&K) -> Result<O, String>,
    (expected, rare): (&[O], &[O]),
) {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    #[allow(clippy::disallowed_methods, reason = "a test, not the compiler")]
    if std::env::var_os("PROPTEST_CASES").is_none() {
        config.cases = cases;
    }
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(1);
    }
    let cases = config.cases;
    let outcomes = RefCell::new(BTreeMap::new());
    let mut runner = TestRunner::new(config);
    let tapes = prop::collection::vec(any::<u8>(), 0..length);
    let result = runner.run(&tapes, |tape| {
        let kernel = generate(&mut Tape::new(&tape));
        let outcome =
            judge(&kernel).map_err(|why| TestCaseError::fail(format!("{why}\n{}", text(&kernel))))?;
        *outcomes.borrow_mut().entry(outcome).or_insert(0u32) += 1;
        Ok(())
    });
    let outcomes = outcomes.into_inner();
    println!("of {cases} kernels: {outcomes:?}");
    if let Err(error) = result {
        panic!("{error}");
    }
    let count = |outcome: &O| outcomes.get(outcome).copied().unwrap_or(0);
    for outcome in expected {
        let enough = f64::from(count(outcome)) > 0.03 * f64::from(cases);
        assert!(enough, "{outcome:?} is the outcome of too few kernels: {outcomes:?}");
    }
    for outcome in rare {
        let few = count(outcome) <= 1 + cases / 100;
        assert!(few, "{outcome:?} is the outcome of too many kernels: {outcomes:?}");
    }
}

#[test]
fn random_kernels() {
    random(
        256,
        96,
        kernel::random,
        |kernel| format!("#[tiled_kernel({})]\n{}", kernel.attribute(), kernel.item(&[])),
        judge,
        (&[Outcome::Clean, Outcome::Budgeted, Outcome::Refused], &[]),
    );
}

#[test]
fn random_phases() {
    use order::Outcome;
    random(
        96,
        128,
        phases::random,
        |kernel| format!("#[tiled_kernel({})]\n{}", kernel.attribute(), kernel.item()),
        order::judge,
        (
            &[Outcome::Proven, Outcome::Race, Outcome::Uninitialised, Outcome::Divergent],
            &[Outcome::Unsure, Outcome::Costly],
        ),
    );
}

/// How often budgets are raised: there are fewer accesses to one tile.
const ROUNDS: u32 = 8;

/// Compiles a kernel, with budgets for the costs that the compiler finds, and compares what it says with runs.
fn judge(kernel: &Kernel) -> Result<Outcome, String> {
    let attribute = kernel.attribute();
    let errors = match compile(&attribute, &kernel.item(&[])) {
        Ok(compiled) => return accepted(kernel, &compiled).map(|()| Outcome::Clean),
        Err(errors) => errors,
    };
    if kernel.chooses && errors.contains("depends on `n % ") {
        return Ok(Outcome::Refused);
    }
    if kernel.reversed && errors.contains("bank conflicts cannot be ruled out") {
        return Ok(Outcome::Refused);
    }
    if errors.contains("[TP0802]") {
        return Ok(Outcome::Refused);
    }
    if ["cannot be ruled out", "is not known", "may fall below", "may overflow"]
        .iter()
        .any(|text| errors.contains(text))
    {
        return Err(format!("refused without reason: {errors}"));
    }
    let mut costs: Vec<(usize, &str, u32)> = errors.split("\n\n").filter_map(cost).collect();
    if costs.len() != errors.split("\n\n").count() {
        return refused(kernel, &errors).map(|()| Outcome::Refused);
    }
    // One error speaks for all accesses that one layout mends, so what the others cost may show only when it is covered.
    let mut again = errors;
    for _ in 0..ROUNDS {
        let budgets: Vec<String> =
            (0..kernel.statements()).map(|line| budget(&costs, line + FIRST_LINE)).collect();
        again = match compile(&attribute, &kernel.item(&budgets)) {
            Ok(compiled) => return accepted(kernel, &compiled).map(|()| Outcome::Budgeted),
            Err(again) => again,
        };
        costs.extend(again.split("\n\n").filter_map(cost));
    }
    Err(format!("refused with budgets for all costs: {again}"))
}

/// The line, the key of a budget and the excess, where an error is about a cost.
fn cost(error: &str) -> Option<(usize, &'static str, u32)> {
    let (line, message) = error.strip_prefix("line ")?.split_once(": ")?;
    let key = match message {
        _ if message.contains("[TP0101]") => "bank_conflict",
        _ if message.contains("[TP0201]") => "excess_sectors",
        _ => return None,
    };
    let first = message.lines().next()?;
    let (takes, enough) = first.split_once(" where ")?;
    let number = |text: &str| {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    };
    let takes = takes.split_once(": ")?.1.split(' ').next()?;
    Some((line.parse().ok()?, key, number(takes)? - number(enough.split("[TP").next()?)?))
}

fn budget(costs: &[(usize, &str, u32)], line: usize) -> String {
    let worst =
        |key: &str| costs.iter().filter(|cost| cost.0 == line && cost.1 == key).map(|cost| cost.2).max();
    let parts: Vec<String> = ["bank_conflict", "excess_sectors"]
        .into_iter()
        .filter_map(|key| worst(key).map(|excess| format!("{key} = {excess}, ")))
        .collect();
    match parts.is_empty() {
        true => String::new(),
        false => format!("#[budget({}because = \"random\")]", parts.concat()),
    }
}

/// An accepted kernel faults nowhere, and costs what its report says.
fn accepted(kernel: &Kernel, compiled: &Compiled) -> Result<(), String> {
    let lowered = run::lowered(&kernel.attribute(), &kernel.item(&[]));
    for (place, shape) in run::shapes(kernel).into_iter().enumerate() {
        let n = if place % 2 == 0 { kernel.most } else { 0 };
        if let Err(fault) = run::run(kernel, &lowered, shape, run::grid(kernel, shape), n) {
            return Err(format!("accepted, and at {shape:?}: {fault}"));
        }
    }
    for n in [0, kernel.most] {
        let counts = run::run(kernel, &lowered, run::whole(kernel), [1, 1, 1], n)
            .map_err(|fault| fault.to_string())?;
        compare(kernel, compiled, &counts)?;
    }
    Ok(())
}

/// The counts of a run of one block with those of the report.
fn compare(kernel: &Kernel, compiled: &Compiled, counts: &[SiteCounts]) -> Result<(), String> {
    for (row, counts) in compiled.report.sites.iter().zip(counts) {
        let differs = |what: &str, said: u64, counted: u64| {
            Err(format!("`{}`: {said} {what} in the report, {counted} in a run", row.access))
        };
        if row.instructions != counts.instructions {
            return differs("instructions", row.instructions, counts.instructions);
        }
        if row.useful_bytes != counts.useful_bytes {
            return differs("bytes", row.useful_bytes, counts.useful_bytes);
        }
        match row.space {
            Space::Shared => {
                if row.wavefronts != counts.wavefronts {
                    return differs("wavefronts", row.wavefronts, counts.wavefronts);
                }
                if row.ideal_wavefronts != counts.ideal_wavefronts {
                    return differs("ideal wavefronts", row.ideal_wavefronts, counts.ideal_wavefronts);
                }
            }
            Space::Global => {
                let exact = kernel.aligned;
                if row.sectors > counts.sectors || exact && row.sectors != counts.sectors {
                    return differs("sectors", row.sectors, counts.sectors);
                }
                if exact && row.ideal_sectors != counts.ideal_sectors {
                    return differs("ideal sectors", row.ideal_sectors, counts.ideal_sectors);
                }
            }
        }
    }
    Ok(())
}

/// A kernel that is refused for more than a cost goes wrong at one of the shapes.
fn refused(kernel: &Kernel, errors: &str) -> Result<(), String> {
    let lowered = run::lowered(&kernel.attribute(), &kernel.item(&[]));
    let mut shapes = run::shapes(kernel);
    shapes.push(run::whole(kernel));
    for shape in shapes {
        if run::run(kernel, &lowered, shape, run::grid(kernel, shape), kernel.most).is_err() {
            return Ok(());
        }
    }
    // A layout that may take a vector apart is refused even where these indices happen to keep it together, and a guard
    // that lets different threads pass for different reasons where one proof for all of them does not exist.
    if kernel.doubtful || errors.contains("moves pieces smaller than the vector") {
        return Ok(());
    }
    Err(format!("refused, and it runs at every shape: {errors}"))
}
