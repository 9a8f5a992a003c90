//! The arguments of `#[tiled_kernel(…)]`.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use proc_macro2::TokenStream;
use quote::quote;
use syn::parse::{ParseStream, Parser};
use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::{Expr, Ident, Token};

/// What the attribute says.
pub(super) struct Arguments {
    pub(super) block: Vec<Expr>,
    pub(super) grid: Vec<Expr>,
    pub(super) requires: Vec<Expr>,
    pub(super) crate_path: syn::Path,
    /// Whether it parsed to its end, so that a missing argument is really missing.
    pub(super) complete: bool,
}

/// Reads the arguments; what does not parse is reported and left out.
pub(super) fn parse(tokens: TokenStream, diagnostics: &mut Diagnostics) -> Arguments {
    let mut arguments = Arguments {
        block: Vec::new(),
        grid: Vec::new(),
        requires: Vec::new(),
        crate_path: syn::parse_quote!(::tileproof),
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
        name => {
            let span = diagnostics.spans.add(&key);
            let mut error = Diagnostic::new(Code::Attribute, span, format!("unknown argument `{name}`"));
            error = error.note("a kernel takes `block`, `grid`, `requires(…)` and `crate = path`");
            if matches!(name, "instances" | "arch" | "min_blocks" | "allow") {
                error = error.note(format!("`{name}` is planned, and not part of the language yet"));
            }
            diagnostics.report(error);
            skip_value(input)?;
        }
    }
    Ok(())
}

/// Passes over the value of an unknown argument.
fn skip_value(input: ParseStream<'_>) -> syn::Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<proc_macro2::TokenTree>()?;
    }
    Ok(())
}

/// Reports arguments that are missing.
pub(super) fn demand(arguments: &Arguments, function: &syn::ItemFn, diagnostics: &mut Diagnostics) {
    let name = &function.sig.ident;
    for (list, key, example, meaning) in [
        (&arguments.block, "block", "block = [32, 8]", "the threads of a block"),
        (&arguments.grid, "grid", "grid = [input.cols().div_ceil(32)]", "the blocks of the grid"),
    ] {
        let at = diagnostics.spans.add(name);
        if list.is_empty() {
            diagnostics.report(
                Diagnostic::new(Code::Attribute, at, format!("kernel `{name}` has no `{key}`"))
                    .note(format!("`{key}` gives {meaning}, up to three extents"))
                    .help(format!("add it to the attribute: `#[tiled_kernel({example}, …)]`")),
            );
        } else if list.len() > 3 {
            let span =
                list.iter().map(Spanned::span).next().map_or(at, |span| diagnostics.spans.add_span(span));
            let all = quote!(#(#list),*);
            diagnostics.report(Diagnostic::new(
                Code::Attribute,
                span,
                format!(
                    "`{key}` has {} extents, and a GPU has three: [{}]",
                    list.len(),
                    crate::tokens::print(all)
                ),
            ));
        }
    }
}
