//! What a multiprocessor of each architecture holds, and how many blocks of a kernel fit.
//!
//! The numbers are those of the vendor's tables: at run time the attributes of the device win. For sm_90 alone they
//! were compared with a device: the driver of an H200 gave the same blocks for each of 15,360 combinations of
//! threads, registers and shared memory, of which `tests/h200-occupancy.csv` holds 504. Sizes are in bytes.

use crate::access::LANES;

/// A GPU architecture, by its compute capability.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Architecture {
    /// Volta.
    Sm70,
    /// Turing.
    Sm75,
    /// Ampere, data centre (A100).
    Sm80,
    /// Ampere, consumer and workstation.
    Sm86,
    /// Ampere, Orin.
    Sm87,
    /// Ada.
    Sm89,
    /// Hopper.
    Sm90,
    /// Blackwell, data centre (B200).
    Sm100,
    /// Blackwell, data centre (B300).
    Sm103,
    /// Blackwell, Thor.
    Sm110,
    /// Blackwell, consumer and workstation.
    Sm120,
    /// Blackwell, GB10.
    Sm121,
}

/// The architectures that kernels are compiled for, ascending.
pub const SUPPORTED: [Architecture; 11] = [
    Architecture::Sm75,
    Architecture::Sm80,
    Architecture::Sm86,
    Architecture::Sm87,
    Architecture::Sm89,
    Architecture::Sm90,
    Architecture::Sm100,
    Architecture::Sm103,
    Architecture::Sm110,
    Architecture::Sm120,
    Architecture::Sm121,
];

/// Lanes of a warp.
pub const WARP_THREADS: u32 = LANES as u32;
/// Threads of a block at most, on every architecture.
pub const MAX_THREADS_PER_BLOCK: u32 = 1024;
/// Resident blocks of a multiprocessor at most, on any architecture.
pub const MAX_BLOCKS_PER_MULTIPROCESSOR: u32 = 32;
/// Shared memory of a block without the opt-in, static and dynamic together, on every architecture.
pub const MAX_SHARED_WITHOUT_OPT_IN: u32 = 48 * KIB;
/// The alignment that the first byte of dynamic shared memory has, whatever a declaration asks for.
pub const DYNAMIC_SHARED_ALIGNMENT: u32 = 16;
/// Registers of a multiprocessor, 32 bits each, on every architecture.
pub const REGISTERS_PER_MULTIPROCESSOR: u32 = 65_536;
/// Registers of a thread at most, on every architecture.
pub const MAX_REGISTERS_PER_THREAD: u32 = 255;
/// Blocks of a grid at most, along x, y and z, on every architecture.
pub const MAX_GRID: [u32; 3] = [i32::MAX as u32, 65_535, 65_535];
/// Threads of a block at most along x, y and z, on every architecture; their product is limited to
/// [`MAX_THREADS_PER_BLOCK`].
pub const MAX_BLOCK: [u32; 3] = [1024, 1024, 64];

const KIB: u32 = 1024;
/// Registers are given to a warp in units of so many.
const REGISTER_UNIT: u32 = 256;
/// A multiprocessor has four partitions, each with a quarter of the registers; a warp lives in one of them.
const PARTITIONS: u32 = 4;

/// What differs between architectures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Resident threads of a multiprocessor.
    pub threads_per_multiprocessor: u32,
    /// Resident blocks of a multiprocessor.
    pub blocks_per_multiprocessor: u32,
    /// Shared memory of a multiprocessor.
    pub shared_per_multiprocessor: u32,
    /// Shared memory of a block with the opt-in, static and dynamic together.
    pub shared_per_block: u32,
    /// Shared memory that the system takes for itself in every block.
    pub shared_reserved_per_block: u32,
    /// Shared memory is given to a block in units of so many bytes.
    pub shared_unit: u32,
    /// L1 cache and shared memory together.
    pub l1_and_shared: u32,
    /// The sizes that the shared memory of a multiprocessor can be set to, ascending.
    pub shared_carve_outs: &'static [u32],
}

const TURING_CARVE_OUTS: &[u32] = &[32 * KIB, 64 * KIB];
const VOLTA_CARVE_OUTS: &[u32] = &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 96 * KIB];
const CARVE_OUTS_100: &[u32] = &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB];
const CARVE_OUTS_164: &[u32] = &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB, 132 * KIB, 164 * KIB];
const CARVE_OUTS_228: &[u32] =
    &[0, 8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB, 132 * KIB, 164 * KIB, 196 * KIB, 228 * KIB];

