//! Vectors that begin anywhere in a row.

use super::{Handle, Local, Site};

/// A load of a vector that may begin at any element: of the two aligned vectors that hold its first and its last element,
/// shifted into place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unaligned {
    /// A fresh plain variable: a vector as wide as the sites. Zeros where `whole` is false.
    pub local: Handle<Local>,
    /// A fresh plain variable of type bool: whether both aligned vectors lie between the first and the last element of the
    /// tensor, in memory. Where they do not, neither is loaded.
    pub whole: Handle<Local>,
    /// The load of [`Part::First`], from a tensor.
    pub first: Handle<Site>,
    /// The load of [`Part::Last`] of the same elements, executed only where that is another vector than the first.
    pub last: Handle<Site>,
}

/// Which bytes an instruction moves for the elements of a [`Place`](super::Place).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The elements.
    Exact,
    /// The aligned vector, as wide, that holds the first of them.
    First,
    /// The aligned vector, as wide, that holds the last of them.
    Last,
}
