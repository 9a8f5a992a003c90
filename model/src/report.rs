//! What the compiler says about a kernel: plain data, one row an access site.
//!
//! The compiler fills it, the macro embeds it as a constant, errors, tables and the book read it from there.

mod bank_map;
mod barriers;
#[cfg(feature = "serde")]
pub mod json;
#[cfg(test)]
mod sample;
mod shared;
mod work;

pub use bank_map::{BankMap, NoMap, WarpAccess};
pub use barriers::{BarrierKind, BarrierReport, Ordered};
pub use shared::SharedFit;
pub use work::WorkReport;

use crate::access::{LINE_BYTES, Operation, SECTOR_BYTES};
use crate::limits::{Architecture, Occupancy};
use std::borrow::Cow;
use std::fmt;

/// Text that is a literal when the macro embeds it and owned when the compiler has just made it.
pub type Text = Cow<'static, str>;

/// Everything known about one kernel without running it.
#[derive(Clone, Debug, PartialEq)]
pub struct Report {
    /// The kernel's name.
    pub kernel: Text,
    /// Threads a block: x, y, z.
    pub block: [u32; 3],
    /// Shared memory a block, in bytes: see also [`Report::static_shared_bytes`] and [`Report::shared_fit`].
    pub shared_bytes: u32,
    /// The shared tiles, in order of declaration.
    pub tiles: Cow<'static, [TileReport]>,
    /// The access sites, in order of the source.
    pub sites: Cow<'static, [SiteReport]>,
    /// The barriers, in order of the source.
    pub barriers: Cow<'static, [BarrierReport]>,
    /// The least architecture that has all instructions of the kernel; `None`: all that kernels are compiled for have them.
    pub least_architecture: Option<LeastArchitecture>,
    /// How much of the kernel a multiprocessor holds, as far as threads and shared memory decide: an architecture a row. Registers,
    /// which only a compilation tells, may make it less.
    pub occupancy: Cow<'static, [(Architecture, Occupancy)]>,
    /// How much a block computes for what it moves: outside the loops whose iterations only the launch can count, then in an
    /// iteration of each of those.
    pub work: Cow<'static, [WorkReport]>,
    /// What the launcher checks before the kernel starts, as source text.
    pub launch_checks: Cow<'static, [Text]>,
    /// What is not proven and taken for granted, in order of the source. The launch is safe where there is none.
    pub trusts: Cow<'static, [TrustReport]>,
}

/// What a kernel demands of an architecture.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LeastArchitecture {
    /// Those before it lack an instruction.
    pub architecture: Architecture,
    /// The function of the vocabulary that becomes that instruction.
    pub function: Text,
    /// The line of its first call in the Rust source, counted from 1.
    pub line: u32,
}

/// One thing that is taken for granted.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TrustReport {
    /// What about it.
    pub claim: Claim,
    /// The access, the barrier or the expression, as written.
    pub what: Text,
    /// Its line of the Rust source, counted from 1.
    pub line: u32,
    /// Why, as the source says.
    pub because: Text,
}

/// One shared tile.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct TileReport {
    /// The name of the variable.
    pub name: Text,
    /// Its type with its layout, as a user writes it.
    pub ty: Text,
    /// Bytes, padding included.
    pub bytes: u32,
    /// Where the source says `Auto`: why the compiler chose this layout.
    pub chosen: Option<Text>,
}

/// The memory that a site accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Space {
    /// Device memory, reached through a tensor argument.
    Global,
    /// The block's shared memory.
    Shared,
}

/// The direction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Role {
    /// A load.
    Read,
    /// A store.
    Write,
    /// An atomic update.
    Update,
}

