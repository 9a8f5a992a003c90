//! What a plan says.

use tileproof::ScalarType;
use tileproof::kernels::plan::{Fields, Kernel, Plan, Record, Side, Word, plan};

fn planned(element: ScalarType, extents: &[usize], input: &[usize], output: &[usize]) -> Plan {
    at(element, extents, (input, 0), (output, 0))
}

fn at(element: ScalarType, extents: &[usize], input: (&[usize], u64), output: (&[usize], u64)) -> Plan {
    let side = |(strides, address)| Side { strides, address };
    plan(element, extents, side(input), side(output))
}

fn kernels(plan: &Plan) -> Vec<(Kernel, Word)> {
    plan.steps.iter().map(|step| (step.kernel, step.word)).collect()
}

#[test]
fn dimensions_that_are_one_are_joined() {
    let plan = planned(ScalarType::F32, &[8, 1, 16, 4], &[64, 7, 4, 1], &[64, 9, 4, 1]);
    assert_eq!(
        plan.to_string(),
        "linear_u32_4_1: [128] words of 16 bytes, from strides [1] at byte 0 to [1] at byte 0"
    );
    let rows = planned(ScalarType::F32, &[8, 16, 64], &[64, 512, 1], &[1024, 64, 1]);
    assert_eq!(kernels(&rows), [(Kernel::Rows, Word::Bytes16)]);
}

#[test]
fn words_are_as_wide_as_everything_allows() {
    let widths = |cols: usize, pitch: usize, address: u64| {
        let extents = [40, cols];
        kernels(&at(ScalarType::F16, &extents, (&[pitch, 1], address), (&[2048, 1], 0)))
    };
    assert_eq!(widths(1024, 2048, 0), [(Kernel::Rows, Word::Bytes16)]);
    assert_eq!(widths(1024, 2052, 0), [(Kernel::Rows, Word::Bytes8)]);
    assert_eq!(widths(1024, 2050, 0), [(Kernel::Rows, Word::Bytes4)]);
    assert_eq!(widths(1024, 2049, 0), [(Kernel::Rows, Word::Bytes2)]);
    assert_eq!(widths(1024, 2048, 8), [(Kernel::Rows, Word::Bytes8)]);
    assert_eq!(widths(100, 2048, 0), [(Kernel::Rows, Word::Bytes8)]);
}

#[test]
fn ends_of_long_rows_are_steps_of_their_own() {
    let plan = at(ScalarType::U8, &[1000], (&[1], 5), (&[1], 21));
    assert_eq!(
        plan.to_string(),
        "linear_u32_4_1: [61] words of 16 bytes, from strides [1] at byte 11 to [1] at byte 11\n\
         linear_u8_1_8: [11] words of 1 bytes, from strides [1] at byte 0 to [1] at byte 0\n\
         linear_u8_1_8: [13] words of 1 bytes, from strides [1] at byte 987 to [1] at byte 987"
    );
    assert_eq!(
        kernels(&at(ScalarType::U8, &[1000], (&[1], 5), (&[1], 20))),
        [(Kernel::Linear, Word::Bytes1)]
    );
}

#[test]
fn a_pair_that_stays_together_is_a_word() {
    let plan = planned(ScalarType::F64, &[50, 40, 2], &[2, 100, 1], &[80, 2, 1]);
    assert_eq!(kernels(&plan), [(Kernel::Turned, Word::Bytes16)]);
    assert_eq!(plan.steps[0].dimensions.len(), 2);
}

#[test]
fn planes_are_turned_by_their_shape() {
    let turned = |batch: usize, rows: usize, cols: usize| {
        let plane = rows * cols;
        let plan = planned(ScalarType::F32, &[batch, cols, rows], &[plane, 1, cols], &[plane, rows, 1]);
        kernels(&plan)[0].0
    };
    assert_eq!(turned(1, 50, 50), Kernel::Turned);
    assert_eq!(turned(1, 100, 100), Kernel::Wide);
    assert_eq!(turned(1, 100, 101), Kernel::Skewed);
    assert_eq!(turned(1, 1000, 5), Kernel::TurnedTall);
    assert_eq!(turned(1, 5, 1000), Kernel::TurnedWide);
    assert_eq!(turned(9, 6, 5), Kernel::TurnedSmall);
    assert_eq!(turned(1, 1000, 3), Kernel::FieldsOfRecords(Record::Bytes4(Fields::Three)));
    assert_eq!(turned(9, 4, 5), Kernel::RecordsOfFields(Record::Bytes4(Fields::Four)));
    assert_eq!(turned(1, 1, 5), Kernel::Linear);
}

/// Bytes of rows that begin anywhere are read as words, of which the first must not begin before the input.
#[test]
fn bytes_of_rows_that_begin_anywhere() {
    let plane =
        |address: u64| at(ScalarType::U8, &[4097, 8191], (&[1, 4097], address), (&[8191, 1], 3)).to_string();
    assert_eq!(
        plane(4),
        "skewed_bytes: [8191, 4097] words of 1 bytes, from strides [4097, 1] at byte 0 to [1, 8191] at byte 0"
    );
    assert!(plane(5).starts_with("turned_u8"), "{}", plane(5));
}

/// Planes of half a tile's columns that lie side by side are turned in pairs, whatever the order of the other dimensions.
#[test]
fn planes_that_lie_side_by_side() {
    let plan =
        planned(ScalarType::F32, &[32, 256, 128, 64], &[1, 32, 8192, 1 << 20], &[1 << 21, 8192, 64, 1]);
    assert_eq!(kernels(&plan), [(Kernel::WidePairs, Word::Bytes4)]);
    assert_eq!(plan.steps[0].dimensions[1].input, 32);
}

/// A gap behind each record, and there are only rows to be turned.
#[test]
fn records_lie_right_behind_another() {
    let apart = |pitch: usize| {
        kernels(&planned(ScalarType::U8, &[6, 3, 400], &[400 * pitch, 1, pitch], &[1200, 400, 1]))[0].0
    };
    assert_eq!(apart(3), Kernel::FieldsOfRecords(Record::Bytes1(Fields::Three)));
    assert_eq!(apart(4), Kernel::TurnedTall);
}

#[test]
fn more_dimensions_than_a_kernel_takes_are_launches() {
    let plan = planned(
        ScalarType::F32,
        &[2, 3, 4, 5, 50],
        &[60_000, 13_000, 1200, 230, 3],
        &[100_000, 9000, 2000, 300, 5],
    );
    assert_eq!(kernels(&plan), [(Kernel::Strided, Word::Bytes4)]);
    assert_eq!(plan.steps[0].launches.len(), 1);
    assert!(plan.to_string().ends_with(", 2 launches"), "{plan}");
}

#[test]
fn without_elements_there_is_nothing_to_do() {
    let plan = planned(ScalarType::F32, &[8, 0, 4], &[0, 4, 1], &[0, 4, 1]);
    assert_eq!(plan.to_string(), "nothing to copy");
}
