//! Building expressions and variables, and when they are evaluated.

use super::flow::Here;
use super::{Lower, Operand, Ty};
use crate::ir::{BinaryOp, Expr, ExprKind, Handle, Kernel, Local, Scalar, Stmt, Type};
use crate::span::SpanId;
use quote::ToTokens;

impl Lower<'_> {
    pub(super) fn span(&mut self, tokens: &impl ToTokens) -> SpanId {
        self.diagnostics.spans.add(tokens)
    }

    pub(super) fn expr(&mut self, kind: ExprKind, ty: Ty, span: SpanId) -> Handle<Expr> {
        self.types.push(ty);
        // The type is written at the end, when all uses are known.
        self.kernel.exprs.add(Expr { kind, ty: Type::Scalar(Scalar::I32), span })
    }

    /// A copy of an expression for a use of it.
    pub(super) fn copied(&mut self, value: Handle<Expr>, span: SpanId) -> Handle<Expr> {
        let (kind, ty) = (self.kernel.exprs[value].kind.clone(), self.ty(value));
        let copy = self.expr(kind, ty, span);
        let digits = self.float_digits.iter().find(|(literal, _)| *literal == value);
        if let Some(digits) = digits.map(|(_, digits)| digits.clone()) {
            self.float_digits.push((copy, digits));
        }
        copy
    }

    pub(super) fn ty(&self, expr: Handle<Expr>) -> Ty {
        self.types[expr.index()]
    }

    pub(super) fn index_literal(&mut self, value: i128, span: SpanId) -> Handle<Expr> {
        self.index_expr(ExprKind::Int(value), span)
    }

    pub(super) fn index_expr(&mut self, kind: ExprKind, span: SpanId) -> Handle<Expr> {
        let ty = Ty::scalar(self.terms.known(Scalar::Usize));
        self.expr(kind, ty, span)
    }

    pub(super) fn bool_expr(&mut self, kind: ExprKind, span: SpanId) -> Handle<Expr> {
        let ty = Ty::scalar(self.terms.known(Scalar::Bool));
        self.expr(kind, ty, span)
    }

    /// The conjunction of conditions; true if there are none.
    pub(super) fn all_of(&mut self, conditions: Vec<Handle<Expr>>, span: SpanId) -> Handle<Expr> {
        let and = |all, next| self.bool_expr(ExprKind::Binary(BinaryOp::And, all, next), span);
        match conditions.into_iter().reduce(and) {
            Some(all) => all,
            None => self.bool_expr(ExprKind::Bool(true), span),
        }
    }

    pub(super) fn local(&mut self, name: &str, ty: Ty, extents: Vec<u32>, span: SpanId) -> Handle<Local> {
        self.local_types.push(ty);
        self.kernel.locals.add(Local {
            name: name.into(),
            ty: Type::Scalar(Scalar::I32),
            extents,
            table: None,
            span,
        })
    }

    /// A value that was evaluated at a place, for use after the statements that have been added since: where they assign
    /// what it reads, it is stored away there. Of several, the last one must come first.
    pub(super) fn as_at(&mut self, place: Here, value: Handle<Expr>) -> Handle<Expr> {
        let mut read = Vec::new();
        locals_read(&self.kernel, value, &mut read);
        if !self.assigned_since(place, &read) {
            return value;
        }
        let (ty, span) = (self.ty(value), self.kernel.exprs[value].span);
        let local = self.local("before", ty, Vec::new(), span);
        self.insert(place, Stmt::Assign { local, value });
        self.expr(ExprKind::Local(local), ty, span)
    }

    /// Evaluates a list in order: what a later part assigns does not change an earlier one.
    pub(super) fn in_order<T>(
        &mut self,
        parts: impl IntoIterator<Item = T>,
        mut evaluate: impl FnMut(&mut Self, T) -> Operand,
    ) -> Vec<Operand> {
        let mut list: Vec<(Here, Operand)> = Vec::new();
        for part in parts {
            let operand = evaluate(self, part);
            list.push((self.here(), operand));
        }
        for (place, operand) in list.iter_mut().rev() {
            self.operand_as_at(*place, operand);
        }
        list.into_iter().map(|(_, operand)| operand).collect()
    }

    pub(super) fn operand_as_at(&mut self, place: Here, operand: &mut Operand) {
        match operand {
            Operand::Value(value) => *value = self.as_at(place, *value),
            Operand::Tuple(parts) | Operand::List(parts) => {
                for part in parts.iter_mut().rev() {
                    self.operand_as_at(place, part);
                }
            }
            Operand::Array(..) | Operand::Poison => {}
        }
    }

    /// The value as something that can be named more than once: a variable, where computing it again costs.
    pub(super) fn once(&mut self, value: Handle<Expr>, span: SpanId) -> Handle<Expr> {
        let is_short = matches!(
            self.kernel.exprs[value].kind,
            ExprKind::Int(_)
                | ExprKind::Float(_)
                | ExprKind::Bool(_)
                | ExprKind::Param(_)
                | ExprKind::Extent(..)
                | ExprKind::Stride(..)
                | ExprKind::Misalignment(..)
                | ExprKind::Thread(_)
                | ExprKind::Block(_)
                | ExprKind::Grid(_)
                | ExprKind::Local(_)
        );
        // The launcher has no variables.
        if is_short || self.in_attribute { value } else { self.stored("operand", value, span) }
    }

    /// The value in a variable of its own.
    pub(super) fn stored(&mut self, name: &str, value: Handle<Expr>, span: SpanId) -> Handle<Expr> {
        let ty = self.ty(value);
        let local = self.local(name, ty, Vec::new(), span);
        self.push(Stmt::Assign { local, value });
        self.expr(ExprKind::Local(local), ty, span)
    }

    /// The value in a variable of its own, unless it is a constant or a variable already.
    pub(super) fn named(&mut self, name: &str, value: Handle<Expr>, span: SpanId) -> Handle<Expr> {
        match self.kernel.exprs[value].kind {
            ExprKind::Int(_) | ExprKind::Local(_) => value,
            _ => self.stored(name, value, span),
        }
    }

    /// The value as something that stays what it is now.
    pub(super) fn unchanging(&mut self, name: &str, value: Handle<Expr>) -> Handle<Expr> {
        let mut read = Vec::new();
        locals_read(&self.kernel, value, &mut read);
        match read.is_empty() {
            true => value,
            false => self.stored(name, value, self.kernel.exprs[value].span),
        }
    }
}

/// The variables that an expression reads.
pub(super) fn locals_read(kernel: &Kernel, expr: Handle<Expr>, out: &mut Vec<Handle<Local>>) {
    let kind = &kernel.exprs[expr].kind;
    if let ExprKind::Local(local) | ExprKind::Element(local, _) = kind {
        out.push(*local);
    }
    for operand in kind.operands() {
        locals_read(kernel, operand, out);
    }
}

/// Whether an expression depends on a variable.
pub(super) fn reads(kernel: &Kernel, expr: Handle<Expr>, local: Handle<Local>) -> bool {
    let mut read = Vec::new();
    locals_read(kernel, expr, &mut read);
    read.contains(&local)
}

/// Whether statements assign a variable, or an element of it.
pub(super) fn assigns(kernel: &Kernel, block: &[Stmt], wanted: Handle<Local>) -> bool {
    block.iter().any(|stmt| {
        stmt.assigned().contains(&wanted)
            || stmt.blocks(kernel).into_iter().any(|block| assigns(kernel, block, wanted))
    })
}
