//! Executes the IR once for a whole block.

use super::address::{Obstacle, tile_obstacle};
use super::conditions::{Condition, ConditionKind, Conditions, GridExtent};
use super::inert::Inert;
use super::lanes::{Lanes, Mask};
use super::linear::{Linear, SymbolId};
use super::operations::{self, Operations};
use super::order::{Around, Interval, Moment, Waited, written};
use super::prove::{FactList, gcd, tighten};
use super::symbol::{self, Residue, SymbolKind, Symbols};
use super::together::{Divergence, Fork};
use super::truth::{Truth, Value};
use super::unwritten::{Branch, Counted, Step, StepKind, Unwritten, Written};
use super::{Escape, Presence, RegisterFault, Run, Trips, Visit, Wrap};
use crate::ir::{
    Atomic, Axis, Base, BinaryOp, Block, CompareOp, Copy, Expr, ExprKind, Handle, Kernel, Local, Param,
    ParamKind, Scalar, Scope, Site, Stmt, Unaligned, UnaryOp,
};
use crate::span::SpanId;
use std::collections::BTreeMap;
use std::rc::Rc;
use tileproof_model::limits::MAX_GRID;

/// What one walk found.
pub(super) struct Walked {
    pub(super) run: Run,
    pub(super) trips: Vec<Trips>,
    pub(super) narrow: bool,
    /// Whether no block has the residues that this run assumes: it says nothing.
    pub(super) unreached: bool,
    pub(super) requests: Requests,
    /// Whether it ended where it first asked for a residue: it says nothing.
    pub(super) unfinished: bool,
    /// What has been done for the kernel so far.
    pub(super) work: u64,
    pub(super) inert: Inert,
    /// Where that became too much.
    pub(super) exhausted: Option<SpanId>,
}

/// How much is done for one kernel at most, in statements of one thread: some seconds.
const MOST_WORK: u64 = 1 << 26;

/// Symbols whose residue would help, each with the modulus.
pub(super) type Requests = BTreeMap<SymbolKind, i64>;

/// A loop that the machine code does not unroll.
#[derive(Debug, Default)]
pub(super) struct Rolled {
    /// How many unrolled loops are around it.
    pub(super) depth: usize,
    /// Indices of registers in it, each with the iterations of the unrolled loops inside, and its value: that must be the
    /// same in all iterations of this loop.
    pub(super) indices: BTreeMap<(usize, Vec<u32>), i64>,
}

/// Variables and arguments with the values that they had.
pub(super) struct Flags {
    locals: Vec<(Handle<Local>, Option<Value>)>,
    params: Vec<(Handle<Param>, Option<bool>)>,
}

