//! Do all threads that take part in a barrier or a collective reach it together.

use super::trust::{Needed, trusts_at};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::facts::{Divergence, Facts};
use crate::ir::{Claim, Kernel, Scope};

pub(super) fn check(kernel: &Kernel, facts: &Facts, needed: &mut Needed, diagnostics: &mut Diagnostics) {
    let mut reported = Vec::new();
    for divergence in facts.runs.iter().flat_map(|run| &run.divergences) {
        let Divergence { span, function, brings_value, participants, at } = *divergence;
        if trusts_at(kernel, span, Claim::Barriers, needed).is_some() {
            continue;
        }
        // What one condition parts has one cause.
        if reported.contains(&at) {
            continue;
        }
        reported.push(at);
        let condition = diagnostics.spans.get(at).text.clone();
        let (all, each) = match participants {
            Scope::Warp | Scope::Lane => ("all lanes of the warp", "lane to lane"),
            Scope::Warpgroup => ("all threads of the warpgroup", "thread to thread"),
            Scope::Block => ("all threads of the block", "thread to thread"),
            Scope::Cluster | Scope::Grid => ("all blocks", "block to block"),
        };
        diagnostics.report(
            Diagnostic::new(
                Code::Divergent,
                span,
                format!("`{function}` must be reached by {all} together, and nothing here says that it is"),
            )
            .note(format!("`{condition}` may differ from {each}"))
            .help(if brings_value {
                format!("call `{function}` outside: choose the value it is given by `if … {{ value }} else {{ … }}`, and guard only the use of its result")
            } else {
                format!("end the condition or loop before `{function}`, so that every thread comes to it, and guard anew what follows")
            }),
        );
    }
}
