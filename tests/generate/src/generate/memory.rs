//! What the threads of a block do together: tiles, atomics, collectives.

use super::{Generator, Shape, Variable, index_of, number, product, quotient, remainder, sum, tile};
use crate::tree::{
    Access, AtomicOp, Base, Collective, Expr, Kind, Place, Position, Range, Stmt, Type, Whole,
};
use crate::value::{BinaryOp, CompareOp, Scalar, Value};

impl Generator {
    /// The number of the thread.
    fn thread_number(&self) -> Expr {
        index_of(Kind::Local(0))
    }

    /// The indices of the element with this number in row-major order.
    fn at(&self, i: Expr, extents: &[usize]) -> Vec<Expr> {
        let mut inside = 1;
        let mut indices = Vec::new();
        for (dimension, extent) in extents.iter().enumerate().rev() {
            let part = if inside == 1 { i.clone() } else { quotient(i.clone(), inside) };
            indices.insert(0, if dimension == 0 { part } else { remainder(part, *extent) });
            inside *= extent;
        }
        indices
    }

    fn layout(&mut self, element: Scalar, extents: &[usize]) -> String {
        let last = extents[extents.len() - 1];
        if extents.len() < 2 {
            return String::new();
        }
        let chunk = self.random.pick(&[1, 1, 2, 4]);
        match self.random.below(6) {
            0 => format!("Pad<{}>", self.random.pick(&[1, 2, 3, 4])),
            1 if last.is_multiple_of(chunk) && (last / chunk).is_power_of_two() && last / chunk > 1 => {
                format!("Xor<{chunk}>")
            }
            2 if element.bytes() <= 8 => "Auto".into(),
            _ => String::new(),
        }
    }

    /// The extents of a tile, about as many elements as the block has threads.
    fn extents(&mut self) -> Vec<usize> {
        let threads = self.threads();
        let n = match self.random.below(4) {
            0 => threads * 2,
            1 => self.random.pick(&[16, 32, 64, 100]),
            _ => threads,
        };
        if self.random.once_in(3) {
            return vec![n];
        }
        let columns: Vec<usize> = [4, 8, 16, 32, 5].into_iter().filter(|columns| n % columns == 0).collect();
        if columns.is_empty() {
            return vec![n];
        }
        let columns = self.random.pick(&columns);
        let rows = n / columns;
        if rows.is_multiple_of(2) && rows > 2 && self.random.once_in(4) {
            return vec![2, rows / 2, columns];
        }
        vec![rows, columns]
    }

    /// Writes every element of a tile, each by one thread.
    fn fill(&mut self, list: &mut Vec<Stmt>, of: usize, value: Option<Expr>) {
        let extents = self.kernel.tiles[of].extents.clone();
        let element = self.kernel.tiles[of].element;
        let (n, threads): (usize, usize) = (extents.iter().product(), self.threads());
        let t = self.thread_number();
        let mark = self.variables.len();
        let loops = n > threads;
        let i = match loops {
            true => {
                let local = self.fresh();
                let ty = Type::Scalar(Scalar::Usize);
                self.variables.push(Variable { local, ty, mutable: false, below: n, known: false });
                index_of(Kind::Local(local))
            }
            false => t.clone(),
        };
        // Any way to number them anew.
        let moved = match self.random.below(5) {
            0 if n.is_power_of_two() => {
                let mask = number(self.random.below(n));
                index_of(Kind::Binary(BinaryOp::Xor, i.clone().into(), mask.into()))
            }
            1 => index_of(Kind::Binary(BinaryOp::Sub, number(n - 1).into(), i.clone().into())),
            2 => remainder(sum(i.clone(), number(self.random.below(n))), n),
            _ => i.clone(),
        };
        let moved = if n < threads { i.clone() } else { moved };
        let value = match value {
            Some(value) => value,
            None => self.data(element, 3),
        };
        let access = Access { base: Base::Tile(of), indices: self.at(moved, &extents) };
        let store = Stmt::Store { access, op: None, value };
        self.variables.truncate(mark);
        if let (true, Kind::Local(local)) = (loops, &i.kind) {
            let range =
                Range::Up { from: t, to: number(n), inclusive: false, step: threads, reversed: false };
            list.push(Stmt::For { local: *local, range, body: vec![store], label: false });
        } else if n < threads {
            let condition =
                Expr::of(Scalar::Bool, Kind::Compare(CompareOp::Less, t.into(), number(n).into()));
            list.push(Stmt::If { condition, then: vec![store], otherwise: Vec::new() });
        } else {
            list.push(store);
        }
    }

