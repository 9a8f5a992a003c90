//! What ptxas makes of atomic updates: which instruction, and which lanes execute it.
//!
//! Seen in the machine code of NVRTC 13.0, alike for sm_80, sm_90 and sm_120:
//!
//! - In shared memory integers of 4 bytes have instructions, and so have exchange and compare-and-exchange of 4 and 8
//!   bytes. All other updates are loops. An add of the constant 1 to a `u32` without a result is the instruction that counts.
//! - Where all lanes update one element, one of them does it for all: integers of 4 bytes without a result, whatever the
//!   operation; an add of 4 bytes with a result; an add of 8 bytes whose operand is the same for all lanes. Where the
//!   operand of an add with a result differs from lane to lane, so do the sums before each lane; these are found only in a full
//!   warp, and otherwise every lane adds for itself. No update of floats, and no other of 8 bytes, is combined.
//! - That all lanes name one element ptxas sees where the index is made of constants, arguments, positions of the block,
//!   counters of such loops, and what was loaded from such an index. It does not see that `thread_x() / 1024` is 0.

use crate::ir::{
    Atomic, AtomicOp, Base, Block, Expr, ExprKind, Handle, Issuer, Kernel, Local, Loop, Scalar, Stmt,
    Unaligned, UpdateForm,
};

/// Writes into the site of each update its form and its issuer.
pub(super) fn settle(kernel: &mut Kernel) {
    let mut updates = Vec::new();
    find(kernel, &kernel.body, &mut updates);
    if updates.is_empty() {
        return;
    }
    let body = &kernel.body;
    let mut varying = vec![false; kernel.locals.len()];
    while mark_varying(kernel, body, false, &mut varying) {}
    let mut used = vec![false; kernel.locals.len()];
    while mark_used(kernel, body, &mut used) {}
    for update in updates {
        let is_used = used[update.local.index()];
        let form = form(kernel, &update, is_used);
        let issuer = issuer(kernel, &update, is_used, form, &varying);
        let site = &mut kernel.sites[update.site];
        (site.form, site.issuer) = (Some(form), issuer);
    }
}

fn find(kernel: &Kernel, block: &Block, updates: &mut Vec<Atomic>) {
    for stmt in block {
        if let Stmt::Atomic(update) = stmt {
            updates.push(update.clone());
        }
        stmt.blocks(kernel).into_iter().for_each(|inner| find(kernel, inner, updates));
    }
}

fn form(kernel: &Kernel, update: &Atomic, is_used: bool) -> UpdateForm {
    let base = kernel.sites[update.site].place.base;
    let element = kernel.element(base);
    let is_small_integer = element.is_integer() && element.bytes() == 4;
    match (base, update.op) {
        (Base::Tensor(_), _) | (Base::Tile(_), AtomicOp::Exchange) => UpdateForm::Instruction,
        (Base::Tile(_), AtomicOp::CompareExchange) => UpdateForm::Compare,
        (Base::Tile(_), AtomicOp::Add) if element == Scalar::U32 && !is_used && adds_one(kernel, update) => {
            UpdateForm::Count
        }
        (
            Base::Tile(_),
            AtomicOp::Add | AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor,
        ) => match is_small_integer {
            true => UpdateForm::Instruction,
            false => UpdateForm::Loop,
        },
    }
}

fn adds_one(kernel: &Kernel, update: &Atomic) -> bool {
    update.operands.iter().all(|operand| kernel.exprs[*operand].kind == ExprKind::Int(1))
}

fn issuer(kernel: &Kernel, update: &Atomic, is_used: bool, form: UpdateForm, varying: &[bool]) -> Issuer {
    let place = &kernel.sites[update.site].place;
    let element = kernel.element(place.base);
    let one_element = !place.index.iter().any(|index| varies(kernel, *index, varying));
    if !one_element || !element.is_integer() || form == UpdateForm::Count {
        return Issuer::EveryLane;
    }
    let one_operand = !update.operands.iter().any(|operand| varies(kernel, *operand, varying));
    match (update.op, element.bytes()) {
        (AtomicOp::Add, 4) if is_used && !one_operand => Issuer::OneLaneOfFullWarp,
        (AtomicOp::Add, 4) => Issuer::OneLane,
        (AtomicOp::Add, _) if one_operand => Issuer::OneLane,
        (AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor, 4) if !is_used => {
            Issuer::OneLane
        }
        (_, _) => Issuer::EveryLane,
    }
}

