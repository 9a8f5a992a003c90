//! Indented lines, and the source that each of them comes from.

use crate::span::SpanId;

/// Text that grows by lines.
#[derive(Default)]
pub(super) struct Out {
    pub(super) text: String,
    /// Lines counted from 1, in ascending order, with their source.
    pub(super) lines: Vec<(u32, SpanId)>,
    line: u32,
    depth: usize,
}

impl Out {
    /// One line at the current depth; an empty one stays empty.
    pub(super) fn line(&mut self, line: &str) {
        if !line.is_empty() {
            self.text.extend(std::iter::repeat_n("    ", self.depth));
            self.text.push_str(line);
        }
        self.text.push('\n');
        self.line += 1;
    }

    /// One line that comes from the source.
    pub(super) fn statement(&mut self, span: SpanId, line: &str) {
        self.lines.push((self.line + 1, span));
        self.line(line);
    }

    /// Several lines, each at the current depth.
    pub(super) fn lines(&mut self, text: &str) {
        text.lines().for_each(|line| self.line(line));
    }

    pub(super) fn indent(&mut self) {
        self.depth += 1;
    }

    pub(super) fn dedent(&mut self) {
        self.depth -= 1;
    }

    /// Everything in `other`, as it is.
    pub(super) fn append(&mut self, other: &Out) {
        self.lines.extend(other.lines.iter().map(|(line, span)| (self.line + line, *span)));
        self.text.push_str(&other.text);
        self.line += other.line;
    }
}
