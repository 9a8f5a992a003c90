//! On a GPU.

use crate::case::{Case, On, Value, check_in_place};
use crate::random;
use rand::rngs::SmallRng;
use rand::{RngExt, SeedableRng};
use tileproof::kernels::transpose::transpose;
use tileproof::prelude::*;
use tileproof::{device, nvrtc};
use tileproof_tests::needs::{self, Need};

/// A stream, if this machine can launch; says what is missing if not.
#[track_caller]
pub(crate) fn gpu() -> Option<On> {
    let need = match device::context(0) {
        Ok(context) => match nvrtc() {
            Ok(_) => return Some(On::Gpu(context.new_stream().expect("a stream"))),
            Err(error) => (Need::Nvrtc, error),
        },
        Err(error) => (Need::Gpu, error),
    };
    needs::skip(need.0, &need.1.to_string());
    None
}

/// The sides of shapes: all up to the largest; fewer under a sanitizer, which `TILEPROOF_SMALL` says.
pub(crate) fn sides() -> Vec<usize> {
    match std::env::var_os("TILEPROOF_SMALL") {
        None => (0..=70).collect(),
        Some(_) => vec![0, 1, 7, 8, 9, 33, 70],
    }
}

/// How many random shapes, and the most elements of one.
pub(crate) fn larger() -> (usize, usize) {
    match std::env::var_os("TILEPROOF_SMALL") {
        None => (200, 1 << 21),
        Some(_) => (10, 1 << 14),
    }
}

/// Random extents of at least 1 whose product is at most `most`; small and large ones alike.
fn extents<const R: usize>(random: &mut SmallRng, most: usize) -> [usize; R] {
    let mut left = most;
    let mut extents = [1; R];
    let first = random.random_range(0..R);
    for d in 0..R {
        let extent = &mut extents[(first + d) % R];
        let bits = random.random_range(0..=left.ilog2());
        *extent = random.random_range(1..=(2usize << bits).min(left));
        left = (left / *extent).max(1);
    }
    extents
}

fn transposes<T: Value>() {
    let Some(on) = gpu() else { return };
    for rows in sides() {
        for cols in sides() {
            Case::dense([rows, cols], [1, 0]).check::<T>(&on);
        }
        check_in_place::<T>(&on, rows, rows);
        check_in_place::<T>(&on, rows, rows + 3);
    }
    let (number, most) = larger();
    let mut random = SmallRng::seed_from_u64(size_of::<T>() as u64);
    for _ in 0..number {
        Case::dense(extents::<2>(&mut random, most), [1, 0]).check::<T>(&on);
        Case::dense(extents::<3>(&mut random, most), [0, 2, 1]).check::<T>(&on);
    }
    check_in_place::<T>(&on, 1021, 1024);
}

#[test]
fn transposes_of_f64() {
    transposes::<f64>();
}

#[test]
fn transposes_of_f32() {
    transposes::<f32>();
}

#[test]
fn transposes_of_f16() {
    transposes::<f16>();
}

#[test]
fn transposes_of_bf16() {
    transposes::<bf16>();
}

#[test]
fn transposes_of_u8() {
    transposes::<u8>();
}

/// Pairs of doubles, and quadruples of floats.
#[test]
fn transposes_of_16_bytes() {
    let Some(on) = gpu() else { return };
    for rows in sides() {
        for cols in sides() {
            Case::dense([rows, cols, 2], [1, 0, 2]).check::<f64>(&on);
        }
    }
    let (number, most) = larger();
    let mut random = SmallRng::seed_from_u64(16);
    for _ in 0..number {
        let [rows, cols] = extents(&mut random, most / 4);
        Case::dense([rows, cols, 4], [1, 0, 2]).check::<f32>(&on);
    }
}

#[test]
fn records_and_fields() {
    let Some(on) = gpu() else { return };
    for number in [0, 1, 255, 256, 257, 100_003] {
        for fields in 1..=9 {
            Case::dense([number, fields], [1, 0]).check::<f32>(&on);
            Case::dense([fields, number], [1, 0]).check::<f32>(&on);
            Case::dense([number, fields], [1, 0]).check::<u8>(&on);
            Case::dense([fields, number], [1, 0]).check::<f64>(&on);
            Case::dense([3, number, fields], [0, 2, 1]).check::<u8>(&on);
            Case::dense([3, fields, number], [0, 2, 1]).check::<f16>(&on);
        }
    }
}

#[test]
fn permutations() {
    let Some(on) = gpu() else { return };
    let (number, _) = larger();
    random::all(&on, 2 * number as u32, [120, 40, 16]);
}

/// Offsets beyond 2³² elements: with 32-bit indices, the third row would be the first.
#[test]
fn rows_2_to_the_31_elements_apart() {
    const PITCH: usize = 1 << 31;
    let (rows, cols) = (3, 600);
    let Some(On::Gpu(stream)) = gpu() else { return };
    let length = (rows - 1) * PITCH + cols;
    if stream.context().mem_get_info().unwrap().0 < 2 * length {
        println!("skipped: {length} bytes of the GPU's memory are too many");
        return;
    }
    let data: Vec<u8> = (0..rows * cols).map(u8::number).collect();
    let turned: Vec<u8> = (0..rows * cols).map(|i| data[i % rows * cols + i / rows]).collect();
    let row = |r: usize| r * PITCH..r * PITCH + cols;

    let mut far = stream.alloc_zeros::<u8>(length).unwrap();
    for (r, elements) in data.chunks(cols).enumerate() {
        stream.memcpy_htod(elements, &mut far.slice_mut(row(r))).unwrap();
    }
    let mut near = stream.alloc_zeros::<u8>(rows * cols).unwrap();
    let input = TensorView::with_strides(&far, [rows, cols], [PITCH, 1]).unwrap();
    transpose(&stream, &input, &mut TensorViewMut::new(&mut near, [cols, rows]).unwrap()).unwrap();
    assert!(stream.clone_dtoh(&near).unwrap() == turned, "it reads wide");

    stream.memset_zeros(&mut far).unwrap();
    let mut output = TensorViewMut::with_strides(&mut far, [rows, cols], [PITCH, 1]).unwrap();
    transpose(&stream, &TensorView::new(&near, [cols, rows]).unwrap(), &mut output).unwrap();
    for (r, expected) in data.chunks(cols).enumerate() {
        assert!(stream.clone_dtoh(&far.slice(row(r))).unwrap() == expected, "it writes row {r} wide");
    }
}
