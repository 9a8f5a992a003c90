//! The Rust items that stand for a kernel: its constants and its typed methods.

use super::cuda::Cuda;
use super::launch::{self, Launches, Safety};
use super::report::report;
use crate::ast;
use crate::check::{Checked, LaunchCheck, Quantity};
use crate::diagnostic::Diagnostics;
use crate::ir::{BinaryOp, CompareOp, Expr, ExprKind, Handle, Kernel, Param, ParamKind, Scalar, UnaryOp};
use crate::lower::{element_type, peeled};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};

/// The item of a kernel that passed its checks.
pub(super) fn item(
    ast: &ast::Kernel,
    checked: &Checked,
    cuda: &Cuda,
    source: &Source,
    diagnostics: &Diagnostics,
) -> TokenStream {
    let name = &ast.function.sig.ident;
    let description = description(name, checked, cuda, source, diagnostics);
    let text = &cuda.text;
    let methods = methods(ast, true, &launch::of_checked(checked));
    declaration(
        ast,
        quote! {
            static DESCRIPTION: __tileproof::__private::Description = #description;
            impl __tileproof::__private::Kernel for #name {
                const DESCRIPTION: &'static __tileproof::__private::Description = &DESCRIPTION;
            }
        },
        quote!(#text),
        methods,
    )
}

/// What stands in for the item where the kernel did not pass, so that the code that uses it gives no errors of its own.
pub(super) fn stub(ast: &ast::Kernel) -> TokenStream {
    declaration(ast, TokenStream::new(), quote!(""), methods(ast, false, &launch::of_refused(ast)))
}

/// What the macro read, as canonical text.
#[derive(Debug)]
pub(super) struct Source {
    pub(super) attribute: String,
    pub(super) item: String,
    pub(super) shared: String,
}

