//! Times subjects in turns: a round runs each of them once, so that clocks, temperature and neighbours that change over
//! the seconds of a measurement meet all of them alike.

use crate::memory::Memory;
use crate::subjects::Subject;
use std::sync::Arc;
use tileproof::cudarc::driver::CudaStream;
use tileproof::timing::{Times, elapsed};
use tileproof::{Element, Error};

/// The times of each subject over `rounds` rounds, each round beginning with another subject. A sample is the mean of
/// `launches` launches in one stream, each on the next window of the memory; one more before them, which is not timed, keeps the GPU
/// busy while they are enqueued.
///
/// # Errors
/// What a launch returns.
///
/// # Panics
/// If `rounds` or `launches` is 0.
pub fn interleaved<T: Element>(
    stream: &Arc<CudaStream>,
    memory: &mut Memory<T>,
    subjects: &[Subject<T>],
    rounds: usize,
    launches: u32,
) -> Result<Vec<Times>, Error> {
    let mut samples = vec![Vec::with_capacity(rounds); subjects.len()];
    // the first round compiles, loads and warms up
    for round in 0..=rounds {
        for turn in 0..subjects.len() {
            let index = (round + turn) % subjects.len();
            let subject = &subjects[index];
            let mut enqueue = || {
                let (input, mut output) = memory.next();
                (subject.enqueue)(stream, &input, &mut output)
            };
            enqueue()?;
            let total = elapsed(stream, || (0..launches).try_for_each(|_| enqueue()))?;
            if round > 0 {
                samples[index].push(total / launches);
            }
        }
    }
    Ok(samples.into_iter().map(Times::of).collect())
}
