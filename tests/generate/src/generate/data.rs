//! Expressions of data: any value is well defined.

use super::{Generator, Shape, Variable, index_of};
use crate::method::{Domain, EXACT, Method, Rest};
use crate::tree::{Access, Base, Expr, Kind, Pattern, Type};
use crate::value::{BinaryOp, CompareOp, Scalar, Value};

impl Generator {
    /// An expression of a scalar type that is not an index.
    pub(super) fn data(&mut self, scalar: Scalar, depth: usize) -> Expr {
        if scalar == Scalar::Bool {
            return self.condition(depth);
        }
        if depth == 0 || self.fuel == 0 || self.random.once_in(5) {
            return self.leaf(scalar);
        }
        self.fuel -= 1;
        let inner = depth - 1;
        let of = |kind| Expr::of(scalar, kind);
        match self.random.below(20) {
            0..=4 => self.arithmetic(scalar, inner),
            5..=7 => self.cast(scalar, inner),
            8..=11 => self.method(scalar, inner),
            12 => {
                let condition = self.condition(inner);
                let (yes, no) = (self.data(scalar, inner), self.data(scalar, inner));
                of(Kind::If(condition.into(), yes.into(), no.into()))
            }
            13 => self.choice(scalar, inner),
            14 => self.block(scalar, inner),
            15 if !scalar.is_integer() || scalar.is_signed() => {
                of(Kind::Negative(self.data(scalar, inner).into()))
            }
            15 => of(Kind::Not(self.data(scalar, inner).into())),
            16 if scalar.is_float() => of(Kind::Bits(self.bits_of_a_number(scalar).into())),
            16 => match scalar {
                Scalar::U16 | Scalar::U32 | Scalar::U64 => {
                    let float = match scalar {
                        Scalar::U16 => self.random.pick(&[Scalar::F16, Scalar::Bf16]),
                        Scalar::U32 => Scalar::F32,
                        _ => Scalar::F64,
                    };
                    of(Kind::Bits(self.a_number(float, inner).into()))
                }
                _ => self.arithmetic(scalar, inner),
            },
            17 if scalar == Scalar::U32 => {
                let operands = (0..3).map(|_| self.data(scalar, inner)).collect();
                of(Kind::BytePerm(operands))
            }
            18 if !self.kernel.helpers.is_empty() => {
                self.call(scalar, inner).unwrap_or_else(|| self.leaf(scalar))
            }
            _ => self.load(scalar, inner).unwrap_or_else(|| self.leaf(scalar)),
        }
    }

    fn leaf(&mut self, scalar: Scalar) -> Expr {
        let loaded = if self.random.once_in(3) { self.load(scalar, 0) } else { None };
        loaded.unwrap_or_else(|| self.plain(scalar))
    }

    /// An expression without operands and without a load.
    fn plain(&mut self, scalar: Scalar) -> Expr {
        let of = |kind| Expr::of(scalar, kind);
        let mut list = vec![of(Kind::Literal(crate::memory::element(scalar, &mut self.random)))];
        let mut indices = Vec::new();
        for variable in &self.variables {
            let Variable { local, ty, .. } = variable;
            match ty {
                Type::Scalar(own) if *own == scalar => {
                    list.push(of(Kind::Local(*local)));
                    list.push(of(Kind::Local(*local)));
                }
                Type::Scalar(Scalar::Usize) => indices.push(*local),
                Type::Tuple(parts) => {
                    let fits = parts.iter().enumerate().filter(|(_, part)| **part == Type::Scalar(scalar));
                    list.extend(fits.map(|(place, _)| of(Kind::Field(*local, place))));
                }
                Type::Scalar(_) | Type::Vector(..) | Type::Array(..) => {}
            }
        }
        if !indices.is_empty() {
            list.push(converted(index_of(Kind::Local(self.random.pick(&indices))), scalar));
        }
        for (place, value) in self.kernel.arguments.iter().enumerate() {
            if value.scalar() == Some(scalar) {
                list.push(of(Kind::Argument(place)));
            }
        }
        for (place, value) in self.kernel.constants.iter().enumerate() {
            if value.scalar() == Some(scalar) {
                list.push(of(Kind::Constant(place)));
            }
        }
        let chosen = self.random.pick(&list);
        if !self.random.once_in(3) {
            return chosen;
        }
        self.part(scalar).unwrap_or(chosen)
    }

