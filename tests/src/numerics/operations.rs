//! Every operation of every type, with what it must give.

use super::atomics::atomics;
use super::exact::{big, correctly_rounded, double, multiply_add, nearest, nearest_f64};
use super::format::{integer, value};
use super::native::{function_of_integers, integers};
use super::{FLOATS, INTEGERS, Operation, derived};
use half::{bf16, f16};
use tileproof::ScalarType;
use tileproof_compiler::ir::{Domain, FUNCTIONS, Function, Relation, Row};

/// All operations: arithmetic, comparisons, functions, conversions and atomics.
pub fn operations() -> Vec<Operation> {
    let mut all = Vec::new();
    for scalar in FLOATS {
        all.extend(arithmetic(scalar));
    }
    for scalar in INTEGERS {
        all.extend(integers(scalar));
    }
    for row in &FUNCTIONS {
        for scalar in FLOATS.into_iter().chain(INTEGERS).filter(|scalar| row.domain.holds(*scalar)) {
            all.extend(function(row, scalar));
        }
    }
    for from in FLOATS.into_iter().chain(INTEGERS) {
        for to in FLOATS.into_iter().chain(INTEGERS).filter(|to| *to != from) {
            all.push(conversion(from, to));
        }
    }
    all.extend(derived::floats());
    all.extend(derived::integers());
    all.extend(atomics(sum));
    all
}

/// The operators of a float.
fn arithmetic(scalar: ScalarType) -> Vec<Operation> {
    let two = |expression: &str, reference: fn(ScalarType, u64, u64) -> u64| {
        Operation::exact(expression, &[scalar; 2], scalar, move |[a, b, _]| reference(scalar, a, b))
    };
    let truth = |expression, holds: fn(f64, f64) -> bool| {
        Operation::exact(expression, &[scalar; 2], ScalarType::U8, move |[a, b, _]| {
            holds(value(scalar, a), value(scalar, b)).into()
        })
    };
    // Of f16, two at a time.
    let pair = |operator| format!("(Vector::new([b, a]) {operator} Vector::new([a, b]))[1]");
    vec![
        two("a + b", sum),
        two(&pair('+'), sum),
        two(&pair('-'), |scalar, a, b| sum(scalar, a, negated(scalar, b))),
        two(&pair('*'), product),
        two("a - b", |scalar, a, b| sum(scalar, a, negated(scalar, b))),
        two("a * b", product),
        two("a / b", quotient),
        two("a % b", |scalar, a, b| nearest_f64(value(scalar, a) % value(scalar, b), scalar)),
        two("a.min(b)", smaller),
        two("a.max(b)", |scalar, a, b| {
            negated(scalar, smaller(scalar, negated(scalar, a), negated(scalar, b)))
        }),
        Operation::exact("-a", &[scalar], scalar, move |[a, ..]| negated(scalar, a)),
        // Two roundings, never one.
        Operation::exact("a * b + c", &[scalar; 3], scalar, move |[a, b, c]| {
            sum(scalar, product(scalar, a, b), c)
        }),
        truth("(a < b) as u8", |a, b| a < b),
        truth("(a <= b) as u8", |a, b| a <= b),
        truth("(a > b) as u8", |a, b| a > b),
        truth("(a >= b) as u8", |a, b| a >= b),
        truth("(a == b) as u8", |a, b| a == b),
        truth("(a != b) as u8", |a, b| a != b),
    ]
}

fn sign(scalar: ScalarType) -> u64 {
    1 << (8 * scalar.bytes() - 1)
}

fn negated(scalar: ScalarType, a: u64) -> u64 {
    a ^ sign(scalar)
}

/// Of f32 and f64 what the host computes; of halves exactly, and then rounded.
fn sum(scalar: ScalarType, a: u64, b: u64) -> u64 {
    let (x, y) = (value(scalar, a), value(scalar, b));
    match scalar {
        ScalarType::F32 => (x as f32 + y as f32).to_bits().into(),
        ScalarType::F64 => (x + y).to_bits(),
        _ if x == 0.0 || y == 0.0 || !(x + y).is_finite() => nearest_f64(x + y, scalar),
        _ => nearest(&big(x).add_full_prec(&big(y)), scalar),
    }
}

