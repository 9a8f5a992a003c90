//! Atomic updates, each a function around one predicated instruction.

use std::fmt::Write;

use super::Emitter;
use super::code::Code;
use super::expr::expr;
use super::memory::{Memory, address, address_operand};
use super::prelude::Piece;
use super::stmt::{address_of, assign};
use super::types::scalar_type;
use crate::ir::{Atomic, AtomicOp, Base, Scalar};

/// The form of an atomic update.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Update {
    pub(super) op: AtomicOp,
    pub(super) scalar: Scalar,
    pub(super) memory: Memory,
    /// Whether it returns the value before it. Without, it is another instruction.
    pub(super) returns: bool,
}

/// Emits an update for the threads for which the predicate holds.
pub(super) fn update(e: &mut Emitter<'_>, atomic: &Atomic, predicate: Option<&str>) {
    let Atomic { local, site, op, operands } = atomic;
    let (base, span) = (e.kernel.sites[*site].place.base, e.kernel.sites[*site].span);
    let is_used = e.plan.is_live(*local);
    let returns = match op {
        // These have no form without.
        AtomicOp::Exchange | AtomicOp::CompareExchange => true,
        AtomicOp::Add | AtomicOp::Min | AtomicOp::Max | AtomicOp::And | AtomicOp::Or | AtomicOp::Xor => {
            is_used
        }
    };
    let memory = match base {
        Base::Tile(_) => Memory::Shared,
        Base::Tensor(_) => Memory::Global,
    };
    let update = Update { op: *op, scalar: e.kernel.element(base), memory, returns };
    let function = e.need(Piece::Update(update));
    let mut arguments = vec![address_of(e, *site)];
    arguments.extend(operands.iter().map(|operand| expr(e, *operand)));
    arguments.push(Code::atom(predicate.unwrap_or("true")));
    let call = Code::call(&function, &arguments);
    if is_used {
        // The local is fresh, so there is no value to keep for the threads that do not update.
        assign(e, *local, call, None, span);
    } else {
        e.out.statement(span, &format!("{};", call.text));
    }
}

impl Update {
    /// The name of its function.
    pub(super) fn name(self) -> String {
        let memory = match self.memory {
            Memory::Shared => "shared",
            Memory::Global | Memory::Constant => "global",
        };
        let verb = if self.returns { "atomic" } else { "reduce" };
        let op = self.op.name().strip_prefix("atomic_").unwrap_or_default();
        format!("{verb}_{op}_{memory}_{}", self.scalar.name())
    }

    /// The type in the instruction, and the constraint of its registers.
    fn ptx(self) -> (&'static str, char) {
        let by_bits = match self.op {
            AtomicOp::And | AtomicOp::Or | AtomicOp::Xor | AtomicOp::Exchange | AtomicOp::CompareExchange => {
                true
            }
            AtomicOp::Add | AtomicOp::Min | AtomicOp::Max => false,
        };
        let is_wide = self.scalar.bytes() == 8;
        let constraint = match (self.scalar.is_float(), is_wide) {
            (true, false) => 'f',
            (true, true) => 'd',
            (false, false) => 'r',
            (false, true) => 'l',
        };
        if by_bits {
            return (if is_wide { "b64" } else { "b32" }, constraint);
        }
        let ty = match (self.scalar.is_float(), self.scalar.is_signed(), is_wide) {
            (true, _, false) => "f32",
            (true, _, true) => "f64",
            (false, true, false) => "s32",
            // A sum has the same bits whatever the sign, and no instruction is there for this one.
            (false, true, true) if self.op != AtomicOp::Add => "s64",
            (false, false, false) => "u32",
            (false, _, true) => "u64",
        };
        (ty, constraint)
    }

    /// The definition of its function.
    pub(super) fn text(self) -> String {
        let ty = scalar_type(self.scalar);
        let (ptx, constraint) = self.ptx();
        let (space, scope) = match self.memory {
            Memory::Shared => ("shared", "cta"),
            Memory::Global | Memory::Constant => ("global", "gpu"),
        };
        let op = match self.op {
            AtomicOp::Add => "add",
            AtomicOp::Min => "min",
            AtomicOp::Max => "max",
            AtomicOp::And => "and",
            AtomicOp::Or => "or",
            AtomicOp::Xor => "xor",
            AtomicOp::Exchange => "exch",
            AtomicOp::CompareExchange => "cas",
        };
        let values: &[&str] = match self.op {
            AtomicOp::CompareExchange => &["expected", "value"],
            AtomicOp::Add
            | AtomicOp::Min
            | AtomicOp::Max
            | AtomicOp::And
            | AtomicOp::Or
            | AtomicOp::Xor
            | AtomicOp::Exchange => &["value"],
        };
        let parameters: String = values.iter().map(|name| format!("{ty} {name}, ")).collect();
        let result = if self.returns { ty } else { "void" };
        let mut text = format!(
            "__device__ __forceinline__ {result} {}({}, {parameters}bool active) {{\n",
            self.name(),
            address(self.memory, self.scalar, "")
        );
        // With a result, that is operand 0.
        let first = usize::from(self.returns);
        let list: String = (0..values.len()).map(|i| format!(", %{}", first + 1 + i)).collect();
        let active = first + 1 + values.len();
        let (instruction, output) = match self.returns {
            true => ("atom", format!("\"+{constraint}\"(before) ")),
            false => ("red", String::new()),
        };
        let destination = if self.returns { "%0, " } else { "" };
        let inputs: String = values.iter().map(|name| format!("\"{constraint}\"({name}), ")).collect();
        if self.returns {
            let _ = writeln!(text, "    {ty} before = {{}};");
        }
        let _ = writeln!(
            text,
            "    asm volatile(\"{{ .reg .pred active; setp.ne.u32 active, %{active}, 0; @active \
             {instruction}.relaxed.{scope}.{space}.{op}.{ptx} {destination}[%{first}]{list}; }}\""
        );
        let _ = writeln!(
            text,
            "                 : {output}: {}, {inputs}\"r\"((u32)active) : \"memory\");",
            address_operand(self.memory)
        );
        if self.returns {
            text.push_str("    return before;\n");
        }
        text.push_str("}\n");
        text
    }
}