    /// An element of an array or vector in a variable, or of a table.
    fn part(&mut self, scalar: Scalar) -> Option<Expr> {
        let of = |kind| Expr::of(scalar, kind);
        let lists: Vec<(usize, usize)> = self
            .variables
            .iter()
            .filter_map(|variable| match variable.ty {
                Type::Vector(own, n) | Type::Array(own, n) if own == scalar => Some((variable.local, n)),
                _ => None,
            })
            .collect();
        let tables: Vec<usize> = (0..self.kernel.tables.len())
            .filter(|table| self.kernel.tables[*table][0].scalar() == Some(scalar))
            .collect();
        if !tables.is_empty() && self.random.once_in(2) {
            let table = self.random.pick(&tables);
            let n = self.kernel.tables[table].len();
            return Some(of(Kind::Table(table, self.known_below(n).into())));
        }
        if lists.is_empty() {
            return None;
        }
        let (local, n) = self.random.pick(&lists);
        Some(of(Kind::Element(local, self.known_below(n).into())))
    }

    fn arithmetic(&mut self, scalar: Scalar, depth: usize) -> Expr {
        let of = |op, a: Expr, b: Expr| Expr::of(scalar, Kind::Binary(op, a.into(), b.into()));
        let a = self.data(scalar, depth);
        if scalar.is_float() {
            let op = self.random.pick(&[
                BinaryOp::Add,
                BinaryOp::Add,
                BinaryOp::Sub,
                BinaryOp::Mul,
                BinaryOp::Mul,
                BinaryOp::Div,
                BinaryOp::Rem,
            ]);
            return of(op, a, self.data(scalar, depth));
        }
        match self.random.below(12) {
            0..=2 => of(BinaryOp::Add, a, self.data(scalar, depth)),
            3 => of(BinaryOp::Sub, a, self.data(scalar, depth)),
            4 | 5 => of(BinaryOp::Mul, a, self.data(scalar, depth)),
            6 => {
                let op = self.random.pick(&[BinaryOp::Div, BinaryOp::Rem]);
                let divisor = self.random.pick(&[1u64, 2, 3, 7, 8, 10, 16, 100]);
                of(op, a, Expr::of(scalar, Kind::Literal(Value::of_bits(scalar, divisor))))
            }
            7 => {
                let op = self.random.pick(&[BinaryOp::Div, BinaryOp::Rem]);
                let one = Expr::of(scalar, Kind::Literal(Value::of_bits(scalar, 1)));
                let b = self.data(scalar, depth);
                let divisor = Expr::of(scalar, Kind::Method(EXACT[1], vec![b, one]));
                of(op, a, divisor)
            }
            8 => of(BinaryOp::And, a, self.data(scalar, depth)),
            9 => of(BinaryOp::Or, a, self.data(scalar, depth)),
            10 => of(BinaryOp::Xor, a, self.data(scalar, depth)),
            _ => {
                let op = self.random.pick(&[BinaryOp::Shl, BinaryOp::Shr]);
                let amount = match self.random.below(3) {
                    0 => {
                        let by = self.random.below(8 * scalar.bytes());
                        Expr::of(Scalar::U32, Kind::Literal(Value::U32(by as u32)))
                    }
                    1 => self.data(Scalar::U32, depth),
                    _ => self.data(scalar, depth),
                };
                of(op, a, amount)
            }
        }
    }

