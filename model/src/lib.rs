//! The hardware in numbers.

pub mod access;
pub mod report;
