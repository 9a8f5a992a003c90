//! The compiler behind tileproof's `#[tiled_kernel]`.
//!
//! One path: tokens → [`ast`] → [`ir`] → [`facts`] → [`check::Checked`] → CUDA text, report and host items ([`emit`]).
//! It has no CUDA, no I/O, no clock and no environment; equal tokens give equal bytes.

#![forbid(unsafe_code)]

pub mod emit;
pub mod ir;
pub mod simulate;
pub mod span;
pub mod tokens;
