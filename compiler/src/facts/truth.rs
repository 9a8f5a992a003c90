//! Values and conditions of every thread.

use super::lanes::Mask;
use super::linear::Linear;
use super::prove::FactList;
use crate::ir::Scope;
use std::rc::Rc;

/// A value of every thread.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// An integer.
    Int(Linear),
    /// A bool.
    Truth(Truth),
    /// A float or a vector, of which nothing is known but over which threads it is the same.
    Data(Scope),
}

/// A condition of every thread.
#[derive(Clone, Debug)]
pub(super) struct Truth {
    /// The threads for which it is certainly true.
    pub(super) known_true: Mask,
    /// The threads for which it is certainly false.
    pub(super) known_false: Mask,
    /// What holds where it is true.
    pub(super) when_true: FactList,
    /// What holds where it is false.
    pub(super) when_false: FactList,
    /// Whether it is true for every thread for which it is not certainly false and all of `when_true` holds.
    pub(super) exactly_true: bool,
    /// Whether it is false for every thread for which it is not certainly true and all of `when_false` holds.
    pub(super) exactly_false: bool,
    /// Whether it may be true for any subset of the other threads. Otherwise it is the same for all of them, or
    /// cuts them at an edge.
    pub(super) arbitrary: bool,
    /// Over which threads it is the same.
    pub(super) scope: Scope,
    /// Which assignment to a variable it is the value of, if it is just that.
    pub(super) assigned: Option<u32>,
    /// The sides of branches that threads went where it is true.
    pub(super) ways_true: Vec<Way>,
    /// The sides of branches that threads went where it is false.
    pub(super) ways_false: Vec<Way>,
}

/// A side of a branch: the number of the branch, and whether its condition was true.
pub(super) type Way = (u32, bool);

impl Truth {
    pub(super) fn known(mask: Mask) -> Truth {
        Truth {
            assigned: None,
            scope: mask.scope(),
            known_false: mask.not(),
            known_true: mask,
            when_true: Vec::new(),
            when_false: Vec::new(),
            exactly_true: true,
            exactly_false: true,
            arbitrary: false,
            ways_true: Vec::new(),
            ways_false: Vec::new(),
        }
    }

    /// Unknown, and possibly different for every thread.
    pub(super) fn data() -> Truth {
        Truth::unknown(Scope::Lane)
    }

    /// Unknown, but the same over these threads.
    pub(super) fn unknown(scope: Scope) -> Truth {
        Truth {
            known_true: Mask::Uniform(false),
            known_false: Mask::Uniform(false),
            when_true: Vec::new(),
            when_false: Vec::new(),
            exactly_true: false,
            exactly_false: false,
            arbitrary: scope < Scope::Warp,
            scope,
            assigned: None,
            ways_true: Vec::new(),
            ways_false: Vec::new(),
        }
    }

    pub(super) fn not(self) -> Truth {
        Truth {
            known_true: self.known_false,
            known_false: self.known_true,
            when_true: self.when_false,
            when_false: self.when_true,
            exactly_true: self.exactly_false,
            exactly_false: self.exactly_true,
            arbitrary: self.arbitrary,
            scope: self.scope,
            assigned: None,
            ways_true: self.ways_false,
            ways_false: self.ways_true,
        }
    }

    pub(super) fn and(mut self, other: Truth) -> Truth {
        self.when_true.extend(other.when_true);
        self.ways_true.extend(other.ways_true);
        // Which side made it false is known only where the other one is certain.
        let (when_false, ways_false, exactly_false) =
            match (self.known_true.is_full(), other.known_true.is_full()) {
                (true, _) => (other.when_false, other.ways_false, other.exactly_false),
                (_, true) => (self.when_false, self.ways_false, self.exactly_false),
                (false, false) => {
                    let reasons =
                        reasons(&self.known_true, other.when_false, &other.known_true, self.when_false);
                    (reasons, Vec::new(), false)
                }
            };
        Truth {
            known_true: self.known_true.and(&other.known_true),
            known_false: self.known_false.or(&other.known_false),
            when_true: self.when_true,
            when_false,
            exactly_true: self.exactly_true && other.exactly_true,
            exactly_false,
            arbitrary: self.arbitrary || other.arbitrary,
            scope: self.scope.min(other.scope),
            assigned: None,
            ways_true: self.ways_true,
            ways_false,
        }
    }

    pub(super) fn or(self, other: Truth) -> Truth {
        self.not().and(other.not()).not()
    }

    /// Whether both are the value of one assignment.
    pub(super) fn is_same(&self, other: &Truth) -> bool {
        self.assigned.is_some() && self.assigned == other.assigned
    }

    pub(super) fn is_known(&self) -> bool {
        self.known_true.or(&self.known_false).is_full()
    }
}

/// What holds where a conjunction is false, lane by lane: for the threads for which one side is certain, the other side is
/// what made it false.
fn reasons(first: &Mask, if_first: FactList, second: &Mask, if_second: FactList) -> FactList {
    let lanes = |certain: &Mask, facts: FactList| {
        let Mask::Each(certain_of) = certain else { return Vec::new() };
        let threads = certain_of.len();
        let nothing = Linear::int(0);
        let facts = facts.into_iter().map(|fact| Rc::new(Linear::select(certain, &fact, &nothing, threads)));
        facts.collect::<Vec<_>>()
    };
    let mut out = lanes(first, if_first);
    out.extend(lanes(second, if_second));
    out
}
