//! Inequalities between linear forms.
//!
//! A goal `form ≥ 0` follows from facts `fact ≥ 0` when it is a sum of non-negative multiples of them and of something
//! that the ranges of the symbols make non-negative. The search removes symbols from the goal, those that could make it
//! negative first, each by a fact that holds the symbol with the same sign. Where that fails, a symbol that is one of several
//! values, such as a minimum, is replaced by each of them in turn. All threads are judged at once: what is found must hold for
//! each of them.
//!
//! Most of the cost is saved before a search: it looks at the threads that decide for all ([`super::deciding`]), it is not
//! begun where an example shows that there is no proof ([`super::example`]), and what it showed is remembered while the facts
//! that it needed hold ([`super::search`]).

use super::deciding::Question;
use super::lanes::{Lanes, Mask};
use super::linear::{Linear, SymbolId};
use super::search::{Found, Order};
use super::symbol::{Case, Symbols};
use std::rc::Rc;

/// How many facts one proof may combine: few are tried first, so that a short proof is not lost among long ones.
const DEPTHS: [u32; 3] = [1, 2, 5];
/// How many symbols that are one of several values one proof may take apart.
const SPLITS: u32 = 2;
/// How many combinations one search may try.
const ATTEMPTS: u32 = 200;
/// How many the searches of one proof may try together; of the kernels of this project, none needs more than 600.
const ATTEMPTS_OF_ALL: u32 = 800;
/// After how many it is worth while to look for an example where the goal is negative.
const FEW_ATTEMPTS: u32 = 12;

/// Facts that hold at a point of the program: each form is non-negative.
pub type FactList = Vec<Rc<Linear>>;

/// Whether `goal ≥ 0` for all threads in the mask.
pub fn non_negative(goal: &Linear, facts: &[Rc<Linear>], mask: &Mask, symbols: &Symbols) -> bool {
    if lower_bound(goal, mask, symbols).is_some_and(|bound| bound >= 0) {
        return true;
    }
    let answer = |question: &Question<'_>| {
        if symbols.examples.refute(goal, facts, mask, symbols) {
            return None;
        }
        let mut few = DEPTHS.into_iter();
        if let Some(found) =
            few.find_map(|depth| question.search(depth, order_for(depth), &mut { FEW_ATTEMPTS }))
        {
            return Some(found);
        }
        if symbols.examples.find(goal, mask, symbols) {
            return None;
        }
        let mut attempts = ATTEMPTS_OF_ALL;
        directly(question, &mut attempts)
            .or_else(|| by_cases(goal, facts, mask, symbols, SPLITS, &mut attempts))
    };
    symbols.deciders.ask(goal, facts, mask, symbols, answer).is_some()
}

/// A short proof is mostly by what holds everywhere.
fn order_for(depth: u32) -> Order {
    if depth <= 2 { Order::OutermostFirst } else { Order::InnermostFirst }
}

/// Without a look at the values that symbols may have.
fn directly(question: &Question<'_>, attempts: &mut u32) -> Option<Found> {
    DEPTHS.into_iter().find_map(|depth| {
        let most = ATTEMPTS.min(*attempts);
        let mut left = most;
        let found = question.search(depth, order_for(depth), &mut left);
        *attempts -= most - left;
        found
    })
}

