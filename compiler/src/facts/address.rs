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

/// How many places relative to a word, or to what a swizzle looks at, are taken one by one where what is unknown decides.
const MOST_MOVES: i64 = 32;

/// Where the threads of an access are in its tile.
#[derive(Debug)]
pub struct Offsets {
    /// The element offsets under a layout, for each thread, or one where it is the same for all; up to what moves all threads
    /// of a warp alike and makes no conflict: a distance that is a multiple of 4 bytes and of what the layout's swizzle looks
    /// at, or one XOR. Where something unknown moves a warp by other distances, the offsets for each of these.
    pub cases: Vec<Vec<u32>>,
    /// What decides between the cases.
    pub decides: Option<Obstacle>,
}

/// The offsets of an access in its tile.
pub fn tile_offsets(
    tile: &Tile,
    layout: Layout,
    visit: &Visit,
    symbols: &Symbols,
) -> Result<Offsets, Obstacle> {
    let Known { index, moves } = known_part(tile, layout, visit, symbols)?;
    let Some(Moves { symbol, modulus, step, period }) = moves else {
        return Ok(Offsets { cases: vec![offsets(tile, layout, &index, 0)?], decides: None });
    };
    let obstacle = Obstacle::Residue(symbol, modulus);
    if modulus > MOST_MOVES || matches!(layout, Layout::Xor(_)) {
        return Err(obstacle);
    }
    let moved = (0..period).step_by(step.max(1) as usize);
    let cases = moved.map(|by| offsets(tile, layout, &index, by)).collect::<Result<_, _>>()?;
    Ok(Offsets { cases, decides: Some(obstacle) })
}

/// The offsets of known indices, moved by so many elements.
fn offsets(tile: &Tile, layout: Layout, index: &[Lanes], by: i64) -> Result<Vec<u32>, Obstacle> {
    let offsets = match layout {
        Layout::RowMajor | Layout::Pad(_) | Layout::Swizzle { .. } => {
            let linear = linear_index(tile, layout, index).ok_or(Obstacle::Overflow)?;
            // What was dropped is a multiple of the period, so a negative rest stands for a place further on.
            each(&linear, |linear| layout.place((linear + by) as u32))
        }
        Layout::Xor(_) => {
            // The row in its stage and the column are mixed; the stage is added to that.
            let mut stage = index.to_vec();
            let (Some(column), row) = (stage.pop(), stage.pop().unwrap_or(Lanes::Uniform(0))) else {
                return Err(Obstacle::Overflow);
            };
            stage.extend([0, 0].map(Lanes::Uniform).into_iter().take(index.len()));
            let extents = [tile.extents.iter().rev().nth(1).copied().unwrap_or(1), row_extent(tile)];
            let mixed = row.zip(&column, |row, column| {
                Some(i64::from(layout.offset(&extents, &[row as u32, column as u32])))
            });
            let stage = linear_index(tile, layout, &stage);
            let sum = mixed.and_then(|mixed| mixed.add(&stage?)).ok_or(Obstacle::Overflow)?;
            each(&sum, |offset| offset as u32)
        }
    };
    Ok(offsets)
}

/// What [`tile_offsets`] would have to take one by one, or why it knows nothing.
pub(super) fn tile_obstacle(
    tile: &Tile,
    layout: Layout,
    visit: &Visit,
    symbols: &Symbols,
) -> Option<Obstacle> {
    match known_part(tile, layout, visit, symbols) {
        Ok(known) => known.moves.map(|moves| Obstacle::Residue(moves.symbol, moves.modulus)),
        Err(obstacle) => Some(obstacle),
    }
}

/// What is known of an index.
struct Known {
    /// The index without the symbols.
    index: Vec<Lanes>,
    /// How the symbols move it, if that matters.
    moves: Option<Moves>,
}

/// The distances by which symbols move all threads of a warp alike.
struct Moves {
    /// One of the symbols, and modulo what it decides.
    symbol: SymbolId,
    modulus: i64,
    /// The distances are multiples of this number of elements,
    step: i64,
    /// and those that differ by a multiple of this one are the same for banks.
    period: i64,
}

