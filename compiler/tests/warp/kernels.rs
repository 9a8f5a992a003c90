//! Whole kernels: a sum over the grid, scans, a sort, softmax and norms of rows.

use super::{bytes, compiled, golden, numbers, run};
use tileproof_compiler::simulate::{Argument, Buffer, TensorArgument, simulate};

/// Runs a kernel of two matrices with rows of `cols` elements, `pitch` apart; the output.
#[track_caller]
fn run_rows(source: &str, rows: usize, cols: usize, pitch: usize, input: &[f32]) -> Vec<f32> {
    let compiled = compiled(source);
    let input = bytes(input);
    let mut output = vec![0; input.len()];
    let matrix = |buffer| {
        let (extents, strides) = (vec![rows as u64, cols as u64], vec![pitch as u64]);
        Argument::Tensor(TensorArgument { buffer, extents, strides, base: 0 })
    };
    let mut arguments = [matrix(Buffer::Read(&input)), matrix(Buffer::Write(&mut output))];
    if let Err(fault) = simulate(&compiled.kernel, [rows as u32, 1, 1], &mut arguments) {
        panic!("{fault}\nin\n{source}");
    }
    output.chunks_exact(4).map(|x| f32::from_le_bytes([x[0], x[1], x[2], x[3]])).collect()
}

/// Lanes, then warps, then blocks: the last step is an atomic add.
#[test]
fn a_sum_over_the_grid() {
    let source =
        "#[tiled_kernel(block = [256], grid = [input.len().div_ceil(1024)], requires(output.len() == 1))]
        fn sum(input: &Tensor<u32, 1>, output: &mut Tensor<u32, 1>) {
            let mut own = 0;
            for k in 0..4 {
                let i = block_x() * 1024 + k * 256 + thread_x();
                if i < input.len() { own += input[[i]]; }
            }
            let total = block_sum(own);
            if thread_x() == 0 { output.atomic_add([0], total); }
        }";
    for length in [0usize, 1, 31, 1024, 1025, 5000] {
        let input: Vec<u32> = numbers(length).map(u32::from).collect();
        let output = run(source, (length as u32).div_ceil(1024), &input, &[7u32]);
        assert_eq!(output, [7 + input.iter().sum::<u32>()]);
    }
    golden("sum_of_all", source);
}

/// Each block compacts what is positive: a scan gives the places.
#[test]
fn a_compaction() {
    let source = "#[tiled_kernel(block = [96], grid = [1], requires(input.len() == 96, output.len() == 97))]
        fn compact(input: &Tensor<i32, 1>, output: &mut Tensor<i32, 1>) {
            let v = input[[thread_x()]];
            let keep = v > 40;
            let place = block_scan_exclusive(keep as u32) as usize;
            if keep && place < 96 {
                #[budget(excess_sectors = 31, because = \"the places are data\")]
                #[trust(race, because = \"as many threads come before as keep a value\")]
                output[[place]] = v;
            }
            let count = sync_threads_count(keep);
            if thread_x() == 0 { output[[96]] = count as i32; }
        }";
    let input: Vec<i32> = numbers(96).map(i32::from).collect();
    let output = run(source, 1, &input, &[0i32; 97]);
    let kept: Vec<i32> = input.into_iter().filter(|x| *x > 40).collect();
    assert_eq!(output[96] as usize, kept.len());
    assert_eq!(output[..kept.len()], kept);
}