/// For each value that a symbol may have.
fn by_cases(
    goal: &Linear,
    facts: &[Rc<Linear>],
    mask: &Mask,
    symbols: &Symbols,
    splits: u32,
    attempts: &mut u32,
) -> Option<Found> {
    if splits == 0 || *attempts == 0 {
        return None;
    }
    let mut tried = Vec::new();
    for (symbol, _) in facts.iter().map(Rc::as_ref).chain([goal]).flat_map(|form| &form.terms) {
        let cases = &symbols.get(*symbol).cases;
        if cases.is_empty() || tried.contains(symbol) {
            continue;
        }
        tried.push(*symbol);
        let mut in_case = |case: &Case| {
            let substituted = facts.iter().filter_map(|fact| match fact.find(*symbol) {
                Some(_) => fact.substitute(*symbol, &case.value).map(Rc::new),
                None => Some(Rc::clone(fact)),
            });
            let known: FactList = case.facts.iter().rev().cloned().chain(substituted).collect();
            if impossible(&known, mask, symbols) {
                return Some(Found::without_case(facts.len()));
            }
            let goal = symbols.along(&goal.substitute(*symbol, &case.value)?, &case.ways);
            let answer = |question: &Question<'_>| directly(question, attempts);
            let found = symbols.deciders_of_cases.ask(&goal, &known, mask, symbols, answer);
            let found = found.or_else(|| by_cases(&goal, &known, mask, symbols, splits - 1, attempts))?;
            // Facts keep their places unless one is lost on the way.
            let all = known.len() == case.facts.len() + facts.len();
            let needed = if all { found.facts.min(facts.len()) } else { facts.len() };
            Some(Found { facts: needed, ..found })
        };
        let first = Found::without_case(0);
        if let Some(found) = cases.iter().try_fold(first, |all, case| Some(all.and(in_case(case)?))) {
            return Some(found);
        }
    }
    None
}

/// Whether a fact is negative whatever its symbols are.
fn impossible(facts: &[Rc<Linear>], mask: &Mask, symbols: &Symbols) -> bool {
    facts.iter().any(|fact| upper_bound(fact, mask, symbols).is_some_and(|bound| bound < 0))
}

/// The same by at most two facts, for questions whose answer is mostly no.
pub(super) fn follows(goal: &Linear, facts: &[Rc<Linear>], mask: &Mask, symbols: &Symbols) -> bool {
    if lower_bound(goal, mask, symbols).is_some_and(|bound| bound >= 0) {
        return true;
    }
    let answer = |question: &Question<'_>| {
        if symbols.examples.refute(goal, facts, mask, symbols) {
            return None;
        }
        question.search(2, Order::InnermostFirst, &mut { ATTEMPTS })
    };
    symbols.deciders.ask(goal, facts, mask, symbols, answer).is_some()
}

/// The least value that the ranges of the symbols allow, over the threads in the mask.
pub fn lower_bound(form: &Linear, mask: &Mask, symbols: &Symbols) -> Option<i128> {
    let mut bound = i128::from(form.constant.extremes(mask)?.0);
    for (symbol, coefficient) in &form.terms {
        bound = bound.checked_add(corners(*symbol, coefficient, mask, symbols)?.into_iter().min()?)?;
    }
    Some(bound)
}

/// The largest value by the ranges of the symbols; `None` on overflow or where no thread is.
pub(super) fn upper_bound(form: &Linear, mask: &Mask, symbols: &Symbols) -> Option<i128> {
    let mut bound = i128::from(form.constant.extremes(mask)?.1);
    for (symbol, coefficient) in &form.terms {
        bound = bound.checked_add(corners(*symbol, coefficient, mask, symbols)?.into_iter().max()?)?;
    }
    Some(bound)
}

/// The products of the ends of the ranges of a symbol and of its coefficient.
fn corners(symbol: SymbolId, coefficient: &Lanes, mask: &Mask, symbols: &Symbols) -> Option<[i128; 4]> {
    let (low, high) = symbols.range(symbol);
    let (least, most) = coefficient.extremes(mask)?;
    let (least, most) = (i128::from(least), i128::from(most));
    Some([least.checked_mul(low)?, least.checked_mul(high)?, most.checked_mul(low)?, most.checked_mul(high)?])
}

/// A fact with its constant lowered to what whole numbers allow: `4 a − 1 ≥ 0` means `4 a − 4 ≥ 0`.
pub(super) fn tighten(fact: Linear) -> Linear {
    let mut divisor = 0;
    for (_, coefficient) in &fact.terms {
        match coefficient.uniform() {
            Some(value) => divisor = gcd(divisor, value.abs()),
            None => return fact,
        }
    }
    if divisor < 2 {
        return fact;
    }
    match fact.constant.map(|value| value.div_euclid(divisor).checked_mul(divisor)) {
        Some(constant) => Linear { constant, terms: fact.terms },
        None => fact,
    }
}

/// The greatest common divisor of two non-negative numbers.
pub fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}
