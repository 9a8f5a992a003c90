//! One warp-wide memory access and what it costs.
//!
//! # The rules
//!
//! A warp executes one memory instruction: lane `i` of 0..32 is active or not, and asks for `w` bytes at the byte
//! address `a_i`. A *word* is an aligned unit of 4 bytes; shared memory has 32 *banks*, and `word mod 32` is the bank
//! of a word. A *wavefront* is one pass of the shared-memory data stage, in which each bank gives one word.
//!
//! ## Shared memory
//!
//! The lanes are served in groups. A bank's cost within a group is the number of distinct words asked of it, so lanes
//! that read or write the same word share it. A group takes as many wavefronts as its costliest bank, the
//! access as many as its groups together:
//!
//! | operation | groups of lanes | what counts in a bank |
//! |---|---|---|
//! | load, 1, 2 or 4 bytes | all 32 | distinct words |
//! | load, 8 bytes | 2 × 16; all 32 if *merged* | distinct words |
//! | load, 16 bytes | 4 × 8; 2 × 16 if *merged* | distinct words |
//! | store, 1, 2 or 4 / 8 / 16 bytes | all 32 / 2 × 16 / 4 × 8 | distinct words |
//! | `ldmatrix`, `ldmatrix.trans`, `stmatrix` of n matrices | n × 8 rows of 16 bytes | distinct words |
//! | atomic, 4 / 8 bytes | all 32 / 2 × 16 | every lane: equal addresses wait for each other |
//! | compare and exchange, 4 / 8 bytes | all 32 / 2 × 16 | every lane, twice |
//! | add of the constant 1 without a result, u32 | all 32 | distinct words |
//! | `cp.async`, 4 / 8 bytes, its shared side | all 32 / 2 × 16 | every lane |
//! | `cp.async`, 16 bytes, its shared side | 4 × 8 | nothing: see below |
//!
//! *Merged*: a wide load serves two groups at once if, over the whole warp, every active lane `i` has the address of
//! lane `i ^ 1` wherever that one is active; or if all of this holds with `i ^ 2`. One of the two must hold for all 32
//! lanes. Stores never merge.
//!
//! A group without an active lane costs nothing. The *ideal* is the number of groups, after merging, that hold
//! an active lane, and only the *excess* over it is a conflict: a contiguous access of 16 bytes a lane takes 4
//! wavefronts, and none of them is one. What follows from the rules:
//!
//! - The same multiple of 4 bytes added to every address rotates the banks and changes nothing.
//! - Taking lanes away never raises the wavefronts, loops aside. It can raise the *excess*, because what is left may merge and
//!   lower the ideal.
//! - Elements of 1 and 2 bytes count by their word: two lanes in one word do not conflict.
//!
//! *Atomics.* Shared memory updates integers of 4 bytes and exchanges 4 or 8 bytes in one instruction, `ATOMS`, whether the
//! result is used or not. Everything else, sums of floats and the other updates of 8 bytes, ptxas turns into a loop of a
//! load and an `ATOMS.CAST.SPIN`, whose rounds `retry.rs` describes: 2 wavefronts and a load where
//! every lane has a bank for itself, 96 where all 32 lanes add an f32 to one word. That count holds for a warp that no other one
//! disturbs and that changes each element; it is the least where warps meet at an element, and may be up to twice too many where
//! minima, maxima and bits of 8 bytes leave elements as they are.
//!
//! For `cp.async` of 16 bytes the counters show no conflict for any pattern, and yet a timed loop does: 10 cycles
//! an instruction where the warp writes 4 lines of 128 bytes, 14 for 8 lines, 17 for 16, 25 for 32. A second loop, of 8 warps
//! that fetch through the second-level cache, took 20 for 4 lines, 22 to 49 for 8, 34 to 57 for 16, 43 to 106 for 32: lines give
//! the order, and no more. So its cost is the number of lines, of which 4 are ideal, and its wavefronts are its ideal ones.
//!
//! Two things about copies need both of their sides, and are left out here. Those of 4 and 8 bytes conflict where they read as
//! well: a group takes as many turns as lanes share a bank, an address mod 128, on the worse of the two sides. And those of 16 bytes
//! count the sectors that they write rather than those that they read: `tests/copies.rs`.
//!
//! ## Global memory
//!
//! A load or store of any width is one request, and moves the distinct 32-byte *sectors* that the active lanes touch.
//! The ideal is what the same bytes need where each contiguous run of them starts on a sector: a run of at least 32
//! bytes needs ⌈bytes / 32⌉, and the runs below 32 bytes are pooled, since another layout could have put them side by
//! side. Long runs with short gaps can share sectors and need fewer than that; then the ideal is what they took.
//! *Lines* are the distinct 128-byte units.
//!
//! Atomics in global memory, with a result or without, take a sector as often as the address in it that the most lanes share:
//! 32 times where all of them add to one element. A scattered access of more than 4 lines can take one more: of the 400
//! that were counted 5 did.
//!
//! # Where this is from
//!
//! The rules were fitted to accesses replayed one by one on an H200 under Nsight Compute's hardware counters
//! (`l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld`, `_op_st`; `l1tex__t_sectors_pipe_lsu_mem_global_op_ld`,
//! `_op_st`), and then predicted two further sets without a miss: 3,075 accesses, no disagreement. 1,606 of them are
//! in `tests/h200-accesses.csv`, and a test demands every one. The rules are therefore *measured on sm_90, assumed
//! elsewhere*; what others published of sm_70 and sm_75 agrees. Of the other 1,286, most of them atomics, 5 disagree, as told above. In a busy kernel the counters also hold lost arbitration, a few per cent, which no
//! rule about addresses can know.

