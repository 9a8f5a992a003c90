//! The kernels of the transpose ladder as text: what their expansion costs, and that no change to their tokens makes it
//! panic.

mod cost;
mod mutation;
mod numbers;

use proc_macro2::TokenStream;
use quote::ToTokens;
use std::str::FromStr;
use syn::{Item, Meta};

/// A kernel's name, the arguments of its attribute, and its function.
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) attribute: TokenStream,
    pub(crate) item: TokenStream,
}

/// The kernels of the example, in order.
pub(crate) fn kernels() -> Vec<Source> {
    kernels_of(include_str!("../../../examples/src/kernels/transpose.rs"))
}

/// The kernels of a file, outside of its modules.
pub(crate) fn kernels_of(text: &str) -> Vec<Source> {
    let file: syn::File =
        syn::parse2(TokenStream::from_str(text).expect("the example is Rust")).expect("the example is Rust");
    file.items.into_iter().filter_map(kernel).collect()
}

fn kernel(item: Item) -> Option<Source> {
    let Item::Fn(mut function) = item else { return None };
    let place = function.attrs.iter().position(|attribute| attribute.path().is_ident("tiled_kernel"))?;
    let Meta::List(list) = function.attrs.remove(place).meta else { return None };
    Some(Source {
        name: function.sig.ident.to_string(),
        attribute: list.tokens,
        item: function.into_token_stream(),
    })
}

#[test]
fn the_ladder_has_six_kernels() {
    let names: Vec<String> = kernels().into_iter().map(|kernel| kernel.name).collect();
    assert_eq!(
        names,
        [
            "copy",
            "transpose_naive",
            "transpose_shared",
            "transpose_padded",
            "transpose_xor",
            "transpose_vectorised"
        ]
    );
}
