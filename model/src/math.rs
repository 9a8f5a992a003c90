//! Functions that neither Rust's standard library nor the hardware has.

use std::f64::consts::PI;

/// The error function, `2/√π ∫₀ˣ exp(−t²) dt`, to a few units in the last place.
pub fn erf(x: f64) -> f64 {
    let magnitude = x.abs();
    if x.is_nan() || magnitude < f64::MIN_POSITIVE {
        return if x.is_nan() { x } else { x * 2.0 / PI.sqrt() };
    }
    let value = if magnitude < 2.5 {
        // A series of positive terms: 2/√π exp(−x²) Σ 2ⁿ x²ⁿ⁺¹ / (1 · 3 · … · (2n + 1)).
        let (mut term, mut sum, mut n) = (magnitude, magnitude, 0.0);
        while term > sum * f64::EPSILON / 4.0 {
            n += 1.0;
            term *= 2.0 * magnitude * magnitude / (2.0 * n + 1.0);
            sum += term;
        }
        2.0 / PI.sqrt() * (-magnitude * magnitude).exp() * sum
    } else if magnitude < 6.0 {
        // The continued fraction of the complement, from its end.
        let fraction = (1..=80).rev().fold(magnitude, |rest, n| magnitude + f64::from(n) / 2.0 / rest);
        1.0 - (-magnitude * magnitude).exp() / (PI.sqrt() * fraction)
    } else {
        1.0
    };
    value.copysign(x)
}

#[cfg(test)]
mod tests {
    use super::erf;

    #[test]
    fn erf_of_known_points() {
        for (x, expected) in [
            (0.0, 0.0),
            (1e-10, 1.128_379_167_095_512_6e-10),
            (0.5, 0.520_499_877_813_046_5),
            (1.0, 0.842_700_792_949_714_9),
            (2.0, 0.995_322_265_018_952_7),
            (2.6, 0.999_763_965_583_470_7),
            (4.0, 0.999_999_984_582_742_1),
            (7.0, 1.0),
        ] {
            for (x, expected) in [(x, expected), (-x, -expected)] {
                let got = erf(x);
                assert!((got - expected).abs() <= 1e-15 * expected.abs(), "{x}: {got} {expected}");
            }
        }
        assert!(erf(f64::NAN).is_nan());
    }
}
