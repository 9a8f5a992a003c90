//! Each fault, by a kernel that commits it.

use super::*;
use crate::simulate::{ArgumentProblem, Earlier, Fault, FaultKind, Instead, Position, simulate};

fn at(thread: [u32; 3]) -> Option<Position> {
    Some(Position { block: [0; 3], thread })
}

/// Runs one block without arguments, which must fail.
fn fails(kernel: &Kernel) -> Fault {
    simulate(kernel, [1; 3], &mut []).unwrap_err()
}

fn one(b: &mut Builder) -> E {
    b.expr(ExprKind::Float(1.0), Scalar::F32)
}

/// A row of f32 in shared memory.
fn row(b: &mut Builder, extent: u32) -> Base {
    Base::Tile(b.tile(Scalar::F32, &[extent], Layout::RowMajor))
}

#[test]
fn index_outside_a_tile() {
    let mut b = Builder::new([64, 1, 1]);
    let (tile, x, value) = (row(&mut b, 40), b.thread(Axis::X), one(&mut b));
    let store = b.store(tile, &[x], value);
    let kernel = b.build(vec![store]);
    let fault = fails(&kernel);
    let kind =
        FaultKind::OutOfBounds { object: "tile".into(), dimension: 0, index: 40, width: 1, extent: 40 };
    let (_, site) = kernel.sites.iter().next().unwrap();
    assert_eq!(fault, Fault { kind, span: site.span, thread: at([40, 0, 0]) });
    assert_eq!(
        fault.to_string(),
        "thread (40, 0, 0) of block (0, 0, 0): index 40 in dimension 0 of `tile`, whose extent there is 40; guard the access or correct the index"
    );
}

#[test]
fn index_outside_a_tensor() {
    let mut b = Builder::new([4, 2, 1]);
    let target = Base::Tensor(b.tensor("output", Scalar::F32, 2, true));
    let (x, y, by, value) = (b.thread(Axis::X), b.thread(Axis::Y), b.block(Axis::Y), one(&mut b));
    let row = b.scaled(by, 2, y);
    let store = b.store(target, &[row, x], value);
    let kernel = b.build(vec![store]);
    let mut bytes = [0; 60];
    let fault = simulate(&kernel, [1, 2, 1], &mut [output(&mut bytes, &[3, 4])]).unwrap_err();
    let object = || "output".into();
    assert_eq!(
        fault.kind,
        FaultKind::OutOfBounds { object: object(), dimension: 0, index: 3, width: 1, extent: 3 }
    );
    assert_eq!(fault.thread, Some(Position { block: [0, 1, 0], thread: [0, 1, 0] }));
    // The fourth column is outside, although its bytes are inside the buffer.
    let fault = simulate(&kernel, [1, 1, 1], &mut [output(&mut bytes, &[4, 3])]).unwrap_err();
    assert_eq!(
        fault.kind,
        FaultKind::OutOfBounds { object: object(), dimension: 1, index: 3, width: 1, extent: 3 }
    );
    assert_eq!(fault.thread, at([3, 0, 0]));
}

#[test]
fn vector_across_the_edge() {
    let mut b = Builder::new([8, 1, 1]);
    let source = Base::Tensor(b.tensor("input", Scalar::F32, 1, false));
    let (x, four) = (b.thread(Axis::X), b.index(4));
    let column = b.binary(BinaryOp::Mul, x, four);
    let (load, _) = b.load(source, &[column], 4);
    let kernel = b.build(vec![load]);
    let bytes = [0; 128];
    let run = |extent| simulate(&kernel, [1; 3], &mut [input(&bytes, &[extent])]);
    run(32).unwrap();
    let kind =
        FaultKind::OutOfBounds { object: "input".into(), dimension: 0, index: 28, width: 4, extent: 30 };
    assert_eq!(run(30).unwrap_err().kind, kind);
    let kind = FaultKind::OutOfBounds { object: "input".into(), dimension: 0, index: 0, width: 4, extent: 3 };
    assert_eq!(run(3).unwrap_err().kind, kind);
}

