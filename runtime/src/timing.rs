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
    times.sort();
    Ok(Times(times))
}

/// The time that the GPU takes for what `run` enqueues on `stream`. Waits for the stream.
///
/// # Errors
/// What `run` returns, and failures of the driver.
pub fn elapsed<E: From<Error>>(
    stream: &Arc<CudaStream>,
    run: impl FnOnce() -> Result<(), E>,
) -> Result<Duration, E> {
    let failed = |source: DriverError| Error::Driver { action: "time the stream", source };
    // cudarc's own default is an event that keeps no time
    let record = || stream.record_event(Some(CUevent_flags::CU_EVENT_DEFAULT)).map_err(failed);
    let start = record()?;
    run()?;
    let end = record()?;
    end.synchronize().map_err(failed)?;
    let milliseconds = between(&start, &end)?.map_err(failed)?;
    Ok(Duration::from_secs_f64(f64::from(milliseconds.max(0.0)) / 1000.0))
}

/// The milliseconds between two events that have happened.
///
/// By its CUDA version, cudarc declares either `cuEventElapsedTime` or `cuEventElapsedTime_v2`. Drivers before CUDA 12.8
/// lack the second; all have the first, which is therefore looked up here.
fn between(start: &CudaEvent, end: &CudaEvent) -> Result<Result<f32, DriverError>, Error> {
    type ElapsedTime = unsafe extern "C" fn(*mut f32, CUevent, CUevent) -> CUresult;
    let mut milliseconds = 0.0;
    // SAFETY: the type is that of cuda.h.
    let elapsed_time = unsafe { driver_library()?.get::<ElapsedTime>(c"cuEventElapsedTime") }
        .map_err(|error| Error::DriverUnusable { reason: error.to_string() })?;
    // SAFETY: both events exist, keep time, and have happened; the call writes one float.
    let status = unsafe { elapsed_time(&mut milliseconds, start.cu_event(), end.cu_event()) };
    Ok(status.result().map(|()| milliseconds))
}

#[cfg(test)]
mod tests {
    use super::Times;
    use std::time::Duration;

    #[test]
    fn the_middle_one() {
        let times = Times([1, 2, 9].map(Duration::from_millis).to_vec());
        assert_eq!(times.median(), Duration::from_millis(2));
        assert_eq!(times.fastest(), Duration::from_millis(1));
        assert_eq!(times.all().len(), 3);
    }
}
