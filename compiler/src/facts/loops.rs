//! Loops: iteration by iteration where the bounds are known, else one iteration that stands for all.

use super::MOST_UNROLLED;
use super::Presence;
use super::conditions::{Condition, ConditionKind};
use super::eval::{EXTENT_LIMIT, NARROW_LIMIT};
use super::lanes::{Lanes, Mask};
use super::linear::{Linear, SymbolId};
use super::operations::Operations;
use super::order::{Around, Moment, meets};
use super::prove::FactList;
use super::prove::tighten;
use super::relations::Relations;
use super::rounds::{Beginning, Entry, Happens};
use super::symbol::{Case, Symbol, SymbolKind};
use super::together::Fork;
use super::truth::{Truth, Value};
use super::unwritten::{Counted, Step, Written};
use super::walk::{Rolled, Walk, assigned_in};
use super::{Escape, EscapeKind, Trips};
use crate::ir::Unroll;
use crate::ir::{Block, Handle, Local, Loop, Scalar, Scope, Type};
use std::rc::Rc;

/// Loops with more iterations than this are executed once, with a symbol.
const MOST_ITERATIONS: i64 = 4096;
/// The largest bound of a variable that stays in a range although a loop changes it.
const MOST_WITHIN: i128 = 1 << 31;
/// How many ranges are tried for such a variable.
const MOST_RANGES: u32 = 4;
/// How many choices one after the other an iteration may make about how far it moves a variable.
const MOST_CHOICES: u32 = 6;
/// Accesses visited before loops are no longer executed iteration by iteration.
pub(super) const MOST_VISITS: usize = 1 << 16;