#[test]
fn misaligned_vectors() {
    let mut b = Builder::new([8, 1, 1]);
    let source = Base::Tensor(b.tensor("input", Scalar::F32, 2, false));
    let (x, zero) = (b.thread(Axis::X), b.index(0));
    let (load, _) = b.load(source, &[x, zero], 4);
    let kernel = b.build(vec![load]);
    let bytes = [0; 256];
    let run = |stride, base| {
        let mut argument = input(&bytes, &[8, 4]);
        if let Argument::Tensor(tensor) = &mut argument {
            (tensor.strides, tensor.base) = (vec![stride], base);
        }
        simulate(&kernel, [1; 3], &mut [argument])
    };
    run(8, 16).unwrap();
    let misaligned = |row, remainder| FaultKind::Misaligned {
        object: "input".into(),
        element: vec![row, 0],
        bytes: 16,
        remainder,
    };
    assert_eq!(run(5, 0).unwrap_err().kind, misaligned(1, 4));
    assert_eq!(run(8, 8).unwrap_err().kind, misaligned(0, 8));
}

#[test]
fn a_layout_that_scatters_a_vector() {
    for (layout, scattered) in [(Layout::Xor(1), true), (Layout::Xor(4), false), (Layout::Pad(4), false)] {
        let mut b = Builder::new([2, 1, 1]);
        let tile = Base::Tile(b.tile(Scalar::F32, &[2, 16], layout));
        let (x, zero, value) = (b.thread(Axis::X), b.index(0), one(&mut b));
        let vector = b.typed(ExprKind::Vector(vec![value; 4]), Type::Vector(Scalar::F32, 4));
        let store = b.store(tile, &[x, zero], vector);
        let result = simulate(&b.build(vec![store]), [1; 3], &mut []);
        let kind = FaultKind::Scattered { object: "tile".into(), element: vec![1, 0], width: 4 };
        assert_eq!(result.err().map(|fault| fault.kind), scattered.then_some(kind), "{layout:?}");
    }
}

#[test]
fn uninitialised_reads() {
    let mut b = Builder::new([32, 1, 1]);
    let (tile, x, value) = (row(&mut b, 64), b.thread(Axis::X), one(&mut b));
    let store = b.store(tile, &[x], value);
    let sync = b.sync();
    let one_more = b.index(1);
    let next = b.add(x, one_more);
    let (load, _) = b.load(tile, &[next], 1);
    let fault = fails(&b.build(vec![store, sync, load]));
    assert_eq!(fault.kind, FaultKind::Uninitialised { object: "tile".into(), element: vec![32] });
    assert_eq!(fault.thread, at([31, 0, 0]));
}

/// What an earlier block wrote is not there for the next.
#[test]
fn shared_memory_is_fresh_in_each_block() {
    let mut b = Builder::new([32, 1, 1]);
    let (tile, x, value) = (row(&mut b, 32), b.thread(Axis::X), one(&mut b));
    let (block, zero) = (b.block(Axis::X), b.index(0));
    let first = b.compare(CompareOp::Equal, block, zero);
    let store = b.store(tile, &[x], value);
    let (load, _) = b.load(tile, &[x], 1);
    let kernel = b.build(vec![when(first, vec![store]), load]);
    simulate(&kernel, [1, 1, 1], &mut []).unwrap();
    let fault = simulate(&kernel, [2, 1, 1], &mut []).unwrap_err();
    assert_eq!(fault.kind, FaultKind::Uninitialised { object: "tile".into(), element: vec![0] });
    assert_eq!(fault.thread, Some(Position { block: [1, 0, 0], thread: [0; 3] }));
}

/// Thread x stores element x, and with or without a barrier between, loads the element of the thread opposite.
fn exchange(threads: u32, barrier: bool) -> Kernel {
    let mut b = Builder::new([threads, 1, 1]);
    let (tile, x, value) = (row(&mut b, threads), b.thread(Axis::X), one(&mut b));
    let last = b.index((threads - 1).into());
    let opposite = b.binary(BinaryOp::Sub, last, x);
    let store = b.store(tile, &[x], value);
    let sync = b.sync();
    let (load, _) = b.load(tile, &[opposite], 1);
    b.build(if barrier { vec![store, sync, load] } else { vec![store, load] })
}

