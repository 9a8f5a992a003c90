//! Host expressions: how a kernel's grid and its conditions are handed from the compiler to the launcher.

/// One step of a host expression: a postfix program over a stack of mathematical integers, truth values being 0 and 1.
///
/// Whoever evaluates it checks the arithmetic: a result that does not fit, or a division by zero, is an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum HostOp {
    /// A constant.
    Int(i128),
    /// An extent: the parameter's number and the dimension, 0 the outermost.
    Extent(u32, u32),
    /// A stride, in elements: the parameter's number and the dimension, 0 the outermost.
    Stride(u32, u32),
    /// A scalar argument: the parameter's number.
    Scalar(u32),
    Add,
    Sub,
    Mul,
    /// Rounds toward zero.
    Div,
    /// Has the sign of the dividend.
    Rem,
    And,
    Or,
    Xor,
    /// By 0 to 126.
    Shl,
    /// By 0 to 126; keeps the sign.
    Shr,
    Min,
    Max,
    /// The quotient rounded up.
    DivCeil,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    /// Of a truth value.
    Not,
    /// Of a condition, a value and another value: the first value if the condition is true, else the other.
    Select,
}
