//! Polynomials with integer coefficients, one number a run: what forms become once a thread's coordinates are unknowns too.

/// An unknown of a pair of executions, by its position in the table; 0 is none.
pub(super) type Var = u16;

/// How many unknowns a product may have.
const DEGREE: usize = 4;

/// A product of unknowns, the least last; the empty product is 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Monomial([Var; DEGREE]);

impl Monomial {
    pub(super) const ONE: Monomial = Monomial([0; DEGREE]);

    pub(super) fn of(var: Var) -> Monomial {
        Monomial([var, 0, 0, 0])
    }

    pub(super) fn is_one(self) -> bool {
        self.0[0] == 0
    }

    /// The unknowns, each as often as it is a factor.
    pub(super) fn factors(&self) -> &[Var] {
        let mut count = 0;
        while count < DEGREE && self.0[count] != 0 {
            count += 1;
        }
        &self.0[..count]
    }

    /// The unknown, where the product is nothing else.
    pub(super) fn lone(self) -> Option<Var> {
        (self.0[0] != 0 && self.0[1] == 0).then_some(self.0[0])
    }

    pub(super) fn holds(self, var: Var) -> bool {
        self.0.contains(&var)
    }

    /// The product; `None` where it has too many factors.
    pub(super) fn times(self, other: Monomial) -> Option<Monomial> {
        if other.is_one() {
            return Some(self);
        }
        if self.is_one() {
            return Some(other);
        }
        let (mut i, mut j, mut out) = (0, 0, [0; DEGREE]);
        for place in &mut out {
            let (a, b) = (self.0.get(i).copied().unwrap_or(0), other.0.get(j).copied().unwrap_or(0));
            *place = a.max(b);
            if a >= b { i += 1 } else { j += 1 }
        }
        let left = |from: usize, of: &Monomial| of.0.get(from).is_some_and(|var| *var != 0);
        (!left(i, &self) && !left(j, &other)).then_some(Monomial(out))
    }

    /// The quotient, where it is one.
    pub(super) fn over(self, divisor: Monomial) -> Option<Monomial> {
        let (mut out, mut count, mut next) = ([0; DEGREE], 0, 0);
        let divisor = divisor.factors();
        for var in self.factors() {
            if divisor.get(next) == Some(var) {
                next += 1;
            } else {
                out[count] = *var;
                count += 1;
            }
        }
        (next == divisor.len()).then_some(Monomial(out))
    }

    /// The product of the factors that a test picks.
    pub(super) fn part(self, picks: impl Fn(Var) -> bool) -> Monomial {
        let (mut out, mut count) = ([0; DEGREE], 0);
        for var in self.factors() {
            if picks(*var) {
                out[count] = *var;
                count += 1;
            }
        }
        Monomial(out)
    }
}

/// A sum of multiples of products of unknowns, in order of the products, no multiple zero.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Poly(pub(super) Vec<(Monomial, i128)>);

impl Poly {
    pub(super) fn number(value: i128) -> Poly {
        Poly::of(Monomial::ONE, value)
    }

    pub(super) fn var(var: Var) -> Poly {
        Poly::of(Monomial::of(var), 1)
    }

    pub(super) fn of(monomial: Monomial, coefficient: i128) -> Poly {
        Poly(if coefficient == 0 { Vec::new() } else { vec![(monomial, coefficient)] })
    }

    pub(super) fn is_zero(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn constant(&self) -> i128 {
        match self.0.first() {
            Some((monomial, value)) if monomial.is_one() => *value,
            _ => 0,
        }
    }

    /// The terms with unknowns.
    pub(super) fn unknown(&self) -> &[(Monomial, i128)] {
        match self.0.first() {
            Some((monomial, _)) if monomial.is_one() => &self.0[1..],
            _ => &self.0,
        }
    }

    pub(super) fn coefficient(&self, monomial: Monomial) -> i128 {
        let mut i = 0;
        while i < self.0.len() {
            if self.0[i].0 == monomial {
                return self.0[i].1;
            }
            i += 1;
        }
        0
    }

    pub(super) fn holds(&self, var: Var) -> bool {
        self.0.iter().any(|(monomial, _)| monomial.holds(var))
    }

    /// `scale × self + factor × other`; `None` on overflow.
    pub(super) fn combine(&self, scale: i128, other: &Poly, factor: i128) -> Option<Poly> {
        let (a, b) = (self.0.as_slice(), other.0.as_slice());
        let mut out = Vec::with_capacity(a.len() + b.len());
        let (mut i, mut j) = (0, 0);
        while i < a.len() || j < b.len() {
            let (monomial, value) = if j == b.len() || i < a.len() && a[i].0 < b[j].0 {
                i += 1;
                (a[i - 1].0, a[i - 1].1.checked_mul(scale)?)
            } else if i == a.len() || b[j].0 < a[i].0 {
                j += 1;
                (b[j - 1].0, b[j - 1].1.checked_mul(factor)?)
            } else {
                i += 1;
                j += 1;
                let scaled = a[i - 1].1.checked_mul(scale)?;
                (a[i - 1].0, scaled.checked_add(b[j - 1].1.checked_mul(factor)?)?)
            };
            if value != 0 {
                out.push((monomial, value));
            }
        }
        Some(Poly(out))
    }

    pub(super) fn sub(&self, other: &Poly) -> Option<Poly> {
        self.combine(1, other, -1)
    }

    pub(super) fn scaled(&self, factor: i128) -> Option<Poly> {
        Poly::default().combine(1, self, factor)
    }

    pub(super) fn offset(&self, by: i128) -> Option<Poly> {
        self.combine(1, &Poly::number(by), 1)
    }

    /// The product with a term.
    pub(super) fn times(&self, monomial: Monomial, factor: i128) -> Option<Poly> {
        let mut out = Vec::with_capacity(self.0.len());
        for (own, value) in &self.0 {
            out.push((own.times(monomial)?, value.checked_mul(factor)?));
        }
        out.sort_unstable_by_key(|(monomial, _)| *monomial);
        Some(Poly(out))
    }

    /// With another unknown in the place of each; `None` where products coincide.
    pub(super) fn renamed(&self, name: &mut impl FnMut(Var) -> Var) -> Poly {
        let mut out = Vec::with_capacity(self.0.len());
        for (monomial, value) in &self.0 {
            let mut factors = monomial.0;
            for factor in &mut factors {
                if *factor != 0 {
                    *factor = name(*factor);
                }
            }
            factors.sort_unstable_by(|a, b| b.cmp(a));
            out.push((Monomial(factors), *value));
        }
        out.sort_unstable_by_key(|(monomial, _)| *monomial);
        Poly(out)
    }

    /// With a polynomial in the place of an unknown; `None` on overflow or where products have too many factors.
    pub(super) fn substitute(&self, var: Var, by: &Poly) -> Option<Poly> {
        let mut rest = Poly(self.0.iter().filter(|(monomial, _)| !monomial.holds(var)).copied().collect());
        for (monomial, value) in self.0.iter().filter(|(monomial, _)| monomial.holds(var)) {
            let mut power = Poly::of(monomial.part(|other| other != var), *value);
            for _ in monomial.factors().iter().filter(|other| **other == var) {
                let mut product = Poly::default();
                for (own, coefficient) in &power.0 {
                    product = product.combine(1, &by.times(*own, *coefficient)?, 1)?;
                }
                power = product;
            }
            rest = rest.combine(1, &power, 1)?;
        }
        Some(rest)
    }
}

/// The greatest common divisor of two non-negative numbers.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}
