//! A chain of loads, each of which says where the next one goes: what a load costs when nothing hides it.

use crate::array::Array;
use crate::subject::{Subject, subject};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tileproof::prelude::*;

/// Elements of a cache line of 128 bytes: the chain visits one of them.
pub const LINE: usize = 32;

/// Follows `next` for `steps` steps from where `place` says, and leaves there where it came to. One lane of one warp, so that each step
/// is one load and waits for the one before; an index outside ends the walk where it is.
// ANCHOR: pointer_chase
#[tiled_kernel(block = [32], grid = [1], requires(place.len() == 1))]
pub fn pointer_chase(steps: usize, next: &Tensor<u32, 1>, place: &mut Tensor<u32, 1>) {
    if thread_x() == 0 {
        let mut at = place[[0]];
        for _ in 0..steps {
            if (at as usize) < next.len() {
                at = next[[at as usize]];
            }
        }
        place[[0]] = at;
    }
}
// ANCHOR_END: pointer_chase

/// One cycle through `lines` cache lines in random order, each entered at its first element: entry `LINE * i` holds the place that
/// comes after it. Sattolo's algorithm, which makes every cycle equally likely.
pub fn cycle(lines: usize, seed: u64) -> Vec<u32> {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut order: Vec<u32> = (0..lines).map(|line| (line * LINE) as u32).collect();
    for last in (1..lines).rev() {
        order.swap(last, rng.random_range(0..last));
    }
    let mut next = vec![0; lines * LINE];
    for (line, successor) in order.into_iter().enumerate() {
        next[line * LINE] = successor;
    }
    next
}

fn reference(steps: usize, next: &Array<u32, 1>, place: &mut Array<u32, 1>) {
    for _ in 0..steps {
        let at = place[[0]] as usize;
        if at < next.len() {
            place[[0]] = next[[at]];
        }
    }
}

/// [`pointer_chase`] over a few lines and, once, out of them.
pub const POINTER_CHASE: Subject = subject! {
    kernel: pointer_chase(value steps, read next, write place),
    reference: reference,
    sizes: [lines, steps]: [0, 3] [1, 1] [7, 0] [7, 5] [40, 100],
    counted: [4096, 4096] [40, 100] [7, 3],
    data: |data| {
        let next = cycle(lines, 1);
        (steps, data.output([next.len()]).fill(|[i]| next[i]), data.output([1]).fill(|_| 0))
    },
};

#[cfg(test)]
mod tests {
    use super::{LINE, cycle};

    #[test]
    fn a_cycle_visits_every_line_once() {
        let next = cycle(100, 3);
        let mut seen = [false; 100];
        let mut at = 0;
        for _ in 0..100 {
            assert_eq!(at % LINE, 0);
            assert!(!std::mem::replace(&mut seen[at / LINE], true));
            at = next[at] as usize;
        }
        assert_eq!(at, 0);
    }
}
