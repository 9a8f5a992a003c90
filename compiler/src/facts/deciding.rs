//! Which threads decide whether an inequality holds for all of them.
//!
//! Of threads for which all coefficients agree, every sum of multiples of the facts and the goal has its least constant at
//! a corner of what their constants span. A thread whose constants equal those of an earlier one, or lie midway between
//! those of two others, is none or is not the only one there, and need not be looked at: of a row of threads its ends
//! are left, of a rectangle its corners.

use super::lanes::{Lanes, Mask};
use super::linear::Linear;
use super::search::{Flat, Found, Known, Order};
use super::symbol::Symbols;
use std::cell::RefCell;
use std::rc::Rc;

/// Of how many masks the threads are kept.
const MOST_MASKS: usize = 6;

/// The threads that decide, for the masks that came up lately.
#[derive(Clone, Debug, Default)]
pub(super) struct Deciders {
    /// The one that was used last comes first.
    lately: RefCell<Vec<Deciding>>,
}

/// The threads of a mask that decide for the forms that came up.
#[derive(Clone, Debug)]
struct Deciding {
    mask: Rc<[bool]>,
    /// By thread: why it does not decide.
    left_out: Vec<Reason>,
    /// The threads that do, in order.
    threads: Vec<u32>,
    /// What it holds for.
    tables: Vec<(Rc<[i64]>, Part)>,
    /// The facts of the last question.
    facts: Known,
    /// How many threads decided when the tables were gathered anew.
    at_first: usize,
}

/// Why a thread does not decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    /// It does, or is not in the mask.
    None,
    /// All is as for the thread this far before it.
    Equal(u32),
    /// Constants are midway between those of the threads this far before and behind it, and coefficients the same.
    Midway(u32),
}

/// What of a form a table is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Constant,
    Coefficient,
}

/// A goal and facts, for the threads that decide.
pub(super) struct Question<'a> {
    goal: &'a Flat,
    known: &'a Known,
    symbols: &'a Symbols,
}

impl Question<'_> {
    /// Searches for a proof by at most so many facts, among as many combinations as are allowed.
    pub(super) fn search(&self, depth: u32, order: Order, attempts: &mut u32) -> Option<Found> {
        self.known.search(self.goal, self.symbols, (depth, order), attempts)
    }
}

impl Deciders {
    /// What is known of a goal for all threads of the mask, or what an answer to the question shows.
    pub(super) fn ask(
        &self,
        goal: &Linear,
        facts: &[Rc<Linear>],
        mask: &Mask,
        symbols: &Symbols,
        answer: impl FnOnce(&Question<'_>) -> Option<Found>,
    ) -> Option<Found> {
        let threads = facts.iter().map(|fact| fact.threads()).fold(goal.threads(), usize::max);
        let mask: Rc<[bool]> = match mask {
            Mask::Each(mask) => Rc::clone(mask),
            Mask::Uniform(all) => vec![*all; threads.max(1)].into(),
        };
        let mut lately = self.lately.borrow_mut();
        let same = |known: &Deciding| Rc::ptr_eq(&known.mask, &mask) || known.mask == mask;
        let place = match lately.iter().position(same) {
            Some(place) => place,
            None => {
                let new = Deciding::new(mask)?;
                lately.truncate(MOST_MASKS - 1);
                lately.push(new);
                lately.len() - 1
            }
        };
        lately[..=place].rotate_right(1);
        let deciding = &mut lately[0];
        deciding.take_all(goal, facts);
        let goal = Flat::of(goal, &deciding.threads)?;
        if let Some(found) = deciding.facts.look_up(&goal, symbols) {
            return Some(found);
        }
        let found = answer(&Question { goal: &goal, known: &deciding.facts, symbols })?;
        deciding.facts.remember(goal, found, symbols);
        Some(found)
    }
}

impl Deciding {
    /// `None` for an empty mask.
    fn new(mask: Rc<[bool]>) -> Option<Deciding> {
        let mut deciding = Deciding {
            left_out: Vec::new(),
            threads: Vec::new(),
            tables: Vec::new(),
            facts: Known::default(),
            at_first: 0,
            mask,
        };
        deciding.begin()?;
        Some(deciding)
    }

