//! The functions and types that the text brings with it: only what the kernel uses.
//!
//! Data arithmetic wraps as in Rust. C leaves the overflow of `int` undefined and computes small types in `int`, so
//! whatever could overflow goes through a function that computes in an unsigned type. Of a division by zero a C compiler may
//! conclude that it does not happen, and drop a guard; so data is divided by functions that yield zero then.

use super::atomic::Update;
use super::collective::{self, Vote};
use super::memory::{self, Memory};
use super::types::{element_type, scalar_type, unsigned};
use super::{function, half, matrix, unaligned};
use crate::ir::{Function, Matrices, MatrixProduct, Scalar, Shuffle};

/// A definition of the prelude.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece {
    /// The type of a vector.
    Vector(Scalar, u32),
    /// The 32-bit address of a shared array.
    SharedAddress,
    /// Loads so many elements.
    Load(Memory, Scalar, u32),
    /// Loads an element, or keeps a value.
    LoadOr(Memory, Scalar),
    /// Whether the aligned vectors that hold so many elements are inside a tensor.
    AlignedInside(Scalar, u32),
    /// Loads so many elements from any of a tensor on.
    LoadUnaligned(Memory, Scalar, u32),
    /// Loads matrices of such elements.
    LoadMatrices(Scalar, Matrices),
    /// Multiplies matrices and adds a third.
    MatrixProduct(MatrixProduct),
    /// How far a tensor begins behind an aligned address.
    Misalignment(Scalar),
    /// Stores so many elements.
    Store(Memory, Scalar, u32),
    /// Starts to copy so many elements from a tensor to a tile.
    CopyAsync(Memory, Scalar, u32),
    /// Closes a group of copies.
    CommitCopies,
    /// Waits until at most so many groups of copies are under way.
    WaitForCopies(u32),
    /// One of two vectors; of width 1, of two structs.
    Select(Scalar, u32),
    /// Arithmetic of one scalar type.
    Arithmetic(Arithmetic, Scalar),
    /// Float to integer.
    Cast(Scalar, Scalar),
    /// 32 bits to an integer of 16.
    Narrow(Scalar),
    /// Arithmetic of vectors by instructions for pairs.
    Packed(Arithmetic, Scalar, u32),
    /// A function of a type.
    Function(Function, Scalar),
    /// Updates an element in one step.
    Update(Update),
    /// Takes 32 bits from another lane.
    ShuffleWord(Shuffle),
    /// Takes a scalar from another lane.
    Shuffle(Shuffle, Scalar),
    /// Takes a vector from another lane.
    ShuffleVector(Shuffle, Scalar, u32),
    /// Asks a warp or the block.
    Vote(Vote),
    /// Finds the lanes with an equal scalar.
    MatchAny(Scalar),
}

/// What C lacks.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Sub,
    Mul,
    Negate,
    Div,
    Rem,
    Shl,
    Shr,
    Min,
    Max,
    DivCeil,
}

impl Piece {
    /// The pieces that it calls.
    pub(super) fn calls(self) -> Vec<Piece> {
        match self {
            Piece::Arithmetic(operation, scalar) if scalar.is_half() => {
                half::arithmetic_calls(operation, scalar)
            }
            Piece::Function(function, own) if own.is_half() => half::function_calls(function, own),
            Piece::Arithmetic(_, scalar) | Piece::Function(_, scalar) if is_narrowed(scalar) => {
                let narrow = Piece::Narrow(scalar);
                if self.text().contains(&narrow.name()) { vec![narrow] } else { Vec::new() }
            }
            // Where the architecture has no such copies, it is these two.
            Piece::CopyAsync(memory, scalar, width) => {
                vec![Piece::Load(memory, scalar, width), Piece::Store(Memory::Shared, scalar, width)]
            }
            Piece::LoadUnaligned(memory, scalar, width) => unaligned::calls(memory, scalar, width),
            Piece::Vector(..)
            | Piece::SharedAddress
            | Piece::AlignedInside(..)
            | Piece::CommitCopies
            | Piece::WaitForCopies(_)
            | Piece::Load(..)
            | Piece::LoadOr(..)
            | Piece::LoadMatrices(..)
            | Piece::MatrixProduct(_)
            | Piece::Misalignment(_)
            | Piece::Store(..)
            | Piece::Select(..)
            | Piece::Arithmetic(..)
            | Piece::Cast(..)
            | Piece::Narrow(_)
            | Piece::Function(..)
            | Piece::Update(_)
            | Piece::Packed(..)
            | Piece::ShuffleWord(_)
            | Piece::Shuffle(..)
            | Piece::ShuffleVector(..)
            | Piece::Vote(_)
            | Piece::MatchAny(_) => Vec::new(),
        }
    }