    /// A tile is written, then read behind a barrier; perhaps again and again.
    pub(super) fn tile_phase(&mut self, list: &mut Vec<Stmt>) {
        if self.kernel.tiles.len() >= 3 {
            return self.collective(list);
        }
        let element = self.ty();
        if self.random.once_in(5) && self.whole_tile(list) {
            return;
        }
        let extents = self.extents();
        let layout = self.layout(element, &extents);
        let of = self.kernel.tiles.len();
        self.kernel.tiles.push(tile(element, extents, layout));
        if self.random.once_in(4) {
            let (total, stmt) = {
                let start = self.data(element, 1);
                self.declare(start, true, 0, false)
            };
            list.push(stmt);
            let local = self.fresh();
            let most = self.random.below(3) + 1;
            let mark = self.variables.len();
            let ty = Type::Scalar(Scalar::Usize);
            self.variables.push(Variable { local, ty, mutable: false, below: most, known: true });
            let mut body = Vec::new();
            self.fill(&mut body, of, None);
            body.push(Stmt::SyncThreads);
            let value = self.tile_element(of, 2);
            body.push(Stmt::Assign { place: Place::Local(total), op: Some(BinaryOp::Add), value });
            body.push(Stmt::SyncThreads);
            self.variables.truncate(mark);
            let range =
                Range::Up { from: number(0), to: number(most), inclusive: false, step: 1, reversed: false };
            list.push(Stmt::For { local, range, body, label: false });
            self.readable.push(of);
            return;
        }
        self.fill(list, of, None);
        list.push(Stmt::SyncThreads);
        self.readable.push(of);
        for _ in 0..self.random.below(2) + 1 {
            let value = self.tile_element(of, 3);
            list.push(self.declare(value, true, 0, false).1);
        }
        if self.random.once_in(3) {
            // Nobody may still read what is written again.
            list.push(Stmt::SyncThreads);
            self.readable.retain(|tile| *tile != of);
            self.fill(list, of, None);
            list.push(Stmt::SyncThreads);
            self.readable.push(of);
        }
    }

    /// A whole tile is loaded from a tensor of rank 2.
    fn whole_tile(&mut self, list: &mut Vec<Stmt>) -> bool {
        let tensors: Vec<usize> = (0..self.kernel.tensors.len())
            .filter(|place| {
                let tensor = &self.kernel.tensors[*place];
                !tensor.mutable && tensor.extents.len() == 2 && self.shapes[*place] != Shape::Free
            })
            .collect();
        if tensors.is_empty() {
            return false;
        }
        let tensor = self.random.pick(&tensors);
        let element = self.kernel.tensors[tensor].element;
        let op = self.random.pick(&[Whole::Load, Whole::Load, Whole::LoadTransposed, Whole::LoadAsync]);
        if op == Whole::LoadAsync && element.bytes() < 4 {
            return false;
        }
        let extents = vec![self.random.pick(&[4, 8, 16]), self.random.pick(&[8, 16, 32])];
        let layout = if self.random.once_in(2) { "Auto".into() } else { self.layout(element, &extents) };
        let of = self.kernel.tiles.len();
        self.kernel.tiles.push(tile(element, extents.clone(), layout));
        let block = |axis| index_of(Kind::Position(Position::Block(axis)));
        let row = self.random.below(6);
        let origin = vec![number(row), product(block(0), extents[1])];
        list.push(Stmt::Whole { op, tile: of, parts: Vec::new(), tensor, width: 1, origin });
        if op == Whole::LoadAsync {
            list.push(Stmt::Commit);
            list.push(Stmt::Wait(0));
        }
        list.push(Stmt::SyncThreads);
        self.readable.push(of);
        let value = self.tile_element(of, 2);
        list.push(self.declare(value, true, 0, false).1);
        true
    }

