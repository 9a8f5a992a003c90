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
//! A site is one memory instruction, one row of the report, and one inline assembly statement of the CUDA text. A site
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
//! A [`Collective`] is a value that a warp or block computes together, which all of its threads must reach together.
//!
//! **Asynchronous copies** ([`Stmt::Copy`]) write shared memory at some time between their start and the thread's wait for
//! them. What they wrote is the thread's own store at the time of that wait, and other threads see it behind a barrier.
//!
//! **Shared memory** is uninitialised when a block starts; reading it before a write is a fault.

mod arena;
mod atomic;
mod collective;
mod function;
pub mod layout;
pub mod print;
mod unaligned;

pub use arena::{Arena, Handle};
pub use atomic::{Atomic, AtomicOp};
pub use collective::{Collective, CollectiveOp, Shuffle};
pub use function::{Domain, FUNCTIONS, Function, Relation, Row};
pub use layout::Layout;
pub use unaligned::{Part, Unaligned};

use crate::span::SpanId;
use tileproof_model::access::Operation;
pub use tileproof_model::language::ScalarType as Scalar;
use tileproof_model::language::{extent_text, stride_text};
pub use tileproof_model::report::Role;

/// A kernel, one instance: every type and constant is concrete.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The name of the Rust function, and of the entry point in the CUDA text.
    pub name: String,
    /// The arguments, in order.
    pub params: Arena<Param>,
    /// Threads a block: x, y, z; their product is at most 1,024.
    pub block: [u32; 3],
    /// Blocks of the grid: x, y, z. Host expressions: over extents, strides, scalar arguments and constants only.
    pub grid: [Handle<Expr>; 3],
    /// What the caller promises; the launcher checks it. Host expressions of type bool.
    pub requires: Vec<Contract>,
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

/// An expression: no effect, reads no memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// What it computes.
    pub kind: ExprKind,
    /// The type of the result.
    pub ty: Type,
    /// Its source.
    pub span: SpanId,
}

/// A direction of the block or of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Axis {
    X,
    Y,
    Z,
}

/// What an expression computes.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// An integer constant of an integer type.
    Int(i128),
    /// A float constant, exactly as its type holds it.
    Float(f64),
    /// A truth value.
    Bool(bool),
    /// A scalar argument.
    Param(Handle<Param>),
    /// An extent of a tensor argument, in elements; 0 is the outermost.
    Extent(Handle<Param>, u32),
    /// The distance between neighbours in a dimension of a tensor argument, in elements; never the innermost one.
    Stride(Handle<Param>, u32),
    /// The thread's position in its block.
    Thread(Axis),
    /// The block's position in the grid.
    Block(Axis),
    /// The blocks of the grid.
    Grid(Axis),
    /// The value of a plain variable.
    Local(Handle<Local>),
    /// An element of a register array; one index an extent.
    Element(Handle<Local>, Vec<Handle<Expr>>),
    /// One value of a vector.
    Lane(Handle<Expr>, Handle<Expr>),
    /// A vector of these values.
    Vector(Vec<Handle<Expr>>),
    /// Arithmetic of one value, or of each value of a vector.
    Unary(UnaryOp, Handle<Expr>),
    /// Arithmetic of two values of one type (shifts: the amount has its own type), or of those of two vectors, each with its
    /// counterpart.
    Binary(BinaryOp, Handle<Expr>, Handle<Expr>),
    /// A comparison of two scalars of one type; of type bool.
    Compare(CompareOp, Handle<Expr>, Handle<Expr>),
    /// The second if the first is true, else the third.
    Select(Handle<Expr>, Handle<Expr>, Handle<Expr>),
    /// The value, or each value of a vector, converted to the expression's type, with the meaning of Rust's `as`. Floats of 16
    /// bits are converted to and from integers by way of `f32`.
    Cast(Handle<Expr>),
    /// A function of one to three values.
    Call(Function, Vec<Handle<Expr>>),
}

/// Operators of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    /// `-a`, of signed integers (wrapping) and floats.
    Negate,
    /// `!a`, of bool and, bit by bit, of integers.
    Not,
}

