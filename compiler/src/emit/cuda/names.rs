//! Identifiers of the CUDA text: legal, unique, and as close to the source's as that allows.

use std::collections::HashSet;

use crate::ir::{Function, Kernel, ParamKind, Scalar};

/// The identifiers that are in use. There is one scope for the whole text, so that nothing is ever shadowed.
#[derive(Default)]
pub(super) struct Names {
    taken: HashSet<String>,
}

impl Names {
    /// An identifier that nothing else has: the wanted one, or that with the first free number behind it.
    pub(super) fn fresh(&mut self, wanted: &str) -> String {
        self.fresh_unless(wanted, |_| false)
    }

    fn fresh_unless(&mut self, wanted: &str, is_excluded: fn(&str) -> bool) -> String {
        let base = legal(wanted);
        let mut name = base.clone();
        let mut number = 0u32;
        while is_reserved(&name) || is_excluded(&name) || self.taken.contains(&name) {
            number += 1;
            name = format!("{base}_{number}");
        }
        self.taken.insert(name.clone());
        name
    }
}

/// The names of everything that a kernel declares.
pub(super) struct KernelNames {
    pub(super) names: Names,
    /// The entry point.
    pub(super) entry: String,
    /// By parameter.
    pub(super) params: Vec<ParamNames>,
    /// By tile.
    pub(super) tiles: Vec<TileNames>,
    /// The dynamic shared memory.
    pub(super) dynamic: String,
    /// By local.
    pub(super) locals: Vec<String>,
    /// The position in the block, by axis.
    pub(super) thread: [String; 3],
    /// The position in the grid, by axis.
    pub(super) block: [String; 3],
    /// The extent of the grid, by axis.
    pub(super) grid: [String; 3],
}

/// The names of one parameter.
pub(super) struct ParamNames {
    /// The pointer or the scalar.
    pub(super) value: String,
    /// One an extent, outermost first; none for a scalar.
    pub(super) extents: Vec<String>,
    /// One a stride, outermost first; none for a scalar.
    pub(super) strides: Vec<String>,
}

/// The names of one tile.
pub(super) struct TileNames {
    /// The array.
    pub(super) array: String,
    /// The shared address of its first byte.
    pub(super) base: String,
    /// The function from an index to a byte offset.
    pub(super) at: String,
}

/// Chooses all names. The thread vocabulary comes first, then parameters, tiles and locals, each in order.
pub(super) fn choose(kernel: &Kernel) -> KernelNames {
    let mut names = Names::default();
    let entry = names.fresh_unless(&kernel.name, is_library);
    let mut axes = |of: &str| ["x", "y", "z"].map(|axis| names.fresh(&format!("{of}_{axis}")));
    let (thread, block, grid) = (axes("thread"), axes("block"), axes("grid"));
    let params =
        kernel.params.iter().map(|(_, param)| param_names(&mut names, &param.name, param.kind)).collect();
    let tiles = kernel
        .tiles
        .iter()
        .map(|(_, tile)| TileNames {
            array: names.fresh(&tile.name),
            base: names.fresh(&format!("{}_base", tile.name)),
            at: names.fresh(&format!("{}_at", tile.name)),
        })
        .collect();
    let locals = kernel.locals.iter().map(|(_, local)| names.fresh(&local.name)).collect();
    let dynamic = names.fresh("shared_memory");
    KernelNames { names, entry, params, tiles, dynamic, locals, thread, block, grid }
}

fn param_names(names: &mut Names, name: &str, kind: ParamKind) -> ParamNames {
    let value = names.fresh(name);
    let mut all =
        |suffixes: Vec<String>| suffixes.iter().map(|s| names.fresh(&format!("{name}_{s}"))).collect();
    match kind {
        ParamKind::Scalar(_) => ParamNames { value, extents: vec![], strides: vec![] },
        ParamKind::Tensor { rank: 2, .. } => ParamNames {
            value,
            extents: all(vec!["rows".into(), "cols".into()]),
            strides: all(vec!["pitch".into()]),
        },
        ParamKind::Tensor { rank, .. } => ParamNames {
            value,
            extents: all((0..rank).map(|d| format!("extent{d}")).collect()),
            strides: all((1..rank).map(|d| format!("stride{}", d - 1)).collect()),
        },
    }
}

/// The name with everything replaced that a C++ identifier cannot hold, or that C++ keeps for its implementation.
fn legal(name: &str) -> String {
    let name = name.strip_prefix("r#").unwrap_or(name);
    let mut legal = String::new();
    for c in name.chars() {
        match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '_' => legal.push(c),
            _ => legal.push_str(&format!("u{:04x}", u32::from(c))),
        }
    }
    while legal.contains("__") {
        legal = legal.replace("__", "_");
    }
    match legal.trim_start_matches('_') {
        "" => "unnamed".into(),
        rest if rest.starts_with(|c: char| c.is_ascii_digit()) => format!("n{rest}"),
        rest => rest.into(),
    }
}

/// Whether C++, CUDA or the prelude uses the name.
fn is_reserved(name: &str) -> bool {
    listed(KEYWORDS, name)
        || listed(CUDA, name)
        || is_type(name)
        || name.rsplit_once('_').is_some_and(|(first, last)| {
            is_type(last) && (listed(PRELUDE, first) || Function::named(first).is_some())
        })
}

