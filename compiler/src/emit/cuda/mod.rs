//! The CUDA C of a kernel.
//!
//! # What the text promises
//!
//! **The access in the source is the access in the machine code.** Every [`Site`](crate::ir::Site) is one call of a
//! function that holds one `asm volatile` memory instruction, because plain C leaves the compiler free to merge, widen
//! or repeat accesses, and then the proofs are about something else. The predicate of an access is inside its
//! instruction: an `if` around it would make each load wait for the one before. So an `if` that holds nothing but
//! accesses and assignments becomes straight-line code, and its condition becomes the predicate of what is in it.
//!
//! **Values are those of Rust.** Data arithmetic wraps, shift amounts are masked, casts of floats saturate. `index_t` and
//! `offset_t`, the types of `usize` and `isize`, are 32 bits wide when [`CudaFacts::narrow`] holds and `TILEPROOF_WIDE` is
//! not defined; the launcher defines it for tensors that are too large. `offset_t` is computed as `index_t`, because what
//! threads outside of a guard compute under a predicate may overflow.
//!
//! **It needs no header and yields no warning.** What nothing depends on is left out. Nothing is shadowed: a name that
//! C++ keeps for itself, or that is taken, gets a number.
//!
//! # Calling convention
//!
//! The entry point takes the arguments in order: a tensor is its pointer, then its extents, outermost first, then its
//! strides but for the innermost one, all of them `index_t`; a scalar is itself, `usize` an `index_t`.
//!
//! The tiles are static shared memory as long as that suffices. Otherwise all of them lie in the dynamic one, where
//! [`Kernel::shared_bytes`] says; the launcher opts in to it and passes its size.
//!
//! # What it relies on
//!
//! The kernel has been checked: vector accesses move 2, 4, 8 or 16 bytes, layouts have no
//! [defect](crate::ir::Layout::defect), operators other than a selection have scalar operands.

mod atomic;
mod code;
mod collective;
mod expr;
mod function;
mod half;
mod layout;
mod literal;
mod matrix;
mod memory;
mod names;
mod out;
mod plan;
mod prelude;
mod stmt;
mod types;
mod unaligned;

use std::collections::BTreeSet;

use crate::ir::{Demand, Handle, Kernel, Loop, ParamKind, Scalar, Type};
use crate::span::SpanId;
use tileproof_model::limits::{DYNAMIC_SHARED_ALIGNMENT, dynamic_shared_bytes};

use expr::Builtin;
use names::KernelNames;
use out::Out;
use plan::Plan;
use prelude::Piece;
use types::{element_type, scalar_type, value_type};

/// What the analysis knows that the text depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CudaFacts {
    /// By loop of the IR: how often it runs, if that is one constant for all threads. Missing entries are unknown.
    pub trips: Vec<Option<u32>>,
    /// Whether every `usize` and `isize` expression fits 32 bits when every extent, stride, span and `usize` argument is
    /// below 2^31, and the magnitude of every `isize` argument.
    pub narrow: bool,
}

impl CudaFacts {
    fn trip(&self, handle: Handle<Loop>) -> Option<u32> {
        self.trips.get(handle.index()).copied().flatten()
    }
}

/// The CUDA C of one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cuda {
    /// The name of the entry point: the kernel's own, unless C++ or CUDA has another use for it.
    pub entry: String,
    /// The text, a translation unit without headers.
    pub text: String,
    /// Where lines of the text, counted from 1, come from; in ascending order of lines.
    pub lines: Vec<(u32, SpanId)>,
}

/// Writes the CUDA C of a kernel that has been checked.
pub fn cuda(kernel: &Kernel, facts: &CudaFacts) -> Cuda {
    let mut emitter = Emitter {
        kernel,
        facts,
        names: names::choose(kernel),
        plan: plan::plan(kernel, facts),
        pieces: Vec::new(),
        builtins: BTreeSet::new(),
        tiles: vec![false; kernel.tiles.len()],
        declared: vec![false; kernel.locals.len()],
        members: None,
        out: Out::default(),
    };
    emitter.out.indent();
    stmt::block(&mut emitter, &kernel.body, None);
    let body = std::mem::take(&mut emitter.out);

    emitter.out.indent();
    prologue(&mut emitter);
    let prologue = std::mem::take(&mut emitter.out);

    let mut function = Out::default();
    function.lines(&signature(&emitter));
    function.append(&prologue);
    function.append(&body);
    function.line("}");

    let mut out = Out::default();
    header(&mut out, kernel);
    let tables = tables(&mut emitter);
    preamble(&mut out, &emitter, tables, &function.text);
    out.append(&function);
    Cuda { entry: emitter.names.entry, text: out.text, lines: out.lines }
}

