//! Tiled CUDA kernels in Rust whose memory behaviour is proven at compile time.
//!
//! `#[tiled_kernel]` turns an ordinary Rust function into a CUDA kernel. It proves that shared-memory accesses have no bank
//! conflict, that global accesses coalesce, that indices stay inside and vectors are aligned, that no two threads race and
//! shared memory is written before it is read; or it refuses to compile, with the lanes or threads that collide and a fix. So the
//! launch is a safe function. This crate is what kernels and programs use: the vocabulary of kernels
//! ([`prelude`]), tensors over cudarc's device memory ([`TensorView`]) and over slices ([`HostTensor`]), and what
//! compiles, loads, launches and simulates.
//!
//! It builds without CUDA. At run time a launch needs the NVIDIA driver and NVRTC, a compilation needs NVRTC, and a
//! simulation needs neither; what is missing is an [`Error`] that says what to install.
//!
//! ```
//! use tileproof::prelude::*;
//!
//! #[tiled_kernel(block = [256], grid = [c.len().div_ceil(256)], requires(a.len() == c.len()))]
//! fn double(a: &Tensor<f32, 1>, c: &mut Tensor<f32, 1>) {
//!     let i = block_x() * 256 + thread_x();
//!     if i < c.len() {
//!         c[[i]] = 2.0 * a[[i]];
//!     }
//! }
//!
//! # #[cfg(feature = "simulate")]
//! # fn run() -> Result<(), Box<dyn std::error::Error>> {
//! let (a, mut c) = ([1.0; 1000], [0.0; 1000]);
//! let counts = double::simulate(&HostTensor::new(&a, [1000])?, &mut HostTensorMut::new(&mut c, [1000])?)?;
//! assert_eq!(c, [2.0; 1000]);
//! assert_eq!(counts.sector_efficiency(tileproof::report::Role::Read), Some(1.0));
//! println!("{}", double::report());
//! # Ok(())
//! # }
//! # #[cfg(feature = "simulate")]
//! # run().unwrap();
//! ```
//!
//! [`tiled_kernel`] documents its arguments, the language of kernels, and what a kernel's function becomes. The items of the
//! [`vocabulary`] are the words of that language.
//!
//! # Features
//!
//! | feature | meaning |
//! |---|---|
//! | `simulate`, on by default | kernels run on the CPU; brings the compiler along |
//! | `cublas` | the vendor's library on the same views, to be measured against: the module `cublas` |
//! | `kernels`, on by default | the library of kernels: copies, transposes, permutations |
//! | `serde` | [`report::Report`] and what it holds implement `serde::Serialize` |
//!
//! # Environment variables
//!
//! | variable | meaning |
//! |---|---|
//! | `TILEPROOF_NVRTC_DIR` | the folder with NVRTC; nowhere else is searched then |
//! | `CUDA_HOME`, `CUDA_PATH` | a CUDA toolkit, searched next |
//! | `VIRTUAL_ENV` | an active Python environment, whose `nvidia-cuda-nvrtc` is searched next |
//! | `TILEPROOF_LINEINFO` | anything but `0`: profilers and sanitizers show the Rust source |

// The kernels of the library name this crate as those of its users do.
#[cfg(feature = "kernels")]
extern crate self as tileproof;

mod architecture;
mod argument;
#[cfg(feature = "cublas")]
pub mod cublas;
mod description;
pub mod device;
mod error;
mod evaluate;
mod foreign;
mod host;
#[cfg(feature = "kernels")]
pub mod kernels;
mod launch;
mod load;
mod nvrtc;
mod plan;
pub mod prelude;
mod scalar;
mod shape;
#[cfg(feature = "simulate")]
mod simulate;
mod subview;
#[cfg(test)]
mod testing;
pub mod timing;
mod view;
pub mod vocabulary;

pub use architecture::Architecture;
pub use cudarc;
pub use description::IndexWidth;
pub use error::Error;
pub use evaluate::ArithmeticError;
pub use foreign::ForeignMemory;
pub use host::{HostTensor, HostTensorMut};
pub use load::{Loaded, unload};
pub use nvrtc::{CompileOptions, Compiled, Usage, nvrtc};
pub use scalar::{Element, Scalar, ScalarType, ScalarValue};
pub use shape::ViewError;
#[cfg(feature = "simulate")]
pub use simulate::{Counts, SiteRun};
pub use tileproof_macros::{tiled_kernel, tiled_module};
pub use tileproof_model::report;
pub use view::{DeviceMemory, DeviceMemoryMut, TensorView, TensorViewMut};

/// What the output of `#[tiled_kernel]` names. Not for use by hand: it changes without notice.
#[doc(hidden)]
pub mod __private {
    pub use crate::__tileproof_if_simulate as if_simulate;
    pub use crate::argument::{DeviceArgument, ErasedView, ErasedViewMut};
    pub use crate::description::{Description, HostOp, Kernel, LaunchCheck, Param, ParamKind};
    pub use crate::launch::{launch, launch_first, launch_first_on, launch_on};
    pub use crate::load::{compile_all, load_all};
    pub use crate::shape::ErasedShape;
    #[cfg(feature = "simulate")]
    pub use crate::simulate::{HostArgument, simulate_compiled, simulate_first};
    pub use std::borrow::Cow;
    pub use std::sync::Arc;
    pub use std::vec::Vec;
    pub use tileproof_model::access::Operation;
    pub use tileproof_model::limits::{Architecture as Known, Occupancy, Resource};
    pub use tileproof_model::report::{
        BarrierKind, BarrierReport, Claim, LeastArchitecture, Ordered, Report, Role, SiteReport, Space,
        TileReport, TrustReport, Verdict, WarpAccess, WorkReport,
    };
}

/// Expands to its tokens if this crate can simulate: the features of the crate that uses the macro do not count.
#[cfg(feature = "simulate")]
#[doc(hidden)]
#[macro_export]
macro_rules! __tileproof_if_simulate {
    ($($tokens:tt)*) => { $($tokens)* };
}

/// Expands to nothing: this crate was built without its feature `simulate`.
#[cfg(not(feature = "simulate"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __tileproof_if_simulate {
    ($($tokens:tt)*) => {};
}
