//! Equations and inequalities between unknowns, and the search for a contradiction among them.
//!
//! An equation `low ≤ form ≤ high` is taken apart by mixed radix: of `stride × rest + small`, where `small` stays within
//! one stride, both parts are equations of their own, be the stride a number or a product of launch-wide unknowns. An
//! equation of one number then gives an unknown away, which is replaced everywhere.

use super::poly::{Monomial, Poly, Var, gcd};
use super::unknown::{Kind, Unknowns};
use crate::ir::Scope;

/// How many facts one proof may combine.
const DEPTH: u32 = 3;
/// How many combinations one proof may try.
const ATTEMPTS: u32 = 120;
/// How often ranges are narrowed by what they were narrowed to.
const TIGHTENED: u32 = 2;
/// Beyond this a bound says nothing that could not be cut off.
const UNBOUNDED: u128 = 1 << 100;
/// How many all proofs about two executions may try.
const MOST_WORK: u32 = 3_000;

/// `low ≤ form ≤ high`.
#[derive(Clone, Debug)]
pub(super) struct Equation {
    pub(super) form: Poly,
    pub(super) low: i128,
    pub(super) high: i128,
}

/// Where some forms are zero, so is another.
#[derive(Clone, Debug)]
pub(super) struct Agreement {
    pub(super) where_zero: Vec<Poly>,
    pub(super) zero: Poly,
}

/// What holds if two executions meet.
#[derive(Clone, Debug)]
pub(super) struct System<'a> {
    unknowns: &'a Unknowns,
    ranges: Vec<(i128, i128)>,
    pub(super) equations: Vec<Equation>,
    /// Each is non-negative.
    facts: Vec<Poly>,
    pub(super) agreements: Vec<Agreement>,
    /// What must not all be zero; replaced as everything else.
    pub(super) differences: Vec<Poly>,
    impossible: bool,
    /// How many combinations have been tried.
    pub(super) work: u32,
}

