//! Is every element of a tensor written, where the kernel claims it.
//!
//! This is no part of safety: a claim that cannot be shown is an error, and there is no trust in it.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::facts::Facts;
use crate::facts::cover::{Gap, covered};
use crate::ir::{Axis, Cover, ExprKind, Handle, Kernel, Param, ParamKind};

pub(super) fn check(kernel: &Kernel, facts: &Facts, diagnostics: &mut Diagnostics) {
    for cover in &kernel.covers {
        let gap = facts.runs.iter().find_map(|run| covered(kernel, run, cover.param).err());
        if let Some(gap) = gap {
            let error = describe(kernel, cover, &gap, diagnostics);
            diagnostics.report(error);
        }
    }
}

fn describe(kernel: &Kernel, cover: &Cover, gap: &Gap, diagnostics: &Diagnostics) -> Diagnostic {
    let name = &kernel.params[cover.param].name;
    let text = |span| diagnostics.spans.get(span).text.clone();
    let line = |span| diagnostics.spans.line(span);
    let stored = |site: Handle<_>| {
        let span = kernel.sites[site].span;
        format!("`{}` on line {}", text(span), line(span))
    };
    let error = |span, what: String| {
        let message = format!("elements of `{name}` may stay unwritten: {what}");
        Diagnostic::new(Code::Coverage, span, message)
    };
    match gap {
        Gap::NoStore => error(cover.span, "nothing stores to it".into())
            .note("an atomic update does not count: it needs an element that has a value"),
        Gap::Work => error(cover.span, "there are too many stores to follow them all".into())
            .help(format!("take `covers({name})` away")),
        Gap::Index { site, dimension } => error(
            kernel.sites[*site].span,
            format!("how {} runs over the tensor's {} is not understood", stored(*site), indices(kernel, cover.param, *dimension)),
        )
        .note("an index must be a sum of an offset of each thread, a multiple of the block's position, and multiples of loop counters, the larger ones whole multiples of all that the smaller ones reach")
        .help(format!("write the index so, or take `covers({name})` away")),
        Gap::Offset { site, offset, extents } => {
            let part: Vec<String> = extents.iter().map(ToString::to_string).collect();
            let place: Vec<String> = offset.iter().map(ToString::to_string).collect();
            error(
                kernel.sites[*site].span,
                format!("of every {} elements, the one at [{}] is stored by no thread", part.join(" × "), place.join(", ")),
            )
            .note(format!("{} is among the stores to `{name}`", stored(*site)))
        }
        Gap::Extent { dimension, reach } => {
            let extent = kernel.extent_name(cover.param, *dimension as u32);
            let what = indices(kernel, cover.param, *dimension);
            error(cover.span, format!("{what} from {reach} on are written by no thread"))
                .help(format!("go over them in a loop or by more blocks, or add `requires({extent} <= {reach})`"))
        }
        Gap::Condition { site, span, understood } => {
            let error = error(
                kernel.sites[*site].span,
                format!("a thread may pass over {}", stored(*site)),
            );
            match understood {
                true => error
                    .note(format!("that `{}` on line {} holds does not follow from the element being inside `{name}`", text(*span), line(*span)))
                    .help(format!("store in every case, or take `covers({name})` away")),
                false => error
                    .note(format!("whether a thread gets past line {} depends on what only the run of the kernel tells", line(*span)))
                    .help(format!("store in every case, or take `covers({name})` away")),
            }
        }
        Gap::Empty { axis } => {
            let span = kernel.exprs[kernel.grid[axis.index()]].span;
            error(span, format!("the grid may have no block along {} although `{name}` has elements", axis.name()))
                .help("use `div_ceil` where the grid divides, or demand at least one block by `requires(…)`")
        }
        Gap::Grid { axis, dimension, stride } => {
            let what = indices(kernel, cover.param, *dimension);
            let extent = kernel.extent_name(cover.param, *dimension as u32);
            let enough = match stride {
                1 => extent,
                stride => format!("{extent}.div_ceil({stride})"),
            };
            error(
                kernel.exprs[kernel.grid[axis.index()]].span,
                format!("{what} from {} on are written by no block", end(kernel, *axis, *stride, diagnostics)),
            )
            .note(format!("nothing says that there are none: each block along {} is responsible for {stride} of them", axis.name()))
            .help(format!("make the grid `{enough}` blocks in {}", axis.name()))
        }
    }
}

/// What the indices of a dimension are called.
fn indices(kernel: &Kernel, param: Handle<Param>, dimension: usize) -> String {
    let rank = match kernel.params[param].kind {
        ParamKind::Tensor { rank, .. } => rank,
        ParamKind::Scalar(_) => 0,
    };
    match (rank, dimension) {
        (1, _) => "elements".into(),
        (2, 0) => "rows".into(),
        (2, 1) => "columns".into(),
        (_, dimension) => format!("indices of dimension {dimension}"),
    }
}

/// The first index behind those that the blocks of the grid are responsible for.
fn end(kernel: &Kernel, axis: Axis, stride: i64, diagnostics: &Diagnostics) -> String {
    let blocks = &kernel.exprs[kernel.grid[axis.index()]];
    let known =
        if let ExprKind::Int(blocks) = blocks.kind { blocks.checked_mul(i128::from(stride)) } else { None };
    match (known, stride) {
        (Some(end), _) => end.to_string(),
        (None, 1) => format!("`{}`", diagnostics.spans.get(blocks.span).text),
        (None, stride) => format!("`{stride} * ({})`", diagnostics.spans.get(blocks.span).text),
    }
}
