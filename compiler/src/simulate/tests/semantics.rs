//! Values and control against Rust.

use super::*;
use crate::ir::UnaryOp;
use crate::simulate::{Fault, FaultKind, simulate};

/// Computes an expression of two operands for many pairs, one thread a pair. Values are bits in the low bytes.
fn pairs(
    types: [Scalar; 3],
    operands: &[(u64, u64)],
    result: impl FnOnce(&mut Builder, E, E) -> E,
) -> Result<Vec<u64>, Fault> {
    let threads = operands.len() as u32;
    let mut b = Builder::new([threads, 1, 1]);
    let [left, right, out] = types;
    let (left_tensor, right_tensor) = (b.tensor("left", left, 1, false), b.tensor("right", right, 1, false));
    let target = b.tensor("out", out, 1, true);
    let x = b.thread(Axis::X);
    let (load_left, a) = b.load(Base::Tensor(left_tensor), &[x], 1);
    let (load_right, c) = b.load(Base::Tensor(right_tensor), &[x], 1);
    let value = result(&mut b, a, c);
    let store = b.store(Base::Tensor(target), &[x], value);
    let kernel = b.build(vec![load_left, load_right, store]);
    let bytes = |scalar: Scalar, value: fn(&(u64, u64)) -> u64| -> Vec<u8> {
        let size = scalar.bytes() as usize;
        operands.iter().flat_map(|pair| value(pair).to_le_bytes()[..size].to_vec()).collect()
    };
    let (left_bytes, right_bytes) = (bytes(left, |pair| pair.0), bytes(right, |pair| pair.1));
    let mut results = vec![0; operands.len() * out.bytes() as usize];
    let extent = &[u64::from(threads)];
    let arguments =
        &mut [input(&left_bytes, extent), input(&right_bytes, extent), output(&mut results, extent)];
    simulate(&kernel, [1; 3], arguments)?;
    let wide = |bytes: &[u8]| bytes.iter().rev().fold(0, |wide, byte| wide << 8 | u64::from(*byte));
    Ok(results.chunks_exact(out.bytes() as usize).map(wide).collect())
}

/// The low bytes of a value that was sign-extended.
fn low(scalar: Scalar, value: u64) -> u64 {
    let unused = 64 - 8 * scalar.bytes();
    value << unused >> unused
}

macro_rules! integers {
    ($($name:ident $ty:ident $scalar:ident [$($special:expr),*];)*) => {$(
        #[test]
        fn $name() {
            use BinaryOp::*;
            let scalar = Scalar::$scalar;
            let values: Vec<$ty> = vec![0, 1, 2, 3, 7, 13, 100, $ty::MIN, $ty::MIN + 1, $ty::MAX, $ty::MAX - 1, $ty::MAX / 2, $($special),*];
            let all: Vec<($ty, $ty)> = values.iter().flat_map(|a| values.iter().map(|b| (*a, *b))).collect();
            let check = |op: BinaryOp, pairs_of: &[($ty, $ty)], expected: fn($ty, $ty) -> $ty| {
                let bits: Vec<_> = pairs_of.iter().map(|(a, b)| (*a as u64, *b as u64)).collect();
                let results = pairs([scalar; 3], &bits, |b, x, y| b.binary(op, x, y)).unwrap();
                for ((a, b), result) in pairs_of.iter().zip(results) {
                    assert_eq!(result as $ty, expected(*a, *b), "{a} {op:?} {b}");
                }
            };
            let nonzero: Vec<_> = all.iter().copied().filter(|(_, b)| *b != 0).collect();
            check(Add, &all, $ty::wrapping_add);
            check(Sub, &all, $ty::wrapping_sub);
            check(Mul, &all, $ty::wrapping_mul);
            check(Div, &nonzero, $ty::wrapping_div);
            check(Rem, &nonzero, $ty::wrapping_rem);
            check(And, &all, |a, b| a & b);
            check(Or, &all, |a, b| a | b);
            check(Xor, &all, |a, b| a ^ b);
            check(Shl, &all, |a, b| a.wrapping_shl(b as u32));
            check(Shr, &all, |a, b| a.wrapping_shr(b as u32));
            check(Min, &all, std::cmp::Ord::min);
            check(Max, &all, std::cmp::Ord::max);
            if !scalar.is_signed() {
                check(DivCeil, &nonzero, |a, b| a / b + $ty::from(a % b != 0));
            }
            let bits: Vec<_> = all.iter().map(|(a, b)| (*a as u64, *b as u64)).collect();
            let not = pairs([scalar; 3], &bits, |b, x, _| b.expr(ExprKind::Unary(UnaryOp::Not, x), scalar)).unwrap();
            let less = pairs([scalar, scalar, Scalar::Bool], &bits, |b, x, y| b.less(x, y)).unwrap();
            for (((a, b), not), less) in all.iter().zip(not).zip(less) {
                assert_eq!((not as $ty, less), (!*a, u64::from(a < b)), "{a} {b}");
            }
        }
    )*};
}