impl Architecture {
    /// Every architecture, ascending.
    pub const ALL: [Architecture; 12] = [
        Architecture::Sm70,
        Architecture::Sm75,
        Architecture::Sm80,
        Architecture::Sm86,
        Architecture::Sm87,
        Architecture::Sm89,
        Architecture::Sm90,
        Architecture::Sm100,
        Architecture::Sm103,
        Architecture::Sm110,
        Architecture::Sm120,
        Architecture::Sm121,
    ];

    /// The name that compilers take, such as `sm_90`.
    pub fn name(self) -> &'static str {
        match self {
            Architecture::Sm70 => "sm_70",
            Architecture::Sm75 => "sm_75",
            Architecture::Sm80 => "sm_80",
            Architecture::Sm86 => "sm_86",
            Architecture::Sm87 => "sm_87",
            Architecture::Sm89 => "sm_89",
            Architecture::Sm90 => "sm_90",
            Architecture::Sm100 => "sm_100",
            Architecture::Sm103 => "sm_103",
            Architecture::Sm110 => "sm_110",
            Architecture::Sm120 => "sm_120",
            Architecture::Sm121 => "sm_121",
        }
    }

    /// The architecture of a name such as `sm_90`; `None` if it is not in the table.
    pub fn from_name(name: &str) -> Option<Architecture> {
        Architecture::ALL.into_iter().find(|architecture| architecture.name() == name)
    }

    /// The compute capability, major and minor.
    pub fn compute_capability(self) -> (u32, u32) {
        match self {
            Architecture::Sm70 => (7, 0),
            Architecture::Sm75 => (7, 5),
            Architecture::Sm80 => (8, 0),
            Architecture::Sm86 => (8, 6),
            Architecture::Sm87 => (8, 7),
            Architecture::Sm89 => (8, 9),
            Architecture::Sm90 => (9, 0),
            Architecture::Sm100 => (10, 0),
            Architecture::Sm103 => (10, 3),
            Architecture::Sm110 => (11, 0),
            Architecture::Sm120 => (12, 0),
            Architecture::Sm121 => (12, 1),
        }
    }

    /// The architecture of a compute capability; `None` if it is not in the table.
    pub fn from_compute_capability(major: u32, minor: u32) -> Option<Architecture> {
        Architecture::ALL.into_iter().find(|architecture| architecture.compute_capability() == (major, minor))
    }

    /// Its row of the table.
    pub fn limits(self) -> Limits {
        match self {
            Architecture::Sm70 => Limits {
                threads_per_multiprocessor: 2048,
                blocks_per_multiprocessor: 32,
                shared_per_multiprocessor: 96 * KIB,
                shared_per_block: 96 * KIB,
                shared_reserved_per_block: 0,
                shared_unit: 256,
                l1_and_shared: 128 * KIB,
                shared_carve_outs: VOLTA_CARVE_OUTS,
            },
            Architecture::Sm75 => Limits {
                threads_per_multiprocessor: 1024,
                blocks_per_multiprocessor: 16,
                shared_per_multiprocessor: 64 * KIB,
                shared_per_block: 64 * KIB,
                shared_reserved_per_block: 0,
                shared_unit: 256,
                l1_and_shared: 96 * KIB,
                shared_carve_outs: TURING_CARVE_OUTS,
            },
            Architecture::Sm80 => since_ampere(2048, 32, 192, CARVE_OUTS_164),
            Architecture::Sm86 => since_ampere(1536, 16, 128, CARVE_OUTS_100),
            Architecture::Sm87 => since_ampere(1536, 16, 192, CARVE_OUTS_164),
            Architecture::Sm89 => since_ampere(1536, 24, 128, CARVE_OUTS_100),
            Architecture::Sm90 | Architecture::Sm100 | Architecture::Sm103 => {
                since_ampere(2048, 32, 256, CARVE_OUTS_228)
            }
            Architecture::Sm110 => since_ampere(1536, 24, 256, CARVE_OUTS_228),
            Architecture::Sm120 | Architecture::Sm121 => since_ampere(1536, 24, 128, CARVE_OUTS_100),
        }
    }
}

