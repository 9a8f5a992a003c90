//! Do the values mean what they say: index arithmetic stays in its range, register arrays are indexed by constants.

use super::trust::{Needed, trusts_at};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::facts::{EscapeKind, Facts, RegisterFaultKind};
use crate::ir::{Claim, Kernel};

pub(super) fn check(kernel: &Kernel, facts: &Facts, needed: &mut Needed, diagnostics: &mut Diagnostics) {
    for run in &facts.runs {
        for escape in &run.escapes {
            if trusts_at(kernel, escape.span, Claim::Range, needed).is_some() {
                continue;
            }
            let text = diagnostics.spans.get(escape.span).text.clone();
            let error = |message: String| Diagnostic::new(Code::IndexRange, escape.span, message);
            diagnostics.report(match escape.kind {
                EscapeKind::BelowZero => error(format!("index arithmetic may fall below zero: `{text}`"))
                    .note("`usize` has no negative numbers: the index would wrap to a very large one")
                    .help("guard it with a comparison that proves the left side is at least the right one"),
                EscapeKind::NegativeIndex => {
                    error(format!("an `isize` that becomes an index may be below zero: `{text}`"))
                        .note("`usize` has no negative numbers: the index would wrap to a very large one")
                        .help(
                            "guard it with `>= 0` of the `isize`, as in `if r >= 0 && r < n as isize { … }`",
                        )
                }
                EscapeKind::TooLarge => error(format!("index arithmetic may overflow: `{text}`"))
                    .note("nothing here says how large the operands are")
                    .help("state what bounds them in `requires(…)`, or guard it with a comparison"),
                EscapeKind::StepOfZero => error(format!("the step of a loop may be zero: `{text}`"))
                    .note("nothing here says that it is at least 1, and a step of zero never ends")
                    .help("promise it in `requires(…)`, or guard the loop with a comparison"),
                EscapeKind::DivisionByZero => error(format!("division may be by zero: `{text}`"))
                    .note("nothing here says that the divisor is at least 1")
                    .help("promise it in `requires(…)`, or guard the division with a comparison"),
            });
        }
        for fault in &run.register_faults {
            let text = diagnostics.spans.get(fault.span).text.clone();
            diagnostics.report(match fault.kind {
                RegisterFaultKind::Outside { index, extent } => Diagnostic::new(
                    Code::RegisterIndex,
                    fault.span,
                    format!("index of registers out of bounds: it is {index}, and there are {extent}"),
                )
                .note(format!("in `{text}`, once constant loops are unrolled"))
                .help(format!("keep it below {extent}")),
                RegisterFaultKind::Unknown => Diagnostic::new(
                    Code::RegisterIndex,
                    fault.span,
                    "a register array is indexed by a value that is not constant",
                )
                .note(format!("`{text}` must be one number for all threads once constant loops are unrolled: registers have no addresses, so the array would move to slow local memory"))
                .help("index it by constants and by variables of loops with constant bounds"),
                RegisterFaultKind::TableUnbounded(extent) => Diagnostic::new(
                    Code::RegisterIndex,
                    fault.span,
                    format!("index of a constant table may be out of bounds: `{text}`"),
                )
                .note(format!("nothing here says that it stays below {extent}"))
                .help("guard it with a comparison, or promise what bounds it in `requires(…)`"),
                RegisterFaultKind::TableVarying => Diagnostic::new(
                    Code::RegisterIndex,
                    fault.span,
                    format!("the lanes of a warp read different elements of a constant table: `{text}`"),
                )
                .note("the constant cache serves one address at a time, so up to 32 reads would wait for each other")
                .help("copy the table into a shared tile, or take it as a tensor"),
            });
        }
    }
}