use crate::banks;
use crate::footprint::{self, Footprint};

/// Lanes of a warp.
pub const LANES: usize = 32;

/// Bytes of a sector, the unit in which global memory moves.
pub const SECTOR_BYTES: u32 = 32;

/// Bytes of a line, the unit that caches know.
pub const LINE_BYTES: u32 = 128;

/// Bytes that a wavefront can move: a word a bank.
pub const WAVEFRONT_BYTES: u32 = 128;

/// Lines of 128 bytes that an asynchronous copy of 16 bytes a lane writes at least, where the whole warp takes part.
pub(crate) const IDEAL_COPY_LINES: u32 = 4;

/// The instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Operation {
    /// `ld.shared`
    LoadShared,
    /// `st.shared`
    StoreShared,
    /// `atom.shared` and `red.shared` where they are one instruction: what 4-byte integers have, and the exchange of 8 bytes.
    AtomicShared,
    /// `red.shared.add.u32` of the constant 1, `ATOMS.POPC.INC` in machine code: it counts the lanes of a word.
    CountShared,
    /// `atom.shared.cas`
    CompareShared,
    /// `atom.shared` and `red.shared` where they are a loop around a compare and exchange: sums of floats, and of 8 bytes all but
    /// the exchanges. What it costs is a bound: see the module.
    LoopShared,
    /// The shared side of `cp.async`: offsets are where the bytes go.
    CopyAsync,
    /// `ldmatrix`: lane `8 m + r` holds the address of row `r` of matrix `m`.
    LoadMatrix,
    /// `ldmatrix.trans`: rows as for [`Operation::LoadMatrix`].
    LoadMatrixTransposed,
    /// `stmatrix`: rows as for [`Operation::LoadMatrix`].
    StoreMatrix,
    /// `ld.global`
    LoadGlobal,
    /// `st.global`
    StoreGlobal,
    /// `atom.global` and `red.global`
    AtomicGlobal,
}

/// One instruction of one warp. Plain data: see [`cost`] for what must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Access {
    /// The instruction.
    pub operation: Operation,
    /// Bytes a lane; for the matrix instructions the number of matrices. One of [`Operation::widths`].
    pub width: u32,
    /// Bit `i` is set where lane `i` is active. The matrix instructions need the whole warp: for them any mask but
    /// zero stands for it.
    pub active: u32,
    /// Byte offset of each lane from a base that is aligned to 128 bytes. Those of inactive lanes are ignored.
    pub offsets: [u32; LANES],
}