/// Operators of two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    /// Also the logical `&&`: expressions have no effects, so both sides may be evaluated.
    And,
    /// Also the logical `||`.
    Or,
    Xor,
    Shl,
    Shr,
    /// The smaller; of floats, the one that is not NaN.
    Min,
    /// The larger; of floats, the one that is not NaN.
    Max,
    /// The quotient rounded up, of unsigned integers.
    DivCeil,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum CompareOp {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

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
/// [`SyncObject::CopyGroup`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copy {
    /// The load: [`Proxy::Async`], from a tensor.
    pub source: Handle<Site>,
    /// The store: [`Proxy::Async`], to a tile, as wide as the load: 4, 8 or 16 bytes.
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

/// One memory instruction.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// What it accesses.
    pub place: Place,
    /// Load, store or update.
    pub role: Role,
    /// Who moves the data.
    pub proxy: Proxy,
    /// Which lanes execute it.
    pub issuer: Issuer,
    /// The budget that covers it.
    pub budget: Option<Handle<Budget>>,
    /// Whether it serves only the edge of a tensor: the blocks whose window crosses it, in an operation on a whole tile; the
    /// lanes whose aligned vectors would, in an unaligned load. What it costs is reported and not judged, as for every edge:
    /// what is inside is.
    pub edge: bool,
    /// The access in the source.
    pub span: SpanId,
    /// Later loads of the same place that get this one's value, and are no sites of their own.
    pub also: Vec<SpanId>,
}

/// Elements of a tile or a tensor: `width` of them, contiguous in the innermost extent, the first at `index`.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The tile or tensor.
    pub base: Base,
    /// One index an extent, of type usize.
    pub index: Vec<Handle<Expr>>,
    /// How many elements: 1, or the width of a vector.
    pub width: u32,
    /// Which bytes the instruction moves for them.
    pub part: Part,
}

/// What can be indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Base {
    /// A tensor argument, in global memory.
    Tensor(Handle<Param>),
    /// A tile in shared memory.
    Tile(Handle<Tile>),
}

/// Who moves the data of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proxy {
    /// The thread's own load or store.
    Generic,
    /// The thread starts it and goes on: half of a [`Stmt::Copy`].
    Async,
}

/// Which lanes of a warp execute an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// Every active lane, each with its own address.
    EveryLane,
}

/// Sets of threads, from small to large: a value is uniform over such a set, a barrier holds one together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum Scope {
    Lane,
    Warp,
    Warpgroup,
    Block,
    Cluster,
    Grid,
}

/// A synchronisation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sync {
    /// What the threads meet at.
    pub object: SyncObject,
    /// What they do there.
    pub action: SyncAction,
    /// Who takes part.
    pub participants: Scope,
    /// Whose memory accesses are ordered.
    pub orders: Scope,
    /// Accesses of which proxy are ordered.
    pub proxy: Proxy,
}

impl Sync {
    /// `sync_threads()`.
    pub const THREADS: Sync = Sync {
        object: SyncObject::BlockBarrier,
        action: SyncAction::ArriveAndWait,
        participants: Scope::Block,
        orders: Scope::Block,
        proxy: Proxy::Generic,
    };

    /// `commit()`.
    pub const COMMIT: Sync = Sync {
        object: SyncObject::CopyGroup,
        action: SyncAction::Arrive,
        participants: Scope::Lane,
        orders: Scope::Lane,
        proxy: Proxy::Async,
    };

    /// `wait::<PENDING>()`.
    pub const fn wait(pending: u32) -> Sync {
        Sync { action: SyncAction::Wait { pending }, ..Sync::COMMIT }
    }

    /// `sync_warp()`.
    pub const WARP: Sync = Sync {
        object: SyncObject::Warp,
        action: SyncAction::ArriveAndWait,
        participants: Scope::Warp,
        orders: Scope::Warp,
        proxy: Proxy::Generic,
    };
}

/// What threads meet at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncObject {
    /// The block's barrier number 0.
    BlockBarrier,
    /// The lanes of the warp themselves.
    Warp,
    /// The thread's own asynchronous copies since it last arrived here; each arrival closes one group.
    CopyGroup,
}

/// What threads do at a [`SyncObject`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncAction {
    /// Arrive, and wait until all participants have arrived.
    ArriveAndWait,
    /// Arrive, without waiting.
    Arrive,
    /// Wait until of what was started before only the last so many groups may be under way.
    Wait {
        /// How many.
        pending: u32,
    },
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

