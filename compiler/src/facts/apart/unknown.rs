//! The unknowns of executions, and forms over them: a thread's coordinates are unknowns like any other.

use super::super::Run;
use super::super::lanes::{Lanes, Mask};
use super::super::linear::{Linear, SymbolId};
use super::super::symbol::{self, SymbolKind};
use super::poly::{Monomial, Poly, Var, gcd};
use crate::ir::{Axis, Scope};
use std::collections::HashMap;
use std::rc::Rc;

/// What an unknown is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// The same for all threads of a launch.
    Launch,
    /// The block's position in the grid.
    Block(Axis),
    /// The thread's position in the block.
    Thread(Axis),
    /// A number of each thread that is not linear in its position, by its table.
    Table(usize),
    /// Any other symbol, over which threads that execute an instruction together it is the same.
    Symbol(Scope),
    /// By how much one visit of a site is further than another.
    Shift,
}

/// An unknown.
#[derive(Clone, Debug)]
pub(super) struct Unknown {
    pub(super) kind: Kind,
    pub(super) low: i128,
    pub(super) high: i128,
    /// The same unknown of the other execution, once it has been needed.
    pub(super) twin: Option<Var>,
    /// Its name in messages.
    pub(super) name: String,
}

/// An unknown that is the same wherever its operands are.
#[derive(Clone, Debug)]
pub(super) struct Function {
    pub(super) var: Var,
    pub(super) of: Operation,
    pub(super) operands: Vec<Poly>,
}

/// What it is made by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operation {
    /// A look into a table, by the thread's coordinates.
    Table(usize),
    /// Arithmetic.
    Arithmetic(symbol::Operation),
}

/// All unknowns, and what has been translated.
#[derive(Debug)]
pub(super) struct Unknowns {
    block: [u32; 3],
    list: Vec<Unknown>,
    /// By run, or none for what all runs share, and symbol.
    symbols: HashMap<(Option<usize>, SymbolId), Poly>,
    threads: [Option<Var>; 3],
    /// The unknowns that are functions of others.
    functions: Vec<Function>,
    /// Numbers from 0 of every thread, their greatest common divisor 1.
    pub(super) tables: Vec<(Rc<[i64]>, Var)>,
    /// By where the numbers are in memory: what they are.
    lanes: HashMap<usize, Option<Poly>>,
    /// By where a fact is in memory: its place in `facts`.
    placed: HashMap<usize, Option<usize>>,
    /// Translated facts.
    pub(super) facts: Vec<Poly>,
}

impl Unknowns {
    pub(super) fn new(block: [u32; 3]) -> Unknowns {
        Unknowns {
            block,
            list: vec![Unknown { kind: Kind::Launch, low: 0, high: 0, twin: None, name: String::new() }],
            symbols: HashMap::new(),
            threads: [None; 3],
            functions: Vec::new(),
            tables: Vec::new(),
            lanes: HashMap::new(),
            placed: HashMap::new(),
            facts: Vec::new(),
        }
    }

    pub(super) fn get(&self, var: Var) -> &Unknown {
        &self.list[var as usize]
    }

    pub(super) fn add(&mut self, unknown: Unknown) -> Option<Var> {
        let var = Var::try_from(self.list.len()).ok()?;
        self.list.push(unknown);
        Some(var)
    }

    /// The same unknown of the other execution.
    pub(super) fn twin(&mut self, var: Var) -> Option<Var> {
        if let Some(twin) = self.list[var as usize].twin {
            return Some(twin);
        }
        let twin = self.add(Unknown { twin: None, ..self.get(var).clone() })?;
        self.list[var as usize].twin = Some(twin);
        Some(twin)
    }

    /// The position of the block.
    pub(super) fn block(&mut self, axis: Axis, run: (usize, &Run)) -> Option<Poly> {
        match run.1.symbols.find(&SymbolKind::Block(axis)) {
            Some(id) => self.form(&run.1.symbols.resolved(id), &Mask::Uniform(true), run),
            None => None,
        }
    }