/// The verdict of a check on one access.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize),
    serde(tag = "verdict", content = "text", rename_all = "snake_case")
)]
pub enum Verdict {
    /// Clean for every input that the contract admits.
    Proven,
    /// Not clean, and the source took responsibility for it; the reason as written there.
    Budgeted(Text),
    /// One uniform condition decides, and the launcher checks it; the condition as text.
    AtLaunch(Text),
    /// Not proven, and the source answers for the safety of it, so the launch is unsafe; the reason as written there.
    Trusted(Text),
}

/// What the source can take for granted in the place of a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Claim {
    /// No other thread touches the element at the same time, unless neither writes it.
    Race,
    /// The access stays inside its tile or tensor.
    Bounds,
    /// What is read of shared memory has been written before.
    Initialised,
    /// All threads that take part in a barrier or a collective reach it together.
    Barriers,
    /// Index arithmetic stays in the range of its type, and divides by no zero.
    Range,
}

impl Claim {
    /// All claims.
    pub const ALL: [Claim; 5] =
        [Claim::Race, Claim::Bounds, Claim::Initialised, Claim::Barriers, Claim::Range];

    /// As the source writes it: `bounds`.
    pub fn name(self) -> &'static str {
        match self {
            Claim::Race => "race",
            Claim::Bounds => "bounds",
            Claim::Initialised => "initialised",
            Claim::Barriers => "barriers",
            Claim::Range => "range",
        }
    }
}

/// One access site: one memory instruction of the kernel. Costs are over the first block of the grid, edges not cut; in a loop
/// whose iterations only the launch can count they are of one iteration.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SiteReport {
    /// The access as written, such as `tile[thread_x()][thread_y() + k]`.
    pub access: Text,
    /// The tile or tensor.
    pub object: Text,
    /// Which memory.
    pub space: Space,
    /// Load, store or atomic update.
    pub role: Role,
    /// The line of the Rust source, counted from 1.
    pub line: u32,
    /// Where the access is in a helper function: the calls that led there, the innermost first, such as
    /// ``in `sum`, called on line 12``. Empty in the kernel itself.
    pub calls: Text,
    /// The lines of later loads of the same element, which get this one's value and are no instructions of their own.
    pub also: Cow<'static, [u32]>,
    /// Why the cost is not known, if it is not; the numbers of wavefronts and sectors are then no bound. Empty otherwise.
    pub unknown: Text,
    /// The line of the innermost such loop around it: the numbers below are then of one iteration of that loop. `None`: of a
    /// block.
    pub loop_line: Option<u32>,
    /// The instruction, as the hardware model names it; before sm_80 a [copy](Operation::CopyAsync) is two others.
    pub operation: Operation,
    /// Bytes that a lane gets or gives in one instruction.
    pub lane_bytes: u32,
    /// Warp instructions.
    pub instructions: u64,
    /// Shared memory: wavefronts. Zero for global memory.
    pub wavefronts: u64,
    /// Shared memory: wavefronts that a conflict-free layout would take.
    pub ideal_wavefronts: u64,
    /// Shared memory: the largest excess of one warp instruction; of an asynchronous copy of 16 bytes a lane, in lines of
    /// 128 bytes.
    pub worst_excess_wavefronts: u32,
    /// Shared memory: the first warp instruction with the largest excess; where none has one, the first with the most
    /// wavefronts. `None` where the lanes' addresses are not known, and for global memory.
    pub costliest: Option<WarpAccess>,
    /// Global memory: 32-byte sectors at the best alignment. Zero for shared memory.
    pub sectors: u64,
    /// Global memory: sectors that the same bytes need when coalesced.
    pub ideal_sectors: u64,
    /// Global memory: the largest excess of one warp instruction.
    pub worst_excess_sectors: u32,
    /// Bytes that the lanes ask for, each counted once an instruction.
    pub useful_bytes: u64,
    /// The shortest contiguous run of bytes that an instruction touches (global memory).
    pub shortest_run_bytes: u32,
    /// Whether bank conflicts (shared) or coalescing (global) are proven or budgeted.
    pub cost: Verdict,
    /// Whether the access stays inside its tile or tensor.
    pub bounds: Verdict,
    /// Whether a vector access is aligned.
    pub alignment: Verdict,
    /// Whether it is half of an asynchronous copy: on architectures before sm_80 a load and a store of the same bytes.
    pub asynchronous: bool,
    /// Whether it serves only the edge of a tensor, where a tile or an aligned vector crosses it: there it takes the place of others
    /// of the same operation, so it does not count in sums over a block.
    pub edge: bool,
}

