//! Is every vector access aligned to its width.

use super::words::{accesses, count};
use super::{LaunchCheck, Quantity, Visits, fix};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::facts::{Facts, Lanes, Linear, SymbolKind, Symbols, Visit};
use crate::ir::{Base, Handle, Kernel, Layout, Param, ParamKind, Part, Site, Tile};

/// What alignment takes.
#[derive(Debug, Default)]
pub(super) struct Aligned {
    /// What the launcher checks.
    pub(super) checks: Vec<LaunchCheck>,
    /// The bytes to which the tensor's first element must be aligned.
    pub(super) base: Option<u32>,
    /// Whether the access is not aligned.
    pub(super) bad: bool,
}

/// Judges one access. A misaligned one to a tensor is reported here, those to a tile together by [`report`].
pub(super) fn check(
    kernel: &Kernel,
    handle: Handle<Site>,
    visits: &Visits<'_>,
    diagnostics: &mut Diagnostics,
) -> Aligned {
    let site = &kernel.sites[handle];
    let mut aligned = Aligned::default();
    match site.place.part {
        Part::Exact if site.place.width == 1 => return aligned,
        Part::Exact => {}
        // Aligned by what they are, wherever the elements begin.
        Part::First | Part::Last => return aligned,
    }
    match site.place.base {
        Base::Tile(tile) => {
            aligned.bad = visits.iter().any(|(run, visit)| {
                !tile_access_aligned(
                    &kernel.tiles[tile],
                    kernel.tiles[tile].layout,
                    site.place.width,
                    visit,
                    &run.symbols,
                )
            });
        }
        Base::Tensor(param) => {
            let ParamKind::Tensor { rank, .. } = kernel.params[param].kind else { return aligned };
            for (run, visit) in visits {
                if aligned_wherever_it_begins(param, site.place.width, visit, &run.symbols) {
                    continue;
                }
                aligned.base = Some(kernel.lane_bytes(site));
                for (dimension, form) in visit.index.iter().enumerate() {
                    let innermost = dimension as u32 + 1 == rank;
                    if innermost {
                        if multiple_of(form, site.place.width, visit, &run.symbols) {
                            continue;
                        }
                        match multiple_at_launch(form, site.place.width, visit, &run.symbols) {
                            Some(check) => aligned.checks.push(check),
                            None => {
                                diagnostics.report(innermost_error(kernel, handle, diagnostics));
                                aligned.bad = true;
                                return aligned;
                            }
                        }
                    } else if !multiple_of(form, site.place.width, visit, &run.symbols) {
                        let stride = run.symbols.find(&SymbolKind::Stride(param, dimension as u32));
                        let stride = stride.map(|stride| run.symbols.resolved(stride));
                        let width = site.place.width;
                        if stride.as_ref().is_some_and(|stride| never_multiple_of(stride, width)) {
                            diagnostics.report(stride_error(kernel, handle, param, dimension as u32));
                            aligned.bad = true;
                            return aligned;
                        }
                        let proven =
                            stride.is_some_and(|stride| multiple_of(&stride, width, visit, &run.symbols));
                        if !proven {
                            aligned.checks.push(LaunchCheck::StrideMultiple {
                                param,
                                dimension: dimension as u32,
                                multiple: site.place.width,
                            });
                        }
                    }
                }
            }
        }
    }
    aligned.checks.sort();
    aligned.checks.dedup();
    aligned
}

/// Whether an access is aligned whatever the tensor's first address and its strides are: the kernel asked for its
/// misalignment, and the index takes both back.
fn aligned_wherever_it_begins(param: Handle<Param>, width: u32, visit: &Visit, symbols: &Symbols) -> bool {
    let place = || {
        let mut of_index = visit.index.iter().flat_map(|form| &form.terms).map(|(symbol, _)| *symbol);
        let misalignment = of_index.find(|symbol| {
            let kind = &symbols.get(*symbol).kind;
            matches!(kind, SymbolKind::Misalignment(of, elements) if *of == param && elements.is_multiple_of(width))
        })?;
        let mut place = Linear::symbol(misalignment);
        for (dimension, form) in visit.index.iter().enumerate() {
            let innermost = dimension + 1 == visit.index.len();
            place = match symbols.find(&SymbolKind::Stride(param, dimension as u32)) {
                _ if innermost => place.add(form)?,
                Some(stride) => place.add(&symbols.product(form, &symbols.resolved(stride))?)?,
                None => return None,
            };
        }
        Some(place)
    };
    place().is_some_and(|place| multiple_of(&place, width, visit, symbols))
}

