//! Ranges of every type that may be as long as the type.

use crate::harness::map;

const BODY: &str = "let mut sum = 0;
    for j in (a..b).step_by(3) { sum = sum * 7 + j as i32; }
    for j in (a..b).step_by(3).rev() { sum = sum * 7 + j as i32; }
    for j in (a..b).rev().step_by(100) { sum = sum * 7 + j as i32; }
    for j in (a..=b).rev().step_by(40) { sum = sum * 7 + j as i32; }
    sum";

/// A step that the type does not hold.
const FAR: &str = "let mut sum = 0;
    for j in (a..b).step_by(200) { sum = sum * 7 + j as i32; }
    for j in (a..=b).step_by(300) { sum = sum * 7 + j as i32; }
    sum";

fn run<T: Into<i64>>(numbers: impl Iterator<Item = T>, sum: i32) -> i32 {
    numbers.fold(sum, |sum, j| sum.wrapping_mul(7).wrapping_add(j.into() as i32))
}

macro_rules! ranges {
    ($($ty:ident)*) => {$(
        #[test]
        fn $ty() {
            let ends = [$ty::MIN, $ty::MIN + 1, $ty::MIN / 2, $ty::MAX / 2, $ty::MAX - 1, $ty::MAX, 0, 5];
            let near = |a: $ty, b: $ty| i64::from(b) - i64::from(a) < 1000;
            let pairs = ends.iter().flat_map(|a| ends.map(|b| (*a, b))).filter(|(a, b)| near(*a, *b));
            let (a, b): (Vec<$ty>, Vec<$ty>) = pairs.unzip();
            let got: Vec<i32> = map(BODY, [&a, &b, &b]).unwrap();
            let expected = a.iter().zip(&b).map(|(&a, &b)| {
                let sum = run((a..b).step_by(3), 0);
                let sum = run((a..b).step_by(3).rev(), sum);
                let sum = run((a..b).rev().step_by(100), sum);
                run((a..=b).rev().step_by(40), sum)
            });
            assert_eq!(got, expected.collect::<Vec<_>>());
            let got: Vec<i32> = map(FAR, [&a, &b, &b]).unwrap();
            let expected = a.iter().zip(&b).map(|(&a, &b)| run((a..=b).step_by(300), run((a..b).step_by(200), 0)));
            assert_eq!(got, expected.collect::<Vec<_>>());
        }
    )*};
}

ranges!(i8 u8 i16 u16 i32 u32);
