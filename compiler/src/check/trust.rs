//! What the source takes for granted where a check cannot decide.
//!
//! A check that cannot prove what it must asks here before it reports: an answer means that the source answers for it. What
//! is known to be wrong is never asked. Each question that is answered is noted, because a trust that nothing needs is an
//! error, and because each is a promise that the caller of an unsafe launch makes.

use super::words::and;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::{Claim, Handle, Kernel, Site, Trust};
use crate::span::SpanId;
use tileproof_model::report::TrustReport;

/// The promises on which the kernel rests.
#[derive(Debug, Default)]
pub(super) struct Needed(Vec<Promise>);

#[derive(Debug, PartialEq, Eq)]
struct Promise {
    trust: Handle<Trust>,
    claim: Claim,
    /// What it is about.
    span: SpanId,
}

/// The trust that covers an access for this claim. To be asked where the claim is not proven, and only there.
pub(super) fn trusts<'a>(
    kernel: &'a Kernel,
    site: Handle<Site>,
    claim: Claim,
    needed: &mut Needed,
) -> Option<&'a Trust> {
    note(kernel, kernel.trust_of(site, claim), claim, kernel.sites[site].span, needed)
}

/// The same for what is no access, such as a barrier or an expression.
pub(super) fn trusts_at<'a>(
    kernel: &'a Kernel,
    span: SpanId,
    claim: Claim,
    needed: &mut Needed,
) -> Option<&'a Trust> {
    note(kernel, kernel.trust_at(span, claim), claim, span, needed)
}

fn note<'a>(
    kernel: &'a Kernel,
    trust: Option<Handle<Trust>>,
    claim: Claim,
    span: SpanId,
    needed: &mut Needed,
) -> Option<&'a Trust> {
    let promise = Promise { trust: trust?, claim, span };
    let trust = &kernel.trusts[promise.trust];
    if !needed.0.contains(&promise) {
        needed.0.push(promise);
    }
    Some(trust)
}

/// Reports what is trusted and not needed. One in a helper function is one, however often that is called.
pub(super) fn check(kernel: &Kernel, needed: &Needed, diagnostics: &mut Diagnostics) {
    let place = |trust: Handle<Trust>| {
        let start = diagnostics.spans.get(kernel.trusts[trust].span).start.start();
        (start.line, start.column)
    };
    let mut errors = Vec::new();
    for (first, trust) in kernel.trusts.iter() {
        let alike = |other: Handle<Trust>| place(other) == place(first);
        if kernel.trusts.handles().find(|other| alike(*other)) != Some(first) {
            continue;
        }
        let is_needed =
            |claim: &Claim| needed.0.iter().any(|promise| promise.claim == *claim && alike(promise.trust));
        let needless: Vec<Claim> = trust.claims.iter().copied().filter(|claim| !is_needed(claim)).collect();
        if needless.is_empty() {
            continue;
        }
        let names: Vec<String> = needless.iter().map(|claim| format!("`{}`", claim.name())).collect();
        let names = and(&names);
        let verb = if needless.len() == 1 { "is" } else { "are" };
        let message = format!("this trust covers nothing: {names} {verb} not needed");
        let mut error = Diagnostic::new(Code::Trust, trust.span, message);
        for claim in &needless {
            error = error.note(match claim {
                Claim::Race => "it is proven that nothing here can race",
                Claim::Bounds => "it is proven that every index here stays inside",
                Claim::Initialised => {
                    "it is proven that all that is read here of shared memory has been written"
                }
                Claim::Barriers => {
                    "it is proven that the barriers and collectives here are reached by all who take part"
                }
                Claim::Range => "it is proven that the index arithmetic here stays in its range",
            });
        }
        errors.push(match needless.len() == trust.claims.len() {
            true => error.help("remove it: a launch with no trust is a safe function"),
            false => error.help(format!("remove {names} from it")),
        });
    }
    errors.into_iter().for_each(|error| diagnostics.report(error));
}

/// The promises as the report has them, in order of the source.
pub(super) fn rows(kernel: &Kernel, needed: &Needed, diagnostics: &Diagnostics) -> Vec<TrustReport> {
    let mut rows: Vec<TrustReport> = needed
        .0
        .iter()
        .map(|Promise { trust, claim, span }| TrustReport {
            claim: *claim,
            what: diagnostics.spans.get(*span).text.clone().into(),
            line: diagnostics.spans.line(*span),
            because: kernel.trusts[*trust].because.clone().into(),
        })
        .collect();
    rows.sort_by(|a, b| (a.line, a.claim, &a.what).cmp(&(b.line, b.claim, &b.what)));
    rows.dedup();
    rows
}
