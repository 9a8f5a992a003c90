//! The sums over a launch: what the simulator says, and the profiler's metrics that say the same.
//!
//! A sum has up to two witnesses. *Hardware* is what the multiprocessors count. *Addresses* is what the profiler computes from the
//! addresses of every instruction, by a model of its own: free of arbitration, and for some loads not right
//! (see [`Verdict`](super::verdict::Verdict)).
//!
//! | sum | note |
//! |---|---|
//! | requests in shared memory | by addresses alone: the hardware's `smsp__inst_executed_op_*_pred_on_any` counts some instructions under a false predicate too (6,225 for 6,144 in `matmul_async`, an H200) |
//! | requests in device memory | one that no lane takes part in reaches no cache, so that the hardware counts those with an active lane; of an asynchronous copy, with a lane that reads and does not only write zeros |
//! | what asynchronous copies write | no counter tells their wavefronts apart, so that only their requests and what they read are compared |
//! | lines | by addresses alone |
//! | local memory | predicted is none: nothing spills, and no array is indexed at run time |

use super::place::{Counts, Place};
use crate::sass::{Action, Space};

/// One sum.
#[derive(Clone, Copy)]
pub struct Counter {
    /// Its name, such as `shared_load_wavefronts`.
    pub name: &'static str,
    /// What a place adds to it.
    pub adds: fn(&Place, &Counts) -> u64,
    /// Metrics of the hardware, which are added up; none where no counter is exact.
    pub hardware: &'static [&'static str],
    /// Metrics that the profiler computes from addresses, likewise.
    pub addresses: &'static [&'static str],
}

/// What an instruction of the machine code belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    SharedLoad,
    SharedStore,
    SharedAtomic,
    Copy,
    GlobalLoad,
    GlobalStore,
    GlobalAtomic,
    Local,
}

fn class(place: &Place) -> Class {
    match (place.access.space, place.access.action) {
        (_, Action::CopyAsync) => Class::Copy,
        (Space::Shared, Action::Load | Action::LoadMatrix) => Class::SharedLoad,
        (Space::Shared, Action::Store | Action::StoreMatrix) => Class::SharedStore,
        (Space::Shared, Action::Atomic | Action::Reduction) => Class::SharedAtomic,
        // An address of an unknown space is taken for one in device memory.
        (Space::Global | Space::Generic, Action::Load | Action::LoadMatrix) => Class::GlobalLoad,
        (Space::Global | Space::Generic, Action::Store | Action::StoreMatrix) => Class::GlobalStore,
        (Space::Global | Space::Generic, Action::Atomic | Action::Reduction) => Class::GlobalAtomic,
        (Space::Local, _) => Class::Local,
    }
}

fn of(wanted: &[Class], place: &Place, count: u64) -> u64 {
    if wanted.contains(&class(place)) { count } else { 0 }
}

/// The requests by which device memory is read.
fn global_reads(place: &Place, counts: &Counts) -> u64 {
    if class(place) == Class::Copy { counts.reads } else { counts.requests }
}

/// Whether a place is a load from shared memory.
pub fn loads_shared(place: &Place) -> bool {
    class(place) == Class::SharedLoad
}

/// Of shared atomics, where the model gives a bound.
pub const SHARED_ATOMIC_WAVEFRONTS: &str = "shared_atomic_wavefronts";

/// Of loads from shared memory, where the profiler's own model is not exact.
pub const SHARED_LOAD_WAVEFRONTS: &str = "shared_load_wavefronts";

