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
    /// By thread: two others, of which the constants must be as far apart on either side of its own, and the coefficients the
    /// same; itself twice, where it decides or is not in the mask. Twice an earlier one for one that equals it.
    between: Vec<[u32; 2]>,
    /// The threads that do, in order.
    threads: Vec<u32>,
    /// What it holds for.
    tables: Vec<(Rc<[i64]>, Part)>,
    /// The facts of the last question.
    facts: Known,
    /// How many threads decided, and how many tables there were, when the tables were gathered anew.
    at_first: (usize, usize),
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
            between: Vec::new(),
            threads: Vec::new(),
            tables: Vec::new(),
            facts: Known::default(),
            at_first: (0, 0),
            mask,
        };
        deciding.begin()?;
        Some(deciding)
    }

    /// Forgets all forms, so that the first thread decides for all.
    fn begin(&mut self) -> Option<()> {
        let first = self.mask.iter().position(|active| *active)?;
        let others = |(thread, active): (usize, &bool)| match thread > first && *active {
            true => [first as u32; 2],
            false => [thread as u32; 2],
        };
        self.between = self.mask.iter().enumerate().map(others).collect();
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
        // Forms of the past may be the reason that many threads decide, or that there is much to compare.
        let is_much =
            self.threads.len() > 16 + 2 * self.at_first.0 || self.tables.len() > 128 + 2 * self.at_first.1;
        if is_much && self.begin().is_some() {
            self.take(goal);
            facts.iter().rev().for_each(|fact| {
                self.take(fact);
            });
            self.at_first = (self.threads.len(), self.tables.len());
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
        // Threads that are not there may have any numbers.
        let fits = |mask: &Mask| {
            let range = lanes.extremes(mask);
            range.is_some_and(|(least, most)| most.checked_sub(least).is_some())
        };
        if !fits(&Mask::Uniform(true)) && !fits(&Mask::Each(Rc::clone(&self.mask))) {
            // Their differences may not fit.
            self.between = (0..self.mask.len() as u32).map(|thread| [thread; 2]).collect();
            self.threads = (0..self.mask.len() as u32).filter(|thread| self.mask[*thread as usize]).collect();
            return;
        }
        let known = self.tables.len();
        self.tables.push((Rc::clone(table), part));
        let values: &[i64] = table;
        let mut all = std::mem::take(&mut self.between);
        let between: &mut [[u32; 2]] = &mut all;
        let (mut thread, mut changed) = (0, false);
        while thread < values.len() {
            // As in `agrees`, which would be a call for each thread.
            let [before, behind] = between[thread];
            let (before, own, behind) = (values[before as usize], values[thread], values[behind as usize]);
            let is_between = match part {
                Part::Constant => own.wrapping_sub(before) == behind.wrapping_sub(own),
                Part::Coefficient => own == before && own == behind,
            };
            if !is_between {
                between[thread] = self.others(thread);
                changed |= between[thread][0] as usize == thread;
            }
            thread += 1;
        }
        self.between = all;
        if changed {
            let decides =
                |thread: &u32| self.mask[*thread as usize] && self.between[*thread as usize][0] == *thread;
            self.threads = (0..self.mask.len() as u32).filter(decides).collect();
        } else if self.tables.iter().take(known).any(|(other, of)| *of == part && other == table) {
            // The same numbers in another place.
            self.tables.pop();
        }
    }

    /// Two threads between which one lies in all forms; itself twice if there are none.
    fn others(&self, thread: usize) -> [u32; 2] {
        let count = self.mask.len();
        let mut by = 1;
        while by < count {
            let (before, behind) = (thread.wrapping_sub(by), thread + by);
            if before < count && self.mask[before] {
                let is_there = behind < count && self.mask[behind];
                let agree = |between: [u32; 2]| {
                    self.tables.iter().all(|(values, part)| agrees(values, *part, thread, between))
                };
                let midway = [before as u32, behind as u32];
                if is_there && agree(midway) && self.differs(thread, before) {
                    return midway;
                }
                if agree([before as u32; 2]) {
                    return [before as u32; 2];
                }
            }
            by *= 2;
        }
        [thread as u32; 2]
    }

    fn differs(&self, a: usize, b: usize) -> bool {
        self.tables.iter().any(|(values, _)| values[a] != values[b])
    }
}

fn agrees(values: &[i64], part: Part, thread: usize, [before, behind]: [u32; 2]) -> bool {
    let (before, own, behind) = (values[before as usize], values[thread], values[behind as usize]);
    match part {
        Part::Constant => own.wrapping_sub(before) == behind.wrapping_sub(own),
        Part::Coefficient => own == before && own == behind,
    }
}

#[cfg(test)]
mod tests {
    use super::Deciding;
    use crate::facts::lanes::Lanes;
    use crate::facts::linear::Linear;
    use std::rc::Rc;

    const THREADS: i64 = 64;

    fn form(of_thread: impl Fn(i64) -> i64) -> Linear {
        Linear::constant(Lanes::each((0..THREADS).map(of_thread).collect()))
    }

    fn deciding(mask: impl Fn(i64) -> bool, goal: &Linear, facts: &[Linear]) -> Vec<u32> {
        let mask: Vec<bool> = (0..THREADS).map(mask).collect();
        let facts: Vec<Rc<Linear>> = facts.iter().cloned().map(Rc::new).collect();
        let mut deciding = Deciding::new(mask.into()).expect("a thread in the mask");
        deciding.take_all(goal, &facts);
        deciding.threads
    }

    #[test]
    fn the_ends_of_a_row_and_the_corners_of_a_rectangle_decide() {
        assert_eq!(deciding(|_| true, &Linear::int(3), &[]), [0]);
        assert_eq!(deciding(|_| true, &form(|t| 5 * t), &[Linear::int(1)]), [0, 63]);
        assert_eq!(deciding(|t| t % 2 == 1, &form(|t| 5 * t), &[]), [1, 63]);
        assert_eq!(deciding(|_| true, &form(|t| t % 8), &[form(|t| t / 8)]), [0, 7, 56, 63]);
        // What one form leaves out, another one may need.
        assert!(deciding(|_| true, &form(|t| t), &[form(|t| i64::from(t == 20))]).contains(&20));
    }

    #[test]
    fn numbers_whose_differences_do_not_fit_leave_nobody_out() {
        let ends = form(|t| if t % 2 == 0 { i64::MIN } else { i64::MAX });
        assert_eq!(deciding(|_| true, &ends, &[]).len(), 64);
        // Those of threads that are not there are no matter.
        assert_eq!(deciding(|t| t % 2 == 0, &ends, &[]), [0]);
    }
}
