//! Vectors that begin anywhere: two aligned loads, and shifts that put the elements into place.
//!
//! How far an address is from an aligned one is taken from the address itself, so it may differ from lane to lane. What
//! was loaded is taken as 32-bit words: whole words are moved by selections, one for each bit of the distance, and the rest
//! of small elements by a funnel shift.

use std::fmt::Write;

use super::memory::{Memory, load_name, narrowed};
use super::prelude::Piece;
use super::types::{element_type, lane};
use crate::ir::Scalar;

/// Bytes of the words that are shifted.
const WORD: u32 = 4;

/// The words of a vector.
fn words(scalar: Scalar, width: u32) -> u32 {
    (scalar.bytes() * width).div_ceil(WORD)
}

/// The name of the function that says whether both aligned vectors are inside the tensor.
pub(super) fn inside_name(scalar: Scalar, width: u32) -> String {
    format!("aligned_inside_{}", element_type(scalar, width))
}

/// The definition of [`inside_name`]. A tensor that is shorter than a vector holds none.
pub(super) fn inside(scalar: Scalar, width: u32) -> String {
    let element = element_type(scalar, 1);
    format!(
        "__device__ __forceinline__ bool {}(const {element}* pointer, const {element}* start, u64 elements) {{\n\
         {}    return (u64)start <= first && last + {} <= (u64)(start + elements);\n}}\n",
        inside_name(scalar, width),
        aligned(scalar, width),
        scalar.bytes() * width,
    )
}

/// The name of the function that says by how many elements a tensor begins behind an aligned address.
pub(super) fn misalignment_name(scalar: Scalar) -> String {
    format!("misalignment_{}", element_type(scalar, 1))
}

/// The definition of [`misalignment_name`].
pub(super) fn misalignment(scalar: Scalar) -> String {
    let element = element_type(scalar, 1);
    format!(
        "__device__ __forceinline__ index_t {}(const {element}* start, u32 elements) {{\n    \
         return (index_t)((u64)start / {} % elements);\n}}\n",
        misalignment_name(scalar),
        scalar.bytes(),
    )
}

/// The addresses of the aligned vectors that hold the first and the last element.
fn aligned(scalar: Scalar, width: u32) -> String {
    let bytes = scalar.bytes() * width;
    let mask = bytes - 1;
    format!(
        "    const u64 first = (u64)pointer & ~{mask}ull;\n    \
         const u64 last = ((u64)pointer + {}) & ~{mask}ull;\n",
        bytes - scalar.bytes()
    )
}

/// The name of the function that loads both aligned vectors and shifts them.
pub(super) fn load_unaligned_name(memory: Memory, scalar: Scalar, width: u32) -> String {
    load_name(memory, scalar, width).replacen("load", "load_unaligned", 1)
}

/// What the definition of [`load_unaligned_name`] calls.
pub(super) fn calls(memory: Memory, scalar: Scalar, width: u32) -> Vec<Piece> {
    let words = words(scalar, width);
    let load = Piece::Load(memory, Scalar::U32, words);
    if words == 1 { vec![load] } else { vec![Piece::Vector(Scalar::U32, words), load] }
}

/// The definition of [`load_unaligned_name`].
pub(super) fn load_unaligned(memory: Memory, scalar: Scalar, width: u32) -> String {
    let (ty, element) = (element_type(scalar, width), element_type(scalar, 1));
    let (words, bytes) = (words(scalar, width), scalar.bytes() * width);
    let (load, part) = (load_name(memory, Scalar::U32, words), element_type(Scalar::U32, words));
    let mut text = format!(
        "__device__ __forceinline__ {ty} {}(const {element}* pointer, bool active) {{\n{}",
        load_unaligned_name(memory, scalar, width),
        aligned(scalar, width)
    );
    let _ = writeln!(text, "    const {part} low = {load}((const u32*)first, active);");
    let _ = writeln!(text, "    const {part} high = {load}((const u32*)last, active && last != first);");
    let _ = writeln!(text, "    const u32 shift = (u32)(u64)pointer & {};", bytes - 1);
    let of = |name: &str| match words {
        1 => name.to_string(),
        _ => (0..words).map(|i| format!("{name}.lane[{i}]")).collect::<Vec<_>>().join(", "),
    };
    let _ = writeln!(text, "    u32 word[{}] = {{{}, {}}};", 2 * words, of("low"), of("high"));
    let funnel = scalar.bytes() < WORD;
    let mut step = words / 2;
    while step * WORD >= scalar.bytes().max(WORD) {
        // What the smaller steps read.
        let smaller = (1..step).filter(|by| by.is_power_of_two() && by * WORD >= scalar.bytes()).sum::<u32>();
        let needed = words + smaller + u32::from(funnel);
        let _ = writeln!(
            text,
            "    #pragma unroll\n    for (u32 i = 0; i < {needed}; ++i) word[i] = shift & {} ? word[i + {step}] : word[i];",
            step * WORD
        );
        step /= 2;
    }
    if funnel {
        let _ = writeln!(
            text,
            "    #pragma unroll\n    for (u32 i = 0; i < {words}; ++i) word[i] = __funnelshift_r(word[i], word[i + 1], shift % {WORD} * 8);"
        );
    }
    let _ = writeln!(
        text,
        "    {ty} elements;\n    #pragma unroll\n    for (u32 i = 0; i < {width}; ++i) {} = {};\n    return elements;\n}}",
        lane("elements", width, "i"),
        from_words(scalar)
    );
    text
}

/// Element `i` of the words.
fn from_words(scalar: Scalar) -> String {
    let double = "((u64)word[2 * i + 1] << 32 | word[2 * i])";
    match scalar {
        Scalar::F32 => "__uint_as_float(word[i])".into(),
        Scalar::I32 => "(i32)word[i]".into(),
        Scalar::U32 => "word[i]".into(),
        Scalar::F64 => format!("__longlong_as_double((long long){double})"),
        Scalar::I64 | Scalar::Isize => format!("(i64){double}"),
        Scalar::U64 | Scalar::Usize => double.into(),
        Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 | Scalar::F16 | Scalar::Bf16 => {
            let per_word = WORD / scalar.bytes();
            narrowed(scalar, &format!("(word[i / {per_word}] >> i % {per_word} * {})", 8 * scalar.bytes()))
        }
    }
}
