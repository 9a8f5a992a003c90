//! The kernels whose text is a golden file.

use tileproof_compiler::emit::CudaFacts;
use tileproof_compiler::ir::Axis::{X, Y};
use tileproof_compiler::ir::{
    Axis, Base, BinaryOp, CompareOp, ExprKind, Handle, Kernel, Layout, Param, Scalar, Stmt, Tile, Type,
    UnaryOp,
};

use crate::build::{Build, E};

const F32: Scalar = Scalar::F32;

/// Name of the golden file, kernel, facts.
pub(crate) fn all() -> Vec<(&'static str, Kernel, CudaFacts)> {
    let narrow = |trips: &[Option<u32>]| CudaFacts { trips: trips.to_vec(), narrow: true };
    let wide = CudaFacts { trips: vec![], narrow: false };
    let fours = [Some(4); 12];
    vec![
        ("copy", copy(), narrow(&[])),
        ("transpose_padded", transpose(Layout::Pad(1)), narrow(&[Some(4), Some(4)])),
        ("transpose_xor", transpose(Layout::Xor(1)), narrow(&[Some(4), Some(4)])),
        ("transpose_vectorised", transpose_vectorised(), narrow(&fours)),
        ("integers_i8", arithmetic(Scalar::I8), narrow(&[])),
        ("integers_i16", arithmetic(Scalar::I16), narrow(&[])),
        ("integers_i32", arithmetic(Scalar::I32), narrow(&[])),
        ("integers_u16", arithmetic(Scalar::U16), narrow(&[])),
        ("integers_u64", arithmetic(Scalar::U64), narrow(&[])),
        ("integers_usize", arithmetic(Scalar::Usize), wide.clone()),
        ("casts_f32", casts(Scalar::F32), narrow(&[])),
        ("casts_i64", casts(Scalar::I64), wide),
        ("control", control(), narrow(&[Some(4), None, None, None, Some(0), Some(100)])),
        ("small_vectors", small_vectors(), narrow(&[])),
        ("swizzle_stages", swizzle_stages(), narrow(&[])),
        ("names", names(), narrow(&[])),
    ]
}

/// `if i < input.len() { output[[i]] = input[[i]] }`
fn copy() -> Kernel {
    let mut b = Build::new("copy", [256, 1, 1]);
    let (input, output) = (b.tensor("input", F32, 1, false), b.tensor("output", F32, 1, true));
    let mut body = vec![];
    b.at("row");
    let i = origin(&mut b, X, X, 256);
    let i = b.bind(&mut body, "i", i);
    b.at("guard");
    let len = b.extent(input, 0);
    let inside = b.less(i, len);
    b.when(&mut body, inside, |b, body| {
        b.at("read");
        let value = b.load(body, "value", Base::Tensor(input), &[i], 1);
        b.at("write");
        b.store(body, Base::Tensor(output), &[i], value);
    });
    b.kernel.body = body;
    b.kernel
}

/// `block_y() * step + thread_x()` and the like.
fn origin(b: &mut Build, block: Axis, thread: Axis, step: i128) -> E {
    let (block, thread, step) = (b.block(block), b.thread(thread), b.n(step));
    let start = b.mul(block, step);
    b.add(start, thread)
}

fn inside(b: &mut Build, tensor: Handle<Param>, row: E, col: E) -> E {
    let (rows, cols) = (b.extent(tensor, 0), b.extent(tensor, 1));
    let (row, col) = (b.less(row, rows), b.less(col, cols));
    b.and(row, col)
}

/// The transpose of the first page of the book, with another layout at will.
fn transpose(layout: Layout) -> Kernel {
    let name = if layout == Layout::Pad(1) { "transpose_padded" } else { "transpose_xor" };
    let mut b = Build::new(name, [32, 8, 1]);
    let (input, output) = (b.tensor("input", F32, 2, false), b.tensor("output", F32, 2, true));
    let tile = b.tile("tile", F32, &[32, 32], layout);
    let mut body = vec![];
    for second in [false, true] {
        let (major, minor) = if second { (X, Y) } else { (Y, X) };
        let row0 = origin(&mut b, major, Y, 32);
        let row0 = b.bind(&mut body, "row0", row0);
        let col = origin(&mut b, minor, X, 32);
        let col = b.bind(&mut body, "col", col);
        let bounds = [b.n(0), b.n(32), b.n(8)];
        b.repeat(&mut body, "k", bounds, |b, body, k| {
            let row = b.add(row0, k);
            let guard = inside(b, if second { output } else { input }, row, col);
            b.when(body, guard, |b, body| {
                let (x, y) = (b.thread(X), b.thread(Y));
                let y = b.add(y, k);
                let row = b.add(row0, k);
                if second {
                    let value = b.load(body, "value", Base::Tile(tile), &[x, y], 1);
                    b.store(body, Base::Tensor(output), &[row, col], value);
                } else {
                    let value = b.load(body, "value", Base::Tensor(input), &[row, col], 1);
                    b.store(body, Base::Tile(tile), &[y, x], value);
                }
            });
        });
        if !second {
            b.barrier(&mut body);
        }
    }
    b.kernel.body = body;
    b.kernel
}

