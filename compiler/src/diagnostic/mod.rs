//! Diagnostics: what is wrong, where, why, and what to do.
//!
//! Every pass takes `&mut Diagnostics`, reports and goes on. There are two stage barriers: after lowering and after the
//! checks. One root cause is one diagnostic; they come out in order of the source.

mod code;
mod merge;
mod render;

pub use code::Code;
pub use merge::Said;
pub(crate) use merge::merge;
pub(crate) use render::{compile_error, panic};
pub use render::{compile_errors, to_text};

use crate::span::{SpanId, SpanTable};

/// One error.
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    /// The kind of error.
    pub code: Code,
    /// Where.
    pub span: SpanId,
    /// What: lower case, no full stop.
    pub message: String,
    /// Why: the witness.
    pub notes: Vec<String>,
    /// How to mend it; only what was tried.
    pub helps: Vec<String>,
}

impl Diagnostic {
    /// An error with its message.
    pub fn new(code: Code, span: SpanId, message: impl Into<String>) -> Diagnostic {
        Diagnostic { code, span, message: message.into(), notes: Vec::new(), helps: Vec::new() }
    }

    /// Adds a note.
    pub fn note(mut self, note: impl Into<String>) -> Diagnostic {
        self.notes.push(note.into());
        self
    }

    /// Adds a help.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.helps.push(help.into());
        self
    }
}

/// Where errors go, with the spans that they and the IR refer to.
#[derive(Debug, Default)]
pub struct Diagnostics {
    /// The spans.
    pub spans: SpanTable,
    errors: Vec<Diagnostic>,
    deferred: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Reports an error. What is wrong in a helper function is one error, however often it is called; it names the first
    /// call.
    pub fn report(&mut self, mut diagnostic: Diagnostic) {
        let same = |other: &Diagnostic| {
            *other == diagnostic || (self.is_inlined(&diagnostic) && self.is_same_place(other, &diagnostic))
        };
        if !self.errors.iter().any(same) {
            diagnostic.notes.extend(self.spans.calls(diagnostic.span));
            self.errors.push(diagnostic);
        }
    }

    fn is_inlined(&self, diagnostic: &Diagnostic) -> bool {
        self.spans.get(diagnostic.span).call.is_some()
    }

    /// Whether two errors say the same of one piece of source.
    fn is_same_place(&self, a: &Diagnostic, b: &Diagnostic) -> bool {
        let place = |diagnostic: &Diagnostic| {
            let stretch = self.spans.get(diagnostic.span);
            let (start, end) = (stretch.start.start(), stretch.end.end());
            (start.line, start.column, end.line, end.column)
        };
        a.code == b.code && a.message == b.message && place(a) == place(b)
    }

    /// Reports something that rustc will explain better if it is an error in Rust too: a type, a name, a borrow. It
    /// becomes an error of ours only where rustc accepts the body. A name is one cause, however often it is used.
    pub fn defer(&mut self, mut diagnostic: Diagnostic) {
        let same = |other: &Diagnostic| match diagnostic.code {
            Code::Name => other.code == Code::Name && other.message == diagnostic.message,
            _ => {
                *other == diagnostic
                    || (self.is_inlined(&diagnostic) && self.is_same_place(other, &diagnostic))
            }
        };
        if !self.deferred.iter().any(same) {
            diagnostic.notes.extend(self.spans.calls(diagnostic.span));
            self.deferred.push(diagnostic);
        }
    }

    /// Where an instance of a generic kernel reports: what these spans are is known, and nothing has been reported.
    pub fn of_instance(&self) -> Diagnostics {
        Diagnostics { spans: self.spans.clone(), errors: Vec::new(), deferred: Vec::new() }
    }

    /// Whether the kernel cannot be compiled.
    pub fn is_failed(&self) -> bool {
        !(self.errors.is_empty() && self.deferred.is_empty())
    }

    /// The errors in order of the source.
    pub fn errors(&self) -> Vec<&Diagnostic> {
        self.sorted(&self.errors)
    }

    /// What becomes an error only where rustc accepts the body, in order of the source.
    pub fn deferred(&self) -> Vec<&Diagnostic> {
        self.sorted(&self.deferred)
    }

    fn sorted<'a>(&self, list: &'a [Diagnostic]) -> Vec<&'a Diagnostic> {
        let mut list: Vec<&Diagnostic> = list.iter().collect();
        list.sort_by_key(|error| {
            let start = self.spans.get(error.span).start.start();
            (start.line, start.column, error.code)
        });
        list
    }
}
