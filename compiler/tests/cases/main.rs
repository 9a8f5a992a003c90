//! What surprised people about the memory of tiled kernels: public questions and bug reports, each as one test of the right answer.
//!
//! `tests/cases.md` lists them by their numbers, with those that need no test or cannot have one. What only a launch can show is in
//! `tests/cases.rs`.

mod alignment;
mod banks;
mod harness;
mod limits;
mod overflow;
mod races;
mod sectors;
mod shared_size;
mod swizzles;
