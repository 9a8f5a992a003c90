//! Assignments: to variables, to elements of register arrays, tiles and tensors, to values of vectors.

use super::place::Target;
use super::{Binding, Lower, Operand, Ty};
use crate::ir::{self, BinaryOp, ExprKind, Handle, Place, Stmt};
use syn::Expr;

/// The operator of a compound assignment, and the assignment.
#[derive(Clone, Copy)]
pub(super) struct Compound<'a> {
    pub(super) op: BinaryOp,
    pub(super) whole: &'a syn::ExprBinary,
}

impl Lower<'_> {
    pub(super) fn assign(&mut self, left: &Expr, right: &Expr, op: Option<Compound<'_>>) {
        match left {
            Expr::Paren(inner) => self.assign(&inner.expr, right, op),
            Expr::Group(inner) => self.assign(&inner.expr, right, op),
            Expr::Path(path) => self.assign_variable(path, right, op),
            Expr::Index(index) => self.assign_element(index, right, op),
            // The caller's variable behind a reference parameter.
            Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), expr, .. }) => self.assign(expr, right, op),
            Expr::Infer(_) => {
                self.operand(right, None);
            }
            other => {
                self.unsupported(
                    other,
                    "a kernel cannot assign to this",
                    "assign to a variable, an element of an array, a tile or a tensor, one at a time",
                );
            }
        }
    }

    fn assign_variable(&mut self, path: &syn::ExprPath, right: &Expr, op: Option<Compound<'_>>) {
        let name = path.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let binding = self.lookup(&name).cloned();
        if let Some(Binding::Operand(Operand::Array(local, index))) = &binding
            && index.len() == self.kernel.locals[*local].extents.len()
        {
            return self.assign_part(*local, index.clone(), path, right, op);
        }
        let Some(Binding::Local(local)) = binding else {
            if self.operand(&Expr::Path(path.clone()), None).is_value() {
                self.mismatch(path);
            }
            return;
        };
        let ty = self.local_types[local.index()];
        if !self.kernel.locals[local].extents.is_empty() {
            self.unsupported(
                path,
                "a register array cannot be assigned as a whole",
                "assign its elements in a loop",
            );
            return;
        }
        let Some(value) = self.value(right, Some(ty)) else { return };
        let span = self.span(path);
        let old = self.expr(ExprKind::Local(local), ty, span);
        if let Some(value) = self.updated(op, old, value) {
            let new = self.ty(value);
            if new.vector == ty.vector && self.terms.unify(new.term, ty.term) {
                self.push(Stmt::Assign { local, value });
            } else {
                self.mismatch(right);
            }
        }
    }

    /// An element that a reference names.
    fn assign_part(
        &mut self,
        local: Handle<ir::Local>,
        index: Vec<Handle<ir::Expr>>,
        path: &syn::ExprPath,
        right: &Expr,
        op: Option<Compound<'_>>,
    ) {
        let (ty, span) = (self.local_types[local.index()], self.span(path));
        let Some(value) = self.value(right, Some(ty)) else { return };
        let old = self.expr(ExprKind::Element(local, index.clone()), ty, span);
        let Some(value) = self.updated(op, old, value) else { return };
        let new = self.ty(value);
        if new.vector == ty.vector && self.terms.unify(new.term, ty.term) {
            self.push(Stmt::AssignElement { local, index, value });
        } else {
            self.mismatch(right);
        }
    }

    /// The new value of a place under `=` or a compound assignment.
    fn updated(
        &mut self,
        op: Option<Compound<'_>>,
        old: Handle<ir::Expr>,
        value: Handle<ir::Expr>,
    ) -> Option<Handle<ir::Expr>> {
        let Some(Compound { op, whole }) = op else { return Some(value) };
        let span = self.span(whole);
        match self.arithmetic(op, old, value, span, whole) {
            Operand::Value(value) => Some(value),
            Operand::Array(..) | Operand::List(_) | Operand::Tuple(_) | Operand::Poison => None,
        }
    }

    /// Rust evaluates the right side of an assignment to a place first, then the place.
    fn assign_element(&mut self, left: &syn::ExprIndex, right: &Expr, op: Option<Compound<'_>>) {
        let hint = self.element_hint(left);
        let value = self.value(right, hint);
        let place = self.here();
        let Some(target) = self.target(left) else { return };
        let Some(value) = value else { return };
        let value = self.as_at(place, value);
        let span = self.span(left);
        if let Target::Array(local, _) = &target
            && self.kernel.locals[*local].table.is_some()
        {
            self.unsupported(
                left,
                "a constant table cannot be written",
                "copy it into a variable first: `let mut table = TABLE;`",
            );
            return;
        }
        match target {
            Target::Memory(place) => self.assign_memory(place, value, op, left, right),
            Target::Array(local, index) if index.len() == self.kernel.locals[local].extents.len() => {
                let ty = self.local_types[local.index()];
                let old = self.expr(ExprKind::Element(local, index.clone()), ty, span);
                let Some(value) = self.updated(op, old, value) else { return };
                let new = self.ty(value);
                if new.vector == ty.vector && self.terms.unify(new.term, ty.term) {
                    self.push(Stmt::AssignElement { local, index, value });
                } else {
                    self.mismatch(right);
                }
            }
            Target::Lane { local, index, lane } => {
                let ty = self.local_types[local.index()];
                let kind = if index.is_empty() {
                    ExprKind::Local(local)
                } else {
                    ExprKind::Element(local, index.clone())
                };
                let vector = self.expr(kind, ty, span);
                let old = self.expr(ExprKind::Lane(vector, lane), Ty::scalar(ty.term), span);
                let Some(value) = self.updated(op, old, value) else { return };
                let new = self.ty(value);
                if new.vector.is_none() && self.terms.unify(new.term, ty.term) {
                    self.push(Stmt::AssignLane { local, index, lane, value });
                } else {
                    self.mismatch(right);
                }
            }
            Target::Array(..) | Target::Value(_) => {
                self.mismatch(left);
            }
        }
    }

    fn assign_memory(
        &mut self,
        place: Place,
        value: Handle<ir::Expr>,
        op: Option<Compound<'_>>,
        left: &syn::ExprIndex,
        right: &Expr,
    ) {
        let ty = Ty::scalar(self.terms.known(self.kernel.element(place.base)));
        let new = self.ty(value);
        let shift = matches!(op, Some(Compound { op: BinaryOp::Shl | BinaryOp::Shr, .. }));
        if new.vector.is_some() || !(shift || self.terms.unify(new.term, ty.term)) {
            self.mismatch(right);
            return;
        }
        let value = match op {
            Some(_) => {
                let old = self.load(place.clone(), ty, left);
                let Some(value) = self.updated(op, old, value) else { return };
                value
            }
            None => value,
        };
        self.store(place, value, left);
    }

    /// The type of the element that an index expression names, where it is memory.
    fn element_hint(&mut self, left: &syn::ExprIndex) -> Option<Ty> {
        let mut root = &*left.expr;
        while let Expr::Index(inner) = root {
            root = &inner.expr;
        }
        let base = self.memory(root)?;
        Some(Ty::scalar(self.terms.known(self.kernel.element(base))))
    }
}

impl Operand {
    fn is_value(&self) -> bool {
        !matches!(self, Operand::Poison)
    }
}
