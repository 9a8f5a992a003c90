//! The IR as text: for people who debug the compiler, and for tests that compare.
//!
//! One statement a line; parentheses around every nested operation. Variables carry their number (`k#3`), because names
//! are not unique; sites are `s0`, `s1`, … in the order of the report.

use super::{
    Atomic, Axis, Base, Block, Collective, Copy, Expr, ExprKind, Handle, Issuer, Kernel, Local, Loop,
    Matrices, ParamKind, Part, Place, Proxy, Scalar, Site, Stmt, Sync, SyncAction, SyncObject, Type,
    Unaligned, UnaryOp, Unroll,
};
use std::fmt::Write;
use tileproof_model::report::Role;

/// Prints a kernel: name, block and grid, parameters, contracts, tiles, body. The same kernel yields the same text;
/// spans are left out.
pub fn print(kernel: &Kernel) -> String {
    let mut out = String::new();
    let [x, y, z] = kernel.block;
    let grid = kernel.grid.map(|expr| top(kernel, expr));
    line(&mut out, 0, &format!("kernel {} block [{x}, {y}, {z}] grid [{}]", kernel.name, grid.join(", ")));
    for (_, param) in kernel.params.iter() {
        let ty = match param.kind {
            ParamKind::Tensor { element, rank, mutable } => {
                format!("{}tensor<{}, {rank}>", if mutable { "mut " } else { "" }, element.name())
            }
            ParamKind::Scalar(scalar) => scalar.name().into(),
        };
        line(&mut out, 0, &format!("param {}: {ty}", param.name));
    }
    for contract in &kernel.requires {
        line(&mut out, 0, &format!("requires {}", top(kernel, contract.condition)));
    }
    for cover in &kernel.covers {
        line(&mut out, 0, &format!("covers {}", kernel.params[cover.param].name));
    }
    for (_, tile) in kernel.tiles.iter() {
        let (element, layout) = (tile.element.name(), tile.layout.rust());
        let shape = format!("{:?} {layout} align {}", tile.extents, tile.alignment);
        line(&mut out, 0, &format!("tile {}: {element} {shape}", tile.name));
    }
    for (handle, local) in kernel.locals.iter() {
        if let Some(values) = &local.table {
            let (name, ty, values) = (name(kernel, handle), ty(local.ty), list(kernel, values));
            line(&mut out, 0, &format!("table {name}: {ty} {:?} = {values}", local.extents));
        }
    }
    block(&mut out, kernel, &kernel.body, 0);
    out
}

fn line(out: &mut String, depth: usize, text: &str) {
    for _ in 0..depth {
        out.push_str("    ");
    }
    out.push_str(text);
    out.push('\n');
}

fn block(out: &mut String, kernel: &Kernel, statements: &Block, depth: usize) {
    for stmt in statements {
        statement(out, kernel, stmt, depth);
    }
}