/// The state of the walk.
pub(super) struct Walk<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) threads: usize,
    pub(super) symbols: Symbols,
    /// The residues that this run assumes.
    pub(super) residues: &'a BTreeMap<SymbolKind, Residue>,
    requests: Requests,
    /// Whether it goes on without the residues that it asks for.
    pub(super) thorough: bool,
    /// The results of operations that will be exact with them.
    pub(super) pending: Vec<SymbolId>,
    /// By local.
    pub(super) environment: Vec<Option<Value>>,
    /// By argument: its value where it is a bool that is known here.
    pub(super) flags: Vec<Option<bool>>,
    /// The threads that can be here.
    pub(super) mask: Mask,
    pub(super) presence: Presence,
    /// Facts of the branches around this point and of the symbols derived in them, innermost last.
    pub(super) guards: FactList,
    /// Facts that hold everywhere: contracts and the grid.
    pub(super) defining: FactList,
    /// By axis, once it has come up.
    pub(super) grid: Vec<GridExtent>,
    /// By axis, once it has come up: every thread's position in the block.
    pub(super) thread_indices: [Option<Lanes>; 3],
    /// Symbols derived in the branches around this point.
    pub(super) derived: Vec<(Rc<symbol::Function>, SymbolId)>,
    /// Minima and maxima of indices of which it could not be said which side they are.
    pub(super) unsettled: Vec<symbol::Function>,
    pub(super) visits: Vec<Visit>,
    /// Accesses in the iterations that meet those that stand for all.
    pub(super) replays: Vec<Visit>,
    /// Where the threads of the block are.
    pub(super) moment: Moment,
    pub(super) intervals: Vec<Interval>,
    /// The asynchronous copies that are waited for.
    pub(super) waits: Vec<Waited>,
    /// Where an iteration is walked that does not stand for all: see [`Interval::again`].
    pub(super) again: Option<(u32, SpanId)>,
    /// How many such walks there were.
    pub(super) walks: u32,
    /// The tiles and tensors that the kernel writes.
    pub(super) written: Vec<Base>,
    /// The loops around this point of which one iteration stands for all, each with the number of its execution.
    pub(super) rounds: Vec<Around>,
    /// How many executions of such loops there were.
    pub(super) executions: u32,
    /// The conditions and such loops around this point.
    pub(super) path: Rc<[Step]>,
    /// What decides whether a thread comes to this point; kept where the kernel claims to write every element of a tensor.
    pub(super) conditions: Conditions,
    pub(super) written_elements: Vec<Written>,
    /// The counted loops around this point of which one iteration stands for all.
    pub(super) counted: Vec<Counted>,
    pub(super) unwritten: Vec<Unwritten>,
    pub(super) escapes: Vec<Escape>,
    pub(super) escaped: Vec<SymbolId>,
    pub(super) wraps: Vec<Wrap>,
    pub(super) register_faults: Vec<RegisterFault>,
    /// The conditions and loops around this point.
    pub(super) forks: Vec<Fork>,
    pub(super) divergences: Vec<Divergence>,
    pub(super) trips: Vec<Trips>,
    pub(super) narrow: bool,
    /// Statements that have been executed, times the threads of a block.
    pub(super) work: u64,
    /// Whether that became too much: nothing is executed any more.
    pub(super) exhausted: bool,
    /// The outermost loop in which it did.
    pub(super) exhausted_in: Option<SpanId>,
    /// How many conditions have been assigned to variables.
    truths: u32,
    /// The iterations of the unrolled loops around this point, outermost first.
    pub(super) unrolled: Vec<u32>,
    /// The loops around this point that are not unrolled.
    pub(super) rolled: Vec<Rolled>,
    /// The loops around this point of which one iteration stands for all.
    pub(super) folds: Vec<SpanId>,
    pub(super) operations: Operations,
    pub(super) inert: Inert,
    /// By expression: its floating-point operations.
    pub(super) costs: Vec<u64>,
    /// How many branches have been taken.
    pub(super) branches: u32,
    /// Whether what is evaluated is the launcher's, not a thread's.
    pub(super) on_host: bool,
    /// Whether a symbol is too small to have the residue that this run assumes.
    pub(super) unreached: bool,
}

