//! The hardware in numbers, and what the other crates must agree on.
//!
//! [`access`] says what one warp-wide memory access costs and [`banks`] which lanes collide, [`limits`] what a
//! multiprocessor of each architecture holds. [`report`] is the shape of what the compiler says about a kernel, and
//! [`language`] holds the scalar types and what else compiler and launcher share, [`host`] the expressions that a launch evaluates.
//! The compiler, the macro, the simulator and the launcher all ask the same functions, so that a number means the
//! same thing everywhere.

#![forbid(unsafe_code)]

pub mod access;
pub mod banks;
mod footprint;
pub mod half;
pub mod host;
pub mod language;
pub mod limits;
pub mod report;
mod retry;
