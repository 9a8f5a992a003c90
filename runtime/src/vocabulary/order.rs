//! Orders of indices: from the number of an element or block to its place, and back.

use super::only_in_a_kernel;

/// The index, in a row-major shape of these extents, of the element with this number: its last part runs fastest.
///
/// Where `number` is below the product of the extents, each part is below its extent, and the compiler knows it; different
/// numbers have different indices. Take it apart in the `let`:
///
/// ```no_run
/// # use tileproof::prelude::*;
/// # fn kernel(input: &Tensor<f32, 3>, i: usize) {
/// let [a, b, c] = unflatten(i, [input.extent(0), input.extent(1), input.extent(2)]);
/// # let _ = input[[a, b, c]]; }
/// ```
///
/// It costs a division by each extent but the first, which is cheap only by constants.
///
/// # Panics
/// On the host: it has a meaning only inside a kernel.
#[track_caller]
pub fn unflatten<const RANK: usize>(number: usize, extents: [usize; RANK]) -> [usize; RANK] {
    let _ = (number, extents);
    only_in_a_kernel("unflatten")
}

/// The number of the element at this index in a row-major shape of these extents: what [`unflatten`] undoes.
///
/// # Panics
/// On the host: it has a meaning only inside a kernel.
#[track_caller]
pub fn flatten<const RANK: usize>(index: [usize; RANK], extents: [usize; RANK]) -> usize {
    let _ = (index, extents);
    only_in_a_kernel("flatten")
}

/// The row and column of the block or tile with this number, where blocks that run at the same time shall share what they
/// read in the L2 cache: down the columns of a band of `group` rows, then those of the next band. The last band may have
/// fewer rows.
///
/// Where `number` is below rows × columns, the row and column are below theirs, and the compiler knows it; every place has one
/// number. `group` is a constant; of a matrix product, 4 to 16 rows of blocks of the left operand stay in the cache while
/// the right one passes by. With 1 it is row by row.
///
/// ```no_run
/// # use tileproof::prelude::*;
/// # fn kernel(output: &Matrix<f32>) {
/// // with grid = [output.rows().div_ceil(64) * output.cols().div_ceil(64)]
/// let [row, col] = rasterize(block_x(), [output.rows().div_ceil(64), output.cols().div_ceil(64)], 8);
/// # let _ = (row, col); }
/// ```
///
/// # Panics
/// On the host: it has a meaning only inside a kernel.
#[track_caller]
pub fn rasterize(number: usize, extents: [usize; 2], group: usize) -> [usize; 2] {
    let _ = (number, extents, group);
    only_in_a_kernel("rasterize")
}
