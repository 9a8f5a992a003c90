//! What the source takes for granted where nothing proves it.

use super::{Handle, Kernel, Site};
use crate::span::SpanId;
use std::ops::Range;
pub use tileproof_model::report::Claim;

/// Responsibility that the source takes for the safety of what it covers, with the reason.
#[derive(Clone, Debug, PartialEq)]
pub struct Trust {
    /// What holds although it is not proven.
    pub claims: Vec<Claim>,
    /// Why.
    pub because: String,
    /// The trust around it, which covers the same and more.
    pub outer: Option<Handle<Trust>>,
    /// The attribute in the source.
    pub span: SpanId,
}

/// A stretch of the source under a trust.
#[derive(Clone, Debug, PartialEq)]
pub struct Trusted {
    /// All that was read there.
    pub spans: Range<SpanId>,
    /// The innermost trust around it.
    pub trust: Handle<Trust>,
}

impl Kernel {
    /// The innermost trust around an access that claims this.
    pub fn trust_of(&self, site: Handle<Site>, claim: Claim) -> Option<Handle<Trust>> {
        self.claimed(self.sites[site].trust, claim)
    }

    /// The innermost trust around a place of the source that claims this.
    pub fn trust_at(&self, span: SpanId, claim: Claim) -> Option<Handle<Trust>> {
        let inner = self.trusted.iter().find(|trusted| trusted.spans.contains(&span));
        self.claimed(inner.map_or(self.trust, |inner| Some(inner.trust)), claim)
    }

    fn claimed(&self, innermost: Option<Handle<Trust>>, claim: Claim) -> Option<Handle<Trust>> {
        std::iter::successors(innermost, |trust| self.trusts[*trust].outer)
            .find(|trust| self.trusts[*trust].claims.contains(&claim))
    }
}