/// Whether a form is a multiple of a number for every thread that can be there, whichever of its values a symbol has.
pub(super) fn multiple_of(form: &Linear, number: u32, visit: &Visit, symbols: &Symbols) -> bool {
    let number = i64::from(number);
    let divides = |lanes: &Lanes| {
        let Some(rest) = lanes.map(|value| Some(value.rem_euclid(number))) else { return false };
        rest.max(&visit.mask).is_none_or(|most| most == 0)
    };
    by_cases(form, symbols, CASES, &|form| {
        divides(&form.constant) && form.terms.iter().all(|(_, coefficient)| divides(coefficient))
    })
}

/// The condition under which a form is a multiple of a number, where the launcher knows all that decides it: nothing that
/// differs from block to block, thread to thread or iteration to iteration.
fn multiple_at_launch(form: &Linear, number: u32, visit: &Visit, symbols: &Symbols) -> Option<LaunchCheck> {
    let rest = |lanes: &Lanes| {
        let rests = lanes.map(|value| Some(value.rem_euclid(i64::from(number))))?;
        let (least, _) = rests.min(&visit.mask)?;
        (rests.max(&visit.mask)? == least).then_some(least)
    };
    let mut terms = Vec::new();
    for (symbol, coefficient) in &form.terms {
        match rest(coefficient)? {
            0 => {}
            factor => terms.push((Quantity::of(&symbols.get(*symbol).kind)?, factor)),
        }
    }
    terms.sort();
    let constant = rest(&form.constant)?;
    (!terms.is_empty()).then_some(LaunchCheck::Multiple { terms, constant, multiple: number })
}

/// Whether a uniform form is certainly no multiple of a number.
fn never_multiple_of(form: &Linear, number: u32) -> bool {
    let rest = |lanes: &Lanes| lanes.uniform().map(|value| value.rem_euclid(i64::from(number)));
    rest(&form.constant).is_some_and(|rest| rest != 0)
        && form.terms.iter().all(|(_, coefficient)| rest(coefficient) == Some(0))
}

/// How many symbols that are one of several values are taken apart at most.
const CASES: u32 = 3;

/// Whether something holds of a form as it is, or for each value of one of its symbols.
fn by_cases(form: &Linear, symbols: &Symbols, depth: u32, holds: &dyn Fn(&Linear) -> bool) -> bool {
    holds(form)
        || depth > 0
            && form.terms.iter().any(|(symbol, _)| {
                let cases = &symbols.get(*symbol).cases;
                !cases.is_empty()
                    && cases.iter().all(|case| {
                        let form = form.substitute(*symbol, &case.value);
                        form.is_some_and(|form| by_cases(&form, symbols, depth - 1, holds))
                    })
            })
}

/// Whether an access of `width` elements to a tile is contiguous and aligned under a layout.
pub(super) fn tile_access_aligned(
    tile: &Tile,
    layout: Layout,
    width: u32,
    visit: &Visit,
    symbols: &Symbols,
) -> bool {
    let together = match layout {
        Layout::RowMajor | Layout::Pad(_) => true,
        Layout::Xor(chunk) => chunk % width == 0,
        Layout::Swizzle { bits, base, .. } => bits == 0 || (1u32 << base.min(31)).is_multiple_of(width),
    };
    if !together {
        return false;
    }
    let mut stride = 1i64;
    let mut offset = Linear::int(0);
    for (place, form) in visit.index.iter().enumerate().rev() {
        let Some(next) = offset.add_scaled(form, &Lanes::Uniform(stride)) else { return false };
        offset = next;
        let extent = tile.extents[place];
        stride *= i64::from(if place + 1 == visit.index.len() { layout.pitch(extent) } else { extent });
    }
    multiple_of(&offset, width, visit, symbols)
}

