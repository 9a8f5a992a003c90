//! What is timed in a case: the driver's copy and ours, our function, the kernels of the ladder, and the vendor's library.

use crate::case::{Case, Operation};
use crate::memory::failed;
use std::sync::Arc;
use tileproof::cublas::{Cublas, Transposed};
use tileproof::cudarc::driver::{CudaStream, CudaView, CudaViewMut, ValidAsZeroBits};
use tileproof::kernels::{self, fields, transpose as turn};
use tileproof::prelude::*;
use tileproof::{Element, Error};
use tileproof_examples::kernels::in_flight;
use tileproof_examples::kernels::permute::{transpose_f16, transpose_f64, transpose_u8};
use tileproof_examples::ladder::LADDER;

/// What is timed.
pub struct Subject<T: Element> {
    /// Its name.
    pub name: String,
    /// Whether it moves what the case moves and leaves the order: the others are judged by it.
    pub is_copy: bool,
    /// Enqueues it once.
    pub enqueue: Enqueue<T>,
}

/// Enqueues work that reads the first memory and writes the second.
pub type Enqueue<T> =
    Box<dyn Fn(&Arc<CudaStream>, &CudaView<'_, T>, &mut CudaViewMut<'_, T>) -> Result<(), Error>>;

/// An element that is measured.
pub trait Measured: Element + ValidAsZeroBits {
    /// The other programs that can do what a case does.
    fn others(case: &Case, cublas: Option<&Arc<Cublas>>) -> Vec<Subject<Self>>;
}

/// All subjects of a case: the copies, ours, and the others.
pub fn subjects<T: Measured>(case: &Case, cublas: Option<&Arc<Cublas>>) -> Vec<Subject<T>> {
    let mut subjects = vec![driver_copy(), our_copy(case.elements())];
    subjects.extend(ours(case));
    subjects.extend(T::others(case, cublas));
    subjects
}

fn subject<T: Element>(
    name: impl Into<String>,
    is_copy: bool,
    enqueue: impl Fn(&Arc<CudaStream>, &CudaView<'_, T>, &mut CudaViewMut<'_, T>) -> Result<(), Error> + 'static,
) -> Subject<T> {
    Subject { name: name.into(), is_copy, enqueue: Box::new(enqueue) }
}

fn driver_copy<T: Element>() -> Subject<T> {
    subject("cuMemcpyDtoD", true, |stream, input, output| {
        stream.memcpy_dtod(input, output).map_err(failed("copy device memory"))
    })
}

fn our_copy<T: Element>(elements: usize) -> Subject<T> {
    subject("kernels::copy", true, move |stream, input, output| {
        let input = TensorView::new(input, [elements])?;
        kernels::copy(stream, &input, &mut TensorViewMut::new(output, [elements])?)
    })
}

/// Our function for what a case does; a copy is there already.
fn ours<T: Element>(case: &Case) -> Option<Subject<T>> {
    let (extents, order) = (case.extents.as_slice(), case.order.as_slice());
    match (case.operation, extents, order) {
        (Operation::Copy, ..) => None,
        (Operation::Transpose, &[rows, cols], _) => {
            Some(subject("kernels::transpose", false, move |stream, input, output| {
                let input = TensorView::new(input, [rows, cols])?;
                turn::transpose(stream, &input, &mut TensorViewMut::new(output, [cols, rows])?)
            }))
        }
        (Operation::Transpose, &[batches, rows, cols], _) => {
            Some(subject("kernels::transpose_batched", false, move |stream, input, output| {
                let input = TensorView::new(input, [batches, rows, cols])?;
                let mut output = TensorViewMut::new(output, [batches, cols, rows])?;
                turn::transpose_batched(stream, &input, &mut output)
            }))
        }
        (Operation::InPlace, &[side, _], _) => {
            Some(subject("kernels::transpose_in_place", false, move |stream, _, output| {
                turn::transpose_in_place(stream, &mut TensorViewMut::new(output, [side, side])?)
            }))
        }
        (Operation::Permute, &[a, b, c, d], &[p, q, r, s]) => {
            let (extents, order) = ([a, b, c, d], [p, q, r, s]);
            let turned = order.map(|dimension| extents[dimension]);
            Some(subject("kernels::permute", false, move |stream, input, output| {
                let input = TensorView::new(input, extents)?;
                turn::permute(stream, &input, order, &mut TensorViewMut::new(output, turned)?)
            }))
        }
        (Operation::FieldsOfRecords, &[records, count], _) => {
            Some(subject("kernels::fields_of_records", false, move |stream, input, output| {
                let input = TensorView::new(input, [records, count])?;
                fields::fields_of_records(stream, &input, &mut TensorViewMut::new(output, [count, records])?)
            }))
        }
        (Operation::RecordsOfFields, &[count, records], _) => {
            Some(subject("kernels::records_of_fields", false, move |stream, input, output| {
                let input = TensorView::new(input, [count, records])?;
                fields::records_of_fields(stream, &input, &mut TensorViewMut::new(output, [records, count])?)
            }))
        }
        (
            Operation::Transpose
            | Operation::InPlace
            | Operation::Permute
            | Operation::FieldsOfRecords
            | Operation::RecordsOfFields,
            ..,
        ) => None,
    }
}

