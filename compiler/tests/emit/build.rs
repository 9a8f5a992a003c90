//! Kernels of the IR, built by hand.

use proc_macro2::{Ident, Span};
use tileproof_compiler::ir::{
    Arena, Axis, Base, BinaryOp, Block, Choice, CompareOp, Expr, ExprKind, Handle, Issuer, Kernel, Layout,
    Local, Loop, Param, ParamKind, Part, Place, Proxy, Scalar, Site, Stmt, Sync, Tile, Type, UnaryOp, Unroll,
};
use tileproof_compiler::span::{SpanId, SpanTable};
use tileproof_model::report::Role;

pub(crate) type E = Handle<Expr>;

/// A kernel that grows, and the spans that it refers to.
pub(crate) struct Build {
    pub(crate) kernel: Kernel,
    pub(crate) spans: SpanTable,
    span: SpanId,
}

impl Build {
    pub(crate) fn new(name: &str, block: [u32; 3]) -> Build {
        let mut spans = SpanTable::default();
        let span = spans.add(&Ident::new("kernel", Span::call_site()));
        let mut exprs = Arena::default();
        let one = exprs.add(Expr { kind: ExprKind::Int(1), ty: Type::Scalar(Scalar::Usize), span });
        let kernel = Kernel {
            name: name.into(),
            params: Arena::default(),
            block,
            grid: [one; 3],
            requires: vec![],
            covers: vec![],
            tiles: Arena::default(),
            locals: Arena::default(),
            exprs,
            min_blocks: None,
            architectures: Vec::new(),
            sites: Arena::default(),
            loops: Arena::default(),
            budgets: Arena::default(),
            trusts: Arena::default(),
            trust: None,
            trusted: Vec::new(),
            body: vec![],
            span,
        };
        Build { kernel, spans, span }
    }

    /// Nodes made from here on come from a source with this name.
    pub(crate) fn at(&mut self, name: &str) {
        self.span = self.spans.add(&Ident::new(name, Span::call_site()));
    }

    pub(crate) fn tensor(&mut self, name: &str, element: Scalar, rank: u32, mutable: bool) -> Handle<Param> {
        let kind = ParamKind::Tensor { element, rank, mutable };
        self.kernel.params.add(Param { name: name.into(), kind, span: self.span })
    }

    pub(crate) fn argument(&mut self, name: &str, scalar: Scalar) -> E {
        let kind = ParamKind::Scalar(scalar);
        let param = self.kernel.params.add(Param { name: name.into(), kind, span: self.span });
        self.scalar(ExprKind::Param(param), scalar)
    }

    pub(crate) fn tile(
        &mut self,
        name: &str,
        element: Scalar,
        extents: &[u32],
        layout: Layout,
    ) -> Handle<Tile> {
        let (name, extents) = (name.into(), extents.to_vec());
        assert_eq!(layout.defect(&extents), None);
        self.kernel.tiles.add(Tile {
            name,
            element,
            extents,
            layout,
            choice: Choice::Written,
            alignment: 16,
            span: self.span,
        })
    }

    pub(crate) fn variable(&mut self, name: &str, ty: Type, extents: &[u32]) -> Handle<Local> {
        let (name, extents) = (name.into(), extents.to_vec());
        self.kernel.locals.add(Local { name, ty, extents, table: None, span: self.span })
    }

    pub(crate) fn expr(&mut self, kind: ExprKind, ty: Type) -> E {
        self.kernel.exprs.add(Expr { kind, ty, span: self.span })
    }

    pub(crate) fn scalar(&mut self, kind: ExprKind, scalar: Scalar) -> E {
        self.expr(kind, Type::Scalar(scalar))
    }

    pub(crate) fn int(&mut self, scalar: Scalar, value: i128) -> E {
        self.scalar(ExprKind::Int(value), scalar)
    }

    /// An index constant.
    pub(crate) fn n(&mut self, value: i128) -> E {
        self.int(Scalar::Usize, value)
    }

    pub(crate) fn thread(&mut self, axis: Axis) -> E {
        self.scalar(ExprKind::Thread(axis), Scalar::Usize)
    }

    pub(crate) fn block(&mut self, axis: Axis) -> E {
        self.scalar(ExprKind::Block(axis), Scalar::Usize)
    }

    pub(crate) fn extent(&mut self, tensor: Handle<Param>, d: u32) -> E {
        self.scalar(ExprKind::Extent(tensor, d), Scalar::Usize)
    }

    pub(crate) fn local(&mut self, local: Handle<Local>) -> E {
        let ty = self.kernel.locals[local].ty;
        self.expr(ExprKind::Local(local), ty)
    }

    pub(crate) fn element(&mut self, local: Handle<Local>, index: &[E]) -> E {
        let ty = self.kernel.locals[local].ty;
        self.expr(ExprKind::Element(local, index.to_vec()), ty)
    }

