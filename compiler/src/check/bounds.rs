//! Is every index inside its tile or tensor.

use super::Visits;
use super::alignment::multiple_of;
use super::residual;
use super::together::{self, Finding};
use super::trust::{Needed, trusts};
use super::words::{and, thread, verb};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::facts::{Lanes, Linear, Run, SymbolKind, Visit, lower_bound, non_negative};
use crate::ir::{Base, Claim, Expr, ExprKind, Handle, Kernel, ParamKind, Scalar, Site, Type};
use tileproof_model::report::Verdict;

/// An access that is not proven to stay inside; the cause is what would have to be non-negative, where a guard can mend
/// it.
pub(super) type Violation = Finding<Vec<Linear>>;

/// The first execution of an access that may leave its tile or tensor: one cause, whatever the others do. What leaves it for
/// certain is never trusted.
pub(super) fn judge(
    kernel: &Kernel,
    handle: Handle<Site>,
    visits: &Visits<'_>,
    needed: &mut Needed,
    diagnostics: &Diagnostics,
) -> Result<Verdict, Violation> {
    let mut verdict = Verdict::Proven;
    for (run, visit) in visits {
        let rank = visit.index.len();
        let open: Vec<Open> =
            (0..rank).filter_map(|dimension| open(kernel, handle, run, visit, dimension)).collect();
        let certain = open.iter().find_map(|open| Some((open, violation(open.above.as_ref()?, visit)?)));
        if let Some((open, at)) = certain {
            return Err(outside(kernel, handle, visit, open, at, diagnostics));
        }
        if open.is_empty() {
            continue;
        }
        match trusts(kernel, handle, Claim::Bounds, needed) {
            Some(trust) => verdict = Verdict::Trusted(trust.because.clone().into()),
            None => return Err(unguarded(kernel, handle, run, visit, open, diagnostics)),
        }
    }
    Ok(verdict)
}

/// Reports the accesses; those that one guard would mend, together.
pub(super) fn report(kernel: &Kernel, mut violations: Vec<Violation>, diagnostics: &mut Diagnostics) {
    violations.sort_by_key(|violation| {
        let start = diagnostics.spans.get(kernel.sites[violation.site].span).start.start();
        (start.line, start.column)
    });
    together::report(kernel, violations, diagnostics);
}

/// An index of which nothing says that it stays below its extent.
struct Open {
    dimension: usize,
    /// Room above: extent − width − index.
    above: Option<Linear>,
}

/// How many elements of a dimension an access takes.
fn width(kernel: &Kernel, handle: Handle<Site>, dimension: usize) -> i64 {
    let place = &kernel.sites[handle].place;
    if dimension + 1 == place.index.len() { i64::from(place.width) } else { 1 }
}

fn holds(form: &Linear, run: &Run, visit: &Visit) -> bool {
    lower_bound(form, &visit.mask, &run.symbols).is_some_and(|bound| bound >= 0)
        || non_negative(form, &visit.facts, &visit.mask, &run.symbols)
}

fn open(kernel: &Kernel, handle: Handle<Site>, run: &Run, visit: &Visit, dimension: usize) -> Option<Open> {
    let index = &visit.index[dimension];
    let extent = extent(kernel, run, kernel.sites[handle].place.base, dimension);
    let above =
        extent.as_ref().and_then(|extent| extent.offset(-width(kernel, handle, dimension))?.sub(index));
    let inside = holds(index, run, visit) && above.as_ref().is_some_and(|above| holds(above, run, visit));
    (!inside).then_some(Open { dimension, above })
}

/// The last index that an access takes, as source text.
fn reach(kernel: &Kernel, handle: Handle<Site>, dimension: usize, diagnostics: &Diagnostics) -> String {
    let index = kernel.sites[handle].place.index[dimension];
    let text = &diagnostics.spans.get(kernel.exprs[index].span).text;
    // What `+` or `<` would take apart, or take for something else.
    let loose = [" as ", " & ", " | ", " ^ ", " << ", " >> ", "{"].iter().any(|op| text.contains(op));
    let text = if loose { format!("({text})") } else { text.clone() };
    match width(kernel, handle, dimension) - 1 {
        0 => text,
        more => format!("{text} + {more}"),
    }
}

fn code(base: Base) -> Code {
    match base {
        Base::Tile(_) => Code::TileBounds,
        Base::Tensor(_) => Code::TensorBounds,
    }
}