impl<'a> System<'a> {
    pub(super) fn new(unknowns: &'a Unknowns) -> System<'a> {
        let ranges = (0..unknowns.len()).map(|var| {
            let unknown = unknowns.get(var as Var);
            (unknown.low, unknown.high)
        });
        System {
            unknowns,
            ranges: ranges.collect(),
            equations: Vec::new(),
            facts: Vec::new(),
            agreements: Vec::new(),
            differences: Vec::new(),
            impossible: false,
            work: 0,
        }
    }

    /// Adds that a form is non-negative.
    pub(super) fn suppose(&mut self, fact: Poly) {
        match fact.unknown() {
            [] => self.impossible |= fact.constant() < 0,
            [(monomial, coefficient)] if monomial.lone().is_some() => {
                let Some(var) = monomial.lone() else { return };
                let range = &mut self.ranges[var as usize];
                // Rounded to what whole numbers allow.
                if *coefficient > 0 {
                    range.0 = range.0.max(-fact.constant().div_euclid(*coefficient));
                } else {
                    range.1 = range.1.min(fact.constant().div_euclid(-coefficient));
                }
                self.impossible |= range.0 > range.1;
            }
            _ => {
                if !self.facts.contains(&fact) {
                    self.facts.push(fact);
                }
            }
        }
    }

    /// Takes two opposite facts as an equation, and what facts say of single unknowns by the ranges of the others as their
    /// ranges.
    pub(super) fn tighten(&mut self) {
        for _ in 0..TIGHTENED {
            let facts = std::mem::take(&mut self.facts);
            let before = self.ranges.clone();
            facts.iter().for_each(|fact| self.narrow(fact));
            self.facts = facts;
            if self.ranges == before {
                break;
            }
        }
        for (place, fact) in self.facts.iter().enumerate() {
            let opposite = self.facts[..place].iter().find_map(|other| {
                let sum = fact.combine(1, other, 1).filter(|sum| sum.unknown().is_empty())?;
                Some(sum.constant())
            });
            match opposite {
                Some(0) => self.equations.push(Equation { form: fact.clone(), low: 0, high: 0 }),
                Some(room) => self.impossible |= room < 0,
                None => {}
            }
        }
        for var in 0..self.ranges.len() {
            let (low, high) = self.ranges[var];
            let var = var as Var;
            let mut forms = self.facts.iter().chain(self.equations.iter().map(|equation| &equation.form));
            if low == high && forms.any(|form| form.holds(var)) {
                self.put(var, &Poly::number(low));
            }
        }
    }

    /// Of a fact's unknowns that are in it but once, the ranges that it leaves.
    fn narrow(&mut self, fact: &Poly) {
        let (_, most) = self.bounds(fact.unknown());
        let most = most.saturating_add(fact.constant());
        for (monomial, coefficient) in fact.unknown() {
            let Some(var) = monomial.lone() else { continue };
            let single = fact.unknown().iter().filter(|(other, _)| other.holds(var)).count() == 1;
            let (_, own) = self.bounds(&[(*monomial, *coefficient)]);
            if !single || most.unsigned_abs() >= UNBOUNDED || own.unsigned_abs() >= UNBOUNDED {
                continue;
            }
            // The rest is so much at most, and so is what this one takes away.
            let rest = most - own;
            let range = &mut self.ranges[var as usize];
            if *coefficient > 0 {
                range.0 = range.0.max(-rest.div_euclid(*coefficient));
            } else {
                range.1 = range.1.min(rest.div_euclid(-coefficient));
            }
            self.impossible |= range.0 > range.1;
        }
    }

    /// Whether nothing satisfies all, as far as equations say it.
    pub(super) fn settle(&mut self) -> bool {
        for _ in 0..64 {
            if self.impossible {
                return true;
            }
            let progress = self.simplify()
                || self.agree()
                || self.replace(true)
                || self.take_apart(false)
                || self.take_apart(true)
                || self.refute()
                || self.replace(false)
                || self.replace_shared();
            if !progress {
                break;
            }
        }
        self.impossible
    }

    /// Makes an equation of what agrees by now. Whether there was any.
    fn agree(&mut self) -> bool {
        let agrees = |agreement: &Agreement| agreement.where_zero.iter().all(Poly::is_zero);
        let Some(place) = self.agreements.iter().position(agrees) else { return false };
        let form = self.agreements.swap_remove(place).zero;
        self.equations.push(Equation { form, low: 0, high: 0 });
        true
    }

    /// Whether what is supposed contradicts an equation.
    fn refute(&mut self) -> bool {
        for Equation { form, low, high } in self.equations.clone() {
            let above = form.offset(-1 - high);
            let below = form.scaled(-1).and_then(|form| form.offset(low - 1));
            if [above, below].into_iter().flatten().any(|side| self.holds(&side)) {
                self.impossible = true;
                return true;
            }
        }
        false
    }

    /// Gives remainders names: of `0 ≤ number − divisor × quotient < divisor`, what is between becomes an unknown, and the
    /// number, or an unknown of it, what it follows from. Whether there were any.
    pub(super) fn name_remainders(&mut self) -> bool {
        let mut found = false;
        for form in self.facts.clone() {
            // What was replaced before may be a part of it.
            if self.work >= MOST_WORK || !self.facts.contains(&form) {
                continue;
            }
            let Some((var, sign, high)) = self.remainder(&form) else { continue };
            let Ok(name) = Var::try_from(self.ranges.len()) else { return found };
            let rest = form.combine(1, &Poly::of(Monomial::of(var), sign), -1);
            let by = rest.and_then(|rest| Poly::var(name).sub(&rest)).and_then(|by| by.scaled(sign));
            let Some(by) = by else { continue };
            self.ranges.push((0, high));
            self.work += 1;
            self.put(var, &by);
            found = true;
        }
        found
    }

    /// Of a form that is a remainder: an unknown of it, with its sign, and the largest value of the form.
    fn remainder(&self, form: &Poly) -> Option<(Var, i128, i128)> {
        let quotients = form.unknown().iter().filter(|(monomial, value)| {
            let rest = monomial.part(|var| self.kind(var) != Kind::Launch);
            *value < 0 && rest.lone().is_some() && (*value < -1 || rest != *monomial)
        });
        let most = quotients.into_iter().find_map(|(monomial, value)| {
            let divisor = Poly::of(self.shared(*monomial), -value);
            let most = divisor.offset(-1)?;
            self.facts.contains(&most.sub(form)?).then_some(most)
        })?;
        let single = |var: Var| form.0.iter().filter(|(monomial, _)| monomial.holds(var)).count() == 1;
        // What a division makes is the first that is replaced.
        let candidates = form.0.iter().filter_map(|(monomial, value)| {
            let var = monomial.lone().filter(|var| value.abs() == 1 && single(*var))?;
            let rank = match self.kind(var) {
                Kind::Launch => return None,
                Kind::Symbol(_) | Kind::Shift => 2,
                Kind::Block(_) => 1,
                Kind::Thread(_) | Kind::Table(_) => 0,
            };
            Some((rank, var, *value))
        });
        let (_, var, sign) = candidates.max()?;
        let high = self.bounds(most.unknown()).1.saturating_add(most.constant());
        Some((var, sign, high))
    }

    fn kind(&self, var: Var) -> Kind {
        match (var as usize) < self.unknowns.len() {
            true => self.unknowns.get(var).kind,
            false => Kind::Symbol(Scope::Lane),
        }
    }

    /// The factors that are the same for all threads of a launch.
    fn shared(&self, monomial: Monomial) -> Monomial {
        monomial.part(|var| self.kind(var) == Kind::Launch)
    }

    /// Whether all differences are zero.
    pub(super) fn is_one_place(&self) -> bool {
        self.differences.iter().all(Poly::is_zero)
    }

    /// Shows differences to be zero by what holds besides the equations. Whether nothing satisfies all.
    pub(super) fn close(&mut self) -> bool {
        let equations = std::mem::take(&mut self.equations);
        for Equation { form, low, high } in &equations {
            for side in [form.offset(-low), form.scaled(-1).and_then(|form| form.offset(*high))] {
                side.into_iter().for_each(|side| self.suppose(side));
            }
        }
        let mut again = true;
        while again {
            again = false;
            for place in 0..self.differences.len() {
                let form = self.differences[place].clone();
                let Some(negated) = form.scaled(-1) else { continue };
                if form.is_zero() || self.impossible {
                    continue;
                }
                if self.holds(&form) && self.holds(&negated) {
                    self.differences[place] = Poly::default();
                    self.equations.push(Equation { form, low: 0, high: 0 });
                    if self.settle() {
                        return true;
                    }
                    again = true;
                }
            }
        }
        self.impossible
    }

    /// Whether what is supposed contradicts itself.
    pub(super) fn is_void(&mut self) -> bool {
        let facts = self.facts.clone();
        let contradicted = |fact: &Poly, system: &mut Self| {
            let opposite = fact.scaled(-1).and_then(|form| form.offset(-1));
            opposite.is_some_and(|opposite| system.holds(&opposite))
        };
        facts.iter().any(|fact| contradicted(fact, self))
    }

    /// The least and the largest value of a form by the ranges of its unknowns.
    fn bounds(&self, terms: &[(Monomial, i128)]) -> (i128, i128) {
        let (mut low, mut high) = (0i128, 0i128);
        for (monomial, coefficient) in terms {
            let (mut least, mut most) = (*coefficient, *coefficient);
            for var in monomial.factors() {
                let (a, b) = self.ranges[*var as usize];
                let corners = [
                    least.saturating_mul(a),
                    least.saturating_mul(b),
                    most.saturating_mul(a),
                    most.saturating_mul(b),
                ];
                (least, most) = (corners[0], corners[0]);
                for corner in corners {
                    least = least.min(corner);
                    most = most.max(corner);
                }
            }
            (low, high) = (low.saturating_add(least), high.saturating_add(most));
        }
        (low, high)
    }

    /// Divides out what divides all, and drops what always holds. Whether anything changed.
    fn simplify(&mut self) -> bool {
        let mut changed = false;
        let mut place = 0;
        while place < self.equations.len() {
            let equation = &mut self.equations[place];
            // The constant goes into the bounds.
            let constant = equation.form.constant();
            if constant != 0 {
                equation.form = Poly(equation.form.unknown().to_vec());
                (equation.low, equation.high) =
                    (equation.low.saturating_sub(constant), equation.high.saturating_sub(constant));
            }
            let divisor = equation.form.0.iter().fold(0, |divisor, (_, value)| gcd(divisor, value.abs()));
            if divisor > 1 {
                equation.form.0.iter_mut().for_each(|(_, value)| *value /= divisor);
                equation.low = -(-equation.low).div_euclid(divisor);
                equation.high = equation.high.div_euclid(divisor);
                changed = true;
            }
            let Equation { form, low, high } = &self.equations[place];
            let (low, high) = (*low, *high);
            let (least, most) = self.bounds(&form.0);
            if low > high || most < low || least > high {
                self.impossible = true;
                return true;
            }
            if form.is_zero() || low <= least && most <= high {
                self.equations.swap_remove(place);
                changed = true;
            } else {
                place += 1;
            }
        }
        changed
    }

    /// Splits an equation by a stride; with `thoroughly`, with facts to show that what is small is.
    fn take_apart(&mut self, thoroughly: bool) -> bool {
        for place in 0..self.equations.len() {
            let equation = self.equations[place].clone();
            for (stride, factor) in self.strides(&equation.form) {
                if let Some((large, small)) = self.split(&equation, stride, factor, thoroughly) {
                    self.equations[place] = large;
                    self.equations.push(small);
                    return true;
                }
            }
        }
        false
    }

    /// The strides that an equation may be split by, the largest first.
    fn strides(&self, form: &Poly) -> Vec<(Monomial, i128)> {
        let mut strides: Vec<(Monomial, i128)> = Vec::new();
        let mut add = |monomial: Monomial| {
            for (other, value) in &form.0 {
                let stride = (monomial, value.abs());
                if other.over(monomial).is_some() && !strides.contains(&stride) {
                    strides.push(stride);
                }
            }
        };
        for (monomial, _) in &form.0 {
            let shared = self.shared(*monomial);
            if !shared.is_one() {
                add(shared);
                shared.factors().iter().for_each(|var| add(Monomial::of(*var)));
            }
        }
        add(Monomial::ONE);
        strides.sort_unstable_by_key(|(_, factor)| std::cmp::Reverse(*factor));
        strides
    }

    fn split(
        &mut self,
        equation: &Equation,
        stride: Monomial,
        factor: i128,
        thoroughly: bool,
    ) -> Option<(Equation, Equation)> {
        let (mut large, mut small) = (Vec::new(), Vec::new());
        for (monomial, value) in &equation.form.0 {
            match monomial.over(stride) {
                Some(rest) if value % factor == 0 => large.push((rest, value / factor)),
                _ => small.push((*monomial, *value)),
            }
        }
        large.sort_unstable_by_key(|(monomial, _)| *monomial);
        if small.is_empty() || large.is_empty() {
            return None;
        }
        let (low, high) = (equation.low, equation.high);
        // The bounds are the constant's; what of it belongs to the large part is a multiple of the stride.
        let multiples = match stride.is_one() {
            true => [high.div_euclid(factor), low.div_euclid(factor) + 1],
            false => [0, 0],
        };
        let small = Poly(small);
        let tried = if multiples[0] == multiples[1] { 1 } else { 2 };
        for multiple in multiples.into_iter().take(tried) {
            let (low, high) = (low - multiple * factor, high - multiple * factor);
            if self.is_small(&small, (low, high), stride, factor, thoroughly) {
                let large = Equation { form: Poly(large), low: multiple, high: multiple };
                return Some((large, Equation { form: small, low, high }));
            }
        }
        None
    }

    /// Whether of `stride × rest + form` within the bounds follows that `rest` is 0.
    fn is_small(
        &mut self,
        form: &Poly,
        (low, high): (i128, i128),
        stride: Monomial,
        factor: i128,
        thoroughly: bool,
    ) -> bool {
        let (least, most) = self.bounds(&form.0);
        if stride.is_one() && most <= factor - 1 + low && least >= high + 1 - factor {
            return true;
        }
        if !thoroughly {
            return false;
        }
        let stride = Poly::of(stride, factor);
        let above = stride.sub(form).and_then(|room| room.offset(low - 1));
        let below = stride.combine(1, form, 1).and_then(|room| room.offset(-1 - high));
        [above, below].into_iter().all(|room| room.is_some_and(|room| self.holds(&room)))
    }

    /// Replaces an unknown that an equation gives away, be it `plainly` as another one and a number.
    fn replace(&mut self, plainly: bool) -> bool {
        for place in 0..self.equations.len() {
            let Equation { form, low, high } = &self.equations[place];
            if low != high || plainly && form.0.len() > 2 {
                continue;
            }
            let given = |var: Var| form.0.iter().filter(|(monomial, _)| monomial.holds(var)).count() == 1;
            let candidates = form.0.iter().filter_map(|(monomial, value)| {
                let var = monomial.lone().filter(|var| value.abs() == 1 && given(*var))?;
                (self.kind(var) != Kind::Launch).then_some((var, *value))
            });
            let Some((var, sign)) = candidates.max() else { continue };
            let rest = form.combine(1, &Poly::of(Monomial::of(var), sign), -1);
            let by = rest.and_then(|rest| rest.offset(-low)).and_then(|rest| rest.scaled(-sign));
            let Some(by) = by else { continue };
            self.equations.swap_remove(place);
            self.put(var, &by);
            return true;
        }
        false
    }

    /// Replaces what is the same for a launch where an equation gives it away and another one depends on it.
    fn replace_shared(&mut self) -> bool {
        for place in 0..self.equations.len() {
            let Equation { form, low, high } = &self.equations[place];
            if low != high {
                continue;
            }
            let is_plain = |var: Var| {
                let of = |form: &Poly| {
                    form.unknown().iter().all(|(other, _)| !other.holds(var) || other.lone().is_some())
                };
                self.equations.iter().all(|equation| of(&equation.form)) && self.facts.iter().all(of)
            };
            let depends = |var: Var| {
                let mut others = self.equations.iter().enumerate().filter(|(other, _)| *other != place);
                others.any(|(_, other)| other.form.holds(var))
            };
            let given = form.unknown().iter().find_map(|(monomial, value)| {
                let var = monomial.lone().filter(|_| value.abs() == 1)?;
                (self.kind(var) == Kind::Launch && depends(var) && is_plain(var)).then_some((var, *value))
            });
            let Some((var, sign)) = given else { continue };
            let rest = form.combine(1, &Poly::of(Monomial::of(var), sign), -1);
            let by = rest.and_then(|rest| rest.offset(-low)).and_then(|rest| rest.scaled(-sign));
            let Some(by) = by else { continue };
            self.equations.swap_remove(place);
            self.put(var, &by);
            return true;
        }
        false
    }

    /// Puts a form in the place of an unknown, wherever that is.
    fn put(&mut self, var: Var, by: &Poly) {
        for equation in &mut self.equations {
            if equation.form.holds(var) {
                match equation.form.substitute(var, by) {
                    Some(form) => equation.form = form,
                    // What cannot be computed is not known: any value will do.
                    None => *equation = Equation { form: Poly::default(), low: 0, high: 0 },
                }
            }
        }
        for difference in &mut self.differences {
            if difference.holds(var)
                && let Some(form) = difference.substitute(var, by)
            {
                *difference = form;
            }
        }
        self.agreements.retain_mut(|Agreement { where_zero, zero }| {
            let mut forms = where_zero.iter_mut().chain([zero]).filter(|form| form.holds(var));
            forms.all(|form| match form.substitute(var, by) {
                Some(put) => {
                    *form = put;
                    true
                }
                None => false,
            })
        });
        let facts = std::mem::take(&mut self.facts);
        for fact in facts {
            match fact.holds(var) {
                true => fact.substitute(var, by).into_iter().for_each(|fact| self.suppose(fact)),
                false => self.facts.push(fact),
            }
        }
        let (low, high) = self.ranges[var as usize];
        for room in [by.offset(-low), by.scaled(-1).and_then(|form| form.offset(high))] {
            let Some(room) = room else { continue };
            if self.bounds(room.unknown()).0.saturating_add(room.constant()) < 0 {
                self.suppose(room);
            }
        }
    }

    /// Whether a form is non-negative.
    pub(super) fn holds(&mut self, goal: &Poly) -> bool {
        (1..=DEPTH).any(|depth| {
            let most = ATTEMPTS.min(MOST_WORK.saturating_sub(self.work));
            let mut attempts = most;
            let found = self.search(goal, 1, depth, &mut attempts);
            self.work += most - attempts;
            found
        })
    }

    /// Whether `goal / scale` is more than −1, by so many facts at most.
    fn search(&self, goal: &Poly, scale: i128, depth: u32, attempts: &mut u32) -> bool {
        let low = self.bounds(goal.unknown()).0.saturating_add(goal.constant());
        if low > -scale {
            return true;
        }
        if depth == 0 {
            return false;
        }
        let mut next: Vec<(Poly, i128)> = Vec::new();
        for (monomial, coefficient) in goal.unknown() {
            for fact in &self.facts {
                let other = fact.coefficient(*monomial);
                if other == 0 || (other > 0) != (*coefficient > 0) {
                    continue;
                }
                if *attempts == 0 {
                    return false;
                }
                *attempts -= 1;
                let divisor = gcd(other.abs(), coefficient.abs());
                let (times, take) = (other.abs() / divisor, coefficient.abs() / divisor);
                let (Some(rest), Some(scale)) = (goal.combine(times, fact, -take), scale.checked_mul(times))
                else {
                    continue;
                };
                if depth > 1 {
                    next.push((rest, scale));
                } else if self.search(&rest, scale, 0, attempts) {
                    return true;
                }
            }
        }
        // What leaves the least to show first.
        next.sort_by_key(|(rest, _)| rest.0.len());
        next.iter().any(|(rest, scale)| self.search(rest, *scale, depth - 1, attempts))
    }
}
