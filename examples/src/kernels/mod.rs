//! Kernels, a file a family.

pub mod transpose;
