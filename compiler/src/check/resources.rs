//! Does the block fit: shared memory, and as many blocks as shall be resident.

use super::words::grouped;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::Kernel;
use tileproof_model::limits::{Architecture, Occupancy, SUPPORTED, occupancy};

/// What a multiprocessor of each architecture holds: of those that the kernel names, or of all that have its instructions.
pub(super) fn occupancies(kernel: &Kernel) -> Vec<(Architecture, Occupancy)> {
    let (threads, (_, shared)) = (kernel.threads(), kernel.shared_bytes());
    let named = &kernel.architectures;
    let list = if named.is_empty() { SUPPORTED.to_vec() } else { named.clone() };
    let demand = kernel.greatest_demand();
    list.into_iter()
        .filter(|architecture| demand.is_none_or(|demand| *architecture >= demand.least))
        .map(|architecture| (architecture, occupancy(architecture, threads, 0, shared)))
        .collect()
}

/// Reports architectures that cannot hold as many blocks as the kernel demands.
fn residence(kernel: &Kernel, diagnostics: &mut Diagnostics) {
    if kernel.min_blocks.is_none() && kernel.architectures.is_empty() {
        // It fits some architecture, and the report has a row for each.
        return;
    }
    let wanted = kernel.min_blocks.unwrap_or(1);
    let (fit, lacking): (Vec<_>, Vec<_>) =
        occupancies(kernel).into_iter().partition(|(_, found)| found.blocks >= wanted);
    let Some((architecture, found)) = lacking.first() else { return };
    let names = |list: &[(Architecture, Occupancy)]| {
        list.iter().map(|(architecture, _)| architecture.name()).collect::<Vec<_>>().join(", ")
    };
    let mut error = Diagnostic::new(
        Code::Residence,
        kernel.span,
        match wanted {
            1 => format!("this kernel does not fit {}", architecture.name()),
            _ => format!(
                "{wanted} blocks of this kernel do not fit a multiprocessor of {}",
                architecture.name()
            ),
        },
    )
    .note(format!("it holds {}, limited by {}", found.blocks, found.limited_by.name()));
    if lacking.len() > 1 {
        error = error.note(format!("likewise {}", names(&lacking[1..])));
    }
    error = match fit.is_empty() {
        true => error.help(format!("write `min_blocks = {}`, or make the block smaller", found.blocks)),
        false => error.help(format!("say that it is for others: `arch({})`", names(&fit))),
    };
    diagnostics.report(error);
}

/// The shared memory that a block can have: on each of the architectures that the kernel names; where it names none, on each
/// that holds so many bytes, or on the most generous.
pub(super) fn room(kernel: &Kernel, bytes: u32) -> u32 {
    let has = |architecture: &Architecture| architecture.limits().shared_per_block;
    match kernel.architectures.iter().map(has).min() {
        Some(least) => least,
        None => SUPPORTED.iter().map(has).filter(|room| bytes <= *room).min().unwrap_or_else(most),
    }
}

/// The most shared memory that a block can have anywhere.
fn most() -> u32 {
    SUPPORTED.iter().map(|architecture| architecture.limits().shared_per_block).max().unwrap_or(0)
}

pub(super) fn check(kernel: &Kernel, diagnostics: &mut Diagnostics) {
    let (offsets, total) = kernel.shared_bytes();
    let room = room(kernel, total);
    if total <= room {
        residence(kernel, diagnostics);
        return;
    }
    let first = kernel
        .tiles
        .iter()
        .zip(&offsets)
        .find(|((_, tile), start)| start.saturating_add(tile.bytes()) > room);
    let span = first.map_or(kernel.span, |((_, tile), _)| tile.span);
    let tiles: Vec<String> =
        kernel.tiles.iter().map(|(_, tile)| format!("`{}` {}", tile.name, amount(tile.bytes()))).collect();
    let narrowest =
        kernel.architectures.iter().find(|architecture| architecture.limits().shared_per_block == room);
    let whose = match narrowest {
        Some(architecture) => format!("{} has {}", architecture.name(), grouped(room)),
        None => format!("no architecture has more than {}", grouped(room)),
    };
    let fits = |list: &[Architecture]| {
        let fit = list.iter().filter(|architecture| architecture.limits().shared_per_block >= total);
        fit.map(|architecture| architecture.name()).collect::<Vec<_>>().join(", ")
    };
    let named = fits(&kernel.architectures);
    let others = if named.is_empty() { fits(&SUPPORTED) } else { named };
    let mut error = Diagnostic::new(
        Code::SharedMemory,
        span,
        format!("too much shared memory: {} bytes a block, and {whose}", amount(total)),
    )
    .note(format!("in bytes: {}", tiles.join(", ")));
    if !others.is_empty() {
        error = error.help(format!("say that it is for others: `arch({others})`"));
    }
    diagnostics.report(error.help("make the tile smaller, or its elements narrower"));
}

/// A number of bytes, which [`Kernel::shared_bytes`] counts up to what 32 bits hold.
fn amount(bytes: u32) -> String {
    if bytes == u32::MAX { format!("{} or more", grouped(bytes)) } else { grouped(bytes) }
}
