//! The kernels behind a plan, and how a step's words are their arguments.

use super::plan::{Dimension, Fields, Kernel, Record, Word};
use super::{in_place, linear, records, rows, skewed, strided, turned, turned_small, wide};
use crate::description::Description;
use crate::description::Kernel as Compiled;
use crate::scalar::ScalarType;
use std::ops::Range;

/// What a kernel is launched with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Arguments {
    /// Numbers before the tensors.
    pub(super) numbers: Vec<usize>,
    pub(super) input: Words,
    /// What follows the input, of kernels that take it in two parts.
    pub(super) rest: Option<Words>,
    pub(super) output: Words,
}

/// A tensor that a kernel is launched with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Words {
    /// The type of its elements.
    pub(super) element: ScalarType,
    /// Bytes from the first element of the side to the first one of the tensor.
    pub(super) offset: usize,
    /// Outermost first.
    pub(super) extents: Vec<usize>,
    /// In elements.
    pub(super) strides: Vec<usize>,
}

/// The kernel that moves such words. Words that are too narrow for a special one have the general one.
pub(super) fn description(kernel: Kernel, word: Word) -> &'static Description {
    match (kernel, word) {
        (Kernel::Linear, Word::Bytes1) => linear::linear_u8_1_8::DESCRIPTION,
        (Kernel::Linear, Word::Bytes2) => linear::linear_u16_1_8::DESCRIPTION,
        (Kernel::Linear, Word::Bytes4) => linear::linear_u32_1_4::DESCRIPTION,
        (Kernel::Linear, Word::Bytes8) => linear::linear_u64_1_2::DESCRIPTION,
        (Kernel::Linear, Word::Bytes16) => linear::linear_u32_4_1::DESCRIPTION,
        (Kernel::Rows | Kernel::ShortRows, Word::Bytes1) => rows::rows_u8_1_32_4::DESCRIPTION,
        (Kernel::Rows | Kernel::ShortRows, Word::Bytes2) => rows::rows_u16_1_32_4::DESCRIPTION,
        (Kernel::Rows, Word::Bytes4) => rows::rows_u32_1_32_4::DESCRIPTION,
        (Kernel::Rows, Word::Bytes8) => rows::rows_u64_1_32_2::DESCRIPTION,
        (Kernel::Rows, Word::Bytes16) => rows::rows_u32_4_32_1::DESCRIPTION,
        (Kernel::ShortRows, Word::Bytes4) => rows::short_rows_u32_1_8_4::DESCRIPTION,
        (Kernel::ShortRows, Word::Bytes8) => rows::short_rows_u64_1_8_2::DESCRIPTION,
        (Kernel::ShortRows, Word::Bytes16) => rows::short_rows_u32_4_8_1::DESCRIPTION,
        (
            Kernel::Turned
            | Kernel::WidePairs
            | Kernel::TurnedTall
            | Kernel::TurnedWide
            | Kernel::TurnedSmall,
            Word::Bytes1,
        ) => turned::turned_u8_1_32_32_Pad_4::DESCRIPTION,
        (Kernel::Turned | Kernel::TurnedTall | Kernel::TurnedWide | Kernel::TurnedSmall, Word::Bytes2) => {
            turned::turned_u16_1_32_32_Pad_2::DESCRIPTION
        }
        (Kernel::Turned, Word::Bytes4) => turned::turned_u32_1_32_32_Pad_1::DESCRIPTION,
        (Kernel::Turned, Word::Bytes8) => turned::turned_u64_1_32_32_Pad_1::DESCRIPTION,
        (Kernel::Turned | Kernel::Wide | Kernel::WidePairs | Kernel::Skewed, Word::Bytes16) => {
            turned::turned_u32_4_32_32_Pad_4::DESCRIPTION
        }
        (Kernel::TurnedTall, Word::Bytes4) => turned::turned_u32_1_128_8_Swizzle_3_0_5::DESCRIPTION,
        (Kernel::TurnedTall, Word::Bytes8) => turned::turned_u64_1_128_8_Swizzle_3_0_4::DESCRIPTION,
        (Kernel::TurnedTall, Word::Bytes16) => turned::turned_u32_4_128_8_Xor_4::DESCRIPTION,
        (Kernel::TurnedWide, Word::Bytes4) => turned::turned_u32_1_8_128_Xor_4::DESCRIPTION,
        (Kernel::TurnedWide, Word::Bytes8) => turned::turned_u64_1_8_128_Xor_2::DESCRIPTION,
        (Kernel::TurnedWide, Word::Bytes16) => turned::turned_u32_4_8_128_Xor_4::DESCRIPTION,
        (Kernel::TurnedSmall, Word::Bytes4) => turned_small::turned_small_u32_1_8_16_Xor_1::DESCRIPTION,
        (Kernel::TurnedSmall, Word::Bytes8) => turned_small::turned_small_u64_1_8_16_Xor_1::DESCRIPTION,
        (Kernel::TurnedSmall, Word::Bytes16) => turned_small::turned_small_u32_4_8_16_Xor_4::DESCRIPTION,
        (Kernel::Wide, Word::Bytes1) => wide::wide_bytes::DESCRIPTION,
        (Kernel::Wide | Kernel::WidePairs, Word::Bytes2) => {
            wide::wide_u16_8_4_8_128_128_Swizzle_3_3_7::DESCRIPTION
        }
        (Kernel::Wide, Word::Bytes4) => wide::wide_u32_4_4_16_64_64_Swizzle_3_2_6::DESCRIPTION,
        (Kernel::WidePairs, Word::Bytes4) => wide::wide_pairs::DESCRIPTION,
        (Kernel::Wide | Kernel::WidePairs, Word::Bytes8) => {
            wide::wide_u64_2_2_16_32_32_Swizzle_3_1_5::DESCRIPTION
        }
        (Kernel::Skewed, Word::Bytes1) => skewed::skewed_bytes::DESCRIPTION,
        (Kernel::Skewed, Word::Bytes2) => skewed::skewed_halves::DESCRIPTION,
        (Kernel::Skewed, Word::Bytes4) => skewed::skewed_u32_8_56::DESCRIPTION,
        (Kernel::Skewed, Word::Bytes8) => skewed::skewed_u64_4_60::DESCRIPTION,
        (Kernel::FieldsOfRecords(record), _) => fields_of_records(record),
        (Kernel::RecordsOfFields(record), _) => records_of_fields(record),
        (Kernel::Strided, Word::Bytes1) => strided::strided_u8_1::DESCRIPTION,
        (Kernel::Strided, Word::Bytes2) => strided::strided_u16_1::DESCRIPTION,
        (Kernel::Strided, Word::Bytes4) => strided::strided_u32_1::DESCRIPTION,
        (Kernel::Strided, Word::Bytes8) => strided::strided_u64_1::DESCRIPTION,
        (Kernel::Strided, Word::Bytes16) => strided::strided_u32_4::DESCRIPTION,
    }
}