impl Walk<'_> {
    pub(super) fn for_loop(&mut self, handle: Handle<Loop>) {
        if self.is_done(handle) {
            return;
        }
        let before = self.before_inert(handle);
        let head = &self.kernel.loops[handle];
        let (start, end, step) = (self.form(head.start), self.form(head.end), self.form(head.step));
        if !self.positive(&step) {
            self.escapes
                .push(Escape { span: self.kernel.exprs[head.step].span, kind: EscapeKind::StepOfZero });
        }
        let known = match (start.known(), end.known(), step.known_uniform()) {
            (Some(start), Some(end), Some(step)) if step > 0 => self.iterations(start, end, step),
            _ => None,
        };
        let trips = match known {
            // Where all loops around it are unrolled, so can be one whose bounds they determine.
            Some((most, true)) if self.rolled.is_empty() && most <= MOST_UNROLLED => Trips::UpTo(most),
            Some((most, true)) => Trips::Constant(most),
            Some((_, false)) | None => Trips::Various,
        };
        self.trips[handle.index()] = self.trips[handle.index()].and(trips);
        match known {
            Some((most, _)) if i64::from(most) <= MOST_ITERATIONS && self.visits.len() < MOST_VISITS => {
                self.each_iteration(handle, &start, &end, &step, most);
            }
            _ => self.any_iteration(handle, &start, &end, &step),
        }
        if self.exhausted {
            self.exhausted_in = Some(head.span);
        }
        if let Some(before) = before {
            self.after_inert(handle, before);
        }
    }

    /// At the end of an iteration that all threads have executed, forgets what was learnt since the loop began, but for what
    /// holds of the values that the next iteration finds.
    pub(super) fn hand_on(&mut self, (guards, derived): (usize, usize), assigned: &[Handle<Local>]) {
        let values = assigned.iter().filter_map(|local| match &self.environment[local.index()] {
            Some(Value::Int(form)) => Some(form),
            Some(Value::Truth(_) | Value::Data(_)) | None => None,
        });
        let mut held: Vec<SymbolId> = values.flat_map(|form| form.terms.iter().map(|(id, _)| *id)).collect();
        held.retain(|id| {
            !matches!(self.symbols.get(*id).kind, SymbolKind::Extent(..) | SymbolKind::Scalar(_))
        });
        let learnt = self.guards.split_off(guards);
        let holds = |fact: &Rc<Linear>| fact.terms.iter().any(|(id, _)| held.contains(id));
        self.guards.extend(learnt.into_iter().filter(holds));
        self.derived.truncate(derived);
    }

    /// How often the threads that are here go round at most, and whether all go round equally often.
    fn iterations(&self, start: &Lanes, end: &Lanes, step: i64) -> Option<(u32, bool)> {
        let trips = end.zip(start, |end, start| {
            let distance = end.checked_sub(start)?.max(0);
            Some(distance / step + i64::from(distance % step != 0))
        })?;
        let most = u32::try_from(trips.max(&self.mask)?).ok()?;
        Some((most, trips.min(&self.mask)?.0 == i64::from(most)))
    }

    fn each_iteration(
        &mut self,
        handle: Handle<Loop>,
        start: &Linear,
        end: &Linear,
        step: &Linear,
        trips: u32,
    ) {
        let head = &self.kernel.loops[handle];
        let mask = self.mask.clone();
        let mut assigned = Vec::new();
        assigned_in(self.kernel, &head.body, &mut assigned);
        let constant = self.trips[handle.index()] != Trips::Various;
        let unrolls = match head.unroll {
            Unroll::Full => true,
            Unroll::Auto => constant && trips <= MOST_UNROLLED,
            Unroll::By(_) => false,
        };
        if !unrolls {
            self.rolled.push(Rolled { depth: self.unrolled.len(), ..Rolled::default() });
        }
        let first = self.enter();
        for iteration in 0..trips {
            if self.is_over() {
                break;
            }
            let variable = start.add_scaled(step, &Lanes::Uniform(i64::from(iteration)));
            let (Some(variable), Some(end)) = (variable, end.known()) else { break };
            let inside = variable.known().and_then(|lanes| lanes.zip(end, |i, end| Some(i64::from(i < end))));
            let inside = match inside {
                Some(Lanes::Uniform(value)) => Mask::Uniform(value != 0),
                Some(Lanes::Each(values)) => Mask::each(values.iter().map(|value| *value != 0).collect()),
                None => break,
            };
            if unrolls {
                self.unrolled.push(iteration);
            }
            self.environment[head.variable.index()] = Some(Value::Int(variable));
            self.forks.push(Fork { scope: inside.scope_within(&mask), span: head.span });
            self.mask = mask.and(&inside);
            let before = (!inside.is_full()).then(|| self.environment.clone());
            let scope = self.enter();
            self.block(&head.body);
            match before {
                Some(_) => self.leave(scope),
                None => self.hand_on(first, &assigned),
            }
            self.forks.pop();
            if unrolls {
                self.unrolled.pop();
            }
            if let Some(before) = before {
                self.mask = mask.clone();
                let stays = Truth::known(inside);
                for local in &assigned {
                    if let (Some(new), Some(old)) =
                        (self.environment[local.index()].clone(), before[local.index()].clone())
                    {
                        let scalar = self.kernel.locals[*local].ty.scalar();
                        self.environment[local.index()] = Some(self.join(&stays, new, old, scalar));
                    }
                }
            }
        }
        if !unrolls {
            self.rolled.pop();
        }
        self.mask = mask;
    }

    /// The body once, for an iteration of which only the bounds are known.
    ///
    /// What variables that the body assigns hold at the start of an iteration is guessed, tried, and withdrawn where the
    /// body shows that it was wrong: first the best that could be, a value that every iteration moves by the same number
    /// or that is at least the same for all threads, at last any value of the type.
    fn any_iteration(&mut self, handle: Handle<Loop>, start: &Linear, end: &Linear, step: &Linear) {
        let head = &self.kernel.loops[handle];
        let same = [start, end, step].into_iter().all(|bound| self.is_uniform(bound));
        let mut carried = self.carried(&head.body, if same { Scope::Block } else { Scope::Lane });
        let mut relations = Relations::new(self, carried.iter().map(|variable| variable.local));
        let bounds = Bounds { start, end, step, same };
        let together = [start, end, step].into_iter().map(|bound| self.symbols.scope(bound));
        self.forks.push(Fork { scope: together.fold(Scope::Block, Scope::min), span: head.span });
        let name = format!("the iteration of `{}`", self.kernel.locals[head.variable].name);
        let entry = self.enter_rounds(&head.body, head.span);
        self.together_in_round(self.forks.last().map_or(Scope::Block, |fork| fork.scope));
        let kind = self.next_execution(|time| SymbolKind::Counter(handle, time));
        let split = self.residues.contains_key(&kind.split_as());
        self.fold(head.span);
        if split && !carried.is_empty() {
            // An iteration follows one with another residue, so what holds for those of this residue is not handed on.
            let mark = self.mark();
            let kind = SymbolKind::Derived(self.symbols.len() as u32);
            let round = self.symbol_form(kind, (0, EXTENT_LIMIT), 2 * NARROW_LIMIT, name.clone());
            self.iteration(handle, &round, &bounds, (&mut carried, &mut relations), (true, None));
            self.rewind(mark);
            if entry.is_some() {
                self.find_orbits(&mut carried, &mut |walk| walk.one_round(handle, &round, &bounds));
            }
        }
        let ordered = entry.is_some();
        let round = self.symbol_form(kind, (0, EXTENT_LIMIT), 2 * NARROW_LIMIT, name);
        self.iteration(handle, &round, &bounds, (&mut carried, &mut relations), (!split, entry));
        if ordered && !split {
            let found =
                self.find_orbits(&mut carried.clone(), &mut |walk| walk.one_round(handle, &round, &bounds));
            self.residue_of(&round, found);
        }
        self.unfold();
        self.forks.pop();
        self.after(carried, self.rounds_of(&bounds));
        relations.assume(self);
    }

    /// How often a loop goes round, where that is a form.
    fn rounds_of(&self, bounds: &Bounds<'_>) -> Rounds {
        let distance = bounds.end.sub(bounds.start);
        match distance.filter(|distance| self.holds(distance)) {
            Some(distance) if bounds.step.known_uniform() == Some(1) => Rounds::Exactly(distance),
            Some(_) | None => Rounds::Any,
        }
    }

    /// After a loop each variable has been changed by so many iterations.
    pub(super) fn after(&mut self, carried: Vec<Carried>, rounds: Rounds) {
        let most = carried.iter().map(|variable| variable.most).fold(Scope::Block, Scope::min);
        let kind = SymbolKind::Opaque(self.symbols.len() as u32);
        let narrow_high = 2 * NARROW_LIMIT;
        let new = Symbol { narrow_high, ..Symbol::new(kind, (0, EXTENT_LIMIT), most, "the iterations") };
        let case = |value: Linear, facts: FactList| Case { value, facts, ways: Vec::new() };
        let rounds = match rounds {
            Rounds::Exactly(rounds) => rounds,
            Rounds::Any => Linear::symbol(self.symbols.add(new.clone())),
            Rounds::Last(last, facts) => {
                let once_more = last.offset(1);
                let cases = once_more.map(|value| vec![case(Linear::int(0), Vec::new()), case(value, facts)]);
                let cases = cases.unwrap_or_default();
                Linear::symbol(self.symbols.add(Symbol { cases, ..new.clone() }))
            }
        };
        for variable in carried {
            let value = if variable.apart {
                let kind = SymbolKind::Opaque(self.symbols.len() as u32);
                let own = Linear::symbol(self.symbols.add(Symbol { kind, ..new.clone() }));
                variable.at_end(&own, self)
            } else {
                variable.at_end(&rounds, self)
            };
            self.environment[variable.local.index()] = Some(value);
        }
    }

    /// The body for an iteration of this number; the guesses are corrected if they are still open. Then the iterations that
    /// meet it, if that matters.
    fn iteration(
        &mut self,
        handle: Handle<Loop>,
        round: &Linear,
        bounds: &Bounds<'_>,
        (carried, relations): (&mut [Carried], &mut Relations),
        (open, entry): (bool, Option<Entry>),
    ) {
        let head = &self.kernel.loops[handle];
        let (presence, scope, conditions) = (self.presence, self.enter(), self.conditions.clone());
        let around = self.counted.len();
        let beginning = match entry {
            Some(_) => self.beginning(round, bounds, &head.body, open),
            None => Beginning::unknown(),
        };
        let variable = self.come_to(handle, round, bounds);
        self.check_width(&variable, self.kernel.locals[head.variable].ty.scalar());
        loop {
            let mark = self.mark();
            let inside = self.enter();
            for variable in carried.iter_mut() {
                let value = variable.at_start(round, self);
                self.environment[variable.local.index()] = Some(value);
            }
            relations.assume(self);
            self.environment[head.variable.index()] = Some(Value::Int(variable.clone()));
            let counted = bounds.counted(round);
            self.counted.extend(counted.clone());
            self.block(&head.body);
            self.counted.truncate(around);
            let mut wrong = open && relations.correct(self);
            for variable in carried.iter_mut().filter(|_| open) {
                wrong |= variable.correct(self);
            }
            let known_inside = self.guards.get(inside.0..).unwrap_or_default().to_vec();
            self.leave(inside);
            wrong = wrong || open && is_loose(carried) && relations.begin(self);
            if !wrong {
                let mut once = |walk: &mut Walk<'_>, round: &Linear| walk.one_round(handle, round, bounds);
                let mut guessed = carried.to_vec();
                let inside = self.enter();
                self.guards.extend(known_inside);
                if let (Some(counted), true, true) = (counted, open, entry.is_some()) {
                    self.write_for_every(counted);
                }
                let ended = |_: &mut Walk<'_>, last: &Linear| bounds.ended_after(last);
                self.leave_rounds(entry, round, &mut once, &mut guessed, beginning, &ended);
                self.leave(inside);
                break;
            }
            self.rewind(mark);
        }
        self.leave(scope);
        (self.presence, self.conditions) = (presence, conditions);
    }

    /// Whether there is an iteration of this number, which is that of one for all or of one residue.
    fn beginning(&self, round: &Linear, bounds: &Bounds<'_>, body: &Block, for_all: bool) -> Beginning {
        let (first, _) = self.bounds(round);
        let distance = match (bounds.step.known_uniform(), i64::try_from(first)) {
            (Some(step), Ok(first)) => step.checked_mul(first),
            (None, Ok(0)) => Some(0),
            (Some(_) | None, _) => None,
        };
        let length = bounds.end.sub(bounds.start);
        let room_at = |distance: i64| length.as_ref()?.offset(distance.checked_add(1)?.checked_neg()?);
        let room = distance.and_then(room_at);
        let happens = match &room {
            // Where iterations have one residue, barriers are those of all.
            Some(room) if for_all && self.holds(room) => Happens::Certainly,
            Some(room) if bounds.same => Happens::If(vec![Rc::new(tighten(room.clone()))]),
            Some(_) | None => Happens::Perhaps,
        };
        let least = if meets(body) { room_at(0) } else { room };
        let lack = least.and_then(|room| room.scale(&Lanes::Uniform(-1))?.offset(-1));
        let skipped = lack.filter(|_| bounds.same).map(|lack| Rc::new(tighten(lack)));
        Beginning { happens, skipped: skipped.into_iter().collect() }
    }

    /// The body for an iteration of this number, from the values that the variables have.
    fn one_round(&mut self, handle: Handle<Loop>, round: &Linear, bounds: &Bounds<'_>) {
        let head = &self.kernel.loops[handle];
        let (presence, scope, conditions) = (self.presence, self.enter(), self.conditions.clone());
        let variable = self.come_to(handle, round, bounds);
        self.environment[head.variable.index()] = Some(Value::Int(variable));
        self.block(&head.body);
        self.leave(scope);
        (self.presence, self.conditions) = (presence, conditions);
    }

    /// The loop's variable in the iteration of a number, which there is: what that says holds from here on.
    fn come_to(&mut self, handle: Handle<Loop>, round: &Linear, bounds: &Bounds<'_>) -> Linear {
        let Bounds { start, end, step, same } = *bounds;
        let variable = match step.known_uniform() {
            Some(step) => start.add_scaled(round, &Lanes::Uniform(step)),
            None => self.symbols.multiply(round, step).and_then(|distance| start.add(&distance)),
        };
        let variable = variable.unwrap_or_else(|| {
            let name = format!("`{}`", self.kernel.locals[self.kernel.loops[handle].variable].name);
            self.between((-EXTENT_LIMIT, EXTENT_LIMIT), Scope::Lane, name)
        });
        let varies =
            |bound: &Linear| bound.terms.iter().any(|(id, _)| self.symbols.get(*id).scope < Scope::Warp);
        self.presence = match same {
            true => self.presence,
            // Threads go round as often as data says: any of them may be there.
            false if [start, end, step].into_iter().any(varies) => Presence::Any,
            false => self.presence.max(Presence::Edge),
        };
        let room = end.sub(&variable).and_then(|room| room.offset(-1)).map(tighten).map(Rc::new);
        let span = self.kernel.loops[handle].span;
        let kind = if room.is_some() { ConditionKind::Iteration } else { ConditionKind::Unknown };
        self.under(Condition { kind, span, known: Vec::new(), holds: room.into_iter().collect() });
        let facts = [end.sub(&variable).and_then(|room| room.offset(-1)), variable.sub(start)];
        self.guards.extend(facts.into_iter().flatten().map(|fact| Rc::new(tighten(fact))));
        variable
    }

    /// The variables from outside that a loop's body assigns, with the best guess for each.
    pub(super) fn carried(&self, body: &Block, scope: Scope) -> Vec<Carried> {
        let mut assigned = Vec::new();
        assigned_in(self.kernel, body, &mut assigned);
        let carried = assigned.into_iter().filter_map(|local| {
            let before = self.environment[local.index()].clone()?;
            let guess = match &before {
                Value::Int(_) => Guess::Probe(scope),
                Value::Truth(_) | Value::Data(_) => Guess::Any(scope),
            };
            Some(Carried {
                local,
                before,
                most: scope,
                guess,
                start: None,
                leaving: None,
                stride: None,
                symbols: self.symbols.len(),
                apart: false,
                orbit: None,
            })
        });
        carried.collect()
    }

    /// The least and the largest value of a form that is known but for choices between known values.
    fn known_range(&self, form: &Linear, choices: u32) -> Option<(i64, i64)> {
        if let Some(lanes) = form.known() {
            return lanes.extremes(&self.mask);
        }
        let choices = choices.checked_sub(1)?;
        let (symbol, cases) = form.terms.iter().find_map(|(symbol, _)| {
            let cases = &self.symbols.get(*symbol).cases;
            (!cases.is_empty()).then_some((*symbol, cases))
        })?;
        let mut range: Option<(i64, i64)> = None;
        for case in cases {
            let (least, most) = self.known_range(&form.substitute(symbol, &case.value)?, choices)?;
            range = Some(range.map_or((least, most), |(low, high)| (low.min(least), high.max(most))));
        }
        range
    }

    fn lies_within(&self, value: &Value, low: i64, high: i64) -> bool {
        let Value::Int(form) = value else { return false };
        let below = form.scale(&Lanes::Uniform(-1)).and_then(|form| form.offset(high));
        [low.checked_neg().and_then(|low| form.offset(low)), below]
            .into_iter()
            .all(|room| room.is_some_and(|room| self.holds(&room)))
    }

    pub(super) fn mark(&self) -> Mark {
        Mark {
            findings: self.findings(),
            replays: self.replays.len(),
            intervals: self.intervals.len(),
            moment: self.moment.clone(),
            waits: self.waits.len(),
            rounds: self.rounds.clone(),
            path: self.path.clone(),
            unwritten: self.unwritten.len(),
            written_elements: self.written_elements.clone(),
        }
    }

    /// Forgets what was found since, and where the threads have come.
    pub(super) fn rewind(&mut self, mark: Mark) {
        self.forget(mark.findings);
        self.replays.truncate(mark.replays);
        self.intervals.truncate(mark.intervals);
        self.waits.truncate(mark.waits);
        (self.moment, self.rounds, self.path) = (mark.moment, mark.rounds, mark.path);
        self.unwritten.truncate(mark.unwritten);
        self.written_elements = mark.written_elements;
    }

    pub(super) fn findings(&self) -> Findings {
        Findings {
            visits: self.visits.len(),
            escapes: self.escapes.len(),
            divergences: self.divergences.len(),
            register_faults: self.register_faults.len(),
            operations: self.operations.clone(),
            narrow: self.narrow,
            trips: self.trips.clone(),
        }
    }

    /// Forgets what was found since.
    pub(super) fn forget(&mut self, found: Findings) {
        self.visits.truncate(found.visits);
        self.escapes.truncate(found.escapes);
        self.divergences.truncate(found.divergences);
        self.register_faults.truncate(found.register_faults);
        (self.narrow, self.trips, self.operations) = (found.narrow, found.trips, found.operations);
    }

    /// The loop's variable passes its end by less than one step; that must fit 32 bits too.
    fn check_width(&mut self, variable: &Linear, scalar: Scalar) {
        if scalar != Scalar::Usize || !self.narrow {
            return;
        }
        let room = variable.scale(&Lanes::Uniform(-1)).and_then(|form| form.offset(i64::from(i32::MAX)));
        self.narrow = room.is_some_and(|room| self.holds_in_narrow(&room));
    }
}

