//! What can go wrong in a run.

use crate::ir::{BinaryOp, Scalar};
use crate::span::SpanId;
use std::fmt;
use tileproof_model::report::Role;

/// Why a run stopped, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What happened.
    pub kind: FaultKind,
    /// The expression, access, barrier or loop; for arguments, the parameter.
    pub span: SpanId,
    /// Which thread it happened to; of several in a warp, the one with the lowest number. `None` for arguments.
    pub thread: Option<Position>,
}

/// One thread of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Its block in the grid: x, y, z.
    pub block: [u32; 3],
    /// Its place in the block: x, y, z.
    pub thread: [u32; 3],
}

/// The kinds of faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// An index is not below its extent, or a vector reaches beyond it.
    OutOfBounds {
        /// The name of the tile or tensor.
        object: Box<str>,
        /// The dimension, 0 the outermost.
        dimension: usize,
        /// The index of the first element.
        index: u64,
        /// How many elements in this dimension, from `index` on.
        width: u32,
        /// The extent of the dimension, in elements.
        extent: u64,
    },
    /// The address of a vector is not a multiple of its size.
    Misaligned {
        /// The name of the tile or tensor.
        object: Box<str>,
        /// One index an extent.
        element: Vec<u64>,
        /// Bytes of the vector.
        bytes: u32,
        /// Bytes beyond the last multiple.
        remainder: u32,
    },
    /// The layout of a tile puts the elements of a vector at places that do not follow each other.
    Scattered {
        /// The name of the tile.
        object: Box<str>,
        /// The first element: one index an extent.
        element: Vec<u64>,
        /// How many elements.
        width: u32,
    },
    /// Shared memory is read that no thread of the block has written.
    Uninitialised {
        /// The name of the tile.
        object: Box<str>,
        /// One index an extent.
        element: Vec<u64>,
    },
    /// Two threads access one element of shared memory with no barrier between, and one of them writes.
    Race {
        /// The name of the tile.
        object: Box<str>,
        /// One index an extent.
        element: Vec<u64>,
        /// The number of the access site.
        site: usize,
        /// What the thread does.
        role: Role,
        /// The access that came before in this run.
        earlier: Earlier,
    },
    /// An element of shared memory is accessed while an asynchronous copy to it is under way.
    UnderWay {
        /// The name of the tile.
        object: Box<str>,
        /// One index an extent.
        element: Vec<u64>,
        /// What the thread does.
        role: Role,
        /// The copy.
        earlier: Earlier,
    },
    /// A thread waits at a barrier that another thread of its block does not reach.
    Barrier {
        /// The other thread's place in the block: x, y, z.
        missing: [u32; 3],
        /// What the other thread does.
        instead: Instead,
    },
    /// A lane is at a collective or a barrier of its warp that another lane does not reach.
    Divergent {
        /// The other lane.
        missing: u32,
    },
    /// An integer is divided by zero.
    DivisionByZero,
    /// The logarithm of the integer zero is taken.
    Logarithm,
    /// The result of index arithmetic is not in the range of its type.
    IndexOverflow {
        /// `usize` or `isize`.
        scalar: Scalar,
        /// The operator.
        op: BinaryOp,
        /// The bits of the left operand.
        left: u64,
        /// The bits of the right operand.
        right: u64,
    },
    /// A `usize` or `isize` is converted to the other one, which cannot hold it.
    IndexConversion {
        /// What it was.
        from: Scalar,
        /// What it should be.
        to: Scalar,
        /// The bits of the value.
        value: u64,
    },
    /// A register array or a vector is indexed outside.
    RegisterIndex {
        /// The name of the variable; empty for a vector without one.
        object: Box<str>,
        /// The dimension, 0 the outermost.
        dimension: usize,
        /// The index.
        index: u64,
        /// The extent of the dimension, in elements.
        extent: u32,
    },
    /// The step of a loop is not positive.
    Step,
    /// The kernel has another number of arguments.
    ArgumentCount {
        /// Arguments of the call.
        given: usize,
        /// Parameters of the kernel.
        expected: usize,
    },
    /// An argument does not fit its parameter.
    Argument {
        /// The name of the parameter.
        name: String,
        /// Why it does not fit.
        problem: ArgumentProblem,
    },
}

