//! The IR as text, of kernels that are also run.

use super::transpose::transpose;
use super::*;
use crate::ir::print::print;
use crate::ir::{Budget, Contract, UnaryOp};
use expect_test::expect;

#[test]
fn a_transpose() {
    expect![[r#"
        kernel kernel block [32, 8, 1] grid [1, 1, 1]
        param input: tensor<f32, 2>
        param output: mut tensor<f32, 2>
        tile tile: f32 [32, 32] Pad<1> align 16
        for k#0: usize in 0..32 step 8 {
            if ((((block.y * 32) + thread.y) + k#0) < input.extent(0)) & (((block.x * 32) + thread.x) < input.extent(1)) {
                loaded#1: f32 = load s0 global input[((block.y * 32) + thread.y) + k#0, (block.x * 32) + thread.x]
                store s1 shared tile[thread.y + k#0, thread.x] = loaded#1
            }
        }
        sync block
        for k#2: usize in 0..32 step 8 {
            if ((((block.x * 32) + thread.y) + k#2) < output.extent(0)) & (((block.y * 32) + thread.x) < output.extent(1)) {
                loaded#3: f32 = load s2 shared tile[thread.x, thread.y + k#2]
                store s3 global output[((block.x * 32) + thread.y) + k#2, (block.y * 32) + thread.x] = loaded#3
            }
        }
    "#]].assert_eq(&print(&transpose(Layout::Pad(1))));
}

/// What the transpose has not.
#[test]
fn everything_else() {
    let mut b = Builder::new([4, 1, 1]);
    let (a, scale) = (b.tensor("a", Scalar::F32, 3, true), b.scalar("scale", Scalar::F32));
    let (x, zero, one) = (b.thread(Axis::X), b.index(0), b.index(1));
    let stride = b.expr(ExprKind::Stride(a, 1), Scalar::Usize);
    let (extent, four) = (b.extent(a, 2), b.index(4));
    let condition = b.less(extent, stride);
    let blocks = b.binary(BinaryOp::DivCeil, extent, four);
    let span = b.span();
    b.kernel.requires.push(Contract { condition, span });
    b.kernel.grid[0] = blocks;
    let quad = Type::Vector(Scalar::F32, 4);
    let (regs, v) = (b.local("regs", quad, &[2, 2]), b.local("v", quad, &[]));
    let pi = b.expr(ExprKind::Float(3.0), Scalar::F32);
    let minus = b.expr(ExprKind::Unary(UnaryOp::Negate, pi), Scalar::F32);
    let product = b.binary(BinaryOp::Mul, minus, scale);
    let vector = b.typed(ExprKind::Vector(vec![pi, pi, product, scale]), quad);
    let fill = Stmt::Fill { local: regs, value: vector };
    let element = b.typed(ExprKind::Element(regs, vec![zero, x]), quad);
    let assign = Stmt::Assign { local: v, value: element };
    let lane = b.expr(ExprKind::Lane(element, one), Scalar::F32);
    let set = Stmt::AssignElement { local: regs, index: vec![one, zero], value: element };
    let set_lane = Stmt::AssignLane { local: regs, index: vec![one, zero], lane: x, value: lane };
    let set_plain = Stmt::AssignLane { local: v, index: vec![], lane: zero, value: lane };
    let (load, loaded) = b.load(Base::Tensor(a), &[zero, zero, zero], 4);
    let store = b.store(Base::Tensor(a), &[one, zero, zero], loaded);
    let budget = b.kernel.budgets.add(Budget {
        bank_conflict: None,
        excess_sectors: Some(3),
        because: "it is a test".into(),
        span,
    });
    let Stmt::Store { site, .. } = store else { unreachable!("it is a store") };
    b.kernel.sites[site].budget = Some(budget);
    let seven = b.int(7, Scalar::U8);
    let wide = b.expr(ExprKind::Cast(seven), Scalar::Usize);
    let least = b.binary(BinaryOp::Min, wide, x);
    let equal = b.compare(CompareOp::Equal, least, zero);
    let not = b.expr(ExprKind::Unary(UnaryOp::Not, equal), Scalar::Bool);
    let choice = b.expr(ExprKind::Select(not, wide, least), Scalar::Usize);
    let n = b.local("n", Type::Scalar(Scalar::Usize), &[]);
    let then = vec![Stmt::Assign { local: n, value: choice }];
    let branch = Stmt::If { condition: not, then, otherwise: vec![store] };
    let kernel = b.build(vec![fill, assign, set, set_lane, set_plain, load, branch]);
    expect![[r#"
        kernel kernel block [4, 1, 1] grid [div_ceil(a.extent(2), 4), 1, 1]
        param a: mut tensor<f32, 3>
        param scale: f32
        requires a.extent(2) < a.stride(1)
        regs#0: f32x4 [2, 2] = fill f32x4(3.0f32, 3.0f32, -3.0f32 * scale, scale)
        v#1: f32x4 = regs#0[0, thread.x]
        regs#0[1, 0] = regs#0[0, thread.x]
        regs#0[1, 0].lane(thread.x) = regs#0[0, thread.x].lane(1)
        v#1.lane(0) = regs#0[0, thread.x].lane(1)
        loaded#2: f32x4 = load s0 global a[0, 0, 0] x4
        if !(min(7u8 as usize, thread.x) == 0) {
            n#3: usize = select(!(min(7u8 as usize, thread.x) == 0), 7u8 as usize, min(7u8 as usize, thread.x))
        } else {
            store s1 global a[1, 0, 0] x4 budget(excess_sectors 3) = loaded#2
        }
    "#]].assert_eq(&print(&kernel));
}
