//! What an atomic update makes of an element.

use super::value;
use crate::ir::{AtomicOp, BinaryOp, Scalar};

/// The element after an update. All values are in the form of [`value`].
pub(super) fn updated(op: AtomicOp, scalar: Scalar, before: u64, expected: u64, new: u64) -> u64 {
    let binary = |op| value::binary(op, scalar, &[before; 32], &[new; 32]).0[0];
    match op {
        AtomicOp::Add => binary(BinaryOp::Add),
        AtomicOp::Min => binary(BinaryOp::Min),
        AtomicOp::Max => binary(BinaryOp::Max),
        AtomicOp::And => binary(BinaryOp::And),
        AtomicOp::Or => binary(BinaryOp::Or),
        AtomicOp::Xor => binary(BinaryOp::Xor),
        AtomicOp::Exchange => new,
        AtomicOp::CompareExchange => {
            if before == expected {
                new
            } else {
                before
            }
        }
    }
}

/// The sum of two `f32` as in global memory, where subnormal numbers count as zeros of the same sign.
pub(super) fn add_without_subnormals(before: u64, new: u64) -> u64 {
    let flushed = |x: f32| if x.is_subnormal() { 0f32.copysign(x) } else { x };
    let [before, new] = [before, new].map(|bits| flushed(f32::from_bits(bits as u32)));
    u64::from(flushed(before + new).to_bits())
}
