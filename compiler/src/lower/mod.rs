//! The kernel as written → IR: names, types, tuples and nested expressions are resolved here.
//!
//! Lowering never stops at an error: it reports, yields a poisoned operand that absorbs what is done with it, and goes
//! on. What rustc will refuse anyway (types, unknown names) is deferred, see [`Diagnostics::defer`].

mod assign;
mod atomic;
mod build;
mod checked;
mod closure;
mod control;
mod copy;
mod elements;
mod expr;
mod flow;
mod fold;
mod foreign;
mod function;
mod generic;
mod helper;
mod intrinsic;
mod item;
mod matching;
mod matrix;
mod operator;
mod order;
mod place;
mod repeat;
mod responsibility;
mod shared;
mod signature;
mod stmt;
mod table;
mod tile;
mod types;
mod unaligned;
mod updates;
mod vector;
mod warp;

pub(crate) use intrinsic::{Function, unqualified};
pub(crate) use operator::is_compound;
pub(crate) use stmt::lift_attributes;
pub(crate) use tile::TileMethod;

use crate::ast;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::{Arena, Base, Expr, ExprKind, Handle, Kernel, Local, Scalar, Type};
use flow::{Exit, Frame, Target, TargetKind};
use item::{Found, Item, TypeItem};
use quote::ToTokens;
use responsibility::Responsibility;
use std::collections::HashMap;
use std::rc::Rc;
use types::{Term, Terms, Ty};

/// What a name stands for.
#[derive(Clone, Debug)]
enum Binding {
    /// A variable.
    Local(Handle<Local>),
    /// A tile or tensor.
    Memory(Base),
    /// A value known where it is declared: a scalar argument, a constant, a part of a tuple that was never stored.
    Operand(Operand),
}

/// What stands in a block, and its names.
#[derive(Clone, Debug, Default)]
struct Scope {
    /// Variables and arguments.
    names: HashMap<String, Binding>,
    /// Functions and constants: a helper function sees these, but no variables.
    items: HashMap<String, Item>,
    /// Types.
    types: HashMap<String, TypeItem>,
}

/// The result of lowering an expression.
#[derive(Clone, Debug)]
enum Operand {
    /// A scalar or vector.
    Value(Handle<Expr>),
    /// A register array, or a part of one: the variable and the leading indices.
    Array(Handle<Local>, Vec<Handle<Expr>>),
    /// An array that is not stored anywhere.
    List(Vec<Operand>),
    /// A tuple; `()` is the empty one.
    Tuple(Vec<Operand>),
    /// The result of an error that has been reported.
    Poison,
}

impl Operand {
    /// The scalar or vector, where it is one.
    fn value(self) -> Option<Handle<Expr>> {
        match self {
            Operand::Value(value) => Some(value),
            Operand::Array(..) | Operand::List(_) | Operand::Tuple(_) | Operand::Poison => None,
        }
    }

    /// How many scalars and vectors it holds.
    fn leaves(&self) -> usize {
        match self {
            Operand::List(parts) | Operand::Tuple(parts) => parts.iter().map(Operand::leaves).sum(),
            Operand::Value(_) | Operand::Array(..) | Operand::Poison => 1,
        }
    }
}

/// The state of lowering one kernel.
struct Lower<'a> {
    kernel: Kernel,
    /// By expression.
    types: Vec<Ty>,
    /// By local.
    local_types: Vec<Ty>,
    terms: Terms,
    /// Float literals as written; they are rounded once, to the type that inference finds.
    float_digits: Vec<(Handle<Expr>, String)>,
    scopes: Vec<Scope>,
    /// The helper functions that are being inlined, outermost first.
    calls: Vec<Rc<syn::ItemFn>>,
    /// The functions that the compiler brings along, once one is called.
    library: Option<Scope>,
    /// Whether the outermost scope is theirs.
    library_is_in_scope: bool,
    /// How many calls have been inlined.
    inlined: u32,
    /// The constants that are being evaluated.
    evaluating: Vec<String>,
    /// The statement lists being built, outermost first.
    frames: Vec<Frame>,
    /// What exits can leave, outermost first.
    targets: Vec<Target>,
    /// The variables of exits, and those of them that a condition reads.
    exits: Vec<Exit>,
    exits_read: Vec<Exit>,
    /// What the source takes responsibility for in the statement being lowered.
    responsibility: Responsibility,
    /// Where the runtime crate is.
    crate_path: &'a syn::Path,
    /// Whether an argument of the attribute is being lowered, where no constant of the body is in scope.
    in_attribute: bool,
    diagnostics: &'a mut Diagnostics,
}

