//! Does a barrier stand between any two accesses of different threads to one element of shared memory, one of which is not a
//! read, and which barrier it is.
//!
//! The facts say which intervals of the kernel nothing orders; `meeting` says where two of them touch. What is left
//! is an error about the later access, and each barrier is given the meetings that it alone prevents.

use super::meeting::{Meeting, Touched, meetings};
use super::trust::{Needed, trusts};
use super::words::{subscripts, thread, verb};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::facts::apart::{Answer, Prover, Relation};
use crate::facts::{Around, Between, FactList, Facts, IntervalId, Open, Run, Visit, When, element_index};
use crate::ir::{Base, Claim, CollectiveOp, Handle, Kernel, Proxy, Role, Site, Stmt, SyncObject, Tile};
use crate::span::{SpanId, SpanTable};
use std::collections::{BTreeMap, BTreeSet};
use tileproof_model::report::{BarrierKind, BarrierReport, Ordered};

/// Two accesses that nothing orders.
struct Race<'a> {
    tile: Handle<Tile>,
    meeting: Meeting<'a>,
    between: Between,
    /// The loop of which the later one is another iteration.
    again: Option<SpanId>,
}

/// The barrier that is missing.
enum Mended {
    /// One before this place in the source.
    Before((usize, usize)),
    /// One at the end of this loop, or of one around both accesses.
    AtEnd(Option<SpanId>),
    /// One before this place, behind the wait for what was copied.
    BehindWait((usize, usize)),
    /// The wait for what is copied to this tile.
    Wait(Handle<Tile>),
}

/// Two sites that a barrier orders, and whether the second is in another iteration.
type OrderedSites = (Handle<Site>, Handle<Site>, bool);

/// Reports the races, and says what each barrier orders; the tiles that are raced for.
pub(super) fn check(
    kernel: &Kernel,
    facts: &Facts,
    needed: &mut Needed,
    diagnostics: &mut Diagnostics,
) -> (Vec<BarrierReport>, Vec<Handle<Tile>>) {
    let mut races = Vec::new();
    // Pairs of sites, with the barriers of which each is enough to order them.
    let mut ordered: Vec<(OrderedSites, Vec<SpanId>)> = Vec::new();
    let mut prover = Prover::new(kernel, facts);
    for number in 0..facts.runs.len() {
        for tile in kernel.tiles.handles() {
            judge(kernel, (facts, number), tile, &mut prover, &mut races, &mut ordered, &diagnostics.spans);
        }
    }
    races.retain(|race| {
        let (earlier, later) = (race.meeting.earlier.0.site, race.meeting.later.0.site);
        trusts(kernel, later, Claim::Race, needed).or(trusts(kernel, earlier, Claim::Race, needed)).is_none()
    });
    let raced = races.iter().map(|race| race.tile).collect();
    report(kernel, races, diagnostics);
    (rows(kernel, ordered, &diagnostics.spans), raced)
}

