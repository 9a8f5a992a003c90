//! What the compiler hands on: CUDA text for NVRTC, and Rust items for rustc.

// A new construct must be decided here.
#![deny(clippy::wildcard_enum_match_arm)]

mod body;
pub mod cuda;
mod declared;
mod generic;
mod host;
mod launch;
mod launcher;
mod report;

pub(crate) use body::TYPES;
pub use cuda::{Cuda, CudaFacts};
pub use launcher::{Condition, Launcher};

use crate::ast;
use crate::check::Checked;
use crate::diagnostic::{Code, Diagnostics, Said, compile_error, compile_errors, merge, panic};
use crate::span::SpanTable;
use crate::tokens;
use proc_macro2::TokenStream;
use quote::{ToTokens, quote};

/// The CUDA text of a kernel that passed its checks.
pub fn cuda(checked: &Checked) -> Cuda {
    let facts = CudaFacts { trips: checked.facts().trips.clone(), narrow: checked.facts().narrow };
    cuda::cuda(checked.kernel(), &facts)
}

/// What a launch needs to know of a kernel that passed its checks, of which `cuda` is the text.
pub fn launcher(checked: &Checked, cuda: &Cuda, spans: &SpanTable) -> Launcher {
    launcher::launcher(checked, &cuda.entry, spans)
}

/// The Rust items of a kernel that passed its checks.
pub fn items(ast: &ast::Kernel, checked: &Checked, diagnostics: &Diagnostics) -> TokenStream {
    let (kept, item) = (body::kept(ast, Vec::new()), host_item(ast, checked, diagnostics));
    quote!(#kept #item)
}

fn host_item(ast: &ast::Kernel, checked: &Checked, diagnostics: &Diagnostics) -> TokenStream {
    let ast::Source { attribute, item, shared } = &ast.source;
    let source = host::Source {
        attribute: tokens::print(attribute.clone()),
        item: tokens::print(item.to_token_stream()),
        shared: tokens::print(quote!(#(#shared)*)),
    };
    host::item(ast, checked, &cuda(checked), &source, diagnostics)
}

/// The Rust items of a kernel that did not pass, with the errors.
pub fn failed(ast: &ast::Kernel, diagnostics: &Diagnostics) -> TokenStream {
    let errors = compile_errors(diagnostics);
    let (kept, stub) = (body::kept(ast, deferred(diagnostics)), host::stub(ast));
    quote!(#errors #stub #kept)
}

/// The Rust items of a generic kernel: its instances, each with what judging it gave, and what chooses among them. `read` has what was
/// wrong before there were instances.
pub fn instances(
    generic: &ast::Generic,
    kernels: &[ast::Kernel],
    judged: &[(Option<Checked>, Diagnostics)],
    read: &Diagnostics,
    said: &mut Said,
) -> TokenStream {
    let names = generic.instances.iter().map(|instance| instance.text.as_str());
    let own: Vec<(&str, &Diagnostics)> =
        names.zip(judged.iter().map(|(_, diagnostics)| diagnostics)).collect();
    let (found, left) = (merge(&own, Diagnostics::errors), merge(&own, Diagnostics::deferred));
    let clean = read.errors().is_empty() && found.is_empty();
    let mut out = compile_errors(read);
    let new = found.iter().filter(|(error, _, spans)| said.is_new(error, spans));
    out.extend(new.map(|(error, _, spans)| compile_error(error, spans)));
    for (place, (kernel, (checked, diagnostics))) in kernels.iter().zip(judged).enumerate() {
        // Where there are errors of ours, what is rustc's is left to it alone.
        let panics = left.iter().filter(|(_, instance, _)| *instance == place && clean);
        let kept = body::kept(kernel, panics.map(|(error, _, spans)| panic(error, spans)).collect());
        out.extend(match checked {
            Some(checked) => host_item(kernel, checked, diagnostics),
            None => host::stub(kernel),
        });
        out.extend(kept);
    }
    let passed = !read.is_failed() && judged.iter().all(|(checked, _)| checked.is_some());
    let safety =
        launch::of_instances(kernels.iter().zip(judged).map(|(kernel, (checked, _))| match checked {
            Some(checked) => launch::of_checked(checked),
            None => launch::of_refused(kernel),
        }));
    out.extend(generic::item(generic, passed && !kernels.is_empty(), &safety));
    out
}

/// A module of kernels: its items as rustc shall see them, its kernels as they were expanded, in the module's order.
pub fn module(module: &ast::Module, kernels: Vec<TokenStream>, diagnostics: &Diagnostics) -> TokenStream {
    let ast::Module { head, inner, parts, scope } = module;
    let errors = compile_errors(diagnostics);
    let (mut items, mut kernels) = (TokenStream::new(), kernels.into_iter());
    for part in parts {
        match part {
            ast::Part::Kernel { macro_path, .. } => {
                // The attribute is gone; what imported its name is used all the same.
                items.extend(quote!(const _: () = { #[allow(unused_imports)] use #macro_path as _; };));
                items.extend(kernels.next());
            }
            ast::Part::Shared(item) => items.extend(body::shared(item, scope)),
            ast::Part::Other(item) => item.to_tokens(&mut items),
        }
    }
    quote!(#head { #(#inner)* #errors #items })
}

/// An item that could not be read as a function, with the errors.
pub fn unread(item: TokenStream, diagnostics: &Diagnostics) -> TokenStream {
    let errors = compile_errors(diagnostics);
    let deferred = deferred(diagnostics);
    // What is no item cannot stand here, and names nothing.
    let item = ast::is_shallow(&item).then(|| syn::parse2::<syn::Item>(item).ok());
    let item = item.flatten();
    quote!(#errors #(const _: () = { #deferred };)* #item)
}

/// What is an error only where rustc has none, as panics. Where there are errors of ours, it is left to rustc alone, and so is a body
/// that does not parse: rustc has read it before the macro.
fn deferred(diagnostics: &Diagnostics) -> Vec<TokenStream> {
    if !diagnostics.errors().is_empty() {
        return Vec::new();
    }
    let deferred = diagnostics.deferred().into_iter().filter(|error| error.code != Code::Syntax);
    deferred.map(|error| panic(error, &diagnostics.spans)).collect()
}
