//! Calls: the vocabulary of the prelude.

use super::function::Method;
use super::item::{Found, Item};
use super::tile::TileMethod;
use super::warp::{self, Place};
use super::{Binding, Lower, Operand, Ty, foreign};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{AtomicOp, Axis, Base, CollectiveOp, ExprKind, Handle, ParamKind, Scalar, Stmt, Sync};
use crate::ir::{Function as IrFunction, Relation};
use crate::library;
use quote::ToTokens;
use syn::{Expr, ExprCall, ExprMethodCall, GenericArgument, Path};

/// How far apart boundaries lie at most, in bytes: what device memory is aligned to.
const MOST_BOUNDARY_BYTES: u32 = 256;

/// The methods that a kernel knows, for the error that lists them.
const METHODS: &str = "`rows`, `cols`, `len`, `extent`, `stride`, `pitch`, `read`, `write`, `get_or`, `contains` and the `atomic_…` updates of tensors and tiles; `read_unaligned` and `misalignment` of tensors; `read_matrices`, `read_matrices_transposed`, `load`, `load_async`, `store`, `load_transposed`, `store_transposed` and `copy_async` of tiles";

/// A function of the prelude.
pub(crate) enum Function {
    /// A position of the thread, or the extent of the grid.
    Position(ExprKind),
    /// A position of the thread that follows from those in the block.
    Place(Place),
    /// `sync_threads()`, `sync_warp()`.
    Sync(Sync),
    /// `wait::<1>()`.
    Wait,
    /// Something that threads compute together.
    Collective(CollectiveOp),
    /// `mma(a, b, c)`: of which types, the operands tell.
    MatrixProduct,
    /// A function that is written in the kernel language.
    Library,
    /// A function of numbers.
    Number(IrFunction),
    /// `flatten([i, j], [rows, cols])`.
    Flatten,
    /// `unflatten(i, [rows, cols])`.
    Unflatten,
    /// `rasterize(i, [rows, cols], group)`.
    Rasterize,
}

impl Function {
    /// The function with this name.
    pub(crate) fn named(name: &str) -> Option<Function> {
        Some(match name {
            "thread_x" => Function::Position(ExprKind::Thread(Axis::X)),
            "thread_y" => Function::Position(ExprKind::Thread(Axis::Y)),
            "thread_z" => Function::Position(ExprKind::Thread(Axis::Z)),
            "block_x" => Function::Position(ExprKind::Block(Axis::X)),
            "block_y" => Function::Position(ExprKind::Block(Axis::Y)),
            "block_z" => Function::Position(ExprKind::Block(Axis::Z)),
            "grid_x" => Function::Position(ExprKind::Grid(Axis::X)),
            "grid_y" => Function::Position(ExprKind::Grid(Axis::Y)),
            "grid_z" => Function::Position(ExprKind::Grid(Axis::Z)),
            "lane" => Function::Place(Place::Lane),
            "warp" => Function::Place(Place::Warp),
            "warp_count" => Function::Place(Place::WarpCount),
            "sync_threads" => Function::Sync(Sync::THREADS),
            "sync_warp" => Function::Sync(Sync::WARP),
            "commit" => Function::Sync(Sync::COMMIT),
            "wait" => Function::Wait,
            "mma" => Function::MatrixProduct,
            "byte_perm" => Function::Number(IrFunction::BytePerm),
            "flatten" => Function::Flatten,
            "unflatten" => Function::Unflatten,
            "rasterize" => Function::Rasterize,
            _ if library::NAMES.contains(&name) => Function::Library,
            _ => {
                let op = CollectiveOp::NAMED.into_iter().find(|op| op.name() == name)?;
                Function::Collective(op)
            }
        })
    }
}

/// What a path names in the prelude, where it says so in full: of `tileproof::prelude::lane`, `lane`.
pub(crate) fn unqualified(path: &Path, crate_path: &Path) -> Option<Path> {
    let prelude = crate_path.segments.iter().map(|segment| segment.ident.to_string());
    let prelude: Vec<String> = prelude.chain(["prelude".to_string()]).collect();
    let starts = path.segments.len() > prelude.len()
        && path.segments.iter().zip(&prelude).all(|(segment, name)| segment.ident == name);
    let segments = path.segments.iter().skip(prelude.len()).cloned().collect();
    starts.then_some(Path { leading_colon: None, segments })
}

