//! Source positions. The IR refers to them by number, so that it stays plain data that can be compared.

use proc_macro2::{Span, TokenStream};
use quote::ToTokens;

/// The number of a span in its [`SpanTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SpanId(u32);

/// The number of a call of a helper function in its [`SpanTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CallId(u32);

/// A call of a helper function that was inlined.
#[derive(Clone, Debug)]
struct Call {
    helper: String,
    /// The line of the call, counted from 1.
    line: u32,
    /// The call in which it stands.
    outer: Option<CallId>,
}

/// A stretch of source: its first and its last token, and its text on one line.
#[derive(Clone, Debug)]
pub struct Stretch {
    /// The span of the first token.
    pub start: Span,
    /// The span of the last token.
    pub end: Span,
    /// The source text, white space normalised.
    pub text: String,
    /// Where it was inlined from a helper function: the call.
    pub call: Option<CallId>,
}

/// All spans that a kernel refers to.
#[derive(Clone, Debug, Default)]
pub struct SpanTable {
    stretches: Vec<Stretch>,
    calls: Vec<Call>,
    /// The call that is being inlined.
    current: Option<CallId>,
    /// Where all that is recorded stands, if it has no place of its own in the source.
    library: Option<(Span, Span)>,
}

impl SpanTable {
    /// Records the stretch that `tokens` covers.
    pub fn add(&mut self, tokens: &impl ToTokens) -> SpanId {
        let tokens = tokens.to_token_stream();
        let (start, end) = self.library.unwrap_or_else(|| ends(&tokens));
        self.push(Stretch { start, end, text: crate::tokens::print(tokens), call: self.current })
    }

    /// Records one span, for which there is no text.
    pub fn add_span(&mut self, span: Span) -> SpanId {
        self.push(Stretch { start: span, end: span, text: String::new(), call: self.current })
    }

    /// What is recorded from now on is text of the compiler's own, so it stands where the call is that it serves; `None`
    /// ends that. What was so before.
    pub(crate) fn stand_at(&mut self, call: Option<(Span, Span)>) -> Option<(Span, Span)> {
        std::mem::replace(&mut self.library, call)
    }

    /// Whether it is the compiler's own text that is read now.
    pub(crate) fn is_in_library(&self) -> bool {
        self.library.is_some()
    }

    #[expect(clippy::expect_used, reason = "a source of that size does not fit in memory")]
    fn push(&mut self, stretch: Stretch) -> SpanId {
        let id = u32::try_from(self.stretches.len()).expect("fewer than 2^32 spans");
        self.stretches.push(stretch);
        SpanId(id)
    }

    /// The number of the stretch that is recorded next.
    pub(crate) fn next(&self) -> SpanId {
        SpanId(self.stretches.len() as u32)
    }

    /// The stretch with this number.
    pub fn get(&self, id: SpanId) -> &Stretch {
        &self.stretches[id.0 as usize]
    }

    /// Begins to inline a helper function: what is recorded until [`SpanTable::leave`] belongs to this call of it. The
    /// call in which that one stands.
    pub(crate) fn enter(&mut self, helper: String, call: SpanId) -> Option<CallId> {
        let outer = self.current;
        self.calls.push(Call { helper, line: self.line(call), outer });
        self.current = Some(CallId(self.calls.len() as u32 - 1));
        outer
    }

    /// Ends it.
    pub(crate) fn leave(&mut self, outer: Option<CallId>) {
        self.current = outer;
    }

    /// The calls of helper functions that led to the stretch, the innermost first, such as ``in `sum`, called on line 12``.
    pub fn calls(&self, id: SpanId) -> Vec<String> {
        let mut out = Vec::new();
        let mut next = self.get(id).call;
        while let Some(CallId(call)) = next {
            let Call { helper, line, outer } = &self.calls[call as usize];
            out.push(format!("in `{helper}`, called on line {line}"));
            next = *outer;
        }
        out
    }

    /// The line of its first token, counted from 1.
    pub fn line(&self, id: SpanId) -> u32 {
        self.get(id).start.start().line as u32
    }
}

/// The spans of the first and the last token.
pub(crate) fn ends(tokens: &TokenStream) -> (Span, Span) {
    let mut spans = tokens.clone().into_iter().map(|token| token.span());
    let start = spans.next().unwrap_or_else(Span::call_site);
    (start, spans.last().unwrap_or(start))
}