/// Whether of some number it is not known how far an iteration moves it.
pub(super) fn is_loose(carried: &[Carried]) -> bool {
    carried.iter().any(|variable| match variable.guess {
        Guess::Drift(..) | Guess::Within(..) | Guess::Any(_) => matches!(variable.before, Value::Int(_)),
        Guess::Probe(_) | Guess::Moved(_) | Guess::Marched => false,
    })
}

/// How often a thread has gone round a loop that it has left.
pub(super) enum Rounds {
    /// So often.
    Exactly(Linear),
    /// Any number of times.
    Any,
    /// Not once, or once more than the number of the last iteration, at whose start this held; its symbol is nothing else's.
    Last(Linear, FactList),
}

impl Bounds<'_> {
    /// The loop, where an iteration is known by a symbol alone.
    fn counted(&self, round: &Linear) -> Option<Counted> {
        Some(Counted {
            start: self.start.clone(),
            end: self.end.clone(),
            step: self.step.known_uniform()?,
            counter: round.lone_symbol()?,
        })
    }

    /// What holds of the block if the iteration of a number is the last.
    fn ended_after(&self, last: &Linear) -> FactList {
        let next = || {
            let step = Lanes::Uniform(self.step.known_uniform()?);
            self.start.add_scaled(&last.offset(1)?, &step)?.sub(self.end)
        };
        let passed = if self.same { next() } else { None };
        passed.map(|passed| Rc::new(tighten(passed))).into_iter().collect()
    }
}

