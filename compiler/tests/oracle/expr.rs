//! Index expressions that the test can evaluate itself.

use std::fmt;

/// A non-negative integer of a thread and an iteration.
#[derive(Clone, Debug)]
pub(crate) enum Expr {
    Number(i64),
    ThreadX,
    ThreadY,
    /// The variable of the loop.
    Iteration,
    Add(Box<Expr>, Box<Expr>),
    /// The number minus the expression.
    From(i64, Box<Expr>),
    Times(Box<Expr>, i64),
    Divided(Box<Expr>, i64),
    Remainder(Box<Expr>, i64),
    And(Box<Expr>, i64),
    Xor(Box<Expr>, Box<Expr>),
    Min(Box<Expr>, i64),
    Shifted(Box<Expr>, i64),
}

/// Where an expression is evaluated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Point {
    pub(crate) x: i64,
    pub(crate) y: i64,
    pub(crate) k: i64,
}

impl Expr {
    pub(crate) fn at(&self, point: Point) -> i64 {
        match self {
            Expr::Number(n) => *n,
            Expr::ThreadX => point.x,
            Expr::ThreadY => point.y,
            Expr::Iteration => point.k,
            Expr::Add(a, b) => a.at(point) + b.at(point),
            Expr::From(n, a) => n - a.at(point),
            Expr::Times(a, n) => a.at(point) * n,
            Expr::Divided(a, n) => a.at(point) / n,
            Expr::Remainder(a, n) => a.at(point) % n,
            Expr::And(a, n) => a.at(point) & n,
            Expr::Xor(a, b) => a.at(point) ^ b.at(point),
            Expr::Min(a, n) => a.at(point).min(*n),
            Expr::Shifted(a, n) => a.at(point) << n,
        }
    }

    pub(crate) fn plus(self, other: Expr) -> Expr {
        Expr::Add(Box::new(self), Box::new(other))
    }

    pub(crate) fn times(self, n: i64) -> Expr {
        Expr::Times(Box::new(self), n)
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expr::Number(n) => write!(f, "{n}"),
            Expr::ThreadX => f.write_str("thread_x()"),
            Expr::ThreadY => f.write_str("thread_y()"),
            Expr::Iteration => f.write_str("k"),
            Expr::Add(a, b) => write!(f, "({a} + {b})"),
            Expr::From(n, a) => write!(f, "({n} - {a})"),
            Expr::Times(a, n) => write!(f, "{a} * {n}"),
            Expr::Divided(a, n) => write!(f, "({a} / {n})"),
            Expr::Remainder(a, n) => write!(f, "({a} % {n})"),
            Expr::And(a, n) => write!(f, "({a} & {n})"),
            Expr::Xor(a, b) => write!(f, "({a} ^ {b})"),
            Expr::Min(a, n) => write!(f, "({a}).min({n})"),
            Expr::Shifted(a, n) => write!(f, "({a} << {n})"),
        }
    }
}
