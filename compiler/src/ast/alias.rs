//! Type aliases: a name is replaced by what it stands for before anything is lowered.
//!
//! Lowering reads types by their names, so that it sees through an alias only if it is gone. What replaces a name takes
//! the place of the name in the source: that is where an error about it is shown. rustc is given the alias as written.

use proc_macro2::{Group, Span, TokenStream, TokenTree};
use quote::ToTokens;
use std::collections::HashMap;
use syn::visit_mut::{self, VisitMut};
use syn::{Expr, GenericArgument, GenericParam, Path, PathArguments, Type};

/// What names of types stand for; their definitions contain no aliases themselves.
#[derive(Clone, Debug, Default)]
pub(super) struct Aliases {
    types: HashMap<String, syn::ItemType>,
    /// Constants that stand for what an alias's own parameter is.
    constants: HashMap<String, Expr>,
}

impl Aliases {
    /// The aliases among these items, of which each comes after those that it uses.
    pub(super) fn of(items: &[syn::Item]) -> Aliases {
        let mut aliases = Aliases::default();
        for item in items {
            if let syn::Item::Type(item) = item {
                let mut item = item.clone();
                aliases.visit_type_mut(&mut item.ty);
                aliases.types.insert(item.ident.to_string(), item);
            }
        }
        aliases
    }

    /// What a path that begins with an alias stands for.
    fn meaning(&self, path: &Path) -> Option<Type> {
        let segment = path.segments.first().filter(|_| path.leading_colon.is_none())?;
        let alias = self.types.get(&segment.ident.to_string())?;
        let given = match &segment.arguments {
            PathArguments::AngleBracketed(arguments) => Some(arguments.args.iter()),
            PathArguments::None | PathArguments::Parenthesized(_) => None,
        };
        let mut given = given.into_iter().flatten();
        let mut inner = Aliases::default();
        for param in &alias.generics.params {
            match (param, given.next()) {
                (GenericParam::Type(param), Some(GenericArgument::Type(ty))) => {
                    let name = &param.ident;
                    inner.types.insert(name.to_string(), syn::parse_quote!(type #name = #ty;));
                }
                (GenericParam::Const(param), Some(GenericArgument::Const(value))) => {
                    inner.constants.insert(param.ident.to_string(), value.clone());
                }
                // A constant by its name alone looks like a type.
                (GenericParam::Const(param), Some(GenericArgument::Type(Type::Path(value)))) => {
                    let value = syn::ExprPath { attrs: Vec::new(), qself: None, path: value.path.clone() };
                    inner.constants.insert(param.ident.to_string(), Expr::Path(value));
                }
                // rustc says what is wrong.
                _ => {}
            }
        }
        let mut ty = (*alias.ty).clone();
        inner.visit_type_mut(&mut ty);
        syn::parse2(at(ty.to_token_stream(), segment.ident.span())).ok()
    }

    /// `Alias::rest` → `Type::rest`.
    fn replace_first(&self, path: &mut Path) {
        if path.segments.len() < 2 {
            return;
        }
        if let Some(Type::Path(syn::TypePath { qself: None, path: mut meaning, .. })) = self.meaning(path) {
            if let Some(PathArguments::AngleBracketed(arguments)) =
                meaning.segments.last_mut().map(|segment| &mut segment.arguments)
            {
                arguments.colon2_token.get_or_insert_default();
            }
            meaning.segments.extend(std::mem::take(&mut path.segments).into_iter().skip(1));
            *path = meaning;
        }
    }
}

impl VisitMut for Aliases {
    fn visit_type_mut(&mut self, ty: &mut Type) {
        visit_mut::visit_type_mut(self, ty);
        if let Type::Path(path) = ty
            && path.qself.is_none()
            && path.path.segments.len() == 1
            && let Some(meaning) = self.meaning(&path.path)
        {
            *ty = meaning;
        }
    }

    fn visit_expr_mut(&mut self, expr: &mut Expr) {
        visit_mut::visit_expr_mut(self, expr);
        if let Expr::Path(path) = expr
            && path.qself.is_none()
        {
            match path.path.get_ident().and_then(|name| self.constants.get(&name.to_string())) {
                Some(value) => *expr = value.clone(),
                None => self.replace_first(&mut path.path),
            }
        }
    }

    fn visit_generic_argument_mut(&mut self, argument: &mut GenericArgument) {
        if let GenericArgument::Type(Type::Path(path)) = argument
            && let Some(value) =
                path.path.get_ident().and_then(|name| self.constants.get(&name.to_string())).cloned()
        {
            *argument = GenericArgument::Const(value);
            return;
        }
        visit_mut::visit_generic_argument_mut(self, argument);
    }
}

/// Tokens at another place of the source.
fn at(tokens: TokenStream, span: Span) -> TokenStream {
    let place = |token| match token {
        TokenTree::Group(group) => {
            let mut group = Group::new(group.delimiter(), at(group.stream(), span));
            group.set_span(span);
            TokenTree::Group(group)
        }
        mut token => {
            token.set_span(span);
            token
        }
    };
    tokens.into_iter().map(place).collect()
}
