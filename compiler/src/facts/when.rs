//! On which ways a block comes from one access to another without meeting in between.
//!
//! A barrier in a loop that may not go round, or on a side of a condition that the block agrees on, orders what is before it
//! and what is behind it on some ways only. Of the others it is known what holds there, such as that the loop did not go
//! round: an access that the block does not come to on these ways, or does not come from, cannot meet the other one.
//!
//! What is known of a way is about the whole block, and each of its symbols stands for one number on it: the iteration of a
//! loop is that of the access in this loop. Two accesses between which this is asked are a pair whose symbols are shared.

use super::lanes::{Lanes, Mask};
use super::linear::Linear;
use super::prove::{FactList, non_negative};
use super::symbol::Symbols;
use super::{Run, Visit};
use crate::ir::Scope;
use std::rc::Rc;

/// The ways on which an access is open at another one.
#[derive(Clone, Debug, PartialEq)]
pub enum When {
    /// Every way, for all that is known.
    Always,
    /// Only ways on which all of one of these lists holds.
    On(Rc<[FactList]>),
}

/// Of more ways than this, nothing is said.
const MOST_WAYS: usize = 4;

/// Of one way, at most so many facts are kept.
const MOST_FACTS: usize = 8;

impl When {
    /// The ways on which this holds of the block.
    pub(super) fn on(facts: &[Rc<Linear>]) -> When {
        When::Always.and(&When::On(Rc::from([facts.to_vec()])))
    }

    /// The ways that are of these and of those: the one follows the other.
    pub(super) fn and(&self, other: &When) -> When {
        let (own, others) = match (self, other) {
            (When::Always, When::Always) => return When::Always,
            (When::On(ways), When::Always) | (When::Always, When::On(ways)) => (&[Vec::new()][..], &**ways),
            (When::On(own), When::On(others)) => (&**own, &**others),
        };
        let both = own.iter().flat_map(|own| others.iter().map(|other| joined(own, other)));
        When::of(both)
    }

    /// The ways that are of these or of those.
    pub(super) fn or(&self, other: &When) -> When {
        match (self, other) {
            (When::Always, _) | (_, When::Always) => When::Always,
            (When::On(own), When::On(others)) if Rc::ptr_eq(own, others) => self.clone(),
            (When::On(own), When::On(others)) => When::of(own.iter().chain(others.iter()).cloned()),
        }
    }

    /// Without ways that others include.
    fn of(ways: impl Iterator<Item = FactList>) -> When {
        let mut kept: Vec<FactList> = Vec::new();
        for way in ways {
            let includes = |more: &FactList, less: &FactList| less.iter().all(|fact| more.contains(fact));
            if !kept.iter().any(|known| includes(&way, known)) {
                kept.retain(|known| !includes(known, &way));
                kept.push(way);
            }
        }
        match kept.len() > MOST_WAYS || kept.iter().any(FactList::is_empty) {
            true => When::Always,
            false => When::On(kept.into()),
        }
    }

    /// The ways, if something is known of each.
    pub fn ways(&self) -> &[FactList] {
        match self {
            When::Always => &[],
            When::On(ways) => ways,
        }
    }

    /// Whether a block that executes both accesses takes none of these ways.
    pub fn excludes(&self, (earlier, later): (&Visit, &Visit), run: &Run) -> bool {
        self.excludes_all(&[earlier, later], &run.symbols)
    }

    /// Whether a block that executes all of these takes none of these ways.
    pub(super) fn excludes_all(&self, visits: &[&Visit], symbols: &Symbols) -> bool {
        let When::On(ways) = self else { return false };
        let known: FactList = visits.iter().flat_map(|visit| of_block(visit, symbols)).collect();
        ways.iter().all(|way| is_contradicted(way, &known, symbols))
    }
}

/// What holds on a way that is two in turn.
fn joined(first: &FactList, then: &FactList) -> FactList {
    let mut facts = first.clone();
    for fact in then {
        if facts.len() < MOST_FACTS && !facts.contains(fact) {
            facts.push(Rc::clone(fact));
        }
    }
    facts
}

/// What the facts of an access say of the block, of which some thread executes it.
fn of_block<'a>(visit: &'a Visit, symbols: &'a Symbols) -> impl Iterator<Item = Rc<Linear>> + 'a {
    visit.facts.iter().filter_map(|fact| {
        let same = |lanes: &Lanes| lanes.uniform().is_some();
        let terms =
            || fact.terms.iter().all(|(id, factor)| same(factor) && symbols.get(*id).scope >= Scope::Block);
        match &fact.constant {
            _ if !terms() => None,
            Lanes::Uniform(_) => Some(Rc::clone(fact)),
            // It holds for one thread at least, so with the largest number.
            Lanes::Each(_) => {
                let (_, most) = fact.constant.extremes(&visit.mask)?;
                Some(Rc::new(Linear { constant: Lanes::Uniform(most), terms: fact.terms.clone() }))
            }
        }
    })
}

/// Whether one of these cannot hold where all others do and what is known.
fn is_contradicted(way: &FactList, known: &FactList, symbols: &Symbols) -> bool {
    (0..way.len()).any(|at| {
        let opposite = way[at].scale(&Lanes::Uniform(-1)).and_then(|form| form.offset(-1));
        let others = way.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, fact)| fact);
        let facts: FactList = others.chain(known).cloned().collect();
        opposite.is_some_and(|form| non_negative(&form, &facts, &Mask::Uniform(true), symbols))
    })
}