/// Reports the misaligned accesses to tiles: the cause is the tile's layout, so one error a tile and width.
pub(super) fn report(kernel: &Kernel, facts: &Facts, bad: &[Handle<Site>], diagnostics: &mut Diagnostics) {
    let mut seen: Vec<(Handle<Tile>, u32)> = Vec::new();
    for handle in bad {
        let site = &kernel.sites[*handle];
        let Base::Tile(tile) = site.place.base else { continue };
        let key = (tile, site.place.width);
        if seen.contains(&key) {
            continue;
        }
        seen.push(key);
        let likewise: Vec<Handle<Site>> = bad
            .iter()
            .copied()
            .filter(|other| other != handle)
            .filter(|other| {
                let other = &kernel.sites[*other];
                (other.place.base, other.place.width) == (site.place.base, site.place.width)
            })
            .collect();
        let error = tile_error(kernel, *handle, &kernel.tiles[tile], &likewise, diagnostics);
        let fixes = fix::misalignment(kernel, facts, tile, diagnostics);
        diagnostics.report(fixes.into_iter().fold(error, Diagnostic::help));
    }
}

fn tile_error(
    kernel: &Kernel,
    handle: Handle<Site>,
    shape: &Tile,
    likewise: &[Handle<Site>],
    diagnostics: &Diagnostics,
) -> Diagnostic {
    let site = &kernel.sites[handle];
    let bytes = kernel.lane_bytes(site);
    let row = shape.extents.last().copied().unwrap_or(1);
    let pitch = shape.layout.pitch(row) * shape.element.bytes();
    let mut error = Diagnostic::new(
        Code::Misaligned,
        site.span,
        format!(
            "misaligned vector access: {bytes} bytes a lane, at places in `{}` that are not multiples of {bytes}",
            shape.name
        ),
    );
    error = match shape.layout {
        Layout::RowMajor | Layout::Pad(_) if !pitch.is_multiple_of(bytes) => error.note(format!(
            "a row of `{}` takes {}, which is no multiple of {bytes}",
            shape.rust(shape.layout),
            count(pitch, "byte")
        )),
        Layout::RowMajor | Layout::Pad(_) => error
            .note(format!("the column must be a multiple of {} elements for every thread", site.place.width)),
        Layout::Xor(_) | Layout::Swizzle { .. } => error.note(format!(
            "`{}` moves pieces smaller than the vector, or the column is no multiple of {}",
            shape.layout.rust(),
            site.place.width
        )),
    };
    match likewise {
        [] => error,
        likewise => error.note(format!("likewise {}", accesses(kernel, likewise, &diagnostics.spans))),
    }
}

/// A contract under which no row but the first is aligned.
fn stride_error(kernel: &Kernel, handle: Handle<Site>, param: Handle<Param>, dimension: u32) -> Diagnostic {
    let site = &kernel.sites[handle];
    let (width, stride) = (site.place.width, kernel.stride_name(param, dimension));
    Diagnostic::new(
        Code::Misaligned,
        site.span,
        format!(
            "misaligned vector access: {} bytes a lane, and `{stride}` is never a multiple of {width}",
            kernel.lane_bytes(site)
        ),
    )
    .note(format!("by the contract of `{}`, neighbours are no whole number of vectors apart", kernel.name))
    .help(format!("promise `{stride} % {width} == 0` instead, or read narrower vectors"))
}

fn innermost_error(kernel: &Kernel, handle: Handle<Site>, diagnostics: &Diagnostics) -> Diagnostic {
    let site = &kernel.sites[handle];
    let width = site.place.width;
    let bytes = kernel.lane_bytes(site);
    let last =
        site.place.index.last().map(|index| diagnostics.spans.get(kernel.exprs[*index].span).text.clone());
    let last = last.unwrap_or_default();
    Diagnostic::new(
        Code::Misaligned,
        site.span,
        format!("misaligned vector access: {bytes} bytes a lane, at an innermost index `{last}` that is not always a multiple of {width}"),
    )
    .note(format!("a vector of {width} elements starts at a multiple of {bytes} bytes"))
    .help(format!("make it one, as `{width} * thread_x()` is; for an extent, promise it: `requires(….is_multiple_of({width}))`"))
}
