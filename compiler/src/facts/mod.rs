//! What is known about every access of a kernel, before anything is judged.
//!
//! The analysis executes the IR once for a whole block: a value is one [`Linear`] form a thread, over symbols that stand
//! for what only the launch knows. Loops whose bounds are known are executed iteration by iteration; others once, with a
//! symbol for the iteration. Comparisons that are not known become facts inside the branch they guard. Each time
//! an access is executed it leaves a [`Visit`]: the index, the threads that can be there, and the facts that hold.
//!
//! Everything is exact or admits that it is not: an operation that is not linear yields a new symbol with the facts that
//! define it, a value from memory a symbol with the range of its type, and arithmetic that may leave its type likewise.
//!
//! Where the place of an access in its tile depends on a loop counter modulo something (stages, swizzles), the
//! analysis is repeated for each residue of the counter, up to [`MOST_CASES`] in all; so it is for both values of a bool
//! argument that decides whether a barrier is met. What a run with more residues will say better is left to it.
//!
//! For races and initialisation an iteration that stands for all does not suffice: iterations that follow it, and the first
//! ones, are walked too, and leave accesses in [`Run::replays`] alone.

mod address;
mod alike;
pub mod apart;
mod arithmetic;
mod comparison;
mod conditional;
mod conditions;
pub mod cover;
mod deciding;
mod eval;
mod example;
mod inert;
pub mod lanes;
pub mod linear;
mod loops;
mod operations;
mod orbit;
mod order;
mod prove;
mod registers;
mod relations;
mod rounds;
mod search;
mod symbol;
mod together;
mod truth;
mod unwritten;
mod walk;
mod when;
mod width;

pub use address::{Obstacle, Offsets, tensor_offset, tile_offsets};
pub use alike::{of_all_runs, says_the_same};
pub use conditions::{Condition, ConditionKind, Conditions, GridExtent};
pub use lanes::{Lanes, Mask};
pub use linear::{Linear, SymbolId};
pub use operations::Operations;
pub use order::{Around, Between, Interval, IntervalId, Open, Ordered, Waited};
pub use prove::{FactList, gcd, lower_bound, non_negative};
pub use symbol::{Residue, Symbol, SymbolKind, Symbols};
pub use together::Divergence;
pub use unwritten::{Unwritten, element_index, element_number};
pub use when::When;

use crate::ir::{BinaryOp, Expr, Handle, Kernel, Scalar, Site};
use crate::span::SpanId;
use inert::Inert;
use std::collections::BTreeMap;
use walk::Requests;

/// How many combinations of residues are analysed at most.
pub const MOST_CASES: usize = 64;

/// Loops with at most so many iterations are unrolled unless the source says otherwise.
pub const MOST_UNROLLED: u32 = 64;

/// Everything known about a kernel.
#[derive(Debug)]
pub struct Facts {
    /// One run of the analysis for each combination of residues; at least one.
    pub runs: Vec<Run>,
    /// By loop: how often every thread goes round at most, where the number is known at compile time, be it from the loops
    /// around it that are unrolled.
    pub trips: Vec<Option<u32>>,
    /// Whether every index computation fits 32 bits, `usize` unsigned and `isize` signed, where every extent, stride, span
    /// and magnitude of an index argument is below 2^31.
    pub narrow: bool,
    /// Where following the kernel became too much work, if it did: nothing else here is complete then.
    pub exhausted: Option<SpanId>,
}

