//! Changed tokens: whatever the macro is given, it gives items back.

use super::{Source, kernels, kernels_of};
use proc_macro2::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use std::str::FromStr;
use tileproof_compiler::expand;

/// One change to a stream of tokens, groups entered.
#[derive(Clone, Copy, Debug)]
enum Change {
    Delete,
    Duplicate,
    SwapWithNext,
    /// By another token of the kernel.
    Copy(u16),
    /// By a token that a kernel may not have.
    Replace(u8),
}

fn changes() -> impl Strategy<Value = Vec<(u16, Change)>> {
    let change = prop_oneof![
        Just(Change::Delete),
        Just(Change::Duplicate),
        Just(Change::SwapWithNext),
        any::<u16>().prop_map(Change::Copy),
        any::<u8>().prop_map(Change::Replace),
    ];
    prop::collection::vec((any::<u16>(), change), 1..4)
}

/// Tokens that are numbers at the edge of their type, names of the language in other places, and pieces of Rust.
fn strange(choice: u8) -> TokenTree {
    let list = [
        "0",
        "1",
        "-1",
        "18446744073709551615",
        "340282366920938463463374607431768211455",
        "99999",
        "65536",
        "1e400",
        "0u8",
        "\"text\"",
        "'c'",
        "thread_x",
        "usize",
        "Shared",
        "input",
        "output",
        "tile",
        "k",
        "self",
        "_",
        "()",
        "[]",
        "{}",
        "..",
        "&",
        "|",
        "#",
        "fn",
        "if",
        "for",
        "loop",
        "(1, 2)",
        "[[f32; 4]; 4]",
        "Vector",
        "f64",
        "<<",
        "while",
        "loop",
        "match",
        "break",
        "continue",
        "return",
        "unsafe",
        "const",
        "mut",
        "as",
        "?",
        "*",
        "..=",
        "=>",
        "isize",
        "bf16",
        "lane",
        "shuffle_xor",
        "sync_threads",
        "|x|",
        "-9223372036854775808",
        "0.0",
    ];
    let text = list[usize::from(choice) % list.len()];
    TokenStream::from_str(text).ok().and_then(|tokens| tokens.into_iter().next()).expect("a token")
}

/// Every token of a stream in order, groups before what is in them.
fn flat(tokens: &TokenStream, out: &mut Vec<TokenTree>) {
    for token in tokens.clone() {
        out.push(token.clone());
        if let TokenTree::Group(group) = token {
            flat(&group.stream(), out);
        }
    }
}

/// Applies a change to the token with this number, counted as [`flat`] counts.
fn changed(
    tokens: TokenStream,
    at: usize,
    change: Change,
    all: &[TokenTree],
    number: &mut usize,
) -> TokenStream {
    let mut out: Vec<TokenTree> = Vec::new();
    let mut swap = None;
    for token in tokens {
        let here = *number == at;
        *number += 1;
        let token = match token {
            TokenTree::Group(group) => {
                let inner = changed(group.stream(), at, change, all, number);
                let mut new = Group::new(group.delimiter(), inner);
                new.set_span(group.span());
                TokenTree::Group(new)
            }
            other => other,
        };
        match (here, change) {
            (false, _) => out.push(token),
            (true, Change::Delete) => {}
            (true, Change::Duplicate) => out.extend([token.clone(), token]),
            (true, Change::SwapWithNext) => {
                swap = Some(token);
                continue;
            }
            (true, Change::Copy(from)) => out.push(all[usize::from(from) % all.len()].clone()),
            (true, Change::Replace(choice)) => out.push(strange(choice)),
        }
        out.extend(swap.take());
    }
    out.extend(swap);
    out.into_iter().collect()
}

fn mutated(tokens: &TokenStream, changes: &[(u16, Change)]) -> TokenStream {
    let mut tokens = tokens.clone();
    for (at, change) in changes {
        let mut all = Vec::new();
        flat(&tokens, &mut all);
        if all.is_empty() {
            break;
        }
        tokens = changed(tokens, usize::from(*at) % all.len(), *change, &all, &mut 0);
    }
    tokens
}

