//! Statements.

use super::expr::{binary_op, is_compound};
use super::place::Target;
use super::{Binding, Lower, Operand, Ty, shared};
use crate::ast;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{self, BinaryOp, ExprKind, Handle, Place, Role, Scalar, Stmt};
use syn::{Attribute, Block, Expr, Pat, Type};

impl Lower<'_> {
    /// The statements of a block in the current scope; the value of its tail.
    fn statements(&mut self, block: &Block, expected: Option<Ty>) -> Operand {
        let mut tail = Operand::Tuple(Vec::new());
        for (place, statement) in block.stmts.iter().enumerate() {
            match statement {
                syn::Stmt::Local(local) => self.let_statement(local),
                syn::Stmt::Expr(expr, semicolon) => {
                    let last = place + 1 == block.stmts.len();
                    if last && semicolon.is_none() && !is_statement_like(expr) {
                        let (mut expr, mut attributes) = (expr.clone(), Vec::new());
                        lift_attributes(&mut expr, &mut attributes);
                        let outer = self.enter_budget(&mut attributes);
                        tail = self.operand(&expr, expected);
                        self.budget = outer;
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

    fn item(&mut self, item: &syn::Item) {
        match item {
            syn::Item::Const(item) => self.const_item(item),
            syn::Item::Fn(_) => {
                self.unsupported(
                    item,
                    "helper functions are not part of the language yet",
                    "write the code where it is used",
                );
            }
            syn::Item::Use(_) => {
                self.unsupported(item, "a kernel cannot import names", "move the `use` out of the kernel");
            }
            _ => {
                self.unsupported(
                    item,
                    "a kernel can only declare constants",
                    "move the item out of the kernel",
                );
            }
        }
    }

    fn const_item(&mut self, item: &syn::ItemConst) {
        let expected = self.scalar_type(&item.ty).map(|scalar| Ty::scalar(self.terms.known(scalar)));
        let binding = match expected {
            Some(ty) => match self.value_of(&item.expr, ty.term) {
                Some(value) => Operand::Value(value),
                None => Operand::Poison,
            },
            None => self.unsupported(
                &item.ty,
                "a constant of a kernel is a number or bool",
                "write `const N: usize = 32;`",
            ),
        };
        self.bind(item.ident.to_string(), Binding::Operand(binding));
    }

    fn let_statement(&mut self, local: &syn::Local) {
        let mut attributes = local.attrs.clone();
        let outer = self.enter_budget(&mut attributes);
        let (pattern, annotation) = match &local.pat {
            Pat::Type(typed) => (&*typed.pat, Some(&*typed.ty)),
            pattern => (pattern, None),
        };
        match &local.init {
            Some(init) if init.diverge.is_some() => {
                self.unsupported(local, "a kernel has no `let … else`", "write `if`");
            }
            Some(init) => match (shared::declaration(&init.expr, annotation), pattern) {
                (Some(segment), Pat::Ident(name)) => self.declare_tile(&name.ident, segment),
                _ => {
                    let expected = annotation.and_then(|ty| self.value_type(ty));
                    let mut value = self.operand(&init.expr, expected);
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
        self.budget = outer;
    }

    /// The type of a scalar, a vector, or the elements of a register array.
    fn value_type(&mut self, ty: &Type) -> Option<Ty> {
        if let Some(scalar) = self.scalar_type(ty) {
            return Some(Ty::scalar(self.terms.known(scalar)));
        }
        match ty {
            Type::Array(array) => self.value_type(&array.elem),
            Type::Path(path) => {
                let segment = path.path.segments.last().filter(|segment| segment.ident == "Vector")?;
                let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
                let mut arguments = arguments.args.iter();
                let syn::GenericArgument::Type(element) = arguments.next()? else { return None };
                let scalar = self.scalar_type(element)?;
                let width = self.generic_constant(arguments.next()?, "the width of a vector")?;
                Some(Ty { term: self.terms.known(scalar), vector: Some(u32::try_from(width).ok()?) })
            }
            _ => None,
        }
    }

    fn bind_pattern(&mut self, pattern: &Pat, value: Operand) {
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
            _ => {
                self.unsupported(
                    pattern,
                    "a kernel's patterns are names and tuples of names",
                    "write `let (row, col) = …;`",
                );
            }
        }
    }

    /// Gives a value a variable of its own.
    fn store_away(&mut self, name: &syn::Ident, value: Operand) -> Binding {
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
            Operand::Array(..) => Binding::Operand(self.unsupported(
                name,
                "a register array cannot be copied as a whole",
                "copy its elements in a loop",
            )),
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
        let outer = self.enter_budget(attributes);
        match &expr {
            Expr::Assign(assign) => self.assign(&assign.left, &assign.right, None),
            Expr::Binary(binary) if is_compound(&binary.op) => {
                self.assign(&binary.left, &binary.right, binary_op(&binary.op));
            }
            Expr::If(branch) => self.if_statement(branch),
            Expr::ForLoop(head) => self.for_loop(head),
            Expr::Block(block) => {
                if let Some(label) = &block.label {
                    self.unsupported(label, "a kernel has no labels", "remove it");
                }
                self.scopes.push(Default::default());
                self.block_items(&block.block);
                self.scopes.pop();
            }
            other => {
                self.operand(other, None);
            }
        }
        self.budget = outer;
    }

    /// Makes the statement's budget the current one; returns the one before.
    fn enter_budget(&mut self, attributes: &mut Vec<Attribute>) -> Option<Handle<ir::Budget>> {
        let outer = self.budget;
        if let Some(budget) = ast::take_budget(attributes, self.diagnostics) {
            self.budget = Some(self.add_budget(&budget));
        }
        for attribute in attributes.iter().filter(|attribute| !attribute.path().is_ident("allow")) {
            let span = self.span(attribute);
            self.diagnostics.report(
                Diagnostic::new(Code::Unsupported, span, "this attribute means nothing in a kernel")
                    .help("a statement can have `#[budget(…)]`"),
            );
        }
        outer
    }

    fn assign(&mut self, left: &Expr, right: &Expr, op: Option<BinaryOp>) {
        match left {
            Expr::Paren(inner) => self.assign(&inner.expr, right, op),
            Expr::Group(inner) => self.assign(&inner.expr, right, op),
            Expr::Path(path) => self.assign_variable(path, right, op),
            Expr::Index(index) => self.assign_element(index, right, op),
            Expr::Infer(_) => {
                self.operand(right, None);
            }
            other => {
                self.unsupported(
                    other,
                    "a kernel cannot assign to this",
                    "assign to a variable, an element of an array, a tile or a tensor, one at a time",
                );
            }
        }
    }

    fn assign_variable(&mut self, path: &syn::ExprPath, right: &Expr, op: Option<BinaryOp>) {
        let name = path.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let Some(Binding::Local(local)) = self.lookup(&name) else {
            if self.operand(&Expr::Path(path.clone()), None).is_value() {
                self.mismatch(path);
            }
            return;
        };
        let local = *local;
        let ty = self.local_types[local.index()];
        if !self.kernel.locals[local].extents.is_empty() {
            self.unsupported(
                path,
                "a register array cannot be assigned as a whole",
                "assign its elements in a loop",
            );
            return;
        }
        let Some(value) = self.value(right, Some(ty)) else { return };
        let span = self.span(path);
        let old = self.expr(ExprKind::Local(local), ty, span);
        if let Some(value) = self.updated(op, old, value, right) {
            let new = self.ty(value);
            if new.vector == ty.vector && self.terms.unify(new.term, ty.term) {
                self.push(Stmt::Assign { local, value });
            } else {
                self.mismatch(right);
            }
        }
    }

    /// The new value of a place under `=` or a compound assignment.
    fn updated(
        &mut self,
        op: Option<BinaryOp>,
        old: Handle<ir::Expr>,
        value: Handle<ir::Expr>,
        at: &Expr,
    ) -> Option<Handle<ir::Expr>> {
        let Some(op) = op else { return Some(value) };
        let span = self.span(at);
        match self.arithmetic(op, old, value, span, at) {
            Operand::Value(value) => Some(value),
            Operand::Array(..) | Operand::List(_) | Operand::Tuple(_) | Operand::Poison => None,
        }
    }

    /// Rust evaluates the right side of an assignment to a place first, then the place.
    fn assign_element(&mut self, left: &syn::ExprIndex, right: &Expr, op: Option<BinaryOp>) {
        let hint = self.element_hint(left);
        let value = self.value(right, hint);
        let Some(target) = self.target(left) else { return };
        let Some(value) = value else { return };
        let span = self.span(left);
        match target {
            Target::Memory(place) => self.store(place, value, op, left, right),
            Target::Array(local, index) if index.len() == self.kernel.locals[local].extents.len() => {
                let ty = self.local_types[local.index()];
                let old = self.expr(ExprKind::Element(local, index.clone()), ty, span);
                let Some(value) = self.updated(op, old, value, right) else { return };
                let new = self.ty(value);
                if new.vector == ty.vector && self.terms.unify(new.term, ty.term) {
                    self.push(Stmt::AssignElement { local, index, value });
                } else {
                    self.mismatch(right);
                }
            }
            Target::Lane { local, index, lane } => {
                let ty = self.local_types[local.index()];
                let kind = if index.is_empty() {
                    ExprKind::Local(local)
                } else {
                    ExprKind::Element(local, index.clone())
                };
                let vector = self.expr(kind, ty, span);
                let old = self.expr(ExprKind::Lane(vector, lane), Ty::scalar(ty.term), span);
                let Some(value) = self.updated(op, old, value, right) else { return };
                let new = self.ty(value);
                if new.vector.is_none() && self.terms.unify(new.term, ty.term) {
                    self.push(Stmt::AssignLane { local, index, lane, value });
                } else {
                    self.mismatch(right);
                }
            }
            Target::Array(..) | Target::Value(_) => {
                self.mismatch(left);
            }
        }
    }

    fn store(
        &mut self,
        place: Place,
        value: Handle<ir::Expr>,
        op: Option<BinaryOp>,
        left: &syn::ExprIndex,
        right: &Expr,
    ) {
        let ty = Ty::scalar(self.terms.known(self.kernel.element(place.base)));
        let new = self.ty(value);
        let shift = matches!(op, Some(BinaryOp::Shl | BinaryOp::Shr));
        if new.vector.is_some() || !(shift || self.terms.unify(new.term, ty.term)) {
            self.mismatch(right);
            return;
        }
        let value = match op {
            Some(_) => {
                let old = self.load(place.clone(), ty, left);
                let Some(value) = self.updated(op, old, value, right) else { return };
                value
            }
            None => value,
        };
        if let Some(site) = self.site(place, Role::Write, left) {
            self.push(Stmt::Store { site, value });
        }
    }

    /// The type of the element that an index expression names, where it is memory.
    fn element_hint(&mut self, left: &syn::ExprIndex) -> Option<Ty> {
        let mut root = &*left.expr;
        while let Expr::Index(inner) = root {
            root = &inner.expr;
        }
        let base = self.memory(root)?;
        Some(Ty::scalar(self.terms.known(self.kernel.element(base))))
    }

    fn if_statement(&mut self, branch: &syn::ExprIf) {
        let bool_term = self.terms.known(Scalar::Bool);
        let condition = if matches!(&*branch.cond, Expr::Let(_)) {
            self.unsupported(&branch.cond, "a kernel has no `if let`", "write a comparison");
            None
        } else {
            self.value_of(&branch.cond, bool_term)
        };
        let then = self.in_block(|lower| lower.block_items(&branch.then_branch));
        let otherwise = match &branch.else_branch {
            Some((_, otherwise)) => {
                self.in_block(|lower| lower.statement_expression(otherwise, &mut Vec::new()))
            }
            None => Vec::new(),
        };
        if let Some(condition) = condition {
            self.push(Stmt::If { condition, then, otherwise });
        }
    }

    /// `if c { a } else { b }` as a value: a variable that both sides assign.
    pub(super) fn if_value(&mut self, branch: &syn::ExprIf, expected: Option<Ty>) -> Operand {
        let Some((_, otherwise_expr)) = &branch.else_branch else {
            self.if_statement(branch);
            return Operand::Tuple(Vec::new());
        };
        let bool_term = self.terms.known(Scalar::Bool);
        let Some(condition) = self.value_of(&branch.cond, bool_term) else { return Operand::Poison };
        let span = self.span(branch);
        let (mut first, mut second) = (Operand::Poison, Operand::Poison);
        let mut then = self.in_block(|lower| first = lower.statements(&branch.then_branch, expected));
        let hint = match &first {
            Operand::Value(value) => Some(self.ty(*value)),
            _ => expected,
        };
        let mut otherwise = self.in_block(|lower| second = lower.operand(otherwise_expr, hint));
        let result = match (first, second) {
            (Operand::Value(a), Operand::Value(b)) => {
                let (ta, tb) = (self.ty(a), self.ty(b));
                if ta.vector != tb.vector || !self.terms.unify(ta.term, tb.term) {
                    return self.mismatch(branch);
                }
                let local = self.local("chosen", ta, Vec::new(), span);
                then.push(Stmt::Assign { local, value: a });
                otherwise.push(Stmt::Assign { local, value: b });
                Operand::Value(self.expr(ExprKind::Local(local), ta, span))
            }
            (Operand::Tuple(a), Operand::Tuple(b)) if a.is_empty() && b.is_empty() => {
                Operand::Tuple(Vec::new())
            }
            (Operand::Poison, _) | (_, Operand::Poison) => Operand::Poison,
            _ => self.unsupported(
                branch,
                "the value of an `if` is a scalar or a vector in a kernel",
                "assign the parts one by one in its sides",
            ),
        };
        self.push(Stmt::If { condition, then, otherwise });
        result
    }

    fn for_loop(&mut self, head: &syn::ExprForLoop) {
        if let Some(label) = &head.label {
            self.unsupported(label, "a kernel has no labels", "remove it");
        }
        let variable = match &*head.pat {
            Pat::Ident(name) if name.mutability.is_none() && name.by_ref.is_none() => {
                Some(name.ident.clone())
            }
            Pat::Wild(wild) => Some(syn::Ident::new("_unused", wild.underscore_token.span)),
            other => {
                self.unsupported(other, "the variable of a loop is a plain name", "write `for i in 0..n`");
                None
            }
        };
        let bounds = self.range(&head.expr);
        let (Some(name), Some((start, end, step))) = (variable, bounds) else {
            // The body is still read for errors of its own.
            self.in_block(|lower| {
                if let Pat::Ident(name) = &*head.pat {
                    lower.bind(name.ident.to_string(), Binding::Operand(Operand::Poison));
                }
                lower.block_items(&head.body);
            });
            return;
        };
        let span = self.span(&head.expr);
        let ty = self.ty(start);
        let name_span = self.span(&name);
        let variable = self.local(&name.to_string(), ty, Vec::new(), name_span);
        let body = self.in_block(|lower| {
            lower.bind(name.to_string(), Binding::Local(variable));
            lower.block_items(&head.body);
        });
        let handle = self.kernel.loops.add(ir::Loop { variable, start, end, step, body, span });
        self.push(Stmt::For(handle));
    }

    /// `a..b` and `(a..b).step_by(s)`: start, end and step.
    fn range(&mut self, expr: &Expr) -> Option<(Handle<ir::Expr>, Handle<ir::Expr>, Handle<ir::Expr>)> {
        match expr {
            Expr::Paren(inner) => self.range(&inner.expr),
            Expr::Group(inner) => self.range(&inner.expr),
            Expr::Range(syn::ExprRange {
                start: Some(start),
                end: Some(end),
                limits: syn::RangeLimits::HalfOpen(_),
                ..
            }) => {
                let first = self.value(start, None);
                let hint = first.map(|first| self.ty(first));
                let last = self.value(end, hint);
                let (first, last) = (first?, last?);
                let (a, b) = (self.ty(first), self.ty(last));
                let integers = self.terms.unify(a.term, b.term) && self.terms.is_integer(a.term);
                if !integers || a.vector.is_some() || b.vector.is_some() {
                    self.mismatch(expr);
                    return None;
                }
                let span = self.span(expr);
                let step = self.expr(ExprKind::Int(1), a, span);
                Some((first, last, step))
            }
            Expr::MethodCall(call) if call.method == "step_by" && call.args.len() == 1 => {
                let (start, end, _) = self.range(&call.receiver)?;
                let step = self.index_value(&call.args[0])?;
                if let ExprKind::Int(value) = self.kernel.exprs[step].kind
                    && value <= 0
                {
                    let span = self.span(&call.args[0]);
                    self.diagnostics.report(
                        Diagnostic::new(Code::Constant, span, "a loop with a step of 0 never ends")
                            .help("write a step of at least 1"),
                    );
                    return None;
                }
                let (ty, span) = (self.ty(start), self.span(&call.args[0]));
                let step = match self.kernel.exprs[step].kind {
                    ExprKind::Int(value) => self.expr(ExprKind::Int(value), ty, span),
                    _ if self.terms.get(ty.term) == Some(Scalar::Usize) => step,
                    _ => self.expr(ExprKind::Cast(step), ty, span),
                };
                Some((start, end, step))
            }
            _ => {
                self.unsupported(
                    expr,
                    "a kernel's `for` runs over a half-open range",
                    "write `for i in start..end` or `for i in (start..end).step_by(step)`",
                );
                None
            }
        }
    }
}

impl Operand {
    fn is_value(&self) -> bool {
        !matches!(self, Operand::Poison)
    }
}

fn is_statement_like(expr: &Expr) -> bool {
    match expr {
        Expr::Assign(_) | Expr::ForLoop(_) => true,
        Expr::Binary(binary) => is_compound(&binary.op),
        _ => false,
    }
}

/// The extents and the leaves of nested lists; `None` if they are not an array.
fn flatten(
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
        _ => return,
    };
    attributes.append(own);
    if let Some(inner) = inner {
        lift_attributes(inner, attributes);
    }
}
