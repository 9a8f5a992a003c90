//! Source positions. The IR refers to them by number, so that it stays plain data that can be compared.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The number of a span in its [`SpanTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpanId(u32);

/// A stretch of source: its first and its last token, and its text on one line.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// The span of the first token.
    pub start: Span,
    /// The span of the last token.
    pub end: Span,
    /// The source text, white space normalised.
    pub text: String,
}

/// All spans that a kernel refers to.
#[derive(Clone, Debug, Default)]
pub struct SpanTable {
    stretches: Vec<Stretch>,
}

impl SpanTable {
    /// Records the stretch that `tokens` covers.
    pub fn add(&mut self, tokens: &impl ToTokens) -> SpanId {
        let tokens = tokens.to_token_stream();
        let (start, end) = ends(&tokens);
        self.push(Stretch { start, end, text: crate::tokens::print(tokens) })
    }

    /// Records one span, for which there is no text.
    pub fn add_span(&mut self, span: Span) -> SpanId {
        self.push(Stretch { start: span, end: span, text: String::new() })
    }

    #[expect(clippy::expect_used, reason = "a source of that size does not fit in memory")]
    fn push(&mut self, stretch: Stretch) -> SpanId {
        let id = u32::try_from(self.stretches.len()).expect("fewer than 2^32 spans");
        self.stretches.push(stretch);
        SpanId(id)
    }

    /// The stretch with this number.
    pub fn get(&self, id: SpanId) -> &Stretch {
        &self.stretches[id.0 as usize]
    }

    /// The line of its first token, counted from 1.
    pub fn line(&self, id: SpanId) -> u32 {
        self.get(id).start.start().line as u32
    }
}

fn ends(tokens: &TokenStream) -> (Span, Span) {
    let mut spans = tokens.clone().into_iter().map(|token| token.span());
    let start = spans.next().unwrap_or_else(Span::call_site);
    (start, spans.last().unwrap_or(start))
}
