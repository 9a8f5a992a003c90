//! Loads that ptxas would drop are dropped here, so that the access in the report is the access in SASS.
//!
//! A load of a place that has been loaded before, on every path to it, gets that load's value, unless something in between
//! may have changed the element: a store to the same tile or tensor, or a synchronisation, after which it may be another
//! thread's. What `&` tensors hold never changes. The arguments of a launch do not overlap, so a store changes nothing
//! else. The load that stays names the others in its [`Site`].

use crate::ir::{
    Arena, Atomic, Base, Block, Copy, Expr, ExprKind, Handle, Kernel, Local, ParamKind, Site, Stmt, Unaligned,
};

/// What holds at a point of the program.
#[derive(Clone, Default)]
struct Known {
    /// Loads whose values are at hand, each with the variable that holds it.
    loads: Vec<(Handle<Site>, Handle<Local>)>,
    /// Variables that hold what an expression computes.
    values: Vec<(Handle<Local>, Handle<Expr>)>,
}

/// Drops the loads.
pub(super) fn fold(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = block(kernel, body, &mut Known::default());
    renumber(kernel);
}

fn block(kernel: &mut Kernel, statements: Block, known: &mut Known) -> Block {
    statements.into_iter().map(|stmt| statement(kernel, stmt, known)).collect()
}

fn statement(kernel: &mut Kernel, stmt: Stmt, known: &mut Known) -> Stmt {
    match stmt {
        Stmt::Load { local, site } | Stmt::LoadMatrices { local, site } => {
            forget(kernel, known, std::slice::from_ref(&stmt));
            match known.loads.iter().find(|(first, _)| serves(kernel, known, *first, site)) {
                Some(&(first, value)) => {
                    let Site { span, budget, .. } = kernel.sites[site];
                    let first = &mut kernel.sites[first];
                    first.also.push(span);
                    first.budget = first.budget.or(budget);
                    let ty = kernel.locals[value].ty;
                    let value = kernel.exprs.add(Expr { kind: ExprKind::Local(value), ty, span });
                    Stmt::Assign { local, value }
                }
                None => {
                    known.loads.push((site, local));
                    stmt
                }
            }
        }
        Stmt::If { condition, then, otherwise } => {
            let mut before = known.clone();
            let then = block(kernel, then, &mut known.clone());
            let otherwise = block(kernel, otherwise, &mut before);
            forget(kernel, known, &then);
            forget(kernel, known, &otherwise);
            Stmt::If { condition, then, otherwise }
        }
        Stmt::For(handle) => {
            forget(kernel, known, std::slice::from_ref(&stmt));
            let body = std::mem::take(&mut kernel.loops[handle].body);
            kernel.loops[handle].body = block(kernel, body, &mut known.clone());
            stmt
        }
        Stmt::While { condition, body, span } => {
            let stmt = Stmt::While { condition, body, span };
            forget(kernel, known, std::slice::from_ref(&stmt));
            let Stmt::While { body, .. } = stmt else { return stmt };
            let body = block(kernel, body, &mut known.clone());
            Stmt::While { condition, body, span }
        }
        Stmt::Assign { local, value } => {
            forget(kernel, known, std::slice::from_ref(&stmt));
            if !super::build::reads(kernel, value, local) {
                known.values.push((local, value));
            }
            stmt
        }
        Stmt::Fill { .. }
        | Stmt::AssignElement { .. }
        | Stmt::AssignLane { .. }
        | Stmt::LoadUnaligned(_)
        | Stmt::Store { .. }
        | Stmt::Copy(_)
        | Stmt::Atomic(_)
        | Stmt::Collective(_)
        | Stmt::Sync(..) => {
            forget(kernel, known, std::slice::from_ref(&stmt));
            stmt
        }
    }
}

/// Whether the value of one load is that of another: equal places, and one budget for both.
fn serves(kernel: &Kernel, known: &Known, first: Handle<Site>, second: Handle<Site>) -> bool {
    let (a, b) = (&kernel.sites[first], &kernel.sites[second]);
    let indices = || a.place.index.iter().zip(&b.place.index);
    a.place.base == b.place.base
        && a.place.width == b.place.width
        && a.matrices == b.matrices
        && (a.proxy, a.issuer) == (b.proxy, b.issuer)
        && (a.budget == b.budget || a.budget.is_none() || b.budget.is_none())
        && indices().all(|(a, b)| equal(kernel, known, *a, *b))
}

/// Whether two expressions compute the same.
fn equal(kernel: &Kernel, known: &Known, a: Handle<Expr>, b: Handle<Expr>) -> bool {
    let (a, b) = (source(kernel, known, a), source(kernel, known, b));
    if a == b {
        return true;
    }
    let (a, b) = (&kernel.exprs[a], &kernel.exprs[b]);
    let (x, y) = (a.kind.operands(), b.kind.operands());
    a.ty == b.ty
        && a.kind.is_like(&b.kind)
        && x.len() == y.len()
        && x.into_iter().zip(y).all(|(a, b)| equal(kernel, known, a, b))
}

