//! What the benches measure, and a record of a measurement that can be kept.
//!
//! - [`case`]: the copies, transposes and permutations, by group.
//! - [`subjects`]: what is timed in each: the copies that all are judged by, ours, the ladder, the vendor's library.
//! - [`memory`]: the device memory that they share, outgrowing the second-level cache; [`content`]: what is in it.
//! - [`interleaved`]: times subjects in turns, so that a drift of the machine meets all of them.
//! - [`lead`]: keeps the GPU busy meanwhile.
//! - [`record`]: a measurement as JSON, with the machine it was made on.
//! - [`products`]: matrix products beside the vendor's library.
//! - [`hierarchy`]: the labs on the levels of memory, each beside what is predicted.

pub mod case;
pub mod content;
pub mod hierarchy;
pub mod interleaved;
pub mod lead;
pub mod memory;
pub mod products;
pub mod record;
pub mod subjects;
