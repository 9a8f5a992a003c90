//! The kernels that examples, tests, benches and the book share, each with a reference on the CPU.

pub mod array;
pub mod kernels;
pub mod ladder;
pub mod machine;
pub mod subject;
pub mod table;
