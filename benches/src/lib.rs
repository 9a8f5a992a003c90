//! What the benches measure, and a record of a measurement that can be kept.
//!
//! - [`subjects`]: the transpose ladder and the copies it is judged by, over one pair of matrices.
//! - [`interleaved`]: times subjects in turns, so that a drift of the machine meets all of them.
//! - [`record`]: a measurement as JSON, with the machine it was made on.

pub mod interleaved;
pub mod record;
pub mod subjects;
