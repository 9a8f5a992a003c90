//! What other models say about the accesses that were counted on hardware: the book's page `rivals.md`.
//!
//! The page is computed whole; `UPDATE_EXPECT=1` (or `cargo xtask bless pages`) writes it anew.

#[path = "../../model/tests/accesses/mod.rs"]
mod accesses;
mod page;
mod rules;

use accesses::{Metric, Row, metric_of};
use expect_test::expect_file;
use rules::{Answer, Rule};
use std::collections::BTreeMap;
use tileproof_model::access::{Access, Operation, cost};

/// A model whose answers are compared.
struct Model {
    /// Its name in the tables.
    name: &'static str,
    /// Its rule, and whose it is.
    about: &'static str,
    answer: Rule,
}

const MODELS: [Model; 5] = [
    Model { name: "tileproof", about: "The rules of `model/src/access.rs`.", answer: ours },
    Model {
        name: "fixed phases",
        about: "Lanes go in groups of 32, 16 or 8 for up to 4, 8 or 16 bytes (for the matrix instructions 8 rows), equal words count \
                once, wide loads never merge, and the worst group stands for all. So nvFuser (`bank_conflict.cpp`, which looks at the \
                first group alone) and cuxray 0.5.0.",
        answer: rules::fixed_phases,
    },
    Model {
        name: "words alone",
        about: "A bank is a word's number mod 32, and takes as long as distinct words of the warp are in it, however wide the \
                lanes. So tensor-layouts (8c75af6), which lumps the values of a lane together.",
        answer: rules::words_alone,
    },
    Model {
        name: "lanes of a bank",
        about: "As many turns as lanes have their first word in one bank, equal words included. So `conflict_degree` of cuda-oxide \
                (a105afd5, 8 August 2026), which its user calls with the offsets; it calls its checks necessary conditions.",
        answer: rules::lanes_of_a_bank,
    },
    Model {
        name: "stride",
        about: "A stride of s words takes gcd(s, 32) turns; in global memory it moves all sectors from the first byte to the last. The \
                textbooks' rule, and that of quick checkers. It has no answer where the distances of neighbours differ.",
        answer: rules::stride,
    },
];

fn ours(access: &Access) -> Option<Answer> {
    let found = cost(access);
    Some(match access.operation.is_global() {
        true => Answer { cost: found.sectors, ideal: found.ideal_sectors },
        false => Answer { cost: found.wavefronts, ideal: found.ideal_wavefronts },
    })
}

/// What the model says would be counted.
fn predicted(answer: Answer, metric: Metric) -> u32 {
    match metric {
        Metric::Wavefronts | Metric::Sectors => answer.cost,
        Metric::BankConflicts => answer.cost - answer.ideal,
    }
}

/// Whether the hardware counted no more than is needed.
fn is_clean(row: &Row<'_>) -> bool {
    let found = cost(&row.access);
    match row.metric {
        Metric::Wavefronts => row.value == found.ideal_wavefronts,
        Metric::Sectors => row.value == found.ideal_sectors,
        Metric::BankConflicts => row.value == 0,
    }
}

/// Whether the model leaves this access open: scattered atomics, which may take one sector more.
fn is_open(access: &Access) -> bool {
    access.operation == Operation::AtomicGlobal && cost(access).lines > 4
}

/// What the profiler's own model said, by identifier of the row, where it was read.
fn of_the_profiler() -> BTreeMap<&'static str, u32> {
    include_str!("h200-profiler.csv")
        .lines()
        .skip(1)
        .map(|line| {
            let (id, wavefronts) = line.split_once(',').expect("two columns");
            (id, wavefronts.parse().expect("a number"))
        })
        .collect()
}

#[test]
fn the_model_is_right_wherever_it_claims_to_be() {
    let text = accesses::text();
    let rows = accesses::parse(&text).expect("the table");
    let claimed: Vec<&Row<'_>> = rows.iter().filter(|row| !is_open(&row.access)).collect();
    let wrong: Vec<&str> = claimed
        .iter()
        .filter(|row| metric_of(&cost(&row.access), row.metric) != row.value)
        .map(|row| row.id)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    assert!(claimed.len() * 20 > rows.len() * 19, "what is left open is rare");
}

#[test]
fn pages_compare_the_models() {
    let text = accesses::text();
    let rows = accesses::parse(&text).expect("the table");
    let page = page::page(&rows, &of_the_profiler());
    expect_file![concat!(env!("CARGO_MANIFEST_DIR"), "/../book/src/rivals.md")].assert_eq(&page);
}
