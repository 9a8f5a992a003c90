//! The library of kernels on the simulator and on a GPU: every shape of a transpose, and random copies, against plain loops.
//!
//! All memory of an output is compared, so that nothing may be written between or around its elements. Without a GPU or NVRTC
//! the tests of the GPU skip aloud.

mod case;
mod gpu;
mod plans;
mod products;
mod random;
mod simulator;
