//! How deeply tokens nest, before anything recurses over the tree that they make.
//!
//! A chain such as `a + b + c`, `x.f().g()` or `if … else if …` makes a tree as deep as it is long, without any brackets. What is
//! too deep is an error here, where it would overflow the stack of rustc or of an editor later.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// The deepest tree that is read.
const MOST: usize = 400;

/// Whether tokens make a tree that can be read.
pub fn is_shallow(tokens: &TokenStream) -> bool {
    depth(tokens, MOST) <= MOST
}

/// The tokens, without what nests too deeply in them: that is reported, and its brackets are left empty. Whether there was any.
pub(super) fn bounded(tokens: TokenStream, diagnostics: &mut Diagnostics) -> (TokenStream, bool) {
    if is_shallow(&tokens) {
        return (tokens, false);
    }
    let (mut kept, mut at) = (TokenStream::new(), None);
    for token in tokens {
        match token {
            TokenTree::Group(group) if depth(&group.stream(), MOST) > MOST / 2 => {
                at.get_or_insert(group.span_open());
                let mut empty = Group::new(group.delimiter(), TokenStream::new());
                empty.set_span(group.span());
                kept.extend([TokenTree::Group(empty)]);
            }
            token => kept.extend([token]),
        }
    }
    if !is_shallow(&kept) {
        at = at.or(kept.into_iter().next().map(|token| token.span()));
        kept = TokenStream::new();
    }
    let span = diagnostics.spans.add_span(at.unwrap_or_else(proc_macro2::Span::call_site));
    diagnostics.report(
        Diagnostic::new(Code::Syntax, span, "the code in here is nested too deeply")
            .note(format!("more than {MOST} levels, counting each operator and each `else` of a chain"))
            .help("give parts of the expression names: `let part = …;`"),
    );
    (kept, true)
}

/// The same for what stands in the braces of a module.
pub(super) fn bounded_module(tokens: TokenStream, diagnostics: &mut Diagnostics) -> TokenStream {
    if is_shallow(&tokens) {
        return tokens;
    }
    let bound = |token| match token {
        TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
            let mut bounded = Group::new(Delimiter::Brace, bounded(group.stream(), diagnostics).0);
            bounded.set_span(group.span());
            TokenTree::Group(bounded)
        }
        token => token,
    };
    bounded(tokens.into_iter().map(bound).collect(), &mut Diagnostics::default()).0
}

/// The depth of the tree that tokens make, or a number above `most`.
fn depth(tokens: &TokenStream, most: usize) -> usize {
    // Of the part since the last `;`, `,` or block.
    let (mut chain, mut deepest, mut after_block) = (0, 0, false);
    for token in tokens.clone() {
        let goes_on = match &token {
            TokenTree::Ident(ident) => ident == "else",
            TokenTree::Punct(_) | TokenTree::Group(_) => true,
            TokenTree::Literal(_) => false,
        };
        if after_block && !goes_on {
            chain = 0;
        }
        after_block = false;
        match token {
            TokenTree::Group(group) => {
                chain += 1;
                let inside = depth(&group.stream(), most.saturating_sub(chain));
                deepest = deepest.max(chain + inside);
                after_block = group.delimiter() == Delimiter::Brace;
            }
            TokenTree::Punct(punct) if matches!(punct.as_char(), ';' | ',') => chain = 0,
            TokenTree::Punct(_) => chain += 1,
            TokenTree::Ident(ident) => {
                chain +=
                    usize::from(["return", "break", "if", "else", "as"].iter().any(|word| ident == word));
            }
            TokenTree::Literal(_) => {}
        }
        deepest = deepest.max(chain);
        if deepest > most {
            break;
        }
    }
    deepest
}
