//! Indices that are inside by their form.

use super::{Generator, index_of, number, product, quotient, remainder, sum};
use crate::tree::{Expr, Kind, Position, Type};
use crate::value::{BinaryOp, Scalar, Value};

impl Generator {
    /// An index that is below `n`, which is not 0.
    pub(super) fn below(&mut self, n: usize, depth: usize) -> Expr {
        if n == 1 {
            return number(0);
        }
        if depth == 0 || self.random.once_in(4) {
            return self.simple_below(n);
        }
        match self.random.below(9) {
            0 => remainder(self.any(depth - 1), n),
            1 if n.is_power_of_two() => {
                let a = self.any(depth - 1);
                index_of(Kind::Binary(BinaryOp::And, a.into(), number(n - 1).into()))
            }
            2 => {
                let a = self.any(depth - 1);
                let least = crate::method::EXACT[0];
                index_of(Kind::Method(least, vec![a, number(n - 1)]))
            }
            3 => {
                let a = self.below(n, depth - 1);
                index_of(Kind::Binary(BinaryOp::Sub, number(n - 1).into(), a.into()))
            }
            4 => match [2, 4, 8, 16, 32].into_iter().rfind(|m| n.is_multiple_of(*m) && *m < n) {
                Some(m) => {
                    let outer = self.below(n / m, depth - 1);
                    sum(product(outer, m), self.below(m, depth - 1))
                }
                None => self.simple_below(n),
            },
            5 => {
                let by = self.random.pick(&[2, 3, 4, 32]);
                quotient(self.below(n * by, depth - 1), by)
            }
            6 => {
                let part = self.random.below(n - 1) + 1;
                sum(self.below(part, depth - 1), self.below(n - part + 1, depth - 1))
            }
            7 if n.is_power_of_two() => {
                let (a, b) = (self.below(n, depth - 1), self.below(n, depth - 1));
                index_of(Kind::Binary(BinaryOp::Xor, a.into(), b.into()))
            }
            8 => {
                let scalar = self.random.pick(&[Scalar::U8, Scalar::U16, Scalar::U32]);
                let value = self.data(scalar, depth - 1);
                remainder(index_of(Kind::Cast(value.into())), n)
            }
            _ => self.simple_below(n),
        }
    }

    fn simple_below(&mut self, n: usize) -> Expr {
        let mut list = vec![number(self.random.below(n))];
        for (axis, extent) in self.kernel.block.iter().enumerate() {
            if *extent <= n {
                list.push(index_of(Kind::Position(Position::Thread(axis))));
            }
        }
        if n >= 32 {
            list.push(index_of(Kind::Position(Position::Lane)));
        }
        if self.threads().div_ceil(32) <= n {
            list.push(index_of(Kind::Position(Position::Warp)));
        }
        for variable in &self.variables {
            if variable.ty == Type::Scalar(Scalar::Usize) && (1..=n).contains(&variable.below) {
                list.push(index_of(Kind::Local(variable.local)));
            }
        }
        self.random.pick(&list)
    }

    /// An index that is not large.
    pub(super) fn any(&mut self, depth: usize) -> Expr {
        if depth > 0 && self.random.once_in(3) {
            let a = self.any(depth - 1);
            return match self.random.below(3) {
                0 => sum(a, self.any(depth - 1)),
                1 => product(a, self.random.pick(&[2, 3, 4, 5, 8, 33])),
                _ => quotient(a, self.random.pick(&[2, 3, 4, 7])),
            };
        }
        let mut list: Vec<Expr> = self.home.clone();
        list.push(number(self.random.below(70)));
        for (place, value) in self.kernel.arguments.iter().enumerate() {
            if matches!(value, Value::Usize(_)) && self.random.once_in(2) {
                list.push(remainder(index_of(Kind::Argument(place)), 64));
            }
        }
        let n = self.random.pick(&[2, 8, 31, 32, 64, 100, 256]);
        list.push(self.below(n, depth));
        list.push(index_of(Kind::Position(Position::Block(0))));
        self.random.pick(&list)
    }

    /// An index that is a number once constant loops are unrolled, below `n`.
    pub(super) fn known_below(&mut self, n: usize) -> Expr {
        let mut list = vec![number(self.random.below(n))];
        for variable in
            self.variables.iter().filter(|variable| variable.known && (1..=n).contains(&variable.below))
        {
            let local = index_of(Kind::Local(variable.local));
            list.push(local.clone());
            list.push(index_of(Kind::Binary(BinaryOp::Sub, number(n - 1).into(), local.into())));
        }
        self.random.pick(&list)
    }
}
