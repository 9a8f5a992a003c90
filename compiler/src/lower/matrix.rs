//! Matrices in the registers of a warp: reading them, and their products.

use super::{Lower, Operand, Ty};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{
    Base, CollectiveOp, ExprKind, Matrices, MatrixProduct, Part, Place, ROW_BYTES, Role, Scalar, Stmt,
};
use syn::{ExprCall, ExprMethodCall};

impl Lower<'_> {
    /// `tile.read_matrices::<V>([…])`, `tile.read_matrices_transposed::<V>([…])`.
    pub(super) fn read_matrices(
        &mut self,
        call: &ExprMethodCall,
        tile: Base,
        transposed: bool,
        expected: Option<Ty>,
    ) -> Operand {
        let Some((width, index)) = self.width_and_index(call, tile, expected) else { return Operand::Poison };
        let element = self.kernel.element(tile);
        let Some(matrices) = self.matrices(call, element, transposed, width) else { return Operand::Poison };
        let bytes = element.bytes();
        let place = Place { base: tile, index, width: ROW_BYTES / bytes, part: Part::Exact };
        let ty = Ty { term: self.terms.known(element), vector: Some(matrices.width(bytes)) };
        let span = self.span(call);
        let site = self.access(place, Role::Read, call);
        self.kernel.sites[site].matrices = Some(matrices);
        let name = format!("{}_matrices", self.kernel.base_name(tile));
        let local = self.local(&name, ty, Vec::new(), span);
        self.push(Stmt::LoadMatrices { local, site });
        Operand::Value(self.expr(ExprKind::Local(local), ty, span))
    }

    /// The matrices of which a lane gets so many values; `None` where no instruction reads them.
    fn matrices(
        &mut self,
        call: &ExprMethodCall,
        element: Scalar,
        transposed: bool,
        width: i128,
    ) -> Option<Matrices> {
        let (name, bytes) = (element.name(), element.bytes());
        let (sizes, why) = match transposed {
            false => (&[1, 2, 4][..], "4 bytes of each matrix, whose elements have 1, 2 or 4"),
            true => (&[2][..], "a pair of elements of each matrix, which have 2 bytes each"),
        };
        let count = width.saturating_mul(i128::from(bytes)) / 4;
        if sizes.contains(&bytes) && [1, 2, 4].contains(&count) && count * 4 == width * i128::from(bytes) {
            return Some(Matrices { count: count as u32, transposed });
        }
        let span = self.span(call);
        let error = Diagnostic::new(
            Code::VectorWidth,
            span,
            format!("no instruction reads matrices of {name} of which a lane gets {width} elements"),
        )
        .note(format!("a lane gets {why}, and of 1, 2 or 4 matrices"));
        self.diagnostics.report(match sizes.contains(&bytes) {
            true => {
                let [one, two, four] = [1, 2, 4].map(|count| 4 * count / bytes);
                error.help(format!("read {one}, {two} or {four} elements"))
            }
            false => error.help("read the elements one by one: `tile[row][col]`"),
        });
        None
    }

    /// `mma(a, b, c)`.
    pub(super) fn matrix_product(&mut self, call: &ExprCall) -> Operand {
        let [a, b, c] = call.args.iter().collect::<Vec<_>>()[..] else { return self.mismatch(call) };
        let Some(a) = self.value(a, None) else { return Operand::Poison };
        let Some(product) = self.product_of(a) else { return self.mismatch(call) };
        let types = product.widths().map(Some);
        let scalars = [product.element(), product.element(), product.sum()];
        let [a_ty, b_ty, c_ty] =
            [0, 1, 2].map(|i| Ty { term: self.terms.known(scalars[i]), vector: types[i] });
        let before = self.here();
        let b = self.value(b, Some(b_ty));
        let between = self.here();
        let c = self.value(c, Some(c_ty));
        let (Some(b), Some(c)) = (b, c) else { return Operand::Poison };
        for (value, ty) in [(a, a_ty), (b, b_ty), (c, c_ty)] {
            let found = self.ty(value);
            if found.vector != ty.vector || !self.terms.unify(found.term, ty.term) {
                return self.mismatch(call);
            }
        }
        let (b, a) = (self.as_at(between, b), self.as_at(before, a));
        self.computed_together(call, CollectiveOp::MatrixProduct(product), vec![a, b, c], c_ty)
    }

    /// The product whose left factor is of the type of this value.
    fn product_of(&self, left: crate::ir::Handle<crate::ir::Expr>) -> Option<MatrixProduct> {
        let ty = self.ty(left);
        let known = self.terms.get(ty.term);
        MatrixProduct::ALL.into_iter().find(|product| {
            let [width, ..] = product.widths();
            ty.vector == Some(width)
                && match known {
                    Some(scalar) => scalar == product.element(),
                    None => self.terms.is_float(ty.term) == product.element().is_float(),
                }
        })
    }
}