/// The head of a loop.
struct Bounds<'a> {
    start: &'a Linear,
    end: &'a Linear,
    step: &'a Linear,
    /// Whether they are the same for all threads.
    same: bool,
}

/// What has been found so far, and where the threads are.
pub(super) struct Mark {
    findings: Findings,
    replays: usize,
    intervals: usize,
    moment: Moment,
    waits: usize,
    rounds: Vec<Around>,
    path: Rc<[Step]>,
    unwritten: usize,
    written_elements: Vec<Written>,
}

/// What has been found so far.
pub(super) struct Findings {
    pub(super) visits: usize,
    escapes: usize,
    divergences: usize,
    register_faults: usize,
    operations: Operations,
    narrow: bool,
    trips: Vec<Trips>,
}

/// A variable that an iteration of a loop leaves to the next.
#[derive(Clone)]
pub(super) struct Carried {
    pub(super) local: Handle<Local>,
    /// Its value before the loop.
    before: Value,
    /// Over which threads it can be the same at most.
    most: Scope,
    guess: Guess,
    /// Its value at the start of the iteration that was tried.
    start: Option<Linear>,
    /// Its value at the end of that for threads that leave the loop then, where it is another one than for those that stay.
    leaving: Option<Linear>,
    /// What an iteration adds to it, where the loop does not change that.
    stride: Option<Linear>,
    /// How many symbols there were before the loop.
    symbols: usize,
    /// Whether threads that leave have moved it by another number of iterations than they executed.
    apart: bool,
    /// The values that it takes in turn, if that is known.
    pub(super) orbit: Option<Rc<[i64]>>,
}