/// The first of two accesses that race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Earlier {
    /// The number of its site.
    pub site: usize,
    /// The access in the source.
    pub span: SpanId,
    /// What it does.
    pub role: Role,
    /// The thread's place in the block: x, y, z.
    pub thread: [u32; 3],
}

/// What a thread does that is missing at a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// It is on the other side of a condition, or in another iteration of a loop.
    OtherBranch,
    /// It has ended.
    Ended,
    /// It waits at another barrier.
    OtherBarrier(SpanId),
}

/// Why an argument does not fit its parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArgumentProblem {
    /// A scalar is given where the kernel takes a tensor.
    NotATensor,
    /// A tensor is given where the kernel takes a scalar.
    NotAScalar,
    /// Another number of extents or strides than the parameter's rank demands.
    Rank {
        /// Extents of the argument.
        extents: usize,
        /// Strides of the argument.
        strides: usize,
        /// Extents of the parameter; it has one stride fewer.
        rank: u32,
    },
    /// The kernel writes it, and its buffer can only be read.
    ReadOnly,
    /// Different indices name one element of a tensor that the kernel writes.
    Stride {
        /// The dimension, 0 the outermost.
        dimension: usize,
        /// Its stride, in elements.
        stride: u64,
        /// The elements that the dimensions with smaller strides span, or 2^64 - 1 if it is more.
        span: u64,
    },
    /// The buffer ends before the last element.
    TooShort {
        /// Bytes that extents and strides span, or 2^64 - 1 if it is more.
        needed: u64,
        /// Bytes of the buffer.
        given: usize,
    },
    /// The address of the first element is not a multiple of the element's size.
    Base {
        /// The address modulo 256.
        base: u64,
        /// Bytes of an element.
        bytes: u32,
    },
}

/// A list of numbers in brackets or parentheses.
struct List<'a, T>(char, &'a [T], char);

impl<T: fmt::Display> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let List(open, items, close) = self;
        write!(f, "{open}")?;
        for (i, item) in items.iter().enumerate() {
            write!(f, "{}{item}", if i == 0 { "" } else { ", " })?;
        }
        write!(f, "{close}")
    }
}

fn triple(place: &[u32; 3]) -> List<'_, u32> {
    List('(', place, ')')
}

fn element(index: &[u64]) -> List<'_, u64> {
    List('[', index, ']')
}

fn verb(role: Role) -> &'static str {
    match role {
        Role::Read => "reads",
        Role::Write => "writes",
        Role::Update => "updates",
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.thread {
            Some(Position { block, thread }) => {
                write!(f, "thread {} of block {}: {}", triple(thread), triple(block), self.kind)
            }
            None => write!(f, "{}", self.kind),
        }
    }
}

