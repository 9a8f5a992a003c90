//! Generated programs as a typed tree, which [`print`](crate::print) writes as the source of a kernel and
//! [`evaluate`](crate::evaluate) runs.
//!
//! It is not the compiler's tree, and nothing here knows of layouts, sites or costs: a tile is an array.

use crate::method::Method;
use crate::value::{BinaryOp, CompareOp, Scalar, Value};

/// The number of a variable, of its own for each declaration.
pub type Local = usize;

/// The type of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Type {
    Scalar(Scalar),
    Vector(Scalar, usize),
    Array(Scalar, usize),
    Tuple(Vec<Type>),
}

/// Where an element is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    /// The tensor with this number.
    Tensor(usize),
    /// The tile with this number.
    Tile(usize),
}

/// An element of a tensor or tile, or the first of several in a row.
#[derive(Clone, Debug)]
pub struct Access {
    /// The tensor or tile.
    pub base: Base,
    /// An index a dimension, outermost first; of `usize`, or of `isize` where it may be outside.
    pub indices: Vec<Expr>,
}

/// A position that the hardware tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Position {
    /// Along x, y or z.
    Thread(usize),
    Block(usize),
    Grid(usize),
    Lane,
    Warp,
    WarpCount,
}

/// What threads compute together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Collective {
    Shuffle,
    ShuffleXor,
    ShuffleUp,
    ShuffleDown,
    Any,
    All,
    Ballot,
    MatchAny,
    WarpSum,
    WarpMax,
    WarpMin,
    WarpScanInclusive,
    WarpScanExclusive,
    BlockSum,
    BlockMax,
    BlockMin,
    BlockScanInclusive,
    BlockScanExclusive,
    SyncThreadsCount,
    SyncThreadsAnd,
    SyncThreadsOr,
}

impl Collective {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Collective::Shuffle => "shuffle",
            Collective::ShuffleXor => "shuffle_xor",
            Collective::ShuffleUp => "shuffle_up",
            Collective::ShuffleDown => "shuffle_down",
            Collective::Any => "any",
            Collective::All => "all",
            Collective::Ballot => "ballot",
            Collective::MatchAny => "match_any",
            Collective::WarpSum => "warp_sum",
            Collective::WarpMax => "warp_max",
            Collective::WarpMin => "warp_min",
            Collective::WarpScanInclusive => "warp_scan_inclusive",
            Collective::WarpScanExclusive => "warp_scan_exclusive",
            Collective::BlockSum => "block_sum",
            Collective::BlockMax => "block_max",
            Collective::BlockMin => "block_min",
            Collective::BlockScanInclusive => "block_scan_inclusive",
            Collective::BlockScanExclusive => "block_scan_exclusive",
            Collective::SyncThreadsCount => "sync_threads_count",
            Collective::SyncThreadsAnd => "sync_threads_and",
            Collective::SyncThreadsOr => "sync_threads_or",
        }
    }

    /// Whether the threads of the whole block take part, not those of a warp.
    pub fn is_of_block(self) -> bool {
        match self {
            Collective::BlockSum
            | Collective::BlockMax
            | Collective::BlockMin
            | Collective::BlockScanInclusive
            | Collective::BlockScanExclusive
            | Collective::SyncThreadsCount
            | Collective::SyncThreadsAnd
            | Collective::SyncThreadsOr => true,
            Collective::Shuffle
            | Collective::ShuffleXor
            | Collective::ShuffleUp
            | Collective::ShuffleDown
            | Collective::Any
            | Collective::All
            | Collective::Ballot
            | Collective::MatchAny
            | Collective::WarpSum
            | Collective::WarpMax
            | Collective::WarpMin
            | Collective::WarpScanInclusive
            | Collective::WarpScanExclusive => false,
        }
    }
}

/// An expression and its type.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its type.
    pub ty: Type,
    /// What it is.
    pub kind: Kind,
}

/// A pattern of a `match`.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Pattern {
    Is(Value),
    OneOf(Vec<Value>),
    /// Both ends included.
    Range(Value, Value),
    Rest,
}

