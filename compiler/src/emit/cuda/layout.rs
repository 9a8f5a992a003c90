//! Layouts of tiles, as functions from an index to a byte offset.

use super::code::{Code, Level};
use crate::ir::{Layout, Tile};

/// The function, named `name`: the offset in bytes of the element at an index.
pub(super) fn function(tile: &Tile, name: &str) -> String {
    let rank = tile.extents.len();
    let index: Vec<String> = match rank {
        1 => vec!["col".into()],
        2 => vec!["row".into(), "col".into()],
        3 => vec!["stage".into(), "row".into(), "col".into()],
        _ => (0..rank).map(|d| format!("i{d}")).collect(),
    };
    let parameters: Vec<String> = index.iter().map(|i| format!("u32 {i}")).collect();
    let mut text = format!("__device__ __forceinline__ u32 {name}({}) {{\n", parameters.join(", "));
    let (column, outer) =
        index.split_last().map_or(("0", &[][..]), |(column, outer)| (column.as_str(), outer));
    let row_extent = tile.extents.last().copied().unwrap_or(1);
    let linear = |column: Code| {
        let rows = outer.iter().zip(&tile.extents).map(|(i, extent)| (Code::atom(i), *extent));
        match rows.reduce(|(row, _), (i, extent)| {
            (Code::infix(Level::Additive, times(row, extent), "+", i), extent)
        }) {
            Some((row, _)) => {
                Code::infix(Level::Additive, times(row, tile.layout.pitch(row_extent)), "+", column)
            }
            None => column,
        }
    };
    let offset = match tile.layout {
        Layout::RowMajor | Layout::Pad(_) => linear(Code::atom(column)),
        Layout::Xor(_) if outer.is_empty() => linear(Code::atom(column)),
        Layout::Xor(chunk) => {
            let chunk = chunk.max(1);
            let chunks = (row_extent / chunk).max(1);
            let row = Code::atom(outer.last().map_or("0", String::as_str));
            let which = by(Code::atom(column), "/", chunk);
            let moved = Code::infix(Level::Bits, which, "^", by(row, "%", chunks));
            text.push_str(&format!("    const u32 chunk = {};\n", moved.text));
            let within = by(Code::atom(column), "%", chunk);
            let place = times(Code::atom("chunk"), chunk);
            linear(if chunk == 1 { place } else { Code::infix(Level::Additive, place, "+", within) })
        }
        Layout::Swizzle { bits, base, shift } => {
            let shift = i64::from(shift);
            let (source, target) = (i64::from(base) + shift.max(0), i64::from(base) - shift.min(0));
            let mask = (1u64 << bits.min(32)) - 1;
            if bits == 0 || source.max(target) > 31 {
                linear(Code::atom(column))
            } else if let Some((row, by)) = row_alone(tile, outer, (source, target, i64::from(bits))) {
                // A compiler sees that what is added to a row in whole periods is added to the offset.
                let row = if by == 0 { row.into() } else { format!("({row} >> {by})") };
                text.push_str(&format!(
                    "    const u32 place = {column} ^ (({row} & {mask}u) << {target});\n"
                ));
                linear(Code::atom("place"))
            } else {
                text.push_str(&format!("    const u32 element = {};\n", linear(Code::atom(column)).text));
                Code::atom(format!("(element ^ (((element >> {source}) & {mask}u) << {target}))"))
            }
        }
    };
    text.push_str(&format!("    return {};\n}}\n", times(offset, tile.element.bytes()).text));
    text
}

/// The row whose bits alone a swizzle changes the column by, and from which bit on, where a row is so many elements that the bits
/// of the number of an element are those of the one and of the other.
fn row_alone<'a>(
    tile: &Tile,
    outer: &'a [String],
    (source, target, bits): (i64, i64, i64),
) -> Option<(&'a str, i64)> {
    let [.., rows, columns] = tile.extents[..] else { return None };
    let [of_row, of_column] = [rows, columns].map(|extent| i64::from(extent.trailing_zeros()));
    let within = columns.is_power_of_two() && target + bits <= of_column && source >= of_column;
    let by = source - of_column;
    let is_last = outer.len() == 1 || rows.is_power_of_two() && by + bits <= of_row;
    (within && is_last).then_some((outer.last()?.as_str(), by))
}

fn times(code: Code, factor: u32) -> Code {
    if factor == 1 {
        code
    } else {
        Code::infix(Level::Multiplicative, code, "*", Code::atom(factor.to_string()))
    }
}

/// Division by a power of two, or its remainder.
fn by(code: Code, operator: &str, divisor: u32) -> Code {
    if (operator, divisor) == ("/", 1) {
        return code;
    }
    Code::infix(Level::Multiplicative, code, operator, Code::atom(divisor.to_string()))
}
