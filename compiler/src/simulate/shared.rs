//! The shared memory of a block, with a shadow that knows who touched what since the last barrier.

use super::value;
use crate::ir::{Kernel, Scalar};

/// The shared memory of the block that is running.
#[derive(Debug)]
pub(super) struct Shared {
    bytes: Vec<u8>,
    /// The byte offset of each tile in `bytes`, and the place of its first element in `shadow`.
    tiles: Vec<(usize, usize)>,
    shadow: Vec<Shadow>,
    /// Grows by one at each barrier and each start of a block.
    epoch: u64,
    /// The epoch in which the running block started; what was written before it is not there for this block.
    start: u64,
}

/// What happened to one element.
#[derive(Clone, Copy, Debug, Default)]
struct Shadow {
    writer: Stamp,
    /// The first thread that read it in its epoch.
    reader: Stamp,
    /// Another thread that read it in the same epoch, if there is one.
    other_reader: Stamp,
}

/// An access: when, by which thread, at which site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    /// 0 if there was none.
    epoch: u64,
    /// The linear number of the thread in its block.
    pub(super) thread: u32,
    /// The number of the access site.
    pub(super) site: u32,
}

/// Why an element may not be accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Objection {
    /// No thread of the block has written it.
    Uninitialised,
    /// This read was not ordered before it by a barrier.
    AfterRead(Stamp),
    /// This write was not ordered before it by a barrier.
    AfterWrite(Stamp),
}

impl Shared {
    /// Memory for the kernel's tiles.
    pub(super) fn new(kernel: &Kernel) -> Shared {
        let (offsets, bytes) = kernel.shared_bytes();
        let mut elements = 0;
        let tiles = kernel.tiles.iter().zip(offsets).map(|((_, tile), offset)| {
            let first = elements;
            elements += tile.layout.elements(&tile.extents) as usize;
            (offset as usize, first)
        });
        let tiles = tiles.collect();
        Shared {
            bytes: vec![0; bytes as usize],
            tiles,
            shadow: vec![Shadow::default(); elements],
            epoch: 0,
            start: 0,
        }
    }

    /// A new block starts: nothing is initialised.
    pub(super) fn restart(&mut self) {
        self.epoch += 1;
        self.start = self.epoch;
    }

    /// All threads of the block have met.
    pub(super) fn barrier(&mut self) {
        self.epoch += 1;
    }

    /// Reads the element at `offset` of a tile, in elements.
    pub(super) fn load(
        &mut self,
        tile: usize,
        element: Scalar,
        offset: u64,
        thread: u32,
        site: u32,
    ) -> Result<u64, Objection> {
        let (start, first) = self.tiles[tile];
        let Shadow { writer, reader, other_reader } = &mut self.shadow[first + offset as usize];
        if writer.epoch < self.start {
            return Err(Objection::Uninitialised);
        }
        if writer.epoch == self.epoch && writer.thread != thread {
            return Err(Objection::AfterWrite(*writer));
        }
        let stamp = Stamp { epoch: self.epoch, thread, site };
        if reader.epoch != self.epoch {
            *reader = stamp;
        } else if reader.thread != thread {
            *other_reader = stamp;
        }
        let size = element.bytes() as usize;
        let place = start + offset as usize * size;
        Ok(value::from_bytes(element, &self.bytes[place..place + size]))
    }

    /// Writes the element at `offset` of a tile, in elements.
    pub(super) fn store(
        &mut self,
        tile: usize,
        element: Scalar,
        offset: u64,
        thread: u32,
        site: u32,
        value: u64,
    ) -> Result<(), Objection> {
        let (start, first) = self.tiles[tile];
        let shadow = &mut self.shadow[first + offset as usize];
        let races = |stamp: Stamp| stamp.epoch == self.epoch && stamp.thread != thread;
        if races(shadow.writer) {
            return Err(Objection::AfterWrite(shadow.writer));
        }
        for reader in [shadow.reader, shadow.other_reader] {
            if races(reader) {
                return Err(Objection::AfterRead(reader));
            }
        }
        shadow.writer = Stamp { epoch: self.epoch, thread, site };
        let size = element.bytes() as usize;
        let place = start + offset as usize * size;
        value::to_bytes(value, &mut self.bytes[place..place + size]);
        Ok(())
    }
}