fn declaration(
    ast: &ast::Kernel,
    statics: TokenStream,
    text: TokenStream,
    methods: TokenStream,
) -> TokenStream {
    let (name, vis, path) = (&ast.function.sig.ident, &ast.function.vis, &ast.crate_path);
    let docs = ast.function.attrs.iter().filter(|attribute| attribute.path().is_ident("doc"));
    // An instance is launched by the item of its generic kernel, too.
    let unused = (!ast.generics.is_empty()).then(|| quote!(#[allow(dead_code)]));
    quote! {
        #(#docs)*
        #unused
        #[allow(non_camel_case_types)]
        #vis enum #name {}

        const _: () = {
            use #path as __tileproof;
            #statics
            impl #name {
                /// The CUDA C that was emitted for this kernel.
                #vis const CUDA_SOURCE: &'static str = #text;
            }
            #methods
        };
    }
}

/// The typed methods. Where the kernel did not pass they exist, so that their callers type-check.
fn methods(ast: &ast::Kernel, passed: bool, safety: &Safety) -> TokenStream {
    let (name, vis) = (&ast.function.sig.ident, &ast.function.vis);
    let stream = Ident::new("stream", Span::mixed_site());
    let context = Ident::new("context", Span::mixed_site());
    let architecture = Ident::new("architecture", Span::mixed_site());
    let args: Vec<Argument> = ast.params.iter().map(|param| argument(param, &[])).collect();
    let device: Vec<TokenStream> = args.iter().map(|a| a.declare("TensorView", "TensorViewMut")).collect();
    let host: Vec<TokenStream> = args.iter().map(|a| a.declare("HostTensor", "HostTensorMut")).collect();
    let device_args: Vec<TokenStream> = args.iter().map(|a| a.erase("DeviceArgument")).collect();
    let host_args = args.iter().map(|a| a.erase("HostArgument"));
    let names: Vec<&Ident> = args.iter().map(|a| a.name).collect();
    let body = |used: TokenStream, call: TokenStream| {
        if passed { call } else { unused(&used) }
    };
    let report = body(quote!(), quote!(DESCRIPTION.report()));
    let compile = body(quote!(#architecture), quote!(DESCRIPTION.compile(#architecture)));
    let load = body(quote!(#context), quote!(DESCRIPTION.load(#context)));
    let simulate = body(quote!(#(#names),*), quote!(DESCRIPTION.simulate(&mut [#(#host_args),*])));
    let call = |function: TokenStream| {
        // SAFETY: the text and the description are one kernel's, and what is not proven of it the caller promises.
        let call = quote!(unsafe { #function(&DESCRIPTION, #stream, &mut [#(#device_args),*]) });
        body(quote!(#stream, #(#names),*), call)
    };
    let launches = launch::functions(
        vis,
        Launches {
            docs: "Launches this kernel on a stream.".into(),
            generics: TokenStream::new(),
            parameters: quote!(#stream: &__tileproof::__private::Arc<__tileproof::cudarc::driver::CudaStream>, #(#device),*),
            bound: TokenStream::new(),
            launch: call(quote!(__tileproof::__private::launch)),
            launch_on: call(quote!(__tileproof::__private::launch_on)),
        },
        safety,
    );
    quote! {
        impl #name {
            /// What was proven about this kernel: an access site a row.
            #vis fn report() -> &'static __tileproof::report::Report { #report }

            /// Compiles this kernel with NVRTC. Needs no GPU.
            ///
            /// # Errors
            /// No NVRTC found, or one that does not know the architecture.
            #vis fn compile(#architecture: __tileproof::Architecture) -> ::core::result::Result<__tileproof::Compiled, __tileproof::Error> { #compile }

            /// Compiles and loads this kernel for a GPU, or returns what an earlier call loaded.
            ///
            /// # Errors
            /// No NVRTC or driver found, or one that refuses the kernel.
            #vis fn load(#context: &__tileproof::__private::Arc<__tileproof::cudarc::driver::CudaContext>) -> ::core::result::Result<__tileproof::__private::Arc<__tileproof::Loaded>, __tileproof::Error> { #load }

            #launches
        }
        __tileproof::__private::if_simulate! {
            impl #name {
                /// Runs this kernel on the CPU and counts what a profiler would count, an access site a row.
                ///
                /// # Errors
                /// As `launch`, and what no kernel may do: an access outside its tensor, a race, a barrier that some threads
                /// do not reach, an uninitialised read.
                #[allow(clippy::too_many_arguments)]
                #vis fn simulate(#(#host),*) -> ::core::result::Result<__tileproof::Counts, __tileproof::Error> { #simulate }
            }
        }
    }
}

/// The body of a method of a kernel that did not pass.
pub(super) fn unused(arguments: &TokenStream) -> TokenStream {
    quote!({
        let _ = (#arguments);
        ::core::panic!("this kernel did not compile")
    })
}

/// A parameter of the typed methods.
pub(super) struct Argument<'a> {
    pub(super) name: &'a Ident,
    kind: ArgumentKind<'a>,
}

enum ArgumentKind<'a> {
    Tensor {
        element: &'a syn::Type,
        rank: TokenStream,
        mutable: bool,
    },
    Value(&'a syn::Type),
    /// A tensor whose elements the kernel cannot have, which is an error already: views of it would be more of them.
    Refused,
}

/// How a type parameter is used by a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Used {
    /// As the element type of a tensor.
    Element,
    /// As the type of a value.
    Value,
}

/// The argument of a parameter, in whose type the names of `generics` may stand for types.
pub(super) fn argument<'a>(param: &'a ast::Param, generics: &[&Ident]) -> Argument<'a> {
    let name = &param.name;
    let kind = if let syn::Type::Reference(reference) = peeled(&param.ty) {
        tensor(reference, generics)
    } else {
        None
    };
    Argument { name, kind: kind.unwrap_or(ArgumentKind::Value(&param.ty)) }
}

/// The element type and rank of `&Matrix<f32>` or `&mut Tensor<f32, 3>`.
fn tensor<'a>(reference: &'a syn::TypeReference, generics: &[&Ident]) -> Option<ArgumentKind<'a>> {
    let syn::Type::Path(path) = peeled(&reference.elem) else { return None };
    let syn::PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else {
        return None;
    };
    let mut arguments = arguments.args.iter();
    let syn::GenericArgument::Type(element) = arguments.next()? else { return None };
    let rank = match arguments.next() {
        Some(rank) => quote!(#rank),
        None => quote!(2),
    };
    let known = element_type(element).is_some() || generics.iter().any(|name| is_named(element, name));
    Some(match known {
        true => ArgumentKind::Tensor { element, rank, mutable: reference.mutability.is_some() },
        false => ArgumentKind::Refused,
    })
}

fn is_named(ty: &syn::Type, name: &Ident) -> bool {
    matches!(peeled(ty), syn::Type::Path(path) if path.path.is_ident(name))
}

impl Argument<'_> {
    /// How it uses a type parameter.
    pub(super) fn uses(&self, name: &Ident) -> Option<Used> {
        match &self.kind {
            ArgumentKind::Tensor { element, .. } => is_named(element, name).then_some(Used::Element),
            ArgumentKind::Value(ty) => is_named(ty, name).then_some(Used::Value),
            ArgumentKind::Refused => None,
        }
    }

    pub(super) fn declare(&self, view: &str, view_mut: &str) -> TokenStream {
        let name = self.name;
        match &self.kind {
            ArgumentKind::Tensor { element, rank, mutable: false } => {
                let view = format_ident!("{view}");
                quote!(#name: &__tileproof::#view<'_, #element, #rank>)
            }
            ArgumentKind::Tensor { element, rank, mutable: true } => {
                let view = format_ident!("{view_mut}");
                quote!(#name: &mut __tileproof::#view<'_, #element, #rank>)
            }
            ArgumentKind::Value(ty) => quote!(#name: #ty),
            ArgumentKind::Refused => quote!(#name: impl ::core::marker::Sized),
        }
    }

    pub(super) fn erase(&self, kind: &str) -> TokenStream {
        let (name, erased) = (self.name, format_ident!("{kind}"));
        let constructor = match &self.kind {
            ArgumentKind::Tensor { mutable: false, .. } => format_ident!("tensor"),
            ArgumentKind::Tensor { mutable: true, .. } => format_ident!("tensor_mut"),
            ArgumentKind::Value(_) | ArgumentKind::Refused => format_ident!("scalar"),
        };
        quote!(__tileproof::__private::#erased::#constructor(#name))
    }
}

fn description(
    name: &Ident,
    checked: &Checked,
    cuda: &Cuda,
    source: &Source,
    diagnostics: &Diagnostics,
) -> TokenStream {
    let kernel = checked.kernel();
    let Source { attribute, item, shared } = source;
    let entry = &cuda.entry;
    let lines = cuda.lines.iter().map(|(line, span)| {
        let rust = Literal::u32_unsuffixed(diagnostics.spans.line(*span));
        let line = Literal::u32_unsuffixed(*line);
        quote!((#line, #rust))
    });
    let narrow = checked.facts().narrow;
    let block = triple(kernel.block);
    let params = kernel.params.iter().zip(checked.base_alignment()).map(|((_, param), alignment)| {
        let name = &param.name;
        let kind = match param.kind {
            ParamKind::Tensor { element, rank, mutable } => {
                let (element, rank) = (scalar(element), Literal::u32_unsuffixed(rank));
                let alignment = Literal::u32_unsuffixed(*alignment);
                quote!(Tensor { element: #element, rank: #rank, mutable: #mutable, alignment: #alignment })
            }
            ParamKind::Scalar(value) => {
                let value = scalar(value);
                quote!(Scalar(#value))
            }
        };
        quote!(__tileproof::__private::Param { name: #name, kind: __tileproof::__private::ParamKind::#kind })
    });
    let grid = kernel.grid.iter().map(|extent| program(kernel, *extent));
    let contracts = kernel.requires.iter().map(|contract| {
        let text = &diagnostics.spans.get(contract.span).text;
        let condition = program(kernel, contract.condition);
        quote!(__tileproof::__private::LaunchCheck { condition: #condition, text: #text })
    });
    let settled = checked.launch_checks().iter().map(|check| {
        let (text, condition) = (check.text(kernel), launch_condition(check));
        quote!(__tileproof::__private::LaunchCheck {
            condition: &[#(__tileproof::__private::HostOp::#condition),*],
            text: #text,
        })
    });
    let report = report(checked.report());
    quote! {
        __tileproof::__private::Description {
            name: #entry,
            attribute: #attribute,
            item: #item,
            shared: #shared,
            cuda: #name::CUDA_SOURCE,
            lines: &[#(#lines),*],
            file: ::core::file!(),
            narrow: #narrow,
            block: #block,
            params: &[#(#params),*],
            grid: [#(#grid),*],
            checks: &[#(#contracts,)* #(#settled),*],
            report: #report,
        }
    }
}

pub(super) fn triple(values: [u32; 3]) -> TokenStream {
    let values = values.map(Literal::u32_unsuffixed);
    quote!([#(#values),*])
}

fn scalar(scalar: Scalar) -> TokenStream {
    // `Debug` prints the name of the variant.
    let name = format_ident!("{scalar:?}");
    quote!(__tileproof::ScalarType::#name)
}

/// A host expression as a postfix program.
/// The program of a condition that the compiler left to the launch.
fn launch_condition(check: &LaunchCheck) -> Vec<TokenStream> {
    let number = |value: u32| Literal::u32_unsuffixed(value);
    let place = |param: &Handle<Param>| number(param.index() as u32);
    match check {
        LaunchCheck::StrideMultiple { param, dimension, multiple } => {
            let (param, dimension, multiple) = (place(param), number(*dimension), number(*multiple));
            vec![
                quote!(Extent(#param, #dimension)),
                quote!(Int(2)),
                quote!(Less),
                quote!(Stride(#param, #dimension)),
                quote!(Int(#multiple)),
                quote!(Rem),
                quote!(Int(0)),
                quote!(Equal),
                quote!(Or),
            ]
        }
        LaunchCheck::Multiple { terms, constant, multiple } => {
            let (constant, multiple) = (Literal::i64_unsuffixed(*constant), number(*multiple));
            let mut ops = vec![quote!(Int(#constant))];
            for (quantity, factor) in terms {
                let factor = Literal::i64_unsuffixed(*factor);
                ops.push(match quantity {
                    Quantity::Extent(param, dimension) => {
                        let (param, dimension) = (place(param), number(*dimension));
                        quote!(Extent(#param, #dimension))
                    }
                    Quantity::Stride(param, dimension) => {
                        let (param, dimension) = (place(param), number(*dimension));
                        quote!(Stride(#param, #dimension))
                    }
                    Quantity::Scalar(param) => {
                        let param = place(param);
                        quote!(Scalar(#param))
                    }
                });
                ops.extend([quote!(Int(#factor)), quote!(Mul), quote!(Add)]);
            }
            ops.extend([quote!(Int(#multiple)), quote!(Rem), quote!(Int(0)), quote!(Equal)]);
            ops
        }
    }
}

fn program(kernel: &Kernel, expr: Handle<Expr>) -> TokenStream {
    let mut ops = Vec::new();
    push(kernel, expr, &mut ops);
    quote!(&[#(__tileproof::__private::HostOp::#ops),*])
}

fn push(kernel: &Kernel, expr: Handle<Expr>, ops: &mut Vec<TokenStream>) {
    let kind = &kernel.exprs[expr].kind;
    // Of `&&` and `||` the right side counts only where the left one does not decide.
    if let ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) = kind
        && kernel.exprs[expr].ty.scalar() == Scalar::Bool
    {
        push(kernel, *a, ops);
        if *op == BinaryOp::Or {
            ops.push(quote!(Int(1)));
        }
        push(kernel, *b, ops);
        if *op == BinaryOp::And {
            ops.push(quote!(Int(0)));
        }
        ops.push(quote!(Select));
        return;
    }
    for operand in kind.operands() {
        push(kernel, operand, ops);
    }
    let number = |value: u32| Literal::u32_unsuffixed(value);
    let op = match kind {
        ExprKind::Int(value) => {
            let value = Literal::i128_unsuffixed(*value);
            quote!(Int(#value))
        }
        ExprKind::Bool(value) => {
            let value = number(u32::from(*value));
            quote!(Int(#value))
        }
        ExprKind::Param(param) => {
            let param = number(param.index() as u32);
            quote!(Scalar(#param))
        }
        ExprKind::Extent(param, dimension) => {
            let (param, dimension) = (number(param.index() as u32), number(*dimension));
            quote!(Extent(#param, #dimension))
        }
        ExprKind::Stride(param, dimension) => {
            let (param, dimension) = (number(param.index() as u32), number(*dimension));
            quote!(Stride(#param, #dimension))
        }
        ExprKind::Unary(UnaryOp::Negate, _) => {
            ops.push(quote!(Int(-1)));
            quote!(Mul)
        }
        ExprKind::Unary(UnaryOp::Not, _) => quote!(Not),
        ExprKind::Binary(op, ..) => match op {
            BinaryOp::Add => quote!(Add),
            BinaryOp::Sub => quote!(Sub),
            BinaryOp::Mul => quote!(Mul),
            BinaryOp::Div => quote!(Div),
            BinaryOp::Rem => quote!(Rem),
            BinaryOp::And => quote!(And),
            BinaryOp::Or => quote!(Or),
            BinaryOp::Xor => quote!(Xor),
            BinaryOp::Shl => quote!(Shl),
            BinaryOp::Shr => quote!(Shr),
            BinaryOp::Min => quote!(Min),
            BinaryOp::Max => quote!(Max),
            BinaryOp::DivCeil => quote!(DivCeil),
        },
        ExprKind::Compare(op, ..) => match op {
            CompareOp::Less => quote!(Less),
            CompareOp::LessEqual => quote!(LessEqual),
            CompareOp::Greater => quote!(Greater),
            CompareOp::GreaterEqual => quote!(GreaterEqual),
            CompareOp::Equal => quote!(Equal),
            CompareOp::NotEqual => quote!(NotEqual),
        },
        ExprKind::Select(..) => quote!(Select),
        // The value is the same mathematical integer; lowering admits only conversions between integer types here.
        ExprKind::Cast(_) => return,
        ExprKind::Float(_)
        | ExprKind::Thread(_)
        | ExprKind::Block(_)
        | ExprKind::Grid(_)
        | ExprKind::Local(_)
        | ExprKind::Element(..)
        | ExprKind::Call(..)
        | ExprKind::Lane(..)
        | ExprKind::Vector(_) => return,
    };
    ops.push(op);
}
