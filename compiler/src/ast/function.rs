//! The function under the attribute.

use super::Param;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Expr, FnArg, Ident, ItemFn, Pat, ReturnType, Signature, Stmt, Visibility};

const FORM: &str =
    "put `#[tiled_kernel(…)]` on `fn name(input: &Matrix<f32>, output: &mut Matrix<f32>) { … }`";

/// Reads the item as a function. One that does not parse, as while it is typed in an editor, is reported, and what of it does parse
/// is kept: `true` comes with it, for nothing follows from its body.
pub(super) fn parse(item: TokenStream, diagnostics: &mut Diagnostics) -> Option<(ItemFn, bool)> {
    let (function, broken) = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => (function, false),
        Err(error) => {
            let span = diagnostics.spans.add_span(error.span());
            if let Ok(other) = syn::parse2::<syn::Item>(item.clone())
                && !matches!(other, syn::Item::Verbatim(_))
            {
                let error = Diagnostic::new(Code::Unsupported, span, "a kernel is a function");
                diagnostics.report(error.help(FORM));
                return None;
            }
            let message = format!("this kernel does not parse: {error}");
            let error = Diagnostic::new(Code::Syntax, span, message).help(FORM);
            let has_body = has_body(&item);
            let recovered = recovered(item);
            // rustc reads an item before it gives it to a macro: what is wrong in a body, it has said. It lets pass a function without.
            match has_body && recovered.is_some() {
                true => diagnostics.defer(error),
                false => diagnostics.report(error),
            }
            let mut function = recovered?;
            function.attrs.push(syn::parse_quote!(#[allow(unused)]));
            (function, true)
        }
    };
    check_signature(&function.sig, diagnostics);
    Some((function, broken))
}

/// Whether the item ends with a block.
fn has_body(item: &TokenStream) -> bool {
    let last = item.clone().into_iter().last();
    matches!(last, Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace)
}

/// What can be read of a function that does not parse: its attributes, its name, and those of its parameters and statements
/// that do.
fn recovered(item: TokenStream) -> Option<ItemFn> {
    let tokens: Vec<TokenTree> = item.into_iter().collect();
    let is_fn = |token: &TokenTree| matches!(token, TokenTree::Ident(ident) if ident == "fn");
    let place = tokens.iter().position(is_fn)?;
    let name: Ident = syn::parse2(tokens.get(place + 1)?.clone().into()).ok()?;
    let head = |input: ParseStream<'_>| {
        let (attrs, vis) = (Attribute::parse_outer(input)?, input.parse::<Visibility>()?);
        input.parse::<TokenStream>()?;
        Ok((attrs, vis))
    };
    let head = head.parse2(tokens[..place].iter().cloned().collect());
    let (attrs, vis) = head.unwrap_or((Vec::new(), Visibility::Inherited));
    let group = |wanted| {
        move |token: &TokenTree| match token {
            TokenTree::Group(group) if group.delimiter() == wanted => Some(group.stream()),
            _ => None,
        }
    };
    let behind = &tokens[place + 2..];
    let inputs = behind.iter().find_map(group(Delimiter::Parenthesis)).unwrap_or_default();
    let inputs: Vec<FnArg> =
        pieces(inputs, ',').into_iter().filter_map(|input| syn::parse2(input).ok()).collect();
    let body = behind.iter().rev().find_map(group(Delimiter::Brace)).unwrap_or_default();
    let stmts = statements.parse2(body).unwrap_or_default();
    let mut function: ItemFn = syn::parse_quote!(#vis fn #name(#(#inputs),*) {});
    (function.attrs, function.block.stmts) = (attrs, stmts);
    Some(function)
}

/// Tokens between separators.
fn pieces(tokens: TokenStream, separator: char) -> Vec<TokenStream> {
    let mut pieces = vec![TokenStream::new()];
    for token in tokens {
        match (token, pieces.last_mut()) {
            (TokenTree::Punct(punct), _) if punct.as_char() == separator => pieces.push(TokenStream::new()),
            (token, Some(piece)) => piece.extend([token]),
            (_, None) => {}
        }
    }
    pieces
}

/// The statements that parse.
fn statements(input: ParseStream<'_>) -> syn::Result<Vec<Stmt>> {
    let mut list = Vec::new();
    while !input.is_empty() {
        let ahead = input.fork();
        match ahead.parse::<Stmt>() {
            Ok(statement) => {
                input.advance_to(&ahead);
                list.push(statement);
            }
            Err(_) => {
                super::to_end_of_item(input)?;
            }
        }
    }
    // The value of a block is its last statement's; another expression without its semicolon is not complete.
    let last = list.len().saturating_sub(1);
    let mut place = 0;
    list.retain(|statement| {
        place += 1;
        let whole = quote::quote!({ #statement ; });
        place > last
            || !matches!(statement, Stmt::Expr(_, None))
            || is_complete(statement) && syn::parse2::<syn::Block>(whole).is_ok()
    });
    Ok(list)
}

/// Whether an expression needs no semicolon.
fn is_complete(statement: &Stmt) -> bool {
    matches!(
        statement,
        Stmt::Expr(
            Expr::If(_)
                | Expr::ForLoop(_)
                | Expr::While(_)
                | Expr::Loop(_)
                | Expr::Match(_)
                | Expr::Block(_)
                | Expr::Unsafe(_),
            _
        )
    )
}

fn check_signature(signature: &Signature, diagnostics: &mut Diagnostics) {
    let mut refuse = |tokens: &dyn quote::ToTokens, what: &str, instead: &str| {
        let span = diagnostics.spans.add(&tokens.to_token_stream());
        diagnostics
            .report(Diagnostic::new(Code::Unsupported, span, what.to_string()).help(instead.to_string()));
    };
    if let Some(token) = &signature.constness {
        refuse(token, "a kernel cannot be `const`", "remove `const`: a kernel runs on the GPU");
    }
    if let Some(token) = &signature.asyncness {
        refuse(token, "a kernel cannot be `async`", "remove `async`: a launch is already asynchronous");
    }
    if let Some(token) = &signature.abi {
        refuse(token, "a kernel has no ABI of its own", "remove `extern`: the launcher passes the arguments");
    }
    if let syn::Safety::Unsafe(token) = &signature.safety {
        refuse(
            token,
            "a kernel cannot be declared `unsafe`",
            "remove `unsafe`: whether the launch is safe follows from the proofs",
        );
    }
    if let ReturnType::Type(_, ty) = &signature.output {
        refuse(ty, "a kernel cannot return a value", "write the result to a `&mut` tensor argument");
    }
    if let Some(token) = &signature.variadic {
        refuse(token, "a kernel has a fixed number of arguments", "remove `...`");
    }
}

/// The parameters with a plain name.
pub(super) fn params(signature: &Signature, diagnostics: &mut Diagnostics) -> Vec<Param> {
    let mut params = Vec::new();
    for input in &signature.inputs {
        let named = match input {
            FnArg::Typed(typed) => match &*typed.pat {
                Pat::Ident(pat) if pat.by_ref.is_none() && pat.subpat.is_none() => {
                    if let Some(token) = &pat.mutability {
                        let span = diagnostics.spans.add(token);
                        diagnostics.report(
                            Diagnostic::new(Code::Parameter, span, "a kernel's parameter cannot be `mut`")
                                .note("all threads share it")
                                .help(format!("give each thread its own: `let mut {0} = {0};`", pat.ident)),
                        );
                    }
                    Some(Param { name: pat.ident.clone(), ty: (*typed.ty).clone() })
                }
                _ => None,
            },
            FnArg::Receiver(_) => None,
        };
        if let Some(param) = named {
            params.push(param);
        } else {
            let span = diagnostics.spans.add(input);
            diagnostics.report(
                Diagnostic::new(Code::Parameter, span, "a kernel's parameter has a plain name")
                    .help("write `input: &Matrix<f32>`"),
            );
        }
    }
    params
}