/// What a run on the CPU simulator counted at one access site, over the whole grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SiteCounts {
    /// Warp instructions with at least one active lane: requests, in a profiler's words.
    pub instructions: u64,
    /// Active lanes, over all of these.
    pub lanes: u64,
    /// Shared memory: wavefronts.
    pub wavefronts: u64,
    /// Shared memory: wavefronts without conflicts.
    pub ideal_wavefronts: u64,
    /// Global memory: 32-byte sectors.
    pub sectors: u64,
    /// Global memory: sectors that the same bytes need when coalesced.
    pub ideal_sectors: u64,
    /// Global memory: 128-byte lines.
    pub lines: u64,
    /// Bytes that the active lanes asked for, each counted once an instruction.
    pub useful_bytes: u64,
}

impl SiteReport {
    /// Useful bytes over transferred bytes, between 0 and 1; `None` for shared memory.
    pub fn sector_efficiency(&self) -> Option<f64> {
        efficiency(self.useful_bytes, self.sectors)
    }

    /// Why the hardware may count more, if it may.
    fn estimate(&self) -> Option<&'static str> {
        let is_loop = self.operation == Operation::LoopShared;
        let is_scattered = self.space == Space::Global
            && self.role == Role::Update
            && self.sectors > self.ideal_sectors
            && self.sectors > 4 * self.instructions;
        match (is_loop, is_scattered) {
            (true, _) => Some("a loop, which goes round again where another warp updates the same element"),
            (false, true) => Some("a scattered update took one sector more than this in 5 of 400 cases"),
            (false, false) => None,
        }
    }

    /// Whether its instructions touch device memory in several runs, and these are shorter than a line of 128 bytes. The sectors
    /// may be the fewest, and yet it is slower than one with longer runs.
    pub fn has_short_runs(&self) -> bool {
        let shortest = self.shortest_run_bytes;
        let several = self.useful_bytes > self.instructions * u64::from(shortest);
        self.space == Space::Global && self.unknown.is_empty() && shortest < LINE_BYTES && several
    }
}

impl Report {
    /// The largest excess of one warp instruction over the shared accesses in one direction; 0 if there are none.
    pub fn worst_excess_wavefronts(&self, role: Role) -> u32 {
        self.sites
            .iter()
            .filter(|s| s.role == role && !s.edge)
            .map(|s| s.worst_excess_wavefronts)
            .max()
            .unwrap_or(0)
    }

    /// Useful over transferred bytes of the global accesses in one direction, between 0 and 1.
    pub fn sector_efficiency(&self, role: Role) -> Option<f64> {
        let (bytes, sectors) = self
            .sites
            .iter()
            .filter(|s| s.space == Space::Global && s.role == role && !s.edge)
            .fold((0, 0), |(bytes, sectors), s| (bytes + s.useful_bytes, sectors + s.sectors));
        efficiency(bytes, sectors)
    }
}

impl SiteCounts {
    /// Useful bytes over transferred bytes, between 0 and 1; `None` for shared memory.
    pub fn sector_efficiency(&self) -> Option<f64> {
        efficiency(self.useful_bytes, self.sectors)
    }
}

/// Useful bytes over those of the sectors that were moved; `None` where none was.
fn efficiency(useful_bytes: u64, sectors: u64) -> Option<f64> {
    (sectors > 0).then(|| useful_bytes as f64 / sector_bytes(sectors) as f64)
}

