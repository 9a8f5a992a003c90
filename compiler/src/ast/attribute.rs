//! The arguments of `#[tiled_kernel(…)]`.

use super::instances;
use super::trust::{self, Trust};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use proc_macro2::{TokenStream, TokenTree};
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::{Expr, ExprLit, FnArg, GenericArgument, Ident, Lit, LitStr, Pat, PathArguments, Token, Type};
use tileproof_model::language::extent_text;
use tileproof_model::limits::{Architecture, SUPPORTED};

/// What the attribute says.
pub(super) struct Arguments {
    pub(super) block: Vec<Expr>,
    pub(super) grid: Vec<Expr>,
    pub(super) requires: Vec<Expr>,
    /// `covers(…)`: names of arguments.
    pub(super) covers: Vec<Ident>,
    /// `min_blocks = n`.
    pub(super) min_blocks: Option<Expr>,
    /// `arch = …`, `arch(…)`.
    pub(super) architectures: Vec<Architecture>,
    /// `instances(…)`, if it was given.
    pub(super) instances: Option<Vec<instances::Written>>,
    /// `trust(…)`, each.
    pub(super) trusts: Vec<Trust>,
    pub(super) crate_path: syn::Path,
    /// Whether it parsed to its end, so that a missing argument is really missing.
    pub(super) complete: bool,
}

/// Reads the arguments; what does not parse is reported and left out.
pub(super) fn parse(tokens: TokenStream, crate_path: &syn::Path, diagnostics: &mut Diagnostics) -> Arguments {
    let mut arguments = Arguments {
        block: Vec::new(),
        grid: Vec::new(),
        requires: Vec::new(),
        covers: Vec::new(),
        min_blocks: None,
        architectures: Vec::new(),
        instances: None,
        trusts: Vec::new(),
        crate_path: crate_path.clone(),
        complete: true,
    };
    let parser = |input: ParseStream<'_>| -> syn::Result<()> {
        while !input.is_empty() {
            argument(input, &mut arguments, diagnostics)?;
            if !input.is_empty() {
                input.parse::<Token![,]>()?;
            }
        }
        Ok(())
    };
    if let Err(error) = parser.parse2(tokens) {
        arguments.complete = false;
        let span = diagnostics.spans.add_span(error.span());
        diagnostics.report(Diagnostic::new(Code::Attribute, span, error.to_string()).help(
            "write `#[tiled_kernel(block = [32, 8], grid = [a.cols().div_ceil(32), a.rows().div_ceil(32)])]`",
        ));
    }
    arguments
}

