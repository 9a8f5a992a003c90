//! Matrix products.
//!
//! **Products of `f32`** are computed in `f32`, on the CUDA cores: the products of a sum are added in order of `k` by fused
//! multiplications and additions, each of which rounds once. So an element differs from the exact sum by at most
//! `K · 2⁻²⁴ / (1 − K · 2⁻²⁴)` times the sum of the absolute values of its products (Higham, *Accuracy and Stability of Numerical
//! Algorithms*, 3.1), and is the same on every GPU, and on the CPU.
//!
//! **Products of `f16` and `bf16`** are computed on the tensor cores, from sm_80 on: products are exact, sums are of `f32` and within
//! `(K + 1) · 2⁻²²` times the sum of the absolute values of the exact one, as [`mma`](crate::prelude::mma) says, and what is written is
//! rounded once to the element. Operands whose rows do not begin at multiples of 16 bytes, or end within eight elements, are
//! first copied to memory of the stream where they do.

mod cores;
mod tensor_cores;

use super::device;
use crate::argument::{DeviceArgument, address};
use crate::description::{Description, Kernel};
use crate::error::Error;
use crate::launch as launches;
use crate::prelude::{bf16, f16};
use crate::scalar::{Element, ScalarType};
use crate::shape::Shape;
use crate::view::{TensorView, TensorViewMut};
use cudarc::driver::sys::CUdevice_attribute;
use cudarc::driver::{CudaSlice, CudaStream, ValidAsZeroBits};
use std::sync::Arc;

/// An element of matrices that can be multiplied.
pub trait Factor: Element + ValidAsZeroBits + sealed::Sealed {}

impl Factor for f32 {}
impl Factor for f16 {}
impl Factor for bf16 {}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for super::f16 {}
    impl Sealed for super::bf16 {}
}

/// What products are multiplied by, and what is added to them: `c = alpha · a · b + beta · c`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// The factor of the product. Where it is 0, the operands are not read.
    pub alpha: f32,
    /// The factor of what `c` was. Where it is 0, `c` is not read: it may be uninitialised, or hold what is no number.
    pub beta: f32,
}

/// The product alone.
impl Default for Scale {
    fn default() -> Self {
        Scale { alpha: 1.0, beta: 0.0 }
    }
}

/// Writes the product of two matrices: `[M, K]` by `[K, N]` to `[M, N]`, of any extents and pitches.
///
/// Returns before the work is done, as a launch does. Where `K` is 0, `c` becomes zeros.
///
/// # Errors
/// If the extents do not agree, or `c` overlaps an operand in memory; and what a launch refuses: see [`Error`].
pub fn matmul<T: Factor>(
    stream: &Arc<CudaStream>,
    a: &TensorView<'_, T, 2>,
    b: &TensorView<'_, T, 2>,
    c: &mut TensorViewMut<'_, T, 2>,
) -> Result<(), Error> {
    matmul_scaled(stream, Scale::default(), a, b, c)
}

/// Writes `alpha · a · b + beta · c` to `c`. The two terms are rounded, and their sum is.
///
/// # Errors
/// As of [`matmul`].
pub fn matmul_scaled<T: Factor>(
    stream: &Arc<CudaStream>,
    scale: Scale,
    a: &TensorView<'_, T, 2>,
    b: &TensorView<'_, T, 2>,
    c: &mut TensorViewMut<'_, T, 2>,
) -> Result<(), Error> {
    let [a, b] = [a, b].map(|side| TensorView { data: side.data.slice(..), shape: as_batch(&side.shape) });
    let shape = as_batch(&c.shape);
    matmul_batched(stream, scale, &a, &b, &mut TensorViewMut { data: c.data.slice_mut(..), shape })
}

/// The same for each matrix of a batch: `[B, M, K]` by `[B, K, N]` to `[B, M, N]`. A stride of 0 uses one operand for all.
///
/// # Errors
/// As of [`matmul`].
pub fn matmul_batched<T: Factor>(
    stream: &Arc<CudaStream>,
    scale: Scale,
    a: &TensorView<'_, T, 3>,
    b: &TensorView<'_, T, 3>,
    c: &mut TensorViewMut<'_, T, 3>,
) -> Result<(), Error> {
    let (a_shape, b_shape) = used(scale, &a.shape, &b.shape);
    let a = TensorView { data: a.data.slice(..), shape: a_shape };
    let b = TensorView { data: b.data.slice(..), shape: b_shape };
    if T::TYPE == ScalarType::F32 {
        let multiprocessors = stream
            .context()
            .attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
            .map_err(|source| Error::Driver { action: "count the multiprocessors", source })?;
        let kernel = kernel_of_cores(c.shape.extents, multiprocessors.unsigned_abs() as usize);
        return launch(kernel, stream, scale, (&a, &b), c);
    }
    let kernel = kernel_of_tensor_cores(T::TYPE, &c.shape, address(&c.data));
    let [a_extents, b_extents] = aligned([&a.shape, &b.shape], [address(&a.data), address(&b.data)]);
    let (a_copy, b_copy) = (copied(stream, &a, a_extents)?, copied(stream, &b, b_extents)?);
    let (a, b) = (read_from(&a_copy, a)?, read_from(&b_copy, b)?);
    launch(kernel, stream, scale, (&a, &b), c)
}

