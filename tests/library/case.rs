//! One permutation of dimensions, where both sides lie in memory, and what plain loops make of it.

use std::ops::Range;
use std::sync::Arc;
use tileproof::cudarc::driver::{CudaSlice, CudaStream};
use tileproof::kernels::{self, simulate, transpose};
use tileproof::prelude::*;
use tileproof::{Element, Error};

/// An element type with values that tests can tell apart.
pub(crate) trait Value: Element {
    /// The value with this number.
    fn number(number: usize) -> Self;
}

/// Of neighbours, many bits differ.
fn mixed(number: usize) -> u64 {
    (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

macro_rules! values {
    ($($element:ident: $of:expr),*) => {$(
        impl Value for $element {
            fn number(number: usize) -> Self {
                $of(number)
            }
        }
    )*};
}

values!(
    u8: |n| (mixed(n) >> 56) as u8,
    i16: |n| (mixed(n) >> 48) as i16,
    u64: mixed,
    f16: |n: usize| f16::from_bits((n % 0x7c00) as u16),
    bf16: |n: usize| bf16::from_bits((n % 0x7f80) as u16),
    f32: |n: usize| f32::from_bits((mixed(n) >> 34) as u32),
    f64: |n: usize| n as f64
);

/// A number that no test has of its own.
const UNTOUCHED: usize = 1 << 40;

/// Elements behind each side.
const BEHIND: usize = 5;

/// Where the elements of one side lie: a part of a larger tensor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Laid<const R: usize> {
    /// The first index of the part.
    pub(crate) starts: [usize; R],
    /// The strides, in elements.
    pub(crate) strides: [usize; R],
}

/// A permutation of dimensions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case<const R: usize> {
    /// Of the input.
    pub(crate) extents: [usize; R],
    /// Dimension `d` of the output is dimension `order[d]` of the input.
    pub(crate) order: [usize; R],
    pub(crate) input: Laid<R>,
    pub(crate) output: Laid<R>,
}

/// Where a test runs.
pub(crate) enum On {
    Simulator,
    Gpu(Arc<CudaStream>),
}

impl<const R: usize> Laid<R> {
    /// Elements without gaps.
    pub(crate) fn dense(extents: [usize; R]) -> Self {
        Laid::gaps(extents, [0; R], [0; R])
    }

    /// Row-major, with so many elements, rows, … behind each row, plane, … and before the first.
    pub(crate) fn gaps(extents: [usize; R], starts: [usize; R], gaps: [usize; R]) -> Self {
        let mut strides = [1; R];
        for d in (0..R - 1).rev() {
            strides[d] = strides[d + 1] * (starts[d + 1] + extents[d + 1] + gaps[d + 1]).max(1);
        }
        Laid { starts, strides }
    }

    fn whole(&self, extents: [usize; R]) -> [usize; R] {
        std::array::from_fn(|d| self.starts[d] + extents[d])
    }

    fn ranges(&self, extents: [usize; R]) -> [Range<usize>; R] {
        std::array::from_fn(|d| self.starts[d]..self.starts[d] + extents[d])
    }

    fn length(&self, extents: [usize; R]) -> usize {
        let last = self
            .whole(extents)
            .iter()
            .zip(self.strides)
            .map(|(extent, stride)| extent * stride)
            .sum::<usize>();
        last + BEHIND
    }

    fn offset(&self, index: [usize; R]) -> usize {
        index.iter().zip(self.starts).zip(self.strides).map(|((i, start), stride)| (i + start) * stride).sum()
    }
}

impl<const R: usize> Case<R> {
    /// Both sides without gaps.
    pub(crate) fn dense(extents: [usize; R], order: [usize; R]) -> Self {
        let (input, output) = (Laid::dense(extents), Laid::dense(order.map(|d| extents[d])));
        Case { extents, order, input, output }
    }

    fn output_extents(&self) -> [usize; R] {
        self.order.map(|d| self.extents[d])
    }

