//! Atomic updates.

use super::{Plain, bytes, compiled, golden, numbers, run, tensor};
use std::fmt::Debug;
use tileproof_compiler::simulate::{Buffer, FaultKind, simulate};

const BUDGET: &str = r#"#[budget(bank_conflict = 31, excess_sectors = 31, because = "the bins are data")]"#;

/// Every thread updates one of eight bins, in shared or global memory, and keeps what was there before.
fn bins(ty: &str, space: &str, call: &str) -> String {
    let object = if space == "shared" { "tile" } else { "output" };
    budgeted(format!(
        "#[tiled_kernel(block = [64], grid = [1], requires(input.len() >= 64, output.len() >= 128))]
        fn kernel(input: &Tensor<{ty}, 1>, output: &mut Tensor<{ty}, 1>) {{
            let mut tile = Shared::<[{ty}; 8]>::new();
            let i = thread_x();
            if i < 8 {{ tile[i] = input[[i]]; output[[i]] = input[[i]]; }}
            sync_threads();
            let v = input[[i]];
            // budget
            let before = {object}.{call};
            output[[64 + i]] = before;
            sync_threads();
            if i < 8 && {} {{ output[[i]] = tile[i]; }}
        }}",
        space == "shared"
    ))
}

/// The kernel with the budgets that the compiler asks for, each in place of a comment `budget` on the line above.
fn budgeted(source: String) -> String {
    let mut lines: Vec<String> = source.lines().map(str::to_owned).collect();
    while let Err(errors) = crate::outcome(&lines.join("\n")) {
        let first = errors.split("\n\n").next().unwrap_or_default();
        let line = first
            .strip_prefix("line ")
            .and_then(|rest| rest.split_once(':'))
            .and_then(|(n, _)| n.parse::<usize>().ok());
        let budget = first.split_once("`#[budget(").and_then(|(_, rest)| rest.split_once('`'));
        // Lines are counted from the one behind the attribute.
        let (Some(line), Some((budget, _))) = (line, budget) else { panic!("{errors}") };
        let place: &mut String = lines.get_mut(line - 1).expect("a line");
        assert_eq!(place.trim(), "// budget", "{errors}");
        *place = format!("#[budget({budget}");
    }
    lines.join("\n")
}

fn check<T: Plain + PartialEq + Debug>(ty: &str, call: &str, update: fn(T, T) -> T) {
    let input: Vec<T> = numbers(64).map(|x| T::of(&widened(x, size_of::<T>(), ty))).collect();
    for space in ["shared", "global"] {
        let output = run(&bins(ty, space, call), 1, &input, &[input[0]; 128]);
        let mut expected = input[..8].to_vec();
        for i in 0..64 {
            assert_eq!(output[64 + i], expected[i % 8], "{call} of {ty}, {space}, thread {i}");
            expected[i % 8] = update(expected[i % 8], input[i]);
        }
        assert_eq!(output[..8], expected, "{call} of {ty}, {space}");
    }
}

/// A small number as a value of this type.
fn widened(x: u8, size: usize, ty: &str) -> Vec<u8> {
    match ty {
        "f32" => f32::from(x).bytes(),
        "f64" => f64::from(x).bytes(),
        _ => u64::from(x).to_le_bytes()[..size].to_vec(),
    }
}

#[test]
fn updates_of_every_type() {
    macro_rules! integers {
        ($($ty:ident)*) => {$(
            let ty = stringify!($ty);
            check::<$ty>(ty, "atomic_add([i % 8], v)", |a, b| a.wrapping_add(b));
            check::<$ty>(ty, "atomic_min([i % 8], v)", |a, b| a.min(b));
            check::<$ty>(ty, "atomic_max([i % 8], v)", |a, b| a.max(b));
            check::<$ty>(ty, "atomic_and([i % 8], v)", |a, b| a & b);
            check::<$ty>(ty, "atomic_or([i % 8], v)", |a, b| a | b);
            check::<$ty>(ty, "atomic_xor([i % 8], v)", |a, b| a ^ b);
            check::<$ty>(ty, "atomic_exchange([i % 8], v)", |_, b| b);
            check::<$ty>(ty, "atomic_compare_exchange([i % 8], 7, v)", |a, b| if a == 7 { b } else { a });
        )*};
    }
    integers! { i32 i64 u32 u64 }
    check::<f32>("f32", "atomic_add([i % 8], v)", |a, b| a + b);
    check::<f64>("f64", "atomic_add([i % 8], v)", |a, b| a + b);
    check::<f32>("f32", "atomic_exchange([i % 8], v)", |_, b| b);
    check::<f64>("f64", "atomic_compare_exchange([i % 8], 7.0, v)", |a, b| if a == 7.0 { b } else { a });
}

/// In a tensor, not in a tile, `f32` that are subnormal count as zero.
#[test]
fn subnormal_sums() {
    let small = f32::from_bits(3);
    let input = [small; 64];
    let call = "atomic_add([i % 8], v)";
    assert_eq!(run(&bins("f32", "shared", call), 1, &input, &[0f32; 128])[0], f32::from_bits(27));
    assert_eq!(run(&bins("f32", "global", call), 1, &input, &[0f32; 128])[0], 0.0);
}

