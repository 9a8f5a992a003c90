//! Helper functions: every call is inlined.
//!
//! The body of the function is lowered anew where it is called, in scopes that hold the items around its declaration and
//! its own parameters, so that a name in it means the same wherever it is called from. A parameter taken by value is a new
//! variable; one taken by reference is another name of the caller's variable, register array, tile or tensor. Each
//! access of each call is a site of its own, and the [spans](crate::span::SpanTable) remember the path of calls.

use super::flow::{Target as Leavable, TargetKind};
use super::generic::{Shape, mentions_generics};
use super::item::{Constant, Found, Item};
use super::place::Target;
use super::{Binding, Lower, Operand, Scope, peeled};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::ExprKind;
use quote::ToTokens;
use std::rc::Rc;
use syn::{Expr, ExprCall, FnArg, Pat, Type};

/// So many calls are inlined in a kernel at most: helpers that call helpers multiply.
const MOST_CALLS: u32 = 2_000;

/// What is handed to a parameter.
enum Argument {
    /// A value.
    Value(Operand),
    /// What a reference names.
    Reference(Binding),
}

impl Lower<'_> {
    pub(super) fn declare_function(&mut self, function: &syn::ItemFn) {
        let name = function.sig.ident.to_string();
        if let Some(scope) = self.scopes.last_mut() {
            scope.items.insert(name, Item::Function(Rc::new(function.clone())));
        }
    }

    /// The value of a call of a helper function.
    pub(super) fn helper_call(&mut self, call: &ExprCall, callee: &syn::ExprPath, name: &str) -> Operand {
        let Some(Found::Item(Item::Function(helper), depth)) = self.find(name) else {
            return Operand::Poison;
        };
        let helper = Rc::clone(helper);
        if let Some(first) = self.calls.iter().position(|active| Rc::ptr_eq(active, &helper)) {
            return self.recursion(call, first);
        }
        self.inlined += 1;
        if self.inlined > MOST_CALLS {
            let what = format!("a kernel with more than {MOST_CALLS} calls of helper functions");
            self.diagnostics.report(
                Diagnostic::new(Code::Unsupported, self.kernel.span, what)
                    .help("call them in loops, or fewer of them: each call is a copy of the function"),
            );
            return Operand::Poison;
        }
        if !self.can_inline(&helper) {
            return Operand::Poison;
        }
        if call.args.len() != helper.sig.inputs.len() {
            return self.mismatch(call);
        }
        let mut generics = Scope::default();
        self.turbofish(&callee.path, &helper, &mut generics);
        let arguments = self.arguments(call, &helper, depth, &generics);
        let span = self.span(call);

        let outer = self.enter_items(depth);
        self.scopes.push(generics);
        for (input, argument) in helper.sig.inputs.iter().zip(&arguments) {
            let FnArg::Typed(input) = input else { continue };
            let shape = match argument {
                Argument::Value(operand) => self.shape_of(operand),
                Argument::Reference(binding) => self.shape_of_binding(binding),
            };
            if !self.accepts(&input.ty, &shape, &helper) {
                self.scopes = outer;
                return self.mismatch(call);
            }
        }
        let call_path = self.diagnostics.spans.enter(helper.sig.ident.to_string(), span);
        let place = self.stand_at(call, &helper, name);
        self.calls.push(Rc::clone(&helper));
        let responsibility = self.begin_responsibility(&mut helper.attrs.clone());
        self.scopes.push(Scope::default());
        for (input, argument) in helper.sig.inputs.iter().zip(arguments) {
            let FnArg::Typed(input) = input else { continue };
            match argument {
                Argument::Value(operand) => self.bind_argument(&input.pat, operand),
                Argument::Reference(binding) => match &*input.pat {
                    Pat::Ident(name) => self.bind(name.ident.to_string(), binding),
                    pattern => {
                        self.unsupported(
                            pattern,
                            "a parameter that is a reference has a plain name",
                            "write `values: &mut [f32; 4]`",
                        );
                    }
                },
            }
        }
        let result = self.body(&helper);
        self.end_responsibility(responsibility);
        self.calls.pop();
        self.diagnostics.spans.stand_at(place);
        self.diagnostics.spans.leave(call_path);
        self.scopes = outer;
        result
    }

    /// The call of a function that the compiler brings along. It is a helper function of a scope around all others.
    pub(super) fn library_call(&mut self, call: &ExprCall, name: &str) -> Operand {
        let Expr::Path(callee) = &*call.func else { return Operand::Poison };
        if self.library_is_in_scope {
            return self.helper_call(call, callee, name);
        }
        let scope = match self.library.take() {
            Some(scope) => scope,
            None => self.library_scope(),
        };
        self.library = Some(scope.clone());
        self.scopes.insert(0, scope);
        self.library_is_in_scope = true;
        let result = self.helper_call(call, callee, name);
        self.library_is_in_scope = false;
        self.scopes.remove(0);
        result
    }

    fn library_scope(&mut self) -> Scope {
        let mut scope = Scope::default();
        for item in crate::library::items(self.kernel.threads()).unwrap_or_default() {
            match item {
                syn::Item::Fn(function) => {
                    let name = function.sig.ident.to_string();
                    scope.items.insert(name, Item::Function(Rc::new(function)));
                }
                syn::Item::Const(item) => {
                    let name = item.ident.to_string();
                    scope.items.insert(name, Item::Constant(Rc::new(Constant::new(item))));
                }
                _ => {}
            }
        }
        scope
    }

    /// What a function that the compiler brings along records stands where its call is. What was so before.
    fn stand_at(
        &mut self,
        call: &ExprCall,
        helper: &Rc<syn::ItemFn>,
        name: &str,
    ) -> Option<(proc_macro2::Span, proc_macro2::Span)> {
        let own = self.library.as_ref().and_then(|scope| scope.items.get(name));
        let is_own = matches!(own, Some(Item::Function(own)) if Rc::ptr_eq(own, helper));
        let spans = &mut self.diagnostics.spans;
        let before = spans.stand_at(None);
        let here = before.or_else(|| is_own.then(|| crate::span::ends(&call.to_token_stream())));
        spans.stand_at(here);
        before
    }

    /// The body of a helper function whose parameters are bound.
    fn body(&mut self, helper: &Rc<syn::ItemFn>) -> Operand {
        let expected = match &helper.sig.output {
            syn::ReturnType::Default => None,
            syn::ReturnType::Type(_, ty) => self.value_type(ty),
        };
        let mut function = Leavable::new(TargetKind::Function, None);
        function.hint = expected;
        let result =
            self.leavable(function, &helper.sig.ident, |lower| lower.statements(&helper.block, expected));
        let shape = self.shape_of(&result);
        let fits = match &helper.sig.output {
            syn::ReturnType::Default => {
                matches!(&shape, Shape::Unknown) || matches!(&shape, Shape::Tuple(parts) if parts.is_empty())
            }
            syn::ReturnType::Type(_, ty) => self.accepts(ty, &shape, helper),
        };
        if fits { result } else { self.mismatch(&helper.sig.output) }
    }

    /// `a` calls `b`, which calls `a`.
    fn recursion(&mut self, call: &ExprCall, first: usize) -> Operand {
        let names: Vec<String> =
            self.calls[first..].iter().map(|helper| helper.sig.ident.to_string()).collect();
        let message = match names.as_slice() {
            [name] => format!("the helper function `{name}` calls itself"),
            [name, rest @ ..] => {
                let path: Vec<String> = rest.iter().map(|name| format!("`{name}`")).collect();
                format!("the helper function `{name}` calls itself, by way of {}", path.join(" and "))
            }
            [] => String::new(),
        };
        let span = self.span(call);
        self.diagnostics.report(
            Diagnostic::new(Code::Unsupported, span, message)
                .note("a kernel cannot recurse: every call is inlined, and a GPU thread has no stack to speak of")
                .help("write a loop"),
        );
        Operand::Poison
    }

    /// Whether a function is one that can be inlined; what is in the way is reported.
    fn can_inline(&mut self, helper: &syn::ItemFn) -> bool {
        let signature = &helper.sig;
        let mut sound = true;
        let mut refuse = |lower: &mut Self, tokens: &dyn ToTokens, what: &str, instead: &str| {
            lower.unsupported(&tokens.to_token_stream(), what, instead);
            sound = false;
        };
        if let Some(token) = &signature.asyncness {
            refuse(self, token, "a helper function cannot be `async`", "remove `async`");
        }
        if let Some(token) = &signature.abi {
            refuse(self, token, "a helper function has no ABI: it is inlined", "remove `extern`");
        }
        if let syn::Safety::Unsafe(token) = &signature.safety {
            refuse(
                self,
                token,
                "a kernel cannot use `unsafe`",
                "remove the `unsafe`: what a kernel can do is checked",
            );
        }
        if let Some(token) = &signature.variadic {
            refuse(self, token, "a helper function has a fixed number of arguments", "remove `...`");
        }
        for attribute in &helper.attrs {
            let known = ["doc", "inline", "allow", "expect", "must_use", "budget", "trust"];
            if !known.iter().any(|name| attribute.path().is_ident(name)) {
                refuse(
                    self,
                    attribute,
                    "this attribute means nothing in a kernel",
                    "a helper function can have documentation, `#[budget(…)]` and `#[trust(…)]`",
                );
            }
        }
        for input in &signature.inputs {
            match input {
                FnArg::Receiver(receiver) => refuse(
                    self,
                    receiver,
                    "a helper function is no method",
                    "give the parameter a name and a type: `tile: &mut Shared<[[f32; 32]; 32]>`",
                ),
                FnArg::Typed(input) => match peeled(&input.ty) {
                    Type::Reference(reference) => match peeled(&reference.elem) {
                        Type::Slice(slice) => refuse(
                            self,
                            slice,
                            "a helper function cannot take a slice: how long it is must be known",
                            "take an array, `values: &[f32; N]`, with `const N: usize` if lengths differ",
                        ),
                        Type::TraitObject(object) => refuse(
                            self,
                            object,
                            "a kernel has no trait objects",
                            "a type parameter takes several types: `fn helper<T>(value: T)`",
                        ),
                        _ => {}
                    },
                    Type::FnPtr(pointer) => refuse(
                        self,
                        pointer,
                        "a kernel has no function pointers: every call is inlined",
                        "call the function by its name",
                    ),
                    Type::ImplTrait(bound) => refuse(
                        self,
                        bound,
                        "a helper function cannot take `impl Trait`",
                        "write a type parameter: `fn helper<T>(value: T)`",
                    ),
                    _ => {}
                },
            }
        }
        sound
    }

    /// The arguments, evaluated in order.
    fn arguments(
        &mut self,
        call: &ExprCall,
        helper: &syn::ItemFn,
        depth: usize,
        generics: &Scope,
    ) -> Vec<Argument> {
        let mut arguments = Vec::new();
        for (input, argument) in helper.sig.inputs.iter().zip(&call.args) {
            let FnArg::Typed(input) = input else { continue };
            let argument = match peeled(&input.ty) {
                Type::Reference(_) => Argument::Reference(self.referenced(argument)),
                ty => {
                    let expected = if mentions_generics(ty, helper) {
                        None
                    } else {
                        let outer = self.enter_items(depth);
                        self.scopes.push(generics.clone());
                        let expected = self.value_type(ty);
                        self.scopes = outer;
                        expected
                    };
                    Argument::Value(self.operand(argument, expected))
                }
            };
            arguments.push((self.here(), argument));
        }
        for (place, argument) in arguments.iter_mut().rev() {
            if let Argument::Value(operand) = argument {
                self.operand_as_at(*place, operand);
            }
        }
        arguments.into_iter().map(|(_, argument)| argument).collect()
    }

    /// What an argument for a reference parameter names.
    fn referenced(&mut self, argument: &Expr) -> Binding {
        match argument {
            Expr::Paren(inner) => self.referenced(&inner.expr),
            Expr::Group(inner) => self.referenced(&inner.expr),
            Expr::Reference(inner) => self.referenced(&inner.expr),
            Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), expr, .. }) => self.referenced(expr),
            Expr::Path(path) => {
                let name = path.path.get_ident().map(ToString::to_string).unwrap_or_default();
                match self.lookup(&name) {
                    Some(binding) => binding.clone(),
                    None => self.temporary(argument),
                }
            }
            Expr::Index(index) => match self.target(index) {
                Some(Target::Array(local, indices)) => {
                    let indices = indices.into_iter().map(|index| self.unchanging("index", index)).collect();
                    Binding::Operand(Operand::Array(local, indices))
                }
                Some(Target::Memory(_) | Target::Lane { .. }) => Binding::Operand(self.unsupported(
                    argument,
                    "a reference to a part of a tile, a tensor or a vector cannot be passed to a helper function",
                    "pass the whole of it with the index, or pass the value and return the new one",
                )),
                Some(Target::Value(operand)) => Binding::Operand(operand),
                None => Binding::Operand(Operand::Poison),
            },
            Expr::Field(_) => match self.named_place(argument) {
                Some(binding) => binding,
                None => self.temporary(argument),
            },
            _ => self.temporary(argument),
        }
    }

    /// A variable for a value that a reference is taken of.
    fn temporary(&mut self, value: &Expr) -> Binding {
        let operand = self.operand(value, None);
        let span = syn::spanned::Spanned::span(value);
        self.store_away(&syn::Ident::new("argument", span), operand)
    }

    /// Binds a parameter that is taken by value. A literal stays one.
    fn bind_argument(&mut self, pattern: &Pat, operand: Operand) {
        if let (Pat::Ident(name), Operand::Value(value)) = (pattern, &operand)
            && name.mutability.is_none()
            && matches!(
                self.kernel.exprs[*value].kind,
                ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) | ExprKind::Param(_)
            )
        {
            self.bind(name.ident.to_string(), Binding::Operand(operand));
            return;
        }
        self.bind_pattern(pattern, operand);
    }
}