/// The races on one tile, and what barriers order there.
fn judge<'a>(
    kernel: &Kernel,
    (facts, number): (&'a Facts, usize),
    tile: Handle<Tile>,
    prover: &mut Prover<'a>,
    races: &mut Vec<Race<'a>>,
    ordered: &mut Vec<(OrderedSites, Vec<SpanId>)>,
    spans: &SpanTable,
) {
    let run = &facts.runs[number];
    let mut visits: BTreeMap<IntervalId, Vec<&'a Visit>> = BTreeMap::new();
    for visit in run.visits.iter().chain(&run.replays) {
        if kernel.sites[visit.site].place.base == Base::Tile(tile) {
            visits.entry(visit.interval).or_default().push(visit);
        }
    }
    let touched: BTreeMap<IntervalId, Touched<'a>> = visits
        .into_iter()
        .map(|(interval, visits)| (interval, Touched::of(kernel, run, tile, visits)))
        .collect();
    for (id, own) in &touched {
        let interval = &run.intervals[*id as usize];
        for Open { interval: other, between, when } in unordered(run, *id) {
            let Some(earlier) = touched.get(&other) else { continue };
            let blind = is_blind(run, other, *id);
            let again = another_iteration(run, other, *id);
            let relation = relation(between, !blind);
            let mut alone = |visits: (&'a Visit, &'a Visit)| {
                let of = |visit: &'a Visit| Touched::of(kernel, run, tile, vec![visit]);
                let (a, b) = (of(visits.0), of(visits.1));
                let later = if std::ptr::eq(visits.0, visits.1) { &a } else { &b };
                let meeting = meetings(kernel, run, (&a, later), between, blind).into_iter().next()?;
                let excluded = !blind && when.excludes(visits, run);
                let ways = if blind { &[][..] } else { when.ways() };
                (!excluded && !are_apart(kernel, (number, ways), visits, relation, prover)).then_some(meeting)
            };
            if meetings(kernel, run, (earlier, own), between, blind).is_empty() {
                continue;
            }
            // Of all accesses to an element two are kept, and those may be apart where others are not.
            for sites in site_pairs(kernel, earlier, own) {
                let found = pairs_of(earlier, own, sites).find_map(&mut alone);
                races.extend(found.map(|meeting| Race { tile, meeting, between, again }));
            }
        }
        let behind = interval
            .ordered
            .iter()
            .map(|ordered| (ordered.interval, Between::Threads, ordered.barriers.clone()));
        // A copy is ordered by the wait for it, too, also for the thread itself.
        let reaches = |copy: &IntervalId| {
            interval.open.iter().any(|open| open.interval == *copy)
                || interval.ordered.iter().any(|ordered| ordered.interval == *copy)
        };
        let waits = run
            .waits
            .iter()
            .filter(|waited| waited.from <= *id && reaches(&waited.copy))
            .map(|waited| (waited.copy, Between::All, vec![waited.wait]));
        for (other, between, barriers) in
            behind.chain(waits).filter(|(other, ..)| stand_for_all(run, *other, *id))
        {
            let Some(earlier) = touched.get(&other) else { continue };
            let again = another_iteration(run, other, *id);
            for meeting in meetings(kernel, run, (earlier, own), between, is_blind(run, other, *id)) {
                let (a, b) = (meeting.earlier.0.site, meeting.later.0.site);
                let next = again.is_some() || is_before(kernel, b, a, spans);
                ordered.push(((a, b, next), barriers.clone()));
            }
        }
    }
}

/// The intervals whose accesses nothing orders before those of one, itself first.
pub(super) fn unordered(run: &Run, id: IntervalId) -> impl Iterator<Item = Open> {
    let interval = &run.intervals[id as usize];
    let itself = Open { interval: id, between: interval.within, when: When::Always };
    let all = std::iter::once(itself).chain(interval.open.iter().cloned());
    all.filter(move |open| stand_for_all(run, open.interval, id))
}

/// The pairs of sites of two intervals that are not two loads or two updates.
fn site_pairs(
    kernel: &Kernel,
    earlier: &Touched<'_>,
    later: &Touched<'_>,
) -> Vec<(Handle<Site>, Handle<Site>)> {
    let sites = |of: &Touched<'_>| of.visits.iter().map(|visit| visit.site).collect::<BTreeSet<_>>();
    let later = sites(later);
    let pairs = sites(earlier).into_iter().flat_map(|a| later.iter().map(move |b| (a, *b)));
    let race = |(a, b): &(Handle<Site>, Handle<Site>)| {
        let roles = (kernel.sites[*a].role, kernel.sites[*b].role);
        !matches!(roles, (Role::Read, Role::Read) | (Role::Update, Role::Update))
    };
    pairs.filter(race).collect()
}

/// The visits of two sites in two intervals, each pair once.
fn pairs_of<'a>(
    earlier: &Touched<'a>,
    later: &Touched<'a>,
    sites: (Handle<Site>, Handle<Site>),
) -> impl Iterator<Item = (&'a Visit, &'a Visit)> {
    let itself = std::ptr::eq(earlier, later);
    let visits = earlier.visits.iter().enumerate().filter(move |(_, visit)| visit.site == sites.0);
    visits.flat_map(move |(at, a)| {
        let others = later.visits.iter().skip(if itself { at } else { 0 });
        others.filter(move |visit| visit.site == sites.1).map(move |b| (*a, *b))
    })
}

