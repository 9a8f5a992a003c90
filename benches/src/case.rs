//! What is measured: copies, and changes of the order of dimensions.

use serde_json::{Value, json};
use std::fmt;
use tileproof::ScalarType;
use tileproof::kernels::plan::{self, Side};

/// Cases that are measured together and recorded in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Copies of many sizes.
    Copy,
    /// Matrices.
    Transpose,
    /// More dimensions, and records.
    Permute,
}

impl Group {
    /// All, in the order in which they are measured.
    pub const ALL: [Group; 3] = [Group::Copy, Group::Transpose, Group::Permute];

    /// Its name, on a command line and of its record.
    pub fn name(self) -> &'static str {
        match self {
            Group::Copy => "copy",
            Group::Transpose => "transpose",
            Group::Permute => "permute",
        }
    }

    /// Its cases.
    pub fn cases(self) -> Vec<Case> {
        match self {
            Group::Copy => (20..=32).map(copy).collect(),
            Group::Transpose => TRANSPOSES.iter().map(|&(kind, extents)| transpose(kind, &extents)).collect(),
            Group::Permute => permutes(),
        }
    }
}

/// The element of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    F64,
    F32,
    F16,
    U8,
}

impl Kind {
    /// Its name in Rust.
    pub fn name(self) -> &'static str {
        match self {
            Kind::F64 => "f64",
            Kind::F32 => "f32",
            Kind::F16 => "f16",
            Kind::U8 => "u8",
        }
    }

    /// Its size, in bytes.
    pub fn bytes(self) -> usize {
        match self {
            Kind::F64 => 8,
            Kind::F32 => 4,
            Kind::F16 => 2,
            Kind::U8 => 1,
        }
    }
}

/// What is done to a tensor. All are permutations of its dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// The same elements in the same order.
    Copy,
    /// Of a matrix, or of each in a batch of them.
    Transpose,
    /// Of a square matrix, into its own memory.
    InPlace,
    /// Any order.
    Permute,
    /// Records of a few fields, one after another, to one row a field.
    FieldsOfRecords,
    /// The way back.
    RecordsOfFields,
}

/// An operation on a tensor of some size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Case {
    /// The element.
    pub kind: Kind,
    /// What is done.
    pub operation: Operation,
    /// The extents of the input, in elements, outermost first.
    pub extents: Vec<usize>,
    /// Which dimension of the input each one of the output is.
    pub order: Vec<usize>,
}

/// The matrices that are transposed.
const TRANSPOSES: [(Kind, [usize; 2]); 10] = [
    (Kind::F32, [8192, 8192]),
    (Kind::F32, [16384, 16384]),
    (Kind::F64, [8192, 8192]),
    (Kind::F16, [16384, 16384]),
    (Kind::U8, [16384, 16384]),
    (Kind::F32, [8191, 4097]),
    (Kind::F16, [8191, 4097]),
    (Kind::U8, [8191, 4097]),
    (Kind::F32, [32768, 1024]),
    (Kind::F32, [1024, 32768]),
];

/// A copy of 2^`log2` bytes.
fn copy(log2: u32) -> Case {
    Case { kind: Kind::F32, operation: Operation::Copy, extents: vec![1 << (log2 - 2)], order: vec![0] }
}

fn transpose(kind: Kind, extents: &[usize]) -> Case {
    let order = match extents.len() {
        3 => vec![0, 2, 1],
        _ => vec![1, 0],
    };
    Case { kind, operation: Operation::Transpose, extents: extents.to_vec(), order }
}

fn permutes() -> Vec<Case> {
    let case = |operation, extents: &[usize], order: &[usize]| Case {
        kind: Kind::F32,
        operation,
        extents: extents.to_vec(),
        order: order.to_vec(),
    };
    let mut cases = vec![
        transpose(Kind::F32, &[64, 1024, 1000]),
        case(Operation::Permute, &[64, 128, 256, 32], &[0, 2, 1, 3]),
        case(Operation::Permute, &[64, 128, 256, 32], &[3, 2, 1, 0]),
        case(Operation::InPlace, &[8192, 8192], &[1, 0]),
    ];
    for fields in [3, 8] {
        let records = (1 << 26) / fields;
        cases.push(case(Operation::FieldsOfRecords, &[records, fields], &[1, 0]));
        cases.push(case(Operation::RecordsOfFields, &[fields, records], &[1, 0]));
    }
    cases
}

impl Case {
    /// The elements of the tensor.
    pub fn elements(&self) -> usize {
        self.extents.iter().product()
    }

    /// The bytes that must be moved: each element read once and written once.
    pub fn moved_bytes(&self) -> u64 {
        2 * (self.elements() * self.kind.bytes()) as u64
    }

    /// The extents of the output, in elements, outermost first.
    pub fn output_extents(&self) -> Vec<usize> {
        self.order.iter().map(|&dimension| self.extents[dimension]).collect()
    }

    /// The strides of the input, in elements, outermost first.
    fn strides(&self) -> Vec<usize> {
        let mut strides = vec![1; self.extents.len()];
        for dimension in (1..self.extents.len()).rev() {
            strides[dimension - 1] = strides[dimension] * self.extents[dimension];
        }
        strides
    }

