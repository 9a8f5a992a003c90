//! The procedural-macro shell of tileproof. All logic is in `tileproof-compiler`, an ordinary crate.

#![forbid(unsafe_code)]

use proc_macro::TokenStream;

/// Compiles a Rust function to a CUDA kernel whose memory behaviour is proven at compile time.
///
/// # Arguments
///
/// | argument | meaning |
/// |---|---|
/// | `block = [256]`, `[32, 8]` | the threads of a block along x, y and z: integers, at most 1,024 in all |
/// | `grid = [c.len().div_ceil(256)]` | the blocks along x, y and z, computed at each launch |
/// | `requires(a.len() == c.len(), …)` | what the caller promises: the proofs use it, and each launch checks it |
/// | `covers(output)` | a claim that the kernel writes every element of a tensor: proven, or an error |
/// | `instances((f32, 4), (f64, 2))` | what a generic kernel is compiled for: see below |
/// | `arch = "sm_90"`, `arch(sm_80, sm_90)` | the architectures that the kernel must fit, and that the report speaks of; without it, all |
/// | `min_blocks = 2` | how many blocks a multiprocessor shall hold: the compiler of the CUDA text limits registers for it |
/// | `trust(bounds, because = "…")` | what is taken for granted in the whole kernel: it makes the launch unsafe |
/// | `crate = path` | where the crate `tileproof` is, if not at `::tileproof` |
///
/// `grid` and `requires` are made of extents (`len`, `rows`, `cols`, `extent`), strides (`pitch`, `stride`), scalar arguments
/// and integer constants.
///
/// # What the function becomes
///
/// A type of its name and visibility, of which there are no values, with these associated items:
///
/// | item | meaning |
/// |---|---|
/// | `simulate(…)` | runs it on the CPU, and counts wavefronts and sectors at each access |
/// | `launch(&stream, …)` | runs it on a GPU; `unsafe` where the kernel takes something for granted |
/// | `launch_on(&stream, …)` | the same on any stream; `unsafe`, since the caller orders it with the tensors' other uses |
/// | `load(&context)` | compiles and loads it, as the first launch does |
/// | `compile(architecture)` | compiles it with NVRTC, which needs no GPU |
/// | `report()` | what was proven, access by access; it prints as text |
/// | `CUDA_SOURCE` | the CUDA C |
///
/// For `…`, pass the arguments in the function's order: values as they are, and for `&Tensor` and `&mut Tensor` a reference to
/// a `HostTensor` and `HostTensorMut` on the CPU, to a `TensorView` and `TensorViewMut` on a GPU.
///
/// # Generic kernels
///
/// ```ignore
/// #[tiled_kernel(
///     block = [256],
///     grid = [output.len().div_ceil(256 * V)],
///     requires(input.len() == output.len(), output.len().is_multiple_of(V)),
///     instances((f32, 4), (f32, 1), (f64, 2)),
/// )]
/// pub fn copy<T, const V: usize>(input: &Tensor<T, 1>, output: &mut Tensor<T, 1>) { /* … */ }
/// ```
///
/// Each instance that is listed (of one parameter: `instances(f32, f64)`) is a kernel of its own, with all of the above: here
/// `copy_f32_4`, `copy_f32_1` and `copy_f64_2`. `block`, `grid`, `requires` and the body may use the parameters; no bounds on types are needed, since
/// rustc too sees each instance with its types. Types may be elements, scalars or layouts; constants are integers or bool, and
/// written out in the list.
///
/// The function's name stands for all of them, and chooses:
///
/// | item | meaning |
/// |---|---|
/// | `launch(&stream, …)`, `simulate(…)` | those of the instance for these arguments |
/// | `load(&context)`, `compile(architecture)` | those of the instances that a launch chooses from: `copy::load::<f32>(&context)` |
/// | `reports()`, `CUDA_SOURCES` | of all instances, as listed |
///
/// Types are inferred from the arguments, or written: `copy::launch::<f32>(…)`; one that is not listed is an error that says which
/// are. A constant that is the width of a vector (an argument of `read::<V>` or of `Vector<T, V>`, and not
/// part of a parameter's type) is chosen at the launch: the largest for which contract, alignment and grid hold. All other
/// constants are the caller's, as the types are: `power::launch::<f32, 3>(…)`.
///
/// # The language
///
/// The body is what one thread does, in a part of Rust that rustc type-checks as usual. The book's reference has every
/// construct with its CUDA and its cost.
///
/// - **Parameters** are `&Tensor<T, RANK>` and `&Matrix<T>`, which are read, with `&mut` also written, of rank 1 to 5 and of
///   elements i8 to i64, u8 to u64, f16, bf16, f32 and f64; numbers, `bool`, `usize` and `isize`.
/// - **Memory** is `tensor[[i, j]]`, `tile[i][j]` for a tile that `let mut tile = Shared::<…>::new();` declares, and
///   `read::<V>([i, j])` and `write([i, j], vector)` of both. Indices are `usize`. `get_or([i, j], default)` is the element, or
///   the default where there is none, and `contains([i, j])` says which. `atomic_add([i, j], value)` and its kin update an element;
///   `load`, `store`, their transposed forms and `load_async` move a whole tile.
/// - **Statements** are `let`, also of tuples and arrays; assignments, also `+=` and its kin; `if`, `match` of integers; `for` over
///   ranges, with `..=`, `step_by` and `rev`, `while`, `loop`, `break`, `continue`, `return`; blocks; `const` of numbers and
///   of arrays of them, which are tables in constant memory; `type`; `fn` for helpers; barriers.
/// - **Expressions** are arithmetic, comparisons, `&&`, `||`, `!`, bit operations, `as`, `if`, `match` and blocks with values; the methods of
///   numbers under their Rust names; vectors, lane by lane; arrays, whose indices must be constants once loops are unrolled; `flatten`,
///   `unflatten` and `rasterize` for the order of elements and blocks; shuffles and votes, reductions and scans.
///
/// `#[budget(bank_conflict = 31, because = "…")]` or `excess_sectors = …` on a statement, or on the function, accepts a cost.
/// `#[trust(bounds, because = "…")]`, or `race`, `initialised`, `barriers`, `range`, takes for granted what cannot be decided there.
#[proc_macro_attribute]
pub fn tiled_kernel(attribute: TokenStream, item: TokenStream) -> TokenStream {
    tileproof_compiler::expand(attribute.into(), item.into()).into()
}

