//! `#[budget(bank_conflict = n, excess_sectors = n, because = "…")]`.

use super::responsibility;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::span::SpanId;
use syn::parse::ParseStream;
use syn::{Attribute, LitInt, LitStr};

/// A budget as written.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Accepted excess wavefronts of one warp instruction.
    pub bank_conflict: Option<u32>,
    /// Accepted excess sectors of one warp instruction.
    pub excess_sectors: Option<u32>,
    /// Why.
    pub because: String,
    /// The attribute.
    pub span: SpanId,
}

/// Takes the budget off a list of attributes.
pub fn take_budget(attributes: &mut Vec<Attribute>, diagnostics: &mut Diagnostics) -> Option<Budget> {
    let example = "`#[budget(bank_conflict = 31, because = \"shows the cost\")]`, or `excess_sectors = …`";
    let mut taken = responsibility::take(attributes, "budget", example, read, diagnostics).into_iter();
    let first = taken.next();
    for budget in taken {
        diagnostics.report(
            Diagnostic::new(Code::Attribute, budget.span, "a second budget on one statement")
                .help("write one: `#[budget(bank_conflict = 1, excess_sectors = 4, because = \"…\")]`"),
        );
    }
    first
}

/// How much is accepted.
fn cost(input: ParseStream<'_>) -> syn::Result<u32> {
    let literal: LitInt = input.parse()?;
    literal.base10_parse().map_err(|_| {
        syn::Error::new(literal.span(), format!("a cost is a whole number, and `{literal}` is none"))
    })
}

fn read(attribute: &Attribute, span: SpanId) -> syn::Result<Budget> {
    let mut budget = Budget { bank_conflict: None, excess_sectors: None, because: String::new(), span };
    attribute.parse_nested_meta(|meta| {
        if meta.path.is_ident("bank_conflict") {
            budget.bank_conflict = Some(cost(meta.value()?)?);
        } else if meta.path.is_ident("excess_sectors") {
            budget.excess_sectors = Some(cost(meta.value()?)?);
        } else if meta.path.is_ident("because") {
            budget.because = meta.value()?.parse::<LitStr>()?.value();
        } else {
            return Err(meta.error("a budget takes `bank_conflict`, `excess_sectors` and `because`"));
        }
        Ok(())
    })?;
    if budget.because.trim().is_empty() {
        return Err(syn::Error::new_spanned(attribute, "a budget needs its reason: `because = \"…\"`"));
    }
    if budget.bank_conflict.is_none() && budget.excess_sectors.is_none() {
        return Err(syn::Error::new_spanned(
            attribute,
            "a budget names a cost: `bank_conflict = n` or `excess_sectors = n`",
        ));
    }
    Ok(budget)
}
