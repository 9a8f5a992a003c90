//! A product of matrices, as heavy as kernels are: register tiles of 16 × 8 values a thread, asynchronous copies in three
//! stages, an inner loop that is unrolled 16 times, what is left of the common extent, and guarded edges.

/// What the attribute says.
pub(crate) const ATTRIBUTE: &str = "
    block = [128], grid = [c.rows().div_ceil(128) * c.cols().div_ceil(128)], min_blocks = 2, arch(sm_80, sm_90),
    requires(a.rows() == c.rows(), a.cols() == b.rows(), b.cols() == c.cols())
";

/// The kernel.
pub(crate) const KERNEL: &str = "
fn p128_16(a: &Matrix<f32>, b: &Matrix<f32>, c: &mut Matrix<f32>, alpha: f32, beta: f32) {
    let mut a_tile = Shared::<[[[f32; 128]; 16]; 3], Pad<4>>::new();
    let mut b_tile = Shared::<[[[[f32; 4]; 32]; 16]; 3]>::new();
    let mut sums = [[0.0f32; 8]; 16];
    let [block_row, block_col] = rasterize(block_x(), [c.rows().div_ceil(128), c.cols().div_ceil(128)], 8);
    let (row0, col0) = (128 * block_row, 128 * block_col);
    let t = thread_x();
    let (lane_row, lane_col) = (lane() / 2 % 4, lane() % 2 + 2 * (lane() / 8));
    let (warp_row, warp_col) = (64 * (warp() / 2), 64 * (warp() % 2));
    let mut a_part = [[Vector::<f32, 4>::splat(0.0); 4]; 2];
    let mut b_part = [[Vector::<f32, 4>::splat(0.0); 2]; 2];
    if row0 < a.rows() && col0 < b.cols() {
        let (steps, rest) = (a.cols() / 16, a.cols() % 16);
        if steps > 0 {
            for s in 0..2 {
                let k0 = 16 * s.min(steps - 1);
                for i in 0..16 {
                let (r, k) = (t / 8 + 16 * (i / 2), t % 8 + 8 * (i % 2));
                a_tile.copy_async::<1>([s, k, r], a.at([(row0 + r).min(a.rows() - 1), k0 + k]));
            }
            for i in 0..16 {
                let (k, col) = (i, t);
                b_tile.copy_async::<1>([s, k, col / 32 * 8 + col % 8, col / 8 % 4], b.at([k0 + k, (col0 + col).min(b.cols() - 1)]));
            }
                commit();
            }
            wait::<1>();
            sync_threads();
            for i in 0..4 { a_part[0][i] = a_tile.read::<4>([0, 0, warp_row + 16 * i + 4 * lane_row]); }
            for j in 0..2 { b_part[0][j] = b_tile.read::<4>([0, 0, warp_col / 4 + 8 * j + lane_col, 0]); }
            for step in 0..steps {
                for k in 0..16 {
                    if k == 15 {
                        wait::<1>();
                        sync_threads();
                    }
                    let stage = if k == 15 { (step + 1) % 3 } else { step % 3 };
                    for i in 0..4 { a_part[(k + 1) % 2][i] = a_tile.read::<4>([stage, (k + 1) % 16, warp_row + 16 * i + 4 * lane_row]); }
            for j in 0..2 { b_part[(k + 1) % 2][j] = b_tile.read::<4>([stage, (k + 1) % 16, warp_col / 4 + 8 * j + lane_col, 0]); }
                    if k == 0 {
                        let s = (step + 2) % 3;
                        let k0 = 16 * (step + 2).min(steps - 1);
                        for i in 0..16 {
                let (r, k) = (t / 8 + 16 * (i / 2), t % 8 + 8 * (i % 2));
                a_tile.copy_async::<1>([s, k, r], a.at([(row0 + r).min(a.rows() - 1), k0 + k]));
            }
            for i in 0..16 {
                let (k, col) = (i, t);
                b_tile.copy_async::<1>([s, k, col / 32 * 8 + col % 8, col / 8 % 4], b.at([k0 + k, (col0 + col).min(b.cols() - 1)]));
            }
                        commit();
                    }
                    for j in 0..8 { for n in 0..16 {
                    let i = if j % 2 == 1 { 15 - n } else { n };
                    sums[i][j] = a_part[k % 2][i / 4][i % 4].mul_add(b_part[k % 2][j / 4][j % 4], sums[i][j]);
                } }
                }
            }
            wait::<0>();
            sync_threads();
        }
        if rest > 0 {
            for i in 0..16 {
                let (r, k) = (t / 8 + 16 * (i / 2), t % 8 + 8 * (i % 2));
                a_tile.copy_async::<1>([0, k, r], a.at_or_zero([(row0 + r).min(a.rows() - 1), 16 * steps + k]));
            }
            for i in 0..16 {
                let (k, col) = (i, t);
                b_tile.copy_async::<1>([0, k, col / 32 * 8 + col % 8, col / 8 % 4], b.at_or_zero([16 * steps + k, (col0 + col).min(b.cols() - 1)]));
            }
            commit();
            wait::<0>();
            sync_threads();
            for k in 0..rest {
                for i in 0..4 { a_part[0][i] = a_tile.read::<4>([0, k, warp_row + 16 * i + 4 * lane_row]); }
            for j in 0..2 { b_part[0][j] = b_tile.read::<4>([0, k, warp_col / 4 + 8 * j + lane_col, 0]); }
                for j in 0..8 { for n in 0..16 {
                    let i = if j % 2 == 1 { 15 - n } else { n };
                    sums[i][j] = a_part[0][i / 4][i % 4].mul_add(b_part[0][j / 4][j % 4], sums[i][j]);
                } }
            }
        }
    }
    for i in 0..16 {
        let row = row0 + warp_row + 16 * (i / 4) + 4 * lane_row + i % 4;
        for j in 0..8 {
            let col = col0 + warp_col + 32 * (j / 4) + 8 * (j % 4) + lane_col;
            if row < c.rows() && col < c.cols() {
                let mut value = alpha * sums[i][j];
                if beta != 0.0 { value += beta * c[[row, col]]; }
                c[[row, col]] = value;
            }
        }
    }
}
";
