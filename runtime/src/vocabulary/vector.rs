//! Vectors: several elements that one instruction moves.

use super::CastTo;
use crate::scalar::Element;
use half::{bf16, f16};
use std::ops::{
    Add, AddAssign, BitAnd, BitOr, BitXor, Div, DivAssign, Index, IndexMut, Mul, MulAssign, Neg, Rem,
    RemAssign, Sub, SubAssign,
};

/// `V` elements of type `T` that one instruction moves between memory and registers: 2, 4, 8 or 16 bytes in all.
///
/// ```
/// use tileproof::prelude::*;
///
/// let mut v = Vector::new([1.0_f32, 2.0, 3.0, 4.0]);
/// v[3] += v[0];
/// assert_eq!(v, Vector::from([1.0, 2.0, 3.0, 5.0]));
/// assert_eq!(Vector::<u8, 2>::splat(7), Vector::new([7, 7]));
/// assert_eq!((v * v + 1.0).map(|x| x * 0.5).sum(), 21.5);
/// assert_eq!(v.cast::<i32>().to_array(), [1, 2, 3, 5]);
/// ```
///
/// Arithmetic is lane by lane, with a vector as wide or with one value for all lanes; sums, differences and products of
/// `f16` are instructions for two lanes. In registers a vector may be wider than the 16 bytes that one access moves:
/// `input.read::<8>([i]).cast::<f32>()` of `f16`.
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

impl<T: Element, const V: usize> Vector<T, V> {
    /// The vector of what `f` makes of each value, the first one first.
    pub fn map<U: Element>(self, f: impl FnMut(T) -> U) -> Vector<U, V> {
        Vector { lanes: self.lanes.map(f) }
    }

    /// The vector of what `f` makes of each value and its counterpart, the first ones first.
    pub fn zip_map<S: Element, U: Element>(
        self,
        other: Vector<S, V>,
        mut f: impl FnMut(T, S) -> U,
    ) -> Vector<U, V> {
        Vector { lanes: std::array::from_fn(|lane| f(self.lanes[lane], other.lanes[lane])) }
    }

    /// The values.
    pub fn to_array(self) -> [T; V] {
        self.lanes
    }

    /// The sum, from the first value to the last.
    pub fn sum(self) -> T
    where
        T: Add<Output = T>,
    {
        let (first, rest) = self.lanes.split_first().expect("a vector has a value");
        rest.iter().fold(*first, |sum, value| sum + *value)
    }

    /// Each value converted as by `as`; floats of 16 bits as `half` converts them, to and from integers by way of `f32`.
    pub fn cast<U: Element>(self) -> Vector<U, V>
    where
        T: CastTo<U>,
    {
        self.map(T::cast_to)
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident)*) => {$(
        impl<T: Element + $trait<Output = T>, const V: usize> $trait for Vector<T, V> {
            type Output = Self;

            fn $method(self, other: Self) -> Self {
                self.zip_map(other, T::$method)
            }
        }

        impl<T: Element + $trait<Output = T>, const V: usize> $trait<T> for Vector<T, V> {
            type Output = Self;

            fn $method(self, other: T) -> Self {
                self.map(|value| value.$method(other))
            }
        }
    )*};
}

operators!(Add add Sub sub Mul mul Div div Rem rem BitAnd bitand BitOr bitor BitXor bitxor);

macro_rules! assignments {
    ($($trait:ident $method:ident $operator:ident $by:ident)*) => {$(
        impl<T: Element + $operator<Output = T>, R, const V: usize> $trait<R> for Vector<T, V>
        where
            Self: $operator<R, Output = Self>,
        {
            fn $method(&mut self, other: R) {
                *self = (*self).$by(other);
            }
        }
    )*};
}

assignments!(
    AddAssign add_assign Add add SubAssign sub_assign Sub sub MulAssign mul_assign Mul mul
    DivAssign div_assign Div div RemAssign rem_assign Rem rem
);

impl<T: Element + Neg<Output = T>, const V: usize> Neg for Vector<T, V> {
    type Output = Self;

    fn neg(self) -> Self {
        self.map(T::neg)
    }
}

/// Methods that each lane has of its own type, such as `v.max(w)`.
macro_rules! lanes {
    ($ty:ident : $($(#[$doc:meta])* $method:ident($($argument:ident)*);)*) => {
        impl<const V: usize> Vector<$ty, V> {$(
            $(#[$doc])*
            pub fn $method(self, $($argument: Self),*) -> Self {
                #[allow(unused_imports)]
                use crate::vocabulary::HalfExt as _;
                Vector { lanes: std::array::from_fn(|lane| self.lanes[lane].$method($($argument.lanes[lane]),*)) }
            }
        )*}
    };
}

macro_rules! float_lanes {
    ($($ty:ident)*) => {$(
        lanes!($ty:
            /// The smaller of each pair.
            min(other);
            /// The larger of each pair.
            max(other);
            /// `self * a + b`, rounded once.
            mul_add(a b);
            /// The magnitudes.
            abs();
            /// The square roots.
            sqrt();
        );
    )*};
}

macro_rules! integer_lanes {
    ($($ty:ident)*) => {$(
        lanes!($ty:
            /// The smaller of each pair.
            min(other);
            /// The larger of each pair.
            max(other);
        );
    )*};
}

float_lanes!(f16 bf16 f32 f64);
integer_lanes!(i8 i16 i32 i64 u8 u16 u32 u64);
