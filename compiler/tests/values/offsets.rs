//! `isize`.

use crate::harness::map;

#[test]
fn offsets_are_rusts() {
    let a: Vec<i32> = vec![-7, -1, 0, 1, 5, 100, i32::MIN, i32::MAX];
    let b: Vec<i32> = vec![3, -2, 9, 1, -5, 7, 2, 3];
    let body = "let (a, b) = (a as isize, b as isize); ((a - b) * 3 - (a.min(b) >> 1) + -a.max(b) + (a & 12)) as i64";
    let got: Vec<i64> = map(body, [&a, &b, &b]).unwrap();
    let expected = a.iter().zip(&b).map(|(a, b)| {
        let (a, b) = (*a as isize, *b as isize);
        ((a - b) * 3 - (a.min(b) >> 1) + -a.max(b) + (a & 12)) as i64
    });
    assert_eq!(got, expected.collect::<Vec<_>>());
    let got: Vec<i64> = map("if b > 0 { let q = a as isize / b as isize; let r = a as isize % b as isize; (q * 1000 + r) as i64 } else { 0 }", [&a, &b, &b]).unwrap();
    let expected = a.iter().zip(&b).map(|(a, b)| match *b > 0 {
        true => i64::from(a / b) * 1000 + i64::from(a % b),
        false => 0,
    });
    assert_eq!(got, expected.collect::<Vec<_>>());
}
