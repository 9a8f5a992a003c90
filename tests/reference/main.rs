//! The book's reference chapter says what the compiler does.
//!
//! Every block and every row of a table below `book/src/reference/` and `book/src/errors/` that shows what becomes of some Rust is computed here
//! from that Rust and compared; `UPDATE_EXPECT=1` (or `cargo xtask bless`) writes the pages anew. The module
//! [`page`] says how a page is written.
//!
//! What the compiler accepts also goes into `accepted.rs`, a test of its own, where rustc checks the kept bodies with the real
//! prelude. NVRTC compiles the CUDA texts, without a warning.

mod catalogue;
mod frame;
mod machine;
mod outcome;
mod page;

use expect_test::expect_file;
use page::Page;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use tileproof::{Architecture, IndexWidth};
use tileproof_compiler::diagnostic::Code;
use tileproof_compiler::ir::FUNCTIONS;
use tileproof_tests::{cuda, needs};

/// The pages, computed once for all tests.
static PAGES: LazyLock<Vec<(PathBuf, Page)>> = LazyLock::new(pages);

/// The pages of the reference and of the catalogue of errors, in order of their names.
fn pages() -> Vec<(PathBuf, Page)> {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src");
    let mut paths: Vec<PathBuf> = ["reference", "errors"]
        .into_iter()
        .flat_map(|folder| std::fs::read_dir(book.join(folder)).expect("the chapter's folder"))
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
    for (path, page) in &*PAGES {
        problems.extend(page.problems.iter().map(|problem| format!("{}:{problem}", path.display())));
        let name = path.file_stem().expect("a name").to_string_lossy().replace('-', "_").to_lowercase();
        let _ = write!(accepted, "\nmod {name} {{\n{}}}\n", page.accepted);
        expect_file![path.clone()].assert_eq(&page.text);
    }
    expect_file![Path::new(env!("CARGO_MANIFEST_DIR")).join("reference/accepted.in")].assert_eq(&accepted);
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// Users of the library read of errors in its documentation.
#[test]
fn the_documentation_has_the_table_of_errors() {
    let documentation = include_str!("../../runtime/src/vocabulary/number.rs");
    for row in page::approximated() {
        assert!(documentation.contains(&format!("/// {row}\n")), "number.rs lacks the row {row}");
    }
}

/// What has a name has a place in the chapter: functions, and the words of the prelude.
#[test]
fn nothing_is_left_out() {
    let whole: String = PAGES.iter().map(|(_, page)| page.text.as_str()).collect();
    let functions = FUNCTIONS.iter().map(|row| row.name).filter(|name| !whole.contains(&format!("{name}(")));
    let prelude = include_str!("../../runtime/src/prelude.rs");
    let words = prelude
        .split_once("pub use")
        .map_or("", |(_, uses)| uses)
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .filter(|word| !["", "pub", "use", "crate", "host", "view", "vocabulary", "half"].contains(word))
        .filter(|word| !word.starts_with("tileproof") && !TRAITS.contains(word))
        .filter(|word| !whole.contains(word));
    let missing: Vec<String> = functions.chain(words).map(str::to_owned).collect();
    assert!(missing.is_empty(), "the reference says nothing of {}", missing.join(", "));
}

/// Words of the prelude that are bounds of its functions or carry its methods, and are not written in a kernel.
const TRAITS: [&str; 8] =
    ["AtomicElement", "AtomicInteger", "CastTo", "Exchange", "FloatExt", "HalfExt", "Number", "WholeTile"];

/// The catalogue has a whole page for every code.
#[test]
fn every_code_has_a_page() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../book/src");
    let summary = std::fs::read_to_string(book.join("SUMMARY.md")).expect("the summary");
    let mut problems = Vec::new();
    for code in Code::ALL.map(Code::number) {
        let page = PAGES.iter().find(|(path, _)| path.ends_with(format!("errors/{code}.md")));
        problems.extend(catalogue::problems(code, page.map(|(_, page)| page), &summary));
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// For the first architecture that the kernel is for, and for sm_90.
#[test]
fn nvrtc_accepts_the_texts() {
    if needs::nvrtc_dir().is_none() {
        return;
    }
    let texts: Vec<(String, &str, Architecture)> = PAGES
        .iter()
        .flat_map(|(path, page)| page.cuda.iter().map(move |text| (path, text)))
        .flat_map(|(path, text)| {
            let names = text.architectures.iter().enumerate();
            let names = names.filter(|(index, name)| *index == 0 || **name == "sm_90");
            names.map(move |(_, name)| {
                let architecture = name.parse().expect("a name that the runtime knows");
                (format!("{}:{}", path.display(), text.line), text.cuda.as_str(), architecture)
            })
        })
        .collect();
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut problems = Vec::new();
        while let Some((place, text, architecture)) = texts.get(next.fetch_add(1, Ordering::Relaxed)) {
            match cuda::compile(text, *architecture, IndexWidth::Narrow) {
                Ok(compiled) if compiled.warnings.is_empty() => {}
                Ok(compiled) => problems.push(format!("{place}: {}", compiled.log)),
                Err(error) => problems.push(format!("{place}: {error}")),
            }
        }
        problems
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let problems: Vec<String> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a worker")).collect()
    });
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
