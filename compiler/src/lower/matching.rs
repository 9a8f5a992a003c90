//! `match` on numbers and tuples of them: a chain of branches.

use super::{Binding, Lower, Operand, Ty};
use crate::ir::{self, BinaryOp, CompareOp, ExprKind, Handle, Scalar};
use syn::{Arm, Expr, Pat, RangeLimits};

impl Lower<'_> {
    pub(super) fn match_value(&mut self, matched: &syn::ExprMatch, expected: Option<Ty>) -> Operand {
        let value = self.operand(&matched.expr, None);
        let Ok(name) = syn::parse_str::<syn::Ident>("matched") else { return Operand::Poison };
        let value = match self.is_fixed(&value) {
            true => value,
            false => match self.store_away(&name, value) {
                Binding::Local(local) if self.kernel.locals[local].extents.is_empty() => {
                    let (ty, span) = (self.local_types[local.index()], self.span(&matched.expr));
                    Operand::Value(self.expr(ExprKind::Local(local), ty, span))
                }
                Binding::Operand(operand) => operand,
                Binding::Local(_) | Binding::Memory(_) => {
                    return self.unsupported(
                        &matched.expr,
                        "a kernel's `match` is on numbers and tuples of numbers",
                        "match on an element",
                    );
                }
            },
        };
        self.arms(&matched.arms, &value, matched, expected)
    }

    /// Whether a value is a literal or an argument, which nothing assigns.
    fn is_fixed(&self, operand: &Operand) -> bool {
        match operand {
            Operand::Value(value) => {
                matches!(self.kernel.exprs[*value].kind, ExprKind::Int(_) | ExprKind::Param(_))
            }
            Operand::Poison => true,
            Operand::Tuple(_) | Operand::List(_) | Operand::Array(..) => false,
        }
    }

    fn arms(&mut self, arms: &[Arm], value: &Operand, at: &syn::ExprMatch, expected: Option<Ty>) -> Operand {
        let Some((arm, rest)) = arms.split_first() else { return Operand::Poison };
        let span = self.span(&arm.pat);
        let (pattern, guard) = match &arm.pat {
            Pat::Guard(guarded) => (&*guarded.pat, Some(&*guarded.guard)),
            pattern => (pattern, None),
        };
        let condition = match self.test(pattern, value) {
            Ok(condition) => condition,
            Err(()) => {
                // The arms are still read for errors of their own.
                self.in_block(|lower| {
                    lower.bind_matched(pattern, &Operand::Poison);
                    lower.operand(&arm.body, expected);
                });
                self.in_block(|lower| drop(lower.arms(rest, value, at, expected)));
                return Operand::Poison;
            }
        };
        let condition = match guard {
            None => condition,
            Some(guard) => {
                let always = match condition {
                    Some(condition) => condition,
                    None => self.bool_expr(ExprKind::Bool(true), span),
                };
                self.both_of(true, always, span, |lower| {
                    lower.bind_matched(pattern, value);
                    lower.condition(guard)
                })
                .or(condition)
            }
        };
        let body = |lower: &mut Self, expected: Option<Ty>| {
            lower.scopes.push(Default::default());
            lower.bind_matched(pattern, value);
            let result = lower.operand(&arm.body, expected);
            lower.scopes.pop();
            result
        };
        // rustc demands that the arms cover everything: the last one takes what is left.
        match condition {
            Some(condition) if !rest.is_empty() => {
                self.choose(Some(condition), at, expected, body, |lower, hint| {
                    lower.arms(rest, value, at, hint)
                })
            }
            _ => body(self, expected),
        }
    }

    /// The condition under which a pattern matches; `None` if it always does.
    fn test(&mut self, pattern: &Pat, value: &Operand) -> Result<Option<Handle<ir::Expr>>, ()> {
        match pattern {
            Pat::Paren(inner) => self.test(&inner.pat, value),
            Pat::Wild(_) => Ok(None),
            Pat::Guard(guarded) => self.test(&guarded.pat, value),
            Pat::Ident(name) => match (self.constant_named(&name.ident), &name.subpat) {
                (Some(constant), None) => self.compared(CompareOp::Equal, value, constant, pattern),
                (_, Some((_, inner))) => self.test(inner, value),
                (None, None) => Ok(None),
            },
            Pat::Lit(literal) => {
                let expr = Expr::Lit(literal.clone());
                self.limit(CompareOp::Equal, value, &expr, pattern)
            }
            Pat::Path(path) => self.limit(CompareOp::Equal, value, &Expr::Path(path.clone()), pattern),
            Pat::Range(range) => {
                let low = match &range.start {
                    Some(start) => self.limit(CompareOp::GreaterEqual, value, start, pattern)?,
                    None => None,
                };
                let below = match range.limits {
                    RangeLimits::HalfOpen(_) => CompareOp::Less,
                    RangeLimits::Closed(_) => CompareOp::LessEqual,
                };
                let high = match &range.end {
                    Some(end) => self.limit(below, value, end, pattern)?,
                    None => None,
                };
                Ok(self.joined(BinaryOp::And, low, high, pattern))
            }
            Pat::Or(or) => {
                let mut any = None;
                for (place, case) in or.cases.iter().enumerate() {
                    let Some(case) = self.test(case, value)? else { return Ok(None) };
                    any = if place == 0 {
                        Some(case)
                    } else {
                        self.joined(BinaryOp::Or, any, Some(case), pattern)
                    };
                }
                Ok(any)
            }
            Pat::Tuple(tuple) => {
                let Operand::Tuple(parts) = value else {
                    self.mismatch(pattern);
                    return Err(());
                };
                if parts.len() != tuple.elems.len() {
                    self.mismatch(pattern);
                    return Err(());
                }
                let mut all = None;
                for (pattern, part) in tuple.elems.iter().zip(parts) {
                    let next = self.test(pattern, part)?;
                    all = self.joined(BinaryOp::And, all, next, pattern);
                }
                Ok(all)
            }
            _ => {
                self.unsupported(
                    pattern,
                    "a kernel's `match` knows numbers, ranges, `|`, `_`, names and tuples of them",
                    "compare with `if` and `else`",
                );
                Err(())
            }
        }
    }

    /// The value of a constant with this name.
    fn constant_named(&mut self, name: &syn::Ident) -> Option<Operand> {
        let found = match self.find(&name.to_string()) {
            Some(super::Found::Item(super::Item::Constant(constant), depth)) => {
                Some((std::rc::Rc::clone(constant), depth))
            }
            Some(super::Found::Item(super::Item::Function(_), _) | super::Found::Binding(_)) | None => None,
        };
        found.map(|(constant, depth)| self.constant_item(&constant, depth))
    }

    /// A comparison with a literal or constant.
    fn limit(
        &mut self,
        op: CompareOp,
        value: &Operand,
        limit: &Expr,
        at: &Pat,
    ) -> Result<Option<Handle<ir::Expr>>, ()> {
        let hint = match value {
            Operand::Value(value) => Some(self.ty(*value)),
            Operand::Array(..) | Operand::List(_) | Operand::Tuple(_) | Operand::Poison => None,
        };
        let limit = self.operand(limit, hint);
        self.compared(op, value, limit, at)
    }

    fn compared(
        &mut self,
        op: CompareOp,
        value: &Operand,
        limit: Operand,
        at: &Pat,
    ) -> Result<Option<Handle<ir::Expr>>, ()> {
        match (value, limit) {
            (Operand::Value(a), Operand::Value(b)) => {
                let span = self.span(at);
                let is_bool = self.terms.get(self.ty(*a).term) == Some(Scalar::Bool);
                match (is_bool, self.kernel.exprs[b].kind.clone()) {
                    (true, ExprKind::Bool(true)) => Ok(Some(*a)),
                    (true, ExprKind::Bool(false)) => {
                        let ty = self.ty(*a);
                        let kind = ExprKind::Unary(ir::UnaryOp::Not, *a);
                        Ok(Some(self.expr(kind, ty, span)))
                    }
                    _ => match self.compare(op, *a, b, span, at) {
                        Operand::Value(condition) => Ok(Some(condition)),
                        _ => Err(()),
                    },
                }
            }
            (Operand::Poison, _) | (_, Operand::Poison) => Err(()),
            _ => {
                self.mismatch(at);
                Err(())
            }
        }
    }

    fn joined(
        &mut self,
        op: BinaryOp,
        a: Option<Handle<ir::Expr>>,
        b: Option<Handle<ir::Expr>>,
        at: &Pat,
    ) -> Option<Handle<ir::Expr>> {
        match (a, b) {
            (Some(a), Some(b)) => {
                let (ty, span) = (self.ty(a), self.span(at));
                Some(self.expr(ExprKind::Binary(op, a, b), ty, span))
            }
            (one, other) => one.or(other),
        }
    }

    /// Binds the names of a pattern.
    fn bind_matched(&mut self, pattern: &Pat, value: &Operand) {
        match pattern {
            Pat::Paren(inner) => self.bind_matched(&inner.pat, value),
            Pat::Guard(guarded) => self.bind_matched(&guarded.pat, value),
            Pat::Ident(name) if self.constant_named(&name.ident).is_none() => {
                // What is matched is in a variable of its own, which nothing assigns.
                let binding = match name.mutability {
                    None => Binding::Operand(value.clone()),
                    Some(_) => self.store_away(&name.ident, value.clone()),
                };
                self.bind(name.ident.to_string(), binding);
            }
            Pat::Tuple(tuple) => {
                for (place, pattern) in tuple.elems.iter().enumerate() {
                    let part = match value {
                        Operand::Tuple(parts) => parts.get(place).cloned().unwrap_or(Operand::Poison),
                        _ => Operand::Poison,
                    };
                    self.bind_matched(pattern, &part);
                }
            }
            Pat::Or(or) => {
                if let Some(first) = or.cases.first() {
                    self.bind_matched(first, value);
                }
            }
            _ => {}
        }
    }
}
