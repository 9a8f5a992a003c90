//! One cause, one error: what mends several accesses at once is reported at the first and names the others.

use super::words::accesses;
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::{Handle, Kernel, Site};

/// An error about an access.
#[derive(Debug)]
pub(super) struct Finding<Cause> {
    /// The access.
    pub(super) site: Handle<Site>,
    /// What it shares with all accesses that the same change mends; `None` where it stands alone.
    pub(super) cause: Option<Cause>,
    /// What is said of it.
    pub(super) error: Diagnostic,
}

/// Reports the findings; the first of those with one cause speaks for the others.
pub(super) fn report<Cause: PartialEq>(
    kernel: &Kernel,
    mut findings: Vec<Finding<Cause>>,
    diagnostics: &mut Diagnostics,
) {
    while !findings.is_empty() {
        let first = findings.remove(0);
        let (likewise, rest): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|other| first.cause.is_some() && other.cause == first.cause);
        findings = rest;
        let likewise: Vec<Handle<Site>> = likewise.into_iter().map(|other| other.site).collect();
        diagnostics.report(match likewise.as_slice() {
            [] => first.error,
            likewise => {
                let names = accesses(kernel, likewise, &diagnostics.spans);
                first.error.note(format!("likewise {names}"))
            }
        });
    }
}
