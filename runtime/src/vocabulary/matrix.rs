//! Products of matrices by the tensor cores.

use super::{Vector, only_in_a_kernel};
use half::{bf16, f16};

mod sealed {
    pub trait Sealed {}
}

/// What a lane holds of the left factor of a product of matrices: see [`mma`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the left factor of a product of matrices",
    label = "not what a lane holds of 16 rows of 32 bytes"
)]
pub trait LeftFactor: Copy + sealed::Sealed {
    /// What the lane holds of the right factor.
    type Right: Copy;
    /// What the lane holds of the sum.
    type Sum: Copy;
}

macro_rules! factors {
    ($($element:ty: $left:literal $right:literal -> $sum:ty;)*) => {$(
        impl sealed::Sealed for Vector<$element, $left> {}
        impl LeftFactor for Vector<$element, $left> {
            type Right = Vector<$element, $right>;
            type Sum = Vector<$sum, 4>;
        }
    )*};
}

factors! {
    f16: 8 4 -> f32;
    bf16: 8 4 -> f32;
    f32: 4 2 -> f32;
    i8: 16 8 -> i32;
    u8: 16 8 -> i32;
}

/// `a` times `b` plus `c`, of matrices that the warp holds: 16 × k times k × 8, in one instruction of the tensor cores.
///
/// All 32 lanes of the warp must reach it together, and a block of a kernel that calls it is a whole number of warps. Each
/// lane brings a *fragment* of each matrix, an ordinary vector of some of its elements, and gets one of the sum:
///
/// | elements | k | `a` | `b` | `c` and the result | instruction |
/// |---|---|---|---|---|---|
/// | `f16` | 16 | `Vector<f16, 8>` | `Vector<f16, 4>` | `Vector<f32, 4>` | `mma.sync.m16n8k16.f32.f16.f16.f32` |
/// | `bf16` | 16 | `Vector<bf16, 8>` | `Vector<bf16, 4>` | `Vector<f32, 4>` | `mma.sync.m16n8k16.f32.bf16.bf16.f32` |
/// | `f32` | 8 | `Vector<f32, 4>` | `Vector<f32, 2>` | `Vector<f32, 4>` | `mma.sync.m16n8k8.f32.tf32.tf32.f32` |
/// | `i8` | 32 | `Vector<i8, 16>` | `Vector<i8, 8>` | `Vector<i32, 4>` | `mma.sync.m16n8k32.s32.s8.s8.s32` |
/// | `u8` | 32 | `Vector<u8, 16>` | `Vector<u8, 8>` | `Vector<i32, 4>` | `mma.sync.m16n8k32.s32.u8.u8.s32` |
///
/// Which elements these are is what the [PTX ISA](https://docs.nvidia.com/cuda/parallel-thread-execution/#warp-level-matrix-instructions-for-mma)
/// says. Of lane `l`, with `w` elements in 4 bytes, value `i` is
///
/// | of | row | column |
/// |---|---|---|
/// | `a` | `l / 4 + 8 * (i / w % 2)` | `w * (l % 4) + i % w + 4 * w * (i / w / 2)` |
/// | `b` | `w * (l % 4) + i % w + 4 * w * (i / w)` | `l / 4` |
/// | `c` and the result | `l / 4 + 8 * (i / 2)` | `2 * (l % 4) + i % 2` |
///
/// [`read_matrices`](super::Shared::read_matrices) reads such fragments from a tile.
///
/// Of a factor of `f32` the low 13 bits are ignored, which leaves 11 bits of significand:
/// [`to_tf32`](super::Tf32Ext::to_tf32) rounds to those. Sums of integers wrap.
///
/// It needs sm_80 or later.
///
/// # Errors of the sum
/// Of integers there are none. Products of floats are exact. In which order the tensor cores add them, and how they round, is not specified; they cut off
/// rather than round to nearest. The simulator starts from `c`, adds the products in ascending order of k, and rounds to the nearest `f32`
/// after each. Both are within `(k + 1) * 2^-22 * (|c| + Σ |a * b|)` of the exact sum where no partial sum is
/// subnormal or too large, and equal where every partial sum is exact, as of small whole numbers.
///
/// # Panics
/// On the host: it has a meaning only inside a kernel.
///
/// # Examples
/// A product of 16 × 16 times 16 × 8 by one warp:
///
/// ```
/// use tileproof::prelude::*;
///
/// #[tiled_kernel(
///     block = [32],
///     grid = [1],
///     requires(
///         a.rows() == 16, a.cols() == 16, b.rows() == 16, b.cols() == 8, b.pitch() == 8, c.rows() == 16, c.cols() == 8
///     ),
/// )]
/// fn product(a: &Matrix<bf16>, b: &Matrix<bf16>, c: &mut Matrix<f32>) {
///     let mut left = Shared::<[[bf16; 16]; 16], Swizzle<1, 3, 3>>::new();
///     let mut right = Shared::<[[bf16; 8]; 16]>::new();
///     let (row, col) = (lane() / 2, lane() % 2 * 8);
///     left.write([row, col], a.read::<8>([row, col]));
///     if lane() < 16 {
///         right.write([lane(), 0], b.read::<8>([lane(), 0]));
///     }
///     sync_warp();
///     // Lanes 0 to 15 name the rows of the left half, 16 to 31 those of the right one.
///     let a = left.read_matrices::<8>([lane() % 16, lane() / 16 * 8]);
///     let b = right.read_matrices_transposed::<4>([lane() % 16, 0]);
///     let sum = mma(a, b, Vector::splat(0.0));
///     for half in 0..2 {
///         c.write([lane() / 4 + 8 * half, lane() % 4 * 2], Vector::new([sum[2 * half], sum[2 * half + 1]]));
///     }
/// }
///
/// # #[cfg(feature = "simulate")] {
/// let a: Vec<bf16> = (0..256).map(|i| bf16::from_f32((i % 7) as f32 - 3.0)).collect();
/// let b: Vec<bf16> = (0..128).map(|i| bf16::from_f32((i % 5) as f32 - 2.0)).collect();
/// let mut c = vec![0.0; 128];
/// let (left, right) = (HostTensor::new(&a, [16, 16])?, HostTensor::new(&b, [16, 8])?);
/// product::simulate(&left, &right, &mut HostTensorMut::new(&mut c, [16, 8])?)?;
/// let exact = |row: usize, col: usize| (0..16).map(|k| a[16 * row + k].to_f32() * b[8 * k + col].to_f32()).sum::<f32>();
/// assert!((0..128).all(|i| c[i] == exact(i / 8, i % 8)));
/// # }
/// # Ok::<(), tileproof::Error>(())
/// ```
#[track_caller]
pub fn mma<A: LeftFactor>(a: A, b: A::Right, c: A::Sum) -> A::Sum {
    let _ = (a, b, c);
    only_in_a_kernel("mma")
}
