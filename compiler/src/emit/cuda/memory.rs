//! The functions that access memory, each around one predicated instruction.
//!
//! `asm volatile` keeps NVVM from merging, splitting or dropping the access. ptxas sees the instruction in it: of shared
//! memory, where it knows how arrays are aligned, it merges loads of neighbours (four of `tile[y][k]` became one of 16 bytes),
//! but not those that are volatile in PTX, which in SASS are the same instructions. The predicate is inside, because
//! an `if` around such a statement would wait for each load before the next one starts. A lane that is not active gets
//! zero.
//!
//! PTX has no vectors of more than four registers and none of 16 bits or less that fill 16 bytes, so vectors of small
//! elements travel as 32-bit words.

use std::fmt::Write;

use super::types::{element_type, unsigned};
use crate::ir::Scalar;

/// The memory behind an access, and what may be assumed about it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Memory {
    /// A tensor that the kernel cannot write: goes through the read-only path.
    Constant,
    /// A tensor that the kernel may write.
    Global,
    /// A tile.
    Shared,
}

/// The name of the function that loads `width` elements.
pub(super) fn load_name(memory: Memory, scalar: Scalar, width: u32) -> String {
    let memory = match memory {
        Memory::Constant => "global",
        Memory::Global => "global_mut",
        Memory::Shared => "shared",
    };
    format!("load_{memory}_{}", element_type(scalar, width))
}

/// The name of the function that stores `width` elements.
pub(super) fn store_name(memory: Memory, scalar: Scalar, width: u32) -> String {
    let memory = match memory {
        Memory::Constant | Memory::Global => "global",
        Memory::Shared => "shared",
    };
    format!("store_{memory}_{}", element_type(scalar, width))
}

/// The name of the function that loads an element where it is active, and else keeps what it is given.
pub(super) fn load_or_name(memory: Memory, scalar: Scalar) -> String {
    load_name(memory, scalar, 1).replacen("load", "load_or", 1)
}

/// The definition of [`load_name`].
pub(super) fn load(memory: Memory, scalar: Scalar, width: u32) -> String {
    load_from(memory, scalar, width, false)
}

/// The definition of [`load_or_name`].
pub(super) fn load_or(memory: Memory, scalar: Scalar) -> String {
    load_from(memory, scalar, 1, true)
}

/// A function that loads; where it is not active it returns zeros, or what it is given if it `keeps`.
fn load_from(memory: Memory, scalar: Scalar, width: u32, keeps: bool) -> String {
    let registers = Registers::of(scalar, width);
    let ty = element_type(scalar, width);
    let count = registers.count;
    let (space, clobber) = match memory {
        Memory::Constant => ("global.nc", ""),
        Memory::Global => ("global", " : \"memory\""),
        Memory::Shared => ("volatile.shared", " : \"memory\""),
    };
    let outputs = registers.operands("+", "value");
    let (name, otherwise) = match keeps {
        true => (load_or_name(memory, scalar), format!(", {ty} otherwise")),
        false => (load_name(memory, scalar, width), String::new()),
    };
    let address_parameter = address(memory, scalar, "const ");
    let mut text =
        format!("__device__ __forceinline__ {ty} {name}({address_parameter}, bool active{otherwise}) {{\n");
    let initial = match registers.packing {
        _ if !keeps => "{}",
        Packing::None | Packing::Words => "otherwise",
        Packing::Widened if scalar.is_half() => "otherwise.bits",
        Packing::Widened => "(u32)otherwise",
    };
    let _ = writeln!(text, "    {} = {initial};", registers.declaration("value"));
    let _ = writeln!(
        text,
        "    asm volatile(\"{{ .reg .pred active; setp.ne.u32 active, %{}, 0; @active ld.{space}.{} {}, [%{count}]; }}\"",
        count + 1,
        registers.ptx,
        registers.list(0),
    );
    let _ = writeln!(
        text,
        "                 : {outputs} : {}, \"r\"((u32)active){clobber});",
        address_operand(memory)
    );
    text.push_str(&registers.returned(scalar, width));
    text.push_str("}\n");
    text
}

