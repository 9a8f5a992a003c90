//! The function's body as rustc shall see it: type-checked, never run.
//!
//! It becomes a closure in a constant, so that hover, completion and type errors work on the user's own tokens. Three
//! things are rewritten: the vocabulary to absolute paths, but for words that the kernel or its module
//! [declares](super::declared) itself (a `thread_x` of the crate around must not be typed as hers and emitted as ours),
//! assignments to elements so that value and indices are evaluated before the place is borrowed, and budgets and trusts,
//! which mean nothing to rustc, away.

use super::declared::Declared;
use crate::ast::{self, Kernel};
use crate::lower::{Function, TileMethod, is_compound, lift_attributes, unqualified};
use proc_macro2::{Span, TokenStream};
use quote::quote;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Attribute, Expr, Ident, Path, Stmt, Type};

/// Types of the prelude.
pub(crate) const TYPES: [&str; 11] =
    ["Tensor", "Matrix", "Shared", "Vector", "RowMajor", "Pad", "Xor", "Swizzle", "Auto", "f16", "bf16"];

/// The constant that holds the body. `deferred` are panics that fire only if rustc accepts it: each is in a constant of
/// its own that cannot be evaluated where the body's has an error.
pub(super) fn kept(kernel: &Kernel, deferred: Vec<TokenStream>) -> TokenStream {
    let mut rewrite = Rewrite::new(&kernel.crate_path, &kernel.source.shared);
    let mut generics = kernel.generics.clone();
    generics.iter_mut().for_each(|item| rewrite.visit_item_mut(item));
    let block = [kernel.block.as_slice(), kernel.min_blocks.as_slice()].concat();
    let block = rewritten(&mut rewrite, &block);
    rewrite.parameters(&kernel.written.sig.inputs);
    let mut body = kernel.written.block.clone();
    rewrite.visit_block_mut(&mut body);
    let mut inputs: Vec<syn::FnArg> = kernel.written.sig.inputs.iter().cloned().collect();
    inputs.retain(|input| matches!(input, syn::FnArg::Typed(_)));
    for input in &mut inputs {
        rewrite.visit_fn_arg_mut(input);
        if let syn::FnArg::Typed(input) = input {
            input.attrs.clear();
        }
    }
    let grid = rewritten(&mut rewrite, &kernel.grid);
    let requires = rewritten(&mut rewrite, &kernel.requires);
    let count = grid.len();
    let prelude = rewrite.prelude;
    let levels = ["allow", "warn", "deny", "forbid", "expect"];
    let allowed = allowed();
    let lints = kernel.written.attrs.iter().filter(|a| levels.iter().any(|level| a.path().is_ident(level)));
    quote! {
        #(#lints)*
        #allowed
        const _: () = {
            #(#[allow(dead_code, non_camel_case_types, non_upper_case_globals)] #generics)*
            // What it uses is used.
            #[allow(dead_code)]
            const __TILEPROOF_BODY: () = {
                #[allow(unused_imports)]
                use #prelude::prelude::{FloatExt as _, HalfExt as _, WholeTile as _};
                let _ = (#(#block,)*);
                let _ = |#(#inputs),*| {
                    let _: [usize; #count] = [#(#grid),*];
                    #(let _: bool = #requires;)*
                    #body
                };
            };
            #(const _: () = {
                __TILEPROOF_BODY;
                #deferred
            };)*
        };
    }
}

/// Lints that are about code for a CPU.
fn allowed() -> TokenStream {
    quote! {
        #[allow(
            unstable_name_collisions,
            clippy::needless_range_loop,
            clippy::let_unit_value,
            clippy::unused_unit,
            clippy::too_many_arguments,
            clippy::manual_memcpy,
            clippy::identity_op,
            clippy::erasing_op,
            clippy::modulo_one,
            clippy::needless_borrow,
            clippy::borrow_deref_ref
        )]
    }
}

