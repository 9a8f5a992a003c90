//! The intermediate representation: what a kernel means, without syntax.
//!
//! # Semantics
//!
//! A [`Kernel`] is run by a grid of blocks of threads. Every thread executes [`Kernel::body`] from its first statement.
//!
//! **Expressions compute, statements act.** An [`Expr`] has no effect and reads no memory, so it may be evaluated
//! at any time, any number of times, and for threads that do not need it. The one thing it depends on that changes is
//! the value of mutable locals; it is evaluated where the statement that holds it is executed, operands left to right.
//! A [`Stmt`] has an effect and no value: a load is a statement that binds a fresh local, so the order of all memory
//! accesses is the order of statements.
//!
//! **Access sites.** Each [`Stmt::Load`], [`Stmt::Store`] and [`Stmt::Atomic`] names one [`Site`], a [`Stmt::Copy`] and a
//! [`Stmt::LoadUnaligned`] two, and each site is named by one statement.
//! So does a [`Stmt::LoadMatrices`]. A site is one memory instruction, one row of the report, and one inline assembly statement of the CUDA text. A site
//! carries its [`Proxy`] (who moves the data) and its [`Issuer`] (which lanes execute the instruction), because
//! asynchronous copies will be sites too.
//!
//! **Integers** are mathematical. A local or an expression of an integer type has a width, and arithmetic of *data*
//! types wraps at that width, as in a release build of Rust. [`Scalar::Usize`] is the type of *indices* and
//! [`Scalar::Isize`] that of *offsets*, which may be below zero: their arithmetic must be proven not to leave the 64 bits of
//! the type nor to divide by zero, and a conversion between the two not to change the value; where the analysis cannot
//! prove it, the kernel is refused. Division of data by zero is a fault of the simulator; on the GPU it yields zero, so that
//! no compiler may conclude anything from it. The shift amount is masked to the width, as in Rust.
//!
//! **Floats** are IEEE 754, round to nearest even, and never contracted: `a * b + c` rounds twice. Of a [`Function`] that
//! is not exact, the GPU's result may differ from the simulator's within the [bound](Row::ulps) of its table.
//!
//! **Control** is structured. A [`Stmt::If`] takes one side a thread, a [`Stmt::For`] runs while its variable is below
//! its end, each thread by its own bounds, and a [`Stmt::While`] while its condition holds, each thread by its own. There are
//! no exits: lowering turns `break`, `continue` and `return` into conditions. Threads of a warp that take different sides are masked, not reordered; whether
//! different warps, or threads of one warp, are at the same statement at the same time is unspecified unless a barrier
//! holds them together.
//!
//! **Synchronisation** is a [`Sync`]: an object, whether it is arrived at or waited for, who takes part, which scope of
//! memory it orders and for which proxy. `sync_threads()` is the simplest: arrive and wait at the block's own barrier.
//! A [`Collective`] is a value that a warp or block computes together, which all of its threads must reach together. So
//! must those of a warp that read [`Matrices`], in a [`Stmt::LoadMatrices`].
//!
//! **Asynchronous copies** ([`Stmt::Copy`]) write shared memory at some time between their start and the thread's wait for
//! them. What they wrote is the thread's own store at the time of that wait, and other threads see it behind a barrier.
//!
//! **Shared memory** is uninitialised when a block starts; reading it before a write is a fault.

mod arena;
mod atomic;
mod collective;
mod demand;
mod expr;
mod function;
pub mod layout;
mod matrix;
pub mod print;
mod site;
mod stmt;
mod sync;
mod trust;
mod unaligned;

pub use arena::{Arena, Handle};
pub use atomic::{Atomic, AtomicOp, UpdateForm};
pub use collective::{Collective, CollectiveOp, Shuffle};
pub use demand::Demand;
pub use expr::{Axis, BinaryOp, CompareOp, Expr, ExprKind, UnaryOp};
pub use function::{Domain, FUNCTIONS, Function, Relation, Row};
pub use layout::Layout;
pub use matrix::{COLUMNS, IGNORED_BITS, Matrices, MatrixProduct, ROW_BYTES, ROWS};
pub use site::{Base, Issuer, Place, Proxy, Role, Site};
pub use stmt::{Block, Copy, Loop, Stmt, Unroll};
pub use sync::{Scope, Sync, SyncAction, SyncObject};
pub use trust::{Claim, Trust, Trusted};
pub use unaligned::{Part, Unaligned};

use crate::span::SpanId;
pub use tileproof_model::language::ScalarType as Scalar;
use tileproof_model::language::{extent_text, stride_text};
use tileproof_model::limits::Architecture;

