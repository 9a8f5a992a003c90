//! Shuffles, votes and barriers that compute.
//!
//! Each is one `asm volatile` instruction, or several for values of more than 32 bits, behind a named function. The
//! lanes that take part are those that exist, so the last warp of a block that is not a whole number of warps has a mask
//! of its own: the variable `members` of the entry point.

use std::fmt::Write;

use super::Emitter;
use super::code::{Code, Level};
use super::expr::{Builtin, builtin, expr};
use super::prelude::Piece;
use super::stmt::assign;
use super::types::{held, scalar_type, stored};
use crate::ir::{Axis, Collective, CollectiveOp, Kernel, Scalar, Scope, Shuffle, Type};
use tileproof_model::access::LANES;

/// The instruction of a shuffle.
fn mode(shuffle: Shuffle) -> &'static str {
    match shuffle {
        Shuffle::Lane => "idx",
        Shuffle::Xor => "bfly",
        Shuffle::Up => "up",
        Shuffle::Down => "down",
    }
}

/// Emits a collective; all threads that take part get there.
pub(super) fn collective(e: &mut Emitter<'_>, collective: &Collective) {
    let Collective { local: _, op, operands, span: _ } = collective;
    let mut arguments: Vec<Code> = operands.iter().map(|operand| expr(e, *operand)).collect();
    let ty = operands.first().map_or(Type::Scalar(Scalar::Bool), |operand| e.kernel.exprs[*operand].ty);
    let vote = match op {
        CollectiveOp::Shuffle(shuffle) => return shuffled(e, collective, *shuffle, ty, arguments),
        CollectiveOp::MatrixProduct(product) => {
            operands.iter().for_each(|operand| e.need_type(e.kernel.exprs[*operand].ty));
            let function = e.need(Piece::MatrixProduct(*product));
            return result(e, collective, Code::call(&function, &arguments));
        }
        CollectiveOp::MatchAny => {
            arguments.push(members(e));
            let function = e.need(Piece::MatchAny(ty.scalar()));
            return result(e, collective, Code::call(&function, &arguments));
        }
        CollectiveOp::Any => Vote::Any,
        CollectiveOp::All => Vote::All,
        CollectiveOp::Ballot => Vote::Ballot,
        CollectiveOp::BlockCount => Vote::BlockCount,
        CollectiveOp::BlockAny => Vote::BlockAny,
        CollectiveOp::BlockAll => Vote::BlockAll,
    };
    if op.participants() == Scope::Warp {
        arguments.push(members(e));
    }
    let function = e.need(Piece::Vote(vote));
    result(e, collective, Code::call(&function, &arguments));
}

fn shuffled(
    e: &mut Emitter<'_>,
    collective: &Collective,
    shuffle: Shuffle,
    ty: Type,
    mut arguments: Vec<Code>,
) {
    if let Some(by) = arguments.pop() {
        arguments.push(Code::prefix("(u32)", by));
    }
    arguments.push(members(e));
    e.need(Piece::ShuffleWord(shuffle));
    let function = match held(ty) {
        Type::Scalar(scalar) => e.need(Piece::Shuffle(shuffle, scalar)),
        Type::Vector(scalar, width) => {
            e.need_type(ty);
            e.need(Piece::Shuffle(shuffle, stored(scalar)));
            e.need(Piece::ShuffleVector(shuffle, stored(scalar), width))
        }
    };
    result(e, collective, Code::call(&function, &arguments));
}

/// The statement that gives the result its variable, if something reads it.
fn result(e: &mut Emitter<'_>, collective: &Collective, call: Code) {
    let Collective { local, span, .. } = collective;
    if e.plan.is_live(*local) {
        assign(e, *local, call, None, *span);
    } else {
        e.out.statement(*span, &format!("{};", call.text));
    }
}

/// The lanes of the warp that exist.
pub(super) fn members(e: &mut Emitter<'_>) -> Code {
    match last_warp(e.kernel) {
        None => Code::atom("0xffffffffu"),
        Some(mask) if e.kernel.threads() < LANES as u32 => Code::atom(format!("{mask:#x}u")),
        Some(_) => Code::atom(match &e.members {
            Some(name) => name.clone(),
            None => e.members.insert(e.names.names.fresh("members")).clone(),
        }),
    }
}

/// The lanes of a last warp that is shorter than the others.
fn last_warp(kernel: &Kernel) -> Option<u32> {
    let lanes = kernel.threads() % LANES as u32;
    (lanes > 0).then(|| (1 << lanes) - 1)
}

