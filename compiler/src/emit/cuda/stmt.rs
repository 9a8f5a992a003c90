//! Statements.

use super::Emitter;
use super::atomic;
use super::code::{Code, Level};
use super::collective;
use super::expr::{element, expr, select};
use super::memory::Memory;
use super::plan::{int, is_below_half, is_convertible};
use super::prelude::Piece;
use super::types::{self, scalar_type, stored, unsigned, value_type};
use crate::facts::MOST_UNROLLED;
use crate::ir::{
    Base, Block, Copy, Expr, ExprKind, Handle, Kernel, Local, Loop, ParamKind, Scalar, Site, Stmt, Sync,
    SyncAction, SyncObject, Type, Unaligned, Unroll,
};
use crate::span::SpanId;

/// Emits the statements for the threads for which the predicate, the name of a `bool`, holds; without one, for all that
/// get there.
pub(super) fn block(e: &mut Emitter<'_>, stmts: &Block, predicate: Option<&str>) {
    let mut rest = stmts.iter().peekable();
    while let Some(stmt) = rest.next() {
        if let (Some(predicate), Some(next)) = (predicate, rest.peek())
            && load_or_keep(e, [stmt, next], predicate)
        {
            rest.next();
            continue;
        }
        match stmt {
            Stmt::Assign { local, value } => {
                if e.plan.is_live(*local) {
                    let code = expr(e, *value);
                    assign(e, *local, code, predicate, e.kernel.exprs[*value].span);
                }
            }
            Stmt::Fill { local, value } => {
                if e.plan.is_live(*local) {
                    fill(e, *local, *value, predicate);
                }
            }
            Stmt::AssignElement { local, index, value } => {
                if e.plan.is_live(*local) {
                    let place = element(e, *local, index);
                    let code = expr(e, *value);
                    overwrite(
                        e,
                        &place,
                        e.kernel.locals[*local].ty,
                        code,
                        predicate,
                        e.kernel.exprs[*value].span,
                    );
                }
            }
            Stmt::AssignLane { local, index, lane, value } => {
                if e.plan.is_live(*local) {
                    let lane = expr(e, *lane).text;
                    let vector = e.kernel.locals[*local].ty;
                    let place = types::lane(&element(e, *local, index), vector.width(), &lane);
                    let ty = Type::Scalar(vector.scalar());
                    let code = expr(e, *value);
                    overwrite(e, &place, ty, code, predicate, e.kernel.exprs[*value].span);
                }
            }
            Stmt::Load { local, site } => load(e, *local, *site, predicate),
            Stmt::LoadMatrices { local, site } => load_matrices(e, *local, *site),
            Stmt::LoadUnaligned(unaligned) => load_unaligned(e, unaligned, predicate),
            Stmt::Store { site, value } => store(e, *site, *value, predicate),
            Stmt::Copy(copy) => asynchronous_copy(e, copy, predicate),
            Stmt::Sync(sync, span) => synchronise(e, *sync, *span),
            Stmt::Atomic(atomic) => atomic::update(e, atomic, predicate),
            Stmt::Collective(collective) => collective::collective(e, collective),
            Stmt::If { condition, then, otherwise } => branch(e, *condition, then, otherwise, predicate),
            Stmt::For(handle) => repeat(e, *handle),
            Stmt::While { condition, body, span } => {
                if e.plan.has_effect(e.kernel, e.facts, body) {
                    let condition = expr(e, *condition).text;
                    e.out.statement(*span, &format!("while ({condition}) {{"));
                    nested(e, body);
                    e.out.line("}");
                }
            }
        }
    }
}

fn synchronise(e: &mut Emitter<'_>, sync: Sync, span: SpanId) {
    let Sync { object, action, participants: _, orders: _, proxy: _ } = sync;
    match object {
        SyncObject::BlockBarrier => e.out.statement(span, "__syncthreads();"),
        SyncObject::Warp => {
            let members = collective::members(e).text;
            e.out.statement(span, &format!("__syncwarp({members});"));
        }
        SyncObject::CopyGroup => match action {
            SyncAction::ArriveAndWait | SyncAction::Arrive => {
                let commit = e.need(Piece::CommitCopies);
                e.out.statement(span, &format!("{commit}();"));
            }
            SyncAction::Wait { pending } => {
                let wait = e.need(Piece::WaitForCopies(pending));
                e.out.statement(span, &format!("{wait}();"));
            }
        },
    }
}

