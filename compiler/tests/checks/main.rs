//! What the checks accept and refuse: kernels as text, and what the compiler says about them.

mod alignment;
mod applied;
mod auto;
mod banks;
mod bounds;
mod budgets;
mod coalescing;
mod control;
mod control_runs;
mod convergence;
mod coverage;
mod coverage_runs;
mod folds;
mod global_races;
mod harness;
mod helpers;
mod known_counts;
mod language;
mod layouts;
mod matrices;
mod misaligned;
mod names;
mod offsets;
mod order;
mod premises;
mod races;
mod refused;
mod relations;
mod report;
mod resources;
mod signature;
mod signs;
mod tensors;
mod tiles;
mod trust;
mod unaligned;
mod unawaited;
mod unwritten;
mod values;

use tileproof_compiler::diagnostic::Code;

/// Every code stands in the expectation of several kernels. The expectations are compared with what the compiler says,
/// so a code that is printed in one has a kernel.
#[test]
fn every_code_has_kernels() {
    let sources = [
        include_str!("alignment.rs"),
        include_str!("banks.rs"),
        include_str!("bounds.rs"),
        include_str!("budgets.rs"),
        include_str!("coalescing.rs"),
        include_str!("control.rs"),
        include_str!("convergence.rs"),
        include_str!("coverage.rs"),
        include_str!("global_races.rs"),
        include_str!("helpers.rs"),
        include_str!("known_counts.rs"),
        include_str!("language.rs"),
        include_str!("layouts.rs"),
        include_str!("matrices.rs"),
        include_str!("races.rs"),
        include_str!("refused.rs"),
        include_str!("resources.rs"),
        include_str!("signature.rs"),
        include_str!("tensors.rs"),
        include_str!("trust.rs"),
        include_str!("unwritten.rs"),
        include_str!("values.rs"),
    ];
    for code in Code::ALL {
        let printed = format!("[{}]", code.number());
        let kernels: usize = sources.iter().map(|source| source.matches(&printed).count()).sum();
        assert!(kernels >= 3, "{code:?} {printed} is in the expectations of {kernels} kernels");
    }
}
