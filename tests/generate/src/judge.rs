//! What becomes of a generated kernel: compiled, with budgets for what it costs, and run two ways.

use crate::counts::disagreement;
use crate::evaluate::evaluate;
use crate::memory;
use crate::print::{Budget, Budgets, attribute, item};
use crate::tree::{Kernel, Tensor};
use crate::value::Value;
use tileproof_compiler::simulate::{Argument, Buffer, TensorArgument, simulate};
use tileproof_compiler::{Compiled, compile};
use tileproof_model::report::SiteCounts;

/// How often budgets are raised: an error speaks for several accesses, so what the others cost shows later.
const ROUNDS: usize = 12;

/// A kernel that the compiler accepts, and the source that it accepts.
#[derive(Debug)]
pub struct Accepted {
    /// The arguments of the attribute.
    pub attribute: String,
    /// The function, budgets included.
    pub item: String,
    /// What the compiler makes of it.
    pub compiled: Compiled,
}

/// Compiles a kernel, with budgets for the costs that the compiler finds.
///
/// # Errors
/// What the compiler refuses for another reason than its cost.
pub fn accept(kernel: &Kernel) -> Result<Accepted, String> {
    let attribute = attribute(kernel);
    let mut budgets = Budgets::new();
    let mut refusal = String::new();
    for _ in 0..ROUNDS {
        let item = item(kernel, &budgets);
        refusal = match compile(&attribute, &item) {
            Ok(compiled) => return Ok(Accepted { attribute, item, compiled }),
            Err(refusal) => refusal,
        };
        let mut costs = Vec::new();
        for error in refusal.split("\n\n") {
            match cost(error) {
                Some(cost) => costs.push(cost),
                None => return Err(refusal),
            }
        }
        for (line, bank, excess) in costs {
            let budget: &mut Budget = budgets.entry(line).or_default();
            let slot = if bank { &mut budget.bank_conflict } else { &mut budget.excess_sectors };
            *slot = Some(slot.map_or(excess, |old| old.max(excess)));
        }
    }
    Err(refusal)
}

/// Of an error about a cost its line, whether it is about banks, and the excess.
fn cost(error: &str) -> Option<(usize, bool, u32)> {
    let (line, message) = error.strip_prefix("line ")?.split_once(": ")?;
    let bank = match message {
        _ if message.contains("[TP0101]") => true,
        _ if message.contains("[TP0201]") => false,
        _ => return None,
    };
    let line = line.parse().ok()?;
    let first = message.lines().next()?;
    let Some((takes, enough)) = first.split_once(" where ") else {
        // What is not known is at worst this much.
        return Some((line, bank, 31));
    };
    let number = |text: &str| {
        let digits: String = text.chars().filter(char::is_ascii_digit).collect();
        digits.parse::<u32>().ok()
    };
    let takes = takes.split_once(": ")?.1.split(' ').next()?;
    Some((line, bank, number(takes)? - number(enough.split("[TP").next()?)?))
}

/// The codes of a refusal, each once, in order.
pub fn codes(refusal: &str) -> Vec<String> {
    let mut codes: Vec<String> = refusal
        .match_indices("[TP")
        .filter_map(|(place, _)| refusal[place + 1..].split_once(']').map(|(code, _)| code.to_string()))
        .collect();
    codes.sort();
    codes.dedup();
    codes
}

/// What the memory of all tensors holds after a run, and what each access site counted.
pub type Run = (Vec<Vec<Value>>, Vec<SiteCounts>);

/// Runs a kernel on the simulator, with these values in memory before it.
///
/// # Errors
/// A fault.
pub fn run(
    kernel: &tileproof_compiler::ir::Kernel,
    tensors: &[Tensor],
    before: Vec<Vec<Value>>,
    scalars: &[u64],
    grid: [usize; 3],
) -> Result<Run, String> {
    let mut bytes: Vec<Vec<u8>> = before.iter().map(|values| memory::bytes(values)).collect();
    let arguments = tensors.iter().zip(&mut bytes).map(|(tensor, bytes)| {
        Argument::Tensor(TensorArgument {
            buffer: if tensor.mutable { Buffer::Write(bytes) } else { Buffer::Read(bytes) },
            extents: tensor.extents.iter().map(|n| *n as u64).collect(),
            strides: tensor.strides.iter().map(|n| *n as u64).collect(),
            base: 0,
        })
    });
    let scalars = scalars.iter().map(|bits| Argument::Scalar(*bits));
    let mut arguments: Vec<Argument<'_>> = arguments.chain(scalars).collect();
    let counts =
        simulate(kernel, grid.map(|n| n as u32), &mut arguments).map_err(|fault| fault.to_string())?;
    drop(arguments);
    let after = tensors.iter().zip(&bytes).map(|(tensor, bytes)| memory::values(tensor.element, bytes));
    Ok((after.collect(), counts))
}

/// Runs a generated kernel on the simulator.
///
/// # Errors
/// A fault.
pub fn simulated(kernel: &Kernel, accepted: &Accepted) -> Result<Run, String> {
    let scalars: Vec<u64> = kernel.arguments.iter().map(Value::bits).collect();
    let before = memory::initial(kernel);
    run(&accepted.compiled.kernel, &kernel.tensors, before, &scalars, kernel.grid())
}

/// The first place where two results differ, in words.
pub fn difference(kernel: &Kernel, expected: &[Vec<Value>], found: &[Vec<Value>]) -> Option<String> {
    for (place, tensor) in kernel.tensors.iter().enumerate().filter(|(_, tensor)| tensor.mutable) {
        let pairs = expected[place].iter().zip(&found[place]);
        for (element, (expected, found)) in pairs.enumerate() {
            if !memory::same(tensor, expected, found) {
                let name = crate::print::tensor_name(kernel, place);
                return Some(format!(
                    "`{name}`, element {element} in memory: {expected:?} expected, {found:?} found"
                ));
            }
        }
    }
    None
}

/// What became of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Both ways give the same.
    Agrees,
    /// The compiler does not accept it.
    Refused(String),
    /// The program is not well formed: a mistake of the generator's.
    Malformed(String),
    /// It is accepted, and faults on the simulator.
    Fault(String),
    /// The ways differ.
    Differs(String),
    /// The run counts what the report does not say.
    Miscounts(String),
    /// The compiler or the simulator panics.
    Panics(String),
}

/// Compiles a kernel, runs it on the simulator and by the evaluator, and compares.
pub fn judge(kernel: &Kernel) -> Outcome {
    let judged = || {
        let accepted = match accept(kernel) {
            Ok(accepted) => accepted,
            Err(refusal) => return Outcome::Refused(refusal),
        };
        let expected = match evaluate(kernel) {
            Ok(expected) => expected,
            Err(wrong) => return Outcome::Malformed(wrong),
        };
        match simulated(kernel, &accepted) {
            Err(fault) => Outcome::Fault(fault),
            Ok((found, counts)) => {
                if let Some(difference) = difference(kernel, &expected, &found) {
                    return Outcome::Differs(difference);
                }
                match disagreement(kernel, &accepted.compiled.report, &counts) {
                    Some(difference) => Outcome::Miscounts(difference),
                    None => Outcome::Agrees,
                }
            }
        }
    };
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(judged)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        Outcome::Panics(text.or(panic.downcast_ref::<&str>().map(|text| (*text).into())).unwrap_or_default())
    })
}
