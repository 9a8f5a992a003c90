//! Executes the IR once for a whole block.

use super::address::{Obstacle, tile_offset};
use super::condition::Truth;
use super::eval::{NARROW_LIMIT, Operation};
use super::lanes::{Lanes, Mask};
use super::linear::{Linear, SymbolId};
use super::prove::{FactList, gcd, tighten};
use super::symbol::{Residue, SymbolKind, Symbols};
use super::{Escape, Presence, RegisterFault, Run, Visit};
use crate::ir::{
    Axis, Base, BinaryOp, Block, CompareOp, ExprKind, Handle, Kernel, Local, Loop, Scalar, Site, Stmt,
};
use std::collections::BTreeMap;
use std::rc::Rc;

/// Loops with more iterations than this are executed once, with a symbol.
const MOST_ITERATIONS: i64 = 4096;
/// Accesses visited before loops are no longer executed iteration by iteration.
const MOST_VISITS: usize = 1 << 16;

/// A value of every thread.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// An integer.
    Int(Linear),
    /// A bool.
    Truth(Truth),
    /// A float or a vector: nothing that an address depends on.
    Data,
}

/// What one walk found.
pub(super) struct Walked {
    pub(super) run: Run,
    pub(super) trips: Vec<Option<u32>>,
    pub(super) narrow: bool,
    pub(super) requests: BTreeMap<SymbolKind, i64>,
}

/// The state of the walk.
pub(super) struct Walk<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) threads: usize,
    pub(super) symbols: Symbols,
    /// The residues that this run assumes.
    pub(super) residues: &'a BTreeMap<SymbolKind, Residue>,
    /// Residues that would have helped.
    requests: BTreeMap<SymbolKind, i64>,
    /// The results of operations that would have been exact with them.
    pub(super) pending: Vec<SymbolId>,
    /// By local.
    pub(super) environment: Vec<Option<Value>>,
    /// The threads that can be here.
    pub(super) mask: Mask,
    presence: Presence,
    /// Facts of the branches around this point and of the symbols derived in them, innermost last.
    pub(super) guards: FactList,
    /// Facts that hold everywhere: contracts and the grid.
    pub(super) defining: FactList,
    /// Symbols derived in the branches around this point.
    pub(super) derived: Vec<(Operation, Linear, Linear, SymbolId)>,
    visits: Vec<Visit>,
    pub(super) escapes: Vec<Escape>,
    pub(super) register_faults: Vec<RegisterFault>,
    trips: Vec<Option<Option<u32>>>,
    pub(super) narrow: bool,
}

/// Walks a kernel under the assumption that symbols have these residues.
pub(super) fn run(kernel: &Kernel, residues: &BTreeMap<SymbolKind, Residue>) -> Walked {
    let mut walk = Walk {
        kernel,
        threads: kernel.threads() as usize,
        symbols: Symbols::default(),
        residues,
        requests: BTreeMap::new(),
        pending: Vec::new(),
        environment: vec![None; kernel.locals.len()],
        mask: Mask::Uniform(true),
        presence: Presence::All,
        guards: Vec::new(),
        defining: Vec::new(),
        derived: Vec::new(),
        visits: Vec::new(),
        escapes: Vec::new(),
        register_faults: Vec::new(),
        trips: vec![None; kernel.loops.len()],
        narrow: true,
    };
    walk.contract();
    // The host's arithmetic is checked at launch, not here.
    (walk.narrow, walk.escapes) = (true, Vec::new());
    walk.block(&kernel.body);
    let Walk { symbols, visits, escapes, register_faults, trips, narrow, requests, .. } = walk;
    let trips = trips.into_iter().map(|trip| trip.flatten()).collect();
    Walked { run: Run { symbols, visits, escapes, register_faults }, trips, narrow, requests }
}