/// The histogram of bytes: each block counts in shared memory, then adds its counts to the result.
fn histogram() -> String {
    format!(
        "#[tiled_kernel(block = [128], grid = [input.len().div_ceil(1024)], requires(output.len() == 256))]
        fn histogram(input: &Tensor<u8, 1>, output: &mut Tensor<u32, 1>) {{
            let mut bins = Shared::<[u32; 256]>::new();
            for k in 0..2 {{ bins[k * 128 + thread_x()] = 0; }}
            sync_threads();
            for k in 0..8 {{
                let i = block_x() * 1024 + k * 128 + thread_x();
                if i < input.len() {{
                    {BUDGET}
                    bins.atomic_add([input[[i]] as usize], 1);
                }}
            }}
            sync_threads();
            for k in 0..2 {{
                let bin = k * 128 + thread_x();
                let count = bins[bin];
                if count > 0 {{ output.atomic_add([bin], count); }}
            }}
        }}"
    )
    .replace(", excess_sectors = 31", "")
}

#[test]
fn histograms() {
    for length in [0usize, 1, 127, 1024, 3001] {
        let input: Vec<u8> = numbers(length).map(|x| x.wrapping_mul(7)).collect();
        let mut expected = [0u32; 256];
        input.iter().for_each(|x| expected[usize::from(*x)] += 1);
        let output = run(&histogram(), (length as u32).div_ceil(1024), &input, &[0u32; 256]);
        assert_eq!(output, expected);
    }
    golden("histogram", &histogram());
}

/// Updates race with plain accesses that no barrier orders, not with each other.
#[test]
fn updates_and_plain_accesses_race() {
    for (body, races) in [
        ("tile.atomic_add([i % 2], 1); sync_threads(); output[[i]] = tile[i % 2];", false),
        ("tile.atomic_add([i % 2], 1); output[[i]] = tile[i % 2];", true),
        ("tile.atomic_add([i % 2], 1); if i == 0 { tile[0] = 1; }", true),
        ("if i == 3 { tile[1] = 1; } tile.atomic_add([i % 2], 1);", true),
        ("output[[i]] = tile[i % 2]; tile.atomic_add([i % 2], 1);", true),
        ("output[[i]] = tile[i % 2]; sync_warp(); tile.atomic_add([i % 2], 1);", false),
    ] {
        let source = |trust: &str| {
            format!(
                "#[tiled_kernel(block = [32], grid = [1], requires(input.len() >= 32, output.len() >= 32){trust})]
                fn kernel(input: &Tensor<u32, 1>, output: &mut Tensor<u32, 1>) {{
                    let mut tile = Shared::<[u32; 32]>::new();
                    let i = thread_x();
                    tile[i] = input[[i]];
                    sync_threads();
                    {body}
                }}"
            )
        };
        if races {
            let errors = crate::errors(&source(""));
            assert!(errors.contains("[TP0801]"), "{errors} in {body}");
        }
        let trust = if races { ", trust(race, because = \"the run is to find it\")" } else { "" };
        let compiled = compiled(&source(trust));
        let (input, mut output) = (bytes(&[5u32; 32]), bytes(&[0u32; 32]));
        let arguments = &mut [tensor(Buffer::Read(&input), 32), tensor(Buffer::Write(&mut output), 32)];
        let fault = simulate(&compiled.kernel, [1; 3], arguments).err();
        let raced = fault.as_ref().is_some_and(|fault| matches!(fault.kind, FaultKind::Race { .. }));
        assert_eq!(raced, races, "{fault:?} in {body}");
    }
}

#[test]
fn golden_files() {
    let mut body = String::new();
    for op in ["add", "min", "max", "and", "or", "xor", "exchange"] {
        body.push_str(&format!(
            "// budget
            if v > 3 {{ words.atomic_{op}([0], v); }}
            // budget
            let a = longs.atomic_{op}([1], v as i64);
            output.atomic_{op}([i], v);
            sum += output.atomic_{op}([i], a as i32);
"
        ));
    }
    let source = format!(
        "#[tiled_kernel(block = [64], grid = [1], requires(input.len() >= 64, output.len() >= 64))]
        fn atomics(input: &Tensor<f32, 1>, output: &mut Tensor<i32, 1>) {{
            let mut words = Shared::<[i32; 2]>::new();
            let mut longs = Shared::<[i64; 2]>::new();
            let mut floats = Shared::<[f32; 64]>::new();
            let mut doubles = Shared::<[f64; 64]>::new();
            let i = thread_x();
            if i < 2 {{ words[i] = 0; longs[i] = 0; }}
            floats[i] = 0.0;
            doubles[i] = 0.0;
            sync_threads();
            let v = input[[i]] as i32;
            let mut sum = v;
            {body}
            sum += output.atomic_compare_exchange([i], 3, sum);
            floats.atomic_add([i], 0.5);
            let old = doubles.atomic_add([i], floats.atomic_exchange([i], 1.0) as f64);
            output[[i]] = sum + old as i32;
        }}"
    );
    golden("atomics", &budgeted(source));
}
