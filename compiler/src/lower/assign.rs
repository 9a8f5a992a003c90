//! Assignments: to variables, tuples and their fields, to elements of register arrays, tiles and tensors, to values of
//! vectors, and to tuples and arrays of such places.

use super::flow::Here;
use super::place::Target;
use super::{Binding, Lower, Operand, Ty};
use crate::ir::{self, BinaryOp, ExprKind, Handle, Place, Stmt};
use crate::span::SpanId;
use syn::Expr;

/// The operator of a compound assignment, and the assignment.
#[derive(Clone, Copy)]
pub(super) struct Compound<'a> {
    pub(super) op: BinaryOp,
    pub(super) whole: &'a syn::ExprBinary,
}

/// A value that has been evaluated, and where in the statements that was.
struct Evaluated<'a> {
    value: Operand,
    place: Here,
    /// How the user writes it.
    source: &'a Expr,
}

impl Lower<'_> {
    /// Rust evaluates the right side of an assignment first, then the place on the left.
    pub(super) fn assign(&mut self, left: &Expr, right: &Expr, op: Option<Compound<'_>>) {
        let hint = self.place_hint(left);
        let value = self.operand(right, hint);
        let place = self.here();
        self.assign_evaluated(left, Evaluated { value, place, source: right }, op);
    }

    fn assign_evaluated(&mut self, left: &Expr, right: Evaluated<'_>, op: Option<Compound<'_>>) {
        match left {
            Expr::Paren(inner) => self.assign_evaluated(&inner.expr, right, op),
            Expr::Group(inner) => self.assign_evaluated(&inner.expr, right, op),
            Expr::Index(index) => self.assign_element(index, right, op),
            // The caller's variable behind a reference parameter.
            Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), expr, .. }) => {
                self.assign_evaluated(expr, right, op);
            }
            Expr::Infer(_) => {}
            Expr::Path(_) | Expr::Field(_) => match self.named_place(left) {
                Some(place) => self.assign_place(&place, left, right, op),
                // An unknown name, or no variable.
                None => match (self.operand(left, None), left) {
                    (Operand::Poison, _) => {}
                    (_, Expr::Field(_)) => self.no_place(left),
                    _ => {
                        self.mismatch(left);
                    }
                },
            },
            Expr::Tuple(tuple) if op.is_none() => self.assign_parts(left, &tuple.elems, right),
            Expr::Array(array) if op.is_none() => self.assign_parts(left, &array.elems, right),
            other => self.no_place(other),
        }
    }

    fn no_place(&mut self, left: &Expr) {
        self.unsupported(
            left,
            "a kernel cannot assign to this",
            "assign to a variable, a field of a tuple, an element of an array, a tile or a tensor, or to a tuple of such",
        );
    }

    /// `(a, b[i]) = …`: one after the other, in Rust's order.
    fn assign_parts<'e>(
        &mut self,
        left: &Expr,
        places: impl IntoIterator<Item = &'e Expr>,
        right: Evaluated<'_>,
    ) {
        let places: Vec<&Expr> = places.into_iter().collect();
        let Evaluated { value, place, source } = right;
        let parts = match (left, value) {
            (_, Operand::Poison) => return,
            (Expr::Tuple(_), Operand::Tuple(parts)) => Some(parts),
            (Expr::Array(_), value) => self.array_parts(value, places.len()),
            _ => None,
        };
        let Some(parts) = parts.filter(|parts| parts.len() == places.len()) else {
            self.mismatch(left);
            return;
        };
        for (left, value) in places.into_iter().zip(parts) {
            self.assign_evaluated(left, Evaluated { value, place, source }, None);
        }
    }

    /// The variable, or the part of a tuple in variables, that a name with fields stands for.
    pub(super) fn named_place(&mut self, expr: &Expr) -> Option<Binding> {
        match expr {
            Expr::Paren(inner) => self.named_place(&inner.expr),
            Expr::Group(inner) => self.named_place(&inner.expr),
            Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), expr, .. }) => self.named_place(expr),
            Expr::Path(path) => match self.lookup(&path.path.get_ident()?.to_string())? {
                Binding::Operand(Operand::Value(_)) | Binding::Memory(_) => None,
                place => Some(place.clone()),
            },
            Expr::Field(field) => {
                let syn::Member::Unnamed(number) = &field.member else { return None };
                let Binding::Operand(Operand::Tuple(parts)) = self.named_place(&field.base)? else {
                    return None;
                };
                let part = parts.into_iter().nth(number.index as usize)?;
                Some(self.part_place(part))
            }
            _ => None,
        }
    }

    /// A part of a tuple in variables.
    fn part_place(&self, part: Operand) -> Binding {
        let local = match &part {
            Operand::Value(value) => match self.kernel.exprs[*value].kind {
                ExprKind::Local(local) => Some(local),
                _ => None,
            },
            Operand::Array(..) | Operand::List(_) | Operand::Tuple(_) | Operand::Poison => None,
        };
        local.map_or(Binding::Operand(part), Binding::Local)
    }

    fn assign_place(
        &mut self,
        target: &Binding,
        left: &Expr,
        right: Evaluated<'_>,
        op: Option<Compound<'_>>,
    ) {
        match target {
            Binding::Local(local) if self.kernel.locals[*local].extents.is_empty() => {
                self.assign_variable(*local, left, right, op);
            }
            Binding::Operand(Operand::Array(local, index))
                if index.len() == self.kernel.locals[*local].extents.len() =>
            {
                self.assign_part(*local, index.clone(), left, right, op);
            }
            Binding::Local(_) | Binding::Operand(Operand::Array(..) | Operand::List(_)) => {
                self.unsupported(
                    left,
                    "a register array cannot be assigned as a whole",
                    "assign its elements in a loop",
                );
            }
            Binding::Operand(Operand::Tuple(targets)) => {
                let Evaluated { value, place, source } = right;
                let parts = match (value, op) {
                    (Operand::Poison, _) => return,
                    (Operand::Tuple(parts), None) if parts.len() == targets.len() => parts,
                    _ => {
                        self.mismatch(source);
                        return;
                    }
                };
                for (target, value) in targets.iter().zip(parts) {
                    let target = self.part_place(target.clone());
                    self.assign_place(&target, left, Evaluated { value, place, source }, None);
                }
            }
            Binding::Operand(Operand::Poison) => {}
            Binding::Operand(Operand::Value(_)) | Binding::Memory(_) => {
                self.mismatch(left);
            }
        }
    }

    /// The scalar or vector that is assigned, as it was when it was evaluated.
    fn assigned(&mut self, right: Evaluated<'_>) -> Option<Handle<ir::Expr>> {
        match right.value {
            Operand::Value(value) => Some(self.as_at(right.place, value)),
            Operand::Poison => None,
            Operand::Array(..) | Operand::List(_) | Operand::Tuple(_) => {
                self.mismatch(right.source);
                None
            }
        }
    }

    fn assign_variable(
        &mut self,
        local: Handle<ir::Local>,
        left: &Expr,
        right: Evaluated<'_>,
        op: Option<Compound<'_>>,
    ) {
        let (ty, span, source) = (self.local_types[local.index()], self.span(left), right.source);
        let Some(value) = self.assigned(right) else { return };
        let old = self.expr(ExprKind::Local(local), ty, span);
        if let Some(value) = self.updated(op, old, value) {
            let new = self.ty(value);
            if new.vector == ty.vector && self.terms.unify(new.term, ty.term) {
                self.push(Stmt::Assign { local, value });
            } else {
                self.mismatch(source);
            }
        }
    }

    /// An element that a reference names.
    fn assign_part(
        &mut self,
        local: Handle<ir::Local>,
        index: Vec<Handle<ir::Expr>>,
        left: &Expr,
        right: Evaluated<'_>,
        op: Option<Compound<'_>>,
    ) {
        let (span, source) = (self.span(left), right.source);
        if let Some(value) = self.assigned(right) {
            self.assign_register(local, index, value, op, (span, source));
        }
    }

    /// An element of a register array: all indices are given.
    fn assign_register(
        &mut self,
        local: Handle<ir::Local>,
        index: Vec<Handle<ir::Expr>>,
        value: Handle<ir::Expr>,
        op: Option<Compound<'_>>,
        (span, source): (SpanId, &Expr),
    ) {
        let ty = self.local_types[local.index()];
        let old = self.expr(ExprKind::Element(local, index.clone()), ty, span);
        let Some(value) = self.updated(op, old, value) else { return };
        let new = self.ty(value);
        if new.vector == ty.vector && self.terms.unify(new.term, ty.term) {
            self.push(Stmt::AssignElement { local, index, value });
        } else {
            self.mismatch(source);
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

    fn assign_element(&mut self, left: &syn::ExprIndex, right: Evaluated<'_>, op: Option<Compound<'_>>) {
        let source = right.source;
        let target = self.target(left);
        let Some(value) = self.assigned(right) else { return };
        let Some(target) = target else { return };
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
            Target::Memory(place) => self.assign_memory(place, value, op, left, source),
            Target::Array(local, index) if index.len() == self.kernel.locals[local].extents.len() => {
                self.assign_register(local, index, value, op, (span, source));
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
                    self.mismatch(source);
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

    /// The type of a place, where that is known without looking at indices.
    fn place_hint(&mut self, left: &Expr) -> Option<Ty> {
        match left {
            Expr::Paren(inner) => self.place_hint(&inner.expr),
            Expr::Group(inner) => self.place_hint(&inner.expr),
            Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), expr, .. }) => self.place_hint(expr),
            Expr::Index(index) => {
                let mut root = &*index.expr;
                while let Expr::Index(inner) = root {
                    root = &inner.expr;
                }
                let base = self.memory(root)?;
                Some(Ty::scalar(self.terms.known(self.kernel.element(base))))
            }
            Expr::Path(_) | Expr::Field(_) => match self.named_place(left)? {
                Binding::Local(local) | Binding::Operand(Operand::Array(local, _)) => {
                    Some(self.local_types[local.index()])
                }
                Binding::Operand(_) | Binding::Memory(_) => None,
            },
            _ => None,
        }
    }
}