fn race(kernel: &Kernel, element: u64, roles: [Role; 2], sites: [usize; 2], thread: u32) -> FaultKind {
    let [earlier_role, role] = roles;
    let [earlier_site, site] = sites;
    let (_, site_data) = kernel.sites.iter().nth(earlier_site).unwrap();
    let earlier =
        Earlier { site: earlier_site, span: site_data.span, role: earlier_role, thread: [thread, 0, 0] };
    FaultKind::Race { object: "tile".into(), element: vec![element], site, role, earlier }
}

#[test]
fn a_read_races_with_a_write() {
    simulate(&exchange(32, true), [1; 3], &mut []).unwrap();
    simulate(&exchange(96, true), [2, 1, 1], &mut []).unwrap();
    // Within a warp, too: lockstep orders nothing.
    let kernel = exchange(32, false);
    let fault = fails(&kernel);
    assert_eq!(fault.kind, race(&kernel, 31, [Role::Write, Role::Read], [0, 1], 31));
    assert_eq!(fault.thread, at([0; 3]));
    assert_eq!(
        fault.to_string(),
        "thread (0, 0, 0) of block (0, 0, 0): reads [31] of `tile`, which thread (31, 0, 0) writes with no barrier between; call `sync_threads()` between the two accesses"
    );
}

#[test]
fn writes_race_even_with_equal_values() {
    let mut b = Builder::new([64, 1, 1]);
    let (tile, zero, value) = (row(&mut b, 1), b.index(0), one(&mut b));
    let store = b.store(tile, &[zero], value);
    let kernel = b.build(vec![store]);
    assert_eq!(fails(&kernel).kind, race(&kernel, 0, [Role::Write; 2], [0, 0], 0));
}

/// After a barrier, threads 0 and 40 read element 0, then thread `writer` writes it.
fn write_after_read(writer: u32) -> Kernel {
    let mut b = Builder::new([64, 1, 1]);
    let (tile, x, value, zero) = (row(&mut b, 64), b.thread(Axis::X), one(&mut b), b.index(0));
    let fill = b.store(tile, &[x], value);
    let sync = b.sync();
    let (forty, writer) = (b.index(40), b.index(writer.into()));
    let (is_zero, is_forty) = (b.compare(CompareOp::Equal, x, zero), b.compare(CompareOp::Equal, x, forty));
    let reads = b.binary(BinaryOp::Or, is_zero, is_forty);
    let writes = b.compare(CompareOp::Equal, x, writer);
    let (load, _) = b.load(tile, &[zero], 1);
    let store = b.store(tile, &[zero], value);
    b.build(vec![fill, sync, when(reads, vec![load]), when(writes, vec![store])])
}

#[test]
fn a_write_races_with_a_read() {
    let kernel = write_after_read(63);
    assert_eq!(fails(&kernel).kind, race(&kernel, 0, [Role::Read, Role::Write], [1, 2], 0));
    // The writer is one of the readers, and the other one is found.
    let kernel = write_after_read(40);
    assert_eq!(fails(&kernel).kind, race(&kernel, 0, [Role::Read, Role::Write], [1, 2], 0));
    // Warp 0 has run when warp 1 reads: found from the other side.
    let kernel = write_after_read(0);
    assert_eq!(fails(&kernel).kind, race(&kernel, 0, [Role::Write, Role::Read], [2, 1], 0));
}

/// A barrier under a condition on the thread.
fn guarded_barrier(threads: u32, condition: impl FnOnce(&mut Builder, E) -> E) -> (Kernel, SpanId) {
    let mut b = Builder::new([threads, 1, 1]);
    let x = b.thread(Axis::X);
    let condition = condition(&mut b, x);
    let span = b.span();
    let kernel = b.build(vec![when(condition, vec![Stmt::Sync(Sync::THREADS, span)])]);
    (kernel, span)
}