/// The value of the variable `members`.
pub(super) fn members_of_thread(e: &mut Emitter<'_>) -> Option<String> {
    let mask = last_warp(e.kernel)?;
    let first = e.kernel.threads() / LANES as u32 * LANES as u32;
    let mut thread = builtin(e, Builtin::Thread, Axis::X);
    let mut inner = e.kernel.block[0];
    for axis in [Axis::Y, Axis::Z] {
        let extent = e.kernel.block[axis.index()];
        if extent > 1 {
            let outer = builtin(e, Builtin::Thread, axis);
            let outer = Code::infix(Level::Multiplicative, outer, "*", Code::atom(inner.to_string()));
            thread = Code::infix(Level::Additive, outer, "+", thread);
        }
        inner *= extent;
    }
    let whole = Code::infix(Level::Comparison, thread, "<", Code::atom(first.to_string()));
    Some(Code::conditional(whole, Code::atom("0xffffffffu"), Code::atom(format!("{mask:#x}u"))).text)
}

/// The name of a shuffle of 32 bits.
pub(super) fn word_name(shuffle: Shuffle) -> String {
    format!("{}_word", CollectiveOp::Shuffle(shuffle).name())
}

/// The definition of [`word_name`]. A lane whose source does not exist gets its own value: above the last lane, because
/// that bounds the source; below lane 0, because a shuffle up is bounded by it.
pub(super) fn word(shuffle: Shuffle) -> String {
    let bound = match shuffle {
        Shuffle::Up => "\"r\"(0u)",
        Shuffle::Lane | Shuffle::Xor | Shuffle::Down => "\"r\"(31u - (u32)__clz((int)members))",
    };
    format!(
        "__device__ __forceinline__ u32 {}(u32 value, u32 by, u32 members) {{\n    \
         asm volatile(\"shfl.sync.{}.b32 %0, %0, %1, %2, %3;\" : \"+r\"(value) : \"r\"(by), {bound}, \"r\"(members));\n    \
         return value;\n}}\n",
        word_name(shuffle),
        mode(shuffle)
    )
}

/// The name of a shuffle of a scalar.
pub(super) fn shuffle_name(shuffle: Shuffle, scalar: Scalar) -> String {
    format!("{}_{}", CollectiveOp::Shuffle(shuffle).name(), scalar.name())
}

/// The definition of [`shuffle_name`].
pub(super) fn shuffle(shuffle: Shuffle, scalar: Scalar) -> String {
    let (name, ty, word) = (shuffle_name(shuffle, scalar), scalar_type(scalar), word_name(shuffle));
    let mut text = format!("__device__ __forceinline__ {ty} {name}({ty} value, u32 by, u32 members) {{\n");
    match scalar {
        Scalar::F32 => {
            let _ = write!(
                text,
                "    u32 bits;\n    \
                 asm(\"mov.b32 %0, %1;\" : \"=r\"(bits) : \"f\"(value));\n    \
                 bits = {word}(bits, by, members);\n    \
                 asm(\"mov.b32 %0, %1;\" : \"=f\"(value) : \"r\"(bits));\n    \
                 return value;\n"
            );
        }
        Scalar::F64 => {
            let _ = write!(
                text,
                "    u32 low, high;\n    \
                 asm(\"mov.b64 {{%0, %1}}, %2;\" : \"=r\"(low), \"=r\"(high) : \"d\"(value));\n    \
                 low = {word}(low, by, members);\n    \
                 high = {word}(high, by, members);\n    \
                 asm(\"mov.b64 %0, {{%1, %2}};\" : \"=d\"(value) : \"r\"(low), \"r\"(high));\n    \
                 return value;\n"
            );
        }
        Scalar::I64 | Scalar::U64 => {
            let _ = write!(
                text,
                "    const u32 low = {word}((u32)value, by, members);\n    \
                 const u32 high = {word}((u32)((u64)value >> 32), by, members);\n    \
                 return ({ty})((u64)high << 32 | low);\n"
            );
        }
        Scalar::Usize | Scalar::Isize => {
            let _ = write!(
                text,
                "    const u32 low = {word}((u32)value, by, members);\n    \
                 const u32 high = sizeof({ty}) == 8 ? {word}((u32)((u64)value >> 32), by, members) : 0;\n    \
                 return ({ty})((u64)high << 32 | low);\n"
            );
        }
        Scalar::F16 | Scalar::Bf16 => {
            let _ = writeln!(text, "    return {ty}{{(u16){word}((u32)value.bits, by, members)}};");
        }
        Scalar::Bool => {
            let _ = writeln!(text, "    return {word}((u32)value, by, members) != 0;");
        }
        Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::U8 | Scalar::U16 | Scalar::U32 => {
            let _ = writeln!(text, "    return ({ty}){word}((u32)value, by, members);");
        }
    }
    text.push_str("}\n");
    text
}