fn asynchronous_copy(e: &mut Emitter<'_>, copy: &Copy, predicate: Option<&str>) {
    let Copy { source, destination, inside } = copy;
    let Site { place, span, .. } = &e.kernel.sites[*source];
    let (element, memory) = (stored(e.kernel.element(place.base)), memory(e, place.base));
    e.need_type(Type::Vector(element, place.width));
    let function = e.need(Piece::CopyAsync(memory, element, place.width));
    let (to, from) = (address_of(e, *destination), address_of(e, *source));
    let inside = expr(e, *inside);
    let call = Code::call(&function, &[to, from, inside, Code::atom(predicate.unwrap_or("true"))]);
    e.out.statement(*span, &format!("{};", call.text));
}

/// Whether this is the assignment that declares the local; asked once an assignment.
fn declares(e: &mut Emitter<'_>, local: Handle<Local>) -> bool {
    e.plan.declared_by_assignment[local.index()] && !std::mem::replace(&mut e.declared[local.index()], true)
}

pub(super) fn assign(
    e: &mut Emitter<'_>,
    local: Handle<Local>,
    value: Code,
    predicate: Option<&str>,
    span: SpanId,
) {
    let ty = e.kernel.locals[local].ty;
    let name = e.names.locals[local.index()].clone();
    if declares(e, local) {
        // Threads for which the predicate is false compute a value that they never read.
        let declaration = declaration(e, local, ty);
        e.out.statement(span, &format!("{declaration} = {};", value.text));
    } else {
        overwrite(e, &name, ty, value, predicate, span);
    }
}

/// The type and the name, `const` if nothing else assigns.
fn declaration(e: &mut Emitter<'_>, local: Handle<Local>, ty: Type) -> String {
    e.need_type(ty);
    let qualifier = if e.plan.assignments[local.index()] == 1 { "const " } else { "" };
    format!("{qualifier}{} {}", value_type(ty), e.names.locals[local.index()])
}

/// Assigns to something that has a value already.
fn overwrite(e: &mut Emitter<'_>, place: &str, ty: Type, value: Code, predicate: Option<&str>, span: SpanId) {
    let value = match predicate {
        Some(predicate) => select(e, ty, Code::atom(predicate), value, Code::atom(place)).text,
        None => value.text,
    };
    e.out.statement(span, &format!("{place} = {value};"));
}

fn fill(e: &mut Emitter<'_>, local: Handle<Local>, value: Handle<Expr>, predicate: Option<&str>) {
    let Local { ty, extents, .. } = &e.kernel.locals[local];
    let span = e.kernel.exprs[value].span;
    let first = declares(e, local);
    let name = e.names.locals[local.index()].clone();
    let array: String = extents.iter().map(|extent| format!("[{extent}]")).collect();
    let code = expr(e, value);
    if first && is_zero(e.kernel, value) {
        e.need_type(*ty);
        e.out.statement(span, &format!("{} {name}{array} = {{}};", value_type(*ty)));
        return;
    }
    e.need_type(*ty);
    let constant = e.names.names.fresh(&format!("{name}_value"));
    e.out.statement(span, &format!("const {} {constant} = {};", value_type(*ty), code.text));
    if first {
        e.out.statement(span, &format!("{} {name}{array};", value_type(*ty)));
    }
    let mut place = name;
    for extent in extents {
        let i = e.names.names.fresh("i");
        e.out.line("#pragma unroll");
        e.out.statement(span, &format!("for (u32 {i} = 0; {i} < {extent}; ++{i}) {{"));
        e.out.indent();
        place.push_str(&format!("[{i}]"));
    }
    let predicate = if first { None } else { predicate };
    overwrite(e, &place, *ty, Code::atom(constant), predicate, span);
    for _ in extents {
        e.out.dedent();
        e.out.line("}");
    }
}

/// Whether `= {}` gives this value.
fn is_zero(kernel: &Kernel, value: Handle<Expr>) -> bool {
    match &kernel.exprs[value].kind {
        ExprKind::Float(value) => value.to_bits() == 0,
        ExprKind::Vector(values) => values.iter().all(|value| is_zero(kernel, *value)),
        ExprKind::Int(value) => *value == 0,
        ExprKind::Bool(value) => !value,
        ExprKind::Param(_)
        | ExprKind::Extent(..)
        | ExprKind::Stride(..)
        | ExprKind::Misalignment(..)
        | ExprKind::Thread(_)
        | ExprKind::Block(_)
        | ExprKind::Grid(_)
        | ExprKind::Local(_)
        | ExprKind::Element(..)
        | ExprKind::Lane(..)
        | ExprKind::Unary(..)
        | ExprKind::Binary(..)
        | ExprKind::Compare(..)
        | ExprKind::Select(..)
        | ExprKind::Cast(_)
        | ExprKind::Call(..) => false,
    }
}

