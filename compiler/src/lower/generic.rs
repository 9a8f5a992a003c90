//! The types of a helper function's arguments, and what its generic parameters stand for in a call.

use super::item::{Constant, Item, TypeItem};
use super::{Binding, Lower, Operand, Scope, Ty, peeled};
use crate::ir::{self, Base, ExprKind, ParamKind};
use quote::ToTokens;
use std::rc::Rc;
use syn::{Expr, GenericParam, Path, Type};

/// What is known of an argument's type.
pub(super) enum Shape {
    /// A scalar or a vector.
    Value(Ty),
    /// An array of these extents.
    Array(Vec<u32>, Ty),
    /// A tuple.
    Tuple(Vec<Shape>),
    /// A tile or tensor.
    Memory(Base),
    /// After an error.
    Unknown,
}

impl Lower<'_> {
    pub(super) fn shape_of(&self, operand: &Operand) -> Shape {
        match operand {
            Operand::Value(value) => Shape::Value(self.ty(*value)),
            Operand::Array(local, prefix) => {
                let extents = self.kernel.locals[*local].extents.get(prefix.len()..).unwrap_or_default();
                let ty = self.local_types[local.index()];
                if extents.is_empty() { Shape::Value(ty) } else { Shape::Array(extents.to_vec(), ty) }
            }
            Operand::List(list) => match list.first().map(|first| self.shape_of(first)) {
                Some(Shape::Value(ty)) => Shape::Array(vec![list.len() as u32], ty),
                Some(Shape::Array(mut extents, ty)) => {
                    extents.insert(0, list.len() as u32);
                    Shape::Array(extents, ty)
                }
                Some(Shape::Tuple(_) | Shape::Memory(_) | Shape::Unknown) | None => Shape::Unknown,
            },
            Operand::Tuple(parts) => Shape::Tuple(parts.iter().map(|part| self.shape_of(part)).collect()),
            Operand::Poison => Shape::Unknown,
        }
    }

    pub(super) fn shape_of_binding(&self, binding: &Binding) -> Shape {
        match binding {
            Binding::Local(local) => self.shape_of(&Operand::Array(*local, Vec::new())),
            Binding::Memory(base) => Shape::Memory(*base),
            Binding::Operand(operand) => self.shape_of(operand),
        }
    }

    /// Whether an argument is of the type of its parameter. A parameter of the function that the type names and that
    /// has no value yet gets it from the argument.
    pub(super) fn accepts(&mut self, ty: &Type, shape: &Shape, helper: &syn::ItemFn) -> bool {
        let ty = self.resolved(ty);
        if let Type::Reference(reference) = &ty {
            return self.accepts(&reference.elem, shape, helper);
        }
        if let Some(name) = self.open_generic(&ty, helper) {
            let Shape::Value(argument) = shape else { return matches!(shape, Shape::Unknown) };
            self.bind_type(name, TypeItem::Argument(*argument));
            return true;
        }
        match (&ty, shape) {
            (_, Shape::Unknown) => true,
            (Type::Tuple(tuple), Shape::Tuple(parts)) => {
                tuple.elems.len() == parts.len()
                    && tuple.elems.iter().zip(parts).all(|(ty, part)| self.accepts(ty, part, helper))
            }
            (Type::Array(array), Shape::Array(extents, element)) => {
                let [extent, rest @ ..] = extents.as_slice() else { return false };
                let inner = match rest {
                    [] => Shape::Value(*element),
                    rest => Shape::Array(rest.to_vec(), *element),
                };
                self.accepts_number(&array.len, i128::from(*extent), helper)
                    && self.accepts(&array.elem, &inner, helper)
            }
            (_, Shape::Memory(base)) => self.accepts_memory(&ty, *base, helper),
            (_, Shape::Value(value)) => {
                if let Some((element, width)) = vector_parts(&ty) {
                    let Some(values) = value.vector else { return false };
                    return self.accepts(element, &Shape::Value(Ty::scalar(value.term)), helper)
                        && self.accepts_argument(width, i128::from(values), helper);
                }
                self.value_type(&ty)
                    .is_some_and(|ty| ty.vector == value.vector && self.terms.unify(ty.term, value.term))
            }
            (_, Shape::Array(..) | Shape::Tuple(_)) => false,
        }
    }

    fn accepts_memory(&mut self, ty: &Type, base: Base, helper: &syn::ItemFn) -> bool {
        let Type::Path(path) = ty else { return false };
        let Some(segment) = path.path.segments.last() else { return false };
        let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return false };
        let arguments: Vec<_> = arguments.args.iter().collect();
        let element = Shape::Value(Ty::scalar(self.terms.known(self.kernel.element(base))));
        match (base, segment.ident.to_string().as_str(), arguments.as_slice()) {
            (Base::Tensor(param), "Matrix", [syn::GenericArgument::Type(ty)]) => {
                matches!(self.kernel.params[param].kind, ParamKind::Tensor { rank: 2, .. })
                    && self.accepts(ty, &element, helper)
            }
            (Base::Tensor(_), "Tensor", [syn::GenericArgument::Type(ty), rank]) => {
                let own = self.kernel.rank(base) as i128;
                self.accepts(ty, &element, helper) && self.accepts_argument(rank, own, helper)
            }
            (Base::Tile(tile), "Shared", [syn::GenericArgument::Type(array), layout @ ..]) => {
                let ir::Tile { extents, layout: own, .. } = &self.kernel.tiles[tile];
                let (extents, own) = (extents.clone(), *own);
                let Shape::Value(element) = element else { return false };
                if let [syn::GenericArgument::Type(layout)] = layout
                    && let Some(name) = self.open_generic(layout, helper)
                    && let Ok(own) = syn::parse_str::<Type>(&own.rust())
                {
                    self.bind_type(name, TypeItem::Alias(Rc::new(own)));
                }
                self.accepts(array, &Shape::Array(extents, element), helper)
            }
            _ => false,
        }
    }

    /// A generic argument that must be this number.
    fn accepts_argument(
        &mut self,
        argument: &syn::GenericArgument,
        number: i128,
        helper: &syn::ItemFn,
    ) -> bool {
        match argument {
            syn::GenericArgument::Const(expr) => self.accepts_number(expr, number, helper),
            syn::GenericArgument::Type(Type::Path(path)) => {
                let path = syn::ExprPath { attrs: Vec::new(), qself: None, path: path.path.clone() };
                self.accepts_number(&Expr::Path(path), number, helper)
            }
            _ => false,
        }
    }

    /// An expression that must be this number.
    fn accepts_number(&mut self, expr: &Expr, number: i128, helper: &syn::ItemFn) -> bool {
        if let Expr::Path(path) = expr
            && let Some(name) = path.path.get_ident()
            && let Some(parameter) = const_parameter(helper, name)
            && !self.scopes.last().is_some_and(|scope| scope.items.contains_key(&name.to_string()))
        {
            let parameter = parameter.clone();
            return self.bind_number(&parameter, number);
        }
        self.type_constant(expr, "an extent").is_some_and(|value| value == number)
    }

    /// Gives a constant parameter its value, in the innermost scope.
    fn bind_number(&mut self, parameter: &syn::ConstParam, number: i128) -> bool {
        let Some(scalar) = self.scalar_type(&parameter.ty) else { return false };
        let span = self.span(&parameter.ident);
        let ty = Ty::scalar(self.terms.known(scalar));
        let value = Operand::Value(self.expr(ExprKind::Int(number), ty, span));
        let (ident, of) = (&parameter.ident, &parameter.ty);
        let item: syn::ItemConst = syn::parse_quote!(const #ident: #of = 0;);
        if let Some(scope) = self.scopes.last_mut() {
            let constant = Item::Constant(Rc::new(Constant::known(item, value)));
            scope.items.insert(ident.to_string(), constant);
        }
        true
    }

    fn bind_type(&mut self, name: String, item: TypeItem) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.types.insert(name, item);
        }
    }

    /// The name of a type parameter that has no value yet, if the type is just that.
    fn open_generic(&self, ty: &Type, helper: &syn::ItemFn) -> Option<String> {
        let Type::Path(path) = peeled(ty) else { return None };
        let ident = path.path.get_ident()?;
        let declared = helper.sig.generics.type_params().any(|parameter| parameter.ident == *ident);
        let name = ident.to_string();
        let bound = self.scopes.last().is_some_and(|scope| scope.types.contains_key(&name));
        (declared && !bound).then_some(name)
    }

    /// The generic arguments of `sum::<4>(…)`, as items of a scope.
    pub(super) fn turbofish(&mut self, path: &Path, helper: &syn::ItemFn, generics: &mut Scope) {
        let Some(segment) = path.segments.last() else { return };
        let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return };
        let parameters = helper.sig.generics.params.iter();
        let parameters = parameters.filter(|parameter| !matches!(parameter, GenericParam::Lifetime(_)));
        for (parameter, argument) in parameters.zip(&arguments.args) {
            self.scopes.push(Scope::default());
            match (parameter, argument) {
                (GenericParam::Const(parameter), argument) => {
                    let number = match argument {
                        syn::GenericArgument::Type(Type::Infer(_)) => None,
                        argument => self.generic_constant(argument, "an argument of a helper function"),
                    };
                    if let Some(number) = number {
                        self.bind_number(parameter, number);
                    }
                }
                (GenericParam::Type(parameter), syn::GenericArgument::Type(ty)) => {
                    if let Some(ty) = self.value_type(ty) {
                        self.bind_type(parameter.ident.to_string(), TypeItem::Argument(ty));
                    }
                }
                _ => {}
            }
            if let Some(scope) = self.scopes.pop() {
                generics.items.extend(scope.items);
                generics.types.extend(scope.types);
            }
        }
    }
}

fn const_parameter<'h>(helper: &'h syn::ItemFn, name: &syn::Ident) -> Option<&'h syn::ConstParam> {
    helper.sig.generics.const_params().find(|parameter| parameter.ident == *name)
}

/// Whether a type depends on what the call makes of the function's parameters.
pub(super) fn mentions_generics(ty: &Type, helper: &syn::ItemFn) -> bool {
    let generics = &helper.sig.generics;
    let mut names = generics.type_params().map(|p| &p.ident).chain(generics.const_params().map(|p| &p.ident));
    let text = crate::tokens::print(ty.to_token_stream());
    names.any(|name| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| name == word))
}

/// The element type and the width of `Vector<T, V>`.
fn vector_parts(ty: &Type) -> Option<(&Type, &syn::GenericArgument)> {
    let Type::Path(path) = ty else { return None };
    let segment = path.path.segments.last().filter(|segment| segment.ident == "Vector")?;
    let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
    let mut arguments = arguments.args.iter();
    match (arguments.next()?, arguments.next()?) {
        (syn::GenericArgument::Type(element), width) => Some((element, width)),
        _ => None,
    }
}
