//! Matrix products against plain loops, bit for bit: every sum is rounded in the same order.

use crate::case::{On, each};
use crate::gpu::{gpu, larger, sides};
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use tileproof::Error;
use tileproof::cudarc::driver::CudaSlice;
use tileproof::kernels::matmul::{Scale, matmul, matmul_batched};
use tileproof::kernels::simulate;
use tileproof::prelude::*;

/// What a product is of.
#[derive(Clone, Copy, Debug)]
struct Case {
    batch: usize,
    m: usize,
    n: usize,
    k: usize,
    /// Elements behind each row of all three.
    gap: usize,
    scale: Scale,
}

const ALONE: Scale = Scale { alpha: 1.0, beta: 0.0 };

/// What no product writes.
const UNTOUCHED: u32 = 0x7fc1_2345;

impl Case {
    fn plain(m: usize, n: usize, k: usize) -> Case {
        Case { batch: 1, m, n, k, gap: 0, scale: ALONE }
    }

    /// The extents of both operands and of the result.
    fn extents(&self) -> [[usize; 3]; 3] {
        let Case { batch, m, n, k, .. } = *self;
        [[batch, m, k], [batch, k, n], [batch, m, n]]
    }

    fn strides(&self, [_, rows, cols]: [usize; 3]) -> [usize; 3] {
        [rows * (cols + self.gap), cols + self.gap, 1]
    }

    fn length(&self, extents: [usize; 3]) -> usize {
        extents[0] * self.strides(extents)[0]
    }

    /// What the result is to be.
    fn expected(&self, [a, b, c]: [&[f32]; 3]) -> Vec<f32> {
        let [of_a, of_b, of_c] = self.extents();
        let place = |of: [usize; 3], index: [usize; 3]| -> usize {
            self.strides(of).iter().zip(index).map(|(stride, index)| stride * index).sum()
        };
        let mut out = c.to_vec();
        each(of_c, |[batch, row, col]| {
            let at = place(of_c, [batch, row, col]);
            let products = (0..self.k).filter(|_| self.scale.alpha != 0.0);
            let sum = products.fold(0.0f32, |sum, k| {
                a[place(of_a, [batch, row, k])].mul_add(b[place(of_b, [batch, k, col])], sum)
            });
            let product = self.scale.alpha * sum;
            let beta = self.scale.beta;
            out[at] = if beta == 0.0 { product } else { product + beta * c[at] };
        });
        out
    }

    fn check(&self, on: &On) {
        let mut random = SmallRng::seed_from_u64((self.m * 71 + self.n) as u64 * 71 + self.k as u64);
        let extents = self.extents();
        let mut numbers =
            |of: usize| -> Vec<f32> { (0..of).map(|_| random.random_range(-1.0..1.0)).collect() };
        let [a, b] = [0, 1].map(|side| numbers(self.length(extents[side])));
        let c = match self.scale.beta == 0.0 {
            true => vec![f32::from_bits(UNTOUCHED); self.length(extents[2])],
            false => numbers(self.length(extents[2])),
        };
        let found = self.run(on, &a, &b, c.clone()).unwrap_or_else(|error| panic!("{self:?}: {error}"));
        let expected = self.expected([&a, &b, &c]);
        let differs = |(found, expected): (&f32, &f32)| found.to_bits() != expected.to_bits();
        if let Some(at) = found.iter().zip(&expected).position(differs) {
            panic!("{self:?}: element {at} is {}, and should be {}", found[at], expected[at]);
        }
    }

    fn run(&self, on: &On, a: &[f32], b: &[f32], mut c: Vec<f32>) -> Result<Vec<f32>, Error> {
        let extents = self.extents();
        let strides = extents.map(|extents| self.strides(extents));
        match on {
            On::Simulator => {
                let a = HostTensor::with_strides(a, extents[0], strides[0])?;
                let b = HostTensor::with_strides(b, extents[1], strides[1])?;
                let mut out = HostTensorMut::with_strides(&mut c, extents[2], strides[2])?;
                simulate::matmul_batched(self.scale, &a, &b, &mut out)?;
                Ok(c)
            }
            On::Gpu(stream) => {
                let upload = |data: &[f32]| -> CudaSlice<f32> { stream.clone_htod(data).expect("a copy") };
                let (a, b, mut out) = (upload(a), upload(b), upload(&c));
                let a = TensorView::with_strides(&a, extents[0], strides[0])?;
                let b = TensorView::with_strides(&b, extents[1], strides[1])?;
                let mut view = TensorViewMut::with_strides(&mut out, extents[2], strides[2])?;
                matmul_batched(stream, self.scale, &a, &b, &mut view)?;
                Ok(stream.clone_dtoh(&out).expect("a copy"))
            }
        }
    }
}

/// Around the sides of tiles and of steps.
#[test]
fn on_the_simulator() {
    for (m, n) in [(0, 5), (5, 0), (1, 1), (3, 70), (31, 33), (64, 64), (65, 63), (70, 129)] {
        for k in [0, 1, 8, 15, 17, 48] {
            Case::plain(m, n, k).check(&On::Simulator);
        }
    }
    // One tile of the larger kernel, and four.
    for (m, n) in [(128, 128), (129, 130)] {
        for k in [8, 43] {
            Case { gap: 3, ..Case::plain(m, n, k) }.check(&On::Simulator);
        }
    }
}

