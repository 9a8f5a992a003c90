//! Frames: kernels with a gap, into which the short examples go.

use std::collections::BTreeMap;

/// The line that stands for the example.
const GAP: &str = "…";

/// Kernels with a gap, by name.
pub(crate) type Frames = BTreeMap<String, String>;

/// Collects the frames of all pages: the Rust block behind `<!-- frame: NAME -->`.
pub(crate) fn frames(pages: &[String]) -> Frames {
    let mut frames = Frames::new();
    for page in pages {
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            let Some(name) = directive(line, "frame") else { continue };
            let opening = lines.by_ref().find(|line| !line.is_empty()).unwrap_or_default();
            assert!(opening.starts_with("```rust"), "a Rust block behind `{line}`");
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            assert!(block.iter().any(|line| line.trim() == GAP), "the frame {name} has a line `{GAP}`");
            let known = frames.insert(name.to_owned(), block.join("\n"));
            assert!(known.is_none(), "two frames {name}");
        }
    }
    frames
}

/// The frame with `body` in its gap.
pub(crate) fn fill(frame: &str, body: &str) -> String {
    let fill = |line: &str| {
        if line.trim() == GAP {
            let indent = &line[..line.len() - line.trim_start().len()];
            let lines = body.lines().map(|line| format!("{indent}{line}"));
            return lines.collect::<Vec<_>>().join("\n");
        }
        line.to_owned()
    };
    frame.lines().map(fill).collect::<Vec<_>>().join("\n")
}

/// The value of `<!-- key: value -->`.
pub(crate) fn directive<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let inside = line.trim().strip_prefix("<!--")?.strip_suffix("-->")?.trim();
    let value = inside.strip_prefix(key)?.strip_prefix(':')?;
    Some(value.trim())
}
