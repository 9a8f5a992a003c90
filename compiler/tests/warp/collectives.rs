//! Shuffles, votes and barriers that compute.

use super::{Plain, bytes, golden, numbers, run, tensor};
use std::fmt::Debug;
use std::str::FromStr;
use tileproof_compiler::diagnostic::Diagnostics;
use tileproof_compiler::simulate::{Buffer, FaultKind, simulate};
use tileproof_compiler::{ast, lower};

/// A block of one dimension or more, with this many threads.
const BLOCKS: [(&str, usize); 4] = [("32", 32), ("48", 48), ("8, 9, 2", 144), ("5", 5)];

/// The linear number of a thread of any block.
const THREAD: &str = "let i = (thread_z() * 9 + thread_y()) * 8 + thread_x();";

fn kernel(block: &str, ty: &str, out: &str, body: &str) -> String {
    format!(
        "#[tiled_kernel(block = [{block}], grid = [1], requires(input.len() >= 144, output.len() >= 144))]
        fn kernel(input: &Tensor<{ty}, 1>, output: &mut Tensor<{out}, 1>) {{ {THREAD} {body} }}"
    )
}

/// By thread: the lane that its value comes from.
fn expected<T: Plain>(values: &[T], threads: usize, source: impl Fn(usize) -> Option<usize>) -> Vec<T> {
    let at = |thread: usize| {
        let first = thread / 32 * 32;
        let from = source(thread % 32).map(|lane| first + lane);
        values[from.filter(|from| *from < threads && *from / 32 == first / 32).unwrap_or(thread)]
    };
    (0..threads).map(at).collect()
}

fn shuffles<T: Plain + PartialEq + Debug>(ty: &str, values: &[T]) {
    for (block, threads) in BLOCKS {
        let shuffled = |call: &str| {
            let body = format!("let v = input[[i]]; output[[i]] = {call};");
            let mut out = run(&kernel(block, ty, ty, &body), 1, values, values);
            out.truncate(threads);
            out
        };
        assert_eq!(shuffled("shuffle_xor(v, 5)"), expected(values, threads, |lane| Some(lane ^ 5)));
        assert_eq!(shuffled("shuffle_up(v, 3)"), expected(values, threads, |lane| lane.checked_sub(3)));
        assert_eq!(shuffled("shuffle_down(v, 9)"), expected(values, threads, |lane| Some(lane + 9)));
        assert_eq!(shuffled("shuffle(v, lane() * 7)"), expected(values, threads, |lane| Some(lane * 7 % 32)));
    }
}

#[test]
fn shuffles_of_every_type() {
    macro_rules! each {
        ($($ty:ident)*) => {$(
            shuffles(stringify!($ty), &numbers(144).map(|x| x as $ty).collect::<Vec<_>>());
        )*};
    }
    each! { i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }
}

#[test]
fn shuffles_of_vectors_indices_and_conditions() {
    let source =
        "#[tiled_kernel(block = [64], grid = [1], requires(input.len() == 256, output.len() == 256))]
        fn kernel(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
            let i = thread_x();
            let v = shuffle_down(input.read::<4>([4 * i]), 1);
            output.write([4 * i], v);
        }";
    let input: Vec<f32> = numbers(256).map(f32::from).collect();
    let output = run(source, 1, &input, &input);
    for i in 0..64 {
        let from = if i % 32 == 31 { i } else { i + 1 };
        assert_eq!(output[4 * i..4 * i + 4], input[4 * from..4 * from + 4]);
    }
    let source = "#[tiled_kernel(block = [64], grid = [1], requires(input.len() == 64, output.len() == 64))]
        fn kernel(input: &Tensor<u32, 1>, output: &mut Tensor<u32, 1>) {
            let i = thread_x();
            let from = shuffle_xor(i, 1);
            let odd = shuffle_up(i % 2 == 1, 1);
            output[[i]] = input[[from]] * 2 + odd as u32;
        }";
    let input: Vec<u32> = numbers(64).map(u32::from).collect();
    let output = run(source, 1, &input, &input);
    for i in 0..64usize {
        let odd = if i % 32 == 0 { 0 } else { (i - 1) as u32 % 2 };
        assert_eq!(output[i], input[i ^ 1] * 2 + odd, "{i}");
    }
}

