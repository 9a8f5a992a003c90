//! `cargo xtask test`: everything that a machine without a GPU can check.

use crate::book;
use crate::setup::{self, Tools};
use crate::step::{self, Step, step};
use crate::workspace::cargo;

/// The sizes of the README's example: its default, one element, awkward ones, and nothing.
const EXAMPLE_SIZES: [&[&str]; 5] = [&[], &["1", "1"], &["31", "33"], &["1000", "777"], &["64", "0"]];

/// Runs every step, also behind one that failed; the results of the tests are repeated at the end.
///
/// # Errors
/// If a step failed.
pub(crate) fn run() -> Result<(), String> {
    println!("==> set-up");
    let tools = setup::tools()?;
    let mut results = Vec::new();
    let steps: Vec<Step> = vec![
        step("tests", || tests(&tools, &mut results)),
        step("reports as JSON", || {
            step::run(cargo(&["test", "--package=tileproof-model", "--lib", "--features=serde"]))?;
            step::run(cargo(&["check", "--package=tileproof", "--no-default-features", "--features=serde"]))
        }),
        step("examples", || {
            EXAMPLE_SIZES.iter().try_for_each(|size| example(&tools, "transpose", size))?;
            example(&tools, "add", &[])
        }),
        step("lints", || {
            let lint =
                ["clippy", "--workspace", "--all-targets", "--features=xtask/book", "--", "--deny=warnings"];
            step::run(cargo(&lint))
        }),
        step("documentation", || {
            let mut doc = cargo(&["doc", "--workspace", "--no-deps", "--quiet"]);
            doc.env("RUSTDOCFLAGS", "--deny=warnings");
            step::run(doc)
        }),
        step("format", || step::run(cargo(&["fmt", "--all", "--check"]))),
        step("packages", || {
            step::run(cargo(&["package", "--workspace", "--quiet", "--allow-dirty", "--no-verify"]))
        }),
        step("book", || book::run(false)),
    ];
    println!();
    for line in results {
        println!("{line}");
    }
    step::summary(&steps)
}

fn tests(tools: &Tools, results: &mut Vec<String>) -> Result<(), String> {
    let mut command = cargo(&["test", "--workspace", "--no-fail-fast"]);
    tools.apply(&mut command);
    let (lines, result) = step::run_and_keep(command)?;
    *results = result_lines(&lines);
    result
}

fn example(tools: &Tools, name: &str, arguments: &[&str]) -> Result<(), String> {
    let mut command = cargo(&["run", "--release", "--quiet", "--example", name, "--"]);
    command.args(arguments);
    tools.apply(&mut command);
    step::run(command)
}

/// The summary line of every test executable, behind its name; those without a test are left out.
fn result_lines(output: &[String]) -> Vec<String> {
    let mut name = "";
    let mut results = Vec::new();
    for line in output {
        let line = line.trim();
        if let Some(running) = line.strip_prefix("Running ") {
            // As in `Running unittests src/lib.rs (target/debug/deps/tileproof_tests-343263fb1d17d6a0)`.
            let executable = running.rsplit(['/', '(']).next().unwrap_or(running);
            name = executable.split('-').next().unwrap_or(executable).trim_end_matches(')');
        } else if line.starts_with("Doc-tests ") {
            name = line;
        } else if line.starts_with("test result:") && !line.contains(" 0 passed; 0 failed; 0 ignored") {
            results.push(format!("{name}: {line}"));
        }
    }
    results
}

#[cfg(test)]
mod tests {
    use super::result_lines;

    #[test]
    fn every_executable_with_tests_has_its_summary() {
        let output = "     Running unittests src/lib.rs (target/debug/deps/tileproof_model-9a)
test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
     Running unittests src/lib.rs (target/debug/deps/tileproof_examples-9a)
test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
     Running tests/hardware_model.rs (target/debug/deps/hardware_model-0b)
1606 of 1606 accesses agree
test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s
   Doc-tests tileproof
test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.52s";
        let lines: Vec<String> = output.lines().map(str::to_owned).collect();
        let results = result_lines(&lines);
        let names: Vec<&str> = results.iter().map(|r| r.split(": test result").next().unwrap()).collect();
        assert_eq!(names, ["tileproof_model", "hardware_model", "Doc-tests tileproof"]);
        assert!(results[1].contains("FAILED. 1 passed; 1 failed"));
    }
}
