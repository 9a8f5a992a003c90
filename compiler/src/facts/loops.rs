//! Loops: iteration by iteration where the bounds are known, else one iteration that stands for all.

use super::Presence;
use super::eval::{EXTENT_LIMIT, NARROW_LIMIT};
use super::lanes::{Lanes, Mask};
use super::linear::Linear;
use super::prove::tighten;
use super::symbol::SymbolKind;
use super::truth::{Truth, Value};
use super::walk::{Walk, assigned_in};
use super::{Escape, EscapeKind, Trips};
use crate::ir::{Block, Handle, Local, Loop, Scalar, Scope};
use std::rc::Rc;

/// Loops with more iterations than this are executed once, with a symbol.
const MOST_ITERATIONS: i64 = 4096;
/// Accesses visited before loops are no longer executed iteration by iteration.
const MOST_VISITS: usize = 1 << 16;

impl Walk<'_> {
    pub(super) fn for_loop(&mut self, handle: Handle<Loop>) {
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
        for iteration in 0..trips {
            let variable = start.add_scaled(step, &Lanes::Uniform(i64::from(iteration)));
            let (Some(variable), Some(end)) = (variable, end.known()) else { break };
            let inside = variable.known().and_then(|lanes| lanes.zip(end, |i, end| Some(i64::from(i < end))));
            let inside = match inside {
                Some(Lanes::Uniform(value)) => Mask::Uniform(value != 0),
                Some(Lanes::Each(values)) => Mask::each(values.iter().map(|value| *value != 0).collect()),
                None => break,
            };
            self.environment[head.variable.index()] = Some(Value::Int(variable));
            self.mask = mask.and(&inside);
            let before = (!inside.is_full()).then(|| self.environment.clone());
            let scope = self.enter();
            self.block(&head.body);
            self.leave(scope);
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
        let bounds = Bounds { start, end, step, same };
        let name = format!("the iteration of `{}`", self.kernel.locals[head.variable].name);
        let kind = SymbolKind::Counter(handle);
        let split = self.residues.contains_key(&kind);
        if split && !carried.is_empty() {
            // An iteration follows one with another residue, so what holds for those of this residue is not handed on.
            let mark = self.mark();
            let kind = SymbolKind::Derived(self.symbols.len() as u32);
            let round = self.symbol_form(kind, (0, EXTENT_LIMIT), 2 * NARROW_LIMIT, name.clone());
            self.iteration(handle, &round, &bounds, &mut carried, true);
            self.rewind(mark);
        }
        let round = self.symbol_form(kind, (0, EXTENT_LIMIT), 2 * NARROW_LIMIT, name);
        self.iteration(handle, &round, &bounds, &mut carried, !split);
        for variable in carried {
            // After the loop it has gone round any number of times.
            let scalar = self.kernel.locals[variable.local].ty.scalar();
            self.environment[variable.local.index()] = Some(self.opaque(scalar, variable.scope()));
        }
    }

    /// The body for an iteration of this number; the guesses are corrected if they are still open.
    fn iteration(
        &mut self,
        handle: Handle<Loop>,
        round: &Linear,
        bounds: &Bounds<'_>,
        carried: &mut [Carried],
        open: bool,
    ) {
        let head = &self.kernel.loops[handle];
        let Bounds { start, end, step, same } = *bounds;
        let variable = match step.known_uniform() {
            Some(step) => start.add_scaled(round, &Lanes::Uniform(step)),
            None => self.symbols.multiply(round, step).and_then(|distance| start.add(&distance)),
        };
        let scalar = self.kernel.locals[head.variable].ty.scalar();
        let variable = match (variable, self.opaque(scalar, Scope::Lane)) {
            (Some(form), _) | (None, Value::Int(form)) => form,
            (None, Value::Truth(_) | Value::Data) => return,
        };
        let (presence, scope) = (self.presence, self.enter());
        self.presence = if same { presence } else { presence.max(Presence::Edge) };
        let facts = [end.sub(&variable).and_then(|room| room.offset(-1)), variable.sub(start)];
        self.guards.extend(facts.into_iter().flatten().map(|fact| Rc::new(tighten(fact))));
        self.check_width(&variable, scalar);
        loop {
            let mark = self.mark();
            let inside = self.enter();
            for variable in carried.iter_mut() {
                let value = variable.at_start(round, self);
                self.environment[variable.local.index()] = Some(value);
            }
            self.environment[head.variable.index()] = Some(Value::Int(variable.clone()));
            self.block(&head.body);
            self.leave(inside);
            let mut wrong = false;
            for variable in carried.iter_mut().filter(|_| open) {
                wrong |= variable.correct(self);
            }
            if !wrong {
                break;
            }
            self.rewind(mark);
        }
        self.leave(scope);
        self.presence = presence;
    }

    /// The variables from outside that a loop's body assigns, with the best guess for each.
    fn carried(&self, body: &Block, scope: Scope) -> Vec<Carried> {
        let mut assigned = Vec::new();
        assigned_in(self.kernel, body, &mut assigned);
        let scalars = assigned.into_iter().filter_map(|local| {
            let before = self.environment[local.index()].clone()?;
            let is_scalar = matches!(self.kernel.locals[local].ty, crate::ir::Type::Scalar(_));
            let guess = match &before {
                Value::Int(_) => Guess::Probe(scope),
                Value::Truth(_) | Value::Data => Guess::Any(scope),
            };
            is_scalar.then_some(Carried { local, before, most: scope, guess, start: None })
        });
        scalars.collect()
    }

    fn mark(&self) -> Mark {
        Mark {
            visits: self.visits.len(),
            escapes: self.escapes.len(),
            register_faults: self.register_faults.len(),
            narrow: self.narrow,
            trips: self.trips.clone(),
        }
    }

    /// Forgets what was found since.
    fn rewind(&mut self, mark: Mark) {
        self.visits.truncate(mark.visits);
        self.escapes.truncate(mark.escapes);
        self.register_faults.truncate(mark.register_faults);
        (self.narrow, self.trips) = (mark.narrow, mark.trips);
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

/// The head of a loop.
struct Bounds<'a> {
    start: &'a Linear,
    end: &'a Linear,
    step: &'a Linear,
    /// Whether they are the same for all threads.
    same: bool,
}

/// What has been found so far.
struct Mark {
    visits: usize,
    escapes: usize,
    register_faults: usize,
    narrow: bool,
    trips: Vec<Trips>,
}

/// A variable that an iteration of a loop leaves to the next.
struct Carried {
    local: Handle<Local>,
    /// Its value before the loop.
    before: Value,
    /// Over which threads it can be the same at most.
    most: Scope,
    guess: Guess,
    /// Its value at the start of the iteration that was tried.
    start: Option<Linear>,
}

/// What a carried variable holds at the start of an iteration.
#[derive(Clone, Copy)]
enum Guess {
    /// Some index, the same for these threads: only to see whether an iteration moves it by a number.
    Probe(Scope),
    /// Any value of its type, the same for these threads.
    Any(Scope),
    /// Its value before the loop, moved so often by this number.
    Moved(i64),
}

impl Carried {
    fn at_start(&mut self, round: &Linear, walk: &mut Walk<'_>) -> Value {
        let value = self.guessed(round, walk);
        self.start = match &value {
            Value::Int(form) => Some(form.clone()),
            Value::Truth(_) | Value::Data => None,
        };
        value
    }

    fn guessed(&self, round: &Linear, walk: &mut Walk<'_>) -> Value {
        if let (Guess::Moved(by), Value::Int(before)) = (self.guess, &self.before)
            && let Some(form) = before.add_scaled(round, &Lanes::Uniform(by))
        {
            return Value::Int(form);
        }
        if let Guess::Probe(scope) = self.guess {
            return Value::Int(walk.probe(scope));
        }
        let scalar = walk.kernel.locals[self.local].ty.scalar();
        let name = format!("`{}`, which the loop changes,", walk.kernel.locals[self.local].name);
        walk.opaque_from(scalar, self.scope(), name)
    }

    fn scope(&self) -> Scope {
        match self.guess {
            Guess::Probe(scope) | Guess::Any(scope) => scope,
            Guess::Moved(_) => Scope::Lane,
        }
    }

    /// Holds the guess against the value at the end of the iteration; whether it had to be changed.
    fn correct(&mut self, walk: &Walk<'_>) -> bool {
        let scope_of = |value: &Value| match value {
            Value::Int(form) => walk.symbols.scope(form),
            Value::Truth(truth) => truth.scope,
            Value::Data => Scope::Lane,
        };
        let Some(after) = &walk.environment[self.local.index()] else { return false };
        let moved = match (after, &self.start) {
            (Value::Int(after), Some(start)) => after.sub(start).and_then(|moved| moved.known_uniform()),
            (Value::Int(_) | Value::Truth(_) | Value::Data, _) => None,
        };
        let possible = scope_of(after).min(scope_of(&self.before)).min(self.most);
        match (self.guess, moved) {
            (Guess::Moved(by), Some(moved)) if by == moved => false,
            (Guess::Probe(_), Some(moved)) => {
                self.guess = Guess::Moved(moved);
                true
            }
            (Guess::Any(scope), _) if possible >= scope => false,
            (Guess::Probe(_) | Guess::Moved(_) | Guess::Any(_), _) => {
                self.guess = Guess::Any(possible);
                true
            }
        }
    }
}
