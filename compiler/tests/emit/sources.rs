//! Kernels as text, whose CUDA text is a golden file: NVRTC compiles these too.

use expect_test::expect_file;
use tileproof_compiler::compile;

/// Name of the golden file, arguments of the attribute, function.
const SOURCES: [(&str, &str, &str); 2] = [
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
                output[[i]] = value + table.get_or([0, i], 0.5);
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