/// How a user spells an extent.
fn limit(kernel: &Kernel, base: Base, dimension: usize) -> String {
    match base {
        Base::Tile(tile) => kernel.tiles[tile].extents[dimension].to_string(),
        Base::Tensor(param) => kernel.extent_name(param, dimension as u32),
    }
}

/// An access that certainly leaves its tile, by a thread that does it.
fn outside(
    kernel: &Kernel,
    handle: Handle<Site>,
    visit: &Visit,
    open: &Open,
    at: usize,
    diagnostics: &Diagnostics,
) -> Violation {
    let site = &kernel.sites[handle];
    let (base, dimension) = (site.place.base, open.dimension);
    let reach = reach(kernel, handle, dimension, diagnostics);
    let at_thread = |form: &Linear| form.known().map_or(0, |lanes| i128::from(lanes.get(at)));
    let value = at_thread(&visit.index[dimension]) + i128::from(width(kernel, handle, dimension)) - 1;
    let last = open.above.as_ref().map_or(0, at_thread) + value;
    let message = format!(
        "index out of bounds: `{reach}` is {value}, and the last index of `{}` there is {last}",
        kernel.base_name(base)
    );
    let error = Diagnostic::new(code(base), site.span, message).note(format!(
        "{} {}s it",
        thread(kernel, at),
        verb(site.role)
    ));
    Finding { site: handle, cause: None, error }
}

/// An access that nothing keeps inside.
fn unguarded(
    kernel: &Kernel,
    handle: Handle<Site>,
    run: &Run,
    visit: &Visit,
    open: Vec<Open>,
    diagnostics: &Diagnostics,
) -> Violation {
    let site = &kernel.sites[handle];
    let base = site.place.base;
    let conditions: Vec<(String, String)> = open
        .iter()
        .map(|open| (reach(kernel, handle, open.dimension, diagnostics), limit(kernel, base, open.dimension)))
        .collect();
    let quoted: Vec<String> =
        conditions.iter().map(|(reach, limit)| format!("`{reach} < {limit}`")).collect();
    let message = format!("index may be out of bounds: nothing here says that {}", and(&quoted));
    let mut error = Diagnostic::new(code(base), site.span, message);
    let mut limits = Vec::new();
    for (open, (reach, limit)) in open.iter().zip(&conditions) {
        let index = &visit.index[open.dimension];
        let mut terms = index.terms.iter().map(|(symbol, _)| &run.symbols.get(*symbol).kind);
        let known = open
            .above
            .as_ref()
            .and_then(|above| residual::known(above, (reach, limit), |form| holds(form, run, visit)));
        if let Some(known) = known {
            error = error.note(format!("`{known}` is known, and `{reach} < {limit}` is needed"));
        } else if let Some(wrap) = residual::wrap(run, index) {
            let (note, help) = residual::widened(kernel, wrap, diagnostics);
            error = help.into_iter().fold(error.note(note), |error, help| error.help(help));
        } else if is_opaque(run, index) {
            error = error
                .note(format!("`{reach}` depends on a value from memory or on arithmetic that may wrap"));
        } else if terms.any(|kind| matches!(kind, SymbolKind::Block(_))) {
            limits.push(format!("`{limit}`"));
        }
    }
    let promises: Option<Vec<(String, String)>> =
        open.iter().map(|open| other_bound(kernel, handle, run, visit, open.dimension)).collect();
    error = match promises {
        Some(promises) if matches!(base, Base::Tensor(_)) => {
            for ((reach, limit), (other, _)) in conditions.iter().zip(&promises) {
                error = error.note(format!(
                    "`{reach} < {other}` is known, and nothing says how `{other}` and `{limit}` compare"
                ));
            }
            let promises: Vec<String> = promises.into_iter().map(|(_, promise)| promise).collect();
            error.help(format!("promise it: `requires({})`", promises.join(", ")))
        }
        _ => {
            if matches!(base, Base::Tensor(_)) && !limits.is_empty() {
                let or = limits.join(" or ");
                error = error.note(format!("the last blocks of the grid may reach beyond {or}"));
            }
            if let [open] = open.as_slice()
                && let Some(promise) = whole_vectors(kernel, handle, run, visit, open.dimension)
            {
                error = error.help(format!("promise whole vectors: `requires({promise})`"));
            }
            let guard: Vec<String> =
                conditions.iter().map(|(reach, limit)| format!("{reach} < {limit}")).collect();
            let guard = guard.join(" && ");
            let wraps = |open: &&Open| {
                let index = &visit.index[open.dimension];
                is_opaque(run, index) && computes(kernel, site.place.index[open.dimension])
            };
            error.help(match open.iter().find(wraps) {
                // Computed again, it would be another unknown value.
                Some(open) => {
                    let index = kernel.exprs[site.place.index[open.dimension]].span;
                    let text = &diagnostics.spans.get(index).text;
                    let guard = guard.replacen(text, "index", 1);
                    format!("give it a name, and guard that: `let index = {text};`, `if {guard} {{ … }}`")
                }
                None => format!("guard it: `if {guard} {{ … }}`, or promise what bounds it in `requires(…)`"),
            })
        }
    };
    let cause = open.into_iter().map(|open| open.above).collect();
    Finding { site: handle, cause, error }
}

