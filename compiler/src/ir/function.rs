//! Functions of one to three values: the table that lowering, facts, emission and simulation share.
//!
//! What can be said in other expressions (`clamp`, `fract`, `abs_diff`, …) is lowered to those and is not here.

use super::Scalar;

/// A function of values. Its meaning is that of the method of this name in Rust; see the [table](Function::row).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Function {
    Sqrt,
    Rsqrt,
    Cbrt,
    Exp,
    Exp2,
    ExpM1,
    Ln,
    Ln1p,
    Log2,
    Log10,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Erf,
    Atan2,
    Powf,
    Hypot,
    Powi,
    MulAdd,
    Abs,
    Copysign,
    Floor,
    Ceil,
    Round,
    RoundTiesEven,
    Trunc,
    ToTf32,
    ToBits,
    FromBits,
    CountOnes,
    LeadingZeros,
    TrailingZeros,
    Ilog2,
    Isqrt,
    SwapBytes,
    ReverseBits,
    RotateLeft,
    RotateRight,
    WrappingAdd,
    WrappingSub,
    WrappingMul,
    SaturatingAdd,
    SaturatingSub,
    Pow,
    BytePerm,
}

/// Of which types a function is; that of its first operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Floats.
    Float,
    /// Integers, indices included.
    Integer,
    /// Unsigned integers, indices included.
    Unsigned,
    /// Integers but indices, whose arithmetic must be proven to fit.
    Data,
    /// Indices: of other integers it is an operator.
    Index,
    /// One type.
    Only(Scalar),
}

/// A type in relation to the function's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The same.
    Same,
    /// This one.
    Is(Scalar),
    /// Of a float, the unsigned integer of its size.
    Bits,
}

/// What a function is.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The function.
    pub function: Function,
    /// Its name in Rust and in the CUDA text.
    pub name: &'static str,
    /// Of which types it is.
    pub domain: Domain,
    /// The operands after the first.
    pub rest: &'static [Relation],
    /// The type of the result.
    pub result: Relation,
    /// How far the GPU's result may be from the correctly rounded one, in steps from one float to the next, of f32 and f64: no less than
    /// the bounds that CUDA documents; a test on a GPU asserts them. 0: correctly rounded, or exact.
    pub ulps: (u32, u32),
}

const fn row(
    function: Function,
    name: &'static str,
    domain: Domain,
    rest: &'static [Relation],
    result: Relation,
    ulps: (u32, u32),
) -> Row {
    Row { function, name, domain, rest, result, ulps }
}

/// A function of one float, whose result is one of the same type.
const fn float(function: Function, name: &'static str, ulps: (u32, u32)) -> Row {
    row(function, name, Domain::Float, &[], Relation::Same, ulps)
}

const SAME: Relation = Relation::Same;
const U32: Relation = Relation::Is(Scalar::U32);
const I32: Relation = Relation::Is(Scalar::I32);
const EXACT: (u32, u32) = (0, 0);