/// What a carried variable holds at the start of an iteration.
#[derive(Clone, Copy)]
enum Guess {
    /// Some index, the same for these threads: only to see whether an iteration moves it by a number.
    Probe(Scope),
    /// Its value before the loop, and so often something from the least to the largest of these, the same for these threads.
    Drift(i64, i64, Scope),
    /// A number from the least to the largest, the same for these threads, after so many other ranges were tried.
    Within(i64, i64, Scope, u32),
    /// Any value of its type, the same for these threads.
    Any(Scope),
    /// Its value before the loop, moved so often by this number.
    Moved(i64),
    /// Its value before the loop, moved so often by its stride.
    Marched,
}

impl Carried {
    pub(super) fn at_start(&mut self, round: &Linear, walk: &mut Walk<'_>) -> Value {
        let value = self.guessed(round, walk);
        self.start = match &value {
            Value::Int(form) => Some(form.clone()),
            Value::Truth(_) | Value::Data(_) => None,
        };
        value
    }

    /// Takes the value at the end of an iteration apart: for the threads that stay in the loop, for which the guess must
    /// hold, and for those that leave it.
    pub(super) fn follow(&mut self, next: &Truth, walk: &mut Walk<'_>) {
        self.leaving = None;
        let Some(Value::Int(form)) = &walk.environment[self.local.index()] else { return };
        let stays = walk.symbols.along(form, &next.ways_true);
        if stays != *form {
            self.leaving = Some(walk.symbols.along(form, &next.ways_false));
            walk.environment[self.local.index()] = Some(Value::Int(stays));
        }
    }

