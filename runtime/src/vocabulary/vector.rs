//! Vectors: several elements that one instruction moves.

use crate::scalar::Element;
use std::ops::{Index, IndexMut};

/// `V` elements of type `T` that one instruction moves between memory and registers: 2, 4, 8 or 16 bytes in all.
///
/// ```
/// use tileproof::prelude::*;
///
/// let mut v = Vector::new([1.0_f32, 2.0, 3.0, 4.0]);
/// v[3] += v[0];
/// assert_eq!(v, Vector::from([1.0, 2.0, 3.0, 5.0]));
/// assert_eq!(Vector::<u8, 2>::splat(7), Vector::new([7, 7]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vector<T: Element, const V: usize> {
    lanes: [T; V],
}

impl<T: Element, const V: usize> Vector<T, V> {
    /// The vector of these values.
    pub const fn new(lanes: [T; V]) -> Self {
        Vector { lanes }
    }

    /// The vector whose values are all `value`.
    pub const fn splat(value: T) -> Self {
        Vector { lanes: [value; V] }
    }
}

impl<T: Element, const V: usize> From<[T; V]> for Vector<T, V> {
    fn from(lanes: [T; V]) -> Self {
        Vector { lanes }
    }
}

impl<T: Element, const V: usize> Index<usize> for Vector<T, V> {
    type Output = T;

    fn index(&self, lane: usize) -> &T {
        &self.lanes[lane]
    }
}

impl<T: Element, const V: usize> IndexMut<usize> for Vector<T, V> {
    fn index_mut(&mut self, lane: usize) -> &mut T {
        &mut self.lanes[lane]
    }
}