/// 64 × 64 elements by 16 × 16 threads: a thread loads four vectors of a 4 × 4 block, turns it in registers, and
/// stores four vectors; the tile in between holds rows of the output.
fn transpose_vectorised() -> Kernel {
    let mut b = Build::new("transpose_vectorised", [16, 16, 1]);
    let (input, output) = (b.tensor("input", F32, 2, false), b.tensor("output", F32, 2, true));
    let tile = b.tile("tile", F32, &[64, 64], Layout::Xor(4));
    let registers = b.variable("registers", Type::Vector(F32, 4), &[4]);
    let mut body = vec![];

    let four = b.n(4);
    let (x, y) = (b.thread(X), b.thread(Y));
    let (x4, y4) = (b.mul(x, four), b.mul(y, four));
    let (x4, y4) = (b.bind(&mut body, "x4", x4), b.bind(&mut body, "y4", y4));
    let zero = b.scalar(ExprKind::Float(0.0), F32);
    let zeros = b.vector(&[zero; 4]);
    body.push(Stmt::Fill { local: registers, value: zeros });
    let size = b.n(64);
    let (block_x, block_y) = (b.block(X), b.block(Y));
    let (row0, col0) = (b.mul(block_y, size), b.mul(block_x, size));
    let (row0, col0) = (b.add(row0, y4), b.add(col0, x4));
    let (row0, col0) = (b.bind(&mut body, "row0", row0), b.bind(&mut body, "col0", col0));
    b.count(&mut body, "i", 4, |b, body, i| {
        let row = b.add(row0, i);
        let guard = inside(b, input, row, col0);
        b.when(body, guard, |b, body| {
            let value = b.load(body, "value", Base::Tensor(input), &[row, col0], 4);
            body.push(Stmt::AssignElement { local: registers, index: vec![i], value });
        });
    });
    b.count(&mut body, "j", 4, |b, body, j| {
        let lanes: Vec<E> = (0..4)
            .map(|i| {
                let i = b.n(i);
                let row = b.element(registers, &[i]);
                b.lane(row, j)
            })
            .collect();
        let column = b.vector(&lanes);
        let row = b.add(x4, j);
        b.store(body, Base::Tile(tile), &[row, y4], column);
    });
    b.barrier(&mut body);
    let (row0, col0) = (b.mul(block_x, size), b.mul(block_y, size));
    let (row0, col0) = (b.add(row0, y), b.add(col0, x4));
    let (row0, col0) = (b.bind(&mut body, "row0", row0), b.bind(&mut body, "col0", col0));
    let bounds = [b.n(0), b.n(64), b.n(16)];
    b.repeat(&mut body, "k", bounds, |b, body, k| {
        let row = b.add(row0, k);
        let guard = inside(b, output, row, col0);
        b.when(body, guard, |b, body| {
            let from = b.add(y, k);
            let value = b.load(body, "value", Base::Tile(tile), &[from, x4], 4);
            b.store(body, Base::Tensor(output), &[row, col0], value);
        });
    });
    b.kernel.body = body;
    b.kernel
}