/// An item of a module that kernels use: type-checked as the kernels' bodies are, and no more run.
pub(super) fn shared(item: &syn::Item, scope: &ast::Scope) -> TokenStream {
    let (mut item, mut rewrite) = (item.clone(), Rewrite::new(&scope.crate_path, &scope.items));
    rewrite.visit_item_mut(&mut item);
    let allowed = matches!(item, syn::Item::Fn(_)).then(allowed);
    quote!(#allowed #item)
}

/// A type with the vocabulary's names in absolute paths.
pub(super) fn absolute(ty: &Type, prelude: &Path) -> TokenStream {
    let mut ty = ty.clone();
    Rewrite::new(prelude, &[]).visit_type_mut(&mut ty);
    quote!(#ty)
}

fn rewritten(rewrite: &mut Rewrite<'_>, list: &[Expr]) -> Vec<Expr> {
    let mut list = list.to_vec();
    for expr in &mut list {
        rewrite.visit_expr_mut(expr);
    }
    list
}

struct Rewrite<'a> {
    prelude: &'a Path,
    declared: Declared,
}

impl<'a> Rewrite<'a> {
    fn new(prelude: &'a Path, around: &[syn::Item]) -> Rewrite<'a> {
        let mut declared = Declared::default();
        declared.items(around);
        Rewrite { prelude, declared }
    }
}

impl Rewrite<'_> {
    fn parameters<'i>(&mut self, inputs: impl IntoIterator<Item = &'i syn::FnArg>) {
        for input in inputs {
            if let syn::FnArg::Typed(input) = input {
                self.declared.pattern(&input.pat);
            }
        }
    }

    /// The items inside a function see no variables around it.
    fn in_item(&mut self, visit: impl FnOnce(&mut Self)) {
        let outer = self.declared.enter_item();
        visit(self);
        self.declared = outer;
    }

    /// What is declared meanwhile is not known behind it.
    fn in_scope(&mut self, visit: impl FnOnce(&mut Self)) {
        let mark = self.declared.enter();
        visit(self);
        self.declared.leave(mark);
    }

    /// Whether a type of this name is the prelude's.
    fn is_type(&self, name: &str) -> bool {
        TYPES.contains(&name) && !self.declared.hides_type(name)
    }

    /// Makes a path absolute if it begins with a name of the prelude.
    fn absolute(&self, path: &mut Path, is_name: impl Fn(&str) -> bool) {
        let Some(first) = path.segments.first() else { return };
        if path.leading_colon.is_some() || !is_name(&first.ident.to_string()) {
            return;
        }
        // Where rustc refuses the type or call, it shows the user's word, not the attribute.
        let here = first.ident.span();
        let mut absolute = self.prelude.clone();
        for segment in &mut absolute.segments {
            segment.ident.set_span(segment.ident.span().located_at(here));
        }
        if let Some(colon) = &mut absolute.leading_colon {
            colon.spans = colon.spans.map(|span| span.located_at(here));
        }
        absolute.segments.push(Ident::new("prelude", Span::call_site().located_at(here)).into());
        absolute.segments.extend(std::mem::take(&mut path.segments));
        *path = absolute;
    }
}

