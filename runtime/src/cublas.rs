//! The vendor's library on the same views, to be measured against.

use crate::error::Error;
use crate::kernels::matmul::Factor;
use crate::launch::check_stream;
use crate::scalar::ScalarType;
use crate::view::{TensorView, TensorViewMut};
use cudarc::cublas::sys::{self, cublasHandle_t, cublasOperation_t, cublasStatus_t};
use cudarc::cublas::{CudaBlas, result::CublasError};
use cudarc::driver::{CudaStream, DevicePtr, DevicePtrMut, DeviceSlice};
use std::ffi::c_int;
use std::sync::Arc;

/// cuBLAS on a stream.
#[derive(Debug)]
pub struct Cublas {
    blas: CudaBlas,
    stream: Arc<CudaStream>,
}

/// An element that cuBLAS transposes.
pub trait Transposed: crate::Element + sealed::Geam {}

impl Transposed for f32 {}
impl Transposed for f64 {}

mod sealed {
    use super::{c_int, cublasHandle_t, cublasOperation_t, cublasStatus_t};

    /// `cublas<t>geam` with host pointers to its factors, of which the second is 0.
    pub trait Geam: Sized {
        /// # Safety
        /// As of the function of that name, whose second matrix is its result.
        unsafe fn geam(
            handle: cublasHandle_t,
            turn: [cublasOperation_t; 2],
            extents: [c_int; 2],
            input: (*const Self, c_int),
            output: (*mut Self, c_int),
        ) -> cublasStatus_t;
    }
}

macro_rules! geam {
    ($($element:ident: $function:ident),*) => {$(
        impl sealed::Geam for $element {
            unsafe fn geam(
                handle: cublasHandle_t,
                [turn_a, turn_b]: [cublasOperation_t; 2],
                [m, n]: [c_int; 2],
                (a, lda): (*const $element, c_int),
                (c, ldc): (*mut $element, c_int),
            ) -> cublasStatus_t {
                let (one, zero): ($element, $element) = (1.0, 0.0);
                // SAFETY: the caller's; the factors live until the call returns.
                unsafe {
                    sys::$function(handle, turn_a, turn_b, m, n, &one, a, lda, &zero, c.cast_const(), ldc, c, ldc)
                }
            }
        }
    )*};
}

geam!(f32: cublasSgeam, f64: cublasDgeam);

impl Cublas {
    /// cuBLAS on a stream.
    ///
    /// # Errors
    /// If the library is missing, or refuses.
    pub fn new(stream: &Arc<CudaStream>) -> Result<Cublas, Error> {
        // SAFETY: the library's initialisers have no requirement.
        if !unsafe { sys::is_culib_present() } {
            return Err(Error::CublasMissing);
        }
        let blas = CudaBlas::new(stream.clone()).map_err(|CublasError(status)| failed("begin", status))?;
        Ok(Cublas { blas, stream: stream.clone() })
    }

    /// The transpose of a matrix by `cublasSgeam` or `cublasDgeam`. The factor of the other matrix is 0. It multiplies by one: what is not a
    /// number may change its bits. Returns before it has run.
    ///
    /// # Errors
    /// If the extents do not belong together or exceed 2³¹ − 1, if a tensor was allocated on another stream, if the stream is captured or a thread's own, or if the
    /// library refuses.
    pub fn transpose<T: Transposed>(
        &self,
        input: &TensorView<'_, T, 2>,
        output: &mut TensorViewMut<'_, T, 2>,
    ) -> Result<(), Error> {
        let kernel = "cublas transpose";
        let ([rows, cols], [input_pitch, _]) = (input.shape.extents, input.shape.strides);
        let ([out_rows, out_cols], [output_pitch, _]) = (output.shape.extents, output.shape.strides);
        if [out_rows, out_cols] != [cols, rows] {
            let contract = "output.rows() == input.cols() && output.cols() == input.rows()";
            let values = format!("input {rows} × {cols}, output {out_rows} × {out_cols}");
            return Err(Error::Contract { kernel, contract, values });
        }
        self.check_streams(kernel, &[("input", input.data.stream()), ("output", output.data.stream())])?;
        if rows == 0 || cols == 0 {
            return Ok(());
        }
        let int = |parameter, value| int(kernel, parameter, value);
        // What is a row here is a column there. A single row may have any pitch here, and there none below its length.
        let extents = [int("input", rows)?, int("input", cols)?];
        let input_pitch = int("input", input_pitch.max(cols))?;
        let output_pitch = int("output", output_pitch.max(rows))?;
        let failed = |status: cublasStatus_t| failed("transpose", status);
        self.enter()?;
        let (input, _read) = input.data.device_ptr(&self.stream);
        let (output, _written) = output.data.device_ptr_mut(&self.stream);
        let turn = [cublasOperation_t::CUBLAS_OP_T, cublasOperation_t::CUBLAS_OP_N];
        // SAFETY: the views hold matrices of these extents and pitches, `output` is borrowed alone, and both are freed on the
        // stream that the handle works on, behind this.
        let status = unsafe {
            T::geam(
                *self.blas.handle(),
                turn,
                extents,
                (input as *const T, input_pitch),
                (output as *mut T, output_pitch),
            )
        };
        status.result().map_err(|CublasError(status)| failed(status))
    }

