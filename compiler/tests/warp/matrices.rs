//! Products of matrices, and reading the factors from a tile.

use super::{Plain, bytes, golden, run, tensor};
use half::{bf16, f16};
use std::str::FromStr;
use tileproof_compiler::diagnostic::Diagnostics;
use tileproof_compiler::ir::MatrixProduct;
use tileproof_compiler::simulate::{Buffer, FaultKind, simulate};
use tileproof_compiler::{ast, lower};

/// Memory of a factor's elements, of which the value is one of these, and of the sum's.
struct Data {
    /// 16 rows of the left factor, then 8 columns of the right one.
    memory: Vec<u8>,
    /// The same, as numbers.
    values: Vec<f64>,
    /// What is added: 16 rows.
    added: Vec<f64>,
}

/// Numbers that look random.
fn random(seed: u64) -> impl Iterator<Item = u64> {
    (seed..).map(|i| {
        let x = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let x = (x ^ x >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
        x ^ x >> 29
    })
}

/// A number between -1 and 1.
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / f64::from(1 << 26) / f64::from(1 << 26) - 1.0
}

/// Of floats between -1 and 1, of integers all.
fn data(product: MatrixProduct) -> Data {
    let count = 24 * product.depth() as usize;
    let mut numbers = random(7);
    let (mut memory, mut values) = (Vec::new(), Vec::new());
    for bits in numbers.by_ref().take(count) {
        let (mut own, value) = match product {
            MatrixProduct::F16 => {
                let x = f16::from_f64(unit(bits));
                (x.to_le_bytes().to_vec(), x.to_f64())
            }
            MatrixProduct::Bf16 => {
                let x = bf16::from_f64(unit(bits));
                (x.to_le_bytes().to_vec(), x.to_f64())
            }
            // The instruction cuts what does not fit 11 bits.
            MatrixProduct::Tf32 => {
                let x = (unit(bits) as f32).to_bits();
                (x.to_le_bytes().to_vec(), f32::from_bits(x & 0xffff_e000).into())
            }
            MatrixProduct::I8 => (vec![bits as u8], f64::from(bits as i8)),
            MatrixProduct::U8 => (vec![bits as u8], f64::from(bits as u8)),
        };
        memory.append(&mut own);
        values.push(value);
    }
    let added = numbers.take(128).map(|bits| match product.sum().is_float() {
        true => f64::from(unit(bits) as f32),
        false => f64::from(bits as i16),
    });
    Data { memory, values, added: added.collect() }
}

/// The exact sum of a row and a column, and the sum of the magnitudes of all that is added.
fn exact(data: &Data, product: MatrixProduct, row: usize, col: usize) -> [f64; 2] {
    let depth = product.depth() as usize;
    let (a, b) = (&data.values[row * depth..], &data.values[(16 + col) * depth..]);
    let added = data.added[8 * row + col];
    let products: Vec<f64> = a.iter().zip(b).take(depth).map(|(a, b)| a * b).collect();
    let magnitudes: f64 = products.iter().map(|product| product.abs()).sum();
    [added + products.iter().sum::<f64>(), added.abs() + magnitudes]
}

/// As the documentation of `mma` states it: `(k + 1) 2^-22` of the magnitudes; of integers nothing.
fn is_near(product: MatrixProduct, value: f64, [exact, magnitudes]: [f64; 2]) -> bool {
    let bound = match product.sum().is_float() {
        true => f64::from(product.depth() + 1) * 2f64.powi(-22) * magnitudes,
        false => 0.0,
    };
    (value - exact).abs() <= bound
}

fn compare<T: Plain + Into<f64>>(product: MatrixProduct, data: &Data, found: &[T]) {
    for (i, value) in found.iter().enumerate() {
        let expected = exact(data, product, i / 8, i % 8);
        let value: f64 = (*value).into();
        assert!(is_near(product, value, expected), "{product:?}: element {i} is {value}, not {expected:?}");
    }
}

fn sums<T: Plain>(data: &Data, of: impl Fn(f64) -> T) -> Vec<T> {
    data.added.iter().map(|value| of(*value)).collect()
}

