//! What the workspace's tests share: reading machine code, comparing predictions with a profiler's counts, and skipping aloud.
//!
//! - [`sass`] disassembles a cubin and counts its memory instructions by memory, action and width.
//! - [`parity`] reads what Nsight Compute counted and compares it with predictions, in sums and at each access.
//! - [`cuda`] compiles CUDA text with the runtime's NVRTC.
//! - [`dynamic`] compiles kernels from text at run time, and runs them on the simulator or a GPU with plain bytes.
//! - [`numerics`] lists every operation with what it must give, and measures how far a machine is from it.
//! - [`tiles`] holds kernels of operations on whole tiles.
//! - [`fuzz`] judges random kernels three ways: a simulator, an evaluator and a GPU.
//! - [`needs`] decides whether a test that needs NVRTC, the disassembler or a GPU runs, skips or fails.

pub mod cuda;
pub mod dynamic;
pub mod fuzz;
pub mod needs;
pub mod numerics;
pub mod parity;
pub mod sass;
pub mod tiles;
