//! An element a thread: what memory bandwidth bounds and nothing else.

use crate::array::Array;
use crate::subject::{Subject, subject};
use tileproof::prelude::*;

/// `c = a + b`.
#[tiled_kernel(
    block = [256],
    grid = [c.len().div_ceil(256)],
    requires(a.len() == c.len(), b.len() == c.len()), covers(c),
)]
pub fn add(a: &Tensor<f32, 1>, b: &Tensor<f32, 1>, c: &mut Tensor<f32, 1>) {
    let i = block_x() * 256 + thread_x();
    if i < c.len() {
        c[[i]] = a[[i]] + b[[i]];
    }
}

fn add_reference(a: &Array<f32, 1>, b: &Array<f32, 1>, c: &mut Array<f32, 1>) {
    for i in 0..c.len() {
        c[[i]] = a[[i]] + b[[i]];
    }
}

/// [`add`] at lengths around a block's.
pub const ADD: Subject = subject! {
    kernel: add(read a, read b, write c),
    reference: add_reference,
    sizes: [n]: [0] [1] [97] [256] [257] [4099],
    counted: [1 << 18] [4099] [1],
    data: |data| (data.random([n]), data.random([n]), data.output([n])),
};

/// `y = alpha * x + y`, rounded after the product and after the sum.
#[tiled_kernel(
    block = [256],
    grid = [y.len().div_ceil(256)],
    requires(x.len() == y.len()),
)]
pub fn saxpy_f64(alpha: f64, x: &Tensor<f64, 1>, y: &mut Tensor<f64, 1>) {
    let i = block_x() * 256 + thread_x();
    if i < y.len() {
        y[[i]] += alpha * x[[i]];
    }
}

fn saxpy_reference(alpha: f64, x: &Array<f64, 1>, y: &mut Array<f64, 1>) {
    for i in 0..y.len() {
        y[[i]] += alpha * x[[i]];
    }
}

/// [`saxpy_f64`] at lengths around a block's.
pub const SAXPY_F64: Subject = subject! {
    kernel: saxpy_f64(value alpha, read x, write y),
    reference: saxpy_reference,
    sizes: [n]: [0] [1] [97] [257] [4099],
    counted: [1 << 18] [4099] [1],
    data: |data| (0.7, data.random([n]), data.random([n])),
};
