//! The shared memory of a block, with a shadow that knows who touched what since the last barrier.

use super::copies::Copies;
use super::value;
use crate::ir::{Kernel, Scalar};
use std::ops::Range;
use tileproof_model::access::LANES;

/// The shared memory of the block that is running.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) bytes: Vec<u8>,
    /// The byte offset of each tile in `bytes`, and the place of its first element in `shadow`.
    tiles: Vec<(usize, usize)>,
    shadow: Vec<Shadow>,
    /// Grows by one at each barrier and each start of a block.
    epoch: u64,
    /// The epoch in which the running block started; what was written before it is not there for this block.
    start: u64,
    /// By thread of the block.
    pub(super) copies: Vec<Copies>,
}

/// What happened to one element.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Shadow {
    pub(super) writer: Stamp,
    /// Who started an asynchronous copy to it that has not been waited for.
    pub(super) copier: Stamp,
    readers: Pair,
    /// Atomic updates, which do not race with each other.
    updaters: Pair,
}

/// Two accesses of one kind, chosen so that a thread that any access of that kind is not ordered with is not ordered with
/// one of them: of different warps if there are such, else of the latest phase of their warp.
#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    first: Stamp,
    other: Stamp,
}

/// An access: when, by which thread, at which site.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    /// Grows by one at each barrier of the block; 0 if there was no access.
    epoch: u64,
    /// Grows by one at each barrier of the thread's warp.
    phase: u32,
    /// The linear number of the thread in its block.
    pub(super) thread: u32,
    /// The number of the access site.
    pub(super) site: u32,
}

/// Who accesses an element, and where.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visitor {
    /// The linear number of the thread in its block.
    pub(super) thread: u32,
    /// The barriers that its warp has passed.
    pub(super) phase: u32,
    /// The number of the access site.
    pub(super) site: u32,
}

impl Stamp {
    fn warp(self) -> u32 {
        self.thread / LANES as u32
    }

    /// Whether nothing orders an access before a later one.
    fn races(self, later: Stamp) -> bool {
        self.epoch == later.epoch
            && self.thread != later.thread
            && (self.warp() != later.warp() || self.phase == later.phase)
    }
}

impl Pair {
    fn add(&mut self, stamp: Stamp) {
        let Pair { first, other } = self;
        let several_warps = first.epoch == other.epoch && first.warp() != other.warp();
        if first.epoch != stamp.epoch {
            *first = stamp;
        } else if first.warp() != stamp.warp() {
            *other = stamp;
        } else if !several_warps {
            if first.phase < stamp.phase {
                *first = stamp;
            } else if first.thread != stamp.thread {
                *other = stamp;
            }
        }
    }

    /// One that nothing orders before a later access.
    fn race(self, later: Stamp) -> Option<Stamp> {
        [self.first, self.other].into_iter().find(|stamp| stamp.races(later))
    }
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
    /// An asynchronous copy to it is under way.
    UnderWay(Stamp),
    /// This atomic update was not ordered before it by a barrier.
    AfterUpdate(Stamp),
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
            copies: Vec::new(),
        }
    }

    /// A new block starts: nothing is initialised.
    pub(super) fn restart(&mut self) {
        self.epoch += 1;
        self.start = self.epoch;
        self.copies.clear();
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
        visitor: Visitor,
    ) -> Result<u64, Objection> {
        let stamp = self.stamp(visitor);
        let start = self.start;
        let Shadow { writer, copier, readers, updaters } = self.shadow(tile, offset);
        if copier.epoch >= start {
            return Err(Objection::UnderWay(*copier));
        }
        if writer.epoch < start {
            return Err(Objection::Uninitialised);
        }
        if writer.races(stamp) {
            return Err(Objection::AfterWrite(*writer));
        }
        if let Some(update) = updaters.race(stamp) {
            return Err(Objection::AfterUpdate(update));
        }
        readers.add(stamp);
        Ok(value::from_bytes(element, &self.bytes[self.place(tile, element, offset)]))
    }

    /// Writes the element at `offset` of a tile, in elements.
    pub(super) fn store(
        &mut self,
        tile: usize,
        element: Scalar,
        offset: u64,
        visitor: Visitor,
        value: u64,
    ) -> Result<(), Objection> {
        let stamp = self.stamp(visitor);
        self.may_write(tile, offset, stamp)?;
        self.shadow(tile, offset).writer = stamp;
        let place = self.place(tile, element, offset);
        value::to_bytes(value, &mut self.bytes[place]);
        Ok(())
    }

    /// Whether nothing that is not ordered with a write has to do with the element.
    pub(super) fn may_write(&mut self, tile: usize, offset: u64, stamp: Stamp) -> Result<(), Objection> {
        self.may_update(tile, offset, stamp)?;
        match self.shadow(tile, offset).updaters.race(stamp) {
            Some(update) => Err(Objection::AfterUpdate(update)),
            None => Ok(()),
        }
    }

    /// Whether nothing but updates that is not ordered with an update has to do with the element.
    fn may_update(&mut self, tile: usize, offset: u64, stamp: Stamp) -> Result<(), Objection> {
        let start = self.start;
        let Shadow { writer, copier, readers, updaters: _ } = self.shadow(tile, offset);
        if copier.epoch >= start {
            return Err(Objection::UnderWay(*copier));
        }
        if writer.races(stamp) {
            return Err(Objection::AfterWrite(*writer));
        }
        match readers.race(stamp) {
            Some(reader) => Err(Objection::AfterRead(reader)),
            None => Ok(()),
        }
    }

    /// Updates the element at `offset` of a tile, in elements; the value before.
    pub(super) fn update(
        &mut self,
        tile: usize,
        element: Scalar,
        offset: u64,
        visitor: Visitor,
        update: impl FnOnce(u64) -> u64,
    ) -> Result<u64, Objection> {
        let stamp = self.stamp(visitor);
        self.may_update(tile, offset, stamp)?;
        if self.shadow(tile, offset).writer.epoch < self.start {
            return Err(Objection::Uninitialised);
        }
        self.shadow(tile, offset).updaters.add(stamp);
        let place = self.place(tile, element, offset);
        let bytes = &mut self.bytes[place];
        let before = value::from_bytes(element, bytes);
        value::to_bytes(update(before), bytes);
        Ok(before)
    }

    pub(super) fn shadow(&mut self, tile: usize, offset: u64) -> &mut Shadow {
        let (_, first) = self.tiles[tile];
        &mut self.shadow[first + offset as usize]
    }

    /// The bytes of an element.
    pub(super) fn place(&self, tile: usize, element: Scalar, offset: u64) -> Range<usize> {
        let (start, _) = self.tiles[tile];
        let size = element.bytes() as usize;
        let place = start + offset as usize * size;
        place..place + size
    }

    pub(super) fn stamp(&self, visitor: Visitor) -> Stamp {
        let Visitor { thread, phase, site } = visitor;
        Stamp { epoch: self.epoch, phase, thread, site }
    }
}
