//! Random kernels in which every variable is assigned before it is read, as rustc demands.

use proptest::prelude::{Strategy, any, prop};
use tileproof_compiler::ir::{
    Axis, Base, BinaryOp, Block, CompareOp, ExprKind, Handle, Kernel, Layout, Local, Loop, Param, Scalar,
    Stmt, Tile, Type, Unroll,
};

use crate::build::{Build, E};

/// Kernels by random choices; shorter lists of choices give smaller kernels.
pub(crate) fn kernels() -> impl Strategy<Value = Kernel> {
    prop::collection::vec(any::<u8>(), 0..200).prop_map(|choices| {
        let mut b = Build::new("random", [32, 1, 1]);
        let input = b.tensor("input", Scalar::I32, 1, false);
        let output = b.tensor("output", Scalar::I32, 2, true);
        let tile = b.tile("tile", Scalar::I32, &[8, 32], Layout::Xor(1));
        let argument = b.argument("argument", Scalar::I32);
        let mut random = Random { b, choices: choices.into_iter(), input, output, tile, argument };
        let mut known = vec![];
        let body = random.block(&mut known, 3);
        random.b.kernel.body = body;
        random.b.kernel
    })
}

struct Random {
    b: Build,
    choices: std::vec::IntoIter<u8>,
    input: Handle<Param>,
    output: Handle<Param>,
    tile: Handle<Tile>,
    argument: E,
}

impl Random {
    /// A number below `n`; 0 when the choices have run out.
    fn below(&mut self, n: usize) -> usize {
        usize::from(self.choices.next().unwrap_or(0)) % n
    }

    /// Statements; `known` holds the variables that have a value, and gets those that this block leaves behind.
    fn block(&mut self, known: &mut Vec<Handle<Local>>, depth: u32) -> Block {
        let mut body = vec![];
        while self.choices.len() > 0 {
            match self.below(if depth == 0 { 6 } else { 9 }) {
                0 => break,
                1 => {
                    let value = self.data(known, 2);
                    let local = self.b.variable("value", Type::Scalar(Scalar::I32), &[]);
                    body.push(Stmt::Assign { local, value });
                    known.push(local);
                }
                2 if !known.is_empty() => {
                    let local = known[self.below(known.len())];
                    let value = self.data(known, 2);
                    self.assign(&mut body, local, value);
                }
                2 | 3 => {
                    let local = self.b.variable("array", Type::Scalar(Scalar::I32), &[2, 2]);
                    let value = self.data(known, 1);
                    body.push(Stmt::Fill { local, value });
                    known.push(local);
                }
                4 => {
                    let index = self.index(known);
                    let value = if self.below(2) == 0 {
                        self.b.load(&mut body, "loaded", Base::Tensor(self.input), &[index], 1)
                    } else {
                        let row = self.b.n(3);
                        self.b.load(&mut body, "loaded", Base::Tile(self.tile), &[row, index], 1)
                    };
                    let ExprKind::Local(local) = self.b.kernel.exprs[value].kind else { unreachable!() };
                    known.push(local);
                }
                5 => {
                    let index = self.index(known);
                    let value = self.data(known, 2);
                    let (row, base) = match self.below(2) {
                        0 => (self.b.n(0), Base::Tensor(self.output)),
                        _ => (self.b.n(7), Base::Tile(self.tile)),
                    };
                    self.b.store(&mut body, base, &[row, index], value);
                }
                6 => {
                    // One variable that both sides give its first value.
                    let condition = self.condition(known);
                    let local = self.b.variable("either", Type::Scalar(Scalar::I32), &[]);
                    let mut sides = [0, 1].map(|_| {
                        let mut inner = known.clone();
                        let mut side = self.block(&mut inner, depth - 1);
                        let value = self.data(&inner, 1);
                        side.push(Stmt::Assign { local, value });
                        side
                    });
                    let [then, otherwise] = std::mem::take(&mut sides);
                    body.push(Stmt::If { condition, then, otherwise });
                    known.push(local);
                }
                7 => {
                    let condition = self.condition(known);
                    let then = self.block(&mut known.clone(), depth - 1);
                    let otherwise = self.block(&mut known.clone(), depth - 1);
                    body.push(Stmt::If { condition, then, otherwise });
                }
                _ => {
                    if self.below(3) == 0 {
                        self.b.barrier(&mut body);
                    }
                    let [start, end, step] = match self.below(3) {
                        0 => [0, 8, 1].map(|n| self.b.int(Scalar::I32, n)),
                        1 => [-5, 5, 3].map(|n| self.b.int(Scalar::I32, n)),
                        _ => [self.data(known, 1), self.data(known, 2), self.argument],
                    };
                    // The counter may be read, not assigned, so the body gets a copy.
                    let variable = self.b.variable("k", Type::Scalar(Scalar::I32), &[]);
                    let copy = self.b.variable("copy", Type::Scalar(Scalar::I32), &[]);
                    let value = self.b.local(variable);
                    let mut inside = vec![Stmt::Assign { local: copy, value }];
                    let mut readable = known.clone();
                    readable.push(copy);
                    inside.extend(self.block(&mut readable, depth - 1));
                    let span = self.b.kernel.span;
                    let repeat =
                        Loop { variable, start, end, step, body: inside, unroll: Unroll::Auto, span };
                    body.push(Stmt::For(self.b.kernel.loops.add(repeat)));
                }
            }
        }
        body
    }

