//! What is decided about a kernel before its text is written: which statements matter, where each variable is declared,
//! and which conditions become predicates.

use super::CudaFacts;
use crate::ir::{BinaryOp, Block, CompareOp, Expr, ExprKind, Handle, Kernel, Local, Loop, Scalar, Stmt};

/// The decisions.
pub(super) struct Plan {
    /// By local: whether anything that is emitted depends on it. What nothing depends on is left out, because C
    /// compilers warn about it.
    live: Vec<bool>,
    /// By local: whether its first assignment declares it; else it is declared at the top of the function.
    pub(super) declared_by_assignment: Vec<bool>,
    /// By local: how many statements assign to it.
    pub(super) assignments: Vec<u32>,
    /// By local: how often it is read.
    pub(super) reads: Vec<u32>,
}

impl Plan {
    pub(super) fn is_live(&self, local: Handle<Local>) -> bool {
        self.live[local.index()]
    }

    /// Whether the block has a statement that is emitted.
    pub(super) fn has_effect(&self, kernel: &Kernel, facts: &CudaFacts, block: &Block) -> bool {
        block.iter().any(|stmt| self.emits(kernel, facts, stmt))
    }

    fn emits(&self, kernel: &Kernel, facts: &CudaFacts, stmt: &Stmt) -> bool {
        match stmt {
            Stmt::Assign { local, .. }
            | Stmt::Fill { local, .. }
            | Stmt::AssignElement { local, .. }
            | Stmt::AssignLane { local, .. } => self.is_live(*local),
            Stmt::Load { .. }
            | Stmt::LoadMatrices { .. }
            | Stmt::LoadUnaligned(_)
            | Stmt::Store { .. }
            | Stmt::Copy(_)
            | Stmt::Atomic(_)
            | Stmt::Sync(..)
            | Stmt::Collective(_) => true,
            Stmt::If { then, otherwise, .. } => {
                self.has_effect(kernel, facts, then) || self.has_effect(kernel, facts, otherwise)
            }
            Stmt::For(handle) => self.runs(kernel, facts, *handle),
            Stmt::While { body, .. } => self.has_effect(kernel, facts, body),
        }
    }

    /// Whether the loop is emitted.
    pub(super) fn runs(&self, kernel: &Kernel, facts: &CudaFacts, handle: Handle<Loop>) -> bool {
        !is_empty(kernel, facts, handle) && self.has_effect(kernel, facts, &kernel.loops[handle].body)
    }
}

/// Whether the loop is known to have no iteration.
fn is_empty(kernel: &Kernel, facts: &CudaFacts, handle: Handle<Loop>) -> bool {
    facts.trip(handle) == Some(0) || is_unsigned_zero(kernel, kernel.loops[handle].end)
}

/// Decides.
pub(super) fn plan(kernel: &Kernel, facts: &CudaFacts) -> Plan {
    let locals = kernel.locals.len();
    let mut plan = Plan {
        live: vec![false; locals],
        declared_by_assignment: vec![false; locals],
        assignments: vec![0; locals],
        reads: vec![0; locals],
    };
    while keep(kernel, facts, &mut plan, &kernel.body) {}
    let mut scopes =
        Scopes { kernel, facts, plan: &plan, first: vec![None; locals], path: vec![], opened: 0 };
    let mut assignments = vec![0; locals];
    scopes.block(&kernel.body, &mut assignments);
    let declared =
        scopes.first.iter().map(|first| first.as_ref().is_some_and(|first| first.declares)).collect();
    let mut counts = vec![0; locals];
    count_reads(kernel, &kernel.body, &mut counts);
    Plan { live: plan.live, declared_by_assignment: declared, assignments, reads: counts }
}

/// Adds how often the statements of a block read each local.
fn count_reads(kernel: &Kernel, block: &Block, counts: &mut [u32]) {
    for stmt in block {
        for expr in stmt.operands(kernel) {
            reads(kernel, expr, &mut |local| counts[local.index()] += 1);
        }
        stmt.blocks(kernel).into_iter().for_each(|inner| count_reads(kernel, inner, counts));
    }
}

/// Marks what the emitted statements of the block read; whether anything was new.
fn keep(kernel: &Kernel, facts: &CudaFacts, plan: &mut Plan, block: &Block) -> bool {
    let mut changed = false;
    for stmt in block {
        if matches!(stmt, Stmt::For(handle) if is_empty(kernel, facts, *handle)) {
            continue;
        }
        for inner in stmt.blocks(kernel) {
            changed |= keep(kernel, facts, plan, inner);
        }
        if !plan.emits(kernel, facts, stmt) {
            continue;
        }
        for expr in stmt.operands(kernel) {
            reads(kernel, expr, &mut |local| {
                changed |= !std::mem::replace(&mut plan.live[local.index()], true);
            });
        }
    }
    changed
}

