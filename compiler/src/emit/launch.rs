//! The functions that launch a kernel, and what their caller promises.
//!
//! `launch` is safe where nothing is taken for granted: then the checks and the launcher settle all that memory safety needs.
//! Otherwise it is unsafe, and its documentation lists what the source trusts. `launch_on` leaves the order of streams to its caller,
//! so it is always unsafe. Lints that look for what documentation promises do not see it where a user's own macro wrote the kernel, and
//! are silenced.

use crate::ast;
use crate::check::Checked;
use proc_macro2::TokenStream;
use quote::quote;

/// Whether a launch is safe.
#[derive(Clone, Debug)]
pub(super) enum Safety {
    /// All that safety needs is proven, or checked at the launch.
    Proven,
    /// The caller promises what the documentation says.
    Promised(String),
}

/// Of a kernel that passed its checks.
pub(super) fn of_checked(checked: &Checked) -> Safety {
    let trusts = &checked.report().trusts;
    if trusts.is_empty() {
        return Safety::Proven;
    }
    let promises: String = trusts.iter().map(|trust| format!("\n- {trust}")).collect();
    Safety::Promised(format!(
        "\n# Safety\nThe kernel takes for granted what is not proven. The caller promises that for these arguments it holds:{promises}"
    ))
}

/// Of a kernel that did not pass: as it would be, so that what is wrong with its callers is not said because of it.
pub(super) fn of_refused(ast: &ast::Kernel) -> Safety {
    if ast.takes_trust() { Safety::Promised(String::new()) } else { Safety::Proven }
}

/// Of a generic kernel, by that of its instances.
pub(super) fn of_instances(mut instances: impl Iterator<Item = Safety>) -> Safety {
    let is_promised = instances.any(|safety| matches!(safety, Safety::Promised(_)));
    match is_promised {
        true => Safety::Promised("\n# Safety\nAs that of the instance.".into()),
        false => Safety::Proven,
    }
}

/// What a method launches.
pub(super) struct Launches {
    /// What it does, as documentation.
    pub(super) docs: String,
    /// Between the name and the parameters: `<T: Element>`.
    pub(super) generics: TokenStream,
    /// The parameters.
    pub(super) parameters: TokenStream,
    /// Behind the type of the result.
    pub(super) bound: TokenStream,
    /// The body of `launch`: an unsafe call, if the kernel passed.
    pub(super) launch: TokenStream,
    /// The body of `launch_on`: the same.
    pub(super) launch_on: TokenStream,
}

/// `launch` and `launch_on`.
pub(super) fn functions(vis: &syn::Visibility, launches: Launches, safety: &Safety) -> TokenStream {
    let Launches { docs, generics, parameters, bound, launch, launch_on } = launches;
    let result = quote!(::core::result::Result<(), __tileproof::Error>);
    let (qualifier, promise) = match safety {
        Safety::Proven => (TokenStream::new(), String::new()),
        Safety::Promised(promise) => (quote!(unsafe), promise.clone()),
    };
    let head = format!(
        "{docs} Compiles and loads it on first use, and returns before it has run. Work of size zero is a no-op."
    );
    let safety_on = match safety {
        Safety::Proven => "\n# Safety\nThe kernel",
        Safety::Promised(_) => "\n# Safety\nWhat `launch` demands. And the kernel",
    };
    let safety_on = format!(
        "{safety_on} runs in the order of `stream` alone: the caller orders it with everything else that uses its tensors, and keeps \
         their memory until it has run, in a graph until it has run for the last time."
    );
    quote! {
        #[doc = #head]
        ///
        /// # Errors
        /// Everything wrong with the arguments, found before anything is launched: a contract that does not hold, a
        /// misaligned or overlapping tensor, one of another stream or context, a grid too large.
        #[doc = #promise]
        #[allow(clippy::too_many_arguments, clippy::missing_safety_doc)]
        #vis #qualifier fn launch #generics(#parameters) -> #result #bound { #launch }

        /// As `launch`, on any stream of the tensors' context: another one than that of the tensors, the default stream of the
        /// calling thread, one that is captured into a graph.
        ///
        /// # Errors
        /// As `launch`, but for the stream.
        #[doc = #safety_on]
        #[allow(clippy::too_many_arguments, clippy::missing_safety_doc)]
        #vis unsafe fn launch_on #generics(#parameters) -> #result #bound { #launch_on }
    }
}
