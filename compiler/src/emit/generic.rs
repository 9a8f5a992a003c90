//! The Rust item that stands for all instances of a generic kernel.
//!
//! Each instance is a kernel of its own, with an item of its own. This one chooses among them: by the types of its
//! arguments where rustc knows them, through a trait that is implemented for what is listed, and by trying widths, widest
//! first, where only the launch knows what fits.

use super::body::absolute;
use super::host::{Used, argument, unused};
use super::launch::{self, Launches, Safety};
use crate::ast::{Argument, Generic, Parameter, ParameterKind};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

/// The item. Where an instance did not pass it exists, so that its callers type-check.
pub(super) fn item(generic: &Generic, passed: bool, safety: &Safety) -> TokenStream {
    let (name, vis, path) = (&generic.function.sig.ident, &generic.function.vis, &generic.crate_path);
    let docs = generic.function.attrs.iter().filter(|attribute| attribute.path().is_ident("doc"));
    let kernels: Vec<&Ident> = generic.instances.iter().map(|instance| &instance.name).collect();
    let links: Vec<String> = generic
        .instances
        .iter()
        .map(|instance| format!("[`{}`]({})", instance.text, instance.name))
        .collect();
    let listed = format!("\n\nIts instances are {}.", links.join(", "));
    let count = kernels.len();
    let dispatch = dispatch(generic, passed);
    let methods = methods(generic, passed, safety);
    quote! {
        #(#docs)*
        #[doc = #listed]
        #[allow(non_camel_case_types)]
        #vis enum #name {}

        const _: () = {
            use #path as __tileproof;
            #dispatch
            impl #name {
                /// The CUDA C of each instance, as they are listed.
                #vis const CUDA_SOURCES: [&'static str; #count] = [#(#kernels::CUDA_SOURCE),*];

                /// What was proven about each instance, as they are listed.
                #vis fn reports() -> [&'static __tileproof::report::Report; #count] { [#(#kernels::report()),*] }
            }
            #methods
        };
    }
}

/// The parameters that the caller chooses.
fn chosen(generic: &Generic) -> Vec<&Parameter> {
    generic.generics.iter().filter(|parameter| !parameter.is_width()).collect()
}

