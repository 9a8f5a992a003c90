//! Indexing: access sites, register arrays, lanes of a vector.

use super::responsibility::Responsibility;
use super::{Lower, Operand, Ty};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{self, Base, ExprKind, Handle, Issuer, ParamKind, Part, Place, Proxy, Role, Site, Stmt};
use quote::ToTokens;
use syn::{Expr, ExprIndex};

/// What an index expression denotes.
pub(super) enum Target {
    /// Elements of a tile or tensor.
    Memory(Place),
    /// A register array, or a part of it.
    Array(Handle<ir::Local>, Vec<Handle<ir::Expr>>),
    /// One value of a vector in a variable.
    Lane { local: Handle<ir::Local>, index: Vec<Handle<ir::Expr>>, lane: Handle<ir::Expr> },
    /// A part of a value that is not stored.
    Value(Operand),
}

impl Lower<'_> {
    /// Lowers an index expression that is read.
    pub(super) fn index(&mut self, expr: &ExprIndex) -> Operand {
        match self.target(expr) {
            Some(Target::Memory(place)) => {
                let ty = Ty::scalar(self.terms.known(self.kernel.element(place.base)));
                Operand::Value(self.load(place, ty, expr))
            }
            Some(Target::Array(local, index)) => self.array_part(local, index, expr),
            Some(Target::Lane { local, index, lane }) => {
                let span = self.span(expr);
                let ty = self.local_types[local.index()];
                let kind =
                    if index.is_empty() { ExprKind::Local(local) } else { ExprKind::Element(local, index) };
                let vector = self.expr(kind, ty, span);
                Operand::Value(self.expr(ExprKind::Lane(vector, lane), Ty::scalar(ty.term), span))
            }
            Some(Target::Value(operand)) => operand,
            None => Operand::Poison,
        }
    }

    fn array_part(
        &mut self,
        local: Handle<ir::Local>,
        index: Vec<Handle<ir::Expr>>,
        expr: &ExprIndex,
    ) -> Operand {
        if index.len() < self.kernel.locals[local].extents.len() {
            return Operand::Array(local, index);
        }
        if let Some(element) = self.table_element(local, &index) {
            return Operand::Value(element);
        }
        let (ty, span) = (self.local_types[local.index()], self.span(expr));
        Operand::Value(self.expr(ExprKind::Element(local, index), ty, span))
    }

    /// Resolves `base[i][j]` or `tensor[[i, j]]`.
    pub(super) fn target(&mut self, expr: &ExprIndex) -> Option<Target> {
        let mut indices = vec![&*expr.index];
        let mut root = &*expr.expr;
        while let Expr::Index(inner) = root {
            indices.push(&inner.index);
            root = &inner.expr;
        }
        indices.reverse();
        if let Some(base) = self.memory(root) {
            return self.memory_target(base, &indices, expr).map(Target::Memory);
        }
        let operand = self.operand(root, None);
        self.value_target(operand, &indices, expr)
    }

    fn memory_target(&mut self, base: Base, indices: &[&Expr], at: &ExprIndex) -> Option<Place> {
        let rank = self.kernel.rank(base);
        let indices: Vec<&Expr> = match (base, indices) {
            (Base::Tile(_), indices) => indices.to_vec(),
            (Base::Tensor(_), [Expr::Array(array)]) => array.elems.iter().collect(),
            (Base::Tensor(_), _) => Vec::new(),
        };
        if indices.len() != rank {
            let name = self.kernel.base_name(base).to_string();
            let form = match base {
                Base::Tile(_) => format!("`{name}{}`", "[i]".repeat(rank)),
                Base::Tensor(_) => {
                    format!("`{name}[[{}]]`", ["i", "j", "k", "l", "m"].get(..rank).unwrap_or(&[]).join(", "))
                }
            };
            self.defer(
                Code::Type,
                at,
                format!("`{name}` has {rank} extents, and this access does not give one index for each"),
                &format!("write {form}"),
            );
            return None;
        }
        Some(Place { base, index: self.index_values(indices)?, width: 1, part: Part::Exact })
    }

    fn value_target(&mut self, mut operand: Operand, indices: &[&Expr], at: &ExprIndex) -> Option<Target> {
        let mut indices = indices.iter();
        while let Some(index) = indices.next() {
            operand = match operand {
                Operand::Array(local, mut prefix)
                    if prefix.len() < self.kernel.locals[local].extents.len() =>
                {
                    prefix.push(self.index_value(index)?);
                    Operand::Array(local, prefix)
                }
                Operand::Array(local, prefix) => {
                    return self.lane_target(local, prefix, index, indices.len(), at);
                }
                Operand::Value(value) => {
                    let ty = self.ty(value);
                    if ty.vector.is_none() || indices.len() > 0 {
                        self.mismatch(at);
                        return None;
                    }
                    match self.kernel.exprs[value].kind.clone() {
                        ExprKind::Local(local) => return self.lane_target(local, Vec::new(), index, 0, at),
                        ExprKind::Element(local, place) => {
                            return self.lane_target(local, place, index, 0, at);
                        }
                        _ => {}
                    }
                    let lane = self.index_value(index)?;
                    let span = self.span(at);
                    Operand::Value(self.expr(ExprKind::Lane(value, lane), Ty::scalar(ty.term), span))
                }
                Operand::List(list) => {
                    let index =
                        usize::try_from(self.constant(index, "an index of an array that is no variable")?)
                            .ok();
                    match index.and_then(|index| list.get(index)) {
                        Some(part) => part.clone(),
                        None => {
                            self.mismatch(at);
                            return None;
                        }
                    }
                }
                Operand::Tuple(_) => {
                    self.mismatch(at);
                    return None;
                }
                Operand::Poison => return None,
            };
        }
        Some(match operand {
            Operand::Array(local, index) => Target::Array(local, index),
            other => Target::Value(other),
        })
    }

    fn lane_target(
        &mut self,
        local: Handle<ir::Local>,
        index: Vec<Handle<ir::Expr>>,
        lane: &Expr,
        left: usize,
        at: &ExprIndex,
    ) -> Option<Target> {
        if left > 0 || self.local_types[local.index()].vector.is_none() {
            self.mismatch(at);
            return None;
        }
        let lane = self.index_value(lane)?;
        Some(Target::Lane { local, index, lane })
    }

    /// The index of a vector access, `[row, col]`: one an extent.
    pub(super) fn vector_index(&mut self, base: Base, index: &Expr) -> Option<Vec<Handle<ir::Expr>>> {
        let Expr::Array(array) = index else {
            self.mismatch(index);
            return None;
        };
        let rank = self.kernel.rank(base);
        if array.elems.len() != rank {
            self.mismatch(index);
            return None;
        }
        self.index_values(&array.elems)
    }

    /// The place of a vector access.
    pub(super) fn vector_place(
        &mut self,
        at: &impl ToTokens,
        base: Base,
        index: Vec<Handle<ir::Expr>>,
        width: i128,
    ) -> Option<Place> {
        let element = self.kernel.element(base);
        let bytes = width.saturating_mul(i128::from(element.bytes()));
        if !(width >= 1 && [1, 2, 4, 8, 16].contains(&bytes) && [1, 2, 4, 8, 16].contains(&width)) {
            let span = self.span(at);
            let widest = 16 / element.bytes();
            self.diagnostics.report(
                Diagnostic::new(
                    Code::VectorWidth,
                    span,
                    format!(
                        "no instruction moves {width} elements of {} ({bytes} bytes) for one lane",
                        element.name()
                    ),
                )
                .note("a lane moves 1, 2, 4, 8 or 16 bytes")
                .help(format!("use a power of two up to `Vector<{}, {widest}>`", element.name())),
            );
            return None;
        }
        Some(Place { base, index, width: width as u32, part: Part::Exact })
    }

    /// A new access site. `None` for a write to a tensor that is only read.
    pub(super) fn site(&mut self, place: Place, role: Role, at: &impl ToTokens) -> Option<Handle<Site>> {
        if let (Role::Write | Role::Update, Base::Tensor(param)) = (role, place.base)
            && matches!(self.kernel.params[param].kind, ParamKind::Tensor { mutable: false, .. })
        {
            self.read_only(param, at);
            return None;
        }
        Some(self.access(place, role, at))
    }

    /// A tensor is written that the kernel takes to read.
    pub(super) fn read_only(&mut self, tensor: Handle<ir::Param>, at: &impl ToTokens) -> Operand {
        let name = self.kernel.params[tensor].name.clone();
        self.defer(Code::Type, at, format!("`{name}` is taken by `&` and written"), "take it by `&mut`")
    }

    /// A new access site, under what the statement takes responsibility for.
    pub(super) fn access(&mut self, place: Place, role: Role, at: &impl ToTokens) -> Handle<Site> {
        let span = self.span(at);
        let Responsibility { budget, trust } = self.responsibility;
        let (proxy, issuer) = (Proxy::Generic, Issuer::EveryLane);
        self.kernel.sites.add(Site {
            place,
            role,
            proxy,
            issuer,
            form: None,
            matrices: None,
            budget,
            trust,
            edge: false,
            span,
            also: Vec::new(),
        })
    }

    pub(super) fn store(&mut self, place: Place, value: Handle<ir::Expr>, at: &impl ToTokens) {
        if let Some(site) = self.site(place, Role::Write, at) {
            self.push(Stmt::Store { site, value });
        }
    }

    /// A load into a fresh variable, and the expression that reads that.
    pub(super) fn load(&mut self, place: Place, ty: Ty, at: &impl ToTokens) -> Handle<ir::Expr> {
        let span = self.span(at);
        let name = format!("{}_value", self.kernel.base_name(place.base));
        let site = self.access(place, Role::Read, at);
        let local = self.local(&name, ty, Vec::new(), span);
        self.push(Stmt::Load { local, site });
        self.expr(ExprKind::Local(local), ty, span)
    }
}
