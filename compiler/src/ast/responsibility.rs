//! Attributes by which the source takes responsibility for what the checks would refuse.

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::span::SpanId;
use syn::Attribute;

/// Takes the attributes of this name off a list, in order. One that does not parse is reported, with an example, and left
/// out.
pub(super) fn take<T>(
    attributes: &mut Vec<Attribute>,
    name: &str,
    example: &str,
    read: impl Fn(&Attribute, SpanId) -> syn::Result<T>,
    diagnostics: &mut Diagnostics,
) -> Vec<T> {
    let (mine, rest): (Vec<_>, Vec<_>) =
        std::mem::take(attributes).into_iter().partition(|attribute| attribute.path().is_ident(name));
    *attributes = rest;
    let mut taken = Vec::new();
    for attribute in mine {
        let span = diagnostics.spans.add(&attribute);
        match read(&attribute, span) {
            Ok(read) => taken.push(read),
            Err(error) => diagnostics.report(
                Diagnostic::new(Code::Attribute, span, error.to_string()).help(format!("write {example}")),
            ),
        }
    }
    taken
}
