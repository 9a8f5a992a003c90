//! Layouts that mend a tile, each tried on every access to it.

use super::words::{grouped, tile_type};
use super::{alignment, banks, visits_of};
use crate::facts::Facts;
use crate::ir::{Base, Handle, Kernel, Layout, Site, Tile};

/// How many elements of padding are tried.
pub(super) const MOST_PADDING: u32 = 32;

/// What to write instead, as help lines: the least padding that works, and the simplest swizzle.
pub(super) fn search(kernel: &Kernel, facts: &Facts, tile: Handle<Tile>) -> Vec<String> {
    let shape = &kernel.tiles[tile];
    let row = shape.extents.last().copied().unwrap_or(1);
    let pads = std::iter::once(Layout::RowMajor).chain((1..=MOST_PADDING).map(Layout::Pad));
    let xors = (0..8).map(|log| 1 << log).filter(|chunk| *chunk < row).map(Layout::Xor);
    let swizzles = (1..=5).flat_map(|bits| {
        (0..=5).flat_map(move |base| {
            let shifts = (bits as i32)..=10;
            shifts.map(move |shift| Layout::Swizzle { bits, base, shift })
        })
    });
    let pad = pads.into_iter().find(|layout| works(kernel, facts, tile, *layout));
    let swizzle = xors.chain(swizzles).find(|layout| works(kernel, facts, tile, *layout));
    let mut help = Vec::new();
    for layout in [pad, swizzle].into_iter().flatten() {
        let bytes = Tile { layout, ..shape.clone() }.bytes();
        let text = tile_type(shape, layout);
        help.push(match help.len() {
            0 => format!(
                "`{text}` makes this conflict-free{} ({} bytes)",
                others(kernel, tile),
                grouped(bytes)
            ),
            _ => format!("`{text}` likewise, in {} bytes", grouped(bytes)),
        });
    }
    help
}

/// Whether every access to the tile is aligned and without excess under this layout.
fn works(kernel: &Kernel, facts: &Facts, tile: Handle<Tile>, layout: Layout) -> bool {
    let shape = &kernel.tiles[tile];
    layout != shape.layout
        && layout.defect(&shape.extents).is_none()
        && sites_of(kernel, tile).into_iter().all(|handle| {
            let visits = visits_of(facts, handle);
            let width = kernel.sites[handle].place.width;
            let aligned = width == 1
                || visits.iter().all(|(run, visit)| {
                    alignment::tile_access_aligned(shape, layout, width, visit, &run.symbols)
                });
            if !aligned {
                return false;
            }
            let judgement = banks::judge(kernel, handle, tile, layout, &visits);
            judgement.worst.is_none() && judgement.unknown.is_none()
        })
}

fn sites_of(kernel: &Kernel, tile: Handle<Tile>) -> Vec<Handle<Site>> {
    kernel
        .sites
        .iter()
        .filter(|(_, site)| site.place.base == Base::Tile(tile))
        .map(|(handle, _)| handle)
        .collect()
}

/// That the other accesses to the tile stay clean too.
fn others(kernel: &Kernel, tile: Handle<Tile>) -> String {
    match sites_of(kernel, tile).len() {
        0 | 1 => String::new(),
        2 => ", and the other access to the tile too".into(),
        number => format!(", and the other {} accesses to the tile too", number - 1),
    }
}
