//! The Rust items that stand for a kernel: its constants and its typed methods.

use super::cuda::Cuda;
use super::launch::{self, Launches, Safety};
use super::launcher::{Launcher, launcher};
use super::report::report;
use crate::ast;
use crate::check::Checked;
use crate::diagnostic::Diagnostics;
use crate::ir::{ParamKind, Scalar};
use crate::lower::{element_type, peeled};
use proc_macro2::{Ident, Literal, Span, TokenStream};
use quote::{format_ident, quote};
use tileproof_model::host::HostOp;

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
    let Launcher { entry, narrow, alignments, grid, conditions } =
        launcher(checked, &cuda.entry, &diagnostics.spans);
    let lines = cuda.lines.iter().map(|(line, span)| {
        let rust = Literal::u32_unsuffixed(diagnostics.spans.line(*span));
        let line = Literal::u32_unsuffixed(*line);
        quote!((#line, #rust))
    });
    let block = triple(kernel.block);
    let params = kernel.params.iter().zip(alignments).map(|((_, param), alignment)| {
        let name = &param.name;
        let kind = match param.kind {
            ParamKind::Tensor { element, rank, mutable } => {
                let (element, rank) = (scalar(element), Literal::u32_unsuffixed(rank));
                let alignment = Literal::u32_unsuffixed(alignment);
                quote!(Tensor { element: #element, rank: #rank, mutable: #mutable, alignment: #alignment })
            }
            ParamKind::Scalar(value) => {
                let value = scalar(value);
                quote!(Scalar(#value))
            }
        };
        quote!(__tileproof::__private::Param { name: #name, kind: __tileproof::__private::ParamKind::#kind })
    });
    let grid = grid.iter().map(|ops| program(ops));
    let checks = conditions.iter().map(|condition| {
        let (text, condition) = (&condition.text, program(&condition.program));
        quote!(__tileproof::__private::LaunchCheck { condition: #condition, text: #text })
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
            checks: &[#(#checks),*],
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

/// A postfix program as a constant.
fn program(ops: &[HostOp]) -> TokenStream {
    let ops = ops.iter().map(|op| match op {
        HostOp::Int(value) => {
            let value = Literal::i128_unsuffixed(*value);
            quote!(Int(#value))
        }
        HostOp::Extent(param, dimension) => {
            let (param, dimension) = (Literal::u32_unsuffixed(*param), Literal::u32_unsuffixed(*dimension));
            quote!(Extent(#param, #dimension))
        }
        HostOp::Stride(param, dimension) => {
            let (param, dimension) = (Literal::u32_unsuffixed(*param), Literal::u32_unsuffixed(*dimension));
            quote!(Stride(#param, #dimension))
        }
        HostOp::Scalar(param) => {
            let param = Literal::u32_unsuffixed(*param);
            quote!(Scalar(#param))
        }
        HostOp::Add
        | HostOp::Sub
        | HostOp::Mul
        | HostOp::Div
        | HostOp::Rem
        | HostOp::And
        | HostOp::Or
        | HostOp::Xor
        | HostOp::Shl
        | HostOp::Shr
        | HostOp::Min
        | HostOp::Max
        | HostOp::DivCeil
        | HostOp::Less
        | HostOp::LessEqual
        | HostOp::Greater
        | HostOp::GreaterEqual
        | HostOp::Equal
        | HostOp::NotEqual
        | HostOp::Not
        | HostOp::Select => {
            // `Debug` prints the name of the variant.
            let name = format_ident!("{op:?}");
            quote!(#name)
        }
    });
    quote!(&[#(__tileproof::__private::HostOp::#ops),*])
}
