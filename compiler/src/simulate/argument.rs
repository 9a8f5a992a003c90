//! Arguments of a run, and whether they fit the kernel.

use super::fault::{ArgumentProblem, Fault, FaultKind};
use crate::ir::{Base, Kernel, Param, ParamKind, Scalar};
use tileproof_model::report::Role;

/// An argument, for one parameter of the kernel.
#[derive(Debug)]
pub enum Argument<'a> {
    /// For a tensor.
    Tensor(TensorArgument<'a>),
    /// For a scalar: the bits of the value, in the low bits as wide as its type; the others are ignored. A bool is 0 or 1.
    Scalar(u64),
}

/// A tensor in host memory, as it would lie in device memory.
#[derive(Debug)]
pub struct TensorArgument<'a> {
    /// The elements, each with its bytes in little-endian order; what lies between rows is never touched.
    pub buffer: Buffer<'a>,
    /// The extents in elements, outermost first.
    pub extents: Vec<u64>,
    /// The distances between neighbours in elements, of all dimensions but the innermost, outermost first.
    pub strides: Vec<u64>,
    /// The byte address of the first element modulo 256. Device allocations have 0, views need not.
    pub base: u64,
}

/// The bytes of a tensor.
#[derive(Debug)]
pub enum Buffer<'a> {
    /// For a tensor that the kernel only reads.
    Read(&'a [u8]),
    /// For any tensor.
    Write(&'a mut [u8]),
}

impl Buffer<'_> {
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        match self {
            Buffer::Read(bytes) => bytes,
            Buffer::Write(bytes) => bytes,
        }
    }
}

/// Whether the arguments fit the parameters: their number, kinds, ranks, strides, sizes and whether they can be written.
pub(super) fn check(kernel: &Kernel, arguments: &[Argument<'_>]) -> Result<(), Fault> {
    if arguments.len() != kernel.params.len() {
        let kind = FaultKind::ArgumentCount { given: arguments.len(), expected: kernel.params.len() };
        return Err(Fault { kind, span: kernel.span, thread: None });
    }
    for ((handle, param), argument) in kernel.params.iter().zip(arguments) {
        let written = kernel
            .sites
            .iter()
            .any(|(_, site)| site.place.base == Base::Tensor(handle) && site.role != Role::Read);
        fits(param, written, argument).map_err(|problem| Fault {
            kind: FaultKind::Argument { name: param.name.clone(), problem },
            span: param.span,
            thread: None,
        })?;
    }
    Ok(())
}

fn fits(param: &Param, written: bool, argument: &Argument<'_>) -> Result<(), ArgumentProblem> {
    match (param.kind, argument) {
        (ParamKind::Scalar(_), Argument::Scalar(_)) => Ok(()),
        (ParamKind::Scalar(_), Argument::Tensor(_)) => Err(ArgumentProblem::NotAScalar),
        (ParamKind::Tensor { .. }, Argument::Scalar(_)) => Err(ArgumentProblem::NotATensor),
        (ParamKind::Tensor { element, rank, mutable }, Argument::Tensor(tensor)) => {
            if (mutable || written) && matches!(tensor.buffer, Buffer::Read(_)) {
                return Err(ArgumentProblem::ReadOnly);
            }
            tensor_fits(element, rank, mutable || written, tensor)
        }
    }
}

fn tensor_fits(
    element: Scalar,
    rank: u32,
    written: bool,
    tensor: &TensorArgument<'_>,
) -> Result<(), ArgumentProblem> {
    let (extents, strides) = (&tensor.extents, &tensor.strides);
    if extents.len() != rank as usize || strides.len() + 1 != rank as usize {
        return Err(ArgumentProblem::Rank { extents: extents.len(), strides: strides.len(), rank });
    }
    let base = tensor.base % 256;
    if !base.is_multiple_of(u64::from(element.bytes())) {
        return Err(ArgumentProblem::Base { base, bytes: element.bytes() });
    }
    if extents.contains(&0) {
        return Ok(());
    }
    let mut order: Vec<usize> = (0..strides.len()).rev().collect();
    order.sort_by_key(|dimension| strides[*dimension]);
    let mut span = *extents.last().unwrap_or(&1);
    for dimension in order {
        let (extent, stride) = (extents[dimension], strides[dimension]);
        if written && extent > 1 && stride < span {
            return Err(ArgumentProblem::Stride { dimension, stride, span });
        }
        span = span.saturating_add((extent - 1).saturating_mul(stride));
    }
    let needed = span.saturating_mul(u64::from(element.bytes()));
    let given = tensor.buffer.bytes().len();
    if needed > given as u64 { Err(ArgumentProblem::TooShort { needed, given }) } else { Ok(()) }
}
