//! `cargo xtask bless`: takes what the tests now produce as what they shall produce.

use crate::setup;
use crate::step;
use crate::workspace::{cargo, root};
use std::process::Command;

/// The packages that own golden files or UI tests.
const PACKAGES: [&str; 4] = [
    "--package=tileproof-compiler",
    "--package=tileproof",
    "--package=tileproof-tests",
    "--package=tileproof-benches",
];

/// Runs the golden and UI tests so that they overwrite their files, then shows which files changed.
///
/// # Errors
/// If a test fails for another reason than its golden file.
pub(crate) fn run(filter: Option<&str>) -> Result<(), String> {
    let tools = setup::tools()?;
    let mut command = cargo(&["test", "--tests", "--no-fail-fast"]);
    command.args(PACKAGES).args(filter).env("UPDATE_EXPECT", "1").env("TRYBUILD", "overwrite");
    tools.apply(&mut command);
    let result = step::run(command);
    println!("\nChanged, to be read before it is committed:");
    let mut changed = Command::new("git");
    changed.current_dir(root()).args([
        "status", "--short", "--", "*.cu", "*.ir", "*.report", "*.stderr", "*.txt", "*.rs", "*.md", "*.in",
        "*.svg",
    ]);
    step::run(changed)?;
    result
}
