//! Products of `f32` on the CUDA cores: a tile of registers a thread, fed from asynchronous tiles in shared memory.
//!
//! What limits it is the rate at which instructions are issued, so the loop holds little else than multiplications:
//!
//! - A thread has 16 × 8 sums, or 8 × 4, and reads 6 or 3 vectors for each step of `k`. The lanes of a warp are arranged so that
//!   of each vector two pairs of lanes want the same, which takes the hardware half the wavefronts.
//! - The values of the next step are read before those of this one are multiplied, across the barrier too.
//! - Nothing in the loop asks where the matrix ends. Rows and columns beyond the edge repeat the last one, and their sums are not
//!   stored; copies that would be of steps beyond the last one repeat that. What is left of `k` follows behind the loop.
//! - A thread's columns lie [`LANE_COLS`] apart, so that the sums of a warp are stored in whole sectors one by one. Were they
//!   neighbours, the vectors that stored them would fix in which registers the sums are, and many multiplications would
//!   wait for a bank of registers.
//! - The bound on blocks keeps ptxas from using fewer registers than the sums and both steps take: it spilled some of them for
//!   more blocks on a multiprocessor.
//! - Every other column of sums is run through upwards, which leaves one operand of neighbouring multiplications the same.

use crate::prelude::*;

/// `c = alpha · a · b + beta · c` for each matrix of a batch. Every product is added to the sum in order of `k`, each rounded once.
/// Where `beta` is 0, `c` is not read.
///
/// A block has `ROWS` × `COLS` sums, a warp `LANE_ROWS · H` × `LANE_COLS · W` of them, a thread `H` × `W`.
#[tiled_kernel(
    block = [ROWS / (4 * H) * (COLS / (8 * W)) * 32],
    grid = [c.extent(1).div_ceil(ROWS) * c.extent(2).div_ceil(COLS), c.extent(0)],
    min_blocks = 2,
    requires(
        a.extent(0) == c.extent(0),
        b.extent(0) == c.extent(0),
        a.extent(1) == c.extent(1),
        a.extent(2) == b.extent(1),
        b.extent(2) == c.extent(2),
    ),
    instances((128, 128, 8, 16, 8), (64, 64, 16, 8, 4)),
)]
pub(crate) fn matmul_cores<
    const ROWS: usize,
    const COLS: usize,
    const DEPTH: usize,
    const H: usize,
    const W: usize,
