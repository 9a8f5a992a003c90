//! Reductions and scans, against a reference in the documented order of summation.

use super::{Plain, compiled, golden, numbers, run};
use std::fmt::Debug;
use std::ops::Add;

const BLOCKS: [(&str, usize); 8] =
    [("32", 32), ("1", 1), ("20", 20), ("64", 64), ("80", 80), ("8, 9, 2", 144), ("256", 256), ("33", 33)];

fn kernel(block: &str, ty: &str, body: &str) -> String {
    format!(
        "#[tiled_kernel(block = [{block}], grid = [1], requires(input.len() >= 512, output.len() >= 512))]
        fn kernel(input: &Tensor<{ty}, 1>, output: &mut Tensor<{ty}, 1>) {{
            let i = (thread_z() * 9 + thread_y()) * 8 + thread_x();
            let v = input[[i]];
            {body}
        }}"
    )
}

/// A warp's sum: halves are added, from a distance of 16 down to one of 1.
pub(super) fn warp_sum<T: Copy + Add<Output = T>>(values: &[T]) -> T {
    let mut values = values.to_vec();
    for distance in [16, 8, 4, 2, 1] {
        for lane in 0..distance.min(values.len().saturating_sub(distance)) {
            values[lane] = values[lane] + values[lane + distance];
        }
        values.truncate(distance);
    }
    values[0]
}

/// A warp's inclusive scan, in steps that double the reach.
fn warp_scan<T: Copy + Add<Output = T>>(values: &[T]) -> Vec<T> {
    let mut sums = values.to_vec();
    for distance in [1, 2, 4, 8, 16] {
        let before = sums.clone();
        for lane in distance..sums.len() {
            sums[lane] = before[lane - distance] + before[lane];
        }
    }
    sums
}

fn check<T: Plain + PartialEq + PartialOrd + Debug + Add<Output = T>>(ty: &str, zero: T, of: fn(u8) -> T) {
    let input: Vec<T> = numbers(512).map(of).collect();
    for (block, threads) in BLOCKS {
        let of = |call: &str| {
            let mut out = run(&kernel(block, ty, &format!("output[[i]] = {call};")), 1, &input, &input);
            out.truncate(threads);
            out
        };
        let warps: Vec<&[T]> = input[..threads].chunks(32).collect();
        let spread = |results: Vec<T>| {
            let each = results.iter().zip(&warps).flat_map(|(result, warp)| vec![*result; warp.len()]);
            each.collect::<Vec<T>>()
        };
        let most = |values: &[T]| values.iter().copied().fold(values[0], |a, b| if b > a { b } else { a });
        let least = |values: &[T]| values.iter().copied().fold(values[0], |a, b| if b < a { b } else { a });
        let sums: Vec<T> = warps.iter().map(|warp| warp_sum(warp)).collect();
        assert_eq!(of("warp_sum(v)"), spread(sums.clone()), "{ty} {block}");
        assert_eq!(of("warp_max(v)"), spread(warps.iter().map(|warp| most(warp)).collect()), "{ty} {block}");
        assert_eq!(of("warp_min(v)"), spread(warps.iter().map(|warp| least(warp)).collect()), "{ty} {block}");
        let total = sums[1..].iter().fold(sums[0], |a, b| a + *b);
        assert_eq!(of("block_sum(v)"), vec![total; threads], "{ty} {block}");
        assert_eq!(of("block_max(v)"), vec![most(&input[..threads]); threads], "{ty} {block}");
        assert_eq!(of("block_min(v)"), vec![least(&input[..threads]); threads], "{ty} {block}");
        let exclusive = |scan: &[T]| [&[zero], &scan[..scan.len() - 1]].concat();
        let scans: Vec<Vec<T>> = warps.iter().map(|warp| warp_scan(warp)).collect();
        assert_eq!(of("warp_scan_inclusive(v)"), scans.concat(), "{ty} {block}");
        let exclusives: Vec<Vec<T>> = scans.iter().map(|scan| exclusive(scan)).collect();
        assert_eq!(of("warp_scan_exclusive(v)"), exclusives.concat(), "{ty} {block}");
        let mut before = zero;
        let (mut inclusive_of_block, mut exclusive_of_block) = (Vec::new(), Vec::new());
        for (scan, exclusive) in scans.iter().zip(&exclusives) {
            inclusive_of_block.extend(scan.iter().map(|x| before + *x));
            exclusive_of_block.extend(exclusive.iter().map(|x| before + *x));
            before = before + scan[scan.len() - 1];
        }
        assert_eq!(of("block_scan_inclusive(v)"), inclusive_of_block, "{ty} {block}");
        assert_eq!(of("block_scan_exclusive(v)"), exclusive_of_block, "{ty} {block}");
    }
}

