//! Arrays in host memory that can be handed to a kernel on the simulator or on a GPU, and compared bit by bit.

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::error::Error;
use std::fmt::Debug;
use std::ops::{Index, IndexMut};
use std::sync::Arc;
use tileproof::cudarc::driver::{CudaSlice, CudaStream};
use tileproof::prelude::*;
use tileproof::{Element, ViewError};

/// Elements behind the last one of an array: a write beyond the end is seen there.
const MARGIN: usize = 64;

/// An element that test data are made of.
pub trait Datum: Element + Debug {
    /// What memory holds that nobody has written: of floats, a NaN that no arithmetic makes.
    const POISON: Self;

    /// A random value: floats between -1 and 1, integers over their whole range.
    fn sample(rng: &mut StdRng) -> Self;

    /// A number that differs by one between neighbouring values, and is equal for equal bits alone.
    fn key(self) -> i128;
}

macro_rules! integers {
    ($($integer:ident: $poison:expr),*) => {$(
        impl Datum for $integer {
            const POISON: Self = $poison;

            fn sample(rng: &mut StdRng) -> Self {
                rng.random()
            }

            fn key(self) -> i128 {
                self.into()
            }
        }
    )*};
}

integers!(
    i8: 0x5a, i16: 0x5a5a, i32: 0x5a5a_5a5a, i64: 0x5a5a_5a5a_5a5a_5a5a,
    u8: 0xa5, u16: 0xa5a5, u32: 0xa5a5_a5a5, u64: 0xa5a5_a5a5_a5a5_a5a5
);

macro_rules! floats {
    ($($float:ident as $bits:ident: $poison:expr, $from:expr;)*) => {$(
        impl Datum for $float {
            const POISON: Self = $float::from_bits($poison);

            fn sample(rng: &mut StdRng) -> Self {
                $from(rng.random_range(-1.0..1.0))
            }

            fn key(self) -> i128 {
                let magnitude = i128::from(self.to_bits() & ($bits::MAX >> 1));
                if self.is_sign_negative() { -magnitude - 1 } else { magnitude }
            }
        }
    )*};
}

floats! {
    f16 as u16: 0x7ead, f16::from_f32;
    bf16 as u16: 0x7fad, bf16::from_f32;
    f32 as u32: 0x7fc0_dead, std::convert::identity::<f32>;
    f64 as u64: 0x7ff8_0000_dead_beef, std::convert::identity::<f64>;
}

/// A strided array of rank `R`, its innermost extent contiguous, poison between its rows and behind it.
#[derive(Clone, Debug)]
pub struct Array<T, const R: usize> {
    memory: Vec<T>,
    extents: [usize; R],
    strides: [usize; R],
}

/// An [`Array`] in the memory of a GPU.
pub struct DeviceArray<T: Element, const R: usize> {
    memory: CudaSlice<T>,
    extents: [usize; R],
    strides: [usize; R],
}

impl<T: Datum, const R: usize> Array<T, R> {
    /// Nothing but poison: an output. Each extent but the innermost is followed by `gap` elements.
    pub fn poisoned(extents: [usize; R], gap: usize) -> Self {
        let mut strides = [1; R];
        for dimension in (0..R.saturating_sub(1)).rev() {
            strides[dimension] = strides[dimension + 1] * extents[dimension + 1] + gap;
        }
        let span = extents.first().map_or(0, |extent| extent * strides[0]);
        Array { memory: vec![T::POISON; span + MARGIN], extents, strides }
    }

    /// The extents, in elements, outermost first.
    pub fn extents(&self) -> [usize; R] {
        self.extents
    }

    /// Gives every element a value, in order of the indices.
    pub fn fill(mut self, mut value: impl FnMut([usize; R]) -> T) -> Self {
        for index in indices(self.extents) {
            self[index] = value(index);
        }
        self
    }