integers! {
    i8_is_rusts i8 I8 [-1, -2, -100];
    i16_is_rusts i16 I16 [-1, -2, 300];
    i32_is_rusts i32 I32 [-1, -2, 1 << 20];
    i64_is_rusts i64 I64 [-1, -2, 1 << 40];
    u8_is_rusts u8 U8 [200];
    u16_is_rusts u16 U16 [300];
    u32_is_rusts u32 U32 [1 << 20];
    u64_is_rusts u64 U64 [1 << 40];
}

macro_rules! floats {
    ($($name:ident $ty:ident $scalar:ident;)*) => {$(
        #[test]
        fn $name() {
            let scalar = Scalar::$scalar;
            let values = [0.0, -0.0, 1.0, -1.5, 0.1, 3.0, 16_777_217.0, $ty::MAX, $ty::MIN_POSITIVE, $ty::MIN_POSITIVE / 8.0,
                $ty::INFINITY, $ty::NEG_INFINITY, $ty::NAN];
            let all: Vec<($ty, $ty)> = values.iter().flat_map(|a| values.iter().map(|b| (*a, *b))).collect();
            let bits: Vec<_> = all.iter().map(|(a, b)| (u64::from(a.to_bits()), u64::from(b.to_bits()))).collect();
            let same = |a: $ty, b: $ty| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            let check = |op: BinaryOp, expected: fn($ty, $ty) -> $ty| {
                let results = pairs([scalar; 3], &bits, |b, x, y| b.binary(op, x, y)).unwrap();
                for ((a, b), result) in all.iter().zip(results) {
                    let result = $ty::from_bits(result as _);
                    assert!(same(result, expected(*a, *b)), "{a:?} {op:?} {b:?}: {result:?}");
                }
            };
            check(BinaryOp::Add, |a, b| a + b);
            check(BinaryOp::Sub, |a, b| a - b);
            check(BinaryOp::Mul, |a, b| a * b);
            check(BinaryOp::Div, |a, b| a / b);
            check(BinaryOp::Rem, |a, b| a % b);
            // The sign of a zero is open in Rust's `min` and `max`; ours orders -0 below +0.
            check(BinaryOp::Min, |a, b| if a == 0.0 && b == 0.0 { if a.is_sign_negative() { a } else { b } } else { a.min(b) });
            check(BinaryOp::Max, |a, b| if a == 0.0 && b == 0.0 { if a.is_sign_negative() { b } else { a } } else { a.max(b) });
            for (op, expected) in [
                (CompareOp::Less, (|a, b| a < b) as fn($ty, $ty) -> bool),
                (CompareOp::LessEqual, |a, b| a <= b),
                (CompareOp::Greater, |a, b| a > b),
                (CompareOp::GreaterEqual, |a, b| a >= b),
                (CompareOp::Equal, |a, b| a == b),
                (CompareOp::NotEqual, |a, b| a != b),
            ] {
                let results = pairs([scalar, scalar, Scalar::Bool], &bits, |b, x, y| b.compare(op, x, y)).unwrap();
                for ((a, b), result) in all.iter().zip(results) {
                    assert_eq!(result, u64::from(expected(*a, *b)), "{a:?} {op:?} {b:?}");
                }
            }
        }
    )*};
}