fn fields_of_records(record: Record) -> &'static Description {
    use records::*;
    match record {
        Record::Bytes1(Fields::Two) => fields_of_records_u8_2_RowMajor::DESCRIPTION,
        Record::Bytes1(Fields::Three) => fields_of_records_u8_3_RowMajor::DESCRIPTION,
        Record::Bytes1(Fields::Four) => fields_of_records_u8_4_RowMajor::DESCRIPTION,
        Record::Bytes2(Fields::Two) => fields_of_records_u16_2_RowMajor::DESCRIPTION,
        Record::Bytes2(Fields::Three) => fields_of_records_u16_3_Pad_7::DESCRIPTION,
        Record::Bytes2(Fields::Four) => fields_of_records_u16_4_Swizzle_2_0_5::DESCRIPTION,
        Record::Bytes4(Fields::Two) => fields_of_records_u32_2_Swizzle_1_0_5::DESCRIPTION,
        Record::Bytes4(Fields::Three) => fields_of_records_u32_3_RowMajor::DESCRIPTION,
        Record::Bytes4(Fields::Four) => fields_of_records_u32_4_Swizzle_2_0_5::DESCRIPTION,
        Record::Bytes8(Fields::Two) => fields_of_records_u64_2_Swizzle_1_0_4::DESCRIPTION,
        Record::Bytes8(Fields::Three) => fields_of_records_u64_3_RowMajor::DESCRIPTION,
        Record::Bytes8(Fields::Four) => fields_of_records_u64_4_Swizzle_2_0_4::DESCRIPTION,
    }
}

