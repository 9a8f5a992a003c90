//! The barriers of a kernel, and what each of them keeps apart.

use super::{Role, Text};
use std::borrow::Cow;
use std::fmt;

/// One barrier in the source: a row for each path of inlined calls.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct BarrierReport {
    /// The line of the Rust source, counted from 1.
    pub line: u32,
    /// What it is.
    pub kind: BarrierKind,
    /// Where it is in a helper function: the calls that led there, as of an access site. Empty in the kernel itself.
    pub calls: Text,
    /// The accesses of different threads that would race without it. None: it orders nothing, and can be removed.
    pub orders: Cow<'static, [Ordered]>,
}

/// What a barrier is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum BarrierKind {
    /// `sync_threads()`: the threads of the block.
    SyncThreads,
    /// `sync_threads_count(…)`, `sync_threads_or(…)` or `sync_threads_and(…)`: the threads of the block, which also compute
    /// something together.
    SyncThreadsVote,
    /// `sync_warp()`: the lanes of a warp.
    SyncWarp,
    /// `wait::<N>()`: a thread and its own asynchronous copies.
    Wait,
}

/// Two accesses to the same elements that a barrier keeps in this order.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Ordered {
    /// The tile or tensor.
    pub object: Text,
    /// The direction of the access before the barrier.
    pub first_role: Role,
    /// Its line, counted from 1.
    pub first_line: u32,
    /// The direction of the access behind the barrier.
    pub then_role: Role,
    /// Its line, counted from 1.
    pub then_line: u32,
    /// Whether the access behind the barrier is in a later iteration of a loop around both.
    pub next_iteration: bool,
}

impl BarrierReport {
    /// Whether the kernel means the same without it.
    pub fn is_redundant(&self) -> bool {
        self.orders.is_empty()
    }
}

impl BarrierKind {
    /// How the source spells it.
    pub fn name(self) -> &'static str {
        match self {
            BarrierKind::SyncThreads => "sync_threads()",
            BarrierKind::SyncThreadsVote => "a vote of the block",
            BarrierKind::SyncWarp => "sync_warp()",
            BarrierKind::Wait => "wait()",
        }
    }
}

impl fmt::Display for BarrierReport {
    /// The barrier, and a line for each pair of accesses that it orders.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "line {}: {}", self.line, self.kind.name())?;
        if !self.calls.is_empty() {
            writeln!(f, "  {}", self.calls)?;
        }
        match self.kind {
            _ if !self.is_redundant() => {}
            BarrierKind::SyncThreadsVote => {
                writeln!(f, "  orders nothing: it is needed only for what it computes")?;
            }
            BarrierKind::SyncThreads | BarrierKind::SyncWarp | BarrierKind::Wait => {
                writeln!(f, "  orders nothing: can be removed")?;
            }
        }
        for pair in self.orders.iter() {
            writeln!(f, "  {pair}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Ordered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ordered { object, first_role, first_line, then_role, then_line, next_iteration } = self;
        write!(
            f,
            "orders the {first_role} of `{object}` on line {first_line} before the {then_role} on line {then_line}"
        )?;
        match next_iteration {
            true => f.write_str(" in the next iteration"),
            false => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn barrier(kind: BarrierKind, orders: Vec<Ordered>) -> String {
        BarrierReport { line: 14, kind, calls: "".into(), orders: orders.into() }.to_string()
    }

    #[test]
    fn a_barrier_says_what_it_orders() {
        let before = Ordered {
            object: "tile".into(),
            first_role: Role::Write,
            first_line: 12,
            then_role: Role::Read,
            then_line: 16,
            next_iteration: false,
        };
        let around = Ordered {
            first_role: Role::Read,
            first_line: 16,
            then_role: Role::Write,
            then_line: 12,
            next_iteration: true,
            ..before.clone()
        };
        assert_eq!(
            barrier(BarrierKind::SyncThreads, vec![before, around]),
            "line 14: sync_threads()\n  \
             orders the store of `tile` on line 12 before the load on line 16\n  \
             orders the load of `tile` on line 16 before the store on line 12 in the next iteration\n"
        );
    }

    #[test]
    fn one_that_orders_nothing_can_go_unless_it_computes() {
        for kind in [BarrierKind::SyncThreads, BarrierKind::SyncWarp, BarrierKind::Wait] {
            assert!(barrier(kind, Vec::new()).ends_with("  orders nothing: can be removed\n"));
        }
        assert!(!barrier(BarrierKind::SyncThreadsVote, Vec::new()).contains("removed"));
    }
}