    /// As the simulator reads it.
    ///
    /// # Errors
    /// If the innermost extents overlap, which [`poisoned`](Self::poisoned) excludes.
    pub fn host(&self) -> Result<HostTensor<'_, T, R>, ViewError> {
        HostTensor::with_strides(&self.memory, self.extents, self.strides)
    }

    /// As the simulator writes it.
    ///
    /// # Errors
    /// As [`host`](Self::host).
    pub fn host_mut(&mut self) -> Result<HostTensorMut<'_, T, R>, ViewError> {
        HostTensorMut::with_strides(&mut self.memory, self.extents, self.strides)
    }

    /// Copies it to a GPU, poison included.
    ///
    /// # Errors
    /// If the driver has no memory for it.
    pub fn upload(&self, stream: &Arc<CudaStream>) -> Result<DeviceArray<T, R>, Box<dyn Error>> {
        Ok(DeviceArray {
            memory: stream.clone_htod(&self.memory)?,
            extents: self.extents,
            strides: self.strides,
        })
    }

    fn offset(&self, index: [usize; R]) -> usize {
        for (index, extent) in index.iter().zip(self.extents) {
            assert!(*index < extent, "index {index} of an extent of {extent}");
        }
        index.iter().zip(self.strides).map(|(index, stride)| index * stride).sum()
    }
}

impl<T: Datum, const R: usize> DeviceArray<T, R> {
    /// As a kernel reads it.
    ///
    /// # Errors
    /// As [`Array::host`].
    pub fn view(&self) -> Result<TensorView<'_, T, R>, ViewError> {
        TensorView::with_strides(&self.memory, self.extents, self.strides)
    }

    /// As a kernel writes it.
    ///
    /// # Errors
    /// As [`Array::host`].
    pub fn view_mut(&mut self) -> Result<TensorViewMut<'_, T, R>, ViewError> {
        TensorViewMut::with_strides(&mut self.memory, self.extents, self.strides)
    }

    /// Copies it back, poison included.
    ///
    /// # Errors
    /// What the driver says, also of the kernels before.
    pub fn download(&self, stream: &Arc<CudaStream>) -> Result<Array<T, R>, Box<dyn Error>> {
        Ok(Array { memory: stream.clone_dtoh(&self.memory)?, extents: self.extents, strides: self.strides })
    }
}

/// All indices below `extents`, the last one fastest.
fn indices<const R: usize>(extents: [usize; R]) -> impl Iterator<Item = [usize; R]> {
    let count = extents.iter().product();
    (0..count).map(move |mut position: usize| {
        let mut index = [0; R];
        for dimension in (0..R).rev() {
            index[dimension] = position % extents[dimension];
            position /= extents[dimension];
        }
        index
    })
}

impl<T: Datum> Array<T, 1> {
    /// The number of elements.
    #[allow(clippy::len_without_is_empty)] // as of a kernel's tensor
    pub fn len(&self) -> usize {
        self.extents[0]
    }
}

impl<T: Datum> Array<T, 2> {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        self.extents[0]
    }

    /// The number of columns.
    pub fn cols(&self) -> usize {
        self.extents[1]
    }
}

impl<T: Datum, const R: usize> Index<[usize; R]> for Array<T, R> {
    type Output = T;

    fn index(&self, index: [usize; R]) -> &T {
        &self.memory[self.offset(index)]
    }
}

impl<T: Datum, const R: usize> IndexMut<[usize; R]> for Array<T, R> {
    fn index_mut(&mut self, index: [usize; R]) -> &mut T {
        let offset = self.offset(index);
        &mut self.memory[offset]
    }
}

/// Where the data of a run come from: the same in every run of one size.
pub struct Data {
    rng: StdRng,
    gap: usize,
}

impl Data {
    /// Data for arrays whose rows are followed by `gap` elements.
    pub fn new(gap: usize) -> Data {
        Data { rng: StdRng::seed_from_u64(1), gap }
    }

    /// An input of random elements.
    pub fn random<T: Datum, const R: usize>(&mut self, extents: [usize; R]) -> Array<T, R> {
        Array::poisoned(extents, self.gap).fill(|_| T::sample(&mut self.rng))
    }