/// The name of a shuffle of a vector.
pub(super) fn vector_name(shuffle: Shuffle, scalar: Scalar, width: u32) -> String {
    format!("{}x{width}", shuffle_name(shuffle, scalar))
}

/// The definition of [`vector_name`].
pub(super) fn vector(shuffle: Shuffle, scalar: Scalar, width: u32) -> String {
    let ty = super::types::element_type(scalar, width);
    format!(
        "__device__ __forceinline__ {ty} {}({ty} value, u32 by, u32 members) {{\n    \
         #pragma unroll\n    \
         for (u32 i = 0; i < {width}; ++i) value.lane[i] = {}(value.lane[i], by, members);\n    \
         return value;\n}}\n",
        vector_name(shuffle, scalar, width),
        shuffle_name(shuffle, scalar)
    )
}

/// A vote, of a warp or of the block.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Vote {
    Any,
    All,
    Ballot,
    BlockCount,
    BlockAny,
    BlockAll,
}

impl Vote {
    /// The name of its function.
    pub(super) fn name(self) -> &'static str {
        match self {
            Vote::Any => "warp_any",
            Vote::All => "warp_all",
            Vote::Ballot => "warp_ballot",
            Vote::BlockCount => "block_count",
            Vote::BlockAny => "block_any",
            Vote::BlockAll => "block_all",
        }
    }

    /// The definition of its function.
    pub(super) fn text(self) -> String {
        let (instruction, is_bool, of_warp) = match self {
            Vote::Any => ("vote.sync.any.pred holds, holds, %2;", true, true),
            Vote::All => ("vote.sync.all.pred holds, holds, %2;", true, true),
            Vote::Ballot => ("vote.sync.ballot.b32 %0, holds, %2;", false, true),
            Vote::BlockCount => ("bar.red.popc.u32 %0, 0, holds;", false, false),
            Vote::BlockAny => ("bar.red.or.pred holds, 0, holds;", true, false),
            Vote::BlockAll => ("bar.red.and.pred holds, 0, holds;", true, false),
        };
        let (ty, select, result) = match is_bool {
            true => ("bool", " selp.u32 %0, 1, 0, holds;", "result != 0"),
            false => ("u32", "", "result"),
        };
        let (parameter, operand) = match of_warp {
            true => (", u32 members", ", \"r\"(members)"),
            false => ("", ""),
        };
        let clobber = if of_warp { "" } else { " : \"memory\"" };
        format!(
            "__device__ __forceinline__ {ty} {}(bool condition{parameter}) {{\n    \
             u32 result;\n    \
             asm volatile(\"{{ .reg .pred holds; setp.ne.u32 holds, %1, 0; {instruction}{select} }}\"\n                 \
             : \"=r\"(result) : \"r\"((u32)condition){operand}{clobber});\n    \
             return {result};\n}}\n",
            self.name()
        )
    }
}

/// The name of the function that finds equal lanes.
pub(super) fn match_name(scalar: Scalar) -> String {
    format!("match_any_{}", scalar.name())
}

/// The definition of [`match_name`].
pub(super) fn match_any(scalar: Scalar) -> String {
    let ty = scalar_type(scalar);
    let (bits, operand) = match scalar {
        Scalar::F32 => ("b32", "\"f\"(value)"),
        Scalar::F16 | Scalar::Bf16 => ("b32", "\"r\"((u32)value.bits)"),
        Scalar::F64 => ("b64", "\"d\"(value)"),
        Scalar::I64 | Scalar::U64 | Scalar::Usize | Scalar::Isize => ("b64", "\"l\"((u64)value)"),
        Scalar::Bool | Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::U8 | Scalar::U16 | Scalar::U32 => {
            ("b32", "\"r\"((u32)value)")
        }
    };
    format!(
        "__device__ __forceinline__ u32 {}({ty} value, u32 members) {{\n    \
         u32 result;\n    \
         asm volatile(\"match.any.sync.{bits} %0, %1, %2;\" : \"=r\"(result) : {operand}, \"r\"(members));\n    \
         return result;\n}}\n",
        match_name(scalar)
    )
}
