//! Asynchronous copies: what arrives when, and who may not touch it before.

use super::*;
use crate::simulate::{FaultKind, simulate};

/// Runs a kernel of two warps, whose tile has a row for each copy of the input's 64 elements, with an output of 64.
fn run(body: &str) -> Result<Vec<f32>, FaultKind> {
    let attribute = "block = [64], grid = [1], requires(input.len() >= 64, output.len() >= 64)";
    let item = format!(
        "fn kernel(input: &Tensor<f32, 1>, output: &mut Tensor<f32, 1>) {{
            let mut tile = Shared::<[[f32; 64]; 2]>::new();
            let t = thread_x();
            {body}
        }}"
    );
    let kernel = lowered(attribute, &item);
    let bytes = f32_bytes((0..64).map(|i| i as f32 + 1.0));
    let mut result = f32_bytes((0..64).map(|_| 0.0));
    simulate(&kernel, [1; 3], &mut [input(&bytes, &[64]), output(&mut result, &[64])])
        .map_err(|fault| fault.kind)?;
    Ok(f32_values(&result))
}

#[track_caller]
fn under_way(body: &str, role: Role) {
    match run(body) {
        Err(FaultKind::UnderWay { role: found, .. }) => assert_eq!(found, role, "{body}"),
        other => panic!("{other:?}\n{body}"),
    }
}

const LOAD: &str = "tile[0].load_async(input, [0]);";

#[test]
fn arrive_with_the_wait() {
    let reversed: Vec<f32> = (0..64).map(|i| 64.0 - i as f32).collect();
    let body = "commit(); wait::<0>(); sync_threads(); output[[t]] = tile[0][63 - t];";
    assert_eq!(run(&format!("{LOAD} {body}")), Ok(reversed));
    // A thread sees its own without a barrier.
    let same: Vec<f32> = (0..64).map(|i| i as f32 + 1.0).collect();
    assert_eq!(run(&format!("{LOAD} commit(); wait::<0>(); output[[t]] = tile[0][t];")), Ok(same));
}

#[test]
fn are_not_there_before() {
    for wait in ["", "commit();", "wait::<0>();", "commit(); wait::<1>();", "wait::<0>(); commit();"] {
        under_way(&format!("{LOAD} {wait} output[[t]] = tile[0][t];"), Role::Read);
        under_way(&format!("{LOAD} {wait} sync_threads(); output[[t]] = tile[0][63 - t];"), Role::Read);
        under_way(&format!("{LOAD} {wait} tile[0][t] = 1.0;"), Role::Write);
        under_way(&format!("{LOAD} {wait} {LOAD}"), Role::Write);
    }
}

#[test]
fn need_a_barrier_for_other_threads() {
    let body = "commit(); wait::<0>(); output[[t]] = tile[0][t ^ 1];";
    let fault = run(&format!("{LOAD} {body}"));
    assert!(matches!(fault, Err(FaultKind::Race { .. })), "{fault:?}");
    // Nor may a copy start while another thread may still read.
    let before = "tile[0][t] = 0.0; sync_threads(); output[[t]] = tile[0][63 - t];";
    let fault = run(&format!("{before} {LOAD} commit(); wait::<0>();"));
    assert!(matches!(fault, Err(FaultKind::Race { .. })), "{fault:?}");
}

#[test]
fn are_waited_for_by_groups() {
    let second = "tile[1].load_async(input, [0]); commit();";
    let read = |row: u32| format!("sync_threads(); output[[t]] = tile[{row}][t];");
    assert!(run(&format!("{LOAD} commit(); {second} wait::<1>(); {}", read(0))).is_ok());
    under_way(&format!("{LOAD} commit(); {second} wait::<1>(); {}", read(1)), Role::Read);
    assert!(run(&format!("{LOAD} {second} wait::<0>(); {}", read(1))).is_ok());
    // Empty groups count.
    assert!(run(&format!("{LOAD} {second} commit(); wait::<1>(); {}", read(1))).is_ok());
}

#[test]
fn of_what_is_beyond_the_edge_are_zeros() {
    let body =
        "tile[0].load_async(input, [32]); commit(); wait::<0>(); sync_threads(); output[[t]] = tile[0][t];";
    let expected: Vec<f32> = (0..64).map(|i| if i < 32 { i as f32 + 33.0 } else { 0.0 }).collect();
    assert_eq!(run(body), Ok(expected));
}

/// What one block leaves under way is gone in the next.
#[test]
fn of_a_block_end_with_it() {
    let attribute = "block = [64], grid = [2], requires(input.len() >= 64)";
    let item = format!(
        "fn kernel(input: &Tensor<f32, 1>) {{ let mut tile = Shared::<[[f32; 64]; 2]>::new(); {LOAD} }}"
    );
    let kernel = crate::compile(attribute, &item).unwrap_or_else(|error| panic!("{error}")).kernel;
    let bytes = f32_bytes((0..64).map(|i| i as f32));
    assert!(simulate(&kernel, [2, 1, 1], &mut [input(&bytes, &[64])]).is_ok());
}