impl VisitMut for Rewrite<'_> {
    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        let mark = self.declared.enter();
        self.declared.items(block.stmts.iter().filter_map(|stmt| match stmt {
            Stmt::Item(item) => Some(item),
            Stmt::Local(_) | Stmt::Expr(..) | Stmt::Macro(_) => None,
        }));
        for stmt in &mut block.stmts {
            // Inner blocks first: what an assignment becomes is a block with an assignment.
            self.visit_stmt_mut(stmt);
            match stmt {
                Stmt::Local(local) => strip(&mut local.attrs),
                Stmt::Expr(expr, _) => {
                    let mut attributes = Vec::new();
                    lift_attributes(expr, &mut attributes);
                    strip(&mut attributes);
                    if let Some(assignment) = self.assignment(expr) {
                        *expr = assignment;
                    }
                }
                Stmt::Item(_) | Stmt::Macro(_) => {}
            }
        }
        self.declared.leave(mark);
    }

    /// A variable is known behind its declaration.
    fn visit_local_mut(&mut self, local: &mut syn::Local) {
        if let Some(init) = &mut local.init {
            self.visit_local_init_mut(init);
        }
        self.visit_pat_mut(&mut local.pat);
        self.declared.pattern(&local.pat);
    }

    fn visit_item_fn_mut(&mut self, function: &mut syn::ItemFn) {
        strip(&mut function.attrs);
        self.in_item(|rewrite| {
            rewrite.declared.generics(&function.sig.generics);
            rewrite.visit_signature_mut(&mut function.sig);
            rewrite.parameters(&function.sig.inputs);
            rewrite.visit_block_mut(&mut function.block);
        });
    }

    fn visit_item_const_mut(&mut self, item: &mut syn::ItemConst) {
        self.in_item(|rewrite| visit_mut::visit_item_const_mut(rewrite, item));
    }

    fn visit_expr_closure_mut(&mut self, closure: &mut syn::ExprClosure) {
        self.in_scope(|rewrite| {
            closure.inputs.iter().for_each(|pattern| rewrite.declared.pattern(pattern));
            visit_mut::visit_expr_closure_mut(rewrite, closure);
        });
    }

    fn visit_arm_mut(&mut self, arm: &mut syn::Arm) {
        self.in_scope(|rewrite| {
            rewrite.declared.pattern(&arm.pat);
            visit_mut::visit_arm_mut(rewrite, arm);
        });
    }

    fn visit_expr_for_loop_mut(&mut self, head: &mut syn::ExprForLoop) {
        self.visit_expr_mut(&mut head.expr);
        self.in_scope(|rewrite| {
            rewrite.declared.pattern(&head.pat);
            rewrite.visit_pat_mut(&mut head.pat);
            rewrite.visit_block_mut(&mut head.body);
        });
    }

    fn visit_expr_let_mut(&mut self, condition: &mut syn::ExprLet) {
        self.visit_expr_mut(&mut condition.expr);
        self.visit_pat_mut(&mut condition.pat);
        self.declared.pattern(&condition.pat);
    }

    fn visit_expr_if_mut(&mut self, branch: &mut syn::ExprIf) {
        self.in_scope(|rewrite| {
            rewrite.visit_expr_mut(&mut branch.cond);
            rewrite.visit_block_mut(&mut branch.then_branch);
        });
        if let Some((_, otherwise)) = &mut branch.else_branch {
            self.visit_expr_mut(otherwise);
        }
    }

    fn visit_expr_while_mut(&mut self, head: &mut syn::ExprWhile) {
        self.in_scope(|rewrite| visit_mut::visit_expr_while_mut(rewrite, head));
    }

    /// `a?` is an error of ours; rustc's would speak of the closure that it does not see.
    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        if let Expr::Try(inner) = expr {
            let operand = &inner.expr;
            if let Ok(instead) = syn::parse2(quote!(match #operand { _ => ::core::unreachable!() })) {
                *expr = instead;
            }
        }
    }

    fn visit_expr_call_mut(&mut self, call: &mut syn::ExprCall) {
        if let Expr::Path(callee) = &mut *call.func {
            if let Some(own) = unqualified(&callee.path, self.prelude) {
                callee.path.segments = own.segments;
                callee.path.leading_colon = None;
                self.absolute(&mut callee.path, |name| Function::named(name).is_some());
            } else if callee.path.segments.len() == 1 {
                self.absolute(&mut callee.path, |name| {
                    Function::named(name).is_some() && !self.declared.hides(name)
                });
            }
        }
        visit_mut::visit_expr_call_mut(self, call);
    }

    /// A whole-tile operation without a width moves single elements; a tensor is a reference already.
    fn visit_expr_method_call_mut(&mut self, call: &mut syn::ExprMethodCall) {
        if TileMethod::named(&call.method.to_string()).is_some() {
            if call.turbofish.is_none() {
                call.turbofish = syn::parse2(quote!(::<1>)).ok();
            }
            if let Some(Expr::Reference(tensor)) = call.args.first_mut()
                && tensor.mutability.is_some()
            {
                let inner = &tensor.expr;
                let inner = syn::parse2(quote!(*#inner));
                inner.into_iter().for_each(|inner| *tensor.expr = inner);
            }
        }
        visit_mut::visit_expr_method_call_mut(self, call);
    }

    fn visit_expr_path_mut(&mut self, path: &mut syn::ExprPath) {
        visit_mut::visit_expr_path_mut(self, path);
        if path.path.segments.len() > 1 {
            self.absolute(&mut path.path, |name| self.is_type(name));
        }
    }

    fn visit_type_mut(&mut self, ty: &mut Type) {
        visit_mut::visit_type_mut(self, ty);
        if let Type::Path(path) = ty {
            self.absolute(&mut path.path, |name| self.is_type(name));
        }
    }
}

impl Rewrite<'_> {
    /// `place[i][j] = value` → `{ let value = …; let i = …; let j = …; place[i][j] = value }`.
    fn assignment(&self, expr: &Expr) -> Option<Expr> {
        let (left, right, op) = if let Expr::Assign(assign) = expr {
            (&*assign.left, &*assign.right, quote!(=))
        } else if let Expr::Binary(binary) = expr
            && is_compound(&binary.op)
        {
            let op = &binary.op;
            (&*binary.left, &*binary.right, quote!(#op))
        } else {
            return None;
        };
        let Expr::Index(_) = left else { return None };
        let value = variable("value", right);
        let mut place = left.clone();
        let mut indices = Vec::new();
        hoist(&mut place, &mut indices);
        // Outermost index first in the source, innermost call first here.
        let lets = indices.iter().map(|(name, index)| quote!(let #name = #index;));
        syn::parse2(quote!({ let #value = #right; #(#lets)* #place #op #value; })).ok()
    }
}

/// A variable that no token of the user names. Its place in the source is that of what it holds: that is where rustc
/// says that the type does not fit.
fn variable(name: &str, holds: &Expr) -> Ident {
    Ident::new(name, Span::mixed_site().located_at(holds.span()))
}

/// Replaces the indices of a place by variables.
fn hoist(place: &mut Expr, indices: &mut Vec<(Ident, Expr)>) {
    if let Expr::Index(index) = place {
        hoist(&mut index.expr, indices);
        if !matches!(&*index.index, Expr::Lit(_)) {
            let name = variable(&format!("index{}", indices.len()), &index.index);
            let path =
                Expr::Path(syn::ExprPath { attrs: Vec::new(), qself: None, path: name.clone().into() });
            indices.push((name, std::mem::replace(&mut *index.index, path)));
        }
    }
}

/// Takes away what means something to the compiler only.
fn strip(attributes: &mut Vec<Attribute>) {
    let own = ["budget", "trust", "unroll", "no_unroll"];
    attributes.retain(|attribute| !own.iter().any(|name| attribute.path().is_ident(name)));
}