/// From sm_80 on a multiprocessor's shared memory is its largest carve-out, the system reserves 1 KiB of it in every
/// block, and one block can have the rest.
fn since_ampere(threads: u32, blocks: u32, l1_and_shared_kib: u32, carve_outs: &'static [u32]) -> Limits {
    let shared = carve_outs[carve_outs.len() - 1];
    Limits {
        threads_per_multiprocessor: threads,
        blocks_per_multiprocessor: blocks,
        shared_per_multiprocessor: shared,
        shared_per_block: shared - KIB,
        shared_reserved_per_block: KIB,
        shared_unit: 128,
        l1_and_shared: l1_and_shared_kib * KIB,
        shared_carve_outs: carve_outs,
    }
}

/// What keeps a multiprocessor from holding more blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "snake_case"))]
pub enum Resource {
    /// Resident threads; for a block that cannot run, threads of a block.
    Threads,
    /// Resident blocks.
    Blocks,
    /// Registers.
    Registers,
    /// Shared memory.
    SharedMemory,
}

/// How much of a kernel one multiprocessor holds at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Occupancy {
    /// Resident blocks; 0 if the kernel cannot run.
    pub blocks: u32,
    /// Resident warps.
    pub warps: u32,
    /// The warps that would be resident if only their number counted.
    pub max_warps: u32,
    /// What limits it; the first of threads, registers, shared memory and blocks if several do equally.
    pub limited_by: Resource,
}

impl Resource {
    /// What it is, in words.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Threads => "threads",
            Resource::Blocks => "the number of blocks",
            Resource::Registers => "registers",
            Resource::SharedMemory => "shared memory",
        }
    }
}

impl Occupancy {
    /// Resident warps over possible ones, between 0 and 1.
    pub fn fraction(&self) -> f64 {
        f64::from(self.warps) / f64::from(self.max_warps)
    }
}

/// How many blocks of a kernel one multiprocessor holds, if its shared memory is set to the largest carve-out.
///
/// `threads` are those of a block, `registers` those of a thread as the compiler reports them (0: no limit from them),
/// `shared_bytes` static and dynamic shared memory of a block, without what the system reserves.
pub fn occupancy(arch: Architecture, threads: u32, registers: u32, shared_bytes: u32) -> Occupancy {
    let limits = arch.limits();
    let max_warps = limits.threads_per_multiprocessor / WARP_THREADS;
    let block_warps = threads.div_ceil(WARP_THREADS);
    let candidates = [
        (Resource::Threads, blocks_by_threads(max_warps, threads, block_warps)),
        (Resource::Registers, blocks_by_registers(registers, block_warps)),
        (Resource::SharedMemory, blocks_by_shared_memory(&limits, shared_bytes)),
        (Resource::Blocks, limits.blocks_per_multiprocessor),
    ];
    let (mut limited_by, mut blocks) = candidates[0];
    for (resource, count) in candidates {
        if count < blocks {
            (limited_by, blocks) = (resource, count);
        }
    }
    Occupancy { blocks, warps: blocks * block_warps, max_warps, limited_by }
}

/// How much of a block's shared memory must be dynamic, and opted in to: all of it, where it is more than a block has without.
pub const fn dynamic_shared_bytes(shared_bytes: u32) -> u32 {
    if shared_bytes > MAX_SHARED_WITHOUT_OPT_IN { shared_bytes } else { 0 }
}

fn blocks_by_threads(max_warps: u32, threads: u32, block_warps: u32) -> u32 {
    if threads == 0 || threads > MAX_THREADS_PER_BLOCK { 0 } else { max_warps / block_warps }
}

fn blocks_by_registers(registers: u32, block_warps: u32) -> u32 {
    if registers == 0 || block_warps == 0 {
        return u32::MAX;
    }
    if registers > MAX_REGISTERS_PER_THREAD {
        return 0;
    }
    let warp_registers = (registers * WARP_THREADS).next_multiple_of(REGISTER_UNIT);
    let partition_warps = REGISTERS_PER_MULTIPROCESSOR / PARTITIONS / warp_registers;
    partition_warps * PARTITIONS / block_warps
}

