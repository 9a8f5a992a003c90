//! Statements that a thread runs alone.

use super::data::converted;
use super::{Around, Generator, Shape, Variable, index_of, number};
use crate::tree::{Access, Base, Expr, Helper, Kind, Place, Range, Stmt, Type};
use crate::value::{BinaryOp, CompareOp, Scalar, Value};

impl Generator {
    /// A few statements.
    pub(super) fn some(&mut self, list: &mut Vec<Stmt>, around: Around) {
        for _ in 0..self.random.below(3) + 1 {
            self.statement(list, around);
        }
    }

    fn statement(&mut self, list: &mut Vec<Stmt>, around: Around) {
        let deep = around.depth >= 3;
        match self.random.below(14) {
            0..=3 => {
                let scalar = if self.random.once_in(5) { Scalar::Bool } else { self.ty() };
                let value = self.data(scalar, 3);
                let mutable = self.random.once_in(2);
                list.push(self.declare(value, mutable, 0, false).1);
            }
            4 => {
                let n = self.random.pick(&[3, 8, 16, 31, 64]);
                let value = self.below(n, 2);
                list.push(self.declare(value, false, n, false).1);
            }
            5 => self.tuple(list),
            6 => self.array(list),
            7 => {
                let scalar = self.ty();
                let width = self.random.pick(&[2, 4]);
                let value = match self.vector_load(scalar, width, around) {
                    Some(value) => value,
                    None => self.vector(scalar, width, 2),
                };
                let mutable = self.random.once_in(2);
                list.push(self.declare(value, mutable, 0, false).1);
            }
            8 | 9 if !deep => self.branch(list, around),
            10 | 11 if !deep => self.repeat(list, around),
            12 if around.depth == 0 && self.kernel.helpers.len() < 2 => self.helper(list),
            _ => self.assign(list),
        }
    }

    fn tuple(&mut self, list: &mut Vec<Stmt>) {
        let parts: Vec<Expr> = (0..2)
            .map(|_| {
                let scalar = self.ty();
                self.data(scalar, 2)
            })
            .collect();
        let types: Vec<Type> = parts.iter().map(|part| part.ty.clone()).collect();
        let value = Expr { ty: Type::Tuple(types.clone()), kind: Kind::Tuple(parts) };
        if self.random.once_in(2) {
            let mutable = self.random.once_in(2);
            list.push(self.declare(value, mutable, 0, false).1);
            return;
        }
        let locals: Vec<usize> = types.iter().map(|_| self.fresh()).collect();
        for (local, ty) in locals.iter().zip(types) {
            self.variables.push(Variable { local: *local, ty, mutable: false, below: 0, known: false });
        }
        list.push(Stmt::LetTuple { locals, value });
    }

    fn array(&mut self, list: &mut Vec<Stmt>) {
        let scalar = self.ty();
        let n = self.random.pick(&[2, 3, 4]);
        let kind = match self.random.once_in(2) {
            true => Kind::Repeat(self.data(scalar, 1).into()),
            false => Kind::List((0..n).map(|_| self.data(scalar, 1)).collect()),
        };
        list.push(self.declare(Expr { ty: Type::Array(scalar, n), kind }, true, 0, false).1);
    }

    /// A vector from memory, where one is aligned.
    fn vector_load(&mut self, scalar: Scalar, width: usize, around: Around) -> Option<Expr> {
        if scalar.bytes() * width > 16 || !self.random.once_in(2) {
            return None;
        }
        let ty = Type::Vector(scalar, width);
        let tiles: Vec<usize> = self
            .readable
            .iter()
            .copied()
            .filter(|tile| {
                let tile = &self.kernel.tiles[*tile];
                let last = tile.extents[tile.extents.len() - 1];
                tile.element == scalar && last.is_multiple_of(width) && tile.layout.is_empty()
            })
            .collect();
        if !tiles.is_empty() {
            let tile = self.random.pick(&tiles);
            let extents = self.kernel.tiles[tile].extents.clone();
            let mut indices: Vec<Expr> = extents.iter().map(|n| self.below(*n, 1)).collect();
            let last = extents.len() - 1;
            indices[last] = super::product(self.below(extents[last] / width, 1), width);
            return Some(Expr { ty, kind: Kind::Read(Access { base: Base::Tile(tile), indices }) });
        }
        let tensors: Vec<usize> = (0..self.kernel.tensors.len())
            .filter(|place| {
                let tensor = &self.kernel.tensors[*place];
                !tensor.mutable && tensor.element == scalar
            })
            .collect();
        if tensors.is_empty() {
            return None;
        }
        let tensor = self.random.pick(&tensors);
        let base = Base::Tensor(tensor);
        match self.shapes[tensor].clone() {
            Shape::Like if around.inside && self.width == width => {
                Some(Expr { ty, kind: Kind::Read(Access { base, indices: self.home.clone() }) })
            }
            Shape::Least(least) if least.len() == 1 && least[0] >= 2 * width => {
                match self.random.once_in(2) {
                    true => {
                        let first = super::product(self.below(least[0] / width, 1), width);
                        Some(Expr { ty, kind: Kind::Read(Access { base, indices: vec![first] }) })
                    }
                    false if scalar.bytes() * width >= 4 => {
                        let first = self.below(least[0] - width + 1, 1);
                        Some(Expr { ty, kind: Kind::ReadUnaligned(Access { base, indices: vec![first] }) })
                    }
                    false => None,
                }
            }
            Shape::Like | Shape::Least(_) | Shape::Free => None,
        }
    }

