//! `cargo xtask book`: renders the book and checks what a renderer lets pass.
//!
//! mdBook is a library of this task behind the feature `book`: on two cores a clean build of it takes 34 seconds, where
//! installing the executable takes 76, and its version is pinned by the lockfile. Without the feature the
//! task starts itself again with it.

mod includes;
mod links;
mod readme;

use crate::workspace::{root, shown};
use std::path::{Path, PathBuf};

/// Renders `book/` into `book/output/` and, unless told otherwise, checks it.
///
/// # Errors
/// If a chapter cannot be rendered, includes a file, anchor or line that does not exist, or holds a broken link; or if
/// README.md shows an error that no UI test produces. Every such place is listed.
pub(crate) fn run(render_only: bool) -> Result<(), String> {
    let book = root().join("book");
    let output = book.join("output");
    render(&book)?;
    if render_only {
        return Ok(());
    }
    let mut problems = includes::broken(&book.join("src"))?;
    problems.extend(readme::stale(root())?);
    problems.extend(links::broken(&output)?);
    if problems.is_empty() {
        println!("the book is in {}", shown(&output.join("index.html")));
        Ok(())
    } else {
        Err(format!("{} broken:\n  {}", problems.len(), problems.join("\n  ")))
    }
}

#[cfg(feature = "book")]
fn render(book: &Path) -> Result<(), String> {
    mdbook_driver::MDBook::load(book)
        .and_then(|book| book.build())
        .map_err(|error| format!("cannot render {}: {error:#}", shown(book)))
}

/// Starts this task again with mdBook compiled in.
#[cfg(not(feature = "book"))]
fn render(_book: &Path) -> Result<(), String> {
    let again = ["run", "--quiet", "--package=xtask", "--features=book", "--", "book", "--render-only"];
    crate::step::run(crate::workspace::cargo(&again))
}

/// All files below a folder with one extension, sorted.
fn files(folder: &Path, extension: &str) -> Result<Vec<PathBuf>, String> {
    let fail = |error| format!("cannot list {}: {error}", shown(folder));
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fail)? {
        let path = entry.map_err(fail)?.path();
        if path.is_dir() {
            found.extend(files(&path, extension)?);
        } else if path.extension().is_some_and(|e| e == extension) {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", shown(path)))
}
