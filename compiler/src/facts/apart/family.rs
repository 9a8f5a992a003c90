//! Visits that differ by numbers only, as one: what one loop of the source makes of one access is proven once.

use super::super::lanes::Mask;
use super::super::truth::Way;
use super::poly::{Monomial, Poly, Var, gcd};
use super::unknown::{Kind, Unknown, Unknowns};
use crate::ir::Scope;

/// A visit in unknowns.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// One form an extent, then the positions of the block.
    pub(super) forms: Vec<Poly>,
    /// What holds there, by its place among the translated facts.
    pub(super) facts: Vec<usize>,
    /// The threads that can be there.
    pub(super) mask: Mask,
    /// The least and the largest number of a thread there, in each form, without symbols.
    pub(super) known: Vec<(i128, i128)>,
    /// The unknowns of the forms that are one of several values.
    pub(super) choices: Vec<Choice>,
}

/// An unknown that is one of several values.
#[derive(Clone, Debug)]
pub(super) struct Choice {
    pub(super) var: Var,
    pub(super) cases: Vec<Value>,
}

/// One of them.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) form: Poly,
    /// What holds then.
    pub(super) facts: Vec<Poly>,
    /// The sides of branches that the thread went then.
    pub(super) ways: Vec<Way>,
}

/// Visits of one site that differ by numbers only.
#[derive(Clone, Debug)]
pub(super) struct Family {
    first: Access,
    /// By form.
    slots: Vec<Slots>,
    /// The facts that all members have, but for numbers, with the same.
    facts: Vec<(usize, Slots)>,
    mask: Mask,
    members: usize,
    /// What is not shared and has other names in other members.
    renamed: Vec<Var>,
}

/// A family as one execution.
#[derive(Clone, Debug)]
pub(super) struct Execution {
    pub(super) forms: Vec<Poly>,
    pub(super) facts: Vec<Poly>,
    pub(super) mask: Mask,
    pub(super) choices: Vec<Choice>,
    /// The unknowns that go by other names in other members: what they are made by is not known.
    pub(super) renamed: Vec<Var>,
}

/// Multiples of products of launch-wide unknowns, one number a member.
type Slots = Vec<(Monomial, Vec<i128>)>;

/// Which unknowns of a member are which of the first.
type Names = Vec<(Var, Var)>;

impl Family {
    pub(super) fn new(first: Access, unknowns: &Unknowns) -> Family {
        let slots = first.forms.iter().map(|form| slots_of(form, 1, unknowns)).collect();
        let facts = first.facts.iter().map(|fact| (*fact, slots_of(&unknowns.facts[*fact], 1, unknowns)));
        let facts = facts.collect();
        Family { slots, facts, mask: first.mask.clone(), members: 1, renamed: Vec::new(), first }
    }

    /// Takes a visit in, if it differs by numbers only, and by the names of what two executions do not share: `in_block`
    /// they may share what is the same for the whole block.
    pub(super) fn admit(&mut self, other: &Access, unknowns: &Unknowns, in_block: bool) -> bool {
        let mut names = Names::new();
        let alike = |(a, b): (&Poly, &Poly)| skeletons_match(a, b, &mut names, unknowns, in_block);
        if self.first.forms.len() != other.forms.len()
            || !self.first.forms.iter().zip(&other.forms).all(alike)
        {
            return false;
        }
        for (slots, form) in self.slots.iter_mut().zip(&other.forms) {
            extend(slots, form, self.members, unknowns);
        }
        // Facts of what is around come last in both.
        let (ours, theirs) = (self.facts.len(), other.facts.len());
        let mut place = 0;
        self.facts.retain_mut(|(fact, slots)| {
            let from_end = ours - place;
            place += 1;
            let Some(other) = theirs.checked_sub(from_end).and_then(|place| other.facts.get(place)) else {
                return false;
            };
            let form = &unknowns.facts[*other];
            if *fact != *other || !names.is_empty() {
                let mut tried = names.clone();
                if !skeletons_match(&unknowns.facts[*fact], form, &mut tried, unknowns, in_block) {
                    return false;
                }
                names = tried;
            }
            extend(slots, form, self.members, unknowns);
            true
        });
        for (known, other) in self.first.known.iter_mut().zip(&other.known) {
            *known = (known.0.min(other.0), known.1.max(other.1));
        }
        if self.mask != other.mask {
            self.mask = self.mask.or(&other.mask);
        }
        self.renamed.extend(names.iter().filter(|(ours, theirs)| ours != theirs).map(|(ours, _)| *ours));
        self.members += 1;
        true
    }

