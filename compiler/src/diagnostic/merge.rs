//! What the instances of a generic kernel, and the kernels of a module, have to say: each cause once.

use super::Code;
use super::{Diagnostic, Diagnostics};
use crate::span::{SpanId, SpanTable};
use std::collections::BTreeSet;

/// What the kernels of a module have said so far.
#[derive(Debug, Default)]
pub struct Said(BTreeSet<(Place, Code, String)>);

/// Lines and columns of the first and the last token.
type Place = [usize; 4];

fn place(spans: &SpanTable, span: SpanId) -> Place {
    let stretch = spans.get(span);
    let (start, end) = (stretch.start.start(), stretch.end.end());
    [start.line, start.column, end.line, end.column]
}

impl Said {
    /// Whether this is new; from now on it is not.
    pub(crate) fn is_new(&mut self, diagnostic: &Diagnostic, spans: &SpanTable) -> bool {
        self.0.insert((place(spans, diagnostic.span), diagnostic.code, diagnostic.message.clone()))
    }
}

impl Diagnostics {
    /// Forgets what another kernel of the module has said, such as errors in a constant that they share.
    pub fn say_once(&mut self, said: &mut Said) {
        if self.errors.is_empty() {
            self.deferred.retain(|error| said.is_new(error, &self.spans));
        } else {
            // They would be left to rustc alone.
            self.deferred.clear();
            self.errors.retain(|error| said.is_new(error, &self.spans));
        }
    }
}

/// The diagnostics of instances, in order of the source: of those that are about one place and of one kind, the first, which names
/// its instance. Each comes with the number of that instance and with its spans.
pub(crate) fn merge<'a>(
    instances: &[(&str, &'a Diagnostics)],
    list: impl Fn(&'a Diagnostics) -> Vec<&'a Diagnostic>,
) -> Vec<(Diagnostic, usize, &'a SpanTable)> {
    let mut merged: Vec<(_, Diagnostic, usize, &SpanTable)> = Vec::new();
    let mut counts: Vec<usize> = Vec::new();
    for (number, (name, diagnostics)) in instances.iter().enumerate() {
        let mut own = Vec::new();
        for error in list(diagnostics) {
            let key = (place(&diagnostics.spans, error.span), error.code);
            match merged.iter().position(|(other, _, instance, _)| *other == key && *instance != number) {
                Some(known) if !own.contains(&known) => {
                    own.push(known);
                    counts[known] += 1;
                }
                Some(_) => {}
                None => {
                    let error = error.clone().note(format!("in the instance `{name}`"));
                    merged.push((key, error, number, &diagnostics.spans));
                    counts.push(1);
                }
            }
        }
    }
    for ((_, error, ..), count) in merged.iter_mut().zip(counts) {
        if count > 1
            && let Some(note) = error.notes.last_mut()
        {
            note.push_str(&match count - 1 {
                1 => ", and similarly in one other".to_string(),
                others => format!(", and similarly in {others} others"),
            });
        }
    }
    merged.sort_by_key(|(key, ..)| *key);
    merged.into_iter().map(|(_, error, number, spans)| (error, number, spans)).collect()
}