#[test]
fn barriers_that_not_all_threads_reach() {
    let below = |limit: i128| {
        move |b: &mut Builder, x| {
            let limit = b.index(limit);
            b.less(x, limit)
        }
    };
    let from = |limit: i128| {
        move |b: &mut Builder, x| {
            let limit = b.index(limit);
            b.compare(CompareOp::GreaterEqual, x, limit)
        }
    };
    simulate(&guarded_barrier(70, below(70)).0, [1; 3], &mut []).unwrap();
    let check = |(kernel, span): (Kernel, SpanId), missing, instead, waiting| {
        let kind = FaultKind::Barrier { missing: [missing, 0, 0], instead };
        assert_eq!(fails(&kernel), Fault { kind, span, thread: at([waiting, 0, 0]) });
    };
    check(guarded_barrier(70, below(20)), 20, Instead::OtherBranch, 0);
    check(guarded_barrier(70, below(69)), 69, Instead::OtherBranch, 64);
    check(guarded_barrier(70, below(64)), 64, Instead::Ended, 0);
    check(guarded_barrier(70, from(32)), 0, Instead::Ended, 32);
}

#[test]
fn different_barriers() {
    let mut b = Builder::new([64, 1, 1]);
    let (x, limit) = (b.thread(Axis::X), b.index(32));
    let condition = b.less(x, limit);
    let (first, second) = (b.span(), b.span());
    let then = vec![Stmt::Sync(Sync::THREADS, first)];
    let otherwise = vec![Stmt::Sync(Sync::THREADS, second)];
    let kernel = b.build(vec![Stmt::If { condition, then, otherwise }]);
    let kind = FaultKind::Barrier { missing: [0; 3], instead: Instead::OtherBarrier(first) };
    assert_eq!(fails(&kernel), Fault { kind, span: second, thread: at([32, 0, 0]) });
}

#[test]
fn uneven_trips_to_a_barrier() {
    let mut b = Builder::new([64, 1, 1]);
    let (x, zero, one, sixty) = (b.thread(Axis::X), b.index(0), b.index(1), b.index(32));
    let warp = b.binary(BinaryOp::Div, x, sixty);
    let trips = b.add(warp, one);
    let span = b.span();
    let body = b.repeat(zero, trips, one, |_, _| vec![Stmt::Sync(Sync::THREADS, span)]);
    let kernel = b.build(vec![body]);
    let kind = FaultKind::Barrier { missing: [0; 3], instead: Instead::Ended };
    assert_eq!(fails(&kernel), Fault { kind, span, thread: at([32, 0, 0]) });
}

/// Assigns a value that is computed from the thread's x.
fn assigns(value: impl FnOnce(&mut Builder, E) -> E) -> Kernel {
    let mut b = Builder::new([4, 1, 1]);
    let x = b.thread(Axis::X);
    let value = value(&mut b, x);
    let ty = b.kernel.exprs[value].ty;
    let local = b.local("value", ty, &[]);
    b.build(vec![Stmt::Assign { local, value }])
}

#[test]
fn arithmetic() {
    let kernel = assigns(|b, x| {
        let (hundred, two) = (b.index(100), b.index(2));
        let distance = b.binary(BinaryOp::Xor, x, two);
        b.binary(BinaryOp::Div, hundred, distance)
    });
    let fault = fails(&kernel);
    assert_eq!((fault.kind, fault.thread), (FaultKind::DivisionByZero, at([2, 0, 0])));
    let kernel = assigns(|b, x| {
        let two = b.index(2);
        b.binary(BinaryOp::Sub, two, x)
    });
    let fault = fails(&kernel);
    assert_eq!(
        fault.kind,
        FaultKind::IndexOverflow { scalar: Scalar::Usize, op: BinaryOp::Sub, left: 2, right: 3 }
    );
    assert_eq!(fault.thread, at([3, 0, 0]));
}

#[test]
fn threads_that_are_masked_do_not_fault() {
    let mut b = Builder::new([32, 1, 1]);
    let (x, two) = (b.thread(Axis::X), b.index(2));
    let inside = b.compare(CompareOp::LessEqual, x, two);
    let value = b.binary(BinaryOp::Sub, two, x);
    let local = b.local("value", Type::Scalar(Scalar::Usize), &[]);
    let kernel = b.build(vec![when(inside, vec![Stmt::Assign { local, value }])]);
    simulate(&kernel, [1; 3], &mut []).unwrap();
}