floats! {
    f32_is_rusts f32 F32;
    f64_is_rusts f64 F64;
}

#[test]
fn products_and_sums_round_apart() {
    let (a, b) = (1.0f32 + f32::EPSILON, 1.0f32 - f32::EPSILON);
    let bits = [(u64::from(a.to_bits()), u64::from(b.to_bits()))];
    let results = pairs([Scalar::F32; 3], &bits, |k, x, y| {
        let product = k.binary(BinaryOp::Mul, x, y);
        let minus_one = k.expr(ExprKind::Float(-1.0), Scalar::F32);
        k.add(product, minus_one)
    });
    assert_eq!(f32::from_bits(results.unwrap()[0] as u32), a * b - 1.0);
    assert_ne!(a * b - 1.0, a.mul_add(b, -1.0), "the operands tell the two apart");
}

macro_rules! casts {
    ($values:expr, $from:ident, $from_scalar:ident, $bits:expr => $($to:ident $to_scalar:ident),*) => {
        let values: Vec<$from> = $values;
        let bits: Vec<(u64, u64)> = values.iter().map(|value| ($bits(*value), 0)).collect();
        $(
            let (from, to) = (Scalar::$from_scalar, Scalar::$to_scalar);
            let results = pairs([from, from, to], &bits, |b, x, _| b.expr(ExprKind::Cast(x), to)).unwrap();
            for (value, result) in values.iter().zip(results) {
                let expected = (*value as $to).to_le_bytes();
                let expected = expected.iter().rev().fold(0u64, |wide, byte| wide << 8 | u64::from(*byte));
                assert_eq!(result, expected, "{value} as {}", to.name());
            }
        )*
    };
}

#[test]
fn casts_are_rusts() {
    let floats = || {
        vec![0.0, -0.0, 0.5, -0.9, 1.5, 127.6, 255.9, 300.0, -129.0, 65536.5, 3e9, -3e9, 1e19, -1e19, 1e300]
    };
    let singles = || floats().into_iter().map(|x: f64| x as f32).chain([f32::NAN, f32::INFINITY]).collect();
    let doubles = || floats().into_iter().chain([f64::NEG_INFINITY]).collect();
    casts!(singles(), f32, F32, |x: f32| u64::from(x.to_bits())
        => i8 I8, i16 I16, i32 I32, i64 I64, u8 U8, u16 U16, u32 U32, u64 U64, usize Usize);
    casts!(doubles(), f64, F64, |x: f64| x.to_bits()
        => i8 I8, i16 I16, i32 I32, i64 I64, u8 U8, u16 U16, u32 U32, u64 U64, usize Usize, f32 F32);
    let signed = || vec![0, 1, -1, 127, 128, -129, 16_777_217, i64::MAX, i64::MIN, i64::MAX - 511];
    casts!(signed(), i64, I64, |x: i64| x as u64
        => i8 I8, i16 I16, i32 I32, u8 U8, u16 U16, u32 U32, u64 U64, usize Usize, f32 F32, f64 F64);
    let unsigned =
        || vec![0, 1, 255, 256, 16_777_217, u64::MAX, 1 << 63, (1 << 63) + (1 << 39), u64::MAX - 1023];
    casts!(unsigned(), u64, U64, |x: u64| x => i8 I8, i32 I32, i64 I64, u8 U8, u32 U32, usize Usize, f32 F32, f64 F64);
    casts!(vec![-1, -128, 127, 0], i8, I8, |x: i8| low(Scalar::I8, x as u64)
        => i16 I16, i64 I64, u8 U8, u16 U16, u32 U32, u64 U64, usize Usize, f32 F32, f64 F64);
}

