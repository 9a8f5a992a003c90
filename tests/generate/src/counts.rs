//! What the report says of accesses, against what a run counts.
//!
//! The report speaks of the first block with no edge cut, and of every path; so in a run of one block no access may count more.
//! Where no condition stands in the way, it must count as much.

use crate::print::lines;
use crate::tree::{Expr, Kernel, Kind, Position, Range, Stmt};
use crate::walk::{expressions, operands};
use std::collections::BTreeMap;
use tileproof_model::report::{Report, SiteCounts, SiteReport, Space};

/// The first count that the report does not explain, in words; of a run of several blocks none.
pub fn disagreement(kernel: &Kernel, report: &Report, counts: &[SiteCounts]) -> Option<String> {
    if kernel.grid() != [1; 3] {
        return None;
    }
    let plain = plain_lines(kernel);
    report.sites.iter().zip(counts).find_map(|(site, counts)| {
        let known = site.unknown.is_empty() && site.loop_line.is_none() && !site.edge && !site.asynchronous;
        if !known {
            return None;
        }
        let exact = plain.get(&(site.line as usize)).filter(|_| site.calls.is_empty());
        of_site(site, counts, exact.copied())
    })
}

/// `exact` says whether every thread executes it, and whether its indices are known. Elsewhere a `min` or a remainder in them may
/// be at its edge, which the report does not count.
fn of_site(site: &SiteReport, counts: &SiteCounts, exact: Option<bool>) -> Option<String> {
    let mut pairs = vec![("instructions", site.instructions, counts.instructions)];
    if exact == Some(true) {
        pairs.push(("bytes", site.useful_bytes, counts.useful_bytes));
        if site.space == Space::Shared {
            pairs.push(("wavefronts", site.wavefronts, counts.wavefronts));
            pairs.push(("wavefronts at best", site.ideal_wavefronts, counts.ideal_wavefronts));
        }
    }
    let wrong =
        pairs.into_iter().find(|(_, said, counted)| counted > said || exact.is_some() && counted != said);
    wrong.map(|(what, said, counted)| {
        let relation = if exact.is_some() { "exactly" } else { "at most" };
        format!(
            "line {}, `{}`: {counted} {what} in a run, and {relation} {said} by the report",
            site.line, site.access
        )
    })
}

/// The lines, counted from 1, of what every thread executes whatever it computes, and whether where it accesses memory follows from
/// its place in the block.
fn plain_lines(kernel: &Kernel) -> BTreeMap<usize, bool> {
    let mut plain = BTreeMap::new();
    let mut body = kernel.body.clone();
    for (stmt, line) in body.iter_mut().zip(lines(kernel)) {
        if returns(stmt) {
            break;
        }
        match stmt {
            Stmt::For { local, range: Range::Up { from, to, .. }, body, .. } => {
                let known = is_of_thread(from, None) && is_of_thread(to, None);
                if known && body.iter_mut().all(is_plain_statement) {
                    let lines = body.iter_mut().enumerate();
                    plain.extend(lines.map(|(place, stmt)| (line + 1 + place, is_known(stmt, Some(*local)))));
                }
            }
            other => {
                if is_plain_statement(other) {
                    plain.insert(line, is_known(other, None));
                }
            }
        }
    }
    plain
}

/// Whether the indices of all its accesses depend on nothing but the thread in its block and the counter of a loop.
fn is_known(stmt: &mut Stmt, counter: Option<usize>) -> bool {
    let stored = match stmt {
        Stmt::Store { access, .. } | Stmt::Write { access, .. } => {
            access.indices.iter_mut().all(|index| is_of_thread(index, counter))
        }
        _ => true,
    };
    stored && expressions(stmt).into_iter().all(|expr| loads_are_known(expr, counter))
}

fn loads_are_known(expr: &mut Expr, counter: Option<usize>) -> bool {
    let own = match &mut expr.kind {
        Kind::Load(access) | Kind::Read(access) => {
            access.indices.iter_mut().all(|index| is_of_thread(index, counter))
        }
        _ => true,
    };
    own && operands(expr).into_iter().all(|operand| loads_are_known(operand, counter))
}

fn is_of_thread(index: &mut Expr, counter: Option<usize>) -> bool {
    let own = match &index.kind {
        Kind::Literal(_) | Kind::Binary(..) => true,
        // The first variable of a kernel is the number of its thread.
        Kind::Local(local) => *local == 0 || counter == Some(*local),
        Kind::Position(position) => {
            matches!(position, Position::Thread(_) | Position::Lane | Position::Warp | Position::WarpCount)
        }
        _ => false,
    };
    own && operands(index).into_iter().all(|operand| is_of_thread(operand, counter))
}

/// Whether some threads may end here.
fn returns(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Return => true,
        Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).any(returns),
        _ => false,
    }
}

fn is_plain_statement(stmt: &mut Stmt) -> bool {
    let simple = matches!(
        stmt,
        Stmt::Let { .. } | Stmt::Assign { .. } | Stmt::Store { .. } | Stmt::Write { .. } | Stmt::SyncThreads
    );
    simple && expressions(stmt).into_iter().all(is_plain)
}

fn is_plain(expr: &mut Expr) -> bool {
    let conditional = matches!(
        expr.kind,
        Kind::If(..)
            | Kind::And(..)
            | Kind::Or(..)
            | Kind::Match(..)
            | Kind::GetOr(..)
            | Kind::ReadUnaligned(_)
            | Kind::Call(..)
            | Kind::Collective(..)
            | Kind::Block(..)
    );
    !conditional && operands(expr).into_iter().all(is_plain)
}
