//! Does the block fit: shared memory.

use super::words::grouped;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::Kernel;
use tileproof_model::limits::MAX_SHARED_WITHOUT_OPT_IN;

pub(super) fn check(kernel: &Kernel, diagnostics: &mut Diagnostics) {
    let (offsets, total) = kernel.shared_bytes();
    if total <= MAX_SHARED_WITHOUT_OPT_IN {
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
