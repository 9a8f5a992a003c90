//! The bytes that a warp touches: runs, 32-byte sectors, 128-byte lines.

use crate::access::{LANES, SECTOR_BYTES};

/// log2 of the bytes of a sector.
const SECTOR_SHIFT: u32 = SECTOR_BYTES.trailing_zeros();
/// log2 of the bytes of a line.
const LINE_SHIFT: u32 = 7;

/// What a set of lanes touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Footprint {
    /// Distinct bytes.
    pub(crate) bytes: u32,
    /// Bytes of the shortest contiguous run; 0 if no lane is active.
    pub(crate) shortest_run_bytes: u32,
    /// Distinct sectors of 32 bytes.
    pub(crate) sectors: u32,
    /// Sectors at the best alignment: ⌈bytes / 32⌉ of each run of at least 32 bytes, and of the shorter ones together,
    /// but never more than `sectors`.
    pub(crate) ideal_sectors: u32,
    /// Distinct lines of 128 bytes.
    pub(crate) lines: u32,
}

impl Footprint {
    /// One contiguous run of at least one byte from a byte offset on.
    pub(crate) fn of_run(offset: u32, bytes: u32) -> Footprint {
        let last = offset.saturating_add(bytes - 1);
        Footprint {
            bytes,
            shortest_run_bytes: bytes,
            sectors: (last >> SECTOR_SHIFT) - (offset >> SECTOR_SHIFT) + 1,
            ideal_sectors: bytes.div_ceil(SECTOR_BYTES),
            lines: (last >> LINE_SHIFT) - (offset >> LINE_SHIFT) + 1,
        }
    }

    /// The lanes of the mask, each with at least one byte from its byte offset on.
    pub(crate) fn of_lanes(offsets: &[u32; LANES], lanes: u32, lane_bytes: u32) -> Footprint {
        let (sorted, count) = sort_active(offsets, lanes);
        if count == 0 {
            return Footprint::default();
        }
        let mut total = Footprint { shortest_run_bytes: u32::MAX, ..Footprint::default() };
        let mut pooled_bytes = 0;
        let mut last_before = None;
        let mut next = 0;
        while next < count {
            let first = sorted[next];
            let mut last = first.saturating_add(lane_bytes - 1);
            next += 1;
            while next < count && sorted[next] <= last.saturating_add(1) {
                last = sorted[next].saturating_add(lane_bytes - 1);
                next += 1;
            }
            let run = Footprint::of_run(first, last - first + 1);
            total.bytes += run.bytes;
            total.sectors += run.sectors;
            total.lines += run.lines;
            if let Some(before) = last_before {
                total.sectors -= u32::from(before >> SECTOR_SHIFT == first >> SECTOR_SHIFT);
                total.lines -= u32::from(before >> LINE_SHIFT == first >> LINE_SHIFT);
            }
            last_before = Some(last);
            if run.bytes < total.shortest_run_bytes {
                total.shortest_run_bytes = run.bytes;
            }
            if run.bytes >= SECTOR_BYTES {
                total.ideal_sectors += run.ideal_sectors;
            } else {
                pooled_bytes += run.bytes;
            }
        }
        total.ideal_sectors += pooled_bytes.div_ceil(SECTOR_BYTES);
        if total.ideal_sectors > total.sectors {
            total.ideal_sectors = total.sectors;
        }
        total
    }
}

/// Sectors of an atomic update: each as often as the address in it that the most lanes share.
pub(crate) fn serial_sectors(offsets: &[u32; LANES], lanes: u32) -> u32 {
    let (sorted, count) = sort_active(offsets, lanes);
    let (mut total, mut most_in_sector, mut same) = (0, 0, 0);
    for next in 0..count {
        let before = (next > 0).then(|| sorted[next - 1]);
        same = if before == Some(sorted[next]) { same + 1 } else { 1 };
        if before.is_some_and(|before| before >> SECTOR_SHIFT != sorted[next] >> SECTOR_SHIFT) {
            total += most_in_sector;
            most_in_sector = 0;
        }
        most_in_sector = most_in_sector.max(same);
    }
    total + most_in_sector
}

/// The offsets of the active lanes in ascending order, and how many there are. By insertion: most patterns ascend.
fn sort_active(offsets: &[u32; LANES], lanes: u32) -> ([u32; LANES], usize) {
    let mut sorted = [0; LANES];
    let mut count = 0;
    let mut rest = lanes;
    while rest != 0 {
        let offset = offsets[rest.trailing_zeros() as usize];
        rest &= rest - 1;
        let mut place = count;
        while place > 0 && sorted[place - 1] > offset {
            sorted[place] = sorted[place - 1];
            place -= 1;
        }
        sorted[place] = offset;
        count += 1;
    }
    (sorted, count)
}