/// Whether a value of which only the range is known is part of it.
fn is_opaque(run: &Run, form: &Linear) -> bool {
    form.terms.iter().any(|(symbol, _)| matches!(run.symbols.get(*symbol).kind, SymbolKind::Opaque(_)))
}

/// Whether the expression itself computes something that may wrap, other than with variables that hold such values.
fn computes(kernel: &Kernel, handle: Handle<Expr>) -> bool {
    let expr = &kernel.exprs[handle];
    let is_index = matches!(expr.ty, Type::Scalar(Scalar::Usize | Scalar::Isize));
    matches!(expr.kind, ExprKind::Call(..))
        || matches!(expr.kind, ExprKind::Binary(..)) && !is_index
        || expr.kind.operands().into_iter().any(|operand| computes(kernel, operand))
}

/// The promise that helps a vector whose first element is inside: of multiples of its width, the smaller is smaller by
/// the whole width.
fn whole_vectors(
    kernel: &Kernel,
    handle: Handle<Site>,
    run: &Run,
    visit: &Visit,
    dimension: usize,
) -> Option<String> {
    let base = kernel.sites[handle].place.base;
    let width = width(kernel, handle, dimension);
    let index = &visit.index[dimension];
    let room = extent(kernel, run, base, dimension)?.offset(-1)?.sub(index)?;
    let helps = width > 1
        && matches!(base, Base::Tensor(_))
        && multiple_of(index, kernel.sites[handle].place.width, visit, &run.symbols)
        && holds(&room, run, visit);
    helps.then(|| format!("{}.is_multiple_of({width})", limit(kernel, base, dimension)))
}

/// What is known to bound an index although it is not the extent in question: its name, and the promise that would help.
fn other_bound(
    kernel: &Kernel,
    handle: Handle<Site>,
    run: &Run,
    visit: &Visit,
    dimension: usize,
) -> Option<(String, String)> {
    let limit = limit(kernel, kernel.sites[handle].place.base, dimension);
    let bounds = |kind: &SymbolKind| {
        let symbol = run.symbols.resolved(run.symbols.find(kind)?);
        let room = symbol.offset(-width(kernel, handle, dimension))?.sub(&visit.index[dimension])?;
        holds(&room, run, visit).then_some(())
    };
    kernel.params.iter().find_map(|(param, declared)| match declared.kind {
        ParamKind::Tensor { rank, .. } => (0..rank).find_map(|dimension| {
            bounds(&SymbolKind::Extent(param, dimension))?;
            let other = kernel.extent_name(param, dimension);
            let promise = format!("{limit} >= {other}");
            Some((other, promise))
        }),
        ParamKind::Scalar(Scalar::Usize) => {
            bounds(&SymbolKind::Scalar(param))?;
            Some((declared.name.clone(), format!("{limit} >= {}", declared.name)))
        }
        ParamKind::Scalar(_) => None,
    })
}

fn extent(kernel: &Kernel, run: &Run, base: Base, dimension: usize) -> Option<Linear> {
    match base {
        Base::Tile(tile) => Some(Linear::int(i64::from(kernel.tiles[tile].extents[dimension]))),
        Base::Tensor(param) => {
            let symbol = run.symbols.find(&SymbolKind::Extent(param, dimension as u32))?;
            Some(run.symbols.resolved(symbol))
        }
    }
}

/// A thread for which a known form is negative.
fn violation(room: &Linear, visit: &Visit) -> Option<usize> {
    let lanes: &Lanes = room.known()?;
    lanes.min(&visit.mask).filter(|(least, _)| *least < 0).map(|(_, at)| at)
}
