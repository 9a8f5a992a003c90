//! `#[trust(bounds, race, because = "…")]`, and the same among the arguments of a kernel's attribute.

use super::responsibility;
use crate::diagnostic::Diagnostics;
use crate::span::SpanId;
use syn::parse::ParseStream;
use syn::visit::Visit;
use syn::{Attribute, Ident, LitStr, Token};
use tileproof_model::report::Claim;

/// A trust as written.
#[derive(Clone, Debug)]
pub struct Trust {
    /// What is taken for granted, without repetition.
    pub claims: Vec<Claim>,
    /// Why.
    pub because: String,
    /// The attribute.
    pub span: SpanId,
}

/// What a trust may say in its parentheses.
pub(super) const EXAMPLE: &str = "bounds, because = \"the keys are below the number of bins\"";

/// Takes the trusts off a list of attributes.
pub fn take_trusts(attributes: &mut Vec<Attribute>, diagnostics: &mut Diagnostics) -> Vec<Trust> {
    let read = |attribute: &Attribute, span| {
        attribute.parse_args_with(|input: ParseStream<'_>| arguments(input, span))
    };
    let example = format!("`#[trust({EXAMPLE})]`");
    responsibility::take(attributes, "trust", &example, read, diagnostics)
}

/// Reads what stands in the parentheses.
pub(super) fn arguments(input: ParseStream<'_>, span: SpanId) -> syn::Result<Trust> {
    let mut trust = Trust { claims: Vec::new(), because: String::new(), span };
    let end = input.span();
    while !input.is_empty() {
        let key: Ident = input.parse()?;
        let name = key.to_string();
        if name == "because" {
            input.parse::<Token![=]>()?;
            trust.because = input.parse::<LitStr>()?.value();
        } else if let Some(claim) = Claim::ALL.into_iter().find(|claim| claim.name() == name) {
            if trust.claims.contains(&claim) {
                return Err(syn::Error::new(key.span(), format!("`{name}` is claimed twice")));
            }
            trust.claims.push(claim);
        } else {
            let names = Claim::ALL.map(|claim| format!("`{}`", claim.name())).join(", ");
            return Err(syn::Error::new(key.span(), format!("a trust takes {names} and `because`")));
        }
        if !input.is_empty() {
            input.parse::<Token![,]>()?;
        }
    }
    if trust.because.trim().is_empty() {
        return Err(syn::Error::new(end, "a trust needs its reason: `because = \"…\"`"));
    }
    if trust.claims.is_empty() {
        return Err(syn::Error::new(end, "a trust names what is not proven, such as `bounds`"));
    }
    Ok(trust)
}

impl super::Kernel {
    /// Whether the source takes something for granted, in the kernel or in what is around it that it uses.
    pub fn takes_trust(&self) -> bool {
        let mut finder = Finder(!self.trusts.is_empty());
        finder.visit_item_fn(&self.source.item);
        self.shared.iter().for_each(|item| finder.visit_item(item));
        finder.0
    }
}

/// Finds the attribute.
struct Finder(bool);

impl<'ast> Visit<'ast> for Finder {
    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        self.0 |= attribute.path().is_ident("trust");
    }
}
