//! Kernels as text, whose CUDA text is a golden file: NVRTC compiles these too.

use expect_test::expect_file;
use tileproof_compiler::compile;

/// Name of the golden file, arguments of the attribute, function.
const SOURCES: [(&str, &str, &str); 5] = [
    (
        "rank_5",
        "block = [32], grid = [input.extent(4).div_ceil(32), input.extent(3), input.extent(2)], requires(
            output.extent(0) == input.extent(0), output.extent(1) == input.extent(1),
            output.extent(2) == input.extent(2), output.extent(3) == input.extent(3),
            output.extent(4) == input.extent(4))",
        "fn rank_5(input: &Tensor<f32, 5>, output: &mut Tensor<f32, 5>) {
            let e = block_x() * 32 + thread_x();
            for a in 0..input.extent(0) {
                for b in 0..input.extent(1) {
                    if e < input.extent(4) {
                        output[[a, b, block_z(), block_y(), e]] = input[[a, b, block_z(), block_y(), e]];
                    }
                }
            }
        }",
    ),
    (
        "get_or",
        "block = [32], grid = [output.len().div_ceil(32)], requires(row.len() == output.len())",
        "fn get_or(table: &Matrix<f32>, row: &Tensor<u32, 1>, output: &mut Tensor<f32, 1>) {
            let i = block_x() * 32 + thread_x();
            let at = row.get_or([i], 0);
            #[budget(excess_sectors = 31, because = \"any rows\")]
            let value = table.get_or([at as usize, 0], -1.0);
            if output.contains([i]) {
                output[[i]] = value + table.get_or([0, i as isize - 1], 0.5);
            }
        }",
    ),
    (
        "orders",
        "block = [32], grid = [output.rows() * output.cols()], requires(index.len() == output.rows() * output.cols())",
        "fn orders(index: &Tensor<u32, 1>, output: &mut Matrix<u32>) {
            let [row, col] = rasterize(block_x(), [output.rows(), output.cols()], 8);
            let [_, r, c] = unflatten(block_x(), [grid_x(), 3, 4]);
            if thread_x() == 0 {
                output[[row, col]] = index[[flatten([block_x() / 4, block_x() % 4], [grid_x(), 4])]] + (r * c) as u32;
            }
        }",
    ),
    (
        "tables",
        "block = [32, 4], grid = [input.cols().div_ceil(32), input.rows().div_ceil(4)],
            requires(output.rows() == input.rows(), output.cols() == input.cols())",
        "fn tables(input: &Matrix<f32>, output: &mut Matrix<f32>, only: usize) {
            const WEIGHTS: [[f32; 3]; 3] = [[1.0 / 16.0, 0.125, 1.0 / 16.0], [0.125, 0.25, 0.125], [0.1, 0.125, -0.0]];
            const SIGNS: [isize; 3] = [-1, 0, 1];
            const LARGE: [usize; 2] = [1 << 40, 3];
            let (r, c) = ((block_y() * 4 + thread_y()) as isize, (block_x() * 32 + thread_x()) as isize);
            let mut sum = 0.0;
            for dr in 0..3 {
                for dc in 0..3 {
                    sum += WEIGHTS[dr][dc] * input.get_or([r + SIGNS[dr], c + SIGNS[dc]], 0.0);
                }
            }
            for k in 0..only {
                if k < 2 {
                    sum += LARGE[k] as f32 * WEIGHTS[k][only % 3];
                }
            }
            if output.contains([r, c]) {
                output[[r as usize, c as usize]] = sum;
            }
        }",
    ),
    (
        "unaligned",
        "block = [32], grid = [output.len().div_ceil(32)], requires(output.len() <= 1 << 20, halves.extent(2) >= 4,
            bytes.cols() >= 48, doubles.len() / 2 >= output.len(), floats.len() / 4 >= output.len(), halves.extent(0) >= 1,
            halves.extent(1) >= 1, bytes.rows() >= 1, signs.len() >= 36)",
        "fn unaligned(bytes: &Matrix<u8>, signs: &Tensor<i8, 1>, halves: &Tensor<f16, 3>, floats: &mut Tensor<f32, 1>,
            doubles: &Tensor<f64, 1>, output: &mut Tensor<f32, 1>) {
            let i = block_x() * 32 + thread_x();
            if i < output.len() {
                let floats = floats.read_unaligned::<4>([4 * i]);
                let doubles = doubles.read_unaligned::<2>([2 * i]);
                let bytes = bytes.read_unaligned::<16>([0, thread_x()]).cast::<f32>();
                let signs = signs.read_unaligned::<4>([thread_x()]).cast::<f32>();
                let halves = halves.read_unaligned::<4>([0, 0, 0]).cast::<f32>();
                output[[i]] = floats.sum() + doubles.cast::<f32>().sum() + bytes.sum() + signs.sum() + halves.sum();
            }
        }",
    ),
];

#[test]
fn golden_files() {
    for (name, attribute, item) in SOURCES {
        let cuda = match compile(attribute, item) {
            Ok(compiled) => compiled.cuda,
            Err(errors) => panic!("{name}: {errors}"),
        };
        expect_file![format!("{}/tests/golden/{name}.cu", env!("CARGO_MANIFEST_DIR"))].assert_eq(&cuda);
    }
}
