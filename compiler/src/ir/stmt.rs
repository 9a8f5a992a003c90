//! What acts.

use super::{Atomic, Collective, Expr, Handle, Kernel, Local, Site, Sync, Unaligned};
use crate::span::SpanId;

/// A list of statements, executed in order.
pub type Block = Vec<Stmt>;

/// An effect.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// Gives a plain variable a value; its first assignment also declares it.
    Assign {
        /// The variable.
        local: Handle<Local>,
        /// Its new value.
        value: Handle<Expr>,
    },
    /// Declares a register array: all elements get the value.
    Fill {
        /// The register array.
        local: Handle<Local>,
        /// The value of every element.
        value: Handle<Expr>,
    },
    /// Gives one element of a register array a value.
    AssignElement {
        /// The register array.
        local: Handle<Local>,
        /// One index an extent.
        index: Vec<Handle<Expr>>,
        /// The new value.
        value: Handle<Expr>,
    },
    /// Gives one value of a vector variable, or of a vector in a register array, a new value.
    AssignLane {
        /// The variable.
        local: Handle<Local>,
        /// One index an extent; none for a plain variable.
        index: Vec<Handle<Expr>>,
        /// Which value of the vector.
        lane: Handle<Expr>,
        /// The new value.
        value: Handle<Expr>,
    },
    /// Reads memory into a fresh plain variable.
    Load {
        /// The variable: a scalar, or a vector as wide as the site.
        local: Handle<Local>,
        /// The access.
        site: Handle<Site>,
    },
    /// Reads a vector that may begin at any element.
    LoadUnaligned(Unaligned),
    /// Reads [`Matrices`](super::Matrices) from a tile: all lanes of a whole warp together.
    LoadMatrices {
        /// A fresh plain variable: a vector of what the lane gets.
        local: Handle<Local>,
        /// The access: a load of the row that the lane names.
        site: Handle<Site>,
    },
    /// Writes memory.
    Store {
        /// The access.
        site: Handle<Site>,
        /// The value: a scalar, or a vector as wide as the site.
        value: Handle<Expr>,
    },
    /// Starts to move data from global to shared memory, without waiting for it.
    Copy(Copy),
    /// Synchronises.
    Sync(Sync, SpanId),
    /// Updates memory in one step.
    Atomic(Atomic),
    /// Computes something together with other threads.
    Collective(Collective),
    /// Executes one of two blocks.
    If {
        /// Of type bool.
        condition: Handle<Expr>,
        /// Executed by the threads for which it is true.
        then: Block,
        /// Executed by the others.
        otherwise: Block,
    },
    /// Repeats a block.
    For(Handle<Loop>),
    /// Repeats a block while a condition holds; it is evaluated before every iteration, each thread by its own.
    While {
        /// Of type bool.
        condition: Handle<Expr>,
        /// What is repeated.
        body: Block,
        /// The loop's head in the source.
        span: SpanId,
    },
}

/// An asynchronous copy of a vector from a tensor to a tile, one instruction with two sites. Between its start and the
/// wait for it, no thread may access the elements of the tile. It is part of the thread's next group of copies: see
/// [`SyncObject::CopyGroup`](super::SyncObject::CopyGroup).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The load: [`Proxy::Async`](super::Proxy::Async), from a tensor.
    pub source: Handle<Site>,
    /// The store: [`Proxy::Async`](super::Proxy::Async), to a tile, as wide as the load: 4, 8 or 16 bytes.
    pub destination: Handle<Site>,
    /// Of type bool: where it is false, nothing is read and zeros are written.
    pub inside: Handle<Expr>,
}