pub(super) fn relation(between: Between, together: bool) -> Relation {
    match between {
        Between::Warps => Relation::OtherWarp { together },
        Between::Threads => Relation::OtherThread { together },
        Between::All => Relation::AnyThread { together },
    }
}

/// Whether what guards two accesses, or what holds on each of the ways from the one to the other, keeps them apart.
fn are_apart<'a>(
    kernel: &Kernel,
    (run, ways): (usize, &[FactList]),
    (a, b): (&'a Visit, &'a Visit),
    relation: Relation,
    prover: &mut Prover<'a>,
) -> bool {
    let mut group = |visit: &'a Visit| prover.groups(&[(run, visit)], true).first().copied();
    let (Some(first), Some(second)) = (group(a), group(b)) else { return false };
    let width = |visit: &Visit| kernel.sites[visit.site].place.width;
    let (first, second) = ((first, width(a)), (second, width(b)));
    prover.apart(first, second, relation) == Answer::Apart
        || prover.apart_on(first, second, relation, (run, ways))
}

/// Whether two intervals are in different executions of a loop whose counter is taken by its residues: one run has the
/// same residue in both, and they may have others. Iterations of a later execution whose number is known
/// are walked in each run.
pub(super) fn is_blind(run: &Run, earlier: IntervalId, later: IntervalId) -> bool {
    let (earlier, later) = (&run.intervals[earlier as usize].rounds, &run.intervals[later as usize].rounds);
    let differ = |a: &Around, b: &Around| a.head == b.head && a.execution != b.execution;
    earlier.iter().any(|a| run.split.contains(&a.head) && later.iter().any(|b| differ(a, b) && !b.counted))
}

/// Whether what is said of two intervals is not said of two others already: those of one iteration that was walked again
/// are as those of the one that stands for all.
fn stand_for_all(run: &Run, earlier: IntervalId, later: IntervalId) -> bool {
    let walk = |interval: IntervalId| run.intervals[interval as usize].again.map(|(walk, _)| walk);
    walk(later).is_none_or(|own| walk(earlier) != Some(own))
}

/// The loop of which the later interval is another iteration than the earlier one, which is in that loop too.
fn another_iteration(run: &Run, earlier: IntervalId, later: IntervalId) -> Option<SpanId> {
    let (earlier, later) = (&run.intervals[earlier as usize], &run.intervals[later as usize]);
    let (_, head) = later.again.filter(|_| earlier.again != later.again)?;
    earlier.rounds.iter().any(|around| around.head == head).then_some(head)
}

/// Whether a site is before another one in the source.
fn is_before(kernel: &Kernel, a: Handle<Site>, b: Handle<Site>, spans: &SpanTable) -> bool {
    let place = |site: Handle<Site>| {
        let start = spans.get(kernel.sites[site].span).start.start();
        (start.line, start.column)
    };
    place(a) < place(b)
}

/// One error for what one barrier would mend.
fn report(kernel: &Kernel, mut races: Vec<Race<'_>>, diagnostics: &mut Diagnostics) {
    let place = |site: Handle<Site>| {
        let start = diagnostics.spans.get(kernel.sites[site].span).start.start();
        (start.line, start.column)
    };
    let ends = |race: &Race<'_>| (place(race.meeting.earlier.0.site), place(race.meeting.later.0.site));
    races.sort_by_key(|race| (race.again.is_some(), ends(race).1, ends(race).0));
    let mut mended: Vec<Mended> = Vec::new();
    let mut errors = Vec::new();
    for race in &races {
        let (first, then) = ends(race);
        let copied = kernel.sites[race.meeting.earlier.0.site].proxy == Proxy::Async;
        let under_way = race.between == Between::All;
        let is_mended = mended.iter().any(|barrier| match barrier {
            Mended::Before(place) => race.again.is_none() && first < *place && *place <= then,
            Mended::AtEnd(head) => race.again == *head && (head.is_some() || then <= first),
            Mended::BehindWait(place) => copied && then == *place,
            Mended::Wait(tile) => under_way && race.tile == *tile,
        });
        if !is_mended {
            mended.push(match race.again {
                _ if under_way => Mended::Wait(race.tile),
                _ if copied => Mended::BehindWait(then),
                None if first < then => Mended::Before(then),
                again => Mended::AtEnd(again),
            });
            errors.push(error(kernel, race, &diagnostics.spans));
        }
    }
    errors.into_iter().for_each(|error| diagnostics.report(error));
}

