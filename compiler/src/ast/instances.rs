//! Generic kernels: `instances((f32, 4), (f16, 8))`, each of which becomes a concrete kernel.
//!
//! An instance is the kernel with its generic parameters turned into items beside it, `type T = f32;` and
//! `const V: usize = 4;`. From there on nothing knows of generics.
//!
//! A constant parameter that is a vector's width is a choice that the launcher can make: the instances that differ in
//! nothing else compute the same, and the widest whose conditions hold is the best. All other parameters are the caller's.

use super::alias::Aliases;
use super::attribute::Arguments;
use super::function::params;
use super::{Param, Scope, shared};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use syn::parse::ParseStream;
use syn::visit::{self, Visit};
use syn::visit_mut::VisitMut;
use syn::{Expr, GenericArgument, GenericParam, Ident, ItemFn, Lit, PathArguments, Token, Type};

/// A kernel with generic parameters.
#[derive(Clone, Debug)]
pub struct Generic {
    /// The function, generic as it was written.
    pub function: ItemFn,
    /// Its generic parameters in order.
    pub generics: Vec<Parameter>,
    /// The parameters that could be read, aliases replaced.
    pub params: Vec<Param>,
    /// Its instances as they were listed.
    pub instances: Vec<Instance>,
    /// Where the runtime crate is.
    pub crate_path: syn::Path,
}

/// A generic parameter.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name.
    pub name: Ident,
    /// What it is.
    pub kind: ParameterKind,
}

/// The kinds of generic parameters.
#[derive(Clone, Debug)]
pub enum ParameterKind {
    /// A type.
    Type,
    /// A constant.
    Constant {
        /// Its type.
        ty: Box<Type>,
        /// Whether it is the width of a vector, and nothing that the caller could see.
        width: bool,
    },
}

/// One instance.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The name of its kernel.
    pub name: Ident,
    /// How a person would write it: `copy<f32, 4>`.
    pub text: String,
    /// One argument a parameter.
    pub arguments: Vec<Argument>,
}

/// What a parameter is in an instance.
#[derive(Clone, Debug)]
pub enum Argument {
    /// A type.
    Type(Type),
    /// A constant, as written and as a number; `false` and `true` are 0 and 1.
    Constant(Expr, i128),
}

impl ToTokens for Argument {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        match self {
            Argument::Type(ty) => ty.to_tokens(tokens),
            Argument::Constant(expr, _) => expr.to_tokens(tokens),
        }
    }
}

impl Argument {
    fn text(&self) -> String {
        crate::tokens::print(self.to_token_stream())
    }
}