/// The bytes of so many sectors.
fn sector_bytes(sectors: u64) -> u64 {
    sectors * u64::from(SECTOR_BYTES)
}

impl fmt::Display for Report {
    /// Plain text, of which equal reports give equal lines: the kernel, its tiles, what the launcher checks, and a paragraph
    /// for each access site and each barrier.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [x, y, z] = self.block;
        writeln!(
            f,
            "{}: {x} × {y} × {z} threads, {} bytes of {}shared memory",
            self.kernel,
            self.shared_bytes,
            if self.dynamic_shared_bytes() > 0 { "dynamic " } else { "" }
        )?;
        if let Some(room) = self.room() {
            writeln!(f, "its shared memory {room}")?;
        }
        for TileReport { name, ty, bytes, chosen } in self.tiles.iter() {
            writeln!(f, "tile `{name}`: {ty}, {bytes} bytes")?;
            if let Some(chosen) = chosen {
                writeln!(f, "  chosen by `Auto`: {chosen}")?;
            }
        }
        if let Some(LeastArchitecture { architecture, function, line }) = &self.least_architecture {
            writeln!(f, "for {} and later, because of `{function}` on line {line}", architecture.name())?;
        }
        let mut rest: &[(Architecture, Occupancy)] = &self.occupancy;
        while let Some((_, first)) = rest.first() {
            // Neighbours that are alike share a line.
            let alike = rest.iter().take_while(|(_, other)| other == first).count();
            let names: Vec<&str> =
                rest[..alike].iter().map(|(architecture, _)| architecture.name()).collect();
            let Occupancy { blocks, warps, max_warps, limited_by } = first;
            let (names, limit) = (names.join(", "), limited_by.name());
            match blocks {
                0 => writeln!(f, "{names}: does not fit, for its {limit}")?,
                _ => writeln!(
                    f,
                    "{names}: {} a multiprocessor, {warps} of {max_warps} warps, limited by {limit}",
                    count((*blocks).into(), "block")
                )?,
            }
            rest = &rest[alike..];
        }
        for work in self.work.iter() {
            write!(f, "{work}")?;
        }
        for check in self.launch_checks.iter() {
            writeln!(f, "checked at launch: {check}")?;
        }
        for trust in self.trusts.iter() {
            writeln!(f, "taken for granted: {trust}")?;
        }
        for site in self.sites.iter() {
            write!(f, "\n{site}")?;
        }
        for barrier in self.barriers.iter() {
            write!(f, "\n{barrier}")?;
        }
        Ok(())
    }
}

impl fmt::Display for TrustReport {
    /// What the caller of an unsafe launch promises, with the reason.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TrustReport { claim, what, line, because } = self;
        let holds = match claim {
            Claim::Race => "does not race",
            Claim::Bounds => "stays inside",
            Claim::Initialised => "reads what has been written",
            Claim::Barriers => "is reached together by all who take part",
            Claim::Range => "stays in the range of its type",
        };
        write!(f, "`{what}` (line {line}) {holds}: {because}")
    }
}