/// The state of the emission.
struct Emitter<'k> {
    kernel: &'k Kernel,
    facts: &'k CudaFacts,
    names: KernelNames,
    plan: Plan,
    /// In the order of first use.
    pieces: Vec<Piece>,
    /// The positions and extents that are used, by axis.
    builtins: BTreeSet<(Builtin, usize)>,
    /// By tile: whether it is accessed.
    tiles: Vec<bool>,
    /// By local: whether an assignment has declared it.
    declared: Vec<bool>,
    /// The variable that holds the lanes of the warp that exist, once it has come up.
    members: Option<String>,
    out: Out,
}

impl Emitter<'_> {
    /// Takes a piece of the prelude into the text, and before it those that it calls; its name.
    fn need(&mut self, piece: Piece) -> String {
        if !self.pieces.contains(&piece) {
            for other in piece.calls() {
                self.need(other);
            }
            self.pieces.push(piece);
        }
        piece.name()
    }

    /// Takes the type into the text.
    fn need_type(&mut self, ty: Type) {
        if let Type::Vector(scalar, width) = types::held(ty) {
            self.need(Piece::Vector(types::stored(scalar), width));
        }
    }
}

/// What a reader wants to know first.
fn header(out: &mut Out, kernel: &Kernel) {
    let [x, y, z] = kernel.block;
    out.line(&format!("// {}: blocks of {x} x {y} x {z} = {} threads", kernel.name, kernel.threads()));
    if let Some(Demand { function, least, .. }) = kernel.greatest_demand() {
        out.line(&format!("// for {} and later, because of {function}", least.name()));
    }
    for (_, tile) in kernel.tiles.iter() {
        let extents: String = tile.extents.iter().map(|extent| format!("[{extent}]")).collect();
        let (element, layout, bytes) = (tile.element.name(), tile.layout.rust(), tile.bytes());
        out.line(&format!("// {}: {element}{extents} in shared memory, {layout}, {bytes} bytes", tile.name));
    }
    out.line("");
}

/// Types, the functions of the prelude and of the tiles that the function needs, and the constant tables.
fn preamble(out: &mut Out, emitter: &Emitter<'_>, tables: Vec<String>, function: &str) {
    let mut definitions = prelude::text(&emitter.pieces);
    for (handle, tile) in emitter.kernel.tiles.iter() {
        if emitter.tiles[handle.index()] {
            definitions.push(layout::function(tile, &emitter.names.tiles[handle.index()].at));
        }
    }
    definitions.extend(tables);
    for scalar in [Scalar::Bf16, Scalar::F16] {
        let is_used = std::iter::once(function)
            .chain(definitions.iter().map(String::as_str))
            .any(|t| has_word(t, scalar.name()));
        if is_used {
            definitions.insert(0, types::half(scalar));
        }
    }
    let mentions = |word: &str| {
        std::iter::once(function).chain(definitions.iter().map(String::as_str)).any(|t| has_word(t, word))
    };
    for (name, ty) in types::TYPEDEFS {
        if mentions(name) {
            out.line(&format!("typedef {ty} {name};"));
        }
    }
    for (name, wide, narrow) in
        [("index_t", "unsigned long long", "unsigned int"), ("offset_t", "long long", "int")]
    {
        if !mentions(name) {
            continue;
        }
        if emitter.facts.narrow {
            out.lines(&format!(
                "#ifdef TILEPROOF_WIDE\ntypedef {wide} {name};\n#else\ntypedef {narrow} {name};\n#endif"
            ));
        } else {
            out.line(&format!("typedef {wide} {name};"));
        }
    }
    for definition in &definitions {
        out.line("");
        out.lines(definition);
    }
    out.line("");
}

/// The constant tables that the function reads.
fn tables(emitter: &mut Emitter<'_>) -> Vec<String> {
    let kernel = emitter.kernel;
    let mut texts = Vec::new();
    for (handle, local) in kernel.locals.iter().filter(|(_, local)| local.table.is_some()) {
        if !emitter.plan.is_live(handle) {
            continue;
        }
        let (ty, values) = expr::table(emitter, handle);
        let values: Vec<String> = values.into_iter().map(|value| value.text).collect();
        let extents: String = local.extents.iter().map(|extent| format!("[{extent}]")).collect();
        let row = local.extents.last().map_or(1, |extent| *extent as usize).max(1);
        let rows: Vec<String> = values.chunks(row).map(|row| format!("    {},", row.join(", "))).collect();
        let name = &emitter.names.locals[handle.index()];
        texts.push(format!("__constant__ const {ty} {name}{extents} = {{\n{}\n}};\n", rows.join("\n")));
    }
    texts
}

