//! Includes of the book's sources. mdBook only logs a file that is missing, and prints nothing for an anchor that is.

use super::{files, read};
use crate::workspace::shown;
use std::path::{Path, PathBuf};

/// What a chapter includes.
#[derive(Debug, PartialEq, Eq)]
struct Include {
    /// The line of the chapter, counted from 1.
    line: usize,
    /// Relative to the chapter.
    path: PathBuf,
    part: Part,
}

/// Which part of the file.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    Whole,
    /// Between `ANCHOR: name` and `ANCHOR_END: name`.
    Anchor(String),
    /// From a line to a line, counted from 1; the last one is what must exist.
    Lines(usize),
}

/// Describes every include below `source` whose file, anchor or line does not exist.
///
/// # Errors
/// If a chapter cannot be read.
pub(super) fn broken(source: &Path) -> Result<Vec<String>, String> {
    let mut problems = Vec::new();
    for chapter in files(source, "md")? {
        let folder = chapter.parent().unwrap_or(source);
        for include in parse(&read(&chapter)?) {
            let path = folder.join(&include.path);
            let place = format!("{}:{}", shown(&chapter), include.line);
            match std::fs::read_to_string(&path) {
                Err(error) => {
                    problems.push(format!("{place}: cannot include {}: {error}", include.path.display()));
                }
                Ok(text) => {
                    if let Some(lack) = lacks(&text, &include.part) {
                        problems.push(format!("{place}: {} {lack}", include.path.display()));
                    }
                }
            }
        }
    }
    Ok(problems)
}

fn parse(chapter: &str) -> Vec<Include> {
    let mut includes = Vec::new();
    for (index, line) in chapter.lines().enumerate() {
        for (start, _) in line.match_indices("{{#") {
            // A backslash prints the braces themselves.
            if line[..start].ends_with('\\') {
                continue;
            }
            let Some((inside, _)) = line[start + 3..].split_once("}}") else { continue };
            let Some(("include" | "rustdoc_include" | "playground", target)) = inside.split_once(' ') else {
                continue;
            };
            let target = target.split_whitespace().next().unwrap_or("");
            let (path, part) = match target.split_once(':') {
                None => (target, Part::Whole),
                Some((path, range)) => (path, part(range)),
            };
            includes.push(Include { line: index + 1, path: PathBuf::from(path), part });
        }
    }
    includes
}

/// Reads what stands behind the file's name: an anchor, `LINE`, `FIRST:LAST`, `FIRST:` or `:LAST`.
fn part(range: &str) -> Part {
    let mut ends = range.split(':').filter(|end| !end.is_empty()).map(str::parse::<usize>);
    match (ends.next(), ends.next()) {
        (Some(Ok(line)), None) | (Some(Ok(_)), Some(Ok(line))) => Part::Lines(line),
        _ => Part::Anchor(range.to_owned()),
    }
}

fn lacks(text: &str, part: &Part) -> Option<String> {
    match part {
        Part::Whole => None,
        Part::Anchor(name) => ["ANCHOR", "ANCHOR_END"].iter().find_map(|word| {
            let mark = format!("{word}: {name}");
            let marked = text.lines().any(|line| {
                line.split_once(&mark)
                    .is_some_and(|(_, rest)| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
            });
            (!marked).then(|| format!("has no `{mark}`"))
        }),
        Part::Lines(last) => {
            let count = text.lines().count();
            (*last > count).then(|| format!("ends at line {count}, before {last}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn includes_are_found_with_their_part() {
        let chapter = "text\n{{#include ../a.rs:copy}}\n`\\{{#include no.rs}}` {{#include b.cu}} {{#rustdoc_include c.rs:2:9}}\n\
                       {{#title x}} {{#include d.rs:7}} {{#include e.rs::4}}";
        let includes = parse(chapter);
        let found: Vec<(usize, &str, &Part)> =
            includes.iter().map(|i| (i.line, i.path.to_str().unwrap(), &i.part)).collect();
        let copy = Part::Anchor("copy".into());
        assert_eq!(
            found,
            [
                (2, "../a.rs", &copy),
                (3, "b.cu", &Part::Whole),
                (3, "c.rs", &Part::Lines(9)),
                (4, "d.rs", &Part::Lines(7)),
                (4, "e.rs", &Part::Lines(4)),
            ]
        );
    }

    #[test]
    fn an_anchor_needs_both_ends_and_its_whole_name() {
        let text = "// ANCHOR: copy_all\nx\n// ANCHOR_END: copy_all\n// ANCHOR: open\n";
        assert_eq!(lacks(text, &Part::Anchor("copy_all".into())), None);
        assert_eq!(lacks(text, &Part::Anchor("copy".into())), Some("has no `ANCHOR: copy`".into()));
        assert_eq!(lacks(text, &Part::Anchor("open".into())), Some("has no `ANCHOR_END: open`".into()));
    }

    #[test]
    fn lines_must_exist() {
        assert_eq!(lacks("a\nb\n", &Part::Lines(2)), None);
        assert_eq!(lacks("a\nb\n", &Part::Lines(3)), Some("ends at line 2, before 3".into()));
    }
}