/// Fails where symbols may move the threads of a warp differently.
fn known_part(tile: &Tile, layout: Layout, visit: &Visit, symbols: &Symbols) -> Result<Known, Obstacle> {
    let mut stride = 1i64;
    let mut constants: Vec<Lanes> = Vec::with_capacity(visit.index.len());
    // Symbols that are not known to leave a swizzle as it is: the number that each moves an offset by, and its divisor
    // in common with the period.
    let mut open: Vec<(SymbolId, i64, i64)> = Vec::new();
    for (place, form) in visit.index.iter().enumerate().rev() {
        let form = symbols.interior(form).ok_or(Obstacle::Overflow)?;
        let inside = visit.index.len() - 1 - place;
        for (symbol, coefficient) in &form.terms {
            if coefficient.scope().min(symbols.get(*symbol).scope) < Scope::Warp {
                return Err(Obstacle::Varying(*symbol));
            }
            let period = period(tile, layout, inside);
            let step = coefficient.map(|value| value.checked_mul(stride)).ok_or(Obstacle::Overflow)?;
            let divisor = step.gcd(period);
            if divisor != period {
                open.push((*symbol, step.gcd(0), divisor));
            }
        }
        constants.push(form.constant);
        stride = stride.checked_mul(distance(tile, layout, place)).ok_or(Obstacle::Overflow)?;
    }
    constants.reverse();
    let mut known = Known { index: constants, moves: None };
    let Some((symbol, _, divisor)) = open.first() else { return Ok(known) };
    let common = open.iter().fold(0, |common, (_, step, _)| gcd(common, *step));
    let unmoved = match layout {
        // A swizzle is linear over XOR: what is in other bits than all else changes all places by one XOR, which
        // permutes words and banks.
        Layout::Swizzle { .. } => linear_index(tile, Layout::RowMajor, &known.index)
            .and_then(|linear| linear.extremes(&visit.mask))
            .is_some_and(|(least, most)| least >= 0 && most < 1 << common.trailing_zeros().min(40)),
        Layout::RowMajor | Layout::Pad(_) | Layout::Xor(_) => false,
    };
    if !unmoved {
        let period = period(tile, layout, 0);
        let step = gcd(common, period);
        known.moves = Some(Moves { symbol: *symbol, modulus: period / divisor, step, period });
    }
    Ok(known)
}

/// How far apart, in neighbours of the next inner extent, neighbours in an extent are.
fn distance(tile: &Tile, layout: Layout, place: usize) -> i64 {
    let extent = tile.extents[place];
    i64::from(if place + 1 == tile.extents.len() { layout.pitch(extent) } else { extent })
}

fn row_extent(tile: &Tile) -> u32 {
    tile.extents.last().copied().unwrap_or(1)
}

/// The number of an element, or, of fewer indices than extents, of a row.
fn linear_index(tile: &Tile, layout: Layout, index: &[Lanes]) -> Option<Lanes> {
    let mut linear = Lanes::Uniform(0);
    for (place, index) in index.iter().enumerate() {
        linear = linear.multiply(&Lanes::Uniform(distance(tile, layout, place)))?.add(index)?;
    }
    Some(linear)
}

/// Applies a function to each number, or to one that all threads share.
fn each(lanes: &Lanes, apply: impl Fn(i64) -> u32) -> Vec<u32> {
    match lanes {
        Lanes::Uniform(value) => vec![apply(*value)],
        Lanes::Each(values) => {
            let values: &[i64] = values;
            let mut out = vec![0; values.len()];
            let results: &mut [u32] = &mut out;
            let mut i = 0;
            while i < results.len() {
                results[i] = apply(values[i]);
                i += 1;
            }
            out
        }
    }
}

/// After how many elements a layout repeats as far as banks are concerned, for an index that has so many inside it.
fn period(tile: &Tile, layout: Layout, inside: usize) -> i64 {
    let word = i64::from(4 / tile.element.bytes().min(4));
    let row = i64::from(row_extent(tile));
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