fn launch<T: Factor>(
    kernel: &'static Description,
    stream: &Arc<CudaStream>,
    scale: Scale,
    (a, b): (&TensorView<'_, T, 3>, &TensorView<'_, T, 3>),
    c: &mut TensorViewMut<'_, T, 3>,
) -> Result<(), Error> {
    let arguments = &mut [
        DeviceArgument::tensor(a),
        DeviceArgument::tensor(b),
        DeviceArgument::tensor_mut(c),
        DeviceArgument::scalar(scale.alpha),
        DeviceArgument::scalar(scale.beta),
    ];
    // SAFETY: the description is the macro's, of a kernel of this library, and it takes nothing for granted.
    unsafe { launches::launch(kernel, stream, arguments) }
}

/// An operand that is copied first: its memory, and the extents there.
type Copied<T> = Option<(CudaSlice<T>, [usize; 3])>;

/// A copy with these extents, zeros behind the operand's own rows and columns.
fn copied<T: Factor>(
    stream: &Arc<CudaStream>,
    side: &TensorView<'_, T, 3>,
    extents: Option<[usize; 3]>,
) -> Result<Copied<T>, Error> {
    let Some(extents) = extents else { return Ok(None) };
    let elements = extents.iter().product::<usize>().max(1);
    let mut copy = stream
        .alloc_zeros::<T>(elements)
        .map_err(|source| Error::Driver { action: "allocate a copy of an operand", source })?;
    let [_, rows, cols] = extents;
    let strides = [rows * cols, cols, 1];
    let mut part = TensorViewMut::with_strides(&mut copy, side.shape.extents, strides)?;
    device::permute("copy", stream, side, [0, 1, 2], &mut part)?;
    Ok(Some((copy, extents)))
}

/// Where an operand is read: its copy, if there is one.
fn read_from<'a, T: Factor>(
    copy: &'a Copied<T>,
    side: TensorView<'a, T, 3>,
) -> Result<TensorView<'a, T, 3>, Error> {
    match copy {
        Some((memory, extents)) => Ok(TensorView::new(memory, *extents)?),
        None => Ok(side),
    }
}

/// A matrix as a batch of one.
pub(super) fn as_batch(shape: &Shape<2>) -> Shape<3> {
    let ([rows, cols], [pitch, column]) = (shape.extents, shape.strides);
    Shape { extents: [1, rows, cols], strides: [shape.span, pitch, column], span: shape.span }
}

/// The shapes of what is read of the operands: without a factor no columns of the left one, and no rows of the right one.
pub(super) fn used(scale: Scale, a: &Shape<3>, b: &Shape<3>) -> (Shape<3>, Shape<3>) {
    let (mut a, mut b) = (*a, *b);
    if scale.alpha == 0.0 && a.extents[2] == b.extents[1] {
        (a.extents[2], b.extents[1]) = (0, 0);
        (a.span, b.span) = (0, 0);
    }
    (a, b)
}

/// The shapes of a block's tile, and which share of a multiprocessor's multiplications it reaches where there are enough blocks: of
/// cuBLAS at 4096³ on an H200, by an earlier form of both.
const TILES: [(usize, usize, f64, &Description); 2] = [
    (128, 128, 0.98, cores::matmul_cores_128_128_8_16_8::DESCRIPTION),
    (64, 64, 0.80, cores::matmul_cores_64_64_16_8_4::DESCRIPTION),
];

/// The kernels of the tensor cores: of an element, the one that writes vectors and the one that writes single elements.
fn tensor_cores(element: ScalarType) -> [&'static Description; 2] {
    match element {
        ScalarType::F16 => [
            tensor_cores::matmul_tensor_cores_f16_4::DESCRIPTION,
            tensor_cores::matmul_tensor_cores_f16_1::DESCRIPTION,
        ],
        _ => [
            tensor_cores::matmul_tensor_cores_bf16_4::DESCRIPTION,
            tensor_cores::matmul_tensor_cores_bf16_1::DESCRIPTION,
        ],
    }
}