    fn cast(&mut self, scalar: Scalar, depth: usize) -> Expr {
        if scalar.is_integer() && self.random.once_in(5) {
            return converted(self.condition(depth), scalar);
        }
        if self.random.once_in(6) {
            return converted(self.any(1), scalar);
        }
        let from = if self.random.once_in(2) { self.ty() } else { self.random.pick(&Scalar::ELEMENTS) };
        let value = self.data(from, depth);
        if from == scalar && !scalar.is_integer() {
            return value;
        }
        converted(value, scalar)
    }

    fn method(&mut self, scalar: Scalar, depth: usize) -> Expr {
        let fits: Vec<(Method, Scalar)> = EXACT
            .iter()
            .flat_map(|method| Scalar::ELEMENTS.map(|own| (*method, own)))
            .filter(|(method, own)| {
                // `half` has no such method, and neither has a kernel.
                let known = !(own.is_half() && method.domain == Domain::WideFloats);
                known && method.domain.holds(*own) && method.result(*own) == scalar
            })
            .filter(|(_, own)| *own == scalar || self.types.contains(own))
            .collect();
        if fits.is_empty() {
            return self.leaf(scalar);
        }
        let (method, own) = self.random.pick(&fits);
        self.of_method(method, own, depth)
    }

    pub(super) fn of_method(&mut self, method: Method, own: Scalar, depth: usize) -> Expr {
        let literal = |bits: u64| Expr::of(own, Kind::Literal(Value::of_bits(own, bits)));
        let real = |x: f64| Expr::of(own, Kind::Literal(Value::of_real(own, x)));
        let mut operands = vec![self.data(own, depth)];
        match method.rest {
            Rest::No => {}
            Rest::Same => operands.push(self.data(own, depth)),
            Rest::Signed => operands.push(self.a_number(own, depth)),
            Rest::TwoSame => operands.extend([self.data(own, depth), self.data(own, depth)]),
            Rest::Amount => operands.push(self.data(Scalar::U32, depth)),
            Rest::Positive if own.is_float() => operands.push(real(self.random.pick(&[0.5, 1.0, 3.0, 7.25]))),
            Rest::Positive => operands.push(literal(self.random.pick(&[1, 2, 3, 8, 10, 100]))),
            Rest::Bounds if own.is_float() => {
                let low = self.random.below(5) as f64 - 3.5;
                operands.extend([real(low), real(low + self.random.below(5) as f64)]);
            }
            Rest::Bounds => {
                let low = self.random.below(20);
                operands.extend([literal(low as u64), literal((low + self.random.below(50)) as u64)]);
            }
            Rest::Power => {
                let n = self.random.below(7) as u32;
                operands.push(Expr::of(Scalar::U32, Kind::Literal(Value::U32(n))));
            }
            Rest::SignedPower => {
                let n = self.random.below(11) as i32 - 4;
                operands.push(Expr::of(Scalar::I32, Kind::Literal(Value::I32(n))));
            }
        }
        Expr::of(method.result(own), Kind::Method(method, operands))
    }

    /// A float that is no NaN, whose sign and bits are the same everywhere.
    fn a_number(&mut self, scalar: Scalar, depth: usize) -> Expr {
        let bound = Expr::of(scalar, Kind::Literal(Value::of_real(scalar, 1e4)));
        let value = self.data(scalar, depth);
        Expr::of(scalar, Kind::Method(EXACT[0], vec![value, bound]))
    }

    /// Bits of an integer that are those of a number.
    fn bits_of_a_number(&mut self, scalar: Scalar) -> Expr {
        let bits = scalar.unsigned();
        let value = self.leaf(bits);
        // Without the exponent's highest bit it is finite.
        let mask = match scalar {
            Scalar::F16 | Scalar::Bf16 => 0xbfff,
            Scalar::F32 => 0xbfff_ffff,
            _ => 0xbfff_ffff_ffff_ffff,
        };
        let mask = Expr::of(bits, Kind::Literal(Value::of_bits(bits, mask)));
        Expr::of(bits, Kind::Binary(BinaryOp::And, value.into(), mask.into()))
    }

