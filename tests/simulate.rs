//! The ladder on the simulator: results against the reference at awkward sizes, counts against the report.

use tileproof::Counts;
use tileproof::prelude::*;
use tileproof::report::{Role, Space};
use tileproof_examples::ladder::{LADDER, Rung, random};

/// The sizes: one element, edges on both sides of a tile's, nothing, whole tiles, and large.
const SIZES: [(usize, usize); 8] =
    [(1, 1), (31, 33), (64, 0), (0, 5), (33, 31), (64, 64), (65, 129), (1000, 777)];

/// Runs a kernel on random data whose rows begin `gap` elements after the end of the one before, compares every element
/// with the reference, and demands that the gaps are untouched.
fn run(rung: &Rung, rows: usize, cols: usize, gap: usize) -> Counts {
    let (rows, cols) = rung.storage(rows, cols);
    let (out_rows, out_cols) = rung.output_extents(rows, cols);
    let (pitch, out_pitch) = (cols + gap, out_cols + gap);
    let input = random(rows * pitch, (rows + 31 * cols) as u64);
    let mut output = vec![f32::NAN; out_rows * out_pitch];
    let place = format!("{} at {rows} × {cols}, gap {gap}", rung.name);
    let input_view = HostTensor::with_strides(&input, [rows, cols], [pitch, 1]).expect("a view of the input");
    let mut output_view = HostTensorMut::with_strides(&mut output, [out_rows, out_cols], [out_pitch, 1])
        .expect("a view of the output");
    let counts = match (rung.simulate)(&input_view, &mut output_view) {
        Ok(counts) => counts,
        Err(error) => panic!("{place}: {error}"),
    };
    let dense: Vec<f32> = (0..rows).flat_map(|row| &input[row * pitch..][..cols]).copied().collect();
    let reference = rung.reference(&dense, rows, cols);
    for row in 0..out_rows {
        let (elements, gap) = output[row * out_pitch..][..out_pitch].split_at(out_cols);
        assert_eq!(elements, &reference[row * out_cols..][..out_cols], "{place}, row {row}");
        assert!(gap.iter().all(|element| element.is_nan()), "{place}: the gap after row {row} was written");
    }
    counts
}

#[test]
fn every_kernel_equals_its_reference() {
    for rung in LADDER {
        for (rows, cols) in SIZES {
            let counts = run(&rung, rows, cols, 0);
            let instructions: u64 = counts.sites.iter().map(|site| site.counts.instructions).sum();
            assert_eq!(instructions == 0, rows * cols == 0, "{} at {rows} × {cols}", rung.name);
        }
    }
}

#[test]
fn rows_may_lie_apart() {
    for rung in LADDER {
        for (rows, cols) in [(1, 1), (31, 33), (65, 129)] {
            run(&rung, rows, cols, 3 * rung.multiple);
        }
    }
}

/// At a size that the tiles divide, every block is the block that the report is about.
#[test]
fn counts_are_those_of_the_report() {
    for rung in LADDER {
        let (rows, cols) = (1024, 1024);
        let counts = run(&rung, rows, cols, 0);
        let read = counts.total(Space::Global, Role::Read);
        assert_eq!(read.useful_bytes, 4 * (rows * cols) as u64, "each element is read once");
        let report = (rung.report)();
        let read_a_block: u64 = report
            .sites
            .iter()
            .filter(|site| site.space == Space::Global && site.role == Role::Read)
            .map(|site| site.useful_bytes)
            .sum();
        let blocks = read.useful_bytes / read_a_block;
        assert_eq!(counts.sites.len(), report.sites.len());
        for (run, site) in counts.sites.iter().zip(report.sites.iter()) {
            let counted = run.counts;
            let sums = |scale: u64| {
                [
                    site.instructions,
                    site.wavefronts,
                    site.ideal_wavefronts,
                    site.sectors,
                    site.ideal_sectors,
                    site.useful_bytes,
                ]
                .map(|number| number * scale)
            };
            let counted = [
                counted.instructions,
                counted.wavefronts,
                counted.ideal_wavefronts,
                counted.sectors,
                counted.ideal_sectors,
                counted.useful_bytes,
            ];
            assert_eq!(counted, sums(blocks), "{}: {site}", rung.name);
        }
    }
}