fn blocks_by_shared_memory(limits: &Limits, shared_bytes: u32) -> u32 {
    if shared_bytes > limits.shared_per_block {
        return 0;
    }
    let block_bytes = (shared_bytes + limits.shared_reserved_per_block).next_multiple_of(limits.shared_unit);
    limits.shared_per_multiprocessor.checked_div(block_bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_limit_the_warps_of_an_a100() {
        for (registers, warps) in [(32, 64), (64, 32), (128, 16), (255, 8)] {
            let found = occupancy(Architecture::Sm80, 32 * 4, registers, 0);
            assert_eq!(found.warps, warps, "{registers} registers");
        }
        assert_eq!(occupancy(Architecture::Sm80, 256, 255, 0).fraction(), 0.125);
        assert_eq!(occupancy(Architecture::Sm80, 256, 64, 0).limited_by, Resource::Registers);
    }

    #[test]
    fn no_multiprocessor_holds_more_blocks() {
        let most = Architecture::ALL.map(|architecture| architecture.limits().blocks_per_multiprocessor);
        assert_eq!(most.into_iter().max(), Some(MAX_BLOCKS_PER_MULTIPROCESSOR));
    }

    #[test]
    fn a_warp_does_not_straddle_partitions() {
        // 65,536 / (40 × 32) would be 51 warps; a quarter of the registers holds 12.
        assert_eq!(occupancy(Architecture::Sm80, 32, 40, 0).blocks, 32);
        assert_eq!(occupancy(Architecture::Sm80, 64, 40, 0).warps, 48);
    }

    #[test]
    fn each_resource_can_be_the_limit() {
        let limit = |threads, registers, shared| {
            let found = occupancy(Architecture::Sm90, threads, registers, shared);
            (found.blocks, found.limited_by)
        };
        assert_eq!(limit(1024, 32, 0), (2, Resource::Threads));
        assert_eq!(limit(32, 16, 0), (32, Resource::Blocks));
        assert_eq!(limit(256, 128, 0), (2, Resource::Registers));
        assert_eq!(limit(256, 32, 100 * KIB), (2, Resource::SharedMemory));
        // The reserved KiB counts: two blocks of 113 KiB fill 228 KiB, and one byte more is too much.
        assert_eq!(limit(256, 32, 113 * KIB).0, 2);
        assert_eq!(limit(256, 32, 113 * KIB + 1).0, 1);
    }

    #[test]
    fn a_kernel_that_cannot_run_has_no_blocks() {
        let cases = [
            (occupancy(Architecture::Sm89, 1025, 32, 0), Resource::Threads),
            (occupancy(Architecture::Sm89, 0, 32, 0), Resource::Threads),
            (occupancy(Architecture::Sm89, 256, 256, 0), Resource::Registers),
            (occupancy(Architecture::Sm89, 1024, 128, 0), Resource::Registers),
            (occupancy(Architecture::Sm89, 256, 32, 100 * KIB), Resource::SharedMemory),
        ];
        for (found, limited_by) in cases {
            assert_eq!((found.blocks, found.warps, found.limited_by), (0, 0, limited_by));
        }
    }

    #[test]
    fn the_largest_block_fits_everywhere() {
        for arch in Architecture::ALL {
            let limits = arch.limits();
            assert_eq!(occupancy(arch, 32, 32, limits.shared_per_block).blocks, 1, "{}", arch.name());
            assert!(limits.shared_carve_outs.is_sorted());
            assert_eq!(limits.shared_carve_outs.last(), Some(&limits.shared_per_multiprocessor));
            assert!(limits.l1_and_shared > limits.shared_per_multiprocessor);
            assert_eq!(Architecture::from_name(arch.name()), Some(arch));
            let (major, minor) = arch.compute_capability();
            assert_eq!(Architecture::from_compute_capability(major, minor), Some(arch));
        }
        assert_eq!(Architecture::from_name("sm_52"), None);
    }

    #[test]
    fn all_of_it_is_dynamic_or_none() {
        assert_eq!([0, 49_152, 49_153, 101_376].map(dynamic_shared_bytes), [0, 0, 49_153, 101_376]);
    }

    #[test]
    fn opt_in_limits_as_published() {
        let kib = |arch: Architecture| arch.limits().shared_per_block / KIB;
        let found = Architecture::ALL.map(kib);
        assert_eq!(found, [96, 64, 163, 99, 163, 99, 227, 227, 227, 227, 99, 99]);
        assert_eq!(Architecture::Sm90.limits().shared_per_block, 232_448);
    }
}