/// The definition of [`store_name`].
pub(super) fn store(memory: Memory, scalar: Scalar, width: u32) -> String {
    let bits_of = if scalar.is_half() { ".bits" } else { "" };
    let registers = Registers::of(scalar, width);
    let ty = element_type(scalar, width);
    let count = registers.count;
    let space = match memory {
        Memory::Constant | Memory::Global => "global",
        Memory::Shared => "volatile.shared",
    };
    let (parameter, value) = match registers.packing {
        Packing::None => ("value", "value"),
        Packing::Widened | Packing::Words => ("elements", "value"),
    };
    let mut text = format!(
        "__device__ __forceinline__ void {}({}, {ty} {parameter}, bool active) {{\n",
        store_name(memory, scalar, width),
        address(memory, scalar, "")
    );
    match registers.packing {
        Packing::None => {}
        Packing::Widened => text.push_str(&format!("    const u32 value = (u32)elements{bits_of};\n")),
        Packing::Words => text.push_str(&words(scalar, width, "elements", "value")),
    }
    let _ = writeln!(
        text,
        "    asm volatile(\"{{ .reg .pred active; setp.ne.u32 active, %{}, 0; @active st.{space}.{} [%0], {}; }}\"",
        count + 1,
        registers.ptx,
        registers.list(1),
    );
    let _ = writeln!(
        text,
        "                 :: {}, {}, \"r\"((u32)active) : \"memory\");\n}}",
        address_operand(memory),
        registers.operands("", value),
    );
    text
}

/// The name of the function that starts to copy `width` elements from a tensor to a tile.
pub(super) fn copy_name(memory: Memory, scalar: Scalar, width: u32) -> String {
    load_name(memory, scalar, width).replacen("load", "copy", 1)
}

/// The definition of [`copy_name`]: `cp.async`, around the L1 cache where it is as wide as that allows; on architectures
/// without it a load and a store. Where `inside` is false nothing is read and zeros are written.
pub(super) fn copy(memory: Memory, scalar: Scalar, width: u32) -> String {
    let bytes = scalar.bytes() * width;
    let cache = if bytes == 16 { "cg" } else { "ca" };
    let (load, store) = (load_name(memory, scalar, width), store_name(Memory::Shared, scalar, width));
    format!(
        "__device__ __forceinline__ void {}(u32 address, const {}* pointer, bool inside, bool active) {{\n\
         #if __CUDA_ARCH__ >= 800\n    \
         asm volatile(\"{{ .reg .pred active; setp.ne.u32 active, %3, 0; @active cp.async.{cache}.shared.global [%0], [%1], {bytes}, %2; }}\"\n                 \
         : : \"r\"(address), \"l\"(pointer), \"r\"(inside ? {bytes}u : 0u), \"r\"((u32)active) : \"memory\");\n\
         #else\n    {store}(address, {load}(pointer, inside && active), active);\n#endif\n}}\n",
        copy_name(memory, scalar, width),
        element_type(scalar, 1),
    )
}

pub(super) fn address(memory: Memory, scalar: Scalar, qualifier: &str) -> String {
    match memory {
        Memory::Constant | Memory::Global => format!("{qualifier}{}* pointer", element_type(scalar, 1)),
        Memory::Shared => "u32 address".into(),
    }
}

pub(super) fn address_operand(memory: Memory) -> &'static str {
    match memory {
        Memory::Constant | Memory::Global => "\"l\"(pointer)",
        Memory::Shared => "\"r\"(address)",
    }
}

/// The element in the low bits of a 32-bit word.
pub(super) fn narrowed(scalar: Scalar, word: &str) -> String {
    if scalar == Scalar::Bool {
        format!("(u8){word} != 0")
    } else if scalar.is_half() {
        format!("{}{{(u16){word}}}", scalar.name())
    } else {
        format!("({}){word}", scalar.name())
    }
}

/// The statements that declare words of 32 bits and put the elements of a vector into them.
pub(super) fn words(scalar: Scalar, width: u32, vector: &str, words: &str) -> String {
    let per_word = 4 / scalar.bytes();
    let (count, bits) = (width.div_ceil(per_word), 8 * scalar.bytes());
    let part = match scalar {
        Scalar::F16 | Scalar::Bf16 => format!("{vector}.lane[i].bits"),
        Scalar::F32 => format!("__float_as_uint({vector}.lane[i])"),
        Scalar::Bool
        | Scalar::I8
        | Scalar::I16
        | Scalar::I32
        | Scalar::I64
        | Scalar::U8
        | Scalar::U16
        | Scalar::U32
        | Scalar::U64
        | Scalar::Usize
        | Scalar::Isize
        | Scalar::F64 => format!("({}){vector}.lane[i]", unsigned(scalar).name()),
    };
    format!(
        "    u32 {words}[{count}] = {{}};\n    #pragma unroll\n    for (u32 i = 0; i < {width}; ++i) {words}[i / {per_word}] |= (u32){part} << i % {per_word} * {bits};\n"
    )
}

