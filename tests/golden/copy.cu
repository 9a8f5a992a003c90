// copy: blocks of 32 x 8 x 1 = 256 threads

typedef unsigned int u32;
typedef float f32;
#ifdef TILEPROOF_WIDE
typedef unsigned long long index_t;
#else
typedef unsigned int index_t;
#endif

__device__ __forceinline__ f32 load_global_f32(const f32* pointer, bool active) {
    f32 value = {};
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active ld.global.nc.f32 %0, [%1]; }"
                 : "+f"(value) : "l"(pointer), "r"((u32)active));
    return value;
}

__device__ __forceinline__ void store_global_f32(f32* pointer, f32 value, bool active) {
    asm volatile("{ .reg .pred active; setp.ne.u32 active, %2, 0; @active st.global.f32 [%0], %1; }"
                 :: "l"(pointer), "f"(value), "r"((u32)active) : "memory");
}

extern "C" __global__ void __launch_bounds__(256) copy(
    const f32* __restrict__ input, index_t input_rows, index_t input_cols, index_t input_pitch,
    f32* __restrict__ output, index_t output_rows, index_t output_cols, index_t output_pitch) {
    const index_t thread_x = threadIdx.x;
    const index_t thread_y = threadIdx.y;
    const index_t block_x = blockIdx.x;
    const index_t block_y = blockIdx.y;
    const index_t row0 = block_y * 32 + thread_y;
    const index_t col = block_x * 32 + thread_x;
    #pragma unroll
    for (index_t k = 0; k < 32; k += 8) {
        const bool active = row0 + k < input_rows && col < input_cols;
        const f32 input_value = load_global_f32(&input[(row0 + k) * input_pitch + col], active);
        store_global_f32(&output[(row0 + k) * output_pitch + col], input_value, active);
    }
}
