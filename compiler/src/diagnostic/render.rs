//! Diagnostics as text and as tokens that make rustc print them.

use super::{Diagnostic, Diagnostics};
use crate::span::{SpanTable, Stretch};
use proc_macro2::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use std::fmt::Write;

/// The message as rustc shows it above the arrow.
pub fn to_text(diagnostic: &Diagnostic) -> String {
    let mut text = format!("{} [{}]", diagnostic.message, diagnostic.code.number());
    for note in &diagnostic.notes {
        let _ = write!(text, "\nnote: {note}");
    }
    for help in &diagnostic.helps {
        let _ = write!(text, "\nhelp: {help}");
    }
    text
}

/// One `compile_error!` an error, each on its stretch of source.
pub fn compile_errors(diagnostics: &Diagnostics) -> TokenStream {
    let errors = diagnostics.errors().into_iter();
    errors.map(|error| compile_error(error, &diagnostics.spans)).collect()
}

/// A `compile_error!` with the message.
pub(crate) fn compile_error(diagnostic: &Diagnostic, spans: &SpanTable) -> TokenStream {
    invoke("compile_error", &to_text(diagnostic), spans.get(diagnostic.span))
}

/// A panic with the message.
pub(crate) fn panic(diagnostic: &Diagnostic, spans: &SpanTable) -> TokenStream {
    // The message is a format string.
    let text = to_text(diagnostic).replace('{', "{{").replace('}', "}}");
    invoke("panic", &text, spans.get(diagnostic.span))
}

/// A call of a macro of `core` with a text, spanning the stretch: rustc underlines from the first token's span to
/// the last one's.
fn invoke(name: &str, text: &str, stretch: &Stretch) -> TokenStream {
    let punct = |c, spacing, span| {
        let mut punct = Punct::new(c, spacing);
        punct.set_span(span);
        TokenTree::from(punct)
    };
    let path = |name: &str, span: Span| {
        [punct(':', Spacing::Joint, span), punct(':', Spacing::Alone, span), Ident::new(name, span).into()]
    };
    let mut message = Literal::string(text);
    message.set_span(stretch.end);
    let mut arguments = Group::new(Delimiter::Brace, TokenStream::from(TokenTree::from(message)));
    arguments.set_span(stretch.end);
    let mut tokens = TokenStream::new();
    tokens.extend(path("core", stretch.start));
    tokens.extend(path(name, stretch.start));
    tokens.extend([punct('!', Spacing::Alone, stretch.start), arguments.into()]);
    tokens
}
