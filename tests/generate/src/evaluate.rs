//! Runs a generated program by the rules of the language, thread by thread.
//!
//! A statement that needs no other thread is run by one thread from its beginning to its end, then by the next one; only
//! what threads do together is done in step. So a program whose result depends on the order of threads is not
//! run in a way that the hardware or another executor would choose.

use crate::memory;
use crate::method;
use crate::tree::{
    Access, AtomicOp, Base, Collective, Expr, Kernel, Kind, Local, Pattern, Place, Position, Range,
};
use crate::tree::{Stmt, Type, Whole};
use crate::value::{
    BinaryOp, CompareOp, Scalar, Value, Wrong, binary, cast, compare, extremum, negative, not,
};
use std::collections::HashMap;

/// Where a statement leaves a thread.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flow {
    On,
    Break,
    Continue,
    Return,
}

struct Thread {
    place: [usize; 3],
    /// Its number in the block, x first.
    number: usize,
    locals: Vec<Option<Value>>,
}

struct Block<'a> {
    kernel: &'a Kernel,
    grid: [usize; 3],
    block: [usize; 3],
    tensors: &'a mut [Vec<Value>],
    tiles: Vec<Vec<Option<Value>>>,
    threads: Vec<Thread>,
    /// How many iterations of loops whose end is not known are left before the program is given up.
    rounds: usize,
}

/// The iterations of all threads of a block that a program may take.
const MOST_ROUNDS: usize = 4_000_000;

/// What the memory of all tensors holds after a run.
///
/// # Errors
/// What a well-formed program does not do: index arithmetic that leaves its type, an access outside, a read of what was not
/// written, a collective that not all reach.
pub fn evaluate(kernel: &Kernel) -> Result<Vec<Vec<Value>>, Wrong> {
    let mut tensors = memory::initial(kernel);
    let grid = kernel.grid();
    for z in 0..grid[2] {
        for y in 0..grid[1] {
            for x in 0..grid[0] {
                run_block(kernel, grid, [x, y, z], &mut tensors)?;
            }
        }
    }
    Ok(tensors)
}

fn run_block(
    kernel: &Kernel,
    grid: [usize; 3],
    at: [usize; 3],
    tensors: &mut [Vec<Value>],
) -> Result<(), Wrong> {
    let [nx, ny, nz] = kernel.block();
    let threads = (0..nx * ny * nz).map(|number| Thread {
        place: [number % nx, number / nx % ny, number / nx / ny],
        number,
        locals: Vec::new(),
    });
    let tiles = kernel.tiles.iter().map(|tile| vec![None; tile.extents.iter().product()]);
    let mut block = Block {
        kernel,
        grid,
        block: at,
        tensors,
        tiles: tiles.collect(),
        threads: threads.collect(),
        rounds: MOST_ROUNDS,
    };
    let all: Vec<usize> = (0..nx * ny * nz).collect();
    block.together(&kernel.body, &all)?;
    Ok(())
}

/// Whether threads must run a statement in step.
fn cooperates(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::SyncThreads | Stmt::SyncWarp | Stmt::Whole { .. } => true,
        Stmt::Let { value, .. } | Stmt::LetTuple { value, .. } | Stmt::Assign { value, .. } => {
            matches!(value.kind, Kind::Collective(..))
        }
        Stmt::If { then, otherwise, .. } => then.iter().chain(otherwise).any(cooperates),
        Stmt::For { body, .. } | Stmt::While { body, .. } | Stmt::Loop { body } => {
            body.iter().any(cooperates)
        }
        Stmt::Store { .. }
        | Stmt::Write { .. }
        | Stmt::Atomic { .. }
        | Stmt::Break
        | Stmt::Continue
        | Stmt::Return
        | Stmt::Commit
        | Stmt::Wait(_)
        | Stmt::Call { .. } => false,
    }
}

/// How each thread leaves.
type Left = HashMap<usize, Flow>;