/// Whether a name is among words separated by white space. Searching the text is quicker than taking it apart: this is
/// asked for every name.
fn listed(words: &str, name: &str) -> bool {
    let is_edge = |byte: Option<&u8>| byte.is_none_or(u8::is_ascii_whitespace);
    let bytes = words.as_bytes();
    !name.is_empty()
        && words.match_indices(name).any(|(start, _)| {
            is_edge(start.checked_sub(1).and_then(|before| bytes.get(before)))
                && is_edge(bytes.get(start + name.len()))
        })
}

/// Whether it is a function of the device library. A local may hide one, an entry point cannot overload it.
fn is_library(name: &str) -> bool {
    listed(LIBRARY, name) || name.strip_suffix(['f', 'l']).is_some_and(|name| listed(LIBRARY, name))
}

/// Whether it is a scalar of the text or a vector of one: `f32`, `f32x4`.
fn is_type(name: &str) -> bool {
    match name.split_once('x') {
        None => Scalar::from_name(name).is_some(),
        Some((scalar, width)) => {
            Scalar::from_name(scalar).is_some() && width.chars().all(|c| c.is_ascii_digit())
        }
    }
}

const KEYWORDS: &str = "
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
    constinit continue decltype default delete do double dynamic_cast else enum explicit export extern
    false float for friend goto if import inline int long module mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires
    restrict return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof union unsigned using virtual void
    volatile wchar_t while xor xor_eq
";

/// The functions of the prelude, without the type that ends their names.
const PRELUDE: &str = "
    atomic_add_global atomic_add_shared atomic_and_global atomic_and_shared atomic_compare_exchange_global
    atomic_compare_exchange_shared atomic_exchange_global atomic_exchange_shared atomic_max_global
    atomic_max_shared atomic_min_global atomic_min_shared atomic_or_global atomic_or_shared
    atomic_xor_global atomic_xor_shared add cast_bf16 cast_f16 cast_f32 cast_f64 div div_ceil load_global load_global_mut load_shared match_any max min mul narrow neg rem
    reduce_add_global reduce_add_shared reduce_and_global reduce_and_shared reduce_max_global
    reduce_max_shared reduce_min_global reduce_min_shared reduce_or_global reduce_or_shared
    reduce_xor_global reduce_xor_shared select shuffle
    shuffle_down shuffle_up shuffle_xor store_global store_shared sub wrapping_add wrapping_div wrapping_mul wrapping_neg wrapping_rem wrapping_shl
    wrapping_shr wrapping_sub
";

/// What NVRTC declares or defines without any header, and the fixed names of the text.
const CUDA: &str = "
    NULL TILEPROOF_WIDE assert block_all block_any block_count blockDim blockIdx clock clock64 dim3 fmax
    fmaxf fmin fminf fmod fmodf free gridDim index_t main malloc memcmp memcpy memmove memset offset_t
    printf ptrdiff_t shared_address shuffle_down_word shuffle_up_word shuffle_word shuffle_xor_word size_t
    std threadIdx va_arg va_copy va_end va_list va_start vprintf warpSize warp_all warp_any warp_ballot
";

/// The device library, which NVRTC always declares, without the suffixes `f` and `l`.
const LIBRARY: &str = "
    abs acos acosh asin asinh atan atan2 atanh brev cbrt ceil clz copysign cos cosh cospi cyl_bessel_i0
    cyl_bessel_i1 div erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs fdim fdivide ffs floor fma
    fmax fmin fmod fpclassify frexp hypot ilogb isfinite isgreater isgreaterequal isinf isless
    islessequal islessgreater isnan isnormal isunordered j0 j1 jn labs ldexp lgamma llabs llmax llmin
    llrint llround log log10 log1p log2 logb lrint lround max min modf mulhi nan nearbyint nextafter
    norm norm3d norm4d normcdf normcdfinv pow powi rcbrt remainder remquo rhypot rint rnorm rnorm3d
    rnorm4d round rsqrt sad saturate scalbln scalbn signbit sin sincos sincospi sinh sinpi sqrt tan tanh
    tgamma trunc ullmax ullmin umax umin y0 y1 yn
";

#[cfg(test)]
mod tests {
    use super::{Names, is_library};

    #[test]
    fn an_entry_point_overloads_nothing() {
        let mut names = Names::default();
        let got = ["copy", "expf", "max"].map(|name| names.fresh_unless(name, is_library));
        assert_eq!(got, ["copy", "expf_1", "max_1"]);
    }

    #[test]
    fn names_are_legal_and_unique() {
        let mut names = Names::default();
        let wanted = [
            "col",
            "col",
            "col_1",
            "r#for",
            "float",
            "größe",
            "_",
            "__x",
            "f32",
            "copy_f32",
            "load_shared_f32x4",
            "y1",
            "max_usize",
        ];
        let got: Vec<String> = wanted.iter().map(|name| names.fresh(name)).collect();
        assert_eq!(
            got,
            [
                "col",
                "col_1",
                "col_1_1",
                "for_1",
                "float_1",
                "gru00f6u00dfe",
                "unnamed",
                "x",
                "f32_1",
                "copy_f32",
                "load_shared_f32x4_1",
                "y1",
                "max_usize_1"
            ]
        );
    }
}
