//! Loops over the elements of an array: `for d in [16, 8, 4]`.
//!
//! Such a loop counts through the array. One of literals is a constant table, whose elements are known in every iteration;
//! any other is a copy in registers, as Rust moves the array into the loop. An array of tuples is a tuple of arrays.

use super::stmt::flatten;
use super::{Binding, Lower, Operand};
use crate::ir::{self, ExprKind, Handle};
use syn::Expr;

/// What a loop over an array runs through.
pub(super) enum Elements {
    /// An array in a variable that nothing assigns.
    Array(Handle<ir::Local>, Vec<Handle<ir::Expr>>),
    /// By field of the tuples.
    Tuple(Vec<Elements>),
}

impl Lower<'_> {
    /// The elements of an array at the head of a loop, and how many they are.
    pub(super) fn loop_elements(&mut self, head: &Expr) -> Option<(Elements, u32)> {
        let name = syn::Ident::new("element", syn::spanned::Spanned::span(head));
        match self.operand(head, None) {
            Operand::Array(array, prefix) => {
                let local = &self.kernel.locals[array];
                let count = *local.extents.get(prefix.len())?;
                if local.table.is_some() {
                    return Some((Elements::Array(array, prefix), count));
                }
                match self.store_away(&name, Operand::Array(array, prefix)) {
                    Binding::Local(copy) => Some((Elements::Array(copy, Vec::new()), count)),
                    Binding::Memory(_) | Binding::Operand(_) => None,
                }
            }
            Operand::List(parts) => {
                let count = u32::try_from(parts.len()).ok()?;
                let elements = self.gathered(&name, parts);
                if elements.is_none() {
                    self.mismatch(head);
                }
                Some((elements?, count))
            }
            Operand::Poison => None,
            Operand::Value(_) | Operand::Tuple(_) => {
                self.no_head(head);
                None
            }
        }
    }

    /// Puts the elements of an array into variables, by field if they are tuples. `None` if they are not of one type.
    fn gathered(&mut self, name: &syn::Ident, parts: Vec<Operand>) -> Option<Elements> {
        if let Some(Operand::Tuple(first)) = parts.first() {
            let mut fields = vec![Vec::new(); first.len()];
            for part in parts {
                let Operand::Tuple(part) = part else { return None };
                if part.len() != fields.len() {
                    return None;
                }
                for (field, value) in fields.iter_mut().zip(part) {
                    field.push(value);
                }
            }
            let fields: Option<Vec<Elements>> =
                fields.into_iter().map(|field| self.gathered(name, field)).collect();
            return fields.map(Elements::Tuple);
        }
        let (mut extents, mut leaves) = (Vec::new(), Vec::new());
        flatten(&parts, 0, &mut extents, &mut leaves)?;
        if !leaves.iter().all(|leaf| self.is_literal(*leaf)) {
            return match self.store_away(name, Operand::List(parts)) {
                Binding::Local(local) => Some(Elements::Array(local, Vec::new())),
                Binding::Memory(_) | Binding::Operand(_) => None,
            };
        }
        let ty = self.ty(*leaves.first()?);
        for leaf in &leaves {
            let own = self.ty(*leaf);
            if own.vector.is_some() || !self.terms.unify(own.term, ty.term) {
                return None;
            }
        }
        let span = self.span(name);
        let local = self.local(&name.to_string(), ty, extents, span);
        self.kernel.locals[local].table = Some(leaves);
        self.limit_tables(span);
        Some(Elements::Array(local, Vec::new()))
    }

    /// Whether a value is a literal, or one with a sign.
    fn is_literal(&self, value: Handle<ir::Expr>) -> bool {
        match self.kernel.exprs[value].kind {
            ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) => true,
            ExprKind::Unary(_, inner) => self.is_literal(inner),
            _ => false,
        }
    }

    /// The element of this number.
    pub(super) fn element_at(&mut self, elements: &Elements, number: Handle<ir::Expr>) -> Operand {
        match elements {
            Elements::Array(local, prefix) => {
                let index: Vec<_> = prefix.iter().copied().chain([number]).collect();
                if index.len() < self.kernel.locals[*local].extents.len() {
                    return Operand::Array(*local, index);
                }
                let (ty, span) = (self.local_types[local.index()], self.kernel.exprs[number].span);
                Operand::Value(self.expr(ExprKind::Element(*local, index), ty, span))
            }
            Elements::Tuple(fields) => {
                Operand::Tuple(fields.iter().map(|field| self.element_at(field, number)).collect())
            }
        }
    }
}

/// Whether the head of a loop can only be an array.
pub(super) fn is_array(head: &Expr) -> bool {
    match head {
        Expr::Paren(inner) => is_array(&inner.expr),
        Expr::Group(inner) => is_array(&inner.expr),
        Expr::Array(_) | Expr::Repeat(_) | Expr::Path(_) | Expr::Index(_) | Expr::Field(_) => true,
        _ => false,
    }
}
