//! Branches, and the values that they choose.

use super::flow::{Target, TargetKind};
use super::{Lower, Operand, Ty};
use crate::ir::{self, ExprKind, Handle, Scalar, Stmt};
use quote::ToTokens;
use syn::Expr;

/// The variables for a value that is computed on several ways.
#[derive(Default)]
pub(super) struct Slots {
    value: Option<Operand>,
    poisoned: bool,
    mismatched: bool,
}

impl Lower<'_> {
    /// A condition.
    pub(super) fn condition(&mut self, expr: &Expr) -> Option<Handle<ir::Expr>> {
        let bool_term = self.terms.known(Scalar::Bool);
        if matches!(expr, Expr::Let(_)) {
            self.unsupported(expr, "a kernel has no `if let` and no `while let`", "write a comparison");
            return None;
        }
        self.value_of(expr, bool_term)
    }

    pub(super) fn if_statement(&mut self, branch: &syn::ExprIf) {
        let condition = self.condition(&branch.cond);
        let then = self.in_flow(|lower| lower.block_items(&branch.then_branch));
        let otherwise = self.in_flow(|lower| {
            if let Some((_, otherwise)) = &branch.else_branch {
                lower.statement_expression(otherwise, &mut Vec::new());
            }
        });
        if let Some(condition) = condition {
            self.push_if(condition, then, otherwise);
        }
    }

    /// `if c { a } else { b }` as a value.
    pub(super) fn if_value(&mut self, branch: &syn::ExprIf, expected: Option<Ty>) -> Operand {
        let Some((_, otherwise)) = &branch.else_branch else {
            self.if_statement(branch);
            return Operand::Tuple(Vec::new());
        };
        let condition = self.condition(&branch.cond);
        self.choose(
            condition,
            branch,
            expected,
            |lower, expected| lower.statements(&branch.then_branch, expected),
            |lower, expected| lower.operand(otherwise, expected),
        )
    }

    /// The value of one of two sides, in variables that both assign.
    pub(super) fn choose(
        &mut self,
        condition: Option<Handle<ir::Expr>>,
        at: &impl ToTokens,
        expected: Option<Ty>,
        first: impl FnOnce(&mut Self, Option<Ty>) -> Operand,
        second: impl FnOnce(&mut Self, Option<Ty>) -> Operand,
    ) -> Operand {
        let mut slots = Slots::default();
        let then = self.in_flow(|lower| {
            let value = first(lower, expected);
            lower.keep(&mut slots, value, "chosen", at);
        });
        let hint = match &slots.value {
            Some(Operand::Value(value)) => Some(self.ty(*value)),
            _ => expected,
        };
        let otherwise = self.in_flow(|lower| {
            let value = second(lower, hint);
            lower.keep(&mut slots, value, "chosen", at);
        });
        let Some(condition) = condition else { return Operand::Poison };
        self.push_if(condition, then, otherwise);
        self.chosen(slots, at)
    }

    /// Assigns a value, on one of the ways to it. Where no thread gets to, there is none.
    pub(super) fn keep(&mut self, slots: &mut Slots, value: Operand, name: &str, at: &impl ToTokens) {
        if self.is_unreachable() || slots.poisoned {
            return;
        }
        if matches!(value, Operand::Poison) {
            slots.poisoned = true;
            return;
        }
        if slots.value.is_none() {
            slots.value = self.slot(&value, name, at);
            if slots.value.is_none() {
                slots.poisoned = true;
                return;
            }
        }
        if let Some(slot) = slots.value.clone() {
            slots.mismatched |= !self.assign_slot(&slot, value);
        }
    }

    /// The value that was kept.
    pub(super) fn chosen(&mut self, slots: Slots, at: &impl ToTokens) -> Operand {
        match slots {
            Slots { poisoned: true, .. } => Operand::Poison,
            Slots { mismatched: true, .. } => self.mismatch(at),
            // No way leads to a value: what follows is unreachable.
            Slots { value, .. } => value.unwrap_or(Operand::Poison),
        }
    }

    /// Variables for a value of this shape.
    fn slot(&mut self, value: &Operand, name: &str, at: &impl ToTokens) -> Option<Operand> {
        match value {
            Operand::Value(value) => {
                let (ty, span) = (self.ty(*value), self.span(at));
                let local = self.local(name, ty, Vec::new(), span);
                Some(Operand::Value(self.expr(ExprKind::Local(local), ty, span)))
            }
            Operand::Tuple(parts) => {
                let parts = parts.iter().map(|part| self.slot(part, name, at));
                parts.collect::<Option<Vec<_>>>().map(Operand::Tuple)
            }
            Operand::Array(..) | Operand::List(_) => {
                self.unsupported(
                    at,
                    "an array cannot be the value of a choice in a kernel",
                    "declare it before, and assign its elements in the sides",
                );
                None
            }
            Operand::Poison => None,
        }
    }

    /// Assigns the parts of a value; whether they fit.
    fn assign_slot(&mut self, slot: &Operand, value: Operand) -> bool {
        match (slot, value) {
            (Operand::Value(slot), Operand::Value(value)) => {
                let (own, new) = (self.ty(*slot), self.ty(value));
                if own.vector != new.vector || !self.terms.unify(own.term, new.term) {
                    return false;
                }
                if let ExprKind::Local(local) = self.kernel.exprs[*slot].kind {
                    self.push(Stmt::Assign { local, value });
                }
                true
            }
            (Operand::Tuple(slots), Operand::Tuple(values)) => {
                slots.len() == values.len()
                    && slots.iter().zip(values).all(|(slot, value)| self.assign_slot(slot, value))
            }
            (_, Operand::Poison) => true,
            _ => false,
        }
    }

    /// `'label: { … }`.
    pub(super) fn labeled_block(
        &mut self,
        block: &syn::Block,
        label: Option<&syn::Label>,
        expected: Option<Ty>,
    ) -> Operand {
        let Some(label) = label else { return self.block_value(block, expected) };
        self.leavable(Target::new(TargetKind::Block, Some(label)), block, |lower| {
            lower.block_value(block, expected)
        })
    }

    /// What `break 'label value` and `return value` leave, and the value that it has in the end.
    pub(super) fn leavable(
        &mut self,
        target: Target,
        at: &impl ToTokens,
        fill: impl FnOnce(&mut Self) -> Operand,
    ) -> Operand {
        self.targets.push(target);
        let mut result = Operand::Poison;
        let mut slots = Slots::default();
        let mut leave = None;
        let (mut statements, flow) = self.in_flow(|lower| {
            result = fill(lower);
            let target = lower.targets.pop();
            leave = target.as_ref().and_then(|target| target.leave);
            if let Some(Target { result: Some(kept), .. }) = target {
                slots.value = Some(kept);
                lower.keep(&mut slots, result.clone(), "result", at);
            }
        });
        if let Some(leave) = leave {
            let clear = self.set_exit(leave, false);
            statements.insert(0, clear);
        }
        self.splice(statements, flow, leave);
        if slots.value.is_some() { self.chosen(slots, at) } else { result }
    }

    /// `break`, `break 'label`, `break value`.
    pub(super) fn break_to(&mut self, exit: &syn::ExprBreak) -> Operand {
        let label = exit.label.as_ref();
        let Some(target) = self.find_target(label, exit) else { return Operand::Poison };
        self.take_along(target, exit.expr.as_deref());
        self.leave_for(target, "broken", exit);
        Operand::Poison
    }

    /// `continue`, `continue 'label`.
    pub(super) fn continue_with(&mut self, exit: &syn::ExprContinue) -> Operand {
        let label = exit.label.as_ref();
        let Some(target) = self.find_target(label, exit) else { return Operand::Poison };
        let again = match self.targets[target].again {
            Some(again) => again,
            None => {
                let span = self.span(exit);
                self.new_exit("continued", span)
            }
        };
        self.targets[target].again = Some(again);
        self.exit(again);
        Operand::Poison
    }

    /// `return`, `return value`.
    pub(super) fn return_with(&mut self, exit: &syn::ExprReturn) -> Operand {
        let function = self.targets.iter().rposition(|target| target.kind == TargetKind::Function);
        let Some(target) = function else { return self.mismatch(exit) };
        self.take_along(target, exit.expr.as_deref());
        self.leave_for(target, "returned", exit);
        Operand::Poison
    }

    /// Keeps the value that an exit takes with it.
    fn take_along(&mut self, target: usize, value: Option<&Expr>) {
        let Some(value) = value else { return };
        let hint = match &self.targets[target].result {
            Some(Operand::Value(slot)) => Some(self.ty(*slot)),
            _ => self.targets[target].hint,
        };
        let operand = self.operand(value, hint);
        let mut slots = Slots { value: self.targets[target].result.take(), ..Slots::default() };
        self.keep(&mut slots, operand, "result", value);
        self.targets[target].result = slots.value.clone();
        if slots.mismatched {
            self.mismatch(value);
        }
    }

    pub(super) fn leave_for(&mut self, target: usize, name: &str, at: &impl ToTokens) {
        let leave = match self.targets[target].leave {
            Some(leave) => leave,
            None => {
                let span = self.span(at);
                self.new_exit(name, span)
            }
        };
        self.targets[target].leave = Some(leave);
        self.exit(leave);
    }

    /// The loop or block that an exit names: of its own function.
    fn find_target(&mut self, label: Option<&syn::Lifetime>, at: &impl ToTokens) -> Option<usize> {
        let mut found = None;
        for (number, target) in self.targets.iter().enumerate().rev() {
            let matches = match (target.kind, label) {
                (TargetKind::Function, _) => break,
                (TargetKind::Loop, None) => true,
                (TargetKind::Block, None) => false,
                (_, Some(label)) => target.label.as_ref().is_some_and(|own| label.ident == *own),
            };
            if matches {
                found = Some(number);
                break;
            }
        }
        if found.is_none() {
            self.mismatch(at);
        }
        found
    }
}
