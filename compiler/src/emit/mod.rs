//! What the compiler hands on: CUDA text for NVRTC.

pub mod cuda;

pub use cuda::{Cuda, CudaFacts, cuda};
