//! Collectives: what the lanes of a warp, or the threads of a block, compute together.
//!
//! All threads that take part must reach a [`Collective`] together, in the same iteration of every loop around it. The
//! last warp of a block may be shorter than 32 lanes: then those that exist take part.
//!
//! A shuffle whose source lane does not exist, because the distance leads below lane 0 or beyond the last lane of the
//! warp, yields the lane's own value. Distances and lanes are taken modulo 32.
//!
//! A collective of the warp orders no memory; one of the block is a barrier, as `sync_threads()` is.

use super::{Expr, Handle, Local, MatrixProduct, Scope, SyncObject};
use crate::span::SpanId;
use tileproof_model::access::LANES;

/// A value computed by several threads together.
#[derive(Clone, Debug, PartialEq)]
pub struct Collective {
    /// A fresh plain variable that gets the thread's result.
    pub local: Handle<Local>,
    /// What is computed.
    pub op: CollectiveOp,
    /// What each thread brings: a value or a condition, and for shuffles a lane or distance of type usize; for a product of
    /// matrices the two factors and what it is added to.
    pub operands: Vec<Handle<Expr>>,
    /// The call in the source.
    pub span: SpanId,
}

/// What threads compute together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CollectiveOp {
    /// The value of another lane; of the type of the first operand.
    Shuffle(Shuffle),
    /// The product of two matrices, added to a third, by all 32 lanes: what the lane holds of the sum.
    MatrixProduct(MatrixProduct),
    /// Whether the condition holds in a lane of the warp; bool.
    Any,
    /// Whether it holds in all lanes of the warp; bool.
    All,
    /// The lanes in which it holds, bit `i` for lane `i`; u32.
    Ballot,
    /// The lanes whose scalar has the same bits as this lane's; u32.
    MatchAny,
    /// In how many threads of the block the condition holds; usize.
    BlockCount,
    /// Whether it holds in a thread of the block; bool.
    BlockAny,
    /// Whether it holds in all threads of the block; bool.
    BlockAll,
}

/// From which lane a shuffle takes the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shuffle {
    /// The lane with the number of the second operand.
    Lane,
    /// The lane whose number is this one's, XORed with the second operand.
    Xor,
    /// The lane so many below.
    Up,
    /// The lane so many above.
    Down,
}

impl Shuffle {
    /// The lane that a lane takes its value from, in a warp of so many lanes.
    pub fn source(self, lane: usize, by: usize, lanes: usize) -> usize {
        let by = by % LANES;
        let source = match self {
            Shuffle::Lane => Some(by),
            Shuffle::Xor => Some(lane ^ by),
            Shuffle::Up => lane.checked_sub(by),
            Shuffle::Down => Some(lane + by),
        };
        source.filter(|source| *source < lanes).unwrap_or(lane)
    }
}

impl CollectiveOp {
    /// Those with a name of their own: of the products of matrices, the types of the operands tell which one it is.
    pub const NAMED: [CollectiveOp; 11] = [
        CollectiveOp::Shuffle(Shuffle::Lane),
        CollectiveOp::Shuffle(Shuffle::Xor),
        CollectiveOp::Shuffle(Shuffle::Up),
        CollectiveOp::Shuffle(Shuffle::Down),
        CollectiveOp::Any,
        CollectiveOp::All,
        CollectiveOp::Ballot,
        CollectiveOp::MatchAny,
        CollectiveOp::BlockCount,
        CollectiveOp::BlockAny,
        CollectiveOp::BlockAll,
    ];

    /// The function of the vocabulary.
    pub fn name(self) -> &'static str {
        match self {
            CollectiveOp::Shuffle(Shuffle::Lane) => "shuffle",
            CollectiveOp::Shuffle(Shuffle::Xor) => "shuffle_xor",
            CollectiveOp::Shuffle(Shuffle::Up) => "shuffle_up",
            CollectiveOp::Shuffle(Shuffle::Down) => "shuffle_down",
            CollectiveOp::MatrixProduct(_) => "mma",
            CollectiveOp::Any => "any",
            CollectiveOp::All => "all",
            CollectiveOp::Ballot => "ballot",
            CollectiveOp::MatchAny => "match_any",
            CollectiveOp::BlockCount => "sync_threads_count",
            CollectiveOp::BlockAny => "sync_threads_or",
            CollectiveOp::BlockAll => "sync_threads_and",
        }
    }

    /// Who takes part: a warp or a block.
    pub fn participants(self) -> Scope {
        match self {
            CollectiveOp::Shuffle(_)
            | CollectiveOp::MatrixProduct(_)
            | CollectiveOp::Any
            | CollectiveOp::All
            | CollectiveOp::Ballot
            | CollectiveOp::MatchAny => Scope::Warp,
            CollectiveOp::BlockCount | CollectiveOp::BlockAny | CollectiveOp::BlockAll => Scope::Block,
        }
    }
}

impl SyncObject {
    /// The function of the vocabulary.
    pub fn name(self) -> &'static str {
        match self {
            SyncObject::BlockBarrier => "sync_threads",
            SyncObject::Warp => "sync_warp",
            SyncObject::CopyGroup => "commit",
        }
    }
}