    /// Holds what the variable is for threads that leave the loop against the guess that was right for the others.
    pub(super) fn check_leaving(&mut self, walk: &Walk<'_>) {
        let (Some(leaving), Some(start)) = (&self.leaving, &self.start) else { return };
        let scope = walk.symbols.scope(leaving);
        let distance = leaving.sub(start);
        let moved = distance.as_ref().and_then(|moved| walk.known_range(moved, MOST_CHOICES));
        let fits = match (self.guess, moved) {
            (Guess::Marched, moved) => moved == Some((0, 0)) || distance == self.stride,
            (Guess::Moved(by), Some((least, most))) => {
                least == most && (least == 0 || (by != 0 && least % by == 0 && least / by > 0))
            }
            (Guess::Drift(low, high, of), Some((least, most))) => {
                scope >= of && ((least, most) == (0, 0) || (low <= least && most <= high))
            }
            (Guess::Within(low, high, of, _), _) => {
                scope >= of && walk.lies_within(&Value::Int(leaving.clone()), low, high)
            }
            (Guess::Any(of), _) => scope >= of,
            (Guess::Moved(_) | Guess::Drift(..) | Guess::Probe(_), _) => false,
        };
        self.apart = true;
        if !fits {
            self.guess = Guess::Any(Scope::Lane);
        }
    }

