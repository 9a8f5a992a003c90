//! A report for the tests of this crate.

use crate::access::Operation;

use super::{Report, Role, SiteReport, Space, Verdict};

/// Of a shared load.
pub(super) fn site() -> SiteReport {
    SiteReport {
        access: "tile[thread_x()]".into(),
        object: "tile".into(),
        space: Space::Shared,
        role: Role::Read,
        line: 7,
        calls: "".into(),
        also: Vec::new().into(),
        unknown: "".into(),
        loop_line: None,
        operation: Operation::LoadShared,
        lane_bytes: 4,
        instructions: 8,
        wavefronts: 8,
        ideal_wavefronts: 8,
        worst_excess_wavefronts: 0,
        costliest: None,
        sectors: 0,
        ideal_sectors: 0,
        worst_excess_sectors: 0,
        useful_bytes: 1024,
        shortest_run_bytes: 0,
        cost: Verdict::Proven,
        bounds: Verdict::Proven,
        alignment: Verdict::Proven,
        asynchronous: false,
        edge: false,
    }
}

/// With that site.
pub(super) fn report() -> Report {
    Report {
        kernel: "sample".into(),
        block: [32, 8, 1],
        shared_bytes: 4096,
        tiles: Vec::new().into(),
        sites: vec![site()].into(),
        barriers: Vec::new().into(),
        least_architecture: None,
        occupancy: Vec::new().into(),
        work: Vec::new().into(),
        launch_checks: Vec::new().into(),
        trusts: Vec::new().into(),
    }
}