/// All sums.
pub const COUNTERS: [Counter; 16] = [
    Counter {
        name: "shared_load_requests",
        adds: |place, counts| of(&[Class::SharedLoad], place, counts.requests),
        hardware: &[],
        addresses: &["smsp__sass_inst_executed_op_shared_ld.sum", "smsp__sass_inst_executed_op_ldsm.sum"],
    },
    Counter {
        name: SHARED_LOAD_WAVEFRONTS,
        adds: |place, counts| of(&[Class::SharedLoad], place, counts.wavefronts),
        hardware: &["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"],
        addresses: &[
            "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
            "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum",
        ],
    },
    Counter {
        name: "shared_store_requests",
        adds: |place, counts| of(&[Class::SharedStore], place, counts.requests),
        hardware: &[],
        addresses: &[
            "smsp__sass_inst_executed_op_shared_st.sum",
            "smsp__sass_inst_executed_op_shared_stsm.sum",
        ],
    },
    Counter {
        name: "shared_store_wavefronts",
        adds: |place, counts| of(&[Class::SharedStore], place, counts.wavefronts),
        hardware: &["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum"],
        addresses: &[
            "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
            "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_stsm.sum",
        ],
    },
    Counter {
        name: "shared_atomic_requests",
        adds: |place, counts| of(&[Class::SharedAtomic], place, counts.requests),
        hardware: &[],
        addresses: &["smsp__sass_inst_executed_op_shared_atom.sum"],
    },
    Counter {
        name: SHARED_ATOMIC_WAVEFRONTS,
        adds: |place, counts| of(&[Class::SharedAtomic], place, counts.wavefronts),
        hardware: &["l1tex__data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"],
        addresses: &["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum"],
    },
    Counter {
        name: "asynchronous_copy_requests",
        adds: |place, counts| of(&[Class::Copy], place, counts.requests),
        hardware: &[],
        addresses: &["smsp__sass_inst_executed_op_ldgsts.sum"],
    },
    Counter {
        name: "global_load_instructions",
        adds: |place, counts| of(&[Class::GlobalLoad], place, counts.requests),
        hardware: &[],
        addresses: &["smsp__sass_inst_executed_op_global_ld.sum"],
    },
    Counter {
        name: "global_load_requests",
        adds: |place, counts| of(&[Class::GlobalLoad, Class::Copy], place, global_reads(place, counts)),
        hardware: &["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"],
        addresses: &[],
    },
    Counter {
        name: "global_load_sectors",
        adds: |place, counts| of(&[Class::GlobalLoad, Class::Copy], place, counts.sectors),
        hardware: &["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"],
        addresses: &[
            "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ld.sum",
            "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_ldgsts.sum",
        ],
    },
    Counter {
        name: "global_store_requests",
        adds: |place, counts| of(&[Class::GlobalStore], place, counts.requests),
        hardware: &["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"],
        addresses: &["smsp__sass_inst_executed_op_global_st.sum"],
    },
    Counter {
        name: "global_store_sectors",
        adds: |place, counts| of(&[Class::GlobalStore], place, counts.sectors),
        hardware: &["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"],
        addresses: &["smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_st.sum"],
    },
    Counter {
        name: "global_atomic_requests",
        adds: |place, counts| of(&[Class::GlobalAtomic], place, counts.requests),
        hardware: &[
            "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
            "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
        ],
        addresses: &[
            "smsp__sass_inst_executed_op_global_atom.sum",
            "smsp__sass_inst_executed_op_global_red.sum",
        ],
    },
    Counter {
        name: "global_atomic_sectors",
        adds: |place, counts| of(&[Class::GlobalAtomic], place, counts.sectors),
        hardware: &[
            "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum",
            "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum",
        ],
        addresses: &[
            "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_atom.sum",
            "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_red.sum",
        ],
    },
    Counter {
        name: "global_lines",
        adds: |place, counts| {
            of(
                &[Class::GlobalLoad, Class::GlobalStore, Class::GlobalAtomic, Class::Copy],
                place,
                counts.lines,
            )
        },
        hardware: &[],
        addresses: &["smsp__sass_l1tex_tags_mem_global.sum"],
    },
    Counter {
        name: "local_requests",
        adds: |place, counts| of(&[Class::Local], place, counts.requests),
        hardware: &[],
        addresses: &["smsp__sass_inst_executed_op_local.sum"],
    },
];

/// The metrics that are read at each instruction: the bits that a lane accesses, lanes under a true predicate, wavefronts, sectors, lines.
/// The profiler computes all of them from addresses.
pub const AT_INSTRUCTIONS: [&str; 5] = [
    "memory_access_size_type",
    "thread_inst_executed_true",
    "memory_l1_wavefronts_shared",
    "memory_l2_theoretical_sectors_global",
    "memory_l1_tag_requests_global",
];

/// All metrics, each once.
pub fn metrics() -> Vec<&'static str> {
    let of_sums =
        COUNTERS.iter().flat_map(|counter| counter.hardware.iter().chain(counter.addresses)).copied();
    let mut metrics: Vec<&str> = of_sums.chain(AT_INSTRUCTIONS).collect();
    metrics.sort_unstable();
    metrics.dedup();
    metrics
}
