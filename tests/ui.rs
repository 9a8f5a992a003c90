//! What rustc's users see: every error that a kernel can cause, and kernels that are as close as possible and pass.

use std::path::{Path, PathBuf};
use tileproof_compiler::diagnostic::Code;

#[test]
fn errors_are_as_expected_and_their_mended_kernels_pass() {
    let tests = trybuild::TestCases::new();
    tests.compile_fail("ui/*.rs");
    tests.pass("ui/pass/*.rs");
}

/// The files of `ui/` with this extension.
fn files(extension: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui");
    let entries = std::fs::read_dir(folder).expect("the UI tests");
    let paths = entries.map(|entry| entry.expect("an entry").path());
    paths.filter(|path| path.extension().is_some_and(|found| found == extension)).collect()
}

#[test]
fn every_code_has_a_test() {
    let expected: String =
        files("stderr").iter().map(|path| std::fs::read_to_string(path).expect("text")).collect();
    let untested: Vec<&str> = Code::ALL
        .into_iter()
        .map(Code::number)
        .filter(|number| !expected.contains(&format!("[{number}]")))
        .collect();
    assert!(untested.is_empty(), "no file of tests/ui/ shows {untested:?}");
}

/// In rustc's manner: lower case, no full stop at the end of a line.
#[test]
fn messages_have_the_house_style() {
    for path in files("stderr") {
        let text = std::fs::read_to_string(&path).expect("text");
        for line in text.lines().map(str::trim).filter(|line| line.contains("[TP")) {
            let message = line.strip_prefix("error: ").unwrap_or(line);
            let place = path.display();
            assert!(!message.starts_with(char::is_uppercase), "{place}: {line}");
            assert!(!message.contains(". [TP"), "{place}: {line}");
        }
        for line in text.lines().map(str::trim) {
            let ours = line.starts_with("note: ") || line.starts_with("help: ");
            assert!(!ours || !line.ends_with('.'), "{}: {line}", path.display());
        }
    }
}
