//! Access by an index that may be outside: `contains` and `get_or`.
//!
//! Both are what a user could write: comparisons with the extents, and an ordinary load under them. So bounds are proven
//! and costs judged as of any guarded access; that the guard is there by construction is all that is special.

use super::{Lower, Operand, Ty};
use crate::ir::{self, Base, CompareOp, ExprKind, Handle, Part, Place, Scalar, Stmt};
use crate::span::SpanId;
use syn::{Expr, ExprMethodCall};

impl Lower<'_> {
    /// `tensor.contains([i, j])`
    pub(super) fn contains(&mut self, call: &ExprMethodCall, base: Base) -> Operand {
        let [index] = call.args.iter().collect::<Vec<_>>()[..] else { return self.mismatch(call) };
        let Some(index) = self.any_index(base, index) else { return Operand::Poison };
        let span = self.span(call);
        Operand::Value(self.inside(base, &index, span))
    }

    /// `(a..=b).contains(&x)`: a comparison with each end.
    pub(super) fn range_contains(&mut self, call: &ExprMethodCall, range: &syn::ExprRange) -> Operand {
        let [Expr::Reference(number)] = call.args.iter().collect::<Vec<_>>()[..] else {
            return self.mismatch(call);
        };
        let ends = [&range.start, &range.end];
        let parts = ends.iter().filter_map(|end| end.as_deref()).chain([&*number.expr]);
        let parts = self
            .in_order(parts, |lower, part| lower.value(part, None).map_or(Operand::Poison, Operand::Value));
        let Some(mut values) = parts.into_iter().map(Operand::value).collect::<Option<Vec<_>>>() else {
            return Operand::Poison;
        };
        let span = self.span(call);
        let Some(number) = values.pop().map(|number| self.once(number, span)) else { return Operand::Poison };
        let mut values = values.into_iter();
        let start = range
            .start
            .as_ref()
            .and_then(|_| values.next())
            .map(|start| (CompareOp::LessEqual, start, number));
        let below = match range.limits {
            syn::RangeLimits::HalfOpen(_) => CompareOp::Less,
            syn::RangeLimits::Closed(_) => CompareOp::LessEqual,
        };
        let end = values.next().map(|end| (below, number, end));
        let mut conditions = Vec::new();
        for (op, a, b) in start.into_iter().chain(end) {
            match self.compare(op, a, b, span, call) {
                Operand::Value(condition) => conditions.push(condition),
                other => return other,
            }
        }
        Operand::Value(self.all_of(conditions, span))
    }

    /// `tensor.get_or([i, j], default)`
    pub(super) fn get_or(&mut self, call: &ExprMethodCall, base: Base) -> Operand {
        let [index, default] = call.args.iter().collect::<Vec<_>>()[..] else { return self.mismatch(call) };
        let term = self.terms.known(self.kernel.element(base));
        let ty = Ty::scalar(term);
        let index = self.any_index(base, index);
        let before = self.here();
        let default = self.value(default, Some(ty));
        let (Some(mut index), Some(default)) = (index, default) else { return Operand::Poison };
        for index in index.iter_mut().rev() {
            *index = self.as_at(before, *index);
        }
        let given = self.ty(default);
        if given.vector.is_some() || !self.terms.unify(given.term, term) {
            return self.mismatch(call);
        }
        let span = self.span(call);
        let condition = self.inside(base, &index, span);
        let local = self.local(&format!("{}_value", self.kernel.base_name(base)), ty, Vec::new(), span);
        self.push(Stmt::Assign { local, value: default });
        let then = self.in_block(|lower| {
            let index = index.iter().map(|index| lower.as_index(*index)).collect();
            let value = lower.load(Place { base, index, width: 1, part: Part::Exact }, ty, call);
            lower.push(Stmt::Assign { local, value });
        });
        self.push(Stmt::If { condition, then, otherwise: Vec::new() });
        Operand::Value(self.expr(ExprKind::Local(local), ty, span))
    }

    /// The index of a place that may be outside: one number an extent.
    fn any_index(&mut self, base: Base, index: &Expr) -> Option<Vec<Handle<ir::Expr>>> {
        let Expr::Array(array) = index else {
            self.mismatch(index);
            return None;
        };
        if array.elems.len() != self.kernel.rank(base) {
            self.mismatch(index);
            return None;
        }
        // The elements of an array have one type.
        let term = self.terms.integer();
        let list = self.in_order(&array.elems, |lower, index| match lower.value_of(index, term) {
            Some(index) => Operand::Value(index),
            None => Operand::Poison,
        });
        let index: Option<Vec<_>> = list.into_iter().map(Operand::value).collect();
        let fits = match self.terms.get(term) {
            Some(scalar) => scalar == Scalar::Usize || scalar == Scalar::Isize,
            None => {
                let usize_term = self.terms.known(Scalar::Usize);
                self.terms.unify(term, usize_term)
            }
        };
        if !fits {
            self.mismatch(array);
            return None;
        }
        index
    }

    /// An index that is known to be inside, as `usize`.
    fn as_index(&mut self, index: Handle<ir::Expr>) -> Handle<ir::Expr> {
        match self.terms.get(self.ty(index).term) {
            Some(Scalar::Isize) => {
                let span = self.kernel.exprs[index].span;
                self.index_expr(ExprKind::Cast(index), span)
            }
            Some(_) | None => index,
        }
    }

    /// Whether an index is inside.
    pub(super) fn inside(
        &mut self,
        base: Base,
        index: &[Handle<ir::Expr>],
        span: SpanId,
    ) -> Handle<ir::Expr> {
        let mut conditions = Vec::new();
        for (dimension, index) in index.iter().enumerate() {
            let extent = match base {
                Base::Tensor(param) => ExprKind::Extent(param, dimension as u32),
                Base::Tile(tile) => ExprKind::Int(self.kernel.tiles[tile].extents[dimension].into()),
            };
            let mut extent = self.index_expr(extent, span);
            let ty = self.ty(*index);
            if self.terms.get(ty.term) == Some(Scalar::Isize) {
                let zero = self.expr(ExprKind::Int(0), ty, span);
                let from = ExprKind::Compare(CompareOp::GreaterEqual, *index, zero);
                conditions.push(self.bool_expr(from, span));
                extent = self.expr(ExprKind::Cast(extent), ty, span);
            }
            conditions.push(self.bool_expr(ExprKind::Compare(CompareOp::Less, *index, extent), span));
        }
        self.all_of(conditions, span)
    }
}
