//! Loops that touch registers alone.
//!
//! An unrolled loop over registers, as in a product of matrices, is come to once for each iteration of those around it, and
//! again in every run of the analysis. It says nothing of memory or order, so all that it leaves is how much it
//! computes; once that is known for the numbers that it reads, the loop need not be followed again. Where only the order of
//! accesses is asked, it need not be followed at all.

use super::Trips;
use super::lanes::Mask;
use super::truth::Value;
use super::walk::Walk;
use crate::ir::{Block, Expr, ExprKind, Handle, Kernel, Local, Loop, Scalar, Stmt};
use std::rc::Rc;

/// What is known about the loops of a kernel that touch registers alone, across all runs of the analysis.
#[derive(Clone, Debug)]
pub(super) struct Inert {
    /// By loop: what it reads, where it is such a loop.
    reads: Rc<[Option<Vec<Handle<Local>>>]>,
    /// By loop: what it did.
    done: Vec<Vec<Done>>,
}

/// A loop that was followed, and nothing was found in it.
#[derive(Clone, Debug)]
struct Done {
    mask: Mask,
    /// The values that it read; `None` for data.
    values: Vec<Option<i64>>,
    /// Whether no index in it needs more than 32 bits.
    narrow: bool,
    /// The floating-point operations of all threads.
    operations: u64,
    trips: Vec<(Handle<Loop>, Trips)>,
}

/// What a walk has found, as far as a loop over registers may add to it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Before {
    escapes: usize,
    wraps: usize,
    register_faults: usize,
    divergences: usize,
    folded: usize,
    narrow: bool,
    over: bool,
}

impl Inert {
    pub(super) fn new(kernel: &Kernel) -> Inert {
        let mut everywhere = vec![0; kernel.locals.len()];
        count_block(kernel, &kernel.body, &mut everywhere);
        let reads = kernel.loops.handles().map(|handle| reads_of(kernel, handle, &everywhere));
        Inert { reads: reads.collect(), done: vec![Vec::new(); kernel.loops.len()] }
    }
}

impl Walk<'_> {
    /// Whether nothing is to be found in a loop any more.
    pub(super) fn is_done(&mut self, handle: Handle<Loop>) -> bool {
        if self.inert.reads[handle.index()].is_none() {
            return false;
        }
        if self.again.is_some() {
            return true;
        }
        let Some(values) = self.read_in(handle) else { return false };
        let known = &self.inert.done[handle.index()];
        let is_same =
            |done: &&Done| (done.narrow || !self.narrow) && done.values == values && done.mask == self.mask;
        let Some(done) = known.iter().find(is_same) else { return false };
        for (inner, trips) in &done.trips {
            self.trips[inner.index()] = self.trips[inner.index()].and(*trips);
        }
        let operations = done.operations;
        if operations > 0 {
            let total = self.operations.counts.entry(self.folds.last().copied()).or_default();
            *total = total.saturating_add(operations);
        }
        true
    }

    /// What has been found and computed before such a loop.
    pub(super) fn before_inert(&self, handle: Handle<Loop>) -> Option<(Vec<Option<i64>>, Before, u64)> {
        self.inert.reads[handle.index()].as_ref()?;
        Some((self.read_in(handle)?, self.found_so_far(), self.computed()))
    }

    /// After it: what it did is done.
    pub(super) fn after_inert(
        &mut self,
        handle: Handle<Loop>,
        (values, before, computed): (Vec<Option<i64>>, Before, u64),
    ) {
        // What was found before is not found once more, but may be forgotten until the loop is come to again.
        let nothing = self.escapes.is_empty() && self.escaped.is_empty() && self.register_faults.is_empty();
        if self.found_so_far() != before || before.over || !nothing {
            return;
        }
        let mut loops = vec![handle];
        loops_in(self.kernel, &self.kernel.loops[handle].body, &mut loops);
        let trips = loops.into_iter().map(|inner| (inner, self.trips[inner.index()])).collect();
        let operations = self.computed().saturating_sub(computed);
        self.inert.done[handle.index()].push(Done {
            mask: self.mask.clone(),
            values,
            narrow: self.narrow,
            operations,
            trips,
        });
    }

    fn computed(&self) -> u64 {
        self.operations.counts.get(&self.folds.last().copied()).copied().unwrap_or(0)
    }

    fn found_so_far(&self) -> Before {
        Before {
            escapes: self.escapes.len(),
            wraps: self.wraps.len(),
            register_faults: self.register_faults.len(),
            divergences: self.divergences.len(),
            folded: self.operations.folded.len(),
            narrow: self.narrow,
            over: self.is_over(),
        }
    }

    /// What a loop reads, where all of it is data or one number for all threads. Not within a loop that the machine code does not
    /// unroll, whose iterations are compared.
    fn read_in(&self, handle: Handle<Loop>) -> Option<Vec<Option<i64>>> {
        if !self.rolled.is_empty() || self.on_host {
            return None;
        }
        let value = |local: &Handle<Local>| match self.environment[local.index()].as_ref()? {
            Value::Int(form) => Some(Some(form.known_uniform()?)),
            Value::Data(_) => Some(None),
            Value::Truth(_) => None,
        };
        self.inert.reads[handle.index()].as_ref()?.iter().map(value).collect()
    }
}

fn loops_in(kernel: &Kernel, block: &Block, out: &mut Vec<Handle<Loop>>) {
    for stmt in block {
        if let Stmt::For(handle) = stmt {
            out.push(*handle);
        }
        stmt.blocks(kernel).into_iter().for_each(|block| loops_in(kernel, block, out));
    }
}