    /// Threads of a warp or block compute something together.
    pub(super) fn collective(&mut self, list: &mut Vec<Stmt>) {
        let collective = self.random.pick(&[
            Collective::Shuffle,
            Collective::ShuffleXor,
            Collective::ShuffleUp,
            Collective::ShuffleDown,
            Collective::Any,
            Collective::All,
            Collective::Ballot,
            Collective::MatchAny,
            Collective::WarpSum,
            Collective::WarpMax,
            Collective::WarpMin,
            Collective::WarpScanInclusive,
            Collective::WarpScanExclusive,
            Collective::BlockSum,
            Collective::BlockMax,
            Collective::BlockMin,
            Collective::BlockScanInclusive,
            Collective::BlockScanExclusive,
            Collective::SyncThreadsCount,
            Collective::SyncThreadsAnd,
            Collective::SyncThreadsOr,
        ]);
        let (operands, result) = match collective {
            Collective::Shuffle
            | Collective::ShuffleXor
            | Collective::ShuffleUp
            | Collective::ShuffleDown => {
                let scalar = if self.random.once_in(6) { Scalar::Bool } else { self.ty() };
                let by = match self.random.below(3) {
                    0 => self.below(32, 2),
                    _ => number(self.random.below(32)),
                };
                (vec![self.data(scalar, 3), by], scalar)
            }
            Collective::Any | Collective::All | Collective::SyncThreadsAnd | Collective::SyncThreadsOr => {
                (vec![self.condition(3)], Scalar::Bool)
            }
            Collective::Ballot => (vec![self.condition(3)], Scalar::U32),
            Collective::SyncThreadsCount => (vec![self.condition(3)], Scalar::Usize),
            Collective::MatchAny => {
                let scalar = self.random.pick(&[Scalar::I32, Scalar::U8, Scalar::U64, Scalar::Bool]);
                (vec![self.data(scalar, 2)], Scalar::U32)
            }
            Collective::WarpSum
            | Collective::WarpMax
            | Collective::WarpMin
            | Collective::WarpScanInclusive
            | Collective::WarpScanExclusive
            | Collective::BlockSum
            | Collective::BlockMax
            | Collective::BlockMin
            | Collective::BlockScanInclusive
            | Collective::BlockScanExclusive => {
                let scalar = self.ty();
                (vec![self.data(scalar, 3)], scalar)
            }
        };
        let value = Expr::of(result, Kind::Collective(collective, operands));
        if result != Scalar::Usize && self.random.once_in(4) {
            // Around it, what is the same for all threads.
            let start = self.data(result, 1);
            let (local, stmt) = self.declare(start, true, 0, false);
            list.push(stmt);
            let condition = self.uniform();
            let assign = Stmt::Assign { place: Place::Local(local), op: None, value };
            list.push(Stmt::If { condition, then: vec![assign], otherwise: Vec::new() });
            return;
        }
        let below = if result == Scalar::Usize { self.threads() + 1 } else { 0 };
        list.push(self.declare(value, false, below, false).1);
    }

    /// A tile, or a tensor, that threads update atomically.
    pub(super) fn bins(&mut self, list: &mut Vec<Stmt>) {
        let element = self.random.pick(&[Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64]);
        let op = self.random.pick(&[
            AtomicOp::Add,
            AtomicOp::Min,
            AtomicOp::Max,
            AtomicOp::And,
            AtomicOp::Or,
            AtomicOp::Xor,
        ]);
        let n = self.random.pick(&[1, 8, 32, 64]);
        let zero = || Expr::of(element, Kind::Literal(Value::zero(element)));
        if self.random.once_in(2) {
            let of = self.kernel.tensors.len();
            // It comes behind the others, so that their numbers stay.
            self.tensor(element, true, vec![n], Shape::Free);
            let name = crate::print::tensor_name(&self.kernel, of);
            self.kernel.requires.push(format!("{name}.len() == {n}"));
            let indices = vec![self.below(n, 2)];
            let operands = vec![self.data(element, 3)];
            list.push(Stmt::Atomic { op, access: Access { base: Base::Tensor(of), indices }, operands });
            return;
        }
        let of = self.kernel.tiles.len();
        self.kernel.tiles.push(tile(element, vec![n], String::new()));
        let first = self.random.once_in(2).then(zero);
        self.fill(list, of, first);
        list.push(Stmt::SyncThreads);
        let indices = vec![self.below(n, 2)];
        let operands = vec![self.data(element, 3)];
        let update = Stmt::Atomic { op, access: Access { base: Base::Tile(of), indices }, operands };
        match self.random.once_in(2) {
            true => {
                let condition = self.condition(2);
                list.push(Stmt::If { condition, then: vec![update], otherwise: Vec::new() });
            }
            false => list.push(update),
        }
        list.push(Stmt::SyncThreads);
        self.readable.push(of);
        let value = self.tile_element(of, 2);
        list.push(self.declare(value, true, 0, false).1);
    }
}
