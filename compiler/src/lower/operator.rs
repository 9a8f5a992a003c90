//! Operators and casts.

use super::{Lower, Operand, Ty, foreign};
use crate::ir::{self, BinaryOp, CompareOp, ExprKind, Handle, Scalar, Stmt, UnaryOp};
use crate::span::SpanId;
use quote::ToTokens;
use syn::{BinOp, Expr, UnOp};

impl Lower<'_> {
    pub(super) fn unary(&mut self, unary: &syn::ExprUnary, expected: Option<Ty>) -> Operand {
        let op = match unary.op {
            UnOp::Neg(_) => UnaryOp::Negate,
            UnOp::Not(_) => UnaryOp::Not,
            // What a reference parameter of a helper function names is the caller's variable itself.
            UnOp::Deref(_) if !self.calls.is_empty() => return self.operand(&unary.expr, expected),
            UnOp::Deref(_) => {
                return match self.operand(&unary.expr, expected) {
                    Operand::Poison => Operand::Poison,
                    _ => self.foreign(unary, foreign::POINTER),
                };
            }
            _ => return self.not_in_a_kernel(&Expr::Unary(unary.clone())),
        };
        let Some(a) = self.value(&unary.expr, expected) else { return Operand::Poison };
        let (ty, span) = (self.ty(a), self.span(unary));
        let known = self.terms.get(ty.term);
        let fits = (ty.vector.is_none() || op == UnaryOp::Negate)
            && match op {
                UnaryOp::Negate => known.is_none_or(|scalar| scalar.is_float() || scalar.is_signed()),
                UnaryOp::Not => known.is_none_or(|scalar| !scalar.is_float()),
            };
        if !fits {
            return self.mismatch(unary);
        }
        if let (UnaryOp::Negate, ExprKind::Int(value)) = (op, &self.kernel.exprs[a].kind)
            && let Some(value) = value.checked_neg()
        {
            return Operand::Value(self.expr(ExprKind::Int(value), ty, span));
        }
        Operand::Value(self.expr(ExprKind::Unary(op, a), ty, span))
    }

    pub(super) fn binary(&mut self, binary: &syn::ExprBinary, expected: Option<Ty>) -> Operand {
        let span = self.span(binary);
        if matches!(binary.op, BinOp::And(_) | BinOp::Or(_)) {
            return self.logical(binary, span);
        }
        if let Some(op) = compare_op(&binary.op) {
            let Some((a, b)) = self.pair(binary, None) else {
                return Operand::Poison;
            };
            return self.compare(op, a, b, span, binary);
        }
        let Some(op) = binary_op(&binary.op).filter(|_| !is_compound(&binary.op)) else {
            self.statement_expression(&Expr::Binary(binary.clone()), &mut Vec::new());
            return Operand::Tuple(Vec::new());
        };
        let Some((a, b)) = self.pair(binary, expected) else {
            return Operand::Poison;
        };
        self.arithmetic(op, a, b, span, binary)
    }

    /// Both sides, left first.
    fn pair(
        &mut self,
        binary: &syn::ExprBinary,
        expected: Option<Ty>,
    ) -> Option<(Handle<ir::Expr>, Handle<ir::Expr>)> {
        let mut a = self.operand(&binary.left, expected);
        let place = self.here();
        // The amount of a shift has a type of its own; one that is written as a literal takes what is there.
        let own =
            matches!(binary.op, BinOp::Shl(_) | BinOp::Shr(_)) && !matches!(*binary.right, syn::Expr::Lit(_));
        let hint = match &a {
            _ if own => None,
            Operand::Value(value) => Some(self.ty(*value)),
            Operand::Array(..) | Operand::List(_) | Operand::Tuple(_) | Operand::Poison => expected,
        };
        let b = self.operand(&binary.right, hint);
        self.operand_as_at(place, &mut a);
        match (a, b) {
            (Operand::Value(a), Operand::Value(b)) => Some((a, b)),
            (Operand::Poison, _) | (_, Operand::Poison) => None,
            _ => {
                self.mismatch(binary);
                None
            }
        }
    }

    pub(super) fn compare(
        &mut self,
        op: CompareOp,
        a: Handle<ir::Expr>,
        b: Handle<ir::Expr>,
        span: SpanId,
        at: &impl ToTokens,
    ) -> Operand {
        let (ta, tb) = (self.ty(a), self.ty(b));
        if ta.vector.is_some() || tb.vector.is_some() || !self.terms.unify(ta.term, tb.term) {
            return self.mismatch(at);
        }
        Operand::Value(self.bool_expr(ExprKind::Compare(op, a, b), span))
    }

    /// An operation of two values, folded if both are integer literals.
    pub(super) fn arithmetic(
        &mut self,
        op: BinaryOp,
        a: Handle<ir::Expr>,
        b: Handle<ir::Expr>,
        span: SpanId,
        at: &impl ToTokens,
    ) -> Operand {
        if let Some(vector) = self.vector_arithmetic(op, a, b, span, at) {
            return vector;
        }
        let (ta, tb) = (self.ty(a), self.ty(b));
        let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
        let scalars = ta.vector.is_none() && tb.vector.is_none();
        let known = self.terms.get(ta.term);
        let fits = scalars
            && (shift || self.terms.unify(ta.term, tb.term))
            && match op {
                BinaryOp::Add
                | BinaryOp::Sub
                | BinaryOp::Mul
                | BinaryOp::Div
                | BinaryOp::Rem
                | BinaryOp::Min
                | BinaryOp::Max => known != Some(Scalar::Bool),
                BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => known.is_none_or(|scalar| !scalar.is_float()),
                BinaryOp::Shl | BinaryOp::Shr => {
                    self.terms.is_integer(ta.term) && self.terms.is_integer(tb.term)
                }
                BinaryOp::DivCeil => {
                    self.terms.is_integer(ta.term) && known.is_none_or(|scalar| !scalar.is_signed())
                }
            };
        if !fits {
            return self.mismatch(at);
        }
        let folded = match (&self.kernel.exprs[a].kind, &self.kernel.exprs[b].kind) {
            // An amount that is not below the width is masked.
            (_, ExprKind::Int(by))
                if shift && known.is_some_and(|own| *by >= i128::from(8 * own.bytes())) =>
            {
                None
            }
            (ExprKind::Int(x), ExprKind::Int(y)) => fold(op, *x, *y).filter(|value| {
                self.terms
                    .get(ta.term)
                    .and_then(Scalar::range)
                    .is_none_or(|(low, high)| (low..=high).contains(value))
            }),
            _ => None,
        };
        let kind = match folded {
            Some(value) => ExprKind::Int(value),
            None => ExprKind::Binary(op, a, b),
        };
        Operand::Value(self.expr(kind, ta, span))
    }

    /// `&&` and `||`.
    fn logical(&mut self, binary: &syn::ExprBinary, span: SpanId) -> Operand {
        let and = matches!(binary.op, BinOp::And(_));
        let bool_term = self.terms.known(Scalar::Bool);
        let Some(a) = self.value_of(&binary.left, bool_term) else { return Operand::Poison };
        let right = |lower: &mut Self| lower.value_of(&binary.right, bool_term);
        self.both_of(and, a, span, right).map_or(Operand::Poison, Operand::Value)
    }

    /// `a && b` or `a || b`. The right side may hold loads, which only the threads that need it may execute.
    pub(super) fn both_of(
        &mut self,
        and: bool,
        a: Handle<ir::Expr>,
        span: SpanId,
        right: impl FnOnce(&mut Self) -> Option<Handle<ir::Expr>>,
    ) -> Option<Handle<ir::Expr>> {
        let op = if and { BinaryOp::And } else { BinaryOp::Or };
        let mut value = None;
        let mut statements = self.in_block(|lower| value = right(lower));
        let b = value?;
        let ty = Ty::scalar(self.terms.known(Scalar::Bool));
        if statements.is_empty() {
            return Some(self.expr(ExprKind::Binary(op, a, b), ty, span));
        }
        let local = self.local("condition", ty, Vec::new(), span);
        self.push(Stmt::Assign { local, value: a });
        let condition = self.expr(ExprKind::Local(local), ty, span);
        statements.push(Stmt::Assign { local, value: b });
        let (then, otherwise) = if and { (statements, Vec::new()) } else { (Vec::new(), statements) };
        self.push(Stmt::If { condition, then, otherwise });
        Some(self.expr(ExprKind::Local(local), ty, span))
    }

    pub(super) fn cast(&mut self, cast: &syn::ExprCast) -> Operand {
        let Some(value) = self.value(&cast.expr, None) else { return Operand::Poison };
        let from = self.ty(value);
        let Some(scalar) = self.scalar_type(&cast.ty) else {
            // The type of a helper function's argument, which may still be that of a literal.
            let to = self.value_type(&cast.ty).filter(|to| to.vector.is_none() && from.vector.is_none());
            let Some(to) = to else { return self.mismatch(cast) };
            let span = self.span(cast);
            return Operand::Value(self.expr(ExprKind::Cast(value), to, span));
        };
        let is_half = scalar.is_half() || self.terms.get(from.term).is_some_and(Scalar::is_half);
        if let (true, true, ExprKind::Int(0)) =
            (is_half, self.diagnostics.spans.is_in_library(), &self.kernel.exprs[value].kind)
        {
            // Rust has no such cast, and the library no other way to write the zero of any type.
            let (ty, span) = (Ty::scalar(self.terms.known(scalar)), self.span(cast));
            return Operand::Value(self.expr(ExprKind::Float(0.0), ty, span));
        }
        if from.vector.is_some() || scalar == Scalar::Bool || is_half {
            return self.mismatch(cast);
        }
        let span = self.span(cast);
        let ty = Ty::scalar(self.terms.known(scalar));
        if let (ExprKind::Int(literal), Some((low, high))) = (&self.kernel.exprs[value].kind, scalar.range())
            && (low..=high).contains(literal)
        {
            let literal = *literal;
            return Operand::Value(self.expr(ExprKind::Int(literal), ty, span));
        }
        Operand::Value(self.expr(ExprKind::Cast(value), ty, span))
    }
}