/// What an expression is.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Kind {
    Literal(Value),
    Local(Local),
    /// The scalar parameter with this number.
    Argument(usize),
    Position(Position),
    /// Of a tensor, of its dimension.
    Extent(usize, usize),
    /// The constant with this number.
    Constant(usize),
    /// An element of a constant table.
    Table(usize, Box<Expr>),
    Negative(Box<Expr>),
    Not(Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Compare(CompareOp, Box<Expr>, Box<Expr>),
    And(Box<Expr>, Box<Expr>),
    Or(Box<Expr>, Box<Expr>),
    /// To the expression's own type.
    Cast(Box<Expr>),
    Method(Method, Vec<Expr>),
    /// Of a float, its bits, or of bits, the float; the operand is no NaN.
    Bits(Box<Expr>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    Match(Box<Expr>, Vec<(Pattern, Expr)>),
    Block(Vec<Stmt>, Box<Expr>),
    Tuple(Vec<Expr>),
    Field(Local, usize),
    /// The elements of an array or vector.
    List(Vec<Expr>),
    /// An array or vector of the same.
    Repeat(Box<Expr>),
    /// Of an array or vector in a variable.
    Element(Local, Box<Expr>),
    /// The sum of a vector's elements.
    VectorSum(Box<Expr>),
    /// A vector's elements, each as the variable in the expression.
    Map(Box<Expr>, Local, Box<Expr>),
    Load(Access),
    /// As many as the expression's type says.
    Read(Access),
    ReadUnaligned(Access),
    GetOr(Access, Box<Expr>),
    Contains(Access),
    /// The value and, of shuffles, the lane, mask or distance.
    Collective(Collective, Vec<Expr>),
    /// Of the helper function with this number.
    Call(usize, Vec<Expr>),
    /// An update whose result is used.
    Update(AtomicOp, Access, Vec<Expr>),
    BytePerm(Vec<Expr>),
    /// The place, as an array, of the element with this number in a shape of these extents.
    Unflatten(Box<Expr>, Vec<Expr>),
    Flatten(Vec<Expr>, Vec<Expr>),
    /// Of the block with this number, as an array, the place in a shape of these extents by bands of so many rows.
    Rasterize(Box<Expr>, Vec<Expr>, usize),
    /// The quotient of indices, rounded up.
    DivCeil(Box<Expr>, usize),
}

/// An atomic update.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AtomicOp {
    Add,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    CompareExchange,
}

impl AtomicOp {
    /// Its name.
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
}

/// The values that a loop's variable takes.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Range {
    /// From, to (excluded), step.
    Up { from: Expr, to: Expr, inclusive: bool, step: usize, reversed: bool },
    /// The elements of an array in a variable.
    Elements(Local),
    /// These.
    List(Vec<Value>),
}

/// What is assigned to.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Place {
    Local(Local),
    Element(Local, Expr),
    Field(Local, usize),
}

/// An operation on a whole tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Whole {
    Load,
    LoadTransposed,
    LoadAsync,
    Store,
    StoreTransposed,
}

impl Whole {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Whole::Load => "load",
            Whole::LoadTransposed => "load_transposed",
            Whole::LoadAsync => "load_async",
            Whole::Store => "store",
            Whole::StoreTransposed => "store_transposed",
        }
    }
}

/// A statement.
#[derive(Clone, Debug)]
#[allow(missing_docs)]
pub enum Stmt {
    Let {
        local: Local,
        mutable: bool,
        annotated: bool,
        value: Expr,
    },
    /// `let (a, b) = …;`, or of an array `let [a, b] = …;`
    LetTuple {
        locals: Vec<Local>,
        value: Expr,
    },
    Assign {
        place: Place,
        op: Option<BinaryOp>,
        value: Expr,
    },
    Store {
        access: Access,
        op: Option<BinaryOp>,
        value: Expr,
    },
    Write {
        access: Access,
        value: Expr,
    },
    Atomic {
        op: AtomicOp,
        access: Access,
        operands: Vec<Expr>,
    },
    If {
        condition: Expr,
        then: Vec<Stmt>,
        otherwise: Vec<Stmt>,
    },
    For {
        local: Local,
        range: Range,
        body: Vec<Stmt>,
        label: bool,
    },
    While {
        condition: Expr,
        body: Vec<Stmt>,
    },
    Loop {
        body: Vec<Stmt>,
    },
    Break,
    Continue,
    Return,
    SyncThreads,
    SyncWarp,
    Whole {
        op: Whole,
        tile: usize,
        parts: Vec<Expr>,
        tensor: usize,
        width: usize,
        origin: Vec<Expr>,
    },
    Commit,
    Wait(usize),
    /// A call of a helper function for what it does to `&mut` variables: its other arguments and they.
    Call {
        helper: usize,
        values: Vec<Expr>,
        changed: Vec<Local>,
    },
}

