//! Shared tiles: `Shared::<[[f32; 32]; 32], Pad<1>>::new()`.

use super::{Binding, Lower, peeled};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{Base, Choice, Layout, Scalar, Tile};
use syn::{Expr, GenericArgument, PathArguments, PathSegment, Type};

/// Bytes at which a tile starts: the widest access.
const TILE_ALIGNMENT: u32 = 16;

/// The segment `Shared<…>` of an expression `Shared::<…>::new()`, or of an annotation on the `let`.
pub(super) fn declaration<'a>(init: &'a Expr, annotation: Option<&'a Type>) -> Option<&'a PathSegment> {
    let Expr::Call(call) = init else { return None };
    let Expr::Path(path) = &*call.func else { return None };
    let mut segments = path.path.segments.iter().rev();
    if segments.next()?.ident != "new" {
        return None;
    }
    let shared = segments.next().filter(|segment| segment.ident == "Shared")?;
    if !shared.arguments.is_empty() {
        return Some(shared);
    }
    match annotation.map(peeled) {
        Some(Type::Path(path)) => path.path.segments.last().filter(|segment| segment.ident == "Shared"),
        _ => Some(shared),
    }
}

impl Lower<'_> {
    /// Declares a tile and binds its name; on an error the name is bound to nothing that could cause another one.
    pub(super) fn declare_tile(&mut self, name: &syn::Ident, segment: &PathSegment) {
        let binding = match self.tile(name, segment) {
            Some(tile) => Binding::Memory(Base::Tile(self.kernel.tiles.add(tile))),
            None => Binding::Operand(super::Operand::Poison),
        };
        self.bind(name.to_string(), binding);
    }

    fn tile(&mut self, name: &syn::Ident, segment: &PathSegment) -> Option<Tile> {
        let span = self.span(segment);
        let arguments: Vec<&Type> = match &segment.arguments {
            PathArguments::AngleBracketed(arguments) => arguments
                .args
                .iter()
                .filter_map(|argument| match argument {
                    GenericArgument::Type(ty) => Some(ty),
                    _ => None,
                })
                .collect(),
            PathArguments::None | PathArguments::Parenthesized(_) => Vec::new(),
        };
        let [array, layout @ ..] = arguments.as_slice() else {
            self.diagnostics.report(
                Diagnostic::new(Code::Constant, span, "the shape of this tile is not known here")
                    .help("write it: `Shared::<[[f32; 32]; 32], Pad<1>>::new()`"),
            );
            return None;
        };
        let (element, extents) = self.tile_shape(array)?;
        let (layout, choice) = match layout {
            [] => (Layout::RowMajor, Choice::Written),
            [layout, ..] if is_auto(layout) => (Layout::RowMajor, Choice::Auto),
            [layout, ..] => (self.layout(layout)?, Choice::Written),
        };
        let tile = Tile {
            name: name.to_string(),
            element,
            extents,
            layout,
            choice,
            alignment: TILE_ALIGNMENT,
            span,
        };
        if let Some(defect) = layout.defect(&tile.extents) {
            let mut error = Diagnostic::new(
                Code::Layout,
                span,
                format!("`{}` is not a layout of this tile", layout.rust()),
            )
            .note(defect)
            .note("a layout gives every element of the tile a place of its own inside it");
            if let Some(working) = working_layout(&tile.extents) {
                error = error.help(format!("write `{}`", tile.rust(working)));
            }
            self.diagnostics.report(error);
            return None;
        }
        Some(tile)
    }

    fn tile_shape(&mut self, ty: &Type) -> Option<(Scalar, Vec<u32>)> {
        let mut extents = Vec::new();
        let mut element = self.resolved(ty);
        while let Type::Array(array) = &element {
            let span = self.span(&array.len);
            match self.type_constant(&array.len, "the extent of a tile")? {
                extent @ 1..=0x1_0000 => extents.push(extent as u32),
                extent => {
                    self.diagnostics.report(Diagnostic::new(
                        Code::Constant,
                        span,
                        format!("a tile cannot have an extent of {extent}: at least 1, at most 65,536"),
                    ));
                    return None;
                }
            }
            element = self.resolved(&array.elem);
        }
        let elements = extents.iter().try_fold(1u32, |product, extent| product.checked_mul(*extent));
        match (self.scalar_type(&element), elements) {
            (Some(scalar), Some(_)) if !extents.is_empty() && !scalar.is_index() => Some((scalar, extents)),
            _ if self.diagnostics.spans.is_in_library() => {
                let span = self.span(ty);
                self.diagnostics.report(
                    Diagnostic::new(Code::Type, span, "the type of this value is not known here, or is an index")
                        .note("the warps of a block hand it on in a shared tile, whose elements are numbers of a known type")
                        .help("write its type (`1u32`), and cast an index: `i as u32`"),
                );
                None
            }
            _ => {
                let span = self.span(ty);
                let text = self.diagnostics.spans.get(span).text.clone();
                self.diagnostics.report(
                    Diagnostic::new(Code::Unsupported, span, format!("a tile cannot have the type `{text}`"))
                        .note("a tile is an array of numbers, with extents known at compile time")
                        .help("write `Shared::<[[f32; 32]; 32]>::new()`"),
                );
                None
            }
        }
    }

    fn layout(&mut self, ty: &Type) -> Option<Layout> {
        let layout = self.try_layout(ty)?;
        if layout.is_none() {
            let span = self.span(ty);
            let text = self.diagnostics.spans.get(span).text.clone();
            self.diagnostics.report(
                Diagnostic::new(Code::Layout, span, format!("`{text}` is not a layout"))
                    .note("layouts are `RowMajor`, `Pad<N>` (N elements after each row), `Xor<V>` (chunks of V elements), `Swizzle<B, M, S>`, and `Auto`, which leaves the choice to the compiler"),
            );
        }
        layout
    }

    /// `None` where a number is not known, which is an error of its own; `Some(None)` where it is no layout.
    fn try_layout(&mut self, ty: &Type) -> Option<Option<Layout>> {
        let Type::Path(path) = self.resolved(ty) else { return Some(None) };
        let Some(segment) = path.path.segments.last() else { return Some(None) };
        let mut numbers = Vec::new();
        if let PathArguments::AngleBracketed(arguments) = &segment.arguments {
            for argument in &arguments.args {
                numbers.push(self.generic_constant(argument, "a number of a layout")?);
            }
        }
        Some(layout_of(&segment.ident.to_string(), &numbers))
    }
}