#[test]
fn scaled_and_batched() {
    let case = Case { batch: 3, gap: 2, ..Case::plain(20, 33, 19) };
    for scale in [(1.0, 1.0), (0.5, -2.0), (0.0, 0.0), (0.0, 3.0), (-1.0, 0.0)] {
        Case { scale: Scale { alpha: scale.0, beta: scale.1 }, ..case }.check(&On::Simulator);
    }
    Case { k: 0, scale: Scale { alpha: 2.0, beta: 0.25 }, ..case }.check(&On::Simulator);
}

/// One operand for all matrices of a batch.
#[test]
fn strides_of_0() {
    let (a, b) = ([1.0f32, 2.0], [3.0f32, 4.0]);
    let mut c = [0.0f32; 3];
    let left = HostTensor::with_strides(&a, [3, 1, 2], [0, 2, 1]).expect("a view");
    let right = HostTensor::with_strides(&b, [3, 2, 1], [0, 1, 1]).expect("a view");
    let mut out = HostTensorMut::new(&mut c, [3, 1, 1]).expect("a view");
    simulate::matmul_batched(ALONE, &left, &right, &mut out).expect("a product");
    assert_eq!(c, [11.0; 3]);
}

#[test]
fn what_does_not_agree_is_refused() {
    let data = [0.0f32; 12];
    for (a, b, c) in [
        ([1, 3, 4], [1, 3, 4], [1, 3, 4]),
        ([1, 2, 3], [1, 3, 2], [1, 3, 2]),
        ([2, 1, 2], [1, 2, 2], [2, 1, 2]),
    ] {
        let (left, right) =
            (HostTensor::new(&data, a).expect("a view"), HostTensor::new(&data, b).expect("a view"));
        let mut out = [0.0f32; 12];
        let mut out = HostTensorMut::new(&mut out, c).expect("a view");
        for alpha in [1.0, 0.0] {
            let scale = Scale { alpha, beta: 0.0 };
            let error =
                simulate::matmul_batched(scale, &left, &right, &mut out).expect_err("it does not agree");
            assert!(matches!(error, Error::Contract { .. }), "{error}");
        }
    }
}

/// Every shape up to the largest side, each with all depths, as parts of one result; and larger ones.
#[test]
fn on_a_gpu() {
    let Some(on) = gpu() else { return };
    let On::Gpu(stream) = &on else { return };
    let sides = sides();
    let most = sides.last().copied().unwrap_or(0);
    let mut random = SmallRng::seed_from_u64(7);
    let mut numbers = |of: usize| -> Vec<f32> { (0..of).map(|_| random.random_range(-1.0..1.0)).collect() };
    let (a, b) = (numbers(most * most), numbers(most * most));
    let upload = |data: &[f32]| stream.clone_htod(data).expect("a copy");
    let (on_a, on_b) = (upload(&a), upload(&b));
    let shapes: Vec<[usize; 2]> = sides.iter().flat_map(|m| sides.iter().map(|n| [*m, *n])).collect();
    let untouched = vec![f32::from_bits(UNTOUCHED); shapes.len() * most * most];
    for k in sides.iter().copied() {
        let mut sums = vec![0.0f32; most * most];
        each([most, most], |[row, col]| {
            sums[row * most + col] =
                (0..k).fold(0.0f32, |sum, k| a[row * most + k].mul_add(b[k * most + col], sum));
        });
        let mut out = upload(&untouched);
        for (place, [m, n]) in shapes.iter().copied().enumerate() {
            let left = TensorView::with_strides(&on_a, [m, k], [most, 1]).expect("a view");
            let right = TensorView::with_strides(&on_b, [k, n], [most, 1]).expect("a view");
            let mut part = out.slice_mut(place * most * most..(place + 1) * most * most);
            let mut part = TensorViewMut::with_strides(&mut part, [m, n], [most, 1]).expect("a view");
            matmul(stream, &left, &right, &mut part).expect("a product");
        }
        let found = stream.clone_dtoh(&out).expect("a copy");
        for ([m, n], found) in shapes.iter().zip(found.chunks_exact((most * most).max(1))) {
            for (at, (found, sum)) in found.iter().zip(&sums).enumerate() {
                let inside = at / most < *m && at % most < *n;
                let expected = if inside { sum.to_bits() } else { UNTOUCHED };
                assert!(found.to_bits() == expected, "[{m}, {n}, {k}]: element {at} is {found}");
            }
        }
    }
    let (number, largest) = larger();
    for _ in 0..number {
        let mut extent = |most: usize| {
            let most = random.random_range(1..=most);
            random.random_range(1..=most)
        };
        let (m, n, k) = (extent(700), extent(700), extent(500));
        if m * n * k > 16 * largest {
            continue;
        }
        let scale = Scale { alpha: 1.5, beta: [0.0, -0.5][k % 2] };
        Case { batch: 1 + m % 2, m, n, k, gap: n % 5, scale }.check(&on);
    }
}
