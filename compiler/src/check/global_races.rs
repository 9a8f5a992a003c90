//! Does a block touch an element of a tensor that another block writes.
//!
//! Blocks run at the same time and in any order, and nothing that a kernel can say orders the accesses of one before those
//! of another. So of every tensor that the kernel writes, each write must be apart from every access of other blocks;
//! atomic updates may meet each other.

use super::trust::{Needed, trusts};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::facts::apart::{Answer, Group, Prover, Reason, Relation};
use crate::facts::{Facts, SymbolKind, Visit};
use crate::ir::{Axis, Base, Claim, Handle, Kernel, Param, Role, Site};

/// Two accesses that may meet.
struct Meeting {
    /// The one that writes, where the other does not.
    first: Handle<Site>,
    second: Handle<Site>,
    reason: Reason,
}

/// Judges all tensors that the kernel writes. Where accesses may be `outside`, or index arithmetic goes wrong, that comes first.
pub(super) fn check(
    kernel: &Kernel,
    facts: &Facts,
    outside: &[Handle<Site>],
    needed: &mut Needed,
    diagnostics: &mut Diagnostics,
) {
    let escapes = facts.runs.iter().any(|run| !run.escapes.is_empty());
    if has_one_block(facts) || !outside.is_empty() || escapes && diagnostics.is_failed() {
        return;
    }
    let mut prover = Prover::new(kernel, facts);
    for param in kernel.params.handles() {
        if let Some(meeting) = first_meeting(kernel, facts, param, &mut prover, needed) {
            let error = describe(kernel, param, &meeting, diagnostics);
            diagnostics.report(error);
        }
    }
}

/// Whether the grid is known to be one block.
fn has_one_block(facts: &Facts) -> bool {
    facts.runs.iter().all(|run| {
        [Axis::X, Axis::Y, Axis::Z].into_iter().all(|axis| {
            let id = run.symbols.find(&SymbolKind::Block(axis));
            id.is_some_and(|id| run.symbols.get(id).high == 0)
        })
    })
}

