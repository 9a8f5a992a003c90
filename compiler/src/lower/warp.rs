//! Warps: the thread's place in one, and what lanes compute together.

use super::{Lower, Operand, Ty};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{self, Axis, BinaryOp, Collective, CollectiveOp, ExprKind, Handle, Scalar, Shuffle, Stmt};
use crate::span::SpanId;
use syn::{Expr, ExprCall};
use tileproof_model::access::LANES;

/// A position of the thread that follows from those in the block.
pub(crate) enum Place {
    /// The thread's number in its warp.
    Lane,
    /// The warp's number in its block.
    Warp,
    /// The warps of the block, a shorter last one included.
    WarpCount,
}

/// How many arguments a collective takes.
pub(super) fn arguments(op: CollectiveOp) -> usize {
    match op {
        CollectiveOp::MatrixProduct(_) => 3,
        CollectiveOp::Shuffle(_) => 2,
        CollectiveOp::Any
        | CollectiveOp::All
        | CollectiveOp::Ballot
        | CollectiveOp::MatchAny
        | CollectiveOp::BlockCount
        | CollectiveOp::BlockAny
        | CollectiveOp::BlockAll => 1,
    }
}

impl Lower<'_> {
    /// Of type usize.
    pub(super) fn place(&mut self, place: Place, span: SpanId) -> Handle<ir::Expr> {
        let [x, ..] = self.kernel.block;
        let lanes = LANES as u32;
        match place {
            Place::WarpCount => {
                let warps = self.kernel.threads().div_ceil(lanes);
                self.index_literal(i128::from(warps), span)
            }
            Place::Lane if self.kernel.threads() <= lanes => self.linear_thread(span),
            // Rows of whole warps: what is above the row does not matter.
            Place::Lane if x % lanes == 0 => {
                let thread = self.index_expr(ExprKind::Thread(Axis::X), span);
                self.by_lanes(BinaryOp::Rem, thread, span)
            }
            Place::Lane => {
                let thread = self.linear_thread(span);
                self.by_lanes(BinaryOp::Rem, thread, span)
            }
            Place::Warp if self.kernel.threads() <= lanes => self.index_literal(0, span),
            Place::Warp => {
                let thread = self.linear_thread(span);
                self.by_lanes(BinaryOp::Div, thread, span)
            }
        }
    }

    fn by_lanes(&mut self, op: BinaryOp, thread: Handle<ir::Expr>, span: SpanId) -> Handle<ir::Expr> {
        let lanes = self.index_literal(LANES as i128, span);
        self.index_expr(ExprKind::Binary(op, thread, lanes), span)
    }

    /// The number of the thread in its block, x running fastest.
    pub(super) fn linear_thread(&mut self, span: SpanId) -> Handle<ir::Expr> {
        let block = self.kernel.block;
        let mut linear: Option<Handle<ir::Expr>> = None;
        for axis in [Axis::Z, Axis::Y, Axis::X] {
            let extent = block[axis.index()];
            if let (Some(outer), true) = (linear, extent > 1) {
                let extent = self.index_literal(i128::from(extent), span);
                linear = Some(self.index_expr(ExprKind::Binary(BinaryOp::Mul, outer, extent), span));
            }
            if extent > 1 {
                let thread = self.index_expr(ExprKind::Thread(axis), span);
                linear = Some(match linear {
                    Some(outer) => self.index_expr(ExprKind::Binary(BinaryOp::Add, outer, thread), span),
                    None => thread,
                });
            }
        }
        match linear {
            Some(linear) => linear,
            None => self.index_literal(0, span),
        }
    }

    /// `shuffle_xor(value, mask)`, `any(condition)`, …
    pub(super) fn collective(&mut self, call: &ExprCall, op: CollectiveOp, expected: Option<Ty>) -> Operand {
        let Some(first) = call.args.first() else { return self.mismatch(call) };
        let result = match op {
            CollectiveOp::Shuffle(shuffle) => return self.shuffle(call, shuffle, expected),
            CollectiveOp::MatrixProduct(_) => return self.matrix_product(call),
            CollectiveOp::Any | CollectiveOp::All | CollectiveOp::BlockAny | CollectiveOp::BlockAll => {
                Scalar::Bool
            }
            CollectiveOp::Ballot | CollectiveOp::MatchAny => Scalar::U32,
            CollectiveOp::BlockCount => Scalar::Usize,
        };
        let operand = match op {
            CollectiveOp::MatchAny => self.value(first, None),
            CollectiveOp::Shuffle(_)
            | CollectiveOp::MatrixProduct(_)
            | CollectiveOp::Any
            | CollectiveOp::All
            | CollectiveOp::Ballot
            | CollectiveOp::BlockCount
            | CollectiveOp::BlockAny
            | CollectiveOp::BlockAll => {
                let bool_term = self.terms.known(Scalar::Bool);
                self.value_of(first, bool_term)
            }
        };
        let Some(operand) = operand else { return Operand::Poison };
        if self.ty(operand).vector.is_some() {
            return self.mismatch(first);
        }
        let result = Ty::scalar(self.terms.known(result));
        self.computed_together(call, op, vec![operand], result)
    }

    fn shuffle(&mut self, call: &ExprCall, shuffle: Shuffle, expected: Option<Ty>) -> Operand {
        let [value, by] = call.args.iter().collect::<Vec<_>>()[..] else { return self.mismatch(call) };
        let value = self.value(value, expected);
        let place = self.here();
        let by = self.distance(by, shuffle);
        let (Some(value), Some(by)) = (value, by) else { return Operand::Poison };
        let value = self.as_at(place, value);
        let ty = self.ty(value);
        self.computed_together(call, CollectiveOp::Shuffle(shuffle), vec![value, by], ty)
    }

    pub(super) fn computed_together(
        &mut self,
        call: &ExprCall,
        op: CollectiveOp,
        operands: Vec<Handle<ir::Expr>>,
        ty: Ty,
    ) -> Operand {
        let span = self.span(call);
        let local = self.local(result_name(op), ty, Vec::new(), span);
        self.push(Stmt::Collective(Collective { local, op, operands, span }));
        Operand::Value(self.expr(ExprKind::Local(local), ty, span))
    }

    /// The lane or the distance of a shuffle. One that is written out must be below 32.
    fn distance(&mut self, by: &Expr, shuffle: Shuffle) -> Option<Handle<ir::Expr>> {
        let value = self.index_value(by)?;
        if let ExprKind::Int(written) = self.kernel.exprs[value].kind
            && !(0..LANES as i128).contains(&written)
        {
            let what = match shuffle {
                Shuffle::Lane => "lane",
                Shuffle::Xor => "mask",
                Shuffle::Up | Shuffle::Down => "distance",
            };
            let span = self.span(by);
            self.diagnostics.report(
                Diagnostic::new(
                    Code::Constant,
                    span,
                    format!("a shuffle with a {what} of {written}, and a warp has {LANES} lanes"),
                )
                .help(format!("write a {what} from 0 to 31; between warps, values go through a shared tile")),
            );
            return None;
        }
        Some(value)
    }
}

/// The name of the variable that holds a result.
fn result_name(op: CollectiveOp) -> &'static str {
    match op {
        CollectiveOp::Shuffle(_) => "shuffled",
        CollectiveOp::MatrixProduct(_) => "sum",
        CollectiveOp::Any | CollectiveOp::BlockAny => "is_any",
        CollectiveOp::All | CollectiveOp::BlockAll => "is_all",
        CollectiveOp::Ballot => "ballot",
        CollectiveOp::MatchAny => "matching",
        CollectiveOp::BlockCount => "count",
    }
}
