//! Launches of kernels of phases, and what goes wrong in them.

use crate::phases::Phased;
use crate::run::simulated;
use tileproof_compiler::ir;
use tileproof_compiler::simulate::{Argument, Buffer, Fault, TensorArgument};

/// The arguments of a launch.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    n: u64,
    m: u64,
    flag: bool,
    /// Rows and columns of the input.
    rows: u64,
    columns: u64,
    /// Blocks, one a row of the output.
    blocks: u64,
}

/// Launches with every small number of iterations, of several loops.
pub(crate) fn launches(kernel: &Phased) -> Vec<Launch> {
    let threads = kernel.threads() as u64;
    // Of every residue, with a part of the threads below it.
    let part = (threads / 12 * 12).saturating_sub(4);
    let counts: [(u64, u64, u64); 28] = [
        (7, 3, 2),
        (0, 0, 1),
        (1, 1, 1),
        (2, 2, 3),
        (3, 7, 7),
        (0, 2, 3),
        (1, 0, 2),
        (2, 0, 7),
        (3, 1, 1),
        (7, 0, 1),
        (0, 1, 3),
        (1, 3, 4),
        (2, 1, 1),
        (3, 3, 3),
        (4, 4, 2),
        (0, 7, 2),
        (1, 2, 1),
        (2, 3, 1),
        (5, 2, 5),
        (threads - 1, 1, 1),
        (part, 1, 1),
        (part + 1, 2, 1),
        (part + 2, 3, 1),
        (part + 3, 0, 1),
        // All threads, and one residue more than four iterations have.
        (threads, 1, 1),
        (0, 5, 1),
        (5, 0, 1),
        (1, 5, 1),
    ];
    let columns = [kernel.columns as u64, 3, threads + threads / 2, 0];
    let each = counts.into_iter().zip(columns.into_iter().cycle());
    // Where loops do not go round, or not far, with every choice by the input's extents.
    let short = [(0, 0), (1, 0), (0, 1), (1, 1), (2, 1), (3, 0), (0, 3)];
    let inputs = [(1, columns[0]), (5, columns[0]), (5, columns[1]), (5, columns[3]), (1, 2)];
    let chosen = short.into_iter().flat_map(|(n, m)| inputs.map(|(rows, columns)| ((n, m, rows), columns)));
    let each = each.chain(chosen);
    let launch = |flag| {
        move |((n, m, rows), columns): ((u64, u64, u64), u64)| {
            let blocks = rows.min(1 + u64::from(columns == 3));
            Launch { n, m, flag, rows, columns, blocks }
        }
    };
    let launches = each.clone().map(launch(true)).chain(each.map(launch(false)));
    launches.filter(|launch| launch.n >= kernel.least).collect()
}

/// Runs a lowered kernel.
pub(crate) fn run(source: &Phased, lowered: &ir::Kernel, launch: Launch) -> Result<(), Fault> {
    let bytes = source.element[1..].parse::<u64>().expect("an element's name ends with its bits") / 8;
    let Launch { n, m, flag, rows, columns, blocks } = launch;
    let pitch = columns.next_multiple_of(4).max(4);
    let input: Vec<u8> = (0..rows * pitch * bytes).map(|place| (place * 37 % 61) as u8).collect();
    let width = source.columns as u64;
    let mut output = vec![0u8; (blocks * width * bytes) as usize];
    let tensor = |buffer, rows, columns, pitch| {
        Argument::Tensor(TensorArgument {
            buffer,
            extents: vec![rows, columns],
            strides: vec![pitch],
            base: 0,
        })
    };
    let mut arguments = [
        Argument::Scalar(n),
        Argument::Scalar(m),
        Argument::Scalar(u64::from(flag)),
        tensor(Buffer::Read(&input), rows, columns, pitch),
        tensor(Buffer::Write(&mut output), blocks, width, width),
    ];
    simulated(lowered, [blocks as u32, 1, 1], &mut arguments).map(|_| ())
}
