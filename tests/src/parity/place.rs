//! Where accesses are: what a report's sites and a cubin's instructions have in common.
//!
//! The report names sites, the machine code instructions. Both know the line of the Rust source, the memory, what is done there
//! and how many bytes a lane moves: a [`Place`]. Several sites of a line can share one, and one site can be several instructions
//! of an unrolled loop, so what is compared are the sums over a place.

use crate::sass::{self, Access, Action};
use serde::{Deserialize, Serialize};
use std::ops::AddAssign;
use tileproof::__private::Operation;
use tileproof::report::{Role, SiteReport, Space};

/// A line and what is accessed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Place {
    /// The line of the Rust source, counted from 1.
    pub line: u32,
    /// The memory, the direction and the bytes a lane. Reductions are atomics here: the report does not tell them apart.
    #[serde(flatten)]
    pub access: Access,
}

/// What is counted at a place, over a launch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Warp instructions with at least one active lane.
    pub requests: u64,
    /// Of asynchronous copies, those of which a lane reads: the others write zeros, and ask no cache.
    pub reads: u64,
    /// Active lanes, over all requests.
    pub lanes: u64,
    /// Passes of the data stage of shared memory.
    pub wavefronts: u64,
    /// The same without conflicts.
    pub ideal_wavefronts: u64,
    /// 32-byte sectors of device memory.
    pub sectors: u64,
    /// 128-byte lines of device memory.
    pub lines: u64,
    /// Bytes that a lane asks for and another one of its instruction, too.
    #[serde(default)]
    pub repeated_bytes: u64,
    /// Of the requests, those that are loops in the machine code.
    #[serde(default)]
    pub loops: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.requests += other.requests;
        self.reads += other.reads;
        self.lanes += other.lanes;
        self.wavefronts += other.wavefronts;
        self.ideal_wavefronts += other.ideal_wavefronts;
        self.sectors += other.sectors;
        self.lines += other.lines;
        self.repeated_bytes += other.repeated_bytes;
        self.loops += other.loops;
    }
}

/// What a site of a report is in the machine code.
pub fn of_site(site: &SiteReport) -> Place {
    let (space, action) = match (site.space, site.role) {
        // Both halves of an asynchronous copy are one instruction.
        (Space::Global | Space::Shared, _) if site.asynchronous => (sass::Space::Shared, Action::CopyAsync),
        (Space::Shared, Role::Read) if is_of_matrices(site) => (sass::Space::Shared, Action::LoadMatrix),
        (Space::Global, Role::Read) => (sass::Space::Global, Action::Load),
        (Space::Global, Role::Write) => (sass::Space::Global, Action::Store),
        (Space::Global, Role::Update) => (sass::Space::Global, Action::Atomic),
        (Space::Shared, Role::Read) => (sass::Space::Shared, Action::Load),
        (Space::Shared, Role::Write) => (sass::Space::Shared, Action::Store),
        (Space::Shared, Role::Update) => (sass::Space::Shared, Action::Atomic),
    };
    Place { line: site.line, access: Access { space, action, bytes: site.lane_bytes } }
}

/// Whether a site is a load of matrices.
fn is_of_matrices(site: &SiteReport) -> bool {
    matches!(site.operation, Operation::LoadMatrix | Operation::LoadMatrixTransposed)
}

/// What an instruction is in a report; line 0 where the cubin does not say.
pub fn of_instruction(instruction: &sass::Instruction) -> Place {
    let action = match instruction.access.action {
        Action::Reduction => Action::Atomic,
        other @ (Action::Load
        | Action::Store
        | Action::Atomic
        | Action::CopyAsync
        | Action::LoadMatrix
        | Action::StoreMatrix) => other,
    };
    let line = instruction.source.as_ref().map_or(0, |(_, line)| *line);
    Place { line, access: Access { action, ..instruction.access } }
}