/// What one instruction of one warp costs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Cost {
    /// Shared memory: passes of the data stage. 0 for global memory.
    pub wavefronts: u32,
    /// Shared memory: passes without conflicts. 0 for global memory.
    pub ideal_wavefronts: u32,
    /// Global memory: distinct 32-byte sectors. 0 for shared memory.
    pub sectors: u32,
    /// Global memory: sectors that the same bytes need when coalesced and aligned. 0 for shared memory.
    pub ideal_sectors: u32,
    /// Distinct 128-byte lines, in either memory.
    pub lines: u32,
    /// For `cp.async` of 16 bytes a lane at most 4, the lines of a full contiguous warp. Elsewhere all `lines`, since
    /// their number has no cost of its own there.
    pub ideal_lines: u32,
    /// Distinct bytes that the active lanes ask for, in either memory.
    pub useful_bytes: u32,
    /// The shortest contiguous run of those bytes, in either memory; 0 if no lane is active.
    pub shortest_run_bytes: u32,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Operation; 13] = [
        Operation::LoadShared,
        Operation::StoreShared,
        Operation::AtomicShared,
        Operation::CountShared,
        Operation::CompareShared,
        Operation::LoopShared,
        Operation::CopyAsync,
        Operation::LoadMatrix,
        Operation::LoadMatrixTransposed,
        Operation::StoreMatrix,
        Operation::LoadGlobal,
        Operation::StoreGlobal,
        Operation::AtomicGlobal,
    ];

    /// The instruction as PTX begins it, such as `ld.shared`; `red.shared.inc` and `atom.shared loop` are forms that machine
    /// code has and PTX has no name for.
    pub fn name(self) -> &'static str {
        match self {
            Operation::LoadShared => "ld.shared",
            Operation::StoreShared => "st.shared",
            Operation::AtomicShared => "atom.shared",
            Operation::CountShared => "red.shared.inc",
            Operation::CompareShared => "atom.shared.cas",
            Operation::LoopShared => "atom.shared loop",
            Operation::CopyAsync => "cp.async",
            Operation::LoadMatrix => "ldmatrix",
            Operation::LoadMatrixTransposed => "ldmatrix.trans",
            Operation::StoreMatrix => "stmatrix",
            Operation::LoadGlobal => "ld.global",
            Operation::StoreGlobal => "st.global",
            Operation::AtomicGlobal => "atom.global",
        }
    }

    /// The widths that the rules cover: bytes a lane, or the number of matrices.
    pub fn widths(self) -> &'static [u32] {
        match self {
            Operation::LoadShared
            | Operation::StoreShared
            | Operation::LoadGlobal
            | Operation::StoreGlobal => &[1, 2, 4, 8, 16],
            Operation::CountShared => &[4],
            Operation::AtomicShared | Operation::CompareShared | Operation::LoopShared => &[4, 8],
            Operation::AtomicGlobal => &[4, 8, 16],
            Operation::CopyAsync => &[4, 8, 16],
            Operation::LoadMatrix | Operation::LoadMatrixTransposed | Operation::StoreMatrix => &[1, 2, 4],
        }
    }

    /// Whether the lanes address global memory.
    pub fn is_global(self) -> bool {
        match self {
            Operation::LoadGlobal | Operation::StoreGlobal | Operation::AtomicGlobal => true,
            Operation::LoadShared
            | Operation::StoreShared
            | Operation::AtomicShared
            | Operation::CountShared
            | Operation::CompareShared
            | Operation::LoopShared
            | Operation::CopyAsync
            | Operation::LoadMatrix
            | Operation::LoadMatrixTransposed
            | Operation::StoreMatrix => false,
        }
    }

    fn is_matrix(self) -> bool {
        match self {
            Operation::LoadMatrix | Operation::LoadMatrixTransposed | Operation::StoreMatrix => true,
            Operation::LoadShared
            | Operation::StoreShared
            | Operation::AtomicShared
            | Operation::CountShared
            | Operation::CompareShared
            | Operation::LoopShared
            | Operation::CopyAsync
            | Operation::LoadGlobal
            | Operation::StoreGlobal
            | Operation::AtomicGlobal => false,
        }
    }
}