fn error(kernel: &Kernel, race: &Race<'_>, spans: &SpanTable) -> Diagnostic {
    let Race { tile, meeting, between, again } = race;
    let name = &kernel.tiles[*tile].name;
    let (earlier, later) = (&kernel.sites[meeting.earlier.0.site], &kernel.sites[meeting.later.0.site]);
    let line = spans.line(earlier.span);
    let under_way = *between == Between::All;
    let same = meeting.earlier.0.site == meeting.later.0.site;
    let next = again.is_some();
    let before = match (same, under_way) {
        (true, _) => "of another thread".to_string(),
        (false, true) => format!("that was started on line {line}"),
        (false, false) if next => format!("on line {line} an iteration earlier"),
        (false, false) => format!("on line {line}"),
    };
    let first = if under_way { "asynchronous copy" } else { noun(earlier) };
    let message = match (under_way, same, next) {
        (false, true, false) => {
            format!("race on `{name}`: two threads may {} one element here", verb(later.role))
        }
        _ => format!("race on `{name}`: nothing orders this {} after the {first} {before}", noun(later)),
    };
    let kind = match (earlier.role, later.role) {
        (Role::Write, Role::Read) => "read after write",
        (Role::Read, Role::Write) => "write after read",
        (Role::Write, Role::Write) => "write after write",
        (Role::Update, Role::Read) => "read after update",
        (Role::Update, Role::Write) => "write after update",
        (Role::Read, Role::Update) => "update after read",
        (Role::Write, Role::Update) => "update after write",
        (Role::Update, Role::Update) => "update after update",
        (Role::Read, Role::Read) => "read after read",
    };
    let element = match meeting.element {
        Some(number) if meeting.terms.is_empty() => {
            format!("`{name}{}`", subscripts(&element_index(&kernel.tiles[*tile], number)))
        }
        _ => "the same element".into(),
    };
    let note = match (meeting.earlier.1, meeting.later.1) {
        (Some(a), Some(b)) => {
            let when = if next { " an iteration later" } else { "" };
            format!(
                "{kind}: {} {}s {element} on line {line}, and {} {}s it here{when}",
                thread(kernel, a),
                verb(earlier.role),
                if a == b { "the same thread".to_string() } else { thread(kernel, b) },
                verb(later.role)
            )
        }
        _ => format!("{kind}: which elements the threads touch is not known at compile time"),
    };
    let mut error = Diagnostic::new(Code::Race, later.span, message).note(note);
    error = match (under_way, again) {
        (true, _) => error
            .help("call `commit();` after the copy, and `wait::<0>();` and `sync_threads();` before this"),
        (false, _) if earlier.proxy == Proxy::Async => {
            error.help("put `sync_threads();` between the `wait` for the copy and this")
        }
        (false, Some(head)) => error.help(format!(
            "put `sync_threads();` at the end of the body of the loop on line {}",
            spans.line(*head)
        )),
        (false, None) if same => match (earlier.role, meeting.element) {
            (Role::Write, _) => {
                error.help("let one thread write it, `if thread_x() == 0 { … }`, or update it with an atomic")
            }
            _ => error.help("put `sync_threads();` between them"),
        },
        (false, None) if spans.line(later.span) < line => {
            error.help("put `sync_threads();` at the end of the body of the loop around both")
        }
        (false, None) if spans.line(later.span) == line && earlier.role == Role::Read => error.help(
            "read first, `let value = …;`, then put `sync_threads();` before the statement that writes",
        ),
        (false, None) if spans.line(later.span) == line => {
            error.help("put `sync_threads();` between the two")
        }
        (false, None) => error.help(format!("put `sync_threads();` between line {line} and this")),
    };
    error
}

fn noun(site: &Site) -> &'static str {
    match (site.proxy, site.role) {
        (Proxy::Async, Role::Write) => "copy",
        (_, Role::Read) => "load",
        (Proxy::Generic, Role::Write) => "store",
        (_, Role::Update) => "atomic update",
    }
}