/// A lane moves 16 bytes at most, and no element is smaller than one.
const MOST_VECTOR_VALUES: u32 = 16;

/// Whether `To::from` converts: every value stays what it is.
fn is_lossless(from: Scalar, to: Scalar) -> bool {
    let digits = |float: Scalar| if float == Scalar::F32 { 24 } else { 53 };
    match (from.range(), to.range()) {
        (Some((low, high)), Some((least, most))) => {
            // Rust promises no more than 16 bits of `usize` and `isize`.
            let fits = least <= low && high <= most;
            from == to || fits && !from.is_index() && (!to.is_index() || from.bytes() <= 2)
        }
        (Some((_, high)), None) if to.is_half() => high < 256,
        (Some((_, high)), None) => !from.is_index() && to.is_float() && high < 1 << digits(to),
        (None, Some(_)) => from == Scalar::Bool,
        (None, None) => {
            from == to
                || from == Scalar::F32 && to == Scalar::F64
                || from.is_half() && matches!(to, Scalar::F32 | Scalar::F64)
        }
    }
}

impl Lower<'_> {
    /// `thread_x()`, `sync_threads()`, `Vector::splat(…)`.
    pub(super) fn call(&mut self, call: &ExprCall, expected: Option<Ty>) -> Operand {
        let Expr::Path(callee) = &*call.func else {
            return self.unsupported(
                call,
                "a kernel can only call functions by name",
                "write a function inside the kernel, `fn helper(x: f32) -> f32 { … }`, and call it by its name",
            );
        };
        if let Some(foreign) = foreign::of_path(&callee.path) {
            return self.foreign(call, foreign);
        }
        let of_prelude = unqualified(&callee.path, self.crate_path);
        let path = of_prelude.as_ref().unwrap_or(&callee.path);
        let names: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match names.as_slice() {
            [.., "Vector", constructor] => self.vector(call, &callee.path, constructor, expected),
            [.., "Shared", "new"] => self.unsupported(
                call,
                "a shared tile is declared by its own `let`",
                "write `let mut tile = Shared::<[[f32; 32]; 32], Pad<1>>::new();`",
            ),
            [name] if of_prelude.is_some() => self.function(call, name, expected),
            [name] => self.named_call(call, callee, name, expected),
            [number, name] if Scalar::from_name(number).is_some() => {
                let scalar = Scalar::from_name(number).unwrap_or(Scalar::I32);
                self.associated(call, scalar, name)
            }
            [..] => {
                let path = crate::tokens::print(callee.path.to_token_stream());
                self.unknown_function(call, &path)
            }
        }
    }

    /// The call of a name: what the kernel or its module declares under it, else a function of the prelude.
    fn named_call(
        &mut self,
        call: &ExprCall,
        callee: &syn::ExprPath,
        name: &str,
        expected: Option<Ty>,
    ) -> Operand {
        match self.find(name) {
            Some(Found::Item(Item::Function(_), _)) => self.helper_call(call, callee, name),
            Some(Found::Binding(Binding::Operand(Operand::Poison))) => Operand::Poison,
            Some(Found::Binding(_) | Found::Item(Item::Constant(_), _)) => {
                let hint = match Function::named(name) {
                    Some(_) => {
                        "give the variable or constant another name: this one hides the prelude's function"
                    }
                    None => "call a function",
                };
                self.defer(Code::Name, &call.func, format!("`{name}` is a value here, and no function"), hint)
            }
            None => self.function(call, name, expected),
        }
    }

    fn unknown_function(&mut self, call: &ExprCall, name: &str) -> Operand {
        self.defer(
            Code::Name,
            &call.func,
            format!("a kernel cannot call `{name}`, which the macro cannot see"),
            "write it as a helper function in the kernel, or beside it in a `#[tiled_module] mod`; a kernel also calls `thread_x()`, `block_x()`, `grid_x()` and their y and z, `lane()`, `warp()`, `sync_threads()`, `sync_warp()`, `commit()`, `wait::<0>()`, `mma`, shuffles, votes, reductions and scans, `flatten`, `unflatten` and `rasterize`",
        )
    }

    fn function(&mut self, call: &ExprCall, name: &str, expected: Option<Ty>) -> Operand {
        let Some(function) = Function::named(name) else { return self.unknown_function(call, name) };
        let span = self.span(call);
        if let Function::Number(function) = function {
            return self.function_of_numbers(call, function);
        }
        let arguments = match &function {
            Function::Library => return self.library_call(call, name),
            Function::Position(_)
            | Function::Place(_)
            | Function::Sync(_)
            | Function::Wait
            | Function::Number(_) => 0,
            Function::Collective(op) => warp::arguments(*op),
            Function::Flatten | Function::Unflatten => 2,
            Function::Rasterize | Function::MatrixProduct => 3,
        };
        if call.args.len() != arguments {
            return self.mismatch(call);
        }
        match function {
            Function::Number(_) => Operand::Poison,
            Function::Flatten => self.flatten(call),
            Function::Unflatten => self.unflatten(call),
            Function::Rasterize => self.rasterize(call),
            Function::Position(kind) => Operand::Value(self.index_expr(kind, span)),
            Function::Place(place) => Operand::Value(self.place(place, span)),
            Function::Sync(sync) => {
                self.push(Stmt::Sync(sync, span));
                Operand::Tuple(Vec::new())
            }
            Function::Wait => self.wait(call, span),
            Function::Collective(op) => self.collective(call, op, expected),
            Function::MatrixProduct => self.matrix_product(call),
            Function::Library => Operand::Poison,
        }
    }

    /// `wait::<1>()`: of the groups of asynchronous copies, the last so many may be under way behind it.
    fn wait(&mut self, call: &ExprCall, span: crate::span::SpanId) -> Operand {
        let argument = match &*call.func {
            Expr::Path(path) => path.path.segments.last().map(|segment| &segment.arguments),
            _ => None,
        };
        let Some(syn::PathArguments::AngleBracketed(arguments)) = argument else {
            return self.mismatch(call);
        };
        let Some(argument) = arguments.args.first() else { return self.mismatch(call) };
        match self.generic_constant(argument, "a number of groups").map(u32::try_from) {
            Some(Ok(pending)) => {
                self.push(Stmt::Sync(Sync::wait(pending), span));
                Operand::Tuple(Vec::new())
            }
            Some(Err(_)) => self.mismatch(call),
            None => Operand::Poison,
        }
    }

    /// `Vector::new([…])`, `Vector::from([…])`, `Vector::splat(x)`.
    fn vector(&mut self, call: &ExprCall, path: &Path, constructor: &str, expected: Option<Ty>) -> Operand {
        let span = self.span(call);
        let written = self.vector_arguments(path);
        let element = match (written, expected) {
            (Some((term, _)), _) => Some(Ty::scalar(term)),
            (None, Some(ty)) => Some(Ty::scalar(ty.term)),
            (None, None) => None,
        };
        let Some(argument) = call.args.first().filter(|_| call.args.len() == 1) else {
            return self.mismatch(call);
        };
        let argument = self.operand(argument, element);
        let values = match (constructor, argument) {
            ("new" | "from", argument @ (Operand::List(_) | Operand::Array(..))) => {
                self.elements(&argument, span)
            }
            ("splat", Operand::Value(value)) => {
                let width = written.map(|(_, width)| width).or(expected.and_then(|ty| ty.vector));
                let Some(width) = width else {
                    let span = self.span(call);
                    self.diagnostics.report(
                        Diagnostic::new(Code::Constant, span, "the width of this vector is not known here")
                            .help("write it: `Vector::<f32, 4>::splat(0.0)`"),
                    );
                    return Operand::Poison;
                };
                if width > MOST_VECTOR_VALUES {
                    self.diagnostics.report(
                        Diagnostic::new(
                            Code::VectorWidth,
                            span,
                            format!("no instruction moves {width} values for one lane"),
                        )
                        .note("a lane moves 1, 2, 4, 8 or 16 bytes"),
                    );
                    return Operand::Poison;
                }
                Some(vec![value; width as usize])
            }
            (_, Operand::Poison) => return Operand::Poison,
            _ => None,
        };
        let Some(values) = values else { return self.mismatch(call) };
        let Some(first) = values.first() else { return self.mismatch(call) };
        let term = self.ty(*first).term;
        for value in &values {
            let ty = self.ty(*value);
            if ty.vector.is_some() || !self.terms.unify(term, ty.term) {
                return self.mismatch(call);
            }
        }
        let ty = Ty { term, vector: Some(values.len() as u32) };
        if let Some((element, width)) = written
            && (width as usize != values.len() || !self.terms.unify(element, term))
        {
            return self.mismatch(call);
        }
        Operand::Value(self.expr(ExprKind::Vector(values), ty, span))
    }

    /// The element type and width in `Vector::<f32, 4>::…`.
    fn vector_arguments(&mut self, path: &Path) -> Option<(super::Term, u32)> {
        let segment = path.segments.iter().rev().nth(1)?;
        let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
        let mut arguments = arguments.args.iter();
        let GenericArgument::Type(element) = arguments.next()? else { return None };
        let element = self.scalar_type(element)?;
        let width = self.generic_constant(arguments.next()?, "the width of a vector")?;
        Some((self.terms.known(element), u32::try_from(width).ok()?))
    }

    /// The constant in `read::<4>`, where a name such as `V` parses as a type.
    pub(super) fn generic_constant(&mut self, argument: &GenericArgument, what: &str) -> Option<i128> {
        match argument {
            GenericArgument::Const(expr) => self.type_constant(expr, what),
            GenericArgument::Type(syn::Type::Path(path)) => {
                let expr =
                    Expr::Path(syn::ExprPath { attrs: Vec::new(), qself: None, path: path.path.clone() });
                self.type_constant(&expr, what)
            }
            _ => None,
        }
    }

    /// The values of an array of one dimension.
    fn elements(
        &mut self,
        array: &Operand,
        span: crate::span::SpanId,
    ) -> Option<Vec<Handle<crate::ir::Expr>>> {
        match array {
            Operand::List(list) => list.iter().cloned().map(Operand::value).collect(),
            Operand::Array(local, prefix) => {
                let rest = self.kernel.locals[*local].extents.get(prefix.len()..)?.to_vec();
                let [extent] = rest.as_slice() else { return None };
                let ty = self.local_types[local.index()];
                Some(
                    (0..*extent)
                        .map(|i| {
                            let i = self.index_literal(i128::from(i), span);
                            let index = prefix.iter().copied().chain([i]).collect();
                            self.expr(ExprKind::Element(*local, index), ty, span)
                        })
                        .collect(),
                )
            }
            Operand::Value(_) | Operand::Tuple(_) | Operand::Poison => None,
        }
    }

    /// `input.rows()`, `tile.read::<4>([r, c])`, `a.min(b)`.
    pub(super) fn method(&mut self, call: &ExprMethodCall, expected: Option<Ty>) -> Operand {
        if let Some(method) = TileMethod::named(&call.method.to_string())
            && let Some((tile, stage)) = self.tile_part(&call.receiver)
        {
            return self.tile_operation(call, method, tile, &stage);
        }
        if let Some(base) = self.memory(&call.receiver) {
            return self.memory_method(call, base, expected);
        }
        if let (Some(range), true) = (range_of(&call.receiver), call.method == "contains") {
            return self.range_contains(call, range);
        }
        let name = call.method.to_string();
        // A literal has the type that its result is used as, where the method keeps it.
        let keeps = IrFunction::named(&name).is_none_or(|function| function.row().result == Relation::Same);
        let expected = expected.filter(|_| keeps && !name.starts_with("is_"));
        let Some(receiver) = self.value(&call.receiver, expected) else { return Operand::Poison };
        if self.ty(receiver).vector.is_some() {
            return self.vector_method(call, receiver);
        }
        let method = Method { name: &name, span: self.span(call), at: call };
        let arguments: Vec<&Expr> = call.args.iter().collect();
        match self.number_method(method, receiver, &arguments) {
            Some(operand) => operand,
            None => self.defer(
                Code::Name,
                &call.method,
                format!("the method `{name}` is not part of the kernel language"),
                &format!("a kernel knows {METHODS}; of numbers, Rust's own arithmetic: `min`, `sqrt`, `count_ones`, …"),
            ),
        }
    }

    /// `f32::from_bits(bits)`, `f64::from(x)`, `u32::max(a, b)`.
    fn associated(&mut self, call: &ExprCall, scalar: Scalar, name: &str) -> Operand {
        let own = Ty::scalar(self.terms.known(scalar));
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let Some((first, rest)) = arguments.split_first() else { return self.mismatch(call) };
        let span = self.span(call);
        let method = Method { name, span, at: call };
        match (name, rest) {
            ("from", []) => {
                let Some(value) = self.value(first, None) else { return Operand::Poison };
                let from = self.ty(value);
                let is_lossless = from.vector.is_none()
                    && self.terms.get(from.term).is_some_and(|from| is_lossless(from, scalar));
                match is_lossless {
                    true if self.terms.get(from.term) == Some(scalar) => Operand::Value(value),
                    true => Operand::Value(self.expr(ExprKind::Cast(value), own, span)),
                    false => self.mismatch(call),
                }
            }
            ("from_f32" | "from_f64", []) if scalar.is_half() => {
                let from = if name == "from_f32" { Scalar::F32 } else { Scalar::F64 };
                let term = self.terms.known(from);
                match self.value_of(first, term) {
                    Some(value) => Operand::Value(self.expr(ExprKind::Cast(value), own, span)),
                    None => Operand::Poison,
                }
            }
            ("from_bits", []) => match self.value(first, None) {
                Some(bits) => self.float_of_bits(scalar, bits, method),
                None => Operand::Poison,
            },
            _ => {
                let Some(receiver) = self.value(first, Some(own)) else { return Operand::Poison };
                let ty = self.ty(receiver);
                if ty.vector.is_some() || !self.terms.unify(ty.term, own.term) {
                    return self.mismatch(call);
                }
                match self.number_method(method, receiver, rest) {
                    Some(operand) => operand,
                    None => self.defer(
                        Code::Name,
                        &call.func,
                        format!("`{}::{name}` is not part of the kernel language", scalar.name()),
                        "a kernel knows Rust's own arithmetic: `min`, `sqrt`, `count_ones`, …, and `from` and `from_bits`",
                    ),
                }
            }
        }
    }

    /// `byte_perm(a, b, selector)`.
    fn function_of_numbers(&mut self, call: &ExprCall, function: IrFunction) -> Operand {
        let arguments: Vec<&Expr> = call.args.iter().collect();
        let Some((first, rest)) = arguments.split_first() else { return self.mismatch(call) };
        let hint = self.terms.known(Scalar::U32);
        let Some(receiver) = self.value(first, Some(Ty::scalar(hint))) else { return Operand::Poison };
        let method = Method { name: function.name(), span: self.span(call), at: call };
        let ty = self.ty(receiver);
        if !self.terms.unify(ty.term, hint) {
            return self.mismatch(call);
        }
        match self.number_method(method, receiver, rest) {
            Some(operand) => operand,
            None => self.mismatch(call),
        }
    }

    /// The tile or tensor that an expression names.
    pub(super) fn memory(&self, expr: &Expr) -> Option<Base> {
        match expr {
            Expr::Paren(inner) => self.memory(&inner.expr),
            Expr::Group(inner) => self.memory(&inner.expr),
            Expr::Unary(syn::ExprUnary { op: syn::UnOp::Deref(_), expr, .. }) => self.memory(expr),
            Expr::Path(path) => match self.lookup(&path.path.get_ident()?.to_string())? {
                Binding::Memory(base) => Some(*base),
                Binding::Local(_) | Binding::Operand(_) => None,
            },
            _ => None,
        }
    }

    fn memory_method(&mut self, call: &ExprMethodCall, base: Base, expected: Option<Ty>) -> Operand {
        let name = call.method.to_string();
        match (name.as_str(), base) {
            ("read", _) => self.read_vector(call, base, expected),
            ("read_unaligned", Base::Tensor(tensor)) => self.read_unaligned(call, tensor, expected),
            ("read_matrices", Base::Tile(_)) => self.read_matrices(call, base, false, expected),
            ("read_matrices_transposed", Base::Tile(_)) => self.read_matrices(call, base, true, expected),
            ("write", _) => self.write_vector(call, base),
            ("copy_async", Base::Tile(tile)) => self.copy_async(call, tile),
            ("at" | "at_or_zero", Base::Tensor(_)) => self.unsupported(
                call,
                &format!("`{name}` names what an asynchronous copy reads, and this is none"),
                "write `tile.copy_async::<V>([…], tensor.at([…]))`, or read the element: `tensor[[…]]`",
            ),
            ("get_or", _) => self.get_or(call, base),
            ("contains", _) => self.contains(call, base),
            (name, _) if AtomicOp::ALL.iter().any(|op| op.name() == name) => {
                match AtomicOp::ALL.into_iter().find(|op| op.name() == name) {
                    Some(op) => self.atomic(call, base, op),
                    None => Operand::Poison,
                }
            }
            (_, Base::Tensor(param)) => match self.kernel.params[param].kind {
                ParamKind::Tensor { rank, .. } => self.shape(call, param, rank, &name),
                ParamKind::Scalar(_) => self.mismatch(call),
            },
            (_, Base::Tile(_)) => self.unknown_memory_method(call, &name),
        }
    }

    fn unknown_memory_method(&mut self, call: &ExprMethodCall, name: &str) -> Operand {
        self.defer(
            Code::Name,
            &call.method,
            format!("the method `{name}` is not part of the kernel language"),
            &format!("a kernel knows {METHODS}"),
        )
    }

    fn shape(
        &mut self,
        call: &ExprMethodCall,
        param: Handle<crate::ir::Param>,
        rank: u32,
        name: &str,
    ) -> Operand {
        let span = self.span(call);
        let kind = match (name, rank) {
            ("rows", 2) => ExprKind::Extent(param, 0),
            ("cols", 2) => ExprKind::Extent(param, 1),
            ("len", 1) => ExprKind::Extent(param, 0),
            ("pitch", 2) => ExprKind::Stride(param, 0),
            ("misalignment", _) => match self.boundary(call, param) {
                Some(elements) => ExprKind::Misalignment(param, elements),
                None => return Operand::Poison,
            },
            ("extent" | "stride", _) => {
                let Some(argument) = call.args.first() else { return self.mismatch(call) };
                let Some(dimension) = self.constant(argument, "a dimension") else { return Operand::Poison };
                match u32::try_from(dimension) {
                    Ok(dimension) if dimension < rank && name == "extent" => {
                        ExprKind::Extent(param, dimension)
                    }
                    Ok(dimension) if dimension + 1 < rank => ExprKind::Stride(param, dimension),
                    Ok(dimension) if dimension + 1 == rank => ExprKind::Int(1),
                    _ => {
                        let span = self.span(argument);
                        self.diagnostics.report(
                            Diagnostic::new(
                                Code::Constant,
                                span,
                                format!("a tensor of rank {rank} has no dimension {dimension}"),
                            )
                            .note(format!("its dimensions are 0 to {}, outermost first", rank - 1)),
                        );
                        return Operand::Poison;
                    }
                }
            }
            _ => return self.unknown_memory_method(call, name),
        };
        Operand::Value(self.index_expr(kind, span))
    }

    /// `read::<V>([…])`.
    fn read_vector(&mut self, call: &ExprMethodCall, base: Base, expected: Option<Ty>) -> Operand {
        let Some(place) = self.read_place(call, base, expected) else { return Operand::Poison };
        let term = self.terms.known(self.kernel.element(base));
        let ty = Ty { term, vector: Some(place.width) };
        Operand::Value(self.load(place, ty, call))
    }

    /// The elements that the call of a method, with the width as its generic argument, reads.
    pub(super) fn read_place(
        &mut self,
        call: &ExprMethodCall,
        base: Base,
        expected: Option<Ty>,
    ) -> Option<crate::ir::Place> {
        let (width, index) = self.width_and_index(call, base, expected)?;
        self.vector_place(call, base, index, width)
    }

    /// The width, which is the generic argument of such a call or what its result is used as, and the index.
    pub(super) fn width_and_index(
        &mut self,
        call: &ExprMethodCall,
        base: Base,
        expected: Option<Ty>,
    ) -> Option<(i128, Vec<Handle<crate::ir::Expr>>)> {
        let written = call.turbofish.as_ref().and_then(|arguments| arguments.args.first());
        let width = match written {
            Some(argument) => self.generic_constant(argument, "the width of a vector"),
            None => expected.and_then(|ty| ty.vector).map(i128::from),
        };
        let (Some(width), Some(index)) = (width, call.args.first().filter(|_| call.args.len() == 1)) else {
            let span = self.span(call);
            self.diagnostics.report(
                Diagnostic::new(Code::Constant, span, "the width of this vector is not known here")
                    .help(format!("write it: `{}::<4>([row, col])`", call.method)),
            );
            return None;
        };
        Some((width, self.vector_index(base, index)?))
    }

    /// The elements between the boundaries of `misalignment::<N>()`.
    fn boundary(&mut self, call: &ExprMethodCall, param: Handle<crate::ir::Param>) -> Option<u32> {
        let span = self.span(call);
        let written = call.turbofish.as_ref().and_then(|arguments| arguments.args.first());
        let most = MOST_BOUNDARY_BYTES / self.kernel.element(Base::Tensor(param)).bytes();
        let number = self.generic_constant(written?, "the elements between two boundaries")?;
        let elements = u32::try_from(number).ok().filter(|n| n.is_power_of_two() && *n <= most);
        if self.in_attribute {
            let error = "where a tensor begins is not known to the contract and the grid";
            let error = Diagnostic::new(Code::Constant, span, error);
            self.diagnostics.report(error.help("ask for it in the kernel's body"));
            return None;
        }
        if elements.is_none() {
            let error = format!("boundaries lie a power of two of elements apart, and these {number}");
            let help = format!("use 2, 4, 8, … up to {most}");
            self.diagnostics.report(Diagnostic::new(Code::Constant, span, error).help(help));
        }
        elements
    }

    /// `write([…], vector)`.
    fn write_vector(&mut self, call: &ExprMethodCall, base: Base) -> Operand {
        let [index, value] = call.args.iter().collect::<Vec<_>>()[..] else { return self.mismatch(call) };
        let term = self.terms.known(self.kernel.element(base));
        let index = self.vector_index(base, index);
        let before = self.here();
        let value = self.value(value, Some(Ty { term, vector: None }));
        let (Some(mut index), Some(value)) = (index, value) else { return Operand::Poison };
        for index in index.iter_mut().rev() {
            *index = self.as_at(before, *index);
        }
        let ty = self.ty(value);
        let Some(width) = ty.vector.filter(|_| self.terms.unify(ty.term, term)) else {
            return self.mismatch(call);
        };
        let Some(place) = self.vector_place(call, base, index, i128::from(width)) else {
            return Operand::Poison;
        };
        self.store(place, value, call);
        Operand::Tuple(Vec::new())
    }
}

/// The range that an expression is.
fn range_of(expr: &Expr) -> Option<&syn::ExprRange> {
    match expr {
        Expr::Paren(inner) => range_of(&inner.expr),
        Expr::Group(inner) => range_of(&inner.expr),
        Expr::Range(range) => Some(range),
        _ => None,
    }
}