    /// A `match` of an integer.
    fn choice(&mut self, scalar: Scalar, depth: usize) -> Expr {
        let own = self.random.pick(&[Scalar::U8, Scalar::I32, Scalar::U32, Scalar::I16, Scalar::U64]);
        let of = |n: usize| Value::of_bits(own, n as u64);
        let value = self.data(own, depth);
        let mut arms = Vec::new();
        let mut low = self.random.below(4);
        for _ in 0..self.random.below(3) + 1 {
            let pattern = match self.random.below(3) {
                0 => Pattern::Is(of(low)),
                1 => Pattern::OneOf(vec![of(low), of(low + 2)]),
                _ => Pattern::Range(of(low), of(low + 3)),
            };
            low += self.random.below(6);
            arms.push((pattern, self.data(scalar, depth)));
        }
        arms.push((Pattern::Rest, self.data(scalar, depth)));
        Expr::of(scalar, Kind::Match(value.into(), arms))
    }

    fn block(&mut self, scalar: Scalar, depth: usize) -> Expr {
        let mark = self.variables.len();
        let own = self.ty();
        let value = self.data(own, depth);
        let (local, stmt) = self.declare(value, false, 0, false);
        let operand = Expr::of(own, Kind::Local(local));
        let other = self.data(own, depth);
        let both = Expr::of(own, Kind::Binary(BinaryOp::Add, operand.clone().into(), other.into()));
        let value = match own == scalar {
            true => both,
            false => converted(both, scalar),
        };
        self.variables.truncate(mark);
        Expr::of(scalar, Kind::Block(vec![stmt], value.into()))
    }

    fn call(&mut self, scalar: Scalar, depth: usize) -> Option<Expr> {
        let fits: Vec<usize> = (0..self.kernel.helpers.len())
            .filter(|place| {
                let helper = &self.kernel.helpers[*place];
                let gives = helper.result.as_ref().map(|result| result.ty.clone());
                // A function that sees no tensors cannot pass them on.
                let sees = helper.tensors.is_empty() || !self.kernel.tensors.is_empty();
                sees && helper.changed.is_empty() && gives == Some(Type::Scalar(scalar))
            })
            .collect();
        if fits.is_empty() {
            return None;
        }
        let helper = self.random.pick(&fits);
        let parameters: Vec<Type> =
            self.kernel.helpers[helper].values.iter().map(|(_, ty)| ty.clone()).collect();
        let mut values = Vec::new();
        for ty in parameters {
            let Type::Scalar(own) = ty else { return None };
            values.push(self.data(own, depth));
        }
        Some(Expr::of(scalar, Kind::Call(helper, values)))
    }

    /// A condition.
    pub(super) fn condition(&mut self, depth: usize) -> Expr {
        let of = |kind| Expr::of(Scalar::Bool, kind);
        let inner = depth.saturating_sub(1);
        let mut bools: Vec<Expr> = self
            .variables
            .iter()
            .filter(|variable| variable.ty == Type::Scalar(Scalar::Bool))
            .map(|variable| of(Kind::Local(variable.local)))
            .collect();
        let arguments = self.kernel.arguments.iter().enumerate();
        bools.extend(
            arguments
                .filter(|(_, value)| matches!(value, Value::Bool(_)))
                .map(|(place, _)| of(Kind::Argument(place))),
        );
        if !bools.is_empty() && self.random.once_in(4) {
            return self.random.pick(&bools);
        }
        if depth > 0 && self.fuel > 0 && self.random.once_in(4) {
            self.fuel -= 1;
            let (a, b) = (self.condition(inner), self.condition(inner));
            return match self.random.below(6) {
                0 | 1 => of(Kind::And(a.into(), b.into())),
                2 | 3 => of(Kind::Or(a.into(), b.into())),
                4 => of(Kind::Not(a.into())),
                _ => of(Kind::Binary(BinaryOp::Xor, a.into(), b.into())),
            };
        }
        if depth > 0 && self.random.once_in(6) {
            return self.method(Scalar::Bool, inner);
        }
        let op = self.random.pick(&[
            CompareOp::Equal,
            CompareOp::NotEqual,
            CompareOp::Less,
            CompareOp::LessEqual,
            CompareOp::Greater,
            CompareOp::GreaterEqual,
        ]);
        let (a, b) = match self.random.once_in(4) {
            true => (self.any(inner.min(1)), self.any(inner.min(1))),
            false => {
                let own = self.ty();
                (self.data(own, inner), self.data(own, inner))
            }
        };
        of(Kind::Compare(op, a.into(), b.into()))
    }

