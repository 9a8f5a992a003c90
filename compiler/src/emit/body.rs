//! The function's body as rustc shall see it: type-checked, never run.
//!
//! It becomes a closure in a constant, so that hover, completion and type errors work on the user's own tokens. Three
//! things are rewritten: the vocabulary to absolute paths (a user's own `thread_x` must not be typed as hers and emitted as
//! ours), assignments to elements so that value and indices are evaluated before the place is borrowed, and budgets, which
//! mean nothing to rustc, away.

use crate::ast::Kernel;
use crate::lower::{Function, TileMethod, is_compound, lift_attributes};
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
    let mut rewrite = Rewrite { prelude: &kernel.crate_path };
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
    let mut generics = kernel.generics.clone();
    generics.iter_mut().for_each(|item| rewrite.visit_item_mut(item));
    let block = [kernel.block.as_slice(), kernel.min_blocks.as_slice()].concat();
    let block = rewritten(&mut rewrite, &block);
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
pub(super) fn shared(item: &syn::Item, prelude: &Path) -> TokenStream {
    let (mut item, mut rewrite) = (item.clone(), Rewrite { prelude });
    rewrite.visit_item_mut(&mut item);
    let allowed = matches!(item, syn::Item::Fn(_)).then(allowed);
    quote!(#allowed #item)
}

/// A type with the vocabulary's names in absolute paths.
pub(super) fn absolute(ty: &Type, prelude: &Path) -> TokenStream {
    let mut ty = ty.clone();
    Rewrite { prelude }.visit_type_mut(&mut ty);
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
}

impl Rewrite<'_> {
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
        // Inner blocks first: what an assignment becomes is a block with an assignment.
        visit_mut::visit_block_mut(self, block);
        for stmt in &mut block.stmts {
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
        if let Expr::Path(callee) = &mut *call.func
            && callee.path.segments.len() == 1
        {
            self.absolute(&mut callee.path, |name| Function::named(name).is_some());
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
            self.absolute(&mut path.path, |name| TYPES.contains(&name));
        }
    }

    fn visit_type_mut(&mut self, ty: &mut Type) {
        visit_mut::visit_type_mut(self, ty);
        if let Type::Path(path) = ty {
            self.absolute(&mut path.path, |name| TYPES.contains(&name));
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
    let own = ["budget", "unroll", "no_unroll"];
    attributes.retain(|attribute| !own.iter().any(|name| attribute.path().is_ident(name)));
}
