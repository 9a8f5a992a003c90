//! Closures that are kept: a function that says the same is what a kernel has instead.

use super::{Binding, Lower, Operand};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{self, Base, Kernel, ParamKind};
use crate::tokens::print;
use quote::ToTokens;
use syn::visit::Visit;
use syn::{Expr, ExprClosure, Ident, Pat, ReturnType, Stmt};

/// The type of what a closure does not say.
const UNSAID: &str = "f32";

impl Lower<'_> {
    /// Refuses a closure, with the head of the function to write.
    pub(super) fn closure(&mut self, closure: &ExprClosure, name: &Ident) -> Operand {
        let captures = self.captures(closure);
        let inputs = closure.inputs.iter().map(|input| match input {
            Pat::Type(typed) => print(typed.to_token_stream()),
            input => format!("{}: {UNSAID}", print(input.to_token_stream())),
        });
        let handed = captures.iter().map(|(name, ty)| format!("{name}: {ty}"));
        let parameters: Vec<String> = inputs.chain(handed).collect();
        let output = match (&closure.output, closure.inputs.first()) {
            (ReturnType::Type(_, ty), _) => format!(" -> {}", print(ty.to_token_stream())),
            (ReturnType::Default, _) if ends_in_statement(&closure.body) => String::new(),
            (ReturnType::Default, Some(Pat::Type(typed))) => {
                format!(" -> {}", print(typed.ty.to_token_stream()))
            }
            (ReturnType::Default, _) => format!(" -> {UNSAID}"),
        };
        let span = self.span(closure);
        let mut error = Diagnostic::new(
            Code::Unsupported,
            span,
            "a kernel cannot have closures but as the argument of `map`",
        );
        if !captures.is_empty() {
            let names: Vec<String> = captures.iter().map(|(name, _)| format!("`{name}`")).collect();
            error =
                error.note(format!("it captures {}, which a function takes as arguments", names.join(", ")));
        }
        let head = format!("fn {name}({}){output} {{ … }}", parameters.join(", "));
        self.diagnostics.report(error.help(format!("write a function inside the kernel: `{head}`")));
        Operand::Poison
    }

    /// The variables and arguments that a closure uses, each with its type.
    fn captures(&self, closure: &ExprClosure) -> Vec<(String, String)> {
        struct Names(Vec<String>);
        impl Visit<'_> for Names {
            fn visit_expr_path(&mut self, path: &syn::ExprPath) {
                let name = path.path.get_ident().map(ToString::to_string);
                self.0.extend(name.filter(|name| !self.0.contains(name)));
            }
        }
        let mut own = Names(Vec::new());
        own.visit_expr(&closure.body);
        let inputs: Vec<String> = closure.inputs.iter().flat_map(variables).collect();
        let used = own.0.into_iter().filter(|name| !inputs.contains(name));
        used.filter_map(|name| Some((self.type_of(self.lookup(&name)?)?, name)))
            .map(|(ty, name)| (name, ty))
            .collect()
    }

    /// The type of a variable or argument, as the user writes it; `None` after an error.
    fn type_of(&self, binding: &Binding) -> Option<String> {
        Some(match binding {
            Binding::Memory(base) => memory_type(&self.kernel, *base),
            Binding::Local(local) => {
                let extents = &self.kernel.locals[*local].extents;
                let element = self.element_type_of(self.local_types[local.index()]);
                let array =
                    extents.iter().rev().fold(element, |inner, extent| format!("[{inner}; {extent}]"));
                if extents.is_empty() { array } else { format!("&{array}") }
            }
            Binding::Operand(Operand::Value(value)) => self.element_type_of(self.ty(*value)),
            Binding::Operand(Operand::Poison) => return None,
            Binding::Operand(Operand::Array(..) | Operand::List(_) | Operand::Tuple(_)) => UNSAID.into(),
        })
    }

    fn element_type_of(&self, ty: super::Ty) -> String {
        let scalar = self.terms.get(ty.term).map_or(UNSAID, ir::Scalar::name);
        match ty.vector {
            Some(width) => format!("Vector<{scalar}, {width}>"),
            None => scalar.into(),
        }
    }
}

/// Whether a body has no value.
fn ends_in_statement(body: &Expr) -> bool {
    match body {
        Expr::Block(block) => !matches!(block.block.stmts.last(), Some(Stmt::Expr(_, None))),
        Expr::Assign(_) => true,
        _ => false,
    }
}

/// The names that a pattern binds.
fn variables(pattern: &Pat) -> Vec<String> {
    struct Names(Vec<String>);
    impl Visit<'_> for Names {
        fn visit_pat_ident(&mut self, pattern: &syn::PatIdent) {
            self.0.push(pattern.ident.to_string());
        }
    }
    let mut names = Names(Vec::new());
    names.visit_pat(pattern);
    names.0
}

fn memory_type(kernel: &Kernel, base: Base) -> String {
    match base {
        Base::Tile(tile) => {
            let tile = &kernel.tiles[tile];
            format!("&mut {}", tile.rust(tile.layout))
        }
        Base::Tensor(param) => match kernel.params[param].kind {
            ParamKind::Tensor { element, rank, mutable } => {
                let reference = if mutable { "&mut " } else { "&" };
                match rank {
                    2 => format!("{reference}Matrix<{}>", element.name()),
                    _ => format!("{reference}Tensor<{}, {rank}>", element.name()),
                }
            }
            ParamKind::Scalar(scalar) => scalar.name().into(),
        },
    }
}
