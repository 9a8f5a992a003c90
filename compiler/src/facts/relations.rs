//! What the variables of a loop keep to: how they compare with each other, with what they were before the loop, and with
//! extents and arguments.
//!
//! Of a loop that one iteration stands for, the analysis knows little about a variable that moves by different amounts. Here
//! inequalities that hold before the loop are assumed at the start of an iteration, and those that do not hold at its
//! end are withdrawn, until none is: what is left holds by induction at every start, and after the loop.

use super::lanes::Lanes;
use super::linear::Linear;
use super::prove::{FactList, follows, tighten};
use super::symbol::SymbolKind;
use super::truth::Value;
use super::walk::Walk;
use crate::ir::{BinaryOp, Expr, ExprKind, Handle, Local};
use std::rc::Rc;

/// How many inequalities are tried for one loop at most.
const MOST_RELATIONS: usize = 32;
/// How often some of them are withdrawn before all are.
const MOST_ROUNDS: u32 = 8;

/// What is not negative: a number that the loop does not change, and variables, each added or taken away.
struct Relation {
    fixed: Linear,
    variables: Vec<(Handle<Local>, i64)>,
}

/// The inequalities of a loop.
pub(super) struct Relations {
    list: Vec<Relation>,
    /// The variables, and what they held before the loop.
    variables: Vec<(Handle<Local>, Linear)>,
    /// How many guards there were before the loop.
    outside: usize,
    /// Whether they have been thought of.
    begun: bool,
    /// How often some were withdrawn.
    rounds: u32,
}

impl Relations {
    /// None yet, of a loop that changes these variables.
    pub(super) fn new(walk: &Walk<'_>, changed: impl Iterator<Item = Handle<Local>>) -> Relations {
        let variables = changed.filter_map(|local| {
            let declared = &walk.kernel.locals[local];
            match &walk.environment[local.index()] {
                Some(Value::Int(before)) if declared.ty.scalar().is_index() => Some((local, before.clone())),
                Some(Value::Int(_) | Value::Truth(_) | Value::Data(_)) | None => None,
            }
        });
        let variables = variables.collect();
        Relations { list: Vec::new(), variables, outside: walk.guards.len(), begun: false, rounds: 0 }
    }

    /// Thinks of inequalities that hold before the loop, once. Whether there are any.
    pub(super) fn begin(&mut self, walk: &Walk<'_>) -> bool {
        if std::mem::replace(&mut self.begun, true) || self.variables.is_empty() {
            return false;
        }
        let facts: FactList =
            walk.guards.iter().take(self.outside).rev().chain(&walk.defining).cloned().collect();
        let holds = |room: &Linear| follows(room, &facts, &walk.mask, &walk.symbols);
        let mut list = Vec::new();
        let mut add = |fixed: Option<Linear>, variables: &[(&Handle<Local>, &Linear, i64)]| {
            let sum = |sum: Linear, (_, before, sign): &(_, &Linear, i64)| {
                sum.add_scaled(before, &Lanes::Uniform(*sign))
            };
            let Some(fixed) = fixed else { return };
            if variables.iter().try_fold(fixed.clone(), sum).is_some_and(|room| holds(&room)) {
                let variables = variables.iter().map(|(local, _, sign)| (**local, *sign)).collect();
                list.push(Relation { fixed, variables });
            }
        };
        for (local, before) in &self.variables {
            add(Some(before.clone()), &[(local, before, -1)]);
            add(before.scale(&Lanes::Uniform(-1)), &[(local, before, 1)]);
        }
        for (place, (local, before)) in self.variables.iter().enumerate() {
            for (other, other_before) in &self.variables[place + 1..] {
                add(Some(Linear::int(0)), &[(local, before, 1), (other, other_before, -1)]);
                add(Some(Linear::int(0)), &[(local, before, -1), (other, other_before, 1)]);
                add(before.add(other_before), &[(local, before, -1), (other, other_before, -1)]);
            }
        }
        for limit in limits(walk) {
            for (local, before) in &self.variables {
                add(limit.offset(-1), &[(local, before, -1)]);
                add(Some(limit.clone()), &[(local, before, -1)]);
            }
        }
        list.truncate(MOST_RELATIONS);
        self.list = list;
        true
    }

    /// Assumes them of the present values of the variables.
    pub(super) fn assume(&self, walk: &mut Walk<'_>) {
        let facts: Vec<Linear> = self.list.iter().filter_map(|relation| relation.room(walk)).collect();
        walk.guards.extend(facts.into_iter().map(|fact| Rc::new(tighten(fact))));
    }

    /// Withdraws those that the present values may break. Whether there was one.
    pub(super) fn correct(&mut self, walk: &Walk<'_>) -> bool {
        let before = self.list.len();
        self.list.retain(|relation| relation.room(walk).is_some_and(|room| walk.holds_for_least(&room)));
        if self.list.len() == before {
            return false;
        }
        self.rounds += 1;
        if self.rounds > MOST_ROUNDS {
            self.list.clear();
        }
        true
    }
}

impl Relation {
    /// What is not negative where it holds.
    fn room(&self, walk: &Walk<'_>) -> Option<Linear> {
        self.variables.iter().try_fold(self.fixed.clone(), |room, (local, sign)| {
            match &walk.environment[local.index()] {
                Some(Value::Int(form)) => room.add_scaled(form, &Lanes::Uniform(*sign)),
                Some(Value::Truth(_) | Value::Data(_)) | None => None,
            }
        })
    }
}

/// What a variable may be bounded by: the extents and the arguments that have come up, and numbers that the kernel compares
/// with.
fn limits(walk: &Walk<'_>) -> Vec<Linear> {
    let mut limits: Vec<Linear> = Vec::new();
    let mut add = |form: Linear| {
        if !limits.contains(&form) {
            limits.push(form);
        }
    };
    for (id, symbol) in walk.symbols.all() {
        if matches!(symbol.kind, SymbolKind::Extent(..) | SymbolKind::Scalar(_)) {
            add(walk.symbols.resolved(id));
        }
    }
    let exprs = &walk.kernel.exprs;
    for (_, expr) in exprs.iter() {
        let (ExprKind::Compare(_, a, b) | ExprKind::Binary(BinaryOp::Rem | BinaryOp::Min, a, b)) = expr.kind
        else {
            continue;
        };
        for operand in [a, b] {
            if let Expr { kind: ExprKind::Int(value), ty, .. } = exprs[operand]
                && ty.scalar().is_index()
                && let Ok(value) = i64::try_from(value)
            {
                add(Linear::int(value));
            }
        }
    }
    limits
}
