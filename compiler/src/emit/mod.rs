//! What the compiler hands on: CUDA text for NVRTC, and Rust items for rustc.

// A new construct must be decided here.
#![deny(clippy::wildcard_enum_match_arm)]

mod body;
pub mod cuda;
mod host;

pub use cuda::{Cuda, CudaFacts};

use crate::ast;
use crate::check::Checked;
use crate::diagnostic::{Diagnostics, compile_errors, panic};
use crate::tokens;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

/// The CUDA text of a kernel that passed its checks.
pub fn cuda(checked: &Checked) -> Cuda {
    let facts = CudaFacts { trips: checked.facts().trips.clone(), narrow: checked.facts().narrow };
    cuda::cuda(checked.kernel(), &facts)
}

/// The Rust items of a kernel that passed its checks.
pub fn items(
    ast: &ast::Kernel,
    checked: &Checked,
    attribute: TokenStream,
    diagnostics: &Diagnostics,
) -> TokenStream {
    let cuda = cuda(checked);
    let source = host::Source {
        attribute: tokens::print(attribute),
        item: tokens::print(ast.source.to_token_stream()),
    };
    let (kept, item) = (body::kept(ast, Vec::new()), host::item(ast, checked, &cuda, &source, diagnostics));
    quote!(#kept #item)
}

/// The Rust items of a kernel that did not pass, with the errors.
pub fn failed(ast: &ast::Kernel, diagnostics: &Diagnostics) -> TokenStream {
    let errors = compile_errors(diagnostics);
    let (kept, stub) = (body::kept(ast, deferred(diagnostics)), host::stub(ast));
    // The body last: where it does not parse, rustc reads what stands before it.
    quote!(#errors #stub #kept)
}

/// An item that could not be read as a function, with the errors.
pub fn unread(item: TokenStream, diagnostics: &Diagnostics) -> TokenStream {
    let errors = compile_errors(diagnostics);
    let deferred = deferred(diagnostics);
    quote!(#errors #(const _: () = { #deferred };)* #item)
}

/// What is an error only where rustc has none, as panics. Where there are errors of ours, it is left to rustc alone.
fn deferred(diagnostics: &Diagnostics) -> Vec<TokenStream> {
    if !diagnostics.errors().is_empty() {
        return Vec::new();
    }
    let deferred = diagnostics.deferred().into_iter();
    deferred.map(|error| panic(error, &diagnostics.spans)).collect()
}
