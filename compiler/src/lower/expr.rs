//! Expressions.

use super::function::{associated_constant, math_constant};
use super::item::{Found, Item};
use super::{Binding, Lower, Operand, Term, Ty, foreign, literal};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{self, ExprKind, Handle, Scalar};
use crate::span::SpanId;
use quote::ToTokens;
use std::rc::Rc;
use syn::{Expr, Lit};

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
            Expr::Closure(closure) => self.closure(closure, &quote::format_ident!("helper")),
            Expr::Range(_) => self.unsupported(
                expr,
                "a range is only known in the head of a `for` loop and in `(a..b).contains(&x)`",
                "write `for i in 0..n { … }`, with `.step_by(s)` for another step",
            ),
            Expr::Macro(call) => self.foreign(expr, foreign::of_macro(&call.mac)),
            Expr::Field(field) => self.field(field),
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

    /// `pair.0`.
    fn field(&mut self, field: &syn::ExprField) -> Operand {
        let syn::Member::Unnamed(number) = &field.member else {
            return self.unsupported(
                field,
                "a kernel has no structs, and no fields but those of tuples",
                "use variables of their own, or the fields of a tuple: `pair.0`",
            );
        };
        let part = match self.operand(&field.base, None) {
            Operand::Poison => return Operand::Poison,
            Operand::Tuple(parts) => parts.into_iter().nth(number.index as usize),
            Operand::Value(_) | Operand::Array(..) | Operand::List(_) => None,
        };
        match part {
            Some(Operand::Value(value)) => {
                let span = self.span(field);
                Operand::Value(self.copied(value, span))
            }
            Some(part) => part,
            None => self.mismatch(field),
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

    pub(super) fn not_in_a_kernel(&mut self, expr: &Expr) -> Operand {
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
        list.into_iter().map(Operand::value).collect()
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
            Lit::Bool(value) => Operand::Value(self.bool_expr(ExprKind::Bool(value.value), span)),
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
}