/// Walks a kernel under the assumption that symbols have these residues.
/// `work` has been done for the kernel before.
pub(super) fn run(
    kernel: &Kernel,
    residues: &BTreeMap<SymbolKind, Residue>,
    thorough: bool,
    work: u64,
    inert: Inert,
) -> Walked {
    let mut walk = Walk {
        kernel,
        threads: kernel.threads() as usize,
        symbols: Symbols::default(),
        residues,
        requests: Requests::new(),
        thorough,
        pending: Vec::new(),
        environment: vec![None; kernel.locals.len()],
        flags: vec![None; kernel.params.len()],
        mask: Mask::Uniform(true),
        presence: Presence::All,
        guards: Vec::new(),
        defining: Vec::new(),
        grid: Vec::new(),
        thread_indices: [const { None }; 3],
        derived: Vec::new(),
        unsettled: Vec::new(),
        visits: Vec::new(),
        replays: Vec::new(),
        moment: Moment::start(),
        intervals: Vec::new(),
        waits: Vec::new(),
        again: None,
        walks: 0,
        written: written(kernel),
        rounds: Vec::new(),
        executions: 0,
        path: Rc::from([]),
        conditions: Rc::from([]),
        written_elements: Vec::new(),
        counted: Vec::new(),
        unwritten: Vec::new(),
        escapes: Vec::new(),
        escaped: Vec::new(),
        wraps: Vec::new(),
        register_faults: Vec::new(),
        forks: Vec::new(),
        divergences: Vec::new(),
        trips: vec![Trips::Unreached; kernel.loops.len()],
        narrow: true,
        work,
        exhausted: false,
        exhausted_in: None,
        truths: 0,
        unrolled: Vec::new(),
        rolled: Vec::new(),
        folds: Vec::new(),
        operations: Operations::default(),
        inert,
        costs: operations::costs(kernel),
        branches: 0,
        on_host: true,
        unreached: false,
    };
    walk.assume_flags();
    walk.contract();
    walk.on_host = false;
    if !walk.unreached {
        walk.fresh_interval();
        walk.block(&kernel.body);
    }
    let Walk {
        symbols,
        grid,
        visits,
        replays,
        intervals,
        waits,
        unwritten,
        escapes,
        escaped,
        wraps,
        divergences,
        register_faults,
        operations,
        trips,
        narrow,
        unreached,
        requests,
        thorough,
        work,
        inert,
        exhausted,
        exhausted_in,
        ..
    } = walk;
    let exhausted = exhausted.then(|| exhausted_in.unwrap_or(kernel.span));
    let split = residues.keys().filter_map(|kind| match kind {
        SymbolKind::Counter(counted, _) => Some(kernel.loops[*counted].span),
        SymbolKind::Round(head, _) => Some(*head),
        _ => None,
    });
    let split = split.collect();
    let run = Run {
        symbols,
        grid,
        visits,
        replays,
        intervals,
        waits,
        split,
        unwritten,
        escapes,
        escaped,
        wraps,
        divergences,
        register_faults,
        operations,
    };
    let unfinished = !thorough && !requests.is_empty();
    Walked { run, trips, narrow, unreached, requests, unfinished, work, inert, exhausted }
}

