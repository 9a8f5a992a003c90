//! Kernels built by hand.

mod copies;
mod counts;
mod faults;
mod print;
mod semantics;
mod transpose;
mod unaligned;

use super::{Argument, Buffer, TensorArgument};
use crate::ast::Scope;
use crate::diagnostic::Diagnostics;
use crate::ir::{
    Arena, Axis, Base, BinaryOp, Choice, CompareOp, Expr, ExprKind, Handle, Issuer, Kernel, Layout, Local,
    Loop, Param, ParamKind, Part, Place, Proxy, Scalar, Site, Stmt, Sync, Tile, Type,
};
use crate::span::{SpanId, SpanTable};
use tileproof_model::report::Role;

type E = Handle<Expr>;

/// Builds a kernel; all spans are those of statements and expressions in order of building.
struct Builder {
    kernel: Kernel,
    spans: SpanTable,
}

impl Builder {
    fn new(block: [u32; 3]) -> Builder {
        let mut spans = SpanTable::default();
        let span = spans.add(&quote::quote!(kernel));
        let mut exprs = Arena::default();
        let one = exprs.add(Expr { kind: ExprKind::Int(1), ty: Type::Scalar(Scalar::Usize), span });
        let kernel = Kernel {
            name: "kernel".into(),
            params: Arena::default(),
            block,
            grid: [one; 3],
            requires: Vec::new(),
            covers: Vec::new(),
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
            body: Vec::new(),
            span,
        };
        Builder { kernel, spans }
    }

    fn span(&mut self) -> SpanId {
        self.spans.add(&quote::quote!(x))
    }

    fn tensor(&mut self, name: &str, element: Scalar, rank: u32, mutable: bool) -> Handle<Param> {
        let span = self.span();
        self.kernel.params.add(Param {
            name: name.into(),
            kind: ParamKind::Tensor { element, rank, mutable },
            span,
        })
    }

    fn scalar(&mut self, name: &str, scalar: Scalar) -> E {
        let span = self.span();
        let param =
            self.kernel.params.add(Param { name: name.into(), kind: ParamKind::Scalar(scalar), span });
        self.expr(ExprKind::Param(param), scalar)
    }

    fn tile(&mut self, element: Scalar, extents: &[u32], layout: Layout) -> Handle<Tile> {
        assert_eq!(layout.defect(extents), None);
        let span = self.span();
        let extents = extents.to_vec();
        self.kernel.tiles.add(Tile {
            name: "tile".into(),
            element,
            extents,
            layout,
            choice: Choice::Written,
            alignment: 16,
            span,
        })
    }

    fn local(&mut self, name: &str, ty: Type, extents: &[u32]) -> Handle<Local> {
        let span = self.span();
        self.kernel.locals.add(Local { name: name.into(), ty, extents: extents.to_vec(), table: None, span })
    }

    fn typed(&mut self, kind: ExprKind, ty: Type) -> E {
        let span = self.span();
        self.kernel.exprs.add(Expr { kind, ty, span })
    }

    fn expr(&mut self, kind: ExprKind, scalar: Scalar) -> E {
        self.typed(kind, Type::Scalar(scalar))
    }

    fn int(&mut self, value: i128, scalar: Scalar) -> E {
        self.expr(ExprKind::Int(value), scalar)
    }

    fn index(&mut self, value: i128) -> E {
        self.int(value, Scalar::Usize)
    }

    fn thread(&mut self, axis: Axis) -> E {
        self.expr(ExprKind::Thread(axis), Scalar::Usize)
    }

    fn block(&mut self, axis: Axis) -> E {
        self.expr(ExprKind::Block(axis), Scalar::Usize)
    }

    fn extent(&mut self, param: Handle<Param>, dimension: u32) -> E {
        self.expr(ExprKind::Extent(param, dimension), Scalar::Usize)
    }

    fn get(&mut self, local: Handle<Local>) -> E {
        let ty = self.kernel.locals[local].ty;
        self.typed(ExprKind::Local(local), ty)
    }

    /// An operation of two values of the left one's type.
    fn binary(&mut self, op: BinaryOp, a: E, b: E) -> E {
        let ty = self.kernel.exprs[a].ty;
        self.typed(ExprKind::Binary(op, a, b), ty)
    }

