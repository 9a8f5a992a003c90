//! Examples: a thread, with a number for every unknown that it may meet together.
//!
//! What is false for one of them no proof can show, so a question whose answer is no is mostly answered by one evaluation
//! instead of a search that fails. An example answers only where all facts hold for it, every number is in the range of its
//! symbol, and every symbol that is one of several values is one of them, by ways that a thread can go together: that is
//! all a proof may use. They are chosen without regard to the question, and kept for the next one.

use super::eval::apply;
use super::lanes::Mask;
use super::linear::{Linear, SymbolId};
use super::prove::FactList;
use super::symbol::{Case, Operation, SymbolKind, Symbols};
use super::truth::Way;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// How many are kept.
const MOST_KEPT: usize = 24;
/// How many are made for one question at most; half as many after one for which that was in vain.
const MOST_TRIED: u32 = 24;
/// How many steps above the least value a number may be.
const STEPS: [i64; 8] = [0, 0, 1, 17, 40, 300, 5_000, 1_000_003];

/// Examples for the questions of one run of the analysis.
#[derive(Clone, Debug, Default)]
pub(super) struct Examples {
    /// The one that answered last comes first.
    kept: RefCell<Vec<Example>>,
    /// The facts of the last question, the oldest first.
    facts: RefCell<FactList>,
    made: Cell<u64>,
    /// For how many questions in a row new ones were made in vain.
    in_vain: Cell<u32>,
}

#[derive(Clone, Debug)]
struct Example {
    /// What its choices follow from.
    seed: u64,
    thread: usize,
    /// By symbol.
    values: Vec<Number>,
    /// The sides of branches that the thread went.
    ways: Vec<Way>,
    /// How many of the facts have been looked at: all of them hold, or all but the last.
    seen: usize,
    holds: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Number {
    Open,
    Is(i64),
    /// It can be none.
    Never,
}

impl Examples {
    /// Whether one that is there already is one where the form is negative and the facts hold.
    pub(super) fn refute(&self, goal: &Linear, facts: &[Rc<Linear>], mask: &Mask, symbols: &Symbols) -> bool {
        self.take_facts(facts);
        let known = self.facts.borrow();
        let mut kept = self.kept.borrow_mut();
        let found = kept
            .iter_mut()
            .position(|example| mask.get(example.thread) && example.refutes(goal, &known, symbols));
        if let Some(place @ 1..) = found {
            kept[..=place].rotate_right(1);
        }
        found.is_some()
    }

    /// The same with new ones: for a question that would be costly otherwise.
    pub(super) fn find(&self, goal: &Linear, mask: &Mask, symbols: &Symbols) -> bool {
        let known = self.facts.borrow();
        for _ in 0..MOST_TRIED >> self.in_vain.get().min(1) {
            let seed = self.made.get();
            self.made.set(seed + 1);
            let Some(mut example) = Example::new(mix(seed), goal, mask) else { return false };
            if example.refutes(goal, &known, symbols) {
                let mut kept = self.kept.borrow_mut();
                kept.truncate(MOST_KEPT - 1);
                kept.insert(0, example);
                self.in_vain.set(0);
                return true;
            }
        }
        self.in_vain.set(self.in_vain.get() + 1);
        false
    }

    /// Goes over to other facts, of which the oldest are mostly the same.
    fn take_facts(&self, facts: &[Rc<Linear>]) {
        let mut known = self.facts.borrow_mut();
        let count = facts.len();
        let mut same = 0;
        while same < count && same < known.len() && Rc::ptr_eq(&known[same], &facts[count - 1 - same]) {
            same += 1;
        }
        if same == count && same == known.len() {
            return;
        }
        known.truncate(same);
        known.extend(facts[..count - same].iter().rev().cloned());
        for example in self.kept.borrow_mut().iter_mut() {
            if example.seen > same {
                (example.seen, example.holds) = (same, true);
            }
        }
    }
}

impl Example {
    fn new(seed: u64, goal: &Linear, mask: &Mask) -> Option<Example> {
        let threads = match mask {
            Mask::Uniform(_) => goal.threads(),
            Mask::Each(mask) => mask.len(),
        };
        let thread = match (seed % 4, threads) {
            (0, _) | (_, 0) => 0,
            (1 | 2, _) => threads - 1,
            _ => (seed >> 8) as usize % threads,
        };
        let thread = (thread..threads.max(1)).chain(0..thread).find(|thread| mask.get(*thread))?;
        Some(Example { seed, thread, values: Vec::new(), ways: Vec::new(), seen: 0, holds: true })
    }

    fn refutes(&mut self, goal: &Linear, facts: &[Rc<Linear>], symbols: &Symbols) -> bool {
        // What is not chosen yet is chosen by the facts.
        let is_open = |id: SymbolId| matches!(self.values.get(id.index()), Some(Number::Open) | None);
        let chosen = !goal.terms.iter().any(|(symbol, _)| is_open(*symbol));
        self.holds
            && (chosen || self.holds_all(facts, symbols))
            && self.evaluate(goal, &[], symbols).is_some_and(|value| value < 0)
            && self.holds_all(facts, symbols)
    }

