//! Vectors that begin anywhere: `tensor.read_unaligned::<V>([…])`.

use super::{Lower, Operand, Ty};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{
    self, Base, BinaryOp, ExprKind, Handle, Loop, Part, Place, Role, Scalar, Stmt, Unaligned, UnaryOp, Unroll,
};
use syn::ExprMethodCall;

/// The fewest bytes of a vector that is shifted into place.
const LEAST_BYTES: u32 = 4;

impl Lower<'_> {
    /// `read_unaligned::<V>([…])` of a tensor: the aligned vectors, and where those are not inside the tensor the elements one
    /// by one.
    pub(super) fn read_unaligned(
        &mut self,
        call: &ExprMethodCall,
        tensor: Handle<ir::Param>,
        expected: Option<Ty>,
    ) -> Operand {
        let base = Base::Tensor(tensor);
        let Some(mut place) = self.read_place(call, base, expected) else { return Operand::Poison };
        let span = self.span(call);
        let element = self.kernel.element(base);
        let scalar = Ty::scalar(self.terms.known(element));
        let ty = Ty { vector: Some(place.width), ..scalar };
        if place.width == 1 {
            // Every element is aligned.
            return Operand::Value(self.load(place, ty, call));
        }
        let bytes = place.width * element.bytes();
        if bytes < LEAST_BYTES {
            self.diagnostics.report(
                Diagnostic::new(
                    Code::VectorWidth,
                    span,
                    format!("an unaligned read takes at least {LEAST_BYTES} bytes, and this one {bytes}"),
                )
                .help(format!(
                    "read {} elements, or the {} one by one",
                    LEAST_BYTES / element.bytes(),
                    place.width
                )),
            );
            return Operand::Poison;
        }
        for index in &mut place.index {
            let span = self.kernel.exprs[*index].span;
            *index = self.once(*index, span);
        }
        let [local, whole] =
            [("value", ty), ("whole", Ty::scalar(self.terms.known(Scalar::Bool)))].map(|(name, ty)| {
                self.local(&format!("{}_{name}", self.kernel.base_name(base)), ty, Vec::new(), span)
            });
        let [first, last] = [Part::First, Part::Last]
            .map(|part| self.access(Place { part, ..place.clone() }, Role::Read, call));
        self.push(Stmt::LoadUnaligned(Unaligned { local, whole, first, last }));
        self.elements_at_the_ends(call, &place, local, whole);
        Operand::Value(self.expr(ExprKind::Local(local), ty, span))
    }

    /// Where `whole` is false, reads the elements of a vector one by one.
    fn elements_at_the_ends(
        &mut self,
        call: &ExprMethodCall,
        place: &Place,
        local: Handle<ir::Local>,
        whole: Handle<ir::Local>,
    ) {
        let span = self.span(call);
        let scalar = Ty::scalar(self.terms.known(self.kernel.element(place.base)));
        let index_ty = Ty::scalar(self.terms.known(Scalar::Usize));
        let variable = self.local("lane", index_ty, Vec::new(), span);
        let budget = self.responsibility.budget.take();
        let body = self.in_block(|lower| {
            let lane = lower.expr(ExprKind::Local(variable), index_ty, span);
            let mut place = Place { width: 1, ..place.clone() };
            if let Some(innermost) = place.index.last_mut() {
                let span = lower.kernel.exprs[*innermost].span;
                *innermost = lower.expr(ExprKind::Binary(BinaryOp::Add, *innermost, lane), index_ty, span);
            }
            let sites = lower.kernel.sites.len();
            let value = lower.load(place, scalar, call);
            for site in lower.kernel.sites.handles().skip(sites).collect::<Vec<_>>() {
                lower.kernel.sites[site].edge = true;
            }
            lower.push(Stmt::AssignLane { local, index: Vec::new(), lane, value });
        });
        self.responsibility.budget = budget;
        let [start, end, step] = [0, i128::from(place.width), 1].map(|value| self.index_literal(value, span));
        let head = Loop { variable, start, end, step, body, unroll: Unroll::Auto, span };
        let each = self.kernel.loops.add(head);
        let whole = self.bool_expr(ExprKind::Local(whole), span);
        let condition = self.bool_expr(ExprKind::Unary(UnaryOp::Not, whole), span);
        self.push(Stmt::If { condition, then: vec![Stmt::For(each)], otherwise: Vec::new() });
    }
}