fn load(e: &mut Emitter<'_>, local: Handle<Local>, site: Handle<Site>, predicate: Option<&str>) {
    let Site { place, span, .. } = &e.kernel.sites[site];
    let element = stored(e.kernel.element(place.base));
    e.need_type(Type::Vector(element, place.width));
    let function = e.need(Piece::Load(memory(e, place.base), element, place.width));
    let address = address_of(e, site);
    let value = Code::call(&function, &[address, Code::atom(predicate.unwrap_or("true"))]);
    if e.plan.is_live(local) {
        // The local is fresh, so there is no value to keep for the threads that do not load.
        assign(e, local, value, None, *span);
    } else {
        e.out.statement(*span, &format!("{};", value.text));
    }
}

/// All lanes of the warp get there.
fn load_matrices(e: &mut Emitter<'_>, local: Handle<Local>, site: Handle<Site>) {
    let Site { place, matrices, span, .. } = &e.kernel.sites[site];
    let Some(matrices) = matrices else { return };
    let element = e.kernel.element(place.base);
    e.need_type(e.kernel.locals[local].ty);
    let function = e.need(Piece::LoadMatrices(element, *matrices));
    let address = address_of(e, site);
    let value = Code::call(&function, &[address]);
    if e.plan.is_live(local) {
        assign(e, local, value, None, *span);
    } else {
        e.out.statement(*span, &format!("{};", value.text));
    }
}

/// A load under a predicate into what has a value already, which stays where the predicate is false: one instruction, and no
/// selection behind it that would wait for what was loaded. Whether the two statements are that.
fn load_or_keep(e: &mut Emitter<'_>, stmts: [&Stmt; 2], predicate: &str) -> bool {
    let (Stmt::Load { local: loaded, site }, next) = (stmts[0], stmts[1]) else { return false };
    let Site { place, span, .. } = &e.kernel.sites[*site];
    let element = e.kernel.element(place.base);
    let is_loaded = |value: &Handle<Expr>| matches!(e.kernel.exprs[*value].kind, ExprKind::Local(local) if local == *loaded);
    let target = if let Stmt::Assign { local, value } = next {
        Some((*local, None)).filter(|_| is_loaded(value))
    } else if let Stmt::AssignElement { local, index, value } = next {
        Some((*local, Some(index))).filter(|_| is_loaded(value))
    } else {
        None
    };
    let Some((local, index)) = target else { return false };
    let declares = e.plan.declared_by_assignment[local.index()] && !e.declared[local.index()];
    let once = e.plan.reads[loaded.index()] == 1;
    if !once || declares || !e.plan.is_live(local) || stored(element) != element || place.width > 1 {
        return false;
    }
    let function = e.need(Piece::LoadOr(memory(e, place.base), element));
    let address = address_of(e, *site);
    let target = match index {
        Some(index) => self::element(e, local, index),
        None => e.names.locals[local.index()].clone(),
    };
    let call = Code::call(&function, &[address, Code::atom(predicate), Code::atom(&target)]);
    e.out.statement(*span, &format!("{target} = {};", call.text));
    true
}

/// Whether the aligned vectors are inside, then what they hold.
fn load_unaligned(e: &mut Emitter<'_>, unaligned: &Unaligned, predicate: Option<&str>) {
    let Unaligned { local, whole, first, last: _ } = unaligned;
    let Site { place, span, .. } = &e.kernel.sites[*first];
    let element = stored(e.kernel.element(place.base));
    e.need_type(Type::Vector(element, place.width));
    let inside = e.need(Piece::AlignedInside(element, place.width));
    let load = e.need(Piece::LoadUnaligned(memory(e, place.base), element, place.width));
    let address = address_of(e, *first);
    let (start, elements) = extent_in_memory(e, place.base);
    let is_inside = Code::call(&inside, &[address.clone(), start, elements]);
    assign(e, *whole, is_inside, None, *span);
    let whole = Code::atom(&e.names.locals[whole.index()]);
    let active = match predicate {
        Some(predicate) => Code::infix(Level::And, Code::atom(predicate), "&&", whole),
        None => whole,
    };
    let value = Code::call(&load, &[address, active]);
    if e.plan.is_live(*local) {
        assign(e, *local, value, None, *span);
    } else {
        e.out.statement(*span, &format!("{};", value.text));
    }
}

