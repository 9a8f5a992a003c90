//! What the expansion of a kernel costs in the profile that a macro is built in.

#![allow(clippy::disallowed_methods, reason = "it reads the kernels of the examples")]

use crate::product;
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::path::Path;
use std::str::FromStr;
use std::time::{Duration, Instant};
use syn::{Attribute, Item, Meta};
use tileproof_compiler::{expand, expand_module};

/// What a small kernel should take at most, unoptimised.
const SMALL: Duration = Duration::from_millis(10);
/// What the largest of the examples' kernels should take at most.
const LARGEST: Duration = Duration::from_millis(50);
/// What one may take on a slow and busy machine before something is wrong with the analysis.
const LIMIT: Duration = Duration::from_millis(500);
/// The same for all instances of one kernel of the library, and for a heavy product of matrices.
const LIMIT_OF_ALL_INSTANCES: Duration = Duration::from_secs(5);

/// Prints the least of several runs of each of the examples' kernels beside the targets. Only a far excess fails: time is no
/// property of the code alone.
#[test]
fn expansion_time_of_examples() {
    let count = measure_all("../examples/src/kernels", LIMIT);
    assert!(count > 20, "{count} kernels");
}

/// The same for the library's kernels, which are expanded wherever it is built: some have several instances.
#[test]
fn expansion_time_of_the_library() {
    let count = measure_all("../runtime/src/kernels", LIMIT_OF_ALL_INSTANCES);
    assert!(count > 10, "{count} kernels");
}

/// A kernel whose proofs once took 20 s.
#[test]
fn expansion_time_of_a_product() {
    let tokens = |text: &str| TokenStream::from_str(text).expect("tokens");
    let (attribute, kernel) = (tokens(product::ATTRIBUTE), tokens(product::KERNEL));
    let start = Instant::now();
    let output = expand(attribute, kernel).to_string();
    let taken = start.elapsed();
    assert!(!output.contains("compile_error"), "{output}");
    println!("a product of matrices {:>7.2} ms", taken.as_secs_f64() * 1e3);
    assert!(taken < LIMIT_OF_ALL_INSTANCES, "{taken:?}");
}

/// Expands the kernels in the files of a folder and of those in it. How many there are.
fn measure_all(folder: impl AsRef<Path>, limit: Duration) -> u32 {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let entries = std::fs::read_dir(folder).expect("a folder of kernels");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let mut count = 0;
    for path in paths {
        if path.is_dir() {
            count += measure_all(path, limit);
            continue;
        }
        let text = std::fs::read_to_string(path).expect("a source file");
        let tokens = TokenStream::from_str(&text).expect("tokens");
        let file: syn::File = syn::parse2(tokens).expect("kernels are Rust");
        for item in file.items {
            count += u32::from(measure(item, limit));
        }
    }
    count
}

/// Expands a kernel or a module of kernels; `false` for another item.
fn measure(mut item: Item, limit: Duration) -> bool {
    let (name, attributes, macro_name): (_, &mut Vec<Attribute>, _) = match &mut item {
        Item::Fn(function) => (function.sig.ident.to_string(), &mut function.attrs, "tiled_kernel"),
        Item::Mod(module) => (module.ident.to_string(), &mut module.attrs, "tiled_module"),
        _ => return false,
    };
    let Some(place) = attributes.iter().position(|attribute| attribute.path().is_ident(macro_name)) else {
        return false;
    };
    let arguments = match attributes.remove(place).meta {
        Meta::List(list) => list.tokens,
        Meta::Path(_) | Meta::NameValue(_) => TokenStream::new(),
    };
    let expand = if macro_name == "tiled_module" { expand_module } else { expand };
    let item = item.into_token_stream();
    let run = || {
        let (arguments, item) = (arguments.clone(), item.clone());
        let start = Instant::now();
        let output = expand(arguments, item);
        let taken = start.elapsed();
        assert!(!output.is_empty());
        taken
    };
    let least = (0..5).map(|_| run()).min().expect("five runs");
    let verdict = match () {
        () if least <= SMALL => "within the target of a small kernel",
        () if least <= LARGEST => "within the target of the largest",
        () => "above the targets",
    };
    println!("{name:<24} {:>7.2} ms, {verdict}", least.as_secs_f64() * 1e3);
    assert!(least < limit, "{name} takes {least:?}");
    true
}

/// A kernel whose threads write and read a tile so many times each, with a barrier between.
fn accesses(threads: u32, count: u32) -> (TokenStream, TokenStream) {
    let attribute = format!("block = [{threads}], grid = [1], requires(output.len() >= {threads})");
    let item = format!(
        "fn kernel(output: &mut Tensor<u8, 1>) {{
            let mut tile = Shared::<[[u8; {threads}]; {count}]>::new();
            let mut sum = 0u8;
            for i in 0..{count} {{ tile[i][thread_x()] = 1; }}
            sync_threads();
            for i in 0..{count} {{ sum += tile[i][{threads} - 1 - thread_x()]; }}
            output[[thread_x()]] = sum;
        }}"
    );
    let tokens = |text: &str| TokenStream::from_str(text).expect("tokens");
    (tokens(&attribute), tokens(&item))
}

/// The cost grows with the threads times the accesses: prints it for each of them, which must not grow itself.
#[test]
fn growth() {
    let each = |threads: u32, count: u32| {
        let (attribute, item) = accesses(threads, count);
        let run = || {
            let start = Instant::now();
            let output = expand(attribute.clone(), item.clone()).to_string();
            let taken = start.elapsed();
            assert!(!output.contains("compile_error"), "{output}");
            taken
        };
        let least = (0..3).map(|_| run()).min().expect("three runs");
        let each = least.as_secs_f64() * 1e9 / f64::from(2 * threads * count);
        println!(
            "{threads:>5} threads, {count:>3} stores and loads: {:>8.2} ms, {each:>6.0} ns each",
            least.as_secs_f64() * 1e3
        );
        each
    };
    let small = each(256, 8);
    for (threads, count) in [(512, 8), (1024, 8), (256, 16), (256, 32), (1024, 32)] {
        let large = each(threads, count);
        assert!(
            large < 4.0 * small,
            "{threads} threads, {count} accesses: {large} ns each, and {small} ns of few"
        );
    }
}
