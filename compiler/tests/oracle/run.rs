//! Kernels on the simulator, at awkward shapes.

use crate::kernel::Kernel;
use proc_macro2::TokenStream;
use std::str::FromStr;
use tileproof_compiler::simulate::{Argument, Buffer, Fault, FaultKind, TensorArgument, simulate};
use tileproof_compiler::{ast, diagnostic::Diagnostics, ir, lower};
use tileproof_model::report::SiteCounts;

/// Lowers a kernel without checking it.
pub(crate) fn lowered(attribute: &str, item: &str) -> ir::Kernel {
    let parse = |text| TokenStream::from_str(text).expect("the text has matching brackets");
    let mut diagnostics = Diagnostics::default();
    let ast = ast::parse(parse(attribute), parse(item), &ast::Scope::default(), &mut diagnostics)
        .expect("the text is a function")
        .kernels
        .remove(0);
    let kernel = lower::lower(&ast, &mut diagnostics);
    assert!(!diagnostics.is_failed(), "{:?}\n{item}", diagnostics.errors());
    kernel
}

/// Rows, columns and elements between rows of both tensors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    pub(crate) rows: i64,
    pub(crate) columns: i64,
    pub(crate) pitch: i64,
}

/// A shape that does not cut the first block, its rows at whole lines.
pub(crate) fn whole(kernel: &Kernel) -> Shape {
    let [rows, columns] = kernel.span;
    // One more, for neighbours.
    let columns = columns + kernel.width;
    Shape { rows: rows + kernel.ahead, columns, pitch: columns / 128 * 128 + 128 }
}

/// Shapes around the span of a block, as far as the contract allows them.
pub(crate) fn shapes(kernel: &Kernel) -> Vec<Shape> {
    let [rows, columns] = kernel.span;
    let pairs = [
        (0, 0),
        (1, 1),
        (0, 5),
        (rows, columns),
        (rows + 1, columns + 1),
        (2 * rows, 2 * columns),
        (2 * rows + 1, columns - 1),
        (rows - 1, 3 * columns + 1),
        (37, 41),
        (1, 97),
        (53, 2),
    ];
    pairs
        .into_iter()
        .enumerate()
        .map(|(place, (rows, columns))| {
            let columns = columns / kernel.width * kernel.width;
            // Every other one has elements between its rows that belong to nobody.
            let between = if place % 2 == 0 { 0 } else { 3 * kernel.width };
            Shape { rows, columns, pitch: (columns + between).max(kernel.width) }
        })
        .collect()
}

/// The grid of a launch at a shape.
pub(crate) fn grid(kernel: &Kernel, shape: Shape) -> [u32; 3] {
    let blocks = |extent: i64, span: i64| (extent as u32).div_ceil(span as u32);
    let y = if kernel.streams { 1 } else { blocks(shape.rows, kernel.span[0]) };
    [blocks(shape.columns, kernel.span[1]), y, 1]
}

/// Runs a lowered kernel.
pub(crate) fn run(
    source: &Kernel,
    lowered: &ir::Kernel,
    shape: Shape,
    grid: [u32; 3],
    n: i64,
) -> Result<Vec<SiteCounts>, Fault> {
    let bytes = u64::from(
        lowered.element(ir::Base::Tensor(lowered.params.handles().nth(1).expect("an input"))).bytes(),
    );
    let Shape { rows, columns, pitch } = shape;
    // A kernel that streams writes a row for each of the block's own rows.
    let written = if source.streams { source.block[1] } else { rows };
    let length = |rows: i64| ((rows * pitch) as u64 * bytes) as usize;
    let input: Vec<u8> = (0..length(rows)).map(|place| (place * 37 % 61) as u8).collect();
    let mut output = vec![0u8; length(written)];
    let tensor = |buffer, rows: i64| {
        Argument::Tensor(TensorArgument {
            buffer,
            extents: vec![rows as u64, columns as u64],
            strides: vec![pitch as u64],
            base: 0,
        })
    };
    let mut arguments = [
        Argument::Scalar(n as u64),
        tensor(Buffer::Read(&input), rows),
        tensor(Buffer::Write(&mut output), written),
    ];
    simulated(lowered, grid, &mut arguments)
}

/// Runs a lowered kernel with arguments that fit.
pub(crate) fn simulated(
    lowered: &ir::Kernel,
    grid: [u32; 3],
    arguments: &mut [Argument<'_>],
) -> Result<Vec<SiteCounts>, Fault> {
    let result = simulate(lowered, grid, arguments);
    if let Err(fault @ Fault { kind: FaultKind::ArgumentCount { .. } | FaultKind::Argument { .. }, .. }) =
        &result
    {
        panic!("the arguments fit: {fault}");
    }
    result
}