    /// The product `c = a · b`: of `f32` by `cublasSgemm`, in `f32` throughout and without the tensor cores; of `f16` and `bf16` by
    /// `cublasGemmEx` with sums of `f32`. Returns before it has run.
    ///
    /// # Errors
    /// As of [`transpose`](Self::transpose).
    pub fn multiply<T: Factor>(
        &self,
        a: &TensorView<'_, T, 2>,
        b: &TensorView<'_, T, 2>,
        c: &mut TensorViewMut<'_, T, 2>,
    ) -> Result<(), Error> {
        let kernel = "cublas multiply";
        let [[m, k], [b_rows, n]] = [a.shape.extents, b.shape.extents];
        if b_rows != k || c.shape.extents != [m, n] {
            let contract = "a.rows() == c.rows() && a.cols() == b.rows() && b.cols() == c.cols()";
            let [rows, cols] = c.shape.extents;
            let values = format!("a {m} × {k}, b {b_rows} × {n}, c {rows} × {cols}");
            return Err(Error::Contract { kernel, contract, values });
        }
        let streams = [("a", a.data.stream()), ("b", b.data.stream()), ("c", c.data.stream())];
        self.check_streams(kernel, &streams)?;
        if m == 0 || n == 0 {
            return Ok(());
        }
        let int = |parameter, value| int(kernel, parameter, value);
        let extents = [int("b", n)?, int("a", m)?, int("a", k)?];
        let pitch = |parameter, strides: [usize; 2], cols: usize| int(parameter, strides[0].max(cols).max(1));
        let pitches = [
            pitch("b", b.shape.strides, n)?,
            pitch("a", a.shape.strides, k)?,
            pitch("c", c.shape.strides, n)?,
        ];
        self.enter()?;
        let (one, zero) = (1.0f32, 0.0f32);
        let (a, _a) = a.data.device_ptr(&self.stream);
        let (b, _b) = b.data.device_ptr(&self.stream);
        let (c, _c) = c.data.device_ptr_mut(&self.stream);
        let as_it_is = cublasOperation_t::CUBLAS_OP_N;
        // A row is a column there, and the product of the transposes in the other order is the transpose of the product.
        // SAFETY: the views hold matrices of these extents and pitches, `c` is borrowed alone, all are freed on the stream that the
        // handle works on, behind this, and the factors live until the call returns.
        let status = unsafe {
            multiply(*self.blas.handle(), T::TYPE, as_it_is, extents, [b, a], c, pitches, [&one, &zero])
        };
        status.result().map_err(|CublasError(status)| failed("multiply", status))
    }

    /// Refuses views of other contexts and streams.
    fn check_streams(
        &self,
        kernel: &'static str,
        streams: &[(&'static str, &Arc<CudaStream>)],
    ) -> Result<(), Error> {
        check_stream(kernel, &self.stream)?;
        for &(parameter, own) in streams {
            if own.context().cu_ctx() != self.stream.context().cu_ctx() {
                return Err(Error::ForeignContext { kernel, parameter });
            }
            if own.cu_stream() != self.stream.cu_stream() {
                return Err(Error::ForeignStream { kernel, parameter });
            }
        }
        Ok(())
    }

    fn enter(&self) -> Result<(), Error> {
        let failed = |source| Error::Driver { action: "enter the context of cuBLAS", source };
        self.stream.context().bind_to_thread().map_err(failed)
    }
}

/// `cublasSgemm`, or `cublasGemmEx` of elements of 2 bytes.
///
/// # Safety
/// As of these functions.
#[allow(clippy::too_many_arguments)] // theirs
unsafe fn multiply(
    handle: cublasHandle_t,
    element: ScalarType,
    turn: cublasOperation_t,
    [m, n, k]: [c_int; 3],
    [a, b]: [u64; 2],
    c: u64,
    [a_pitch, b_pitch, c_pitch]: [c_int; 3],
    [alpha, beta]: [&f32; 2],
) -> cublasStatus_t {
    let half = match element {
        ScalarType::F16 => sys::cudaDataType_t::CUDA_R_16F,
        ScalarType::Bf16 => sys::cudaDataType_t::CUDA_R_16BF,
        _ => {
            let (a, b, c) = (a as *const f32, b as *const f32, c as *mut f32);
            // SAFETY: the caller's.
            return unsafe {
                sys::cublasSgemm_v2(
                    handle, turn, turn, m, n, k, alpha, a, a_pitch, b, b_pitch, beta, c, c_pitch,
                )
            };
        }
    };
    let factor = |factor: &f32| std::ptr::from_ref(factor).cast();
    let (a, b, c) = (a as *const _, b as *const _, c as *mut _);
    let (compute, algorithm) =
        (sys::cublasComputeType_t::CUBLAS_COMPUTE_32F, sys::cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT);
    // SAFETY: the caller's.
    unsafe {
        sys::cublasGemmEx(
            handle,
            turn,
            turn,
            m,
            n,
            k,
            factor(alpha),
            a,
            half,
            a_pitch,
            b,
            half,
            b_pitch,
            factor(beta),
            c,
            half,
            c_pitch,
            compute,
            algorithm,
        )
    }
}

/// An extent or a pitch as the library takes it.
fn int(kernel: &'static str, parameter: &'static str, value: usize) -> Result<c_int, Error> {
    let limit = c_int::MAX as u64 + 1;
    c_int::try_from(value).map_err(|_| Error::IndexTooLarge { kernel, parameter, value, limit })
}

fn failed(action: &'static str, status: cublasStatus_t) -> Error {
    Error::Cublas { action, status: format!("{status:?}") }
}
