//! Random well-formed kernels.
//!
//! A seed is a kernel, the same on every host. Well formed means: inside its tensors and tiles, free of races, with barriers
//! and collectives where all threads are together, and with a result that does not depend on the order of threads. What the
//! compiler cannot prove of it is a false alarm, or a cost that a budget accepts.

mod data;
mod index;
mod memory;
mod statement;

use crate::random::Random;
use crate::tree::{
    Access, Base, Blocks, Expr, Kernel, Kind, Local, Position, Range, Stmt, Tensor, Tile, Type,
};
use crate::value::{BinaryOp, CompareOp, Scalar, Value};

/// A variable that statements can use.
#[derive(Clone, Debug)]
struct Variable {
    local: Local,
    ty: Type,
    mutable: bool,
    /// Of an index: it is below this.
    below: usize,
    /// Whether it is a number once constant loops are unrolled.
    known: bool,
}

/// How the elements of an input are known to be there.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shape {
    /// Its extents are those of the outputs.
    Like,
    /// Its extents are at least these.
    Least(Vec<usize>),
    /// Nothing is known.
    Free,
}

/// Where a statement is.
#[derive(Clone, Copy, Debug)]
struct Around {
    /// Whether the thread's own element is inside the outputs.
    inside: bool,
    /// How many statements are around.
    depth: usize,
}

/// How blocks cover the outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cover {
    /// Each extent of the block runs along one of the outputs.
    Along,
    /// The elements are numbered row by row.
    Numbered,
    /// Windows of rank 2 in the order of `rasterize`.
    Windows,
    /// So many blocks, which may go round.
    Fixed(usize),
}

struct Generator {
    random: Random,
    kernel: Kernel,
    shapes: Vec<Shape>,
    next: Local,
    variables: Vec<Variable>,
    /// The number of the thread's own element, where it has one.
    number: Option<Expr>,
    /// The thread's own element of each output: one index a dimension.
    home: Vec<Expr>,
    /// How the blocks cover the outputs.
    cover: Cover,
    /// How many elements of a row, from its own one on, are the thread's.
    width: usize,
    /// The tensors that are written by each thread at its own element.
    outputs: Vec<usize>,
    /// The output that holds values of approximated methods.
    approximated: Option<usize>,
    /// The tiles that hold something, and may be read.
    readable: Vec<usize>,
    /// The scalar types that this kernel computes with.
    types: Vec<Scalar>,
    /// How many nodes expressions may still have.
    fuel: usize,
}

/// The kernel of a seed.
pub fn generate(seed: u64) -> Kernel {
    let mut random = Random::new(seed);
    // The first numbers of neighbouring seeds are as random as others; nothing is skipped.
    let block = random.pick(&[
        vec![32],
        vec![64],
        vec![128],
        vec![256],
        vec![96],
        vec![48],
        vec![33],
        vec![1],
        vec![20],
        vec![8, 8],
        vec![16, 4],
        vec![32, 4],
        vec![32, 2],
        vec![16, 16],
        vec![7, 5],
        vec![4, 4, 4],
        vec![8, 4, 2],
        vec![32, 2, 2],
    ]);
    let mut types = vec![random.pick(&[Scalar::F32, Scalar::I32, Scalar::U32])];
    for _ in 0..random.below(3) + 1 {
        types.push(random.pick(&Scalar::ELEMENTS));
    }
    let kernel = Kernel {
        name: format!("k_{seed}"),
        block,
        grid: Vec::new(),
        requires: Vec::new(),
        tensors: Vec::new(),
        arguments: Vec::new(),
        constants: Vec::new(),
        tables: Vec::new(),
        tiles: Vec::new(),
        helpers: Vec::new(),
        body: Vec::new(),
    };
    let mut generator = Generator {
        random,
        kernel,
        shapes: Vec::new(),
        next: 0,
        variables: Vec::new(),
        number: None,
        home: Vec::new(),
        cover: Cover::Along,
        width: 1,
        outputs: Vec::new(),
        approximated: None,
        readable: Vec::new(),
        types,
        fuel: 160,
    };
    generator.parameters();
    generator.program();
    generator.kernel
}

impl Generator {
    fn threads(&self) -> usize {
        self.kernel.block.iter().product()
    }

    fn fresh(&mut self) -> Local {
        self.next += 1;
        self.next - 1
    }

    /// One of the kernel's types of elements.
    fn ty(&mut self) -> Scalar {
        self.random.pick(&self.types.clone())
    }

