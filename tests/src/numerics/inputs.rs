//! Operands: the edges of each type, all of a small one, and random ones over all exponents and widths.

use super::exact::nearest_f64;
use super::format::Format;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use tileproof::ScalarType;

/// At least `count` operands of each of these types, equally many: first all combinations of their edges, as far as they go, then random
/// ones; or all values there are, of one operand of 16 bits or less. Equal arguments give equal operands.
pub(super) fn inputs(types: &[ScalarType], count: usize, seed: u64) -> Vec<Vec<u64>> {
    if let [only] = types
        && only.bytes() <= 2
        && count >= 1 << (8 * only.bytes())
    {
        return vec![(0..1 << (8 * only.bytes())).collect()];
    }
    let mut rng = StdRng::seed_from_u64(seed);
    let mut columns: Vec<Vec<u64>> = vec![Vec::with_capacity(count); types.len()];
    let edges: Vec<Vec<u64>> = types.iter().map(|scalar| edges(*scalar)).collect();
    let combinations: usize = edges.iter().map(Vec::len).product();
    for number in 0..combinations.min(count / 2) {
        // Of more combinations than there is room for, some from everywhere.
        let mut number = number * combinations / combinations.min(count / 2);
        for (column, edges) in columns.iter_mut().zip(&edges) {
            column.push(edges[number % edges.len()]);
            number /= edges.len();
        }
    }
    while columns[0].len() < count {
        let first = random(types[0], &mut rng);
        columns[0].push(first);
        for (column, scalar) in columns.iter_mut().zip(types).skip(1) {
            column.push(match scalar.is_float() && *scalar == types[0] && rng.random_ratio(1, 2) {
                true => neighbour(*scalar, first, &mut rng),
                false => random(*scalar, &mut rng),
            });
        }
    }
    columns
}

/// Values at which something changes.
fn edges(scalar: ScalarType) -> Vec<u64> {
    let bits = 8 * scalar.bytes();
    if !scalar.is_float() {
        let ends = [0, 1, 2, 3, 7, 10, 100, (1 << (bits - 1)) - 1, 1 << (bits - 1), (1u64 << (bits - 1)) + 1];
        let mask = u64::MAX >> (64 - bits);
        let ends = ends.into_iter().flat_map(|value| [value, value.wrapping_neg(), value.wrapping_add(31)]);
        let mut ends: Vec<u64> = ends.map(|value| value & mask).collect();
        ends.sort_unstable();
        ends.dedup();
        return ends;
    }
    let Format { fraction, bias } = Format::of(scalar);
    let infinity = ((2 * bias + 1) as u64) << fraction;
    let least_normal = 1u64 << fraction;
    let mut edges = vec![0, 1, 2, least_normal - 1, least_normal, least_normal + 1];
    edges.extend([
        infinity - 1,
        infinity,
        infinity + 1,
        infinity | least_normal >> 1,
        infinity | (least_normal - 1),
    ]);
    for value in [
        0.1,
        0.25,
        0.5,
        0.75,
        1.0,
        1.5,
        2.0,
        2.5,
        3.0,
        10.0,
        16.0,
        88.5,
        100.0,
        127.5,
        128.0,
        255.5,
        256.0,
        32767.5,
        32768.0,
        65504.0,
        65519.0,
        65520.0,
        65536.0,
        2147483647.5,
        2147483648.0,
        4294967295.5,
        4294967296.0,
        9.223_372_036_854_776e18,
        1.8446744073709552e19,
        1e-8,
        1e30,
        105615.0,
        39000.0,
        709.9,
        std::f64::consts::PI,
        std::f64::consts::FRAC_PI_2,
        std::f64::consts::E,
    ] {
        let at = nearest_f64(value, scalar);
        edges.extend([at.saturating_sub(1), at, at + 1].into_iter().filter(|bits| *bits <= infinity));
    }
    edges.sort_unstable();
    edges.dedup();
    let sign = 1 << (bits - 1);
    edges.iter().flat_map(|bits| [*bits, *bits | sign]).collect()
}

/// One value: of floats half of the times any bits, else one between -1.5 and 1.5 or -100 and 100; of integers one of any length in bits.
fn random(scalar: ScalarType, rng: &mut StdRng) -> u64 {
    let mask = u64::MAX >> (64 - 8 * scalar.bytes());
    if !scalar.is_float() {
        let value = rng.random::<u64>() & mask;
        let shorter = value >> rng.random_range(0..8 * scalar.bytes());
        return if rng.random() { shorter } else { shorter.wrapping_neg() & mask };
    }
    match rng.random_range(0..4) {
        0 | 1 => rng.random::<u64>() & mask,
        2 => nearest_double(rng.random_range(-1.5..1.5), scalar),
        _ => nearest_double(rng.random_range(-100.0..100.0), scalar),
    }
}

/// A float of about the magnitude of another one, of any sign: sums that cancel, quotients and remainders that are small.
fn neighbour(scalar: ScalarType, bits: u64, rng: &mut StdRng) -> u64 {
    let sign = 1u64 << (8 * scalar.bytes() - 1);
    let fraction = Format::of(scalar).fraction;
    let reach = 1u64 << rng.random_range(1..fraction + 3);
    let magnitude = (bits & (sign - 1)).saturating_add(rng.random_range(0..reach)).saturating_sub(reach / 2);
    magnitude.min(sign - 1) | if rng.random() { sign } else { 0 }
}

/// Fast where rounding twice does not matter.
fn nearest_double(value: f64, scalar: ScalarType) -> u64 {
    match scalar {
        ScalarType::F16 => half::f16::from_f64(value).to_bits().into(),
        ScalarType::Bf16 => half::bf16::from_f64(value).to_bits().into(),
        ScalarType::F32 => (value as f32).to_bits().into(),
        _ => value.to_bits(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_of_a_small_type_and_edges_of_the_others() {
        assert_eq!(inputs(&[ScalarType::F16], 1 << 16, 1), [(0..1 << 16).collect::<Vec<u64>>()]);
        let [a, b] = &inputs(&[ScalarType::F32; 2], 100_000, 1)[..] else { panic!("two columns") };
        assert_eq!((a.len(), b.len()), (100_000, 100_000));
        let nan = f32::NAN.to_bits().into();
        assert!(a.iter().zip(b).any(|both| both == (&0, &0x8000_0000)));
        assert!(a.iter().zip(b).any(|both| both == (&nan, &nan)));
        let exponents: std::collections::HashSet<u64> = a.iter().map(|bits| bits >> 23).collect();
        assert_eq!(exponents.len(), 512);
        let ints = &inputs(&[ScalarType::I16], 1000, 1)[0];
        assert!([0, 1, 0x7fff, 0x8000, 0xffff].iter().all(|edge| ints.contains(edge)));
    }
}
