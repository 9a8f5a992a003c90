//! The kernel as written → IR: names, types, tuples and nested expressions are resolved here.
//!
//! Lowering never stops at an error: it reports, yields a poisoned operand that absorbs what is done with it, and goes
//! on. What rustc will refuse anyway (types, unknown names) is deferred, see [`Diagnostics::defer`].

mod assign;
mod atomic;
mod build;
mod checked;
mod control;
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
mod operator;
mod order;
mod place;
mod repeat;
mod shared;
mod stmt;
mod table;
mod tile;
mod types;
mod vector;
mod warp;

pub(crate) use intrinsic::Function;
pub(crate) use operator::is_compound;
pub(crate) use stmt::lift_attributes;
pub(crate) use tile::TileMethod;

use crate::ast;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::{
    Arena, Base, Budget, Contract, Expr, ExprKind, Handle, Kernel, Local, Param, ParamKind, Scalar, Type,
};
use flow::{Exit, Frame, Target, TargetKind};
use item::{Found, Item, TypeItem};
use quote::ToTokens;
use std::collections::HashMap;
use std::rc::Rc;
use tileproof_model::language::MOST_DIMENSIONS;
use tileproof_model::limits::{MAX_BLOCK, MAX_THREADS_PER_BLOCK};
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
    /// The budget of the statement being lowered.
    budget: Option<Handle<Budget>>,
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
            tiles: Arena::default(),
            locals: Arena::default(),
            exprs,
            sites: Arena::default(),
            loops: Arena::default(),
            budgets: Arena::default(),
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
        budget: None,
        in_attribute: false,
        diagnostics,
    };
    lower.declare(&ast.shared);
    lower.scopes.push(Scope::default());
    lower.params(&ast.params);
    lower.in_attribute = true;
    lower.launch(ast);
    lower.in_attribute = false;
    lower.budget = ast.budget.as_ref().map(|budget| lower.add_budget(budget));
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

/// No multiprocessor holds more blocks.
const MOST_BLOCKS: u32 = 32;