/// The kernels of the ladder that transpose, where the extents suit them.
fn ladder(case: &Case) -> Vec<Subject<f32>> {
    let (Operation::Transpose, &[rows, cols]) = (case.operation, case.extents.as_slice()) else {
        return Vec::new();
    };
    LADDER
        .into_iter()
        .filter(|rung| rung.transposes && rung.storage(rows, cols) == (rows, cols))
        .map(|rung| {
            subject(rung.name, false, move |stream, input, output| {
                let input = TensorView::new(input, [rows, cols])?;
                (rung.launch)(stream, &input, &mut TensorViewMut::new(output, [cols, rows])?)
            })
        })
        .collect()
}

/// How a transpose is launched.
type Launch<T> =
    fn(&Arc<CudaStream>, &TensorView<'_, T, 2>, &mut TensorViewMut<'_, T, 2>) -> Result<(), Error>;

/// An example's transpose, where both extents are multiples of what its contract asks.
fn example<T: Measured>(name: &str, case: &Case, multiple: usize, launch: Launch<T>) -> Option<Subject<T>> {
    let (Operation::Transpose, &[rows, cols]) = (case.operation, case.extents.as_slice()) else {
        return None;
    };
    let suits = rows.is_multiple_of(multiple) && cols.is_multiple_of(multiple);
    suits.then(|| {
        subject(name, false, move |stream, input, output| {
            let input = TensorView::new(input, [rows, cols])?;
            launch(stream, &input, &mut TensorViewMut::new(output, [cols, rows])?)
        })
    })
}

/// The copies that differ in their bytes in flight.
fn copies(case: &Case) -> Vec<Subject<f32>> {
    if case.operation != Operation::Copy {
        return Vec::new();
    }
    let elements = case.elements();
    in_flight::COPIES
        .into_iter()
        .map(|copy| {
            subject(copy.name, true, move |stream, input, output| {
                let input = TensorView::new(input, [elements])?;
                (copy.launch)(stream, &input, &mut TensorViewMut::new(output, [elements])?)
            })
        })
        .collect()
}

fn geam<T: Measured + Transposed>(
    name: &str,
    case: &Case,
    cublas: Option<&Arc<Cublas>>,
) -> Option<Subject<T>> {
    let (Operation::Transpose, &[rows, cols]) = (case.operation, case.extents.as_slice()) else {
        return None;
    };
    let cublas = cublas?.clone();
    Some(subject(name, false, move |_, input, output| {
        let input = TensorView::new(input, [rows, cols])?;
        cublas.transpose(&input, &mut TensorViewMut::new(output, [cols, rows])?)
    }))
}

impl Measured for f32 {
    fn others(case: &Case, cublas: Option<&Arc<Cublas>>) -> Vec<Subject<f32>> {
        copies(case).into_iter().chain(ladder(case)).chain(geam("cublasSgeam", case, cublas)).collect()
    }
}

impl Measured for f64 {
    fn others(case: &Case, cublas: Option<&Arc<Cublas>>) -> Vec<Subject<f64>> {
        let example = example("transpose_f64", case, 1, transpose_f64::launch);
        example.into_iter().chain(geam("cublasDgeam", case, cublas)).collect()
    }
}

impl Measured for f16 {
    fn others(case: &Case, _: Option<&Arc<Cublas>>) -> Vec<Subject<f16>> {
        example("transpose_f16", case, 2, transpose_f16::launch).into_iter().collect()
    }
}

impl Measured for u8 {
    fn others(case: &Case, _: Option<&Arc<Cublas>>) -> Vec<Subject<u8>> {
        example("transpose_u8", case, 4, transpose_u8::launch).into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Measured, subjects};
    use crate::case::{Case, Group, Kind, Operation};

    fn names<T: Measured>(case: &Case) -> Vec<String> {
        subjects::<T>(case, None).into_iter().map(|subject| subject.name).collect()
    }

    /// Each case has two copies and a function of ours.
    #[test]
    fn every_case_has_its_function() {
        for case in Group::ALL.into_iter().flat_map(Group::cases) {
            let names = match case.kind {
                Kind::F64 => names::<f64>(&case),
                Kind::F32 => names::<f32>(&case),
                Kind::F16 => names::<tileproof::prelude::f16>(&case),
                Kind::U8 => names::<u8>(&case),
            };
            assert_eq!(names[..2], ["cuMemcpyDtoD", "kernels::copy"], "{case}");
            let ours = names.iter().filter(|name| name.starts_with("kernels::")).count();
            assert_eq!(ours, 1 + usize::from(case.operation != Operation::Copy), "{case}: {names:?}");
        }
    }

    #[test]
    fn the_ladder_stands_beside_matrices_of_floats() {
        let find = |text: &str| {
            let mut cases = Group::Transpose.cases().into_iter();
            cases.find(|case| case.to_string() == text).expect("a case")
        };
        assert!(names::<f32>(&find("transpose f32 8192 × 8192")).contains(&"transpose_vectorised".into()));
        let odd = names::<f32>(&find("transpose f32 8191 × 4097"));
        assert!(odd.contains(&"transpose_padded".into()) && !odd.contains(&"transpose_vectorised".into()));
        assert!(names::<u8>(&find("transpose u8 16384 × 16384")).contains(&"transpose_u8".into()));
        assert!(!names::<u8>(&find("transpose u8 8191 × 4097")).contains(&"transpose_u8".into()));
    }
}