#[test]
fn usize_is_checked() {
    use BinaryOp::{Add, Mul, Shl, Sub};
    let most = u64::MAX;
    for (op, left, right, expected) in [
        (Add, most, 0, Some(most)),
        (Add, most, 1, None),
        (Sub, 3, 3, Some(0)),
        (Sub, 3, 4, None),
        (Mul, 1 << 32, (1 << 32) - 1, Some((1 << 32) * ((1 << 32) - 1))),
        (Mul, 1 << 32, 1 << 32, None),
        (Shl, 1, 63, Some(1 << 63)),
        (Shl, 1, 64, Some(1)),
        (Shl, 2, 63, None),
        (Shl, 0, 63, Some(0)),
    ] {
        let result = pairs([Scalar::Usize; 3], &[(left, right)], |b, x, y| b.binary(op, x, y));
        match expected {
            Some(value) => assert_eq!(result.unwrap(), [value]),
            None => assert_eq!(
                result.unwrap_err().kind,
                FaultKind::IndexOverflow { scalar: Scalar::Usize, op, left, right }
            ),
        }
    }
}

#[test]
fn offsets_stay_in_range() {
    let least = i64::MIN as u64;
    for (op, left, right, expected) in [
        (BinaryOp::Sub, 1, 2, Some(u64::MAX)),
        (BinaryOp::Add, i64::MAX as u64, 1, None),
        (BinaryOp::Sub, least, 1, None),
        (BinaryOp::Mul, -3i64 as u64, 5, Some(-15i64 as u64)),
        (BinaryOp::Mul, least, u64::MAX, None),
        (BinaryOp::Div, least, u64::MAX, None),
        (BinaryOp::Div, -7i64 as u64, 2, Some(-3i64 as u64)),
        (BinaryOp::Shl, -1i64 as u64, 63, Some(least)),
        (BinaryOp::Shl, 1, 63, None),
        (BinaryOp::Shr, -5i64 as u64, 1, Some(-3i64 as u64)),
    ] {
        let result = pairs([Scalar::Isize; 3], &[(left, right)], |b, x, y| b.binary(op, x, y));
        match expected {
            Some(value) => assert_eq!(result.unwrap(), [value]),
            None => {
                let expected = FaultKind::IndexOverflow { scalar: Scalar::Isize, op, left, right };
                assert_eq!(result.unwrap_err().kind, expected);
            }
        }
    }
    for (from, to) in [(Scalar::Isize, Scalar::Usize), (Scalar::Usize, Scalar::Isize)] {
        let convert = |value| pairs([from, from, to], &[(value, 0)], |b, x, _| b.expr(ExprKind::Cast(x), to));
        assert_eq!(convert(7).unwrap(), [7]);
        let fault = convert(u64::MAX).unwrap_err().kind;
        assert_eq!(fault, FaultKind::IndexConversion { from, to, value: u64::MAX });
    }
}

