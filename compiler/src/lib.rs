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
pub mod lower;
pub mod simulate;
pub mod span;
pub mod tokens;

use check::Checked;
use diagnostic::Diagnostics;
use proc_macro2::TokenStream;
use std::str::FromStr;
use tileproof_model::report::Report;

/// The macro: an attribute's arguments and its item become Rust items.
pub fn expand(attribute: TokenStream, item: TokenStream) -> TokenStream {
    let mut diagnostics = Diagnostics::default();
    let Some(ast) = ast::parse(attribute.clone(), item.clone(), &mut diagnostics) else {
        return emit::unread(item, &diagnostics);
    };
    match judge(&ast, &mut diagnostics) {
        Some(checked) => emit::items(&ast, &checked, attribute, &diagnostics),
        None => emit::failed(&ast, &diagnostics),
    }
}

/// A kernel compiled from text.
#[derive(Debug)]
pub struct Compiled {
    /// The kernel.
    pub kernel: ir::Kernel,
    /// Its CUDA text.
    pub cuda: String,
    /// What was proven.
    pub report: Report,
}

/// Compiles a kernel from the text of its attribute's arguments and of its function.
///
/// # Errors
/// All diagnostics as text, separated by empty lines, each with the line it is about.
pub fn compile(attribute: &str, item: &str) -> Result<Compiled, String> {
    let mut diagnostics = Diagnostics::default();
    let parse = |text| TokenStream::from_str(text).map_err(|error| error.to_string());
    let ast = ast::parse(parse(attribute)?, parse(item)?, &mut diagnostics);
    match ast.and_then(|ast| judge(&ast, &mut diagnostics)) {
        Some(checked) => Ok(Compiled {
            cuda: emit::cuda(&checked).text,
            report: checked.report().clone(),
            kernel: checked.kernel().clone(),
        }),
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
