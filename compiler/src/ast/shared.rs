//! What a kernel uses of the items around it: constants, type aliases and helper functions of its module.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::Scalar;
use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashSet;
use syn::{Ident, Item};

/// The name of an item that kernels can see; `None` for others, which are rustc's alone.
pub(super) fn name(item: &Item) -> Option<&Ident> {
    match item {
        Item::Const(item) if item.ident != "_" => Some(&item.ident),
        Item::Type(item) => Some(&item.ident),
        Item::Fn(item) => Some(&item.sig.ident),
        _ => None,
    }
}

/// Reports an alias that hides a type of the kernel language: what is written with it could not be told from the language.
pub fn check_alias(alias: &syn::ItemType, diagnostics: &mut Diagnostics) {
    let name = alias.ident.to_string();
    if crate::emit::TYPES.contains(&name.as_str()) || Scalar::from_name(&name).is_some() {
        let span = diagnostics.spans.add(&alias.ident);
        diagnostics.report(
            Diagnostic::new(Code::Name, span, format!("`{name}` is a type of the kernel language"))
                .note("in a kernel it means what `tileproof::prelude` says")
                .help("give the alias another name"),
        );
    }
}

/// The items that tokens name, and those that these name in turn, each after what it names.
pub(super) fn used(items: &[Item], tokens: TokenStream) -> Vec<Item> {
    let mut seen = HashSet::new();
    let mut order = Vec::new();
    follow(items, tokens, &mut seen, &mut order);
    order.into_iter().map(|place| items[place].clone()).collect()
}

fn follow(items: &[Item], tokens: TokenStream, seen: &mut HashSet<usize>, order: &mut Vec<usize>) {
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                let named = |item| name(item).is_some_and(|name| *name == ident);
                if let Some(place) = items.iter().position(named)
                    && seen.insert(place)
                {
                    follow(items, items[place].to_token_stream(), seen, order);
                    order.push(place);
                }
            }
            TokenTree::Group(group) => follow(items, group.stream(), seen, order),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}
