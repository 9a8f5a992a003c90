//! Asynchronous copies of a lane: `tile.copy_async::<4>([r, c], tensor.at([i, j]))`.
//!
//! [`load_async`](super::tile) moves a whole tile in the order of the tensor's rows; this is one copy of it, for kernels that
//! place the elements otherwise.

use super::{Lower, Operand};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{self, Base, ExprKind, Handle, Place, Proxy, Role, Stmt, Tile};
use syn::{Expr, ExprMethodCall};

/// Bytes that an asynchronous copy moves at least for one lane.
pub(super) const LEAST_COPY_BYTES: u32 = 4;

impl Lower<'_> {
    /// `tile.copy_async::<V>([…], tensor.at([…]))`, or `tensor.at_or_zero([…])`.
    pub(super) fn copy_async(&mut self, call: &ExprMethodCall, tile: Handle<Tile>) -> Operand {
        let [to, from] = call.args.iter().collect::<Vec<_>>()[..] else { return self.mismatch(call) };
        let Some((from, tensor, or_zero)) = self.copied_from(from) else { return self.mismatch(from) };
        let [from] = from.args.iter().collect::<Vec<_>>()[..] else { return self.mismatch(from) };
        let width = match call.turbofish.as_ref().and_then(|arguments| arguments.args.first()) {
            Some(argument) => self.generic_constant(argument, "the width of a vector"),
            None => Some(1),
        };
        let (to_base, from_base) = (Base::Tile(tile), Base::Tensor(tensor));
        let to = self.vector_index(to_base, to);
        let before = self.here();
        let from = self.vector_index(from_base, from);
        let (Some(width), Some(mut to), Some(from)) = (width, to, from) else { return Operand::Poison };
        for index in to.iter_mut().rev() {
            *index = self.as_at(before, *index);
        }
        if self.kernel.element(from_base) != self.kernel.element(to_base) {
            return self.mismatch(call);
        }
        let span = self.span(call);
        let inside = match or_zero {
            true => self.inside(from_base, &from, span),
            false => self.bool_expr(ExprKind::Bool(true), span),
        };
        let (Some(to), Some(from)) =
            (self.vector_place(call, to_base, to, width), self.vector_place(call, from_base, from, width))
        else {
            return Operand::Poison;
        };
        let element = self.kernel.element(from_base).bytes();
        if self.is_copied(call, from.width * element, element, "a load and a store") {
            self.copy(from, to, inside, call);
        }
        Operand::Tuple(Vec::new())
    }

    /// What `tensor.at([…])` or `tensor.at_or_zero([…])` names: the call, the tensor, and whether it is zero outside.
    fn copied_from<'e>(&self, from: &'e Expr) -> Option<(&'e ExprMethodCall, Handle<ir::Param>, bool)> {
        match from {
            Expr::Paren(inner) => self.copied_from(&inner.expr),
            Expr::Group(inner) => self.copied_from(&inner.expr),
            Expr::MethodCall(call) => {
                let or_zero = match call.method.to_string().as_str() {
                    "at" => false,
                    "at_or_zero" => true,
                    _ => return None,
                };
                match self.memory(&call.receiver)? {
                    Base::Tensor(tensor) => Some((call, tensor, or_zero)),
                    Base::Tile(_) => None,
                }
            }
            _ => None,
        }
    }

    /// Whether an asynchronous copy moves so many bytes for a lane, in elements of so many; an error if none does.
    pub(super) fn is_copied(
        &mut self,
        call: &ExprMethodCall,
        bytes: u32,
        element: u32,
        otherwise: &str,
    ) -> bool {
        if bytes < LEAST_COPY_BYTES {
            let span = self.span(call);
            let error = format!("no asynchronous copy moves {bytes} bytes for one lane");
            let wider = format!("`{}::<{}>`", call.method, LEAST_COPY_BYTES / element);
            self.diagnostics.report(
                Diagnostic::new(Code::VectorWidth, span, error)
                    .note("it moves 4, 8 or 16 bytes")
                    .help(format!("write {wider}, or {otherwise}")),
            );
        }
        bytes >= LEAST_COPY_BYTES
    }

    pub(super) fn copy(&mut self, from: Place, to: Place, inside: Handle<ir::Expr>, at: &ExprMethodCall) {
        let (Some(source), Some(destination)) =
            (self.site(from, Role::Read, at), self.site(to, Role::Write, at))
        else {
            return;
        };
        for site in [source, destination] {
            self.kernel.sites[site].proxy = Proxy::Async;
        }
        self.push(Stmt::Copy(ir::Copy { source, destination, inside }));
    }
}