impl Generic {
    /// The items that make the function an instance.
    pub(super) fn items(&self, instance: &Instance) -> Vec<syn::Item> {
        let parameters = self.generics.iter().zip(&instance.arguments);
        parameters
            .map(|(Parameter { name, kind }, argument)| match kind {
                ParameterKind::Type => syn::parse_quote!(type #name = #argument;),
                ParameterKind::Constant { ty, .. } => syn::parse_quote!(const #name: #ty = #argument;),
            })
            .collect()
    }

    /// The function of an instance.
    pub(super) fn concrete(&self, instance: &Instance) -> ItemFn {
        let mut function = self.function.clone();
        function.sig.ident = instance.name.clone();
        function.sig.generics = syn::Generics::default();
        function
    }

    /// What the caller chooses of an instance.
    fn chosen<'a>(&'a self, instance: &'a Instance) -> impl Iterator<Item = (&'a Parameter, &'a Argument)> {
        self.generics.iter().zip(&instance.arguments).filter(|(parameter, _)| !parameter.is_width())
    }

    /// The instances, those that differ in nothing but widths together, the widest first.
    pub fn choices(&self) -> Vec<Vec<&Instance>> {
        let key = |instance| self.chosen(instance).map(|(_, a)| a.text()).collect::<Vec<_>>();
        let widths = |instance: &Instance| -> Vec<i128> {
            let all = self.generics.iter().zip(&instance.arguments);
            all.filter(|(parameter, _)| parameter.is_width())
                .map(|(_, argument)| match argument {
                    Argument::Constant(_, value) => *value,
                    Argument::Type(_) => 0,
                })
                .collect()
        };
        let mut groups: Vec<(Vec<String>, Vec<&Instance>)> = Vec::new();
        for instance in &self.instances {
            let key = key(instance);
            match groups.iter_mut().find(|(other, _)| *other == key) {
                Some((_, group)) => group.push(instance),
                None => groups.push((key, vec![instance])),
            }
        }
        for (_, group) in &mut groups {
            group.sort_by_key(|instance| std::cmp::Reverse(widths(instance)));
        }
        groups.into_iter().map(|(_, group)| group).collect()
    }
}

impl Parameter {
    /// Whether the launcher chooses it.
    pub fn is_width(&self) -> bool {
        matches!(self.kind, ParameterKind::Constant { width: true, .. })
    }
}

/// An instance as the attribute has it.
#[derive(Clone, Debug)]
pub(super) struct Written(Vec<GenericArgument>);

impl ToTokens for Written {
    fn to_tokens(&self, tokens: &mut TokenStream) {
        let list = &self.0;
        tokens.extend(quote!(#(#list),*));
    }
}

/// Reads `((f32, 4), (f16, 8))` or `(f32, f64)`, the parentheses around it taken off.
pub(super) fn list(input: ParseStream<'_>) -> syn::Result<Vec<Written>> {
    let mut list = Vec::new();
    while !input.is_empty() {
        if input.peek(syn::token::Paren) {
            let content;
            syn::parenthesized!(content in input);
            let mut arguments = Vec::new();
            while !content.is_empty() {
                arguments.push(argument(&content)?);
                if !content.is_empty() {
                    content.parse::<Token![,]>()?;
                }
            }
            list.push(Written(arguments));
        } else {
            list.push(Written(vec![argument(input)?]));
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    Ok(list)
}

fn argument(input: ParseStream<'_>) -> syn::Result<GenericArgument> {
    if input.peek(Lit) || input.peek(Token![-]) || input.peek(syn::token::Brace) {
        Ok(GenericArgument::Const(input.parse()?))
    } else {
        Ok(GenericArgument::Type(input.parse()?))
    }
}

/// Puts a generic function and its instances together. `None` if the function is not generic.
pub(super) fn generic(
    function: &ItemFn,
    arguments: &Arguments,
    scope: &Scope,
    diagnostics: &mut Diagnostics,
) -> Option<Generic> {
    let name = &function.sig.ident;
    let (written, crate_path) = (&arguments.instances, &arguments.crate_path);
    if function.sig.generics.params.is_empty() {
        if written.is_some() {
            let span = diagnostics.spans.add(name);
            diagnostics.report(
                Diagnostic::new(Code::Attribute, span, format!("`{name}` has instances and is not generic"))
                    .help("remove `instances(…)`, or give the function parameters: `fn copy<T, const V: usize>(…)`"),
            );
        }
        return None;
    }
    let generics = parameters(function, scope, diagnostics);
    let listed = written.as_deref().unwrap_or_default();
    let used = shared::used(&scope.items, quote!(#(#listed),* #function));
    let mut aliases = Aliases::of(&used);
    let mut signature = function.sig.clone();
    aliases.visit_signature_mut(&mut signature);
    let mut generic = Generic {
        function: function.clone(),
        generics,
        params: params(&signature, diagnostics),
        instances: Vec::new(),
        crate_path: crate_path.clone(),
    };
    if listed.is_empty() {
        let span = diagnostics.spans.add(&function.sig.generics);
        let example: Vec<&str> = generic
            .generics
            .iter()
            .map(|parameter| match parameter.kind {
                ParameterKind::Type => "f32",
                ParameterKind::Constant { .. } => "4",
            })
            .collect();
        let example = match example.as_slice() {
            [one] => format!("instances({one})"),
            several => format!("instances(({}))", several.join(", ")),
        };
        diagnostics.report(
            Diagnostic::new(
                Code::Attribute,
                span,
                format!("the kernel `{name}` is generic, and no instances are listed"),
            )
            .note("each instance is compiled and proven here, where its callers are not known")
            .help(format!("list them in the attribute: `{example}`")),
        );
    }
    for written in listed {
        if let Some(instance) = instance(&generic, &written.0, &mut aliases, diagnostics) {
            generic.instances.push(instance);
        }
    }
    Some(generic)
}

fn parameters(function: &ItemFn, scope: &Scope, diagnostics: &mut Diagnostics) -> Vec<Parameter> {
    let mut list = Vec::new();
    for param in &function.sig.generics.params {
        let (name, kind) = match param {
            GenericParam::Type(param) => (&param.ident, ParameterKind::Type),
            GenericParam::Const(param) => {
                let mut widths = Widths { name: &param.ident, found: false };
                widths.visit_block(&function.block);
                let mut signature = Mentions { name: &param.ident, found: false };
                function.sig.inputs.iter().for_each(|input| signature.visit_fn_arg(input));
                let width = widths.found && !signature.found;
                (&param.ident, ParameterKind::Constant { ty: Box::new(param.ty.clone()), width })
            }
            GenericParam::Lifetime(param) => {
                let span = diagnostics.spans.add(param);
                diagnostics.report(
                    Diagnostic::new(Code::Unsupported, span, "a kernel has no lifetimes")
                        .help("remove them: `&Matrix<f32>`"),
                );
                continue;
            }
        };
        let taken = scope.items.iter().filter_map(shared::name).any(|item| item == name);
        let word = crate::emit::TYPES.iter().any(|word| name == word);
        if taken || word || crate::ir::Scalar::from_name(&name.to_string()).is_some() {
            let span = diagnostics.spans.add(name);
            diagnostics.report(
                Diagnostic::new(Code::Name, span, format!("`{name}` has another meaning here already"))
                    .help("give the parameter another name"),
            );
        }
        list.push(Parameter { name: name.clone(), kind });
    }
    list
}

fn instance(
    generic: &Generic,
    written: &[GenericArgument],
    aliases: &mut Aliases,
    diagnostics: &mut Diagnostics,
) -> Option<Instance> {
    let (function, parameters) = (&generic.function.sig.ident, &generic.generics);
    let span = diagnostics.spans.add(&quote!(#(#written),*));
    let mut refuse = |message: String, help: String| {
        diagnostics.report(Diagnostic::new(Code::Attribute, span, message).help(help));
        None
    };
    let pattern: Vec<String> = parameters.iter().map(|parameter| parameter.name.to_string()).collect();
    let pattern = pattern.join(", ");
    if written.len() != parameters.len() {
        return refuse(
            format!(
                "an instance of `{function}` has {} arguments, and this one {}",
                parameters.len(),
                written.len()
            ),
            format!("write one for each of `{pattern}`"),
        );
    }
    let mut arguments = Vec::new();
    for (parameter, written) in parameters.iter().zip(written) {
        let argument = match (&parameter.kind, written) {
            (ParameterKind::Type, GenericArgument::Type(ty)) => {
                let mut ty = ty.clone();
                aliases.visit_type_mut(&mut ty);
                Some(Argument::Type(ty))
            }
            (ParameterKind::Constant { .. }, written) => {
                // `true` looks like a name of a type.
                let expr: Option<Expr> = syn::parse2(written.to_token_stream()).ok();
                expr.and_then(|expr| Some(Argument::Constant(expr.clone(), number(&expr)?)))
            }
            (ParameterKind::Type, _) => None,
        };
        let Some(argument) = argument else {
            let (name, text) = (&parameter.name, crate::tokens::print(written.to_token_stream()));
            return match parameter.kind {
                ParameterKind::Type => refuse(
                    format!("`{name}` of `{function}` is a type, and `{text}` is none"),
                    "write a type, such as `f32`".into(),
                ),
                ParameterKind::Constant { .. } => refuse(
                    format!(
                        "`{name}` of `{function}` is a constant, and the macro does not know the value of `{text}`"
                    ),
                    "write the number out".into(),
                ),
            };
        };
        arguments.push(argument);
    }
    let texts: Vec<String> = arguments.iter().map(Argument::text).collect();
    let text = format!("{function}<{}>", texts.join(", "));
    let name = Ident::new(&format!("{function}_{}", words(&texts)), function.span());
    if generic.instances.iter().any(|other| other.name == name) {
        return refuse(format!("the instance `{text}` is listed twice"), "list it once".into());
    }
    Some(Instance { name, text, arguments })
}

/// Arguments as a part of a name: `Xor<1>`, `-4` → `Xor_1_minus_4`.
fn words(texts: &[String]) -> String {
    let text = texts.join(" ").replace('-', "minus ");
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("_")
}

/// The value of a literal.
fn number(expr: &Expr) -> Option<i128> {
    match expr {
        Expr::Lit(lit) => match &lit.lit {
            Lit::Int(value) => value.base10_parse().ok(),
            Lit::Bool(value) => Some(i128::from(value.value)),
            _ => None,
        },
        Expr::Unary(unary) if matches!(unary.op, syn::UnOp::Neg(_)) => number(&unary.expr)?.checked_neg(),
        Expr::Group(group) => number(&group.expr),
        Expr::Paren(paren) => number(&paren.expr),
        _ => None,
    }
}

/// Whether a constant is the width of a vector: an argument of a method (`read::<V>`), or of `Vector<T, V>`.
struct Widths<'a> {
    name: &'a Ident,
    found: bool,
}

impl Widths<'_> {
    fn arguments<'a>(&mut self, arguments: impl IntoIterator<Item = &'a GenericArgument>) {
        let is_it = |argument: &GenericArgument| *self.name == argument.to_token_stream().to_string();
        self.found |= arguments.into_iter().any(is_it);
    }
}

impl<'ast> Visit<'ast> for Widths<'_> {
    fn visit_expr_method_call(&mut self, call: &'ast syn::ExprMethodCall) {
        if let Some(turbofish) = &call.turbofish {
            self.arguments(&turbofish.args);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_path_segment(&mut self, segment: &'ast syn::PathSegment) {
        if segment.ident == "Vector"
            && let PathArguments::AngleBracketed(arguments) = &segment.arguments
        {
            self.arguments(&arguments.args);
        }
        visit::visit_path_segment(self, segment);
    }
}

/// Whether a name is mentioned.
struct Mentions<'a> {
    name: &'a Ident,
    found: bool,
}

impl Visit<'_> for Mentions<'_> {
    fn visit_ident(&mut self, ident: &Ident) {
        self.found |= ident == self.name;
    }
}