    /// All members at once: the numbers by which they differ become unknowns.
    pub(super) fn execution(&self, unknowns: &mut Unknowns) -> Option<Execution> {
        let mut digits: Vec<(Vec<i128>, Var)> = Vec::new();
        let mut forms = Vec::new();
        for (form, slots) in self.first.forms.iter().zip(&self.slots) {
            let mut whole = skeleton(form, unknowns);
            for (monomial, values) in slots {
                let number = match written(values, &digits) {
                    Some(number) => number,
                    None => {
                        let new = digits_of(values, unknowns)?;
                        digits.extend(new);
                        written(values, &digits)?
                    }
                };
                whole = whole.combine(1, &number.times(*monomial, 1)?, 1)?;
            }
            forms.push(whole);
        }
        let mut facts = Vec::new();
        'facts: for (fact, slots) in &self.facts {
            let mut whole = skeleton(&unknowns.facts[*fact], unknowns);
            for (monomial, values) in slots {
                let number = match written(values, &digits) {
                    Some(number) => number,
                    // What holds of each member with its own constant holds with the largest.
                    None if monomial.is_one() => Poly::number(values.iter().copied().max()?),
                    None => continue 'facts,
                };
                whole = whole.combine(1, &number.times(*monomial, 1)?, 1)?;
            }
            facts.push(whole);
        }
        for (form, (low, high)) in forms.iter().zip(&self.first.known) {
            let known = known_part(form, unknowns);
            facts.extend(known.offset(-low));
            facts.extend(known.scaled(-1).and_then(|known| known.offset(*high)));
        }
        let choices = if self.renamed.is_empty() { self.first.choices.clone() } else { Vec::new() };
        Some(Execution { forms, facts, mask: self.mask.clone(), choices, renamed: self.renamed.clone() })
    }
}

impl Execution {
    /// One execution for each of the values that unknowns of the forms may have; as it is where these are too many.
    pub(super) fn by_cases(self, ways: &[Way], depth: u32) -> Vec<Execution> {
        let choice = self.choices.iter().find(|choice| self.forms.iter().any(|form| form.holds(choice.var)));
        let (Some(choice), 1..) = (choice, depth) else { return vec![self] };
        let mut all = Vec::new();
        for case in &choice.cases {
            if case.ways.iter().any(|(branch, side)| ways.contains(&(*branch, !side))) {
                continue;
            }
            let put = |form: &Poly| match form.holds(choice.var) {
                true => form.substitute(choice.var, &case.form),
                false => Some(form.clone()),
            };
            let Some(forms) = self.forms.iter().map(put).collect::<Option<Vec<Poly>>>() else {
                return vec![self];
            };
            let facts = self.facts.iter().filter_map(put).chain(case.facts.iter().cloned()).collect();
            let ways = [ways, &case.ways].concat();
            let (mask, choices) = (self.mask.clone(), self.choices.clone());
            let execution = Execution { forms, facts, mask, choices, renamed: self.renamed.clone() };
            all.extend(execution.by_cases(&ways, depth - 1));
        }
        all
    }
}

/// The terms that are multiples of launch-wide numbers.
fn slots_of(form: &Poly, members: usize, unknowns: &Unknowns) -> Slots {
    let mut slots = Vec::new();
    extend(&mut slots, form, members - 1, unknowns);
    slots
}

fn is_slot(monomial: Monomial, unknowns: &Unknowns) -> bool {
    unknowns.of_launch(monomial) == monomial
}

/// What of a form is a number of the thread and of the iteration.
fn known_part(form: &Poly, unknowns: &Unknowns) -> Poly {
    let known = |var: &Var| matches!(unknowns.get(*var).kind, Kind::Thread(_) | Kind::Table(_) | Kind::Shift);
    Poly(form.0.iter().filter(|(monomial, _)| monomial.factors().iter().all(known)).copied().collect())
}

fn skeleton(form: &Poly, unknowns: &Unknowns) -> Poly {
    Poly(form.0.iter().filter(|(monomial, _)| !is_slot(*monomial, unknowns)).copied().collect())
}

/// Adds the numbers of one more member.
fn extend(slots: &mut Slots, form: &Poly, members: usize, unknowns: &Unknowns) {
    for (monomial, values) in slots.iter_mut() {
        values.push(form.coefficient(*monomial));
    }
    for (monomial, value) in &form.0 {
        if is_slot(*monomial, unknowns) && slots.iter().all(|(other, _)| other != monomial) {
            let mut values = vec![0; members];
            values.push(*value);
            slots.push((*monomial, values));
        }
    }
}

/// Whether two forms are the same but for multiples of launch-wide numbers and for the names of what is not shared.
fn skeletons_match(a: &Poly, b: &Poly, names: &mut Names, unknowns: &Unknowns, in_block: bool) -> bool {
    let pick = |(monomial, _): &&(Monomial, i128)| !is_slot(*monomial, unknowns);
    let (mut of_a, mut of_b) = (a.0.iter().filter(pick), b.0.iter().filter(pick));
    loop {
        match (of_a.next(), of_b.next()) {
            (None, None) => return true,
            (Some((x, p)), Some((y, q))) => {
                let (x, y) = (x.factors(), y.factors());
                let same = p == q && x.len() == y.len();
                if !same || !x.iter().zip(y).all(|(x, y)| is_named(*x, *y, names, unknowns, in_block)) {
                    return false;
                }
            }
            _ => return false,
        }
    }
}

