//! What the compiler and the launcher must agree on about kernels: the scalar types, how an extent is spelt, and how
//! large an index may be.

/// Extents, strides and the magnitudes of `usize` and `isize` arguments are below this: no GPU has so much memory. The launcher checks it, and the
/// proofs about index arithmetic assume it.
pub const INDEX_LIMIT: u64 = 1 << 47;

/// A launch uses 32-bit indices only if extents, strides, spans and the magnitudes of `usize` and
/// `isize` arguments are below this.
pub const NARROW_LIMIT: u64 = 1 << 31;

/// A tensor has at most so many dimensions.
pub const MOST_DIMENSIONS: u32 = 5;

/// The scalar types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ScalarType {
    Bool,
    I8,
    I16,
    I32,
    I64,
    U8,
    U16,
    U32,
    U64,
    /// The type of indices: 64 bits wide in Rust and in memory, a mathematical integer in the analysis, and 4 or 8
    /// bytes as an argument, by the kernel's index width.
    Usize,
    /// The type of offsets, which may be below zero: as [`ScalarType::Usize`], signed.
    Isize,
    /// IEEE binary16: 11 bits of precision.
    F16,
    /// The upper half of an `f32`: 8 bits of precision.
    Bf16,
    F32,
    F64,
}

impl ScalarType {
    /// Every scalar type.
    pub const ALL: [ScalarType; 15] = [
        ScalarType::Bool,
        ScalarType::I8,
        ScalarType::I16,
        ScalarType::I32,
        ScalarType::I64,
        ScalarType::U8,
        ScalarType::U16,
        ScalarType::U32,
        ScalarType::U64,
        ScalarType::Usize,
        ScalarType::Isize,
        ScalarType::F16,
        ScalarType::Bf16,
        ScalarType::F32,
        ScalarType::F64,
    ];

    /// Its name in Rust.
    pub const fn name(self) -> &'static str {
        match self {
            ScalarType::Bool => "bool",
            ScalarType::I8 => "i8",
            ScalarType::I16 => "i16",
            ScalarType::I32 => "i32",
            ScalarType::I64 => "i64",
            ScalarType::U8 => "u8",
            ScalarType::U16 => "u16",
            ScalarType::U32 => "u32",
            ScalarType::U64 => "u64",
            ScalarType::Usize => "usize",
            ScalarType::Isize => "isize",
            ScalarType::F16 => "f16",
            ScalarType::Bf16 => "bf16",
            ScalarType::F32 => "f32",
            ScalarType::F64 => "f64",
        }
    }

    /// The scalar type with this name in Rust.
    pub fn from_name(name: &str) -> Option<ScalarType> {
        ScalarType::ALL.into_iter().find(|scalar| scalar.name() == name)
    }

    /// The bytes of one element in memory.
    pub const fn bytes(self) -> u32 {
        match self {
            ScalarType::Bool | ScalarType::I8 | ScalarType::U8 => 1,
            ScalarType::I16 | ScalarType::U16 | ScalarType::F16 | ScalarType::Bf16 => 2,
            ScalarType::I32 | ScalarType::U32 | ScalarType::F32 => 4,
            ScalarType::I64 | ScalarType::U64 | ScalarType::Usize | ScalarType::Isize | ScalarType::F64 => 8,
        }
    }

    /// Whether it is a float.
    pub const fn is_float(self) -> bool {
        matches!(self, ScalarType::F16 | ScalarType::Bf16 | ScalarType::F32 | ScalarType::F64)
    }

    /// Whether it is a float of 16 bits, which Rust and C have as a struct.
    pub const fn is_half(self) -> bool {
        matches!(self, ScalarType::F16 | ScalarType::Bf16)
    }

    /// Whether it is an integer, indices included.
    pub const fn is_integer(self) -> bool {
        !self.is_float() && !matches!(self, ScalarType::Bool)
    }

    /// Whether it is a signed integer.
    pub const fn is_signed(self) -> bool {
        matches!(
            self,
            ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64 | ScalarType::Isize
        )
    }

    /// Whether it is a type of index arithmetic, whose results must be proven to fit: `usize` and `isize`.
    pub const fn is_index(self) -> bool {
        matches!(self, ScalarType::Usize | ScalarType::Isize)
    }

    /// The least and the largest value of an integer type.
    pub fn range(self) -> Option<(i128, i128)> {
        let bits = 8 * self.bytes();
        match self {
            ScalarType::Bool | ScalarType::F16 | ScalarType::Bf16 | ScalarType::F32 | ScalarType::F64 => None,
            ScalarType::I8 | ScalarType::I16 | ScalarType::I32 | ScalarType::I64 | ScalarType::Isize => {
                Some((-(1 << (bits - 1)), (1 << (bits - 1)) - 1))
            }
            ScalarType::U8 | ScalarType::U16 | ScalarType::U32 | ScalarType::U64 | ScalarType::Usize => {
                Some((0, (1 << bits) - 1))
            }
        }
    }
}

/// An extent of a tensor of this name and rank as a kernel's source has it, such as `input.rows()`; dimension 0 is the
/// outermost.
pub fn extent_text(tensor: &str, rank: u32, dimension: u32) -> String {
    match (rank, dimension) {
        (1, 0) => format!("{tensor}.len()"),
        (2, 0) => format!("{tensor}.rows()"),
        (2, 1) => format!("{tensor}.cols()"),
        _ => format!("{tensor}.extent({dimension})"),
    }
}

/// A stride of a tensor of this name and rank as a kernel's source has it, such as `input.pitch()`.
pub fn stride_text(tensor: &str, rank: u32, dimension: u32) -> String {
    match (rank, dimension) {
        (2, 0) => format!("{tensor}.pitch()"),
        _ => format!("{tensor}.stride({dimension})"),
    }
}
