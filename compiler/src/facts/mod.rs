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
//! analysis is repeated for each residue of the counter, up to [`MOST_CASES`] in all.

mod address;
mod arithmetic;
mod condition;
mod eval;
pub mod lanes;
pub mod linear;
mod prove;
mod symbol;
mod walk;

pub use address::{Obstacle, tensor_offset, tile_offset};
pub use lanes::{Lanes, Mask};
pub use linear::{Linear, SymbolId};
pub use prove::{FactList, gcd, lower_bound, non_negative};
pub use symbol::{Residue, Symbol, SymbolKind, Symbols};

use crate::ir::{Handle, Kernel, Site};
use crate::span::SpanId;
use std::collections::BTreeMap;

/// How many combinations of residues are analysed at most.
pub const MOST_CASES: usize = 64;

/// Everything known about a kernel.
#[derive(Debug)]
pub struct Facts {
    /// One run of the analysis for each combination of residues; at least one.
    pub runs: Vec<Run>,
    /// By loop: how often every thread goes round, where that is one number known at compile time.
    pub trips: Vec<Option<u32>>,
    /// Whether every index computation fits 32 bits unsigned where every extent, stride, span and index argument is
    /// below 2^31.
    pub narrow: bool,
}

/// One run of the analysis.
#[derive(Debug)]
pub struct Run {
    /// The unknowns.
    pub symbols: Symbols,
    /// The accesses, in order of execution.
    pub visits: Vec<Visit>,
    /// Index computations that may leave the range of their type.
    pub escapes: Vec<Escape>,
    /// Accesses to register arrays and vectors whose index is not one number known at compile time, or is outside.
    pub register_faults: Vec<RegisterFault>,
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
}

/// An index computation that may leave the range of its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Escape {
    /// The computation.
    pub span: SpanId,
    /// Whether it may fall below zero; otherwise it may grow beyond 2^62.
    pub below_zero: bool,
    /// The symbol that stands for its result.
    pub symbol: SymbolId,
}

/// An access to a register array, or to one value of a vector, that registers cannot serve.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterFault {
    /// The access.
    pub span: SpanId,
    /// The index and the extent that it is not below; `None` where the index is not one known number.
    pub outside: Option<(i64, u32)>,
}

/// Analyses a kernel.
pub fn analyse(kernel: &Kernel) -> Facts {
    let mut moduli: BTreeMap<SymbolKind, i64> = BTreeMap::new();
    loop {
        let mut requests = BTreeMap::new();
        let mut facts = Facts { runs: Vec::new(), trips: vec![None; kernel.loops.len()], narrow: true };
        for case in cases(&moduli) {
            let walked = walk::run(kernel, &case);
            for (kind, modulus) in walked.requests {
                let entry = requests.entry(kind).or_insert(1);
                *entry = lcm(*entry, modulus);
            }
            for (trip, new) in facts.trips.iter_mut().zip(walked.trips) {
                *trip = new;
            }
            facts.narrow &= walked.narrow;
            facts.runs.push(walked.run);
        }
        let mut next = moduli.clone();
        for (kind, modulus) in requests {
            let mut more = next.clone();
            let entry = more.entry(kind).or_insert(1);
            *entry = lcm(*entry, modulus);
            let total = more.values().try_fold(1i64, |product, modulus| product.checked_mul(*modulus));
            if total.is_some_and(|total| total <= MOST_CASES as i64) {
                next = more;
            }
        }
        if next == moduli {
            return facts;
        }
        moduli = next;
    }
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

fn lcm(a: i64, b: i64) -> i64 {
    (a / gcd(a, b).max(1)).saturating_mul(b)
}