>(
    a: &Tensor<f32, 3>,
    b: &Tensor<f32, 3>,
    c: &mut Tensor<f32, 3>,
    alpha: f32,
    beta: f32,
) {
    const LANE_ROWS: usize = 4;
    const LANE_COLS: usize = 8;
    const STAGES: usize = 3;
    const THREADS: usize = ROWS / (LANE_ROWS * H) * (COLS / (LANE_COLS * W)) * 32;
    /// How often a thread copies elements of one row of `a`.
    const TIMES: usize = DEPTH / 8;
    type Left = [[[f32; ROWS]; DEPTH]; STAGES];
    /// Column `LANE_COLS · q + l` of a group of `4 · LANE_COLS` is element `q` of vector `l`.
    type Right = [[[[f32; 4]; COLS / 4]; DEPTH]; STAGES];

    /// Which row of the tile and which step a thread copies for the `i`th time: a warp eight steps of four rows.
    fn left_place(i: usize) -> (usize, usize) {
        (thread_x() / 8 + THREADS / 8 * (i / TIMES), thread_x() % 8 + 8 * (i % TIMES))
    }
    /// Which step a thread copies for the `i`th time, and where its column lies: it has one.
    fn right_place(i: usize) -> (usize, usize, usize) {
        let col = thread_x() % COLS;
        let vector = col / (4 * LANE_COLS) * LANE_COLS + col % LANE_COLS;
        (THREADS / COLS * i + thread_x() / COLS, vector, col / LANE_COLS % 4)
    }
    /// Starts the copies of the steps from `k0` on.
    fn copy_left(
        tiles: &mut Shared<Left, Pad<4>>,
        stage: usize,
        a: &Tensor<f32, 3>,
        (batch, row0, k0): (usize, usize, usize),
    ) {
        for i in 0..ROWS * DEPTH / THREADS {
            let (r, k) = left_place(i);
            tiles.copy_async::<1>([stage, k, r], a.at([batch, (row0 + r).min(a.extent(1) - 1), k0 + k]));
        }
    }
    fn copy_right(
        tiles: &mut Shared<Right>,
        stage: usize,
        b: &Tensor<f32, 3>,
        (batch, k0, col): (usize, usize, usize),
    ) {
        for i in 0..COLS * DEPTH / THREADS {
            let (k, vector, element) = right_place(i);
            tiles.copy_async::<1>([stage, k, vector, element], b.at([batch, k0 + k, col]));
        }
    }
    /// Reads what a thread multiplies at a step.
    fn read_left(
        tiles: &Shared<Left, Pad<4>>,
        (stage, k, row): (usize, usize, usize),
        values: &mut [Vector<f32, 4>; H / 4],
    ) {
        for i in 0..H / 4 {
            values[i] = tiles.read::<4>([stage, k, row + 4 * LANE_ROWS * i]);
        }
    }
    fn read_right(
        tiles: &Shared<Right>,
        (stage, k, vector): (usize, usize, usize),
        values: &mut [Vector<f32, 4>; W / 4],
    ) {
        for j in 0..W / 4 {
            values[j] = tiles.read::<4>([stage, k, vector + LANE_COLS * j, 0]);
        }
    }
    /// Adds the products of a step: every other column is run through upwards.
    fn multiply(left: &[Vector<f32, 4>; H / 4], right: &[Vector<f32, 4>; W / 4], sums: &mut [[f32; W]; H]) {
        for j in (0..W).step_by(2) {
            for i in 0..H {
                sums[i][j] = left[i / 4][i % 4].mul_add(right[j / 4][j % 4], sums[i][j]);
            }
            for down in 0..H {
                let (i, j) = (H - 1 - down, j + 1);
                sums[i][j] = left[i / 4][i % 4].mul_add(right[j / 4][j % 4], sums[i][j]);
            }
        }
    }

    let mut left_tiles = Shared::<Left, Pad<4>>::new();
    let mut right_tiles = Shared::<Right>::new();
    let mut sums = [[0.0f32; W]; H];
    // Of this step and of the next one, in turn.
    let mut left = [[Vector::<f32, 4>::splat(0.0); H / 4]; 2];
    let mut right = [[Vector::<f32, 4>::splat(0.0); W / 4]; 2];

    let [m, n, depth] = [c.extent(1), c.extent(2), a.extent(2)];
    let [block_row, block_col] = rasterize(block_x(), [m.div_ceil(ROWS), n.div_ceil(COLS)], 8);
    let (batch, row0, col0) = (block_y(), ROWS * block_row, COLS * block_col);
    let (lane_row, lane_col) = (lane() / 2 % LANE_ROWS, lane() % 2 + 2 * (lane() / (2 * LANE_ROWS)));
    let warps = COLS / (LANE_COLS * W);
    let (warp_row, warp_col) = (LANE_ROWS * H * (warp() / warps), LANE_COLS * W * (warp() % warps));
    let (own_row, own_vector) = (warp_row + 4 * lane_row, warp_col / 4 + lane_col);

    if row0 < m && col0 < n {
        let col = (col0 + thread_x() % COLS).min(n - 1);
        let (steps, rest) = (depth / DEPTH, depth % DEPTH);
        if steps > 0 {
            for stage in 0..STAGES - 1 {
                let k0 = DEPTH * stage.min(steps - 1);
                copy_left(&mut left_tiles, stage, a, (batch, row0, k0));
                copy_right(&mut right_tiles, stage, b, (batch, k0, col));
                commit();
            }
            wait::<1>();
            sync_threads();
            read_left(&left_tiles, (0, 0, own_row), &mut left[0]);
            read_right(&right_tiles, (0, 0, own_vector), &mut right[0]);
            for step in 0..steps {
                for k in 0..DEPTH {
                    if k == DEPTH - 1 {
                        wait::<1>();
                        sync_threads();
                    }
                    let stage = if k == DEPTH - 1 { (step + 1) % STAGES } else { step % STAGES };
                    let then = (k + 1) % DEPTH;
                    read_left(&left_tiles, (stage, then, own_row), &mut left[(k + 1) % 2]);
                    read_right(&right_tiles, (stage, then, own_vector), &mut right[(k + 1) % 2]);
                    if k == 0 {
                        let stage = (step + STAGES - 1) % STAGES;
                        let k0 = DEPTH * (step + STAGES - 1).min(steps - 1);
                        copy_left(&mut left_tiles, stage, a, (batch, row0, k0));
                        copy_right(&mut right_tiles, stage, b, (batch, k0, col));
                        commit();
                    }
                    multiply(&left[k % 2], &right[k % 2], &mut sums);
                }
            }
            wait::<0>();
            sync_threads();
        }
        if rest > 0 {
            let k0 = DEPTH * steps;
            for i in 0..ROWS * DEPTH / THREADS {
                let (r, k) = left_place(i);
                let row = (row0 + r).min(m - 1);
                left_tiles.copy_async::<1>([0, k, r], a.at_or_zero([batch, row, k0 + k]));
            }
            for i in 0..COLS * DEPTH / THREADS {
                let (k, vector, element) = right_place(i);
                right_tiles.copy_async::<1>([0, k, vector, element], b.at_or_zero([batch, k0 + k, col]));
            }
            commit();
            wait::<0>();
            sync_threads();
            for k in 0..rest {
                read_left(&left_tiles, (0, k, own_row), &mut left[0]);
                read_right(&right_tiles, (0, k, own_vector), &mut right[0]);
                multiply(&left[0], &right[0], &mut sums);
            }
        }
    }

    for i in 0..H {
        let row = row0 + own_row + 4 * LANE_ROWS * (i / 4) + i % 4;
        for j in 0..W {
            let col = col0 + warp_col + LANE_COLS * j + lane_col;
            if row < m && col < n {
                let mut value = alpha * sums[i][j];
                if beta != 0.0 {
                    value += beta * c[[batch, row, col]];
                }
                c[[batch, row, col]] = value;
            }
        }
    }
}
