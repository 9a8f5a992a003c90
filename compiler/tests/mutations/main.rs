//! Half-written kernels: whatever tokens come in, items go out, and nothing panics.
//!
//! Kernels of the examples and of the UI tests are mutated as an editor would: tokens are deleted, doubled, swapped and replaced,
//! names exchanged, numbers changed. The seed is fixed. `TILEPROOF_MUTATIONS` is how many streams are tried.

#![allow(clippy::disallowed_methods, reason = "it reads the kernels of the workspace")]

mod strange;
mod tree;

use proc_macro2::TokenStream;
use quote::ToTokens;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use tileproof_compiler::{expand, expand_module};

/// Tried where the environment does not say how many.
const STREAMS: u64 = 4_000;

/// A macro's input.
#[derive(Clone)]
struct Input {
    module: bool,
    attribute: TokenStream,
    item: TokenStream,
}

#[test]
fn mutated_kernels_become_items() {
    let streams =
        std::env::var("TILEPROOF_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(STREAMS);
    // A panic that is caught says enough in its payload.
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    // Tokens are of the thread that made them.
    let failures: Vec<String> = std::thread::scope(|scope| {
        let run = |first: u64| move || run(&inputs(), (first..streams).step_by(2));
        let threads = [0, 1].map(|first| scope.spawn(run(first)));
        threads.into_iter().flat_map(|thread| thread.join().expect("a thread that catches panics")).collect()
    });
    std::panic::set_hook(hook);
    assert!(
        failures.is_empty(),
        "{} of {streams}:\n{}",
        failures.len(),
        failures[..failures.len().min(5)].join("\n\n")
    );
}

fn run(inputs: &[Input], seeds: impl Iterator<Item = u64>) -> Vec<String> {
    seeds
        .filter_map(|seed| failure(&mutated(inputs, seed)).map(|what| format!("seed {seed}: {what}")))
        .collect()
}

/// What is wrong with the expansion, if anything is.
fn failure(input: &Input) -> Option<String> {
    let Input { module, attribute, item } = input.clone();
    let expand = if module { expand_module } else { expand };
    let text = || format!("\n#[({})]\n{}", input.attribute, input.item);
    let started = std::time::Instant::now();
    let out = match catch_unwind(AssertUnwindSafe(|| expand(attribute, item))) {
        Ok(out) => out,
        Err(panic) => {
            let message = panic.downcast_ref::<String>().cloned();
            let message = message.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
            return Some(format!("it panics: {}{}", message.unwrap_or_default(), text()));
        }
    };
    if started.elapsed().as_secs() >= 5 {
        return Some(format!("it takes {:?}{}", started.elapsed(), text()));
    }
    let error = syn::parse2::<syn::File>(out.clone()).err()?;
    Some(format!("its output is no list of items: {error}{}\n→ {out}", text()))
}

fn mutated(inputs: &[Input], seed: u64) -> Input {
    let mut random = tree::Random::new(seed);
    let mut input = random.choice(inputs).clone();
    let pool = [&input.attribute, &input.item].map(|tokens| tree::leaves(tokens.clone())).concat();
    for _ in 0..1 + random.below(3) {
        let part = if random.below(4) == 0 { &mut input.attribute } else { &mut input.item };
        *part = tree::mutate(std::mem::take(part), &pool, &mut random);
    }
    input
}

/// Every kernel and every module of kernels in the workspace.
fn inputs() -> Vec<Input> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["examples/src/kernels", "examples/kernels", "tests/ui", "tests/ui/pass", "runtime/tests"];
    let mut files: Vec<PathBuf> = folders
        .iter()
        .filter_map(|folder| std::fs::read_dir(root.join(folder)).ok())
        .flatten()
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect();
    files.sort();
    let mut inputs = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file).expect("a source file");
        // Those that are not Rust are there to show errors of syntax.
        let Ok(file) = syn::parse_file(&text) else { continue };
        inputs.extend(file.items.into_iter().filter_map(input));
    }
    assert!(inputs.len() > 50, "the kernels are found");
    inputs
}

