//! Tokens → a kernel as written: the attribute's arguments, the function's parameters, and its body.

mod attribute;
mod budget;
mod function;

pub use budget::{Budget, take_budget};

use crate::diagnostic::Diagnostics;
use proc_macro2::TokenStream;

/// A kernel as written.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The function, its budget attributes taken off.
    pub function: syn::ItemFn,
    /// The tokens of a body that did not parse; the function's is empty then.
    pub unread: Option<TokenStream>,
    /// The function as it was read, without documentation.
    pub source: syn::ItemFn,
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

/// A parameter as written.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: syn::Ident,
    /// Its type.
    pub ty: syn::Type,
}

/// Reads an attribute and its item. `None` only where the item is no function, after reporting it.
pub fn parse(attribute: TokenStream, item: TokenStream, diagnostics: &mut Diagnostics) -> Option<Kernel> {
    let arguments = attribute::parse(attribute, diagnostics);
    let (mut function, unread) = function::parse(item, diagnostics)?;
    let mut source = function.clone();
    source.attrs.retain(|attribute| attribute.path().is_ident("budget"));
    let params = function::params(&function.sig, diagnostics);
    let budget = budget::take_budget(&mut function.attrs, diagnostics);
    if arguments.complete {
        attribute::demand(&arguments, &function, diagnostics);
    }
    let attribute::Arguments { block, grid, requires, crate_path, .. } = arguments;
    Some(Kernel { function, unread, source, params, block, grid, requires, budget, crate_path })
}