fn argument(
    input: ParseStream<'_>,
    arguments: &mut Arguments,
    diagnostics: &mut Diagnostics,
) -> syn::Result<()> {
    let list = |input: ParseStream<'_>| -> syn::Result<Vec<Expr>> {
        input.parse::<Token![=]>()?;
        match input.parse::<Expr>()? {
            Expr::Array(array) => Ok(array.elems.into_iter().collect()),
            other => Ok(vec![other]),
        }
    };
    if input.peek(Token![crate]) {
        input.parse::<Token![crate]>()?;
        input.parse::<Token![=]>()?;
        arguments.crate_path = input.call(syn::Path::parse_mod_style)?;
        return Ok(());
    }
    let key: Ident = input.parse()?;
    let given = match key.to_string().as_str() {
        "block" => !arguments.block.is_empty(),
        "grid" => !arguments.grid.is_empty(),
        "requires" => !arguments.requires.is_empty(),
        "covers" => !arguments.covers.is_empty(),
        "instances" => arguments.instances.is_some(),
        "arch" => !arguments.architectures.is_empty(),
        "min_blocks" => arguments.min_blocks.is_some(),
        _ => false,
    };
    if given {
        let span = diagnostics.spans.add(&key);
        diagnostics.report(
            Diagnostic::new(Code::Attribute, span, format!("`{key}` is given twice")).help("give it once"),
        );
    }
    match key.to_string().as_str() {
        "block" => arguments.block = list(input)?,
        "grid" => arguments.grid = list(input)?,
        "requires" => {
            let content;
            syn::parenthesized!(content in input);
            arguments.requires =
                Punctuated::<Expr, Token![,]>::parse_terminated(&content)?.into_iter().collect();
        }
        "covers" => {
            let content;
            syn::parenthesized!(content in input);
            arguments.covers =
                Punctuated::<Ident, Token![,]>::parse_terminated(&content)?.into_iter().collect();
        }
        "instances" => {
            let content;
            syn::parenthesized!(content in input);
            arguments.instances = Some(instances::list(&content)?);
        }
        "trust" => {
            let content;
            syn::parenthesized!(content in input);
            let span = diagnostics.spans.add(&key);
            match trust::arguments(&content, span) {
                Ok(trust) => arguments.trusts.push(trust),
                Err(error) => {
                    content.parse::<TokenStream>()?;
                    diagnostics.report(
                        Diagnostic::new(Code::Attribute, span, error.to_string())
                            .help(format!("write `trust({})`", trust::EXAMPLE)),
                    );
                }
            }
        }
        "min_blocks" => {
            input.parse::<Token![=]>()?;
            arguments.min_blocks = Some(input.parse()?);
        }
        "arch" if input.peek(syn::token::Paren) => {
            let content;
            syn::parenthesized!(content in input);
            while !content.is_empty() {
                arguments.architectures.extend(architecture(&content, diagnostics)?);
                if !content.is_empty() {
                    content.parse::<Token![,]>()?;
                }
            }
        }
        "arch" => {
            input.parse::<Token![=]>()?;
            arguments.architectures.extend(architecture(input, diagnostics)?);
        }
        name => {
            let span = diagnostics.spans.add(&key);
            let mut error = Diagnostic::new(Code::Attribute, span, format!("unknown argument `{name}`"));
            error = error
                .note("a kernel takes `block`, `grid`, `requires(…)`, `covers(…)`, `instances(…)`, `arch(…)`, `min_blocks`, `trust(…)` and `crate = path`");
            if name == "allow" {
                error = error.note(format!("`{name}` is planned, and not part of the language yet"));
            } else {
                // It may be what is missing, misspelt: that is one error.
                arguments.complete = false;
                if let Some(near) =
                    ["block", "grid", "requires", "covers", "instances", "min_blocks", "trust"]
                        .into_iter()
                        .find(|key| resembles(key, name))
                {
                    error = error.help(format!("write `{near}`"));
                }
            }
            diagnostics.report(error);
            skip_value(input)?;
        }
    }
    Ok(())
}

/// `sm_90`, or `"sm_90"`. `None` after an error.
fn architecture(input: ParseStream<'_>, diagnostics: &mut Diagnostics) -> syn::Result<Option<Architecture>> {
    let (name, span) = match input.parse::<Option<LitStr>>()? {
        Some(literal) => (literal.value(), literal.span()),
        None => {
            let name: TokenTree = input.parse()?;
            (name.to_string(), name.span())
        }
    };
    let known = Architecture::from_name(&name).filter(|known| SUPPORTED.contains(known));
    if known.is_none() {
        let span = diagnostics.spans.add_span(span);
        let names: Vec<&str> = SUPPORTED.iter().map(|architecture| architecture.name()).collect();
        diagnostics.report(
            Diagnostic::new(
                Code::Attribute,
                span,
                format!("`{name}` is no architecture that kernels are compiled for"),
            )
            .note(format!("those are {}", names.join(", "))),
        );
    }
    Ok(known)
}

/// The arguments of an instance: all but the list of instances.
pub(super) fn without_instances(tokens: TokenStream) -> TokenStream {
    let mut kept = TokenStream::new();
    let mut tokens = tokens.into_iter();
    while let Some(first) = tokens.next() {
        let skipped = matches!(&first, TokenTree::Ident(ident) if ident == "instances");
        let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ',');
        let mut argument = vec![first];
        while !argument.last().is_some_and(is_comma) {
            match tokens.next() {
                Some(token) => argument.push(token),
                None => break,
            }
        }
        if !skipped {
            kept.extend(argument);
        }
    }
    kept
}

