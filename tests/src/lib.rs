//! What the workspace's tests share: reading machine code, comparing predictions with a profiler's counts, and skipping aloud.
//!
//! - [`sass`] disassembles a cubin and counts its memory instructions by memory, action and width.
//! - [`parity`] reads what Nsight Compute counted and compares it with predictions, in sums and at each access.
//! - [`cuda`] compiles CUDA text with the runtime's NVRTC.
//! - [`tiles`] holds kernels of operations on whole tiles.
//! - [`needs`] decides whether a test that needs NVRTC, the disassembler or a GPU runs, skips or fails.

pub mod cuda;
pub mod needs;
pub mod parity;
pub mod sass;
pub mod tiles;
