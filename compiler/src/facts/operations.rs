//! Floating-point operations, counted as the walk executes statements.

use super::lanes::Mask;
use super::walk::Walk;
use crate::ir::{
    Arena, Atomic, AtomicOp, BinaryOp, Collective, CollectiveOp, Expr, ExprKind, Function, Handle, Kernel,
    Stmt,
};
use crate::span::SpanId;
use std::collections::{BTreeMap, BTreeSet};

/// How much a block computes.
#[derive(Clone, Debug, Default)]
pub struct Operations {
    /// Floating-point operations of the threads that can be there, by the innermost loop around them of which one iteration
    /// stands for all: its head.
    pub counts: BTreeMap<Option<SpanId>, u64>,
    /// All such loops.
    pub folded: BTreeSet<SpanId>,
}

/// By expression: the operations of one thread that evaluates it.
pub(super) fn costs(kernel: &Kernel) -> Vec<u64> {
    let mut costs = vec![None; kernel.exprs.len()];
    kernel.exprs.handles().for_each(|expr| {
        cost(&kernel.exprs, expr, &mut costs);
    });
    costs.into_iter().flatten().collect()
}

fn cost(exprs: &Arena<Expr>, expr: Handle<Expr>, costs: &mut [Option<u64>]) -> u64 {
    if let Some(cost) = costs[expr.index()] {
        return cost;
    }
    let inner: u64 = exprs[expr].kind.operands().into_iter().map(|operand| cost(exprs, operand, costs)).sum();
    let total = inner.saturating_add(own(exprs, expr));
    costs[expr.index()] = Some(total);
    total
}

/// The operations of an expression without those of its operands.
fn own(exprs: &Arena<Expr>, expr: Handle<Expr>) -> u64 {
    let Expr { kind, ty, .. } = &exprs[expr];
    let (is_float, width) = (ty.scalar().is_float(), u64::from(ty.width()));
    match kind {
        ExprKind::Binary(op, ..) if is_float => match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => width,
            BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::Min
            | BinaryOp::Max
            | BinaryOp::DivCeil => 0,
        },
        ExprKind::Call(function, _) if is_float => match function {
            Function::MulAdd => 2 * width,
            Function::Abs | Function::Copysign | Function::FromBits => 0,
            _ => width,
        },
        _ => 0,
    }
}

impl Walk<'_> {
    /// Counts what a statement computes, without the statements within it and without the condition of a `while`.
    pub(super) fn count_statement(&mut self, stmt: &Stmt) {
        let mut operations = match stmt {
            Stmt::While { .. } => 0,
            _ => stmt.operands(self.kernel).into_iter().map(|operand| self.costs[operand.index()]).sum(),
        };
        if let Stmt::Atomic(Atomic { site, op: AtomicOp::Add, .. }) = stmt
            && self.kernel.element(self.kernel.sites[*site].place.base).is_float()
        {
            operations += 1;
        }
        if let Stmt::Collective(Collective { op: CollectiveOp::MatrixProduct(product), .. }) = stmt
            && product.sum().is_float()
        {
            // Each value of the sum takes a multiplication and an addition for each column of the left factor.
            let [_, _, sums] = product.widths();
            operations += u64::from(2 * sums * product.depth());
        }
        self.count(operations);
    }

    /// Counts the condition of a `while` before an iteration.
    pub(super) fn count_condition(&mut self, condition: Handle<Expr>) {
        self.count(self.costs[condition.index()]);
    }

    fn count(&mut self, operations: u64) {
        if operations == 0 {
            return;
        }
        let threads = match &self.mask {
            Mask::Uniform(true) => self.threads,
            mask => (0..self.threads).filter(|thread| mask.get(*thread)).count(),
        };
        let total = self.operations.counts.entry(self.folds.last().copied()).or_default();
        *total = total.saturating_add(operations.saturating_mul(threads as u64));
    }

    /// Begins the iteration of a loop that stands for all.
    pub(super) fn fold(&mut self, head: SpanId) {
        self.folds.push(head);
        self.operations.folded.insert(head);
    }

    /// Ends it.
    pub(super) fn unfold(&mut self) {
        self.folds.pop();
    }
}
