//! Branches and loops.

use super::{Binding, Lower, Operand, Ty};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{self, ExprKind, Handle, Scalar, Stmt};
use syn::{Expr, Pat};

impl Lower<'_> {
    pub(super) fn if_statement(&mut self, branch: &syn::ExprIf) {
        let bool_term = self.terms.known(Scalar::Bool);
        let condition = if matches!(&*branch.cond, Expr::Let(_)) {
            self.unsupported(&branch.cond, "a kernel has no `if let`", "write a comparison");
            None
        } else {
            self.value_of(&branch.cond, bool_term)
        };
        let then = self.in_block(|lower| lower.block_items(&branch.then_branch));
        let otherwise = match &branch.else_branch {
            Some((_, otherwise)) => {
                self.in_block(|lower| lower.statement_expression(otherwise, &mut Vec::new()))
            }
            None => Vec::new(),
        };
        if let Some(condition) = condition {
            self.push(Stmt::If { condition, then, otherwise });
        }
    }

    /// `if c { a } else { b }` as a value: a variable that both sides assign.
    pub(super) fn if_value(&mut self, branch: &syn::ExprIf, expected: Option<Ty>) -> Operand {
        let Some((_, otherwise_expr)) = &branch.else_branch else {
            self.if_statement(branch);
            return Operand::Tuple(Vec::new());
        };
        let bool_term = self.terms.known(Scalar::Bool);
        let Some(condition) = self.value_of(&branch.cond, bool_term) else { return Operand::Poison };
        let span = self.span(branch);
        let (mut first, mut second) = (Operand::Poison, Operand::Poison);
        let mut then = self.in_block(|lower| first = lower.statements(&branch.then_branch, expected));
        let hint = match &first {
            Operand::Value(value) => Some(self.ty(*value)),
            _ => expected,
        };
        let mut otherwise = self.in_block(|lower| second = lower.operand(otherwise_expr, hint));
        let result = match (first, second) {
            (Operand::Value(a), Operand::Value(b)) => {
                let (ta, tb) = (self.ty(a), self.ty(b));
                if ta.vector != tb.vector || !self.terms.unify(ta.term, tb.term) {
                    return self.mismatch(branch);
                }
                let local = self.local("chosen", ta, Vec::new(), span);
                then.push(Stmt::Assign { local, value: a });
                otherwise.push(Stmt::Assign { local, value: b });
                Operand::Value(self.expr(ExprKind::Local(local), ta, span))
            }
            (Operand::Tuple(a), Operand::Tuple(b)) if a.is_empty() && b.is_empty() => {
                Operand::Tuple(Vec::new())
            }
            (Operand::Poison, _) | (_, Operand::Poison) => Operand::Poison,
            _ => self.unsupported(
                branch,
                "the value of an `if` is a scalar or a vector in a kernel",
                "assign the parts one by one in its sides",
            ),
        };
        self.push(Stmt::If { condition, then, otherwise });
        result
    }

    pub(super) fn for_loop(&mut self, head: &syn::ExprForLoop) {
        if let Some(label) = &head.label {
            self.unsupported(label, "a kernel has no labels", "remove it");
        }
        let variable = match &*head.pat {
            Pat::Ident(name) if name.mutability.is_none() && name.by_ref.is_none() => {
                Some(name.ident.clone())
            }
            Pat::Wild(wild) => Some(syn::Ident::new("_unused", wild.underscore_token.span)),
            other => {
                self.unsupported(other, "the variable of a loop is a plain name", "write `for i in 0..n`");
                None
            }
        };
        let bounds = self.range(&head.expr);
        let (Some(name), Some((start, end, step))) = (variable, bounds) else {
            // The body is still read for errors of its own.
            self.in_block(|lower| {
                if let Pat::Ident(name) = &*head.pat {
                    lower.bind(name.ident.to_string(), Binding::Operand(Operand::Poison));
                }
                lower.block_items(&head.body);
            });
            return;
        };
        let span = self.span(&head.expr);
        let ty = self.ty(start);
        let name_span = self.span(&name);
        let variable = self.local(&name.to_string(), ty, Vec::new(), name_span);
        let body = self.in_block(|lower| {
            lower.bind(name.to_string(), Binding::Local(variable));
            lower.block_items(&head.body);
        });
        let handle = self.kernel.loops.add(ir::Loop { variable, start, end, step, body, span });
        self.push(Stmt::For(handle));
    }

    /// `a..b` and `(a..b).step_by(s)`: start, end and step.
    fn range(&mut self, expr: &Expr) -> Option<(Handle<ir::Expr>, Handle<ir::Expr>, Handle<ir::Expr>)> {
        match expr {
            Expr::Paren(inner) => self.range(&inner.expr),
            Expr::Group(inner) => self.range(&inner.expr),
            Expr::Range(syn::ExprRange {
                start: Some(start),
                end: Some(end),
                limits: syn::RangeLimits::HalfOpen(_),
                ..
            }) => {
                let first = self.value(start, None);
                let (hint, place) = (first.map(|first| self.ty(first)), self.here());
                let last = self.value(end, hint);
                let (first, last) = (self.as_at(place, first?), last?);
                let (a, b) = (self.ty(first), self.ty(last));
                let integers = self.terms.unify(a.term, b.term) && self.terms.is_integer(a.term);
                if !integers || a.vector.is_some() || b.vector.is_some() {
                    self.mismatch(expr);
                    return None;
                }
                let span = self.span(expr);
                let step = self.expr(ExprKind::Int(1), a, span);
                Some((first, last, step))
            }
            Expr::MethodCall(call) if call.method == "step_by" && call.args.len() == 1 => {
                let (start, end, _) = self.range(&call.receiver)?;
                let place = self.here();
                let step = self.index_value(&call.args[0])?;
                let (end, start) = (self.as_at(place, end), self.as_at(place, start));
                if let ExprKind::Int(value) = self.kernel.exprs[step].kind
                    && value <= 0
                {
                    let span = self.span(&call.args[0]);
                    self.diagnostics.report(
                        Diagnostic::new(Code::Constant, span, "a loop with a step of 0 never ends")
                            .help("write a step of at least 1"),
                    );
                    return None;
                }
                let (ty, span) = (self.ty(start), self.span(&call.args[0]));
                let step = match self.kernel.exprs[step].kind {
                    ExprKind::Int(value) => self.expr(ExprKind::Int(value), ty, span),
                    _ if self.terms.get(ty.term) == Some(Scalar::Usize) => step,
                    _ => self.expr(ExprKind::Cast(step), ty, span),
                };
                Some((start, end, step))
            }
            _ => {
                self.unsupported(
                    expr,
                    "a kernel's `for` runs over a half-open range",
                    "write `for i in start..end` or `for i in (start..end).step_by(step)`",
                );
                None
            }
        }
    }
}
