//! The signature and the attribute: arguments, block, grid and contract.

use super::types::Term;
use super::{Binding, Lower, Operand, Ty, element_type, foreign, literal, peeled};
use crate::ast;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{Base, Contract, Cover, Expr, ExprKind, Handle, Param, ParamKind, Scalar};
use tileproof_model::language::MOST_DIMENSIONS;
use tileproof_model::limits::{MAX_BLOCK, MAX_BLOCKS_PER_MULTIPROCESSOR, MAX_THREADS_PER_BLOCK};

impl Lower<'_> {
    pub(super) fn params(&mut self, params: &[ast::Param]) {
        for param in params {
            let span = self.diagnostics.spans.add(&param.name);
            let name = param.name.to_string();
            let Some(kind) = self.param_kind(&param.ty) else {
                self.bind(name, Binding::Operand(Operand::Poison));
                continue;
            };
            let handle = self.kernel.params.add(Param { name: name.clone(), kind, span });
            let binding = match kind {
                ParamKind::Tensor { .. } => Binding::Memory(Base::Tensor(handle)),
                ParamKind::Scalar(scalar) => {
                    let ty = Ty::scalar(self.terms.known(scalar));
                    Binding::Operand(Operand::Value(self.expr(ExprKind::Param(handle), ty, span)))
                }
            };
            self.bind(name, binding);
        }
    }

    fn param_kind(&mut self, ty: &syn::Type) -> Option<ParamKind> {
        let ty = peeled(ty);
        let kind = match ty {
            syn::Type::Reference(reference) => {
                self.tensor_kind(&reference.elem, reference.mutability.is_some())
            }
            syn::Type::Path(path) => path
                .path
                .get_ident()
                .and_then(|ident| Scalar::from_name(&ident.to_string()))
                .map(ParamKind::Scalar),
            _ => None,
        };
        if kind.is_none() {
            let span = self.span(ty);
            let text = self.diagnostics.spans.get(span).text.clone();
            let mut error = Diagnostic::new(Code::Parameter, span, format!("a kernel cannot take a parameter of type `{text}`"))
                .note(format!("a tensor is a reference to `Tensor<T, RANK>` with RANK from 1 to {MOST_DIMENSIONS}, or to `Matrix<T>`; a value is a number, bool, usize or isize"));
            error = match ty {
                syn::Type::Path(path)
                    if path.path.segments.iter().any(|s| s.ident == "Tensor" || s.ident == "Matrix") =>
                {
                    error.help(format!(
                        "take it by reference: `&{text}` to read it, `&mut {text}` to write it"
                    ))
                }
                syn::Type::Reference(reference) if has_refused_element(&reference.elem) => error
                    .note("an element is i8 to i64, u8 to u64, f16, bf16, f32 or f64, by that name")
                    .help("write one of them: `u32` or `u64` for `usize`, `i32` or `i64` for `isize`, `u8` for `bool`"),
                syn::Type::Reference(reference) if matches!(peeled(&reference.elem), syn::Type::Slice(_)) => error
                    .help("write `&Tensor<f32, 1>` to read it, `&mut Tensor<f32, 1>` to write it: a tensor knows its length"),
                _ => {
                    if let Some(foreign) = foreign::of_type(ty) {
                        error = error.note(foreign.what);
                    }
                    error.help("write `input: &Matrix<f32>` or `output: &mut Tensor<f32, 3>`")
                }
            };
            self.diagnostics.report(error);
        }
        kind
    }

    fn tensor_kind(&mut self, ty: &syn::Type, mutable: bool) -> Option<ParamKind> {
        let syn::Type::Path(path) = peeled(ty) else { return None };
        let segment = path.path.segments.last()?;
        let syn::PathArguments::AngleBracketed(arguments) = &segment.arguments else { return None };
        let mut arguments = arguments.args.iter();
        let syn::GenericArgument::Type(element) = arguments.next()? else { return None };
        let element = element_type(element)?;
        let rank = match (segment.ident.to_string().as_str(), arguments.next()) {
            ("Matrix", None) => 2,
            ("Tensor", Some(syn::GenericArgument::Const(rank))) => u32::try_from(literal(rank)?).ok()?,
            _ => return None,
        };
        ((1..=MOST_DIMENSIONS).contains(&rank) && arguments.next().is_none()).then_some(ParamKind::Tensor {
            element,
            rank,
            mutable,
        })
    }

    /// Block, grid and contract.
    pub(super) fn launch(&mut self, ast: &ast::Kernel) {
        let [x, _, z] = MAX_BLOCK;
        for (place, extent) in ast.block.iter().take(3).enumerate() {
            let Some(value) = self.constant(extent, "an extent of `block`") else { continue };
            let span = self.span(extent);
            match u32::try_from(value) {
                Ok(value) if value >= 1 && value <= MAX_BLOCK[place] => self.kernel.block[place] = value,
                _ => self.diagnostics.report(
                    Diagnostic::new(
                        Code::BlockSize,
                        span,
                        format!("a block cannot have {value} threads along {}", ["x", "y", "z"][place]),
                    )
                    .note(format!(
                        "it has at least 1, at most {x} along x and y, at most {z} along z, and at most {MAX_THREADS_PER_BLOCK} in all"
                    )),
                ),
            }
        }
        let threads: u64 = self.kernel.block.iter().map(|extent| u64::from(*extent)).product();
        if threads > u64::from(MAX_THREADS_PER_BLOCK) {
            let span = self.kernel.span;
            self.diagnostics.report(
                Diagnostic::new(
                    Code::BlockSize,
                    span,
                    format!("a block of {threads} threads, and a GPU takes at most {MAX_THREADS_PER_BLOCK}"),
                )
                .help("make the block smaller and let each thread do more elements in a loop"),
            );
        }
        if let Some(expr) = &ast.min_blocks
            && let Some(value) = self.constant(expr, "`min_blocks`")
        {
            let span = self.span(expr);
            match u32::try_from(value) {
                Ok(value @ 1..=MAX_BLOCKS_PER_MULTIPROCESSOR) => self.kernel.min_blocks = Some(value),
                _ => self.diagnostics.report(
                    Diagnostic::new(
                        Code::Attribute,
                        span,
                        format!("a multiprocessor cannot hold {value} blocks: 1 to {MAX_BLOCKS_PER_MULTIPROCESSOR}"),
                    )
                    .help("remove `min_blocks`, unless registers keep blocks from being resident"),
                ),
            }
        }
        for (place, extent) in ast.grid.iter().take(3).enumerate() {
            let usize_term = self.terms.known(Scalar::Usize);
            if let Some(value) = self.host_value(extent, usize_term) {
                self.kernel.grid[place] = value;
            }
        }
        for condition in &ast.requires {
            let bool_term = self.terms.known(Scalar::Bool);
            if let Some(value) = self.host_value(condition, bool_term) {
                let span = self.span(condition);
                self.kernel.requires.push(Contract { condition: value, span });
            }
        }
        for name in &ast.covers {
            self.cover(name);
        }
    }

    /// `covers(name)`.
    fn cover(&mut self, name: &syn::Ident) {
        let span = self.span(name);
        let param = self.kernel.params.iter().find(|(_, param)| *name == param.name);
        let written = |param: &Param| matches!(param.kind, ParamKind::Tensor { mutable: true, .. });
        match param {
            Some((param, of)) if written(of) => self.kernel.covers.push(Cover { param, span }),
            Some(_) | None => {
                let what = match param {
                    Some(_) => format!("`{name}` is no tensor that the kernel writes to"),
                    None => format!("the kernel has no argument `{name}`"),
                };
                let names = self.kernel.params.iter().filter(|(_, param)| written(param));
                let names: Vec<String> = names.map(|(_, param)| format!("`{}`", param.name)).collect();
                let error = Diagnostic::new(Code::Attribute, span, what).note(
                    "`covers(…)` names tensors, behind `&mut`, of which the kernel writes every element",
                );
                self.diagnostics.report(match names.as_slice() {
                    [] => error,
                    names => error.help(format!("here it may name {}", names.join(", "))),
                });
            }
        }
    }

    /// An expression that the launcher evaluates: it may name extents, strides, scalar arguments and constants.
    fn host_value(&mut self, expr: &syn::Expr, expected: Term) -> Option<Handle<Expr>> {
        let mut value = None;
        let statements = self.in_block(|lower| value = lower.value_of(expr, expected));
        let value = value?;
        let span = self.span(expr);
        let device = !statements.is_empty()
            || self.any_node(value, &|kind| {
                matches!(
                    kind,
                    ExprKind::Thread(_)
                        | ExprKind::Block(_)
                        | ExprKind::Grid(_)
                        | ExprKind::Float(_)
                        | ExprKind::Call(..)
                ) || matches!(kind, ExprKind::Param(param) if self.is_float(*param))
            });
        if device {
            self.diagnostics.report(
                Diagnostic::new(Code::Attribute, span, "the launcher cannot evaluate this expression")
                    .note("`grid` and `requires` are evaluated on the host, before any thread or element exists")
                    .help("use extents (`input.rows()`), strides (`input.pitch()`), scalar arguments and integer constants"),
            );
            return None;
        }
        Some(value)
    }

    fn is_float(&self, param: Handle<Param>) -> bool {
        matches!(self.kernel.params[param].kind, ParamKind::Scalar(scalar) if scalar.is_float())
    }

    fn any_node(&self, root: Handle<Expr>, test: &dyn Fn(&ExprKind) -> bool) -> bool {
        let kind = &self.kernel.exprs[root].kind;
        test(kind) || kind.operands().into_iter().any(|operand| self.any_node(operand, test))
    }
}

/// Whether this is a tensor, but for its elements.
fn has_refused_element(ty: &syn::Type) -> bool {
    let syn::Type::Path(path) = peeled(ty) else { return false };
    path.path.segments.last().is_some_and(|segment| {
        (segment.ident == "Tensor" || segment.ident == "Matrix")
            && matches!(
                &segment.arguments,
                syn::PathArguments::AngleBracketed(arguments) if matches!(
                    arguments.args.first(),
                    Some(syn::GenericArgument::Type(element)) if element_type(element).is_none()
                )
            )
    })
}
