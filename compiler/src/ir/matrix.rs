//! Matrices that a warp holds in registers.
//!
//! A *fragment* is such a matrix: a vector in each lane, whose values lie in words of 32 bits, of which element each is. The
//! layout is that of the PTX ISA, section "Matrix fragments for `mma`", which is one formula for all types: see
//! [`MatrixProduct::left`]. Whole warps alone compute with fragments: all 32 lanes take part.

use super::Scalar;
use tileproof_model::limits::Architecture;

/// Rows of the left factor and of the sum.
pub const ROWS: u32 = 16;

/// Columns of the right factor and of the sum.
pub const COLUMNS: u32 = 8;

/// Values of the sum that a lane holds.
const SUMS: u32 = ROWS * COLUMNS / 32;

/// Bytes of a row of a matrix that is read from a tile.
pub const ROW_BYTES: u32 = 16;

/// Of the significand of an `f32`, the low bits that a factor has not.
pub const IGNORED_BITS: u32 = 13;

/// A product of matrices in one instruction of the tensor cores, added to a third: 16 × k times k × 8, where a row of the left
/// and a column of the right factor have 32 bytes.
///
/// Products of floats are exact. The tensor cores add them in an order, and with a rounding, that is not specified; in the simulator
/// each sum starts from the third matrix and takes the products in ascending order, rounded to nearest after each. Sums of
/// integers wrap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MatrixProduct {
    /// Of `f16`, summed up in `f32`.
    F16,
    /// Of `bf16`, summed up in `f32`.
    Bf16,
    /// Of `f32`, summed up in `f32`: of the factors, the low [`IGNORED_BITS`] bits are ignored.
    Tf32,
    /// Of `i8`, summed up in `i32`.
    I8,
    /// Of `u8`, summed up in `i32`.
    U8,
}

impl MatrixProduct {
    /// Every one of them.
    pub const ALL: [MatrixProduct; 5] =
        [MatrixProduct::F16, MatrixProduct::Bf16, MatrixProduct::Tf32, MatrixProduct::I8, MatrixProduct::U8];

    /// The type of the factors' elements.
    pub fn element(self) -> Scalar {
        match self {
            MatrixProduct::F16 => Scalar::F16,
            MatrixProduct::Bf16 => Scalar::Bf16,
            MatrixProduct::Tf32 => Scalar::F32,
            MatrixProduct::I8 => Scalar::I8,
            MatrixProduct::U8 => Scalar::U8,
        }
    }

    /// The type of the sum's elements.
    pub fn sum(self) -> Scalar {
        match self {
            MatrixProduct::F16 | MatrixProduct::Bf16 | MatrixProduct::Tf32 => Scalar::F32,
            MatrixProduct::I8 | MatrixProduct::U8 => Scalar::I32,
        }
    }

    /// The least architecture that has it.
    pub fn least_architecture(self) -> Architecture {
        match self {
            MatrixProduct::F16
            | MatrixProduct::Bf16
            | MatrixProduct::Tf32
            | MatrixProduct::I8
            | MatrixProduct::U8 => Architecture::Sm80,
        }
    }

    /// Columns of the left factor, and rows of the right one.
    pub fn depth(self) -> u32 {
        2 * ROW_BYTES / self.element().bytes()
    }

    /// Values that a lane holds of the left factor, of the right one and of the sum.
    pub fn widths(self) -> [u32; 3] {
        [ROWS * self.depth() / 32, COLUMNS * self.depth() / 32, SUMS]
    }

    /// Row and column of a value that a lane holds of the left factor. With `w` values in a word, value `i` of lane `l` is in row
    /// `l / 4 + 8 * (i / w % 2)` and column `w * (l % 4) + i % w + 4 * w * (i / w / 2)`.
    pub fn left(self, lane: u32, value: u32) -> [u32; 2] {
        let in_word = values_in_word(self.element());
        let (word, part) = (value / in_word, value % in_word);
        [lane / 4 + 8 * (word % 2), in_word * (lane % 4) + part + 4 * in_word * (word / 2)]
    }

    /// Row and column of a value that a lane holds of the right factor: row `w * (l % 4) + i % w + 4 * w * (i / w)`, column
    /// `l / 4`.
    pub fn right(self, lane: u32, value: u32) -> [u32; 2] {
        let in_word = values_in_word(self.element());
        let (word, part) = (value / in_word, value % in_word);
        [in_word * (lane % 4) + part + 4 * in_word * word, lane / 4]
    }

    /// Row and column of a value that a lane holds of the sum: row `l / 4 + 8 * (i / 2)`, column `2 * (l % 4) + i % 2`.
    pub fn sum_place(lane: u32, value: u32) -> [u32; 2] {
        [lane / 4 + 8 * (value / 2), 2 * (lane % 4) + value % 2]
    }
}

/// Matrices of 8 rows of 16 bytes that a warp reads from a tile in one instruction. Lanes `8 j` to `8 j + 7` bring the addresses
/// of the rows of matrix `j`; what further lanes bring is not read by the hardware, and must be inside and aligned nevertheless.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrices {
    /// How many: 1, 2 or 4.
    pub count: u32,
    /// Whether each is transposed, which is for elements of 2 bytes.
    pub transposed: bool,
}

impl Matrices {
    /// The least architecture that has the instruction.
    pub const LEAST_ARCHITECTURE: Architecture = Architecture::Sm75;

