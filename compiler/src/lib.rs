//! The compiler behind tileproof's `#[tiled_kernel]`.
//!
//! One path: tokens → [`ast`] → [`ir`] → [`facts`] → [`check::Checked`] → CUDA text, report and host items ([`emit`]).
//! It has no CUDA, no I/O, no clock and no environment; equal tokens give equal bytes.

#![forbid(unsafe_code)]

pub mod ast;
pub mod check;
pub mod diagnostic;
pub mod emit;
pub mod facts;
pub mod ir;
pub mod lower;
pub mod simulate;
pub mod span;
pub mod tokens;