/// Of a variable, the expression whose value it holds.
fn source(kernel: &Kernel, known: &Known, mut expr: Handle<Expr>) -> Handle<Expr> {
    while let ExprKind::Local(local) = kernel.exprs[expr].kind {
        match known.values.iter().find(|(holder, _)| *holder == local) {
            Some((_, value)) => expr = *value,
            None => break,
        }
    }
    expr
}

/// Forgets the loads whose value or whose place statements may change.
fn forget(kernel: &Kernel, known: &mut Known, statements: &[Stmt]) {
    for stmt in statements {
        match stmt {
            Stmt::Store { site, .. }
            | Stmt::Copy(Copy { destination: site, .. })
            | Stmt::Atomic(Atomic { site, .. }) => {
                let base = kernel.sites[*site].place.base;
                known.loads.retain(|(site, _)| kernel.sites[*site].place.base != base);
            }
            // Some collectives are barriers too.
            Stmt::Collective(_) | Stmt::Sync(..) => synchronised(kernel, known),
            Stmt::For(handle) => assigned(kernel, known, kernel.loops[*handle].variable),
            Stmt::Assign { .. }
            | Stmt::Fill { .. }
            | Stmt::AssignElement { .. }
            | Stmt::AssignLane { .. }
            | Stmt::Load { .. }
            | Stmt::LoadMatrices { .. }
            | Stmt::LoadUnaligned(_)
            | Stmt::If { .. }
            | Stmt::While { .. } => {}
        }
        for local in stmt.assigned() {
            assigned(kernel, known, local);
        }
        for block in stmt.blocks(kernel) {
            forget(kernel, known, block);
        }
    }
}

/// What other threads wrote may be seen from here on.
fn synchronised(kernel: &Kernel, known: &mut Known) {
    known.loads.retain(|(site, _)| is_constant(kernel, kernel.sites[*site].place.base));
}

/// A variable gets another value.
fn assigned(kernel: &Kernel, known: &mut Known, local: Handle<Local>) {
    known.values.retain(|(holder, value)| *holder != local && !super::build::reads(kernel, *value, local));
    known.loads.retain(|(site, value)| {
        let index = &kernel.sites[*site].place.index;
        *value != local && !index.iter().any(|index| super::build::reads(kernel, *index, local))
    });
}

/// Whether nothing changes the elements while the kernel runs.
fn is_constant(kernel: &Kernel, base: Base) -> bool {
    match base {
        Base::Tile(_) => false,
        Base::Tensor(param) => match kernel.params[param].kind {
            ParamKind::Tensor { mutable, .. } => !mutable,
            ParamKind::Scalar(_) => true,
        },
    }
}

/// Numbers the sites that are left, in their order.
fn renumber(kernel: &mut Kernel) {
    let mut used = vec![false; kernel.sites.len()];
    let mut body = std::mem::take(&mut kernel.body);
    each_site(kernel, &mut body, &mut |site| used[site.index()] = true);
    let old = std::mem::take(&mut kernel.sites);
    let mut sites = Arena::default();
    let new: Vec<Option<Handle<Site>>> =
        old.iter().map(|(handle, site)| used[handle.index()].then(|| sites.add(site.clone()))).collect();
    each_site(kernel, &mut body, &mut |site| {
        if let Some(new) = new[site.index()] {
            *site = new;
        }
    });
    (kernel.sites, kernel.body) = (sites, body);
}

fn each_site(kernel: &mut Kernel, statements: &mut Block, visit: &mut impl FnMut(&mut Handle<Site>)) {
    for stmt in statements {
        match stmt {
            Stmt::Load { site, .. }
            | Stmt::LoadMatrices { site, .. }
            | Stmt::Store { site, .. }
            | Stmt::Atomic(Atomic { site, .. }) => {
                visit(site);
            }
            Stmt::LoadUnaligned(Unaligned { first, last, .. }) => {
                visit(first);
                visit(last);
            }
            Stmt::Copy(Copy { source, destination, .. }) => {
                visit(source);
                visit(destination);
            }
            Stmt::While { body, .. } => each_site(kernel, body, visit),
            Stmt::If { then, otherwise, .. } => {
                each_site(kernel, then, visit);
                each_site(kernel, otherwise, visit);
            }
            Stmt::For(handle) => {
                let mut body = std::mem::take(&mut kernel.loops[*handle].body);
                each_site(kernel, &mut body, visit);
                kernel.loops[*handle].body = body;
            }
            Stmt::Assign { .. }
            | Stmt::Fill { .. }
            | Stmt::AssignElement { .. }
            | Stmt::AssignLane { .. }
            | Stmt::Collective(_)
            | Stmt::Sync(..) => {}
        }
    }
}
