//! Alignment of vectors.

use crate::harness::{accepted, refused};
use expect_test::expect;

/// Case 40: 4 bytes of halves from column 1 of rows of three: neither offset nor pitch is a multiple of two elements.
#[test]
fn offset_and_pitch_must_divide() {
    let kernel = |column: &str| {
        (
            "block = [32], grid = [1], requires(input.rows() >= 32, input.cols() >= 4, output.len() >= 64)",
            "input: &Matrix<f16>, output: &mut Tensor<f16, 1>",
            format!(
                "#[budget(excess_sectors = 28, because = \"the case\")]
                let pair = input.read::<2>([thread_x(), {column}]);
                output.write([2 * thread_x()], pair);"
            ),
        )
    };
    let (attribute, parameters, body) = kernel("1");
    expect![[r#"
        misaligned vector access: 4 bytes a lane, at an innermost index `1` that is not always a multiple of 2 [TP0301]
    "#]]
    .assert_eq(&refused(attribute, parameters, &body));
    // From column 0 the launch decides about the pitch.
    let (attribute, parameters, body) = kernel("0");
    let report = accepted(attribute, parameters, &body).report;
    let checks: String = report.launch_checks.iter().map(|check| format!("{check}\n")).collect();
    expect![[r#"
        input.rows() >= 32
        input.cols() >= 4
        output.len() >= 64
        input.pitch() % 2 == 0
    "#]]
    .assert_eq(&checks);
}

/// Case 44: 16 bytes to an object that is aligned to 8. What counts is where the destination lies, not how wide the source is.
#[test]
fn the_destination_must_be_aligned() {
    let errors = refused(
        "block = [16], grid = [1], requires(input.len() >= 64)",
        "input: &Tensor<f32, 1>",
        "let mut t = Shared::<[[f32; 6]; 16]>::new();
        let x = thread_x();
        t.write([x, 2], input.read::<4>([4 * x]));",
    );
    expect![[r#"
        misaligned vector access: 16 bytes a lane, at places in `t` that are not multiples of 16 [TP0301]
    "#]]
    .assert_eq(&errors);
}
