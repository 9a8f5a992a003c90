//! What decides whether a thread comes to a point of the kernel.

use super::linear::Linear;
use super::prove::FactList;
use super::unwritten::Branch;
use super::walk::Walk;
use crate::span::SpanId;
use std::rc::Rc;

/// The conditions around a point, outermost first.
pub type Conditions = Rc<[Rc<Condition>]>;

/// A branch or a loop around a point.
#[derive(Clone, Debug)]
pub struct Condition {
    /// What it is.
    pub kind: ConditionKind,
    /// The condition, or the head of the loop.
    pub span: SpanId,
    /// What is known where the decision is made.
    pub known: FactList,
    /// What holds behind it.
    pub holds: FactList,
}

/// What a condition is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionKind {
    /// A side of a branch.
    Side {
        /// By what it is decided.
        branch: Branch,
        /// Whether the condition is true there.
        side: bool,
        /// Whether every thread for which all of `holds` does goes there.
        exact: bool,
        /// Whether all threads of the block that come to it go the same way.
        uniform: bool,
    },
    /// The iteration of a loop over a range: a thread executes it where all of `holds` does.
    Iteration,
    /// It is not known which threads go there.
    Unknown,
}

/// The extent of the grid along an axis.
#[derive(Clone, Debug)]
pub struct GridExtent {
    /// How many blocks, if the source's expression is taken at its word: 0 is possible.
    pub extent: Linear,
    /// What is known where it is computed.
    pub known: FactList,
}

impl Walk<'_> {
    /// Takes in that what follows is under a condition.
    pub(super) fn under(&mut self, condition: Condition) {
        if self.kernel.covers.is_empty() {
            return;
        }
        let condition = Rc::new(Condition { known: self.all_facts(), ..condition });
        self.conditions = self.conditions.iter().cloned().chain([condition]).collect();
    }
}
