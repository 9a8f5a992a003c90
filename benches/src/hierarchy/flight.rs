//! Bytes in flight, by Little's law.

use super::{holds, in_turns, input};
use crate::memory::failed;
use crate::record::rounded;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tileproof::Error;
use tileproof::cudarc::driver::CudaStream;
use tileproof::prelude::*;
use tileproof_examples::kernels::in_flight::{COPIES, THREADS};

/// Elements that are copied.
const ELEMENTS: usize = 1 << 27;

/// A copy with so many loads a thread.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Flight {
    /// Loads of a thread before its first store.
    pub loads: u32,
    /// Bytes of a load.
    pub bytes: u32,
    /// Bytes that a full multiprocessor asks for before any arrive.
    pub bytes_in_flight: u64,
    /// Bytes that a multiprocessor needs on their way to read at the rate of the fastest of these copies: the rate by the latency.
    pub bytes_needed: f64,
    /// The share of the fastest copy's rate that Little's law allows: bytes in flight by bytes needed, at most 1.
    pub predicted_share: f64,
    /// The share that was measured.
    pub measured_share: f64,
    /// The median.
    pub microseconds: f64,
    /// Bytes read and written, in decimal gigabytes.
    pub gb_per_s: f64,
    /// Whether the result was what it should be.
    pub right: bool,
}

/// `latency` is that of memory, in nanoseconds.
pub(super) fn measure(
    stream: &Arc<CudaStream>,
    multiprocessors: u32,
    latency: f64,
) -> Result<Vec<Flight>, Error> {
    let memory = input(stream, ELEMENTS)?;
    let mut output = stream.alloc_zeros::<f32>(ELEMENTS).map_err(failed("allocate the output"))?;
    let view = TensorView::new(&memory, [ELEMENTS])?;
    let mut right = Vec::new();
    let mut resident = Vec::new();
    for copy in COPIES {
        stream.memset_zeros(&mut output).map_err(failed("clear the output"))?;
        (copy.launch)(stream, &view, &mut TensorViewMut::new(&mut output, [ELEMENTS])?)?;
        right.push(holds(stream, &output, |i| i)?);
        resident.push(u64::from((copy.load)(stream.context())?.blocks_per_multiprocessor() * THREADS));
    }
    let times = in_turns(stream, COPIES.len(), |index| {
        (COPIES[index].launch)(stream, &view, &mut TensorViewMut::new(&mut output, [ELEMENTS])?)
    })?;
    let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
    let needed = needed(fastest, latency, multiprocessors);
    let flight = |index: usize| {
        let (copy, microseconds) = (COPIES[index], times[index]);
        let bytes_in_flight = resident[index] * u64::from(copy.loads * copy.bytes);
        Flight {
            loads: copy.loads,
            bytes: copy.bytes,
            bytes_in_flight,
            bytes_needed: rounded(needed, 0),
            predicted_share: rounded((bytes_in_flight as f64 / needed).min(1.0), 3),
            measured_share: rounded(fastest / microseconds, 3),
            microseconds: rounded(microseconds, 2),
            gb_per_s: rounded(8.0 * ELEMENTS as f64 / microseconds / 1e3, 1),
            right: right[index],
        }
    };
    Ok((0..COPIES.len()).map(flight).collect())
}

/// Bytes that each multiprocessor needs on their way, if the copy takes `microseconds` and a load `latency` nanoseconds.
fn needed(microseconds: f64, latency: f64, multiprocessors: u32) -> f64 {
    let read_a_nanosecond = 4.0 * ELEMENTS as f64 / (microseconds * 1e3);
    read_a_nanosecond * latency / f64::from(multiprocessors)
}

#[cfg(test)]
mod tests {
    use super::{ELEMENTS, needed};

    #[test]
    fn littles_law() {
        // 2 bytes a picosecond for 600 ns are 1.2 MB, over 100 multiprocessors
        let microseconds = 4.0 * ELEMENTS as f64 / 2000.0 / 1e3;
        assert!((needed(microseconds, 600.0, 100) - 12_000.0).abs() < 1e-6);
    }
}