/// Lowers a kernel. The result is meaningful only if `diagnostics` has not failed.
pub fn lower(ast: &ast::Kernel, diagnostics: &mut Diagnostics) -> Kernel {
    let span = diagnostics.spans.add(&ast.function.sig.ident);
    let mut terms = Terms::default();
    let usize_term = terms.known(Scalar::Usize);
    let mut exprs = Arena::default();
    let one = exprs.add(Expr { kind: ExprKind::Int(1), ty: Type::Scalar(Scalar::Usize), span });
    let mut lower = Lower {
        kernel: Kernel {
            name: ast.function.sig.ident.to_string(),
            params: Arena::default(),
            block: [1; 3],
            min_blocks: None,
            architectures: ast.architectures.clone(),
            grid: [one; 3],
            requires: Vec::new(),
            covers: Vec::new(),
            tiles: Arena::default(),
            locals: Arena::default(),
            exprs,
            sites: Arena::default(),
            loops: Arena::default(),
            budgets: Arena::default(),
            trusts: Arena::default(),
            trust: None,
            trusted: Vec::new(),
            body: Vec::new(),
            span,
        },
        types: vec![Ty::scalar(usize_term)],
        local_types: Vec::new(),
        terms,
        float_digits: Vec::new(),
        // Of the items around the kernel, and of its parameters.
        scopes: vec![Scope::default()],
        calls: Vec::new(),
        library: None,
        library_is_in_scope: false,
        inlined: 0,
        evaluating: Vec::new(),
        frames: Vec::new(),
        targets: vec![Target::new(TargetKind::Function, None)],
        exits: Vec::new(),
        exits_read: Vec::new(),
        responsibility: Responsibility::default(),
        crate_path: &ast.crate_path,
        in_attribute: false,
        diagnostics,
    };
    lower.declare(&ast.shared);
    lower.scopes.push(Scope::default());
    lower.params(&ast.params);
    lower.in_attribute = true;
    lower.launch(ast);
    lower.in_attribute = false;
    lower.responsibility.budget = ast.budget.as_ref().map(|budget| lower.add_budget(budget));
    ast.trusts.iter().for_each(|trust| lower.add_trust(trust));
    lower.kernel.trust = lower.responsibility.trust;
    if ast.broken {
        return lower.finish();
    }
    lower.kernel.body = lower.in_block(|lower| lower.block_items(&ast.function.block));
    let returned = lower.targets.last().and_then(|target| target.leave);
    if let Some(returned) = returned {
        let clear = lower.set_exit(returned, false);
        lower.kernel.body.insert(0, clear);
    }
    lower.finish()
}

impl Lower<'_> {
    /// Types are known now: writes them into the expressions and locals.
    fn finish(mut self) -> Kernel {
        for handle in self.kernel.exprs.handles() {
            self.kernel.exprs[handle].ty = self.terms.resolve(self.types[handle.index()]);
        }
        for (handle, digits) in std::mem::take(&mut self.float_digits) {
            let value = match self.kernel.exprs[handle].ty.scalar() {
                Scalar::F32 => digits.parse::<f32>().map(f64::from),
                _ => digits.parse::<f64>(),
            };
            self.kernel.exprs[handle].kind = ExprKind::Float(value.unwrap_or(f64::NAN));
        }
        for handle in self.kernel.locals.handles() {
            self.kernel.locals[handle].ty = self.terms.resolve(self.local_types[handle.index()]);
        }
        if !self.diagnostics.is_failed() {
            self.evaluate_tables();
        }
        flow::remove_unread(&mut self.kernel, &self.exits, &self.exits_read);
        fold::fold(&mut self.kernel);
        updates::settle(&mut self.kernel);
        self.kernel
    }

    fn bind(&mut self, name: String, binding: Binding) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name, binding);
        }
    }

    /// What a name that is used as a value stands for.
    fn find(&self, name: &str) -> Option<Found<'_>> {
        self.scopes.iter().enumerate().rev().find_map(|(depth, scope)| match scope.names.get(name) {
            Some(binding) => Some(Found::Binding(binding)),
            None => scope.items.get(name).map(|item| Found::Item(item, depth)),
        })
    }

    /// The variable or argument that a name stands for.
    fn lookup(&self, name: &str) -> Option<&Binding> {
        match self.find(name)? {
            Found::Binding(binding) => Some(binding),
            Found::Item(..) => None,
        }
    }

    // ---- errors ----

    fn unsupported(&mut self, tokens: &impl ToTokens, what: &str, instead: &str) -> Operand {
        let span = self.span(tokens);
        self.diagnostics.report(Diagnostic::new(Code::Unsupported, span, what).help(instead));
        Operand::Poison
    }

    fn defer(
        &mut self,
        code: Code,
        tokens: &impl ToTokens,
        message: impl Into<String>,
        help: &str,
    ) -> Operand {
        let span = self.span(tokens);
        self.diagnostics.defer(Diagnostic::new(code, span, message).help(help));
        Operand::Poison
    }

    fn mismatch(&mut self, tokens: &impl ToTokens) -> Operand {
        self.defer(
            Code::Type,
            tokens,
            "the types here do not fit a kernel",
            "annotate the types; scalars are numbers, bool, usize and isize, and both sides of an operator have one type",
        )
    }
}

/// A type without what stands around it: parentheses, and the invisible group that `$t:ty` of a macro leaves behind.
pub(crate) fn peeled(mut ty: &syn::Type) -> &syn::Type {
    loop {
        ty = match ty {
            syn::Type::Group(group) => &group.elem,
            syn::Type::Paren(paren) => &paren.elem,
            _ => return ty,
        };
    }
}

/// The element type that a tensor has under this name, if it can be one.
pub(crate) fn element_type(ty: &syn::Type) -> Option<Scalar> {
    let syn::Type::Path(path) = peeled(ty) else { return None };
    let scalar = Scalar::from_name(&path.path.get_ident()?.to_string())?;
    (scalar != Scalar::Bool && !scalar.is_index()).then_some(scalar)
}

/// The value of an integer literal.
fn literal(expr: &syn::Expr) -> Option<i128> {
    match expr {
        syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Int(int), .. }) => int.base10_parse().ok(),
        syn::Expr::Unary(syn::ExprUnary { op: syn::UnOp::Neg(_), expr, .. }) => {
            literal(expr).map(|value| -value)
        }
        syn::Expr::Paren(paren) => literal(&paren.expr),
        syn::Expr::Group(group) => literal(&group.expr),
        syn::Expr::Block(block) if block.block.stmts.len() == 1 => match &block.block.stmts[0] {
            syn::Stmt::Expr(expr, None) => literal(expr),
            _ => None,
        },
        _ => None,
    }
}
