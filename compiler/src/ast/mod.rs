//! Tokens → a kernel as written: the attribute's arguments, the function's parameters, its body, and what it uses of its
//! module.

mod alias;
mod attribute;
mod budget;
mod depth;
mod function;
mod instances;
mod module;
mod responsibility;
mod shared;
mod trust;

pub use budget::{Budget, take_budget};
pub use depth::is_shallow;
pub use instances::{Argument, Generic, Instance, Parameter, ParameterKind};
use module::to_end_of_item;
pub use module::{Module, Part, Scope, parse as parse_module};
pub use shared::check_alias;
pub use trust::{Trust, take_trusts};

use crate::diagnostic::Diagnostics;
use alias::Aliases;
use attribute::Arguments;
use proc_macro2::TokenStream;
use quote::quote;
use syn::visit_mut::VisitMut;
use tileproof_model::limits::Architecture;

/// A kernel as written.
#[derive(Clone, Debug)]
pub struct Kernel {
    /// The function as rustc shall see it, its attributes of responsibility taken off.
    pub written: syn::ItemFn,
    /// The same with type aliases replaced by what they stand for.
    pub function: syn::ItemFn,
    /// Whether it did not parse, and only parts of it are here.
    pub broken: bool,
    /// What it was read from.
    pub source: Source,
    /// The constants and functions around it that it uses, each after what it uses itself; aliases replaced.
    pub shared: Vec<syn::Item>,
    /// What makes it an instance of a generic kernel, as written: `type T = f32;`, `const V: usize = 4;`. Part of what is
    /// around it.
    pub generics: Vec<syn::Item>,
    /// The parameters that could be read.
    pub params: Vec<Param>,
    /// `block = […]`.
    pub block: Vec<syn::Expr>,
    /// `grid = […]`.
    pub grid: Vec<syn::Expr>,
    /// `requires(…)`.
    pub requires: Vec<syn::Expr>,
    /// `covers(…)`: names of arguments.
    pub covers: Vec<syn::Ident>,
    /// `min_blocks = n`.
    pub min_blocks: Option<syn::Expr>,
    /// `arch = …`; none if the kernel does not say.
    pub architectures: Vec<Architecture>,
    /// A budget for the whole kernel.
    pub budget: Option<Budget>,
    /// Trusts for the whole kernel.
    pub trusts: Vec<Trust>,
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

/// What one function under `#[tiled_kernel]` is: a kernel, or several of one text.
#[derive(Clone, Debug)]
pub struct Family {
    /// The kernels: one, or one an instance.
    pub kernels: Vec<Kernel>,
    /// What they are instances of.
    pub generic: Option<Generic>,
}

/// Reads an attribute and its item, with what is around it. `None` only where the item is no function, after reporting it.
pub fn parse(
    attribute: TokenStream,
    item: TokenStream,
    scope: &Scope,
    diagnostics: &mut Diagnostics,
) -> Option<Family> {
    let (attribute, shortened) = depth::bounded(attribute, diagnostics);
    let (item, emptied) = depth::bounded(item, diagnostics);
    let mut arguments = attribute::parse(attribute.clone(), &scope.crate_path, diagnostics);
    arguments.complete &= !shortened;
    let (mut function, broken) = function::parse(item, diagnostics)?;
    let broken = broken || emptied;
    let mut source = function.clone();
    source.attrs.retain(|attribute| ["budget", "trust"].iter().any(|name| attribute.path().is_ident(name)));
    let budget = take_budget(&mut function.attrs, diagnostics);
    arguments.trusts.extend(take_trusts(&mut function.attrs, diagnostics));
    if arguments.complete {
        attribute::demand(&arguments, &function, diagnostics);
    }
    let generic = instances::generic(&function, &arguments, scope, diagnostics);
    if generic.is_none() {
        function::params(&function.sig, diagnostics);
    }
    let attribute = attribute::without_instances(attribute);
    let read = Read { attribute, arguments, budget, broken };
    let kernels = match &generic {
        None => vec![kernel(&read, function, source, &scope.items, Vec::new())],
        Some(generic) => {
            let instance = |instance| {
                let mut source = source.clone();
                let function = generic.concrete(instance);
                source.sig = function.sig.clone();
                let generics = generic.items(instance);
                let items: Vec<syn::Item> = generics.iter().chain(&scope.items).cloned().collect();
                kernel(&read, function, source, &items, generics)
            };
            generic.instances.iter().map(instance).collect()
        }
    };
    Some(Family { kernels, generic })
}

/// What all instances have in common.
struct Read {
    attribute: TokenStream,
    arguments: attribute::Arguments,
    budget: Option<Budget>,
    broken: bool,
}

fn kernel(
    read: &Read,
    written: syn::ItemFn,
    source: syn::ItemFn,
    items: &[syn::Item],
    generics: Vec<syn::Item>,
) -> Kernel {
    let attribute = &read.attribute;
    let used = shared::used(items, quote!(#attribute #written));
    let mut aliases = Aliases::of(&used);
    let mut shared: Vec<syn::Item> =
        used.iter().filter(|item| !matches!(item, syn::Item::Type(_))).cloned().collect();
    shared.iter_mut().for_each(|item| aliases.visit_item_mut(item));
    let mut function = written.clone();
    aliases.visit_item_fn_mut(&mut function);
    let mut list = |list: &[syn::Expr]| {
        let mut list = list.to_vec();
        list.iter_mut().for_each(|expr| aliases.visit_expr_mut(expr));
        list
    };
    let Arguments { block, grid, requires, covers, min_blocks, architectures, trusts, crate_path, .. } =
        &read.arguments;
    let (block, grid, requires) = (list(block), list(grid), list(requires));
    Kernel {
        params: function::params(&function.sig, &mut Diagnostics::default()),
        written,
        function,
        broken: read.broken,
        source: Source { attribute: attribute.clone(), item: source, shared: used },
        shared,
        generics,
        block,
        grid,
        requires,
        covers: covers.clone(),
        min_blocks: min_blocks.clone(),
        architectures: architectures.clone(),
        budget: read.budget.clone(),
        trusts: trusts.clone(),
        crate_path: crate_path.clone(),
    }
}