fn statement(out: &mut String, kernel: &Kernel, stmt: &Stmt, depth: usize) {
    match stmt {
        Stmt::Assign { local, value } => {
            line(
                out,
                depth,
                &format!("{}: {} = {}", name(kernel, *local), of(kernel, *local), top(kernel, *value)),
            );
        }
        Stmt::Fill { local, value } => {
            let extents = &kernel.locals[*local].extents;
            let (name, ty, value) = (name(kernel, *local), of(kernel, *local), top(kernel, *value));
            line(out, depth, &format!("{name}: {ty} {extents:?} = fill {value}"));
        }
        Stmt::AssignElement { local, index, value } => {
            let (name, index, value) = (name(kernel, *local), list(kernel, index), top(kernel, *value));
            line(out, depth, &format!("{name}[{index}] = {value}"));
        }
        Stmt::AssignLane { local, index, lane, value } => {
            let mut target = name(kernel, *local);
            if !index.is_empty() {
                let _ = write!(target, "[{}]", list(kernel, index));
            }
            line(out, depth, &format!("{target}.lane({}) = {}", top(kernel, *lane), top(kernel, *value)));
        }
        Stmt::Load { local, site: handle } => {
            let (name, ty) = (name(kernel, *local), of(kernel, *local));
            line(out, depth, &format!("{name}: {ty} = {}", site(kernel, *handle)));
        }
        Stmt::LoadMatrices { local, site: handle } => {
            let (name, ty) = (name(kernel, *local), of(kernel, *local));
            line(out, depth, &format!("{name}: {ty} = {}", site(kernel, *handle)));
        }
        Stmt::LoadUnaligned(Unaligned { local, whole, first, last }) => {
            let (ty, whole) = (of(kernel, *local), name(kernel, *whole));
            let (first, last) = (site(kernel, *first), site(kernel, *last));
            line(out, depth, &format!("{}: {ty}, {whole} = {first}, {last}", name(kernel, *local)));
        }
        Stmt::Store { site: handle, value } => {
            line(out, depth, &format!("{} = {}", site(kernel, *handle), top(kernel, *value)));
        }
        Stmt::Sync(sync, _) => line(out, depth, &synchronisation(*sync)),
        Stmt::Copy(Copy { source, destination, inside }) => {
            let (from, to) = (site(kernel, *source), site(kernel, *destination));
            line(out, depth, &format!("{to} = {from} if {}", top(kernel, *inside)));
        }
        Stmt::Atomic(Atomic { local, site: handle, op, operands }) => {
            let (name, ty, operands) = (name(kernel, *local), of(kernel, *local), list(kernel, operands));
            line(out, depth, &format!("{name}: {ty} = {}({}, {operands})", op.name(), site(kernel, *handle)));
        }
        Stmt::Collective(Collective { local, op, operands, span: _ }) => {
            let (name, ty, operands) = (name(kernel, *local), of(kernel, *local), list(kernel, operands));
            line(out, depth, &format!("{name}: {ty} = {}({operands})", op.name()));
        }
        Stmt::If { condition, then, otherwise } => {
            line(out, depth, &format!("if {} {{", top(kernel, *condition)));
            block(out, kernel, then, depth + 1);
            if !otherwise.is_empty() {
                line(out, depth, "} else {");
                block(out, kernel, otherwise, depth + 1);
            }
            line(out, depth, "}");
        }
        Stmt::For(handle) => {
            let Loop { variable, start, end, step, body, unroll, span: _ } = &kernel.loops[*handle];
            match unroll {
                Unroll::Auto => {}
                Unroll::Full => line(out, depth, "unroll"),
                Unroll::By(times) => line(out, depth, &format!("unroll {times}")),
            }
            let (start, end, step) = (text(kernel, *start), text(kernel, *end), text(kernel, *step));
            let (name, ty) = (name(kernel, *variable), of(kernel, *variable));
            line(out, depth, &format!("for {name}: {ty} in {start}..{end} step {step} {{"));
            block(out, kernel, body, depth + 1);
            line(out, depth, "}");
        }
        Stmt::While { condition, body, span: _ } => {
            line(out, depth, &format!("while {} {{", top(kernel, *condition)));
            block(out, kernel, body, depth + 1);
            line(out, depth, "}");
        }
    }
}

fn synchronisation(sync: Sync) -> String {
    let Sync { object, action, participants: _, orders: _, proxy: _ } = sync;
    match object {
        SyncObject::BlockBarrier => "sync block".into(),
        SyncObject::Warp => "sync warp".into(),
        SyncObject::CopyGroup => match action {
            SyncAction::ArriveAndWait | SyncAction::Arrive => "commit copies".into(),
            SyncAction::Wait { pending } => format!("wait for copies but {pending} groups"),
        },
    }
}

/// `load s3 tile[…]`, with the budget and the trusts that cover it.
fn site(kernel: &Kernel, handle: Handle<Site>) -> String {
    let Site { place, role, proxy, issuer, form: _, matrices, budget, trust, edge: _, span: _, also: _ } =
        &kernel.sites[handle];
    let verb = match (role, proxy, issuer) {
        (Role::Read, Proxy::Generic, _) => match matrices {
            None => "load",
            Some(Matrices { count, transposed }) => &match transposed {
                false => format!("load {count} matrices"),
                true => format!("load {count} matrices transposed"),
            },
        },
        (Role::Write, Proxy::Generic, _) => "store",
        (Role::Read, Proxy::Async, _) => "copy from",
        (Role::Write, Proxy::Async, _) => "copy to",
        (Role::Update, Proxy::Generic | Proxy::Async, Issuer::EveryLane) => "update",
        (Role::Update, Proxy::Generic | Proxy::Async, Issuer::OneLane) => "update by one lane",
        (Role::Update, Proxy::Generic | Proxy::Async, Issuer::OneLaneOfFullWarp) => {
            "update by one lane of a full warp"
        }
    };
    let Place { base, index, width, part } = place;
    let space = match base {
        Base::Tensor(_) => "global",
        Base::Tile(_) => "shared",
    };
    let mut out =
        format!("{verb} s{} {space} {}[{}]", handle.index(), kernel.base_name(*base), list(kernel, index));
    if *width > 1 {
        let _ = write!(out, " x{width}");
    }
    match part {
        Part::Exact => {}
        Part::First => out.push_str(" first part"),
        Part::Last => out.push_str(" last part"),
    }
    if let Some(budget) = budget {
        let budget = &kernel.budgets[*budget];
        for (kind, value) in
            [("bank_conflict", budget.bank_conflict), ("excess_sectors", budget.excess_sectors)]
        {
            if let Some(value) = value {
                let _ = write!(out, " budget({kind} {value})");
            }
        }
    }
    for trust in std::iter::successors(*trust, |trust| kernel.trusts[*trust].outer) {
        let claims: Vec<&str> = kernel.trusts[trust].claims.iter().map(|claim| claim.name()).collect();
        let _ = write!(out, " trust({})", claims.join(", "));
    }
    out
}

