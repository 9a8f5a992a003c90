//! What computes.

use super::{Function, Handle, Local, Param, Type};
use crate::span::SpanId;

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
    /// By how many elements the first one of a tensor argument lies behind an address that is a multiple of so many elements;
    /// their number is a power of two.
    Misalignment(Handle<Param>, u32),
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
            | ExprKind::Misalignment(..)
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

    /// Whether it has no value where the right side is zero, of integers.
    pub fn divides(self) -> bool {
        match self {
            BinaryOp::Div | BinaryOp::Rem | BinaryOp::DivCeil => true,
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Min
            | BinaryOp::Max => false,
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
