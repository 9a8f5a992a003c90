//! What the ladder's kernels become, as golden files: CUDA text, report, and the example's table.

use expect_test::expect_file;
use tileproof::prelude::*;
use tileproof::report::{Role, Space};
use tileproof_examples::ladder::{LADDER, random};
use tileproof_examples::table::{Row, table};

fn golden(name: &str, text: &str) {
    expect_file![format!("{}/golden/{name}", env!("CARGO_MANIFEST_DIR"))].assert_eq(text);
}

#[test]
fn cuda() {
    for rung in LADDER {
        golden(&format!("{}.cu", rung.name), rung.cuda);
    }
}

#[test]
fn reports() {
    for rung in LADDER {
        golden(&format!("{}.report", rung.name), &(rung.report)().to_string());
    }
}

/// The shared load of each kernel on the banks, for pages and for terminals.
#[test]
fn bank_maps() {
    for rung in LADDER {
        let report = (rung.report)();
        let load =
            report.sites.iter().position(|site| (site.space, site.role) == (Space::Shared, Role::Read));
        if let Some(load) = load {
            let map = report.bank_map(load).expect("known lanes");
            assert_eq!(report.bank_picture(load), Ok(map.svg()));
            golden(&format!("{}.load.svg", rung.name), &map.svg());
            golden(&format!("{}.load.txt", rung.name), &map.to_string());
        }
    }
}

/// The table without what depends on the machine.
#[test]
fn transpose_ladder() {
    let (rows, cols) = (64, 128);
    let input = random(rows * cols, 7);
    let rows: Vec<Row> = LADDER
        .into_iter()
        .map(|rung| {
            let (out_rows, out_cols) = rung.output_extents(rows, cols);
            let mut output = vec![f32::NAN; input.len()];
            let view = HostTensor::new(&input, [rows, cols]).expect("a view of the input");
            let mut out =
                HostTensorMut::new(&mut output, [out_rows, out_cols]).expect("a view of the output");
            (rung.simulate)(&view, &mut out).expect("a run");
            let correct = output == rung.reference(&input, rows, cols);
            Row { rung, correct, usage: None, bandwidth: None }
        })
        .collect();
    golden("transpose_ladder.txt", &table(&rows, None));
}
