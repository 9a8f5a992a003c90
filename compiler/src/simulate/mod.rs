//! Runs a kernel on the CPU.
//!
//! [`simulate`] executes a launch as the IR defines it, counts what every access costs by the hardware model of
//! `tileproof-model`, and stops at the first thing that the proofs exclude. It is the second opinion on the compiler:
//! what the checks call proven must run here without a fault and with the counts they predict.
//!
//! # How
//!
//! The kernel is compiled, for one launch, to a flat program of warp-wide instructions. A warp is a program counter, a mask
//! of active lanes with a stack, and registers of 32 lanes; it executes both sides of a condition one after the other
//! under masks. Blocks run one after another, each with uninitialised shared memory. In a block each warp runs
//! until it waits or ends; when all wait at one barrier, all go on.
//!
//! Nothing is concluded from that order, because hardware promises none: two accesses of different threads to one
//! element of shared memory between two barriers are a race if one writes, also within a warp, within an instruction,
//! and also if both write the same value. A barrier must be reached by all threads of the block together: one that some lanes
//! of a warp skip, or that a warp passes by to another barrier or to the end, is a fault even where hardware would go on.
//! Races between blocks in global memory are not looked for.
//!
//! # Values
//!
//! Data integers wrap at their width, division of the least signed integer by -1 included; shift amounts are masked; floats are those
//! of Rust, one rounding an operation, subnormal numbers kept, with -0 below +0 in `min` and `max`; casts are Rust's `as`. All of these
//! are the bits that a GPU computes, but for the sign and payload of a NaN that is computed. Of the [functions](crate::ir::FUNCTIONS)
//! that are not exact, f32 results are rounded from f64 and f64 results are within 2 units in the last place; a GPU's are within the table's bounds. All of it is the
//! same on every host. Arithmetic of `usize`
//! that leaves 0..2^64 is a fault, as are division of integers by zero and indices outside a register array, but only
//! where the value counts: not in the side that a select leaves out, nor in the right side of a bool `&` whose left is
//! false or of a bool `|` whose left is true.
//!
//! Global addresses are those of the elements, with the first one at `base`, so that the sectors are those of the device.

// It runs behind a launch, not in the macro, and only what has been checked.
#![allow(clippy::panic, clippy::unreachable)]

mod argument;
mod atomic;
mod collective;
mod compile;
mod constant;
mod copies;
mod fault;
mod function;
mod matrix;
mod memory;
mod program;
mod shared;
#[cfg(test)]
mod tests;
mod unaligned;
mod value;
mod warp;

pub(crate) use constant::constant;

pub use argument::{Argument, Buffer, TensorArgument};
pub use fault::{ArgumentProblem, Earlier, Fault, FaultKind, Instead, Position};

use crate::ir::Kernel;
use crate::span::SpanId;
use memory::Memory;
use program::Program;
use tileproof_model::report::SiteCounts;
use warp::{Stop, Warp, lanes, place};

/// Runs a launch of `grid` blocks (x, y, z) and returns the counts of each access site, by its number in
/// [`Kernel::sites`]. There is one argument a parameter, in order; tensors that the kernel writes hold its results afterwards.
/// A grid with an extent of 0 has no block. What the kernel requires of its arguments is the caller's to check.
///
/// # Errors
/// A [`Fault`], if the arguments do not fit or a thread does what the proofs exclude. Tensors may then be partly written.
///
/// # Panics
/// If the kernel is not well formed: ill-typed, with a block of no threads, or a layout that is none for its tile.
pub fn simulate(
    kernel: &Kernel,
    grid: [u32; 3],
    arguments: &mut [Argument<'_>],
) -> Result<Vec<SiteCounts>, Fault> {
    argument::check(kernel, arguments)?;
    let program = compile::compile(kernel, grid, arguments);
    let mut memory = Memory::new(kernel, arguments, program.accesses.len());
    let threads = kernel.threads();
    let mut warps: Vec<Warp> =
        (0..threads).step_by(32).map(|first| Warp::new(&program, kernel.block, first)).collect();
    for z in 0..grid[2] {
        for y in 0..grid[1] {
            for x in 0..grid[0] {
                run_block(kernel, &program, &mut warps, &mut memory, [x, y, z])?;
            }
        }
    }
    Ok(memory.counts)
}

fn run_block(
    kernel: &Kernel,
    program: &Program,
    warps: &mut [Warp],
    memory: &mut Memory<'_, '_>,
    block: [u32; 3],
) -> Result<(), Fault> {
    memory.shared.restart();
    for warp in warps.iter_mut() {
        warp.restart(program, block);
    }
    let fault = |kind, span: SpanId, thread: u32| {
        let position = Position { block, thread: place(kernel.block, thread) };
        Fault { kind, span, thread: Some(position) }
    };
    loop {
        let mut ended = None;
        let mut waiting: Option<&Warp> = None;
        for warp in warps.iter_mut() {
            let stop = warp
                .run(program, memory)
                .map_err(|trap| fault(trap.kind, trap.span, warp.first_thread + trap.lane))?;
            let missing = |thread, instead| {
                let missing = place(kernel.block, thread);
                FaultKind::Barrier { missing, instead }
            };
            let span = program.spans[warp.counter];
            match (stop, ended, waiting) {
                (Stop::End, _, None) => ended = Some(warp.first_thread),
                (Stop::End, _, Some(other)) => {
                    let kind = missing(warp.first_thread, Instead::Ended);
                    return Err(fault(kind, program.spans[other.counter], other.first_thread));
                }
                (Stop::Barrier, Some(thread), _) => {
                    let waits = first(warp.first_thread, warp.active);
                    return Err(fault(missing(thread, Instead::Ended), span, waits));
                }
                (Stop::Barrier, None, _) if warp.active != warp.exists => {
                    let waits = first(warp.first_thread, warp.active);
                    let skips = first(warp.first_thread, warp.exists & !warp.active);
                    return Err(fault(missing(skips, Instead::OtherBranch), span, waits));
                }
                (Stop::Barrier, None, Some(other)) if other.counter != warp.counter => {
                    let instead = Instead::OtherBarrier(program.spans[other.counter]);
                    return Err(fault(missing(other.first_thread, instead), span, warp.first_thread));
                }
                (Stop::Barrier, None, Some(_)) => {}
                (Stop::Barrier, None, None) => waiting = Some(warp),
            }
        }
        if waiting.is_none() {
            return Ok(());
        }
        memory.shared.barrier();
        collective::of_block(program, warps);
        for warp in warps.iter_mut() {
            warp.counter += 1;
        }
    }
}

/// The linear number of the first thread of a warp's lanes.
fn first(first_thread: u32, mask: u32) -> u32 {
    lanes(mask).next().map_or(first_thread, |lane| first_thread + lane as u32)
}