/// Integer arithmetic on literals, where it is defined.
pub(super) fn fold(op: BinaryOp, a: i128, b: i128) -> Option<i128> {
    match op {
        BinaryOp::Add => a.checked_add(b),
        BinaryOp::Sub => a.checked_sub(b),
        BinaryOp::Mul => a.checked_mul(b),
        BinaryOp::Div => a.checked_div(b),
        BinaryOp::Rem => a.checked_rem(b),
        BinaryOp::And => Some(a & b),
        BinaryOp::Or => Some(a | b),
        BinaryOp::Xor => Some(a ^ b),
        BinaryOp::Shl => (0..64).contains(&b).then(|| a.checked_mul(1 << b)).flatten(),
        BinaryOp::Shr => (0..64).contains(&b).then(|| a >> b),
        BinaryOp::Min => Some(a.min(b)),
        BinaryOp::Max => Some(a.max(b)),
        BinaryOp::DivCeil => (a >= 0 && b > 0).then(|| a / b + i128::from(a % b != 0)),
    }
}

pub(super) fn binary_op(op: &BinOp) -> Option<BinaryOp> {
    Some(match op {
        BinOp::Add(_) | BinOp::AddAssign(_) => BinaryOp::Add,
        BinOp::Sub(_) | BinOp::SubAssign(_) => BinaryOp::Sub,
        BinOp::Mul(_) | BinOp::MulAssign(_) => BinaryOp::Mul,
        BinOp::Div(_) | BinOp::DivAssign(_) => BinaryOp::Div,
        BinOp::Rem(_) | BinOp::RemAssign(_) => BinaryOp::Rem,
        BinOp::BitXor(_) | BinOp::BitXorAssign(_) => BinaryOp::Xor,
        BinOp::BitAnd(_) | BinOp::BitAndAssign(_) => BinaryOp::And,
        BinOp::BitOr(_) | BinOp::BitOrAssign(_) => BinaryOp::Or,
        BinOp::Shl(_) | BinOp::ShlAssign(_) => BinaryOp::Shl,
        BinOp::Shr(_) | BinOp::ShrAssign(_) => BinaryOp::Shr,
        _ => return None,
    })
}

/// Whether an operator assigns: `+=` and its like.
pub(crate) fn is_compound(op: &BinOp) -> bool {
    matches!(
        op,
        BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::DivAssign(_)
            | BinOp::RemAssign(_)
            | BinOp::BitXorAssign(_)
            | BinOp::BitAndAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::ShlAssign(_)
            | BinOp::ShrAssign(_)
    )
}

fn compare_op(op: &BinOp) -> Option<CompareOp> {
    Some(match op {
        BinOp::Lt(_) => CompareOp::Less,
        BinOp::Le(_) => CompareOp::LessEqual,
        BinOp::Gt(_) => CompareOp::Greater,
        BinOp::Ge(_) => CompareOp::GreaterEqual,
        BinOp::Eq(_) => CompareOp::Equal,
        BinOp::Ne(_) => CompareOp::NotEqual,
        _ => return None,
    })
}
