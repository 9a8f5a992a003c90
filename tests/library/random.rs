//! Random permutations of tensors of rank 3 to 5, with random places in memory.

use crate::case::{Case, Laid, On};
use proptest::prelude::*;
use tileproof::prelude::bf16;

/// Permutations whose extents are at most so many elements.
fn cases<const R: usize>(most: usize) -> impl Strategy<Value = (Case<R>, usize)> {
    let small = || proptest::array::uniform::<_, R>(prop_oneof![4 => Just(0usize), 1 => 0..4usize]);
    let extent = prop_oneof![1..4usize, 1..most, Just(8), Just(32)];
    let order = Just((0..R).collect::<Vec<usize>>()).prop_shuffle();
    let extents = proptest::array::uniform::<_, R>(extent);
    (extents, order, [small(), small(), small(), small()], proptest::bool::weighted(0.2), 0..6usize).prop_map(
        |(extents, order, [starts, gaps, out_starts, out_gaps], repeats, element)| {
            let order: [usize; R] = std::array::from_fn(|d| order[d]);
            let mut input = Laid::gaps(extents, starts, gaps);
            if repeats {
                input.strides[0] = 0;
            }
            let output = Laid::gaps(order.map(|d| extents[d]), out_starts, out_gaps);
            (Case { extents, order, input, output }, element)
        },
    )
}

#[track_caller]
fn check<const R: usize>((case, element): &(Case<R>, usize), on: &On) {
    match element {
        0 => case.check::<u8>(on),
        1 => case.check::<i16>(on),
        2 => case.check::<bf16>(on),
        3 => case.check::<f32>(on),
        4 => case.check::<u64>(on),
        _ => case.check::<f64>(on),
    }
}

/// So many cases of each rank.
pub(crate) fn all(on: &On, number: u32, most: [usize; 3]) {
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: number,
        failure_persistence: None,
        rng_seed: proptest::test_runner::RngSeed::Fixed(6),
        ..ProptestConfig::default()
    });
    macro_rules! of_rank {
        ($rank:literal) => {
            runner
                .run(&cases::<$rank>(most[$rank - 3]), |case| {
                    check(&case, on);
                    Ok(())
                })
                .unwrap_or_else(|error| panic!("{error}"));
        };
    }
    of_rank!(3);
    of_rank!(4);
    of_rank!(5);
}