/// Calls `read` for every local that the text of the expression names.
fn reads(kernel: &Kernel, expr: Handle<Expr>, read: &mut dyn FnMut(Handle<Local>)) {
    let kind = &kernel.exprs[expr].kind;
    if let ExprKind::Local(local) | ExprKind::Element(local, _) = kind {
        read(*local);
    }
    if let ExprKind::Compare(op, a, b) = kind
        && known_comparison(kernel, *op, *a, *b).is_some()
    {
        return;
    }
    kind.operands().into_iter().for_each(|operand| reads(kernel, operand, read));
}

/// The result of an unsigned comparison with zero that has only one; C compilers warn about those.
pub(super) fn known_comparison(
    kernel: &Kernel,
    op: CompareOp,
    a: Handle<Expr>,
    b: Handle<Expr>,
) -> Option<bool> {
    match op {
        CompareOp::Less if is_unsigned_zero(kernel, b) => Some(false),
        CompareOp::GreaterEqual if is_unsigned_zero(kernel, b) => Some(true),
        CompareOp::Greater if is_unsigned_zero(kernel, a) => Some(false),
        CompareOp::LessEqual if is_unsigned_zero(kernel, a) => Some(true),
        CompareOp::Less
        | CompareOp::LessEqual
        | CompareOp::Greater
        | CompareOp::GreaterEqual
        | CompareOp::Equal
        | CompareOp::NotEqual => None,
    }
}

fn is_unsigned_zero(kernel: &Kernel, expr: Handle<Expr>) -> bool {
    let scalar = kernel.exprs[expr].ty.scalar();
    int(kernel, expr) == Some(0) && scalar.is_integer() && !scalar.is_signed()
}

/// The value of an integer constant.
pub(super) fn int(kernel: &Kernel, expr: Handle<Expr>) -> Option<i128> {
    let ExprKind::Int(value) = &kernel.exprs[expr].kind else { return None };
    Some(*value)
}

/// Whether an `if` with these sides becomes straight-line code under a predicate. Everything in it is then executed by
/// all threads, the accesses with the predicate: so there must be no barrier, no collective and no loop, and no division
/// of indices that could be by zero for the threads that should not get there.
pub(super) fn is_convertible(kernel: &Kernel, block: &Block) -> bool {
    block.iter().all(|stmt| match stmt {
        Stmt::Assign { .. }
        | Stmt::Fill { .. }
        | Stmt::AssignElement { .. }
        | Stmt::AssignLane { .. }
        | Stmt::Load { .. }
        | Stmt::LoadUnaligned(_)
        | Stmt::Store { .. }
        | Stmt::Copy(_)
        | Stmt::Atomic(_)
        | Stmt::If { .. } => {
            all_cannot_fault(kernel, &stmt.operands(kernel))
                && stmt.blocks(kernel).into_iter().all(|block| is_convertible(kernel, block))
        }
        Stmt::Sync(..)
        | Stmt::Collective(_)
        | Stmt::LoadMatrices { .. }
        | Stmt::For(_)
        | Stmt::While { .. } => false,
    })
}

fn all_cannot_fault(kernel: &Kernel, exprs: &[Handle<Expr>]) -> bool {
    exprs.iter().all(|expr| cannot_fault(kernel, *expr))
}

fn cannot_fault(kernel: &Kernel, expr: Handle<Expr>) -> bool {
    match &kernel.exprs[expr].kind {
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
        | ExprKind::Local(_) => true,
        ExprKind::Element(local, index) => {
            let array = &kernel.locals[*local];
            let inside = array.table.is_none()
                || index
                    .iter()
                    .zip(&array.extents)
                    .all(|(index, extent)| stays_below(kernel, *index, *extent));
            inside && all_cannot_fault(kernel, index)
        }
        ExprKind::Vector(values) | ExprKind::Call(_, values) => all_cannot_fault(kernel, values),
        ExprKind::Unary(_, a) | ExprKind::Cast(a) => cannot_fault(kernel, *a),
        ExprKind::Binary(op, a, b) => {
            let divides = op.divides() && kernel.exprs[expr].ty.scalar().is_index();
            let divisor_is_known = int(kernel, *b).is_some_and(|divisor| divisor != 0);
            (!divides || divisor_is_known) && cannot_fault(kernel, *a) && cannot_fault(kernel, *b)
        }
        ExprKind::Lane(a, b) | ExprKind::Compare(_, a, b) => {
            cannot_fault(kernel, *a) && cannot_fault(kernel, *b)
        }
        ExprKind::Select(a, b, c) => [a, b, c].into_iter().all(|e| cannot_fault(kernel, *e)),
    }
}