impl Access {
    /// The access of a full warp, from the byte offset of each lane.
    pub fn full_warp(operation: Operation, width: u32, offset: impl Fn(u32) -> u32) -> Access {
        let mut offsets = [0; LANES];
        let mut lane = 0;
        while lane < LANES {
            offsets[lane] = offset(lane as u32);
            lane += 1;
        }
        Access { operation, width, active: u32::MAX, offsets }
    }

    /// The lanes whose addresses count.
    pub(crate) fn lanes(&self) -> u32 {
        if self.active == 0 || !self.operation.is_matrix() {
            self.active
        } else if self.width >= 4 {
            u32::MAX
        } else {
            (1 << (8 * self.width)) - 1
        }
    }

    /// The bytes behind one address, 1 to 16.
    pub(crate) fn lane_bytes(&self) -> u32 {
        if self.operation.is_matrix() { 16 } else { self.width.clamp(1, 16) }
    }

    /// The number of active lanes if they are lanes 0, 1, 2, … and each begins where the one before it ends.
    fn contiguous_lanes(&self, lanes: u32, bytes: u32) -> Option<u32> {
        if lanes & lanes.wrapping_add(1) != 0 {
            return None;
        }
        let count = lanes.count_ones() as usize;
        let mut lane = 1;
        while lane < count {
            if self.offsets[lane].wrapping_sub(self.offsets[lane - 1]) != bytes {
                return None;
            }
            lane += 1;
        }
        Some(count as u32)
    }
}

impl Cost {
    /// Wavefronts that a layout without conflicts would save.
    pub fn excess_wavefronts(&self) -> u32 {
        self.wavefronts - self.ideal_wavefronts
    }

    /// Sectors that a coalesced and aligned access would save.
    pub fn excess_sectors(&self) -> u32 {
        self.sectors - self.ideal_sectors
    }

    /// Lines beyond those of a contiguous access, for `cp.async` of 16 bytes a lane; 0 elsewhere.
    pub fn excess_lines(&self) -> u32 {
        self.lines - self.ideal_lines
    }

    /// The excess in whichever unit the operation is judged by; 0 for a clean access.
    pub fn excess(&self) -> u32 {
        self.excess_wavefronts() + self.excess_sectors() + self.excess_lines()
    }
}

/// What the access costs, by the rules of this module.
///
/// The width must be one of [`Operation::widths`] and each active offset a multiple of the bytes of a lane (16 for the
/// matrix instructions): the hardware faults on others. Where that does not hold the answer is meaningless, but there
/// is one. A warp without an active lane costs nothing.
pub fn cost(access: &Access) -> Cost {
    let (lanes, bytes) = (access.lanes(), access.lane_bytes());
    if lanes == 0 {
        return Cost::default();
    }
    let contiguous = access.contiguous_lanes(lanes, bytes);
    let footprint = match contiguous {
        Some(count) => Footprint::of_run(access.offsets[0], count * bytes),
        None => Footprint::of_lanes(&access.offsets, lanes, bytes),
    };
    let mut cost = Cost {
        lines: footprint.lines,
        ideal_lines: footprint.lines,
        useful_bytes: footprint.bytes,
        shortest_run_bytes: footprint.shortest_run_bytes,
        ..Cost::default()
    };
    if access.operation.is_global() {
        cost.sectors = match (access.operation, contiguous) {
            (Operation::AtomicGlobal, None) => footprint::serial_sectors(&access.offsets, lanes),
            (_, _) => footprint.sectors,
        };
        cost.ideal_sectors = footprint.ideal_sectors;
        return cost;
    }
    let passes = match contiguous {
        Some(_) => banks::contiguous_passes(access),
        None => banks::passes(access),
    };
    cost.wavefronts = passes.wavefronts;
    cost.ideal_wavefronts = passes.ideal;
    if access.operation == Operation::CopyAsync && access.width == 16 && cost.lines > IDEAL_COPY_LINES {
        cost.ideal_lines = IDEAL_COPY_LINES;
    }
    cost
}
