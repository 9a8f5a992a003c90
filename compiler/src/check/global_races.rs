//! Does a block touch an element of a tensor that another block writes, or a thread one that another thread of its block
//! writes with no barrier between.
//!
//! Blocks run at the same time and in any order, and nothing that a kernel can say orders the accesses of one before those
//! of another. So of every tensor that the kernel writes, each write must be apart from every access of other blocks, and
//! from those of other threads of the block that nothing orders; atomic updates may meet each other.

use super::races::{is_blind, relation, unordered};
use super::trust::{Needed, trusts};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::facts::apart::{Answer, Group, Prover, Reason, Relation};
use crate::facts::{Facts, IntervalId, Open, Run, SymbolKind, Visit, of_all_runs, says_the_same};
use crate::ir::{Axis, Base, Claim, Handle, Kernel, Param, Role, Site};
use std::collections::{BTreeMap, BTreeSet};

/// Two accesses that may meet.
struct Meeting {
    /// The one that writes, where the other does not.
    first: Handle<Site>,
    second: Handle<Site>,
    reason: Reason,
    /// Whether in two threads of one block; else in two blocks.
    in_block: bool,
}

/// Visits by site.
type Groups = Vec<OfSite>;

/// Those of one site.
type OfSite = (Handle<Site>, Vec<Group>);

