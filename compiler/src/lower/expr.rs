//! Expressions.

use super::function::{associated_constant, math_constant};
use super::item::{Found, Item};
use super::{Binding, Lower, Operand, Term, Ty, foreign, literal};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir;
use crate::ir::{BinaryOp, CompareOp, ExprKind, Handle, Scalar, Stmt, UnaryOp};
use crate::span::SpanId;
use quote::ToTokens;
use std::rc::Rc;
use syn::{BinOp, Expr, Lit, UnOp};

/// An array that is not a shared tile has at most so many values: far more than a thread has registers.
const MOST_ARRAY_VALUES: usize = 4096;

impl Lower<'_> {
    /// Lowers an expression. `expected` is a hint for literals and vector widths, not a demand.
    pub(super) fn operand(&mut self, expr: &Expr, expected: Option<Ty>) -> Operand {
        match expr {
            Expr::Paren(inner) => self.operand(&inner.expr, expected),
            Expr::Group(inner) => self.operand(&inner.expr, expected),
            Expr::Lit(lit) => self.literal(&lit.lit, expected),
            Expr::Path(path) => self.name(path),
            Expr::Unary(unary) => self.unary(unary, expected),
            Expr::Binary(binary) => self.binary(binary, expected),
            Expr::Cast(cast) => self.cast(cast),
            Expr::Index(index) => self.index(index),
            Expr::MethodCall(call) => self.method(call, expected),
            Expr::Call(call) => self.call(call, expected),
            Expr::Tuple(tuple) => {
                Operand::Tuple(self.in_order(&tuple.elems, |lower, part| lower.operand(part, None)))
            }
            Expr::Array(array) => {
                Operand::List(self.in_order(&array.elems, |lower, part| lower.operand(part, expected)))
            }
            Expr::Repeat(repeat) => match self.type_constant(&repeat.len, "the length of an array") {
                Some(length) => {
                    let part = self.operand(&repeat.expr, expected);
                    self.repeated(part, length, repeat)
                }
                None => Operand::Poison,
            },
            Expr::Block(block) => self.labeled_block(&block.block, block.label.as_ref(), expected),
            Expr::If(branch) => self.if_value(branch, expected),
            Expr::Reference(reference) => self.reference(reference),
            Expr::RawAddr(address) => self.address(address),
            Expr::Closure(_) => self.unsupported(
                expr,
                "a kernel cannot have closures but as the argument of `map`",
                "write the code where it is used",
            ),
            Expr::Range(_) => self.unsupported(
                expr,
                "a range is only known in the head of a `for` loop",
                "write `for i in 0..n { … }`, with `.step_by(s)` for another step",
            ),
            Expr::Macro(call) => self.foreign(expr, foreign::of_macro(&call.mac)),
            Expr::Field(_) => self.unsupported(
                expr,
                "a kernel has no structs and no tuple fields",
                "take tuples apart in the `let`: `let (row, col) = …;`",
            ),
            Expr::Match(matched) => self.match_value(matched, expected),
            Expr::Loop(head) => self.endless_loop(head),
            Expr::Break(exit) => self.break_to(exit),
            Expr::Continue(exit) => self.continue_with(exit),
            Expr::Return(exit) => self.return_with(exit),
            Expr::Unsafe(block) => self.foreign(expr, foreign::of_unsafe(block)),
            Expr::Struct(_) => {
                self.unsupported(expr, "a kernel has no structs", "use scalars, tuples and arrays")
            }
            Expr::Try(_) => self.unsupported(
                expr,
                "a kernel cannot use `?`",
                "check on the host, before the launch: a GPU thread has nobody to return an error to",
            ),
            Expr::Assign(_) | Expr::ForLoop(_) | Expr::While(_) => {
                self.statement_expression(expr, &mut Vec::new());
                Operand::Tuple(Vec::new())
            }
            Expr::Async(_)
            | Expr::Await(_)
            | Expr::Const(_)
            | Expr::Infer(_)
            | Expr::Let(_)
            | Expr::TryBlock(_)
            | Expr::Yield(_)
            | Expr::Verbatim(_) => self.not_in_a_kernel(expr),
            _ => self.not_in_a_kernel(expr),
        }
    }

    fn repeated(&mut self, part: Operand, length: i128, at: &syn::ExprRepeat) -> Operand {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if part.leaves().saturating_mul(length) > MOST_ARRAY_VALUES {
            return self.unsupported(
                at,
                &format!(
                    "an array of more than {MOST_ARRAY_VALUES} values does not fit the registers of a thread"
                ),
                "give each thread fewer values, or put them into a shared tile",
            );
        }
        Operand::List(vec![part; length])
    }

    fn not_in_a_kernel(&mut self, expr: &Expr) -> Operand {
        self.unsupported(
            expr,
            "this construct is not part of the kernel language",
            "a kernel has `let`, assignment, `if`, `match`, loops, arithmetic, and the accesses of its tiles and tensors",
        )
    }

    /// Lowers an expression to a scalar or vector.
    pub(super) fn value(&mut self, expr: &Expr, expected: Option<Ty>) -> Option<Handle<ir::Expr>> {
        match self.operand(expr, expected) {
            Operand::Value(value) => Some(value),
            Operand::Poison => None,
            Operand::Array(..) | Operand::List(_) | Operand::Tuple(_) => {
                self.mismatch(expr);
                None
            }
        }
    }

    /// Lowers an expression to a scalar of this type.
    pub(super) fn value_of(&mut self, expr: &Expr, term: Term) -> Option<Handle<ir::Expr>> {
        let value = self.value(expr, Some(Ty::scalar(term)))?;
        let ty = self.ty(value);
        if ty.vector.is_some() || !self.terms.unify(ty.term, term) {
            self.mismatch(expr);
            return None;
        }
        Some(value)
    }

    /// Lowers an expression to an index.
    pub(super) fn index_value(&mut self, expr: &Expr) -> Option<Handle<ir::Expr>> {
        let term = self.terms.known(Scalar::Usize);
        self.value_of(expr, term)
    }

    /// Lowers expressions to indices.
    pub(super) fn index_values<'e>(
        &mut self,
        list: impl IntoIterator<Item = &'e Expr>,
    ) -> Option<Vec<Handle<ir::Expr>>> {
        let list = self.in_order(list, |lower, index| match lower.index_value(index) {
            Some(index) => Operand::Value(index),
            None => Operand::Poison,
        });
        let index = |operand| match operand {
            Operand::Value(index) => Some(index),
            Operand::Array(..) | Operand::List(_) | Operand::Tuple(_) | Operand::Poison => None,
        };
        list.into_iter().map(index).collect()
    }

    /// The value of an integer that must be known here.
    pub(super) fn constant(&mut self, expr: &Expr, what: &str) -> Option<i128> {
        let value = self.constant_value(expr)?;
        if value.is_none() {
            let error = self.not_constant(expr, what);
            self.diagnostics.report(error);
        }
        value
    }

    /// The value of an integer that rustc too demands to know: a length, or an argument of a type.
    pub(super) fn type_constant(&mut self, expr: &Expr, what: &str) -> Option<i128> {
        let value = self.constant_value(expr)?;
        if value.is_none() {
            let error = self.not_constant(expr, what);
            self.diagnostics.defer(error);
        }
        value
    }

    /// `None` after an error, `Some(None)` where the value is not known.
    fn constant_value(&mut self, expr: &Expr) -> Option<Option<i128>> {
        if let Some(value) = literal(expr) {
            return Some(Some(value));
        }
        let mut value = None;
        let statements = self.in_block(|lower| value = lower.value(expr, None));
        match self.kernel.exprs[value?].kind {
            ExprKind::Int(value) if statements.is_empty() => Some(Some(value)),
            _ => Some(None),
        }
    }

    fn not_constant(&mut self, expr: &Expr, what: &str) -> Diagnostic {
        let span = self.span(expr);
        let help = match self.in_attribute {
            true => "write an integer, or a `const` beside the kernel in a `#[tiled_module] mod`",
            false => "write an integer, or a `const` declared in the kernel or in its `#[tiled_module]`",
        };
        Diagnostic::new(Code::Constant, span, format!("{what} must be known at compile time")).help(help)
    }

    fn literal(&mut self, lit: &Lit, expected: Option<Ty>) -> Operand {
        let span = self.span(lit);
        match lit {
            Lit::Bool(value) => {
                let ty = Ty::scalar(self.terms.known(Scalar::Bool));
                Operand::Value(self.expr(ExprKind::Bool(value.value), ty, span))
            }
            Lit::Int(int) => {
                let suffix = Scalar::from_name(int.suffix());
                if suffix.is_none() && !int.suffix().is_empty() {
                    return self.unknown_suffix(lit, int.suffix());
                }
                if suffix.is_some_and(Scalar::is_float) {
                    return self.float_literal(int.base10_digits(), suffix, span);
                }
                let Ok(value) = int.base10_parse::<i128>() else { return self.mismatch(lit) };
                let term = match suffix {
                    Some(scalar) => self.terms.known(scalar),
                    // Joined to the expected type at once where that is an integer: fewer unknowns, better folding.
                    None => match expected {
                        Some(ty) if self.terms.is_integer(ty.term) => ty.term,
                        _ => self.terms.integer(),
                    },
                };
                Operand::Value(self.expr(ExprKind::Int(value), Ty::scalar(term), span))
            }
            Lit::Float(float) => {
                if Scalar::from_name(float.suffix()).is_none() && !float.suffix().is_empty() {
                    return self.unknown_suffix(lit, float.suffix());
                }
                self.float_literal(float.base10_digits(), Scalar::from_name(float.suffix()), span)
            }
            Lit::Str(_) | Lit::ByteStr(_) | Lit::CStr(_) | Lit::Char(_) => {
                self.unsupported(lit, "a kernel has no text", "use numbers")
            }
            _ => self.mismatch(lit),
        }
    }

    /// A literal of a type that a kernel has not.
    fn unknown_suffix(&mut self, lit: &Lit, suffix: &str) -> Operand {
        self.defer(
            Code::Type,
            lit,
            format!("a kernel has no values of type `{suffix}`"),
            "use i8 to i64, u8 to u64, usize, isize, f32 or f64, and `f16::from_f32` for floats of 16 bits",
        )
    }

    fn float_literal(&mut self, digits: &str, suffix: Option<Scalar>, span: SpanId) -> Operand {
        let term = match suffix {
            Some(scalar) => self.terms.known(scalar),
            None => self.terms.float(),
        };
        let value = self.expr(ExprKind::Float(0.0), Ty::scalar(term), span);
        self.float_digits.push((value, digits.to_string()));
        Operand::Value(value)
    }

    fn name(&mut self, path: &syn::ExprPath) -> Operand {
        let Some(ident) = path.path.get_ident() else {
            if let Some(constant) = self.number_constant(path) {
                return constant;
            }
            return self.defer(
                Code::Name,
                path,
                format!("the macro cannot see what `{}` means", crate::tokens::print(path.to_token_stream())),
                self.out_of_sight(),
            );
        };
        let span = self.span(path);
        let binding = match self.find(&ident.to_string()) {
            Some(Found::Binding(binding)) => Some(binding.clone()),
            Some(Found::Item(Item::Constant(constant), depth)) => {
                let constant = Rc::clone(constant);
                Some(Binding::Operand(self.constant_item(&constant, depth)))
            }
            Some(Found::Item(Item::Function(_), _)) => {
                return self.unsupported(
                    path,
                    "a function is not a value in a kernel",
                    "call it: a GPU thread has no function pointers here, every call is inlined",
                );
            }
            None => None,
        };
        match binding {
            Some(Binding::Local(local)) => {
                if self.kernel.locals[local].extents.is_empty() {
                    let ty = self.local_types[local.index()];
                    Operand::Value(self.expr(ExprKind::Local(local), ty, span))
                } else {
                    Operand::Array(local, Vec::new())
                }
            }
            // A copy with the span of this use.
            Some(Binding::Operand(Operand::Value(value))) => Operand::Value(self.copied(value, span)),
            // A reference to an element.
            Some(Binding::Operand(Operand::Array(local, index)))
                if index.len() == self.kernel.locals[local].extents.len() =>
            {
                let ty = self.local_types[local.index()];
                Operand::Value(self.expr(ExprKind::Element(local, index), ty, span))
            }
            Some(Binding::Operand(operand)) => operand,
            Some(Binding::Memory(base)) => {
                let name = self.kernel.base_name(base).to_string();
                self.unsupported(
                    path,
                    &format!("`{name}` is memory, and only its elements are values"),
                    "name an element: `tile[r][c]`, `tensor[[r, c]]`, or several: `read::<4>([r, c])`",
                )
            }
            None => self.defer(
                Code::Name,
                path,
                format!("the macro cannot see `{ident}`, which is declared outside the kernel"),
                self.out_of_sight(),
            ),
        }
    }

    /// `f32::INFINITY`, `usize::MAX`, `core::f32::consts::PI`.
    fn number_constant(&mut self, path: &syn::ExprPath) -> Option<Operand> {
        let names: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (kind, scalar) = match names.as_slice() {
            [number, name] => associated_constant(Scalar::from_name(number)?, name)?,
            ["core" | "std", number, "consts", name] => {
                let scalar = Scalar::from_name(number)?;
                (math_constant(scalar, name)?, scalar)
            }
            _ => return None,
        };
        let span = self.span(path);
        let ty = Ty::scalar(self.terms.known(scalar));
        Some(Operand::Value(self.expr(kind, ty, span)))
    }

    /// What to do about a value that is declared outside the kernel.
    fn out_of_sight(&self) -> &'static str {
        match self.in_attribute {
            true => "write the value out, or put kernel and constant into a `#[tiled_module] mod`",
            false => {
                "write the value out, declare it in the kernel (`const N: usize = 32;`) or beside it in a `#[tiled_module] mod`, or pass it as an argument"
            }
        }
    }

    fn unary(&mut self, unary: &syn::ExprUnary, expected: Option<Ty>) -> Operand {
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

    fn binary(&mut self, binary: &syn::ExprBinary, expected: Option<Ty>) -> Operand {
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
        let hint = match &a {
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
        at: &impl quote::ToTokens,
    ) -> Operand {
        let (ta, tb) = (self.ty(a), self.ty(b));
        if ta.vector.is_some() || tb.vector.is_some() || !self.terms.unify(ta.term, tb.term) {
            return self.mismatch(at);
        }
        let ty = Ty::scalar(self.terms.known(Scalar::Bool));
        Operand::Value(self.expr(ExprKind::Compare(op, a, b), ty, span))
    }

    /// An operation of two values, folded if both are integer literals.
    pub(super) fn arithmetic(
        &mut self,
        op: BinaryOp,
        a: Handle<ir::Expr>,
        b: Handle<ir::Expr>,
        span: SpanId,
        at: &impl quote::ToTokens,
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

    fn cast(&mut self, cast: &syn::ExprCast) -> Operand {
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