    /// An input of which each element is made of a random number below `bound`.
    pub fn below<T: Datum, const R: usize>(
        &mut self,
        extents: [usize; R],
        bound: u32,
        convert: impl Fn(u32) -> T,
    ) -> Array<T, R> {
        Array::poisoned(extents, self.gap).fill(|_| convert(self.rng.random_range(0..bound)))
    }

    /// An output.
    pub fn output<T: Datum, const R: usize>(&mut self, extents: [usize; R]) -> Array<T, R> {
        Array::poisoned(extents, self.gap)
    }
}

/// What a kernel has written, its type forgotten.
pub trait Written {
    /// How many elements its memory has, gaps and margin included.
    fn count(&self) -> usize;

    /// See [`Datum::key`].
    fn key(&self, offset: usize) -> i128;

    /// The element at an offset, to be read.
    fn text(&self, offset: usize) -> String;
}

impl<T: Datum, const R: usize> Written for Array<T, R> {
    fn count(&self) -> usize {
        self.memory.len()
    }

    fn key(&self, offset: usize) -> i128 {
        self.memory[offset].key()
    }

    fn text(&self, offset: usize) -> String {
        let index = indices(self.extents).find(|index| self.offset(*index) == offset);
        let place =
            index.map_or_else(|| format!("outside, at offset {offset}"), |index| format!("at {index:?}"));
        format!("{:?} {place}", self.memory[offset])
    }
}

/// What a kernel has written, by the argument's name.
#[derive(Default)]
pub struct Outputs(Vec<(&'static str, Box<dyn Written>)>);

impl Outputs {
    /// Adds an argument.
    pub fn add(&mut self, name: &'static str, array: impl Written + 'static) {
        self.0.push((name, Box::new(array)));
    }

    /// The first element that is more than `ulps` from what it should be, gaps and margin included; in words.
    ///
    /// # Panics
    /// If the two are not the outputs of one kernel at one size.
    pub fn difference(&self, expected: &Outputs, ulps: u64) -> Option<String> {
        assert_eq!(self.0.len(), expected.0.len());
        self.0.iter().zip(&expected.0).find_map(|((name, actual), (_, expected))| {
            assert_eq!(actual.count(), expected.count());
            let near = |offset: &usize| actual.key(*offset).abs_diff(expected.key(*offset)) <= ulps.into();
            let wrong = (0..actual.count()).find(|offset| !near(offset))?;
            Some(format!("`{name}` is {}, and should be {}", actual.text(wrong), expected.text(wrong)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_count_ulps_and_tell_bits_apart() {
        assert_eq!(1.0f32.key() + 1, f32::from_bits(1.0f32.to_bits() + 1).key());
        assert_eq!((-0.0f64).key() + 1, 0.0f64.key());
        assert_eq!(f32::from_bits(1).key() - (-f32::from_bits(1)).key(), 3);
        assert!(f32::POISON.key() > f32::INFINITY.key());
        assert_eq!((-3i8).key(), -3);
    }

    #[test]
    fn rows_are_apart_and_gaps_are_compared() {
        let array = |gap| Data::new(gap).random::<u8, 3>([2, 3, 4]);
        assert_eq!((array(0).strides, array(5).strides), ([12, 4, 1], [32, 9, 1]));
        let outputs = |array: Array<u8, 3>| {
            let mut outputs = Outputs::default();
            outputs.add("a", array);
            outputs
        };
        let expected = outputs(array(5));
        assert_eq!(outputs(array(5)).difference(&expected, 0), None);
        let mut touched = array(5);
        touched.memory[4] = 0;
        let text = outputs(touched).difference(&expected, 0);
        assert_eq!(
            text.as_deref(),
            Some("`a` is 0 outside, at offset 4, and should be 165 outside, at offset 4")
        );
        let mut wrong = array(5);
        wrong[[1, 2, 3]] = wrong[[1, 2, 3]].wrapping_add(1);
        assert!(outputs(wrong).difference(&expected, 0).unwrap().contains("at [1, 2, 3]"));
    }
}