    /// The name of what it defines.
    pub(super) fn name(self) -> String {
        match self {
            Piece::Vector(scalar, width) => element_type(scalar, width),
            Piece::SharedAddress => "shared_address".into(),
            Piece::Load(memory, scalar, width) => memory::load_name(memory, scalar, width),
            Piece::LoadOr(memory, scalar) => memory::load_or_name(memory, scalar),
            Piece::AlignedInside(scalar, width) => unaligned::inside_name(scalar, width),
            Piece::LoadUnaligned(memory, scalar, width) => {
                unaligned::load_unaligned_name(memory, scalar, width)
            }
            Piece::LoadMatrices(scalar, matrices) => matrix::load_name(scalar, matrices),
            Piece::MatrixProduct(product) => matrix::product_name(product),
            Piece::Misalignment(scalar) => unaligned::misalignment_name(scalar),
            Piece::Store(memory, scalar, width) => memory::store_name(memory, scalar, width),
            Piece::CopyAsync(memory, scalar, width) => memory::copy_name(memory, scalar, width),
            Piece::CommitCopies => "commit_copies".into(),
            Piece::WaitForCopies(pending) => format!("wait_for_copies_but_{pending}"),
            Piece::Select(scalar, width) => format!("select_{}", element_type(scalar, width)),
            Piece::Arithmetic(operation, scalar) if scalar.is_half() => {
                format!("{}_{}", operation.name().trim_start_matches("wrapping_"), scalar.name())
            }
            Piece::Arithmetic(operation, scalar) => format!("{}_{}", operation.name(), scalar.name()),
            Piece::Cast(from, to) => format!("cast_{}_{}", from.name(), to.name()),
            Piece::Narrow(to) => format!("narrow_{}", to.name()),
            Piece::Packed(operation, scalar, width) => {
                format!(
                    "{}_{}",
                    operation.name().trim_start_matches("wrapping_"),
                    element_type(scalar, width)
                )
            }
            Piece::Function(function, own) => function::name(function, own),
            Piece::Update(update) => update.name(),
            Piece::ShuffleWord(shuffle) => collective::word_name(shuffle),
            Piece::Shuffle(shuffle, scalar) => collective::shuffle_name(shuffle, scalar),
            Piece::ShuffleVector(shuffle, scalar, width) => collective::vector_name(shuffle, scalar, width),
            Piece::Vote(vote) => vote.name().into(),
            Piece::MatchAny(scalar) => collective::match_name(scalar),
        }
    }

