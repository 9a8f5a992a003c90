//! The book's pages of measurements, computed from the newest records in `benches/results/`: `ceiling.md` and `labs.md`, with their
//! pictures in `measured/` and their places in the summary. A page without a record is not there.
//!
//! `UPDATE_EXPECT=1` (or `cargo xtask bless pages`) writes them anew.

mod ceiling;
mod labs;
mod plot;
mod records;

use expect_test::expect_file;
use std::path::{Path, PathBuf};

/// A page of the book: its text, and the pictures that it includes.
struct Page {
    /// Its file below `book/src/`.
    file: &'static str,
    /// Its line in the summary.
    title: &'static str,
    text: String,
    /// Files below `book/src/`, with their text.
    pictures: Vec<(String, String)>,
}

fn book() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src")
}

/// The pages for the records in a folder.
fn pages(results: &Path) -> Vec<Page> {
    let groups =
        ["copy", "transpose", "permute"].map(|group| records::newest(results, &format!("ceiling-{group}")));
    let peers = records::newest(results, "peers");
    let labs = records::newest(results, "hierarchy");
    ceiling::page(&groups, peers.as_ref()).into_iter().chain(labs.as_ref().map(labs::page)).collect()
}

/// The summary with the lines of the pages that are there behind the line of the transposes, and without those that are not.
fn summary(current: &str, pages: &[Page]) -> String {
    let all = [ceiling::FILE, labs::FILE];
    let mut lines = Vec::new();
    for line in current.lines().filter(|line| !all.iter().any(|file| line.ends_with(&format!("({file})")))) {
        lines.push(line.to_owned());
        if line.ends_with("(transpose.md)") {
            lines.extend(pages.iter().map(|page| format!("- [{}]({})", page.title, page.file)));
        }
    }
    lines.join("\n") + "\n"
}

#[test]
fn pages_say_what_was_measured() {
    let pages = pages(&Path::new(env!("CARGO_MANIFEST_DIR")).join("results"));
    for file in [ceiling::FILE, labs::FILE] {
        let is_there = pages.iter().any(|page| page.file == file);
        assert!(is_there || !book().join(file).exists(), "{file} has no record in benches/results/");
    }
    let current = std::fs::read_to_string(book().join("SUMMARY.md")).expect("the summary");
    expect_file![book().join("SUMMARY.md")].assert_eq(&summary(&current, &pages));
    if !pages.is_empty() {
        std::fs::create_dir_all(book().join("measured")).expect("a folder for the pictures");
    }
    for page in &pages {
        expect_file![book().join(page.file)].assert_eq(&page.text);
        for (file, picture) in &page.pictures {
            expect_file![book().join(file)].assert_eq(picture);
        }
    }
}

/// The generator on records that nobody measured, which tests alone see.
#[test]
fn a_record_becomes_tables_and_pictures() {
    let pages = pages(&Path::new(env!("CARGO_MANIFEST_DIR")).join("pages/fixture"));
    let files: Vec<&str> = pages.iter().map(|page| page.file).collect();
    assert_eq!(files, [ceiling::FILE, labs::FILE]);
    let [ceiling, labs] = &pages[..] else { panic!("two pages") };
    for line in [
        "| copy f32 1 GiB | `kernels::copy` | 4000 | 0.990 | **1.000** |",
        "| transpose f32 8192 × 8192 | `kernels::copy` | 4000 | – | **0.950** | cublasSgeam 0.760 |",
        "transpose f32 8192 × 8192\n  turned: words\n  rows: an edge\n```",
        "| transpose f32 8192 × 8192 | 4100 | **0.960** | 0.860 | – |",
    ] {
        assert!(ceiling.text.contains(line), "{line}\n{}", ceiling.text);
    }
    for line in [
        "| 4 KiB | the first level | 20.0 |",
        "| 8 | 32.00 | 100.0 | 90.0 | 80.0 |",
        "| 4 × 16 | 131072 | 10000 | 1.000 | 0.950 |",
    ] {
        assert!(labs.text.contains(line), "{line}\n{}", labs.text);
    }
    for page in &pages {
        assert!(!page.pictures.is_empty());
        for (file, picture) in &page.pictures {
            assert!(page.text.contains(&format!("{{{{#include {file}}}}}")), "{file}");
            assert!(picture.starts_with("<svg") && picture.contains("currentColor"), "{picture}");
            // A blank line would end the block of HTML in the page.
            assert!(!picture.contains("\n\n") && !picture.contains("#000000"), "{file}");
        }
    }
    let lines = summary("- [T](transpose.md)\n- [Old](labs.md)\n- [P](profiler.md)\n", &pages[..1]);
    assert_eq!(
        lines,
        format!("- [T](transpose.md)\n- [{}](ceiling.md)\n- [P](profiler.md)\n", ceiling.title)
    );
}
