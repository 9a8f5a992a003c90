//! Constant tables: `const WEIGHTS: [[f32; 5]; 5] = …`.
//!
//! A table is an array in constant memory. An element by a literal index is the element itself; others are read by what all
//! lanes of a warp agree on, which the constant cache serves in one pass.

use super::stmt::flatten;
use super::{Lower, Operand, Ty};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{self, ExprKind, Handle, Scalar};
use crate::simulate::constant;
use crate::span::SpanId;
use syn::Type;
use tileproof_model::half::Half;

/// The bytes of constant memory that a kernel's own tables can have.
const MOST_TABLE_BYTES: u64 = 1 << 16;

impl Lower<'_> {
    /// The table of a constant whose type is an array.
    pub(super) fn table(&mut self, item: &syn::ItemConst) -> Operand {
        let Some((scalar, extents)) = self.table_type(&item.ty) else { return Operand::Poison };
        let term = self.terms.known(scalar);
        let list = match self.operand(&item.expr, Some(Ty::scalar(term))) {
            Operand::List(list) => list,
            Operand::Array(local, prefix) if self.kernel.locals[local].table.is_some() => {
                return Operand::Array(local, prefix);
            }
            Operand::Poison => return Operand::Poison,
            Operand::Value(_) | Operand::Array(..) | Operand::Tuple(_) => return self.mismatch(&item.expr),
        };
        if list.iter().any(is_poisoned) {
            return Operand::Poison;
        }
        let (mut found, mut values) = (Vec::new(), Vec::new());
        if flatten(&list, 0, &mut found, &mut values).is_none() || found != extents {
            return self.mismatch(&item.expr);
        }
        for value in &values {
            let ty = self.ty(*value);
            if ty.vector.is_some() || !self.terms.unify(ty.term, term) {
                return self.mismatch(&item.expr);
            }
        }
        let span = self.span(&item.ident);
        let local = self.local(&item.ident.to_string(), Ty::scalar(term), extents, span);
        self.kernel.locals[local].table = Some(values);
        self.limit_tables(span);
        Operand::Array(local, Vec::new())
    }

    /// Refuses tables that are too large together; the last one stands here.
    pub(super) fn limit_tables(&mut self, span: SpanId) {
        let bytes: u64 = self
            .kernel
            .locals
            .iter()
            .filter_map(|(handle, local)| {
                let scalar = self.terms.resolve(self.local_types[handle.index()]).scalar();
                Some(local.table.as_ref()?.len() as u64 * u64::from(scalar.bytes()))
            })
            .sum();
        if bytes > MOST_TABLE_BYTES {
            self.diagnostics.report(
                Diagnostic::new(
                    Code::Unsupported,
                    span,
                    "the constant tables of a kernel have at most 65,536 bytes",
                )
                .note(format!("with this one they have {bytes}"))
                .help("take the table as a tensor: `table: &Tensor<f32, 1>`"),
            );
        }
    }

    fn table_type(&mut self, ty: &Type) -> Option<(Scalar, Vec<u32>)> {
        let (mut inner, mut extents) = (self.resolved(ty), Vec::new());
        while let Type::Array(array) = &inner {
            let extent = self.type_constant(&array.len, "the length of an array")?;
            extents.push(u32::try_from(extent).ok()?);
            inner = self.resolved(&array.elem);
        }
        let scalar = self.scalar_type(&inner);
        if scalar.is_none() {
            self.unsupported(
                ty,
                "a constant of a kernel is a number, bool, or an array of them",
                "write `const N: usize = 32;` or `const WEIGHTS: [[f32; 5]; 5] = …;`",
            );
        }
        Some((scalar?, extents))
    }

    /// The element of a table at a literal index.
    pub(super) fn table_element(
        &self,
        local: Handle<ir::Local>,
        index: &[Handle<ir::Expr>],
    ) -> Option<Handle<ir::Expr>> {
        let array = &self.kernel.locals[local];
        let mut place = 0usize;
        for (index, extent) in index.iter().zip(&array.extents) {
            let ExprKind::Int(index) = self.kernel.exprs[*index].kind else { return None };
            let index = usize::try_from(index).ok().filter(|index| *index < *extent as usize)?;
            place = place * *extent as usize + index;
        }
        array.table.as_ref()?.get(place).copied()
    }

    /// Computes the elements of the tables, whose types are known now.
    pub(super) fn evaluate_tables(&mut self) {
        let mut unknown: Vec<SpanId> = Vec::new();
        for local in self.kernel.locals.handles() {
            for value in self.kernel.locals[local].table.clone().unwrap_or_default() {
                match literal(&self.kernel, value) {
                    Some(kind) => self.kernel.exprs[value].kind = kind,
                    None => unknown.push(self.kernel.exprs[value].span),
                }
            }
        }
        for span in unknown {
            self.diagnostics.report(
                Diagnostic::new(
                    Code::Constant,
                    span,
                    "an element of a constant table must be known at compile time",
                )
                .help("compute it from literals and constants"),
            );
        }
    }
}

/// Whether an error has been reported about a part.
fn is_poisoned(operand: &Operand) -> bool {
    match operand {
        Operand::Poison => true,
        Operand::List(parts) | Operand::Tuple(parts) => parts.iter().any(is_poisoned),
        Operand::Value(_) | Operand::Array(..) => false,
    }
}

/// The value of an expression of constants, as a literal of its type.
fn literal(kernel: &ir::Kernel, value: Handle<ir::Expr>) -> Option<ExprKind> {
    let bits = constant(kernel, value)?;
    let scalar = kernel.exprs[value].ty.scalar();
    Some(match scalar {
        Scalar::Bool => ExprKind::Bool(bits != 0),
        Scalar::F16 | Scalar::Bf16 => ExprKind::Float(f64::from(Half::of(scalar)?.value(bits as u16))),
        Scalar::F32 => ExprKind::Float(f64::from(f32::from_bits(bits as u32))),
        Scalar::F64 => ExprKind::Float(f64::from_bits(bits)),
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 | Scalar::Isize => {
            ExprKind::Int(i128::from(bits as i64))
        }
        Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 | Scalar::Usize => {
            ExprKind::Int(i128::from(bits))
        }
    })
}
