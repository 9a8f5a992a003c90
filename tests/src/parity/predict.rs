//! What the simulator says of a launch.

use super::place::{self, Counts, Place};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::error::Error;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tileproof::__private::Operation;
use tileproof::SiteRun;
use tileproof::report::{SiteReport, Space};
use tileproof_examples::subject::{Run, Shape, Subject};

/// A launch: a kernel at a size.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Launch {
    /// The kernel.
    pub kernel: String,
    /// The numbers of the size; what they mean is the kernel's affair.
    pub size: Vec<usize>,
    /// Elements behind each row.
    pub gap: usize,
}

/// What is expected of a launch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prediction {
    /// The launch.
    #[serde(flatten)]
    pub launch: Launch,
    /// What each place is predicted to count, in order of the places. One that never executes counts nothing.
    pub places: Vec<(Place, Counts)>,
}

/// The launches of a subject, in the order in which they are made.
pub fn launches(subject: &Subject) -> impl Iterator<Item = (Launch, Shape)> + use<> {
    let kernel = subject.name;
    subject.shapes().map(move |shape| {
        (Launch { kernel: kernel.to_owned(), size: shape.size.to_vec(), gap: shape.gap }, shape)
    })
}

/// The simulator's counts of every launch of these subjects, on all processors.
///
/// # Errors
/// Of the first launch that goes wrong, what the simulator says or which element of the result is not as the reference has it.
pub fn all(subjects: &[Subject]) -> Result<Vec<Prediction>, String> {
    let work: Vec<(Subject, Launch, Shape)> = subjects
        .iter()
        .flat_map(|subject| launches(subject).map(|(launch, shape)| (*subject, launch, shape)))
        .collect();
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((subject, launch, shape)) = work.get(index) else { return done };
            done.push((index, one(subject, launch, *shape)));
        }
    };
    let threads = thread::available_parallelism().map_or(1, usize::from).min(work.len());
    let mut done: Vec<(usize, Result<Prediction, String>)> = thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|it| it.join().expect("a worker that panicked has said why")).collect()
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().map(|(_, predicted)| predicted).collect()
}

fn one(subject: &Subject, launch: &Launch, shape: Shape) -> Result<Prediction, String> {
    let said = |error: Box<dyn Error>| format!("{} at {:?}: {error}", launch.kernel, launch.size);
    let (counts, run) = (subject.simulate)(shape.size, shape.gap).map_err(said)?;
    right(subject, &run).map_err(said)?;
    Ok(Prediction { launch: launch.clone(), places: places(&counts.sites) })
}

/// Demands the reference's result.
///
/// # Errors
/// The first element that differs, in words.
pub fn right(subject: &Subject, run: &Run) -> Result<(), Box<dyn Error>> {
    match run.difference(subject.ulps) {
        None => Ok(()),
        Some(difference) => Err(difference.into()),
    }
}

/// Whether a site is an update in shared memory that is a loop in the machine code, of a load and an atomic.
pub fn is_loop(site: &SiteReport) -> bool {
    site.operation == Operation::LoopShared
}

/// The sums of the sites that share a place.
pub fn places(sites: &[SiteRun]) -> Vec<(Place, Counts)> {
    let mut places: BTreeMap<Place, Counts> = BTreeMap::new();
    for SiteRun { site, counts } in sites {
        let counts = Counts {
            requests: counts.instructions,
            reads: 0,
            lanes: counts.lanes,
            wavefronts: counts.wavefronts,
            ideal_wavefronts: counts.ideal_wavefronts,
            sectors: counts.sectors,
            lines: counts.lines,
            repeated_bytes: (counts.lanes * u64::from(site.lane_bytes)).saturating_sub(counts.useful_bytes),
            loops: if is_loop(site) { counts.instructions } else { 0 },
        };
        // Of an asynchronous copy, the half that reads has the sectors, and the one that writes counts the instructions.
        let counts = match (site.asynchronous, site.space) {
            (true, Space::Global) => Counts { requests: 0, reads: counts.requests, lanes: 0, ..counts },
            (true, Space::Shared) | (false, _) => counts,
        };
        *places.entry(place::of_site(site)).or_default() += counts;
    }
    places.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sass::{Access, Action};
    use tileproof_examples::kernels::{elementwise, matmul};

    #[test]
    fn launches_are_predicted_in_order() {
        let add = Subject { counted: &[&[1024], &[33]], ..elementwise::ADD };
        let saxpy = Subject { counted: &[&[64]], ..elementwise::SAXPY_F64 };
        let predicted = all(&[add, saxpy]).unwrap();
        let names: Vec<_> = predicted
            .iter()
            .map(|it| (it.launch.kernel.as_str(), it.launch.size[0], it.launch.gap))
            .collect();
        assert_eq!(names, [("add", 1024, 0), ("add", 33, 3), ("saxpy_f64", 64, 0)]);
        let total = predicted[1].places.iter().fold(Counts::default(), |mut sum, (_, counts)| {
            sum += *counts;
            sum
        });
        // Three accesses of a full warp and one lane.
        assert_eq!((total.requests, total.lanes, total.sectors, total.lines), (6, 99, 15, 6));
        let json = serde_json::to_string(&predicted).unwrap();
        assert_eq!(serde_json::from_str::<Vec<Prediction>>(&json).unwrap(), predicted);
    }

    #[test]
    fn a_wrong_result_is_no_prediction() {
        let wrong = Subject {
            simulate: |_, _| Err("element [3] is 1, not 2".into()),
            counted: &[&[4]],
            ..elementwise::ADD
        };
        assert_eq!(all(&[wrong]).unwrap_err(), "add at [4]: element [3] is 1, not 2");
    }

    #[test]
    fn the_halves_of_an_asynchronous_copy_are_one_place() {
        let predicted = all(&[Subject { counted: &[&[64, 64, 16]], ..matmul::MATMUL_ASYNC }]).unwrap();
        let copies: Vec<_> = predicted[0]
            .places
            .iter()
            .filter(|(place, _)| place.access.action == Action::CopyAsync)
            .collect();
        assert!(!copies.is_empty());
        for (place, counts) in copies {
            let Access { bytes, .. } = place.access;
            assert_eq!(counts.lanes * u64::from(bytes), 32 * counts.sectors, "{place:?}: {counts:?}");
        }
    }

    /// Beyond the edges of the matrices a copy reads nothing. An H200 counted these.
    #[test]
    fn copies_that_write_zeros_ask_no_cache() {
        let subject = Subject { counted: &[&[4, 4, 4], &[65, 68, 20], &[1, 300, 4]], ..matmul::MATMUL_ASYNC };
        let predicted = all(&[subject]).unwrap();
        let copies = |prediction: &Prediction| {
            let copies =
                prediction.places.iter().filter(|(place, _)| place.access.action == Action::CopyAsync);
            copies
                .map(|(_, counts)| (counts.requests, counts.reads))
                .fold((0, 0), |a, b| (a.0 + b.0, a.1 + b.1))
        };
        assert_eq!([copies(&predicted[1]), copies(&predicted[2])], [(416, 156), (320, 45)]);
    }
}
