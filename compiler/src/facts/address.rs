//! From an index to a place in memory.

use super::Visit;
use super::lanes::Lanes;
use super::linear::{Linear, SymbolId};
use super::prove::gcd;
use super::symbol::{SymbolKind, Symbols};
use crate::ir::{Handle, Kernel, Layout, Param, ParamKind, Scope, Tile};

/// Why the place of an access relative to its neighbours in the warp is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// It depends on a symbol that may differ between the lanes.
    Varying(SymbolId),
    /// It depends on a uniform symbol modulo a number.
    Residue(SymbolId, i64),
    /// The numbers are too large.
    Overflow,
}

/// The element offset of an access in its tile under a layout, for each thread, up to what moves all threads alike and
/// makes no conflict: a distance that is a multiple of 4 bytes and of what the layout's swizzle looks at, or one XOR.
pub fn tile_offset(
    tile: &Tile,
    layout: Layout,
    visit: &Visit,
    symbols: &Symbols,
) -> Result<Vec<u32>, Obstacle> {
    let threads = threads_of(visit);
    let mut stride = 1i64;
    let mut constants: Vec<Lanes> = Vec::with_capacity(visit.index.len());
    // Symbols that are not known to leave a swizzle as it is: the number that each moves an offset by, and its divisor
    // in common with the period.
    let mut open: Vec<(SymbolId, i64, i64)> = Vec::new();
    for (place, form) in visit.index.iter().enumerate().rev() {
        let form = symbols.interior(form).ok_or(Obstacle::Overflow)?;
        let inside = visit.index.len() - 1 - place;
        let period = period(tile, layout, inside);
        for (symbol, coefficient) in &form.terms {
            if coefficient.scope().min(symbols.get(*symbol).scope) < Scope::Warp {
                return Err(Obstacle::Varying(*symbol));
            }
            let step = coefficient.map(|value| value.checked_mul(stride)).ok_or(Obstacle::Overflow)?;
            let divisor = step.gcd(period);
            if divisor != period {
                open.push((*symbol, step.gcd(0), divisor));
            }
        }
        constants.push(form.constant);
        let extent = i64::from(tile.extents[place]);
        let pitch =
            if place + 1 == visit.index.len() { i64::from(layout.pitch(extent as u32)) } else { extent };
        stride = stride.checked_mul(pitch).ok_or(Obstacle::Overflow)?;
    }
    constants.reverse();
    let mut index = vec![0u32; constants.len()];
    let mut offsets = vec![0u32; threads.max(1)];
    let mut most = 0;
    let mut thread = 0;
    while thread < offsets.len() {
        if threads == 0 || visit.mask.get(thread) {
            let mut place = 0;
            while place < constants.len() {
                let value = match &constants[place] {
                    Lanes::Uniform(value) => *value,
                    Lanes::Each(values) => values[thread],
                };
                // What was dropped is a multiple of the period, so a negative rest stands for a place further on.
                index[place] = value as u32;
                place += 1;
            }
            offsets[thread] = layout.offset(&tile.extents, &index);
            if !open.is_empty() {
                most = Layout::RowMajor.offset(&tile.extents, &index).max(most);
            }
        }
        thread += 1;
    }
    if let Some((symbol, _, divisor)) = open.first() {
        let common = open.iter().fold(0, |common, (_, step, _)| gcd(common, *step));
        let unmoved = match layout {
            // A swizzle is linear over XOR: what is in other bits than all else changes all places by one XOR, which
            // permutes words and banks.
            Layout::Swizzle { .. } => i64::from(most) < 1 << common.trailing_zeros().min(40),
            Layout::RowMajor | Layout::Pad(_) | Layout::Xor(_) => false,
        };
        if !unmoved {
            return Err(Obstacle::Residue(*symbol, period(tile, layout, 0) / divisor));
        }
    }
    Ok(offsets)
}

/// After how many elements a layout repeats as far as banks are concerned, for an index that has so many inside it.
fn period(tile: &Tile, layout: Layout, inside: usize) -> i64 {
    let word = i64::from(4 / tile.element.bytes().min(4));
    let row = i64::from(tile.extents.last().copied().unwrap_or(1));
    let period = match layout {
        Layout::RowMajor | Layout::Pad(_) => word,
        Layout::Xor(chunk) if inside < 2 => row * (row / i64::from(chunk.max(1))).max(1),
        Layout::Xor(_) => word,
        Layout::Swizzle { bits, base, shift } => 1i64 << (bits + base + shift.unsigned_abs()).min(40),
    };
    period.max(word)
}

/// The element offset of an access in its tensor, strides as symbols; `None` where numbers are too large or a stride is
/// not linear in the index.
pub fn tensor_offset(
    kernel: &Kernel,
    param: Handle<Param>,
    visit: &Visit,
    symbols: &Symbols,
) -> Option<Linear> {
    let ParamKind::Tensor { rank, .. } = kernel.params[param].kind else { return None };
    let mut offset = Linear::int(0);
    for (dimension, form) in visit.index.iter().enumerate() {
        let form = symbols.interior(form)?;
        if dimension as u32 + 1 == rank {
            offset = offset.add(&form)?;
            continue;
        }
        // Products of the index and the stride were made when the access was visited.
        let stride = symbols.find(&SymbolKind::Stride(param, dimension as u32))?;
        offset = offset.add(&symbols.product(&form, &symbols.resolved(stride))?)?;
    }
    Some(offset)
}

fn threads_of(visit: &Visit) -> usize {
    let lanes = visit.index.iter().find_map(|form| match &form.constant {
        Lanes::Each(values) => Some(values.len()),
        Lanes::Uniform(_) => None,
    });
    match (&visit.mask, lanes) {
        (super::Mask::Each(mask), _) => mask.len(),
        (super::Mask::Uniform(_), Some(threads)) => threads,
        (super::Mask::Uniform(_), None) => 0,
    }
}