/// What a loop reads of what is assigned outside of it, if it touches registers alone, and nobody reads the variables that it
/// assigns.
fn reads_of(kernel: &Kernel, handle: Handle<Loop>, everywhere: &[u32]) -> Option<Vec<Handle<Local>>> {
    let mut scan = Scan { kernel, reads: Vec::new(), assigned: Vec::new() };
    if !scan.head(handle, &[]) {
        return None;
    }
    let mut inside = vec![0; kernel.locals.len()];
    count_loop(kernel, handle, &mut inside);
    let is_own = |local: &Handle<Local>| inside[local.index()] == everywhere[local.index()];
    scan.assigned.iter().all(is_own).then_some(scan.reads)
}

struct Scan<'a> {
    kernel: &'a Kernel,
    /// Variables that are read before they are assigned.
    reads: Vec<Handle<Local>>,
    /// Variables that are assigned, arrays left out.
    assigned: Vec<Handle<Local>>,
}

impl Scan<'_> {
    /// Whether a loop touches registers alone.
    fn head(&mut self, handle: Handle<Loop>, defined: &[Handle<Local>]) -> bool {
        let head = &self.kernel.loops[handle];
        self.assigned.push(head.variable);
        let bounds = [head.start, head.end, head.step].into_iter().all(|bound| self.expr(bound, defined));
        let mut inside = defined.to_vec();
        inside.push(head.variable);
        bounds && self.block(&head.body, &mut inside)
    }

    fn block(&mut self, block: &Block, defined: &mut Vec<Handle<Local>>) -> bool {
        block.iter().all(|stmt| self.stmt(stmt, defined))
    }

    fn stmt(&mut self, stmt: &Stmt, defined: &mut Vec<Handle<Local>>) -> bool {
        match stmt {
            Stmt::Assign { local, value } => {
                let is_plain = self.expr(*value, defined);
                self.assigned.push(*local);
                defined.push(*local);
                is_plain
            }
            Stmt::Fill { value, .. } => self.expr(*value, defined),
            Stmt::AssignElement { index, value, .. } => {
                index.iter().chain([value]).all(|expr| self.expr(*expr, defined))
            }
            Stmt::AssignLane { local, index, lane, value } => {
                if index.is_empty() {
                    self.read(*local, defined);
                    self.assigned.push(*local);
                }
                index.iter().chain([lane, value]).all(|expr| self.expr(*expr, defined))
            }
            Stmt::If { condition, then, otherwise } => {
                let (mut a, mut b) = (defined.clone(), defined.clone());
                let is_plain = self.expr(*condition, defined)
                    && self.block(then, &mut a)
                    && self.block(otherwise, &mut b);
                a.retain(|local| b.contains(local));
                *defined = a;
                is_plain
            }
            Stmt::For(handle) => self.head(*handle, defined),
            Stmt::Load { .. }
            | Stmt::LoadUnaligned(_)
            | Stmt::LoadMatrices { .. }
            | Stmt::Store { .. }
            | Stmt::Copy(_)
            | Stmt::Sync(..)
            | Stmt::Atomic(_)
            | Stmt::Collective(_)
            | Stmt::While { .. } => false,
        }
    }

    fn read(&mut self, local: Handle<Local>, defined: &[Handle<Local>]) {
        if !defined.contains(&local) && !self.reads.contains(&local) {
            self.reads.push(local);
        }
    }

    /// Whether an expression is made of registers and numbers.
    fn expr(&mut self, handle: Handle<Expr>, defined: &[Handle<Local>]) -> bool {
        let Expr { kind, ty, .. } = &self.kernel.exprs[handle];
        let is_plain = match kind {
            ExprKind::Local(local) => {
                self.read(*local, defined);
                true
            }
            ExprKind::Element(local, _) => self.kernel.locals[*local].table.is_none(),
            ExprKind::Param(_) => ty.scalar().is_float(),
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Bool(_)
            | ExprKind::Lane(..)
            | ExprKind::Vector(_)
            | ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Compare(..)
            | ExprKind::Select(..)
            | ExprKind::Cast(_)
            | ExprKind::Call(..) => ty.scalar() != Scalar::Isize,
            ExprKind::Extent(..)
            | ExprKind::Stride(..)
            | ExprKind::Misalignment(..)
            | ExprKind::Thread(_)
            | ExprKind::Block(_)
            | ExprKind::Grid(_) => false,
        };
        is_plain && kind.operands().into_iter().all(|operand| self.expr(operand, defined))
    }
}

/// How often each variable is read.
fn count_block(kernel: &Kernel, block: &Block, counts: &mut [u32]) {
    for stmt in block {
        match stmt {
            Stmt::For(handle) => count_loop(kernel, *handle, counts),
            _ => {
                stmt.operands(kernel).into_iter().for_each(|expr| count_expr(kernel, expr, counts));
                stmt.blocks(kernel).into_iter().for_each(|block| count_block(kernel, block, counts));
            }
        }
    }
}

fn count_loop(kernel: &Kernel, handle: Handle<Loop>, counts: &mut [u32]) {
    let head = &kernel.loops[handle];
    for bound in [head.start, head.end, head.step] {
        count_expr(kernel, bound, counts);
    }
    count_block(kernel, &head.body, counts);
}

fn count_expr(kernel: &Kernel, handle: Handle<Expr>, counts: &mut [u32]) {
    let kind = &kernel.exprs[handle].kind;
    if let ExprKind::Local(local) = kind {
        counts[local.index()] += 1;
    }
    kind.operands().into_iter().for_each(|operand| count_expr(kernel, operand, counts));
}