    /// The method of the vocabulary.
    pub fn name(self) -> &'static str {
        if self.transposed { "read_matrices_transposed" } else { "read_matrices" }
    }

    /// Values of elements of so many bytes that a lane gets: of each matrix 4 bytes.
    pub fn width(self, element_bytes: u32) -> u32 {
        4 * self.count / element_bytes
    }

    /// Where a value that a lane gets is from: the lane that brings the address of its row, and the element of that row. With `w`
    /// values in a word, value `i` of lane `l` is of matrix `i / w`: in row `l / 4` element `w * (l % 4) + i % w`; transposed, in row
    /// `2 * (l % 4) + i % 2` element `l / 4`.
    pub fn source(self, element_bytes: u32, lane: u32, value: u32) -> [u32; 2] {
        let in_word = 4 / element_bytes;
        let (matrix, along, across) = (value / in_word, in_word * (lane % 4) + value % in_word, lane / 4);
        let (row, element) = if self.transposed { (along, across) } else { (across, along) };
        [COLUMNS * matrix + row, element]
    }
}

/// How many values are in a word of 32 bits.
fn values_in_word(element: Scalar) -> u32 {
    4 / element.bytes()
}

#[cfg(test)]
mod tests {
    use super::{COLUMNS, Matrices, MatrixProduct, ROWS};
    use std::collections::BTreeSet;

    /// A lane and one of its values, which name a place.
    type Held = (u32, u32);

    fn places(width: u32, place: impl Fn(u32, u32) -> [u32; 2]) -> BTreeSet<[u32; 2]> {
        let held = (0..32).flat_map(|lane| (0..width).map(move |value| -> Held { (lane, value) }));
        let places: Vec<[u32; 2]> = held.map(|(lane, value)| place(lane, value)).collect();
        let set: BTreeSet<[u32; 2]> = places.iter().copied().collect();
        assert_eq!(set.len(), places.len(), "two lanes hold one element");
        set
    }

    fn all(rows: u32, columns: u32) -> BTreeSet<[u32; 2]> {
        (0..rows).flat_map(|row| (0..columns).map(move |column| [row, column])).collect()
    }

    #[test]
    fn each_element_is_held_once() {
        for product in MatrixProduct::ALL {
            let [left, right, sum] = product.widths();
            assert_eq!(places(left, |lane, value| product.left(lane, value)), all(ROWS, product.depth()));
            assert_eq!(
                places(right, |lane, value| product.right(lane, value)),
                all(product.depth(), COLUMNS)
            );
            assert_eq!(places(sum, MatrixProduct::sum_place), all(ROWS, COLUMNS));
        }
    }

    /// Some elements of the figures in the PTX ISA.
    #[test]
    fn elements_are_where_the_manual_has_them() {
        let product = MatrixProduct::F16;
        assert_eq!((product.depth(), product.widths()), (16, [8, 4, 4]));
        assert_eq!(
            (0..8).map(|i| product.left(5, i)).collect::<Vec<_>>(),
            [[1, 2], [1, 3], [9, 2], [9, 3], [1, 10], [1, 11], [9, 10], [9, 11]]
        );
        assert_eq!(
            (0..4).map(|i| product.right(5, i)).collect::<Vec<_>>(),
            [[2, 1], [3, 1], [10, 1], [11, 1]]
        );
        let product = MatrixProduct::Tf32;
        assert_eq!((product.depth(), product.widths()), (8, [4, 2, 4]));
        assert_eq!([0, 1, 2, 3].map(|i| product.left(5, i)), [[1, 1], [9, 1], [1, 5], [9, 5]]);
        assert_eq!([0, 1].map(|i| product.right(5, i)), [[1, 1], [5, 1]]);
        let product = MatrixProduct::I8;
        assert_eq!((product.depth(), product.widths()), (32, [16, 8, 4]));
        assert_eq!([0, 3, 4, 8, 15].map(|i| product.left(5, i)), [[1, 4], [1, 7], [9, 4], [1, 20], [9, 23]]);
        assert_eq!([0, 3, 4, 7].map(|i| product.right(5, i)), [[4, 1], [7, 1], [20, 1], [23, 1]]);
        assert_eq!(
            (0..4).map(|i| MatrixProduct::sum_place(5, i)).collect::<Vec<_>>(),
            [[1, 2], [1, 3], [9, 2], [9, 3]]
        );
    }

    /// Four matrices are a left factor: rows 0 to 7 and 8 to 15 of the left half, then of the right one.
    #[test]
    fn four_matrices_are_a_left_factor() {
        for product in MatrixProduct::ALL {
            let bytes = product.element().bytes();
            let matrices = Matrices { count: 4, transposed: false };
            assert_eq!(matrices.width(bytes), product.widths()[0]);
            for (lane, value) in (0..32).flat_map(|lane| (0..matrices.width(bytes)).map(move |i| (lane, i))) {
                let [from, element] = matrices.source(bytes, lane, value);
                let (row, half) = (from % 16, from / 16);
                assert_eq!(product.left(lane, value), [row, 16 / bytes * half + element]);
            }
        }
    }

    /// The rows of a right factor that lies row by row are read transposed.
    #[test]
    fn two_transposed_matrices_are_a_right_factor() {
        for product in MatrixProduct::ALL.into_iter().filter(|product| product.element().bytes() == 2) {
            let matrices = Matrices { count: 2, transposed: true };
            for (lane, value) in (0..32).flat_map(|lane| (0..4).map(move |value| (lane, value))) {
                assert_eq!(product.right(lane, value), matrices.source(2, lane, value));
            }
        }
    }
}
