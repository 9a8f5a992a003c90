//! Kernels, a file a family, each with its reference on the CPU.

use crate::subject::Subject;

pub mod activation;
pub mod chase;
pub mod convolution;
pub mod copies;
pub mod elementwise;
pub mod gather;
pub mod histogram;
pub mod in_flight;
pub mod mandelbrot;
pub mod matmul;
pub mod nbody;
pub mod normalise;
pub mod permute;
pub mod products;
pub mod reduce;
pub mod shortest_paths;
pub mod sort;
pub mod stencil;
pub mod strides;
pub mod tensor_cores;
pub mod transpose;

/// All kernels: the tests on the simulator, through NVRTC and on a GPU, and the comparison of counters run over them.
pub const SUBJECTS: &[Subject] = &[
    transpose::COPY,
    transpose::TRANSPOSE_NAIVE,
    transpose::TRANSPOSE_SHARED,
    transpose::TRANSPOSE_PADDED,
    transpose::TRANSPOSE_XOR,
    transpose::TRANSPOSE_VECTORISED,
    elementwise::ADD,
    elementwise::SAXPY_F64,
    copies::STRIDED_COPY,
    copies::OFFSET_COPY,
    copies::WINDOW_COPY,
    copies::FIELDS_OF_RECORDS,
    strides::COLUMN_COPY,
    chase::POINTER_CHASE,
    in_flight::COPY_1_OF_4_BYTES,
    in_flight::COPY_2_OF_4_BYTES,
    in_flight::COPY_4_OF_4_BYTES,
    in_flight::COPY_1_OF_8_BYTES,
    in_flight::COPY_2_OF_8_BYTES,
    in_flight::COPY_4_OF_8_BYTES,
    in_flight::COPY_1_OF_16_BYTES,
    in_flight::COPY_2_OF_16_BYTES,
    in_flight::COPY_4_OF_16_BYTES,
    permute::TRANSPOSE_BATCHED,
    permute::TRANSPOSE_U8,
    permute::TRANSPOSE_F16,
    permute::TRANSPOSE_F64,
    permute::PERMUTE_REVERSED,
    stencil::STENCIL,
    convolution::CONVOLUTION,
    matmul::MATMUL_NAIVE,
    matmul::MATMUL_TILED,
    matmul::MATMUL_REGISTERS,
    matmul::MATMUL_ASYNC,
    tensor_cores::MATMUL_BF16,
    tensor_cores::MATMUL_F16,
    tensor_cores::MATMUL_TF32,
    tensor_cores::MATMUL_I8,
    tensor_cores::MATMUL_U8,
    products::MATRIX_VECTOR,
    products::DOT_I8,
    shortest_paths::FLOYD_WARSHALL_STEP,
    gather::EMBEDDING,
    sort::BITONIC_SORT,
    reduce::SUM,
    reduce::EXCLUSIVE_SCAN,
    histogram::HISTOGRAM,
    nbody::N_BODY,
    normalise::SOFTMAX,
    normalise::RMS_NORM,
    normalise::LAYER_NORM,
    activation::BIAS_GELU,
    mandelbrot::MANDELBROT,
];
