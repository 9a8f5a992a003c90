//! The catalogue of codes.

/// A kind of error. The number is stable: people search for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// The item or the attribute does not parse.
    Syntax,
    /// A construct that a kernel cannot have, or not yet.
    Unsupported,
    /// The arguments of `#[tiled_kernel]`.
    Attribute,
    /// A parameter of a type that a kernel cannot take.
    Parameter,
    /// A name that the macro cannot see or a kernel cannot use.
    Name,
    /// A type that does not fit; rustc usually says it first.
    Type,
    /// A value that must be known at compile time and is not.
    Constant,
    /// A layout under which elements of the tile would collide or leave it.
    Layout,
    /// A vector width that no instruction has.
    VectorWidth,
    /// Lanes of a warp need different words of one shared-memory bank.
    BankConflict,
    /// A budget that accepts more than occurs, or covers nothing.
    Budget,
    /// A trust in what is proven, or that covers nothing.
    Trust,
    /// A warp touches more sectors than its bytes need.
    Uncoalesced,
    /// A vector access that is not aligned to its width.
    Misaligned,
    /// An index outside its tile.
    TileBounds,
    /// An index that may be outside its tensor.
    TensorBounds,
    /// An index computation that may leave the range of its type.
    IndexRange,
    /// A register array indexed by a value that is not constant after unrolling.
    RegisterIndex,
    /// A barrier or a collective that some of its threads may not reach.
    Divergent,
    /// More shared memory than a block has.
    SharedMemory,
    /// More threads than a block has, or none.
    BlockSize,
    /// Fewer resident blocks than the source demands.
    Residence,
    /// An instruction that an architecture of the kernel lacks.
    Instruction,
    /// Two threads touch one element of shared memory, one of them writes, and no barrier is between.
    Race,
    /// A block may touch an element of a tensor that another block or thread writes.
    GlobalRace,
    /// Shared memory is read where nobody may have written it.
    Uninitialised,
    /// A tensor of which not every element is known to be written, though the kernel claims it.
    Coverage,
}

impl Code {
    /// All codes, in order.
    pub const ALL: [Code; 27] = [
        Code::Syntax,
        Code::Unsupported,
        Code::Attribute,
        Code::Parameter,
        Code::Name,
        Code::Type,
        Code::Constant,
        Code::Layout,
        Code::VectorWidth,
        Code::BankConflict,
        Code::Budget,
        Code::Trust,
        Code::Uncoalesced,
        Code::Misaligned,
        Code::TileBounds,
        Code::TensorBounds,
        Code::IndexRange,
        Code::RegisterIndex,
        Code::Divergent,
        Code::SharedMemory,
        Code::BlockSize,
        Code::Residence,
        Code::Instruction,
        Code::Race,
        Code::GlobalRace,
        Code::Uninitialised,
        Code::Coverage,
    ];

    /// The code as printed.
    pub fn number(self) -> &'static str {
        match self {
            Code::Syntax => "TP0001",
            Code::Unsupported => "TP0002",
            Code::Attribute => "TP0003",
            Code::Parameter => "TP0004",
            Code::Name => "TP0005",
            Code::Type => "TP0006",
            Code::Constant => "TP0007",
            Code::Layout => "TP0010",
            Code::VectorWidth => "TP0011",
            Code::BankConflict => "TP0101",
            Code::Budget => "TP0102",
            Code::Trust => "TP0103",
            Code::Uncoalesced => "TP0201",
            Code::Misaligned => "TP0301",
            Code::TileBounds => "TP0401",
            Code::TensorBounds => "TP0402",
            Code::IndexRange => "TP0501",
            Code::RegisterIndex => "TP0601",
            Code::Divergent => "TP0602",
            Code::SharedMemory => "TP0701",
            Code::BlockSize => "TP0702",
            Code::Residence => "TP0703",
            Code::Instruction => "TP0704",
            Code::Race => "TP0801",
            Code::GlobalRace => "TP0802",
            Code::Uninitialised => "TP0803",
            Code::Coverage => "TP0804",
        }
    }
}
