//! Occupancy on an H200, as `cuOccupancyMaxActiveBlocksPerMultiprocessor` answered with the largest carve-out.
//!
//! `h200-occupancy.csv` holds, a row: threads of a block, registers of a thread as the driver reports them, dynamic
//! shared bytes of a block (the kernels have no static ones), resident blocks of a multiprocessor.

use tileproof_model::limits::{Architecture, occupancy};

#[test]
fn the_driver_agrees() {
    let rows: Vec<[u32; 4]> = include_str!("h200-occupancy.csv").lines().skip(1).map(parse_row).collect();
    assert_eq!(rows.len(), 504);
    for [threads, registers, shared_bytes, blocks] in rows {
        let found = occupancy(Architecture::Sm90, threads, registers, shared_bytes);
        assert_eq!(
            found.blocks, blocks,
            "{threads} threads, {registers} registers, {shared_bytes} shared bytes: {found:?}"
        );
    }
}

fn parse_row(line: &str) -> [u32; 4] {
    let numbers: Vec<u32> = line.split(',').map(|number| number.parse().expect(line)).collect();
    numbers.try_into().expect(line)
}
