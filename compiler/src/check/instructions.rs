//! Has every architecture of the kernel the instructions that it uses, and every warp the lanes that they need.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::{Demand, Kernel};
use tileproof_model::access::LANES;
use tileproof_model::report::LeastArchitecture;

/// What the report says of it.
pub(super) fn row(kernel: &Kernel, diagnostics: &Diagnostics) -> Option<LeastArchitecture> {
    let Demand { function, least, span } = kernel.greatest_demand()?;
    let line = diagnostics.spans.line(span);
    Some(LeastArchitecture { architecture: least, function: function.into(), line })
}

pub(super) fn check(kernel: &Kernel, diagnostics: &mut Diagnostics) {
    let demands = kernel.demands();
    let (threads, lanes) = (kernel.threads(), LANES as u32);
    let left = threads % lanes;
    if let Some(Demand { function, span, .. }) = demands.first().filter(|_| left != 0) {
        let message = format!(
            "`{function}` needs all {lanes} lanes of a warp, and the last warp of this block has {left}"
        );
        diagnostics.report(
            Diagnostic::new(Code::Divergent, *span, message)
                .note("the lanes hold the matrices together")
                .help(format!("make the block, which has {threads} threads, a multiple of {lanes}")),
        );
    }
    let Some(named) = kernel.architectures.iter().min() else { return };
    let Some(Demand { function, least, span }) = demands.iter().find(|demand| demand.least > *named) else {
        return;
    };
    let having: Vec<&str> =
        kernel.architectures.iter().filter(|it| *it >= least).map(|it| it.name()).collect();
    let others = if having.is_empty() { least.name().to_string() } else { having.join(", ") };
    let message =
        format!("`{function}` needs {} or later, and this kernel is for {}", least.name(), named.name());
    diagnostics.report(
        Diagnostic::new(Code::Instruction, *span, message)
            .help(format!("say that it is for others: `arch({others})`")),
    );
}