/// A tensor among the parameters.
#[derive(Clone, Debug)]
pub struct Tensor {
    /// The type of its elements.
    pub element: Scalar,
    /// Whether the kernel writes it.
    pub mutable: bool,
    /// Its extents in the run, outermost first, in elements.
    pub extents: Vec<usize>,
    /// The distances between neighbours in elements, of all dimensions but the innermost.
    pub strides: Vec<usize>,
    /// What the elements hold before: the seed of them.
    pub seed: u64,
    /// Of an approximated result, by how many units in the last place it may differ; 0 demands equal bits.
    pub ulps: u32,
}

/// A layout of a tile, as it is written; empty for none.
pub type Layout = String;

/// A tile.
#[derive(Clone, Debug)]
pub struct Tile {
    /// The type of its elements.
    pub element: Scalar,
    /// Its extents, outermost first.
    pub extents: Vec<usize>,
    /// Its layout.
    pub layout: Layout,
}

/// A helper function.
#[derive(Clone, Debug)]
pub struct Helper {
    /// Its parameters that are passed as values.
    pub values: Vec<(Local, Type)>,
    /// Its parameters that are passed as `&mut`.
    pub changed: Vec<(Local, Type)>,
    /// The tensors that it sees, under the names that they have in the kernel.
    pub tensors: Vec<usize>,
    /// Its statements.
    pub body: Vec<Stmt>,
    /// Its value, if it has one.
    pub result: Option<Expr>,
}

/// A number of blocks.
#[derive(Clone, Debug)]
pub enum Blocks {
    /// This many.
    Constant(usize),
    /// One for so many elements of a tensor's dimension: the tensor, the dimension, the elements.
    Covering(usize, usize, usize),
    /// One for so many of all elements of a tensor.
    CoveringAll(usize, usize),
    /// One for each window of so many rows and columns of a tensor of rank 2.
    Windows(usize, [usize; 2]),
}

/// A kernel, and what it is run with.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// Its name.
    pub name: String,
    /// The threads of a block: one to three extents, x first.
    pub block: Vec<usize>,
    /// The blocks: one to three extents, x first.
    pub grid: Vec<Blocks>,
    /// What it requires, as source text.
    pub requires: Vec<String>,
    /// The tensors among its parameters.
    pub tensors: Vec<Tensor>,
    /// The scalars among its parameters, with their values in the run.
    pub arguments: Vec<Value>,
    /// Constants.
    pub constants: Vec<Value>,
    /// Constant tables.
    pub tables: Vec<Vec<Value>>,
    /// Tiles.
    pub tiles: Vec<Tile>,
    /// Helper functions.
    pub helpers: Vec<Helper>,
    /// Its statements.
    pub body: Vec<Stmt>,
}

impl Kernel {
    /// The number of blocks along each axis in the run.
    pub fn grid(&self) -> [usize; 3] {
        let mut grid = [1; 3];
        for (blocks, extent) in self.grid.iter().zip(&mut grid) {
            *extent = match blocks {
                Blocks::Constant(n) => *n,
                Blocks::Covering(tensor, dimension, elements) => {
                    self.tensors[*tensor].extents[*dimension].div_ceil(*elements)
                }
                Blocks::CoveringAll(tensor, elements) => {
                    self.tensors[*tensor].extents.iter().product::<usize>().div_ceil(*elements)
                }
                Blocks::Windows(tensor, window) => {
                    let extents = self.tensors[*tensor].extents.iter();
                    extents.zip(window).map(|(extent, n)| extent.div_ceil(*n)).product()
                }
            };
        }
        grid
    }

    /// The threads of a block along each axis.
    pub fn block(&self) -> [usize; 3] {
        std::array::from_fn(|axis| self.block.get(axis).copied().unwrap_or(1))
    }
}

impl Expr {
    /// An expression of a scalar type.
    pub fn of(scalar: Scalar, kind: Kind) -> Expr {
        Expr { ty: Type::Scalar(scalar), kind }
    }

    /// Its scalar type, or that of its elements.
    pub fn scalar(&self) -> Scalar {
        match &self.ty {
            Type::Scalar(scalar) | Type::Vector(scalar, _) | Type::Array(scalar, _) => *scalar,
            Type::Tuple(_) => Scalar::Bool,
        }
    }
}