    fn holds_all(&mut self, facts: &[Rc<Linear>], symbols: &Symbols) -> bool {
        while self.holds && self.seen < facts.len() {
            let value = self.evaluate(&facts[self.seen], &facts[self.seen..], symbols);
            self.holds = value.is_some_and(|value| value >= 0);
            self.seen += 1;
        }
        self.holds
    }

    /// The value of a form; numbers that are open are chosen so that these facts may hold.
    fn evaluate(&mut self, form: &Linear, facts: &[Rc<Linear>], symbols: &Symbols) -> Option<i128> {
        let mut sum = i128::from(form.constant.get(self.thread));
        for (symbol, coefficient) in &form.terms {
            let coefficient = coefficient.get(self.thread);
            if coefficient != 0 {
                sum += i128::from(coefficient) * i128::from(self.value(*symbol, facts, symbols)?);
            }
        }
        Some(sum)
    }

    fn value(&mut self, id: SymbolId, facts: &[Rc<Linear>], symbols: &Symbols) -> Option<i64> {
        match self.values.get(id.index()) {
            Some(Number::Is(value)) => return Some(*value),
            Some(Number::Never) => return None,
            Some(Number::Open) => {}
            None => self.values.resize(symbols.len().max(id.index() + 1), Number::Open),
        }
        // While it is computed, it cannot be a part of itself.
        self.values[id.index()] = Number::Never;
        let value = self.compute(id, facts, symbols)?;
        let (low, high) = symbols.narrow_range_of(id);
        if i128::from(value) < low || i128::from(value) > high {
            return None;
        }
        self.values[id.index()] = Number::Is(value);
        Some(value)
    }

    fn compute(&mut self, id: SymbolId, facts: &[Rc<Linear>], symbols: &Symbols) -> Option<i64> {
        let symbol = symbols.get(id);
        if let SymbolKind::Product(a, b) = symbol.kind {
            return self.value(a, facts, symbols)?.checked_mul(self.value(b, facts, symbols)?);
        }
        if let Some(function) = &symbol.function {
            let (a, b) = &function.operands;
            let a = i64::try_from(self.evaluate(a, facts, symbols)?).ok()?;
            let b = i64::try_from(self.evaluate(b, facts, symbols)?).ok()?;
            return match function.operation {
                Operation::Binary(op) => apply(op, a, b),
                Operation::Quotient => a.checked_div_euclid(b),
                Operation::Wrapped(scalar) => {
                    let (least, most) = scalar.range()?;
                    i64::try_from((i128::from(a) - least).rem_euclid(most - least + 1) + least).ok()
                }
            };
        }
        if symbol.cases.is_empty() {
            return self.choose(id, facts, symbols);
        }
        let turn = (self.seed >> 16) as usize % symbol.cases.len();
        let cases = symbol.cases[turn..].iter().chain(&symbol.cases[..turn]);
        for case in cases {
            if self.is_case(case, facts, symbols) {
                self.ways.extend_from_slice(&case.ways);
                return i64::try_from(self.evaluate(&case.value, facts, symbols)?).ok();
            }
        }
        None
    }

    /// Whether a thread that went where it has gone may find this case.
    fn is_case(&mut self, case: &Case, facts: &[Rc<Linear>], symbols: &Symbols) -> bool {
        case.ways.iter().all(|(branch, side)| !self.ways.contains(&(*branch, !side)))
            && case
                .facts
                .iter()
                .all(|fact| self.evaluate(fact, facts, symbols).is_some_and(|value| value >= 0))
    }

    /// A number for an unknown of which only the range and these facts are known.
    fn choose(&mut self, id: SymbolId, facts: &[Rc<Linear>], symbols: &Symbols) -> Option<i64> {
        let (mut low, mut high) = symbols.narrow_range_of(id);
        for fact in facts {
            // Symbols are in order, and most facts are about older ones.
            if fact.terms.last().is_none_or(|(last, _)| *last < id) {
                continue;
            }
            let Some(own) = fact.find(id) else { continue };
            let own = i128::from(own.get(self.thread));
            // What the others leave room for, if they are known.
            let mut rest = Some(i128::from(fact.constant.get(self.thread)));
            for (other, coefficient) in &fact.terms {
                if *other != id {
                    rest = match self.values.get(other.index()) {
                        Some(Number::Is(value)) => rest
                            .map(|rest| rest + i128::from(coefficient.get(self.thread)) * i128::from(*value)),
                        Some(Number::Open | Number::Never) | None => None,
                    };
                }
            }
            let Some(rest) = rest else { continue };
            if own > 0 {
                low = low.max(-rest.div_euclid(own));
            } else if own < 0 {
                high = high.min(rest.div_euclid(-own));
            }
        }
        let (low, high) = (i64::try_from(low).ok()?, i64::try_from(high).ok()?);
        if low > high {
            return None;
        }
        let choice = mix(self.seed ^ (u64::from(id.0) << 32));
        let step = STEPS[(choice >> 8) as usize % STEPS.len()];
        Some(match choice % 4 {
            0 => high.saturating_sub(step).max(low),
            _ => low.saturating_add(step).min(high),
        })
    }
}

/// A number that looks like no other.
fn mix(number: u64) -> u64 {
    let number =
        (number ^ (number >> 30)).wrapping_add(0x9e37_79b9_7f4a_7c15).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}
