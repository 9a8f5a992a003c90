//! Keeps the GPU busy while the host enqueues what is timed, so that short work is not timed at the rate at which it is enqueued.

use crate::memory::failed;
use std::sync::Arc;
use tileproof::Error;
use tileproof::cudarc::driver::{CudaSlice, CudaStream};
use tileproof::prelude::*;
use tileproof_examples::kernels::chase::{cycle, pointer_chase};

/// Lines of the chain: all in the first-level cache.
const LINES: usize = 32;

/// Loads one after another, of some 20 to 30 ns each: a fifth of a millisecond.
const STEPS: usize = 8192;

/// A chain of loads.
pub struct Lead {
    next: CudaSlice<u32>,
    place: CudaSlice<u32>,
}

impl Lead {
    /// A chain in device memory.
    ///
    /// # Errors
    /// What the driver says.
    pub fn new(stream: &Arc<CudaStream>) -> Result<Lead, Error> {
        let next = stream.clone_htod(&cycle(LINES, 1)).map_err(failed("copy a chain"))?;
        let place = stream.alloc_zeros(1).map_err(failed("allocate a place"))?;
        Ok(Lead { next, place })
    }

    /// Enqueues it once.
    ///
    /// # Errors
    /// What the launch returns.
    pub fn enqueue(&mut self, stream: &Arc<CudaStream>) -> Result<(), Error> {
        let next = TensorView::new(&self.next, [self.next.len()])?;
        pointer_chase::launch(stream, STEPS, &next, &mut TensorViewMut::new(&mut self.place, [1])?)
    }
}
