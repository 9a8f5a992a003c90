//! Whole-tile operations: `tile.load::<4>(&input, [row, col])` and its like.
//!
//! The block moves a *window* of a tensor: the tile's last one or two extents, in the tensor's order of rows, which for
//! a transposed operation is the tile's with its extents swapped. Each row of the window is cut into vectors; the
//! threads of the block, in order of their linear index, take the vectors in row-major order, each thread every so many
//! as the block has threads. So consecutive lanes run along a row of the tensor.
//!
//! One condition, the same for the whole block where the origin is, asks whether the window lies inside the tensor. If
//! it does, vectors are moved without a guard. Otherwise elements are moved one by one, each if it is inside; a load
//! puts zero where there is none. An asynchronous load starts copies instead, which put in the zeros themselves; elements
//! that are too small for one are loaded and stored at the edge. Both paths are ordinary loops, guards and access sites. Those of the second
//! are at the tensor's [edge](crate::ir::Site::edge).

use super::copy::LEAST_COPY_BYTES;
use super::{Lower, Operand, Ty};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{
    self, Base, BinaryOp, CompareOp, ExprKind, Handle, Loop, Param, Part, Place, Proxy, Scalar, Stmt, Tile,
};
use crate::span::SpanId;
use syn::{Expr, ExprMethodCall};

/// A method that moves a whole tile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TileMethod {
    /// Whether it writes the tile, as a load does, or reads it, as a store does.
    fills: bool,
    transposed: bool,
    /// Who moves the data of a load.
    proxy: Proxy,
}

impl TileMethod {
    /// The method with this name.
    pub(crate) fn named(name: &str) -> Option<TileMethod> {
        let (fills, transposed, proxy) = match name {
            "load" => (true, false, Proxy::Generic),
            "load_async" => (true, false, Proxy::Async),
            "load_transposed" => (true, true, Proxy::Generic),
            "store" => (false, false, Proxy::Generic),
            "store_transposed" => (false, true, Proxy::Generic),
            _ => return None,
        };
        Some(TileMethod { fills, transposed, proxy })
    }
}

/// What one operation moves.
struct Window<'a> {
    call: &'a ExprMethodCall,
    span: SpanId,
    method: TileMethod,
    tile: Handle<Tile>,
    /// The leading indices of the tile.
    stage: Vec<Handle<ir::Expr>>,
    tensor: Handle<Param>,
    /// One index a dimension of the tensor.
    origin: Vec<Handle<ir::Expr>>,
    /// Rows of the window, in the tensor's order; 1 for a tile of one extent.
    rows: u32,
    /// Elements of a row.
    row: u32,
    /// How many dimensions of the tensor the window has: 1 or 2.
    dimensions: usize,
    element: Ty,
}

