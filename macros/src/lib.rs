//! The procedural-macro shell of tileproof. All logic is in `tileproof-compiler`, an ordinary crate.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;

/// Compiles a Rust function to a CUDA kernel whose memory behaviour is proven at compile time.
///
/// See the `tileproof` crate for the language and for what is proven.
#[proc_macro_attribute]
pub fn tiled_kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    tileproof_compiler::expand(attribute.into(), item.into()).into()
}
