//! The form that warps execute: a flat list of instructions over registers of 32 lanes.
//!
//! A warp is a program counter, a mask of active lanes, a stack of masks and its registers, so it can stop before any
//! instruction and go on later. Registers hold, in this order: the constants of the launch, the coordinates of thread
//! and block, the kernel's locals (register arrays element by element, vectors value by value), and temporaries.

use crate::ir::{
    AtomicOp, BinaryOp, CollectiveOp, CompareOp, Function, Issuer, Layout, Matrices, Proxy, Scalar, UnaryOp,
};
use crate::span::SpanId;
use tileproof_model::access::Operation;
use tileproof_model::report::Role;

/// The number of a register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Register(pub(super) u32);

impl Register {
    /// The register so many places further.
    pub(super) fn plus(self, count: u32) -> Register {
        Register(self.0 + count)
    }
}

/// The number of an instruction.
pub(super) type Counter = usize;

/// A kernel, compiled for one launch.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) instructions: Vec<Instruction>,
    /// Where each instruction comes from.
    pub(super) spans: Vec<SpanId>,
    /// How many registers a warp has.
    pub(super) registers: u32,
    /// Registers with the same value in all lanes of all warps.
    pub(super) constants: Vec<(Register, u64)>,
    /// The thread's coordinates: three registers.
    pub(super) thread: Register,
    /// The block's coordinates: three registers.
    pub(super) block: Register,
    /// What [`Instruction::Access`] names.
    pub(super) accesses: Vec<Access>,
    /// What [`Instruction::Collective`] names.
    pub(super) collectives: Vec<Collective>,
    /// What [`Instruction::ReadElement`] and [`Instruction::WriteElement`] name.
    pub(super) elements: Vec<Element>,
}

/// One step of a warp. Values are computed in all lanes, effects happen in the active ones.
#[derive(Clone, Copy, Debug)]
pub(super) enum Instruction {
    Unary {
        op: UnaryOp,
        scalar: Scalar,
        destination: Register,
        operand: Register,
    },
    Binary {
        op: BinaryOp,
        scalar: Scalar,
        destination: Register,
        left: Register,
        right: Register,
    },
    Compare {
        op: CompareOp,
        scalar: Scalar,
        destination: Register,
        left: Register,
        right: Register,
    },
    Select {
        destination: Register,
        condition: Register,
        yes: Register,
        no: Register,
    },
    Cast {
        from: Scalar,
        to: Scalar,
        destination: Register,
        operand: Register,
    },
    /// A function of the type `own`; operands that it has not are the first again.
    Call {
        function: Function,
        own: Scalar,
        destination: Register,
        operands: [Register; 3],
    },
    /// Copies `width` registers in the active lanes, `times` times one after another.
    Copy {
        destination: Register,
        source: Register,
        width: u32,
        times: u32,
    },
    ReadElement {
        element: usize,
        destination: Register,
    },
    WriteElement {
        element: usize,
        source: Register,
    },
    /// Loads or stores.
    Access {
        access: usize,
    },
    /// Loads the aligned vectors that hold the first and the last element of a vector, where both are inside the tensor;
    /// `whole` gets whether they are.
    LoadUnaligned {
        first: usize,
        last: usize,
        whole: Register,
    },
    /// Loads the rows of matrices, a row a lane, and gives each lane its values of the matrices.
    LoadMatrices {
        access: usize,
        matrices: Matrices,
        destination: Register,
    },
    /// Starts to copy what the first access loads to where the second stores; zeros where `inside` is false.
    StartCopy {
        source: usize,
        destination: usize,
        inside: Register,
    },
    /// Closes each lane's group of copies.
    CommitCopies,
    /// Ends each lane's copies but those of its last groups.
    WaitForCopies {
        pending: u32,
    },
    /// Waits for the block.
    Barrier,
    /// Orders the memory accesses of the warp's lanes.
    WarpBarrier,
    /// Computes something with the other lanes, or waits for the block and computes something with it.
    Collective {
        collective: usize,
    },
    /// Goes on with the lanes where the condition is true, or at `otherwise` if there is none.
    Split {
        condition: Register,
        otherwise: Counter,
    },
    /// Goes on with the other lanes of the split, or at `end` if there is none.
    Else {
        end: Counter,
    },
    /// Goes on with all lanes that were active before the split, the narrowing or the loop.
    Join,
    /// Goes on with the lanes where the condition is `when`, even if there is none. Only expressions stand between it
    /// and its [`Instruction::Join`]: what they compute for the other lanes is not used, so it may fail there.
    Narrow {
        condition: Register,
        when: bool,
    },
    /// Begins a loop.
    EnterLoop {
        scalar: Scalar,
        step: Register,
    },
    /// Goes on with the lanes whose variable is below the end, or at `exit` if there is none.
    TestLoop {
        scalar: Scalar,
        variable: Register,
        end: Register,
        exit: Counter,
    },
    /// Adds the step and goes to the test.
    Advance {
        scalar: Scalar,
        variable: Register,
        step: Register,
        test: Counter,
    },
    /// Begins a loop with a condition.
    EnterWhile,
    /// Goes on with the lanes where the condition is true, or at `exit` if there is none.
    TestWhile {
        condition: Register,
        exit: Counter,
    },
    /// Goes on elsewhere.
    Jump {
        to: Counter,
    },
    /// The end of the kernel.
    End,
}

