//! What lanes and threads compute together.

use super::matrix;
use super::program::{Collective, Instruction, Program};
use super::value;
use super::warp::{Warp, lanes};
use crate::ir::{CollectiveOp, Scope};

/// Computes a collective of a warp, all of whose lanes are here.
pub(super) fn of_warp(warp: &mut Warp, collective: &Collective) {
    let Collective { op, destination, operands: [value, by, added], width } = *collective;
    let exists = warp.exists;
    match op {
        CollectiveOp::Shuffle(shuffle) => {
            let by = *warp.read(by);
            for i in 0..width {
                let values = *warp.read(value.plus(i));
                let source = |lane: usize| {
                    values[shuffle.source(lane, by[lane] as usize, exists.count_ones() as usize)]
                };
                *warp.write(destination.plus(i)) = std::array::from_fn(source);
            }
        }
        CollectiveOp::MatrixProduct(product) => {
            matrix::multiply(warp, product, [value, by, added], destination);
        }
        CollectiveOp::Any | CollectiveOp::All | CollectiveOp::Ballot => {
            let holds = value::truth(warp.read(value)) & exists;
            let result = match op {
                CollectiveOp::Any => u64::from(holds != 0),
                CollectiveOp::All => u64::from(holds == exists),
                CollectiveOp::Shuffle(_)
                | CollectiveOp::MatrixProduct(_)
                | CollectiveOp::Ballot
                | CollectiveOp::MatchAny
                | CollectiveOp::BlockCount
                | CollectiveOp::BlockAny
                | CollectiveOp::BlockAll => u64::from(holds),
            };
            *warp.write(destination) = [result; 32];
        }
        CollectiveOp::MatchAny => {
            let values = *warp.read(value);
            let matching = |lane: usize| {
                lanes(exists)
                    .filter(|other| values[*other] == values[lane])
                    .fold(0, |mask, other| mask | 1 << other)
            };
            *warp.write(destination) = std::array::from_fn(matching);
        }
        CollectiveOp::BlockCount | CollectiveOp::BlockAny | CollectiveOp::BlockAll => {
            unreachable!("the block computes it")
        }
    }
}

/// Computes the collective that all threads of the block wait at, if it is one.
pub(super) fn of_block(program: &Program, warps: &mut [Warp]) {
    let Some(Instruction::Collective { collective }) =
        warps.first().map(|warp| program.instructions[warp.counter])
    else {
        return;
    };
    let Collective { op, destination, operands: [value, ..], .. } = program.collectives[collective];
    debug_assert_eq!(op.participants(), Scope::Block);
    let holds = |warp: &Warp| value::truth(warp.read(value)) & warp.exists;
    let result = match op {
        CollectiveOp::BlockCount => warps.iter().map(|warp| u64::from(holds(warp).count_ones())).sum(),
        CollectiveOp::BlockAny => u64::from(warps.iter().any(|warp| holds(warp) != 0)),
        CollectiveOp::BlockAll => u64::from(warps.iter().all(|warp| holds(warp) == warp.exists)),
        CollectiveOp::Shuffle(_)
        | CollectiveOp::MatrixProduct(_)
        | CollectiveOp::Any
        | CollectiveOp::All
        | CollectiveOp::Ballot
        | CollectiveOp::MatchAny => unreachable!("a warp computes it alone"),
    };
    for warp in warps {
        *warp.write(destination) = [result; 32];
    }
}
