//! The book's reference chapter says what the compiler does.
//!
//! Every block and every row of a table below `book/src/reference/` that shows what becomes of some Rust is computed here
//! from that Rust and compared; `UPDATE_EXPECT=1` (or `cargo xtask bless`) writes the pages anew. The module
//! [`page`] says how a page is written.
//!
//! What the compiler accepts also goes into `accepted.rs`, a test of its own, where rustc checks the kept bodies with the real
//! prelude. NVRTC compiles the CUDA texts, without a warning.

mod frame;
mod machine;
mod outcome;
mod page;

use expect_test::expect_file;
use page::Page;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tileproof::{Architecture, IndexWidth};
use tileproof_tests::{cuda, needs};

/// The pages in order of their names.
fn pages() -> Vec<(PathBuf, Page)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src/reference");
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the chapter's folder")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    let texts: Vec<String> =
        paths.iter().map(|path| std::fs::read_to_string(path).expect("a page")).collect();
    let frames = frame::frames(&texts);
    paths
        .into_iter()
        .zip(&texts)
        .map(|(path, text)| {
            let page = Page::read(text, &frames).unwrap_or_else(|error| panic!("{}:{error}", path.display()));
            (path, page)
        })
        .collect()
}

#[test]
fn the_pages_say_what_the_compiler_does() {
    let mut problems = Vec::new();
    let mut accepted = String::from(
        "// Written by the test `reference` from the pages of the book: UPDATE_EXPECT=1 writes it anew.\n",
    );
    for (path, page) in pages() {
        problems.extend(page.problems.iter().map(|problem| format!("{}:{problem}", path.display())));
        let name = path.file_stem().expect("a name").to_string_lossy().replace('-', "_").to_lowercase();
        let _ = write!(accepted, "\nmod {name} {{\n{}}}\n", page.accepted);
        expect_file![path].assert_eq(&page.text);
    }
    expect_file![Path::new(env!("CARGO_MANIFEST_DIR")).join("reference/accepted.in")].assert_eq(&accepted);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn nvrtc_accepts_the_texts() {
    if needs::nvrtc_dir().is_none() {
        return;
    }
    let mut problems = Vec::new();
    for (path, page) in pages() {
        for (line, text) in page.cuda {
            for architecture in [Architecture::new(7, 5), Architecture::new(9, 0)] {
                match cuda::compile(&text, architecture, IndexWidth::Narrow) {
                    Ok(compiled) if compiled.warnings.is_empty() => {}
                    Ok(compiled) => problems.push(format!("{}:{line}: {}", path.display(), compiled.log)),
                    Err(error) => problems.push(format!("{}:{line}: {error}", path.display())),
                }
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
