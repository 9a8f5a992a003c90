//! Latency against the working set.

use crate::memory::failed;
use crate::record::rounded;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tileproof::Error;
use tileproof::cudarc::driver::CudaStream;
use tileproof::prelude::*;
use tileproof::timing::{Times, elapsed};
use tileproof_examples::kernels::chase::{LINE, cycle, pointer_chase};

/// Steps of a run that is timed.
pub(super) const STEPS: usize = 32768;

/// Runs that are timed at each working set.
pub(super) const SAMPLES: usize = 5;

/// The most steps before the first timed run: enough to visit every line of what a second-level cache may hold.
const WARM_UP: usize = 1 << 19;

/// The latency at a working set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// The working set, in bytes.
    pub bytes: usize,
    /// Time of a step.
    pub nanoseconds: f64,
    /// Whether the walk ended where it should.
    pub right: bool,
}

/// From 4 KiB to 1 GiB, two in each octave.
fn working_sets() -> Vec<usize> {
    let octaves = (12..30).flat_map(|log2| [1 << log2, 3 << (log2 - 1)]);
    octaves.chain([1 << 30]).collect()
}

pub(super) fn measure(stream: &Arc<CudaStream>) -> Result<Vec<Step>, Error> {
    let line_bytes = LINE * size_of::<u32>();
    let sets = working_sets();
    let most = sets.iter().copied().max().unwrap_or(0) / size_of::<u32>();
    let mut memory = stream.alloc_zeros::<u32>(most).map_err(failed("allocate the chain"))?;
    let mut place = stream.alloc_zeros::<u32>(1).map_err(failed("allocate the place"))?;
    sets.into_iter()
        .map(|bytes| {
            let lines = bytes / line_bytes;
            let next = cycle(lines, 1);
            let mut part = memory.slice_mut(..next.len());
            stream.memcpy_htod(&next, &mut part).map_err(failed("copy the chain"))?;
            stream.memset_zeros(&mut place).map_err(failed("clear the place"))?;
            let view = TensorView::new(&part, [next.len()])?;
            let mut walk = |steps| {
                pointer_chase::launch(stream, steps, &view, &mut TensorViewMut::new(&mut place, [1])?)
            };
            let warm_up = WARM_UP.min(2 * lines);
            walk(warm_up)?;
            let times =
                (0..SAMPLES).map(|_| elapsed(stream, || walk(STEPS))).collect::<Result<Vec<_>, Error>>()?;
            let end = stream.clone_dtoh(&place).map_err(failed("copy the place"))?;
            let steps = warm_up + SAMPLES * STEPS;
            let expected = (0..steps % lines.max(1)).fold(0, |at, _| next[at as usize]);
            let nanoseconds = Times::of(times).median().as_secs_f64() * 1e9 / STEPS as f64;
            Ok(Step { bytes, nanoseconds: rounded(nanoseconds, 2), right: end == [expected] })
        })
        .collect()
}

/// The latency of memory behind a cache of `cache` bytes, in nanoseconds: the median of the working sets from twice to eight
/// times its size, or if there are none the largest. Larger ones also wait for translations of addresses.
pub(super) fn memory_latency(chase: &[Step], cache: usize) -> f64 {
    let mut behind: Vec<f64> = chase
        .iter()
        .filter(|step| (2 * cache..=8 * cache).contains(&step.bytes))
        .map(|step| step.nanoseconds)
        .collect();
    behind.sort_by(f64::total_cmp);
    let largest = || chase.last().map_or(0.0, |step| step.nanoseconds);
    behind.get(behind.len() / 2).copied().unwrap_or_else(largest)
}

#[cfg(test)]
mod tests {
    use super::{Step, memory_latency, working_sets};

    #[test]
    fn working_sets_double_in_two_steps() {
        let sets = working_sets();
        assert_eq!(sets[..3], [4096, 6144, 8192]);
        assert_eq!((sets.len(), sets[36]), (37, 1 << 30));
        assert!(sets.iter().all(|bytes| bytes.is_multiple_of(128)));
    }

    #[test]
    fn latency_behind_a_cache() {
        let step = |mebibytes: usize, nanoseconds| Step { bytes: mebibytes << 20, nanoseconds, right: true };
        let chase =
            [step(64, 300.0), step(128, 600.0), step(192, 610.0), step(256, 620.0), step(1024, 900.0)];
        assert_eq!(memory_latency(&chase, 60 << 20), 610.0);
        assert_eq!(memory_latency(&chase, 1 << 40), 900.0);
    }
}
