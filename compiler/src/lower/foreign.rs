//! What Rust has and a GPU thread cannot have: heap, text, slices, pointers, trait objects, inline assembly.

use super::{Lower, Operand, peeled};
use crate::diagnostic::{Code, Diagnostic};
use syn::visit::{self, Visit};
use syn::{Expr, Path, Type};

/// What a thing is, and what to write instead.
pub(super) struct Foreign {
    pub(super) what: &'static str,
    pub(super) instead: &'static str,
}

const HEAP: Foreign = Foreign {
    what: "a kernel has no heap: a thread owns registers, and a block shared memory, of sizes known at compile time",
    instead: "use an array, `[0.0; 8]`, for the thread's own values, and a `Shared` tile for the block's",
};

const TEXT: Foreign = Foreign { what: "a kernel has no text", instead: "use numbers" };

const SLICE: Foreign = Foreign {
    what: "a kernel has no slices: nothing says how long one is",
    instead: "take a `&Tensor<f32, 1>`, which knows its length, or use an array by its elements",
};

const OBJECT: Foreign = Foreign {
    what: "a kernel has no trait objects: what a call does must be known at compile time",
    instead: "call the function by its name",
};

const FUNCTION: Foreign = Foreign {
    what: "a kernel has no function pointers: what a call does must be known at compile time",
    instead: "call the function by its name",
};

pub(super) const POINTER: Foreign =
    Foreign { what: "a kernel has no pointers", instead: "name the element: `tile[r][c]`, `tensor[[r, c]]`" };

const OPTION: Foreign = Foreign {
    what: "a kernel has no `Option` and no `Result`",
    instead: "use a number and a bool, and check on the host, before the launch, what can fail",
};

const ASSEMBLY: Foreign = Foreign {
    what: "a kernel cannot use inline assembly: nothing could be proven about it",
    instead: "use the functions of the prelude",
};

const UNSAFE: Foreign = Foreign {
    what: "a kernel cannot use `unsafe`",
    instead: "remove the `unsafe`: what a kernel can do is checked",
};

const OUTPUT: Foreign = Foreign {
    what: "a kernel cannot print, format or unwind: a GPU thread has nowhere to do it",
    instead: "write results to a tensor, and state conditions in `requires(…)`",
};

const MACRO: Foreign = Foreign {
    what: "a kernel cannot call macros: what one becomes is not known when the kernel is read",
    instead: "write a helper function in the kernel",
};

/// What a kernel cannot have in this type.
pub(super) fn of_type(ty: &Type) -> Option<Foreign> {
    match peeled(ty) {
        Type::Reference(reference) => of_type(&reference.elem),
        Type::Slice(_) => Some(SLICE),
        Type::TraitObject(_) | Type::ImplTrait(_) => Some(OBJECT),
        Type::FnPtr(_) => Some(FUNCTION),
        Type::Ptr(_) => Some(POINTER),
        Type::Path(path) => of_path(&path.path),
        _ => None,
    }
}

/// What a kernel cannot have in this type, or in a function of that type, such as `Vec::new`.
pub(super) fn of_path(path: &Path) -> Option<Foreign> {
    path.segments.iter().rev().take(2).find_map(|segment| {
        Some(match segment.ident.to_string().as_str() {
            "Vec" | "VecDeque" | "Box" | "Rc" | "Arc" | "HashMap" | "HashSet" | "BTreeMap" | "BTreeSet"
            | "BinaryHeap" => HEAP,
            "String" | "str" => TEXT,
            "Option" | "Result" | "Some" | "None" | "Ok" | "Err" => OPTION,
            _ => return None,
        })
    })
}

/// Why a kernel cannot call a macro.
pub(super) fn of_macro(call: &syn::Macro) -> Foreign {
    let name = call.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
    match name.as_str() {
        "vec" => HEAP,
        "format" | "concat" | "stringify" => TEXT,
        "asm" | "global_asm" | "naked_asm" => ASSEMBLY,
        "print" | "println" | "eprint" | "eprintln" | "dbg" | "write" | "writeln" | "panic" | "assert"
        | "assert_eq" | "assert_ne" | "debug_assert" | "debug_assert_eq" | "debug_assert_ne" | "todo"
        | "unreachable" | "unimplemented" => OUTPUT,
        _ => MACRO,
    }
}

/// Why a kernel cannot have an `unsafe` block.
pub(super) fn of_unsafe(block: &syn::ExprUnsafe) -> Foreign {
    struct Assembly(bool);
    impl Visit<'_> for Assembly {
        fn visit_path(&mut self, path: &Path) {
            self.0 |= path.segments.last().is_some_and(|segment| segment.ident == "asm");
            visit::visit_path(self, path);
        }
    }
    let mut assembly = Assembly(false);
    assembly.visit_expr_unsafe(block);
    if assembly.0 { ASSEMBLY } else { UNSAFE }
}

impl Lower<'_> {
    /// Reports a thing that a kernel cannot have.
    pub(super) fn foreign(&mut self, tokens: &impl quote::ToTokens, foreign: Foreign) -> Operand {
        let span = self.span(tokens);
        self.diagnostics.report(Diagnostic::new(Code::Unsupported, span, foreign.what).help(foreign.instead));
        Operand::Poison
    }

    /// `&values[1..]`, `&f32::sqrt`: a reference that is kept.
    pub(super) fn reference(&mut self, reference: &syn::ExprReference) -> Operand {
        if let Expr::Index(index) = &*reference.expr
            && matches!(&*index.index, Expr::Range(_))
        {
            return self.foreign(reference, SLICE);
        }
        self.unsupported(
            reference,
            "a reference cannot be a value in a kernel: registers have no addresses",
            "name the element instead: `tile[r][c]`, `tensor[[r, c]]`; arrays are used by their elements",
        )
    }

    /// `&raw const x`.
    pub(super) fn address(&mut self, address: &syn::ExprRawAddr) -> Operand {
        self.foreign(address, POINTER)
    }
}