/// A counted loop: `variable` takes `start`, `start + step`, … while it is below `end`.
#[derive(Clone, Debug, PartialEq)]
pub struct Loop {
    /// The counter; not assigned in the body.
    pub variable: Handle<Local>,
    /// Evaluated once, before the loop.
    pub start: Handle<Expr>,
    /// Evaluated once, before the loop.
    pub end: Handle<Expr>,
    /// Evaluated once, before the loop; positive.
    pub step: Handle<Expr>,
    /// What is repeated.
    pub body: Block,
    /// What the source says about unrolling it.
    pub unroll: Unroll,
    /// The loop's head in the source.
    pub span: SpanId,
}

/// How a counted loop is unrolled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unroll {
    /// All iterations, if they are few and their number is known; else not at all.
    Auto,
    /// All iterations: `#[unroll]`.
    Full,
    /// So many iterations at a time; 1 is not at all: `#[unroll(4)]`, `#[no_unroll]`.
    By(u32),
}

impl Stmt {
    /// The variables that get a new value, or an element or a lane of them does; not the counter of a loop.
    pub fn assigned(&self) -> Vec<Handle<Local>> {
        match self {
            Stmt::Assign { local, .. }
            | Stmt::Fill { local, .. }
            | Stmt::AssignElement { local, .. }
            | Stmt::AssignLane { local, .. }
            | Stmt::Load { local, .. }
            | Stmt::LoadMatrices { local, .. }
            | Stmt::Atomic(Atomic { local, .. })
            | Stmt::Collective(Collective { local, .. }) => vec![*local],
            Stmt::LoadUnaligned(Unaligned { local, whole, .. }) => vec![*local, *whole],
            Stmt::Store { .. }
            | Stmt::Copy(_)
            | Stmt::Sync(..)
            | Stmt::If { .. }
            | Stmt::For(_)
            | Stmt::While { .. } => Vec::new(),
        }
    }

    /// What it evaluates, in order, without the statements within it.
    pub fn operands(&self, kernel: &Kernel) -> Vec<Handle<Expr>> {
        let index = |site: &Handle<Site>| kernel.sites[*site].place.index.clone();
        match self {
            Stmt::Assign { value, .. } | Stmt::Fill { value, .. } => vec![*value],
            Stmt::AssignElement { index, value, .. } => [index.as_slice(), &[*value]].concat(),
            Stmt::AssignLane { index, lane, value, .. } => [index.as_slice(), &[*lane, *value]].concat(),
            Stmt::Load { site, .. }
            | Stmt::LoadMatrices { site, .. }
            | Stmt::LoadUnaligned(Unaligned { first: site, .. }) => index(site),
            Stmt::Store { site, value } => [index(site), vec![*value]].concat(),
            Stmt::Copy(Copy { source, destination, inside }) => {
                [index(source), index(destination), vec![*inside]].concat()
            }
            Stmt::Atomic(Atomic { site, operands, .. }) => [index(site), operands.clone()].concat(),
            Stmt::Collective(Collective { operands, .. }) => operands.clone(),
            Stmt::Sync(..) => Vec::new(),
            Stmt::If { condition, .. } | Stmt::While { condition, .. } => vec![*condition],
            Stmt::For(handle) => {
                let Loop { start, end, step, .. } = kernel.loops[*handle];
                vec![start, end, step]
            }
        }
    }

    /// The blocks within it, in order.
    pub fn blocks<'a>(&'a self, kernel: &'a Kernel) -> Vec<&'a Block> {
        match self {
            Stmt::If { then, otherwise, .. } => vec![then, otherwise],
            Stmt::For(handle) => vec![&kernel.loops[*handle].body],
            Stmt::While { body, .. } => vec![body],
            Stmt::Assign { .. }
            | Stmt::Fill { .. }
            | Stmt::AssignElement { .. }
            | Stmt::AssignLane { .. }
            | Stmt::Load { .. }
            | Stmt::LoadMatrices { .. }
            | Stmt::LoadUnaligned(_)
            | Stmt::Store { .. }
            | Stmt::Copy(_)
            | Stmt::Sync(..)
            | Stmt::Atomic(_)
            | Stmt::Collective(_) => Vec::new(),
        }
    }
}