/// A kernel that reads the factors from a tile.
fn through_a_tile(product: MatrixProduct) -> String {
    let (element, sum) = (product.element(), product.sum());
    let (ty, out, width, zero) =
        (element.name(), sum.name(), 16 / element.bytes(), if sum.is_float() { "0.0" } else { "0" });
    let (row, half) = (2 * width, width / 2);
    let rounded = if product == MatrixProduct::Tf32 { ".map(|x| x.to_tf32())" } else { "" };
    format!(
        "#[tiled_kernel(block = [32], grid = [1], requires(input.len() >= {all}, output.len() >= 128))]
        fn product_{ty}(input: &Tensor<{ty}, 1>, output: &mut Tensor<{out}, 1>) {{
            let mut tile = Shared::<[[{ty}; {row}]; 24], Auto>::new();
            for part in 0..2 {{
                let vector = 32 * part + lane();
                if vector < 48 {{
                    tile.write([vector / 2, vector % 2 * {width}], input.read::<{width}>([{width} * vector]));
                }}
            }}
            sync_warp();
            let a = tile.read_matrices::<{width}>([lane() % 16, lane() / 16 * {width}]){rounded};
            let b = tile.read_matrices::<{half}>([16 + lane() % 8, lane() / 8 % 2 * {width}]);
            let sum = mma(a, b{rounded}, Vector::splat({zero}));
            for half in 0..2 {{
                let place = (lane() / 4 + 8 * half) * 8 + lane() % 4 * 2;
                output.write([place], Vector::new([sum[2 * half], sum[2 * half + 1]]));
            }}
        }}",
        all = 24 * product.depth(),
    )
}

#[test]
fn factors_from_a_tile() {
    for product in MatrixProduct::ALL {
        let source = through_a_tile(product);
        golden(&format!("product_{}", product.element().name()), &source);
        let mut data = data(product);
        data.added.fill(0.0);
        // `to_tf32` rounds, so values that have its bits stay.
        if product == MatrixProduct::Tf32 {
            data.memory = data.values.iter().flat_map(|value| (*value as f32).to_le_bytes()).collect();
        }
        match product {
            MatrixProduct::F16 | MatrixProduct::Bf16 => {
                let input: Vec<u16> = data.memory.chunks_exact(2).map(u16::of).collect();
                compare(product, &data, &run(&source, 1, &input, &[0f32; 128]));
            }
            MatrixProduct::Tf32 => {
                let input: Vec<f32> = data.memory.chunks_exact(4).map(f32::of).collect();
                compare(product, &data, &run(&source, 1, &input, &[0f32; 128]));
            }
            MatrixProduct::I8 | MatrixProduct::U8 => {
                compare(product, &data, &run(&source, 1, &data.memory, &[0i32; 128]));
            }
        }
    }
}

/// A kernel that fetches the elements of the fragments from where the documentation has them. It is not coalesced.
fn element_by_element(product: MatrixProduct) -> String {
    let [left, right, _] = product.widths();
    let (ty, out, depth) = (product.element().name(), product.sum().name(), product.depth());
    let words = 4 / product.element().bytes();
    format!(
        "fn kernel(input: &Tensor<{ty}, 1>, output: &mut Tensor<{out}, 1>) {{
            let l = lane();
            let mut a = Vector::<{ty}, {left}>::splat(input[[0]]);
            let mut b = Vector::<{ty}, {right}>::splat(input[[0]]);
            let mut c = Vector::<{out}, 4>::splat(output[[0]]);
            for i in 0..{left} {{
                let (row, k) = (l / 4 + 8 * (i / {words} % 2), {words} * (l % 4) + i % {words} + 4 * {words} * (i / {words} / 2));
                a[i] = input[[{depth} * row + k]];
            }}
            for i in 0..{right} {{
                let k = {words} * (l % 4) + i % {words} + 4 * {words} * (i / {words});
                b[i] = input[[{depth} * (16 + l / 4) + k]];
            }}
            for i in 0..4 {{
                c[i] = output[[8 * (l / 4 + 8 * (i / 2)) + 2 * (l % 4) + i % 2]];
            }}
            let d = mma(a, b, c);
            for i in 0..4 {{
                output[[8 * (l / 4 + 8 * (i / 2)) + 2 * (l % 4) + i % 2]] = d[i];
            }}
        }}"
    )
}

/// Runs a kernel that the checks have not seen; what it found wrong, if anything.
fn simulated(block: u32, item: &str, input: &[u8], elements: usize, output: &mut [u8]) -> Option<FaultKind> {
    let tokens = |text: &str| proc_macro2::TokenStream::from_str(text).expect("tokens");
    let mut diagnostics = Diagnostics::default();
    let attribute = tokens(&format!("block = [{block}], grid = [1]"));
    let family = ast::parse(attribute, tokens(item), &ast::Scope::default(), &mut diagnostics);
    let family = family.expect("a kernel");
    let kernel = lower::lower(&family.kernels[0], &mut diagnostics);
    assert!(!diagnostics.is_failed(), "{item}");
    let sums = output.len() / 4;
    let mut arguments = [tensor(Buffer::Read(input), elements), tensor(Buffer::Write(output), sums)];
    simulate(&kernel, [1, 1, 1], &mut arguments).err().map(|fault| fault.kind)
}

