//! `#[tiled_module] mod kernels { … }`: what stands in the module, sorted by who reads it.
//!
//! Items are read one by one, so that one that does not parse, as in an editor while it is typed, costs no other.

use super::{depth, shared};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::parse::discouraged::Speculative;
use syn::parse::{ParseStream, Parser};
use syn::{Attribute, Ident, Item, Meta, Path, Token, Visibility};

/// A module as written.
#[derive(Debug)]
pub struct Module {
    /// Attributes, visibility, `mod name`.
    pub head: TokenStream,
    /// `#![…]` inside it.
    pub inner: Vec<Attribute>,
    /// What stands in it, in order.
    pub parts: Vec<Part>,
    /// What its kernels see.
    pub scope: Scope,
}

/// What a kernel sees around it.
#[derive(Clone, Debug)]
pub struct Scope {
    /// Constants, type aliases and functions, as written.
    pub items: Vec<Item>,
    /// Where the runtime crate is, unless the kernel says otherwise.
    pub crate_path: Path,
}

impl Default for Scope {
    /// Of a kernel that stands alone.
    fn default() -> Self {
        Scope { items: Vec::new(), crate_path: syn::parse_quote!(::tileproof) }
    }
}

/// A part of a module.
#[derive(Clone, Debug)]
pub enum Part {
    /// A function under `#[tiled_kernel(…)]`.
    Kernel {
        /// The name that the source has for the attribute.
        macro_path: Path,
        /// The attribute's arguments.
        attribute: TokenStream,
        /// The function, without the attribute.
        item: TokenStream,
    },
    /// An item that kernels see.
    Shared(Item),
    /// An item for rustc alone.
    Other(Item),
}

/// Reads the module. `None` where the item is none, after reporting it.
pub fn parse(attribute: TokenStream, item: TokenStream, diagnostics: &mut Diagnostics) -> Option<Module> {
    let crate_path = match crate_path.parse2(attribute) {
        Ok(path) => path,
        Err(error) => {
            let span = diagnostics.spans.add_span(error.span());
            diagnostics.report(
                Diagnostic::new(Code::Attribute, span, error.to_string())
                    .note("a module of kernels takes `crate = path`, and nothing else")
                    .help("write `#[tiled_module]`"),
            );
            None
        }
    };
    let item = depth::bounded_module(item, diagnostics);
    let (head, inner, items) = match contents.parse2(item) {
        Ok(contents) => contents,
        Err(error) => {
            let span = diagnostics.spans.add_span(error.span());
            diagnostics.report(
                Diagnostic::new(
                    Code::Unsupported,
                    span,
                    "`#[tiled_module]` is for a module with its contents",
                )
                .note("a macro sees the tokens under it, not other files")
                .help("write `#[tiled_module] mod kernels { … }`"),
            );
            return None;
        }
    };
    let parts: Vec<Part> = items.into_iter().filter_map(|item| part(item, diagnostics)).collect();
    let items = parts.iter().filter_map(|part| match part {
        Part::Shared(item) => Some(item.clone()),
        Part::Kernel { .. } | Part::Other(_) => None,
    });
    let mut scope = Scope { items: items.collect(), ..Scope::default() };
    if let Some(path) = crate_path {
        scope.crate_path = path;
    }
    Some(Module { head, inner, parts, scope })
}

fn crate_path(input: ParseStream<'_>) -> syn::Result<Option<Path>> {
    if input.is_empty() {
        return Ok(None);
    }
    input.parse::<Token![crate]>()?;
    input.parse::<Token![=]>()?;
    let path = input.call(Path::parse_mod_style)?;
    input.parse::<Option<Token![,]>>()?;
    Ok(Some(path))
}

/// An item, or tokens that are none, and why.
type Read = Result<Item, (TokenStream, syn::Error)>;