/// An item under one of our attributes. Its tokens get the places that they have in a text of their own.
fn input(mut item: syn::Item) -> Option<Input> {
    let attributes = match &mut item {
        syn::Item::Fn(item) => &mut item.attrs,
        syn::Item::Mod(item) => &mut item.attrs,
        _ => return None,
    };
    let named =
        |attribute: &syn::Attribute, name| attribute.path().segments.last().is_some_and(|s| s.ident == name);
    let ours =
        |attribute: &syn::Attribute| named(attribute, "tiled_kernel") || named(attribute, "tiled_module");
    let attribute = attributes.remove(attributes.iter().position(ours)?);
    let module = named(&attribute, "tiled_module");
    let again = |tokens: TokenStream| TokenStream::from_str(&tokens.to_string()).expect("tokens");
    let arguments = match attribute.meta {
        syn::Meta::List(list) => list.tokens,
        syn::Meta::Path(_) | syn::Meta::NameValue(_) => TokenStream::new(),
    };
    Some(Input { module, attribute: again(arguments), item: again(item.to_token_stream()) })
}

/// Chains of every kind, deeper than a stack: an error, and no overflow.
#[test]
fn what_is_nested_too_deeply_is_an_error() {
    let depth = 20_000;
    let twice = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    let expressions = [
        twice("1 + ", "1", ""),
        twice("-", "1", ""),
        twice("!", "1", ""),
        twice("&", "1", ""),
        twice("", "x", ".min(1)"),
        twice("", "x", " as i32"),
        twice("", "x", "[0]"),
        twice("", "x", ".0"),
        twice("", "x", "?"),
        twice("x = ", "x", ""),
        twice("return ", "1", ""),
        twice("|x| ", "1", ""),
        twice("if x { 1 } else ", "{ 1 }", ""),
        twice("x < ", "1", ""),
        twice("x::", "x", ""),
    ];
    let nested = 2_000;
    let twice = |open: &str, inner: &str, close: &str| {
        format!("{}{inner}{}", open.repeat(nested), close.repeat(nested))
    };
    let groups = [
        twice("(", "1", ")"),
        twice("[", "1", "]"),
        twice("{ ", "1", "}"),
        twice("min(1, ", "1", ")"),
        twice("if x { ", "1", "}"),
        twice("for i in 0..2 { ", "1;", "}"),
        twice("Shared::<[", "1", "]>::new()"),
        twice("Vec<", "1", ">"),
    ];
    for text in expressions.iter().chain(&groups) {
        let short = &text[..text.len().min(30)];
        let Ok(body) = TokenStream::from_str(text) else { continue };
        let item = quote::quote!(fn kernel(x: i32) { let y = #body; });
        let out = expand(quote::quote!(block = [32], grid = [1]), item).to_string();
        assert!(out.contains("compile_error"), "{short}");
        let out = expand(
            quote::quote!(block = [32], grid = [#body]),
            quote::quote!(
                fn kernel(x: i32) {}
            ),
        )
        .to_string();
        assert!(out.contains("compile_error"), "{short}");
    }
}

/// Work without end is refused.
#[test]
fn what_takes_too_long_is_an_error() {
    let bodies = [
        "let mut s = 0.0; for i in 0..4000000000 { for j in 0..4000000000 { s += 1.0; } } output[[0]] = s;",
        "for i in 0..1000000 { output[[i]] = 1.0; }",
        "for a in 0..1000 { for b in 0..1000 { for c in 0..1000 { output[[a + b + c]] = 1.0; } } }",
        "let x = [[[[1.0; 60]; 60]; 60]; 60]; output[[0]] = x[0][0][0][0];",
        "let mut i = 1u32; while i > 0 { i += 1; } output[[0]] = 1.0;",
        "loop {}",
    ];
    for body in bodies {
        let body = TokenStream::from_str(body).expect("tokens");
        let item = quote::quote!(fn kernel(output: &mut Tensor<f32, 1>) { #body });
        let started = std::time::Instant::now();
        let out = expand(quote::quote!(block = [1024], grid = [1], requires(output.len() > 4000)), item);
        let took = started.elapsed();
        assert!(took.as_secs() < 5, "{body} takes {took:?}");
        assert!(syn::parse2::<syn::File>(out).is_ok());
    }
}
