//! The hardware in numbers.
//!
//! [`access`] says what one warp-wide memory access costs and [`banks`] which lanes collide, [`limits`] what a
//! multiprocessor of each architecture holds, and [`report`] is the shape of what the compiler says about a kernel.
//! The compiler, the macro, the simulator and the launcher all ask the same functions, so that a number means the
//! same thing everywhere.

pub mod access;
pub mod banks;
mod footprint;
pub mod limits;
pub mod report;