    /// Where an orbit could begin: little is known of what an iteration makes of it.
    pub(super) fn orbit_start(&self) -> Option<i64> {
        match (&self.before, self.guess) {
            (Value::Int(before), Guess::Any(_) | Guess::Within(..) | Guess::Drift(..)) => {
                before.known_uniform()
            }
            (Value::Int(_), Guess::Probe(_) | Guess::Moved(_) | Guess::Marched)
            | (Value::Truth(_) | Value::Data(_), _) => None,
        }
    }

    pub(super) fn exactly(&self, value: i64) -> Value {
        Value::Int(Linear::int(value))
    }

    /// Anything of its type.
    pub(super) fn any_value(&self, walk: &mut Walk<'_>) -> Value {
        match walk.kernel.locals[self.local].ty {
            Type::Scalar(scalar) => walk.opaque(scalar, Scope::Lane),
            Type::Vector(..) => Value::Data(Scope::Lane),
        }
    }

    /// Its value, where that is one number.
    pub(super) fn known_now(&self, walk: &Walk<'_>) -> Option<i64> {
        match walk.environment[self.local.index()].as_ref()? {
            Value::Int(form) => form.known_uniform(),
            Value::Truth(_) | Value::Data(_) => None,
        }
    }

    fn guessed(&self, round: &Linear, walk: &mut Walk<'_>) -> Value {
        if let Some(orbit) = &self.orbit
            && let Some(turn) = walk.residue_of(round, orbit.len() as i64)
        {
            return Value::Int(Linear::int(orbit[turn as usize]));
        }
        if let (Guess::Moved(by), Value::Int(before)) = (self.guess, &self.before)
            && let Some(form) = before.add_scaled(round, &Lanes::Uniform(by))
        {
            return Value::Int(form);
        }
        if let (Guess::Marched, Some(stride), Value::Int(before)) = (self.guess, &self.stride, &self.before)
            && let Some(form) = walk.multiply(round, stride).and_then(|distance| before.add(&distance))
        {
            return Value::Int(form);
        }
        if let Guess::Probe(scope) = self.guess {
            return Value::Int(walk.probe(scope));
        }
        if let (Guess::Drift(least, most, scope), Value::Int(before)) = (self.guess, &self.before)
            && let Some(form) = self.drifted(before, (least, most), scope, round, walk)
        {
            return Value::Int(form);
        }
        self.anything(walk)
    }

    /// Its value before the loop and a distance, which the number of iterations bounds.
    fn drifted(
        &self,
        before: &Linear,
        (least, most): (i64, i64),
        scope: Scope,
        round: &Linear,
        walk: &mut Walk<'_>,
    ) -> Option<Linear> {
        let ends = [least, most].map(|by| i128::from(by).saturating_mul(EXTENT_LIMIT));
        let range = (ends[0].min(0), ends[1].max(0));
        let name = format!("`{}`, which the loop changes", walk.kernel.locals[self.local].name);
        let distance = walk.between(range, scope, name);
        let form = before.add(&distance)?;
        let facts = [
            round.scale(&Lanes::Uniform(most)).and_then(|end| end.sub(&distance)),
            round.scale(&Lanes::Uniform(least)).and_then(|end| distance.sub(&end)),
        ];
        walk.guards.extend(facts.into_iter().flatten().map(|fact| Rc::new(tighten(fact))));
        Some(form)
    }

    /// What it holds after the loop: any number of iterations has changed it.
    fn at_end(&self, rounds: &Linear, walk: &mut Walk<'_>) -> Value {
        match self.guess {
            _ if self.orbit.is_some() => self.anything(walk),
            Guess::Moved(_) | Guess::Marched | Guess::Drift(..) => self.guessed(rounds, walk),
            Guess::Probe(_) | Guess::Any(_) | Guess::Within(..) => self.anything(walk),
        }
    }

