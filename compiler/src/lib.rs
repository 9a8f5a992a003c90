//! The compiler behind tileproof's `#[tiled_kernel]`.
//!
//! One path: tokens → [`mod@ast`] → [`ir`] → [`facts`] → [`check::Checked`] → CUDA text, report and host items ([`emit`]).
//! It has no CUDA, no I/O, no clock and no environment; equal tokens give equal bytes.

#![forbid(unsafe_code)]
// The macro never panics, and says nothing but by its tokens.
#![cfg_attr(
    not(test),
    deny(
        clippy::dbg_macro,
        clippy::expect_used,
        clippy::panic,
        clippy::print_stderr,
        clippy::print_stdout,
        clippy::todo,
        clippy::unimplemented,
        clippy::unreachable,
        clippy::unwrap_used
    )
)]

pub mod ast;
pub mod check;
pub mod diagnostic;
pub mod emit;
pub mod facts;
pub mod ir;
mod library;
pub mod lower;
pub mod simulate;
pub mod span;
pub mod tokens;

use ast::{Family, Scope};
use check::Checked;
use diagnostic::{Diagnostics, Said};
use proc_macro2::TokenStream;
use std::str::FromStr;
use tileproof_model::report::Report;

/// `#[tiled_kernel]`: an attribute's arguments and its function become Rust items.
pub fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    kernel(attribute, item, &Scope::default(), &mut Said::default())
}

/// `#[tiled_module]`: the same for every kernel of a module, which sees the module's items.
pub fn expand_module(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let Some(module) = ast::parse_module(attribute, item.clone(), &mut diagnostics) else {
        return emit::unread(item, &diagnostics);
    };
    let mut said = Said::default();
    let kernels = module.parts.iter().filter_map(|part| match part {
        ast::Part::Kernel { attribute, item, .. } => {
            Some(kernel(attribute.clone(), item.clone(), &module.scope, &mut said))
        }
        ast::Part::Shared(_) | ast::Part::Other(_) => None,
    });
    let kernels = kernels.collect();
    emit::module(&module, kernels, &diagnostics)
}

fn kernel(attribute: TokenStream, item: TokenStream, scope: &Scope, said: &mut Said) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let Some(family) = ast::parse(attribute, item.clone(), scope, &mut diagnostics) else {
        return emit::unread(item, &diagnostics);
    };
    let Family { kernels, generic } = &family;
    match (generic, kernels.as_slice()) {
        (None, kernels) => kernels
            .iter()
            .map(|kernel| match judge(kernel, &mut diagnostics) {
                Some(checked) => emit::items(kernel, &checked, &diagnostics),
                None => {
                    diagnostics.say_once(said);
                    emit::failed(kernel, &diagnostics)
                }
            })
            .collect(),
        (Some(generic), kernels) => {
            let judged = |kernel| {
                let mut own = diagnostics.of_instance();
                let checked = judge(kernel, &mut own);
                (checked, own)
            };
            let judged: Vec<_> = kernels.iter().map(judged).collect();
            emit::instances(generic, kernels, &judged, &diagnostics, said)
        }
    }
}

/// A kernel compiled from text.
#[derive(Debug)]
pub struct Compiled {
    /// The kernel.
    pub kernel: ir::Kernel,
    /// Its CUDA text.
    pub cuda: String,
    /// What a launch of it needs to know.
    pub launcher: emit::Launcher,
    /// What was proven.
    pub report: Report,
}

/// Compiles a kernel from the text of its attribute's arguments and of its function; of a generic one the first instance.
///
/// # Errors
/// All diagnostics as text, separated by empty lines, each with the line it is about.
pub fn compile(attribute: &str, item: &str) -> Result<Compiled, String> {
    compile_in("", attribute, item)
}

/// The same for a kernel that uses items around it, of which `shared` is the text.
///
/// # Errors
/// As [`compile`].
pub fn compile_in(shared: &str, attribute: &str, item: &str) -> Result<Compiled, String> {
    let mut diagnostics = Diagnostics::default();
    let parse = |text| TokenStream::from_str(text).map_err(|error| error.to_string());
    let shared = syn::parse_str::<syn::File>(shared).map_err(|error| error.to_string())?;
    let scope = Scope { items: shared.items, ..Scope::default() };
    let family = ast::parse(parse(attribute)?, parse(item)?, &scope, &mut diagnostics);
    let kernel = family.and_then(|family| family.kernels.into_iter().next());
    match kernel.and_then(|kernel| judge(&kernel, &mut diagnostics)) {
        Some(checked) => {
            let cuda = emit::cuda(&checked);
            Ok(Compiled {
                launcher: emit::launcher(&checked, &cuda, &diagnostics.spans),
                cuda: cuda.text,
                report: checked.report().clone(),
                kernel: checked.kernel().clone(),
            })
        }
        None => {
            let list = diagnostics.errors().into_iter().chain(diagnostics.deferred());
            let list = list.map(|error| {
                format!("line {}: {}", diagnostics.spans.line(error.span), diagnostic::to_text(error))
            });
            Err(list.collect::<Vec<_>>().join("\n\n"))
        }
    }
}

/// From the kernel as written to its proofs. What lowering refuses is not analysed.
fn judge(ast: &ast::Kernel, diagnostics: &mut Diagnostics) -> Option<Checked> {
    let kernel = lower::lower(ast, diagnostics);
    if diagnostics.is_failed() {
        return None;
    }
    let facts = facts::analyse(&kernel);
    check::check(kernel, facts, diagnostics)
}
