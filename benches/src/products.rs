//! Matrix products beside the vendor's library, in turns.

use crate::interleaved::in_turns;
use crate::memory::failed;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fmt;
use std::sync::Arc;
use tileproof::cublas::Cublas;
use tileproof::cudarc::driver::{CudaSlice, CudaStream};
use tileproof::kernels::matmul::{Factor, matmul};
use tileproof::prelude::*;
use tileproof_examples::machine::Machine;

/// The fewest and the most rounds in which the two take turns.
const ROUNDS: [usize; 2] = [7, 41];

/// About how many multiplications one case takes, over all rounds, where the number of rounds allows it.
const WORK: f64 = 4e12;

/// Elements of a result that are compared.
const COMPARED: usize = 200;

/// The extents `M`, `N` and `K` of products of `f32`.
const SINGLES: [[usize; 3]; 13] = [
    [256, 256, 256],
    [512, 512, 512],
    [1024, 1024, 1024],
    [1023, 1025, 1027],
    [2048, 2048, 2048],
    [4096, 4096, 4096],
    [4095, 4095, 4095],
    [4097, 4097, 4097],
    [8192, 8192, 8192],
    [8192, 8192, 256],
    [65536, 128, 1024],
    [128, 65536, 1024],
    [16, 8192, 8192],
];

/// Those of products of `f16` and `bf16`.
const HALVES: [[usize; 3]; 7] = [
    [512, 512, 512],
    [1024, 1024, 1024],
    [2048, 2048, 2048],
    [4096, 4096, 4096],
    [4095, 4095, 4095],
    [8192, 8192, 8192],
    [16, 8192, 8192],
];

/// What was measured of products.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Products {
    /// `matmul`.
    pub benchmark: String,
    /// The machine, and the day.
    #[serde(flatten)]
    pub machine: Machine,
    /// How it was measured.
    pub method: String,
    /// By shape.
    pub products: Vec<Product>,
}

/// A product of random numbers in −1 to 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Product {
    /// The element.
    pub element: String,
    /// Rows of the result.
    pub m: usize,
    /// Columns of the result.
    pub n: usize,
    /// Products in a sum.
    pub k: usize,
    /// The median time of `kernels::matmul`, in microseconds.
    pub ours_us: f64,
    /// That of `cublasSgemm` without TF32, or `cublasGemmEx`, in microseconds.
    pub cublas_us: f64,
    /// The largest error of ours, as a share of the bound that its documentation states.
    pub error_of_bound: f64,
}

impl Product {
    /// The time of the vendor's library over that of ours.
    pub fn ratio(&self) -> f64 {
        self.cublas_us / self.ours_us
    }

    /// Multiplications and additions in 10¹² a second.
    pub fn tera(&self, microseconds: f64) -> f64 {
        2.0 * (self.m * self.n * self.k) as f64 / microseconds * 1e-6
    }
}

impl Products {
    /// Whether every result is within its bound.
    pub fn is_right(&self) -> bool {
        self.products.iter().all(|product| product.error_of_bound <= 1.0)
    }
}

impl fmt::Display for Products {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "matmul, TFLOP/s: ours, cuBLAS, ratio; error as a share of the bound")?;
        for product in &self.products {
            let Product { element, m, n, k, ours_us, cublas_us, error_of_bound } = product;
            let (ours, cublas) = (product.tera(*ours_us), product.tera(*cublas_us));
            let ratio = product.ratio();
            writeln!(
                f,
                "  {element:4} {m:>5} x {n:>5} x {k:>5} {ours:7.2} {cublas:7.2} {ratio:6.3} {error_of_bound:8.4}"
            )?;
        }
        Ok(())
    }
}

/// Measures all shapes on the stream's device.
///
/// # Errors
/// What a launch, the vendor's library or the driver returns.
pub fn measure(stream: &Arc<CudaStream>, machine: &Machine) -> Result<Products, Box<dyn Error>> {
    let blas = Cublas::new(stream)?;
    let singles = SINGLES.into_iter().map(|shape| product::<f32>(stream, &blas, shape));
    let halves = HALVES.into_iter();
    let bf16s = halves.clone().map(|shape| product::<bf16>(stream, &blas, shape));
    let f16s = halves.map(|shape| product::<f16>(stream, &blas, shape));
    let products = singles.chain(bf16s).chain(f16s).collect::<Result<_, _>>()?;
    Ok(Products {
        benchmark: "matmul".into(),
        machine: machine.clone(),
        method: format!(
            "medians of {} to {} rounds after one to warm up, in each of which both take turns on the same operands, random numbers in \
             -1 to 1, each sample between two CUDA events, behind a kernel that waits while it is enqueued; cublasSgemm in its default mode, which \
             does not use TF32, and cublasGemmEx with sums of f32; {COMPARED} elements compared with sums in f64",
            ROUNDS[0], ROUNDS[1]
        ),
        products,
    })
}