fn product(scalar: ScalarType, a: u64, b: u64) -> u64 {
    let (x, y) = (value(scalar, a), value(scalar, b));
    match scalar {
        ScalarType::F32 => (x as f32 * y as f32).to_bits().into(),
        // Of halves it is exact in f64.
        _ => nearest_f64(x * y, scalar),
    }
}

fn quotient(scalar: ScalarType, a: u64, b: u64) -> u64 {
    let (x, y) = (value(scalar, a), value(scalar, b));
    match scalar {
        ScalarType::F32 => (x as f32 / y as f32).to_bits().into(),
        // Of halves the quotient in f64 is too near to a tie only if it is one: it has more than twice their bits.
        _ => nearest_f64(x / y, scalar),
    }
}

/// The smaller, with -0 below +0; the other one of a NaN.
fn smaller(scalar: ScalarType, a: u64, b: u64) -> u64 {
    let (x, y) = (value(scalar, a), value(scalar, b));
    if x.is_nan() || y < x || (x == y && y.is_sign_negative()) { b } else { a }
}

/// A function of a type; halves have some of their own, and compute the others in f32.
fn function(row: &'static Row, scalar: ScalarType) -> Option<Operation> {
    let own = row.function;
    let operands = own.operands(scalar);
    let call = |first: &str| {
        let rest: Vec<&str> = ["b", "c"].into_iter().take(operands.len() - 1).collect();
        format!("{first}.{}({})", row.name, rest.join(", "))
    };
    let result = own.result(scalar);
    let plain = |reference: fn(Function, ScalarType, [u64; 3]) -> u64| {
        Operation::exact(&call("a"), &operands, result, move |bits| reference(own, scalar, bits))
    };
    if row.domain == Domain::Only(ScalarType::U32) {
        return Some(Operation::exact("byte_perm(a, b, c)", &operands, result, move |bits| {
            function_of_integers(own, scalar, bits)
        }));
    }
    if !scalar.is_float() {
        let first = if own.is_partial() { "a.max(1)" } else { "a" };
        return Some(Operation::exact(&call(first), &operands, result, move |bits| {
            function_of_integers(own, scalar, bits)
        }));
    }
    if scalar.is_half() && !own.is_of_halves() {
        let of_one = row.rest.is_empty() && row.result == Relation::Same;
        return of_one.then(|| {
            let name = scalar.name();
            let expression = format!("{name}::from_f32({})", call("a.to_f32()"));
            let reference = move |[a, ..]: [u64; 3]| nearest_f64(double(own, value(scalar, a), 0.0), scalar);
            // What is not exact in f32 may round to the neighbour.
            let ulps = u32::from(row.ulps.0 > 0);
            Operation { ulps, ..Operation::exact(&expression, &operands, result, reference) }
        });
    }
    Some(match own {
        Function::ToBits => plain(|_, _, [a, ..]| a),
        Function::FromBits => {
            let expression = format!("{}::from_bits(a)", scalar.name());
            Operation { scalar, ..Operation::exact(&expression, &operands, result, |[a, ..]| a) }
        }
        Function::Abs => plain(|_, scalar, [a, ..]| a & !sign(scalar)),
        Function::Copysign => plain(|_, scalar, [a, b, _]| a & !sign(scalar) | b & sign(scalar)),
        Function::MulAdd => plain(|_, scalar, [a, b, c]| fused(scalar, [a, b, c])),
        Function::Powi => {
            Operation { small: Some((1, 40)), ..plain(|_, scalar, [a, b, _]| power(scalar, a, b as i32)) }
        }
        _ if row.ulps == (0, 0) => plain(|function, scalar, [a, b, _]| {
            nearest_f64(double(function, value(scalar, a), value(scalar, b)), scalar)
        }),
        _ => {
            let ulps = if scalar == ScalarType::F32 { row.ulps.0 } else { row.ulps.1 };
            let exact = move |[a, b, _]: [u64; 3]| correctly_rounded(own, scalar, [a, b]);
            let operation = Operation { ulps, ..Operation::exact(&call("a"), &operands, result, exact) };
            match scalar {
                // Nearly always the same, and fast.
                ScalarType::F32 => operation.estimated(move |[a, b, _]| {
                    (double(own, value(scalar, a), value(scalar, b)) as f32).to_bits().into()
                }),
                _ => Operation { is_slow: true, ..operation },
            }
        }
    })
}

