//! The prover that accesses are apart, against brute force: what it says of random kernels must hold for every pair of
//! threads at several launches.

mod kernel;

use kernel::{Kernel, Launch, Tape};
use proc_macro2::TokenStream;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestCaseError, TestRunner};
use std::cell::Cell;
use std::collections::HashMap;
use std::str::FromStr;
use tileproof_compiler::diagnostic::Diagnostics;
use tileproof_compiler::facts::apart::{Answer, Prover, Relation};
use tileproof_compiler::{ast, facts, lower};

/// Whether accesses are apart: between blocks, and between threads of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Apart {
    blocks: bool,
    threads: bool,
}

#[test]
fn random_indices() {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(5);
    }
    config.cases = config.cases.max(400);
    // Of what is apart at every launch that was tried, how much is proven.
    let (true_of, proven_of) = (Cell::new(0u32), Cell::new(0u32));
    let result = TestRunner::new(config).run(&prop::collection::vec(any::<u8>(), 0..64), |tape| {
        let kernel = kernel::random(&mut Tape::new(&tape));
        let (said, found) = (said(&kernel), found(&kernel));
        for (said, found, what) in
            [(said.blocks, found.blocks, "blocks"), (said.threads, found.threads, "threads")]
        {
            if said && !found {
                let text = format!("{what} meet, and were proven to be apart:\n{}", kernel.text());
                return Err(TestCaseError::fail(text));
            }
            true_of.set(true_of.get() + u32::from(found));
            proven_of.set(proven_of.get() + u32::from(said));
        }
        Ok(())
    });
    let (of, proven) = (true_of.get(), proven_of.get());
    println!("{proven} of {of} are proven");
    if let Err(error) = result {
        panic!("{error}");
    }
    assert!(2 * proven > of, "{proven} of {of} are proven");
}

/// What the prover says.
fn said(kernel: &Kernel) -> Apart {
    let parse = |text: &str| TokenStream::from_str(text).expect("the text has matching brackets");
    let mut diagnostics = Diagnostics::default();
    let ast = ast::parse(
        parse(&kernel.attribute()),
        parse(&kernel.item()),
        &ast::Scope::default(),
        &mut diagnostics,
    )
    .expect("the text is a function")
    .kernels
    .remove(0);
    let lowered = lower::lower(&ast, &mut diagnostics);
    assert!(!diagnostics.is_failed(), "{:?}\n{}", diagnostics.errors(), kernel.text());
    let facts = facts::analyse(&lowered);
    let mut prover = Prover::new(&lowered, &facts);
    let visits: Vec<_> = facts
        .runs
        .iter()
        .enumerate()
        .flat_map(|(run, of)| of.visits.iter().map(move |visit| (run, visit)))
        .collect();
    let mut apart = |relation: Relation| {
        let groups = prover.groups(&visits, relation != Relation::OtherBlock);
        groups.iter().all(|a| {
            groups
                .iter()
                .all(|b| prover.apart((*a, kernel.width), (*b, kernel.width), relation) == Answer::Apart)
        })
    };
    Apart { blocks: apart(Relation::OtherBlock), threads: apart(Relation::OtherThread { together: false }) }
}

/// What is so at some launches.
fn found(kernel: &Kernel) -> Apart {
    let mut apart = Apart { blocks: true, threads: true };
    for (grid, n) in
        [([1, 1], 1), ([2, 1], 7), ([3, 2], 5), ([2, 3], 16), ([5, 1], 3), ([1, 4], 33), ([7, 2], 64)]
    {
        let mut owners: HashMap<Vec<i64>, Vec<([i64; 2], usize)>> = HashMap::new();
        for by in 0..grid[1] {
            for bx in 0..grid[0] {
                for thread in 0..kernel.threads() {
                    let launch = Launch { grid, n, block: [bx, by], thread };
                    for index in kernel.touched(&launch) {
                        let who = ([bx, by], thread);
                        let owners = owners.entry(index).or_default();
                        if owners.last() != Some(&who) {
                            owners.push(who);
                        }
                    }
                }
            }
        }
        for owners in owners.values() {
            apart.blocks &= owners.iter().all(|(block, _)| *block == owners[0].0);
            let same = |a: &([i64; 2], usize)| owners.iter().any(|b| a.0 == b.0 && a.1 != b.1);
            apart.threads &= !owners.iter().any(same);
        }
    }
    apart
}