/// Partners are an XOR of the index apart: within a warp by shuffles, further in shared memory.
#[test]
fn a_bitonic_sort() {
    let mut steps = String::new();
    for size in [2usize, 4, 8, 16, 32, 64, 128, 256] {
        let mut distance = size / 2;
        while distance > 0 {
            let exchange = match distance < 32 {
                true => format!("let other = shuffle_xor(v, {distance});"),
                false => {
                    format!("sync_threads(); tile[i] = v; sync_threads(); let other = tile[i ^ {distance}];")
                }
            };
            steps.push_str(&format!(
                "{exchange}
                let keeps_smaller = (i & {distance} == 0) == (i & {size} == 0);
                v = if keeps_smaller {{ v.min(other) }} else {{ v.max(other) }};\n"
            ));
            distance /= 2;
        }
    }
    let source = format!(
        "#[tiled_kernel(block = [256], grid = [1], requires(input.len() == 256, output.len() == 256))]
        fn sort(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {{
            let mut tile = Shared::<[f32; 256]>::new();
            let i = thread_x();
            let mut v = input[[i]];
            {steps}
            output[[i]] = v;
        }}"
    );
    let input: Vec<f32> = numbers(256).map(|x| f32::from(x) - 40.0).collect();
    let output = run(&source, 1, &input, &input);
    let mut expected = input;
    expected.sort_by(f32::total_cmp);
    assert_eq!(output, expected);
}

/// A row a block, read once: the values stay in registers.
#[test]
fn rms_norms_of_rows() {
    let source = "#[tiled_kernel(
            block = [128],
            grid = [input.rows()],
            requires(output.rows() == input.rows(), output.cols() == input.cols(), input.cols() <= 512),
        )]
        fn rmsnorm(input: &Matrix<f32>, output: &mut Matrix<f32>) {
            let row = block_x();
            let mut values = [0.0f32; 4];
            let mut squares = 0.0f32;
            for k in 0..4 {
                let col = k * 128 + thread_x();
                if col < input.cols() { values[k] = input[[row, col]]; }
                squares += values[k] * values[k];
            }
            let mean = block_sum(squares) / input.cols() as f32;
            for k in 0..4 {
                let col = k * 128 + thread_x();
                if col < input.cols() { output[[row, col]] = values[k] / mean; }
            }
        }"
    .replace("#[tiled_kernel(\n            block", "#[tiled_kernel(block");
    let source = source.replace("input.cols() <= 512),\n        )]", "input.cols() <= 512))]");
    for (rows, cols, pitch) in [(1, 1, 1), (3, 130, 130), (2, 511, 520), (5, 512, 512), (4, 97, 128)] {
        let input: Vec<f32> = numbers(rows * pitch).map(|x| f32::from(x) / 8.0 - 3.0).collect();
        let output = run_rows(&source, rows, cols, pitch, &input);
        for row in 0..rows {
            let values = &input[row * pitch..row * pitch + cols];
            let mut own = vec![0.0f32; 128];
            for (thread, sum) in own.iter_mut().enumerate() {
                for k in 0..4 {
                    let value = values.get(k * 128 + thread).copied().unwrap_or(0.0);
                    *sum += value * value;
                }
            }
            let sums: Vec<f32> = own.chunks(32).map(super::library::warp_sum).collect();
            let mean = sums[1..].iter().fold(sums[0], |a, b| a + b) / cols as f32;
            for col in 0..cols {
                assert_eq!(output[row * pitch + col], values[col] / mean, "{row} {col} of {rows} × {cols}");
            }
        }
    }
}

/// Warps that share nothing with each other sum their own rows.
#[test]
fn sums_of_rows_by_warps() {
    let source =
        "#[tiled_kernel(block = [32, 4], grid = [1], requires(input.len() == 128 * 4, output.len() == 4))]
        fn rows(input: &Tensor<f64, 1>, output: &mut Tensor<f64, 1>) {
            let mut own = 0.0;
            for k in 0..4 { own += input[[warp() * 128 + k * 32 + lane()]]; }
            if warp() % 2 == 0 {
                own = warp_sum(own);
            } else {
                own = -warp_sum(-own);
            }
            if lane() == 0 { output[[warp()]] = own; }
        }";
    let input: Vec<f64> = numbers(512).map(f64::from).collect();
    let output = run(source, 1, &input, &[0f64; 4]);
    let sums: Vec<f64> = input.chunks(128).map(|row| row.iter().sum()).collect();
    assert_eq!(output, sums);
}
