//! Sums and running sums.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// The sum of each stretch of 4,096 elements; launched again on its own result, it ends with one number.
///
/// Each thread adds every 256th element of the stretch, the lanes of a warp add by halves, and the first warp adds the
/// sums of the eight: what `block_sum` does too, written out.
#[tiled_kernel(
    block = [256],
    grid = [sums.len()],
    requires(sums.len() == input.len().div_ceil(4096)),
)]
pub fn sum(input: &Tensor<f32, 1>, sums: &mut Tensor<f32, 1>) {
    fn warp_total(value: f32) -> f32 {
        let mut total = value;
        for halving in 0..5 {
            total += shuffle_xor(total, 16 >> halving);
        }
        total
    }
    let mut totals = Shared::<[f32; 8]>::new();

    let mut total = 0.0;
    for k in (0..4096).step_by(256) {
        let i = block_x() * 4096 + k + thread_x();
        if i < input.len() {
            total += input[[i]];
        }
    }
    total = warp_total(total);
    if lane() == 0 {
        totals[warp()] = total;
    }
    sync_threads();
    if warp() == 0 {
        total = warp_total(if lane() < 8 { totals[lane()] } else { 0.0 });
        if lane() == 0 {
            sums[[block_x()]] = total;
        }
    }
}

/// As [`sum`], the additions in the same order.
fn sum_reference(input: &Array<f32, 1>, sums: &mut Array<f32, 1>) {
    fn halves(mut values: [f32; 32]) -> f32 {
        for half in [16, 8, 4, 2, 1] {
            values = std::array::from_fn(|lane| values[lane] + values[lane ^ half]);
        }
        values[0]
    }
    for block in 0..sums.len() {
        let mut threads = [0.0f32; 256];
        for i in 4096 * block..(4096 * (block + 1)).min(input.len()) {
            threads[i % 256] += input[[i]];
        }
        let mut totals = [0.0; 32];
        for (warp, lanes) in threads.chunks(32).enumerate() {
            totals[warp] = halves(std::array::from_fn(|lane| lanes[lane]));
        }
        sums[[block]] = halves(totals);
    }
}

/// [`sum`] at lengths around a block's.
pub const SUM: Subject = subject! {
    kernel: sum(read input, write sums),
    reference: sum_reference,
    sizes: [n]: [0] [1] [97] [4096] [4097] [20_011],
    counted: [1 << 18] [20_011] [97],
    data: |data| (data.random([n]), data.output([n.div_ceil(4096)])),
};

/// The running sums before each element, within each stretch of 256: an exclusive scan, an element a thread.
#[tiled_kernel(
    block = [256],
    grid = [input.len().div_ceil(256)],
    requires(output.len() == input.len()),
)]
pub fn exclusive_scan(input: &Tensor<u32, 1>, output: &mut Tensor<u32, 1>) {
    let i = block_x() * 256 + thread_x();
    let mut value = 0;
    if i < input.len() {
        value = input[[i]];
    }
    let before = block_scan_exclusive(value);
    if i < output.len() {
        output[[i]] = before;
    }
}

fn scan_reference(input: &Array<u32, 1>, output: &mut Array<u32, 1>) {
    let mut sum = 0u32;
    for i in 0..input.len() {
        if i % 256 == 0 {
            sum = 0;
        }
        output[[i]] = sum;
        sum = sum.wrapping_add(input[[i]]);
    }
}

/// [`exclusive_scan`] at lengths around a block's.
pub const EXCLUSIVE_SCAN: Subject = subject! {
    kernel: exclusive_scan(read input, write output),
    reference: scan_reference,
    sizes: [n]: [0] [1] [97] [256] [257] [1021],
    counted: [1 << 16] [4093] [1],
    data: |data| (data.random([n]), data.output([n])),
};
