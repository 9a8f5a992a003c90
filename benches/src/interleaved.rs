//! Times subjects in turns: a round runs each of them once, so that clocks, temperature and neighbours that change over
//! the seconds of a measurement meet all of them alike.

use crate::lead::Lead;
use crate::memory::Memory;
use crate::subjects::{Measured, Subject};
use std::sync::Arc;
use tileproof::Error;
use tileproof::cudarc::driver::CudaStream;
use tileproof::timing::{Times, elapsed};

/// The times of each subject over `rounds` rounds, each round beginning with another subject. A sample is the mean of
/// `launches` launches in one stream, each on the next window of the memory; a [lead](crate::lead) and one more before them are not
/// timed, and keep the GPU busy while they are enqueued.
///
/// # Errors
/// What a launch returns.
///
/// # Panics
/// If `rounds` or `launches` is 0.
pub fn interleaved<T: Measured>(
    stream: &Arc<CudaStream>,
    memory: &mut Memory<T>,
    subjects: &[Subject<T>],
    rounds: usize,
    launches: u32,
) -> Result<Vec<Times>, Error> {
    let mut lead = Lead::new(stream)?;
    let mut samples = vec![Vec::with_capacity(rounds); subjects.len()];
    // the first round compiles, loads and warms up
    for round in 0..=rounds {
        for turn in 0..subjects.len() {
            let index = (round + turn) % subjects.len();
            let subject = &subjects[index];
            let mut enqueue = || {
                let (input, mut output) = memory.turn();
                (subject.enqueue)(stream, &input, &mut output)
            };
            lead.enqueue(stream)?;
            enqueue()?;
            let total = elapsed(stream, || (0..launches).try_for_each(|_| enqueue()))?;
            if round > 0 {
                samples[index].push(total / launches);
            }
        }
    }
    Ok(samples.into_iter().map(Times::of).collect())
}

/// The times of subjects, by their numbers, that take turns in so many rounds after one to warm up, each round beginning with another
/// one and each sample behind a [lead](crate::lead).
///
/// # Errors
/// What a launch returns.
///
/// # Panics
/// If `rounds` is 0.
pub fn in_turns(
    stream: &Arc<CudaStream>,
    rounds: usize,
    subjects: usize,
    mut enqueue: impl FnMut(usize) -> Result<(), Error>,
) -> Result<Vec<Times>, Error> {
    let mut lead = Lead::new(stream)?;
    let mut samples = vec![Vec::with_capacity(rounds); subjects];
    for round in 0..=rounds {
        for turn in 0..subjects {
            let index = (round + turn) % subjects;
            lead.enqueue(stream)?;
            let time = elapsed(stream, || enqueue(index))?;
            if round > 0 {
                samples[index].push(time);
            }
        }
    }
    Ok(samples.into_iter().map(Times::of).collect())
}
