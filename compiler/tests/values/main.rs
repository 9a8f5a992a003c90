//! What kernels compute, on the simulator, against what Rust computes.

mod harness;
mod offsets;
