//! Vectors that begin anywhere, in tensors that begin anywhere.

use super::*;
use crate::simulate::simulate;
use std::collections::BTreeSet;

/// A kernel of one warp in which each thread reads a vector of a row of its own, from `col` on, where that has so many
/// elements.
fn rows(element: &str, size: u64, width: u64) -> Kernel {
    let attribute = format!(
        "block = [32], grid = [1], requires(col < 1000, output.rows() >= input.rows(), output.cols() == {width})"
    );
    // What a row a lane costs, where 32 sectors are needed and all lanes side by side would take fewer.
    let budget =
        |bytes: u64| format!("#[budget(excess_sectors = {}, because = \"a row a lane\")]", 32 - bytes);
    let item = format!(
        "fn kernel(col: usize, input: &Matrix<{element}>, output: &mut Matrix<{element}>) {{
            let t = thread_x();
            if t < input.rows() && col + {width} <= input.cols() {{
                {}
                let vector = input.read_unaligned::<{width}>([t, col]);
                for i in 0..{width} {{
                    {}
                    output[[t, i]] = vector[i];
                }}
            }}
        }}",
        budget(size * width),
        budget(size),
    );
    crate::compile(&attribute, &item).unwrap_or_else(|error| panic!("{element} {width}: {error}")).kernel
}

/// What the kernel finds and counts, against the bytes themselves and the places of the aligned vectors.
fn run(kernel: &Kernel, size: u64, width: u64, [rows, cols, pitch, base, col]: [u64; 5]) {
    let case = format!("{width} × {size} bytes, {rows} × {cols} at {base} in rows of {pitch}, from {col} on");
    let elements = if rows * cols == 0 { 0 } else { (rows - 1) * pitch + cols };
    let bytes: Vec<u8> = (0..elements * size).map(|i| (i * 37 % 251) as u8).collect();
    let mut result = vec![0; (rows * width * size) as usize];
    let source = Argument::Tensor(TensorArgument {
        buffer: Buffer::Read(&bytes),
        extents: vec![rows, cols],
        strides: vec![pitch],
        base,
    });
    let arguments = &mut [Argument::Scalar(col), source, output(&mut result, &[rows, width])];
    let counts = simulate(kernel, [1; 3], arguments).unwrap_or_else(|fault| panic!("{case}: {fault}"));
    let vector = size * width;
    let (mut first, mut last, mut single) = (BTreeSet::new(), BTreeSet::new(), 0);
    for row in (0..rows).filter(|_| col + width <= cols) {
        let start = (row * pitch + col) * size;
        let found = &result[(row * vector) as usize..][..vector as usize];
        assert_eq!(found, &bytes[start as usize..][..vector as usize], "{case}, row {row}");
        let address = base + start;
        let (low, high) = (address / vector * vector, address.next_multiple_of(vector));
        if low < base || high + vector > base + elements * size {
            single += 1;
            continue;
        }
        first.insert(low / 32);
        if low != high {
            last.insert(high / 32);
        }
    }
    assert_eq!([counts[0].sectors, counts[1].sectors], [first.len() as u64, last.len() as u64], "{case}");
    assert_eq!(counts[2].instructions, if single > 0 { width } else { 0 }, "{case}");
}

#[test]
fn every_offset_and_pitch() {
    for (element, size, width) in [
        ("u8", 1, 4),
        ("u8", 1, 16),
        ("i16", 2, 4),
        ("f16", 2, 8),
        ("f32", 4, 2),
        ("f32", 4, 4),
        ("u64", 8, 2),
    ] {
        let kernel = rows(element, size, width);
        for cols in [0, 1, width - 1, width, width + 1, 3 * width + 1] {
            for pitch in [cols, cols + 1, cols + width - 1] {
                for base in (0..16).step_by(size as usize) {
                    for col in 0..=cols.saturating_sub(width) + 1 {
                        for rows in [0, 1, 3] {
                            run(&kernel, size, width, [rows, cols, pitch, base, col]);
                        }
                    }
                }
            }
        }
    }
}

/// Lanes side by side: at the best alignment what the report says, and half as much where nothing is shifted.
#[test]
fn lanes_side_by_side() {
    let attribute = "block = [32], grid = [1], requires(input.len() >= 260, offset < 5, output.len() >= 128)";
    let item = "fn kernel(offset: usize, input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
        let i = 4 * thread_x();
        output.write([i], input.read_unaligned::<4>([i + 64 + offset]));
    }";
    let compiled = crate::compile(attribute, item).unwrap_or_else(|error| panic!("{error}"));
    let values: Vec<f32> = (0..260).map(|i| i as f32).collect();
    let bytes = f32_bytes(values.clone());
    for (offset, sectors) in [(0, [16, 0]), (1, [16, 17]), (3, [16, 17]), (4, [17, 0])] {
        let mut result = f32_bytes([0.0; 128]);
        let arguments = &mut [Argument::Scalar(offset), input(&bytes, &[260]), output(&mut result, &[128])];
        let counts = simulate(&compiled.kernel, [1; 3], arguments).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(f32_values(&result), &values[64 + offset as usize..][..128]);
        assert_eq!([counts[0].sectors, counts[1].sectors], sectors, "offset {offset}");
        assert_eq!(counts[2].instructions, 0);
    }
}