    fn branch(&mut self, list: &mut Vec<Stmt>, around: Around) {
        let condition = self.condition(2);
        let around = Around { depth: around.depth + 1, ..around };
        let mark = self.variables.len();
        let mut then = Vec::new();
        self.some(&mut then, around);
        self.variables.truncate(mark);
        let mut otherwise = Vec::new();
        if self.random.once_in(2) {
            self.some(&mut otherwise, around);
            self.variables.truncate(mark);
        }
        list.push(Stmt::If { condition, then, otherwise });
    }

    fn repeat(&mut self, list: &mut Vec<Stmt>, around: Around) {
        let around = Around { depth: around.depth + 1, ..around };
        // What a loop leaves behind is what it adds up.
        let scalar = self.ty();
        let start = self.data(scalar, 1);
        let (total, stmt) = self.declare(start, true, 0, false);
        list.push(stmt);
        let mark = self.variables.len();
        if self.random.once_in(4) {
            return self.counted(list, around, (total, scalar));
        }
        let local = self.fresh();
        let (range, ty, below, known) = self.range();
        self.variables.push(Variable { local, ty: Type::Scalar(ty), mutable: false, below, known });
        let mut body = Vec::new();
        self.some(&mut body, around);
        let label = self.random.once_in(5);
        if self.random.once_in(3) {
            let exit = self.random.pick(&[Stmt::Break, Stmt::Continue]);
            let condition = self.condition(1);
            body.push(Stmt::If { condition, then: vec![exit], otherwise: Vec::new() });
        }
        body.push(self.add_to(total, scalar));
        self.variables.truncate(mark);
        list.push(Stmt::For { local, range, body, label });
    }

    /// Something that changes a variable.
    fn add_to(&mut self, total: usize, scalar: Scalar) -> Stmt {
        let value = self.data(scalar, 2);
        let op = self.random.pick(&[BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul]);
        Stmt::Assign { place: Place::Local(total), op: Some(op), value }
    }

    /// A range, the type of its variable, what that is below and whether it is known.
    fn range(&mut self) -> (Range, Scalar, usize, bool) {
        let up = |from: usize, to: Expr, inclusive, step, reversed| Range::Up {
            from: number(from),
            to,
            inclusive,
            step,
            reversed,
        };
        let arrays: Vec<(usize, Scalar)> = self
            .variables
            .iter()
            .filter_map(|variable| match variable.ty {
                Type::Array(scalar, _) => Some((variable.local, scalar)),
                _ => None,
            })
            .collect();
        match self.random.below(7) {
            6 if !arrays.is_empty() => {
                let (array, scalar) = self.random.pick(&arrays);
                (Range::Elements(array), scalar, 0, false)
            }
            0 => {
                let scalar = self.random.pick(&[Scalar::U32, Scalar::I32, Scalar::Usize]);
                let values: Vec<usize> =
                    (0..self.random.below(3) + 2).map(|_| self.random.below(9)).collect();
                let values = values.into_iter().map(|n| Value::of_bits(scalar, n as u64)).collect();
                (Range::List(values), scalar, if scalar == Scalar::Usize { 9 } else { 0 }, true)
            }
            1 => {
                // Ends that differ between threads.
                let most = self.random.below(6) + 1;
                let end = self.below(most, 1);
                (up(0, end, self.random.once_in(3), 1, false), Scalar::Usize, most, false)
            }
            2 => {
                let arguments: Vec<usize> = (0..self.kernel.arguments.len())
                    .filter(|place| matches!(self.kernel.arguments[*place], Value::Usize(_)))
                    .collect();
                let end = match arguments.is_empty() {
                    true => number(4),
                    false => {
                        let argument = index_of(Kind::Argument(self.random.pick(&arguments)));
                        index_of(Kind::Method(crate::method::EXACT[0], vec![argument, number(7)]))
                    }
                };
                (up(0, end, false, self.random.below(2) + 1, self.random.once_in(3)), Scalar::Usize, 7, false)
            }
            3 => {
                let scalar = self.random.pick(&[Scalar::I32, Scalar::U32, Scalar::U8, Scalar::I64]);
                let at = |n: usize| Expr::of(scalar, Kind::Literal(Value::of_bits(scalar, n as u64)));
                let from = self.random.below(4);
                let to = from + self.random.below(6);
                let range = Range::Up {
                    from: at(from),
                    to: at(to),
                    inclusive: false,
                    step: 1,
                    reversed: self.random.once_in(3),
                };
                (range, scalar, 0, true)
            }
            _ => {
                let from = self.random.below(3);
                let to = from + self.random.below(5) + 1;
                let step = self.random.pick(&[1, 1, 2, 3]);
                let inclusive = self.random.once_in(4);
                let reversed = self.random.once_in(3);
                (
                    up(from, number(to), inclusive, step, reversed),
                    Scalar::Usize,
                    to + usize::from(inclusive),
                    true,
                )
            }
        }
    }

