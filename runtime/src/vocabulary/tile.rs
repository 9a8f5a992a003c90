//! Operations on whole tiles.

use super::{Tensor, only_in_a_kernel};
use crate::scalar::Element;

/// What the whole block does with a [`Shared`](super::Shared) tile, or with the part of it that leading indices name: a
/// row `[T; C]` or a matrix `[[T; C]; R]`.
///
/// The operations move data between the tile and a window of a tensor, whose first element is at `origin`: one index a
/// dimension of the tensor, the same for all threads of the block (each thread moves its share by its own origin). The
/// window covers the tensor's last dimension, or its last two; further dimensions are fixed by `origin`.
///
/// `V` is the number of elements that a lane moves in one instruction: 1 where it is left out, as in
/// `tile.load(&input, [row, col])`, else a power of two with at most 16 bytes that divides the window's row. A width
/// above 1 needs what [`read`](Tensor::read) needs: the column of the origin must be a multiple of it, and the tensor's
/// rows and first element aligned, which the launch checks.
///
/// **Who moves what.** The window is cut into vectors along the rows of the tensor. In row-major order, the thread
/// with linear index `t` of `T` (x first, then y, then z) takes the vectors `t`, `t + T`, `t + 2 T`, …; where `T` does not
/// divide their number, some threads have one fewer. So neighbouring lanes are neighbours in a row of the
/// tensor, and accesses to the tensor coalesce; the tile's layout must serve the same lanes, which [`Auto`](super::Auto)
/// looks after.
///
/// **The edge.** Where the window lies inside the tensor, one comparison for the block leads to a path without guards.
/// Where it crosses the edge, elements are moved one by one: a load puts zero into the tile for elements beyond the edge, a
/// store leaves them out. What that path costs is reported, and needs no budget.
///
/// **There is no barrier** in any of them: write [`sync_threads`](super::sync_threads) between a load and the accesses
/// of other threads to what it wrote, and before the tile is written again.
///
/// ```no_run
/// use tileproof::prelude::*;
///
/// # fn body(input: &Matrix<f32>, output: &mut Matrix<f32>) {
/// let mut stages = Shared::<[[[f32; 32]; 32]; 2], Auto>::new();
/// stages[0].load::<4>(input, [block_y() * 32, block_x() * 32]);
/// sync_threads();
/// stages[0].store_transposed::<1>(output, [block_x() * 32, block_y() * 32]);
/// # }
/// ```
pub trait WholeTile<T: Element, const RANK: usize> {
    /// Element `[r][c]` becomes element `[…, row + r, col + c]` of the tensor, zero beyond its edge.
    #[track_caller]
    fn load<const V: usize>(&mut self, tensor: &Tensor<T, RANK>, origin: [usize; RANK]) {
        let _ = (tensor, origin);
        only_in_a_kernel("load")
    }

    /// Starts what [`load`](WholeTile::load) does and does not wait for it: `cp.async`, which needs no registers and goes
    /// on while the thread computes. A lane copies 4, 8 or 16 bytes: `V` elements.
    ///
    /// The copies that a thread starts up to its next [`commit`](super::commit) are one group, which
    /// [`wait`](super::wait) waits for. From the start until the wait nobody may access what they write, and
    /// only behind a barrier after the wait may other threads. At the edge of the tensor each element is copied on its
    /// own, zeros included; elements below 4 bytes are loaded and stored there at once. Before sm_80 all copies are loads
    /// and stores.
    ///
    /// A copy of 4 or 8 bytes takes as many wavefronts as a bank has lanes, even lanes of one word; one of 16 bytes takes
    /// longer the more lines of 128 bytes the warp writes, of which 4 are ideal. That is the cost that is proven here,
    /// and a `#[budget(bank_conflict = …)]` counts these lines.
    ///
    /// ```no_run
    /// use tileproof::prelude::*;
    ///
    /// # fn body(input: &Matrix<f32>) {
    /// let mut stages = Shared::<[[[f32; 32]; 32]; 2]>::new();
    /// stages[0].load_async::<4>(input, [0, 0]);
    /// commit();
    /// for k in 1..input.cols().div_ceil(32) {
    ///     stages[k % 2].load_async::<4>(input, [0, 32 * k]);
    ///     commit();
    ///     wait::<1>(); // all groups but the last: what the iteration before started
    ///     sync_threads();
    ///     // … compute with stages[(k + 1) % 2] …
    ///     sync_threads();
    /// }
    /// # }
    /// ```
    #[track_caller]
    fn load_async<const V: usize>(&mut self, tensor: &Tensor<T, RANK>, origin: [usize; RANK]) {
        let _ = (tensor, origin);
        only_in_a_kernel("load_async")
    }

    /// Element `[r][c]` becomes element `[…, row + c, col + r]` of the tensor, zero beyond its edge. Vectors are read
    /// from the tensor and written to the tile element by element.
    #[track_caller]
    fn load_transposed<const V: usize>(&mut self, tensor: &Tensor<T, RANK>, origin: [usize; RANK]) {
        let _ = (tensor, origin);
        only_in_a_kernel("load_transposed")
    }

    /// Element `[…, row + r, col + c]` of the tensor becomes element `[r][c]`, where it is not beyond its edge.
    #[track_caller]
    fn store<const V: usize>(&self, tensor: &mut Tensor<T, RANK>, origin: [usize; RANK]) {
        let _ = (tensor, origin);
        only_in_a_kernel("store")
    }

    /// Element `[…, row + c, col + r]` of the tensor becomes element `[r][c]`, where it is not beyond its edge. Elements
    /// are read one by one from the tile and written as vectors to the tensor.
    #[track_caller]
    fn store_transposed<const V: usize>(&self, tensor: &mut Tensor<T, RANK>, origin: [usize; RANK]) {
        let _ = (tensor, origin);
        only_in_a_kernel("store_transposed")
    }
}

impl<T: Element, const C: usize, const RANK: usize> WholeTile<T, RANK> for [T; C] {}
impl<T: Element, const R: usize, const C: usize, const RANK: usize> WholeTile<T, RANK> for [[T; C]; R] {}

/// Closes the thread's group of asynchronous copies: those that it has started since the last `commit`, of which there may
/// be none.
///
/// # Panics
/// On the host: it has a meaning only inside a kernel.
#[track_caller]
pub fn commit() {
    only_in_a_kernel("commit")
}

/// Waits until of the groups of copies that this thread has closed only the last `PENDING` may be under way:
/// `wait::<0>()` waits for all of them.
///
/// It is no barrier: other threads see what was copied behind a [`sync_threads`](super::sync_threads) after it.
///
/// # Panics
/// On the host: it has a meaning only inside a kernel.
#[track_caller]
pub fn wait<const PENDING: usize>() {
    only_in_a_kernel("wait")
}