fn records_of_fields(record: Record) -> &'static Description {
    use records::*;
    match record {
        Record::Bytes1(Fields::Two) => records_of_fields_u8_2_RowMajor::DESCRIPTION,
        Record::Bytes1(Fields::Three) => records_of_fields_u8_3_RowMajor::DESCRIPTION,
        Record::Bytes1(Fields::Four) => records_of_fields_u8_4_RowMajor::DESCRIPTION,
        Record::Bytes2(Fields::Two) => records_of_fields_u16_2_RowMajor::DESCRIPTION,
        Record::Bytes2(Fields::Three) => records_of_fields_u16_3_Pad_7::DESCRIPTION,
        Record::Bytes2(Fields::Four) => records_of_fields_u16_4_Swizzle_2_0_5::DESCRIPTION,
        Record::Bytes4(Fields::Two) => records_of_fields_u32_2_Swizzle_1_0_5::DESCRIPTION,
        Record::Bytes4(Fields::Three) => records_of_fields_u32_3_RowMajor::DESCRIPTION,
        Record::Bytes4(Fields::Four) => records_of_fields_u32_4_Swizzle_2_0_5::DESCRIPTION,
        Record::Bytes8(Fields::Two) => records_of_fields_u64_2_Swizzle_1_0_4::DESCRIPTION,
        Record::Bytes8(Fields::Three) => records_of_fields_u64_3_RowMajor::DESCRIPTION,
        Record::Bytes8(Fields::Four) => records_of_fields_u64_4_Swizzle_2_0_4::DESCRIPTION,
    }
}

/// The transpose in place of a square matrix of elements of a type, with so many rows, a pitch in elements and an address; and the
/// type that it moves them as.
pub(super) fn in_place(
    element: ScalarType,
    rows: usize,
    pitch: usize,
    address: u64,
) -> (&'static Description, ScalarType) {
    let in_vectors =
        |many: usize| rows.is_multiple_of(many) && pitch.is_multiple_of(many) && address.is_multiple_of(16);
    match Word::of(element) {
        Word::Bytes1 => (in_place::in_place_u8_Pad_4::DESCRIPTION, ScalarType::U8),
        Word::Bytes2 => (in_place::in_place_u16_Pad_2::DESCRIPTION, ScalarType::U16),
        Word::Bytes4 if in_vectors(4) => {
            (in_place::in_place_wide_u32_4_64_Swizzle_3_2_6::DESCRIPTION, ScalarType::U32)
        }
        Word::Bytes4 => (in_place::in_place_u32_Pad_1::DESCRIPTION, ScalarType::U32),
        Word::Bytes8 | Word::Bytes16 if in_vectors(2) => {
            (in_place::in_place_wide_u64_2_32_Swizzle_3_1_5::DESCRIPTION, ScalarType::U64)
        }
        Word::Bytes8 | Word::Bytes16 => (in_place::in_place_u64_Pad_1::DESCRIPTION, ScalarType::U64),
    }
}

/// All kernels of the library, each once.
pub(super) fn all() -> Vec<&'static Description> {
    let copies = Kernel::all().into_iter().flat_map(|kernel| Word::ALL.map(|word| description(kernel, word)));
    let elements = [ScalarType::U8, ScalarType::U16, ScalarType::U32, ScalarType::U64];
    let mut all: Vec<&'static Description> = Vec::new();
    let in_place =
        elements.into_iter().flat_map(|element| [1, 16].map(|rows| in_place(element, rows, rows, 0).0));
    for description in copies.chain(in_place).chain(super::matmul::all()) {
        if !all.iter().any(|other| other.name == description.name) {
            all.push(description);
        }
    }
    all
}

/// The type of a word's elements in a kernel, and how many a word has.
pub(super) fn elements(word: Word) -> (ScalarType, usize) {
    match word {
        Word::Bytes1 => (ScalarType::U8, 1),
        Word::Bytes2 => (ScalarType::U16, 1),
        Word::Bytes4 => (ScalarType::U32, 1),
        Word::Bytes8 => (ScalarType::U64, 1),
        Word::Bytes16 => (ScalarType::U32, 4),
    }
}

