//! Streams of tokens that no editor makes, and such as macros make.

use crate::{Input, failure, inputs};
use proc_macro2::{Delimiter, Group, Literal, Span, TokenStream, TokenTree};
use std::str::FromStr;

/// Streams that are far from a kernel.
#[test]
fn other_tokens() {
    let items = [
        "",
        "fn",
        "fn f",
        "fn f()",
        "struct S;",
        "fn f() {}",
        "pub fn f(self) {}",
        "#[budget] fn f() {}",
        ";",
        "fn f(x: &Matrix<f32>) { x }",
    ];
    let attributes = [
        "",
        "block",
        "block =",
        "block = []",
        "block = [1, ]",
        "grid = [], block = [32]",
        "crate",
        "crate = a::b",
        "requires",
        "requires()",
        "requires(,)",
        "= =",
        "block = [[1]]",
        "block = [32], grid = [1], crate = x",
    ];
    for item in items {
        for attribute in attributes {
            let parse = |text| TokenStream::from_str(text).expect("brackets match");
            let input = Input { module: false, attribute: parse(attribute), item: parse(item) };
            assert_eq!(failure(&input), None);
        }
    }
}

/// Invisible groups, which macros leave around their fragments.
#[test]
fn invisible_groups() {
    let wrapped = |tokens: TokenStream| tokens.into_iter().map(literals_wrapped).collect();
    for Input { module, attribute, item } in inputs() {
        let input = Input { module, attribute: wrapped(attribute), item: wrapped(item) };
        assert_eq!(failure(&input), None);
    }
}

fn literals_wrapped(token: TokenTree) -> TokenTree {
    match token {
        TokenTree::Group(group) => {
            let inner = group.stream().into_iter().map(literals_wrapped).collect();
            TokenTree::Group(Group::new(group.delimiter(), inner))
        }
        TokenTree::Literal(literal) => wrapped(literal),
        other => other,
    }
}

fn wrapped(literal: Literal) -> TokenTree {
    let span: Span = literal.span();
    let mut group = Group::new(Delimiter::None, TokenTree::Literal(literal).into());
    group.set_span(span);
    TokenTree::Group(group)
}