/// Whether the type leaves the layout to the compiler.
fn is_auto(ty: &Type) -> bool {
    let Type::Path(path) = peeled(ty) else { return false };
    path.path.segments.last().is_some_and(|segment| segment.ident == "Auto" && segment.arguments.is_empty())
}

/// A layout by its name and numbers.
fn layout_of(name: &str, numbers: &[i128]) -> Option<Layout> {
    let unsigned = |value: &i128| u32::try_from(*value).ok().filter(|value| *value <= 0x1_0000);
    match (name, numbers) {
        ("RowMajor", []) => Some(Layout::RowMajor),
        ("Pad", [pad]) => Some(Layout::Pad(unsigned(pad)?)),
        ("Xor", [chunk]) => Some(Layout::Xor(unsigned(chunk)?)),
        ("Swizzle", [bits, base, shift]) => Some(Layout::Swizzle {
            bits: unsigned(bits).filter(|bits| *bits < 32)?,
            base: unsigned(base).filter(|base| *base < 32)?,
            shift: i32::try_from(*shift).ok().filter(|shift| shift.abs() < 32)?,
        }),
        _ => None,
    }
}

/// The first swizzle that is a layout of this tile.
fn working_layout(extents: &[u32]) -> Option<Layout> {
    [Layout::Xor(1), Layout::Xor(2), Layout::Xor(4), Layout::Pad(1)]
        .into_iter()
        .find(|layout| layout.defect(extents).is_none())
}