/// How elements sit in the registers of an instruction.
enum Packing {
    /// One a register.
    None,
    /// One small element in a 32-bit register.
    Widened,
    /// Several small elements in each 32-bit register.
    Words,
}

/// The registers that one instruction moves.
struct Registers {
    packing: Packing,
    count: u32,
    /// Width and type of the instruction: `v4.f32`.
    ptx: String,
    constraint: char,
    /// The C type of the variable that holds them, without extents.
    ty: String,
}

impl Registers {
    fn of(scalar: Scalar, width: u32) -> Registers {
        let (bits, constraint) = match scalar {
            Scalar::Bool
            | Scalar::I8
            | Scalar::U8
            | Scalar::I16
            | Scalar::U16
            | Scalar::F16
            | Scalar::Bf16 => {
                return Registers::small(scalar, width);
            }
            Scalar::I32 => ("s32", 'r'),
            Scalar::U32 => ("u32", 'r'),
            Scalar::I64 | Scalar::Isize => ("s64", 'l'),
            Scalar::U64 | Scalar::Usize => ("u64", 'l'),
            Scalar::F32 => ("f32", 'f'),
            Scalar::F64 => ("f64", 'd'),
        };
        let ptx = if width == 1 { bits.into() } else { format!("v{width}.{bits}") };
        Registers { packing: Packing::None, count: width, ptx, constraint, ty: element_type(scalar, width) }
    }

    fn small(scalar: Scalar, width: u32) -> Registers {
        let bytes = scalar.bytes() * width;
        let count = bytes.div_ceil(4);
        let ptx = match bytes {
            1 => "u8".into(),
            2 => "u16".into(),
            _ if count == 1 => "b32".into(),
            _ => format!("v{count}.b32"),
        };
        let packing = if width == 1 { Packing::Widened } else { Packing::Words };
        Registers { packing, count, ptx, constraint: 'r', ty: "u32".into() }
    }

    /// The variable that holds them.
    fn declaration(&self, name: &str) -> String {
        match self.packing {
            Packing::None | Packing::Widened => format!("{} {name}", self.ty),
            Packing::Words => format!("{} {name}[{}]", self.ty, self.count),
        }
    }

    /// The statements that return what the variable `value` holds.
    fn returned(&self, scalar: Scalar, width: u32) -> String {
        match self.packing {
            Packing::None => "    return value;\n".into(),
            Packing::Widened => format!("    return {};\n", narrowed(scalar, "value")),
            Packing::Words => {
                let per_word = 4 / scalar.bytes();
                let bits = 8 * scalar.bytes();
                let part = format!("value[i / {per_word}] >> i % {per_word} * {bits}");
                format!(
                    "    {} elements;\n    #pragma unroll\n    for (u32 i = 0; i < {width}; ++i) elements.lane[i] = {};\n    return elements;\n",
                    element_type(scalar, width),
                    narrowed(scalar, &format!("({part})"))
                )
            }
        }
    }

    /// The operands of the assembly statement.
    fn operands(&self, modifier: &str, name: &str) -> String {
        let operands: Vec<String> = (0..self.count)
            .map(|i| {
                let register = match self.packing {
                    Packing::Words => format!("{name}[{i}]"),
                    Packing::None if self.count > 1 => format!("{name}.lane[{i}]"),
                    Packing::None | Packing::Widened => name.into(),
                };
                format!("\"{modifier}{}\"({register})", self.constraint)
            })
            .collect();
        operands.join(", ")
    }

    /// The operands in the instruction, the first of them with this number.
    fn list(&self, first: u32) -> String {
        let numbers: Vec<String> = (first..first + self.count).map(|n| format!("%{n}")).collect();
        if self.count == 1 { numbers.concat() } else { format!("{{{}}}", numbers.join(", ")) }
    }
}
