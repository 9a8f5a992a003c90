//! Atomic updates of memory.
//!
//! An [`Atomic`] reads an element, writes what it computes from it, and yields what it read, as one step that no other
//! atomic falls into. It is relaxed: it orders no other access. In global memory it is atomic for the whole device, in
//! shared memory for the block. In which order the lanes and threads come is not specified, so sums of floats may differ
//! in the last bits from run to run; the simulator takes lanes in ascending order.

use super::{Expr, Handle, Local, Scalar, Site};

/// An atomic update.
#[derive(Clone, Debug, PartialEq)]
pub struct Atomic {
    /// A fresh plain variable that gets the value before the update.
    pub local: Handle<Local>,
    /// The element.
    pub site: Handle<Site>,
    /// The update.
    pub op: AtomicOp,
    /// The value; of [`AtomicOp::CompareExchange`] the value that is expected, then the new one.
    pub operands: Vec<Handle<Expr>>,
}

/// How an element is updated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicOp {
    /// The sum; of integers it wraps, of floats it is rounded to nearest. An `f32` in global memory that is subnormal, before
    /// or after, becomes zero of the same sign.
    Add,
    /// The smaller of two integers.
    Min,
    /// The larger of two integers.
    Max,
    /// Bit by bit, of integers.
    And,
    /// Bit by bit, of integers.
    Or,
    /// Bit by bit, of integers.
    Xor,
    /// The new value.
    Exchange,
    /// The new value if the element has the bits of the expected one, else no change.
    CompareExchange,
}

/// What ptxas makes of an update. In global memory all are one instruction; the form tells of shared memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpdateForm {
    /// One instruction.
    Instruction,
    /// The one that counts lanes: an add of the constant 1 to a `u32`, without a result.
    Count,
    /// A compare and exchange.
    Compare,
    /// A loop around a compare and exchange.
    Loop,
}

impl AtomicOp {
    /// Every one of them.
    pub const ALL: [AtomicOp; 8] = [
        AtomicOp::Add,
        AtomicOp::Min,
        AtomicOp::Max,
        AtomicOp::And,
        AtomicOp::Or,
        AtomicOp::Xor,
        AtomicOp::Exchange,
        AtomicOp::CompareExchange,
    ];

    /// The method of the vocabulary.
    pub fn name(self) -> &'static str {
        match self {
            AtomicOp::Add => "atomic_add",
            AtomicOp::Min => "atomic_min",
            AtomicOp::Max => "atomic_max",
            AtomicOp::And => "atomic_and",
            AtomicOp::Or => "atomic_or",
            AtomicOp::Xor => "atomic_xor",
            AtomicOp::Exchange => "atomic_exchange",
            AtomicOp::CompareExchange => "atomic_compare_exchange",
        }
    }

    /// Whether there is an instruction for elements of this type.
    pub fn has(self, scalar: Scalar) -> bool {
        let integer = matches!(scalar, Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64);
        match self {
            AtomicOp::Add | AtomicOp::Exchange | AtomicOp::CompareExchange => {
                integer || matches!(scalar, Scalar::F32 | Scalar::F64)
            }
            AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => integer,
        }
    }
}