#[test]
fn elements_are_where_the_documentation_has_them() {
    for product in MatrixProduct::ALL {
        let data = data(product);
        let elements = data.values.len();
        let item = element_by_element(product);
        let is_float = product.sum().is_float();
        let mut output = match is_float {
            true => bytes(&sums(&data, |value| value as f32)),
            false => bytes(&sums(&data, |value| value as i32)),
        };
        assert_eq!(simulated(32, &item, &data.memory, elements, &mut output), None);
        match is_float {
            true => compare(product, &data, &output.chunks_exact(4).map(f32::of).collect::<Vec<_>>()),
            false => compare(product, &data, &output.chunks_exact(4).map(i32::of).collect::<Vec<_>>()),
        }
    }
}

/// From the third matrix on, in ascending order, each product exact and each sum rounded.
#[test]
fn the_order_of_the_simulators_sums() {
    let product = MatrixProduct::Bf16;
    let data = data(product);
    let mut output = bytes(&sums(&data, |value| value as f32));
    let item = element_by_element(product);
    assert_eq!(simulated(32, &item, &data.memory, data.values.len(), &mut output), None);
    for (i, found) in output.chunks_exact(4).map(f32::of).enumerate() {
        let (row, col) = (i / 8 * 16, (16 + i % 8) * 16);
        let terms = (0..16).map(|k| (data.values[row + k] as f32, data.values[col + k] as f32));
        let sum = terms.fold(data.added[i] as f32, |sum, (a, b)| a.mul_add(b, sum));
        assert_eq!(found.to_bits(), sum.to_bits());
    }
}

#[test]
fn sums_of_integers_wrap() {
    let item = element_by_element(MatrixProduct::U8);
    let mut output = bytes(&[i32::MAX; 128]);
    assert_eq!(simulated(32, &item, &[255; 24 * 32], 24 * 32, &mut output), None);
    let expected = i32::MAX.wrapping_add(32 * 255 * 255);
    assert!(output.chunks_exact(4).map(i32::of).all(|sum| sum == expected));
}

/// Each lane's part of matrices whose elements are numbered.
#[test]
fn what_a_lane_gets_of_each_matrix() {
    for (method, count, transposed) in
        [("read_matrices", 1, false), ("read_matrices", 2, false), ("read_matrices", 4, false)]
            .into_iter()
            .chain([1, 2, 4].map(|count| ("read_matrices_transposed", count, true)))
    {
        let source = format!(
            "#[tiled_kernel(block = [32], grid = [1], requires(input.len() >= 256, output.len() >= 256))]
            fn parts(input: &Tensor<u16, 1>, output: &mut Tensor<u16, 1>) {{
                let mut tile = Shared::<[[u16; 8]; 32]>::new();
                tile.write([lane(), 0], input.read::<8>([8 * lane()]));
                sync_warp();
                output.write([{width} * lane()], tile.{method}::<{width}>([lane(), 0]));
            }}",
            width = 2 * count
        );
        let input: Vec<u16> = (0..256).collect();
        let found = run(&source, 1, &input, &[0u16; 256]);
        for (i, value) in found.iter().enumerate().take(64 * count) {
            let (lane, i) = (i / (2 * count), i % (2 * count));
            let (along, across) = (lane % 4 * 2 + i % 2, lane / 4);
            let (row, col) = if transposed { (along, across) } else { (across, along) };
            assert_eq!(
                usize::from(*value),
                8 * (8 * (i / 2) + row) + col,
                "{method} of {count}, lane {lane}"
            );
        }
    }
}

#[test]
fn a_warp_that_is_not_whole_is_a_fault() {
    let product = |guard: &str| {
        format!(
            "fn kernel(input: &Tensor<u8, 1>, output: &mut Tensor<i32, 1>) {{
                let (a, b) = (Vector::<u8, 16>::splat(input[[0]]), Vector::<u8, 8>::splat(input[[1]]));
                if {guard} {{ output[[thread_x()]] = mma(a, b, Vector::splat(0))[0]; }}
            }}"
        )
    };
    let mut output = [0; 4 * 64];
    for (block, guard, missing) in
        [(48, "true", 16), (32, "lane() != 5", 5), (64, "warp() == 0 || lane() < 9", 9)]
    {
        let fault = simulated(block, &product(guard), &[1; 64], 64, &mut output);
        assert_eq!(fault, Some(FaultKind::Divergent { missing }), "{block}, {guard}");
    }
    assert_eq!(simulated(48, &product("warp() == 0"), &[1; 64], 64, &mut output), None);
}
