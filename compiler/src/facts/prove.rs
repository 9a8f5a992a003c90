//! Inequalities between linear forms.
//!
//! A goal `form ≥ 0` follows from facts `fact ≥ 0` when it is a sum of non-negative multiples of them and of something
//! that the ranges of the symbols make non-negative. The search removes symbols from the goal, those that could make it
//! negative first, each by a fact that holds the symbol with the same sign. Where that fails, a symbol that is one of several
//! values, such as a minimum, is replaced by each of them in turn. All threads are judged at once: what is found must hold for
//! each of them.

use super::lanes::{Lanes, Mask};
use super::linear::{Linear, SymbolId};
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
    if symbols.examples.refute(goal, facts, mask, symbols) {
        return false;
    }
    let question = Question::new(goal, facts, mask, symbols);
    DEPTHS.into_iter().any(|depth| question.follows(symbols, depth, &mut { FEW_ATTEMPTS }))
        || !symbols.examples.find(goal, mask, symbols)
            && by_cases(goal, facts, mask, symbols, SPLITS, &mut { ATTEMPTS_OF_ALL })
}

/// Directly, or for each value that a symbol may have.
fn by_cases(
    goal: &Linear,
    facts: &[Rc<Linear>],
    mask: &Mask,
    symbols: &Symbols,
    splits: u32,
    attempts: &mut u32,
) -> bool {
    let question = Question::new(goal, facts, mask, symbols);
    for depth in DEPTHS {
        let most = ATTEMPTS.min(*attempts);
        let mut left = most;
        if question.follows(symbols, depth, &mut left) {
            return true;
        }
        *attempts -= most - left;
    }
    if splits == 0 || *attempts == 0 {
        return false;
    }
    let mut tried = Vec::new();
    for (symbol, _) in facts.iter().map(Rc::as_ref).chain([goal]).flat_map(|form| &form.terms) {
        let cases = &symbols.get(*symbol).cases;
        if cases.is_empty() || tried.contains(symbol) {
            continue;
        }
        tried.push(*symbol);
        let holds_in = |case: &Case| {
            let substituted = facts.iter().filter_map(|fact| match fact.find(*symbol) {
                Some(_) => fact.substitute(*symbol, &case.value).map(Rc::new),
                None => Some(Rc::clone(fact)),
            });
            let facts: FactList = case.facts.iter().rev().cloned().chain(substituted).collect();
            impossible(&facts, mask, symbols)
                || goal.substitute(*symbol, &case.value).is_some_and(|goal| {
                    let goal = symbols.along(&goal, &case.ways);
                    by_cases(&goal, &facts, mask, symbols, splits - 1, attempts)
                })
        };
        if cases.iter().all(holds_in) {
            return true;
        }
    }
    false
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
    if symbols.examples.refute(goal, facts, mask, symbols) {
        return false;
    }
    let question = Question::new(goal, facts, mask, symbols);
    let mut few = FEW_ATTEMPTS;
    question.follows_by(&question.facts, symbols, 2, &mut few)
        || few == 0
            && !symbols.examples.find(goal, mask, symbols)
            && question.follows_by(&question.facts, symbols, 2, &mut { ATTEMPTS })
}

/// A goal and facts, for the threads that decide.
struct Question {
    goal: Linear,
    facts: FactList,
    /// The same facts, the outermost first.
    outermost_first: FactList,
    mask: Mask,
}

impl Question {
    fn new(goal: &Linear, facts: &[Rc<Linear>], mask: &Mask, symbols: &Symbols) -> Question {
        let (goal, facts, mask) = match symbols.deciders.shorten(goal, facts, mask) {
            Some((goal, facts)) => (goal, facts, Mask::Uniform(true)),
            None => (goal.clone(), facts.to_vec(), mask.clone()),
        };
        let outermost_first = facts.iter().rev().cloned().collect();
        Question { goal, facts, outermost_first, mask }
    }

    /// Whether the goal follows by at most so many facts. A short proof is mostly by those that hold everywhere.
    fn follows(&self, symbols: &Symbols, depth: u32, attempts: &mut u32) -> bool {
        let facts = if depth <= 2 { &self.outermost_first } else { &self.facts };
        self.follows_by(facts, symbols, depth, attempts)
    }

    fn follows_by(&self, facts: &[Rc<Linear>], symbols: &Symbols, depth: u32, attempts: &mut u32) -> bool {
        search(&self.goal, facts, &self.mask, symbols, depth, attempts)
    }
}

fn search(
    goal: &Linear,
    facts: &[Rc<Linear>],
    mask: &Mask,
    symbols: &Symbols,
    depth: u32,
    attempts: &mut u32,
) -> bool {
    if lower_bound(goal, mask, symbols).is_some_and(|bound| bound >= 0) {
        return true;
    }
    if depth == 0 {
        return false;
    }
    // First the symbols that can pull the goal down, then those that can lift it.
    for pulls_down in [true, false] {
        for (symbol, coefficient) in &goal.terms {
            let Some(sign) = weak_sign(coefficient, mask) else { continue };
            if (sign < 0 || symbols.range(*symbol).0 < 0) != pulls_down {
                continue;
            }
            for fact in facts {
                let Some(other) = fact.find(*symbol) else { continue };
                if common_sign(other, mask) != Some(sign) {
                    continue;
                }
                if *attempts == 0 {
                    return false;
                }
                *attempts -= 1;
                if let Some(rest) = eliminate(goal, coefficient, fact, other, *symbol)
                    && search(&rest, facts, mask, symbols, depth - 1, attempts)
                {
                    return true;
                }
            }
        }
    }
    false
}

/// `|other| × goal + |other| − 1 − |coefficient| × fact`, which no longer holds the symbol. The goal follows from it, as
/// `other` is zero for no thread, and a whole number of which a multiple is above −1 times its factor is not negative.
fn eliminate(
    goal: &Linear,
    coefficient: &Lanes,
    fact: &Linear,
    other: &Lanes,
    symbol: SymbolId,
) -> Option<Linear> {
    let (mut scale, mut take) = (other.map(i64::checked_abs)?, coefficient.map(i64::checked_abs)?);
    if scale == take {
        (scale, take) = (Lanes::Uniform(1), Lanes::Uniform(1));
    } else if let (Lanes::Uniform(a), Lanes::Uniform(b)) = (&scale, &take) {
        let divisor = gcd(*a, *b).max(1);
        (scale, take) = (Lanes::Uniform(a / divisor), Lanes::Uniform(b / divisor));
    }
    let scaled = if scale == Lanes::Uniform(1) {
        goal.clone()
    } else {
        let slack = Linear::constant(scale.map(|scale| scale.checked_sub(1))?);
        goal.scale(&scale)?.add(&slack)?
    };
    let mut rest = scaled.add_scaled(fact, &take.map(i64::checked_neg)?)?;
    rest.terms.retain(|(other, _)| *other != symbol);
    Some(rest)
}

/// The sign of the coefficients of all threads in the mask, if it is one and they are not zero.
fn common_sign(coefficient: &Lanes, mask: &Mask) -> Option<i64> {
    let (least, most) = coefficient.extremes(mask)?;
    if least > 0 {
        Some(1)
    } else if most < 0 {
        Some(-1)
    } else {
        None
    }
}

/// The sign of the coefficients of all threads in the mask that are not zero, if it is one.
fn weak_sign(coefficient: &Lanes, mask: &Mask) -> Option<i64> {
    match coefficient.extremes(mask)? {
        (0, 0) => None,
        (0.., _) => Some(1),
        (_, ..=0) => Some(-1),
        _ => None,
    }
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