    /// Its definition.
    pub(super) fn text(self) -> String {
        match self {
            Piece::Vector(scalar, width) => {
                let alignment = (scalar.bytes() * width).next_power_of_two().min(16);
                let (ty, name) = (element_type(scalar, 1), self.name());
                format!("struct alignas({alignment}) {name} {{ {ty} lane[{width}]; }};\n")
            }
            Piece::SharedAddress => {
                "__device__ __forceinline__ u32 shared_address(const void* pointer) {\n    \
                 return (u32)__cvta_generic_to_shared(pointer);\n}\n"
                    .into()
            }
            Piece::Load(memory, scalar, width) => memory::load(memory, scalar, width),
            Piece::LoadOr(memory, scalar) => memory::load_or(memory, scalar),
            Piece::AlignedInside(scalar, width) => unaligned::inside(scalar, width),
            Piece::LoadUnaligned(memory, scalar, width) => unaligned::load_unaligned(memory, scalar, width),
            Piece::LoadMatrices(scalar, matrices) => matrix::load(scalar, matrices),
            Piece::MatrixProduct(product) => matrix::product(product),
            Piece::Misalignment(scalar) => unaligned::misalignment(scalar),
            Piece::Store(memory, scalar, width) => memory::store(memory, scalar, width),
            Piece::CopyAsync(memory, scalar, width) => memory::copy(memory, scalar, width),
            Piece::CommitCopies => since_ampere(&self.name(), "cp.async.commit_group;"),
            Piece::WaitForCopies(pending) => {
                since_ampere(&self.name(), &format!("cp.async.wait_group {pending};"))
            }
            Piece::Select(scalar, 1) => {
                let (ty, name) = (element_type(scalar, 1), self.name());
                format!(
                    "__device__ __forceinline__ {ty} {name}(bool condition, {ty} yes, {ty} no) {{\n    \
                     return {ty}{{condition ? yes.bits : no.bits}};\n}}\n"
                )
            }
            Piece::Select(scalar, width) => {
                let (ty, name) = (element_type(scalar, width), self.name());
                let bits = if scalar.is_half() { ".bits" } else { "" };
                format!(
                    "__device__ __forceinline__ {ty} {name}(bool condition, {ty} yes, {ty} no) {{\n    \
                     #pragma unroll\n    \
                     for (u32 i = 0; i < {width}; ++i) yes.lane[i]{bits} = condition ? yes.lane[i]{bits} : no.lane[i]{bits};\n    \
                     return yes;\n}}\n"
                )
            }
            Piece::Arithmetic(operation, scalar) if scalar.is_half() => {
                half::arithmetic(operation, scalar, &self.name())
            }
            Piece::Arithmetic(operation, scalar) => {
                let (ty, name) = (scalar_type(scalar), self.name());
                let (parameters, result) = operation.definition(scalar);
                let parameters = parameters.replace("T ", &format!("{ty} "));
                format!("__device__ __forceinline__ {ty} {name}({parameters}) {{\n    return {result};\n}}\n")
            }
            Piece::Packed(operation, scalar, width) => half::packed(operation, scalar, width, &self.name()),
            Piece::Function(function, own) if own.is_half() => half::function(function, own, &self.name()),
            Piece::Function(function, own) => function::definition(function, own),
            Piece::Cast(from, to) if from.is_half() || to.is_half() => half::cast(from, to, &self.name()),
            Piece::Cast(from, to) => {
                let (name, from_ty, to_ty) = (self.name(), from.name(), to.name());
                format!(
                    "__device__ __forceinline__ {to_ty} {name}({from_ty} a) {{\n    return {};\n}}\n",
                    saturating(from, to)
                )
            }
            Piece::Narrow(to) => {
                let (name, ty) = (self.name(), to.name());
                format!(
                    "__device__ __forceinline__ {ty} {name}(u32 a) {{\n    {ty} result;\n    \
                     asm(\"cvt.u16.u32 %0, %1;\" : \"=h\"(result) : \"r\"(a));\n    return result;\n}}\n"
                )
            }
            Piece::Update(update) => update.text(),
            Piece::ShuffleWord(shuffle) => collective::word(shuffle),
            Piece::Shuffle(shuffle, scalar) => collective::shuffle(shuffle, scalar),
            Piece::ShuffleVector(shuffle, scalar, width) => collective::vector(shuffle, scalar, width),
            Piece::Vote(vote) => vote.text(),
            Piece::MatchAny(scalar) => collective::match_any(scalar),
        }
    }
}

impl Arithmetic {
    fn name(self) -> &'static str {
        match self {
            Arithmetic::Add => "wrapping_add",
            Arithmetic::Sub => "wrapping_sub",
            Arithmetic::Mul => "wrapping_mul",
            Arithmetic::Negate => "wrapping_neg",
            Arithmetic::Div => "wrapping_div",
            Arithmetic::Rem => "wrapping_rem",
            Arithmetic::Shl => "wrapping_shl",
            Arithmetic::Shr => "wrapping_shr",
            Arithmetic::Min => "min",
            Arithmetic::Max => "max",
            Arithmetic::DivCeil => "div_ceil",
        }
    }

    /// The parameters, `T` for the type, and the result.
    fn definition(self, scalar: Scalar) -> (&'static str, String) {
        let ty = scalar_type(scalar);
        // Small types are computed in 32 bits: C would promote them to `int`, which must not overflow. Shifts of an
        // index are computed in 64 bits: the amount may be more than a 32-bit index has.
        let wide = if scalar.bytes() < 4 { "u32" } else { scalar_type(unsigned(scalar)) };
        let shifted = if scalar.is_index() { "u64" } else { wide };
        let mask = 8 * scalar.bytes() - 1;
        let infix = |operator| narrowed(scalar, &format!("({wide})a {operator} ({wide})b"));
        let negated = narrowed(scalar, &format!("({wide})0 - ({wide})a"));
        let two = "T a, T b";
        match self {
            Arithmetic::Add => (two, infix('+')),
            Arithmetic::Sub => (two, infix('-')),
            Arithmetic::Mul => (two, infix('*')),
            Arithmetic::Negate => ("T a", negated),
            Arithmetic::Div if scalar.is_signed() => {
                (two, format!("b == 0 ? ({ty})0 : b == -1 ? {negated} : ({ty})(a / b)"))
            }
            Arithmetic::Div => (two, format!("b == 0 ? ({ty})0 : ({ty})(a / b)")),
            Arithmetic::Rem if scalar.is_signed() => {
                (two, format!("b == 0 || b == -1 ? ({ty})0 : ({ty})(a % b)"))
            }
            Arithmetic::Rem => (two, format!("b == 0 ? ({ty})0 : ({ty})(a % b)")),
            Arithmetic::Shl => {
                ("T a, u32 amount", narrowed(scalar, &format!("({shifted})a << (amount & {mask})")))
            }
            Arithmetic::Shr if scalar.is_index() => {
                let widened = if scalar.is_signed() { "i64" } else { "u64" };
                ("T a, u32 amount", format!("({ty})(({widened})a >> (amount & {mask}))"))
            }
            Arithmetic::Shr => ("T a, u32 amount", format!("({ty})(a >> (amount & {mask}))")),
            Arithmetic::Min => (two, "a < b ? a : b".into()),
            Arithmetic::Max => (two, "a > b ? a : b".into()),
            Arithmetic::DivCeil => (two, format!("b == 0 ? ({ty})0 : ({ty})(a / b + (a % b != 0))")),
        }
    }
}

