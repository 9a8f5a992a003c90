#ifdef TILEPROOF_WIDE
typedef unsigned long long index;
#else
typedef unsigned int index;
#endif

extern "C" __global__ void __launch_bounds__(256) copy(
    const float* __restrict__ input, index input_0, index input_1, index input_s0,
    float* __restrict__ output, index output_0, index output_1, index output_s0) {
  __shared__ float tile[8][32];
  const index r = (index)blockIdx.y * 8 + threadIdx.y;
  const index c = (index)blockIdx.x * 32 + threadIdx.x;
  const bool inside = r < output_0 && c < output_1;
  float x = 0;
  if (inside) x = input[r * input_s0 + c];
  tile[threadIdx.y][threadIdx.x] = x;
  __syncthreads();
  if (inside) output[r * output_s0 + c] = tile[threadIdx.y][threadIdx.x];
}