#[test]
fn reductions_and_scans_of_f32() {
    check::<f32>("f32", 0.0, |x| f32::from(x) / 7.0 - 5.0);
}

#[test]
fn reductions_and_scans_of_f64() {
    check::<f64>("f64", 0.0, |x| f64::from(x) / 7.0 - 5.0);
}

#[test]
fn reductions_and_scans_of_integers() {
    check::<i64>("i64", 0, |x| i64::from(x) - 50);
    check::<u32>("u32", 0, u32::from);
}

/// Several calls one after another, and in a loop, do not race.
#[test]
fn calls_follow_each_other() {
    let body = "
        let mut x = v;
        for round in 0..3 {
            x = block_sum(x) - block_max(x) + block_scan_exclusive(1u32) + warp_scan_exclusive(1);
        }
        let y = block_sum(x + block_min(v)) + block_sum(warp_max(x));
        output[[i]] = x ^ y;";
    let input: Vec<u32> = numbers(512).map(u32::from).collect();
    for (block, _) in BLOCKS {
        run(&kernel(block, "u32", body), 1, &input, &input);
    }
}

/// Nothing excuses a library function: what it does is checked as the user's own code is.
#[test]
fn misuse_is_found() {
    let source = kernel("64", "f32", "if v > 0.0 { output[[i]] = block_sum(v); }");
    let (attribute, item) = source.split_once(")]\n").unwrap();
    let attribute = attribute.strip_prefix("#[tiled_kernel(").unwrap();
    let error = tileproof_compiler::compile(attribute, item).unwrap_err();
    assert!(error.contains("must be reached by all lanes of the warp together"), "{error}");
    assert!(error.starts_with("line 4:"), "{error}");
}

#[test]
fn golden_files() {
    golden("block_sum", &kernel("80", "f32", "output[[i]] = block_sum(v) + warp_max(v);"));
    golden("block_scan", &kernel("256", "f64", "output[[i]] = block_scan_exclusive(v) + warp_min(v);"));
    let report = compiled(&kernel("256", "f32", "output[[i]] = block_sum(v);")).report.to_string();
    assert!(report.contains("of_warps"), "{report}");
}

/// Halves are computed with as the others are, at their precision.
#[test]
fn reductions_and_scans_of_halves() {
    let source = "#[tiled_kernel(block = [64], grid = [1], requires(input.len() == 64, output.len() == 64))]
        fn kernel(input: &Tensor<u16, 1>, output: &mut Tensor<u16, 1>) {
            let i = thread_x();
            let v = f16::from_bits(input[[i]]);
            let sum = block_sum(v) + block_max(v) + block_scan_exclusive(v) + shuffle_up(v, 1);
            output[[i]] = sum.to_bits();
        }";
    // 1, in all threads.
    let output = run(source, 1, &[0x3c00u16; 64], &[0u16; 64]);
    let value = |bits: u16| f32::from(bits & 0x3ff | 0x400) * 2f32.powi(i32::from(bits >> 10) - 25);
    for (i, bits) in output.into_iter().enumerate() {
        assert_eq!(value(bits), 66.0 + i as f32);
    }
}
