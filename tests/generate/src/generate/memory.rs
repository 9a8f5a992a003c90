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
        let done = match self.random.below(12) {
            0 | 1 => self.whole_tile(list),
            2 => self.stages(list),
            3 => self.whole_store(list, element),
            4 => self.within_warps(list, element),
            5 => self.vectors_of_tile(list, element),
            _ => false,
        };
        if done {
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

    /// Two stages of a tile are loaded in turn while the other one is read.
    fn stages(&mut self, list: &mut Vec<Stmt>) -> bool {
        let tensors: Vec<usize> = (0..self.kernel.tensors.len())
            .filter(|place| {
                let tensor = &self.kernel.tensors[*place];
                !tensor.mutable && tensor.extents.len() == 2 && tensor.element.bytes() >= 4
            })
            .collect();
        if tensors.is_empty() {
            return false;
        }
        let tensor = self.random.pick(&tensors);
        let element = self.kernel.tensors[tensor].element;
        let (rows, columns) = (self.random.pick(&[2, 4, 8]), self.random.pick(&[8, 16, 32]));
        let of = self.kernel.tiles.len();
        self.kernel.tiles.push(tile(element, vec![2, rows, columns], String::new()));
        let start = self.data(element, 1);
        let (total, stmt) = self.declare(start, true, 0, false);
        list.push(stmt);
        let row = self.random.below(5);
        let load = |part: Expr, column: Expr| Stmt::Whole {
            op: Whole::LoadAsync,
            tile: of,
            parts: vec![part],
            tensor,
            width: 1,
            origin: vec![number(row), column],
        };
        list.push(load(number(0), number(0)));
        list.push(Stmt::Commit);
        let local = self.fresh();
        let k = index_of(Kind::Local(local));
        let most = self.random.below(3) + 1;
        let next = sum(k.clone(), number(1));
        let condition =
            Expr::of(Scalar::Bool, Kind::Compare(CompareOp::Less, next.clone().into(), number(most).into()));
        let then = vec![load(remainder(next.clone(), 2), product(next, columns))];
        let indices = vec![remainder(k, 2), self.below(rows, 1), self.below(columns, 1)];
        let value = Expr::of(element, Kind::Load(Access { base: Base::Tile(of), indices }));
        let body = vec![
            Stmt::If { condition, then, otherwise: Vec::new() },
            Stmt::Commit,
            Stmt::Wait(1),
            Stmt::SyncThreads,
            Stmt::Assign { place: Place::Local(total), op: Some(BinaryOp::Add), value },
            Stmt::SyncThreads,
        ];
        let range =
            Range::Up { from: number(0), to: number(most), inclusive: false, step: 1, reversed: false };
        list.push(Stmt::For { local, range, body, label: false });
        true
    }

    /// A whole tile goes to rows of an output that are the block's.
    fn whole_store(&mut self, list: &mut Vec<Stmt>, element: Scalar) -> bool {
        if self.kernel.grid.len() != 1 {
            return false;
        }
        let extents = vec![self.random.pick(&[4, 8]), self.random.pick(&[8, 16])];
        let op = self.random.pick(&[Whole::Store, Whole::StoreTransposed]);
        let tensor = self.kernel.tensors.len();
        let window = if op == Whole::Store { extents.clone() } else { vec![extents[1], extents[0]] };
        let around = |random: &mut crate::random::Random, n: usize| n + random.below(3 * n);
        let shape = window.iter().map(|n| around(&mut self.random, *n)).collect();
        self.tensor(element, true, shape, Shape::Free);
        let of = self.kernel.tiles.len();
        let layout = if self.random.once_in(2) { "Auto".into() } else { self.layout(element, &extents) };
        self.kernel.tiles.push(tile(element, extents, layout));
        self.fill(list, of, None);
        list.push(Stmt::SyncThreads);
        let block = index_of(Kind::Position(Position::Block(0)));
        let origin = vec![product(block, window[0]), number(self.random.below(5))];
        list.push(Stmt::Whole { op, tile: of, parts: Vec::new(), tensor, width: 1, origin });
        self.readable.push(of);
        true
    }

    /// The lanes of each warp exchange values through a tile.
    fn within_warps(&mut self, list: &mut Vec<Stmt>, element: Scalar) -> bool {
        let threads = self.threads();
        if !threads.is_multiple_of(32) {
            return false;
        }
        let of = self.kernel.tiles.len();
        self.kernel.tiles.push(tile(element, vec![threads], String::new()));
        let t = self.thread_number();
        let value = self.data(element, 2);
        let own = Access { base: Base::Tile(of), indices: vec![t.clone()] };
        list.push(Stmt::Store { access: own, op: None, value });
        list.push(Stmt::SyncWarp);
        let mask = number(self.random.below(31) + 1);
        let other = index_of(Kind::Binary(BinaryOp::Xor, t.into(), mask.into()));
        let access = Access { base: Base::Tile(of), indices: vec![other] };
        let value = Expr::of(element, Kind::Load(access));
        list.push(self.declare(value, true, 0, false).1);
        true
    }

    /// A tile is written by vectors.
    fn vectors_of_tile(&mut self, list: &mut Vec<Stmt>, element: Scalar) -> bool {
        let width = self.random.pick(&[2, 4]);
        if element.bytes() * width > 16 {
            return false;
        }
        let (rows, columns) = (self.random.pick(&[4, 8, 16]), self.random.pick(&[8, 16, 32]));
        let layout = match self.random.below(4) {
            0 => format!("Pad<{}>", width * self.random.pick(&[1, 2])),
            1 => format!("Xor<{width}>"),
            2 => "Auto".into(),
            _ => String::new(),
        };
        let of = self.kernel.tiles.len();
        self.kernel.tiles.push(tile(element, vec![rows, columns], layout));
        let (threads, across) = (self.threads(), columns / width);
        let local = self.fresh();
        let mark = self.variables.len();
        let ty = Type::Scalar(Scalar::Usize);
        self.variables.push(Variable { local, ty, mutable: false, below: rows * across, known: false });
        let i = index_of(Kind::Local(local));
        let indices = vec![quotient(i.clone(), across), product(remainder(i, across), width)];
        let access = Access { base: Base::Tile(of), indices };
        let value = self.vector(element, width, 2);
        self.variables.truncate(mark);
        let range = Range::Up {
            from: self.thread_number(),
            to: number(rows * across),
            inclusive: false,
            step: threads,
            reversed: false,
        };
        list.push(Stmt::For { local, range, body: vec![Stmt::Write { access, value }], label: false });
        list.push(Stmt::SyncThreads);
        self.readable.push(of);
        let indices = vec![self.below(rows, 1), product(self.below(across, 1), width)];
        let ty = Type::Vector(element, width);
        let value = Expr { ty, kind: Kind::Read(Access { base: Base::Tile(of), indices }) };
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
                let width = self.random.pick(&[1, 1, 1, 2, 4]);
                if width > 1 && scalar != Scalar::Bool && scalar.bytes() * width <= 16 {
                    let vector = self.vector(scalar, width, 2);
                    let ty = Type::Vector(scalar, width);
                    let value = Expr { ty, kind: Kind::Collective(collective, vec![vector, by]) };
                    list.push(self.declare(value, false, 0, false).1);
                    return;
                }
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
        let n = self.random.pick(&[1, 8, 32, 64, self.threads()]);
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
        if n >= self.threads() && self.random.once_in(2) {
            // Each thread has an element of its own, so what was there is known.
            let op = self.random.pick(&[op, AtomicOp::Exchange, AtomicOp::CompareExchange]);
            let access = Access { base: Base::Tile(of), indices: vec![self.thread_number()] };
            let operands =
                (0..if op == AtomicOp::CompareExchange { 2 } else { 1 }).map(|_| self.data(element, 2));
            let operands = operands.collect();
            let value = Expr::of(element, Kind::Update(op, access, operands));
            list.push(self.declare(value, true, 0, false).1);
            list.push(Stmt::SyncThreads);
            self.readable.push(of);
            return;
        }
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