    /// An element of a tensor or tile of this type, where there is one.
    pub(super) fn load(&mut self, scalar: Scalar, depth: usize) -> Option<Expr> {
        let tiles: Vec<usize> =
            self.readable.iter().copied().filter(|tile| self.kernel.tiles[*tile].element == scalar).collect();
        let tensors: Vec<usize> = (0..self.kernel.tensors.len())
            .filter(|tensor| {
                let tensor = &self.kernel.tensors[*tensor];
                !tensor.mutable && tensor.element == scalar
            })
            .collect();
        if !tiles.is_empty() && (tensors.is_empty() || self.random.once_in(2)) {
            let tile = self.random.pick(&tiles);
            return Some(self.tile_element(tile, depth));
        }
        if tensors.is_empty() {
            return None;
        }
        let tensor = self.random.pick(&tensors);
        Some(self.tensor_element(tensor, depth))
    }

    /// An element of a tile.
    pub(super) fn tile_element(&mut self, tile: usize, depth: usize) -> Expr {
        let scalar = self.kernel.tiles[tile].element;
        let extents = self.kernel.tiles[tile].extents.clone();
        let base = Base::Tile(tile);
        if self.random.once_in(6) {
            let indices = extents.iter().map(|_| self.any(depth.min(1))).collect();
            let default = self.plain(scalar);
            return Expr::of(scalar, Kind::GetOr(Access { base, indices }, default.into()));
        }
        let indices = extents.iter().map(|n| self.below(*n, depth.min(2))).collect();
        Expr::of(scalar, Kind::Load(Access { base, indices }))
    }

    fn tensor_element(&mut self, tensor: usize, depth: usize) -> Expr {
        let scalar = self.kernel.tensors[tensor].element;
        let rank = self.kernel.tensors[tensor].extents.len();
        let base = Base::Tensor(tensor);
        let depth = depth.min(1);
        let of = |kind| Expr::of(scalar, kind);
        match self.shapes[tensor].clone() {
            Shape::Least(least) if !self.random.once_in(5) => {
                let indices = least
                    .iter()
                    .enumerate()
                    .map(|(dimension, n)| match self.random.once_in(4) {
                        true => {
                            let extent = index_of(Kind::Extent(tensor, dimension));
                            index_of(Kind::Binary(BinaryOp::Rem, self.any(depth).into(), extent.into()))
                        }
                        false => self.below(*n, depth),
                    })
                    .collect();
                of(Kind::Load(Access { base, indices }))
            }
            Shape::Like if !self.home.is_empty() && !self.random.once_in(4) => {
                let access = Access { base, indices: self.home.clone() };
                let default = self.plain(scalar);
                match self.random.below(3) {
                    0 => of(Kind::GetOr(access, default.into())),
                    _ => {
                        let condition = Expr::of(Scalar::Bool, Kind::Contains(access.clone()));
                        of(Kind::If(condition.into(), of(Kind::Load(access)).into(), default.into()))
                    }
                }
            }
            Shape::Like if !self.home.is_empty() && self.random.once_in(2) => {
                let indices = self.home.clone().into_iter().map(|index| self.near(index)).collect();
                let default = self.plain(scalar);
                of(Kind::GetOr(Access { base, indices }, default.into()))
            }
            Shape::Like | Shape::Least(_) | Shape::Free => {
                let indices = (0..rank).map(|_| self.any(depth)).collect();
                let default = self.plain(scalar);
                of(Kind::GetOr(Access { base, indices }, default.into()))
            }
        }
    }

