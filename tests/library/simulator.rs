//! On the simulator.

use crate::case::{Case, Laid, On, Value, check_in_place};
use crate::random;
use tileproof::kernels::simulate;
use tileproof::prelude::*;
use tileproof::report::{Role, Space};
use tileproof::{Error, ViewError};

const SIMULATOR: On = On::Simulator;

/// Shapes with rows around the sides of tiles and blocks, and any number of columns up to 70.
fn transposes<T: Value>() {
    for rows in [0, 1, 2, 7, 8, 9, 16, 31, 32, 33, 64, 70] {
        for cols in 0..=70 {
            Case::dense([rows, cols], [1, 0]).check::<T>(&SIMULATOR);
        }
    }
}

#[test]
fn transposes_of_1_byte() {
    transposes::<u8>();
}

#[test]
fn transposes_of_2_bytes() {
    transposes::<f16>();
}

#[test]
fn transposes_of_4_bytes() {
    transposes::<f32>();
}

#[test]
fn transposes_of_8_bytes() {
    transposes::<f64>();
}

/// Around the sides of the tiles that large planes are turned in.
#[test]
fn large_planes() {
    for rows in [64, 65, 112, 124, 127, 128, 130, 257] {
        for cols in [64, 66, 127, 128, 131, 256] {
            Case::dense([rows, cols], [1, 0]).check::<u8>(&SIMULATOR);
            Case::dense([rows, cols], [1, 0]).check::<f16>(&SIMULATOR);
            Case::dense([rows, cols], [1, 0]).check::<f32>(&SIMULATOR);
            Case::dense([rows, cols], [1, 0]).check::<f64>(&SIMULATOR);
        }
    }
}

/// Planes that are turned in pairs, the last one of them alone.
#[test]
fn planes_side_by_side() {
    for (planes, rows) in [(1, 64), (2, 68), (5, 132)] {
        Case::dense([rows, 3, planes, 32], [3, 1, 2, 0]).check::<f32>(&SIMULATOR);
    }
}

/// Pairs of doubles that stay together are words of 16 bytes.
#[test]
fn transposes_of_16_bytes() {
    for rows in [0, 1, 2, 7, 8, 9, 31, 32, 33, 70] {
        for cols in [0, 1, 3, 8, 9, 31, 33, 64, 65] {
            Case::dense([rows, cols, 2], [1, 0, 2]).check::<f64>(&SIMULATOR);
        }
    }
}

#[test]
fn batches() {
    for extents in
        [[0, 3, 4], [3, 0, 4], [1, 1, 1], [5, 3, 4], [33, 8, 8], [20, 5, 7], [2, 33, 65], [3, 300, 5]]
    {
        Case::dense(extents, [0, 2, 1]).check::<u8>(&SIMULATOR);
        Case::dense(extents, [0, 2, 1]).check::<f16>(&SIMULATOR);
        Case::dense(extents, [0, 2, 1]).check::<f32>(&SIMULATOR);
        Case::dense(extents, [0, 2, 1]).check::<u64>(&SIMULATOR);
    }
}

#[test]
fn in_place() {
    for side in 0..=70 {
        check_in_place::<u8>(&SIMULATOR, side, side);
        check_in_place::<f16>(&SIMULATOR, side, side + 3);
        check_in_place::<f32>(&SIMULATOR, side, side);
        check_in_place::<f64>(&SIMULATOR, side, side + 1);
    }
}

#[test]
fn copies() {
    for length in [0, 1, 3, 15, 16, 17, 100, 1023, 1025, 5000] {
        for start in [0, 1, 4] {
            for out_start in [0, 1, 4, 5] {
                let (input, output) =
                    (Laid::gaps([length], [start], [0]), Laid::gaps([length], [out_start], [0]));
                let case = Case { extents: [length], order: [0], input, output };
                case.check::<u8>(&SIMULATOR);
                case.check::<f16>(&SIMULATOR);
                case.check::<f32>(&SIMULATOR);
            }
        }
    }
    for [rows, cols] in [[1, 1], [3, 1], [40, 1], [1000, 1], [9, 33], [9, 8], [3, 129], [5, 1000]] {
        for gap in [0, 1, 4, 8] {
            let input = Laid::gaps([rows, cols], [1, gap], [0, gap]);
            let case = Case {
                extents: [rows, cols],
                order: [0, 1],
                input,
                output: Laid::gaps([rows, cols], [0, 0], [0, 8]),
            };
            case.check::<u8>(&SIMULATOR);
            case.check::<f32>(&SIMULATOR);
            case.check::<f64>(&SIMULATOR);
        }
    }
}

#[test]
fn permutations() {
    random::all(&SIMULATOR, 120, [40, 12, 9]);
}

#[test]
fn records_and_fields() {
    for number in [0, 1, 255, 300] {
        for fields in 1..=9 {
            Case::dense([number, fields], [1, 0]).check::<u8>(&SIMULATOR);
            Case::dense([fields, number], [1, 0]).check::<f16>(&SIMULATOR);
            Case::dense([2, number, fields], [0, 2, 1]).check::<f64>(&SIMULATOR);
            Case::dense([2, fields, number], [0, 2, 1]).check::<u8>(&SIMULATOR);
            let records: Vec<f32> = (0..number * fields).map(f32::number).collect();
            let (mut apart, mut together) = (vec![0.0; records.len()], vec![0.0; records.len()]);
            simulate::fields_of_records(
                &HostTensor::new(&records, [number, fields]).unwrap(),
                &mut HostTensorMut::new(&mut apart, [fields, number]).unwrap(),
            )
            .unwrap();
            for (i, value) in apart.iter().enumerate() {
                assert_eq!(*value, records[i % number * fields + i / number]);
            }
            simulate::records_of_fields(
                &HostTensor::new(&apart, [fields, number]).unwrap(),
                &mut HostTensorMut::new(&mut together, [number, fields]).unwrap(),
            )
            .unwrap();
            assert_eq!(together, records);
        }
    }
}

/// Aligned data crosses device memory once each way, and no bank conflicts.
#[test]
fn what_is_aligned_costs_no_more_than_it_must() {
    let input: Vec<f32> = (0..256 * 128).map(f32::number).collect();
    let mut output = vec![0.0; input.len()];
    let counts = simulate::transpose(
        &HostTensor::new(&input, [256, 128]).unwrap(),
        &mut HostTensorMut::new(&mut output, [128, 256]).unwrap(),
    )
    .unwrap();
    for role in [Role::Read, Role::Write] {
        assert_eq!(counts.sector_efficiency(role), Some(1.0));
        assert_eq!(counts.excess_wavefronts(role), 0);
        assert_eq!(counts.total(Space::Global, role).useful_bytes, 4 * 256 * 128);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let (input, mut output) = ([0.0f32; 12], [0.0f32; 12]);
    let input = HostTensor::new(&input, [3, 4]).unwrap();
    let mut output = HostTensorMut::new(&mut output, [3, 4]).unwrap();
    let error = simulate::transpose(&input, &mut output).unwrap_err();
    assert!(matches!(error, Error::Contract { kernel: "transpose", .. }), "{error}");
    assert!(
        error.to_string().contains("input.extents() = [3, 4], order = [1, 0], output.extents() = [3, 4]"),
        "{error}"
    );
    let error = simulate::permute(&input, [0, 0], &mut output).unwrap_err();
    assert!(matches!(error, Error::View(ViewError::NotAPermutation { .. })), "{error}");
    let error = simulate::transpose_in_place(&mut output).unwrap_err();
    assert!(matches!(error, Error::Contract { kernel: "transpose_in_place", .. }), "{error}");
}