/// As they are declared, with the bounds that the arguments of a launch need.
fn declared(generic: &Generic, with_bounds: bool) -> TokenStream {
    let declare = |parameter: &&Parameter| {
        let name = &parameter.name;
        match &parameter.kind {
            ParameterKind::Constant { ty, .. } => quote!(const #name: #ty),
            ParameterKind::Type if !with_bounds => quote!(#name),
            ParameterKind::Type => {
                let uses: Vec<Used> =
                    generic.params.iter().filter_map(|param| argument(param, &[name]).uses(name)).collect();
                let element = uses.contains(&Used::Element).then(|| quote!(__tileproof::Element));
                let scalar = uses.contains(&Used::Value).then(|| quote!(__tileproof::Scalar));
                let bounds: Vec<TokenStream> = element.into_iter().chain(scalar).collect();
                quote!(#name: #(#bounds)+*)
            }
        }
    };
    let list = chosen(generic);
    let list = list.iter().map(declare);
    quote!(#(#list),*)
}

/// The trait that knows the instances of what the caller chooses.
fn dispatch(generic: &Generic, passed: bool) -> TokenStream {
    if !passed {
        return TokenStream::new();
    }
    let (name, parameters) = (&generic.function.sig.ident, declared(generic, false));
    let types: Vec<String> = chosen(generic)
        .iter()
        .filter(|parameter| matches!(parameter.kind, ParameterKind::Type))
        .map(|parameter| format!("{0} = `{{{0}}}`", parameter.name))
        .collect();
    let message = match types.is_empty() {
        true => format!("the kernel `{name}` has no such instance"),
        false => format!("the kernel `{name}` has no instance for {}", types.join(", ")),
    };
    let texts: Vec<String> =
        generic.instances.iter().map(|instance| format!("`{}`", instance.text)).collect();
    let label = format!("its instances are {}", texts.join(", "));
    let note = format!("add it to `instances(…)` in the `#[tiled_kernel]` of `{name}`");
    let choices = generic.choices().into_iter().map(|group| {
        let arguments = group.first().map(|first| {
            let all = generic.generics.iter().zip(&first.arguments);
            let chosen = all.filter(|(parameter, _)| !parameter.is_width());
            let list = chosen.map(|(_, argument)| match argument {
                Argument::Type(ty) => absolute(ty, &generic.crate_path),
                Argument::Constant(value, _) => quote!({ #value }),
            });
            quote!(#(#list),*)
        });
        let kernels = group.iter().map(|instance| &instance.name);
        quote! {
            impl Instance<#arguments> for #name {
                const KERNELS: &'static [&'static __tileproof::__private::Description] =
                    &[#(<#kernels as __tileproof::__private::Kernel>::DESCRIPTION),*];
            }
        }
    });
    quote! {
        #[diagnostic::on_unimplemented(message = #message, label = #label, note = #note)]
        #[doc(hidden)]
        #[allow(unreachable_pub)]
        pub trait Instance<#parameters> {
            /// The kernels of these arguments, the widest vectors first.
            const KERNELS: &'static [&'static __tileproof::__private::Description];
        }
        #(#choices)*
    }
}

fn methods(generic: &Generic, passed: bool, safety: &Safety) -> TokenStream {
    let (name, vis) = (&generic.function.sig.ident, &generic.function.vis);
    let [stream, context, architecture] =
        ["stream", "context", "architecture"].map(|name| Ident::new(name, Span::mixed_site()));
    let parameters: Vec<&Ident> = generic.generics.iter().map(|parameter| &parameter.name).collect();
    let args: Vec<_> = generic.params.iter().map(|param| argument(param, &parameters)).collect();
    let device: Vec<TokenStream> = args.iter().map(|a| a.declare("TensorView", "TensorViewMut")).collect();
    let host: Vec<TokenStream> = args.iter().map(|a| a.declare("HostTensor", "HostTensorMut")).collect();
    let device_args: Vec<TokenStream> = args.iter().map(|a| a.erase("DeviceArgument")).collect();
    let host_args = args.iter().map(|a| a.erase("HostArgument"));
    let names: Vec<&Ident> = args.iter().map(|a| a.name).collect();
    let choice = chosen(generic).iter().map(|parameter| &parameter.name).collect::<Vec<_>>();
    let (bounded, plain) = (declared(generic, true), declared(generic, false));
    let bound = passed.then(|| quote!(where #name: Instance<#(#choice),*>));
    let kernels = quote!(<#name as Instance<#(#choice),*>>::KERNELS);
    let body = |used: TokenStream, call: TokenStream| if passed { call } else { unused(&used) };
    let compile =
        body(quote!(#architecture), quote!(__tileproof::__private::compile_all(#kernels, #architecture)));
    let load = body(quote!(#context), quote!(__tileproof::__private::load_all(#kernels, #context)));
    let simulate = body(
        quote!(#(#names),*),
        quote!(__tileproof::__private::simulate_first(#kernels, &mut [#(#host_args),*])),
    );
    let widths: Vec<String> = generic
        .generics
        .iter()
        .filter(|parameter| parameter.is_width())
        .map(|parameter| format!("`{}`", parameter.name))
        .collect();
    let which = match widths.is_empty() {
        true => String::new(),
        false => format!(
            " Of the instances that differ in {} alone, it takes the first, largest constant first, whose contract and alignment \
             hold for these arguments; if none does, the error is that of the last.",
            widths.join(", ")
        ),
    };
    let call = |function: TokenStream| {
        // SAFETY: the instances are kernels that the macro wrote, and what is not proven of them the caller promises.
        let call = quote!(unsafe { #function(#kernels, #stream, &mut [#(#device_args),*]) });
        body(quote!(#stream, #(#names),*), call)
    };
    let launches = launch::functions(
        vis,
        Launches {
            docs: format!("Launches the instance for these arguments on a stream.{which}"),
            generics: quote!(<#bounded>),
            parameters: quote!(#stream: &__tileproof::__private::Arc<__tileproof::cudarc::driver::CudaStream>, #(#device),*),
            bound: quote!(#bound),
            launch: call(quote!(__tileproof::__private::launch_first)),
            launch_on: call(quote!(__tileproof::__private::launch_first_on)),
        },
        safety,
    );
    let simulate_doc =
        format!("Runs the instance for these arguments on the CPU, as its own `simulate` does.{which}");
    let result = |ok: TokenStream| quote!(::core::result::Result<#ok, __tileproof::Error>);
    let (compiled, loaded) = (
        result(quote!(__tileproof::__private::Vec<__tileproof::Compiled>)),
        result(quote!(__tileproof::__private::Vec<__tileproof::__private::Arc<__tileproof::Loaded>>)),
    );
    let counts = result(quote!(__tileproof::Counts));
    quote! {
        impl #name {
            /// Compiles the instances that a launch chooses from with NVRTC, widest first. Needs no GPU.
            ///
            /// # Errors
            /// As that of the instance.
            #vis fn compile<#plain>(#architecture: __tileproof::Architecture) -> #compiled #bound { #compile }

            /// Compiles and loads the instances that a launch chooses from, widest first, unless they are loaded.
            ///
            /// # Errors
            /// As that of the instance.
            #vis fn load<#plain>(#context: &__tileproof::__private::Arc<__tileproof::cudarc::driver::CudaContext>) -> #loaded #bound { #load }

            #launches
        }
        __tileproof::__private::if_simulate! {
            impl #name {
                #[doc = #simulate_doc]
                ///
                /// # Errors
                /// As that of the instance.
                #[allow(clippy::too_many_arguments)]
                #vis fn simulate<#bounded>(#(#host),*) -> #counts #bound { #simulate }
            }
        }
    }
}