/// One run of the analysis.
#[derive(Debug)]
pub struct Run {
    /// The unknowns.
    pub symbols: Symbols,
    /// The blocks of the grid, by axis.
    pub grid: Vec<GridExtent>,
    /// The accesses, in order of execution.
    pub visits: Vec<Visit>,
    /// The accesses of iterations that meet those that stand for all: they matter for races alone.
    pub replays: Vec<Visit>,
    /// Which accesses nothing orders.
    pub intervals: Vec<Interval>,
    /// The asynchronous copies that are waited for.
    pub waits: Vec<Waited>,
    /// The loops whose counters are taken by their residues here, one a run.
    pub split: Vec<SpanId>,
    /// Reads of shared memory that may find what nobody wrote.
    pub unwritten: Vec<Unwritten>,
    /// Index computations that may leave the range of their type.
    pub escapes: Vec<Escape>,
    /// The symbols that stand for their results, and for the results of what was computed with these.
    pub escaped: Vec<SymbolId>,
    /// Arithmetic on narrower numbers that may wrap.
    pub wraps: Vec<Wrap>,
    /// Barriers and collectives that not all threads that take part are known to reach together.
    pub divergences: Vec<Divergence>,
    /// Accesses to register arrays and vectors whose index is not one number known at compile time, or is outside.
    pub register_faults: Vec<RegisterFault>,
    /// What the block computes.
    pub operations: Operations,
}

impl Run {
    /// Whether a form depends on an index computation that has been reported for leaving its range.
    pub fn follows_escape(&self, form: &Linear) -> bool {
        !self.escapes.is_empty()
            && form.terms.iter().any(|(symbol, _)| self.symbols.is_one_of(*symbol, &self.escaped))
    }
}

/// Which of the possible threads are really there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Presence {
    /// All of them, or, where a condition is the same for the whole block, none.
    All,
    /// All of them but those beyond an edge: the guard compares with something that only the launch knows.
    Edge,
    /// Any subset of them: the guard depends on data.
    Any,
}

/// One execution of an access by the block.
#[derive(Clone, Debug)]
pub struct Visit {
    /// The access.
    pub site: Handle<Site>,
    /// The index, one form an extent.
    pub index: Vec<Linear>,
    /// The threads that can be there.
    pub mask: Mask,
    /// Which of them are.
    pub presence: Presence,
    /// What holds there.
    pub facts: FactList,
    /// Its place in the order of accesses.
    pub interval: IntervalId,
    /// What decides whether a thread of the mask comes there, outermost first: kept where the kernel claims to write every
    /// element of a tensor.
    pub conditions: Conditions,
}

/// An index computation that may leave the range of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Escape {
    /// The computation.
    pub span: SpanId,
    /// How.
    pub kind: EscapeKind,
}

/// Arithmetic on numbers of 32 bits or fewer that may wrap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wrap {
    /// What stands for its result.
    pub symbol: SymbolId,
    /// The computation.
    pub span: SpanId,
    /// The type that it wraps in.
    pub scalar: Scalar,
    /// The operator.
    pub op: BinaryOp,
    /// What it is applied to.
    pub operands: [Handle<Expr>; 2],
}

/// How an index computation may leave the range of its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EscapeKind {
    /// It may fall below zero.
    BelowZero,
    /// It may grow beyond 2^62, or, of an `isize`, below -2^62.
    TooLarge,
    /// It converts an `isize` to `usize` that may be below zero.
    NegativeIndex,
    /// It may divide by zero.
    DivisionByZero,
    /// It is the step of a loop, and may be zero.
    StepOfZero,
}

/// How often the threads go round a loop, as far as the analysis has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trips {
    /// No thread has come to the loop.
    Unreached,
    /// This often, every time and every thread.
    Constant(u32),
    /// Every thread equally often, known each time from the loops around it, which are unrolled, and at most so often.
    UpTo(u32),
    /// Different numbers, or one that only the launch knows.
    Various,
}

impl Trips {
    fn constant(self) -> Option<u32> {
        match self {
            Trips::Constant(trips) | Trips::UpTo(trips) => Some(trips),
            Trips::Unreached | Trips::Various => None,
        }
    }