    pub(super) fn thread(&mut self, axis: Axis) -> Option<Var> {
        if let Some(var) = self.threads[axis.index()] {
            return Some(var);
        }
        let high = i128::from(self.block[axis.index()]) - 1;
        let name = format!("thread_{}()", axis.name());
        let unknown = Unknown { kind: Kind::Thread(axis), low: 0, high, twin: None, name };
        let var = self.add(unknown)?;
        self.threads[axis.index()] = Some(var);
        Some(var)
    }

    /// A form of the threads in the mask.
    pub(super) fn form(&mut self, form: &Linear, mask: &Mask, run: (usize, &Run)) -> Option<Poly> {
        let mut out = self.numbers(&form.constant, mask)?;
        for (symbol, coefficient) in &form.terms {
            let symbol = self.symbol(*symbol, run)?;
            let coefficient = self.numbers(coefficient, mask)?;
            for (monomial, value) in &symbol.0 {
                out = out.combine(1, &coefficient.times(*monomial, *value)?, 1)?;
            }
        }
        Some(out)
    }

    /// A fact of the threads in the mask, by its place among the translated ones.
    pub(super) fn fact(&mut self, fact: &Rc<Linear>, mask: &Mask, run: (usize, &Run)) -> Option<usize> {
        let key = Rc::as_ptr(fact) as usize;
        if let Some(place) = self.placed.get(&key) {
            return *place;
        }
        let place = self.form(fact, mask, run).map(|poly| {
            self.facts.push(poly);
            self.facts.len() - 1
        });
        // A form that holds for these threads alone is translated again for others.
        if self.is_plain(fact) {
            self.placed.insert(key, place);
        }
        place
    }

    /// Whether what a form is does not depend on which threads are asked for.
    fn is_plain(&self, form: &Linear) -> bool {
        let plain = |lanes: &Lanes| match lanes {
            Lanes::Uniform(_) => true,
            Lanes::Each(table) => matches!(self.lanes.get(&(table.as_ptr() as usize)), Some(Some(_))),
        };
        plain(&form.constant) && form.terms.iter().all(|(_, coefficient)| plain(coefficient))
    }

    fn symbol(&mut self, id: SymbolId, run: (usize, &Run)) -> Option<Poly> {
        let (number, of) = run;
        let key = ((!of.symbols.is_of_all_runs(id)).then_some(number), id);
        if let Some(poly) = self.symbols.get(&key) {
            return Some(poly.clone());
        }
        let symbol = of.symbols.get(id);
        let poly = match symbol.kind.factors() {
            Some([a, b]) => {
                let (a, b) = (self.symbol(a, run)?, self.symbol(b, run)?);
                match (a.0.as_slice(), b.0.as_slice()) {
                    ([(a, x)], [(b, y)]) => Poly::of(a.times(*b)?, x.checked_mul(*y)?),
                    _ => Poly::default(),
                }
            }
            None => {
                let (low, high) = of.symbols.range(id);
                if low == high {
                    Poly::number(low)
                } else {
                    let kind = match symbol.kind {
                        _ if symbol.is_of_launch => Kind::Launch,
                        SymbolKind::Block(axis) => Kind::Block(axis),
                        _ => Kind::Symbol(symbol.scope),
                    };
                    let unknown = Unknown { kind, low, high, twin: None, name: symbol.name.clone() };
                    let function = symbol.function.as_ref().and_then(|function| {
                        let all = Mask::Uniform(true);
                        let operands = [&function.operands.0, &function.operands.1];
                        let operands = operands.into_iter().map(|form| self.form(form, &all, run));
                        Some((Operation::Arithmetic(function.operation), operands.collect::<Option<_>>()?))
                    });
                    let var = match function {
                        Some((of, operands)) => self.function(unknown, of, operands)?,
                        None => self.add(unknown)?,
                    };
                    Poly::var(var)
                }
            }
        };
        self.symbols.insert(key, poly.clone());
        Some(poly)
    }

