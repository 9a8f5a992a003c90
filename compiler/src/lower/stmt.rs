//! Statements.

use super::assign::Compound;
use super::operator::{binary_op, is_compound};
use super::{Binding, Lower, Operand, Ty, foreign, shared};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{self, ExprKind, Handle, Stmt};
use syn::{Attribute, Block, Expr, Pat};

impl Lower<'_> {
    /// The statements of a block in the current scope; the value of its tail.
    pub(super) fn statements(&mut self, block: &Block, expected: Option<Ty>) -> Operand {
        let items = block.stmts.iter().filter_map(|statement| match statement {
            syn::Stmt::Item(item) => Some(item),
            syn::Stmt::Local(_) | syn::Stmt::Expr(..) | syn::Stmt::Macro(_) => None,
        });
        self.declare(items);
        let mut tail = Operand::Tuple(Vec::new());
        for (place, statement) in block.stmts.iter().enumerate() {
            match statement {
                syn::Stmt::Local(local) => self.let_statement(local),
                syn::Stmt::Expr(expr, semicolon) => {
                    let last = place + 1 == block.stmts.len();
                    if last && semicolon.is_none() && !is_statement_like(expr) {
                        let (mut expr, mut attributes) = (expr.clone(), Vec::new());
                        lift_attributes(&mut expr, &mut attributes);
                        let outer = self.begin_responsibility(&mut attributes);
                        self.refuse_attributes(&attributes);
                        tail = self.operand(&expr, expected);
                        self.end_responsibility(outer);
                    } else {
                        self.statement_expression(expr, &mut Vec::new());
                    }
                }
                syn::Stmt::Item(item) => self.item(item),
                syn::Stmt::Macro(call) => {
                    let expr = Expr::Macro(syn::ExprMacro { attrs: Vec::new(), mac: call.mac.clone() });
                    self.operand(&expr, None);
                }
            }
        }
        tail
    }

    /// The body of a function, loop or branch.
    pub(super) fn block_items(&mut self, block: &Block) {
        match self.statements(block, None) {
            Operand::Poison => {}
            Operand::Tuple(parts) if parts.is_empty() => {}
            Operand::Value(_) | Operand::Array(..) | Operand::List(_) | Operand::Tuple(_) => {
                if let Some(syn::Stmt::Expr(tail, None)) = block.stmts.last() {
                    self.mismatch(tail);
                }
            }
        }
    }

    /// A block as an expression.
    pub(super) fn block_value(&mut self, block: &Block, expected: Option<Ty>) -> Operand {
        self.scopes.push(Default::default());
        let value = self.statements(block, expected);
        self.scopes.pop();
        value
    }

    fn let_statement(&mut self, local: &syn::Local) {
        let mut attributes = local.attrs.clone();
        let outer = self.begin_responsibility(&mut attributes);
        self.refuse_attributes(&attributes);
        let (pattern, annotation) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pattern => (pattern, None),
        };
        if let Some(ty) = annotation
            && let Some(foreign) = foreign::of_type(ty)
        {
            let poison = self.foreign(ty, foreign);
            self.bind_pattern(pattern, poison);
            self.end_responsibility(outer);
            return;
        }
        match &local.init {
            Some(init) if init.diverge.is_some() => {
                self.unsupported(local, "a kernel has no `let … else`", "write `if`");
            }
            Some(init) => match (shared::declaration(&init.expr, annotation), pattern) {
                (Some(segment), Pat::Ident(name)) => self.declare_tile(&name.ident, segment),
                _ => {
                    let expected = annotation.and_then(|ty| self.value_type(ty));
                    let mut value = match (&*init.expr, pattern) {
                        (Expr::Closure(closure), Pat::Ident(name)) => self.closure(closure, &name.ident),
                        (expr, _) => self.operand(expr, expected),
                    };
                    if let (Some(expected), Operand::Value(handle)) = (expected, &value) {
                        let ty = self.ty(*handle);
                        if ty.vector != expected.vector || !self.terms.unify(ty.term, expected.term) {
                            value = self.mismatch(&init.expr);
                        }
                    }
                    self.bind_pattern(pattern, value);
                }
            },
            None => {
                self.unsupported(local, "a variable of a kernel needs a first value", "write `let x = 0.0;`");
                self.bind_pattern(pattern, Operand::Poison);
            }
        }
        self.end_responsibility(outer);
    }

    pub(super) fn bind_pattern(&mut self, pattern: &Pat, value: Operand) {
        match pattern {
            Pat::Ident(name) if name.by_ref.is_none() && name.subpat.is_none() => {
                let binding = self.store_away(&name.ident, value);
                self.bind(name.ident.to_string(), binding);
            }
            Pat::Wild(_) => {}
            Pat::Paren(inner) => self.bind_pattern(&inner.pat, value),
            Pat::Tuple(tuple) => match value {
                Operand::Tuple(parts) if parts.len() == tuple.elems.len() => {
                    for (pattern, part) in tuple.elems.iter().zip(parts) {
                        self.bind_pattern(pattern, part);
                    }
                }
                other => {
                    if !matches!(other, Operand::Poison) {
                        self.mismatch(pattern);
                    }
                    for pattern in &tuple.elems {
                        self.bind_pattern(pattern, Operand::Poison);
                    }
                }
            },
            Pat::Slice(slice) => {
                let parts = self.array_parts(value, slice.elems.len());
                if parts.is_none() {
                    self.mismatch(pattern);
                }
                for (place, pattern) in slice.elems.iter().enumerate() {
                    let part = parts.as_ref().and_then(|parts| parts.get(place));
                    self.bind_pattern(pattern, part.cloned().unwrap_or(Operand::Poison));
                }
            }
            _ => {
                self.unsupported(
                    pattern,
                    "a kernel's patterns are names, and tuples and arrays of patterns",
                    "write `let (row, col) = …;` or `let [row, col] = …;`",
                );
            }
        }
    }

    /// The elements of an array that has so many; poison for poison.
    pub(super) fn array_parts(&mut self, value: Operand, count: usize) -> Option<Vec<Operand>> {
        match value {
            Operand::List(parts) => (parts.len() == count).then_some(parts),
            Operand::Array(local, prefix) => {
                let array = &self.kernel.locals[local];
                let (extents, span) = (array.extents.get(prefix.len()..)?.to_vec(), array.span);
                if usize::try_from(*extents.first()?).ok()? != count {
                    return None;
                }
                let ty = self.local_types[local.index()];
                let parts = (0..count).map(|place| {
                    let index = self.index_literal(place as i128, span);
                    let index = prefix.iter().copied().chain([index]).collect();
                    match extents.len() {
                        1 => Operand::Value(self.expr(ExprKind::Element(local, index), ty, span)),
                        _ => Operand::Array(local, index),
                    }
                });
                Some(parts.collect())
            }
            Operand::Poison => Some(vec![Operand::Poison; count]),
            Operand::Value(_) | Operand::Tuple(_) => None,
        }
    }

    /// Gives a value a variable of its own.
    pub(super) fn store_away(&mut self, name: &syn::Ident, value: Operand) -> Binding {
        let span = self.span(name);
        match value {
            Operand::Value(value) => {
                let ty = self.ty(value);
                let local = self.local(&name.to_string(), ty, Vec::new(), span);
                self.push(Stmt::Assign { local, value });
                Binding::Local(local)
            }
            Operand::List(list) => match self.register_array(name, &list) {
                Some(local) => Binding::Local(local),
                None => {
                    self.mismatch(name);
                    Binding::Operand(Operand::Poison)
                }
            },
            Operand::Array(array, prefix) => Binding::Local(self.array_copy(name, array, prefix)),
            Operand::Tuple(parts) => {
                let parts = parts
                    .into_iter()
                    .map(|part| match self.store_away(name, part) {
                        Binding::Local(local) if self.kernel.locals[local].extents.is_empty() => {
                            let ty = self.local_types[local.index()];
                            Operand::Value(self.expr(ExprKind::Local(local), ty, span))
                        }
                        Binding::Local(local) => Operand::Array(local, Vec::new()),
                        Binding::Operand(operand) => operand,
                        Binding::Memory(_) => Operand::Poison,
                    })
                    .collect();
                Binding::Operand(Operand::Tuple(parts))
            }
            Operand::Poison => Binding::Operand(Operand::Poison),
        }
    }

    /// A register array with the elements of another one, or of a part of it.
    fn array_copy(
        &mut self,
        name: &syn::Ident,
        from: Handle<ir::Local>,
        prefix: Vec<Handle<ir::Expr>>,
    ) -> Handle<ir::Local> {
        let span = self.span(name);
        let ty = self.local_types[from.index()];
        let extents = self.kernel.locals[from].extents.get(prefix.len()..).unwrap_or_default().to_vec();
        let to = self.local(&name.to_string(), ty, extents.clone(), span);
        let zeros: Vec<_> = extents.iter().map(|_| self.index_literal(0, span)).collect();
        let first = prefix.iter().copied().chain(zeros).collect();
        let value = self.expr(ExprKind::Element(from, first), ty, span);
        self.push(Stmt::Fill { local: to, value });
        let mut index = Vec::new();
        let mut counters = Vec::new();
        for _ in &extents {
            let usize_term = Ty::scalar(self.terms.known(ir::Scalar::Usize));
            let counter = self.local("i", usize_term, Vec::new(), span);
            index.push(self.expr(ExprKind::Local(counter), usize_term, span));
            counters.push(counter);
        }
        let source = prefix.into_iter().chain(index.iter().copied()).collect();
        let value = self.expr(ExprKind::Element(from, source), ty, span);
        let mut statement = Stmt::AssignElement { local: to, index, value };
        for (variable, extent) in counters.into_iter().zip(extents).rev() {
            let [start, end, step] = [0, i128::from(extent), 1].map(|bound| self.index_literal(bound, span));
            let body = vec![statement];
            let repeat = ir::Loop { variable, start, end, step, body, unroll: ir::Unroll::Auto, span };
            statement = Stmt::For(self.kernel.loops.add(repeat));
        }
        self.push(statement);
        to
    }

    fn register_array(&mut self, name: &syn::Ident, list: &[Operand]) -> Option<Handle<ir::Local>> {
        let mut extents = Vec::new();
        let mut leaves = Vec::new();
        flatten(list, 0, &mut extents, &mut leaves)?;
        let first = *leaves.first()?;
        let ty = self.ty(first);
        for leaf in &leaves {
            let leaf = self.ty(*leaf);
            if leaf.vector != ty.vector || !self.terms.unify(leaf.term, ty.term) {
                return None;
            }
        }
        let span = self.span(name);
        let local = self.local(&name.to_string(), ty, extents.clone(), span);
        self.push(Stmt::Fill { local, value: first });
        for (place, value) in leaves.iter().enumerate().filter(|(_, value)| **value != first) {
            let mut rest = place as u32;
            let mut index: Vec<_> = extents
                .iter()
                .rev()
                .map(|extent| {
                    let i = rest % extent;
                    rest /= extent;
                    self.index_literal(i128::from(i), span)
                })
                .collect();
            index.reverse();
            self.push(Stmt::AssignElement { local, index, value: *value });
        }
        Some(local)
    }

    /// An expression whose value is not used. `attributes` are those of the statement.
    pub(super) fn statement_expression(&mut self, expr: &Expr, attributes: &mut Vec<Attribute>) {
        let mut expr = expr.clone();
        lift_attributes(&mut expr, attributes);
        let unroll = match &expr {
            Expr::ForLoop(_) => self.take_unroll(attributes),
            _ => ir::Unroll::Auto,
        };
        let outer = self.begin_responsibility(attributes);
        self.refuse_attributes(attributes);
        match &expr {
            Expr::Assign(assign) => self.assign(&assign.left, &assign.right, None),
            Expr::Binary(binary) if is_compound(&binary.op) => {
                let compound = binary_op(&binary.op).map(|op| Compound { op, whole: binary });
                self.assign(&binary.left, &binary.right, compound);
            }
            Expr::If(branch) => self.if_statement(branch),
            Expr::ForLoop(head) => self.for_loop(head, unroll),
            Expr::While(head) => self.while_loop(head),
            Expr::Block(block) if block.label.is_none() => {
                self.scopes.push(Default::default());
                self.block_items(&block.block);
                self.scopes.pop();
            }
            other => {
                self.operand(other, None);
            }
        }
        self.end_responsibility(outer);
    }

    /// Takes `#[unroll]`, `#[unroll(4)]` or `#[no_unroll]` off the attributes of a counted loop.
    fn take_unroll(&mut self, attributes: &mut Vec<Attribute>) -> ir::Unroll {
        let names = ["unroll", "no_unroll"];
        let (mine, rest): (Vec<_>, Vec<_>) = std::mem::take(attributes)
            .into_iter()
            .partition(|attribute| names.iter().any(|name| attribute.path().is_ident(name)));
        *attributes = rest;
        let Some(attribute) = mine.first() else { return ir::Unroll::Auto };
        let times = match &attribute.meta {
            syn::Meta::Path(path) if path.is_ident("unroll") => return ir::Unroll::Full,
            syn::Meta::Path(_) => return ir::Unroll::By(1),
            syn::Meta::List(list) => {
                list.parse_args::<syn::LitInt>().and_then(|n| n.base10_parse::<u32>()).ok()
            }
            syn::Meta::NameValue(_) => None,
        };
        match times {
            Some(times @ 1..=1024) => ir::Unroll::By(times),
            Some(_) | None => {
                let span = self.span(attribute);
                self.diagnostics.report(
                    Diagnostic::new(Code::Attribute, span, "this says nothing about how to unroll the loop")
                        .help("write `#[unroll]` for all iterations, `#[unroll(4)]` for so many (at most 1024), or `#[no_unroll]`"),
                );
                ir::Unroll::Auto
            }
        }
    }
}

