//! Atomic updates.

use super::{Lower, Operand, Ty};
use crate::diagnostic::Code;
use crate::ir::{Atomic, AtomicOp, Base, ExprKind, Part, Place, Role, Stmt};
use syn::ExprMethodCall;

impl Lower<'_> {
    /// `histogram.atomic_add([bin], 1)`.
    pub(super) fn atomic(&mut self, call: &ExprMethodCall, base: Base, op: AtomicOp) -> Operand {
        let element = self.kernel.element(base);
        if !op.has(element) {
            let types = match op {
                AtomicOp::Add | AtomicOp::Exchange | AtomicOp::CompareExchange => {
                    "i32, i64, u32, u64, f32 and f64"
                }
                AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => {
                    "i32, i64, u32 and u64"
                }
            };
            return self.defer(
                Code::Type,
                &call.method,
                format!("no instruction is `{}` of {}", op.name(), element.name()),
                &format!("it takes elements of the types {types}"),
            );
        }
        let wanted = if op == AtomicOp::CompareExchange { 3 } else { 2 };
        let arguments: Vec<&syn::Expr> = call.args.iter().collect();
        let [index, values @ ..] = arguments.as_slice() else { return self.mismatch(call) };
        if arguments.len() != wanted {
            return self.mismatch(call);
        }
        let ty = Ty::scalar(self.terms.known(element));
        let Some(mut index) = self.vector_index(base, index) else { return Operand::Poison };
        let before = self.here();
        let values =
            self.in_order(values.iter().copied(), |lower, value| match lower.value_of(value, ty.term) {
                Some(value) => Operand::Value(value),
                None => Operand::Poison,
            });
        let mut operands = Vec::new();
        for value in values {
            let Operand::Value(value) = value else { return Operand::Poison };
            operands.push(value);
        }
        for index in index.iter_mut().rev() {
            *index = self.as_at(before, *index);
        }
        let Some(site) = self.site(Place { base, index, width: 1, part: Part::Exact }, Role::Update, call)
        else {
            return Operand::Poison;
        };
        let span = self.span(call);
        let name = format!("{}_before", self.kernel.base_name(base));
        let local = self.local(&name, ty, Vec::new(), span);
        self.push(Stmt::Atomic(Atomic { local, site, op, operands }));
        Operand::Value(self.expr(ExprKind::Local(local), ty, span))
    }
}