/// The first element of a tensor, and how many elements there are in memory from it to the last one; of a tensor without
/// elements, anything.
fn extent_in_memory(e: &Emitter<'_>, base: Base) -> (Code, Code) {
    let Base::Tensor(param) = base else { return (Code::atom("0"), Code::atom("0")) };
    let names = &e.names.params[param.index()];
    let mut extents = names.extents.iter();
    let row = extents.next_back().map(Code::atom);
    let outer = extents.zip(&names.strides).map(|(extent, stride)| {
        let last = Code::infix(Level::Additive, Code::atom(extent), "-", Code::atom("1"));
        Code::infix(Level::Multiplicative, last, "*", Code::atom(stride))
    });
    let elements = outer.chain(row).reduce(|sum, term| Code::infix(Level::Additive, sum, "+", term));
    (Code::atom(&names.value), elements.unwrap_or(Code::atom("0")))
}

fn store(e: &mut Emitter<'_>, site: Handle<Site>, value: Handle<Expr>, predicate: Option<&str>) {
    let Site { place, span, .. } = &e.kernel.sites[site];
    let element = stored(e.kernel.element(place.base));
    e.need_type(Type::Vector(element, place.width));
    let function = e.need(Piece::Store(memory(e, place.base), element, place.width));
    let address = address_of(e, site);
    let value = expr(e, value);
    let call = Code::call(&function, &[address, value, Code::atom(predicate.unwrap_or("true"))]);
    e.out.statement(*span, &format!("{};", call.text));
}

fn memory(e: &Emitter<'_>, base: Base) -> Memory {
    match base {
        Base::Tile(_) => Memory::Shared,
        Base::Tensor(param) => match e.kernel.params[param].kind {
            ParamKind::Tensor { mutable: false, .. } => Memory::Constant,
            ParamKind::Tensor { mutable: true, .. } | ParamKind::Scalar(_) => Memory::Global,
        },
    }
}

/// A pointer into a tensor, or the shared address of an element of a tile.
pub(super) fn address_of(e: &mut Emitter<'_>, site: Handle<Site>) -> Code {
    let place = &e.kernel.sites[site].place;
    let index: Vec<Code> = place.index.iter().map(|i| expr(e, *i)).collect();
    match place.base {
        Base::Tile(tile) => {
            e.need(Piece::SharedAddress);
            e.tiles[tile.index()] = true;
            let names = &e.names.tiles[tile.index()];
            let at = Code::call(&names.at, &index);
            Code::infix(Level::Additive, Code::atom(&names.base), "+", at)
        }
        Base::Tensor(param) => {
            let names = &e.names.params[param.index()];
            let mut index = index.into_iter();
            let innermost = index.next_back();
            let outer = index
                .zip(&names.strides)
                .map(|(i, stride)| Code::infix(Level::Multiplicative, i, "*", Code::atom(stride)));
            let offset =
                outer.chain(innermost).reduce(|sum, term| Code::infix(Level::Additive, sum, "+", term));
            Code::prefix(
                "&",
                Code::atom(format!("{}[{}]", names.value, offset.map_or("0".into(), |o| o.text))),
            )
        }
    }
}

fn branch(
    e: &mut Emitter<'_>,
    handle: Handle<Expr>,
    then: &Block,
    otherwise: &Block,
    predicate: Option<&str>,
) {
    let span = e.kernel.exprs[handle].span;
    let has_then = e.plan.has_effect(e.kernel, e.facts, then);
    let has_otherwise = e.plan.has_effect(e.kernel, e.facts, otherwise);
    if !has_then && !has_otherwise {
        return;
    }
    let condition = expr(e, handle);
    if is_convertible(e.kernel, then) && is_convertible(e.kernel, otherwise) {
        // Both predicates are computed before either side can change what the condition reads.
        let active = has_then.then(|| narrowed(e, predicate, "active", condition, span));
        let inactive = has_otherwise.then(|| {
            let condition = match &active {
                Some(active) => Code::atom(active),
                None => expr(e, handle),
            };
            narrowed(e, predicate, "inactive", Code::prefix("!", condition), span)
        });
        for (side, predicate) in [(then, active), (otherwise, inactive)] {
            if predicate.is_some() {
                block(e, side, predicate.as_deref());
            }
        }
        return;
    }
    let condition = if has_then { condition } else { Code::prefix("!", condition) };
    e.out.statement(span, &format!("if ({}) {{", condition.text));
    nested(e, if has_then { then } else { otherwise });
    if has_then && has_otherwise {
        e.out.line("} else {");
        nested(e, otherwise);
    }
    e.out.line("}");
}