    /// Runs it, and compares all of the output's memory.
    #[track_caller]
    pub(crate) fn check<T: Value>(&self, on: &On) {
        let input: Vec<T> = (0..self.input.length(self.extents)).map(T::number).collect();
        let untouched = vec![T::number(UNTOUCHED); self.output.length(self.output_extents())];
        let mut expected = untouched.clone();
        each(self.output_extents(), |index| {
            let mut from = [0; R];
            self.order.iter().zip(index).for_each(|(d, i)| from[*d] = i);
            expected[self.output.offset(index)] = input[self.input.offset(from)];
        });
        let actual = self.run(on, &input, untouched).unwrap_or_else(|error| panic!("{self:?}: {error}"));
        let wrong = actual.iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(wrong, None, "{}: {self:?}", T::TYPE.name());
    }

    fn run<T: Value>(&self, on: &On, input: &[T], mut output: Vec<T>) -> Result<Vec<T>, Error> {
        let (from, to) = (self.input, self.output);
        let (from_whole, to_whole) = (from.whole(self.extents), to.whole(self.output_extents()));
        let (from_part, to_part) = (from.ranges(self.extents), to.ranges(self.output_extents()));
        let identity = self.order.iter().enumerate().all(|(d, of)| d == *of);
        match on {
            On::Simulator => {
                let input = HostTensor::with_strides(input, from_whole, from.strides)?;
                let mut whole = HostTensorMut::with_strides(&mut output, to_whole, to.strides)?;
                let (input, mut part) = (input.slice(from_part)?, whole.slice(to_part)?);
                match identity {
                    true => simulate::copy(&input, &mut part)?,
                    false => simulate::permute(&input, self.order, &mut part)?,
                };
                Ok(output)
            }
            On::Gpu(stream) => {
                let (input, mut memory) = (upload(stream, input)?, upload(stream, &output)?);
                let input = TensorView::with_strides(&input, from_whole, from.strides)?;
                let mut whole = TensorViewMut::with_strides(&mut memory, to_whole, to.strides)?;
                let (input, mut part) = (input.slice(from_part)?, whole.slice(to_part)?);
                match identity {
                    true => kernels::copy(stream, &input, &mut part)?,
                    false => transpose::permute(stream, &input, self.order, &mut part)?,
                }
                download(stream, &memory)
            }
        }
    }
}

/// Transposes a square matrix whose rows begin every `pitch` elements in place, and compares all of its memory.
#[track_caller]
pub(crate) fn check_in_place<T: Value>(on: &On, side: usize, pitch: usize) {
    let before: Vec<T> = (0..side * pitch + BEHIND).map(T::number).collect();
    let mut expected = before.clone();
    each([side, side], |[r, c]| expected[c * pitch + r] = before[r * pitch + c]);
    let run = || -> Result<Vec<T>, Error> {
        let mut data = before.clone();
        match on {
            On::Simulator => {
                let mut matrix = HostTensorMut::with_strides(&mut data, [side, side], [pitch, 1])?;
                simulate::transpose_in_place(&mut matrix)?;
                Ok(data)
            }
            On::Gpu(stream) => {
                let mut memory = upload(stream, &data)?;
                let mut matrix = TensorViewMut::with_strides(&mut memory, [side, side], [pitch, 1])?;
                transpose::transpose_in_place(stream, &mut matrix)?;
                download(stream, &memory)
            }
        }
    };
    let actual = run().unwrap_or_else(|error| panic!("{side} rows, {pitch} apart: {error}"));
    assert!(actual == expected, "{} of {side} rows, {pitch} apart", T::TYPE.name());
}

/// Every index of these extents.
pub(crate) fn each<const R: usize>(extents: [usize; R], mut act: impl FnMut([usize; R])) {
    for number in 0..extents.iter().product() {
        let mut rest: usize = number;
        let mut index = [0; R];
        for d in (0..R).rev() {
            (index[d], rest) = (rest % extents[d], rest / extents[d]);
        }
        act(index);
    }
}

fn upload<T: Value>(stream: &Arc<CudaStream>, data: &[T]) -> Result<CudaSlice<T>, Error> {
    stream.clone_htod(data).map_err(|source| Error::Driver { action: "copy to the device", source })
}

fn download<T: Value>(stream: &Arc<CudaStream>, memory: &CudaSlice<T>) -> Result<Vec<T>, Error> {
    stream.clone_dtoh(memory).map_err(|source| Error::Driver { action: "copy to the host", source })
}