/// Passes over the value of an unknown argument.
fn skip_value(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<TokenTree>()?;
    }
    Ok(())
}

/// Whether a name has half of the letters of a key, in their places from the front or from the back.
fn resembles(key: &str, name: &str) -> bool {
    let front = key.chars().zip(name.chars()).take_while(|(a, b)| a == b).count();
    let back = key.chars().rev().zip(name.chars().rev()).take_while(|(a, b)| a == b).count();
    2 * front.max(back) >= key.len()
}

/// Reports arguments that are missing, or too many.
pub(super) fn demand(arguments: &Arguments, function: &syn::ItemFn, diagnostics: &mut Diagnostics) {
    let name = &function.sig.ident;
    let lists = [("block", &arguments.block), ("grid", &arguments.grid)];
    let missing: Vec<String> =
        lists.iter().filter(|(_, list)| list.is_empty()).map(|(key, _)| format!("no `{key}`")).collect();
    if !missing.is_empty() {
        let at = diagnostics.spans.add(name);
        let (block, grid) = suggestion(arguments, function);
        diagnostics.report(
            Diagnostic::new(Code::Attribute, at, format!("kernel `{name}` has {}", missing.join(" and ")))
                .note("`block` gives the threads of a block and `grid` the blocks of the grid, each by up to three extents")
                .help(format!("write `#[tiled_kernel(block = [{block}], grid = [{grid}])]`")),
        );
    }
    for (key, list) in lists.into_iter().filter(|(_, list)| list.len() > 3) {
        let span = diagnostics.spans.add(&quote!(#(#list),*));
        diagnostics.report(Diagnostic::new(
            Code::Attribute,
            span,
            format!("`{key}` has {} extents, and a GPU has three", list.len()),
        ));
    }
}

/// A block and a grid that cover the kernel's first tensor; what the source has is kept.
fn suggestion(arguments: &Arguments, function: &syn::ItemFn) -> (String, String) {
    let written = |list: &[Expr]| list.iter().map(|extent| crate::tokens::print(quote!(#extent))).collect();
    let tensor = function.sig.inputs.iter().find_map(tensor);
    let rank = tensor.as_ref().map_or(1, |(_, rank)| *rank);
    let mut block: Vec<String> = written(&arguments.block);
    if block.is_empty() {
        let extents: &[&str] = if rank == 1 { &["256"] } else { &["32", "8"] };
        block = extents.iter().map(ToString::to_string).collect();
    }
    let mut grid: Vec<String> = written(&arguments.grid);
    if grid.is_empty() {
        grid = match &tensor {
            None => vec!["1".into()],
            Some((name, rank)) => (0..*rank)
                .rev()
                .map(|dimension| {
                    let extent = extent_text(name, *rank as u32, dimension as u32);
                    match block.get(rank - 1 - dimension) {
                        Some(threads) => format!("{extent}.div_ceil({threads})"),
                        None => extent,
                    }
                })
                .collect(),
        };
    }
    (block.join(", "), grid.join(", "))
}

/// The name and rank of a parameter that is a tensor.
fn tensor(input: &FnArg) -> Option<(String, usize)> {
    let FnArg::Typed(typed) = input else { return None };
    let (Pat::Ident(name), Type::Reference(reference)) = (&*typed.pat, &*typed.ty) else { return None };
    let Type::Path(path) = &*reference.elem else { return None };
    let segment = path.path.segments.last()?;
    let rank = match (segment.ident.to_string().as_str(), &segment.arguments) {
        ("Matrix", _) => 2,
        ("Tensor", PathArguments::AngleBracketed(arguments)) => match arguments.args.last()? {
            GenericArgument::Const(Expr::Lit(ExprLit { lit: Lit::Int(rank), .. })) => {
                rank.base10_parse().ok()?
            }
            _ => return None,
        },
        _ => return None,
    };
    (1..=3).contains(&rank).then(|| (name.ident.to_string(), rank))
}
