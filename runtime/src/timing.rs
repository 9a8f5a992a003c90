//! Times work on a stream with CUDA events.

use crate::device::driver_library;
use crate::error::Error;
use cudarc::driver::sys::{CUevent, CUevent_flags, CUresult};
use cudarc::driver::{CudaEvent, CudaStream, DriverError};
use std::sync::Arc;
use std::time::Duration;

/// How work is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repeats {
    /// Runs before the first measurement.
    pub warm_up: u32,
    /// Measurements.
    pub samples: u32,
    /// Runs a measurement. Events read some microseconds too much, so short work needs many.
    pub runs_per_sample: u32,
}

impl Default for Repeats {
    /// 3 runs, then 21 measurements of 5 runs each.
    fn default() -> Self {
        Repeats { warm_up: 3, samples: 21, runs_per_sample: 5 }
    }
}

/// Times per run, ascending; at least one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Times(Vec<Duration>);

impl Times {
    /// Of samples in any order.
    ///
    /// # Panics
    /// If there is none.
    pub fn of(mut samples: Vec<Duration>) -> Times {
        assert!(!samples.is_empty(), "no time was taken");
        samples.sort();
        Times(samples)
    }

    /// The middle one.
    pub fn median(&self) -> Duration {
        self.0[self.0.len() / 2]
    }

    /// The smallest.
    pub fn fastest(&self) -> Duration {
        self.0[0]
    }

    /// All, ascending.
    pub fn all(&self) -> &[Duration] {
        &self.0
    }
}

/// Times `run`, which enqueues work on `stream`. Waits for the stream.
///
/// # Errors
/// What `run` returns, and failures of the driver.
pub fn measure<E: From<Error>>(
    stream: &Arc<CudaStream>,
    repeats: Repeats,
    mut run: impl FnMut() -> Result<(), E>,
) -> Result<Times, E> {
    for _ in 0..repeats.warm_up {
        run()?;
    }
    let runs = repeats.runs_per_sample.max(1);
    let mut times = Vec::new();
    for _ in 0..repeats.samples.max(1) {
        times.push(elapsed(stream, || (0..runs).try_for_each(|_| run()))? / runs);
    }
    Ok(Times::of(times))
}

/// The time that the GPU takes for what `run` enqueues on `stream`. Waits for the stream.
///
/// # Errors
/// What `run` returns, and failures of the driver.
pub fn elapsed<E: From<Error>>(
    stream: &Arc<CudaStream>,
    run: impl FnOnce() -> Result<(), E>,
) -> Result<Duration, E> {
    let start = mark(stream)?;
    run()?;
    let end = mark(stream)?;
    Ok(start.until(&end)?)
}

/// A point in the work of a stream; the GPU notes the time when it gets there.
#[derive(Debug)]
pub struct Mark(CudaEvent);

/// Marks the end of what is enqueued on `stream` by now.
///
/// # Errors
/// Failures of the driver.
pub fn mark(stream: &Arc<CudaStream>) -> Result<Mark, Error> {
    // cudarc's own default is an event that keeps no time
    stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).map(Mark).map_err(failed)
}

impl Mark {
    /// The time that the GPU took from this mark to a later one of the same stream. Waits for the later one.
    ///
    /// By its CUDA version, cudarc declares either `cuEventElapsedTime` or `cuEventElapsedTime_v2`. Drivers before CUDA
    /// 12.8 lack the second; all have the first, which is therefore looked up here.
    ///
    /// # Errors
    /// Failures of the driver.
    pub fn until(&self, end: &Mark) -> Result<Duration, Error> {
        type ElapsedTime = unsafe extern "C" fn(*mut f32, CUevent, CUevent) -> CUresult;
        end.0.synchronize().map_err(failed)?;
        let mut milliseconds = 0.0;
        // SAFETY: the type is that of cuda.h.
        let elapsed_time = unsafe { driver_library()?.get::<ElapsedTime>(c"cuEventElapsedTime") }
            .map_err(|error| Error::DriverUnusable { reason: error.to_string() })?;
        // SAFETY: both events exist and keep time; the call writes one float, and refuses events that have not happened.
        let status = unsafe { elapsed_time(&mut milliseconds, self.0.cu_event(), end.0.cu_event()) };
        status.result().map_err(failed)?;
        Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1000.0))
    }
}

fn failed(source: DriverError) -> Error {
    Error::Driver { action: "time the stream", source }
}

#[cfg(test)]
mod tests {
    use super::Times;
    use std::time::Duration;

    #[test]
    fn the_middle_one() {
        let times = Times::of([2, 9, 1].map(Duration::from_millis).to_vec());
        assert_eq!(times.median(), Duration::from_millis(2));
        assert_eq!(times.fastest(), Duration::from_millis(1));
        assert_eq!(times.all().len(), 3);
    }
}
