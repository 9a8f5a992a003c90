//! Atomic updates, each of an element that one thread has written before.

use super::Operation;
use super::format::integer;
use tileproof::ScalarType;

type Update = fn(i128, i128) -> i128;

/// The updates that compute, in shared and in device memory; `sum` is that of two floats.
pub(super) fn atomics(sum: fn(ScalarType, u64, u64) -> u64) -> Vec<Operation> {
    let mut all = Vec::new();
    for scalar in [ScalarType::F32, ScalarType::F64] {
        all.push(in_shared("atomic_add", scalar, move |[a, b, _]| sum(scalar, a, b)));
    }
    // Device memory adds f32 without subnormal numbers.
    all.push(in_device("atomic_add", ScalarType::F32, move |[a, b, _]| {
        flushed(sum(ScalarType::F32, flushed(a), flushed(b)))
    }));
    all.push(in_device("atomic_add", ScalarType::F64, move |[a, b, _]| sum(ScalarType::F64, a, b)));
    for scalar in [ScalarType::I32, ScalarType::U32, ScalarType::I64, ScalarType::U64] {
        let updates: [(&str, Update); 6] = [
            ("atomic_add", |a, b| a + b),
            ("atomic_min", i128::min),
            ("atomic_max", i128::max),
            ("atomic_and", |a, b| a & b),
            ("atomic_or", |a, b| a | b),
            ("atomic_xor", |a, b| a ^ b),
        ];
        for (method, update) in updates {
            let reference = move |[a, b, _]: [u64; 3]| {
                let after = update(integer(scalar, a), integer(scalar, b));
                after as u64 & u64::MAX >> (64 - 8 * scalar.bytes())
            };
            all.push(in_shared(method, scalar, reference));
            all.push(in_device(method, scalar, reference));
        }
    }
    all
}

/// A subnormal f32 is a zero of its sign.
fn flushed(bits: u64) -> u64 {
    if f32::from_bits(bits as u32).is_subnormal() { bits & 0x8000_0000 } else { bits }
}

fn in_shared(
    method: &str,
    scalar: ScalarType,
    reference: impl Fn([u64; 3]) -> u64 + Send + Sync + 'static,
) -> Operation {
    let ahead = format!("let mut tile = Shared::<[{}; 256]>::new();", scalar.name());
    let statements = format!(
        "tile[thread_x()] = a;
        tile.{method}([thread_x()], b);
        out[[i]] = tile[thread_x()];"
    );
    Operation {
        name: Some(format!("{method} in shared memory")),
        statements: Some([ahead, statements]),
        ..Operation::exact(method, &[scalar; 2], scalar, reference)
    }
}

fn in_device(
    method: &str,
    scalar: ScalarType,
    reference: impl Fn([u64; 3]) -> u64 + Send + Sync + 'static,
) -> Operation {
    let statements = format!("out[[i]] = a;\nout.{method}([i], b);");
    Operation {
        name: Some(format!("{method} in device memory")),
        statements: Some([String::new(), statements]),
        ..Operation::exact(method, &[scalar; 2], scalar, reference)
    }
}