impl Walk<'_> {
    /// Takes in what this run assumes of bool arguments: residue 0 is true.
    fn assume_flags(&mut self) {
        for (kind, residue) in self.residues {
            if let SymbolKind::Scalar(param) = kind
                && self.kernel.params[*param].kind == ParamKind::Scalar(Scalar::Bool)
            {
                self.flags[param.index()] = Some(residue.residue == 0);
            }
        }
    }

    /// Asks for the analysis to be repeated for both values of the bool arguments that a condition is made of.
    pub(super) fn request_flags(&mut self, condition: Handle<Expr>) {
        let Expr { kind, ty, .. } = &self.kernel.exprs[condition];
        match kind {
            ExprKind::Param(param) if ty.scalar() == Scalar::Bool => {
                self.ask(SymbolKind::Scalar(*param), 2);
            }
            kind => kind.operands().into_iter().for_each(|operand| self.request_flags(operand)),
        }
    }

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
        self.symbols.end_contract();
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
    fn equate(&mut self, condition: Handle<Expr>) {
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
                self.inherit_range(symbol, to);
                return;
            }
        }
    }

    /// What a symbol was replaced by lies in the symbol's range.
    fn inherit_range(&mut self, symbol: SymbolId, form: &Linear) {
        match form.lone_symbol() {
            Some(other) => self.symbols.narrow_range(other, symbol),
            None => {
                let (low, high) = self.symbols.range(symbol);
                let room =
                    |low: i128| low.checked_neg().and_then(|low| form.offset(i64::try_from(low).ok()?));
                let negated = form.scale(&Lanes::Uniform(-1));
                let below = negated.and_then(|negated| negated.offset(i64::try_from(high).ok()?));
                self.defining
                    .extend([room(low), below].into_iter().flatten().map(|fact| Rc::new(tighten(fact))));
            }
        }
    }

    /// `a % n == r`, where `a` is a symbol.
    fn fix_residue(&mut self, condition: Handle<Expr>) {
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
    fn remainder(&self, expr: Handle<Expr>) -> Option<(Handle<Expr>, Handle<Expr>)> {
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
        let limit = i128::from(MAX_GRID[axis.index()]);
        let form = self.symbol_form(kind.clone(), (1, limit), limit, format!("grid_{}()", axis.name()));
        let extent = self.form(self.kernel.grid[axis.index()]);
        if let Some(id) = self.symbols.find(&kind)
            && self.is_uniform(&extent)
            && form.lone_symbol() == Some(id)
        {
            self.symbols.replace(id, extent.clone());
        }
        self.grid.push(GridExtent { extent: extent.clone(), known: self.all_facts() });
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
        let limit = i128::from(MAX_GRID[axis.index()]) - 1;
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

    /// Asks for the analysis to be repeated for each residue of a symbol that a form holds, if it is a loop counter or a
    /// block index: these take every residue in turn. Whether the form will be another one then; where it holds the
    /// result of an operation that asked before, it will be anyway, so it does not ask now.
    pub(super) fn request(&mut self, form: &Linear, symbol: SymbolId, modulus: i64) -> bool {
        if form.terms.iter().any(|(symbol, _)| self.pending.contains(symbol)) {
            return true;
        }
        let symbol = self.symbols.get(symbol);
        // Of a symbol that has been split already, the quotient must be split again.
        let (kind, by) = symbol.quotient_of.clone().unwrap_or((symbol.kind.clone(), 1));
        let splits = matches!(
            kind,
            SymbolKind::Counter(..) | SymbolKind::Round(..) | SymbolKind::Later(..) | SymbolKind::Block(_)
        ) && modulus > 1;
        if splits {
            self.ask(kind.split_as(), by.saturating_mul(modulus));
        }
        splits
    }

    fn ask(&mut self, kind: SymbolKind, modulus: i64) {
        if self.residues.get(&kind).is_none_or(|residue| residue.modulus % modulus != 0) {
            super::merge(&mut self.requests, kind, modulus);
        }
    }

    /// Whether nothing is executed any more: too much has been, or a run that knows more residues follows.
    pub(super) fn is_over(&self) -> bool {
        self.exhausted || !self.thorough && !self.requests.is_empty()
    }

    /// Counts so many statements of one thread, or what takes as long.
    pub(super) fn charge(&mut self, work: u64) {
        self.work = self.work.saturating_add(work);
        self.exhausted |= self.work > MOST_WORK;
    }

    // ---- statements ----

    pub(super) fn block(&mut self, block: &Block) {
        for stmt in block {
            if self.mask.is_empty() || self.is_over() {
                return;
            }
            self.charge(self.threads as u64);
            if self.exhausted {
                return;
            }
            self.count_statement(stmt);
            self.stmt(stmt);
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Assign { local, value } => {
                let mut value = self.value(*value);
                if let Value::Truth(truth) = &mut value {
                    self.truths += 1;
                    truth.assigned = Some(self.truths);
                }
                self.environment[local.index()] = Some(value);
            }
            // What registers hold is no matter where only the order of accesses is asked.
            Stmt::Fill { .. } | Stmt::AssignElement { .. } if self.again.is_some() => {}
            Stmt::Fill { value, .. } => {
                self.value(*value);
            }
            Stmt::AssignElement { local, index, value } => {
                self.value(*value);
                let span = index.first().map_or(self.kernel.span, |index| self.kernel.exprs[*index].span);
                self.register_access(*local, index, span);
            }
            Stmt::AssignLane { local, index, lane, value } => {
                let value = self.value(*value);
                let kernel = self.kernel;
                let (width, span) = (kernel.locals[*local].ty.width(), kernel.exprs[*lane].span);
                self.register_access(*local, index, span);
                self.register_index(*lane, width, span);
                // Of an array of vectors nothing is kept.
                if index.is_empty() {
                    let before = self.environment[local.index()].as_ref();
                    let rest = before.map_or(Scope::Lane, |before| self.scope_of(before));
                    let scope = rest.min(self.scope_of(&value));
                    self.environment[local.index()] = Some(Value::Data(scope));
                }
            }
            Stmt::Load { local, site } => {
                let mut scope = self.visit(*site);
                if scope > Scope::Warp && self.may_change(self.kernel.sites[*site].place.base) {
                    scope = Scope::Warp;
                }
                let ty = self.kernel.locals[*local].ty;
                let value = match ty {
                    crate::ir::Type::Scalar(scalar) => {
                        let memory = self.kernel.base_name(self.kernel.sites[*site].place.base);
                        self.opaque_from(scalar, scope, || format!("a value of `{memory}`"))
                    }
                    crate::ir::Type::Vector(..) => Value::Data(scope),
                };
                self.environment[local.index()] = Some(value);
            }
            Stmt::LoadMatrices { local, site } => {
                if let Some(matrices) = self.kernel.sites[*site].matrices {
                    let span = self.kernel.sites[*site].span;
                    self.part(Scope::Warp, matrices.name(), span, true);
                }
                self.visit(*site);
                self.environment[local.index()] = Some(Value::Data(Scope::Lane));
            }
            Stmt::LoadUnaligned(Unaligned { local, whole, first, last }) => {
                self.visit(*first);
                self.visit(*last);
                // Where the tensor begins in memory is not known, so any lane may be at its ends.
                let memory = self.kernel.base_name(self.kernel.sites[*first].place.base);
                let name = format!("where `{memory}` begins in memory");
                self.environment[local.index()] = Some(Value::Data(Scope::Lane));
                self.environment[whole.index()] = Some(self.opaque_from(Scalar::Bool, Scope::Lane, || name));
            }
            Stmt::Store { site, value } => {
                self.value(*value);
                self.visit(*site);
            }
            Stmt::Copy(Copy { source, destination, inside }) => {
                let truth = self.truth(*inside);
                self.visit_where(&truth, *source);
                self.visit(*destination);
            }
            Stmt::Atomic(Atomic { local, site, op: _, operands }) => {
                for operand in operands {
                    self.value(*operand);
                }
                self.visit(*site);
                // Each lane gets another value, whatever the address.
                let memory = self.kernel.base_name(self.kernel.sites[*site].place.base);
                let (scalar, name) =
                    (self.kernel.locals[*local].ty.scalar(), || format!("a value of `{memory}`"));
                self.environment[local.index()] = Some(self.opaque_from(scalar, Scope::Lane, name));
            }
            Stmt::Sync(sync, span) => {
                self.meet(sync.participants, sync.object.name(), *span);
                self.synchronise(*sync, *span);
            }
            Stmt::Collective(collective) => self.collective(collective),
            Stmt::If { condition, then, otherwise } => {
                let truth = self.truth(*condition);
                let fork = self.fork(&truth, self.kernel.exprs[*condition].span);
                self.forks.push(fork);
                self.branch(*condition, truth, fork.scope, then, otherwise);
                self.forks.pop();
            }
            Stmt::For(handle) => self.for_loop(*handle),
            Stmt::While { condition, body, span } => self.while_loop(*condition, body, *span),
        }
    }

    /// Whether warps that load one element at different times may find different values, though every block is free of
    /// races: other blocks write to tensors too.
    fn may_change(&self, base: Base) -> bool {
        let writes = |site: &crate::ir::Site| site.place.base == base && site.role != crate::ir::Role::Read;
        matches!(base, Base::Tensor(_)) && self.kernel.sites.iter().any(|(_, site)| writes(site))
    }

    /// Executes a block where a condition holds, or does not: nothing where no thread is, so that what the block assigns is
    /// as it was.
    pub(super) fn block_where(&mut self, condition: Handle<Expr>, holds: bool, block: &Block) {
        if !self.mask.is_empty() {
            let flags = self.take_as(condition, holds);
            self.block(block);
            self.give_back(flags, block);
        }
    }

    /// Where a condition is known to hold, or not to, the bool variables that it is made of are known. What they were.
    pub(super) fn take_as(&mut self, condition: Handle<Expr>, holds: bool) -> Flags {
        let mut found = Vec::new();
        flags_in(self.kernel, condition, holds, &mut found);
        let mut flags = Flags { locals: Vec::new(), params: Vec::new() };
        for (flag, value) in found {
            match flag {
                Flag::Local(local) => {
                    let known = Value::Truth(Truth::known(Mask::Uniform(value)));
                    flags.locals.push((local, self.environment[local.index()].replace(known)));
                }
                Flag::Param(param) => {
                    flags.params.push((param, self.flags[param.index()].replace(value)));
                }
            }
        }
        flags
    }

    /// After the block in which they were known; what it assigns is as it left it.
    pub(super) fn give_back(&mut self, flags: Flags, block: &Block) {
        for (param, value) in flags.params.into_iter().rev() {
            self.flags[param.index()] = value;
        }
        if flags.locals.is_empty() {
            return;
        }
        let mut assigned = Vec::new();
        assigned_in(self.kernel, block, &mut assigned);
        for (local, value) in flags.locals.into_iter().rev() {
            if !assigned.contains(&local) {
                self.environment[local.index()] = value;
            }
        }
    }

    /// Notes an access; over which threads its address is the same.
    fn visit(&mut self, site: Handle<Site>) -> Scope {
        let place = &self.kernel.sites[site].place;
        let index: Vec<Linear> = place.index.iter().map(|index| self.form(*index)).collect();
        let scope = index.iter().map(|form| self.symbols.scope(form)).fold(Scope::Block, Scope::min);
        if self.again.is_some() && !self.is_tracked(&self.kernel.sites[site]) {
            return scope;
        }
        let (mask, presence, facts) = (self.mask.clone(), self.presence, self.all_facts());
        let interval = self.interval_of(&self.kernel.sites[site]);
        let conditions = self.conditions.clone();
        let visit = Visit { site, index, mask, presence, facts, interval, conditions };
        match place.base {
            Base::Tile(tile) => {
                self.follow_tile(tile, &visit);
                let tile = &self.kernel.tiles[tile];
                if let Some(Obstacle::Residue(symbol, modulus)) =
                    tile_obstacle(tile, tile.layout, &visit, &self.symbols)
                {
                    for form in visit.index.iter().filter(|form| form.find(symbol).is_some()) {
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
        scope
    }

    /// Which of the threads are there that have a condition.
    fn presence_where(&self, truth: &Truth) -> Presence {
        let settled = truth.known_true.or(&truth.known_false).or(&self.mask.not()).is_full();
        match (settled, truth.arbitrary) {
            (true, _) => self.presence,
            (false, true) => Presence::Any,
            (false, false) => self.presence.max(Presence::Edge),
        }
    }

    /// Notes an access of the threads for which a condition holds.
    fn visit_where(&mut self, truth: &Truth, site: Handle<Site>) {
        let (mask, presence, scope) = (self.mask.clone(), self.presence, self.enter());
        self.presence = self.presence_where(truth);
        self.mask = mask.and(&truth.known_false.not());
        self.guards.extend(truth.when_true.iter().cloned());
        if !self.mask.is_empty() {
            self.visit(site);
        }
        self.leave(scope);
        (self.mask, self.presence) = (mask, presence);
    }

    fn branch(
        &mut self,
        condition: Handle<Expr>,
        mut truth: Truth,
        together: Scope,
        then: &Block,
        otherwise: &Block,
    ) {
        self.branches += 1;
        let branch = truth.assigned.map_or(Branch::Number(self.branches), Branch::Assigned);
        let both = !self.mask.and(&truth.known_false.not()).is_empty()
            && !self.mask.and(&truth.known_true.not()).is_empty();
        let mut parting =
            if both { self.sides((condition, &truth), together, then, otherwise) } else { None };
        let path = self.path.clone();
        let settled = truth.known_true.or(&truth.known_false).or(&self.mask.not()).is_full();
        let step = |side, exactly: bool, facts: &FactList| {
            let exactly = exactly.then(|| facts.clone());
            Step { kind: StepKind::Side { branch, side, exactly }, scope: together }
        };
        let (if_true, if_false) = (
            step(true, truth.exactly_true, &truth.when_true),
            step(false, truth.exactly_false, &truth.when_false),
        );
        let conditions = self.conditions.clone();
        let span = self.kernel.exprs[condition].span;
        let side = |side, exact, holds: &FactList| {
            let kind = ConditionKind::Side { branch, side, exact, uniform: together >= Scope::Block };
            Condition { kind, span, known: Vec::new(), holds: holds.clone() }
        };
        let sides = [
            side(true, truth.exactly_true, &truth.when_true),
            side(false, truth.exactly_false, &truth.when_false),
        ];
        let [under_true, under_false] = match settled {
            true => [const { None }; 2],
            false => sides.map(Some),
        };
        if !settled {
            self.path = path.iter().cloned().chain([if_true]).collect();
        }
        under_true.into_iter().for_each(|condition| self.under(condition));
        truth.ways_true.push((self.branches, true));
        truth.ways_false.push((self.branches, false));
        let (mask, presence, scope) = (self.mask.clone(), self.presence, self.enter());
        // Where all threads go to one side, what that leaves is what the threads find.
        let before = both.then(|| self.environment.clone());
        let inner = self.presence_where(&truth);
        self.presence = inner;
        self.mask = mask.and(&truth.known_false.not());
        self.guards.extend(truth.when_true.iter().cloned());
        let learnt = self.guards.len();
        self.block_where(condition, true, then);
        truth.when_true.extend(self.guards.drain(learnt..));
        self.leave(scope);
        let after_then = before.map(|before| std::mem::replace(&mut self.environment, before));
        self.other_side(&mut parting);
        if !settled {
            self.path = path.iter().cloned().chain([if_false]).collect();
        }
        self.conditions.clone_from(&conditions);
        under_false.into_iter().for_each(|condition| self.under(condition));
        self.mask = mask.and(&truth.known_true.not());
        self.guards.extend(truth.when_false.iter().cloned());
        let learnt = self.guards.len();
        self.block_where(condition, false, otherwise);
        truth.when_false.extend(self.guards.drain(learnt..));
        self.leave(scope);
        self.rejoin(parting);
        self.conditions = conditions;
        if !settled {
            self.join_written(branch);
            self.path = path;
        }
        (self.mask, self.presence) = (mask, presence);
        // What defines the values of a side that all threads take still holds for them.
        if truth.known_true.or(&self.mask.not()).is_full() {
            self.guards.extend(truth.when_true.iter().cloned());
        } else if truth.known_false.or(&self.mask.not()).is_full() {
            self.guards.extend(truth.when_false.iter().cloned());
        }
        let Some(after_then) = after_then else { return };
        let mut assigned = Vec::new();
        assigned_in(self.kernel, then, &mut assigned);
        assigned_in(self.kernel, otherwise, &mut assigned);
        for local in assigned {
            let (a, b) = (after_then[local.index()].clone(), self.environment[local.index()].clone());
            self.environment[local.index()] = match (a, b) {
                (Some(a), Some(b)) => {
                    let scalar = self.kernel.locals[local].ty.scalar();
                    Some(self.join(&truth, a, b, scalar))
                }
                (a, b) => a.or(b),
            };
        }
    }
}

/// What a condition may be made of.
enum Flag {
    Local(Handle<Local>),
    Param(Handle<Param>),
}

/// The bool variables and arguments whose values follow from that of a condition.
fn flags_in(kernel: &Kernel, condition: Handle<Expr>, holds: bool, out: &mut Vec<(Flag, bool)>) {
    let Expr { kind, ty, .. } = &kernel.exprs[condition];
    if ty.scalar() != Scalar::Bool {
        return;
    }
    match kind {
        ExprKind::Local(local) => out.push((Flag::Local(*local), holds)),
        ExprKind::Param(param) => out.push((Flag::Param(*param), holds)),
        ExprKind::Unary(UnaryOp::Not, a) => flags_in(kernel, *a, !holds, out),
        ExprKind::Binary(BinaryOp::And, a, b) if holds => {
            flags_in(kernel, *a, holds, out);
            flags_in(kernel, *b, holds, out);
        }
        ExprKind::Binary(BinaryOp::Or, a, b) if !holds => {
            flags_in(kernel, *a, holds, out);
            flags_in(kernel, *b, holds, out);
        }
        _ => {}
    }
}

/// The conditions that a condition is the conjunction of.
fn conjuncts(kernel: &Kernel, condition: Handle<Expr>, out: &mut Vec<Handle<Expr>>) {
    match kernel.exprs[condition].kind {
        ExprKind::Binary(BinaryOp::And, a, b) => {
            conjuncts(kernel, a, out);
            conjuncts(kernel, b, out);
        }
        _ => out.push(condition),
    }
}

/// The variables that a block assigns, loops' own variables and arrays left out.
pub(super) fn assigned_in(kernel: &Kernel, block: &Block, out: &mut Vec<Handle<Local>>) {
    for stmt in block {
        let mut plain = stmt.assigned();
        plain.retain(|local| kernel.locals[*local].extents.is_empty() && !out.contains(local));
        out.extend(plain);
        for block in stmt.blocks(kernel) {
            assigned_in(kernel, block, out);
        }
    }
}
