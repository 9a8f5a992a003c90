//! The function under the attribute.

use super::Param;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::{FnArg, ItemFn, Pat, ReturnType, Signature};

/// Reads the item as a function. Of one whose body does not parse, the body is empty, and its tokens come with it: the item
/// survives, and rustc reads them.
pub(super) fn parse(
    item: TokenStream,
    diagnostics: &mut Diagnostics,
) -> Option<(ItemFn, Option<TokenStream>)> {
    const FORM: &str =
        "put `#[tiled_kernel(…)]` on `fn name(input: &Matrix<f32>, output: &mut Matrix<f32>) { … }`";
    let (function, unread) = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => (function, None),
        Err(error) => {
            let span = diagnostics.spans.add_span(error.span());
            match syn::parse2::<syn::Item>(item.clone()) {
                Err(_) | Ok(syn::Item::Verbatim(_)) => {
                    let message = format!("this kernel does not parse: {error}");
                    diagnostics.defer(Diagnostic::new(Code::Syntax, span, message).help(FORM));
                }
                Ok(_) => {
                    let error = Diagnostic::new(Code::Unsupported, span, "a kernel is a function");
                    diagnostics.report(error.help(FORM));
                    return None;
                }
            }
            let (head, body) = take_body(item);
            let mut function = syn::parse2::<ItemFn>(head).ok()?;
            function.attrs.push(syn::parse_quote!(#[allow(unused_variables)]));
            (function, Some(body))
        }
    };
    check_signature(&function.sig, diagnostics);
    Some((function, unread))
}

/// A function with an empty body, and the tokens of the body that it had.
fn take_body(item: TokenStream) -> (TokenStream, TokenStream) {
    let mut tokens: Vec<TokenTree> = item.into_iter().collect();
    let body = match tokens.pop() {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => group.stream(),
        Some(TokenTree::Punct(punct)) if punct.as_char() == ';' => TokenStream::new(),
        last => {
            tokens.extend(last);
            TokenStream::new()
        }
    };
    tokens.push(Group::new(Delimiter::Brace, TokenStream::new()).into());
    (tokens.into_iter().collect(), body)
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