/// Expands, and demands items; where the item was a function, its name must be among theirs.
fn demand(attribute: TokenStream, item: TokenStream) -> Result<(), TestCaseError> {
    let function = syn::parse2::<syn::ItemFn>(item.clone());
    let output = expand(attribute.clone(), item.clone());
    let shown = || format!("#[tiled_kernel({attribute})]\n{item}\n=>\n{output}");
    match function {
        Ok(function) => {
            let file = syn::parse2::<syn::File>(output.clone());
            prop_assert!(
                file.is_ok(),
                "{}\n{}",
                file.err().map(|e| e.to_string()).unwrap_or_default(),
                shown()
            );
            let name = function.sig.ident;
            let survives = file.is_ok_and(|file| file.items.iter().any(|item| names(item, &name)));
            prop_assert!(survives, "`{name}` is lost\n{}", shown());
        }
        // Then rustc does not parse it either, and says so where it meets the tokens; the error of ours is for tokens
        // that it accepts after all. A body is kept, or else the whole item is given back.
        Err(_) => {
            let text = output.to_string();
            prop_assert!(text.contains("[TP0"), "no error\n{}", shown());
            let kept = match item.clone().into_iter().last() {
                Some(TokenTree::Group(body)) if body.delimiter() == Delimiter::Brace => {
                    text.contains(&body.stream().to_string())
                }
                // A function without a body: its name is what there is to keep.
                _ => text.contains(" enum "),
            };
            prop_assert!(kept || text.ends_with(&item.to_string()), "the item is lost\n{}", shown());
        }
    }
    Ok(())
}

fn names(item: &syn::Item, name: &Ident) -> bool {
    match item {
        syn::Item::Enum(item) => item.ident == *name,
        syn::Item::Fn(item) => item.sig.ident == *name,
        _ => false,
    }
}

fn config() -> Config {
    let mut config = Config { failure_persistence: None, ..Config::default() };
    if config.rng_seed == RngSeed::Random {
        config.rng_seed = RngSeed::Fixed(2);
    }
    // A case is a few milliseconds.
    config.cases = config.cases.max(2_000);
    config
}

#[test]
fn changed_tokens() {
    change_all(&kernels(), config());
}

/// The text of files of the examples.
macro_rules! files {
    ($($name:ident),* $(,)?) => {
        [$(include_str!(concat!("../../../examples/src/kernels/", stringify!($name), ".rs"))),*]
    };
}

/// The other kernels of the examples, fewer times: some of them take long.
#[test]
#[expect(clippy::disallowed_methods, reason = "the compiler reads no files, its tests do")]
fn changed_tokens_of_every_kernel() {
    let files = files![
        activation,
        copies,
        elementwise,
        gather,
        histogram,
        mandelbrot,
        matmul,
        nbody,
        permute,
        products,
        reduce,
        shortest_paths,
        sort,
        stencil
    ];
    let kernels: Vec<Source> = files.into_iter().flat_map(kernels_of).collect();
    assert!(kernels.len() > 20, "{}", kernels.len());
    let mut config = config();
    config.cases /= 4;
    change_all(&kernels, config);
}

fn change_all(kernels: &[Source], config: Config) {
    let attribute = prop_oneof![3 => Just(Vec::new()), 1 => changes()];
    let item = prop_oneof![1 => Just(Vec::new()), 4 => changes()];
    let result =
        TestRunner::new(config).run(&(0..kernels.len(), attribute, item), |(kernel, attribute, item)| {
            let kernel = &kernels[kernel];
            demand(mutated(&kernel.attribute, &attribute), mutated(&kernel.item, &item))
        });
    if let Err(error) = result {
        panic!("{error}");
    }
}

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
            demand(parse(attribute), parse(item)).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

/// Invisible groups, which macros leave around their fragments.
#[test]
fn invisible_groups() {
    for kernel in kernels() {
        let wrapped: TokenStream = kernel.item.into_iter().map(literals_wrapped).collect();
        demand(kernel.attribute.into_iter().map(literals_wrapped).collect(), wrapped)
            .unwrap_or_else(|error| panic!("{error}"));
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