/// A kernel, one instance: every type and constant is concrete.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The name of the Rust function, and of the entry point in the CUDA text.
    pub name: String,
    /// The arguments, in order.
    pub params: Arena<Param>,
    /// Threads a block: x, y, z; their product is at most 1,024.
    pub block: [u32; 3],
    /// How many blocks a multiprocessor shall hold at least; a promise to the compiler of the CUDA text.
    pub min_blocks: Option<u32>,
    /// What the kernel must fit; none if the source does not say.
    pub architectures: Vec<Architecture>,
    /// Blocks of the grid: x, y, z. Host expressions: over extents, strides, scalar arguments and constants only.
    pub grid: [Handle<Expr>; 3],
    /// What the caller promises; the launcher checks it. Host expressions of type bool.
    pub requires: Vec<Contract>,
    /// The tensors of which the source claims that every element is written.
    pub covers: Vec<Cover>,
    /// The shared tiles, in order of declaration.
    pub tiles: Arena<Tile>,
    /// The thread's own variables, register arrays included.
    pub locals: Arena<Local>,
    /// All expressions.
    pub exprs: Arena<Expr>,
    /// All access sites, in order of the source.
    pub sites: Arena<Site>,
    /// All loops.
    pub loops: Arena<Loop>,
    /// All budgets, in order of the source.
    pub budgets: Arena<Budget>,
    /// All trusts.
    pub trusts: Arena<Trust>,
    /// The innermost trust around the whole body.
    pub trust: Option<Handle<Trust>>,
    /// What is under a trust of its own: what is inside another one comes before it.
    pub trusted: Vec<Trusted>,
    /// What a thread executes.
    pub body: Block,
    /// The function's name in the source.
    pub span: SpanId,
}

/// A promise of the caller.
#[derive(Clone, Debug, PartialEq)]
pub struct Contract {
    /// A host expression of type bool.
    pub condition: Handle<Expr>,
    /// Its source.
    pub span: SpanId,
}

/// A claim that the kernel writes every element of a tensor.
#[derive(Clone, Debug, PartialEq)]
pub struct Cover {
    /// The tensor.
    pub param: Handle<Param>,
    /// Its name in the claim.
    pub span: SpanId,
}

/// An argument of the kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: ParamKind,
    /// Its source.
    pub span: SpanId,
}

/// The kinds of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A tensor in device memory. Element `[i0, …, in]` is at `i0 * stride0 + … + in`, in elements: the innermost
    /// extent is contiguous. Of one that the kernel writes, no two indices name one element; of one that it reads, the
    /// other strides may be anything.
    Tensor {
        /// The element type.
        element: Scalar,
        /// How many extents, 1 to 5.
        rank: u32,
        /// Whether the kernel may write it.
        mutable: bool,
    },
    /// A value.
    Scalar(Scalar),
}

/// The types of values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// One value.
    Scalar(Scalar),
    /// Several values of one type, moved by one instruction: `Vector<T, V>`.
    Vector(Scalar, u32),
}

/// A thread's own variable.
#[derive(Clone, Debug, PartialEq)]
pub struct Local {
    /// Its name in the source; temporaries get one from their purpose. Not unique.
    pub name: String,
    /// The type of its elements.
    pub ty: Type,
    /// Empty for a plain variable; the extents of a register array, outermost first.
    pub extents: Vec<u32>,
    /// For a constant table its elements, row-major: literals. It is an array that nothing assigns and that lies in constant
    /// memory, so its index may be a value of the run, the same for all lanes of a warp.
    pub table: Option<Vec<Handle<Expr>>>,
    /// Its source.
    pub span: SpanId,
}

/// A tile in shared memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    /// The name of the variable.
    pub name: String,
    /// The element type.
    pub element: Scalar,
    /// The extents, outermost first; the last one is the row, the others before the last two are stages.
    pub extents: Vec<u32>,
    /// Where each element is.
    pub layout: Layout,
    /// Who decides on the layout. Before the check, that of a tile under `Auto` is a placeholder.
    pub choice: Choice,
    /// The alignment of the tile's first byte, a power of two.
    pub alignment: u32,
    /// Its declaration.
    pub span: SpanId,
}

/// Who decides on the layout of a tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The source names it.
    Written,
    /// The source says `Auto`: the check puts in the best one.
    Auto,
}

/// Responsibility that the source takes for a cost, with the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Budget {
    /// The largest excess of one warp instruction that is accepted at a shared access.
    pub bank_conflict: Option<u32>,
    /// The largest excess of one warp instruction that is accepted at a global access.
    pub excess_sectors: Option<u32>,
    /// Why.
    pub because: String,
    /// The attribute in the source.
    pub span: SpanId,
}

