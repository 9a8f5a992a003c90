//! What is said of the order of accesses to shared memory, and of what is read there, against runs.

use crate::launch::{launches, run};
use crate::phases::Phased;
use crate::run::lowered;
use tileproof_compiler::compile;
use tileproof_compiler::simulate::{Fault, FaultKind};

/// What became of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Outcome {
    Proven,
    Race,
    Uninitialised,
    Divergent,
    Costly,
    /// Refused for what may be, where the stages that iterations of one loop take from those of another one are written in all runs.
    Unsure,
}

/// What a run shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shown {
    Race,
    Uninitialised,
    Divergent,
    Other,
}

fn shown(fault: &Fault) -> Shown {
    match fault.kind {
        FaultKind::Race { .. } | FaultKind::UnderWay { .. } => Shown::Race,
        FaultKind::Uninitialised { .. } => Shown::Uninitialised,
        FaultKind::Barrier { .. } | FaultKind::Divergent { .. } => Shown::Divergent,
        FaultKind::OutOfBounds { .. }
        | FaultKind::Misaligned { .. }
        | FaultKind::Scattered { .. }
        | FaultKind::DivisionByZero
        | FaultKind::Logarithm
        | FaultKind::IndexOverflow { .. }
        | FaultKind::IndexConversion { .. }
        | FaultKind::RegisterIndex { .. }
        | FaultKind::Step
        | FaultKind::ArgumentCount { .. }
        | FaultKind::Argument { .. } => Shown::Other,
    }
}

/// Compiles a kernel and compares what the compiler says with runs.
pub(crate) fn judge(kernel: &Phased) -> Result<Outcome, String> {
    let (attribute, item) = (kernel.attribute(), kernel.item());
    let errors = compile(&attribute, &item).err().unwrap_or_default();
    // What an access costs is not what this is about, and it is said without the rest.
    let errors: Vec<&str> =
        errors.split("\n\n").filter(|error| !error.is_empty() && !error.contains("[TP0101]")).collect();
    if errors.iter().any(|error| error.contains("[TP0201]")) {
        // Behind an exit of some threads; then nothing is said of the order.
        return Ok(Outcome::Costly);
    }
    let said = |code: &str| errors.iter().any(|error| error.contains(code));
    let (race, uninitialised, divergent) = (said("[TP0801]"), said("[TP0803]"), said("[TP0602]"));
    if errors
        .iter()
        .any(|error| !["[TP0801]", "[TP0803]", "[TP0602]"].iter().any(|code| error.contains(code)))
    {
        return Err(format!("the random kernel is not well formed: {errors:?}"));
    }
    if kernel.affine && errors.iter().any(|error| error.contains("[TP0801]") && error.contains("not known")) {
        return Err(format!("refused for what is not known: {errors:?}"));
    }
    let shown: Vec<Shown> = ways(kernel, &item, race || uninitialised || divergent)?;
    if !(race || uninitialised || divergent) {
        return Ok(Outcome::Proven);
    }
    // A run ends at the first thing that goes wrong, so that one may hide another. A tile that is written first hides no race.
    if divergent {
        return match !shown.is_empty() {
            true => Ok(Outcome::Divergent),
            false => Err(format!("refused, and all threads meet in every run: {errors:?}")),
        };
    }
    if race && !ways(kernel, &kernel.initialised(), true)?.contains(&Shown::Race) {
        return Err(format!("refused, and no run has a race: {errors:?}"));
    }
    if uninitialised && !shown.contains(&Shown::Uninitialised) && !race {
        if kernel.stages > 1 && errors.iter().all(|error| error.contains("may be read")) {
            return Ok(Outcome::Unsure);
        }
        return Err(format!("refused, and every run finds what it reads written: {errors:?}"));
    }
    Ok(if race { Outcome::Race } else { Outcome::Uninitialised })
}

/// What goes wrong in the runs of a kernel; an error where something does that the compiler excludes.
fn ways(kernel: &Phased, item: &str, refused: bool) -> Result<Vec<Shown>, String> {
    let lowered = lowered(&kernel.attribute(), item);
    let mut ways = Vec::new();
    for launch in launches(kernel) {
        if let Err(fault) = run(kernel, &lowered, launch) {
            let way = shown(&fault);
            if !refused || way == Shown::Other {
                return Err(format!("accepted, and at {launch:?}: {fault}"));
            }
            ways.push(way);
        }
    }
    Ok(ways)
}
