//! Small pieces of text that messages are made of.

use crate::ir::{Handle, Kernel, Role, Site};
use crate::span::SpanTable;

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

/// `read` or `write`.
pub(super) fn verb(role: Role) -> &'static str {
    match role {
        Role::Read => "read",
        Role::Write => "write",
        Role::Update => "update",
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

/// `a`, `a and b`, `a, b and c`.
pub(super) fn and(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// Accesses by their lines: `the store on line 17 and the loads on lines 20 and 25`.
pub(super) fn accesses(kernel: &Kernel, sites: &[Handle<Site>], spans: &SpanTable) -> String {
    let mut parts = Vec::new();
    for role in [Role::Write, Role::Read] {
        let of_role = sites.iter().filter(|site| kernel.sites[**site].role == role);
        let mut lines: Vec<u32> = of_role.clone().map(|site| spans.line(kernel.sites[*site].span)).collect();
        lines.sort();
        lines.dedup();
        let numbers: Vec<String> = lines.iter().map(u32::to_string).collect();
        if !numbers.is_empty() {
            let plural = if of_role.count() > 1 { "s" } else { "" };
            let line = if numbers.len() > 1 { "lines" } else { "line" };
            parts.push(format!("the {role}{plural} on {line} {}", and(&numbers)));
        }
    }
    and(&parts)
}

/// An element by its indices: `[3][1]`.
pub(super) fn subscripts(index: &[i64]) -> String {
    index.iter().map(|index| format!("[{index}]")).collect()
}
