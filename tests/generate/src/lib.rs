//! Random kernels over the whole language, and what they compute by a second opinion.
//!
//! A seed becomes a program as a tree of its own ([`tree`]), which is written as the source of a kernel ([`mod@print`]) and
//! run directly in Rust ([`mod@evaluate`]). The compiler and its simulator see the source only; [`mod@judge`] compares.

pub mod counted;
pub mod counts;
pub mod evaluate;
pub mod found;
pub mod generate;
pub mod judge;
pub mod memory;
pub mod method;
pub mod print;
pub mod random;
pub mod shrink;
pub mod tree;
pub mod value;
pub mod walk;