/// A module whose kernels share constants, type aliases and helper functions.
///
/// A macro sees nothing but its own tokens, so that a kernel that stands alone cannot use a constant declared beside
/// it. In a module under this attribute it can:
///
/// ```ignore
/// #[tiled_module]
/// pub mod kernels {
///     use tileproof::prelude::*;
///
///     const TILE: usize = 32;
///     const THREADS: usize = TILE * TILE / 4;
///     type Tile = Shared<[[f32; TILE]; TILE], Pad<1>>;
///
///     #[tiled_kernel(block = [TILE, THREADS / TILE], grid = [1], requires(output.len() >= THREADS))]
///     pub fn kernel(output: &mut Tensor<f32, 1>) { /* … */ }
/// }
/// ```
///
/// - **`const`** of numbers and bool, computed from literals and from each other, in any order; also in `block`, `grid` and
///   `requires`.
/// - **`type`**, with parameters too.
/// - **`fn`** that kernels call.
/// - Everything else, `use` included, is rustc's alone: kernels do not see it.
///
/// All of it remains an ordinary item of the module. A name of [`macro@tiled_kernel`]'s vocabulary is refused, since it would mean
/// one thing to rustc and another in a kernel, and so is `cfg`, which rustc decides after the macro.
///
/// `#[tiled_module(crate = path)]` says for all kernels where the crate `tileproof` is.
#[proc_macro_attribute]
pub fn tiled_module(attribute: TokenStream, item: TokenStream) -> TokenStream {
    tileproof_compiler::expand_module(attribute.into(), item.into()).into()
}
