//! Vectors in registers: arithmetic lane by lane, and their methods.

use super::function::Method;
use super::{Lower, Operand, Ty};
use crate::ir::{self, BinaryOp, ExprKind, Handle, Scalar};
use crate::span::SpanId;
use quote::ToTokens;
use syn::{Expr, ExprClosure, ExprMethodCall};

type Value = Handle<ir::Expr>;

impl Lower<'_> {
    /// An operation of a vector with a vector as wide, or with one value for all lanes; `None` where neither is a vector.
    pub(super) fn vector_arithmetic(
        &mut self,
        op: BinaryOp,
        a: Value,
        b: Value,
        span: SpanId,
        at: &impl ToTokens,
    ) -> Option<Operand> {
        let (ta, tb) = (self.ty(a), self.ty(b));
        let width = match (ta.vector, tb.vector) {
            (None, None) => return None,
            (Some(width), None) => width,
            (Some(x), Some(y)) if x == y => x,
            (Some(_) | None, Some(_)) => return Some(self.mismatch(at)),
        };
        let known = self.terms.get(ta.term);
        let fits = match op {
            BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => {
                known.is_none_or(|scalar| scalar != Scalar::Bool && !scalar.is_index())
            }
            BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => {
                known.is_none_or(|scalar| scalar.is_integer() && !scalar.is_index())
            }
            BinaryOp::Shl | BinaryOp::Shr | BinaryOp::Min | BinaryOp::Max | BinaryOp::DivCeil => false,
        };
        if !fits || !self.terms.unify(ta.term, tb.term) {
            return Some(self.mismatch(at));
        }
        let a = self.once(a, span);
        let mut b = self.once(b, span);
        if tb.vector.is_none() {
            b = self.expr(ExprKind::Vector(vec![b; width as usize]), ta, span);
        }
        Some(Operand::Value(self.expr(ExprKind::Binary(op, a, b), ta, span)))
    }

    /// A method of a vector.
    pub(super) fn vector_method(&mut self, call: &ExprMethodCall, vector: Value) -> Operand {
        let (name, span) = (call.method.to_string(), self.span(call));
        let ty = self.ty(vector);
        let width = ty.vector.unwrap_or(1);
        let arguments: Vec<&Expr> = call.args.iter().collect();
        match (name.as_str(), arguments.as_slice()) {
            ("map", [closure]) => {
                let vector = self.once(vector, span);
                self.each_lane(closure, &[vector], width, call)
            }
            ("zip_map", [other, closure]) => {
                let place = self.here();
                let Some(other) = self.value(other, Some(ty)) else { return Operand::Poison };
                let vector = self.as_at(place, vector);
                let other_ty = self.ty(other);
                if other_ty.vector != ty.vector {
                    return self.mismatch(call);
                }
                let (vector, other) = (self.once(vector, span), self.once(other, span));
                self.each_lane(closure, &[vector, other], width, call)
            }
            ("cast", []) => {
                let to = call.turbofish.as_ref().and_then(|list| match list.args.first() {
                    Some(syn::GenericArgument::Type(ty)) => self.scalar_type(ty),
                    _ => None,
                });
                let Some(to) = to.filter(|to| *to != Scalar::Bool && !to.is_index()) else {
                    return self.unsupported(
                        call,
                        "the type that the values of this vector become is not known here",
                        "write it: `v.cast::<f32>()`",
                    );
                };
                let vector = self.once(vector, span);
                let term = self.terms.known(to);
                Operand::Value(self.expr(ExprKind::Cast(vector), Ty { term, vector: ty.vector }, span))
            }
            ("to_array", []) => {
                let vector = self.once(vector, span);
                let lanes = (0..width).map(|lane| Operand::Value(self.lane(vector, lane, span)));
                Operand::List(lanes.collect())
            }
            ("sum", []) => {
                let vector = self.once(vector, span);
                let mut sum = self.lane(vector, 0, span);
                for lane in 1..width {
                    let next = self.lane(vector, lane, span);
                    match self.arithmetic(BinaryOp::Add, sum, next, span, call) {
                        Operand::Value(value) => sum = value,
                        other => return other,
                    }
                }
                Operand::Value(sum)
            }
            ("min" | "max" | "mul_add" | "abs" | "sqrt", rest) => {
                let rest: Vec<Expr> = rest.iter().map(|argument| (*argument).clone()).collect();
                self.lanes_method(&name, vector, &rest, call)
            }
            _ => self.defer(
                crate::diagnostic::Code::Name,
                &call.method,
                format!("vectors have no method `{name}` in a kernel"),
                "use `map`, `zip_map`, `cast`, `to_array`, `sum`, `min`, `max`, `mul_add`, `abs`, `sqrt`, or its values `v[0]`",
            ),
        }
    }

    fn lane(&mut self, vector: Value, lane: u32, span: SpanId) -> Value {
        let ty = Ty::scalar(self.ty(vector).term);
        let lane = self.index_literal(lane.into(), span);
        self.expr(ExprKind::Lane(vector, lane), ty, span)
    }

    /// A method of numbers, of each lane with those of the vectors that are its arguments.
    fn lanes_method(
        &mut self,
        name: &str,
        vector: Value,
        arguments: &[Expr],
        call: &ExprMethodCall,
    ) -> Operand {
        let (ty, span) = (self.ty(vector), self.span(call));
        let place = self.here();
        let others = self.in_order(arguments, |lower, argument| match lower.value(argument, Some(ty)) {
            Some(value) => Operand::Value(value),
            None => Operand::Poison,
        });
        let mut operands = vec![self.as_at(place, vector)];
        for other in others {
            let Operand::Value(other) = other else { return Operand::Poison };
            if self.ty(other).vector != ty.vector {
                return self.mismatch(call);
            }
            operands.push(other);
        }
        let operands: Vec<Value> = operands.into_iter().map(|operand| self.once(operand, span)).collect();
        let mut values = Vec::new();
        for lane in 0..ty.vector.unwrap_or(1) {
            let lanes: Vec<Value> = operands.iter().map(|operand| self.lane(*operand, lane, span)).collect();
            match self.method_of_values(Method { name, span, at: call }, &lanes) {
                Some(Operand::Value(value)) => values.push(value),
                Some(other) => return other,
                None => return self.mismatch(call),
            }
        }
        self.vector_of(values, call)
    }

    /// The vector of what a closure makes of each lane of vectors.
    fn each_lane(&mut self, closure: &Expr, vectors: &[Value], width: u32, call: &ExprMethodCall) -> Operand {
        let Expr::Closure(closure) = closure else {
            return self.unsupported(closure, "a kernel maps a vector by a closure", "write `v.map(|x| …)`");
        };
        if closure.inputs.len() != vectors.len() {
            return self.mismatch(call);
        }
        if leaves(closure) {
            return self.unsupported(
                closure,
                "a closure in a kernel cannot `return`",
                "let the closure end with its value",
            );
        }
        let span = self.span(call);
        let mut values = Vec::new();
        for lane in 0..width {
            self.scopes.push(Default::default());
            for (pattern, vector) in closure.inputs.iter().zip(vectors) {
                let pattern = match pattern {
                    syn::Pat::Type(typed) => &*typed.pat,
                    pattern => pattern,
                };
                let value = self.lane(*vector, lane, span);
                self.bind_pattern(pattern, Operand::Value(value));
            }
            let value = self.value(&closure.body, None);
            self.scopes.pop();
            let Some(value) = value else { return Operand::Poison };
            // The next lane's closure may assign what this value reads.
            values.push(self.stored("mapped", value, span));
        }
        self.vector_of(values, call)
    }

    fn vector_of(&mut self, values: Vec<Value>, at: &impl ToTokens) -> Operand {
        let Some(first) = values.first().map(|first| self.ty(*first)) else { return self.mismatch(at) };
        for value in &values {
            let ty = self.ty(*value);
            if ty.vector.is_some() || !self.terms.unify(first.term, ty.term) {
                return self.mismatch(at);
            }
        }
        let span = self.span(at);
        let ty = Ty { term: first.term, vector: Some(values.len() as u32) };
        Operand::Value(self.expr(ExprKind::Vector(values), ty, span))
    }
}

/// Whether a closure holds a `return`.
fn leaves(closure: &ExprClosure) -> bool {
    fn any(tokens: proc_macro2::TokenStream) -> bool {
        tokens.into_iter().any(|token| match token {
            proc_macro2::TokenTree::Ident(ident) => ident == "return",
            proc_macro2::TokenTree::Group(group) => any(group.stream()),
            proc_macro2::TokenTree::Punct(_) | proc_macro2::TokenTree::Literal(_) => false,
        })
    }
    any(closure.body.to_token_stream())
}