fn product<T: Number>(
    stream: &Arc<CudaStream>,
    blas: &Cublas,
    [m, n, k]: [usize; 3],
) -> Result<Product, tileproof::Error> {
    let (a, b) = (numbers::<T>(m * k, 1), numbers::<T>(k * n, 2));
    let upload = |data: &[T]| stream.clone_htod(data).map_err(failed("copy an operand"));
    let (on_a, on_b) = (upload(&a)?, upload(&b)?);
    let mut out: CudaSlice<T> = stream.alloc_zeros(m * n).map_err(failed("allocate the result"))?;
    let left = TensorView::new(&on_a, [m, k])?;
    let right = TensorView::new(&on_b, [k, n])?;
    let rounds = (WORK / (m * n * k) as f64) as usize;
    let times = in_turns(stream, rounds.clamp(ROUNDS[0], ROUNDS[1]), 2, |subject| {
        let mut view = TensorViewMut::new(&mut out, [m, n])?;
        match subject {
            0 => matmul(stream, &left, &right, &mut view),
            _ => blas.multiply(&left, &right, &mut view),
        }
    })?;
    let [ours_us, cublas_us] = [0, 1].map(|subject| times[subject].median().as_secs_f64() * 1e6);
    matmul(stream, &left, &right, &mut TensorViewMut::new(&mut out, [m, n])?)?;
    let found = stream.clone_dtoh(&out).map_err(failed("copy the result"))?;
    Ok(Product {
        element: T::NAME.into(),
        m,
        n,
        k,
        ours_us,
        cublas_us,
        error_of_bound: error([m, n, k], &a, &b, &found),
    })
}

/// An element, as a number.
trait Number: Factor {
    const NAME: &'static str;
    /// The bound of a sum's error, as a share of its absolute products.
    fn of_sum(products: usize) -> f64;
    /// That of the rounding behind it, as a share of the sum.
    const OF_RESULT: f64;

    fn of(number: f32) -> Self;
    fn number(self) -> f64;
}

impl Number for f32 {
    const NAME: &'static str = "f32";
    const OF_RESULT: f64 = 0.0;

    /// `K · u / (1 − K · u)`, where `u` is 2⁻²⁴.
    fn of_sum(products: usize) -> f64 {
        let units = products as f64 * f64::from(f32::EPSILON) / 2.0;
        units / (1.0 - units)
    }

    fn of(number: f32) -> f32 {
        number
    }

    fn number(self) -> f64 {
        self.into()
    }
}

macro_rules! halves {
    ($($half:ident: $epsilon:expr),*) => {$(
        impl Number for $half {
            const NAME: &'static str = stringify!($half);
            const OF_RESULT: f64 = $epsilon / 2.0;

            /// `(K + 1) · 2⁻²²`.
            fn of_sum(products: usize) -> f64 {
                (products + 1) as f64 * 2.0 * f64::from(f32::EPSILON)
            }

            fn of(number: f32) -> $half {
                $half::from_f32(number)
            }

            fn number(self) -> f64 {
                self.to_f64()
            }
        }
    )*};
}

halves!(f16: 1.0 / 1024.0, bf16: 1.0 / 128.0);

/// The largest error of some elements, over its bound.
fn error<T: Number>([m, n, k]: [usize; 3], a: &[T], b: &[T], c: &[T]) -> f64 {
    let step = (m * n / COMPARED).max(1) | 1;
    let errors = (0..m * n).step_by(step).map(|at| {
        let (row, col) = (at / n, at % n);
        let products = (0..k).map(|i| a[row * k + i].number() * b[i * n + col].number());
        let (sum, size) =
            products.fold((0.0, 0.0), |(sum, size), product| (sum + product, size + product.abs()));
        let of_sum = T::of_sum(k) * size;
        (c[at].number() - sum).abs() / (of_sum + T::OF_RESULT * (sum.abs() + of_sum))
    });
    errors.fold(0.0, f64::max)
}

/// Numbers in −1 to 1 whose neighbours differ in many bits.
fn numbers<T: Number>(of: usize, seed: u64) -> Vec<T> {
    (0..of as u64)
        .map(|i| {
            let mixed =
                (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ seed.wrapping_mul(0xd1b5_4a32_d192_ed03);
            let mixed = (mixed ^ mixed >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            T::of((mixed >> 40) as f32 / (1u64 << 23) as f32 - 1.0)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::{error, numbers};

    #[test]
    fn numbers_are_in_range_and_differ() {
        let numbers = numbers::<f32>(1000, 1);
        assert!(numbers.iter().all(|number| (-1.0..1.0).contains(number)));
        let mean = numbers.iter().sum::<f32>() / 1000.0;
        assert!(mean.abs() < 0.1, "{mean}");
        assert_ne!(numbers, super::numbers::<f32>(1000, 2));
    }

    #[test]
    fn an_error_is_a_share_of_its_bound() {
        let (a, b) = (numbers::<f32>(7 * 5, 1), numbers::<f32>(5 * 3, 2));
        let mut c: Vec<f32> = (0..21)
            .map(|at| (0..5).fold(0.0f32, |sum, i| a[at / 3 * 5 + i].mul_add(b[i * 3 + at % 3], sum)))
            .collect();
        let share = error([7, 3, 5], &a, &b, &c);
        assert!(share < 1.0, "{share}");
        c[4] += 1e-5;
        assert!(error([7, 3, 5], &a, &b, &c) > 1.0);
    }
}