    fn assign(&mut self, body: &mut Block, local: Handle<Local>, value: E) {
        if self.b.kernel.locals[local].extents.is_empty() {
            body.push(Stmt::Assign { local, value });
        } else {
            let index = [0, 1].map(|n| self.b.n(n)).to_vec();
            body.push(Stmt::AssignElement { local, index, value });
        }
    }

    fn index(&mut self, known: &[Handle<Local>]) -> E {
        match self.below(2) {
            0 => self.b.thread(Axis::X),
            _ => {
                let value = self.data(known, 1);
                self.b.cast(value, Scalar::Usize)
            }
        }
    }

    fn data(&mut self, known: &[Handle<Local>], depth: u32) -> E {
        match self.below(if depth == 0 { 3 } else { 6 }) {
            0 if !known.is_empty() => {
                let local = known[self.below(known.len())];
                if self.b.kernel.locals[local].extents.is_empty() {
                    self.b.local(local)
                } else {
                    let index = [1, 0].map(|n| self.b.n(n));
                    self.b.element(local, &index)
                }
            }
            1 => self.argument,
            0 | 2 => {
                let value = self.below(5) as i128 - 2;
                self.b.int(Scalar::I32, value)
            }
            3 => {
                let condition = self.condition(known);
                let (yes, no) = (self.data(known, depth - 1), self.data(known, depth - 1));
                self.b.expr(ExprKind::Select(condition, yes, no), Type::Scalar(Scalar::I32))
            }
            _ => {
                use BinaryOp::{Add, And, Div, Max, Mul, Rem, Shl, Sub};
                let op = [Add, Sub, Mul, And, Div, Rem, Shl, Max][self.below(8)];
                let (a, b) = (self.data(known, depth - 1), self.data(known, depth - 1));
                self.b.binary(op, a, b)
            }
        }
    }

    fn condition(&mut self, known: &[Handle<Local>]) -> E {
        match self.below(3) {
            0 => {
                let (a, b) = (self.data(known, 1), self.data(known, 0));
                self.b.less(a, b)
            }
            1 => {
                let (x, zero) = (self.b.thread(Axis::X), self.b.n(0));
                self.b.compare(CompareOp::GreaterEqual, x, zero)
            }
            _ => {
                let value = self.below(2) == 1;
                self.b.scalar(ExprKind::Bool(value), Scalar::Bool)
            }
        }
    }
}