    pub(crate) fn lane(&mut self, vector: E, lane: E) -> E {
        let scalar = self.kernel.exprs[vector].ty.scalar();
        self.scalar(ExprKind::Lane(vector, lane), scalar)
    }

    pub(crate) fn vector(&mut self, values: &[E]) -> E {
        let scalar = self.kernel.exprs[values[0]].ty.scalar();
        self.expr(ExprKind::Vector(values.to_vec()), Type::Vector(scalar, values.len() as u32))
    }

    pub(crate) fn unary(&mut self, op: UnaryOp, a: E) -> E {
        let ty = self.kernel.exprs[a].ty;
        self.expr(ExprKind::Unary(op, a), ty)
    }

    pub(crate) fn binary(&mut self, op: BinaryOp, a: E, b: E) -> E {
        let ty = self.kernel.exprs[a].ty;
        self.expr(ExprKind::Binary(op, a, b), ty)
    }

    pub(crate) fn add(&mut self, a: E, b: E) -> E {
        self.binary(BinaryOp::Add, a, b)
    }

    pub(crate) fn mul(&mut self, a: E, b: E) -> E {
        self.binary(BinaryOp::Mul, a, b)
    }

    pub(crate) fn and(&mut self, a: E, b: E) -> E {
        self.binary(BinaryOp::And, a, b)
    }

    pub(crate) fn compare(&mut self, op: CompareOp, a: E, b: E) -> E {
        self.scalar(ExprKind::Compare(op, a, b), Scalar::Bool)
    }

    pub(crate) fn less(&mut self, a: E, b: E) -> E {
        self.compare(CompareOp::Less, a, b)
    }

    pub(crate) fn cast(&mut self, a: E, to: Scalar) -> E {
        self.scalar(ExprKind::Cast(a), to)
    }

    /// `let name = value;`
    pub(crate) fn bind(&mut self, body: &mut Block, name: &str, value: E) -> E {
        let ty = self.kernel.exprs[value].ty;
        let local = self.variable(name, ty, &[]);
        body.push(Stmt::Assign { local, value });
        self.local(local)
    }

    fn site(&mut self, base: Base, index: &[E], width: u32, role: Role) -> Handle<Site> {
        let place = Place { base, index: index.to_vec(), width, part: Part::Exact };
        let (proxy, issuer) = (Proxy::Generic, Issuer::EveryLane);
        self.kernel.sites.add(Site {
            place,
            role,
            proxy,
            issuer,
            form: None,
            matrices: None,
            budget: None,
            trust: None,
            edge: false,
            span: self.span,
            also: Vec::new(),
        })
    }

    /// Loads into a fresh variable.
    pub(crate) fn load(&mut self, body: &mut Block, name: &str, base: Base, index: &[E], width: u32) -> E {
        let element = self.kernel.element(base);
        let ty = if width == 1 { Type::Scalar(element) } else { Type::Vector(element, width) };
        let local = self.variable(name, ty, &[]);
        let site = self.site(base, index, width, Role::Read);
        body.push(Stmt::Load { local, site });
        self.local(local)
    }

    pub(crate) fn store(&mut self, body: &mut Block, base: Base, index: &[E], value: E) {
        let width = self.kernel.exprs[value].ty.width();
        let site = self.site(base, index, width, Role::Write);
        body.push(Stmt::Store { site, value });
    }

    pub(crate) fn barrier(&mut self, body: &mut Block) {
        body.push(Stmt::Sync(Sync::THREADS, self.span));
    }

    /// `for name in (start..end).step_by(step) { inside }`
    pub(crate) fn repeat(
        &mut self,
        body: &mut Block,
        name: &str,
        [start, end, step]: [E; 3],
        inside: impl FnOnce(&mut Build, &mut Block, E),
    ) {
        let ty = self.kernel.exprs[start].ty;
        let variable = self.variable(name, ty, &[]);
        let span = self.span;
        let counter = self.local(variable);
        let mut block = vec![];
        inside(self, &mut block, counter);
        body.push(Stmt::For(self.kernel.loops.add(Loop {
            variable,
            start,
            end,
            step,
            body: block,
            unroll: Unroll::Auto,
            span,
        })));
    }

    /// `for name in 0..end { inside }`
    pub(crate) fn count(
        &mut self,
        body: &mut Block,
        name: &str,
        end: i128,
        inside: impl FnOnce(&mut Build, &mut Block, E),
    ) {
        let bounds = [self.n(0), self.n(end), self.n(1)];
        self.repeat(body, name, bounds, inside);
    }

    pub(crate) fn when(
        &mut self,
        body: &mut Block,
        condition: E,
        inside: impl FnOnce(&mut Build, &mut Block),
    ) {
        let mut then = vec![];
        inside(self, &mut then);
        body.push(Stmt::If { condition, then, otherwise: vec![] });
    }
}
