//! From an index to a place in memory.

use super::Visit;
use super::lanes::Lanes;
use super::linear::{Linear, SymbolId};
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

/// The element offset of an access in its tile under a layout, for each thread, up to a uniform distance that changes
/// no bank: a multiple of 4 bytes, and of what the layout's swizzle looks at.
pub fn tile_offset(
    tile: &Tile,
    layout: Layout,
    visit: &Visit,
    symbols: &Symbols,
) -> Result<Vec<u32>, Obstacle> {
    let threads = threads_of(visit);
    let period = period(tile, layout);
    let mut stride = 1i64;
    let mut constants: Vec<Lanes> = Vec::with_capacity(visit.index.len());
    for (place, form) in visit.index.iter().enumerate().rev() {
        let form = symbols.interior(form).ok_or(Obstacle::Overflow)?;
        for (symbol, coefficient) in &form.terms {
            if coefficient.scope().min(symbols.get(*symbol).scope) < Scope::Warp {
                return Err(Obstacle::Varying(*symbol));
            }
            let step = coefficient.map(|value| value.checked_mul(stride)).ok_or(Obstacle::Overflow)?;
            let divisor = step.gcd(period);
            if divisor != period {
                return Err(Obstacle::Residue(*symbol, period / divisor));
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
        }
        thread += 1;
    }
    Ok(offsets)
}

/// After how many elements a layout repeats as far as banks are concerned.
fn period(tile: &Tile, layout: Layout) -> i64 {
    let word = i64::from(4 / tile.element.bytes().min(4));
    let row = i64::from(tile.extents.last().copied().unwrap_or(1));
    let period = match layout {
        Layout::RowMajor | Layout::Pad(_) => word,
        Layout::Xor(chunk) => row * (row / i64::from(chunk.max(1))).max(1),
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
