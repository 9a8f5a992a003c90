//! The budget and the trusts of statements.

use super::Lower;
use crate::ast;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{Budget, Handle, Trust, Trusted};
use crate::span::SpanId;
use syn::Attribute;

/// What the source takes responsibility for.
#[derive(Clone, Copy, Default)]
pub(super) struct Responsibility {
    /// The budget in force.
    pub(super) budget: Option<Handle<Budget>>,
    /// The innermost trust in force.
    pub(super) trust: Option<Handle<Trust>>,
}

/// What ends with a statement.
pub(super) struct Outer {
    responsibility: Responsibility,
    /// Where the statement begins.
    start: SpanId,
}

impl Lower<'_> {
    /// Begins a statement: what its attributes say is in force until [`Lower::end_responsibility`].
    pub(super) fn begin_responsibility(&mut self, attributes: &mut Vec<Attribute>) -> Outer {
        let outer = Outer { responsibility: self.responsibility, start: self.diagnostics.spans.next() };
        if let Some(budget) = ast::take_budget(attributes, self.diagnostics) {
            self.responsibility.budget = Some(self.add_budget(&budget));
        }
        for trust in ast::take_trusts(attributes, self.diagnostics) {
            self.add_trust(&trust);
        }
        outer
    }

    /// Ends it.
    pub(super) fn end_responsibility(&mut self, outer: Outer) {
        let Outer { responsibility, start } = outer;
        if let Some(trust) = self.responsibility.trust
            && responsibility.trust != Some(trust)
        {
            let spans = start..self.diagnostics.spans.next();
            self.kernel.trusted.push(Trusted { spans, trust });
        }
        self.responsibility = responsibility;
    }

    /// Reports the attributes that are left on a statement.
    pub(super) fn refuse_attributes(&mut self, attributes: &[Attribute]) {
        for attribute in attributes.iter().filter(|attribute| !attribute.path().is_ident("allow")) {
            let span = self.span(attribute);
            self.diagnostics.report(
                Diagnostic::new(Code::Unsupported, span, "this attribute means nothing in a kernel")
                    .help("a statement can have `#[budget(…)]` and `#[trust(…)]`, a `for` loop also `#[unroll]`, `#[unroll(4)]` or `#[no_unroll]`"),
            );
        }
    }

    /// A budget in a helper function is one, however often that is called.
    pub(super) fn add_budget(&mut self, budget: &ast::Budget) -> Handle<Budget> {
        if !self.calls.is_empty() {
            let place = |span| {
                let start = self.diagnostics.spans.get(span).start.start();
                (start.line, start.column)
            };
            let own = place(budget.span);
            let same = self.kernel.budgets.iter().find(|(_, other)| place(other.span) == own);
            if let Some((handle, _)) = same {
                return handle;
            }
        }
        self.kernel.budgets.add(Budget {
            bank_conflict: budget.bank_conflict,
            excess_sectors: budget.excess_sectors,
            because: budget.because.clone(),
            span: budget.span,
        })
    }

    /// A trust inside the one in force; it is in force now.
    pub(super) fn add_trust(&mut self, trust: &ast::Trust) {
        let ast::Trust { claims, because, span } = trust.clone();
        let outer = self.responsibility.trust;
        self.responsibility.trust = Some(self.kernel.trusts.add(Trust { claims, because, outer, span }));
    }
}