/// Every operator on one integer type: `output[[operation, i]] = left[[i]] operation right[[i]]`, the shift amounts
/// from `right` as well.
fn arithmetic(scalar: Scalar) -> Kernel {
    use BinaryOp::{Add, And, Div, DivCeil, Max, Min, Mul, Or, Rem, Shl, Shr, Sub, Xor};
    let mut b = Build::new(&format!("integers_{}", scalar.name()), [32, 1, 1]);
    let (left, right) = (b.tensor("left", scalar, 1, false), b.tensor("right", scalar, 1, false));
    let output = b.tensor("output", scalar, 2, true);
    let mut body = vec![];
    let i = origin(&mut b, X, X, 32);
    let i = b.bind(&mut body, "i", i);
    let len = b.extent(left, 0);
    let guard = b.less(i, len);
    b.when(&mut body, guard, |b, body| {
        let x = b.load(body, "x", Base::Tensor(left), &[i], 1);
        let y = b.load(body, "y", Base::Tensor(right), &[i], 1);
        let bits = i128::from(8 * scalar.bytes());
        let mut values: Vec<E> =
            [Add, Sub, Mul, And, Or, Xor, Shl, Shr, Min, Max].map(|op| b.binary(op, x, y)).to_vec();
        for amount in [0, 1, bits - 1] {
            let amount = b.int(Scalar::I32, amount);
            values.extend([Shl, Shr].map(|op| b.binary(op, x, amount)));
        }
        let mut divisors = vec![1, 3, 16];
        if scalar.is_signed() {
            divisors.extend([-1, -7]);
        }
        for divisor in divisors {
            let divisor = b.int(scalar, divisor);
            values.extend([Div, Rem].map(|op| b.binary(op, x, divisor)));
        }
        values.push(b.unary(UnaryOp::Not, x));
        let sum = b.add(x, y);
        let (low, high) = scalar.range().expect("an integer");
        let (low, high) = (b.int(scalar, low), b.int(scalar, high));
        let less = b.less(sum, x);
        values.push(b.expr(ExprKind::Select(less, low, high), Type::Scalar(scalar)));
        let not = b.unary(UnaryOp::Not, sum);
        let difference = b.binary(Sub, not, high);
        values.push(b.mul(difference, difference));
        if scalar.is_signed() {
            values.push(b.unary(UnaryOp::Negate, x));
        } else {
            let three = b.int(scalar, 3);
            values.push(b.binary(DivCeil, x, three));
        }
        for (row, value) in values.into_iter().enumerate() {
            let row = b.n(row as i128);
            b.store(body, Base::Tensor(output), &[row, i], value);
        }
        // Divided by what is known only at run time: in a branch of its own, where the divisor is not zero.
        let zero = b.int(scalar, 0);
        let divisible = b.compare(CompareOp::NotEqual, y, zero);
        b.when(body, divisible, |b, body| {
            let mut operations = vec![Div, Rem];
            if !scalar.is_signed() {
                operations.push(DivCeil);
            }
            for (row, op) in operations.into_iter().enumerate() {
                let row = b.n(40 + row as i128);
                let value = b.binary(op, x, y);
                b.store(body, Base::Tensor(output), &[row, i], value);
            }
        });
    });
    b.kernel.body = body;
    b.kernel
}

/// One value cast to every other type.
fn casts(from: Scalar) -> Kernel {
    use Scalar::{F64, I8, I16, I32, I64, U8, U16, U32, U64, Usize};
    let mut b = Build::new(&format!("casts_{}", from.name()), [32, 1, 1]);
    let input = b.tensor("input", from, 1, false);
    let targets = [I8, I16, I32, I64, U8, U16, U32, U64, Usize, F32, F64];
    let outputs = targets.map(|to| b.tensor(&format!("to_{}", to.name()), to, 1, true));
    let mut body = vec![];
    let i = origin(&mut b, X, X, 32);
    let i = b.bind(&mut body, "i", i);
    let len = b.extent(input, 0);
    let guard = b.less(i, len);
    b.when(&mut body, guard, |b, body| {
        let value = b.load(body, "value", Base::Tensor(input), &[i], 1);
        for (to, output) in targets.into_iter().zip(outputs) {
            let cast = b.cast(value, to);
            b.store(body, Base::Tensor(output), &[i], cast);
        }
    });
    b.kernel.body = body;
    b.kernel
}