impl Lower<'_> {
    fn params(&mut self, params: &[ast::Param]) {
        for param in params {
            let span = self.diagnostics.spans.add(&param.name);
            let name = param.name.to_string();
            let Some(kind) = self.param_kind(&param.ty) else {
                self.bind(name, Binding::Operand(Operand::Poison));
                continue;
            };
            let handle = self.kernel.params.add(Param { name: name.clone(), kind, span });
            let binding = match kind {
                ParamKind::Tensor { .. } => Binding::Memory(Base::Tensor(handle)),
                ParamKind::Scalar(scalar) => {
                    let ty = Ty::scalar(self.terms.known(scalar));
                    Binding::Operand(Operand::Value(self.expr(ExprKind::Param(handle), ty, span)))
                }
            };
            self.bind(name, binding);
        }
    }

    fn param_kind(&mut self, ty: &syn::Type) -> Option<ParamKind> {
        let ty = peeled(ty);
        let kind = match ty {
            syn::Type::Reference(reference) => {
                self.tensor_kind(&reference.elem, reference.mutability.is_some())
            }
            syn::Type::Path(path) => path
                .path
                .get_ident()
                .and_then(|ident| Scalar::from_name(&ident.to_string()))
                .map(ParamKind::Scalar),
            _ => None,
        };
        if kind.is_none() {
            let span = self.span(ty);
            let text = self.diagnostics.spans.get(span).text.clone();
            let mut error = Diagnostic::new(Code::Parameter, span, format!("a kernel cannot take a parameter of type `{text}`"))
                .note(format!("a tensor is a reference to `Tensor<T, RANK>` with RANK from 1 to {MOST_DIMENSIONS}, or to `Matrix<T>`; a value is a number, bool, usize or isize"));
            error = match ty {
                syn::Type::Path(path)
                    if path.path.segments.iter().any(|s| s.ident == "Tensor" || s.ident == "Matrix") =>
                {
                    error.help(format!(
                        "take it by reference: `&{text}` to read it, `&mut {text}` to write it"
                    ))
                }
                syn::Type::Reference(reference) if has_refused_element(&reference.elem) => error
                    .note("an element is i8 to i64, u8 to u64, f16, bf16, f32 or f64, by that name")
                    .help("write one of them: `u32` or `u64` for `usize`, `i32` or `i64` for `isize`, `u8` for `bool`"),
                syn::Type::Reference(reference) if matches!(peeled(&reference.elem), syn::Type::Slice(_)) => error
                    .help("write `&Tensor<f32, 1>` to read it, `&mut Tensor<f32, 1>` to write it: a tensor knows its length"),
                _ => {
                    if let Some(foreign) = foreign::of_type(ty) {
                        error = error.note(foreign.what);
                    }
                    error.help("write `input: &Matrix<f32>` or `output: &mut Tensor<f32, 3>`")
                }
            };
            self.diagnostics.report(error);
        }
        kind
    }

    fn tensor_kind(&mut self, ty: &syn::Type, mutable: bool) -> Option<ParamKind> {
        let syn::Type::Path(path) = peeled(ty) else { return None };
        let segment = path.path.segments.last()?;
        let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
        let mut arguments = arguments.args.iter();
        let syn::GenericArgument::Type(element) = arguments.next()? else { return None };
        let element = element_type(element)?;
        let rank = match (segment.ident.to_string().as_str(), arguments.next()) {
            ("Matrix", None) => 2,
            ("Tensor", Some(syn::GenericArgument::Const(rank))) => u32::try_from(literal(rank)?).ok()?,
            _ => return None,
        };
        ((1..=MOST_DIMENSIONS).contains(&rank) && arguments.next().is_none()).then_some(ParamKind::Tensor {
            element,
            rank,
            mutable,
        })
    }

    /// Block, grid and contract.
    fn launch(&mut self, ast: &ast::Kernel) {
        let [x, _, z] = MAX_BLOCK;
        for (place, extent) in ast.block.iter().take(3).enumerate() {
            let Some(value) = self.constant(extent, "an extent of `block`") else { continue };
            let span = self.span(extent);
            match u32::try_from(value) {
                Ok(value) if value >= 1 && value <= MAX_BLOCK[place] => self.kernel.block[place] = value,
                _ => self.diagnostics.report(
                    Diagnostic::new(
                        Code::BlockSize,
                        span,
                        format!("a block cannot have {value} threads along {}", ["x", "y", "z"][place]),
                    )
                    .note(format!(
                        "it has at least 1, at most {x} along x and y, at most {z} along z, and at most {MAX_THREADS_PER_BLOCK} in all"
                    )),
                ),
            }
        }
        let threads: u64 = self.kernel.block.iter().map(|extent| u64::from(*extent)).product();
        if threads > u64::from(MAX_THREADS_PER_BLOCK) {
            let span = self.kernel.span;
            self.diagnostics.report(
                Diagnostic::new(
                    Code::BlockSize,
                    span,
                    format!("a block of {threads} threads, and a GPU takes at most {MAX_THREADS_PER_BLOCK}"),
                )
                .help("make the block smaller and let each thread do more elements in a loop"),
            );
        }
        if let Some(expr) = &ast.min_blocks
            && let Some(value) = self.constant(expr, "`min_blocks`")
        {
            let span = self.span(expr);
            match u32::try_from(value) {
                Ok(value @ 1..=MOST_BLOCKS) => self.kernel.min_blocks = Some(value),
                _ => self.diagnostics.report(
                    Diagnostic::new(
                        Code::Attribute,
                        span,
                        format!("a multiprocessor cannot hold {value} blocks: 1 to {MOST_BLOCKS}"),
                    )
                    .help("remove `min_blocks`, unless registers keep blocks from being resident"),
                ),
            }
        }
        for (place, extent) in ast.grid.iter().take(3).enumerate() {
            let usize_term = self.terms.known(Scalar::Usize);
            if let Some(value) = self.host_value(extent, usize_term) {
                self.kernel.grid[place] = value;
            }
        }
        for condition in &ast.requires {
            let bool_term = self.terms.known(Scalar::Bool);
            if let Some(value) = self.host_value(condition, bool_term) {
                let span = self.span(condition);
                self.kernel.requires.push(Contract { condition: value, span });
            }
        }
    }

    /// An expression that the launcher evaluates: it may name extents, strides, scalar arguments and constants.
    fn host_value(&mut self, expr: &syn::Expr, expected: Term) -> Option<Handle<Expr>> {
        let mut value = None;
        let statements = self.in_block(|lower| value = lower.value_of(expr, expected));
        let value = value?;
        let span = self.span(expr);
        let device = !statements.is_empty()
            || self.any_node(value, &|kind| {
                matches!(
                    kind,
                    ExprKind::Thread(_)
                        | ExprKind::Block(_)
                        | ExprKind::Grid(_)
                        | ExprKind::Float(_)
                        | ExprKind::Call(..)
                )
            });
        if device {
            self.diagnostics.report(
                Diagnostic::new(Code::Attribute, span, "the launcher cannot evaluate this expression")
                    .note("`grid` and `requires` are evaluated on the host, before any thread or element exists")
                    .help("use extents (`input.rows()`), strides (`input.pitch()`), scalar arguments and integer constants"),
            );
            return None;
        }
        Some(value)
    }

    fn any_node(&self, root: Handle<Expr>, test: &dyn Fn(&ExprKind) -> bool) -> bool {
        let kind = &self.kernel.exprs[root].kind;
        test(kind) || kind.operands().into_iter().any(|operand| self.any_node(operand, test))
    }

    /// A budget in a helper function is one, however often that is called.
    fn add_budget(&mut self, budget: &ast::Budget) -> Handle<Budget> {
        if !self.calls.is_empty() {
            let place = |span| {
                let start = self.diagnostics.spans.get(span).start.start();
                (start.line, start.column)
            };
            let own = place(budget.span);
            let same = self.kernel.budgets.iter().find(|(_, other)| place(other.span) == own);
            if let Some((handle, _)) = same {
                return handle;
            }
        }
        self.kernel.budgets.add(Budget {
            bank_conflict: budget.bank_conflict,
            excess_sectors: budget.excess_sectors,
            because: budget.because.clone(),
            span: budget.span,
        })
    }

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

/// Whether this is a tensor, but for its elements.
fn has_refused_element(ty: &syn::Type) -> bool {
    let syn::Type::Path(path) = peeled(ty) else { return false };
    path.path.segments.last().is_some_and(|segment| {
        (segment.ident == "Tensor" || segment.ident == "Matrix")
            && matches!(
                &segment.arguments,
                syn::PathArguments::AngleBracketed(arguments) if matches!(
                    arguments.args.first(),
                    Some(syn::GenericArgument::Type(element)) if element_type(element).is_none()
                )
            )
    })
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