impl Block<'_> {
    /// Runs statements by some threads of the block; returns those that do not go on behind them.
    fn together(&mut self, list: &[Stmt], active: &[usize]) -> Result<Left, Wrong> {
        let mut left = Left::new();
        let mut active = active.to_vec();
        for stmt in list {
            if active.is_empty() {
                break;
            }
            let gone = match cooperates(stmt) {
                true => self.in_step(stmt, &active)?,
                false => {
                    let mut gone = Left::new();
                    for thread in active.iter().rev() {
                        let flow = self.one(*thread, stmt)?;
                        if flow != Flow::On {
                            gone.insert(*thread, flow);
                        }
                    }
                    gone
                }
            };
            active.retain(|thread| !gone.contains_key(thread));
            left.extend(gone);
        }
        Ok(left)
    }

    fn in_step(&mut self, stmt: &Stmt, active: &[usize]) -> Result<Left, Wrong> {
        match stmt {
            Stmt::SyncThreads => self.all_are_here(active, true)?,
            Stmt::SyncWarp => self.all_are_here(active, false)?,
            Stmt::Whole { op, tile, parts, tensor, origin, .. } => {
                self.whole(*op, *tile, parts, *tensor, origin, active)?;
            }
            Stmt::Let { value, .. } | Stmt::LetTuple { value, .. } | Stmt::Assign { value, .. } => {
                let Kind::Collective(collective, operands) = &value.kind else { return Ok(Left::new()) };
                let values = self.collective(*collective, operands, active)?;
                for (thread, value) in active.iter().zip(values) {
                    match stmt {
                        Stmt::Let { local, .. } => self.set(*thread, *local, value),
                        Stmt::Assign { place, op, .. } => self.assign(*thread, place, *op, value)?,
                        _ => return Err("a collective in a pattern".into()),
                    }
                }
            }
            Stmt::If { condition, then, otherwise } => {
                let (mut yes, mut no) = (Vec::new(), Vec::new());
                for thread in active {
                    match self.truth(*thread, condition)? {
                        true => yes.push(*thread),
                        false => no.push(*thread),
                    }
                }
                let mut left = self.together(then, &yes)?;
                left.extend(self.together(otherwise, &no)?);
                return Ok(left);
            }
            Stmt::For { local, range, body, .. } => {
                let mut values: HashMap<usize, Vec<Value>> = HashMap::new();
                for thread in active {
                    let mut list = self.range(*thread, range)?;
                    list.reverse();
                    values.insert(*thread, list);
                }
                return self.rounds_together(active, body, |block, thread| {
                    match values.get_mut(&thread).and_then(Vec::pop) {
                        Some(value) => {
                            block.set(thread, *local, value);
                            Ok(true)
                        }
                        None => Ok(false),
                    }
                });
            }
            Stmt::While { condition, body } => {
                return self.rounds_together(active, body, |block, thread| block.truth(thread, condition));
            }
            Stmt::Loop { body } => return self.rounds_together(active, body, |_, _| Ok(true)),
            Stmt::Store { .. }
            | Stmt::Write { .. }
            | Stmt::Atomic { .. }
            | Stmt::Break
            | Stmt::Continue
            | Stmt::Return
            | Stmt::Commit
            | Stmt::Wait(_)
            | Stmt::Call { .. } => {}
        }
        Ok(Left::new())
    }

    fn rounds_together(
        &mut self,
        active: &[usize],
        body: &[Stmt],
        mut enters: impl FnMut(&mut Self, usize) -> Result<bool, Wrong>,
    ) -> Result<Left, Wrong> {
        let mut returned = Left::new();
        let mut active = active.to_vec();
        loop {
            self.round()?;
            let mut inside = Vec::new();
            for thread in &active {
                if enters(self, *thread)? {
                    inside.push(*thread);
                }
            }
            if inside.is_empty() {
                return Ok(returned);
            }
            let left = self.together(body, &inside)?;
            active = inside;
            active.retain(|thread| !matches!(left.get(thread), Some(Flow::Break | Flow::Return)));
            returned.extend(left.into_iter().filter(|(_, flow)| *flow == Flow::Return));
        }
    }

    fn round(&mut self) -> Result<(), Wrong> {
        self.rounds = self.rounds.checked_sub(1).ok_or("the program takes too long")?;
        Ok(())
    }

    /// The threads of a warp, by its number.
    fn warp(&self, warp: usize) -> std::ops::Range<usize> {
        32 * warp..(32 * warp + 32).min(self.threads.len())
    }

    fn all_are_here(&self, active: &[usize], block: bool) -> Result<(), Wrong> {
        let missing = match block {
            true => active.len() != self.threads.len(),
            false => active.iter().any(|thread| {
                let mut warp = self.warp(thread / 32);
                warp.any(|other| active.binary_search(&other).is_err())
            }),
        };
        if missing { Err("not all threads are together".into()) } else { Ok(()) }
    }

    /// The value of each thread that takes part.
    fn collective(
        &mut self,
        collective: Collective,
        operands: &[Expr],
        active: &[usize],
    ) -> Result<Vec<Value>, Wrong> {
        self.all_are_here(active, collective.is_of_block())?;
        let mut brought = HashMap::new();
        for thread in active {
            let mut values = Vec::new();
            for operand in operands {
                values.push(self.value(*thread, operand)?);
            }
            brought.insert(*thread, values);
        }
        active.iter().map(|thread| self.of_group(collective, *thread, &brought)).collect()
    }

    fn of_group(
        &self,
        collective: Collective,
        thread: usize,
        brought: &HashMap<usize, Vec<Value>>,
    ) -> Result<Value, Wrong> {
        let group = if collective.is_of_block() { 0..self.threads.len() } else { self.warp(thread / 32) };
        let own = &brought[&thread];
        let first = |thread: usize| &brought[&thread][0];
        let lane = thread % 32;
        let by = own.get(1).map_or(0, |value| value.bits() as usize % 32);
        let at = |lane: Option<usize>| {
            let source = lane.map(|lane| thread / 32 * 32 + lane).filter(|source| group.contains(source));
            Ok(first(source.unwrap_or(thread)).clone())
        };
        let holds = |thread: usize| matches!(first(thread), Value::Bool(true));
        match collective {
            Collective::Shuffle => at(Some(by)),
            Collective::ShuffleXor => at(Some(lane ^ by)),
            Collective::ShuffleUp => at(lane.checked_sub(by)),
            Collective::ShuffleDown => at(Some(lane + by).filter(|lane| *lane < 32)),
            Collective::Any | Collective::SyncThreadsOr => Ok(Value::Bool(group.clone().any(holds))),
            Collective::All | Collective::SyncThreadsAnd => Ok(Value::Bool(group.clone().all(holds))),
            Collective::Ballot => Ok(Value::U32(
                group
                    .clone()
                    .filter(|thread| holds(*thread))
                    .fold(0, |mask, thread| mask | 1 << (thread % 32)),
            )),
            Collective::MatchAny => {
                let same = group.clone().filter(|other| first(*other).bits() == own[0].bits());
                Ok(Value::U32(same.fold(0, |mask, thread| mask | 1 << (thread % 32))))
            }
            Collective::SyncThreadsCount => {
                Ok(Value::Usize(group.clone().filter(|thread| holds(*thread)).count()))
            }
            Collective::WarpSum | Collective::BlockSum => {
                self.of_values(group.clone(), brought, |list| tree_sum(&list))
            }
            Collective::WarpMax | Collective::BlockMax | Collective::WarpMin | Collective::BlockMin => {
                let larger = matches!(collective, Collective::WarpMax | Collective::BlockMax);
                let mut most = first(group.start).clone();
                for thread in group.clone() {
                    most = extremum(&most, first(thread), larger)?;
                }
                Ok(most)
            }
            Collective::WarpScanInclusive | Collective::WarpScanExclusive => {
                let list: Vec<Value> = group.clone().map(|thread| first(thread).clone()).collect();
                let exclusive = collective == Collective::WarpScanExclusive;
                scanned(&list, lane, exclusive)
            }
            Collective::BlockScanInclusive | Collective::BlockScanExclusive => {
                let exclusive = collective == Collective::BlockScanExclusive;
                let warps = self.threads.len().div_ceil(32);
                let of_warp = |warp: usize| -> Vec<Value> {
                    self.warp(warp).map(|thread| first(thread).clone()).collect()
                };
                let own = scanned(&of_warp(thread / 32), lane, exclusive)?;
                if warps == 1 {
                    return Ok(own);
                }
                let mut before = Value::zero(own.scalar().unwrap_or(Scalar::U32));
                for warp in 0..thread / 32 {
                    before = binary(BinaryOp::Add, &before, &tree_total(&of_warp(warp))?)?;
                }
                binary(BinaryOp::Add, &before, &own)
            }
        }
    }

    fn of_values(
        &self,
        group: std::ops::Range<usize>,
        brought: &HashMap<usize, Vec<Value>>,
        sum: impl Fn(Vec<Value>) -> Result<Value, Wrong>,
    ) -> Result<Value, Wrong> {
        let mut total: Option<Value> = None;
        let first_warp = group.start / 32;
        for warp in first_warp..group.end.div_ceil(32) {
            let part = sum(self.warp(warp).map(|thread| brought[&thread][0].clone()).collect())?;
            total = Some(match total {
                None => part,
                Some(total) => binary(BinaryOp::Add, &total, &part)?,
            });
        }
        total.ok_or_else(|| "a group without threads".into())
    }

    fn whole(
        &mut self,
        op: Whole,
        tile: usize,
        parts: &[Expr],
        tensor: usize,
        origin: &[Expr],
        active: &[usize],
    ) -> Result<(), Wrong> {
        self.all_are_here(active, true)?;
        let numbers = |block: &mut Self, list: &[Expr]| -> Result<Vec<i128>, Wrong> {
            list.iter().map(|expr| block.index(active[0], expr)).collect()
        };
        let parts = numbers(self, parts)?;
        let origin = numbers(self, origin)?;
        let shape = self.kernel.tiles[tile].extents[parts.len()..].to_vec();
        let count: usize = shape.iter().product();
        let element = self.kernel.tiles[tile].element;
        let base = parts
            .iter()
            .zip(&self.kernel.tiles[tile].extents)
            .fold(0, |number, (part, extent)| number * extent + *part as usize)
            * count;
        for number in 0..count {
            let mut within = Vec::new();
            let mut rest = number;
            for extent in shape.iter().rev() {
                within.insert(0, rest % extent);
                rest /= extent;
            }
            if matches!(op, Whole::LoadTransposed | Whole::StoreTransposed) {
                let last = within.len() - 1;
                within.swap(last - 1, last);
            }
            let mut indices = origin.clone();
            let leading = indices.len() - within.len();
            for (index, offset) in indices[leading..].iter_mut().zip(&within) {
                *index += *offset as i128;
            }
            let place = memory::place(&self.kernel.tensors[tensor], &indices);
            match op {
                Whole::Load | Whole::LoadTransposed | Whole::LoadAsync => {
                    let value =
                        place.map_or(Value::zero(element), |place| self.tensors[tensor][place].clone());
                    self.tiles[tile][base + number] = Some(value);
                }
                Whole::Store | Whole::StoreTransposed => {
                    let value = self.tiles[tile][base + number]
                        .clone()
                        .ok_or("a tile is stored that is not written")?;
                    if let Some(place) = place {
                        self.tensors[tensor][place] = value;
                    }
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, thread: usize, local: Local, value: Value) {
        let locals = &mut self.threads[thread].locals;
        if locals.len() <= local {
            locals.resize(local + 1, None);
        }
        locals[local] = Some(value);
    }

    fn get(&self, thread: usize, local: Local) -> Result<Value, Wrong> {
        let value = self.threads[thread].locals.get(local).cloned().flatten();
        value.ok_or_else(|| format!("v{local} has no value"))
    }

    fn assign(
        &mut self,
        thread: usize,
        place: &Place,
        op: Option<BinaryOp>,
        value: Value,
    ) -> Result<(), Wrong> {
        let combined = |old: &Value| op.map_or(Ok(value.clone()), |op| binary(op, old, &value));
        match place {
            Place::Local(local) => {
                let new = match op {
                    Some(_) => combined(&self.get(thread, *local)?)?,
                    None => value,
                };
                self.set(thread, *local, new);
            }
            Place::Element(local, index) => {
                let index = self.index(thread, index)? as usize;
                self.change_part(thread, *local, index, combined)?;
            }
            Place::Field(local, part) => self.change_part(thread, *local, *part, combined)?,
        }
        Ok(())
    }

    fn change_part(
        &mut self,
        thread: usize,
        local: Local,
        part: usize,
        new: impl FnOnce(&Value) -> Result<Value, Wrong>,
    ) -> Result<(), Wrong> {
        let Some(Some(Value::List(list))) = self.threads[thread].locals.get_mut(local) else {
            return Err(format!("v{local} has no parts"));
        };
        let slot = list.get_mut(part).ok_or_else(|| format!("v{local} has no part {part}"))?;
        *slot = new(slot)?;
        Ok(())
    }

    /// Runs a statement by one thread.
    fn one(&mut self, thread: usize, stmt: &Stmt) -> Result<Flow, Wrong> {
        match stmt {
            Stmt::Let { local, value, .. } => {
                let value = self.value(thread, value)?;
                self.set(thread, *local, value);
            }
            Stmt::LetTuple { locals, value } => {
                let Value::List(parts) = self.value(thread, value)? else { return Err("no tuple".into()) };
                for (local, part) in locals.iter().zip(parts) {
                    self.set(thread, *local, part);
                }
            }
            Stmt::Assign { place, op, value } => {
                let value = self.value(thread, value)?;
                self.assign(thread, place, *op, value)?;
            }
            Stmt::Store { access, op, value } => {
                let value = self.value(thread, value)?;
                let new = match op {
                    Some(op) => binary(*op, &self.load(thread, access)?, &value)?,
                    None => value,
                };
                let indices = self.indices(thread, access)?;
                *self.slot(access.base, &indices)? = new;
            }
            Stmt::Write { access, value } => {
                let Value::List(values) = self.value(thread, value)? else { return Err("no vector".into()) };
                let indices = self.indices(thread, access)?;
                for (offset, value) in values.into_iter().enumerate() {
                    *self.slot(access.base, &moved(&indices, offset))? = value;
                }
            }
            Stmt::Atomic { op, access, operands } => {
                self.update(thread, *op, access, operands)?;
            }
            Stmt::If { condition, then, otherwise } => {
                let list = if self.truth(thread, condition)? { then } else { otherwise };
                return self.all(thread, list);
            }
            Stmt::For { local, range, body, .. } => {
                for value in self.range(thread, range)? {
                    self.set(thread, *local, value);
                    match self.all(thread, body)? {
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                        Flow::On | Flow::Continue => {}
                    }
                }
            }
            Stmt::While { condition, body } => {
                while self.truth(thread, condition)? {
                    self.round()?;
                    match self.all(thread, body)? {
                        Flow::Break => break,
                        Flow::Return => return Ok(Flow::Return),
                        Flow::On | Flow::Continue => {}
                    }
                }
            }
            Stmt::Loop { body } => loop {
                self.round()?;
                match self.all(thread, body)? {
                    Flow::Break => break,
                    Flow::Return => return Ok(Flow::Return),
                    Flow::On | Flow::Continue => {}
                }
            },
            Stmt::Break => return Ok(Flow::Break),
            Stmt::Continue => return Ok(Flow::Continue),
            Stmt::Return => return Ok(Flow::Return),
            // A copy is done when it is started: nobody may look before it is waited for.
            Stmt::Commit | Stmt::Wait(_) => {}
            Stmt::Call { helper, values, changed } => {
                self.enter(thread, *helper, values, changed)?;
            }
            Stmt::SyncThreads | Stmt::SyncWarp | Stmt::Whole { .. } => {
                return Err("a thread alone at a barrier".into());
            }
        }
        Ok(Flow::On)
    }

    fn all(&mut self, thread: usize, list: &[Stmt]) -> Result<Flow, Wrong> {
        for stmt in list {
            let flow = self.one(thread, stmt)?;
            if flow != Flow::On {
                return Ok(flow);
            }
        }
        Ok(Flow::On)
    }

    /// Calls a helper function; its value, or an empty list.
    fn enter(
        &mut self,
        thread: usize,
        helper: usize,
        values: &[Expr],
        changed: &[Local],
    ) -> Result<Value, Wrong> {
        let kernel = self.kernel;
        let helper = kernel.helpers.get(helper).ok_or("no such helper function")?;
        // A call among the arguments uses the same variables, so all are computed before one is set.
        let mut arguments = Vec::new();
        for value in values {
            arguments.push(self.value(thread, value)?);
        }
        for ((local, _), value) in helper.values.iter().zip(arguments) {
            self.set(thread, *local, value);
        }
        for ((local, _), outer) in helper.changed.iter().zip(changed) {
            let value = self.get(thread, *outer)?;
            self.set(thread, *local, value);
        }
        let flow = self.all(thread, &helper.body)?;
        if flow != Flow::On {
            return Err("a helper function is left early".into());
        }
        let result = match &helper.result {
            Some(result) => self.value(thread, result)?,
            None => Value::List(Vec::new()),
        };
        for ((local, _), outer) in helper.changed.iter().zip(changed) {
            let value = self.get(thread, *local)?;
            self.set(thread, *outer, value);
        }
        Ok(result)
    }

    fn range(&mut self, thread: usize, range: &Range) -> Result<Vec<Value>, Wrong> {
        let (from, to, inclusive, step, reversed) = match range {
            Range::List(values) => return Ok(values.clone()),
            Range::Elements(local) => match self.get(thread, *local)? {
                Value::List(values) => return Ok(values),
                other => return Err(format!("{other:?} is no array")),
            },
            Range::Up { from, to, inclusive, step, reversed } => (from, to, *inclusive, *step, *reversed),
        };
        let scalar = from.scalar();
        let (from, to) = (self.index(thread, from)?, self.index(thread, to)?);
        let end = if inclusive { to + 1 } else { to };
        let mut values: Vec<Value> = Vec::new();
        let mut at = from;
        while at < end {
            self.round()?;
            values.push(Value::of_bits(scalar, at as u64));
            at += step as i128;
        }
        if reversed {
            values.reverse();
        }
        Ok(values)
    }

    fn truth(&mut self, thread: usize, condition: &Expr) -> Result<bool, Wrong> {
        match self.value(thread, condition)? {
            Value::Bool(holds) => Ok(holds),
            other => Err(format!("{other:?} is no condition")),
        }
    }

    /// An integer.
    fn index(&mut self, thread: usize, expr: &Expr) -> Result<i128, Wrong> {
        let value = self.value(thread, expr)?;
        crate::value::integer!(
            &value,
            |x, T, _of| Ok(T::to_string(x).parse::<i128>().map_err(|error| error.to_string())?),
            Err(format!("{value:?} is no index"))
        )
    }

    fn indices(&mut self, thread: usize, access: &Access) -> Result<Vec<i128>, Wrong> {
        access.indices.iter().map(|index| self.index(thread, index)).collect()
    }

    /// The place of an element in a tile; `None` outside.
    fn in_tile(&self, tile: usize, indices: &[i128]) -> Option<usize> {
        let extents = &self.kernel.tiles[tile].extents;
        let inside = indices.len() == extents.len()
            && indices.iter().zip(extents).all(|(index, extent)| (0..*extent as i128).contains(index));
        inside.then(|| {
            indices.iter().zip(extents).fold(0, |place, (index, extent)| place * extent + *index as usize)
        })
    }

    fn contains(&self, base: Base, indices: &[i128]) -> bool {
        match base {
            Base::Tensor(tensor) => memory::place(&self.kernel.tensors[tensor], indices).is_some(),
            Base::Tile(tile) => self.in_tile(tile, indices).is_some(),
        }
    }

    fn read(&self, base: Base, indices: &[i128]) -> Result<Value, Wrong> {
        let outside = || format!("{base:?} has no element {indices:?}");
        match base {
            Base::Tensor(tensor) => {
                let place = memory::place(&self.kernel.tensors[tensor], indices).ok_or_else(outside)?;
                Ok(self.tensors[tensor][place].clone())
            }
            Base::Tile(tile) => {
                let place = self.in_tile(tile, indices).ok_or_else(outside)?;
                self.tiles[tile][place]
                    .clone()
                    .ok_or_else(|| format!("element {indices:?} of a tile is not written"))
            }
        }
    }

    fn slot(&mut self, base: Base, indices: &[i128]) -> Result<&mut Value, Wrong> {
        let outside = || format!("{base:?} has no element {indices:?}");
        match base {
            Base::Tensor(tensor) => {
                let place = memory::place(&self.kernel.tensors[tensor], indices).ok_or_else(outside)?;
                Ok(&mut self.tensors[tensor][place])
            }
            Base::Tile(tile) => {
                let place = self.in_tile(tile, indices).ok_or_else(outside)?;
                let zero = Value::zero(self.kernel.tiles[tile].element);
                Ok(self.tiles[tile][place].get_or_insert(zero))
            }
        }
    }

    fn load(&mut self, thread: usize, access: &Access) -> Result<Value, Wrong> {
        let indices = self.indices(thread, access)?;
        self.read(access.base, &indices)
    }

    fn update(
        &mut self,
        thread: usize,
        op: AtomicOp,
        access: &Access,
        operands: &[Expr],
    ) -> Result<Value, Wrong> {
        let mut values = Vec::new();
        for operand in operands {
            values.push(self.value(thread, operand)?);
        }
        let indices = self.indices(thread, access)?;
        let old = self.read(access.base, &indices)?;
        let value = values.first().ok_or("an update with nothing")?;
        let new = match op {
            AtomicOp::Add => binary(BinaryOp::Add, &old, value)?,
            AtomicOp::Min => extremum(&old, value, false)?,
            AtomicOp::Max => extremum(&old, value, true)?,
            AtomicOp::And => binary(BinaryOp::And, &old, value)?,
            AtomicOp::Or => binary(BinaryOp::Or, &old, value)?,
            AtomicOp::Xor => binary(BinaryOp::Xor, &old, value)?,
            AtomicOp::Exchange => value.clone(),
            AtomicOp::CompareExchange if old.bits() == value.bits() => {
                values.get(1).ok_or("an exchange with nothing")?.clone()
            }
            AtomicOp::CompareExchange => old.clone(),
        };
        *self.slot(access.base, &indices)? = new;
        Ok(old)
    }

    fn value(&mut self, thread: usize, expr: &Expr) -> Result<Value, Wrong> {
        let width = match expr.ty {
            Type::Vector(_, n) | Type::Array(_, n) => n,
            Type::Scalar(_) | Type::Tuple(_) => 1,
        };
        Ok(match &expr.kind {
            Kind::Literal(value) => value.clone(),
            Kind::Local(local) => self.get(thread, *local)?,
            Kind::Argument(place) => self.kernel.arguments[*place].clone(),
            Kind::Position(position) => {
                let Thread { place, number, .. } = &self.threads[thread];
                Value::Usize(match position {
                    Position::Thread(axis) => place[*axis],
                    Position::Block(axis) => self.block[*axis],
                    Position::Grid(axis) => self.grid[*axis],
                    Position::Lane => number % 32,
                    Position::Warp => number / 32,
                    Position::WarpCount => self.threads.len().div_ceil(32),
                })
            }
            Kind::Extent(tensor, dimension) => Value::Usize(self.kernel.tensors[*tensor].extents[*dimension]),
            Kind::Constant(place) => self.kernel.constants[*place].clone(),
            Kind::Table(table, index) => {
                let index = self.index(thread, index)?;
                let value =
                    usize::try_from(index).ok().and_then(|index| self.kernel.tables[*table].get(index));
                value.ok_or("outside a table")?.clone()
            }
            Kind::Negative(a) => negative(&self.value(thread, a)?)?,
            Kind::Not(a) => not(&self.value(thread, a)?)?,
            Kind::Binary(op, a, b) => {
                let a = self.value(thread, a)?;
                binary(*op, &a, &self.value(thread, b)?)?
            }
            Kind::Compare(op, a, b) => {
                let a = self.value(thread, a)?;
                Value::Bool(compare(*op, &a, &self.value(thread, b)?)?)
            }
            Kind::And(a, b) => Value::Bool(self.truth(thread, a)? && self.truth(thread, b)?),
            Kind::Or(a, b) => Value::Bool(self.truth(thread, a)? || self.truth(thread, b)?),
            Kind::Cast(a) => cast(&self.value(thread, a)?, expr.scalar())?,
            Kind::Method(method, operands) => {
                let mut values = Vec::new();
                for operand in operands {
                    values.push(self.value(thread, operand)?);
                }
                method::call(method.name, &values)?
            }
            Kind::Bits(a) => Value::of_bits(expr.scalar(), self.value(thread, a)?.bits()),
            Kind::If(condition, yes, no) => {
                let chosen = if self.truth(thread, condition)? { yes } else { no };
                self.value(thread, chosen)?
            }
            Kind::Match(value, arms) => {
                let value = self.value(thread, value)?;
                for (pattern, arm) in arms {
                    if matches(pattern, &value)? {
                        return self.value(thread, arm);
                    }
                }
                return Err("a match without an arm".into());
            }
            Kind::Block(statements, value) => {
                self.all(thread, statements)?;
                self.value(thread, value)?
            }
            Kind::Tuple(parts) | Kind::List(parts) => {
                let mut values = Vec::new();
                for part in parts {
                    values.push(self.value(thread, part)?);
                }
                Value::List(values)
            }
            Kind::Repeat(value) => Value::List(vec![self.value(thread, value)?; width]),
            Kind::Field(local, part) => self.part(thread, *local, *part as i128)?,
            Kind::Element(local, index) => {
                let index = self.index(thread, index)?;
                self.part(thread, *local, index)?
            }
            Kind::VectorSum(vector) => {
                let Value::List(list) = self.value(thread, vector)? else { return Err("no vector".into()) };
                let (first, rest) = list.split_first().ok_or("an empty vector")?;
                let mut sum = first.clone();
                for value in rest {
                    sum = binary(BinaryOp::Add, &sum, value)?;
                }
                sum
            }
            Kind::Map(vector, local, body) => {
                let Value::List(list) = self.value(thread, vector)? else { return Err("no vector".into()) };
                let mut values = Vec::new();
                for value in list {
                    self.set(thread, *local, value);
                    values.push(self.value(thread, body)?);
                }
                Value::List(values)
            }
            Kind::Load(access) => self.load(thread, access)?,
            Kind::Read(access) | Kind::ReadUnaligned(access) => {
                let indices = self.indices(thread, access)?;
                let each = (0..width).map(|offset| self.read(access.base, &moved(&indices, offset)));
                Value::List(each.collect::<Result<_, _>>()?)
            }
            Kind::GetOr(access, default) => {
                let default = self.value(thread, default)?;
                let indices = self.indices(thread, access)?;
                match self.contains(access.base, &indices) {
                    true => self.read(access.base, &indices)?,
                    false => default,
                }
            }
            Kind::Contains(access) => {
                let indices = self.indices(thread, access)?;
                Value::Bool(self.contains(access.base, &indices))
            }
            Kind::Collective(..) => return Err("a thread alone at a collective".into()),
            Kind::Call(helper, values) => self.enter(thread, *helper, values, &[])?,
            Kind::Update(op, access, operands) => self.update(thread, *op, access, operands)?,
            Kind::BytePerm(operands) => {
                let mut words = Vec::new();
                for operand in operands {
                    words.push(self.value(thread, operand)?.bits());
                }
                let [a, b, selector] = words[..] else { return Err("byte_perm of three".into()) };
                let source: Vec<u8> = [(a as u32).to_le_bytes(), (b as u32).to_le_bytes()].concat();
                let picked: [u8; 4] =
                    std::array::from_fn(|byte| source[(selector >> (4 * byte)) as usize & 7]);
                Value::U32(u32::from_le_bytes(picked))
            }
            Kind::Unflatten(number, extents) => {
                let mut rest = self.index(thread, number)?;
                let mut parts = Vec::new();
                for (dimension, extent) in extents.iter().enumerate().rev() {
                    let extent = self.index(thread, extent)?;
                    if dimension == 0 {
                        parts.push(rest);
                    } else if extent == 0 {
                        return Err("a shape without elements".into());
                    } else {
                        parts.push(rest % extent);
                        rest /= extent;
                    }
                }
                parts.reverse();
                Value::List(parts.into_iter().map(|part| Value::Usize(part as usize)).collect())
            }
            Kind::Rasterize(number, extents, group) => {
                let number = self.index(thread, number)? as usize;
                let (rows, columns) =
                    (self.index(thread, &extents[0])? as usize, self.index(thread, &extents[1])? as usize);
                // Down the columns of a band, then those of the next one.
                let mut places = (0..rows).step_by(*group).flat_map(|band| {
                    let band = band..(band + group).min(rows);
                    (0..columns).flat_map(move |column| band.clone().map(move |row| [row, column]))
                });
                let place = places.nth(number).ok_or("a block without a place")?;
                Value::List(place.map(Value::Usize).to_vec())
            }
            Kind::DivCeil(a, by) => Value::Usize((self.index(thread, a)? as usize).div_ceil(*by)),
            Kind::Flatten(index, extents) => {
                let mut number = 0;
                for (index, extent) in index.iter().zip(extents) {
                    number = number * self.index(thread, extent)? + self.index(thread, index)?;
                }
                Value::Usize(number as usize)
            }
        })
    }

    fn part(&self, thread: usize, local: Local, part: i128) -> Result<Value, Wrong> {
        let Value::List(list) = self.get(thread, local)? else {
            return Err(format!("v{local} has no parts"));
        };
        let value = usize::try_from(part).ok().and_then(|part| list.get(part).cloned());
        value.ok_or_else(|| format!("v{local} has no part {part}"))
    }
}

fn moved(indices: &[i128], offset: usize) -> Vec<i128> {
    let mut indices = indices.to_vec();
    if let Some(last) = indices.last_mut() {
        *last += offset as i128;
    }
    indices
}

fn matches(pattern: &Pattern, value: &Value) -> Result<bool, Wrong> {
    Ok(match pattern {
        Pattern::Is(only) => compare(CompareOp::Equal, value, only)?,
        Pattern::OneOf(list) => list.iter().any(|one| one.bits() == value.bits()),
        Pattern::Range(low, high) => {
            compare(CompareOp::GreaterEqual, value, low)? && compare(CompareOp::LessEqual, value, high)?
        }
        Pattern::Rest => true,
    })
}

/// The sum in lane 0 after each lane has added that 16, 8, 4, 2, 1 above in turn, where there is one.
fn tree_sum(list: &[Value]) -> Result<Value, Wrong> {
    let mut lanes = list.to_vec();
    for distance in [16, 8, 4, 2, 1] {
        let before = lanes.clone();
        for (lane, value) in lanes.iter_mut().enumerate() {
            if let Some(above) = before.get(lane + distance) {
                *value = binary(BinaryOp::Add, &before[lane], above)?;
            }
        }
    }
    Ok(lanes[0].clone())
}

/// The sums up to each lane: each adds that 1, 2, 4, 8, 16 below in turn, the lower one on the left.
fn tree_scan(list: &[Value]) -> Result<Vec<Value>, Wrong> {
    let mut lanes = list.to_vec();
    for distance in [1, 2, 4, 8, 16] {
        let before = lanes.clone();
        for lane in distance..lanes.len() {
            lanes[lane] = binary(BinaryOp::Add, &before[lane - distance], &before[lane])?;
        }
    }
    Ok(lanes)
}

fn scanned(list: &[Value], lane: usize, exclusive: bool) -> Result<Value, Wrong> {
    let sums = tree_scan(list)?;
    match (exclusive, lane) {
        (true, 0) => Ok(Value::zero(sums[0].scalar().unwrap_or(Scalar::U32))),
        (true, lane) => Ok(sums[lane - 1].clone()),
        (false, lane) => Ok(sums[lane].clone()),
    }
}

/// The last of the sums of a scan.
fn tree_total(list: &[Value]) -> Result<Value, Wrong> {
    tree_scan(list)?.last().cloned().ok_or_else(|| "a warp without lanes".into())
}
