//! Asynchronous copies: what has been started and not been waited for.
//!
//! The data is read when a copy starts and arrives when its thread waits for it. On hardware it arrives at some time in
//! between, so nobody may touch the element meanwhile, the thread itself included.

use super::memory::Memory;
use super::program::{Program, Register};
use super::shared::{Objection, Shared, Stamp, Visitor};
use super::value;
use super::warp::{Flaw, Warp, lanes};
use crate::ir::Scalar;

/// The copies of one thread.
#[derive(Debug, Default)]
pub(super) struct Copies {
    /// Those that are under way, in order.
    started: Vec<Copy>,
    /// How many groups have been closed; the next copy is part of the group with this number.
    closed: u32,
}

/// The copy of one element.
#[derive(Debug)]
struct Copy {
    group: u32,
    tile: usize,
    element: Scalar,
    /// In elements.
    offset: u64,
    site: u32,
    value: u64,
}

impl Shared {
    /// Starts to write the element at `offset` of a tile, in elements.
    pub(super) fn start_copy(
        &mut self,
        tile: usize,
        element: Scalar,
        offset: u64,
        visitor: Visitor,
        value: u64,
    ) -> Result<(), Objection> {
        let stamp = self.stamp(visitor);
        self.may_write(tile, offset, stamp)?;
        self.shadow(tile, offset).copier = stamp;
        let Visitor { thread, site, .. } = visitor;
        let copies = self.copies(thread);
        let group = copies.closed;
        copies.started.push(Copy { group, tile, element, offset, site, value });
        Ok(())
    }

    /// Closes a thread's group of copies.
    fn commit(&mut self, thread: u32) {
        self.copies(thread).closed += 1;
    }

    /// Ends a thread's copies but those of its last groups, and those of a group that is open.
    fn wait(&mut self, thread: u32, phase: u32, pending: u32) {
        let copies = self.copies(thread);
        let done = copies.closed.saturating_sub(pending);
        let (ended, rest) =
            std::mem::take(&mut copies.started).into_iter().partition(|copy| copy.group < done);
        copies.started = rest;
        let ended: Vec<Copy> = ended;
        for Copy { tile, element, offset, site, value, .. } in ended {
            let stamp = self.stamp(Visitor { thread, phase, site });
            let shadow = self.shadow(tile, offset);
            (shadow.copier, shadow.writer) = (Stamp::default(), stamp);
            let place = self.place(tile, element, offset);
            value::to_bytes(value, &mut self.bytes[place]);
        }
    }

    fn copies(&mut self, thread: u32) -> &mut Copies {
        let thread = thread as usize;
        if self.copies.len() <= thread {
            self.copies.resize_with(thread + 1, Copies::default);
        }
        &mut self.copies[thread]
    }
}

/// Starts the copies of a warp; zeros where `inside` is false.
pub(super) fn start(
    warp: &mut Warp,
    program: &Program,
    memory: &mut Memory<'_, '_>,
    [source, destination]: [usize; 2],
    inside: Register,
) -> Result<(), Flaw> {
    let (from, to) = (&program.accesses[source], &program.accesses[destination]);
    let active = warp.active;
    for i in 0..from.width {
        let data = warp.write(from.data.plus(i));
        for lane in lanes(active) {
            data[lane] = 0;
        }
    }
    warp.active &= value::truth(warp.read(inside));
    let read = if warp.active == 0 { Ok(()) } else { memory.access(warp, source, from) };
    warp.active = active;
    read?;
    memory.access(warp, destination, to)
}

/// Closes the group of each active lane.
pub(super) fn commit(warp: &Warp, memory: &mut Memory<'_, '_>) {
    for lane in lanes(warp.active) {
        memory.shared.commit(warp.first_thread + lane as u32);
    }
}

/// Waits in each active lane.
pub(super) fn wait(warp: &Warp, memory: &mut Memory<'_, '_>, pending: u32) {
    for lane in lanes(warp.active) {
        memory.shared.wait(warp.first_thread + lane as u32, warp.phase, pending);
    }
}