/// The places of the dimensions, of so many, whose extents decide how many blocks a grid has along an axis, outermost first.
pub(super) fn along(kernel: Kernel, axis: char, rank: usize) -> Range<usize> {
    // Counted from the innermost one.
    let (last, beyond) = match (kernel, axis) {
        (Kernel::Linear, _) => (0, 1),
        (Kernel::ShortRows, 'x') => (1, 2),
        (Kernel::ShortRows, 'y') => (2, 3),
        (Kernel::ShortRows, _) => (3, 4),
        (Kernel::Rows | Kernel::Strided, 'x') => (0, 1),
        (Kernel::Rows | Kernel::Strided, 'y') => (1, 2),
        (Kernel::Rows | Kernel::Strided, _) => (2, 5),
        (Kernel::WidePairs, 'x') => (1, 2),
        (Kernel::WidePairs, 'y') => (2, 3),
        (Kernel::WidePairs, _) => (3, 5),
        (Kernel::Turned | Kernel::Wide | Kernel::Skewed | Kernel::TurnedTall | Kernel::TurnedWide, axis) => {
            match axis {
                'x' => (1, 2),
                'y' => (0, 1),
                _ => (2, 5),
            }
        }
        (Kernel::FieldsOfRecords(_), 'x') => (1, 2),
        (Kernel::RecordsOfFields(_), 'x') => (0, 1),
        (Kernel::FieldsOfRecords(_) | Kernel::RecordsOfFields(_), _) => (2, 3),
        (Kernel::TurnedSmall, 'x') => (2, 3),
        (Kernel::TurnedSmall, 'y') => (3, 4),
        (Kernel::TurnedSmall, _) => (4, 5),
    };
    rank.saturating_sub(beyond)..rank.saturating_sub(last)
}

/// The arguments of a launch that moves words of these dimensions, which begin so many bytes into both sides.
pub(super) fn arguments(
    kernel: Kernel,
    word: Word,
    dimensions: &[Dimension],
    [input, output]: [usize; 2],
) -> Arguments {
    match (kernel, word, dimensions) {
        (Kernel::Skewed, Word::Bytes1 | Word::Bytes2, [rows, cols]) => {
            shifted(word, *rows, *cols, [input, output])
        }
        (Kernel::Wide, Word::Bytes1, _) => fours(&tensors(kernel, word, dimensions, [input, output])),
        _ => {
            let [input, output] = tensors(kernel, word, dimensions, [input, output]);
            Arguments { numbers: Vec::new(), input, rest: None, output }
        }
    }
}

/// Bytes as words of four.
fn fours([input, output]: &[Words; 2]) -> Arguments {
    let four = |words: &Words| {
        let mut extents = words.extents.clone();
        extents.iter_mut().next_back().into_iter().for_each(|extent| *extent /= 4);
        let strides = words.strides.iter().zip((1..words.strides.len()).map(|_| 4).chain([1]));
        let strides = strides.map(|(stride, by)| stride / by).collect();
        Words { element: ScalarType::U32, extents, strides, ..words.clone() }
    };
    Arguments { numbers: Vec::new(), input: four(input), rest: None, output: four(output) }
}

/// A plane whose input is read as a row of larger words, of four elements each: from the word on that the first element is in, to
/// the last one that is whole, and the elements behind that.
fn shifted(word: Word, rows: Dimension, cols: Dimension, [input, output]: [usize; 2]) -> Arguments {
    let (element, _) = elements(word);
    let (packed, bytes) =
        (if word == Word::Bytes1 { ScalarType::U32 } else { ScalarType::U64 }, word.bytes());
    let first = input / bytes % 4;
    let elements = first + (rows.extent - 1) * rows.input + cols.extent;
    Arguments {
        numbers: vec![first, rows.input],
        input: Words {
            element: packed,
            offset: input - first * bytes,
            extents: vec![elements / 4],
            strides: vec![1],
        },
        rest: Some(Words {
            element,
            offset: input + (elements / 4 * 4 - first) * bytes,
            extents: vec![elements % 4],
            strides: vec![1],
        }),
        output: Words {
            element,
            offset: output,
            extents: vec![cols.extent, rows.extent],
            strides: vec![cols.output, 1],
        },
    }
}

