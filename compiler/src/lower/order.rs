//! Orders of indices: `flatten`, `unflatten` and `rasterize`.
//!
//! They are lowered to multiplications and divisions, of which the facts know what these functions promise: a remainder is
//! below its divisor; of i < a × b follows i / b < a; and i is quotient × divisor + remainder, so no two numbers have the same
//! parts.

use super::{Lower, Operand, Ty};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{self, BinaryOp, CompareOp, ExprKind, Handle, Scalar, Stmt};
use crate::span::SpanId;
use syn::{Expr, ExprCall};

type E = Handle<ir::Expr>;

impl Lower<'_> {
    /// `unflatten(i, [d0, d1, d2])`: the index in a row-major shape of the element number i.
    pub(super) fn unflatten(&mut self, call: &ExprCall) -> Operand {
        let Some([number, extents]) = two(call) else { return self.mismatch(call) };
        let Some((number, extents)) = self.number_and_list(number, extents) else { return Operand::Poison };
        let span = self.span(call);
        let mut rest = number;
        let mut index = Vec::new();
        for extent in extents.iter().skip(1).rev() {
            rest = self.named("rest", rest, span);
            let (below, up) = (self.rem(rest, *extent, span), self.div(rest, *extent, span));
            index.push(below);
            rest = up;
        }
        index.push(rest);
        index.reverse();
        Operand::List(
            index.into_iter().map(|index| Operand::Value(self.named("index", index, span))).collect(),
        )
    }

    /// `flatten([i, j, k], [d0, d1, d2])`: the number of an element in a row-major shape.
    pub(super) fn flatten(&mut self, call: &ExprCall) -> Operand {
        let Some([index, extents]) = two(call) else { return self.mismatch(call) };
        let (Expr::Array(index), Expr::Array(extents)) = (index, extents) else { return self.mismatch(call) };
        if index.elems.len() != extents.elems.len() || index.elems.is_empty() {
            return self.mismatch(call);
        }
        let all = index.elems.iter().chain(&extents.elems);
        let Some(all) = self.index_values(all) else { return Operand::Poison };
        let (index, extents) = all.split_at(index.elems.len());
        let span = self.span(call);
        let mut number = index[0];
        for (index, extent) in index.iter().zip(extents).skip(1) {
            let above = self.operation(BinaryOp::Mul, number, *extent, span);
            number = self.operation(BinaryOp::Add, above, *index, span);
        }
        Operand::Value(number)
    }

    /// `rasterize(i, [rows, cols], group)`: down the columns of a band of `group` rows, then those of the next band. The last
    /// band may be lower.
    pub(super) fn rasterize(&mut self, call: &ExprCall) -> Operand {
        let [number, extents, group] = call.args.iter().collect::<Vec<_>>()[..] else {
            return self.mismatch(call);
        };
        let parts = self.number_and_list(number, extents);
        let Some(height) = self.constant(group, "the number of rows in a group") else {
            return Operand::Poison;
        };
        let Some((number, extents)) = parts else { return Operand::Poison };
        let [rows, cols] = extents[..] else { return self.mismatch(extents_of(call)) };
        let span = self.span(call);
        if !(1..1 << 31).contains(&height) {
            let span = self.span(group);
            self.diagnostics.report(
                Diagnostic::new(Code::Constant, span, format!("a group of {height} rows"))
                    .note("a group has at least one row")
                    .help("take 4 to 16: so many rows of one operand stay in the L2 cache"),
            );
            return Operand::Poison;
        }
        let ty = Ty::scalar(self.terms.known(Scalar::Usize));
        let group = self.index_literal(height, span);
        let number = self.named("number", number, span);
        let bands = self.div(rows, group, span);
        let whole = self.operation(BinaryOp::Mul, bands, group, span);
        let whole = self.named("whole", whole, span);
        let row = self.local("row", ty, Vec::new(), span);
        let col = self.local("col", ty, Vec::new(), span);
        let then = self.in_block(|lower| {
            let column = lower.div(number, group, span);
            let column = lower.named("column", column, span);
            let (band, offset) = (lower.div(column, cols, span), lower.rem(number, group, span));
            let first = lower.operation(BinaryOp::Mul, band, group, span);
            let value = lower.operation(BinaryOp::Add, first, offset, span);
            lower.push(Stmt::Assign { local: row, value });
            let value = lower.rem(column, cols, span);
            lower.push(Stmt::Assign { local: col, value });
        });
        let before = self.operation(BinaryOp::Mul, whole, cols, span);
        let otherwise = self.in_block(|lower| {
            let height = lower.operation(BinaryOp::Sub, rows, whole, span);
            let height = lower.named("height", height, span);
            let rest = lower.operation(BinaryOp::Sub, number, before, span);
            let rest = lower.named("rest", rest, span);
            let offset = lower.rem(rest, height, span);
            let value = lower.operation(BinaryOp::Add, whole, offset, span);
            lower.push(Stmt::Assign { local: row, value });
            let value = lower.div(rest, height, span);
            lower.push(Stmt::Assign { local: col, value });
        });
        let condition = self.bool_expr(ExprKind::Compare(CompareOp::Less, number, before), span);
        self.push(Stmt::If { condition, then, otherwise });
        Operand::List(
            [row, col].map(|local| Operand::Value(self.expr(ExprKind::Local(local), ty, span))).into(),
        )
    }

    /// A number, and a list of extents.
    fn number_and_list(&mut self, number: &Expr, list: &Expr) -> Option<(E, Vec<E>)> {
        let Expr::Array(list) = list else {
            self.mismatch(list);
            return None;
        };
        if list.elems.is_empty() {
            self.mismatch(list);
            return None;
        }
        let mut all = self.index_values(std::iter::once(number).chain(&list.elems))?.into_iter();
        Some((all.next()?, all.collect()))
    }

    fn div(&mut self, a: E, b: E, span: SpanId) -> E {
        self.operation(BinaryOp::Div, a, b, span)
    }

    fn rem(&mut self, a: E, b: E, span: SpanId) -> E {
        self.operation(BinaryOp::Rem, a, b, span)
    }

    /// An operation of two indices.
    fn operation(&mut self, op: BinaryOp, a: E, b: E, span: SpanId) -> E {
        self.index_expr(ExprKind::Binary(op, a, b), span)
    }
}

fn two(call: &ExprCall) -> Option<[&Expr; 2]> {
    call.args.iter().collect::<Vec<_>>().try_into().ok()
}

fn extents_of(call: &ExprCall) -> &Expr {
    call.args.get(1).unwrap_or(&call.func)
}