    /// Numbers of the threads in the mask.
    fn numbers(&mut self, lanes: &Lanes, mask: &Mask) -> Option<Poly> {
        let table = match lanes {
            Lanes::Uniform(value) => return Some(Poly::number(i128::from(*value))),
            Lanes::Each(table) => table,
        };
        let key = table.as_ptr() as usize;
        let known = match self.lanes.get(&key) {
            Some(known) => known.clone(),
            None => {
                let known = self.linear(table, &Mask::Uniform(true));
                self.lanes.insert(key, known.clone());
                known
            }
        };
        if known.is_some() {
            return known;
        }
        if !mask.is_full()
            && let Some(linear) = self.linear(table, mask)
        {
            return Some(linear);
        }
        let known = self.table(table);
        self.lanes.insert(key, known.clone());
        known
    }

    /// Numbers that are linear in the position of a thread.
    fn linear(&mut self, values: &[i64], mask: &Mask) -> Option<Poly> {
        let [x, y, z] = self.block.map(|extent| extent as usize);
        let base = *values.first()?;
        let step = |at: usize, extent: usize| match extent {
            0 | 1 => Some(0),
            _ => values.get(at)?.checked_sub(base),
        };
        let [dx, dy, dz] = [step(1, x)?, step(x, y)?, step(x * y, z)?];
        let mut row = base;
        let mut i = 0;
        for _ in 0..z {
            let mut start = row;
            for _ in 0..y {
                let mut expected = start;
                let end = i + x;
                while i < end {
                    if values[i] != expected && mask.get(i) {
                        return None;
                    }
                    expected = expected.checked_add(dx)?;
                    i += 1;
                }
                start = start.checked_add(dy)?;
            }
            row = row.checked_add(dz)?;
        }
        let mut out = Poly::number(i128::from(base));
        for (axis, step) in [(Axis::X, dx), (Axis::Y, dy), (Axis::Z, dz)] {
            if step != 0 {
                out = out.combine(1, &Poly::var(self.thread(axis)?), i128::from(step))?;
            }
        }
        Some(out)
    }

    /// Other numbers: a multiple of a table, and a constant.
    fn table(&mut self, values: &[i64]) -> Option<Poly> {
        let least = values.iter().copied().min()?;
        let mut divisor = 0;
        for value in values {
            divisor = gcd(divisor, i128::from(*value) - i128::from(least));
        }
        let divisor = i64::try_from(divisor).ok().filter(|divisor| *divisor > 0)?;
        let reduced: Option<Vec<i64>> =
            values.iter().map(|value| Some(value.checked_sub(least)? / divisor)).collect();
        let reduced: Rc<[i64]> = reduced?.into();
        let var = match self.tables.iter().find(|(table, _)| **table == *reduced) {
            Some((_, var)) => *var,
            None => {
                let high = i128::from(reduced.iter().copied().max()?);
                let kind = Kind::Table(self.tables.len());
                let name = "a number of the thread".into();
                let var = self.add(Unknown { kind, low: 0, high, twin: None, name })?;
                let axes =
                    [Axis::X, Axis::Y, Axis::Z].into_iter().filter(|axis| self.varies(&reduced, *axis));
                let axes: Vec<Axis> = axes.collect();
                let threads = axes.into_iter().map(|axis| self.thread(axis).map(Poly::var));
                if let Some(operands) = threads.collect() {
                    self.functions.push(Function { var, of: Operation::Table(self.tables.len()), operands });
                }
                self.tables.push((reduced, var));
                var
            }
        };
        Poly::number(i128::from(least)).combine(1, &Poly::var(var), i128::from(divisor))
    }

