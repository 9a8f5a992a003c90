//! Who reaches a barrier or a collective together, and what is known of the results.
//!
//! Threads part at conditions and loops. A [`Fork`] says over which threads all go the same way: where that is so over a
//! warp for every fork around a point, each warp is there as a whole or not at all, in one iteration of every loop.

use super::lanes::Lanes;
use super::linear::Linear;
use super::order::is_block_wide;
use super::truth::{Truth, Value};
use super::walk::Walk;
use crate::ir::{Collective, CollectiveOp, Scalar, Scope, Shuffle, Type};
use crate::span::SpanId;
use tileproof_model::access::LANES;

/// A condition or a loop around a point.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fork {
    /// Over which threads all that come to it go the same way.
    pub(super) scope: Scope,
    /// The condition, or the loop's range.
    pub(super) span: SpanId,
}

/// A barrier or collective that not all threads that take part are known to reach together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The call.
    pub span: SpanId,
    /// The function that is called.
    pub function: &'static str,
    /// Whether it yields a value, unlike a barrier.
    pub brings_value: bool,
    /// Who takes part: a warp or a block.
    pub participants: Scope,
    /// The condition or the loop's range at which they may part, the outermost of several.
    pub at: SpanId,
}

impl Walk<'_> {
    /// Over which threads all go to the same side.
    pub(super) fn fork(&self, truth: &Truth, span: SpanId) -> Fork {
        let settled = truth.known_true.or(&truth.known_false).or(&self.mask.not()).is_full();
        let scope = if settled { truth.known_true.scope_within(&self.mask) } else { truth.scope };
        Fork { scope, span }
    }

    /// Notes a barrier that these threads must reach together.
    pub(super) fn meet(&mut self, participants: Scope, function: &'static str, span: SpanId) {
        self.part(participants, function, span, false);
    }

    /// Notes what may part these threads before a barrier, or before what brings them a value.
    pub(super) fn part(
        &mut self,
        participants: Scope,
        function: &'static str,
        span: SpanId,
        brings_value: bool,
    ) {
        let Some(fork) = self.forks.iter().find(|fork| fork.scope < participants) else { return };
        if self.divergences.iter().all(|other| other.span != span) {
            let at = fork.span;
            self.divergences.push(Divergence { span, function, brings_value, participants, at });
        }
    }

    pub(super) fn collective(&mut self, collective: &Collective) {
        let Collective { local, op, operands, span } = collective;
        self.part(op.participants(), op.name(), *span, true);
        if is_block_wide(*op) {
            self.block_barrier(*span);
        }
        let ty = self.kernel.locals[*local].ty;
        let values: Vec<Value> = operands.iter().map(|operand| self.value(*operand)).collect();
        let result = match (op, values.as_slice()) {
            (CollectiveOp::Shuffle(shuffle), [value, by]) => match ty {
                Type::Scalar(scalar) => self.shuffled(*shuffle, value, by, scalar),
                Type::Vector(..) => Value::Data(Scope::Lane),
            },
            (CollectiveOp::Any | CollectiveOp::All, [Value::Truth(truth)]) if truth.scope >= Scope::Warp => {
                Value::Truth(truth.clone())
            }
            (CollectiveOp::BlockAny | CollectiveOp::BlockAll, [Value::Truth(truth)])
                if truth.scope >= Scope::Block =>
            {
                Value::Truth(truth.clone())
            }
            (CollectiveOp::BlockCount, _) => {
                let threads = self.threads as i64;
                self.number(0, threads, Scope::Block, "a count of threads")
            }
            (CollectiveOp::MatchAny, _) => {
                self.opaque_from(Scalar::U32, Scope::Lane, || "a set of lanes".into())
            }
            (CollectiveOp::Ballot, _) => {
                self.opaque_from(Scalar::U32, Scope::Warp, || "a set of lanes".into())
            }
            (CollectiveOp::Any | CollectiveOp::All, _) => Value::Truth(Truth::unknown(Scope::Warp)),
            (CollectiveOp::BlockAny | CollectiveOp::BlockAll, _) => {
                Value::Truth(Truth::unknown(Scope::Block))
            }
            (CollectiveOp::Shuffle(_), _) => self.opaque(ty.scalar(), Scope::Lane),
            (CollectiveOp::MatrixProduct(_), _) => Value::Data(Scope::Lane),
        };
        self.environment[local.index()] = Some(result);
    }

    /// The value of another lane: in the range of all, and the same if they are.
    fn shuffled(&mut self, shuffle: Shuffle, value: &Value, by: &Value, scalar: Scalar) -> Value {
        let name = "a value of another lane";
        let same_source = match by {
            Value::Int(by) => shuffle == Shuffle::Lane && self.symbols.scope(by) >= Scope::Warp,
            Value::Truth(_) | Value::Data(_) => false,
        };
        let scope = if same_source { Scope::Warp } else { Scope::Lane };
        match value {
            Value::Int(form) if self.symbols.scope(form) >= Scope::Warp => Value::Int(form.clone()),
            Value::Int(form) => {
                if let (Some(values), Value::Int(by)) = (form.known(), by)
                    && let Some(by) = by.known()
                {
                    return Value::Int(Linear::constant(self.exchanged(shuffle, values, by)));
                }
                let (low, high) = self.bounds_of(form, scalar);
                match (i64::try_from(low), i64::try_from(high)) {
                    (Ok(low), Ok(high)) => self.number(low, high, scope, name),
                    _ => self.opaque_from(scalar, scope, || name.into()),
                }
            }
            Value::Truth(truth) if truth.scope >= Scope::Warp => Value::Truth(truth.clone()),
            Value::Truth(_) => Value::Truth(Truth::unknown(scope)),
            Value::Data(own) if *own >= Scope::Warp => Value::Data(*own),
            Value::Data(_) => self.opaque_from(scalar, scope, || name.into()),
        }
    }

    /// Known values after a shuffle by known distances.
    fn exchanged(&self, shuffle: Shuffle, values: &Lanes, by: &Lanes) -> Lanes {
        let thread = |thread: usize| {
            let first = thread / LANES * LANES;
            let lanes = (self.threads - first).min(LANES);
            let by = by.get(thread).rem_euclid(LANES as i64) as usize;
            values.get(first + shuffle.source(thread - first, by, lanes))
        };
        Lanes::each((0..self.threads).map(thread).collect())
    }

    /// A number between two, the same for these threads.
    fn number(&mut self, low: i64, high: i64, scope: Scope, name: &str) -> Value {
        match low == high {
            true => Value::Int(Linear::int(low)),
            false => Value::Int(self.between((low.into(), high.into()), scope, name)),
        }
    }
}
