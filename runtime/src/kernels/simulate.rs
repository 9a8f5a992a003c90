//! The library on the CPU: the same plans and the same kernels, with what a profiler would count.
//!
//! Each function returns the counts of all launches, one row an access site and launch.

use super::kernel::{self, Arguments, Words};
use super::matmul::{self, Factor, Scale};
use super::plan::{self, Side};
use super::run::{Machine, run};
use crate::description::Description;
use crate::error::Error;
use crate::host::{HostTensor, HostTensorMut};
use crate::scalar::{Element, ScalarType};
use crate::shape::{ErasedShape, Shape};
use crate::simulate::{Counts, HostArgument};
use tileproof_compiler::simulate::Buffer;

/// The bytes of both sides, with the address of each, and what has been counted.
struct Host<'a> {
    input: (&'a [u8], u64),
    output: (&'a mut [u8], u64),
    counts: Counts,
}

impl Machine for Host<'_> {
    fn run(
        &mut self,
        kernel: &'static Description,
        Arguments { numbers, input, rest, output }: &Arguments,
    ) -> Result<(), Error> {
        let shape = |words: &Words, bytes: usize, written: bool| {
            let length = bytes / words.element.bytes() as usize;
            ErasedShape::new(&words.extents, &words.strides, length, written)
        };
        let (bytes, address) = self.input;
        let read: Vec<(&Words, ErasedShape)> = [Some(input), rest.as_ref()]
            .into_iter()
            .flatten()
            .map(|words| Ok((words, shape(words, bytes.len() - words.offset, false)?)))
            .collect::<Result<_, Error>>()?;
        let to = &mut self.output.0[output.offset..];
        let to_shape = shape(output, to.len(), true)?;
        let to_address = self.output.1 + output.offset as u64;
        let numbers = numbers.iter().map(|number| HostArgument::scalar(*number));
        let read = read.iter().map(|(words, shape)| {
            let at = Buffer::Read(&bytes[words.offset..]);
            HostArgument::at(at, words.element, shape, address + words.offset as u64)
        });
        let written = HostArgument::at(Buffer::Write(to), output.element, &to_shape, to_address);
        let counts = kernel.simulate(&mut numbers.chain(read).chain([written]).collect::<Vec<_>>())?;
        self.counts.sites.extend(counts.sites);
        Ok(())
    }
}

/// As [`kernels::copy`](super::copy), on the CPU.
///
/// # Errors
/// As there, and what no kernel may do.
pub fn copy<T: Element, const R: usize>(
    input: &HostTensor<'_, T, R>,
    output: &mut HostTensorMut<'_, T, R>,
) -> Result<Counts, Error> {
    permuted("copy", input, std::array::from_fn(|d| d), output)
}

/// As [`transpose::transpose`](super::transpose::transpose), on the CPU.
///
/// # Errors
/// As there, and what no kernel may do.
pub fn transpose<T: Element>(
    input: &HostTensor<'_, T, 2>,
    output: &mut HostTensorMut<'_, T, 2>,
) -> Result<Counts, Error> {
    permuted("transpose", input, [1, 0], output)
}

/// As [`transpose::transpose_batched`](super::transpose::transpose_batched), on the CPU.
///
/// # Errors
/// As there, and what no kernel may do.
pub fn transpose_batched<T: Element>(
    input: &HostTensor<'_, T, 3>,
    output: &mut HostTensorMut<'_, T, 3>,
) -> Result<Counts, Error> {
    permuted("transpose_batched", input, [0, 2, 1], output)
}

/// As [`transpose::transpose_in_place`](super::transpose::transpose_in_place), on the CPU.
///
/// # Errors
/// As there, and what no kernel may do.
pub fn transpose_in_place<T: Element>(matrix: &mut HostTensorMut<'_, T, 2>) -> Result<Counts, Error> {
    super::check_square(&matrix.shape)?;
    let (extents, strides) = (matrix.shape.extents, matrix.shape.strides);
    let (kernel, element) = kernel::in_place(T::TYPE, extents[0], strides[0], address::<T>(matrix.offset));
    let shape = ErasedShape::new(&extents, &strides, matrix.data.len(), true)?;
    let bytes = Buffer::Write(bytemuck::cast_slice_mut(matrix.data));
    kernel.simulate(&mut [HostArgument::at(bytes, element, &shape, address::<T>(matrix.offset))])
}

/// As [`transpose::permute`](super::transpose::permute), on the CPU.
///
/// # Errors
/// As there, and what no kernel may do.
pub fn permute<T: Element, const R: usize>(
    input: &HostTensor<'_, T, R>,
    order: [usize; R],
    output: &mut HostTensorMut<'_, T, R>,
) -> Result<Counts, Error> {
    permuted("permute", input, order, output)
}

