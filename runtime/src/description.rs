//! What `#[tiled_kernel]` leaves of a kernel: constants, from which everything at run time is made.
//!
//! The macro writes one `static` [`Description`] a kernel, and thin typed methods that forward to it. All of it is plain
//! data, so that the macro's output needs no code to construct it.

use crate::scalar::ScalarType;
pub use tileproof_model::host::HostOp;
use tileproof_model::language::{extent_text, stride_text};
use tileproof_model::limits::dynamic_shared_bytes;
use tileproof_model::report::Report;

/// One kernel.
///
/// # The entry point
///
/// The CUDA text holds `extern "C" __global__ void NAME(…)`, where NAME is [`name`](Self::name). Its parameters are, in
/// the order of [`params`](Self::params): of a tensor, the pointer to its first element, its extents, outermost first, and
/// its strides but the innermost, in elements; of a scalar, its value. Extents, strides, `usize` and `isize` scalars have the
/// kernel's index width ([`IndexWidth`]); a `bool` is one byte.
#[derive(Debug)]
pub struct Description {
    /// The name of the function, and of the entry point.
    pub name: &'static str,
    /// The attribute's arguments, printed canonically.
    pub attribute: &'static str,
    /// The function, printed canonically.
    pub item: &'static str,
    /// The items around the function that it uses, printed canonically.
    pub shared: &'static str,
    /// The CUDA text.
    pub cuda: &'static str,
    /// Lines of the CUDA text, counted from 1 and ascending, each with the line of [`file`](Self::file) it comes from.
    pub lines: &'static [(u32, u32)],
    /// The Rust source file, as rustc names it.
    pub file: &'static str,
    /// Whether the CUDA text has a twin with 32-bit indices.
    pub narrow: bool,
    /// Threads a block: x, y, z.
    pub block: [u32; 3],
    /// The parameters, in order.
    pub params: &'static [Param],
    /// Blocks of the grid: x, y, z.
    pub grid: [&'static [HostOp]; 3],
    /// The kernel's contracts and what else was left to the launch.
    pub checks: &'static [LaunchCheck],
    /// What the compiler proved.
    pub report: Report,
}

/// The item that stands for a kernel.
pub trait Kernel {
    /// The kernel.
    const DESCRIPTION: &'static Description;
}

/// A parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub kind: ParamKind,
}

/// The kinds of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A tensor in device memory.
    Tensor {
        /// The type of its elements.
        element: ScalarType,
        /// The number of extents.
        rank: u32,
        /// Whether the kernel writes it.
        mutable: bool,
        /// Bytes that the address of its first element must be a multiple of.
        alignment: u32,
    },
    /// A value.
    Scalar(ScalarType),
}

/// A condition that must hold for a launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaunchCheck {
    /// A program whose result is 0 (violated) or 1.
    pub condition: &'static [HostOp],
    /// The condition as the source has it.
    pub text: &'static str,
}

/// How wide extents, strides and indices are in a twin of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IndexWidth {
    /// 32 bits, for tensors whose elements lie within 2³¹ elements.
    Narrow,
    /// 64 bits, for all others: the CUDA text with `TILEPROOF_WIDE` defined.
    Wide,
}

impl Description {
    /// The twin that launches prefer: the narrow one where there is one.
    pub fn preferred_width(&self) -> IndexWidth {
        if self.narrow { IndexWidth::Narrow } else { IndexWidth::Wide }
    }

    /// Dynamic shared memory of a block, in bytes: what a launch passes, and opts in to. 0 where static memory suffices.
    pub fn dynamic_shared_bytes(&self) -> u32 {
        dynamic_shared_bytes(self.report.shared_bytes)
    }

    /// What the compiler proved.
    pub fn report(&'static self) -> &'static Report {
        &self.report
    }
}

impl Param {
    /// How the source spells an extent of this parameter: `input.rows()`.
    pub(crate) fn extent_text(&self, d: u32) -> String {
        extent_text(self.name, self.rank(), d)
    }

    /// How the source spells a stride of this parameter: `input.pitch()`.
    pub(crate) fn stride_text(&self, d: u32) -> String {
        stride_text(self.name, self.rank(), d)
    }

    fn rank(&self) -> u32 {
        match self.kind {
            ParamKind::Tensor { rank, .. } => rank,
            ParamKind::Scalar(_) => 0,
        }
    }
}
