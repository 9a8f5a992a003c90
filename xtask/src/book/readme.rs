//! The error that README.md shows is one that the compiler gives: it stands in a UI test's expected output.

use super::{files, read};
use std::path::Path;

/// Describes every error block of README.md that no file below `tests/ui/` holds word for word.
///
/// # Errors
/// If the files cannot be read.
pub(super) fn stale(root: &Path) -> Result<Vec<String>, String> {
    let readme = read(&root.join("README.md"))?;
    let blocks = error_blocks(&readme);
    let ui = root.join("tests").join("ui");
    let expected: Vec<String> = match ui.is_dir() {
        true => files(&ui, "stderr")?.iter().map(|file| read(file)).collect::<Result<_, _>>()?,
        false => Vec::new(),
    };
    Ok(blocks
        .into_iter()
        .filter(|(_, block)| !expected.iter().any(|stderr| stderr.contains(block)))
        .map(|(line, _)| format!("README.md:{line}: no tests/ui/**/*.stderr holds this error word for word"))
        .collect())
}

/// The fenced blocks that begin with `error`, with the line of their fence, counted from 1.
fn error_blocks(readme: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (index, line) in readme.lines().enumerate() {
        if line.starts_with("```") {
            match open.take() {
                None => open = Some((index + 1, String::new())),
                Some((start, block)) if block.starts_with("error") => {
                    blocks.push((start, block.trim_end().to_owned()));
                }
                Some(_) => {}
            }
        } else if let Some((_, block)) = &mut open {
            block.push_str(line);
            block.push('\n');
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::error_blocks;

    #[test]
    fn only_fenced_errors_are_taken() {
        let readme =
            "error: not fenced\n```text\nerror: a [TP0101]\n  --> x.rs\n```\n```console\ncargo run\n```\n";
        assert_eq!(error_blocks(readme), [(2, "error: a [TP0101]\n  --> x.rs".to_owned())]);
    }
}