/// Whether wider values become the type by an instruction of their own, [`Piece::Narrow`]. NVVM would turn a negation of
/// 32 bits whose result is cut to 16 into `neg.s16` or `abs.s16`, which ptxas takes to never overflow: where the value is then
/// widened, -32768 becomes 32768. It does not look through the instruction.
pub(super) fn is_narrowed(scalar: Scalar) -> bool {
    scalar.is_integer() && scalar.bytes() == 2
}

/// The value of a wider type in C, cut to the type.
pub(super) fn narrowed(scalar: Scalar, value: &str) -> String {
    if is_narrowed(scalar) {
        format!("{}({value})", Piece::Narrow(scalar).name())
    } else {
        format!("({})({value})", scalar_type(scalar))
    }
}

/// A function of one instruction that synchronises copies; where all copies are done at once there is none.
fn since_ampere(name: &str, instruction: &str) -> String {
    format!(
        "__device__ __forceinline__ void {name}() {{\n#if __CUDA_ARCH__ >= 800\n    \
         asm volatile(\"{instruction}\" : : : \"memory\");\n#endif\n}}\n"
    )
}

/// The conversion of the float `a` towards zero, out of range the nearest value, and zero for NaN. Both bounds are
/// powers of two, so they are exact floats.
fn saturating(from: Scalar, to: Scalar) -> String {
    let (low, high) = to.range().unwrap_or((0, 1));
    let bits = 8 * to.bytes() - u32::from(to.is_signed());
    let suffix = if from == Scalar::F32 { "f" } else { "" };
    let floor = if low < 0 { format!("-0x1p+{bits}{suffix}") } else { format!("0.0{suffix}") };
    let literal = |value| super::literal::int(to, value).text;
    let ty = to.name();
    format!(
        "a != a ? ({ty})0 : a <= {floor} ? ({ty}){} : a >= 0x1p+{bits}{suffix} ? ({ty}){} : ({ty})a",
        literal(low),
        literal(high)
    )
}

/// All definitions, types first, each kind in the order of first use.
pub(super) fn text(pieces: &[Piece]) -> Vec<String> {
    let rank = |piece: &&Piece| match piece {
        Piece::Vector(..) => 0,
        Piece::SharedAddress | Piece::AlignedInside(..) | Piece::Misalignment(_) | Piece::Narrow(_) => 1,
        Piece::Load(..)
        | Piece::LoadOr(..)
        | Piece::LoadMatrices(..)
        | Piece::Store(..)
        | Piece::Update(_) => 2,
        Piece::CopyAsync(..) | Piece::LoadUnaligned(..) | Piece::CommitCopies | Piece::WaitForCopies(_) => 3,
        Piece::ShuffleWord(_) | Piece::Vote(_) | Piece::MatchAny(_) | Piece::MatrixProduct(_) => 3,
        Piece::Shuffle(..) => 4,
        Piece::ShuffleVector(..) => 5,
        Piece::Select(..)
        | Piece::Arithmetic(..)
        | Piece::Cast(..)
        | Piece::Function(..)
        | Piece::Packed(..) => 6,
    };
    let mut sorted: Vec<&Piece> = pieces.iter().collect();
    sorted.sort_by_key(rank);
    sorted.into_iter().map(|piece| piece.text()).collect()
}