/// Whether the text has the word, not as a part of a longer one.
fn has_word(text: &str, word: &str) -> bool {
    let part_of_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        !text[..at].ends_with(part_of_word) && !text[at + word.len()..].starts_with(part_of_word)
    })
}

/// The head of the entry point.
fn signature(emitter: &Emitter<'_>) -> String {
    let mut params = Vec::new();
    for ((_, param), names) in emitter.kernel.params.iter().zip(&emitter.names.params) {
        let value = &names.value;
        let mut parts = vec![match param.kind {
            ParamKind::Tensor { element, mutable, .. } => {
                let qualifier = if mutable { "" } else { "const " };
                format!("{qualifier}{}* __restrict__ {value}", element_type(element, 1))
            }
            ParamKind::Scalar(scalar) => format!("{} {value}", scalar_type(scalar)),
        }];
        parts.extend(names.extents.iter().chain(&names.strides).map(|name| format!("index_t {name}")));
        params.push(format!("\n    {}", parts.join(", ")));
    }
    let (threads, min_blocks, entry) =
        (emitter.kernel.threads(), emitter.kernel.min_blocks, &emitter.names.entry);
    let bounds = match min_blocks {
        None => threads.to_string(),
        Some(blocks) => format!("{threads}, {blocks}"),
    };
    format!("extern \"C\" __global__ void __launch_bounds__({bounds}) {entry}({}) {{", params.join(","))
}

/// Tiles, the thread's place, and the variables that cannot be declared where they are first assigned.
fn prologue(emitter: &mut Emitter<'_>) {
    let members = emitter.members.clone();
    let members = members.and_then(|name| Some((name, collective::members_of_thread(emitter)?)));
    let Emitter { kernel, names, plan, pieces: _, builtins, tiles, declared: _, members: _, facts: _, out } =
        emitter;
    let (offsets, total) = kernel.shared_bytes();
    let dynamic = dynamic_shared_bytes(total) > 0 && tiles.contains(&true);
    if dynamic {
        let memory = &names.dynamic;
        out.line(&format!("alignas({DYNAMIC_SHARED_ALIGNMENT}) extern __shared__ u8 {memory}[];"));
    }
    for ((handle, tile), offset) in kernel.tiles.iter().zip(offsets) {
        if !tiles[handle.index()] {
            continue;
        }
        let (tile_names, element) = (&names.tiles[handle.index()], element_type(tile.element, 1));
        let (alignment, elements) = (tile.alignment, tile.layout.elements(&tile.extents));
        let (array, base) = (&tile_names.array, &tile_names.base);
        let address = match (dynamic, offset) {
            (true, 0) => format!("shared_address({})", names.dynamic),
            (true, _) => format!("shared_address({}) + {offset}u", names.dynamic),
            (false, _) => {
                out.statement(
                    tile.span,
                    &format!("__shared__ alignas({alignment}) {element} {array}[{elements}];"),
                );
                format!("shared_address({array})")
            }
        };
        out.statement(tile.span, &format!("const u32 {base} = {address};"));
    }
    for (builtin, axis) in builtins.iter() {
        let names = match builtin {
            Builtin::Thread => &names.thread,
            Builtin::Block => &names.block,
            Builtin::Grid => &names.grid,
        };
        out.line(&format!("const index_t {} = {}.{};", names[*axis], builtin.cuda(), ["x", "y", "z"][*axis]));
    }
    if let Some((name, value)) = members {
        out.line(&format!("const u32 {name} = {value};"));
    }
    for (handle, local) in kernel.locals.iter() {
        let elsewhere = plan.declared_by_assignment[handle.index()] || plan.assignments[handle.index()] == 0;
        if plan.is_live(handle) && !elsewhere {
            let extents: String = local.extents.iter().map(|extent| format!("[{extent}]")).collect();
            let name = &names.locals[handle.index()];
            out.statement(local.span, &format!("{} {name}{extents} = {{}};", value_type(local.ty)));
        }
    }
}
