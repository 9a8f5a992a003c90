//! Does the block fit: shared memory, and as many blocks as shall be resident.

use super::words::grouped;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::Kernel;
use tileproof_model::limits::{Architecture, MAX_SHARED_WITHOUT_OPT_IN, Occupancy, SUPPORTED, occupancy};

/// What a multiprocessor of each architecture holds: of those that the kernel names, or of all.
pub(super) fn occupancies(kernel: &Kernel) -> Vec<(Architecture, Occupancy)> {
    let (threads, (_, shared)) = (kernel.threads(), kernel.shared_bytes());
    let named = &kernel.architectures;
    let list = if named.is_empty() { SUPPORTED.to_vec() } else { named.clone() };
    list.into_iter().map(|architecture| (architecture, occupancy(architecture, threads, 0, shared))).collect()
}

/// Reports architectures that cannot hold as many blocks as the kernel demands.
fn residence(kernel: &Kernel, diagnostics: &mut Diagnostics) {
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

pub(super) fn check(kernel: &Kernel, diagnostics: &mut Diagnostics) {
    let (offsets, total) = kernel.shared_bytes();
    if total <= MAX_SHARED_WITHOUT_OPT_IN {
        residence(kernel, diagnostics);
        return;
    }
    let first = kernel
        .tiles
        .iter()
        .zip(&offsets)
        .find(|((_, tile), start)| start.saturating_add(tile.bytes()) > MAX_SHARED_WITHOUT_OPT_IN);
    let span = first.map_or(kernel.span, |((_, tile), _)| tile.span);
    let tiles: Vec<String> =
        kernel.tiles.iter().map(|(_, tile)| format!("`{}` {}", tile.name, amount(tile.bytes()))).collect();
    diagnostics.report(
        Diagnostic::new(
            Code::SharedMemory,
            span,
            format!(
                "too much shared memory: {} bytes a block, and {} is the limit",
                amount(total),
                grouped(MAX_SHARED_WITHOUT_OPT_IN)
            ),
        )
        .note(format!("in bytes: {}", tiles.join(", ")))
        .note("GPUs have more (up to 227 KB on sm_90), which a kernel must opt in to; that is planned, and not part of the language yet")
        .help("make the tile smaller, or its elements narrower"),
    );
}

/// A number of bytes, which [`Kernel::shared_bytes`] counts up to what 32 bits hold.
fn amount(bytes: u32) -> String {
    if bytes == u32::MAX { format!("{} or more", grouped(bytes)) } else { grouped(bytes) }
}
