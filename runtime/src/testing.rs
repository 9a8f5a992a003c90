//! A hand-written kernel for the tests of this crate: what the macro would leave of
//! `fn copy(input: &Matrix<f32>, output: &mut Matrix<f32>)`.

use crate::description::HostOp::{DivCeil, Equal, Extent, Int};
use crate::description::{Description, LaunchCheck, Param, ParamKind};
use crate::scalar::ScalarType;
use std::borrow::Cow;
use tileproof_model::access::Operation;
use tileproof_model::report::{Report, Role, SiteReport, Space, Verdict};

/// A matrix of f32 with 16-byte accesses.
pub(crate) const fn tensor(name: &'static str, mutable: bool) -> Param {
    Param { name, kind: ParamKind::Tensor { element: ScalarType::F32, rank: 2, mutable, alignment: 16 } }
}

const fn site(access: &'static str, object: &'static str, role: Role) -> SiteReport {
    SiteReport {
        access: Cow::Borrowed(access),
        object: Cow::Borrowed(object),
        space: Space::Global,
        role,
        line: 7,
        calls: Cow::Borrowed(""),
        also: Cow::Borrowed(&[]),
        unknown: Cow::Borrowed(""),
        loop_line: None,
        operation: match role {
            Role::Read => Operation::LoadGlobal,
            Role::Write => Operation::StoreGlobal,
            Role::Update => Operation::AtomicGlobal,
        },
        lane_bytes: 4,
        instructions: 8,
        wavefronts: 0,
        ideal_wavefronts: 0,
        worst_excess_wavefronts: 0,
        costliest: None,
        sectors: 32,
        ideal_sectors: 32,
        worst_excess_sectors: 0,
        useful_bytes: 1024,
        shortest_run_bytes: 128,
        cost: Verdict::Proven,
        bounds: Verdict::Proven,
        alignment: Verdict::Proven,
        asynchronous: false,
        edge: false,
    }
}

pub(crate) static SITES: [SiteReport; 2] =
    [site("input[[r, c]]", "input", Role::Read), site("output[[r, c]]", "output", Role::Write)];

pub(crate) const COPY: Description = Description {
    name: "copy",
    attribute: "",
    item: "",
    shared: "",
    cuda: include_str!("../tests/copy.cu"),
    lines: &[(15, 7), (16, 7)],
    file: "src/copy.rs",
    narrow: true,
    block: [32, 8, 1],
    params: &[tensor("input", false), tensor("output", true)],
    grid: [&[Extent(0, 1), Int(32), DivCeil], &[Extent(0, 0), Int(8), DivCeil], &[Int(1)]],
    checks: &[
        LaunchCheck {
            condition: &[Extent(0, 0), Extent(1, 0), Equal],
            text: "output.rows() == input.rows()",
        },
        LaunchCheck {
            condition: &[Extent(0, 1), Extent(1, 1), Equal],
            text: "output.cols() == input.cols()",
        },
    ],
    report: Report {
        kernel: Cow::Borrowed("copy"),
        block: [32, 8, 1],
        shared_bytes: 0,
        tiles: Cow::Borrowed(&[]),
        sites: Cow::Borrowed(&SITES),
        barriers: Cow::Borrowed(&[]),
        least_architecture: None,
        occupancy: Cow::Borrowed(&[]),
        work: Cow::Borrowed(&[]),
        launch_checks: Cow::Borrowed(&[]),
        trusts: Cow::Borrowed(&[]),
    },
};
