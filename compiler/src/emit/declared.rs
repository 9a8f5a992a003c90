//! The names that the source itself declares around a point, by Rust's rules: they hide the vocabulary.
//!
//! Lowering looks names up in the same order, so that what rustc types is what the kernel does.

use syn::visit::Visit;
use syn::{Item, Pat};

/// The names, innermost last.
#[derive(Default)]
pub(super) struct Declared {
    names: Vec<(String, Kind)>,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A function or constant: known to the functions inside too.
    Item,
    /// A variable or parameter: known in its own function only.
    Variable,
    /// A type, which has no name in common with values.
    Type,
}

impl Declared {
    /// Adds the names of items: a block's are known in all of it, before their declaration too.
    pub(super) fn items<'i>(&mut self, items: impl IntoIterator<Item = &'i Item>) {
        for item in items {
            let (name, kind) = if let Item::Fn(item) = item {
                (&item.sig.ident, Kind::Item)
            } else if let Item::Const(item) = item {
                (&item.ident, Kind::Item)
            } else if let Item::Static(item) = item {
                (&item.ident, Kind::Item)
            } else if let Item::Type(item) = item {
                (&item.ident, Kind::Type)
            } else {
                continue;
            };
            self.names.push((name.to_string(), kind));
        }
    }

    /// Adds the constant parameters of a function.
    pub(super) fn generics(&mut self, generics: &syn::Generics) {
        let parameters = generics.const_params();
        self.names.extend(parameters.map(|parameter| (parameter.ident.to_string(), Kind::Item)));
    }

    /// Adds the variables that a pattern binds.
    pub(super) fn pattern(&mut self, pattern: &Pat) {
        struct Variables<'a>(&'a mut Vec<(String, Kind)>);
        impl Visit<'_> for Variables<'_> {
            fn visit_pat_ident(&mut self, pattern: &syn::PatIdent) {
                self.0.push((pattern.ident.to_string(), Kind::Variable));
                syn::visit::visit_pat_ident(self, pattern);
            }
        }
        Variables(&mut self.names).visit_pat(pattern);
    }

    /// How many there are; [`Declared::leave`] forgets those added since.
    pub(super) fn enter(&self) -> usize {
        self.names.len()
    }

    pub(super) fn leave(&mut self, mark: usize) {
        self.names.truncate(mark);
    }

    /// Hides the variables, for an item inside; the names before.
    pub(super) fn enter_item(&mut self) -> Declared {
        let items = self.names.iter().filter(|(_, kind)| *kind != Kind::Variable).cloned().collect();
        std::mem::replace(self, Declared { names: items })
    }

    /// Whether a value of this name is declared.
    pub(super) fn hides(&self, name: &str) -> bool {
        self.names.iter().any(|(own, kind)| own == name && *kind != Kind::Type)
    }

    /// Whether a type of this name is declared.
    pub(super) fn hides_type(&self, name: &str) -> bool {
        self.names.iter().any(|(own, kind)| own == name && *kind == Kind::Type)
    }
}
