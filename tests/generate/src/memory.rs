//! What tensors hold: before a run by their seeds, and after it.

use crate::random::Random;
use crate::tree::{Kernel, Tensor};
use crate::value::{Scalar, Value};

/// How many elements the memory of a tensor has, what lies between its rows included.
pub fn length(tensor: &Tensor) -> usize {
    if tensor.extents.contains(&0) {
        return 0;
    }
    let (inner, outer) = tensor.extents.split_last().map_or((1, &[][..]), |(inner, outer)| (*inner, outer));
    let rows: usize = outer.iter().zip(&tensor.strides).map(|(extent, stride)| (extent - 1) * stride).sum();
    rows + inner
}

/// The place in memory of an element; `None` outside.
pub fn place(tensor: &Tensor, indices: &[i128]) -> Option<usize> {
    let inside = indices.len() == tensor.extents.len()
        && indices.iter().zip(&tensor.extents).all(|(index, extent)| (0..*extent as i128).contains(index));
    let strides = tensor.strides.iter().chain(&[1]);
    inside.then(|| indices.iter().zip(strides).map(|(index, stride)| *index as usize * stride).sum())
}

/// What the memory of all tensors holds before a run.
pub fn initial(kernel: &Kernel) -> Vec<Vec<Value>> {
    kernel.tensors.iter().map(contents).collect()
}

fn contents(tensor: &Tensor) -> Vec<Value> {
    let mut random = Random::new(tensor.seed);
    (0..length(tensor)).map(|_| element(tensor.element, &mut random)).collect()
}

/// A value that a program may find in memory: mostly small, sometimes at an end of its type.
pub fn element(scalar: Scalar, random: &mut Random) -> Value {
    if !scalar.is_float() {
        let bits = match random.below(4) {
            0 => random.bits(),
            1 => random.pick(&[
                0,
                1,
                u64::MAX,
                u64::MAX >> 1,
                1 << 63,
                1 << 7,
                1 << 15,
                1 << 31,
                255,
                0x7fff_ffff,
            ]),
            _ => (random.below(41) as u64).wrapping_sub(8),
        };
        return Value::of_bits(scalar, bits);
    }
    match random.below(16) {
        0 => random.pick(&specials(scalar)),
        1 => Value::of_bits(scalar, random.bits() & !(1 << (8 * scalar.bytes() - 2))),
        2..=6 => Value::of_real(scalar, random.below(33) as f64 - 16.0),
        _ => Value::of_real(scalar, (random.below(1 << 20) as f64 / f64::from(1 << 17)) - 4.0),
    }
}

/// The floats where rules change.
pub fn specials(scalar: Scalar) -> Vec<Value> {
    let reals = [0.0, -0.0, 1.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 65504.0, 1e-6, 3e38, -1e-40];
    let mut list: Vec<Value> = reals.iter().map(|x| Value::of_real(scalar, *x)).collect();
    list.push(Value::of_bits(scalar, 1));
    list
}

/// The bytes of values, one after another.
pub fn bytes(values: &[Value]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| {
            let count = value.scalar().map_or(0, Scalar::bytes);
            value.bits().to_le_bytes()[..count].to_vec()
        })
        .collect()
}

/// The values of such bytes.
pub fn values(scalar: Scalar, bytes: &[u8]) -> Vec<Value> {
    bytes
        .chunks_exact(scalar.bytes())
        .map(|chunk| {
            let mut bits = [0; 8];
            bits[..chunk.len()].copy_from_slice(chunk);
            Value::of_bits(scalar, u64::from_le_bytes(bits))
        })
        .collect()
}

/// Whether two results are the same: equal bits, both no number, or as near as the tensor's error allows.
pub fn same(tensor: &Tensor, a: &Value, b: &Value) -> bool {
    if a.bits() == b.bits() || a.is_nan() && b.is_nan() {
        return true;
    }
    if tensor.ulps == 0 || a.is_nan() || b.is_nan() {
        return false;
    }
    // Floats of one sign are ordered as their bits are; zeros of either sign are one place.
    let order = |value: &Value| {
        let sign = 1u64 << (8 * tensor.element.bytes() - 1);
        let magnitude = (value.bits() & !sign) as i128;
        if value.bits() & sign == 0 { magnitude } else { -magnitude }
    };
    (order(a) - order(b)).unsigned_abs() <= u128::from(tensor.ulps)
}