    fn parameters(&mut self) {
        // The outputs come first, so that their shape is the launch's.
        let block = self.kernel.block.clone();
        self.cover = match self.random.below(8) {
            0 | 1 => Cover::Numbered,
            2 if block.len() == 2 => Cover::Windows,
            3 if block.len() == 1 => Cover::Fixed(self.random.below(3) + 1),
            _ => Cover::Along,
        };
        let rank = match self.cover {
            Cover::Along | Cover::Windows => block.len(),
            Cover::Numbered => self.random.below(3) + 1,
            Cover::Fixed(_) => 1,
        };
        let vector = block.len() == 1 && self.cover == Cover::Along && self.random.once_in(3);
        self.width = if vector { self.random.pick(&[2, 4]) } else { 1 };
        let threads = self.threads();
        let around = |random: &mut Random, n: usize| match random.below(6) {
            0 => n,
            1 => n + 1,
            2 => (n - 1).max(1),
            3 => 2 * n,
            4 => 2 * n + random.below(n),
            _ => random.below(n) + 1,
        };
        let covered: Vec<usize> = match self.cover {
            Cover::Numbered if rank > 1 => {
                (0..rank).map(|_| self.random.pick(&[1, 2, 3, 5, 8, 13])).collect()
            }
            Cover::Numbered | Cover::Fixed(_) => vec![threads],
            Cover::Along | Cover::Windows if rank == 1 => vec![threads * self.width],
            Cover::Along | Cover::Windows => block.iter().rev().copied().collect(),
        };
        let extents: Vec<usize> = covered
            .iter()
            .enumerate()
            .map(|(dimension, n)| {
                let width = if dimension + 1 == covered.len() { self.width } else { 1 };
                around(&mut self.random, *n).next_multiple_of(width)
            })
            .collect();
        for _ in 0..self.random.below(2) + 1 {
            let mut element = self.ty();
            while element.bytes() * self.width > 16 {
                element = Scalar::F32;
            }
            let tensor = self.kernel.tensors.len();
            self.outputs.push(tensor);
            self.tensor(element, true, extents.clone(), Shape::Like);
            if tensor > 0 {
                self.require_like(tensor);
            }
        }
        if self.width > 1 {
            let last = rank - 1;
            self.kernel.requires.push(format!("output0.extent({last}).is_multiple_of({})", self.width));
        }
        self.kernel.grid = match self.cover {
            Cover::Fixed(blocks) => vec![Blocks::Constant(blocks)],
            Cover::Numbered => vec![Blocks::CoveringAll(0, threads)],
            Cover::Windows => vec![Blocks::Windows(0, [covered[0], covered[1]])],
            Cover::Along => (0..rank).rev().map(|d| Blocks::Covering(0, d, covered[d])).collect(),
        };
        if self.cover == Cover::Numbered {
            let extents: Vec<String> = (0..rank).map(|d| format!("output0.extent({d})")).collect();
            for count in 2..=rank {
                self.kernel.requires.push(format!("{} < 1 << 40", extents[..count].join(" * ")));
            }
            self.kernel.requires.extend(extents.iter().map(|extent| format!("{extent} >= 1")));
        }
        if self.width == 1 && self.random.once_in(3) {
            let element = self.random.pick(&[Scalar::F32, Scalar::F64]);
            let tensor = self.kernel.tensors.len();
            self.tensor(element, true, extents.clone(), Shape::Like);
            self.require_like(tensor);
            self.approximated = Some(tensor);
        }
        for _ in 0..self.random.below(3) + 1 {
            self.input(&extents);
        }
        for _ in 0..self.random.below(3) {
            let scalar = self.random.pick(&[
                Scalar::Bool,
                Scalar::I32,
                Scalar::U32,
                Scalar::F32,
                Scalar::Usize,
                self.types[0],
                *self.types.last().unwrap_or(&Scalar::U8),
            ]);
            let value = match scalar {
                Scalar::Usize => Value::Usize(self.random.below(40)),
                _ => crate::memory::element(scalar, &mut self.random),
            };
            self.kernel.arguments.push(value);
        }
        for _ in 0..self.random.below(2) {
            let scalar = self.ty();
            let value = crate::memory::element(scalar, &mut self.random);
            self.kernel.constants.push(value);
        }
        if self.random.once_in(4) {
            let scalar = self.ty();
            let values =
                (0..self.random.pick(&[2, 4, 5])).map(|_| crate::memory::element(scalar, &mut self.random));
            let table = values.collect();
            self.kernel.tables.push(table);
        }
    }

    fn tensor(&mut self, element: Scalar, mutable: bool, extents: Vec<usize>, shape: Shape) {
        // Between the rows of some there are elements that belong to nobody.
        let between = if self.random.once_in(3) { 8 } else { 0 };
        let mut strides = Vec::new();
        let mut row = 1;
        for extent in extents.iter().skip(1).rev() {
            row = row * extent + between;
            strides.insert(0, row.next_multiple_of(if between > 0 { 8 } else { 1 }));
            row = strides[0];
        }
        let seed = self.random.bits();
        self.kernel.tensors.push(Tensor { element, mutable, extents, strides, seed, ulps: 0 });
        self.shapes.push(shape);
    }