fn name(kernel: &Kernel, local: Handle<Local>) -> String {
    format!("{}#{}", kernel.locals[local].name, local.index())
}

fn of(kernel: &Kernel, local: Handle<Local>) -> String {
    ty(kernel.locals[local].ty)
}

fn ty(ty: Type) -> String {
    match ty {
        Type::Scalar(scalar) => scalar.name().into(),
        Type::Vector(scalar, width) => format!("{}x{width}", scalar.name()),
    }
}

fn list(kernel: &Kernel, exprs: &[Handle<Expr>]) -> String {
    exprs.iter().map(|expr| top(kernel, *expr)).collect::<Vec<_>>().join(", ")
}

/// An expression that stands alone: without parentheses around it.
fn top(kernel: &Kernel, handle: Handle<Expr>) -> String {
    let out = text(kernel, handle);
    match kernel.exprs[handle].kind {
        ExprKind::Binary(op, ..) if op.is_method() => out,
        ExprKind::Binary(..) | ExprKind::Compare(..) | ExprKind::Cast(_) => out[1..out.len() - 1].into(),
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
        | ExprKind::Local(_)
        | ExprKind::Element(..)
        | ExprKind::Lane(..)
        | ExprKind::Vector(_)
        | ExprKind::Unary(..)
        | ExprKind::Call(..)
        | ExprKind::Select(..) => out,
    }
}

/// An expression as an operand.
fn text(kernel: &Kernel, handle: Handle<Expr>) -> String {
    let Expr { kind, ty: own, span: _ } = &kernel.exprs[handle];
    let operand = |expr: &Handle<Expr>| text(kernel, *expr);
    match kind {
        ExprKind::Int(value) if *own == Type::Scalar(Scalar::Usize) => value.to_string(),
        ExprKind::Int(value) => format!("{value}{}", ty(*own)),
        ExprKind::Float(value) => format!("{value:?}{}", ty(*own)),
        ExprKind::Bool(value) => value.to_string(),
        ExprKind::Param(param) => kernel.params[*param].name.clone(),
        ExprKind::Extent(param, dimension) => format!("{}.extent({dimension})", kernel.params[*param].name),
        ExprKind::Stride(param, dimension) => format!("{}.stride({dimension})", kernel.params[*param].name),
        ExprKind::Misalignment(param, of) => format!("{}.misalignment({of})", kernel.params[*param].name),
        ExprKind::Thread(axis) => coordinate("thread", *axis),
        ExprKind::Block(axis) => coordinate("block", *axis),
        ExprKind::Grid(axis) => coordinate("grid", *axis),
        ExprKind::Local(local) => name(kernel, *local),
        ExprKind::Element(local, index) => format!("{}[{}]", name(kernel, *local), list(kernel, index)),
        ExprKind::Lane(vector, lane) => format!("{}.lane({})", operand(vector), top(kernel, *lane)),
        ExprKind::Vector(values) => format!("{}({})", ty(*own), list(kernel, values)),
        ExprKind::Unary(UnaryOp::Negate, a) => format!("-{}", operand(a)),
        ExprKind::Unary(UnaryOp::Not, a) => format!("!{}", operand(a)),
        ExprKind::Binary(op, a, b) if op.is_method() => {
            format!("{}({}, {})", op.name(), top(kernel, *a), top(kernel, *b))
        }
        ExprKind::Binary(op, a, b) => format!("({} {} {})", operand(a), op.name(), operand(b)),
        ExprKind::Compare(op, a, b) => format!("({} {} {})", operand(a), op.name(), operand(b)),
        ExprKind::Select(condition, yes, no) => {
            format!("select({}, {}, {})", top(kernel, *condition), top(kernel, *yes), top(kernel, *no))
        }
        ExprKind::Cast(a) => format!("({} as {})", operand(a), ty(*own)),
        ExprKind::Call(function, operands) => format!("{}({})", function.name(), list(kernel, operands)),
    }
}

fn coordinate(object: &str, axis: Axis) -> String {
    format!("{object}.{}", axis.name())
}