    /// An index near another one, which may be below zero.
    fn near(&mut self, index: Expr) -> Expr {
        let by = self.random.below(5) as isize - 2;
        let own = Expr::of(Scalar::Isize, Kind::Cast(index.into()));
        let by = Expr::of(Scalar::Isize, Kind::Literal(Value::Isize(by)));
        Expr::of(Scalar::Isize, Kind::Binary(BinaryOp::Add, own.into(), by.into()))
    }

    /// A statement's condition that is the same for all threads.
    pub(super) fn uniform(&mut self) -> Expr {
        let mut list = Vec::new();
        for (place, value) in self.kernel.arguments.iter().enumerate() {
            let Some(scalar) = value.scalar() else { continue };
            let argument = Expr::of(scalar, Kind::Argument(place));
            if scalar == Scalar::Bool {
                list.push(argument);
            } else if !scalar.is_float() {
                let literal =
                    Expr::of(scalar, Kind::Literal(Value::of_bits(scalar, self.random.below(20) as u64)));
                list.push(Expr::of(
                    Scalar::Bool,
                    Kind::Compare(CompareOp::Less, argument.into(), literal.into()),
                ));
            }
        }
        let block = index_of(Kind::Position(crate::tree::Position::Block(0)));
        let n = super::number(self.random.below(3));
        list.push(Expr::of(Scalar::Bool, Kind::Compare(CompareOp::NotEqual, block.into(), n.into())));
        self.random.pick(&list)
    }

    /// A vector of data.
    pub(super) fn vector(&mut self, scalar: Scalar, width: usize, depth: usize) -> Expr {
        let ty = Type::Vector(scalar, width);
        let of = |kind| Expr { ty: ty.clone(), kind };
        let vectors: Vec<usize> = self
            .variables
            .iter()
            .filter(|variable| variable.ty == ty)
            .map(|variable| variable.local)
            .collect();
        if !vectors.is_empty() && (depth == 0 || self.random.once_in(3)) {
            return of(Kind::Local(self.random.pick(&vectors)));
        }
        if depth == 0 {
            let parts = (0..width).map(|_| self.leaf(scalar)).collect();
            return of(Kind::List(parts));
        }
        match self.random.below(7) {
            0..=2 => {
                let mut ops = vec![BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul];
                ops.extend(match scalar.is_float() {
                    true => vec![BinaryOp::Div],
                    false => vec![BinaryOp::And, BinaryOp::Or, BinaryOp::Xor],
                });
                let op = self.random.pick(&ops);
                let a = self.vector(scalar, width, depth - 1);
                let b = match self.random.once_in(2) {
                    true => self.vector(scalar, width, depth - 1),
                    false => self.leaf(scalar),
                };
                of(Kind::Binary(op, a.into(), b.into()))
            }
            3 => of(Kind::Repeat(self.data(scalar, depth).into())),
            4 => {
                let vector = self.vector(scalar, width, depth - 1);
                let mark = self.variables.len();
                let local = self.fresh();
                let ty = Type::Scalar(scalar);
                self.variables.push(Variable { local, ty, mutable: false, below: 0, known: false });
                let body = self.data(scalar, depth);
                self.variables.truncate(mark);
                of(Kind::Map(vector.into(), local, body.into()))
            }
            5 => {
                let from = self.random.pick(&Scalar::ELEMENTS);
                of(Kind::Cast(self.vector(from, width, depth - 1).into()))
            }
            _ => {
                let parts = (0..width).map(|_| self.data(scalar, depth - 1)).collect();
                of(Kind::List(parts))
            }
        }
    }
}

/// The value in another type.
pub(super) fn converted(value: Expr, to: Scalar) -> Expr {
    Expr::of(to, Kind::Cast(value.into()))
}
