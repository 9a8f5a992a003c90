//! Has every element of shared memory been written when it is read.

use super::trust::{Needed, trusts};
use super::words::{accesses, subscripts, thread};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::facts::Facts;
use crate::ir::{Base, Claim, Handle, Kernel, Role, Site, Tile};

/// Of tiles that are `raced` for, it is not said: what was written when depends on the barrier that is missing.
pub(super) fn check(
    kernel: &Kernel,
    facts: &Facts,
    raced: &[Handle<Tile>],
    needed: &mut Needed,
    diagnostics: &mut Diagnostics,
) {
    let mut reported: Vec<Base> = raced.iter().copied().map(Base::Tile).collect();
    for unwritten in facts.runs.iter().flat_map(|run| &run.unwritten) {
        let site = &kernel.sites[unwritten.site];
        let name = kernel.base_name(site.place.base);
        if trusts(kernel, unwritten.site, Claim::Initialised, needed).is_some()
            || reported.contains(&site.place.base)
        {
            continue;
        }
        // One write that is missing may leave several reads without.
        reported.push(site.place.base);
        let what = match site.role {
            Role::Read | Role::Write => "read",
            Role::Update => "updated",
        };
        let mut error = Diagnostic::new(
            Code::Uninitialised,
            site.span,
            format!(
                "`{name}` may be {what} here where nothing was written: shared memory starts with any values"
            ),
        );
        let who = thread(kernel, unwritten.thread);
        error = match &unwritten.element {
            Some(index) => error.note(format!("{who} finds `{name}{}` unwritten", subscripts(index))),
            None => error.note(format!(
                "which elements {who} reads is not known at compile time, and some of `{name}` may be unwritten"
            )),
        };
        let writes: Vec<Handle<Site>> = unwritten.writes.iter().copied().collect();
        error = match writes.as_slice() {
            [] => {
                let other = kernel.sites.iter().any(|(handle, other)| {
                    other.place.base == site.place.base
                        && other.role == Role::Write
                        && handle != unwritten.site
                });
                error.help(match other {
                    true => {
                        format!("write every element of `{name}` that is read, by all threads of the block")
                    }
                    false => format!("write `{name}` first, and put `sync_threads();` after that"),
                })
            }
            writes => {
                let those = accesses(kernel, writes, &diagnostics.spans);
                let does = if writes.len() == 1 { "writes" } else { "write" };
                error
                    .note(format!("{those} {does} it only under a condition that does not follow from what holds here"))
                    .help("write in every case, a zero where there is nothing to load: `let value = if … { input[…] } else { 0.0 };`")
            }
        };
        diagnostics.report(error);
    }
}
