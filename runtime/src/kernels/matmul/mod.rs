//! Matrix products.
//!
//! Products of `f32` are computed in `f32`, on the CUDA cores: the products of a sum are added in order of `k` by fused multiplications
//! and additions, each of which rounds once. So an element differs from the exact sum by at most `K · 2⁻²⁴ / (1 − K · 2⁻²⁴)` times
//! the sum of the absolute values of its products (Higham, *Accuracy and Stability of Numerical Algorithms*, 3.1), and is the same on
//! every GPU, and on the CPU.

mod cores;

use crate::argument::DeviceArgument;
use crate::description::{Description, Kernel};
use crate::error::Error;
use crate::launch;
use crate::shape::Shape;
use crate::view::{TensorView, TensorViewMut};
use cudarc::driver::CudaStream;
use cudarc::driver::sys::CUdevice_attribute;
use std::sync::Arc;

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
pub fn matmul(
    stream: &Arc<CudaStream>,
    a: &TensorView<'_, f32, 2>,
    b: &TensorView<'_, f32, 2>,
    c: &mut TensorViewMut<'_, f32, 2>,
) -> Result<(), Error> {
    matmul_scaled(stream, Scale::default(), a, b, c)
}

/// Writes `alpha · a · b + beta · c` to `c`. The two terms are rounded, and their sum is.
///
/// # Errors
/// As of [`matmul`].
pub fn matmul_scaled(
    stream: &Arc<CudaStream>,
    scale: Scale,
    a: &TensorView<'_, f32, 2>,
    b: &TensorView<'_, f32, 2>,
    c: &mut TensorViewMut<'_, f32, 2>,
) -> Result<(), Error> {
    let [a, b] = [a, b].map(|side| TensorView { data: side.data.slice(..), shape: as_batch(&side.shape) });
    let shape = as_batch(&c.shape);
    matmul_batched(stream, scale, &a, &b, &mut TensorViewMut { data: c.data.slice_mut(..), shape })
}

/// The same for each matrix of a batch: `[B, M, K]` by `[B, K, N]` to `[B, M, N]`. A stride of 0 uses one operand for all.
///
/// # Errors
/// As of [`matmul`].
pub fn matmul_batched(
    stream: &Arc<CudaStream>,
    scale: Scale,
    a: &TensorView<'_, f32, 3>,
    b: &TensorView<'_, f32, 3>,
    c: &mut TensorViewMut<'_, f32, 3>,
) -> Result<(), Error> {
    let multiprocessors = stream
        .context()
        .attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
        .map_err(|source| Error::Driver { action: "count the multiprocessors", source })?;
    let kernel = kernel(c.shape.extents, multiprocessors.unsigned_abs() as usize);
    let (a_shape, b_shape) = used(scale, &a.shape, &b.shape);
    let a = TensorView { data: a.data.slice(..), shape: a_shape };
    let b = TensorView { data: b.data.slice(..), shape: b_shape };
    let arguments = &mut [
        DeviceArgument::tensor(&a),
        DeviceArgument::tensor(&b),
        DeviceArgument::tensor_mut(c),
        DeviceArgument::scalar(scale.alpha),
        DeviceArgument::scalar(scale.beta),
    ];
    // SAFETY: the description is the macro's, of a kernel of this library, and it takes nothing for granted.
    unsafe { launch::launch(kernel, stream, arguments) }
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
/// cuBLAS at 4096³ on an H200.
const TILES: [(usize, usize, f64, &Description); 2] = [
    (128, 128, 0.98, cores::matmul_cores_128_128_8_16_8::DESCRIPTION),
    (64, 64, 0.80, cores::matmul_cores_64_64_16_8_4::DESCRIPTION),
];

/// All kernels of products.
pub(super) fn all() -> [&'static Description; 2] {
    TILES.map(|(_, _, _, kernel)| kernel)
}

/// The kernel that is done first: a multiprocessor has so many tiles that its share is rounded up to, each as long as its sums are
/// many.
pub(super) fn kernel([batch, rows, cols]: [usize; 3], multiprocessors: usize) -> &'static Description {
    let time = |(height, width, share, _): &(usize, usize, f64, _)| {
        let tiles = batch.saturating_mul(rows.div_ceil(*height)).saturating_mul(cols.div_ceil(*width));
        tiles.div_ceil(multiprocessors.max(1)) as f64 * (height * width) as f64 / share
    };
    let least = TILES.iter().min_by(|a, b| time(a).total_cmp(&time(b)));
    least.map_or(TILES[0].3, |(_, _, _, kernel)| kernel)
}

#[cfg(test)]
mod tests {
    use super::kernel;

    /// As it was measured on an H200: 0.62 and 1.06 of cuBLAS at 1024³, 0.95 and 0.82 at 2048³.
    #[test]
    fn the_kernel_that_is_done_first() {
        let name = |extents| kernel(extents, 132).name;
        assert_eq!(name([1, 1024, 1024]), "matmul_cores_64_64_16_8_4");
        assert_eq!(name([1, 2048, 2048]), "matmul_cores_128_128_8_16_8");
        assert_eq!(name([1, 4095, 4095]), "matmul_cores_128_128_8_16_8");
        assert_eq!(name([1, 40, 8192]), "matmul_cores_64_64_16_8_4");
        assert_eq!(name([0, 0, 0]), "matmul_cores_128_128_8_16_8");
        assert_eq!(name([1000, 64, 64]), "matmul_cores_64_64_16_8_4");
    }
}
