//! Every kernel on the simulator: results against the reference at awkward sizes; of the ladder, counts against the report.

use tileproof::Counts;
use tileproof::prelude::*;
use tileproof::report::{Role, Space};
use tileproof_examples::kernels::SUBJECTS;
use tileproof_examples::ladder::{LADDER, random};
use tileproof_examples::subject::Subject;

/// Runs a kernel at a size and demands that every element is right, and that nothing else was written.
fn run(subject: &Subject, size: &[usize], gap: usize) -> Counts {
    let place = format!("{} at {size:?}, gap {gap}", subject.name);
    let (counts, run) = match (subject.simulate)(size, gap) {
        Ok(result) => result,
        Err(error) => panic!("{place}: {error}"),
    };
    if let Some(difference) = run.difference(subject.ulps) {
        panic!("{place}: {difference}");
    }
    counts
}

#[test]
fn every_kernel_equals_its_reference() {
    for subject in SUBJECTS {
        for size in subject.sizes {
            run(subject, size, 0);
        }
    }
}

#[test]
fn rows_may_lie_apart() {
    for subject in SUBJECTS {
        for size in subject.sizes {
            run(subject, size, subject.gap);
        }
    }
}

#[test]
fn every_kernel_of_the_ladder_has_its_subject() {
    for rung in LADDER {
        assert!(SUBJECTS.iter().any(|subject| subject.name == rung.name), "{}", rung.name);
    }
}

/// At a size that the tiles divide, every block is the block that the report is about.
#[test]
fn counts_are_those_of_the_report() {
    for rung in LADDER {
        let (rows, cols) = (1024, 1024);
        let input = random(rows * cols, 1);
        let mut output = vec![f32::NAN; rows * cols];
        let input = HostTensor::new(&input, [rows, cols]).expect("a view of the input");
        let mut output = HostTensorMut::new(&mut output, [rows, cols]).expect("a view of the output");
        let counts = (rung.simulate)(&input, &mut output).expect("a run");
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

/// The large size comes first and is left to the host with the profiler.
#[test]
fn where_a_profiler_counts_every_kernel_equals_its_reference() {
    for subject in SUBJECTS {
        assert!(subject.shapes().count() >= 3, "{}", subject.name);
        for shape in subject.shapes().skip(1) {
            run(subject, shape.size, shape.gap);
        }
    }
}