/// All kernels of products.
pub(super) fn all() -> Vec<&'static Description> {
    let halves = [ScalarType::F16, ScalarType::Bf16].into_iter().flat_map(tensor_cores);
    TILES.map(|(_, _, _, kernel)| kernel).into_iter().chain(halves).collect()
}

/// The kernel of the tensor cores that writes a result of this shape at this address.
pub(super) fn kernel_of_tensor_cores(
    element: ScalarType,
    c: &Shape<3>,
    address: u64,
) -> &'static Description {
    let [vectors, elements] = tensor_cores(element);
    let in_vectors = address.is_multiple_of(8)
        && [c.extents[2], c.strides[0], c.strides[1]].iter().all(|number| number.is_multiple_of(4));
    if in_vectors { vectors } else { elements }
}

/// The extents that copies of the operands must have, of 2 bytes an element, where they cannot be read in vectors of eight as they are.
pub(super) fn aligned([a, b]: [&Shape<3>; 2], addresses: [u64; 2]) -> [Option<[usize; 3]>; 2] {
    let depth = a.extents[2].next_multiple_of(8);
    let a_extents = [a.extents[0], a.extents[1], depth];
    let rows = if a.extents[2] == b.extents[1] { depth } else { b.extents[1] };
    let b_extents = [b.extents[0], rows, b.extents[2].next_multiple_of(8)];
    let must = |(shape, address, extents): (&Shape<3>, u64, [usize; 3])| {
        let is_aligned =
            address.is_multiple_of(16) && shape.strides[..2].iter().all(|stride| stride.is_multiple_of(8));
        (extents != shape.extents || !is_aligned).then_some(extents)
    };
    [(a, addresses[0], a_extents), (b, addresses[1], b_extents)].map(must)
}

/// The kernel that is done first: a multiprocessor has so many tiles that its share is rounded up to, each as long as its sums are
/// many.
pub(super) fn kernel_of_cores(
    [batch, rows, cols]: [usize; 3],
    multiprocessors: usize,
) -> &'static Description {
    let time = |(height, width, share, _): &(usize, usize, f64, _)| {
        let tiles = batch.saturating_mul(rows.div_ceil(*height)).saturating_mul(cols.div_ceil(*width));
        tiles.div_ceil(multiprocessors.max(1)) as f64 * (height * width) as f64 / share
    };
    let least = TILES.iter().min_by(|a, b| time(a).total_cmp(&time(b)));
    least.map_or(TILES[0].3, |(_, _, _, kernel)| kernel)
}

#[cfg(test)]
mod tests {
    use super::{aligned, kernel_of_cores};
    use crate::shape::Shape;

    /// As an earlier form was measured on an H200: 0.62 and 1.06 of cuBLAS at 1024³, 0.95 and 0.82 at 2048³.
    #[test]
    fn the_kernel_that_is_done_first() {
        let name = |extents| kernel_of_cores(extents, 132).name;
        assert_eq!(name([1, 1024, 1024]), "matmul_cores_64_64_16_8_4");
        assert_eq!(name([1, 2048, 2048]), "matmul_cores_128_128_8_16_8");
        assert_eq!(name([1, 4095, 4095]), "matmul_cores_128_128_8_16_8");
        assert_eq!(name([1, 40, 8192]), "matmul_cores_64_64_16_8_4");
        assert_eq!(name([0, 0, 0]), "matmul_cores_128_128_8_16_8");
        assert_eq!(name([1000, 64, 64]), "matmul_cores_64_64_16_8_4");
    }

    #[test]
    fn operands_that_are_copied() {
        let shape = |extents: [usize; 3], pitch: usize| {
            let strides = [extents[1] * pitch, pitch, 1];
            Shape { extents, strides, span: extents[0] * extents[1] * pitch }
        };
        let (a, b) = (shape([1, 5, 16], 16), shape([1, 16, 24], 32));
        assert_eq!(aligned([&a, &b], [0, 32]), [None, None]);
        assert_eq!(aligned([&a, &b], [8, 2]), [Some([1, 5, 16]), Some([1, 16, 24])]);
        assert_eq!(aligned([&a, &shape([1, 16, 21], 24)], [0, 0]), [None, Some([1, 16, 24])]);
        let (a, b) = (shape([2, 5, 15], 16), shape([2, 15, 24], 24));
        assert_eq!(aligned([&a, &b], [0, 0]), [Some([2, 5, 16]), Some([2, 16, 24])]);
    }
}