/// Operands that do not count cannot fault: `x != 0 && 10 / x > 2`, `x == 0 || …`, `select(x != 0, 10 / x, 0)`.
#[test]
fn operands_are_lazy() {
    let operands: Vec<(u64, u64)> = (0..40).map(|x| (x % 5, 10)).collect();
    let scalars = [Scalar::U32, Scalar::U32, Scalar::U32];
    let quotient = |b: &mut Builder, x, ten| b.binary(BinaryOp::Div, ten, x);
    let compare_zero = |b: &mut Builder, op, x| {
        let zero = b.int(0, Scalar::U32);
        b.compare(op, x, zero)
    };
    let big = |b: &mut Builder, x, ten| {
        let (quotient, two) = (quotient(b, x, ten), b.int(2, Scalar::U32));
        b.compare(CompareOp::Greater, quotient, two)
    };
    let and = pairs([Scalar::U32, Scalar::U32, Scalar::Bool], &operands, |b, x, ten| {
        let (nonzero, big) = (compare_zero(b, CompareOp::NotEqual, x), big(b, x, ten));
        b.and(nonzero, big)
    });
    let or = pairs([Scalar::U32, Scalar::U32, Scalar::Bool], &operands, |b, x, ten| {
        let (zero, big) = (compare_zero(b, CompareOp::Equal, x), big(b, x, ten));
        b.binary(BinaryOp::Or, zero, big)
    });
    let select = pairs(scalars, &operands, |b, x, ten| {
        let (nonzero, quotient, zero) =
            (compare_zero(b, CompareOp::NotEqual, x), quotient(b, x, ten), b.int(0, Scalar::U32));
        b.expr(ExprKind::Select(nonzero, quotient, zero), Scalar::U32)
    });
    for (((x, _), and), (or, select)) in
        operands.iter().zip(and.unwrap()).zip(or.unwrap().iter().zip(select.unwrap()))
    {
        let quotient = 10u64.checked_div(*x);
        assert_eq!(and, u64::from(quotient.is_some_and(|q| q > 2)));
        assert_eq!(*or, u64::from(quotient.is_none_or(|q| q > 2)));
        assert_eq!(select, quotient.unwrap_or(0));
    }
    // The same quotient, used where x may be zero, is computed again and faults.
    let reused = pairs(scalars, &operands, |b, x, ten| {
        let (nonzero, quotient) = (compare_zero(b, CompareOp::NotEqual, x), quotient(b, x, ten));
        let zero = b.int(0, Scalar::U32);
        let chosen = b.expr(ExprKind::Select(nonzero, quotient, zero), Scalar::U32);
        b.add(chosen, quotient)
    });
    assert_eq!(reused.unwrap_err().kind, FaultKind::DivisionByZero);
}

/// A kernel of one block that stores one u32 a thread, computed by statements.
fn per_thread(threads: u32, body: impl FnOnce(&mut Builder, E) -> (Vec<Stmt>, E)) -> Vec<u32> {
    let mut b = Builder::new([threads, 1, 1]);
    let target = b.tensor("out", Scalar::U32, 1, true);
    let x = b.thread(Axis::X);
    let (mut statements, value) = body(&mut b, x);
    let store = b.store(Base::Tensor(target), &[x], value);
    statements.push(store);
    let kernel = b.build(statements);
    let mut bytes = vec![0; threads as usize * 4];
    simulate(&kernel, [1; 3], &mut [output(&mut bytes, &[threads.into()])]).unwrap();
    bytes.chunks_exact(4).map(|x| u32::from_le_bytes([x[0], x[1], x[2], x[3]])).collect()
}

const U32: Type = Type::Scalar(Scalar::U32);

#[test]
fn loops_end_for_each_thread_alone() {
    // acc = 0; for i in 0..x { for j in i..x { acc += j; } if i is odd { acc += 1000 } else { acc += 1 } }
    let result = per_thread(45, |b, x| {
        let acc = b.local("acc", U32, &[]);
        let (zero, one) = (b.index(0), b.index(1));
        let start = b.int(0, Scalar::U32);
        let outer = b.repeat(zero, x, one, |b, i| {
            let inner = b.repeat(i, x, one, |b, j| {
                let j = b.expr(ExprKind::Cast(j), Scalar::U32);
                let old = b.get(acc);
                let value = b.add(old, j);
                vec![Stmt::Assign { local: acc, value }]
            });
            let two = b.index(2);
            let rest = b.binary(BinaryOp::Rem, i, two);
            let odd = b.compare(CompareOp::Equal, rest, one);
            let old = b.get(acc);
            let (thousand, unit) = (b.int(1000, Scalar::U32), b.int(1, Scalar::U32));
            let (more, less) = (b.add(old, thousand), b.add(old, unit));
            let then = vec![Stmt::Assign { local: acc, value: more }];
            let otherwise = vec![Stmt::Assign { local: acc, value: less }];
            vec![inner, Stmt::If { condition: odd, then, otherwise }]
        });
        let value = b.get(acc);
        (vec![Stmt::Assign { local: acc, value: start }, outer], value)
    });
    let expected =
        (0..45u32).map(|x| (0..x).map(|i| (i..x).sum::<u32>() + if i % 2 == 1 { 1000 } else { 1 }).sum());
    assert!(result.into_iter().eq::<Vec<u32>>(expected.collect()));
}