impl Lower<'_> {
    /// The tile in `tile` or `tile[stage]`, with the leading indices.
    pub(super) fn tile_part<'e>(&self, receiver: &'e Expr) -> Option<(Handle<Tile>, Vec<&'e Expr>)> {
        let mut indices = Vec::new();
        let mut root = receiver;
        loop {
            root = match root {
                Expr::Index(index) => {
                    indices.push(&*index.index);
                    &index.expr
                }
                Expr::Paren(inner) => &inner.expr,
                Expr::Group(inner) => &inner.expr,
                _ => break,
            };
        }
        indices.reverse();
        match self.memory(root)? {
            Base::Tile(tile) => Some((tile, indices)),
            Base::Tensor(_) => None,
        }
    }

    /// Lowers a whole-tile operation.
    pub(super) fn tile_operation(
        &mut self,
        call: &ExprMethodCall,
        method: TileMethod,
        tile: Handle<Tile>,
        stage: &[&Expr],
    ) -> Operand {
        let [tensor, origin] = call.args.iter().collect::<Vec<_>>()[..] else { return self.mismatch(call) };
        let Some(width) = self.operation_width(call) else { return Operand::Poison };
        let Some((tensor, rank)) = self.whole_tensor(tensor) else { return self.mismatch(tensor) };
        let Expr::Array(origin) = origin else { return self.mismatch(origin) };
        let extents = self.kernel.tiles[tile].extents.clone();
        let dimensions = extents.len().saturating_sub(stage.len());
        if origin.elems.len() != rank {
            return self.mismatch(origin);
        }
        if !self.operation_fits(call, method, dimensions, rank, tile) {
            return Operand::Poison;
        }
        if let (false, ir::ParamKind::Tensor { mutable: false, .. }) =
            (method.fills, self.kernel.params[tensor].kind)
        {
            return self.read_only(tensor, call);
        }
        let Some(mut index) = self.index_values(stage.iter().copied().chain(&origin.elems)) else {
            return Operand::Poison;
        };
        let term = self.terms.known(self.kernel.element(Base::Tensor(tensor)));
        if self.kernel.element(Base::Tensor(tensor)) != self.kernel.tiles[tile].element {
            return self.mismatch(call);
        }
        let span = self.span(call);
        let origin = index.split_off(stage.len());
        let origin = origin
            .into_iter()
            .map(|value| self.named("origin", value, self.kernel.exprs[value].span))
            .collect();
        let stage = index
            .into_iter()
            .map(|value| self.named("stage", value, self.kernel.exprs[value].span))
            .collect();
        let mut shape = extents[extents.len() - dimensions..].to_vec();
        if method.transposed {
            shape.reverse();
        }
        let (rows, row) = match shape.as_slice() {
            [rows, row] => (*rows, *row),
            [row] => (1, *row),
            _ => return Operand::Poison,
        };
        let window = Window {
            call,
            span,
            method,
            tile,
            stage,
            tensor,
            origin,
            rows,
            row,
            dimensions,
            element: Ty::scalar(term),
        };
        self.window(&window, width);
        Operand::Tuple(Vec::new())
    }

    /// The `V` of `load::<V>`, 1 where it is left out.
    fn operation_width(&mut self, call: &ExprMethodCall) -> Option<i128> {
        match call.turbofish.as_ref().and_then(|arguments| arguments.args.first()) {
            Some(argument) => self.generic_constant(argument, "the width of a vector"),
            None => Some(1),
        }
    }

    /// The tensor in `&input` or `&mut output`, with its rank.
    fn whole_tensor(&self, argument: &Expr) -> Option<(Handle<Param>, usize)> {
        let inner = match argument {
            Expr::Reference(reference) => &*reference.expr,
            other => other,
        };
        match self.memory(inner)? {
            base @ Base::Tensor(param) => Some((param, self.kernel.rank(base))),
            Base::Tile(_) => None,
        }
    }

    fn operation_fits(
        &mut self,
        call: &ExprMethodCall,
        method: TileMethod,
        dimensions: usize,
        rank: usize,
        tile: Handle<Tile>,
    ) -> bool {
        let (name, operation) = (self.kernel.tiles[tile].name.clone(), call.method.to_string());
        let (problem, instead) = match dimensions {
            1 if method.transposed => (
                format!("`{operation}` turns rows into columns, and this part of `{name}` is one row"),
                "use the operation without `_transposed`".to_string(),
            ),
            1 | 2 if rank < dimensions => (
                format!("`{operation}` moves {dimensions} extents of `{name}`, and the tensor has {rank}"),
                format!("name a row of it: `{name}[i].{operation}(…)`"),
            ),
            1 | 2 => return true,
            0 => (
                format!("`{operation}` moves a whole tile, and this is one element of `{name}`"),
                "assign the element".into(),
            ),
            more => (
                format!("`{operation}` moves one or two extents, and this part of `{name}` has {more}"),
                format!("name a stage of it: `{name}{}.{operation}(…)`", "[stage]".repeat(more - 2)),
            ),
        };
        self.unsupported(call, &problem, &instead);
        false
    }

    fn window(&mut self, window: &Window<'_>, width: i128) {
        let place = self.window_place(window, 0, 0, width);
        let Some(Place { width, .. }) = place else { return };
        if !window.row.is_multiple_of(width) {
            let tile = &self.kernel.tiles[window.tile];
            let name = tile.name.clone();
            self.diagnostics.report(
                Diagnostic::new(
                    Code::VectorWidth,
                    window.span,
                    format!("{} elements are no whole number of vectors of {width}", window.row),
                )
                .note(match window.method.transposed {
                    true => {
                        format!("vectors lie along the rows of the tensor, which are the columns of `{name}`")
                    }
                    false => format!("vectors lie along the rows of `{name}`"),
                })
                .help("use a width that divides it"),
            );
            return;
        }
        match window.method.proxy {
            Proxy::Generic => {}
            Proxy::Async => {
                let element = self.kernel.tiles[window.tile].element.bytes();
                if !self.is_copied(window.call, width * element, element, "`load`") {
                    return;
                }
            }
        }
        let condition = self.window_inside(window, |lower, origin, extent| {
            let last = lower.plus(origin, i128::from(extent));
            (last, CompareOp::LessEqual)
        });
        let then = self.in_block(|lower| {
            lower.each_vector(window, width, |lower, row, column| {
                lower.move_vector(window, width, row, column);
            });
        });
        let outer = self.responsibility.budget.take();
        let first = self.kernel.sites.len();
        let otherwise = self.in_block(|lower| {
            lower.each_vector(window, 1, |lower, row, column| lower.move_element(window, row, column));
        });
        for site in self.kernel.sites.handles().skip(first) {
            self.kernel.sites[site].edge = true;
        }
        self.responsibility.budget = outer;
        self.push(Stmt::If { condition, then, otherwise });
    }

    /// The conjunction of a comparison with the tensor's extent, over the dimensions of the window.
    fn window_inside(
        &mut self,
        window: &Window<'_>,
        mut compared: impl FnMut(&mut Self, Handle<ir::Expr>, u32) -> (Handle<ir::Expr>, CompareOp),
    ) -> Handle<ir::Expr> {
        let shape = [window.rows, window.row];
        let mut conditions = Vec::new();
        let first = window.origin.len() - window.dimensions;
        for (place, extent) in shape.into_iter().skip(2 - window.dimensions).enumerate() {
            let dimension = first + place;
            let origin = window.origin[dimension];
            let span = self.kernel.exprs[origin].span;
            let (value, op) = compared(self, origin, extent);
            let extent = self.index_expr(ExprKind::Extent(window.tensor, dimension as u32), span);
            conditions.push(self.bool_expr(ExprKind::Compare(op, value, extent), span));
        }
        self.all_of(conditions, window.span)
    }

    /// Runs `body` for the row and the column of each vector of a window, which the threads share.
    fn each_vector(
        &mut self,
        window: &Window<'_>,
        width: u32,
        body: impl FnOnce(&mut Self, Handle<ir::Expr>, Handle<ir::Expr>),
    ) {
        let span = window.span;
        let threads = self.kernel.threads();
        let (vectors_of_row, vectors) = (window.row / width, window.rows * (window.row / width));
        let thread = self.linear_thread(span);
        let thread = self.named("thread", thread, span);
        let usize_ty = self.ty(thread);
        let variable = self.local("part", usize_ty, Vec::new(), span);
        let statements = self.in_block(|lower| {
            let part = lower.expr(ExprKind::Local(variable), usize_ty, span);
            let (row, vector) = if threads.is_multiple_of(vectors_of_row) {
                // All parts of a thread are in one column.
                let further = lower.times(part, threads / vectors_of_row, span);
                let first = lower.quotient(thread, vectors_of_row, span);
                (lower.sum(first, further, span), lower.remainder(thread, vectors_of_row, span))
            } else {
                let further = lower.times(part, threads, span);
                let number = lower.sum(thread, further, span);
                let number = lower.named("vector", number, span);
                match window.rows {
                    1 => (lower.index_literal(0, span), number),
                    _ => (
                        lower.quotient(number, vectors_of_row, span),
                        lower.remainder(number, vectors_of_row, span),
                    ),
                }
            };
            let guard = (!vectors.is_multiple_of(threads)).then(|| {
                // Whole rows follow each other, so those beyond the last one hold what is beyond the window.
                let (value, limit) = match threads.is_multiple_of(vectors_of_row) || window.rows > 1 {
                    true => (row, window.rows),
                    false => (vector, vectors_of_row),
                };
                let limit = lower.index_literal(i128::from(limit), span);
                lower.bool_expr(ExprKind::Compare(CompareOp::Less, value, limit), span)
            });
            let fill = |lower: &mut Self| {
                let row = lower.named("row", row, span);
                let column = lower.times(vector, width, span);
                let column = lower.named("column", column, span);
                body(lower, row, column);
            };
            match guard {
                Some(condition) => {
                    let then = lower.in_block(fill);
                    lower.push(Stmt::If { condition, then, otherwise: Vec::new() });
                }
                None => fill(lower),
            }
        });
        let [start, end, step] =
            [0, i128::from(vectors.div_ceil(threads)), 1].map(|value| self.index_literal(value, span));
        let handle = self.kernel.loops.add(Loop {
            variable,
            start,
            end,
            step,
            body: statements,
            unroll: ir::Unroll::Auto,
            span,
        });
        self.push(Stmt::For(handle));
    }

    /// Moves a vector that is inside the tensor.
    fn move_vector(
        &mut self,
        window: &Window<'_>,
        width: u32,
        row: Handle<ir::Expr>,
        column: Handle<ir::Expr>,
    ) {
        let call = window.call;
        let ty = match width {
            1 => window.element,
            _ => Ty { vector: Some(width), ..window.element },
        };
        let tensor = self.tensor_place(window, row, column, width);
        match window.method.proxy {
            Proxy::Generic => {}
            Proxy::Async => {
                let inside = self.bool_expr(ExprKind::Bool(true), window.span);
                let tile = self.tile_place(window, row, column, width);
                return self.copy(tensor, tile, inside, call);
            }
        }
        match (window.method.fills, window.method.transposed && width > 1) {
            (true, false) => {
                let value = self.load(tensor, ty, call);
                let tile = self.tile_place(window, row, column, width);
                self.store(tile, value, call);
            }
            (true, true) => {
                let vector = self.load(tensor, ty, call);
                for lane in 0..width {
                    let which = self.index_literal(i128::from(lane), window.span);
                    let value = self.expr(ExprKind::Lane(vector, which), window.element, window.span);
                    let column = self.plus(column, i128::from(lane));
                    let tile = self.tile_place(window, row, column, 1);
                    self.store(tile, value, call);
                }
            }
            (false, false) => {
                let tile = self.tile_place(window, row, column, width);
                let value = self.load(tile, ty, call);
                self.store(tensor, value, call);
            }
            (false, true) => {
                let values = (0..width)
                    .map(|lane| {
                        let column = self.plus(column, i128::from(lane));
                        let tile = self.tile_place(window, row, column, 1);
                        self.load(tile, window.element, call)
                    })
                    .collect();
                let vector = self.expr(ExprKind::Vector(values), ty, window.span);
                self.store(tensor, vector, call);
            }
        }
    }

    /// Moves an element if it is inside the tensor; a load puts zero where it is not.
    fn move_element(&mut self, window: &Window<'_>, row: Handle<ir::Expr>, column: Handle<ir::Expr>) {
        let (call, span, ty) = (window.call, window.span, window.element);
        let offsets = [row, column];
        let mut offsets = offsets[2 - window.dimensions..].iter();
        let condition = self.window_inside(window, |lower, origin, _| {
            let offset = offsets.next().copied();
            let span = lower.kernel.exprs[origin].span;
            let value = offset.map_or(origin, |offset| lower.sum(origin, offset, span));
            (value, CompareOp::Less)
        });
        let element = self.kernel.tiles[window.tile].element;
        match window.method.proxy {
            Proxy::Async if element.bytes() >= LEAST_COPY_BYTES => {
                let tensor = self.tensor_place(window, row, column, 1);
                let tile = self.tile_place(window, row, column, 1);
                return self.copy(tensor, tile, condition, call);
            }
            // Smaller elements are too small to be copied one by one.
            Proxy::Generic | Proxy::Async => {}
        }
        match window.method.fills {
            true => {
                let zero = match self.kernel.tiles[window.tile].element {
                    Scalar::Bool => ExprKind::Bool(false),
                    scalar if scalar.is_float() => ExprKind::Float(0.0),
                    _ => ExprKind::Int(0),
                };
                let zero = self.expr(zero, ty, span);
                let local = self.local("value", ty, Vec::new(), span);
                self.push(Stmt::Assign { local, value: zero });
                let then = self.in_block(|lower| {
                    let tensor = lower.tensor_place(window, row, column, 1);
                    let value = lower.load(tensor, ty, call);
                    lower.push(Stmt::Assign { local, value });
                });
                self.push(Stmt::If { condition, then, otherwise: Vec::new() });
                let tile = self.tile_place(window, row, column, 1);
                let value = self.expr(ExprKind::Local(local), ty, span);
                self.store(tile, value, call);
            }
            false => {
                let then = self.in_block(|lower| {
                    let tile = lower.tile_place(window, row, column, 1);
                    let value = lower.load(tile, ty, call);
                    let tensor = lower.tensor_place(window, row, column, 1);
                    lower.store(tensor, value, call);
                });
                self.push(Stmt::If { condition, then, otherwise: Vec::new() });
            }
        }
    }

    /// The elements of the tile that stand for a row and a column of the window.
    fn tile_place(
        &self,
        window: &Window<'_>,
        row: Handle<ir::Expr>,
        column: Handle<ir::Expr>,
        width: u32,
    ) -> Place {
        let mut index = window.stage.clone();
        match (window.dimensions, window.method.transposed) {
            (1, _) => index.push(column),
            (_, false) => index.extend([row, column]),
            (_, true) => index.extend([column, row]),
        }
        Place { base: Base::Tile(window.tile), index, width, part: Part::Exact }
    }

    fn tensor_place(
        &mut self,
        window: &Window<'_>,
        row: Handle<ir::Expr>,
        column: Handle<ir::Expr>,
        width: u32,
    ) -> Place {
        let mut index = window.origin.clone();
        let first = index.len() - window.dimensions;
        for (origin, offset) in index[first..].iter_mut().zip(&[row, column][2 - window.dimensions..]) {
            let span = self.kernel.exprs[*origin].span;
            *origin = self.sum(*origin, *offset, span);
        }
        Place { base: Base::Tensor(window.tensor), index, width, part: Part::Exact }
    }

    /// The place of the window's first vector, if an instruction moves so many elements.
    fn window_place(&mut self, window: &Window<'_>, row: i128, column: i128, width: i128) -> Option<Place> {
        let [row, column] = [row, column].map(|value| self.index_literal(value, window.span));
        let Place { base, index, .. } = self.tensor_place(window, row, column, 1);
        self.vector_place(window.call, base, index, width)
    }

    // ---- index arithmetic ----

    fn known_index(&self, value: Handle<ir::Expr>) -> Option<i128> {
        match self.kernel.exprs[value].kind {
            ExprKind::Int(value) => Some(value),
            _ => None,
        }
    }

    fn sum(&mut self, a: Handle<ir::Expr>, b: Handle<ir::Expr>, span: SpanId) -> Handle<ir::Expr> {
        match (self.known_index(a), self.known_index(b)) {
            (Some(0), _) => b,
            (_, Some(0)) => a,
            (Some(a), Some(b)) => self.index_literal(a + b, span),
            (Some(_) | None, Some(_) | None) => self.index_expr(ExprKind::Binary(BinaryOp::Add, a, b), span),
        }
    }

    fn plus(&mut self, a: Handle<ir::Expr>, b: i128) -> Handle<ir::Expr> {
        let span = self.kernel.exprs[a].span;
        let b = self.index_literal(b, span);
        self.sum(a, b, span)
    }

    fn times(&mut self, a: Handle<ir::Expr>, factor: u32, span: SpanId) -> Handle<ir::Expr> {
        self.with_constant(BinaryOp::Mul, a, factor, span)
    }

    fn quotient(&mut self, a: Handle<ir::Expr>, divisor: u32, span: SpanId) -> Handle<ir::Expr> {
        self.with_constant(BinaryOp::Div, a, divisor, span)
    }

    fn remainder(&mut self, a: Handle<ir::Expr>, divisor: u32, span: SpanId) -> Handle<ir::Expr> {
        match divisor {
            1 => self.index_literal(0, span),
            divisor => self.with_constant(BinaryOp::Rem, a, divisor, span),
        }
    }

    fn with_constant(&mut self, op: BinaryOp, a: Handle<ir::Expr>, b: u32, span: SpanId) -> Handle<ir::Expr> {
        if b == 1 {
            return a;
        }
        let b = self.index_literal(i128::from(b), span);
        self.index_expr(ExprKind::Binary(op, a, b), span)
    }
}