    /// What the library's copy does for it between aligned buffers, a step a line. In place it makes no such plan.
    pub fn plan(&self) -> Option<String> {
        if self.operation == Operation::InPlace {
            return None;
        }
        let element = match self.kind {
            Kind::F64 => ScalarType::F64,
            Kind::F32 => ScalarType::F32,
            Kind::F16 => ScalarType::F16,
            Kind::U8 => ScalarType::U8,
        };
        let strides = self.strides();
        let from: Vec<usize> = self.order.iter().map(|&dimension| strides[dimension]).collect();
        let extents = self.output_extents();
        let turned = Case { extents: extents.clone(), ..self.clone() };
        let input = Side { strides: &from, address: 0 };
        let output = Side { strides: &turned.strides(), address: 0 };
        Some(plan::plan(element, &extents, input, output).to_string())
    }

    /// Which element of the input the output's element at `position` is, both counted row by row.
    pub fn source(&self, mut position: usize) -> usize {
        let strides = self.strides();
        let mut source = 0;
        for &dimension in self.order.iter().rev() {
            source += position % self.extents[dimension] * strides[dimension];
            position /= self.extents[dimension];
        }
        source
    }
}

/// The cases that programs in other languages are measured on too, as JSON: the copy of 1 GiB, and all but copies.
pub fn listed() -> Value {
    let cases = std::iter::once(copy(30)).chain(Group::Transpose.cases()).chain(Group::Permute.cases());
    let object = |case: Case| {
        json!({
            "case": case.to_string(),
            "element": case.kind.name(),
            "extents": case.extents,
            "order": case.order,
            "in_place": case.operation == Operation::InPlace,
            "moved_bytes": case.moved_bytes(),
        })
    };
    cases.map(object).collect()
}

/// Such as `transpose f32 8192 × 4097`.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self.kind.name();
        let extents: Vec<String> = self.extents.iter().map(usize::to_string).collect();
        let extents = extents.join(" × ");
        match self.operation {
            Operation::Copy => {
                let mebibytes = (self.elements() * self.kind.bytes()) >> 20;
                if mebibytes < 1024 {
                    write!(f, "copy {kind} {mebibytes} MiB")
                } else {
                    write!(f, "copy {kind} {} GiB", mebibytes >> 10)
                }
            }
            Operation::Transpose => write!(f, "transpose {kind} {extents}"),
            Operation::InPlace => write!(f, "transpose in place {kind} {extents}"),
            Operation::Permute => {
                let order: Vec<String> = self.order.iter().map(usize::to_string).collect();
                write!(f, "permute {kind} {extents} to ({})", order.join(", "))
            }
            Operation::FieldsOfRecords => write!(f, "fields of records {kind} {extents}"),
            Operation::RecordsOfFields => write!(f, "records of fields {kind} {extents}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Case, Group, Kind, Operation};

    #[test]
    fn the_source_of_an_element() {
        let case = Case {
            kind: Kind::F32,
            operation: Operation::Permute,
            extents: vec![2, 3, 4],
            order: vec![2, 0, 1],
        };
        assert_eq!(case.output_extents(), [4, 2, 3]);
        // output[3][1][2] is input[1][2][3]
        assert_eq!(case.source(3 * 6 + 3 + 2), 12 + 2 * 4 + 3);
        let sources: std::collections::BTreeSet<usize> = (0..24).map(|i| case.source(i)).collect();
        assert_eq!(sources, (0..24).collect());
    }

    #[test]
    fn plans_are_of_the_case() {
        let plan = |group: Group, index: usize| group.cases()[index].plan();
        let copy = plan(Group::Copy, 10).expect("a copy has a plan");
        assert!(copy.contains(&format!("[{}] words of 16 bytes", (1usize << 30) / 16)), "{copy}");
        let turned = plan(Group::Transpose, 0).expect("a transpose has a plan");
        assert!(turned.contains("8192"), "{turned}");
        assert_eq!(plan(Group::Permute, 3), None, "in place");
    }

    #[test]
    fn what_other_programs_read() {
        let cases = super::listed();
        assert_eq!(cases[0]["case"], "copy f32 1 GiB");
        assert_eq!(cases[0]["moved_bytes"], 2u64 << 30);
        let in_place: Vec<_> =
            cases.as_array().expect("a list").iter().filter(|case| case["in_place"] == true).collect();
        assert_eq!(in_place.len(), 1);
        assert_eq!(in_place[0]["order"], serde_json::json!([1, 0]));
    }

    #[test]
    fn names_tell_the_cases_apart() {
        let cases: Vec<Case> = Group::ALL.into_iter().flat_map(Group::cases).collect();
        let names: std::collections::BTreeSet<String> = cases.iter().map(Case::to_string).collect();
        assert_eq!(names.len(), cases.len());
        assert!(names.contains("copy f32 1 GiB") && names.contains("copy f32 512 MiB"));
        assert!(names.contains("permute f32 64 × 128 × 256 × 32 to (3, 2, 1, 0)"));
        assert!(cases.iter().all(|case| case.order.len() == case.extents.len()));
    }
}