impl Walk<'_> {
    /// Takes in the contract: equal extents become one symbol, known remainders are divided out, the rest are facts.
    fn contract(&mut self) {
        let kernel = self.kernel;
        let mut conditions = Vec::new();
        for contract in &kernel.requires {
            conjuncts(kernel, contract.condition, &mut conditions);
        }
        for condition in &conditions {
            self.equate(*condition);
        }
        for condition in &conditions {
            self.fix_residue(*condition);
        }
        for condition in conditions {
            let truth = self.truth(condition);
            for fact in truth.when_true {
                self.symbols.bound(&fact);
                self.defining.push(fact);
            }
        }
        // The grid is the same everywhere, so its facts are made here, outside every branch.
        for axis in [Axis::X, Axis::Y, Axis::Z] {
            self.block_index(axis);
        }
    }

    /// How much is known here; [`Walk::leave`] forgets what was learnt since.
    pub(super) fn enter(&self) -> (usize, usize) {
        (self.guards.len(), self.derived.len())
    }

    pub(super) fn leave(&mut self, (guards, derived): (usize, usize)) {
        self.guards.truncate(guards);
        self.derived.truncate(derived);
    }

    /// `a == b`, where one side is a symbol.
    fn equate(&mut self, condition: Handle<crate::ir::Expr>) {
        let ExprKind::Compare(CompareOp::Equal, a, b) = self.kernel.exprs[condition].kind else { return };
        if self.remainder(a).or_else(|| self.remainder(b)).is_some() {
            return;
        }
        let (a, b) = (self.form(a), self.form(b));
        for (from, to) in [(&a, &b), (&b, &a)] {
            if let Some(symbol) = from.lone_symbol()
                && to.coefficient(symbol).is_zero()
                && self.is_uniform(to)
            {
                self.symbols.replace(symbol, to.clone());
                return;
            }
        }
    }

    /// `a % n == r`, where `a` is a symbol.
    fn fix_residue(&mut self, condition: Handle<crate::ir::Expr>) {
        let ExprKind::Compare(CompareOp::Equal, a, b) = self.kernel.exprs[condition].kind else { return };
        for (a, b) in [(a, b), (b, a)] {
            let (Some((value, modulus)), Some(residue)) = (self.remainder(a), self.form(b).known_uniform())
            else {
                continue;
            };
            let form = self.form(value);
            // Of a symbol that is already divided out, what is left is a symbol again.
            let (Some(modulus), [(symbol, Lanes::Uniform(factor))]) =
                (self.form(modulus).known_uniform(), form.terms.as_slice())
            else {
                continue;
            };
            let left = modulus / gcd(factor.abs(), modulus.max(1)).max(1);
            if form.constant.is_zero() && residue == 0 && modulus > 0 && left > 1 {
                self.symbols.split(*symbol, Residue { modulus: left, residue: 0 });
            } else if *factor == 1 && form.constant.is_zero() && (1..modulus).contains(&residue) {
                self.symbols.split(*symbol, Residue { modulus, residue });
            }
        }
    }

    /// The operands of a `%`.
    fn remainder(
        &self,
        expr: Handle<crate::ir::Expr>,
    ) -> Option<(Handle<crate::ir::Expr>, Handle<crate::ir::Expr>)> {
        match self.kernel.exprs[expr].kind {
            ExprKind::Binary(BinaryOp::Rem, a, b) => Some((a, b)),
            _ => None,
        }
    }

    pub(super) fn grid_extent(&mut self, axis: Axis) -> Linear {
        let kind = SymbolKind::Grid(axis);
        if let Some(id) = self.symbols.find(&kind) {
            return self.symbols.resolved(id);
        }
        let limit = if axis == Axis::X { i128::from(i32::MAX) } else { 65_535 };
        let form = self.symbol_form(kind.clone(), (1, limit), limit, format!("grid_{}()", axis.name()));
        let extent = self.form(self.kernel.grid[axis.index()]);
        if let Some(id) = self.symbols.find(&kind)
            && self.is_uniform(&extent)
            && form.lone_symbol() == Some(id)
        {
            self.symbols.replace(id, extent.clone());
        }
        // The launch has at least one block and at most as many as a grid can have.
        let facts =
            [extent.offset(-1), extent.scale(&Lanes::Uniform(-1)).and_then(|form| form.offset(limit as i64))];
        self.defining.extend(facts.into_iter().flatten().map(|fact| Rc::new(tighten(fact))));
        extent
    }

    pub(super) fn block_index(&mut self, axis: Axis) -> Linear {
        let kind = SymbolKind::Block(axis);
        if let Some(id) = self.symbols.find(&kind) {
            return self.symbols.resolved(id);
        }
        let extent = self.grid_extent(axis);
        let limit = if axis == Axis::X { i128::from(i32::MAX) } else { 65_535 } - 1;
        let high = extent.known_uniform().map_or(limit, |extent| i128::from(extent) - 1);
        let form = self.symbol_form(kind, (0, high), high, format!("block_{}()", axis.name()));
        let room = extent.sub(&form).and_then(|room| room.offset(-1));
        self.defining.extend(room.map(|room| Rc::new(tighten(room))));
        form
    }

    /// Everything that holds here, the innermost guards first.
    pub(super) fn all_facts(&self) -> FactList {
        self.guards.iter().rev().chain(&self.defining).cloned().collect()
    }

    /// Asks for the analysis to be repeated for each residue of a loop counter that a form holds; whether it will be.
    /// Where the form holds the result of an operation that asked before, it will look different then, so it does not
    /// ask now.
    pub(super) fn request(&mut self, form: &Linear, symbol: SymbolId, modulus: i64) -> bool {
        let (kind, whole) = self.symbols.before_splits(symbol, modulus);
        let wanted = matches!(kind, SymbolKind::Counter(_)) && modulus > 1;
        if wanted && !form.terms.iter().any(|(symbol, _)| self.pending.contains(symbol)) {
            let entry = self.requests.entry(kind.clone()).or_insert(1);
            *entry = (*entry / gcd(*entry, whole)).saturating_mul(whole);
        }
        wanted
    }

    // ---- statements ----

    fn block(&mut self, block: &Block) {
        for stmt in block {
            if self.mask.is_empty() {
                return;
            }
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign { local, value } => {
                let value = self.value(*value);
                self.environment[local.index()] = Some(value);
            }
            Stmt::Fill { value, .. } => {
                self.value(*value);
            }
            Stmt::AssignElement { local, index, value } => {
                self.value(*value);
                let span = index.first().map_or(self.kernel.span, |index| self.kernel.exprs[*index].span);
                self.register_access(*local, index, span);
            }
            Stmt::AssignLane { local, index, lane, value } => {
                self.value(*value);
                let kernel = self.kernel;
                let (width, span) = (kernel.locals[*local].ty.width(), kernel.exprs[*lane].span);
                self.register_access(*local, index, span);
                self.register_index(*lane, width, span);
            }
            Stmt::Load { local, site } => {
                let uniform = self.visit(*site);
                let ty = self.kernel.locals[*local].ty;
                let value = match ty {
                    crate::ir::Type::Scalar(scalar) => {
                        let memory = self.kernel.base_name(self.kernel.sites[*site].place.base);
                        self.opaque_from(scalar, uniform, format!("a value of `{memory}`"))
                    }
                    crate::ir::Type::Vector(..) => Value::Data,
                };
                self.environment[local.index()] = Some(value);
            }
            Stmt::Store { site, value } => {
                self.value(*value);
                self.visit(*site);
            }
            Stmt::Sync(..) => {}
            Stmt::If { condition, then, otherwise } => {
                let truth = self.truth(*condition);
                self.branch(&truth, then, otherwise);
            }
            Stmt::For(handle) => self.for_loop(*handle),
        }
    }

    /// Notes an access; whether its address is the same for all threads.
    fn visit(&mut self, site: Handle<Site>) -> bool {
        let place = &self.kernel.sites[site].place;
        let index: Vec<Linear> = place.index.iter().map(|index| self.form(*index)).collect();
        let uniform = index.iter().all(|form| self.is_uniform(form));
        let visit =
            Visit { site, index, mask: self.mask.clone(), presence: self.presence, facts: self.all_facts() };
        match place.base {
            Base::Tile(tile) => {
                let tile = &self.kernel.tiles[tile];
                if let Err(Obstacle::Residue(symbol, modulus)) =
                    tile_offset(tile, tile.layout, &visit, &self.symbols)
                {
                    let forms = visit.index.iter().filter(|form| form.find(symbol).is_some());
                    for form in forms {
                        self.request(form, symbol, modulus);
                    }
                }
            }
            Base::Tensor(param) => {
                // Makes the products of index and stride, which the address is a sum of.
                for (dimension, form) in visit.index.iter().enumerate().take(visit.index.len() - 1) {
                    let interior = self.symbols.interior(form);
                    if let (Value::Int(stride), Some(interior)) =
                        (self.stride(param, dimension as u32), interior)
                    {
                        self.symbols.multiply(&interior, &stride);
                    }
                }
            }
        }
        self.visits.push(visit);
        uniform
    }

    fn branch(&mut self, truth: &Truth, then: &Block, otherwise: &Block) {
        let (mask, presence, scope) = (self.mask.clone(), self.presence, self.enter());
        let before = self.environment.clone();
        let settled = truth.known_true.or(&truth.known_false).or(&mask.not()).is_full();
        let inner = match (settled, truth.arbitrary) {
            (true, _) => presence,
            (false, true) => Presence::Any,
            (false, false) => presence.max(Presence::Edge),
        };
        self.presence = inner;
        self.mask = mask.and(&truth.known_false.not());
        self.guards.extend(truth.when_true.iter().cloned());
        self.block(then);
        self.leave(scope);
        let after_then = std::mem::replace(&mut self.environment, before);
        self.mask = mask.and(&truth.known_true.not());
        self.guards.extend(truth.when_false.iter().cloned());
        self.block(otherwise);
        self.leave(scope);
        (self.mask, self.presence) = (mask, presence);
        let mut assigned = Vec::new();
        assigned_in(self.kernel, then, &mut assigned);
        assigned_in(self.kernel, otherwise, &mut assigned);
        for local in assigned {
            let (a, b) = (after_then[local.index()].clone(), self.environment[local.index()].clone());
            self.environment[local.index()] = match (a, b) {
                (Some(a), Some(b)) => {
                    let scalar = self.kernel.locals[local].ty.scalar();
                    Some(self.join(truth, a, b, scalar))
                }
                (a, b) => a.or(b),
            };
        }
    }

    fn for_loop(&mut self, handle: Handle<Loop>) {
        let head = &self.kernel.loops[handle];
        let (start, end, step) = (self.form(head.start), self.form(head.end), self.form(head.step));
        let known = match (start.known(), end.known(), step.known_uniform()) {
            (Some(start), Some(end), Some(step)) if step > 0 => self.iterations(start, end, step),
            _ => None,
        };
        let trip = known.as_ref().and_then(|(most, same)| same.then_some(*most));
        // Seen with two different trip counts, it has none.
        self.trips[handle.index()] = match self.trips[handle.index()] {
            None => Some(trip),
            Some(earlier) => Some(earlier.filter(|earlier| Some(*earlier) == trip)),
        };
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
    fn any_iteration(&mut self, handle: Handle<Loop>, start: &Linear, end: &Linear, step: &Linear) {
        let head = &self.kernel.loops[handle];
        let mut assigned = Vec::new();
        assigned_in(self.kernel, &head.body, &mut assigned);
        self.forget(&assigned);
        let name = format!("the iteration of `{}`", self.kernel.locals[head.variable].name);
        let round = self.symbol_form(SymbolKind::Counter(handle), (0, 1 << 62), NARROW_LIMIT * 2, name);
        let variable = match step.known_uniform() {
            Some(step) => start.add_scaled(&round, &Lanes::Uniform(step)),
            None => self.symbols.multiply(&round, step).and_then(|distance| start.add(&distance)),
        };
        let scalar = self.kernel.locals[head.variable].ty.scalar();
        let (presence, scope) = (self.presence, self.enter());
        let variable = match variable {
            Some(form) => form,
            None => match self.opaque(scalar, false) {
                Value::Int(form) => form,
                Value::Truth(_) | Value::Data => return,
            },
        };
        let same = [start, end, step].into_iter().all(|bound| self.is_uniform(bound));
        self.presence = if same { presence } else { presence.max(Presence::Edge) };
        let facts = [end.sub(&variable).and_then(|room| room.offset(-1)), variable.sub(start)];
        self.guards.extend(facts.into_iter().flatten().map(|fact| Rc::new(tighten(fact))));
        self.check_width(&variable, scalar);
        self.environment[head.variable.index()] = Some(Value::Int(variable));
        self.block(&head.body);
        self.leave(scope);
        self.presence = presence;
        self.forget(&assigned);
    }

    /// The loop's variable passes its end by less than one step; that must fit 32 bits too.
    fn check_width(&mut self, variable: &Linear, scalar: Scalar) {
        if scalar != Scalar::Usize || !self.narrow {
            return;
        }
        let room = variable.scale(&Lanes::Uniform(-1)).and_then(|form| form.offset(i64::from(i32::MAX)));
        let (facts, mask) = (self.all_facts(), self.mask.clone());
        self.narrow = room.is_some_and(|room| {
            self.symbols.assuming_narrow(|symbols| super::prove::non_negative(&room, &facts, &mask, symbols))
        });
    }

    /// Variables that a loop assigns have any value of their type at the start of an iteration.
    fn forget(&mut self, locals: &[Handle<Local>]) {
        for local in locals {
            if self.environment[local.index()].is_some() {
                let scalar = match self.kernel.locals[*local].ty {
                    crate::ir::Type::Scalar(scalar) => scalar,
                    crate::ir::Type::Vector(..) => continue,
                };
                let name = format!("`{}`, which the loop changes", self.kernel.locals[*local].name);
                self.environment[local.index()] = Some(self.opaque_from(scalar, false, name));
            }
        }
    }
}

/// The conditions that a condition is the conjunction of.
fn conjuncts(kernel: &Kernel, condition: Handle<crate::ir::Expr>, out: &mut Vec<Handle<crate::ir::Expr>>) {
    match kernel.exprs[condition].kind {
        ExprKind::Binary(BinaryOp::And, a, b) => {
            conjuncts(kernel, a, out);
            conjuncts(kernel, b, out);
        }
        _ => out.push(condition),
    }
}

/// The plain variables that a block assigns, loops' own variables left out.
fn assigned_in(kernel: &Kernel, block: &Block, out: &mut Vec<Handle<Local>>) {
    for stmt in block {
        match stmt {
            Stmt::Assign { local, .. } | Stmt::Load { local, .. } => {
                if !out.contains(local) {
                    out.push(*local);
                }
            }
            Stmt::If { then, otherwise, .. } => {
                assigned_in(kernel, then, out);
                assigned_in(kernel, otherwise, out);
            }
            Stmt::For(handle) => assigned_in(kernel, &kernel.loops[*handle].body, out),
            Stmt::Fill { .. }
            | Stmt::AssignElement { .. }
            | Stmt::AssignLane { .. }
            | Stmt::Store { .. }
            | Stmt::Sync(..) => {}
        }
    }
}