/// Loops by constants and by arguments, barriers under conditions, both sides of predicated and of plain branches,
/// variables that outlive the scope of their first assignment, and things that nothing depends on.
fn control() -> Kernel {
    let mut b = Build::new("control", [64, 1, 1]);
    let (input, output) = (b.tensor("input", F32, 2, true), b.tensor("output", F32, 3, true));
    let n = b.argument("n", Scalar::Usize);
    let stride = b.argument("stride", Scalar::I32);
    let flip = b.argument("flip", Scalar::Bool);
    let tile = b.tile("tile", F32, &[64], Layout::RowMajor);
    b.tile("unused_tile", F32, &[64], Layout::RowMajor);
    let mut body = vec![];
    let x = b.thread(X);
    let zero = b.scalar(ExprKind::Float(0.0), F32);
    let tenth = b.scalar(ExprKind::Float(f64::from(0.1f32)), F32);
    b.bind(&mut body, "dead", zero);

    // Predicated, nested, with both sides; `sum` is assigned before, `picked` is declared by the first side.
    let sum = b.variable("sum", Type::Scalar(F32), &[]);
    body.push(Stmt::Assign { local: sum, value: zero });
    let picked = b.variable("picked", Type::Scalar(F32), &[]);
    b.count(&mut body, "i", 4, |b, body, i| {
        let value = b.load(body, "value", Base::Tensor(input), &[i, x], 1);
        let positive = b.compare(CompareOp::Greater, value, zero);
        let total = b.local(sum);
        let more = b.add(total, value);
        let mut then =
            vec![Stmt::Assign { local: sum, value: more }, Stmt::Assign { local: picked, value: tenth }];
        b.when(&mut then, flip, |b, then| {
            b.bind(then, "dead", zero);
            b.store(then, Base::Tile(tile), &[x], more);
        });
        let otherwise = vec![Stmt::Assign { local: picked, value: zero }];
        body.push(Stmt::If { condition: positive, then, otherwise });
        let picked = b.local(picked);
        let total = b.local(sum);
        let total = b.mul(total, picked);
        body.push(Stmt::Assign { local: sum, value: total });
    });

    // A barrier in a branch and in a loop by an argument; `late` is assigned in an inner scope only.
    let late = b.variable("late", Type::Scalar(Scalar::I32), &[]);
    let bounds = [b.n(0), n, b.n(16)];
    b.repeat(&mut body, "k", bounds, |b, body, k| {
        let four = b.n(4);
        let early = b.less(k, four);
        let mut then = vec![];
        b.barrier(&mut then);
        let k32 = b.cast(k, Scalar::I32);
        then.push(Stmt::Assign { local: late, value: k32 });
        let otherwise = vec![Stmt::Assign { local: late, value: stride }];
        let mut sides = vec![Stmt::If { condition: early, then, otherwise }];
        body.append(&mut sides);
        let end = b.local(late);
        let bounds = [b.int(Scalar::I32, -5), end, stride];
        b.repeat(body, "j", bounds, |b, body, j| {
            let j = b.cast(j, F32);
            let total = b.local(sum);
            let total = b.add(total, j);
            body.push(Stmt::Assign { local: sum, value: total });
        });
    });

    // Nothing depends on this loop, the next one never runs, and the last one is too long to unroll.
    b.repeat(&mut body, "k", bounds, |b, body, _| {
        b.bind(body, "dead", zero);
    });
    b.count(&mut body, "k", 0, |b, body, k| b.store(body, Base::Tile(tile), &[k], zero));
    b.count(&mut body, "k", 100, |b, body, k| {
        let never = b.less(k, bounds[0]);
        b.when(body, never, |b, body| b.store(body, Base::Tile(tile), &[k], zero));
        b.load(body, "ignored", Base::Tile(tile), &[k], 1);
    });
    let total = b.local(sum);
    let (one, two) = (b.n(1), b.n(2));
    b.store(&mut body, Base::Tensor(output), &[one, two, x], total);
    b.kernel.body = body;
    b.kernel
}

/// Loads and stores a vector in global memory and in a tile of the same type.
fn round_trip(
    b: &mut Build,
    body: &mut Vec<Stmt>,
    scalar: Scalar,
    width: u32,
    condition: E,
) -> (Handle<Param>, Handle<Tile>) {
    let name = scalar.name();
    let tensor = b.tensor(&format!("{name}s"), scalar, 1, true);
    let tile = b.tile(&format!("{name}_tile"), scalar, &[32 * width], Layout::RowMajor);
    let (x, width_) = (b.thread(X), b.n(i128::from(width)));
    let at = b.mul(x, width_);
    let value = b.load(body, "value", Base::Tensor(tensor), &[at], width);
    b.store(body, Base::Tile(tile), &[at], value);
    let back = b.load(body, "back", Base::Tile(tile), &[at], width);
    let ty = if width == 1 { Type::Scalar(scalar) } else { Type::Vector(scalar, width) };
    let both = b.expr(ExprKind::Select(condition, value, back), ty);
    b.store(body, Base::Tensor(tensor), &[at], both);
    (tensor, tile)
}

