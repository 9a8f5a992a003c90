//! A kernel in which what is read is used, for the counts of a profiler.
//!
//! `ptxas` drops a load whose value reaches no memory, and of a random program much is computed in vain. Here each value that is
//! read goes into a sum, from which no part can be taken away, and the sum into memory at the thread's end.

use crate::tree::{Access, AtomicOp, Base, Expr, Kernel, Kind, Local, Place, Position, Stmt, Tensor, Type};
use crate::value::{BinaryOp, Scalar, Value};
use crate::walk::{Node, operands, parts, visit};

/// Methods that CUDA's library computes with a table in device memory, or of large numbers with an array in local memory: accesses that no
/// report has.
const WITH_TABLES: [&str; 3] = ["sin", "cos", "tan"];

/// The kernel with the sum; none where a helper function reads memory, which has no part in the kernel's variables, or where the
/// machine code has accesses of other functions.
pub fn counted(kernel: &Kernel) -> Option<Kernel> {
    let mut kernel = kernel.clone();
    let tables = visit(&mut kernel, &mut |node| match node {
        Node::Expr(Expr { kind: Kind::Method(method, _), .. }) => WITH_TABLES.contains(&method.name),
        Node::Expr(_) | Node::List(_) => false,
    });
    if tables || kernel.helpers.iter().any(|helper| !helper.tensors.is_empty()) {
        return None;
    }
    let sum = next_local(&mut kernel);
    let tensor = kernel.tensors.len();
    let threads: usize = kernel.block.iter().product();
    kernel.tensors.push(Tensor {
        element: Scalar::U64,
        mutable: true,
        extents: vec![threads],
        strides: Vec::new(),
        seed: 0,
        ulps: 0,
    });
    kernel.requires.push(format!("{}.extent(0) >= {threads}", crate::print::tensor_name(&kernel, tensor)));
    let access = Access { base: Base::Tensor(tensor), indices: vec![thread(&kernel)] };
    let operands = vec![Expr::of(Scalar::U64, Kind::Local(sum))];
    let end = Stmt::Atomic { op: AtomicOp::Add, access, operands };
    let mut body = std::mem::take(&mut kernel.body);
    Counted { sum, next: sum + 1, end: end.clone() }.list(&mut body);
    let zero = Expr::of(Scalar::U64, Kind::Literal(Value::U64(0)));
    body.insert(0, Stmt::Let { local: sum, mutable: true, annotated: true, value: zero });
    body.push(end);
    kernel.body = body;
    Some(kernel)
}

/// A number that no variable has, nor any behind it.
fn next_local(kernel: &mut Kernel) -> Local {
    let mut next = 0;
    let mut see = |local: Local| next = next.max(local + 1);
    visit(kernel, &mut |node| {
        match node {
            Node::List(list) => {
                for stmt in list {
                    match stmt {
                        Stmt::Let { local, .. } | Stmt::For { local, .. } => see(*local),
                        Stmt::LetTuple { locals, .. } => locals.iter().copied().for_each(&mut see),
                        _ => {}
                    }
                }
            }
            Node::Expr(Expr { kind: Kind::Map(_, local, _), .. }) => see(*local),
            Node::Expr(_) => {}
        }
        false
    });
    next
}

/// The number of the thread in its block.
fn thread(kernel: &Kernel) -> Expr {
    let axis = |axis| Expr::of(Scalar::Usize, Kind::Position(Position::Thread(axis)));
    let number = |n| Expr::of(Scalar::Usize, Kind::Literal(Value::Usize(n)));
    let last = kernel.block.len() - 1;
    (0..last).rev().fold(axis(last), |outer, inner| {
        let rows = binary(BinaryOp::Mul, outer, number(kernel.block[inner]));
        binary(BinaryOp::Add, rows, axis(inner))
    })
}

fn binary(op: BinaryOp, a: Expr, b: Expr) -> Expr {
    Expr { ty: a.ty.clone(), kind: Kind::Binary(op, a.into(), b.into()) }
}

struct Counted {
    sum: Local,
    next: Local,
    end: Stmt,
}

impl Counted {
    fn list(&mut self, list: &mut Vec<Stmt>) {
        for stmt in list.iter_mut() {
            let (expressions, lists) = parts(stmt);
            expressions.into_iter().for_each(|expr| self.expression(expr));
            lists.into_iter().for_each(|list| self.list(list));
        }
        if let Some(place) = list.iter().position(|stmt| matches!(stmt, Stmt::Return)) {
            list.insert(place, self.end.clone());
        }
    }

    fn expression(&mut self, expr: &mut Expr) {
        if let Kind::Block(statements, _) = &mut expr.kind {
            self.list(statements);
        }
        operands(expr).into_iter().for_each(|operand| self.expression(operand));
        let reads =
            matches!(expr.kind, Kind::Load(_) | Kind::Read(_) | Kind::ReadUnaligned(_) | Kind::GetOr(..));
        if !reads {
            return;
        }
        let local = self.next;
        self.next += 1;
        let (ty, scalar) = (expr.ty.clone(), expr.scalar());
        let elements: Vec<Expr> = match ty {
            Type::Vector(_, n) => (0..n)
                .map(|place| {
                    let place = Expr::of(Scalar::Usize, Kind::Literal(Value::Usize(place)));
                    Expr::of(scalar, Kind::Element(local, place.into()))
                })
                .collect(),
            Type::Scalar(_) | Type::Array(..) | Type::Tuple(_) => {
                vec![Expr::of(scalar, Kind::Local(local))]
            }
        };
        let value = Expr { ty: ty.clone(), kind: Kind::Local(local) };
        let read = std::mem::replace(expr, value.clone());
        let mut statements = vec![Stmt::Let { local, mutable: false, annotated: false, value: read }];
        statements.extend(elements.into_iter().map(|element| self.added(element)));
        *expr = Expr { ty, kind: Kind::Block(statements, value.into()) };
    }

    /// Adds all bits of a value to the sum, each time with other factors, so that equal values do not cancel.
    fn added(&self, value: Expr) -> Stmt {
        let bits = match value.scalar() {
            Scalar::F16 | Scalar::Bf16 => Expr::of(Scalar::U16, Kind::Bits(value.into())),
            Scalar::F32 => Expr::of(Scalar::U32, Kind::Bits(value.into())),
            Scalar::F64 => Expr::of(Scalar::U64, Kind::Bits(value.into())),
            _ => value,
        };
        let bits = Expr::of(Scalar::U64, Kind::Cast(bits.into()));
        let sum = || Expr::of(Scalar::U64, Kind::Local(self.sum));
        let factor = Expr::of(Scalar::U64, Kind::Literal(Value::U64(0x9e37_79b9)));
        let value = binary(BinaryOp::Add, binary(BinaryOp::Mul, sum(), factor), bits);
        Stmt::Assign { place: Place::Local(self.sum), op: None, value }
    }
}