/// As [`fields::fields_of_records`](super::fields::fields_of_records), on the CPU.
///
/// # Errors
/// As there, and what no kernel may do.
pub fn fields_of_records<T: Element>(
    records: &HostTensor<'_, T, 2>,
    fields: &mut HostTensorMut<'_, T, 2>,
) -> Result<Counts, Error> {
    permuted("fields_of_records", records, [1, 0], fields)
}

/// As [`fields::records_of_fields`](super::fields::records_of_fields), on the CPU.
///
/// # Errors
/// As there, and what no kernel may do.
pub fn records_of_fields<T: Element>(
    fields: &HostTensor<'_, T, 2>,
    records: &mut HostTensorMut<'_, T, 2>,
) -> Result<Counts, Error> {
    permuted("records_of_fields", fields, [1, 0], records)
}

/// As [`matmul::matmul_batched`], on the CPU: as a GPU with one multiprocessor would.
///
/// # Errors
/// As there, and what no kernel may do.
pub fn matmul_batched<T: Factor>(
    scale: Scale,
    a: &HostTensor<'_, T, 3>,
    b: &HostTensor<'_, T, 3>,
    c: &mut HostTensorMut<'_, T, 3>,
) -> Result<Counts, Error> {
    let (a_shape, b_shape) = matmul::used(scale, &a.shape, &b.shape);
    let addresses = [address::<T>(a.offset), address::<T>(b.offset)];
    let (kernel, [a_extents, b_extents]) = match T::TYPE {
        ScalarType::F32 => (matmul::kernel_of_cores(c.shape.extents, 1), [None, None]),
        element => (
            matmul::kernel_of_tensor_cores(element, &c.shape, address::<T>(c.offset)),
            matmul::aligned([&a_shape, &b_shape], addresses),
        ),
    };
    let (mut a_copy, mut b_copy) = (Vec::new(), Vec::new());
    let (a_data, a_shape, a_at) = read_of(a.data, &a_shape, addresses[0], a_extents, &mut a_copy)?;
    let (b_data, b_shape, b_at) = read_of(b.data, &b_shape, addresses[1], b_extents, &mut b_copy)?;
    let c_shape = ErasedShape::new(&c.shape.extents, &c.shape.strides, c.data.len(), true)?;
    let written = Buffer::Write(bytemuck::cast_slice_mut(c.data));
    kernel.simulate(&mut [
        HostArgument::at(Buffer::Read(bytemuck::cast_slice(a_data)), T::TYPE, &a_shape, a_at),
        HostArgument::at(Buffer::Read(bytemuck::cast_slice(b_data)), T::TYPE, &b_shape, b_at),
        HostArgument::at(written, T::TYPE, &c_shape, address::<T>(c.offset)),
        HostArgument::scalar(scale.alpha),
        HostArgument::scalar(scale.beta),
    ])
}

/// The operand, or what it is copied to, with its shape and where it begins.
fn read_of<'a, T: Factor>(
    data: &'a [T],
    shape: &Shape<3>,
    at: u64,
    extents: Option<[usize; 3]>,
    copy: &'a mut Vec<T>,
) -> Result<(&'a [T], ErasedShape, u64), Error> {
    let Some(extents) = extents else {
        return Ok((data, ErasedShape::new(&shape.extents, &shape.strides, data.len(), false)?, at));
    };
    let [_, rows, cols] = extents;
    copy.resize(extents.iter().product(), T::zeroed());
    let strides = [rows * cols, cols, 1];
    let mut part = HostTensorMut::with_strides(copy, shape.extents, strides)?;
    let own = HostTensor { data, shape: *shape, offset: (at / size_of::<T>() as u64) as usize };
    permuted("copy", &own, [0, 1, 2], &mut part)?;
    let shape = ErasedShape::new(&extents, &strides, copy.len(), false)?;
    Ok((copy, shape, 0))
}

fn permuted<T: Element, const R: usize>(
    name: &'static str,
    input: &HostTensor<'_, T, R>,
    order: [usize; R],
    output: &mut HostTensorMut<'_, T, R>,
) -> Result<Counts, Error> {
    let (from, to) = (input.shape, output.shape);
    let strides = plan::permuted(name, &from.extents, &from.strides, order, &to.extents)?;
    let (from_address, to_address) = (address::<T>(input.offset), address::<T>(output.offset));
    let plan = plan::plan(
        T::TYPE,
        &to.extents,
        Side { strides: &strides, address: from_address },
        Side { strides: &to.strides, address: to_address },
    );
    let mut host = Host {
        input: (bytemuck::cast_slice(input.data), from_address),
        output: (bytemuck::cast_slice_mut(output.data), to_address),
        counts: Counts { sites: Vec::new() },
    };
    run(&plan, &mut host)?;
    Ok(host.counts)
}

/// Where a tensor begins in the data that it is a part of, in bytes.
fn address<T>(offset: usize) -> u64 {
    (offset * size_of::<T>()) as u64
}