#[test]
fn votes() {
    let input: Vec<u8> = numbers(144).collect();
    for (block, threads) in BLOCKS {
        let of = |call: &str| {
            let body = format!("let v = input[[i]]; let c = v > 40; output[[i]] = ({call}) as u32;");
            let mut out = run(&kernel(block, "u8", "u32", &body), 1, &input, &[0u32; 144]);
            out.truncate(threads);
            out
        };
        let warp = |thread: usize| thread / 32 * 32..(thread / 32 * 32 + 32).min(threads);
        let mask = |thread: usize, test: &dyn Fn(u8) -> bool| {
            warp(thread).fold(0u32, |mask, other| mask | u32::from(test(input[other])) << (other % 32))
        };
        let each = |of: &dyn Fn(usize) -> u32| (0..threads).map(of).collect::<Vec<u32>>();
        let high = input[..threads].iter().filter(|x| **x > 40).count() as u32;
        assert_eq!(of("ballot(c)"), each(&|i| mask(i, &|x| x > 40)));
        assert_eq!(of("any(v > 95)"), each(&|i| u32::from(mask(i, &|x| x > 95) != 0)));
        assert_eq!(of("all(v < 95)"), each(&|i| u32::from(mask(i, &|x| x >= 95) == 0)));
        assert_eq!(of("match_any(v / 16)"), each(&|i| mask(i, &|x| x / 16 == input[i] / 16)));
        assert_eq!(of("sync_threads_count(c)"), each(&|_| high));
        assert_eq!(of("sync_threads_or(v > 250)"), each(&|_| 0));
        assert_eq!(of("sync_threads_and(v < 250)"), each(&|_| 1));
        assert_eq!(of("lane() + 100 * warp()"), each(&|i| (i % 32 + 100 * (i / 32)) as u32));
        assert_eq!(of("warp_count()"), each(&|_| threads.div_ceil(32) as u32));
    }
}

/// Lanes hand on through shared memory what `sync_warp` orders.
#[test]
fn warps_meet() {
    let source = "#[tiled_kernel(block = [64], grid = [1], requires(input.len() == 64, output.len() == 64))]
        fn kernel(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {
            let mut tile = Shared::<[f32; 64]>::new();
            let i = thread_x();
            tile[i] = input[[i]];
            for d in 0..5 {
                sync_warp();
                let other = tile[i ^ (1 << d)];
                sync_warp();
                tile[i] += other;
            }
            output[[i]] = tile[i];
        }";
    let input: Vec<f32> = numbers(64).map(f32::from).collect();
    let output = run(source, 1, &input, &input);
    for i in 0..64 {
        assert_eq!(output[i], input[i / 32 * 32..i / 32 * 32 + 32].iter().sum::<f32>());
    }
}

#[test]
fn golden_files() {
    let body = "
        let i = thread_y() * 10 + thread_x();
        let a = input[[i]];
        let b = input.read::<2>([2 * i]);
        let mut sum = shuffle_xor(a, 16) + shuffle(b, i % 4)[1] + shuffle_down(a as f32, 2) as f64;
        sync_warp();
        if any(a > 0.5) && all(i < 3) {
            sum += shuffle_up(warp(), lane()) as f64 + shuffle_up(a as i8, 1) as f64 + shuffle_up(a as u64, 1) as f64;
        }
        let votes = ballot(shuffle_xor(a < 1.0, 1)) ^ match_any(a) ^ match_any(a as i16) ^ match_any(i);
        let count = sync_threads_count(votes > 3);
        if sync_threads_or(a > 9.0) != sync_threads_and(a > 8.0) {
            output[[i]] = sum + count as f64 + votes as f64;
        }";
    let of = |block: &str| {
        format!(
            "#[tiled_kernel(block = {block}, grid = [1], requires(input.len() >= 320, output.len() >= 320))]
            fn together(input: &Tensor<f64, 1>, output: &mut Tensor<f64, 1>) {{ {body} }}"
        )
    };
    golden("together", &of("[10, 8]"));
    golden("together_whole", &of("[10, 16]"));
}

/// What the check refuses goes wrong in a run.
#[test]
fn lanes_that_are_missing() {
    for (call, condition) in [
        ("shuffle_xor(i, 1)", "i < 5"),
        ("ballot(i > 3) as usize", "input[[i]] > 10"),
        ("block_sum(input[[i]]) as usize", "i % 2 == 0"),
    ] {
        let item = format!(
            "fn kernel(input: &Tensor<u32, 1>, output: &mut Tensor<u32, 1>) {{
                let i = thread_x();
                let mut sum = 0;
                if {condition} {{ sum += {call}; }}
                output[[i]] = sum as u32;
            }}"
        );
        let parse = |text: &str| proc_macro2::TokenStream::from_str(text).unwrap();
        let mut diagnostics = Diagnostics::default();
        let attribute = parse("block = [64], grid = [1], requires(input.len() == 64, output.len() == 64)");
        let ast = ast::parse(attribute, parse(&item), &ast::Scope::default(), &mut diagnostics)
            .unwrap()
            .kernels
            .remove(0);
        let kernel = lower::lower(&ast, &mut diagnostics);
        assert!(!diagnostics.is_failed(), "{:?} {:?}", diagnostics.errors(), diagnostics.deferred());
        let (input, mut output) = (bytes(&[11u32, 0].repeat(32)), bytes(&[0u32; 64]));
        let arguments = &mut [tensor(Buffer::Read(&input), 64), tensor(Buffer::Write(&mut output), 64)];
        let fault = simulate(&kernel, [1; 3], arguments).unwrap_err();
        assert!(matches!(fault.kind, FaultKind::Divergent { .. }), "{fault}");
        assert!(fault.to_string().contains("of the warp is not here"), "{fault}");
    }
}
