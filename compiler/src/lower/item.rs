//! Items: constants, helper functions and type aliases, whether they stand in the kernel or around it.

use super::{Lower, Operand, Scope, Ty, peeled};
use crate::ir::Scalar;
use std::cell::OnceCell;
use std::rc::Rc;
use syn::Type;

/// How many aliases may stand for each other.
const MOST_ALIASES: usize = 32;

/// What an item's name stands for where a value is expected.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A helper function: inlined where it is called.
    Function(Rc<syn::ItemFn>),
    /// A constant.
    Constant(Rc<Constant>),
}

/// A constant, evaluated where it is first used.
#[derive(Debug)]
pub(super) struct Constant {
    item: syn::ItemConst,
    value: OnceCell<Operand>,
}

impl Constant {
    /// A constant that has not been evaluated.
    pub(super) fn new(item: syn::ItemConst) -> Constant {
        Constant { item, value: OnceCell::new() }
    }

    /// A constant whose value is known: an argument of a helper function.
    pub(super) fn known(item: syn::ItemConst, value: Operand) -> Constant {
        Constant { item, value: OnceCell::from(value) }
    }
}

/// What the name of a type stands for.
#[derive(Clone, Debug)]
pub(super) enum TypeItem {
    /// Another type.
    Alias(Rc<Type>),
    /// The type of a value: an argument of a helper function.
    Argument(Ty),
}

/// What a name stands for, and for an item the depth of the scope that it is declared in.
pub(super) enum Found<'a> {
    /// A variable or an argument.
    Binding(&'a super::Binding),
    /// An item.
    Item(&'a Item, usize),
}

impl Lower<'_> {
    /// Declares items in the current scope: they are known in all of it, before their declaration too.
    pub(super) fn declare<'i>(&mut self, items: impl IntoIterator<Item = &'i syn::Item>) {
        for item in items {
            match item {
                syn::Item::Fn(function) => self.declare_function(function),
                syn::Item::Const(item) => {
                    let constant = Constant::new(item.clone());
                    if let Some(scope) = self.scopes.last_mut() {
                        let name = item.ident.to_string();
                        scope.items.insert(name, Item::Constant(Rc::new(constant)));
                    }
                }
                syn::Item::Type(alias) if alias.generics.params.is_empty() => {
                    crate::ast::check_alias(alias, self.diagnostics);
                    if let Some(scope) = self.scopes.last_mut() {
                        let target = TypeItem::Alias(Rc::new((*alias.ty).clone()));
                        scope.types.insert(alias.ident.to_string(), target);
                    }
                }
                syn::Item::Use(_) => {
                    self.unsupported(
                        item,
                        "a kernel cannot import names",
                        "move the `use` out of the kernel",
                    );
                }
                _ => {
                    self.unsupported(
                        item,
                        "a kernel can only declare constants, helper functions and type aliases",
                        "move the item out of the kernel",
                    );
                }
            }
        }
    }

    /// Reads an item where it stands: a constant that nothing uses is checked too.
    pub(super) fn item(&mut self, item: &syn::Item) {
        let syn::Item::Const(item) = item else { return };
        let found = match self.find(&item.ident.to_string()) {
            Some(Found::Item(Item::Constant(constant), depth)) => Some((Rc::clone(constant), depth)),
            Some(Found::Item(Item::Function(_), _) | Found::Binding(_)) | None => None,
        };
        if let Some((constant, depth)) = found {
            self.constant_item(&constant, depth);
        }
    }

    /// The value of a constant that is declared in the scope of this depth.
    pub(super) fn constant_item(&mut self, constant: &Constant, depth: usize) -> Operand {
        if let Some(value) = constant.value.get() {
            return value.clone();
        }
        let name = constant.item.ident.to_string();
        if self.evaluating.contains(&name) {
            // A constant that depends on itself is rustc's to refuse.
            return self.mismatch(&constant.item.ident);
        }
        self.evaluating.push(name);
        let outer = self.enter_items(depth);
        let mut value = Operand::Poison;
        let statements = self.in_block(|lower| value = lower.constant_value_of(&constant.item));
        self.scopes = outer;
        self.evaluating.pop();
        if statements.is_empty() {
            // It is set once: whoever set it meanwhile found the same.
            let _ = constant.value.set(value.clone());
        }
        statements.into_iter().for_each(|statement| self.push(statement));
        value
    }

    fn constant_value_of(&mut self, item: &syn::ItemConst) -> Operand {
        let Some(scalar) = self.scalar_type(&item.ty) else { return self.table(item) };
        let term = self.terms.known(scalar);
        self.value_of(&item.expr, term).map_or(Operand::Poison, Operand::Value)
    }

    /// Makes the scopes those that an item in the scope of this depth sees: the items around it, no variables. The
    /// scopes before.
    pub(super) fn enter_items(&mut self, depth: usize) -> Vec<Scope> {
        let visible = self.scopes.iter().take(depth + 1).map(|scope| Scope {
            names: Default::default(),
            items: scope.items.clone(),
            types: scope.types.clone(),
        });
        let visible = visible.collect();
        std::mem::replace(&mut self.scopes, visible)
    }

    fn type_item(&self, ty: &Type) -> Option<&TypeItem> {
        let Type::Path(path) = ty else { return None };
        let name = path.path.get_ident()?.to_string();
        self.scopes.iter().rev().find_map(|scope| scope.types.get(&name))
    }

    /// A type without aliases, parentheses and invisible groups around it.
    pub(super) fn resolved(&self, ty: &Type) -> Type {
        let mut ty = peeled(ty).clone();
        for _ in 0..MOST_ALIASES {
            match self.type_item(&ty) {
                Some(TypeItem::Alias(target)) => ty = peeled(target).clone(),
                Some(TypeItem::Argument(_)) | None => break,
            }
        }
        ty
    }

    /// A scalar type by name, as far as it is known by now.
    pub(super) fn scalar_type(&self, ty: &Type) -> Option<Scalar> {
        let ty = self.resolved(ty);
        if let Some(TypeItem::Argument(argument)) = self.type_item(&ty) {
            return self.terms.get(argument.term).filter(|_| argument.vector.is_none());
        }
        match &ty {
            Type::Path(path) => Scalar::from_name(&path.path.get_ident()?.to_string()),
            _ => None,
        }
    }

    /// The type of a scalar, a vector, or the elements of a register array.
    pub(super) fn value_type(&mut self, ty: &Type) -> Option<Ty> {
        let ty = self.resolved(ty);
        if let Some(TypeItem::Argument(argument)) = self.type_item(&ty) {
            return Some(*argument);
        }
        if let Some(scalar) = self.scalar_type(&ty) {
            return Some(Ty::scalar(self.terms.known(scalar)));
        }
        match &ty {
            Type::Array(array) => self.value_type(&array.elem),
            Type::Path(path) => {
                let segment = path.path.segments.last().filter(|segment| segment.ident == "Vector")?;
                let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
                let mut arguments = arguments.args.iter();
                let syn::GenericArgument::Type(element) = arguments.next()? else { return None };
                let element = self.value_type(element).filter(|element| element.vector.is_none())?;
                let width = self.generic_constant(arguments.next()?, "the width of a vector")?;
                Some(Ty { term: element.term, vector: Some(u32::try_from(width).ok()?) })
            }
            _ => None,
        }
    }
}