impl fmt::Display for SiteReport {
    /// The access, its cost a block, and the verdicts, a line each.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (space, instruction) = (self.space, self.role);
        let kind = if self.asynchronous { "asynchronous " } else { "" };
        let by = match self.operation {
            Operation::LoadMatrix | Operation::LoadMatrixTransposed => " of matrices",
            _ => "",
        };
        let edge = if self.edge { ", at the edge of the tensor" } else { "" };
        writeln!(f, "line {}: {}{edge}", self.line, self.access)?;
        if !self.calls.is_empty() {
            writeln!(f, "  {}", self.calls)?;
        }
        if !self.also.is_empty() {
            let lines: Vec<String> = self.also.iter().map(u32::to_string).collect();
            let line = if lines.len() == 1 { "line" } else { "lines" };
            writeln!(f, "  its value is used again for the loads on {line} {}", lines.join(", "))?;
        }
        writeln!(
            f,
            "  {kind}{space} {instruction}{by}, {} a lane, {} {}",
            count(self.lane_bytes.into(), "byte"),
            count(self.instructions, "warp instruction"),
            work::each(self.loop_line)
        )?;
        match self.space {
            _ if !self.unknown.is_empty() => writeln!(f, "  cost not known: {}", self.unknown)?,
            Space::Global => {
                writeln!(
                    f,
                    "  {}, worst excess {}; {} of {} used ({:.1} %), in runs of {} or more",
                    against(self.sectors, self.ideal_sectors, "sector"),
                    self.worst_excess_sectors,
                    count(self.useful_bytes, "byte"),
                    sector_bytes(self.sectors),
                    100.0 * self.sector_efficiency().unwrap_or(1.0),
                    self.shortest_run_bytes
                )?;
                if self.has_short_runs() {
                    writeln!(
                        f,
                        "  note: runs below {LINE_BYTES} bytes, which cost more than their sectors tell"
                    )?;
                }
            }
            Space::Shared => writeln!(
                f,
                "  {}, worst excess {}",
                against(self.wavefronts, self.ideal_wavefronts, "wavefront"),
                self.worst_excess_wavefronts
            )?,
        }
        if let Some(estimate) = self.estimate() {
            writeln!(f, "  estimated: {estimate}")?;
        }
        writeln!(f, "  cost {}; bounds {}; alignment {}", self.cost, self.bounds, self.alignment)
    }
}

/// `1 sector`, `4 sectors`.
fn count(number: u64, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// `8 sectors where 4 are enough`, `4 sectors, the fewest`.
fn against(number: u64, ideal: u64, noun: &str) -> String {
    match number > ideal {
        true => {
            format!("{} where {ideal} {} enough", count(number, noun), if ideal == 1 { "is" } else { "are" })
        }
        false => format!("{}, the fewest", count(number, noun)),
    }
}

impl fmt::Display for Space {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Space::Global => "global",
            Space::Shared => "shared",
        })
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Role::Read => "load",
            Role::Write => "store",
            Role::Update => "atomic",
        })
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Verdict::Proven => f.write_str("proven"),
            Verdict::Budgeted(reason) => write!(f, "accepted ({reason})"),
            Verdict::Trusted(reason) => write!(f, "trusted ({reason})"),
            Verdict::AtLaunch(condition) => write!(f, "checked at launch ({condition})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A global access of one instruction.
    fn global(useful_bytes: u64, sectors: u64, shortest_run_bytes: u32) -> SiteReport {
        SiteReport {
            space: Space::Global,
            instructions: 1,
            useful_bytes,
            sectors,
            ideal_sectors: sectors,
            shortest_run_bytes,
            ..sample::site()
        }
    }

    #[test]
    fn several_short_runs_are_noted() {
        let note = "\n  note: runs below 128 bytes, which cost more than their sectors tell\n";
        for (site, noted) in [
            (global(128, 4, 32), true),
            (global(128, 4, 64), true),
            (global(256, 8, 128), false),
            // One run: a word for all lanes, a byte a lane.
            (global(4, 1, 4), false),
            (global(32, 1, 32), false),
        ] {
            assert_eq!(site.has_short_runs(), noted);
            assert_eq!(site.to_string().contains(note), noted, "{site}");
        }
        let unknown = SiteReport { unknown: "it depends on data".into(), ..global(128, 4, 4) };
        assert!(!unknown.has_short_runs());
    }

    #[test]
    fn efficiency_is_the_share_of_bytes_used() {
        assert!(
            global(64, 4, 16).to_string().contains("64 bytes of 128 used (50.0 %), in runs of 16 or more")
        );
        assert_eq!(global(64, 4, 16).sector_efficiency(), Some(0.5));
        assert_eq!(sample::site().sector_efficiency(), None);
    }
}
