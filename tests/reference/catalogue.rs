//! The catalogue of errors: what the page of a code must hold.
//!
//! A page is named for its code and titled `# CODE: what it is`. It says what the error means, then shows kernels that cause it, and
//! no other error. Behind `## Mended` stand kernels that the compiler accepts, and behind `## If it is meant` those that take
//! responsibility, where one may; every piece of code that a `help` gives occurs in one of them, so a help that does not compile cannot stay. `## Why`
//! says what the hardware, or Rust, has to do with it.

use crate::page::{Kernels, Page};

/// What the catalogue lacks for this code, and what to write.
pub(crate) fn problems(code: &str, page: Option<&Page>, summary: &str) -> Vec<String> {
    let Some(page) = page else {
        return vec![format!(
            "{code} has no page: write book/src/errors/{code}.md, titled `# {code}: …`, with a kernel and a `text,error` block \
             behind it, `## Mended` with a kernel that compiles, and `## Why`; `cargo xtask bless pages` fills in the errors"
        )];
    };
    let mut problems = Vec::new();
    let Some(name) = page.text.lines().next().and_then(|line| line.strip_prefix(&format!("# {code}: ")))
    else {
        return vec![format!("{code}.md must begin with `# {code}: ` and what it is")];
    };
    let entry = format!("  - [{code}: {name}](errors/{code}.md)");
    if !summary.lines().any(|line| line == entry) {
        problems.push(format!("SUMMARY.md needs the line `{entry}`"));
    }
    let titles = page.text.lines().filter_map(|line| line.strip_prefix("## "));
    let titles: Vec<&str> = titles.collect();
    if !matches!(titles[..], ["Mended", "Why"] | ["Mended", "Why", "If it is meant"]) {
        problems.push(format!("{code}.md needs the sections `## Mended` and `## Why`, and has {titles:?}"));
    }
    let refused: Vec<&Kernels> = page.kernels.iter().filter(|kernels| kernels.section.is_empty()).collect();
    let accepted: Vec<&Kernels> = page
        .kernels
        .iter()
        .filter(|kernels| !kernels.section.is_empty() && kernels.errors.is_empty())
        .collect();
    if refused.iter().all(|kernels| kernels.errors.is_empty()) {
        problems.push(format!("{code}.md shows no kernel with the error, above `## Mended`"));
    }
    if !accepted.iter().any(|kernels| kernels.section == "Mended") {
        problems.push(format!("{code}.md shows no kernel without the error, below `## Mended`"));
    }
    for kernels in refused {
        let errors = kernels.errors.lines().filter(|line| line.starts_with("error: "));
        for line in errors.filter(|line| !line.ends_with(&format!("[{code}]"))) {
            problems.push(format!("{code}.md shows another error: {line}"));
        }
        for help in kernels.errors.lines().filter_map(|line| line.trim().strip_prefix("help: ")) {
            for piece in help.split('`').skip(1).step_by(2) {
                let applied = accepted.iter().any(|kernels| shows(&kernels.source, help, piece));
                if !applied {
                    problems.push(format!("{code}.md: no kernel that compiles applies `{piece}` of: {help}"));
                }
            }
        }
    }
    problems
}

/// Whether the source does what the help says with this piece of code: it has it, or no longer has it.
fn shows(source: &str, help: &str, piece: &str) -> bool {
    let source = bare(source);
    let mut rest = source.as_str();
    let has = bare(piece).split('…').all(|part| match rest.split_once(part) {
        Some((_, behind)) => {
            rest = behind;
            true
        }
        None => false,
    });
    has != help.starts_with("remove")
}

/// Without what differs between a type and an expression, and without white space and comments.
fn bare(code: &str) -> String {
    let lines = code.lines().map(|line| line.split_once("//").map_or(line, |(code, _)| code));
    let text: String = lines.collect::<String>().split_whitespace().collect();
    text.replace("::<", "<")
}
