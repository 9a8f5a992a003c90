//! Device memory that the subjects of a case share, in windows: what fits the second-level cache is measured on several in turn, so
//! that none is found in the cache.

use crate::content::{self, PIECE};
use std::sync::Arc;
use tileproof::cudarc::driver::{CudaSlice, CudaStream, CudaView, CudaViewMut, DriverError, ValidAsZeroBits};
use tileproof::{Element, Error};

/// What all windows together must exceed, as a multiple of the second-level cache.
const OF_CACHE: usize = 4;

/// Windows begin at multiples of this, in bytes.
const ALIGNMENT: usize = 512;

/// An input of known content and an output, and the part of both that is worked on.
pub struct Memory<T> {
    input: CudaSlice<T>,
    output: CudaSlice<T>,
    window: Windows,
    turn: usize,
}

/// How an allocation is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Windows {
    /// Elements of a window.
    pub elements: usize,
    /// Elements from one window to the next.
    pub distance: usize,
    /// How many there are.
    pub count: usize,
}

impl Windows {
    /// Windows of so many elements of so many bytes: on one side and the other they exceed a cache of `cache` bytes
    /// several times, if there is more than one.
    pub fn new(elements: usize, bytes: usize, cache: usize) -> Windows {
        let distance = (elements * bytes).next_multiple_of(ALIGNMENT) / bytes;
        let count = (OF_CACHE * cache).div_ceil((2 * distance * bytes).max(1)).max(1);
        Windows { elements, distance, count }
    }

    /// Elements from the first of the first window to the last of the last.
    pub fn span(&self) -> usize {
        self.distance * (self.count - 1) + self.elements
    }
}

impl<T: Element + ValidAsZeroBits> Memory<T> {
    /// An input and an output of `elements` elements.
    ///
    /// # Errors
    /// If the GPU has too little memory.
    pub fn new(stream: &Arc<CudaStream>, elements: usize) -> Result<Memory<T>, Error> {
        let allocate = |action| stream.alloc_zeros::<T>(elements).map_err(failed(action));
        let mut input = allocate("allocate the input")?;
        let output = allocate("allocate the output")?;
        let step = (64 << 20) / size_of::<T>();
        for first in (0..elements).step_by(step) {
            let part = content::elements::<T>(first, step.min(elements - first));
            let mut place = input.slice_mut(first..first + part.len());
            stream.memcpy_htod(&part, &mut place).map_err(failed("copy the input"))?;
        }
        let window = Windows { elements, distance: elements, count: 1 };
        Ok(Memory { input, output, window, turn: 0 })
    }

    /// Works on these windows from now on.
    ///
    /// # Panics
    /// If they exceed the memory.
    pub fn divide(&mut self, windows: Windows) {
        assert!(windows.span() <= self.input.len(), "{windows:?} in {} elements", self.input.len());
        (self.window, self.turn) = (windows, 0);
    }

    /// Whether the first window of the output holds what `source` says of each element, which is the input's at that index;
    /// compared in `pieces` pieces, or whole where it is that short.
    ///
    /// # Errors
    /// What the driver says, also of the launches before.
    pub fn holds(
        &self,
        stream: &Arc<CudaStream>,
        pieces: usize,
        source: impl Fn(usize) -> usize,
    ) -> Result<bool, Error> {
        for first in content::pieces(self.window.elements, pieces) {
            let count = PIECE.min(self.window.elements - first);
            let part = self.output.slice(first..first + count);
            let actual = stream.clone_dtoh(&part).map_err(failed("copy the output"))?;
            let expected: Vec<T> = (first..first + count).map(|i| content::element(source(i))).collect();
            if bytemuck::cast_slice::<T, u8>(&actual) != bytemuck::cast_slice::<T, u8>(&expected) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

impl<T: Element + ValidAsZeroBits> Memory<T> {
    /// The windows of the input and of the output whose turn it is.
    pub fn turn(&mut self) -> (CudaView<'_, T>, CudaViewMut<'_, T>) {
        let first = self.turn % self.window.count * self.window.distance;
        self.turn += 1;
        let range = first..first + self.window.elements;
        (self.input.slice(range.clone()), self.output.slice_mut(range))
    }

    /// The first window of both.
    pub fn first(&mut self) -> (CudaView<'_, T>, CudaViewMut<'_, T>) {
        self.turn = 0;
        self.turn()
    }

    /// The first window of the output filled with zeros.
    ///
    /// # Errors
    /// What the driver says.
    pub fn clear(&mut self, stream: &Arc<CudaStream>) -> Result<(), Error> {
        let (_, mut output) = self.first();
        stream.memset_zeros(&mut output).map_err(failed("clear the output"))
    }

    /// The first window of the output filled with the input's.
    ///
    /// # Errors
    /// What the driver says.
    pub fn copy(&mut self, stream: &Arc<CudaStream>) -> Result<(), Error> {
        let (input, mut output) = self.first();
        stream.memcpy_dtod(&input, &mut output).map_err(failed("copy device memory"))
    }
}

/// The driver failed to do this.
pub(crate) fn failed(action: &'static str) -> impl Fn(DriverError) -> Error {
    move |source| Error::Driver { action, source }
}

#[cfg(test)]
mod tests {
    use super::Windows;

    #[test]
    fn what_fits_a_cache_has_several_windows() {
        let cache = 60 << 20;
        let one = Windows::new(16384 * 16384, 4, cache);
        assert_eq!((one.count, one.span()), (1, 16384 * 16384));
        let bytes = Windows::new(8191 * 4097, 1, cache);
        assert_eq!(bytes.count, 4);
        assert!(bytes.distance.is_multiple_of(512) && bytes.distance >= bytes.elements);
        assert!(2 * bytes.span() > 4 * cache);
        assert_eq!(Windows::new(1 << 18, 4, cache).count, 120);
    }
}