impl ExprKind {
    /// The expressions that it is made of, in order.
    pub fn operands(&self) -> Vec<Handle<Expr>> {
        match self {
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::Param(_)
            | ExprKind::Extent(..)
            | ExprKind::Stride(..)
            | ExprKind::Thread(_)
            | ExprKind::Block(_)
            | ExprKind::Grid(_)
            | ExprKind::Local(_) => Vec::new(),
            ExprKind::Element(_, index) => index.clone(),
            ExprKind::Vector(values) | ExprKind::Call(_, values) => values.clone(),
            ExprKind::Unary(_, a) | ExprKind::Cast(a) => vec![*a],
            ExprKind::Lane(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Compare(_, a, b) => vec![*a, *b],
            ExprKind::Select(a, b, c) => vec![*a, *b, *c],
        }
    }
}

impl ExprKind {
    /// Whether it does the same with its operands as another one.
    pub fn is_like(&self, other: &ExprKind) -> bool {
        match (self, other) {
            (ExprKind::Element(a, _), ExprKind::Element(b, _)) => a == b,
            (ExprKind::Unary(a, _), ExprKind::Unary(b, _)) => a == b,
            (ExprKind::Binary(a, ..), ExprKind::Binary(b, ..)) => a == b,
            (ExprKind::Compare(a, ..), ExprKind::Compare(b, ..)) => a == b,
            (ExprKind::Lane(..), ExprKind::Lane(..))
            | (ExprKind::Vector(_), ExprKind::Vector(_))
            | (ExprKind::Select(..), ExprKind::Select(..))
            | (ExprKind::Cast(_), ExprKind::Cast(_)) => true,
            // Without operands; of different kinds they differ.
            (a, b) => a == b,
        }
    }
}

impl BinaryOp {
    /// The operator or the method that it is in Rust: `+`, `div_ceil`.
    pub fn name(self) -> &'static str {
        match self {
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
            BinaryOp::And => "&",
            BinaryOp::Or => "|",
            BinaryOp::Xor => "^",
            BinaryOp::Shl => "<<",
            BinaryOp::Shr => ">>",
            BinaryOp::Min => "min",
            BinaryOp::Max => "max",
            BinaryOp::DivCeil => "div_ceil",
        }
    }

    /// Whether it is a method and not an operator.
    pub fn is_method(self) -> bool {
        matches!(self, BinaryOp::Min | BinaryOp::Max | BinaryOp::DivCeil)
    }
}

impl CompareOp {
    /// The operator, in Rust and in C.
    pub fn name(self) -> &'static str {
        match self {
            CompareOp::Less => "<",
            CompareOp::LessEqual => "<=",
            CompareOp::Greater => ">",
            CompareOp::GreaterEqual => ">=",
            CompareOp::Equal => "==",
            CompareOp::NotEqual => "!=",
        }
    }
}

impl Site {
    /// The instruction, as the hardware model names it.
    pub fn operation(&self) -> Operation {
        let Site { place, role, proxy, issuer, budget: _, edge: _, span: _, also: _ } = self;
        match (place.base, role, proxy, issuer) {
            (Base::Tensor(_), Role::Read, Proxy::Generic | Proxy::Async, Issuer::EveryLane) => {
                Operation::LoadGlobal
            }
            (Base::Tensor(_), Role::Write, Proxy::Generic | Proxy::Async, Issuer::EveryLane) => {
                Operation::StoreGlobal
            }
            (Base::Tile(_), Role::Read, Proxy::Generic | Proxy::Async, Issuer::EveryLane) => {
                Operation::LoadShared
            }
            (Base::Tile(_), Role::Write, Proxy::Generic, Issuer::EveryLane) => Operation::StoreShared,
            (Base::Tile(_), Role::Write, Proxy::Async, Issuer::EveryLane) => Operation::CopyAsync,
            (Base::Tensor(_), Role::Update, Proxy::Generic | Proxy::Async, Issuer::EveryLane) => {
                Operation::AtomicGlobal
            }
            (Base::Tile(_), Role::Update, Proxy::Generic | Proxy::Async, Issuer::EveryLane) => {
                Operation::AtomicShared
            }
        }
    }
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

impl Axis {
    /// 0, 1, 2.
    pub fn index(self) -> usize {
        match self {
            Axis::X => 0,
            Axis::Y => 1,
            Axis::Z => 2,
        }
    }

    /// `x`, `y`, `z`.
    pub fn name(self) -> &'static str {
        match self {
            Axis::X => "x",
            Axis::Y => "y",
            Axis::Z => "z",
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

    /// The bytes that one lane moves at a site.
    pub fn lane_bytes(&self, site: &Site) -> u32 {
        site.place.width * self.element(site.place.base).bytes()
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