#[test]
fn loop_bounds_are_evaluated_once() {
    // n = 5; for k in 0..n { n = n + 1; count += 1 }
    let result = per_thread(3, |b, _| {
        let (n, count) = (b.local("n", U32, &[]), b.local("count", U32, &[]));
        let (zero, one, five) = (b.int(0, Scalar::U32), b.int(1, Scalar::U32), b.int(5, Scalar::U32));
        let end = b.get(n);
        let body = b.repeat(zero, end, one, |b, _| {
            let (old_n, old_count) = (b.get(n), b.get(count));
            let (new_n, new_count) = (b.add(old_n, one), b.add(old_count, one));
            vec![Stmt::Assign { local: n, value: new_n }, Stmt::Assign { local: count, value: new_count }]
        });
        let value = b.get(count);
        (
            vec![Stmt::Assign { local: n, value: five }, Stmt::Assign { local: count, value: zero }, body],
            value,
        )
    });
    assert_eq!(result, [5; 3]);
}

#[test]
fn a_loop_variable_that_would_wrap_ends_the_loop() {
    // for k in 0u8..255 step 100 { count += 1 }, and for k in -100i8..127 step 90
    for (scalar, start, end, step, expected) in [(Scalar::U8, 0, 255, 100, 3), (Scalar::I8, -100, 127, 90, 3)]
    {
        let result = per_thread(2, |b, _| {
            let count = b.local("count", U32, &[]);
            let (zero, one) = (b.int(0, Scalar::U32), b.int(1, Scalar::U32));
            let (start, end, step) = (b.int(start, scalar), b.int(end, scalar), b.int(step, scalar));
            let body = b.repeat(start, end, step, |b, _| {
                let old = b.get(count);
                let value = b.add(old, one);
                vec![Stmt::Assign { local: count, value }]
            });
            let value = b.get(count);
            (vec![Stmt::Assign { local: count, value: zero }, body], value)
        });
        assert_eq!(result, [expected; 2], "{scalar:?}");
    }
}

#[test]
fn register_arrays_and_vectors() {
    // a: [[u32x2; 3]; 2] filled with (1, 1); a[x % 2][x % 3] = (x, 7); a[0][0].lane(x % 2) = 50;
    // v = a[x % 2][x % 3]; v = (v.1, v.0); out = v.0 * 100 + v.1 + a[0][0].0
    let pair = Type::Vector(Scalar::U32, 2);
    let result = per_thread(40, |b, x| {
        let (a, v) = (b.local("a", pair, &[2, 3]), b.local("v", pair, &[]));
        let (zero, one, two, three) = (b.index(0), b.index(1), b.index(2), b.index(3));
        let (mod_two, mod_three) = (b.binary(BinaryOp::Rem, x, two), b.binary(BinaryOp::Rem, x, three));
        let (unit, seven, fifty) = (b.int(1, Scalar::U32), b.int(7, Scalar::U32), b.int(50, Scalar::U32));
        let ones = b.typed(ExprKind::Vector(vec![unit, unit]), pair);
        let x32 = b.expr(ExprKind::Cast(x), Scalar::U32);
        let new = b.typed(ExprKind::Vector(vec![x32, seven]), pair);
        let read = b.typed(ExprKind::Element(a, vec![mod_two, mod_three]), pair);
        let old = b.get(v);
        let (first, second) =
            (b.expr(ExprKind::Lane(old, zero), Scalar::U32), b.expr(ExprKind::Lane(old, one), Scalar::U32));
        let swapped = b.typed(ExprKind::Vector(vec![second, first]), pair);
        let hundred = b.int(100, Scalar::U32);
        let product = b.binary(BinaryOp::Mul, first, hundred);
        let sum = b.add(product, second);
        let corner = b.typed(ExprKind::Element(a, vec![zero, zero]), pair);
        let corner = b.expr(ExprKind::Lane(corner, zero), Scalar::U32);
        let value = b.add(sum, corner);
        let body = vec![
            Stmt::Fill { local: a, value: ones },
            Stmt::AssignElement { local: a, index: vec![mod_two, mod_three], value: new },
            Stmt::AssignLane { local: a, index: vec![zero, zero], lane: mod_two, value: fifty },
            Stmt::Assign { local: v, value: read },
            Stmt::Assign { local: v, value: swapped },
        ];
        (body, value)
    });
    let expected = |x: u32| {
        let mut a = [[[1, 1]; 3]; 2];
        a[x as usize % 2][x as usize % 3] = [x, 7];
        a[0][0][x as usize % 2] = 50;
        let [second, first] = a[x as usize % 2][x as usize % 3];
        first * 100 + second + a[0][0][0]
    };
    assert!(result.into_iter().eq((0..40).map(expected)));
}

