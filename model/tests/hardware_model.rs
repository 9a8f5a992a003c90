//! Every access that was counted on an H200, against the model.
//!
//! The environment variable `TILEPROOF_ACCESSES` may name another table of the same form.
//! `cargo test -p tileproof-model --test hardware_model -- --nocapture` shows the counts.

mod accesses;

use accesses::{header, metric_of, parse, text};
use tileproof_model::access::{LANES, Operation, cost};

#[test]
fn the_model_agrees_with_every_counted_access() {
    let text = text();
    let rows = parse(&text).expect("the table");
    assert!(!rows.is_empty());

    let mut by_operation = [(0, 0); Operation::ALL.len()];
    let mut disagreements = Vec::new();
    let mut one_more = 0;
    for row in &rows {
        let modelled = metric_of(&cost(&row.access), row.metric);
        let (agreeing, total) = &mut by_operation[row.access.operation as usize];
        *total += 1;
        // What the rule of scattered atomics leaves open.
        let scattered = row.access.operation == Operation::AtomicGlobal && cost(&row.access).lines > 4;
        if modelled == row.value {
            *agreeing += 1;
        } else if scattered && modelled + 1 == row.value {
            one_more += 1;
        } else {
            disagreements.push(format!(
                "{}: {} of width {}: {:?} {modelled}, counted {}",
                row.id,
                row.access.operation.name(),
                row.access.width,
                row.metric,
                row.value
            ));
        }
    }
    for (operation, (agreeing, total)) in Operation::ALL.into_iter().zip(by_operation) {
        println!("  {:<16} {agreeing:>5} of {total:>5}", operation.name());
    }
    println!("{} of {} accesses agree", rows.len() - disagreements.len() - one_more, rows.len());
    assert!(disagreements.is_empty(), "{}", disagreements.join("\n"));
    if std::env::var_os("TILEPROOF_ACCESSES").is_none() {
        assert_eq!((rows.len(), one_more), (2892, 5), "the module documentation of the model tells of them");
    }
}

#[test]
fn malformed_accesses_are_refused() {
    let header = header();
    let offsets = ",0".repeat(LANES);
    let good = format!("{header}\n1,ld.shared,4,ffffffff,wavefronts,1{offsets}\n");
    assert_eq!(parse(&good).map(|rows| rows.len()), Ok(1));
    for (row, complaint) in [
        (format!("1,ld.local,4,ffffffff,wavefronts,1{offsets}"), "line 2: unknown operation `ld.local`"),
        (format!("1,ld.shared,3,ffffffff,wavefronts,1{offsets}"), "line 2: ld.shared has no width 3"),
        (format!("1,ld.shared,4,fffffffg,wavefronts,1{offsets}"), "line 2: `fffffffg` is no mask of lanes"),
        (
            format!("1,ld.shared,4,ffffffff,sectors,1{offsets}"),
            "line 2: ld.shared is not measured in `sectors`",
        ),
        (format!("1,ld.shared,4,ffffffff,wavefronts,one{offsets}"), "line 2: `one` is no number"),
        (format!("1,ld.shared,4,ffffffff,wavefronts,1{offsets},0"), "line 2: 39 columns instead of 38"),
    ] {
        let found = parse(&format!("{header}\n{row}\n")).map(|rows| rows.len());
        assert_eq!(found, Err(complaint.to_owned()));
    }
    assert_eq!(parse("id,op\n").map(|rows| rows.len()), Err("line 1: not the expected header".to_owned()));
}