/// All functions, in order of [`Function`].
pub const FUNCTIONS: [Row; 54] = [
    float(Function::Sqrt, "sqrt", EXACT),
    float(Function::Rsqrt, "rsqrt", (2, 1)),
    float(Function::Cbrt, "cbrt", (1, 1)),
    float(Function::Exp, "exp", (2, 1)),
    float(Function::Exp2, "exp2", (2, 1)),
    float(Function::ExpM1, "exp_m1", (1, 1)),
    float(Function::Ln, "ln", (1, 1)),
    float(Function::Ln1p, "ln_1p", (1, 1)),
    float(Function::Log2, "log2", (1, 1)),
    float(Function::Log10, "log10", (2, 1)),
    float(Function::Sin, "sin", (2, 2)),
    float(Function::Cos, "cos", (2, 2)),
    float(Function::Tan, "tan", (4, 2)),
    float(Function::Asin, "asin", (4, 2)),
    float(Function::Acos, "acos", (3, 2)),
    float(Function::Atan, "atan", (2, 2)),
    float(Function::Sinh, "sinh", (3, 2)),
    float(Function::Cosh, "cosh", (2, 1)),
    float(Function::Tanh, "tanh", (2, 2)),
    float(Function::Asinh, "asinh", (4, 3)),
    float(Function::Acosh, "acosh", (4, 3)),
    float(Function::Atanh, "atanh", (3, 2)),
    float(Function::Erf, "erf", (2, 2)),
    row(Function::Atan2, "atan2", Domain::Float, &[SAME], SAME, (3, 2)),
    row(Function::Powf, "powf", Domain::Float, &[SAME], SAME, (9, 2)),
    row(Function::Hypot, "hypot", Domain::Float, &[SAME], SAME, (3, 2)),
    row(Function::Powi, "powi", Domain::Float, &[I32], SAME, EXACT),
    row(Function::MulAdd, "mul_add", Domain::Float, &[SAME, SAME], SAME, EXACT),
    float(Function::Abs, "abs", EXACT),
    row(Function::Copysign, "copysign", Domain::Float, &[SAME], SAME, EXACT),
    float(Function::Floor, "floor", EXACT),
    float(Function::Ceil, "ceil", EXACT),
    float(Function::Round, "round", EXACT),
    float(Function::RoundTiesEven, "round_ties_even", EXACT),
    float(Function::Trunc, "trunc", EXACT),
    row(Function::ToTf32, "to_tf32", Domain::Only(Scalar::F32), &[], SAME, EXACT),
    row(Function::ToBits, "to_bits", Domain::Float, &[], Relation::Bits, EXACT),
    row(Function::FromBits, "from_bits", Domain::Float, &[], SAME, EXACT),
    row(Function::CountOnes, "count_ones", Domain::Integer, &[], U32, EXACT),
    row(Function::LeadingZeros, "leading_zeros", Domain::Integer, &[], U32, EXACT),
    row(Function::TrailingZeros, "trailing_zeros", Domain::Integer, &[], U32, EXACT),
    row(Function::Ilog2, "ilog2", Domain::Unsigned, &[], U32, EXACT),
    row(Function::Isqrt, "isqrt", Domain::Unsigned, &[], SAME, EXACT),
    row(Function::SwapBytes, "swap_bytes", Domain::Integer, &[], SAME, EXACT),
    row(Function::ReverseBits, "reverse_bits", Domain::Integer, &[], SAME, EXACT),
    row(Function::RotateLeft, "rotate_left", Domain::Integer, &[U32], SAME, EXACT),
    row(Function::RotateRight, "rotate_right", Domain::Integer, &[U32], SAME, EXACT),
    row(Function::WrappingAdd, "wrapping_add", Domain::Index, &[SAME], SAME, EXACT),
    row(Function::WrappingSub, "wrapping_sub", Domain::Index, &[SAME], SAME, EXACT),
    row(Function::WrappingMul, "wrapping_mul", Domain::Index, &[SAME], SAME, EXACT),
    row(Function::SaturatingAdd, "saturating_add", Domain::Data, &[SAME], SAME, EXACT),
    row(Function::SaturatingSub, "saturating_sub", Domain::Data, &[SAME], SAME, EXACT),
    row(Function::Pow, "pow", Domain::Data, &[U32], SAME, EXACT),
    row(Function::BytePerm, "byte_perm", Domain::Only(Scalar::U32), &[U32, U32], U32, EXACT),
];

impl Function {
    /// What it is.
    pub fn row(self) -> &'static Row {
        &FUNCTIONS[self as usize]
    }

    /// The function with this name in Rust.
    pub fn named(name: &str) -> Option<Function> {
        FUNCTIONS.iter().find(|row| row.name == name).map(|row| row.function)
    }

    /// Its name in Rust.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// The type of its result, of a first operand of this type. Of [`Function::FromBits`], whose operand is bits, this is
    /// the float.
    pub fn result(self, own: Scalar) -> Scalar {
        self.row().result.of(own)
    }

    /// The types of its operands; `own` is the type that it is a method of.
    pub fn operands(self, own: Scalar) -> Vec<Scalar> {
        let first = if self == Function::FromBits { Relation::Bits } else { SAME };
        std::iter::once(&first).chain(self.row().rest).map(|relation| relation.of(own)).collect()
    }

    /// Whether it is of floats of 16 bits, too. The others are computed in `f32` there, which the source says.
    pub fn is_of_halves(self) -> bool {
        matches!(
            self,
            Function::Sqrt
                | Function::MulAdd
                | Function::Abs
                | Function::Copysign
                | Function::ToBits
                | Function::FromBits
        )
    }

    /// Whether values of some operands are none: of the logarithm of an integer, zero.
    pub fn is_partial(self) -> bool {
        self == Function::Ilog2
    }
}

impl Relation {
    /// The type that this is for a function of another type.
    pub fn of(self, own: Scalar) -> Scalar {
        match self {
            Relation::Same => own,
            Relation::Is(scalar) => scalar,
            Relation::Bits => match own.bytes() {
                2 => Scalar::U16,
                4 => Scalar::U32,
                _ => Scalar::U64,
            },
        }
    }
}

impl Domain {
    /// Whether a type is in it.
    pub fn holds(self, scalar: Scalar) -> bool {
        match self {
            Domain::Float => scalar.is_float(),
            Domain::Integer => scalar.is_integer(),
            Domain::Unsigned => scalar.is_integer() && !scalar.is_signed(),
            Domain::Data => scalar.is_integer() && !scalar.is_index(),
            Domain::Index => scalar.is_index(),
            Domain::Only(only) => scalar == only,
        }
    }

    /// What it is called in errors.
    pub fn text(self) -> String {
        match self {
            Domain::Float => "a float".into(),
            Domain::Integer => "an integer".into(),
            Domain::Unsigned => "an unsigned integer".into(),
            Domain::Data => "an integer of 8 to 64 bits".into(),
            Domain::Index => "`usize` or `isize`".into(),
            Domain::Only(scalar) => format!("`{}`", scalar.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::FUNCTIONS;

    #[test]
    fn the_table_is_in_order() {
        for (place, row) in FUNCTIONS.iter().enumerate() {
            assert_eq!(row.function as usize, place, "{}", row.name);
            assert_eq!(row.function.row().name, row.name);
        }
    }
}