    fn add(&mut self, a: E, b: E) -> E {
        self.binary(BinaryOp::Add, a, b)
    }

    /// `a * factor + b`, of indices.
    fn scaled(&mut self, a: E, factor: i128, b: E) -> E {
        let factor = self.index(factor);
        let product = self.binary(BinaryOp::Mul, a, factor);
        self.add(product, b)
    }

    fn compare(&mut self, op: CompareOp, a: E, b: E) -> E {
        self.expr(ExprKind::Compare(op, a, b), Scalar::Bool)
    }

    fn less(&mut self, a: E, b: E) -> E {
        self.compare(CompareOp::Less, a, b)
    }

    fn and(&mut self, a: E, b: E) -> E {
        self.binary(BinaryOp::And, a, b)
    }

    fn site(&mut self, base: Base, index: &[E], width: u32, role: Role) -> Handle<Site> {
        let span = self.span();
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
            span,
            also: Vec::new(),
        })
    }

    /// A load into a fresh variable, and the variable.
    fn load(&mut self, base: Base, index: &[E], width: u32) -> (Stmt, E) {
        let scalar = self.kernel.element(base);
        let ty = if width == 1 { Type::Scalar(scalar) } else { Type::Vector(scalar, width) };
        let local = self.local("loaded", ty, &[]);
        let site = self.site(base, index, width, Role::Read);
        (Stmt::Load { local, site }, self.get(local))
    }

    fn store(&mut self, base: Base, index: &[E], value: E) -> Stmt {
        let width = self.kernel.exprs[value].ty.width();
        Stmt::Store { site: self.site(base, index, width, Role::Write), value }
    }

    fn sync(&mut self) -> Stmt {
        Stmt::Sync(Sync::THREADS, self.span())
    }

    /// A loop whose body is built from its variable.
    fn repeat(&mut self, start: E, end: E, step: E, body: impl FnOnce(&mut Builder, E) -> Vec<Stmt>) -> Stmt {
        let ty = self.kernel.exprs[start].ty;
        let variable = self.local("k", ty, &[]);
        let value = self.get(variable);
        let body = body(self, value);
        let span = self.span();
        Stmt::For(self.kernel.loops.add(Loop {
            variable,
            start,
            end,
            step,
            body,
            unroll: crate::ir::Unroll::Auto,
            span,
        }))
    }

    fn build(mut self, body: Vec<Stmt>) -> Kernel {
        self.kernel.body = body;
        self.kernel
    }
}

fn when(condition: E, then: Vec<Stmt>) -> Stmt {
    Stmt::If { condition, then, otherwise: Vec::new() }
}

fn input<'a>(bytes: &'a [u8], extents: &[u64]) -> Argument<'a> {
    tensor(Buffer::Read(bytes), extents)
}

fn output<'a>(bytes: &'a mut [u8], extents: &[u64]) -> Argument<'a> {
    tensor(Buffer::Write(bytes), extents)
}

/// A dense tensor on an aligned base.
fn tensor<'a>(buffer: Buffer<'a>, extents: &[u64]) -> Argument<'a> {
    let mut strides: Vec<u64> = (1..extents.len()).map(|inner| extents[inner..].iter().product()).collect();
    for stride in &mut strides {
        *stride = (*stride).max(1);
    }
    Argument::Tensor(TensorArgument { buffer, extents: extents.to_vec(), strides, base: 0 })
}

fn f32_bytes(values: impl IntoIterator<Item = f32>) -> Vec<u8> {
    values.into_iter().flat_map(f32::to_le_bytes).collect()
}

fn f32_values(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|x| f32::from_le_bytes([x[0], x[1], x[2], x[3]])).collect()
}

/// A kernel as written, whatever the checks would say of it.
#[track_caller]
fn lowered(attribute: &str, item: &str) -> Kernel {
    let mut diagnostics = Diagnostics::default();
    let (attribute, item) = (attribute.parse().expect("tokens"), item.parse().expect("tokens"));
    let family = crate::ast::parse(attribute, item, &Scope::default(), &mut diagnostics).expect("a kernel");
    let kernel = crate::lower::lower(&family.kernels[0], &mut diagnostics);
    assert!(!diagnostics.is_failed(), "{:?}", diagnostics.errors());
    kernel
}