/// Whether an index is below an extent by its form alone: a constant, or the variable of a loop with a constant end.
fn stays_below(kernel: &Kernel, index: Handle<Expr>, extent: u32) -> bool {
    let below = |value: i128| (0..=i128::from(extent)).contains(&value);
    match &kernel.exprs[index].kind {
        ExprKind::Int(value) => below(*value + 1),
        ExprKind::Local(local) => kernel
            .loops
            .iter()
            .any(|(_, head)| head.variable == *local && int(kernel, head.end).is_some_and(below)),
        ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Param(_)
        | ExprKind::Extent(..)
        | ExprKind::Stride(..)
        | ExprKind::Misalignment(..)
        | ExprKind::Thread(_)
        | ExprKind::Block(_)
        | ExprKind::Grid(_)
        | ExprKind::Element(..)
        | ExprKind::Lane(..)
        | ExprKind::Vector(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Compare(..)
        | ExprKind::Select(..)
        | ExprKind::Call(..)
        | ExprKind::Cast(_) => false,
    }
}

/// Whether the index can be proven to stay below 2^31 by its form alone, in the text with 32-bit indices.
pub(super) fn is_below_half(kernel: &Kernel, expr: Handle<Expr>) -> bool {
    match &kernel.exprs[expr].kind {
        ExprKind::Int(value) => *value < 1 << 31,
        ExprKind::Extent(..) | ExprKind::Stride(..) | ExprKind::Misalignment(..) => true,
        ExprKind::Param(_) => kernel.exprs[expr].ty.scalar() == Scalar::Usize,
        ExprKind::Binary(op, a, b) => match op {
            BinaryOp::Div | BinaryOp::DivCeil | BinaryOp::Shr | BinaryOp::Rem => is_below_half(kernel, *a),
            BinaryOp::Min => is_below_half(kernel, *a) || is_below_half(kernel, *b),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Xor
            | BinaryOp::Shl
            | BinaryOp::Max => false,
        },
        ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Thread(_)
        | ExprKind::Block(_)
        | ExprKind::Grid(_)
        | ExprKind::Local(_)
        | ExprKind::Element(..)
        | ExprKind::Lane(..)
        | ExprKind::Vector(_)
        | ExprKind::Unary(..)
        | ExprKind::Compare(..)
        | ExprKind::Select(..)
        | ExprKind::Cast(_)
        | ExprKind::Call(..) => false,
    }
}

/// The walk that finds where variables can be declared.
struct Scopes<'a> {
    kernel: &'a Kernel,
    facts: &'a CudaFacts,
    plan: &'a Plan,
    first: Vec<Option<First>>,
    /// The scopes of C that are open, each with a number of its own.
    path: Vec<u32>,
    opened: u32,
}

/// The first mention of a local.
#[derive(Clone)]
struct First {
    path: Vec<u32>,
    /// Whether it is a full assignment and all later mentions are in its scope.
    declares: bool,
}

impl Scopes<'_> {
    fn block(&mut self, block: &Block, assignments: &mut [u32]) {
        for stmt in block {
            if !self.plan.emits(self.kernel, self.facts, stmt) {
                continue;
            }
            self.reads(&stmt.operands(self.kernel));
            for local in stmt.assigned() {
                let part = matches!(stmt, Stmt::AssignElement { .. } | Stmt::AssignLane { .. });
                self.mention(local, !part);
                assignments[local.index()] += 1;
            }
            let blocks = stmt.blocks(self.kernel);
            let predicated = matches!(stmt, Stmt::If { .. })
                && blocks.iter().all(|block| is_convertible(self.kernel, block));
            for block in blocks {
                if predicated {
                    self.block(block, assignments);
                } else {
                    self.scope(block, assignments);
                }
            }
        }
    }

    fn scope(&mut self, block: &Block, assignments: &mut [u32]) {
        self.opened += 1;
        self.path.push(self.opened);
        self.block(block, assignments);
        self.path.pop();
    }

    fn reads(&mut self, exprs: &[Handle<Expr>]) {
        let kernel = self.kernel;
        for expr in exprs {
            reads(kernel, *expr, &mut |local| self.mention(local, false));
        }
    }

    fn mention(&mut self, local: Handle<Local>, assigned: bool) {
        match &mut self.first[local.index()] {
            Some(first) => first.declares &= self.path.starts_with(&first.path),
            first => *first = Some(First { path: self.path.clone(), declares: assigned }),
        }
    }
}
