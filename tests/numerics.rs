//! What every operation computes, on the simulator and on a GPU, against references that share no code with the compiler.
//!
//! Without a GPU or NVRTC the GPU's part skips aloud. It prints a row when it is done, a table last, and writes it as JSON into the folder
//! that `TILEPROOF_NUMERICS` names, if it names one, as `<date>-<gpu>-numerics.json`. With `TILEPROOF_SMALL` set there are fewer inputs.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tileproof::{device, nvrtc, unload};
use tileproof_examples::machine::Machine;
use tileproof_tests::needs::{self, Need};
use tileproof_tests::numerics::{
    Computer, Counts, HEAD, Measured, divisions_by_zero, measure_all, operations, to_json,
};

/// Well below what a step of the bundle may take.
const LIMIT: Duration = Duration::from_secs(100);

/// The test harness swallows what `print!` prints in a test that passes, but not this.
fn say(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// What is said of one machine: the rows that are not exact, then the sums; fails if a bound is not kept or an operation could not run.
fn judge(machine: &str, (rows, errors): &(Vec<Measured>, Vec<String>)) {
    let mut text = format!("{machine}\n{HEAD}\n");
    for row in rows.iter().filter(|row| row.bound > 0 || !row.is_within()) {
        text.push_str(&format!("{row}\n"));
    }
    let exact = rows.iter().filter(|row| row.bound == 0);
    let equal = exact.clone().filter(|row| row.is_within()).count();
    let wrong = rows.iter().filter(|row| !row.is_within()).count();
    text.push_str(&format!(
        "{equal} of {} exact operations are equal bit for bit, {} inputs; {wrong} of all {} are out of bounds\n",
        exact.count(),
        rows.iter().map(|row| row.inputs).sum::<usize>(),
        rows.len()
    ));
    say(&text);
    assert!(
        errors.is_empty(),
        "{machine}: {} operations were not measured: {}",
        errors.len(),
        errors[..errors.len().min(5)].join("\n")
    );
    assert_eq!(wrong, 0, "{machine}: the rows above that say WRONG");
}

#[test]
fn the_simulator_computes_what_rust_does() {
    let counts = Counts { singles: 1 << 10, slow: 1 << 8, others: 1 << 10 };
    let simulator: Computer = Arc::new(|kernel, arguments| {
        kernel.simulate(arguments).map(|run| run.arguments).map_err(|error| error.to_string())
    });
    judge("the simulator", &measure_all(operations(), counts, &simulator, LIMIT, &|_| {}));
}

/// Each division by zero of integers is a fault.
#[test]
fn the_simulator_divides_by_nothing() {
    let counts = Counts { singles: 1, slow: 1, others: 1 };
    let simulator: Computer = Arc::new(|kernel, arguments| match kernel.simulate(arguments) {
        Ok(_) => Err("a value".into()),
        Err(fault) if fault.to_string().contains("by zero") => Ok(arguments.to_vec()),
        Err(other) => Err(other.to_string()),
    });
    let (rows, errors) = measure_all(divisions_by_zero(), counts, &simulator, LIMIT, &|_| {});
    assert!(errors.is_empty() && !rows.is_empty(), "{errors:?}");
}

#[test]
fn the_gpu_computes_what_rust_does() {
    let context = match (device::context(0), nvrtc()) {
        (Ok(context), Ok(_)) => context,
        (Err(error), _) => return needs::skip(Need::Gpu, &error.to_string()),
        (_, Err(error)) => return needs::skip(Need::Nvrtc, &error.to_string()),
    };
    let counts = match std::env::var_os("TILEPROOF_SMALL") {
        None => Counts { singles: 1 << 20, slow: 1 << 14, others: 1 << 17 },
        Some(_) => Counts { singles: 1 << 12, slow: 1 << 8, others: 1 << 12 },
    };
    let on = context.clone();
    let gpu: Computer = Arc::new(move |kernel, arguments| {
        let stream = on.new_stream().map_err(|error| error.to_string())?;
        kernel.launch(&stream, arguments).map_err(|error| error.to_string())
    });
    let all = [operations(), divisions_by_zero()].concat();
    let measured = measure_all(all, counts, &gpu, LIMIT, &|line| say(&format!("{line}\n")));
    if let Some(folder) = std::env::var_os("TILEPROOF_NUMERICS") {
        let machine = Machine::of(&context).unwrap();
        let json = serde_json::to_string_pretty(&to_json(&machine, &measured.0, &measured.1)).unwrap();
        std::fs::write(PathBuf::from(folder).join(machine.file_name("numerics")), json + "\n").unwrap();
    }
    judge("the GPU", &measured);
    // A kernel that never ends would be waited for.
    unload(&context);
}