/// Every way in which elements sit in registers.
fn small_vectors() -> Kernel {
    let mut b = Build::new("small_vectors", [32, 1, 1]);
    let condition = b.argument("condition", Scalar::Bool);
    let mut body = vec![];
    let cases = [
        (Scalar::Bool, 4),
        (Scalar::I8, 16),
        (Scalar::U8, 1),
        (Scalar::I16, 8),
        (Scalar::U16, 1),
        (Scalar::I32, 4),
        (Scalar::U32, 2),
        (Scalar::I64, 2),
        (Scalar::U64, 1),
        (Scalar::Usize, 2),
        (Scalar::F64, 2),
    ];
    for (scalar, width) in cases {
        round_trip(&mut b, &mut body, scalar, width, condition);
    }
    // A vector of small integers that C would compute in `int`, one value of which changes later.
    let bytes = b.tensor("bytes", Scalar::U8, 1, true);
    let x = b.thread(X);
    let byte = b.load(&mut body, "byte", Base::Tensor(bytes), &[x], 1);
    let two = b.int(Scalar::U8, 200);
    let masked = b.and(byte, two);
    let value = b.vector(&[masked, two]);
    let pair = b.variable("pair", Type::Vector(Scalar::U8, 2), &[]);
    body.push(Stmt::Assign { local: pair, value });
    let lane = b.n(1);
    let sum = b.add(byte, two);
    let change = Stmt::AssignLane { local: pair, index: vec![], lane, value: sum };
    body.push(Stmt::If {
        condition,
        then: vec![change],
        otherwise: vec![Stmt::Assign { local: pair, value }],
    });
    let value = b.local(pair);
    b.store(&mut body, Base::Tensor(bytes), &[x], value);
    b.kernel.body = body;
    b.kernel
}

/// Tiles of rank 3 and 4, one swizzled to the right, one to the left, and register arrays with two extents.
fn swizzle_stages() -> Kernel {
    let mut b = Build::new("swizzle_stages", [32, 2, 1]);
    let output = b.tensor("output", F32, 2, true);
    let right = b.tile("right", F32, &[2, 32, 32], Layout::Swizzle { bits: 5, base: 0, shift: 5 });
    let left = b.tile("left", F32, &[2, 2, 8, 32], Layout::Swizzle { bits: 2, base: 0, shift: -3 });
    let xor = b.tile("xor", F32, &[3, 16, 32], Layout::Xor(4));
    let sums = b.variable("sums", Type::Scalar(F32), &[2, 3]);
    let mut body = vec![];
    let (x, y) = (b.thread(X), b.thread(Y));
    let half = b.scalar(ExprKind::Float(0.5), F32);
    body.push(Stmt::Fill { local: sums, value: half });
    let (one, two) = (b.n(1), b.n(2));
    b.store(&mut body, Base::Tile(right), &[y, x, two], half);
    b.store(&mut body, Base::Tile(left), &[y, one, two, x], half);
    b.store(&mut body, Base::Tile(xor), &[two, y, x], half);
    b.barrier(&mut body);
    let a = b.load(&mut body, "a", Base::Tile(right), &[y, two, x], 1);
    let c = b.load(&mut body, "c", Base::Tile(left), &[y, y, two, x], 1);
    let d = b.load(&mut body, "d", Base::Tile(xor), &[one, y, x], 1);
    let sum = b.element(sums, &[one, two]);
    let sum = b.add(sum, a);
    let product = b.mul(c, d);
    let sum = b.binary(BinaryOp::Sub, sum, product);
    body.push(Stmt::AssignElement { local: sums, index: vec![one, two], value: sum });
    let sum = b.element(sums, &[one, two]);
    b.store(&mut body, Base::Tensor(output), &[y, x], sum);
    b.kernel.body = body;
    b.kernel
}

/// Names that C++, CUDA or the text itself would take for something else.
fn names() -> Kernel {
    let mut b = Build::new("exp", [32, 1, 1]);
    let float = b.tensor("float", F32, 2, true);
    let rows = b.argument("float_rows", Scalar::Usize);
    let grid = b.argument("thread_x", Scalar::Usize);
    let tile = b.tile("new", F32, &[32], Layout::RowMajor);
    let mut body = vec![];
    let x = b.thread(X);
    let active = b.add(x, rows);
    let active = b.bind(&mut body, "active", active);
    let value = b.load(&mut body, "größe", Base::Tensor(float), &[active, grid], 1);
    let guard = b.less(active, grid);
    b.when(&mut body, guard, |b, body| {
        let max = b.binary(BinaryOp::Max, value, value);
        let max = b.bind(body, "fmaxf", max);
        let y1 = b.bind(body, "y1", max);
        b.store(body, Base::Tile(tile), &[x], y1);
    });
    b.kernel.body = body;
    b.kernel
}