/// Whether ptxas takes the value to differ from lane to lane.
fn varies(kernel: &Kernel, expr: Handle<Expr>, varying: &[bool]) -> bool {
    let kind = &kernel.exprs[expr].kind;
    let own = match kind {
        ExprKind::Thread(_) => true,
        ExprKind::Local(local) | ExprKind::Element(local, _) => varying[local.index()],
        ExprKind::Int(_)
        | ExprKind::Float(_)
        | ExprKind::Bool(_)
        | ExprKind::Param(_)
        | ExprKind::Extent(..)
        | ExprKind::Stride(..)
        | ExprKind::Misalignment(..)
        | ExprKind::Block(_)
        | ExprKind::Grid(_)
        | ExprKind::Lane(..)
        | ExprKind::Vector(_)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Compare(..)
        | ExprKind::Select(..)
        | ExprKind::Cast(_)
        | ExprKind::Call(..) => false,
    };
    own || kind.operands().into_iter().any(|operand| varies(kernel, operand, varying))
}

/// Marks the variables that may differ from lane to lane, in a block that only some lanes may execute if `diverged`;
/// whether any was new.
fn mark_varying(kernel: &Kernel, block: &Block, diverged: bool, varying: &mut [bool]) -> bool {
    let mut changed = false;
    let mut mark = |local: Handle<Local>, varying: &mut [bool]| {
        changed |= !std::mem::replace(&mut varying[local.index()], true);
    };
    let mut inner = Vec::new();
    for stmt in block {
        let by_lane = |varying: &[bool]| {
            diverged || stmt.operands(kernel).iter().any(|operand| varies(kernel, *operand, varying))
        };
        match stmt {
            Stmt::Assign { local, .. }
            | Stmt::Fill { local, .. }
            | Stmt::AssignElement { local, .. }
            | Stmt::AssignLane { local, .. }
            | Stmt::Load { local, .. } => {
                if by_lane(varying) {
                    mark(*local, varying);
                }
            }
            // Each lane gets other elements, whatever the address.
            Stmt::LoadMatrices { local, .. } => mark(*local, varying),
            Stmt::LoadUnaligned(Unaligned { local, whole, .. }) => {
                mark(*local, varying);
                mark(*whole, varying);
            }
            Stmt::Atomic(Atomic { local, .. }) => mark(*local, varying),
            Stmt::Collective(collective) => mark(collective.local, varying),
            Stmt::For(handle) => {
                let Loop { variable, .. } = kernel.loops[*handle];
                if by_lane(varying) {
                    mark(variable, varying);
                }
                inner.push((stmt, by_lane(varying)));
            }
            Stmt::If { .. } | Stmt::While { .. } => inner.push((stmt, by_lane(varying))),
            Stmt::Store { .. } | Stmt::Copy(_) | Stmt::Sync(..) => {}
        }
    }
    for (stmt, diverged) in inner {
        for block in stmt.blocks(kernel) {
            changed |= mark_varying(kernel, block, diverged, varying);
        }
    }
    changed
}

/// Marks the variables that an effect depends on; whether any was new.
fn mark_used(kernel: &Kernel, block: &Block, used: &mut [bool]) -> bool {
    let mut changed = false;
    for stmt in block {
        for inner in stmt.blocks(kernel) {
            changed |= mark_used(kernel, inner, used);
        }
        let has_effect = match stmt {
            Stmt::Assign { local, .. }
            | Stmt::Fill { local, .. }
            | Stmt::AssignElement { local, .. }
            | Stmt::AssignLane { local, .. } => used[local.index()],
            Stmt::Load { .. }
            | Stmt::LoadMatrices { .. }
            | Stmt::LoadUnaligned(_)
            | Stmt::Store { .. }
            | Stmt::Copy(_)
            | Stmt::Atomic(_)
            | Stmt::Sync(..)
            | Stmt::Collective(_)
            | Stmt::If { .. }
            | Stmt::For(_)
            | Stmt::While { .. } => true,
        };
        if has_effect {
            stmt.operands(kernel).into_iter().for_each(|operand| changed |= mark_read(kernel, operand, used));
        }
    }
    changed
}

fn mark_read(kernel: &Kernel, expr: Handle<Expr>, used: &mut [bool]) -> bool {
    let kind = &kernel.exprs[expr].kind;
    let mut changed = false;
    if let ExprKind::Local(local) | ExprKind::Element(local, _) = kind {
        changed |= !std::mem::replace(&mut used[local.index()], true);
    }
    for operand in kind.operands() {
        changed |= mark_read(kernel, operand, used);
    }
    changed
}