fn is_statement_like(expr: &Expr) -> bool {
    match expr {
        Expr::Assign(_) | Expr::ForLoop(_) | Expr::While(_) => true,
        Expr::Binary(binary) => is_compound(&binary.op),
        _ => false,
    }
}

/// The extents and the leaves of nested lists; `None` if they are not an array.
pub(super) fn flatten(
    list: &[Operand],
    depth: usize,
    extents: &mut Vec<u32>,
    leaves: &mut Vec<Handle<ir::Expr>>,
) -> Option<()> {
    match extents.get(depth) {
        Some(extent) if *extent as usize != list.len() => return None,
        Some(_) => {}
        None if leaves.is_empty() => extents.push(list.len() as u32),
        None => return None,
    }
    for part in list {
        match part {
            Operand::Value(value) if extents.len() == depth + 1 => leaves.push(*value),
            Operand::List(inner) => flatten(inner, depth + 1, extents, leaves)?,
            _ => return None,
        }
    }
    Some(())
}

/// Moves the attributes that the parser hung on the leftmost part of a statement up to the statement.
pub(crate) fn lift_attributes(expr: &mut Expr, attributes: &mut Vec<Attribute>) {
    let (own, inner) = match expr {
        Expr::Assign(e) => (&mut e.attrs, Some(&mut e.left)),
        Expr::Binary(e) => (&mut e.attrs, Some(&mut e.left)),
        Expr::Index(e) => (&mut e.attrs, Some(&mut e.expr)),
        Expr::Field(e) => (&mut e.attrs, Some(&mut e.base)),
        Expr::MethodCall(e) => (&mut e.attrs, Some(&mut e.receiver)),
        Expr::Call(e) => (&mut e.attrs, Some(&mut e.func)),
        Expr::Cast(e) => (&mut e.attrs, Some(&mut e.expr)),
        Expr::Path(e) => (&mut e.attrs, None),
        Expr::Lit(e) => (&mut e.attrs, None),
        Expr::Unary(e) => (&mut e.attrs, None),
        Expr::Tuple(e) => (&mut e.attrs, None),
        Expr::Array(e) => (&mut e.attrs, None),
        Expr::Paren(e) => (&mut e.attrs, None),
        Expr::Block(e) => (&mut e.attrs, None),
        Expr::If(e) => (&mut e.attrs, None),
        Expr::ForLoop(e) => (&mut e.attrs, None),
        Expr::While(e) => (&mut e.attrs, None),
        Expr::Loop(e) => (&mut e.attrs, None),
        Expr::Match(e) => (&mut e.attrs, None),
        Expr::Return(e) => (&mut e.attrs, None),
        Expr::Break(e) => (&mut e.attrs, None),
        _ => return,
    };
    attributes.append(own);
    if let Some(inner) = inner {
        lift_attributes(inner, attributes);
    }
}
