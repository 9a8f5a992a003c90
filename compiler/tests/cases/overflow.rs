//! Index arithmetic that does not fit.

use crate::harness::{accepted, refused};
use expect_test::expect;

/// Case 62: a byte offset in 32 bits reaches N × N floats up to N = 23,170. Offsets here are elements in the index width, and bytes by
/// the pointer, so the limit is 2³¹ elements; the text never multiplies an index by the size of an element.
#[test]
fn bytes_are_not_computed_in_the_index_width() {
    let fits = |n: u64| 4 * (n * n - 1) < 1 << 31;
    assert!(fits(23_170) && !fits(23_171));
    let cuda = accepted(
        "block = [32, 8], grid = [a.cols().div_ceil(32), a.rows().div_ceil(8)]",
        "a: &mut Matrix<f32>",
        "let (row, col) = (block_y() * 8 + thread_y(), block_x() * 32 + thread_x());
        if row < a.rows() && col < a.cols() {
            a[[row, col]] = 1.0;
        }",
    )
    .cuda;
    assert!(cuda.contains("&a[row * a_pitch + col]"), "{cuda}");
}

/// Case 65: the first element of a row as a product in 32 bits, which wraps for large tensors. Widened before it is multiplied, it
/// is proven to stay inside.
#[test]
fn products_of_rows_and_strides() {
    let attribute = "block = [32], grid = [rows as usize], requires(rows as usize * 1024 <= output.len())";
    let parameters = "output: &mut Tensor<f32, 1>, rows: u32";
    let kernel = |first: &str| format!("let first = {first};\noutput[[first + thread_x()]] = 0.0;");
    accepted(attribute, parameters, &kernel("block_x() * 1024"));
    expect![[r#"
        index may be out of bounds: nothing here says that `first + thread_x() < output.len()` [TP0402]
    "#]]
    .assert_eq(&refused(attribute, parameters, &kernel("(block_x() as u32 * 1024) as usize")));
}

/// Case 67: the number of a thread in the grid as a product in 32 bits.
#[test]
fn products_of_blocks_and_threads() {
    let attribute = "block = [256], grid = [output.len().div_ceil(256)]";
    let kernel = |i: &str| format!("let i = {i};\nif i < output.len() {{ output[[i]] = 1.0; }}");
    accepted(attribute, "output: &mut Tensor<f32, 1>", &kernel("block_x() * 256 + thread_x()"));
    let narrow = kernel("(block_x() as u32 * 256 + thread_x() as u32) as usize");
    expect![[r#"
        whether this access coalesces is not known [TP0201]
        two blocks may write one element of `output`: `output[[i]]` [TP0802]
    "#]]
    .assert_eq(&refused(attribute, "output: &mut Tensor<f32, 1>", &narrow));
}
