//! Visits that are the same in all runs of the analysis.
//!
//! A kernel is analysed once for each residue of a loop's counter, and what is outside that loop comes up in each run. Two
//! executions of such a visit may then be of different runs; one visit that stands for all of them, with what is known in
//! each run and nothing else, saves comparing every pair, and facts about it that one run alone has cannot get in the way.

use super::linear::{Linear, SymbolId};
use super::symbol::{SymbolKind, Symbols};
use super::{Facts, Run, Visit};
use crate::ir::Axis;
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The visits that stand for all, each with the number of the run whose symbols it is in: those that all runs have in
/// common, and the others as they are.
pub fn of_all_runs(facts: &Facts) -> Vec<(usize, Cow<'_, Visit>)> {
    let Some((first, others)) = facts.runs.split_first() else { return Vec::new() };
    let mut others: Vec<Other<'_>> = others
        .iter()
        .map(|run| Other {
            alike: Alike::new(&first.symbols, &run.symbols),
            left: run.visits.iter().collect(),
        })
        .collect();
    let mut out = Vec::new();
    for visit in &first.visits {
        let places: Option<Vec<usize>> = others.iter_mut().map(|other| other.place(visit)).collect();
        let mut common = Cow::Borrowed(visit);
        for (other, place) in others.iter_mut().zip(places.iter().flatten()) {
            let same = other.left.remove(*place);
            let common = common.to_mut();
            common.facts.retain(|fact| other.alike.form(fact) && same.facts.contains(fact));
            common.presence = common.presence.max(same.presence);
        }
        out.push((0, common));
    }
    for (run, other) in (1..).zip(others) {
        out.extend(other.left.into_iter().map(|visit| (run, Cow::Borrowed(visit))));
    }
    out
}

/// Whether what is said of these visits of the first run, and follows from what is known there, is said of those of another
/// one: the same visits, of which at least as much is known.
pub fn says_the_same(first: (&Run, &[&Visit]), other: (&Run, &[&Visit])) -> bool {
    let mut alike = Alike::new(&first.0.symbols, &other.0.symbols);
    first.1.len() == other.1.len()
        && first.1.iter().zip(other.1).all(|(a, b)| {
            alike.visits(a, b) && a.facts.iter().all(|fact| alike.form(fact) && b.facts.contains(fact))
        })
}

/// Another run than the first.
struct Other<'a> {
    alike: Alike<'a>,
    /// Its visits for which none of the first run stands yet, in order.
    left: Vec<&'a Visit>,
}

impl Other<'_> {
    /// Where the visit is that is the same as one of the first run.
    fn place(&mut self, visit: &Visit) -> Option<usize> {
        self.left.iter().position(|other| self.alike.visits(visit, other))
    }
}

/// Which symbols of two runs are the same.
struct Alike<'a> {
    a: &'a Symbols,
    b: &'a Symbols,
    /// Whether the block's position is the same form in both.
    blocks: bool,
    known: BTreeMap<SymbolId, bool>,
}

impl<'a> Alike<'a> {
    fn new(a: &'a Symbols, b: &'a Symbols) -> Alike<'a> {
        let mut alike = Alike { a, b, blocks: true, known: BTreeMap::new() };
        let position = |symbols: &Symbols, axis| {
            symbols.find(&SymbolKind::Block(axis)).map(|block| symbols.resolved(block))
        };
        alike.blocks = [Axis::X, Axis::Y, Axis::Z].into_iter().all(|axis| {
            match (position(a, axis), position(b, axis)) {
                (Some(a), Some(b)) => a == b && alike.form(&a),
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            }
        });
        alike
    }

    fn visits(&mut self, a: &Visit, b: &Visit) -> bool {
        self.blocks
            && a.site == b.site
            && a.mask == b.mask
            && a.index == b.index
            && a.index.iter().all(|form| self.form(form))
    }

    /// Whether a form of the one is the same of the other.
    fn form(&mut self, form: &Linear) -> bool {
        form.terms.iter().all(|(symbol, _)| self.symbol(*symbol))
    }

    fn symbol(&mut self, id: SymbolId) -> bool {
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        let (a, b) = (self.a, self.b);
        let same = id.index() < b.len() && a.get(id) == b.get(id) && a.resolved(id) == b.resolved(id) && {
            let symbol = a.get(id);
            let operands =
                symbol.function.iter().flat_map(|function| [&function.operands.0, &function.operands.1]);
            let values = symbol
                .cases
                .iter()
                .flat_map(|case| std::iter::once(&case.value).chain(case.facts.iter().map(|fact| &**fact)));
            symbol.kind.factors().into_iter().flatten().all(|factor| self.symbol(factor))
                && operands.chain(&symbol.interior).chain(values).all(|form| self.form(form))
        };
        self.known.insert(id, same);
        same
    }
}
