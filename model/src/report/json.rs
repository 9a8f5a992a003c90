//! Reports serialised: the fields of the structs under their own names, and beside them what else is asked of a report, computed.
//!
//! | where | computed |
//! |---|---|
//! | the report | `static_shared_bytes`, `dynamic_shared_bytes` |
//! | a row of `occupancy` | `architecture`; `shared_limit_bytes`, what a block can have with the opt-in; `shared_fit` |
//! | a row of `work` | `global_intensity`, `shared_intensity` |
//! | a row of `sites` | `sector_efficiency` |
//! | a row of `barriers` | `redundant` |
//!
//! Variants are in snake case, architectures as compilers take them (`sm_90`). A verdict is `{"verdict": "proven"}`, or has beside that
//! the reason or the condition as `text`.

use super::{
    BarrierReport, LeastArchitecture, Report, SharedFit, SiteReport, Text, TileReport, TrustReport,
    WorkReport,
};
use crate::limits::{Architecture, Occupancy};
use serde::{Serialize, Serializer};

#[derive(Serialize)]
struct Document<'a> {
    kernel: &'a str,
    block: [u32; 3],
    shared_bytes: u32,
    static_shared_bytes: u32,
    dynamic_shared_bytes: u32,
    tiles: &'a [TileReport],
    least_architecture: &'a Option<LeastArchitecture>,
    occupancy: Vec<OccupancyRow>,
    work: Vec<WorkRow<'a>>,
    launch_checks: &'a [Text],
    trusts: &'a [TrustReport],
    sites: Vec<SiteRow<'a>>,
    barriers: Vec<BarrierRow<'a>>,
}

#[derive(Serialize)]
struct OccupancyRow {
    architecture: Architecture,
    #[serde(flatten)]
    occupancy: Occupancy,
    shared_limit_bytes: u32,
    shared_fit: SharedFit,
}

#[derive(Serialize)]
struct WorkRow<'a> {
    #[serde(flatten)]
    work: &'a WorkReport,
    global_intensity: Option<f64>,
    shared_intensity: Option<f64>,
}

#[derive(Serialize)]
struct SiteRow<'a> {
    #[serde(flatten)]
    site: &'a SiteReport,
    sector_efficiency: Option<f64>,
}

#[derive(Serialize)]
struct BarrierRow<'a> {
    #[serde(flatten)]
    barrier: &'a BarrierReport,
    redundant: bool,
}

impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Report {
            kernel,
            block,
            shared_bytes,
            tiles,
            sites,
            barriers,
            least_architecture,
            occupancy,
            work,
            launch_checks,
            trusts,
        } = self;
        let row = |(architecture, occupancy): &(Architecture, Occupancy)| OccupancyRow {
            architecture: *architecture,
            occupancy: *occupancy,
            shared_limit_bytes: architecture.limits().shared_per_block,
            shared_fit: self.shared_fit(*architecture),
        };
        Document {
            kernel,
            block: *block,
            shared_bytes: *shared_bytes,
            static_shared_bytes: self.static_shared_bytes(),
            dynamic_shared_bytes: self.dynamic_shared_bytes(),
            tiles,
            least_architecture,
            occupancy: occupancy.iter().map(row).collect(),
            work: work
                .iter()
                .map(|work| WorkRow {
                    work,
                    global_intensity: work.global_intensity(),
                    shared_intensity: work.shared_intensity(),
                })
                .collect(),
            launch_checks,
            trusts,
            sites: sites
                .iter()
                .map(|site| SiteRow { site, sector_efficiency: site.sector_efficiency() })
                .collect(),
            barriers: barriers
                .iter()
                .map(|barrier| BarrierRow { barrier, redundant: barrier.is_redundant() })
                .collect(),
        }
        .serialize(serializer)
    }
}

impl Serialize for Architecture {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use crate::access::{Access, Operation};
    use crate::limits::{Architecture, occupancy};
    use crate::report::{
        BarrierKind, BarrierReport, Claim, Ordered, Report, Role, Space, TileReport, TrustReport, Verdict,
        WarpAccess, WorkReport, sample,
    };
    use serde_json::{Value, json};