/// The tensors of a launch that has no other arguments.
fn tensors(kernel: Kernel, word: Word, dimensions: &[Dimension], [input, output]: [usize; 2]) -> [Words; 2] {
    let (element, wide) = elements(word);
    let contiguous = |extent: usize| Dimension { extent: extent * wide, input: 1, output: 1 };
    let apart = |dimension: &Dimension| Dimension {
        extent: dimension.extent,
        input: dimension.input * wide,
        output: dimension.output * wide,
    };
    let (mut of_input, mut of_output): (Vec<Dimension>, Vec<Dimension>) =
        dimensions.iter().map(|dimension| (apart(dimension), apart(dimension))).unzip();
    let last = dimensions.len() - 1;
    let ranks = match kernel {
        Kernel::Linear => {
            let row = contiguous(dimensions[last].extent);
            (of_input[last], of_output[last]) = (row, row);
            [1, 1]
        }
        Kernel::Rows | Kernel::ShortRows => {
            let row = contiguous(dimensions[last].extent);
            (of_input[last], of_output[last]) = (row, row);
            if kernel == Kernel::ShortRows { [4, 4] } else { [5, 5] }
        }
        Kernel::Turned
        | Kernel::Wide
        | Kernel::WidePairs
        | Kernel::Skewed
        | Kernel::TurnedTall
        | Kernel::TurnedWide
        | Kernel::TurnedSmall => {
            of_input[last] = contiguous(dimensions[last].extent);
            of_output.swap(last - 1, last);
            of_output[last] = contiguous(dimensions[last - 1].extent);
            if kernel == Kernel::Skewed { [3, 3] } else { [5, 5] }
        }
        Kernel::FieldsOfRecords(_) => {
            of_input.truncate(last - 1);
            of_input.push(contiguous(dimensions[last - 1].extent * dimensions[last].extent));
            of_output.swap(last - 1, last);
            of_output[last] = contiguous(dimensions[last - 1].extent);
            [2, 3]
        }
        Kernel::RecordsOfFields(_) => {
            of_input[last] = contiguous(dimensions[last].extent);
            of_output.truncate(last - 1);
            of_output.push(contiguous(dimensions[last - 1].extent * dimensions[last].extent));
            [3, 2]
        }
        Kernel::Strided => {
            of_input.push(contiguous(1));
            of_output.push(contiguous(1));
            [5, 5]
        }
    };
    let tensor = |rank: usize, offset: usize, dimensions: &[Dimension], stride: fn(&Dimension) -> usize| {
        let missing = rank - dimensions.len();
        let filled = |first: usize, of: fn(&Dimension) -> usize| {
            std::iter::repeat_n(first, missing).chain(dimensions.iter().map(of)).collect()
        };
        let (extents, strides) = (filled(1, |dimension| dimension.extent), filled(0, stride));
        Words { element, offset, extents, strides }
    };
    [
        tensor(ranks[0], input, &of_input, |dimension| dimension.input),
        tensor(ranks[1], output, &of_output, |dimension| dimension.output),
    ]
}

#[cfg(test)]
mod tests {
    use super::all;
    use crate::report::{Space, Verdict};

    /// Why a row that begins anywhere is written element by element at its ends.
    const ENDS: &str = "the first and the last columns of a row";

    /// What makes the launches of the library safe.
    #[test]
    fn nothing_is_taken_for_granted() {
        for kernel in all() {
            assert!(kernel.report.trusts.is_empty(), "{}", kernel.name);
        }
    }

    #[test]
    fn only_what_lies_apart_costs_more_than_it_must() {
        assert!(all().len() > 30);
        for kernel in all() {
            for site in kernel.report.sites.iter() {
                assert_eq!(site.worst_excess_wavefronts, 0, "{}: {site}", kernel.name);
                let apart = kernel.name.starts_with("strided") && site.space == Space::Global;
                let at_the_ends = matches!(&site.cost, Verdict::Budgeted(reason) if *reason == ENDS);
                assert_eq!(site.worst_excess_sectors > 0, apart || at_the_ends, "{}: {site}", kernel.name);
            }
        }
    }
}