/// Warps with uneven work meet at barriers, in a block whose last warp is partial: a rotation by 40 threads, three times.
#[test]
fn uneven_warps_meet() {
    let threads = 100;
    let mut b = Builder::new([threads, 1, 1]);
    let target = b.tensor("out", Scalar::U32, 1, true);
    let tile = Base::Tile(b.tile(Scalar::U32, &[threads], Layout::RowMajor));
    let x = b.thread(Axis::X);
    let value = b.local("value", U32, &[]);
    let x32 = b.expr(ExprKind::Cast(x), Scalar::U32);
    let (zero, one, rounds) = (b.index(0), b.index(1), b.index(3));
    let work = b.repeat(zero, x, one, |b, _| {
        let (old, unit) = (b.get(value), b.int(1, Scalar::U32));
        let new = b.add(old, unit);
        vec![Stmt::Assign { local: value, value: new }]
    });
    let rotate = b.repeat(zero, rounds, one, |b, _| {
        let now = b.get(value);
        let (shift, extent) = (b.index(40), b.index(threads.into()));
        let other = b.add(x, shift);
        let other = b.binary(BinaryOp::Rem, other, extent);
        let store = b.store(tile, &[x], now);
        let (before, after) = (b.sync(), b.sync());
        let (load, loaded) = b.load(tile, &[other], 1);
        vec![store, before, load, after, Stmt::Assign { local: value, value: loaded }]
    });
    let last = b.get(value);
    let store = b.store(Base::Tensor(target), &[x], last);
    let kernel = b.build(vec![Stmt::Assign { local: value, value: x32 }, work, rotate, store]);
    let mut bytes = vec![0; 400];
    let counts = simulate(&kernel, [1; 3], &mut [output(&mut bytes, &[100])]).unwrap();
    let expected: Vec<u8> = (0..100u32).flat_map(|x| (2 * ((x + 120) % 100)).to_le_bytes()).collect();
    assert_eq!(bytes, expected);
    assert_eq!(counts[0].instructions, 4 * 3);
}

#[test]
fn scalar_arguments_are_their_low_bits() {
    let mut b = Builder::new([1, 1, 1]);
    let target = b.tensor("out", Scalar::I64, 1, true);
    let scalar = b.scalar("scale", Scalar::I16);
    let zero = b.index(0);
    let wide = b.expr(ExprKind::Cast(scalar), Scalar::I64);
    let store = b.store(Base::Tensor(target), &[zero], wide);
    let kernel = b.build(vec![store]);
    for bits in [0xfffe, u64::MAX - 1, 0xabcd_fffe] {
        let mut bytes = [0; 8];
        simulate(&kernel, [1; 3], &mut [output(&mut bytes, &[1]), Argument::Scalar(bits)]).unwrap();
        assert_eq!(i64::from_le_bytes(bytes), -2);
    }
}