    /// A report in which nothing is empty.
    fn full() -> Value {
        let mut shared = sample::site();
        shared.costliest = Some(WarpAccess {
            warp: 1,
            access: Access::full_warp(Operation::LoadShared, 4, |lane| 4 * lane),
        });
        let mut global = sample::site();
        (global.space, global.sectors, global.ideal_sectors) = (Space::Global, 64, 32);
        global.cost = Verdict::Budgeted("shows the cost".into());
        let order = Ordered {
            object: "tile".into(),
            first_role: Role::Write,
            first_line: 5,
            then_role: Role::Read,
            then_line: 7,
            next_iteration: false,
        };
        let barrier = |orders: Vec<Ordered>| BarrierReport {
            line: 6,
            kind: BarrierKind::SyncThreads,
            calls: "".into(),
            orders: orders.into(),
        };
        let report = Report {
            shared_bytes: 66_560,
            tiles: vec![TileReport {
                name: "tile".into(),
                ty: "Shared<[f32; 32]>".into(),
                bytes: 128,
                chosen: None,
            }]
            .into(),
            sites: vec![shared, global].into(),
            barriers: vec![barrier(vec![order]), barrier(Vec::new())].into(),
            occupancy: [Architecture::Sm75, Architecture::Sm90]
                .map(|architecture| (architecture, occupancy(architecture, 256, 0, 66_560)))
                .to_vec()
                .into(),
            work: vec![WorkReport {
                loop_line: Some(4),
                calls: "".into(),
                operations: 1024,
                global_bytes: Some(512),
                shared_bytes: None,
            }]
            .into(),
            launch_checks: vec!["a.len() == b.len()".into()].into(),
            trusts: vec![TrustReport { claim: Claim::Race, what: "x".into(), line: 1, because: "y".into() }]
                .into(),
            ..sample::report()
        };
        serde_json::to_value(&report).expect("a report has a JSON form")
    }

    fn names(value: &Value) -> Vec<&str> {
        value.as_object().expect("an object").keys().map(String::as_str).collect()
    }

    /// The names are an interface: programs read them.
    #[test]
    fn names_stay() {
        let report = full();
        let sorted = |text: &'static str| {
            let mut names: Vec<&str> = text.split_whitespace().collect();
            names.sort_unstable();
            names
        };
        for (value, expected) in [
            (
                &report,
                "kernel block shared_bytes static_shared_bytes dynamic_shared_bytes tiles least_architecture occupancy work launch_checks trusts \
                 sites barriers",
            ),
            (&report["tiles"][0], "name ty bytes chosen"),
            (
                &report["occupancy"][0],
                "architecture blocks warps max_warps limited_by shared_limit_bytes shared_fit",
            ),
            (
                &report["work"][0],
                "loop_line calls operations global_bytes shared_bytes global_intensity shared_intensity",
            ),
            (&report["trusts"][0], "claim what line because"),
            (
                &report["sites"][0],
                "access object space role line calls also unknown loop_line operation lane_bytes instructions wavefronts ideal_wavefronts \
                 worst_excess_wavefronts costliest sectors ideal_sectors worst_excess_sectors useful_bytes shortest_run_bytes \
                 cost bounds alignment asynchronous edge sector_efficiency",
            ),
            (&report["sites"][0]["costliest"], "warp access"),
            (&report["sites"][0]["costliest"]["access"], "operation width active offsets"),
            (&report["barriers"][0], "line kind calls orders redundant"),
            (
                &report["barriers"][0]["orders"][0],
                "object first_role first_line then_role then_line next_iteration",
            ),
        ] {
            let mut found = names(value);
            found.sort_unstable();
            assert_eq!(found, sorted(expected));
        }
    }

    #[test]
    fn values_are_as_documented() {
        let report = full();
        assert_eq!(report["occupancy"][0]["architecture"], json!("sm_75"));
        assert_eq!(report["occupancy"][0]["shared_fit"], json!("too_much"));
        assert_eq!(report["occupancy"][1]["shared_fit"], json!("with_opt_in"));
        assert_eq!(report["occupancy"][1]["shared_limit_bytes"], json!(232_448));
        assert_eq!(report["occupancy"][1]["limited_by"], json!("shared_memory"));
        assert_eq!(
            (&report["static_shared_bytes"], &report["dynamic_shared_bytes"]),
            (&json!(0), &json!(66_560))
        );
        assert_eq!(report["work"][0]["global_intensity"], json!(2.0));
        assert_eq!(report["work"][0]["shared_intensity"], Value::Null);
        assert_eq!(report["sites"][0]["cost"], json!({"verdict": "proven"}));
        assert_eq!(report["sites"][1]["cost"], json!({"verdict": "budgeted", "text": "shows the cost"}));
        assert_eq!(report["sites"][1]["sector_efficiency"], json!(0.5));
        assert_eq!(report["sites"][0]["costliest"]["access"]["operation"], json!("load_shared"));
        assert_eq!(report["barriers"][0]["kind"], json!("sync_threads"));
        assert_eq!(
            (&report["barriers"][0]["redundant"], &report["barriers"][1]["redundant"]),
            (&json!(false), &json!(true))
        );
    }
}
