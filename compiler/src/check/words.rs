//! Small pieces of text that messages are made of.

use crate::ir::{Kernel, Layout, Role, Tile};

/// The type of a tile under a layout, as the user writes it.
pub(super) fn tile_type(tile: &Tile, layout: Layout) -> String {
    let array = tile
        .extents
        .iter()
        .rev()
        .fold(tile.element.name().to_string(), |inner, extent| format!("[{inner}; {extent}]"));
    match layout {
        Layout::RowMajor => format!("Shared<{array}>"),
        layout => format!("Shared<{array}, {}>", layout.rust()),
    }
}

/// `0, 1, 2, … 31`.
pub(super) fn list(numbers: &[u32]) -> String {
    match numbers {
        [first @ .., last] if numbers.len() > 5 => {
            let first: Vec<String> = first.iter().take(3).map(u32::to_string).collect();
            format!("{}, … {last}", first.join(", "))
        }
        _ => numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", "),
    }
}

/// `4,224`.
pub(super) fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// `1 wavefront`, `4 wavefronts`.
pub(super) fn count(number: u32, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{} {noun}s", grouped(number)) }
}

/// `load` or `store`.
pub(super) fn noun(role: Role) -> &'static str {
    match role {
        Role::Read => "load",
        Role::Write => "store",
    }
}

/// `read` or `write`.
pub(super) fn verb(role: Role) -> &'static str {
    match role {
        Role::Read => "read",
        Role::Write => "write",
    }
}

/// A thread of the block by its coordinates, as far as the block has more than one in a direction.
pub(super) fn thread(kernel: &Kernel, linear: usize) -> String {
    let [x, y, z] = kernel.block.map(|extent| extent as usize);
    let coordinates = [linear % x, linear / x % y, linear / (x * y)];
    let rank = if z > 1 {
        3
    } else if y > 1 {
        2
    } else {
        1
    };
    let coordinates: Vec<String> = coordinates[..rank].iter().map(usize::to_string).collect();
    match coordinates.as_slice() {
        [one] => format!("thread {one}"),
        several => format!("thread ({})", several.join(", ")),
    }
}