fn contents(input: ParseStream<'_>) -> syn::Result<(TokenStream, Vec<Attribute>, Vec<Read>)> {
    let attributes = Attribute::parse_outer(input)?;
    let visibility: Visibility = input.parse()?;
    let unsafety: Option<Token![unsafe]> = input.parse()?;
    let keyword: Token![mod] = input.parse()?;
    let name: Ident = input.parse()?;
    let head = quote!(#(#attributes)* #visibility #unsafety #keyword #name);
    let body;
    syn::braced!(body in input);
    let inner = Attribute::parse_inner(&body)?;
    let mut items = Vec::new();
    while !body.is_empty() {
        let ahead = body.fork();
        match ahead.parse::<Item>() {
            Ok(item) => {
                body.advance_to(&ahead);
                items.push(Ok(item));
            }
            Err(error) => items.push(Err((body.call(to_end_of_item)?, error))),
        }
    }
    Ok((head, inner, items))
}

/// Tokens up to the first `;` or `{ … }`.
pub(super) fn to_end_of_item(input: ParseStream<'_>) -> syn::Result<TokenStream> {
    let mut tokens = TokenStream::new();
    while !input.is_empty() {
        let token: TokenTree = input.parse()?;
        let end = match &token {
            TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
            TokenTree::Punct(punct) => punct.as_char() == ';',
            TokenTree::Ident(_) | TokenTree::Literal(_) => false,
        };
        tokens.extend([token]);
        if end {
            break;
        }
    }
    Ok(tokens)
}

fn part(item: Read, diagnostics: &mut Diagnostics) -> Option<Part> {
    let mut item = match item {
        Ok(item) => item,
        Err((tokens, error)) => return unread(tokens, &error, diagnostics),
    };
    if let Item::Fn(function) = &mut item
        && let Some((macro_path, attribute)) = take_kernel(&mut function.attrs, diagnostics)
    {
        return Some(Part::Kernel { macro_path, attribute, item: function.to_token_stream() });
    }
    Some(match shared::name(&item) {
        None => Part::Other(item),
        Some(_) => {
            check(&item, diagnostics);
            Part::Shared(item)
        }
    })
}

/// Tokens that are no item may yet be a kernel: its body is read on its own.
fn unread(tokens: TokenStream, error: &syn::Error, diagnostics: &mut Diagnostics) -> Option<Part> {
    let parser = |input: ParseStream<'_>| Ok((Attribute::parse_outer(input)?, input.parse::<TokenStream>()?));
    if let Ok((mut attributes, rest)) = parser.parse2(tokens.clone())
        && let Some((macro_path, attribute)) = take_kernel(&mut attributes, &mut Diagnostics::default())
    {
        return Some(Part::Kernel { macro_path, attribute, item: quote!(#(#attributes)* #rest) });
    }
    let span = diagnostics.spans.add_span(error.span());
    diagnostics.report(
        Diagnostic::new(Code::Syntax, span, format!("this item does not parse: {error}"))
            .help("write an item: a kernel, a `const`, a `type`, a `fn` or a `use`"),
    );
    None
}

/// Takes `#[tiled_kernel(…)]` off a function's attributes: its path and its arguments.
fn take_kernel(
    attributes: &mut Vec<Attribute>,
    diagnostics: &mut Diagnostics,
) -> Option<(Path, TokenStream)> {
    let is_kernel = |attribute: &Attribute| {
        attribute.path().segments.last().is_some_and(|segment| segment.ident == "tiled_kernel")
    };
    let mut mine = attributes.extract_if(.., |attribute| is_kernel(attribute));
    let first = mine.next()?;
    if let Some(second) = mine.next() {
        let span = diagnostics.spans.add(&second);
        diagnostics.report(
            Diagnostic::new(Code::Attribute, span, "a second `#[tiled_kernel]` on one function")
                .help("remove it"),
        );
    }
    drop(mine);
    let path = first.path().clone();
    let arguments = match first.meta {
        Meta::List(list) => list.tokens,
        Meta::NameValue(pair) => {
            let (sign, value) = (pair.eq_token, pair.value);
            quote!(#sign #value)
        }
        Meta::Path(_) => TokenStream::new(),
    };
    Some((path, arguments))
}

/// Reports what would mean one thing to rustc and another to a kernel.
fn check(item: &Item, diagnostics: &mut Diagnostics) {
    let attributes = match item {
        Item::Const(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        _ => return,
    };
    for attribute in attributes.iter().filter(|a| a.path().is_ident("cfg") || a.path().is_ident("cfg_attr")) {
        let span = diagnostics.spans.add(attribute);
        diagnostics.report(
            Diagnostic::new(Code::Unsupported, span, "a kernel cannot depend on a `cfg`")
                .note("the macro reads items before rustc decides which of them exist")
                .help("put the `cfg` on the whole module, and write one for each case"),
        );
    }
    if let Item::Type(alias) = item {
        shared::check_alias(alias, diagnostics);
    }
}