    /// A `while`, or a `loop`, that ends after some rounds.
    fn counted(&mut self, list: &mut Vec<Stmt>, around: Around, (total, scalar): (usize, Scalar)) {
        let zero = Expr::of(Scalar::U32, Kind::Literal(Value::U32(0)));
        let (rounds, stmt) = self.declare(zero, true, 0, false);
        // Nothing else may change it.
        if let Some(variable) = self.variables.last_mut() {
            variable.mutable = false;
        }
        list.push(stmt);
        let mark = self.variables.len();
        let most = Expr::of(Scalar::U32, Kind::Literal(Value::U32(self.random.below(6) as u32 + 1)));
        let rounds = Expr::of(Scalar::U32, Kind::Local(rounds));
        let one = Expr::of(Scalar::U32, Kind::Literal(Value::U32(1)));
        let more = Expr::of(Scalar::Bool, Kind::Compare(CompareOp::Less, rounds.clone().into(), most.into()));
        let Kind::Local(counter) = rounds.kind else { return };
        let count = Stmt::Assign { place: Place::Local(counter), op: Some(BinaryOp::Add), value: one };
        let other = self.condition(1);
        let mut body = Vec::new();
        if self.random.once_in(2) {
            let condition = Expr::of(Scalar::Bool, Kind::And(more.into(), other.into()));
            body.push(count);
            self.some(&mut body, around);
            body.push(self.add_to(total, scalar));
            self.variables.truncate(mark);
            list.push(Stmt::While { condition, body });
            return;
        }
        let done = Expr::of(Scalar::Bool, Kind::Not(more.into()));
        let done = match self.random.once_in(2) {
            true => Expr::of(Scalar::Bool, Kind::Or(done.into(), other.into())),
            false => done,
        };
        body.push(Stmt::If { condition: done, then: vec![Stmt::Break], otherwise: Vec::new() });
        body.push(count);
        self.some(&mut body, around);
        body.push(self.add_to(total, scalar));
        self.variables.truncate(mark);
        list.push(Stmt::Loop { body });
    }

    fn assign(&mut self, list: &mut Vec<Stmt>) {
        let mutable: Vec<Variable> =
            self.variables.iter().filter(|variable| variable.mutable).cloned().collect();
        if mutable.is_empty() {
            let scalar = self.ty();
            let value = self.data(scalar, 2);
            list.push(self.declare(value, true, 0, false).1);
            return;
        }
        let Variable { local, ty, .. } = self.random.pick(&mutable);
        let (place, scalar) = match ty {
            Type::Scalar(scalar) => (Place::Local(local), scalar),
            Type::Array(scalar, n) | Type::Vector(scalar, n) => {
                (Place::Element(local, self.known_below(n)), scalar)
            }
            Type::Tuple(parts) => {
                let part = self.random.below(parts.len());
                let Type::Scalar(scalar) = parts[part] else { return };
                (Place::Field(local, part), scalar)
            }
        };
        let value = self.data(scalar, 3);
        let op = match scalar {
            Scalar::Bool => None,
            _ if scalar.is_integer() && self.random.once_in(3) => Some(self.random.pick(&[
                BinaryOp::And,
                BinaryOp::Or,
                BinaryOp::Xor,
                BinaryOp::Shl,
                BinaryOp::Shr,
            ])),
            _ => self.random.pick(&[None, Some(BinaryOp::Add), Some(BinaryOp::Mul), Some(BinaryOp::Sub)]),
        };
        list.push(Stmt::Assign { place, op, value });
    }