impl Type {
    /// The scalar, or the scalar of which it is a vector.
    pub fn scalar(self) -> Scalar {
        match self {
            Type::Scalar(scalar) | Type::Vector(scalar, _) => scalar,
        }
    }

    /// How many values: 1 for a scalar.
    pub fn width(self) -> u32 {
        match self {
            Type::Scalar(_) => 1,
            Type::Vector(_, width) => width,
        }
    }
}

impl Tile {
    /// Its type under a layout, as the user writes it: `Shared<[[f32; 32]; 32], Pad<1>>`.
    pub fn rust(&self, layout: Layout) -> String {
        let element = self.element.name().to_string();
        let array = self.extents.iter().rev().fold(element, |inner, extent| format!("[{inner}; {extent}]"));
        match layout {
            Layout::RowMajor => format!("Shared<{array}>"),
            Layout::Pad(_) | Layout::Xor(_) | Layout::Swizzle { .. } => {
                format!("Shared<{array}, {}>", layout.rust())
            }
        }
    }

    /// Bytes, padding included.
    pub fn bytes(&self) -> u32 {
        self.layout.elements(&self.extents).saturating_mul(self.element.bytes())
    }
}

impl Kernel {
    /// The type that a function is of, for a call with these operands and a result of this type.
    pub fn own_type(&self, function: Function, operands: &[Handle<Expr>], result: Type) -> Scalar {
        match operands.first() {
            Some(first) if function != Function::FromBits => self.exprs[*first].ty.scalar(),
            Some(_) | None => result.scalar(),
        }
    }

    /// Threads a block.
    pub fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// The element type of a tile or tensor.
    pub fn element(&self, base: Base) -> Scalar {
        match base {
            Base::Tile(tile) => self.tiles[tile].element,
            Base::Tensor(param) => match self.params[param].kind {
                ParamKind::Tensor { element, .. } => element,
                ParamKind::Scalar(scalar) => scalar,
            },
        }
    }

    /// How many extents a tile or tensor has.
    pub fn rank(&self, base: Base) -> usize {
        match base {
            Base::Tile(tile) => self.tiles[tile].extents.len(),
            Base::Tensor(param) => self.tensor_rank(param) as usize,
        }
    }

    /// The name of a tile or tensor.
    pub fn base_name(&self, base: Base) -> &str {
        match base {
            Base::Tile(tile) => &self.tiles[tile].name,
            Base::Tensor(param) => &self.params[param].name,
        }
    }

    /// An extent of a tensor as a user writes it, such as `input.rows()`.
    pub fn extent_name(&self, param: Handle<Param>, dimension: u32) -> String {
        extent_text(&self.params[param].name, self.tensor_rank(param), dimension)
    }

    /// A stride of a tensor as a user writes it, such as `input.pitch()`.
    pub fn stride_name(&self, param: Handle<Param>, dimension: u32) -> String {
        stride_text(&self.params[param].name, self.tensor_rank(param), dimension)
    }

    /// How many extents an argument has: 0 for a scalar.
    fn tensor_rank(&self, param: Handle<Param>) -> u32 {
        match self.params[param].kind {
            ParamKind::Tensor { rank, .. } => rank,
            ParamKind::Scalar(_) => 0,
        }
    }

    /// The bytes behind the address that one lane brings to a site.
    pub fn lane_bytes(&self, site: &Site) -> u32 {
        site.place.width * self.element(site.place.base).bytes()
    }

    /// The bytes that one lane gets or gives at a site.
    pub fn moved_bytes(&self, site: &Site) -> u32 {
        match site.matrices {
            Some(matrices) => 4 * matrices.count,
            None => self.lane_bytes(site),
        }
    }

    /// The width of a site, as the hardware model counts it: bytes, or matrices.
    pub fn model_width(&self, site: &Site) -> u32 {
        match site.matrices {
            Some(matrices) => matrices.count,
            None => self.lane_bytes(site),
        }
    }

    /// The byte offset of each tile in the block's shared memory, and their sum; 2^32 - 1 stands for all that is more.
    pub fn shared_bytes(&self) -> (Vec<u32>, u32) {
        let mut offsets = Vec::new();
        let mut end = 0u32;
        for (_, tile) in self.tiles.iter() {
            let start = end.checked_next_multiple_of(tile.alignment).unwrap_or(u32::MAX);
            offsets.push(start);
            end = start.saturating_add(tile.bytes());
        }
        (offsets, end)
    }
}