impl std::error::Error for Fault {}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FaultKind::OutOfBounds { object, dimension, index, width: 1, extent } => write!(
                f,
                "index {index} in dimension {dimension} of `{object}`, whose extent there is {extent}; guard the access or correct the index"
            ),
            FaultKind::OutOfBounds { object, dimension, index, width, extent } => write!(
                f,
                "a vector of {width} elements from index {index} in dimension {dimension} of `{object}`, whose extent there is {extent}; guard the access for the whole vector"
            ),
            FaultKind::Misaligned { object, element: at, bytes, remainder } => write!(
                f,
                "the vector at {} of `{object}` is {remainder} bytes beyond a multiple of its {bytes} bytes; align its base, pitch and index, or use a narrower vector",
                element(at)
            ),
            FaultKind::Scattered { object, element: at, width } => write!(
                f,
                "the layout of `{object}` does not keep the {width} elements from {} together; use chunks of at least {width} elements",
                element(at)
            ),
            FaultKind::Uninitialised { object, element: at } => {
                write!(f, "reads {} of `{object}`, which no thread of the block has written", element(at))
            }
            FaultKind::Race { object, element: at, site: _, role, earlier } => write!(
                f,
                "{} {} of `{object}`, which thread {} {} with no barrier between; call `sync_threads()` between the two accesses",
                verb(*role),
                element(at),
                triple(&earlier.thread),
                verb(earlier.role)
            ),
            FaultKind::UnderWay { object, element: at, role, earlier } => write!(
                f,
                "{} {} of `{object}`, to which thread {} has started an asynchronous copy that it has not waited for; call `commit()`, `wait::<0>()` and `sync_threads()` between the two",
                verb(*role),
                element(at),
                triple(&earlier.thread)
            ),
            FaultKind::Barrier { missing, instead } => {
                write!(f, "waits at a barrier that thread {} does not reach: it ", triple(missing))?;
                f.write_str(match instead {
                    Instead::OtherBranch => "took another branch or has left the loop",
                    Instead::Ended => "has ended",
                    Instead::OtherBarrier(_) => "waits at another barrier",
                })?;
                f.write_str("; move the barrier to where all threads of the block pass")
            }
            FaultKind::Divergent { missing } => write!(
                f,
                "lane {missing} of the warp is not here: it took another branch or has left the loop; move the call to where all lanes of the warp pass"
            ),
            FaultKind::DivisionByZero => f.write_str("division by zero"),
            FaultKind::Logarithm => f.write_str("the logarithm of the integer zero; guard it"),
            FaultKind::IndexOverflow { scalar, op, left, right } => {
                let number = |bits: u64| match scalar.is_signed() {
                    true => i128::from(bits as i64),
                    false => i128::from(bits),
                };
                let (left, right) = (number(*left), number(*right));
                match op.is_method() {
                    true => write!(f, "`{left}.{}({right})`", op.name()),
                    false => write!(f, "`{left} {} {right}`", op.name()),
                }?;
                let range = if scalar.is_signed() { "-2^63 to 2^63 - 1" } else { "0 to 2^64 - 1" };
                write!(
                    f,
                    " leaves the range of {}, {range}; guard the computation or reorder it",
                    scalar.name()
                )
            }
            FaultKind::IndexConversion { from, to, value } => {
                let value = if from.is_signed() { i128::from(*value as i64) } else { i128::from(*value) };
                write!(
                    f,
                    "{value} of type {} is converted to {}, which cannot hold it; guard the conversion",
                    from.name(),
                    to.name()
                )
            }
            FaultKind::RegisterIndex { object, dimension, index, extent } if object.is_empty() => {
                write!(f, "index {index} of a vector of {extent} values (dimension {dimension})")
            }
            FaultKind::RegisterIndex { object, dimension, index, extent } => write!(
                f,
                "index {index} in dimension {dimension} of the variable `{object}`, whose extent there is {extent}"
            ),
            FaultKind::Step => f.write_str("the step of a loop is not positive, so it would never end"),
            FaultKind::ArgumentCount { given, expected } => {
                write!(f, "{given} arguments for a kernel that takes {expected}")
            }
            FaultKind::Argument { name, problem } => write!(f, "argument `{name}` {problem}"),
        }
    }
}

impl fmt::Display for ArgumentProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ArgumentProblem::NotATensor => f.write_str("is a scalar where the kernel takes a tensor"),
            ArgumentProblem::NotAScalar => f.write_str("is a tensor where the kernel takes a scalar"),
            ArgumentProblem::Rank { extents, strides, rank } => write!(
                f,
                "has {extents} extents and {strides} strides where the kernel takes a tensor of rank {rank}: {rank} extents and {} strides",
                rank.saturating_sub(1)
            ),
            ArgumentProblem::ReadOnly => {
                f.write_str("is written by the kernel; pass a buffer that can be written")
            }
            ArgumentProblem::Stride { dimension, stride, span } => write!(
                f,
                "has a stride of {stride} elements in dimension {dimension}, and the dimensions with smaller strides span {span}; two indices would name one element"
            ),
            ArgumentProblem::TooShort { needed, given } => {
                write!(f, "has {given} bytes, and its extents and strides span {needed}")
            }
            ArgumentProblem::Base { base, bytes } => write!(
                f,
                "starts at an address that is {base} modulo 256, which is no multiple of the {bytes} bytes of an element"
            ),
        }
    }
}