/// Judges all tensors that the kernel writes. Where accesses may be `outside`, or index arithmetic goes wrong, that comes first.
pub(super) fn check(
    kernel: &Kernel,
    facts: &Facts,
    outside: &[Handle<Site>],
    needed: &mut Needed,
    diagnostics: &mut Diagnostics,
) {
    let escapes = facts.runs.iter().any(|run| !run.escapes.is_empty());
    if !outside.is_empty() || escapes && diagnostics.is_failed() {
        return;
    }
    let common = of_all_runs(facts);
    let common: Vec<(usize, &Visit)> = common.iter().map(|(run, visit)| (*run, &**visit)).collect();
    let mut prover = Prover::new(kernel, facts);
    for param in kernel.params.handles() {
        let of_tensor = |site: &Handle<Site>| kernel.sites[*site].place.base == Base::Tensor(param);
        let sites: Vec<Handle<Site>> = kernel.sites.handles().filter(of_tensor).collect();
        if sites.iter().all(|site| kernel.sites[*site].role == Role::Read) {
            continue;
        }
        let across = match has_one_block(facts) {
            true => None,
            false => between_blocks(kernel, &common, &sites, &mut prover, needed),
        };
        let meeting = across.or_else(|| between_threads(kernel, facts, &sites, &mut prover, needed));
        if let Some(meeting) = meeting {
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

fn between_blocks<'a>(
    kernel: &Kernel,
    visits: &[(usize, &'a Visit)],
    sites: &[Handle<Site>],
    prover: &mut Prover<'a>,
    needed: &mut Needed,
) -> Option<Meeting> {
    let groups = groups_of(sites, visits, false, prover);
    // A site against itself first: that says most about what is wrong.
    for further in 0..groups.len() {
        for (a, b) in groups.iter().zip(groups.iter().skip(further)) {
            let meeting = meeting((a, b), (a.0 == b.0, Relation::OtherBlock), &|_| false, kernel, prover);
            if let Some(meeting) = untrusted(meeting, kernel, needed) {
                return Some(meeting);
            }
        }
    }
    None
}

fn between_threads<'a>(
    kernel: &Kernel,
    facts: &'a Facts,
    sites: &[Handle<Site>],
    prover: &mut Prover<'a>,
    needed: &mut Needed,
) -> Option<Meeting> {
    let of_tensor = |run: &'a Run| -> Vec<&'a Visit> {
        run.visits.iter().chain(&run.replays).filter(|visit| sites.contains(&visit.site)).collect()
    };
    let first = facts.runs.first().map(|run| (run, of_tensor(run)));
    for (number, run) in (0..).zip(&facts.runs) {
        let all = of_tensor(run);
        if let Some((first, of_first)) = &first
            && number > 0
            && says_the_same((first, of_first), (run, &all))
            && order_of(first, of_first) == order_of(run, &all)
        {
            continue;
        }
        let mut visits: BTreeMap<IntervalId, Vec<(usize, &'a Visit)>> = BTreeMap::new();
        for visit in all {
            visits.entry(visit.interval).or_default().push((number, visit));
        }
        let groups: BTreeMap<IntervalId, Groups> = visits
            .iter()
            .map(|(interval, visits)| (*interval, groups_of(sites, visits, true, prover)))
            .collect();
        for (id, own) in &groups {
            for Open { interval: other, between, when } in unordered(run, *id) {
                let Some(earlier) = groups.get(&other) else { continue };
                let blind = is_blind(run, other, *id);
                let relation = relation(between, !blind);
                let excludes = |visits: (&Visit, &Visit)| !blind && when.excludes(visits, run);
                for (place, a) in earlier.iter().enumerate() {
                    for b in own.iter().skip(if other == *id { place } else { 0 }) {
                        let themselves = other == *id && a.0 == b.0;
                        let meeting = meeting((a, b), (themselves, relation), &excludes, kernel, prover);
                        if let Some(meeting) = untrusted(meeting, kernel, needed) {
                            return Some(meeting);
                        }
                    }
                }
            }
        }
    }
    None
}

/// How the intervals of visits lie to each other, each by its place among them: that of each visit, and which are open at
/// which, with whether what is the same in both runs is known to be.
fn order_of(run: &Run, visits: &[&Visit]) -> (Vec<usize>, Vec<(usize, Open, bool)>) {
    let intervals: BTreeSet<IntervalId> = visits.iter().map(|visit| visit.interval).collect();
    let place = |interval: IntervalId| intervals.iter().position(|other| *other == interval);
    let open = intervals.iter().enumerate().flat_map(|(later, id)| {
        unordered(run, *id).filter_map(move |open| {
            let blind = is_blind(run, open.interval, *id);
            Some((later, Open { interval: place(open.interval)? as IntervalId, ..open }, blind))
        })
    });
    (visits.iter().filter_map(|visit| place(visit.interval)).collect(), open.collect())
}

fn groups_of<'a>(
    sites: &[Handle<Site>],
    visits: &[(usize, &'a Visit)],
    in_block: bool,
    prover: &mut Prover<'a>,
) -> Groups {
    let of_site = |site: Handle<Site>| visits.iter().filter(move |(_, visit)| visit.site == site).copied();
    sites.iter().map(|site| (*site, prover.groups(&of_site(*site).collect::<Vec<_>>(), in_block))).collect()
}

/// The meeting, if no trust covers it.
fn untrusted(meeting: Option<Meeting>, kernel: &Kernel, needed: &mut Needed) -> Option<Meeting> {
    let meeting = meeting?;
    let sites = [meeting.first, meeting.second];
    let trusted = sites.map(|site| trusts(kernel, site, Claim::Race, needed).is_some());
    (trusted == [false, false]).then_some(meeting)
}

/// Where the accesses may meet; of visits with `themselves` each pair once, and without those that `excludes` keeps apart.
fn meeting(
    ((a, of_a), (b, of_b)): (&OfSite, &OfSite),
    (themselves, relation): (bool, Relation),
    excludes: &dyn Fn((&Visit, &Visit)) -> bool,
    kernel: &Kernel,
    prover: &mut Prover<'_>,
) -> Option<Meeting> {
    let (x, y) = (&kernel.sites[*a], &kernel.sites[*b]);
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
        for other in of_b.iter().skip(if themselves { number } else { 0 }) {
            let answer = prover.apart((*group, x.place.width), (*other, y.place.width), relation);
            if let Answer::Unknown(reason) = answer {
                let pairs = || {
                    let second = prover.members(*other);
                    prover.members(*group).iter().flat_map(move |a| second.iter().map(move |b| (a.1, b.1)))
                };
                if pairs().all(excludes) {
                    continue;
                }
                let (first, second) = if x.role == Role::Read { (*b, *a) } else { (*a, *b) };
                return Some(Meeting { first, second, reason, in_block: relation != Relation::OtherBlock });
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
    let Meeting { first, second, reason, in_block } = meeting;
    if *in_block {
        return describe_in_block(kernel, param, meeting, diagnostics);
    }
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

/// The same of two threads of one block.
fn describe_in_block(
    kernel: &Kernel,
    param: Handle<Param>,
    meeting: &Meeting,
    diagnostics: &Diagnostics,
) -> Diagnostic {
    let name = &kernel.params[param].name;
    let Meeting { first, second, reason, in_block: _ } = meeting;
    let text = |site: Handle<Site>| diagnostics.spans.get(kernel.sites[site].span).text.clone();
    let place = |site: Handle<Site>| {
        format!("`{}` on line {}", text(site), diagnostics.spans.line(kernel.sites[site].span))
    };
    let reads = kernel.sites[*second].role == Role::Read;
    let at = if reads { *second } else { *first };
    let message = match (reads, first == second) {
        (true, _) => format!(
            "a thread may read an element of `{name}` that another thread writes: `{}`",
            text(*second)
        ),
        (false, true) => format!("two threads may write one element of `{name}`: `{}`", text(*first)),
        (false, false) => format!(
            "two threads may write one element of `{name}`: {}, and {}",
            place(*first),
            place(*second)
        ),
    };
    let mut error = Diagnostic::new(Code::GlobalRace, kernel.sites[at].span, message);
    if reads {
        error = error.note(format!("it is written by {}, and no barrier stands between", place(*first)));
    }
    let different = "nothing here says that two threads of a block touch different elements";
    error = match reason {
        Reason::Ignored(_) | Reason::Undecided => error.note(different),
        Reason::Data(what) => error.note(format!("{different}: the index depends on {what}")),
        Reason::Work => error.note("there are too many accesses to compare them all"),
    };
    match first == second {
        true => error.help("let one thread write it, as in `if thread_x() == 0 { … }`, or update it by `atomic_add` and its like"),
        false => error.help("put `sync_threads()` between them"),
    }
}
