//! Loops with a condition.
//!
//! A loop whose condition is known from the start, and stays so, is executed iteration by iteration. Of any other one
//! iteration stands for all, as of a counted loop whose bounds are not known: what its variables hold is guessed and
//! tried, the condition holds inside, and after the loop its opposite does.

use super::conditions::{Condition, ConditionKind};
use super::eval::{EXTENT_LIMIT, NARROW_LIMIT};
use super::lanes::Mask;
use super::linear::Linear;
use super::loops::{Carried, Rounds};
use super::order::meets;
use super::prove::FactList;
use super::relations::Relations;
use super::rounds::{Beginning, Entry, Happens};
use super::symbol::{Symbol, SymbolKind};
use super::together::Fork;
use super::truth::{Truth, Value};
use super::walk::{Rolled, Walk, assigned_in};
use super::{Presence, loops};
use crate::ir::{Block, Expr, ExprKind, Handle, Local, Scope};
use crate::span::SpanId;
use std::rc::Rc;

/// A loop that goes round more often than this is no longer executed iteration by iteration.
const MOST_STEPS: u32 = 1024;

impl Walk<'_> {
    pub(super) fn while_loop(&mut self, condition: Handle<Expr>, body: &Block, span: SpanId) {
        self.rolled.push(Rolled { depth: self.unrolled.len(), ..Rolled::default() });
        let known = self.steps(condition, body, span);
        self.rolled.pop();
        if !known {
            let conditions = self.conditions.clone();
            let kind = ConditionKind::Unknown;
            self.under(Condition { kind, span, known: Vec::new(), holds: Vec::new() });
            self.any_step(condition, body, span);
            self.conditions = conditions;
        }
    }

    /// Executes the loop iteration by iteration, as long as its condition depends on nothing but known numbers; else
    /// undoes that. Whether it came to the end.
    fn steps(&mut self, condition: Handle<Expr>, body: &Block, span: SpanId) -> bool {
        if !self.is_constant(condition) {
            return false;
        }
        let (mark, environment, mask) = (self.mark(), self.environment.clone(), self.mask.clone());
        let mut assigned = Vec::new();
        assigned_in(self.kernel, body, &mut assigned);
        let first = self.enter();
        for _ in 0..MOST_STEPS {
            let known = self.is_constant(condition) && self.visits.len() < loops::MOST_VISITS;
            let truth = if known { self.truth(condition) } else { Truth::data() };
            let outside = self.mask.not();
            if !truth.known_true.or(&truth.known_false).or(&outside).is_full() {
                break;
            }
            let inside = self.mask.and(&truth.known_true);
            if inside.is_empty() {
                self.mask = mask;
                return true;
            }
            // Threads that have left keep what they had.
            let before = (inside != mask).then(|| self.environment.clone());
            self.forks.push(Fork { scope: inside.scope_within(&mask), span });
            self.mask = inside.clone();
            let scope = self.enter();
            self.block(body);
            match before {
                Some(_) => self.leave(scope),
                None => self.hand_on(first, &assigned),
            }
            self.forks.pop();
            if let Some(before) = before {
                self.mask = mask.clone();
                self.merge(&assigned, &before, inside.clone());
            }
            self.mask = inside;
        }
        self.leave(first);
        self.rewind(mark);
        (self.environment, self.mask) = (environment, mask);
        false
    }

    /// A condition as it will be found at the end of an iteration.
    fn looked_ahead(&mut self, condition: Handle<Expr>) -> Truth {
        let mark = self.mark();
        let truth = self.truth(condition);
        self.rewind(mark);
        truth
    }

    /// Takes the values from before back for the threads that were not inside.
    fn merge(&mut self, assigned: &[Handle<Local>], before: &[Option<Value>], inside: Mask) {
        let stays = Truth::known(inside);
        for local in assigned {
            if let (Some(new), Some(old)) =
                (self.environment[local.index()].clone(), before[local.index()].clone())
            {
                let scalar = self.kernel.locals[*local].ty.scalar();
                self.environment[local.index()] = Some(self.join(&stays, new, old, scalar));
            }
        }
    }

    /// Whether an expression depends on nothing but known numbers.
    fn is_constant(&self, expr: Handle<Expr>) -> bool {
        let kind = &self.kernel.exprs[expr].kind;
        match kind {
            ExprKind::Int(_) | ExprKind::Bool(_) | ExprKind::Thread(_) => true,
            ExprKind::Local(local) => match &self.environment[local.index()] {
                Some(Value::Int(form)) => form.known().is_some(),
                Some(Value::Truth(truth)) => {
                    truth.is_known() && truth.when_true.is_empty() && truth.when_false.is_empty()
                }
                Some(Value::Data(_)) | None => false,
            },
            ExprKind::Unary(..)
            | ExprKind::Binary(..)
            | ExprKind::Compare(..)
            | ExprKind::Select(..)
            | ExprKind::Cast(_) => kind.operands().into_iter().all(|operand| self.is_constant(operand)),
            _ => false,
        }
    }

    /// The body once, for an iteration of which only the condition is known.
    fn any_step(&mut self, condition: Handle<Expr>, body: &Block, span: SpanId) {
        let name = "the iteration of a `while` loop".to_string();
        let begins = self.beginning_where(condition);
        let before_loop = self.symbols.len();
        let entry = self.enter_rounds(body, span);
        let kind = self.next_execution(|time| SymbolKind::Round(span, time));
        let split = self.residues.contains_key(&kind.split_as());
        // Of an iteration with one residue it is not said that there is one.
        let beginning = match split {
            true if meets(body) => Beginning { happens: Happens::Perhaps, ..begins },
            true => Beginning::unknown(),
            false => begins,
        };
        let mut alike = Scope::Block;
        let (carried, relations, rounds) = loop {
            let mark = self.mark();
            let before = self.environment.clone();
            let mut carried = self.carried(body, alike);
            let mut relations = Relations::new(self, carried.iter().map(|variable| variable.local));
            let mut decided = Scope::Block;
            if split && !carried.is_empty() {
                // An iteration follows one with another residue, so what holds for those of this residue is not handed on.
                let inner = self.mark();
                let kind = SymbolKind::Derived(self.symbols.len() as u32);
                let round = self.symbol_form(kind, (0, EXTENT_LIMIT), 2 * NARROW_LIMIT, name.clone());
                let state = (&mut carried[..], &mut relations);
                decided =
                    self.step(condition, body, span, &round, state, (true, None, Beginning::unknown())).0;
                self.rewind(inner);
                if entry.is_some() {
                    self.find_orbits(&mut carried, &mut |walk| walk.step_on(condition, body, span));
                }
            }
            let round = self.symbol_form(kind.clone(), (0, EXTENT_LIMIT), 2 * NARROW_LIMIT, name.clone());
            let state = (&mut carried[..], &mut relations);
            let how = (!split, entry.clone(), beginning.clone());
            let (scope, known) = self.step(condition, body, span, &round, state, how);
            decided = decided.min(scope);
            if entry.is_some() && !split {
                let found =
                    self.find_orbits(&mut carried.clone(), &mut |walk| walk.step_on(condition, body, span));
                self.residue_of(&round, found);
            }
            if decided >= alike {
                let rounds =
                    if split { Rounds::Any } else { self.rounds_until_last(&round, known, before_loop) };
                break (carried, relations, rounds);
            }
            // Threads go round as often as their own condition says.
            self.rewind(mark);
            self.environment = before;
            alike = decided;
        };
        self.after(carried, rounds);
        relations.assume(self);
        // All threads have left it by now because their condition failed.
        let truth = self.truth(condition);
        self.guards.extend(truth.when_false);
    }

    /// How often a loop has gone round, by what is known at the start of the iteration that stands for all, where there were so
    /// many symbols before the loop. The last one is not that one, whose accesses remain those of any iteration: of
    /// what is another number in each, only the iteration's own number has a counterpart.
    fn rounds_until_last(&mut self, round: &Linear, known: FactList, before_loop: usize) -> Rounds {
        let Some(any) = round.lone_symbol() else { return Rounds::Any };
        let kind = SymbolKind::Opaque(self.symbols.len() as u32);
        let last = Linear::symbol(self.symbols.add(Symbol { kind, ..self.symbols.get(any).clone() }));
        let stays = |fact: &Linear| {
            let mut ids = fact.terms.iter().map(|(id, _)| *id).filter(|id| *id != any);
            ids.all(|id| id.index() < before_loop || self.symbols.is_fixed(id, before_loop))
        };
        let known = known.iter().filter(|fact| stays(fact));
        let known = known.filter_map(|fact| fact.substitute(any, &last)).map(Rc::new).collect();
        Rounds::Last(last, known)
    }

    /// Whether the condition of a loop holds before its first iteration.
    fn beginning_where(&mut self, condition: Handle<Expr>) -> Beginning {
        let scope = self.enter();
        let truth = self.truth(condition);
        self.leave(scope);
        let same = truth.scope >= Scope::Block;
        let skipped = if same { self.of_block(&truth.when_false) } else { Vec::new() };
        let happens = if truth.known_true.or(&self.mask.not()).is_full() {
            Happens::Certainly
        } else if truth.exactly_true && same {
            Happens::If(truth.when_true)
        } else {
            Happens::Perhaps
        };
        Beginning { happens, skipped }
    }

    /// The body for an iteration of this number; the guesses are corrected if they are still open. Which threads
    /// decide alike to execute it.
    fn step(
        &mut self,
        condition: Handle<Expr>,
        body: &Block,
        span: SpanId,
        round: &Linear,
        (carried, relations): (&mut [Carried], &mut Relations),
        (open, entry, beginning): (bool, Option<Entry>, Beginning),
    ) -> (Scope, FactList) {
        let (mask, presence, scope) = (self.mask.clone(), self.presence, self.enter());
        loop {
            let mark = self.mark();
            let inside = self.enter();
            for variable in carried.iter_mut() {
                let value = variable.at_start(round, self);
                self.environment[variable.local.index()] = Some(value);
            }
            relations.assume(self);
            let truth = self.truth(condition);
            let fork = self.fork(&truth, span);
            let settled = truth.known_true.or(&truth.known_false).or(&mask.not()).is_full();
            self.presence = match (settled, truth.arbitrary) {
                (true, _) => presence,
                (false, true) => Presence::Any,
                (false, false) => presence.max(Presence::Edge),
            };
            self.mask = mask.and(&truth.known_false.not());
            self.guards.extend(truth.when_true.iter().cloned());
            let known = self.guards.get(inside.0..).unwrap_or_default().to_vec();
            let flags = self.take_as(condition, true);
            self.together_in_round(fork.scope);
            self.forks.push(fork);
            self.fold(span);
            self.count_condition(condition);
            self.block(body);
            self.unfold();
            self.forks.pop();
            let mut wrong = open && relations.correct(self);
            let next = self.looked_ahead(condition);
            self.give_back(flags, body);
            self.mask = mask.clone();
            for variable in carried.iter_mut() {
                variable.follow(&next, self);
            }
            for variable in carried.iter_mut().filter(|_| open) {
                wrong |= variable.correct(self);
            }
            let known_inside = self.guards.get(inside.0..).unwrap_or_default().to_vec();
            self.leave(inside);
            wrong = wrong || open && loops::is_loose(carried) && relations.begin(self);
            if !wrong {
                let mut once = |walk: &mut Walk<'_>, _: &Linear| walk.step_on(condition, body, span);
                let mut guessed = carried.to_vec();
                let inside = self.enter();
                self.guards.extend(known_inside);
                let ended = |walk: &mut Walk<'_>, _: &Linear| {
                    let next = walk.looked_ahead(condition);
                    if next.scope >= Scope::Block { walk.of_block(&next.when_false) } else { Vec::new() }
                };
                self.leave_rounds(entry, round, &mut once, &mut guessed, beginning, &ended);
                self.leave(inside);
                self.leave(scope);
                self.presence = presence;
                for variable in carried.iter_mut() {
                    variable.check_leaving(self);
                }
                return (truth.scope, known);
            }
            self.rewind(mark);
        }
    }

    /// The body once more, from the values that the variables have, by the threads that go on.
    fn step_on(&mut self, condition: Handle<Expr>, body: &Block, span: SpanId) {
        let (mask, presence, scope) = (self.mask.clone(), self.presence, self.enter());
        let truth = self.truth(condition);
        let fork = self.fork(&truth, span);
        self.presence = match truth.arbitrary {
            true => Presence::Any,
            false => presence.max(Presence::Edge),
        };
        self.mask = mask.and(&truth.known_false.not());
        self.guards.extend(truth.when_true.iter().cloned());
        self.together_in_round(fork.scope);
        self.forks.push(fork);
        self.block_where(condition, true, body);
        self.forks.pop();
        self.leave(scope);
        (self.mask, self.presence) = (mask, presence);
    }
}