fn fused(scalar: ScalarType, [a, b, c]: [u64; 3]) -> u64 {
    let [x, y, z] = [a, b, c].map(|bits| value(scalar, bits));
    match scalar {
        ScalarType::F32 => (x as f32).mul_add(y as f32, z as f32).to_bits().into(),
        ScalarType::F64 => x.mul_add(y, z).to_bits(),
        _ if [x, y, z].into_iter().all(f64::is_finite) => multiply_add(scalar, [a, b, c]),
        _ => nearest_f64(x.mul_add(y, z), scalar),
    }
}

/// By repeated squaring, one rounding a product.
fn power(scalar: ScalarType, a: u64, n: i32) -> u64 {
    let one = nearest_f64(1.0, scalar);
    let (mut base, mut result, mut rest) = (a, one, n.unsigned_abs());
    while rest > 0 {
        if rest & 1 == 1 {
            result = product(scalar, result, base);
        }
        rest >>= 1;
        if rest > 0 {
            base = product(scalar, base, base);
        }
    }
    if n < 0 { quotient(scalar, one, result) } else { result }
}

/// `a as T`, in the way in which the language says it.
fn conversion(from: ScalarType, to: ScalarType) -> Operation {
    let (source, target) = (from.name(), to.name());
    let single = match from {
        _ if from.is_half() => "a.to_f32()".to_owned(),
        ScalarType::F32 => "a".to_owned(),
        _ => "a as f32".to_owned(),
    };
    let expression = match (from, to) {
        (ScalarType::F64, _) if to.is_half() => format!("{target}::from_f64(a)"),
        (_, ScalarType::F32) => single,
        (_, ScalarType::F64) if from.is_half() => "a.to_f64()".to_owned(),
        _ if to.is_half() => format!("{target}::from_f32({single})"),
        _ if from.is_half() => format!("{single} as {target}"),
        _ => format!("a as {target}"),
    };
    let reference = move |[a, ..]: [u64; 3]| converted(from, to, a);
    Operation {
        name: Some(format!("{source} as {target}")),
        ..Operation::exact(&expression, &[from], to, reference)
    }
}

fn converted(from: ScalarType, to: ScalarType, a: u64) -> u64 {
    match (from.is_float(), to.is_float()) {
        (true, true) => nearest_f64(value(from, a), to),
        // Halves are made of integers by way of f32.
        (false, true) if to.is_half() => {
            let single = integer(from, a) as f32;
            match to {
                ScalarType::F16 => f16::from_f32(single).to_bits().into(),
                _ => bf16::from_f32(single).to_bits().into(),
            }
        }
        (false, true) if to == ScalarType::F32 => (integer(from, a) as f32).to_bits().into(),
        (false, true) => (integer(from, a) as f64).to_bits(),
        (true, false) => {
            let (low, high) = to.range().expect("an integer");
            let value = value(from, a);
            // `i128` holds every f64 between the bounds; beyond them Rust's cast saturates, and NaN is 0.
            (value as i128).clamp(low, high) as u64 & u64::MAX >> (64 - 8 * to.bytes())
        }
        (false, false) => integer(from, a) as u64 & u64::MAX >> (64 - 8 * to.bytes()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::format::Format;

    #[test]
    fn every_function_of_values_is_there() {
        let all = operations();
        for row in FUNCTIONS.iter().filter(|row| row.domain != Domain::Index) {
            let called = |it: &Operation| {
                it.expression.contains(&format!(".{}(", row.name))
                    || it.expression.contains(&format!("{}(", row.name))
            };
            assert!(all.iter().any(called), "{}", row.name);
        }
    }

    /// The bound of a half says what f32's bound makes of it.
    #[test]
    fn halves_have_room_for_the_error_of_f32() {
        let most = FUNCTIONS.iter().map(|row| row.ulps.0).max().unwrap_or(0);
        let steps = 1 << (Format::of(ScalarType::F32).fraction - Format::of(ScalarType::F16).fraction);
        assert!(most < steps / 2);
    }
}
