//! Sectors of asynchronous copies: a rule that needs both sides of a copy, which the model does not ask for yet.
//!
//! `h200-copies.csv` holds 156 copies (`cp.async` of 4 and 8 bytes by `.ca`, of 16 by `.cg`) and the sectors that
//! `l1tex__t_sectors_pipe_lsu_mem_global_op_ld` counted for them on 2026-11-30 on an H200, driver 580.159.04: `lane0` to `lane31` are
//! byte offsets in shared memory, `from0` to `from31` in global memory. Copies of 4 and 8 bytes are counted as loads are. Those of
//! 16 bytes are not: they count the sectors that they *write*, each as often as there are lines of 128 bytes that it comes from. So a
//! row that is padded by half a sector costs more sectors than the model says, and gaps in what is read may cost fewer.

use std::collections::{BTreeMap, BTreeSet};
use tileproof_model::access::{Access, LANES, Operation, cost};

struct Copy {
    width: u32,
    active: u32,
    sectors: u32,
    to: [u32; LANES],
    from: [u32; LANES],
}

fn copies() -> Vec<Copy> {
    let number = |text: &str| text.parse::<u32>().expect("a number");
    include_str!("h200-copies.csv")
        .lines()
        .skip(1)
        .map(|line| {
            let columns: Vec<&str> = line.split(',').collect();
            assert_eq!(columns.len(), 4 + 2 * LANES);
            Copy {
                width: number(columns[1]),
                active: u32::from_str_radix(columns[2], 16).expect("a mask"),
                sectors: number(columns[3]),
                to: std::array::from_fn(|lane| number(columns[4 + lane])),
                from: std::array::from_fn(|lane| number(columns[4 + LANES + lane])),
            }
        })
        .collect()
}

#[test]
fn narrow_copies_count_the_sectors_of_their_loads() {
    let narrow: Vec<Copy> = copies().into_iter().filter(|copy| copy.width < 16).collect();
    assert_eq!(narrow.len(), 104);
    for Copy { width, active, sectors, from, .. } in narrow {
        let load = Access { operation: Operation::LoadGlobal, width, active, offsets: from };
        assert_eq!(cost(&load).sectors, sectors, "{load:?}");
    }
}

#[test]
fn wide_copies_count_the_sectors_that_they_write_by_line_read() {
    let wide: Vec<Copy> = copies().into_iter().filter(|copy| copy.width == 16).collect();
    assert_eq!(wide.len(), 52);
    for Copy { active, sectors, to, from, .. } in wide {
        // Where lanes write one place the last of them stays.
        let kept: BTreeMap<u32, u32> =
            (0..LANES).filter(|lane| active >> lane & 1 == 1).map(|lane| (to[lane], from[lane])).collect();
        let pairs: BTreeSet<(u32, u32)> = kept.into_iter().map(|(to, from)| (to / 32, from / 128)).collect();
        assert_eq!(pairs.len() as u32, sectors, "to {to:?} from {from:?}");
    }
}
