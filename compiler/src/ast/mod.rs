//! Tokens → a kernel as written: the attribute's arguments, the function's parameters, its body, and what it uses of its
//! module.

mod alias;
mod attribute;
mod budget;
mod function;
mod module;
mod shared;

pub use budget::{Budget, take_budget};
pub use module::{Module, Part, Scope, parse as parse_module};
pub use shared::check_alias;

use crate::diagnostic::Diagnostics;
use alias::Aliases;
use proc_macro2::TokenStream;
use quote::quote;
use syn::visit_mut::VisitMut;

/// A kernel as written.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The function as rustc shall see it, its budget attributes taken off.
    pub written: syn::ItemFn,
    /// The same with type aliases replaced by what they stand for.
    pub function: syn::ItemFn,
    /// The tokens of a body that did not parse; the function's is empty then.
    pub unread: Option<TokenStream>,
    /// What it was read from.
    pub source: Source,
    /// The constants and functions around it that it uses, each after what it uses itself; aliases replaced.
    pub shared: Vec<syn::Item>,
    /// The parameters that could be read.
    pub params: Vec<Param>,
    /// `block = […]`.
    pub block: Vec<syn::Expr>,
    /// `grid = […]`.
    pub grid: Vec<syn::Expr>,
    /// `requires(…)`.
    pub requires: Vec<syn::Expr>,
    /// A budget for the whole kernel.
    pub budget: Option<Budget>,
    /// Where the runtime crate is: `crate = path`, by default `::tileproof`.
    pub crate_path: syn::Path,
}

/// The tokens that a kernel can be read from again.
#[derive(Clone, Debug)]
pub struct Source {
    /// The attribute's arguments.
    pub attribute: TokenStream,
    /// The function, without documentation.
    pub item: syn::ItemFn,
    /// The items around it that it uses.
    pub shared: Vec<syn::Item>,
}

/// A parameter as written.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: syn::Ident,
    /// Its type.
    pub ty: syn::Type,
}

/// Reads an attribute and its item, with what is around it. `None` only where the item is no function, after reporting it.
pub fn parse(
    attribute: TokenStream,
    item: TokenStream,
    scope: &Scope,
    diagnostics: &mut Diagnostics,
) -> Option<Kernel> {
    let mut arguments = attribute::parse(attribute.clone(), &scope.crate_path, diagnostics);
    let (mut written, unread) = function::parse(item, diagnostics)?;
    let mut source = written.clone();
    source.attrs.retain(|attribute| attribute.path().is_ident("budget"));
    let budget = budget::take_budget(&mut written.attrs, diagnostics);
    if arguments.complete {
        attribute::demand(&arguments, &written, diagnostics);
    }
    let used = shared::used(&scope.items, quote!(#attribute #written));
    let (mut aliases, mut shared) = (Aliases::default(), Vec::new());
    for item in &used {
        if let syn::Item::Type(alias) = item {
            aliases.add(alias);
        } else {
            let mut item = item.clone();
            aliases.visit_item_mut(&mut item);
            shared.push(item);
        }
    }
    let mut function = written.clone();
    aliases.visit_item_fn_mut(&mut function);
    for expr in arguments.block.iter_mut().chain(&mut arguments.grid).chain(&mut arguments.requires) {
        aliases.visit_expr_mut(expr);
    }
    let params = function::params(&function.sig, diagnostics);
    let attribute::Arguments { block, grid, requires, crate_path, .. } = arguments;
    let source = Source { attribute, item: source, shared: used };
    Some(Kernel {
        written,
        function,
        unread,
        source,
        shared,
        params,
        block,
        grid,
        requires,
        budget,
        crate_path,
    })
}
