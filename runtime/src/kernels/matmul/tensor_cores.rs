//! Products of floats of 16 bits on the tensor cores, by `mma`, fed from asynchronous tiles in shared memory.
//!
//! A warp has 64 × 64 sums: of each step of 16 it reads four fragments of the left tile and eight of the right one, and multiplies
//! each pair. As on the CUDA cores, the fragments of the next step are read before those of this one are multiplied, and nothing in
//! the loop asks where the matrices end. The sums go through shared memory, so that whole rows of them are written.

use crate::prelude::*;

/// `c = alpha · a · b + beta · c`, summed up in `f32`. Where `beta` is 0, `c` is not read. `V` elements of `c` are written at a time.
#[tiled_kernel(
    block = [128],
    grid = [c.extent(1).div_ceil(128) * c.extent(2).div_ceil(128), c.extent(0)],
    arch(sm_80, sm_86, sm_87, sm_89, sm_90, sm_100, sm_103, sm_110, sm_120, sm_121),
    requires(
        a.extent(0) == c.extent(0),
        b.extent(0) == c.extent(0),
        a.extent(1) == c.extent(1),
        a.extent(2) == b.extent(1),
        b.extent(2) >= c.extent(2),
        a.extent(2).is_multiple_of(8),
        b.extent(2).is_multiple_of(8),
        c.extent(2).is_multiple_of(V),
    ),
    instances((bf16, 4), (bf16, 1), (f16, 4), (f16, 1)),
)]
pub(crate) fn matmul_tensor_cores<T, const V: usize>(
    a: &Tensor<T, 3>,
    b: &Tensor<T, 3>,
    c: &mut Tensor<T, 3>,
    alpha: f32,
    beta: f32,
) {
    const STAGES: usize = 4;
    const DEPTH: usize = 32;
    type Left = [[[T; DEPTH]; 128]; STAGES];
    type Right = [[[T; 128]; DEPTH]; STAGES];

    /// Starts the copies of the columns of `a` from `k0` on: four vectors of eight a row.
    fn copy_left(
        tiles: &mut Shared<Left, Swizzle<2, 3, 3>>,
        stage: usize,
        a: &Tensor<T, 3>,
        (batch, row0, k0): (usize, usize, usize),
    ) {
        for i in 0..4 {
            let (r, k) = (thread_x() / 4 + 32 * i, thread_x() % 4 * 8);
            tiles.copy_async::<8>([stage, r, k], a.at([batch, (row0 + r).min(a.extent(1) - 1), k0 + k]));
        }
    }
    /// The same of the rows of `b`: sixteen vectors a row.
    fn copy_right(
        tiles: &mut Shared<Right, Swizzle<3, 3, 4>>,
        stage: usize,
        b: &Tensor<T, 3>,
        (batch, k0, col): (usize, usize, usize),
    ) {
        for i in 0..4 {
            let k = thread_x() / 16 + 8 * i;
            tiles.copy_async::<8>([stage, k, thread_x() % 16 * 8], b.at([batch, k0 + k, col]));
        }
    }
    /// Reads what a warp multiplies at a step of 16.
    fn read_left(
        tiles: &Shared<Left, Swizzle<2, 3, 3>>,
        (stage, row, k): (usize, usize, usize),
        fragments: &mut [Vector<T, 8>; 4],
    ) {
        for i in 0..4 {
            fragments[i] = tiles.read_matrices::<8>([stage, row + 16 * i + lane() % 16, k + lane() / 16 * 8]);
        }
    }
    fn read_right(
        tiles: &Shared<Right, Swizzle<3, 3, 4>>,
        (stage, k, col): (usize, usize, usize),
        fragments: &mut [Vector<T, 8>; 4],
    ) {
        for j in 0..4 {
            let col = col + 16 * j + lane() / 16 * 8;
            fragments[j] = tiles.read_matrices_transposed::<8>([stage, k + lane() % 16, col]);
        }
    }
    fn multiply(left: &[Vector<T, 8>; 4], right: &[Vector<T, 8>; 4], sums: &mut [[Vector<f32, 4>; 8]; 4]) {
        for j in 0..4 {
            let pair = right[j];
            let first = Vector::new([pair[0], pair[1], pair[2], pair[3]]);
            let second = Vector::new([pair[4], pair[5], pair[6], pair[7]]);
            for i in 0..4 {
                sums[i][2 * j] = mma(left[i], first, sums[i][2 * j]);
            }
            for i in 0..4 {
                sums[i][2 * j + 1] = mma(left[i], second, sums[i][2 * j + 1]);
            }
        }
    }

    let mut left_tiles = Shared::<Left, Swizzle<2, 3, 3>>::new();
    let mut right_tiles = Shared::<Right, Swizzle<3, 3, 4>>::new();
    let mut out = Shared::<[[f32; 128]; 16], Swizzle<2, 3, 4>>::new();
    let mut sums = [[Vector::<f32, 4>::splat(0.0); 8]; 4];
    // Of this step of 16 and of the next one, in turn.
    let mut left = [[Vector::<f32, 8>::splat(0.0).cast::<T>(); 4]; 2];
    let mut right = [Vector::<f32, 8>::splat(0.0).cast::<T>(); 4];

    let [m, n, depth] = [c.extent(1), c.extent(2), a.extent(2)];
    let [block_row, block_col] = rasterize(block_x(), [m.div_ceil(128), n.div_ceil(128)], 8);
    let (batch, row0, col0) = (block_y(), 128 * block_row, 128 * block_col);
    let (warp_row, warp_col) = (64 * (warp() / 2), 64 * (warp() % 2));

    if row0 < m && col0 < n && b.extent(2) >= 8 {
        let col = (col0 + thread_x() % 16 * 8).min(b.extent(2) - 8);
        let (steps, rest) = (depth / DEPTH, depth % DEPTH);
        if steps > 0 {
            for stage in 0..STAGES - 1 {
                let k0 = DEPTH * stage.min(steps - 1);
                copy_left(&mut left_tiles, stage, a, (batch, row0, k0));
                copy_right(&mut right_tiles, stage, b, (batch, k0, col));
                commit();
            }
            wait::<2>();
            sync_threads();
            read_left(&left_tiles, (0, warp_row, 0), &mut left[0]);
            for step in 0..steps {
                // The left fragments of the second half of a step are read before the first one is multiplied, and so on.
                read_right(&right_tiles, (step % STAGES, 0, warp_col), &mut right);
                read_left(&left_tiles, (step % STAGES, warp_row, 16), &mut left[1]);
                let stage = (step + STAGES - 1) % STAGES;
                let k0 = DEPTH * (step + STAGES - 1).min(steps - 1);
                copy_left(&mut left_tiles, stage, a, (batch, row0, k0));
                copy_right(&mut right_tiles, stage, b, (batch, k0, col));
                commit();
                multiply(&left[0], &right, &mut sums);
                read_right(&right_tiles, (step % STAGES, 16, warp_col), &mut right);
                wait::<2>();
                sync_threads();
                read_left(&left_tiles, ((step + 1) % STAGES, warp_row, 0), &mut left[0]);
                multiply(&left[1], &right, &mut sums);
            }
            wait::<0>();
            sync_threads();
        }
        if rest > 0 {
            let k0 = DEPTH * steps;
            for i in 0..4 {
                let (r, k) = (thread_x() / 4 + 32 * i, thread_x() % 4 * 8);
                let row = (row0 + r).min(m - 1);
                left_tiles.copy_async::<8>([0, r, k], a.at_or_zero([batch, row, k0 + k]));
            }
            for i in 0..4 {
                let k = thread_x() / 16 + 8 * i;
                right_tiles.copy_async::<8>([0, k, thread_x() % 16 * 8], b.at_or_zero([batch, k0 + k, col]));
            }
            commit();
            wait::<0>();
            sync_threads();
            for k in (0..DEPTH).step_by(16) {
                read_left(&left_tiles, (0, warp_row, k), &mut left[0]);
                read_right(&right_tiles, (0, k, warp_col), &mut right);
                multiply(&left[0], &right, &mut sums);
            }
        }
    }

    // Eight rows of each warp at a time.
    for part in 0..8 {
        let (i, half) = (part / 2, part % 2);
        sync_threads();
        for j in 0..8 {
            let pair = [alpha * sums[i][j][2 * half], alpha * sums[i][j][2 * half + 1]];
            out.write([warp_row / 8 + lane() / 4, warp_col + 8 * j + lane() % 4 * 2], Vector::new(pair));
        }
        sync_threads();
        for i in 0..16 / V {
            let place = thread_x() + 128 * i;
            let (r, col) = (place / (128 / V), place % (128 / V) * V);
            let mut values = out.read::<V>([r, col]);
            let (row, col) = (row0 + r / 8 * 64 + 8 * part + r % 8, col0 + col);
            if row < m && col < n {
                if beta != 0.0 {
                    let before = c.read::<V>([batch, row, col]);
                    values += before.cast::<f32>() * beta;
                }
                c.write([batch, row, col], values.cast::<T>());
            }
        }
    }
}
