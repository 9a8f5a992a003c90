//! Is every index inside its tile or tensor.

use super::Visits;
use super::words::{thread, verb};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::facts::{Lanes, Linear, Run, SymbolKind, Visit, lower_bound, non_negative};
use crate::ir::{Base, Handle, Kernel, Site};

pub(super) fn check(
    kernel: &Kernel,
    handle: Handle<Site>,
    visits: &Visits<'_>,
    diagnostics: &mut Diagnostics,
) {
    for (run, visit) in visits {
        for dimension in 0..visit.index.len() {
            if let Some(error) = dimension_error(kernel, handle, run, visit, dimension, diagnostics) {
                diagnostics.report(error);
                // One root cause: the other visits and dimensions of a wrong access add nothing.
                return;
            }
        }
    }
}

fn dimension_error(
    kernel: &Kernel,
    handle: Handle<Site>,
    run: &Run,
    visit: &Visit,
    dimension: usize,
    diagnostics: &Diagnostics,
) -> Option<Diagnostic> {
    let site = &kernel.sites[handle];
    let index = &visit.index[dimension];
    let width = if dimension + 1 == visit.index.len() { site.place.width } else { 1 };
    let extent = extent(kernel, run, site.place.base, dimension);
    // Room above: extent − width − index.
    let above = extent.as_ref().and_then(|extent| extent.offset(-i64::from(width))?.sub(index));
    let holds = |form: &Linear| {
        lower_bound(form, &visit.mask, &run.symbols).is_some_and(|bound| bound >= 0)
            || non_negative(form, &visit.facts, &visit.mask, &run.symbols)
    };
    if holds(index) && above.as_ref().is_some_and(holds) {
        return None;
    }
    let name = kernel.base_name(site.place.base);
    let written =
        site.place.index.get(dimension).map(|index| &diagnostics.spans.get(kernel.exprs[*index].span).text);
    let written = written.map_or("the index", String::as_str);
    let (code, limit) = match site.place.base {
        Base::Tile(tile) => (Code::TileBounds, kernel.tiles[tile].extents[dimension].to_string()),
        Base::Tensor(param) => (Code::TensorBounds, kernel.extent_name(param, dimension as u32)),
    };
    let vector = width > 1;
    let reach = if vector { format!("{written} + {}", width - 1) } else { written.to_string() };
    let witness = above.as_ref().and_then(|above| violation(above, visit));
    Some(match witness {
        Some(at) => {
            let value = index.known().map_or(0, |lanes| lanes.get(at)) + i64::from(width) - 1;
            Diagnostic::new(
                code,
                site.span,
                format!("index out of bounds: `{reach}` is {value}, and `{name}` ends at {limit}"),
            )
            .note(format!("{} {}s it", thread(kernel, at), verb(site.role)))
        }
        None => {
            let mut error = Diagnostic::new(
                code,
                site.span,
                format!("index may be out of bounds: nothing here says that `{reach} < {limit}`"),
            );
            let opaque = index
                .terms
                .iter()
                .any(|(symbol, _)| matches!(run.symbols.get(*symbol).kind, SymbolKind::Opaque(_)));
            if opaque {
                error = error.note(format!(
                    "`{written}` depends on a value from memory or on arithmetic that may wrap"
                ));
            }
            if matches!(site.place.base, Base::Tensor(_)) {
                error = error.note(format!("the last block of the grid may reach beyond `{limit}`, and other arguments have other extents"));
            }
            error.help(format!(
                "guard it: `if {reach} < {limit} {{ … }}`, or promise what bounds it in `requires(…)`"
            ))
        }
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
