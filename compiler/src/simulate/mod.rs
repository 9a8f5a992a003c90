//! Runs a kernel on the CPU.
