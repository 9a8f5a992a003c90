//! The labs on the levels of memory: latency against the working set, strides, offsets, and bytes in flight. Beside each time stands
//! what is predicted from the counts of the simulator and from the run's own copy.

mod chase;
mod flight;
mod patterns;

pub use chase::Step;
pub use flight::Flight;
pub use patterns::{Offset, Stride};

use crate::interleaved;
use crate::memory::failed;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use tileproof::cudarc::driver::sys::CUdevice_attribute;
use tileproof::cudarc::driver::{CudaSlice, CudaStream};
use tileproof::device::DeviceInfo;
use tileproof_examples::machine::Machine;

/// Rounds in which the subjects of a lab take turns.
const ROUNDS: usize = 15;

/// What was measured in the labs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Labs {
    /// `hierarchy`.
    pub benchmark: String,
    /// The machine, and the day.
    #[serde(flatten)]
    pub machine: Machine,
    /// What shared memory can take of a multiprocessor's first-level cache, which is a little larger, in bytes.
    pub l1_bytes: usize,
    /// The second-level cache, in bytes.
    pub l2_bytes: usize,
    /// The multiprocessors.
    pub multiprocessors: u32,
    /// How it was measured.
    pub method: String,
    /// A chain of loads, by the working set.
    pub chase: Vec<Step>,
    /// A copy of every so manieth element.
    pub strides: Vec<Stride>,
    /// A copy from so many elements on.
    pub offsets: Vec<Offset>,
    /// Copies with more or fewer bytes on their way.
    pub flights: Vec<Flight>,
}

/// Runs all labs on the stream's device.
///
/// # Errors
/// What a launch, the simulator or the driver returns.
pub fn measure(stream: &Arc<CudaStream>, machine: &Machine) -> Result<Labs, Box<dyn Error>> {
    let info = DeviceInfo::of(stream.context())?;
    let shared = stream
        .context()
        .attribute(CUdevice_attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)
        .map_err(failed("tell the size of shared memory"))?;
    let chase = chase::measure(stream)?;
    let (strides, offsets) = (patterns::strides(stream)?, patterns::offsets(stream)?);
    let latency = chase::memory_latency(&chase, info.l2_bytes);
    let flights = flight::measure(stream, info.multiprocessors, latency)?;
    Ok(Labs {
        benchmark: "hierarchy".into(),
        machine: machine.clone(),
        l1_bytes: shared.unsigned_abs() as usize,
        l2_bytes: info.l2_bytes,
        multiprocessors: info.multiprocessors,
        method: format!(
            "medians of {ROUNDS} rounds after one to warm up, in each of which the subjects of a lab take turns, each sample between \
             two CUDA events, behind a kernel that waits while it is enqueued; of the chase, medians of {} runs of {} steps each, which go on where the one before ended",
            chase::SAMPLES,
            chase::STEPS
        ),
        chase,
        strides,
        offsets,
        flights,
    })
}

/// The median times of subjects that take turns, each behind a [lead](crate::lead), in microseconds.
fn in_turns(
    stream: &Arc<CudaStream>,
    subjects: usize,
    enqueue: impl FnMut(usize) -> Result<(), tileproof::Error>,
) -> Result<Vec<f64>, tileproof::Error> {
    let times = interleaved::in_turns(stream, ROUNDS, subjects, enqueue)?;
    Ok(times.iter().map(|times| times.median().as_secs_f64() * 1e6).collect())
}

/// An array of `elements` floats that hold their position's word.
fn input(stream: &Arc<CudaStream>, elements: usize) -> Result<CudaSlice<f32>, tileproof::Error> {
    let mut input = stream.alloc_zeros::<f32>(elements).map_err(failed("allocate the input"))?;
    let step = 1 << 24;
    for first in (0..elements).step_by(step) {
        let part = crate::content::elements::<f32>(first, step.min(elements - first));
        let mut place = input.slice_mut(first..first + part.len());
        stream.memcpy_htod(&part, &mut place).map_err(failed("copy the input"))?;
    }
    Ok(input)
}

/// Whether the first and the last elements of an output are the input's at `source`.
fn holds(
    stream: &Arc<CudaStream>,
    output: &CudaSlice<f32>,
    source: impl Fn(usize) -> usize,
) -> Result<bool, tileproof::Error> {
    for first in crate::content::pieces(output.len(), 8) {
        let count = crate::content::PIECE.min(output.len() - first);
        let part = output.slice(first..first + count);
        let actual = stream.clone_dtoh(&part).map_err(failed("copy the output"))?;
        if (first..)
            .zip(&actual)
            .any(|(i, value)| value.to_bits() != crate::content::element::<u32>(source(i)))
        {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Labs {
    /// Whether every result was what it should be.
    pub fn is_right(&self) -> bool {
        self.chase.iter().all(|step| step.right)
            && self.strides.iter().all(|stride| stride.right)
            && self.offsets.iter().all(|offset| offset.right)
            && self.flights.iter().all(|flight| flight.right)
    }
}

/// Tables, a lab after another.
impl fmt::Display for Labs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = |right| if right { "equal" } else { "WRONG" };
        writeln!(f, "hierarchy: {}, {}", self.machine.gpu, self.machine.date)?;
        writeln!(f, "latency of a chain of loads")?;
        for step in &self.chase {
            writeln!(
                f,
                "  {:>12} bytes {:>8.1} ns a step  {}",
                step.bytes,
                step.nanoseconds,
                verdict(step.right)
            )?;
        }
        writeln!(f, "strides: sectors a request, time, and what 32 or 64 bytes at a time would take")?;
        for it in &self.strides {
            writeln!(
                f,
                "  stride {:>3} {:>6.2} sectors {:>9.1} µs, predicted {:>9.1} or {:>9.1}  {}",
                it.stride,
                it.sectors_a_request,
                it.microseconds,
                it.predicted_by_sectors,
                it.predicted_by_pairs,
                verdict(it.right)
            )?;
        }
        writeln!(f, "offsets: sectors a request, time")?;
        for it in &self.offsets {
            writeln!(
                f,
                "  offset {:>3} {:>6.2} sectors {:>9.1} µs  {}",
                it.offset,
                it.sectors_a_request,
                it.microseconds,
                verdict(it.right)
            )?;
        }
        writeln!(f, "bytes in flight: a multiprocessor's, the share predicted and measured")?;
        for it in &self.flights {
            writeln!(
                f,
                "  {} × {:>2} bytes {:>7} of {:>7.0} needed, predicted {:>6.3}, measured {:>6.3}, {:>8.1} GB/s  {}",
                it.loads,
                it.bytes,
                it.bytes_in_flight,
                it.bytes_needed,
                it.predicted_share,
                it.measured_share,
                it.gb_per_s,
                verdict(it.right)
            )?;
        }
        Ok(())
    }
}