fn is_named(ours: Var, theirs: Var, names: &mut Names, unknowns: &Unknowns, in_block: bool) -> bool {
    if let Some((a, b)) = names.iter().find(|(a, b)| *a == ours || *b == theirs) {
        return (*a, *b) == (ours, theirs);
    }
    let (a, b) = (unknowns.get(ours), unknowns.get(theirs));
    let alike = ours == theirs
        || match a.kind {
            Kind::Symbol(scope) if in_block && scope >= Scope::Block => false,
            Kind::Symbol(_) | Kind::Block(_) => {
                a.kind == b.kind && a.low <= b.low && b.high <= a.high && a.name == b.name
            }
            Kind::Launch | Kind::Thread(_) | Kind::Table(_) | Kind::Shift => false,
        };
    if alike && matches!(a.kind, Kind::Symbol(_) | Kind::Block(_)) {
        names.push((ours, theirs));
    }
    alike
}

/// Numbers from zero without a common divisor, with what they were multiplied by and what was added.
fn normal(values: &[i128]) -> Option<(Vec<i128>, i128, i128)> {
    let least = values.iter().copied().min()?;
    let divisor = values.iter().fold(0, |divisor, value| gcd(divisor, value - least));
    if divisor == 0 {
        return Some((vec![0; values.len()], 1, least));
    }
    Some((values.iter().map(|value| (value - least) / divisor).collect(), divisor, least))
}

/// The numbers of all members as a combination of digits.
fn written(values: &[i128], digits: &[(Vec<i128>, Var)]) -> Option<Poly> {
    let (rest, factor, least) = normal(values)?;
    let mut out = Poly::number(least);
    if rest.iter().all(|value| *value == 0) {
        return Some(out);
    }
    for (digit, var) in digits {
        if *digit == rest {
            return out.combine(1, &Poly::var(*var), factor);
        }
        let most = digit.iter().copied().max()?;
        if digit.iter().zip(&rest).all(|(digit, value)| most - digit == *value) {
            return out.offset(factor * most)?.combine(1, &Poly::var(*var), -factor);
        }
    }
    // As several digits, each with the step between a member where it is 1 and one where it is 0, all others alike.
    let mut left = values.to_vec();
    for (digit, var) in digits {
        let unit = digit.iter().position(|value| *value == 1)?;
        let base = (0..values.len()).find(|member| {
            digit[*member] == 0 && digits.iter().all(|(other, v)| v == var || other[*member] == other[unit])
        });
        let Some(base) = base else { continue };
        let step = values[unit] - values[base];
        for (left, digit) in left.iter_mut().zip(digit) {
            *left -= step * digit;
        }
        out = out.combine(1, &Poly::var(*var), step)?;
    }
    let first = *left.first()?;
    left.iter().all(|value| *value == first).then(|| out.offset(first - least))?
}

/// Unknowns for the digits of numbers in mixed radix, which may make more numbers than these; else one that takes all values.
fn digits_of(values: &[i128], unknowns: &mut Unknowns) -> Option<Vec<(Vec<i128>, Var)>> {
    let (numbers, ..) = normal(values)?;
    let mut distinct = numbers.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let mut digits = Vec::new();
    let mut radices = Vec::new();
    let mut left = distinct.clone();
    while left.len() > 1 {
        let step = left[1];
        let count = left.iter().zip(0..).take_while(|(value, place)| **value == step * place).count();
        let next = left.get(count).copied().unwrap_or(step * count as i128);
        radices.push((step, count as i128));
        let is_digit = |value: &i128| value % next % step == 0 && value % next / step < count as i128;
        let mut tops: Vec<i128> = left.iter().map(|value| value - value % next).collect();
        tops.dedup();
        if !left.iter().all(is_digit) || tops.len() == left.len() {
            return one_digit(numbers, unknowns);
        }
        left = tops;
    }
    // Each number must be the sum of its digits.
    let mut rest = numbers.clone();
    for (step, count) in radices.iter().rev() {
        let digit: Vec<i128> = rest.iter().map(|value| (value / step).min(count - 1)).collect();
        for (rest, digit) in rest.iter_mut().zip(&digit) {
            *rest -= digit * step;
        }
        digits.push(digit);
    }
    if rest.iter().any(|value| *value != 0) {
        return one_digit(numbers, unknowns);
    }
    digits.into_iter().map(|digit| Some((digit.clone(), shift(&digit, unknowns)?))).collect()
}

fn one_digit(numbers: Vec<i128>, unknowns: &mut Unknowns) -> Option<Vec<(Vec<i128>, Var)>> {
    let var = shift(&numbers, unknowns)?;
    Some(vec![(numbers, var)])
}

fn shift(digit: &[i128], unknowns: &mut Unknowns) -> Option<Var> {
    let high = digit.iter().copied().max()?;
    let name = "the iteration of an unrolled loop".into();
    unknowns.add(Unknown { kind: Kind::Shift, low: 0, high, twin: None, name })
}
