//! The one error type of the crate.

use crate::architecture::Architecture;
use crate::evaluate::ArithmeticError;
use crate::shape::ViewError;
use cudarc::driver::DriverError;
use std::path::PathBuf;

/// Why a kernel was not compiled, loaded, launched or simulated. Nothing was launched when one of these is returned.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The CUDA driver is not installed.
    #[error(
        "the CUDA driver library is missing: none of {tried} could be loaded; install the NVIDIA driver, or run the kernel \
         with `simulate`, which needs no GPU"
    )]
    DriverMissing {
        /// The names that were tried.
        tried: String,
    },
    /// The CUDA driver lacks a function.
    #[error(
        "the CUDA driver library lacks a function: {reason}; install the NVIDIA driver for CUDA 11.4 or later"
    )]
    DriverUnusable {
        /// Which function.
        reason: String,
    },
    /// The CUDA driver reported an error.
    #[error("the CUDA driver failed to {action}: {source}")]
    Driver {
        /// What was attempted, as a verb with its object.
        action: &'static str,
        /// What the driver says.
        source: DriverError,
    },
    /// NVRTC, the compiler for CUDA C++ that comes as a library, is not installed.
    #[error(
        "NVRTC, which compiles the kernel's CUDA text, was not found; looked in {}; install the Python wheel \
         `nvidia-cuda-nvrtc` or the CUDA toolkit, and set TILEPROOF_NVRTC_DIR to the folder that holds libnvrtc",
        searched.join(", ")
    )]
    NvrtcMissing {
        /// Folders and library names, in the order they were tried.
        searched: Vec<String>,
    },
    /// A library that should be NVRTC cannot be used.
    #[error(
        "{} cannot be used as NVRTC: {reason}; install NVRTC 11.2 or later, and set TILEPROOF_NVRTC_DIR to the folder that \
         holds it", path.display()
    )]
    NvrtcUnusable {
        /// The library.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// NVRTC does not know the architecture.
    #[error(
        "NVRTC {}.{} does not compile for {architecture}, only for {supported}; install an NVRTC that supports it, and \
         set TILEPROOF_NVRTC_DIR to its folder", version.0, version.1
    )]
    UnsupportedArchitecture {
        /// What was asked for.
        architecture: Architecture,
        /// NVRTC's version, major and minor.
        version: (u32, u32),
        /// The architectures that this NVRTC knows.
        supported: String,
    },
    /// The architecture lacks an instruction of the kernel.
    #[error(
        "`{kernel}` needs {least} or later, because of `{function}` on line {line}, and this is {architecture}; launch a kernel \
         without it there, or list in `arch(…)` the architectures it is for, to hear of it at compile time"
    )]
    MissingInstruction {
        /// The kernel.
        kernel: &'static str,
        /// What it was to be compiled for.
        architecture: Architecture,
        /// The least architecture that has all its instructions.
        least: Architecture,
        /// The function of the vocabulary that becomes the instruction.
        function: String,
        /// The line of its first call in the Rust source, counted from 1.
        line: u32,
    },
    /// The text does not name an architecture.
    #[error(
        "`{text}` is not an architecture; write `sm_` and the compute capability, such as `sm_90` or `sm_90a`"
    )]
    InvalidArchitecture {
        /// The text.
        text: String,
    },
    /// NVRTC rejected the CUDA text.
    #[error(
        "NVRTC failed to compile the CUDA text of `{kernel}` for {architecture} ({reason}); this is a defect of tileproof \
         unless the log blames the machine, please report it\n{log}"
    )]
    Compile {
        /// The kernel.
        kernel: &'static str,
        /// The architecture.
        architecture: Architecture,
        /// NVRTC's name for the failure.
        reason: String,
        /// What NVRTC printed.
        log: String,
    },
    /// The driver rejected the compiled kernel.
    #[error(
        "the driver failed to load `{kernel}`, compiled for {architecture} by NVRTC {}.{}: {source}; if the driver is \
         older than that NVRTC, update the driver or set TILEPROOF_NVRTC_DIR to an NVRTC of the driver's CUDA version",
        nvrtc.0, nvrtc.1
    )]
    Load {
        /// The kernel.
        kernel: &'static str,
        /// The architecture it was compiled for.
        architecture: Architecture,
        /// The version of the NVRTC that compiled it, major and minor.
        nvrtc: (u32, u32),
        /// What the driver says.
        source: DriverError,
    },
    /// A block of the kernel needs more shared memory than the device has for one.
    #[error(
        "a block of `{kernel}` needs {bytes} bytes of shared memory, and this device, {architecture}, has at most {limit}; \
         make the kernel's tiles smaller, or list in `arch(…)` the architectures it is for, to hear of it at compile time"
    )]
    SharedMemory {
        /// The kernel.
        kernel: &'static str,
        /// The device's architecture.
        architecture: Architecture,
        /// The shared memory of a block, in bytes.
        bytes: u32,
        /// The most that a block can opt in to, in bytes.
        limit: u32,
    },
    /// cuBLAS, the vendor's library, is not installed.
    #[cfg(feature = "cublas")]
    #[error(
        "the library cuBLAS is missing; install the CUDA toolkit or the Python wheel `nvidia-cublas`, and let the loader find \
         libcublas, such as by LD_LIBRARY_PATH"
    )]
    CublasMissing,
    /// cuBLAS reported an error.
    #[cfg(feature = "cublas")]
    #[error("cuBLAS failed to {action}: {status}; see the status in its documentation")]
    Cublas {
        /// What was attempted, as a verb.
        action: &'static str,
        /// What cuBLAS says.
        status: String,
    },
    /// Memory cannot be viewed as a tensor of this shape.
    #[error(transparent)]
    View(#[from] ViewError),
    /// The arguments are not those that the kernel has.
    #[error(
        "the arguments of `{kernel}` differ from its parameters in number or type; call the methods that \
         `#[tiled_kernel]` generates"
    )]
    Arguments {
        /// The kernel.
        kernel: &'static str,
    },
    /// The arguments break a contract of the kernel.
    #[error(
        "`{kernel}` requires `{contract}`, which does not hold: {values}; pass arguments for which it holds, the proofs \
         of the kernel rest on it"
    )]
    Contract {
        /// The kernel.
        kernel: &'static str,
        /// The contract, as the source has it.
        contract: &'static str,
        /// What the contract looks at, such as `input.cols() = 7, output.rows() = 8`.
        values: String,
    },
    /// The grid or a contract of the kernel has no value for these arguments.
    #[error("in `{kernel}`, `{expression}` has no value for these arguments: {source}")]
    Arithmetic {
        /// The kernel.
        kernel: &'static str,
        /// The contract, or which extent of the grid.
        expression: &'static str,
        /// Why.
        source: ArithmeticError,
    },
    /// The grid has an extent that no GPU accepts.
    #[error(
        "`{kernel}` would need {blocks} blocks along {axis}, and a grid has 0 to {limit} there; split the work over \
         several launches, or put the long dimension along x"
    )]
    Grid {
        /// The kernel.
        kernel: &'static str,
        /// `x`, `y` or `z`.
        axis: char,
        /// The blocks it would need.
        blocks: i128,
        /// The most that are possible.
        limit: u32,
    },
    /// An extent, a stride or an index argument is larger than any memory.
    #[error(
        "`{parameter}` of `{kernel}` has an extent, stride or value of {value}, and the kernel's index arithmetic is \
         proven for numbers below {limit}; pass a smaller one"
    )]
    IndexTooLarge {
        /// The kernel.
        kernel: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The number.
        value: usize,
        /// What it must be below.
        limit: u64,
    },
    /// A tensor begins at an address that the kernel's vector accesses cannot use.
    #[error(
        "`{parameter}` of `{kernel}` begins at address {address:#x}, which is not a multiple of {alignment} bytes as its \
         vector accesses need; begin the view at an aligned element (an allocation is aligned to 256 bytes)"
    )]
    Misaligned {
        /// The kernel.
        kernel: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// The address of its first element.
        address: u64,
        /// What it must be a multiple of, in bytes.
        alignment: u32,
    },
    /// A tensor was allocated on another stream than the kernel is launched on.
    #[error(
        "`{parameter}` of `{kernel}` belongs to another stream than the launch, so its memory could be freed or \
         overwritten while the kernel runs; allocate it on the launch's stream, launch on the tensor's, or use the unsafe \
         `launch_on` and order the streams"
    )]
    ForeignStream {
        /// The kernel.
        kernel: &'static str,
        /// The parameter.
        parameter: &'static str,
    },
    /// A tensor lives in another CUDA context than the kernel is launched in.
    #[error(
        "`{parameter}` of `{kernel}` belongs to another CUDA context than the launch's stream; copy it to the launch's \
         device first"
    )]
    ForeignContext {
        /// The kernel.
        kernel: &'static str,
        /// The parameter.
        parameter: &'static str,
    },
    /// The stream is the per-thread default stream.
    #[error(
        "`{kernel}` was launched on the per-thread default stream, which is another stream in every host thread, so \
         that nothing orders the launch and the tensors' other uses; launch on a stream from `new_stream` or \
         `default_stream`"
    )]
    PerThreadStream {
        /// The kernel.
        kernel: &'static str,
    },
    /// The stream is being captured into a graph.
    #[error(
        "`{kernel}` was launched while its stream is captured into a graph, which could replay it after its tensors are \
         freed; launch it outside of the capture, or use the unsafe `launch_on` and keep the tensors"
    )]
    Capturing {
        /// The kernel.
        kernel: &'static str,
    },
    /// A tensor that is written shares memory with another argument.
    #[error(
        "`{written}` of `{kernel}` is written and overlaps `{other}` in memory, and the kernel reads through a cache that \
         does not see its own writes; pass memory that does not overlap"
    )]
    Aliasing {
        /// The kernel.
        kernel: &'static str,
        /// The parameter that is written.
        written: &'static str,
        /// The other parameter.
        other: &'static str,
    },
    /// The simulated kernel did what no kernel may do.
    #[cfg(feature = "simulate")]
    #[error("the simulation of `{kernel}` stopped: {fault}")]
    Fault {
        /// The kernel.
        kernel: &'static str,
        /// What happened, where, in which block and thread.
        fault: String,
    },
    /// The simulator's compiler and the macro's compiler disagree.
    #[cfg(feature = "simulate")]
    #[error(
        "the compiler in the simulator does not reproduce the CUDA text of `{kernel}` ({reason}); build tileproof and \
         tileproof-macros in the same version, and report it if they are"
    )]
    NotReproduced {
        /// The kernel.
        kernel: &'static str,
        /// How they differ.
        reason: String,
    },
}