    /// Forgets all forms, so that the first thread decides for all.
    fn begin(&mut self) -> Option<()> {
        let first = self.mask.iter().position(|active| *active)?;
        let reason = |(thread, active): (usize, &bool)| match thread > first && *active {
            true => Reason::Equal((thread - first) as u32),
            false => Reason::None,
        };
        self.left_out = self.mask.iter().enumerate().map(reason).collect();
        self.threads = vec![first as u32];
        self.tables.clear();
        Some(())
    }

    /// Goes over to other facts, of which the outermost are mostly the same. They come with the innermost first.
    fn take_all(&mut self, goal: &Linear, facts: &[Rc<Linear>]) {
        let count = facts.len();
        let mut same = 0;
        while same < count && same < self.facts.len() && self.facts.is_at(same, &facts[count - 1 - same]) {
            same += 1;
        }
        self.facts.truncate(same);
        let mut more = self.take(goal);
        for fact in facts[..count - same].iter().rev() {
            more |= self.take(fact);
        }
        // Forms of the past may be the reason that many threads decide.
        if self.threads.len() > 16 + 2 * self.at_first && self.begin().is_some() {
            self.take(goal);
            facts.iter().rev().for_each(|fact| {
                self.take(fact);
            });
            self.at_first = self.threads.len();
            more = true;
        }
        if more {
            self.facts.take_anew(&self.threads);
        }
        for fact in facts[..count - same].iter().rev() {
            self.facts.push(fact, &self.threads);
        }
    }

    /// Makes sure that it holds for a form. Whether more threads decide.
    fn take(&mut self, form: &Linear) -> bool {
        let before = self.threads.len();
        self.take_table(&form.constant, Part::Constant);
        for (_, coefficient) in &form.terms {
            self.take_table(coefficient, Part::Coefficient);
        }
        self.threads.len() > before
    }

    fn take_table(&mut self, lanes: &Lanes, part: Part) {
        let Some(table) = lanes.table() else { return };
        if self.tables.iter().any(|(known, of)| *of == part && Rc::ptr_eq(known, table)) {
            return;
        }
        let known = self.tables.len();
        self.tables.push((Rc::clone(table), part));
        let values: &[i64] = table;
        let (mut thread, mut changed) = (0, false);
        while thread < values.len() {
            let reason = self.left_out[thread];
            if reason != Reason::None && !agrees(values, part, thread, reason) {
                let other = self.reason(thread, reason);
                self.left_out[thread] = other;
                changed |= other == Reason::None;
            }
            thread += 1;
        }
        if changed {
            let decides =
                |thread: &u32| self.mask[*thread as usize] && self.left_out[*thread as usize] == Reason::None;
            self.threads = (0..self.mask.len() as u32).filter(decides).collect();
        } else if self.tables.iter().take(known).any(|(other, of)| *of == part && other == table) {
            // The same numbers in another place.
            self.tables.pop();
        }
    }

    /// Why a thread does not decide for any of the forms, if it does not, after a reason that is none.
    fn reason(&self, thread: usize, before: Reason) -> Reason {
        let count = self.mask.len();
        let mut by = 1;
        while by < count {
            let (earlier, later) = (thread.checked_sub(by), thread + by);
            let earlier = earlier.is_some_and(|earlier| self.mask[earlier]);
            for reason in [Reason::Midway(by as u32), Reason::Equal(by as u32)] {
                let there =
                    earlier && (matches!(reason, Reason::Equal(_)) || later < count && self.mask[later]);
                if there
                    && reason != before
                    && self.tables.iter().all(|(values, part)| agrees(values, *part, thread, reason))
                    && (matches!(reason, Reason::Equal(_)) || self.differs(thread, thread - by))
                {
                    return reason;
                }
            }
            by *= 2;
        }
        Reason::None
    }

    fn differs(&self, a: usize, b: usize) -> bool {
        self.tables.iter().any(|(values, _)| values[a] != values[b])
    }
}

fn agrees(values: &[i64], part: Part, thread: usize, reason: Reason) -> bool {
    match (reason, part) {
        (Reason::None, _) => true,
        (Reason::Equal(by), _) | (Reason::Midway(by), Part::Coefficient)
            if values[thread] != values[thread - by as usize] =>
        {
            false
        }
        (Reason::Equal(_), _) => true,
        (Reason::Midway(by), Part::Coefficient) => values[thread] == values[thread + by as usize],
        (Reason::Midway(by), Part::Constant) => {
            let (before, own, after) =
                (values[thread - by as usize], values[thread], values[thread + by as usize]);
            own.checked_sub(before).is_some_and(|step| after.checked_sub(own) == Some(step))
        }
    }
}