    /// A helper function, and a call of it.
    fn helper(&mut self, list: &mut Vec<Stmt>) {
        let outer = std::mem::take(&mut self.variables);
        let home = std::mem::take(&mut self.home);
        let readable = std::mem::take(&mut self.readable);
        let shapes: Vec<Shape> = self.shapes.iter().map(|_| Shape::Free).collect();
        let shapes = std::mem::replace(&mut self.shapes, shapes);
        let arguments = std::mem::take(&mut self.kernel.arguments);
        let sees = self.random.once_in(2);
        // A function that sees no tensors asks for none of any type.
        let tensors = if sees { Vec::new() } else { std::mem::take(&mut self.kernel.tensors) };
        let parameter = |generator: &mut Generator, mutable: bool| {
            let (local, scalar) = (generator.fresh(), generator.ty());
            let ty = Type::Scalar(scalar);
            generator.variables.push(Variable { local, ty: ty.clone(), mutable, below: 0, known: false });
            (local, ty)
        };
        let values: Vec<_> = (0..self.random.below(2) + 1).map(|_| parameter(self, false)).collect();
        let changes = self.random.once_in(2);
        let changed: Vec<_> = if changes { vec![parameter(self, true)] } else { Vec::new() };
        let mut body = Vec::new();
        let around = Around { inside: false, depth: 2 };
        self.some(&mut body, around);
        let result = match changes {
            true => {
                let (local, ty) = changed[0].clone();
                if let Type::Scalar(scalar) = ty {
                    body.push(self.add_to(local, scalar));
                }
                None
            }
            false => {
                let scalar = self.ty();
                Some(self.data(scalar, 2))
            }
        };
        if !sees {
            self.kernel.tensors = tensors;
        }
        let read_only = (0..self.kernel.tensors.len()).filter(|place| !self.kernel.tensors[*place].mutable);
        let tensors = if sees { read_only.collect() } else { Vec::new() };
        self.kernel.arguments = arguments;
        self.shapes = shapes;
        self.readable = readable;
        self.home = home;
        self.variables = outer;
        let place = self.kernel.helpers.len();
        let types: Vec<Type> = values.iter().map(|(_, ty)| ty.clone()).collect();
        let target = changed.first().map(|(_, ty)| ty.clone());
        let gives = result.as_ref().map(Expr::scalar);
        self.kernel.helpers.push(Helper { values, changed, tensors, body, result });
        let mut operands = Vec::new();
        for ty in types {
            if let Type::Scalar(scalar) = ty {
                operands.push(self.data(scalar, 1));
            }
        }
        match (target, gives) {
            (Some(Type::Scalar(scalar)), _) => {
                let value = self.data(scalar, 1);
                let (local, stmt) = self.declare(value, true, 0, false);
                list.push(stmt);
                list.push(Stmt::Call { helper: place, values: operands, changed: vec![local] });
            }
            (_, Some(scalar)) => {
                let value = Expr::of(scalar, Kind::Call(place, operands));
                list.push(self.declare(value, false, 0, false).1);
            }
            _ => {}
        }
    }

    /// Stores to the thread's own element of each output.
    pub(super) fn stores(&mut self, list: &mut Vec<Stmt>) {
        if let Some(output) = self.approximated {
            let element = self.kernel.tensors[output].element;
            let (method, ulps) = self.random.pick(crate::method::APPROXIMATE);
            let value = self.of_method(method, element, 2);
            // More for the evaluator's own rounding, and that of the functions that it calls.
            self.kernel.tensors[output].ulps = ulps[usize::from(element == Scalar::F64)] + 2;
            let access = Access { base: Base::Tensor(output), indices: self.home.clone() };
            list.push(Stmt::Store { access, op: None, value });
        }
        for output in self.outputs.clone() {
            let element = self.kernel.tensors[output].element;
            let access = Access { base: Base::Tensor(output), indices: self.home.clone() };
            if self.width > 1 {
                let value = self.vector(element, self.width, 3);
                list.push(Stmt::Write { access, value });
                continue;
            }
            let mut value = self.data(element, 4);
            // What the statements before have computed shall be seen.
            let seen: Vec<Expr> = self
                .variables
                .iter()
                .rev()
                .filter_map(|variable| match variable.ty {
                    Type::Scalar(scalar) if scalar != Scalar::Usize => {
                        let local = Expr::of(scalar, Kind::Local(variable.local));
                        match scalar {
                            _ if scalar == element => Some(local),
                            Scalar::Bool if element.is_float() => None,
                            _ => Some(converted(local, element)),
                        }
                    }
                    _ => None,
                })
                .take(3)
                .collect();
            for local in seen {
                value = Expr::of(element, Kind::Binary(BinaryOp::Add, value.into(), local.into()));
            }
            let op = if self.random.once_in(4) { Some(BinaryOp::Add) } else { None };
            list.push(Stmt::Store { access, op, value });
        }
    }
}
