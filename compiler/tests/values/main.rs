//! What kernels compute, on the simulator, against what Rust computes.

mod functions;
mod harness;
mod loops;
mod offsets;
mod vectors;