/// An element of a register array, or a value of a vector, by indices that are computed.
#[derive(Debug)]
pub(super) struct Element {
    /// The variable's name; empty for a vector without one.
    pub(super) object: Box<str>,
    pub(super) base: Register,
    pub(super) extents: Vec<u32>,
    /// One register an extent.
    pub(super) index: Vec<Register>,
    /// Registers an element.
    pub(super) width: u32,
}

/// What lanes or threads compute together.
#[derive(Clone, Copy, Debug)]
pub(super) struct Collective {
    pub(super) op: CollectiveOp,
    /// The first register of the result.
    pub(super) destination: Register,
    /// The first register of each operand; operands that it has not are the first again.
    pub(super) operands: [Register; 3],
    /// The registers of the result.
    pub(super) width: u32,
}

/// A load or store.
#[derive(Debug)]
pub(super) struct Access {
    pub(super) site: usize,
    pub(super) role: Role,
    /// Whether it is half of an asynchronous copy.
    pub(super) proxy: Proxy,
    pub(super) operation: Operation,
    pub(super) issuer: Issuer,
    pub(super) memory: Memory,
    /// The name of the tile or tensor.
    pub(super) object: Box<str>,
    pub(super) element: Scalar,
    /// In elements, one a dimension.
    pub(super) extents: Vec<u64>,
    /// In elements, one a dimension, the innermost 1. Not the whole truth for a layout that swizzles.
    pub(super) strides: Vec<u64>,
    /// The layout of a tile that strides do not describe.
    pub(super) swizzle: Option<Swizzle>,
    /// The byte address of the first element: in its block's shared memory, or modulo 256.
    pub(super) base: u64,
    /// One register a dimension.
    pub(super) index: Vec<Register>,
    /// How many elements a lane.
    pub(super) width: u32,
    /// Its width, as the hardware model counts it.
    pub(super) model_width: u32,
    /// The first of `width` registers that are read or written.
    pub(super) data: Register,
    /// Of an atomic, the update; its data register gets the value before.
    pub(super) update: Option<Update>,
}

/// An atomic update.
#[derive(Clone, Copy, Debug)]
pub(super) struct Update {
    pub(super) op: AtomicOp,
    /// The value.
    pub(super) value: Register,
    /// The value that a compare-exchange expects; of others the value again.
    pub(super) expected: Register,
}

/// A layout with the extents it is for.
#[derive(Debug)]
pub(super) struct Swizzle {
    pub(super) layout: Layout,
    pub(super) extents: Vec<u32>,
}

/// Which memory an access goes to.
#[derive(Clone, Copy, Debug)]
pub(super) enum Memory {
    /// The tensor that is this argument.
    Tensor(usize),
    /// This tile.
    Tile(usize),
}

impl Access {
    /// Bytes a lane.
    pub(super) fn lane_bytes(&self) -> u32 {
        self.width * self.element.bytes()
    }
}
