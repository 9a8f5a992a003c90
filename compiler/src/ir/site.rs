//! Accesses to memory.

use super::{Budget, Expr, Handle, Matrices, Param, Part, Tile, Trust, UpdateForm};
use crate::span::SpanId;
use tileproof_model::access::Operation;
pub use tileproof_model::report::Role;

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
    /// What ptxas makes of it, if it is an update.
    pub form: Option<UpdateForm>,
    /// The matrices that the warp reads, if it does: then the place of each lane is the row that it names.
    pub matrices: Option<Matrices>,
    /// The budget that covers it.
    pub budget: Option<Handle<Budget>>,
    /// The innermost trust that covers it.
    pub trust: Option<Handle<Trust>>,
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
    /// The thread starts it and goes on: half of a [`Copy`](super::Copy).
    Async,
}

/// Which lanes of a warp execute an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Issuer {
    /// Every active lane, each with its own address.
    EveryLane,
    /// One active lane for all: an update of one element whose lanes ptxas adds up, or the like, beforehand.
    OneLane,
    /// The same where all 32 lanes are active; elsewhere every active lane.
    OneLaneOfFullWarp,
}

impl Issuer {
    /// The lanes that access memory, of those that are active.
    pub fn lanes(self, active: u32) -> u32 {
        let one = active & active.wrapping_neg();
        match self {
            Issuer::EveryLane => active,
            Issuer::OneLane => one,
            Issuer::OneLaneOfFullWarp if active == u32::MAX => one,
            Issuer::OneLaneOfFullWarp => active,
        }
    }
}

impl Site {
    /// The instruction, as the hardware model names it.
    pub fn operation(&self) -> Operation {
        match (self.place.base, self.role, self.proxy) {
            (Base::Tensor(_), Role::Read, Proxy::Generic | Proxy::Async) => Operation::LoadGlobal,
            (Base::Tensor(_), Role::Write, Proxy::Generic | Proxy::Async) => Operation::StoreGlobal,
            (Base::Tensor(_), Role::Update, Proxy::Generic | Proxy::Async) => Operation::AtomicGlobal,
            (Base::Tile(_), Role::Read, Proxy::Generic | Proxy::Async) => match self.matrices {
                None => Operation::LoadShared,
                Some(Matrices { transposed: false, .. }) => Operation::LoadMatrix,
                Some(Matrices { transposed: true, .. }) => Operation::LoadMatrixTransposed,
            },
            (Base::Tile(_), Role::Write, Proxy::Generic) => Operation::StoreShared,
            (Base::Tile(_), Role::Write, Proxy::Async) => Operation::CopyAsync,
            (Base::Tile(_), Role::Update, Proxy::Generic | Proxy::Async) => match self.form {
                None | Some(UpdateForm::Instruction) => Operation::AtomicShared,
                Some(UpdateForm::Count) => Operation::CountShared,
                Some(UpdateForm::Compare) => Operation::CompareShared,
                Some(UpdateForm::Loop) => Operation::LoopShared,
            },
        }
    }
}