    /// Anything that it may hold where nothing says how it depends on the iteration.
    fn anything(&self, walk: &mut Walk<'_>) -> Value {
        let scalar = match walk.kernel.locals[self.local].ty {
            Type::Scalar(scalar) => scalar,
            Type::Vector(..) => return Value::Data(self.scope()),
        };
        let name = format!("`{}`, which the loop changes", walk.kernel.locals[self.local].name);
        match self.guess {
            Guess::Within(low, high, scope, _) => {
                Value::Int(walk.between((low.into(), high.into()), scope, name))
            }
            Guess::Probe(_) | Guess::Any(_) | Guess::Moved(_) | Guess::Marched | Guess::Drift(..) => {
                walk.opaque_from(scalar, self.scope(), || name)
            }
        }
    }

    /// The range to try next: what was tried, and what an iteration makes of it.
    fn wider(&self, after: &Value, scope: Scope, walk: &Walk<'_>) -> Option<Guess> {
        let (Value::Int(before), Value::Int(after)) = (&self.before, after) else { return None };
        let (low, high, tried) =
            match self.guess {
                Guess::Within(low, high, _, tried) => (i128::from(low), i128::from(high), tried),
                Guess::Probe(_) | Guess::Moved(_) | Guess::Marched | Guess::Drift(..) => {
                    let range = walk.bounds(before);
                    return (i64::try_from(range.0).is_ok() && range.1 <= MOST_WITHIN)
                        .then_some(Guess::Within(range.0 as i64, range.1 as i64, scope, 0));
                }
                Guess::Any(_) => return None,
            };
        let (least, most) = walk.bounds(after);
        let (low, high) = (low.min(least), high.max(most));
        let small = (-MOST_WITHIN..=MOST_WITHIN).contains(&low) && high <= MOST_WITHIN;
        (small && tried < MOST_RANGES).then_some(Guess::Within(low as i64, high as i64, scope, tried + 1))
    }

    fn scope(&self) -> Scope {
        match self.guess {
            Guess::Probe(scope)
            | Guess::Any(scope)
            | Guess::Drift(_, _, scope)
            | Guess::Within(_, _, scope, _) => scope,
            Guess::Moved(_) | Guess::Marched => Scope::Lane,
        }
    }

    /// Holds the guess against the value at the end of the iteration; whether it had to be changed.
    pub(super) fn correct(&mut self, walk: &Walk<'_>) -> bool {
        let Some(after) = &walk.environment[self.local.index()] else { return false };
        let distance = match (after, &self.start) {
            (Value::Int(after), Some(start)) => after.sub(start),
            (Value::Int(_) | Value::Truth(_) | Value::Data(_), _) => None,
        };
        let moved = distance.as_ref().and_then(|moved| walk.known_range(moved, MOST_CHOICES));
        let stride = distance
            .filter(|distance| distance.terms.iter().all(|(id, _)| walk.symbols.is_fixed(*id, self.symbols)));
        let possible = walk.scope_of(after).min(walk.scope_of(&self.before)).min(self.most);
        match (self.guess, moved) {
            (Guess::Moved(by), Some((least, most))) if by == least && by == most => false,
            (Guess::Drift(low, high, scope), Some((least, most)))
                if low <= least && most <= high && possible >= scope =>
            {
                false
            }
            (Guess::Probe(_), Some((least, most))) => {
                self.guess = match least == most {
                    true => Guess::Moved(least),
                    false => Guess::Drift(least, most, possible),
                };
                true
            }
            (Guess::Probe(_), None) if stride.is_some() => {
                (self.guess, self.stride) = (Guess::Marched, stride);
                true
            }
            (Guess::Marched, _) if stride.is_some() && stride == self.stride => false,
            (Guess::Any(scope), _) if possible >= scope => false,
            (Guess::Within(low, high, scope, _), _)
                if possible >= scope && walk.lies_within(after, low, high) =>
            {
                false
            }
            (
                Guess::Probe(_)
                | Guess::Moved(_)
                | Guess::Marched
                | Guess::Drift(..)
                | Guess::Any(_)
                | Guess::Within(..),
                _,
            ) => {
                self.guess = self.wider(after, possible, walk).unwrap_or(Guess::Any(possible));
                true
            }
        }
    }
}