/// What each barrier orders; one that others do without it orders nothing.
fn rows(
    kernel: &Kernel,
    mut ordered: Vec<(OrderedSites, Vec<SpanId>)>,
    spans: &SpanTable,
) -> Vec<BarrierReport> {
    let mut barriers: Vec<(SpanId, BarrierKind)> = Vec::new();
    barriers_in(kernel, &kernel.body, &mut barriers);
    let place = |span: SpanId| {
        let start = spans.get(span).start.start();
        (start.line, start.column)
    };
    barriers.sort_by_key(|(span, _)| (place(*span), *span));
    // From the last on: of two that do the same, the first stays.
    let mut out: Vec<BarrierReport> = Vec::new();
    for (span, kind) in barriers.iter().rev() {
        let alone = ordered.iter().any(|(_, of)| of.as_slice() == [*span]);
        if !alone {
            ordered.iter_mut().for_each(|(_, of)| of.retain(|other| other != span));
            out.push(row(*span, *kind, Vec::new(), spans));
            continue;
        }
        let mut orders: Vec<OrderedSites> =
            ordered.iter().filter(|(_, of)| of.contains(span)).map(|(sites, _)| *sites).collect();
        orders.sort();
        orders.dedup();
        let orders = orders.into_iter().map(|(first, then, next_iteration)| {
            let (first, then) = (&kernel.sites[first], &kernel.sites[then]);
            Ordered {
                object: kernel.base_name(first.place.base).to_string().into(),
                first_role: first.role,
                first_line: spans.line(first.span),
                then_role: then.role,
                then_line: spans.line(then.span),
                next_iteration,
            }
        });
        // Sites that one access is split into are one.
        let mut rows: Vec<Ordered> = Vec::new();
        for row in orders {
            if !rows.contains(&row) {
                rows.push(row);
            }
        }
        out.push(row(*span, *kind, rows, spans));
    }
    out.reverse();
    out
}

fn row(span: SpanId, kind: BarrierKind, orders: Vec<Ordered>, spans: &SpanTable) -> BarrierReport {
    let calls = spans.calls(span).join(", ").into();
    BarrierReport { line: spans.line(span), kind, calls, orders: orders.into() }
}

/// The barriers of a block and of what is in it.
fn barriers_in(kernel: &Kernel, block: &[Stmt], out: &mut Vec<(SpanId, BarrierKind)>) {
    for stmt in block {
        match stmt {
            Stmt::Sync(sync, span) => match sync.object {
                SyncObject::BlockBarrier => out.push((*span, BarrierKind::SyncThreads)),
                SyncObject::Warp => out.push((*span, BarrierKind::SyncWarp)),
                SyncObject::CopyGroup => match sync.action {
                    crate::ir::SyncAction::Wait { .. } => out.push((*span, BarrierKind::Wait)),
                    crate::ir::SyncAction::Arrive | crate::ir::SyncAction::ArriveAndWait => {}
                },
            },
            Stmt::Collective(collective) => match collective.op {
                CollectiveOp::BlockCount | CollectiveOp::BlockAny | CollectiveOp::BlockAll => {
                    out.push((collective.span, BarrierKind::SyncThreadsVote));
                }
                CollectiveOp::Shuffle(_)
                | CollectiveOp::MatrixProduct(_)
                | CollectiveOp::Any
                | CollectiveOp::All
                | CollectiveOp::Ballot
                | CollectiveOp::MatchAny => {}
            },
            Stmt::Assign { .. }
            | Stmt::Fill { .. }
            | Stmt::AssignElement { .. }
            | Stmt::AssignLane { .. }
            | Stmt::Load { .. }
            | Stmt::LoadMatrices { .. }
            | Stmt::LoadUnaligned(_)
            | Stmt::Store { .. }
            | Stmt::Copy(_)
            | Stmt::Atomic(_)
            | Stmt::If { .. }
            | Stmt::For(_)
            | Stmt::While { .. } => {}
        }
        for inner in stmt.blocks(kernel) {
            barriers_in(kernel, inner, out);
        }
    }
}