/// Declares the predicate of the threads that have the outer one and for which the condition holds.
fn narrowed(e: &mut Emitter<'_>, outer: Option<&str>, wanted: &str, condition: Code, span: SpanId) -> String {
    let holds = match outer {
        Some(outer) => Code::infix(Level::And, Code::atom(outer), "&&", condition),
        None => condition,
    };
    let name = e.names.names.fresh(wanted);
    e.out.statement(span, &format!("const bool {name} = {};", holds.text));
    name
}

fn nested(e: &mut Emitter<'_>, stmts: &Block) {
    e.out.indent();
    block(e, stmts, None);
    e.out.dedent();
}

fn repeat(e: &mut Emitter<'_>, handle: Handle<Loop>) {
    if !e.plan.runs(e.kernel, e.facts, handle) {
        return;
    }
    let Loop { variable, start, end, step, body, unroll, span } = &e.kernel.loops[handle];
    let name = e.names.locals[variable.index()].clone();
    let scalar = e.kernel.exprs[*start].ty.scalar();
    let ty = scalar_type(scalar);
    let start_code = expr(e, *start).text;
    let end_code = bound(e, *end, &format!("{name}_end"), *span);
    let step_code = bound(e, *step, &format!("{name}_step"), *span);
    let advance = if next_fits(e, handle) {
        format!("{name} += {step_code}")
    } else {
        let rest = match unsigned(scalar) {
            distance if distance == scalar => format!("{end_code} - {name}"),
            // C computes small types in `int`, where what wraps in theirs falls below zero.
            distance if distance.bytes() < 4 => format!("({0})({end_code} - {name})", scalar_type(distance)),
            distance => format!("({0}){end_code} - ({0}){name}", scalar_type(distance)),
        };
        format!("{name} = {rest} > {step_code} ? {name} + {step_code} : {end_code}")
    };
    let pragma = match (unroll, e.facts.trip(handle)) {
        (Unroll::Full, _) => "#pragma unroll".into(),
        (Unroll::By(times), _) => format!("#pragma unroll {times}"),
        (Unroll::Auto, Some(trips)) if trips <= MOST_UNROLLED => "#pragma unroll".into(),
        (Unroll::Auto, Some(_) | None) => "#pragma unroll 1".into(),
    };
    e.out.line(&pragma);
    e.out.statement(*span, &format!("for ({ty} {name} = {start_code}; {name} < {end_code}; {advance}) {{"));
    nested(e, body);
    e.out.line("}");
}

/// The bound of a loop, as something that does not change while the loop runs and needs no parentheses.
fn bound(e: &mut Emitter<'_>, value: Handle<Expr>, wanted: &str, span: SpanId) -> String {
    let code = expr(e, value);
    let is_short = match e.kernel.exprs[value].kind {
        ExprKind::Int(value) => value >= 0,
        ExprKind::Extent(..) | ExprKind::Stride(..) | ExprKind::Misalignment(..) | ExprKind::Param(_) => true,
        ExprKind::Local(local) => e.plan.assignments[local.index()] <= 1,
        ExprKind::Float(_)
        | ExprKind::Bool(_)
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
        | ExprKind::Cast(_)
        | ExprKind::Call(..) => false,
    };
    if is_short {
        return code.text;
    }
    let name = e.names.names.fresh(wanted);
    let ty = scalar_type(e.kernel.exprs[value].ty.scalar());
    e.out.statement(span, &format!("const {ty} {name} = {};", code.text));
    name
}

/// Whether the variable can step past the end without leaving its type, as far as the form of the loop shows.
fn next_fits(e: &Emitter<'_>, handle: Handle<Loop>) -> bool {
    let Loop { end, step, .. } = &e.kernel.loops[handle];
    let scalar = e.kernel.exprs[*end].ty.scalar();
    // Of indices, in the text where they have 32 bits.
    let largest = if scalar == Scalar::Usize {
        i128::from(u32::MAX)
    } else if scalar == Scalar::Isize {
        i128::from(i32::MAX)
    } else {
        scalar.range().map_or(0, |(_, largest)| largest)
    };
    match (int(e.kernel, *end), int(e.kernel, *step)) {
        (_, Some(1)) => true,
        (Some(end), Some(step)) => end + step - 1 <= largest,
        (None, Some(step)) => scalar == Scalar::Usize && step <= 1 << 31 && is_below_half(e.kernel, *end),
        (_, None) => false,
    }
}