    /// What holds for both.
    fn and(self, other: Trips) -> Trips {
        match (self, other) {
            (Trips::Unreached, other) | (other, Trips::Unreached) => other,
            (a, b) if a == b => a,
            (Trips::UpTo(a), Trips::UpTo(b)) => Trips::UpTo(a.max(b)),
            (Trips::UpTo(a), Trips::Constant(b)) | (Trips::Constant(a), Trips::UpTo(b)) if a == b => {
                Trips::Constant(a)
            }
            (Trips::Constant(_) | Trips::UpTo(_) | Trips::Various, _) => Trips::Various,
        }
    }
}

/// An access to a register array, to one value of a vector, or to a constant table that cannot be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterFault {
    /// The access.
    pub span: SpanId,
    /// Its index: `x[i] += 1` reads and writes by one and the same.
    pub index: Handle<Expr>,
    /// Why.
    pub kind: RegisterFaultKind,
}

/// Why an access to a register array, a vector or a constant table cannot be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterFaultKind {
    /// An index of registers is not one number known at compile time.
    Unknown,
    /// An index of registers that is not below an extent.
    Outside {
        /// The index.
        index: i64,
        /// The extent.
        extent: u32,
    },
    /// Nothing says that an index of a table stays below this extent.
    TableUnbounded(u32),
    /// An index of a table may differ between the lanes of a warp.
    TableVarying,
}

/// Analyses a kernel.
pub fn analyse(kernel: &Kernel) -> Facts {
    let (mut moduli, mut work, mut thorough) = (BTreeMap::new(), 0, false);
    let mut inert = Inert::new(kernel);
    loop {
        let mut unfinished = false;
        let mut asked = moduli.clone();
        let mut facts = Facts { runs: Vec::new(), trips: Vec::new(), narrow: true, exhausted: None };
        let mut trips = vec![Trips::Unreached; kernel.loops.len()];
        for case in cases(&moduli) {
            let walked = walk::run(kernel, &case, thorough, work, inert);
            inert = walked.inert;
            work = walked.work;
            if walked.unreached {
                continue;
            }
            walked.requests.into_iter().for_each(|(kind, modulus)| merge(&mut asked, kind, modulus));
            for (trips, new) in trips.iter_mut().zip(walked.trips) {
                *trips = trips.and(new);
            }
            facts.narrow &= walked.narrow;
            facts.runs.push(walked.run);
            if walked.exhausted.is_some() {
                facts.exhausted = walked.exhausted;
                return facts;
            }
            if walked.unfinished {
                unfinished = true;
                break;
            }
        }
        facts.trips = trips.iter().map(|trips| trips.constant()).collect();
        let next = affordable(&moduli, asked);
        if next == moduli && !unfinished {
            return facts;
        }
        // What asks for more residues than can be had goes on without them.
        thorough = next == moduli;
        moduli = next;
    }
}

/// The moduli with those that are asked for, each as long as the cases stay few.
fn affordable(moduli: &Requests, asked: Requests) -> Requests {
    let mut next = moduli.clone();
    for (kind, modulus) in asked {
        let mut more = next.clone();
        more.insert(kind, modulus);
        let total = more.values().try_fold(1i64, |product, modulus| product.checked_mul(*modulus));
        if total.is_some_and(|total| total <= MOST_CASES as i64) {
            next = more;
        }
    }
    next
}

/// Adds a modulus to those of a symbol.
fn merge(moduli: &mut Requests, kind: SymbolKind, modulus: i64) {
    let entry = moduli.entry(kind).or_insert(1);
    *entry = (*entry / gcd(*entry, modulus)).saturating_mul(modulus);
}

/// All combinations of residues.
fn cases(moduli: &BTreeMap<SymbolKind, i64>) -> Vec<BTreeMap<SymbolKind, Residue>> {
    let mut cases = vec![BTreeMap::new()];
    for (kind, modulus) in moduli {
        cases = cases
            .into_iter()
            .flat_map(|case| {
                (0..*modulus).map(move |residue| {
                    let mut case = case.clone();
                    case.insert(kind.clone(), Residue { modulus: *modulus, residue });
                    case
                })
            })
            .collect();
    }
    cases
}