#[test]
fn register_indices() {
    let mut b = Builder::new([4, 1, 1]);
    let (x, zero, value) = (b.thread(Axis::X), b.index(0), one(&mut b));
    let local = b.local("acc", Type::Scalar(Scalar::F32), &[2, 3]);
    let fill = Stmt::Fill { local, value };
    let kernel = b.build(vec![fill, Stmt::AssignElement { local, index: vec![zero, x], value }]);
    let fault = fails(&kernel);
    assert_eq!(
        fault.kind,
        FaultKind::RegisterIndex { object: "acc".into(), dimension: 1, index: 3, extent: 3 }
    );
    assert_eq!(fault.thread, at([3, 0, 0]));
}

#[test]
fn loops_without_end() {
    let mut b = Builder::new([4, 1, 1]);
    let (x, zero, end, two) = (b.thread(Axis::X), b.index(0), b.index(9), b.index(2));
    let step = b.binary(BinaryOp::Rem, x, two);
    let body = b.repeat(zero, end, step, |_, _| Vec::new());
    let fault = fails(&b.build(vec![body]));
    assert_eq!((fault.kind, fault.thread), (FaultKind::Step, at([0; 3])));
}

/// Runs a kernel that takes a matrix of f32, which it may write, and a scalar, and does nothing.
fn idle(arguments: &mut [Argument<'_>]) -> Result<(), FaultKind> {
    let mut b = Builder::new([1, 1, 1]);
    b.tensor("matrix", Scalar::F32, 2, true);
    b.scalar("scale", Scalar::F32);
    match simulate(&b.build(Vec::new()), [1; 3], arguments) {
        Ok(_) => Ok(()),
        Err(fault) => Err(fault.kind),
    }
}

/// The same with a matrix of 48 bytes, which does not fit.
fn misfit(extents: &[u64], strides: &[u64], base: u64) -> Result<(), ArgumentProblem> {
    let mut bytes = [0; 48];
    let (buffer, extents, strides) = (Buffer::Write(&mut bytes), extents.to_vec(), strides.to_vec());
    let matrix = Argument::Tensor(TensorArgument { buffer, extents, strides, base });
    match idle(&mut [matrix, Argument::Scalar(0)]) {
        Ok(()) => Ok(()),
        Err(FaultKind::Argument { name, problem }) if name == "matrix" => Err(problem),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn arguments_that_do_not_fit() {
    assert_eq!(misfit(&[3, 4], &[4], 0), Ok(()));
    assert_eq!(misfit(&[2, 4], &[8], 4), Ok(()));
    assert_eq!(misfit(&[u64::MAX, 0], &[0], 0), Ok(()));
    assert_eq!(misfit(&[4], &[], 0), Err(ArgumentProblem::Rank { extents: 1, strides: 0, rank: 2 }));
    assert_eq!(misfit(&[3, 4], &[3], 0), Err(ArgumentProblem::Stride { dimension: 0, stride: 3, span: 4 }));
    assert_eq!(misfit(&[2, 4], &[9], 0), Err(ArgumentProblem::TooShort { needed: 52, given: 48 }));
    let overflow = ArgumentProblem::TooShort { needed: u64::MAX, given: 48 };
    assert_eq!(misfit(&[u64::MAX, 1], &[u64::MAX], 0), Err(overflow));
    assert_eq!(misfit(&[3, 4], &[4], 258), Err(ArgumentProblem::Base { base: 2, bytes: 4 }));

    let (scalar, read) = (|| Argument::Scalar(0), || input(&[], &[0, 0]));
    let of = |name: &str, problem| Err(FaultKind::Argument { name: name.into(), problem });
    let mut bytes = [0; 4];
    assert_eq!(idle(&mut [scalar()]), Err(FaultKind::ArgumentCount { given: 1, expected: 2 }));
    assert_eq!(idle(&mut [scalar(), scalar()]), of("matrix", ArgumentProblem::NotATensor));
    assert_eq!(idle(&mut [read(), scalar()]), of("matrix", ArgumentProblem::ReadOnly));
    assert_eq!(idle(&mut [output(&mut bytes, &[1, 1]), read()]), of("scale", ArgumentProblem::NotAScalar));
}