    /// Whether numbers of the threads differ along an axis of the block.
    fn varies(&self, values: &[i64], axis: Axis) -> bool {
        let [x, y, z] = self.block.map(|extent| extent as usize);
        let (stride, extent) = match axis {
            Axis::X => (1, x),
            Axis::Y => (x, y),
            Axis::Z => (x * y, z),
        };
        let first = |thread: usize| thread - thread / stride % extent * stride;
        values.iter().enumerate().any(|(thread, value)| values.get(first(thread)) != Some(value))
    }

    /// The least and the largest number that a table, or a coordinate, has for the threads in a mask.
    pub(super) fn within(&self, var: Var, mask: &Mask) -> Option<(i128, i128)> {
        let [x, y, _] = self.block.map(|extent| extent as usize);
        let number = |thread: usize| match self.get(var).kind {
            Kind::Thread(Axis::X) => Some((thread % x) as i64),
            Kind::Thread(Axis::Y) => Some((thread / x % y) as i64),
            Kind::Thread(Axis::Z) => Some((thread / (x * y)) as i64),
            Kind::Table(table) => self.tables[table].0.get(thread).copied(),
            Kind::Launch | Kind::Block(_) | Kind::Symbol(_) | Kind::Shift => None,
        };
        let Mask::Each(mask) = mask else { return None };
        let mut found: Option<(i64, i64)> = None;
        for (thread, active) in mask.iter().enumerate() {
            if *active {
                let value = number(thread)?;
                found = Some(found.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
            }
        }
        found.map(|(low, high)| (i128::from(low), i128::from(high)))
    }

    /// The coordinates and tables of threads that have come up.
    pub(super) fn of_threads(&self) -> Vec<Var> {
        let tables = self.tables.iter().map(|(_, var)| *var);
        self.threads.iter().copied().flatten().chain(tables).collect()
    }

    /// The number of a coordinate or table, for a thread.
    pub(super) fn number(&self, var: Var, thread: usize) -> i64 {
        let [x, y, _] = self.block.map(|extent| extent as usize);
        match self.get(var).kind {
            Kind::Thread(Axis::X) => (thread % x) as i64,
            Kind::Thread(Axis::Y) => (thread / x % y) as i64,
            Kind::Thread(Axis::Z) => (thread / (x * y)) as i64,
            Kind::Table(table) => self.tables[table].0[thread],
            Kind::Launch | Kind::Block(_) | Kind::Symbol(_) | Kind::Shift => 0,
        }
    }

    /// The result of a function: one unknown wherever it comes up, with what is known of its range.
    fn function(&mut self, unknown: Unknown, of: Operation, operands: Vec<Poly>) -> Option<Var> {
        let is_known = |function: &&Function| {
            let known = self.get(function.var);
            (known.kind, known.low, known.high) == (unknown.kind, unknown.low, unknown.high)
                && function.of == of
                && function.operands == operands
        };
        if let Some(known) = self.functions.iter().find(is_known) {
            return Some(known.var);
        }
        let var = self.add(unknown)?;
        self.functions.push(Function { var, of, operands });
        Some(var)
    }

    /// The functions that forms depend on.
    pub(super) fn functions_in(&self, forms: &[Poly]) -> Vec<Function> {
        let mut found: Vec<Function> = Vec::new();
        let mut open: Vec<&Poly> = forms.iter().collect();
        while let Some(form) = open.pop() {
            let new = |function: &&Function| {
                form.holds(function.var) && found.iter().all(|known| known.var != function.var)
            };
            let new: Vec<&Function> = self.functions.iter().filter(new).collect();
            open.extend(new.iter().flat_map(|function| &function.operands));
            found.extend(new.into_iter().cloned());
        }
        found
    }

    /// The one of a product that is the same for all threads of a launch.
    pub(super) fn of_launch(&self, monomial: Monomial) -> Monomial {
        monomial.part(|var| self.get(var).kind == Kind::Launch)
    }

    /// Threads a block.
    pub(super) fn threads(&self) -> usize {
        self.block.iter().product::<u32>() as usize
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }
}