fn first_meeting<'a>(
    kernel: &Kernel,
    facts: &'a Facts,
    param: Handle<Param>,
    prover: &mut Prover<'a>,
    needed: &mut Needed,
) -> Option<Meeting> {
    let of_tensor = |site: &Site| site.place.base == Base::Tensor(param);
    let sites: Vec<Handle<Site>> =
        kernel.sites.iter().filter(|(_, site)| of_tensor(site)).map(|(handle, _)| handle).collect();
    if sites.iter().all(|site| kernel.sites[*site].role == Role::Read) {
        return None;
    }
    let mut groups: Vec<(Handle<Site>, Vec<Group>)> = Vec::new();
    for site in sites {
        let visits: Vec<(usize, &'a Visit)> = (0..)
            .zip(&facts.runs)
            .flat_map(|(number, run)| {
                run.visits.iter().filter(move |visit| visit.site == site).map(move |visit| (number, visit))
            })
            .collect();
        groups.push((site, prover.groups(&visits)));
    }
    // A site against itself first: that says most about what is wrong.
    let pairs = |apart: usize| groups.iter().zip(groups.iter().skip(apart));
    for apart in 0..groups.len() {
        for ((a, of_a), (b, of_b)) in pairs(apart) {
            let Some(meeting) = meeting((*a, of_a), (*b, of_b), kernel, prover) else { continue };
            let trusted = [*a, *b].map(|site| trusts(kernel, site, Claim::Race, needed).is_some());
            if trusted == [false, false] {
                return Some(meeting);
            }
        }
    }
    None
}

fn meeting(
    (a, of_a): (Handle<Site>, &[Group]),
    (b, of_b): (Handle<Site>, &[Group]),
    kernel: &Kernel,
    prover: &mut Prover<'_>,
) -> Option<Meeting> {
    let (x, y) = (&kernel.sites[a], &kernel.sites[b]);
    let harmless = match (x.role, y.role) {
        (Role::Read, Role::Read) | (Role::Update, Role::Update) => true,
        (Role::Read, Role::Write | Role::Update)
        | (Role::Write, Role::Read | Role::Write | Role::Update)
        | (Role::Update, Role::Read | Role::Write) => false,
    };
    if harmless {
        return None;
    }
    for (number, group) in of_a.iter().enumerate() {
        // Of a site with itself each pair once.
        for other in of_b.iter().skip(if a == b { number } else { 0 }) {
            let answer = prover.apart((*group, x.place.width), (*other, y.place.width), Relation::OtherBlock);
            if let Answer::Unknown(reason) = answer {
                let (first, second) = if x.role == Role::Read { (b, a) } else { (a, b) };
                return Some(Meeting { first, second, reason });
            }
        }
    }
    None
}

fn describe(
    kernel: &Kernel,
    param: Handle<Param>,
    meeting: &Meeting,
    diagnostics: &Diagnostics,
) -> Diagnostic {
    let name = &kernel.params[param].name;
    let Meeting { first, second, reason } = meeting;
    let text = |site: Handle<Site>| diagnostics.spans.get(kernel.sites[site].span).text.clone();
    let line = |site: Handle<Site>| diagnostics.spans.line(kernel.sites[site].span);
    let place = |site: Handle<Site>| format!("`{}` on line {}", text(site), line(site));
    let act = |site: Handle<Site>| match kernel.sites[site].role {
        Role::Read => "reads",
        Role::Write => "writes",
        Role::Update => "updates",
    };
    let (at, message) = match kernel.sites[*second].role {
        Role::Read => (
            *second,
            format!(
                "a block may read an element of `{name}` that another block {}: `{}`",
                act(*first),
                text(*second)
            ),
        ),
        Role::Write | Role::Update if first == second => {
            (*first, format!("two blocks may write one element of `{name}`: `{}`", text(*first)))
        }
        Role::Write | Role::Update => (
            *first,
            format!(
                "two blocks may write one element of `{name}`: {}, and {}",
                place(*first),
                place(*second)
            ),
        ),
    };
    let mut error = Diagnostic::new(Code::GlobalRace, kernel.sites[at].span, message);
    if first != second && at == *second {
        error = error.note(format!(
            "that block {} {}, and blocks run at the same time, in any order",
            act(*first),
            place(*first)
        ));
    }
    let same_element = match kernel.sites[*second].role {
        Role::Read => "that a block reads only what itself writes",
        Role::Write | Role::Update => "that two blocks write different elements",
    };
    error = match reason {
        Reason::Ignored(ignored) => {
            let axis = ignored.name();
            error.note(format!("no index depends on `block_{axis}()`, so blocks that differ in nothing else touch the same elements"))
        }
        Reason::Data(what) => {
            error.note(format!("nothing here says {same_element}: the index depends on {what}"))
        }
        Reason::Undecided => error.note(format!("nothing here says {same_element}")),
        Reason::Work => error.note("there are too many accesses to compare them all"),
    };
    let plain = [*first, *second].into_iter().any(|site| kernel.sites[site].role != Role::Update);
    match (kernel.sites[*second].role, reason) {
        (Role::Read, _) => {
            error.help("write to another tensor and read this one, or launch one kernel after the other")
        }
        (Role::Write | Role::Update, Reason::Ignored(ignored)) => {
            let axis = ignored.name();
            error.help(format!("use `block_{axis}()` in the index, make the grid 1 block in {axis}, or guard the access with `block_{axis}() == 0`"))
        }
        (Role::Write | Role::Update, Reason::Data(_) | Reason::Undecided | Reason::Work) if plain => {
            error.help("make each block write its own elements, or update them by `atomic_add` and its like")
        }
        (Role::Write | Role::Update, _) => error,
    }
}