    fn require_like(&mut self, tensor: usize) {
        let name = crate::print::tensor_name(&self.kernel, tensor);
        for dimension in 0..self.kernel.tensors[tensor].extents.len() {
            self.kernel.requires.push(format!("{name}.extent({dimension}) == output0.extent({dimension})"));
        }
    }

    fn input(&mut self, extents: &[usize]) {
        let element = self.ty();
        let tensor = self.kernel.tensors.len();
        match self.random.below(4) {
            0 | 1 => {
                self.tensor(element, false, extents.to_vec(), Shape::Like);
                self.require_like(tensor);
            }
            2 => {
                let rank = self.random.below(3) + 1;
                let least: Vec<usize> = (0..rank).map(|_| self.random.pick(&[1, 2, 5, 8, 16, 32])).collect();
                let extents = least.iter().map(|n| n + self.random.below(4)).collect();
                self.tensor(element, false, extents, Shape::Least(least.clone()));
                let name = crate::print::tensor_name(&self.kernel, tensor);
                for (dimension, n) in least.iter().enumerate() {
                    self.kernel.requires.push(format!("{name}.extent({dimension}) >= {n}"));
                }
            }
            _ => {
                let rank = self.random.below(3) + 1;
                let extents = (0..rank).map(|_| self.random.pick(&[1, 3, 8, 17, 40])).collect();
                self.tensor(element, false, extents, Shape::Free);
            }
        }
    }

    /// Declares a variable with a value.
    fn declare(&mut self, value: Expr, mutable: bool, below: usize, known: bool) -> (Local, Stmt) {
        let local = self.fresh();
        self.variables.push(Variable { local, ty: value.ty.clone(), mutable, below, known });
        let annotated = !matches!(value.ty, Type::Tuple(_)) && self.random.once_in(5);
        (local, Stmt::Let { local, mutable, annotated, value })
    }

    /// The thread's place, its number in the block first.
    fn places(&mut self) {
        let block = self.kernel.block.clone();
        let thread = |axis| index_of(Kind::Position(Position::Thread(axis)));
        let block_at = |axis| index_of(Kind::Position(Position::Block(axis)));
        let mut number = thread(block.len() - 1);
        for axis in (0..block.len() - 1).rev() {
            number = sum(product(number, block[axis]), thread(axis));
        }
        let threads = self.threads();
        let (t, stmt) = self.declare(number, false, threads, false);
        self.kernel.body.push(stmt);
        let t = index_of(Kind::Local(t));
        let rank = self.kernel.tensors[0].extents.len();
        let home: Vec<Expr> = match rank {
            1 => {
                let number = sum(product(block_at(0), threads), t);
                vec![if self.width > 1 { product(number, self.width) } else { number }]
            }
            _ if self.cover == Cover::Numbered => {
                let (n, stmt) = self.declare(sum(product(block_at(0), threads), t), false, 0, false);
                self.kernel.body.push(stmt);
                self.number = Some(index_of(Kind::Local(n)));
                // Its place is known only where the number is below that of the elements.
                Vec::new()
            }
            _ if self.cover == Cover::Windows => {
                let group = self.random.pick(&[1, 2, 4]);
                let windows = [(0, block[1]), (1, block[0])]
                    .map(|(d, n)| index_of(Kind::DivCeil(index_of(Kind::Extent(0, d)).into(), n)));
                let (stmt, parts) =
                    self.parts(Kind::Rasterize(block_at(0).into(), windows.to_vec(), group), 2);
                self.kernel.body.push(stmt);
                let places = parts.into_iter().zip([1, 0]);
                places.map(|(part, axis)| sum(product(part, block[axis]), thread(axis))).collect()
            }
            rank => {
                (0..rank).rev().map(|axis| sum(product(block_at(axis), block[axis]), thread(axis))).collect()
            }
        };
        for index in home {
            if matches!(index.kind, Kind::Local(_)) {
                self.home.push(index);
                continue;
            }
            let (local, stmt) = self.declare(index, false, 0, false);
            self.kernel.body.push(stmt);
            self.home.push(index_of(Kind::Local(local)));
        }
    }

    /// The parts of a place, in variables.
    fn parts(&mut self, order: Kind, rank: usize) -> (Stmt, Vec<Expr>) {
        let value = Expr { ty: Type::Array(Scalar::Usize, rank), kind: order };
        let locals: Vec<Local> = (0..rank).map(|_| self.fresh()).collect();
        for local in &locals {
            let ty = Type::Scalar(Scalar::Usize);
            self.variables.push(Variable { local: *local, ty, mutable: false, below: 0, known: false });
        }
        let parts = locals.iter().map(|local| index_of(Kind::Local(*local))).collect();
        (Stmt::LetTuple { locals, value }, parts)
    }

