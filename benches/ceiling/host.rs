//! What a machine without a GPU can measure: the macro and the simulator.

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput};
use proc_macro2::TokenStream;
use quote::ToTokens;
use std::time::Duration;
use syn::{Item, Meta};
use tileproof::prelude::*;
use tileproof_examples::ladder::{LADDER, Rung, random};

/// The source of the ladder's kernels.
const SOURCE: &str = include_str!("../../examples/src/kernels/transpose.rs");

/// The macro's work on each kernel of the ladder. In rustc it runs as cargo builds macros: without optimisation unless
/// the profile says otherwise, which is what `cargo bench --profile dev` measures.
pub(crate) fn expand(criterion: &mut Criterion) {
    let name = if cfg!(debug_assertions) { "expand, unoptimised" } else { "expand" };
    let mut group = criterion.benchmark_group(name);
    group.sample_size(20).warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(1));
    let kernels = kernels(SOURCE);
    assert_eq!(kernels.len(), LADDER.len(), "the ladder's kernels are those of its source");
    for (name, attribute, item) in kernels {
        let expanded = tileproof_compiler::expand(attribute.clone(), item.clone()).to_string();
        assert!(!expanded.contains("compile_error"), "{name}: {expanded}");
        group.bench_function(name, |bencher| {
            bencher.iter(|| tileproof_compiler::expand(attribute.clone(), item.clone()));
        });
    }
    group.finish();
}

/// The functions under `#[tiled_kernel]`: name, the attribute's arguments, and the function.
fn kernels(source: &str) -> Vec<(String, TokenStream, TokenStream)> {
    let file = syn::parse_file(source).expect("the source parses");
    let functions = file.items.into_iter().filter_map(|item| match item {
        Item::Fn(function) => Some(function),
        _ => None,
    });
    functions
        .filter_map(|mut function| {
            let position =
                function.attrs.iter().position(|attribute| attribute.path().is_ident("tiled_kernel"))?;
            let Meta::List(list) = function.attrs.remove(position).meta else { return None };
            Some((function.sig.ident.to_string(), list.tokens, function.into_token_stream()))
        })
        .collect()
}

/// The simulator: the ladder on a small matrix, and one kernel on a large one.
pub(crate) fn simulate(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("simulate");
    group.sample_size(10).sampling_mode(SamplingMode::Flat);
    group.warm_up_time(Duration::from_millis(300)).measurement_time(Duration::from_secs(2));
    let large = LADDER.into_iter().filter(|rung| rung.name == "transpose_padded").map(|rung| (rung, 1024));
    for (rung, extent) in LADDER.map(|rung| (rung, 256)).into_iter().chain(large) {
        let input = random(extent * extent, 1);
        let mut output = vec![f32::NAN; extent * extent];
        run(&rung, &input, &mut output, extent);
        assert!(output == rung.reference(&input, extent, extent), "{}", rung.name);
        group.throughput(Throughput::Elements((extent * extent) as u64));
        group.bench_function(BenchmarkId::new(rung.name, format!("{extent}²")), |bencher| {
            bencher.iter(|| run(&rung, &input, &mut output, extent));
        });
    }
    group.finish();
}

fn run(rung: &Rung, input: &[f32], output: &mut [f32], extent: usize) {
    let input = HostTensor::new(input, [extent, extent]).expect("it is that large");
    let mut output = HostTensorMut::new(output, [extent, extent]).expect("it is that large");
    (rung.simulate)(&input, &mut output).expect("it runs");
}
