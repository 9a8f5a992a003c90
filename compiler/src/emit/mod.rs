//! What the compiler hands on: CUDA text for NVRTC, and Rust items for rustc.

mod body;
pub mod cuda;
mod host;

pub use cuda::{Cuda, CudaFacts};

use crate::ast;
use crate::check::Checked;
use crate::diagnostic::{Diagnostics, compile_errors, invoke};
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
    let (kept, item) =
        (body::kept(ast, TokenStream::new()), host::item(ast, checked, &cuda, &source, diagnostics));
    quote!(#kept #item)
}

/// The Rust items of a kernel that did not pass, with the errors.
pub fn failed(ast: &ast::Kernel, diagnostics: &Diagnostics) -> TokenStream {
    let errors = compile_errors(diagnostics);
    // Where there are errors of ours, what rustc might say better is left to it alone.
    let deferred: TokenStream = match errors.is_empty() {
        true => diagnostics
            .deferred()
            .into_iter()
            .map(|error| {
                let panic = invoke("panic", error, &diagnostics.spans);
                quote!(#panic;)
            })
            .collect(),
        false => TokenStream::new(),
    };
    let (kept, stub) = (body::kept(ast, deferred), host::stub(ast));
    quote!(#errors #kept #stub)
}