    /// The condition that the thread's own element is inside.
    fn guard(&mut self) -> Expr {
        let extents = (0..self.kernel.tensors[0].extents.len()).map(|d| index_of(Kind::Extent(0, d)));
        let all = extents.reduce(|a, b| index_of(Kind::Binary(BinaryOp::Mul, a.into(), b.into())));
        if let (Some(number), Some(all)) = (self.number.clone(), all) {
            return Expr::of(Scalar::Bool, Kind::Compare(CompareOp::Less, number.into(), all.into()));
        }
        if self.width == 1 && self.random.once_in(3) {
            let access = Access { base: Base::Tensor(0), indices: self.home.clone() };
            return Expr::of(Scalar::Bool, Kind::Contains(access));
        }
        let conditions = self.home.iter().enumerate().map(|(dimension, index)| {
            let extent = index_of(Kind::Extent(0, dimension));
            Expr::of(Scalar::Bool, Kind::Compare(CompareOp::Less, index.clone().into(), extent.into()))
        });
        let all = conditions.reduce(|a, b| Expr::of(Scalar::Bool, Kind::And(a.into(), b.into())));
        all.unwrap_or(Expr::of(Scalar::Bool, Kind::Literal(Value::Bool(true))))
    }

    /// The blocks go through all elements together.
    fn go_round(&mut self, blocks: usize) {
        let threads = self.threads();
        let local = self.fresh();
        let ty = Type::Scalar(Scalar::Usize);
        self.variables.push(Variable { local, ty, mutable: false, below: 0, known: false });
        let from = self.home[0].clone();
        self.home = vec![index_of(Kind::Local(local))];
        let mut body = Vec::new();
        self.some(&mut body, Around { inside: true, depth: 1 });
        self.stores(&mut body);
        let to = index_of(Kind::Extent(0, 0));
        let range = Range::Up { from, to, inclusive: false, step: threads * blocks, reversed: false };
        self.kernel.body.push(Stmt::For { local, range, body, label: false });
    }

    fn program(&mut self) {
        self.places();
        let around = Around { inside: false, depth: 0 };
        for _ in 0..self.random.below(4) + 1 {
            let mut list = Vec::new();
            match self.random.below(6) {
                0 | 1 => self.tile_phase(&mut list),
                2 => self.collective(&mut list),
                3 if self.random.once_in(2) => self.bins(&mut list),
                _ => self.some(&mut list, around),
            }
            self.kernel.body.extend(list);
        }
        if let (Cover::Fixed(blocks), true) = (self.cover, self.random.once_in(2)) {
            return self.go_round(blocks);
        }
        let guard = self.guard();
        let inside = Around { inside: true, depth: 1 };
        let mark = self.variables.len();
        let mut last = Vec::new();
        if let Some(number) = self.number.clone() {
            let rank = self.kernel.tensors[0].extents.len();
            let extents = (0..rank).map(|d| index_of(Kind::Extent(0, d))).collect();
            let (stmt, parts) = self.parts(Kind::Unflatten(number.into(), extents), rank);
            last.push(stmt);
            self.home = parts;
        }
        if self.random.once_in(2) {
            self.some(&mut last, inside);
        }
        self.stores(&mut last);
        self.variables.truncate(mark);
        if self.random.once_in(4) {
            let outside = Expr::of(Scalar::Bool, Kind::Not(guard.into()));
            self.kernel.body.push(Stmt::If {
                condition: outside,
                then: vec![Stmt::Return],
                otherwise: Vec::new(),
            });
            self.kernel.body.extend(last);
        } else {
            self.kernel.body.push(Stmt::If { condition: guard, then: last, otherwise: Vec::new() });
        }
    }
}

/// An expression of `usize`.
fn index_of(kind: Kind) -> Expr {
    Expr::of(Scalar::Usize, kind)
}

fn number(n: usize) -> Expr {
    index_of(Kind::Literal(Value::Usize(n)))
}

fn sum(a: Expr, b: Expr) -> Expr {
    index_of(Kind::Binary(BinaryOp::Add, a.into(), b.into()))
}

fn product(a: Expr, n: usize) -> Expr {
    index_of(Kind::Binary(BinaryOp::Mul, a.into(), number(n).into()))
}

fn remainder(a: Expr, n: usize) -> Expr {
    index_of(Kind::Binary(BinaryOp::Rem, a.into(), number(n).into()))
}

fn quotient(a: Expr, n: usize) -> Expr {
    index_of(Kind::Binary(BinaryOp::Div, a.into(), number(n).into()))
}

/// A tile's declaration.
fn tile(element: Scalar, extents: Vec<usize>, layout: String) -> Tile {
    Tile { element, extents, layout }
}
