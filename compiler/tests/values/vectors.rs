//! Vectors in registers: lane by lane what Rust computes.

use crate::harness::map;
use half::f16;

fn numbers(seed: i32) -> Vec<i32> {
    (0..50).map(|i| i * 7919 % 2003 * seed - 1000).collect()
}

#[test]
fn arithmetic_is_lane_by_lane() {
    let [a, b, c] = [3, 8, 21].map(numbers);
    let body = "
        let v = Vector::new([a, b, c, a ^ b]);
        let w = Vector::<i32, 4>::splat(3) + Vector::new([b, c, a, 5]);
        let mut u = v * w - w * 2;
        u += v;
        u = -u ^ w;
        u *= 3;
        let u = u / 7 % Vector::splat(1000);
        u[0] + 2 * u[1] + 3 * u[2] + 5 * u[3]";
    let got: Vec<i32> = map(body, [&a, &b, &c]).unwrap();
    for (i, got) in got.into_iter().enumerate() {
        let (a, b, c) = (a[i], b[i], c[i]);
        let (v, w) = ([a, b, c, a ^ b], [b, c, a, 5].map(|x| x + 3));
        let u: [i32; 4] = std::array::from_fn(|i| {
            let u = v[i].wrapping_mul(w[i]).wrapping_sub(w[i].wrapping_mul(2)).wrapping_add(v[i]);
            (u.wrapping_neg() ^ w[i]).wrapping_mul(3) / 7 % 1000
        });
        assert_eq!(got, u[0] + 2 * u[1] + 3 * u[2] + 5 * u[3], "{a} {b} {c}");
    }
}

#[test]
fn methods() {
    let [a, b, c] = [3, 8, 21].map(numbers);
    let body = "
        let mut calls = 0;
        let v = Vector::new([a as f32, b as f32]);
        let w = v.zip_map(v.cast::<i32>(), |x, y| { calls += 1; x * 0.5 + y as f32 + calls as f32 });
        let wide = w.map(|x| x as f64).max(Vector::splat(-100.5)).abs();
        let [x, y] = [wide.to_array()[0], wide[1]];
        let halves = w.cast::<f16>();
        let doubled = (halves + halves) * Vector::splat(f16::from_f32(0.25)) - halves;
        x * 3.0 + y + w.sum() as f64 + doubled.cast::<f64>().sum() + c as f64";
    let got: Vec<f64> = map(body, [&a, &b, &c]).unwrap();
    for (i, got) in got.into_iter().enumerate() {
        let w = [a[i] as f32 * 0.5 + a[i] as f32 + 1.0, b[i] as f32 * 0.5 + b[i] as f32 + 2.0];
        let wide = w.map(|x| f64::from(x).max(-100.5).abs());
        let doubled = w.map(|x| {
            let x = f16::from_f32(x);
            ((x + x) * f16::from_f32(0.25) - x).to_f64()
        });
        let expected =
            wide[0] * 3.0 + wide[1] + f64::from(w[0] + w[1]) + (doubled[0] + doubled[1]) + f64::from(c[i]);
        assert_eq!(got, expected, "{} {} {}", a[i], b[i], c[i]);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let list = [1, 2, 3];
    for (body, part) in [
        ("(Vector::new([a, b]) + Vector::new([a, b, c, c]))[0]", "do not fit"),
        ("Vector::new([a, b]).map(|x| return x)[0]", "cannot `return`"),
        ("Vector::new([a, b]).map(a)[0]", "by a closure"),
        ("Vector::new([a, b]).cast()[0]", "is not known here"),
        ("Vector::new([a, b]).reverse()[0]", "vectors have no method"),
    ] {
        let error = map::<i32, i32>(body, [&list, &list, &list]).unwrap_err();
        assert!(error.contains(part), "{body}: {error}");
    }
}
